/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - trace events: named records of up to fourteen numbers (or fixed short strings) in a
 * per-CPU ring.
 *
 *   DEFINE_EVENT(kmem, mm_page_alloc, "page=%lu order=%lu gfp=%lx migratetype=%lu",
 *                "pfn", "order", "gfp_flags", "migratetype");
 *   trace_event(mm_page_alloc, pfn, order, gfp, mt);
 *
 * Disabled (the default) an event costs one load and a predicted branch. tracefs:
 * events/SYSTEM/NAME/{enable,format}, events/enable, available_events, set_event, trace,
 * tracing_on, buffer_size_kb. A %s argument is a string that lives for ever; when its field is
 * called "name[16]" it is a text of at most 15 letters kept in the record, two arguments of 8 bytes
 * (event_text() puts it there). fmt: conversions %lu, %ld, %lx (with flags and width) and %s, one
 * per field, in order.
 */
#ifndef KERNEL_EVENT_H
#define KERNEL_EVENT_H

#include "lib/types.h"

struct trace_event_def {
	const char *system, *name, *fmt;
	const char *fields[14];
	u32 nr_fields, id;
	bool enabled;
};
#ifdef QUIRE_HOST
#define DEFINE_EVENT(system_, name_, fmt_, ...) struct trace_event_def event_##name_
#define trace_event(name_, ...) ((void)0)
#else
#define DEFINE_EVENT(system_, name_, fmt_, ...)                                                    \
	struct trace_event_def event_##name_ __attribute__((section(".events"), aligned(8))) = {   \
		.system = #system_,                                                                \
		.name = #name_,                                                                    \
		.fmt = fmt_,                                                                       \
		.fields = { __VA_ARGS__ },                                                         \
		.nr_fields = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)              \
	}
void event_record(struct trace_event_def *def, const u64 *args);
/* Puts text into nr arguments, cut to 8 * nr - 1 letters. */
void event_text(u64 *args, u32 nr, const char *text);
#define trace_event(name_, ...)                                                                    \
	do {                                                                                       \
		if (unlikely(event_##name_.enabled)) {                                             \
			u64 _args[14] = { __VA_ARGS__ };                                           \
			event_record(&event_##name_, _args);                                       \
		}                                                                                  \
	} while (0)
#endif
struct seq;
/*
 * Gives zeroed memory for a CPU's ring (and the tracer's statistics), NULL: none. Set at boot by
 * whoever owns memory.
 */
extern void *(*trace_alloc)(size_t bytes, u32 cpu);
/*
 * Who runs now, for the records of events and tracers; set by sched/. => any context, NMI included.
 */
extern void (*trace_task)(pid_t *tid, const char **comm);
/* sched/ sets it: an event or the wake-up tracers may have been turned on or off. */
extern void (*sched_trace_changed)(void);
/* The global valve of the rings (tracing_on). */
extern bool event_recording;
/* All rings merged in order of time, as lines of the ftrace text format. */
void event_show(struct seq *seq);
void event_clear(void);
u64 event_count_recorded(void); /* since the last event_clear() */
u64 event_count_kept(void);	/* of them still in the rings */
/*
 * "system:name", "system:*", "name", with '!' in front to disable. => number of events changed, or
 * -errno. May sleep.
 */
int event_set(const char *pattern);
/* trace_init() calls it: enables what the boot parameter trace_event= named */
void event_init(void);

#define DECLARE_EVENT(name_) extern struct trace_event_def event_##name_

#endif
