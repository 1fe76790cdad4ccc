/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * err.h - errors travel as negative errno; a pointer can carry one in the last page of the address
 * space.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

#include "lib/errno.h"
#include "lib/types.h"

#define MAX_ERRNO 4095
#define IS_ERR_VALUE(x) unlikely((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}
static inline long PTR_ERR(const void *ptr)
{
	return (long)ptr;
}
static inline bool IS_ERR(const void *ptr)
{
	return IS_ERR_VALUE(ptr);
}
static inline bool IS_ERR_OR_NULL(const void *ptr)
{
	return !ptr || IS_ERR(ptr);
}

#endif
