/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elffuzz - mutated programs for the loader, from a seed.
 *
 *	elffuzz [COUNT [SEED]]
 *
 * A small valid ELF file (two segments, a bss tail, a stack header) gets some of its bytes changed,
 * mostly in the headers, or its end cut off; a child executes it under a short timer. Prints how
 * the children ended; whatever they do, only they may suffer.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#define FILE_NAME "/tmp/elffuzz.tmp"
#define BASE 0x400000ul
#define SIZE 0x1100ul

static unsigned char good[SIZE], image[SIZE];

/* mov $60,%eax; xor %edi,%edi; movb $1,(data); syscall */
static const unsigned char code[] = { 0xb8, 60,	  0,	0,    0,    0x31, 0xff, 0xc6, 0x04,
				      0x25, 0x80, 0x10, 0x40, 0x00, 0x01, 0x0f, 0x05 };

static void build(void)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)good;
	Elf64_Phdr *p = (Elf64_Phdr *)(e + 1);

	memcpy(e->e_ident, ELFMAG "\2\1\1", 7);
	e->e_type = ET_EXEC;
	e->e_machine = EM_X86_64;
	e->e_version = 1;
	e->e_entry = BASE + 0x200;
	e->e_phoff = sizeof(*e);
	e->e_ehsize = sizeof(*e);
	e->e_phentsize = sizeof(*p);
	e->e_phnum = 3;
	p[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0, BASE, BASE, 0x300, 0x300, 4096 };
	p[1] = (Elf64_Phdr){ PT_LOAD,	    PF_R | PF_W, 0x1000, BASE + 0x1000,
			     BASE + 0x1000, 0x100,	 0x3000, 4096 };
	p[2] = (Elf64_Phdr){ PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 };
	memcpy(good + 0x200, code, sizeof(code));
}

static size_t mutate(uint64_t *seed)
{
	static const unsigned char nasty[] = { 0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff };
	unsigned changes = 1 + random_next(seed) % 8;
	size_t size = SIZE;

	memcpy(image, good, SIZE);
	while (changes--) {
		uint64_t r = random_next(seed);
		size_t limit = r % 8 ? sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) : SIZE;
		size_t at = random_next(seed) % limit;

		if (r & 256)
			image[at] = nasty[random_next(seed) % sizeof(nasty)];
		else if (r & 512)
			image[at] = (unsigned char)random_next(seed);
		else if (r & 1024)
			image[at] ^= (unsigned char)(1u << random_next(seed) % 8);
		else
			memset(image + at, r & 2048 ? 0xff : 0, at + 8 < SIZE ? 8 : 1);
	}
	if (random_next(seed) % 16 == 0)
		size = random_next(seed) % SIZE;
	return size;
}

static void child(void)
{
	char *argv[] = { FILE_NAME, NULL }, *envp[] = { NULL };
	struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	setitimer(ITIMER_REAL, &soon, NULL);
	execve(FILE_NAME, argv, envp);
	_exit(errno == ENOEXEC || errno == EINVAL || errno == ENOMEM ? 100 : 101);
}

static int write_image(size_t size)
{
	int fd;

	unlink(FILE_NAME);
	fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? number("elffuzz", argv[1]) : 1000;
	uint64_t seed = argc > 2 ? number("elffuzz", argv[2]) : 1;
	unsigned long ran = 0, refused = 0, odd = 0, killed[65] = { 0 };

	build();
	memcpy(image, good, SIZE);
	for (unsigned long i = 0; i <= count; i++) {
		size_t size = i ? mutate(&seed) : SIZE;
		int status;
		pid_t pid;

		if (write_image(size) < 0)
			die("elffuzz: " FILE_NAME);
		pid = fork();
		if (pid < 0)
			die("elffuzz: fork");
		if (pid == 0)
			child();
		if (waitpid(pid, &status, 0) != pid)
			die("elffuzz: wait");
		if (i == 0 && status != 0) {
			printf("elffuzz: the unchanged file does not run (status %#x)\n", status);
			return 1;
		}
		if (WIFSIGNALED(status))
			killed[WTERMSIG(status)]++;
		else if (WEXITSTATUS(status) == 100)
			refused++;
		else if (WEXITSTATUS(status) == 0)
			ran++;
		else
			odd++;
	}
	unlink(FILE_NAME);
	printf("elffuzz: %lu files: %lu ran, %lu refused, %lu other", count, ran, refused, odd);
	for (int i = 1; i < 65; i++)
		if (killed[i])
			printf(", signal %d: %lu", i, killed[i]);
	printf("\n");
	return 0;
}
