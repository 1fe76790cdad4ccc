/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic.c - the local APIC: end of interrupt, interrupts between processors, the timer. Registers
 * are MSRs in x2APIC mode (used when CPUID offers it: ids above 254 need it), memory otherwise.
 */
#include "arch/mmu.h"
#include "arch/io.h"
#include "arch/timer.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/printk.h"

#define APIC_ID 0x20
#define APIC_EOI 0xb0
#define APIC_SVR 0xf0
#define APIC_ESR 0x280
#define APIC_ICR 0x300
#define APIC_ICR_HIGH 0x310
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_LINT0 0x350
#define APIC_LVT_LINT1 0x360
#define APIC_LVT_ERROR 0x370
#define APIC_TIMER_INIT 0x380
#define APIC_TIMER_CURRENT 0x390
#define APIC_TIMER_DIVIDE 0x3e0
#define APIC_TPR 0x80

#define LVT_MASKED BIT(16)
#define LVT_TSC_DEADLINE (2u << 17)
#define ICR_BUSY BIT(12)

bool lapic_x2apic;
static volatile u8 *regs;

static inline u32 apic_read(u32 reg)
{
	if (unlikely(lapic_x2apic))
		return rdmsr(0x800 + reg / 16);
	return mmio_read32(regs + reg);
}

static inline void apic_write(u32 reg, u32 v)
{
	if (unlikely(lapic_x2apic))
		wrmsr(0x800 + reg / 16, v);
	else
		mmio_write32(v, regs + reg);
}

u32 lapic_id(void)
{
	return lapic_x2apic ? apic_read(APIC_ID) : apic_read(APIC_ID) >> 24;
}

void lapic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

void lapic_send(u32 apic_id, u32 icr_low)
{
	if (lapic_x2apic) {
		wrmsr(0x800 + APIC_ICR / 16, (u64)apic_id << 32 | icr_low);
		return;
	}
	for (u32 i = 0; i < 100000 && (apic_read(APIC_ICR) & ICR_BUSY); i++)
		cpu_relax();
	apic_write(APIC_ICR_HIGH, apic_id << 24);
	apic_write(APIC_ICR, icr_low);
}

void lapic_init(void)
{
	u64 base = rdmsr(MSR_APIC_BASE);
	u64 pa = acpi_machine.lapic_pa ? acpi_machine.lapic_pa : base & PTE_PFN_MASK;

	if (!(cpu_features.leaf1_edx & BIT(9)))
		panic("lapic: this CPU has no local APIC");
	lapic_x2apic = cpu_features.x2apic;
	if (!lapic_x2apic) {
		regs = ioremap(pa, PAGE_SIZE);
		if (!regs)
			panic("lapic: cannot map the registers at %#llx", (unsigned long long)pa);
	}
}

void lapic_init_cpu(void)
{
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | BIT(11) | (lapic_x2apic ? BIT(10) : 0));
	apic_write(APIC_TPR, 0);
	apic_write(APIC_LVT_TIMER, LVT_MASKED);
	apic_write(APIC_LVT_LINT0, LVT_MASKED);
	apic_write(APIC_LVT_LINT1, 0x400); /* NMI */
	apic_write(APIC_LVT_ERROR, VECTOR_ERROR);
	apic_write(APIC_ESR, 0);
	apic_write(APIC_SVR, 0x100 | VECTOR_SPURIOUS);
	apic_write(APIC_TIMER_DIVIDE, 0xb); /* by 1 */
	apic_write(APIC_EOI, 0);
}

void lapic_timer_mode(bool deadline)
{
	apic_write(APIC_LVT_TIMER, VECTOR_TIMER | (deadline ? LVT_TSC_DEADLINE : 0));
	/* The MSR write must not pass the memory write of the mode. */
	__asm__ volatile("mfence" : : : "memory");
}

void lapic_timer_oneshot(u32 count)
{
	apic_write(APIC_TIMER_INIT, count);
}

void lapic_timer_deadline(u64 tsc)
{
	wrmsr(MSR_TSC_DEADLINE, tsc);
}

/* Counts per 2^32 TSC ticks would be finer than the timer is: measure over window TSC ticks. */
u64 lapic_timer_measure(u64 window_tsc, u64 *took)
{
	u64 start, now;
	u32 left;

	apic_write(APIC_LVT_TIMER, LVT_MASKED);
	apic_write(APIC_TIMER_INIT, U32_MAX);
	start = rdtsc();
	do {
		now = rdtsc();
	} while (now - start < window_tsc);
	left = apic_read(APIC_TIMER_CURRENT);
	*took = rdtsc() - start;
	apic_write(APIC_TIMER_INIT, 0);
	return U32_MAX - left;
}
