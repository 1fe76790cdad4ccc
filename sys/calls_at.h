/* SPDX-License-Identifier: BSD-2-Clause */
/* calls_at.h - a path argument with its directory descriptor, as the *at calls take it. */
#ifndef SYS_CALLS_AT_H
#define SYS_CALLS_AT_H

#include "lib/err.h"
#include "sys/files.h"
#include "sys/syscall.h"

struct at {
	char *name;		 /* kernel copy */
	const struct path *base; /* NULL: the current directory (or an absolute name) */
	struct fd fd;
};

/*
 * => 0, or -EFAULT, -ENAMETOOLONG, -ENOENT ("" unless empty_ok), -EBADF, -ENOMEM; then nothing is
 * held.
 */
static inline int at_get(struct at *at, int dirfd, u64 user, bool empty_ok)
{
	at->name = empty_ok ? path_arg_empty(user) : path_arg(user);
	at->base = NULL;
	at->fd = (struct fd){ NULL, false };
	if (IS_ERR(at->name))
		return PTR_ERR(at->name);
	if (dirfd == AT_FDCWD || at->name[0] == '/')
		return 0;
	at->fd = fd_get(dirfd);
	if (!at->fd.file) {
		path_arg_put(at->name);
		return -EBADF;
	}
	at->base = &at->fd.file->path;
	return 0;
}
static inline void at_put(struct at *at)
{
	if (at->fd.file)
		fd_put(at->fd);
	path_arg_put(at->name);
}

#endif
