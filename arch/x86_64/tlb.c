/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlb.c - address spaces on a CPU, and making other CPUs forget translations.
 *
 * Problem: a changed page-table entry may live on in any CPU's TLB. Idea: an address space knows
 * the CPUs that may hold entries of it (arch_mm.cpus); a flush interrupts just those, once for a
 * whole batch. A CPU that runs a kernel thread or idles keeps the last user tables loaded (lazy)
 * but does not touch user addresses: a flush does not wake it, it only takes the CPU out of the
 * mask, and the CPU reloads its tables when it comes back to that address space.
 *
 * The race between a flusher and a CPU that stops being lazy: the flusher clears the CPU's bit,
 * then looks at lazy again; the CPU clears lazy, then sets its bit (both with full barriers).
 * Either the flusher sees it active and sends the interrupt, or the CPU finds its bit gone and
 * reloads.
 *
 * A lazy CPU still has the tables loaded, so arch_mm_destroy() moves it off them before they are
 * freed.
 */
#include "arch/atomic.h"
#include "arch/mmu.h"
#include "arch/smp.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/counter.h"
#include "kernel/cpumask.h"
#include "kernel/preempt.h"
#include "lib/err.h"
#include "lib/string.h"

COUNTER(nr_tlb_remote_flush, "TLB flushes asked of other CPUs");

#define FLUSH_ALL_ABOVE 32 /* pages: reloading the tables is cheaper than more single flushes */

struct tlb_state {
	struct arch_mm *loaded; /* NULL: kernel_pgd */
	u32 lazy;
};
static DEFINE_PER_CPU(struct tlb_state, tlb_state);

struct flush {
	struct arch_mm *mm; /* NULL: kernel addresses */
	unsigned long start, end;
};

void tlb_flush_page_local(unsigned long va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

/* Global entries too: PGE off and on. */
void tlb_flush_all_local(void)
{
	u64 cr4 = read_cr4();

	write_cr4(cr4 & ~CR4_PGE);
	write_cr4(cr4);
}

static void flush_range_local(unsigned long start, unsigned long end)
{
	if ((end - start) >> PAGE_SHIFT > FLUSH_ALL_ABOVE) {
		write_cr3(read_cr3());
		return;
	}
	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		tlb_flush_page_local(va);
}

static void flush_user(void *arg)
{
	const struct flush *f = arg;

	if (this_cpu_ptr(&tlb_state)->loaded == f->mm)
		flush_range_local(f->start, f->end);
}

static void flush_kernel(void *arg)
{
	const struct flush *f = arg;

	if ((f->end - f->start) >> PAGE_SHIFT > FLUSH_ALL_ABOVE)
		tlb_flush_all_local();
	else
		for (unsigned long va = f->start; va < f->end; va += PAGE_SIZE)
			tlb_flush_page_local(va);
}

/*
 * The CPUs of mm but this one that must be interrupted; lazy ones are dropped from mm->cpus
 * instead.
 */
static u64 cpus_to_interrupt(struct arch_mm *mm, u32 me)
{
	u64 others = __atomic_load_n(&mm->cpus, __ATOMIC_SEQ_CST) & ~CPU_BIT(me), mask = 0;
	u32 cpu;

	for_each_cpu(cpu, others) {
		struct tlb_state *s = &per_cpu(tlb_state, cpu);

		if (READ_ONCE(s->lazy)) {
			__atomic_fetch_and(&mm->cpus, ~CPU_BIT(cpu), __ATOMIC_SEQ_CST);
			if (READ_ONCE(s->lazy))
				continue;
		}
		mask |= CPU_BIT(cpu);
	}
	return mask;
}

void tlb_flush_range(struct arch_mm *mm, unsigned long start, unsigned long end)
{
	struct flush f = { mm, start, end };
	u64 mask;
	u32 me;

	preempt_disable();
	me = smp_processor_id();
	flush_user(&f);
	smp_mb(); /* the changed entries before the mask: a CPU that joins later sees the change */
	if (unlikely(READ_ONCE(mm->cpus) & ~CPU_BIT(me))) {
		mask = cpus_to_interrupt(mm, me);
		if (mask) {
			count(nr_tlb_remote_flush);
			smp_call_mask(mask, flush_user, &f);
		}
	}
	preempt_enable();
}

void tlb_flush_mm(struct arch_mm *mm)
{
	tlb_flush_range(mm, 0, USER_TOP);
}

void tlb_flush_kernel_range(unsigned long start, unsigned long end)
{
	struct flush f = { NULL, start, end };

	preempt_disable();
	flush_kernel(&f);
	if (nr_cpus > 1) {
		count(nr_tlb_remote_flush);
		smp_call_mask(cpu_online_mask & ~CPU_BIT(smp_processor_id()), flush_kernel, &f);
	}
	preempt_enable();
}

/* ---- address spaces ---- */

int arch_mm_init(struct arch_mm *mm)
{
	pte_t *pgd = arch_pt_alloc();

	if (!pgd)
		return -ENOMEM;
	memcpy(pgd + 256, kernel_pgd + 256, 256 * sizeof(pte_t));
	mm->pgd = pgd;
	mm->cpus = 0;
	return 0;
}

static void leave_mm(void *arg)
{
	struct tlb_state *s = this_cpu_ptr(&tlb_state);

	if (s->loaded != arg)
		return;
	write_cr3(__pa(kernel_pgd));
	s->loaded = NULL;
	s->lazy = 0;
}

void arch_mm_destroy(struct arch_mm *mm)
{
	u64 mask = 0;
	u32 cpu;

	preempt_disable();
	leave_mm(mm);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (READ_ONCE(per_cpu(tlb_state, cpu).loaded) == mm)
			mask |= CPU_BIT(cpu);
	if (unlikely(mask))
		smp_call_mask(mask, leave_mm, mm);
	preempt_enable();
	arch_pt_free(mm->pgd);
	mm->pgd = NULL;
}

void arch_mm_switch(struct arch_mm *prev, struct arch_mm *next)
{
	struct tlb_state *s = this_cpu_ptr(&tlb_state);
	u64 bit = CPU_BIT(smp_processor_id());

	if (!next) { /* a kernel thread: keep what is loaded */
		if (s->loaded)
			WRITE_ONCE(s->lazy, 1);
		return;
	}
	if (s->loaded == next) {
		if (!s->lazy)
			return;
		__atomic_store_n(&s->lazy, 0, __ATOMIC_SEQ_CST);
		if (!(__atomic_fetch_or(&next->cpus, bit, __ATOMIC_SEQ_CST) & bit))
			write_cr3(__pa(next->pgd)); /* a flush passed us by */
		return;
	}
	prev = s->loaded;
	s->lazy = 0;
	WRITE_ONCE(s->loaded, next);
	__atomic_fetch_or(&next->cpus, bit, __ATOMIC_SEQ_CST);
	write_cr3(__pa(next->pgd));
	if (prev)
		__atomic_fetch_and(&prev->cpus, ~bit, __ATOMIC_SEQ_CST);
}
