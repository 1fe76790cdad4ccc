/* SPDX-License-Identifier: BSD-2-Clause */
/* parse.c - strict text to number conversions for boot parameters, /proc and /sys files. */
#include "lib/parse.h"
#include "lib/bitmap.h"
#include "lib/errno.h"
#include "lib/string.h"

static int digit_value(char c)
{
	if (isdigit_c(c))
		return c - '0';
	if (isalpha_c(c))
		return (c | 32) - 'a' + 10;
	return 99;
}

const char *parse_digits(const char *s, unsigned int base, u64 *out)
{
	const char *p = s;
	u64 v = 0;

	if ((base == 0 || base == 16) && p[0] == '0' && (p[1] | 32) == 'x' &&
	    digit_value(p[2]) < 16) {
		base = 16;
		p += 2;
		s = p;
	} else if (base == 0) {
		base = *p == '0' ? 8 : 10;
	}
	for (; digit_value(*p) < (int)base; p++)
		if (__builtin_mul_overflow(v, (u64)base, &v) ||
		    __builtin_add_overflow(v, (u64)digit_value(*p), &v))
			return NULL;
	if (p != s)
		*out = v;
	return p;
}

const char *parse_size_prefix(const char *s, u64 *out)
{
	u64 v = 0;
	const char *p = parse_digits(s, 0, &v);
	int shift = 0;

	if (!p || p == s)
		return p;
	switch (*p | 32) {
	case 't':
		shift = 40;
		break;
	case 'g':
		shift = 30;
		break;
	case 'm':
		shift = 20;
		break;
	case 'k':
		shift = 10;
		break;
	}
	if (shift) {
		p++;
		if (v > U64_MAX >> shift)
			return NULL;
	}
	*out = v << shift;
	return p;
}

/* What follows a number must be nothing, or one newline. */
static int finish(const char *start, const char *end)
{
	if (!end)
		return -ERANGE;
	if (end == start)
		return -EINVAL;
	if (*end == '\n')
		end++;
	return *end ? -EINVAL : 0;
}

int parse_u64(const char *s, u64 *out)
{
	u64 v = 0;
	int err = finish(s, parse_digits(s, 0, &v));

	if (!err)
		*out = v;
	return err;
}

int parse_size(const char *s, u64 *out)
{
	u64 v = 0;
	int err = finish(s, parse_size_prefix(s, &v));

	if (!err)
		*out = v;
	return err;
}

int parse_s64(const char *s, s64 *out)
{
	bool negative = *s == '-';
	u64 v = 0;
	int err = parse_u64(s + (negative || *s == '+'), &v);

	if (err)
		return err;
	if (v > (u64)S64_MAX + negative)
		return -ERANGE;
	*out = negative ? (s64)-v : (s64)v;
	return 0;
}

int parse_u32(const char *s, u32 *out)
{
	u64 v;
	int err = parse_u64(s, &v);

	if (err)
		return err;
	if (v > U32_MAX)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_int(const char *s, int *out)
{
	s64 v;
	int err = parse_s64(s, &v);

	if (err)
		return err;
	if (v != (int)v)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_ulong(const char *s, unsigned long *out)
{
	u64 v;
	int err = parse_u64(s, &v);

	if (!err)
		*out = v;
	return err;
}

int parse_bool(const char *s, bool *out)
{
	static const char *const yes[] = { "1", "y", "yes", "on", "true" };
	static const char *const no[] = { "0", "n", "no", "off", "false" };
	size_t n = strcspn(s, "\n");

	if (s[n] && s[n + 1])
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strlen(yes[i]) == n && !strncasecmp(s, yes[i], n)) {
			*out = true;
			return 0;
		}
		if (strlen(no[i]) == n && !strncasecmp(s, no[i], n)) {
			*out = false;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_list_into(const char *s, unsigned long *bits, unsigned int nbits)
{
	while (*s && *s != '\n') {
		u64 first, last;
		const char *p = parse_digits(s, 10, &first);

		if (!p || p == s)
			return p ? -EINVAL : -ERANGE;
		last = first;
		if (*p == '-') {
			s = p + 1;
			p = parse_digits(s, 10, &last);
			if (!p || p == s)
				return p ? -EINVAL : -ERANGE;
		}
		if (first > last)
			return -EINVAL;
		if (last >= nbits)
			return -ERANGE;
		if (bits)
			bitmap_set(bits, first, last - first + 1);
		if (*p == ',') {
			s = p + 1;
			if (!*s || *s == '\n')
				return -EINVAL;
		} else if (*p && *p != '\n') {
			return -EINVAL;
		} else {
			s = p;
		}
	}
	return *s && s[1] ? -EINVAL : 0;
}

/* Checked once without writing, so that a bad list changes nothing. */
int parse_list(const char *s, unsigned long *bits, unsigned int nbits)
{
	int err = parse_list_into(s, NULL, nbits);

	if (err)
		return err;
	bitmap_zero(bits, nbits);
	return parse_list_into(s, bits, nbits);
}

/* From the last digit backwards: digit number i holds bits 4i..4i+3; commas do not count. */
static int hex_mask_pass(const char *s, unsigned long *bits, unsigned int nbits)
{
	size_t len = strcspn(s, "\n");
	unsigned int bit = 0;

	if (!len || (s[len] && s[len + 1]))
		return -EINVAL;
	if (len > 2 && s[0] == '0' && (s[1] | 32) == 'x') {
		s += 2;
		len -= 2;
	}
	while (len--) {
		int d = digit_value(s[len]);

		if (s[len] == ',')
			continue;
		if (d > 15)
			return -EINVAL;
		for (int b = 0; b < 4; b++, bit++) {
			if (!(d >> b & 1))
				continue;
			if (bit >= nbits)
				return -ERANGE;
			if (bits)
				bits[bit / 64] |= 1ul << (bit & 63);
		}
	}
	return 0;
}

int parse_hex_mask(const char *s, unsigned long *bits, unsigned int nbits)
{
	int err = hex_mask_pass(s, NULL, nbits);

	if (err)
		return err;
	bitmap_zero(bits, nbits);
	return hex_mask_pass(s, bits, nbits);
}
