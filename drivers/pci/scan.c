// SPDX-License-Identifier: BSD-2-Clause
/*
 * scan.c - which functions there are.
 *
 * A function answers with its vendor number; 0xffff means nobody. Slots 0..31 of a bus are asked,
 * functions 1..7 of a slot only when function 0 says it has several. Behind a bridge lies another
 * bus, whose number the firmware wrote into it. Buses are visited in rising order from a set: each
 * at most once, so bridges that name each other in a circle end the walk instead of repeating it.
 *
 * The firmware has placed everything; nothing is moved here.
 */
#include "arch/atomic.h"
#include "arch/pciconf.h"
#include "drivers/pci/internal.h"
#include "kernel/printk.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"

#define HEADER_MULTI 0x80
#define HEADER_TYPE 0x7f
#define HEADER_PLAIN 0
#define HEADER_BRIDGE 1

struct list_head pci_devices = LIST_HEAD_INIT(pci_devices);
static unsigned long buses_found[256 / 64], buses_done[256 / 64];

u32 pci_read8(const struct pci_dev *dev, u32 reg)
{
	return pci_conf_read(dev->bus, dev->devfn, reg, 1) & 0xff;
}
u32 pci_read16(const struct pci_dev *dev, u32 reg)
{
	return pci_conf_read(dev->bus, dev->devfn, reg, 2) & 0xffff;
}
u32 pci_read32(const struct pci_dev *dev, u32 reg)
{
	return pci_conf_read(dev->bus, dev->devfn, reg, 4);
}
void pci_write16(const struct pci_dev *dev, u32 reg, u32 v)
{
	pci_conf_write(dev->bus, dev->devfn, reg, 2, v);
}
void pci_write32(const struct pci_dev *dev, u32 reg, u32 v)
{
	pci_conf_write(dev->bus, dev->devfn, reg, 4, v);
}

void pci_enable(struct pci_dev *dev, int on)
{
	u32 bits = COMMAND_MEMORY | COMMAND_MASTER, old = pci_read16(dev, REG_COMMAND);

	pci_write16(dev, REG_COMMAND, on ? old | bits : old & ~bits);
}

static void note_bridge(const struct pci_dev *dev)
{
	u32 bus = pci_read8(dev, REG_SECONDARY_BUS);

	if (!bus)
		return; /* the firmware left it closed */
	if (bus <= dev->bus || test_bit(bus, buses_found)) {
		pr_warn("pci: %s: bridge to bus %u, which is not behind it: ignored", dev->name,
			bus);
		return;
	}
	__set_bit(bus, buses_found);
}

static void describe(struct pci_dev *dev)
{
	u32 class_revision = pci_read32(dev, REG_REVISION);

	dev->device = pci_read16(dev, REG_DEVICE);
	dev->revision = class_revision & 0xff;
	dev->class_code = class_revision >> 8;
	dev->header = pci_read8(dev, REG_HEADER) & HEADER_TYPE;
	dev->pin = pci_read8(dev, REG_PIN);
	dev->line = pci_read8(dev, REG_LINE);
	if (dev->header == HEADER_BRIDGE) {
		note_bridge(dev);
	} else if (dev->header == HEADER_PLAIN) {
		dev->sub_vendor = pci_read16(dev, REG_SUB_VENDOR);
		dev->sub_device = pci_read16(dev, REG_SUB_DEVICE);
		pci_size_bars(dev);
		pci_note_msix(dev);
	}
}

/* => is it there, and has its slot more functions */
static bool scan_function(u32 bus, u32 devfn, bool *multi)
{
	u32 vendor = pci_conf_read(bus, devfn, REG_VENDOR, 2) & 0xffff;
	struct pci_dev *dev;

	if (vendor == 0xffff || !vendor)
		return false;
	*multi = pci_conf_read(bus, devfn, REG_HEADER, 1) & HEADER_MULTI;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev) {
		pr_err("pci: no memory for function %02x:%02x.%u", bus, devfn >> 3, devfn & 7);
		return true;
	}
	dev->bus = bus;
	dev->devfn = devfn;
	dev->vendor = vendor;
	scnprintf(dev->name, sizeof(dev->name), "%02x:%02x.%u", bus, devfn >> 3, devfn & 7);
	describe(dev);
	list_add_tail(&dev->node, &pci_devices);
	return true;
}

static void scan_bus(u32 bus)
{
	for (u32 slot = 0; slot < 32; slot++) {
		bool multi = false, ignored;

		if (!scan_function(bus, slot << 3, &multi) || !multi)
			continue;
		for (u32 fn = 1; fn < 8; fn++)
			scan_function(bus, slot << 3 | fn, &ignored);
	}
}

/* The lowest bus found and not yet visited, or 256. */
static u32 next_bus(void)
{
	for (u32 bus = 0; bus < 256; bus++)
		if (test_bit(bus, buses_found) && !test_bit(bus, buses_done))
			return bus;
	return 256;
}

void pci_init(void)
{
	u32 bus, buses = 0;

	if (!pci_conf_init())
		return;
	__set_bit(0, buses_found);
	while ((bus = next_bus()) < 256) {
		__set_bit(bus, buses_done);
		scan_bus(bus);
		buses++;
	}
	pr_info("pci: %zu functions on %u buses, configuration through %s",
		list_count(&pci_devices), buses, pci_conf_way());
}

void pci_register_driver(const struct pci_driver *d)
{
	struct pci_dev *dev;

	list_for_each_entry(dev, &pci_devices, node)
		if (!dev->driver && dev->header == HEADER_PLAIN && d->match(dev)) {
			dev->driver = d->name;
			if (d->probe(dev))
				dev->driver = NULL;
		}
}
