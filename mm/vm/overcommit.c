/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overcommit.c - how much memory may be promised: Committed_AS, vm.overcommit_memory,
 * vm.overcommit_ratio.
 *
 * Private writable memory is a promise: each page of it may cost a frame later.
 *   0  only what can never be kept is refused: one request larger than all memory and swap
 *   1  nothing is refused
 *   2  the sum of all promises stays below swap and overcommit_ratio percent of memory
 * Fork counts its copies but is not refused in mode 0 and 1.
 */
#include "kernel/param.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"

static atomic_long_t committed;
static long overcommit_memory;
static long overcommit_ratio = 50;
long vm_max_map_count = VM_MAX_MAP_COUNT;
long vm_mmap_min_addr = VM_MIN_ADDR;

TUNABLE("vm/overcommit_memory", overcommit_memory, 0, 2, NULL);
TUNABLE("vm/overcommit_ratio", overcommit_ratio, 0, 100000, NULL);
TUNABLE("vm/max_map_count", vm_max_map_count, 16, S32_MAX, NULL);
TUNABLE("vm/mmap_min_addr", vm_mmap_min_addr, 4096, 1l << 40, NULL);

unsigned long vm_committed_pages(void)
{
	return max(atomic_long_read(&committed), 0l);
}

unsigned long vm_commit_limit(void)
{
	return totalram_pages / 100 * overcommit_ratio +
	       totalram_pages % 100 * overcommit_ratio / 100 + total_swap_pages();
}

void vm_commit(unsigned long vm_flags, long npages)
{
	if (vm_flags & VM_ACCOUNT)
		atomic_long_add(npages, &committed);
}

bool vm_may_commit(unsigned long vm_flags, unsigned long npages)
{
	if (!(vm_flags & VM_ACCOUNT) || overcommit_memory == 1)
		return true;
	if (overcommit_memory == 0)
		return npages <= totalram_pages + total_swap_pages();
	return vm_committed_pages() + npages <= vm_commit_limit();
}
