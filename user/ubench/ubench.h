/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ubench.h - what a row is. main.c: system calls, faults, processes, tmpfs; disk.c: files on a
 * disk; huge.c: huge pages; reclaim.c: giving memory back.
 */
#ifndef USER_UBENCH_H
#define USER_UBENCH_H

#include "../lab.h"

#define PAGE 4096ul

struct result {
	uint64_t ticks, count;
};
enum net { GROSS, NET_CLEAR, NET_COPY, NET_CLEAR_HUGE, NET_COPY_HUGE };
struct bench {
	const char *name, *about;
	struct result (*run)(uint64_t n);
	uint64_t count;
	enum net net; /* what a second row takes off: clearing or copying one page, or 512 */
	int again;    /* the warm-up is a run of its own; 0: it would spoil the state */
};

extern const char *disk_dir; /* -d DIR: where the rows of disk.c have their file */
extern const struct bench disk_benches[];
extern const size_t nr_disk_benches;
void disk_done(void); /* the file goes */
void huge_rows(void (*run)(const struct bench *b));
extern int with_reclaim; /* -r: the rows of reclaim.c */
void reclaim_rows(void (*run)(const struct bench *b));

#endif
