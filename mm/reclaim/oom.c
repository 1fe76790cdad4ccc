/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oom.c - out of memory: say what the machine looks like, then let sys/ kill the process that gives
 * most back.
 *
 * One kill at a time: while a victim is still leaving, others wait and try again. A victim that
 * does not leave within a second (it may itself wait for memory) no longer protects the others.
 *
 * It need not run to give memory back: the thread oom_reaper takes its private pages away at once
 * (mm/vm/reap.c), unless somebody else uses the same address space. It only tries the victim's
 * lock, ten times, a tenth of a second apart.
 * Locking: reap_lock is a leaf; the list holds a reference (refs) of each address space.
 */
#include "kernel/counter.h"
#include "kernel/printk.h"
#include "kernel/softirq.h"
#include "kernel/time.h"
#include "mm/reclaim/reclaim.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "sched/kthread.h"
#include "sched/mutex.h"

#define VICTIM_PATIENCE_NS NSEC_PER_SEC
#define SILENCE_NS (10 * NSEC_PER_SEC)

const struct oom_ops *oom_ops;
static DEFINE_MUTEX(oom_mutex, RANK_NONE);
static ktime_t last_kill;

#define KB(pages) ((pages) << (PAGE_SHIFT - 10))

static void report_zone(struct zone *z)
{
	unsigned long blocks[MAX_ORDER];

	for (int o = 0; o < MAX_ORDER; o++)
		blocks[o] = READ_ONCE(z->buddy.area[o].nr_free);
	pr_info("Node %d %s free:%lukB min:%lukB low:%lukB high:%lukB active_anon:%lukB "
		"inactive_anon:%lukB "
		"active_file:%lukB inactive_file:%lukB unevictable:%lukB managed:%lukB dirty:%lukB "
		"writeback:%lukB "
		"slab_reclaimable:%lukB slab_unreclaimable:%lukB pagetables:%lukB stacks:%lukB "
		"shmem:%lukB",
		z->node->id, z->name, KB(zone_state(z, NR_FREE_PAGES)), KB(z->watermark[WMARK_MIN]),
		KB(z->watermark[WMARK_LOW]), KB(z->watermark[WMARK_HIGH]),
		KB(zone_state(z, NR_ACTIVE_ANON)), KB(zone_state(z, NR_INACTIVE_ANON)),
		KB(zone_state(z, NR_ACTIVE_FILE)), KB(zone_state(z, NR_INACTIVE_FILE)),
		KB(zone_state(z, NR_UNEVICTABLE)), KB(z->managed_pages),
		KB(zone_state(z, NR_DIRTY)), KB(zone_state(z, NR_WRITEBACK)),
		KB(zone_state(z, NR_SLAB_RECLAIMABLE)), KB(zone_state(z, NR_SLAB_UNRECLAIMABLE)),
		KB(zone_state(z, NR_PAGETABLE)), KB(zone_state(z, NR_KERNEL_STACK)),
		KB(zone_state(z, NR_SHMEM)));
	pr_info("Node %d %s: lowmem_reserve[]: %lu %lu %lu %lu %lu", z->node->id, z->name,
		z->lowmem_reserve[0], z->lowmem_reserve[1], z->lowmem_reserve[2],
		z->lowmem_reserve[3], z->lowmem_reserve[4]);
	pr_info("Node %d %s: %lu*4kB %lu*8kB %lu*16kB %lu*32kB %lu*64kB %lu*128kB %lu*256kB "
		"%lu*512kB %lu*1024kB "
		"%lu*2048kB %lu*4096kB",
		z->node->id, z->name, blocks[0], blocks[1], blocks[2], blocks[3], blocks[4],
		blocks[5], blocks[6], blocks[7], blocks[8], blocks[9], blocks[10]);
}

void mm_report(void)
{
	struct zone *z;

	pr_info("Mem-Info: active_anon:%lu inactive_anon:%lu active_file:%lu inactive_file:%lu "
		"unevictable:%lu dirty:%lu "
		"writeback:%lu slab_reclaimable:%lu slab_unreclaimable:%lu mapped:%lu shmem:%lu "
		"pagetables:%lu free:%lu",
		global_zone_state(NR_ACTIVE_ANON), global_zone_state(NR_INACTIVE_ANON),
		global_zone_state(NR_ACTIVE_FILE), global_zone_state(NR_INACTIVE_FILE),
		global_zone_state(NR_UNEVICTABLE), global_zone_state(NR_DIRTY),
		global_zone_state(NR_WRITEBACK), global_zone_state(NR_SLAB_RECLAIMABLE),
		global_zone_state(NR_SLAB_UNRECLAIMABLE), global_zone_state(NR_MAPPED),
		global_zone_state(NR_SHMEM), global_zone_state(NR_PAGETABLE), nr_free_pages());
	for_each_zone(z)
		report_zone(z);
	pr_info("%lu pages of RAM, %lu pagecache pages, %lu pages of vmalloc", totalram_pages,
		global_zone_state(NR_FILE_PAGES), global_zone_state(NR_VMALLOC));
	pr_info("%lu pages in swap cache, free swap %lukB, total swap %lukB", swapcache_pages(),
		KB(nr_swap_pages()), KB(total_swap_pages()));
}

static void report(gfp_t gfp, unsigned int order)
{
	pr_warn("%s invoked oom-killer: gfp_mask=%#x, order=%u", current->comm, gfp, order);
	mm_report();
	oom_ops->print_tasks();
}

/* => oom_mutex */
static bool choose_and_kill(gfp_t gfp, unsigned int order)
{
	static ktime_t nobody_at; /* when there was nobody to kill; 0: not lately */
	ktime_t now = ktime_get();
	bool silent = nobody_at && now - nobody_at < SILENCE_NS;

	/* Who cannot be helped asks again and again: one report says it. */
	if (!silent)
		report(gfp, order);
	if (oom_ops->kill()) {
		count_vm_event(OOM_KILL);
		last_kill = ktime_get();
		nobody_at = 0;
		return true;
	}
	if (!silent) {
		pr_err("Out of memory and no killable processes...");
		nobody_at = now;
	}
	return false;
}

bool oom_kill(gfp_t gfp, unsigned int order)
{
	bool killed = false;

	if (!oom_ops)
		return false;
	if (!mutex_trylock(&oom_mutex))
		return true; /* somebody is choosing right now */
	if (oom_ops->victim_alive() && ktime_get() - last_kill < VICTIM_PATIENCE_NS)
		killed = true;
	else
		killed = choose_and_kill(gfp, order);
	mutex_unlock(&oom_mutex);
	return killed;
}

/* ---- the reaper ---- */

#define REAP_TRIES 10
#define REAP_PAUSE_NS (100 * NSEC_PER_MSEC)
#define REAP_END ((struct aspace *)1) /* the last one's link: NULL is for those on no list */

static spinlock_t reap_lock = SPINLOCK_INIT(RANK_LEAF, "oom_reap");
static struct aspace *reap_list = REAP_END;
static DEFINE_WAIT_QUEUE(reap_wait);
COUNTER(oom_reaped, "victims of the killer whose memory was taken away before they ran");

void oom_reap_later(struct aspace *mm)
{
	bool mine = false;

	softirq_disable(); /* callers may have them off: then always */
	spin_lock(&reap_lock);
	if (!mm->reap_next && !mm->oom_reaped) {
		aspace_grab(mm);
		mm->reap_next = reap_list;
		reap_list = mm;
		mine = true;
	}
	spin_unlock(&reap_lock);
	softirq_enable();
	if (mine)
		wake_up(&reap_wait);
}

static struct aspace *next_to_reap(void)
{
	struct aspace *mm;

	softirq_disable();
	spin_lock(&reap_lock);
	mm = reap_list;
	if (mm != REAP_END)
		reap_list = mm->reap_next;
	spin_unlock(&reap_lock);
	softirq_enable();
	return mm;
}

static void reap(struct aspace *mm)
{
	unsigned long anon = atomic_long_read(&mm->rss_anon);

	/* Without users it has gone by itself, or is just doing so. */
	if (atomic_inc_not_zero(&mm->users)) {
		for (int i = 0; i < REAP_TRIES; i++) {
			if (!aspace_reap(mm)) {
				count_add(oom_reaped, 1);
				pr_info("oom_reaper: took away %lukB of %lukB",
					KB(anon - min(anon, (unsigned long)atomic_long_read(
								    &mm->rss_anon))),
					KB(anon));
				break;
			}
			sleep_ns(REAP_PAUSE_NS);
		}
		aspace_put(mm);
	}
	aspace_drop(mm);
}

static int reaper(void *unused)
{
	/* What it needs to free memory it may take from the reserves. */
	__atomic_fetch_or(&current->flags, TF_MEMALLOC, __ATOMIC_RELAXED);
	for (;;) {
		struct aspace *mm = next_to_reap();

		if (mm == REAP_END)
			(void)wait_event_interruptible(&reap_wait,
						       READ_ONCE(reap_list) != REAP_END);
		else
			reap(mm);
	}
	return 0;
}

void oom_init(void)
{
	if (!kthread_run(reaper, NULL, -1, "oom_reaper"))
		panic("oom: no memory for the reaper's thread");
}
