// SPDX-License-Identifier: BSD-2-Clause
/*
 * intx.c - the old interrupt pins, for a function without MSI-X.
 *
 * The firmware routed each pin to one of the ISA interrupts and wrote its number into the function;
 * functions share them. One handler per ISA interrupt asks every function on it. The pin is level
 * triggered: a device that nobody quietens interrupts for ever, so only claimed functions have
 * theirs on (pci_enable leaves the others' disable bit alone; the firmware's devices are silent).
 */
#include "arch/atomic.h"
#include "drivers/pci/internal.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "mm/kmem/slab.h"

#define ISA_LINES 16u

struct intx_user {
	irq_handler_t fn;
	void *arg;
	struct intx_user *next;
};
/* Users of each line; only added to, at the front, before the device's pin can be raised. */
static struct intx_user *lines[ISA_LINES];

static void intx_interrupt(void *arg)
{
	struct intx_user **head = arg;

	for (struct intx_user *u = smp_load_acquire(head); u; u = u->next)
		u->fn(u->arg);
}

int pci_intx_request(struct pci_dev *dev, irq_handler_t fn, void *arg)
{
	struct intx_user *u;
	int vector = 0;

	if (!dev->pin || !dev->line || dev->line >= ISA_LINES) {
		pr_warn("pci: %s: interrupt pin %u on line %u: not routed", dev->name, dev->pin,
			dev->line);
		return -ENODEV;
	}
	u = kzalloc(sizeof(*u), GFP_KERNEL);
	if (!u)
		return -ENOMEM;
	*u = (struct intx_user){ .fn = fn, .arg = arg, .next = lines[dev->line] };
	smp_store_release(&lines[dev->line], u);
	if (!u->next)
		vector = irq_request_isa(dev->line, intx_interrupt, &lines[dev->line], "PCI INTx");
	if (vector < 0) {
		lines[dev->line] = NULL;
		kfree(u);
		pr_warn("pci: %s: interrupt line %u: error %d", dev->name, dev->line, -vector);
		return vector;
	}
	pci_write16(dev, REG_COMMAND, pci_read16(dev, REG_COMMAND) & ~COMMAND_NO_INTX);
	return 0;
}
