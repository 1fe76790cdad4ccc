/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what event.c and event_files.c tell each other. Not for other rooms. */
#ifndef KERNEL_INTERNAL_H
#define KERNEL_INTERNAL_H

#include "kernel/event.h"

extern struct trace_event_def __events_start[], __events_end[];

/* The rings, on first need. => may sleep; 0 or -ENOMEM */
int event_allocate(void);
/* How many arguments the text of a field "name[16]" takes; 0: it is a number or a pointer. */
u32 event_text_args(const char *field);

#endif
