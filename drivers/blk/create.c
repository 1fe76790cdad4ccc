// SPDX-License-Identifier: BSD-2-Clause
/*
 * create.c - disks made and removed by a line of text, at boot (disks=) or at run time
 * (/sys/kernel/quire/disks).
 *
 *   echo ram:size=64M > /sys/kernel/quire/disks      (or "ram 64M")
 *   echo remove ram0 > /sys/kernel/quire/disks
 *
 * The kinds are a registry (DISK_MODEL): whoever writes a new one registers it beside its code.
 */
#include "drivers/blk/create.h"
#include "drivers/blk/internal.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

extern struct disk_model __disk_models_start[], __disk_models_end[];

static char disks_words[512];
BOOT_PARAM_STRING("disks", disks_words,
		  "disks to make, blanks or ; between: \"ram:size=64M hdd:size=4G,discard\"");

/* ---- arguments ------------------------------------------------------------------------------- */

static int set_arg(const struct disk_arg *key, const char *text)
{
	u64 v = 0;
	int err;

	switch (key->type) {
	case DISK_ARG_UINT:
	case DISK_ARG_SIZE:
		err = key->type == DISK_ARG_SIZE ? parse_size(text, &v) : parse_u64(text, &v);
		if (err)
			return err;
		if (v < key->min || v > key->max)
			return -ERANGE;
		*(u64 *)key->value = v;
		return 0;
	case DISK_ARG_BOOL:
		return parse_bool(text, key->value);
	case DISK_ARG_TEXT:
		if (!*text || strlen(text) >= key->max)
			return -ERANGE;
		strlcpy(key->value, text, key->max);
		return 0;
	}
	return -EINVAL;
}

static int refuse_arg(const char *model, const struct disk_arg *key, const char *value, int err)
{
	if (err == -ERANGE && key->type != DISK_ARG_TEXT)
		pr_err("disks: %s: %s=%s is outside %llu..%llu", model, key->name, value,
		       (unsigned long long)key->min, (unsigned long long)key->max);
	else
		pr_err("disks: %s: %s=%s is not understood", model, key->name, value);
	return -EINVAL;
}

static int one_arg(const char *model, char *word, const struct disk_arg *keys, unsigned int n)
{
	char *value = strchr(word, '=');
	int err;

	if (value)
		*value++ = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(keys[i].name, word))
			continue;
		if (!value && keys[i].type != DISK_ARG_BOOL)
			break;
		err = set_arg(&keys[i], value ? value : "1");
		return err ? refuse_arg(model, &keys[i], value, err) : 0;
	}
	if (!value && n && isdigit_c(*word)) { /* a bare value is the first key's */
		err = set_arg(&keys[0], word);
		return err ? refuse_arg(model, &keys[0], word, err) : 0;
	}
	pr_err("disks: %s: unknown key %s", model, word);
	return -EINVAL;
}

int disk_args_parse(const char *model, char *args, const struct disk_arg *keys, unsigned int n)
{
	char *word;
	int err = 0;

	while (!err && (word = strsep(&args, ", \t")))
		if (*word)
			err = one_arg(model, word, keys, n);
	return err;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool name_taken(const char *name)
{
	bool taken = false;
	struct disk *d;

	mutex_lock(&disk_lock);
	list_for_each_entry(d, &disk_list, node)
		taken |= !strcmp(d->name, name);
	mutex_unlock(&disk_lock);
	return taken;
}

int disk_name_next(const char *prefix, char name[DISK_NAME])
{
	for (int i = 0; i < MAX_DISKS; i++) {
		snprintf(name, DISK_NAME, "%s%d", prefix, i);
		if (!name_taken(name))
			return i;
	}
	return -ENOSPC;
}

int disk_letter_next(const char *prefix, char name[DISK_NAME])
{
	for (int i = 0; i < MAX_DISKS; i++) {
		if (i < 26)
			snprintf(name, DISK_NAME, "%s%c", prefix, 'a' + i);
		else
			snprintf(name, DISK_NAME, "%s%c%c", prefix, 'a' + i / 26 - 1, 'a' + i % 26);
		if (!name_taken(name))
			return i;
	}
	return -ENOSPC;
}

/* ---- making ---------------------------------------------------------------------------------- */

struct disk *disk_model_create(const char *kind, char *args)
{
	struct disk_model *m = __disk_models_start;
	struct disk *disk;

	while (m < __disk_models_end && strcmp(m->name, kind))
		m++;
	if (m == __disk_models_end) {
		pr_err("disks: there is no kind of disk named %s", kind);
		return ERR_PTR(-EINVAL);
	}
	disk = m->create(args);
	if (IS_ERR(disk))
		return disk;
	disk->by_name = true;
	pr_notice("disks: %s is %s", disk->name, kind);
	return disk;
}

/* line is changed. */
static struct disk *create_from(char *line)
{
	char *args = strpbrk(line, ": \t");

	if (args)
		*args++ = 0;
	return disk_model_create(line, args ? args : line + strlen(line));
}

struct disk *disk_create(const char *line)
{
	char copy[256];

	if (strlcpy(copy, line, sizeof(copy)) >= sizeof(copy)) {
		pr_err("disks: the line is longer than %zu characters", sizeof(copy) - 1);
		return ERR_PTR(-EINVAL);
	}
	return create_from(strstrip(copy));
}

static int remove_named(const char *name)
{
	struct blk_part *part = blk_part_get(name);
	struct disk *disk = part ? part->disk : NULL;
	int err = -ENODEV;

	if (!disk || part->number) {
		pr_err("disks: there is no disk %s", name);
	} else if (atomic_read(&disk->pins)) {
		pr_err("disks: %s holds swap in use and stays: swapoff first", name);
		err = -EBUSY;
	} else if (!xchg(&disk->by_name, false)) {
		pr_err("disks: %s was not made here and stays", name);
		err = -EPERM;
	} else {
		disk_remove(disk);
		disk_put(disk); /* the creator's reference */
		err = 0;
	}
	if (part)
		blk_part_put(part);
	return err;
}

static int one_line(char *line)
{
	struct disk *disk;

	line = strstrip(line);
	if (!*line || *line == '#')
		return 0;
	if (str_has_prefix(line, "remove "))
		return remove_named(strstrip(line + 7));
	disk = create_from(line);
	return IS_ERR(disk) ? (int)PTR_ERR(disk) : 0;
}

static int disks_show(struct seq *seq)
{
	for (struct disk *d = NULL; (d = disk_next(d));)
		seq_printf(seq, "%-8s %10llu KiB %s\n", d->name,
			   (unsigned long long)d->nr_sectors >> 1,
			   d->by_name ? "made by a line" : "found");
	seq_puts(seq, "# kinds:\n");
	for (struct disk_model *m = __disk_models_start; m < __disk_models_end; m++)
		seq_printf(seq, "# %-8s %s\n", m->name, m->about);
	return 0;
}

static ssize_t disks_store(const char *text, size_t n, long index)
{
	char copy[512], *rest = copy, *line;
	int err = 0;

	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		return -E2BIG;
	while (!err && (line = strsep(&rest, ";\n")))
		err = one_line(line);
	return err ? err : (ssize_t)n;
}
SHOW("/sys/kernel/quire/disks", 0644, disks_show, disks_store);

void create_init(void)
{
	char *rest = disks_words, *word;

	ramdisk_init();
	while (*disks_words && (word = strsep(&rest, " ;\t\n")))
		if (*word)
			one_line(word);
}
