// SPDX-License-Identifier: BSD-2-Clause
/*
 * pciconf.c - two ways to the configuration space of a PCI function.
 *
 * Ports: the address (bus, device, function, register) is written to 0xCF8, the value then goes
 * through 0xCFC: two accesses that must stay together, so under a lock with interrupts off.
 * Memory: each function has a page at base + bus << 20 + devfn << 12. A bus is mapped at its first
 * use (1 MiB; mapping all 256 would cost half a MiB of page tables) and stays mapped.
 *
 * Buses the table does not cover are asked through the ports.
 * Source: PCI Local Bus Specification 3.0, 3.2.2.3.2; PCI Firmware Specification 3.0, 4.1 (MCFG).
 */
#include "arch/pciconf.h"
#include "arch/bootinfo.h"
#include "arch/io.h"
#include "arch/mmu.h"
#include "internal.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/spinlock.h"
#include "lib/err.h"
#include "lib/string.h"

#define PORT_ADDRESS 0xcf8
#define PORT_DATA 0xcfc
#define ADDRESS_ENABLE 0x80000000u

static DEFINE_SPINLOCK(ports_lock, RANK_LEAF);
static volatile u8 *bus_regs[256]; /* mapped buses; set once each */
static bool use_memory, pci_off, ports_only;

/* "off", "ports" */
static int set_pci(const char *text)
{
	if (!strcmp(text, "off"))
		pci_off = true;
	else if (!strcmp(text, "ports"))
		ports_only = true;
	else
		return -EINVAL;
	return 0;
}
BOOT_PARAM_FUNC("pci", set_pci, "off: no PCI devices; ports: do not use the table MCFG");

/* The registers of a bus, NULL: not in memory. */
static volatile u8 *bus_map(u32 bus)
{
	const struct acpi_machine *m = &acpi_machine;
	volatile u8 *regs = READ_ONCE(bus_regs[bus]);

	if (regs || !use_memory || bus < m->ecam_first || bus > m->ecam_last)
		return regs;
	regs = ioremap(m->ecam_pa + MiB(bus), MiB(1));
	if (!regs)
		pr_warn_once("pci: no room to map the configuration space of bus %u", bus);
	WRITE_ONCE(bus_regs[bus], regs);
	return regs;
}

static u32 ports_read(u32 address, u32 reg, u32 bytes)
{
	unsigned long flags;
	u16 port = PORT_DATA + (reg & 3);
	u32 v;

	spin_lock_irqsave_l(&ports_lock, flags, "pci_conf");
	outl(address, PORT_ADDRESS);
	v = bytes == 1 ? inb(port) : bytes == 2 ? inw(port) : inl(port);
	spin_unlock_irqrestore_l(&ports_lock, flags, "pci_conf");
	return v;
}

static void ports_write(u32 address, u32 reg, u32 bytes, u32 value)
{
	unsigned long flags;
	u16 port = PORT_DATA + (reg & 3);

	spin_lock_irqsave_l(&ports_lock, flags, "pci_conf");
	outl(address, PORT_ADDRESS);
	if (bytes == 1)
		outb(value, port);
	else if (bytes == 2)
		outw(value, port);
	else
		outl(value, port);
	spin_unlock_irqrestore_l(&ports_lock, flags, "pci_conf");
}

static u32 ports_address(u32 bus, u32 devfn, u32 reg)
{
	return ADDRESS_ENABLE | bus << 16 | devfn << 8 | (reg & 0xfc);
}

u32 pci_conf_read(u32 bus, u32 devfn, u32 reg, u32 bytes)
{
	volatile u8 *p = bus_map(bus);

	if (p) {
		p += devfn << 12 | reg;
		return bytes == 1 ? mmio_read8(p) : bytes == 2 ? mmio_read16(p) : mmio_read32(p);
	}
	return reg < 256 ? ports_read(ports_address(bus, devfn, reg), reg, bytes) : U32_MAX;
}

void pci_conf_write(u32 bus, u32 devfn, u32 reg, u32 bytes, u32 value)
{
	volatile u8 *p = bus_map(bus);

	if (!p) {
		if (reg < 256)
			ports_write(ports_address(bus, devfn, reg), reg, bytes, value);
		return;
	}
	p += devfn << 12 | reg;
	if (bytes == 1)
		mmio_write8(value, p);
	else if (bytes == 2)
		mmio_write16(value, p);
	else
		mmio_write32(value, p);
}

const char *pci_conf_way(void)
{
	return use_memory ? "memory" : "ports";
}

/* The area is no RAM. */
static bool ecam_plausible(void)
{
	u64 start = acpi_machine.ecam_pa + MiB(acpi_machine.ecam_first),
	    end = acpi_machine.ecam_pa + MiB(acpi_machine.ecam_last + 1);

	if (end >> cpu_features.phys_bits)
		return false;
	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];

		if (r->type == BOOT_RAM && r->start < end && r->end > start)
			return false;
	}
	return true;
}

bool pci_conf_init(void)
{
	unsigned long flags;
	u32 echo;

	if (pci_off)
		return false;
	if (acpi_machine.ecam_pa && !ports_only) {
		use_memory = ecam_plausible();
		if (use_memory)
			return true;
		pr_warn("pci: configuration space at %#llx lies in RAM: not used",
			(unsigned long long)acpi_machine.ecam_pa);
	}
	spin_lock_irqsave_l(&ports_lock, flags, "pci_conf");
	outl(ADDRESS_ENABLE, PORT_ADDRESS);
	echo = inl(PORT_ADDRESS);
	spin_unlock_irqrestore_l(&ports_lock, flags, "pci_conf");
	return echo == ADDRESS_ENABLE;
}
