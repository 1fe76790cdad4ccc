/* SPDX-License-Identifier: BSD-2-Clause */
/* mapdraw.h - a memory map as text for a terminal, or without colours for anything else. */
#ifndef USER_QUIRE_MAPDRAW_H
#define USER_QUIRE_MAPDRAW_H

#include "mapfile.h"

/* Text that grows. */
struct text {
	char *p;
	size_t used, room;
};
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct view {
	int columns, lines; /* of the terminal; lines 0: as many as it takes */
	int colour;
	long selected; /* index into map.block, shown inverted; -1: none */
	int per_row;   /* out: cells of a row, and blocks of a cell */
	int per_cell;
};
/* The whole picture: header, zones, legend with totals. Lines end in \n. */
void draw_map(struct text *t, const struct map *m, struct view *v);
/* One line about a block, and everything about it. */
void draw_line_of(struct text *t, const struct map *m, long index, const struct view *v);
void draw_block(struct text *t, const struct map *m, long index, const struct view *v);

#endif
