// SPDX-License-Identifier: BSD-2-Clause
/*
 * dir.c - directories: blocks of entries, each a number, a length and a name.
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
 * Every entry is judged (ext2_check_dirent) before it is used; one that fails ends the walk, so a
 * damaged directory costs an error and never a loop: an entry is at least 12 bytes long.
 *
 * Locking: the directory's inode->lock, shared for reading it, exclusive for all else (also for
 * looking a name up: that may build the index).
 */
#include "fs/ext2/internal.h"

#define INDEX_ENTRIES 24u /* a directory with more of them gets an index */

struct dirblock {
	struct page *page;
	char *data;
	u64 pos; /* of the block in the directory */
};

static u32 name_hash(const char *name, u32 len)
{
	u32 h = 0x811c9dc5u;

	for (u32 i = 0; i < len; i++)
		h = (h ^ (u8)name[i]) * 0x01000193u;
	return h ^ h >> 15;
}

static u32 dir_blocks(struct inode *dir)
{
	return dir->data.size >> ext2_fs(dir->sb)->geo.block_bits;
}

static int block_get(struct inode *dir, u64 pos, struct dirblock *b)
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

static void block_put(struct dirblock *b)
{
	page_kunmap(b->data);
	page_put(b->page);
}

static noinline int bad_entry(struct inode *dir, const struct dirblock *b, u32 off,
			      const char *what)
{
	const struct ext2_dirent *de = (const struct ext2_dirent *)(b->data + off);

	return ext2_inode_error(
		dir, "directory entry at %llu: %s (inode %u rec_len %u name_len %u)",
		(unsigned long long)b->pos + off, what, de->inode, de->rec_len, de->name_len);
}

/* The entry at off, judged; NULL: an error, told. */
static inline struct ext2_dirent *entry(struct inode *dir, const struct dirblock *b, u32 off)
{
	const char *what = ext2_check_dirent(&ext2_fs(dir->sb)->geo, b->data, off);

	if (unlikely(what)) {
		bad_entry(dir, b, off, what);
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

void ext2_slot_put(struct ext2_slot *slot)
{
	if (slot->page)
		page_put(slot->page);
	slot->page = NULL;
}

static void block_dirty(struct inode *dir, struct dirblock *b)
{
	pagecache_set_dirty(b->page);
	dir->version++;
}

/* ---- the index ---- */

static int index_block(struct inode *dir, struct ext2_dirindex *ix, u32 nr)
{
	u32 bits = ext2_fs(dir->sb)->geo.block_bits, size = 1u << bits, gap = 0, largest = 0;
	struct dirblock b;
	int err = block_get(dir, (u64)nr << bits, &b);

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
	block_put(&b);
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

static void index_drop(struct inode *dir)
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
		int err = block_get(dir, pos, &b);

		if (err)
			return err;
		de = entry(dir, &b, pos - b.pos);
		if (de && names(de, name, len)) {
			*out = (struct ext2_slot){ b.page, de, pos };
			return 0;
		}
		block_put(&b);
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

		err = block_get(dir, (u64)i << bits, &b);
		if (err)
			break;
		err = find_in_block(dir, &b, name, len, seen, out);
		if (err)
			block_put(&b);
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
	int err = dir->data.size ? block_get(dir, 0, &b) : -EIO;
	u32 off;

	out->page = NULL;
	if (err)
		return err;
	de = entry(dir, &b, 0);
	if (de && !names(de, ".", 1)) {
		bad_entry(dir, &b, 0, "no \".\"");
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
		bad_entry(dir, &b, off, "no \"..\"");
	block_put(&b);
	return -EUCLEAN;
}

int ext2_dir_empty(struct inode *dir)
{
	u32 blocks = dir_blocks(dir), bits = ext2_fs(dir->sb)->geo.block_bits;

	for (u32 i = 0; i < blocks; i++) {
		struct dirblock b;
		int err = block_get(dir, (u64)i << bits, &b);

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
		block_put(&b);
		if (err != 1)
			return err;
		cond_resched();
	}
	return 1;
}

/* ---- changing ---- */

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
	err = block_get(dir, pos, b);
	if (err)
		return err;
	memset(b->data, 0, size);
	((struct ext2_dirent *)b->data)->rec_len = size;
	err = mpage_write_begin(&fs->mpage, &dir->data, b->page, pos, size, NULL);
	if (err) {
		memset(b->data, 0, size);
		block_put(b);
		return err;
	}
	WRITE_ONCE(dir->data.size, pos + size);
	block_dirty(dir, b);
	ext2_mark(dir, EXT2_MAP);
	if (ext2_info(dir)->index &&
	    !ext2_index_room(ext2_info(dir)->index, pos >> fs->geo.block_bits, size))
		index_drop(dir);
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

		err = block_get(dir, info->hint_pos, b);
		if (err)
			return err;
		*off = info->hint_pos - b->pos;
		de = entry(dir, b, *off);
		if (de && de->rec_len - used_bytes(de) >= need)
			return 0;
		block_put(b);
		info->hint_room = 0;
		if (!de)
			return -EUCLEAN;
	}
	for (;; nr++) {
		if (info->index)
			nr = ext2_index_find_room(info->index, need);
		if (nr < 0 || nr >= blocks)
			break;
		err = block_get(dir, (u64)nr << bits, b);
		if (err)
			return err;
		err = room_in_block(dir, b, need, off, &largest);
		if (!err)
			return 0;
		block_put(b);
		if (err != -ENOSPC)
			return err;
		if (info->index && !ext2_index_room(info->index, nr, largest))
			index_drop(dir);
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
	block_put(&b);
	if (info->index && !ext2_index_add(info->index, name_hash(name, len), at))
		index_drop(dir);
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
	block_put(&b);
	return 0;
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

		err = block_get(dir, ctx->pos, &b);
		if (err)
			break;
		if (off && f->version != dir->version) {
			off = settle(dir, &b, off);
			ctx->pos = b.pos + off;
		}
		f->version = dir->version;
		err = emit_block(dir, &b, off, ctx);
		block_put(&b);
		cond_resched();
	}
	/* what was found before the damage is given first */
	return err < 0 && ctx->pos == begin ? err : 0;
}
