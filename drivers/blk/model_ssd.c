// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_ssd.c - a solid-state disk.
 *
 * Problem: many slow parts make a fast disk, but only when enough of them have work. Idea: flash
 * pages are striped over channels, and within a channel over dies. A page read occupies its die
 * (read latency), then the channel's bus, then the host link; a page write the other way round.
 * Every resource is one number, the time it is busy until; a request ends when its last page does.
 *
 *   page p: channel p mod C, die (p / C) mod D of that channel
 *   read    die += tR;  bus = max(bus, die) + page/channel_bw;  link = max(link, bus) + page/bw
 *   write   link += page/bw;  bus = max(bus, link) + page/channel_bw;  die = max(die, bus) + tProg
 *
 * Erasing (optional): every `block_pages` programs of a die it is busy for `erase`, and moves
 * `gc` per cent of a block of still valid pages (tR + tProg each): what collecting garbage costs a
 * full disk. A request is at most 1 MiB: at most 256 steps of the loop.
 */
#include "drivers/blk/model.h"
#include "lib/math.h"
#include "lib/printf.h"

enum {
	SSD_CHANNELS = MP_OWN,
	SSD_DIES,
	SSD_PAGE,
	SSD_CHANNEL_BW,
	SSD_READ,
	SSD_PROGRAM,
	SSD_OVERHEAD,
	SSD_ERASE,
	SSD_BLOCK_PAGES,
	SSD_GC,
	SSD_CACHE,
	SSD_NR
};
#define MS 1000000ull
#define US 1000ull

static const struct model_param ssd_params[SSD_NR] = {
	[MP_SIZE] = { "size", MODEL_BYTES, false, 1ull << 30, 1ull << 16, 1ull << 44,
		      "bytes one can address" },
	[MP_BW] = { "bw", MODEL_RATE, true, 550 << 20, 4096, 1ull << 38, "rate of the host link" },
	[MP_DEPTH] = { "depth", MODEL_NUMBER, false, 32, 1, 128, "requests in the disk" },
	[SSD_CHANNELS] = { "channels", MODEL_NUMBER, false, 8, 1, 64, "buses to the flash" },
	[SSD_DIES] = { "dies", MODEL_NUMBER, false, 4, 1, 16, "dies of a channel" },
	[SSD_PAGE] = { "page", MODEL_BYTES, false, 16384, 4096, 65536, "flash page" },
	[SSD_CHANNEL_BW] = { "channel_bw", MODEL_RATE, true, 400 << 20, 4096, 1ull << 38,
			     "rate of one channel" },
	[SSD_READ] = { "read", MODEL_NS, true, 60 * US, 0, 1000 * MS, "page read latency" },
	[SSD_PROGRAM] = { "program", MODEL_NS, true, 600 * US, 0, 1000 * MS,
			  "page program latency" },
	[SSD_OVERHEAD] = { "overhead", MODEL_NS, true, 15 * US, 0, 1000 * MS, "per command" },
	[SSD_ERASE] = { "erase", MODEL_NS, true, 0, 0, 1000 * MS, "block erase (0: never)" },
	[SSD_BLOCK_PAGES] = { "block_pages", MODEL_NUMBER, false, 256, 16, 4096,
			      "pages of an erase block" },
	[SSD_GC] = { "gc", MODEL_PERCENT, true, 0, 0, 100, "still valid in a block when erased" },
	[SSD_CACHE] = { "cache", MODEL_BYTES, false, 0, 0, 1 << 30,
			"volatile write cache on board (0: off)" },
};

static const char *ssd_setup(struct model *m)
{
	if (!is_power_of_2(m->p[SSD_PAGE]))
		return "page is no power of two";
	m->ssd.channels = m->p[SSD_CHANNELS];
	m->ssd.dies = m->p[SSD_CHANNELS] * m->p[SSD_DIES];
	return m->ssd.dies > SSD_MAX_DIES ? "more than 256 dies" : NULL;
}

static u64 busy(u64 *until, u64 from, u64 ns)
{
	*until = max_t(u64, *until, from) + ns;
	return *until;
}

static u64 erase_ns(struct model *m, u32 die)
{
	u64 moved = m->p[SSD_BLOCK_PAGES] * m->p[SSD_GC] / 100;

	if (!m->p[SSD_ERASE] || ++m->ssd.programmed[die] < m->p[SSD_BLOCK_PAGES])
		return 0;
	m->ssd.programmed[die] = 0;
	m->ssd.erases++;
	return m->p[SSD_ERASE] + moved * (m->p[SSD_READ] + m->p[SSD_PROGRAM]);
}

/* One flash page of which `bytes` are wanted. => when it is done */
static u64 one_page(struct model *m, u64 page, u64 bytes, u8 op, u64 now)
{
	struct ssd_state *s = &m->ssd;
	u32 channel = page % s->channels;
	u32 die = channel + (page / s->channels) % m->p[SSD_DIES] * s->channels;
	u64 bus = model_ns(bytes, m->p[SSD_CHANNEL_BW]), link = model_ns(bytes, m->p[MP_BW]);

	if (op == MODEL_READ) {
		now = busy(&s->die_ns[die], now, m->p[SSD_READ]);
		now = busy(&s->channel_ns[channel], now, bus);
		return busy(&s->link_ns, now, link);
	}
	now = busy(&s->link_ns, now, link);
	now = busy(&s->channel_ns[channel], now, bus);
	return busy(&s->die_ns[die], now, m->p[SSD_PROGRAM] + erase_ns(m, die));
}

/* The rate at which all dies together program: what the cache empties at. */
static u64 program_rate(const struct model *m)
{
	u64 ns = max_t(u64, m->p[SSD_PROGRAM], 1);

	return max_t(u64, mul_div_u64(m->p[SSD_PAGE] * m->ssd.dies, 1000000000, ns), 4096);
}

static u64 ssd_start(struct model *m, const struct model_rq *rq, u64 now)
{
	u64 page_sectors = m->p[SSD_PAGE] >> 9, sector = rq->sector, end = sector + rq->nr_sectors;
	u64 done;

	now += m->p[SSD_OVERHEAD];
	if (rq->op == MODEL_FLUSH)
		return m->p[SSD_CACHE] ? model_cache_drained(&m->ssd.cache, program_rate(m), now)
				       : now;
	if (rq->op == MODEL_DISCARD)
		return now;
	if (rq->op == MODEL_WRITE && m->p[SSD_CACHE] && !rq->fua) {
		u64 bytes = (u64)rq->nr_sectors << 9;

		now = model_cache_write(&m->ssd.cache, m->p[SSD_CACHE], program_rate(m), bytes,
					now);
		return busy(&m->ssd.link_ns, now, model_ns(bytes, m->p[MP_BW]));
	}
	for (done = now; sector < end;) {
		u64 next = min_t(u64, end, (sector / page_sectors + 1) * page_sectors);
		u64 ended = one_page(m, sector / page_sectors, (next - sector) << 9, rq->op, now);

		done = max_t(u64, done, ended);
		sector = next;
	}
	return done;
}

static int ssd_state_text(const struct model *m, char *buf, size_t n)
{
	return snprintf(buf, n, "dies %u erases %llu cached %llu", m->ssd.dies,
			(unsigned long long)m->ssd.erases, (unsigned long long)m->ssd.cache.bytes);
}

const struct model_kind model_ssd = {
	.name = "ssd",
	.about = "solid-state disk: channels, dies, read and program latency, erase",
	.params = ssd_params,
	.nr_params = SSD_NR,
	.setup = ssd_setup,
	.start = ssd_start,
	.state = ssd_state_text,
};
