// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_cache.c - a write cache on board of a modelled disk.
 *
 * Problem: with a cache a write ends as soon as it is in the cache, but not faster than the medium
 * in the long run, and a flush waits for the rest. Idea: only the number of dirty bytes matters. It
 * falls at the medium's rate; a write that does not fit waits until enough has drained.
 *
 *   dirty(t) = max(0, dirty(t0) - rate * (t - t0))
 */
#include "drivers/blk/model.h"
#include "lib/math.h"

static void settle(struct model_cache *c, u64 rate, u64 now)
{
	u64 drained;

	if (now <= c->ns_at)
		return;
	drained = mul_div_u64(now - c->ns_at, rate, 1000000000);
	c->bytes = drained < c->bytes ? c->bytes - drained : 0;
	c->ns_at = now;
}

/* => when the bytes are in the cache (transfer to it not counted) */
u64 model_cache_write(struct model_cache *c, u64 size, u64 rate, u64 bytes, u64 now)
{
	u64 start = now > c->ns_at ? now : c->ns_at;

	settle(c, rate, start);
	if (c->bytes + bytes > size) {
		u64 room = bytes < size ? size - bytes : 0;

		start += model_ns(c->bytes - room, rate);
		c->bytes = room;
		c->ns_at = start;
	}
	c->bytes += bytes;
	return start;
}

/* => when nothing is dirty any more */
u64 model_cache_drained(struct model_cache *c, u64 rate, u64 now)
{
	u64 start = now > c->ns_at ? now : c->ns_at;

	settle(c, rate, start);
	start += model_ns(c->bytes, rate);
	c->bytes = 0;
	c->ns_at = start;
	return start;
}
