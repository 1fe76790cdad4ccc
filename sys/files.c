// SPDX-License-Identifier: BSD-2-Clause
/*
 * files.c - the table of open files.
 *
 * Theory: three parallel arrays (file, taken bit, close-on-exec bit) that start inside the struct
 * and double when full. A descriptor is first reserved (its bit set, file NULL: reads as closed),
 * then installed; so a call can fail between the two without anyone having seen it. `next` is a
 * lower bound for the first free slot: opening the lowest free number, which POSIX wants, scans
 * words from there.
 *
 * The table grows by replacing arrays. Only threads that share the table can hold an old pointer;
 * they read it under the lock (fd_get's lockless path is for tables with one user), so the old
 * arrays may go at once.
 */
#include "sys/files.h"
#include "kernel/param.h"
#include "lib/bitmap.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"

static struct slab_cache *files_cache;
long sysctl_nr_open = 1048576;
TUNABLE("fs/nr_open", sysctl_nr_open, 64, 1048576, NULL);

static unsigned int nofile_limit(void)
{
	return min_t(u64, current_proc->rlim[RLIMIT_NOFILE].cur, (u64)sysctl_nr_open);
}

struct files *files_new(void)
{
	struct files *f = slab_alloc(files_cache, GFP_KERNEL | __GFP_ZERO);

	if (!f)
		return NULL;
	atomic_set(&f->refs, 1);
	spin_lock_init(&f->lock, RANK_FILES, "files");
	f->size = FILES_INLINE;
	f->fd = f->inline_fd;
	f->open = &f->inline_open;
	f->cloexec = &f->inline_cloexec;
	return f;
}

/* Arrays for size slots in one piece: files, then the two bit maps. */
static struct file **arrays_alloc(u32 size)
{
	return kvmalloc(size * sizeof(struct file *) + size / 4, GFP_KERNEL | __GFP_ZERO);
}

static void arrays_set(struct files *f, struct file **fd, u32 size)
{
	f->fd = fd;
	f->open = (unsigned long *)(fd + size);
	f->cloexec = f->open + size / 64;
	f->size = size;
}

/* => files->lock not held; may sleep. Makes room for descriptor n. */
static int files_grow(struct files *f, u32 n)
{
	struct file **fd, **old = NULL;
	u32 size = max_t(u32, f->size, 128);

	while (size <= n)
		size *= 2;
	fd = arrays_alloc(size);
	if (!fd)
		return -ENOMEM;
	spin_lock(&f->lock);
	if (f->size < size) {
		u32 n_old = f->size;
		unsigned long *open = f->open, *cloexec = f->cloexec;

		old = f->fd;
		memcpy(fd, old, n_old * sizeof(*fd));
		arrays_set(f, fd, size);
		memcpy(f->open, open, n_old / 8);
		memcpy(f->cloexec, cloexec, n_old / 8);
		fd = NULL;
	}
	spin_unlock(&f->lock);
	kvfree(fd);
	if (old && old != f->inline_fd)
		kvfree(old);
	return 0;
}

static u32 files_span(const struct files *f)
{
	u32 w = f->size / 64;

	while (w > 1 && !f->open[w - 1])
		w--;
	return w * 64;
}

static void copy_slots(struct files *to, struct files *from, u32 span)
{
	for (u32 w = 0; w < span / 64; w++) {
		unsigned long bits = from->open[w];

		to->open[w] = bits;
		to->cloexec[w] = from->cloexec[w];
		for (; bits; bits &= bits - 1) {
			u32 n = w * 64 + (u32)__builtin_ctzl(bits);
			struct file *file = from->fd[n];

			to->fd[n] = file;
			if (file) {
				file_get(file);
			} else { /* reserved by another thread that has not installed yet */
				__clear_bit(n, to->open);
				__clear_bit(n, to->cloexec);
			}
		}
	}
	to->next = 0;
}

struct files *files_copy(struct files *old)
{
	struct files *f = files_new();
	u32 span;

	if (!f)
		return NULL;
	for (;;) {
		spin_lock(&old->lock);
		span = files_span(old);
		if (span <= f->size)
			break;
		spin_unlock(&old->lock);
		if (files_grow(f, span - 1)) {
			slab_free(files_cache, f);
			return NULL;
		}
	}
	copy_slots(f, old, span);
	f->next = old->next;
	spin_unlock(&old->lock);
	return f;
}

static void close_file(struct file *file)
{
	if (file->ops && file->ops->flush)
		file->ops->flush(file);
	file_put(file);
}

void files_put(struct files *f)
{
	if (!f || !atomic_dec_and_test(&f->refs))
		return;
	for (u32 w = 0; w < f->size / 64; w++)
		for (unsigned long bits = f->open[w]; bits; bits &= bits - 1) {
			struct file *file = f->fd[w * 64 + (u32)__builtin_ctzl(bits)];

			if (file)
				close_file(file);
		}
	if (f->fd != f->inline_fd)
		kvfree(f->fd);
	slab_free(files_cache, f);
}

int files_unshare(void)
{
	struct task *task = current_task();
	struct files *own;

	if (atomic_read(&task->files->refs) == 1)
		return 0;
	own = files_copy(task->files);
	if (!own)
		return -ENOMEM;
	swap(own, task->files);
	files_put(own);
	return 0;
}

struct fd __fd_get_shared(struct files *f, unsigned int n)
{
	struct file *file = NULL;

	spin_lock(&f->lock);
	if (n < f->size)
		file = f->fd[n];
	if (file)
		file_get(file);
	spin_unlock(&f->lock);
	return (struct fd){ file, file != NULL };
}

struct file *files_get_file(struct files *f, int n)
{
	return __fd_get_shared(f, n).file;
}

struct file *fd_get_file(int n)
{
	struct fd f = fd_get(n);

	if (f.file && !f.put)
		file_get(f.file);
	return f.file;
}

/* => files->lock; lowest free slot >= from, or size */
static u32 find_free(const struct files *f, u32 from)
{
	for (u32 w = from / 64; w < f->size / 64; w++) {
		unsigned long free = ~f->open[w];

		if (w == from / 64)
			free &= ~0ul << (from & 63);
		if (free)
			return w * 64 + (u32)__builtin_ctzl(free);
	}
	return f->size;
}

static void mark(struct files *f, u32 n, bool cloexec)
{
	__set_bit(n, f->open);
	if (cloexec)
		__set_bit(n, f->cloexec);
	else
		__clear_bit(n, f->cloexec);
}

int fd_alloc(unsigned int from, bool cloexec)
{
	struct files *f = current_task()->files;
	unsigned int limit = nofile_limit();
	u32 n;

	if (from >= limit)
		return from ? -EINVAL : -EMFILE;
	for (;;) {
		int err;

		spin_lock(&f->lock);
		n = find_free(f, max(from, f->next));
		if (n >= limit) {
			spin_unlock(&f->lock);
			return -EMFILE;
		}
		if (n < f->size)
			break;
		spin_unlock(&f->lock);
		err = files_grow(f, n);
		if (err)
			return err;
	}
	mark(f, n, cloexec);
	if (from <= f->next)
		f->next = n + 1;
	spin_unlock(&f->lock);
	return n;
}

void fd_install(int n, struct file *file)
{
	struct files *f = current_task()->files;

	spin_lock(&f->lock);
	ASSERT(!f->fd[n] && test_bit(n, f->open));
	f->fd[n] = file;
	spin_unlock(&f->lock);
}

/* => files->lock */
static struct file *take_slot(struct files *f, u32 n)
{
	struct file *file = f->fd[n];

	f->fd[n] = NULL;
	__clear_bit(n, f->open);
	if (n < f->next)
		f->next = n;
	return file;
}

void fd_cancel(int n)
{
	struct files *f = current_task()->files;

	spin_lock(&f->lock);
	take_slot(f, n);
	spin_unlock(&f->lock);
}

int fd_new(struct file *file, bool cloexec)
{
	int n = fd_alloc(0, cloexec);

	if (n < 0)
		file_put(file);
	else
		fd_install(n, file);
	return n;
}

int fd_close(int n)
{
	struct files *f = current_task()->files;
	struct file *file = NULL;
	int err = 0;

	spin_lock(&f->lock);
	if ((unsigned int)n < f->size && f->fd[n])
		file = take_slot(f, n);
	spin_unlock(&f->lock);
	if (!file)
		return -EBADF;
	if (file->ops && file->ops->flush)
		err = file->ops->flush(file);
	file_put(file);
	return err;
}

int fd_replace(int n, struct file *file, bool cloexec)
{
	struct files *f = current_task()->files;
	struct file *old;

	if (n < 0 || (unsigned int)n >= nofile_limit()) {
		file_put(file);
		return -EBADF;
	}
	if ((u32)n >= f->size && files_grow(f, n)) {
		file_put(file);
		return -ENOMEM;
	}
	spin_lock(&f->lock);
	old = f->fd[n];
	if (!old && test_bit(n, f->open)) { /* another thread is about to install there */
		spin_unlock(&f->lock);
		file_put(file);
		return -EBUSY;
	}
	f->fd[n] = file;
	mark(f, n, cloexec);
	spin_unlock(&f->lock);
	if (old)
		close_file(old);
	return n;
}

int fd_get_cloexec(int n)
{
	struct files *f = current_task()->files;
	int ret = -EBADF;

	spin_lock(&f->lock);
	if ((unsigned int)n < f->size && f->fd[n])
		ret = test_bit(n, f->cloexec);
	spin_unlock(&f->lock);
	return ret;
}

int fd_set_cloexec(int n, bool on)
{
	struct files *f = current_task()->files;
	int ret = -EBADF;

	spin_lock(&f->lock);
	if ((unsigned int)n < f->size && f->fd[n]) {
		mark(f, n, on);
		ret = 0;
	}
	spin_unlock(&f->lock);
	return ret;
}

int files_next(struct files *f, int from)
{
	int n = -1;

	spin_lock(&f->lock);
	for (u32 i = max(from, 0); i < f->size; i++)
		if (f->fd[i]) {
			n = i;
			break;
		}
	spin_unlock(&f->lock);
	return n;
}

int fd_close_range(unsigned int first, unsigned int last, bool only_mark)
{
	struct files *f = current_task()->files;

	if (first > last)
		return -EINVAL;
	for (int n = first; n >= 0 && (unsigned int)n <= last; n++) {
		n = files_next(f, n);
		if (n < 0 || (unsigned int)n > last)
			break;
		if (only_mark)
			fd_set_cloexec(n, true);
		else
			fd_close(n);
	}
	return 0;
}

void files_close_on_exec(struct files *f)
{
	for (u32 w = 0; w < f->size / 64; w++) {
		while (f->open[w] & f->cloexec[w]) {
			u32 n = w * 64 + (u32)__builtin_ctzl(f->open[w] & f->cloexec[w]);
			struct file *file;

			spin_lock(&f->lock);
			file = take_slot(f, n);
			spin_unlock(&f->lock);
			if (file)
				close_file(file);
		}
	}
}

void files_init(void)
{
	files_cache = slab_create("files_struct", sizeof(struct files), 64, 0, NULL);
	if (!files_cache)
		panic("files: no memory for the cache");
}
