// SPDX-License-Identifier: BSD-2-Clause
/*
 * flock.c - flock(2): whole-file locks that belong to an open file, kept in one short list (they
 * are rare). A file that waits sleeps on one common queue and looks again whenever any lock goes
 * away.
 */
#include "fs/internal.h"
#include "mm/kmem/slab.h"
#include "sched/wait.h"

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

struct flock_entry {
	struct file *file;
	struct list_head node;
};
static DEFINE_SPINLOCK(flock_lock, RANK_FILES);
static LIST_HEAD(flocks);
static DEFINE_WAIT_QUEUE(flock_wait);

static struct flock_entry *find_locked(struct file *f)
{
	struct flock_entry *e;

	list_for_each_entry(e, &flocks, node)
		if (e->file == f)
			return e;
	return NULL;
}

static bool conflict_locked(struct file *f, int type)
{
	struct flock_entry *e;

	list_for_each_entry(e, &flocks, node)
		if (e->file != f && e->file->inode == f->inode &&
		    (type == LOCK_EX || e->file->flock == LOCK_EX))
			return true;
	return false;
}

void flock_release(struct file *f)
{
	struct flock_entry *e;

	spin_lock(&flock_lock);
	e = find_locked(f);
	if (e)
		list_del(&e->node);
	f->flock = 0;
	spin_unlock(&flock_lock);
	kfree(e);
	wake_up_all(&flock_wait);
}

/* => true: granted; *e is used up when it was needed */
static bool try_lock(struct file *f, int type, struct flock_entry **e)
{
	bool ok;

	spin_lock(&flock_lock);
	ok = !conflict_locked(f, type);
	if (ok) {
		if (!find_locked(f)) {
			(*e)->file = f;
			list_add(&(*e)->node, &flocks);
			*e = NULL;
		}
		f->flock = type;
	}
	spin_unlock(&flock_lock);
	return ok;
}

int vfs_flock(struct file *f, int op)
{
	int type = op & ~LOCK_NB, err = 0;
	struct flock_entry *e;
	bool shrinks;

	if (type != LOCK_SH && type != LOCK_EX && type != LOCK_UN)
		return -EINVAL;
	if (type == LOCK_UN) {
		if (f->flock)
			flock_release(f);
		return 0;
	}
	e = kmalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	shrinks = f->flock == LOCK_EX && type == LOCK_SH;
	if (op & LOCK_NB)
		err = try_lock(f, type, &e) ? 0 : -EAGAIN;
	else
		err = wait_event_interruptible(&flock_wait, try_lock(f, type, &e));
	kfree(e);
	if (!err && shrinks)
		wake_up_all(&flock_wait);
	return err;
}
