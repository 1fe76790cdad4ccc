/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - shared by the files of trace/. */
#ifndef TRACE_INTERNAL_H
#define TRACE_INTERNAL_H

#include "arch/percpu.h"
#include "trace/irqsoff.h"

#define STACK_FRAMES 12
#define HIST_BUCKETS 32

/* One site on one CPU. Written by that CPU with interrupts off, read by anybody. */
struct site_stat {
	u64 count, total, max, work_max;
	const struct irq_site *end; /* of the longest */
	u32 hist[HIST_BUCKETS];
	u32 stack[STACK_FRAMES]; /* of the longest; address - KERNEL_BASE, 0 ends it */
	s32 tid;
	char comm[16];
};

/* The section a CPU is in. site NULL: none. */
struct open_section {
	u64 start; /* TSC */
	struct irq_site *site;
	u64 work;
	struct site_stat *stats; /* [nr_irq_sites] */
	unsigned long ip;	 /* preemption tracers: who switched it off */
};
DECLARE_PER_CPU(struct open_section, open_section);

/* One measured section, as the reports keep it. */
struct section {
	u64 len, work; /* ticks */
	u64 when;      /* ktime at its end */
	const struct irq_site *start, *end;
	unsigned long start_ip, end_ip; /* 0: the site says it */
	unsigned long stack[STACK_FRAMES];
	u32 cpu, preempt;
	s32 tid;
	char comm[16];
};

enum tracer {
	TRACER_NOP,
	TRACER_IRQSOFF,
	TRACER_PREEMPTOFF,
	TRACER_PREEMPTIRQSOFF,
	TRACER_WAKEUP,
	TRACER_WAKEUP_RT,
	NR_TRACERS
};
extern enum tracer tracer_current;
extern bool tracing_is_on;
extern u32 nr_irq_sites;
extern struct irq_site __irq_sites_start[], __irq_sites_end[];
extern struct irq_site site_preempt;

/* irqsoff.c */
void section_close(struct open_section *o, struct irq_site *end, u64 now, unsigned long end_ip);
struct pt_regs;
/*
 * Return addresses, 0 behind the last when there is room. from: earlier frames are left out; 0:
 * none are. regs: of what was interrupted, or NULL: the caller's.
 */
void take_stack(const struct pt_regs *regs, unsigned long *frames, unsigned long from);
void record_lock(void); /* => interrupts off */
void record_unlock(void);
extern struct section max_section;	/* since the last reset of tracing_max_latency */
extern struct section interval_section; /* since the last sample */
extern u64 latency_threshold;		/* ticks; 0: keep maxima */
void slow_limit_update(void);		/* => record_lock held */

/* tracer.c */
/* no hook runs any more when it returns; open sections are forgotten. => may sleep */
void tracer_pause(void);
void tracer_resume(void);
u64 ticks_to_ns(u64 ticks);
u64 ns_to_ticks(u64 ns);
void clock_describe(struct seq *seq);

/* latency.c: ftrace's latency format */
struct latency_head {
	u64 ns;
	u32 cpu, entries;
	const char *comm;
	s32 tid, nice;
	u32 policy, rt_prio;
};
struct latency_line {
	const char *comm;
	s32 tid;
	u32 cpu, preempt_depth;
	bool irqs_off;
	char context;	  /* h H s . */
	u64 ns, delay_ns; /* since the beginning; until the next line */
};
void latency_header(struct seq *seq, const struct latency_head *head);
void latency_columns(struct seq *seq);
void latency_line_start(struct seq *seq, const struct latency_line *line);

/* report.c */
void sampler_update(void); /* starts or stops the sampling timer to fit the tracer's state */
void report_reset(void);

#endif
