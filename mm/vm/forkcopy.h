/* SPDX-License-Identifier: BSD-2-Clause */
/* forkcopy.h - the copying half of fork. */
#ifndef MM_VM_FORKCOPY_H
#define MM_VM_FORKCOPY_H

struct aspace;
/*
 * VMAs and page tables of old into the empty mm: 0 or -ENOMEM (mm is then to be put). => old->lock
 * for writing
 */
int fork_copy(struct aspace *mm, struct aspace *old);

#endif
