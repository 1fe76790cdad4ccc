// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_bw.c - two plain disks: `bw`, a wire of constant rate, and `usb`, a slow stick.
 *
 * bw: no seeks, no rotation; n bytes take n/rate on the wire, one request after the other, and each
 * ends `latency` later (the latencies overlap). The division's remainder is carried on, so a stream
 * takes exactly bytes/rate to the nanosecond however it is cut. It is the disk of experiments whose
 * question is not the disk.
 *
 * usb: one request at a time, each pays its latency in full; writes have a rate of their own, and
 * one that does not go on where the last write ended pays `jump` (another erase block is opened).
 */
#include "drivers/blk/model.h"
#include "lib/math.h"
#include "lib/printf.h"

enum { BW_LATENCY = MP_OWN, BW_NR };
enum { USB_WRITE_BW = MP_OWN, USB_LATENCY, USB_JUMP, USB_NR };
#define MS 1000000ull
#define NSEC 1000000000ull

static const struct model_param bw_params[BW_NR] = {
	[MP_SIZE] = { "size", MODEL_BYTES, false, 1ull << 30, 1ull << 16, 1ull << 44,
		      "bytes one can address" },
	[MP_BW] = { "bw", MODEL_RATE, true, 100 << 20, 4096, 1ull << 36,
		    "rate, reads and writes together" },
	[MP_DEPTH] = { "depth", MODEL_NUMBER, false, 32, 1, 128, "requests in the disk" },
	[BW_LATENCY] = { "latency", MODEL_NS, true, 0, 0, 10000 * MS,
			 "added to each request; overlaps" },
};
static const struct model_param usb_params[USB_NR] = {
	[MP_SIZE] = { "size", MODEL_BYTES, false, 1ull << 30, 1ull << 16, 1ull << 44,
		      "bytes one can address" },
	[MP_BW] = { "bw", MODEL_RATE, true, 30 << 20, 4096, 1ull << 36, "rate of reads" },
	[MP_DEPTH] = { "depth", MODEL_NUMBER, false, 1, 1, 1, "requests in the disk" },
	[USB_WRITE_BW] = { "write_bw", MODEL_RATE, true, 10 << 20, 4096, 1ull << 36,
			   "rate of writes" },
	[USB_LATENCY] = { "latency", MODEL_NS, true, 2 * MS, 0, 10000 * MS, "of each request" },
	[USB_JUMP] = { "jump", MODEL_NS, true, 0, 0, 10000 * MS,
		       "more, for a write elsewhere than behind the last" },
};

/* => nanoseconds for bytes at rate, the remainder carried in s */
static u64 wire_ns(struct bw_state *s, u64 bytes, u64 rate)
{
	u64 ns = model_ns(bytes, rate);

	/* bytes * 10^9 - ns * rate: the product's high words cancel */
	s->remainder += bytes * NSEC - ns * rate;
	if (s->remainder >= rate) {
		ns += s->remainder / rate;
		s->remainder %= rate;
	}
	return ns;
}

static u64 bw_start(struct model *m, const struct model_rq *rq, u64 now)
{
	struct bw_state *s = &m->bw;

	if (now > s->busy_ns) {
		s->busy_ns = now;
		s->remainder = 0;
	}
	if (rq->op == MODEL_READ || rq->op == MODEL_WRITE)
		s->busy_ns += wire_ns(s, (u64)rq->nr_sectors << 9, m->p[MP_BW]);
	return s->busy_ns + m->p[BW_LATENCY];
}

static u64 usb_start(struct model *m, const struct model_rq *rq, u64 now)
{
	u64 bytes = (u64)rq->nr_sectors << 9;

	now += m->p[USB_LATENCY];
	if (rq->op == MODEL_READ)
		return now + model_ns(bytes, m->p[MP_BW]);
	if (rq->op != MODEL_WRITE)
		return now;
	if (rq->sector != m->bw.next_sector)
		now += m->p[USB_JUMP];
	m->bw.next_sector = rq->sector + rq->nr_sectors;
	return now + model_ns(bytes, m->p[USB_WRITE_BW]);
}

const struct model_kind model_bw = {
	.name = "bw",
	.about = "a wire of constant rate: no seeks",
	.params = bw_params,
	.nr_params = BW_NR,
	.start = bw_start,
};
const struct model_kind model_usb = {
	.name = "usb",
	.about = "a slow stick: one request at a time",
	.params = usb_params,
	.nr_params = USB_NR,
	.parallel = 1,
	.start = usb_start,
};
