// SPDX-License-Identifier: BSD-2-Clause
/*
 * targets.c - how many pages of which list reclaim looks at.
 *
 * Problem: program memory and file pages are to be given back in proportion to how little they are
 * used, harder from round to round. Idea: a round of priority p looks at size >> p pages of a list,
 * from p = 12 (a 4096th) to 0 (all of it). The split between the two types follows how many of
 * those scanned lately turned out to be in use (rotated): a type whose pages come back often is
 * spared.
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

bool reserves_low(unsigned long free, unsigned long min_marks)
{
	return min_marks && free <= min_marks / 2;
}

int tempered_priority(int prev, int now)
{
	return prev - now > 1 ? (prev + now) / 2 : now;
}

void stream_note(struct stream_watch *w, u32 touched, u32 nr)
{
	w->seen += nr;
	w->touched += touched;
	if (w->seen < SWAP_CLUSTER_MAX)
		return;
	/* four fifths; what interrupts the row ends it */
	if (w->touched * 100 >= w->seen * 80)
		w->streak = min(w->streak + 1, (u32)STREAM_BATCHES);
	else
		w->streak = 0;
	w->seen = w->touched = 0;
}

bool enough_balanced(unsigned long balanced, unsigned long managed)
{
	return balanced >= managed / 4;
}

struct pfn_range lumpy_range(unsigned long pfn, unsigned int order, unsigned long zone_start,
			     unsigned long zone_end)
{
	unsigned long first = ALIGN_DOWN(pfn, 1ul << order);

	return (struct pfn_range){ .first = max(first, zone_start),
				   .end = min(first + (1ul << order), zone_end) };
}

bool lumpy_wanted(unsigned int order, int priority)
{
	return order > COSTLY_ORDER || (order && priority < DEF_PRIORITY - 2);
}

bool lumpy_stall(unsigned int order, int priority, unsigned long freed, unsigned long taken)
{
	/* For a costly block at once, for a small one when it has become urgent. */
	return freed != taken &&
	       priority <= (order > COSTLY_ORDER ? DEF_PRIORITY : DEF_PRIORITY / 3);
}

unsigned long balance_gap(unsigned long low, unsigned long managed)
{
	return min(low, (managed + 99) / 100);
}
