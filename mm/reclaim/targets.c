// SPDX-License-Identifier: BSD-2-Clause
/*
 * targets.c - how many pages of which list reclaim looks at.
 *
 * Problem: program memory and file pages are to be given back in proportion to how little they are
 * used, harder from round to round. Idea: a round of priority p looks at size >> p pages of a list,
 * from p = 12 (a 4096th) to 0 (all of it). The split between the two types follows how many of those
 * scanned lately turned out to be in use (rotated): a type whose pages come back often is spared.
 *
 *   no swap left                          file alone
 *   file + free <= high watermark         program memory alone (the file pages are not worth it)
 *   active file <= inactive file (3.8)    file alone (plenty of pages used once)
 *   else                                  by weight: swappiness x scanned / rotated
 *
 * A list smaller than 2^p gives 0: it is not looked at in this round. A small zone's kswapd thus
 * sinks through the priorities without freeing anything, which is what [seed-003] is about. In 3.0
 * to 3.2 each scan of kswapd looked at 32 pages at least, since then only one of a zone given up.
 * Source: [facts 1.7].
 */
#include "mm/reclaim/targets.h"

enum scan_balance scan_balance(const struct scan_input *in)
{
	unsigned long active = in->size[LRU_ACTIVE_FILE], inactive = in->size[LRU_INACTIVE_FILE];

	if (!in->swap)
		return BALANCE_FILE;
	if (!in->memcg && active + inactive + in->free <= in->high)
		return BALANCE_ANON;
	if (in->rules >= SCAN_RULES_3_8 && !inactive_file_low(active, inactive))
		return BALANCE_FILE;
	return BALANCE_WEIGHTED;
}

bool scan_forced(const struct scan_input *in)
{
	return in->memcg || (in->kswapd && (in->unreclaimable || in->rules < SCAN_RULES_3_6));
}

/* part / whole of each type's pages shall be looked at. */
static void shares(const struct scan_input *in, unsigned long part[2], unsigned long *whole)
{
	enum scan_balance balance = scan_balance(in);

	if (balance != BALANCE_WEIGHTED) {
		part[0] = balance == BALANCE_ANON;
		part[1] = balance == BALANCE_FILE;
		*whole = 1;
		return;
	}
	part[0] = in->swappiness * (in->recent_scanned[0] + 1) / (in->recent_rotated[0] + 1);
	part[1] =
		(200 - in->swappiness) * (in->recent_scanned[1] + 1) / (in->recent_rotated[1] + 1);
	*whole = part[0] + part[1] + 1;
}

void scan_targets(const struct scan_input *in, unsigned long nr[NR_EVICTABLE_LISTS])
{
	unsigned long part[2], whole;

	shares(in, part, &whole);
	for (int lru = 0; lru < NR_EVICTABLE_LISTS; lru++) {
		unsigned long base = in->size[lru] >> in->priority;

		if (!base && scan_forced(in))
			base = SWAP_CLUSTER_MAX;
		nr[lru] = base * part[lru >= LRU_INACTIVE_FILE] / whole;
	}
}

void scan_forget(unsigned long *scanned, unsigned long *rotated, unsigned long pages)
{
	if (*scanned > pages / 4) {
		*scanned /= 2;
		*rotated /= 2;
	}
}

bool inactive_file_low(unsigned long active, unsigned long inactive)
{
	return active > inactive;
}

bool inactive_anon_low(unsigned long active, unsigned long inactive, u32 ratio)
{
	return inactive * ratio < active;
}

bool isolated_too_many(unsigned long isolated, unsigned long inactive, bool nofs,
		       enum scan_rules rules)
{
	/* Whoever may not wait for file systems must not wait for those who do. */
	if (rules >= SCAN_RULES_3_8 && !nofs)
		inactive >>= 3;
	return isolated > inactive;
}

bool writeback_enough(unsigned long writeback, unsigned long taken, int priority)
{
	return writeback && writeback >= taken >> (DEF_PRIORITY - priority);
}

unsigned long balance_gap(unsigned long low, unsigned long managed)
{
	return min(low, (managed + 99) / 100);
}
