/* SPDX-License-Identifier: BSD-2-Clause */
/* test_param.c - the command line parser, switches, tunables, the registry of files. */
#include "tests/kernel/ktest.h"

#include "kernel/param.h"
#include "lib/errno.h"
#include "lib/string.h"

static u32 number = 1;
static bool flag;
static u64 size;
static char string[8];
static int func_calls;

static int func(const char *text)
{
	func_calls++;
	return strcmp(text, "good") ? -EINVAL : 0;
}
BOOT_PARAM_UINT("kt_number", number, 1, 9, "test");
BOOT_PARAM_BOOL("kt_flag", flag, "test");
BOOT_PARAM_SIZE("kt_size", size, 0, GiB(1), "test");
BOOT_PARAM_STRING("kt_string", string, "test");
BOOT_PARAM_FUNC("kt_func", func, "test");
BOOT_PARAM_WORD("kt_word", "test");
DEFINE_SWITCH(kt_switch, 2, 0, 2, "none", "a switch of the tests");
static long tunable = 5;
static int changes;

static void changed(void)
{
	changes++;
}
TUNABLE("kernel/kt_tunable", tunable, 0, 10, changed);

KTEST(param, values)
{
	params_parse("kt_number=7 kt_flag kt_size=64M kt_string=abc kt_func=good");
	KT_EQ(number, 7);
	KT_ASSERT(flag);
	KT_EQ(size, MiB(64));
	KT_ASSERT(!strcmp(string, "abc"));
	KT_EQ(func_calls, 1);
	params_parse("kt_number=10 kt_number=x kt_string=12345678 kt_size=2G kt_flag=maybe");
	KT_EQ(number, 7);
	KT_ASSERT(flag);
	KT_EQ(size, MiB(64));
	KT_ASSERT(!strcmp(string, "abc"));
}

KTEST(param, quotes)
{
	params_parse("kt_word=\"a b\" kt_string='x y'");
	KT_ASSERT(!strcmp(param_get("kt_word"), "a b"));
	KT_ASSERT(!strcmp(string, "x y"));
	params_parse("\"kt_word=one 'two' \\\"three\\\"\""); /* as GRUB hands it over */
	KT_ASSERT(!strcmp(param_get("kt_word"), "one 'two' \"three\""));
	params_parse("kt_word=a\\\\b");
	KT_ASSERT(!strcmp(param_get("kt_word"), "a\\b"));
	params_parse("kt_word=");
	KT_ASSERT(!strcmp(param_get("kt_word"), ""));
	KT_ASSERT(!param_get("kt_nothing"));
}

KTEST(param, words_for_init)
{
	unsigned int n = 0, before;

	while (param_init_arg(n))
		n++;
	before = number;
	params_parse("kt_stray -- kt_number=3 last");
	KT_ASSERT(!strcmp(param_init_arg(n), "kt_stray"));
	KT_ASSERT(!strcmp(param_init_arg(n + 1), "kt_number=3"));
	KT_ASSERT(!strcmp(param_init_arg(n + 2), "last"));
	KT_ASSERT(!param_init_arg(n + 3));
	KT_EQ(number, before);
}

/* What is named wins over the preset, wherever it stands. */
KTEST(param, era)
{
	struct quire_switch *s = switch_find("dirtyable");
	static u32 before[64];
	size_t n = __switches_end - __switches_start;

	KT_ASSERT(s && n <= ARRAY_SIZE(before));
	for (size_t i = 0; i < n; i++) /* a preset turns many: later tests want them as they were */
		before[i] = __switches_start[i].value;
	params_parse("era=4.18");
	KT_EQ(s->value, 1);
	params_parse("dirtyable=1 era=2.6.37");
	KT_EQ(s->value, 1);
	params_parse("era=2.6.37");
	KT_EQ(s->value, 0);
	params_parse("era=9.9");
	KT_EQ(s->value, 0);
	for (size_t i = 0; i < n; i++)
		WRITE_ONCE(__switches_start[i].value, before[i]);
}

KTEST(param, switches)
{
	long index;
	struct show_entry *e = show_find("/sys/kernel/quire/switches/kt_switch/value", &index);
	char buf[16] = "";
	struct seq seq = { .buf = buf, .size = sizeof(buf) - 1 };

	KT_EQ(switch_value(kt_switch), 2);
	params_parse("kt_switch=1");
	KT_EQ(switch_value(kt_switch), 1);
	params_parse("kt_switch=3 kt_switch=-1 kt_switch=");
	KT_EQ(switch_value(kt_switch), 1);
	KT_ASSERT(e);
	seq.index = index;
	e->show(&seq);
	KT_ASSERT(!strcmp(buf, "1\n"));
	KT_EQ(e->store("0\n", 2, index), 2);
	KT_EQ(switch_value(kt_switch), 0);
	KT_EQ(e->store("9", 1, index), -EINVAL);
	KT_EQ(switch_value(kt_switch), 0);
	switch_store(&switch_kt_switch, "2");
}

KTEST(param, tunables)
{
	long index;
	struct show_entry *e = show_find("/proc/sys/kernel/kt_tunable", &index);

	params_parse("sysctl.kernel.kt_tunable=3");
	KT_EQ(tunable, 3);
	KT_EQ(changes, 0); /* boot time: the owner reads it later */
	KT_ASSERT(e);
	KT_EQ(e->store("4\n", 2, index), 2);
	KT_EQ(tunable, 4);
	KT_EQ(changes, 1);
	KT_EQ(e->store("99", 2, index), 2);
	KT_EQ(tunable, 10);			  /* clamped */
	KT_EQ(e->store("-1", 2, index), -EINVAL); /* refused, not made the minimum */
	KT_EQ(tunable, 10);
	KT_EQ(e->store("x", 1, index), -EINVAL);
	KT_EQ(tunable, 10);
}

static char drained[512];
static size_t nr_drained;

static void drain(struct seq *seq)
{
	memcpy(drained + nr_drained, seq->buf, seq->count);
	nr_drained += seq->count;
	seq->count = 0;
}

KTEST(param, seq_counts_and_flushes)
{
	char small[8];
	struct seq seq = { .buf = small, .size = sizeof(small) };

	seq_printf(&seq, "%s", "0123456789");
	KT_ASSERT(seq.count > seq.size);
	seq = (struct seq){ .buf = small, .size = sizeof(small) };
	seq_puts(&seq, "01234567");
	KT_EQ(seq.count, 8);
	seq = (struct seq){ .buf = small, .size = sizeof(small), .flush = drain };
	for (int i = 0; i < 20; i++)
		seq_printf(&seq, "line %d\n", i);
	drain(&seq);
	KT_EQ(nr_drained, 10 * 7 + 10 * 8);
	KT_ASSERT(!memcmp(drained + nr_drained - 8, "line 19\n", 8));
}
