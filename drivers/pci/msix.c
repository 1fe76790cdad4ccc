// SPDX-License-Identifier: BSD-2-Clause
/*
 * msix.c - message-signalled interrupts: a device writes a word to an address, which is the local
 * APIC of one CPU, and the word is the vector. The addresses and words stand in a table in one of
 * the device's BARs, 16 bytes per entry: address (8), data (4), control (4, bit 0 = masked).
 *
 * An entry is masked while it changes, so that the device never sends half of a message.
 * Source: PCI Local Bus Specification 3.0, 6.8.2.
 */
#include "arch/io.h"
#include "arch/smp.h"
#include "drivers/pci/internal.h"
#include "kernel/printk.h"
#include "lib/err.h"

#define MSIX_CONTROL 2
#define MSIX_TABLE 4
#define MSIX_PBA 8
#define CONTROL_ENABLE 0x8000u
#define CONTROL_MASK_ALL 0x4000u
#define CONTROL_SIZE 0x07ffu
#define ENTRY_BYTES 16u
#define ENTRY_ADDRESS 0
#define ENTRY_DATA 8
#define ENTRY_CONTROL 12
#define ENTRY_MASKED 1u

void pci_note_msix(struct pci_dev *dev)
{
	u32 cap = pci_find_cap(dev, PCI_CAP_MSIX, 0);

	if (!cap || cap > 256 - 12)
		return;
	dev->msix_cap = cap;
	dev->msix_vectors = (pci_read16(dev, cap + MSIX_CONTROL) & CONTROL_SIZE) + 1;
}

static volatile u8 *entry(const struct pci_dev *dev, u32 index)
{
	return dev->msix_table + index * ENTRY_BYTES;
}

int pci_msix_enable(struct pci_dev *dev)
{
	u32 table, pba, control;

	if (!dev->msix_cap)
		return -ENODEV;
	table = pci_read32(dev, dev->msix_cap + MSIX_TABLE);
	pba = pci_read32(dev, dev->msix_cap + MSIX_PBA);
	dev->msix_table = pci_bar_piece(dev, table & 7, table & ~7u,
					(u64)dev->msix_vectors * ENTRY_BYTES, "MSI-X table");
	if (!dev->msix_table ||
	    !pci_bar_piece(dev, pba & 7, pba & ~7u, DIV_ROUND_UP(dev->msix_vectors, 64) * 8,
			   "MSI-X pending bits"))
		return -EINVAL;
	control = pci_read16(dev, dev->msix_cap + MSIX_CONTROL);
	pci_write16(dev, dev->msix_cap + MSIX_CONTROL, control | CONTROL_ENABLE | CONTROL_MASK_ALL);
	for (u32 i = 0; i < dev->msix_vectors; i++)
		mmio_write32(ENTRY_MASKED, entry(dev, i) + ENTRY_CONTROL);
	pci_write16(dev, REG_COMMAND, pci_read16(dev, REG_COMMAND) | COMMAND_NO_INTX);
	pci_write16(dev, dev->msix_cap + MSIX_CONTROL,
		    (control | CONTROL_ENABLE) & ~CONTROL_MASK_ALL);
	return dev->msix_vectors;
}

void pci_msix_disable(struct pci_dev *dev)
{
	u32 control;

	if (!dev->msix_table)
		return;
	control = pci_read16(dev, dev->msix_cap + MSIX_CONTROL);
	pci_write16(dev, dev->msix_cap + MSIX_CONTROL, control & ~CONTROL_ENABLE);
	pci_write16(dev, REG_COMMAND, pci_read16(dev, REG_COMMAND) & ~COMMAND_NO_INTX);
}

int pci_msix_request(struct pci_dev *dev, u32 index, irq_handler_t fn, void *arg, const char *name,
		     u32 cpu)
{
	volatile u8 *e;
	u64 address;
	u32 data;
	int vector;

	if (!dev->msix_table || index >= dev->msix_vectors)
		return -EINVAL;
	vector = irq_alloc_vector(fn, arg, name);
	if (vector < 0)
		return vector;
	irq_msi_message(vector, cpu, &address, &data);
	e = entry(dev, index);
	mmio_write32(ENTRY_MASKED, e + ENTRY_CONTROL);
	mmio_write32((u32)address, e + ENTRY_ADDRESS);
	mmio_write32(address >> 32, e + ENTRY_ADDRESS + 4);
	mmio_write32(data, e + ENTRY_DATA);
	mmio_write32(0, e + ENTRY_CONTROL);
	return vector;
}

void pci_msix_release(struct pci_dev *dev, u32 index, int vector)
{
	mmio_write32(ENTRY_MASKED, entry(dev, index) + ENTRY_CONTROL);
	irq_free_vector(vector);
}
