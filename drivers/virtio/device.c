// SPDX-License-Identifier: BSD-2-Clause
/*
 * device.c - the life of a virtio device: reset, features, queues, work, failure.
 *
 *   reset -> ACKNOWLEDGE -> DRIVER -> features -> FEATURES_OK -> queues -> DRIVER_OK
 *
 * Whatever goes wrong on the way leaves the device reset with FAILED set, and one line. A device
 * that later lies (virtqueue.c), wants a reset itself or falls silent is reset by the daemon, and
 * its driver ends what was in flight: data already written stays, the rest is an error. It is not
 * revived.
 *
 * One thread serves all devices (virtiod): changes of the configuration and failures are rare, are
 * noticed in interrupt context, and their handling sleeps.
 */
#include "arch/io.h"
#include "arch/smp.h"
#include "drivers/virtio/internal.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sched/kthread.h"

/* Only added to, by the boot thread. */
static struct list_head devices = LIST_HEAD_INIT(devices);
static DEFINE_WAIT_QUEUE(daemon_wait);
static unsigned long daemon_called;
static u32 nr_devices;

struct virtio_device *virtio_next(struct virtio_device *prev)
{
	struct list_head *next = prev ? prev->node.next : devices.next;

	return next == &devices ? NULL : list_entry(next, struct virtio_device, node);
}

/* ---- the daemon ---- */

void virtio_wake_daemon(struct virtio_device *dev, u32 bit)
{
	set_bit(bit, &dev->pending);
	set_bit(0, &daemon_called);
	wake_up(&daemon_wait);
}

void virtio_fail(struct virtio_device *dev)
{
	virtio_wake_daemon(dev, PENDING_LOST);
}

static void lose(struct virtio_device *dev)
{
	if (dev->dead)
		return;
	dev->dead = 1;
	pr_err("virtio: %s (%s) failed: reset, its requests in flight end with an error", dev->name,
	       dev->pci->name);
	virtio_pci_reset(dev);
	virtio_pci_set_status(dev, STATUS_FAILED);
	if (dev->driver && dev->driver->lost)
		dev->driver->lost(dev);
}

static void serve(struct virtio_device *dev)
{
	if (test_and_clear_bit(PENDING_CONFIG, &dev->pending) && !dev->dead) {
		if (virtio_pci_status(dev) & STATUS_NEEDS_RESET)
			set_bit(PENDING_LOST, &dev->pending);
		else if (dev->driver && dev->driver->config_changed)
			dev->driver->config_changed(dev);
	}
	if (test_and_clear_bit(PENDING_LOST, &dev->pending))
		lose(dev);
}

static int virtiod(void *unused)
{
	struct virtio_device *dev;

	for (;;) {
		wait_event(&daemon_wait, test_and_clear_bit(0, &daemon_called));
		list_for_each_entry(dev, &devices, node)
			if (READ_ONCE(dev->pending))
				serve(dev);
	}
	return 0;
}

static void config_interrupt(void *arg)
{
	virtio_wake_daemon(arg, PENDING_CONFIG);
}

/* The pin: bit 0 of the status: queues, bit 1: configuration; reading clears both. */
static void pin_interrupt(void *arg)
{
	struct virtio_device *dev = arg;
	u8 isr = mmio_read8(dev->isr);

	if (isr & 2)
		virtio_wake_daemon(dev, PENDING_CONFIG);
	for (u32 i = 0; (isr & 1) && i < VIRTIO_MAX_QUEUES; i++)
		if (dev->vqs[i] && dev->vq_fn[i])
			dev->vq_fn[i](dev->vq_arg[i]);
}

/* One MSI-X entry for all queues. */
static void shared_interrupt(void *arg)
{
	struct virtio_device *dev = arg;

	for (u32 i = 0; i < VIRTIO_MAX_QUEUES; i++)
		if (dev->vqs[i] && dev->vq_fn[i])
			dev->vq_fn[i](dev->vq_arg[i]);
}

/* ---- queues ---- */

u32 virtio_queue_vectors(struct virtio_device *dev)
{
	return dev->nr_msix > 2 ? dev->nr_msix - 1 : 0;
}

static int request_entry(struct virtio_device *dev, u32 entry, irq_handler_t fn, void *arg, u32 cpu)
{
	int vector;

	if (dev->vectors[entry])
		return 0;
	vector = pci_msix_request(dev->pci, entry, fn, arg, dev->name, cpu);
	if (vector < 0) {
		pr_warn("virtio: %s: no interrupt vector for MSI-X entry %u (error %d)", dev->name,
			entry, -vector);
		return vector;
	}
	dev->vectors[entry] = vector;
	return 0;
}

/* The MSI-X entry of queue index; NO_MSIX_ENTRY with the pin; -errno. */
static int queue_entry(struct virtio_device *dev, u32 index, irq_handler_t fn, void *arg, u32 cpu)
{
	u32 own = virtio_queue_vectors(dev), entry;
	int err;

	if (!dev->nr_msix)
		return NO_MSIX_ENTRY;
	if (index < own) {
		entry = index + 1;
		err = request_entry(dev, entry, fn, arg, cpu);
	} else {
		entry = dev->nr_msix - 1; /* with two entries the second, with one the first */
		err = request_entry(dev, entry, shared_interrupt, dev, 0);
	}
	return err ? err : (int)entry;
}

static void queue_free(struct virtqueue *vq)
{
	u32 order = 0;

	while (PAGE_SIZE << order < vq_ring_bytes(vq->size))
		order++;
	if (vq->desc)
		free_pages_order(virt_to_page(vq->desc), order);
	kfree(vq->token_of);
	kfree(vq);
}

/* The ring's memory: one physically contiguous block, so that the device can read it. */
static struct virtqueue *queue_alloc(struct virtio_device *dev, u32 index, u32 size)
{
	struct virtqueue *vq = kzalloc(sizeof(*vq), GFP_KERNEL);
	struct page *block;
	u16 *token_of;
	u32 order = 0;

	if (!vq)
		return NULL;
	while (PAGE_SIZE << order < vq_ring_bytes(size))
		order++;
	token_of = kmalloc(size * sizeof(u16), GFP_KERNEL);
	block = token_of ? alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, order) : NULL;
	if (!block) {
		kfree(token_of);
		kfree(vq);
		return NULL;
	}
	vq_init(vq, size, page_address(block), token_of, virtio_has(dev, VIRTIO_F_INDIRECT_DESC),
		virtio_has(dev, VIRTIO_F_EVENT_IDX), dev->name);
	vq->index = index;
	return vq;
}

struct virtqueue *virtio_queue(struct virtio_device *dev, u32 index, u32 max_size, irq_handler_t fn,
			       void *arg, u32 cpu)
{
	u32 offered = index < VIRTIO_MAX_QUEUES ? virtio_pci_queue_size(dev, index) : 0;
	struct virtqueue *vq;
	int entry;

	if (!offered || offered > 32768 || (offered & (offered - 1))) {
		pr_warn("virtio: %s queue %u: size %u: not usable", dev->name, index, offered);
		return NULL;
	}
	vq = queue_alloc(dev, index, min(offered, max_size));
	if (!vq) {
		pr_warn("virtio: %s queue %u: no memory", dev->name, index);
		return NULL;
	}
	dev->vq_fn[index] = fn;
	dev->vq_arg[index] = arg;
	entry = queue_entry(dev, index, fn, arg, cpu);
	if (entry < 0 || virtio_pci_start_queue(dev, vq, entry)) {
		queue_free(vq);
		return NULL;
	}
	smp_store_release(&dev->vqs[index], vq);
	dev->nr_vqs = max(dev->nr_vqs, index + 1);
	return vq;
}

int virtio_ready(struct virtio_device *dev)
{
	virtio_pci_set_status(dev, virtio_pci_status(dev) | STATUS_DRIVER_OK);
	if (virtio_pci_status(dev) & STATUS_DRIVER_OK)
		return 0;
	pr_warn("virtio: %s does not start (status %#x)", dev->name, virtio_pci_status(dev));
	return -EIO;
}

void virtio_shutdown(struct virtio_device *dev)
{
	dev->dead = 1;
	virtio_pci_reset(dev);
	virtio_pci_set_status(dev, STATUS_FAILED);
	pci_enable(dev->pci, 0);
	for (u32 i = 0; i <= VIRTIO_MAX_QUEUES; i++)
		if (dev->vectors[i])
			pci_msix_release(dev->pci, i, dev->vectors[i]);
	for (u32 i = 0; i < VIRTIO_MAX_QUEUES; i++) {
		if (dev->vqs[i])
			queue_free(dev->vqs[i]);
		dev->vqs[i] = NULL;
	}
	pci_msix_disable(dev->pci);
}

/* ---- birth ---- */

static int agree(struct virtio_device *dev, u64 wanted)
{
	u8 status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;

	if (virtio_pci_reset(dev))
		return -EIO;
	virtio_pci_set_status(dev, status);
	dev->offered = virtio_pci_features(dev);
	if (!(dev->offered >> VIRTIO_F_VERSION_1 & 1)) {
		pr_warn("virtio: %s does not offer version 1 (features %#llx): not used", dev->name,
			(unsigned long long)dev->offered);
		return -ENODEV;
	}
	dev->features = dev->offered & (wanted | BIT(VIRTIO_F_INDIRECT_DESC) |
					BIT(VIRTIO_F_EVENT_IDX) | BIT(VIRTIO_F_VERSION_1));
	virtio_pci_accept(dev, dev->features);
	virtio_pci_set_status(dev, status | STATUS_FEATURES_OK);
	if (virtio_pci_status(dev) & STATUS_FEATURES_OK)
		return 0;
	pr_warn("virtio: %s refuses the features %#llx: not used", dev->name,
		(unsigned long long)dev->features);
	return -ENODEV;
}

/* MSI-X with an entry for the configuration, else the pin. */
static int start_interrupts(struct virtio_device *dev)
{
	int n = pci_msix_enable(dev->pci);

	if (n > 0) {
		dev->nr_msix = min_t(u32, n, VIRTIO_MAX_QUEUES + 1);
		if (dev->nr_msix == 1) /* one entry for everything */
			return 0;
		if (request_entry(dev, 0, config_interrupt, dev, 0))
			return -EIO;
		return virtio_pci_config_vector(dev, 0);
	}
	return pci_intx_request(dev->pci, pin_interrupt, dev);
}

static void offer(const struct virtio_driver *d, struct virtio_device *dev)
{
	if (agree(dev, d->features))
		return virtio_shutdown(dev);
	if (start_interrupts(dev)) {
		pr_warn("virtio: %s has no interrupt: not used", dev->name);
		return virtio_shutdown(dev);
	}
	dev->driver = d;
	if (!d->probe(dev))
		return;
	dev->driver = NULL;
	virtio_shutdown(dev);
}

void virtio_register_driver(const struct virtio_driver *d)
{
	struct virtio_device *dev;

	list_for_each_entry(dev, &devices, node)
		if (dev->type == d->type && !dev->driver && !dev->dead)
			offer(d, dev);
}

static int probe(struct pci_dev *pci)
{
	struct virtio_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev) {
		pr_err("virtio: %s: no memory", pci->name);
		return -ENOMEM;
	}
	dev->pci = pci;
	pci->private = dev;
	scnprintf(dev->name, sizeof(dev->name), "virtio%u", nr_devices);
	pci_enable(pci, 1);
	if (virtio_pci_map(dev)) {
		pci_enable(pci, 0);
		kfree(dev);
		return -ENODEV;
	}
	nr_devices++;
	list_add_tail(&dev->node, &devices);
	return 0;
}

void virtio_init(void)
{
	static const struct pci_driver driver = { .name = "virtio-pci",
						  .match = virtio_pci_match,
						  .probe = probe };

	virtio_poll_init();
	pci_register_driver(&driver);
	if (nr_devices && !kthread_run(virtiod, NULL, -1, "virtiod"))
		pr_err("virtio: no memory for the daemon: devices that fail stay so");
}
