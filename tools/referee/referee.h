/* SPDX-License-Identifier: BSD-2-Clause */
/* referee.h - what the files of the referee share. */
#ifndef REFEREE_H
#define REFEREE_H

#include "plugin_abi.h"

#define BUCKETS 32
#define MAX_VCPUS 64
#define KERNEL_HALF 0xffff800000000000ull

/* What happens at an address that is watched. */
enum spot_kind {
	SPOT_OFF,    /* cli */
	SPOT_ON,     /* sti */
	SPOT_RETURN, /* iretq, sysretq */
	SPOT_IDLE,   /* sti of sti; hlt */
	SPOT_ENTRY,  /* first instruction of a gate, or of the system call entry */
	SPOT_HOOK,   /* first instruction of a hook of the tracer */
	SPOT_CLOCK,  /* the hook reads the clock */
	SPOT_CALL,   /* inside the tracer, to the tracer */
	SPOT_RET,    /* inside the tracer */
	SPOT_RESET,  /* the tracer is about to forget all it has, */
	SPOT_RESUME, /* and has: its hooks run again */
	SPOT_POPF,   /* in no table: what it does to IF cannot be seen */
};

struct spot {
	uint64_t addr;
	enum spot_kind kind;
	int site;      /* index into the image's sites; -1 none */
	bool unlisted; /* switches interrupts and is in no table */
	bool stop;     /* SPOT_CLOCK: of the stop hook */
	uint64_t executed;
};

struct site {
	const char *label, *func, *file;
	uint32_t line;
};

/* The kernel image: who may turn interrupts off and on, and where the tracer's own code lies. */
struct image {
	struct site *sites;
	unsigned int nr_sites, nr_insns;
	unsigned int unknown_gates; /* vectors whose stub is in no table */
};

/* image.c. => 0, or -1 after one line on stderr. */
int image_load(struct image *image, const char *path);
/* => the spot at this address, or NULL. */
struct spot *spot_find(uint64_t addr);
/* => the same for an instruction that is being translated; its bytes may make it one. */
struct spot *image_look(uint64_t addr, const uint8_t *code, size_t bytes);
/* => the new spot; one per address and life. */
struct spot *spot_add(uint64_t addr, enum spot_kind kind, int site);
void spot_each(void (*fn)(const struct spot *spot, void *arg), void *arg);

/* One site on one vCPU; lengths in instructions. */
struct site_stat {
	uint64_t sections, total, max; /* the tracer's own instructions left out */
	uint64_t all_total, all_max;   /* with them */
	uint64_t hist[BUCKETS];
	int end; /* site where the longest one ended */
	/* sections both ends of which the tracer saw: between the clock readings of its hooks */
	uint64_t traced, clock_total, clock_max;
	int64_t diff_min, diff_max; /* clock length - length */
	uint64_t unseen, pending;   /* sections without hooks between sections with hooks */
};

enum if_state { IF_UNKNOWN, IF_ON, IF_OFF };

struct vcpu {
	uint64_t executed; /* instructions, up to `mark` */
	enum if_state state;
	unsigned int nested; /* exceptions and NMIs taken with IF = 0, not returned from yet */

	/* the section that is open: state IF_OFF and site >= 0 */
	int site;
	uint64_t start, hook; /* position of its first instruction; instructions of hooks in it */
	uint64_t clock_start, clock_stop;
	bool saw_start, saw_stop;
	unsigned int epoch; /* of the tracer, when it began */

	/* inside a hook */
	bool in_hook;
	unsigned int depth;
	uint64_t hook_start;

	uint64_t sections, off;
	struct site_stat *stats; /* [nr_sites] */
};

struct oddities {
	uint64_t unlisted, popf, nested, on_in_nested, mismatched;
};

/* report.c */
int report_write(const char *path, const char *image_path, const struct image *image,
		 const struct vcpu *vcpus, unsigned int nr_vcpus, const struct oddities *odd,
		 const char *counting);

#endif
