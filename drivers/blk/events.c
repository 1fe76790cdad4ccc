// SPDX-License-Identifier: BSD-2-Clause
/*
 * events.c - the trace events of the block layer, with Linux's names and fields.
 *
 * A record holds numbers only, so its texts must live for ever: the device is its slot's text, the
 * kind of request one of a table of all there are, and the names of threads are kept in a small
 * table that only grows (while an event is on).
 */
#include "drivers/blk/internal.h"
#include "lib/string.h"

DEFINE_EVENT(block, block_bio_queue, "%s %s %lu + %lu [%s]", "dev", "rwbs", "sector", "nr_sector",
	     "comm");
DEFINE_EVENT(block, block_rq_insert, "%s %s %lu () %lu + %lu [%s]", "dev", "rwbs", "bytes",
	     "sector", "nr_sector", "comm");
DEFINE_EVENT(block, block_rq_issue, "%s %s %lu () %lu + %lu [%s]", "dev", "rwbs", "bytes", "sector",
	     "nr_sector", "comm");
DEFINE_EVENT(block, block_rq_complete, "%s %s () %lu + %lu [%ld]", "dev", "rwbs", "sector",
	     "nr_sector", "error");
DEFINE_EVENT(block, block_plug, "[%s]", "comm");
DEFINE_EVENT(block, block_unplug, "[%s] %lu", "comm", "nr_rq");

#define NR_FLAG_SETS 32 /* BIO_SYNC .. BIO_RAHEAD */
static char rwbs_table[NR_BIO_OPS][NR_FLAG_SETS][8];

static void make_rwbs(char *p, enum bio_op op, u32 flags)
{
	static const char letters[NR_BIO_OPS] = { 'R', 'W', 'F', 'D', 'W' };

	if (flags & BIO_PREFLUSH)
		*p++ = 'F';
	*p++ = letters[op];
	if (op == BIO_WRITE_ZEROES)
		*p++ = 'Z';
	if (flags & BIO_FUA)
		*p++ = 'F';
	if (flags & BIO_RAHEAD)
		*p++ = 'A';
	if (flags & BIO_SYNC)
		*p++ = 'S';
	if (flags & BIO_META)
		*p++ = 'M';
	*p = 0;
}

static const char *rwbs(enum bio_op op, u32 flags)
{
	return rwbs_table[op][flags % NR_FLAG_SETS];
}

static const char *dev_text(const struct disk *disk)
{
	return disk_slot(disk->slot)->dev_text;
}

#define NR_COMMS 256
static char comms[NR_COMMS][16];
static u32 nr_comms;
static DEFINE_SPINLOCK(comms_lock, RANK_LEAF);

static const char *comm_text(void)
{
	u32 n = READ_ONCE(nr_comms);
	unsigned long flags;

	for (u32 i = 0; i < n; i++)
		if (!strncmp(comms[i], current->comm, sizeof(comms[i])))
			return comms[i];
	spin_lock_irqsave(&comms_lock, flags);
	n = nr_comms;
	if (n < NR_COMMS) {
		strlcpy(comms[n], current->comm, sizeof(comms[n]));
		smp_store_release(&nr_comms, n + 1);
	}
	spin_unlock_irqrestore(&comms_lock, flags);
	return n < NR_COMMS ? comms[n] : "?";
}

void trace_bio_queue(const struct bio *bio)
{
	trace_event(block_bio_queue, (u64)dev_text(bio->part->disk), (u64)rwbs(bio->op, bio->flags),
		    bio->disk_sector, bio->bytes >> SECTOR_SHIFT, (u64)comm_text());
}

void trace_rq(struct trace_event_def *def, const struct request *rq)
{
	u64 args[ARRAY_SIZE(def->fields)] = { (u64)dev_text(rq->disk),
					      (u64)rwbs(rq->op, rq->flags),
					      (u64)rq->nr_sectors << SECTOR_SHIFT,
					      rq->sector,
					      rq->nr_sectors,
					      (u64)comm_text() };

	event_record(def, args);
}

void trace_rq_complete(const struct request *rq, int error, u32 sectors)
{
	trace_event(block_rq_complete, (u64)dev_text(rq->disk), (u64)rwbs(rq->op, rq->flags),
		    rq->sector, sectors, (u64)(long)error);
}

void trace_plug(void)
{
	trace_event(block_plug, (u64)comm_text());
}

void trace_unplug(u32 n)
{
	trace_event(block_unplug, (u64)comm_text(), n);
}

void blk_events_init(void)
{
	for (u32 op = 0; op < NR_BIO_OPS; op++)
		for (u32 flags = 0; flags < NR_FLAG_SETS; flags++)
			make_rwbs(rwbs_table[op][flags], op, flags);
}
