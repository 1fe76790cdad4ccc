/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi.c - finds the tables in memory, has them read, and draws the conclusions: CPUs, nodes,
 * interrupt routes. A table that is refused costs one line and the default takes its place; the
 * machine boots without any.
 */
#include "arch/bootinfo.h"
#include "arch/mmu.h"
#include "arch/smp.h"
#include "boot/boot.h"
#include "internal.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/string.h"

struct acpi_machine acpi_machine;
struct numa_info numa_info;

static bool noacpi, numa_off;
static u32 numa_fake, maxcpus = NR_CPUS;

/* "off", "fake=N" */
static int set_numa(const char *text)
{
	u32 n = 0;

	if (!strcmp(text, "off")) {
		numa_off = true;
		return 0;
	}
	if (!str_has_prefix(text, "fake="))
		return -EINVAL;
	for (text += 5; *text; text++) {
		if (!isdigit_c(*text) || n > 1000)
			return -EINVAL;
		n = n * 10 + (*text - '0');
	}
	if (!n)
		return -EINVAL;
	numa_fake = n;
	return 0;
}

BOOT_PARAM_BOOL("noacpi", noacpi, "do not read the ACPI tables: one CPU, one node");
BOOT_PARAM_UINT("maxcpus", maxcpus, 1, NR_CPUS, "use at most this many CPUs");
BOOT_PARAM_FUNC("numa", set_numa, "off: one node; fake=N: cut the memory into N nodes");

static struct acpi_srat srat __initdata;
static struct acpi_slit slit __initdata;

static void ignored(const char *sig, const char *why)
{
	pr_warn("acpi: table %.4s ignored: %s", sig, why);
}

/* The whole table at pa, checked; NULL with one line when it is bad. */
static const struct acpi_header *table_at(u64 pa, const char *sig)
{
	const struct acpi_header *h = acpi_map(pa, sizeof(*h));
	const char *why = "its address is out of reach";
	char name[5] = "????";

	if (h) {
		u32 length = h->length;

		memcpy(name, h->signature, 4);
		h = acpi_map(pa, max_t(u32, length, sizeof(*h)));
		if (h && !acpi_check_table(h, max_t(u32, length, sizeof(*h)), sig, &why))
			return h;
	}
	ignored(sig ? sig : name, why);
	return NULL;
}

/* Old BIOSes: the RSDP is on 16 bytes in the first KiB of the EBDA or in the ROM. */
static u64 scan_rsdp(u64 start, u64 end)
{
	for (u64 pa = start; pa + 36 <= end; pa += 16) {
		const char *p = acpi_map(pa, 36);

		if (p && !memcmp(p, "RSD PTR ", 8) && acpi_checksum_ok(p, 20))
			return pa;
	}
	return 0;
}

static const struct acpi_header *find_root(void)
{
	struct acpi_root root;
	const char *why = "not readable";
	const struct acpi_header *h = NULL;
	const u16 *ebda = boot_info.rsdp ? NULL : acpi_map(0x40e, 2);
	u64 pa = boot_info.rsdp;
	const void *p;

	if (!pa && ebda)
		pa = scan_rsdp((u64)*ebda << 4, ((u64)*ebda << 4) + 1024);
	if (!pa)
		pa = scan_rsdp(0xe0000, 0x100000);
	if (!pa) {
		pr_warn("acpi: no tables found");
		return NULL;
	}
	/* Our own copy lies in the image, which has no early direct map to go through. */
	p = pa >= (unsigned long)__boot_start && pa < __pa(__kernel_end) ? __va(pa)
									 : acpi_map(pa, 36);
	if (!p || acpi_parse_rsdp(p, 36, &root, &why)) {
		pr_warn("acpi: RSDP at %#llx ignored: %s", (unsigned long long)pa, why);
		return NULL;
	}
	if (root.xsdt)
		h = table_at(root.xsdt, "XSDT");
	return h || !root.rsdt ? h : table_at(root.rsdt, "RSDT");
}

static const struct acpi_header *find_table(const struct acpi_header *root, const char *sig)
{
	for (u32 i = 0; i < 128; i++) {
		u64 pa = acpi_root_entry(root, i);
		const struct acpi_header *h;

		if (!pa)
			return NULL;
		h = acpi_map(pa, sizeof(*h));
		if (h && !memcmp(h->signature, sig, 4))
			return table_at(pa, sig);
	}
	return NULL;
}

/* What holds when nobody says otherwise. */
static void machine_defaults(void)
{
	struct acpi_machine *m = &acpi_machine;
	u32 a, b, c, d;

	memset(m, 0, sizeof(*m));
	cpuid(1, 0, &a, &b, &c, &d);
	m->nr_cpus = 1;
	m->apic_id[0] = b >> 24;
	m->lapic_pa = 0xfee00000;
	m->nr_ioapics = 1;
	m->ioapic[0].pa = 0xfec00000;
	for (u32 i = 0; i < 16; i++)
		m->isa[i].gsi = i;
}

static void read_madt(const struct acpi_header *h)
{
	static struct acpi_machine copy __initdata;
	const char *why = "";

	if (!h)
		return;
	copy = acpi_machine;
	if (acpi_parse_madt(h, h->length, &copy, &why))
		ignored("APIC", why);
	else
		acpi_machine = copy;
}

static void read_tables(const struct acpi_header *root)
{
	const struct acpi_header *h;
	const char *why = "";
	u64 dsdt = 0;

	read_madt(find_table(root, "APIC"));
	h = find_table(root, "SRAT");
	if (h && acpi_parse_srat(h, h->length, &srat, &why)) {
		ignored("SRAT", why);
		srat.nr_mem = 0;
	}
	h = find_table(root, "SLIT");
	if (h && acpi_parse_slit(h, h->length, &slit, &why))
		ignored("SLIT", why);
	h = find_table(root, "HPET");
	if (h && acpi_parse_hpet(h, h->length, &acpi_machine, &why))
		ignored("HPET", why);
	h = find_table(root, "MCFG");
	if (h && acpi_parse_mcfg(h, h->length, &acpi_machine, &why))
		ignored("MCFG", why);
	h = find_table(root, "FACP");
	if (h && acpi_parse_fadt(h, h->length, &acpi_machine, &dsdt, &why))
		ignored("FACP", why);
	h = dsdt ? table_at(dsdt, "DSDT") : NULL;
	if (h && acpi_parse_s5(h, h->length, &acpi_machine, &why))
		pr_warn("acpi: no power off: %s", why);
}

/* Logical CPU 0 is the CPU we run on, the others follow in the firmware's order. */
static void number_cpus(void)
{
	struct acpi_machine *m = &acpi_machine;
	u32 a, b, c, d, n = 1, listed = min_t(u32, m->nr_cpus, NR_CPUS), me;

	if (m->nr_cpus > NR_CPUS)
		pr_warn("acpi: %u CPUs listed, only %u are used", m->nr_cpus, NR_CPUS);
	cpuid(1, 0, &a, &b, &c, &d);
	me = b >> 24;
	cpuid(0, 0, &a, &b, &c, &d);
	if (a >= 0xb) {
		cpuid(0xb, 0, &a, &b, &c, &d);
		if (b)
			me = d;
	}
	cpu_apic_id[0] = me;
	for (u32 i = 0; i < listed; i++)
		if (m->apic_id[i] != me && n < min_t(u32, maxcpus, NR_CPUS))
			cpu_apic_id[n++] = m->apic_id[i];
	nr_possible_cpus = n;
}

/*
 * The last page of conventional memory that is RAM, taken out of the map: the start code of the
 * other CPUs.
 */
static void reserve_trampoline(void)
{
	for (u64 pa = 0x9f000; pa >= 0x2000 && nr_possible_cpus > 1; pa -= PAGE_SIZE)
		for (u32 i = 0; i < boot_info.nr_ranges; i++) {
			const struct boot_range *r = &boot_info.ranges[i];

			if (r->type != BOOT_RAM || r->start > pa || r->end < pa + PAGE_SIZE)
				continue;
			trampoline_pa = pa;
			boot_ranges_carve(&boot_info, pa, pa + PAGE_SIZE, BOOT_RESERVED);
			return;
		}
}

static void numa_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintk(LOG_WARNING, fmt, ap);
	va_end(ap);
}

void arch_acpi_init(void)
{
	const struct acpi_header *root;
	struct numa_input in = { .boot = &boot_info,
				 .srat = &srat,
				 .slit = &slit,
				 .off = numa_off,
				 .fake_nodes = numa_fake,
				 .cpu_ids = cpu_apic_id,
				 .log = numa_log };

	machine_defaults();
	root = noacpi ? NULL : find_root();
	if (root)
		read_tables(root);
	number_cpus();
	reserve_trampoline();
	in.nr_cpus = nr_possible_cpus;
	numa_build(&in, &numa_info, cpu_node);
	pr_info("acpi: %u CPUs, %d nodes (%s)", nr_possible_cpus, numa_info.nr_nodes,
		numa_info.source);
}
