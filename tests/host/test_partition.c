/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partition tables: MBR, chains of logical partitions, GPT with its backup, every refusal; and a
 * fuzzer that flips bits of good tables and throws dice for whole sectors.
 */
// SOURCES: drivers/blk/partition.c lib/printf.c lib/string.c
#include "host.h"

#include "drivers/blk/partition.h"
#include "lib/errno.h"

#define SECTORS 4096u

static uint8_t disk[SECTORS * 512], scratch[PARTITION_SCRATCH];
static struct partition out[PARTITION_MAX];
static unsigned complaints, reads;
static char last[160];
static int read_error;

static int read_disk(struct partition_source *src, u64 sector, u32 n, void *buf)
{
	CHECK(n && n <= 32 && sector + n <= src->nr_sectors && sector + n <= SECTORS);
	CHECK(buf == scratch);
	CHECK(sector % (src->logical_block / 512) == 0 && n % (src->logical_block / 512) == 0);
	CHECK(++reads < 5000);
	if (read_error)
		return read_error;
	memcpy(buf, disk + sector * 512, n * 512);
	return 0;
}

static void complain(struct partition_source *src, const char *line)
{
	complaints++;
	snprintf(last, sizeof(last), "%s", line);
}

static int scan_as(u64 sectors, u32 block)
{
	struct partition_source src = { .nr_sectors = sectors,
					.logical_block = block,
					.read = read_disk,
					.scratch = scratch,
					.complain = complain };
	int n;

	complaints = reads = 0;
	last[0] = 0;
	n = partition_scan(&src, out);
	for (int i = 0; i < n; i++) { /* whatever the input: nothing outside, nothing twice */
		CHECK(out[i].number >= 1 && out[i].number <= PARTITION_MAX);
		CHECK(out[i].nr_sectors && out[i].start && out[i].start < sectors);
		CHECK(out[i].nr_sectors <= sectors - out[i].start);
		for (int k = 0; k < i; k++)
			CHECK(out[k].start + out[k].nr_sectors <= out[i].start ||
			      out[i].start + out[i].nr_sectors <= out[k].start);
	}
	return n;
}

static int scan(void)
{
	return scan_as(SECTORS, 512);
}

static void put(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = v >> 8 * i;
}

static void mbr_at(u64 sector, int i, unsigned type, unsigned start, unsigned nr)
{
	uint8_t *s = disk + sector * 512, *e = s + 446 + 16 * i;

	e[4] = type;
	put(e + 8, start, 4);
	put(e + 12, nr, 4);
	s[510] = 0x55;
	s[511] = 0xaa;
}

static void blank(void)
{
	memset(disk, 0, sizeof(disk));
	read_error = 0;
}

HOST_TEST(nothing)
{
	blank();
	CHECK_EQ(scan(), 0);
	CHECK_EQ(complaints, 0);
	disk[510] = 0x55;
	disk[511] = 0xaa;
	CHECK_EQ(scan(), 0);
	mbr_at(0, 0, 0x83, 63, 100);
	disk[446] = 0x12; /* a boot sector of a file system has anything there */
	CHECK_EQ(scan(), 0);
	CHECK_EQ(scan_as(1, 512), 0);
}

HOST_TEST(primaries)
{
	blank();
	mbr_at(0, 0, 0x83, 64, 1000);
	mbr_at(0, 2, 0x82, 2000, 96);
	mbr_at(0, 3, 0x83, 3000, 1096);
	disk[446] = 0x80;
	CHECK_EQ(scan(), 3);
	CHECK_EQ(complaints, 0);
	CHECK_EQ(out[0].number, 1);
	CHECK_EQ(out[1].number, 3);
	CHECK_EQ(out[1].start, 2000);
	CHECK_EQ(out[2].nr_sectors, 1096);
}

HOST_TEST(bad_primaries_are_named)
{
	blank();
	mbr_at(0, 0, 0x83, 4000, 97); /* one too long */
	mbr_at(0, 1, 0x83, 0, 5);     /* over the table itself */
	mbr_at(0, 2, 0x83, 100, 100);
	mbr_at(0, 3, 0x83, 199, 10); /* overlaps */
	CHECK_EQ(scan(), 1);
	CHECK_EQ(out[0].number, 3);
	CHECK_EQ(complaints, 3);
	CHECK_STR(last, "partition 4 left out: it overlaps partition 3");
	mbr_at(0, 0, 0x83, 0xffffffff, 0xffffffff);
	CHECK_EQ(scan(), 1);
}

HOST_TEST(logical_chain)
{
	blank();
	mbr_at(0, 0, 0x83, 64, 100);
	mbr_at(0, 1, 0x05, 1000, 2000);
	mbr_at(1000, 0, 0x83, 10, 50);
	mbr_at(1000, 1, 0x05, 500, 400); /* relative to the extended one */
	mbr_at(1500, 0, 0x83, 10, 60);
	mbr_at(1500, 1, 0x05, 1000, 100);
	mbr_at(2000, 0, 0x83, 10, 70);
	CHECK_EQ(scan(), 4);
	CHECK_EQ(complaints, 0);
	CHECK_EQ(out[1].number, 5);
	CHECK_EQ(out[1].start, 1010);
	CHECK_EQ(out[2].number, 6);
	CHECK_EQ(out[2].start, 1510);
	CHECK_EQ(out[3].start, 2010);
	CHECK_EQ(out[3].nr_sectors, 70);
}

HOST_TEST(broken_chains_end)
{
	blank();
	mbr_at(0, 0, 0x0f, 1000, 2000);
	mbr_at(1000, 0, 0x83, 10, 50);
	mbr_at(1000, 1, 0x05, 500, 400);
	mbr_at(1500, 1, 0x05, 500, 400); /* points to itself */
	CHECK_EQ(scan(), 1);
	CHECK_EQ(complaints, 1);
	CHECK(strstr(last, "more than 64 links"));
	mbr_at(1500, 1, 0x05, 2500, 400);
	CHECK_EQ(scan(), 1);
	CHECK(strstr(last, "leaves the extended"));
	mbr_at(1500, 1, 0x05, 600, 400); /* no table there */
	CHECK_EQ(scan(), 1);
	CHECK(strstr(last, "no table at 1600"));
	mbr_at(0, 0, 0x0f, 5000, 2000);
	CHECK_EQ(scan(), 0);
	CHECK(strstr(last, "lies outside"));
}

HOST_TEST(more_than_fifteen)
{
	blank();
	mbr_at(0, 0, 0x05, 1000, 3000);
	for (unsigned i = 0; i < 20; i++) {
		mbr_at(1000 + 100 * i, 0, 0x83, 1, 50);
		if (i < 19)
			mbr_at(1000 + 100 * i, 1, 0x05, 100 * (i + 1), 100);
	}
	CHECK_EQ(scan(), 11); /* 5..15 */
	CHECK_EQ(complaints, 9);
}

HOST_TEST(read_errors)
{
	blank();
	mbr_at(0, 0, 0x83, 64, 100);
	read_error = -EIO;
	CHECK_EQ(scan(), -EIO);
}

/* ---- GPT ---- */

HOST_TEST(crc)
{
	CHECK_EQ(partition_crc32(0, "123456789", 9), 0xcbf43926);
	CHECK_EQ(partition_crc32(partition_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static uint32_t block = 512;

static uint8_t *at(u64 lba)
{
	return disk + lba * block;
}

static void gpt_header(u64 lba, u64 other, u64 entries, unsigned nr)
{
	u64 blocks = sizeof(disk) / block;
	uint8_t *h = at(lba);

	memset(h, 0, block);
	memcpy(h, "EFI PART", 8);
	put(h + 8, 0x10000, 4);
	put(h + 12, 92, 4);
	put(h + 24, lba, 8);
	put(h + 32, other, 8);
	put(h + 40, 64, 8);
	put(h + 48, blocks - 64, 8);
	put(h + 72, entries, 8);
	put(h + 80, nr, 4);
	put(h + 84, 128, 4);
	put(h + 88, partition_crc32(0, at(entries), nr * 128), 4);
	put(h + 16, partition_crc32(0, h, 92), 4);
}

static void gpt_entry(u64 entries, unsigned i, u64 start, u64 end)
{
	uint8_t *e = at(entries) + 128 * i;

	memset(e, 0xa5, 16);
	put(e + 32, start, 8);
	put(e + 40, end, 8);
}

static void gpt(void)
{
	u64 blocks = sizeof(disk) / block, back = blocks - 1, back_entries = blocks - 40;

	blank();
	mbr_at(0, 0, 0xee, 1, 0xffffffff);
	for (int k = 0; k < 2; k++) {
		u64 e = k ? back_entries : 2;

		gpt_entry(e, 0, 64, 127);
		gpt_entry(e, 1, 128, 255);
		gpt_entry(e, 6, 300, 399);
	}
	gpt_header(1, back, 2, 128);
	gpt_header(back, 1, back_entries, 128);
}

HOST_TEST(gpt_good)
{
	for (block = 512; block <= 4096; block *= 8) {
		u32 scale = block / 512;

		gpt();
		CHECK_EQ(scan_as(SECTORS, block), 3);
		CHECK_EQ(complaints, 0);
		CHECK_EQ(out[0].number, 1);
		CHECK_EQ(out[0].start, 64 * scale);
		CHECK_EQ(out[0].nr_sectors, 64 * scale);
		CHECK_EQ(out[2].number, 7);
		CHECK_EQ(out[2].nr_sectors, 100 * scale);
	}
	block = 512;
}

HOST_TEST(gpt_backup)
{
	gpt();
	disk[512 + 50] ^= 1;
	CHECK_EQ(scan(), 3);
	CHECK(strstr(last, "backup at the end of the disk is used"));
	gpt();
	disk[2 * 512 + 33] ^= 1; /* the array behind the first header */
	CHECK_EQ(scan(), 3);
	CHECK_EQ(out[0].start, 64);
	gpt();
	disk[512] ^= 1;
	disk[(SECTORS - 1) * 512] ^= 1;
	CHECK_EQ(scan(), -EINVAL);
	CHECK(complaints >= 2);
}

/* Headers with right checksums that lie. */
HOST_TEST(gpt_lies)
{
	static const struct {
		unsigned off, bytes;
		u64 value;
	} lies[] = {
		{ 12, 4, 91 },	   { 12, 4, 513 },     { 24, 8, 2 },	   { 40, 8, 5000 },
		{ 48, 8, 100000 }, { 72, 8, SECTORS }, { 72, 8, U64_MAX }, { 80, 4, 0 },
		{ 80, 4, 1025 },   { 80, 4, U32_MAX }, { 84, 4, 127 },	   { 84, 4, 8192 },
		{ 84, 4, 0 },
	};

	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		uint8_t *h = disk + 512;

		gpt();
		memset(disk + (SECTORS - 1) * 512, 0, 512);
		put(h + lies[i].off, lies[i].value, lies[i].bytes);
		put(h + 16, 0, 4);
		put(h + 16, partition_crc32(0, h, lies[i].value == 513 ? 512 : 92), 4);
		CHECK_EQ(scan(), -EINVAL);
	}
}

HOST_TEST(gpt_bad_entries)
{
	gpt();
	gpt_entry(2, 1, 100, 200); /* overlaps the first */
	gpt_entry(2, 2, 500, 499);
	gpt_entry(2, 3, 10, 20); /* before the usable range */
	gpt_entry(2, 20, 1000, 1001);
	gpt_header(1, SECTORS - 1, 2, 128);
	CHECK_EQ(scan(), 2);
	CHECK_EQ(complaints, 4);
}

/* ---- dice ---- */

HOST_TEST(fuzz_flips)
{
	for (int round = 0; round < 600; round++) {
		int kind = host_random() % 2;

		if (kind) {
			gpt();
		} else {
			blank();
			mbr_at(0, 0, 0x83, 64, 100);
			mbr_at(0, 1, 0x05, 1000, 2000);
			for (int i = 0; i < 4; i++) {
				mbr_at(1000 + 300 * i, 0, 0x83, 1, 50);
				mbr_at(1000 + 300 * i, 1, 0x05, 300 * (i + 1), 100);
			}
		}
		for (int i = host_random() % 8; i >= 0; i--) {
			static const unsigned where[] = { 0,	      512,
							  1024,	      1000 * 512,
							  1300 * 512, (SECTORS - 1) * 512 };
			unsigned base = where[host_random() % 6];

			disk[base + host_random() % 512] ^= 1u << host_random() % 8;
		}
		if (kind && host_random() % 2) { /* believable again */
			uint8_t *h = disk + 512;

			put(h + 16, 0, 4);
			put(h + 88, partition_crc32(0, disk + 1024, 128 * 128), 4);
			put(h + 16, partition_crc32(0, h, 92), 4);
		}
		scan();
	}
}

HOST_TEST(fuzz_noise)
{
	for (int round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 64 * 512; i++)
			disk[i] = host_random();
		for (int i = 0; i < 4; i++) {
			disk[446 + 16 * i] &= 0x80;
			if (host_random() % 2)
				disk[446 + 16 * i + 4] = host_random() % 2 ? 0xee : 0x05;
			put(disk + 446 + 16 * i + 8, host_random() % 60, 4);
		}
		disk[510] = 0x55;
		disk[511] = 0xaa;
		scan();
		scan_as(64 + host_random() % (SECTORS - 64), 512);
		scan_as(SECTORS, 4096);
	}
}
