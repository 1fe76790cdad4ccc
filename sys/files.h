/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files.h - a process's table of open files.
 *
 * Problem: every read and write turns a number into a file; taking and dropping a reference would
 * cost two locked instructions each time. Idea: as long as only the current thread uses the table
 * (refs == 1), nobody can close the file under it, so fd_get() takes no reference and no lock. With
 * a shared table it takes both.
 *
 * Locks: (f) files->lock (RANK_FILES, IRQs stay on) for every change and for reading somebody
 * else's table.
 */
#ifndef SYS_FILES_H
#define SYS_FILES_H

#include "fs/vfs.h"
#include "sys/process.h"

#define FILES_INLINE 64

struct files {
	atomic_t refs; /* threads that use the table */
	spinlock_t lock;
	u32 size;		/* slots; a multiple of 64 */
	u32 next;		/* no free slot below (f) */
	struct file **fd;	/* (f) */
	unsigned long *open;	/* bit per slot: taken (reserved or installed) (f) */
	unsigned long *cloexec; /* (f) */
	struct file *inline_fd[FILES_INLINE];
	unsigned long inline_open, inline_cloexec;
};

struct fd {
	struct file *file; /* NULL: not open */
	bool put;	   /* a reference was taken */
};

struct fd __fd_get_shared(struct files *files, unsigned int n);

/*
 * The file behind descriptor n; fd_put() afterwards, also when it is shared only meanwhile. O_PATH
 * files are included.
 */
static inline struct fd fd_get(int n)
{
	struct files *files = current_task()->files;

	if (likely(atomic_read(&files->refs) == 1)) {
		if (likely((unsigned int)n < files->size))
			return (struct fd){ files->fd[n], false };
		return (struct fd){ NULL, false };
	}
	return __fd_get_shared(files, n);
}
static inline void fd_put(struct fd f)
{
	if (unlikely(f.put))
		file_put(f.file);
}
/* Always with a reference (file_put); NULL when not open. */
struct file *fd_get_file(int n);
/* The same in another table. */
struct file *files_get_file(struct files *files, int n);

/*
 * Reserve the lowest free descriptor >= from. => fd, -EMFILE, -ENOMEM, -EINVAL (from beyond the
 * limit)
 */
int fd_alloc(unsigned int from, bool cloexec);
/* Give a reserved descriptor its file (takes the reference over) or give it back. */
void fd_install(int n, struct file *f);
void fd_cancel(int n);
/* alloc + install. On failure the file is put. */
int fd_new(struct file *f, bool cloexec);
/* close(2): 0, -EBADF or what flush said. */
int fd_close(int n);
/*
 * dup2/dup3: installs f (takes over the reference) at n, closing what was there. => n or -EBADF,
 * -EMFILE, -ENOMEM
 */
int fd_replace(int n, struct file *f, bool cloexec);
int fd_get_cloexec(int n);						   /* 0, 1, -EBADF */
int fd_set_cloexec(int n, bool on);					   /* 0, -EBADF */
int fd_close_range(unsigned int first, unsigned int last, bool only_mark); /* close_range(2) */
int files_next(struct files *files, int from); /* next open descriptor >= from, or -1 */

struct files *files_new(void);
struct files *files_copy(struct files *old); /* NULL: no memory */
void files_put(struct files *files);	     /* the last one closes all files */
int files_unshare(void);		     /* exec: a table of one's own; 0 or -ENOMEM */
void files_close_on_exec(struct files *files);
void files_init(void);
extern long sysctl_nr_open; /* hard ceiling of RLIMIT_NOFILE */

#endif
