/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapdraw.c - the memory map as a picture.
 *
 * A cell is one pageblock, or several where the terminal is small. How high it is filled says how
 * much of it is in use; its colour says what most of the used part is; its background says the
 * migrate type. So free memory is flat, fragmentation is a skyline, and what cannot move glows.
 *
 *	colour: blue programs, green files, violet dirty, orange to red the kernel, grey reserved
 *
 * Without colours a cell is a letter: '.' free, ',' less than an eighth in use, else the letter of
 * the legend; totals are then in pages, one line each, for programs to read.
 */
#include "mapdraw.h"
#include <stdarg.h>

static const struct group {
	const char *name;
	unsigned char colour; /* of 256 */
	char letter;
	unsigned int classes;
} groups[] = {
#define C(k) (1u << K_##k)
	{ "free", 0, '.', C(FREE) | C(PCP) },
	{ "programs, inactive", 75, 'a', C(INACTIVE_ANON) | C(WAITING) },
	{ "programs, active", 33, 'A', C(ACTIVE_ANON) },
	{ "files, inactive", 114, 'f', C(INACTIVE_FILE) },
	{ "files, active", 35, 'F', C(ACTIVE_FILE) },
	{ "dirty or written", 170, 'd', 0 },
	{ "shared memory, tmpfs", 80, 'h', 0 },
	{ "unevictable", 141, 'm', C(UNEVICTABLE) },
	{ "off the lists", 255, 'o', C(OFF_LIST) },
	{ "slab", 214, 's', C(SLAB) },
	{ "page tables", 227, 't', C(TABLE) },
	{ "stacks, vmalloc", 173, 'v', C(STACK) | C(VMALLOC) },
	{ "kernel, other", 203, 'k', C(KERNEL) },
	{ "reserved", 245, 'R', C(RESERVED) },
#undef C
};
#define NR_GROUPS ((int)(sizeof(groups) / sizeof(groups[0])))
enum { G_FREE, G_ANON_I, G_ANON_A, G_FILE_I, G_FILE_A, G_DIRTY, G_SHMEM };

static const unsigned char type_tint[] = { 52, 58, 235, 17, 54 }; /* by MAP_TYPES */

void text_add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	for (;;) {
		va_start(args, fmt);
		n = vsnprintf(t->p + t->used, t->room - t->used, fmt, args);
		va_end(args);
		if (n < 0)
			return;
		if (t->used + (size_t)n < t->room)
			break;
		t->room = t->room * 2 + (size_t)n + 4096;
		t->p = realloc(t->p, t->room);
		if (!t->p)
			die("quire map");
	}
	t->used += (size_t)n;
}

/* ---- cells ---- */

struct cell {
	unsigned long n[NR_KEYS];
	char type; /* of its first block that has one */
	int selected;
	int blocks;
};

/* Shown by colour, but its pages belong to other groups. */
static int is_part(int g)
{
	return g == G_DIRTY || g == G_SHMEM;
}

static unsigned long group_pages(const unsigned long *n, int g)
{
	unsigned long sum = 0;

	if (g == G_DIRTY)
		return n[K_DIRTY] + n[K_WRITEBACK];
	if (g == G_SHMEM)
		return n[K_SHMEM];
	for (int k = 0; k < NR_CLASSES; k++)
		if (groups[g].classes & 1u << k)
			sum += n[k];
	return sum;
}

/* What most of the used part is. */
static int main_group(const unsigned long *n)
{
	unsigned long most = 0;
	int best = G_FREE;

	for (int g = 1; g < NR_GROUPS; g++) {
		unsigned long pages = is_part(g) ? 0 : group_pages(n, g);

		if (pages > most) {
			most = pages;
			best = g;
		}
	}
	if ((best == G_FILE_I || best == G_FILE_A) && 2 * group_pages(n, G_DIRTY) >= most)
		return G_DIRTY;
	if ((best == G_ANON_I || best == G_ANON_A) && 2 * group_pages(n, G_SHMEM) >= most)
		return G_SHMEM;
	return best;
}

static int tint(char type)
{
	const char *p = type ? strchr(MAP_TYPES, type) : NULL;

	return type_tint[p ? p - MAP_TYPES : 2];
}

static void draw_cell(struct text *t, const struct cell *c, const struct view *v, int width)
{
	/* Full is seven eighths, too: a line of the background stays to be seen. */
	static const char *const level[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "▇" };
	unsigned long all = 0, used;
	int g, height;

	for (int k = 0; k < K_HOLE; k++)
		all += c->n[k];
	used = all - group_pages(c->n, G_FREE);
	if (!c->blocks || !all) {
		text_add(t, "%*s", width, "");
		return;
	}
	g = main_group(c->n);
	if (!v->colour) {
		text_add(t, "%c", !used ? '.' : used * 8 < all ? ',' : groups[g].letter);
		return;
	}
	height = (int)((used * 8 + all / 2) / all);
	if (used && !height)
		height = 1;
	text_add(t, "\x1b[%s48;5;%d;38;5;%dm", c->selected ? "7;" : "", tint(c->type),
		 used ? groups[g].colour : 250);
	for (int i = 0; i < width; i++)
		text_add(t, "%s", c->selected && !height ? "◆" : level[height]);
	text_add(t, "\x1b[0m");
}

/* A row of a zone, cells[0..per_row), from the block number `first` on. */
static void draw_row(struct text *t, const struct map *m, const struct cell *cells,
		     unsigned long first, const struct view *v, int width)
{
	unsigned long mib = first * m->block_pages / 256;
	int last = v->per_row - 1;

	while (last >= 0 && !cells[last].blocks)
		last--;
	if (last < 0)
		return;
	text_add(t, "%s%6luM%s ", v->colour ? "\x1b[38;5;244m" : "", mib,
		 v->colour ? "\x1b[0m" : "");
	for (int i = 0; i <= last; i++)
		draw_cell(t, &cells[i], v, width);
	text_add(t, "\n");
}

static void mib(char *out, size_t size, unsigned long pages)
{
	if (pages < 256)
		snprintf(out, size, "%lu KiB", pages * 4);
	else if (pages >= 100 * 256 || pages % 256 == 0)
		snprintf(out, size, "%lu MiB", pages / 256);
	else
		snprintf(out, size, "%.1f MiB", (double)pages / 256);
}

static void draw_zone(struct text *t, const struct map *m, const struct map_zone *z,
		      const struct view *v, int width)
{
	unsigned long row_blocks = (unsigned long)v->per_row * (unsigned long)v->per_cell;
	struct cell *cells = calloc((size_t)v->per_row, sizeof(*cells));
	unsigned long row = ~0ul;
	char all[32], unused[32];

	if (!cells)
		die("quire map");
	mib(all, sizeof(all), z->present);
	mib(unused, sizeof(unused), z->n[K_FREE] + z->n[K_PCP]);
	text_add(t, "%sNode %d %s%s  %s, %s free\n", v->colour ? "\x1b[1m" : "", z->node, z->name,
		 v->colour ? "\x1b[0m" : "", all, unused);
	for (unsigned long i = z->first; i < z->first + z->blocks; i++) {
		const struct map_block *b = &m->block[i];
		struct cell *c;

		if (b->nr / row_blocks != row) {
			draw_row(t, m, cells, row * row_blocks, v, width);
			memset(cells, 0, (size_t)v->per_row * sizeof(*cells));
			row = b->nr / row_blocks;
		}
		c = &cells[b->nr % row_blocks / (unsigned long)v->per_cell];
		if (!c->blocks++)
			c->type = b->type;
		c->selected |= v->selected == (long)i;
		for (int k = 0; k < NR_KEYS; k++)
			c->n[k] += b->n[k];
	}
	draw_row(t, m, cells, row * row_blocks, v, width);
	free(cells);
}

/* Rows all zones take with so many blocks a row, one line of title each. */
static int rows_for(const struct map *m, unsigned long row_blocks)
{
	int rows = 0;

	for (unsigned int i = 0; i < m->nr_zones; i++) {
		const struct map_zone *z = &m->zone[i];
		unsigned long row = ~0ul;

		rows++;
		for (unsigned long k = z->first; k < z->first + z->blocks; k++)
			if (m->block[k].nr / row_blocks != row) {
				row = m->block[k].nr / row_blocks;
				rows++;
			}
	}
	return rows;
}

/* The widest cells, and the fewest blocks in one, that fit into `lines`. => width of a cell */
static int choose_layout(const struct map *m, struct view *v, int lines)
{
	for (int k = 1;; k *= 2)
		for (int width = v->colour && k == 1 ? 2 : 1; width; width--) {
			v->per_row = 8;
			while (v->per_row * 2 * width <= v->columns - 8)
				v->per_row *= 2;
			v->per_cell = k;
			if (rows_for(m, (unsigned long)(v->per_row * k)) <= lines || k >= 1024)
				return width;
		}
}

/* ---- legend and totals ---- */

static void swatch(struct text *t, const struct view *v, int g)
{
	if (!v->colour)
		text_add(t, "%c ", groups[g].letter);
	else if (g == G_FREE)
		text_add(t, "\x1b[48;5;%dm  \x1b[0m ", tint('M'));
	else
		text_add(t, "\x1b[38;5;%dm██\x1b[0m ", groups[g].colour);
}

static unsigned long sum_of(const struct map *m, int g)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < m->nr_zones; i++)
		sum += group_pages(m->zone[i].n, g);
	return sum;
}

static unsigned long sum_key(const struct map *m, int k)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < m->nr_zones; i++)
		sum += m->zone[i].n[k];
	return sum;
}

static void legend_types(struct text *t, const struct map *m, const struct view *v)
{
	text_add(t, "pageblocks:");
	for (int i = 0; MAP_TYPES[i]; i++) {
		unsigned long n = 0;

		for (unsigned int z = 0; z < m->nr_zones; z++)
			n += m->zone[z].types[i];
		if (!n)
			continue;
		if (v->colour)
			text_add(t, "  \x1b[48;5;%dm  \x1b[0m", type_tint[i]);
		text_add(t, " %s %lu", map_type_name(MAP_TYPES[i]), n);
	}
	text_add(t, "\n");
}

/* In columns, for a terminal: what is not there is left out. */
static void legend(struct text *t, const struct map *m, const struct view *v)
{
	int wide = 36, per_line = v->columns / wide, at = 0, any = 0;

	if (per_line < 1)
		per_line = 1;
	for (int i = 0; i < NR_GROUPS; i++) {
		unsigned long pages = sum_of(m, i);
		char size[32];

		if (!pages)
			continue;
		mib(size, sizeof(size), pages);
		swatch(t, v, i);
		text_add(t, "%-20s%9s", groups[i].name, size);
		text_add(t, "%s", ++at % per_line ? "    " : "\n");
	}
	text_add(t, at % per_line ? "\n" : "");
	legend_types(t, m, v);
	text_add(t, "also:");
	for (int k = NR_CLASSES; k < NR_KEYS; k++) {
		char size[32];

		if (!sum_key(m, k) || k == K_CACHED || k == K_DIRTY || k == K_SHMEM)
			continue;
		mib(size, sizeof(size), sum_key(m, k));
		text_add(t, "%s %s %s", any++ ? ";" : "", map_keys[k].name, size);
	}
	text_add(t, "\n");
}

static int legend_lines(const struct map *m, const struct view *v)
{
	int n = 0, per_line = v->columns / 36;

	for (int i = 0; i < NR_GROUPS; i++)
		n += sum_of(m, i) != 0;
	per_line = per_line < 1 ? 1 : per_line;
	return (n + per_line - 1) / per_line + 3; /* the last line may wrap */
}

/* Pages of each zone, one line a key: what programs read. */
static void totals(struct text *t, const struct map *m)
{
	text_add(t, "%-24s", "pages");
	for (unsigned int z = 0; z < m->nr_zones; z++) {
		char name[32];

		snprintf(name, sizeof(name), "%d:%s", m->zone[z].node, m->zone[z].name);
		text_add(t, " %12s", name);
	}
	text_add(t, " %12s\n", "all");
	for (int k = 0; k < NR_KEYS; k++) {
		text_add(t, "%-24s", map_keys[k].name);
		for (unsigned int z = 0; z < m->nr_zones; z++)
			text_add(t, " %12lu", m->zone[z].n[k]);
		text_add(t, " %12lu\n", sum_key(m, k));
	}
	for (int i = 0; MAP_TYPES[i]; i++) {
		unsigned long n = 0;

		text_add(t, "blocks %-17s", map_type_name(MAP_TYPES[i]));
		for (unsigned int z = 0; z < m->nr_zones; n += m->zone[z++].types[i])
			text_add(t, " %12lu", m->zone[z].types[i]);
		text_add(t, " %12lu\n", n);
	}
}

void draw_map(struct text *t, const struct map *m, struct view *v)
{
	int room = v->lines ? v->lines - legend_lines(m, v) - 2 : v->colour ? 48 : 1 << 20;
	int width = choose_layout(m, v, room);
	char all[32];
	unsigned long present = 0;

	for (unsigned int i = 0; i < m->nr_zones; i++)
		present += m->zone[i].present;
	mib(all, sizeof(all), present);
	text_add(t, "%sMemory map%s  %s in %lu pageblocks of %lu MiB, ", v->colour ? "\x1b[1m" : "",
		 v->colour ? "\x1b[0m" : "", all, m->nr_blocks, m->block_pages / 256);
	if (v->per_cell == 1)
		text_add(t, "a cell each");
	else
		text_add(t, "%d to a cell", v->per_cell);
	text_add(t, ", at %.3f s\n", (double)m->time_ns / 1e9);
	for (unsigned int i = 0; i < m->nr_zones; i++)
		draw_zone(t, m, &m->zone[i], v, width);
	if (v->colour) {
		legend(t, m, v);
		return;
	}
	for (int i = 0; i < NR_GROUPS; i++)
		text_add(t, "%s%c %s", i ? ", " : "", groups[i].letter, groups[i].name);
	text_add(t, "\n");
	totals(t, m);
}

/* ---- one block ---- */

void draw_line_of(struct text *t, const struct map *m, long index, const struct view *v)
{
	const struct map_block *b = &m->block[index];

	text_add(t, "block %lu at %luM, %s:", b->nr, b->nr * m->block_pages / 256,
		 map_type_name(b->type));
	for (int k = 0; k < NR_CLASSES; k++)
		if (b->n[k])
			text_add(t, " %s %d", map_keys[k].name, b->n[k]);
	if (b->n[K_DIRTY] + b->n[K_WRITEBACK])
		text_add(t, "; dirty %d, writeback %d", b->n[K_DIRTY], b->n[K_WRITEBACK]);
	if (b->n[K_PINNED])
		text_add(t, "; pinned %d", b->n[K_PINNED]);
	if (b->n[K_HUGE])
		text_add(t, "; huge %d", b->n[K_HUGE]);
}

/* 64 columns that share the block as the classes do. */
static void draw_bar(struct text *t, const struct map *m, const struct map_block *b,
		     const struct view *v)
{
	unsigned long done = 0, n[NR_KEYS];

	for (int k = 0; k < NR_KEYS; k++)
		n[k] = b->n[k];
	text_add(t, "  ");
	for (int g = NR_GROUPS - 1; g >= 0; g--) {
		unsigned long pages = is_part(g) ? 0 : group_pages(n, g);
		int from = (int)(done * 64 / m->block_pages),
		    to = (int)((done + pages) * 64 / m->block_pages);

		done += pages;
		if (v->colour)
			text_add(t, "\x1b[38;5;%d;48;5;%dm", groups[g].colour, tint(b->type));
		for (int i = from; i < to; i++)
			text_add(t, "%s",
				 v->colour && g ? "█"
				 : v->colour	? " "
						: (char[]){ groups[g].letter, 0 });
		if (v->colour)
			text_add(t, "\x1b[0m");
	}
	text_add(t, "\n");
}

void draw_block(struct text *t, const struct map *m, long index, const struct view *v)
{
	const struct map_block *b = &m->block[index];
	const struct map_zone *z = &m->zone[b->zone];
	unsigned long first = b->nr * m->block_pages;

	text_add(t, "Pageblock %lu: frames %lu to %lu, %lu MiB to %lu MiB, node %d %s, %s\n", b->nr,
		 first, first + m->block_pages - 1, first / 256, (first + m->block_pages) / 256,
		 z->node, z->name, map_type_name(b->type));
	draw_bar(t, m, b, v);
	for (int k = 0; k < NR_CLASSES; k++) {
		if (!b->n[k])
			continue;
		text_add(t, "  %-24s %5d", map_keys[k].name, b->n[k]);
		for (int o = 0; k == K_FREE && o < MAP_ORDERS; o++)
			if (b->free[o])
				text_add(t, "%s %d of order %d",
					 o ? "," : "  in blocks:", b->free[o], o);
		text_add(t, "\n");
	}
	text_add(t, "of the pages of programs and files:\n");
	for (int k = NR_CLASSES; k < NR_KEYS; k++)
		if (b->n[k])
			text_add(t, "  %-24s %5d\n", map_keys[k].name, b->n[k]);
}
