/* SPDX-License-Identifier: BSD-2-Clause */
/* cpumask.h - a set of CPUs is one 64-bit word (NR_CPUS is 64). */
#ifndef KERNEL_CPUMASK_H
#define KERNEL_CPUMASK_H

#include "arch/smp.h"

typedef u64 cpumask_t;
#define CPU_BIT(cpu) (1ull << (cpu))
#define for_each_cpu(cpu, mask) \
	for (u64 _m = (mask); _m && ((cpu) = (u32)__builtin_ctzll(_m), 1); _m &= _m - 1)
#define for_each_online_cpu(cpu) for ((cpu) = 0; (cpu) < nr_cpus; (cpu)++)

#endif
