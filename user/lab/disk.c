/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.c - a disk model with an ext2 on it, and one to swap to, made for one run.
 *
 * The model is created by a line to the kernel ("bw:size=4G,bw=100M,discard"); the file system by
 * the system's mke2fs (busybox has one), with few inodes, so that making it takes no time.
 */
#include "frame.h"
#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>

#define DISKS "/sys/kernel/quire/disks" /* "KIND:key=value,..." or "remove NAME" */

/* Runs a program with its output in a file. => its exit status */
static int command(char *const argv[], const char *log)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The names in /sys/block, each followed by a blank. */
static void block_names(char *text, size_t size)
{
	struct dirent **names;
	int n = scandir("/sys/block", &names, NULL, alphasort);
	size_t used = 0;

	text[0] = 0;
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.' && used + strlen(names[i]->d_name) + 2 < size)
			used += (size_t)snprintf(text + used, size - used, "%s ", names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* The name in `after` that is not in `before`. */
static int new_name(char *before, char *after, char *name, size_t size)
{
	char *end;

	for (char *p = strtok_r(after, " ", &end); p; p = strtok_r(NULL, " ", &end)) {
		char with[64];

		snprintf(with, sizeof(with), "%s ", p);
		if (!strstr(before, with)) {
			snprintf(name, size, "%s", p);
			return 0;
		}
	}
	return -1;
}

int lab_model(const char *model, char *name, size_t size)
{
	static char before[4096], after[4096];

	block_names(before, sizeof(before));
	if (lab_write(DISKS, model) < 0)
		return -1;
	block_names(after, sizeof(after));
	if (new_name(before, after, name, size) < 0) {
		fprintf(stderr, "lab: %s made no disk\n", model);
		return -1;
	}
	return 0;
}

static void find_bdi(struct lab *lab)
{
	char path[64], dev[24];

	snprintf(path, sizeof(path), "/sys/block/%s/dev", lab->device);
	if (lab_line(path, dev, sizeof(dev)))
		snprintf(lab->bdi, sizeof(lab->bdi), "%s ", dev);
}

/* A maker's program with its complaints shown. => 0 or -1 */
static int make(char *const argv[])
{
	int status = command(argv, "/tmp/lab-make");
	char out[1024];

	if (status == 0)
		return 0;
	slurp("/tmp/lab-make", out, sizeof(out));
	fprintf(stderr, "lab: %s: status %d\n%s", argv[0], status, out);
	return -1;
}

int lab_disk(struct lab *lab, const char *model, const char *dir)
{
	char node[64];
	char *mke2fs[] = { "mke2fs", "-F", "-b", "4096", "-i", "1048576", "-m", "0", node, NULL };

	mkdir(dir, 0755);
	if (!*model || !strcmp(model, "none"))
		return 0;
	if (lab_model(model, lab->device, sizeof(lab->device)) < 0)
		return -1;
	find_bdi(lab);
	snprintf(node, sizeof(node), "/dev/%s", lab->device);
	if (make(mke2fs) < 0)
		return -1;
	if (mount(node, dir, "ext2", 0, NULL) < 0) {
		fprintf(stderr, "lab: mount %s on %s: %s\n", node, dir, strerror(errno));
		return -1;
	}
	snprintf(lab->mounted, sizeof(lab->mounted), "%s", dir);
	return 0;
}

int lab_swap(struct lab *lab, const char *model)
{
	char node[64];
	char *mkswap[] = { "mkswap", node, NULL };

	if (!*model || !strcmp(model, "none"))
		return 0;
	if (lab_model(model, lab->swap, sizeof(lab->swap)) < 0)
		return -1;
	snprintf(node, sizeof(node), "/dev/%s", lab->swap);
	if (make(mkswap) < 0)
		return -1;
	if (swapon(node, 0) < 0) {
		fprintf(stderr, "lab: swapon %s: %s\n", node, strerror(errno));
		return -1;
	}
	return 0;
}

void lab_model_gone(const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "remove %s", name);
	lab_write(DISKS, line);
}

void lab_disk_gone(struct lab *lab)
{
	char node[64];

	if (*lab->mounted && umount(lab->mounted) < 0)
		fprintf(stderr, "lab: umount %s: %s\n", lab->mounted, strerror(errno));
	if (*lab->device)
		lab_model_gone(lab->device);
	snprintf(node, sizeof(node), "/dev/%s", lab->swap);
	if (*lab->swap && swapoff(node) < 0)
		fprintf(stderr, "lab: swapoff %s: %s\n", node, strerror(errno));
	else if (*lab->swap)
		lab_model_gone(lab->swap);
	lab->mounted[0] = lab->device[0] = lab->swap[0] = 0;
}
