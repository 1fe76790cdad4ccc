/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.c - what is in a page.
 *
 *   word 0  magic, owner     word 1  index, generation     word 2  checksum of all other words
 *   word 3...  an arithmetic series whose start is a hash of owner, index and generation
 *
 * So a page that is old, somebody else's, half written, or shifted is found, and its header says
 * where it comes from. A page of generation 0 is zero.
 */
#include "verify.h"
#include <stdarg.h>

#define MAGIC 0x51564659ull
#define STEP 0x9e3779b97f4a7c15ull
#define SHOWN 8

static uint64_t series_start(uint32_t owner, uint32_t index, uint32_t generation)
{
	uint64_t seed = (uint64_t)owner << 40 ^ (uint64_t)index << 20 ^ generation;

	return random_next(&seed);
}

static inline uint64_t sum_step(uint64_t sum, uint64_t word)
{
	return (sum << 1 | sum >> 63) + word;
}

void page_fill(uint64_t *page, const struct region *r, uint32_t index, uint32_t generation)
{
	uint64_t v = series_start(r->owner, index, generation), sum;

	if (!generation) {
		memset(page, 0, PAGE);
		return;
	}
	page[0] = MAGIC << 32 | r->owner;
	page[1] = (uint64_t)index << 32 | generation;
	sum = sum_step(sum_step(0, page[0]), page[1]);
	for (unsigned i = 3; i < WORDS; i++, v += STEP) {
		page[i] = v;
		sum = sum_step(sum, v);
	}
	page[2] = sum;
}

/* One line at a time, from any process or thread: no stdio, whose locks a fork may have caught. */
static void say(const char *format, ...)
{
	char line[300];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (n > 0 && write(1, line, (size_t)n) != n)
		_exit(3);
}

void failed(const char *what, const struct region *r, uint32_t index)
{
	int error = errno;

	if (count(failures, 1) < SHOWN)
		say("verify: %s: %s page %u of owner %#x: %s\n", what, kind_name[r->kind], index,
		    r->owner, strerror(error));
}

static void explain(const uint64_t *page, const uint64_t *expected, const struct region *r,
		    uint32_t index, uint32_t generation, const char *how, size_t from, size_t to)
{
	const unsigned char *have = (const unsigned char *)page;
	const unsigned char *want = (const unsigned char *)expected;
	size_t bad = 0, first = 0, last = 0;

	for (size_t i = from; i < to; i++)
		if (have[i] != want[i]) {
			if (!bad++)
				first = i;
			last = i;
		}
	count(wrong_bytes, bad);
	if (count(wrong_pages, 1) >= SHOWN)
		return;
	say("verify: WRONG %s page %u of owner %#x generation %u (%s): %zu bytes in %zu..%zu, "
	    "expected %#llx found %#llx\n",
	    kind_name[r->kind], index, r->owner, generation, how, bad, first, last,
	    (unsigned long long)expected[first / 8], (unsigned long long)page[first / 8]);
	if (page[0] >> 32 == MAGIC)
		say("verify:   it is page %u of owner %#x generation %u\n",
		    (unsigned)(page[1] >> 32), (unsigned)page[0], (unsigned)page[1]);
	else
		say("verify:   no header; words %#llx %#llx %#llx\n", (unsigned long long)page[0],
		    (unsigned long long)page[1], (unsigned long long)page[2]);
}

bool page_check_part(const uint64_t *page, const struct region *r, uint32_t index,
		     uint32_t generation, const char *how, size_t from, size_t to)
{
	uint64_t expected[WORDS];

	page_fill(expected, r, index, generation);
	if (!memcmp((const char *)page + from, (const char *)expected + from, to - from))
		return true;
	explain(page, expected, r, index, generation, how, from, to);
	return false;
}

bool page_check(const uint64_t *page, const struct region *r, uint32_t index, uint32_t generation,
		const char *how)
{
	uint64_t v = series_start(r->owner, index, generation), sum, wrong = 0;

	count(checked[r->kind], 1);
	if (generation) {
		sum = sum_step(sum_step(0, page[0]), page[1]);
		wrong = (page[0] ^ (MAGIC << 32 | r->owner)) |
			(page[1] ^ ((uint64_t)index << 32 | generation));
		for (unsigned i = 3; i < WORDS; i++, v += STEP) {
			wrong |= page[i] ^ v;
			sum = sum_step(sum, page[i]);
		}
		wrong |= page[2] ^ sum;
	} else {
		for (unsigned i = 0; i < WORDS; i++)
			wrong |= page[i];
	}
	return !wrong || page_check_part(page, r, index, generation, how, 0, PAGE);
}

bool page_check_edges(const uint64_t *page, const struct region *r, uint32_t index,
		      uint32_t generation)
{
	uint64_t v = series_start(r->owner, index, generation), wrong;

	if (generation)
		wrong = (page[0] ^ (MAGIC << 32 | r->owner)) |
			(page[1] ^ ((uint64_t)index << 32 | generation)) | (page[3] ^ v) |
			(page[WORDS - 1] ^ (v + (WORDS - 4) * STEP));
	else
		wrong = page[0] | page[1] | page[3] | page[WORDS - 1];
	return !wrong || page_check_part(page, r, index, generation, "edges", 0, PAGE);
}
