// SPDX-License-Identifier: BSD-2-Clause
/*
 * check.c - may these bytes from a disk be believed?
 *
 * Problem: an image can hold anything, and every number in it becomes a shift, a division, an index
 * or a block number to write to. Idea: everything is judged once, where it enters, by pure
 * functions; what passes is kept in a struct of our own (struct ext2_geometry) and the rest of the
 * code computes with that alone. A failed judgement names the field and its value.
 *
 * What is promised after ext2_check_super: all divisors are non-zero; blocks and inodes of each
 * group fit its bitmap block; groups * inodes_per_group == inodes; the device holds all blocks; the
 * descriptors fit into the first group. After ext2_check_group: the bitmaps and the inode table lie
 * inside the group, apart from each other and from its head.
 */
#include "fs/ext2/format.h"
#include "lib/bitmap.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/printf.h"

#define BAD(err, ...) (snprintf(why, n, __VA_ARGS__), (err))

static bool power_of(u32 v, u32 base)
{
	while (v > 1 && v % base == 0)
		v /= base;
	return v == 1;
}

bool ext2_group_has_super(const struct ext2_geometry *g, u32 group)
{
	if (group == 0 || !g->sparse)
		return true;
	return group == 1 || power_of(group, 3) || power_of(group, 5) || power_of(group, 7);
}

u32 ext2_desc_block(const struct ext2_geometry *g, u32 i)
{
	u32 group;

	if (!g->meta_bg || i < g->first_meta_bg)
		return g->first_block + 1 + i;
	group = i * g->desc_per_block;
	return ext2_group_first(g, group) + ext2_group_has_super(g, group);
}

u32 ext2_group_head_blocks(const struct ext2_geometry *g, u32 group, u32 reserved_gdt)
{
	u32 meta = group / g->desc_per_block, in_meta = group % g->desc_per_block;
	u32 head = g->sparse2 ? group == 0 : ext2_group_has_super(g, group);

	if (!g->meta_bg || meta < g->first_meta_bg)
		return head ? 1 + (g->meta_bg ? min(g->first_meta_bg, g->desc_blocks)
					      : g->desc_blocks + reserved_gdt)
			    : 0;
	return head + (in_meta == 0 || in_meta == 1 || in_meta == g->desc_per_block - 1);
}

/* The features as words, for the message. */
static void name_features(u32 bits, const char *const names[32], char *to, size_t n)
{
	size_t used = 0;

	*to = 0;
	for (unsigned int i = 0; i < 32; i++) {
		if (!(bits >> i & 1))
			continue;
		if (names[i])
			used += scnprintf(to + used, n - used, "%s%s", used ? " " : "", names[i]);
		else
			used += scnprintf(to + used, n - used, "%s0x%x", used ? " " : "", 1u << i);
	}
}

static int check_features(struct ext2_geometry *g, char *why, size_t n)
{
	static const char *const incompat[32] = {
		"compression", "filetype", "needs_recovery", "journal_dev", "meta_bg",
		NULL,	       "extent",   "64bit",	     "mmp",	    "flex_bg",
		"ea_inode",    NULL,	   "dirdata",	     "csum_seed",   "large_dir",
		"inline_data", "encrypt",  "casefold",
	};
	static const char *const ro[32] = {
		"sparse_super",	 "large_file",	   "btree_dir",	   "huge_file", "uninit_bg",
		"dir_nlink",	 "extra_isize",	   "has_snapshot", "quota",	"bigalloc",
		"metadata_csum", "replica",	   "read-only",	   "project",	NULL,
		"verity",	 "orphan_present",
	};
	u32 unknown = g->incompat & ~EXT2_INCOMPAT_KNOWN;
	char names[160];

	if (unknown) {
		name_features(unknown, incompat, names, sizeof(names));
		return BAD(-EINVAL, "incompatible features: %s (s_feature_incompat 0x%x)", names,
			   g->incompat);
	}
	unknown = g->ro_compat & ~EXT2_RO_KNOWN;
	if (unknown) {
		name_features(unknown, ro, names, sizeof(names));
		return BAD(-EROFS, "features known only for reading: %s (s_feature_ro_compat 0x%x)",
			   names, g->ro_compat);
	}
	return 0;
}

static u64 file_limit(const struct ext2_geometry *g)
{
	u64 p = g->ptrs, blocks = EXT2_NDIR + p + p * p + p * p * p;
	/* i_blocks counts sectors in 32 bits, indirect blocks included */
	u64 sectors = (u64)U32_MAX >> (g->block_bits - 9);
	u64 meta = 1 + (1 + sectors / p) + (1 + sectors / p + sectors / (p * p)) + 1;

	return min(blocks, sectors - min(sectors, meta)) << g->block_bits;
}

static int check_sizes(const struct ext2_super *s, struct ext2_geometry *g, u64 dev_bytes,
		       char *why, size_t n)
{
	if (s->s_log_block_size > 2)
		return BAD(-EINVAL, "s_log_block_size %u: blocks of 1, 2 or 4 KiB only",
			   s->s_log_block_size);
	g->block_bits = 10 + s->s_log_block_size;
	g->block_size = 1u << g->block_bits;
	g->ptrs_bits = g->block_bits - 2;
	g->ptrs = 1u << g->ptrs_bits;
	g->first_block = s->s_first_data_block;
	if (g->first_block != (g->block_bits == 10))
		return BAD(-EUCLEAN, "s_first_data_block %u with blocks of %u bytes",
			   g->first_block, g->block_size);
	g->blocks = s->s_blocks_count;
	if (g->blocks < g->first_block + 4)
		return BAD(-EUCLEAN, "s_blocks_count %u", g->blocks);
	if ((u64)g->blocks << g->block_bits > dev_bytes)
		return BAD(-EUCLEAN, "s_blocks_count %u of %u bytes, the device has %llu bytes",
			   g->blocks, g->block_size, (unsigned long long)dev_bytes);
	g->reserved = s->s_r_blocks_count;
	if (g->reserved > g->blocks)
		return BAD(-EUCLEAN, "s_r_blocks_count %u of %u blocks", g->reserved, g->blocks);
	if (s->s_free_blocks_count > g->blocks)
		return BAD(-EUCLEAN, "s_free_blocks_count %u of %u blocks", s->s_free_blocks_count,
			   g->blocks);
	g->inode_size = s->s_rev_level ? s->s_inode_size : 128;
	if (g->inode_size < 128 || g->inode_size > g->block_size || !is_power_of_2(g->inode_size))
		return BAD(-EUCLEAN, "s_inode_size %u", g->inode_size);
	g->first_ino = s->s_rev_level ? s->s_first_ino : 11;
	if (g->first_ino < 11 || g->first_ino > s->s_inodes_count)
		return BAD(-EUCLEAN, "s_first_ino %u", g->first_ino);
	g->inodes_per_block = g->block_size / g->inode_size;
	return 0;
}

static int check_groups(const struct ext2_super *s, struct ext2_geometry *g, char *why, size_t n)
{
	u32 bits = 8 * g->block_size;

	g->blocks_per_group = s->s_blocks_per_group;
	if (g->blocks_per_group < 8 || g->blocks_per_group > bits)
		return BAD(-EUCLEAN, "s_blocks_per_group %u (a bitmap holds %u)",
			   g->blocks_per_group, bits);
	g->inodes_per_group = s->s_inodes_per_group;
	if (!g->inodes_per_group || g->inodes_per_group > bits ||
	    g->inodes_per_group % g->inodes_per_block)
		return BAD(-EUCLEAN, "s_inodes_per_group %u (a bitmap holds %u, a block %u)",
			   g->inodes_per_group, bits, g->inodes_per_block);
	g->itable_blocks = g->inodes_per_group / g->inodes_per_block;
	if (g->itable_blocks + 3 > g->blocks_per_group)
		return BAD(-EUCLEAN,
			   "s_inodes_per_group %u: the inode table is larger than a group",
			   g->inodes_per_group);
	g->groups = (g->blocks - g->first_block - 1) / g->blocks_per_group + 1;
	if (g->groups > EXT2_MAX_GROUPS)
		return BAD(-EUCLEAN, "s_blocks_per_group %u: %u groups", g->blocks_per_group,
			   g->groups);
	g->inodes = s->s_inodes_count;
	if ((u64)g->groups * g->inodes_per_group != g->inodes)
		return BAD(-EUCLEAN, "s_inodes_count %u, but %u groups of %u", g->inodes, g->groups,
			   g->inodes_per_group);
	if (s->s_free_inodes_count > g->inodes)
		return BAD(-EUCLEAN, "s_free_inodes_count %u of %u inodes", s->s_free_inodes_count,
			   g->inodes);
	g->desc_per_block = g->block_size / sizeof(struct ext2_group_desc);
	g->desc_blocks = (g->groups + g->desc_per_block - 1) / g->desc_per_block;
	if (g->meta_bg && g->first_meta_bg > g->desc_blocks)
		return BAD(-EUCLEAN, "s_first_meta_bg %u of %u descriptor blocks", g->first_meta_bg,
			   g->desc_blocks);
	if (!g->meta_bg && g->desc_blocks + 1 > min(ext2_group_size(g, 0), g->blocks_per_group))
		return BAD(-EUCLEAN, "s_blocks_per_group %u: the descriptors do not fit a group",
			   g->blocks_per_group);
	for (u32 i = 0; i < g->desc_blocks; i++)
		if (ext2_desc_block(g, i) >= g->blocks)
			return BAD(-EUCLEAN, "descriptor block %u lies at %u of %u", i,
				   ext2_desc_block(g, i), g->blocks);
	return 0;
}

int ext2_check_super(const struct ext2_super *s, u64 dev_bytes, struct ext2_geometry *g, char *why,
		     size_t n)
{
	int err, features;

	*g = (struct ext2_geometry){ 0 };
	if (s->s_magic != EXT2_MAGIC)
		return BAD(-EINVAL, "s_magic 0x%04x: no ext2 file system", s->s_magic);
	if (s->s_rev_level > 1)
		return BAD(-EINVAL, "s_rev_level %u", s->s_rev_level);
	if (s->s_rev_level) {
		g->compat = s->s_feature_compat;
		g->incompat = s->s_feature_incompat;
		g->ro_compat = s->s_feature_ro_compat;
	}
	g->filetype = g->incompat & EXT2_INCOMPAT_FILETYPE;
	g->meta_bg = g->incompat & EXT2_INCOMPAT_META_BG;
	g->sparse = g->ro_compat & EXT2_RO_SPARSE_SUPER;
	g->sparse2 = g->compat & EXT2_COMPAT_SPARSE_SUPER2;
	g->first_meta_bg = g->meta_bg ? s->s_first_meta_bg : 0;
	features = check_features(g, why, n);
	if (features == -EINVAL)
		return features;
	err = check_sizes(s, g, dev_bytes, why, n);
	if (!err)
		err = check_groups(s, g, why, n);
	if (err)
		return err;
	g->max_size = file_limit(g);
	return features ? check_features(g, why, n) : 0;
}

static bool inside(u32 first, u32 count, u32 low, u32 high)
{
	return first >= low && first < high && count <= high - first;
}

int ext2_check_group(const struct ext2_geometry *g, u32 group, const struct ext2_group_desc *d,
		     char *why, size_t n)
{
	u32 first = ext2_group_first(g, group), size = ext2_group_size(g, group);
	u32 low = first + ext2_group_head_blocks(g, group, 0), high = first + size;
	u32 table = d->bg_inode_table, table_end = table + g->itable_blocks;

	if (!inside(d->bg_block_bitmap, 1, low, high))
		return BAD(-EUCLEAN, "group %u: bg_block_bitmap %u not in [%u, %u)", group,
			   d->bg_block_bitmap, low, high);
	if (!inside(d->bg_inode_bitmap, 1, low, high))
		return BAD(-EUCLEAN, "group %u: bg_inode_bitmap %u not in [%u, %u)", group,
			   d->bg_inode_bitmap, low, high);
	if (!inside(table, g->itable_blocks, low, high))
		return BAD(-EUCLEAN, "group %u: bg_inode_table %u + %u not in [%u, %u)", group,
			   table, g->itable_blocks, low, high);
	if (d->bg_inode_bitmap == d->bg_block_bitmap)
		return BAD(-EUCLEAN, "group %u: bg_inode_bitmap %u is the block bitmap", group,
			   d->bg_inode_bitmap);
	if (inside(d->bg_block_bitmap, 1, table, table_end))
		return BAD(-EUCLEAN, "group %u: bg_block_bitmap %u in the inode table", group,
			   d->bg_block_bitmap);
	if (inside(d->bg_inode_bitmap, 1, table, table_end))
		return BAD(-EUCLEAN, "group %u: bg_inode_bitmap %u in the inode table", group,
			   d->bg_inode_bitmap);
	if (d->bg_free_blocks_count > size)
		return BAD(-EUCLEAN, "group %u: bg_free_blocks_count %u of %u", group,
			   d->bg_free_blocks_count, size);
	if (d->bg_free_inodes_count > g->inodes_per_group)
		return BAD(-EUCLEAN, "group %u: bg_free_inodes_count %u of %u", group,
			   d->bg_free_inodes_count, g->inodes_per_group);
	if (d->bg_used_dirs_count > g->inodes_per_group)
		return BAD(-EUCLEAN, "group %u: bg_used_dirs_count %u of %u", group,
			   d->bg_used_dirs_count, g->inodes_per_group);
	return 0;
}

int ext2_check_block_bitmap(const struct ext2_geometry *g, u32 group,
			    const struct ext2_group_desc *d, const void *bitmap, bool count,
			    char *why, size_t n)
{
	u32 first = ext2_group_first(g, group), size = ext2_group_size(g, group), bit;
	u32 head = ext2_group_head_blocks(g, group, 0), table = d->bg_inode_table - first;
	u32 free;

	bit = find_next_zero_bit(bitmap, head, 0);
	if (bit < head)
		return BAD(-EUCLEAN, "group %u: block bitmap says block %u is free (descriptors)",
			   group, first + bit);
	bit = d->bg_block_bitmap - first;
	if (find_next_zero_bit(bitmap, bit + 1, bit) == bit)
		return BAD(-EUCLEAN, "group %u: block bitmap says block %u is free (itself)", group,
			   d->bg_block_bitmap);
	bit = d->bg_inode_bitmap - first;
	if (find_next_zero_bit(bitmap, bit + 1, bit) == bit)
		return BAD(-EUCLEAN, "group %u: block bitmap says block %u is free (inode bitmap)",
			   group, d->bg_inode_bitmap);
	bit = find_next_zero_bit(bitmap, table + g->itable_blocks, table);
	if (bit < table + g->itable_blocks)
		return BAD(-EUCLEAN, "group %u: block bitmap says block %u is free (inode table)",
			   group, first + bit);
	free = size - bitmap_weight(bitmap, size);
	if (count && free != d->bg_free_blocks_count)
		return BAD(-EUCLEAN,
			   "group %u: %u blocks free in the bitmap, bg_free_blocks_count %u", group,
			   free, d->bg_free_blocks_count);
	return 0;
}

int ext2_check_inode_bitmap(const struct ext2_geometry *g, u32 group,
			    const struct ext2_group_desc *d, const void *bitmap, bool count,
			    char *why, size_t n)
{
	u32 free = g->inodes_per_group - bitmap_weight(bitmap, g->inodes_per_group);

	if (group == 0) {
		u32 bit = find_next_zero_bit(bitmap, g->first_ino - 1, 0);

		if (bit < g->first_ino - 1)
			return BAD(-EUCLEAN, "inode bitmap says reserved inode %u is free",
				   bit + 1);
	}
	if (count && free != d->bg_free_inodes_count)
		return BAD(-EUCLEAN,
			   "group %u: %u inodes free in the bitmap, bg_free_inodes_count %u", group,
			   free, d->bg_free_inodes_count);
	return 0;
}

int ext2_check_inode(const struct ext2_geometry *g, const struct ext2_inode_raw *raw, char *why,
		     size_t n)
{
	u32 type = raw->i_mode >> 12;
	u64 size = raw->i_size;

	if (type == 8)
		size |= (u64)raw->i_size_high << 32;
	if (type != 1 && type != 2 && type != 4 && type != 6 && type != 8 && type != 10 &&
	    type != 12)
		return BAD(-EUCLEAN, "i_mode 0%o", raw->i_mode);
	if (!raw->i_links_count)
		return BAD(-EUCLEAN, "i_links_count 0, but it has a name");
	if (size > g->max_size)
		return BAD(-EUCLEAN, "i_size %llu", (unsigned long long)size);
	if (type == 4 && (!size || size % g->block_size))
		return BAD(-EUCLEAN, "i_size %llu of a directory", (unsigned long long)size);
	if (type == 10 && (!size || size >= g->block_size))
		return BAD(-EUCLEAN, "i_size %llu of a symbolic link", (unsigned long long)size);
	if (raw->i_file_acl && (raw->i_file_acl <= g->first_block || raw->i_file_acl >= g->blocks))
		return BAD(-EUCLEAN, "i_file_acl %u", raw->i_file_acl);
	return 0;
}

const char *ext2_check_dirent(const struct ext2_geometry *g, const void *block, u32 off)
{
	const struct ext2_dirent *de = (const struct ext2_dirent *)((const char *)block + off);

	if (off + EXT2_DIRENT_HEAD > g->block_size)
		return "rec_len leaves no room for the next entry";
	if (de->rec_len < EXT2_REC_LEN(1))
		return "rec_len too small";
	if (de->rec_len & 3)
		return "rec_len no multiple of four";
	if (de->rec_len > g->block_size - off)
		return "rec_len beyond the block";
	if (de->inode && EXT2_REC_LEN(de->name_len) > de->rec_len)
		return "name_len beyond the entry";
	if (de->inode && !de->name_len)
		return "name_len 0";
	if (de->inode > g->inodes)
		return "inode number too large";
	return NULL;
}
