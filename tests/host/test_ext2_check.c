/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fs/ext2/check.c lets pass keeps its promises, whatever the bytes were: a good file system is
 * taken, each field by itself can be refused and is named, and a million damaged superblocks,
 * descriptors, bitmaps and directory blocks never lead outside (ASan and UBSan watch).
 */
// SOURCES: fs/ext2/check.c lib/bitmap.c lib/printf.c lib/string.c
#include "host.h"

#include "fs/ext2/format.h"
#include "lib/errno.h"

static char why[200];
static struct ext2_geometry geo;

/* 64 MiB in blocks of 1 KiB: eight groups. */
static struct ext2_super good(void)
{
	struct ext2_super s = { .s_inodes_count = 8 * 2048,
				.s_blocks_count = 65536,
				.s_r_blocks_count = 3276,
				.s_free_blocks_count = 60000,
				.s_free_inodes_count = 16373,
				.s_first_data_block = 1,
				.s_blocks_per_group = 8192,
				.s_frags_per_group = 8192,
				.s_inodes_per_group = 2048,
				.s_magic = EXT2_MAGIC,
				.s_state = EXT2_VALID_FS,
				.s_rev_level = 1,
				.s_first_ino = 11,
				.s_inode_size = 128,
				.s_feature_compat = 0x38,
				.s_feature_incompat = EXT2_INCOMPAT_FILETYPE,
				.s_feature_ro_compat = 3 };

	return s;
}

static int judge(const struct ext2_super *s)
{
	return ext2_check_super(s, 64 << 20, &geo, why, sizeof(why));
}

static struct ext2_group_desc good_group(u32 group)
{
	u32 first = ext2_group_first(&geo, group) + ext2_group_head_blocks(&geo, group, 0);

	return (struct ext2_group_desc){ first, first + 1, first + 2, 7000, 2000, 3, 0, { 0 } };
}

HOST_TEST(takes_a_good_one)
{
	struct ext2_super s = good();

	CHECK_EQ(judge(&s), 0);
	CHECK(geo.groups == 8 && geo.itable_blocks == 256 && geo.block_size == 1024);
	CHECK(geo.ptrs == 256 && geo.desc_blocks == 1 && geo.filetype && geo.sparse);
	CHECK(ext2_group_has_super(&geo, 0) && ext2_group_has_super(&geo, 1) &&
	      !ext2_group_has_super(&geo, 2) && ext2_group_has_super(&geo, 3) &&
	      ext2_group_has_super(&geo, 5) && !ext2_group_has_super(&geo, 6) &&
	      ext2_group_has_super(&geo, 7) && ext2_group_has_super(&geo, 49) &&
	      !ext2_group_has_super(&geo, 15));
	CHECK(geo.max_size > (16ull << 30) && geo.max_size < (17ull << 30));
	for (u32 i = 0; i < 8; i++) {
		struct ext2_group_desc d = good_group(i);

		CHECK_EQ(ext2_check_group(&geo, i, &d, why, sizeof(why)), 0);
	}
}

HOST_TEST(names_what_is_wrong)
{
	static const struct {
		size_t at;
		u32 bytes, value;
		int err;
		const char *word;
	} wrong[] = {
#define W(f, v, e) { offsetof(struct ext2_super, f), sizeof(((struct ext2_super *)0)->f), v, e, #f }
		W(s_magic, 0xef54, -EINVAL),
		W(s_rev_level, 2, -EINVAL),
		W(s_log_block_size, 3, -EINVAL),
		W(s_log_block_size, 77, -EINVAL),
		W(s_log_block_size, 2, -EUCLEAN), /* then the first block does not fit */
		W(s_first_data_block, 0, -EUCLEAN),
		W(s_blocks_count, 0, -EUCLEAN),
		W(s_blocks_count, 65537, -EUCLEAN),
		W(s_blocks_count, U32_MAX, -EUCLEAN),
		W(s_r_blocks_count, 65537, -EUCLEAN),
		W(s_free_blocks_count, 65537, -EUCLEAN),
		W(s_free_inodes_count, 16385, -EUCLEAN),
		W(s_inode_size, 0, -EUCLEAN),
		W(s_inode_size, 192, -EUCLEAN),
		W(s_inode_size, 2048, -EUCLEAN),
		W(s_first_ino, 2, -EUCLEAN),
		W(s_first_ino, 99999, -EUCLEAN),
		W(s_blocks_per_group, 0, -EUCLEAN),
		W(s_blocks_per_group, 8193, -EUCLEAN),
		W(s_inodes_per_group, 0, -EUCLEAN),
		W(s_inodes_per_group, 2047, -EUCLEAN),
		W(s_inodes_per_group, 8200, -EUCLEAN),
		W(s_inodes_count, 16383, -EUCLEAN),
		W(s_feature_incompat, 0x6, -EINVAL),
		W(s_feature_ro_compat, 0x403, -EROFS),
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ext2_super s = good();

		memcpy((char *)&s + wrong[i].at, &wrong[i].value, wrong[i].bytes);
		CHECK_EQ(judge(&s), wrong[i].err);
		/* with another block size it is the first data block that is named */
		if (!(wrong[i].at == offsetof(struct ext2_super, s_log_block_size) &&
		      wrong[i].value == 2))
			CHECK(strstr(why, wrong[i].word));
		CHECK(strlen(why) < sizeof(why) - 1);
	}
}

HOST_TEST(names_features)
{
	struct ext2_super s = good();

	s.s_feature_incompat |= 0x4 | 0x40 | 0x800;
	CHECK_EQ(judge(&s), -EINVAL);
	CHECK(strstr(why, "needs_recovery") && strstr(why, "extent") && strstr(why, "0x800"));
	s = good();
	s.s_rev_level = 0; /* has none, whatever the bytes say */
	s.s_feature_incompat = 0xffff;
	CHECK_EQ(judge(&s), 0);
	CHECK(!geo.filetype && !geo.sparse && geo.inode_size == 128);
}

static void scribble(void *p, size_t n)
{
	static const u32 values[] = { 0, 1, 2, 0x7fffffff, 0x80000000, U32_MAX, 8192, 1024 };

	for (u32 k = 1 + host_random() % 4; k; k--) {
		u32 v = host_random() % 2 ? (u32)host_random() : values[host_random() % 8];
		size_t bytes = 1 + host_random() % 4;

		memcpy((char *)p + host_random() % (n - bytes), &v, bytes);
	}
}

HOST_TEST(damaged_superblocks_keep_the_promises)
{
	u32 taken = 0;

	for (u32 i = 0; i < 120000; i++) {
		struct ext2_super s = good();
		struct ext2_group_desc d;
		u32 group;
		int err;

		scribble(&s, 112);
		err = judge(&s);
		CHECK(err == 0 || err == -EINVAL || err == -EUCLEAN || err == -EROFS);
		if (err && err != -EROFS)
			continue;
		taken++;
		CHECK(geo.groups && geo.blocks_per_group && geo.inodes_per_block && geo.ptrs);
		CHECK((u64)geo.blocks << geo.block_bits <= 64 << 20);
		CHECK_EQ((u64)geo.groups * geo.inodes_per_group, geo.inodes);
		CHECK(geo.blocks_per_group <= 8 * geo.block_size);
		group = host_random() % geo.groups;
		CHECK(ext2_group_first(&geo, group) < geo.blocks);
		CHECK(ext2_group_size(&geo, group) <= geo.blocks_per_group);
		for (u32 k = 0; k < geo.desc_blocks; k++)
			CHECK(ext2_desc_block(&geo, k) < geo.blocks);
		d = good_group(group);
		scribble(&d, sizeof(d));
		if (ext2_check_group(&geo, group, &d, why, sizeof(why)))
			continue;
		CHECK(d.bg_inode_table >= ext2_group_first(&geo, group));
		CHECK(d.bg_inode_table + geo.itable_blocks <=
		      ext2_group_first(&geo, group) + ext2_group_size(&geo, group));
	}
	CHECK(taken > 3000);
}

HOST_TEST(bitmaps)
{
	struct ext2_super s = good();
	struct ext2_group_desc d;
	u32 head;
	/* exactly a block: one bit further and ASan speaks */
	unsigned char *map = malloc(1024);

	CHECK_EQ(judge(&s), 0);
	for (u32 group = 0; group < 8; group++) {
		d = good_group(group);
		head = ext2_group_head_blocks(&geo, group, 0) + 2 + geo.itable_blocks;
		memset(map, 0, 1024);
		for (u32 i = 0; i < head; i++)
			map[i / 8] |= 1 << i % 8;
		d.bg_free_blocks_count = ext2_group_size(&geo, group) - head;
		CHECK_EQ(ext2_check_block_bitmap(&geo, group, &d, map, true, why, sizeof(why)), 0);
		for (u32 i = 0; i < head; i++) {
			map[i / 8] ^= 1 << i % 8;
			CHECK_EQ(ext2_check_block_bitmap(&geo, group, &d, map, false, why,
							 sizeof(why)),
				 -EUCLEAN);
			map[i / 8] ^= 1 << i % 8;
		}
		d.bg_free_blocks_count--;
		CHECK_EQ(ext2_check_block_bitmap(&geo, group, &d, map, true, why, sizeof(why)),
			 -EUCLEAN);
		CHECK(strstr(why, "bg_free_blocks_count"));
	}
	free(map);
}

HOST_TEST(directory_walks_end)
{
	struct ext2_super s = good();
	char *block = malloc(1024);

	CHECK_EQ(judge(&s), 0);
	for (u32 i = 0; i < 60000; i++) {
		u32 off = 0, steps = 0;

		/* a block of entries, then damage */
		while (off < 1024) {
			struct ext2_dirent *de = (struct ext2_dirent *)(block + off);
			u32 len = 1 + host_random() % 40, rec = EXT2_REC_LEN(len);

			if (1024 - off < rec + 12)
				rec = 1024 - off;
			if (rec < EXT2_REC_LEN(len))
				len = rec - 8;
			de->inode = host_random() % 3 ? 1 + host_random() % 16384 : 0;
			de->rec_len = rec;
			de->name_len = len;
			off += rec;
		}
		if (i % 4)
			scribble(block, 1024);
		for (off = 0; off < 1024;) {
			const struct ext2_dirent *de = (const void *)(block + off);
			const char *what = ext2_check_dirent(&geo, block, off);

			if (what) {
				CHECK(i % 4);
				break;
			}
			CHECK(off + de->rec_len <= 1024 && de->rec_len >= 12 && !(de->rec_len & 3));
			CHECK(!de->inode || off + 8 + de->name_len <= 1024);
			off += de->rec_len;
			CHECK(++steps <= 1024 / 12);
		}
	}
	free(block);
}

HOST_TEST(inodes)
{
	struct ext2_inode_raw raw = { .i_mode = 0100644, .i_links_count = 1, .i_size = 5000 };
	struct ext2_super s = good();

	CHECK_EQ(judge(&s), 0);
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), 0);
	raw.i_links_count = 0;
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), -EUCLEAN);
	CHECK(strstr(why, "i_links_count"));
	raw.i_links_count = 1;
	raw.i_size_high = 0x1000;
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), -EUCLEAN);
	CHECK(strstr(why, "i_size"));
	raw = (struct ext2_inode_raw){ .i_mode = 0040755, .i_links_count = 2, .i_size = 1000 };
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), -EUCLEAN);
	raw.i_size = 2048;
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), 0);
	raw.i_file_acl = 1;
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), -EUCLEAN);
	raw = (struct ext2_inode_raw){ .i_mode = 0130644, .i_links_count = 1 };
	CHECK_EQ(ext2_check_inode(&geo, &raw, why, sizeof(why)), -EUCLEAN);
	CHECK(strstr(why, "i_mode"));
}
