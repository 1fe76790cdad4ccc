/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drop.c - /proc/sys/vm/drop_caches: 1 clean page cache, 2 slabs that can shrink, 3 both; and the
 * LRU's validator.
 */
#include "kernel/param.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/debug/check.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/reclaim.h"

static int last_value;

static int drop_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", last_value);
	return 0;
}

static ssize_t drop_store(const char *text, size_t n, long index)
{
	char number[16];
	int v;

	strlcpy(number, text, sizeof(number));
	if (parse_int(strstrip(number), &v) || v < 1 || v > 4)
		return -EINVAL;
	last_value = v;
	if ((v & 1) && reclaim_ops) {
		lru_drain_all();
		reclaim_ops->drop_clean();
		count_vm_event(DROP_PAGECACHE);
	}
	if (v & 2) {
		/* Dentries free inodes free pages: until nothing comes any more, within reason. */
		for (int i = 0; i < 16 && shrink_slab_all(~0ul) > 10; i++)
			;
		count_vm_event(DROP_SLAB);
	}
	pcp_drain_all();
	return (ssize_t)n;
}
SHOW("/proc/sys/vm/drop_caches", 0644, drop_show, drop_store);

static const char *check_lru(void)
{
	struct zone *z;

	for_each_zone(z) {
		const char *what = lruvec_check(z);

		if (what)
			return what;
	}
	return NULL;
}

static const char *check_zones(void)
{
	struct zone *z;

	for_each_zone(z) {
		const char *what = zone_check(z);

		if (what)
			return what;
	}
	return NULL;
}

static const char *check_slabs(void)
{
	const char *cache;

	return slab_check(&cache);
}

void reclaim_checks_init(void)
{
	static struct checker checkers[] = {
		{ .name = "lru", .check = check_lru },
		{ .name = "slab", .check = check_slabs },
		{ .name = "buddy", .check = check_zones },
	};

	for (u32 i = 0; i < ARRAY_SIZE(checkers); i++)
		checker_register(&checkers[i]);
}
