/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arch.c - the machine layer: protections of the page tables, user copies that fault, calls
 * between CPUs, clock.
 */
#include "arch/bootinfo.h"
#include "arch/cpu.h"
#include "arch/mmu.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "arch/uaccess.h"
#include "kernel/cpumask.h"
#include "kernel/preempt.h"
#include "lib/string.h"
#include "tests/kernel/ktest.h"

/* Leaves of the kernel half that are writable and executable, or reachable from user mode. */
static unsigned long bad_leaves(const pte_t *table, int level, bool writable, unsigned long *leaves)
{
	unsigned long bad = 0;

	for (unsigned int i = level == 3 ? 256 : 0; i < PTRS_PER_TABLE; i++) {
		pte_t e = pte_read(&table[i]);
		bool w = writable && pte_write(e);

		if (!pte_present(e))
			continue;
		if (level && !pte_huge(e)) {
			bad += bad_leaves(pte_table(e), level - 1, w, leaves);
			continue;
		}
		(*leaves)++;
		if ((w && !(e.v & PTE_NX)) || (e.v & PTE_USER))
			bad++;
	}
	return bad;
}

KTEST(arch, no_page_is_writable_and_executable)
{
	unsigned long leaves = 0;

	KT_EQ(bad_leaves(kernel_pgd, 3, true, &leaves), 0);
	KT_ASSERT(leaves > 100);
}

KTEST(arch, boot_identity_map_is_gone)
{
	for (int i = 0; i < 256; i++)
		KT_ASSERT(pte_none(pte_read(&kernel_pgd[i])));
}

KTEST(arch, text_has_no_writable_alias)
{
	unsigned long text = (unsigned long)bad_leaves & PAGE_MASK;
	pte_t *image = kernel_pte(text),
	      *direct = kernel_pte((unsigned long)__va(__pa((void *)text)));

	KT_ASSERT(image && direct);
	KT_ASSERT(!pte_write(*image) && !(image->v & PTE_NX));
	KT_ASSERT(!pte_write(*direct) && (direct->v & PTE_NX));
}

KTEST(arch, protections_are_on)
{
	u64 cr4 = read_cr4();

	KT_ASSERT(read_cr0() & BIT(16));
	KT_EQ(!!(cr4 & BIT(20)), cpu_features.smep);
	KT_EQ(!!(cr4 & BIT(21)), cpu_features.smap);
	KT_EQ(!!(cr4 & BIT(11)), cpu_features.umip);
	KT_EQ(!!(cr4 & BIT(16)), cpu_features.fsgsbase);
}

KTEST(arch, user_copies_fail_softly)
{
	char buf[64], text[16];
	void __user *nowhere = (void *)0x10000;
	u32 v = 7;

	KT_EQ(copy_from_user(buf, nowhere, 64), 64);
	KT_EQ(copy_to_user(nowhere, buf, 64), 64);
	KT_EQ(clear_user(nowhere, 9), 9);
	KT_EQ(copy_from_user(buf, (void *)(unsigned long)buf, 8), 8); /* a kernel address */
	KT_EQ(copy_from_user(buf, (void *)(USER_TOP - 4), 8), 8);     /* across the end */
	KT_EQ(copy_from_user(buf, (void *)0x800000000000ul, 8), 8);   /* not canonical */
	KT_EQ(copy_from_user(buf, nowhere, ~0ul), ~0ul);
	KT_EQ(strncpy_from_user(text, nowhere, sizeof(text)), -EFAULT);
	KT_EQ(get_user_u32(&v, nowhere), -EFAULT);
	KT_EQ(put_user_u64(1, nowhere), -EFAULT);
	KT_EQ(cmpxchg_user_u32(nowhere, 0, 1, &v), -EFAULT);
	KT_EQ(v, 7);
}

KTEST(arch, pagefault_disable_nests)
{
	KT_ASSERT(!pagefault_disabled());
	pagefault_disable();
	pagefault_disable();
	pagefault_enable();
	KT_ASSERT(pagefault_disabled());
	pagefault_enable();
	KT_ASSERT(!pagefault_disabled());
}

static u64 called;

static void note_cpu(void *arg)
{
	__atomic_fetch_or(&called, CPU_BIT(smp_processor_id()), __ATOMIC_SEQ_CST);
}

KTEST(arch, call_reaches_every_cpu)
{
	for (int round = 0; round < 50; round++) {
		called = 0;
		smp_call_mask(cpu_online_mask, note_cpu, NULL);
		KT_EQ(called, cpu_online_mask);
	}
	KT_EQ(cpu_online_mask, nr_cpus == 64 ? ~0ul : BIT(nr_cpus) - 1);
}

KTEST(arch, kernel_map_and_unmap)
{
	static char page[PAGE_SIZE] __aligned(4096);
	unsigned long va = VMALLOC_END + 1 - MiB(512);

	strlcpy(page, "through an alias", sizeof(page));
	KT_EQ(kernel_map(va, __pa(page), PAGE_SIZE, PAGE_KERNEL_RO), 0);
	KT_EQ(strcmp((char *)va, "through an alias"), 0);
	kernel_unmap(va, PAGE_SIZE);
	KT_ASSERT(!kernel_pte(va));
}

KTEST(arch, clock_advances)
{
	u64 a = arch_clock_ns(), b;

	for (volatile int i = 0; i < 1000; i++)
		;
	b = arch_clock_ns();
	KT_ASSERT(b > a);
	KT_ASSERT(b - a < 1000000000ull);
	KT_ASSERT(arch_boot_realtime_sec() > 1700000000ull);
}

KTEST(arch, memory_copies)
{
	static char a[300], b[300];

	for (int shift = 0; shift < 20; shift++)
		for (int n = 0; n < 100; n++) {
			for (int i = 0; i < 300; i++)
				a[i] = b[i] = (char)(i * 7 + n);
			memmove(a + 50 + shift, a + 50, n);
			for (int i = 0; i < n; i++)
				KT_EQ(a[50 + shift + i], b[50 + i]);
			memcpy(a, b, 300);
			memmove(a + 50, a + 50 + shift, n);
			for (int i = 0; i < n; i++)
				KT_EQ(a[50 + i], b[50 + shift + i]);
			memcpy(a, b, 300);
			memset(a + shift, 0x5a, n);
			KT_EQ(a[shift + n], b[shift + n]);
			KT_ASSERT(!n || a[shift + n - 1] == 0x5a);
		}
}
