/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_vm.c - address spaces from inside: a kernel thread takes an empty one and uses it like a
 * program, through the user copy functions, whose faults are mended like a program's.
 */
#include "arch/uaccess.h"
#include "kernel/rcu.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define PROT_RW 3
#define ANON 0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */
#define ANON_SHARED 0x21
#define FIXED 0x10
#define P PAGE_SIZE

static struct aspace *enter(void)
{
	struct aspace *mm = aspace_create();

	if (mm)
		aspace_use(mm);
	return mm;
}

static const char *leave(struct aspace *mm)
{
	const char *wrong = aspace_check(mm);

	aspace_use(NULL);
	aspace_put(mm);
	return wrong;
}

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}
/* The word, or 0xdead when there is none. */
static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}
static pfn_t pfn_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr);

	return pte && pte_present(pte_read(pte)) ? pte_pfn(pte_read(pte)) : 0;
}

KTEST(vm, anon_demand)
{
	struct aspace *mm = enter();
	long a = vm_mmap(NULL, NULL, 0, 64 * P, PROT_RW, ANON, 0);

	KT_ASSERT(a > 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 0);
	for (int i = 0; i < 64; i++)
		KT_EQ(peek(a + i * P), 0); /* zero page */
	KT_EQ(atomic_long_read(&mm->rss_anon), 0);
	for (int i = 0; i < 64; i++)
		KT_EQ(poke(a + i * P + 8, i + 1), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 64);
	for (int i = 0; i < 64; i++)
		KT_ASSERT(peek(a + i * P + 8) == (u32)i + 1 && peek(a + i * P) == 0);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(vm_munmap(a + 10 * P, 10 * P), 0);
	KT_EQ(peek(a + 10 * P), 0xdead);
	KT_EQ(mm->nr_vmas, 2);
	KT_EQ(vm_munmap(a, 64 * P), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 0);
	KT_EQ(atomic_long_read(&mm->pt_pages), 0);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, fork_cow)
{
	struct aspace *mm = enter(), *child;
	long a = vm_mmap(NULL, NULL, 0, 8 * P, PROT_RW, ANON, 0);
	pfn_t mine;

	for (int i = 0; i < 8; i++)
		KT_EQ(poke(a + i * P, 100 + i), 0);
	mine = pfn_at(mm, a);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(pfn_at(child, a), mine);
	KT_EQ(poke(a, 1), 0); /* shared with the child: copied */
	KT_ASSERT(pfn_at(mm, a) != mine);
	aspace_use(child);
	KT_EQ(peek(a), 100);
	KT_EQ(poke(a + P, 2), 0);
	KT_EQ(poke(a, 3), 0); /* alone by now: not copied */
	KT_EQ(pfn_at(child, a), mine);
	KT_ASSERT(!aspace_check(child));
	aspace_use(mm);
	aspace_put(child);
	KT_EQ(peek(a), 1);
	KT_EQ(peek(a + P), 101);
	mine = pfn_at(mm, a + 2 * P);
	KT_EQ(poke(a + 2 * P, 7), 0); /* the child is gone: in place */
	KT_EQ(pfn_at(mm, a + 2 * P), mine);
	KT_ASSERT(!leave(mm));
}

/* Two far apart in one GiB go in one call: the table above both goes with the second, empty. */
KTEST(vm, unmap_two)
{
	struct aspace *mm = aspace_create();
	unsigned long at = GiB(1);

	KT_ASSERT(mm);
	aspace_use(mm);
	for (int i = 0; i < 2; i++, at += MiB(64)) {
		KT_EQ((unsigned long)vm_mmap(NULL, NULL, at, PAGE_SIZE, 3, 0x32, 0), at);
		KT_EQ(put_user_u64(7, (u64 __user *)at), 0);
	}
	KT_ASSERT(atomic_long_read(&mm->pt_pages) >= 3);
	KT_EQ(vm_munmap(0, USER_TOP), 0);
	KT_EQ(atomic_long_read(&mm->pt_pages), 0);
	aspace_use(NULL);
	aspace_put(mm);
}

KTEST(vm, protect)
{
	struct aspace *mm = enter();
	long a = vm_mmap(NULL, NULL, 0, 9 * P, PROT_RW, ANON, 0);

	for (int i = 0; i < 9; i++)
		KT_EQ(poke(a + i * P, i), 0);
	KT_EQ(vm_mprotect(a + 3 * P, 3 * P, 1), 0);
	KT_EQ(mm->nr_vmas, 3);
	KT_EQ(poke(a + 4 * P, 9), -EFAULT);
	KT_EQ(peek(a + 4 * P), 4);
	KT_EQ(vm_mprotect(a + 4 * P, P, 0), 0);
	KT_EQ(mm->nr_vmas, 5);
	KT_EQ(peek(a + 4 * P), 0xdead);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(vm_mprotect(a, 9 * P, PROT_RW), 0);
	KT_EQ(mm->nr_vmas, 1);
	KT_EQ(peek(a + 4 * P), 4);
	KT_EQ(poke(a + 4 * P, 44), 0);
	KT_EQ(peek(a + 4 * P), 44);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, mremap)
{
	struct aspace *mm = enter();
	long a = vm_mmap(NULL, NULL, 0x40000000, 4 * P, PROT_RW, ANON, 0), b;

	KT_EQ(a, 0x40000000);
	for (int i = 0; i < 4; i++)
		KT_EQ(poke(a + i * P, 50 + i), 0);
	KT_EQ(vm_mremap(a, 4 * P, 6 * P, 0, 0), a); /* in place */
	KT_EQ(mm->nr_vmas, 1);
	KT_EQ(vm_mmap(NULL, NULL, a + 6 * P, P, 1, ANON | FIXED, 0), a + 6 * (long)P);
	KT_EQ(vm_mremap(a, 6 * P, 8 * P, 0, 0), -ENOMEM);
	b = vm_mremap(a, 6 * P, 700 * P, 1, 0);
	KT_ASSERT(b > 0 && b != a);
	for (int i = 0; i < 4; i++)
		KT_EQ(peek(b + i * P), 50 + i);
	KT_EQ(peek(a), 0xdead);
	KT_EQ(peek(b + 699 * P), 0);
	KT_ASSERT(!aspace_check(mm));
	/* out of the middle, fixed */
	KT_EQ(vm_mremap(b + P, 2 * P, 2 * P, 3, 0x50000000), 0x50000000);
	KT_EQ(peek(0x50000000), 51);
	KT_EQ(peek(b + P), 0xdead);
	KT_EQ(vm_mremap(b, P, 0, 1, 0), -EINVAL);
	KT_EQ(vm_mremap(b + 1, P, P, 1, 0), -EINVAL);
	KT_EQ(vm_mremap(b, P, P, 2, 0x50000000), -EINVAL);
	KT_EQ(vm_mremap(b, 2 * P, 2 * P, 3, b + P), -EINVAL);
	KT_EQ(vm_mremap(0x70000000, P, 2 * P, 1, 0), -EFAULT);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, errors)
{
	struct aspace *mm = enter();
	long a = vm_mmap(NULL, NULL, 0, 4 * P, PROT_RW, ANON, 0);

	KT_EQ(vm_mmap(NULL, NULL, 0, 0, PROT_RW, ANON, 0), -EINVAL);
	KT_EQ(vm_mmap(NULL, NULL, 0, P, PROT_RW, 0x20, 0), -EINVAL);
	KT_EQ(vm_mmap(NULL, NULL, 123, P, PROT_RW, ANON | FIXED, 0), -EINVAL);
	KT_EQ(vm_mmap(NULL, NULL, 0, ~0ul, PROT_RW, ANON, 0), -ENOMEM);
	KT_EQ(vm_mmap(NULL, NULL, 0, USER_TOP + P, PROT_RW, ANON, 0), -ENOMEM);
	KT_EQ(vm_mmap(NULL, NULL, a, P, PROT_RW, ANON | 0x100000, 0), -EEXIST);
	KT_EQ(vm_munmap(a + 1, P), -EINVAL);
	KT_EQ(vm_munmap(a, 0), -EINVAL);
	KT_EQ(vm_munmap(0x10000000, P), 0);
	KT_EQ(vm_mprotect(a + 1, P, 1), -EINVAL);
	KT_EQ(vm_mprotect(a, 0, 1), 0);
	KT_EQ(vm_mprotect(a, P, 0x40), -EINVAL);
	KT_EQ(vm_mprotect(a + 2 * P, 4 * P, 1), -ENOMEM);
	KT_EQ(poke(a + 3 * P, 1), -EFAULT); /* the prefix was changed */
	KT_EQ(vm_madvise(mm, a, P, 99), -EINVAL);
	KT_EQ(vm_madvise(mm, a + 1, P, 4), -EINVAL);
	KT_EQ(vm_madvise(mm, a + 2 * P, 8 * P, 4), -ENOMEM);
	KT_EQ(vm_msync(a, P, 5), -EINVAL);
	KT_EQ(vm_msync(a, P, 8), -EINVAL);
	KT_EQ(vm_msync(a + 3 * P, 3 * P, 1), -ENOMEM);
	KT_EQ(vm_mlockall(0), -EINVAL);
	KT_EQ(vm_mlockall(4), -EINVAL);
	KT_EQ(vm_mlock(0x10000000, P, 0), -ENOMEM);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, brk)
{
	struct aspace *mm = enter();

	mm->brk = mm->brk_start = 0x600000;
	KT_EQ(vm_brk(0), 0x600000);
	KT_EQ(vm_brk(0x600010), 0x600010);
	KT_EQ(poke(0x600000, 1), 0);
	KT_EQ(vm_brk(0x605000), 0x605000);
	KT_EQ(mm->nr_vmas, 1);
	KT_EQ(poke(0x604ffc, 2), 0);
	KT_EQ(vm_brk(0x601000), 0x601000);
	KT_EQ(peek(0x604ffc), 0xdead);
	KT_EQ(vm_mmap(NULL, NULL, 0x603000, P, 1, ANON | FIXED, 0), 0x603000);
	KT_EQ(vm_brk(0x604000), 0x601000); /* in the way: the old break comes back */
	mm->rlimit_data = 0x1800;
	KT_EQ(vm_brk(0x602000), 0x601000);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, advice)
{
	struct aspace *mm = enter();
	long a = vm_mmap(NULL, NULL, 0, 6 * P, PROT_RW, ANON, 0);
	struct aspace *child;
	unsigned char vec[6];
	long v = vm_mmap(NULL, NULL, 0, P, PROT_RW, ANON, 0);

	for (int i = 0; i < 6; i++)
		KT_EQ(poke(a + i * P, 5), 0);
	KT_EQ(vm_madvise(mm, a + P, 2 * P, 4), 0);
	KT_EQ(vm_mincore(a, 6 * P, (unsigned char __user *)v), 0);
	KT_ASSERT(!copy_from_user(vec, (void __user *)v, 6));
	KT_ASSERT(vec[0] == 1 && vec[1] == 0 && vec[2] == 0 && vec[3] == 1);
	KT_EQ(peek(a + P), 0);
	KT_EQ(peek(a + 3 * P), 5);
	KT_EQ(vm_madvise(mm, a, P, 18), 0);	/* WIPEONFORK */
	KT_EQ(vm_madvise(mm, a + P, P, 10), 0); /* DONTFORK */
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	aspace_use(child);
	KT_EQ(peek(a), 0);
	KT_EQ(peek(a + P), 0xdead);
	KT_EQ(peek(a + 3 * P), 5);
	KT_ASSERT(!aspace_check(child));
	aspace_use(mm);
	aspace_put(child);
	KT_EQ(vm_madvise(mm, a, 6 * P, 23), 0); /* POPULATE_WRITE */
	KT_EQ(atomic_long_read(&mm->rss_anon), 7);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, stack)
{
	struct aspace *mm = enter();
	unsigned long top = 0x7ffff0000000, low;

	mm->rlimit_stack = MiB(1);
	KT_EQ(vm_setup_stack(mm, top), 0);
	low = mm->stack_top - MiB(1);
	KT_EQ(poke(mm->stack_top - 8, 1), 0);
	KT_EQ(poke(low, 2), 0); /* grows to its limit */
	KT_EQ(mm->nr_vmas, 1);
	KT_EQ(poke(low - 8, 3), -EFAULT);
	mm->rlimit_stack = MiB(64);
	KT_EQ(vm_mmap(NULL, NULL, low - MiB(4), P, 1, ANON | FIXED, 0), (long)(low - MiB(4)));
	KT_EQ(poke(low - MiB(2), 4), 0);
	KT_EQ(poke(low - MiB(4) + 2 * P, 5), -EFAULT); /* guard gap */
	KT_ASSERT(!leave(mm));
}

/* A file without a file system: read, written and mapped at once. */
static const struct mapping_ops no_ops;

KTEST(vm, file)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct aspace *mm = enter();
	long s, p;
	u32 word = 7;

	KT_ASSERT(m);
	mapping_init(m, &no_ops, NULL, MAPF_SHMEM);
	KT_EQ(pagecache_write_kernel(m, 3 * P, &word, 4), 4);
	KT_EQ(m->size, 3 * P + 4);
	s = vm_mmap(NULL, m, 0, 8 * P, PROT_RW, 1, 0);
	p = vm_mmap(NULL, m, 0, 8 * P, PROT_RW, 2, 0);
	KT_ASSERT(s > 0 && p > 0);
	KT_EQ(peek(s + 3 * P), 7);
	KT_EQ(peek(p + 3 * P), 7);
	KT_EQ(peek(s), 0); /* a hole */
	KT_EQ(poke(s + 3 * P, 8), 0);
	KT_EQ(peek(p + 3 * P), 8);
	KT_EQ(poke(p + 3 * P, 9), 0); /* private from here on */
	KT_EQ(poke(s + 3 * P, 10), 0);
	KT_EQ(peek(p + 3 * P), 9);
	KT_EQ(pagecache_read_kernel(m, 3 * P, &word, 4), 4);
	KT_EQ(word, 10);
	KT_EQ(peek(s + 4 * P), 0xdead); /* behind the end */
	KT_EQ(poke(s + 3 * P + 100, 11), 0);
	KT_ASSERT(!aspace_check(mm));
	m->size = P;
	pagecache_truncate(m, P);
	KT_EQ(peek(s + 3 * P), 0xdead);
	KT_EQ(peek(p + 3 * P), 0xdead); /* the copy goes, too */
	m->size = 4 * P;
	KT_EQ(peek(s + 3 * P + 100), 0);
	KT_EQ(vm_munmap(s, 8 * P), 0);
	KT_EQ(vm_munmap(p, 8 * P), 0);
	KT_ASSERT(!mapping_mapped(m) && mapping_check(m));
	mapping_destroy(m);
	kfree(m);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, shared_anon)
{
	struct aspace *mm = enter(), *child;
	long a = vm_mmap(NULL, NULL, 0, 4 * P, PROT_RW, ANON_SHARED, 0);
	struct futex_key k1, k2, k3;

	KT_EQ(poke(a, 1), 0);
	KT_EQ(vm_futex_key(a + 4, 1, &k1), 0);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	aspace_use(child);
	KT_EQ(peek(a), 1);
	KT_EQ(poke(a + P, 2), 0);
	KT_EQ(vm_futex_key(a + 4, 1, &k2), 0);
	KT_EQ(vm_futex_key(a + 4, 0, &k3), 0);
	aspace_use(mm);
	KT_EQ(peek(a + P), 2);
	KT_ASSERT(k1.object == k2.object && k1.offset == k2.offset && k3.object != k1.object);
	aspace_put(child);
	KT_EQ(peek(a + P), 2);
	KT_ASSERT(!leave(mm));
}

KTEST(vm, mlock)
{
	struct aspace *mm = enter(), *child;
	unsigned long before = global_zone_state(NR_MLOCK);
	long a = vm_mmap(NULL, NULL, 0, 8 * P, PROT_RW, ANON, 0);

	KT_EQ(poke(a, 1), 0);
	KT_EQ(vm_mlock(a, 4 * P, 0), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 4);
	KT_EQ(mm->locked_vm, 4);
	KT_ASSERT(page_test(pfn_to_page(pfn_at(mm, a + 3 * P)), PG_mlocked));
	child = aspace_fork(mm); /* locks are not inherited */
	KT_ASSERT(!IS_ERR(child) && child->locked_vm == 0);
	KT_EQ(vm_munlock(a + P, P), 0);
	KT_ASSERT(!page_test(pfn_to_page(pfn_at(mm, a + P)), PG_mlocked));
	KT_ASSERT(page_test(pfn_to_page(pfn_at(mm, a)), PG_mlocked));
	aspace_put(child);
	KT_EQ(vm_munmap(a, 2 * P), 0);
	KT_EQ(mm->locked_vm, 2);
	KT_EQ(vm_mlockall(2), 0); /* the future */
	a = vm_mmap(NULL, NULL, 0, 2 * P, PROT_RW, ANON, 0);
	KT_ASSERT(pfn_at(mm, a));
	KT_EQ(vm_munlockall(), 0);
	KT_EQ(mm->locked_vm, 0);
	KT_ASSERT(!leave(mm));
	KT_EQ(global_zone_state(NR_MLOCK), before);
}

KTEST(vm, policy)
{
	struct aspace *mm = enter();
	unsigned long mask = 3;
	long a, u;
	int on[2] = { 0, 0 };

	if (nr_nodes < 2 || !nodes[0]->has_memory || !nodes[1]->has_memory) {
		leave(mm);
		KT_SKIP("needs two nodes with memory");
	}
	a = vm_mmap(NULL, NULL, 0, 32 * P, PROT_RW, ANON, 0);
	u = vm_mmap(NULL, NULL, 0, P, PROT_RW, ANON, 0);
	KT_ASSERT(!copy_to_user((void __user *)u, &mask, 8));
	KT_EQ(vm_mbind(a, 16 * P, 3, (unsigned long __user *)u, 64, 0, 0), 0); /* INTERLEAVE */
	for (int i = 0; i < 16; i++) {
		KT_EQ(poke(a + i * P, 1), 0);
		on[page_node(pfn_to_page(pfn_at(mm, a + i * P)))]++;
	}
	KT_EQ(on[0], 8);
	KT_EQ(on[1], 8);
	mask = 2;
	KT_ASSERT(!copy_to_user((void __user *)u, &mask, 8));
	KT_EQ(vm_mbind(a + 16 * P, 16 * P, 2, (unsigned long __user *)u, 64, 0, 0), 0); /* BIND 1 */
	for (int i = 16; i < 32; i++) {
		KT_EQ(poke(a + i * P, 1), 0);
		KT_EQ(page_node(pfn_to_page(pfn_at(mm, a + i * P))), 1);
	}
	KT_EQ(vm_mbind(a, 16 * P, 2, (unsigned long __user *)u, 64, 1, 0), -EIO); /* STRICT */
	KT_EQ(vm_mbind(a, 16 * P, 9, (unsigned long __user *)u, 64, 0, 0), -EINVAL);
	KT_EQ(vm_mbind(0x10000000, P, 2, (unsigned long __user *)u, 64, 0, 0), -EFAULT);
	KT_EQ(vm_mbind(a, 32 * P, 0, NULL, 0, 0, 0), 0);
	KT_ASSERT(!leave(mm));
}

/*
 * Several threads in one address space: every word is zero or says where it lies; the books balance
 * afterwards.
 */
#define CROWD 4
#define CROWD_PAGES 64
static struct aspace *crowd_mm;
static int crowd_member(void *arg)
{
	unsigned long base = 0x40000000;
	struct rng rng;
	long bad = 0;

	rng_seed(&rng, (unsigned long)arg);
	aspace_use(crowd_mm);
	for (int step = 0; step < 1500; step++) {
		unsigned long i = rng_below(&rng, CROWD_PAGES), n = 1 + rng_below(&rng, 8),
			      addr = base + i * P;
		struct aspace *child;
		u32 v;

		n = min(n, CROWD_PAGES - i);
		switch (rng_below(&rng, 16)) {
		case 0:
			vm_madvise(crowd_mm, addr, n * P, 4);
			break;
		case 1:
			vm_munmap(addr, n * P);
			break;
		case 2:
		case 3:
			vm_mmap(NULL, NULL, addr, n * P, PROT_RW, ANON | FIXED, 0);
			break;
		case 4:
			vm_mprotect(addr, n * P, rng_below(&rng, 2) ? PROT_RW : rng_below(&rng, 2));
			break;
		case 5:
			child = aspace_fork(crowd_mm);
			if (!IS_ERR(child))
				aspace_put(child);
			break;
		case 6:
			rng_below(&rng, 2) ? vm_mlock(addr, n * P, 0) : vm_munlock(addr, n * P);
			break;
		default:
			v = peek(addr + 16);
			bad += v != 0 && v != 0xdead && v != (u32)i + 1;
			poke(addr + 16, i + 1);
		}
		cond_resched();
	}
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return bad ? -EIO : 0;
}

KTEST(vm, threads)
{
	unsigned long locked = global_zone_state(NR_MLOCK), anon = global_zone_state(NR_ANON_PAGES);
	struct thread *member[CROWD];
	int results = 0;

	crowd_mm = aspace_create();
	KT_ASSERT(crowd_mm);
	for (unsigned long i = 0; i < CROWD; i++) {
		member[i] = kthread_run(crowd_member, (void *)(i + 1), -1, "crowd/%lu", i);
		KT_ASSERT(member[i]);
	}
	for (int i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	KT_EQ(results, 0);
	KT_ASSERT(!aspace_check(crowd_mm));
	aspace_put(crowd_mm);
	KT_EQ(global_zone_state(NR_MLOCK), locked);
	KT_EQ(global_zone_state(NR_ANON_PAGES), anon);
}

#define RANDOM_PAGES 96
/* Random calls against one byte of truth per page. */
KTEST(vm, random)
{
	unsigned long base = 0x30000000, free_before;
	struct aspace *mm, *child = NULL;
	static s16 truth[RANDOM_PAGES]; /* -1: not mapped, else the word */
	static bool writable[RANDOM_PAGES];
	struct rng rng;

	rng_seed(&rng, 4711);
	memset(truth, 0xff, sizeof(truth));
	free_before = nr_free_pages();
	mm = enter();
	for (int step = 0; step < 4000; step++) {
		unsigned long from = rng_below(&rng, RANDOM_PAGES), n = 1 + rng_below(&rng, 10);
		unsigned long addr = base + from * P;

		n = min(n, RANDOM_PAGES - from);
		switch (rng_below(&rng, 7)) {
		case 0:
			KT_EQ(vm_mmap(NULL, NULL, addr, n * P, PROT_RW, ANON | FIXED, 0),
			      (long)addr);
			for (unsigned long i = from; i < from + n; i++)
				truth[i] = 0, writable[i] = true;
			break;
		case 1:
			KT_EQ(vm_munmap(addr, n * P), 0);
			for (unsigned long i = from; i < from + n; i++)
				truth[i] = -1;
			break;
		case 2: {
			bool rw = rng_below(&rng, 2), hole = false;

			vm_mprotect(addr, n * P, rw ? PROT_RW : 1);
			for (unsigned long i = from; i < from + n && !hole; i++) {
				hole = truth[i] < 0;
				writable[i] = hole ? writable[i] : rw;
			}
			break;
		}
		case 3:
			vm_madvise(mm, addr, n * P, 4);
			for (unsigned long i = from; i < from + n; i++)
				truth[i] = truth[i] < 0 ? -1 : 0;
			break;
		case 4:
			if (child)
				aspace_put(child);
			child = aspace_fork(mm);
			KT_ASSERT(!IS_ERR(child));
			break;
		default:
			for (unsigned long i = from; i < from + n; i++) {
				s16 v = rng_below(&rng, 1000);

				KT_EQ(poke(base + i * P, v),
				      truth[i] >= 0 && writable[i] ? 0 : -EFAULT);
				if (truth[i] >= 0 && writable[i])
					truth[i] = v;
			}
		}
		for (unsigned long i = from; i < from + n; i++)
			KT_EQ(peek(base + i * P), truth[i] < 0 ? 0xdead : truth[i]);
		if (step % 50 == 0) {
			KT_ASSERT(!aspace_check(mm));
			KT_ASSERT(!child || !aspace_check(child));
		}
	}
	if (child)
		aspace_put(child);
	KT_ASSERT(!leave(mm));
	rcu_barrier();
	/* Objects keep partly used slabs, tables wait to be used again: no more than that. */
	KT_ASSERT(nr_free_pages() + 200 > free_before);
}
