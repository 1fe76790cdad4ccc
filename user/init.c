/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init - the first program.
 *
 * Mounts what programs expect, runs /etc/rc, then either the commands of `autorun="..."` from the
 * kernel command line or a login shell on the serial console; afterwards it powers off. The exit
 * status of the commands goes to /sys/kernel/quire/exit_status first, so that the host can see
 * it. As PID 1 it also reaps orphans, and takes the signals of busybox's halt, poweroff, reboot.
 */
#include "lab.h"
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>

static volatile sig_atomic_t asked; /* the signal that asked for an end */

static const struct {
	const char *type, *dir, *options;
	int quiet; /* may be missing */
} mounts[] = {
	{ "proc", "/proc", NULL, 0 },
	{ "sysfs", "/sys", NULL, 0 },
	{ "devtmpfs", "/dev", "mode=0755", 1 },
	{ "tmpfs", "/dev/shm", "mode=1777", 0 },
	{ "devpts", "/dev/pts", NULL, 1 },
	{ "tmpfs", "/tmp", "mode=1777", 0 },
	{ "tracefs", "/sys/kernel/tracing", NULL, 1 },
	{ "debugfs", "/sys/kernel/debug", NULL, 1 },
	{ "tracefs", "/sys/kernel/debug/tracing", NULL, 1 },
};

static int is_mounted(const char *dir)
{
	char line[512], where[256];
	FILE *f = fopen("/proc/mounts", "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %255s", where) == 1 && !strcmp(where, dir);
	if (f)
		fclose(f);
	return found;
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const char *dir = mounts[i].dir;

		mkdir(dir, 0755);
		if (is_mounted(dir))
			continue;
		if (mount(mounts[i].type, dir, mounts[i].type, 0, mounts[i].options) < 0 &&
		    !mounts[i].quiet && errno != EBUSY)
			printf("init: mount %s on %s: %s\n", mounts[i].type, dir, strerror(errno));
	}
}

static void open_console(void)
{
	int fd;

	while ((fd = open("/dev/console", O_RDWR)) >= 0 && fd <= 2)
		;
	if (fd > 2)
		close(fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/*
 * The value of NAME= on the kernel command line. Blanks separate words outside double quotes; a
 * quote may stand anywhere in a word; inside quotes a backslash takes the next character as it is.
 */
static char *cmdline_value(const char *name)
{
	static char line[8192], word[8192];
	size_t n = 0, len = strlen(name);
	int quoted = 0;

	if (slurp("/proc/cmdline", line, sizeof(line)) < 0)
		return NULL;
	for (char *p = line;; p++) {
		if (*p == '"') {
			quoted = !quoted;
		} else if (quoted && *p == '\\' && p[1]) {
			word[n++] = *++p;
		} else if (*p && (quoted || !strchr(" \t\n", *p))) {
			word[n++] = *p;
		} else {
			word[n] = 0;
			if (n > len && !strncmp(word, name, len) && word[len] == '=')
				return word + len + 1;
			n = 0;
			if (!*p)
				return NULL;
		}
	}
}

/* In the child: a session of its own with the console as controlling terminal. */
static void take_terminal(void)
{
	int fd;

	setsid();
	fd = open("/dev/ttyS0", O_RDWR);
	if (fd < 0 || !isatty(fd))
		fd = open("/dev/console", O_RDWR);
	if (fd < 0)
		return;
	ioctl(fd, TIOCSCTTY, 1);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	tcsetpgrp(0, getpid());
}

/*
 * Starts a program, waits for it, reaps everyone else meanwhile. => its exit status or 128 + signal
 */
static int run(char *const argv[], const char *path, int terminal)
{
	int status;
	pid_t child = fork(), pid;

	if (child < 0) {
		printf("init: fork: %s\n", strerror(errno));
		return 127;
	}
	if (child == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (terminal)
			take_terminal();
		execv(path, argv);
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
		_exit(127);
	}
	for (;;) {
		pid = wait(&status);
		if (pid == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (asked || (pid < 0 && errno != EINTR))
			return 0;
	}
}

/*
 * Disks are left clean: what is mounted from a device is unmounted, last mount first; the root,
 * which stays, becomes read-only.
 */
static void leave_disks(void)
{
	static char dirs[64][256];
	char line[512], source[256];
	FILE *f = fopen("/proc/mounts", "re");
	int n = 0;

	while (f && n < 64 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%255s %255s", source, dirs[n]) == 2 && source[0] == '/')
			n++;
	if (f)
		fclose(f);
	if (chdir("/") < 0)
		return;
	while (n-- > 0)
		if (umount2(dirs[n], 0) < 0 &&
		    mount(NULL, dirs[n], NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
			printf("init: %s stays mounted: %s\n", dirs[n], strerror(errno));
}

static void finish(int status, int how)
{
	char text[16];
	int fd;

	kill(-1, SIGTERM);
	kill(-1, SIGKILL);
	while (wait(NULL) > 0)
		;
	fd = open("/sys/kernel/quire/exit_status", O_WRONLY);
	if (fd >= 0) {
		snprintf(text, sizeof(text), "%d\n", status);
		if (write(fd, text, strlen(text)) < 0)
			printf("init: exit_status: %s\n", strerror(errno));
		close(fd);
	}
	leave_disks();
	sync();
	reboot(how);
	printf("init: reboot: %s\n", strerror(errno));
	for (;;)
		pause();
}

static void on_signal(int number)
{
	asked = number;
}

static void motd(void)
{
	char text[2048];

	if (slurp("/etc/motd", text, sizeof(text)) > 0)
		fputs(text, stdout);
}

int main(void)
{
	char *rc[] = { "sh", "/etc/rc", NULL };
	char *shell[] = { "-sh", NULL };
	struct sigaction act = { .sa_handler = on_signal };
	char *commands;
	int status;

	if (getpid() != 1) {
		fprintf(stderr, "init: I am the first program only as process 1\n");
		return 2;
	}
	open_console();
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	putenv("PATH=/bin:/sbin:/usr/bin:/usr/sbin");
	putenv("HOME=/root");
	putenv("TERM=linux");
	putenv("USER=root");
	putenv("SHELL=/bin/sh");
	mount_all();
	if (chdir("/root") < 0 && chdir("/") < 0)
		return 1;
	status = run(rc, "/bin/sh", 0);
	if (status)
		printf("init: /etc/rc ended with status %d\n", status);

	commands = cmdline_value("autorun");
	if (commands) {
		char *autorun[] = { "sh", "-c", commands, NULL };

		status = run(autorun, "/bin/sh", 1);
		if (status)
			printf("init: autorun ended with status %d\n", status);
	} else {
		motd();
		run(shell, "/bin/sh", 1);
		status = 0;
	}
	finish(status, asked == SIGTERM ? RB_AUTOBOOT : RB_POWER_OFF);
	return 1;
}
