// SPDX-License-Identifier: BSD-2-Clause
/*
 * procfs.c - /proc: the system-wide files are the registry's (showfs.c), the processes are asked
 * for through proc_ops, which sys/ provides.
 *
 *   /proc/PID/{files of proc_ops, mounts, mountinfo}   text, regenerated at offset 0; or binary,
 *                                                      read in place
 *   /proc/PID/{exe,cwd,root}, fd/N                     magic links: they go to the file itself, not
 *                                                      to a text
 *   /proc/PID/fdinfo/N, task/TID/...
 *
 * Processes come and go, so names below /proc/PID are never kept in the dentry cache: each walk
 * makes fresh dentries that live as long as somebody uses them. What an open file or a current
 * directory still refers to after the process is gone answers -ESRCH or -ENOENT.
 */
#include "arch/uaccess.h"
#include "fs/internal.h"
#include "lib/hash.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"

#define PROC_MAGIC 0x9fa0
#define PID_BASE (1ull << 32) /* positions of processes in /proc: after all system-wide files */
#define BINARY_CHUNK (64 * 1024ul)

enum proc_kind {
	P_PID,
	P_TASK,
	P_TID,
	P_FD,
	P_FDINFO,
	P_FILE,
	P_LINK,
	P_FDLINK,
	P_FDTEXT,
	P_SELF,
	P_SELF_TID
};
struct proc_inode {
	enum proc_kind kind;
	pid_t pid, tid; /* tid: 0 outside of task/ */
	int fd;		/* P_FDLINK, P_FDTEXT; P_LINK: 0 exe, 1 cwd, 2 root */
	const struct proc_file *file;
};

const struct proc_ops *proc_ops;
static struct superblock *proc_super;
static struct show_node *proc_node;
static const struct inode_ops pid_iops, list_iops, magic_iops, self_iops, plain_iops;
static const struct file_ops pid_fops, list_fops, text_fops, binary_fops;

static int own_mounts(struct seq *seq, pid_t pid, pid_t tid)
{
	return mounts_show(seq);
}
static int own_mountinfo(struct seq *seq, pid_t pid, pid_t tid)
{
	return mountinfo_show(seq);
}
static const struct proc_file own_files[] = {
	{ .name = "mounts", .mode = 0444, .show = own_mounts },
	{ .name = "mountinfo", .mode = 0444, .show = own_mountinfo },
};
static const char *const link_names[] = { "exe", "cwd", "root" };
static const struct {
	const char *name;
	enum proc_kind kind;
} sub_dirs[] = { { "fd", P_FD }, { "fdinfo", P_FDINFO }, { "task", P_TASK } };

static inline struct proc_inode *pi_of(const struct inode *inode)
{
	return inode->private;
}
/* Whose state a file shows. */
static inline pid_t subject(const struct proc_inode *pi)
{
	return pi->tid ? pi->tid : pi->pid;
}

static bool alive(const struct proc_inode *pi)
{
	return proc_ops &&
	       (pi->tid ? proc_ops->exists(pi->tid, pi->pid) : proc_ops->exists(pi->pid, 0));
}

static struct inode *proc_inode_new(const struct proc_inode *from, umode_t mode)
{
	struct inode *inode = inode_new(proc_super, mode);
	struct proc_inode *pi = inode ? kmemdup(from, sizeof(*from), GFP_KERNEL) : NULL;

	if (!pi) {
		if (inode)
			inode_put(inode);
		return NULL;
	}
	inode->private = pi;
	/* Stable numbers: by process, kind and descriptor. */
	inode->ino =
		PID_BASE + (((u64)subject(pi) << 20) | (u64)pi->kind << 16 | (pi->fd & 0xffff));
	if (pi->file)
		inode->ino += hash_string(pi->file->name, 0) & 0xffff;
	if (proc_ops && proc_ops->owner && pi->pid)
		proc_ops->owner(pi->pid, &inode->uid, &inode->gid);
	return inode;
}

static void proc_evict(struct inode *inode)
{
	/* The others are nodes of the registry's tree. */
	if (inode->ops == &pid_iops || inode->ops == &list_iops || inode->ops == &magic_iops ||
	    inode->ops == &self_iops || inode->ops == &plain_iops)
		kfree(inode->private);
}

/* A link in fd/ shows how the file was opened. */
static umode_t fd_link_mode(const struct proc_inode *pi)
{
	struct file *f = proc_ops->fd_file ? proc_ops->fd_file(subject(pi), pi->fd) : NULL;
	umode_t mode = S_IFLNK | 0100;

	if (!f)
		return S_IFLNK | 0700;
	if (file_can_read(f))
		mode |= 0400;
	if (file_can_write(f))
		mode |= 0200;
	file_put(f);
	return mode;
}

/* Makes the inode of `from` and gives it to d, which is never hashed. */
static int fill(struct dentry *d, const struct proc_inode *from)
{
	static const struct {
		umode_t mode;
		const struct inode_ops *ops;
		const struct file_ops *fops;
	} table[] = {
		[P_PID] = { S_IFDIR | 0555, &pid_iops, &pid_fops },
		[P_TASK] = { S_IFDIR | 0555, &list_iops, &list_fops },
		[P_TID] = { S_IFDIR | 0555, &pid_iops, &pid_fops },
		[P_FD] = { S_IFDIR | 0500, &list_iops, &list_fops },
		[P_FDINFO] = { S_IFDIR | 0555, &list_iops, &list_fops },
		[P_FILE] = { S_IFREG, &plain_iops, &text_fops },
		[P_LINK] = { S_IFLNK | 0777, &magic_iops, NULL },
		[P_FDLINK] = { S_IFLNK | 0700, &magic_iops, NULL },
		[P_FDTEXT] = { S_IFREG | 0400, &plain_iops, &text_fops },
		[P_SELF] = { S_IFLNK | 0777, &self_iops, NULL },
		[P_SELF_TID] = { S_IFLNK | 0777, &self_iops, NULL },
	};
	umode_t mode = table[from->kind].mode;
	struct inode *inode;

	if (from->kind == P_FILE)
		mode |= from->file->mode;
	if (from->kind == P_FDLINK)
		mode = fd_link_mode(from);
	inode = proc_inode_new(from, mode);
	if (!inode)
		return -ENOMEM;
	if (S_ISDIR(mode))
		inode->nlink = 2;
	inode->ops = table[from->kind].ops;
	inode->fops =
		from->kind == P_FILE && from->file->read ? &binary_fops : table[from->kind].fops;
	dentry_instantiate(d, inode);
	return 0;
}

/* "123" -> 123; -1: not a plain number. */
static int parse_number(const char *name, u32 len)
{
	s64 v = 0;

	if (!len || len > 10 || (name[0] == '0' && len > 1))
		return -1;
	for (u32 i = 0; i < len; i++) {
		if (!isdigit_c(name[i]))
			return -1;
		v = v * 10 + (name[i] - '0');
	}
	return v <= INT_MAX ? (int)v : -1;
}

static bool name_is(const struct dentry *d, const char *name)
{
	return !strcmp(d->name, name);
}

/* ---- /proc ---- */

static int root_lookup(struct inode *dir, struct dentry *d)
{
	struct proc_inode pi = { 0 };
	int pid = parse_number(d->name, d->len);

	if (pid > 0 || name_is(d, "self") || name_is(d, "thread-self")) {
		d->flags |= DENTRY_NOCACHE;
		pi.kind = pid > 0 ? P_PID : name_is(d, "self") ? P_SELF : P_SELF_TID;
		pi.pid = pid > 0 ? pid : 0;
		if (!proc_ops || (pid > 0 && !alive(&pi)))
			return 0;
		return fill(d, &pi);
	}
	return show_dir_iops.lookup(dir, d);
}

static bool emit_number(struct dir_context *ctx, int number, u64 ino, unsigned int type)
{
	char name[16];

	return ctx->emit(ctx, name, snprintf(name, sizeof(name), "%d", number), ino, type);
}

static int root_iterate(struct file *f, struct dir_context *ctx)
{
	if (!dir_emit_dots(f, ctx))
		return 0;
	if (ctx->pos < PID_BASE) {
		if (ctx->pos == 2) {
			if (!ctx->emit(ctx, "self", 4, PID_BASE - 2, DT_LNK))
				return 0;
			ctx->pos = 3;
		}
		if (ctx->pos == 3) {
			if (!ctx->emit(ctx, "thread-self", 11, PID_BASE - 1, DT_LNK))
				return 0;
			ctx->pos = 4;
		}
		if (!show_tree_list(proc_node, ctx, 4))
			return 0;
		ctx->pos = PID_BASE;
	}
	if (!proc_ops)
		return 0;
	for (;;) {
		pid_t pid = proc_ops->next(ctx->pos - PID_BASE, 0);

		if (pid < 0)
			return 0;
		if (!emit_number(ctx, pid, PID_BASE + ((u64)pid << 20), DT_DIR))
			return 0;
		ctx->pos = PID_BASE + pid + 1;
	}
}

static ssize_t self_readlink(struct dentry *d, char *buf, size_t n)
{
	char text[32];
	size_t len;

	if (pi_of(d->inode)->kind == P_SELF)
		len = scnprintf(text, sizeof(text), "%d", proc_ops->self());
	else
		len = scnprintf(text, sizeof(text), "%d/task/%d", proc_ops->self(),
				proc_ops->self_tid());
	len = min(len, n);
	memcpy(buf, text, len);
	return len;
}

static const struct inode_ops root_iops = { .lookup = root_lookup };
static const struct file_ops root_fops = { .iterate = root_iterate };
static const struct inode_ops self_iops = { .readlink = self_readlink };

/* ---- /proc/PID, /proc/PID/task/TID ---- */

static const struct proc_file *find_file(const char *name)
{
	for (size_t i = 0; i < proc_ops->nr_files; i++)
		if (!strcmp(proc_ops->files[i].name, name))
			return &proc_ops->files[i];
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++)
		if (!strcmp(own_files[i].name, name))
			return &own_files[i];
	return NULL;
}

static int pid_lookup(struct inode *dir, struct dentry *d)
{
	struct proc_inode pi = *pi_of(dir);

	d->flags |= DENTRY_NOCACHE;
	if (!alive(&pi))
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(sub_dirs); i++)
		if (name_is(d, sub_dirs[i].name) && !(sub_dirs[i].kind == P_TASK && pi.tid)) {
			pi.kind = sub_dirs[i].kind;
			return fill(d, &pi);
		}
	for (size_t i = 0; i < ARRAY_SIZE(link_names); i++)
		if (name_is(d, link_names[i])) {
			pi.kind = P_LINK;
			pi.fd = i;
			return fill(d, &pi);
		}
	pi.file = find_file(d->name);
	if (!pi.file)
		return 0;
	pi.kind = P_FILE;
	return fill(d, &pi);
}

/*
 * Entries in a fixed order: directories, links, own files, files of proc_ops. => NULL: no such
 * number
 */
static const char *pid_entry(const struct proc_inode *pi, u64 i, unsigned int *type)
{
	u64 nr_dirs = ARRAY_SIZE(sub_dirs) - (pi->tid ? 1 : 0);

	*type = DT_DIR;
	if (i < nr_dirs)
		return sub_dirs[i].name;
	i -= nr_dirs;
	*type = DT_LNK;
	if (i < ARRAY_SIZE(link_names))
		return link_names[i];
	i -= ARRAY_SIZE(link_names);
	*type = DT_REG;
	if (i < ARRAY_SIZE(own_files))
		return own_files[i].name;
	i -= ARRAY_SIZE(own_files);
	return i < proc_ops->nr_files ? proc_ops->files[i].name : NULL;
}

static int pid_iterate(struct file *f, struct dir_context *ctx)
{
	struct proc_inode *pi = pi_of(f->inode);
	const char *name;
	unsigned int type;

	if (!alive(pi))
		return -ENOENT;
	if (!dir_emit_dots(f, ctx))
		return 0;
	while ((name = pid_entry(pi, ctx->pos - 2, &type))) {
		if (!ctx->emit(ctx, name, strlen(name), f->inode->ino + ctx->pos, type))
			return 0;
		ctx->pos++;
	}
	return 0;
}

static const struct inode_ops pid_iops = { .lookup = pid_lookup };
static const struct file_ops pid_fops = { .iterate = pid_iterate };

/* ---- task/, fd/, fdinfo/: directories of numbers ---- */

static int list_next(const struct proc_inode *pi, int from)
{
	if (pi->kind == P_TASK)
		return proc_ops->next(from, pi->pid);
	return proc_ops->next_fd(subject(pi), from);
}

static int list_lookup(struct inode *dir, struct dentry *d)
{
	struct proc_inode pi = *pi_of(dir);
	int n = parse_number(d->name, d->len);

	d->flags |= DENTRY_NOCACHE;
	if (n < 0 || list_next(&pi, n) != n)
		return 0;
	if (pi.kind == P_TASK) {
		pi.kind = P_TID;
		pi.tid = n;
	} else {
		pi.kind = pi.kind == P_FD ? P_FDLINK : P_FDTEXT;
		pi.fd = n;
	}
	return fill(d, &pi);
}

static int list_iterate(struct file *f, struct dir_context *ctx)
{
	struct proc_inode *pi = pi_of(f->inode);
	unsigned int type = pi->kind == P_TASK ? DT_DIR : pi->kind == P_FD ? DT_LNK : DT_REG;

	if (!alive(pi))
		return -ENOENT;
	if (!dir_emit_dots(f, ctx))
		return 0;
	for (;;) {
		int n = list_next(pi, ctx->pos - 2);

		if (n < 0 || !emit_number(ctx, n, f->inode->ino + n + 1, type))
			return 0;
		ctx->pos = n + 3;
	}
}

static int list_permission(struct inode *inode, int mask)
{
	return 1; /* the mode bits decide */
}
static const struct inode_ops list_iops = { .lookup = list_lookup, .permission = list_permission };
static const struct file_ops list_fops = { .iterate = list_iterate };

/* ---- magic links ---- */

static int magic_get_link(struct inode *inode, struct mount **mnt, struct dentry **d)
{
	struct proc_inode *pi = pi_of(inode);
	struct path p;
	int err = proc_ops->link(subject(pi), pi->kind == P_LINK ? pi->fd : 3, pi->fd, &p);

	if (!err) {
		*mnt = p.mnt;
		*d = p.dentry;
	}
	return err;
}

static ssize_t magic_readlink(struct dentry *d, char *buf, size_t n)
{
	struct proc_inode *pi = pi_of(d->inode);

	return proc_ops->link_text(subject(pi), pi->kind == P_LINK ? pi->fd : 3, pi->fd, buf, n);
}
static const struct inode_ops magic_iops = { .readlink = magic_readlink,
					     .get_link = magic_get_link };

/* ---- files ---- */

static int fdinfo_show(struct seq *seq, const struct proc_inode *pi)
{
	struct file *f = proc_ops->fd_file ? proc_ops->fd_file(subject(pi), pi->fd) : NULL;

	if (!f)
		return -ENOENT;
	seq_printf(seq, "pos:\t%lld\nflags:\t0%o\nmnt_id:\t%u\nino:\t%lu\n", (long long)f->pos,
		   f->flags, f->path.mnt->id, (unsigned long)f->inode->ino);
	file_put(f);
	return 0;
}

static int file_show(struct seq *seq, void *arg)
{
	struct proc_inode *pi = arg;

	if (!alive(pi))
		return -ESRCH;
	if (pi->kind == P_FDTEXT)
		return fdinfo_show(seq, pi);
	return pi->file->show(seq, pi->pid, pi->tid);
}

static ssize_t file_store(const char *text, size_t n, void *arg)
{
	struct proc_inode *pi = arg;

	return alive(pi) ? pi->file->store(text, n, pi->pid, pi->tid) : -ESRCH;
}

static const struct text_source sources[4] = {
	/* bit 0: show, bit 1: store */
	{ NULL, NULL },
	{ file_show, NULL },
	{ NULL, file_store },
	{ file_show, file_store },
};

static int file_open(struct inode *inode, struct file *f)
{
	struct proc_inode *pi = pi_of(inode);
	bool reads = pi->kind == P_FDTEXT || pi->file->show,
	     writes = pi->kind == P_FILE && pi->file->store;

	/* The inode, and with it pi, lives as long as the file. */
	return text_open(f, &sources[(reads ? 1 : 0) + (writes ? 2 : 0)], pi);
}
static const struct file_ops text_fops = { .open = file_open,
					   .read = text_read,
					   .write = text_write,
					   .llseek = text_llseek,
					   .release = text_release };
static const struct inode_ops plain_iops;

static ssize_t binary_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct proc_inode *pi = pi_of(f->inode);
	size_t chunk = min(n, BINARY_CHUNK), done = 0;
	char *tmp = kvmalloc(chunk ? chunk : 1, GFP_KERNEL);
	ssize_t ret = 0;

	if (!tmp)
		return -ENOMEM;
	while (done < n) {
		if (!alive(pi)) {
			ret = -ESRCH;
			break;
		}
		ret = pi->file->read(subject(pi), tmp, min(chunk, n - done), *pos);
		if (ret <= 0)
			break;
		if (copy_to_user((char __user *)buf + done, tmp, ret)) {
			ret = -EFAULT;
			break;
		}
		done += ret;
		*pos += ret;
		cond_resched();
	}
	kvfree(tmp);
	return done ? (ssize_t)done : ret;
}

static s64 binary_llseek(struct file *f, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	f->pos = off; /* addresses above 2^63 are positions, too */
	return off;
}
static const struct file_ops binary_fops = { .read = binary_read, .llseek = binary_llseek };

/* ---- the file system ---- */

static int proc_statfs(struct superblock *sb, struct kstatfs *out)
{
	out->type = PROC_MAGIC;
	return 0;
}

static DEFINE_MUTEX(proc_lock, RANK_SHOW_TREE);

static struct superblock *make_super(const struct fs_type *t)
{
	struct show_node *node = show_tree_find("/proc");
	struct superblock *sb = super_new(t, 0, "proc");
	struct inode *root = IS_ERR(sb) || !node ? NULL : show_inode(sb, node);

	if (IS_ERR(sb))
		return sb;
	if (root) {
		root->ops = &root_iops;
		root->fops = &root_fops;
		root->ino = 1;
	}
	sb->statfs = proc_statfs;
	sb->evict_inode = proc_evict;
	if (super_set_root(sb, root))
		return ERR_PTR(-ENOMEM);
	atomic_inc(&sb->mounts);
	proc_node = node;
	return sb;
}

static struct superblock *proc_mount(const struct fs_type *t, const char *source, u32 flags,
				     const char *data)
{
	struct superblock *sb = READ_ONCE(proc_super);

	if (sb)
		return sb;
	sb = make_super(t);
	if (IS_ERR(sb))
		return sb;
	mutex_lock(&proc_lock);
	if (!proc_super) {
		smp_store_release(&proc_super, sb);
		sb = NULL;
	}
	mutex_unlock(&proc_lock);
	if (sb)
		super_put(sb);
	return proc_super;
}
static struct fs_type proc_type = { .name = "proc", .flags = FS_NODEV, .mount = proc_mount };

SHOW("/proc/mounts", 0444, mounts_show, NULL);

void procfs_init(void)
{
	kpage_init();
	fs_type_register(&proc_type);
}
