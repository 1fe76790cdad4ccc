// SPDX-License-Identifier: BSD-2-Clause
/* test_errseq.c - an error is told once to every observer. */
// SOURCES:
#include "host.h"
#include "lib/errno.h"
#include "lib/errseq.h"

HOST_TEST(told_once_to_each)
{
	errseq_t e = 0, a = errseq_sample(&e), b = errseq_sample(&e);

	CHECK_EQ(errseq_check(&e, a), 0);
	CHECK_EQ(errseq_check_and_advance(&e, &a), 0);
	errseq_set(&e, -EIO);
	CHECK_EQ(errseq_check(&e, a), -EIO);
	CHECK_EQ(errseq_check_and_advance(&e, &a), -EIO);
	CHECK_EQ(errseq_check_and_advance(&e, &a), 0);
	CHECK_EQ(errseq_check_and_advance(&e, &b), -EIO);
	CHECK_EQ(errseq_check_and_advance(&e, &b), 0);
}

HOST_TEST(repeated_unseen_is_one)
{
	errseq_t e = 0, a = errseq_sample(&e), before;

	errseq_set(&e, -EIO);
	before = e;
	for (int i = 0; i < 100; i++)
		errseq_set(&e, -EIO);
	CHECK_EQ(e, before);
	errseq_set(&e, -ENOSPC); /* the last one counts */
	CHECK_EQ(errseq_check_and_advance(&e, &a), -ENOSPC);
	CHECK_EQ(errseq_check_and_advance(&e, &a), 0);
	/* the same error again, after it was seen, is news */
	errseq_set(&e, -ENOSPC);
	CHECK_EQ(errseq_check_and_advance(&e, &a), -ENOSPC);
}

HOST_TEST(who_comes_later)
{
	errseq_t e = 0, first = errseq_sample(&e), late;

	errseq_set(&e, -EIO);
	late = errseq_sample(&e); /* nobody was told yet: still news to one who opens now */
	CHECK_EQ(errseq_check_and_advance(&e, &late), -EIO);
	CHECK_EQ(errseq_check_and_advance(&e, &first), -EIO);
	late = errseq_sample(&e); /* told: not any more */
	CHECK_EQ(errseq_check_and_advance(&e, &late), 0);
}

/* Any mixture of errors and observers: each is told exactly when there was news since it looked. */
HOST_TEST(random_mixture)
{
	errseq_t e = 0, since[8];
	int news[8] = { 0 };

	for (int i = 0; i < 8; i++)
		since[i] = errseq_sample(&e);
	for (int n = 0; n < 20000; n++) {
		uint64_t r = host_random();
		int who = r % 8;

		if (r >> 32 & 1) {
			int err = r >> 33 & 1 ? -EIO : -ENOSPC;

			errseq_set(&e, err);
			for (int i = 0; i < 8; i++)
				news[i] = err;
		} else {
			int err = errseq_check_and_advance(&e, &since[who]);

			CHECK_EQ(err, news[who]);
			news[who] = 0;
		}
	}
}
