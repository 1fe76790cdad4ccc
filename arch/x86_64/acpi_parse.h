/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi_parse.h - readers of the ACPI tables we need. Pure functions on (pointer, length): no table
 * is trusted, and host tests feed them garbage. A table that makes no sense is refused as a whole:
 * the function returns -EINVAL and *why says what is wrong in a few words.
 */
#ifndef ARCH_X86_64_ACPI_PARSE_H
#define ARCH_X86_64_ACPI_PARSE_H

#include "arch/bootinfo.h"
#include "arch/percpu.h"
#include "lib/types.h"

struct acpi_header {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem[6], oem_table[8];
	u32 oem_revision, creator, creator_revision;
} __packed;

/* What the tables said of the machine. */
struct acpi_machine {
	u32 nr_cpus; /* usable CPUs listed (may exceed NR_CPUS) */
	u32 apic_id[NR_CPUS];
	u64 lapic_pa;
	u32 nr_ioapics;
	struct {
		u64 pa;
		u32 gsi_base;
	} ioapic[8];
	struct {
		u32 gsi;
		u16 flags; /* MPS INTI: polarity bits 0-1, trigger bits 2-3 */
	} isa[16];
	u32 pm_timer_port; /* 0: none */
	bool pm_timer_32bit;
	u64 hpet_pa;		  /* 0: none */
	u64 ecam_pa;		  /* PCI configuration space in memory, of bus 0; 0: none */
	u8 ecam_first, ecam_last; /* buses it covers */
	u32 pm1a_cnt, pm1b_cnt;	  /* ports */
	u8 s5_a, s5_b;
	bool has_s5, has_reset;
	u8 reset_space, reset_value; /* space: 0 memory, 1 I/O */
	u64 reset_addr;
};

/* SRAT: affinities as listed; domains are the firmware's numbers. */
#define SRAT_MAX_MEM 64
#define SRAT_MAX_CPU 256
struct acpi_srat {
	u32 nr_mem, nr_cpu;
	struct {
		u64 start, end;
		u32 domain;
		bool hotplug;
	} mem[SRAT_MAX_MEM];
	struct {
		u32 apic_id, domain;
	} cpu[SRAT_MAX_CPU];
};

#define SLIT_MAX 64
struct acpi_slit {
	u32 n;				 /* 0: no table */
	u8 distance[SLIT_MAX][SLIT_MAX]; /* by domain */
};

struct acpi_root {
	u64 rsdt, xsdt; /* 0: none */
};

/* Sum of all bytes is zero. */
bool acpi_checksum_ok(const void *p, size_t n);
/*
 * Header of a table at p, of which n bytes are readable: signature, length, checksum. sig NULL:
 * any.
 */
int acpi_check_table(const void *p, size_t n, const char *sig, const char **why);
int acpi_parse_rsdp(const void *p, size_t n, struct acpi_root *out, const char **why);
/* Address of entry i of an RSDT or XSDT; 0 behind the end. */
u64 acpi_root_entry(const void *table, u32 i);
int acpi_parse_madt(const void *p, size_t n, struct acpi_machine *m, const char **why);
int acpi_parse_srat(const void *p, size_t n, struct acpi_srat *out, const char **why);
int acpi_parse_slit(const void *p, size_t n, struct acpi_slit *out, const char **why);
int acpi_parse_fadt(const void *p, size_t n, struct acpi_machine *m, u64 *dsdt, const char **why);
int acpi_parse_hpet(const void *p, size_t n, struct acpi_machine *m, const char **why);
/* The PCI segment 0 of an MCFG; other segments are passed over. */
int acpi_parse_mcfg(const void *p, size_t n, struct acpi_machine *m, const char **why);
/* Finds \_S5 in a DSDT: the values for SLP_TYP. */
int acpi_parse_s5(const void *p, size_t n, struct acpi_machine *m, const char **why);

/*
 * Nodes from what is known (numa.c). srat NULL or empty: everything is node 0. fake_nodes > 0 cuts
 * the RAM into that many nodes instead. cpu_ids: APIC ids by logical CPU; out_cpu_node receives
 * their nodes. log is called with one line for each thing ignored.
 */
struct numa_input {
	const struct boot_info *boot;
	const struct acpi_srat *srat;
	const struct acpi_slit *slit;
	u32 fake_nodes;
	bool off;
	const u32 *cpu_ids;
	u32 nr_cpus;
	void (*log)(const char *fmt, ...) __printf_like(1, 2);
};
void numa_build(const struct numa_input *in, struct numa_info *out, int *out_cpu_node);

#endif
