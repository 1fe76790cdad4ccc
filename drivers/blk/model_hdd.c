// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_hdd.c - a rotating disk.
 *
 * Problem: what a rotating disk takes depends on where its arm and its platters are. Idea: the
 * medium is one long spiral, and a sector's address on it is a time: media time(s) is when a head
 * that reads from sector 0 without a pause reaches s. Everything follows from that one function:
 *
 *   transfer of [s, e)   media_time(e) - media_time(s)      sums are exact, whatever the pieces
 *   track                media_time / rotation
 *   angle                media_time mod rotation (plus the skew of head switches)
 *   cylinder             track / heads
 *
 * Outer tracks are longer: the rate falls from bw to bw_inner in HDD_ZONES equal steps. The
 * platters turn by the clock: the angle under the head at time t is t mod rotation, so the wait for
 * a sector is (angle - t) mod rotation, from virtual time alone: the same on every run.
 *
 *   seek(d) = track_to_track + (average - track_to_track) * sqrt((d-1) / (C/3-1))    d <= C/3
 *             average + (full - average) * (d - C/3) / (C - C/3)                     d >  C/3
 *
 * the acceleration-bound and the coasting part of the arm's way [Ruemmler94]; C/3 is the mean
 * distance of random requests. With head_switch > 0 each track begins that much later (skew), so a
 * long transfer loses that time per track and no rotation.
 *
 * A transfer that goes on where the last one ended, begun at that very time (it was queued: NCQ) or
 * read from the track buffer (a read within `readahead` behind the last read), moves nothing.
 * Requests that wait are taken by the shortest positioning time. The command overhead hides behind
 * the transfer before it.
 */
#include "drivers/blk/model.h"
#include "lib/math.h"
#include "lib/printf.h"

enum {
	HDD_BW_INNER = MP_OWN,
	HDD_CAPACITY,
	HDD_RPM,
	HDD_SEEK_TRACK,
	HDD_SEEK_AVG,
	HDD_SEEK_FULL,
	HDD_HEADS,
	HDD_HEAD_SWITCH,
	HDD_OVERHEAD,
	HDD_READAHEAD,
	HDD_LINK,
	HDD_CACHE,
	HDD_DESTAGE,
	HDD_NR
};
#define MS 1000000ull
#define US 1000ull
#define KB 1024ull

static const struct model_param hdd_params[HDD_NR] = {
	[MP_SIZE] = { "size", MODEL_BYTES, false, 1ull << 30, 1ull << 16, 1ull << 44,
		      "bytes one can address" },
	[MP_BW] = { "bw", MODEL_RATE, false, 100 << 20, 4 * KB, 1ull << 33,
		    "rate of the outermost zone" },
	[MP_DEPTH] = { "depth", MODEL_NUMBER, false, 32, 1, 32,
		       "requests in the disk, taken by shortest positioning time (NCQ)" },
	[HDD_BW_INNER] = { "bw_inner", MODEL_RATE, false, 0, 0, 1ull << 33,
			   "rate of the innermost zone (0: half of bw)" },
	[HDD_CAPACITY] = { "capacity", MODEL_BYTES, false, 0, 0, 1ull << 50,
			   "of the whole disk, whose outer part is used (0: size)" },
	[HDD_RPM] = { "rpm", MODEL_NUMBER, false, 7200, 60, 60000, "rotations per minute" },
	[HDD_SEEK_TRACK] = { "seek_track", MODEL_NS, true, 800 * US, 0, 1000 * MS,
			     "to the next cylinder" },
	[HDD_SEEK_AVG] = { "seek_avg", MODEL_NS, true, 8500 * US, 0, 1000 * MS,
			   "over a third of all cylinders" },
	[HDD_SEEK_FULL] = { "seek_full", MODEL_NS, true, 17 * MS, 0, 1000 * MS,
			    "over all cylinders" },
	[HDD_HEADS] = { "heads", MODEL_NUMBER, false, 4, 1, 64, "tracks of a cylinder" },
	[HDD_HEAD_SWITCH] = { "head_switch", MODEL_NS, false, 0, 0, 10 * MS,
			      "lost at the end of each track (0: bw is what is left)" },
	[HDD_OVERHEAD] = { "overhead", MODEL_NS, true, 100 * US, 0, 1000 * MS,
			   "per command to an idle disk" },
	[HDD_READAHEAD] = { "readahead", MODEL_BYTES, true, 512 * KB, 0, 64 << 20,
			    "track buffer behind a read" },
	[HDD_LINK] = { "link", MODEL_RATE, true, 600 << 20, 4 * KB, 1ull << 36,
		       "rate between host and buffer or cache" },
	[HDD_CACHE] = { "cache", MODEL_BYTES, false, 0, 0, 1 << 30,
			"volatile write cache on board (0: off)" },
	[HDD_DESTAGE] = { "destage", MODEL_PERCENT, true, 60, 1, 100,
			  "share of bw at which the cache empties" },
};

static u64 zone_of(const struct hdd_state *h, u64 sector)
{
	u64 zone = sector / h->zone_sectors;

	return zone < HDD_ZONES ? zone : HDD_ZONES - 1;
}

static u64 media_time(const struct hdd_state *h, u64 sector)
{
	u64 zone = zone_of(h, sector);

	return h->zone_ns[zone] +
	       model_ns((sector - zone * h->zone_sectors) << 9, h->zone_bw[zone]);
}

static u64 track_of(const struct hdd_state *h, u64 sector)
{
	return media_time(h, sector) / h->rotation_ns;
}

static const char *hdd_setup(struct model *m)
{
	struct hdd_state *h = &m->hdd;
	u64 capacity = m->p[HDD_CAPACITY] ? m->p[HDD_CAPACITY] : m->p[MP_SIZE];
	u64 outer = m->p[MP_BW], inner = m->p[HDD_BW_INNER] ? m->p[HDD_BW_INNER] : outer / 2;

	if (capacity < m->p[MP_SIZE])
		return "capacity is below size";
	if (inner > outer)
		return "bw_inner is above bw";
	if (m->p[HDD_SEEK_TRACK] > m->p[HDD_SEEK_AVG] || m->p[HDD_SEEK_AVG] > m->p[HDD_SEEK_FULL])
		return "seek_track <= seek_avg <= seek_full does not hold";
	h->rotation_ns = 60000000000ull / m->p[HDD_RPM];
	h->zone_sectors = (capacity >> 9) / HDD_ZONES;
	for (u32 i = 0; i < HDD_ZONES; i++) {
		h->zone_bw[i] = outer - mul_div_u64(outer - inner, i, HDD_ZONES - 1);
		h->zone_ns[i + 1] = h->zone_ns[i] + model_ns(h->zone_sectors << 9, h->zone_bw[i]);
	}
	h->cylinders = h->zone_ns[HDD_ZONES] / h->rotation_ns / m->p[HDD_HEADS] + 1;
	return NULL;
}

/* Nanoseconds of the arm over `distance` cylinders. */
static u64 seek_ns(const struct model *m, u64 distance)
{
	u64 third = m->hdd.cylinders / 3, track = m->p[HDD_SEEK_TRACK], avg = m->p[HDD_SEEK_AVG];

	if (!distance)
		return 0;
	if (third < 2)
		third = 2;
	if (distance > third)
		return avg + mul_div_u64(m->p[HDD_SEEK_FULL] - avg, distance - third,
					 m->hdd.cylinders > third ? m->hdd.cylinders - third : 1);
	/* the root of a fraction, to 2^-16 */
	return track + (((avg - track) * isqrt(((distance - 1) << 32) / (third - 1))) >> 16);
}

static u64 angle_of(const struct model *m, u64 sector)
{
	const struct hdd_state *h = &m->hdd;
	u64 t = media_time(h, sector);

	return (t + t / h->rotation_ns * m->p[HDD_HEAD_SWITCH]) % h->rotation_ns;
}

static u64 transfer_ns(const struct model *m, u64 sector, u64 n)
{
	const struct hdd_state *h = &m->hdd;
	u64 from = media_time(h, sector), to = media_time(h, sector + n);

	return to - from + (to / h->rotation_ns - from / h->rotation_ns) * m->p[HDD_HEAD_SWITCH];
}

/* Goes on under the head, without a gap. */
static bool follows(const struct model *m, const struct model_rq *rq, u64 now)
{
	return rq->sector == m->hdd.end_sector && now == m->hdd.end_ns && m->hdd.transfers;
}

/* A read of what the head passed over after the last read. */
static bool buffered(const struct model *m, const struct model_rq *rq)
{
	const struct hdd_state *h = &m->hdd;
	u64 buffer = m->p[HDD_READAHEAD] >> 9;

	return rq->op == MODEL_READ && h->transfers && h->end_op == MODEL_READ &&
	       rq->sector >= h->end_sector && rq->sector + rq->nr_sectors <= h->end_sector + buffer;
}

static u64 arm_and_platter(const struct model *m, const struct model_rq *rq, u64 now, u64 *seek)
{
	const struct hdd_state *h = &m->hdd;
	u64 cylinder = track_of(h, rq->sector) / m->p[HDD_HEADS];
	u64 arrived, passed;

	*seek = seek_ns(m, abs_diff(cylinder, h->cylinder));
	arrived = now + *seek;
	passed = arrived % h->rotation_ns;
	return arrived + (angle_of(m, rq->sector) + h->rotation_ns - passed) % h->rotation_ns;
}

static u64 hdd_position(const struct model *m, const struct model_rq *rq, u64 now)
{
	u64 seek;

	if (!rq->nr_sectors || rq->op == MODEL_DISCARD || follows(m, rq, now) || buffered(m, rq))
		return 0;
	if (m->p[HDD_CACHE] && rq->op == MODEL_WRITE && !rq->fua)
		return 0;
	return arm_and_platter(m, rq, now, &seek) - now;
}

static u64 hdd_cached_write(struct model *m, const struct model_rq *rq, u64 now)
{
	u64 rate = mul_div_u64(m->p[MP_BW], m->p[HDD_DESTAGE], 100),
	    bytes = (u64)rq->nr_sectors << 9;

	return model_cache_write(&m->hdd.cache, m->p[HDD_CACHE], rate, bytes, now) +
	       model_ns(bytes, m->p[HDD_LINK]);
}

static u64 from_buffer(struct model *m, const struct model_rq *rq, u64 now)
{
	struct hdd_state *h = &m->hdd;
	u64 end = rq->sector + rq->nr_sectors, read;
	u64 sent = now + model_ns((u64)rq->nr_sectors << 9, m->p[HDD_LINK]);
	u64 ahead = model_ns(m->p[HDD_READAHEAD], h->zone_bw[zone_of(h, h->end_sector)]);

	/* the head went on reading since, but only until the buffer was full */
	if (now > h->end_ns + ahead)
		h->end_ns = now - ahead;
	read = h->end_ns + transfer_ns(m, h->end_sector, end - h->end_sector);
	h->buffer_hits++;
	h->end_sector = end;
	h->end_ns = read;
	h->cylinder = track_of(h, end) / m->p[HDD_HEADS];
	return max_t(u64, read, sent);
}

static u64 hdd_start(struct model *m, const struct model_rq *rq, u64 now)
{
	struct hdd_state *h = &m->hdd;
	bool idle = now > h->end_ns;
	u64 at, seek = 0;

	if (rq->op == MODEL_FLUSH) {
		if (!m->p[HDD_CACHE])
			return now + m->p[HDD_OVERHEAD];
		return model_cache_drained(&h->cache,
					   mul_div_u64(m->p[MP_BW], m->p[HDD_DESTAGE], 100), now);
	}
	if (rq->op == MODEL_DISCARD || !rq->nr_sectors)
		return now + m->p[HDD_OVERHEAD];
	if (m->p[HDD_CACHE] && rq->op == MODEL_WRITE && !rq->fua)
		return hdd_cached_write(m, rq, now + m->p[HDD_OVERHEAD]);
	if (!follows(m, rq, now) && buffered(m, rq))
		return from_buffer(m, rq, now);
	at = now;
	if (!follows(m, rq, now)) {
		if (idle)
			now += m->p[HDD_OVERHEAD];
		at = arm_and_platter(m, rq, now, &seek);
		h->seeks += !!seek;
		h->seek_ns += seek;
		h->rotation_wait_ns += at - now - seek;
	}
	h->end_ns = at + transfer_ns(m, rq->sector, rq->nr_sectors);
	h->end_sector = rq->sector + rq->nr_sectors;
	h->end_op = rq->op;
	h->cylinder = track_of(h, h->end_sector) / m->p[HDD_HEADS];
	h->transfers++;
	return h->end_ns;
}

static int hdd_state_text(const struct model *m, char *buf, size_t n)
{
	const struct hdd_state *h = &m->hdd;

	return snprintf(buf, n,
			"cylinders %llu cylinder %llu transfers %llu seeks %llu seek_us %llu "
			"rotation_us %llu buffer_hits %llu",
			(unsigned long long)h->cylinders, (unsigned long long)h->cylinder,
			(unsigned long long)h->transfers, (unsigned long long)h->seeks,
			(unsigned long long)h->seek_ns / 1000,
			(unsigned long long)h->rotation_wait_ns / 1000,
			(unsigned long long)h->buffer_hits);
}

const struct model_kind model_hdd = {
	.name = "hdd",
	.about = "rotating disk: zones, seek by distance, rotation",
	.params = hdd_params,
	.nr_params = HDD_NR,
	.parallel = 1,
	.rotational = true,
	.setup = hdd_setup,
	.position = hdd_position,
	.start = hdd_start,
	.state = hdd_state_text,
};
