/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vma.c - the set of VMAs of one address space.
 *
 * Problem: find the VMA of an address, find a free range near the top, cut and join VMAs, all in
 * O(log n) with n up to 65 530. Idea: a red-black tree by address (and a list in the same order for
 * neighbours) in which every node keeps the largest gap of its subtree; the gap of a VMA is the
 * free space right below it (a growing stack keeps its guard to itself). Search for space goes
 * right first and skips subtrees whose largest gap is too small.
 *
 *        [0x400000-0x420000]      gap below 0x400000
 *              \
 *         [0x7fff..-0x7fff..]     gap = start - 0x420000 - guard
 *
 * Joining: two VMAs become one when nothing tells them apart: same flags, file, policy, name, no
 * hooks, page numbers that continue, and the same anon_vma (or one has none yet).
 * Invariants (vma_tree_check): ordered, no overlap, list and tree agree, every gap value is right,
 * count is right.
 * A huge page lies in one VMA: cutting through one splits it first. Borders that move in take
 * entries out first (munmap), which does the same.
 * Locking: aspace->lock; borders also change under the rmap locks, because rmap looks at them
 * without aspace->lock.
 */
#include "mm/vm/internal.h"
#include "mm/vm/thp.h"
#include "lib/string.h"

static unsigned long compute_own_gap(struct vma *vma)
{
	struct vma *prev = vma_prev(vma);
	unsigned long below = prev ? prev->end : 0, top = vma_start_gap(vma);

	return top > below ? top - below : 0;
}

static inline unsigned long subtree_gap(const struct rb_node *node)
{
	return node ? rb_entry(node, struct vma, node)->gap : 0;
}

static void gap_update(struct rb_node *node)
{
	struct vma *vma = rb_entry(node, struct vma, node);
	unsigned long left = subtree_gap(node->rb_left), right = subtree_gap(node->rb_right);
	unsigned long below = max(left, right);

	vma->gap = max(vma->own_gap, below);
}

/* Recomputes vma's value, and upwards as far as that matters. */
static void gap_spread(struct vma *vma)
{
	for (struct rb_node *node = &vma->node; node; node = rb_parent(node)) {
		unsigned long before = rb_entry(node, struct vma, node)->gap;

		gap_update(node);
		if (rb_entry(node, struct vma, node)->gap == before)
			return;
	}
}

/* The space below vma has changed. */
static void gap_changed(struct vma *vma)
{
	unsigned long own = compute_own_gap(vma);

	if (own == vma->own_gap)
		return;
	vma->own_gap = own;
	gap_spread(vma);
}

struct vma *vma_find(struct aspace *mm, unsigned long addr)
{
	struct vma *found = READ_ONCE(mm->cached);
	struct rb_node *node;

	if (likely(found && found->start <= addr && addr < found->end))
		return found;
	found = NULL;
	for (node = mm->vmas.rb_node; node;) {
		struct vma *vma = rb_entry(node, struct vma, node);

		if (addr < vma->end) {
			found = vma;
			if (addr >= vma->start) {
				WRITE_ONCE(mm->cached, vma);
				break;
			}
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

struct vma *vma_intersect(struct aspace *mm, unsigned long start, unsigned long end)
{
	struct vma *vma = vma_find(mm, start);

	return vma && vma->start < end ? vma : NULL;
}

void vma_tree_insert_at(struct aspace *mm, struct vma *vma, struct vma *prev, struct vma *next)
{
	struct rb_node **link = &mm->vmas.rb_node, *parent = NULL;

	/* Of two neighbours in order one has a free place towards the other. */
	if (prev && !prev->node.rb_right) {
		parent = &prev->node;
		link = &parent->rb_right;
	} else if (next) {
		parent = &next->node;
		link = &parent->rb_left;
	}
	list_add(&vma->list, prev ? &prev->list : &mm->vma_list);
	vma->own_gap = compute_own_gap(vma);
	vma->gap = vma->own_gap;
	if (next) /* it is above the new leaf in the tree, so the insertion recomputes it */
		next->own_gap = compute_own_gap(next);
	rb_link_node(&vma->node, parent, link);
	rb_insert_augmented(&vma->node, &mm->vmas, gap_update);
	mm->nr_vmas++;
}

struct vma *vma_before(struct aspace *mm, struct vma *next)
{
	if (next)
		return vma_prev(next);
	return list_empty(&mm->vma_list) ? NULL : list_last_entry(&mm->vma_list, struct vma, list);
}

void vma_tree_insert(struct aspace *mm, struct vma *vma)
{
	struct vma *next = vma_find(mm, vma->start);

	vma_tree_insert_at(mm, vma, vma_before(mm, next), next);
}

/*
 * The next n VMAs of the list as a balanced subtree: all black, but for the nodes of the last,
 * incomplete level, which are red. => *pos moves behind them; the subtree's top
 */
static struct rb_node *build(struct list_head **pos, u32 n, u32 levels, struct rb_node *parent)
{
	struct rb_node *left, *node;
	u32 half = n / 2;
	struct vma *vma;

	if (!n)
		return NULL;
	left = build(pos, half, levels - 1, NULL);
	vma = list_entry(*pos, struct vma, list);
	*pos = (*pos)->next;
	node = &vma->node;
	node->parent_color = (unsigned long)parent | (levels > 1);
	node->rb_left = left;
	if (left)
		left->parent_color |= (unsigned long)node;
	node->rb_right = build(pos, n - half - 1, levels - 1, node);
	vma->own_gap = compute_own_gap(vma);
	gap_update(node);
	return node;
}

/* Levels of the balanced tree of n: its last one is red, unless it is the only or a full one. */
void vma_tree_build(struct aspace *mm)
{
	struct list_head *pos = mm->vma_list.next;
	u32 n = mm->nr_vmas, levels = 0;

	while ((1u << levels) - 1 < n)
		levels++;
	mm->vmas.rb_node = build(&pos, n, levels + (levels == 1 || n == (1u << levels) - 1), NULL);
}

void vma_tree_remove(struct aspace *mm, struct vma *vma)
{
	struct vma *next = vma_next(vma);

	list_del(&vma->list);
	if (next)
		next->own_gap = compute_own_gap(next);
	rb_erase_augmented(&vma->node, &mm->vmas, gap_update);
	mm->nr_vmas--;
	if (mm->cached == vma)
		mm->cached = NULL;
	if (next)
		gap_spread(next);
}

/* The highest fitting place below node's VMAs; 0: none. Depth is the height of the tree. */
static unsigned long gap_search(struct rb_node *node, size_t len, unsigned long low,
				unsigned long high)
{
	while (node) {
		struct vma *vma = rb_entry(node, struct vma, node), *prev;
		unsigned long from, to;

		if (vma->gap < len)
			return 0;
		if (vma->end < high && node->rb_right) {
			unsigned long found = gap_search(node->rb_right, len, low, high);

			if (found)
				return found;
		}
		prev = vma_prev(vma);
		from = max(prev ? prev->end : 0, low);
		to = min(vma_start_gap(vma), high);
		if (to > from && to - from >= len)
			return to - len;
		if (prev && prev->end <= low)
			return 0;
		node = node->rb_left;
	}
	return 0;
}

unsigned long vma_find_gap(struct aspace *mm, size_t len, unsigned long low, unsigned long high)
{
	unsigned long top = low, found;

	if (!list_empty(&mm->vma_list))
		top = max(low, list_last_entry(&mm->vma_list, struct vma, list)->end);
	if (high > top && high - top >= len)
		return high - len;
	found = gap_search(mm->vmas.rb_node, len, low, high);
	return found ? found : (unsigned long)-ENOMEM;
}

/* New borders. => rmap locks held; not in the mapping's tree while it changes */
static void set_borders_locked(struct vma *vma, unsigned long start, unsigned long end)
{
	struct vma *next = vma_next(vma);

	if (vma->mapping)
		i_mmap_remove(vma);
	vma->pgoff += (long)(start - vma->start) >> PAGE_SHIFT;
	vma->start = start;
	vma->end = end;
	if (vma->mapping)
		i_mmap_insert(vma);
	gap_changed(vma);
	if (next)
		gap_changed(next);
}

void vma_resize(struct vma *vma, unsigned long start, unsigned long end)
{
	struct rmap_lock l;

	rmap_lock(&l, vma->mapping, vma->anon_vma);
	set_borders_locked(vma, start, end);
	rmap_unlock(&l);
}

struct vma *vma_split(struct vma *vma, unsigned long addr)
{
	struct aspace *mm = vma->mm;
	struct rmap_lock l;
	struct vma *upper;

	ASSERT(addr > vma->start && addr < vma->end && !offset_in_page(addr));
	if (mm->nr_vmas >= vm_max_map_count)
		return ERR_PTR(-ENOMEM);
	if (vma->anon_vma && !vma->mapping && (addr & ~HPAGE_MASK))
		thp_split_across(mm, addr);
	upper = vma_clone(vma, mm);
	if (!upper)
		return ERR_PTR(-ENOMEM);
	rmap_lock(&l, vma->mapping, vma->anon_vma);
	upper->start = addr;
	upper->pgoff = vma_index(vma, addr);
	set_borders_locked(vma, vma->start, addr);
	if (vma->anon_vma)
		anon_vma_attach(upper, vma->anon_vma);
	if (upper->mapping)
		i_mmap_insert(upper);
	vma_tree_insert(mm, upper);
	rmap_unlock(&l);
	return upper;
}

int vma_split_range(struct aspace *mm, unsigned long start, unsigned long end)
{
	struct vma *vma = vma_find(mm, start);

	if (vma && vma->start < start) {
		vma = vma_split(vma, start);
		if (IS_ERR(vma))
			return PTR_ERR(vma);
	}
	vma = vma_find(mm, end);
	if (vma && vma->start < end) {
		vma = vma_split(vma, end);
		if (IS_ERR(vma))
			return PTR_ERR(vma);
	}
	return 0;
}

struct vma *vma_carve(struct vma *vma, unsigned long start, unsigned long end)
{
	if (start > vma->start) {
		vma = vma_split(vma, start);
		if (IS_ERR(vma))
			return vma;
	}
	if (end < vma->end) {
		struct vma *upper = vma_split(vma, end);

		if (IS_ERR(upper))
			return upper;
	}
	return vma;
}

static bool alike(const struct vma *vma, const struct vma_like *like)
{
	return vma->flags == like->flags && vma->file == like->file &&
	       vma->mapping == like->mapping && !vma->open && !vma->close && !vma->name &&
	       mpol_equal(vma->policy, like->policy);
}

bool vma_can_follow(const struct vma *vma, unsigned long start, const struct vma_like *like)
{
	return vma->end == start && alike(vma, like) && vma_index(vma, start) == like->pgoff;
}

bool vma_can_precede(const struct vma *vma, unsigned long end, unsigned long npages,
		     const struct vma_like *like)
{
	return vma->start == end && alike(vma, like) && like->pgoff + npages == vma->pgoff;
}

static bool can_join(const struct vma *a, const struct vma *b)
{
	struct vma_like like = { .flags = b->flags,
				 .pgoff = b->pgoff,
				 .file = b->file,
				 .mapping = b->mapping,
				 .policy = b->policy };

	if (b->open || b->close || b->name)
		return false;
	if (a->anon_vma && b->anon_vma && a->anon_vma != b->anon_vma)
		return false;
	return vma_can_follow(a, b->start, &like);
}

/* a grows over b, b goes. */
static void join(struct vma *a, struct vma *b)
{
	struct anon_vma *av = a->anon_vma ? a->anon_vma : b->anon_vma;
	unsigned long end = b->end;
	struct rmap_lock l;

	rmap_lock(&l, a->mapping, av);
	if (b->mapping)
		i_mmap_remove(b);
	vma_tree_remove(a->mm, b);
	if (!a->anon_vma && av)
		anon_vma_attach(a, av);
	set_borders_locked(a, a->start, end);
	if (b->anon_vma)
		anon_vma_detach(b);
	rmap_unlock(&l);
	if (b->anon_vma)
		anon_vma_put(b->anon_vma, 1);
	b->anon_vma = NULL;
	vma_free(b);
}

struct vma *vma_merge(struct vma *vma)
{
	struct vma *next = vma_next(vma), *prev = vma_prev(vma);

	if (next && can_join(vma, next))
		join(vma, next);
	if (prev && can_join(prev, vma)) {
		join(prev, vma);
		vma = prev;
	}
	return vma;
}

bool vma_tree_check(struct aspace *mm)
{
	unsigned long end = 0;
	struct rb_node *node;
	struct vma *vma;
	u32 n = 0;

	if (rb_check(&mm->vmas) < 0)
		return false;
	node = rb_first(&mm->vmas);
	list_for_each_entry(vma, &mm->vma_list, list) {
		unsigned long gap = compute_own_gap(vma);

		if (vma->own_gap != gap)
			return false;
		if (node != &vma->node || vma->start < end || vma->start >= vma->end ||
		    vma->mm != mm)
			return false;
		if (offset_in_page(vma->start) || offset_in_page(vma->end))
			return false;
		if (node->rb_left)
			gap = max(gap, rb_entry(node->rb_left, struct vma, node)->gap);
		if (node->rb_right)
			gap = max(gap, rb_entry(node->rb_right, struct vma, node)->gap);
		if (vma->gap != gap)
			return false;
		end = vma->end;
		node = rb_next(node);
		n++;
	}
	return !node && n == mm->nr_vmas;
}
