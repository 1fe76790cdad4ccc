// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_virtqueue.c - the split ring against a device of ten lines that lives in the test: order,
 * wrap-around of the 16-bit indexes, chains and indirect tables, the event index of both sides, and
 * a device that lies.
 */
// SOURCES: drivers/virtio/virtqueue.c
#include "drivers/virtio/virtqueue.h"
#include "lib/errno.h"
#include "tests/host/shim/host.h"

struct rig {
	struct virtqueue vq;
	void *memory;
	u16 *token_of;
	u16 bell, seen; /* the device: its doorbell register; how far it has read avail */
};

static void rig_make(struct rig *r, u32 size, bool indirect, bool event_idx)
{
	memset(r, 0, sizeof(*r));
	r->memory = aligned_alloc(64, ALIGN_UP(vq_ring_bytes(size), (size_t)64));
	memset(r->memory, 0, vq_ring_bytes(size));
	r->token_of = malloc(size * sizeof(u16));
	vq_init(&r->vq, size, r->memory, r->token_of, indirect, event_idx, "test");
	r->vq.doorbell = &r->bell;
	CHECK(vq_check(&r->vq));
}

static void rig_drop(struct rig *r)
{
	free(r->memory);
	free(r->token_of);
}

static struct vring_used *used_of(struct rig *r)
{
	return r->vq.used;
}

static u16 *avail_event(struct rig *r)
{
	return (u16 *)&r->vq.used->ring[r->vq.size];
}

static u16 used_event(struct rig *r)
{
	return r->vq.avail->ring[r->vq.size];
}

/* The device takes the next request: its head, VQ_NO_TOKEN when there is none. */
static u32 device_take(struct rig *r)
{
	if (r->seen == r->vq.avail->idx)
		return VQ_NO_TOKEN;
	return r->vq.avail->ring[r->seen++ & r->vq.mask];
}

/* It answers. => would it interrupt? */
static bool device_answer(struct rig *r, u32 id, u32 bytes)
{
	struct vring_used *u = used_of(r);
	u16 old = u->idx;

	u->ring[old & r->vq.mask] = (struct vring_used_elem){ id, bytes };
	u->idx = old + 1;
	if (!r->vq.event_idx)
		return !(r->vq.avail->flags & VRING_NO_INTERRUPT);
	return (u16)(u->idx - used_event(r) - 1) < (u16)(u->idx - old);
}

static struct vring_desc *table_of(u32 n)
{
	struct vring_desc *t = calloc(n, sizeof(*t));

	for (u32 i = 0; i < n; i++)
		t[i] = (struct vring_desc){ .addr = 0x1000 * (i + 1),
					    .len = 100 + i,
					    .flags = (i ? VRING_WRITE : 0) |
						     (i + 1 < n ? VRING_NEXT : 0),
					    .next = i + 1 };
	return t;
}

/* What the device finds behind a head is what was given. */
static void check_request(struct rig *r, u32 head, const struct vring_desc *t, u32 n)
{
	const struct vring_desc *d = &r->vq.desc[head];

	if (r->vq.indirect) {
		CHECK_EQ(d->flags, VRING_INDIRECT);
		CHECK_EQ(d->addr, (u64)(unsigned long)t);
		CHECK_EQ(d->len, n * sizeof(*t));
		return;
	}
	for (u32 i = 0; i < n; i++) {
		CHECK_EQ(d->addr, t[i].addr);
		CHECK_EQ(d->len, t[i].len);
		CHECK_EQ(d->flags & VRING_WRITE, t[i].flags & VRING_WRITE);
		CHECK_EQ(!!(d->flags & VRING_NEXT), i + 1 < n);
		d = &r->vq.desc[d->next];
	}
}

/*
 * Random adds and answers in random order, past the wrap of the indexes: every request comes back
 * once, with its own token and length.
 */
static void storm(u32 size, bool indirect, bool event_idx)
{
	struct rig r;
	u32 flying[256], heads[256], want[256] = { 0 }, n_dev = 0, n_flying = 0;
	u64 rounds = 200000, back = 0, given = 0;
	struct vring_desc *tables[256];
	u32 length[256];

	rig_make(&r, size, indirect, event_idx);
	for (u32 i = 0; i < size; i++) {
		length[i] = 1 + i % 5;
		tables[i] = table_of(length[i]);
		flying[i] = 0;
	}
	while (rounds--) {
		u32 token = host_random() % size, bytes;
		u16 got;
		int err;

		if (!flying[token] && (host_random() & 1)) {
			err = vq_add_locked(&r.vq, token, tables[token],
					    (unsigned long)tables[token], length[token]);
			CHECK(!err || (err == -EBUSY && !indirect));
			if (!err) {
				u32 head;

				flying[token] = 1;
				n_flying++;
				given++;
				head = device_take(&r);
				CHECK(head < size);
				check_request(&r, head, tables[token], length[token]);
				want[head] = token;
				heads[n_dev++] = head;
			}
		} else if (n_dev && (host_random() & 1)) {
			u32 i = host_random() % n_dev, head = heads[i];

			heads[i] = heads[--n_dev];
			device_answer(&r, head, 1000 + want[head]);
		}
		while ((host_random() & 3) == 0 && vq_take_locked(&r.vq, &got, &bytes)) {
			CHECK_EQ(bytes, 1000 + got);
			CHECK(flying[got]);
			flying[got] = 0;
			n_flying--;
			back++;
		}
		if (rounds % 1024 == 0)
			CHECK(vq_check(&r.vq));
	}
	CHECK_EQ(r.vq.in_flight, n_flying);
	CHECK_EQ(given, back + n_flying);
	CHECK(given > 40000 || (size < 16 && given > 20000));
	CHECK(!r.vq.broken);
	for (u32 i = 0; i < size; i++)
		free(tables[i]);
	rig_drop(&r);
}

HOST_TEST(indirect_storm)
{
	storm(256, true, true);
	storm(8, true, false);
}

HOST_TEST(chain_storm)
{
	storm(256, false, true);
	storm(16, false, false);
}

HOST_TEST(indexes_wrap)
{
	struct rig r;
	struct vring_desc *t = table_of(3);
	u32 bytes;
	u16 token;

	rig_make(&r, 4, false, true);
	for (u32 i = 0; i < 70000; i++) {
		CHECK_EQ(vq_add_locked(&r.vq, i & 3, t, 0, 3), 0);
		CHECK_EQ(vq_add_locked(&r.vq, 3 - (i & 3), t, 0, 2), -EBUSY);
		device_answer(&r, device_take(&r), i);
		CHECK(vq_take_locked(&r.vq, &token, &bytes));
		CHECK_EQ(token, i & 3);
		CHECK_EQ(bytes, i);
		CHECK(!vq_take_locked(&r.vq, &token, &bytes));
	}
	CHECK(vq_check(&r.vq));
	free(t);
	rig_drop(&r);
}

/* The bell rings exactly when the index passes what the device wrote down. */
HOST_TEST(bells)
{
	struct rig r;
	struct vring_desc *t = table_of(1);

	rig_make(&r, 8, true, true);
	*avail_event(&r) = 0;
	CHECK_EQ(vq_add_locked(&r.vq, 0, t, 0, 1), 0);
	CHECK(vq_must_kick_locked(&r.vq));
	CHECK(!vq_must_kick_locked(&r.vq)); /* nothing new */
	CHECK_EQ(vq_add_locked(&r.vq, 1, t, 0, 1), 0);
	CHECK(!vq_must_kick_locked(&r.vq)); /* it has not looked since: busy */
	*avail_event(&r) = 3;
	CHECK_EQ(vq_add_locked(&r.vq, 2, t, 0, 1), 0);
	CHECK(!vq_must_kick_locked(&r.vq));
	CHECK_EQ(vq_add_locked(&r.vq, 3, t, 0, 1), 0);
	CHECK_EQ(vq_add_locked(&r.vq, 4, t, 0, 1), 0);
	CHECK(vq_must_kick_locked(&r.vq)); /* two at once, the event among them */
	vq_kick(&r.vq);
	rig_drop(&r);

	rig_make(&r, 8, true, false);
	used_of(&r)->flags = VRING_NO_NOTIFY;
	CHECK_EQ(vq_add_locked(&r.vq, 0, t, 0, 1), 0);
	CHECK(!vq_must_kick_locked(&r.vq));
	used_of(&r)->flags = 0;
	CHECK(vq_must_kick_locked(&r.vq));
	rig_drop(&r);
	free(t);
}

/* Silent from the interrupt until unmask; unmask tells of what came meanwhile. */
HOST_TEST(interrupts)
{
	for (int event_idx = 0; event_idx < 2; event_idx++) {
		struct vring_desc *t = table_of(1);
		struct rig r;
		u32 bytes;
		u16 token;

		rig_make(&r, 8, true, event_idx);
		for (u32 i = 0; i < 4; i++)
			CHECK_EQ(vq_add_locked(&r.vq, i, t, 0, 1), 0);
		CHECK(vq_unmask_locked(&r.vq));
		CHECK(device_answer(&r, device_take(&r), 1));
		vq_mask_locked(&r.vq);
		CHECK(!device_answer(&r, device_take(&r), 1));
		CHECK(vq_take_locked(&r.vq, &token, &bytes));
		CHECK(!vq_unmask_locked(&r.vq)); /* one is there already */
		CHECK(vq_take_locked(&r.vq, &token, &bytes));
		CHECK(vq_unmask_locked(&r.vq));
		CHECK(device_answer(&r, device_take(&r), 1));
		rig_drop(&r);
		free(t);
	}
}

/* Answers that cannot be: the ring is broken, gives and takes nothing, and loses nothing. */
static void lie(u32 id, u32 times, bool twice)
{
	struct vring_desc *t = table_of(1);
	struct rig r;
	u32 bytes, lost = 0;
	u16 token;

	rig_make(&r, 8, true, true);
	for (u32 i = 0; i < 4; i++)
		CHECK_EQ(vq_add_locked(&r.vq, i, t, 0, 1), 0);
	for (u32 i = 0; i < times; i++)
		device_answer(&r, id, 1);
	if (twice)
		CHECK(vq_take_locked(&r.vq, &token, &bytes));
	CHECK(!r.vq.broken);
	CHECK(!vq_take_locked(&r.vq, &token, &bytes));
	CHECK(r.vq.broken);
	CHECK(!vq_take_locked(&r.vq, &token, &bytes));
	CHECK_EQ(vq_add_locked(&r.vq, 6, t, 0, 1), -EIO);
	while (vq_take_lost_locked(&r.vq) != VQ_NO_TOKEN)
		lost++;
	CHECK_EQ(lost, twice ? 3 : 4);
	CHECK_EQ(r.vq.in_flight, 0);
	rig_drop(&r);
	free(t);
}

HOST_TEST(lies)
{
	lie(8, 1, false);	   /* behind the table */
	lie(0xffffffff, 1, false); /* far behind it */
	lie(6, 1, false);	   /* not in flight */
	lie(1, 2, true);	   /* the same one twice */
	lie(1, 5, false);	   /* more than there are */
}

HOST_TEST(token_in_flight)
{
	struct vring_desc *t = table_of(1);
	struct rig r;

	rig_make(&r, 8, true, true);
	CHECK_EQ(vq_add_locked(&r.vq, 5, t, 0, 1), 0);
	CHECK_EQ(vq_add_locked(&r.vq, 5, t, 0, 1), -EINVAL);
	CHECK(vq_check(&r.vq));
	rig_drop(&r);
	free(t);
}
