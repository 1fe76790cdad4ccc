/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: mm/cache/ra_window.c
/*
 * test_readahead.c - the policy of reading ahead against a cache in miniature: which windows a
 * stream, two streams, a random reader, a skipping reader and a reader short of memory get.
 */
#include "host.h"
#include "mm/cache/readahead.h"

#define PAGES 4096
static bool cached[PAGES], marked[PAGES];
static unsigned long loads, waits; /* pages read; reads that met a missing page */

static unsigned long next_hole(void *arg, unsigned long index, unsigned long max)
{
	for (unsigned long i = 1; i <= max; i++)
		if (index + i >= PAGES || !cached[index + i])
			return index + i;
	return 0;
}

static unsigned long run_before(void *arg, unsigned long index, unsigned long max)
{
	unsigned long n = 0;

	while (n < max && n < index && cached[index - 1 - n])
		n++;
	return n;
}

static const struct ra_view view = { next_hole, run_before, NULL };

static void fresh(struct ra_state *ra)
{
	memset(cached, 0, sizeof(cached));
	memset(marked, 0, sizeof(marked));
	loads = waits = 0;
	ra_state_init(ra);
}

static void load(unsigned long first, unsigned long nr, unsigned long marker)
{
	for (unsigned long i = first; i < first + nr && i < PAGES; i++) {
		if (cached[i])
			continue;
		cached[i] = true;
		marked[i] = i == marker;
		loads++;
	}
}

/* One read(2) of nr pages, as readahead.c does it. */
static void read_pages(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max)
{
	for (unsigned long i = index; i < index + nr && i < PAGES; i++) {
		struct ra_state next = *ra;

		if (!cached[i]) {
			waits++;
			if (ra_window_miss(&next, i, index + nr - i, max, &view)) {
				*ra = next;
				load(ra->start, ra->size,
				     ra->async ? ra->start + ra->size - ra->async : ~0ul);
				CHECK(ra->async <= ra->size);
				CHECK(ra->size <= max);
			}
			load(i, index + nr - i, ~0ul);
		} else if (marked[i]) {
			marked[i] = false;
			if (ra_window_marker(ra, i, index + nr - i, max, &view))
				load(ra->start, ra->size,
				     ra->async ? ra->start + ra->size - ra->async : ~0ul);
		}
	}
	ra->prev = index + nr - 1;
}

HOST_TEST(readahead_sequential_windows)
{
	static const struct {
		unsigned long at; /* the read that changes the window */
		u32 start, size, async;
	} want[] = {
		{ 0, 0, 4, 3 },	    { 1, 4, 8, 8 },	{ 4, 12, 16, 16 },
		{ 12, 28, 32, 32 }, { 28, 60, 32, 32 }, { 60, 92, 32, 32 },
	};
	struct ra_state ra;
	unsigned int n = 0;

	fresh(&ra);
	for (unsigned long i = 0; i < 92; i++) {
		struct ra_state before = ra;

		read_pages(&ra, i, 1, 32);
		if (before.start == ra.start && before.size == ra.size)
			continue;
		CHECK(n < sizeof(want) / sizeof(*want));
		CHECK_EQ(i, want[n].at);
		CHECK_EQ(ra.start, want[n].start);
		CHECK_EQ(ra.size, want[n].size);
		CHECK_EQ(ra.async, want[n].async);
		n++;
	}
	CHECK_EQ(n, 6);
	CHECK_EQ(waits, 1); /* only the very first read met a missing page */
}

HOST_TEST(readahead_large_requests)
{
	struct ra_state ra;

	fresh(&ra);
	for (unsigned long i = 0; i < 1024; i += 16)
		read_pages(&ra, i, 16, 32);
	CHECK_EQ(waits, 1);
	CHECK(loads <= 1024 + 64);
	fresh(&ra); /* larger than the window */
	read_pages(&ra, 0, 200, 32);
	CHECK(loads >= 200 && loads < 300);
	read_pages(&ra, 200, 200, 32);
	CHECK(loads >= 400 && loads < 500);
}

HOST_TEST(readahead_random_reads_nothing_in_vain)
{
	struct ra_state ra;
	unsigned long asked = 0;

	fresh(&ra);
	for (int i = 0; i < 200; i++) {
		unsigned long at = (unsigned long)i * 1237 % (PAGES - 8) + 2;

		asked += !cached[at];
		read_pages(&ra, at, 1, 32);
	}
	/* Now and then two land side by side and look like a stream. */
	CHECK(loads <= asked + asked / 4);
	fresh(&ra);
	ra.mode = RA_RANDOM; /* even in order */
	for (unsigned long i = 0; i < 64; i++)
		read_pages(&ra, i, 1, 32);
	CHECK_EQ(loads, 64);
	CHECK_EQ(waits, 64);
}

HOST_TEST(readahead_two_streams_in_one_file)
{
	struct ra_state ra;

	fresh(&ra);
	for (unsigned long i = 0; i < 512; i++) {
		read_pages(&ra, 100 + i, 1, 32);
		read_pages(&ra, 2000 + i, 1, 32);
	}
	/* Each is recognized by the pages cached before it; far fewer waits than reads. */
	CHECK(waits < 60);
	CHECK(loads < 1024 + 200);
}

HOST_TEST(readahead_start_in_the_middle)
{
	struct ra_state ra;

	fresh(&ra);
	read_pages(&ra, 500, 1, 32);
	CHECK_EQ(loads, 1); /* nobody knows yet */
	read_pages(&ra, 501, 1, 32);
	CHECK_EQ(ra.start, 501);
	CHECK_EQ(ra.size, 4);
	for (unsigned long i = 502; i < 700; i++)
		read_pages(&ra, i, 1, 32);
	CHECK_EQ(waits, 2);
	CHECK_EQ(ra.size, 32);
}

HOST_TEST(readahead_thrashing_shrinks)
{
	struct ra_state ra;

	fresh(&ra);
	for (unsigned long i = 0; i < 100; i++)
		read_pages(&ra, i, 1, 32);
	CHECK_EQ(ra.size, 32);
	/* Everything read ahead is pushed out before it is used. */
	memset(cached, 0, sizeof(cached));
	memset(marked, 0, sizeof(marked));
	read_pages(&ra, 100, 1, 32);
	CHECK(ra.size < 32);
	CHECK_EQ(ra.start, 100);
	for (int round = 0; round < 4; round++) {
		memset(cached, 0, sizeof(cached));
		memset(marked, 0, sizeof(marked));
		read_pages(&ra, 101 + (unsigned long)round, 1, 32);
	}
	CHECK_EQ(ra.size, 4);
	for (unsigned long i = 105; i < 300; i++) /* and it grows again */
		read_pages(&ra, i, 1, 32);
	CHECK_EQ(ra.size, 32);
}

HOST_TEST(readahead_any_sequence_keeps_its_promises)
{
	struct ra_state ra;

	for (int round = 0; round < 300; round++) {
		u32 max = 1 + (u32)(host_random() % 128);

		fresh(&ra);
		for (int i = 0; i < 200; i++) {
			unsigned long nr = 1 + host_random() % 40;
			unsigned long at =
				host_random() % 3 ? ra.prev + 1 : host_random() % (PAGES - 64);

			if (at >= PAGES - 64)
				at = 0;
			ra.mode = (u32)(host_random() % 8 ? RA_NORMAL : host_random() % 3);
			read_pages(&ra, at, nr, max);
			for (unsigned long j = at; j < at + nr; j++)
				CHECK(cached[j]);
			if (host_random() % 20 == 0)
				memset(cached, 0, sizeof(cached));
		}
	}
}
