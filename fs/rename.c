// SPDX-License-Identifier: BSD-2-Clause
/*
 * rename.c - rename(2), the one operation on two directories at once.
 *
 * Locking: with two different directories a global mutex is taken first, which freezes the shape of
 * the tree (only a rename between directories changes who is below whom), then both directory
 * locks: an ancestor before its descendant, otherwise by address; then the victim's lock. No cycle
 * can appear, because moving a directory below itself is refused while the shape is frozen.
 */
#include "fs/internal.h"
#include "mm/kmem/slab.h"

static DEFINE_MUTEX(rename_mutex, RANK_RENAME);

static void lock_two(struct dentry *a, struct dentry *b)
{
	if (a->inode == b->inode) { /* one directory, also when a damaged disk names it twice */
		inode_lock(a->inode);
		return;
	}
	mutex_lock(&rename_mutex);
	if (dentry_is_below(a, b) || (!dentry_is_below(b, a) && b->inode < a->inode))
		swap(a, b);
	inode_lock(a->inode);
	inode_lock_nested(b->inode, 1);
}

static void unlock_two(struct dentry *a, struct dentry *b)
{
	inode_unlock(a->inode);
	if (a->inode != b->inode) {
		inode_unlock(b->inode);
		mutex_unlock(&rename_mutex);
	}
}

struct renaming {
	struct walk ow, nw;
	struct dentry *od, *nd; /* directories */
	struct dentry *o, *n;	/* the names in them */
	unsigned int flags;
};

static int check_shape(struct renaming *r)
{
	bool exchange = r->flags & RENAME_EXCHANGE;

	if (!r->o->inode)
		return -ENOENT;
	if (r->n->inode && (r->flags & RENAME_NOREPLACE))
		return -EEXIST;
	if (!r->n->inode && exchange)
		return -ENOENT;
	if (!S_ISDIR(r->o->inode->mode) && (r->ow.last.slash || (!exchange && r->nw.last.slash)))
		return -ENOTDIR;
	if (exchange && !S_ISDIR(r->n->inode->mode) && r->nw.last.slash)
		return -ENOTDIR;
	if (dentry_is_below(r->nd, r->o))
		return -EINVAL;
	if (dentry_is_below(r->od, r->n))
		return exchange ? -EINVAL : -ENOTEMPTY;
	return 0;
}

static int check_rights(struct renaming *r)
{
	struct inode *od = r->od->inode, *nd = r->nd->inode;
	const struct fs_cred *cred = &r->ow.cred;
	bool isdir = S_ISDIR(r->o->inode->mode);
	int err = may_delete(od, r->o, cred, isdir);

	if (err)
		return err;
	if (!r->n->inode)
		err = may_create(nd, cred);
	else
		err = may_delete(nd, r->n, cred,
				 r->flags & RENAME_EXCHANGE ? S_ISDIR(r->n->inode->mode) : isdir);
	/* The ".." of a moved directory is written. */
	if (!err && isdir && od != nd)
		err = inode_permission(r->o->inode, MAY_WRITE, cred);
	return err;
}

static int move(struct renaming *r)
{
	struct inode *target = r->n->inode;
	char *text;
	int err = dentry_name_room(r->nw.last.len, &text);
	char name[NAME_MAX + 1];

	if (err)
		return err;
	if (target)
		inode_lock_nested(target, 2);
	err = r->od->inode->ops->rename(r->od->inode, r->o, r->nd->inode, r->n, r->flags);
	if (!err && target && S_ISDIR(target->mode))
		target->flags |= INODE_DEAD;
	if (target)
		inode_unlock(target);
	if (err) {
		dentry_name_free(text);
		return err;
	}
	dentry_drop(r->n);
	if (target)
		dentry_prune_children(r->n);
	memcpy(name, r->nw.last.name, r->nw.last.len);
	name[r->nw.last.len] = 0;
	dentry_rename(r->o, r->nd, name, r->nw.last.len, text);
	return 0;
}

static int exchange(struct renaming *r)
{
	char *texts[2] = { NULL, NULL }, *names;
	u32 olen = r->o->len, nlen = r->n->len;
	int err = dentry_name_room(olen, &texts[0]);

	if (!err)
		err = dentry_name_room(nlen, &texts[1]);
	names = kmalloc(olen + nlen + 2, GFP_KERNEL);
	if (!names)
		err = -ENOMEM;
	if (!err)
		err = r->od->inode->ops->rename(r->od->inode, r->o, r->nd->inode, r->n, r->flags);
	if (!err) {
		memcpy(names, r->o->name, olen + 1);
		memcpy(names + olen + 1, r->n->name, nlen + 1);
		/*
		 * For a moment both carry one name: the directories' locks keep lookups that would
		 * add names out.
		 */
		dentry_rename(r->o, r->nd, names + olen + 1, nlen, texts[1]);
		dentry_rename(r->n, r->od, names, olen, texts[0]);
	} else {
		dentry_name_free(texts[0]);
		dentry_name_free(texts[1]);
	}
	kfree(names);
	return err;
}

static int rename_locked(struct renaming *r)
{
	int err;

	r->o = lookup_locked(r->od, &r->ow.last);
	if (IS_ERR(r->o))
		return PTR_ERR(r->o);
	r->n = lookup_locked(r->nd, &r->nw.last);
	if (IS_ERR(r->n)) {
		err = PTR_ERR(r->n);
		dentry_put(r->o);
		return err;
	}
	err = check_shape(r);
	if (!err && r->o->inode == r->n->inode)
		goto out; /* two names of one file: nothing to do */
	if (!err)
		err = check_rights(r);
	if (!err && !r->od->inode->ops->rename)
		err = -EPERM;
	if (!err)
		err = r->flags & RENAME_EXCHANGE ? exchange(r) : move(r);
out:
	return err;
}

static int rename_walked(struct renaming *r)
{
	int err;

	if (r->ow.path.mnt != r->nw.path.mnt)
		return -EXDEV;
	if (r->ow.last.type != LAST_NORM)
		return -EBUSY;
	if (r->nw.last.type != LAST_NORM)
		return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	r->od = r->ow.path.dentry;
	r->nd = r->nw.path.dentry;
	r->o = r->n = NULL;
	super_change_begin(r->od->sb);
	err = mount_want_write(&r->ow.path);
	if (!err) {
		lock_two(r->od, r->nd);
		err = rename_locked(r);
		unlock_two(r->od, r->nd);
	}
	if (!IS_ERR_OR_NULL(r->n)) {
		dentry_put(r->o);
		dentry_put(r->n);
	}
	super_change_end(r->od->sb);
	return err;
}

int vfs_rename(const struct path *ob, const char *o, const struct path *nb, const char *n,
	       unsigned int flags)
{
	struct renaming *r;
	int err;

	if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) ||
	    flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	r = kmalloc(sizeof(*r), GFP_KERNEL); /* two walks are large for a stack */
	if (!r)
		return -ENOMEM;
	r->flags = flags;
	err = walk_parent_ref(&r->ow, ob, o, 0);
	if (!err) {
		err = walk_parent_ref(&r->nw, nb, n, 0);
		if (!err) {
			err = rename_walked(r);
			walk_fail(&r->nw);
		}
		walk_fail(&r->ow);
	}
	kfree(r);
	return err;
}
