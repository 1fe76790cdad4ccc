/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * autogroup.h - the threads of a session share one weight (switch sched_autogroup).
 */
#ifndef SCHED_AUTOGROUP_H
#define SCHED_AUTOGROUP_H

#include "kernel/param.h"
#include "sched/thread.h"

DECLARE_SWITCH(sched_autogroup);

/* One session. Its memory is the maker's: release is called when the last thread has left. */
struct sched_group {
	atomic_t refs;
	atomic_long_t load; /* own weights of its queued threads of the fair class */
	/* => from an RCU callback; may not sleep */
	void (*release)(struct sched_group *g);
};

/* => refs 1, the caller's */
void sched_group_init(struct sched_group *g, void (*release)(struct sched_group *g));
void sched_group_put(struct sched_group *g);
/* t leaves its group, if it has one, for g (takes a reference). */
void sched_group_join(struct thread *t, struct sched_group *g);
static inline void sched_group_inherit(struct thread *t, const struct thread *parent)
{
	t->group = parent ? parent->group : NULL;
	if (t->group)
		atomic_inc(&t->group->refs);
}

/* For the fair class. => queue locked, t about to be queued / just left its queue */
void sched_group_enter(struct thread *t);
void sched_group_leave(struct thread *t);
/* t runs and a request of its is served: what it weighs may have changed. => queue locked */
void sched_group_refresh(struct fair_rq *q, struct thread *t);

#endif
