// SPDX-License-Identifier: BSD-2-Clause
/*
 * cap.c - the list of capabilities: each begins with its number and the offset of the next, in the
 * 192 bytes behind the header. Offsets are the device's word: they must lie there, on four bytes,
 * and be new each time.
 */
#include "drivers/pci/internal.h"
#include "kernel/printk.h"

#define CAP_FIRST 0x40u
#define CAP_MAX 48u /* (256 - 64) / 4: more cannot fit */

u32 pci_find_cap(const struct pci_dev *dev, u8 id, u32 after)
{
	bool behind = !after;
	u32 at;

	if (!(pci_read16(dev, REG_STATUS) & STATUS_CAP_LIST))
		return 0;
	at = pci_read8(dev, REG_CAP_LIST);
	for (u32 i = 0; at; i++) {
		if (at < CAP_FIRST || at & 3 || i == CAP_MAX) {
			pr_warn("pci: %s: list of capabilities %s at %#x: cut there", dev->name,
				i == CAP_MAX ? "runs in a circle" : "leads astray", at);
			return 0;
		}
		if (behind && pci_read8(dev, at) == id)
			return at;
		behind |= at == after;
		at = pci_read8(dev, at + 1);
	}
	return 0;
}
