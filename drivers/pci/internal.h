/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of drivers/pci share among themselves. */
#ifndef DRIVERS_PCI_INTERNAL_H
#define DRIVERS_PCI_INTERNAL_H

#include "drivers/pci/pci.h"

#define REG_VENDOR 0x00
#define REG_DEVICE 0x02
#define REG_COMMAND 0x04
#define REG_STATUS 0x06
#define REG_REVISION 0x08
#define REG_HEADER 0x0e
#define REG_BAR(n) (0x10u + 4 * (n))
#define REG_SECONDARY_BUS 0x19
#define REG_SUB_VENDOR 0x2c
#define REG_SUB_DEVICE 0x2e
#define REG_CAP_LIST 0x34
#define REG_LINE 0x3c
#define REG_PIN 0x3d

#define COMMAND_IO 0x1u
#define COMMAND_MEMORY 0x2u
#define COMMAND_MASTER 0x4u
#define COMMAND_NO_INTX 0x400u
#define STATUS_CAP_LIST 0x10u

extern struct list_head pci_devices; /* in order of bus and slot; complete after pci_init() */

/* bar.c: reads and sizes the base address registers. => before anybody uses the function */
void pci_size_bars(struct pci_dev *dev);
/* msix.c: notes the capability and the size of its table. */
void pci_note_msix(struct pci_dev *dev);

#endif
