// SPDX-License-Identifier: BSD-2-Clause
/*
 * pathtext.c - from a path back to its text: name by name upwards, written from the end of the
 * buffer. All under dcache_lock, so that no name changes on the way (a path is short).
 */
#include "fs/internal.h"
#include "lib/printf.h"

struct writer {
	char *start, *p;
};

static bool prepend(struct writer *w, const char *s, size_t len)
{
	if ((size_t)(w->p - w->start) < len)
		return false;
	w->p -= len;
	memcpy(w->p, s, len);
	return true;
}

/* => dcache_lock; false: does not fit */
static bool climb(struct writer *w, const struct path *from, const struct path *root, bool *reached)
{
	const struct mount *mnt = from->mnt;
	const struct dentry *d = from->dentry;
	bool any = false;

	*reached = false;
	for (;;) {
		if (root && d == root->dentry && mnt == root->mnt) {
			*reached = true;
			break;
		}
		if (dentry_is_root(d) || (mnt && d == mnt->root)) {
			if (!mnt || !mnt->parent)
				break;
			d = mnt->mountpoint;
			mnt = mnt->parent;
			continue;
		}
		if (!prepend(w, d->name, d->len) || !prepend(w, "/", 1))
			return false;
		any = true;
		d = d->parent;
	}
	return any || prepend(w, "/", 1);
}

static char *anon_text(const struct dentry *d, char *buf, size_t n)
{
	size_t len;

	if (strchr(d->name, '['))
		len = strlcpy(buf, d->name, n);
	else
		len = snprintf(buf, n, "%s:[%lu]", d->name, (unsigned long)d->inode->ino);
	return len < n ? buf : ERR_PTR(-ENAMETOOLONG);
}

/* root NULL: up to the top. *reached (may be NULL): root was met on the way. */
char *path_text(const struct path *p, const struct path *root, char *buf, size_t n, bool *reached)
{
	struct writer w = { buf, buf + n };
	bool ok, dummy;

	if (!n)
		return ERR_PTR(-ENAMETOOLONG);
	if (p->mnt && (p->mnt->flags & MNT_INTERNAL) && dentry_is_root(p->dentry))
		return anon_text(p->dentry, buf, n);
	*--w.p = 0;
	spin_lock(&dcache_lock);
	ok = !(p->dentry->flags & DENTRY_UNHASHED) || prepend(&w, " (deleted)", 10);
	ok = ok && climb(&w, p, root, reached ? reached : &dummy);
	spin_unlock(&dcache_lock);
	return ok ? w.p : ERR_PTR(-ENAMETOOLONG);
}

char *vfs_path(const struct path *p, char *buf, size_t n)
{
	struct path root;
	char *text;

	fs_root_get(&root);
	text = path_text(p, &root, buf, n, NULL);
	path_put(&root);
	return text;
}
