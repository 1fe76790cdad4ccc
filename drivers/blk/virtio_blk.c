// SPDX-License-Identifier: BSD-2-Clause
/*
 * virtio_blk.c - disks behind virtio.
 *
 * A request becomes a table of descriptors: a header of 16 bytes (what, where), the data, one byte
 * of status that the device writes. Each tag of the block layer owns a slot with header, status and
 * table, made once, so that a request costs filling in the table and a few stores into the ring;
 * nothing is allocated and no list is kept. The tag is the ring's token.
 *
 * Queues: one per CPU (at most 8), each with its own interrupt on that CPU, if the device has that
 * many. A request goes into the queue of the CPU that starts it.
 *
 * End: the interrupt takes at most 32 requests off its ring and ends them; what is left is taken by
 * the softirq in further batches of 32 (drivers/virtio/poll.c), during which the ring is silent.
 *
 * What the device says is checked: status, the number of bytes it claims to have written, and every
 * number of its configuration. A read that claims fewer bytes than asked for is an error, not old
 * memory.
 * Locking: one ring's lock at a time, interrupts off. Source: VIRTIO 1.1, 5.2; [virtio].
 */
#include "drivers/blk/virtio_blk.h"
#include "arch/init.h"
#include "arch/mmu.h"
#include "arch/smp.h"
#include "drivers/blk/blk.h"
#include "drivers/blk/create.h"
#include "drivers/virtio/virtio.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/wait.h"

#define F_SIZE_MAX 1 /* feature bits */
#define F_SEG_MAX 2
#define F_RO 5
#define F_BLK_SIZE 6
#define F_FLUSH 9
#define F_TOPOLOGY 10
#define F_CONFIG_WCE 11
#define F_MQ 12
#define F_DISCARD 13
#define F_WRITE_ZEROES 14

enum { T_IN = 0, T_OUT = 1, T_FLUSH = 4, T_GET_ID = 8, T_DISCARD = 11, T_WRITE_ZEROES = 13 };
enum { S_OK = 0, S_IOERR = 1, S_UNSUPP = 2, S_NONE = 0xff /* ours: not answered */ };
#define UNMAP 1u /* flag of a WRITE_ZEROES range: need not keep the space */

#define MAX_QUEUES 8u
#define RING_SIZE 256u
#define MAX_DEPTH 128u
#define MAX_SEGMENTS 126u /* with header and status a table of 128: 2 KiB */
#define TAKE_BATCH 32u
#define ID_BYTES 20u

/* The device's configuration. */
struct vblk_config {
	u64 capacity; /* sectors of 512, whatever blk_size says */
	u32 size_max, seg_max;
	u8 geometry[4];
	u32 blk_size;
	u8 physical_exp, alignment;
	u16 min_io;
	u32 opt_io;
	u8 writeback, unused0;
	u16 num_queues;
	u32 max_discard_sectors, max_discard_seg, discard_alignment;
	u32 max_zero_sectors, max_zero_seg;
	u8 zero_may_unmap, unused1[3];
} __packed;

/* One request in flight. The device reads and writes the first three. */
struct slot {
	struct {
		u32 type, priority;
		u64 sector;
	} header;
	struct {
		u64 sector;
		u32 nr_sectors, flags;
	} range; /* DISCARD, WRITE_ZEROES */
	u8 status;
	struct request *rq; /* NULL: the question for the serial number */
	struct vring_desc *table;
} __cacheline_aligned;

struct vblk_queue {
	struct virtqueue *vq;
	struct virtio_poll poll;
	struct vblk *vb;
	bool outside; /* counted in sched_outside (vq->lock) */
} __cacheline_aligned;

struct vblk {
	struct virtio_device *dev;
	struct disk *disk;
	struct slot *slots; /* by tag */
	u32 depth, nr_queues, max_segments;
	u32 max_segment_bytes, max_zero_sectors;
	u64 errors; /* requests the device failed */
	struct wait_queue id_wait;
	u32 id_done;
	char id[ID_BYTES + 4];
	struct vblk *next;
	struct vblk_queue queues[MAX_QUEUES];
};
static struct vblk *first_vblk, **last_vblk = &first_vblk; /* only added to, at boot */

/* ---- start ---- */

static inline struct vring_desc *put(struct vring_desc *d, u64 pa, u32 len, u16 flags)
{
	d->addr = pa;
	d->len = len;
	d->flags = flags;
	return d + 1;
}

static inline u64 vec_pa(const struct bio_vec *v)
{
	return v->page ? page_to_phys(v->page) + v->off : __pa(v->addr);
}

/*
 * The data of a request behind its header; neighbours in memory become one piece. => behind the
 * last, NULL: more pieces than the disk's limits allow
 */
static struct vring_desc *put_data(const struct vblk *vb, const struct request *rq,
				   struct vring_desc *first)
{
	struct vring_desc *d = first, *end = first + vb->max_segments;
	u16 flags = VRING_NEXT | (rq->op == BIO_READ ? VRING_WRITE : 0);
	u64 next = 0;

	for (const struct bio *bio = rq->bio; bio; bio = bio->next) {
		for (const struct bio_vec *v = bio->vecs, *last = v + bio->nr_vecs; v < last; v++) {
			u64 pa = vec_pa(v);

			if (pa == next && d > first &&
			    d[-1].len + v->len <= vb->max_segment_bytes) {
				d[-1].len += v->len;
			} else {
				if (unlikely(d == end))
					return NULL;
				d = put(d, pa, v->len, flags);
			}
			next = pa + v->len;
		}
		if (bio == rq->last_bio)
			break;
	}
	return d;
}

static struct vring_desc *put_range(const struct request *rq, struct slot *s, struct vring_desc *d)
{
	s->range.sector = rq->sector;
	s->range.nr_sectors = rq->nr_sectors;
	s->range.flags = rq->op == BIO_WRITE_ZEROES ? UNMAP : 0;
	s->header.sector = 0;
	return put(d, __pa(&s->range), sizeof(s->range), VRING_NEXT);
}

/* Header and data of a request into its slot. => descriptors without the status; -errno */
static int fill(const struct vblk *vb, const struct request *rq, struct slot *s)
{
	static const u8 types[NR_BIO_OPS] = {
		[BIO_READ] = T_IN,
		[BIO_WRITE] = T_OUT,
		[BIO_FLUSH] = T_FLUSH,
		[BIO_DISCARD] = T_DISCARD,
		[BIO_WRITE_ZEROES] = T_WRITE_ZEROES,
	};
	struct vring_desc *d = s->table + 1;

	s->header.type = types[rq->op];
	s->header.sector = rq->sector;
	if (likely(rq->op <= BIO_WRITE)) {
		d = put_data(vb, rq, d);
		if (unlikely(!d)) {
			pr_warn_once("%s: a request with more than %u pieces of memory",
				     vb->disk->name, vb->max_segments);
			return -EIO;
		}
	} else if (rq->op == BIO_FLUSH) {
		s->header.sector = 0;
	} else {
		if (rq->op == BIO_WRITE_ZEROES && rq->nr_sectors > vb->max_zero_sectors)
			return -EOPNOTSUPP;
		d = put_range(rq, s, d);
	}
	return d - s->table;
}

/* The queue of this CPU. The block layer stays on one CPU from queue_rq to commit. */
static inline struct vblk_queue *this_queue(struct vblk *vb)
{
	u32 cpu = smp_processor_id();

	return &vb->queues[cpu < vb->nr_queues ? cpu : cpu % vb->nr_queues];
}

/* The counted clock stands by while the host works. => vq->lock */
static void note_outside_locked(struct vblk_queue *q)
{
	bool busy = q->vq->in_flight != 0;

	if (busy != q->outside) {
		q->outside = busy;
		atomic_add(busy ? 1 : -1, &sched_outside);
	}
}

static int vblk_queue_rq(struct disk *disk, struct request *rq)
{
	struct vblk *vb = disk->private;
	struct vblk_queue *q = this_queue(vb);
	struct virtqueue *vq = q->vq;
	struct slot *s = &vb->slots[rq->tag];
	unsigned long flags;
	int n = fill(vb, rq, s), err;

	if (unlikely(n < 0))
		return n;
	s->rq = rq;
	s->status = S_NONE;
	put(s->table + n, __pa(&s->status), 1, VRING_WRITE);
	rq->driver_data[0] = (unsigned long)vq;
	spin_lock_irqsave_l(&vq->lock, flags, "virtio_blk_start");
	err = vq_add_locked(vq, rq->tag, s->table, __pa(s->table), n + 1);
	if (arch_clock_is_virtual)
		note_outside_locked(q);
	spin_unlock_irqrestore_l(&vq->lock, flags, "virtio_blk_start");
	return err;
}

/* The bell rings once for all requests of a run. */
static void vblk_commit(struct disk *disk)
{
	struct virtqueue *vq = this_queue(disk->private)->vq;
	unsigned long flags;
	bool kick;

	spin_lock_irqsave_l(&vq->lock, flags, "virtio_blk_start");
	kick = vq_must_kick_locked(vq);
	spin_unlock_irqrestore_l(&vq->lock, flags, "virtio_blk_start");
	if (kick)
		vq_kick(vq);
}

/* ---- end ---- */

/* What became of a request; bytes: how many the device says it wrote. 0 or -errno */
static int outcome(struct vblk *vb, const struct slot *s, u32 bytes)
{
	const struct request *rq = s->rq;
	u32 want = 1 + (rq->op == BIO_READ ? rq->nr_sectors * SECTOR_SIZE : 0);

	if (likely(s->status == S_OK && bytes == want))
		return 0;
	vb->errors++;
	if (s->status == S_UNSUPP)
		return -EOPNOTSUPP;
	if (s->status == S_OK && (rq->op != BIO_READ && bytes <= 1)) {
		vb->errors--; /* some devices do not count the byte of status */
		return 0;
	}
	if (s->status == S_OK)
		pr_warn_once("%s: the device says it wrote %u bytes of %u", vb->disk->name, bytes,
			     want);
	return -EIO;
}

static void end_one(struct vblk *vb, u16 token, u32 bytes)
{
	struct slot *s = &vb->slots[token];
	struct request *rq = s->rq;

	if (likely(rq)) {
		blk_end_request(rq, outcome(vb, s, bytes));
		return;
	}
	WRITE_ONCE(vb->id_done, 1);
	wake_up(&vb->id_wait);
}

/*
 * Takes at most TAKE_BATCH requests off a ring and ends them. true: there may be more, and the ring
 * stays silent; false: the next one interrupts. => any context
 */
static bool take(struct vblk_queue *q, bool from_interrupt)
{
	struct virtqueue *vq = q->vq;
	struct {
		u16 token;
		u32 bytes;
	} done[TAKE_BATCH];
	unsigned long flags;
	bool more = true, broken;
	u32 n = 0;

	spin_lock_irqsave_l(&vq->lock, flags, "virtio_blk_end");
	vq->interrupts += from_interrupt;
	do {
		while (n < TAKE_BATCH && vq_take_locked(vq, &done[n].token, &done[n].bytes))
			n++;
		if (n == TAKE_BATCH)
			vq_mask_locked(vq);
		else
			more = !vq_unmask_locked(vq);
	} while (more && n < TAKE_BATCH);
	broken = vq->broken;
	if (arch_clock_is_virtual)
		note_outside_locked(q);
	irq_work(n);
	spin_unlock_irqrestore_l(&vq->lock, flags, "virtio_blk_end");
	for (u32 i = 0; i < n; i++)
		end_one(q->vb, done[i].token, done[i].bytes);
	if (unlikely(broken) && !q->vb->dev->dead)
		virtio_fail(q->vb->dev);
	return more && !broken;
}

static void vblk_interrupt(void *arg)
{
	struct vblk_queue *q = arg;

	if (q->vq && take(q, true))
		virtio_poll_later(&q->poll);
}

static bool vblk_poll(struct virtio_poll *p)
{
	return take(container_of(p, struct vblk_queue, poll), false);
}

/*
 * A request is overdue: perhaps its interrupt was lost, so look. If the device has it, it keeps its
 * time: a slow medium is no failure, and memory the device may still write cannot be taken back.
 */
static void vblk_timeout(struct disk *disk, struct request *rq)
{
	struct vblk *vb = disk->private;
	struct virtqueue *vq = (void *)rq->driver_data[0];

	for (u32 i = 0; i < vb->nr_queues; i++)
		if (vb->queues[i].vq == vq && take(&vb->queues[i], false))
			virtio_poll_later(&vb->queues[i].poll);
	pr_warn_once("%s: the device takes very long over a request", disk->name);
}

/* ---- the device changes or fails ---- */

static void vblk_config_changed(struct virtio_device *dev)
{
	struct vblk *vb = dev->private;
	u64 capacity, old = vb->disk->nr_sectors;

	virtio_config_read(dev, 0, &capacity, sizeof(capacity));
	capacity &= ~(u64)(vb->disk->limits.logical_block / SECTOR_SIZE - 1);
	if (capacity == old || !capacity)
		return;
	pr_notice("%s: now %llu sectors (%llu before)", vb->disk->name,
		  (unsigned long long)capacity, (unsigned long long)old);
	disk_set_size(vb->disk, capacity);
}

/* Ends at most 32 of the requests nobody will answer. => false: none left */
static bool end_lost(struct vblk *vb, struct vblk_queue *q)
{
	struct virtqueue *vq = q->vq;
	struct request *lost[TAKE_BATCH];
	unsigned long flags;
	u32 n = 0;
	u16 token;

	spin_lock_irqsave_l(&vq->lock, flags, "virtio_blk_lost");
	vq->broken = 1;
	while (n < TAKE_BATCH && (token = vq_take_lost_locked(vq)) != VQ_NO_TOKEN)
		lost[n++] = vb->slots[token].rq;
	if (arch_clock_is_virtual)
		note_outside_locked(q);
	spin_unlock_irqrestore_l(&vq->lock, flags, "virtio_blk_lost");
	for (u32 i = 0; i < n; i++)
		if (lost[i])
			blk_end_request(lost[i], -EIO);
	return n;
}

static void vblk_lost(struct virtio_device *dev)
{
	struct vblk *vb = dev->private;

	for (u32 i = 0; i < vb->nr_queues; i++)
		while (end_lost(vb, &vb->queues[i]))
			;
}

static void vblk_show(struct disk *disk, struct seq *seq)
{
	const struct vblk *vb = disk->private;

	seq_printf(seq, "virtio-blk %s %s queues %u depth %u segments %u errors %llu serial %s\n",
		   vb->dev->name, vb->dev->pci->name, vb->nr_queues, vb->depth, vb->max_segments,
		   (unsigned long long)vb->errors, vb->id[0] ? vb->id : "-");
}

/* ---- birth ---- */

static void vblk_free(struct vblk *vb)
{
	for (u32 i = 0; vb->slots && i < vb->depth; i++)
		kfree(vb->slots[i].table);
	kfree(vb->slots);
	kfree(vb);
}

/* One slot with its table per tag. */
static int make_slots(struct vblk *vb)
{
	vb->slots = kzalloc(vb->depth * sizeof(*vb->slots), GFP_KERNEL);
	for (u32 i = 0; vb->slots && i < vb->depth; i++) {
		struct slot *s = &vb->slots[i];

		s->table = kzalloc((vb->max_segments + 2) * sizeof(*s->table), GFP_KERNEL);
		if (!s->table)
			return -ENOMEM;
		for (u32 d = 0; d < vb->max_segments + 2; d++)
			s->table[d].next = d + 1;
		put(s->table, __pa(&s->header), sizeof(s->header), VRING_NEXT);
	}
	return vb->slots ? 0 : -ENOMEM;
}

static int make_queues(struct vblk *vb, const struct vblk_config *c)
{
	struct virtio_device *dev = vb->dev;
	u32 n = virtio_has(dev, F_MQ) && c->num_queues ? c->num_queues : 1;

	n = min(min(n, nr_cpus), min(MAX_QUEUES, max(virtio_queue_vectors(dev), 1u)));
	vb->depth = MAX_DEPTH;
	for (u32 i = 0; i < n; i++) {
		struct vblk_queue *q = &vb->queues[i];

		q->vb = vb;
		q->poll.poll = vblk_poll;
		q->vq = virtio_queue(dev, i, RING_SIZE, vblk_interrupt, q, i);
		if (!q->vq)
			return -EIO;
		vb->depth = min_t(u32, vb->depth, q->vq->size);
	}
	vb->nr_queues = n;
	return 0;
}

/* Numbers of the configuration that make no sense; NULL: all good. */
static const char *senseless(const struct vblk *vb, const struct vblk_config *c, u64 *value)
{
	const struct virtio_device *dev = vb->dev;

	*value = c->blk_size;
	if (virtio_has(dev, F_BLK_SIZE) && (c->blk_size < SECTOR_SIZE || c->blk_size > PAGE_SIZE ||
					    (c->blk_size & (c->blk_size - 1))))
		return "a block size of";
	*value = c->size_max;
	if (virtio_has(dev, F_SIZE_MAX) && c->size_max < PAGE_SIZE)
		return "pieces of at most";
	*value = c->capacity;
	if (!c->capacity || c->capacity > U64_MAX / SECTOR_SIZE / 2)
		return "a capacity in sectors of";
	return NULL;
}

static void set_limits(struct vblk *vb, const struct vblk_config *c)
{
	struct virtio_device *dev = vb->dev;
	struct disk_limits *l = &vb->disk->limits;
	u32 block = virtio_has(dev, F_BLK_SIZE) ? c->blk_size : SECTOR_SIZE;
	u8 exp = virtio_has(dev, F_TOPOLOGY) && c->physical_exp < 12 ? c->physical_exp : 0;

	vb->disk->nr_sectors = c->capacity & ~(u64)(block / SECTOR_SIZE - 1);
	*l = (struct disk_limits){
		.max_segments = vb->max_segments,
		.max_segment_bytes = vb->max_segment_bytes,
		.logical_block = block,
		.physical_block = min_t(u32, block << exp, MiB(1)),
		.queue_depth = vb->depth,
		.nr_hw_queues = vb->nr_queues,
		.write_cache = virtio_has(dev, F_FLUSH) &&
			       (!virtio_has(dev, F_CONFIG_WCE) || c->writeback),
		.read_only = virtio_has(dev, F_RO),
		.discard = virtio_has(dev, F_DISCARD) && c->max_discard_sectors,
		.write_zeroes = virtio_has(dev, F_WRITE_ZEROES) && c->max_zero_sectors,
	};
	if (l->discard)
		l->max_discard_sectors = c->max_discard_sectors;
	if (l->write_zeroes)
		vb->max_zero_sectors = c->max_zero_sectors;
}

/* Asks for the serial number. 0, or -EIO: no answer within two seconds (then it is no disk). */
static int ask_id(struct vblk *vb)
{
	struct virtqueue *vq = vb->queues[0].vq;
	struct slot *s = &vb->slots[0];
	unsigned long flags;
	int err;

	s->header.type = T_GET_ID;
	put(s->table + 1, __pa(vb->id), ID_BYTES, VRING_NEXT | VRING_WRITE);
	put(s->table + 2, __pa(&s->status), 1, VRING_WRITE);
	s->status = S_NONE;
	spin_lock_irqsave_l(&vq->lock, flags, "virtio_blk_start");
	err = vq_add_locked(vq, 0, s->table, __pa(s->table), 3);
	vq_must_kick_locked(vq);
	if (arch_clock_is_virtual)
		note_outside_locked(&vb->queues[0]);
	spin_unlock_irqrestore_l(&vq->lock, flags, "virtio_blk_start");
	if (err)
		return err;
	vq_kick(vq);
	wait_event_until(&vb->id_wait, READ_ONCE(vb->id_done), ktime_get() + 2 * NSEC_PER_SEC);
	if (!vb->id_done)
		return -EIO;
	if (s->status != S_OK)
		vb->id[0] = 0;
	for (u32 i = 0; i < ID_BYTES && vb->id[i]; i++)
		if (vb->id[i] < ' ' || vb->id[i] > '~')
			vb->id[i] = '?';
	return 0;
}

static const struct disk_ops vblk_ops = {
	.queue_rq = vblk_queue_rq,
	.commit = vblk_commit,
	.timeout = vblk_timeout,
	.show = vblk_show,
};

static int add_disk(struct vblk *vb, const struct vblk_config *c)
{
	char name[DISK_NAME];
	int err = disk_letter_next("vd", name);

	if (err < 0)
		return err;
	vb->disk = disk_alloc(name, &vblk_ops, vb);
	if (!vb->disk)
		return -ENOMEM;
	set_limits(vb, c);
	err = disk_add(vb->disk);
	if (err) {
		disk_put(vb->disk);
		return err;
	}
	*last_vblk = vb;
	last_vblk = &vb->next;
	pr_info("%s: %llu sectors, %u queues of %u%s%s (%s)", name,
		(unsigned long long)vb->disk->nr_sectors, vb->nr_queues, vb->queues[0].vq->size,
		vb->disk->limits.read_only ? ", read-only" : "",
		vb->disk->limits.write_cache ? ", write cache" : "", vb->dev->pci->name);
	return 0;
}

static int vblk_setup(struct vblk *vb)
{
	struct virtio_device *dev = vb->dev;
	struct vblk_config c;
	const char *what;
	u64 value;
	int err;

	virtio_config_read(dev, 0, &c, sizeof(c));
	what = senseless(vb, &c, &value);
	if (what) {
		pr_warn("virtio_blk: %s has %s %llu: not used", dev->pci->name, what,
			(unsigned long long)value);
		return -EINVAL;
	}
	vb->max_segments = virtio_has(dev, F_SEG_MAX) ? clamp(c.seg_max, 1u, MAX_SEGMENTS) : 1;
	vb->max_segment_bytes = virtio_has(dev, F_SIZE_MAX) ? c.size_max : (u32)MiB(4);
	err = make_queues(vb, &c);
	if (err)
		return err;
	if (!virtio_has(dev, VIRTIO_F_INDIRECT_DESC))
		vb->max_segments = min_t(u32, vb->max_segments, vb->queues[0].vq->size - 2);
	err = make_slots(vb);
	if (!err)
		err = virtio_ready(dev);
	if (!err)
		err = ask_id(vb);
	return err ? err : add_disk(vb, &c);
}

static int vblk_probe(struct virtio_device *dev)
{
	struct vblk *vb = kzalloc(sizeof(*vb), GFP_KERNEL);
	int err = -ENOMEM;

	if (vb) {
		vb->dev = dev;
		dev->private = vb;
		wait_queue_init(&vb->id_wait);
		err = vblk_setup(vb);
	}
	if (!err)
		return 0;
	pr_warn("virtio_blk: %s is no disk: error %d", dev->pci->name, -err);
	virtio_shutdown(dev); /* before the memory goes that it may write */
	if (vb)
		vblk_free(vb);
	return err;
}

void virtio_blk_init(void)
{
	static const struct virtio_driver driver = {
		.name = "virtio_blk",
		.type = VIRTIO_BLOCK,
		.features = BIT(F_SIZE_MAX) | BIT(F_SEG_MAX) | BIT(F_RO) | BIT(F_BLK_SIZE) |
			    BIT(F_FLUSH) | BIT(F_TOPOLOGY) | BIT(F_CONFIG_WCE) | BIT(F_MQ) |
			    BIT(F_DISCARD) | BIT(F_WRITE_ZEROES),
		.probe = vblk_probe,
		.config_changed = vblk_config_changed,
		.lost = vblk_lost,
	};

	virtio_register_driver(&driver);
}

/* ---- /sys/block/vda/serial ---- */

static const struct vblk *nth(long i)
{
	const struct vblk *vb = first_vblk;

	while (vb && i--)
		vb = vb->next;
	return vb;
}

static int serial_nr(void)
{
	int n = 0;

	while (nth(n))
		n++;
	return n;
}

static const char *serial_name(long i)
{
	return nth(i)->disk->name;
}

static int serial_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", nth(seq->index)->id);
	return 0;
}
SHOW_NAMED("/sys/block/%s/serial", 0444, serial_nr, serial_name, serial_show, NULL);
