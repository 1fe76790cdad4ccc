/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disk models: exact rates however a stream is cut, the seek curve, the platter's angle, parameters
 * and their units, write caches; pieces of diskmem.
 */
// SOURCES: drivers/blk/model_param.c drivers/blk/model_hdd.c drivers/blk/model_ssd.c
// SOURCES: drivers/blk/model_bw.c drivers/blk/model_cache.c drivers/blk/diskmem_take.c
// SOURCES: lib/parse.c lib/printf.c lib/string.c lib/bitmap.c
#include "host.h"

#include "drivers/blk/diskmem.h"
#include "drivers/blk/model.h"
#include "lib/errno.h"

#define MS 1000000ull
#define US 1000ull
#define SEC 1000000000ull

static struct model make(const char *kind, const char *const *set)
{
	struct model m;
	const char *wrong;

	model_init(&m, model_find(kind));
	for (; set && set[0]; set += 2)
		CHECK_EQ(model_set(&m, set[0], set[1], false), 0);
	wrong = model_ready(&m);
	if (wrong)
		fprintf(stderr, "# %s\n", wrong);
	CHECK(!wrong);
	return m;
}
#define MAKE(kind, ...) make(kind, (const char *const[]){ __VA_ARGS__, NULL })

static u64 go(struct model *m, u8 op, u64 sector, u32 n, u64 now)
{
	struct model_rq rq = { .sector = sector, .nr_sectors = n, .op = op };
	u64 end = m->kind->start(m, &rq, now);

	CHECK(end >= now);
	return end;
}

/* A stream of random pieces: its end must not depend on the cut. */
static u64 stream(struct model *m, u8 op, u64 from, u64 n, u64 now)
{
	while (n) {
		u32 piece = 1 + host_random() % 1024;

		piece = piece > n ? n : piece;
		now = go(m, op, from, piece, now);
		from += piece;
		n -= piece;
	}
	return now;
}

HOST_TEST(bw_is_exact)
{
	struct model m = MAKE("bw", "bw", "100M", "size", "4G");
	u64 start = 7, n = 200 << 11; /* 200 MiB */

	CHECK_EQ(stream(&m, MODEL_WRITE, 0, n, start) - start, 2 * SEC);
	m = MAKE("bw", "bw", "7777777", "size", "4G"); /* divides nothing */
	CHECK_EQ(stream(&m, MODEL_READ, 0, 100000, start) - start, 100000ull * 512 * SEC / 7777777);
}

HOST_TEST(bw_latencies_overlap)
{
	struct model m = MAKE("bw", "bw", "100M", "latency", "5ms");
	u64 wire = 10 * MS; /* 1 MiB */

	CHECK_EQ(go(&m, MODEL_WRITE, 0, 2048, 0), wire + 5 * MS);
	CHECK_EQ(go(&m, MODEL_WRITE, 9999, 2048, 0), 2 * wire + 5 * MS);
	/* idle since 20 ms: begins when it comes */
	CHECK_EQ(go(&m, MODEL_READ, 0, 2048, 50 * MS), 50 * MS + wire + 5 * MS);
	CHECK_EQ(go(&m, MODEL_FLUSH, 0, 0, 60 * MS), 65 * MS);
}

HOST_TEST(usb_pays_each_request)
{
	struct model m =
		MAKE("usb", "bw", "20M", "write_bw", "10M", "latency", "2ms", "jump", "30ms");

	CHECK_EQ(m.p[MP_DEPTH], 1);
	CHECK_EQ(go(&m, MODEL_READ, 100, 2048, 0), 2 * MS + 50 * MS);
	CHECK_EQ(go(&m, MODEL_WRITE, 2048, 2048, 0), 32 * MS + 100 * MS);
	CHECK_EQ(go(&m, MODEL_WRITE, 4096, 2048, 0), 2 * MS + 100 * MS); /* goes on */
	CHECK_EQ(go(&m, MODEL_WRITE, 0, 2048, 0), 32 * MS + 100 * MS);
}

HOST_TEST(hdd_streams_at_its_rate)
{
	/* one zone's worth of a large disk: only the outermost rate */
	struct model m = MAKE("hdd", "size", "1G", "bw", "100M", "capacity", "64G");
	u64 begin = go(&m, MODEL_WRITE, 0, 8, 0), end;

	end = stream(&m, MODEL_WRITE, 8, 100 << 11, begin);
	/* rounding: one nanosecond, because both ends are rounded down */
	CHECK(end - begin >= SEC - 1 && end - begin <= SEC + 1);
	CHECK_EQ(m.hdd.seeks, 0);
	CHECK_EQ(m.hdd.transfers > 100, 1);
}

HOST_TEST(hdd_zones)
{
	struct model m = MAKE("hdd", "size", "1600M", "bw", "100M", "bw_inner", "50M");
	u64 zone = (100 << 20) / 512, begin, end;

	begin = go(&m, MODEL_READ, 0, 1, 0);
	end = stream(&m, MODEL_READ, 1, zone - 1, begin);
	CHECK((end - begin) / US >= 999980 && (end - begin) / US <= 1000000);
	begin = go(&m, MODEL_READ, 15 * zone, 1, end + SEC);
	end = stream(&m, MODEL_READ, 15 * zone + 1, zone - 1, begin);
	CHECK((end - begin) / US >= 1999960 && (end - begin) / US <= 2000000);
	/* every zone is slower than the one before */
	for (u32 i = 1; i < HDD_ZONES; i++)
		CHECK(m.hdd.zone_bw[i] < m.hdd.zone_bw[i - 1]);
	CHECK_EQ(m.hdd.zone_bw[HDD_ZONES - 1], 50 << 20);
}

/* Sector of cylinder c's first track, about. */
static u64 sector_of(const struct model *m, u64 cylinder)
{
	u64 lo = 0, hi = m->nr_sectors - 8;

	while (lo < hi) { /* the arm's place rises with the sector */
		struct model probe = *m;
		u64 mid = (lo + hi) / 2;

		go(&probe, MODEL_READ, mid, 1, 0);
		if (probe.hdd.cylinder < cylinder)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo + 8;
}

/* Seek time alone: positioning to a sector, minus the platter's wait. */
static u64 seek_of(const struct model *m, u64 distance)
{
	struct model probe = *m;

	probe.hdd.cylinder = 0;
	probe.hdd.end_ns = 0;
	go(&probe, MODEL_READ, sector_of(m, distance), 1, 0);
	return probe.hdd.seek_ns;
}

HOST_TEST(hdd_seek_curve)
{
	struct model m = MAKE("hdd", "size", "16G", "bw", "100M", "bw_inner", "100M", "seek_track",
			      "1ms", "seek_avg", "9ms", "seek_full", "18ms");
	u64 c = m.hdd.cylinders, before = 0;

	/* 16 GiB at 100 MiB/s: 163.84 s of 8.333 ms tracks, four to a cylinder */
	CHECK_EQ(c, 163840 * MS / 8333333 / 4 + 1);
	CHECK_EQ(seek_of(&m, 1), 1 * MS);
	CHECK_EQ(seek_of(&m, c / 3), 9 * MS);
	CHECK(seek_of(&m, c - 1) > 17900 * US && seek_of(&m, c - 1) <= 18 * MS);
	for (u64 d = 1; d < c - 1; d += c / 50) {
		u64 ns = seek_of(&m, d);

		CHECK(ns >= before);
		before = ns;
	}
	/* a quarter of the way to the knee: half of the rise (a root) */
	CHECK(seek_of(&m, c / 12) > 4900 * US && seek_of(&m, c / 12) < 5100 * US);
	/* and between knee and end: a line */
	CHECK(seek_of(&m, c * 2 / 3) > 13400 * US && seek_of(&m, c * 2 / 3) < 13600 * US);
}

HOST_TEST(hdd_rotation)
{
	struct model m = MAKE("hdd", "size", "1G", "bw", "120M", "bw_inner", "120M", "rpm", "6000",
			      "overhead", "0", "readahead", "0");
	u64 track = (120 << 20) / 100 / 512; /* sectors of a 10 ms rotation, rounded down */
	u64 one = 512 * SEC / (120 << 20), end;

	CHECK_EQ(m.hdd.rotation_ns, 10 * MS);
	/* sector 0 stands under the head at 0, 10, 20 ms ... */
	CHECK_EQ(go(&m, MODEL_READ, 0, 1, 0), one);
	CHECK_EQ(go(&m, MODEL_READ, 0, 1, 3 * MS), 10 * MS + one);
	/* half a track on: 5 ms later */
	end = go(&m, MODEL_READ, track / 2, 1, 20 * MS);
	CHECK(end - 20 * MS > 4990 * US && end - 20 * MS < 5010 * US);
	/* just missed: nearly a whole turn. Without the gap it goes on. */
	end = go(&m, MODEL_WRITE, 0, 8, 30 * MS);
	CHECK_EQ(go(&m, MODEL_WRITE, 8, 8, end) - end, 8 * 512 * SEC / (120 << 20));
	end = go(&m, MODEL_WRITE, 0, 8, 50 * MS);
	CHECK(go(&m, MODEL_WRITE, 8, 8, end + 10 * US) - end > 9900 * US);
}

HOST_TEST(hdd_track_buffer)
{
	struct model m = MAKE("hdd", "size", "1G", "bw", "100M", "bw_inner", "100M", "readahead",
			      "512K", "link", "400M");
	u64 end = go(&m, MODEL_READ, 0, 256, 0), buffered;

	/* 128 KiB later, a moment later: the head has them nearly; no rotation is lost */
	buffered = go(&m, MODEL_READ, 256, 256, end + 100 * US);
	CHECK(buffered - end >= 1249 * US && buffered - end <= 1251 * US);
	CHECK_EQ(m.hdd.buffer_hits, 1);
	/* a second later they wait in the buffer: the link's rate */
	CHECK_EQ(go(&m, MODEL_READ, 512, 256, 2 * SEC) - 2 * SEC, 131072 * SEC / (400 << 20));
	/* but not more than the buffer holds: 10 MiB take 100 ms - 5 ms */
	end = 3 * SEC;
	for (u32 i = 0; i < 80; i++)
		end = go(&m, MODEL_READ, 768 + i * 256, 256, end);
	CHECK(end - 3 * SEC > 94 * MS && end - 3 * SEC < 96 * MS);
}

HOST_TEST(hdd_takes_the_nearest)
{
	struct model m = MAKE("hdd", "size", "4G");
	struct model_rq near = { .sector = 1000, .nr_sectors = 8 };
	struct model_rq far = { .sector = 8000000, .nr_sectors = 8 };
	struct model before;
	u64 t = go(&m, MODEL_READ, 900, 8, 0);

	before = m;
	CHECK(m.kind->position(&m, &near, t) < m.kind->position(&m, &far, t));
	CHECK(!memcmp(&before, &m, sizeof(m)));
	/* position() is what start() does */
	for (int i = 0; i < 1000; i++) {
		struct model_rq rq = { .sector = host_random() % (m.nr_sectors - 8),
				       .nr_sectors = 8,
				       .op = MODEL_WRITE };
		u64 now = t + host_random() % (20 * MS) + 1, before_ns, end;

		m.p[8] = m.p[8]; /* parameters untouched */
		before_ns = m.kind->position(&m, &rq, now);
		end = m.kind->start(&m, &rq, now);
		/* but the overhead of an idle disk, which may cost a rotation */
		CHECK(end - now + m.hdd.rotation_ns >= before_ns);
		CHECK(end - now <= before_ns + 2 * m.hdd.rotation_ns + MS);
		t = end;
	}
}

HOST_TEST(hdd_head_switch_costs_no_rotation)
{
	struct model m = MAKE("hdd", "size", "1G", "bw", "100M", "bw_inner", "100M", "head_switch",
			      "1ms", "rpm", "6000");
	u64 begin = go(&m, MODEL_WRITE, 0, 8, 0);
	u64 end = stream(&m, MODEL_WRITE, 8, 100 << 11, begin);

	/* a second of transfer is 100 tracks: 100 switches of 1 ms */
	CHECK(end - begin > 1099 * MS && end - begin < 1101 * MS);
}

HOST_TEST(ssd_parallel)
{
	struct model m =
		MAKE("ssd", "channels", "4", "dies", "2", "page", "4096", "read", "50us", "program",
		     "800us", "overhead", "0", "bw", "4000M", "channel_bw", "4000M");
	u64 one, all, last = 0;

	one = go(&m, MODEL_READ, 0, 8, 0);
	CHECK(one > 50 * US && one < 53 * US);
	/* eight pages on eight dies take hardly longer than one; the ninth waits for its die */
	m = MAKE("ssd", "channels", "4", "dies", "2", "page", "4096", "read", "50us", "program",
		 "800us", "overhead", "0", "bw", "4000M", "channel_bw", "4000M");
	all = go(&m, MODEL_READ, 0, 64, 0);
	CHECK(all < 60 * US);
	CHECK(go(&m, MODEL_READ, 0, 8, 0) > 100 * US);
	/* programs: the rate of all dies together, 8 * 4096 / 800 us */
	for (u32 i = 0; i < 1000; i++)
		last = go(&m, MODEL_WRITE, i * 64, 64, MS);
	CHECK(last - MS > 799 * MS && last - MS < 802 * MS);
}

HOST_TEST(ssd_erases)
{
	struct model m = MAKE("ssd", "channels", "1", "dies", "1", "page", "4096", "read", "10us",
			      "program", "100us", "erase", "2ms", "block_pages", "64", "gc", "50");
	u64 t = 0;

	for (u32 i = 0; i < 64; i++)
		t = go(&m, MODEL_WRITE, i * 8, 8, t);
	CHECK_EQ(m.ssd.erases, 1);
	/* 64 programs, one erase, 32 pages moved */
	CHECK(t > 64 * 100 * US + 2 * MS + 32 * 110 * US);
}

HOST_TEST(write_cache)
{
	struct model m = MAKE("hdd", "size", "1G", "bw", "100M", "cache", "1M", "destage", "50%",
			      "link", "1000M", "overhead", "0");
	struct model_rq fua = { .sector = 0, .nr_sectors = 8, .op = MODEL_WRITE, .fua = 1 };
	u64 t = go(&m, MODEL_WRITE, 4096, 1024, 0);

	CHECK_EQ(t, 512 * 1024 * SEC / (1000 << 20)); /* the link */
	/* the long run: the medium */
	for (u32 i = 0; i < 100; i++)
		t = go(&m, MODEL_WRITE, 4096, 1024, t);
	CHECK(t > 980 * MS && t < 1030 * MS);
	/* a flush waits for at most a cache full: 1 MiB at 50 MiB/s */
	CHECK(go(&m, MODEL_FLUSH, 0, 0, t) - t <= 20 * MS);
	t += 100 * MS;
	CHECK_EQ(go(&m, MODEL_FLUSH, 0, 0, t), t);
	CHECK(m.kind->start(&m, &fua, t) - t > 40 * US); /* to the medium */
}

HOST_TEST(parameters)
{
	static const struct {
		const char *text;
		u64 ns;
		int err;
	} t[] = {
		{ "8ms", 8 * MS, 0 },	{ "100us", 100 * US, 0 },
		{ "7ns", 7, 0 },	{ "2s", 2 * SEC, 0 },
		{ "15", 15 * US, 0 },	{ "15\n", 15 * US, 0 },
		{ "", 0, -EINVAL },	{ "ms", 0, -EINVAL },
		{ "5m", 0, -EINVAL },	{ "5msx", 0, -EINVAL },
		{ "-5ms", 0, -EINVAL }, { "99999999999999999s", 0, -ERANGE },
	};
	struct model m;
	char text[40];

	for (u32 i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		u64 ns = 0;

		CHECK_EQ(model_parse_ns(t[i].text, &ns), t[i].err);
		CHECK_EQ(ns, t[i].ns);
	}
	model_init(&m, &model_hdd);
	CHECK_EQ(model_set(&m, "nothing", "1", false), -ENOENT);
	CHECK_EQ(model_set(&m, "bw", "fast", false), -EINVAL);
	CHECK_EQ(model_set(&m, "bw", NULL, false), -EINVAL);
	CHECK_EQ(model_set(&m, "rpm", "1", false), -ERANGE);
	CHECK_EQ(model_set(&m, "rpm", "5400", true), -EBUSY);
	CHECK_EQ(model_set(&m, "seek_avg", "5ms", true), 0);
	CHECK_EQ(model_set(&m, "seek_full", "4ms", false), 0);
	CHECK(model_ready(&m)); /* seek_avg is above it now */
	CHECK(!model_find("floppy"));
	/* what is printed can be read back, for every kind and parameter */
	for (u32 k = 0; k < 4; k++) {
		struct model other;

		model_init(&m, model_kinds[k]);
		other = m;
		for (u32 i = 0; i < m.kind->nr_params; i++) {
			u64 v = m.kind->params[i].min +
				host_random() % (m.kind->params[i].max - m.kind->params[i].min + 1);

			m.p[i] = v;
			model_format(&m, i, text, sizeof(text));
			CHECK_EQ(model_set(&other, m.kind->params[i].name, text, false), 0);
			CHECK_EQ(other.p[i], v);
			CHECK(m.kind->params[i].def >= m.kind->params[i].min &&
			      m.kind->params[i].def <= m.kind->params[i].max);
		}
	}
}

HOST_TEST(diskmem_pieces)
{
	struct diskmem d = { .start = 1 << 20, .end = 11 << 20 };
	u64 a[10], b;

	for (int i = 0; i < 10; i++) {
		a[i] = diskmem_take(&d, 1 << 20);
		CHECK_EQ(a[i], (1 + i) << 20);
	}
	CHECK_EQ(diskmem_take(&d, 4096), 0);
	CHECK(diskmem_give(&d, a[3]) && diskmem_give(&d, a[4]) && !diskmem_give(&d, a[4]));
	CHECK(!diskmem_give(&d, a[5] + 4096));
	CHECK_EQ(diskmem_take(&d, 3 << 20), 0);
	b = diskmem_take(&d, 2 << 20);
	CHECK_EQ(b, a[3]);
	CHECK_EQ(d.nr, 9);
	for (u32 i = 1; i < d.nr; i++)
		CHECK(d.piece[i - 1].end <= d.piece[i].start);
	CHECK_EQ(diskmem_take(&d, 0), 0);
}
