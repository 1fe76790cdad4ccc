// SPDX-License-Identifier: BSD-2-Clause
/*
 * super.c - file system types and superblocks. A superblock counts its mounts; the last one takes
 * the tree of names down and then the superblock. Kernel-wide ones (procfs, devtmpfs) keep one
 * count of their own and never end.
 */
#include "fs/internal.h"
#include "mm/kmem/slab.h"

static struct fs_type *types; /* in order of registration; only grows, at boot */

void fs_type_register(struct fs_type *t)
{
	struct fs_type **p = &types;

	while (*p)
		p = &(*p)->next;
	t->next = NULL;
	smp_store_release(p, t);
}

const struct fs_type *fs_type_find(const char *name)
{
	for (struct fs_type *t = types; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

static int filesystems_show(struct seq *seq)
{
	for (struct fs_type *t = types; t; t = t->next)
		seq_printf(seq, "%s\t%s\n", t->flags & FS_NODEV ? "nodev" : "", t->name);
	return 0;
}
SHOW("/proc/filesystems", 0444, filesystems_show, NULL);

/* Device numbers of file systems without a device: 0:N. */
dev_t super_next_dev(void)
{
	static atomic_t last = ATOMIC_INIT(0);

	return MKDEV(0, (u32)atomic_add_return(1, &last));
}

struct superblock *super_new(const struct fs_type *t, u32 flags, const char *source)
{
	struct superblock *sb = kzalloc(sizeof(*sb), GFP_KERNEL);

	if (!sb)
		return ERR_PTR(-ENOMEM);
	sb->type = t;
	sb->flags = flags;
	sb->dev = super_next_dev();
	list_init(&sb->inodes);
	spin_lock_init(&sb->lock, RANK_LEAF, "superblock");
	strlcpy(sb->source, source && *source ? source : t->name, sizeof(sb->source));
	return sb;
}

/* => 0 or -ENOMEM, then inode is put and the superblock freed */
int super_set_root(struct superblock *sb, struct inode *root)
{
	sb->root = root ? dentry_alloc_root(sb, root) : NULL;
	if (sb->root)
		return 0;
	if (root)
		inode_put(root);
	kfree(sb);
	return -ENOMEM;
}

void super_put(struct superblock *sb)
{
	if (!atomic_dec_and_test(&sb->mounts))
		return;
	if (sb->sync)
		sb->sync(sb, 1);
	dentry_tree_kill(sb->root);
	if (sb->kill)
		sb->kill(sb);
	rcu_barrier(); /* inodes freed after a grace period still name it */
	kfree(sb);
}

bool mount_option(char **data, char **name, char **value)
{
	while (*data && **data) {
		char *word = strsep(data, ",");

		if (!*word)
			continue;
		*name = word;
		*value = strchr(word, '=');
		if (*value)
			*(*value)++ = 0;
		return true;
	}
	return false;
}

int vfs_statfs(const struct path *p, struct kstatfs *out)
{
	struct superblock *sb = p->dentry->sb;
	int err = 0;

	*out = (struct kstatfs){ .bsize = PAGE_SIZE, .namelen = NAME_MAX };
	if (sb->statfs)
		err = sb->statfs(sb, out);
	/* ST_RDONLY 1, NOSUID 2, NODEV 4, NOEXEC 8 as in mount(2); ST_VALID 32; ST_RELATIME 4096 */
	out->flags =
		((p->mnt->flags | sb->flags) & 15) | 32 | (p->mnt->flags & MS_RELATIME ? 4096 : 0);
	return err;
}
