// SPDX-License-Identifier: BSD-2-Clause
/* init.c - the boot order of fs/, and what mm/ asks of files through its hook. */
#include "fs/blkdev.h"
#include "fs/ext2/ext2.h"
#include "fs/internal.h"
#include "mm/vm/aspace.h"

static void describe(struct file *f, char *buf, size_t n, dev_t *dev, u64 *ino)
{
	char *text = vfs_path(&f->path, buf, n);

	if (IS_ERR(text))
		strlcpy(buf, "?", n);
	else if (text != buf)
		memmove(buf, text, strlen(text) + 1);
	*dev = f->inode->sb->dev;
	*ino = f->inode->ino;
}

static u32 modes(struct file *f)
{
	return (file_can_read(f) ? VM_READ : 0) | (file_can_write(f) ? VM_WRITE : 0);
}

static int sync_range(struct file *f, u64 from, u64 to)
{
	return vfs_fsync_range(f, from, to, 1);
}

static void accessed(struct file *f)
{
	inode_touch_atime(f->inode);
}

static struct ra_state *readahead_of(struct file *f)
{
	return &f->ra;
}

static void written(struct file *f)
{
	inode_update_mtime(f->inode);
}

static int punch(struct file *f, u64 off, u64 len)
{
	return vfs_fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len);
}

static const struct vm_file_ops ops = {
	.get = file_get,
	.put = file_put,
	.describe = describe,
	.modes = modes,
	.fsync = sync_range,
	.accessed = accessed,
	.readahead = readahead_of,
	.punch = punch,
	.written = written,
};

void fs_start(void)
{
	direct_init();
}

void fs_init(void)
{
	dcache_init();
	inode_init();
	file_init();
	tmpfs_init();
	mount_rootfs();
	chrdev_init();
	blkdev_init();
	devmem_init();
	showfs_init();
	procfs_init();
	ext2_init();
	vm_file_ops = &ops;
}
