/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smp.c - starting the other processors and talking to them.
 *
 * Start: INIT, SIPI, SIPI. The processor begins in real mode in a page below 1 MiB. That page is
 * written through its direct-map alias (not executable) and run from tables made for this one
 * purpose, where it is executable and not writable; afterwards it is wiped and unmapped. A
 * processor that does not answer in time is stopped again with INIT, named in the log and left out;
 * the numbers of the others stay dense.
 *
 * Calls: one at a time. The caller publishes {fn, arg} and a mask, interrupts the CPUs of the mask,
 * and waits (with interrupts on, so that two callers cannot wait for each other) until every CPU
 * has taken its bit out.
 */
#include "arch/atomic.h"
#include "arch/bootinfo.h"
#include "arch/context.h"
#include "arch/mmu.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/cpumask.h"
#include "kernel/preempt.h"
#include "kernel/printk.h"
#include "lib/string.h"

u32 nr_cpus = 1, nr_possible_cpus = 1;
u32 cpu_apic_id[NR_CPUS];
int cpu_node[NR_CPUS];
u64 cpu_online_mask = 1;
const struct smp_ops *smp_ops;
phys_addr_t trampoline_pa;

#define ANSWER_NS 1000000000ull
#define CALL_LIMIT_NS 20000000000ull

/* ---- calls ---- */

/* Not a spinlock_t: it is held with interrupts on, which must be able to take any lock below it. */
static u32 call_busy;
static struct {
	void (*fn)(void *arg);
	void *arg;
	u64 pending;
} call __cacheline_aligned;

static void send_mask(u64 mask, u32 icr_low)
{
	unsigned long flags;
	u32 cpu;

	for_each_cpu(cpu, mask) {
		local_irq_save_l(flags, "ipi_send");
		lapic_send(cpu_apic_id[cpu], icr_low);
		local_irq_restore_l(flags, "ipi_send");
	}
}

static void call_interrupt(struct pt_regs *regs)
{
	u64 bit = CPU_BIT(smp_processor_id());

	if (!(smp_load_acquire(&call.pending) & bit))
		return;
	call.fn(call.arg);
	__atomic_fetch_and(&call.pending, ~bit, __ATOMIC_SEQ_CST);
}

static void wait_for_call(void)
{
	u64 since = 0;

	while (smp_load_acquire(&call.pending)) {
		cpu_relax();
		if (!since)
			since = arch_clock_ns();
		else if (unlikely(arch_clock_ns() - since > CALL_LIMIT_NS))
			panic("smp: CPUs %#llx do not answer a call",
			      (unsigned long long)call.pending);
	}
}

void smp_call_mask(u64 mask, void (*fn)(void *), void *arg)
{
	unsigned long flags;
	u64 me;

	preempt_disable();
	me = CPU_BIT(smp_processor_id());
	if (mask & ~me & cpu_online_mask) {
		BUG_ON(irqs_disabled());
		while (xchg(&call_busy, 1))
			cpu_relax();
		call.fn = fn;
		call.arg = arg;
		smp_store_release(&call.pending, mask & ~me & cpu_online_mask);
		send_mask(call.pending, ICR_FIXED | VECTOR_CALL);
		wait_for_call();
		smp_store_release(&call_busy, 0);
	}
	if (mask & me) {
		local_irq_save_l(flags, "smp_call_self");
		fn(arg);
		local_irq_restore_l(flags, "smp_call_self");
	}
	preempt_enable();
}

static void reschedule_interrupt(struct pt_regs *regs)
{
	sched_ipi();
}

void smp_send_reschedule(u32 cpu)
{
	send_mask(CPU_BIT(cpu), ICR_FIXED | VECTOR_RESCHEDULE);
}

void smp_init_vectors(void)
{
	irq_system_vector(VECTOR_CALL, call_interrupt, "function calls");
	irq_system_vector(VECTOR_RESCHEDULE, reschedule_interrupt, "reschedules");
}

/* ---- stopping in a panic ---- */

static u64 stopping, stopped;
static struct pt_regs stopped_regs[NR_CPUS];

void smp_nmi(struct pt_regs *regs)
{
	u32 cpu = smp_processor_id();

	if (!(READ_ONCE(stopping) & CPU_BIT(cpu))) {
		pr_warn_once("smp: unexpected NMI");
		return;
	}
	stopped_regs[cpu] = *regs;
	__atomic_fetch_or(&stopped, CPU_BIT(cpu), __ATOMIC_SEQ_CST);
	for (;;)
		__asm__ volatile("hlt" : : : "memory"); /* interrupts are off in an NMI */
}

void smp_stop_others(void)
{
	u64 others = cpu_online_mask & ~CPU_BIT(smp_processor_id());
	u32 cpu;

	if (!others || __atomic_exchange_n(&stopping, others, __ATOMIC_SEQ_CST))
		return;
	for_each_cpu(cpu, others)
		lapic_send(cpu_apic_id[cpu], ICR_NMI);
	for (u32 i = 0; i < 1000000 && READ_ONCE(stopped) != others; i++)
		cpu_relax();
}

const struct pt_regs *arch_stopped_regs(u32 cpu)
{
	return cpu < NR_CPUS && (stopped & CPU_BIT(cpu)) ? &stopped_regs[cpu] : NULL;
}

/* ---- per-CPU areas ---- */

extern u8 *desc_ist_memory[NR_CPUS];

void arch_percpu_init(void)
{
	size_t bytes = __percpu_end - __percpu_start;

	for (u32 cpu = 1; cpu < nr_possible_cpus; cpu++) {
		int node = cpu_node[cpu];
		char *area = __va(bootmem_alloc(bytes, 64, node));

		memcpy(area, __percpu_copy_start, bytes);
		__per_cpu_offset[cpu] = (unsigned long)area - (unsigned long)__percpu_start;
		per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
		per_cpu(cpu_number, cpu) = cpu;
		desc_ist_memory[cpu] =
			__va(bootmem_alloc(4 * STACK_BYTES_IST, STACK_BYTES_IST, node));
	}
}

/* ---- starting processors ---- */

/* The words at the end of the trampoline (trampoline.asm). */
struct ap_data {
	u32 gdt;
	u32 far_offset, far_selector;
	u32 cr3, pad;
	u64 stack, percpu, entry;
	u32 cpu, gdt_offset;
} __packed;

extern char ap_trampoline[], ap_trampoline_end[], ap_trampoline_data[], ap_start_high[];
void ap_main_c(u32 cpu) __noreturn;

static pte_t ap_tables[4][PTRS_PER_TABLE] __initdata __aligned(4096);
static u32 ap_alive, ap_go; /* logical number + 1; the latter only rises */

void ap_main_c(u32 cpu)
{
	write_cr3(__pa(kernel_pgd));
	desc_init_cpu(cpu);
	cpu_init_this();
	lapic_init_cpu();
	timer_init_cpu();
	if (unlikely(irqoff_enabled))
		irqoff_start(&site_ap_start);
	smp_store_release(&ap_alive, cpu + 1);
	while (smp_load_acquire(&ap_go) <= cpu) /* the next ones may be let go before we look */
		cpu_relax();
	smp_ops->ap_main(cpu);
	arch_halt();
}

/* Identity map of the trampoline page alone: present, executable, not writable. */
static void __init make_ap_tables(void)
{
	unsigned long va = trampoline_pa;

	memcpy(ap_tables[0], kernel_pgd, sizeof(ap_tables[0]));
	for (int level = 3; level > 0; level--)
		pte_set(&ap_tables[3 - level][pt_index(va, level)],
			pte_make(__pa(ap_tables[4 - level]) >> PAGE_SHIFT, PAGE_TABLE_KERNEL));
	pte_set(&ap_tables[3][pt_index(va, 0)],
		pte_make(trampoline_pa >> PAGE_SHIFT, PTE_PRESENT | PTE_ACCESSED));
}

static struct ap_data *__init write_trampoline(void)
{
	char *page = __va(trampoline_pa);
	size_t n = ap_trampoline_end - ap_trampoline;
	struct ap_data *d = (void *)(page + (ap_trampoline_data - ap_trampoline));

	BUG_ON(n > PAGE_SIZE);
	if (kernel_map((unsigned long)page, trampoline_pa, PAGE_SIZE, PAGE_KERNEL))
		return NULL;
	memcpy(page, ap_trampoline, n);
	d->gdt = trampoline_pa + d->gdt_offset;
	d->far_offset += trampoline_pa;
	d->cr3 = __pa(ap_tables[0]);
	d->entry = (unsigned long)ap_start_high;
	return d;
}

/*
 * A short wait pauses; a long one halts between the ticks, which is cheaper to emulate than
 * millions of pauses.
 */
static bool __init wait_alive(u32 cpu, u64 ns)
{
	u64 now = arch_clock_ns(), until = now + ns, patience = now + 1000000;

	while (smp_load_acquire(&ap_alive) != cpu + 1) {
		now = arch_clock_ns();
		if (now >= until)
			return false;
		if (now < patience || irqs_disabled())
			cpu_relax();
		else
			__asm__ volatile("hlt" : : : "memory");
	}
	return true;
}

/* Emulators need no pauses; hardware wants 10 ms after INIT and 200 us after the first SIPI. */
static bool __init start_one(u32 cpu, struct ap_data *d)
{
	u32 id = cpu_apic_id[cpu], sipi = ICR_STARTUP | trampoline_pa >> PAGE_SHIFT;
	void *stack = smp_ops->ap_stack_top(cpu);

	if (!stack)
		return false;
	d->stack = (unsigned long)stack;
	d->percpu = __per_cpu_offset[cpu];
	d->cpu = cpu;
	smp_mb();
	lapic_send(id, ICR_INIT);
	wait_alive(cpu, arch_clock_is_virtual ? 100000 : 10000000);
	lapic_send(id, sipi);
	if (wait_alive(cpu, arch_clock_is_virtual ? 2000000 : 200000))
		return true;
	lapic_send(id, sipi);
	if (wait_alive(cpu, ANSWER_NS))
		return true;
	lapic_send(id, ICR_INIT);
	return false;
}

/* CPU cpu stays away: the ones behind it move up. Its per-CPU area serves its successor. */
static void __init drop_cpu(u32 cpu)
{
	for (u32 i = cpu; i + 1 < nr_possible_cpus; i++) {
		cpu_apic_id[i] = cpu_apic_id[i + 1];
		cpu_node[i] = cpu_node[i + 1];
	}
	nr_possible_cpus--;
}

void __init smp_start_others(void)
{
	struct ap_data *d;
	u32 cpu = 1;

	if (nr_possible_cpus == 1)
		return;
	if (!trampoline_pa || !smp_ops) {
		pr_warn("smp: no memory below 1 MiB for the start code, running on one CPU");
		nr_possible_cpus = 1;
		return;
	}
	make_ap_tables();
	d = write_trampoline();
	while (d && cpu < nr_possible_cpus) {
		if (!start_one(cpu, d)) {
			pr_warn("smp: the CPU with APIC id %u does not answer, left out",
				cpu_apic_id[cpu]);
			drop_cpu(cpu);
			continue;
		}
		cpu_online_mask |= CPU_BIT(cpu);
		smp_store_release(&nr_cpus, cpu + 1);
		smp_store_release(&ap_go, cpu + 1);
		cpu++;
	}
	memset(__va(trampoline_pa), 0, PAGE_SIZE);
	memset(ap_tables, 0, sizeof(ap_tables));
	kernel_unmap((unsigned long)__va(trampoline_pa), PAGE_SIZE);
	pr_info("smp: %u CPUs", nr_cpus);
}
