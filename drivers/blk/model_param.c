// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_param.c - the parameters of disk models: names, units, limits. One table per kind says
 * everything; creation lines, the live file and the printed table all go through it.
 */
#include "drivers/blk/model.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

const struct model_kind *const model_kinds[4] = { &model_hdd, &model_ssd, &model_usb, &model_bw };

const struct model_kind *model_find(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(model_kinds); i++)
		if (!strcmp(model_kinds[i]->name, name))
			return model_kinds[i];
	return NULL;
}

void model_init(struct model *m, const struct model_kind *kind)
{
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	for (u32 i = 0; i < kind->nr_params; i++)
		m->p[i] = kind->params[i].def;
}

static const struct {
	const char *suffix;
	u64 ns;
} time_units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

int model_parse_ns(const char *text, u64 *out)
{
	u64 v = 0, scale = 1000;
	const char *end = parse_digits(text, 10, &v);

	if (!end)
		return -ERANGE;
	if (end == text)
		return -EINVAL;
	if (*end && *end != '\n') {
		char suffix[4] = "";

		scale = 0;
		for (int i = 0; i < 3 && isalpha_c(end[i]); i++)
			suffix[i] = end[i];
		for (u32 i = 0; i < ARRAY_SIZE(time_units); i++)
			if (!strcmp(suffix, time_units[i].suffix))
				scale = time_units[i].ns;
		end += strlen(suffix);
		if (!scale || (*end && *end != '\n'))
			return -EINVAL;
	}
	if (__builtin_mul_overflow(v, scale, &v))
		return -ERANGE;
	*out = v;
	return 0;
}

/* Numbers with one suffix that may follow: "50%", "100M/s". */
static int parse_with_tail(const char *text, const char *tail, u64 *out)
{
	char copy[32];
	size_t n = strlen(text), t = strlen(tail);

	while (n && text[n - 1] == '\n')
		n--;
	if (n >= t && !strncmp(text + n - t, tail, t))
		n -= t;
	if (n >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = 0;
	return parse_size(copy, out);
}

static int parse_value(u8 unit, const char *text, u64 *out)
{
	switch (unit) {
	case MODEL_NS:
		return model_parse_ns(text, out);
	case MODEL_RATE:
		return parse_with_tail(text, "/s", out);
	case MODEL_PERCENT:
		return parse_with_tail(text, "%", out);
	case MODEL_BYTES:
		return parse_size(text, out);
	default:
		return parse_u64(text, out);
	}
}

int model_set(struct model *m, const char *name, const char *value, bool live)
{
	for (u32 i = 0; i < m->kind->nr_params; i++) {
		const struct model_param *param = &m->kind->params[i];
		u64 v = 0;
		int err;

		if (strcmp(param->name, name))
			continue;
		if (live && !param->live)
			return -EBUSY;
		err = value ? parse_value(param->unit, value, &v) : -EINVAL;
		if (err)
			return err;
		if (v < param->min || v > param->max)
			return -ERANGE;
		m->p[i] = v;
		return 0;
	}
	return -ENOENT;
}

const char *model_ready(struct model *m)
{
	m->nr_sectors = m->p[MP_SIZE] >> 9;
	return m->kind->setup ? m->kind->setup(m) : NULL;
}

static int format_bytes(u64 v, const char *tail, char *buf, size_t n)
{
	static const char suffix[] = "KMGT";
	int i = -1;

	while (v && !(v & 1023) && i < 3) {
		v >>= 10;
		i++;
	}
	return i < 0 ? snprintf(buf, n, "%llu%s", (unsigned long long)v, tail)
		     : snprintf(buf, n, "%llu%c%s", (unsigned long long)v, suffix[i], tail);
}

int model_format(const struct model *m, u32 i, char *buf, size_t n)
{
	u64 v = m->p[i];

	switch (m->kind->params[i].unit) {
	case MODEL_BYTES:
		return format_bytes(v, "", buf, n);
	case MODEL_RATE:
		return format_bytes(v, "/s", buf, n);
	case MODEL_PERCENT:
		return snprintf(buf, n, "%llu%%", (unsigned long long)v);
	case MODEL_NS:
		if (v && v % 1000)
			return snprintf(buf, n, "%lluns", (unsigned long long)v);
		return snprintf(buf, n, "%lluus", (unsigned long long)v / 1000);
	default:
		return snprintf(buf, n, "%llu", (unsigned long long)v);
	}
}

/* Whole seconds apart, so that below 16 GiB/s no product is wider than 64 bits. */
u64 model_ns(u64 bytes, u64 rate)
{
	u64 seconds = bytes / rate, rest = bytes % rate;

	return seconds * 1000000000 +
	       (rate >> 34 ? mul_div_u64(rest, 1000000000, rate) : rest * 1000000000 / rate);
}
