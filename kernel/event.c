/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.c - the rings behind trace_event().
 *
 * Each CPU has a ring of fixed slots. A writer takes the next number with one atomic add, marks the
 * slot as being written, fills it, and stores number + 1 as its stamp; an interrupt or NMI in
 * between simply takes the next slot. A reader copies a slot and believes it when the stamp was the
 * same before and after. Old records are overwritten. The rings come from trace_alloc when the
 * first event is enabled; until then, and for ever if there is no memory, nothing is recorded.
 *
 * The text has the columns of Linux 6.1, so that its programs read it (tools/lablib/ftrace.py is
 * the grammar); tools/trace2dat makes a file for trace-cmd and KernelShark of it.
 */
#include "kernel/internal.h"
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
	u64 first; /* not cleared since */
};
static DEFINE_PER_CPU(struct ring, event_ring);

void *(*trace_alloc)(size_t bytes, u32 cpu);
void (*trace_task)(pid_t *tid, const char **comm);
static void nobody(void) {}
void (*sched_trace_changed)(void) = nobody;
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

void event_text(u64 *args, u32 nr, const char *text)
{
	size_t n = strnlen(text, 8 * nr - 1);

	memcpy(args, text, n);
	memset((char *)args + n, 0, 8 * nr - n);
}

int event_allocate(void)
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

	if (on && (err = event_allocate()))
		return err;
	for (struct trace_event_def *e = __events_start; e < __events_end; e++) {
		if (!matches(e, pattern + !on))
			continue;
		WRITE_ONCE(e->enabled, on);
		n++;
	}
	sched_trace_changed();
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
		WRITE_ONCE(ring->first, READ_ONCE(ring->head));
	}
}

u64 event_count_recorded(void)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		n += READ_ONCE(per_cpu(event_ring, cpu).head) - per_cpu(event_ring, cpu).first;
	return n;
}

u64 event_count_kept(void)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		struct ring *ring = &per_cpu(event_ring, cpu);

		n += min_t(u64, READ_ONCE(ring->head) - ring->first, nr_slots);
	}
	return n;
}

/* Copies the next good slot of a CPU from number *n on. */
static bool next_slot(const struct ring *ring, u64 *n, struct slot *copy)
{
	u64 head = READ_ONCE(ring->head);

	if (!ring->slots)
		return false;
	*n = max(*n, READ_ONCE(ring->first));
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

u32 event_text_args(const char *field)
{
	const char *p = strchr(field, '[');
	u32 bytes = 0;

	while (p && *++p >= '0' && *p <= '9')
		bytes = bytes * 10 + (u32)(*p - '0');
	return bytes / 8;
}

static void show_slot(struct seq *seq, u32 cpu, const struct slot *s)
{
	static const char depth[] = ".123456789abcdef";
	const struct trace_event_def *e = &__events_start[s->id];
	u64 v[ARRAY_SIZE(s->args)] = { 0 };

	seq_printf(seq, "%16s-%-7d [%03u] %c%c%c%c. %5lu.%06lu: %s: ", s->tid ? s->comm : "<idle>",
		   s->tid, cpu, s->irqs_off ? 'd' : '.', s->need_resched ? 'N' : '.',
		   s->hardirq && s->softirq ? 'H'
		   : s->hardirq		    ? 'h'
		   : s->softirq		    ? 's'
					    : '.',
		   depth[min_t(u32, s->preempt, 15)], (unsigned long)(s->time / 1000000000),
		   (unsigned long)(s->time / 1000 % 1000000), e->name);
	for (u32 i = 0, at = 0; i < e->nr_fields && at < ARRAY_SIZE(v); i++) {
		u32 n = event_text_args(e->fields[i]);

		v[i] = n ? (u64)&s->args[at] : s->args[at];
		at += n ? n : 1;
	}
	seq_printf(seq, e->fmt, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10],
		   v[11], v[12], v[13]);
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
