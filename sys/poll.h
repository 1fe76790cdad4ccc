/* SPDX-License-Identifier: BSD-2-Clause */
/* poll.h - what epoll and others share with poll. */
#ifndef SYS_POLL_H
#define SYS_POLL_H

#include "fs/vfs.h"

u32 file_poll(struct file *f, struct poll_table *pt); /* files without ->poll are always ready */

#endif
