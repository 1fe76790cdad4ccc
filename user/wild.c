/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wild - what happens to a program that goes wrong. One child per way; prints what it died of.
 *
 *	wild [NAME]
 *
 * The output is the same on every correct system: the guilty child gets the signal Linux gives.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char data_page[8192] __attribute__((aligned(4096)));
static const char text_like[16] = "read only";

static void write_to(unsigned long address)
{
	*(volatile char *)address = 1;
}

static void read_from(unsigned long address)
{
	__asm__ volatile("movb (%0), %%al" : : "r"(address) : "eax", "memory");
}

static void jump_to(unsigned long address)
{
	((void (*)(void))address)();
}

static void null_write(void)
{
	write_to(0);
}
static void null_read(void)
{
	read_from(8);
}
static void null_jump(void)
{
	jump_to(0);
}
static void kernel_write(void)
{
	write_to(0xffffffff81000000);
}
static void kernel_read(void)
{
	read_from(0xffff888000000000);
}
static void kernel_jump(void)
{
	jump_to(0xffffffff81000000);
}
static void crooked_write(void)
{
	write_to(0x8000000000000000);
}
static void crooked_jump(void)
{
	jump_to(0x8000000000000000);
}
static void top_of_user(void)
{
	write_to(0x7ffffffff000);
}
static void rodata_write(void)
{
	write_to((unsigned long)text_like);
}
static void text_write(void)
{
	write_to((unsigned long)rodata_write);
}
static void data_jump(void)
{
	jump_to((unsigned long)data_page);
}
static void op_hlt(void)
{
	__asm__ volatile("hlt");
}
static void op_cli(void)
{
	__asm__ volatile("cli");
}
static void op_ud2(void)
{
	__asm__ volatile("ud2");
}
static void op_int3(void)
{
	__asm__ volatile("int3");
}
static void op_int14(void)
{
	__asm__ volatile("int $14");
}
static void op_in(void)
{
	__asm__ volatile("inb $0x60, %%al" : : : "eax");
}
static void op_cr3(void)
{
	__asm__ volatile("mov %%cr3, %%rax" : : : "rax");
}
static void op_wrmsr(void)
{
	__asm__ volatile("wrmsr" : : "a"(0), "d"(0), "c"(0xc0000082));
}
static void op_lgdt(void)
{
	__asm__ volatile("lgdt %0" : : "m"(data_page));
}
static void op_iretq(void)
{
	__asm__ volatile("push $0; push $0; push $2; push $8; push $1; iretq");
}
static void op_swapgs(void)
{
	__asm__ volatile("swapgs");
}
static void op_trap_flag(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%rsp); popfq; nop");
}

static void divide(void)
{
	__asm__ volatile("xor %%ecx, %%ecx; cltd; idivl %%ecx" : : "a"(1) : "ecx", "edx");
}

/* an unmasked exception of the x87 unit */
static void x87_divide(void)
{
	unsigned short control = 0x37f & ~4u;

	__asm__ volatile("fldcw %0; fldz; fld1; fdivp; fwait; fstp %%st(0)" : : "m"(control));
}

static void bad_stack_syscall(void)
{
	__asm__ volatile("mov $0x10, %rsp; mov $39, %eax; syscall; push %rax");
}

static void kernel_stack_pointer(void)
{
	__asm__ volatile("mov $0xffffffff81000000, %rsp; mov $39, %eax; syscall; push %rax");
}

static int recurse(volatile int depth)
{
	volatile char room[2048];

	if (depth < 0)
		return 0;
	room[0] = (char)depth;
	return recurse(depth + 1) + room[0];
}

static void stack_overflow(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	setrlimit(RLIMIT_STACK, &limit);
	recurse(0);
}

static void unmapped_own(void)
{
	munmap(data_page, 4096);
	write_to((unsigned long)data_page);
}

static void protected(void)
{
	mprotect(data_page, 4096, PROT_NONE);
	read_from((unsigned long)data_page);
}

static void past_end_of_file(void)
{
	int fd = open("/tmp/wild.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	unlink("/tmp/wild.tmp");
	if (p != MAP_FAILED)
		write_to((unsigned long)p);
}

/* The kernel must not follow these; the child then leaves with 0. */
static void bad_pointers(void)
{
	static const unsigned long bad[] = { 1, 0x8000000000000000, 0xffffffff81000000,
					     0xffffffffffffffff, 0x7fffffffffff };
	long wrong = 0;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		wrong += raw3(SYS_write, 1, (long)bad[i], 16) != -EFAULT;
		wrong += raw3(SYS_uname, (long)bad[i], 0, 0) != -EFAULT;
		wrong += raw3(SYS_open, (long)bad[i], 0, 0) != -EFAULT;
		wrong += raw3(SYS_pipe, (long)bad[i], 0, 0) != -EFAULT;
		wrong += raw3(SYS_clock_gettime, 0, (long)bad[i], 0) != -EFAULT;
		wrong += raw3(SYS_execve, (long)bad[i], 0, 0) != -EFAULT;
	}
	_exit((int)wrong);
}

/* A frame on the stack that asks for a return into the kernel. */
static void forged_sigreturn(void)
{
	__asm__ volatile("sub $1024, %rsp; mov %rsp, %rdi; mov $0xffffffffffffffff, %rax;"
			 "mov $128, %ecx; rep stosq; mov $15, %eax; syscall; ud2");
}

#define WAY(fn)                                                                                    \
	{                                                                                          \
#fn, fn                                                                            \
	}
static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	WAY(null_write),
	WAY(null_read),
	WAY(null_jump),
	WAY(kernel_write),
	WAY(kernel_read),
	WAY(kernel_jump),
	WAY(crooked_write),
	WAY(crooked_jump),
	WAY(top_of_user),
	WAY(rodata_write),
	WAY(text_write),
	WAY(data_jump),
	WAY(op_hlt),
	WAY(op_cli),
	WAY(op_ud2),
	WAY(op_int3),
	WAY(op_int14),
	WAY(op_in),
	WAY(op_cr3),
	WAY(op_wrmsr),
	WAY(op_lgdt),
	WAY(op_iretq),
	WAY(op_swapgs),
	WAY(op_trap_flag),
	WAY(divide),
	WAY(x87_divide),
	WAY(bad_stack_syscall),
	WAY(kernel_stack_pointer),
	WAY(stack_overflow),
	WAY(unmapped_own),
	WAY(protected),
	WAY(past_end_of_file),
	WAY(bad_pointers),
	WAY(forged_sigreturn),
};

int main(int argc, char **argv)
{
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct rlimit no_core = { 0, 0 };
		pid_t pid;

		if (argc > 1 && strcmp(argv[1], ways[i].name))
			continue;
		pid = fork();
		if (pid < 0)
			die("wild: fork");
		if (pid == 0) {
			setrlimit(RLIMIT_CORE, &no_core);
			ways[i].run();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid)
			die("wild: wait");
		if (WIFSIGNALED(status))
			printf("%-20s killed by signal %d\n", ways[i].name, WTERMSIG(status));
		else
			printf("%-20s exit status %d\n", ways[i].name, WEXITSTATUS(status));
	}
	return 0;
}
