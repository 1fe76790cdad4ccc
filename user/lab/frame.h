/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - what every experiment of the lab is built from: its description, its keys (name=value
 * words of the command line), records for the host, samples of the kernel's counters, a disk, and
 * load processes that also run on Linux.
 *
 * One experiment is one file doc*.c that ends with LAB_EXPERIMENT(name). One call of `lab run` is
 * one side of it on a fresh boot: there is no way back to the state before, and none is needed.
 *
 * Records: one line each, "LAB kind key=value ...", values without blanks. tools/lablib reads them.
 */
#ifndef USER_LAB_FRAME_H
#define USER_LAB_FRAME_H

#include "../lab.h"

struct lab;

/* A word name=value that an experiment understands. */
struct lab_key {
	const char *name, *value, *about; /* value: the default */
};

struct lab_experiment {
	const char *id;		 /* "001" */
	const char *title;	 /* one line */
	const char *switch_name; /* the document's switch */
	int sides;		 /* its values 0 .. sides-1 */
	/*
	 * where a side is more than one switch: how it is turned, and what it is called (or NULL)
	 */
	int (*turn)(int side);
	const char *const *side_names;
	const char *about;	     /* what the document says and what to look for, in our words */
	const struct lab_key *keys;  /* ends with a NULL name */
	int (*run)(struct lab *lab); /* 0, or an exit status */
};
#define LAB_EXPERIMENT(var)                                                                        \
	const struct lab_experiment *const lab_entry_##var                                         \
		__attribute__((section("lab_experiments"), used)) = &(var)
extern const struct lab_experiment *const __start_lab_experiments[],
	*const __stop_lab_experiments[];

#define LAB_WORDS 40
struct lab {
	const struct lab_experiment *exp;
	int side; /* -1: as the kernel has it */
	int nr_words;
	const char *words[LAB_WORDS]; /* name=value as given */
	/* what lab_disk made; bdi: "major:minor " as the kernel's tables name the device */
	char device[32], bdi[32], mounted[64];
	char swap[32];	      /* what lab_swap made */
	uint64_t start_ns;    /* clock at the start of the run */
	unsigned long map_ms; /* map=: a look at the memory map so often; 0: none */
};

/* Value of a key: as given, or its default. Exits when the experiment has no such key. */
const char *lab_text(const struct lab *lab, const char *key);
unsigned long lab_number(const struct lab *lab, const char *key);

/* ---- records ---- */
/* "LAB kind " and what the format says; blanks inside values are the caller's to avoid. */
void lab_record(const char *kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for one name and a text with blanks: "LAB kind name=text with blanks". */
void lab_note(const char *kind, const char *name, const char *text);
/* A line for a person: "# ..." */
void lab_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Everything that a figure depends on: machine, clock, switches, tunables, keys. */
void lab_provenance(struct lab *lab);
/* Writes text to a file of the kernel. => 0; a missing file or a refusal: -1 after one line */
int lab_write(const char *path, const char *text);
int lab_tunable(const char *name, unsigned long value); /* "vm/dirty_ratio" */
int lab_switch(const char *name, int value);
/* The first line of a file into text; "" when it is absent. => 1: there was one */
int lab_line(const char *path, char *text, size_t size);

/* ---- samples ---- */
/* Named numbers read at one instant. */
#define LAB_VALUES 192
struct lab_values {
	uint64_t ns;
	int nr;
	struct {
		char name[80];
		unsigned long long value;
	} v[LAB_VALUES];
};
void values_begin(struct lab_values *v); /* empties it and notes the time */
void values_set(struct lab_values *v, const char *name, unsigned long long value);
/*
 * The lines "name number" of a file, with prefix before each name; names (NULL: all) ends with
 * NULL. => how many were found
 */
int values_lines(struct lab_values *v, const char *path, const char *prefix,
		 const char *const *names);
/* The words name=number of the line of a file that begins with `first`. => how many were found */
int values_pairs(struct lab_values *v, const char *path, const char *first);
/* cpu line of /proc/stat as stat_user, stat_system, ... in USER_HZ */
void values_stat(struct lab_values *v);
unsigned long long values_get(const struct lab_values *v, const char *name); /* 0: absent */
int values_has(const struct lab_values *v, const char *name);
/* now - before, 0 when either is absent or it went down */
unsigned long long values_delta(const struct lab_values *now, const struct lab_values *before,
				const char *name);
void sleep_until(uint64_t monotonic_ns);
/*
 * The memory map over time as records, by a process of its own, until lab_map_stop(). `lab run ID
 * map=MS` does it for any experiment. => 0; -1 after one line: the kernel has none
 */
int lab_map_start(const struct lab *lab, unsigned long ms);
void lab_map_stop(void);

/* ---- a disk ---- */
/* Creates a disk model. => 0 and its name ("bw0"), or -1 after one line */
int lab_model(const char *model, char *name, size_t size);
void lab_model_gone(const char *name);
/*
 * Creates the disk model `model` ("" or "none": the directory dir is used as it is), an ext2 on it,
 * and mounts it on dir. => 0, or -1 after one line
 */
int lab_disk(struct lab *lab, const char *model, const char *dir);
/* Creates the model ("" or "none": nothing), makes swap space of it and uses it. As above. */
int lab_swap(struct lab *lab, const char *model);
void lab_disk_gone(struct lab *lab); /* umount, swapoff and remove, if there is something */

/* ---- load ---- */
/* Processes that write, each its own file in dir, until they are stopped. */
struct writers {
	const char *dir;
	unsigned int nr;
	unsigned long block;	  /* bytes of one write(2) */
	unsigned long file_bytes; /* then from the start again */
	unsigned long keep_bytes; /* cache farther behind is dropped (clean by then); 0: none is */
	unsigned long think_us;	  /* pause between two writes */
	unsigned long stagger_us; /* each starts after a random part of this */
	uint64_t seed;
	/* private */
	struct writers_shared *shared;
	pid_t *pids;
};
int writers_start(struct writers *w); /* 0; -1 after one line */
unsigned long long writers_bytes(const struct writers *w);
/* bytes of the slowest and the fastest so far */
void writers_spread(const struct writers *w, unsigned long long *least, unsigned long long *most);
/* Ends them and their files. => how many did not end well */
int writers_stop(struct writers *w);
int writers_main(int argc,
		 char **argv); /* `lab writers ...`: the same load by hand, on Linux too */

/* Processes that read through a sparse mapped file each, once, all started at the same time. */
struct streams {
	const char *dir;
	unsigned int nr;
	unsigned long file_bytes;
	unsigned int bad; /* did not end well */
	/* private */
	unsigned int left;
	pid_t *pids;
};
int streams_prepare(struct streams *s); /* all stand ready. 0; -1 after one line */
/* Starts them and waits for the last; calls sample(arg) every so often meanwhile. */
void streams_watch(struct streams *s, uint64_t every_ns, void (*sample)(void *), void *arg);
int streams_main(int argc, char **argv); /* `lab streams ...`: by hand, on Linux too */

/* Memory in pieces: a process that holds what fragment.c describes. */
struct fragment_done {
	unsigned long filled, back, tables_made, tables, again, locked, holes; /* pages */
	int ready;
};
struct fragment {
	unsigned long low_bytes;  /* the lower part of memory: to be fragmented */
	unsigned int of_four;	  /* pageblocks of four with a page table in it */
	unsigned long keep_bytes; /* so much stays free while memory is filled */
	int lock;		  /* the upper part is locked in memory */
	/* private */
	struct fragment_done *done;
	pid_t pid;
};
int fragment_start(struct fragment *f); /* returns when it stands. 0; -1 after one line */
void fragment_stop(struct fragment *f);
int fragment_main(int argc, char **argv); /* `lab fragment ...`: by hand, on Linux too */

/* Programs that want huge pages, and one that streams a file (hugeload.c). */
struct huge_counts {
	unsigned long areas, rounds, verified; /* of 2 MiB; whole regions; pages looked at again */
	unsigned long collapsed, forked, bytes_read;
};
struct hugeload {
	unsigned int nr;
	unsigned long bytes;	/* region of each, a multiple of 2 MiB */
	unsigned long think_us; /* after each 2 MiB */
	int mix;		/* everything that splits, copies and collapses as well */
	const char *file;	/* read over and over by one more process; NULL: none */
	unsigned long file_us;	/* its pause after each 64 KiB */
	uint64_t seed;
	/* private */
	struct huge_counts *counts; /* [nr + 1] */
	pid_t *pids;
};
int hugeload_start(struct hugeload *h);			      /* 0; -1 after one line */
struct huge_counts hugeload_counts(const struct hugeload *h); /* sums so far */
int hugeload_stop(struct hugeload *h);			      /* => how many did not end well */
int hugeload_main(int argc, char **argv); /* `lab huge ...`: by hand, on Linux too */

/* ---- what the tracer saw (sections.c) ---- */
/*
 * Interrupts-off sections from now on, the worst of every interval as a sample. 0; -1 after one
 * line
 */
int sections_start(unsigned long interval_us);
/* Ends it: the report, every site, the stacks of the worst, as records. => the longest, in ticks */
unsigned long sections_stop(void);
/* Compaction's events into the ring / the records made of them; on 0: not asked for. */
void walks_start(int on);
void walks_stop(int on);

#endif
