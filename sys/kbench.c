// SPDX-License-Identifier: BSD-2-Clause
/*
 * kbench.c - instructions per operation inside the kernel.
 *
 * Problem: a cost must be comparable with Linux's (data/linux-6.1.csv) and repeatable. Idea: run
 * each operation warm, many times, in a kernel thread bound to one CPU, between two readings of the
 * time stamp counter; on the virtual clock the difference divided by the count is instructions per
 * operation. Each row is measured with the interrupts-off tracer off and on; counters and
 * accounting are always active.
 *
 *   echo run > /sys/kernel/quire/kbench; cat /sys/kernel/quire/kbench
 *
 * The loop's own two or three instructions are part of the figure, as they are in the Linux figures
 * beside it.
 * Source: the operations are those of data/linux-6.1.csv; method as there.
 */
#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/uaccess.h"
#include "drivers/blk/create.h"
#include "kernel/show.h"
#include "kernel/spinlock.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/compact/compact.h"
#include "mm/compact/migrate.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "sched/mutex.h"

#define BATCH 4096

struct result {
	const char *name;
	u64 count, tsc[2]; /* operations; total with the tracer off, on */
};
static struct result results[24];
static unsigned int nr_results;
static DEFINE_MUTEX(kbench_lock, RANK_MOUNT);

static void note(const char *name, int traced, u64 count, u64 tsc)
{
	struct result *r = NULL;

	for (unsigned int i = 0; i < nr_results; i++)
		if (!strcmp(results[i].name, name))
			r = &results[i];
	if (!r) {
		if (nr_results == ARRAY_SIZE(results))
			return;
		r = &results[nr_results++];
		*r = (struct result){ .name = name };
	}
	r->count = count;
	r->tsc[traced] = tsc;
}

/*
 * Times n runs of the statement, after one warm-up run. The tick may fall into it, as it does in
 * real life; but a wish to switch that it leaves behind would cost every later preempt_enable() a
 * call, so every BURST runs the CPU is offered, off the clock. n is a multiple of BURST.
 */
#define BURST 500
#define BENCH(name, traced, n, statement)                                                          \
	do {                                                                                       \
		u64 _sum = 0, _t0;                                                                 \
		statement;                                                                         \
		for (unsigned int _done = 0; _done < (n); _done += BURST) {                        \
			cond_resched();                                                            \
			_t0 = rdtsc();                                                             \
			for (unsigned int _i = 0; _i < BURST; _i++) {                              \
				statement;                                                         \
			}                                                                          \
			_sum += rdtsc() - _t0;                                                     \
		}                                                                                  \
		note(name, traced, n, _sum);                                                       \
	} while (0)

static DEFINE_SPINLOCK(bench_lock, RANK_LEAF);

static void bench_locks(int traced)
{
	unsigned long flags;

	BENCH("spin_irqsave_pair", traced, 20000, {
		spin_lock_irqsave_l(&bench_lock, flags, "kbench");
		spin_unlock_irqrestore_l(&bench_lock, flags, "kbench");
	});
	BENCH("irq_save_restore", traced, 20000, {
		local_irq_save_l(flags, "kbench");
		local_irq_restore_l(flags, "kbench");
	});
	BENCH("spin_pair", traced, 20000, {
		spin_lock(&bench_lock);
		spin_unlock(&bench_lock);
	});
}

static void bench_order(const char *name, int traced, unsigned int order, unsigned int n)
{
	struct page *page;

	BENCH(name, traced, n, {
		page = alloc_pages(GFP_KERNEL, order);
		if (page)
			free_pages_order(page, order);
	});
}

static void bench_page_batch(int traced)
{
	struct page **pages = kmalloc(BATCH * sizeof(*pages), GFP_KERNEL);
	unsigned int n = 0;
	u64 t0;

	if (!pages)
		return;
	for (int round = 0; round < 2; round++) { /* the first warms up */
		cond_resched();
		t0 = rdtsc();
		for (n = 0; n < BATCH && (pages[n] = alloc_page(GFP_KERNEL)); n++)
			;
		note("page_batch_alloc", traced, n, rdtsc() - t0);
		t0 = rdtsc();
		for (unsigned int i = 0; i < n; i++)
			free_page(pages[i]);
		note("page_batch_free", traced, n, rdtsc() - t0);
	}
	kfree(pages);
}

static void bench_kmalloc(int traced)
{
	void *p;

	BENCH("kmalloc_64_pair", traced, 20000, {
		p = kmalloc(64, GFP_KERNEL);
		kfree(p);
	});
	BENCH("kmalloc_1024_pair", traced, 20000, {
		p = kmalloc(1024, GFP_KERNEL);
		kfree(p);
	});
}

static void bench_kmalloc_batch(int traced)
{
	void **objs = kmalloc(BATCH * sizeof(*objs), GFP_KERNEL);
	unsigned int n = 0;
	u64 t0;

	if (!objs)
		return;
	for (int round = 0; round < 2; round++) {
		cond_resched();
		t0 = rdtsc();
		for (n = 0; n < BATCH && (objs[n] = kmalloc(64, GFP_KERNEL)); n++)
			;
		note("kmalloc_64_batch_alloc", traced, n, rdtsc() - t0);
		t0 = rdtsc();
		for (unsigned int i = 0; i < n; i++)
			kfree(objs[i]);
		note("kmalloc_64_batch_free", traced, n, rdtsc() - t0);
	}
	kfree(objs);
}

/* Two threads wake each other in turn (sched/bench.c). */
static void bench_switch(int traced)
{
	const u32 rounds = 2000;
	u64 ns = sched_bench_switch(rounds);

	if (ns)
		note("kthread_switch", traced, 2 * rounds, 2 * rounds * ns);
}

static void put_bio(struct bio *bio)
{
	bio_put(bio);
}

static void write_4k(struct blk_part *part, struct page *page, u64 sector)
{
	struct bio *bio = bio_alloc(part, BIO_WRITE, sector, 1, GFP_KERNEL);

	bio->end_io = put_bio;
	bio_add_page(bio, page, 0, PAGE_SIZE);
	submit_bio(bio);
}

#define PLUGGED 16 /* bios between start and finish */

/* stride in sectors: 8 merges all, more none. Per run: PLUGGED bios */
static void write_plugged(struct blk_part *part, struct page *page, u32 stride)
{
	struct blk_plug plug;

	blk_plug_start(&plug);
	for (u32 i = 0; i < PLUGGED; i++)
		write_4k(part, page, (u64)i * stride);
	blk_plug_finish(&plug);
}

/* A bio of one page from bio_alloc to bio_put, to a disk that does nothing; the RAM disk copies. */
static void bench_bio(int traced, const char *kind, const char *name)
{
	struct disk *disk = disk_create(kind);
	struct page *page = alloc_page(GFP_KERNEL);

	if (!IS_ERR(disk) && page) {
		BENCH(name, traced, 5000, write_4k(&disk->whole, page, 64));
		if (disk->queue) {
			BENCH("16 plugged bios 4 KiB apart to a null disk", traced, 1000,
			      write_plugged(&disk->whole, page, 64));
			BENCH("16 plugged bios 4 KiB in a row to a null disk", traced, 1000,
			      write_plugged(&disk->whole, page, 8));
		}
	}
	if (!IS_ERR(disk)) {
		disk_remove(disk);
		disk_put(disk);
	}
	if (page)
		free_page(page);
}

/* ---- moving pages ---- */

#define MOVED 256ul
#define MAP_ANON_PRIVATE 0x22

static struct page *fresh_page(struct page *old, struct migrate_control *mc)
{
	return alloc_page(GFP_HIGHUSER_MOVABLE);
}

/* Pages of a program, each mapped once: off their list, to another frame, the copy included. */
static void move_pages_of(unsigned long addr, struct aspace *mm, int traced)
{
	struct migrate_control mc = { .mode = MIGRATE_SYNC,
				      .wait_rmap = true,
				      .get_new = fresh_page };
	LIST_HEAD(list);
	u64 t0;

	for (unsigned long i = 0; i < MOVED; i++)
		if (put_user_u32(1, (u32 __user *)(addr + i * PAGE_SIZE)))
			return;
	lru_drain_all();
	t0 = rdtsc();
	for (unsigned long i = 0; i < MOVED; i++) {
		pte_t *pte = pt_find(mm, addr + i * PAGE_SIZE);
		struct page *page = pte ? pfn_to_page(pte_pfn(pte_read(pte))) : NULL;

		if (page && migrate_isolate(page))
			list_add_tail(&page->lru, &list);
	}
	migrate_pages(&list, &mc);
	note("migrate_page", traced, max(mc.nr_succeeded, 1ul), rdtsc() - t0);
	migrate_putback(&list);
}

static void bench_migration(int traced)
{
	struct aspace *mm = aspace_create();
	long addr;

	if (!mm)
		return;
	addr = vm_map(mm, NULL, NULL, 0, MOVED * PAGE_SIZE, 3, MAP_ANON_PRIVATE, 0, 0, NULL);
	aspace_use(mm);
	if (addr > 0)
		move_pages_of((unsigned long)addr, mm, traced);
	aspace_use(NULL);
	aspace_put(mm);
}

/* All zones, in which there is nothing left to move: what a frame looked at costs. */
static void bench_compaction(int traced)
{
	struct zone *zone;
	u64 t0, frames;

	for_each_zone(zone)
		compact_whole_zone(zone);
	frames = vm_event_sum(COMPACTMIGRATE_SCANNED) + vm_event_sum(COMPACTFREE_SCANNED);
	t0 = rdtsc();
	for_each_zone(zone)
		compact_whole_zone(zone);
	t0 = rdtsc() - t0;
	frames = vm_event_sum(COMPACTMIGRATE_SCANNED) + vm_event_sum(COMPACTFREE_SCANNED) - frames;
	note("compact_frame", traced, max(frames, (u64)1), t0);
}

static int kbench_main(void *arg)
{
	bool was = irqoff_enabled;

	nr_results = 0;
	/* the first warms every cache and free list up; its figures are overwritten */
	for (int pass = 0; pass < 3; pass++) {
		int traced = pass == 2;

		irqoff_enabled = traced;
		bench_locks(traced);
		bench_order("page_order0_pair", traced, 0, 20000);
		bench_order("page_order3_pair", traced, 3, 5000);
		bench_order("page_order9_pair", traced, 9, 500);
		bench_page_batch(traced);
		bench_kmalloc(traced);
		bench_kmalloc_batch(traced);
		bench_switch(traced);
		bench_bio(traced, "null", "bio 4 KiB to a null disk");
		bench_bio(traced, "ram:size=1M", "bio 4 KiB to a RAM disk");
		bench_migration(traced);
		bench_compaction(traced);
	}
	irqoff_enabled = was;
	complete(arg);
	return 0;
}

static ssize_t kbench_store(const char *text, size_t n, long index)
{
	struct completion done;
	struct thread *t;

	if (strncmp(text, "run", 3))
		return -EINVAL;
	mutex_lock(&kbench_lock);
	completion_init(&done);
	t = kthread_create(kbench_main, &done, -1, "kbench");
	if (!t) {
		mutex_unlock(&kbench_lock);
		return -ENOMEM;
	}
	sched_set_affinity(t, CPU_BIT(0));
	thread_start(t);
	wait_for_completion(&done);
	mutex_unlock(&kbench_lock);
	return n;
}

/* name,count,instructions per operation with the tracer off,on (three decimals), clock */
static int kbench_show(struct seq *seq)
{
	seq_puts(seq, "operation,count,off,on,clock\n");
	for (unsigned int i = 0; i < nr_results; i++) {
		struct result *r = &results[i];
		u64 n = max_t(u64, r->count, 1);

		seq_printf(seq, "%s,%llu", r->name, (unsigned long long)r->count);
		for (int k = 0; k < 2; k++)
			seq_printf(seq, ",%llu.%03llu", (unsigned long long)(r->tsc[k] / n),
				   (unsigned long long)(r->tsc[k] % n * 1000 / n));
		seq_printf(seq, ",%s\n", arch_clock_is_virtual ? "instructions" : "tsc");
	}
	return 0;
}
SHOW("/sys/kernel/quire/kbench", 0644, kbench_show, kbench_store);
