/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.h - the words every file of Quire is written in: fixed-width integers, bool, attributes,
 * and the handful of macros that have no better home. Floor 0: includes nothing of the project.
 */
#ifndef LIB_TYPES_H
#define LIB_TYPES_H

#if !defined(__x86_64__) || !defined(__LP64__)
#error "Quire is an x86-64 kernel: use make CROSS_COMPILE=x86_64-linux-gnu- or the like"
#endif

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

typedef u64 phys_addr_t;     /* a physical address in bytes */
typedef unsigned long pfn_t; /* a page frame number: physical address >> 12 */
typedef unsigned int gfp_t;  /* allocation flags, see mm/phys/gfp.h */
typedef s64 loff_t;
typedef long ssize_t;
typedef u32 dev_t; /* major << 20 | minor */
typedef unsigned int umode_t;
typedef int pid_t;
typedef u64 ktime_t; /* nanoseconds since boot */

#define U8_MAX ((u8)~0)
#define U32_MAX ((u32)~0u)
#define S32_MAX 0x7fffffff
#define U64_MAX ((u64)~0ull)
#define S64_MAX ((s64)(U64_MAX >> 1))
#ifndef ULONG_MAX
#define ULONG_MAX (~0ul)
#endif
#ifndef INT_MAX
#define INT_MAX 0x7fffffff
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define __stringify_1(x) #x
#define __stringify(x) __stringify_1(x)
#define __concat_1(a, b) a##b
#define __concat(a, b) __concat_1(a, b)
#define __unique(prefix) __concat(prefix, __COUNTER__)

#define __packed __attribute__((packed))
#define __aligned(n) __attribute__((aligned(n)))
#define __noreturn __attribute__((noreturn))
#define __must_check __attribute__((warn_unused_result))
#define __printf_like(f, a) __attribute__((format(printf, f, a)))
#define __section(s) __attribute__((section(s), used))
#ifdef QUIRE_HOST /* host tests: registry sections of the image do not exist */
#define __init
#define __initdata
#else
#define __init __attribute__((section(".init.text"), cold)) /* freed after boot */
#define __initdata __attribute__((section(".init.data")))
#endif
#define __cacheline_aligned __attribute__((aligned(64)))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define fallthrough __attribute__((fallthrough))
#define __user /* a pointer into a program's address space: only through arch/uaccess.h */

/* clang's thread-safety annotations (habit must-hold); gcc sees nothing. */
#ifdef __clang__
#define __must_hold(x)
#else
#define __must_hold(x)
#endif

#define min(a, b)                                                                                  \
	({                                                                                         \
		__auto_type _mina = (a);                                                           \
		__typeof__(_mina) _minb = (b);                                                     \
		_mina < _minb ? _mina : _minb;                                                     \
	})
#define max(a, b)                                                                                  \
	({                                                                                         \
		__auto_type _maxa = (a);                                                           \
		__typeof__(_maxa) _maxb = (b);                                                     \
		_maxa > _maxb ? _maxa : _maxb;                                                     \
	})
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define swap(a, b)                                                                                 \
	do {                                                                                       \
		__auto_type _swp = (a);                                                            \
		(a) = (b);                                                                         \
		(b) = _swp;                                                                        \
	} while (0)

#define ALIGN_UP(x, a) (((x) + ((__typeof__(x))(a)-1)) & ~((__typeof__(x))(a)-1))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a)-1))
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a)-1)) == 0)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define BIT(n) (1ul << (n))
#define KiB(n) ((u64)(n) << 10)
#define MiB(n) ((u64)(n) << 20)
#define GiB(n) ((u64)(n) << 30)

/* One compiler load/store: no tearing, no re-reading, no ordering. */
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define barrier() __asm__ volatile("" ::: "memory")

#endif
