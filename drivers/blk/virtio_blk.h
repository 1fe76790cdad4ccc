/* SPDX-License-Identifier: BSD-2-Clause */
/* virtio_blk.h - disks vda, vdb, ... behind virtio devices. */
#ifndef DRIVERS_BLK_VIRTIO_BLK_H
#define DRIVERS_BLK_VIRTIO_BLK_H

/* Makes a disk of each. => thread context, after blk_init() and virtio_init() */
void virtio_blk_init(void);

#endif
