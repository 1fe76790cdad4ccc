/* SPDX-License-Identifier: BSD-2-Clause */
/* The test floor itself: a failing check is seen, a panic is caught, random numbers repeat. */
// SOURCES:
#include "host.h"

#include "kernel/bug.h"

static void panics(void)
{
	panic("number %d", 7);
}

static void does_not(void) {}

HOST_TEST(panic_is_caught)
{
	CHECK(host_panics(panics));
	CHECK_STR(host_panic_text, "number 7");
	CHECK(!host_panics(does_not));
}

HOST_TEST(random_repeats)
{
	/* splitmix64 from the default seed; another SEED gives other numbers */
	uint64_t first = host_random();

	CHECK(first != host_random());
	if (!getenv("SEED"))
		CHECK(first == 0x910a2dec89025cc1u);
}
