// SPDX-License-Identifier: BSD-2-Clause
/*
 * bar.c - base address registers: where a function's registers are, and how many.
 *
 * The size shows when all ones are written: the bits below it read back as zero. Meanwhile the
 * function would answer at the wrong place, so decoding is off during the question. A 64-bit BAR
 * takes two registers; the second is no BAR of its own.
 *
 * A BAR is used only when it is aligned to its size, within the processor's physical addresses, and
 * not on top of RAM: a function that claims memory would turn every access to it into damage.
 */
#include "arch/bootinfo.h"
#include "arch/cpu.h"
#include "arch/mmu.h"
#include "drivers/pci/internal.h"
#include "kernel/printk.h"

#define BAR_IO 0x1u
#define BAR_64 0x4u
#define BAR_TYPE 0x6u
#define CLASS_HOST_BRIDGE 0x0600
#define MAP_LIMIT MiB(64) /* registers, not memory: more is a mistake, or not for us */

/* What register n answers to all ones; the old value is back afterwards. */
static u32 ask_size(const struct pci_dev *dev, u32 n, u32 old)
{
	u32 mask;

	pci_write32(dev, REG_BAR(n), U32_MAX);
	mask = pci_read32(dev, REG_BAR(n));
	pci_write32(dev, REG_BAR(n), old);
	return mask;
}

static void size_io(struct pci_bar *b, u32 value, u32 mask)
{
	mask = (mask & ~3u) | 0xffff0000u; /* a function may decode 16 bits only */
	b->kind = PCI_BAR_IO;
	b->start = value & ~3u;
	b->size = (u32)~mask + 1;
}

/* => registers used: 1, or 2 for a 64-bit BAR */
static u32 size_one(struct pci_dev *dev, u32 n)
{
	struct pci_bar *b = &dev->bar[n];
	u32 value = pci_read32(dev, REG_BAR(n)), mask = ask_size(dev, n, value), high;
	u64 mask64;

	if (!mask || mask == U32_MAX)
		return 1;
	b->flags = value & (value & BAR_IO ? 3 : 0xf);
	if (value & BAR_IO) {
		size_io(b, value, mask);
		return 1;
	}
	b->start = value & ~0xfu;
	mask64 = (mask & ~0xfu) | 0xffffffff00000000ull;
	if ((value & BAR_TYPE) == BAR_64 && n + 1 < PCI_BARS) {
		high = pci_read32(dev, REG_BAR(n + 1));
		b->start |= (u64)high << 32;
		mask64 = (u64)ask_size(dev, n + 1, high) << 32 | (mask & ~0xfu);
	}
	b->size = ~mask64 + 1;
	b->kind = b->size ? PCI_BAR_MEMORY : PCI_BAR_NONE;
	return (value & BAR_TYPE) == BAR_64 ? 2 : 1;
}

void pci_size_bars(struct pci_dev *dev)
{
	u32 command = pci_read16(dev, REG_COMMAND);

	if (dev->class_code >> 8 == CLASS_HOST_BRIDGE)
		return; /* turning its decoding off turns the machine off */
	pci_write16(dev, REG_COMMAND, command & ~(COMMAND_IO | COMMAND_MEMORY));
	for (u32 n = 0; n < PCI_BARS;)
		n += size_one(dev, n);
	pci_write16(dev, REG_COMMAND, command);
}

static const char *misplaced(const struct pci_bar *b)
{
	u64 end = b->start + b->size;

	if (!b->start)
		return "the firmware gave it no address";
	if (b->size & (b->size - 1))
		return "its size is no power of two";
	if (b->size > MAP_LIMIT)
		return "too large to be registers";
	if (b->start & (b->size - 1))
		return "not aligned to its size";
	if (end < b->start || (end - 1) >> cpu_features.phys_bits)
		return "beyond the processor's addresses";
	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];

		if (r->type == BOOT_RAM && r->start < end && r->end > b->start)
			return "on top of RAM";
	}
	return NULL;
}

volatile u8 *pci_bar_piece(struct pci_dev *dev, u32 bar, u64 offset, u64 length, const char *what)
{
	struct pci_bar *b = bar < PCI_BARS ? &dev->bar[bar] : NULL;
	const char *why = NULL;

	if (!b || b->kind != PCI_BAR_MEMORY)
		why = "no memory BAR";
	else if (!length || offset + length < offset || offset + length > b->size)
		why = "not inside the BAR";
	else
		why = misplaced(b);
	if (!why && !b->regs) {
		b->regs = ioremap(b->start, b->size);
		why = b->regs ? NULL : "no address space to map it";
	}
	if (!why)
		return b->regs + offset;
	pr_warn("pci: %s: %s in BAR %u at %#llx, %llu bytes (BAR %#llx, %llu bytes): %s", dev->name,
		what, bar, (unsigned long long)offset, (unsigned long long)length,
		b ? (unsigned long long)b->start : 0, b ? (unsigned long long)b->size : 0, why);
	return NULL;
}
