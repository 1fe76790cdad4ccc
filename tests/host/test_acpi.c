/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: arch/x86_64/acpi_parse.c arch/x86_64/numa.c
/*
 * test_acpi.c - the ACPI table readers and the node builder: known tables give known results, and
 * whatever bytes come, nothing is read outside the table (the sanitizers watch) and the invariants
 * of numa_info hold.
 */
#include "host.h"
#include "arch/x86_64/acpi_parse.h"

static uint8_t *t;
static u32 len;

static void put(u64 v, int n)
{
	for (int i = 0; i < n; i++)
		t[len++] = v >> (8 * i);
}

static void begin(const char *sig)
{
	free(t);
	t = calloc(1, 4096);
	memcpy(t, sig, 4);
	len = 36;
}

static void seal(void)
{
	u8 sum = 0;

	t[4] = len;
	t[5] = len >> 8;
	t[9] = 0;
	for (u32 i = 0; i < len; i++)
		sum += t[i];
	t[9] = -sum;
}

static void srat_mem_entry(u32 domain, u64 start, u64 size, u32 flags)
{
	put(1, 1), put(40, 1), put(domain, 4), put(0, 2), put(start, 8), put(size, 8), put(0, 4),
		put(flags, 4), put(0, 8);
}
static void srat_cpu_entry(u32 domain, u32 id)
{
	put(0, 1), put(16, 1), put(domain, 1), put(id, 1), put(1, 4), put(0, 8);
}
static void srat_x2apic_entry(u32 domain, u32 id)
{
	put(2, 1), put(24, 1), put(0, 2), put(domain, 4), put(id, 4), put(1, 4), put(0, 8);
}

HOST_TEST(rsdp)
{
	u8 r[36] = "RSD PTR ";
	struct acpi_root root;
	const char *why = "";
	u8 sum = 0;

	r[16] = 0x34, r[17] = 0x12;
	for (int i = 0; i < 20; i++)
		sum += r[i];
	r[8] = -sum;
	CHECK_EQ(acpi_parse_rsdp(r, 36, &root, &why), 0);
	CHECK_EQ(root.rsdt, 0x1234);
	CHECK_EQ(root.xsdt, 0);
	r[9] ^= 1;
	CHECK(acpi_parse_rsdp(r, 36, &root, &why) < 0);
	CHECK(acpi_parse_rsdp(r, 19, &root, &why) < 0);
}

HOST_TEST(madt)
{
	struct acpi_machine m = { 0 };
	const char *why = "";

	begin("APIC");
	put(0xfee00000, 4), put(1, 4);
	put(0, 1), put(8, 1), put(0, 1), put(3, 1), put(1, 4);		     /* CPU, APIC id 3 */
	put(0, 1), put(8, 1), put(1, 1), put(4, 1), put(0, 4);		     /* disabled */
	put(9, 1), put(16, 1), put(0, 2), put(300, 4), put(1, 4), put(0, 4); /* x2APIC id 300 */
	put(9, 1), put(16, 1), put(0, 2), put(3, 4), put(1, 4), put(0, 4);   /* the first again */
	put(1, 1), put(12, 1), put(0, 2), put(0xfec00000, 4), put(0, 4);     /* I/O APIC */
	put(2, 1), put(10, 1), put(0, 1), put(9, 1), put(9, 4), put(0xd, 2);
	seal();
	CHECK_EQ(acpi_parse_madt(t, len, &m, &why), 0);
	CHECK_EQ(m.nr_cpus, 2);
	CHECK_EQ(m.apic_id[0], 3);
	CHECK_EQ(m.apic_id[1], 300);
	CHECK_EQ(m.nr_ioapics, 1);
	CHECK_EQ(m.isa[9].flags, 0xd);
	t[len - 9] = 200; /* the last entry leaves the table */
	seal();
	CHECK(acpi_parse_madt(t, len, &m, &why) < 0);
}

static struct boot_info boot;
static struct acpi_srat srat;
static struct acpi_slit slit;
static struct numa_info info;
static u32 ids[4] = { 0, 1, 2, 3 };
static int cpu_node[4];
static int lines;

static void quiet(const char *fmt, ...)
{
	lines++;
}

static void machine(void)
{
	memset(&boot, 0, sizeof(boot));
	memset(&srat, 0, sizeof(srat));
	memset(&slit, 0, sizeof(slit));
	boot.nr_ranges = 3;
	boot.ranges[0] = (struct boot_range){ 0, 0x9f000, BOOT_RAM };
	boot.ranges[1] = (struct boot_range){ MiB(1), MiB(512), BOOT_RAM };
	boot.ranges[2] = (struct boot_range){ GiB(4), GiB(5), BOOT_RAM };
	lines = 0;
}

static void build(u32 fake, bool off)
{
	struct numa_input in = { &boot, &srat, &slit, fake, off, ids, 4, quiet };

	numa_build(&in, &info, cpu_node);
}

/* Sorted, disjoint, valid nodes, all RAM covered. */
static void check_info(void)
{
	CHECK(info.nr_nodes >= 1 && info.nr_nodes <= MAX_NODES);
	for (u32 i = 0; i < info.nr_ranges; i++) {
		CHECK(info.ranges[i].start < info.ranges[i].end);
		CHECK(info.ranges[i].node >= 0 && info.ranges[i].node < info.nr_nodes);
		CHECK(!i || info.ranges[i - 1].end <= info.ranges[i].start);
	}
	for (u32 i = 0; i < boot.nr_ranges; i++)
		for (u64 pa = boot.ranges[i].start;
		     boot.ranges[i].type == BOOT_RAM && pa < boot.ranges[i].end; pa += MiB(1)) {
			bool found = false;

			for (u32 k = 0; k < info.nr_ranges; k++)
				found |= info.ranges[k].start <= pa && pa < info.ranges[k].end;
			CHECK(found);
		}
	for (int c = 0; c < 4; c++)
		CHECK(cpu_node[c] >= 0 && cpu_node[c] < info.nr_nodes);
	for (int i = 0; i < info.nr_nodes; i++)
		CHECK_EQ(info.distance[i][i], 10);
}

HOST_TEST(srat_two_nodes)
{
	const char *why = "";

	machine();
	begin("SRAT");
	put(1, 4), put(0, 8);
	srat_cpu_entry(5, 0), srat_cpu_entry(5, 1), srat_cpu_entry(9, 2), srat_x2apic_entry(9, 3);
	srat_mem_entry(9, GiB(4), GiB(1), 1);
	srat_mem_entry(5, 0, 0xa0000, 1);
	srat_mem_entry(5, MiB(1), MiB(511), 1);
	srat_mem_entry(7, GiB(64), GiB(1), 0); /* disabled */
	seal();
	CHECK_EQ(acpi_parse_srat(t, len, &srat, &why), 0);
	build(0, false);
	check_info();
	CHECK_EQ(info.nr_nodes, 2);
	CHECK_EQ(info.pxm[0], 5);
	CHECK_EQ(info.pxm[1], 9);
	CHECK_EQ(cpu_node[0], 0);
	CHECK_EQ(cpu_node[3], 1);
	CHECK_EQ(info.distance[0][1], 20);
	CHECK_EQ(lines, 0);
}

HOST_TEST(srat_gaps_and_lone_cpus)
{
	const char *why = "";

	machine();
	begin("SRAT");
	put(1, 4), put(0, 8);
	srat_cpu_entry(0, 0), srat_cpu_entry(0, 1), srat_cpu_entry(1, 2), srat_cpu_entry(2, 3);
	srat_mem_entry(0, MiB(1), MiB(100), 1); /* the rest is not covered */
	srat_mem_entry(1, GiB(4), MiB(512), 3);
	seal();
	CHECK_EQ(acpi_parse_srat(t, len, &srat, &why), 0);
	build(0, false);
	check_info();
	CHECK_EQ(info.nr_nodes, 3); /* node 2 has a CPU and no memory */
	CHECK(lines > 0);
	CHECK_EQ(cpu_node[3], 2);
}

HOST_TEST(srat_overlap_is_refused)
{
	const char *why = "";

	begin("SRAT");
	put(1, 4), put(0, 8);
	srat_mem_entry(0, 0, MiB(100), 1);
	srat_mem_entry(1, MiB(50), MiB(100), 1);
	seal();
	CHECK(acpi_parse_srat(t, len, &srat, &why) < 0);
	CHECK_STR(why, "memory ranges of two domains overlap");
}

HOST_TEST(slit)
{
	const char *why = "";

	begin("SLIT");
	put(2, 8), put(10, 1), put(21, 1), put(31, 1), put(10, 1);
	seal();
	CHECK_EQ(acpi_parse_slit(t, len, &slit, &why), 0);
	CHECK_EQ(slit.distance[1][0], 31);
	t[44] = 11;
	seal();
	CHECK(acpi_parse_slit(t, len, &slit, &why) < 0);
	t[44] = 10;
	t[36] = 3; /* three localities do not fit */
	seal();
	CHECK(acpi_parse_slit(t, len, &slit, &why) < 0);
	CHECK_EQ(slit.n, 0);
}

HOST_TEST(numa_off_and_fake)
{
	machine();
	build(0, true);
	check_info();
	CHECK_EQ(info.nr_nodes, 1);
	for (u32 n = 1; n <= MAX_NODES; n++) {
		u64 sum[MAX_NODES] = { 0 };

		machine();
		build(n, false);
		check_info();
		CHECK_EQ(info.nr_nodes, n);
		for (u32 i = 0; i < info.nr_ranges; i++)
			for (u32 r = 0; r < boot.nr_ranges; r++) {
				u64 a = max(boot.ranges[r].start, info.ranges[i].start);
				u64 b = min(boot.ranges[r].end, info.ranges[i].end);

				sum[info.ranges[i].node] += a < b ? b - a : 0;
			}
		for (u32 i = 0; i < n; i++)
			CHECK(sum[i] >= (GiB(1) + MiB(511)) / n - MiB(8));
	}
	machine();
	build(9, false);
	CHECK_EQ(info.nr_nodes, 1);
	CHECK_EQ(lines, 1);
}

HOST_TEST(s5)
{
	struct acpi_machine m = { .pm1a_cnt = 0x604 };
	const char *why = "";

	begin("DSDT");
	put(0x10, 1);
	put(0x08, 1), put('_' | 'S' << 8 | '5' << 16 | (u32)'_' << 24, 4);
	put(0x12, 1), put(0x0a, 1), put(4, 1), put(0x0a, 1), put(5, 1), put(0, 1), put(0, 1),
		put(0, 1);
	seal();
	CHECK_EQ(acpi_parse_s5(t, len, &m, &why), 0);
	CHECK_EQ(m.s5_a, 5);
	CHECK_EQ(m.s5_b, 0);
	CHECK(m.has_s5);
}

/* Exactly `n` bytes on the heap, so that ASan sees one byte too many. */
static void feed(const u8 *p, u32 n)
{
	struct acpi_machine m = { 0 };
	struct acpi_root root;
	const char *why = "";
	u64 dsdt;
	u8 *q = malloc(n ? n : 1);

	memcpy(q, p, n);
	acpi_parse_rsdp(q, n, &root, &why);
	acpi_parse_madt(q, n, &m, &why);
	acpi_parse_fadt(q, n, &m, &dsdt, &why);
	acpi_parse_hpet(q, n, &m, &why);
	acpi_parse_mcfg(q, n, &m, &why);
	acpi_parse_s5(q, n, &m, &why);
	if (acpi_parse_slit(q, n, &slit, &why))
		slit.n = 0;
	if (!acpi_parse_srat(q, n, &srat, &why)) {
		build(0, false);
		check_info();
	}
	free(q);
}

HOST_TEST(mutations)
{
	static const char *sigs[] = { "APIC", "SRAT", "SLIT", "FACP", "HPET", "DSDT" };

	machine();
	for (int round = 0; round < 30000; round++) {
		begin(sigs[host_random() % 6]);
		put(host_random() % 8, 4), put(host_random() % 4, 8);
		for (u32 i = host_random() % 12; i; i--)
			switch (host_random() % 4) {
			case 0:
				srat_mem_entry(host_random() % 10, host_random() % GiB(6),
					       host_random() % GiB(2), 1);
				break;
			case 1:
				srat_cpu_entry(host_random() % 10, host_random() % 5);
				break;
			case 2:
				srat_x2apic_entry(host_random(), host_random() % 5);
				break;
			default:
				put(host_random(), 8);
			}
		if (host_random() % 3 == 0)
			t[36 + host_random() % (len - 36)] = host_random();
		seal();
		if (host_random() % 8 == 0) {
			t[4] = host_random();
			t[9] -= t[4];
		}
		feed(t, host_random() % 4 ? len : host_random() % (len + 1));
	}
}
