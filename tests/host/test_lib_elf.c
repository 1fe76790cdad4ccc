/* SPDX-License-Identifier: BSD-2-Clause */
/* The ELF checker: what it accepts obeys every promise of lib/elf.h, whatever the bytes were. */
// SOURCES: lib/elf.c lib/string.c
#include "host.h"

#include "lib/elf.h"
#include "lib/errno.h"

#define LIMIT 0x00007ffffffff000ull
#define FILE_SIZE 0x20000ull

struct file {
	struct elf64_ehdr eh;
	struct elf64_phdr ph[6];
};

static struct file good(void)
{
	struct file f = { 0 };

	memcpy(f.eh.e_ident, ELF_MAGIC "\2\1\1", 7);
	f.eh.e_type = ET_EXEC;
	f.eh.e_machine = EM_X86_64;
	f.eh.e_entry = 0x401000;
	f.eh.e_phoff = sizeof(f.eh);
	f.eh.e_phentsize = sizeof(f.ph[0]);
	f.eh.e_phnum = 6;
	f.ph[0] = (struct elf64_phdr){ PT_LOAD, PF_R, 0, 0x400000, 0, 0x6e0, 0x6e0, 0x1000 };
	f.ph[1] = (struct elf64_phdr){ PT_LOAD, PF_R | PF_X, 0x1000, 0x401000,
				       0,	0x8000,	     0x8000, 0x1000 };
	f.ph[2] = (struct elf64_phdr){ PT_LOAD, PF_R | PF_W, 0xa708,  0x40b708,
				       0,	0x900,	     0x10450, 0x1000 };
	f.ph[3] = (struct elf64_phdr){ PT_TLS, PF_R, 0xa708, 0x40b708, 0, 0x28, 0x8a, 8 };
	f.ph[4] = (struct elf64_phdr){ PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 };
	f.ph[5] = (struct elf64_phdr){ PT_INTERP, PF_R, 0x500, 0x400500, 0, 0x1c, 0x1c, 1 };
	return f;
}

static int parse(const struct file *f, struct elf_image *im)
{
	return elf_parse(&f->eh, sizeof(f->eh), f->ph, sizeof(f->ph), FILE_SIZE, LIMIT, im);
}

HOST_TEST(good_file)
{
	struct file f = good();
	struct elf_image im;

	CHECK_EQ(parse(&f, &im), 0);
	CHECK_EQ(im.nr_segments, 3);
	CHECK_EQ(im.start, 0x400000);
	CHECK_EQ(im.end, 0x41c000);
	CHECK_EQ(im.phdr_vaddr, 0x400040);
	CHECK(im.interp_offset == 0x500 && im.interp_size == 0x1c);
	CHECK(!im.exec_stack);
}

#define REFUSED(err, change)                                                                       \
	do {                                                                                       \
		struct file f = good();                                                            \
		struct elf_image im;                                                               \
		change;                                                                            \
		CHECK_EQ(parse(&f, &im), err);                                                     \
	} while (0)

HOST_TEST(bad_files)
{
	REFUSED(-ENOEXEC, f.eh.e_ident[0] = 'x');
	REFUSED(-ENOEXEC, f.eh.e_ident[4] = 1);
	REFUSED(-ENOEXEC, f.eh.e_machine = 3);
	REFUSED(-ENOEXEC, f.eh.e_type = 1);
	REFUSED(-ENOEXEC, f.eh.e_phnum = 0);
	REFUSED(-ENOEXEC, f.eh.e_phnum = 1000);
	REFUSED(-ENOEXEC, f.eh.e_phentsize = 32);
	REFUSED(-ENOEXEC, f.eh.e_phoff = U64_MAX - 8);
	REFUSED(-ENOEXEC, f.ph[1].p_filesz = f.ph[1].p_memsz + 1);
	REFUSED(-ENOEXEC, f.ph[1].p_offset = FILE_SIZE);
	REFUSED(-ENOEXEC, f.ph[1].p_align = 0x3000);
	REFUSED(-ENOEXEC, f.ph[1].p_offset += 8);
	REFUSED(-ENOEXEC, f.ph[1].p_vaddr = 0x400000); /* shares a page with its neighbour */
	REFUSED(-ENOEXEC, f.ph[2].p_vaddr = 0x300708); /* falls back */
	REFUSED(-EINVAL, f.ph[2].p_memsz = LIMIT);
	REFUSED(-EINVAL, f.ph[2].p_memsz = U64_MAX - 0x1000);
	REFUSED(-EINVAL, f.ph[2].p_vaddr = 0xffff888000000708ull);
	REFUSED(-ENOEXEC, f.ph[5].p_filesz = 1);
	REFUSED(-ENOEXEC, f.ph[5].p_offset = FILE_SIZE - 4);
	REFUSED(-EINVAL, (f.ph[0].p_type = f.ph[1].p_type = f.ph[2].p_type = PT_NULL));
}

static void check_promises(const struct elf_image *im)
{
	u64 end = 0;

	CHECK(im->nr_segments >= 1 && im->nr_segments <= ELF_MAX_SEGMENTS);
	for (u32 i = 0; i < im->nr_segments; i++) {
		const struct elf_segment *s = &im->segments[i];

		CHECK(s->memsz > 0 && s->filesz <= s->memsz);
		CHECK(s->offset <= FILE_SIZE && s->filesz <= FILE_SIZE - s->offset);
		CHECK(s->vaddr >= end && s->vaddr + s->memsz > s->vaddr &&
		      s->vaddr + s->memsz <= LIMIT);
		CHECK(!((s->vaddr ^ s->offset) & 4095));
		end = ALIGN_UP(s->vaddr + s->memsz, 4096ull);
	}
	CHECK(im->end == end && !(im->start & 4095) && im->end <= LIMIT);
	CHECK(!im->interp_size || im->interp_offset + im->interp_size <= FILE_SIZE);
	CHECK(im->align >= 4096 && !(im->align & (im->align - 1)));
	if (im->phdr_vaddr)
		CHECK(im->phdr_vaddr >= im->start && im->phdr_vaddr < im->end);
}

HOST_TEST(fuzz)
{
	int accepted = 0;

	for (int round = 0; round < 300000; round++) {
		struct file f = good();
		struct elf_image im;
		u8 *bytes = (u8 *)&f;

		for (int hits = 1 + host_random() % 3; hits > 0; hits--) {
			size_t at = host_random() % sizeof(f);

			if (host_random() % 2)
				bytes[at] ^= 1 << host_random() % 8;
			else
				bytes[at] = host_random() % 3 ? 0xff : host_random();
		}
		if (parse(&f, &im))
			continue;
		check_promises(&im);
		accepted++;
	}
	CHECK(accepted > 1000);
}
