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
	X(NR_INACTIVE_ANON, "nr_inactive_anon", "anonymous and tmpfs pages not used lately")       \
	X(NR_ACTIVE_ANON, "nr_active_anon", "anonymous and tmpfs pages in use")                    \
	X(NR_INACTIVE_FILE, "nr_inactive_file", "pages of files used once, or not lately")         \
	X(NR_ACTIVE_FILE, "nr_active_file", "pages of files in use")                               \
	X(NR_UNEVICTABLE, "nr_unevictable", "pages no reclaim looks at (mlock)")                   \
	X(NR_MLOCK, "nr_mlock", "pages locked by mlock")                                           \
	X(NR_ANON_PAGES, "nr_anon_pages", "anonymous pages mapped")                                \
	X(NR_MAPPED, "nr_mapped", "file pages mapped")                                             \
	X(NR_FILE_PAGES, "nr_file_pages", "pages in the page cache")                               \
	X(NR_DIRTY, "nr_dirty", "pages of files that differ from their device")                    \
	X(NR_WRITEBACK, "nr_writeback", "pages being written")                                     \
	X(NR_SLAB_RECLAIMABLE, "nr_slab_reclaimable", "slab pages a shrinker may empty")           \
	X(NR_SLAB_UNRECLAIMABLE, "nr_slab_unreclaimable", "other slab pages")                      \
	X(NR_PAGETABLE, "nr_page_table_pages", "pages of page tables")                             \
	X(NR_KERNEL_STACK, "nr_kernel_stack", "pages of kernel stacks")                            \
	X(NR_UNSTABLE, "nr_unstable", "0: no network file systems")                                \
	X(NR_BOUNCE, "nr_bounce", "0: no bounce buffers")                                          \
	X(NR_VMSCAN_WRITE, "nr_vmscan_write", "pages reclaim wrote")                               \
	X(NR_VMSCAN_IMMEDIATE, "nr_vmscan_immediate_reclaim",                                      \
	  "dirty file pages reclaim met and left for the flusher")                                 \
	X(NR_SHMEM, "nr_shmem", "tmpfs and shared memory pages")                                   \
	X(NR_DIRTIED, "nr_dirtied", "pages that became dirty so far")                              \
	X(NR_WRITTEN, "nr_written", "pages whose writing began so far")                            \
	X(NR_ISOLATED_ANON, "nr_isolated_anon", "anonymous pages off the lists for a moment")      \
	X(NR_ISOLATED_FILE, "nr_isolated_file", "file pages off the lists for a moment")           \
	X(NR_ALLOC_BATCH, "nr_alloc_batch",                                                        \
	  "pages the zone may give before its node's other zones are asked")                       \
	X(NR_VMALLOC, "nr_vmalloc", "pages behind vmalloc")                                        \
	X(NR_ANON_THPS, "nr_anon_transparent_hugepages", "huge pages mapped (of nr_anon_pages)")   \
	X(NR_SWAPCACHE, "nr_swapcached", "pages in the swap cache")                                \
	X(WORKINGSET_REFAULT, "workingset_refault",                                                \
	  "pages that came back after reclaim took them")                                          \
	X(WORKINGSET_ACTIVATE, "workingset_activate", "of these, soon enough to start active")     \
	X(WORKINGSET_NODERECLAIM, "workingset_nodereclaim",                                        \
	  "index nodes freed that held traces alone")

#define NUMA_ITEMS(X)                                                                              \
	X(NUMA_HIT, "numa_hit", "allocations from the node that was wanted")                       \
	X(NUMA_MISS, "numa_miss", "allocations here that another node was wanted for")             \
	X(NUMA_FOREIGN, "numa_foreign", "allocations wanted here that another node served")        \
	X(NUMA_INTERLEAVE_HIT, "numa_interleave", "interleaved allocations where planned")         \
	X(NUMA_LOCAL, "numa_local", "allocations for a CPU of this node")                          \
	X(NUMA_OTHER, "numa_other", "allocations for a CPU of another node")

/* Events; those with a suffix per zone type expand to _dma _dma32 _normal _high _movable. */
#define VM_EVENTS(X, Z)                                                                            \
	X(PGPGIN, "pgpgin", "KiB read from disks")                                                 \
	X(PGPGOUT, "pgpgout", "KiB written to disks")                                              \
	X(PSWPIN, "pswpin", "pages read from swap")                                                \
	X(PSWPOUT, "pswpout", "pages written to swap")                                             \
	Z(PGALLOC, "pgalloc", "pages allocated")                                                   \
	X(PGFREE, "pgfree", "pages freed")                                                         \
	X(PGACTIVATE, "pgactivate", "pages moved to an active list")                               \
	X(PGDEACTIVATE, "pgdeactivate", "pages moved to an inactive list")                         \
	X(PGFAULT, "pgfault", "page faults")                                                       \
	X(PGMAJFAULT, "pgmajfault", "page faults whose page was not in memory")                    \
	Z(PGREFILL, "pgrefill", "pages of active lists looked at")                                 \
	Z(PGSTEAL_KSWAPD, "pgsteal_kswapd", "pages kswapd freed")                                  \
	Z(PGSTEAL_DIRECT, "pgsteal_direct", "pages direct reclaim freed")                          \
	Z(PGSCAN_KSWAPD, "pgscan_kswapd", "pages kswapd looked at")                                \
	Z(PGSCAN_DIRECT, "pgscan_direct", "pages direct reclaim looked at")                        \
	X(PGSCAN_DIRECT_THROTTLE, "pgscan_direct_throttle",                                        \
	  "allocations parked before direct reclaim")                                              \
	X(PGINODESTEAL, "pginodesteal", "pages of files that went with unused inodes")             \
	X(SLABS_SCANNED, "slabs_scanned", "objects shrinkers were asked for")                      \
	X(KSWAPD_INODESTEAL, "kswapd_inodesteal", "the same, by kswapd")                           \
	X(KSWAPD_LOW_WMARK_HIT_QUICKLY, "kswapd_low_wmark_hit_quickly",                            \
	  "kswapd was woken out of its trial sleep")                                               \
	X(KSWAPD_HIGH_WMARK_HIT_QUICKLY, "kswapd_high_wmark_hit_quickly",                          \
	  "kswapd found memory short after its trial sleep")                                       \
	X(KSWAPD_SKIP_CONGESTION_WAIT, "kswapd_skip_congestion_wait",                              \
	  "kswapd did not wait: a zone was below its min mark")                                    \
	X(PAGEOUTRUN, "pageoutrun", "passes of kswapd")                                            \
	X(ALLOCSTALL, "allocstall", "direct reclaims")                                             \
	X(PGROTATED, "pgrotated", "written pages moved to the tail for reclaim")                   \
	X(DROP_PAGECACHE, "drop_pagecache", "drop_caches with bit 0")                              \
	X(DROP_SLAB, "drop_slab", "drop_caches with bit 1")                                        \
	X(OOM_KILL, "oom_kill", "processes killed for want of memory")                             \
	X(PGMIGRATE_SUCCESS, "pgmigrate_success", "pages moved to another frame")                  \
	X(PGMIGRATE_FAIL, "pgmigrate_fail", "pages that could not be moved")                       \
	X(COMPACTBLOCKS, "compact_blocks_moved", "batches of pages compaction tried to move")      \
	X(COMPACTPAGES, "compact_pages_moved", "pages compaction moved")                           \
	X(COMPACTPAGEFAILED, "compact_pagemigrate_failed", "pages compaction could not move")      \
	X(COMPACTMIGRATE_SCANNED, "compact_migrate_scanned", "frames looked at for pages to move") \
	X(COMPACTFREE_SCANNED, "compact_free_scanned", "frames looked at for free ones")           \
	X(COMPACTISOLATED, "compact_isolated", "pages and free frames compaction took off lists")  \
	X(COMPACTSTALL, "compact_stall", "allocations that compacted")                             \
	X(COMPACTFAIL, "compact_fail", "of these, got no block afterwards")                        \
	X(COMPACTSUCCESS, "compact_success", "of these, got one")                                  \
	X(KCOMPACTD_WAKE, "compact_daemon_wake", "kcompactd was woken")                            \
	X(KCOMPACTD_MIGRATE_SCANNED, "compact_daemon_migrate_scanned",                             \
	  "of compact_migrate_scanned, by kcompactd")                                              \
	X(KCOMPACTD_FREE_SCANNED, "compact_daemon_free_scanned",                                   \
	  "of compact_free_scanned, by kcompactd")                                                 \
	X(THP_FAULT_ALLOC, "thp_fault_alloc", "faults answered with a huge page")                  \
	X(THP_FAULT_FALLBACK, "thp_fault_fallback", "faults that found no huge page")              \
	X(THP_COLLAPSE_ALLOC, "thp_collapse_alloc", "huge pages taken to collapse small ones")     \
	X(THP_COLLAPSE_ALLOC_FAILED, "thp_collapse_alloc_failed", "collapses that found none")     \
	X(THP_SPLIT_PAGE, "thp_split_page", "huge pages made small ones")                          \
	X(THP_SPLIT_PAGE_FAILED, "thp_split_page_failed", "tries that met somebody else at work")  \
	X(THP_SPLIT_PMD, "thp_split_pmd", "entries of huge pages made tables")                     \
	X(UNEVICTABLE_CULLED, "unevictable_pgs_culled", "pages moved to the unevictable list")     \
	X(UNEVICTABLE_RESCUED, "unevictable_pgs_rescued", "pages moved back from it")              \
	X(UNEVICTABLE_MLOCKED, "unevictable_pgs_mlocked", "pages mlock marked")                    \
	X(UNEVICTABLE_MUNLOCKED, "unevictable_pgs_munlocked", "pages munlock unmarked")

#define _X(e, n, h) e,
#define _Z(e, n, h) e##_DMA, e##_DMA32, e##_NORMAL, e##_HIGH, e##_MOVABLE,
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
/* /sys/kernel/quire/vmstat_about prints the help texts. */

/* /proc/meminfo's parts that belong to higher rooms; they set these (NULL: zero). */
extern unsigned long (*committed_pages_hook)(void);
extern void (*swap_pages_hook)(unsigned long *total, unsigned long *free);
/* The dirty limits in pages, for /proc/vmstat. */
extern void (*dirty_limits_hook)(unsigned long *background, unsigned long *dirty);

#endif
