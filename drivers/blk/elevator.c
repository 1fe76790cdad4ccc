// SPDX-License-Identifier: BSD-2-Clause
/* elevator.c - the list of policies, and requests sorted by sector. Pure. */
#include "drivers/blk/elevator.h"
#include "lib/string.h"

static const struct elevator_ops *const elevators[] = { &elevator_noop, &elevator_deadline,
							&elevator_cfq };

const struct elevator_ops *elevator_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elevators); i++)
		if (!strcmp(elevators[i]->name, name))
			return elevators[i];
	return NULL;
}

const struct elevator_ops *elevator_nth(unsigned int i)
{
	return i < ARRAY_SIZE(elevators) ? elevators[i] : NULL;
}

void elv_rb_add(struct rb_root *root, struct request *rq)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = rq->sector < rb_entry(parent, struct request, rb)->sector
			       ? &parent->rb_left
			       : &parent->rb_right;
	}
	rb_link_node(&rq->rb, parent, link);
	rb_insert_color(&rq->rb, root);
}

struct request *elv_rb_from(const struct rb_root *root, u64 sector)
{
	struct rb_node *n = root->rb_node;
	struct request *best = NULL;

	while (n) {
		struct request *rq = rb_entry(n, struct request, rb);

		if (rq->sector >= sector) {
			best = rq;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

struct request *elv_rb_find(const struct rb_root *root, u64 sector)
{
	struct request *rq = elv_rb_from(root, sector);

	return rq && rq->sector == sector ? rq : NULL;
}
