/* SPDX-License-Identifier: BSD-2-Clause */
/* misc.h - names of the system, for uname and /proc. */
#ifndef SYS_MISC_H
#define SYS_MISC_H

#define SYS_RELEASE "6.1.0-quire"
#define SYS_VERSION "#1 SMP Quire"

extern char host_name[65], domain_name[65];

#endif
