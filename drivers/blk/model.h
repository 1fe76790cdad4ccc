/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - disk models: how long a disk would take. Pure: a model knows sectors and nanoseconds,
 * no requests, no memory, no clock; host tests build one on the stack.
 *
 * A kind (hdd, ssd, usb, bw) is a table of parameters and three functions. Time is handed in:
 * `now` is when the device itself could begin, which the driver (model.c) keeps exact even when
 * the CPU looks late. Theory and figures of each kind: docs/disk-models.md.
 */
#ifndef DRIVERS_BLK_MODEL_H
#define DRIVERS_BLK_MODEL_H

#include "lib/types.h"

enum model_op { MODEL_READ, MODEL_WRITE, MODEL_FLUSH, MODEL_DISCARD };

struct model_rq {
	u64 sector;
	u32 nr_sectors; /* 0: flush */
	u8 op;		/* enum model_op */
	u8 fua;		/* a write that may not stay in the cache */
};

enum model_unit { MODEL_BYTES, MODEL_RATE, MODEL_NS, MODEL_NUMBER, MODEL_PERCENT };
struct model_param {
	const char *name;
	u8 unit;   /* enum model_unit: what suffixes mean */
	bool live; /* may change while the disk is in use */
	u64 def, min, max;
	const char *about;
};
#define MODEL_MAX_PARAMS 24
/* Every kind begins with these three. */
enum { MP_SIZE, MP_BW, MP_DEPTH, MP_OWN };

struct model;
struct model_kind {
	const char *name, *about;
	const struct model_param *params;
	u32 nr_params;
	/* How many requests are at work at a time; the others wait to be chosen. 0: all of them. */
	u32 parallel;
	bool rotational;
	/* Derived figures from m->p. NULL, or what is wrong with the parameters. */
	const char *(*setup)(struct model *m);
	/*
	 * Nanoseconds until the first byte moves if rq began now: the driver takes the smallest.
	 * NULL: in order of arrival. => m does not change
	 */
	u64 (*position)(const struct model *m, const struct model_rq *rq, u64 now);
	/* Begins rq. => when it ends (>= now) */
	u64 (*start)(struct model *m, const struct model_rq *rq, u64 now);
	/* One line of state for the table. May be NULL. => characters */
	int (*state)(const struct model *m, char *buf, size_t n);
};
extern const struct model_kind model_hdd, model_ssd, model_usb, model_bw;

/* A write cache on board: takes writes at once while there is room, empties at a rate. */
struct model_cache {
	u64 bytes, ns_at; /* dirty at that time */
};

#define HDD_ZONES 16
struct hdd_state {
	u64 rotation_ns, zone_sectors;
	u64 zone_bw[HDD_ZONES], zone_ns[HDD_ZONES + 1]; /* rate; media time where it begins */
	u64 cylinders;
	u64 cylinder; /* where the arm is */
	u64 end_ns;   /* when the last transfer ended */
	u64 end_sector;
	u8 end_op;
	struct model_cache cache;
	u64 seeks, seek_ns, rotation_wait_ns, transfers, buffer_hits;
};
#define SSD_MAX_DIES 256
struct ssd_state {
	u32 channels, dies;	      /* dies in all */
	u64 link_ns;		      /* the host link is busy until */
	u64 channel_ns[64];	      /* each bus */
	u64 die_ns[SSD_MAX_DIES];     /* each die */
	u32 programmed[SSD_MAX_DIES]; /* pages since the last erase */
	struct model_cache cache;
	u64 erases;
};
struct bw_state {
	u64 busy_ns;   /* the wire is busy until */
	u64 remainder; /* of the division bytes / rate, so that the sum is exact */
	u64 next_sector;
};
struct model {
	const struct model_kind *kind;
	u64 p[MODEL_MAX_PARAMS];
	u64 nr_sectors;
	union {
		struct hdd_state hdd;
		struct ssd_state ssd;
		struct bw_state bw;
	};
};

/* model_param.c */
/* Defaults. */
void model_init(struct model *m, const struct model_kind *kind);
/* name=value; live: the disk is in use. 0, -ENOENT (no such name), -EINVAL, -ERANGE, -EBUSY */
int model_set(struct model *m, const char *name, const char *value, bool live);
/* After the last model_set. NULL or what is wrong. */
const char *model_ready(struct model *m);
/* "8500us", "100M/s": the value as a person writes it, exact. => characters */
int model_format(const struct model *m, u32 param, char *buf, size_t n);
const struct model_kind *model_find(const char *name); /* NULL */
extern const struct model_kind *const model_kinds[4];
/* "8ms", "100us", "5s", "7ns"; a bare number is microseconds. 0, -EINVAL, -ERANGE */
int model_parse_ns(const char *text, u64 *out);

/* model_cache.c: all rates in bytes per second */
u64 model_cache_write(struct model_cache *c, u64 size, u64 rate, u64 bytes, u64 now);
u64 model_cache_drained(struct model_cache *c, u64 rate, u64 now);
/* bytes * 10^9 / rate, rounded down. => rate > 0 */
u64 model_ns(u64 bytes, u64 rate);

#endif
