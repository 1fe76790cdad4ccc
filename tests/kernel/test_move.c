/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_move.c - pages go to the nodes they are sent to: move_pages, migrate_pages, mbind, of small
 * and of huge pages; what the files of /proc say of a page on its way, and who asks for it waits;
 * many senders at once. Contents, entries and all counts stay right.
 */
#include "arch/uaccess.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/printf.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/debug/vmstat.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/zone.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/rmap.h"
#include "mm/vm/thp.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define ANON 0x22
#define RW 3
#define MAX_PAGES 512ul /* of one call here */
enum { BIND = 2, INTERLEAVE = 3, STRICT = 1, MOVE = 2, MOVE_ALL = 4 };

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

/* The first two nodes with memory, and how many there are. */
static int near, far, nr;

static bool two_nodes(void)
{
	u64 mask = memory_nodes();

	nr = hweight64(mask);
	if (nr < 2)
		return false;
	near = __ffs(mask);
	far = __ffs(mask & (mask - 1));
	return true;
}

static void sum(long *n)
{
	static const enum zone_stat_item items[] = { NR_ANON_PAGES, NR_ANON_THPS, NR_ISOLATED_ANON,
						     NR_MLOCK };

	lru_drain_all();
	for (u32 i = 0; i < ARRAY_SIZE(items); i++)
		n[i] = (long)global_zone_state(items[i]);
}

/* A program: its area, and a place for the arguments of its system calls. */
struct world {
	struct aspace *mm;
	unsigned long area, args, pages;
	long before[4];
	u32 thp;
};

static bool begin(struct world *w, unsigned long pages, unsigned long vm_flags)
{
	long addr;

	sum(w->before);
	w->thp = switch_thp.value;
	WRITE_ONCE(switch_thp.value, THP_MADVISE);
	w->mm = aspace_create();
	if (!w->mm)
		return false;
	aspace_use(w->mm);
	w->pages = pages;
	w->args = vm_map(w->mm, NULL, NULL, 0, 4 * P, RW, ANON, 0, VM_DONTDUMP,
			 NULL); /* a VMA apart */
	addr = vm_map(w->mm, NULL, NULL, 0, pages * P + 2 * HPAGE_SIZE, RW, ANON, 0, vm_flags,
		      NULL);
	w->area = ALIGN_UP((unsigned long)addr, HPAGE_SIZE);
	return addr > 0 && (long)w->args > 0;
}

/* All counts are as before? */
static bool end(struct world *w)
{
	const char *wrong = aspace_check(w->mm);
	long after[4];

	aspace_use(NULL);
	aspace_put(w->mm);
	WRITE_ONCE(switch_thp.value, w->thp);
	sum(after);
	return !wrong && !memcmp(after, w->before, sizeof(after));
}

static int fill(const struct world *w, unsigned long from, unsigned long n)
{
	int err = 0;

	for (unsigned long i = from; i < from + n; i++)
		err |= poke(w->area + i * P + i % 1000 * 4, (u32)i + 1);
	return err;
}

/* => how many pages from `from` on do not have what fill() wrote */
static unsigned long wrong(const struct world *w, unsigned long from, unsigned long n)
{
	unsigned long bad = 0;

	for (unsigned long i = from; i < from + n; i++)
		bad += peek(w->area + i * P + i % 1000 * 4) != (u32)i + 1;
	return bad;
}

static void address(const struct world *w, unsigned long i, unsigned long addr, int node)
{
	if (put_user_u64(addr, (u64 __user *)w->args + i))
		pr_err("move: no memory for an argument\n");
	poke(w->args + P + i * 4, (u32)node);
	poke(w->args + 2 * P + i * 4, 0x7777);
}

static int status(const struct world *w, unsigned long i)
{
	return (int)peek(w->args + 2 * P + i * 4);
}

/* node < 0: only asks */
static long send(const struct world *w, struct aspace *mm, unsigned long from, unsigned long n,
		 int node, int flags)
{
	for (unsigned long i = 0; i < n; i++)
		address(w, i, w->area + (from + i) * P, node);
	return vm_move_pages(mm, n, (const u64 __user *)w->args,
			     node < 0 ? NULL : (const int __user *)(w->args + P),
			     (int __user *)(w->args + 2 * P), flags);
}

/* How many of the n pages lie on node, as the kernel says. */
static unsigned long count_on(const struct world *w, unsigned long from, unsigned long n, int node)
{
	unsigned long found = 0;

	for (unsigned long at = 0; at < n; at += MAX_PAGES) {
		unsigned long some = min(n - at, MAX_PAGES);

		if (send(w, w->mm, from + at, some, -1, 0))
			return 0;
		for (unsigned long i = 0; i < some; i++)
			found += status(w, i) == node;
	}
	return found;
}

static long bind(const struct world *w, unsigned long from, unsigned long n, int mode, u64 nodes,
		 int flags)
{
	if (put_user_u64(nodes, (u64 __user *)(w->args + 3 * P)))
		return -EFAULT;
	return vm_mbind(w->area + from * P, n * P, mode,
			(const unsigned long __user *)(w->args + 3 * P), 64, flags, 1);
}

/* The frame behind addr is on the node the kernel says? (Not by its own words.) */
static bool lies_on(struct aspace *mm, unsigned long addr, int node)
{
	pte_t *pte = pt_find(mm, addr), e = pte ? pte_read(pte) : (pte_t){ 0 };

	return pte_mapped(e) && page_node(pfn_to_page(pte_pfn(e))) == node;
}

KTEST(move, pages)
{
	struct world w;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(begin(&w, 512, 0));
	KT_EQ(fill(&w, 0, 500), 0);
	for (int round = 0; round < 3; round++) {
		KT_EQ(send(&w, w.mm, 0, 500, far, MOVE), 0);
		for (unsigned long i = 0; i < 500; i++) {
			KT_EQ(status(&w, i), far);
			KT_ASSERT(lies_on(w.mm, w.area + i * P, far));
		}
		KT_EQ(send(&w, w.mm, 100, 300, near, MOVE), 0);
		KT_EQ(count_on(&w, 0, 500, near), 300);
		KT_EQ(count_on(&w, 0, 500, far), 200);
	}
	KT_EQ(send(&w, w.mm, 498, 4, near, MOVE), 0);
	KT_EQ(status(&w, 1), near);
	KT_EQ(status(&w, 2), -EFAULT);
	KT_EQ(wrong(&w, 0, 500), 0);
	KT_EQ(fill(&w, 0, 500), 0); /* they are writable as before */
	KT_ASSERT(end(&w));
}

/* Somebody has a reference: the page stays, its group is given up, the others are in place. */
KTEST(move, held)
{
	struct page *page;
	struct world w;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(begin(&w, 16, 0));
	KT_EQ(fill(&w, 0, 10), 0);
	KT_EQ(send(&w, w.mm, 0, 10, near, MOVE), 0);
	KT_EQ(vm_pin_user(w.area + 4 * P, 1, 0, &page), 1);
	for (unsigned long i = 0; i < 10; i++)
		address(&w, i, w.area + i * P, i < 7 ? far : near);
	KT_EQ(vm_move_pages(w.mm, 10, (const u64 __user *)w.args, (const int __user *)(w.args + P),
			    (int __user *)(w.args + 2 * P), MOVE),
	      4); /* the held one, and three behind its group that were not tried */
	KT_EQ(status(&w, 0), 0x7777);
	KT_EQ(status(&w, 9), 0x7777);
	KT_EQ(count_on(&w, 0, 10, far), 6);
	KT_EQ(bind(&w, 0, 10, BIND, BIT(near), MOVE | STRICT), 0);
	KT_EQ(bind(&w, 0, 10, BIND, BIT(far), MOVE | STRICT), -EIO);
	KT_EQ(count_on(&w, 0, 10, far), 9);
	page_put(page);
	KT_EQ(bind(&w, 0, 10, BIND, BIT(far), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 10, far), 10);
	KT_EQ(wrong(&w, 0, 10), 0);
	KT_ASSERT(end(&w));
}

/* More pages than are off the LRU at once; from every node to the next, none twice. */
KTEST(move, nodes_shift)
{
	unsigned long pages = 1200;
	int node[MAX_NODES], i = 0;
	u64 from, to, m;
	struct world w;

	if (!two_nodes())
		KT_SKIP("one node");
	for (m = memory_nodes(); m; m &= m - 1)
		node[i++] = __ffs(m);
	from = memory_nodes() & ~BIT(node[nr - 1]);
	to = memory_nodes() & ~BIT(node[0]);
	KT_ASSERT(begin(&w, pages, 0));
	for (unsigned long at = 0; at < pages; at += 400) {
		unsigned long third = at / 400 % (unsigned long)(nr - 1);

		KT_EQ(bind(&w, at, 400, BIND, BIT(node[third]), 0), 0);
		KT_EQ(fill(&w, at, 400), 0);
		KT_EQ(count_on(&w, at, 400, node[third]), 400);
	}
	KT_EQ(vm_migrate_pages(w.mm, from, to, 1), 0);
	for (unsigned long at = 0; at < pages; at += 400)
		KT_EQ(count_on(&w, at, 400, node[at / 400 % (unsigned long)(nr - 1) + 1]), 400);
	KT_EQ(vm_migrate_pages(w.mm, to, from, 1), 0); /* all back again */
	for (unsigned long at = 0; at < pages; at += 400)
		KT_EQ(count_on(&w, at, 400, node[at / 400 % (unsigned long)(nr - 1)]), 400);
	KT_EQ(vm_migrate_pages(w.mm, memory_nodes(), BIT(far), 1), 0);
	KT_EQ(count_on(&w, 0, pages, far), pages);
	KT_EQ(wrong(&w, 0, pages), 0);
	KT_ASSERT(end(&w));
}

KTEST(move, policies)
{
	struct world w;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(begin(&w, 64, 0));
	KT_EQ(bind(&w, 0, 64, BIND, BIT(near), 0), 0);
	KT_EQ(fill(&w, 0, 48), 0);
	KT_EQ(count_on(&w, 0, 48, near), 48);
	KT_EQ(bind(&w, 0, 64, BIND, BIT(far), STRICT), -EIO);
	KT_EQ(fill(&w, 48, 4), 0);
	KT_EQ(count_on(&w, 48, 4, near), 4); /* the policy was not changed */
	KT_EQ(bind(&w, 0, 32, BIND, BIT(far), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 32, far), 32);
	KT_EQ(count_on(&w, 32, 20, near), 20);
	KT_EQ(bind(&w, 0, 64, INTERLEAVE, BIT(near) | BIT(far), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 32, far), 32); /* each lies on one of them */
	KT_EQ(fill(&w, 52, 12), 0);
	KT_EQ(count_on(&w, 52, 12, far), 6);
	KT_EQ(bind(&w, 0, 64, BIND, BIT(near), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 64, near), 64);
	KT_EQ(wrong(&w, 0, 64), 0);
	KT_ASSERT(end(&w));
}

KTEST(move, shared)
{
	struct aspace *child;
	struct world w;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(begin(&w, 8, 0));
	KT_EQ(fill(&w, 0, 8), 0);
	KT_EQ(send(&w, w.mm, 0, 8, near, MOVE), 0);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(fill(&w, 6, 2), 0); /* these are no longer shared */
	KT_EQ(send(&w, w.mm, 0, 8, far, MOVE), 0);
	KT_EQ(status(&w, 0), -EACCES);
	KT_EQ(status(&w, 6), far);
	KT_EQ(bind(&w, 0, 8, BIND, BIT(far), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 8, far), 2);
	KT_EQ(send(&w, child, 0, 6, far, MOVE_ALL), 0); /* through the child: for both */
	KT_EQ(count_on(&w, 0, 8, far), 8);
	KT_EQ(vm_migrate_pages(child, BIT(far), BIT(near), 0), 0); /* its own two only */
	KT_EQ(count_on(&w, 0, 8, far), 8);
	KT_EQ(send(&w, child, 0, 8, -1, 0), 0);
	KT_EQ(status(&w, 5), far);
	KT_EQ(status(&w, 6), near);
	KT_EQ(wrong(&w, 0, 8), 0);
	KT_ASSERT(!aspace_check(child));
	aspace_put(child);
	KT_ASSERT(end(&w));
}

/* Fills a huge page on node near. false: none was to be had. */
static bool huge_begin(struct world *w)
{
	pte_t *pmd;

	if (!begin(w, 1024, VM_HUGEPAGE) || bind(w, 0, 1024, BIND, BIT(near), 0) ||
	    fill(w, 0, 1024) || bind(w, 0, 1024, 0, 0, 0))
		return false;
	pmd = pt_find_pmd(w->mm, w->area);
	return pmd && pmd_thp(pte_read(pmd)) && pmd_thp(pte_read(pmd + 1));
}

/* What is asked does not split; what moves does, where it is wanted elsewhere. */
KTEST(move, huge)
{
	struct aspace *child;
	struct world w;
	pte_t *pmd;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(huge_begin(&w));
	pmd = pt_find_pmd(w.mm, w.area);
	KT_EQ(count_on(&w, 0, 1024, near), 1024);
	KT_EQ(send(&w, w.mm, 7, 1, near, MOVE), 0);
	KT_EQ(status(&w, 0), near);
	KT_EQ(bind(&w, 0, 512, BIND, BIT(near), MOVE | STRICT), 0);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(send(&w, w.mm, 7, 1, far, MOVE), 0);
	KT_EQ(status(&w, 0), -EACCES);
	KT_EQ(bind(&w, 0, 512, BIND, BIT(far), MOVE), 0);
	KT_ASSERT(pmd_thp(pte_read(pmd)) && pmd_thp(pte_read(pmd + 1))); /* nothing split as yet */
	KT_EQ(count_on(&w, 0, 512, near), 512);
	aspace_put(child);
	KT_EQ(send(&w, w.mm, 7, 1, far, MOVE), 0);
	KT_EQ(status(&w, 0), far);
	KT_ASSERT(!pmd_thp(pte_read(pmd)) && pmd_thp(pte_read(pmd + 1)));
	KT_EQ(count_on(&w, 0, 512, near), 511);
	KT_EQ(bind(&w, 0, 1024, BIND, BIT(far), MOVE | STRICT), 0);
	KT_EQ(count_on(&w, 0, 1024, far), 1024);
	KT_EQ(vm_migrate_pages(w.mm, BIT(far), BIT(near), 0), 0);
	KT_EQ(count_on(&w, 0, 1024, near), 1024);
	KT_EQ(wrong(&w, 0, 1024), 0);
	KT_ASSERT(end(&w));
}

static char *text;
#define TEXT_SIZE 65536u

/* kB of a line of the VMA at addr in what show() prints, or -1. */
static long kilobytes(struct aspace *mm, unsigned long addr, const char *line)
{
	struct seq seq = { .buf = text, .size = TEXT_SIZE - 1 };
	char start[24];
	char *at;
	long v = 0;

	vm_show_smaps(&seq, mm);
	text[min(seq.count, (size_t)TEXT_SIZE - 1)] = '\0';
	snprintf(start, sizeof(start), "%08lx-", addr);
	at = strstr(text, start);
	at = at ? strstr(at, line) : NULL;
	if (!at)
		return -1;
	for (at += strlen(line); *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + *at - '0';
	return v;
}

/* smaps, pagemap, mincore and numa_maps count a huge page as its 512. */
KTEST(move, huge_shown)
{
	unsigned long start, huge = 512;
	struct vma *vma;
	struct world w;
	u64 *entries;
	char *at;

	if (!two_nodes())
		KT_SKIP("one node");
	text = vmalloc(TEXT_SIZE);
	entries = vmalloc(P);
	KT_ASSERT(text && entries);
	KT_ASSERT(huge_begin(&w));
	vma = vma_find(w.mm, w.area);
	start = vma->start;
	KT_EQ(kilobytes(w.mm, start, "AnonHugePages:"), 4096);
	KT_EQ(kilobytes(w.mm, start, "Rss:"), 4096);
	KT_EQ(kilobytes(w.mm, start, "Pss:"), 4096);
	KT_EQ(kilobytes(w.mm, start, "Private_Dirty:"), 4096);
	KT_EQ(kilobytes(w.mm, start, "THPeligible:"), 1);
	KT_EQ(kilobytes(w.mm, w.args, "THPeligible:"), 0);
	KT_EQ(vm_read_pagemap(w.mm, w.area / P * 8, entries, huge), (long)huge);
	for (unsigned long i = 0; i < huge; i++)
		KT_ASSERT(entries[i] >> 63 && (entries[i] >> 56 & 1) && !(entries[i] >> 61 & 1) &&
			  (entries[i] & (BIT(55) - 1)) == (entries[0] & (BIT(55) - 1)) + i);
	KT_EQ(vm_mincore(w.area, huge * P, (unsigned char __user *)w.args), 0);
	for (unsigned long i = 0; i < huge; i += 4)
		KT_EQ(peek(w.args + i), 0x01010101);
	{
		struct seq seq = { .buf = text, .size = TEXT_SIZE - 1 };
		char node[16];

		vm_show_numa_maps(&seq, w.mm, NULL);
		text[min(seq.count, (size_t)TEXT_SIZE - 1)] = '\0';
		snprintf(node, sizeof(node), " N%d=1024 ", near);
		at = strstr(text, node);
		KT_ASSERT(at && strstr(text, " anon=1024 dirty=1024"));
	}
	KT_ASSERT(pmd_thp(pte_read(pt_find_pmd(w.mm, w.area)))); /* it was only looked at */
	KT_EQ(send(&w, w.mm, 3, 1, far, MOVE), 0);
	KT_EQ(kilobytes(w.mm, start, "AnonHugePages:"), 2048);
	KT_EQ(kilobytes(w.mm, start, "Rss:"), 4096);
	vfree(text);
	vfree(entries);
	KT_ASSERT(end(&w));
}

struct waiter {
	struct world *w;
	long ret;
	int status, done;
};

static int waiting_sender(void *arg)
{
	struct waiter *x = arg;

	aspace_use(x->w->mm);
	x->ret = send(x->w, x->w->mm, 2, 1, far, MOVE);
	x->status = status(x->w, 0);
	aspace_use(NULL);
	WRITE_ONCE(x->done, 1);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return 0;
}

/* Holds the page between its frames, as a mover does while it copies, until it is told to stop. */
static int slow_mover(void *arg)
{
	struct page *page = arg;
	struct rmap_hold h;
	int entries = -1;

	page_lock(page);
	if (!rmap_hold(&h, page, 1)) {
		entries = rmap_to_migration(&h);
		while (!kthread_should_stop())
			sleep_ns(1000000);
		entries += rmap_from_migration(&h, page);
		rmap_release(&h);
	}
	page_put(page); /* before it is unlocked: who waits must not find it held */
	page_unlock(page);
	return entries == 2 ? 0 : -EIO;
}

/* A page between two frames is resident for all who ask, and who wants to move it waits. */
KTEST(move, on_its_way)
{
	struct thread *mover, *sender;
	unsigned long start;
	struct page *page;
	struct waiter x;
	struct world w;
	u64 entry;

	if (!two_nodes())
		KT_SKIP("one node");
	text = vmalloc(TEXT_SIZE);
	KT_ASSERT(text && begin(&w, 4, 0));
	KT_EQ(fill(&w, 0, 4), 0);
	KT_EQ(send(&w, w.mm, 0, 4, near, MOVE), 0);
	start = vma_find(w.mm, w.area)->start;
	KT_EQ(vm_pin_user(w.area + 2 * P, 1, 0, &page), 1);
	mover = kthread_run(slow_mover, page, -1, "mover");
	KT_ASSERT(mover);
	while (!pte_migration(pte_read(pt_find(w.mm, w.area + 2 * P))))
		sleep_ns(100000);
	KT_EQ(kilobytes(w.mm, start, "Rss:"), 16);
	KT_EQ(kilobytes(w.mm, start, "Pss:"), 16);
	KT_EQ(kilobytes(w.mm, start, "Anonymous:"), 16);
	KT_EQ(kilobytes(w.mm, start, "Private_Dirty:"), 16);
	KT_EQ(vm_read_pagemap(w.mm, (w.area / P + 2) * 8, &entry, 1), 1);
	KT_EQ(entry >> 61, 2); /* not there, in "swap", not of a file */
	KT_EQ(entry & 31, 31);
	KT_EQ((entry & (BIT(55) - 1)) >> 5, (long)page_to_pfn(page));
	KT_EQ(vm_mincore(w.area, 4 * P, (unsigned char __user *)(w.args + 3 * P)), 0);
	KT_EQ(peek(w.args + 3 * P), 0x01010101);
	KT_EQ(count_on(&w, 0, 4, near), 4);
	x = (struct waiter){ .w = &w };
	sender = kthread_run(waiting_sender, &x, -1, "sender");
	KT_ASSERT(sender);
	sleep_ns(20000000);
	KT_EQ(READ_ONCE(x.done), 0);
	KT_EQ(kthread_stop(mover), 0);
	while (!READ_ONCE(x.done))
		sleep_ns(1000000);
	kthread_stop(sender);
	KT_EQ(x.ret, 0);
	KT_EQ(x.status, far);
	KT_EQ(wrong(&w, 0, 4), 0);
	vfree(text);
	KT_ASSERT(end(&w));
}

/* ---- many at once ---- */

#define CROWD_PAGES 1536ul
#define CROWD_STEPS 80
static struct world crowd;
static u64 crowd_moved;

/* Each owns a third of the pages for writing; all of them send pages of all. */
static void crowd_step(struct rng *rng, struct world *w, unsigned long me, long *bad)
{
	unsigned long i = rng_below(rng, CROWD_PAGES), n = 1 + rng_below(rng, 100);
	int node = rng_below(rng, 2) ? near : far;
	struct aspace *child;
	long ret = 0;

	n = min(n, CROWD_PAGES - i);
	switch (rng_below(rng, 8)) {
	case 0:
		ret = bind(w, i, n, BIND, BIT(node), MOVE_ALL);
		break;
	case 1:
		if (!rng_below(rng, 4))
			ret = vm_migrate_pages(w->mm, BIT(near) | BIT(far), BIT(node), 1);
		break;
	case 2:
		child = aspace_fork(w->mm);
		if (IS_ERR(child))
			break;
		if (!rng_below(rng, 4))
			ret = vm_migrate_pages(child, BIT(near) | BIT(far), BIT(node), 1);
		else
			ret = send(w, child, i, n, node, MOVE_ALL);
		aspace_put(child);
		break;
	case 3: /* a part gone and born again: huge perhaps */
		i = (i / 512 * 512 + me * 170) % CROWD_PAGES;
		vm_madvise(w->mm, w->area + i * P, 170 * P, 4);
		*bad += fill(w, i, 170);
		break;
	case 4:
		i = i / 512 * 512 + me * 170;
		*bad += (long)wrong(w, i, 170);
		*bad += fill(w, i, 170);
		break;
	default:
		ret = send(w, w->mm, i, n, node, MOVE_ALL);
		if (!ret)
			crowd_moved += n;
	}
	if (ret < 0 && ret != -ENOMEM) {
		pr_warn("# move.crowd: %ld", ret);
		*bad += 1;
	}
}

static int crowd_member(void *arg)
{
	struct world w = crowd;
	unsigned long me = (unsigned long)arg;
	struct rng rng;
	long bad = 0;

	rng_seed(&rng, me + 1);
	w.args += me * 4 * P;
	aspace_use(w.mm);
	for (int step = 0; step < CROWD_STEPS; step++) {
		crowd_step(&rng, &w, me, &bad);
		if (!rng_below(&rng, 8))
			sleep_ns(20000);
		cond_resched();
	}
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return bad ? -EIO : 0;
}

KTEST(move, crowd)
{
	struct thread *member[3];
	int results = 0;

	if (!two_nodes())
		KT_SKIP("one node");
	KT_ASSERT(begin(&crowd, CROWD_PAGES, VM_HUGEPAGE));
	crowd.args = vm_map(crowd.mm, NULL, NULL, 0, 12 * P, RW, ANON, 0, 0, NULL);
	KT_ASSERT((long)crowd.args > 0);
	for (unsigned long i = 0; i < CROWD_PAGES; i += 512)
		for (unsigned long me = 0; me < 3; me++)
			KT_EQ(fill(&crowd, i + me * 170, 170), 0);
	crowd_moved = 0;
	for (unsigned long i = 0; i < 3; i++) {
		member[i] = kthread_run(crowd_member, (void *)i, -1, "crowd/%lu", i);
		KT_ASSERT(member[i]);
	}
	for (int i = 0; i < 3; i++)
		results |= kthread_stop(member[i]);
	pr_warn("# move.crowd: about %llu pages sent\n", (unsigned long long)crowd_moved);
	KT_EQ(results, 0);
	for (unsigned long i = 0; i < CROWD_PAGES; i += 512)
		KT_EQ(wrong(&crowd, i, 510), 0);
	KT_ASSERT(end(&crowd));
}
