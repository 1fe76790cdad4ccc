/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bug.h - assertions: ASSERT in debug builds, BUG_ON always, WARN_ON reports once per place and
 * goes on.
 */
#ifndef KERNEL_BUG_H
#define KERNEL_BUG_H

#include "lib/types.h"

__noreturn void panic(const char *fmt, ...) __printf_like(1, 2);
void warn_at(const char *file, int line, const char *what);

#define BUG_ON(cond)                                                                               \
	do {                                                                                       \
		if (unlikely(cond))                                                                \
			panic("BUG at %s:%d: %s", __FILE__, __LINE__, #cond);                      \
	} while (0)
#define WARN_ON(cond)                                                                              \
	({                                                                                         \
		bool _w = !!(cond);                                                                \
		static bool _warned;                                                               \
		if (unlikely(_w && !_warned)) {                                                    \
			_warned = true;                                                            \
			warn_at(__FILE__, __LINE__, #cond);                                        \
		}                                                                                  \
		unlikely(_w);                                                                      \
	})
#ifdef QUIRE_DEBUG
#define ASSERT(cond) BUG_ON(!(cond))
#else
#define ASSERT(cond) ((void)sizeof(!(cond)))
#endif
#define static_assert _Static_assert

#endif
