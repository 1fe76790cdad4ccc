/* SPDX-License-Identifier: BSD-2-Clause */
/* rootfs.h - root=: the first root file system on a disk. */
#ifndef SYS_ROOTFS_H
#define SYS_ROOTFS_H

/*
 * Mounts what root= names over the initramfs and makes it the kernel's root. => thread context,
 * after the disks, before PID 1; without root=, or after a failure (one line), nothing changes
 */
void mount_root(void);

#endif
