/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * special.h - files without a name: eventfd, signalfd, timerfd, epoll, socket pairs; SysV shared
 * memory.
 */
#ifndef SYS_SPECIAL_H
#define SYS_SPECIAL_H

void special_init(void); /* caches and hooks of epoll and shared memory */
void epoll_init(void);

#endif
