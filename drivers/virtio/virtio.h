/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio.h - virtio devices behind PCI functions: features, queues, life and failure. Front door of
 * drivers/virtio, with virtqueue.h.
 *
 * Locks: (o) set before the driver's probe returns  (a) atomic  (w) devices_lock
 */
#ifndef DRIVERS_VIRTIO_VIRTIO_H
#define DRIVERS_VIRTIO_VIRTIO_H

#include "arch/trap.h"
#include "drivers/pci/pci.h"
#include "drivers/virtio/virtqueue.h"
#include "lib/list.h"

#define VIRTIO_BLOCK 2u /* device types */

#define VIRTIO_F_INDIRECT_DESC 28 /* feature bits of the ring and the transport */
#define VIRTIO_F_EVENT_IDX 29
#define VIRTIO_F_VERSION_1 32

#define VIRTIO_MAX_QUEUES 16u

struct virtio_driver;
struct virtio_device {
	struct pci_dev *pci; /* (o) */
	const struct virtio_driver *driver;
	void *private;
	char name[12]; /* "virtio0" */
	u32 type;
	u64 offered, features; /* by the device; agreed on */
	volatile u8 *common, *isr, *config, *notify;
	u32 config_bytes, notify_bytes, notify_multiplier;
	u32 nr_vqs;
	struct virtqueue *vqs[VIRTIO_MAX_QUEUES]; /* NULL: not set up */
	int vectors[VIRTIO_MAX_QUEUES + 1];	  /* MSI-X entry -> vector; 0: none */
	u32 nr_msix;				  /* entries in use; 0: INTx */
	irq_handler_t vq_fn[VIRTIO_MAX_QUEUES];
	void *vq_arg[VIRTIO_MAX_QUEUES];
	unsigned long pending; /* (a) bits for the daemon: PENDING_* */
	u8 dead;	       /* was reset after a failure, or never worked */
	struct list_head node; /* (w) */
};

struct virtio_driver {
	const char *name;
	u32 type;
	u64 features; /* wanted, if offered; the ring's own are added */
	/* => thread; device reset, features agreed. It sets up queues and calls virtio_ready. */
	int (*probe)(struct virtio_device *dev);
	/* Its configuration changed. => the daemon's thread */
	void (*config_changed)(struct virtio_device *dev);
	/*
	 * It failed and has been reset: nothing will come back; end what is in flight. => the
	 * daemon's thread
	 */
	void (*lost)(struct virtio_device *dev);
};

/* Takes the PCI functions that are virtio devices. => thread, after pci_init() */
void virtio_init(void);
/* Gives d the devices of its type that nobody has. */
void virtio_register_driver(const struct virtio_driver *d);

static inline bool virtio_has(const struct virtio_device *dev, u32 feature)
{
	return dev->features >> feature & 1;
}
/*
 * Copies n bytes of the device's configuration from offset, of one moment. What lies behind its end
 * is 0.
 */
void virtio_config_read(struct virtio_device *dev, u32 offset, void *to, u32 n);

/*
 * How many queues can have a vector of their own, beside the one for changes of the configuration;
 * 0: all share one.
 */
u32 virtio_queue_vectors(struct virtio_device *dev);
/*
 * Sets up queue `index` with at most max_size entries; fn(arg) is its interrupt, on cpu. NULL after
 * a line: the device has no such queue, no memory, no vector.
 */
struct virtqueue *virtio_queue(struct virtio_device *dev, u32 index, u32 max_size, irq_handler_t fn,
			       void *arg, u32 cpu);
/* Driver and queues are ready: the device may work. 0 or -EIO */
int virtio_ready(struct virtio_device *dev);
/* The device lied or fell silent: the daemon resets it and calls lost(). => any context */
void virtio_fail(struct virtio_device *dev);
/* Resets it and frees queues and vectors (probe failed). */
void virtio_shutdown(struct virtio_device *dev);

/*
 * What an interrupt left in a ring: poll(p) runs in softirq context and takes at most 32; true: it
 * wants to be called again.
 */
struct virtio_poll {
	bool (*poll)(struct virtio_poll *p);
	struct virtio_poll *next;
	u32 queued; /* (a) */
};
void virtio_poll_later(struct virtio_poll *p); /* => any context; runs on this CPU */

#endif
