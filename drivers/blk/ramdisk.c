// SPDX-License-Identifier: BSD-2-Clause
/*
 * ramdisk.c - disks of memory: pages made when they are first written, given back by discard.
 *
 * A table of tables: the top holds one pointer per 512 pages (2 MiB of the disk), each leaf 512
 * page pointers. A hole reads as zeros. The bio is done in the submitter's own context, by copying:
 * no queue, no interrupt; the base line of what a block device costs.
 *
 * Locking: readers and writers look a page up and copy under RCU; a page appears by compare and
 * exchange; discard exchanges it away and frees it after a grace period. Leaves stay until the disk
 * goes.
 */
#include "drivers/blk/create.h"
#include "drivers/blk/internal.h"
#include "kernel/counter.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"

#define SECTORS_PER_PAGE (PAGE_SIZE >> SECTOR_SHIFT)
#define LEAF_PAGES 512u

COUNTER(ramdisk_pages_made, "pages of RAM disks made by a first write");
COUNTER(ramdisk_pages_freed, "pages of RAM disks given back by discard or removal");

struct leaf {
	struct page *page[LEAF_PAGES];
};
struct ramdisk {
	struct leaf **top;
	unsigned long nr_leaves;
	atomic_long_t nr_pages;
};

static struct page **find_slot(struct ramdisk *rd, u64 index)
{
	struct leaf *leaf = READ_ONCE(rd->top[index / LEAF_PAGES]);

	return leaf ? &leaf->page[index % LEAF_PAGES] : NULL;
}

/* => may sleep; NULL: no memory */
static struct page **make_slot(struct ramdisk *rd, u64 index)
{
	struct leaf **at = &rd->top[index / LEAF_PAGES], *leaf = READ_ONCE(*at), *old = NULL;

	if (!leaf) {
		leaf = kzalloc(sizeof(*leaf), GFP_NOIO);
		if (!leaf)
			return NULL;
		if (!try_cmpxchg(at, &old, leaf)) {
			kfree(leaf);
			leaf = old;
		}
	}
	return &leaf->page[index % LEAF_PAGES];
}

/* Makes the page at index. => may sleep; 0 or -ENOSPC */
static noinline int make_page(struct ramdisk *rd, u64 index)
{
	struct page **slot = make_slot(rd, index), *old = NULL;
	struct page *page = slot ? alloc_page(GFP_NOIO | __GFP_HIGH_ZONE | __GFP_ZERO) : NULL;

	if (!page)
		return -ENOSPC;
	if (!try_cmpxchg(slot, &old, page)) {
		free_page(page);
		return 0;
	}
	atomic_long_inc(&rd->nr_pages);
	count(ramdisk_pages_made);
	return 0;
}

/* Copies n bytes that lie in one page of the disk. => 0 or -ENOSPC */
static int copy_piece(struct ramdisk *rd, u64 index, u32 off, void *mem, u32 n, enum bio_op op)
{
	struct page **slot, *page;

	for (;;) {
		rcu_read_lock();
		slot = find_slot(rd, index);
		page = slot ? READ_ONCE(*slot) : NULL;
		if (likely(page)) {
			char *at = page_kmap(page);

			if (op == BIO_READ)
				memcpy(mem, at + off, n);
			else
				memcpy(at + off, mem, n);
			page_kunmap(at);
		}
		rcu_read_unlock();
		if (page)
			return 0;
		if (op == BIO_READ) {
			memset(mem, 0, n);
			return 0;
		}
		if (make_page(rd, index))
			return -ENOSPC;
	}
}

static int transfer(struct ramdisk *rd, const struct bio *bio)
{
	u64 pos = bio->disk_sector << SECTOR_SHIFT;
	int err = 0;

	for (u32 i = 0; i < bio->nr_vecs && !err; i++) {
		const struct bio_vec *v = &bio->vecs[i];
		char *mem = bio_vec_addr(v);
		u32 done = 0;

		while (done < v->len && !err) {
			u32 off = pos & (PAGE_SIZE - 1);
			u32 n = min_t(u32, v->len - done, PAGE_SIZE - off);

			err = copy_piece(rd, pos >> PAGE_SHIFT, off, mem + done, n, bio->op);
			done += n;
			pos += n;
		}
		if (v->page)
			page_kunmap(mem);
	}
	return err;
}

/* ---- giving back ----------------------------------------------------------------------------- */

static void free_gathered(struct ramdisk *rd, struct list_head *list, u32 n)
{
	struct page *page, *next;

	if (!n)
		return;
	synchronize_rcu();
	list_for_each_entry_safe(page, next, list, lru) {
		list_del(&page->lru);
		free_page(page);
	}
	atomic_long_sub(n, &rd->nr_pages);
	count_add(ramdisk_pages_freed, n);
}

/* Pages [first, last) become holes. */
static void punch(struct ramdisk *rd, u64 first, u64 last)
{
	LIST_HEAD(list);
	u32 n = 0;

	for (u64 index = first; index < last; index++) {
		struct page **slot = find_slot(rd, index), *page;

		if (!slot) { /* the whole leaf is missing */
			index |= LEAF_PAGES - 1;
			continue;
		}
		page = READ_ONCE(*slot) ? xchg(slot, NULL) : NULL;
		if (page) {
			list_add(&page->lru, &list);
			n++;
		}
		cond_resched();
	}
	free_gathered(rd, &list, n);
}

static void zero_part(struct ramdisk *rd, u64 sector, u64 nr)
{
	while (nr) {
		u64 pos = sector << SECTOR_SHIFT;
		u32 off = pos & (PAGE_SIZE - 1);
		u64 n = min_t(u64, nr, (PAGE_SIZE - off) >> SECTOR_SHIFT);
		struct page **slot, *page;

		rcu_read_lock();
		slot = find_slot(rd, pos >> PAGE_SHIFT);
		page = slot ? READ_ONCE(*slot) : NULL;
		if (page)
			memset((char *)page_kmap(page) + off, 0, n << SECTOR_SHIFT);
		rcu_read_unlock();
		sector += n;
		nr -= n;
	}
}

/* Discard and zeroing are the same here: whole pages go, ends are cleared. */
static void make_hole(struct ramdisk *rd, u64 sector, u64 nr)
{
	u64 end = sector + nr;
	u64 first = DIV_ROUND_UP(sector, SECTORS_PER_PAGE), last = end / SECTORS_PER_PAGE;

	if (first >= last) {
		zero_part(rd, sector, nr);
		return;
	}
	zero_part(rd, sector, first * SECTORS_PER_PAGE - sector);
	punch(rd, first, last);
	zero_part(rd, last * SECTORS_PER_PAGE, end - last * SECTORS_PER_PAGE);
}

/* ---- the disk -------------------------------------------------------------------------------- */

static void ramdisk_submit(struct disk *disk, struct bio *bio)
{
	struct ramdisk *rd = disk->private;
	int err = 0;

	if (likely(bio->op <= BIO_WRITE))
		err = transfer(rd, bio);
	else if (bio->op != BIO_FLUSH)
		make_hole(rd, bio->disk_sector, bio->bytes >> SECTOR_SHIFT);
	if (unlikely(err) && blk_may_log())
		pr_err("ramdisk: %s: no memory for a write at sector %llu", disk->name,
		       (unsigned long long)bio->disk_sector);
	bio_end(bio, err);
}

static void ramdisk_free(struct ramdisk *rd)
{
	for (unsigned long i = 0; i < rd->nr_leaves; i++) {
		if (!rd->top[i])
			continue;
		punch(rd, i * LEAF_PAGES, (i + 1) * LEAF_PAGES);
		kfree(rd->top[i]);
	}
	vfree(rd->top);
	kfree(rd);
}

static void ramdisk_release(struct disk *disk)
{
	ramdisk_free(disk->private);
}

static void ramdisk_show(struct disk *disk, struct seq *seq)
{
	struct ramdisk *rd = disk->private;

	seq_printf(seq, "model ram\nbytes %llu\nmemory %lu\n",
		   (unsigned long long)disk->nr_sectors << SECTOR_SHIFT,
		   atomic_long_read(&rd->nr_pages) << PAGE_SHIFT);
}

static const struct disk_ops ramdisk_ops = {
	.submit_bio = ramdisk_submit,
	.release = ramdisk_release,
	.show = ramdisk_show,
};

static struct ramdisk *ramdisk_alloc(u64 bytes)
{
	struct ramdisk *rd = kzalloc(sizeof(*rd), GFP_KERNEL);

	if (!rd)
		return NULL;
	rd->nr_leaves = DIV_ROUND_UP(bytes, LEAF_PAGES * PAGE_SIZE);
	rd->top = vmalloc(rd->nr_leaves * sizeof(*rd->top));
	if (!rd->top) {
		kfree(rd);
		return NULL;
	}
	memset(rd->top, 0, rd->nr_leaves * sizeof(*rd->top));
	return rd;
}

static struct disk *ramdisk_add(const char *name, u64 bytes)
{
	struct ramdisk *rd = ramdisk_alloc(bytes);
	struct disk *disk = rd ? disk_alloc(name, &ramdisk_ops, rd) : NULL;
	int err;

	if (!disk) {
		if (rd)
			ramdisk_free(rd);
		pr_err("ramdisk: no memory for the tables of %s", name);
		return ERR_PTR(-ENOMEM);
	}
	disk->nr_sectors = bytes >> SECTOR_SHIFT;
	disk->limits = (struct disk_limits){ .max_sectors = 2048,
					     .max_segments = BIO_MAX_VECS,
					     .physical_block = PAGE_SIZE,
					     .discard = true,
					     .write_zeroes = true };
	err = disk_add(disk);
	if (!err)
		return disk;
	disk_put(disk);
	pr_err("ramdisk: %s not added: error %d", name, -err);
	return ERR_PTR(err);
}

#define RAMDISK_MAX (1ull << 44)

static struct disk *ramdisk_create(char *args)
{
	char name[DISK_NAME];
	u64 bytes = 0;
	const struct disk_arg keys[] = {
		{ "size", DISK_ARG_SIZE, &bytes, PAGE_SIZE, RAMDISK_MAX },
	};
	int err = disk_args_parse("ram", args, keys, ARRAY_SIZE(keys));

	if (!err && !bytes) {
		pr_err("ramdisk: a size is needed: ram:size=64M");
		err = -EINVAL;
	}
	if (!err && disk_name_next("ram", name) < 0)
		err = -ENOSPC;
	return err ? ERR_PTR(err) : ramdisk_add(name, ALIGN_DOWN(bytes, (u64)PAGE_SIZE));
}
DISK_MODEL("ram", ramdisk_create, "memory, page by page: size=");

static char ramdisk_words[128];
BOOT_PARAM_STRING("ramdisk", ramdisk_words, "RAM disks of these sizes: 64M,1G");

void ramdisk_init(void)
{
	char *rest = ramdisk_words, *word;

	while (*ramdisk_words && (word = strsep(&rest, ",")))
		if (*word)
			disk_model_create("ram", word);
}
