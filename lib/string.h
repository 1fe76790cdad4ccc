/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * string.h - memory and string functions. The mem* functions are the machine's
 * (arch/x86_64/string.c: quadword string instructions); sizes known at compile time are expanded in
 * place. Host tests use the C library's mem* and str*.
 */
#ifndef LIB_STRING_H
#define LIB_STRING_H

#include "lib/types.h"

#ifdef QUIRE_HOST
#include <string.h>
#define strlcpy quire_strlcpy
#define strlcat quire_strlcat
#define strscpy quire_strscpy
#define memchr_inv quire_memchr_inv
#define strsep quire_strsep
#define strreplace quire_strreplace
#else
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *p, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strchr(const char *s, int c);
char *strchrnul(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
char *strpbrk(const char *s, const char *accept);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memmove(to, from, n) __builtin_memmove(to, from, n)
#define memset(to, c, n) __builtin_memset(to, c, n)
#define memcmp(a, b, n) __builtin_memcmp(a, b, n)
#define strlen(s) __builtin_strlen(s)
#define strcmp(a, b) __builtin_strcmp(a, b)
#endif

/* Copies with truncation, always terminates (size > 0). => strlen(from). */
size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);
/* Like strlcpy, but => characters copied, or -E2BIG when truncated. */
ssize_t strscpy(char *to, const char *from, size_t size);
/* First byte that differs from c, or NULL. */
void *memchr_inv(const void *p, int c, size_t n);
/* Cuts the next token at any of delim; *s becomes the rest or NULL. */
char *strsep(char **s, const char *delim);
/* Removes white space at both ends, in place; => first character kept. */
char *strstrip(char *s);
static inline bool str_has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}
/* Shell pattern with * and ? only. */
bool str_match(const char *pattern, const char *s);

static inline bool isspace_c(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline bool isdigit_c(int c)
{
	return c >= '0' && c <= '9';
}
static inline bool isalpha_c(int c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}
static inline bool isprint_c(int c)
{
	return c >= 32 && c < 127;
}
static inline int tolower_c(int c)
{
	return c >= 'A' && c <= 'Z' ? c | 32 : c;
}
static inline int toupper_c(int c)
{
	return c >= 'a' && c <= 'z' ? c & ~32 : c;
}

#endif
