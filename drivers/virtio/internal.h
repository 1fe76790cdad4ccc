/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of drivers/virtio share among themselves. */
#ifndef DRIVERS_VIRTIO_INTERNAL_H
#define DRIVERS_VIRTIO_INTERNAL_H

#include "drivers/virtio/virtio.h"

#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER 2u
#define STATUS_DRIVER_OK 4u
#define STATUS_FEATURES_OK 8u
#define STATUS_NEEDS_RESET 64u
#define STATUS_FAILED 128u

#define PENDING_CONFIG 0 /* bit numbers of virtio_device.pending */
#define PENDING_LOST 1

/* pci.c: the registers of a modern device. */
bool virtio_pci_match(const struct pci_dev *pci);
int virtio_pci_map(struct virtio_device *dev); /* 0, -ENODEV after a line */
u8 virtio_pci_status(struct virtio_device *dev);
void virtio_pci_set_status(struct virtio_device *dev, u8 status);
/* Status 0 and waits until it reads so. 0 or -EIO after a line. => may sleep */
int virtio_pci_reset(struct virtio_device *dev);
u64 virtio_pci_features(struct virtio_device *dev);
void virtio_pci_accept(struct virtio_device *dev, u64 features);
u32 virtio_pci_queue_size(struct virtio_device *dev, u32 index); /* 0: no such queue */
/* 0 or -EIO after a line */
int virtio_pci_start_queue(struct virtio_device *dev, struct virtqueue *vq, u32 msix_entry);
int virtio_pci_config_vector(struct virtio_device *dev, u32 msix_entry);
#define NO_MSIX_ENTRY 0xffffu

/* device.c: the daemon looks at dev->pending. => any context */
void virtio_wake_daemon(struct virtio_device *dev, u32 bit);
struct virtio_device *virtio_next(struct virtio_device *prev);

/* poll.c */
void virtio_poll_init(void);

#endif
