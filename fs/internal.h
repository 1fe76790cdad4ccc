/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of fs/ share with each other only. */
#ifndef FS_INTERNAL_H
#define FS_INTERNAL_H

#include "fs/vfs.h"
#include "kernel/bug.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/err.h"
#include "lib/string.h"

/* dcache.c */
#define DENTRY_DEAD (-128)
extern spinlock_t dcache_lock;
extern u32 path_seq; /* odd: a rename or a mount change is going on (dcache_lock) */
static inline void path_seq_begin(void)
{
	assert_spin_held(&dcache_lock);
	WRITE_ONCE(path_seq, path_seq + 1);
	smp_wmb();
}
static inline void path_seq_end(void)
{
	smp_wmb();
	WRITE_ONCE(path_seq, path_seq + 1);
}
/* False: it died meanwhile. => under rcu_read_lock or dcache_lock */
static inline bool dentry_get_live(struct dentry *d)
{
	int v = atomic_read(&d->refs);

	while (v >= 0)
		if (try_cmpxchg(&d->refs.v, &v, v + 1))
			return true;
	return false;
}
static inline bool dentry_is_root(const struct dentry *d)
{
	return d->parent == d;
}
u32 dentry_hash_start(const struct dentry *parent);
static inline u32 dentry_hash_step(u32 h, u8 c)
{
	return (h ^ c) * 0x01000193u; /* FNV-1a [FNV] */
}
struct dentry *dcache_find(const struct dentry *parent, u32 hash, const char *name, u32 len);
struct dentry *dcache_find_get(struct dentry *parent, u32 hash, const char *name, u32 len);
struct dentry *dcache_find_get_locked(struct dentry *parent, u32 hash, const char *name, u32 len);
struct dentry *dentry_alloc_hashed(struct dentry *parent, const char *name, u32 len, u32 hash);
struct dentry *dentry_alloc_root(struct superblock *sb, struct inode *inode);
struct dentry *dentry_alloc_anon(struct superblock *sb, const char *name, struct inode *inode);
void dentry_add(struct dentry *d);
struct dentry *dentry_parent_get(struct dentry *d);
void dentry_prune_children(struct dentry *d);
void dentry_tree_kill(struct dentry *root);
bool dentry_is_below(struct dentry *d, struct dentry *top);
void dentry_rename(struct dentry *d, struct dentry *parent, const char *name, u32 len, char *text);
int dentry_name_room(u32 len, char **text);
void dentry_name_free(char *text);
unsigned long dcache_nr(void);
void dcache_init(void);

/* icache.c */
void icache_init(void);
void icache_remove(struct inode *inode);
bool icache_put_last(struct inode *inode);
u32 icache_evict_all(struct superblock *sb);

/* inode.c */
void inode_init(void);
static inline void inode_lock(struct inode *inode)
{
	down_write(&inode->lock);
}
/* a second one, below or after the first */
void inode_lock_nested(struct inode *inode, unsigned int subclass);
static inline void inode_unlock(struct inode *inode)
{
	up_write(&inode->lock);
}
static inline void inode_lock_shared(struct inode *inode)
{
	down_read(&inode->lock);
}
static inline void inode_unlock_shared(struct inode *inode)
{
	up_read(&inode->lock);
}
static inline struct inode *path_inode(const struct path *p)
{
	return p->dentry->inode;
}
void inode_update_mtime(struct inode *inode);
int inode_default_setattr(struct inode *inode, const struct kstat *attr, unsigned int mask);
int attr_allowed(struct inode *inode, const struct kstat *attr, unsigned int mask,
		 const struct fs_cred *cred);

/* super.c */
const struct fs_type *fs_type_find(const char *name);
void super_put(struct superblock *sb); /* one mount less */
/*
 * The superblock that lives on source already, one count on mounts taken; NULL: none. ERR_PTR:
 * -EBUSY (another type, or read-only there and writable here)
 */
struct superblock *super_share(const struct fs_type *t, const char *source, u32 flags);
/* mount(2) with MS_REMOUNT: 0, or -EBUSY (files open for writing), -EACCES (device), of the type */
int super_remount(struct superblock *sb, u32 flags, const char *data);
/* Next superblock, held against its end; drops prev. NULL starts and ends. */
struct superblock *super_next(struct superblock *prev);
/* What is dirty of it to its device; wait: all the way to the medium. 0 or -errno */
int super_sync(struct superblock *sb, int wait);
dev_t super_next_dev(void);

/* mount.c */
extern struct rwsem mount_lock;
extern struct list_head mount_list;
static inline void mount_get(struct mount *m)
{
	atomic_inc(&m->refs);
}
void mount_put(struct mount *m);
/* => RCU or dcache_lock */
struct mount *mount_find(const struct mount *parent, const struct dentry *mountpoint);
struct mount *mount_find_get(struct mount *parent, struct dentry *mountpoint);
void path_follow_mounts(struct path *p);
bool path_follow_up(struct path *p);
/* takes sb's first mount over; NULL: no memory */
struct mount *mount_internal(struct superblock *sb);
void mount_rootfs(void);
void mount_lock_read(void);
void mount_unlock_read(void);
static inline int mount_want_write(const struct path *p)
{
	const struct superblock *sb = p->mnt->sb;

	return (p->mnt->flags | sb->flags) & MS_RDONLY || atomic_read(&sb->closing) ? -EROFS : 0;
}
/*
 * Around every change, before mount_want_write looks: a remount to read-only waits for those that
 * have begun. => may nest; never waits itself
 */
static inline void super_change_begin(struct superblock *sb)
{
	atomic_inc(&sb->changing); /* a full barrier: the gate is looked at afterwards */
}
void super_change_wake(void);
static inline void super_change_end(struct superblock *sb)
{
	if (atomic_dec_and_test(&sb->changing) && unlikely(atomic_read(&sb->closing)))
		super_change_wake();
}
/* No change begins any more; those going on have ended. => may sleep, no lock held */
void super_gate_close(struct superblock *sb);
void super_gate_open(struct superblock *sb);

/* pathtext.c */
char *path_text(const struct path *p, const struct path *root, char *buf, size_t n, bool *reached);

/* walk.c */
void fs_root_get(struct path *root); /* the current thread's, referenced */
void fs_cwd_get(struct path *cwd);
void fs_set_path(struct fs_context *fs, struct path *slot, const struct path *p);
enum last_type { LAST_NORM, LAST_ROOT, LAST_DOT, LAST_DOTDOT };
struct last { /* the last component of a path */
	const char *name;
	u32 len, hash;
	enum last_type type;
	bool slash; /* followed by '/': must be a directory */
};
#define MAX_LINKS 40
struct walk {
	struct path path; /* where we are */
	struct path root;
	struct last last;
	struct fs_cred cred;
	struct fs_context *fs;
	u32 flags, seq;
	u32 nr_links, depth, nr_held;
	bool rcu, root_held, must_dir;
	const char *rest[MAX_LINKS];
	struct inode *held_inode[MAX_LINKS]; /* link texts in use */
	char *held_buf[MAX_LINKS];
};
int walk_start(struct walk *w, const struct path *base, const char *name, unsigned int flags,
	       bool rcu);
int walk_to_parent(struct walk *w, const char *name);
int walk_last(struct walk *w, bool follow);
int walk_unlazy(struct walk *w);
void walk_end(struct walk *w);
const char *walk_follow_link(struct walk *w, struct dentry *link);
struct dentry *lookup_locked(struct dentry *dir, const struct last *last);
int walk_parent_ref(struct walk *w, const struct path *base, const char *name, unsigned int flags);
void walk_fail(struct walk *w);

/* change.c */
int may_create(struct inode *dir, const struct fs_cred *cred);
int may_delete(struct inode *dir, struct dentry *victim, const struct fs_cred *cred, int isdir);

/* io.c: files whose pages are in inode->mapping; a file system may mix these with its own */
ssize_t cached_read(struct file *f, void __user *buf, size_t n, u64 *pos);
ssize_t cached_write(struct file *f, const void __user *buf, size_t n, u64 *pos);
struct mapping *cached_mmap(struct file *f, unsigned long vm_flags);
int cached_fsync(struct file *f, int datasync);
/*
 * For a file system on a disk: pages, then attributes, to where they belong; then it writes the
 * blocks these went to, blk_flush, file_wb_error.
 */
int generic_file_fsync(struct file *f, int datasync);
void direct_init(void); /* => threads exist */

/* file.c */
unsigned long files_nr(void);
void file_init(void);
void flock_release(struct file *f);

/* tmpfs.c */
extern struct fs_type tmpfs_type, ramfs_type, rootfs_type;
extern const struct file_ops tmpfs_dir_fops;
struct inode *tmpfs_inode(struct superblock *sb, umode_t mode, dev_t dev);
void tmpfs_init(void);

void chrdev_init(void);
void devmem_init(void);
void showfs_init(void);
void procfs_init(void);

/* showfs.c, used by procfs.c */
struct show_node;
struct inode *show_inode(struct superblock *sb, struct show_node *node);
struct show_node *show_tree_find(const char *path);
struct show_node *show_tree_child(struct show_node *dir, const char *name, u32 len);
bool show_tree_list(struct show_node *dir, struct dir_context *ctx, u64 base);
void show_tree_special(const char *path, u16 mode, const struct file_ops *fops);
void show_tree_symlink(const char *path, const char *target);
void kpage_init(void);
extern const struct inode_ops show_dir_iops;
int mounts_show(struct seq *seq);
int mountinfo_show(struct seq *seq);

/* showfile.c: files whose text a function prints */
struct text_source {
	/* Prints into seq; arg is the inode's private. 0 or -errno. */
	int (*show)(struct seq *seq, void *arg);
	ssize_t (*store)(const char *text, size_t n, void *arg);
};
int text_open(struct file *f, const struct text_source *source, void *arg);
ssize_t text_read(struct file *f, void __user *buf, size_t n, u64 *pos);
ssize_t text_write(struct file *f, const void __user *buf, size_t n, u64 *pos);
s64 text_llseek(struct file *f, s64 off, int whence);
void text_release(struct file *f);

#endif
