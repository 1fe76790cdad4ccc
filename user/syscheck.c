// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscheck - asks the kernel some four hundred questions about processes, signals, terminals,
 * timers and pipes, one line per answer. The answers hold no times, addresses or process numbers,
 * so two kernels can be compared with diff:
 *
 *     ./syscheck > linux.txt     (there)         syscheck > quire.txt     (here)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lab.h"
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <ucontext.h>

/* linux/futex.h is not everywhere */
enum {
	FUTEX_WAIT,
	FUTEX_WAKE,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP,
	FUTEX_LOCK_PI,
	FUTEX_UNLOCK_PI,
	FUTEX_WAIT_BITSET = 9
};
#define FUTEX_OP_ADD 1
#define FUTEX_OP_CMP_EQ 0
#define FUTEX_OP(op, arg, cmp, cmparg) ((op) << 28 | (cmp) << 24 | (arg) << 12 | (cmparg))
#define FUTEX_TID_MASK 0x3fffffff

static void report(const char *what, long value)
{
	if (value == -1 && errno)
		printf("%-60s -1 %s\n", what, strerror(errno));
	else
		printf("%-60s %ld\n", what, value);
	fflush(stdout);
}
#define T(call) (errno = 0, report(#call, (long)(call)))
#define SHOW(what, value) (errno = 0, report(what, (long)(value)))

static volatile unsigned long nowhere; /* a null pointer the compiler does not know */
static volatile sig_atomic_t caught, caught_code, nested, max_nested, order_n;
static int order[16], values[16];
static siginfo_t last;

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	caught = sig;
	caught_code = si->si_code;
	last = *si;
	if (order_n < 16) {
		values[order_n] = si->si_value.sival_int;
		order[order_n++] = sig;
	}
}

static void catch (int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

static void ms_sleep(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

static int status_of(pid_t pid)
{
	int st = -1;

	waitpid(pid, &st, 0);
	return st;
}

#define CHILD(...)                                                                                 \
	({                                                                                         \
		pid_t _p;                                                                          \
		fflush(stdout);                                                                    \
		_p = fork();                                                                       \
		if (!_p) {                                                                         \
			__VA_ARGS__;                                                               \
			_exit(0);                                                                  \
		}                                                                                  \
		_p;                                                                                \
	})

/* ---- wait ---- */

static void waits(void)
{
	siginfo_t si;
	struct rusage ru;
	pid_t p;
	int st;

	T(wait(NULL));
	T(waitpid(-1, NULL, WNOHANG));
	T(waitpid(999999, NULL, 0));
	T(waitpid(-1, NULL, 0x4000));
	SHOW("exit 7", status_of(CHILD(_exit(7))));
	SHOW("exit 263", status_of(CHILD(_exit(263))));
	SHOW("abort", status_of(CHILD(signal(SIGABRT, SIG_DFL); abort())) & ~0x80);
	SHOW("SIGKILL", status_of(CHILD(kill(getpid(), SIGKILL))));
	SHOW("SIGTERM", status_of(CHILD(raise(SIGTERM))));
	p = CHILD(raise(SIGSTOP); _exit(3));
	SHOW("stopped pid ok", waitpid(p, &st, WUNTRACED) == p);
	SHOW("stopped", st);
	T(waitpid(p, &st, WUNTRACED | WNOHANG));
	kill(p, SIGCONT);
	SHOW("continued ok", waitpid(p, &st, WCONTINUED) == p);
	SHOW("continued", st);
	SHOW("then exit", status_of(p));
	p = CHILD(_exit(5));
	memset(&si, 0, sizeof(si));
	T(waitid(P_PID, p, &si, WEXITED | WNOWAIT));
	SHOW("waitid signo", si.si_signo);
	SHOW("waitid code", si.si_code);
	SHOW("waitid status", si.si_status);
	SHOW("waitid pid ok", si.si_pid == p);
	SHOW("again", status_of(p));
	T(waitid(P_PID, p, &si, WEXITED));
	T(waitid(P_ALL, 0, &si, 0));
	T(waitid(7, 0, &si, WEXITED));
	p = CHILD(pause());
	T(waitpid(p, &st, WNOHANG));
	memset(&si, 1, sizeof(si));
	T(waitid(P_PID, p, &si, WEXITED | WNOHANG));
	SHOW("pid 0", si.si_pid);
	kill(p, SIGINT);
	T(wait4(p, &st, 0, &ru) == p);
	SHOW("SIGINT", st);
	p = CHILD(setpgid(0, 0); _exit(9));
	setpgid(p, p);
	SHOW("by group", waitpid(-p, &st, 0) == p);
	SHOW("status", st);
	signal(SIGCHLD, SIG_IGN);
	p = CHILD(_exit(1));
	T(waitpid(p, &st, 0));
	signal(SIGCHLD, SIG_DFL);
	catch (SIGCHLD, SA_NOCLDWAIT | SA_RESTART);
	p = CHILD(_exit(1));
	T(waitpid(p, &st, 0));
	SHOW("NOCLDWAIT still signals", caught == SIGCHLD);
	catch (SIGCHLD, SA_RESTART);
	caught = 0;
	p = CHILD(_exit(4));
	waitpid(p, &st, 0);
	SHOW("SIGCHLD code", last.si_code);
	SHOW("SIGCHLD status", last.si_status);
	SHOW("SIGCHLD pid", last.si_pid == p);
	p = CHILD(raise(SIGKILL));
	waitpid(p, &st, 0);
	SHOW("SIGCHLD code", last.si_code);
	SHOW("SIGCHLD status", last.si_status);
	catch (SIGCHLD, SA_RESTART | SA_NOCLDSTOP);
	caught = 0;
	p = CHILD(raise(SIGSTOP); _exit(0));
	waitpid(p, &st, WUNTRACED);
	SHOW("NOCLDSTOP silent", caught);
	kill(p, SIGKILL);
	SHOW("killed while stopped", status_of(p));
	signal(SIGCHLD, SIG_DFL);
}

/* ---- signals ---- */

static void nest(int sig)
{
	static int calls;

	nested++;
	if (nested > max_nested)
		max_nested = nested;
	if (nested < 3 && calls++ < 6)
		raise(sig);
	nested--;
}

static void masks(void)
{
	sigset_t set, old, pend;
	struct timespec zero = { 0, 0 }, brief = { 0, 20000000 };
	struct sigaction sa, got;
	union sigval v;
	siginfo_t si;

	T(sigaction(SIGKILL, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL));
	T(sigaction(65, NULL, &got));
	T(sigaction(0, NULL, &got));
	catch (SIGUSR1, 0);
	catch (SIGUSR2, 0);
	catch (SIGRTMIN, 0);
	catch (SIGRTMIN + 1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMIN + 1);
	sigaddset(&set, SIGKILL);
	T(sigprocmask(SIG_BLOCK, &set, &old));
	sigprocmask(SIG_BLOCK, NULL, &old);
	SHOW("SIGKILL blocked", sigismember(&old, SIGKILL));
	T(sigprocmask(9, &set, NULL));
	order_n = 0;
	raise(SIGUSR2);
	raise(SIGUSR1);
	raise(SIGUSR1);
	for (int i = 0; i < 3; i++) {
		v.sival_int = 10 + i;
		sigqueue(getpid(), SIGRTMIN + 1, v);
	}
	v.sival_int = 5;
	sigqueue(getpid(), SIGRTMIN, v);
	sigpending(&pend);
	SHOW("pending", sigismember(&pend, SIGUSR1) + sigismember(&pend, SIGUSR2) +
				sigismember(&pend, SIGRTMIN));
	SHOW("none caught", order_n);
	sigdelset(&set, SIGKILL);
	T(sigprocmask(SIG_UNBLOCK, &set, NULL));
	SHOW("caught", order_n);
	for (int i = 0; i < order_n; i++) {
		SHOW("signal", order[i]);
		if (order[i] >= SIGRTMIN)
			SHOW("value", values[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	T(sigtimedwait(&set, &si, &zero));
	T(sigtimedwait(&set, &si, &brief));
	v.sival_int = 77;
	sigqueue(getpid(), SIGRTMIN, v);
	SHOW("sigtimedwait", sigtimedwait(&set, &si, &brief) == SIGRTMIN);
	SHOW("code", si.si_code);
	SHOW("value", si.si_value.sival_int);
	SHOW("pid ok", si.si_pid == getpid());
	brief.tv_nsec = 1000000000;
	T(sigtimedwait(&set, &si, &brief));
	caught = 0;
	CHILD(ms_sleep(20); kill(getppid(), SIGUSR1));
	sigemptyset(&pend);
	T(sigsuspend(&pend));
	SHOW("caught", caught);
	SHOW("code", caught_code);
	wait(NULL);
	sigprocmask(SIG_BLOCK, NULL, &old);
	SHOW("mask restored", sigismember(&old, SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = nest;
	sa.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	SHOW("NODEFER depth", max_nested);
	max_nested = nested = 0;
	sa.sa_flags = 0;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	SHOW("deferred depth", max_nested);
	catch (SIGUSR1, SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &got);
	SHOW("RESETHAND", got.sa_handler == SIG_DFL);
	T(kill(0, 0));
	T(kill(getpid(), 65));
	T(kill(999999, 0));
	T(kill(-999999, 0));
	T(syscall(SYS_tgkill, getpid(), getpid(), 0));
	T(syscall(SYS_tgkill, getpid(), 1, 0));
	T(syscall(SYS_tgkill, 0, getpid(), 0));
	T(syscall(SYS_tkill, 999999, 0));
	T(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 4));
	T(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &got, 16));
	SHOW("SIGCONT ignored", status_of(CHILD(raise(SIGCONT); raise(SIGCHLD); raise(SIGWINCH);
						raise(SIGURG); _exit(2))));
	signal(SIGUSR1, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	sigpending(&pend);
	SHOW("ignored but blocked stays", sigismember(&pend, SIGUSR1));
	signal(SIGUSR1, SIG_IGN);
	sigpending(&pend);
	SHOW("ignoring flushes", sigismember(&pend, SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static sigjmp_buf back;
static siginfo_t fault;
static int on_alt;
static char alt[65536];

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	char here;

	fault = *si;
	on_alt = &here >= alt && &here < alt + sizeof(alt);
	siglongjmp(back, sig);
}

#define FAULT(what, code)                                                                          \
	do {                                                                                       \
		int _s = sigsetjmp(back, 1);                                                       \
		if (!_s) {                                                                         \
			code;                                                                      \
			SHOW(what " survived", 1);                                                 \
		} else {                                                                           \
			SHOW(what, _s);                                                            \
			SHOW("  code", fault.si_code);                                             \
			SHOW("  alternate stack", on_alt);                                         \
		}                                                                                  \
	} while (0)

static void faults(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t st = { .ss_sp = alt, .ss_size = 1000 }, old;
	static const int sigs[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/tmp/syscheck.f", O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile int zero = 0;
	char *file;

	ftruncate(fd, 4096);
	file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	T(sigaltstack(&st, NULL));
	st.ss_size = sizeof(alt);
	st.ss_flags = 8;
	T(sigaltstack(&st, NULL));
	st.ss_flags = 0;
	T(sigaltstack(NULL, &old));
	SHOW("disabled", old.ss_flags);
	T(sigaltstack(&st, NULL));
	sigaltstack(NULL, &old);
	SHOW("enabled", old.ss_flags);
	for (unsigned i = 0; i < 5; i++)
		sigaction(sigs[i], &sa, NULL);
	FAULT("null write", *(volatile char *)nowhere = 1);
	SHOW("  address", (long)fault.si_addr);
	FAULT("null + 1234 read", (void)*(volatile char *)(nowhere + 1234));
	SHOW("  address", (long)fault.si_addr);
	FAULT("read-only write", *(volatile char *)page = 1);
	SHOW("  address ok", (char *)fault.si_addr == page);
	FAULT("kernel address", (void)*(volatile char *)0xffffffff81000000);
	SHOW("  address", (long)fault.si_addr);
	FAULT("non-canonical", (void)*(volatile char *)0x8000000000000000);
	SHOW("  address", (long)fault.si_addr);
	FAULT("beyond file", *(volatile char *)(file + 4096) = 1);
	SHOW("  address ok", (char *)fault.si_addr == file + 4096);
	FAULT("divide", zero = 1 / zero);
	FAULT("ud2", __asm__ volatile("ud2"));
	FAULT("int3", __asm__ volatile("int3"));
	FAULT("hlt", __asm__ volatile("hlt"));
	FAULT("jump to data", ((void (*)(void))page)());
	SHOW("  address ok", (char *)fault.si_addr == page);
	for (unsigned i = 0; i < 5; i++)
		signal(sigs[i], SIG_DFL);
	SHOW("segv default", status_of(CHILD(*(volatile char *)nowhere = 1)) & ~0x80);
	SHOW("segv ignored",
	     status_of(CHILD(signal(SIGSEGV, SIG_IGN); *(volatile char *)nowhere = 1)) & ~0x80);
	st.ss_flags = SS_DISABLE;
	T(sigaltstack(&st, NULL));
	unlink("/tmp/syscheck.f");
	close(fd);
}

static double fpu_value = 1.5;

static void spoil_fpu(int sig)
{
	__asm__ volatile("fninit; xorps %%xmm0, %%xmm0; xorps %%xmm7, %%xmm7" : : : "xmm0", "xmm7");
}

static void edit_context(int sig, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;

	uc->uc_mcontext.gregs[REG_RAX] = 4711;
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* over ud2 */
}

static void frames(void)
{
	struct sigaction sa = { .sa_handler = spoil_fpu };
	double x;
	long rax = 0;

	sigaction(SIGUSR1, &sa, NULL);
	__asm__ volatile("movsd %2, %%xmm7; mov %1, %%edi; mov %3, %%esi; mov $62, %%eax; syscall; "
			 "movsd %%xmm7, %0"
			 : "=m"(x)
			 : "r"(getpid()), "m"(fpu_value), "i"(SIGUSR1)
			 : "rax", "rdi", "rsi", "rcx", "r11", "xmm7", "memory");
	SHOW("xmm7 kept over handler", x == 1.5);
	sa.sa_sigaction = edit_context;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &sa, NULL);
	__asm__ volatile("xor %%eax, %%eax; ud2; mov %%rax, %0" : "=r"(rax) : : "rax", "memory");
	SHOW("context edited", rax);
	signal(SIGILL, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
}

static void interrupts(void)
{
	struct timespec ts = { 0, 300000000 }, left = { 9, 9 };
	struct itimerval it = { .it_value = { 0, 30000 } };
	struct pollfd pf;
	int p[2], word = 0, st;
	char c;
	pid_t k;

	pipe(p);
	catch (SIGALRM, 0);
	setitimer(ITIMER_REAL, &it, NULL);
	T(read(p[0], &c, 1));
	SHOW("SIGALRM code", caught_code);
	setitimer(ITIMER_REAL, &it, NULL);
	T(nanosleep(&ts, &left));
	SHOW("time left", left.tv_sec == 0 && left.tv_nsec > 100000000 && left.tv_nsec < 300000000);
	setitimer(ITIMER_REAL, &it, NULL);
	pf = (struct pollfd){ .fd = p[0], .events = POLLIN };
	T(poll(&pf, 1, 1000));
	setitimer(ITIMER_REAL, &it, NULL);
	T(syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL));
	k = CHILD(ms_sleep(100); _exit(6));
	setitimer(ITIMER_REAL, &it, NULL);
	T(waitpid(k, &st, 0));
	waitpid(k, &st, 0);
	SHOW("status", st);
	catch (SIGALRM, SA_RESTART);
	setitimer(ITIMER_REAL, &it, NULL);
	k = CHILD(ms_sleep(100); write(p[1], "x", 1));
	T(read(p[0], &c, 1));
	T(waitpid(k, &st, 0) == k);
	setitimer(ITIMER_REAL, &it, NULL);
	T(nanosleep(&ts, &left));
	setitimer(ITIMER_REAL, &it, NULL);
	T(poll(&pf, 1, 100));
	setitimer(ITIMER_REAL, &it, NULL);
	T(pause());
	setitimer(ITIMER_REAL, &it, NULL);
	k = CHILD(ms_sleep(100); _exit(6));
	T(waitpid(k, &st, 0) == k);
	/* stop and continue restart everything */
	k = CHILD(struct timespec t = { 0, 60000000 }; _exit(nanosleep(&t, NULL) ? 1 : 40));
	ms_sleep(10);
	kill(k, SIGSTOP);
	waitpid(k, &st, WUNTRACED);
	kill(k, SIGCONT);
	SHOW("nanosleep over stop", status_of(k));
	k = CHILD(_exit(poll(NULL, 0, 60) + 40));
	ms_sleep(10);
	kill(k, SIGSTOP);
	waitpid(k, &st, WUNTRACED);
	kill(k, SIGCONT);
	SHOW("poll over stop", status_of(k));
	close(p[0]);
	catch (SIGPIPE, 0);
	T(write(p[1], "x", 1));
	SHOW("SIGPIPE", caught == SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	T(write(p[1], "x", 1));
	close(p[1]);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
}

/* ---- groups ---- */

static void groups(void)
{
	pid_t p, me = getpid();
	int st;

	T(setpgid(0, -1));
	T(setpgid(999999, 0));
	T(getpgid(999999));
	T(getsid(999999));
	T(getpgid(0) == getpgrp());
	p = CHILD(setsid(); errno = 0; _exit(setpgid(0, 0) == -1 && errno == EPERM));
	SHOW("session leader setpgid", status_of(p));
	p = CHILD(setpgid(0, 0); errno = 0; _exit(setsid() == -1 && errno == EPERM));
	SHOW("group leader setsid", status_of(p));
	p = CHILD(setsid(); _exit((getsid(0) == getpid()) + 2 * (getpgrp() == getpid())));
	SHOW("setsid", status_of(p));
	p = CHILD(_exit(setpgid(0, 999999) == -1 && errno == EPERM));
	SHOW("foreign group", status_of(p));
	p = CHILD(execl("/bin/sleep", "sleep", "1", NULL);
		  execl("/usr/bin/sleep", "sleep", "1", NULL); _exit(1));
	ms_sleep(100);
	T(setpgid(p, p));
	kill(p, SIGKILL);
	status_of(p);
	p = CHILD(setpgid(0, 0); signal(SIGTERM, SIG_DFL); CHILD(pause()); pause());
	ms_sleep(30);
	T(kill(-p, SIGTERM));
	waitpid(p, &st, 0);
	SHOW("group killed", st);
	p = CHILD(pid_t k = CHILD(ms_sleep(50); _exit(getppid() == me ? 1 : 0)); (void)k; _exit(0));
	SHOW("orphan", status_of(p));
	T(tcgetpgrp(99));
	T(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	p = CHILD(pid_t k = CHILD(ms_sleep(50); _exit(getppid() == me ? 17 : 0)); (void)k;
		  _exit(0));
	waitpid(p, &st, 0);
	T(wait(&st) > 0);
	SHOW("adopted by subreaper", st);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	p = CHILD(prctl(PR_SET_PDEATHSIG, 0); prctl(PR_SET_NAME, "abcdefghijklmnopqrst");
		  char n[17] = ""; prctl(PR_GET_NAME, n); _exit(strcmp(n, "abcdefghijklmno") == 0));
	SHOW("comm", status_of(p));
}

/* ---- pipes and polling ---- */

static void pipes(void)
{
	static char big[200000];
	int p[2], n;
	struct pollfd pf[2];

	T(pipe2(p, 0x1));
	T(pipe2(p, O_NONBLOCK | O_CLOEXEC));
	SHOW("cloexec", fcntl(p[0], F_GETFD));
	SHOW("flags", (fcntl(p[0], F_GETFL) & O_NONBLOCK) == O_NONBLOCK);
	T(read(p[0], big, 1));
	T(write(p[0], big, 1));
	T(read(p[1], big, 1));
	T(lseek(p[0], 0, SEEK_SET));
	T(pread(p[0], big, 1, 0));
	T(fcntl(p[0], F_GETPIPE_SZ));
	T(write(p[1], big, sizeof(big)));
	T(write(p[1], big, 1));
	T(ioctl(p[0], FIONREAD, &n));
	SHOW("unread", n);
	T(read(p[0], big, 4096));
	T(write(p[1], big, 4096));
	T(write(p[1], big, 4096));
	T(fcntl(p[0], F_SETPIPE_SZ, 4096));
	T(fcntl(p[0], F_SETPIPE_SZ, 100000));
	T(fcntl(p[0], F_SETPIPE_SZ, 1u << 31));
	T(write(p[1], big, sizeof(big)));
	while (read(p[0], big, sizeof(big)) > 0)
		;
	pf[0] = (struct pollfd){ .fd = p[0], .events = POLLIN | POLLOUT };
	pf[1] = (struct pollfd){ .fd = p[1], .events = POLLIN | POLLOUT };
	T(poll(pf, 2, 0));
	SHOW("empty r", pf[0].revents);
	SHOW("empty w", pf[1].revents);
	write(p[1], "abc", 3);
	T(poll(pf, 2, -1));
	SHOW("full r", pf[0].revents);
	close(p[1]);
	T(poll(pf, 2, 0));
	SHOW("no writer r", pf[0].revents);
	SHOW("closed w", pf[1].revents);
	T(read(p[0], big, 10));
	T(read(p[0], big, 10));
	T(poll(pf, 1, 0));
	SHOW("hup", pf[0].revents);
	close(p[0]);
	pipe(p);
	close(p[0]);
	pf[1] = (struct pollfd){ .fd = p[1], .events = POLLOUT };
	T(poll(pf + 1, 1, 0));
	SHOW("no reader w", pf[1].revents);
	close(p[1]);
	pf[0] = (struct pollfd){ .fd = -1, .events = POLLIN, .revents = 99 };
	T(poll(pf, 1, 0));
	SHOW("negative", pf[0].revents);
	T(poll(NULL, 0, 1));
	T(poll((void *)1, 1, 0));
	pipe(p);
	T(write(p[1], NULL, 10));
	T(write(p[1], big, 0));
	T(dup2(p[0], 500));
	T(dup2(-1, 3));
	T(dup3(p[0], p[0], 0));
	T(dup2(p[0], p[0]) == p[0]);
	close(500);
	close(p[0]);
	close(p[1]);
	T(close(p[1]));
	/* FIFO */
	unlink("/tmp/syscheck.fifo");
	T(mkfifo("/tmp/syscheck.fifo", 0600));
	T(open("/tmp/syscheck.fifo", O_WRONLY | O_NONBLOCK));
	n = open("/tmp/syscheck.fifo", O_RDONLY | O_NONBLOCK);
	SHOW("read end", n >= 0);
	T(read(n, big, 1));
	pf[0] = (struct pollfd){ .fd = n, .events = POLLIN };
	T(poll(pf, 1, 0));
	p[1] = open("/tmp/syscheck.fifo", O_WRONLY | O_NONBLOCK);
	SHOW("write end", p[1] >= 0);
	T(read(n, big, 1));
	T(write(p[1], "hello", 5));
	T(read(n, big, 10));
	close(p[1]);
	T(poll(pf, 1, 0));
	SHOW("hup", pf[0].revents);
	close(n);
	CHILD(int w = open("/tmp/syscheck.fifo", O_WRONLY); write(w, "late", 4));
	n = open("/tmp/syscheck.fifo", O_RDONLY);
	T(read(n, big, 10));
	T(read(n, big, 10));
	wait(NULL);
	close(n);
	unlink("/tmp/syscheck.fifo");
}

static void selects(void)
{
	struct timeval tv = { 0, 20000 };
	struct timespec ts = { 0, 20000000 };
	fd_set r, w;
	sigset_t none;
	int p[2];

	pipe(p);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(p[0], &r);
	FD_SET(p[1], &w);
	T(select(p[1] + 1, &r, &w, NULL, &tv));
	SHOW("r", FD_ISSET(p[0], &r));
	SHOW("w", FD_ISSET(p[1], &w));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	T(select(p[0] + 1, &r, NULL, NULL, &tv));
	SHOW("time used up", tv.tv_usec);
	write(p[1], "x", 1);
	FD_SET(p[0], &r);
	T(select(p[0] + 1, &r, NULL, NULL, NULL));
	FD_ZERO(&r);
	FD_SET(77, &r);
	T(select(78, &r, NULL, NULL, NULL));
	tv.tv_sec = -1;
	T(select(0, NULL, NULL, NULL, &tv));
	T(select(-1, NULL, NULL, NULL, NULL));
	T(pselect(0, NULL, NULL, NULL, &ts, NULL));
	sigemptyset(&none);
	catch (SIGUSR1, 0);
	caught = 0;
	sigset_t block = none, old;
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &old);
	raise(SIGUSR1);
	T(pselect(0, NULL, NULL, NULL, NULL, &none));
	SHOW("caught", caught == SIGUSR1);
	raise(SIGUSR1);
	T(ppoll(NULL, 0, NULL, &none));
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(p[0]);
	close(p[1]);
}

static void epolls(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 42 }, out[4];
	int e = epoll_create1(EPOLL_CLOEXEC), p[2];

	pipe(p);
	T(epoll_create1(1));
	T(epoll_create(0));
	T(epoll_ctl(e, EPOLL_CTL_ADD, p[0], &ev));
	T(epoll_ctl(e, EPOLL_CTL_ADD, p[0], &ev));
	T(epoll_ctl(e, EPOLL_CTL_DEL, p[1], &ev));
	T(epoll_ctl(e, EPOLL_CTL_MOD, p[1], &ev));
	T(epoll_ctl(e, EPOLL_CTL_ADD, 99, &ev));
	T(epoll_ctl(p[0], EPOLL_CTL_ADD, p[1], &ev));
	T(epoll_ctl(e, EPOLL_CTL_ADD, e, &ev));
	T(epoll_wait(e, out, 4, 0));
	T(epoll_wait(e, out, 0, 0));
	write(p[1], "x", 1);
	T(epoll_wait(e, out, 4, -1));
	SHOW("events", out[0].events);
	SHOW("data", out[0].data.u64);
	T(epoll_wait(e, out, 4, 0));
	ev.events = EPOLLIN | EPOLLET;
	T(epoll_ctl(e, EPOLL_CTL_MOD, p[0], &ev));
	T(epoll_wait(e, out, 4, 0));
	T(epoll_wait(e, out, 4, 0));
	write(p[1], "x", 1);
	T(epoll_wait(e, out, 4, 0));
	ev.events = EPOLLIN | EPOLLONESHOT;
	epoll_ctl(e, EPOLL_CTL_MOD, p[0], &ev);
	T(epoll_wait(e, out, 4, 0));
	T(epoll_wait(e, out, 4, 0));
	epoll_ctl(e, EPOLL_CTL_MOD, p[0], &ev);
	T(epoll_wait(e, out, 4, 0));
	ev.events = EPOLLOUT;
	T(epoll_ctl(e, EPOLL_CTL_ADD, p[1], &ev));
	T(epoll_wait(e, out, 4, 0));
	close(p[1]);
	ev.events = EPOLLIN;
	epoll_ctl(e, EPOLL_CTL_MOD, p[0], &ev);
	T(epoll_wait(e, out, 4, 0));
	SHOW("events", out[0].events);
	CHILD(ms_sleep(20); _exit(0));
	close(p[0]);
	T(epoll_wait(e, out, 4, 50));
	wait(NULL);
	close(e);
}

static void event_files(void)
{
	struct itimerspec its = { { 0, 10000000 }, { 0, 10000000 } }, got;
	struct signalfd_siginfo si;
	uint64_t v = 0;
	sigset_t set, old;
	int fd = eventfd(3, EFD_NONBLOCK);

	T(eventfd(0, 0x10));
	T(read(fd, &v, 8));
	SHOW("value", v);
	T(read(fd, &v, 8));
	v = 5;
	T(write(fd, &v, 8));
	T(write(fd, &v, 8));
	T(read(fd, &v, 4));
	T(read(fd, &v, 8));
	SHOW("sum", v);
	v = UINT64_MAX;
	T(write(fd, &v, 8));
	v = UINT64_MAX - 1;
	T(write(fd, &v, 8));
	v = 1;
	T(write(fd, &v, 8));
	close(fd);
	fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	T(read(fd, &v, 8));
	SHOW("one", v);
	T(read(fd, &v, 8));
	T(read(fd, &v, 8));
	close(fd);
	T(timerfd_create(77, 0));
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	T(read(fd, &v, 8));
	T(timerfd_settime(fd, 0, &its, NULL));
	T(timerfd_gettime(fd, &got));
	SHOW("interval", got.it_interval.tv_nsec);
	ms_sleep(55);
	T(read(fd, &v, 8));
	SHOW("ticks", v == 5);
	T(timerfd_settime(fd, 0, &(struct itimerspec){ { 0, 0 }, { 0, 0 } }, &got));
	T(read(fd, &v, 8));
	T(timerfd_settime(fd, 0, &(struct itimerspec){ { 0, 0 }, { 0, 1000000000 } }, NULL));
	T(timerfd_settime(0, 0, &its, NULL));
	close(fd);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	T(read(fd, &si, sizeof(si)));
	raise(SIGUSR1);
	T(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0));
	T(read(fd, &si, 10));
	T(read(fd, &si, sizeof(si)));
	SHOW("signal", si.ssi_signo);
	SHOW("code", si.ssi_code);
	SHOW("pid", si.ssi_pid == (uint32_t)getpid());
	T(signalfd(0, &set, 0));
	close(fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void sockets(void)
{
	char buf[20];
	int s[2];

	T(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	T(write(s[0], "hello", 5));
	T(read(s[1], buf, 20));
	T(send(s[1], "back", 4, 0));
	T(recv(s[0], buf, 2, MSG_DONTWAIT));
	T(recv(s[0], buf, 20, MSG_DONTWAIT));
	T(recv(s[0], buf, 20, MSG_DONTWAIT));
	T(shutdown(s[0], SHUT_WR));
	T(read(s[1], buf, 20));
	T(write(s[1], "x", 1));
	T(read(s[0], buf, 20));
	close(s[1]);
	T(read(s[0], buf, 20));
	close(s[0]);
	T(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	T(write(s[0], "one", 3));
	T(write(s[0], "three", 5));
	T(read(s[1], buf, 2));
	T(read(s[1], buf, 20));
	close(s[0]);
	close(s[1]);
	T(socketpair(AF_INET, SOCK_STREAM, 0, s));
	T(getpeername(0, (void *)buf, &(socklen_t){ 20 }));
	T(send(99, "x", 1, 0));
}

/* ---- time ---- */

static void times_(void)
{
	struct timespec a, b, ts = { 0, 20000000 };
	struct itimerval it = { { 0, 0 }, { 100, 0 } }, old;
	struct sigevent sev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec its = { { 0, 5000000 }, { 0, 5000000 } }, cur;
	struct rusage ru;
	sigset_t set, saved;
	siginfo_t si;
	timer_t t;

	for (int c = 0; c < 8; c++)
		T(clock_gettime(c, &a));
	T(clock_gettime(99, &a));
	T(clock_getres(CLOCK_MONOTONIC, &a));
	SHOW("res", a.tv_nsec);
	T(clock_settime(CLOCK_MONOTONIC, &a));
	T(nanosleep(&(struct timespec){ 0, 1000000000 }, NULL));
	T(nanosleep(&(struct timespec){ -1, 0 }, NULL));
	T(nanosleep(NULL, NULL));
	clock_gettime(CLOCK_MONOTONIC, &a);
	T(clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL));
	clock_gettime(CLOCK_MONOTONIC, &b);
	SHOW("slept", (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 20000000);
	b.tv_sec = 0;
	T(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &b, NULL));
	T(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ts, NULL));
	T(clock_nanosleep(99, 0, &ts, NULL));
	T(setitimer(ITIMER_REAL, &it, NULL));
	T(getitimer(ITIMER_REAL, &old));
	SHOW("left", old.it_value.tv_sec);
	T(alarm(10));
	T(alarm(0));
	T(alarm(0));
	T(setitimer(9, &it, NULL));
	it.it_value.tv_usec = 1000000;
	T(setitimer(ITIMER_REAL, &it, NULL));
	catch (SIGVTALRM, 0);
	caught = 0;
	it = (struct itimerval){ { 0, 0 }, { 0, 20000 } };
	T(setitimer(ITIMER_VIRTUAL, &it, NULL));
	for (volatile long i = 0; i < 2000000000 && !caught; i++)
		;
	SHOW("SIGVTALRM", caught == SIGVTALRM);
	catch (SIGPROF, 0);
	caught = 0;
	T(setitimer(ITIMER_PROF, &it, NULL));
	for (volatile long i = 0; i < 2000000000 && !caught; i++)
		;
	SHOW("SIGPROF", caught == SIGPROF);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &saved);
	sev.sigev_value.sival_int = 99;
	T(timer_create(CLOCK_MONOTONIC, &sev, &t));
	T(timer_settime(t, 0, &its, NULL));
	T(timer_gettime(t, &cur));
	SHOW("interval", cur.it_interval.tv_nsec);
	ms_sleep(28);
	SHOW("timer signal", sigtimedwait(&set, &si, &ts) == SIGRTMIN);
	SHOW("code", si.si_code);
	SHOW("value", si.si_value.sival_int);
	SHOW("overrun", timer_getoverrun(t) >= 3);
	T(timer_delete(t));
	T(timer_delete(t));
	sev.sigev_notify = 77;
	T(timer_create(CLOCK_MONOTONIC, &sev, &t));
	sev.sigev_notify = SIGEV_SIGNAL;
	sev.sigev_signo = 99;
	T(timer_create(CLOCK_MONOTONIC, &sev, &t));
	T(timer_create(99, NULL, &t));
	sigprocmask(SIG_SETMASK, &saved, NULL);
	T(getrusage(RUSAGE_SELF, &ru));
	SHOW("maxrss", ru.ru_maxrss > 100);
	SHOW("minflt", ru.ru_minflt > 10);
	T(getrusage(RUSAGE_CHILDREN, &ru));
	T(getrusage(RUSAGE_THREAD, &ru));
	T(getrusage(5, &ru));
	T(times(NULL) > 0);
	T(time(NULL) > 0);
}

/* ---- exec ---- */

extern char **environ;

static void write_file(const char *name, const char *text, int mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	write(fd, text, strlen(text));
	fchmod(fd, mode);
	close(fd);
}

static void execs(const char *self)
{
	static char huge[140000];
	char *argv[] = { "x", NULL }, *big[] = { "x", huge, NULL };
	char script[PATH_MAX + 32];

	T(execv("/nonexistent", argv));
	T(execv("/tmp", argv));
	T(execv("", argv));
	T(execv("/etc/passwd", argv));
	T(execv("/etc/passwd/x", argv));
	T(execve(NULL, argv, environ));
	T(syscall(SYS_execve, "/bin/sh", 1, environ));
	memset(huge, 'a', sizeof(huge) - 1);
	T(execv("/bin/sh", big));
	write_file("/tmp/syscheck.x", "", 0755);
	T(execv("/tmp/syscheck.x", argv));
	write_file("/tmp/syscheck.x", "#!", 0755);
	T(execv("/tmp/syscheck.x", argv));
	write_file("/tmp/syscheck.x", "#!/nonexistent\n", 0755);
	T(execv("/tmp/syscheck.x", argv));
	write_file("/tmp/syscheck.x", "#!/tmp/syscheck.x\n", 0755);
	T(execv("/tmp/syscheck.x", argv));
	write_file("/tmp/syscheck.x",
		   "\177ELF garbage garbage garbage garbage garbage garbage garbage garbage", 0755);
	T(execv("/tmp/syscheck.x", argv));
	snprintf(script, sizeof(script), "#!%s  args  one two \nrest\n", self);
	write_file("/tmp/syscheck.x", script, 0755);
	SHOW("script",
	     status_of(CHILD(execl("/tmp/syscheck.x", "zero", "1", "2", NULL); _exit(99))));
	snprintf(script, sizeof(script), "#! /tmp/syscheck.x\n");
	write_file("/tmp/syscheck.y", script, 0755);
	SHOW("script of script",
	     status_of(CHILD(execl("/tmp/syscheck.y", "zero", "1", NULL); _exit(99))));
	SHOW("auxv", status_of(CHILD(execl(self, "syscheck", "auxv", NULL); _exit(99))));
	SHOW("state",
	     status_of(CHILD(sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2);
			     sigprocmask(SIG_BLOCK, &s, NULL); signal(SIGUSR1, SIG_IGN);
			     catch (SIGHUP, 0); raise(SIGUSR2);
			     fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 40);
			     fcntl(open("/dev/null", O_RDONLY), F_DUPFD_CLOEXEC, 50); umask(031);
			     execl(self, "syscheck", "state", NULL); _exit(99))));
	SHOW("vfork", ({
		     pid_t p = vfork();
		     if (!p) {
			     execl(self, "syscheck", "seven", NULL);
			     _exit(1);
		     }
		     status_of(p);
	     }));
	unlink("/tmp/syscheck.x");
	unlink("/tmp/syscheck.y");
}

static int exec_child(int argc, char **argv)
{
	sigset_t set, pend;
	struct sigaction sa;
	int bits = 0;

	if (!strcmp(argv[1], "seven"))
		return 7;
	if (!strcmp(argv[1], "auxv")) {
		SHOW("PAGESZ", getauxval(AT_PAGESZ));
		SHOW("CLKTCK", getauxval(AT_CLKTCK));
		SHOW("PHENT", getauxval(AT_PHENT));
		SHOW("UID", getauxval(AT_UID));
		SHOW("SECURE", getauxval(AT_SECURE));
		SHOW("RANDOM", getauxval(AT_RANDOM) != 0);
		printf("PLATFORM %s\n", (char *)getauxval(AT_PLATFORM));
		printf("EXECFN %s\n", strrchr((char *)getauxval(AT_EXECFN), '/') ? "path" : "none");
		SHOW("stack aligned", ((unsigned long)__builtin_frame_address(0) & 15));
		return 0;
	}
	if (!strcmp(argv[1], "state")) {
		sigprocmask(SIG_BLOCK, NULL, &set);
		sigpending(&pend);
		bits |= sigismember(&set, SIGUSR2) << 0;
		bits |= sigismember(&pend, SIGUSR2) << 1;
		sigaction(SIGUSR1, NULL, &sa);
		bits |= (sa.sa_handler == SIG_IGN) << 2;
		sigaction(SIGHUP, NULL, &sa);
		bits |= (sa.sa_handler == SIG_DFL) << 3;
		bits |= (fcntl(40, F_GETFD) >= 0) << 4;
		bits |= (fcntl(50, F_GETFD) < 0) << 5;
		bits |= (umask(0) == 031) << 6;
		return bits;
	}
	for (int i = 1; i < argc; i++)
		printf("  argv[%d] %s\n", i,
		       strchr(argv[i], '/') ? strrchr(argv[i], '/') : argv[i]);
	return argc;
}

/* ---- limits, priorities, ids ---- */

static void limits(void)
{
	struct rlimit r, old;
	struct sched_param sp = { 0 };
	cpu_set_t cpus;
	int fd, n = 0;

	T(getrlimit(77, &r));
	T(getrlimit(RLIMIT_NOFILE, &old));
	r = (struct rlimit){ 20, 10 };
	T(setrlimit(RLIMIT_NOFILE, &r));
	r = (struct rlimit){ 20, old.rlim_max };
	T(setrlimit(RLIMIT_NOFILE, &r));
	while ((fd = dup(0)) >= 0)
		n = fd;
	SHOW("highest", n);
	T(dup(0));
	T(fcntl(0, F_DUPFD, 20));
	T(fcntl(0, F_DUPFD, -1));
	T(dup2(0, 20));
	for (int i = 3; i < 20; i++)
		close(i);
	setrlimit(RLIMIT_NOFILE, &old);
	T(sched_getscheduler(0));
	T(sched_getscheduler(-1));
	T(sched_getscheduler(999999));
	T(syscall(SYS_sched_getscheduler, 0));
	T(syscall(SYS_sched_getparam, 0, &sp));
	SHOW("prio", sp.sched_priority);
	T(sched_get_priority_max(SCHED_FIFO));
	T(sched_get_priority_min(SCHED_RR));
	T(sched_get_priority_max(SCHED_OTHER));
	T(sched_get_priority_max(99));
	sp.sched_priority = 5;
	T(syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &sp));
	T(syscall(SYS_sched_setscheduler, 0, 77, &sp));
	sp.sched_priority = 0;
	T(syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &sp));
	T(syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &sp));
	T(syscall(SYS_sched_getscheduler, 0));
	T(syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &sp));
	T(syscall(SYS_getpriority, PRIO_PROCESS, 0));
	T(getpriority(9, 0));
	T(getpriority(PRIO_PROCESS, 999999));
	SHOW("nice", status_of(CHILD(setpriority(PRIO_PROCESS, 0, 5);
				     _exit(getpriority(PRIO_PROCESS, 0)))));
	SHOW("nice clamped", status_of(CHILD(setpriority(PRIO_PROCESS, 0, 99);
					     _exit(getpriority(PRIO_PROCESS, 0)))));
	T(syscall(SYS_sched_getaffinity, 0, 4, &cpus));
	T(sched_getaffinity(999999, sizeof(cpus), &cpus));
	CPU_ZERO(&cpus);
	T(sched_setaffinity(0, sizeof(cpus), &cpus));
	T(getuid());
	T(setuid(0));
	T(getgroups(-1, NULL));
	SHOW("drop root",
	     status_of(CHILD(setgid(5); setuid(1000);
			     _exit(getuid() == 1000 && geteuid() == 1000 && setuid(0) == -1 &&
				   errno == EPERM && kill(getppid(), 0) == -1 && errno == EPERM))));
	SHOW("seteuid", status_of(CHILD(seteuid(1000); int a = geteuid() == 1000 && getuid() == 0;
					seteuid(0); _exit(a && geteuid() == 0))));
	T(prctl(99, 0, 0, 0, 0));
	T(prctl(PR_GET_DUMPABLE));
	T(syscall(SYS_arch_prctl, 0x9999, 0));
	T(syscall(SYS_personality, 0xffffffff));
	T(syscall(SYS_membarrier, 0, 0) > 0);
	T(syscall(SYS_getcpu, NULL, NULL, NULL));
}

static void futexes(void)
{
	int w = 5;
	struct timespec ts = { 0, 10000000 };

	T(syscall(SYS_futex, &w, FUTEX_WAIT, 4, NULL));
	T(syscall(SYS_futex, &w, FUTEX_WAIT, 5, &ts));
	T(syscall(SYS_futex, (char *)&w + 1, FUTEX_WAIT, 5, &ts));
	T(syscall(SYS_futex, NULL, FUTEX_WAIT, 5, &ts));
	T(syscall(SYS_futex, &w, FUTEX_WAKE, 1));
	T(syscall(SYS_futex, &w, FUTEX_WAIT_BITSET, 5, NULL, NULL, 0));
	T(syscall(SYS_futex, &w, FUTEX_CMP_REQUEUE, 1, 1, &w, 4));
	T(syscall(SYS_futex, &w, FUTEX_WAKE_OP, 1, 1, &w,
		  FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5)));
	SHOW("word", w);
	T(syscall(SYS_futex, &w, 99, 0));
	w = 0;
	T(syscall(SYS_futex, &w, FUTEX_LOCK_PI, 0, NULL));
	SHOW("mine", (w & FUTEX_TID_MASK) == (unsigned)getpid());
	T(syscall(SYS_futex, &w, FUTEX_LOCK_PI, 0, NULL));
	T(syscall(SYS_futex, &w, FUTEX_UNLOCK_PI, 0));
	SHOW("free", w);
	T(syscall(SYS_futex, &w, FUTEX_UNLOCK_PI, 0));
	T(syscall(SYS_set_robust_list, &w, 8));
}

/* ---- terminal ---- */

static int master, slave;

static void type_in(const char *s)
{
	write(master, s, strlen(s));
	ms_sleep(20);
}

static void shown(const char *what, int fd)
{
	char buf[256], *p = buf;
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	n = read(fd, buf, sizeof(buf) - 1);
	fcntl(fd, F_SETFL, 0);
	printf("%-30s ", what);
	if (n < 0)
		printf("%s", strerror(errno));
	for (; n > 0; n--, p++)
		if (*p >= ' ' && *p < 127)
			putchar(*p);
		else
			printf("<%d>", (unsigned char)*p);
	putchar('\n');
	fflush(stdout);
}

static void terminals(void)
{
	struct termios t, raw;
	struct winsize w = { 10, 20, 0, 0 };
	char name[64];
	int n;
	pid_t p;

	master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (master < 0) {
		printf("no pseudo terminals\n");
		return;
	}
	ioctl(master, TIOCGPTN, &n);
	snprintf(name, sizeof(name), "/dev/pts/%d", n);
	T(open(name, O_RDWR | O_NOCTTY));
	n = 0;
	T(ioctl(master, TIOCSPTLCK, &n));
	slave = open(name, O_RDWR | O_NOCTTY);
	SHOW("slave", slave >= 0);
	T(isatty(slave));
	T(tcgetattr(slave, &t));
	printf("%x %x %x\n", t.c_iflag, t.c_oflag, t.c_lflag);
	for (int i = 0; i < 17; i++)
		printf("%d ", t.c_cc[i]);
	printf("\n");
	T(ioctl(slave, TIOCSWINSZ, &w));
	T(ioctl(master, TIOCGWINSZ, &w));
	SHOW("rows", w.ws_row);
	T(ioctl(slave, 0x5499, 0));
	T(tcgetpgrp(slave));
	T(tcsetpgrp(slave, getpgrp()));
	T(lseek(slave, 0, SEEK_SET));
	type_in("abc\n");
	shown("echo", master);
	shown("line", slave);
	type_in("abd\177c\n");
	shown("erase echo", master);
	shown("erase", slave);
	type_in("one two\027three\n");
	shown("word erase echo", master);
	shown("word erase", slave);
	type_in("junk\025good\n");
	shown("kill echo", master);
	shown("kill", slave);
	type_in("a\tb\177\177c\n");
	shown("tab echo", master);
	shown("tab", slave);
	type_in("x\001\177y\n");
	shown("control echo", master);
	shown("control", slave);
	type_in("\026\003z\n");
	shown("literal echo", master);
	shown("literal", slave);
	type_in("part");
	T(ioctl(slave, FIONREAD, &n));
	SHOW("readable", n);
	shown("nothing yet", slave);
	shown("", master);
	type_in("\004");
	shown("eof pushes", slave);
	type_in("\004");
	fcntl(slave, F_SETFL, O_NONBLOCK);
	T(read(slave, name, 10));
	T(read(slave, name, 10));
	fcntl(slave, F_SETFL, 0);
	type_in("cr\r");
	shown("cr echo", master);
	shown("cr", slave);
	type_in("l1\nl2\n");
	shown("", master);
	shown("first line", slave);
	shown("second line", slave);
	T(write(slave, "a\nb\tc", 5));
	shown("output", master);
	type_in("re\022print\n");
	shown("reprint echo", master);
	shown("reprint", slave);
	raw = t;
	cfmakeraw(&raw);
	T(tcsetattr(slave, TCSANOW, &raw));
	type_in("a\r\003\177");
	shown("raw echo", master);
	shown("raw", slave);
	T(write(slave, "a\nb", 3));
	shown("raw output", master);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 1;
	tcsetattr(slave, TCSANOW, &raw);
	T(read(slave, name, 10));
	raw.c_cc[VTIME] = 0;
	tcsetattr(slave, TCSANOW, &raw);
	T(read(slave, name, 10));
	raw.c_cc[VMIN] = 3;
	tcsetattr(slave, TCSANOW, &raw);
	CHILD(ms_sleep(20); write(master, "1", 1); ms_sleep(20); write(master, "234", 3));
	T(read(slave, name, 10));
	wait(NULL);
	T(tcsetattr(slave, TCSAFLUSH, &t));
	T(tcflush(slave, TCIFLUSH));
	T(tcflush(slave, 7));
	/* job control */
	p = CHILD(setsid(); SHOW("TIOCSCTTY", ioctl(slave, TIOCSCTTY, 0));
		  SHOW("foreground", tcgetpgrp(slave) == getpid());
		  SHOW("session", tcgetsid(slave) == getpid());
		  SHOW("/dev/tty", open("/dev/tty", O_RDWR) >= 0); catch (SIGINT, 0);
		  catch (SIGWINCH, 0); catch (SIGTSTP, 0); catch (SIGQUIT, 0); type_in("abc\003");
		  SHOW("^C", caught == SIGINT); shown("^C echo", master); shown("flushed", slave);
		  type_in("\034"); SHOW("^\\", caught == SIGQUIT); shown("", master);
		  type_in("\032"); SHOW("^Z", caught == SIGTSTP); shown("", master); w.ws_row = 33;
		  ioctl(master, TIOCSWINSZ, &w); SHOW("WINCH", caught == SIGWINCH);
		  pid_t bg = CHILD(setpgid(0, 0); char c; read(slave, &c, 1); _exit(1)); int st;
		  waitpid(bg, &st, WUNTRACED); SHOW("background read", st); kill(bg, SIGKILL);
		  waitpid(bg, &st, 0); bg = CHILD(setpgid(0, 0); signal(SIGTTIN, SIG_IGN); char c;
						  _exit(read(slave, &c, 1) < 0 ? errno : 0));
		  waitpid(bg, &st, 0); SHOW("ignored", st);
		  bg = CHILD(setpgid(0, 0); write(slave, "bg", 2); _exit(3));
		  waitpid(bg, &st, WUNTRACED); SHOW("background write", st); shown("", master);
		  bg = CHILD(setpgid(0, 0); tcsetpgrp(slave, getpid()); _exit(1));
		  waitpid(bg, &st, WUNTRACED); SHOW("background tcsetpgrp", st); kill(bg, SIGKILL);
		  waitpid(bg, &st, 0); bg = CHILD(setpgid(0, 0); signal(SIGTTOU, SIG_IGN);
						  _exit(tcsetpgrp(slave, getpid()) ? 1 : 44));
		  waitpid(bg, &st, 0); SHOW("ignored tcsetpgrp", st); signal(SIGTTOU, SIG_IGN);
		  SHOW("back", tcsetpgrp(slave, getpid()));
		  SHOW("bad group", tcsetpgrp(slave, 999999)); t.c_lflag |= TOSTOP;
		  tcsetattr(slave, TCSANOW, &t); bg = CHILD(setpgid(0, 0); signal(SIGTTOU, SIG_DFL);
							    write(slave, "bg", 2); _exit(3));
		  waitpid(bg, &st, WUNTRACED); SHOW("TOSTOP", st); kill(bg, SIGKILL);
		  waitpid(bg, &st, 0); catch (SIGHUP, 0);
		  SHOW("TIOCNOTTY", ioctl(slave, TIOCNOTTY)); SHOW("HUP", caught == SIGHUP);
		  SHOW("/dev/tty", open("/dev/tty", O_RDWR)); _exit(0));
	status_of(p);
	close(slave);
	T(read(master, name, 10));
	close(master);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} parts[] = {
		{ "waits", waits },	   { "masks", masks },		 { "faults", faults },
		{ "frames", frames },	   { "interrupts", interrupts }, { "groups", groups },
		{ "pipes", pipes },	   { "selects", selects },	 { "epolls", epolls },
		{ "events", event_files }, { "sockets", sockets },	 { "times", times_ },
		{ "limits", limits },	   { "futexes", futexes },	 { "terminals", terminals }
	};
	char self[PATH_MAX] = "";

	if (argc > 1 && strcmp(argv[0], "syscheck-part") && strcmp(argv[1], "-p"))
		return exec_child(argc, argv);
	signal(SIGPIPE, SIG_DFL);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 2 && strcmp(argv[2], parts[i].name))
			continue;
		printf("== %s\n", parts[i].name);
		parts[i].fn();
	}
	if (argc <= 2 || !strcmp(argv[2], "exec")) {
		printf("== exec\n");
		if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
			execs(self);
	}
	return 0;
}
