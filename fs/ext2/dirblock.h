/* SPDX-License-Identifier: BSD-2-Clause */
/* dirblock.h - one block of a directory, held: what dir.c and dirread.c share. */
#ifndef FS_EXT2_DIRBLOCK_H
#define FS_EXT2_DIRBLOCK_H

#include "fs/ext2/internal.h"

struct dirblock {
	struct page *page;
	char *data;
	u64 pos; /* of the block in the directory */
};

/* The block that holds byte pos. 0 or -errno */
int ext2_dirblock_get(struct inode *dir, u64 pos, struct dirblock *b);
static inline void ext2_dirblock_put(struct dirblock *b)
{
	page_kunmap(b->data);
	page_put(b->page);
}
/* One line about the entry at off; -EUCLEAN. */
int ext2_bad_entry(struct inode *dir, const struct dirblock *b, u32 off, const char *what);
void ext2_index_drop(struct inode *dir);

static inline u32 name_hash(const char *name, u32 len)
{
	u32 h = 0x811c9dc5u;

	for (u32 i = 0; i < len; i++)
		h = (h ^ (u8)name[i]) * 0x01000193u;
	return h ^ h >> 15;
}

static inline u32 dir_blocks(struct inode *dir)
{
	return dir->data.size >> ext2_fs(dir->sb)->geo.block_bits;
}

/* The entry at off, judged; NULL: an error, told. */
static inline struct ext2_dirent *entry(struct inode *dir, const struct dirblock *b, u32 off)
{
	const char *what = ext2_check_dirent(&ext2_fs(dir->sb)->geo, b->data, off);

	if (unlikely(what)) {
		ext2_bad_entry(dir, b, off, what);
		return NULL;
	}
	return (struct ext2_dirent *)(b->data + off);
}

static inline u32 used_bytes(const struct ext2_dirent *de)
{
	return de->inode ? EXT2_REC_LEN(de->name_len) : 0;
}

static inline bool names(const struct ext2_dirent *de, const char *name, u32 len)
{
	return de->inode && de->name_len == len && !memcmp(de->name, name, len);
}

static inline bool is_dots(const struct ext2_dirent *de)
{
	return de->name[0] == '.' &&
	       (de->name_len == 1 || (de->name_len == 2 && de->name[1] == '.'));
}

#endif
