/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of a directory against a plain list: same answers, whatever comes and goes. */
// SOURCES: fs/ext2/dirindex.c lib/string.c
#include "host.h"

#include "fs/ext2/dirindex.h"
#include "mm/kmem/slab.h"

static int fail_after = -1; /* allocations until memory is out */

void *kmalloc(size_t bytes, gfp_t gfp)
{
	if (fail_after == 0)
		return NULL;
	if (fail_after > 0)
		fail_after--;
	return gfp & __GFP_ZERO ? calloc(1, bytes) : malloc(bytes);
}

void *krealloc(void *p, size_t bytes, gfp_t gfp)
{
	return fail_after == 0 ? NULL : realloc(p, bytes);
}

void kfree(const void *p)
{
	free((void *)p);
}

#define NAMES 5000
static struct {
	u32 hash;
	u64 pos;
	bool in;
} model[NAMES];

static bool has(struct ext2_dirindex *ix, u32 hash, u64 want)
{
	u32 cursor = 0;
	u64 pos;

	while (ext2_index_next(ix, hash, &cursor, &pos))
		if (pos == want)
			return true;
	return false;
}

HOST_TEST(follows_a_list)
{
	struct ext2_dirindex *ix = ext2_index_new(4);
	u32 in = 0;

	CHECK(ix);
	for (u32 i = 0; i < NAMES; i++) {
		model[i].hash = host_random() % 700; /* many share a hash */
		model[i].pos = (u64)i * 12;
		model[i].in = false;
	}
	for (u32 step = 0; step < 100000; step++) {
		u32 i = host_random() % NAMES;

		if (model[i].in) {
			ext2_index_del(ix, model[i].hash, model[i].pos);
			in--;
		} else {
			CHECK(ext2_index_add(ix, model[i].hash, model[i].pos));
			in++;
		}
		model[i].in = !model[i].in;
		i = host_random() % NAMES;
		CHECK_EQ(has(ix, model[i].hash, model[i].pos), model[i].in);
		CHECK_EQ(ext2_index_nr(ix), in);
	}
	for (u32 i = 0; i < NAMES; i++)
		CHECK_EQ(has(ix, model[i].hash, model[i].pos), model[i].in);
	ext2_index_free(ix);
}

HOST_TEST(finds_room)
{
	static u32 room[300];
	struct ext2_dirindex *ix = ext2_index_new(1);
	u32 blocks = 0;

	for (u32 step = 0; step < 60000; step++) {
		u32 need = 12 + host_random() % 65 * 4, b;
		s64 got;

		if (blocks < 300 && host_random() % 50 == 0) {
			room[blocks] = host_random() % 1025;
			CHECK(ext2_index_room(ix, blocks, room[blocks]));
			blocks++;
		}
		got = ext2_index_find_room(ix, need);
		for (b = 0; b < blocks && room[b] < need; b++)
			;
		CHECK_EQ(got, b < blocks ? (s64)b : -1);
		if (!blocks)
			continue;
		b = got >= 0 ? (u32)got : host_random() % blocks;
		if (host_random() % 2) { /* used, or found to be less than thought */
			room[b] = host_random() % (room[b] + 1);
			CHECK(ext2_index_room(ix, b, room[b]));
		} else { /* something was removed */
			u32 more = host_random() % 1025;

			ext2_index_more_room(ix, b, more);
			room[b] = more > room[b] ? more : room[b];
		}
	}
	ext2_index_free(ix);
}

HOST_TEST(lives_without_memory)
{
	for (int n = 0; n < 8; n++) {
		struct ext2_dirindex *ix;
		u32 i = 0;

		fail_after = n;
		ix = ext2_index_new(3);
		if (ix) {
			while (i < 2000 && ext2_index_add(ix, i * 77, i * 16))
				i++;
			CHECK(n < 3 || i >= 96); /* what fits the first table */
			CHECK_EQ(ext2_index_nr(ix), i);
			for (u32 k = 0; k < i; k++)
				CHECK(has(ix, k * 77, k * 16));
		}
		ext2_index_free(ix);
		fail_after = -1;
	}
}
