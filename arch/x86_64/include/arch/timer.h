/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.h - the machine's clock and alarm. The TSC, calibrated once, is the clocksource
 * (independent of ticks); each CPU's local APIC timer (TSC-deadline where offered, else one-shot)
 * is its alarm.
 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

#include "lib/types.h"

extern u64 tsc_khz;
extern u64 tsc_boot;		/* TSC value taken as ktime 0 */
extern u32 tsc_mult, tsc_shift; /* ns = (tsc - tsc_boot) * mult >> shift */

/* Nanoseconds since boot. => any context; monotonic across CPUs. */
u64 arch_clock_ns(void);
/*
 * Ask for one interrupt at ktime deadline_ns on this CPU; a past deadline fires at once. => IRQs
 * off.
 */
void arch_timer_arm(u64 deadline_ns);
/* Wall clock at boot, seconds since 1970 (from the CMOS clock). */
u64 arch_boot_realtime_sec(void);

/*
 * kernel/time.c implements it: called from the alarm's interrupt on this CPU, IRQs off, hard
 * interrupt context.
 */
void timer_interrupt(void);

#endif
