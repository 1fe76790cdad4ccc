/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partition.h - reading partition tables, pure: MBR with extended partitions, GPT. The caller
 * brings a function that reads blocks, the parser believes nothing it reads.
 */
#ifndef DRIVERS_BLK_PARTITION_H
#define DRIVERS_BLK_PARTITION_H

#include "lib/types.h"

#define PARTITION_SCRATCH 16384u
#define PARTITION_MAX 15u /* numbers 1..15 */
struct partition {
	u32 number;	       /* as Linux counts: MBR 1..4 primary, 5.. logical; GPT entry + 1 */
	u64 start, nr_sectors; /* of 512 bytes */
};
struct partition_source {
	u64 nr_sectors;	   /* of the disk, 512 bytes each */
	u32 logical_block; /* unit of the addresses in the tables */
	/* Reads 512 * n bytes at sector. 0 or -errno. n <= 32 */
	int (*read)(struct partition_source *src, u64 sector, u32 n, void *buf);
	u8 *scratch; /* PARTITION_SCRATCH bytes */
	/* One line about something wrong or remarkable. */
	void (*complain)(struct partition_source *src, const char *line);
	void *private;
};
/*
 * Fills out (PARTITION_MAX entries). => how many; 0: no table; -EIO: could not be read; -EINVAL: a
 * table that cannot be believed (complained about). Overlapping, empty, outside: left out, named.
 */
int partition_scan(struct partition_source *src, struct partition *out);
/* CRC-32 as in GPT (polynomial 0xedb88320, reflected); start with 0. */
u32 partition_crc32(u32 crc, const void *data, size_t n);

#endif
