/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pci.h - PCI functions: found at boot, described, handed to drivers. Front door of drivers/pci.
 *
 * Nothing a function says of itself is believed: a base address register must be a place where a
 * device can be, a capability list must end, a table must lie inside its BAR. What fails costs one
 * line that names function, thing and value, and the function stays unused.
 *
 * Locks: none. Functions are found once and never go; (o) set before the driver sees it
 * (d) the driver's.
 */
#ifndef DRIVERS_PCI_PCI_H
#define DRIVERS_PCI_PCI_H

#include "arch/trap.h"
#include "lib/list.h"
#include "lib/types.h"

#define PCI_BARS 6u

enum pci_bar_kind { PCI_BAR_NONE, PCI_BAR_IO, PCI_BAR_MEMORY };
struct pci_bar {
	u64 start, size;   /* (o) bytes; start 0: the firmware gave it no place */
	volatile u8 *regs; /* (d) pci_bar_piece: mapped; NULL: not yet */
	enum pci_bar_kind kind;
	u8 flags; /* (o) low bits of the register: I/O, 64 bits, prefetchable */
};

struct pci_dev {
	u8 bus, devfn, header, revision; /* (o) */
	u16 vendor, device, sub_vendor, sub_device;
	u32 class_code; /* 24 bits: class, subclass, interface */
	u8 pin, line;	/* INTx: 1..4 (0: none), and the ISA interrupt the firmware gave */
	struct pci_bar bar[PCI_BARS];
	u16 msix_cap;		 /* offset of the capability, 0: none */
	u16 msix_vectors;	 /* entries of the table */
	volatile u8 *msix_table; /* (d) */
	char name[8];		 /* "00:04.0" */
	const char *driver;	 /* (d) NULL: nobody's */
	void *private;		 /* (d) */
	struct list_head node;
};

struct pci_driver {
	const char *name;
	bool (*match)(const struct pci_dev *dev);
	/* => thread context; 0: taken. -errno after a clear line: not taken */
	int (*probe)(struct pci_dev *dev);
};

/* Finds all functions behind bus 0. => thread context, once, CPUs and memory up */
void pci_init(void);
/* Offers every function nobody has to d, in order of bus and slot. */
void pci_register_driver(const struct pci_driver *d);

u32 pci_read8(const struct pci_dev *dev, u32 reg);
u32 pci_read16(const struct pci_dev *dev, u32 reg);
u32 pci_read32(const struct pci_dev *dev, u32 reg);
void pci_write16(const struct pci_dev *dev, u32 reg, u32 v);
void pci_write32(const struct pci_dev *dev, u32 reg, u32 v);

/* Memory decoding and bus mastering on (1) or off (0). */
void pci_enable(struct pci_dev *dev, int on);

/*
 * Next capability `id` behind offset `after` (0: the first); its offset, or 0. At most 48 are
 * looked at, and a list that runs in a circle ends with a line.
 */
u32 pci_find_cap(const struct pci_dev *dev, u8 id, u32 after);
#define PCI_CAP_VENDOR 0x09
#define PCI_CAP_MSIX 0x11

/*
 * Bytes [offset, offset + length) of a memory BAR, mapped. NULL after a line that names `what`: no
 * such BAR, no place, or not inside it. => thread context
 */
volatile u8 *pci_bar_piece(struct pci_dev *dev, u32 bar, u64 offset, u64 length, const char *what);

/*
 * MSI-X. pci_msix_enable: every entry masked, the capability on. How many entries there are, or
 * -errno (-ENODEV: no such capability; no line).
 */
int pci_msix_enable(struct pci_dev *dev);
void pci_msix_disable(struct pci_dev *dev);
/*
 * Entry `index` delivers to fn(arg) on `cpu`, from now on. The vector (pci_msix_release takes it
 * back), or -errno. => fn runs in hard interrupt context
 */
int pci_msix_request(struct pci_dev *dev, u32 index, irq_handler_t fn, void *arg, const char *name,
		     u32 cpu);
void pci_msix_release(struct pci_dev *dev, u32 index, int vector);

/*
 * INTx through the I/O APIC pin the firmware routed it to; the line may be shared: fn is called
 * whenever one of its devices wants something. 0 or -errno
 */
int pci_intx_request(struct pci_dev *dev, irq_handler_t fn, void *arg);

#endif
