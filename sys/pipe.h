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

#endif
