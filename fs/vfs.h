/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vfs.h - files by name: superblocks, inodes, dentries, mounts, open files. Front door of fs/.
 *
 * Locks: (I) inode->lock (rwsem)  (D) dcache_lock / RCU  (M) mount lock  (o) set once  (a) atomic
 */
#ifndef FS_VFS_H
#define FS_VFS_H

#include "fs/fcntl.h"
#include "kernel/rcu.h"
#include "kernel/time.h"
#include "mm/cache/mapping.h"
#include "mm/cache/readahead.h"
#include "sched/mutex.h"

struct inode;
struct dentry;
struct bdev;
struct file;
struct mount;
struct superblock;
struct poll_table;
struct seq;

struct kstat {		       /* filled by getattr; sys converts to struct stat / statx */
	u64 ino, size, blocks; /* blocks of 512 */
	dev_t dev, rdev;
	u32 mode, nlink, uid, gid, blksize;
	struct timespec64 atime, mtime, ctime, btime;
};
struct kstatfs {
	u64 type, bsize, blocks, bfree, bavail, files, ffree, namelen, flags;
};
/* readdir: emit returns false when the buffer is full (the entry is then given again next time). */
struct dir_context {
	bool (*emit)(struct dir_context *ctx, const char *name, size_t len, u64 ino,
		     unsigned int type);
	u64 pos;
};
/*
 * emit never sleeps and never faults (it fills kernel memory), so it may be called under a
 * spinlock.
 */

/* Who asks: file system ids and groups of the current thread. */
struct fs_cred {
	u32 uid, gid, nr_groups;
	const u32 *groups;
};
/*
 * Hook set by sys; real != 0 asks for the real ids (access(2)). The kernel's own threads are root.
 */
extern void (*current_fs_cred)(struct fs_cred *out, int real);

/*
 * NULL = -EPERM / default. Directories are called with dir->lock held for writing (lookup:
 * reading).
 */
struct inode_ops {
	/* Fills d->inode (or leaves it negative). 0 or -errno. */
	int (*lookup)(struct inode *dir, struct dentry *d);
	int (*create)(struct inode *dir, struct dentry *d, umode_t mode);
	int (*mkdir)(struct inode *dir, struct dentry *d, umode_t mode);
	int (*mknod)(struct inode *dir, struct dentry *d, umode_t mode, dev_t dev);
	int (*symlink)(struct inode *dir, struct dentry *d, const char *target);
	int (*link)(struct inode *inode, struct inode *dir, struct dentry *d);
	int (*unlink)(struct inode *dir, struct dentry *d);
	int (*rmdir)(struct inode *dir, struct dentry *d);
	int (*rename)(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n,
		      unsigned int flags);
	/*
	 * Target text into buf; length or -errno. Magic links (/proc/self/exe): get_link jumps to
	 * *mnt, *d (referenced).
	 */
	ssize_t (*readlink)(struct dentry *d, char *buf, size_t n);
	int (*get_link)(struct inode *inode, struct mount **mnt, struct dentry **d);
	/* ATTR_* */
	int (*setattr)(struct inode *inode, const struct kstat *attr, unsigned int mask);
	int (*getattr)(struct inode *inode, struct kstat *st); /* NULL: inode_fill_stat */
	int (*permission)(struct inode *inode, int mask);
	ssize_t (*getxattr)(struct inode *inode, const char *name, void *buf, size_t n);
};
#define ATTR_MODE 1u
#define ATTR_UID 2u
#define ATTR_GID 4u
#define ATTR_SIZE 8u
#define ATTR_ATIME 16u
#define ATTR_MTIME 32u
#define ATTR_CTIME 64u

struct file_ops {
	int (*open)(struct inode *inode, struct file *f);
	void (*release)(struct file *f); /* last close */
	/* pos is in/out. Bytes or -errno. buf is a user pointer. */
	ssize_t (*read)(struct file *f, void __user *buf, size_t n, u64 *pos);
	ssize_t (*write)(struct file *f, const void __user *buf, size_t n, u64 *pos);
	/* NULL: by size; file_no_seek: -ESPIPE */
	s64 (*llseek)(struct file *f, s64 off, int whence);
	int (*iterate)(struct file *f, struct dir_context *ctx);
	long (*ioctl)(struct file *f, unsigned int cmd, unsigned long arg); /* NULL: -ENOTTY */
	u32 (*poll)(struct file *f, struct poll_table *pt);		    /* NULL: always ready */
	/* pages to map, or ERR_PTR(-ENODEV) */
	struct mapping *(*mmap)(struct file *f, unsigned long vm_flags);
	int (*flush)(struct file *f); /* each close(2) */
	int (*fsync)(struct file *f, int datasync);
	int (*fallocate)(struct file *f, int mode, u64 off, u64 len);
	/* O_DIRECT and AIO are possible (else open(O_DIRECT) gives -EINVAL) */
	bool direct;
};

#define INODE_DEAD 1u
struct inode {
	u64 ino;
	umode_t mode;
	u32 uid, gid;
	u32 nlink; /* (I) */
	dev_t rdev;
	u64 version;
	struct superblock *sb;
	const struct inode_ops *ops;
	const struct file_ops *fops; /* NULL on device nodes: looked up when opened */
	/* symbolic link kept in memory: its text, NUL-terminated (o); kfree'd with the inode */
	const char *link;
	struct mapping *mapping; /* &data for regular files; a device's own */
	struct mapping data;
	struct rwsem lock; /* RANK_INODE */
	struct timespec64 atime, mtime, ctime, btime;
	atomic_t refs;
	u32 flags;
	/* clock tick of the last mtime update: at most one per tick (I) */
	u64 mtime_tick;
	atomic_t writers; /* open for writing; < 0: being executed (ETXTBSY) */
	atomic_t dio;	  /* direct transfers under way: direct.c */
	struct list_head sb_node;
	struct rcu_head rcu;
	void *private;		/* file system's, pipe, ... */
	void *info;		/* a disk file system's own part (private may be a FIFO's pipe) */
	struct hlist_node hash; /* by (superblock, ino): inode_get_cached */
};
/*
 * Inodes of a disk, one per number. inode_iget finds the inode, referenced, or makes a new one with
 * INODE_NEW set and lock held for writing: the caller fills it and calls inode_new_done(inode, 0),
 * or inode_new_done(inode, -errno), which takes it away again (others who waited get that error).
 * ERR_PTR(-ENOMEM or the error).
 */
#define INODE_NEW 2u
#define INODE_DYING 4u	/* the last reference is gone */
#define INODE_FAILED 8u /* could not be read; version is the error */
/* A swap area: nobody writes, cuts, maps, unlinks or renames it (swapfile.c). Under its lock. */
#define INODE_SWAPFILE 16u
struct inode *inode_iget(struct superblock *sb, u64 ino);
void inode_new_done(struct inode *inode, int err);
/* Puts a just created inode (inode_new, ino set) into the same table. -EEXIST: a number in use */
int inode_hash_insert(struct inode *inode);
/* Attributes changed: the superblock's file system will be asked to write them (MAPD_*). */
void inode_mark_dirty(struct inode *inode, u32 what);

#define DNAME_INLINE 40
#define DENTRY_MOUNTED 1u /* something is mounted on it */
#define DENTRY_UNHASHED 2u
/* procfs PID entries: never hashed, every walk asks the file system */
#define DENTRY_NOCACHE 4u
#define DENTRY_LRU 8u /* on the list of unused ones (maybe used again meanwhile) */
#define DENTRY_HASHED 16u
struct dentry {
	struct dentry *parent; /* (D) root: itself */
	struct inode *inode;   /* NULL: negative; once set it stays until the dentry dies */
	u32 hash, len, flags;  /* flags under dcache_lock */
	u8 touched;	       /* used since the shrinker looked */
	const char *name;      /* inline_name or kmalloc'd */
	char inline_name[DNAME_INLINE];
	struct dentry *hash_next; /* hash chain (RCU) */
	struct superblock *sb;
	atomic_t refs; /* < 0: dead */
	/* (D) siblings; children newest first (tmpfs lists them) */
	struct list_head child, children;
	struct list_head lru; /* (D) unused ones, for the shrinker */
	union {
		void *private;
		u64 cookie; /* tmpfs: place in its directory, newest largest */
	};
	struct rcu_head rcu;
};

struct superblock {
	const struct fs_type *type;
	struct dentry *root;
	dev_t dev;
	u32 flags; /* MS_RDONLY.. */
	void *private;
	struct list_head inodes;
	spinlock_t lock;
	int (*statfs)(struct superblock *sb, struct kstatfs *out);
	/* nlink 0 and last reference, or cache eviction */
	void (*evict_inode)(struct inode *inode);
	int (*sync)(struct superblock *sb, int wait);
	void (*kill)(struct superblock *sb);
	int (*remount)(struct superblock *sb, u32 flags, const char *data);
	void (*show_options)(struct superblock *sb, struct seq *seq);
	atomic_t mounts;
	/*
	 * changes of names, attributes and sizes going on; a remount to read-only lets none begin
	 */
	atomic_t changing, closing;
	atomic_long_t next_ino;
	char source[64];
	struct bdev *bdev;     /* NULL: not on a disk */
	struct list_head node; /* super.c: all of them */
	u32 users;	       /* super.c: who looks at it besides its mounts */
	bool dying;	       /* super.c: the last mount is gone */
};
struct fs_type {
	const char *name;
	u32 flags; /* FS_NODEV 1 */
	/* A new or shared superblock, or ERR_PTR. source may be NULL. */
	struct superblock *(*mount)(const struct fs_type *t, const char *source, u32 flags,
				    const char *data);
	struct fs_type *next;
};
#define FS_NODEV 1u
void fs_type_register(struct fs_type *t);

struct mount {
	struct superblock *sb;
	struct dentry *root; /* of this mount (bind mounts: any dentry) */
	struct mount *parent;
	struct dentry *mountpoint;
	u32 flags, id;
	struct list_head node; /* all mounts, in order (M) */
	atomic_t refs;
	struct mount *hash_next; /* by (parent, mountpoint) (M, RCU) */
	struct mount *next_dead; /* being freed */
	struct rcu_head rcu;
};
struct path {
	struct mount *mnt;
	struct dentry *dentry;
};
#define MNT_INTERNAL 0x10000000u /* kernel's own: not in the tree, not listed */
void path_get(const struct path *p);
void path_put(const struct path *p);

/*
 * Files come from a type-stable cache: a lockless reader may touch refs of a freed one (and find
 * 0).
 */
struct file {
	struct path path;
	struct inode *inode;
	const struct file_ops *ops;
	atomic_t refs;
	u32 flags; /* O_* */
	u64 pos;   /* under pos_lock for regular files */
	struct mutex pos_lock;
	void *private;
	struct mapping *mapping; /* the inode's; of a block device: the device's (o) */
	struct ra_state ra;
	u64 version;
	int owner;	/* F_SETOWN */
	void *epoll;	/* sys: epoll items that watch this file */
	u8 flock;	/* flock(2) held: LOCK_SH 1, LOCK_EX 2 */
	bool locks_pos; /* regular files and directories: one read or write at a time */
	bool wrote;	/* counted in inode->writers */
	bool excl;	/* opened with O_EXCL: a block device for itself */
	/* a program runs from it: counted negatively in inode->writers */
	bool denies_write;
	errseq_t wb_err; /* errors of writeback told to this file so far; under pos_lock */
};
/* The file position for one call: locked only when somebody else may use it. */
static inline bool file_pos_lock(struct file *f)
{
	if (likely(atomic_read(&f->refs) <= 1 || !f->locks_pos))
		return false;
	mutex_lock(&f->pos_lock);
	return true;
}
static inline void file_pos_unlock(struct file *f, bool locked)
{
	if (unlikely(locked))
		mutex_unlock(&f->pos_lock);
}
static inline bool file_can_read(const struct file *f)
{
	return !(f->flags & (O_WRONLY | O_PATH));
}
static inline bool file_can_write(const struct file *f)
{
	return (f->flags & (O_WRONLY | O_RDWR)) && !(f->flags & O_PATH);
}

/*
 * What path walks need of a process; sys/ keeps one per fs_struct. root and cwd change under lock
 * (write) plus the
 * dcache lock: fs_context_get() copies one safely. A walk by the only user (refs == 1) needs
 * neither.
 */
struct fs_context {
	struct path root, cwd;
	umode_t umask;
	atomic_t refs;
	struct rwsem lock;
};
/* Hook set by sys: the current thread's; the kernel's own before there are processes. */
extern struct fs_context *(*current_fs)(void);
extern struct fs_context kernel_fs;
/* Referenced copies of root and cwd (either may be NULL), of any context. => no sleeping lock */
void fs_context_get(struct fs_context *fs, struct path *root, struct path *cwd);

/* Path walk. dirfd paths: base NULL means cwd/root. */
#define LOOKUP_FOLLOW 1u
#define LOOKUP_DIRECTORY 2u
#define LOOKUP_PARENT 4u /* result is the parent; last component in last[] */
#define LOOKUP_EMPTY 8u
#define LOOKUP_NO_MAGICLINKS 16u
int vfs_lookup(const struct path *base, const char *name, unsigned int flags, struct path *out);
int vfs_lookup_parent(const struct path *base, const char *name, struct path *parent,
		      char last[256], unsigned int *last_flags);
/* open(2) in full: O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW, O_PATH... ERR_PTR. */
struct file *vfs_open(const struct path *base, const char *name, int flags, umode_t mode);
/* takes path refs over; ERR_PTR */
struct file *file_alloc(const struct path *path, const struct file_ops *ops, u32 flags);
/*
 * An anonymous file (pipe, eventfd...): its own inode on an internal superblock. name like "pipe"
 * shows as pipe:[ino]. ERR_PTR.
 */
struct file *anon_file(const char *name, const struct file_ops *ops, void *private, u32 flags,
		       umode_t mode);
static inline void file_get(struct file *f)
{
	atomic_inc(&f->refs);
}
void file_put(struct file *f);
/* Set by sys: called at the last reference when f->epoll is set, before ->release. */
extern void (*file_release_hook)(struct file *f);
/* A position: the end of the file (RWF_APPEND); only for writes. */
#define POS_APPEND (~0ull - 1)
ssize_t vfs_read(struct file *f, void __user *buf, size_t n, u64 *pos);
ssize_t vfs_write(struct file *f, const void __user *buf, size_t n, u64 *pos);
ssize_t vfs_read_kernel(struct file *f, void *buf, size_t n, u64 pos); /* regular files */
/* From kernel memory, regular files with pages (copy_file_range, initramfs); pos moves. */
ssize_t vfs_write_kernel(struct file *f, const void *buf, size_t n, u64 *pos);
s64 vfs_llseek(struct file *f, s64 off, int whence);
int vfs_getattr(const struct path *p, struct kstat *st);
int vfs_setattr(const struct path *p, const struct kstat *attr, unsigned int mask);
int vfs_truncate(struct inode *inode, u64 size);
int vfs_mkdir(const struct path *base, const char *name, umode_t mode);
int vfs_mknod(const struct path *base, const char *name, umode_t mode, dev_t dev);
int vfs_unlink(const struct path *base, const char *name, int rmdir);
int vfs_symlink(const char *target, const struct path *base, const char *name);
int vfs_link(const struct path *ob, const char *o, const struct path *nb, const char *n,
	     unsigned int flags);
int vfs_rename(const struct path *ob, const char *o, const struct path *nb, const char *n,
	       unsigned int flags);
ssize_t vfs_readlink(const struct path *base, const char *name, char *buf, size_t n);
int vfs_access(const struct path *base, const char *name, int mode, unsigned int flags);
int vfs_statfs(const struct path *p, struct kstatfs *out);
/*
 * "/tmp/x (deleted)" as seen from the current root; buf of n bytes; start within buf or
 * ERR_PTR(-ENAMETOOLONG).
 */
char *vfs_path(const struct path *p, char *buf, size_t n);
int vfs_mount(const char *source, const char *dir, const char *type, u32 flags, const char *data);
int vfs_umount(const char *dir, int flags);
int vfs_pivot_root(const char *new_root, const char *put_old);
int vfs_chroot(const char *name);
int vfs_chdir(const struct path *base, const char *name);
int vfs_fallocate(struct file *f, int mode, u64 off, u64 len);
int vfs_fsync(struct file *f, int datasync);
/* Writes back bytes [from, to] and what a reader needs to find them, as fdatasync does. */
int vfs_fsync_range(struct file *f, u64 from, u64 to, int datasync);
/*
 * An error of writeback since f was opened or last asked: told once to each open file. => for the
 * end of every ->fsync
 */
int file_wb_error(struct file *f);
/*
 * Opens what path names (references are taken over, also on failure), as open(2) does after the
 * walk. ERR_PTR.
 */
struct file *vfs_open_path(const struct path *path, int flags);
void vfs_sync_all(int wait);
/* RLIMIT_FSIZE: set by sys, see io.c. */
extern bool fsize_limits;
extern u64 (*current_fsize_limit)(void);
extern void (*fsize_exceeded)(void);
int vfs_syncfs(struct file *f);
/* sync_file_range(2): flags 1 wait before, 2 write, 4 wait after. 0 or -errno */
int vfs_sync_file_range(struct file *f, u64 off, u64 len, unsigned int flags);

/* Permission of the caller (cred NULL: the current thread). MAY_* mask. 0, -EACCES, -EROFS. */
int inode_permission(struct inode *inode, int mask, const struct fs_cred *cred);
bool cred_in_group(const struct fs_cred *c, u32 gid);
/*
 * exec: keeps writers out until the last reference of f is dropped (the address space holds one for
 * as long as the program runs). 0, or -ETXTBSY when somebody has it open for writing.
 */
int file_deny_write(struct file *f);
/*
 * An unlinked tmpfs file of this size on an internal mount: memfd, SysV shm, shared anonymous
 * memory. ERR_PTR.
 */
struct file *shmem_file(const char *name, u64 size, u32 flags);

/* fs/ helpers for file systems */
struct inode *inode_new(struct superblock *sb, umode_t mode); /* refs 1; NULL */
void inode_put(struct inode *inode);
void inode_init_owner(struct inode *inode, const struct inode *dir);
void inode_fill_stat(struct inode *inode, struct kstat *st);
void inode_touch_atime(struct inode *inode);			/* after a read (relatime) */
void inode_touch(struct inode *inode, unsigned int which);	/* ATTR_ATIME|MTIME|CTIME = now */
void dentry_instantiate(struct dentry *d, struct inode *inode); /* takes the reference over */
struct dentry *dentry_alloc(struct dentry *parent, const char *name, size_t len); /* NULL */
/* referenced or NULL */
struct dentry *dentry_lookup_cached(struct dentry *parent, const char *name, size_t len);
void dentry_put(struct dentry *d);
void dentry_drop(struct dentry *d); /* the name is gone: unhash; the last reference frees it */
static inline void dentry_get(struct dentry *d)
{
	atomic_inc(&d->refs);
}
static inline void inode_get(struct inode *inode)
{
	atomic_inc(&inode->refs);
}

u32 dentry_hash(const struct dentry *parent, const char *name, size_t len);
/*
 * Set by sys: what opening a FIFO means (inode->private is its). NULL: -ENXIO. release_inode at the
 * inode's end.
 */
extern const struct file_ops *fifo_ops;
extern void (*fifo_release)(struct inode *inode);
/* flock(2): op LOCK_SH 1, LOCK_EX 2, LOCK_UN 8, | LOCK_NB 4. 0, -EAGAIN, -EINVAL, -ERESTARTSYS. */
int vfs_flock(struct file *f, int op);
extern const struct file_ops pagecache_file_ops; /* read, write, mmap, fsync on inode->mapping */
s64 file_no_seek(struct file *f, s64 off, int whence);

bool dir_emit_dots(struct file *f,
		   struct dir_context *ctx); /* "." at position 0, ".." at 1; false: buffer full */
/* A superblock with its root (root inode taken over) or ERR_PTR(-ENOMEM). */
struct superblock *super_new(const struct fs_type *t, u32 flags, const char *source);
int super_set_root(struct superblock *sb, struct inode *root);
/* Next option of "a=1,b": cuts *data; value NULL without '='. false at the end. */
bool mount_option(char **data, char **name, char **value);

/* Character devices: fops by device number. */
#define CHRDEV_BLOCK 0x80000000u /* in a device number for chrdev_find: a block device */
const struct file_ops *chrdev_find(dev_t dev);
void chrdev_register(u32 major, u32 minor, u32 nr_minors, const struct file_ops *fops,
		     const char *name);
void blkdev_register(u32 major, u32 minor, u32 nr_minors, const struct file_ops *fops,
		     const char *name);
void devfs_symlink(const char *name, const char *target);
/* devtmpfs node, made at boot or later: "tty", "shm/". mode includes S_IFCHR/S_IFBLK/S_IFDIR. */
void devfs_node(const char *name, umode_t mode, dev_t dev);
void devfs_remove(const char *name); /* with the rights of the caller, as devfs_node */
#define MKDEV(ma, mi) ((dev_t)(ma) << 20 | (mi))
#define MAJOR(d) ((d) >> 20)
#define MINOR(d) ((d)&0xfffff)

/* poll: ->poll calls poll_wait for each queue, then returns the mask ready now. */
struct poll_table {
	void (*queue)(struct poll_table *pt, struct wait_queue *q);
};
static inline void poll_wait(struct poll_table *pt, struct wait_queue *q)
{
	if (pt && pt->queue)
		pt->queue(pt, q);
}
#define POLLIN 1u
#define POLLPRI 2u
#define POLLOUT 4u
#define POLLERR 8u
#define POLLHUP 16u
#define POLLNVAL 32u
#define POLLRDNORM 64u
#define POLLWRNORM 256u

/* /proc/PID: procfs walks processes through this (implemented by sys/procinfo.c). */
struct proc_ops {
	/* Next process id >= pid (thread groups; or threads of tgid when tgid != 0), or -1. */
	pid_t (*next)(pid_t pid, pid_t tgid);
	bool (*exists)(pid_t pid, pid_t tgid);
	/* Files of a process: table of names; fill seq. kind says which column. */
	const struct proc_file *files;
	size_t nr_files;
	pid_t (*self)(void);
	pid_t (*self_tid)(void);
	/* Magic links: kind 0 exe, 1 cwd, 2 root, 3 fd/N. Referenced path. 0 or -errno. */
	int (*link)(pid_t pid, int kind, int fd, struct path *out);
	int (*link_text)(pid_t pid, int kind, int fd, char *buf, size_t n); /* pipe:[1], length */
	int (*next_fd)(pid_t pid, int fd);	      /* next open fd >= fd or -1 */
	void (*owner)(pid_t pid, u32 *uid, u32 *gid); /* NULL: root */
	/* referenced, or NULL: fdinfo/N and the mode of fd/N */
	struct file *(*fd_file)(pid_t pid, int fd);
};
struct proc_file {
	const char *name;
	u16 mode;
	int (*show)(struct seq *seq, pid_t pid, pid_t tid);
	ssize_t (*store)(const char *text, size_t n, pid_t pid, pid_t tid);
	/* binary (pagemap, auxv): kernel buffer */
	ssize_t (*read)(pid_t pid, void *buf, size_t n, u64 pos);
};
extern const struct proc_ops *proc_ops;

struct fs_counts { /* objects alive: for tests and for the check after an attack */
	unsigned long dentries, inodes, files;
};
void fs_counts(struct fs_counts *out);
/* caches, rootfs (tmpfs) mounted at /, kernel_fs set, types registered */
void fs_init(void);
/* The threads of fs/. => threads exist, before the first disk is used */
void fs_start(void);
int initramfs_unpack(const void *data, size_t bytes); /* into /; 0 or -errno after a clear line */

#endif
