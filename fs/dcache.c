// SPDX-License-Identifier: BSD-2-Clause
/*
 * dcache.c - the cache of names: dentries, their hash table, and how unused ones are given back.
 *
 * Problem: every open walks through several directories; asking the file system each time is slow,
 * and taking a lock in each directory makes CPUs wait for each other. Idea: a dentry remembers
 * "name in parent is this inode" (or: is nothing). All are found through one hash table without a
 * lock.
 *
 *   hash(parent, name) -> d -> d -> NULL      chain, read under RCU
 *   d->parent <- children list                a dentry holds a reference on its parent
 *   refs: users; 0 = only cached, on the LRU list; < 0 = dead, memory goes after a grace period
 *
 * Invariants: d->inode is set at most once and stays (with its reference) until d is freed, so
 * whoever sees a dentry under RCU may look at its inode. A reference is taken without the lock only
 * when refs >= 0 (dentry_get_live). refs falls to 0 without the lock only while the dentry is
 * hashed and already on the LRU list; a dentry that lost its name is freed by whoever drops the
 * last reference under the lock. (Losing the name exactly between those two looks leaves a nameless
 * dentry on the LRU list until the shrinker comes.)
 * Names change in place only in dentry_rename(), between two steps of path_seq: a walk without
 * references that saw path_seq change starts again with references. A name being changed may be
 * read torn, never past its memory by more than 255 bytes of mapped memory, and the result is
 * thrown away.
 * Second chance: `touched` is set by walks; the shrinker clears it once before it takes a dentry.
 *
 * Locking: dcache_lock (one spinlock, short sections) for hash, children, LRU, names and the mount
 * table.
 */
#include "fs/internal.h"
#include "kernel/counter.h"
#include "lib/hash.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"

COUNTER(dentry_allocs, "dentries made");
COUNTER(dentry_reclaimed, "unused dentries taken by the shrinker");

#define PRUNE_BATCH 32

DEFINE_SPINLOCK(dcache_lock, RANK_DCACHE);
u32 path_seq;
static struct dentry **hash_table;
static u32 hash_mask;
static struct slab_cache *dentry_cache;
static LIST_HEAD(lru); /* oldest first (dcache_lock) */
static unsigned long nr_lru;

static inline struct dentry **bucket(u32 hash)
{
	return &hash_table[(hash ^ hash >> 15) & hash_mask];
}

u32 dentry_hash_start(const struct dentry *parent)
{
	return (u32)hash_ptr(parent, 32);
}

u32 dentry_hash(const struct dentry *parent, const char *name, size_t len)
{
	u32 h = dentry_hash_start(parent);

	while (len--)
		h = dentry_hash_step(h, *name++);
	return h;
}

/* Names are short: a loop in place beats a call. */
static __always_inline bool name_equal(const char *a, const char *b, u32 len)
{
	u32 i = 0;

	for (; i + 8 <= len; i += 8)
		if (*(const u64 *)(a + i) != *(const u64 *)(b + i))
			return false;
	for (; i < len; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/*
 * => under rcu_read_lock or dcache_lock; no reference. A miss under RCU alone may be false (a
 * concurrent rename).
 */
struct dentry *dcache_find(const struct dentry *parent, u32 hash, const char *name, u32 len)
{
	struct dentry *d;

	for (d = READ_ONCE(*bucket(hash)); d; d = READ_ONCE(d->hash_next))
		if (d->hash == hash && d->parent == parent && d->len == len &&
		    name_equal(d->name, name, len))
			return d;
	return NULL;
}

struct dentry *dcache_find_get(struct dentry *parent, u32 hash, const char *name, u32 len)
{
	struct dentry *d;
	u32 seq = READ_ONCE(path_seq);

	rcu_read_lock();
	d = dcache_find(parent, hash, name, len);
	if (d && !dentry_get_live(d))
		d = NULL;
	rcu_read_unlock();
	if (d && unlikely((seq & 1) || READ_ONCE(path_seq) != seq)) {
		dentry_put(d);
		return dcache_find_get_locked(parent, hash, name, len);
	}
	return d;
}

/* Exact, also while others rename. */
struct dentry *dcache_find_get_locked(struct dentry *parent, u32 hash, const char *name, u32 len)
{
	struct dentry *d;

	spin_lock(&dcache_lock);
	d = dcache_find(parent, hash, name, len);
	if (d && !dentry_get_live(d))
		d = NULL;
	spin_unlock(&dcache_lock);
	return d;
}

struct dentry *dentry_lookup_cached(struct dentry *parent, const char *name, size_t len)
{
	return dcache_find_get(parent, dentry_hash(parent, name, len), name, len);
}

/*
 * A name that does not fit into its dentry; walks may read it for a grace period after it is given
 * up.
 */
struct long_name {
	struct rcu_head rcu;
	char text[];
};

/*
 * Room for a name of len bytes outside of the dentry (*text NULL: none is needed). => 0 or -ENOMEM
 */
int dentry_name_room(u32 len, char **text)
{
	struct long_name *name;

	*text = NULL;
	if (len < DNAME_INLINE)
		return 0;
	name = kmalloc(sizeof(*name) + len + 1, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	*text = name->text;
	return 0;
}

static void free_name_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct long_name, rcu));
}

void dentry_name_free(char *text)
{
	if (text)
		kfree(container_of(text, struct long_name, text));
}

static struct dentry *alloc(struct superblock *sb, const char *name, u32 len)
{
	struct dentry *d = slab_alloc(dentry_cache, GFP_KERNEL);
	char *text;

	if (!d)
		return NULL;
	text = d->inline_name;
	if (len >= DNAME_INLINE && dentry_name_room(len, &text)) {
		slab_free(dentry_cache, d);
		return NULL;
	}
	memcpy(text, name, len);
	text[len] = 0;
	d->name = text;
	d->len = len;
	d->hash = 0;
	d->flags = 0;
	d->touched = 0;
	d->inode = NULL;
	d->hash_next = NULL;
	d->private = NULL;
	d->sb = sb;
	atomic_set(&d->refs, 1);
	list_init(&d->child);
	list_init(&d->children);
	list_init(&d->lru);
	count(dentry_allocs);
	return d;
}

/*
 * A negative dentry of its own, not yet in the cache (dentry_add does that). => may sleep; NULL: no
 * memory
 */
struct dentry *dentry_alloc_hashed(struct dentry *parent, const char *name, u32 len, u32 hash)
{
	struct dentry *d = alloc(parent->sb, name, len);

	if (!d)
		return NULL;
	d->hash = hash;
	d->parent = parent;
	dentry_get(parent);
	return d;
}

struct dentry *dentry_alloc(struct dentry *parent, const char *name, size_t len)
{
	return dentry_alloc_hashed(parent, name, len, dentry_hash(parent, name, len));
}

/* The root of a superblock; takes the inode over. NULL: no memory, inode untouched. */
struct dentry *dentry_alloc_root(struct superblock *sb, struct inode *inode)
{
	struct dentry *d = alloc(sb, "/", 1);

	if (!d)
		return NULL;
	d->parent = d;
	d->inode = inode;
	return d;
}

/* For a file without a place: like a root, with a name of its own. */
struct dentry *dentry_alloc_anon(struct superblock *sb, const char *name, struct inode *inode)
{
	struct dentry *d = alloc(sb, name, strlen(name));

	if (d) {
		d->parent = d;
		d->inode = inode;
	}
	return d;
}

static void hash_insert_locked(struct dentry *d)
{
	struct dentry **b = bucket(d->hash);

	d->hash_next = *b;
	d->flags |= DENTRY_HASHED;
	smp_store_release(b, d);
}

static void hash_remove_locked(struct dentry *d)
{
	struct dentry **p;

	if (!(d->flags & DENTRY_HASHED))
		return;
	for (p = bucket(d->hash); *p != d; p = &(*p)->hash_next)
		;
	WRITE_ONCE(*p, d->hash_next); /* d keeps its own link for readers that stand on it */
	d->flags &= ~DENTRY_HASHED;
}

/* Makes d findable. => the directory's lock is held for writing, nobody else adds this name */
void dentry_add(struct dentry *d)
{
	spin_lock(&dcache_lock);
	hash_insert_locked(d);
	list_add(&d->child, &d->parent->children);
	spin_unlock(&dcache_lock);
}

void dentry_instantiate(struct dentry *d, struct inode *inode)
{
	ASSERT(!d->inode);
	spin_lock(&dcache_lock);
	smp_store_release(&d->inode, inode);
	if (!list_empty(&d->child))
		list_move(&d->child, &d->parent->children);
	spin_unlock(&dcache_lock);
}

static void lru_remove_locked(struct dentry *d)
{
	if (d->flags & DENTRY_LRU) {
		list_del_init(&d->lru);
		d->flags &= ~DENTRY_LRU;
		nr_lru--;
	}
}

static void free_rcu(struct rcu_head *head)
{
	struct dentry *d = container_of(head, struct dentry, rcu);

	if (d->name != d->inline_name)
		dentry_name_free((char *)d->name);
	slab_free(dentry_cache, d);
}

/* Out of every list; refs must be 0 (or the tree is being torn down). */
static void kill_locked(struct dentry *d)
{
	atomic_set(&d->refs, DENTRY_DEAD);
	hash_remove_locked(d);
	lru_remove_locked(d);
	list_del_init(&d->child);
}

/*
 * After kill_locked, without the lock. => the parent, whose reference the caller now owns; NULL for
 * a root
 */
static struct dentry *bury(struct dentry *d)
{
	struct dentry *parent = dentry_is_root(d) ? NULL : d->parent;

	if (d->inode)
		inode_put(d->inode);
	rcu_call(&d->rcu, free_rcu);
	return parent;
}

static noinline void put_slow(struct dentry *d)
{
	while (d) {
		spin_lock(&dcache_lock);
		if (!atomic_dec_and_test(&d->refs)) {
			spin_unlock(&dcache_lock);
			return;
		}
		if (d->flags & DENTRY_HASHED) {
			if (!(d->flags & DENTRY_LRU)) {
				list_add_tail(&d->lru, &lru);
				d->flags |= DENTRY_LRU;
				nr_lru++;
			}
			spin_unlock(&dcache_lock);
			return;
		}
		kill_locked(d);
		spin_unlock(&dcache_lock);
		d = bury(d);
	}
}

void dentry_put(struct dentry *d)
{
	int v = atomic_read(&d->refs);

	ASSERT(v > 0);
	while (v > 1 || (READ_ONCE(d->flags) & (DENTRY_LRU | DENTRY_HASHED)) ==
				(DENTRY_LRU | DENTRY_HASHED)) {
		d->touched = 1;
		if (try_cmpxchg(&d->refs.v, &v, v - 1))
			return;
	}
	put_slow(d);
}

void dentry_drop(struct dentry *d)
{
	spin_lock(&dcache_lock);
	hash_remove_locked(d);
	list_del_init(&d->child);
	d->flags |= DENTRY_UNHASHED;
	spin_unlock(&dcache_lock);
}

struct dentry *dentry_parent_get(struct dentry *d)
{
	struct dentry *parent;

	spin_lock(&dcache_lock);
	parent = d->parent;
	dentry_get(parent);
	spin_unlock(&dcache_lock);
	return parent;
}

/* Is d top or below it? => the answer holds as long as renames are kept out */
bool dentry_is_below(struct dentry *d, struct dentry *top)
{
	bool below = false;

	rcu_read_lock();
	for (; !below; d = d->parent) {
		below = d == top;
		if (dentry_is_root(d))
			break;
	}
	rcu_read_unlock();
	return below;
}

/* Buries a batch of killed dentries linked through ->private. */
static void bury_list(struct dentry *list)
{
	while (list) {
		struct dentry *next = list->private, *parent = bury(list);

		if (parent)
			dentry_put(parent);
		list = next;
	}
}

/* Unused (so mostly negative) names below a directory that is going away. */
void dentry_prune_children(struct dentry *dir)
{
	for (;;) {
		struct dentry *d, *n, *dead = NULL;
		u32 killed = 0;

		spin_lock(&dcache_lock);
		list_for_each_entry_safe(d, n, &dir->children, child) {
			if (atomic_read(&d->refs) || atomic_cmpxchg(&d->refs, 0, DENTRY_DEAD))
				continue;
			kill_locked(d);
			d->private = dead;
			dead = d;
			if (++killed == PRUNE_BATCH)
				break;
		}
		spin_unlock(&dcache_lock);
		bury_list(dead);
		if (killed < PRUNE_BATCH)
			return;
	}
}

/*
 * The whole tree of a superblock that nobody uses any more, pinned names included; the root goes
 * last.
 */
void dentry_tree_kill(struct dentry *root)
{
	struct dentry *d = root;

	for (;;) {
		struct dentry *parent;

		spin_lock(&dcache_lock);
		while (!list_empty(&d->children))
			d = list_first_entry(&d->children, struct dentry, child);
		kill_locked(d);
		spin_unlock(&dcache_lock);
		parent = bury(d);
		if (!parent)
			return;
		/* cannot be the last: the root keeps one, pinned directories too */
		atomic_dec(&parent->refs);
		d = parent;
		cond_resched();
	}
}

/*
 * Gives d another place and name. text is what dentry_name_room() gave (taken over), so this cannot
 * fail.
 * => both directories and, when they differ, the rename mutex are held
 */
void dentry_rename(struct dentry *d, struct dentry *parent, const char *name, u32 len, char *text)
{
	struct dentry *old = d->parent;
	const char *old_text = d->name;

	if (text)
		memcpy(text, name, len + 1);
	spin_lock(&dcache_lock);
	path_seq_begin();
	hash_remove_locked(d);
	if (!text)
		memcpy(d->inline_name, name, len + 1);
	d->name = text ? text : d->inline_name;
	d->len = len;
	d->parent = parent;
	d->hash = dentry_hash(parent, name, len);
	list_move(&d->child, &parent->children);
	hash_insert_locked(d);
	dentry_get(parent);
	path_seq_end();
	spin_unlock(&dcache_lock);
	if (old_text != d->inline_name)
		rcu_call(&container_of(old_text, struct long_name, text)->rcu, free_name_rcu);
	dentry_put(old);
}

/* How eagerly names and inodes are given back under pressure: percent of their number. */
static long vfs_cache_pressure = 100;
TUNABLE("vm/vfs_cache_pressure", vfs_cache_pressure, 0, 10000, NULL);

static unsigned long lru_count(struct shrinker *s)
{
	return READ_ONCE(nr_lru) * (unsigned long)READ_ONCE(vfs_cache_pressure) / 100;
}

/* Looks at up to PRUNE_BATCH of the oldest. => number freed; *looked counts all it saw */
static unsigned long lru_scan_batch(unsigned long *looked)
{
	struct dentry *dead = NULL;
	unsigned long killed = 0;

	spin_lock(&dcache_lock);
	for (u32 i = 0; i < PRUNE_BATCH && !list_empty(&lru); i++) {
		struct dentry *d = list_first_entry(&lru, struct dentry, lru);

		++*looked;
		if (atomic_read(&d->refs)) {
			lru_remove_locked(d);
		} else if (d->touched) {
			d->touched = 0;
			list_move_tail(&d->lru, &lru);
		} else if (!atomic_cmpxchg(&d->refs, 0, DENTRY_DEAD)) {
			kill_locked(d);
			d->private = dead;
			dead = d;
			killed++;
		}
	}
	spin_unlock(&dcache_lock);
	bury_list(dead);
	count_add(dentry_reclaimed, killed);
	return killed;
}

static unsigned long lru_scan(struct shrinker *s, unsigned long nr)
{
	unsigned long freed = 0, looked = 0, start = READ_ONCE(nr_lru);
	bool all = nr >= start;

	/*
	 * Twice round the list, so that walks going on cannot keep us here by touching. Asked for
	 * all, parents that become unused on the way go as well.
	 */
	while ((all || freed < nr) && looked < 2 * (start + freed) + PRUNE_BATCH &&
	       !list_empty(&lru)) {
		freed += lru_scan_batch(&looked);
		cond_resched();
	}
	return freed;
}

unsigned long dcache_nr(void)
{
	return slab_nr_objects(dentry_cache);
}

/*
 * Columns as in Linux: all, unused, age limit, wanted pages, negative (not counted here), unused.
 */
static int dentry_state_show(struct seq *seq)
{
	seq_printf(seq, "%lu\t%lu\t45\t0\t0\t0\n", dcache_nr(), READ_ONCE(nr_lru));
	return 0;
}
SHOW("/proc/sys/fs/dentry-state", 0444, dentry_state_show, NULL);

static struct shrinker dentry_shrinker = { .name = "dentry", .count = lru_count, .scan = lru_scan };

void dcache_init(void)
{
	u32 buckets = 1024;

	while (buckets < totalram_pages / 16 && buckets < 1u << 17)
		buckets *= 2;
	hash_table = kzalloc(buckets * sizeof(*hash_table), GFP_KERNEL);
	dentry_cache = slab_create("dentry", sizeof(struct dentry), 64, SLAB_RECLAIMABLE, NULL);
	if (!hash_table || !dentry_cache)
		panic("dcache: no memory for %u hash buckets", buckets);
	hash_mask = buckets - 1;
	shrinker_register(&dentry_shrinker);
}
