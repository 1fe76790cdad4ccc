// SPDX-License-Identifier: BSD-2-Clause
/*
 * dirindex.c - which entry of a large directory bears a name, and which block has room, without
 * reading it all.
 *
 * Problem: ext2 keeps the names of a directory in no order. Looking for one, and for a place for a
 * new one, walks over all entries: ten thousand creations cost fifty million steps. Idea: on the
 * first use of a directory that is not small, one walk notes for every name (hash, position) in an
 * open hash table, and for every block the largest free piece in it. The table only points: a hit
 * is compared with the entry itself, so it can neither lie nor go out of date unnoticed. It lives
 * in memory alone and goes with the inode; without memory for it the walk remains.
 *
 *   slots   [hash | pos+1] ... linear probing, pos 0 empty, ~0 removed; at most 3/4 in use
 *   room    one number per block, an upper bound: lowered when a walk finds less, raised by removal
 *   first   per class of length: no block before this one has room for it. So a search for room
 *           goes over each block once between two removals.
 *
 * Pure but for the allocation; the directory's lock guards it. Source: own; the idea of a lazily
 * built index over an unordered directory is that of [Dowse01].
 */
#include "fs/ext2/dirindex.h"
#include "fs/ext2/format.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

#define MIN_SLOTS 128u
#define MAX_SLOTS (1u << 19)
#define REMOVED U32_MAX
#define CLASS_SHIFT 4
#define NR_CLASSES ((EXT2_REC_LEN(EXT2_NAME_LEN) >> CLASS_SHIFT) + 1)

struct slot {
	u32 hash, place; /* position / 4 + 1 */
};
struct ext2_dirindex {
	struct slot *slots;
	u16 *room;
	u32 mask, nr, used; /* used: with removed ones */
	u32 blocks, max_blocks;
	u32 first[NR_CLASSES];
};

struct ext2_dirindex *ext2_index_new(u32 blocks)
{
	struct ext2_dirindex *ix = kzalloc(sizeof(*ix), GFP_NOFS);

	if (!ix)
		return NULL;
	ix->mask = MIN_SLOTS - 1;
	ix->max_blocks = max(blocks + 8, 16u);
	ix->slots = kzalloc(MIN_SLOTS * sizeof(struct slot), GFP_NOFS);
	ix->room = ix->max_blocks <= MAX_SLOTS
			   ? kzalloc(ix->max_blocks * sizeof(u16), GFP_NOFS | __GFP_NOWARN)
			   : NULL;
	if (ix->slots && ix->room)
		return ix;
	ext2_index_free(ix);
	return NULL;
}

void ext2_index_free(struct ext2_dirindex *ix)
{
	if (!ix)
		return;
	kfree(ix->slots);
	kfree(ix->room);
	kfree(ix);
}

u32 ext2_index_nr(const struct ext2_dirindex *ix)
{
	return ix->nr;
}

static void put(struct slot *slots, u32 mask, u32 hash, u32 place)
{
	u32 i = hash & mask;

	while (slots[i].place)
		i = (i + 1) & mask;
	slots[i] = (struct slot){ hash, place };
}

/* Twice the size, or the same without the removed ones. */
static bool rehash(struct ext2_dirindex *ix)
{
	u32 slots = ix->mask + 1, next = ix->nr * 2 >= slots ? slots * 2 : slots;
	struct slot *new;

	if (next > MAX_SLOTS)
		return false;
	new = kzalloc(next * sizeof(struct slot), GFP_NOFS | __GFP_NOWARN);
	if (!new)
		return false;
	for (u32 i = 0; i < slots; i++)
		if (ix->slots[i].place && ix->slots[i].place != REMOVED)
			put(new, next - 1, ix->slots[i].hash, ix->slots[i].place);
	kfree(ix->slots);
	ix->slots = new;
	ix->mask = next - 1;
	ix->used = ix->nr;
	return true;
}

bool ext2_index_add(struct ext2_dirindex *ix, u32 hash, u64 pos)
{
	if (pos / 4 + 1 >= REMOVED)
		return false;
	if (ix->used * 4 >= (ix->mask + 1) * 3 && !rehash(ix))
		return false;
	put(ix->slots, ix->mask, hash, pos / 4 + 1);
	ix->nr++;
	ix->used++;
	return true;
}

void ext2_index_del(struct ext2_dirindex *ix, u32 hash, u64 pos)
{
	u32 place = pos / 4 + 1;

	for (u32 i = hash & ix->mask; ix->slots[i].place; i = (i + 1) & ix->mask)
		if (ix->slots[i].place == place) {
			ix->slots[i].place = REMOVED;
			ix->nr--;
			return;
		}
}

bool ext2_index_next(const struct ext2_dirindex *ix, u32 hash, u32 *cursor, u64 *pos)
{
	for (;;) {
		const struct slot *s = &ix->slots[(hash + *cursor) & ix->mask];

		if (!s->place || *cursor > ix->mask)
			return false;
		++*cursor;
		if (s->hash == hash && s->place != REMOVED) {
			*pos = (u64)(s->place - 1) * 4;
			return true;
		}
	}
}

bool ext2_index_room(struct ext2_dirindex *ix, u32 block, u32 room)
{
	if (block >= ix->max_blocks) {
		u32 next = max(block + 1, ix->max_blocks * 2);
		u16 *new = next <= MAX_SLOTS
				   ? krealloc(ix->room, next * sizeof(u16), GFP_NOFS | __GFP_NOWARN)
				   : NULL;

		if (!new)
			return false;
		memset(new + ix->max_blocks, 0, (next - ix->max_blocks) * sizeof(u16));
		ix->room = new;
		ix->max_blocks = next;
	}
	ix->blocks = max(ix->blocks, block + 1);
	ix->room[block] = 0;
	ext2_index_more_room(ix, block, room);
	return true;
}

void ext2_index_more_room(struct ext2_dirindex *ix, u32 block, u32 room)
{
	if (block >= ix->blocks || ix->room[block] >= room)
		return;
	ix->room[block] = room;
	for (u32 class = 0; class < NR_CLASSES && class << CLASS_SHIFT <= room; class ++)
		ix->first[class] = min(ix->first[class], block);
}

s64 ext2_index_find_room(struct ext2_dirindex *ix, u32 need)
{
	u32 class = need >> CLASS_SHIFT, block;

	/* first[class] speaks of the smallest need of the class: a larger one may look further */
	for (block = ix->first[class]; block < ix->blocks; block++) {
		if (ix->room[block] >= need)
			return block;
		if (ix->first[class] == block && ix->room[block] < class << CLASS_SHIFT)
			ix->first[class] = block + 1;
	}
	return -1;
}
