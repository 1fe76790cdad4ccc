/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_files.c - the files of the trace events below /sys/kernel/tracing: on and off, by event, by
 * system and by pattern; format and id; trace_marker; the size of the rings.
 *
 * A format file tells the layout a record of the event would have in a ring of Linux: eight bytes
 * common to all, then the fields in order, each at its natural place. The type of a field follows
 * from the conversion that prints it: %lu and %lx an unsigned long, %ld a long, %s a text that lies
 * elsewhere (__data_loc), or, for a field "name[16]", in the record.
 */
#include "kernel/internal.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

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
		err = event_allocate();
	if (err)
		return err;
	WRITE_ONCE(__events_start[index].enabled, on);
	sched_trace_changed();
	return n;
}

#define FIRST_ID 300 /* Linux keeps the lower ones for records of its own */
#define COMMON_BYTES 8

static int id_show(struct seq *seq)
{
	seq_printf(seq, "%ld\n", FIRST_ID + seq->index);
	return 0;
}

/* => the letter of the next conversion of *fmt ('u' 'd' 'x' 's'); *fmt goes behind it. */
static char next_conversion(const char **fmt)
{
	const char *p = *fmt;

	while (*p && (*p != '%' || p[1] == '%'))
		p += *p == '%' ? 2 : 1;
	while (*p && (*p < 'a' || *p == 'l'))
		p++;
	*fmt = *p ? p + 1 : p;
	return *p;
}

/* One field of a record, at its natural place behind `end`. => the new end. */
static u32 show_field(struct seq *seq, const char *field, char conversion, u32 end)
{
	u32 text = 8 * event_text_args(field), size = text ? text : conversion == 's' ? 4 : 8;
	u32 offset = text ? end : (end + size - 1) / size * size;
	const char *type = text		       ? "char"
			   : conversion == 's' ? "__data_loc char[]"
			   : conversion == 'd' ? "long"
					       : "unsigned long";

	seq_printf(seq, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, field, offset,
		   size, conversion == 'd');
	return offset + size;
}

static int format_show(struct seq *seq)
{
	const struct trace_event_def *e = &__events_start[seq->index];
	const char *fmt = e->fmt;
	u32 end = COMMON_BYTES;

	seq_printf(seq, "name: %s\nID: %ld\nformat:\n", e->name, FIRST_ID + seq->index);
	seq_puts(seq, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
	for (u32 i = 0; i < e->nr_fields; i++)
		end = show_field(seq, e->fields[i], next_conversion(&fmt), end);
	seq_printf(seq, "\nprint fmt: \"%s\"", e->fmt);
	fmt = e->fmt;
	for (u32 i = 0; i < e->nr_fields; i++) {
		bool elsewhere = next_conversion(&fmt) == 's' && !event_text_args(e->fields[i]);
		int n = strcspn(e->fields[i], "[");

		seq_printf(seq, elsewhere ? ", __get_str(%.*s)" : ", REC->%.*s", n, e->fields[i]);
	}
	seq_putc(seq, '\n');
	return 0;
}

#define EVENTS "/sys/kernel/tracing/events/%s/"
SHOW_NAMED(EVENTS "enable", 0644, nr_events, event_path, enable_show, enable_store);
SHOW_NAMED(EVENTS "format", 0444, nr_events, event_path, format_show, NULL);
SHOW_NAMED(EVENTS "id", 0444, nr_events, event_path, id_show, NULL);

/* Systems: the first event of each stands for it. */
static struct trace_event_def *first_of_system(long index)
{
	for (struct trace_event_def *e = __events_start; e < __events_end; e++) {
		struct trace_event_def *before = __events_start;

		while (strcmp(before->system, e->system))
			before++;
		if (before == e && !index--)
			return e;
	}
	return NULL;
}

static int nr_systems(void)
{
	int n = 0;

	while (first_of_system(n))
		n++;
	return n;
}

static const char *system_name(long index)
{
	return first_of_system(index)->system;
}

static int system_show(struct seq *seq)
{
	const char *system = system_name(seq->index);
	int on = 0, all = 0;

	for (struct trace_event_def *e = __events_start; e < __events_end; e++)
		if (!strcmp(e->system, system)) {
			all++;
			on += e->enabled;
		}
	seq_printf(seq, "%c\n", !on ? '0' : on == all ? '1' : 'X');
	return 0;
}

static ssize_t system_store(const char *text, size_t n, long index)
{
	char pattern[40];
	bool on;
	int err = parse_bool(text, &on);

	if (err)
		return err;
	snprintf(pattern, sizeof(pattern), "%s%s:*", on ? "" : "!", system_name(index));
	err = event_set(pattern);
	return err < 0 ? err : (ssize_t)n;
}
SHOW_NAMED("/sys/kernel/tracing/events/%s/enable", 0644, nr_systems, system_name, system_show,
	   system_store);

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

/* What a program writes to trace_marker stands in the trace beside the events. */
#define MARK_ARGS 13
DEFINE_EVENT(ftrace, tracing_mark_write, "%s", "text[104]");

static ssize_t marker_store(const char *text, size_t n, long index)
{
	u64 args[14] = { 0 };
	char line[8 * MARK_ARGS];
	int err = event_allocate();

	if (err)
		return err;
	strlcpy(line, text, sizeof(line));
	line[strcspn(line, "\n")] = 0;
	event_text(args, MARK_ARGS, line);
	event_record(&event_tracing_mark_write, args);
	return n;
}
SHOW("/sys/kernel/tracing/trace_marker", 0220, NULL, marker_store);
