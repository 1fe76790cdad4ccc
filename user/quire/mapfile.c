/* SPDX-License-Identifier: BSD-2-Clause */
/* mapfile.c - reads the memory map's text. */
#include "mapfile.h"

const struct map_key_info map_keys[NR_KEYS] = {
	[K_FREE] = { "f", "free" },
	[K_PCP] = { "pc", "free, on CPUs' lists" },
	[K_INACTIVE_ANON] = { "ia", "anonymous, inactive" },
	[K_ACTIVE_ANON] = { "aa", "anonymous, active" },
	[K_INACTIVE_FILE] = { "if", "files, inactive" },
	[K_ACTIVE_FILE] = { "af", "files, active" },
	[K_UNEVICTABLE] = { "ue", "unevictable" },
	[K_WAITING] = { "lw", "waiting for a list" },
	[K_OFF_LIST] = { "ol", "off the lists" },
	[K_SLAB] = { "sl", "slab" },
	[K_TABLE] = { "pt", "page tables" },
	[K_STACK] = { "ks", "kernel stacks" },
	[K_VMALLOC] = { "vm", "vmalloc" },
	[K_KERNEL] = { "ke", "kernel, other" },
	[K_RESERVED] = { "rs", "reserved" },
	[K_HOLE] = { "ho", "no memory" },
	[K_DIRTY] = { "di", "dirty" },
	[K_WRITEBACK] = { "wb", "writeback" },
	[K_CACHED] = { "ca", "in the page cache" },
	[K_SHMEM] = { "sh", "shared memory, tmpfs" },
	[K_SWAPCACHE] = { "sc", "in the swap cache" },
	[K_ANON_MAPPED] = { "am", "anonymous, mapped" },
	[K_FILE_MAPPED] = { "fm", "files, mapped" },
	[K_MLOCKED] = { "ml", "mlocked" },
	[K_PINNED] = { "pn", "pinned" },
	[K_HUGE] = { "hu", "huge" },
};

const char *map_type_name(char type)
{
	static const char *const names[] = { "Unmovable", "Reclaimable", "Movable", "Reserve",
					     "Isolate" };
	const char *p = type ? strchr(MAP_TYPES, type) : NULL;

	return p ? names[p - MAP_TYPES] : "?";
}

/* The whole file, however long. => 0, -1 */
static int load(struct map *m, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	while (n > 0) {
		if (m->text_room - have < 4096) {
			m->text_room = m->text_room ? m->text_room * 2 : 1 << 16;
			m->text = realloc(m->text, m->text_room);
			if (!m->text)
				die("quire map");
		}
		n = read(fd, m->text + have, m->text_room - have - 1);
		have += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	m->text[have] = 0;
	return n;
}

static int parse_zone(struct map *m, const char *line)
{
	struct map_zone *z;
	unsigned int id;

	if (sscanf(line, "zone %u", &id) != 1 || id != m->nr_zones || id == MAP_ZONES)
		return -1;
	z = &m->zone[m->nr_zones++];
	memset(z, 0, sizeof(*z));
	return sscanf(line,
		      "zone %*u node=%d name=%15s start=%lu spanned=%lu present=%lu managed=%lu",
		      &z->node, z->name, &z->start, &z->spanned, &z->present, &z->managed) == 6
		       ? 0
		       : -1;
}

static void parse_orders(struct map_block *b, const char *p)
{
	for (int o = 0; o < MAP_ORDERS; o++) {
		char *end;

		b->free[o] = (unsigned short)strtoul(p, &end, 10);
		if (*end != '.')
			break;
		p = end + 1;
	}
}

static void parse_pair(struct map_block *b, char *word)
{
	char *equals = strchr(word, '='), *end;
	unsigned long v;

	if (!equals)
		return;
	*equals = 0;
	v = strtoul(equals + 1, &end, 10);
	for (int k = 0; k < NR_KEYS; k++)
		if (!strcmp(map_keys[k].key, word)) {
			b->n[k] = (unsigned short)v;
			if (k == K_FREE && *end == ':')
				parse_orders(b, end + 1);
			return;
		}
}

static void add_to_zone(struct map_zone *z, const struct map_block *b)
{
	const char *type = strchr(MAP_TYPES, b->type);

	z->blocks++;
	for (int k = 0; k < NR_KEYS; k++)
		z->n[k] += b->n[k];
	for (int o = 0; o < MAP_ORDERS; o++)
		z->free[o] += b->free[o];
	if (b->type && type)
		z->types[type - MAP_TYPES]++;
}

static int parse_block(struct map *m, char *line)
{
	struct map_block *b;
	char *word, *save;
	unsigned int zone;
	int used;

	if (m->nr_blocks == m->room) {
		m->room = m->room ? m->room * 2 : 1024;
		m->block = realloc(m->block, m->room * sizeof(*m->block));
		if (!m->block)
			die("quire map");
	}
	b = &m->block[m->nr_blocks];
	memset(b, 0, sizeof(*b));
	if (sscanf(line, "%lu %u %c%n", &b->nr, &zone, &b->type, &used) != 3 || zone >= m->nr_zones)
		return -1;
	b->zone = (unsigned short)zone;
	for (word = strtok_r(line + used, " ", &save); word; word = strtok_r(NULL, " ", &save))
		parse_pair(b, word);
	if (!m->zone[zone].blocks)
		m->zone[zone].first = m->nr_blocks;
	add_to_zone(&m->zone[zone], b);
	m->nr_blocks++;
	return 0;
}

int map_read(struct map *m, const char *path)
{
	char *line, *save;
	int version = 0;

	if (load(m, path) < 0) {
		fprintf(stderr, "quire: %s: %s\n", path, strerror(errno));
		return -1;
	}
	m->nr_zones = 0;
	m->nr_blocks = 0;
	line = strtok_r(m->text, "\n", &save);
	if (!line ||
	    sscanf(line, "quire-memmap %d time_ns=%llu block_pages=%lu", &version, &m->time_ns,
		   &m->block_pages) != 3 ||
	    version != 1) {
		fprintf(stderr, "quire: %s: not a memory map of version 1\n", path);
		return -1;
	}
	while ((line = strtok_r(NULL, "\n", &save))) {
		int bad = *line == 'z'			 ? parse_zone(m, line)
			  : *line >= '0' && *line <= '9' ? parse_block(m, line)
							 : 0;

		if (bad) {
			fprintf(stderr, "quire: %s: cannot read the line '%.60s'\n", path, line);
			return -1;
		}
	}
	return 0;
}
