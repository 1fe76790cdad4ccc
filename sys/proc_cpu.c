// SPDX-License-Identifier: BSD-2-Clause
/* proc_cpu.c - processors as programs look for them: /proc/cpuinfo and /sys/devices/system/cpu. */
#include "arch/cpu.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "kernel/show.h"

/* Names of CPUID bits in Linux's words; NULL: no name. */
static const char *const leaf1_edx[32] = {
	"fpu",	"vme",	"de",	"pse", "tsc",  "msr", "pae",   "mce", "cx8",	 "apic", NULL,
	"sep",	"mtrr", "pge",	"mca", "cmov", "pat", "pse36", "pn",  "clflush", NULL,	 "dts",
	"acpi", "mmx",	"fxsr", "sse", "sse2", "ss",  "ht",    "tm",  "ia64",	 "pbe",
};
static const char *const leaf1_ecx[32] = {
	"pni",	  "pclmulqdq",	"dtes64", "monitor", "ds_cpl",
	"vmx",	  "smx",	"est",	  "tm2",     "ssse3",
	"cid",	  "sdbg",	"fma",	  "cx16",    "xtpr",
	"pdcm",	  NULL,		"pcid",	  "dca",     "sse4_1",
	"sse4_2", "x2apic",	"movbe",  "popcnt",  "tsc_deadline_timer",
	"aes",	  "xsave",	NULL,	  "avx",     "f16c",
	"rdrand", "hypervisor",
};
static const char *const ext_edx[32] = {
	[11] = "syscall", [19] = "mp",	   [20] = "nx", [22] = "mmxext",   [25] = "fxsr_opt",
	[26] = "pdpe1gb", [27] = "rdtscp", [29] = "lm", [30] = "3dnowext", [31] = "3dnow",
};
static const char *const ext_ecx[32] = {
	[0] = "lahf_lm",    [1] = "cmp_legacy", [2] = "svm",   [3] = "extapic",
	[4] = "cr8_legacy", [5] = "abm",	[6] = "sse4a",
};
static const char *const leaf7_ebx[32] = {
	[0] = "fsgsbase", [3] = "bmi1",	 [5] = "avx2",	      [7] = "smep",
	[8] = "bmi2",	  [9] = "erms",	 [10] = "invpcid",    [18] = "rdseed",
	[19] = "adx",	  [20] = "smap", [23] = "clflushopt", [24] = "clwb",
};
static const char *const leaf7_ecx[32] = {
	[2] = "umip", [3] = "pku", [16] = "la57", [22] = "rdpid"
};

static void print_bits(struct seq *seq, u32 bits, const char *const *names)
{
	for (int i = 0; i < 32; i++)
		if ((bits >> i & 1) && names[i])
			seq_printf(seq, " %s", names[i]);
}

static int cpuinfo_show(struct seq *seq)
{
	const struct cpu_features *f = &cpu_features;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		seq_printf(seq,
			   "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n",
			   cpu, f->vendor, f->family, f->model_nr);
		seq_printf(seq,
			   "model name\t: %s\nstepping\t: %u\ncpu MHz\t\t: %llu.%03llu\ncache "
			   "size\t: 512 KB\n",
			   f->model, f->stepping, (unsigned long long)(tsc_khz / 1000),
			   (unsigned long long)(tsc_khz % 1000));
		seq_printf(seq,
			   "physical id\t: %d\nsiblings\t: 1\ncore id\t\t: %u\ncpu cores\t: "
			   "1\napicid\t\t: %u\n",
			   cpu_node[cpu], cpu, cpu_apic_id[cpu]);
		seq_puts(seq, "fpu\t\t: yes\nfpu_exception\t: yes\nwp\t\t: yes\nflags\t\t:");
		print_bits(seq, f->leaf1_edx, leaf1_edx);
		print_bits(seq, f->ext_edx, ext_edx);
		print_bits(seq, f->leaf1_ecx, leaf1_ecx);
		print_bits(seq, f->ext_ecx, ext_ecx);
		print_bits(seq, f->leaf7_ebx, leaf7_ebx);
		print_bits(seq, f->leaf7_ecx, leaf7_ecx);
		seq_printf(seq, "\nbogomips\t: %llu.%02llu\nclflush size\t: 64\n",
			   (unsigned long long)(tsc_khz / 500),
			   (unsigned long long)(tsc_khz / 5 % 100));
		seq_printf(seq,
			   "cache_alignment\t: 64\naddress sizes\t: %u bits physical, %u bits "
			   "virtual\n\n",
			   f->phys_bits, f->virt_bits);
	}
	return 0;
}
SHOW("/proc/cpuinfo", 0444, cpuinfo_show, NULL);

static int online_show(struct seq *seq)
{
	unsigned long mask = cpu_online_mask;

	seq_bitmap_list(seq, &mask, NR_CPUS);
	seq_putc(seq, '\n');
	return 0;
}
SHOW("/sys/devices/system/cpu/online", 0444, online_show, NULL);
SHOW("/sys/devices/system/cpu/present", 0444, online_show, NULL);

static int possible_show(struct seq *seq)
{
	unsigned long mask = nr_possible_cpus >= 64 ? ~0ul : BIT(nr_possible_cpus) - 1;

	seq_bitmap_list(seq, &mask, NR_CPUS);
	seq_putc(seq, '\n');
	return 0;
}
SHOW("/sys/devices/system/cpu/possible", 0444, possible_show, NULL);

static int offline_show(struct seq *seq)
{
	unsigned long mask =
		(nr_possible_cpus >= 64 ? ~0ul : BIT(nr_possible_cpus) - 1) & ~cpu_online_mask;

	seq_bitmap_list(seq, &mask, NR_CPUS);
	seq_putc(seq, '\n');
	return 0;
}
SHOW("/sys/devices/system/cpu/offline", 0444, offline_show, NULL);

static int kernel_max_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", NR_CPUS - 1);
	return 0;
}
SHOW("/sys/devices/system/cpu/kernel_max", 0444, kernel_max_show, NULL);

static int cpu_count(void)
{
	return nr_cpus;
}

static int package_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", cpu_node[seq->index]);
	return 0;
}
SHOW_ARRAY("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", 0444, cpu_count, NULL,
	   package_show, NULL);

static int core_show(struct seq *seq)
{
	seq_printf(seq, "%ld\n", seq->index);
	return 0;
}
SHOW_ARRAY("/sys/devices/system/cpu/cpu%d/topology/core_id", 0444, cpu_count, NULL, core_show,
	   NULL);

static void mask_hex(struct seq *seq, unsigned long mask)
{
	seq_bitmap_hex(seq, &mask, nr_possible_cpus);
	seq_putc(seq, '\n');
}

static int siblings_show(struct seq *seq)
{
	mask_hex(seq, BIT(seq->index));
	return 0;
}
SHOW_ARRAY("/sys/devices/system/cpu/cpu%d/topology/thread_siblings", 0444, cpu_count, NULL,
	   siblings_show, NULL);

static int package_cpus_show(struct seq *seq)
{
	unsigned long mask = 0;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu_node[cpu] == cpu_node[seq->index])
			mask |= BIT(cpu);
	mask_hex(seq, mask);
	return 0;
}
SHOW_ARRAY("/sys/devices/system/cpu/cpu%d/topology/core_siblings", 0444, cpu_count, NULL,
	   package_cpus_show, NULL);
