/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu.h - instructions with no C name: time stamp, control and model registers, cpuid, idle. */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "lib/types.h"

#ifdef QUIRE_HOST
static inline void cpu_relax(void) {}
static inline u64 rdtsc(void)
{
	return 0;
}
#else
static __always_inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}
static __always_inline u64 rdtsc(void)
{
	u32 lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (u64)hi << 32 | lo;
}
static __always_inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (u64)hi << 32 | lo;
}
static __always_inline void wrmsr(u32 msr, u64 v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((u32)v), "d"((u32)(v >> 32)) : "memory");
}
static __always_inline void cpuid(u32 leaf, u32 sub, u32 *a, u32 *b, u32 *c, u32 *d)
{
	__asm__ volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "a"(leaf), "c"(sub));
}
#define __CR_ACCESS(n)                                                                             \
	static __always_inline u64 read_cr##n(void)                                                \
	{                                                                                          \
		u64 v;                                                                             \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(v) : : "memory");                     \
		return v;                                                                          \
	}                                                                                          \
	static __always_inline void write_cr##n(u64 v)                                             \
	{                                                                                          \
		__asm__ volatile("mov %0, %%cr" #n : : "r"(v) : "memory");                         \
	}
__CR_ACCESS(0)
__CR_ACCESS(2)
__CR_ACCESS(3)
__CR_ACCESS(4)
#endif

/* What CPUID offered and the kernel turned on; filled by arch/x86_64/cpu.c on the boot CPU. */
struct cpu_features {
	char vendor[13];
	char model[49];
	u32 family, model_nr, stepping;
	u32 leaf1_ecx, leaf1_edx, leaf7_ebx, leaf7_ecx, ext_edx, ext_ecx;
	u32 phys_bits, virt_bits;
	bool nx, smep, smap, umip, pcid, fsgsbase, gbpages, tsc_deadline, x2apic, invariant_tsc,
		rdtscp, erms;
};
extern struct cpu_features cpu_features;

/*
 * Wait for an interrupt with the care the emulator needs (hlt race under icount).
 * => called with interrupts off and nothing to run; returns with interrupts on; not measured.
 */
void arch_idle(void);
/* Executes n instructions and a few more, always the same few (nops.asm). */
void arch_run_nops(u64 n);
/* Stop this CPU for good. */
__noreturn void arch_halt(void);
/*
 * Leave the machine. code: 0 = success. Uses isa-debug-exit when present, else ACPI S5, else halts.
 */
__noreturn void arch_poweroff(int code);
__noreturn void arch_reboot(void);

#endif
