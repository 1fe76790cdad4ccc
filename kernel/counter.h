/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.h - event counters anybody may define: COUNTER(rcu_callbacks, "callbacks run"). One u64
 * per CPU, added in one instruction, summed when read: /sys/kernel/quire/counters. (mm's own list,
 * /proc/vmstat, is mm/debug/vmstat.h.)
 */
#ifndef KERNEL_COUNTER_H
#define KERNEL_COUNTER_H

#include "arch/percpu.h"

struct counter {
	const char *name, *about;
	u64 *value; /* per-CPU address */
};
#ifdef QUIRE_HOST
#define COUNTER(name_, about_) u64 counter_##name_
#else
#define COUNTER(name_, about_)                                                                     \
	DEFINE_PER_CPU(u64, counter_##name_);                                                      \
	static struct counter __counter_##name_                                                    \
		__attribute__((section(".counters"), used, aligned(8))) = {                        \
			.name = #name_, .about = about_, .value = &counter_##name_                 \
		}
#endif
#define DECLARE_COUNTER(name_) DECLARE_PER_CPU(u64, counter_##name_)
#define count(name_) this_cpu_inc(counter_##name_)
#define count_add(name_, n) this_cpu_add(counter_##name_, n)
u64 counter_sum(const u64 *percpu_value);

#endif
