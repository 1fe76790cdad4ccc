/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rmap.c - from a page to its entries, over forks, copies, moves and files; and that the trees
 * do not grow.
 */
#include "arch/uaccess.h"
#include "kernel/rcu.h"
#include "mm/kmem/slab.h"
#include "mm/phys/zone.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/rmap.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define ANON 0x22

static int count_one(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int entries(struct page *page)
{
	int n = 0;

	page_get(page);
	page_lock(page);
	rmap_walk(page, count_one, &n);
	page_unlock(page);
	page_put(page);
	return n;
}

static struct page *page_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr);

	return pte && pte_mapped(pte_read(pte)) ? pfn_to_page(pte_pfn(pte_read(pte))) : NULL;
}

static int poke(struct aspace *mm, unsigned long addr, u32 v)
{
	return vm_access(mm, addr, &v, sizeof(v), 1) == sizeof(v) ? 0 : -EFAULT;
}

KTEST(rmap, fork_tree)
{
	struct aspace *a = aspace_create(), *b, *c;
	struct page *page, *copy;
	long addr = vm_map(a, NULL, NULL, 0, 4 * P, 3, ANON, 0, 0, NULL);

	KT_EQ(poke(a, addr, 1), 0);
	page = page_at(a, addr);
	KT_EQ(entries(page), 1);
	b = aspace_fork(a);
	c = aspace_fork(b);
	KT_ASSERT(!IS_ERR(b) && !IS_ERR(c));
	KT_EQ(entries(page), 3);
	KT_EQ(poke(b, addr, 2), 0); /* b has its own now */
	copy = page_at(b, addr);
	KT_ASSERT(copy != page);
	KT_EQ(entries(page), 2);
	KT_EQ(entries(copy), 1);
	aspace_put(b); /* c's way to a's page goes through the node of b */
	KT_EQ(entries(page), 2);
	aspace_put(a);
	KT_EQ(entries(page), 1);
	KT_EQ(page_mapcount(page), 1);
	KT_ASSERT(!aspace_check(c));
	aspace_put(c);
}

KTEST(rmap, move_and_split)
{
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, 8 * P, 3, ANON, 0, 0, NULL), to;
	struct page *first, *last;

	KT_EQ(poke(mm, addr, 1), 0);
	KT_EQ(poke(mm, addr + 7 * P, 2), 0);
	first = page_at(mm, addr);
	last = page_at(mm, addr + 7 * P);
	aspace_use(mm);
	KT_EQ(vm_mprotect(addr + 2 * P, P, 1), 0);
	to = vm_mremap(addr + 3 * P, 5 * P, 600 * P, 1, 0);
	KT_ASSERT(to > 0);
	aspace_use(NULL);
	KT_EQ(entries(first), 1);
	KT_EQ(entries(last), 1);
	KT_ASSERT(page_at(mm, to + 4 * P) == last);
	KT_ASSERT(!aspace_check(mm));
	aspace_put(mm);
}

/*
 * A daemon that forks and exits over and over, writing a little each time, must not leave a chain
 * behind.
 */
KTEST(rmap, long_line)
{
	unsigned long before = anon_vma_count(), most = 0;
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, 4 * P, 3, ANON, 0, 0, NULL);
	struct page *oldest;

	KT_EQ(poke(mm, addr, 1), 0); /* this page stays from the first to the last */
	oldest = page_at(mm, addr);
	for (int i = 0; i < 200; i++) {
		struct aspace *child = aspace_fork(mm);

		KT_ASSERT(!IS_ERR(child));
		KT_EQ(poke(child, addr + P, i), 0);
		aspace_put(mm);
		mm = child;
		KT_EQ(entries(oldest), 1);
		most = max(most, anon_vma_count() - before);
	}
	KT_ASSERT(most <= 8);
	aspace_put(mm);
	rcu_barrier();
	KT_EQ(anon_vma_count(), before);
}

static const struct mapping_ops no_ops;

KTEST(rmap, file)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct aspace *a = aspace_create(), *b;
	unsigned long flags;
	struct page *page;
	long one, two;
	u32 word = 1;

	mapping_init(m, &no_ops, NULL, MAPF_SHMEM);
	KT_EQ(pagecache_write_kernel(m, 5 * P, &word, 4), 4);
	one = vm_map(a, NULL, m, 0, 8 * P, 3, 1, 0, 0, NULL);
	two = vm_map(a, NULL, m, 0, 2 * P, 1, 2, 5 * P, 0, NULL);
	KT_ASSERT(one > 0 && two > 0);
	KT_EQ(poke(a, one + 5 * P, 2), 0);
	KT_EQ(vm_access(a, two, &word, 4, 0), 4);
	KT_EQ(word, 2);
	page = page_at(a, one + 5 * P);
	KT_ASSERT(page && page == page_at(a, two));
	KT_EQ(entries(page), 2);
	b = aspace_fork(a);
	KT_ASSERT(!IS_ERR(b));
	KT_EQ(vm_access(b, one + 5 * P, &word, 4, 0), 4);
	KT_EQ(entries(page), 3);
	page_get(page);
	page_lock(page);
	KT_ASSERT(page_referenced(page, &flags) >= 1);
	page_referenced(page, &flags);
	KT_EQ(page_referenced(page, &flags), 0);
	KT_ASSERT(flags & VM_SHARED);
	page_unlock(page);
	page_put(page);
	aspace_put(a);
	KT_EQ(entries(page), 1);
	aspace_put(b);
	KT_EQ(page_mapcount(page), 0);
	mapping_destroy(m);
	kfree(m);
}
