// SPDX-License-Identifier: BSD-2-Clause
/*
 * virtqueue.c - the split virtqueue.
 *
 * Problem: driver and device run at the same time and share memory, and each bell either of them
 * rings is expensive. Idea: two rings in one direction each, with free-running 16-bit indexes, so
 * that no lock is shared; and each side writes down up to where it has read, so that the other
 * rings only when somebody waits ("event index").
 *
 *   desc[]  what a buffer is: address, length, direction, next
 *   avail   driver -> device: heads of chains; avail->idx counts them for ever (mod 65536)
 *   used    device -> driver: (head, bytes written); used->idx likewise
 *   avail_event (behind used): "ring me when avail->idx passes this"; used_event the other way
 *
 * A request with many pieces takes one entry of desc[] that points to a table of its own
 * (indirect). The driver numbers its requests (tokens) and owns one table each, so the number of
 * the entry is the token: adding is five stores, and no free list is touched. Without that feature
 * the table is copied into a chain of free entries.
 *
 * The device's answers are checked: a head out of range or not in flight, or more answers than
 * requests, makes the ring broken; the owner then resets the device.
 *
 * Invariants: in_flight = descriptors with a token; avail_idx - last_used <= size; without indirect
 * nr_free + length of all chains in flight = size (vq_check).
 * Locking: vq->lock. Barriers: x86 keeps stores in order and loads in order, so only the two places
 * where a store must be seen before a load (publish, then look at the other's event) need a fence.
 * Source: VIRTIO 1.1, 2.6 (split virtqueues); [virtio].
 */
#include "drivers/virtio/virtqueue.h"
#include "arch/io.h"
#include "kernel/printk.h"
#include "lib/err.h"

static size_t used_offset(u32 size)
{
	return ALIGN_UP(size * sizeof(struct vring_desc) + sizeof(struct vring_avail) +
				(size + 1) * sizeof(u16),
			(size_t)4);
}

size_t vq_ring_bytes(u32 size)
{
	return used_offset(size) + sizeof(struct vring_used) +
	       size * sizeof(struct vring_used_elem) + sizeof(u16);
}

/* Each side's wish stands behind the other side's ring. */
static inline u16 *used_event(const struct virtqueue *vq)
{
	return &vq->avail->ring[vq->size];
}
static inline u16 *avail_event(const struct virtqueue *vq)
{
	return (u16 *)&vq->used->ring[vq->size];
}

void vq_init(struct virtqueue *vq, u32 size, void *memory, u16 *token_of, bool indirect,
	     bool event_idx, const char *name)
{
	*vq = (struct virtqueue){ .desc = memory,
				  .avail = memory + size * sizeof(struct vring_desc),
				  .used = memory + used_offset(size),
				  .token_of = token_of,
				  .size = size,
				  .mask = size - 1,
				  .indirect = indirect,
				  .event_idx = event_idx,
				  .nr_free = indirect ? 0 : size,
				  .name = name };
	spin_lock_init(&vq->lock, RANK_DEVICE, name);
	for (u32 i = 0; i < size; i++) {
		token_of[i] = VQ_NO_TOKEN;
		vq->desc[i].next = i + 1;
	}
}

/* The device's answers make no sense. => vq->lock */
static void break_locked(struct virtqueue *vq, const char *why, u32 value)
{
	vq->broken = 1;
	pr_err("virtio: %s queue %u: the device answered with %s %u: not trusted any more",
	       vq->name, vq->index, why, value);
}

/* Copies the table into free entries. => the head */
static u16 chain_add_locked(struct virtqueue *vq, const struct vring_desc *table, u16 n)
{
	u16 head = vq->free_head, at = head, last = head;

	for (u16 i = 0; i < n; i++) {
		struct vring_desc *d = &vq->desc[at];

		d->addr = table[i].addr;
		d->len = table[i].len;
		d->flags = (table[i].flags & VRING_WRITE) | (i + 1 < n ? VRING_NEXT : 0);
		last = at;
		at = d->next;
	}
	vq->free_head = vq->desc[last].next;
	vq->nr_free -= n;
	return head;
}

static void chain_free_locked(struct virtqueue *vq, u16 head)
{
	u16 at = head, n = 1;

	while (vq->desc[at].flags & VRING_NEXT) {
		at = vq->desc[at].next;
		n++;
	}
	vq->desc[at].next = vq->free_head;
	vq->free_head = head;
	vq->nr_free += n;
}

int vq_add_locked(struct virtqueue *vq, u16 token, const struct vring_desc *table, u64 table_pa,
		  u16 n)
{
	u16 head = token;

	if (unlikely(vq->broken))
		return -EIO;
	if (likely(vq->indirect)) {
		struct vring_desc *d = &vq->desc[token];

		if (unlikely(vq->token_of[token] != VQ_NO_TOKEN))
			return -EINVAL;
		d->addr = table_pa;
		d->len = n * sizeof(*d);
		d->flags = VRING_INDIRECT;
	} else {
		if (n > vq->nr_free)
			return -EBUSY;
		head = chain_add_locked(vq, table, n);
	}
	vq->token_of[head] = token;
	vq->in_flight++;
	vq->adds++;
	vq->avail->ring[vq->avail_idx & vq->mask] = head;
	smp_store_release(&vq->avail->idx, ++vq->avail_idx);
	return 0;
}

bool vq_must_kick_locked(struct virtqueue *vq)
{
	u16 old = vq->kicked, now = vq->avail_idx;
	bool must;

	smp_mb(); /* avail->idx before the device's wish */
	vq->kicked = now;
	if (vq->event_idx)
		must = (u16)(now - READ_ONCE(*avail_event(vq)) - 1) < (u16)(now - old);
	else
		must = !(READ_ONCE(vq->used->flags) & VRING_NO_NOTIFY);
	vq->kicks += must;
	return must;
}

void vq_kick(struct virtqueue *vq)
{
	mmio_write16(vq->index, vq->doorbell);
}

bool vq_take_locked(struct virtqueue *vq, u16 *token, u32 *bytes)
{
	const struct vring_used_elem *e;
	u16 used = smp_load_acquire(&vq->used->idx);
	u32 id;

	if (used == vq->last_used || unlikely(vq->broken))
		return false;
	if (unlikely((u16)(used - vq->last_used) > vq->in_flight)) {
		break_locked(vq, "more requests than there were:", (u16)(used - vq->last_used));
		return false;
	}
	e = &vq->used->ring[vq->last_used & vq->mask];
	id = READ_ONCE(e->id);
	if (unlikely(id >= vq->size || vq->token_of[id] == VQ_NO_TOKEN)) {
		break_locked(vq, "a request it was not given:", id);
		return false;
	}
	*token = vq->token_of[id];
	*bytes = READ_ONCE(e->len);
	vq->token_of[id] = VQ_NO_TOKEN;
	if (!vq->indirect)
		chain_free_locked(vq, id);
	vq->in_flight--;
	vq->last_used++;
	vq->taken++;
	return true;
}

void vq_mask_locked(struct virtqueue *vq)
{
	if (!vq->event_idx) /* else our wish lies behind the device's index: silent by itself */
		WRITE_ONCE(vq->avail->flags, VRING_NO_INTERRUPT);
}

bool vq_unmask_locked(struct virtqueue *vq)
{
	if (vq->event_idx)
		WRITE_ONCE(*used_event(vq), vq->last_used);
	else
		WRITE_ONCE(vq->avail->flags, 0);
	smp_mb(); /* our wish before the device's index */
	return READ_ONCE(vq->used->idx) == vq->last_used || vq->broken;
}

u16 vq_take_lost_locked(struct virtqueue *vq)
{
	for (u32 id = 0; vq->in_flight && id < vq->size; id++) {
		u16 token = vq->token_of[id];

		if (token == VQ_NO_TOKEN)
			continue;
		vq->token_of[id] = VQ_NO_TOKEN;
		if (!vq->indirect)
			chain_free_locked(vq, id);
		vq->in_flight--;
		return token;
	}
	return VQ_NO_TOKEN;
}

bool vq_check(const struct virtqueue *vq)
{
	u32 flying = 0, chained = 0, n = 0;

	for (u32 id = 0; id < vq->size; id++) {
		u32 at = id;

		if (vq->token_of[id] == VQ_NO_TOKEN)
			continue;
		flying++;
		chained++;
		while (!vq->indirect && (vq->desc[at].flags & VRING_NEXT) && chained <= vq->size) {
			at = vq->desc[at].next;
			chained++;
		}
	}
	if (flying != vq->in_flight || (u16)(vq->avail_idx - vq->last_used) > vq->size)
		return false;
	if (vq->indirect)
		return true;
	for (u32 at = vq->free_head; n < vq->nr_free && at < vq->size; at = vq->desc[at].next)
		n++;
	return n == vq->nr_free && chained + n == vq->size;
}
