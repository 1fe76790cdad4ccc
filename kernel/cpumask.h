/* SPDX-License-Identifier: BSD-2-Clause */
/* cpumask.h - a set of CPUs is one 64-bit word (NR_CPUS is 64). */
#ifndef KERNEL_CPUMASK_H
#define KERNEL_CPUMASK_H

#include "arch/smp.h"
#include "lib/math.h"

typedef u64 cpumask_t;
#define CPU_BIT(cpu) (1ull << (cpu))
#define for_each_cpu(cpu, mask)                                                                    \
	for (u64 _m = (mask); _m && ((cpu) = (u32)__builtin_ctzll(_m), 1); _m &= _m - 1)
#define for_each_online_cpu(cpu) for ((cpu) = 0; (cpu) < nr_cpus; (cpu)++)

static inline bool cpumask_test(cpumask_t mask, u32 cpu)
{
	return mask >> cpu & 1;
}
static inline u32 cpumask_weight(cpumask_t mask)
{
	return hweight64(mask);
}
/* => 0..63, or NR_CPUS for the empty set. */
static inline u32 cpumask_first(cpumask_t mask)
{
	return mask ? (u32)__builtin_ctzll(mask) : NR_CPUS;
}
/* First CPU of mask after cpu, going round; NR_CPUS for the empty set. */
static inline u32 cpumask_next_wrap(cpumask_t mask, u32 cpu)
{
	u64 above = cpu >= 63 ? 0 : mask & (~0ull << (cpu + 1));

	return cpumask_first(above ? above : mask);
}
/* CPUs 0..n-1. */
static inline cpumask_t cpumask_below(u32 n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

#endif
