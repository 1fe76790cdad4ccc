// SPDX-License-Identifier: BSD-2-Clause
/* early.c - what stands in for rooms that are not there yet. */
#include "drivers/blk/internal.h"
#include "mm/reclaim/congestion.h"

__attribute__((weak)) int bdi_register(struct bdi *bdi)
{
	return 0;
}
__attribute__((weak)) void bdi_unregister(struct bdi *bdi) {}
__attribute__((weak)) void congestion_set(struct bdi *bdi, enum congestion_dir dir) {}
__attribute__((weak)) void congestion_clear(struct bdi *bdi, enum congestion_dir dir) {}
__attribute__((weak)) void congestion_wake(enum congestion_dir dir) {}
__attribute__((weak)) int queue_create(struct disk *disk)
{
	return -EOPNOTSUPP;
}
__attribute__((weak)) void queue_drain_dead(struct disk *disk) {}
__attribute__((weak)) void queue_destroy(struct disk *disk) {}
__attribute__((weak)) void queue_submit(struct bio *bio)
{
	bio_end(bio, -EOPNOTSUPP);
}
__attribute__((weak)) void queue_init(void) {}
__attribute__((weak)) void blk_plug_start(struct blk_plug *plug) {}
__attribute__((weak)) void blk_plug_finish(struct blk_plug *plug) {}
__attribute__((weak)) void blk_plug_flush_current(void) {}
__attribute__((weak)) void blk_end_request(struct request *rq, int error) {}
__attribute__((weak)) bool rq_next_piece(const struct request *rq, struct rq_iter *it)
{
	return false;
}
__attribute__((weak)) void blk_queue_kick(struct disk *disk) {}
