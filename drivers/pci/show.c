// SPDX-License-Identifier: BSD-2-Clause
/*
 * show.c - the functions as a table: /sys/kernel/quire/pci, and in Linux's format
 * /proc/bus/pci/devices.
 */
#include "drivers/pci/internal.h"
#include "kernel/show.h"

static int table_show(struct seq *seq)
{
	const struct pci_dev *d;

	seq_puts(seq, "slot     id         class  rev msix driver      BARs\n");
	list_for_each_entry(d, &pci_devices, node) {
		seq_printf(seq, "%-8s %04x:%04x  %06x %02x  %4u %-11s", d->name, d->vendor,
			   d->device, d->class_code, d->revision, d->msix_vectors,
			   d->driver ? d->driver : "-");
		for (u32 n = 0; n < PCI_BARS; n++)
			if (d->bar[n].kind)
				seq_printf(seq, " %u:%s %#llx+%#llx", n,
					   d->bar[n].kind == PCI_BAR_IO ? "io" : "mem",
					   (unsigned long long)d->bar[n].start,
					   (unsigned long long)d->bar[n].size);
		seq_putc(seq, '\n');
	}
	return 0;
}
SHOW("/sys/kernel/quire/pci", 0444, table_show, NULL);

static int devices_show(struct seq *seq)
{
	const struct pci_dev *d;

	list_for_each_entry(d, &pci_devices, node) {
		seq_printf(seq, "%02x%02x\t%04x%04x\t%x", d->bus, d->devfn, d->vendor, d->device,
			   d->line);
		for (u32 n = 0; n < PCI_BARS + 1; n++)
			seq_printf(seq, "\t%16llx",
				   n < PCI_BARS
					   ? (unsigned long long)(d->bar[n].start | d->bar[n].flags)
					   : 0);
		for (u32 n = 0; n < PCI_BARS + 1; n++)
			seq_printf(seq, "\t%16llx",
				   n < PCI_BARS ? (unsigned long long)d->bar[n].size : 0);
		seq_printf(seq, "\t%s\n", d->driver ? d->driver : "");
	}
	return 0;
}
SHOW("/proc/bus/pci/devices", 0444, devices_show, NULL);
