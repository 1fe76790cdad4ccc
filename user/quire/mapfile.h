/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapfile.h - /sys/kernel/quire/memmap as structures. The file's format is in docs/memmap.md; keys
 * this program does not know are passed over.
 */
#ifndef USER_QUIRE_MAPFILE_H
#define USER_QUIRE_MAPFILE_H

#include "quire.h"

#define MAP_ZONES 40
#define MAP_ORDERS 11

/* The keys of a line, classes first. */
enum map_key {
	K_FREE,
	K_PCP,
	K_INACTIVE_ANON,
	K_ACTIVE_ANON,
	K_INACTIVE_FILE,
	K_ACTIVE_FILE,
	K_UNEVICTABLE,
	K_WAITING,
	K_OFF_LIST,
	K_SLAB,
	K_TABLE,
	K_STACK,
	K_VMALLOC,
	K_KERNEL,
	K_RESERVED,
	K_HOLE,
	NR_CLASSES,
	K_DIRTY = NR_CLASSES,
	K_WRITEBACK,
	K_CACHED,
	K_SHMEM,
	K_SWAPCACHE,
	K_ANON_MAPPED,
	K_FILE_MAPPED,
	K_MLOCKED,
	K_PINNED,
	K_HUGE,
	NR_KEYS
};
struct map_key_info {
	char key[4];
	const char *name;
};
extern const struct map_key_info map_keys[NR_KEYS];

struct map_zone {
	int node;
	char name[16];
	unsigned long start, spanned, present, managed;
	unsigned long first, blocks; /* its blocks: index into map.block, how many */
	unsigned long n[NR_KEYS];    /* sums over them */
	unsigned long free[MAP_ORDERS];
	unsigned long types[5]; /* blocks by type: U R M V I */
};
struct map_block {
	unsigned long nr;
	unsigned short zone;
	char type;
	unsigned short free[MAP_ORDERS];
	unsigned short n[NR_KEYS];
};
struct map {
	unsigned long long time_ns;
	unsigned long block_pages;
	unsigned int nr_zones;
	unsigned long nr_blocks;
	struct map_zone zone[MAP_ZONES];
	struct map_block *block; /* by zone, then by number */
	/* private */
	unsigned long room;
	char *text;
	size_t text_room;
};

#define MAP_FILE "/sys/kernel/quire/memmap"
#define MAP_TYPES "URMVI"
const char *map_type_name(char type);
/*
 * Reads the file (m zeroed before its first use, reused after). => 0; -1 with one line on stderr
 * when there is no such file, or another version of it
 */
int map_read(struct map *m, const char *path);

#endif
