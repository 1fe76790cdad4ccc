/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filefault.c - page faults in mappings of files: the cached page, or a private copy of it.
 *
 *   read                the cached page, and its cached neighbours on the way; if there is none it
 *                       is read, ahead
 *   write, private      a copy at once
 *   write, shared       the page itself; its owner agrees first
 *
 * Shared pages of a disk's file are entered read-only until somebody writes, so that the first
 * write is noticed: the page gets its home on the disk and becomes dirty before the entry allows
 * the store; writing the page back takes the right away again (vm_page_mkclean).
 *
 * Locking: as for all faults (fault.c), and the mapping's truncate_lock shared, so that no page is
 * mapped that truncation has already passed.
 */
#include "mm/cache/readahead.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "sched/sched.h"

#define FAULT_AROUND_PAGES 16ul

/* One more entry for a file page. => pt_lock; a reference goes with it */
static inline void map_file_page(struct vma *vma, struct page *page, pte_t *pte, pte_t entry)
{
	if (atomic_add_return(1, &page->mapcount) == 0)
		mod_lruvec_state(page, NR_MAPPED, 1);
	pte_set(pte, entry);
}

static inline atomic_long_t *file_rss(struct aspace *mm, const struct mapping *m)
{
	return m->flags & MAPF_SHMEM ? &mm->rss_shmem : &mm->rss_file;
}

/*
 * Entry of a file page that may be read (SHMEM needs no notice of the first write: shared ones are
 * writable at once).
 */
static inline pgprot_t file_read_prot(const struct vma *vma)
{
	if ((vma->flags & VM_SHARED) && (vma->mapping->flags & MAPF_SHMEM))
		return vma->prot;
	return vma->prot & ~PTE_WRITE;
}

/*
 * Maps the cached pages around addr: an aligned window of 16 pages inside the VMA, the file and the
 * table. True when addr's own page was among them. => truncate_lock shared
 */
static bool fault_around(struct vma *vma, unsigned long addr, pte_t *pte, unsigned long file_pages)
{
	unsigned long window = FAULT_AROUND_PAGES * PAGE_SIZE;
	unsigned long start = max(addr & ~(window - 1), vma->start);
	unsigned long end = min((addr & ~(window - 1)) + window, vma->end);
	unsigned long index = vma_index(vma, start), n = (end - start) >> PAGE_SHIFT, mapped = 0;
	pgprot_t prot = file_read_prot(vma);
	struct page *pages[FAULT_AROUND_PAGES];
	bool hit = false;

	n = min(n, file_pages - index);
	pte -= (addr - start) >> PAGE_SHIFT;
	for (unsigned long done = 0; done < n;) {
		unsigned int got =
			pagecache_find_batch(vma->mapping, index + done, n - done, pages + done);

		done += got;
	}
	spin_lock(&vma->mm->pt_lock);
	for (unsigned long i = 0; i < n; i++) {
		struct page *page = pages[i];

		if (!page)
			continue;
		/* A page with the marker of reading ahead is left to a fault of its own. */
		if (!pte_none(pte_read(pte + i)) ||
		    (READ_ONCE(page->flags) & (BIT(PG_uptodate) | BIT(PG_readahead))) !=
			    BIT(PG_uptodate))
			continue;
		map_file_page(vma, page, pte + i, pte_make(page_to_pfn(page), prot));
		pages[i] = NULL;
		mapped++;
		hit |= start + i * PAGE_SIZE == addr;
	}
	spin_unlock(&vma->mm->pt_lock);
	if (mapped)
		atomic_long_add(mapped, file_rss(vma->mm, vma->mapping));
	for (unsigned long i = 0; i < n; i++)
		if (pages[i])
			page_put(pages[i]);
	return hit;
}

static inline struct ra_state *vma_readahead(const struct vma *vma)
{
	return vma->file && vm_file_ops->readahead ? vm_file_ops->readahead(vma->file) : NULL;
}

/* Nothing there: read ahead, then wait. */
static noinline struct page *file_page_miss(struct vma *vma, unsigned long index)
{
	struct mapping *m = vma->mapping;

	current->maj_flt++;
	current->min_flt--; /* counted when it began */
	count_vm_event(PGMAJFAULT);
	readahead_fault(m, vma_readahead(vma), index,
			vma->flags & VM_RAND_READ  ? RA_RANDOM
			: vma->flags & VM_SEQ_READ ? RA_SEQUENTIAL
						   : RA_NORMAL);
	return pagecache_get(m, index, PCG_CREATE);
}

/* It is being read already, or has the marker of reading ahead. Consumes the reference. */
static noinline struct page *file_page_ahead(struct vma *vma, unsigned long index,
					     struct page *page)
{
	if (page_test(page, PG_readahead))
		readahead_fault_hit(vma->mapping, vma_readahead(vma), page);
	if (page_test(page, PG_uptodate))
		return page;
	page_put(page);
	return pagecache_get(vma->mapping, index, PCG_CREATE);
}

/* The file's page, made if there is none (with the VMA's policy). */
static struct page *file_page(struct vma *vma, unsigned long addr, unsigned long index)
{
	struct mapping *m = vma->mapping;
	struct page *page = pagecache_find(m, index), *fresh = NULL;

	if (likely(page && (READ_ONCE(page->flags) & (BIT(PG_uptodate) | BIT(PG_readahead))) ==
				   BIT(PG_uptodate)))
		return page;
	if (page)
		return file_page_ahead(vma, index, page);
	if (!(m->flags & MAPF_SHMEM))
		return file_page_miss(vma, index);
	if (vma->policy)
		fresh = vma_alloc_page(vma, addr, __GFP_ZERO);
	page = pagecache_get_with(m, index, PCG_CREATE, &fresh);
	if (fresh)
		page_put(fresh);
	return page;
}

/* First write to a private file page: straight to a copy. Consumes the reference to page. */
static int file_cow_fault(struct vma *vma, unsigned long addr, pte_t *pte, struct page *page)
{
	struct aspace *mm = vma->mm;
	struct page *copy;
	void *from, *to;

	copy = anon_vma_prepare(vma) ? NULL : vma_alloc_page(vma, addr, 0);
	if (!copy) {
		page_put(page);
		return -ENOMEM;
	}
	from = page_kmap(page);
	to = page_kmap(copy);
	copy_page_raw(to, from);
	page_kunmap(to);
	page_kunmap(from);
	page_put(page);
	page_set_new_anon(copy, vma, addr);
	page_account_new_anon(copy, vma);
	spin_lock(&mm->pt_lock);
	if (!pte_none(pte_read(pte))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(copy, vma);
		return 0;
	}
	pte_set(pte, pte_make(page_to_pfn(copy), vma->prot | PTE_DIRTY));
	spin_unlock(&mm->pt_lock);
	atomic_long_inc(&mm->rss_anon);
	return 0;
}

/* What a disk's file wants before a page is written to. */
static int page_home(struct mapping *m, struct page *page)
{
	u64 pos = (u64)page->index << PAGE_SHIFT, size = READ_ONCE(m->size);

	if (m->ops->page_mkwrite)
		return m->ops->page_mkwrite(m, page);
	if (!m->ops->write_begin)
		return 0;
	if (pos >= size)
		return -EIO;
	return m->ops->write_begin(m, page, pos, min(size - pos, (u64)PAGE_SIZE), NULL);
}

int file_page_mkwrite_begin(struct mapping *m, struct page *page)
{
	int err = 0;

	if (unlikely(m->flags & MAPF_STABLE)) {
		page_lock(page); /* no writing begins before the entry is there to be found */
		page_wait_writeback(page);
	}
	if (!page_test(page, PG_homed) && !(m->flags & MAPF_SHMEM) && m->ops)
		err = page_home(m, page);
	if (likely(!err))
		pagecache_set_dirty(page);
	else if (m->flags & MAPF_STABLE)
		page_unlock(page);
	return err;
}

void file_page_mkwrite_end(struct mapping *m, struct page *page)
{
	if (unlikely(m->flags & MAPF_STABLE))
		page_unlock(page);
}

/* => truncate_lock shared */
static int file_fault_locked(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags)
{
	unsigned long index = vma_index(vma, addr),
		      file_pages = PFN_UP(READ_ONCE(vma->mapping->size));
	bool write = flags & FAULT_WRITE, shared = vma->flags & VM_SHARED, mapped = false;
	struct aspace *mm = vma->mm;
	struct page *page;
	int err;

	if (index >= file_pages)
		return -EIO;
	if (!write && !(vma->flags & VM_LOCKED) && fault_around(vma, addr, pte, file_pages))
		return 0;
	page = file_page(vma, addr, index);
	if (IS_ERR_OR_NULL(page))
		return PTR_ERR(page) == -ENOMEM ? -ENOMEM : -EIO;
	if (write && !shared)
		return file_cow_fault(vma, addr, pte, page);
	if (write) {
		err = file_page_mkwrite_begin(vma->mapping, page);
		if (err) {
			page_put(page);
			return err == -ENOMEM ? err : -EIO;
		}
	}
	spin_lock(&mm->pt_lock);
	if (pte_none(pte_read(pte))) {
		map_file_page(vma, page, pte,
			      pte_make(page_to_pfn(page),
				       write ? vma->prot | PTE_DIRTY : file_read_prot(vma)));
		mapped = true;
		if (write)
			file_page_written(page);
		if (unlikely(vma->flags & VM_LOCKED))
			mlock_page(page);
	}
	spin_unlock(&mm->pt_lock);
	if (write)
		file_page_mkwrite_end(vma->mapping, page);
	if (mapped)
		atomic_long_inc(file_rss(mm, vma->mapping));
	else
		page_put(page);
	return 0;
}

int file_fault(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags)
{
	struct mapping *m = vma->mapping;
	int err;

	down_read(&m->truncate_lock);
	err = file_fault_locked(vma, addr, pte, flags);
	up_read(&m->truncate_lock);
	if ((flags & FAULT_WRITE) && (vma->flags & VM_SHARED))
		file_written(vma);
	return err;
}
