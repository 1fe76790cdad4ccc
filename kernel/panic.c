/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * panic.c - the end of the road, and the smaller mishaps (WARN_ON, stack dumps).
 *
 * Order: stop caring about others (interrupts off, first CPU wins), say why, registers, stack with
 * names, stop the other CPUs and show where they were, print the chosen tables, leave the machine
 * with a failing status. Everything uses only the log ring and polled consoles, so it works from
 * the first C line on and from an NMI.
 *
 * A fault inside all this comes back to panic(): the second time only one line is written, straight
 * to the UART, and the machine is left; the third time it is left at once.
 */
#include "kernel/panic.h"
#include "arch/atomic.h"
#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/irqflags.h"
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/printf.h"
#include "lib/string.h"

static u32 panic_cpu;	/* CPU number + 1 of the one that panics */
static u32 panic_depth; /* of that CPU */
static struct panic_show *shows;
static char panic_show_paths[256];
BOOT_PARAM_STRING("panic_show", panic_show_paths, "files a panic prints, separated by commas");

bool panic_in_progress(void)
{
	return READ_ONCE(panic_cpu) != 0;
}

void panic_show_register(struct panic_show *show)
{
	show->next = shows;
	shows = show;
}

struct stack_dump {
	int level, nr;
};

static void print_frame(unsigned long addr, void *arg)
{
	struct stack_dump *d = arg;
	char name[128];

	d->nr++;
	printk(d->level, "  [<%lx>] %s", addr, ksym_format(name, sizeof(name), addr));
}

void dump_stack_regs(int level, const struct pt_regs *regs)
{
	struct stack_dump d = { .level = level };

	printk(level, "Call trace:");
	arch_backtrace(regs, print_frame, &d);
	if (!d.nr)
		printk(level, "  (no frames)");
}

void dump_stack(int level)
{
	dump_stack_regs(level, NULL);
}

void warn_at(const char *file, int line, const char *what)
{
	printk(LOG_WARNING, "WARNING: CPU %u at %s:%d: %s", smp_processor_id(), file, line, what);
	dump_stack(LOG_WARNING);
}

static void flush_lines(struct seq *seq)
{
	size_t start = 0;

	for (size_t i = 0; i < seq->count; i++) {
		if (seq->buf[i] != '\n')
			continue;
		printk(LOG_EMERG, "%.*s", (int)(i - start), seq->buf + start);
		start = i + 1;
	}
	if (!start && seq->count == seq->size) { /* one very long line */
		printk(LOG_EMERG, "%.*s", (int)seq->count, seq->buf);
		start = seq->count;
	}
	memmove(seq->buf, seq->buf + start, seq->count - start);
	seq->count -= start;
}

static void show_file(const char *path)
{
	static char buf[256];
	struct seq seq = { .buf = buf, .size = sizeof(buf), .flush = flush_lines };
	struct show_entry *e = show_find(path, &seq.index);

	printk(LOG_EMERG, "%s:%s", path, e && e->show ? "" : " no such file");
	if (!e || !e->show)
		return;
	e->show(&seq);
	if (seq.count && seq.buf[seq.count - 1] != '\n')
		seq_putc(&seq, '\n');
	flush_lines(&seq);
}

static void show_tables(void)
{
	char *rest = panic_show_paths, *path;

	for (struct panic_show *s = shows; s; s = s->next)
		show_file(s->path);
	while ((path = strsep(&rest, ",")))
		if (*path)
			show_file(path);
}

static void show_other_cpus(void)
{
	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		const struct pt_regs *regs =
			cpu == smp_processor_id() ? NULL : arch_stopped_regs(cpu);

		if (cpu == smp_processor_id())
			continue;
		if (!regs) {
			printk(LOG_EMERG, "CPU %u did not stop", cpu);
			continue;
		}
		printk(LOG_EMERG, "CPU %u was at %pS in %s mode", cpu, (void *)regs->rip,
		       user_mode(regs) ? "user" : "kernel");
		if (!user_mode(regs))
			dump_stack_regs(LOG_EMERG, regs);
	}
}

/* The recursive case must not trust anything that may have failed. */
static __noreturn void panic_again(const char *what)
{
	char line[160];

	if (panic_depth == 2)
		early_uart_write(line,
				 scnprintf(line, sizeof(line), "\npanic within panic: %s\n", what));
	arch_panic_exit();
}

static __noreturn void do_panic(const struct pt_regs *regs, const char *what)
{
	u32 me = smp_processor_id() + 1, nobody = 0;

	local_irq_disable_l("panic");
	irqoff_enabled = false;
	if (!try_cmpxchg(&panic_cpu, &nobody, me) && nobody != me)
		arch_halt(); /* another CPU is at it */
	if (++panic_depth > 1)
		panic_again(what);
	printk_flush();
	printk(LOG_EMERG, "Kernel panic on CPU %u: %s", me - 1, what);
	arch_dump_regs(regs);
	dump_stack_regs(LOG_EMERG, regs);
	smp_stop_others();
	show_other_cpus();
	show_tables();
	printk(LOG_EMERG, "---[ end of kernel panic: %s ]---", what);
	printk_flush();
	arch_panic_exit();
}

void panic(const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vscnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	do_panic(NULL, what);
}

void panic_regs(const struct pt_regs *regs, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vscnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	do_panic(regs, what);
}
