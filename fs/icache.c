// SPDX-License-Identifier: BSD-2-Clause
/*
 * icache.c - the inodes of a disk, one per number.
 *
 * Problem: two names of one file, or two walks at the same moment, must meet in one inode, or its
 * pages and its block map would exist twice. And an inode that ends (its blocks are being freed,
 * its pages thrown away) must not be found, nor may its number be read from the disk again before
 * it has ended. Idea: a hash table by (superblock, number). An inode stays in it to the very end;
 * what it is at the moment is a flag:
 *
 *   INODE_NEW    being read from the disk; its lock is held for writing: whoever finds it waits
 *   (none)       in use
 *   INODE_DYING  the last reference is gone: whoever finds it waits until it has left, asks again
 *   INODE_FAILED it could not be read: those who waited get the error
 *
 * The step from one reference to none, and the mark INODE_DYING, are one under the lock; a
 * reference from the table is taken under the same lock. Nothing else ties the two.
 *
 * An unused inode is not kept here: the cache of names keeps those that are worth it.
 *
 * Locking: icache_lock (spinlock) for the chains and the two flags; sb->lock for the list of a
 * superblock's inodes.
 */
#include "fs/internal.h"
#include "kernel/counter.h"
#include "lib/hash.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"

COUNTER(icache_hits, "inodes of disks found in the cache");
COUNTER(icache_misses, "inodes of disks read in");

static DEFINE_SPINLOCK(icache_lock, RANK_DCACHE);
static struct hlist_head *table;
static u32 table_bits;
static DEFINE_WAIT_QUEUE(gone_wait);
static u32 nr_gone; /* (icache_lock) inodes that left the table */

static struct hlist_head *bucket(const struct superblock *sb, u64 ino)
{
	return &table[hash_64((unsigned long)sb / 64 + ino, table_bits)];
}

static struct inode *find_locked(struct superblock *sb, u64 ino)
{
	struct inode *inode;

	hlist_for_each_entry(inode, bucket(sb, ino), hash)
		if (inode->ino == ino && inode->sb == sb)
			return inode;
	return NULL;
}

static void insert_locked(struct inode *inode)
{
	struct superblock *sb = inode->sb;

	hlist_add_head(&inode->hash, bucket(sb, inode->ino));
	spin_lock(&sb->lock);
	list_add_tail(&inode->sb_node, &sb->inodes);
	spin_unlock(&sb->lock);
}

/* => icache_lock held, dropped: until some inode has left */
static void wait_gone(void)
{
	u32 seen = nr_gone;

	spin_unlock(&icache_lock);
	wait_event(&gone_wait, READ_ONCE(nr_gone) != seen);
}

/* Found (reference taken): it may still be read in, or have failed. */
static struct inode *wait_new(struct inode *inode)
{
	int err;

	if (likely(!(READ_ONCE(inode->flags) & (INODE_NEW | INODE_FAILED))))
		return inode;
	down_read(&inode->lock);
	up_read(&inode->lock);
	if (!(inode->flags & INODE_FAILED))
		return inode;
	err = (int)inode->version;
	inode_put(inode);
	return ERR_PTR(err);
}

/* Numbers of disks come from the disk: the superblock's own count is not touched. */
static struct inode *fresh_inode(struct superblock *sb, u64 ino)
{
	struct inode *inode = inode_new(sb, S_IFREG);

	if (!inode)
		return NULL;
	inode->ino = ino;
	inode->flags = INODE_NEW;
	down_write(&inode->lock);
	return inode;
}

static void drop_fresh(struct inode *inode)
{
	if (!inode)
		return;
	inode->flags = INODE_FAILED;
	up_write(&inode->lock);
	inode_put(inode);
}

struct inode *inode_iget(struct superblock *sb, u64 ino)
{
	struct inode *inode, *fresh = NULL;

	for (;;) {
		spin_lock(&icache_lock);
		inode = find_locked(sb, ino);
		if (inode && unlikely(inode->flags & INODE_DYING)) {
			wait_gone();
			continue;
		}
		if (inode) {
			inode_get(inode);
			spin_unlock(&icache_lock);
			drop_fresh(fresh);
			count(icache_hits);
			return wait_new(inode);
		}
		if (fresh) {
			insert_locked(fresh);
			spin_unlock(&icache_lock);
			count(icache_misses);
			return fresh;
		}
		spin_unlock(&icache_lock);
		fresh = fresh_inode(sb, ino);
		if (!fresh)
			return ERR_PTR(-ENOMEM);
	}
}

/* Out of the table: the number may be used again. */
void icache_remove(struct inode *inode)
{
	spin_lock(&icache_lock);
	hlist_del_init(&inode->hash);
	WRITE_ONCE(nr_gone, nr_gone + 1);
	spin_unlock(&icache_lock);
	if (wait_queue_active(&gone_wait))
		wake_up_all(&gone_wait);
}

void inode_new_done(struct inode *inode, int err)
{
	if (err) {
		icache_remove(inode);
		inode->version = err;
		inode->nlink = 1;
	}
	smp_store_release(&inode->flags, err ? INODE_FAILED : inode->flags & ~INODE_NEW);
	up_write(&inode->lock);
	/* until now it counted as a file's: what it is was not known (debug builds look at it) */
	inode->lock.rank = S_ISDIR(inode->mode) ? RANK_INODE_DIR : RANK_INODE;
	if (err)
		inode_put(inode);
}

int inode_hash_insert(struct inode *inode)
{
	struct inode *other;

	for (;;) {
		spin_lock(&icache_lock);
		other = find_locked(inode->sb, inode->ino);
		if (!other || !(other->flags & INODE_DYING))
			break;
		wait_gone();
	}
	if (!other)
		insert_locked(inode);
	spin_unlock(&icache_lock);
	return other ? -EEXIST : 0;
}

/* The last reference of a hashed inode? True: it is, and nobody will find it any more. */
bool icache_put_last(struct inode *inode)
{
	int v = atomic_read(&inode->refs);
	bool last;

	while (v > 1)
		if (try_cmpxchg(&inode->refs.v, &v, v - 1))
			return false;
	spin_lock(&icache_lock);
	last = atomic_dec_and_test(&inode->refs);
	if (last)
		inode->flags |= INODE_DYING;
	spin_unlock(&icache_lock);
	return last;
}

void inode_mark_dirty(struct inode *inode, u32 what)
{
	if (inode->data.bdi && !(READ_ONCE(inode->flags) & INODE_DYING))
		mapping_mark_dirty(&inode->data, what);
}

/* A referenced inode of sb that is still on its list, in use or not; NULL: the list is empty. */
static struct inode *first_left(struct superblock *sb)
{
	struct inode *inode;

	spin_lock(&sb->lock);
	inode = list_first_entry_or_null(&sb->inodes, struct inode, sb_node);
	if (inode && !atomic_inc_not_zero(&inode->refs))
		inode = ERR_PTR(-EAGAIN); /* it is on its way out */
	spin_unlock(&sb->lock);
	return inode;
}

#define EVICT_TRIES 2000 /* of a millisecond: a flusher that is at work lets go by then */

/*
 * The names of sb are gone; what is left of its inodes is held by the lists of dirty ones, or by a
 * flusher at work. => 0, or the number of inodes that stay in use (a fault; the first is named)
 */
u32 icache_evict_all(struct superblock *sb)
{
	struct inode *inode;
	u32 busy = 0;

	for (u32 tries = 0; (inode = first_left(sb)); tries++) {
		if (!IS_ERR(inode)) {
			if (READ_ONCE(inode->data.dirty) & MAPD_QUEUED) {
				mapping_sync_range(&inode->data, 0, U64_MAX);
				mapping_sync_owner(&inode->data, 0);
				mapping_undirty(&inode->data);
			}
			spin_lock(&sb->lock); /* look at another one next time */
			list_move_tail(&inode->sb_node, &sb->inodes);
			spin_unlock(&sb->lock);
			inode_put(inode);
		}
		if (tries < EVICT_TRIES) {
			cond_resched();
			if (tries > 32) {
				thread_set_state(THREAD_UNINTERRUPTIBLE);
				schedule_timeout(NSEC_PER_MSEC);
			}
			continue;
		}
		spin_lock(&sb->lock);
		list_for_each_entry(inode, &sb->inodes, sb_node)
			busy++;
		inode = list_first_entry_or_null(&sb->inodes, struct inode, sb_node);
		pr_err("umount of %s: %u inodes still in use, the first is %llu (%d references)",
		       sb->source, busy, inode ? (unsigned long long)inode->ino : 0,
		       inode ? atomic_read(&inode->refs) : 0);
		spin_unlock(&sb->lock);
		break;
	}
	return busy;
}

void icache_init(void)
{
	table_bits = 10;
	while (1ul << table_bits < totalram_pages / 32 && table_bits < 16)
		table_bits++;
	table = kzalloc(sizeof(*table) << table_bits, GFP_KERNEL);
	if (!table)
		panic("icache: no memory for %u hash chains", 1u << table_bits);
}
