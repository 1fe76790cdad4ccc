/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmapcheck - files written, stored to, cut, punched and synced by several processes at once; not a
 * byte may be other than it was made.
 *
 *	mmapcheck run DIR [OPS [WORKERS [SEED]]]	leaves DIR/w0 ... and DIR/sums
 *	mmapcheck verify DIR				reads them again (after a remount)
 *
 * Each worker has a file of its own, of which it keeps a copy in memory, and all share DIR/common,
 * in which page p belongs to worker p % WORKERS: it alone stores there, through its mapping or with
 * pwrite, and every page carries its owner, a generation and a checksum. A private mapping must
 * keep what it copied. The last line is "mmapcheck: OK" or names what was wrong; the exit status
 * says the same.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define P 4096ul
#define FILE_PAGES 64ul
#define FILE_BYTES (FILE_PAGES * P)
#define COMMON_PAGES 48ul
#define WORKERS_MAX 16ul

static const char *dir;
static unsigned long workers = 3, ops = 400;

static uint64_t sum_of(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static void wrong(const char *what, unsigned long worker, unsigned long pos)
{
	printf("mmapcheck: worker %lu: %s at byte %lu\n", worker, what, pos);
	fflush(stdout);
	_exit(1);
}

static void must(int ok, const char *what)
{
	if (!ok) {
		printf("mmapcheck: %s: %s\n", what, strerror(errno));
		fflush(stdout);
		_exit(1);
	}
}

static char *path_of(const char *name, unsigned long n)
{
	static char path[512];

	snprintf(path, sizeof(path), n == ~0ul ? "%s/%s" : "%s/%s%lu", dir, name, n);
	return path;
}

/* ---- the worker's own file ----------------------------------------------------------------- */

struct own {
	unsigned long id;
	int fd;
	char *map;   /* shared, all of FILE_BYTES */
	char *want;  /* what the file must hold */
	size_t size; /* of the file */
	uint64_t rng;
};

static size_t below(struct own *o, size_t n)
{
	return n ? random_next(&o->rng) % n : 0;
}

static void fill(struct own *o, char *to, size_t n)
{
	uint64_t v = random_next(&o->rng);

	for (size_t i = 0; i < n; i++)
		to[i] = (char)(v >> i % 57);
}

static void op_write(struct own *o)
{
	static char data[5 * P];
	size_t pos = below(o, FILE_BYTES - 1), n = 1 + below(o, sizeof(data) - 1);

	if (n > FILE_BYTES - pos)
		n = FILE_BYTES - pos;
	fill(o, data, n);
	must(pwrite(o->fd, data, n, (off_t)pos) == (ssize_t)n, "pwrite");
	memcpy(o->want + pos, data, n);
	if (pos + n > o->size)
		o->size = pos + n;
}

static void op_store(struct own *o)
{
	size_t pos, n;

	if (!o->size)
		return;
	pos = below(o, o->size);
	n = 1 + below(o, 300);
	if (n > o->size - pos)
		n = o->size - pos;
	fill(o, o->map + pos, n);
	memcpy(o->want + pos, o->map + pos, n);
}

static void op_resize(struct own *o)
{
	size_t to = below(o, FILE_BYTES);

	/* The rest of the last page may be stored to, and must not come back. */
	if (o->size % P)
		o->map[o->size] = 0x5a;
	must(!ftruncate(o->fd, (off_t)to), "ftruncate");
	if (to < o->size)
		memset(o->want + to, 0, o->size - to);
	o->size = to;
}

static void op_punch(struct own *o)
{
	size_t pos = below(o, FILE_BYTES - 1), n = 1 + below(o, 6 * P), end = pos + n;

	if (fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)pos, (off_t)n)) {
		must(errno == EOPNOTSUPP, "fallocate");
		return;
	}
	if (end > o->size)
		end = o->size;
	if (pos < end)
		memset(o->want + pos, 0, end - pos);
}

static void op_sync(struct own *o)
{
	switch (below(o, 4)) {
	case 0:
		must(!fsync(o->fd), "fsync");
		break;
	case 1:
		must(!msync(o->map, FILE_BYTES, MS_SYNC), "msync");
		break;
	case 2:
		must(!msync(o->map, FILE_BYTES, MS_ASYNC), "msync");
		break;
	default:
		posix_fadvise(o->fd, 0, 0, POSIX_FADV_DONTNEED);
	}
}

static void own_check(struct own *o)
{
	static char got[FILE_BYTES];
	struct stat st;
	ssize_t n = pread(o->fd, got, FILE_BYTES, 0);

	must(!fstat(o->fd, &st), "fstat");
	if ((size_t)st.st_size != o->size || n != (ssize_t)o->size)
		wrong("the size is not what it was", o->id, (size_t)st.st_size);
	for (size_t i = 0; i < o->size; i++) {
		if (got[i] != o->want[i])
			wrong("read(2) gives another byte", o->id, i);
		if (o->map[i] != o->want[i])
			wrong("the mapping shows another byte", o->id, i);
	}
}

/* A private copy of a page keeps its bytes while the file changes. */
static void op_private(struct own *o)
{
	char *copy, keep[64];

	if (o->size < P)
		return;
	copy = mmap(NULL, P, PROT_READ | PROT_WRITE, MAP_PRIVATE, o->fd, 0);
	must(copy != MAP_FAILED, "mmap");
	fill(o, keep, sizeof(keep));
	memcpy(copy + 100, keep, sizeof(keep));
	if (memcmp(o->map + 100, o->want + 100, sizeof(keep)))
		wrong("a private store reached the file", o->id, 100);
	fill(o, o->map + 200, 10);
	memcpy(o->want + 200, o->map + 200, 10);
	if (memcmp(copy + 100, keep, sizeof(keep)))
		wrong("a private copy changed", o->id, 100);
	munmap(copy, P);
}

/* ---- the common file ----------------------------------------------------------------------- */

struct stamp { /* one page */
	uint64_t owner, generation, fill, sum;
	uint64_t words[P / 8 - 4];
};

static void stamp_make(struct stamp *s, unsigned long owner, uint64_t generation, uint64_t v)
{
	s->owner = owner;
	s->generation = generation;
	s->fill = v;
	for (size_t i = 0; i < P / 8 - 4; i++)
		s->words[i] = v + i * generation;
	s->sum = sum_of(s->words, sizeof(s->words)) ^ generation;
}

static int stamp_good(const struct stamp *s, unsigned long owner)
{
	return s->owner == owner && s->sum == (sum_of(s->words, sizeof(s->words)) ^ s->generation);
}

struct common {
	int fd;
	struct stamp *map;
	uint64_t generation[COMMON_PAGES];
};

static void op_common(struct own *o, struct common *c)
{
	unsigned long page = below(o, COMMON_PAGES / workers) * workers + o->id;
	struct stamp s;

	must(pread(c->fd, &s, P, (off_t)(page * P)) == (ssize_t)P, "pread");
	if (!stamp_good(&s, o->id) || s.generation != c->generation[page])
		wrong("a page of the common file is not as its owner left it", o->id, page * P);
	stamp_make(&s, o->id, ++c->generation[page], random_next(&o->rng));
	if (below(o, 2)) {
		memcpy(&c->map[page], &s, P);
	} else {
		must(pwrite(c->fd, &s, P, (off_t)(page * P)) == (ssize_t)P, "pwrite");
	}
	if (below(o, 8) == 0)
		must(!msync(&c->map[page], P, MS_SYNC), "msync");
	/* A neighbour's page: whose it is never changes. */
	page = below(o, COMMON_PAGES);
	if (c->map[page].owner != page % workers)
		wrong("a page of the common file changed hands", o->id, page * P);
}

/* ---- */

static void save_sum(struct own *o)
{
	char line[64];
	int fd = open(path_of("sums", ~0ul), O_WRONLY | O_CREAT | O_APPEND, 0644), n;

	must(fd >= 0, "sums");
	n = snprintf(line, sizeof(line), "%lu %lu %016lx\n", o->id, o->size,
		     (unsigned long)sum_of(o->want, o->size));
	must(write(fd, line, (size_t)n) == n && !fsync(fd), "sums");
	close(fd);
}

static void worker(unsigned long id, uint64_t seed)
{
	struct own o = { .id = id, .rng = seed * 1000 + id };
	struct common c = { 0 };

	o.fd = open(path_of("w", id), O_RDWR | O_CREAT | O_TRUNC, 0644);
	c.fd = open(path_of("common", ~0ul), O_RDWR);
	must(o.fd >= 0 && c.fd >= 0, "open");
	o.map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, o.fd, 0);
	c.map = mmap(NULL, COMMON_PAGES * P, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
	o.want = calloc(1, FILE_BYTES);
	must(o.map != MAP_FAILED && c.map != MAP_FAILED && o.want, "memory");
	for (unsigned long i = 0; i < ops; i++) {
		switch (below(&o, 16)) {
		case 0:
			op_resize(&o);
			break;
		case 1:
			op_punch(&o);
			break;
		case 2:
			op_sync(&o);
			break;
		case 3:
			op_private(&o);
			break;
		case 4:
			own_check(&o);
			break;
		case 5:
		case 6:
		case 7:
			op_common(&o, &c);
			break;
		case 8:
		case 9:
		case 10:
		case 11:
			op_store(&o);
			break;
		default:
			op_write(&o);
		}
	}
	own_check(&o);
	save_sum(&o);
	must(!fsync(o.fd) && !fsync(c.fd), "fsync");
	_exit(0);
}

static void make_common(void)
{
	static struct stamp s;
	int fd = open(path_of("common", ~0ul), O_RDWR | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0, "common");
	for (unsigned long p = 0; p < COMMON_PAGES; p++) {
		stamp_make(&s, p % workers, 0, p);
		must(write(fd, &s, P) == (ssize_t)P, "common");
	}
	close(fd);
}

static int run(uint64_t seed)
{
	int failed = 0, status;

	unlink(path_of("sums", ~0ul));
	make_common();
	for (unsigned long i = 0; i < workers; i++) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid)
			worker(i, seed);
	}
	while (wait(&status) > 0) {
		if (WIFSIGNALED(status))
			printf("mmapcheck: a worker died of signal %d\n", WTERMSIG(status));
		failed |= status != 0;
	}
	return failed;
}

static int verify(void)
{
	static char got[FILE_BYTES + 1];
	static struct stamp s;
	char text[4096], *line = text, *next;
	int failed = 0, fd;

	must(slurp(path_of("sums", ~0ul), text, sizeof(text)) > 0, "sums");
	for (; (next = strchr(line, '\n')); line = next + 1) {
		unsigned long id, size, sum;
		ssize_t n;

		if (sscanf(line, "%lu %lu %lx", &id, &size, &sum) != 3)
			continue;
		fd = open(path_of("w", id), O_RDONLY);
		n = fd < 0 ? -1 : read(fd, got, sizeof(got));
		if (n != (ssize_t)size || sum_of(got, size) != sum) {
			printf("mmapcheck: w%lu is not as it was left (%zd bytes)\n", id, n);
			failed = 1;
		}
		close(fd);
		workers = id + 1 > workers ? id + 1 : workers;
	}
	fd = open(path_of("common", ~0ul), O_RDONLY);
	for (unsigned long p = 0; p < COMMON_PAGES; p++) {
		if (read(fd, &s, P) != (ssize_t)P || !stamp_good(&s, s.owner)) {
			printf("mmapcheck: page %lu of common is broken\n", p);
			failed = 1;
		}
	}
	close(fd);
	return failed;
}

int main(int argc, char **argv)
{
	int failed;

	if (argc < 3 || (strcmp(argv[1], "run") && strcmp(argv[1], "verify"))) {
		fprintf(stderr, "usage: mmapcheck run|verify DIR [OPS [WORKERS [SEED]]]\n");
		return 2;
	}
	dir = argv[2];
	if (argc > 3)
		ops = number("OPS", argv[3]);
	if (argc > 4)
		workers = number("WORKERS", argv[4]);
	if (workers < 1 || workers > WORKERS_MAX) {
		fprintf(stderr, "mmapcheck: 1 to %lu workers\n", WORKERS_MAX);
		return 2;
	}
	failed = strcmp(argv[1], "run") ? verify() : run(argc > 5 ? number("SEED", argv[5]) : 1);
	printf("mmapcheck: %s\n", failed ? "FAILED" : "OK");
	return failed;
}
