// SPDX-License-Identifier: BSD-2-Clause
/*
 * devmem.c - the devices without hardware: null, zero, full, random, urandom, kmsg. A mapping of
 * /dev/zero is memory of
 * the open file: every open has pages of its own, shared by those who share the file.
 */
#include "arch/uaccess.h"
#include "fs/internal.h"
#include "kernel/random.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"
#include "sched/sched.h"

#define MEM_MAJOR 1
#define RECORD_MAX 1200
#define CHUNK 256

static ssize_t null_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	return 0;
}

static ssize_t null_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	return n;
}

static s64 null_llseek(struct file *f, s64 off, int whence)
{
	return f->pos = 0;
}

static ssize_t zero_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	size_t done = 0;

	while (done < n) {
		size_t part = min_t(size_t, n - done, 16 * PAGE_SIZE);
		size_t left = clear_user((char __user *)buf + done, part);

		done += part - left;
		if (left)
			return done ? (ssize_t)done : -EFAULT;
		if (signal_pending())
			break;
		cond_resched();
	}
	return done;
}

static ssize_t full_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	return -ENOSPC;
}

static struct mapping *zero_mmap(struct file *f, unsigned long vm_flags)
{
	struct mapping *m = READ_ONCE(f->private);

	if (m)
		return m;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	mapping_init(m, NULL, f, MAPF_SHMEM);
	m->size = S64_MAX & PAGE_MASK;
	if (cmpxchg(&f->private, NULL, (void *)m)) { /* two at once: one pair of hands too many */
		mapping_destroy(m);
		kfree(m);
	}
	return f->private;
}

static void zero_release(struct file *f)
{
	struct mapping *m = f->private;

	if (!m)
		return;
	m->size = 0;
	pagecache_truncate(m, 0);
	mapping_destroy(m);
	kfree(m);
}

static ssize_t random_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	char chunk[CHUNK];
	size_t done = 0;

	while (done < n) {
		size_t part = min_t(size_t, n - done, sizeof(chunk)), left;

		random_bytes(chunk, part);
		left = copy_to_user((char __user *)buf + done, chunk, part);
		done += part - left;
		if (left)
			return done ? (ssize_t)done : -EFAULT;
		if (signal_pending())
			break;
		cond_resched();
	}
	return done;
}

static int kmsg_open(struct inode *inode, struct file *f)
{
	f->version = printk_first_seq();
	return 0;
}

/* "<6>[    1.234567] text" into "6,SEQ,1234567,-;text". */
static size_t kmsg_format(const char *line, size_t len, u64 seq, char *out, size_t n)
{
	const char *p = line, *text = memchr(line, ']', len);
	u64 level = 6, sec = 0, usec = 0;

	if (*p == '<')
		p = parse_digits(p + 1, 10, &level);
	if (p && text) {
		while (*p && (*p == '>' || *p == '[' || *p == ' '))
			p++;
		p = parse_digits(p, 10, &sec);
		if (p && *p == '.')
			parse_digits(p + 1, 10, &usec);
	}
	text = text ? text + 2 : line;
	return scnprintf(out, n, "%lu,%lu,%lu,-;%.*s", (unsigned long)level, (unsigned long)seq,
			 (unsigned long)(sec * 1000000 + usec), (int)(line + len - text), text);
}

/* One record per read, as /dev/kmsg does; the position of the reader is f->version. */
static ssize_t kmsg_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	char *line;
	u64 seq = max(f->version, printk_first_seq()), next = seq;
	size_t len;
	char *end;
	ssize_t ret;

	while (printk_next_seq() <= seq) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		thread_set_state(THREAD_INTERRUPTIBLE);
		schedule_timeout(50 * NSEC_PER_MSEC);
		if (signal_pending())
			return -ERESTARTSYS;
	}
	line = kmalloc(2 * RECORD_MAX, GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	len = printk_read(&next, line, RECORD_MAX, 1);
	end = memchr(line, '\n', len);
	if (end && end + 1 < line + len) { /* several: the first one again, alone */
		next = seq;
		len = printk_read(&next, line, end + 1 - line, 1);
	}
	len = kmsg_format(line, len, seq, line + RECORD_MAX, RECORD_MAX);
	if (len > n)
		ret = -EINVAL;
	else
		ret = copy_to_user(buf, line + RECORD_MAX, len) ? -EFAULT : (ssize_t)len;
	if (ret > 0)
		f->version = next;
	kfree(line);
	return ret;
}

static ssize_t kmsg_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	char line[CHUNK];
	size_t part = min_t(size_t, n, sizeof(line) - 1);
	const char *text = line;
	u64 level = LOG_INFO;

	if (copy_from_user(line, buf, part))
		return -EFAULT;
	while (part && line[part - 1] == '\n')
		part--;
	line[part] = 0;
	if (*text == '<') {
		const char *p = parse_digits(text + 1, 10, &level);

		if (p && *p == '>')
			text = p + 1;
	}
	printk(level & 7, "%s", text);
	return n;
}

static s64 kmsg_llseek(struct file *f, s64 off, int whence)
{
	if (off)
		return -ESPIPE;
	f->version = whence == SEEK_END ? printk_next_seq() : printk_first_seq();
	return 0;
}

static u32 kmsg_poll(struct file *f, struct poll_table *pt)
{
	return (printk_next_seq() > f->version ? POLLIN | POLLRDNORM : 0) | POLLOUT;
}

static const struct file_ops null_fops = { .read = null_read,
					   .write = null_write,
					   .llseek = null_llseek };
static const struct file_ops zero_fops = { .read = zero_read,
					   .write = null_write,
					   .llseek = null_llseek,
					   .mmap = zero_mmap,
					   .release = zero_release };
static const struct file_ops full_fops = { .read = zero_read,
					   .write = full_write,
					   .llseek = null_llseek };
static const struct file_ops random_fops = { .read = random_read,
					     .write = null_write,
					     .llseek = null_llseek };
static const struct file_ops kmsg_fops = { .open = kmsg_open,
					   .read = kmsg_read,
					   .write = kmsg_write,
					   .llseek = kmsg_llseek,
					   .poll = kmsg_poll };

static const struct {
	u32 minor;
	umode_t mode;
	const char *name;
	const struct file_ops *fops;
} devices[] = {
	{ 3, 0666, "null", &null_fops },      { 5, 0666, "zero", &zero_fops },
	{ 7, 0666, "full", &full_fops },      { 8, 0666, "random", &random_fops },
	{ 9, 0666, "urandom", &random_fops }, { 11, 0644, "kmsg", &kmsg_fops },
};

void devmem_init(void)
{
	static const char *const links[][2] = { { "fd", "/proc/self/fd" },
						{ "stdin", "/proc/self/fd/0" },
						{ "stdout", "/proc/self/fd/1" },
						{ "stderr", "/proc/self/fd/2" } };

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		chrdev_register(MEM_MAJOR, devices[i].minor, 1, devices[i].fops, "mem");
		devfs_node(devices[i].name, S_IFCHR | devices[i].mode,
			   MKDEV(MEM_MAJOR, devices[i].minor));
	}
	devfs_node("shm", S_IFDIR | 01777, 0);
	devfs_node("pts", S_IFDIR | 0755, 0);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		devfs_symlink(links[i][0], links[i][1]);
}
