/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: mm/vm/vma.c mm/vm/i_mmap.c lib/rbtree.c
/*
 * test_vma.c - cutting, joining and finding VMAs, and the interval tree, against an array with one
 * entry per page.
 * Property: whatever the sequence, every page keeps its flags, file and page number, and the tree
 * stays valid.
 */
#include "host.h"
#include "lib/errno.h"
#include "mm/vm/internal.h"

struct thread *host_current;
static int live;
long vm_max_map_count = VM_MAX_MAP_COUNT;

/* What vma_life.c, anon_vma.c, sched and mempolicy.c would give. */
void vma_free(struct vma *vma)
{
	live--;
	free(vma);
}
struct vma *vma_alloc(struct aspace *mm)
{
	struct vma *vma = calloc(1, sizeof(*vma));

	live++;
	vma->mm = mm;
	return vma;
}
struct vma *vma_clone(const struct vma *from, struct aspace *mm)
{
	struct vma *vma = vma_alloc(mm);

	*vma = *from;
	vma->anon_vma = NULL;
	return vma;
}
void anon_vma_attach(struct vma *vma, struct anon_vma *av)
{
	vma->anon_vma = av;
	atomic_inc(&av->refs);
}
void anon_vma_detach(struct vma *vma) {}
void anon_vma_put(struct anon_vma *av, int n)
{
	atomic_sub(n, &av->refs);
}
bool mpol_equal(const struct mempolicy *a, const struct mempolicy *b)
{
	return a == b;
}
void thp_split_across(struct aspace *mm, unsigned long addr) {}
void mutex_lock(struct mutex *m) {}
void mutex_unlock(struct mutex *m) {}

#define BASE 0x10000ul
#define PAGES 128
struct cell {
	bool used;
	unsigned long flags, index;
	struct mapping *mapping;
	struct anon_vma *av;
};
static struct cell cells[PAGES];
static struct aspace mm;
static struct mapping files[2];
static struct anon_vma anons[2];

static unsigned long at(unsigned long page)
{
	return BASE + page * PAGE_SIZE;
}

static void reset(void)
{
	memset(&mm, 0, sizeof(mm));
	memset(cells, 0, sizeof(cells));
	memset(files, 0, sizeof(files));
	memset(anons, 0, sizeof(anons));
	list_init(&mm.vma_list);
	for (int i = 0; i < 2; i++)
		anons[i].root = &anons[i];
}

static void drop(struct vma *vma)
{
	vma_tree_remove(&mm, vma);
	if (vma->mapping)
		i_mmap_remove(vma);
	if (vma->anon_vma)
		anon_vma_put(vma->anon_vma, 1);
	vma_free(vma);
}

static void unmap(unsigned long from, unsigned long to)
{
	struct vma *vma;

	CHECK_EQ(vma_split_range(&mm, at(from), at(to)), 0);
	while ((vma = vma_intersect(&mm, at(from), at(to))))
		drop(vma);
	memset(cells + from, 0, (to - from) * sizeof(cells[0]));
}

static void map(unsigned long from, unsigned long to)
{
	struct vma *vma = vma_alloc(&mm);
	unsigned long pgoff;

	unmap(from, to);
	vma->start = at(from);
	vma->end = at(to);
	vma->flags = host_random() % 2 ? VM_READ : VM_READ | VM_WRITE;
	vma->mapping = host_random() % 3 ? NULL : &files[host_random() % 2];
	/* Page numbers that often continue the neighbour's. */
	pgoff = vma->mapping ? from + host_random() % 2 * 7 : vma->start >> PAGE_SHIFT;
	vma->pgoff = pgoff;
	vma_tree_insert(&mm, vma);
	if (vma->mapping)
		i_mmap_insert(vma);
	else if (host_random() % 2)
		anon_vma_attach(vma, &anons[host_random() % 2]);
	for (unsigned long i = from; i < to; i++)
		cells[i] = (struct cell){ true, vma->flags, pgoff + i - from, vma->mapping,
					  vma->anon_vma };
	vma_merge(vma);
}

/* A new flag for a range of whatever is there: carve, change, join. */
static void protect(unsigned long from, unsigned long to, unsigned long flags)
{
	for (unsigned long i = from; i < to;) {
		struct vma *vma = vma_find(&mm, at(i));
		unsigned long stop;

		if (!vma || vma->start >= at(to))
			return;
		i = (max(vma->start, at(i)) - BASE) / PAGE_SIZE;
		stop = min(to, (vma->end - BASE) / PAGE_SIZE);
		vma = vma_carve(vma, at(i), at(stop));
		CHECK(!IS_ERR(vma));
		vma->flags = flags;
		vma_merge(vma);
		for (; i < stop; i++)
			cells[i].flags = flags;
	}
}

static void resize(void)
{
	struct vma *vma = vma_find(&mm, at(host_random() % PAGES));
	unsigned long from, to, page;

	if (!vma)
		return;
	from = (vma->start - BASE) / PAGE_SIZE;
	to = (vma->end - BASE) / PAGE_SIZE;
	if (to < PAGES && !cells[to].used && host_random() % 2) {
		vma_resize(vma, vma->start, vma->end + PAGE_SIZE);
		cells[to] = cells[to - 1];
		cells[to].index++;
	} else if (from && !cells[from - 1].used && vma->pgoff) {
		vma_resize(vma, vma->start - PAGE_SIZE, vma->end);
		cells[from - 1] = cells[from];
		cells[from - 1].index--;
	} else if (to - from > 2) {
		page = host_random() % 2;
		vma_resize(vma, vma->start + page * PAGE_SIZE, vma->end - !page * PAGE_SIZE);
		memset(&cells[page ? from : to - 1], 0, sizeof(cells[0]));
	}
}

static bool joinable(const struct cell *a, const struct cell *b)
{
	return a->used && b->used && a->flags == b->flags && a->mapping == b->mapping &&
	       a->index + 1 == b->index && (!a->av || !b->av || a->av == b->av);
}

static void check_gap(void)
{
	unsigned long low = host_random() % PAGES, high = low + 1 + host_random() % (PAGES - low);
	unsigned long len = 1 + host_random() % 8, want = -ENOMEM, run = 0, got;

	for (unsigned long i = high; i-- > low;) {
		run = cells[i].used ? 0 : run + 1;
		if (run == len) {
			want = at(i);
			break;
		}
	}
	got = vma_find_gap(&mm, len * PAGE_SIZE, at(low), at(high));
	CHECK_EQ(got, want);
}

static void check_file(struct mapping *m)
{
	unsigned long first = host_random() % 150, last = first + host_random() % 20, before = 0,
		      n = 0, want = 0;
	struct vma *vma;

	for (vma = i_mmap_first(m, first, last); vma; vma = i_mmap_next(vma, first, last)) {
		CHECK(vma->mapping == m && vma->pgoff <= last &&
		      vma->pgoff + vma_pages(vma) > first);
		CHECK(vma->pgoff >= before);
		before = vma->pgoff;
		n++;
	}
	list_for_each_entry(vma, &mm.vma_list, list)
		want += vma->mapping == m && vma->pgoff <= last &&
			vma->pgoff + vma_pages(vma) > first;
	CHECK_EQ(n, want);
}

static void check_all(void)
{
	CHECK(vma_tree_check(&mm));
	for (unsigned long i = 0; i < PAGES; i++) {
		struct vma *vma = vma_find(&mm, at(i));
		bool in = vma && vma->start <= at(i);

		CHECK_EQ(in, cells[i].used);
		if (!in)
			continue;
		CHECK_EQ(vma->flags, cells[i].flags);
		CHECK_EQ(vma_index(vma, at(i)), cells[i].index);
		CHECK(vma->mapping == cells[i].mapping);
		if (cells[i].av)
			CHECK(vma->anon_vma == cells[i].av);
		else
			cells[i].av = vma->anon_vma; /* joined: it has one now */
	}
	for (int i = 0; i < 2; i++)
		check_file(&files[i]);
}

HOST_TEST(vma_model)
{
	for (int round = 0; round < 60; round++) {
		reset();
		for (int step = 0; step < 300; step++) {
			unsigned long from = host_random() % PAGES,
				      to = from + 1 + host_random() % 12;

			to = min(to, (unsigned long)PAGES);
			switch (host_random() % 5) {
			case 0:
			case 1:
				map(from, to);
				break;
			case 2:
				unmap(from, to);
				break;
			case 3:
				protect(from, to, host_random() % 2 ? VM_READ : VM_READ | VM_WRITE);
				break;
			case 4:
				resize();
				break;
			}
			check_all();
			check_gap();
		}
		unmap(0, PAGES);
		CHECK_EQ(mm.nr_vmas, 0);
		CHECK_EQ(live, 0);
		CHECK_EQ(atomic_read(&anons[0].refs) | atomic_read(&anons[1].refs), 0);
		CHECK(RB_EMPTY_ROOT(&files[0].i_mmap.rb_root) &&
		      RB_EMPTY_ROOT(&files[1].i_mmap.rb_root));
	}
}

/* Three pieces mapped one after the other, alike: one VMA. */
HOST_TEST(vma_joins)
{
	static const unsigned int order[][3] = {
		{ 0, 1, 2 }, { 2, 1, 0 }, { 0, 2, 1 }, { 1, 0, 2 }
	};

	for (unsigned int k = 0; k < 4; k++) {
		reset();
		for (int i = 0; i < 3; i++) {
			struct vma *vma = vma_alloc(&mm);

			vma->start = at(order[k][i] * 4);
			vma->end = vma->start + 4 * PAGE_SIZE;
			vma->pgoff = vma->start >> PAGE_SHIFT;
			vma_tree_insert(&mm, vma);
			vma = vma_merge(vma);
			CHECK(vma->start <= at(order[k][i] * 4) &&
			      vma->end >= at(order[k][i] * 4 + 4));
		}
		CHECK_EQ(mm.nr_vmas, 1);
		unmap(0, PAGES);
		CHECK_EQ(live, 0);
	}
}

/* The tree fork builds at once is as good as one grown by insertion, for every size. */
HOST_TEST(vma_build)
{
	for (unsigned int n = 0; n < 300; n++) {
		reset();
		for (unsigned int i = 0; i < n; i++) {
			struct vma *vma = vma_alloc(&mm);

			vma->start = BASE + i * 3 * PAGE_SIZE + host_random() % 3 * PAGE_SIZE;
			vma->end = vma->start + PAGE_SIZE;
			list_add_tail(&vma->list, &mm.vma_list);
			mm.nr_vmas++;
		}
		vma_tree_build(&mm);
		CHECK(vma_tree_check(&mm));
		for (int k = 0; k < 10 && mm.nr_vmas; k++) {
			drop(list_first_entry(&mm.vma_list, struct vma, list));
			CHECK(vma_tree_check(&mm));
		}
		while (mm.nr_vmas)
			drop(list_last_entry(&mm.vma_list, struct vma, list));
		CHECK(vma_tree_check(&mm));
	}
}

/* A growing stack keeps its guard to itself. */
HOST_TEST(vma_stack_gap)
{
	unsigned long top = 0x7ffff000000, got;
	struct vma *vma;

	reset();
	vma = vma_alloc(&mm);
	vma->end = top;
	vma->start = top - 4 * PAGE_SIZE;
	vma->flags = VM_GROWSDOWN;
	vma_tree_insert(&mm, vma);
	got = vma_find_gap(&mm, PAGE_SIZE, BASE, top);
	CHECK_EQ(got, vma->start - STACK_GUARD_GAP - PAGE_SIZE);
	drop(vma);
}
