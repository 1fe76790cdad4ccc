// SPDX-License-Identifier: BSD-2-Clause
/*
 * dirread.c - directories: finding a name, reading them in order. What a block looks like, and the
 * rules, are told in dir.c.
 *
 * A small directory is walked; one of more than a block, or with more than a few names, gets an
 * index in memory on the way (dirindex.c).
 *
 * Every entry is judged (ext2_check_dirent) before it is used; one that fails ends the walk, so a
 * damaged directory costs an error and never a loop: an entry is at least 12 bytes long.
 *
 * Locking: the directory's inode->lock, shared for reading it in order, exclusive for looking a
 * name up: that may build the index.
 */
#include "fs/ext2/dirblock.h"

#define INDEX_ENTRIES 24u /* a directory with more of them gets an index */

int ext2_dirblock_get(struct inode *dir, u64 pos, struct dirblock *b)
{
	u32 mask = ext2_fs(dir->sb)->geo.block_size - 1;
	struct page *page = pagecache_get(&dir->data, pos >> PAGE_SHIFT, 0);

	if (IS_ERR_OR_NULL(page))
		return page ? PTR_ERR(page) : -EIO;
	b->page = page;
	b->pos = pos & ~(u64)mask;
	b->data = (char *)page_kmap(page) + offset_in_page(b->pos);
	return 0;
}

noinline int ext2_bad_entry(struct inode *dir, const struct dirblock *b, u32 off, const char *what)
{
	const struct ext2_dirent *de = (const struct ext2_dirent *)(b->data + off);

	return ext2_inode_error(
		dir, "directory entry at %llu: %s (inode %u rec_len %u name_len %u)",
		(unsigned long long)b->pos + off, what, de->inode, de->rec_len, de->name_len);
}

void ext2_slot_put(struct ext2_slot *slot)
{
	if (slot->page)
		page_put(slot->page);
	slot->page = NULL;
}

/* ---- the index ---- */

static int index_block(struct inode *dir, struct ext2_dirindex *ix, u32 nr)
{
	u32 bits = ext2_fs(dir->sb)->geo.block_bits, size = 1u << bits, gap = 0, largest = 0;
	struct dirblock b;
	int err = ext2_dirblock_get(dir, (u64)nr << bits, &b);

	if (err)
		return err;
	for (u32 off = 0; off < size;) {
		struct ext2_dirent *de = entry(dir, &b, off);

		if (!de) {
			err = -EUCLEAN;
			break;
		}
		gap = (de->inode ? 0 : gap) + de->rec_len - used_bytes(de);
		largest = max(largest, gap);
		if (de->inode && !is_dots(de) &&
		    !ext2_index_add(ix, name_hash(de->name, de->name_len), b.pos + off)) {
			err = -ENOMEM;
			break;
		}
		off += de->rec_len;
	}
	if (!err && !ext2_index_room(ix, nr, largest))
		err = -ENOMEM;
	ext2_dirblock_put(&b);
	return err;
}

/* Builds the index. -ENOMEM: do without; other errors are the directory's. */
static int index_build(struct inode *dir)
{
	struct ext2_dirindex *ix = ext2_index_new(dir_blocks(dir));
	int err = ix ? 0 : -ENOMEM;

	for (u32 i = 0; !err && i < dir_blocks(dir); i++) {
		err = index_block(dir, ix, i);
		cond_resched();
	}
	if (err) {
		ext2_index_free(ix);
		return err;
	}
	ext2_info(dir)->index = ix;
	return 0;
}

void ext2_index_drop(struct inode *dir)
{
	ext2_index_free(ext2_info(dir)->index);
	ext2_info(dir)->index = NULL;
}

static int find_indexed(struct inode *dir, const char *name, u32 len, struct ext2_slot *out)
{
	struct ext2_dirindex *ix = ext2_info(dir)->index;
	u32 hash = name_hash(name, len), cursor = 0;
	u64 pos;

	while (ext2_index_next(ix, hash, &cursor, &pos)) {
		struct dirblock b;
		struct ext2_dirent *de;
		int err = ext2_dirblock_get(dir, pos, &b);

		if (err)
			return err;
		de = entry(dir, &b, pos - b.pos);
		if (de && names(de, name, len)) {
			*out = (struct ext2_slot){ b.page, de, pos };
			return 0;
		}
		ext2_dirblock_put(&b);
		if (!de)
			return -EUCLEAN;
	}
	return -ENOENT;
}

/* ---- looking for a name ---- */

static int find_in_block(struct inode *dir, struct dirblock *b, const char *name, u32 len,
			 u32 *seen, struct ext2_slot *out)
{
	u32 size = ext2_fs(dir->sb)->geo.block_size;

	for (u32 off = 0; off < size;) {
		struct ext2_dirent *de = entry(dir, b, off);

		if (!de)
			return -EUCLEAN;
		if (names(de, name, len)) {
			*out = (struct ext2_slot){ b->page, de, b->pos + off };
			return 0;
		}
		++*seen;
		off += de->rec_len;
	}
	return -ENOENT;
}

static int find_walking(struct inode *dir, const char *name, u32 len, u32 *seen,
			struct ext2_slot *out)
{
	u32 blocks = dir_blocks(dir), bits = ext2_fs(dir->sb)->geo.block_bits;
	int err = -ENOENT;

	for (u32 i = 0; i < blocks && err == -ENOENT; i++) {
		struct dirblock b;

		err = ext2_dirblock_get(dir, (u64)i << bits, &b);
		if (err)
			break;
		err = find_in_block(dir, &b, name, len, seen, out);
		if (err)
			ext2_dirblock_put(&b);
		cond_resched();
	}
	return err;
}

int ext2_dir_find(struct inode *dir, const char *name, u32 len, struct ext2_slot *out)
{
	struct ext2_info *info = ext2_info(dir);
	u32 seen = 0;
	int err;

	out->page = NULL;
	if (info->index)
		return find_indexed(dir, name, len, out);
	if (dir_blocks(dir) > 1) {
		err = index_build(dir);
		if (!err)
			return find_indexed(dir, name, len, out);
		if (err != -ENOMEM)
			return err;
	}
	err = find_walking(dir, name, len, &seen, out);
	if (seen > INDEX_ENTRIES && !info->index)
		index_build(dir); /* for the next time; nothing is lost without */
	return err;
}

int ext2_dir_dotdot(struct inode *dir, struct ext2_slot *out)
{
	struct ext2_dirent *de;
	struct dirblock b;
	int err = dir->data.size ? ext2_dirblock_get(dir, 0, &b) : -EIO;
	u32 off;

	out->page = NULL;
	if (err)
		return err;
	de = entry(dir, &b, 0);
	if (de && !names(de, ".", 1)) {
		ext2_bad_entry(dir, &b, 0, "no \".\"");
		de = NULL;
	}
	off = de ? de->rec_len : 0;
	if (de)
		de = off < ext2_fs(dir->sb)->geo.block_size ? entry(dir, &b, off) : NULL;
	if (de && names(de, "..", 2)) {
		*out = (struct ext2_slot){ b.page, de, off };
		return 0;
	}
	if (de)
		ext2_bad_entry(dir, &b, off, "no \"..\"");
	ext2_dirblock_put(&b);
	return -EUCLEAN;
}

int ext2_dir_empty(struct inode *dir)
{
	u32 blocks = dir_blocks(dir), bits = ext2_fs(dir->sb)->geo.block_bits;

	for (u32 i = 0; i < blocks; i++) {
		struct dirblock b;
		int err = ext2_dirblock_get(dir, (u64)i << bits, &b);

		if (err)
			return err;
		err = 1;
		for (u32 off = 0; off < 1u << bits && err == 1;) {
			struct ext2_dirent *de = entry(dir, &b, off);

			if (!de)
				err = -EUCLEAN;
			else if (de->inode && !is_dots(de))
				err = 0;
			else
				off += de->rec_len;
		}
		ext2_dirblock_put(&b);
		if (err != 1)
			return err;
		cond_resched();
	}
	return 1;
}

/* ---- reading it ---- */

/* Entries came and went since: the first that begins at or behind off. => size at the end */
static u32 settle(struct inode *dir, struct dirblock *b, u32 off)
{
	u32 size = ext2_fs(dir->sb)->geo.block_size, at = 0;

	while (at < off && at < size) {
		if (ext2_check_dirent(&ext2_fs(dir->sb)->geo, b->data, at))
			return at; /* told when it is read */
		at += ((struct ext2_dirent *)(b->data + at))->rec_len;
	}
	return at;
}

/* => 1: the block was given to the end; 0: the buffer is full; -errno */
static int emit_block(struct inode *dir, struct dirblock *b, u32 off, struct dir_context *ctx)
{
	u32 size = ext2_fs(dir->sb)->geo.block_size;

	while (off < size) {
		struct ext2_dirent *de = entry(dir, b, off);

		if (!de)
			return -EUCLEAN;
		if (de->inode &&
		    !ctx->emit(ctx, de->name, de->name_len, de->inode,
			       ext2_dt_of_type(ext2_fs(dir->sb)->geo.filetype ? de->file_type : 0)))
			return 0;
		off += de->rec_len;
		ctx->pos = b->pos + off;
	}
	return 1;
}

int ext2_dir_iterate(struct file *f, struct dir_context *ctx)
{
	struct inode *dir = f->inode;
	u32 size = ext2_fs(dir->sb)->geo.block_size;
	u64 begin = ctx->pos;
	int err = 1;

	while (err > 0 && ctx->pos < dir->data.size) {
		struct dirblock b;
		u32 off = ctx->pos & (size - 1);

		err = ext2_dirblock_get(dir, ctx->pos, &b);
		if (err)
			break;
		if (off && f->version != dir->version) {
			off = settle(dir, &b, off);
			ctx->pos = b.pos + off;
		}
		f->version = dir->version;
		err = emit_block(dir, &b, off, ctx);
		ext2_dirblock_put(&b);
		cond_resched();
	}
	/* what was found before the damage is given first */
	return err < 0 && ctx->pos == begin ? err : 0;
}
