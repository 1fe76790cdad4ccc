// SPDX-License-Identifier: BSD-2-Clause
/*
 * pci.c - the registers of a virtio device behind a PCI function, in the modern layout.
 *
 * Vendor capabilities say in which BAR, and where in it, four structures lie: common (status,
 * features, queues), notify (doorbells), isr, and the device's own configuration. The first of each
 * kind that can be used is taken. A device that has none of them speaks only the layout of 2008
 * ("legacy"), which is refused. Numbers of transitional devices (0x1000..0x103f) are accepted: they
 * have both layouts.
 * Source: VIRTIO 1.1, 4.1; [virtio].
 */
#include "arch/io.h"
#include "arch/mmu.h"
#include "drivers/virtio/internal.h"
#include "kernel/printk.h"
#include "kernel/time.h"
#include "lib/err.h"
#include "lib/string.h"
#include "sched/sched.h"

#define VENDOR_VIRTIO 0x1af4
#define DEVICE_FIRST 0x1000
#define DEVICE_MODERN 0x1040
#define DEVICE_LAST 0x107f

enum { CAP_COMMON = 1, CAP_NOTIFY, CAP_ISR, CAP_DEVICE };

/* Offsets in the common structure. */
#define C_FEATURE_SELECT 0
#define C_FEATURE 4
#define C_GUEST_SELECT 8
#define C_GUEST 12
#define C_CONFIG_VECTOR 16
#define C_STATUS 20
#define C_GENERATION 21
#define C_QUEUE_SELECT 22
#define C_QUEUE_SIZE 24
#define C_QUEUE_VECTOR 26
#define C_QUEUE_ENABLE 28
#define C_QUEUE_NOTIFY 30
#define C_QUEUE_DESC 32
#define C_QUEUE_AVAIL 40
#define C_QUEUE_USED 48
#define COMMON_BYTES 56

bool virtio_pci_match(const struct pci_dev *pci)
{
	return pci->vendor == VENDOR_VIRTIO && pci->device >= DEVICE_FIRST &&
	       pci->device <= DEVICE_LAST;
}

static void map_cap(struct virtio_device *dev, u32 cap)
{
	struct pci_dev *pci = dev->pci;
	u32 len = pci_read8(pci, cap + 2), kind = pci_read8(pci, cap + 3),
	    bar = pci_read8(pci, cap + 4), offset, length;

	if (len < 16 || cap + len > 256)
		return;
	offset = pci_read32(pci, cap + 8);
	length = pci_read32(pci, cap + 12);
	if (kind == CAP_COMMON && !dev->common && length >= COMMON_BYTES) {
		dev->common = pci_bar_piece(pci, bar, offset, length, "virtio common registers");
	} else if (kind == CAP_NOTIFY && !dev->notify && len >= 20) {
		dev->notify_multiplier = pci_read32(pci, cap + 16);
		dev->notify_bytes = length;
		dev->notify = pci_bar_piece(pci, bar, offset, length, "virtio doorbells");
	} else if (kind == CAP_ISR && !dev->isr) {
		dev->isr = pci_bar_piece(pci, bar, offset, length, "virtio interrupt status");
	} else if (kind == CAP_DEVICE && !dev->config) {
		dev->config_bytes = length;
		dev->config = pci_bar_piece(pci, bar, offset, length, "virtio configuration");
	}
}

int virtio_pci_map(struct virtio_device *dev)
{
	struct pci_dev *pci = dev->pci;
	u32 cap = 0;

	dev->type = pci->device >= DEVICE_MODERN ? pci->device - DEVICE_MODERN : pci->sub_device;
	for (int i = 0; i < 48 && (cap = pci_find_cap(pci, PCI_CAP_VENDOR, cap)); i++)
		map_cap(dev, cap);
	if (!dev->common && !dev->notify && !dev->isr) {
		pr_warn("virtio: %s: device %04x has the legacy layout only (disable-modern?): "
			"not used",
			pci->name, pci->device);
		return -ENODEV;
	}
	if (!dev->common || !dev->notify || !dev->isr) {
		pr_warn("virtio: %s: no usable %s: not used", pci->name,
			!dev->common   ? "common registers"
			: !dev->notify ? "doorbells"
				       : "interrupt status");
		return -ENODEV;
	}
	return 0;
}

u8 virtio_pci_status(struct virtio_device *dev)
{
	return mmio_read8(dev->common + C_STATUS);
}

void virtio_pci_set_status(struct virtio_device *dev, u8 status)
{
	mmio_write8(status, dev->common + C_STATUS);
}

int virtio_pci_reset(struct virtio_device *dev)
{
	ktime_t limit = ktime_get() + 2 * NSEC_PER_SEC;

	virtio_pci_set_status(dev, 0);
	while (virtio_pci_status(dev)) {
		if (ktime_get() > limit) {
			pr_err("virtio: %s does not finish its reset (status %#x): not used",
			       dev->name, virtio_pci_status(dev));
			return -EIO;
		}
		sleep_ns(NSEC_PER_MSEC);
	}
	return 0;
}

u64 virtio_pci_features(struct virtio_device *dev)
{
	u64 low, high;

	mmio_write32(0, dev->common + C_FEATURE_SELECT);
	low = mmio_read32(dev->common + C_FEATURE);
	mmio_write32(1, dev->common + C_FEATURE_SELECT);
	high = mmio_read32(dev->common + C_FEATURE);
	return high << 32 | low;
}

void virtio_pci_accept(struct virtio_device *dev, u64 features)
{
	mmio_write32(0, dev->common + C_GUEST_SELECT);
	mmio_write32((u32)features, dev->common + C_GUEST);
	mmio_write32(1, dev->common + C_GUEST_SELECT);
	mmio_write32(features >> 32, dev->common + C_GUEST);
}

u32 virtio_pci_queue_size(struct virtio_device *dev, u32 index)
{
	mmio_write16(index, dev->common + C_QUEUE_SELECT);
	return mmio_read16(dev->common + C_QUEUE_SIZE);
}

static void write_address(volatile u8 *to, const void *what)
{
	u64 pa = __pa(what);

	mmio_write32((u32)pa, to);
	mmio_write32(pa >> 32, to + 4);
}

int virtio_pci_start_queue(struct virtio_device *dev, struct virtqueue *vq, u32 msix_entry)
{
	volatile u8 *c = dev->common;
	u64 offset;

	mmio_write16(vq->index, c + C_QUEUE_SELECT);
	offset = (u64)mmio_read16(c + C_QUEUE_NOTIFY) * dev->notify_multiplier;
	if (offset + 2 > dev->notify_bytes) {
		pr_warn("virtio: %s queue %u: doorbell at %llu of %u bytes: not used", dev->name,
			vq->index, (unsigned long long)offset, dev->notify_bytes);
		return -EIO;
	}
	vq->doorbell = dev->notify + offset;
	mmio_write16(vq->size, c + C_QUEUE_SIZE);
	write_address(c + C_QUEUE_DESC, vq->desc);
	write_address(c + C_QUEUE_AVAIL, vq->avail);
	write_address(c + C_QUEUE_USED, vq->used);
	mmio_write16(msix_entry, c + C_QUEUE_VECTOR);
	if (mmio_read16(c + C_QUEUE_VECTOR) != msix_entry) {
		pr_warn("virtio: %s queue %u: the device refuses MSI-X entry %u", dev->name,
			vq->index, msix_entry);
		return -EIO;
	}
	mmio_write16(1, c + C_QUEUE_ENABLE);
	return 0;
}

int virtio_pci_config_vector(struct virtio_device *dev, u32 msix_entry)
{
	mmio_write16(msix_entry, dev->common + C_CONFIG_VECTOR);
	return mmio_read16(dev->common + C_CONFIG_VECTOR) == msix_entry ? 0 : -EIO;
}

void virtio_config_read(struct virtio_device *dev, u32 offset, void *to, u32 n)
{
	u8 *out = to, before;

	memset(to, 0, n);
	if (!dev->config || offset >= dev->config_bytes)
		return;
	n = min_t(u32, n, dev->config_bytes - offset);
	for (int tries = 0; tries < 16; tries++) {
		before = mmio_read8(dev->common + C_GENERATION);
		for (u32 i = 0; i < n; i++)
			out[i] = mmio_read8(dev->config + offset + i);
		if (mmio_read8(dev->common + C_GENERATION) == before)
			return;
	}
	pr_warn("virtio: %s: its configuration does not stand still", dev->name);
}
