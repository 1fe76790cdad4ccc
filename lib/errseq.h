/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errseq.h - an error that is told once to every observer.
 *
 * One word holds the last error, a count of errors, and a bit "somebody has seen this". An observer
 * keeps the word it saw last (a sample); when the word moved since, it is told the error once.
 *
 *   31 ............ 13 | 12 | 11 ... 0
 *        count         |seen|  errno
 *
 * The count rises only when the old value had been seen: repeated errors nobody looked at are one.
 */
#ifndef LIB_ERRSEQ_H
#define LIB_ERRSEQ_H

#include "lib/types.h"

typedef u32 errseq_t;
#define ERRSEQ_ERRNO 0xfffu
#define ERRSEQ_SEEN 0x1000u
#define ERRSEQ_STEP 0x2000u

/* A failure happened (err < 0). => any context, lockless */
static inline void errseq_set(errseq_t *e, int err)
{
	errseq_t old = __atomic_load_n(e, __ATOMIC_RELAXED), next;

	do {
		next = (old & ~(ERRSEQ_ERRNO | ERRSEQ_SEEN)) | (u32)-err;
		if (old & ERRSEQ_SEEN)
			next += ERRSEQ_STEP;
	} while (!__atomic_compare_exchange_n(e, &old, next, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/*
 * What a new observer starts from: an error nobody has been told yet is still news to it.
 */
static inline errseq_t errseq_sample(errseq_t *e)
{
	errseq_t old = __atomic_load_n(e, __ATOMIC_ACQUIRE);

	return old & ERRSEQ_SEEN ? old : 0;
}

/* Is there news? 0 or the error. */
static inline int errseq_check(errseq_t *e, errseq_t since)
{
	errseq_t now = __atomic_load_n(e, __ATOMIC_ACQUIRE);

	return now == since ? 0 : -(int)(now & ERRSEQ_ERRNO);
}

/* The same, and the observer has seen it. => the caller guards *since */
static inline int errseq_check_and_advance(errseq_t *e, errseq_t *since)
{
	errseq_t old = __atomic_load_n(e, __ATOMIC_ACQUIRE);
	int err;

	if (old == *since)
		return 0;
	err = -(int)(old & ERRSEQ_ERRNO);
	if (old && !(old & ERRSEQ_SEEN)) {
		if (__atomic_compare_exchange_n(e, &old, old | ERRSEQ_SEEN, false, __ATOMIC_RELEASE,
						__ATOMIC_ACQUIRE))
			old |= ERRSEQ_SEEN;
	}
	*since = old;
	return err;
}

#endif
