// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscall_trace.c - prints system calls with decoded arguments.
 *
 * A call's arguments are described by a string of letters: s path or text, b buffer with the length
 * in the next argument (printed after the call for reads), d signed number, u unsigned, o octal, f
 * open flags, x hexadecimal, p pointer. Calls that are not listed print three hexadecimal
 * arguments. Entry prints a line only for calls that may never return.
 */
#include "sys/syscall_trace.h"
#include "arch/uaccess.h"
#include "kernel/printk.h"
#include "lib/errno_name.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "sched/sched.h"
#include "sys/syscall_list.h"

static const char *const names[] = {
#define X(nr, name) [nr] = #name,
	SYSCALL_LIST(X)
#undef X
};

static const struct {
	const char *name, *args;
} formats[] = {
	{ "read", "dru" },     { "write", "dbu" },	  { "open", "sfo" },
	{ "close", "d" },      { "stat", "sp" },	  { "fstat", "dp" },
	{ "lstat", "sp" },     { "poll", "pud" },	  { "lseek", "ddd" },
	{ "mmap", "xuxxdx" },  { "mprotect", "xux" },	  { "munmap", "xu" },
	{ "brk", "x" },	       { "rt_sigaction", "dpp" }, { "rt_sigprocmask", "dpp" },
	{ "ioctl", "dxx" },    { "pread64", "drux" },	  { "pwrite64", "dbux" },
	{ "readv", "dpd" },    { "writev", "dpd" },	  { "access", "so" },
	{ "dup", "d" },	       { "dup2", "dd" },	  { "dup3", "ddf" },
	{ "clone", "xxppx" },  { "execve", "spp" },	  { "exit", "d" },
	{ "exit_group", "d" }, { "wait4", "dpxp" },	  { "kill", "dd" },
	{ "tgkill", "ddd" },   { "fcntl", "ddx" },	  { "getdents64", "dpu" },
	{ "chdir", "s" },      { "rename", "ss" },	  { "mkdir", "so" },
	{ "rmdir", "s" },      { "link", "ss" },	  { "unlink", "s" },
	{ "symlink", "ss" },   { "readlink", "spu" },	  { "chmod", "so" },
	{ "chown", "sdd" },    { "mount", "sssxp" },	  { "umount2", "sx" },
	{ "openat", "dsfo" },  { "newfstatat", "dspx" },  { "unlinkat", "dsx" },
	{ "mkdirat", "dso" },  { "readlinkat", "dspu" },  { "faccessat", "dso" },
	{ "pipe2", "pf" },     { "futex", "xdupxx" },	  { "getpid", "" },
	{ "getppid", "" },     { "getuid", "" },	  { "gettid", "" },
	{ "setpgid", "dd" },   { "rt_sigreturn", "" },	  { "fork", "" },
	{ "vfork", "" },       { "arch_prctl", "xx" },	  { "set_tid_address", "p" },
	{ "nanosleep", "pp" }, { "clock_gettime", "dp" }, { "clock_nanosleep", "ddpp" },
	{ "ftruncate", "dd" }, { "prlimit64", "ddpp" },	  { "statx", "dsxxp" },
	{ "ppoll", "pupp" },   { "select", "dpppp" },	  { "rt_sigsuspend", "pu" },
};

const char *syscall_name(u64 nr)
{
	return nr < ARRAY_SIZE(names) && names[nr] ? names[nr] : "?";
}

static const char *format_of(u64 nr)
{
	const char *name = syscall_name(nr);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return formats[i].args;
	return "xxx";
}

/* At most 48 characters of user memory, quoted, control characters escaped. => length written */
static int quote(char *to, size_t n, u64 user, size_t len, bool text)
{
	char raw[49];
	size_t take = min_t(size_t, len, 48), out = 0;
	ssize_t got = take;

	if (text) {
		got = strncpy_from_user(raw, (const char __user *)user, take);
		if (got < 0)
			return scnprintf(to, n, "0x%llx", (unsigned long long)user);
	} else if (copy_from_user(raw, (const void __user *)user, take)) {
		return scnprintf(to, n, "0x%llx", (unsigned long long)user);
	}
	out += scnprintf(to + out, n - out, "\"");
	for (ssize_t i = 0; i < got; i++) {
		u8 c = raw[i];

		if (c == '\n')
			out += scnprintf(to + out, n - out, "\\n");
		else if (isprint_c(c))
			out += scnprintf(to + out, n - out, "%c", c);
		else
			out += scnprintf(to + out, n - out, "\\%o", c);
	}
	return out + scnprintf(to + out, n - out,
			       (size_t)got < len && (!text || got == 48) ? "\"..." : "\"");
}

static int one_argument(char *to, size_t n, char kind, const u64 *args, int i, long result)
{
	switch (kind) {
	case 's':
		return args[i] ? quote(to, n, args[i], 4096, true) : scnprintf(to, n, "NULL");
	case 'b':
		return quote(to, n, args[i], args[i + 1], false);
	case 'r':
		return result > 0 ? quote(to, n, args[i], result, false)
				  : scnprintf(to, n, "0x%llx", (unsigned long long)args[i]);
	case 'd':
		return scnprintf(to, n, "%d", (int)args[i]);
	case 'u':
		return scnprintf(to, n, "%llu", (unsigned long long)args[i]);
	case 'o':
	case 'f':
		return scnprintf(to, n, "0%o", (u32)args[i]);
	default:
		return args[i] ? scnprintf(to, n, "0x%llx", (unsigned long long)args[i])
			       : scnprintf(to, n, "0");
	}
}

static void print_call(u64 nr, const u64 *args, long result, bool done)
{
	const char *format = format_of(nr);
	char text[320];
	size_t n = scnprintf(text, sizeof(text), "%s[%d] %s(", current->comm, current->tid,
			     syscall_name(nr));

	for (int i = 0; format[i]; i++) {
		if (i)
			n += scnprintf(text + n, sizeof(text) - n, ", ");
		n += one_argument(text + n, sizeof(text) - n, format[i], args, i,
				  done ? result : 0);
	}
	if (!done)
		scnprintf(text + n, sizeof(text) - n, ")");
	else if (result < 0 && errno_name(result))
		scnprintf(text + n, sizeof(text) - n, ") = -1 %s", errno_name(result));
	else if (result < 0 &&
		 result >= -530) /* how the call is restarted or ended is decided on the way out */
		scnprintf(text + n, sizeof(text) - n, ") = interrupted (%ld)", -result);
	else
		scnprintf(text + n, sizeof(text) - n, result > 65535 ? ") = 0x%lx" : ") = %ld",
			  result);
	printk(LOG_INFO, "%s", text);
}

void syscall_trace_enter(u64 nr, const u64 *args)
{
	const char *name = syscall_name(nr);

	if (str_has_prefix(name, "exit") || !strcmp(name, "execve"))
		print_call(nr, args, 0, false);
}

void syscall_trace_exit(u64 nr, const u64 *args, long result)
{
	if (strcmp(syscall_name(nr), "execve") || result)
		print_call(nr, args, result, true);
}
