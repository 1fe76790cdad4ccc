// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_rules.c - reading, printing and applying the rules of a faulty disk (fault_rules.h has the
 * grammar).
 *
 * A line is read into a copy and only a whole right line becomes part of the plan. Rules are asked
 * in order; each counts every transfer it matches, so that `every` and `after` do not depend on
 * what other rules did. Random numbers are drawn only by rules with a chance between 0 and 100 %,
 * in the order of the transfers: the same load gives the same faults.
 */
#include "drivers/blk/fault_rules.h"
#include "drivers/blk/model.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

static const char *const kind_names[NR_FAULT_KINDS] = { "error", "delay", "torn" };
static const struct {
	const char *name;
	u8 op;
} op_names[] = { { "read", FAULT_READ },
		 { "write", FAULT_WRITE },
		 { "flush", FAULT_FLUSH },
		 { "all", FAULT_ALL } };

void fault_plan_init(struct fault_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->destage = 25;
	plan->keep = 50;
	plan->unit = 1;
	plan->seed = 1;
}

static char *next_word(char **line)
{
	char *word;

	while ((word = strsep(line, " \t/\n")))
		if (*word)
			return word;
	return NULL;
}

static int parse_percent(const char *text, u32 *out)
{
	char copy[8];
	size_t n = strlen(text);
	u32 v;

	if (n && text[n - 1] == '%')
		n--;
	if (!n || n >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = 0;
	if (parse_u32(copy, &v) || v > 100)
		return -EINVAL;
	*out = v;
	return 0;
}

static int parse_ops(char *text, u8 *out)
{
	char *word;
	u8 ops = 0;

	while ((word = strsep(&text, "+"))) {
		u32 i;

		for (i = 0; i < ARRAY_SIZE(op_names) && strcmp(op_names[i].name, word); i++)
			;
		if (i == ARRAY_SIZE(op_names))
			return -EINVAL;
		ops |= op_names[i].op;
	}
	*out = ops;
	return 0;
}

static int parse_range(char *text, struct fault_rule *r)
{
	char *to = strchr(text, '-');

	if (to)
		*to++ = 0;
	if (parse_u64(text, &r->first))
		return -EINVAL;
	r->last = r->first;
	if (to && parse_u64(to, &r->last))
		return -EINVAL;
	return r->last < r->first ? -EINVAL : 0;
}

static int parse_errno(const char *text, u64 *out)
{
	*out = !strcmp(text, "EIO") ? EIO : !strcmp(text, "ENOSPC") ? ENOSPC : 0;
	return *out ? 0 : -EINVAL;
}

static int parse_nonzero(const char *text, u64 *out)
{
	int err = parse_u64(text, out);

	return err ? err : *out ? 0 : -EINVAL;
}

static int rule_key(struct fault_rule *r, const char *name, char *value)
{
	if (!strcmp(name, "op"))
		return r->kind == FAULT_TORN ? -EINVAL : parse_ops(value, &r->ops);
	if (!strcmp(name, "range"))
		return parse_range(value, r);
	if (!strcmp(name, "prob"))
		return parse_percent(value, &r->prob);
	if (!strcmp(name, "every"))
		return parse_nonzero(value, &r->every);
	if (!strcmp(name, "after"))
		return parse_u64(value, &r->after);
	if (!strcmp(name, "count"))
		return parse_nonzero(value, &r->count);
	if (!strcmp(name, "errno") && r->kind == FAULT_ERROR)
		return parse_errno(value, &r->arg);
	if ((!strcmp(name, "us") || !strcmp(name, "time")) && r->kind == FAULT_DELAY)
		return model_parse_ns(value, &r->arg);
	return -ENOENT;
}

static int parse_rule(struct fault_plan *plan, u8 kind, char *line, const char **wrong)
{
	struct fault_rule r = { .kind = kind,
				.ops = kind == FAULT_TORN ? FAULT_WRITE : FAULT_ALL,
				.last = U64_MAX,
				.prob = 100,
				.arg = kind == FAULT_ERROR ? EIO : 0 };
	char *word;

	if (plan->nr == FAULT_RULES) {
		*wrong = "sixteen rules already";
		return -ENOSPC;
	}
	while ((word = next_word(&line))) {
		char *value = strchr(word, '=');

		*wrong = word;
		if (!value && kind == FAULT_TORN && !strcmp(word, "silent")) {
			r.silent = true;
			continue;
		}
		if (!value)
			return -EINVAL;
		*value++ = 0;
		if (rule_key(&r, word, value))
			return -EINVAL;
	}
	if (kind == FAULT_DELAY && !r.arg) {
		*wrong = "us= is missing";
		return -EINVAL;
	}
	plan->rule[plan->nr++] = r;
	return FAULT_CMD_NONE;
}

static int parse_freeze(struct fault_plan *plan, char *line, u64 now, const char **wrong)
{
	int command = -EINVAL;
	char *word;

	*wrong = "freeze: after=N, at=TIME, in=TIME or now";
	while ((word = next_word(&line))) {
		u64 v = 0;
		int err = 0;

		if (!strcmp(word, "eio") || !strcmp(word, "hang")) {
			plan->hang = *word == 'h';
			continue;
		}
		*wrong = word;
		command = FAULT_CMD_FREEZE;
		if (!strcmp(word, "now")) {
			command = FAULT_CMD_FREEZE_NOW;
		} else if (str_has_prefix(word, "after=")) {
			err = parse_nonzero(word + 6, &v);
			plan->freeze_after = v;
		} else if (str_has_prefix(word, "at=") || str_has_prefix(word, "in=")) {
			err = model_parse_ns(word + 3, &v);
			plan->freeze_at = *word == 'i' ? now + v : v;
		} else {
			err = -EINVAL;
		}
		if (err)
			return -EINVAL;
	}
	return command;
}

static int parse_cache(struct fault_plan *plan, char *line, const char **wrong)
{
	char *word;

	plan->cache = true;
	while ((word = next_word(&line))) {
		int err = 0;

		*wrong = word;
		if (!strcmp(word, "on") || !strcmp(word, "off"))
			plan->cache = word[1] == 'n';
		else if (str_has_prefix(word, "destage="))
			err = parse_percent(word + 8, &plan->destage);
		else if (str_has_prefix(word, "keep="))
			err = parse_percent(word + 5, &plan->keep);
		else if (!strcmp(word, "unit=1") || !strcmp(word, "unit=8"))
			plan->unit = word[5] - '0';
		else
			err = -EINVAL;
		if (err)
			return err;
	}
	return FAULT_CMD_CACHE;
}

static int delete_rule(struct fault_plan *plan, const char *word)
{
	u32 i;

	if (!word || parse_u32(word, &i) || i >= plan->nr)
		return -EINVAL;
	plan->nr--;
	memmove(&plan->rule[i], &plan->rule[i + 1], (plan->nr - i) * sizeof(plan->rule[0]));
	return FAULT_CMD_NONE;
}

static int parse_line(struct fault_plan *plan, char *line, u64 now, const char **wrong)
{
	char *word = next_word(&line);

	*wrong = word ? word : "an empty line";
	if (!word)
		return -EINVAL;
	for (u8 k = 0; k < NR_FAULT_KINDS; k++)
		if (!strcmp(word, kind_names[k]))
			return parse_rule(plan, k, line, wrong);
	if (!strcmp(word, "freeze"))
		return parse_freeze(plan, line, now, wrong);
	if (!strcmp(word, "cache"))
		return parse_cache(plan, line, wrong);
	if (!strcmp(word, "del"))
		return delete_rule(plan, next_word(&line));
	if (!strcmp(word, "seed")) {
		word = next_word(&line);
		return word && !parse_u64(word, &plan->seed) ? FAULT_CMD_SEED : -EINVAL;
	}
	if (!strcmp(word, "clear")) {
		plan->nr = 0;
		return FAULT_CMD_NONE;
	}
	return strcmp(word, "thaw") ? -EINVAL : FAULT_CMD_THAW;
}

int fault_parse(struct fault_plan *plan, char *line, u64 now, const char **wrong)
{
	struct fault_plan next = *plan;
	int ret = parse_line(&next, line, now, wrong);

	if (ret >= 0)
		*plan = next;
	return ret;
}

static bool matches(struct fault_rule *r, struct rng *rng, u8 op, u64 sector, u32 nr)
{
	if (!(r->ops & op) || (r->count && r->hits >= r->count))
		return false;
	if (op != FAULT_FLUSH && (sector > r->last || sector + nr <= r->first))
		return false;
	r->seen++;
	if (r->seen <= r->after)
		return false;
	if (r->every && (r->seen - r->after) % r->every)
		return false;
	if (r->prob < 100 && rng_below(rng, 100) >= r->prob)
		return false;
	r->hits++;
	return true;
}

void fault_judge(struct fault_plan *plan, struct rng *rng, u8 op, u64 sector, u32 nr,
		 struct fault_verdict *out)
{
	*out = (struct fault_verdict){ 0 };
	for (u32 i = 0; i < plan->nr; i++) {
		struct fault_rule *r = &plan->rule[i];

		if (!matches(r, rng, op, sector, nr))
			continue;
		if (r->kind == FAULT_DELAY) {
			out->delay_ns += r->arg;
		} else if (r->kind == FAULT_ERROR) {
			if (!out->error)
				out->error = -(int)r->arg;
		} else {
			out->torn = true;
			out->silent = r->silent;
		}
	}
}

static int add(char *buf, size_t n, int at, const char *name, u64 v)
{
	return at + snprintf(buf + min_t(size_t, at, n), n - min_t(size_t, at, n), " %s=%llu", name,
			     (unsigned long long)v);
}

static int add_text(char *buf, size_t n, int at, const char *text)
{
	return at + snprintf(buf + min_t(size_t, at, n), n - min_t(size_t, at, n), "%s", text);
}

int fault_format(const struct fault_rule *r, char *buf, size_t n)
{
	int at = snprintf(buf, n, "%s", kind_names[r->kind]);
	const char *sep = " op=";

	for (u32 i = 0; r->ops != FAULT_ALL && i < 3; i++) {
		if (!(r->ops & op_names[i].op) || r->kind == FAULT_TORN)
			continue;
		at = add_text(buf, n, at, sep);
		at = add_text(buf, n, at, op_names[i].name);
		sep = "+";
	}
	if (r->first || r->last != U64_MAX) {
		at = add(buf, n, at, "range", r->first);
		at += snprintf(buf + min_t(size_t, at, n), n - min_t(size_t, at, n), "-%llu",
			       (unsigned long long)r->last);
	}
	if (r->prob < 100)
		at = add(buf, n, at, "prob", r->prob);
	if (r->every)
		at = add(buf, n, at, "every", r->every);
	if (r->after)
		at = add(buf, n, at, "after", r->after);
	if (r->count)
		at = add(buf, n, at, "count", r->count);
	if (r->kind == FAULT_ERROR && r->arg == ENOSPC)
		at = add_text(buf, n, at, " errno=ENOSPC");
	if (r->kind == FAULT_DELAY) {
		at = add(buf, n, at, "time", r->arg);
		at = add_text(buf, n, at, "ns");
	}
	if (r->silent)
		at = add_text(buf, n, at, " silent");
	return at;
}
