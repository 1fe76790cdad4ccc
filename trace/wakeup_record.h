/* SPDX-License-Identifier: BSD-2-Clause */
/* wakeup_record.h - what wakeup.c keeps, wakeup_show.c and latency.c print. Not for other rooms. */
#ifndef TRACE_WAKEUP_RECORD_H
#define TRACE_WAKEUP_RECORD_H

#include "trace/internal.h"
#include "trace/wakeup.h"

#define WAKE_BUCKETS 32
#define WAKE_RAN 4

struct wake_name {
	s32 tid, prio;
	u32 policy;
	char comm[16];
};

/* An interrupts-off section, in readings of the tracer's clock. */
struct wake_section {
	const struct irq_site *start, *end;
	u64 from, to, work;
};

/* What a CPU did while a thread waited for it. */
struct wake_delay {
	u64 id;
	u64 off; /* ticks with interrupts off */
	u32 nr_off;
	struct wake_section longest;
	u64 longest_len; /* the part of it after the wake-up */
	struct wake_name longest_task;

	u64 mark_ns; /* up to here the threads' times are added */
	u32 nr_ran;
	struct {
		struct wake_name thread;
		u64 ns;
	} ran[WAKE_RAN];
	u64 other_ns;

	u32 ticks; /* the rest is of the last one */
	struct wake_name tick_task;
	bool tick_user, tick_softirq;

	unsigned long longest_stack[STACK_FRAMES], tick_stack[STACK_FRAMES]; /* 0 ends them */
};

struct wake_record {
	u64 len_ns, when_ns; /* len 0: none yet */
	u32 cpu;
	bool watched, moved;
	char context;
	struct wake_name woken, waker, curr, gave;
	unsigned long gave_stack[STACK_FRAMES];
	struct wake_delay delay;
};

struct wake_timer_record {
	u64 late_ns, when_ns;
	u32 cpu;
	unsigned long fn;
	struct wake_section section; /* start NULL: none of the last ones reached that far */
	u64 held;		     /* ticks of it after the timer's time */
};

struct wake_hist {
	u64 count, total_ns, max_ns;
	u64 bucket[WAKE_BUCKETS]; /* [k]: 2^k .. 2^(k+1)-1 ns; the last holds all longer ones */
};

/* (record_lock) */
extern struct wake_record wake_worst[NR_WAKE_CLASSES];
extern struct wake_timer_record wake_worst_timer;
extern u64 wake_threshold_ns[NR_WAKE_CLASSES]; /* shorter ones are no record */

/* Sum over CPUs; row NR_WAKE_CLASSES: timers. */
void wakeup_hist_sum(u32 row, struct wake_hist *sum);
/* => no hook runs (tracer_pause) */
void wakeup_forget_open(void);
void wakeup_start(void);
void wakeup_reset(void);
/* wakeup_show.c: the record of the tracer that runs, in ftrace's latency format */
void wakeup_show_trace(struct seq *seq, enum wake_class class);
/* The class with the longest of those the selected tracer looks at. */
enum wake_class wakeup_traced_class(void);
extern bool wakeup_wanted; /* measured even when another tracer is selected */

#endif
