// SPDX-License-Identifier: BSD-2-Clause
/*
 * poll.c - what is left of a ring after the 32 requests one interrupt may take.
 *
 * A list per CPU of rings that want more; the softirq gives each one turn (32 requests, interrupts
 * off only around them) and puts those that want more at the end. A turn of the softirq visits each
 * ring on the list once.
 */
#include "drivers/virtio/internal.h"
#include "kernel/softirq.h"

struct poll_list {
	struct virtio_poll *first, **tail;
};
static DEFINE_PER_CPU(struct poll_list, poll_lists);

void virtio_poll_later(struct virtio_poll *p)
{
	struct poll_list *l;
	unsigned long flags;

	if (xchg(&p->queued, 1u))
		return;
	p->next = NULL;
	local_irq_save_l(flags, "virtio_poll");
	l = this_cpu_ptr(&poll_lists);
	if (!l->first)
		l->tail = &l->first;
	*l->tail = p;
	l->tail = &p->next;
	softirq_raise(SOFTIRQ_POLL);
	local_irq_restore_l(flags, "virtio_poll");
}

static void poll_softirq(void)
{
	struct virtio_poll *p, *next;
	unsigned long flags;

	local_irq_save_l(flags, "virtio_poll");
	p = this_cpu_ptr(&poll_lists)->first;
	this_cpu_ptr(&poll_lists)->first = NULL;
	local_irq_restore_l(flags, "virtio_poll");
	for (; p; p = next) {
		next = p->next;
		smp_store_release(&p->queued, 0u);
		if (p->poll(p))
			virtio_poll_later(p);
	}
}

void virtio_poll_init(void)
{
	softirq_open(SOFTIRQ_POLL, poll_softirq);
}
