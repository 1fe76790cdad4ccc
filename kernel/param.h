/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * param.h - everything that can be set by name: boot parameters, the documents' switches, tunables.
 * One command-line parser serves all three; an unknown or malformed word is named in the log and
 * ignored. Words without '=' that are not parameters (and everything after "--") are kept for init.
 * quotes: name="a b".
 */
#ifndef KERNEL_PARAM_H
#define KERNEL_PARAM_H

#include "kernel/show.h"

enum param_type { PARAM_BOOL, PARAM_UINT, PARAM_SIZE /* 64M */, PARAM_STRING, PARAM_FUNC };

struct param {
	const char *name, *about;
	enum param_type type;
	void *value;		      /* bool*, u32*, u64*, char[] */
	u64 min, max;		      /* UINT, SIZE; for STRING max = buffer size */
	int (*set)(const char *text); /* FUNC: 0 or -errno (it prints nothing; the parser does) */
};
#define __PARAM(name_, type_, ptr, min_, max_, set_, about_)                                       \
	static struct param __unique(__param_)                                                     \
		__attribute__((section(".params"), used, aligned(8))) = { .name = name_,           \
									  .about = about_,         \
									  .type = type_,           \
									  .value = ptr,            \
									  .min = min_,             \
									  .max = max_,             \
									  .set = set_ }
#define BOOT_PARAM_BOOL(name, var, about) __PARAM(name, PARAM_BOOL, &(var), 0, 1, NULL, about)
#define BOOT_PARAM_UINT(name, var, min, max, about)                                                \
	__PARAM(name, PARAM_UINT, &(var), min, max, NULL, about)
#define BOOT_PARAM_SIZE(name, var, min, max, about)                                                \
	__PARAM(name, PARAM_SIZE, &(var), min, max, NULL, about)
#define BOOT_PARAM_STRING(name, arr, about)                                                        \
	__PARAM(name, PARAM_STRING, arr, 0, sizeof(arr), NULL, about)
#define BOOT_PARAM_FUNC(name, fn, about) __PARAM(name, PARAM_FUNC, NULL, 0, 0, fn, about)

/* A word other code asks for with param_get(): only makes the name known. */
#define BOOT_PARAM_WORD(name, about) __PARAM(name, PARAM_FUNC, NULL, 0, 0, NULL, about)

/*
 * Parses boot_info.cmdline against params, switches and tunables. => early boot, once; reports are
 * printed.
 */
void params_parse(const char *cmdline);
/* Value of a word on the command line ("init", "autorun") or NULL. */
const char *param_get(const char *name);
/* Words kept for init: number 0.. => NULL behind the last. */
const char *param_init_arg(unsigned int nr);

/*
 * Switch: one of the documents' patches or a named variant of it. 0 = before the document, 1 =
 * literally as posted, 2 = ours. /sys/kernel/quire/switches/NAME/{value,default,about,document} and
 * boot parameter NAME=value. DEFINE_SWITCH(compact_free_irq, 1, 0, 2, "002", "..."); code reads
 * switch_value(compact_free_irq).
 */
struct quire_switch {
	const char *name, *about, *document;
	u32 value, def, min, max;
	void (*changed)(void); /* runs after each store; may be NULL */
};
#define DEFINE_SWITCH(name_, default_, min_, max_, document_, about_)                              \
	DEFINE_SWITCH_CHANGED(name_, default_, min_, max_, document_, about_, NULL)
#define DEFINE_SWITCH_CHANGED(name_, default_, min_, max_, document_, about_, changed_)            \
	struct quire_switch switch_##name_                                                         \
		__attribute__((section(".switches"), aligned(8))) = { .name = #name_,              \
								      .about = about_,             \
								      .document = document_,       \
								      .value = default_,           \
								      .def = default_,             \
								      .min = min_,                 \
								      .max = max_,                 \
								      .changed = changed_ }
struct quire_switch *switch_find(const char *name); /* NULL: none of that name */
#define DECLARE_SWITCH(name_) extern struct quire_switch switch_##name_
#define switch_value(name_) READ_ONCE(switch_##name_.value)

/*
 * Tunable: a number under /proc/sys (name "vm/dirty_ratio", "kernel/..."), validated; the
 * boot parameter of the same name is "sysctl.vm.dirty_ratio=". changed (may be NULL) runs after
 * each store.
 */
struct tunable {
	const char *name;
	long *value;
	long min, max;
	void (*changed)(void);
};
#define TUNABLE(name_, var, min_, max_, changed_)                                                  \
	static struct tunable __unique(                                                            \
		__tun_) __attribute__((section(".tunables"), used, aligned(8))) = {                \
		.name = name_, .value = &(var), .min = min_, .max = max_, .changed = changed_      \
	}
extern struct tunable __tunables_start[], __tunables_end[];
extern struct quire_switch __switches_start[], __switches_end[];
/*
 * Above the maximum: clamped, with a log line. => 0, or -EINVAL: no number, or below the minimum
 * (with a log line)
 */
int tunable_store(struct tunable *t, const char *text);
int switch_store(struct quire_switch *s, const char *text);

#endif
