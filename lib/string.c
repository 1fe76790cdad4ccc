/* SPDX-License-Identifier: BSD-2-Clause */
/* string.c - string functions in portable C; the memory functions are in arch/x86_64/string.c. */
#include "lib/string.h"
#include "lib/errno.h"

#ifndef QUIRE_HOST
#undef strlen
#undef strcmp
size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return p - s;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

int strncasecmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		int d = tolower_c((u8)*a) - tolower_c((u8)*b);

		if (d || !*a)
			return d;
	}
	return 0;
}

int strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, ~0ul);
}

char *strcpy(char *to, const char *from)
{
	char *p = to;

	while ((*p++ = *from++))
		;
	return to;
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t i;

	for (i = 0; i < n && from[i]; i++)
		to[i] = from[i];
	for (; i < n; i++)
		to[i] = 0;
	return to;
}

char *strcat(char *to, const char *from)
{
	strcpy(to + strlen(to), from);
	return to;
}

char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)s;
}

char *strchr(const char *s, int c)
{
	char *p = strchrnul(s, c);

	return *p == (char)c ? p : NULL;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++);
	return (char *)last;
}

char *strstr(const char *s, const char *what)
{
	size_t n = strlen(what);

	if (!n)
		return (char *)s;
	for (; (s = strchr(s, *what)); s++)
		if (!strncmp(s, what, n))
			return (char *)s;
	return NULL;
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *)s : NULL;
}

void *memchr(const void *p, int c, size_t n)
{
	for (const u8 *b = p; n; n--, b++)
		if (*b == (u8)c)
			return (void *)b;
	return NULL;
}
#endif

size_t strlcpy(char *to, const char *from, size_t size)
{
	size_t n = strlen(from);

	if (size) {
		size_t m = n < size ? n : size - 1;

		memcpy(to, from, m);
		to[m] = 0;
	}
	return n;
}

size_t strlcat(char *to, const char *from, size_t size)
{
	size_t n = strnlen(to, size);

	return n == size ? n + strlen(from) : n + strlcpy(to + n, from, size - n);
}

ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (n == size) {
		memcpy(to, from, size - 1);
		to[size - 1] = 0;
		return -E2BIG;
	}
	memcpy(to, from, n + 1);
	return n;
}

void *memchr_inv(const void *p, int c, size_t n)
{
	for (const u8 *b = p; n; n--, b++)
		if (*b != (u8)c)
			return (void *)b;
	return NULL;
}

char *strsep(char **s, const char *delim)
{
	char *start = *s, *end;

	if (!start)
		return NULL;
	end = start + strcspn(start, delim);
	*s = *end ? end + 1 : NULL;
	*end = 0;
	return start;
}

char *strstrip(char *s)
{
	size_t n;

	while (isspace_c(*s))
		s++;
	n = strlen(s);
	while (n && isspace_c(s[n - 1]))
		n--;
	s[n] = 0;
	return s;
}

/*
 * On a mismatch go back to the last star and let it eat one character more: linear in practice, no
 * recursion.
 */
bool str_match(const char *pattern, const char *s)
{
	const char *star = NULL, *mark = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = pattern++;
			mark = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star + 1;
			s = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
