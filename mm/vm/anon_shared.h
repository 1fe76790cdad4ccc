/* SPDX-License-Identifier: BSD-2-Clause */
/* anon_shared.h - MAP_SHARED | MAP_ANONYMOUS: a mapping that belongs to its VMAs. */
#ifndef MM_VM_ANON_SHARED_H
#define MM_VM_ANON_SHARED_H

#include "lib/types.h"

struct vma;
/* Gives vma (borders set) its mapping and hooks: 0 or -ENOMEM. */
int anon_shared_setup(struct vma *vma);
bool vma_is_anon_shared(const struct vma *vma);

#endif
