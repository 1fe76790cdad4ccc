/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.c - reads from the kernel's ELF file where interrupts are switched and where the tracer is.
 *
 *   .irq_sites  {label, func, file, line, id}   one per use of the macros and per entry stub
 *   .irq_insns  {address, site, kind}           one per cli, sti, iretq, sysretq and gate
 *   symbols     the hooks, irqoff_start/_stop/_work, and section_*, which only they call
 *
 * The gates are checked against trap_stubs and irq_stubs, the arrays the IDT is made from: a vector
 * whose stub is in no table would be an entry the referee cannot see.
 */
#include "referee.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SITE_BYTES 32
#define INSN_BYTES 24
#define TABLE (1u << 14) /* a few thousand spots */

static struct spot *table[TABLE];
static const uint8_t *file;
static size_t file_bytes;
static const Elf64_Shdr *sections;
static unsigned int nr_sections;

static unsigned int slot_of(uint64_t addr)
{
	return (addr * 0x9e3779b97f4a7c15ull) >> 50;
}

struct spot *spot_find(uint64_t addr)
{
	for (unsigned int i = slot_of(addr);; i = (i + 1) % TABLE)
		if (!table[i] || table[i]->addr == addr)
			return table[i];
}

struct spot *spot_add(uint64_t addr, enum spot_kind kind, int site)
{
	unsigned int i = slot_of(addr);
	struct spot *s;

	while (table[i] && table[i]->addr != addr)
		i = (i + 1) % TABLE;
	if (table[i])
		return table[i];
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->addr = addr;
	s->kind = kind;
	s->site = site;
	table[i] = s;
	return s;
}

void spot_each(void (*fn)(const struct spot *spot, void *arg), void *arg)
{
	for (unsigned int i = 0; i < TABLE; i++)
		if (table[i])
			fn(table[i], arg);
}

/* => `bytes` bytes of the image at a virtual address, or NULL. */
static const void *at(uint64_t addr, uint64_t bytes)
{
	for (unsigned int i = 0; i < nr_sections; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (s->sh_type == SHT_PROGBITS && addr >= s->sh_addr &&
		    addr + bytes <= s->sh_addr + s->sh_size &&
		    s->sh_offset + (addr - s->sh_addr) + bytes <= file_bytes)
			return file + s->sh_offset + (addr - s->sh_addr);
	}
	return NULL;
}

static uint64_t word(const void *p, unsigned int index)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)p + 8 * index, 8);
	return v;
}

static const char *text_at(uint64_t addr)
{
	const char *s = at(addr, 1);

	return s && memchr(s, 0, file + file_bytes - (const uint8_t *)s) ? s : "?";
}

static const Elf64_Sym *symbol(const char *name)
{
	for (unsigned int i = 0; i < nr_sections; i++) {
		const Elf64_Shdr *s = &sections[i];
		const Elf64_Sym *sym = (const void *)(file + s->sh_offset);
		const char *names;

		if (s->sh_type != SHT_SYMTAB)
			continue;
		names = (const char *)file + sections[s->sh_link].sh_offset;
		for (uint64_t k = 0; k < s->sh_size / sizeof(*sym); k++)
			if (!strcmp(names + sym[k].st_name, name))
				return &sym[k];
	}
	return NULL;
}

static uint64_t address(const char *name)
{
	const Elf64_Sym *s = symbol(name);

	return s ? s->st_value : 0;
}

static int load_sites(struct image *image, uint64_t *first)
{
	uint64_t start = address("__irq_sites_start"), end = address("__irq_sites_end");
	const uint8_t *p = at(start, end - start);

	if (!p || end <= start || (end - start) % SITE_BYTES)
		return -1;
	*first = start;
	image->nr_sites = (end - start) / SITE_BYTES;
	image->sites = calloc(image->nr_sites, sizeof(*image->sites));
	for (unsigned int i = 0; i < image->nr_sites; i++, p += SITE_BYTES) {
		struct site *s = &image->sites[i];

		s->label = text_at(word(p, 0));
		s->func = text_at(word(p, 1));
		s->file = text_at(word(p, 2));
		memcpy(&s->line, p + 24, 4);
	}
	return 0;
}

static int load_insns(struct image *image, uint64_t first_site)
{
	uint64_t start = address("__irq_insns_start"), end = address("__irq_insns_end");
	const uint8_t *p = at(start, end - start);

	if (!p || end <= start || (end - start) % INSN_BYTES)
		return -1;
	image->nr_insns = (end - start) / INSN_BYTES;
	for (unsigned int i = 0; i < image->nr_insns; i++, p += INSN_BYTES) {
		uint64_t site = (word(p, 1) - first_site) / SITE_BYTES, kind = word(p, 2);

		if (site >= image->nr_sites || kind > SPOT_ENTRY)
			return -1;
		spot_add(word(p, 0), kind, site);
	}
	return 0;
}

static void check_gates(struct image *image)
{
	static const struct {
		const char *name;
		unsigned int from, nr;
	} arrays[] = { { "trap_stubs", 0, 32 }, { "irq_stubs", 32, 224 } };

	for (unsigned int k = 0; k < 2; k++) {
		const void *p = at(address(arrays[k].name) + 8 * arrays[k].from, 8 * arrays[k].nr);

		for (unsigned int i = 0; i < arrays[k].nr; i++) {
			struct spot *s = p ? spot_find(word(p, i)) : NULL;

			image->unknown_gates += !s || s->kind != SPOT_ENTRY;
		}
	}
}

/* The tracer's functions: [from, to). */
static struct {
	uint64_t from, to;
} own[16];
static unsigned int nr_own;

static bool in_tracer(uint64_t addr)
{
	for (unsigned int i = 0; i < nr_own; i++)
		if (addr >= own[i].from && addr < own[i].to)
			return true;
	return false;
}

static void find_tracer(void)
{
	for (unsigned int i = 0; i < nr_sections; i++) {
		const Elf64_Shdr *s = &sections[i];
		const Elf64_Sym *sym = (const void *)(file + s->sh_offset);
		const char *names;

		if (s->sh_type != SHT_SYMTAB)
			continue;
		names = (const char *)file + sections[s->sh_link].sh_offset;
		for (uint64_t k = 0; k < s->sh_size / sizeof(*sym); k++) {
			const char *name = names + sym[k].st_name;

			if (ELF64_ST_TYPE(sym[k].st_info) != STT_FUNC || nr_own == 16 ||
			    (strncmp(name, "irqoff_start", 12) &&
			     strncmp(name, "irqoff_stop", 11) && strncmp(name, "irqoff_work", 11) &&
			     strncmp(name, "section_", 8)))
				continue;
			own[nr_own].from = sym[k].st_value;
			own[nr_own++].to = sym[k].st_value + sym[k].st_size;
		}
	}
}

/* The entry of a hook, and the places where it reads the clock. */
static int watch_hook(const char *name, bool stop, bool has_clock)
{
	const Elf64_Sym *s = symbol(name);
	const uint8_t *code = s ? at(s->st_value, s->st_size) : NULL;

	if (!code)
		return -1;
	spot_add(s->st_value, SPOT_HOOK, -1);
	for (uint64_t i = 0; has_clock && i + 1 < s->st_size; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x31) {
			spot_add(s->st_value + i, SPOT_CLOCK, -1)->stop = stop;
			return 0;
		}
	return has_clock ? -1 : 0;
}

static void watch_entry(const char *name, enum spot_kind kind)
{
	uint64_t addr = address(name);

	if (addr)
		spot_add(addr, kind, -1);
}

/*
 * The spot of an instruction that is being translated, made now when it is a call or a return of
 * the tracer. A tail call needs none: the return of the called one is the hook's.
 */
struct spot *image_look(uint64_t addr, const uint8_t *code, size_t bytes)
{
	struct spot *s = spot_find(addr);
	int32_t distance;

	if (s || !in_tracer(addr))
		return s;
	if (code[0] == 0xc3)
		return spot_add(addr, SPOT_RET, -1);
	if (code[0] == 0xe8 && bytes == 5) {
		memcpy(&distance, code + 1, 4);
		if (in_tracer(addr + 5 + distance))
			return spot_add(addr, SPOT_CALL, -1);
	}
	return NULL;
}

static int map_file(const char *path)
{
	const Elf64_Ehdr *h;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	file_bytes = st.st_size;
	file = mmap(NULL, file_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED || file_bytes < sizeof(*h))
		return -1;
	h = (const void *)file;
	if (memcmp(h->e_ident, ELFMAG "\2\1", 6) ||
	    h->e_shoff + (uint64_t)h->e_shnum * sizeof(*sections) > file_bytes)
		return -1;
	sections = (const void *)(file + h->e_shoff);
	nr_sections = h->e_shnum;
	return 0;
}

int image_load(struct image *image, const char *path)
{
	uint64_t first_site = 0;

	if (map_file(path)) {
		fprintf(stderr, "referee: image=%s is not a readable 64-bit ELF file\n", path);
		return -1;
	}
	if (load_sites(image, &first_site) || load_insns(image, first_site)) {
		fprintf(stderr,
			"referee: image=%s: .irq_sites or .irq_insns is absent or of another "
			"form\n",
			path);
		return -1;
	}
	check_gates(image);
	find_tracer();
	watch_entry("irqoff_reset", SPOT_RESET);
	watch_entry("tracer_resume", SPOT_RESUME);
	if (watch_hook("irqoff_start", false, true) || watch_hook("irqoff_stop", true, true) ||
	    watch_hook("irqoff_work", false, false)) {
		fprintf(stderr, "referee: image=%s: the hooks of the tracer are not found\n", path);
		return -1;
	}
	return 0;
}
