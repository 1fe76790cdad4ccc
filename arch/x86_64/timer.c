/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.c - the clock (TSC) and the alarm (local APIC timer).
 *
 * Under QEMU's -icount shift=0 one instruction takes one nanosecond and the TSC counts exactly
 * that, so its rate is 1 GHz by definition: no calibration loop, and none of its noise. That mode
 * is tested for: a stretch of 100 nops then takes the same 102 ticks every time. Otherwise the rate
 * comes from CPUID leaf 15h, or is measured against the ACPI PM timer, the HPET or the PIT for 10
 * ms; a result within 200 ppm of a whole MHz is taken as that.
 */
#include "arch/io.h"
#include "arch/mmu.h"
#include "arch/timer.h"
#include "arch/trap.h"
#include "boot/boot.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/param.h"
#include "kernel/printk.h"

u64 tsc_khz = 1000000;
u64 tsc_boot;
u32 tsc_mult = 1u << 30, tsc_shift = 30;
bool arch_clock_is_virtual;

static u32 alarm_mult, alarm_shift; /* ns -> alarm counts (APIC) or TSC ticks (deadline mode) */
static bool use_deadline;

u64 arch_clock_ns(void)
{
	/* make_ratio() gives at most 31; the compiler shall know */
	return (unsigned __int128)(rdtsc() - tsc_boot) * tsc_mult >> (tsc_shift & 31);
}

/* value * mult >> shift = value * to / from, with the largest mult that fits. => to < 2^32 */
static void make_ratio(u64 from, u64 to, u32 *mult, u32 *shift)
{
	*shift = 31;
	while (*shift && ((to << *shift) + from / 2) / from > U32_MAX)
		(*shift)--;
	*mult = ((to << *shift) + from / 2) / from;
}

static u64 snap(u64 khz)
{
	u64 mhz = (khz + 500) / 1000 * 1000, off = mhz > khz ? mhz - khz : khz - mhz;

	return mhz && off * 5000 <= khz ? mhz : khz;
}

static bool instructions_are_ticks(void)
{
	for (int i = 0; i < 4; i++) {
		u32 ticks;

		__asm__ volatile("rdtsc\n\t"
				 "movl %%eax, %%ecx\n\t"
				 ".rept 100\n\tnop\n\t.endr\n\t"
				 "rdtsc\n\t"
				 "subl %%ecx, %%eax"
				 : "=a"(ticks)
				 :
				 : "ecx", "edx", "cc");
		if (ticks != 102)
			return false;
	}
	return true;
}

static u64 khz_from_cpuid(void)
{
	u32 max, a, b, c, d;

	cpuid(0, 0, &max, &b, &c, &d);
	if (max < 0x15)
		return 0;
	cpuid(0x15, 0, &a, &b, &c, &d);
	return a && b && c ? (u64)c * b / a / 1000 : 0;
}

#define PM_HZ 3579545u
#define WINDOW_MS 10u

static u32 pm_read(void)
{
	return inl(acpi_machine.pm_timer_port);
}

/* Start and end on an edge of the PM timer, so that only the port's latency is left as error. */
static u64 khz_from_pm_timer(void)
{
	u32 mask = acpi_machine.pm_timer_32bit ? U32_MAX : 0xffffff, first, now, ticks;
	u64 t0, t1, limit = 0;

	if (!acpi_machine.pm_timer_port)
		return 0;
	first = pm_read();
	while ((now = pm_read()) == first)
		if (++limit > 100000)
			return 0; /* it does not count */
	t0 = rdtsc();
	first = now;
	do {
		ticks = (pm_read() - first) & mask;
	} while (ticks < PM_HZ / 1000 * WINDOW_MS);
	t1 = rdtsc();
	return (t1 - t0) * PM_HZ / ticks / 1000;
}

static u64 khz_from_hpet(void)
{
	volatile u8 *r = acpi_machine.hpet_pa ? ioremap(acpi_machine.hpet_pa, PAGE_SIZE) : NULL;
	u64 period_fs, t0, t1;
	u32 first, want, ticks;

	if (!r)
		return 0;
	period_fs = mmio_read64(r) >> 32;
	if (!period_fs || period_fs > 100000000)
		return 0;
	mmio_write64(mmio_read64(r + 0x10) | 1, r + 0x10);
	want = WINDOW_MS * 1000000000000ull / period_fs;
	first = mmio_read32(r + 0xf0);
	t0 = rdtsc();
	do {
		ticks = mmio_read32(r + 0xf0) - first;
	} while (ticks < want);
	t1 = rdtsc();
	return (t1 - t0) * 1000000000ull / ((u64)ticks * period_fs / 1000);
}

/* Channel 2 of the PIT, one-shot, watched through the speaker port. */
static u64 khz_from_pit(void)
{
	u32 count = 1193182 * WINDOW_MS / 1000;
	u64 t0, t1, limit = 0;

	outb((inb(0x61) & ~2) | 1, 0x61);
	outb(0xb0, 0x43);
	outb(count, 0x42);
	outb(count >> 8, 0x42);
	t0 = rdtsc();
	while (!(inb(0x61) & 0x20))
		if (++limit > 100000000)
			return 0;
	t1 = rdtsc();
	return (t1 - t0) / WINDOW_MS;
}

static const char *calibrate(void)
{
	static const struct {
		u64 (*khz)(void);
		const char *name;
	} ways[] = { { khz_from_cpuid, "CPUID" },
		     { khz_from_pm_timer, "the PM timer" },
		     { khz_from_hpet, "the HPET" },
		     { khz_from_pit, "the PIT" } };

	if (instructions_are_ticks()) {
		arch_clock_is_virtual = true;
		tsc_khz = 1000000;
		return "counted instructions";
	}
	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		u64 khz = ways[i].khz();

		if (khz >= 10000 && khz <= 20000000) {
			tsc_khz = snap(khz);
			return ways[i].name;
		}
	}
	pr_warn("timer: nothing to calibrate the TSC with, assuming 1 GHz");
	return "assumption";
}

static void alarm_interrupt(struct pt_regs *regs)
{
	timer_interrupt();
}

static void calibrate_alarm(void)
{
	u64 took = 0, counts, khz;

	use_deadline = cpu_features.tsc_deadline;
	if (use_deadline) {
		make_ratio(1000000, tsc_khz, &alarm_mult, &alarm_shift);
		return;
	}
	counts = lapic_timer_measure(tsc_khz / (arch_clock_is_virtual ? 50 : 1), &took);
	khz = snap(counts * tsc_khz / (took ? took : 1));
	if (khz < 1000) {
		pr_warn("timer: the APIC timer counts %llu per %llu TSC ticks, assuming 1 GHz",
			(unsigned long long)counts, (unsigned long long)took);
		khz = 1000000;
	}
	make_ratio(1000000, khz, &alarm_mult, &alarm_shift);
}

/*
 * Turns of emulated CPUs. On a counted clock the emulator runs one CPU at a time, until the next
 * timer of the machine is due: half a tick with two CPUs. While one runs, the others stand still,
 * and what they should have done meanwhile is not done. A timer that rings more often, into nothing
 * (channel 0 of the PIT, its line stays masked), makes the turns shorter.
 */
static u32 turn_us;
BOOT_PARAM_UINT("turn_us", turn_us, 0, 50000,
		"counted clock: emulated CPUs take turns of at most this (0: as timers come)");

static void shorten_turns(void)
{
	u32 count = turn_us * 1193182 / 1000000;

	if (!turn_us || !arch_clock_is_virtual)
		return;
	outb(0x34, 0x43); /* channel 0, rate generator */
	outb(count, 0x40);
	outb(count >> 8, 0x40);
}

void arch_timer_init(void)
{
	const char *source = calibrate();

	make_ratio(tsc_khz, 1000000, &tsc_mult, &tsc_shift);
	calibrate_alarm();
	irq_system_vector(VECTOR_TIMER, alarm_interrupt, "local timer");
	timer_init_cpu();
	shorten_turns();
	pr_info("timer: TSC %llu.%03llu MHz from %s, alarm by %s",
		(unsigned long long)tsc_khz / 1000, (unsigned long long)tsc_khz % 1000, source,
		use_deadline ? "TSC deadline" : "APIC timer");
}

void timer_init_cpu(void)
{
	lapic_timer_mode(use_deadline);
}

void arch_timer_arm(u64 deadline_ns)
{
	u64 now = arch_clock_ns(), ns = deadline_ns > now ? deadline_ns - now : 0, count;

	if (use_deadline) {
		/* From the deadline itself, not from the distance: no error adds up. */
		count = (unsigned __int128)deadline_ns * alarm_mult >> alarm_shift;
		lapic_timer_deadline(ns ? tsc_boot + count + 1 : rdtsc());
		return;
	}
	count = ns >> 40 ? U32_MAX / 2 : ns * alarm_mult >> alarm_shift;
	/* A far deadline fires early and is armed again by the timer code. */
	lapic_timer_oneshot(clamp(count, (u64)1, (u64)(U32_MAX / 2)));
}

/* ---- CMOS clock ---- */

static u8 cmos(u8 reg)
{
	outb(reg | 0x80, 0x70);
	return inb(0x71);
}

struct rtc {
	u8 sec, min, hour, day, month, year;
};

static struct rtc rtc_read_once(void)
{
	for (int i = 0; i < 100000 && (cmos(10) & 0x80); i++)
		cpu_relax();
	return (struct rtc){ cmos(0), cmos(2), cmos(4), cmos(7), cmos(8), cmos(9) };
}

static u8 from_bcd(u8 v, bool bcd)
{
	return bcd ? (v & 15) + (v >> 4) * 10 : v;
}

/*
 * Days since 1970-01-01 of a date of the Gregorian calendar (March-based years make leap days come
 * last).
 */
static s64 days_from_civil(s64 y, u32 m, u32 d)
{
	s64 era;
	u32 yoe, doy;

	y -= m <= 2;
	era = y / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

u64 arch_boot_realtime_sec(void)
{
	struct rtc a, b;
	bool bcd, pm;
	u32 hour, month;

	for (int i = 0; i < 10; i++) {
		a = rtc_read_once();
		b = rtc_read_once();
		if (a.sec == b.sec && a.min == b.min && a.hour == b.hour && a.day == b.day)
			break;
	}
	bcd = !(cmos(11) & 4);
	pm = !(cmos(11) & 2) && (b.hour & 0x80);
	hour = from_bcd(b.hour & 0x7f, bcd);
	if (!(cmos(11) & 2))
		hour = hour % 12 + (pm ? 12 : 0);
	month = from_bcd(b.month, bcd);
	if (month < 1 || month > 12) {
		pr_warn("timer: the CMOS clock names month %u, time starts at 1970", month);
		return 0;
	}
	return days_from_civil(2000 + from_bcd(b.year, bcd), month, from_bcd(b.day, bcd)) * 86400 +
	       hour * 3600 + from_bcd(b.min, bcd) * 60 + from_bcd(b.sec, bcd);
}
