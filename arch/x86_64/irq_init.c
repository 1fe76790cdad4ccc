/* SPDX-License-Identifier: BSD-2-Clause */
/* irq_init.c - brings up the interrupt controllers on the boot CPU, in order. */
#include "arch/bootinfo.h"
#include "internal.h"

void arch_irq_init(void)
{
	pic_disable();
	lapic_init();
	irq_vectors_init();
	smp_init_vectors();
	lapic_init_cpu();
	ioapic_init();
}
