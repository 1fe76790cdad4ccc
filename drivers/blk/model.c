// SPDX-License-Identifier: BSD-2-Clause
/*
 * model.c - the driver of modelled disks: takes requests, lets a model (model.h) say how long each
 * takes, and ends them then.
 *
 * Problem: a disk that is exact in virtual time although the CPU comes late: a timer's softirq may
 * run microseconds after the moment it stands for. Idea: the device has a time of its own. The end
 * of one request is the beginning of the next, whatever time the CPU reads; the CPU only carries
 * out what has happened already.
 *
 *   queue_rq -> waiting (by arrival) --choose--> serving (by end) --timer--> ended --copy--> done
 *
 * Of the requests that wait, a model with position() gets the one it reaches first; one that has
 * waited for PATIENCE is taken in any case. Only requests that had arrived when the device became
 * free are candidates.
 * Data moves when a request has ended, in pieces of COPY_STEP bytes per turn of the timer, with
 * interrupts on; the device does not wait for it, as with DMA.
 *
 * Locks: (l) lock, softirqs off, RANK_BLK  (t) timer function alone  (o) set once
 */
#include "drivers/blk/model.h"
#include "drivers/blk/create.h"
#include "drivers/blk/diskmem.h"
#include "drivers/blk/model_store.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "kernel/time.h"
#include "lib/err.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/mutex.h"

#define COPY_STEP (128u << 10)
#define PATIENCE (500 * NSEC_PER_MSEC)
#define ENDS_PER_TURN 32
/* No memory for a page of the medium: try again, and give up after ten seconds. */
#define RETRY_NS (10 * NSEC_PER_MSEC)
#define RETRIES 1000

struct model_disk {
	struct disk *disk;
	spinlock_t lock;
	struct model model;	  /* (l) */
	struct list_head waiting; /* (l) requests by arrival */
	struct list_head serving; /* (l) by the time they end */
	struct list_head ended;	  /* (l) their data is to be moved */
	u32 nr_waiting, nr_serving;
	u64 free_ns; /* (l) device time: the last one served ended */
	struct timer timer;
	/* the request whose data is on the way */
	struct request *moving; /* (t) */
	struct rq_iter piece;	/* (t) */
	u64 sector;		/* (t) of the disk */
	u32 retries;		/* (t) */
	struct model_store store;
	bool mem_pages;				     /* (o) */
	u64 served[NR_BIO_OPS], sectors[NR_BIO_OPS]; /* (l) */
	u64 busy_ns, busy_until;		     /* (l) time with something in service */
	u64 no_memory;				     /* (t) */
};
#define RQ_ARRIVED(rq) ((rq)->driver_data[0])
#define RQ_ENDS(rq) ((rq)->driver_data[1])

static void lock(struct model_disk *d)
{
	softirq_disable();
	spin_lock(&d->lock);
}

static void unlock(struct model_disk *d)
{
	spin_unlock(&d->lock);
	softirq_enable();
}

static struct model_rq describe(const struct request *rq)
{
	static const u8 op[NR_BIO_OPS] = { MODEL_READ, MODEL_WRITE, MODEL_FLUSH, MODEL_DISCARD,
					   MODEL_DISCARD };

	return (struct model_rq){ .sector = rq->sector,
				  .nr_sectors = rq->op == BIO_FLUSH ? 0 : rq->nr_sectors,
				  .op = op[rq->op],
				  .fua = !!(rq->flags & BIO_FUA) };
}

/* The next request to serve; *now is when the device can begin it. => something waits */
static struct request *choose_locked(struct model_disk *d, u64 *now)
{
	struct request *first = list_first_entry(&d->waiting, struct request, node);
	struct request *rq, *best = first;
	u64 best_ns = U64_MAX;

	*now = RQ_ARRIVED(first);
	if (!d->model.kind->parallel)
		return first;
	*now = max_t(u64, *now, d->free_ns);
	if (!d->model.kind->position || *now - RQ_ARRIVED(first) > PATIENCE)
		return first;
	list_for_each_entry(rq, &d->waiting, node) {
		struct model_rq m;
		u64 ns;

		if (RQ_ARRIVED(rq) > *now)
			break;
		m = describe(rq);
		ns = d->model.kind->position(&d->model, &m, *now);
		if (ns < best_ns) {
			best = rq;
			best_ns = ns;
		}
		if (!ns)
			break;
	}
	return best;
}

static void serve_locked(struct model_disk *d, struct request *rq, u64 now)
{
	struct model_rq m = describe(rq);
	struct request *after;
	struct list_head *at = &d->serving;

	list_del(&rq->node);
	d->nr_waiting--;
	RQ_ENDS(rq) = d->model.kind->start(&d->model, &m, now);
	list_for_each_entry_reverse(after, &d->serving, node) {
		if (RQ_ENDS(after) <= RQ_ENDS(rq)) {
			at = &after->node;
			break;
		}
	}
	list_add(&rq->node, at);
	d->nr_serving++;
	d->served[rq->op]++;
	d->sectors[rq->op] += m.nr_sectors;
	if (RQ_ENDS(rq) > d->busy_until) {
		d->busy_ns += RQ_ENDS(rq) - max_t(u64, now, d->busy_until);
		d->busy_until = RQ_ENDS(rq);
	}
}

static void feed_locked(struct model_disk *d)
{
	u32 parallel = d->model.kind->parallel;

	while (d->nr_waiting && (!parallel || d->nr_serving < parallel)) {
		u64 now;
		struct request *rq = choose_locked(d, &now);

		serve_locked(d, rq, now);
	}
}

static int model_queue_rq(struct disk *disk, struct request *rq)
{
	struct model_disk *d = disk->private;
	struct request *first;

	RQ_ARRIVED(rq) = ktime_get();
	lock(d);
	list_add_tail(&rq->node, &d->waiting);
	d->nr_waiting++;
	feed_locked(d);
	first = list_first_entry_or_null(&d->serving, struct request, node);
	/* only ever earlier: it may stand on data that wait to be moved */
	if (first && (!timer_pending(&d->timer) || RQ_ENDS(first) < d->timer.expires))
		timer_start(&d->timer, RQ_ENDS(first));
	unlock(d);
	return 0;
}

/* Requests that have ended by now leave the device, which goes on with others meanwhile. */
static void take_ended_locked(struct model_disk *d, u64 now)
{
	for (u32 i = 0; i < ENDS_PER_TURN && d->nr_serving; i++) {
		struct request *rq = list_first_entry(&d->serving, struct request, node);

		if (RQ_ENDS(rq) > now)
			return;
		list_move_tail(&rq->node, &d->ended);
		d->nr_serving--;
		d->free_ns = max_t(u64, d->free_ns, RQ_ENDS(rq));
		feed_locked(d);
	}
}

static int move_piece(struct model_disk *d, u32 bytes)
{
	const struct request *rq = d->moving;
	bool meta = d->piece.bio->flags & BIO_META;

	if (rq->op == BIO_WRITE)
		return store_write(&d->store, d->sector, d->piece.addr, bytes, meta);
	store_read(&d->store, d->sector, d->piece.addr, bytes);
	return 0;
}

/* Moves at most *budget bytes of d->moving. => 1: all of it moved; 0: not yet; -ENOMEM */
static int move_data(struct model_disk *d, u32 *budget)
{
	struct request *rq = d->moving;
	u64 end = rq->sector + rq->nr_sectors;
	int err;

	if (rq->op == BIO_FLUSH)
		return 1;
	if (rq->op != BIO_READ && rq->op != BIO_WRITE) {
		d->sector += store_clear(&d->store, d->sector, end - d->sector);
		*budget = 0;
		return d->sector >= end;
	}
	while (*budget) {
		u32 n;

		if (!d->piece.bytes && !rq_next_piece(rq, &d->piece))
			return 1;
		n = min_t(u32, d->piece.bytes, *budget);
		err = move_piece(d, n);
		if (err)
			return err;
		d->piece.addr = (char *)d->piece.addr + n;
		d->piece.bytes -= n;
		d->sector += n >> SECTOR_SHIFT;
		*budget -= n;
	}
	return 0;
}

/* => NULL: nothing has ended */
static struct request *next_moving(struct model_disk *d)
{
	struct request *rq;

	if (d->moving)
		return d->moving;
	lock(d);
	rq = list_first_entry_or_null(&d->ended, struct request, node);
	if (rq)
		list_del_init(&rq->node);
	unlock(d);
	d->moving = rq;
	if (rq) {
		d->piece = (struct rq_iter){ 0 };
		d->sector = rq->sector;
		d->retries = 0;
	}
	return rq;
}

static int no_memory(struct model_disk *d)
{
	d->no_memory++;
	if (++d->retries <= RETRIES)
		return -EAGAIN;
	pr_err("%s: no memory for sector %llu of the medium, write fails", d->disk->name,
	       (unsigned long long)d->sector);
	return -EIO;
}

/* => when the timer shall run again; KTIME_MAX: when somebody comes */
static ktime_t model_turn(struct model_disk *d)
{
	u32 budget = COPY_STEP;
	struct request *rq;
	ktime_t next;
	int ret;

	lock(d);
	take_ended_locked(d, ktime_get());
	unlock(d);
	while (budget && (rq = next_moving(d))) {
		/* a data-less end costs some, too, so that a turn stays short */
		budget -= min_t(u32, budget, COPY_STEP / ENDS_PER_TURN);
		ret = move_data(d, &budget);
		if (!ret)
			break;
		if (ret == -ENOMEM)
			ret = no_memory(d);
		if (ret == -EAGAIN)
			return ktime_get() + RETRY_NS;
		d->moving = NULL;
		blk_end_request(rq, ret < 0 ? ret : 0);
	}
	lock(d);
	rq = list_first_entry_or_null(&d->serving, struct request, node);
	next = d->moving || !list_empty(&d->ended) ? ktime_get() : rq ? RQ_ENDS(rq) : KTIME_MAX;
	if (next != KTIME_MAX)
		timer_start(&d->timer, next);
	unlock(d);
	return KTIME_MAX;
}

static void model_timer(struct timer *t)
{
	struct model_disk *d = container_of(t, struct model_disk, timer);
	ktime_t again = model_turn(d);

	if (again != KTIME_MAX)
		timer_start(t, again);
}

/* ---- what one sees --------------------------------------------------------------------------- */

static void show_creation(struct model_disk *d, struct seq *seq)
{
	char text[32];

	seq_printf(seq, "%s:", d->model.kind->name);
	for (u32 i = 0; i < d->model.kind->nr_params; i++) {
		model_format(&d->model, i, text, sizeof(text));
		seq_printf(seq, "%s%s=%s", i ? "," : "", d->model.kind->params[i].name, text);
	}
	if (d->store.discard)
		seq_puts(seq, ",discard");
	else
		seq_printf(seq, ",mem=%s", d->mem_pages ? "pages" : "diskmem");
	seq_putc(seq, '\n');
}

static void model_show(struct disk *disk, struct seq *seq)
{
	static const char *const ops[NR_BIO_OPS] = { "reads", "writes", "flushes", "discards",
						     "zeroes" };
	struct model_disk *d = disk->private;
	char text[160];

	show_creation(d, seq);
	for (u32 i = 0; i < d->model.kind->nr_params; i++) {
		const struct model_param *p = &d->model.kind->params[i];

		model_format(&d->model, i, text, sizeof(text));
		seq_printf(seq, "%-12s %-12s %s%s\n", p->name, text, p->live ? "(live) " : "",
			   p->about);
	}
	for (u32 i = 0; i < NR_BIO_OPS; i++)
		if (d->served[i])
			seq_printf(seq, "%s %llu sectors %llu\n", ops[i],
				   (unsigned long long)d->served[i],
				   (unsigned long long)d->sectors[i]);
	seq_printf(seq, "busy_us %llu kept_kb %llu dropped_kb %llu pages %llu no_memory %llu\n",
		   (unsigned long long)d->busy_ns / 1000,
		   (unsigned long long)d->store.kept_bytes >> 10,
		   (unsigned long long)d->store.dropped_bytes >> 10,
		   (unsigned long long)d->store.nr_pages, (unsigned long long)d->no_memory);
	if (d->model.kind->state) {
		d->model.kind->state(&d->model, text, sizeof(text));
		seq_printf(seq, "%s\n", text);
	}
}

/* "name=value" written to the file: a live parameter. */
static int model_store_line(struct disk *disk, const char *text)
{
	struct model_disk *d = disk->private;
	struct model *before;
	char line[64], *value;
	const char *wrong = NULL;
	int err;

	if (strscpy(line, text, sizeof(line)) < 0)
		return -EINVAL;
	value = strchr(strstrip(line), '=');
	if (!value)
		return -EINVAL;
	*value++ = 0;
	before = kmemdup(&d->model, sizeof(d->model), GFP_KERNEL);
	if (!before)
		return -ENOMEM;
	lock(d);
	memcpy(before->p, d->model.p, sizeof(before->p));
	err = model_set(&d->model, strstrip(line), value, true);
	if (!err)
		wrong = model_ready(&d->model);
	if (wrong) { /* back to what was right */
		memcpy(d->model.p, before->p, sizeof(before->p));
		model_ready(&d->model);
		err = -EINVAL;
	}
	unlock(d);
	kfree(before);
	if (err)
		pr_warn("%s: model: %s=%s: %s", disk->name, strstrip(line), strstrip(value),
			wrong		 ? wrong
			: err == -EBUSY	 ? "cannot change while the disk is in use"
			: err == -ENOENT ? "no such parameter"
			: err == -ERANGE ? "out of range"
					 : "not a value");
	return err;
}

static void model_release(struct disk *disk)
{
	struct model_disk *d = disk->private;

	if (!d) /* it never was added */
		return;
	timer_cancel_sync(&d->timer);
	store_destroy(&d->store);
	kfree(d);
}

static const struct disk_ops model_ops = {
	.queue_rq = model_queue_rq,
	.release = model_release,
	.show = model_show,
	.store = model_store_line,
};

/* ---- creation -------------------------------------------------------------------------------- */

/* Options of the driver itself. => 1: not one of them */
static int driver_option(struct model_disk *d, const char *name, const char *value)
{
	if (!strcmp(name, "discard")) {
		bool on = true;
		int err = value ? parse_bool(value, &on) : 0;

		d->store.discard = on;
		return err;
	}
	if (strcmp(name, "mem"))
		return 1;
	if (!value || (strcmp(value, "pages") && strcmp(value, "diskmem")))
		return -EINVAL;
	d->mem_pages = !strcmp(value, "pages");
	return 0;
}

static int parse_options(struct model_disk *d, char *args)
{
	const char *kind = d->model.kind->name, *wrong;
	char *word;

	while ((word = strsep(&args, ", \t\n"))) {
		char *value = strchr(word, '=');
		int err;

		if (!*word)
			continue;
		if (value)
			*value++ = 0;
		err = driver_option(d, word, value);
		if (err == 1)
			err = model_set(&d->model, word, value, false);
		if (!err)
			continue;
		pr_err("%s: %s%s%s: %s", kind, word, value ? "=" : "", value ? value : "",
		       err == -ENOENT	? "no such parameter"
		       : err == -ERANGE ? "out of range"
					: "not a value");
		return -EINVAL;
	}
	wrong = model_ready(&d->model);
	if (wrong)
		pr_err("%s: %s", kind, wrong);
	return wrong ? -EINVAL : 0;
}

static void set_limits(const struct model_disk *d, struct disk_limits *l)
{
	bool ssd = d->model.kind == &model_ssd;

	l->queue_depth = d->model.p[MP_DEPTH];
	l->rotational = d->model.kind->rotational;
	l->discard = l->write_zeroes = ssd;
	for (u32 i = 0; i < d->model.kind->nr_params; i++)
		if (!strcmp(d->model.kind->params[i].name, "cache"))
			l->write_cache = l->fua = d->model.p[i] > 0;
}

static int open_store(struct model_disk *d)
{
	bool discard = d->store.discard;
	int err = store_init(&d->store, d->model.nr_sectors, d->mem_pages, discard);

	if (err)
		pr_err("%s: size=%lluM: the largest free piece of diskmem= has %lluM (or say "
		       "mem=pages or discard)",
		       d->model.kind->name, (unsigned long long)d->model.p[MP_SIZE] >> 20,
		       (unsigned long long)diskmem_free_bytes() >> 20);
	return err;
}

static struct disk *add_disk(struct model_disk *d)
{
	char name[DISK_NAME];
	struct disk *disk;
	int err = disk_name_next(d->model.kind->name, name);

	if (err < 0)
		return ERR_PTR(err);
	disk = disk_alloc(name, &model_ops, d);
	if (!disk)
		return ERR_PTR(-ENOMEM);
	d->disk = disk;
	disk->nr_sectors = d->model.nr_sectors;
	set_limits(d, &disk->limits);
	disk->in_order = !d->model.kind->rotational;
	err = disk_add(disk);
	if (!err)
		return disk;
	disk->private = NULL;
	disk_put(disk);
	return ERR_PTR(err);
}

static struct disk *model_create(const struct model_kind *kind, char *args)
{
	struct model_disk *d = kzalloc(sizeof(*d), GFP_KERNEL);
	struct disk *disk;
	int err;

	if (!d)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&d->lock, RANK_BLK, "model_disk");
	list_init(&d->waiting);
	list_init(&d->serving);
	list_init(&d->ended);
	timer_init(&d->timer, model_timer);
	model_init(&d->model, kind);
	err = parse_options(d, args);
	if (!err)
		err = open_store(d);
	if (err) {
		kfree(d);
		return ERR_PTR(err);
	}
	disk = add_disk(d);
	if (IS_ERR(disk)) {
		pr_err("%s: not added: error %ld", kind->name, -PTR_ERR(disk));
		store_destroy(&d->store);
		kfree(d);
	}
	return disk;
}

static struct disk *hdd_create(char *args)
{
	return model_create(&model_hdd, args);
}
static struct disk *ssd_create(char *args)
{
	return model_create(&model_ssd, args);
}
static struct disk *usb_create(char *args)
{
	return model_create(&model_usb, args);
}
static struct disk *bw_create(char *args)
{
	return model_create(&model_bw, args);
}
DISK_MODEL("hdd", hdd_create, "rotating disk: zones, seek by distance, rotation");
DISK_MODEL("ssd", ssd_create, "solid-state disk: channels, dies, read and program latency, erase");
DISK_MODEL("usb", usb_create, "a slow stick: one request at a time");
DISK_MODEL("bw", bw_create, "a wire of constant rate: no seeks");
