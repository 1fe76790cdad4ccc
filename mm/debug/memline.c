/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memline.c - one line of the memory map. Pure; also compiled for the host.
 *
 *	BLOCK ZONE TYPE [f=PAGES[:N0.N1.N2...]] [KEY=N]...
 *
 * Numbers that are zero are left out, so a line is as long as the block is varied. Digits are made
 * by hand: a general printf would cost more than counting the pages.
 */
#include "lib/string.h"
#include "mm/debug/memmap.h"

static const char type_letter[NR_MIGRATETYPES] = { 'U', 'R', 'M', 'V', 'I' };

static char *put_number(char *p, unsigned long v)
{
	char digits[20];
	u32 n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		*p++ = digits[--n];
	return p;
}

static char *put_key(char *p, const char *key, unsigned long v)
{
	*p++ = ' ';
	while (*key)
		*p++ = *key++;
	*p++ = '=';
	return put_number(p, v);
}

static char *put_orders(char *p, const u32 *blocks)
{
	int top = MAX_ORDER - 1;

	while (top >= 0 && !blocks[top])
		top--;
	for (int o = 0; o <= top; o++) {
		*p++ = o ? '.' : ':';
		p = put_number(p, blocks[o]);
	}
	return p;
}

size_t memmap_line(char *text, unsigned long block, u32 zone, unsigned int type,
		   const struct block_counts *c)
{
	char *p = put_number(text, block);

	*p++ = ' ';
	p = put_number(p, zone);
	*p++ = ' ';
	*p++ = type < NR_MIGRATETYPES ? type_letter[type] : '-';
	for (u32 i = 0; i < NR_PAGE_CLASSES; i++) {
		if (!c->of[i])
			continue;
		p = put_key(p, page_class_key[i], c->of[i]);
		if (i == PC_FREE)
			p = put_orders(p, c->free);
	}
	for (u32 i = 0; i < NR_PAGE_ATTRS; i++)
		if (c->attr[i])
			p = put_key(p, page_attr_key[i], c->attr[i]);
	*p++ = '\n';
	return (size_t)(p - text);
}
