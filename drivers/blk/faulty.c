// SPDX-License-Identifier: BSD-2-Clause
/*
 * faulty.c - a disk over another disk that fails as it is told: late, wrong, torn, frozen, or with
 * a volatile cache (faulty_cache.c). The rules are text (fault_rules.h), given when it is made and
 * changed at any time in /sys/block/faultyN/rules; /sys/block/faultyN/stats counts what was done.
 *
 *   bio -> judge: the rules, the freeze -> error? torn? -> cache, or a clone to the disk below
 *       <- the delay of the rules <- its end
 *
 * Freezing is a power cut as the medium sees it: from that write (or that moment) on nothing
 * reaches it, and every request ends with EIO, or hangs until `thaw`. Without a cache the write
 * that freezes it is torn: a seeded part of its sectors reaches the medium. `thaw` decides what of
 * the cache survives the cut (a seeded subset) and lets requests through again.
 *
 * Locks: faulty_lock (softirqs off) for plan and counters, cache_mutex for the cache; the table of
 * devices has a mutex of its own.
 */
#include "drivers/blk/faulty.h"
#include "drivers/blk/create.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "lib/err.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

#define MAX_FAULTY 16
#define MAX_DEPTH 3 /* each one below holds its lock while the next works */
static DEFINE_MUTEX(table_mutex, RANK_DISK);
static struct faulty *table[MAX_FAULTY];

/* One bio on its way. */
struct faulty_io {
	struct faulty *f;
	struct bio *bio;
	u64 delay_ns;
	int error;
	struct timer timer;
	struct list_head node; /* f->hung, or kept */
	bool of_kept;
};
/*
 * Some that need no memory, for all such disks: who writes out dirty pages comes here when there is
 * none, and a disk fails as told, not for that.
 */
#define IO_KEPT 32u
static struct faulty_io kept_ios[IO_KEPT];
static LIST_HEAD(kept); /* (kept_lock) */
static DEFINE_SPINLOCK(kept_lock, RANK_BLK);
static DEFINE_WAIT_QUEUE(kept_wait);

static struct faulty_io *kept_take(void)
{
	struct faulty_io *io;

	softirq_disable();
	spin_lock(&kept_lock);
	io = list_first_entry_or_null(&kept, struct faulty_io, node);
	if (io)
		list_del(&io->node);
	spin_unlock(&kept_lock);
	softirq_enable();
	return io;
}

static void kept_give(struct faulty_io *io)
{
	softirq_disable();
	spin_lock(&kept_lock);
	io->of_kept = true;
	list_add(&io->node, &kept);
	spin_unlock(&kept_lock);
	softirq_enable();
	wake_up_all(&kept_wait);
}

/* => thread context; may sleep until another comes back */
static struct faulty_io *io_alloc(void)
{
	struct faulty_io *io = kmalloc(sizeof(*io), GFP_NOWAIT | __GFP_NOWARN);

	if (likely(io))
		io->of_kept = false;
	else
		wait_event(&kept_wait, (io = kept_take()));
	return io;
}

static void io_free(struct faulty_io *io)
{
	if (io->of_kept)
		kept_give(io);
	else
		kfree(io);
}

void faulty_lock(struct faulty *f)
{
	softirq_disable();
	spin_lock(&f->lock);
}

void faulty_unlock(struct faulty *f)
{
	spin_unlock(&f->lock);
	softirq_enable();
}

bool faulty_chance(struct faulty *f, u32 per_cent)
{
	bool yes;

	faulty_lock(f);
	yes = rng_below(&f->rng, 100) < per_cent;
	faulty_unlock(f);
	return yes;
}

/* ---- freezing -------------------------------------------------------------------------------- */

static void freeze_locked(struct faulty *f)
{
	WRITE_ONCE(f->frozen, 1);
	f->frozen_ns = ktime_get();
	f->plan.freeze_at = f->plan.freeze_after = 0;
}

static void freeze_timer(struct timer *t)
{
	struct faulty *f = container_of(t, struct faulty, freeze_timer);

	faulty_lock(f);
	if (f->plan.freeze_at && !f->frozen)
		freeze_locked(f);
	faulty_unlock(f);
}

/* => true: frozen by this very one */
static bool count_write_locked(struct faulty *f)
{
	f->writes++;
	if (!f->plan.freeze_after || f->writes < f->plan.freeze_after)
		return false;
	freeze_locked(f);
	return true;
}

bool faulty_may_write(struct faulty *f)
{
	bool may;

	faulty_lock(f);
	may = !f->frozen && !count_write_locked(f);
	faulty_unlock(f);
	return may;
}

/* ---- runs of writes to the disk below -------------------------------------------------------- */

void run_start(struct faulty_run *run, struct faulty *f)
{
	*run = (struct faulty_run){ .f = f };
	atomic_set(&run->left, 1);
	completion_init(&run->done);
}

static void run_left(struct faulty_run *run)
{
	if (atomic_dec_and_test(&run->left))
		complete(&run->done);
}

static void run_end_io(struct bio *bio)
{
	struct faulty_run *run = bio->private;

	if (bio->error)
		WRITE_ONCE(run->error, bio->error);
	bio_put(bio);
	run_left(run);
}

static void run_send(struct faulty_run *run)
{
	struct bio *bio = run->bio;

	run->bio = NULL;
	if (!bio)
		return;
	if (run->refused || (!run->force && !faulty_may_write(run->f))) {
		run->refused = true;
		bio_put(bio);
		return;
	}
	for (u32 i = 0; run->sent && i < bio->nr_vecs; i++)
		run->sent(&bio->vecs[i]);
	bio->end_io = run_end_io;
	bio->private = run;
	bio->flags |= BIO_SYNC | BIO_META;
	atomic_inc(&run->left);
	submit_bio(bio);
}

static bool run_append(struct bio *bio, const struct bio_vec *v)
{
	return v->page ? bio_add_page(bio, v->page, v->off, v->len)
		       : bio_add_memory(bio, v->addr, v->len);
}

void run_add(struct faulty_run *run, u64 sector, struct bio_vec v)
{
	if (run->bio && (sector != run->next || !run_append(run->bio, &v)))
		run_send(run);
	if (!run->bio && !run->refused) {
		run->bio = bio_alloc(run->f->lower, BIO_WRITE, sector, 64, GFP_NOIO);
		if (!run->bio || !run_append(run->bio, &v)) {
			run->error = -EIO;
			return;
		}
		run->next = sector;
	}
	run->next += v.len >> SECTOR_SHIFT;
}

int run_finish(struct faulty_run *run)
{
	run_send(run);
	run_left(run);
	wait_for_completion(&run->done);
	return run->error ? run->error : run->refused ? -ESHUTDOWN : 0;
}

bool bio_next_piece(const struct bio *bio, struct bio_piece *p)
{
	const struct bio_vec *v;
	u32 room;

	if (!p->vec && !p->done)
		p->sector = bio->disk_sector;
	else
		p->sector += p->v.len >> SECTOR_SHIFT;
	if (p->vec < bio->nr_vecs && p->done == bio->vecs[p->vec].len) {
		p->vec++;
		p->done = 0;
	}
	if (p->vec == bio->nr_vecs)
		return false;
	v = &bio->vecs[p->vec];
	room = PAGE_SIZE - (p->sector % 8 << SECTOR_SHIFT);
	p->v = (struct bio_vec){ .page = v->page,
				 .addr = v->page ? NULL : (char *)v->addr + p->done,
				 .off = v->page ? v->off + p->done : 0,
				 .len = min_t(u32, v->len - p->done, room) };
	p->done += p->v.len;
	return true;
}

/* ---- one bio --------------------------------------------------------------------------------- */

static void io_timer(struct timer *t)
{
	struct faulty_io *io = container_of(t, struct faulty_io, timer);

	bio_end(io->bio, io->error);
	io_free(io);
}

static void io_end(struct faulty_io *io, int error)
{
	io->error = error == -ESHUTDOWN ? -EIO : error;
	if (io->delay_ns)
		timer_start(&io->timer, ktime_get() + io->delay_ns);
	else
		io_timer(&io->timer);
}

static void clone_end_io(struct bio *clone)
{
	struct faulty_io *io = clone->private;
	int error = clone->error;

	bio_put(clone);
	io_end(io, error);
}

static void pass_down(struct faulty_io *io)
{
	struct bio *clone = bio_clone(io->bio, io->f->lower, io->bio->disk_sector, GFP_NOIO);

	if (!clone) {
		io_end(io, -EIO);
		return;
	}
	clone->end_io = clone_end_io;
	clone->private = io;
	submit_bio(clone);
}

/* A seeded part of the sectors reaches the medium. */
static void tear(struct faulty *f, const struct bio *bio)
{
	struct bio_piece p = { 0 };
	struct faulty_run run;
	u64 lost = 0;

	run_start(&run, f);
	run.force = true;
	while (bio_next_piece(bio, &p)) {
		for (u32 at = 0; at < p.v.len; at += SECTOR_SIZE) {
			struct bio_vec v = p.v;

			if (!faulty_chance(f, 50)) {
				lost++;
				continue;
			}
			v.len = SECTOR_SIZE;
			v.off += v.page ? at : 0;
			v.addr = v.page ? NULL : (char *)v.addr + at;
			run_add(&run, p.sector + (at >> SECTOR_SHIFT), v);
		}
	}
	run_finish(&run);
	faulty_lock(f);
	f->stats.torn++;
	f->stats.torn_lost += lost;
	faulty_unlock(f);
}

enum gate { GATE_OPEN, GATE_FROZEN, GATE_LAST };

static enum gate enter(struct faulty *f, struct bio *bio, struct fault_verdict *v)
{
	static const u8 ops[NR_BIO_OPS] = { FAULT_READ, FAULT_WRITE, FAULT_FLUSH };
	enum gate gate = GATE_OPEN;

	faulty_lock(f);
	f->stats.asked[bio->op]++;
	*v = (struct fault_verdict){ 0 };
	if (unlikely(!f->ready)) { /* its partition table is being read */
		gate = GATE_OPEN;
	} else if (f->frozen) {
		gate = GATE_FROZEN;
	} else if (bio->op == BIO_WRITE && count_write_locked(f)) {
		gate = f->caching || f->plan.cache ? GATE_FROZEN : GATE_LAST;
	} else if (f->plan.nr) {
		fault_judge(&f->plan, &f->rng, ops[bio->op], bio->disk_sector,
			    bio->bytes >> SECTOR_SHIFT, v);
		f->stats.errors += !!v->error;
		f->stats.delays += !!v->delay_ns;
		f->stats.delay_ns += v->delay_ns;
	}
	faulty_unlock(f);
	return gate;
}

/* Frozen: EIO, or it waits for the thaw. */
static void refuse(struct faulty_io *io)
{
	struct faulty *f = io->f;
	bool hang;

	faulty_lock(f);
	hang = f->frozen && f->plan.hang;
	if (hang) {
		list_add_tail(&io->node, &f->hung);
		f->stats.hung++;
	} else {
		f->stats.refused++;
	}
	faulty_unlock(f);
	if (!hang)
		io_end(io, -EIO);
}

static void through_cache(struct faulty_io *io)
{
	struct faulty *f = io->f;
	int ret;

	if (io->bio->op == BIO_READ)
		ret = cache_read(f, io->bio);
	else if (io->bio->op == BIO_FLUSH)
		ret = cache_flush(f);
	else
		ret = cache_write(f, io->bio);
	if (ret == -ESHUTDOWN)
		refuse(io);
	else if (ret == 1)
		pass_down(io);
	else
		io_end(io, ret);
}

static void faulty_submit(struct disk *disk, struct bio *bio)
{
	struct faulty *f = disk->private;
	struct faulty_io *io = io_alloc();
	struct fault_verdict v;
	enum gate gate;

	gate = enter(f, bio, &v);
	io->f = f;
	io->bio = bio;
	io->delay_ns = v.delay_ns;
	timer_init(&io->timer, io_timer);
	if (gate == GATE_LAST)
		tear(f, bio);
	if (gate != GATE_OPEN) {
		refuse(io);
	} else if (v.error) {
		io_end(io, v.error);
	} else if (v.torn && bio->bytes > SECTOR_SIZE) {
		tear(f, bio);
		io_end(io, v.silent ? 0 : -EIO);
	} else if (READ_ONCE(f->caching) || READ_ONCE(f->plan.cache)) {
		through_cache(io);
	} else {
		pass_down(io);
	}
}

/* ---- rules and statistics -------------------------------------------------------------------- */

static int thaw(struct faulty *f)
{
	struct faulty_io *io;
	bool was = READ_ONCE(f->frozen);
	int err = was ? cache_power_cut(f) : 0;

	faulty_lock(f);
	WRITE_ONCE(f->frozen, 0);
	f->plan.freeze_at = f->plan.freeze_after = 0;
	while ((io = list_first_entry_or_null(&f->hung, struct faulty_io, node))) {
		list_del(&io->node);
		faulty_unlock(f);
		io_end(io, -EIO); /* the power was off: they never happened */
		faulty_lock(f);
	}
	faulty_unlock(f);
	return err;
}

static int obey(struct faulty *f, int command)
{
	switch (command) {
	case FAULT_CMD_FREEZE:
		faulty_lock(f);
		f->writes = 0;
		faulty_unlock(f);
		if (f->plan.freeze_at)
			timer_start(&f->freeze_timer, f->plan.freeze_at);
		return 0;
	case FAULT_CMD_FREEZE_NOW:
		faulty_lock(f);
		freeze_locked(f);
		faulty_unlock(f);
		return 0;
	case FAULT_CMD_SEED:
		faulty_lock(f);
		rng_seed(&f->rng, f->plan.seed);
		faulty_unlock(f);
		return 0;
	case FAULT_CMD_THAW:
		return thaw(f);
	case FAULT_CMD_CACHE:
		return f->plan.cache || f->frozen ? 0 : cache_flush(f);
	}
	return 0;
}

/* One line. 0 or -errno after a line in the log */
static int rule_line(struct faulty *f, char *line)
{
	const char *wrong = "";
	char copy[128];
	int command;

	strlcpy(copy, line, sizeof(copy));
	faulty_lock(f);
	command = fault_parse(&f->plan, line, ktime_get(), &wrong);
	faulty_unlock(f);
	if (command < 0) {
		pr_err("%s: rule \"%s\" is not understood: %s", f->disk ? f->disk->name : "faulty",
		       copy, wrong);
		return command;
	}
	return obey(f, command);
}

static struct faulty *faulty_get(long number)
{
	struct faulty *f;

	mutex_lock(&table_mutex);
	f = table[number];
	if (f)
		disk_get(f->disk);
	mutex_unlock(&table_mutex);
	return f;
}

static ssize_t rules_store(const char *text, size_t n, long index)
{
	struct faulty *f = faulty_get(index);
	char *copy, *rest, *line;
	int err = 0;

	if (!f)
		return -ENXIO;
	copy = rest = kstrdup(text, GFP_KERNEL);
	if (!copy)
		err = -ENOMEM;
	while (!err && (line = strsep(&rest, "\n;"))) {
		line = strstrip(line);
		if (*line)
			err = rule_line(f, line);
	}
	kfree(copy);
	disk_put(f->disk);
	return err ? err : (ssize_t)n;
}

static void show_plan(struct seq *seq, const struct fault_plan *plan)
{
	char text[160];

	for (u32 i = 0; i < plan->nr; i++) {
		fault_format(&plan->rule[i], text, sizeof(text));
		seq_printf(seq, "%s\n", text);
	}
	if (plan->freeze_after)
		seq_printf(seq, "freeze after=%llu %s\n", (unsigned long long)plan->freeze_after,
			   plan->hang ? "hang" : "eio");
	if (plan->freeze_at)
		seq_printf(seq, "freeze at=%lluns %s\n", (unsigned long long)plan->freeze_at,
			   plan->hang ? "hang" : "eio");
	seq_printf(seq, "cache %s destage=%u%% keep=%u%% unit=%u\nseed %llu\n",
		   plan->cache ? "on" : "off", plan->destage, plan->keep, plan->unit,
		   (unsigned long long)plan->seed);
}

static int rules_show(struct seq *seq)
{
	struct faulty *f = faulty_get(seq->index);
	struct fault_plan *plan;

	if (!f)
		return -ENXIO;
	plan = kmalloc(sizeof(*plan), GFP_KERNEL);
	if (plan) {
		faulty_lock(f);
		*plan = f->plan;
		faulty_unlock(f);
		show_plan(seq, plan);
	}
	kfree(plan);
	disk_put(f->disk);
	return plan ? 0 : -ENOMEM;
}

static int stats_show(struct seq *seq)
{
	struct faulty *f = faulty_get(seq->index);
	const struct {
		const char *name;
		const u64 *value;
	} rows[] = {
		{ "reads", &f->stats.asked[BIO_READ] },
		{ "writes", &f->stats.asked[BIO_WRITE] },
		{ "flushes", &f->stats.asked[BIO_FLUSH] },
		{ "errors", &f->stats.errors },
		{ "delays", &f->stats.delays },
		{ "delay_ns", &f->stats.delay_ns },
		{ "torn", &f->stats.torn },
		{ "torn_lost_sectors", &f->stats.torn_lost },
		{ "refused", &f->stats.refused },
		{ "hung", &f->stats.hung },
		{ "cached_sectors", &f->stats.cached },
		{ "flushed_sectors", &f->stats.flushed },
		{ "destaged_sectors", &f->stats.destaged },
		{ "kept_sectors", &f->stats.kept },
		{ "dropped_sectors", &f->stats.dropped },
		{ "write_through", &f->stats.write_through },
		{ "counted_writes", &f->writes },
		{ "cache_pages", &f->cache_pages },
		{ "frozen_at_ns", &f->frozen_ns },
	};

	if (!f)
		return -ENXIO;
	seq_printf(seq, "over %s\nfrozen %u\n", f->lower->name, READ_ONCE(f->frozen));
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		seq_printf(seq, "%s %llu\n", rows[i].name, (unsigned long long)*rows[i].value);
	for (u32 i = 0; i < f->plan.nr; i++)
		seq_printf(seq, "rule %u seen %llu hits %llu\n", i,
			   (unsigned long long)f->plan.rule[i].seen,
			   (unsigned long long)f->plan.rule[i].hits);
	disk_put(f->disk);
	return 0;
}

static int nr_faulty(void)
{
	return MAX_FAULTY;
}

static bool faulty_present(long i)
{
	return READ_ONCE(table[i]);
}
SHOW_ARRAY("/sys/block/faulty%d/rules", 0644, nr_faulty, faulty_present, rules_show, rules_store);
SHOW_ARRAY("/sys/block/faulty%d/stats", 0444, nr_faulty, faulty_present, stats_show, NULL);

static void faulty_show(struct disk *disk, struct seq *seq)
{
	struct faulty *f = disk->private;

	seq_printf(seq, "faulty:over=%s,seed=%llu\n", f->lower->name,
		   (unsigned long long)f->plan.seed);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(struct faulty *f)
{
	timer_cancel_sync(&f->freeze_timer);
	cache_drop_all(f);
	if (f->lower)
		blk_part_put(f->lower);
	kfree(f);
}

/* The last user is gone. A clean farewell: what is in the cache of a living disk is written. */
static void faulty_release(struct disk *disk)
{
	struct faulty *f = disk->private;

	if (!f)
		return;
	if (!f->frozen && f->cache_pages)
		cache_flush(f);
	destroy(f);
}

/* It leaves the table first, so that no new reader of /sys finds it. */
static void faulty_removed(struct disk *disk)
{
	struct faulty *f = disk->private;

	mutex_lock(&table_mutex);
	if (table[f->number] == f)
		table[f->number] = NULL;
	mutex_unlock(&table_mutex);
	thaw(f);
}

static const struct disk_ops faulty_ops = {
	.submit_bio = faulty_submit,
	.release = faulty_release,
	.removed = faulty_removed,
	.show = faulty_show,
};

static int one_option(struct faulty *f, char *name, char *value)
{
	static const char *const switches[] = { "cache", "destage", "keep", "unit", "freeze" };
	char line[128] = "";

	if (!strcmp(name, "over") && value)
		return 0; /* find_lower has seen it */
	if (!strcmp(name, "rule") && value)
		return rule_line(f, value);
	if (!strcmp(name, "seed") && value && !parse_u64(value, &f->plan.seed))
		return obey(f, FAULT_CMD_SEED);
	for (u32 i = 0; i < ARRAY_SIZE(switches); i++) {
		if (strcmp(name, switches[i]))
			continue;
		/* cache; destage=N and the like belong to it; freeze=hang */
		if (!strcmp(name, "freeze")) {
			if (!value || (strcmp(value, "hang") && strcmp(value, "eio")))
				return -EINVAL;
			f->plan.hang = *value == 'h';
			return 0;
		}
		if (i && !value)
			return -EINVAL;
		strlcpy(line, f->plan.cache || !i ? "cache on " : "cache off ", sizeof(line));
		if (i) {
			strlcat(line, name, sizeof(line));
			strlcat(line, "=", sizeof(line));
		}
		strlcat(line, value ? value : "", sizeof(line));
		return rule_line(f, line);
	}
	return -ENOENT;
}

/* The disk below comes first, wherever the line names it: commands act on it. */
static int find_lower(struct faulty *f, const char *args)
{
	char name[DISK_NAME + 8];
	size_t n = 0;

	while (args && *args) {
		args += strspn(args, " ");
		if (!strncmp(args, "over=", 5))
			break;
		args = strchr(args, ',');
		args = args ? args + 1 : NULL;
	}
	if (!args || !*args) {
		pr_err("faulty: over=DISK is missing");
		return -EINVAL;
	}
	for (args += 5; n < sizeof(name) - 1 && *args && !strchr(", \n", *args); args++)
		name[n++] = *args;
	name[n] = 0;
	f->lower = blk_part_get(name);
	if (!f->lower) {
		pr_err("faulty: over=%s: no such disk", name);
		return -ENXIO;
	}
	if (f->lower->disk->ops == &faulty_ops)
		f->depth = ((struct faulty *)f->lower->disk->private)->depth + 1;
	if (f->depth > MAX_DEPTH) {
		pr_err("faulty: over=%s: more than %d on top of each other", name, MAX_DEPTH);
		return -EINVAL;
	}
	return 0;
}

static int parse_options(struct faulty *f, char *args)
{
	char *word;

	while ((word = strsep(&args, ",\n"))) {
		char *value;
		int err;

		word = strstrip(word);
		value = strchr(word, '=');
		if (!*word)
			continue;
		if (value)
			*value++ = 0;
		err = one_option(f, word, value);
		if (!err)
			continue;
		pr_err("faulty: %s%s%s: %s", word, value ? "=" : "", value ? value : "",
		       err == -ENXIO	? "no such disk"
		       : err == -ENOENT ? "no such option"
					: "not understood");
		return err;
	}
	return 0;
}

static struct disk *add_disk(struct faulty *f)
{
	char name[DISK_NAME];
	int number = disk_name_next("faulty", name), err;
	struct disk *disk;

	if (number < 0 || number >= MAX_FAULTY)
		return ERR_PTR(-ENOSPC);
	disk = disk_alloc(name, &faulty_ops, f);
	if (!disk)
		return ERR_PTR(-ENOMEM);
	f->disk = disk;
	f->number = number;
	disk->nr_sectors = f->lower->nr_sectors;
	disk->limits = f->lower->disk->limits;
	disk->limits.write_cache = disk->limits.fua = true;
	disk->limits.discard = disk->limits.write_zeroes = false;
	disk->limits.read_only = f->lower->read_only;
	err = disk_add(disk);
	if (err) {
		disk->private = NULL;
		disk_put(disk);
		return ERR_PTR(err);
	}
	mutex_lock(&table_mutex);
	table[number] = f;
	mutex_unlock(&table_mutex);
	WRITE_ONCE(f->ready, true);
	return disk;
}

static struct disk *faulty_create(char *args)
{
	static u32 filled;
	struct faulty *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct disk *disk;
	int err;

	if (!f)
		return ERR_PTR(-ENOMEM);
	if (!xchg(&filled, 1))
		for (u32 i = 0; i < IO_KEPT; i++)
			kept_give(&kept_ios[i]);
	spin_lock_init(&f->lock, RANK_BLK, "faulty");
	mutex_init(&f->cache_mutex, RANK_DISK, "faulty_cache");
	list_init(&f->hung);
	timer_init(&f->freeze_timer, freeze_timer);
	fault_plan_init(&f->plan);
	rng_seed(&f->rng, f->plan.seed);
	err = find_lower(f, args);
	if (!err)
		err = parse_options(f, args);
	if (err) {
		destroy(f);
		return ERR_PTR(err);
	}
	disk = add_disk(f);
	if (IS_ERR(disk)) {
		pr_err("faulty: not added: error %ld", -PTR_ERR(disk));
		destroy(f);
	}
	return disk;
}
DISK_MODEL("faulty", faulty_create, "a disk over another that fails as its rules say");
