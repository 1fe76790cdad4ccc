// SPDX-License-Identifier: BSD-2-Clause
/*
 * showfs.c - one walker for sysfs, tracefs, debugfs and the system-wide half of procfs: it turns
 * the registry of kernel/show.h into directories.
 *
 * Owners register paths, not directories. The first use builds a tree of nodes from all of them,
 * and every later look into a directory adds what came since: entries registered at run time, array
 * entries that grew. Nodes are never freed; a node whose entry says "not present" is just not
 * shown. Each file system is a window on the node of its prefix ("/sys", "/proc", ...), with
 * dentries and inodes of its own.
 *
 * Locking: tree_lock for building; the lists only grow at their tails, so reading them needs no
 * lock afterwards.
 */
#include "fs/internal.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"

enum node_type { NODE_DIR, NODE_FILE, NODE_LINK, NODE_SPECIAL };
struct show_node {
	enum node_type type;
	u16 mode;
	u32 len, order, nr_dirs; /* order: place among its siblings, from 0 */
	u64 ino;
	struct show_node *parent;
	struct show_node *first, *last, *next; /* children, in order of appearance; siblings */
	u32 nr_children;
	struct show_entry *entry; /* NODE_FILE */
	long index;
	const char *target;	     /* NODE_LINK */
	const struct file_ops *fops; /* NODE_SPECIAL */
	char name[];
};

struct array_state { /* how far an entry with an index was expanded */
	struct array_state *next;
	struct show_entry *entry;
	long done;
};

static DEFINE_MUTEX(tree_lock, RANK_SHOW_TREE);
static struct show_node *tree_root;
static struct array_state *arrays;
static struct show_entry *newest_dynamic, *last_static;
static bool static_done;
static u64 last_ino = 1;

static struct show_node *new_node(struct show_node *parent, const char *name, u32 len,
				  enum node_type type)
{
	struct show_node *n = kzalloc(sizeof(*n) + len + 1, GFP_KERNEL);

	if (!n)
		return NULL;
	memcpy(n->name, name, len);
	n->len = len;
	n->type = type;
	n->ino = last_ino++;
	n->parent = parent;
	n->mode = 0555;
	if (!parent)
		return n;
	n->order = parent->nr_children++;
	if (type == NODE_DIR)
		parent->nr_dirs++;
	smp_wmb();
	if (parent->last)
		WRITE_ONCE(parent->last->next, n);
	else
		WRITE_ONCE(parent->first, n);
	parent->last = n;
	return n;
}

static struct show_node *find_child(struct show_node *dir, const char *name, u32 len)
{
	for (struct show_node *c = READ_ONCE(dir->first); c; c = READ_ONCE(c->next))
		if (c->len == len && !memcmp(c->name, name, len))
			return c;
	return NULL;
}

/*
 * The node at an absolute path, made with the directories on the way. NULL: no memory, or a file is
 * in the way.
 */
static struct show_node *make_path(const char *path, enum node_type type, bool *made)
{
	struct show_node *n = tree_root;

	*made = false;
	while (n) {
		const char *end;
		struct show_node *c;

		while (*path == '/')
			path++;
		if (!*path)
			return n;
		end = strchrnul(path, '/');
		c = find_child(n, path, end - path);
		if (!c) {
			c = new_node(n, path, end - path, *end ? NODE_DIR : type);
			*made = !*end;
		} else if (*end && c->type != NODE_DIR) {
			return NULL;
		}
		n = c;
		path = end;
	}
	return NULL;
}

static void add_file(struct show_entry *e, long index, const char *path)
{
	bool made;
	struct show_node *n = make_path(path, NODE_FILE, &made);

	if (!n || !made)
		return; /* the first one of a name wins */
	n->entry = e;
	n->index = index;
	n->mode = e->mode;
}

static int expanded_path(const struct show_entry *e, long i, char *buf, size_t n)
{
	const char *mark = strchr(e->path, '%');

	if (mark[1] == 's')
		return snprintf(buf, n, "%.*s%s%s", (int)(mark - e->path), e->path, e->name(i),
				mark + 2);
	return snprintf(buf, n, "%.*s%ld%s", (int)(mark - e->path), e->path, i, mark + 2);
}

static void expand(struct array_state *a)
{
	long nr = a->entry->nr();
	char path[256];

	for (; a->done < nr; a->done++)
		if (expanded_path(a->entry, a->done, path, sizeof(path)) < (int)sizeof(path))
			add_file(a->entry, a->done, path);
}

static void add_entry(struct show_entry *e)
{
	struct array_state *a;

	if (!e->nr || !strchr(e->path, '%')) {
		add_file(e, 0, e->path);
		return;
	}
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return;
	a->entry = e;
	a->next = arrays;
	arrays = a;
	expand(a);
}

static void add_link(const char *path, const char *target)
{
	bool made;
	struct show_node *n = make_path(path, NODE_LINK, &made);

	if (!n || !made)
		return;
	n->target = target;
	n->mode = 0777;
}

static void add_dir(const char *path)
{
	bool made;

	make_path(path, NODE_DIR, &made);
}

/* A file with operations of its own (binary ones). */
void show_tree_special(const char *path, u16 mode, const struct file_ops *fops)
{
	bool made;
	struct show_node *n;

	mutex_lock(&tree_lock);
	n = make_path(path, NODE_SPECIAL, &made);
	if (n && made) {
		n->fops = fops;
		n->mode = mode;
	}
	mutex_unlock(&tree_lock);
}

void show_tree_symlink(const char *path, const char *target)
{
	mutex_lock(&tree_lock);
	add_link(path, target);
	mutex_unlock(&tree_lock);
}

static void build_static(void)
{
	for (struct show_entry *e = __show_start; e < __show_end; e++) {
		add_entry(e);
		last_static = e;
	}
	for (int i = 0; show_aliases[i][0]; i++)
		add_link(show_aliases[i][0], show_aliases[i][1]);
	static_done = true;
}

/* Adds what came since the last time. */
static void refresh(void)
{
	struct show_entry *head, *e;

	mutex_lock(&tree_lock);
	if (unlikely(!static_done))
		build_static();
	/*
	 * Dynamic entries are pushed at the front: everything before the newest one known is new.
	 */
	head = show_next(last_static);
	for (e = head; e && e != newest_dynamic; e = show_next(e))
		add_entry(e);
	newest_dynamic = head;
	for (struct array_state *a = arrays; a; a = a->next)
		expand(a);
	mutex_unlock(&tree_lock);
}

/*
 * Is there anything behind the node now? A directory is there when one of its files is, or when it
 * has none at all.
 */
static bool node_present(struct show_node *n)
{
	struct show_node *c;

	if (n->type == NODE_FILE)
		return !n->entry->present || n->entry->present(n->index);
	if (n->type != NODE_DIR || !n->first)
		return true;
	for (c = READ_ONCE(n->first); c; c = READ_ONCE(c->next))
		if (node_present(c))
			return true;
	return false;
}

struct show_node *show_tree_find(const char *path)
{
	struct show_node *n = tree_root;

	refresh();
	while (n) {
		const char *end;

		while (*path == '/')
			path++;
		if (!*path)
			return n;
		end = strchrnul(path, '/');
		n = find_child(n, path, end - path);
		path = end;
	}
	return NULL;
}

struct show_node *show_tree_child(struct show_node *dir, const char *name, u32 len)
{
	struct show_node *n;

	refresh();
	n = find_child(dir, name, len);
	return n && node_present(n) ? n : NULL;
}

static unsigned int node_dtype(const struct show_node *n)
{
	return n->type == NODE_DIR ? DT_DIR : n->type == NODE_LINK ? DT_LNK : DT_REG;
}

/* Children from position base on. => false: the buffer is full */
bool show_tree_list(struct show_node *dir, struct dir_context *ctx, u64 base)
{
	if (ctx->pos == base)
		refresh();
	for (struct show_node *c = READ_ONCE(dir->first); c; c = READ_ONCE(c->next)) {
		if (base + c->order < ctx->pos)
			continue;
		if (node_present(c) && !ctx->emit(ctx, c->name, c->len, c->ino, node_dtype(c)))
			return false;
		ctx->pos = base + c->order + 1;
	}
	return true;
}

/* ---- files ---- */

static int node_show(struct seq *seq, void *arg)
{
	struct show_node *n = arg;

	seq->index = n->index;
	return n->entry->show(seq);
}

static ssize_t node_store(const char *text, size_t len, void *arg)
{
	struct show_node *n = arg;

	return n->entry->store(text, len, n->index);
}

static const struct text_source node_sources[4] = {
	/* bit 0: show, bit 1: store */
	{ NULL, NULL },
	{ node_show, NULL },
	{ NULL, node_store },
	{ node_show, node_store },
};

static int node_open(struct inode *inode, struct file *f)
{
	struct show_node *n = inode->private;

	if (!node_present(n))
		return -ENOENT;
	return text_open(f, &node_sources[(n->entry->show ? 1 : 0) + (n->entry->store ? 2 : 0)], n);
}

static const struct file_ops show_file_fops = {
	.open = node_open,
	.read = text_read,
	.write = text_write,
	.llseek = text_llseek,
	.release = text_release,
};

/* ---- directories ---- */

static int dir_iterate(struct file *f, struct dir_context *ctx)
{
	if (dir_emit_dots(f, ctx))
		show_tree_list(f->inode->private, ctx, 2);
	return 0;
}
static const struct file_ops show_dir_fops = { .iterate = dir_iterate };

static int dir_lookup(struct inode *dir, struct dentry *d)
{
	struct show_node *n = show_tree_child(dir->private, d->name, d->len);
	struct inode *inode;

	if (!n) {
		d->flags |= DENTRY_NOCACHE; /* it may come to be */
		return 0;
	}
	inode = show_inode(dir->sb, n);
	if (!inode)
		return -ENOMEM;
	dentry_instantiate(d, inode);
	return 0;
}
const struct inode_ops show_dir_iops = { .lookup = dir_lookup };

static ssize_t link_readlink(struct dentry *d, char *buf, size_t n)
{
	struct show_node *node = d->inode->private;

	n = min(n, strlen(node->target));
	memcpy(buf, node->target, n);
	return n;
}
static const struct inode_ops link_iops = { .readlink = link_readlink };
static const struct inode_ops file_iops;

struct inode *show_inode(struct superblock *sb, struct show_node *n)
{
	static const umode_t types[] = { S_IFDIR, S_IFREG, S_IFLNK, S_IFREG };
	struct inode *inode = inode_new(sb, types[n->type] | n->mode);

	if (!inode)
		return NULL;
	inode->ino = n->ino;
	inode->private = n;
	inode->ops = &file_iops;
	switch (n->type) {
	case NODE_DIR:
		inode->ops = &show_dir_iops;
		inode->fops = &show_dir_fops;
		inode->nlink = 2 + n->nr_dirs;
		break;
	case NODE_FILE:
		inode->fops = &show_file_fops;
		break;
	case NODE_LINK:
		inode->ops = &link_iops;
		break;
	case NODE_SPECIAL:
		inode->fops = n->fops;
		break;
	}
	return inode;
}

/* ---- file systems ---- */

static const struct show_fs {
	const char *prefix;
	u64 magic;
} show_fs[] = { { "/sys", 0x62656572 },
		{ "/sys/kernel/tracing", 0x74726163 },
		{ "/sys/kernel/debug", 0x64626720 } };
static struct fs_type show_types[];
static struct superblock *show_supers[ARRAY_SIZE(show_fs)];
static DEFINE_MUTEX(show_supers_lock, RANK_SHOW_TREE);

static int show_statfs(struct superblock *sb, struct kstatfs *out)
{
	out->type = show_fs[sb->type - show_types].magic;
	return 0;
}

static struct superblock *make_super(const struct fs_type *t, const char *source)
{
	struct show_node *node = show_tree_find(show_fs[t - show_types].prefix);
	struct superblock *sb = node ? super_new(t, 0, source) : ERR_PTR(-ENOMEM);
	int err;

	if (IS_ERR(sb))
		return sb;
	sb->statfs = show_statfs;
	err = super_set_root(sb, show_inode(sb, node));
	if (err)
		return ERR_PTR(err);
	atomic_inc(&sb->mounts); /* there is one, for ever */
	return sb;
}

static struct superblock *show_mount(const struct fs_type *t, const char *source, u32 flags,
				     const char *data)
{
	struct superblock **slot = &show_supers[t - show_types], *sb;

	if (*slot)
		return *slot;
	sb = make_super(t, source);
	if (IS_ERR(sb))
		return sb;
	mutex_lock(&show_supers_lock);
	if (!*slot) {
		*slot = sb;
		sb = NULL;
	}
	mutex_unlock(&show_supers_lock);
	if (sb)
		super_put(sb);
	return *slot;
}

static struct fs_type show_types[] = {
	{ .name = "sysfs", .flags = FS_NODEV, .mount = show_mount },
	{ .name = "tracefs", .flags = FS_NODEV, .mount = show_mount },
	{ .name = "debugfs", .flags = FS_NODEV, .mount = show_mount },
};

void showfs_init(void)
{
	static const char *const dirs[] = {
		"/proc",	  "/sys",	"/sys/kernel/tracing", "/sys/kernel/debug",
		"/sys/fs/cgroup", "/sys/block", "/sys/class",	       "/sys/bus",
		"/sys/module",	  "/sys/dev"
	};

	tree_root = new_node(NULL, "", 0, NODE_DIR);
	if (!tree_root)
		panic("showfs: no memory");
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		add_dir(dirs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(show_types); i++)
		fs_type_register(&show_types[i]);
}
