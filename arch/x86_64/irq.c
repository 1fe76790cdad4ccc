/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irq.c - interrupts: vector table, dispatch, and the way out (softirqs, preemption, user work).
 *
 * A handler runs in hard interrupt context with interrupts off (counted in __preempt_count). After
 * it the APIC gets its end-of-interrupt, softirqs run with interrupts on when this was the
 * outermost interrupt, and the interrupted code goes
 * on: user mode through exit_to_user(), kernel code perhaps after a preemption.
 */
#include "arch/atomic.h"
#include "arch/smp.h"
#include "arch/trap.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/preempt.h"
#include "kernel/printk.h"
#include "kernel/softirq.h"
#include "lib/err.h"

DEFINE_PER_CPU(struct pt_regs *, irq_regs);
static DEFINE_PER_CPU(u32[256], vector_count);

static struct vector {
	irq_handler_t fn;
	void *arg;
	void (*system)(struct pt_regs *regs);
	const char *name;
} vectors[256];
static unsigned long vectors_taken[256 / 64];

void irq_dispatch(struct pt_regs *regs);
void exit_to_user(struct pt_regs *regs);
void preempt_schedule_irq(void) __attribute__((weak));

void irq_system_vector(unsigned int vector, void (*fn)(struct pt_regs *regs), const char *name)
{
	vectors[vector].system = fn;
	vectors[vector].name = name;
}

static void unexpected(unsigned int vector)
{
	pr_warn_once("irq: unexpected interrupt vector %u", vector);
}

static inline void run_handler(unsigned int v, struct pt_regs *regs)
{
	const struct vector *d = &vectors[v];

	(*this_cpu_ptr(&vector_count))[v]++;
	if (v == VECTOR_SPURIOUS)
		return; /* no end-of-interrupt */
	if (d->system)
		d->system(regs);
	else if (likely(d->fn))
		d->fn(d->arg);
	else
		unexpected(v);
	lapic_eoi();
}

void irq_dispatch(struct pt_regs *regs)
{
	unsigned int v = (u8)~regs->orig_rax;
	struct pt_regs *outer;

	if (unlikely(irqoff_enabled) && (regs->rflags & X86_EFLAGS_IF))
		irqoff_start(&site_irq_entry);
	this_cpu_add(__preempt_count, HARDIRQ_OFFSET);
	outer = this_cpu_read(irq_regs);
	this_cpu_write(irq_regs, regs);
	run_handler(v, regs);
	this_cpu_write(irq_regs, outer);
	this_cpu_sub(__preempt_count, HARDIRQ_OFFSET);

	if (unlikely(!(regs->rflags & X86_EFLAGS_IF)))
		return; /* cannot be: interrupts came while they were off */
	if (this_cpu_read(softirq_pending) && !in_interrupt())
		softirq_run();
	if (user_mode(regs)) {
		exit_to_user(regs);
		return;
	}
	if (unlikely(this_cpu_read(__preempt_count) == 0) && preempt_schedule_irq)
		preempt_schedule_irq();
	if (unlikely(irqoff_enabled))
		irqoff_stop(&site_irq_exit);
}

int irq_alloc_vector(irq_handler_t fn, void *arg, const char *name)
{
	for (unsigned int v = VECTOR_FIRST_DEVICE; v <= VECTOR_LAST_DEVICE; v++) {
		if (test_bit(v, vectors_taken) || test_and_set_bit(v, vectors_taken))
			continue;
		vectors[v].arg = arg;
		vectors[v].name = name;
		smp_store_release(&vectors[v].fn, fn);
		return v;
	}
	return -ENOSPC;
}

void irq_free_vector(int vector)
{
	WRITE_ONCE(vectors[vector].fn, NULL);
	vectors[vector].name = NULL;
	clear_bit(vector, vectors_taken);
}

int irq_request_isa(unsigned int isa_irq, irq_handler_t fn, void *arg, const char *name)
{
	int v, err;

	if (isa_irq >= 16)
		return -EINVAL;
	v = irq_alloc_vector(fn, arg, name);
	if (v < 0)
		return v;
	err = ioapic_route(isa_irq, v, cpu_apic_id[0]);
	return err ? err : v;
}

void irq_msi_message(int vector, u32 cpu, u64 *addr, u32 *data)
{
	*addr = 0xfee00000 | (u64)(cpu_apic_id[cpu] & 255) << 12;
	*data = vector;
}

const char *irq_vector_name(unsigned int vector)
{
	return vector < 256 ? vectors[vector].name : NULL;
}

u64 irq_vector_count(unsigned int vector, u32 cpu)
{
	return vector < 256 ? per_cpu(vector_count, cpu)[vector] : 0;
}

static void lapic_error(struct pt_regs *regs)
{
	pr_warn_once("irq: the local APIC reports an error");
}

void irq_vectors_init(void)
{
	irq_system_vector(VECTOR_ERROR, lapic_error, "APIC errors");
	vectors[VECTOR_SPURIOUS].name = "spurious";
}
