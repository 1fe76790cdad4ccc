/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify - memory under pressure, and not one wrong byte.
 *
 *	verify [-p PROCESSES] [-t THREADS] [-d DIR] [-a SIZE] [-m SIZE] [-c SIZE] [-s SIZE]
 *	       [-H SIZE] [-r ROUNDS] [-g GOAL] [-G COUNTER=N]... [-n NODES] [-S SEED]
 *
 * -a private anonymous memory, -m mapped files (half of them privately), -c files read and written,
 * -s shared memory, -H memory in huge pages, taken apart and put together: totals, divided among
 * the threads. -d: a directory on a disk (without it no files). Every thread does ROUNDS rounds of
 * about 64 pages; with -g it goes on until that many pages were swapped in or read again after
 * reclaim, with -G until each of those counters of /proc/vmstat has grown by so much. -n: pages are
 * sent from node to node, too.
 *
 * Every page carries owner, number, generation and checksum, and is checked at each visit. Runs in
 * pages and rounds, not in time; the order of accesses follows from the seed. Exit status 1: a
 * wrong byte, or something failed.
 */
#define _GNU_SOURCE
#include "verify.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define MAX_THREADS 32
#define RUN 64u

struct shared *all;
pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

static struct options {
	unsigned processes, threads;
	unsigned long anon, mapped, cached, shared, huge, rounds, goal, seed;
	const char *dir;
	unsigned nodes;
} opt = { .processes = 2, .threads = 2, .rounds = 100, .seed = 1 };

static struct region common[NR_KINDS - SHARED];

/* ---- the system's own figures ---- */

#define MAX_GOALS 8
static struct counter {
	const char *name;
	unsigned long before, now, goal;
	bool prefix; /* all that begin so, together */
} counters[] = {
	{ .name = "pswpin" },	       { .name = "pswpout" },
	{ .name = "pgmajfault" },      { .name = "workingset_refault", .prefix = true },
	[4 ... 3 + MAX_GOALS] = { 0 },
};
#define SWAPPED_IN (&counters[0])
#define REFAULTS (&counters[3])
static unsigned nr_counters = 4;

static void read_counters(void)
{
	static char text[32768];

	if (slurp("/proc/vmstat", text, sizeof(text)) < 0)
		return;
	for (unsigned i = 0; i < nr_counters; i++)
		counters[i].now = 0;
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = 0;
		for (unsigned i = 0; i < nr_counters; i++) {
			struct counter *c = &counters[i];

			if (c->prefix ? !strncmp(line, c->name, strlen(c->name))
				      : !strcmp(line, c->name))
				c->now += strtoul(value, NULL, 10);
		}
	}
}

static unsigned long grown(const struct counter *c)
{
	return c->now - c->before;
}

static bool has_goal(void)
{
	return opt.goal || nr_counters > 4;
}

/* The first worker looks now and then whether there was enough of it. */
static void look_at_goal(struct worker *w, unsigned long round)
{
	if (w->number || !has_goal() || round % 16)
		return;
	read_counters();
	if (grown(SWAPPED_IN) + grown(REFAULTS) < opt.goal)
		return;
	for (unsigned i = 4; i < nr_counters; i++)
		if (grown(&counters[i]) < counters[i].goal)
			return;
	__atomic_store_n(&all->stop, 1, __ATOMIC_RELAXED);
}

static void add_goal(char *text)
{
	char *value = strchr(text, '=');

	if (!value || nr_counters == 4 + MAX_GOALS) {
		fprintf(stderr, "verify: -G %s: expected COUNTER=N, at most %d of them\n", text,
			MAX_GOALS);
		exit(2);
	}
	*value++ = 0;
	counters[nr_counters].goal = number("verify", value);
	counters[nr_counters++].name = text;
}

/* ---- one thread ---- */

static void visit(struct worker *w, struct region *r, uint32_t index, bool write)
{
	if (!region_hold(r, index))
		return;
	region_check(w, r, index);
	if (write) {
		region_write(w, r, index);
		if (random_next(&w->seed) % 4 == 0)
			region_check(w, r, index);
	}
	region_drop(r, index);
}

/* A region, each as often as it is large. */
static struct region *choose(struct worker *w)
{
	unsigned long total = 0, at;

	for (int k = 0; k < NR_KINDS; k++)
		total += k < SHARED ? w->own[k].pages : w->common[k - SHARED].pages / opt.threads;
	if (!total)
		return NULL;
	at = random_next(&w->seed) % total;
	for (int k = 0; k < NR_KINDS; k++) {
		struct region *r = k < SHARED ? &w->own[k] : &w->common[k - SHARED];
		unsigned long n = k < SHARED ? r->pages : r->pages / opt.threads;

		if (at < n)
			return r;
		at -= n;
	}
	return NULL;
}

static void one_round(struct worker *w)
{
	struct region *r = choose(w);
	uint64_t dice = random_next(&w->seed);
	bool sequential = dice & 1, writes = dice & 2;
	uint32_t at;

	if (!r)
		return;
	at = (uint32_t)(random_next(&w->seed) % r->pages);
	for (unsigned i = 0; i < RUN; i++) {
		visit(w, r, at, writes && random_next(&w->seed) % 3);
		at = sequential ? (at + 1) % r->pages
				: (uint32_t)(random_next(&w->seed) % r->pages);
	}
	if (dice % 8 == 0)
		trick(w);
	if (dice % 2 == 0)
		trick_huge(w);
	if (opt.nodes && dice % 4 == 0)
		send_to_node(w, opt.nodes);
}

/* Everything once, in order: filled at the start, checked at the end. */
static void sweep(struct worker *w, bool fill)
{
	for (int k = 0; k < SHARED; k++)
		for (uint32_t i = 0; i < w->own[k].pages; i++) {
			if (fill && k != PRIVATE)
				region_write(w, &w->own[k], i);
			else
				region_check(w, &w->own[k], i);
		}
}

static struct worker *worker_new(unsigned process, unsigned thread)
{
	struct worker *w = calloc(1, sizeof(*w));
	unsigned long n = PAGE * opt.processes * opt.threads;
	uint32_t owner = process << 16 | thread << 8;

	if (!w)
		die("verify");
	w->number = process * opt.threads + thread;
	w->seed = opt.seed * 1000003 + w->number;
	w->common = common;
	w->dir = opt.dir;
	region_make(&w->own[ANON], ANON, owner, (uint32_t)(opt.anon / n), NULL);
	region_make(&w->own[HUGE], HUGE, owner, (uint32_t)(opt.huge / n), NULL);
	if (!opt.dir)
		return w;
	region_make(&w->own[PRIVATE], PRIVATE, owner, (uint32_t)(opt.mapped / 2 / n), opt.dir);
	region_make(&w->own[MAPPED], MAPPED, owner, (uint32_t)(opt.mapped / 2 / n), opt.dir);
	region_make(&w->own[CACHED], CACHED, owner, (uint32_t)(opt.cached / n), opt.dir);
	return w;
}

static unsigned my_process;

static void *work(void *arg)
{
	struct worker *w;

	pthread_mutex_lock(&map_lock);
	w = worker_new(my_process, (unsigned)(unsigned long)arg);
	pthread_mutex_unlock(&map_lock);
	sweep(w, true);
	for (unsigned long round = 0; has_goal() || round < opt.rounds; round++) {
		if (__atomic_load_n(&all->stop, __ATOMIC_RELAXED))
			break;
		one_round(w);
		look_at_goal(w, round);
	}
	sweep(w, false);
	return NULL;
}

static void process(unsigned number)
{
	pthread_t t[MAX_THREADS];

	my_process = number;
	for (unsigned long i = 0; i < opt.threads; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			die("verify: thread");
	for (unsigned i = 0; i < opt.threads; i++)
		pthread_join(t[i], NULL);
	_exit(0);
}

/* ---- the whole ---- */

static void make_common(void)
{
	unsigned long n = opt.shared / PAGE / 3;

	for (int k = SHARED; k < NR_KINDS; k++) {
		region_make(&common[k - SHARED], k, 0xff0000, (uint32_t)n, NULL);
		for (uint32_t i = 0; i < common[k - SHARED].pages; i++) {
			page_fill(region_page(&common[k - SHARED], i), &common[k - SHARED], i, 1);
			common[k - SHARED].generation[i] = 1;
		}
	}
}

static void check_common(void)
{
	struct worker *w = calloc(1, sizeof(*w));

	for (int k = SHARED; w && k < NR_KINDS; k++)
		for (uint32_t i = 0; i < common[k - SHARED].pages; i++)
			region_check(w, &common[k - SHARED], i);
}

static int report(void)
{
	unsigned long total = 0;

	read_counters();
	printf("verify: kind        checked    written\n");
	for (int k = 0; k < NR_KINDS; k++) {
		printf("verify: %-8s %10lu %10lu\n", kind_name[k], all->checked[k],
		       all->written[k]);
		total += all->checked[k];
	}
	printf("verify: %lu read besides, %lu forks, %lu moves, %lu protections, %lu let go, "
	       "%lu cuts, %lu holes\n",
	       all->reread, all->forks, all->moves, all->protects, all->drops, all->cuts,
	       all->holes);
	printf("verify: pswpin %lu pswpout %lu pgmajfault %lu refaults %lu\n", grown(&counters[0]),
	       grown(&counters[1]), grown(&counters[2]), grown(REFAULTS));
	if (opt.huge)
		huge_report();
	if (opt.nodes)
		printf("verify: %lu sent to a node, %lu stayed\n", all->sent, all->stayed);
	for (unsigned i = 4; i < nr_counters; i++)
		printf("verify: %s %lu\n", counters[i].name, grown(&counters[i]));
	printf("verify: %lu pages checked, %lu wrong pages, %lu wrong bytes, %lu failures\n", total,
	       all->wrong_pages, all->wrong_bytes, all->failures);
	return all->wrong_pages || all->failures;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:t:d:a:m:c:s:H:r:g:G:n:S:")) != -1) {
		unsigned long n = strchr("dG?", c) ? 0 : number("verify", optarg);

		switch (c) {
		case 'p':
			opt.processes = (unsigned)n;
			break;
		case 't':
			opt.threads = (unsigned)n;
			break;
		case 'd':
			opt.dir = optarg;
			break;
		case 'a':
			opt.anon = n;
			break;
		case 'm':
			opt.mapped = n;
			break;
		case 'c':
			opt.cached = n;
			break;
		case 's':
			opt.shared = n;
			break;
		case 'H':
			opt.huge = n;
			break;
		case 'r':
			opt.rounds = n;
			break;
		case 'g':
			opt.goal = n;
			break;
		case 'G':
			add_goal(optarg);
			break;
		case 'n':
			opt.nodes = (unsigned)n;
			break;
		case 'S':
			opt.seed = n;
			break;
		default:
			opt.threads = 0;
		}
	}
	if (optind != argc || !opt.processes || !opt.threads || opt.threads > MAX_THREADS ||
	    opt.processes > 64 || opt.nodes > 8 ||
	    !(opt.anon | opt.mapped | opt.cached | opt.shared | opt.huge)) {
		fprintf(stderr, "usage: verify [-p PROCESSES] [-t THREADS] [-d DIR] [-a SIZE] "
				"[-m SIZE] [-c SIZE] [-s SIZE] [-H SIZE] [-r ROUNDS] [-g GOAL] "
				"[-G COUNTER=N]... [-n NODES] [-S SEED]\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	parse(argc, argv);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		die("verify: mmap");
	read_counters();
	for (unsigned i = 0; i < nr_counters; i++)
		counters[i].before = counters[i].now;
	make_common();
	for (unsigned i = 0; i < opt.processes; i++) {
		pid = fork();
		if (pid < 0)
			die("verify: fork");
		if (!pid)
			process(i);
	}
	while ((pid = wait(&status)) > 0 || errno == EINTR)
		if (pid > 0 && status) {
			printf("verify: process %d ended with status %#x\n", (int)pid, status);
			count(failures, 1);
			__atomic_store_n(&all->stop, 1, __ATOMIC_RELAXED);
		}
	check_common();
	return report();
}
