/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies of disk queues without a kernel: order, deadlines, starvation, slices of cfq (the
 * formula and the behaviour), and a dice test that no request is lost or given twice.
 */
// SOURCES: drivers/blk/elevator.c drivers/blk/elevator_noop.c drivers/blk/elevator_deadline.c
// SOURCES: drivers/blk/elevator_cfq.c lib/rbtree.c lib/string.c
#include "host.h"

#include "drivers/blk/elevator.h"

#define MS NSEC_PER_MSEC

static const struct elevator_ops *elv;
static void *data;
static u64 now, again;

static void start(const char *name)
{
	elv = elevator_find(name);
	CHECK(elv);
	free(data);
	data = calloc(1, elv->data_bytes);
	elv->init(data);
	now = MS;
}

static void set_attr(const char *name, u64 value)
{
	const struct elevator_attr *a = elv->attrs;

	while (a->name && strcmp(a->name, name))
		a++;
	CHECK(a->name);
	CHECK(value >= a->min && value <= a->max);
	*(u64 *)((char *)data + a->offset) = value * a->unit;
}

static struct request *add(enum bio_op op, u64 sector, u32 flags, pid_t tid)
{
	struct request *rq = calloc(1, sizeof(*rq));

	rq->op = op;
	rq->sector = sector;
	rq->nr_sectors = 8;
	rq->flags = flags;
	rq->tid = tid;
	elv->insert(data, rq, now);
	return rq;
}

static struct request *next(void)
{
	again = 0;
	return elv->next(data, now, &again, 0);
}

static void end(struct request *rq)
{
	if (elv->completed)
		elv->completed(data, rq, now);
	free(rq);
}

/* The next one's sector, which also ends; -1: none now. */
static long take(void)
{
	struct request *rq = next();
	long sector = rq ? (long)rq->sector : -1;

	if (rq)
		end(rq);
	return sector;
}

HOST_TEST(list)
{
	CHECK_STR(elevator_nth(0)->name, "noop");
	CHECK_STR(elevator_nth(1)->name, "deadline");
	CHECK_STR(elevator_nth(2)->name, "cfq");
	CHECK(!elevator_nth(3));
	CHECK(!elevator_find("anticipatory"));
}

HOST_TEST(noop_order)
{
	start("noop");
	add(BIO_READ, 30, 0, 1);
	add(BIO_WRITE, 10, 0, 1);
	add(BIO_READ, 20, 0, 1);
	CHECK_EQ(take(), 30);
	CHECK_EQ(take(), 10);
	CHECK_EQ(take(), 20);
	CHECK_EQ(take(), -1);
}

/* ---- deadline ---- */

HOST_TEST(deadline_sweeps)
{
	static const u64 in[] = { 100, 900, 300, 700, 500 };

	start("deadline");
	for (int i = 0; i < 5; i++)
		add(BIO_READ, in[i], 0, 1);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(take(), 100 + 200 * i);
	CHECK_EQ(take(), -1);
	add(BIO_READ, 1000, 0, 1); /* a run begins at the oldest */
	add(BIO_READ, 50, 0, 1);
	CHECK_EQ(take(), 1000);
	CHECK_EQ(take(), 50);
}

HOST_TEST(deadline_runs_of_sixteen)
{
	start("deadline");
	add(BIO_READ, 5, 0, 1);
	for (int i = 0; i < 40; i++)
		add(BIO_READ, 1000 + 10 * i, 0, 1);
	CHECK_EQ(take(), 5);
	now += MS;
	add(BIO_READ, 7, 0, 1); /* behind the head: waits for the end of the run and its turn */
	for (int i = 0; i < 40; i++)
		CHECK_EQ(take(), 1000 + 10 * i);
	CHECK_EQ(take(), 7);
}

HOST_TEST(deadline_jumps_to_the_oldest)
{
	start("deadline");
	set_attr("fifo_batch", 2);
	add(BIO_READ, 500, 0, 1);
	CHECK_EQ(take(), 500);
	add(BIO_READ, 900, 0, 1);
	now += 501 * MS;
	for (int i = 0; i < 6; i++)
		add(BIO_READ, 100 + i, 0, 1);
	CHECK_EQ(take(), 900); /* expired, though 100 is first */
	CHECK_EQ(take(), 100);
}

HOST_TEST(deadline_writes_starve_twice)
{
	start("deadline");
	set_attr("fifo_batch", 1);
	for (int i = 0; i < 6; i++) {
		add(BIO_READ, 100 + 10 * i, 0, 1);
		add(BIO_WRITE, 1000 + 10 * i, 0, 1);
	}
	static const long want[] = { 100, 110, 1000, 120, 130, 1010, 140, 150, 1020, 1030 };

	for (unsigned i = 0; i < sizeof(want) / sizeof(*want); i++)
		CHECK_EQ(take(), want[i]);
}

HOST_TEST(deadline_merging)
{
	struct request *a, *b;
	struct bio bio = { .op = BIO_READ };

	start("deadline");
	a = add(BIO_READ, 100, 0, 1);
	now += MS;
	b = add(BIO_READ, 108, 0, 1);
	CHECK(elv->find_front(data, &bio, 108) == b);
	bio.op = BIO_WRITE;
	CHECK(!elv->find_front(data, &bio, 108));
	CHECK(elv->neighbour(data, a, ELV_LATTER) == b);
	CHECK(!elv->neighbour(data, a, ELV_FORMER));
	elv->absorbed(data, b, a); /* b takes a's older place */
	CHECK_EQ(b->deadline_ns, 501 * MS);
	b->sector = 100;
	elv->moved(data, b);
	CHECK(next() == b);
	CHECK(!next());
	free(a);
	free(b);
}

/* ---- cfq ---- */

HOST_TEST(cfq_slice_formula)
{
	/* 1 to 3 readers keep 100 ms; 16 get 300/16; 600 doubles that; never below 16 ms */
	for (u32 q = 0; q <= 3; q++)
		CHECK_EQ(cfq_sync_slice(100 * MS, 300 * MS, 8 * MS, q), 100 * MS);
	CHECK_EQ(cfq_sync_slice(100 * MS, 300 * MS, 8 * MS, 4), 75 * MS);
	CHECK_EQ(cfq_sync_slice(100 * MS, 300 * MS, 8 * MS, 16), 18750000);
	CHECK_EQ(cfq_sync_slice(100 * MS, 600 * MS, 8 * MS, 16), 37500000);
	CHECK_EQ(cfq_sync_slice(100 * MS, 600 * MS, 8 * MS, 6), 100 * MS);
	CHECK_EQ(cfq_sync_slice(100 * MS, 300 * MS, 8 * MS, 100), 16 * MS);
	CHECK_EQ(cfq_sync_slice(100 * MS, 600 * MS, 8 * MS, 100), 16 * MS);
}

/*
 * Readers that always have one request, each in its own place; a request takes 1 ms. => seeks
 * (changes of reader) and the longest stay with one reader in ms
 */
static void readers(int n, int ms, int *changes, int *longest)
{
	u64 pos[64];
	int last = -1, stay = 0;

	*changes = *longest = 0;
	for (int i = 0; i < n; i++) {
		pos[i] = 1000000ull * i;
		add(BIO_READ, pos[i], 0, 100 + i);
	}
	for (int t = 0; t < ms; t++) {
		struct request *rq = next();
		int who;

		CHECK(rq);
		who = rq->tid - 100;
		if (who != last) {
			(*changes)++;
			stay = 0;
		}
		last = who;
		stay++;
		*longest = max(*longest, stay);
		now += MS;
		end(rq);
		pos[who] += 8;
		add(BIO_READ, pos[who], 0, 100 + who);
	}
	while (take() >= 0 || again)
		now = max(now + MS, again);
}

HOST_TEST(cfq_readers_take_turns)
{
	int changes, longest;

	start("cfq");
	readers(3, 3000, &changes, &longest);
	CHECK(longest >= 100 && longest <= 102);
	CHECK(changes >= 29 && changes <= 31);
	start("cfq");
	readers(16, 3200, &changes, &longest);
	CHECK(longest >= 18 && longest <= 21);
	start("cfq");
	set_attr("target_latency", 600); /* half as many seeks */
	readers(16, 3200, &changes, &longest);
	CHECK(longest >= 37 && longest <= 40);
	CHECK(changes >= 80 && changes <= 90);
}

HOST_TEST(cfq_waits_for_the_reader)
{
	struct request *rq;

	start("cfq");
	add(BIO_READ, 0, 0, 1);
	add(BIO_READ, 90000, 0, 2);
	rq = next();
	CHECK_EQ(rq->tid, 1);
	CHECK(!next()); /* its reader will be back when this has ended */
	CHECK_EQ(again, 0);
	now += MS;
	end(rq);
	CHECK(!next());
	CHECK_EQ(again, now + 8 * MS);
	now += 2 * MS;
	add(BIO_READ, 8, 0, 1); /* within the wait */
	CHECK_EQ(take(), 8);
	CHECK(!next());
	now = again; /* it does not come back */
	CHECK_EQ(take(), 90000);
}

HOST_TEST(cfq_does_not_wait_for_thinkers)
{
	start("cfq");
	for (int i = 0; i < 30; i++) { /* learns: 20 ms between requests */
		add(BIO_READ, 8 * i, 0, 1);
		CHECK_EQ(take(), 8 * i);
		now += 20 * MS;
	}
	CHECK_EQ(take(), -1);
	CHECK_EQ(again, 0);
	add(BIO_READ, 1000, 0, 1);
	add(BIO_READ, 90000, 0, 2);
	CHECK_EQ(take(), 1000);
	CHECK_EQ(take(), 90000); /* at once */
}

HOST_TEST(cfq_sync_goes_before_async)
{
	struct request *w, *w2, *r;

	start("cfq");
	w = add(BIO_WRITE, 0, 0, 9);
	add(BIO_WRITE, 8, 0, 9);
	CHECK(next() == w);
	r = add(BIO_READ, 5000, 0, 1);
	CHECK(!next()); /* waits for the write to leave the disk */
	now += MS;
	end(w);
	CHECK(next() == r);
	CHECK(!next()); /* no writes beside it */
	now += MS;
	end(r);
	CHECK(!next());
	CHECK(again);
	now = again;
	w2 = next();
	CHECK(w2 && w2->sector == 8);
	end(w2);
}

HOST_TEST(cfq_merging_stays_at_home)
{
	struct bio bio = { .op = BIO_READ, .tid = 1 };
	struct request *rq;

	start("cfq");
	rq = add(BIO_READ, 0, 0, 1);
	CHECK(elv->allow_merge(data, rq, &bio));
	CHECK(elv->find_front(data, &bio, 0) == rq);
	bio.tid = 2;
	CHECK(!elv->allow_merge(data, rq, &bio));
	CHECK(!elv->find_front(data, &bio, 0));
	bio.op = BIO_WRITE;
	CHECK(!elv->allow_merge(data, rq, &bio));
	take();
	rq = add(BIO_WRITE, 0, 0, 1);
	CHECK(elv->allow_merge(data, rq, &bio)); /* asynchronous writes are everybody's */
	bio.flags = BIO_SYNC;
	CHECK(!elv->allow_merge(data, rq, &bio));
	take();
}

HOST_TEST(cfq_nearest)
{
	start("cfq");
	add(BIO_READ, 50000, 0, 1);
	CHECK_EQ(take(), 50000); /* the head is at 50008 */
	add(BIO_READ, 40000, 0, 1);
	add(BIO_READ, 49990, 0, 1); /* 18 behind, worth 36 */
	add(BIO_READ, 50100, 0, 1);
	add(BIO_READ, 60000, 0, 1);
	CHECK_EQ(take(), 49990);
	CHECK_EQ(take(), 50100);
	CHECK_EQ(take(), 60000);
	CHECK_EQ(take(), 40000);
}

/* ---- dice: everything that goes in comes out once, and next() never forgets to be asked again */

static void dice(const char *name)
{
	enum { MAX = 200 };
	struct request *driver[8];
	static u8 seen[200000];
	unsigned in_driver = 0, in = 0, given = 0, stuck = 0;

	start(name);
	memset(seen, 0, sizeof(seen));
	for (int step = 0; step < 60000; step++) {
		unsigned dice = host_random() % 4;

		if (dice == 0 && in - given < MAX && in < 190000 && step < 50000) {
			struct request *rq =
				add(host_random() % 3 ? BIO_READ : BIO_WRITE,
				    host_random() % 100000 * 8, host_random() % 4 ? 0 : BIO_SYNC,
				    host_random() % 300);

			rq->driver_data[0] = in++;
		} else if (dice == 1 && in_driver) {
			unsigned i = host_random() % in_driver;

			now += host_random() % (4 * MS);
			end(driver[i]);
			driver[i] = driver[--in_driver];
		} else if (in_driver < 8) {
			struct request *rq = next();

			if (rq) {
				CHECK(!seen[rq->driver_data[0]]);
				seen[rq->driver_data[0]] = 1;
				given++;
				driver[in_driver++] = rq;
				stuck = 0;
			} else if (!in_driver && given < in) {
				CHECK(again > now); /* nobody else would ask */
				now = again;
				CHECK(++stuck < 3);
			}
		}
	}
	while (given < in || in_driver) {
		struct request *rq = elv->next(data, now, &again, 1);

		CHECK(rq || in_driver);
		if (rq) {
			CHECK(!seen[rq->driver_data[0]]);
			seen[rq->driver_data[0]] = 1;
			given++;
			end(rq);
		} else {
			end(driver[--in_driver]);
		}
	}
	CHECK(!elv->next(data, now, &again, 1));
}

HOST_TEST(dice_noop)
{
	dice("noop");
}

HOST_TEST(dice_deadline)
{
	dice("deadline");
}

HOST_TEST(dice_cfq)
{
	dice("cfq");
}
