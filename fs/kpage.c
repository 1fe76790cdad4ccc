// SPDX-License-Identifier: BSD-2-Clause
/*
 * kpage.c - binary files about every page frame, and the log as a file: /proc/kpagecount,
 * /proc/kpageflags (8 bytes per frame, Linux's bit numbers), /proc/kmsg.
 */
#include "arch/uaccess.h"
#include "fs/internal.h"
#include "mm/kmem/slab.h"
#include "mm/phys/zone.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

#define CHUNK 512 /* entries made at a time */

/* Linux's KPF_* numbers. */
enum {
	KPF_LOCKED,
	KPF_ERROR,
	KPF_REFERENCED,
	KPF_UPTODATE,
	KPF_DIRTY,
	KPF_LRU,
	KPF_ACTIVE,
	KPF_SLAB,
	KPF_WRITEBACK,
	KPF_RECLAIM,
	KPF_BUDDY,
	KPF_MMAP,
	KPF_ANON,
	KPF_SWAPCACHE,
	KPF_SWAPBACKED,
	KPF_HEAD,
	KPF_TAIL,
	KPF_HUGE,
	KPF_UNEVICTABLE,
	KPF_HWPOISON,
	KPF_NOPAGE,
	KPF_KSM,
	KPF_THP,
	KPF_OFFLINE,
	KPF_ZERO_PAGE,
	KPF_IDLE,
	KPF_PGTABLE,
	KPF_RESERVED = 32,
	KPF_MLOCKED = 33
};
static const struct {
	u8 ours, kpf;
} flag_map[] = {
	{ PG_locked, KPF_LOCKED },
	{ PG_error, KPF_ERROR },
	{ PG_referenced, KPF_REFERENCED },
	{ PG_uptodate, KPF_UPTODATE },
	{ PG_dirty, KPF_DIRTY },
	{ PG_lru, KPF_LRU },
	{ PG_active, KPF_ACTIVE },
	{ PG_slab, KPF_SLAB },
	{ PG_writeback, KPF_WRITEBACK },
	{ PG_reclaim, KPF_RECLAIM },
	{ PG_buddy, KPF_BUDDY },
	{ PG_anon, KPF_ANON },
	{ PG_swapcache, KPF_SWAPCACHE },
	{ PG_swapbacked, KPF_SWAPBACKED },
	{ PG_head, KPF_HEAD },
	{ PG_tail, KPF_TAIL },
	{ PG_unevictable, KPF_UNEVICTABLE },
	{ PG_table, KPF_PGTABLE },
	{ PG_reserved, KPF_RESERVED },
	{ PG_mlocked, KPF_MLOCKED },
};

/* Fields of a page say mapcount only while it can be mapped. */
static bool may_be_mapped(const struct page *page)
{
	return !page_test(page, PG_slab) && !page_test(page, PG_buddy) &&
	       !page_test(page, PG_head) && !page_test(page, PG_pcp) && page_mapped(page);
}

/*
 * The head of the huge page of a program that the frame belongs to, or NULL. Nothing is held: it
 * may be gone the next moment, as all these files say.
 */
static const struct page *thp_around(unsigned long pfn)
{
	unsigned long first = pfn & ~(HPAGE_NR - 1ul);
	const struct page *head;

	if (!pfn_valid(first))
		return NULL;
	head = pfn_to_page(first);
	return page_is_thp(head) ? head : NULL;
}

static u64 page_flags_of(unsigned long pfn)
{
	const struct page *page, *head;
	u64 v = 0;

	if (!pfn_valid(pfn))
		return 1ull << KPF_NOPAGE;
	page = pfn_to_page(pfn);
	head = thp_around(pfn);
	if (head)
		v = 1ull << KPF_THP | (u64)page_mapped(head) << KPF_MMAP;
	if (head && head != page) /* its own fields say nothing */
		return v | 1ull << KPF_TAIL | 1ull << KPF_ANON;
	for (size_t i = 0; i < ARRAY_SIZE(flag_map); i++)
		v |= (u64)page_test(page, flag_map[i].ours) << flag_map[i].kpf;
	if (may_be_mapped(page))
		v |= 1ull << KPF_MMAP;
	return v;
}

static u64 page_count_of(unsigned long pfn)
{
	const struct page *head;

	if (!pfn_valid(pfn))
		return 0;
	head = thp_around(pfn);
	if (head)
		return (u64)page_mapcount(head);
	return may_be_mapped(pfn_to_page(pfn)) ? (u64)page_mapcount(pfn_to_page(pfn)) : 0;
}

static unsigned long end_of_frames(void)
{
	unsigned long end = 0;
	struct node *node;

	for_each_node(node)
		if (node)
			end = max(end, node->start_pfn + node->spanned_pages);
	return end;
}

static ssize_t read_entries(void __user *buf, size_t n, u64 *pos, u64 (*value)(unsigned long pfn))
{
	unsigned long pfn = *pos / 8, end = end_of_frames();
	size_t done = 0;
	u64 *tmp;

	if ((*pos | n) & 7)
		return -EINVAL;
	tmp = kmalloc(CHUNK * sizeof(*tmp), GFP_KERNEL);
	if (!tmp)
		return -ENOMEM;
	while (done < n && pfn < end) {
		size_t nr = min_t(size_t, CHUNK, min((n - done) / 8, end - pfn));

		for (size_t i = 0; i < nr; i++)
			tmp[i] = value(pfn + i);
		if (copy_to_user((char __user *)buf + done, tmp, nr * 8)) {
			kfree(tmp);
			return done ? (ssize_t)done : -EFAULT;
		}
		pfn += nr;
		done += nr * 8;
		*pos += nr * 8;
		cond_resched();
	}
	kfree(tmp);
	return done;
}

static ssize_t count_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	return read_entries(buf, n, pos, page_count_of);
}

static ssize_t flags_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	return read_entries(buf, n, pos, page_flags_of);
}

static int klog_open(struct inode *inode, struct file *f)
{
	f->version = printk_first_seq();
	return 0;
}

/* Text with "<level>[time]" in front; waits at the end unless O_NONBLOCK. */
static ssize_t klog_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	size_t room = min(n, PAGE_SIZE), len;
	char *text = kmalloc(room ? room : 1, GFP_KERNEL);
	ssize_t ret = 0;

	if (!text)
		return -ENOMEM;
	while (!(len = printk_read(&f->version, text, room, 1)) && room) {
		if (f->flags & O_NONBLOCK)
			ret = -EAGAIN;
		else if (signal_pending())
			ret = -ERESTARTSYS;
		if (ret)
			break;
		thread_set_state(THREAD_INTERRUPTIBLE);
		schedule_timeout(50 * NSEC_PER_MSEC);
	}
	if (len)
		ret = copy_to_user(buf, text, len) ? -EFAULT : (ssize_t)len;
	kfree(text);
	return ret;
}

static u32 klog_poll(struct file *f, struct poll_table *pt)
{
	return printk_next_seq() > f->version ? POLLIN | POLLRDNORM : 0;
}

static const struct file_ops count_fops = { .read = count_read };
static const struct file_ops flags_fops = { .read = flags_read };
static const struct file_ops klog_fops = {
	.open = klog_open, .read = klog_read, .poll = klog_poll, .llseek = file_no_seek
};

void kpage_init(void)
{
	show_tree_special("/proc/kpagecount", 0400, &count_fops);
	show_tree_special("/proc/kpageflags", 0400, &flags_fops);
	show_tree_special("/proc/kmsg", 0400, &klog_fops);
}
