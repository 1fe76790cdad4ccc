// SPDX-License-Identifier: BSD-2-Clause
/*
 * queue_sysfs.c - /sys/block/NAME/queue: the tunables of a queue and of its policy, with Linux's
 * names. A disk without a queue has the files that describe it.
 */
#include "drivers/blk/internal.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/parse.h"
#include "lib/string.h"

typedef void (*queue_show_fn)(struct seq *seq, struct disk *disk);
typedef int (*queue_store_fn)(struct disk *disk, const char *text);

static int show_of(struct seq *seq, queue_show_fn fn)
{
	struct disk *disk = disk_slot_get(seq->index);

	if (!disk)
		return -ENODEV;
	fn(seq, disk);
	disk_put(disk);
	return 0;
}

static ssize_t store_of(const char *text, size_t n, long index, queue_store_fn fn)
{
	struct disk *disk = disk_slot_get(index);
	int err;

	if (!disk)
		return -ENODEV;
	err = fn(disk, text);
	disk_put(disk);
	return err ? err : (ssize_t)n;
}

static const char *slot_name(long i)
{
	return disk_slot(i)->name;
}

static bool any_disk(long i)
{
	return READ_ONCE(disk_slot(i)->disk) != NULL;
}

static bool with_queue(long i)
{
	struct disk *disk = disk_slot_get(i);
	bool there = disk && disk->queue;

	if (disk)
		disk_put(disk);
	return there;
}

#define QUEUE_ENTRY(path_, mode_, show_, store_, present_)                                         \
	static struct show_entry __unique(__show_) __attribute__((                                 \
		section(".show"), used, aligned(8))) = { .path = "/sys/block/%s/queue/" path_,     \
							 .mode = mode_,                            \
							 .show = show_,                            \
							 .store = store_,                          \
							 .nr = nr_disk_slots,                      \
							 .present = present_,                      \
							 .name = slot_name }
#define QUEUE_SHOW(name_, present_)                                                                \
	static int show_##name_(struct seq *seq)                                                   \
	{                                                                                          \
		return show_of(seq, print_##name_);                                                \
	}                                                                                          \
	QUEUE_ENTRY(#name_, 0444, show_##name_, NULL, present_)
#define QUEUE_FILE(name_, present_)                                                                \
	static int show_##name_(struct seq *seq)                                                   \
	{                                                                                          \
		return show_of(seq, print_##name_);                                                \
	}                                                                                          \
	static ssize_t store_##name_(const char *text, size_t n, long index)                       \
	{                                                                                          \
		return store_of(text, n, index, set_##name_);                                      \
	}                                                                                          \
	QUEUE_ENTRY(#name_, 0644, show_##name_, store_##name_, present_)
#define QUEUE_NUMBER(name_, expr)                                                                  \
	static void print_##name_(struct seq *seq, struct disk *disk)                              \
	{                                                                                          \
		seq_printf(seq, "%llu\n", (unsigned long long)(expr));                             \
	}                                                                                          \
	QUEUE_SHOW(name_, any_disk)

/* A number from text within [lo, hi]. => 0, -EINVAL */
static int number(const char *text, u64 lo, u64 hi, u64 *out)
{
	int err = parse_u64(text, out);

	return err || *out < lo || *out > hi ? -EINVAL : 0;
}

/* ---- what is only told ----------------------------------------------------------------------- */

QUEUE_NUMBER(logical_block_size, disk->limits.logical_block);
QUEUE_NUMBER(physical_block_size, disk->limits.physical_block);
QUEUE_NUMBER(hw_sector_size, disk->limits.logical_block);
QUEUE_NUMBER(minimum_io_size, disk->limits.physical_block);
QUEUE_NUMBER(optimal_io_size, 0);
QUEUE_NUMBER(max_hw_sectors_kb, disk->limits.hw_max_sectors / 2);
QUEUE_NUMBER(max_segments, disk->limits.max_segments);
QUEUE_NUMBER(max_segment_size, disk->limits.max_segment_bytes);
QUEUE_NUMBER(fua, disk->limits.fua && disk->limits.write_cache);
QUEUE_NUMBER(discard_granularity, disk->limits.discard ? disk->limits.physical_block : 0);
QUEUE_NUMBER(discard_max_bytes, !disk->limits.discard ? 0
				: disk->limits.max_discard_sectors
					? (u64)disk->limits.max_discard_sectors * SECTOR_SIZE
					: (u64)U32_MAX & ~4095ull);
QUEUE_NUMBER(write_zeroes_max_bytes, disk->limits.write_zeroes ? U32_MAX & ~4095ull : 0);

static void print_write_cache(struct seq *seq, struct disk *disk)
{
	seq_puts(seq, disk->limits.write_cache ? "write back\n" : "write through\n");
}
QUEUE_SHOW(write_cache, any_disk);

/* ---- what can be set ------------------------------------------------------------------------- */

static void print_rotational(struct seq *seq, struct disk *disk)
{
	seq_printf(seq, "%d\n", disk->limits.rotational);
}
static int set_rotational(struct disk *disk, const char *text)
{
	return parse_bool(text, &disk->limits.rotational);
}
QUEUE_FILE(rotational, any_disk);

static void print_read_ahead_kb(struct seq *seq, struct disk *disk)
{
	seq_printf(seq, "%u\n", disk->bdi.ra_pages * (u32)(PAGE_SIZE >> 10));
}
static int set_read_ahead_kb(struct disk *disk, const char *text)
{
	u64 kb;
	int err = number(text, 0, 1 << 20, &kb);

	if (!err)
		WRITE_ONCE(disk->bdi.ra_pages, (u32)(kb / (PAGE_SIZE >> 10)));
	return err;
}
QUEUE_FILE(read_ahead_kb, any_disk);

static void print_max_sectors_kb(struct seq *seq, struct disk *disk)
{
	seq_printf(seq, "%u\n", disk->limits.max_sectors / 2);
}
static int set_max_sectors_kb(struct disk *disk, const char *text)
{
	u64 kb;
	int err = number(text, PAGE_SIZE >> 10, disk->limits.hw_max_sectors / 2, &kb);

	if (!err)
		WRITE_ONCE(disk->limits.max_sectors, (u32)kb * 2);
	return err;
}
QUEUE_FILE(max_sectors_kb, any_disk);

static void print_nr_requests(struct seq *seq, struct disk *disk)
{
	seq_printf(seq, "%u\n", disk->queue->nr_requests);
}
static int set_nr_requests(struct disk *disk, const char *text)
{
	u64 n;

	if (parse_u64(text, &n) || n > 65536)
		return -EINVAL;
	queue_set_nr_requests(disk->queue, max_t(u32, n, 4)); /* Linux's floor */
	return 0;
}
QUEUE_FILE(nr_requests, with_queue);

static void print_io_timeout(struct seq *seq, struct disk *disk)
{
	seq_printf(seq, "%llu\n", (unsigned long long)(disk->queue->time_limit_ns / NSEC_PER_MSEC));
}
static int set_io_timeout(struct disk *disk, const char *text)
{
	u64 ms;
	int err = number(text, 1, 1 << 30, &ms);

	if (!err)
		WRITE_ONCE(disk->queue->time_limit_ns, ms * NSEC_PER_MSEC);
	return err;
}
QUEUE_FILE(io_timeout, with_queue);

static void print_scheduler(struct seq *seq, struct disk *disk)
{
	const struct elevator_ops *ops;

	if (!disk->queue) {
		seq_puts(seq, "none\n");
		return;
	}
	for (u32 i = 0; (ops = elevator_nth(i)); i++)
		seq_printf(seq, ops == READ_ONCE(disk->queue->elv) ? "%s[%s]" : "%s%s",
			   i ? " " : "", ops->name);
	seq_putc(seq, '\n');
}
static int set_scheduler(struct disk *disk, const char *text)
{
	char name[16];

	if (!disk->queue || strlcpy(name, text, sizeof(name)) >= sizeof(name))
		return -EINVAL;
	return queue_set_elevator(disk->queue, strstrip(name));
}
QUEUE_FILE(scheduler, any_disk);

/* Not Linux's: what the queue holds now. */
static void print_state(struct seq *seq, struct disk *disk)
{
	struct blk_queue *q = disk->queue;

	seq_printf(
		seq,
		"async %u of %u%s%s\nsync %u of %u%s%s\ncongested at %u, not below %u\n"
		"waiting %u\nin driver %u of %u%s\nissued %llu\nmerged %llu\nbusy %llu\nmade %u\n",
		q->pool[0].in_use, q->nr_requests, q->pool[0].congested ? " congested" : "",
		q->pool[0].full ? " full" : "", q->pool[1].in_use, q->nr_requests,
		q->pool[1].congested ? " congested" : "", q->pool[1].full ? " full" : "", q->on,
		q->off, q->nr_waiting, q->nr_in_driver, q->depth, q->busy ? " busy" : "",
		(unsigned long long)q->nr_issued, (unsigned long long)q->nr_merged,
		(unsigned long long)q->nr_busy, q->nr_made);
}
QUEUE_SHOW(state, with_queue);

/* ---- the policy's own ------------------------------------------------------------------------ */

static const struct elevator_attr *find_attr(const struct elevator_ops *ops, const char *name)
{
	for (const struct elevator_attr *a = ops->attrs; a && a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

static u64 *attr_value(struct blk_queue *q, const struct elevator_attr *a)
{
	return (u64 *)((char *)q->elv_data + a->offset);
}

static int iosched_show(struct seq *seq, const char *name)
{
	struct disk *disk = disk_slot_get(seq->index);
	const struct elevator_attr *a;
	int err = -ENODEV;

	if (!disk)
		return err;
	if (disk->queue) {
		mutex_lock(&disk->queue->tune);
		a = find_attr(disk->queue->elv, name);
		if (a) {
			seq_printf(seq, "%llu\n",
				   (unsigned long long)(*attr_value(disk->queue, a) / a->unit));
			err = 0;
		}
		mutex_unlock(&disk->queue->tune);
	}
	disk_put(disk);
	return err;
}

static ssize_t iosched_store(const char *text, size_t n, long index, const char *name)
{
	struct disk *disk = disk_slot_get(index);
	const struct elevator_attr *a;
	int err = -ENODEV;
	u64 v;

	if (!disk)
		return err;
	if (disk->queue) {
		mutex_lock(&disk->queue->tune);
		a = find_attr(disk->queue->elv, name);
		err = a ? number(text, a->min, a->max, &v) : -ENODEV;
		if (!err)
			WRITE_ONCE(*attr_value(disk->queue, a), v * a->unit);
		mutex_unlock(&disk->queue->tune);
	}
	disk_put(disk);
	return err ? err : (ssize_t)n;
}

static bool iosched_present(long index, const char *name)
{
	struct disk *disk = disk_slot_get(index);
	bool there = disk && disk->queue && find_attr(READ_ONCE(disk->queue->elv), name);

	if (disk)
		disk_put(disk);
	return there;
}

#define IOSCHED(name_)                                                                             \
	static int iosched_show_##name_(struct seq *seq)                                           \
	{                                                                                          \
		return iosched_show(seq, #name_);                                                  \
	}                                                                                          \
	static ssize_t iosched_store_##name_(const char *text, size_t n, long index)               \
	{                                                                                          \
		return iosched_store(text, n, index, #name_);                                      \
	}                                                                                          \
	static bool iosched_present_##name_(long index)                                            \
	{                                                                                          \
		return iosched_present(index, #name_);                                             \
	}                                                                                          \
	QUEUE_ENTRY("iosched/" #name_, 0644, iosched_show_##name_, iosched_store_##name_,          \
		    iosched_present_##name_)
IOSCHED(read_expire);
IOSCHED(write_expire);
IOSCHED(fifo_batch);
IOSCHED(writes_starved);
IOSCHED(front_merges);
IOSCHED(slice_sync);
IOSCHED(slice_async);
IOSCHED(slice_idle);
IOSCHED(target_latency);
IOSCHED(quantum);
IOSCHED(fifo_expire_sync);
IOSCHED(fifo_expire_async);
IOSCHED(back_seek_max);
IOSCHED(back_seek_penalty);
IOSCHED(low_latency);
