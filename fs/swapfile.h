/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swapfile.h - block devices and regular files as swap areas (mm/swap): claimed, mapped to the
 * places they lie at, read and written without their file system.
 *
 * Every refusal is one line in the log that names path and reason.
 */
#ifndef FS_SWAPFILE_H
#define FS_SWAPFILE_H

#include "lib/types.h"

struct swapfile;

#define SWAPFILE_DISCARD BIT(0)	      /* the whole area, now */
#define SWAPFILE_DISCARD_PAGES BIT(1) /* places that become free later */
struct swapfile_setup {
	u64 slots;	/* pages, header included */
	const u32 *bad; /* slots that cannot be used */
	u32 nr_bad, flags;
	bool prefer;
	int prio;
};

/*
 * Opens and claims it: from now on nobody writes, shortens, punches, unlinks or mounts it. 0,
 * -EBUSY (mounted, swap already, mapped), -EINVAL (neither device nor a file on one), -EROFS,
 * -ENOMEM, or the error of opening. => may sleep
 */
int swapfile_open(const char *path, struct swapfile **out);
u64 swapfile_pages(const struct swapfile *sf); /* whole pages it has */
bool swapfile_is_device(const struct swapfile *sf);
const char *swapfile_path(const struct swapfile *sf);
int swapfile_read(struct swapfile *sf, void *buf, size_t n, u64 pos); /* 0 or -EIO */
/*
 * It becomes an area and is the area's; on failure it stays the caller's. 0, -EINVAL (holes, no
 * usable slot), -EPERM (no place for one more area), -ENOMEM, -EINTR, -EIO
 */
int swapfile_start(struct swapfile *sf, const struct swapfile_setup *setup);
void swapfile_close(struct swapfile *sf); /* one that was not started */
/*
 * swapoff(2): what it holds comes back to memory, then it is a file again. 0, -EINVAL (no area),
 * the errors of swap_area_remove, or of opening
 */
int swapfile_stop(const char *path);

#endif
