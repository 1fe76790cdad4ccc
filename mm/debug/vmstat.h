/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmstat.h - mm's counters: one X-macro list gives enum, name and help text of /proc/vmstat.
 * Zone items are levels (may fall), kept per zone; events only rise, kept per CPU.
 */
#ifndef MM_DEBUG_VMSTAT_H
#define MM_DEBUG_VMSTAT_H

#include "arch/percpu.h"

#define ZONE_STAT_ITEMS(X)                                                                         \
	X(NR_FREE_PAGES, "nr_free_pages", "free pages in the buddy")                               \
	X(NR_INACTIVE_ANON, "nr_inactive_anon", "")                                                \
	X(NR_ACTIVE_ANON, "nr_active_anon", "")                                                    \
	X(NR_INACTIVE_FILE, "nr_inactive_file", "")                                                \
	X(NR_ACTIVE_FILE, "nr_active_file", "")                                                    \
	X(NR_UNEVICTABLE, "nr_unevictable", "")                                                    \
	X(NR_MLOCK, "nr_mlock", "")                                                                \
	X(NR_ANON_PAGES, "nr_anon_pages", "anonymous pages mapped")                                \
	X(NR_MAPPED, "nr_mapped", "file pages mapped")                                             \
	X(NR_FILE_PAGES, "nr_file_pages", "pages in the page cache")                               \
	X(NR_DIRTY, "nr_dirty", "")                                                                \
	X(NR_WRITEBACK, "nr_writeback", "")                                                        \
	X(NR_SLAB_RECLAIMABLE, "nr_slab_reclaimable", "")                                          \
	X(NR_SLAB_UNRECLAIMABLE, "nr_slab_unreclaimable", "")                                      \
	X(NR_PAGETABLE, "nr_page_table_pages", "")                                                 \
	X(NR_KERNEL_STACK, "nr_kernel_stack", "pages of kernel stacks")                            \
	X(NR_UNSTABLE, "nr_unstable", "")                                                          \
	X(NR_BOUNCE, "nr_bounce", "")                                                              \
	X(NR_VMSCAN_WRITE, "nr_vmscan_write", "pages reclaim wrote")                               \
	X(NR_VMSCAN_IMMEDIATE, "nr_vmscan_immediate_reclaim", "")                                  \
	X(NR_SHMEM, "nr_shmem", "tmpfs and shared memory pages")                                   \
	X(NR_DIRTIED, "nr_dirtied", "")                                                            \
	X(NR_WRITTEN, "nr_written", "")                                                            \
	X(NR_ISOLATED_ANON, "nr_isolated_anon", "")                                                \
	X(NR_ISOLATED_FILE, "nr_isolated_file", "")                                                \
	X(NR_ALLOC_BATCH, "nr_alloc_batch", "")                                                    \
	X(NR_VMALLOC, "nr_vmalloc", "pages behind vmalloc")

#define NUMA_ITEMS(X)                                                                              \
	X(NUMA_HIT, "numa_hit", "")                                                                \
	X(NUMA_MISS, "numa_miss", "")                                                              \
	X(NUMA_FOREIGN, "numa_foreign", "")                                                        \
	X(NUMA_INTERLEAVE_HIT, "numa_interleave", "")                                              \
	X(NUMA_LOCAL, "numa_local", "")                                                            \
	X(NUMA_OTHER, "numa_other", "")

/* Events; those with a suffix per zone type expand to _dma _dma32 _normal _high _movable. */
#define VM_EVENTS(X, Z)                                                                            \
	X(PGPGIN, "pgpgin", "KiB read from disks")                                                 \
	X(PGPGOUT, "pgpgout", "KiB written to disks")                                              \
	X(PSWPIN, "pswpin", "")                                                                    \
	X(PSWPOUT, "pswpout", "")                                                                  \
	Z(PGALLOC, "pgalloc")                                                                      \
	X(PGFREE, "pgfree", "")                                                                    \
	X(PGACTIVATE, "pgactivate", "")                                                            \
	X(PGDEACTIVATE, "pgdeactivate", "")                                                        \
	X(PGFAULT, "pgfault", "")                                                                  \
	X(PGMAJFAULT, "pgmajfault", "")                                                            \
	Z(PGREFILL, "pgrefill")                                                                    \
	Z(PGSTEAL_KSWAPD, "pgsteal_kswapd")                                                        \
	Z(PGSTEAL_DIRECT, "pgsteal_direct")                                                        \
	Z(PGSCAN_KSWAPD, "pgscan_kswapd")                                                          \
	Z(PGSCAN_DIRECT, "pgscan_direct")                                                          \
	X(PGSCAN_DIRECT_THROTTLE, "pgscan_direct_throttle", "")                                    \
	X(PGINODESTEAL, "pginodesteal", "")                                                        \
	X(SLABS_SCANNED, "slabs_scanned", "")                                                      \
	X(KSWAPD_INODESTEAL, "kswapd_inodesteal", "")                                              \
	X(KSWAPD_LOW_WMARK_HIT_QUICKLY, "kswapd_low_wmark_hit_quickly", "")                        \
	X(KSWAPD_HIGH_WMARK_HIT_QUICKLY, "kswapd_high_wmark_hit_quickly", "")                      \
	X(KSWAPD_SKIP_CONGESTION_WAIT, "kswapd_skip_congestion_wait", "")                          \
	X(PAGEOUTRUN, "pageoutrun", "")                                                            \
	X(ALLOCSTALL, "allocstall", "")                                                            \
	X(PGROTATED, "pgrotated", "")                                                              \
	X(DROP_PAGECACHE, "drop_pagecache", "")                                                    \
	X(DROP_SLAB, "drop_slab", "")                                                              \
	X(OOM_KILL, "oom_kill", "")                                                                \
	X(PGMIGRATE_SUCCESS, "pgmigrate_success", "")                                              \
	X(PGMIGRATE_FAIL, "pgmigrate_fail", "")                                                    \
	X(UNEVICTABLE_CULLED, "unevictable_pgs_culled", "")                                        \
	X(UNEVICTABLE_RESCUED, "unevictable_pgs_rescued", "")                                      \
	X(UNEVICTABLE_MLOCKED, "unevictable_pgs_mlocked", "")                                      \
	X(UNEVICTABLE_MUNLOCKED, "unevictable_pgs_munlocked", "")                                  \
	X(TLB_SHOOTDOWN, "nr_tlb_remote_flush", "")

#define _X(e, n, h) e,
#define _Z(e, n) e##_DMA, e##_DMA32, e##_NORMAL, e##_HIGH, e##_MOVABLE,
enum zone_stat_item { ZONE_STAT_ITEMS(_X) NR_ZONE_STAT_ITEMS };
enum numa_item { NUMA_ITEMS(_X) NR_NUMA_ITEMS };
enum vm_event { VM_EVENTS(_X, _Z) NR_VM_EVENTS };
#undef _X
#undef _Z

DECLARE_PER_CPU(u64[NR_VM_EVENTS], vm_events);
#define count_vm_event(e) this_cpu_inc(vm_events[e])
#define count_vm_events(e, n) this_cpu_add(vm_events[e], n)
/* e.g. count_vm_event_zone(PGALLOC, zone->type, n): the _DMA.._MOVABLE family */
#define count_vm_event_zone(e, zone_type, n) this_cpu_add(vm_events[e##_DMA + (zone_type)], n)
u64 vm_event_sum(enum vm_event e);
const char *zone_stat_name(enum zone_stat_item item);
const char *vm_event_name(enum vm_event e);
const char *numa_stat_name(enum numa_item item);

/* /proc/meminfo's parts that belong to higher rooms; they set these (NULL: zero). */
extern unsigned long (*committed_pages_hook)(void);
extern void (*swap_pages_hook)(unsigned long *total, unsigned long *free);
/* The dirty limits in pages, for /proc/vmstat. */
extern void (*dirty_limits_hook)(unsigned long *background, unsigned long *dirty);

#endif
