/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boot_times.h - where the boot's instructions went: named marks of the time stamp counter, shown
 * in
 * /sys/kernel/quire/boot_times with the distance between neighbours.
 */
#ifndef SYS_BOOT_TIMES_H
#define SYS_BOOT_TIMES_H

/*
 * Notes that `what` has just ended. => any context; a string literal; silently full after 32 marks.
 */
void boot_mark(const char *what);

#endif
