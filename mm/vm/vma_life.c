/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vma_life.c - VMA objects and what they hold: file, policy, hooks. Also the object behind shared
 * anonymous memory.
 */
#include "mm/kmem/slab.h"
#include "mm/vm/anon_shared.h"
#include "mm/vm/internal.h"

static struct slab_cache *vma_cache;
static struct slab_cache *shared_cache;

struct anon_shared {
	struct mapping m;
	atomic_t refs; /* VMAs */
};

void vma_cache_init(void)
{
	vma_cache = slab_create("vm_area_struct", sizeof(struct vma), 8, 0, NULL);
	shared_cache = slab_create("anon_shared", sizeof(struct anon_shared), 8, 0, NULL);
	BUG_ON(!vma_cache || !shared_cache);
}

pgprot_t vma_pgprot(unsigned long vm_flags)
{
	if (!(vm_flags & VM_ACCESS))
		return PTE_PROTNONE | PTE_NX | PTE_ACCESSED;
	return pgprot_user(vm_flags & VM_ACCESS); /* VM_READ.. are PROT_READ.. */
}

struct vma *vma_alloc(struct aspace *mm)
{
	struct vma *vma = slab_alloc(vma_cache, GFP_KERNEL | __GFP_ZERO | __GFP_ACCOUNT);

	if (vma)
		vma->mm = mm;
	return vma;
}

struct vma *vma_clone(const struct vma *from, struct aspace *mm)
{
	struct vma *vma = slab_alloc(vma_cache, GFP_KERNEL | __GFP_ACCOUNT);

	if (!vma)
		return NULL;
	*vma = *from;
	vma->mm = mm;
	vma->anon_vma = NULL;
	vm_file_get(vma->file);
	if (vma->policy)
		mempolicy_get(vma->policy);
	if (vma->open)
		vma->open(vma);
	return vma;
}

void vma_free(struct vma *vma)
{
	if (vma->close)
		vma->close(vma);
	vm_file_put(vma->file);
	if (vma->policy)
		mempolicy_put(vma->policy);
	slab_free(vma_cache, vma);
}

/* Shared anonymous memory: a mapping without a file, alive as long as a VMA shows it. */
static void anon_shared_open(struct vma *vma)
{
	atomic_inc(&((struct anon_shared *)vma->private)->refs);
}

static void anon_shared_close(struct vma *vma)
{
	struct anon_shared *s = vma->private;

	if (!atomic_dec_and_test(&s->refs))
		return;
	mapping_destroy(&s->m);
	slab_free(shared_cache, s);
}

static const struct mapping_ops anon_shared_ops;

int anon_shared_setup(struct vma *vma)
{
	struct anon_shared *s = slab_alloc(shared_cache, GFP_KERNEL | __GFP_ACCOUNT);

	if (!s)
		return -ENOMEM;
	mapping_init(&s->m, &anon_shared_ops, NULL, MAPF_SHMEM);
	s->m.size = (u64)vma_pages(vma) << PAGE_SHIFT;
	atomic_set(&s->refs, 1);
	vma->mapping = &s->m;
	vma->private = s;
	vma->open = anon_shared_open;
	vma->close = anon_shared_close;
	return 0;
}

bool vma_is_anon_shared(const struct vma *vma)
{
	return vma->open == anon_shared_open;
}
