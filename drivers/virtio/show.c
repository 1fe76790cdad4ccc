// SPDX-License-Identifier: BSD-2-Clause
/* show.c - devices and their rings as a table: /sys/kernel/quire/virtio. */
#include "drivers/virtio/internal.h"
#include "kernel/show.h"

static void show_queue(struct seq *seq, const struct virtqueue *vq)
{
	seq_printf(seq,
		   "  queue %-2u size %u, in flight %u, added %llu, taken %llu, kicks %llu, "
		   "interrupts %llu%s\n",
		   vq->index, vq->size, vq->in_flight, (unsigned long long)vq->adds,
		   (unsigned long long)vq->taken, (unsigned long long)vq->kicks,
		   (unsigned long long)vq->interrupts, vq->broken ? ", broken" : "");
}

static int virtio_show(struct seq *seq)
{
	struct virtio_device *dev = NULL;

	while ((dev = virtio_next(dev))) {
		seq_printf(seq,
			   "%s %s type %u driver %s features %#llx of %#llx, %u MSI-X entries%s\n",
			   dev->name, dev->pci->name, dev->type,
			   dev->driver ? dev->driver->name : "-", (unsigned long long)dev->features,
			   (unsigned long long)dev->offered, dev->nr_msix,
			   dev->dead ? ", dead" : "");
		for (u32 i = 0; i < dev->nr_vqs; i++)
			if (dev->vqs[i])
				show_queue(seq, dev->vqs[i]);
	}
	return 0;
}
SHOW("/sys/kernel/quire/virtio", 0444, virtio_show, NULL);
