/* SPDX-License-Identifier: BSD-2-Clause */
/* loop.h - loop devices: the numbers programs use, and what the other files of fs/ call. */
#ifndef FS_LOOP_H
#define FS_LOOP_H

#include "drivers/blk/blk.h"

struct bdev;
struct file;

#define LOOP_SET_FD 0x4c00
#define LOOP_CLR_FD 0x4c01
#define LOOP_SET_STATUS 0x4c02
#define LOOP_GET_STATUS 0x4c03
#define LOOP_SET_STATUS64 0x4c04
#define LOOP_GET_STATUS64 0x4c05
#define LOOP_SET_CAPACITY 0x4c07
#define LOOP_SET_DIRECT_IO 0x4c08
#define LOOP_CONFIGURE 0x4c0a
#define LOOP_CTL_ADD 0x4c80
#define LOOP_CTL_REMOVE 0x4c81
#define LOOP_CTL_GET_FREE 0x4c82

#define LO_FLAGS_READ_ONLY 1u
#define LO_FLAGS_AUTOCLEAR 4u
#define LO_FLAGS_PARTSCAN 8u

struct loop_info64 {
	u64 lo_device, lo_inode, lo_rdevice, lo_offset, lo_sizelimit;
	u32 lo_number, lo_encrypt_type, lo_encrypt_key_size, lo_flags;
	u8 lo_file_name[64], lo_crypt_name[64], lo_encrypt_key[32];
	u64 lo_init[2];
};
_Static_assert(sizeof(struct loop_info64) == 232, "struct loop_info64");
struct loop_info {
	s32 lo_number;
	u64 lo_device, lo_inode, lo_rdevice;
	s32 lo_offset, lo_encrypt_type, lo_encrypt_key_size, lo_flags;
	char lo_name[64];
	u8 lo_encrypt_key[32];
	u64 lo_init[2];
	char reserved[4];
};
_Static_assert(sizeof(struct loop_info) == 168, "struct loop_info");
struct loop_config {
	u32 fd, block_size;
	struct loop_info64 info;
	u64 reserved[8];
};
_Static_assert(sizeof(struct loop_config) == 304, "struct loop_config");

void loop_init(void); /* => after chrdev_init; nodes in /dev */
/* Somebody opens a device number nobody knows: 0 when there is a loop device now. */
int loop_probe(dev_t dev);
bool disk_is_loop(const struct disk *disk);
void loop_last_close(struct disk *disk);
int loop_ioctl(struct file *f, struct bdev *bdev, unsigned int cmd, unsigned long arg);
/* Set by sys: an open file of the current program, referenced, or NULL. */
extern struct file *(*current_fd_file)(int fd);

#endif
