/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmhog - takes memory, writes patterns over all of it, and looks whether they are still there.
 *
 *	vmhog [-w WORKERS] [-n ROUNDS] [-k] SIZE [METHOD...]	without METHOD: all, in turn
 *
 * As stress-ng --vm does it: each worker maps SIZE / WORKERS, fills it with one method, checks it,
 * and (unless -k keeps it) gives it back before the next round. The methods differ in how they
 * walk: what suits one order of eviction is the worst for another. Exit status 1: a bit was wrong.
 */
#include "lab.h"
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define LINE 64
#define WORDS_LINE (LINE / 8)
#define PAGE_WORDS 512ul
#define MAX_WORKERS 64

struct area {
	uint64_t *word;
	size_t words;
	uint64_t seed;
};
/* fill and check; check returns the number of wrong words */
struct method {
	const char *name;
	unsigned long (*run)(struct area *a);
};

static unsigned long bits(uint64_t difference)
{
	return (unsigned long)__builtin_popcountll(difference);
}

/* A different number in each word, forwards, then checked backwards. */
static unsigned long run_random(struct area *a)
{
	uint64_t s = a->seed;
	unsigned long wrong = 0;

	for (size_t i = 0; i < a->words; i++)
		a->word[i] = random_next(&s);
	for (size_t i = a->words;
	     i--;) { /* splitmix64 runs backwards too: its state is a counter */
		uint64_t before = s - 0x9e3779b97f4a7c15u;

		s = before;
		wrong += bits(a->word[i] ^ random_next(&before));
	}
	return wrong;
}

/* One bit walks through each line of the cache, then its complement does. */
static unsigned long run_walk(struct area *a)
{
	unsigned long wrong = 0;

	for (unsigned bit = 0; bit < 64; bit += 21) {
		for (size_t i = 0; i < a->words; i++)
			a->word[i] = 1ull << ((bit + i) % 64);
		for (size_t i = 0; i < a->words; i++)
			wrong += bits(a->word[i] ^ 1ull << ((bit + i) % 64));
		for (size_t i = 0; i < a->words; i++)
			a->word[i] = ~a->word[i];
		for (size_t i = a->words; i--;)
			wrong += bits(~a->word[i] ^ 1ull << ((bit + i) % 64));
	}
	return wrong;
}

/* All zero, all one, and back, page by page. */
static unsigned long run_flip(struct area *a)
{
	unsigned long wrong = 0;

	memset(a->word, 0, a->words * 8);
	for (int pass = 0; pass < 3; pass++) {
		uint64_t have = pass % 2 ? ~0ull : 0;

		for (size_t i = 0; i < a->words; i++) {
			wrong += bits(a->word[i] ^ have);
			a->word[i] = ~have;
		}
	}
	return wrong;
}

/* Counts up in every line, then down again: each page is visited often, in steps of a prime. */
static unsigned long run_incdec(struct area *a)
{
	size_t pages = a->words / PAGE_WORDS, at = 0, step = 1009 % pages ? 1009 : 1013;
	unsigned long wrong = 0;

	memset(a->word, 0, a->words * 8);
	for (int pass = 0; pass < 4; pass++) {
		for (size_t n = 0; n < pages; n++, at = (at + step) % pages)
			for (size_t i = 0; i < PAGE_WORDS; i += WORDS_LINE)
				a->word[at * PAGE_WORDS + i] += pass < 2 ? 3 : (uint64_t)-3;
		for (size_t i = 0; pass == 1 && i < a->words; i += WORDS_LINE)
			wrong += bits(a->word[i] ^ 6);
	}
	for (size_t i = 0; i < a->words; i++)
		wrong += bits(a->word[i]);
	return wrong;
}

/* Pages at random are swapped with each other; afterwards each number is still there once. */
static unsigned long run_swap(struct area *a)
{
	size_t pages = a->words / PAGE_WORDS;
	uint64_t s = a->seed, sum = 0, mixed = 0;

	for (size_t p = 0; p < pages; p++) {
		uint64_t v = random_next(&s);

		sum += v;
		mixed ^= v * 31;
		for (size_t i = 0; i < PAGE_WORDS; i++)
			a->word[p * PAGE_WORDS + i] = v + i;
	}
	for (size_t n = 0; n < pages; n++) {
		uint64_t *x = a->word + random_next(&s) % pages * PAGE_WORDS;
		uint64_t *y = a->word + random_next(&s) % pages * PAGE_WORDS, t;

		for (size_t i = 0; i < PAGE_WORDS && x != y; i++)
			t = x[i], x[i] = y[i], y[i] = t;
	}
	for (size_t p = 0; p < pages; p++) {
		uint64_t v = a->word[p * PAGE_WORDS];

		sum -= v;
		mixed ^= v * 31;
		for (size_t i = 0; i < PAGE_WORDS; i++)
			if (a->word[p * PAGE_WORDS + i] != v + i)
				return 1;
	}
	return sum || mixed;
}

static const struct method methods[] = {
	{ "random", run_random }, { "walk", run_walk }, { "flip", run_flip },
	{ "incdec", run_incdec }, { "swap", run_swap },
};
#define NR_METHODS (sizeof(methods) / sizeof(methods[0]))

static int worker(unsigned number, size_t bytes, unsigned long rounds, bool keep, unsigned chosen)
{
	struct area a = { .words = bytes / 8 };
	unsigned long wrong = 0, done = 0;

	for (unsigned long n = 0; done < rounds; n++) {
		const struct method *m = &methods[(number + n) % NR_METHODS];
		unsigned long bad;

		if (!(chosen & 1u << (m - methods)))
			continue;
		if (!a.word) {
			void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p == MAP_FAILED)
				die("vmhog: mmap");
			a.word = p;
		}
		a.seed = number * 1000 + n;
		bad = m->run(&a);
		if (bad) {
			fprintf(stderr, "vmhog: worker %u, %s: %lu bits wrong\n", number, m->name,
				bad);
			wrong++;
		}
		if (!keep) {
			munmap(a.word, bytes);
			a.word = NULL;
		}
		done++;
	}
	return wrong != 0;
}

static unsigned choose(const char *name)
{
	for (unsigned i = 0; i < NR_METHODS; i++)
		if (!strcmp(methods[i].name, name))
			return 1u << i;
	fprintf(stderr, "vmhog: no method '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long workers = 2, rounds = NR_METHODS;
	unsigned chosen = 0, bad = 0;
	bool keep = false;
	size_t bytes;
	int c, status;

	while ((c = getopt(argc, argv, "w:n:k")) != -1) {
		if (c == 'w')
			workers = number("vmhog", optarg);
		else if (c == 'n')
			rounds = number("vmhog", optarg);
		else if (c == 'k')
			keep = true;
		else
			argc = 0;
	}
	if (optind >= argc || !workers || workers > MAX_WORKERS) {
		fprintf(stderr, "usage: vmhog [-w WORKERS] [-n ROUNDS] [-k] SIZE [METHOD...]\n");
		return 2;
	}
	bytes = number("vmhog", argv[optind]) / workers / 4096 * 4096;
	for (int i = optind + 1; i < argc; i++)
		chosen |= choose(argv[i]);
	if (!bytes) {
		fprintf(stderr, "vmhog: %s is less than a page for each worker\n", argv[optind]);
		return 2;
	}
	for (unsigned i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("vmhog: fork");
		if (!pid)
			_exit(worker(i, bytes, rounds, keep, chosen ? chosen : ~0u));
	}
	while (wait(&status) > 0)
		bad += status != 0;
	printf("vmhog: %lu workers, %zu KiB each, %lu rounds: %u failed\n", workers, bytes / 1024,
	       rounds, bad);
	return bad != 0;
}
