/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nodes.c - pages are asked from node to node, by all three calls there are, while everything else
 * goes on. What they hold goes with them; where they are is told back.
 */
#define _GNU_SOURCE
#include "verify.h"
#include <sys/syscall.h>

#define MPOL_DEFAULT 0
#define MPOL_PREFERRED 1
#define MPOL_MF_MOVE 2
#define MPOL_MF_MOVE_ALL 4

static uint32_t below(struct worker *w, uint32_t n)
{
	return (uint32_t)(random_next(&w->seed) % n);
}

static void check_held(struct worker *w, struct region *r, uint32_t index)
{
	if (!region_hold(r, index))
		return;
	region_check(w, r, index);
	region_drop(r, index);
}

/* Where a page of a thread alone was sent, it is; or the kernel says why not. */
static void check_status(struct region *r, uint32_t index, int status, int node)
{
	if (status == node)
		count(sent, 1);
	else if (status < 0 || r->kind >= SHARED)
		count(stayed, 1);
	else
		failed("sent to a node, it is on another", r, index);
	if (status < 0 && status != -EBUSY && status != -ENOENT && status != -EACCES &&
	    status != -EFAULT && status != -ENOMEM) {
		errno = -status;
		failed("status of a moved page", r, index);
	}
}

static void move_chunk(struct worker *w, struct region *r, uint32_t c, int node)
{
	int nodes[CHUNK], status[CHUNK];
	void *pages[CHUNK];
	long n;

	for (uint32_t i = 0; i < CHUNK; i++) {
		pages[i] = r->chunk[c] + i * PAGE;
		nodes[i] = node;
		status[i] = -EBUSY;
	}
	n = syscall(SYS_move_pages, 0, (long)CHUNK, pages, nodes, status,
		    (long)(below(w, 2) ? MPOL_MF_MOVE : MPOL_MF_MOVE_ALL));
	if (n < 0) {
		failed("move_pages", r, c * CHUNK);
		return;
	}
	for (uint32_t i = 0; i < CHUNK; i++)
		check_status(r, c * CHUNK + i, status[i], node);
}

/* The range prefers a node, with what is there already, and no node again. */
static void bind_chunk(struct region *r, uint32_t c, int node)
{
	unsigned long mask = 1ul << node, size = CHUNK * PAGE;

	if (syscall(SYS_mbind, r->chunk[c], size, (long)MPOL_PREFERRED, &mask, 64l,
		    (long)MPOL_MF_MOVE) ||
	    syscall(SYS_mbind, r->chunk[c], size, (long)MPOL_DEFAULT, NULL, 0l, 0l))
		failed("mbind", r, c * CHUNK);
}

/* All of this process from one node to another. */
static void move_process(struct region *r, int node, int other)
{
	unsigned long from = 1ul << other, to = 1ul << node;

	if (syscall(SYS_migrate_pages, 0, 64l, &from, &to) < 0)
		failed("migrate_pages", r, 0);
}

void send_to_node(struct worker *w, unsigned nodes)
{
	static const enum kind kinds[] = { ANON, ANON, PRIVATE, MAPPED, SHARED, TMPFILE, SEGMENT };
	enum kind k = kinds[below(w, sizeof(kinds) / sizeof(kinds[0]))];
	struct region *r = k < SHARED ? &w->own[k] : &w->common[k - SHARED];
	int node = (int)below(w, nodes);
	uint32_t c;

	if (!r->pages)
		return;
	c = below(w, r->pages / CHUNK);
	switch (below(w, 64)) {
	case 0:
		move_process(r, node, (node + 1) % (int)nodes);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		bind_chunk(r, c, node);
		break;
	default:
		move_chunk(w, r, c, node);
	}
	for (unsigned i = 0; i < 8; i++)
		check_held(w, r, c * CHUNK + below(w, CHUNK));
}
