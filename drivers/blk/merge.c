// SPDX-License-Identifier: BSD-2-Clause
/*
 * merge.c - bios to neighbouring sectors become one request.
 *
 *      [ request 100..107 ] + bio 108..115  -> back merge:  [ 100..115 ]
 *      bio 92..99 + [ request 100..107 ]    -> front merge: [ 92..107 ]
 *
 * and when that closes the gap to the next request, the two join. Candidates: the request merged
 * last; a hash of the waiting requests by their end (back); the policy's order (front, neighbours).
 * Both sides must do the same (reads with reads, data with data), fit the limits of the disk, and
 * the policy must agree. Nothing with FUA or PREFLUSH merges: its steps are its own.
 * Locking: queue lock; merge_try alone needs only the request.
 */
#include "drivers/blk/internal.h"

#define SAME_FLAGS BIO_META /* a model in discard mode keeps metadata: never mixed with data */

static u32 hash_of(u64 end)
{
	return (u32)(end >> 3 ^ end >> 12) % MERGE_HASH;
}

void merge_hash_add(struct blk_queue *q, struct request *rq)
{
	hlist_add_head(&rq->hash, &q->hash[hash_of(rq->sector + rq->nr_sectors)]);
}

void merge_hash_del(struct blk_queue *q, struct request *rq)
{
	hlist_del_init(&rq->hash);
	if (q->last_merge == rq)
		q->last_merge = NULL;
}

static bool fits(const struct request *rq, u32 sectors, u32 segments)
{
	const struct disk_limits *l = &rq->disk->limits;

	return rq->nr_sectors + sectors <= READ_ONCE(l->max_sectors) &&
	       rq->nr_segments + segments <= l->max_segments;
}

int merge_try(struct request *rq, struct bio *bio)
{
	u32 n = bio->bytes >> SECTOR_SHIFT;
	int side;

	if (rq->sector + rq->nr_sectors == bio->disk_sector)
		side = ELV_LATTER + 1;
	else if (bio->disk_sector + n == rq->sector)
		side = ELV_FORMER + 1;
	else
		return 0;
	if (rq->disk != bio->part->disk || rq->op != bio->op || !op_merges(rq->op, rq->flags) ||
	    (rq->flags ^ bio->flags) & SAME_FLAGS || rq->sync != bio_pool(bio) ||
	    !fits(rq, n, bio->nr_vecs))
		return 0;
	if (side == ELV_LATTER + 1) {
		bio->next = NULL;
		rq->last_bio->next = bio;
		rq->last_bio = bio;
	} else {
		bio->next = rq->bio;
		rq->bio = bio;
		rq->sector = bio->disk_sector;
	}
	rq->nr_sectors += n;
	rq->nr_segments += bio->nr_vecs;
	if (!(bio->flags & BIO_RAHEAD))
		rq->flags &= ~BIO_RAHEAD;
	preempt_disable();
	stat_merge(bio->part, bio->op);
	preempt_enable();
	return side;
}

/* second begins where first ends: one request if they fit. => lock; true: second is gone */
static bool join_locked(struct blk_queue *q, struct request *first, struct request *second,
			struct wakeups *w)
{
	if (first->sector + first->nr_sectors != second->sector || first->op != second->op ||
	    !op_merges(second->op, second->flags) || first->sync != second->sync ||
	    (first->flags ^ second->flags) & SAME_FLAGS ||
	    !fits(first, second->nr_sectors, second->nr_segments))
		return false;
	merge_hash_del(q, first);
	merge_hash_del(q, second);
	if (q->elv->absorbed)
		q->elv->absorbed(q->elv_data, first, second);
	first->last_bio->next = second->bio;
	first->last_bio = second->last_bio;
	first->nr_sectors += second->nr_sectors;
	first->nr_segments += second->nr_segments;
	first->flags &= second->flags | ~BIO_RAHEAD;
	first->queued_ns = min(first->queued_ns, second->queued_ns);
	merge_hash_add(q, first);
	stat_merge(second->part, second->op);
	stat_unstart(second->part, second->op);
	q->nr_waiting--;
	q->nr_merged++;
	request_put_locked(q, second, w);
	return true;
}

static struct request *find_back(struct blk_queue *q, const struct bio *bio)
{
	struct request *rq;

	hlist_for_each_entry(rq, &q->hash[hash_of(bio->disk_sector)], hash)
		if (rq->sector + rq->nr_sectors == bio->disk_sector && rq->op == bio->op)
			return rq;
	return NULL;
}

/* The request grew at its side: its place in the hash, and perhaps it touches its neighbour now. */
static void grown_locked(struct blk_queue *q, struct request *rq, int side, struct wakeups *w)
{
	struct request *other = NULL;

	q->nr_merged++;
	if (side == ELV_LATTER + 1) {
		hlist_del_init(&rq->hash);
		merge_hash_add(q, rq);
	} else if (q->elv->moved) {
		q->elv->moved(q->elv_data, rq);
	}
	q->last_merge = rq;
	if (q->elv->neighbour)
		other = q->elv->neighbour(q->elv_data, rq, side - 1);
	if (!other)
		return;
	if (side == ELV_LATTER + 1)
		join_locked(q, rq, other, w);
	else if (join_locked(q, other, rq, w))
		q->last_merge = other;
}

static bool allowed(struct blk_queue *q, const struct request *rq, const struct bio *bio)
{
	return !q->elv->allow_merge || q->elv->allow_merge(q->elv_data, rq, bio);
}

bool merge_locked(struct blk_queue *q, struct bio *bio, struct wakeups *w)
{
	struct request *rq = q->last_merge;
	int side;

	if (!rq || rq->sector + rq->nr_sectors != bio->disk_sector)
		rq = find_back(q, bio);
	if (!rq && q->elv->find_front)
		rq = q->elv->find_front(q->elv_data, bio,
					bio->disk_sector + (bio->bytes >> SECTOR_SHIFT));
	if (!rq || !allowed(q, rq, bio))
		return false;
	side = merge_try(rq, bio);
	if (side)
		grown_locked(q, rq, side, w);
	return side != 0;
}

void merge_inserted_locked(struct blk_queue *q, struct request *rq, struct wakeups *w)
{
	struct request *other;

	hlist_for_each_entry(other, &q->hash[hash_of(rq->sector)], hash)
		if (other->sector + other->nr_sectors == rq->sector && other->op == rq->op)
			break;
	if (!other || !q->elv->neighbour || q->elv->neighbour(q->elv_data, rq, ELV_FORMER) != other)
		return;
	join_locked(q, other, rq, w);
}
