/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.c - the rings behind trace_event().
 *
 * Each CPU has a ring of fixed slots. A writer takes the next number with one atomic add, marks the
 * slot as being written, fills it, and stores number + 1 as its stamp; an interrupt or NMI in
 * between simply takes the next slot. A reader copies a slot and believes it when the stamp was the
 * same before and after. Old records are overwritten. The rings come from trace_alloc when the
 * first event is enabled; until then, and for ever if there is no memory, nothing is recorded.
 */
#include "kernel/event.h"
#include "arch/atomic.h"
#include "arch/irqflags.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "kernel/param.h"
#include "kernel/preempt.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

struct slot {
	u64 stamp; /* number + 1; 0: empty or being written */
	u64 time;
	u16 id;
	u16 preempt; /* low bits of the preemption count */
	bool irqs_off, need_resched;
	u8 softirq, hardirq;
	s32 tid;
	char comm[16];
	u64 args[14];
};
struct ring {
	struct slot *slots;
	u64 head;
};
static DEFINE_PER_CPU(struct ring, event_ring);

extern struct trace_event_def __events_start[], __events_end[];
void *(*trace_alloc)(size_t bytes, u32 cpu);
void (*trace_task)(pid_t *tid, const char **comm);
bool event_recording = true;
static u32 nr_slots = 1024; /* a power of two */
static bool allocated;
static char boot_events[256];
BOOT_PARAM_STRING("trace_event", boot_events, "trace events to enable at boot: system:name,...");

void event_record(struct trace_event_def *def, const u64 *args)
{
	struct ring *ring = this_cpu_ptr(&event_ring);
	const char *comm = "?";
	struct slot *s;
	u64 n;
	u32 pc = preempt_count();
	pid_t tid = 0;

	if (!ring->slots || !READ_ONCE(event_recording))
		return;
	n = __atomic_fetch_add(&ring->head, 1, __ATOMIC_RELAXED);
	s = &ring->slots[n & (nr_slots - 1)];
	WRITE_ONCE(s->stamp, 0);
	smp_wmb();
	if (trace_task)
		trace_task(&tid, &comm);
	s->time = arch_clock_ns();
	s->id = def - __events_start;
	s->preempt = pc & PREEMPT_MASK;
	s->softirq = (pc & SOFTIRQ_MASK) != 0;
	s->hardirq = (pc & HARDIRQ_MASK) != 0;
	s->irqs_off = irqs_disabled();
	s->need_resched = need_resched();
	s->tid = tid;
	memcpy(s->comm, comm, strnlen(comm, 15) + 1);
	s->comm[15] = 0;
	memcpy(s->args, args, sizeof(s->args));
	smp_store_release(&s->stamp, n + 1);
}

static int allocate(void)
{
	if (allocated)
		return 0;
	if (!trace_alloc)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		struct ring *ring = &per_cpu(event_ring, cpu);

		if (!ring->slots)
			ring->slots = trace_alloc(nr_slots * sizeof(struct slot), cpu);
		if (!ring->slots)
			return -ENOMEM;
	}
	allocated = true;
	return 0;
}

static bool matches(const struct trace_event_def *e, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	size_t n;

	if (!colon)
		return str_match(pattern, e->name) || !strcmp(pattern, e->system);
	n = colon - pattern;
	return strlen(e->system) == n && !strncmp(e->system, pattern, n) &&
	       str_match(colon[1] ? colon + 1 : "*", e->name);
}

int event_set(const char *pattern)
{
	bool on = *pattern != '!';
	int n = 0, err;

	if (on && (err = allocate()))
		return err;
	for (struct trace_event_def *e = __events_start; e < __events_end; e++) {
		if (!matches(e, pattern + !on))
			continue;
		WRITE_ONCE(e->enabled, on);
		n++;
	}
	return n ? n : -EINVAL;
}

void event_init(void)
{
	char *rest = boot_events, *pattern;

	while ((pattern = strsep(&rest, ",")))
		if (*pattern && event_set(pattern) < 0)
			pr_warn("event: trace_event=%s names no event, or there is no memory; "
				"ignored",
				pattern);
}

void event_clear(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		struct ring *ring = &per_cpu(event_ring, cpu);

		for (u32 i = 0; ring->slots && i < nr_slots; i++)
			WRITE_ONCE(ring->slots[i].stamp, 0);
	}
}

u64 event_count_recorded(void)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		n += READ_ONCE(per_cpu(event_ring, cpu).head);
	return n;
}

/* Copies the next good slot of a CPU from number *n on. */
static bool next_slot(const struct ring *ring, u64 *n, struct slot *copy)
{
	u64 head = READ_ONCE(ring->head);

	if (!ring->slots)
		return false;
	if (head > nr_slots && *n < head - nr_slots)
		*n = head - nr_slots;
	for (; *n < head; (*n)++) {
		const struct slot *s = &ring->slots[*n & (nr_slots - 1)];

		if (smp_load_acquire(&s->stamp) != *n + 1)
			continue;
		*copy = *s;
		smp_rmb();
		if (READ_ONCE(s->stamp) == *n + 1)
			return true;
	}
	return false;
}

static void show_slot(struct seq *seq, u32 cpu, const struct slot *s)
{
	const struct trace_event_def *e = &__events_start[s->id];

	seq_printf(seq, "%16s-%-7d [%03u] %c%c%c%c. %5lu.%06lu: %s: ", s->comm, s->tid, cpu,
		   s->irqs_off ? 'd' : '.', s->need_resched ? 'N' : '.',
		   s->hardirq && s->softirq ? 'H'
		   : s->hardirq		    ? 'h'
		   : s->softirq		    ? 's'
					    : '.',
		   s->preempt ? '0' + (s->preempt > 9 ? 9 : s->preempt) : '.',
		   (unsigned long)(s->time / 1000000000), (unsigned long)(s->time / 1000 % 1000000),
		   e->name);
	seq_printf(seq, e->fmt, s->args[0], s->args[1], s->args[2], s->args[3], s->args[4],
		   s->args[5], s->args[6], s->args[7], s->args[8], s->args[9], s->args[10],
		   s->args[11], s->args[12], s->args[13]);
	seq_putc(seq, '\n');
}

/* Quadratic in CPUs, no memory: for each line the earliest of the CPUs' next slots. */
void event_show(struct seq *seq)
{
	u64 next[NR_CPUS] = { 0 };

	for (;;) {
		struct slot s, best;
		u32 from = NR_CPUS;

		for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
			if (!next_slot(&per_cpu(event_ring, cpu), &next[cpu], &s))
				continue;
			if (from == NR_CPUS || s.time < best.time) {
				best = s;
				from = cpu;
			}
		}
		if (from == NR_CPUS)
			return;
		next[from]++;
		show_slot(seq, from, &best);
	}
}

/* ---- files ---- */

static char names[256][64]; /* "system/name" of each event, made on first use */

static int nr_events(void)
{
	return min_t(long, __events_end - __events_start, ARRAY_SIZE(names));
}

static const char *event_path(long i)
{
	if (!names[i][0])
		snprintf(names[i], sizeof(names[i]), "%s/%s", __events_start[i].system,
			 __events_start[i].name);
	return names[i];
}

static int enable_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", __events_start[seq->index].enabled);
	return 0;
}

static ssize_t enable_store(const char *text, size_t n, long index)
{
	bool on;
	int err = parse_bool(text, &on);

	if (!err && on)
		err = allocate();
	if (err)
		return err;
	WRITE_ONCE(__events_start[index].enabled, on);
	return n;
}

static int format_show(struct seq *seq)
{
	const struct trace_event_def *e = &__events_start[seq->index];

	seq_printf(seq, "name: %s\nID: %ld\nformat:\n", e->name, seq->index);
	for (u32 i = 0; i < e->nr_fields; i++)
		seq_printf(seq, "\tfield:u64 %s;\toffset:%zu;\tsize:8;\tsigned:0;\n", e->fields[i],
			   offsetof(struct slot, args) + 8 * i);
	seq_printf(seq, "\nprint fmt: \"%s\"\n", e->fmt);
	return 0;
}

#define EVENTS "/sys/kernel/tracing/events/%s/"
SHOW_NAMED(EVENTS "enable", 0644, nr_events, event_path, enable_show, enable_store);
SHOW_NAMED(EVENTS "format", 0444, nr_events, event_path, format_show, NULL);

static int all_show(struct seq *seq)
{
	int on = 0;

	for (int i = 0; i < nr_events(); i++)
		on += __events_start[i].enabled;
	seq_printf(seq, "%c\n", !on ? '0' : on == nr_events() ? '1' : 'X');
	return 0;
}

static ssize_t all_store(const char *text, size_t n, long index)
{
	bool on;
	int err = parse_bool(text, &on);

	if (!err)
		err = event_set(on ? "*" : "!*");
	return err < 0 ? err : (ssize_t)n;
}
SHOW("/sys/kernel/tracing/events/enable", 0644, all_show, all_store);

static int available_show(struct seq *seq)
{
	for (struct trace_event_def *e = __events_start; e < __events_end; e++)
		seq_printf(seq, "%s:%s\n", e->system, e->name);
	return 0;
}
SHOW("/sys/kernel/tracing/available_events", 0444, available_show, NULL);

static int set_event_show(struct seq *seq)
{
	for (struct trace_event_def *e = __events_start; e < __events_end; e++)
		if (e->enabled)
			seq_printf(seq, "%s:%s\n", e->system, e->name);
	return 0;
}

static ssize_t set_event_store(const char *text, size_t n, long index)
{
	char line[256], *rest = line, *word;

	if (n >= sizeof(line))
		return -EINVAL;
	strlcpy(line, text, sizeof(line));
	while ((word = strsep(&rest, " \t\n")))
		if (*word && event_set(word) < 0)
			return -EINVAL;
	return n;
}
SHOW("/sys/kernel/tracing/set_event", 0644, set_event_show, set_event_store);

static int size_show(struct seq *seq)
{
	seq_printf(seq, "%zu\n", nr_slots * sizeof(struct slot) / 1024);
	return 0;
}

/* Only before the rings exist: a ring in use cannot move. */
static ssize_t size_store(const char *text, size_t n, long index)
{
	u64 kb;
	int err = parse_u64(text, &kb);

	if (err)
		return err;
	if (kb < 4 || kb > 65536)
		return -EINVAL;
	if (allocated)
		return -EBUSY;
	nr_slots = rounddown_pow_of_two(kb * 1024 / sizeof(struct slot));
	return n;
}
SHOW("/sys/kernel/tracing/buffer_size_kb", 0644, size_show, size_store);
