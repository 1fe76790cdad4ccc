/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_internal.h - a segment of System V shared memory, shared by shm.c and shm_attach.c; the
 * locking is told in shm.c.
 */
#ifndef SYS_SHM_INTERNAL_H
#define SYS_SHM_INTERNAL_H

#include "fs/vfs.h"
#include "kernel/spinlock.h"

#define SHM_DEST 01000 /* mode bit: removed, goes with its last attachment */

struct segment {
	int id, key;
	u32 mode, uid, gid, cuid, cgid;
	size_t bytes;
	struct file *file;
	u32 refs;   /* (shm_lock) */
	u64 nattch; /* (shm_lock) */
	pid_t cpid, lpid;
	s64 atime, dtime, ctime;
};

extern spinlock_t shm_lock;
s64 shm_now(void); /* seconds since 1970 */
/* By id. => a reference or NULL */
struct segment *segment_get(int id);
void segment_put(struct segment *s); /* may sleep */
/* Out of the table. => shm_lock; true: the caller puts the table's reference, unlocked */
bool segment_remove_locked(struct segment *s);
/* want: 4 read, 2 write */
bool segment_allowed(const struct segment *s, u32 want);

#endif
