/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit_status.h - the status the machine will power off with: written by PID 1, read by reboot(2).
 */
#ifndef KERNEL_EXIT_STATUS_H
#define KERNEL_EXIT_STATUS_H

#include "lib/types.h"

extern u32 exit_status; /* 0: success */

#endif
