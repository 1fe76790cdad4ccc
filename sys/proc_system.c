// SPDX-License-Identifier: BSD-2-Clause
/*
 * proc_system.c - files about the whole machine that programs parse:
 * /proc/{stat,loadavg,uptime,interrupts,cmdline,...}. Formats are Linux's (proc(5)). Disks
 * show themselves (drivers/blk/stats.c), and so do swap areas (mm/swap/area.c).
 */
#include "arch/bootinfo.h"
#include "arch/smp.h"
#include "arch/trap.h"
#include "kernel/param.h"
#include "kernel/random.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "sched/sched.h"
#include "sys/process.h"

#define NS_PER_CLOCK_TICK 10000000ull

static void stat_cpu_line(struct seq *seq, const char *name, const struct cpu_times *t)
{
	const u64 v[] = { t->user_ns,	t->nice_ns, t->system_ns, t->idle_ns,
			  t->iowait_ns, t->irq_ns,  t->softirq_ns };

	seq_puts(seq, name);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		seq_printf(seq, " %llu", (unsigned long long)(v[i] / NS_PER_CLOCK_TICK));
	seq_puts(seq, " 0 0 0\n");
}

static u64 vector_total(unsigned int vector)
{
	u64 sum = 0;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		sum += irq_vector_count(vector, cpu);
	return sum;
}

static void stat_softirqs(struct seq *seq)
{
	u64 by_kind[NR_SOFTIRQS] = { 0 }, total = 0;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		for (int i = 0; i < NR_SOFTIRQS; i++)
			by_kind[i] += per_cpu(softirq_count, cpu)[i];
	for (int i = 0; i < NR_SOFTIRQS; i++)
		total += by_kind[i];
	seq_printf(seq, "softirq %llu", (unsigned long long)total);
	for (int i = 0; i < NR_SOFTIRQS; i++)
		seq_printf(seq, " %llu", (unsigned long long)by_kind[i]);
	seq_putc(seq, '\n');
}

static int stat_show(struct seq *seq)
{
	struct cpu_times sum = { 0 }, t;
	u64 interrupts = 0;
	char name[16];

	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		sched_cpu_times(cpu, &t);
		sum.user_ns += t.user_ns;
		sum.nice_ns += t.nice_ns;
		sum.system_ns += t.system_ns;
		sum.idle_ns += t.idle_ns;
		sum.iowait_ns += t.iowait_ns;
		sum.irq_ns += t.irq_ns;
		sum.softirq_ns += t.softirq_ns;
	}
	stat_cpu_line(seq, "cpu ", &sum);
	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		sched_cpu_times(cpu, &t);
		snprintf(name, sizeof(name), "cpu%u", cpu);
		stat_cpu_line(seq, name, &t);
	}
	for (unsigned int v = 32; v < 256; v++)
		interrupts += vector_total(v);
	seq_printf(seq, "intr %llu", (unsigned long long)interrupts);
	for (unsigned int v = 32; v < 256; v++)
		if (irq_vector_name(v))
			seq_printf(seq, " %llu", (unsigned long long)vector_total(v));
	seq_printf(seq,
		   "\nctxt %llu\nbtime %llu\nprocesses %llu\nprocs_running %u\nprocs_blocked %u\n",
		   (unsigned long long)sched_nr_switches(),
		   (unsigned long long)((ktime_get_real() - ktime_get()) / NSEC_PER_SEC),
		   (unsigned long long)sched_nr_forks(), sched_nr_running(), sched_nr_iowait());
	stat_softirqs(seq);
	return 0;
}
SHOW("/proc/stat", 0444, stat_show, NULL);

static int loadavg_show(struct seq *seq)
{
	unsigned long load[3];
	u32 threads = 0;
	struct thread *t;

	sched_loadavg(load);
	rcu_read_lock();
	list_for_each_entry_rcu(t, &thread_list, all_node)
		threads++;
	rcu_read_unlock();
	for (int i = 0; i < 3; i++) {
		unsigned long v = load[i] + 10; /* rounded to the next hundredth: 2^11 / 200 */

		seq_printf(seq, "%lu.%02lu ", v >> 11, (v & 2047) * 100 >> 11);
	}
	seq_printf(seq, "%u/%u %d\n", sched_nr_running(), threads, current->tid);
	return 0;
}
SHOW("/proc/loadavg", 0444, loadavg_show, NULL);

static int uptime_show(struct seq *seq)
{
	u64 up = ktime_get() / NS_PER_CLOCK_TICK, idle = 0;
	struct cpu_times t;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		sched_cpu_times(cpu, &t);
		idle += t.idle_ns / NS_PER_CLOCK_TICK;
	}
	seq_printf(seq, "%llu.%02llu %llu.%02llu\n", (unsigned long long)(up / 100),
		   (unsigned long long)(up % 100), (unsigned long long)(idle / 100),
		   (unsigned long long)(idle % 100));
	return 0;
}
SHOW("/proc/uptime", 0444, uptime_show, NULL);

static int cmdline_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", boot_info.cmdline);
	return 0;
}
SHOW("/proc/cmdline", 0444, cmdline_show, NULL);

static int interrupts_show(struct seq *seq)
{
	seq_printf(seq, "%4s", "");
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		seq_printf(seq, " %7s%-3u", "CPU", cpu);
	seq_putc(seq, '\n');
	for (unsigned int v = 32; v < 256; v++) {
		if (!irq_vector_name(v))
			continue;
		seq_printf(seq, "%3u:", v);
		for (u32 cpu = 0; cpu < nr_cpus; cpu++)
			seq_printf(seq, " %10llu", (unsigned long long)irq_vector_count(v, cpu));
		seq_printf(seq, "   %s\n", irq_vector_name(v));
	}
	return 0;
}
SHOW("/proc/interrupts", 0444, interrupts_show, NULL);

static int iomem_show(struct seq *seq)
{
	static const char *const kind[] = { "Reserved",
					    "System RAM",
					    "Reserved",
					    "ACPI Tables",
					    "ACPI Non-volatile Storage",
					    "Unusable memory" };

	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];

		seq_printf(seq, "%08llx-%08llx : %s\n", (unsigned long long)r->start,
			   (unsigned long long)r->end - 1,
			   r->type < ARRAY_SIZE(kind) ? kind[r->type] : "Reserved");
	}
	return 0;
}
SHOW("/proc/iomem", 0444, iomem_show, NULL);

long threads_max = 32768;
TUNABLE("kernel/threads-max", threads_max, 20, 32768, NULL);

static int ngroups_show(struct seq *seq)
{
	seq_puts(seq, "32\n"); /* room in struct cred */
	return 0;
}
SHOW("/proc/sys/kernel/ngroups_max", 0444, ngroups_show, NULL);

static int cap_last_show(struct seq *seq)
{
	seq_puts(seq, "40\n");
	return 0;
}
SHOW("/proc/sys/kernel/cap_last_cap", 0444, cap_last_show, NULL);

static void print_uuid(struct seq *seq, const u8 *b)
{
	for (int i = 0; i < 16; i++)
		seq_printf(seq, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			   i == 6   ? (b[i] & 0x0f) | 0x40
			   : i == 8 ? (b[i] & 0x3f) | 0x80
				    : b[i]);
	seq_putc(seq, '\n');
}

static int boot_id_show(struct seq *seq)
{
	static u8 id[16];
	static bool made;

	if (!made) {
		random_bytes(id, sizeof(id));
		made = true;
	}
	print_uuid(seq, id);
	return 0;
}
SHOW("/proc/sys/kernel/random/boot_id", 0444, boot_id_show, NULL);

static int uuid_show(struct seq *seq)
{
	u8 id[16];

	random_bytes(id, sizeof(id));
	print_uuid(seq, id);
	return 0;
}
SHOW("/proc/sys/kernel/random/uuid", 0444, uuid_show, NULL);

static int entropy_show(struct seq *seq)
{
	seq_puts(seq, "256\n");
	return 0;
}
SHOW("/proc/sys/kernel/random/entropy_avail", 0444, entropy_show, NULL);
