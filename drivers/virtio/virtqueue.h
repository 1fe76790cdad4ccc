/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtqueue.h - the split ring through which a driver and a virtio device exchange buffers. No
 * device registers in here: a test builds one in plain memory and plays the device.
 *
 * Locks: (v) vq->lock, IRQs off  (o) set before use
 */
#ifndef DRIVERS_VIRTIO_VIRTQUEUE_H
#define DRIVERS_VIRTIO_VIRTQUEUE_H

#include "arch/atomic.h"
#include "kernel/spinlock.h"
#include "lib/types.h"

#define VRING_NEXT 1u	  /* the chain goes on at .next */
#define VRING_WRITE 2u	  /* the device writes here */
#define VRING_INDIRECT 4u /* points to a table of descriptors */

struct vring_desc {
	u64 addr;
	u32 len;
	u16 flags, next;
};
struct vring_avail {
	u16 flags, idx, ring[]; /* behind the ring: used_event */
};
struct vring_used_elem {
	u32 id, len;
};
struct vring_used {
	u16 flags, idx;
	struct vring_used_elem ring[]; /* behind the ring: avail_event */
};
#define VRING_NO_INTERRUPT 1u /* avail->flags */
#define VRING_NO_NOTIFY 1u    /* used->flags */

#define VQ_MAX_SIZE 1024u
#define VQ_NO_TOKEN 0xffffu

/*
 * A request in flight is known by its token, a number below size that the driver chooses, one
 * request each at a time. With indirect descriptors token and descriptor number are the same, so
 * nothing is allocated; without, chains are cut from a free list.
 */
struct virtqueue {
	struct vring_desc *desc; /* (o) */
	struct vring_avail *avail;
	struct vring_used *used;
	u16 *token_of; /* (v) descriptor number -> token in flight, VQ_NO_TOKEN: none */
	u16 size, mask;
	bool indirect, event_idx; /* (o) features agreed */
	u8 broken;		  /* (v) the device lied: nothing is given or taken any more */
	u16 avail_idx, last_used; /* (v) as far as we are */
	u16 kicked;		  /* (v) avail_idx at the last look at avail_event */
	u16 free_head, nr_free;	  /* (v) without indirect */
	u16 index;		  /* (o) number within the device */
	u16 in_flight;		  /* (v) */
	spinlock_t lock;	  /* RANK_DEVICE */
	volatile void *doorbell;  /* (o) the device's register for this queue */
	const char *name;	  /* (o) for messages */
	u64 adds, kicks, interrupts, taken; /* (v) */
};

/* Bytes of physically contiguous zeroed memory a ring of size entries needs. */
size_t vq_ring_bytes(u32 size);
/*
 * memory: vq_ring_bytes(size), zeroed, on 16 bytes; token_of: size entries. size: a power of two up
 * to VQ_MAX_SIZE. The caller fills in doorbell afterwards.
 */
void vq_init(struct virtqueue *vq, u32 size, void *memory, u16 *token_of, bool indirect,
	     bool event_idx, const char *name);

/*
 * Gives a request: n descriptors at table (table_pa: its physical address, readable by the device
 * until the request is back), flags VRING_WRITE as needed, chained by n themselves (.next = i + 1).
 * => vq->lock; 0, -EBUSY (no room in the ring), -EIO (broken), -EINVAL (token in flight)
 */
int vq_add_locked(struct virtqueue *vq, u16 token, const struct vring_desc *table, u64 table_pa,
		  u16 n);
/* Does the device want to be told of what was added since the last call? => vq->lock */
bool vq_must_kick_locked(struct virtqueue *vq);
/* Tells it. => outside the lock */
void vq_kick(struct virtqueue *vq);
/*
 * Takes one finished request: its token, and how many bytes the device says it wrote. false: none.
 * An answer that names no request in flight makes the ring broken, with a line. => vq->lock
 */
bool vq_take_locked(struct virtqueue *vq, u16 *token, u32 *bytes);
/* No interrupts wanted (a hint: one may still come). => vq->lock */
void vq_mask_locked(struct virtqueue *vq);
/*
 * The next finished request shall interrupt. false: there is one already: take it first. =>
 * vq->lock
 */
bool vq_unmask_locked(struct virtqueue *vq);
/* Any token still in flight (the device was reset), taken out; VQ_NO_TOKEN: none. => vq->lock */
u16 vq_take_lost_locked(struct virtqueue *vq);
/* Validator: counts, free list and tokens agree. => vq->lock or nobody else */
bool vq_check(const struct virtqueue *vq);

#endif
