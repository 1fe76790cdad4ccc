/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * psi_avg.h - the arithmetic of pressure: weights and decaying averages. Pure: no lock, no clock.
 *
 * Averages are per cent in fixed point, 16 binary places. One step of a period of 2 s is
 *     avg = avg * e + now * (1 - e),    e = exp(-2 s / window)
 * with e in 32 binary places. Several periods that were missed together are one step with e^n: what
 * was stalled is taken to be spread evenly over them.
 */
#ifndef SCHED_PSI_AVG_H
#define SCHED_PSI_AVG_H

#include "lib/math.h"
#include "lib/types.h"

#define PSI_PERIOD_NS 2000000000ull
#define PSI_ONE (1ull << 32)
#define PSI_PERCENT (1ull << 16)
enum { PSI_10, PSI_60, PSI_300, NR_PSI_WINDOWS };
/* 2^32 * exp(-2/10), exp(-2/60), exp(-2/300) */
#define PSI_DECAYS                                                                                 \
	{                                                                                          \
		3516421809u, 4154161520u, 4266429413u                                              \
	}

/* e^n; rounding down, it reaches 0. */
static inline u64 psi_power(u64 e, u64 n)
{
	u64 r = PSI_ONE;

	for (; n && r; n >>= 1) {
		if (n & 1)
			r = r == PSI_ONE ? e : r * e >> 32;
		e = e * e >> 32;
	}
	return r;
}

/* stalled of periods * PSI_PERIOD_NS, as 16.16 per cent. */
static inline u64 psi_share(u64 stalled, u64 periods)
{
	u64 us = stalled / 1000, whole = periods * (PSI_PERIOD_NS / 1000);

	if (us >= whole)
		return 100 * PSI_PERCENT;
	/* us < 2^44 for half a year: times 100 it still fits with 12 of the 16 places */
	return us < 1ull << 41 ? us * 100 * PSI_PERCENT / whole : us / (whole / 100 / PSI_PERCENT);
}

static inline void psi_step(u64 avg[NR_PSI_WINDOWS], u64 stalled, u64 periods)
{
	static const u32 decay[NR_PSI_WINDOWS] = PSI_DECAYS;
	u64 now = psi_share(stalled, periods);

	for (int i = 0; i < NR_PSI_WINDOWS; i++) {
		u64 e = psi_power(decay[i], periods);

		avg[i] = (avg[i] * e + now * (PSI_ONE - e) + PSI_ONE / 2) >> 32;
	}
}

/*
 * Stalled time of the machine: that of each CPU, weighted with the time it was not idle. Cut to 28
 * bits first, so that 64 CPUs fit.
 */
struct psi_sum {
	u64 stalled, weight;
	u32 shift;
};
static inline void psi_sum_init(struct psi_sum *s, u64 elapsed)
{
	u32 bits = 0;

	for (; elapsed >> 28; elapsed >>= 1)
		bits++;
	*s = (struct psi_sum){ .shift = bits };
}
static inline void psi_sum_add(struct psi_sum *s, u64 stalled, u64 busy)
{
	s->stalled += (stalled >> s->shift) * (busy >> s->shift);
	s->weight += busy >> s->shift;
}
static inline u64 psi_sum_result(const struct psi_sum *s)
{
	return s->weight ? s->stalled / s->weight << s->shift : 0;
}

#endif
