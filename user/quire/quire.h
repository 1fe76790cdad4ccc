/* SPDX-License-Identifier: BSD-2-Clause */
/* quire.h - the parts of the program `quire`; main.c only finds them. */
#ifndef USER_QUIRE_H
#define USER_QUIRE_H

#include "../lab.h"

/* `quire map ...`: => exit status */
int map_main(int argc, char **argv);
/* `quire latency ...` */
int latency_main(int argc, char **argv);

#endif
