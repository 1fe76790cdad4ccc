/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * percpu.h - data of which every CPU has its own copy.
 *
 * Problem: a CPU must find its own run queue, page lists, counters in one instruction. Idea:
 * per-CPU objects are linked once, in section .percpu; each CPU's area is a copy of that section,
 * and its GS base holds (copy - original). So `%gs:symbol` is this CPU's copy, and per_cpu(symbol,
 * cpu) adds that CPU's offset. The boot CPU uses the original (GS base 0): per-CPU data works from
 * the first instruction on.
 *
 * Invariants: GS base in kernel mode is always this CPU's offset (entry code swaps it). A this_cpu_
 * operation is one instruction, hence safe against interrupts and preemption; anything longer needs
 * preemption off.
 */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include "lib/types.h"

#define NR_CPUS 64

#ifdef QUIRE_HOST /* host tests: one CPU */
#define DEFINE_PER_CPU(type, name) __typeof__(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) __typeof__(type) name __aligned(64)
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define per_cpu(var, cpu) (*((void)(cpu), &(var)))
#define this_cpu_ptr(ptr) (ptr)
#define this_cpu_read(var) (var)
#define this_cpu_write(var, val) ((var) = (val))
#define this_cpu_add(var, val) ((var) += (val))
#define this_cpu_inc(var) ((var)++)
#define this_cpu_test32(var, mask) (((var) & (mask)) != 0)
#define this_cpu_dec(var) ((var)--)
#define smp_processor_id() 0u
#else

#define DEFINE_PER_CPU(type, name) __attribute__((section(".percpu"))) __typeof__(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name)                                                         \
	__attribute__((section(".percpu.aligned"), aligned(64))) __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name

extern unsigned long __per_cpu_offset[NR_CPUS]; /* copy - original, by logical CPU number */

#define per_cpu(var, cpu) (*(__typeof__(&(var)))((unsigned long)&(var) + __per_cpu_offset[cpu]))

/* The size picks the operand; "e" and "i" forms let constants stay immediates. */
#define __pcpu_op_to(insn, var, val)                                                               \
	do {                                                                                       \
		switch (sizeof(var)) {                                                             \
		case 1:                                                                            \
			__asm__ volatile(insn "b %b1, %%gs:%0"                                     \
					 : "+m"(var)                                               \
					 : "qi"((u8)(unsigned long)(val)));                        \
			break;                                                                     \
		case 2:                                                                            \
			__asm__ volatile(insn "w %w1, %%gs:%0"                                     \
					 : "+m"(var)                                               \
					 : "ri"((u16)(unsigned long)(val)));                       \
			break;                                                                     \
		case 4:                                                                            \
			__asm__ volatile(insn "l %k1, %%gs:%0"                                     \
					 : "+m"(var)                                               \
					 : "ri"((u32)(unsigned long)(val)));                       \
			break;                                                                     \
		default:                                                                           \
			__asm__ volatile(insn "q %q1, %%gs:%0"                                     \
					 : "+m"(var)                                               \
					 : "re"((unsigned long)(val)));                            \
		}                                                                                  \
	} while (0)

#define this_cpu_read(var)                                                                         \
	((__typeof__(var))({                                                                       \
		unsigned long _pcv;                                                                \
		switch (sizeof(var)) {                                                             \
		case 1:                                                                            \
			__asm__ volatile("movzbl %%gs:%1, %k0" : "=r"(_pcv) : "m"(var));           \
			break;                                                                     \
		case 2:                                                                            \
			__asm__ volatile("movzwl %%gs:%1, %k0" : "=r"(_pcv) : "m"(var));           \
			break;                                                                     \
		case 4:                                                                            \
			__asm__ volatile("movl %%gs:%1, %k0" : "=r"(_pcv) : "m"(var));             \
			break;                                                                     \
		default:                                                                           \
			__asm__ volatile("movq %%gs:%1, %q0" : "=r"(_pcv) : "m"(var));             \
		}                                                                                  \
		_pcv;                                                                              \
	}))
#define this_cpu_write(var, val) __pcpu_op_to("mov", var, val)
#define this_cpu_add(var, val) __pcpu_op_to("add", var, val)
#define this_cpu_sub(var, val) __pcpu_op_to("sub", var, val)
#define this_cpu_and(var, val) __pcpu_op_to("and", var, val)
#define this_cpu_or(var, val) __pcpu_op_to("or", var, val)
#define this_cpu_inc(var) this_cpu_add(var, 1)
#define this_cpu_dec(var) this_cpu_sub(var, 1)

/* Is any bit of the constant mask set in a 32-bit per-CPU word? One test of memory. */
#define this_cpu_test32(var, mask)                                                                 \
	({                                                                                         \
		bool _pcnz;                                                                        \
		__asm__ volatile("testl %2, %%gs:%1" : "=@ccnz"(_pcnz) : "m"(var), "i"(mask));     \
		_pcnz;                                                                             \
	})

DECLARE_PER_CPU(unsigned long, this_cpu_off); /* this CPU's offset, readable through GS */
DECLARE_PER_CPU(u32, cpu_number);	      /* logical CPU number */

/* Address of this CPU's copy of a per-CPU object. => preemption is off as long as it is used. */
#define this_cpu_ptr(ptr) ((__typeof__(ptr))((unsigned long)(ptr) + this_cpu_read(this_cpu_off)))
#define smp_processor_id() this_cpu_read(cpu_number)
#endif

#endif
