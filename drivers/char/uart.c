/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uart.c - 16550A serial ports.
 *
 * Receive: an interrupt takes at most 32 bytes out of the FIFO and hands them to the terminal; if
 * more are waiting the UART interrupts again. Transmit: bytes go through a ring; whenever the UART
 * says its FIFO is empty, 16 of them follow. The first batch is sent by the writer, the rest by the
 * transmit interrupt, so no caller waits and no section with interrupts off is longer than 16 port
 * writes.
 *
 * The console (kernel log) does not come through here but through the machine's polled output
 * (arch/init.h), which works in a panic; both write whole bytes to the same FIFO.
 *
 * Locking: port->lock, interrupts off.
 */
#include "drivers/char/uart.h"
#include "arch/io.h"
#include "arch/trap.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/spinlock.h"
#include "lib/err.h"

#define NR_PORTS 2
#define RING_BYTES 8192u /* power of two */
#define FIFO_BYTES 16
#define RX_BATCH 32

enum {
	REG_DATA = 0,
	REG_IER = 1,
	REG_FCR = 2,
	REG_IIR = 2,
	REG_LCR = 3,
	REG_MCR = 4,
	REG_LSR = 5,
	REG_MSR = 6,
	REG_SCR = 7
};
#define IER_RX 1
#define IER_TX 2
#define LSR_DATA 0x01
#define LSR_OVERRUN 0x02
#define LSR_THRE 0x20
#define LSR_IDLE 0x40

static struct port {
	u16 base;
	u8 irq;
	bool present, starved; /* starved: a write() was cut short */
	u8 ier;
	spinlock_t lock;
	const struct tty_line_ops *ops;
	void *arg;
	u32 head, tail; /* ring: bytes [tail, head) */
	u8 ring[RING_BYTES];
	u64 rx, tx, overruns;
} ports[NR_PORTS] = {
	{ .base = 0x3f8, .irq = 4, .lock = SPINLOCK_INIT(RANK_CONSOLE, "ttyS0") },
	{ .base = 0x2f8, .irq = 3, .lock = SPINLOCK_INIT(RANK_CONSOLE, "ttyS1") },
};

static u8 reg_read(const struct port *p, u16 reg)
{
	return inb(p->base + reg);
}

static void reg_write(const struct port *p, u16 reg, u8 v)
{
	outb(v, p->base + reg);
}

static void set_ier(struct port *p, u8 ier)
{
	if (p->ier == ier)
		return;
	p->ier = ier;
	reg_write(p, REG_IER, ier);
}

/* One FIFO full out of the ring if the UART wants it. => p->lock */
static void transmit_locked(struct port *p)
{
	u32 n = min_t(u32, p->head - p->tail, FIFO_BYTES);

	if (n && (reg_read(p, REG_LSR) & LSR_THRE)) {
		for (u32 i = 0; i < n; i++)
			reg_write(p, REG_DATA, p->ring[p->tail++ % RING_BYTES]);
		p->tx += n;
	}
	set_ier(p, p->head != p->tail ? IER_RX | IER_TX : IER_RX);
}

static u32 receive(struct port *p, u8 *buf)
{
	u32 n = 0;
	u8 lsr;

	while (n < RX_BATCH && ((lsr = reg_read(p, REG_LSR)) & LSR_DATA)) {
		if (lsr & LSR_OVERRUN)
			p->overruns++;
		buf[n++] = reg_read(p, REG_DATA);
	}
	p->rx += n;
	return n;
}

static void uart_interrupt(void *arg)
{
	struct port *p = arg;
	const struct tty_line_ops *ops;
	u8 buf[RX_BATCH];
	bool writable;
	void *ops_arg;
	u32 n;

	spin_lock(&p->lock);
	reg_read(p, REG_IIR);
	n = receive(p, buf);
	transmit_locked(p);
	ops = p->ops;
	ops_arg = p->arg;
	writable = p->starved && p->head - p->tail <= RING_BYTES / 2;
	if (writable)
		p->starved = false;
	spin_unlock(&p->lock);
	if (!ops)
		return;
	if (n)
		ops->receive(ops_arg, buf, n);
	if (writable)
		ops->writable(ops_arg);
}

static bool uart_present(unsigned int line)
{
	return line < NR_PORTS && ports[line].present;
}

static void uart_connect(unsigned int line, const struct tty_line_ops *ops, void *arg)
{
	struct port *p = &ports[line];
	unsigned long flags;

	spin_lock_irqsave_l(&p->lock, flags, "uart_connect");
	p->ops = ops;
	p->arg = arg;
	spin_unlock_irqrestore_l(&p->lock, flags, "uart_connect");
}

/* Copies at most one batch into the ring. => p->lock */
static u32 queue_locked(struct port *p, const u8 *s, size_t n)
{
	u32 room = RING_BYTES - (p->head - p->tail),
	    take = min_t(size_t, min_t(size_t, n, room), 32);

	for (u32 i = 0; i < take; i++)
		p->ring[p->head++ % RING_BYTES] = s[i];
	return take;
}

static size_t uart_write(unsigned int line, const u8 *s, size_t n)
{
	struct port *p = &ports[line];
	unsigned long flags;
	size_t done = 0;
	u32 took;

	if (!p->present)
		return n;
	do {
		spin_lock_irqsave_l(&p->lock, flags, "uart_write");
		took = queue_locked(p, s + done, n - done);
		transmit_locked(p);
		done += took;
		if (!took && done < n)
			p->starved = true;
		spin_unlock_irqrestore_l(&p->lock, flags, "uart_write");
	} while (took && done < n);
	return done;
}

static size_t uart_pending(unsigned int line)
{
	return READ_ONCE(ports[line].head) - READ_ONCE(ports[line].tail);
}

static size_t uart_write_room(unsigned int line)
{
	return RING_BYTES - uart_pending(line);
}

static void uart_flush(unsigned int line)
{
	struct port *p = &ports[line];
	unsigned long flags;

	spin_lock_irqsave_l(&p->lock, flags, "uart_flush");
	p->tail = p->head;
	transmit_locked(p);
	spin_unlock_irqrestore_l(&p->lock, flags, "uart_flush");
}

/*
 * Polled, one FIFO per section, so that it also works where the interrupt cannot come (power off).
 */
static void uart_drain(unsigned int line)
{
	struct port *p = &ports[line];
	unsigned long flags;

	for (u32 i = 0; p->present && i < 10000000; i++) {
		spin_lock_irqsave_l(&p->lock, flags, "uart_drain");
		transmit_locked(p);
		spin_unlock_irqrestore_l(&p->lock, flags, "uart_drain");
		if (!uart_pending(line) && (reg_read(p, REG_LSR) & LSR_IDLE))
			return;
		cpu_relax();
	}
}

const struct tty_driver uart_driver = {
	.name = "ttyS",
	.nr_lines = NR_PORTS,
	.present = uart_present,
	.connect = uart_connect,
	.write = uart_write,
	.write_room = uart_write_room,
	.pending = uart_pending,
	.flush = uart_flush,
	.drain = uart_drain,
};

/* The scratch register holds what is written only where there is a UART. */
static bool probe(const struct port *p)
{
	reg_write(p, REG_SCR, 0x5a);
	if (reg_read(p, REG_SCR) != 0x5a)
		return false;
	reg_write(p, REG_SCR, 0xa5);
	return reg_read(p, REG_SCR) == 0xa5;
}

static void setup(struct port *p)
{
	reg_write(p, REG_IER, 0);
	reg_write(p, REG_LCR, 0x80); /* divisor latch */
	reg_write(p, REG_DATA, 1);   /* 115200 baud */
	reg_write(p, REG_IER, 0);
	reg_write(p, REG_LCR, 0x03); /* 8N1 */
	/* FIFOs on, interrupt at 4 bytes (or after a pause); what arrived early stays */
	reg_write(p, REG_FCR, 0x41);
	reg_write(p, REG_MCR, 0x0b); /* DTR, RTS, interrupt line */
	reg_read(p, REG_LSR);
	reg_read(p, REG_MSR);
	reg_read(p, REG_IIR);
}

int uart_init(void)
{
	int found = 0;

	for (u32 i = 0; i < NR_PORTS; i++) {
		struct port *p = &ports[i];
		int vector;

		if (!probe(p))
			continue;
		setup(p);
		vector = irq_request_isa(p->irq, uart_interrupt, p, i ? "ttyS1" : "ttyS0");
		if (vector < 0) {
			pr_warn("uart: ttyS%u has no interrupt (%d), not used", i, vector);
			continue;
		}
		p->present = true;
		set_ier(p, IER_RX);
		found++;
	}
	return found ? 0 : -ENODEV;
}

static int serial_show(struct seq *seq)
{
	seq_puts(seq, "serinfo:1.0 driver revision:\n");
	for (u32 i = 0; i < NR_PORTS; i++) {
		const struct port *p = &ports[i];

		if (!p->present)
			continue;
		seq_printf(seq, "%u: uart:16550A port:%08X irq:%u tx:%lu rx:%lu", i, p->base,
			   p->irq, (unsigned long)p->tx, (unsigned long)p->rx);
		if (p->overruns)
			seq_printf(seq, " oe:%lu", (unsigned long)p->overruns);
		seq_puts(seq, " RTS|DTR\n");
	}
	return 0;
}
SHOW("/proc/tty/driver/serial", 0444, serial_show, NULL);
