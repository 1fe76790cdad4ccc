/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.h - what ext2 puts on a disk, byte for byte (little endian, like this machine), and the
 * pure functions that say whether it may be believed. Nothing here knows of locks or pages, so the
 * host tests feed it damaged images.
 *
 *   | boot | superblock | descriptors | block bitmap | inode bitmap | inode table | data ... |
 *   `------------------------------- group 0 ------------------------------------------------'
 */
#ifndef FS_EXT2_FORMAT_H
#define FS_EXT2_FORMAT_H

#include "lib/types.h"

#define EXT2_MAGIC 0xef53
#define EXT2_ROOT_INO 2u
#define EXT2_SUPER_OFFSET 1024u
#define EXT2_LINK_MAX 32000u
#define EXT2_NAME_LEN 255u
#define EXT2_NDIR                                                                                  \
	12u /* direct block numbers of an inode; then one each of single, double, triple */
#define EXT2_NBLOCKS 15u
#define EXT2_MAX_GROUPS (1u << 18)

/* s_state */
#define EXT2_VALID_FS 1u
#define EXT2_ERROR_FS 2u
/* s_errors */
#define EXT2_ERRORS_CONTINUE 1u
#define EXT2_ERRORS_RO 2u
#define EXT2_ERRORS_PANIC 3u

#define EXT2_INCOMPAT_FILETYPE 0x02u
#define EXT2_INCOMPAT_META_BG 0x10u
#define EXT2_INCOMPAT_KNOWN (EXT2_INCOMPAT_FILETYPE | EXT2_INCOMPAT_META_BG)
#define EXT2_RO_SPARSE_SUPER 0x01u
#define EXT2_RO_LARGE_FILE 0x02u
#define EXT2_RO_BTREE_DIR 0x04u
#define EXT2_RO_KNOWN (EXT2_RO_SPARSE_SUPER | EXT2_RO_LARGE_FILE | EXT2_RO_BTREE_DIR)
#define EXT2_COMPAT_SPARSE_SUPER2 0x200u

struct ext2_super {
	u32 s_inodes_count, s_blocks_count, s_r_blocks_count, s_free_blocks_count;
	u32 s_free_inodes_count, s_first_data_block, s_log_block_size, s_log_frag_size;
	u32 s_blocks_per_group, s_frags_per_group, s_inodes_per_group, s_mtime;
	u32 s_wtime;
	u16 s_mnt_count, s_max_mnt_count, s_magic, s_state, s_errors, s_minor_rev_level;
	u32 s_lastcheck, s_checkinterval, s_creator_os, s_rev_level;
	u16 s_def_resuid, s_def_resgid;
	/* revision 1 */
	u32 s_first_ino;
	u16 s_inode_size, s_block_group_nr;
	u32 s_feature_compat, s_feature_incompat, s_feature_ro_compat;
	u8 s_uuid[16];
	char s_volume_name[16];
	char s_last_mounted[64];
	u32 s_algorithm_usage_bitmap;
	u8 s_prealloc_blocks, s_prealloc_dir_blocks;
	u16 s_reserved_gdt_blocks;
	u8 s_journal_uuid[16];
	u32 s_journal_inum, s_journal_dev, s_last_orphan, s_hash_seed[4];
	u8 s_def_hash_version, s_jnl_backup_type;
	u16 s_desc_size;
	u32 s_default_mount_opts, s_first_meta_bg;
	u32 s_reserved[190];
};
_Static_assert(sizeof(struct ext2_super) == 1024, "the superblock fills two sectors");

struct ext2_group_desc {
	u32 bg_block_bitmap, bg_inode_bitmap, bg_inode_table;
	u16 bg_free_blocks_count, bg_free_inodes_count, bg_used_dirs_count, bg_flags;
	u32 bg_reserved[3];
};
_Static_assert(sizeof(struct ext2_group_desc) == 32, "descriptors are 32 bytes");

/* i_flags */
#define EXT2_SYNC_FL 0x08u
#define EXT2_NOATIME_FL 0x80u
#define EXT2_DIRSYNC_FL 0x10000u
#define EXT2_INDEX_FL 0x1000u
#define EXT2_TOPDIR_FL 0x20000u
/* what a new inode takes over from its directory (with compression and no-tail bits) */
#define EXT2_INHERITED_FL                                                                          \
	(0x1u | 0x2u | 0x4u | EXT2_SYNC_FL | 0x40u | EXT2_NOATIME_FL | 0x400u | 0x8000u |          \
	 EXT2_DIRSYNC_FL)

struct ext2_inode_raw {
	u16 i_mode, i_uid;
	u32 i_size, i_atime, i_ctime, i_mtime, i_dtime;
	u16 i_gid, i_links_count;
	u32 i_blocks; /* of 512 bytes */
	u32 i_flags, i_osd1;
	u32 i_block[EXT2_NBLOCKS];
	u32 i_generation, i_file_acl;
	u32 i_size_high; /* regular files */
	u32 i_faddr;
	u8 i_frag, i_fsize;
	u16 i_pad1, i_uid_high, i_gid_high;
	u32 i_reserved2;
};
_Static_assert(sizeof(struct ext2_inode_raw) == 128, "the old inode is 128 bytes");

struct ext2_dirent {
	u32 inode; /* 0: unused */
	u16 rec_len;
	u8 name_len, file_type;
	char name[];
};
#define EXT2_DIRENT_HEAD 8u
#define EXT2_REC_LEN(name_len) (((name_len) + EXT2_DIRENT_HEAD + 3u) & ~3u)

struct ext2_xattr_header { /* of the block i_file_acl names */
	u32 h_magic, h_refcount, h_blocks, h_hash, h_reserved[4];
};
#define EXT2_XATTR_MAGIC 0xea020000u

/* What follows from a superblock that was found good. */
struct ext2_geometry {
	u32 block_bits, block_size, blocks, first_block, reserved;
	u32 groups, blocks_per_group, inodes_per_group, inodes, first_ino, inode_size;
	u32 inodes_per_block, itable_blocks, desc_per_block, desc_blocks;
	u32 ptrs, ptrs_bits; /* block numbers in an indirect block */
	u32 first_meta_bg; /* with META_BG: descriptor block from which they lie in their groups */
	u64 max_size;	   /* of a file, bytes */
	bool filetype, sparse, sparse2, meta_bg;
	u32 compat, incompat, ro_compat; /* 0 in revision 0 */
};

/*
 * Is this a superblock we can mount from a device of dev_bytes? why: one clause naming the field.
 * => 0: *g filled. -EINVAL: not ext2, or features unknown; -EUCLEAN: damaged; -EROFS: only for
 * reading (*g filled)
 */
int ext2_check_super(const struct ext2_super *s, u64 dev_bytes, struct ext2_geometry *g, char *why,
		     size_t n);
/* 0 or -EUCLEAN. */
int ext2_check_group(const struct ext2_geometry *g, u32 group, const struct ext2_group_desc *d,
		     char *why, size_t n);
/* Do the bitmaps mark the group's own metadata, and do the counts agree? count: 0 ignores it. */
int ext2_check_block_bitmap(const struct ext2_geometry *g, u32 group,
			    const struct ext2_group_desc *d, const void *bitmap, bool count,
			    char *why, size_t n);
int ext2_check_inode_bitmap(const struct ext2_geometry *g, u32 group,
			    const struct ext2_group_desc *d, const void *bitmap, bool count,
			    char *why, size_t n);
/* An inode in use. 0 or -EUCLEAN */
int ext2_check_inode(const struct ext2_geometry *g, const struct ext2_inode_raw *raw, char *why,
		     size_t n);
/* The entry at byte `off` of a directory block. NULL: good; else what is wrong with it */
const char *ext2_check_dirent(const struct ext2_geometry *g, const void *block, u32 off);

/* Block holding descriptor block i, and does group hold a copy of the superblock? */
u32 ext2_desc_block(const struct ext2_geometry *g, u32 i);
bool ext2_group_has_super(const struct ext2_geometry *g, u32 group);
/* Blocks of the group for superblock copy and descriptors, at its beginning. */
u32 ext2_group_head_blocks(const struct ext2_geometry *g, u32 group, u32 reserved_gdt);

static inline u32 ext2_group_first(const struct ext2_geometry *g, u32 group)
{
	return g->first_block + group * g->blocks_per_group;
}
/* Blocks in the group (the last one may be short). */
static inline u32 ext2_group_size(const struct ext2_geometry *g, u32 group)
{
	return group == g->groups - 1 ? g->blocks - ext2_group_first(g, group)
				      : g->blocks_per_group;
}
/* Mode's type bits to the directory entry's and back to getdents' (0: unknown). */
static inline u8 ext2_type_of_mode(u32 mode)
{
	static const u8 types[16] = {
		[1] = 5, [2] = 3, [4] = 2, [6] = 4, [8] = 1, [10] = 7, [12] = 6
	};

	return types[(mode >> 12) & 15];
}
static inline u8 ext2_dt_of_type(u8 type)
{
	static const u8 dt[8] = { 0, 8, 4, 2, 6, 1, 12, 10 };

	return type < 8 ? dt[type] : 0;
}

#endif
