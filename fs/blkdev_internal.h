/* SPDX-License-Identifier: BSD-2-Clause */
/* blkdev_internal.h - what the files about block devices share with each other only. */
#ifndef FS_BLKDEV_INTERNAL_H
#define FS_BLKDEV_INTERNAL_H

#include "fs/blkdev.h"

/* blkdev.c */
/* The size the device has now, into mapping->size. */
void bdev_update_size(struct bdev *bdev);
bool bdev_read_only(const struct bdev *bdev);
/* Device number behind "/dev/vda1" or "vda1". 0, -ENOENT, -ENOTBLK, -EACCES */
int bdev_path_dev(const char *path, dev_t *dev);

/* bdevmap.c */
extern const struct mapping_ops bdev_mapping_ops;

/*
 * page->private of a page of a device, with PG_private (0 without):
 *   bits 0-7 sectors to be written, 8-15 sectors being written, 16-23 bios of it under way,
 *   24 one of them failed.
 */
#define BP_DIRTY 0xfful
#define BP_FLIGHT_SHIFT 8
#define BP_FLIGHT (0xfful << BP_FLIGHT_SHIFT)
#define BP_BIO (1ul << 16)
#define BP_BIOS (0xfful << 16)
#define BP_ERROR (1ul << 24)

/* blkfile.c */
extern const struct file_ops blkdev_file_ops;
static inline bool file_is_blkdev(const struct file *f)
{
	return f->ops == &blkdev_file_ops;
}

#endif
