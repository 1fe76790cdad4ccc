// SPDX-License-Identifier: BSD-2-Clause
/*
 * partition.c - partition tables: MBR with its chain of extended partitions, and GPT.
 *
 * MBR: sector 0 ends in 55 aa and holds four entries of 16 bytes. One of them may be extended: its
 * first sector again holds a table, of one logical partition (relative to itself) and one link to
 * the next such table (relative to the extended partition's start): a list on a disk that may well
 * be a circle, so its length is bounded. A file system's boot sector has the same last two bytes;
 * the status bytes of four true entries are 0 or 0x80, and nothing else is taken for a table.
 *
 * GPT: an MBR entry of type 0xee says that block 1 holds a header with checksums over itself and
 * over the array of entries; the last block of the disk holds a copy. When the first is broken the
 * copy is used, with a line in the log.
 *
 * Nothing read is believed: ranges must lie on the disk, must not be empty and must not overlap one
 * already taken; what fails is left out and named. Pure: tests/host/test_partition.c.
 * Source: UEFI specification 2.10, chapter 5 (layout, checksums).
 */
#include "drivers/blk/partition.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MBR_TABLE 446u
#define MAX_LINKS 64u /* of the chain of logical partitions */

struct scan {
	struct partition_source *src;
	struct partition *out;
	u32 count;
	u32 scale; /* sectors per logical block */
};

static void __printf_like(2, 3) complain(struct scan *s, const char *fmt, ...)
{
	char line[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	s->src->complain(s->src, line);
}

static u32 get32(const u8 *p)
{
	return p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static u64 get64(const u8 *p)
{
	return get32(p) | (u64)get32(p + 4) << 32;
}

u32 partition_crc32(u32 crc, const void *data, size_t n)
{
	const u8 *p = data;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* start and nr in logical blocks. */
static void take(struct scan *s, u32 number, u64 start, u64 nr)
{
	u64 blocks = s->src->nr_sectors / s->scale;

	if (number > PARTITION_MAX || s->count == PARTITION_MAX) {
		complain(s, "partition %u left out: only %u have a number", number, PARTITION_MAX);
		return;
	}
	if (!nr || start >= blocks || nr > blocks - start || !start) {
		complain(s, "partition %u left out: blocks %llu+%llu of %llu", number,
			 (unsigned long long)start, (unsigned long long)nr,
			 (unsigned long long)blocks);
		return;
	}
	start *= s->scale;
	nr *= s->scale;
	for (u32 i = 0; i < s->count; i++) {
		const struct partition *p = &s->out[i];

		if (start < p->start + p->nr_sectors && p->start < start + nr) {
			complain(s, "partition %u left out: it overlaps partition %u", number,
				 p->number);
			return;
		}
	}
	s->out[s->count++] = (struct partition){ number, start, nr };
}

/* ---- MBR ------------------------------------------------------------------------------------- */

struct mbr_entry {
	u8 status, type;
	u32 start, nr;
};

static bool is_extended(u8 type)
{
	return type == 0x05 || type == 0x0f || type == 0x85;
}

/* Four entries of the table in a sector. => false: this is none */
static bool read_table(const u8 *sector, struct mbr_entry e[4])
{
	if (sector[510] != 0x55 || sector[511] != 0xaa)
		return false;
	for (int i = 0; i < 4; i++) {
		const u8 *p = sector + MBR_TABLE + 16 * i;

		e[i] = (struct mbr_entry){ p[0], p[4], get32(p + 8), get32(p + 12) };
		if (e[i].status & 0x7f)
			return false;
	}
	return true;
}

static int read_block(struct scan *s, u64 block, u8 *buf)
{
	if (block >= s->src->nr_sectors / s->scale)
		return -EINVAL;
	return s->src->read(s->src, block * s->scale, s->scale, buf);
}

/* The chain of logical partitions behind the extended one at base. */
static int walk_chain(struct scan *s, u64 base, u64 base_nr)
{
	u8 *buf = s->src->scratch;
	struct mbr_entry e[4];
	u64 at = base;
	u32 number = 5;
	int err;

	for (u32 links = 0;; links++) {
		u64 next = 0;

		if (links == MAX_LINKS) {
			complain(s, "the chain of logical partitions has more than %u links",
				 MAX_LINKS);
			return 0;
		}
		err = read_block(s, at, buf);
		if (err == -EINVAL) {
			complain(s, "logical partition %u: its table at %llu lies outside", number,
				 (unsigned long long)at);
			return 0;
		}
		if (err)
			return err;
		if (!read_table(buf, e)) {
			complain(s, "logical partition %u: no table at %llu", number,
				 (unsigned long long)at);
			return 0;
		}
		for (int i = 0; i < 4; i++) {
			if (!e[i].nr || !e[i].type)
				continue;
			if (!is_extended(e[i].type))
				take(s, number++, at + e[i].start, e[i].nr);
			else if (!next)
				next = base + e[i].start;
		}
		if (!next)
			return 0;
		if (next <= base || next >= base + base_nr) {
			complain(s, "logical partition %u: its link leaves the extended partition",
				 number);
			return 0;
		}
		at = next;
	}
}

static int scan_mbr(struct scan *s, const struct mbr_entry e[4])
{
	int err = 0;

	for (int i = 0; i < 4; i++)
		if (e[i].type && e[i].nr && !is_extended(e[i].type))
			take(s, i + 1, e[i].start, e[i].nr);
	for (int i = 0; i < 4 && !err; i++) {
		if (!e[i].nr || !is_extended(e[i].type))
			continue;
		err = walk_chain(s, e[i].start, e[i].nr);
		break;
	}
	return err;
}

/* ---- GPT ------------------------------------------------------------------------------------- */

#define GPT_MIN_HEADER 92u

struct gpt {
	u64 first, last, entries;
	u32 nr, bytes, crc;
};

/* The header at block at. => 0, -EIO, -EINVAL (why says what is wrong) */
static int read_header(struct scan *s, u64 at, struct gpt *g, const char **why)
{
	u8 *h = s->src->scratch;
	u32 size, crc;
	int err = read_block(s, at, h);

	*why = "it lies outside";
	if (err)
		return err;
	*why = "no signature";
	if (memcmp(h, "EFI PART", 8))
		return -EINVAL;
	size = get32(h + 12);
	*why = "its size";
	if (size < GPT_MIN_HEADER || size > s->src->logical_block)
		return -EINVAL;
	crc = get32(h + 16);
	memset(h + 16, 0, 4);
	*why = "its checksum";
	if (partition_crc32(0, h, size) != crc)
		return -EINVAL;
	*why = "its own address";
	if (get64(h + 24) != at)
		return -EINVAL;
	*g = (struct gpt){ .first = get64(h + 40),
			   .last = get64(h + 48),
			   .entries = get64(h + 72),
			   .nr = get32(h + 80),
			   .bytes = get32(h + 84),
			   .crc = get32(h + 88) };
	*why = "the usable range";
	if (g->first > g->last || g->last >= s->src->nr_sectors / s->scale)
		return -EINVAL;
	*why = "the size of its array";
	if (g->bytes < 128 || g->bytes > 4096 || g->bytes & (g->bytes - 1) || !g->nr ||
	    g->nr > 1024)
		return -EINVAL;
	return 0;
}

/*
 * Calls fn for every entry (NULL: none) and says whether the checksum is right. The array is read
 * in pieces of the scratch buffer; entries divide it.
 */
static int walk_entries(struct scan *s, const struct gpt *g,
			void (*fn)(struct scan *s, const struct gpt *g, u32 i, const u8 *entry))
{
	u64 left = (u64)g->nr * g->bytes, sector = g->entries * s->scale;
	u32 crc = 0, i = 0;

	if (g->entries >= s->src->nr_sectors / s->scale)
		return -EINVAL;
	while (left) {
		u32 n = left < PARTITION_SCRATCH ? (u32)left : PARTITION_SCRATCH;
		u32 sectors = (n + 511) / 512;
		int err;

		sectors = (sectors + s->scale - 1) / s->scale * s->scale;
		if (sector >= s->src->nr_sectors || sectors > s->src->nr_sectors - sector)
			return -EINVAL;
		err = s->src->read(s->src, sector, sectors, s->src->scratch);
		if (err)
			return err;
		crc = partition_crc32(crc, s->src->scratch, n);
		for (u32 off = 0; fn && off < n; off += g->bytes)
			fn(s, g, i++, s->src->scratch + off);
		sector += sectors;
		left -= n;
	}
	return crc == g->crc ? 0 : -EINVAL;
}

static void take_entry(struct scan *s, const struct gpt *g, u32 i, const u8 *e)
{
	u64 start = get64(e + 32), end = get64(e + 40);
	bool used = false;

	for (int k = 0; k < 16; k++)
		used |= e[k] != 0;
	if (!used)
		return;
	if (start < g->first || end < start || end > g->last)
		complain(s, "partition %u left out: blocks %llu-%llu, usable are %llu-%llu", i + 1,
			 (unsigned long long)start, (unsigned long long)end,
			 (unsigned long long)g->first, (unsigned long long)g->last);
	else
		take(s, i + 1, start, end - start + 1);
}

static int try_gpt(struct scan *s, u64 at, const char *which)
{
	const char *why;
	struct gpt g;
	int err = read_header(s, at, &g, &why);

	if (!err) {
		why = "the checksum of its array";
		err = walk_entries(s, &g, NULL);
	}
	if (err == -EINVAL)
		complain(s, "GPT: the %s header at %llu is not usable: %s", which,
			 (unsigned long long)at, why);
	return err ? err : walk_entries(s, &g, take_entry);
}

static int scan_gpt(struct scan *s)
{
	int err = try_gpt(s, 1, "first");

	if (!err)
		return 0;
	err = try_gpt(s, s->src->nr_sectors / s->scale - 1, "backup");
	if (!err)
		complain(s, "GPT: the backup at the end of the disk is used");
	return err;
}

int partition_scan(struct partition_source *src, struct partition *out)
{
	struct scan s = { .src = src, .out = out, .scale = src->logical_block / 512 };
	struct mbr_entry e[4];
	int err;

	if (src->nr_sectors / s.scale < 2)
		return 0;
	err = read_block(&s, 0, src->scratch);
	if (err)
		return err;
	if (!read_table(src->scratch, e))
		return 0;
	for (int i = 0; i < 4; i++) {
		if (e[i].type == 0xee) {
			err = scan_gpt(&s);
			return err ? err : (int)s.count;
		}
	}
	err = scan_mbr(&s, e);
	return err ? err : (int)s.count;
}
