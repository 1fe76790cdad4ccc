/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.h - disks made by a line of text: "KIND[:key=value,...]" in the boot parameter disks= or
 * written to /sys/kernel/quire/disks. A kind registers itself with DISK_MODEL.
 */
#ifndef DRIVERS_BLK_CREATE_H
#define DRIVERS_BLK_CREATE_H

#include "drivers/blk/blk.h"

struct disk_model {
	const char *name, *about;
	/*
	 * args: what stood behind the colon (may be empty), the callee may change it. Makes and
	 * adds a disk. => may sleep; the disk or ERR_PTR; it has said in one log line what was
	 * wrong
	 */
	struct disk *(*create)(char *args);
};
#define DISK_MODEL(name_, create_, about_)                                                         \
	static struct disk_model __unique(__disk_model_)                                           \
		__attribute__((section(".disk_models"), used, aligned(8))) = { .name = name_,      \
									       .about = about_,    \
									       .create = create_ }

/* One key of a model. A word without '=' is a BOOL that is set, or the value of the first key. */
enum disk_arg_type {
	DISK_ARG_UINT /* u64 */,
	DISK_ARG_SIZE /* u64, 64M */,
	DISK_ARG_BOOL,
	DISK_ARG_TEXT
};
struct disk_arg {
	const char *name;
	enum disk_arg_type type;
	void *value;  /* u64 *, bool *, char[] */
	u64 min, max; /* TEXT: max = size of the buffer */
};
/*
 * Reads "key=value,key=value" (blanks separate too). 0 or -EINVAL with one line that names model,
 * key and value; then some values may be set already.
 */
int disk_args_parse(const char *model, char *args, const struct disk_arg *keys, unsigned int n);
/* One line. => may sleep; the new disk (its reference stays with the list) or ERR_PTR */
struct disk *disk_create(const char *line);
/* The same in two words; args is changed. */
struct disk *disk_model_create(const char *kind, char *args);
/* Free name of a series: "ram%d". => the number; -ENOSPC */
int disk_name_next(const char *prefix, char name[DISK_NAME]);
/* vda, vdb, ... vdz, vdaa */
int disk_letter_next(const char *prefix, char name[DISK_NAME]);

void create_init(void); /* blk_init: what ramdisk= and disks= ask for */

#endif
