/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thp_show.c - who gets huge pages, and what may be done for one: switches, files, gfp flags.
 *
 * /sys/kernel/mm/transparent_hugepage has Linux's files and words; behind `enabled` and `defrag`
 * stand the switches thp and thp_defrag, so that presets (era=) and /sys/kernel/quire/switches see
 * them like any other. Whoever turns huge pages on (`enabled` to always; the first
 * madvise(MADV_HUGEPAGE)) also starts khugepaged and raises min_free_kbytes, so that room is kept
 * for whole pageblocks of each kind. Who does not, pays for none of that.
 *
 * defrag says what a fault may do for a huge page:
 *
 *   always         reclaim and compact, and wait for it
 *   defer          wake kswapd and kcompactd, take small pages meanwhile
 *   defer+madvise  wait where the program asked for huge pages, else as defer
 *   madvise        wait where the program asked for huge pages, else nothing
 *   never          nothing: take what is there
 */
#include "kernel/param.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/internal.h"
#include "mm/vm/khugepaged.h"

#define DIR "/sys/kernel/mm/transparent_hugepage/"

enum { DEFRAG_NEVER, DEFRAG_DEFER, DEFRAG_DEFER_MADVISE, DEFRAG_MADVISE, DEFRAG_ALWAYS };

static void enabled_changed(void);

DEFINE_SWITCH_CHANGED(thp, THP_MADVISE, THP_NEVER, THP_ALWAYS, "002",
		      "huge pages: 0 never (before 2.6.38), 1 where madvise asks, 2 always",
		      enabled_changed);
DEFINE_SWITCH(thp_defrag, DEFRAG_MADVISE, DEFRAG_NEVER, DEFRAG_ALWAYS, "002",
	      "a fault makes room for a huge page: 0 never, 1 defer, 2 defer+madvise, 3 madvise, "
	      "4 always");

struct khugepaged_settings khugepaged_settings = { .pages_to_scan = 8 * HPAGE_NR,
						   .scan_sleep_millisecs = 10000,
						   .alloc_sleep_millisecs = 60000,
						   .max_ptes_none = HPAGE_NR - 1,
						   .max_ptes_swap = HPAGE_NR / 8,
						   .max_ptes_shared = HPAGE_NR / 2,
						   .defrag = 1 };
static bool ready; /* threads can be made, marks are set */

/* => may sleep */
static void in_use(void)
{
	zones_keep_pageblocks();
	khugepaged_start();
}

static void enabled_changed(void)
{
	if (!ready)
		return;
	if (thp_enabled == THP_NEVER) {
		zones_forget_pageblocks();
		return;
	}
	if (thp_enabled == THP_ALWAYS)
		in_use();
	khugepaged_all();
}

void thp_advised(void)
{
	if (thp_enabled != THP_NEVER)
		in_use();
}

void thp_init(void)
{
	ready = true;
	enabled_changed();
}

bool thp_wanted(const struct vma *vma)
{
	if ((vma->flags & VM_NOHUGEPAGE) || vma->mm->thp_disabled)
		return false;
	return thp_enabled == THP_ALWAYS ||
	       (thp_enabled == THP_MADVISE && (vma->flags & VM_HUGEPAGE));
}

gfp_t thp_gfp(const struct vma *vma)
{
	const gfp_t light = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_NOMEMALLOC |
			    __GFP_NOWARN | __GFP_ACCOUNT;
	bool advised = vma->flags & VM_HUGEPAGE;

	switch (switch_value(thp_defrag)) {
	case DEFRAG_ALWAYS:
		return light | __GFP_DIRECT_RECLAIM | (advised ? 0 : __GFP_NORETRY);
	case DEFRAG_DEFER:
		return light | __GFP_KSWAPD_RECLAIM;
	case DEFRAG_DEFER_MADVISE:
		return light | (advised ? __GFP_DIRECT_RECLAIM : __GFP_KSWAPD_RECLAIM);
	case DEFRAG_MADVISE:
		return light | (advised ? __GFP_DIRECT_RECLAIM : 0);
	default:
		return light;
	}
}

/* ---- words: the one in force in brackets ---- */

struct word {
	const char *text;
	u32 value;
};

static int words_show(struct seq *seq, const struct word *w, size_t n, u32 now)
{
	for (size_t i = 0; i < n; i++)
		seq_printf(seq, w[i].value == now ? "%s[%s]" : "%s%s", i ? " " : "", w[i].text);
	seq_putc(seq, '\n');
	return 0;
}

/* => value or -EINVAL */
static int word_find(const struct word *w, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(w[i].text);

		if (!strncmp(text, w[i].text, len) &&
		    (!text[len] || (text[len] == '\n' && !text[len + 1])))
			return (int)w[i].value;
	}
	return -EINVAL;
}

static const struct word enabled_words[] = { { "always", THP_ALWAYS },
					     { "madvise", THP_MADVISE },
					     { "never", THP_NEVER } };

static int enabled_show(struct seq *seq)
{
	return words_show(seq, enabled_words, ARRAY_SIZE(enabled_words), thp_enabled);
}

static ssize_t enabled_store(const char *text, size_t n, long index)
{
	int v = word_find(enabled_words, ARRAY_SIZE(enabled_words), text);

	if (v < 0)
		return v;
	WRITE_ONCE(switch_thp.value, (u32)v);
	enabled_changed();
	return (ssize_t)n;
}
SHOW(DIR "enabled", 0644, enabled_show, enabled_store);

static int enabled_param(const char *text)
{
	ssize_t n = enabled_store(text, 0, 0);

	return n < 0 ? (int)n : 0;
}
BOOT_PARAM_FUNC("transparent_hugepage", enabled_param, "always, madvise or never: huge pages");

static const struct word defrag_words[] = { { "always", DEFRAG_ALWAYS },
					    { "defer", DEFRAG_DEFER },
					    { "defer+madvise", DEFRAG_DEFER_MADVISE },
					    { "madvise", DEFRAG_MADVISE },
					    { "never", DEFRAG_NEVER } };

static int defrag_show(struct seq *seq)
{
	return words_show(seq, defrag_words, ARRAY_SIZE(defrag_words), switch_value(thp_defrag));
}

static ssize_t defrag_store(const char *text, size_t n, long index)
{
	int v = word_find(defrag_words, ARRAY_SIZE(defrag_words), text);

	if (v < 0)
		return v;
	WRITE_ONCE(switch_thp_defrag.value, (u32)v);
	return (ssize_t)n;
}
SHOW(DIR "defrag", 0644, defrag_show, defrag_store);

static int pmd_size_show(struct seq *seq)
{
	seq_printf(seq, "%lu\n", HPAGE_SIZE);
	return 0;
}
SHOW(DIR "hpage_pmd_size", 0444, pmd_size_show, NULL);

/* ---- khugepaged's numbers ---- */

static const struct setting {
	const char *name;
	u32 *value, min, max;
} settings[] = {
	{ "pages_to_scan", &khugepaged_settings.pages_to_scan, 1, ~0u },
	{ "scan_sleep_millisecs", &khugepaged_settings.scan_sleep_millisecs, 0, ~0u },
	{ "alloc_sleep_millisecs", &khugepaged_settings.alloc_sleep_millisecs, 0, ~0u },
	{ "max_ptes_none", &khugepaged_settings.max_ptes_none, 0, HPAGE_NR - 1 },
	{ "max_ptes_swap", &khugepaged_settings.max_ptes_swap, 0, HPAGE_NR - 1 },
	{ "max_ptes_shared", &khugepaged_settings.max_ptes_shared, 0, HPAGE_NR - 1 },
	{ "defrag", &khugepaged_settings.defrag, 0, 1 },
};

static int nr_settings(void)
{
	return ARRAY_SIZE(settings);
}

static const char *setting_name(long i)
{
	return settings[i].name;
}

static int setting_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", READ_ONCE(*settings[seq->index].value));
	return 0;
}

static ssize_t setting_store(const char *text, size_t n, long index)
{
	const struct setting *s = &settings[index];
	u32 v;

	if (parse_u32(text, &v) || v < s->min || v > s->max)
		return -EINVAL;
	WRITE_ONCE(*s->value, v);
	khugepaged_all();
	return (ssize_t)n;
}
SHOW_NAMED(DIR "khugepaged/%s", 0644, nr_settings, setting_name, setting_show, setting_store);

static int collapsed_show(struct seq *seq)
{
	seq_printf(seq, "%llu\n", (unsigned long long)READ_ONCE(khugepaged_pages_collapsed));
	return 0;
}
SHOW(DIR "khugepaged/pages_collapsed", 0444, collapsed_show, NULL);

static int full_scans_show(struct seq *seq)
{
	seq_printf(seq, "%llu\n", (unsigned long long)READ_ONCE(khugepaged_full_scans));
	return 0;
}
SHOW(DIR "khugepaged/full_scans", 0444, full_scans_show, NULL);
