/* SPDX-License-Identifier: BSD-2-Clause */
/* pipe.h - pipes and FIFOs. */
#ifndef SYS_PIPE_H
#define SYS_PIPE_H

#include "fs/vfs.h"

extern const struct file_ops fifo_file_ops;
/* Both ends as files; 0 or -errno. flags: O_NONBLOCK, O_CLOEXEC is the caller's. */
int pipe_files(struct file *ends[2], u32 flags);
/* F_SETPIPE_SZ, F_GETPIPE_SZ: new size in bytes or -errno (-EBADF when f is no pipe). */
long pipe_fcntl(struct file *f, unsigned int cmd, u64 arg);
/* shutdown(2) of one direction: this end counts as closed, the file and the pipe stay. */
void pipe_shutdown(struct file *f);
void pipe_init(void);

/* ---- for splice (pipe_splice.c); f is an end of a pipe, open for the direction used ---- */
static inline bool file_is_pipe(const struct file *f)
{
	return f->ops == &fifo_file_ops;
}
/*
 * Waits for bytes and keeps other readers away from them until pipe_peek_end. 1; 0: empty and no
 * writer left; -EAGAIN (nonblock), -ERESTARTSYS.
 */
int pipe_peek_begin(struct file *f, bool nonblock);
/*
 * The bytes behind the first `skip`, as far as they lie together: how many, 0 when there are none.
 */
size_t pipe_peek(struct file *f, size_t skip, const char **data);
/* The first `taken` are gone. */
void pipe_peek_end(struct file *f, size_t taken);
/*
 * Room for some bytes. 0, -EPIPE (with SIGPIPE), -EAGAIN (nonblock), -ERESTARTSYS. Somebody else
 * may fill it first.
 */
int pipe_wait_room(struct file *f, bool nonblock);
/*
 * Puts in what fill(arg, to, n) gives (bytes, 0: no more, -errno), as long as there is room and at
 * most n bytes. => bytes, or the first error when there are none; fill may sleep and fault but
 * takes no lock of files
 */
ssize_t pipe_fill(struct file *f, size_t n, ssize_t (*fill)(void *arg, char *to, size_t n),
		  void *arg);

#endif
