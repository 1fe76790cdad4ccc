/* SPDX-License-Identifier: BSD-2-Clause */
/* vmalloc and stacks: contents, guard pages, reuse of addresses, frames all back. */
#include "arch/mmu.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "tests/kernel/ktest.h"

static bool mapped(const void *p)
{
	pte_t *e = kernel_pte((unsigned long)p);

	return e && pte_present(pte_read(e));
}

KTEST(vmalloc, contents_and_guards)
{
	for (size_t n = 1; n < 700000; n = n * 3 + 1) {
		u8 *p = vmalloc(n), *q = vzalloc(n);
		size_t top = ALIGN_UP(n, PAGE_SIZE);

		KT_ASSERT(p && q && is_vmalloc_addr(p) && !is_vmalloc_addr(__va(0)));
		KT_ASSERT(!memchr_inv(q, 0, n));
		memset(p, 0x77, top);
		KT_ASSERT(!memchr_inv(q, 0, n));
		KT_ASSERT(mapped(p) && mapped(p + top - 1));
		KT_ASSERT(!mapped(p + top) && !mapped(p - 1));
		vfree(p);
		vfree(q);
		KT_ASSERT(!mapped(p));
	}
	KT_ASSERT(!vmalloc(0));
	KT_ASSERT(!vmalloc(1ul << 50));
}

KTEST(vmalloc, frames_come_back)
{
	unsigned long used = global_zone_state(NR_VMALLOC);
	static void *p[200];

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 200; i++) {
			p[i] = vmalloc((size_t)(1 + i % 7) * PAGE_SIZE);
			KT_ASSERT(p[i]);
			*(u64 *)p[i] = (u64)i;
		}
		for (int i = 0; i < 200; i++) {
			KT_EQ(*(u64 *)p[i], i);
			vfree(p[i]);
		}
	}
	KT_EQ(global_zone_state(NR_VMALLOC), used);
}

KTEST(vmalloc, kvmalloc)
{
	void *small = kvmalloc(100, GFP_KERNEL), *large = kvmalloc(1 << 20, GFP_KERNEL);

	KT_ASSERT(small && large);
	KT_ASSERT(!is_vmalloc_addr(small) && is_vmalloc_addr(large));
	kvfree(small);
	kvfree(large);
	kvfree(NULL);
}

KTEST(vmalloc, stacks)
{
	static char *s[40];

	for (int i = 0; i < 40; i++) {
		s[i] = kstack_alloc(-1);
		KT_ASSERT(s[i]);
		KT_ASSERT(mapped(s[i]) && mapped(s[i] + KSTACK_BYTES - 1));
		KT_ASSERT(!mapped(s[i] - 1) && !mapped(s[i] + KSTACK_BYTES));
		memset(s[i], i, KSTACK_BYTES);
	}
	for (int i = 0; i < 40; i++) {
		KT_ASSERT(!memchr_inv(s[i], i, KSTACK_BYTES));
		kstack_free(s[i]);
	}
}
