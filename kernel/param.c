/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * param.c - the command line, the switches and the tunables: one parser, one way to refuse.
 *
 * The line is cut into words at white space. Quotes (" or ') may stand anywhere in a word and keep
 * white space together; a backslash takes the next character as it is (GRUB writes name="a b" as
 * "name=a b" with \" inside). Each word name=value is looked up among boot parameters, then
 * switches, then tunables (sysctl.vm.NAME). A bad word gets one line and is ignored. Words without
 * '=' that nobody knows, and all behind "--", are kept for init.
 */
#include "kernel/param.h"
#include "kernel/printk.h"
#include "arch/bootinfo.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MAX_WORDS 128
#define MAX_INIT_ARGS 32

extern struct param __params_start[], __params_end[];

/* of all words; a second line (tests) comes behind the first */
static char text[BOOT_CMDLINE_MAX + 256];
static char *text_end = text;
static struct word {
	const char *name, *value; /* value NULL: no '=' */
} words[MAX_WORDS];
static unsigned int nr_words;
static const char *init_args[MAX_INIT_ARGS + 1];
static unsigned int nr_init_args;

BOOT_PARAM_WORD("autorun", "commands PID 1 runs; then the machine powers off with their status");
BOOT_PARAM_WORD("init", "program to start as PID 1");

/*
 * Copies the next word without its quotes to *to. => behind the word in the line; NULL at the end.
 */
static const char *cut_word(const char *p, char **to)
{
	char quote = 0, *out = *to;

	while (isspace_c(*p))
		p++;
	if (!*p)
		return NULL;
	for (; *p && (quote || !isspace_c(*p)); p++) {
		if (*p == '\\' && (p[1] == '"' || p[1] == '\'' || p[1] == '\\'))
			*out++ = *++p;
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			*out++ = *p;
	}
	*out++ = 0;
	if (quote)
		pr_warn("param: the quote %c in \"%.40s\" is not closed, it ends with the line",
			quote, *to);
	*to = out;
	return p;
}

static int set_param(const struct param *p, const char *value)
{
	u64 v = 0;
	bool b;
	int err;

	switch (p->type) {
	case PARAM_BOOL:
		err = *value ? parse_bool(value, &b) : (b = true, 0);
		if (!err)
			*(bool *)p->value = b;
		return err;
	case PARAM_UINT:
	case PARAM_SIZE:
		err = p->type == PARAM_SIZE ? parse_size(value, &v) : parse_u64(value, &v);
		if (!err && (v < p->min || v > p->max))
			err = -ERANGE;
		if (err)
			return err;
		if (p->type == PARAM_SIZE)
			*(u64 *)p->value = v;
		else
			*(u32 *)p->value = v;
		return 0;
	case PARAM_STRING:
		if (strlen(value) >= p->max)
			return -ENAMETOOLONG;
		strlcpy(p->value, value, p->max);
		return 0;
	case PARAM_FUNC:
		return p->set ? p->set(value) : 0;
	}
	return -EINVAL;
}

static const char *reason(int err)
{
	switch (err) {
	case -ERANGE:
		return "out of range";
	case -ENAMETOOLONG:
		return "too long";
	case -ENODEV:
		return "not available here";
	default:
		return "not understood";
	}
}

struct quire_switch *switch_find(const char *name)
{
	for (struct quire_switch *s = __switches_start; s < __switches_end; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

/* sysctl.vm.swappiness names the tunable vm/swappiness. */
static struct tunable *find_tunable(const char *name)
{
	if (!str_has_prefix(name, "sysctl."))
		return NULL;
	name += 7;
	for (struct tunable *t = __tunables_start; t < __tunables_end; t++) {
		const char *a = t->name, *b = name;

		while (*a && (*a == *b || (*a == '/' && *b == '.')))
			a++, b++;
		if (!*a && !*b)
			return t;
	}
	return NULL;
}

static void set_word(const struct word *w)
{
	const char *value = w->value ? w->value : "";
	struct quire_switch *sw;
	struct tunable *tun;
	int err;

	for (struct param *p = __params_start; p < __params_end; p++) {
		if (strcmp(p->name, w->name))
			continue;
		err = set_param(p, value);
		if (err && (p->type == PARAM_UINT || p->type == PARAM_SIZE) && err == -ERANGE)
			pr_warn("param: %s=%s is out of range (%lu..%lu), ignored", w->name, value,
				(unsigned long)p->min, (unsigned long)p->max);
		else if (err)
			pr_warn("param: %s=%s is %s, ignored", w->name, value, reason(err));
		return;
	}
	if ((sw = switch_find(w->name))) {
		if (switch_store(sw, value))
			pr_warn("param: switch %s=%s is not %u..%u, ignored", w->name, value,
				sw->min, sw->max);
	} else if ((tun = find_tunable(w->name))) {
		void (*changed)(void) = tun->changed;

		tun->changed = NULL; /* its owner is not set up yet and will read the value then */
		if (tunable_store(tun, value))
			pr_warn("param: %s=%s is not a number, ignored", w->name, value);
		tun->changed = changed;
	} else if (w->value) {
		pr_warn("param: unknown parameter %s=%s, ignored", w->name, w->value);
	} else {
		pr_notice("param: %s is no parameter, kept for init", w->name);
		if (nr_init_args < MAX_INIT_ARGS)
			init_args[nr_init_args++] = w->name;
	}
}

/* The words from number first on: a preset before the others, for what is named wins over it. */
static void set_words(unsigned int first)
{
	for (unsigned int i = first; i < nr_words; i++)
		if (!strcmp(words[i].name, "era"))
			set_word(&words[i]);
	for (unsigned int i = first; i < nr_words; i++)
		if (strcmp(words[i].name, "era"))
			set_word(&words[i]);
}

void params_parse(const char *cmdline)
{
	unsigned int first = nr_words;
	size_t room = text + sizeof(text) - text_end;
	const char *p = cmdline;
	bool for_init = false;

	/* A word needs at most its characters and a NUL, and white space parts it from the next. */
	if (strlen(cmdline) + 1 >= room) {
		pr_warn("param: the command line is longer than %zu characters, ignored", room - 1);
		return;
	}
	for (;;) {
		char *word = text_end, *eq;

		p = cut_word(p, &text_end);
		if (!p)
			break;
		if (for_init) {
			if (nr_init_args < MAX_INIT_ARGS)
				init_args[nr_init_args++] = word;
			continue;
		}
		if (!strcmp(word, "--")) {
			set_words(first);
			for_init = true;
			continue;
		}
		if (nr_words == MAX_WORDS) {
			pr_warn("param: more than %d words, %s and the rest ignored", MAX_WORDS,
				word);
			break;
		}
		eq = strchr(word, '=');
		if (eq)
			*eq++ = 0;
		words[nr_words++] = (struct word){ word, eq };
	}
	if (!for_init)
		set_words(first);
}

const char *param_get(const char *name)
{
	for (unsigned int i = nr_words; i-- > 0;)
		if (!strcmp(words[i].name, name))
			return words[i].value ? words[i].value : "";
	return NULL;
}

const char *param_init_arg(unsigned int nr)
{
	return nr < nr_init_args ? init_args[nr] : NULL;
}

/* ---- files ---- */

static const char *type_name(enum param_type type)
{
	static const char *const names[] = { "bool", "number", "size", "text", "text" };

	return names[type];
}

static int parameters_show(struct seq *seq)
{
	for (struct param *p = __params_start; p < __params_end; p++)
		seq_printf(seq, "%-20s %-7s %s\n", p->name, type_name(p->type), p->about);
	return 0;
}
SHOW("/sys/kernel/quire/parameters", 0444, parameters_show, NULL);

int switch_store(struct quire_switch *s, const char *value)
{
	u32 v;
	int err = parse_u32(value, &v);

	if (err)
		return err;
	if (v < s->min || v > s->max)
		return -ERANGE;
	if (v != s->value)
		pr_info("switch: %s %u -> %u", s->name, s->value, v);
	WRITE_ONCE(s->value, v);
	if (s->changed)
		s->changed();
	return 0;
}

int tunable_store(struct tunable *t, const char *value)
{
	s64 v;

	if (parse_s64(value, &v))
		return -EINVAL;
	if (v < t->min) { /* nobody means the minimum by -1 */
		pr_notice("tunable: %s=%ld is outside %ld..%ld, refused", t->name, (long)v, t->min,
			  t->max);
		return -EINVAL;
	}
	if (v > t->max) {
		pr_notice("tunable: %s=%ld is outside %ld..%ld, using %ld", t->name, (long)v,
			  t->min, t->max, t->max);
		v = t->max;
	}
	WRITE_ONCE(*t->value, v);
	if (t->changed)
		t->changed();
	return 0;
}

static int nr_switches(void)
{
	return __switches_end - __switches_start;
}

static const char *switch_name(long i)
{
	return __switches_start[i].name;
}

static int switch_value_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", READ_ONCE(__switches_start[seq->index].value));
	return 0;
}

static ssize_t switch_value_store(const char *value, size_t n, long index)
{
	int err = switch_store(&__switches_start[index], value);

	return err ? -EINVAL : (ssize_t)n;
}

static int switch_default_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", __switches_start[seq->index].def);
	return 0;
}

static int switch_about_show(struct seq *seq)
{
	const struct quire_switch *s = &__switches_start[seq->index];

	seq_printf(seq, "%s (%u..%u)\n", s->about, s->min, s->max);
	return 0;
}

static int switch_document_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", __switches_start[seq->index].document);
	return 0;
}

#define SWITCHES "/sys/kernel/quire/switches/%s/"
SHOW_NAMED(SWITCHES "value", 0644, nr_switches, switch_name, switch_value_show, switch_value_store);
SHOW_NAMED(SWITCHES "default", 0444, nr_switches, switch_name, switch_default_show, NULL);
SHOW_NAMED(SWITCHES "about", 0444, nr_switches, switch_name, switch_about_show, NULL);
SHOW_NAMED(SWITCHES "document", 0444, nr_switches, switch_name, switch_document_show, NULL);

static int nr_tunables(void)
{
	return __tunables_end - __tunables_start;
}

static const char *tunable_name(long i)
{
	return __tunables_start[i].name;
}

static int tunable_show(struct seq *seq)
{
	seq_printf(seq, "%ld\n", READ_ONCE(*__tunables_start[seq->index].value));
	return 0;
}

static ssize_t tunable_file_store(const char *value, size_t n, long index)
{
	int err = tunable_store(&__tunables_start[index], value);

	return err ? err : (ssize_t)n;
}
SHOW_NAMED("/proc/sys/%s", 0644, nr_tunables, tunable_name, tunable_show, tunable_file_store);
