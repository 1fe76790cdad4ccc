// SPDX-License-Identifier: BSD-2-Clause
/*
 * sysfs.c - /sys/block/NAME and /sys/block/NAME/NAMEn: names, sizes, statistics, and the tunables
 * of the queue, with Linux's names and formats.
 *
 * The files are arrays over the slots of names (disk.c): a slot without a disk has no files now.
 */
#include "drivers/blk/internal.h"
#include "kernel/show.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

/* ---- partitions: a growing table of the names that ever were --------------------------------- */

#define MAX_PART_SLOTS 256
static struct part_slot *part_slots[MAX_PART_SLOTS];
static int part_slot_count;

int nr_part_slots(void)
{
	return smp_load_acquire(&part_slot_count);
}

struct part_slot *part_slot(long i)
{
	return part_slots[i];
}

static struct part_slot *part_slot_find(u32 slot, u32 number)
{
	for (int i = 0; i < part_slot_count; i++)
		if (part_slots[i]->slot == slot && part_slots[i]->number == number)
			return part_slots[i];
	return NULL;
}

int part_slots_add(struct disk *disk)
{
	for (u32 n = 1; n < DISK_MINORS; n++) {
		const struct blk_part *p = disk->parts[n];
		struct part_slot *s;

		if (!p || part_slot_find(disk->slot, n))
			continue;
		s = part_slot_count < MAX_PART_SLOTS ? kzalloc(sizeof(*s), GFP_KERNEL) : NULL;
		if (!s)
			return -ENOMEM;
		snprintf(s->path, sizeof(s->path), "%s/%s", disk->name, p->name);
		s->slot = disk->slot;
		s->number = n;
		part_slots[part_slot_count] = s;
		smp_store_release(&part_slot_count, part_slot_count + 1);
	}
	return 0;
}

static bool part_present(long i)
{
	const struct part_slot *s = part_slots[i];
	bool there = false;
	struct disk *disk = disk_slot_get(s->slot);

	if (disk) {
		there = disk->parts[s->number] && disk->parts[s->number]->nr_sectors;
		disk_put(disk);
	}
	return there;
}

static const char *part_path(long i)
{
	return part_slots[i]->path;
}

static bool disk_present(long i)
{
	return READ_ONCE(disk_slot(i)->disk) != NULL;
}

static const char *disk_slot_name(long i)
{
	return disk_slot(i)->name;
}

/* ---- showing one disk or part ---------------------------------------------------------------- */

static int with_disk(struct seq *seq, int (*fn)(struct seq *seq, struct disk *disk))
{
	struct disk *disk = disk_slot_get(seq->index);
	int err;

	if (!disk)
		return -ENODEV;
	err = fn(seq, disk);
	disk_put(disk);
	return err;
}

static int with_part(struct seq *seq, int (*fn)(struct seq *seq, struct blk_part *part))
{
	const struct part_slot *s = part_slots[seq->index];
	struct disk *disk = disk_slot_get(s->slot);
	struct blk_part *part = disk ? disk->parts[s->number] : NULL;
	int err = part && part->nr_sectors ? fn(seq, part) : -ENODEV;

	if (disk)
		disk_put(disk);
	return err;
}

#define DISK_FILE(path_, mode_, show_, store_, present_)                                           \
	static struct show_entry __unique(__show_) __attribute__((                                 \
		section(".show"), used, aligned(8))) = { .path = "/sys/block/%s/" path_,           \
							 .mode = mode_,                            \
							 .show = show_,                            \
							 .store = store_,                          \
							 .nr = nr_disk_slots,                      \
							 .present = present_,                      \
							 .name = disk_slot_name }
#define PART_FILE(path_, show_)                                                                    \
	static struct show_entry __unique(__show_) __attribute__((                                 \
		section(".show"), used, aligned(8))) = { .path = "/sys/block/%s/" path_,           \
							 .mode = 0444,                             \
							 .show = show_,                            \
							 .nr = nr_part_slots,                      \
							 .present = part_present,                  \
							 .name = part_path }
/* A value of a part, for the disk and for its partitions. */
#define BOTH(name_, expr_fmt, ...)                                                                 \
	static int part_##name_(struct seq *seq, struct blk_part *part)                            \
	{                                                                                          \
		seq_printf(seq, expr_fmt "\n", __VA_ARGS__);                                       \
		return 0;                                                                          \
	}                                                                                          \
	static int whole_##name_(struct seq *seq, struct disk *disk)                               \
	{                                                                                          \
		return part_##name_(seq, &disk->whole);                                            \
	}                                                                                          \
	static int show_disk_##name_(struct seq *seq)                                              \
	{                                                                                          \
		return with_disk(seq, whole_##name_);                                              \
	}                                                                                          \
	static int show_part_##name_(struct seq *seq)                                              \
	{                                                                                          \
		return with_part(seq, part_##name_);                                               \
	}                                                                                          \
	DISK_FILE(#name_, 0444, show_disk_##name_, NULL, disk_present);                            \
	PART_FILE(#name_, show_part_##name_)

BOTH(size, "%llu", (unsigned long long)part->nr_sectors);
BOTH(dev, "%u:%u", part->dev >> 20, part->dev & 0xfffff);
BOTH(ro, "%d", part->read_only || part->disk->limits.read_only);
BOTH(inflight, "%8d %8d", atomic_read(&part->stats->inflight[0]),
     atomic_read(&part->stats->inflight[1]));

static int part_stat(struct seq *seq, struct blk_part *part)
{
	part_stat_show(seq, part);
	seq_putc(seq, '\n');
	return 0;
}

static int part_start(struct seq *seq, struct blk_part *part)
{
	seq_printf(seq, "%llu\n", (unsigned long long)part->start);
	return 0;
}

static int part_number(struct seq *seq, struct blk_part *part)
{
	seq_printf(seq, "%u\n", part->number);
	return 0;
}

static int show_part_stat(struct seq *seq)
{
	return with_part(seq, part_stat);
}
PART_FILE("stat", show_part_stat);

static int show_part_start(struct seq *seq)
{
	return with_part(seq, part_start);
}
PART_FILE("start", show_part_start);

static int show_part_number(struct seq *seq)
{
	return with_part(seq, part_number);
}
PART_FILE("partition", show_part_number);

static int disk_stat(struct seq *seq, struct disk *disk)
{
	return part_stat(seq, &disk->whole);
}

static int show_disk_stat(struct seq *seq)
{
	return with_disk(seq, disk_stat);
}
DISK_FILE("stat", 0444, show_disk_stat, NULL, disk_present);

static int removable_show(struct seq *seq)
{
	seq_puts(seq, "0\n");
	return 0;
}
DISK_FILE("removable", 0444, removable_show, NULL, disk_present);

static int range_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", DISK_MINORS);
	return 0;
}
DISK_FILE("range", 0444, range_show, NULL, disk_present);

static int disk_model(struct seq *seq, struct disk *disk)
{
	disk->ops->show(disk, seq);
	return 0;
}

static int model_show(struct seq *seq)
{
	return with_disk(seq, disk_model);
}

static bool model_present(long i)
{
	struct disk *disk = disk_slot_get(i);
	bool there = disk && disk->ops->show;

	if (disk)
		disk_put(disk);
	return there;
}

static ssize_t model_store(const char *text, size_t n, long index)
{
	struct disk *disk = disk_slot_get(index);
	int err = disk ? -EACCES : -ENODEV;

	if (disk && disk->ops->store)
		err = disk->ops->store(disk, text);
	if (disk)
		disk_put(disk);
	return err ? err : (ssize_t)n;
}
DISK_FILE("model", 0644, model_show, model_store, model_present);
