/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pciconf.h - the configuration space of PCI functions: in memory where the firmware's MCFG table
 * says so, else through the ports 0xCF8 and 0xCFC. Boot parameter pci=off|ports.
 */
#ifndef ARCH_PCICONF_H
#define ARCH_PCICONF_H

#include "lib/types.h"

/*
 * Finds the way in. false: there is none (or pci=off). => thread context, once, before the rest
 */
bool pci_conf_init(void);
/* bytes 1, 2 or 4; reg a multiple of it. All ones where nobody answers. => any context */
u32 pci_conf_read(u32 bus, u32 devfn, u32 reg, u32 bytes);
void pci_conf_write(u32 bus, u32 devfn, u32 reg, u32 bytes, u32 value);
/* "memory" or "ports" */
const char *pci_conf_way(void);

#endif
