// SPDX-License-Identifier: BSD-2-Clause
/* special.c - memfd_create, and the start of the files without a name. */
#include "sys/special.h"
#include "lib/err.h"
#include "sys/aio.h"
#include "sys/files.h"
#include "sys/syscall.h"

#define MFD_CLOEXEC 1u
#define MFD_ALLOW_SEALING 2u
#define MFD_NAME_MAX 249

SYSCALL(memfd_create)
{
	char name[MFD_NAME_MAX + 1];
	u32 flags = a1;
	struct file *f;
	ssize_t n;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x18u /* NOEXEC_SEAL, EXEC */))
		return -EINVAL;
	n = strncpy_from_user(name, (const char __user *)a0, sizeof(name));
	if (n < 0)
		return n;
	if (n == sizeof(name))
		return -EINVAL;
	f = shmem_file(name, 0, O_RDWR | O_LARGEFILE);
	if (IS_ERR(f))
		return PTR_ERR(f);
	return fd_new(f, flags & MFD_CLOEXEC);
}

void special_init(void)
{
	epoll_init();
	aio_init();
}
