/* SPDX-License-Identifier: BSD-2-Clause */
/* ksyms.h - the kernel carries its own symbols (linked in by a second pass). */
#ifndef KERNEL_KSYMS_H
#define KERNEL_KSYMS_H

#include "lib/types.h"

/* Writes "name+0x12/0x80" for a text address (or the bare number); returns buf. => any context. */
const char *ksym_format(char *buf, size_t n, unsigned long addr);
/* Just the function's name, or NULL; *offset may be NULL. */
const char *ksym_lookup(unsigned long addr, unsigned long *offset);

#endif
