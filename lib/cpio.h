/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpio.h - reads a "newc" archive (the initramfs) that lies in memory, entry by entry. Every length
 * is checked against the archive before it is used; the archive may be followed by zero padding and
 * by further archives.
 */
#ifndef LIB_CPIO_H
#define LIB_CPIO_H

#include "lib/types.h"

struct cpio_iter {
	const u8 *data;
	size_t len, pos;
	const char *error; /* what was wrong, after -EINVAL; pos says where */
};
struct cpio_entry {
	/* NUL-terminated, inside the archive, without leading "/" and "./"; "" is the root */
	const char *name;
	const u8 *data; /* file contents, or the target of a symbolic link (not terminated) */
	size_t size;
	u32 ino, mode, uid, gid, nlink, mtime;
	u32 dev_major, dev_minor, rdev_major, rdev_minor;
};

static inline void cpio_open(struct cpio_iter *it, const void *data, size_t len)
{
	*it = (struct cpio_iter){ .data = data, .len = len };
}
/* => 1: *entry is filled. 0: the archive ended well. -EINVAL: damaged, it->error says how. */
int cpio_next(struct cpio_iter *it, struct cpio_entry *entry);
/* True when the bytes look like the start of a newc archive. */
bool cpio_probe(const void *data, size_t len);

#endif
