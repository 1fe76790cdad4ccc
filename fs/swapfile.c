// SPDX-License-Identifier: BSD-2-Clause
/*
 * swapfile.c - where the slots of a swap area lie on a disk.
 *
 * Problem: pages leave memory because there is none, so the way to their slots must need none: no
 * block map to be read in, no page cache, no lock of a file system. Idea: everything is looked up
 * once, at swapon. A device is one extent; of a regular file mapping_ops->direct_map tells the
 * pieces, which are joined to extents of whole pages. From then on slot -> sector is a search in a
 * sorted array, and a transfer is one bio of one page, from the reserve if need be; neighbours
 * become one request in the plug and the queue.
 *
 *   file    |hdr| 1 | 2 | 3 | 4 | 5 | 6 |      blocks smaller than a page: page 4 lies in two
 *   disk     [--- extent A ---]  x [- B -]     pieces, so slot 4 is a bad one
 *
 * A hole is an error: giving it blocks later would need memory. What the page cache held of the
 * file is written and dropped before, so nothing old is written over a slot afterwards; for as long
 * as INODE_SWAPFILE is set nobody writes, shortens, punches, maps or renames the file. The open
 * file keeps its file system mounted and its device claimed.
 *
 * Locking: inode->lock while the flag is set and the pieces are looked up; files_lock for the list.
 * What an open area needs is never changed.
 */
#include "fs/swapfile.h"
#include "fs/blkdev_internal.h"
#include "fs/direct.h"
#include "fs/internal.h"
#include "kernel/printk.h"
#include "lib/errno_name.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/swap/swap.h"

struct swap_extent {
	u64 slot, nr; /* slots [slot, slot + nr) ... */
	u64 sector;   /* ... lie at this sector of the part on */
};
struct swapfile {
	struct file *file;
	struct mapping *m;
	struct blk_part *part;
	struct swap_extent *ext; /* by slot */
	u32 nr_ext, room_ext;
	u64 *bad;
	u32 nr_bad, room_bad;
	struct list_head node;
	bool stopping;	/* (files_lock) */
	char path[256]; /* as the caller named it, for the log */
};
static DEFINE_SPINLOCK(files_lock, RANK_LEAF);
static LIST_HEAD(files); /* (files_lock) those that are areas */

/* ---- transfers ---- */
static u64 slot_sector(const struct swapfile *sf, u64 slot)
{
	u32 low = 0, high = sf->nr_ext - 1;

	while (low < high) { /* the last extent that begins at or before slot */
		u32 mid = low + (high - low + 1) / 2;

		if (sf->ext[mid].slot <= slot)
			low = mid;
		else
			high = mid - 1;
	}
	ASSERT(slot - sf->ext[low].slot < sf->ext[low].nr);
	return sf->ext[low].sector + ((slot - sf->ext[low].slot) << (PAGE_SHIFT - SECTOR_SHIFT));
}

static void end_io(struct bio *bio)
{
	void (*done)(struct page * page, int err) = bio->private;
	struct page *page = bio->vecs[0].page;
	int err = bio->error;

	bio_put(bio);
	done(page, err);
}

static int submit(void *owner, u64 slot, struct page *page, bool write,
		  void (*done)(struct page *page, int err))
{
	struct swapfile *sf = owner;
	struct bio *bio = bio_alloc(sf->part, write ? BIO_WRITE : BIO_READ, slot_sector(sf, slot),
				    1, GFP_NOIO);

	if (unlikely(!bio))
		return -ENOMEM;
	bio->flags = write ? 0 : BIO_SYNC;
	bio->end_io = end_io;
	bio->private = done;
	bio_add_page(bio, page, 0, PAGE_SIZE);
	submit_bio(bio);
	return 0;
}

static void plug_start(void *space)
{
	_Static_assert(sizeof(struct blk_plug) <= sizeof(((struct swap_plug *)0)->space),
		       "space for a plug");
	blk_plug_start(space);
}

static void plug_finish(void *space)
{
	blk_plug_finish(space);
}
static const struct swap_plug_ops plug_ops = { .start = plug_start, .finish = plug_finish };

static void area_gone(void *owner)
{
	struct swapfile *sf = owner;

	spin_lock(&files_lock);
	list_del(&sf->node);
	spin_unlock(&files_lock);
	swapfile_close(sf);
}

static const struct swap_ops ops = { .submit = submit, .release = area_gone };

/* ---- opening ---- */
static int refuse(const char *path, int err, const char *why)
{
	pr_err("swapon: %s: %s (%s)", path, why, errno_name(-err));
	return err;
}

static int check_kind(struct swapfile *sf)
{
	struct file *f = sf->file;
	struct mapping *m = f->mapping;

	if (file_is_blkdev(f)) {
		if (bdev_read_only(f->private))
			return refuse(sf->path, -EROFS, "the device is read-only");
	} else if (!S_ISREG(f->inode->mode)) {
		return refuse(sf->path, -EINVAL, "neither a block device nor a regular file");
	} else if (!m || !m->ops || !m->ops->direct_map || !m->bdi) {
		return refuse(sf->path, -EINVAL, "its file system has no blocks on a device");
	}
	sf->m = m;
	return 0;
}

/* From here on it is nobody else's. */
static int claim(struct swapfile *sf)
{
	struct inode *owner = sf->m->owner;
	int err = 0;

	inode_lock(owner);
	inode_dio_wait(owner);
	if (owner->flags & INODE_SWAPFILE)
		err = refuse(sf->path, -EBUSY, "it is a swap area already");
	else if (mapping_mapped(sf->m))
		err = refuse(sf->path, -EBUSY, "a program has it mapped");
	else
		owner->flags |= INODE_SWAPFILE;
	inode_unlock(owner);
	return err;
}

static void unclaim(struct swapfile *sf)
{
	struct inode *owner = sf->m->owner;

	/* what somebody read of it meanwhile is old */
	pagecache_invalidate_range(sf->m, 0, sf->m->size);
	inode_lock(owner);
	owner->flags &= ~INODE_SWAPFILE;
	inode_unlock(owner);
}

/* Nothing of it is left in the cache that could be written later. */
static int clean_cache(struct swapfile *sf)
{
	errseq_t since = READ_ONCE(sf->m->wb_err);
	int err = mapping_sync_range(sf->m, 0, U64_MAX);

	err = err ?: errseq_check(&sf->m->wb_err, since);
	if (!err)
		err = pagecache_invalidate_range(sf->m, 0, sf->m->size);
	return err ? refuse(sf->path, err, "what is cached of it cannot be written") : 0;
}

int swapfile_open(const char *path, struct swapfile **out)
{
	struct swapfile *sf = kzalloc(sizeof(*sf), GFP_KERNEL);
	int err;

	if (!sf)
		return refuse(path, -ENOMEM, "no memory to open it");
	strlcpy(sf->path, path, sizeof(sf->path));
	/* O_EXCL: of a device, for itself */
	sf->file = vfs_open(NULL, path, O_RDWR | O_LARGEFILE | O_EXCL, 0);
	if (IS_ERR(sf->file)) {
		err = PTR_ERR(sf->file);
		kfree(sf);
		return refuse(path, err,
			      err == -EBUSY ? "the device is in use" : "cannot be opened");
	}
	err = check_kind(sf);
	if (!err)
		err = claim(sf);
	if (err) {
		file_put(sf->file);
		kfree(sf);
		return err;
	}
	err = clean_cache(sf);
	if (err) {
		swapfile_close(sf);
		return err;
	}
	*out = sf;
	return 0;
}

void swapfile_close(struct swapfile *sf)
{
	unclaim(sf);
	file_put(sf->file);
	kvfree(sf->ext);
	kvfree(sf->bad);
	kfree(sf);
}

u64 swapfile_pages(const struct swapfile *sf)
{
	return sf->m->size >> PAGE_SHIFT;
}

bool swapfile_is_device(const struct swapfile *sf)
{
	return file_is_blkdev(sf->file);
}

const char *swapfile_path(const struct swapfile *sf)
{
	return sf->path;
}

int swapfile_read(struct swapfile *sf, void *buf, size_t n, u64 pos)
{
	ssize_t got = vfs_read_kernel(sf->file, buf, n, pos);

	if (got == (ssize_t)n)
		return 0;
	return refuse(sf->path, got < 0 ? got : -EIO, "its header cannot be read");
}

/* ---- extents ---- */

/* Room for one element more: the array, perhaps elsewhere, or NULL. */
static void *grow(void *array, u32 nr, u32 *room, size_t size)
{
	u32 more = *room ? *room * 2 : 64;
	void *p;

	if (nr < *room)
		return array;
	p = kvmalloc(more * size, GFP_KERNEL);
	if (!p)
		return NULL;
	if (nr)
		memcpy(p, array, nr * size);
	kvfree(array);
	*room = more;
	return p;
}

static int add_bad(struct swapfile *sf, u64 slot)
{
	u64 *p = grow(sf->bad, sf->nr_bad, &sf->room_bad, sizeof(*p));

	if (!p)
		return -ENOMEM;
	sf->bad = p;
	p[sf->nr_bad++] = slot;
	return 0;
}

static u64 slots_mapped(const struct swapfile *sf)
{
	const struct swap_extent *last = sf->nr_ext ? &sf->ext[sf->nr_ext - 1] : NULL;

	return last ? last->slot + last->nr : 0;
}

/* Slots that lie in several pieces cannot be used. */
static int skip_slots(struct swapfile *sf, u64 to)
{
	int err = 0;

	for (u64 slot = slots_mapped(sf); slot < to && !err; slot++)
		err = add_bad(sf, slot);
	return err;
}

/* Bytes [pos, pos + bytes) lie together from sector on: the whole pages of it are an extent. */
static int add_run(struct swapfile *sf, u64 pos, u64 bytes, u64 sector)
{
	u64 first = PFN_UP(pos), end = (pos + bytes) >> PAGE_SHIFT;
	struct swap_extent *p;
	int err;

	if (end <= first)
		return 0;
	err = skip_slots(sf, first);
	if (err)
		return err;
	p = grow(sf->ext, sf->nr_ext, &sf->room_ext, sizeof(*p));
	if (!p)
		return -ENOMEM;
	sf->ext = p;
	p[sf->nr_ext++] = (struct swap_extent){ .slot = first,
						.nr = end - first,
						.sector = sector + (((first << PAGE_SHIFT) - pos) >>
								    SECTOR_SHIFT) };
	return 0;
}

static int map_failed(struct swapfile *sf, u64 pos, int err, bool hole)
{
	pr_err("swapon: %s: %s at byte %llu (%s)", sf->path,
	       hole ? "there is a hole" : "its blocks cannot be found", (unsigned long long)pos,
	       errno_name(-err));
	return err;
}

/* => the owner's lock */
static int map_extents(struct swapfile *sf, u64 end)
{
	u64 pos = 0, run = 0, sector = 0; /* [run, pos) lie together from sector on */
	int err = 0;

	while (pos < end && !err) {
		struct dio_extent e;

		err = sf->m->ops->direct_map(sf->m, pos, end - pos, &e);
		if (err || e.hole)
			return map_failed(sf, pos, err ?: -EINVAL, !err);
		if (fatal_signal_pending())
			return -EINTR;
		cond_resched();
		sf->part = e.part;
		if (e.sector != sector + ((pos - run) >> SECTOR_SHIFT) || pos == run) {
			err = add_run(sf, run, pos - run, sector);
			run = pos;
			sector = e.sector;
		}
		pos += min(e.bytes, end - pos);
	}
	err = err ?: add_run(sf, run, pos - run, sector);
	err = err ?: skip_slots(sf, end >> PAGE_SHIFT);
	if (!err && !sf->nr_ext)
		err = -EINVAL;
	return err ? refuse(sf->path, err,
			    err == -ENOMEM ? "no memory for its extents"
					   : "no page of it lies in one piece")
		   : 0;
}

static int map_slots(struct swapfile *sf, u64 slots)
{
	struct inode *owner = sf->m->owner;
	int err;

	inode_lock(owner);
	err = map_extents(sf, slots << PAGE_SHIFT);
	inode_unlock(owner);
	return err;
}

/* The device may forget all but the header. An error is no reason not to use it. */
static void discard_all(struct swapfile *sf)
{
	int err = 0;

	if (!sf->part->disk->limits.discard)
		return;
	for (u32 i = 0; i < sf->nr_ext && !err; i++) {
		u64 skip = sf->ext[i].slot ? 0 : 1;

		if (sf->ext[i].nr > skip)
			err = blk_discard(sf->part, sf->ext[i].sector + skip * (PAGE_SIZE / 512),
					  (sf->ext[i].nr - skip) * (PAGE_SIZE / SECTOR_SIZE));
	}
	if (err)
		pr_warn("swapon: %s: discarding failed (%s)", sf->path, errno_name(-err));
}

static int make_area(struct swapfile *sf, const struct swapfile_setup *setup)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL), *path;
	struct swap_new n = { .ops = &ops,
			      .owner = sf,
			      .bdi = &sf->part->disk->bdi,
			      .slots = setup->slots,
			      .is_file = !swapfile_is_device(sf),
			      .prefer = setup->prefer,
			      .seeks = sf->part->disk->limits.rotational,
			      .prio = setup->prio,
			      .bad = sf->bad,
			      .nr_bad = sf->nr_bad };
	int err;

	if (!buf)
		return refuse(sf->path, -ENOMEM, "no memory for its name");
	path = vfs_path(&sf->file->path, buf, PATH_MAX);
	n.path = IS_ERR(path) ? sf->path : path;
	err = swap_area_add(&n);
	kfree(buf);
	if (err == -EPERM)
		return refuse(sf->path, err, "there are as many areas as there can be");
	if (err == -ENOMEM)
		return refuse(sf->path, err, "no memory for the counts of its slots");
	return err ? refuse(sf->path, err, "it has no slot that can be used") : 0;
}

int swapfile_start(struct swapfile *sf, const struct swapfile_setup *setup)
{
	int err = map_slots(sf, setup->slots);

	for (u32 i = 0; i < setup->nr_bad && !err; i++)
		err = add_bad(sf, setup->bad[i]);
	if (err)
		return err;
	/* the header's page too: what is in the cache will be old */
	err = clean_cache(sf);
	if (err)
		return err;
	if (setup->flags & SWAPFILE_DISCARD)
		discard_all(sf);
	if ((setup->flags & SWAPFILE_DISCARD_PAGES) && sf->part->disk->limits.discard)
		pr_notice("swapon: %s: slots that become free are not discarded", sf->path);
	WRITE_ONCE(swap_plug_ops, &plug_ops);
	err = make_area(sf, setup);
	if (err)
		return err;
	kvfree(sf->bad);
	sf->bad = NULL;
	sf->nr_bad = sf->room_bad = 0;
	spin_lock(&files_lock); /* from here on swapoff finds it */
	list_add_tail(&sf->node, &files);
	spin_unlock(&files_lock);
	return 0;
}

/* ---- swapoff ---- */
static struct swapfile *find(const struct mapping *m)
{
	struct swapfile *sf, *found = NULL;

	spin_lock(&files_lock);
	list_for_each_entry(sf, &files, node) {
		if (sf->m == m && !sf->stopping) {
			sf->stopping = true;
			found = sf;
			break;
		}
	}
	spin_unlock(&files_lock);
	return found;
}

int swapfile_stop(const char *path)
{
	struct file *f = vfs_open(NULL, path, O_RDWR | O_LARGEFILE, 0);
	struct swapfile *sf;
	int err;

	if (IS_ERR(f)) {
		err = PTR_ERR(f);
		pr_err("swapoff: %s: cannot be opened (%s)", path, errno_name(-err));
		return err;
	}
	sf = find(f->mapping);
	err = sf ? swap_area_remove(sf) : -EINVAL;
	if (err)
		pr_err("swapoff: %s: %s (%s)", path,
		       sf ? "it stays in use" : "it is not a swap area", errno_name(-err));
	if (err && sf) {
		spin_lock(&files_lock);
		sf->stopping = false;
		spin_unlock(&files_lock);
	}
	file_put(f);
	return err;
}
