/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioapic.c - routes the ISA interrupts that drivers ask for; everything else stays masked. The old
 * interrupt controller is moved out of the exception vectors and masked.
 */
#include "arch/io.h"
#include "arch/mmu.h"
#include "internal.h"
#include "kernel/printk.h"
#include "lib/err.h"

#define IOREGSEL 0x00
#define IOWIN 0x10
#define REG_VERSION 0x01
#define REG_REDIRECT(n) (0x10 + 2 * (n))
#define REDIRECT_MASKED BIT(16)
#define REDIRECT_LEVEL BIT(15)
#define REDIRECT_ACTIVE_LOW BIT(13)

static struct ioapic {
	volatile u8 *regs;
	u32 gsi_base, pins;
} ioapics[8];
static u32 nr_ioapics;

static u32 io_read(const struct ioapic *a, u32 reg)
{
	mmio_write32(reg, a->regs + IOREGSEL);
	return mmio_read32(a->regs + IOWIN);
}

static void io_write(const struct ioapic *a, u32 reg, u32 v)
{
	mmio_write32(reg, a->regs + IOREGSEL);
	mmio_write32(v, a->regs + IOWIN);
}

void pic_disable(void)
{
	static const struct {
		u16 port;
		u8 value;
	} steps[] = {
		{ 0x20, 0x11 }, { 0xa0, 0x11 }, { 0x21, 0x20 }, { 0xa1, 0x28 }, { 0x21, 4 },
		{ 0xa1, 2 },	{ 0x21, 1 },	{ 0xa1, 1 },	{ 0x21, 0xff }, { 0xa1, 0xff }
	};

	for (u32 i = 0; i < ARRAY_SIZE(steps); i++)
		outb(steps[i].value, steps[i].port);
}

void ioapic_init(void)
{
	for (u32 i = 0; i < acpi_machine.nr_ioapics; i++) {
		struct ioapic *a = &ioapics[nr_ioapics];

		a->regs = ioremap(acpi_machine.ioapic[i].pa, PAGE_SIZE);
		if (!a->regs) {
			pr_warn("ioapic: cannot map registers at %#llx",
				(unsigned long long)acpi_machine.ioapic[i].pa);
			continue;
		}
		a->gsi_base = acpi_machine.ioapic[i].gsi_base;
		a->pins = (io_read(a, REG_VERSION) >> 16 & 255) + 1;
		for (u32 p = 0; p < a->pins; p++)
			io_write(a, REG_REDIRECT(p), REDIRECT_MASKED);
		nr_ioapics++;
	}
}

int ioapic_route(unsigned int isa_irq, unsigned int vector, u32 apic_id)
{
	u32 gsi = acpi_machine.isa[isa_irq].gsi, flags = acpi_machine.isa[isa_irq].flags;
	u32 low = vector;

	if ((flags & 3) == 3)
		low |= REDIRECT_ACTIVE_LOW;
	if ((flags >> 2 & 3) == 3)
		low |= REDIRECT_LEVEL;
	for (u32 i = 0; i < nr_ioapics; i++) {
		const struct ioapic *a = &ioapics[i];

		if (gsi < a->gsi_base || gsi - a->gsi_base >= a->pins)
			continue;
		io_write(a, REG_REDIRECT(gsi - a->gsi_base) + 1, apic_id << 24);
		io_write(a, REG_REDIRECT(gsi - a->gsi_base), low);
		return 0;
	}
	return -ENODEV;
}
