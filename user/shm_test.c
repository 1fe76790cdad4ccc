// SPDX-License-Identifier: BSD-2-Clause
/* shm_test: System V shared memory, step by step; prints the same on Linux. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static void check(const char *what, long got, long want)
{
	printf("%-28s %s\n", what, got == want ? "ok" : "WRONG");
	if (got != want) {
		printf("  got %ld, want %ld, errno %d\n", got, want, errno);
		failures++;
	}
}

static long nattch(int id)
{
	struct shmid_ds ds;

	return shmctl(id, IPC_STAT, &ds) ? -errno : (long)ds.shm_nattch;
}

int main(void)
{
	int id = shmget(IPC_PRIVATE, 3 * 4096 + 100, IPC_CREAT | 0600), status;
	char *a, *b;

	check("private segment", id >= 0, 1);
	a = shmat(id, NULL, 0);
	b = shmat(id, NULL, SHM_RDONLY);
	check("two attachments", nattch(id), 2);
	strcpy(a + 4096, "hello");
	check("seen by the other", strcmp(b + 4096, "hello"), 0);
	check("zero past the size", a[3 * 4096 + 3000], 0);
	if (fork() == 0) {
		strcpy(a, nattch(id) == 4 ? "child sees 4" : "child miscounts");
		_exit(shmdt(a) || shmdt((void *)b));
	}
	wait(&status);
	check("child", status, 0);
	check("child's count", strcmp(a, "child sees 4"), 0);
	check("back to two", nattch(id), 2);
	check("unmap the middle", munmap(a + 4096, 4096), 0);
	check("two pieces and one", nattch(id), 3);
	check("detach the pieces", shmdt(a), 0);
	check("one is left", nattch(id), 1);
	check("detach twice", shmdt(a) == -1 && errno == EINVAL, 1);
	check("remove", shmctl(id, IPC_RMID, NULL), 0);
	check("still attached", nattch(id), 1);
	check("still readable", b[4096], 'h');
	check("last detach", shmdt(b), 0);
	check("gone", nattch(id), -EINVAL);

	key_t key = 0x51;
	id = shmget(key, 8192, IPC_CREAT | IPC_EXCL | 0600);
	check("by key", id >= 0, 1);
	check("again", shmget(key, 4096, 0), id);
	check("exclusive", shmget(key, 8192, IPC_CREAT | IPC_EXCL) == -1 && errno == EEXIST, 1);
	check("too large", shmget(key, 8193, 0) == -1 && errno == EINVAL, 1);
	check("no such key", shmget(0x52, 1, 0) == -1 && errno == ENOENT, 1);
	check("size zero", shmget(IPC_PRIVATE, 0, IPC_CREAT) == -1 && errno == EINVAL, 1);
	check("more than there is",
	      shmget(IPC_PRIVATE, 1ul << 62, IPC_CREAT) == -1 && errno == ENOMEM, 1);
	a = shmat(id, (void *)0x10000001, 0);
	check("odd address", a == (void *)-1 && errno == EINVAL, 1);
	a = shmat(id, (void *)0x10000001, SHM_RND);
	check("rounded address", (long)a, 0x10000000);
	b = shmat(id, a, 0);
	check("taken address", b == (void *)-1 && errno == EINVAL, 1);
	check("remap", (long)shmat(id, a, SHM_REMAP), (long)a);
	check("counted once", nattch(id), 1);
	check("remove key", shmctl(id, IPC_RMID, NULL), 0);
	check("key free", shmget(key, 1, 0) == -1 && errno == ENOENT, 1);
	check("bad id", shmctl(123456, IPC_STAT, NULL) == -1 && errno == EINVAL, 1);
	printf("shm_test: %d failures\n", failures);
	return failures != 0;
}
