/* SPDX-License-Identifier: BSD-2-Clause */
/* io.h - port and memory-mapped device registers. */
#ifndef ARCH_IO_H
#define ARCH_IO_H

#include "lib/types.h"

#define __PORT_IO(suffix, type)                                                                    \
	static __always_inline type in##suffix(u16 port)                                           \
	{                                                                                          \
		type v;                                                                            \
		__asm__ volatile("in" #suffix " %1, %0" : "=a"(v) : "Nd"(port) : "memory");        \
		return v;                                                                          \
	}                                                                                          \
	static __always_inline void out##suffix(type v, u16 port)                                  \
	{                                                                                          \
		__asm__ volatile("out" #suffix " %0, %1" : : "a"(v), "Nd"(port) : "memory");       \
	}
__PORT_IO(b, u8)
__PORT_IO(w, u16)
__PORT_IO(l, u32)

#define __MMIO(name, type)                                                                         \
	static __always_inline type mmio_read##name(const volatile void *p)                        \
	{                                                                                          \
		return *(const volatile type *)p;                                                  \
	}                                                                                          \
	static __always_inline void mmio_write##name(type v, volatile void *p)                     \
	{                                                                                          \
		*(volatile type *)p = v;                                                           \
	}
__MMIO(8, u8)
__MMIO(16, u16)
__MMIO(32, u32)
__MMIO(64, u64)

#endif
