/* SPDX-License-Identifier: BSD-2-Clause */
/* dirindex.h - the index of a directory in memory: see dirindex.c. */
#ifndef FS_EXT2_DIRINDEX_H
#define FS_EXT2_DIRINDEX_H

#include "lib/types.h"

struct ext2_dirindex;
/* Empty, for a directory of so many blocks. NULL: no memory */
struct ext2_dirindex *ext2_index_new(u32 blocks);
void ext2_index_free(struct ext2_dirindex *ix);
/* false: no memory, the index is to be freed */
bool ext2_index_add(struct ext2_dirindex *ix, u32 hash, u64 pos);
void ext2_index_del(struct ext2_dirindex *ix, u32 hash, u64 pos);
/* The next position noted under hash; *cursor starts at 0. false: no more */
bool ext2_index_next(const struct ext2_dirindex *ix, u32 hash, u32 *cursor, u64 *pos);
/* A block has at most `room` bytes together (upper bound). false: no memory */
bool ext2_index_room(struct ext2_dirindex *ix, u32 block, u32 room);
void ext2_index_more_room(struct ext2_dirindex *ix, u32 block, u32 room);
/* First block that may have room for need bytes, or -1. */
s64 ext2_index_find_room(struct ext2_dirindex *ix, u32 need);
u32 ext2_index_nr(const struct ext2_dirindex *ix);

#endif
