/* SPDX-License-Identifier: BSD-2-Clause */
/* errno_name.h - error numbers by name. */
#ifndef LIB_ERRNO_NAME_H
#define LIB_ERRNO_NAME_H

/* "ENOENT" for 2 or -2; NULL for a number that is none. */
const char *errno_name(long error);

#endif
