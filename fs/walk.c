// SPDX-License-Identifier: BSD-2-Clause
/*
 * walk.c - the path walk: from text to (mount, dentry).
 *
 * Problem: each component costs a hash lookup; taking and dropping a reference on every directory
 * on the way would cost more than that, and would make all CPUs fight for the counter of "/". Idea:
 * walk the cached part under RCU with no references at all, and take one at the end. Two gears:
 *
 *   rcu no references, no sleeping. Started only when the starting points cannot change under us
 *   (our fs_context is
 *        used by nobody else). When it needs more (a name not cached, a symbolic link) it turns
 *        into the other gear where it stands (walk_unlazy).
 *   ref  w->path is referenced; lookups may ask the file system under the directory's lock.
 *
 * path_seq is noted at the start; when a rename or mount change happened before the references were
 * taken the whole walk starts again in the ref gear (-ECHILD, never seen outside).
 *
 * Symbolic links: the text of a link in the middle is walked first and the rest of the path is
 * remembered on a stack; a link at the end just replaces the rest. At most 40 links per walk, then
 * -ELOOP.
 * The walk ends before the last component (walk_to_parent), so creating, removing and opening share
 * it. ".." never leaves the root of the context, and climbs from the root of a mount to its
 * mountpoint.
 */
#include "fs/internal.h"
#include "mm/kmem/slab.h"

struct fs_context kernel_fs = { .refs = ATOMIC_INIT(1),
				.umask = 022,
				.lock = RWSEM_INIT(kernel_fs.lock, RANK_FS_CONTEXT) };
static struct fs_context *kernel_context(void)
{
	return &kernel_fs;
}
struct fs_context *(*current_fs)(void) = kernel_context;

void fs_context_get(struct fs_context *fs, struct path *root, struct path *cwd)
{
	spin_lock(&dcache_lock);
	if (root) {
		*root = fs->root;
		path_get(root);
	}
	if (cwd) {
		*cwd = fs->cwd;
		path_get(cwd);
	}
	spin_unlock(&dcache_lock);
}

void fs_root_get(struct path *root)
{
	fs_context_get(current_fs(), root, NULL);
}

void fs_cwd_get(struct path *cwd)
{
	fs_context_get(current_fs(), NULL, cwd);
}

/* => fs->lock held for writing; slot is &fs->root or &fs->cwd */
void fs_set_path(struct fs_context *fs, struct path *slot, const struct path *p)
{
	struct path old;

	path_get(p);
	spin_lock(&dcache_lock);
	old = *slot;
	*slot = *p;
	spin_unlock(&dcache_lock);
	path_put(&old);
}

/* Starting point and gear. base NULL: cwd. */
int walk_start(struct walk *w, const struct path *base, const char *name, unsigned int flags,
	       bool rcu)
{
	struct fs_context *fs = current_fs();
	bool alone = atomic_read(&fs->refs) == 1;

	w->fs = fs;
	w->flags = flags;
	w->nr_links = w->depth = w->nr_held = 0;
	w->must_dir = false;
	w->last.type = LAST_ROOT;
	current_fs_cred(&w->cred, 0);
	w->root_held = !alone;
	if (alone)
		w->root = fs->root;
	else
		fs_context_get(fs, &w->root, NULL);
	w->rcu = rcu && alone;
	if (w->rcu) {
		rcu_read_lock();
		w->seq = READ_ONCE(path_seq);
		smp_rmb();
	}
	if (*name == '/') {
		w->path = w->root;
	} else if (base) {
		w->path = *base;
	} else if (alone) {
		w->path = fs->cwd;
	} else {
		fs_context_get(fs, NULL, &w->path);
		return 0;
	}
	if (!w->rcu)
		path_get(&w->path);
	else if (unlikely(w->seq & 1))
		return -ECHILD;
	return 0;
}

/*
 * From the rcu to the ref gear, where we are. => 0; -ECHILD: start again in the ref gear (nothing
 * is held)
 */
int walk_unlazy(struct walk *w)
{
	struct mount *m = w->path.mnt;
	bool have_mount = atomic_inc_not_zero(&m->refs);
	bool have_dentry = have_mount && dentry_get_live(w->path.dentry);
	bool same;

	smp_rmb();
	same = READ_ONCE(path_seq) == w->seq;
	w->rcu = false;
	rcu_read_unlock();
	if (likely(have_dentry && same))
		return 0;
	if (have_dentry)
		dentry_put(w->path.dentry);
	if (have_mount)
		mount_put(m);
	w->path.dentry = NULL;
	return -ECHILD;
}

/*
 * Gives back everything but w->path when the walk succeeded; on errors the caller sets
 * w->path.dentry NULL through this.
 */
void walk_end(struct walk *w)
{
	if (w->rcu) {
		w->rcu = false;
		w->path.dentry = NULL;
		rcu_read_unlock();
	}
	for (u32 i = 0; i < w->nr_held; i++) {
		if (w->held_inode[i])
			inode_put(w->held_inode[i]);
		kfree(w->held_buf[i]);
	}
	w->nr_held = 0;
	if (w->root_held)
		path_put(&w->root);
	w->root_held = false;
}

static void step_to(struct walk *w, struct dentry *d)
{
	struct dentry *old = w->path.dentry;

	w->path.dentry = d;
	dentry_put(old);
}

static void dotdot_rcu(struct walk *w)
{
	struct path p = w->path;

	while (!(p.dentry == w->root.dentry && p.mnt == w->root.mnt)) {
		if (p.dentry != p.mnt->root) {
			p.dentry = READ_ONCE(p.dentry->parent);
			break;
		}
		struct mount *up = READ_ONCE(p.mnt->parent);

		if (!up)
			break;
		p.dentry = READ_ONCE(p.mnt->mountpoint);
		if (!p.dentry) { /* being unmounted: path_seq changes, any place will do */
			p.dentry = p.mnt->root;
			break;
		}
		p.mnt = up;
	}
	w->path = p;
}

static void follow_mounts_rcu(struct walk *w)
{
	while (unlikely(READ_ONCE(w->path.dentry->flags) & DENTRY_MOUNTED)) {
		struct mount *m = mount_find(w->path.mnt, w->path.dentry);

		if (!m)
			return;
		w->path = (struct path){ m, m->root };
	}
}

static void walk_dotdot(struct walk *w)
{
	if (w->rcu) {
		dotdot_rcu(w);
		follow_mounts_rcu(w);
		return;
	}
	while (!(w->path.dentry == w->root.dentry && w->path.mnt == w->root.mnt)) {
		if (w->path.dentry != w->path.mnt->root) {
			step_to(w, dentry_parent_get(w->path.dentry));
			break;
		}
		if (!path_follow_up(&w->path))
			break;
	}
	path_follow_mounts(&w->path);
}

/*
 * The dentry of last in dir, from the cache or from the file system; possibly negative.
 * => dir's inode lock held for writing; referenced or ERR_PTR
 */
struct dentry *lookup_locked(struct dentry *dir, const struct last *last)
{
	struct inode *inode = dir->inode;
	struct dentry *d;
	int err;

	if (unlikely(inode->flags & INODE_DEAD))
		return ERR_PTR(-ENOENT);
	d = dcache_find_get_locked(dir, last->hash, last->name, last->len);
	if (d)
		return d;
	if (!inode->ops || !inode->ops->lookup)
		return ERR_PTR(-ENOTDIR);
	d = dentry_alloc_hashed(dir, last->name, last->len, last->hash);
	if (!d)
		return ERR_PTR(-ENOMEM);
	err = inode->ops->lookup(inode, d);
	if (err) {
		dentry_put(d);
		return ERR_PTR(err);
	}
	if (!(d->flags & DENTRY_NOCACHE))
		dentry_add(d);
	return d;
}

static struct dentry *lookup_slow(struct walk *w)
{
	struct dentry *dir = w->path.dentry, *d;

	inode_lock(dir->inode);
	d = lookup_locked(dir, &w->last);
	inode_unlock(dir->inode);
	return d;
}

/* Text of a link into kernel memory that stays until walk_end. */
static const char *link_text(struct walk *w, struct dentry *link)
{
	struct inode *inode = link->inode;
	char *buf;
	ssize_t n;

	w->held_inode[w->nr_held] = NULL;
	w->held_buf[w->nr_held] = NULL;
	if (inode->link) {
		inode_get(inode);
		w->held_inode[w->nr_held++] = inode;
		return inode->link;
	}
	if (!inode->ops || !inode->ops->readlink)
		return ERR_PTR(-EINVAL);
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	w->held_buf[w->nr_held++] = buf;
	n = inode->ops->readlink(link, buf, PATH_MAX - 1);
	if (n < 0)
		return ERR_PTR(n);
	buf[n] = 0;
	return buf;
}

/*
 * Goes where link (taken over) points: magic links at once (=> NULL), others by their text, which
 * the caller walks next. => ref gear; w->path is the directory of the link
 */
const char *walk_follow_link(struct walk *w, struct dentry *link)
{
	const struct inode_ops *ops = link->inode->ops;
	const char *text;

	if (w->nr_links++ >= MAX_LINKS) {
		dentry_put(link);
		return ERR_PTR(-ELOOP);
	}
	if (ops && ops->get_link) {
		struct path to;
		int err = w->flags & LOOKUP_NO_MAGICLINKS
				  ? -ELOOP
				  : ops->get_link(link->inode, &to.mnt, &to.dentry);

		if (!err) {
			path_put(&w->path);
			w->path = to;
		}
		dentry_put(link);
		return ERR_PTR(err);
	}
	text = link_text(w, link);
	dentry_put(link);
	if (IS_ERR(text))
		return text;
	if (!*text)
		return ERR_PTR(-ENOENT);
	if (*text == '/') {
		path_get(&w->root);
		path_put(&w->path);
		w->path = w->root;
	}
	return text;
}

/*
 * Common end of a component: d (referenced, ref gear) becomes our place, or its link is returned to
 * be walked.
 */
static const char *enter(struct walk *w, struct dentry *d, bool follow)
{
	if (!d->inode) {
		dentry_put(d);
		return ERR_PTR(-ENOENT);
	}
	if (follow && S_ISLNK(d->inode->mode))
		return walk_follow_link(w, d);
	step_to(w, d);
	path_follow_mounts(&w->path);
	return NULL;
}

/* One component in the rcu gear. => 1 done; 0 needs the ref gear; -errno */
static int component_rcu(struct walk *w, bool follow)
{
	struct dentry *d = dcache_find(w->path.dentry, w->last.hash, w->last.name, w->last.len);
	struct inode *inode;

	if (unlikely(!d))
		return 0;
	inode = smp_load_acquire(&d->inode);
	if (!inode) {
		smp_rmb();
		return READ_ONCE(path_seq) == w->seq && !(READ_ONCE(d->flags) & DENTRY_UNHASHED)
			       ? -ENOENT
			       : 0;
	}
	if (follow && S_ISLNK(inode->mode))
		return 0;
	d->touched = 1;
	w->path.dentry = d;
	follow_mounts_rcu(w);
	return 1;
}

/* => NULL: w->path is there; text of a link to walk; ERR_PTR */
static const char *component(struct walk *w, bool follow)
{
	struct dentry *d;

	if (w->rcu) {
		int ret = component_rcu(w, follow);

		if (ret)
			return ret > 0 ? NULL : ERR_PTR(ret);
		ret = walk_unlazy(w);
		if (ret)
			return ERR_PTR(ret);
	}
	d = dcache_find_get(w->path.dentry, w->last.hash, w->last.name, w->last.len);
	if (!d)
		d = lookup_slow(w);
	if (IS_ERR(d))
		return ERR_PTR(PTR_ERR(d));
	return enter(w, d, follow);
}

static int may_search(struct walk *w)
{
	struct inode *inode = w->path.dentry->inode;

	if (unlikely(!S_ISDIR(inode->mode)))
		return -ENOTDIR;
	if (likely(w->cred.uid == 0 && !inode->ops->permission))
		return 0;
	return inode_permission(inode, MAY_EXEC, &w->cred);
}

/* Cuts the next component off into w->last. => what follows it, blank of slashes; NULL: too long */
static const char *scan(struct walk *w, const char *name)
{
	u32 h = dentry_hash_start(w->path.dentry);
	const char *p = name;

	for (; *p && *p != '/'; p++)
		h = dentry_hash_step(h, *p);
	w->last.name = name;
	w->last.len = p - name;
	w->last.hash = h;
	w->last.type = LAST_NORM;
	if (unlikely(name[0] == '.')) {
		if (w->last.len == 1)
			w->last.type = LAST_DOT;
		else if (w->last.len == 2 && name[1] == '.')
			w->last.type = LAST_DOTDOT;
	}
	w->last.slash = *p == '/';
	while (*p == '/')
		p++;
	return unlikely(w->last.len > NAME_MAX) ? NULL : p;
}

/*
 * Walks all but the last component of name (and of what links in the middle stand for). w->path is
 * then the directory and w->last the rest. => 0 or -errno; on error w->path is still to be put by
 * the caller (walk_fail)
 */
int walk_to_parent(struct walk *w, const char *name)
{
	w->last.type = LAST_ROOT;
	w->last.slash = false;
	for (;;) {
		const char *rest, *text;
		int err;

		while (*name == '/')
			name++;
		if (!*name) {
			if (!w->depth)
				return 0;
			name = w->rest[--w->depth];
			continue;
		}
		err = may_search(w);
		if (err)
			return err;
		rest = scan(w, name);
		if (!rest)
			return -ENAMETOOLONG;
		if (!*rest && !w->depth)
			return 0;
		if (w->last.type == LAST_NORM) {
			text = component(w, true);
			if (IS_ERR(text))
				return PTR_ERR(text);
			if (text) {
				w->rest[w->depth++] = rest;
				rest = text;
			}
		} else if (w->last.type == LAST_DOTDOT) {
			walk_dotdot(w);
		}
		w->last.type = LAST_ROOT;
		name = rest;
	}
}

/* The last component, to the end of its links when follow. => 0: w->path is it; -errno */
int walk_last(struct walk *w, bool follow)
{
	for (;;) {
		const char *text;
		int err;

		if (w->last.type == LAST_DOTDOT) {
			walk_dotdot(w);
			return 0;
		}
		if (w->last.type != LAST_NORM)
			return 0;
		if (w->last.slash)
			w->must_dir = true;
		text = component(w, follow || w->must_dir);
		if (!text)
			return 0;
		if (IS_ERR(text))
			return PTR_ERR(text);
		err = walk_to_parent(w, text);
		if (err)
			return err;
	}
}

/* Gives everything back after an error. */
void walk_fail(struct walk *w)
{
	if (!w->rcu)
		path_put(&w->path);
	walk_end(w);
	w->path.dentry = NULL;
}

static int try_lookup(struct walk *w, const struct path *base, const char *name, unsigned int flags,
		      bool rcu)
{
	int err = walk_start(w, base, name, flags, rcu);

	if (!err)
		err = walk_to_parent(w, name);
	if (!err)
		err = walk_last(w, flags & LOOKUP_FOLLOW);
	if (!err && w->rcu)
		err = walk_unlazy(w);
	if (!err && ((flags & LOOKUP_DIRECTORY) || w->must_dir || w->last.slash) &&
	    !S_ISDIR(path_inode(&w->path)->mode))
		err = -ENOTDIR;
	if (err)
		walk_fail(w);
	else
		walk_end(w);
	return err;
}

int vfs_lookup(const struct path *base, const char *name, unsigned int flags, struct path *out)
{
	struct walk w;
	int err;

	if (unlikely(!*name)) {
		if (!(flags & LOOKUP_EMPTY))
			return -ENOENT;
		name = base ? "" : ".";
	}
	err = try_lookup(&w, base, name, flags, true);
	if (unlikely(err == -ECHILD))
		err = try_lookup(&w, base, name, flags, false);
	*out = w.path;
	return err;
}

/*
 * Walks to the parent in the ref gear. => 0: w->path referenced, walk_end still to be called;
 * -errno: all given back
 */
int walk_parent_ref(struct walk *w, const struct path *base, const char *name, unsigned int flags)
{
	int err, tries = 0;

	if (!*name)
		return -ENOENT;
	do {
		err = walk_start(w, base, name, flags, !tries);
		if (!err)
			err = walk_to_parent(w, name);
		if (!err && w->rcu)
			err = walk_unlazy(w);
		if (err)
			walk_fail(w);
	} while (err == -ECHILD && !tries++);
	return err;
}

int vfs_lookup_parent(const struct path *base, const char *name, struct path *parent,
		      char last[256], unsigned int *last_flags)
{
	struct walk w;
	int err = walk_parent_ref(&w, base, name, 0);

	if (err)
		return err;
	*parent = w.path;
	if (w.last.type == LAST_NORM) {
		memcpy(last, w.last.name, w.last.len);
		last[w.last.len] = 0;
	} else {
		strlcpy(last,
			w.last.type == LAST_ROOT  ? "/"
			: w.last.type == LAST_DOT ? "."
						  : "..",
			256);
	}
	if (last_flags)
		*last_flags = w.last.slash ? LOOKUP_DIRECTORY : 0;
	walk_end(&w);
	return 0;
}
