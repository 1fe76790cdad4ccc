/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plant.c - a section of known length, to test the tracers with: write N to
 * /sys/kernel/quire/plant_irqsoff (or plant_preemptoff) and N + c instructions run with interrupts
 * (preemption) off at the site "planted". The constant c is the same for every N. Only with the
 * boot parameter plant=1, or in debug builds.
 */
#include "arch/cpu.h"
#include "arch/irqflags.h"
#include "kernel/param.h"
#include "kernel/preempt.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "trace/irqsoff.h"

#define MAX_PLANT 10000000ull

#ifdef QUIRE_DEBUG
static bool allowed = true;
#else
static bool allowed;
#endif
BOOT_PARAM_BOOL("plant", allowed, "allow planted interrupts-off sections (tests of the tracer)");

void irqoff_plant(u64 nr_instructions)
{
	local_irq_disable_l("planted");
	arch_run_nops(nr_instructions);
	local_irq_enable_l("planted");
}

static int check(const char *text, u64 *n)
{
	int err = parse_u64(text, n);

	if (err)
		return err;
	if (!allowed)
		return -EPERM;
	return *n > MAX_PLANT ? -ERANGE : 0;
}

static ssize_t irqsoff_store(const char *text, size_t n, long index)
{
	u64 nr;
	int err = check(text, &nr);

	if (err)
		return err;
	irqoff_plant(nr);
	return n;
}
SHOW("/sys/kernel/quire/plant_irqsoff", 0200, NULL, irqsoff_store);

static ssize_t preemptoff_store(const char *text, size_t n, long index)
{
	u64 nr;
	int err = check(text, &nr);

	if (err)
		return err;
	preempt_disable();
	arch_run_nops(nr);
	preempt_enable();
	return n;
}
SHOW("/sys/kernel/quire/plant_preemptoff", 0200, NULL, preemptoff_store);
