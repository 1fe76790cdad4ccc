// SPDX-License-Identifier: BSD-2-Clause
/*
 * showfile.c - files whose text is made by a function.
 *
 * A read at position 0 makes the text anew; reads further on continue in the same text, so a reader
 * sees one moment. Programs that keep such a file open rewind it (lseek 0) for fresh numbers. The
 * buffer grows until the text fits. Each write(2) is one value, whatever the position; O_TRUNC and
 * O_CREAT do nothing.
 */
#include "arch/uaccess.h"
#include "fs/internal.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"

#define FIRST_BYTES 4096ul
#define TEXT_MAX MiB(256)
#define STORE_MAX 65536ul

struct text {
	struct mutex lock;
	const struct text_source *source;
	void *arg;
	char *buf;
	size_t size, len;
	bool valid;
};

int text_open(struct file *f, const struct text_source *source, void *arg)
{
	struct text *t;

	if (file_can_read(f) && !source->show)
		return -EACCES;
	if (file_can_write(f) && !source->store)
		return -EACCES;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	mutex_init(&t->lock, RANK_SHOW_FILE, "text");
	t->source = source;
	t->arg = arg;
	f->private = t;
	return 0;
}

void text_release(struct file *f)
{
	struct text *t = f->private;

	kvfree(t->buf);
	kfree(t);
}

/* => t->lock */
static int make_text(struct text *t)
{
	size_t want = t->size ? t->size : FIRST_BYTES;

	t->valid = false;
	for (;;) {
		struct seq seq;
		int err;

		if (want > t->size) {
			kvfree(t->buf);
			t->size = 0;
			t->buf = want <= TEXT_MAX ? kvmalloc(want, GFP_KERNEL) : NULL;
			if (!t->buf)
				return -ENOMEM;
			t->size = want;
		}
		seq = (struct seq){ .buf = t->buf, .size = t->size };
		err = t->source->show(&seq, t->arg);
		if (err)
			return err;
		if (seq.count <= t->size) {
			t->len = seq.count;
			t->valid = true;
			return 0;
		}
		want = ALIGN_UP(seq.count + seq.count / 8, PAGE_SIZE);
	}
}

ssize_t text_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct text *t = f->private;
	ssize_t ret = 0;

	mutex_lock(&t->lock);
	if (*pos == 0 || !t->valid)
		ret = make_text(t);
	if (!ret && *pos < t->len) {
		size_t part = min_t(size_t, n, t->len - *pos);
		size_t left = copy_to_user(buf, t->buf + *pos, part);

		ret = part - left;
		if (left && !ret)
			ret = -EFAULT;
	}
	mutex_unlock(&t->lock);
	if (ret > 0)
		*pos += ret;
	return ret;
}

ssize_t text_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct text *t = f->private;
	char *text;
	ssize_t ret;

	if (!n)
		return 0;
	if (n > STORE_MAX)
		return -E2BIG;
	text = kmalloc(n + 1, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	if (copy_from_user(text, buf, n)) {
		kfree(text);
		return -EFAULT;
	}
	text[n] = 0;
	mutex_lock(&t->lock);
	ret = t->source->store(text, n, t->arg);
	mutex_unlock(&t->lock);
	kfree(text);
	if (ret > 0)
		*pos += ret;
	return ret;
}

s64 text_llseek(struct file *f, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	f->pos = off;
	return off;
}
