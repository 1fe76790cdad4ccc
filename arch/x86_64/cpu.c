/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.c - what this CPU can do, and turning it on. Protections are used only where CPUID offers
 * them: WP and NX always (the boot code refuses a CPU without NX), SMEP, SMAP, UMIP, FSGSBASE,
 * global pages when present.
 */
#include "internal.h"
#include "kernel/printk.h"

struct cpu_features cpu_features;

extern char syscall_entry[];

static void read_brand(struct cpu_features *f)
{
	u32 r[12] = { 0 }, a, b, c, d;
	char *out = f->model;

	cpuid(0x80000000, 0, &a, &b, &c, &d);
	if (a >= 0x80000004)
		for (u32 i = 0; i < 3; i++)
			cpuid(0x80000002 + i, 0, &r[i * 4], &r[i * 4 + 1], &r[i * 4 + 2],
			      &r[i * 4 + 3]);
	for (u32 i = 0; i < 48; i++) {
		char ch = r[i / 4] >> (i % 4 * 8);

		if (!ch)
			break;
		if (ch != ' ' || out != f->model)
			*out++ = ch;
	}
	*out = 0;
}

void cpu_detect(void)
{
	struct cpu_features *f = &cpu_features;
	u32 a, b, c, d, max_leaf, max_ext;

	cpuid(0, 0, &max_leaf, &b, &c, &d);
	for (u32 i = 0; i < 4; i++) {
		f->vendor[i] = b >> (i * 8);
		f->vendor[4 + i] = d >> (i * 8);
		f->vendor[8 + i] = c >> (i * 8);
	}
	cpuid(1, 0, &a, &b, &f->leaf1_ecx, &f->leaf1_edx);
	f->family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
	f->model_nr = (a >> 4 & 15) | (a >> 12 & 0xf0);
	f->stepping = a & 15;
	if (max_leaf >= 7)
		cpuid(7, 0, &a, &f->leaf7_ebx, &f->leaf7_ecx, &d);
	cpuid(0x80000000, 0, &max_ext, &b, &c, &d);
	cpuid(0x80000001, 0, &a, &b, &f->ext_ecx, &f->ext_edx);
	f->phys_bits = 36;
	f->virt_bits = 48;
	if (max_ext >= 0x80000008) {
		cpuid(0x80000008, 0, &a, &b, &c, &d);
		f->phys_bits = a & 255;
		f->virt_bits = a >> 8 & 255;
	}
	if (max_ext >= 0x80000007) {
		cpuid(0x80000007, 0, &a, &b, &c, &d);
		f->invariant_tsc = d >> 8 & 1;
	}
	read_brand(f);
	f->nx = f->ext_edx >> 20 & 1;
	f->gbpages = f->ext_edx >> 26 & 1;
	f->rdtscp = f->ext_edx >> 27 & 1;
	f->fsgsbase = f->leaf7_ebx & 1;
	f->smep = f->leaf7_ebx >> 7 & 1;
	f->erms = f->leaf7_ebx >> 9 & 1;
	f->smap = f->leaf7_ebx >> 20 & 1;
	f->umip = f->leaf7_ecx >> 2 & 1;
	f->pcid = f->leaf1_ecx >> 17 & 1;
	f->x2apic = f->leaf1_ecx >> 21 & 1;
	f->tsc_deadline = f->leaf1_ecx >> 24 & 1;
}

void cpu_init_this(void)
{
	const struct cpu_features *f = &cpu_features;
	u64 cr4 = read_cr4() | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT;

	if (f->smep)
		cr4 |= CR4_SMEP;
	if (f->smap)
		cr4 |= CR4_SMAP;
	if (f->umip)
		cr4 |= CR4_UMIP;
	if (f->fsgsbase)
		cr4 |= CR4_FSGSBASE;
	write_cr4(cr4);
	write_cr0((read_cr0() | CR0_WP | CR0_NE | CR0_MP) & ~(CR0_EM | CR0_TS));
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE | EFER_NXE);
	/* syscall: CS/SS = 0x10/0x18; sysret: SS = 0x20 + 8, CS = 0x20 + 16 (both | 3) */
	wrmsr(MSR_STAR, (u64)0x23 << 48 | (u64)KERNEL_CS << 32);
	wrmsr(MSR_LSTAR, (u64)(unsigned long)syscall_entry);
	wrmsr(MSR_SFMASK, X86_EFLAGS_IF | X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_AC |
				  X86_EFLAGS_NT | X86_EFLAGS_IOPL | X86_EFLAGS_RF);
	if (f->rdtscp)
		wrmsr(MSR_TSC_AUX, this_cpu_read(cpu_number));
}

/* Each entry of .smap_sites: address of a three-byte nop, and 1 for stac, 0 for clac. */
struct smap_site {
	u64 addr, open;
};
extern struct smap_site __smap_sites_start[], __smap_sites_end[];

void smap_patch(void)
{
	if (!cpu_features.smap)
		return;
	for (struct smap_site *s = __smap_sites_start; s < __smap_sites_end; s++) {
		u8 *p = (u8 *)s->addr;

		p[0] = 0x0f;
		p[1] = 0x01;
		p[2] = s->open ? 0xcb : 0xca;
	}
}
