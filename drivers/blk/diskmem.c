// SPDX-License-Identifier: BSD-2-Clause
/*
 * diskmem.c - diskmem= as pieces: who has which, and that each starts as zeros.
 *
 * Memory of the emulator that was never touched costs the host nothing, and reading it does not
 * change that: so a piece is read first and only what is not zero is cleared.
 */
#include "drivers/blk/diskmem.h"
#include "arch/page.h"
#include "kernel/bug.h"
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/phys/bootmem.h"
#include "sched/mutex.h"

static DEFINE_MUTEX(diskmem_mutex, RANK_DISK);
static struct diskmem diskmem;

static void clear(u64 *p, u64 bytes)
{
	for (u64 *end = p + bytes / 8; p < end; p += 512) {
		u64 seen = 0;

		for (u32 i = 0; i < 512; i += 8)
			seen |= p[i] | p[i + 1] | p[i + 2] | p[i + 3] | p[i + 4] | p[i + 5] |
				p[i + 6] | p[i + 7];
		if (seen)
			memset(p, 0, PAGE_SIZE);
		cond_resched();
	}
}

void *diskmem_alloc(u64 bytes)
{
	u64 at = 0;

	bytes = ALIGN_UP(bytes, PAGE_SIZE);
	mutex_lock(&diskmem_mutex);
	diskmem.start = diskmem_start;
	diskmem.end = diskmem_end;
	if (diskmem_end > diskmem_start)
		at = diskmem_take(&diskmem, bytes);
	mutex_unlock(&diskmem_mutex);
	if (!at)
		return NULL;
	clear(__va(at), bytes);
	return __va(at);
}

void diskmem_free(void *mem)
{
	bool known;

	mutex_lock(&diskmem_mutex);
	known = diskmem_give(&diskmem, __pa(mem));
	mutex_unlock(&diskmem_mutex);
	BUG_ON(!known);
}

u64 diskmem_free_bytes(void)
{
	u64 at = diskmem_start, best = 0;

	mutex_lock(&diskmem_mutex);
	for (u32 i = 0; i < diskmem.nr; i++) {
		best = max_t(u64, best, diskmem.piece[i].start - at);
		at = diskmem.piece[i].end;
	}
	best = max_t(u64, best, diskmem_end - at);
	mutex_unlock(&diskmem_mutex);
	return best;
}

static int diskmem_show(struct seq *seq)
{
	seq_printf(seq, "total_kb %llu\nlargest_free_kb %llu\n",
		   (unsigned long long)(diskmem_end - diskmem_start) >> 10,
		   (unsigned long long)diskmem_free_bytes() >> 10);
	mutex_lock(&diskmem_mutex);
	for (u32 i = 0; i < diskmem.nr; i++)
		seq_printf(seq, "%llx-%llx\n", (unsigned long long)diskmem.piece[i].start,
			   (unsigned long long)diskmem.piece[i].end);
	mutex_unlock(&diskmem_mutex);
	return 0;
}
SHOW("/sys/kernel/quire/diskmem", 0444, diskmem_show, NULL);
