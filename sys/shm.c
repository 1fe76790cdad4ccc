// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm.c - System V shared memory: the table of segments, shmget and shmctl. Attaching is
 * shm_attach.c.
 *
 * Theory: a segment is an unlinked tmpfs file with an entry in a table. Each VMA that shows it
 * counts as one attachment (the VMA's open and close hooks, so fork and partial unmapping count
 * right). IPC_RMID takes the key away at once and the segment goes when the last attachment does;
 * until then it may still be attached by its id, as on Linux.
 *
 * An id is table index + generation * SHM_SLOTS, so an old id does not hit a new segment.
 * Locking: shm_lock (spinlock) guards the table and every field of a segment. A segment has one
 * reference per attachment, one while it is in the table, and one for whoever works with it; the
 * last one puts the file (which may sleep, so never under shm_lock).
 */
#include "fs/fcntl.h"
#include "kernel/param.h"
#include "kernel/show.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/vm/aspace.h"
#include "sys/process.h"
#include "sys/shm_internal.h"
#include "sys/syscall.h"

#define SHM_SLOTS 4096
#define IPC_CREAT 01000
#define IPC_EXCL 02000
#define IPC_PRIVATE 0
enum {
	IPC_RMID,
	IPC_SET,
	IPC_STAT,
	IPC_INFO,
	SHM_LOCK = 11,
	SHM_UNLOCK,
	SHM_STAT,
	SHM_INFO,
	SHM_STAT_ANY
};
#define SHM_LOCKED 02000

DEFINE_SPINLOCK(shm_lock, RANK_FILES);
static struct segment **table; /* SHM_SLOTS pointers, made at the first shmget */
static u32 nr_segments, generation;
static unsigned long total_pages;
static long shmmax = S64_MAX, shmall = S64_MAX, shmmni = SHM_SLOTS;
TUNABLE("kernel/shmmax", shmmax, 1, S64_MAX, NULL);
TUNABLE("kernel/shmall", shmall, 0, S64_MAX, NULL);
TUNABLE("kernel/shmmni", shmmni, 0, SHM_SLOTS, NULL);

s64 shm_now(void)
{
	return ktime_get_real() / NSEC_PER_SEC;
}

static unsigned long pages_of(size_t bytes)
{
	return (bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

/* ---- references ---- */

static struct segment *find_locked(int id)
{
	struct segment *s;

	assert_spin_held(&shm_lock);
	if (id < 0 || !table)
		return NULL;
	s = table[id % SHM_SLOTS];
	return s && s->id == id ? s : NULL;
}

struct segment *segment_get(int id)
{
	struct segment *s;

	spin_lock(&shm_lock);
	s = find_locked(id);
	if (s)
		s->refs++;
	spin_unlock(&shm_lock);
	return s;
}

void segment_put(struct segment *s)
{
	bool last;

	spin_lock(&shm_lock);
	last = --s->refs == 0;
	spin_unlock(&shm_lock);
	if (last) {
		file_put(s->file);
		kfree(s);
	}
}

/* Out of the table. => shm_lock; true: the caller puts the table's reference */
bool segment_remove_locked(struct segment *s)
{
	if (table[s->id % SHM_SLOTS] != s)
		return false;
	table[s->id % SHM_SLOTS] = NULL;
	nr_segments--;
	total_pages -= pages_of(s->bytes);
	return true;
}

/* ---- permissions: mode bits by owner, group, others; root may everything ---- */

bool segment_allowed(const struct segment *s, u32 want)
{
	const struct cred *c = &current_proc->cred;
	u32 mode = s->mode;

	if (c->euid == 0)
		return true;
	if (c->euid == s->uid || c->euid == s->cuid)
		mode >>= 6;
	else if (c->egid == s->gid || c->egid == s->cgid)
		mode >>= 3;
	return (mode & want & 7) == (want & 7);
}

static bool owner(const struct segment *s)
{
	u32 uid = current_proc->cred.euid;

	return uid == 0 || uid == s->uid || uid == s->cuid;
}

/* ---- shmget ---- */

static struct segment *segment_new(int key, size_t bytes, int flags)
{
	struct segment *s =
		vm_may_commit(VM_ACCOUNT, pages_of(bytes)) ? kzalloc(sizeof(*s), GFP_KERNEL) : NULL;
	char name[16];

	if (!s)
		return ERR_PTR(-ENOMEM);
	snprintf(name, sizeof(name), "SYSV%08x", (u32)key);
	s->file = shmem_file(name, bytes, O_RDWR);
	if (IS_ERR(s->file)) {
		void *err = s->file;

		kfree(s);
		return err;
	}
	s->key = key;
	s->mode = flags & 0777;
	s->uid = s->cuid = current_proc->cred.euid;
	s->gid = s->cgid = current_proc->cred.egid;
	s->bytes = bytes;
	s->refs = 1;
	s->cpid = current->tgid;
	s->ctime = shm_now();
	return s;
}

/* A free slot for s. => shm_lock; id or -ENOSPC */
static int insert_locked(struct segment *s)
{
	if ((long)nr_segments >= shmmni || (long)(total_pages + pages_of(s->bytes)) > shmall)
		return -ENOSPC;
	for (u32 i = 0; i < SHM_SLOTS; i++) {
		if (table[i])
			continue;
		s->id = i + (generation++ & 0x7fff) * SHM_SLOTS;
		table[i] = s;
		nr_segments++;
		total_pages += pages_of(s->bytes);
		return s->id;
	}
	return -ENOSPC;
}

static struct segment *find_key_locked(int key)
{
	for (u32 i = 0; key != IPC_PRIVATE && i < SHM_SLOTS; i++)
		if (table[i] && table[i]->key == key && !(table[i]->mode & SHM_DEST))
			return table[i];
	return NULL;
}

static int existing_locked(const struct segment *s, size_t bytes, int flags)
{
	if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return -EEXIST;
	if (bytes > s->bytes)
		return -EINVAL;
	return segment_allowed(s, (flags >> 6 | flags >> 3 | flags) & 6) ? s->id : -EACCES;
}

static int make_table(void)
{
	struct segment **t = kzalloc(SHM_SLOTS * sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	spin_lock(&shm_lock);
	if (!table)
		swap(table, t);
	spin_unlock(&shm_lock);
	kfree(t);
	return 0;
}

SYSCALL(shmget)
{
	int key = a0, flags = a2, id;
	struct segment *s, *fresh;
	size_t bytes = a1;

	if (!READ_ONCE(table) && make_table())
		return -ENOMEM;
	spin_lock(&shm_lock);
	s = find_key_locked(key);
	id = s ? existing_locked(s, bytes, flags) : -ENOENT;
	spin_unlock(&shm_lock);
	if (s || (key != IPC_PRIVATE && !(flags & IPC_CREAT)))
		return id;
	if (!bytes || bytes > (size_t)shmmax)
		return -EINVAL;
	fresh = segment_new(key, bytes, flags);
	if (IS_ERR(fresh))
		return PTR_ERR(fresh);
	spin_lock(&shm_lock);
	s = find_key_locked(key); /* somebody may have been faster */
	id = s ? existing_locked(s, bytes, flags) : insert_locked(fresh);
	spin_unlock(&shm_lock);
	if (s || id < 0)
		segment_put(fresh);
	return id;
}

/* ---- shmctl ---- */

struct user_ds { /* struct shmid64_ds */
	int key;
	u32 uid, gid, cuid, cgid, mode;
	u16 seq, pad;
	u64 unused1, unused2;
	u64 segsz;
	s64 atime, dtime, ctime;
	int cpid, lpid;
	u64 nattch, unused3, unused4;
};
_Static_assert(sizeof(struct user_ds) == 112, "layout of struct shmid64_ds");

static void fill_ds(const struct segment *s, struct user_ds *ds)
{
	*ds = (struct user_ds){
		.key = s->key,
		.uid = s->uid,
		.gid = s->gid,
		.cuid = s->cuid,
		.cgid = s->cgid,
		.mode = s->mode,
		.seq = s->id / SHM_SLOTS,
		.segsz = s->bytes,
		.atime = s->atime,
		.dtime = s->dtime,
		.ctime = s->ctime,
		.cpid = s->cpid,
		.lpid = s->lpid,
		.nattch = s->nattch,
	};
}

static long stat_segment(struct segment *s, u64 user, int cmd)
{
	struct user_ds ds;
	int id;

	spin_lock(&shm_lock);
	fill_ds(s, &ds);
	id = s->id;
	spin_unlock(&shm_lock);
	if (cmd != SHM_STAT_ANY && !segment_allowed(s, 4))
		return -EACCES;
	if (copy_to_user((void __user *)user, &ds, sizeof(ds)))
		return -EFAULT;
	return cmd == IPC_STAT ? 0 : id;
}

static long remove_segment(struct segment *s)
{
	bool gone = false;

	if (!owner(s))
		return -EPERM;
	spin_lock(&shm_lock);
	s->mode |= SHM_DEST;
	if (!s->nattch)
		gone = segment_remove_locked(s);
	spin_unlock(&shm_lock);
	if (gone)
		segment_put(s);
	return 0;
}

static long set_segment(struct segment *s, u64 user)
{
	struct user_ds ds;

	if (copy_from_user(&ds, (void __user *)user, sizeof(ds)))
		return -EFAULT;
	if (!owner(s))
		return -EPERM;
	spin_lock(&shm_lock);
	s->uid = ds.uid;
	s->gid = ds.gid;
	s->mode = (s->mode & ~0777u) | (ds.mode & 0777);
	s->ctime = shm_now();
	spin_unlock(&shm_lock);
	return 0;
}

static struct mapping *mapping_of(const struct segment *s)
{
	return s->file->inode->mapping;
}
/* Its pages, and how many of them are in swap: as good as two words read one by one can be. */
static unsigned long segment_swapped(const struct segment *s)
{
	return READ_ONCE(mapping_of(s)->nr_values);
}
static unsigned long segment_resident(const struct segment *s)
{
	unsigned long swapped = segment_swapped(s), pages = READ_ONCE(mapping_of(s)->nr_pages);

	return pages > swapped ? pages - swapped : 0;
}

/* Locked: what is in memory stays there. What is in swap comes back when it is touched. */
static long lock_segment(struct segment *s, bool on)
{
	if (!owner(s))
		return -EPERM;
	spin_lock(&shm_lock);
	s->mode = on ? s->mode | SHM_LOCKED : s->mode & ~SHM_LOCKED;
	if (on)
		mapping_of(s)->flags |= MAPF_UNEVICTABLE;
	else
		mapping_of(s)->flags &= ~MAPF_UNEVICTABLE;
	spin_unlock(&shm_lock);
	return 0;
}

/* Highest index in use, and the totals; what ipcs asks for. */
static long info(int cmd, u64 user)
{
	u64 limits[9] = { shmmax, 1, shmmni, shmmni, shmall };
	struct {
		int used;
		u64 total, resident, swapped, attempts, successes;
	} sum = { 0 };
	int top = 0;

	spin_lock(&shm_lock);
	for (int i = 0; table && i < SHM_SLOTS; i++)
		if (table[i]) {
			top = i;
			sum.resident += segment_resident(table[i]);
			sum.swapped += segment_swapped(table[i]);
		}
	sum.used = nr_segments;
	sum.total = total_pages;
	spin_unlock(&shm_lock);
	if (cmd == IPC_INFO ? copy_to_user((void __user *)user, limits, sizeof(limits))
			    : copy_to_user((void __user *)user, &sum, sizeof(sum)))
		return -EFAULT;
	return top;
}

static struct segment *segment_by_index(int index)
{
	struct segment *s = NULL;

	spin_lock(&shm_lock);
	if (table && index >= 0 && index < SHM_SLOTS && table[index]) {
		s = table[index];
		s->refs++;
	}
	spin_unlock(&shm_lock);
	return s;
}

SYSCALL(shmctl)
{
	int cmd = a1;
	struct segment *s;
	long ret;

	if (cmd == IPC_INFO || cmd == SHM_INFO)
		return info(cmd, a2);
	s = cmd == SHM_STAT || cmd == SHM_STAT_ANY ? segment_by_index(a0) : segment_get(a0);
	if (!s)
		return -EINVAL;
	switch (cmd) {
	case IPC_RMID:
		ret = remove_segment(s);
		break;
	case IPC_SET:
		ret = set_segment(s, a2);
		break;
	case IPC_STAT:
	case SHM_STAT:
	case SHM_STAT_ANY:
		ret = stat_segment(s, a2, cmd);
		break;
	case SHM_LOCK:
	case SHM_UNLOCK:
		ret = lock_segment(s, cmd == SHM_LOCK);
		break;
	default:
		ret = -EINVAL;
	}
	segment_put(s);
	return ret;
}

static int sysvipc_show(struct seq *seq)
{
	struct segment *s;

	seq_puts(seq, "       key      shmid perms                  size  cpid  lpid nattch   uid  "
		      " gid  cuid  cgid      atime"
		      "      dtime      ctime                   rss                  swap\n");
	for (int i = 0; i < SHM_SLOTS && READ_ONCE(table); i++) {
		s = segment_by_index(i);
		if (!s)
			continue;
		seq_printf(seq,
			   "%10d %10d  %4o %21lu %5u %5u  %5llu %5u %5u %5u %5u %10lld %10lld "
			   "%10lld %21lu %21lu\n",
			   s->key, s->id, s->mode, s->bytes, s->cpid, s->lpid,
			   (unsigned long long)s->nattch, s->uid, s->gid, s->cuid, s->cgid,
			   (long long)s->atime, (long long)s->dtime, (long long)s->ctime,
			   segment_resident(s) * PAGE_SIZE, segment_swapped(s) * PAGE_SIZE);
		segment_put(s);
	}
	return 0;
}
SHOW("/proc/sysvipc/shm", 0444, sysvipc_show, NULL);
