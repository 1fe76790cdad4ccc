// SPDX-License-Identifier: BSD-2-Clause
/*
 * disk.c - how a disk comes and goes.
 *
 *   disk_alloc -> (limits, size) -> disk_add -> ... -> disk_remove -> last disk_put: ops->release
 *
 * Names: /sys/block/NAME keeps its number for ever (fs/showfs.c never forgets a path), so each name
 * that ever was has a slot; a disk of the same name that comes back gets the same slot.
 * References: one of the creator, one of the list while the disk is added, one per blk_part_get. A
 * part lives as long as its disk; partitions that a rescan drops stay in memory until then, marked
 * by number and size 0, because somebody may hold one.
 * Locking: disk_lock (a mutex) guards the list, the slots and disk->parts; ops and limits are set
 * before disk_add. Removal: dead is set first (new bios fail), then the queue is drained, then the
 * upper floors are told, then the names go.
 */
#include "drivers/blk/internal.h"
#include "kernel/printk.h"
#include "lib/math.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

DEFINE_MUTEX(disk_lock, RANK_DISK);
LIST_HEAD(disk_list);
const struct disk_hooks *disk_hooks;
static struct disk_slot *slots[MAX_DISKS];
static int nr_slots;

/* ---- numbers --------------------------------------------------------------------------------- */

static const struct {
	const char *prefix;
	u32 major;
} majors[] = { { "ram", 1 }, { "loop", 7 }, { "sd", 8 }, { "vd", 253 } };
#define MAJOR_OTHER 252u

static bool minor_taken(u32 major, u32 minor)
{
	struct disk *d;

	list_for_each_entry(d, &disk_list, node)
		if (d->major == major && d->first_minor == minor)
			return true;
	return false;
}

/* "ram12" -> 12, "vdb" -> 1, "sdaa" -> 26. -1: neither. */
static int name_number(const char *tail)
{
	int n = 0;

	if (!*tail)
		return -1;
	for (; *tail; tail++) {
		if (isdigit_c(*tail))
			n = n * 10 + *tail - '0';
		else if (*tail >= 'a' && *tail <= 'z')
			n = n * 26 + *tail - 'a' + 1;
		else
			return -1;
		if (n > 60000)
			return -1;
	}
	return isdigit_c(tail[-1]) ? n : n - 1;
}

static void choose_major(struct disk *disk)
{
	disk->major = MAJOR_OTHER;
	disk->first_minor = U32_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(majors); i++) {
		int n = -1;

		if (str_has_prefix(disk->name, majors[i].prefix))
			n = name_number(disk->name + strlen(majors[i].prefix));
		if (n < 0)
			continue;
		disk->major = majors[i].major;
		disk->first_minor = n * DISK_MINORS;
	}
}

static void choose_minor_locked(struct disk *disk)
{
	if (disk->first_minor != U32_MAX && !minor_taken(disk->major, disk->first_minor))
		return;
	for (disk->first_minor = 0; minor_taken(disk->major, disk->first_minor);)
		disk->first_minor += DISK_MINORS;
}

/* ---- slots ----------------------------------------------------------------------------------- */

int nr_disk_slots(void)
{
	return smp_load_acquire(&nr_slots);
}

struct disk_slot *disk_slot(long i)
{
	return slots[i];
}

struct disk *disk_slot_get(long i)
{
	struct disk *disk;

	mutex_lock(&disk_lock);
	disk = slots[i]->disk;
	if (disk)
		disk_get(disk);
	mutex_unlock(&disk_lock);
	return disk;
}

/* => disk_lock. The slot of a name, made if need be. 0, -EEXIST, -ENOSPC, -ENOMEM */
static int slot_take_locked(struct disk *disk)
{
	struct disk_slot *s;
	int i;

	for (i = 0; i < nr_slots && strcmp(slots[i]->name, disk->name); i++)
		;
	if (i == MAX_DISKS)
		return -ENOSPC;
	if (i == nr_slots) {
		s = kzalloc(sizeof(*s), GFP_KERNEL);
		if (!s)
			return -ENOMEM;
		strlcpy(s->name, disk->name, sizeof(s->name));
		slots[i] = s;
		smp_store_release(&nr_slots, i + 1);
	}
	s = slots[i];
	if (s->disk)
		return -EEXIST;
	disk->slot = i;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct disk *disk_alloc(const char *name, const struct disk_ops *ops, void *private)
{
	struct disk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);

	if (!disk)
		return NULL;
	disk->whole.stats = part_stats_new();
	if (!disk->whole.stats) {
		kfree(disk);
		return NULL;
	}
	strlcpy(disk->name, name, sizeof(disk->name));
	disk->ops = ops;
	disk->private = private;
	disk->parts[0] = &disk->whole;
	disk->whole.disk = disk;
	strlcpy(disk->whole.name, disk->name, sizeof(disk->whole.name));
	atomic_set(&disk->refs, 1);
	list_init(&disk->node);
	choose_major(disk);
	return disk;
}

void disk_get(struct disk *disk)
{
	atomic_inc(&disk->refs);
}

void disk_put(struct disk *disk)
{
	if (!atomic_dec_and_test(&disk->refs))
		return;
	if (disk->queue)
		queue_destroy(disk);
	if (disk->ops->release)
		disk->ops->release(disk);
	for (u32 i = 1; i < DISK_MINORS; i++) {
		if (disk->parts[i]) {
			kfree(disk->parts[i]->stats);
			kfree(disk->parts[i]);
		}
	}
	kfree(disk->whole.stats);
	kfree(disk);
}

static void set_default(u32 *value, u32 def)
{
	if (!*value)
		*value = def;
}

static int limits_check(struct disk *disk)
{
	struct disk_limits *l = &disk->limits;
	const char *wrong = NULL;

	set_default(&l->logical_block, SECTOR_SIZE);
	set_default(&l->physical_block, l->logical_block);
	set_default(&l->max_sectors, 1024);
	l->hw_max_sectors = l->max_sectors;
	set_default(&l->max_segments, 128);
	set_default(&l->max_segment_bytes, l->max_sectors << SECTOR_SHIFT);
	set_default(&l->queue_depth, 32);
	set_default(&l->nr_hw_queues, 1);
	if (!is_power_of_2(l->logical_block) || l->logical_block < SECTOR_SIZE ||
	    l->logical_block > PAGE_SIZE)
		wrong = "the logical block";
	else if ((!disk->nr_sectors && !disk->empty_ok) ||
		 disk->nr_sectors % (l->logical_block >> SECTOR_SHIFT))
		wrong = "the size";
	else if (l->max_sectors < PAGE_SIZE >> SECTOR_SHIFT || l->max_sectors > 1u << 20)
		wrong = "the largest request";
	else if (l->max_segment_bytes < PAGE_SIZE)
		wrong = "the largest segment";
	if (!wrong)
		return 0;
	pr_err("blk: %s not added: %s does not fit (%llu sectors, blocks of %u bytes, at most %u "
	       "sectors in %u segments of %u bytes)",
	       disk->name, wrong, (unsigned long long)disk->nr_sectors, l->logical_block,
	       l->max_sectors, l->max_segments, l->max_segment_bytes);
	return -EINVAL;
}

static int number_and_list(struct disk *disk)
{
	struct disk_slot *s;
	int err;

	mutex_lock(&disk_lock);
	err = slot_take_locked(disk);
	if (!err) {
		choose_minor_locked(disk);
		s = slots[disk->slot];
		snprintf(s->dev_text, sizeof(s->dev_text), "%u,%u", disk->major, disk->first_minor);
		disk->whole.dev = disk->major << 20 | disk->first_minor;
		disk->bdi.dev = disk->whole.dev;
		snprintf(disk->bdi.name, sizeof(disk->bdi.name), "%u:%u", disk->major,
			 disk->first_minor);
		list_add_tail(&disk->node, &disk_list); /* taken; found by nobody: no size yet */
		WRITE_ONCE(s->disk, disk);
		disk_get(disk);
	}
	mutex_unlock(&disk_lock);
	return err;
}

static void unlist(struct disk *disk)
{
	mutex_lock(&disk_lock);
	list_del_init(&disk->node);
	WRITE_ONCE(slots[disk->slot]->disk, NULL);
	mutex_unlock(&disk_lock);
	disk_put(disk);
}

static void tell_added(struct blk_part *part)
{
	if (disk_hooks && disk_hooks->added)
		disk_hooks->added(part);
}

static void tell_removed(struct blk_part *part)
{
	if (disk_hooks && disk_hooks->removed)
		disk_hooks->removed(part);
}

int disk_add(struct disk *disk)
{
	int err = limits_check(disk);

	if (err)
		return err;
	disk->whole.nr_sectors = disk->nr_sectors;
	disk->whole.read_only = disk->limits.read_only;
	if (disk->ops->queue_rq)
		err = queue_create(disk);
	if (err)
		return err;
	err = number_and_list(disk);
	if (err)
		return err;
	err = bdi_register(&disk->bdi);
	if (err) {
		unlist(disk);
		return err;
	}
	pr_info("blk: %s: %llu MiB, blocks of %u bytes%s%s%s", disk->name,
		(unsigned long long)disk->nr_sectors >> 11, disk->limits.logical_block,
		disk->limits.write_cache ? ", write cache" : "",
		disk->limits.discard ? ", discard" : "",
		disk->limits.read_only ? ", read-only" : "");
	tell_added(&disk->whole);
	disk_rescan(disk);
	return 0;
}

void disk_remove(struct disk *disk)
{
	WRITE_ONCE(disk->dead, true);
	if (disk->ops->removed)
		disk->ops->removed(disk);
	if (disk->queue)
		queue_drain_dead(disk);
	for (u32 i = DISK_MINORS; i-- > 0;)
		if (disk->parts[i] && disk->parts[i]->nr_sectors)
			tell_removed(disk->parts[i]);
	bdi_unregister(&disk->bdi);
	pr_info("blk: %s: removed", disk->name);
	unlist(disk);
}

void disk_set_size(struct disk *disk, u64 nr_sectors)
{
	if (nr_sectors == disk->nr_sectors)
		return;
	pr_info("blk: %s: %llu sectors, were %llu", disk->name, (unsigned long long)nr_sectors,
		(unsigned long long)disk->nr_sectors);
	WRITE_ONCE(disk->nr_sectors, nr_sectors);
	WRITE_ONCE(disk->whole.nr_sectors, nr_sectors);
}

/* ---- partitions as parts --------------------------------------------------------------------- */

/* => disk_lock not held; nobody uses partitions */
static void drop_partitions(struct disk *disk)
{
	for (u32 i = 1; i < DISK_MINORS; i++) {
		if (!disk->parts[i] || !disk->parts[i]->nr_sectors)
			continue;
		tell_removed(disk->parts[i]);
		WRITE_ONCE(disk->parts[i]->nr_sectors, 0);
	}
}

int disk_rescan(struct disk *disk)
{
	int err;

	for (u32 i = 1; i < DISK_MINORS; i++)
		if (disk->parts[i] && disk->parts[i]->bdev)
			return -EBUSY;
	drop_partitions(disk);
	err = disk_read_partitions(disk);
	mutex_lock(&disk_lock);
	part_slots_add(disk);
	mutex_unlock(&disk_lock);
	for (u32 i = 1; i < DISK_MINORS; i++)
		if (disk->parts[i] && disk->parts[i]->nr_sectors)
			tell_added(disk->parts[i]);
	return err;
}

/* ---- finding --------------------------------------------------------------------------------- */

static struct blk_part *find_part(const char *name, dev_t dev)
{
	struct blk_part *found = NULL, *p;
	struct disk *d;

	mutex_lock(&disk_lock);
	list_for_each_entry(d, &disk_list, node) {
		for (u32 i = 0; i < DISK_MINORS && !found && !d->dead; i++) {
			p = d->parts[i];
			if (p && (p->nr_sectors || (!i && d->empty_ok)) &&
			    (name ? !strcmp(p->name, name) : p->dev == dev))
				found = p;
		}
		if (found)
			break;
	}
	if (found)
		disk_get(found->disk);
	mutex_unlock(&disk_lock);
	return found;
}

struct blk_part *blk_part_get(const char *name)
{
	return find_part(name, 0);
}

struct blk_part *blk_part_get_dev(dev_t dev)
{
	return find_part(NULL, dev);
}

struct disk *disk_next(struct disk *prev)
{
	struct disk *next = NULL;
	struct list_head *n;

	mutex_lock(&disk_lock);
	n = prev && !list_empty(&prev->node) ? prev->node.next : prev ? &disk_list : disk_list.next;
	if (n != &disk_list) {
		next = list_entry(n, struct disk, node);
		disk_get(next);
	}
	mutex_unlock(&disk_lock);
	if (prev)
		disk_put(prev);
	return next;
}
