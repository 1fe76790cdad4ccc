// SPDX-License-Identifier: BSD-2-Clause
/*
 * dir.c - directories: blocks of entries, each a number, a length and a name. Changing them;
 * finding and reading is dirread.c.
 *
 *   | ino rec_len len type name...  slack | ino rec_len ... |        one block, filled exactly
 *
 * An entry owns the bytes up to the next one (rec_len). A new name goes into the slack behind an
 * entry or into an unused one (ino 0); an entry never moves, so a position given to a reader of the
 * directory stays good as long as its entry lives. Removal only sets ino to 0; unused neighbours
 * are joined when somebody looks for room. The place filled last is remembered, since its slack
 * usually takes the next name too.
 *
 * A crash may catch a page half way to the disk, so every change ends with one store that makes it
 * visible: the rec_len that gives slack away, or the number that makes an entry used.
 *
 * Locking: the directory's inode->lock, exclusive.
 */
#include "fs/ext2/dirblock.h"

static void block_dirty(struct inode *dir, struct dirblock *b)
{
	pagecache_set_dirty(b->page);
	dir->version++;
}

/* Joins the unused entries behind de (at off) to it. */
static void join_unused(struct inode *dir, struct dirblock *b, struct ext2_dirent *de, u32 off)
{
	u32 size = ext2_fs(dir->sb)->geo.block_size, end = off + de->rec_len;

	while (end < size) {
		struct ext2_dirent *next = (struct ext2_dirent *)(b->data + end);

		if (ext2_check_dirent(&ext2_fs(dir->sb)->geo, b->data, end) || next->inode)
			break;
		end += next->rec_len;
	}
	if (end != off + de->rec_len) {
		de->rec_len = end - off;
		block_dirty(dir, b);
		ext2_info(dir)->hint_room = 0;
	}
}

/* An entry with need bytes of room. => 0: *off; -ENOSPC: *largest is what there is; -EUCLEAN */
static int room_in_block(struct inode *dir, struct dirblock *b, u32 need, u32 *off, u32 *largest)
{
	u32 size = ext2_fs(dir->sb)->geo.block_size;

	*largest = 0;
	for (*off = 0; *off < size;) {
		struct ext2_dirent *de = entry(dir, b, *off);
		u32 room;

		if (!de)
			return -EUCLEAN;
		join_unused(dir, b, de, *off);
		room = de->rec_len - used_bytes(de);
		if (room >= need)
			return 0;
		*largest = max(*largest, room);
		*off += de->rec_len;
	}
	return -ENOSPC;
}

/* Writes the name into the room of the entry at off. => its position */
static u64 fill_room(struct inode *dir, struct dirblock *b, u32 off, const char *name, u32 len,
		     struct inode *inode)
{
	struct ext2_info *info = ext2_info(dir);
	struct ext2_dirent *old = (struct ext2_dirent *)(b->data + off), *de;
	u32 used = used_bytes(old);

	de = (struct ext2_dirent *)(b->data + off + used);
	de->name_len = len;
	de->file_type = ext2_fs(dir->sb)->geo.filetype ? ext2_type_of_mode(inode->mode) : 0;
	memcpy(de->name, name, len);
	if (used) {
		de->rec_len = old->rec_len - used;
		de->inode = inode->ino;
		smp_wmb();
		WRITE_ONCE(old->rec_len, used);
	} else {
		smp_wmb();
		WRITE_ONCE(de->inode, (u32)inode->ino);
	}
	block_dirty(dir, b);
	info->hint_pos = b->pos + off + used;
	info->hint_room = de->rec_len - EXT2_REC_LEN(len);
	return info->hint_pos;
}

/* A new block at the end: one unused entry. */
static int grow(struct inode *dir, struct dirblock *b)
{
	struct ext2_fs *fs = ext2_fs(dir->sb);
	u32 size = fs->geo.block_size;
	u64 pos = dir->data.size;
	int err;

	if (pos + size > S32_MAX)
		return -EFBIG;
	err = ext2_dirblock_get(dir, pos, b);
	if (err)
		return err;
	memset(b->data, 0, size);
	((struct ext2_dirent *)b->data)->rec_len = size;
	err = mpage_write_begin(&fs->mpage, &dir->data, b->page, pos, size, NULL);
	if (err) {
		memset(b->data, 0, size);
		ext2_dirblock_put(b);
		return err;
	}
	WRITE_ONCE(dir->data.size, pos + size);
	block_dirty(dir, b);
	ext2_mark(dir, EXT2_MAP);
	if (ext2_info(dir)->index &&
	    !ext2_index_room(ext2_info(dir)->index, pos >> fs->geo.block_bits, size))
		ext2_index_drop(dir);
	return 0;
}

/* Finds or makes room. => 0: *b held, *off; or -errno */
static int find_room(struct inode *dir, u32 need, struct dirblock *b, u32 *off)
{
	struct ext2_info *info = ext2_info(dir);
	u32 bits = ext2_fs(dir->sb)->geo.block_bits, blocks = dir_blocks(dir), largest;
	s64 nr = 0;
	int err;

	if (info->hint_room >= need && info->hint_pos < dir->data.size) {
		struct ext2_dirent *de;

		err = ext2_dirblock_get(dir, info->hint_pos, b);
		if (err)
			return err;
		*off = info->hint_pos - b->pos;
		de = entry(dir, b, *off);
		if (de && de->rec_len - used_bytes(de) >= need)
			return 0;
		ext2_dirblock_put(b);
		info->hint_room = 0;
		if (!de)
			return -EUCLEAN;
	}
	for (;; nr++) {
		if (info->index)
			nr = ext2_index_find_room(info->index, need);
		if (nr < 0 || nr >= blocks)
			break;
		err = ext2_dirblock_get(dir, (u64)nr << bits, b);
		if (err)
			return err;
		err = room_in_block(dir, b, need, off, &largest);
		if (!err)
			return 0;
		ext2_dirblock_put(b);
		if (err != -ENOSPC)
			return err;
		if (info->index && !ext2_index_room(info->index, nr, largest))
			ext2_index_drop(dir);
		cond_resched();
	}
	*off = 0;
	return grow(dir, b);
}

int ext2_dir_add(struct inode *dir, const char *name, u32 len, struct inode *inode, u64 *pos)
{
	struct ext2_info *info = ext2_info(dir);
	struct dirblock b;
	u64 at;
	u32 off;
	int err = find_room(dir, EXT2_REC_LEN(len), &b, &off);

	if (err)
		return err;
	at = fill_room(dir, &b, off, name, len, inode);
	ext2_dirblock_put(&b);
	if (info->index && !ext2_index_add(info->index, name_hash(name, len), at))
		ext2_index_drop(dir);
	info->flags &= ~EXT2_INDEX_FL; /* the tree of hashes on the disk, if any, is out of date */
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
	ext2_mark(dir, EXT2_ATTR);
	if (pos)
		*pos = at;
	return 0;
}

int ext2_dir_remove(struct inode *dir, struct ext2_slot *slot)
{
	struct ext2_info *info = ext2_info(dir);
	u32 bits = ext2_fs(dir->sb)->geo.block_bits, rec_len = slot->de->rec_len;
	struct ext2_dirindex *ix = info->index;

	if (ix) {
		u32 nr = slot->pos >> bits;

		ext2_index_del(ix, name_hash(slot->de->name, slot->de->name_len), slot->pos);
		ext2_index_more_room(ix, nr, min(1u << bits, 3 * rec_len));
	}
	WRITE_ONCE(slot->de->inode, 0);
	if (rec_len >= info->hint_room) {
		info->hint_pos = slot->pos;
		info->hint_room = rec_len;
	}
	pagecache_set_dirty(slot->page);
	dir->version++;
	info->flags &= ~EXT2_INDEX_FL;
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
	ext2_mark(dir, EXT2_ATTR);
	return 0;
}

/* The entry names another inode from now on. */
void ext2_dir_set(struct inode *dir, struct ext2_slot *slot, struct inode *inode)
{
	slot->de->file_type = ext2_fs(dir->sb)->geo.filetype ? ext2_type_of_mode(inode->mode) : 0;
	WRITE_ONCE(slot->de->inode, (u32)inode->ino);
	pagecache_set_dirty(slot->page);
	dir->version++;
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
	ext2_mark(dir, EXT2_ATTR);
}

int ext2_dir_make(struct inode *inode, u32 parent)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	u8 type = fs->geo.filetype ? ext2_type_of_mode(S_IFDIR) : 0;
	struct ext2_dirent *de;
	struct dirblock b;
	int err = grow(inode, &b);

	if (err)
		return err;
	de = (struct ext2_dirent *)b.data;
	*de = (struct ext2_dirent){ inode->ino, EXT2_REC_LEN(1), 1, type };
	de->name[0] = '.';
	de = (struct ext2_dirent *)(b.data + EXT2_REC_LEN(1));
	*de = (struct ext2_dirent){ parent, fs->geo.block_size - EXT2_REC_LEN(1), 2, type };
	memcpy(de->name, "..", 2);
	ext2_info(inode)->hint_pos = EXT2_REC_LEN(1);
	ext2_info(inode)->hint_room = de->rec_len - EXT2_REC_LEN(2);
	block_dirty(inode, &b);
	ext2_dirblock_put(&b);
	return 0;
}
