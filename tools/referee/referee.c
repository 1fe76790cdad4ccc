/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * referee.c - a QEMU TCG plugin that measures from outside how long each vCPU of a Quire guest runs
 * with interrupts off, in instructions of that vCPU.
 *
 * Problem: the kernel's tracer measures itself. It sees only what its hooks are called for, and on
 * several CPUs the counted clock is shared, so its lengths contain the other CPUs' turns. Idea: an
 * observer below the kernel, which knows no hook and needs none. RFLAGS.IF cannot be read by a
 * plugin of this interface, but it changes in six ways only, and each is an instruction that can be
 * watched:
 *
 *   cli                   IF = 0 after it
 *   sti                   IF = 1 after it (the shadow of one instruction is of no account)
 *   gate, syscall entry   IF = 0; seen as the first instruction of a stub of the image's table,
 *                         which the referee checks against the arrays the IDT is made from
 *   iretq, sysretq        IF as it was in what is returned to: 1, unless an exception or NMI came
 *                         while IF was 0. In between such a handler cannot switch threads, so a
 *                         count of them per vCPU tells which return is theirs
 *   popf                  cannot be told; the kernel has none (a lint rule). One executed at a
 *                         kernel address is reported, and the state is unknown until the next cli
 *                         or sti
 *   reset                 unknown until the first of the above
 *
 * Every instruction is decoded when QEMU translates it, whatever the table says: a cli, sti, iret,
 * sysret or popf at a kernel address that no site owns counts as `unlisted` and fails the
 * comparison. User mode cannot change IF; firmware runs below the kernel's half and is not looked
 * at, nor is real-mode start code of further CPUs.
 *
 * What a length is: the instructions executed with IF = 0, from the one after cli (or the first of
 * the stub) to the sti (or iretq), both ends included. The tracer's own instructions would be part
 * of that, and at a new maximum they are thousands; the referee follows its hooks from entry to
 * return and keeps both figures: `all` with them, `total` and `max` without. So with the tracer on
 * and with it off the referee's lengths mean the same.
 *
 * What the tracer should have measured is known too: the instructions between the readings of the
 * clock in its two hooks (`clock`). On one CPU of a counted clock that must be what the tracer
 * reports, to the instruction; on several, its count of sections must agree, and its lengths be no
 * shorter. clock - length is what the macros put between a cli and the reading of the clock: a
 * constant of a site (diff_min, diff_max).
 *
 * When the tracer forgets its figures (irqsoff_reset), the referee forgets what it compares them
 * with.
 *
 * Counting: with one thread of emulation (-icount, or thread=single) each instruction adds one to
 * one word, inline, and a callback per translation block tells whose turn it is; exact, and some
 * three times slower than without. With threads=multi every instruction calls: exact too, and
 * slow. An instruction that faults and is repeated counts twice, unlike on QEMU's clock: this is
 * taken back where it happens with interrupts off. Instructions are counted, not cycles; waiting in
 * hlt or pause is no instruction.
 *
 * Use: -plugin referee.so,image=quire.elf,out=FILE[,threads=multi]
 */
#include "referee.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static struct image image;
static struct vcpu vcpus[MAX_VCPUS];
static unsigned int nr_vcpus;
static struct oddities odd;
static char image_path[4096], out_path[4096];
static enum { RESUMING, RUNNING, RESETTING } tracer;
static unsigned int epoch; /* how often the tracer began: at its first hook, and after a reset */
static bool by_call;	   /* each instruction calls: for several threads of emulation */

/* One thread of emulation: all instructions of all vCPUs, of which those after `mark` belong to
 * `running` */
static uint64_t executed, mark;
static unsigned int running;

static uint64_t now(unsigned int cpu)
{
	return vcpus[cpu].executed + (by_call ? 0 : executed - mark);
}

/* A translation block starts on this vCPU. */
static void turn(unsigned int cpu, void *data)
{
	if (cpu == running)
		return;
	vcpus[running].executed += executed - mark;
	mark = executed;
	running = cpu;
}

static void count(unsigned int cpu, void *data)
{
	vcpus[cpu].executed++;
}

/* ---- sections -------------------------------------------------------------------------------- */

static void section_open(struct vcpu *v, int site, uint64_t first)
{
	v->state = IF_OFF;
	v->site = site;
	v->start = first;
	v->hook = 0;
	v->saw_start = v->saw_stop = false;
	v->epoch = epoch;
}

static unsigned int bucket(uint64_t len)
{
	unsigned int k = 63 - __builtin_clzll(len | 1);

	return k < BUCKETS ? k : BUCKETS - 1;
}

/* What the tracer's hooks saw of a section. Without hooks it may lie before or after the tracer's
 * time; one that lies between two others with hooks was missed. */
static void account_clock(struct vcpu *v, struct site_stat *s, uint64_t len)
{
	uint64_t clock = v->clock_stop - v->clock_start;
	int64_t diff = (int64_t)(clock - len);

	if (!v->saw_start && !v->saw_stop && epoch && v->epoch == epoch)
		s->pending++;
	if (!v->saw_start || !v->saw_stop)
		return;
	s->unseen += s->pending;
	s->pending = 0;
	if (!s->traced || diff < s->diff_min)
		s->diff_min = diff;
	if (!s->traced || diff > s->diff_max)
		s->diff_max = diff;
	s->traced++;
	s->clock_total += clock;
	if (clock > s->clock_max)
		s->clock_max = clock;
}

/* The section ends with the instruction at position `last`. */
static void section_end(struct vcpu *v, int site, uint64_t last)
{
	uint64_t all = last + 1 - v->start, len = all - v->hook;
	struct site_stat *s;

	v->off += all;
	if (v->site < 0)
		return;
	s = &v->stats[v->site];
	v->site = -1;
	v->sections++;
	s->sections++;
	s->total += len;
	s->hist[bucket(len)]++;
	s->all_total += all;
	if (all > s->all_max)
		s->all_max = all;
	if (len > s->max || s->sections == 1) {
		s->max = len;
		s->end = site;
	}
	account_clock(v, s, len);
}

static void turned_on(struct vcpu *v, const struct spot *spot, uint64_t pos)
{
	if (v->state == IF_OFF)
		section_end(v, spot->site, pos);
	v->state = IF_ON;
}

static void entered(struct vcpu *v, const struct spot *spot, uint64_t pos)
{
	if (v->state != IF_OFF) {
		section_open(v, v->state == IF_ON ? spot->site : -1, pos);
		return;
	}
	v->nested++;
	odd.nested++;
	v->start++; /* what faulted is done again */
}

static void returned(struct vcpu *v, const struct spot *spot, uint64_t pos)
{
	if (v->nested) {
		v->nested--;
		if (v->state == IF_ON)
			section_open(v, -1, pos + 1);
		return;
	}
	turned_on(v, spot, pos);
}

static void hook_left(struct vcpu *v, uint64_t pos)
{
	if (!v->in_hook)
		return;
	if (v->depth) {
		v->depth--;
		return;
	}
	v->in_hook = false;
	v->hook += pos + 1 - v->hook_start;
}

/*
 * The tracer's figures start again from nothing, so what it is compared with does too, at the first
 * hook after: between the tracer's pause and this moment none ran on any CPU. A section that was
 * open then may have tested the tracer's flag before it was set: it cannot count as missed.
 */
static void forget_clocks(void)
{
	tracer = RUNNING;
	epoch++;
	for (unsigned int cpu = 0; cpu < nr_vcpus; cpu++)
		for (unsigned int i = 0; i < image.nr_sites; i++) {
			struct site_stat *s = &vcpus[cpu].stats[i];

			s->traced = s->clock_total = s->clock_max = 0;
			s->diff_min = s->diff_max = 0;
			s->unseen = s->pending = 0;
		}
}

static void clock_read(struct vcpu *v, const struct spot *spot, uint64_t pos)
{
	if (v->state != IF_OFF)
		return;
	if (spot->stop) {
		v->clock_stop = pos;
		v->saw_stop = true;
	} else {
		if (tracer == RESUMING)
			forget_clocks();
		v->clock_start = pos;
		v->saw_start = true;
	}
}

/* An instruction that is watched is about to be executed. */
static void arrive(unsigned int cpu, void *data)
{
	struct spot *spot = data;
	struct vcpu *v = &vcpus[cpu];
	uint64_t pos = now(cpu);

	spot->executed++;
	if (spot->unlisted)
		odd.unlisted++;
	switch (spot->kind) {
	case SPOT_OFF:
		if (v->state != IF_OFF)
			section_open(v, v->state == IF_ON ? spot->site : -1, pos + 1);
		break;
	case SPOT_ON:
	case SPOT_IDLE:
		odd.on_in_nested += v->nested != 0;
		turned_on(v, spot, pos);
		break;
	case SPOT_RETURN:
		returned(v, spot, pos);
		break;
	case SPOT_ENTRY:
		entered(v, spot, pos);
		break;
	case SPOT_HOOK:
		if (!v->in_hook) {
			v->in_hook = true;
			v->depth = 0;
			v->hook_start = pos;
		}
		break;
	case SPOT_CLOCK:
		clock_read(v, spot, pos);
		break;
	case SPOT_CALL:
		v->depth += v->in_hook;
		break;
	case SPOT_RET:
		hook_left(v, pos);
		break;
	case SPOT_RESET:
		tracer = RESETTING;
		break;
	case SPOT_RESUME:
		if (tracer == RESETTING)
			tracer = RESUMING;
		break;
	case SPOT_POPF:
		odd.popf++;
		v->state = IF_UNKNOWN;
		break;
	}
}

/* ---- translation ----------------------------------------------------------------------------- */

/* What these bytes do to IF; -1: nothing. */
static int decode(const uint8_t *code, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && (code[i] == 0x66 || (code[i] & 0xf0) == 0x40 || code[i] == 0xf2 ||
			     code[i] == 0xf3 || code[i] == 0x2e || code[i] == 0x3e))
		i++;
	switch (code[i]) {
	case 0xfa:
		return n == i + 1 ? SPOT_OFF : -1;
	case 0xfb:
		return n == i + 1 ? SPOT_ON : -1;
	case 0x9d:
		return n == i + 1 ? SPOT_POPF : -1;
	case 0xcf:
		return n == i + 1 ? SPOT_RETURN : -1;
	case 0x0f: /* sysret, sysexit */
		return n == i + 2 && (code[i + 1] == 0x07 || code[i + 1] == 0x35) ? SPOT_RETURN
										  : -1;
	}
	return -1;
}

static bool agrees(const struct spot *spot, int found)
{
	switch (spot->kind) {
	case SPOT_OFF:
	case SPOT_RETURN:
		return found == (int)spot->kind;
	case SPOT_ON:
	case SPOT_IDLE:
		return found == SPOT_ON;
	default:
		return found < 0;
	}
}

static void look_at(struct qemu_plugin_insn *insn)
{
	uint64_t addr = qemu_plugin_insn_vaddr(insn);
	const uint8_t *code = qemu_plugin_insn_data(insn);
	size_t bytes = qemu_plugin_insn_size(insn);
	struct spot *spot;
	int found;

	if (addr < KERNEL_HALF)
		return;
	spot = image_look(addr, code, bytes);
	found = decode(code, bytes);
	if (spot && !spot->unlisted && !agrees(spot, found))
		odd.mismatched++;
	if (!spot && found >= 0) {
		spot = spot_add(addr, found, -1);
		spot->unlisted = found != SPOT_POPF;
	}
	if (spot)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, arrive, QEMU_PLUGIN_CB_NO_REGS, spot);
}

/* The callback of a watched instruction comes before its own count, so that `now` is its
 * position. */
static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!by_call && nr_vcpus > 1)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, turn, QEMU_PLUGIN_CB_NO_REGS, NULL);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		look_at(insn);
		if (by_call)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
		else
			qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
								   &executed, 1);
	}
}

static void finish(qemu_plugin_id_t id, void *data)
{
	if (!by_call)
		vcpus[running].executed += executed - mark;
	report_write(out_path, image_path, &image, vcpus, nr_vcpus, &odd,
		     by_call ? "by call" : "inline");
}

static int option(const char *word)
{
	if (!strncmp(word, "image=", 6))
		snprintf(image_path, sizeof(image_path), "%s", word + 6);
	else if (!strncmp(word, "out=", 4))
		snprintf(out_path, sizeof(out_path), "%s", word + 4);
	else if (!strcmp(word, "threads=multi"))
		by_call = true;
	else if (strcmp(word, "threads=single")) {
		fprintf(stderr,
			"referee: %s: expected image=FILE, out=FILE or threads=single|multi\n",
			word);
		return -1;
	}
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (option(argv[i]))
			return -1;
	if (!*image_path || !*out_path) {
		fprintf(stderr, "referee: image=FILE and out=FILE are needed\n");
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "referee: %s is not a whole x86-64 machine\n", info->target_name);
		return -1;
	}
	nr_vcpus = info->system.smp_vcpus;
	if (nr_vcpus > MAX_VCPUS) {
		fprintf(stderr, "referee: %u vCPUs, at most %u\n", nr_vcpus, MAX_VCPUS);
		return -1;
	}
	if (image_load(&image, image_path))
		return -1;
	by_call |= !qemu_plugin_register_vcpu_insn_exec_inline;
	for (unsigned int i = 0; i < nr_vcpus; i++) {
		vcpus[i].site = -1;
		vcpus[i].stats = calloc(image.nr_sites, sizeof(*vcpus[i].stats));
		if (!vcpus[i].stats)
			return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
