/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomic.h - indivisible operations on integers and bits shared by CPUs.
 *
 * x86 orders ordinary loads and stores (TSO); every locked operation is a full barrier. So the
 * acquire/release forms below are compiler barriers only, and smp_mb() is a locked no-op.
 */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "lib/types.h"

typedef struct {
	int v;
} atomic_t;
typedef struct {
	long v;
} atomic_long_t;

#define ATOMIC_INIT(n)                                                                             \
	{                                                                                          \
		(n)                                                                                \
	}

#define smp_mb() __asm__ volatile("lock; addl $0, -4(%%rsp)" ::: "memory", "cc")
#define smp_rmb() barrier()
#define smp_wmb() barrier()
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
/* Returns the value found; equal to old when the exchange happened. */
#define cmpxchg(p, old, new)                                                                       \
	({                                                                                         \
		__typeof__(*(p)) _cmpold = (old);                                                  \
		__atomic_compare_exchange_n(p, &_cmpold, new, false, __ATOMIC_SEQ_CST,             \
					    __ATOMIC_SEQ_CST);                                     \
		_cmpold;                                                                           \
	})
#define try_cmpxchg(p, oldp, new)                                                                  \
	__atomic_compare_exchange_n(p, oldp, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define __ATOMIC_FAMILY(T, pre, type)                                                              \
	static __always_inline type pre##_read(const T *a)                                         \
	{                                                                                          \
		return __atomic_load_n(&a->v, __ATOMIC_RELAXED);                                   \
	}                                                                                          \
	static __always_inline void pre##_set(T *a, type n)                                        \
	{                                                                                          \
		__atomic_store_n(&a->v, n, __ATOMIC_RELAXED);                                      \
	}                                                                                          \
	static __always_inline void pre##_add(type n, T *a)                                        \
	{                                                                                          \
		__atomic_fetch_add(&a->v, n, __ATOMIC_SEQ_CST);                                    \
	}                                                                                          \
	static __always_inline void pre##_sub(type n, T *a)                                        \
	{                                                                                          \
		__atomic_fetch_sub(&a->v, n, __ATOMIC_SEQ_CST);                                    \
	}                                                                                          \
	static __always_inline void pre##_inc(T *a)                                                \
	{                                                                                          \
		pre##_add(1, a);                                                                   \
	}                                                                                          \
	static __always_inline void pre##_dec(T *a)                                                \
	{                                                                                          \
		pre##_sub(1, a);                                                                   \
	}                                                                                          \
	static __always_inline type pre##_add_return(type n, T *a)                                 \
	{                                                                                          \
		return __atomic_add_fetch(&a->v, n, __ATOMIC_SEQ_CST);                             \
	}                                                                                          \
	static __always_inline type pre##_fetch_add(type n, T *a)                                  \
	{                                                                                          \
		return __atomic_fetch_add(&a->v, n, __ATOMIC_SEQ_CST);                             \
	}                                                                                          \
	static __always_inline bool pre##_dec_and_test(T *a)                                       \
	{                                                                                          \
		return __atomic_sub_fetch(&a->v, 1, __ATOMIC_SEQ_CST) == 0;                        \
	}                                                                                          \
	static __always_inline bool pre##_sub_and_test(type n, T *a)                               \
	{                                                                                          \
		return __atomic_sub_fetch(&a->v, n, __ATOMIC_SEQ_CST) == 0;                        \
	}                                                                                          \
	static __always_inline type pre##_xchg(T *a, type n)                                       \
	{                                                                                          \
		return __atomic_exchange_n(&a->v, n, __ATOMIC_SEQ_CST);                            \
	}                                                                                          \
	static __always_inline type pre##_cmpxchg(T *a, type old, type new)                        \
	{                                                                                          \
		return cmpxchg(&a->v, old, new);                                                   \
	}                                                                                          \
	/* Adds n unless the value is u; true when it was added. */                                \
	static __always_inline bool pre##_add_unless(T *a, type n, type u)                         \
	{                                                                                          \
		type c = pre##_read(a);                                                            \
                                                                                                   \
		while (c != u)                                                                     \
			if (try_cmpxchg(&a->v, &c, c + n))                                         \
				return true;                                                       \
		return false;                                                                      \
	}                                                                                          \
	static __always_inline bool pre##_inc_not_zero(T *a)                                       \
	{                                                                                          \
		return pre##_add_unless(a, 1, 0);                                                  \
	}

__ATOMIC_FAMILY(atomic_t, atomic, int)
__ATOMIC_FAMILY(atomic_long_t, atomic_long, long)

/*
 * One instruction, indivisible against interrupts of this CPU but not against other CPUs: per-CPU
 * counters.
 */
static __always_inline void local_add16(s16 *p, s16 v)
{
	__asm__("addw %1, %0" : "+m"(*p) : "ri"(v) : "cc");
}
static __always_inline void local_add64(s64 *p, s64 v)
{
	__asm__("addq %1, %0" : "+m"(*p) : "re"(v) : "cc");
}

/* Bit operations on an array of unsigned long. The __ forms are not atomic. */
static __always_inline void set_bit(unsigned long nr, unsigned long *p)
{
	__atomic_fetch_or(p + nr / 64, 1ul << (nr & 63), __ATOMIC_SEQ_CST);
}
static __always_inline void clear_bit(unsigned long nr, unsigned long *p)
{
	__atomic_fetch_and(p + nr / 64, ~(1ul << (nr & 63)), __ATOMIC_SEQ_CST);
}
static __always_inline bool test_and_set_bit(unsigned long nr, unsigned long *p)
{
	return __atomic_fetch_or(p + nr / 64, 1ul << (nr & 63), __ATOMIC_SEQ_CST) &
	       (1ul << (nr & 63));
}
static __always_inline bool test_and_clear_bit(unsigned long nr, unsigned long *p)
{
	return __atomic_fetch_and(p + nr / 64, ~(1ul << (nr & 63)), __ATOMIC_SEQ_CST) &
	       (1ul << (nr & 63));
}
static __always_inline bool test_bit(unsigned long nr, const unsigned long *p)
{
	return (READ_ONCE(p[nr / 64]) >> (nr & 63)) & 1;
}
static __always_inline void __set_bit(unsigned long nr, unsigned long *p)
{
	p[nr / 64] |= 1ul << (nr & 63);
}
static __always_inline void __clear_bit(unsigned long nr, unsigned long *p)
{
	p[nr / 64] &= ~(1ul << (nr & 63));
}

#endif
