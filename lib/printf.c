/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf.c - formatted text. One pass over the format; a `struct out` counts every character and
 * stores those that fit, so the return value is exact whatever the buffer. No allocation, at most
 * 200 bytes of stack per number.
 */
#include "lib/printf.h"
#include "lib/string.h"

/* kernel/ksyms.c */
__attribute__((weak)) const char *(*printf_symbol)(char *buf, size_t n, unsigned long addr);

struct out {
	char *buf;
	size_t size, len;
};
struct spec {
	bool left, plus, space, alt, zero, upper;
	int width, precision; /* precision -1: not given */
	int base;
};

static inline void put(struct out *o, char c)
{
	if (o->len < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void put_n(struct out *o, char c, int n)
{
	while (n-- > 0)
		put(o, c);
}

static void put_text(struct out *o, const char *s, size_t n, const struct spec *sp)
{
	int pad = sp->width - (int)n;

	if (!sp->left)
		put_n(o, ' ', pad);
	for (size_t i = 0; i < n; i++)
		put(o, s[i]);
	if (sp->left)
		put_n(o, ' ', pad);
}

static void put_string(struct out *o, const char *s, const struct spec *sp)
{
	if (!s)
		s = "(null)";
	put_text(o, s, sp->precision >= 0 ? strnlen(s, sp->precision) : strlen(s), sp);
}

static void put_number(struct out *o, u64 v, bool negative, const struct spec *sp)
{
	static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
	const char *digit = sp->upper ? upper : lower;
	char tmp[24], prefix[3];
	int n = 0, np = 0, zeros, pad;
	u64 rest = v;

	if (rest <= U32_MAX) { /* 32-bit division is cheaper */
		u32 small = rest, base = sp->base;

		for (; small; small /= base)
			tmp[n++] = digit[small % base];
	} else {
		for (; rest; rest /= sp->base)
			tmp[n++] = digit[rest % sp->base];
	}
	if (!n && sp->precision)
		tmp[n++] = '0';
	if (negative)
		prefix[np++] = '-';
	else if (sp->plus)
		prefix[np++] = '+';
	else if (sp->space)
		prefix[np++] = ' ';
	if (sp->alt && sp->base == 16 && v) {
		prefix[np++] = '0';
		prefix[np++] = sp->upper ? 'X' : 'x';
	}
	zeros = sp->precision > n ? sp->precision - n : 0;
	if (sp->alt && sp->base == 8 && !zeros && (!n || tmp[n - 1] != '0'))
		zeros = 1;
	pad = sp->width - n - np - zeros;
	if (sp->zero && !sp->left && sp->precision < 0 && pad > 0) {
		zeros += pad;
		pad = 0;
	}
	if (!sp->left)
		put_n(o, ' ', pad);
	for (int i = 0; i < np; i++)
		put(o, prefix[i]);
	put_n(o, '0', zeros);
	while (n)
		put(o, tmp[--n]);
	if (sp->left)
		put_n(o, ' ', pad);
}

static void put_hex_bytes(struct out *o, const u8 *p, const struct spec *sp)
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < sp->width; i++) {
		if (i)
			put(o, ' ');
		put(o, digit[p[i] >> 4]);
		put(o, digit[p[i] & 15]);
	}
}

static void put_uuid(struct out *o, const u8 *p)
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			put(o, '-');
		put(o, digit[p[i] >> 4]);
		put(o, digit[p[i] & 15]);
	}
}

/* fmt points behind the p; => how many letters of an extension were used. */
static int put_pointer(struct out *o, const void *p, struct spec *sp, const char *fmt)
{
	char tmp[160];

	switch (*fmt) {
	case 'S':
		if (printf_symbol) {
			put_string(o, printf_symbol(tmp, sizeof(tmp), (unsigned long)p), sp);
			return 1;
		}
		break;
	case 'h':
		put_hex_bytes(o, p, sp);
		return 1;
	case 'U':
		put_uuid(o, p);
		return 1;
	}
	sp->base = 16;
	sp->alt = false;
	if (!sp->width)
		sp->width = 16;
	sp->zero = true;
	put_number(o, (unsigned long)p, false, sp);
	return *fmt == 'S';
}

static const char *parse_flags(const char *f, struct spec *sp)
{
	for (;; f++) {
		switch (*f) {
		case '-':
			sp->left = true;
			break;
		case '+':
			sp->plus = true;
			break;
		case ' ':
			sp->space = true;
			break;
		case '#':
			sp->alt = true;
			break;
		case '0':
			sp->zero = true;
			break;
		default:
			return f;
		}
	}
}

static const char *parse_int(const char *f, int *v)
{
	*v = 0;
	while (isdigit_c(*f)) {
		if (*v < 100000)
			*v = *v * 10 + (*f - '0');
		f++;
	}
	return f;
}

/* => size in bytes of the integer argument. */
static const char *parse_length(const char *f, int *bytes)
{
	*bytes = 4;
	if (*f == 'h') {
		*bytes = f[1] == 'h' ? 1 : 2;
		return f + (f[1] == 'h' ? 2 : 1);
	}
	if (*f == 'l') {
		*bytes = 8;
		return f + (f[1] == 'l' ? 2 : 1);
	}
	if (*f == 'z' || *f == 't' || *f == 'j') {
		*bytes = 8;
		return f + 1;
	}
	return f;
}

static u64 sign_extend(u64 v, int bytes)
{
	int shift = 64 - 8 * bytes;

	return (u64)((s64)(v << shift) >> shift);
}

static u64 zero_extend(u64 v, int bytes)
{
	return bytes == 8 ? v : v & ((1ull << (8 * bytes)) - 1);
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct out o = { .buf = buf, .size = size };
	va_list args;

	va_copy(args, ap);
	for (; *fmt; fmt++) {
		struct spec sp = { .precision = -1, .base = 10 };
		int bytes;
		u64 v;
		char c;

		if (*fmt != '%') {
			put(&o, *fmt);
			continue;
		}
		fmt = parse_flags(fmt + 1, &sp);
		if (*fmt == '*') {
			sp.width = va_arg(args, int);
			if (sp.width < 0) {
				sp.left = true;
				sp.width = -sp.width;
			}
			fmt++;
		} else {
			fmt = parse_int(fmt, &sp.width);
		}
		if (*fmt == '.') {
			fmt++;
			if (*fmt == '*') {
				sp.precision = va_arg(args, int);
				fmt++;
			} else {
				fmt = parse_int(fmt, &sp.precision);
			}
		}
		fmt = parse_length(fmt, &bytes);
		switch (*fmt) {
		case 'd':
		case 'i':
			v = bytes == 8 ? (u64)va_arg(args, s64) : (u64)(s64)va_arg(args, int);
			v = sign_extend(v, bytes);
			put_number(&o, (s64)v < 0 ? -v : v, (s64)v < 0, &sp);
			break;
		case 'X':
			sp.upper = true;
			fallthrough;
		case 'x':
		case 'o':
		case 'u':
			sp.base = *fmt == 'u' ? 10 : *fmt == 'o' ? 8 : 16;
			sp.plus = sp.space = false;
			v = bytes == 8 ? va_arg(args, u64) : va_arg(args, unsigned int);
			put_number(&o, zero_extend(v, bytes), false, &sp);
			break;
		case 'c':
			c = (char)va_arg(args, int);
			put_text(&o, &c, 1, &sp);
			break;
		case 's':
			put_string(&o, va_arg(args, const char *), &sp);
			break;
		case 'p':
			fmt += put_pointer(&o, va_arg(args, void *), &sp, fmt + 1);
			break;
		case '%':
			put(&o, '%');
			break;
		case 0:
			fmt--; /* a lone % at the end */
			break;
		default: /* unknown: shown as it is, so that the mistake is seen */
			put(&o, '%');
			put(&o, *fmt);
		}
	}
	va_end(args);
	if (size)
		buf[o.len < size ? o.len : size - 1] = 0;
	return o.len;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);

	if ((size_t)n < size)
		return n;
	return size ? size - 1 : 0;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vscnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}
