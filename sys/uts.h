/* SPDX-License-Identifier: BSD-2-Clause */
/* uts.h - what uname(2) says, and the two names that can be set. */
#ifndef SYS_UTS_H
#define SYS_UTS_H

#include "lib/types.h"

#define UTS_LEN 64
struct uts { /* as uname(2) passes it: six fields of 65 bytes */
	char sysname[UTS_LEN + 1], nodename[UTS_LEN + 1], release[UTS_LEN + 1];
	char version[UTS_LEN + 1], machine[UTS_LEN + 1], domainname[UTS_LEN + 1];
};
extern struct uts uts;
/* len bytes, not terminated. => 0 or -EINVAL (longer than 64) */
int uts_set_nodename(const char *name, size_t len);
int uts_set_domainname(const char *name, size_t len);

#endif
