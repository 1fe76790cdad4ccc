/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.c - `quire latency`: how long woken threads waited, and one screen on what the longest of
 * them waited for.
 *
 *	quire latency		measure five seconds of whatever runs, then the page
 *	quire latency SECONDS	that long
 *	quire latency CMD...	while CMD runs
 *	quire latency -r	the page of what was measured so far, nothing started or stopped
 *
 * The kernel's files (sched/wakeup_latency, sched/wakeup_worst) are taken apart here and joined to
 * sentences. How a wait divides: with interrupts off; under threads that ran before; the rest, when
 * the one that ran at the wake-up went on with interrupts on.
 */
#include "quire.h"
#include <sys/wait.h>

#define LATENCY "/sys/kernel/quire/sched/wakeup_latency"
#define WORST "/sys/kernel/quire/sched/wakeup_worst"
#define FRAMES 12
#define RAN 4
#define BAR 30

struct name {
	int tid, policy, prio;
	char comm[20];
};

struct stack {
	int n;
	char frame[FRAMES][80];
};

struct record {
	unsigned long latency, when, off, others;
	int cpu, moved, unwatched, sections, nr_ran, ticks, section_tid;
	char context;
	struct name woken, waker, running, gave;
	/* the longest section */
	char label[40], func[64], where[128], end[40], section_comm[20];
	unsigned long len, work;
	char tick_context[12], tick_comm[20], function[80];
	struct {
		unsigned long ns;
		int tid;
		char comm[20];
	} ran[RAN];
	struct stack section, tick, gave_at;
};

enum { RT, FAIR, TIMER, NR };
static const char *const classes[NR] = { "rt", "fair", "timer" };

/* ---- reading --------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* "tid policy prio comm" */
static void read_name(struct name *n, const char *text)
{
	int at = 0;

	if (sscanf(text, "%d %d %d %n", &n->tid, &n->policy, &n->prio, &at) == 3)
		copy(n->comm, sizeof(n->comm), text + at);
}

/* Numbers, then a name that may contain blanks: where it begins. */
static const char *after(const char *text, int words)
{
	for (; words; words--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return text;
}

static void add_frame(struct stack *s, const char *text)
{
	if (s && s->n < FRAMES)
		copy(s->frame[s->n++], sizeof(s->frame[0]), text);
}

static void read_ran(struct record *r, const char *text)
{
	if (r->nr_ran == RAN)
		return;
	r->ran[r->nr_ran].ns = strtoul(text, NULL, 10);
	r->ran[r->nr_ran].tid = atoi(after(text, 1));
	copy(r->ran[r->nr_ran].comm, sizeof(r->ran[0].comm), after(text, 2));
	r->nr_ran++;
}

/* One line but for stacks. => where the frames that follow belong, or NULL */
static struct stack *read_line(struct record *r, const char *word, const char *text)
{
	if (!strcmp(word, "latency"))
		r->latency = strtoul(text, NULL, 10);
	else if (!strcmp(word, "when"))
		r->when = strtoul(text, NULL, 10);
	else if (!strcmp(word, "cpu"))
		r->cpu = atoi(text);
	else if (!strcmp(word, "moved"))
		r->moved = 1;
	else if (!strcmp(word, "unwatched"))
		r->unwatched = 1;
	else if (!strcmp(word, "woken"))
		read_name(&r->woken, text);
	else if (!strcmp(word, "running"))
		read_name(&r->running, text);
	else if (!strcmp(word, "gave"))
		read_name(&r->gave, text);
	else if (!strcmp(word, "waker")) {
		r->context = text[0];
		r->waker.tid = atoi(after(text, 1));
		copy(r->waker.comm, sizeof(r->waker.comm), after(text, 2));
	} else if (!strcmp(word, "off"))
		sscanf(text, "%lu %d", &r->off, &r->sections);
	else if (!strcmp(word, "section"))
		sscanf(text, "%39s %63s %127s %39s %lu %lu", r->label, r->func, r->where, r->end,
		       &r->len, &r->work);
	else if (!strcmp(word, "section_task")) {
		r->section_tid = atoi(text);
		copy(r->section_comm, sizeof(r->section_comm), after(text, 1));
	} else if (!strcmp(word, "ran"))
		read_ran(r, text);
	else if (!strcmp(word, "others"))
		r->others = strtoul(text, NULL, 10);
	else if (!strcmp(word, "ticks")) {
		sscanf(text, "%d %11s", &r->ticks, r->tick_context);
		copy(r->tick_comm, sizeof(r->tick_comm), after(text, 3));
	} else if (!strcmp(word, "function"))
		copy(r->function, sizeof(r->function), text);
	return !strcmp(word, "section_stack") ? &r->section
	       : !strcmp(word, "tick_stack")  ? &r->tick
	       : !strcmp(word, "gave_stack")  ? &r->gave_at
					      : NULL;
}

static void read_worst(char *text, struct record *records)
{
	struct record *r = NULL;
	struct stack *stack = NULL;
	char *line, *rest = text;

	memset(records, 0, NR * sizeof(*records));
	while ((line = strsep(&rest, "\n"))) {
		char *value;

		if (line[0] == '#')
			continue;
		if (!strncmp(line, " => ", 4)) {
			add_frame(stack, line + 4);
			continue;
		}
		value = strchr(line, ' ');
		if (value)
			*value++ = 0;
		if (!strcmp(line, "class")) {
			for (int i = 0; i < NR; i++)
				if (value && !strcmp(value, classes[i]))
					r = &records[i];
		} else if (r) {
			stack = read_line(r, line, value ? value : "");
		}
	}
}

/* ---- writing --------------------------------------------------------------------------------- */

/* 1234567 ns as "1234.567 us" */
static const char *us(unsigned long ns)
{
	static char texts[8][32];
	static unsigned int next;
	char *t = texts[next++ % 8];

	snprintf(t, sizeof(texts[0]), "%lu.%03lu us", ns / 1000, ns % 1000);
	return t;
}

static const char *policy(const struct name *n)
{
	static char text[40];

	if (!n->tid)
		return "idle";
	if (n->prio < 100)
		snprintf(text, sizeof(text), "%s %d", n->policy == 2 ? "rr" : "fifo", 99 - n->prio);
	else
		snprintf(text, sizeof(text), "nice %d", n->prio - 120);
	return text;
}

/* "32 ns" .. for a power of two. */
static const char *scale(int k)
{
	static char text[16];

	if (k < 10)
		snprintf(text, sizeof(text), "%u ns", 1u << k);
	else if (k < 20)
		snprintf(text, sizeof(text), "%u us", 1u << (k - 10));
	else
		snprintf(text, sizeof(text), "%u ms", 1u << (k - 20));
	return text;
}

static void bar(unsigned long part, unsigned long whole)
{
	int n = whole ? (int)((double)part * BAR / (double)whole + 0.5) : 0;

	for (int i = 0; i < n && i < BAR; i++)
		fputs("#", stdout);
	putchar('\n');
}

/* The table of the kernel's file, and each class's histogram under it as one row of digits. */
static void histograms(char *text)
{
	unsigned long n[NR][32] = { { 0 } }, figures[NR][6] = { { 0 } };
	int low = 31, high = 0, row;
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		int k, at;
		unsigned long v;

		for (row = 0; row < NR; row++)
			if (!strncmp(line, classes[row], strlen(classes[row])) &&
			    line[strlen(classes[row])] == ' ')
				break;
		if (row == NR)
			continue;
		sscanf(line, "%*s %lu %lu %lu %lu %lu %lu%n", &figures[row][0], &figures[row][1],
		       &figures[row][2], &figures[row][3], &figures[row][4], &figures[row][5], &at);
		for (line += at; sscanf(line, " %d:%lu%n", &k, &v, &at) == 2; line += at) {
			if (k < 0 || k > 31)
				continue;
			n[row][k] = v;
			low = k < low ? k : low;
			high = k > high ? k : high;
		}
	}
	printf("%-8s%9s %13s %13s %13s %14s\n", "class", "waits", "mean",
	       "half <=", "99 % <=", "longest");
	for (row = 0; row < NR; row++)
		printf("%-8s%9lu %13s %13s %13s %14s\n", classes[row], figures[row][0],
		       us(figures[row][1]), us(figures[row][2]), us(figures[row][3]),
		       us(figures[row][5]));
	if (low > high)
		return;
	printf("\n%-10s", "");
	for (row = 0; row < NR; row++)
		printf("%12s", classes[row]);
	putchar('\n');
	for (int k = low; k <= high; k++) {
		unsigned long most = 0, sum = 0;

		printf("%7s..  ", scale(k));
		for (row = 0; row < NR; row++) {
			printf("%12lu", n[row][k]);
			sum += n[row][k];
		}
		for (int j = low; j <= high; j++) {
			unsigned long all = n[0][j] + n[1][j] + n[2][j];

			most = all > most ? all : most;
		}
		printf("  ");
		bar(sum, most);
	}
}

static void print_stack(const struct stack *s, int most)
{
	for (int i = 0; i < s->n && i < most; i++)
		printf("      %s\n", s->frame[i]);
}

static void part(const char *what, unsigned long ns, unsigned long whole)
{
	if (!ns)
		return;
	printf("  %-30s %14s %4lu %%  ", what, us(ns), whole ? (ns * 100 + whole / 2) / whole : 0);
	bar(ns, whole);
}

static void section_line(const struct record *r)
{
	printf("    %s in %s, %s", r->label, r->func, r->where);
	if (strcmp(r->end, "-") && strcmp(r->end, r->label))
		printf(", to %s", r->end);
	printf("\n    %s", us(r->len));
	if (r->work)
		printf(", %lu objects (%lu ns each)", r->work, r->len / r->work);
	if (*r->section_comm)
		printf(", by %s-%d", r->section_comm, r->section_tid);
	putchar('\n');
}

/* Where the wait went: parts that add up to it. */
struct parts {
	unsigned long off, before, idle, on;
};

static struct parts divide(const struct record *r)
{
	struct parts p = { .off = r->off < r->latency ? r->off : r->latency, .before = r->others };
	unsigned long rest;

	for (int i = 0; i < r->nr_ran; i++) {
		if (!r->ran[i].tid)
			p.idle += r->ran[i].ns;
		else if (r->ran[i].tid != r->running.tid)
			p.before += r->ran[i].ns;
	}
	rest = r->latency - p.off;
	p.before = p.before < rest ? p.before : rest;
	rest -= p.before;
	p.idle = p.idle < rest ? p.idle : rest;
	p.on = rest - p.idle;
	return p;
}

static void what_held_it_up(const struct record *r, const struct parts *p)
{
	unsigned long half = r->latency / 2;

	if (r->len > half) {
		printf("  held up by one section with interrupts off:\n");
		section_line(r);
		print_stack(&r->section, 6);
	} else if (p->off > half) {
		printf("  held up by %d sections with interrupts off, the longest:\n", r->sections);
		section_line(r);
		print_stack(&r->section, 6);
	} else if (p->before > half) {
		printf("  held up by threads that were before it in the queue:\n");
		for (int i = 0; i < r->nr_ran; i++)
			printf("    %s-%d ran %s\n", r->ran[i].comm, r->ran[i].tid,
			       us(r->ran[i].ns));
		if (r->others)
			printf("    others %s\n", us(r->others));
	} else if (p->idle > half) {
		printf("  held up by the way out of idle (on a shared clock: by other CPUs' "
		       "turns)\n");
	} else if (r->ticks && !strcmp(r->tick_context, "user")) {
		printf("  held up by %s, which went on in user mode (%d ticks): its turn was not "
		       "over\n",
		       r->tick_comm, r->ticks);
	} else if (r->tick.n) {
		printf("  held up by %s, which went on in the kernel with interrupts on; at the "
		       "last tick in\n",
		       r->tick_comm);
		print_stack(&r->tick, 6);
	} else if (r->gave.tid == r->running.tid) {
		printf("  held up by %s-%d, which went on with interrupts on; it gave way in\n",
		       r->running.comm, r->running.tid);
		print_stack(&r->gave_at, 6);
	} else {
		printf("  held up by %s-%d, whose turn was not over; the CPU came free from "
		       "%s-%d\n",
		       r->running.comm, r->running.tid, r->gave.comm, r->gave.tid);
	}
}

static void explain(const struct record *r, const char *class)
{
	struct parts p = divide(r);
	char text[64];

	printf("\nThe longest of class %s: %s-%d (%s) waited %s on CPU %d%s, at %lu.%06lu s\n",
	       class, r->woken.comm, r->woken.tid, policy(&r->woken), us(r->latency), r->cpu,
	       r->moved ? " (moved there)" : "", r->when / 1000000000, r->when / 1000 % 1000000);
	if (r->unwatched) {
		printf("  more than four threads waited for that CPU: nobody watched this one\n");
		return;
	}
	printf("  woken by %s%s-%d; ",
	       r->context == 's'   ? "a softirq over "
	       : r->context == 'h' ? "an interrupt of "
				   : "",
	       r->waker.comm, r->waker.tid);
	printf("%s-%d (%s) was running\n", r->running.comm, r->running.tid, policy(&r->running));
	snprintf(text, sizeof(text), "interrupts off, %d sections", r->sections);
	part(text, p.off, r->latency);
	part("threads before it", p.before, r->latency);
	snprintf(text, sizeof(text), "%s went on", r->running.comm);
	part(text, p.on, r->latency);
	part("idle", p.idle, r->latency);
	what_held_it_up(r, &p);
}

static void explain_timer(const struct record *r)
{
	printf("\nThe latest timer: %s, %s after its time on CPU %d\n", r->function, us(r->latency),
	       r->cpu);
	if (!*r->label)
		return;
	printf("  meanwhile, with interrupts off:\n");
	section_line(r);
}

static int page(void)
{
	static char text[65536];
	struct record records[NR];
	char *end;

	if (slurp(LATENCY, text, sizeof(text)) < 0)
		die("quire: " LATENCY);
	for (char *line = text; line[0] == '#' && strncmp(line, "# measuring", 11);
	     line = end + 1) {
		end = line + strcspn(line, "\n");
		printf("%.*s\n", (int)(end - line - 2), line + 2);
		if (!*end)
			break;
	}
	putchar('\n');
	histograms(text);
	if (slurp(WORST, text, sizeof(text)) < 0)
		die("quire: " WORST);
	read_worst(text, records);
	for (int i = RT; i <= FAIR; i++)
		if (records[i].latency)
			explain(&records[i], classes[i]);
	if (records[TIMER].latency)
		explain_timer(&records[TIMER]);
	return 0;
}

static void tell(const char *word)
{
	int fd = open(LATENCY, O_WRONLY);

	if (fd < 0 || write(fd, word, strlen(word)) < 0)
		die("quire: " LATENCY);
	close(fd);
}

static int run(char **command)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("quire: fork");
	if (!pid) {
		execvp(*command, command);
		die("quire: exec");
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int latency_main(int argc, char **argv)
{
	char before[4096], *rest = NULL;
	unsigned long seconds = argc > 1 ? strtoul(argv[1], &rest, 10) : 5;
	int status = 0, was_on;

	if (argc > 1 && !strcmp(argv[1], "-r"))
		return page();
	if (argc > 1 && argv[1][0] == '-') {
		fprintf(stderr, "usage: quire latency [SECONDS | COMMAND... | -r]\n");
		return 2;
	}
	if (slurp(LATENCY, before, sizeof(before)) < 0)
		die("quire: " LATENCY);
	was_on = strstr(before, "# measuring: on") != NULL;
	tell("reset");
	tell("1");
	if (rest && (*rest || rest == argv[1]))
		status = run(argv + 1);
	else
		sleep(seconds);
	if (!was_on)
		tell("0");
	page();
	return status;
}
