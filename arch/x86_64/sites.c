/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sites.c - the irq_site records of the entry and exit stubs, which are written in assembler or
 * shared by several functions. Their labels are fixed names in the reports.
 */
#include "internal.h"

#define ENTRY_SITE(var, name)                                                                      \
	struct irq_site var __attribute__((section(".irq_sites"), used, aligned(8))) = {           \
		.label = name, .func = name, .file = "arch/x86_64/entry.asm", .line = 0            \
	}

ENTRY_SITE(site_syscall_entry, "syscall_entry");
ENTRY_SITE(site_syscall_exit, "syscall_exit");
ENTRY_SITE(site_irq_entry, "irq_entry");
ENTRY_SITE(site_irq_exit, "irq_exit");
ENTRY_SITE(site_fault_entry, "fault_entry");
ENTRY_SITE(site_fault_exit, "fault_exit");
ENTRY_SITE(site_nmi, "nmi");
ENTRY_SITE(site_ap_start, "ap_start");
