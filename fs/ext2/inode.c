// SPDX-License-Identifier: BSD-2-Clause
/*
 * inode.c - ext2 inodes: from their record on the disk, back to it, attributes, and the end.
 *
 * A record is changed field by field in the cached block of the inode table: what we do not know
 * (the nanoseconds and later fields of records longer than 128 bytes) stays as it was. Only a new
 * inode's record is zeroed first. Records are written when the flusher or an fsync asks
 * (write_owner); the block goes to the disk with the device's other dirty pages, or at once when
 * fsync says so.
 *
 * The end of an inode without names: its blocks and its attribute block go back, the record gets a
 * time of deletion and no links, the number becomes free. All while it is still in the inode
 * cache, so nobody reads the number in between.
 */
#include "fs/ext2/internal.h"
#include "fs/direct.h"

#define NSEC_LOW 1000000000ull

static struct slab_cache *info_cache;

/* ---- mapping operations: thin, they hand the superblock's mpage_fs on ---- */

static const struct mpage_fs *mpage_of(const struct mapping *m)
{
	return &ext2_fs(ext2_owner(m)->sb)->mpage;
}
static int read_page(struct mapping *m, struct page *page)
{
	return mpage_read_page(mpage_of(m), m, page);
}
static void read_pages(struct mapping *m, struct page **pages, unsigned int nr)
{
	mpage_read_pages(mpage_of(m), m, pages, nr);
}
static int write_page(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	return mpage_write_page(mpage_of(m), m, page, wbc);
}
static int write_pages(struct mapping *m, struct writeback_control *wbc)
{
	return mpage_write_pages(mpage_of(m), m, wbc);
}
static int write_begin(struct mapping *m, struct page *page, u64 pos, size_t n, bool *homed)
{
	return mpage_write_begin(mpage_of(m), m, page, pos, n, homed);
}
static int page_mkwrite(struct mapping *m, struct page *page)
{
	return mpage_page_mkwrite(mpage_of(m), m, page);
}
static int direct_map(struct mapping *m, u64 pos, u64 len, struct dio_extent *out)
{
	return mpage_direct_map(mpage_of(m), m, pos, len, out);
}
static void hold(struct mapping *m)
{
	inode_get(ext2_owner(m));
}
static void release(struct mapping *m)
{
	inode_put(ext2_owner(m));
}

const struct mapping_ops ext2_mapping_ops = {
	.read_page = read_page,
	.read_pages = read_pages,
	.write_begin = write_begin,
	.write_page = write_page,
	.write_pages = write_pages,
	.write_owner = ext2_write_owner,
	.hold = hold,
	.release = release,
	.direct_map = direct_map,
	.page_mkwrite = page_mkwrite,
};

/* ---- birth ---- */

int ext2_info_init(struct inode *inode)
{
	struct ext2_info *info;

	if (!info_cache) {
		info_cache = slab_create("ext2_inode", sizeof(*info), 64, SLAB_RECLAIMABLE, NULL);
		if (!info_cache)
			return -ENOMEM;
	}
	info = slab_alloc(info_cache, GFP_NOFS | __GFP_ZERO);
	if (!info)
		return -ENOMEM;
	info->inode = inode;
	mutex_init(&info->map_lock, RANK_FS_MAP, "ext2 map");
	spin_lock_init(&info->window_lock, RANK_LEAF, "ext2 window");
	list_init(&info->window_node);
	inode->info = info;
	return 0;
}

void ext2_info_free(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);

	if (!info)
		return;
	bblock_put(&info->leaf);
	kfree(info->meta);
	ext2_index_free(info->index);
	inode->info = NULL;
	slab_free(info_cache, info);
}

void ext2_inode_ops(struct inode *inode)
{
	mapping_init(&inode->data, &ext2_mapping_ops, inode, 0);
	inode->data.bdi = &ext2_fs(inode->sb)->bdev->part->disk->bdi;
	inode->mapping = &inode->data;
	inode->version = 1;
	switch (inode->mode & S_IFMT) {
	case S_IFREG:
		inode->ops = &ext2_file_iops;
		inode->fops = &ext2_file_fops;
		break;
	case S_IFDIR:
		inode->ops = &ext2_dir_iops;
		inode->fops = &ext2_dir_fops;
		break;
	case S_IFLNK:
		inode->ops = &ext2_link_iops;
		break;
	default:
		inode->ops = &ext2_special_iops;
	}
}

/* Block and offset of the record. 0 or -EUCLEAN */
int ext2_inode_place(struct ext2_fs *fs, u32 ino, u32 *block, u32 *off)
{
	const struct ext2_geometry *g = &fs->geo;
	u32 group = (ino - 1) / g->inodes_per_group;
	u32 byte = (ino - 1) % g->inodes_per_group * g->inode_size;

	if (!ino || ino > g->inodes)
		return ext2_error(fs->sb, "inode number %u of %u", ino, g->inodes);
	*block = ext2_desc(fs, group)->bg_inode_table + (byte >> g->block_bits);
	*off = byte & (g->block_size - 1);
	return 0;
}

static struct ext2_inode_raw *record_get(struct ext2_fs *fs, u32 ino, struct bblock *b, int *err)
{
	u32 block, off;

	*err = ext2_inode_place(fs, ino, &block, &off);
	if (!*err)
		*err = bblock_read(fs->bdev, block, fs->geo.block_size, b);
	return *err ? NULL : (struct ext2_inode_raw *)((char *)b->data + off);
}

static dev_t device_of(const u32 data[2])
{
	if (data[0]) /* the old form: 8 bits each */
		return MKDEV(data[0] >> 8 & 0xff, data[0] & 0xff);
	return MKDEV(data[1] >> 8 & 0xfff, (data[1] & 0xff) | (data[1] >> 12 & 0xfff00));
}

static void device_to(dev_t dev, u32 data[2])
{
	u32 major = MAJOR(dev), minor = MINOR(dev);

	data[0] = data[1] = 0;
	if (major < 256 && minor < 256)
		data[0] = major << 8 | minor;
	else
		data[1] = (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12;
}

/* The text of a short link lies where block numbers would. */
static bool link_is_short(const struct ext2_fs *fs, const struct ext2_info *info)
{
	return info->blocks == (info->file_acl ? fs->geo.block_size >> 9 : 0);
}

static int read_link(struct inode *inode, u64 size)
{
	struct ext2_info *info = ext2_info(inode);
	char *text;

	if (!link_is_short(ext2_fs(inode->sb), info))
		return 0;
	if (size >= sizeof(info->data) || strnlen((char *)info->data, size) != size)
		return ext2_inode_error(inode, "i_size %llu of a short symbolic link",
					(unsigned long long)size);
	text = kmalloc(size + 1, GFP_NOFS);
	if (!text)
		return -ENOMEM;
	memcpy(text, info->data, size);
	text[size] = 0;
	inode->link = text;
	return 0;
}

static void take_attributes(struct inode *inode, const struct ext2_inode_raw *raw)
{
	struct ext2_info *info = ext2_info(inode);

	inode->mode = raw->i_mode;
	inode->uid = raw->i_uid | (u32)raw->i_uid_high << 16;
	inode->gid = raw->i_gid | (u32)raw->i_gid_high << 16;
	inode->nlink = raw->i_links_count;
	inode->atime = (struct timespec64){ (s32)raw->i_atime, 0 };
	inode->mtime = (struct timespec64){ (s32)raw->i_mtime, 0 };
	inode->ctime = (struct timespec64){ (s32)raw->i_ctime, 0 };
	inode->btime = (struct timespec64){ 0, 0 };
	memcpy(info->data, raw->i_block, sizeof(info->data));
	info->blocks = raw->i_blocks;
	info->flags = raw->i_flags;
	info->generation = raw->i_generation;
	info->file_acl = raw->i_file_acl;
	info->group = ((u32)inode->ino - 1) / ext2_fs(inode->sb)->geo.inodes_per_group;
}

/* Fills a new inode from its record. => its lock held; 0 or -errno */
static int read_inode(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_inode_raw *raw;
	struct bblock b;
	char why[80];
	u64 size;
	int err;

	raw = record_get(fs, inode->ino, &b, &err);
	if (!raw)
		return err;
	err = ext2_check_inode(&fs->geo, raw, why, sizeof(why));
	if (err) {
		ext2_inode_error(inode, "%s", why);
	} else {
		err = ext2_info_init(inode);
	}
	size = raw->i_size | (S_ISREG(raw->i_mode) ? (u64)raw->i_size_high << 32 : 0);
	if (!err) {
		take_attributes(inode, raw);
		ext2_info(inode)->high = (size + fs->geo.block_size - 1) >> fs->geo.block_bits;
		if (S_ISLNK(inode->mode))
			err = read_link(inode, size);
		else if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode))
			inode->rdev = device_of(ext2_info(inode)->data);
	}
	bblock_put(&b);
	if (err) {
		ext2_info_free(inode);
		return err;
	}
	ext2_inode_ops(inode);
	inode->data.size = size;
	return 0;
}

struct inode *ext2_iget(struct superblock *sb, u32 ino)
{
	struct ext2_fs *fs = ext2_fs(sb);
	struct inode *inode;
	int err;

	if (ino > fs->geo.inodes || (ino < fs->geo.first_ino && ino != EXT2_ROOT_INO)) {
		ext2_error(sb, "inode number %u has a name", ino);
		return ERR_PTR(-EUCLEAN);
	}
	inode = inode_iget(sb, ino);
	if (IS_ERR(inode) || !(inode->flags & INODE_NEW))
		return inode;
	err = read_inode(inode);
	inode_new_done(inode, err);
	return err ? ERR_PTR(err) : inode;
}

/* ---- to the disk ---- */

static u32 seconds(const struct timespec64 *t)
{
	return clamp(t->tv_sec, (s64)-S32_MAX - 1, (s64)S32_MAX);
}

static void fill_record(struct inode *inode, struct ext2_inode_raw *raw)
{
	struct ext2_info *info = ext2_info(inode);
	u64 size = READ_ONCE(inode->data.size);

	raw->i_mode = inode->mode;
	raw->i_uid = inode->uid;
	raw->i_uid_high = inode->uid >> 16;
	raw->i_gid = inode->gid;
	raw->i_gid_high = inode->gid >> 16;
	raw->i_links_count = inode->nlink;
	raw->i_atime = seconds(&inode->atime);
	raw->i_mtime = seconds(&inode->mtime);
	raw->i_ctime = seconds(&inode->ctime);
	raw->i_size = size;
	if (S_ISREG(inode->mode))
		raw->i_size_high = size >> 32;
	raw->i_blocks = info->blocks;
	raw->i_flags = info->flags;
	raw->i_generation = info->generation;
	raw->i_file_acl = info->file_acl;
	if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode))
		device_to(inode->rdev, raw->i_block);
	else
		memcpy(raw->i_block, info->data, sizeof(info->data));
}

int ext2_write_owner(struct mapping *m, struct writeback_control *wbc)
{
	struct inode *inode = ext2_owner(m);
	struct ext2_info *info = ext2_info(inode);
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_inode_raw *raw;
	struct bblock b;
	int err;

	if (!fs->writing) /* read-only: a time of access at most */
		return 0;
	if (S_ISREG(inode->mode) && READ_ONCE(m->size) > S32_MAX)
		ext2_need_large_file(fs);
	raw = record_get(fs, inode->ino, &b, &err);
	if (!raw)
		return err;
	mutex_lock(&info->map_lock);
	if (info->fresh)
		memset(raw, 0, fs->geo.inode_size);
	info->fresh = false;
	fill_record(inode, raw);
	mutex_unlock(&info->map_lock);
	bblock_dirty(&b);
	bblock_put(&b);
	return 0;
}

/* Makes the inode findable on the disk: indirect blocks, then the record. 0 or the first error */
int ext2_sync_inode(struct inode *inode, int datasync)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	int err = mapping_sync_owner(&inode->data, datasync), meta, e;
	u32 block, off;

	meta = ext2_meta_sync(inode);
	e = ext2_inode_place(fs, inode->ino, &block, &off);
	if (!e)
		e = bblock_sync(fs->bdev, block, 1, fs->geo.block_size);
	return err ? err : meta ? meta : e;
}

/* ---- attributes ---- */

static int set_size(struct inode *inode, u64 size)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct mapping *m = &inode->data;
	u64 old = m->size;
	int err = 0;

	if (size > fs->geo.max_size)
		return -EFBIG;
	if (ext2_read_only(fs))
		return -EROFS;
	if (size < old) {
		down_write(&m->truncate_lock);
		WRITE_ONCE(m->size, size);
		pagecache_truncate_locked(m, size);
		err = ext2_cut(inode, (size + fs->geo.block_size - 1) >> fs->geo.block_bits,
			       U64_MAX);
		up_write(&m->truncate_lock);
	} else if (size > old) {
		pagecache_extend(m, size);
	}
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	ext2_mark(inode, EXT2_MAP);
	return err;
}

int ext2_setattr(struct inode *inode, const struct kstat *attr, unsigned int mask)
{
	int err = 0;

	if ((mask & ATTR_SIZE) && S_ISREG(inode->mode))
		err = set_size(inode, attr->size);
	if (err)
		return err;
	err = inode_default_setattr(inode, attr, mask);
	ext2_mark(inode, EXT2_ATTR);
	return err;
}

int ext2_getattr(struct inode *inode, struct kstat *st)
{
	inode_fill_stat(inode, st);
	st->blocks = READ_ONCE(ext2_info(inode)->blocks);
	return 0;
}

/* ---- the end ---- */

/* One inode less uses the block of extended attributes; the last one frees it. */
static void drop_xattr_block(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_xattr_header *h;
	u32 nr = info->file_acl;
	struct bblock b;
	bool last = false;

	info->file_acl = 0;
	if (!ext2_blocks_ok(fs, nr, 1)) {
		ext2_inode_error(inode, "i_file_acl %u is no file's block", nr);
		return;
	}
	if (bblock_read(fs->bdev, nr, fs->geo.block_size, &b))
		return;
	h = b.data;
	if (h->h_magic != EXT2_XATTR_MAGIC || h->h_blocks != 1 || !h->h_refcount) {
		ext2_inode_error(inode, "i_file_acl %u: h_magic 0x%x h_blocks %u h_refcount %u", nr,
				 h->h_magic, h->h_blocks, h->h_refcount);
	} else {
		mutex_lock(&fs->alloc_lock);
		last = h->h_refcount == 1;
		if (!last) {
			h->h_refcount--;
			bblock_dirty(&b);
		}
		mutex_unlock(&fs->alloc_lock);
	}
	bblock_put(&b);
	info->blocks -= min(info->blocks, fs->geo.block_size >> 9);
	if (last) {
		bblock_forget(fs->bdev, nr, 1, fs->geo.block_size);
		ext2_free_blocks(fs, inode->ino, nr, 1);
	}
}

static void write_deleted(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_inode_raw *raw;
	struct bblock b;
	int err;

	raw = record_get(fs, inode->ino, &b, &err);
	if (!raw)
		return;
	fill_record(inode, raw);
	raw->i_dtime = max_t(u32, ktime_get_real() / NSEC_LOW, 1);
	bblock_dirty(&b);
	bblock_put(&b);
}

static void delete_inode(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	bool has_blocks = S_ISREG(inode->mode) || S_ISDIR(inode->mode) ||
			  (S_ISLNK(inode->mode) && !link_is_short(ext2_fs(inode->sb), info));

	if (has_blocks)
		ext2_cut(inode, 0, U64_MAX);
	if (info->file_acl)
		drop_xattr_block(inode);
	if (!info->fresh)
		write_deleted(inode);
	ext2_free_inode(inode);
}

/* => no reference is left, the pages are gone; still in the inode cache */
void ext2_evict(struct inode *inode)
{
	if (S_ISFIFO(inode->mode) && fifo_release)
		fifo_release(inode);
	if (!inode->info)
		return;
	if (!inode->nlink && !ext2_read_only(ext2_fs(inode->sb)))
		delete_inode(inode);
	ext2_drop_window(inode);
	ext2_info_free(inode);
}
