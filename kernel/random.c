/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.c - one xoshiro256** per CPU, seeded on first use from seed= (or the TSC) and the CPU's
 * number.
 */
#include "kernel/random.h"
#include "arch/cpu.h"
#include "arch/irqflags.h"
#include "arch/percpu.h"
#include "kernel/param.h"
#include "lib/parse.h"
#include "lib/random.h"
#include "lib/string.h"

static DEFINE_PER_CPU(struct rng, cpu_rng);
static u64 seed;
static bool seeded;

static int set_seed(const char *text)
{
	int err = parse_u64(text, &seed);

	seeded = !err;
	return err;
}
BOOT_PARAM_FUNC("seed", set_seed, "seed of the random numbers: same seed, same run");

u64 random_u64(void)
{
	struct rng *r;
	unsigned long flags;
	u64 v;

	local_irq_save_l(flags, "random");
	r = this_cpu_ptr(&cpu_rng);
	if (unlikely(!(r->s[0] | r->s[1] | r->s[2] | r->s[3])))
		rng_seed(r, (seeded ? seed : rdtsc()) + smp_processor_id());
	v = rng_u64(r);
	local_irq_restore_l(flags, "random");
	return v;
}

void random_bytes(void *buf, size_t n)
{
	u8 *p = buf;

	while (n) {
		u64 v = random_u64();
		size_t part = min(n, sizeof(v));

		memcpy(p, &v, part);
		p += part;
		n -= part;
	}
}
