/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_rules.h - what a faulty disk shall do to which transfer: rules as text, and the judge.
 * Pure; a plan is an instance, its random numbers come from a seeded generator that is handed in.
 *
 * One rule per line, words apart by blanks or '/':
 *
 *   error [op=write] [range=100-200] [prob=5%] [every=10] [after=3] [count=2] [errno=EIO|ENOSPC]
 *   delay us=5000 | time=5ms   [op= range= prob= every= after= count=]
 *   torn [silent]              [range= prob= every= after= count=]
 *   freeze after=N | at=TIME | in=TIME | now   [eio|hang]
 *   cache on|off [destage=25%] [keep=50%] [unit=1|8]
 *   seed N,  thaw,  clear,  del N
 *
 * op is a list like read+write (default: all; torn: write). range is in sectors of the disk, ends
 * included. prob is a chance in per cent, `every` counts matching transfers, `after` lets the first
 * ones pass, `count` ends the rule after so many hits.
 */
#ifndef DRIVERS_BLK_FAULT_RULES_H
#define DRIVERS_BLK_FAULT_RULES_H

#include "lib/random.h"
#include "lib/types.h"

enum fault_kind { FAULT_ERROR, FAULT_DELAY, FAULT_TORN, NR_FAULT_KINDS };
#define FAULT_READ 1u
#define FAULT_WRITE 2u
#define FAULT_FLUSH 4u
#define FAULT_ALL 7u

struct fault_rule {
	u8 kind;     /* enum fault_kind */
	u8 ops;	     /* FAULT_* */
	bool silent; /* torn: the write says it went well */
	u64 first, last;
	u32 prob;	  /* per cent; 100: always */
	u64 every, after; /* 0: not asked for */
	u64 count;	  /* 0: no end */
	u64 arg;	  /* delay: ns; error: errno */
	u64 seen, hits;
};
#define FAULT_RULES 16
struct fault_plan {
	struct fault_rule rule[FAULT_RULES];
	u32 nr;
	u64 freeze_after; /* writes; 0: not */
	u64 freeze_at;	  /* ns since boot; 0: not */
	bool hang;	  /* frozen: requests hang; else EIO */
	bool cache;	  /* volatile write cache */
	u32 destage; /* per cent: an old version of a sector reaches the medium before the new */
	u32 keep;    /* per cent of the unflushed units that survive a freeze */
	u32 unit;    /* sectors that are kept or lost together */
	u64 seed;
};
/* What a line asks of the device itself, besides the plan. */
enum fault_command {
	FAULT_CMD_NONE,
	FAULT_CMD_SEED,
	FAULT_CMD_FREEZE, /* plan->freeze_at, freeze_after changed */
	FAULT_CMD_FREEZE_NOW,
	FAULT_CMD_THAW,
	FAULT_CMD_CACHE /* plan->cache may have gone off: what it holds is to be written */
};
struct fault_verdict {
	u64 delay_ns;
	int error; /* 0 or -errno */
	bool torn, silent;
};

void fault_plan_init(struct fault_plan *plan);
/*
 * One line (cut up in place). now: for in=. => enum fault_command, or -errno with *wrong set and
 * the plan as before
 */
int fault_parse(struct fault_plan *plan, char *line, u64 now, const char **wrong);
/* Counts and decides. The errors of several rules: the first; delays add up. */
void fault_judge(struct fault_plan *plan, struct rng *rng, u8 op, u64 sector, u32 nr,
		 struct fault_verdict *out);
/* The rule as a line that can be read back. => characters */
int fault_format(const struct fault_rule *r, char *buf, size_t n);

#endif
