// SPDX-License-Identifier: BSD-2-Clause
/*
 * era.c - presets: the variants of one kernel's time, chosen with one word (era=2.6.37).
 *
 * Each document was written against some kernel, and the machinery around its patch differed from
 * year to year. A variant is a switch of its own, declared beside the code it changes; this table
 * only says which values belong together. A dash leaves a switch alone. Without era= every switch
 * has its default, which is Quire's own best. A switch named on the command line wins over the
 * preset, wherever it stands.
 */
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/string.h"

#define LEAVE (-1)
static const char *const eras[] = { "2.6.37", "2.6.38", "3.6", "3.16", "4.18" };
#define NR_ERAS ARRAY_SIZE(eras)

static const struct era_row {
	const char *name; /* of the switch */
	s8 value[NR_ERAS];
} table[] = {
	/*		    2.6.37 2.6.38 3.6 3.16 4.18 */
	{ "dirty_throttle", { 0, 0, 1, 1, 1 } }, /* the brake: the document's, the merged form */
	{ "bdi_ramp", { 0, 0, 0, 1, 1 } },	 /* how fast a device's share of the limit grows */
	{ "scan_rules", { LEAVE, LEAVE, 1, 2, 2 } },  /* how many pages reclaim looks at */
	{ "pcp_batch", { 0, 0, 0, 0, 0 } },	      /* pages per trip to the buddy */
	{ "sched_autogroup", { 0, 1, 1, 1, 1 } },     /* a session weighs as much as one thread */
	{ "dirtyable", { 0, 0, 0, 1, 1 } },	      /* which pages count as dirtyable memory */
	{ "kswapd_wait_iff", { 0, 0, 0, 4, 4 } },     /* how kswapd waits when it gets urgent */
	{ "lumpy", { 1, 3, 0, 0, 0 } },		      /* neighbours of a page, for blocks */
	{ "compact_free_irq", { 0, 0, 1, 2, 2 } },    /* sections of compaction's free scanner */
	{ "compact_migrate_irq", { 0, 0, 1, 2, 2 } }, /* and of its migration scanner */
	{ "compact_hints", { 0, 0, 0, 1, 1 } },	      /* compaction goes on where it stopped */
	{ "kcompactd", { 0, 0, 1, 1, 1 } },	      /* compaction after kswapd (by it, in 3.x) */
	{ "thp", { 0, 2, LEAVE, LEAVE, LEAVE } },     /* huge pages came with 2.6.38, for all */
	{ "thp_defrag", { LEAVE, 4, LEAVE, LEAVE, LEAVE } }, /* and every fault made room */
	{ "split_huge_irq", { LEAVE, 0, 2, 2, 2 } }, /* all small pages of one in one section */
	{ "workingset", { 0, 0, 0, 1, 1 } },	     /* pages that come back soon start active */
};

static long chosen = LEAVE;

static int choose(const char *value)
{
	for (size_t e = 0; e < NR_ERAS; e++) {
		if (strcmp(value, eras[e]))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
			struct quire_switch *s = switch_find(table[i].name);

			if (s && table[i].value[e] != LEAVE)
				WRITE_ONCE(s->value, (u32)table[i].value[e]);
		}
		chosen = e;
		return 0;
	}
	return -EINVAL;
}
BOOT_PARAM_FUNC("era", choose, "preset of variants: 2.6.37, 2.6.38, 3.6, 3.16 or 4.18");

static int era_show(struct seq *seq)
{
	seq_printf(seq, "chosen %s\n%-20s", chosen == LEAVE ? "none" : eras[chosen], "switch");
	for (size_t e = 0; e < NR_ERAS; e++)
		seq_printf(seq, " %7s", eras[e]);
	seq_puts(seq, " default     now\n");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct quire_switch *s = switch_find(table[i].name);

		if (!s)
			continue;
		seq_printf(seq, "%-20s", s->name);
		for (size_t e = 0; e < NR_ERAS; e++) {
			if (table[i].value[e] == LEAVE)
				seq_puts(seq, "       -");
			else
				seq_printf(seq, " %7d", table[i].value[e]);
		}
		seq_printf(seq, " %7u %7u\n", s->def, READ_ONCE(s->value));
	}
	return 0;
}
SHOW("/sys/kernel/quire/era", 0444, era_show, NULL);
