/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.h - the kernel's random numbers: a seeded generator per CPU. With the boot parameter seed=
 * every run draws the same numbers; without it the seed comes from the time stamp counter. A
 * laboratory's source, not for secrets.
 */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include "lib/types.h"

/* => any context but NMI. */
u64 random_u64(void);
void random_bytes(void *buf, size_t n);

#endif
