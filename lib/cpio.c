/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpio.c - the newc format: a header of 110 characters ("070701", then 13 fields of 8 hexadecimal
 * digits), the name with its NUL padded so that the data starts at a multiple of 4, the data padded
 * to 4. "TRAILER!!!" ends an archive.
 *
 *   magic ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize
 *   check
 */
#include "lib/cpio.h"
#include "lib/errno.h"
#include "lib/string.h"

#define HEADER 110
#define NR_FIELDS 13
#define NAME_MAX_BYTES 4096

enum {
	F_INO,
	F_MODE,
	F_UID,
	F_GID,
	F_NLINK,
	F_MTIME,
	F_SIZE,
	F_DEVMAJ,
	F_DEVMIN,
	F_RDEVMAJ,
	F_RDEVMIN,
	F_NAMESIZE
};

static bool read_field(const u8 *p, u32 *out)
{
	u32 v = 0;

	for (int i = 0; i < 8; i++) {
		u8 c = p[i];

		if (isdigit_c(c))
			v = v << 4 | (c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v << 4 | ((c | 32) - 'a' + 10);
		else
			return false;
	}
	*out = v;
	return true;
}

bool cpio_probe(const void *data, size_t len)
{
	return len >= HEADER && (!memcmp(data, "070701", 6) || !memcmp(data, "070702", 6));
}

static int bad(struct cpio_iter *it, const char *why)
{
	it->error = why;
	return -EINVAL;
}

static const char *clean_name(const char *name)
{
	for (;;) {
		if (name[0] == '/')
			name++;
		else if (name[0] == '.' && name[1] == '/')
			name += 2;
		else if (name[0] == '.' && !name[1])
			name++;
		else
			return name;
	}
}

/* => 1 with *e filled and it->pos moved on, or -EINVAL with it->pos at the bad entry. */
static int read_entry(struct cpio_iter *it, struct cpio_entry *e)
{
	const u8 *h = it->data + it->pos;
	size_t left = it->len - it->pos, data_at;
	u32 f[NR_FIELDS];

	if (left < HEADER)
		return bad(it, "the header is cut off");
	if (!cpio_probe(h, left))
		return bad(it, "no newc header here");
	for (int i = 0; i < NR_FIELDS; i++)
		if (!read_field(h + 6 + 8 * i, &f[i]))
			return bad(it, "a header field is not hexadecimal");
	if (f[F_NAMESIZE] == 0 || f[F_NAMESIZE] > NAME_MAX_BYTES || f[F_NAMESIZE] > left - HEADER)
		return bad(it, "the name is too long or cut off");
	e->name = (const char *)h + HEADER;
	if (memchr(e->name, 0, f[F_NAMESIZE]) != e->name + f[F_NAMESIZE] - 1)
		return bad(it, "the name is not terminated");
	data_at = ALIGN_UP(HEADER + (size_t)f[F_NAMESIZE], 4);
	if (data_at > left) {
		if (f[F_SIZE])
			return bad(it, "the data is cut off");
		data_at = left; /* the last padding may be missing */
	}
	if (f[F_SIZE] > left - data_at)
		return bad(it, "the data is cut off");
	e->data = h + data_at;
	e->size = f[F_SIZE];
	e->ino = f[F_INO];
	e->mode = f[F_MODE];
	e->uid = f[F_UID];
	e->gid = f[F_GID];
	e->nlink = f[F_NLINK];
	e->mtime = f[F_MTIME];
	e->dev_major = f[F_DEVMAJ];
	e->dev_minor = f[F_DEVMIN];
	e->rdev_major = f[F_RDEVMAJ];
	e->rdev_minor = f[F_RDEVMIN];
	it->pos += min(ALIGN_UP(data_at + f[F_SIZE], 4), left);
	return 1;
}

int cpio_next(struct cpio_iter *it, struct cpio_entry *entry)
{
	for (;;) {
		int err;

		while (it->pos < it->len && !it->data[it->pos])
			it->pos++; /* padding between archives */
		if (it->pos >= it->len)
			return 0;
		err = read_entry(it, entry);
		if (err < 0)
			return err;
		if (strcmp(entry->name, "TRAILER!!!")) {
			entry->name = clean_name(entry->name);
			return 1;
		}
	}
}
