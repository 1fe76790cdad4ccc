// SPDX-License-Identifier: BSD-2-Clause
/*
 * mount.c - the tree of mounts: which tree of names hangs where.
 *
 * A mount is a window on a superblock: (superblock, root dentry), hung on a dentry of another
 * mount. The pair (parent mount, mountpoint dentry) is looked up in a small hash table whenever a
 * walk stands on a dentry marked DENTRY_MOUNTED.
 *
 * Invariants: a mount in the tree has one reference of its own, holds one on its parent mount and
 * one on its mountpoint, and one on its root; every struct path holds one more. So "refs is 1 (plus
 * the caller's)" means not busy. Umount turns refs to 0 and takes the mount out of the table in one
 * step under dcache_lock; a walk under RCU that still sees it fails to get a reference and starts
 * again.
 *
 * Locking: mount_lock (rwsem) for changes of the tree; the hash table changes under dcache_lock
 * between two steps of path_seq, and is read under RCU.
 */
#include "fs/blkdev.h"
#include "fs/internal.h"
#include "lib/hash.h"
#include "mm/kmem/slab.h"

#define HASH_BITS 8

struct rwsem mount_lock = RWSEM_INIT(mount_lock, RANK_MOUNT);
LIST_HEAD(mount_list);
static struct mount *hash_table[1 << HASH_BITS];
static u32 last_id; /* (M) */

static struct mount **bucket(const struct mount *parent, const struct dentry *mountpoint)
{
	return &hash_table[hash_64((unsigned long)parent + ((unsigned long)mountpoint >> 6),
				   HASH_BITS)];
}

struct mount *mount_find(const struct mount *parent, const struct dentry *mountpoint)
{
	struct mount *m;

	for (m = READ_ONCE(*bucket(parent, mountpoint)); m; m = READ_ONCE(m->hash_next))
		if (m->parent == parent && m->mountpoint == mountpoint)
			return m;
	return NULL;
}

struct mount *mount_find_get(struct mount *parent, struct dentry *mountpoint)
{
	struct mount *m;

	spin_lock(&dcache_lock);
	m = mount_find(parent, mountpoint);
	if (m)
		mount_get(m);
	spin_unlock(&dcache_lock);
	return m;
}

/* From a covered dentry to the root of what covers it, as often as needed. */
void path_follow_mounts(struct path *p)
{
	while (unlikely(READ_ONCE(p->dentry->flags) & DENTRY_MOUNTED)) {
		struct mount *m = mount_find_get(p->mnt, p->dentry);

		if (!m)
			return;
		dentry_get(m->root);
		path_put(p);
		*p = (struct path){ m, m->root };
	}
}

/* From the root of a mount to its mountpoint. => false: it hangs nowhere */
bool path_follow_up(struct path *p)
{
	struct path up = { NULL, NULL };

	spin_lock(&dcache_lock);
	if (p->mnt->parent) {
		up = (struct path){ p->mnt->parent, p->mnt->mountpoint };
		path_get(&up);
	}
	spin_unlock(&dcache_lock);
	if (!up.mnt)
		return false;
	path_put(p);
	*p = up;
	return true;
}

void path_get(const struct path *p)
{
	mount_get(p->mnt);
	dentry_get(p->dentry);
}

void path_put(const struct path *p)
{
	if (!p->dentry)
		return;
	dentry_put(p->dentry);
	mount_put(p->mnt);
}

static void free_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct mount, rcu));
}

/* refs is 0 and it is in no table. */
static noinline void mount_free(struct mount *m)
{
	struct superblock *sb = m->sb;

	dentry_put(m->root);
	rcu_call(&m->rcu, free_rcu);
	super_put(sb);
}

void mount_put(struct mount *m)
{
	ASSERT(atomic_read(&m->refs) > 0);
	if (atomic_dec_and_test(&m->refs))
		mount_free(m);
}

/* A mount that hangs nowhere yet; counts on sb and root are taken here. */
static struct mount *mount_alloc(struct superblock *sb, struct dentry *root, u32 flags)
{
	struct mount *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->sb = sb;
	m->root = root;
	m->flags = flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME |
			    MS_NODIRATIME | MS_RELATIME | MNT_INTERNAL);
	if (!(flags & (MS_NOATIME | MS_STRICTATIME)))
		m->flags |= MS_RELATIME;
	list_init(&m->node);
	atomic_set(&m->refs, 1);
	atomic_inc(&sb->mounts);
	dentry_get(root);
	return m;
}

struct mount *mount_internal(struct superblock *sb)
{
	return mount_alloc(sb, sb->root, MNT_INTERNAL);
}

void mount_lock_read(void)
{
	down_read(&mount_lock);
}

void mount_unlock_read(void)
{
	up_read(&mount_lock);
}

static void hash_add_locked(struct mount *m)
{
	struct mount **b = bucket(m->parent, m->mountpoint);

	m->hash_next = *b;
	smp_store_release(b, m);
	m->mountpoint->flags |= DENTRY_MOUNTED;
}

static bool anything_mounted_on(struct dentry *d)
{
	struct mount *m;

	list_for_each_entry(m, &mount_list, node)
		if (m->mountpoint == d)
			return true;
	return false;
}

/* The last step of leaving a mountpoint; the mark stays when another mount uses the same dentry. */
static void hash_del_locked(struct mount *m)
{
	struct mount **p;

	for (p = bucket(m->parent, m->mountpoint); *p != m; p = &(*p)->hash_next)
		;
	WRITE_ONCE(*p, m->hash_next);
}

/* Hangs m at p, whose references move into m. => mount_lock held for writing */
static void attach(struct mount *m, const struct path *p)
{
	m->parent = p->mnt;
	if (!m->id)
		m->id = ++last_id;
	m->mountpoint = p->dentry;
	spin_lock(&dcache_lock);
	path_seq_begin();
	hash_add_locked(m);
	path_seq_end();
	spin_unlock(&dcache_lock);
	list_add_tail(&m->node, &mount_list);
}

/*
 * Takes m out of the tree; its own reference stays with the caller. *p receives parent and
 * mountpoint to be put.
 */
static void detach_locked(struct mount *m, struct path *p)
{
	assert_spin_held(&dcache_lock);
	path_seq_begin();
	hash_del_locked(m);
	*p = (struct path){ m->parent, m->mountpoint };
	m->parent = NULL;
	m->mountpoint = NULL;
	list_del_init(&m->node);
	if (!anything_mounted_on(p->dentry))
		p->dentry->flags &= ~DENTRY_MOUNTED;
	path_seq_end();
}

static struct mount *first_child(struct mount *m)
{
	struct mount *c;

	list_for_each_entry(c, &mount_list, node)
		if (c->parent == m)
			return c;
	return NULL;
}

/*
 * Not detached by somebody else since it was looked up (nor a mount without a place, like the one
 * of pipes)?
 */
static bool in_tree(const struct mount *m)
{
	return !list_empty(&m->node);
}

static int lookup_dir(const char *dir, struct path *p)
{
	return vfs_lookup(NULL, dir, LOOKUP_FOLLOW, p);
}

/* Attaches m at p (taken over, also on failure). */
static int graft(struct mount *m, struct path *p)
{
	int err = 0;

	if (S_ISDIR(m->root->inode->mode) != S_ISDIR(path_inode(p)->mode)) {
		path_put(p);
		return -ENOTDIR;
	}
	down_write(&mount_lock);
	path_follow_mounts(p); /* somebody was faster: on top of it */
	if (p->mnt->sb == m->sb && p->mnt->root == m->root && p->dentry == m->root)
		err = -EBUSY;
	else if (!in_tree(p->mnt))
		err = -EINVAL;
	else if (p->dentry->flags & DENTRY_UNHASHED)
		err = -ENOENT;
	else
		attach(m, p);
	up_write(&mount_lock);
	if (err)
		path_put(p);
	return err;
}

/*
 * Disks are mounted one after the other: whoever comes second finds the first one's superblock.
 * Its rank is that of another lock that is never held together with it.
 */
static DEFINE_MUTEX(disk_mounts, RANK_RENAME);

/* A superblock with one count on its mounts taken. ERR_PTR */
static struct superblock *get_super(const struct fs_type *t, const char *source, u32 flags,
				    const char *data)
{
	struct superblock *sb;

	flags &= MS_RDONLY | MS_SYNCHRONOUS | MS_MANDLOCK | MS_DIRSYNC | MS_SILENT;
	if (t->flags & FS_NODEV) {
		sb = t->mount(t, source, flags, data);
		if (!IS_ERR(sb))
			atomic_inc(&sb->mounts);
		return sb;
	}
	mutex_lock(&disk_mounts);
	sb = super_share(t, source, flags);
	if (!sb) {
		sb = t->mount(t, source, flags, data);
		if (!IS_ERR(sb)) {
			if (sb->bdev)
				sb->dev = sb->bdev->part->dev;
			atomic_inc(&sb->mounts);
		}
	}
	mutex_unlock(&disk_mounts);
	return sb;
}

static int do_new_mount(const char *source, struct path *p, const char *type, u32 flags,
			const char *data)
{
	const struct fs_type *t = fs_type_find(type);
	struct superblock *sb;
	struct mount *m;
	int err;

	if (!t) {
		path_put(p);
		return -ENODEV;
	}
	sb = get_super(t, source, flags, data);
	if (IS_ERR(sb)) {
		path_put(p);
		return PTR_ERR(sb);
	}
	m = mount_alloc(sb, sb->root, flags);
	super_put(sb); /* the mount counts for itself */
	if (!m) {
		path_put(p);
		return -ENOMEM;
	}
	err = graft(m, p);
	if (err)
		mount_put(m);
	return err;
}

#define COPY_DEPTH 32 /* levels of mounts on mounts: this one recurses */

/* With MS_REC: copies the mounts below `from` (of mount old, below dentry) under the copy m. */
static int copy_submounts(struct mount *old, struct dentry *top, struct mount *m, u32 depth)
{
	struct mount *c, *last = list_last_entry(&mount_list, struct mount, node);

	list_for_each_entry(c, &mount_list, node) {
		if (c->parent == old && c != m && dentry_is_below(c->mountpoint, top)) {
			struct mount *copy =
				depth < COPY_DEPTH ? mount_alloc(c->sb, c->root, c->flags) : NULL;
			struct path at = { m, c->mountpoint };
			int err;

			if (!copy)
				return depth < COPY_DEPTH ? -ENOMEM : -ELOOP;
			path_get(&at);
			attach(copy, &at);
			err = copy_submounts(c, c->root, copy, depth + 1);
			if (err)
				return err;
		}
		if (c == last)
			break;
	}
	return 0;
}

static int do_bind(const char *source, struct path *p, u32 flags)
{
	struct path from;
	struct mount *m;
	int err = source && *source ? lookup_dir(source, &from) : -EINVAL;

	if (err) {
		path_put(p);
		return err;
	}
	m = mount_alloc(from.mnt->sb, from.dentry, from.mnt->flags & ~MNT_INTERNAL);
	if (m) {
		err = graft(m, p);
		if (!err && (flags & MS_REC)) {
			down_write(&mount_lock);
			err = copy_submounts(from.mnt, from.dentry, m, 0);
			up_write(&mount_lock);
		} else if (err) {
			mount_put(m);
		}
	} else {
		path_put(p);
		err = -ENOMEM;
	}
	path_put(&from);
	return err;
}

static int do_remount(struct path *p, u32 flags, const char *data)
{
	struct superblock *sb = p->mnt->sb;
	bool closes = !(flags & MS_BIND) && (flags & MS_RDONLY);
	int err = 0;

	if (p->dentry != p->mnt->root) {
		path_put(p);
		return -EINVAL;
	}
	if (closes) { /* the long part, without the lock */
		super_gate_close(sb);
		super_sync(sb, 1);
	}
	down_write(&mount_lock);
	if (!(flags & MS_BIND))
		err = super_remount(sb, flags, data);
	if (!err) {
		u32 changeable =
			MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME;

		p->mnt->flags = (p->mnt->flags & ~changeable) | (flags & changeable);
	}
	up_write(&mount_lock);
	if (closes)
		super_gate_open(sb);
	path_put(p);
	return err;
}

static bool mount_is_below(struct mount *m, struct mount *top)
{
	for (; m; m = m->parent)
		if (m == top)
			return true;
	return false;
}

static int do_move(const char *source, struct path *p)
{
	struct path from, left = { NULL, NULL };
	int err = source && *source ? lookup_dir(source, &from) : -EINVAL;

	if (err) {
		path_put(p);
		return err;
	}
	down_write(&mount_lock);
	if (from.dentry != from.mnt->root || !from.mnt->parent || !in_tree(p->mnt))
		err = -EINVAL;
	else if (S_ISDIR(path_inode(&from)->mode) != S_ISDIR(path_inode(p)->mode))
		err = -ENOTDIR;
	else if (mount_is_below(p->mnt, from.mnt))
		err = -ELOOP;
	if (!err) {
		spin_lock(&dcache_lock);
		detach_locked(from.mnt, &left);
		spin_unlock(&dcache_lock);
		attach(from.mnt, p);
	}
	up_write(&mount_lock);
	path_put(&left);
	if (err)
		path_put(p);
	path_put(&from);
	return err;
}

static int must_be_root(void)
{
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	return cred.uid ? -EPERM : 0;
}

int vfs_mount(const char *source, const char *dir, const char *type, u32 flags, const char *data)
{
	struct path p;
	int err = must_be_root();

	if (err)
		return err;
	err = lookup_dir(dir, &p);
	if (err)
		return err;
	if (flags & MS_REMOUNT)
		return do_remount(&p, flags, data);
	if (flags & MS_BIND)
		return do_bind(source, &p, flags);
	/* there is one namespace */
	if (flags & (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE)) {
		path_put(&p);
		return 0;
	}
	if (flags & MS_MOVE)
		return do_move(source, &p);
	if (!type || !*type) {
		path_put(&p);
		return -EINVAL;
	}
	return do_new_mount(source, &p, type, flags, data);
}

/*
 * MNT_DETACH: the mount and everything below it leaves the tree now and ends when its last user
 * does. Leaves first. *dead receives those that nobody uses: to be freed without the lock, since
 * that writes to disks.
 */
static void detach_tree(struct mount *top, struct mount **dead)
{
	struct mount *m, *c;
	struct path left;

	do {
		for (m = top; (c = first_child(m));)
			m = c;
		spin_lock(&dcache_lock);
		detach_locked(m, &left);
		spin_unlock(&dcache_lock);
		path_put(&left);
		if (atomic_dec_and_test(&m->refs)) {
			m->next_dead = *dead;
			*dead = m;
		}
	} while (m != top);
}

/* p is the caller's reference on the mount's root; *dead as above. */
static int do_umount(struct path *p, int flags, struct mount **dead)
{
	struct path left = { NULL, NULL };
	struct mount *m = p->mnt;
	bool ours = false;

	if (first_child(m))
		return -EBUSY;
	spin_lock(&dcache_lock);
	if (atomic_cmpxchg(&m->refs, 2, 0) == 2) { /* its own and ours */
		detach_locked(m, &left);
		ours = true;
	}
	spin_unlock(&dcache_lock);
	if (!ours)
		return -EBUSY;
	dentry_put(p->dentry);
	p->dentry = NULL;
	path_put(&left);
	m->next_dead = *dead;
	*dead = m;
	return 0;
}

int vfs_umount(const char *dir, int flags)
{
	struct mount *dead = NULL, *next;
	struct path p;
	int err = must_be_root();

	if (!err && (flags & ~(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW)))
		err = -EINVAL;
	if (!err)
		err = vfs_lookup(NULL, dir, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &p);
	if (err)
		return err;
	down_write(&mount_lock);
	if (p.dentry != p.mnt->root || !p.mnt->parent || (flags & MNT_EXPIRE)) {
		err = -EINVAL;
	} else if (flags & MNT_DETACH) {
		detach_tree(p.mnt, &dead);
	} else {
		err = do_umount(&p, flags, &dead);
	}
	up_write(&mount_lock);
	path_put(&p);
	for (; dead; dead = next) {
		next = dead->next_dead;
		mount_free(dead);
	}
	return err;
}

/*
 * new_root becomes /, the old root hangs at put_old. As in Linux the first root file system cannot
 * be moved.
 */
int vfs_pivot_root(const char *new_root, const char *put_old)
{
	struct fs_context *fs = current_fs();
	struct path new, old, top, left_new, left_root = { NULL, NULL };
	struct mount *root_mnt;
	int err = must_be_root();

	if (!err)
		err = vfs_lookup(NULL, new_root, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &new);
	if (err)
		return err;
	err = vfs_lookup(NULL, put_old, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &old);
	if (err) {
		path_put(&new);
		return err;
	}
	down_write(&fs->lock);
	down_write(&mount_lock);
	root_mnt = fs->root.mnt;
	if (new.mnt == root_mnt || old.mnt == root_mnt)
		err = -EBUSY;
	else if (fs->root.dentry != root_mnt->root || !root_mnt->parent ||
		 new.dentry != new.mnt->root || !new.mnt->parent ||
		 !mount_is_below(old.mnt, new.mnt))
		err = -EINVAL;
	if (!err) {
		spin_lock(&dcache_lock);
		detach_locked(new.mnt, &left_new);
		detach_locked(root_mnt, &left_root);
		spin_unlock(&dcache_lock);
		top = left_root; /* its references move */
		attach(root_mnt, &old);
		attach(new.mnt, &top);
		path_put(&left_new);
		fs_set_path(fs, &fs->root, &new);
		fs_set_path(fs, &fs->cwd, &new);
	}
	up_write(&mount_lock);
	up_write(&fs->lock);
	if (err)
		path_put(&old);
	path_put(&new);
	return err;
}

/*
 * The very first mount: it hangs nowhere and is root and current directory of the kernel's context.
 */
void mount_rootfs(void)
{
	struct superblock *sb = rootfs_type.mount(&rootfs_type, "rootfs", 0, NULL);
	struct mount *m = IS_ERR(sb) ? NULL : mount_alloc(sb, sb->root, 0);

	if (!m)
		panic("fs: no memory for the root file system");
	m->id = ++last_id;
	list_add_tail(&m->node, &mount_list);
	kernel_fs.root = (struct path){ m, m->root };
	kernel_fs.cwd = kernel_fs.root;
	path_get(&kernel_fs.root);
	path_get(&kernel_fs.cwd);
}

static void show_flags(struct seq *seq, u32 flags)
{
	static const struct {
		u32 flag;
		const char *text;
	} names[] = { { MS_NOSUID, ",nosuid" },		{ MS_NODEV, ",nodev" },
		      { MS_NOEXEC, ",noexec" },		{ MS_NOATIME, ",noatime" },
		      { MS_NODIRATIME, ",nodiratime" }, { MS_RELATIME, ",relatime" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			seq_puts(seq, names[i].text);
}

/* A path as the files of this kind write it: blanks and backslashes as octal. */
static void show_escaped(struct seq *seq, const char *s)
{
	for (; *s; s++) {
		if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\\')
			seq_printf(seq, "\\%03o", (unsigned char)*s);
		else
			seq_putc(seq, *s);
	}
}

/* Calls fn for each mount that the current root can see, with its path. */
static int for_each_visible(struct seq *seq,
			    void (*fn)(struct seq *seq, struct mount *m, const char *path))
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL), *text;
	struct path root;
	struct mount *m;

	if (!buf)
		return -ENOMEM;
	fs_root_get(&root);
	down_read(&mount_lock);
	list_for_each_entry(m, &mount_list, node) {
		struct path p = { m, m->root };
		bool reached;

		text = path_text(&p, &root, buf, PATH_MAX, &reached);
		if (!IS_ERR(text) && reached)
			fn(seq, m, text);
	}
	up_read(&mount_lock);
	path_put(&root);
	kfree(buf);
	return 0;
}

static void show_mount_line(struct seq *seq, struct mount *m, const char *path)
{
	show_escaped(seq, m->sb->source);
	seq_putc(seq, ' ');
	show_escaped(seq, path);
	seq_printf(seq, " %s %s", m->sb->type->name,
		   (m->flags | m->sb->flags) & MS_RDONLY ? "ro" : "rw");
	show_flags(seq, m->flags);
	if (m->sb->show_options)
		m->sb->show_options(m->sb, seq);
	seq_puts(seq, " 0 0\n");
}

static void show_info_line(struct seq *seq, struct mount *m, const char *path)
{
	char buf[256];
	struct path in_sb = { NULL, m->root };
	char *root =
		m->root == m->sb->root ? NULL : path_text(&in_sb, NULL, buf, sizeof(buf), NULL);

	seq_printf(seq, "%u %u %u:%u %s ", m->id, m->parent ? m->parent->id : m->id,
		   MAJOR(m->sb->dev), MINOR(m->sb->dev), IS_ERR_OR_NULL(root) ? "/" : root);
	show_escaped(seq, path);
	seq_puts(seq, m->flags & MS_RDONLY ? " ro" : " rw");
	show_flags(seq, m->flags);
	seq_printf(seq, " - %s ", m->sb->type->name);
	show_escaped(seq, m->sb->source);
	seq_puts(seq, m->sb->flags & MS_RDONLY ? " ro" : " rw");
	if (m->sb->show_options)
		m->sb->show_options(m->sb, seq);
	seq_putc(seq, '\n');
}

int mounts_show(struct seq *seq)
{
	return for_each_visible(seq, show_mount_line);
}

int mountinfo_show(struct seq *seq)
{
	return for_each_visible(seq, show_info_line);
}
