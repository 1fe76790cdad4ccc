/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gfp.h - what an allocation may do and where its page may lie.
 *
 * Zone class of a request (highest zone it may use): DMA, DMA32, else Normal; HIGH -> High;
 * HIGH+MOVABLE -> Movable. MOVABLE alone does not raise the zone. Fallback goes downwards.
 */
#ifndef MM_PHYS_GFP_H
#define MM_PHYS_GFP_H

#include "lib/types.h"

#define __GFP_DMA 0x01u
#define __GFP_HIGH_ZONE 0x02u
#define __GFP_DMA32 0x04u
#define __GFP_MOVABLE 0x08u
#define __GFP_RECLAIMABLE 0x10u
#define __GFP_HIGH 0x20u /* may dip into half the min watermark */
#define __GFP_IO 0x40u	 /* may start I/O */
#define __GFP_FS 0x80u	 /* may call into file systems */
#define __GFP_ZERO 0x100u
#define __GFP_ATOMIC 0x200u	    /* caller cannot sleep: HARDER */
#define __GFP_DIRECT_RECLAIM 0x400u /* may sleep and reclaim */
#define __GFP_KSWAPD_RECLAIM 0x800u /* wakes kswapd */
#define __GFP_WRITE 0x1000u	    /* page cache page that will be dirtied soon */
#define __GFP_NOWARN 0x2000u
#define __GFP_NORETRY 0x4000u /* one round of reclaim, no OOM kill */
#define __GFP_NOFAIL 0x8000u
#define __GFP_COMP 0x10000u
#define __GFP_THISNODE 0x20000u
#define __GFP_MEMALLOC 0x40000u /* no watermarks */
#define __GFP_NOMEMALLOC 0x80000u
#define __GFP_HARDWALL 0x100000u
#define __GFP_ACCOUNT 0x200000u
#define __GFP_RETRY_MAYFAIL 0x400000u
#define __GFP_COLD 0x800000u

/* Blocks above this order: nobody dies for them, nobody tries for long. */
#define COSTLY_ORDER 3u

#define __GFP_RECLAIM (__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM)
#define GFP_ATOMIC (__GFP_HIGH | __GFP_ATOMIC | __GFP_KSWAPD_RECLAIM)
#define GFP_KERNEL (__GFP_RECLAIM | __GFP_IO | __GFP_FS)
#define GFP_NOWAIT (__GFP_KSWAPD_RECLAIM)
#define GFP_NOIO (__GFP_RECLAIM)
#define GFP_NOFS (__GFP_RECLAIM | __GFP_IO)
#define GFP_USER (GFP_KERNEL | __GFP_HARDWALL)
#define GFP_HIGHUSER (GFP_USER | __GFP_HIGH_ZONE)
#define GFP_HIGHUSER_MOVABLE (GFP_HIGHUSER | __GFP_MOVABLE)

#endif
