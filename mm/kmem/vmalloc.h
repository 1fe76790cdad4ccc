/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmalloc.h - virtually contiguous memory, each area followed by an unmapped guard page; kernel
 * stacks.
 */
#ifndef MM_KMEM_VMALLOC_H
#define MM_KMEM_VMALLOC_H

#include "mm/phys/gfp.h"

void *vmalloc(size_t bytes); /* GFP_KERNEL; NULL when out of memory; may sleep */
void *vzalloc(size_t bytes);
void *vmalloc_node(size_t bytes, int node);
void vfree(const void *p); /* may sleep; NULL is fine */
bool is_vmalloc_addr(const void *p);
void *kvmalloc(size_t bytes, gfp_t gfp); /* kmalloc up to 16 KiB, else vmalloc */
void kvfree(const void *p);
/*
 * Address space only (ioremap): page aligned, with guard; 0 when exhausted. Usable before
 * vmalloc_init.
 */
unsigned long vmalloc_reserve_va(size_t bytes);
void vmalloc_init(void);

#define KSTACK_BYTES 16384u
/* A stack with guard pages below and above; cached per CPU. Lowest address or NULL. */
void *kstack_alloc(int node);
void kstack_free(void *stack); /* any thread context; stacks in use by nobody */

#endif
