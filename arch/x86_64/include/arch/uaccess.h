/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uaccess.h - the only way to a program's memory.
 *
 * Every access checks the range against USER_TOP, opens SMAP for as long as it copies (stac/clac),
 * and has an entry in .extable so that a fault that the fault handler cannot mend ends in -EFAULT,
 * not in a panic. With pagefault_disable() in force the fault handler does not even try (callers
 * hold locks).
 */
#ifndef ARCH_UACCESS_H
#define ARCH_UACCESS_H

#include "arch/page.h"
#include "lib/err.h"

static __always_inline bool access_ok(const void __user *p, size_t n)
{
	return (unsigned long)p <= USER_TOP && n <= USER_TOP - (unsigned long)p;
}

/*
 * => may fault and sleep unless page faults are disabled; return the number of bytes NOT copied.
 * copy_from_user clears nothing on failure: callers treat any non-zero return as -EFAULT or a short
 * count.
 */
__must_check size_t copy_from_user(void *to, const void __user *from, size_t n);
__must_check size_t copy_to_user(void __user *to, const void *from, size_t n);
__must_check size_t clear_user(void __user *to, size_t n);
/*
 * => copies at most n bytes with the final NUL; returns the length without NUL, n when no NUL was
 * found, -EFAULT.
 */
__must_check ssize_t strncpy_from_user(char *to, const char __user *from, size_t n);
/*
 * => 0 or -EFAULT; naturally aligned values of 4 and 8 bytes are accessed in one instruction
 * (futex).
 */
__must_check int get_user_u32(u32 *to, const u32 __user *from);
__must_check int put_user_u32(u32 v, u32 __user *to);
__must_check int get_user_u64(u64 *to, const u64 __user *from);
__must_check int put_user_u64(u64 v, u64 __user *to);
/* => 0 or -EFAULT; *old receives the value found (equal to expected when exchanged). */
__must_check int cmpxchg_user_u32(u32 __user *p, u32 expected, u32 desired, u32 *old);

#define copy_struct_from_user(dst, src) (copy_from_user(dst, src, sizeof(*(dst))) ? -EFAULT : 0)
#define copy_struct_to_user(dst, src) (copy_to_user(dst, src, sizeof(*(src))) ? -EFAULT : 0)

/*
 * Faults on user addresses return at once to the fixup (no mmap lock, no allocation). Nests; per
 * thread.
 */
void pagefault_disable(void);
void pagefault_enable(void);
bool pagefault_disabled(void);

/* One entry of .extable: a fault at insn continues at fixup. */
struct extable_entry {
	u64 insn, fixup;
};
/* => the fixup address or 0. */
u64 extable_find(u64 rip);

#endif
