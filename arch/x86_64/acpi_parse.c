/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi_parse.c - the table readers. Source: ACPI specification 6.5, sections 5.2.5 (RSDP) to 5.2.17
 * (SLIT), 7.4.2 (\_Sx); IA-PC HPET specification 1.0a. Fields are read with get*() because nothing
 * in a table is aligned.
 */
#include "arch/x86_64/acpi_parse.h"
#include "lib/err.h"
#include "lib/string.h"

static u32 get16(const u8 *p)
{
	return p[0] | p[1] << 8;
}
static u32 get32(const u8 *p)
{
	return get16(p) | get16(p + 2) << 16;
}
static u64 get64(const u8 *p)
{
	return get32(p) | (u64)get32(p + 4) << 32;
}

static int refuse(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

bool acpi_checksum_ok(const void *p, size_t n)
{
	const u8 *b = p;
	u8 sum = 0;

	while (n--)
		sum += *b++;
	return !sum;
}

int acpi_check_table(const void *p, size_t n, const char *sig, const char **why)
{
	const struct acpi_header *h = p;
	u32 length;

	if (n < sizeof(*h))
		return refuse(why, "shorter than a header");
	if (sig && memcmp(h->signature, sig, 4))
		return refuse(why, "wrong signature");
	length = get32((const u8 *)&h->length);
	if (length < sizeof(*h) || length > n)
		return refuse(why, "length out of range");
	if (!acpi_checksum_ok(p, length))
		return refuse(why, "wrong checksum");
	return 0;
}

int acpi_parse_rsdp(const void *p, size_t n, struct acpi_root *out, const char **why)
{
	const u8 *b = p;

	out->rsdt = out->xsdt = 0;
	if (n < 20 || memcmp(b, "RSD PTR ", 8))
		return refuse(why, "no RSDP signature");
	if (!acpi_checksum_ok(b, 20))
		return refuse(why, "wrong RSDP checksum");
	out->rsdt = get32(b + 16);
	if (b[15] >= 2 && n >= 36 && get32(b + 20) >= 36 && acpi_checksum_ok(b, 36))
		out->xsdt = get64(b + 24);
	if (!out->rsdt && !out->xsdt)
		return refuse(why, "RSDP names no table");
	return 0;
}

u64 acpi_root_entry(const void *table, u32 i)
{
	const u8 *b = table;
	u32 size = b[0] == 'X' ? 8 : 4;
	u64 at = sizeof(struct acpi_header) + (u64)i * size;

	if (at + size > get32(b + 4))
		return 0;
	return size == 8 ? get64(b + at) : get32(b + at);
}

/* ---- MADT ---- */

static void madt_cpu(struct acpi_machine *m, u32 id, u32 flags)
{
	if (!(flags & 1) || id == U32_MAX)
		return;
	for (u32 i = 0; i < m->nr_cpus && i < NR_CPUS; i++)
		if (m->apic_id[i] == id)
			return; /* listed as local APIC and as x2APIC */
	if (m->nr_cpus < NR_CPUS)
		m->apic_id[m->nr_cpus] = id;
	m->nr_cpus++;
}

static void madt_entry(struct acpi_machine *m, const u8 *e, u32 len)
{
	switch (e[0]) {
	case 0: /* processor local APIC */
		if (len >= 8 && e[3] != 0xff)
			madt_cpu(m, e[3], get32(e + 4));
		break;
	case 1: /* I/O APIC */
		if (len >= 12 && m->nr_ioapics < ARRAY_SIZE(m->ioapic)) {
			m->ioapic[m->nr_ioapics].pa = get32(e + 4);
			m->ioapic[m->nr_ioapics++].gsi_base = get32(e + 8);
		}
		break;
	case 2: /* interrupt source override */
		if (len >= 10 && e[2] == 0 && e[3] < 16) {
			m->isa[e[3]].gsi = get32(e + 4);
			m->isa[e[3]].flags = get16(e + 8);
		}
		break;
	case 5: /* local APIC address override */
		if (len >= 12)
			m->lapic_pa = get64(e + 4);
		break;
	case 9: /* processor local x2APIC */
		if (len >= 16)
			madt_cpu(m, get32(e + 4), get32(e + 8));
		break;
	}
}

int acpi_parse_madt(const void *p, size_t n, struct acpi_machine *m, const char **why)
{
	const u8 *b = p;
	u32 length, at;
	int err = acpi_check_table(p, n, "APIC", why);

	if (err)
		return err;
	length = get32(b + 4);
	if (length < 44)
		return refuse(why, "MADT shorter than its fixed part");
	/* First pass: is the list well formed? */
	for (at = 44; at < length; at += b[at + 1])
		if (length - at < 2 || b[at + 1] < 2 || b[at + 1] > length - at)
			return refuse(why, "an entry leaves the table");
	m->lapic_pa = get32(b + 36);
	m->nr_cpus = m->nr_ioapics = 0;
	for (at = 44; at < length; at += b[at + 1])
		madt_entry(m, b + at, b[at + 1]);
	if (!m->nr_cpus)
		return refuse(why, "MADT lists no usable CPU");
	return 0;
}

/* ---- SRAT, SLIT ---- */

static void srat_cpu(struct acpi_srat *s, u32 id, u32 domain, u32 flags)
{
	if (!(flags & 1) || s->nr_cpu == SRAT_MAX_CPU)
		return;
	s->cpu[s->nr_cpu].apic_id = id;
	s->cpu[s->nr_cpu++].domain = domain;
}

static int srat_mem(struct acpi_srat *s, const u8 *e, const char **why)
{
	u64 start = get64(e + 8), len = get64(e + 16);
	u32 flags = get32(e + 28);

	if (!(flags & 1) || !len)
		return 0;
	if (len > U64_MAX - start)
		return refuse(why, "a memory range wraps around");
	if (s->nr_mem == SRAT_MAX_MEM)
		return refuse(why, "too many memory ranges");
	for (u32 i = 0; i < s->nr_mem; i++)
		if (start < s->mem[i].end && s->mem[i].start < start + len &&
		    s->mem[i].domain != get32(e + 2))
			return refuse(why, "memory ranges of two domains overlap");
	s->mem[s->nr_mem].start = start;
	s->mem[s->nr_mem].end = start + len;
	s->mem[s->nr_mem].domain = get32(e + 2);
	s->mem[s->nr_mem++].hotplug = flags >> 1 & 1;
	return 0;
}

int acpi_parse_srat(const void *p, size_t n, struct acpi_srat *out, const char **why)
{
	const u8 *b = p;
	u32 length;
	int err = acpi_check_table(p, n, "SRAT", why);

	out->nr_mem = out->nr_cpu = 0;
	if (err)
		return err;
	length = get32(b + 4);
	if (length < 48)
		return refuse(why, "SRAT shorter than its fixed part");
	for (u32 at = 48; at < length;) {
		const u8 *e = b + at;
		u32 len = length - at >= 2 ? e[1] : 0;

		if (len < 2 || len > length - at)
			return refuse(why, "an entry leaves the table");
		if (e[0] == 0 && len >= 16)
			srat_cpu(out, e[3], e[2] | e[9] << 8 | e[10] << 16 | (u32)e[11] << 24,
				 get32(e + 4));
		else if (e[0] == 2 && len >= 24)
			srat_cpu(out, get32(e + 8), get32(e + 4), get32(e + 12));
		else if (e[0] == 1 && len >= 40)
			err = srat_mem(out, e, why);
		if (err)
			return err;
		at += len;
	}
	if (!out->nr_mem)
		return refuse(why, "SRAT lists no memory");
	return 0;
}

int acpi_parse_slit(const void *p, size_t n, struct acpi_slit *out, const char **why)
{
	const u8 *b = p;
	u64 count;
	int err = acpi_check_table(p, n, "SLIT", why);

	out->n = 0;
	if (err)
		return err;
	if (get32(b + 4) < 44)
		return refuse(why, "SLIT shorter than its fixed part");
	count = get64(b + 36);
	if (!count || count > SLIT_MAX || get32(b + 4) < 44 + count * count)
		return refuse(why, "number of localities does not fit the table");
	for (u32 i = 0; i < count; i++)
		for (u32 j = 0; j < count; j++) {
			u8 d = b[44 + i * count + j];

			if (i == j ? d != 10 : d <= 10)
				return refuse(why, i == j ? "a node's distance to itself is not 10"
							  : "a remote distance is not above 10");
			out->distance[i][j] = d;
		}
	out->n = count;
	return 0;
}

/* ---- FADT, HPET, \_S5 ---- */

static bool have(u32 length, u32 at, u32 n)
{
	return length >= at + n;
}

int acpi_parse_fadt(const void *p, size_t n, struct acpi_machine *m, u64 *dsdt, const char **why)
{
	const u8 *b = p;
	u32 length, flags;
	int err = acpi_check_table(p, n, "FACP", why);

	*dsdt = 0;
	if (err)
		return err;
	length = get32(b + 4);
	if (length < 116)
		return refuse(why, "FADT shorter than version 1");
	flags = get32(b + 112);
	*dsdt = have(length, 140, 8) && get64(b + 140) ? get64(b + 140) : get32(b + 40);
	m->pm1a_cnt = get32(b + 64);
	m->pm1b_cnt = get32(b + 68);
	if (m->pm1a_cnt > 0xffff || m->pm1b_cnt > 0xffff)
		m->pm1a_cnt = m->pm1b_cnt = 0;
	if (b[91] == 4 && get32(b + 76) && get32(b + 76) <= 0xfffc) {
		m->pm_timer_port = get32(b + 76);
		m->pm_timer_32bit = flags >> 8 & 1;
	}
	if (have(length, 116, 13) && (flags >> 10 & 1) && b[116] <= 1) {
		m->reset_space = b[116];
		m->reset_addr = get64(b + 120);
		m->reset_value = b[128];
		m->has_reset = m->reset_addr && (m->reset_space == 0 || m->reset_addr <= 0xffff);
	}
	return 0;
}

int acpi_parse_hpet(const void *p, size_t n, struct acpi_machine *m, const char **why)
{
	const u8 *b = p;
	int err = acpi_check_table(p, n, "HPET", why);

	if (err)
		return err;
	if (get32(b + 4) < 56 || b[40] != 0 || !get64(b + 44))
		return refuse(why, "HPET has no memory address");
	m->hpet_pa = get64(b + 44);
	return 0;
}

#define MCFG_ENTRY 16

int acpi_parse_mcfg(const void *p, size_t n, struct acpi_machine *m, const char **why)
{
	const u8 *b = p;
	int err = acpi_check_table(p, n, "MCFG", why);

	if (err)
		return err;
	for (u32 at = 44; at + MCFG_ENTRY <= get32(b + 4); at += MCFG_ENTRY) {
		u64 base = get64(b + at);
		u8 first = b[at + 10], last = b[at + 11];

		if (get16(b + at + 8))
			continue;
		if (!base || !IS_ALIGNED(base, MiB(1)) || first > last ||
		    base + MiB(1) * 256 < base)
			return refuse(why, "impossible address or buses of segment 0");
		m->ecam_pa = base;
		m->ecam_first = first;
		m->ecam_last = last;
		return 0;
	}
	return refuse(why, "no segment 0");
}

/*
 * One integer of a package: zero, one, or a byte constant. Returns the bytes used, 0 when it is
 * something else.
 */
static u32 aml_small_int(const u8 *p, const u8 *end, u8 *out)
{
	if (p < end && p[0] <= 1) {
		*out = p[0];
		return 1;
	}
	if (end - p >= 2 && p[0] == 0x0a) {
		*out = p[1];
		return 2;
	}
	return 0;
}

/* Name(_S5_, Package() { a, b, ... }): 08 '_S5_' (or '\_S5_') 12 PkgLength NumElements values */
int acpi_parse_s5(const void *p, size_t n, struct acpi_machine *m, const char **why)
{
	const u8 *b = p, *end;
	int err = acpi_check_table(p, n, "DSDT", why);

	if (err)
		return err;
	end = b + get32(b + 4);
	for (const u8 *q = b + sizeof(struct acpi_header) + 1; end - q >= 8; q++) {
		const u8 *v;
		u32 used;

		if (memcmp(q, "_S5_", 4) || q[4] != 0x12 || (q[-1] != 0x08 && q[-1] != '\\'))
			continue;
		/* PkgLength has 1 + (top two bits) bytes; then NumElements */
		v = q + 5 + 1 + (q[5] >> 6) + 1;
		used = v < end ? aml_small_int(v, end, &m->s5_a) : 0;
		if (!used)
			continue;
		if (!aml_small_int(v + used, end, &m->s5_b))
			m->s5_b = m->s5_a;
		m->s5_a &= 7;
		m->s5_b &= 7;
		m->has_s5 = m->pm1a_cnt != 0;
		return 0;
	}
	return refuse(why, "no \\_S5 package");
}
