/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.c - named numbers read from the kernel's files at one instant, and their differences.
 */
#include "frame.h"

static char text[65536];

void values_begin(struct lab_values *v)
{
	v->nr = 0;
	v->ns = clock_ns(CLOCK_MONOTONIC);
}

void values_set(struct lab_values *v, const char *name, unsigned long long value)
{
	if (v->nr == LAB_VALUES)
		return;
	snprintf(v->v[v->nr].name, sizeof(v->v[0].name), "%s", name);
	v->v[v->nr++].value = value;
}

static int wanted(const char *name, const char *const *names)
{
	if (!names)
		return 1;
	for (; *names; names++)
		if (!strcmp(name, *names))
			return 1;
	return 0;
}

int values_lines(struct lab_values *v, const char *path, const char *prefix,
		 const char *const *names)
{
	int found = 0;

	if (slurp(path, text, sizeof(text)) < 0)
		return 0;
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		char name[64], full[80], end;
		unsigned long long value;

		line += *line == '\n';
		/* "hist T N" and the like have two numbers: not ours */
		if (sscanf(line, "%63[^ \t:\n]%*[: \t]%llu%c", name, &value, &end) != 3 ||
		    end != '\n' || !wanted(name, names))
			continue;
		snprintf(full, sizeof(full), "%s%s", prefix, name);
		values_set(v, full, value);
		found++;
	}
	return found;
}

int values_pairs(struct lab_values *v, const char *path, const char *first)
{
	int found = 0;
	char *line = text, *end;

	if (slurp(path, text, sizeof(text)) < 0)
		return 0;
	while (line && strncmp(line, first, strlen(first))) {
		line = strchr(line, '\n');
		line = line && line[1] ? line + 1 : NULL;
	}
	if (!line)
		return 0;
	line[strcspn(line, "\n")] = 0;
	for (char *word = strtok_r(line, " \t", &end); word; word = strtok_r(NULL, " \t", &end)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = 0;
		values_set(v, word, strtoull(equals + 1, NULL, 10));
		found++;
	}
	return found;
}

void values_stat(struct lab_values *v)
{
	static const char *const names[] = { "stat_user", "stat_nice", "stat_system", "stat_idle",
					     "stat_wait", "stat_irq",  "stat_softirq" };
	char *p = text;

	if (slurp("/proc/stat", text, sizeof(text)) < 0 || strncmp(p, "cpu ", 4))
		return;
	p += 4;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		values_set(v, names[i], strtoull(p, &p, 10));
}

static int find(const struct lab_values *v, const char *name)
{
	for (int i = 0; i < v->nr; i++)
		if (!strcmp(v->v[i].name, name))
			return i;
	return -1;
}

int values_has(const struct lab_values *v, const char *name)
{
	return find(v, name) >= 0;
}

unsigned long long values_get(const struct lab_values *v, const char *name)
{
	int i = find(v, name);

	return i < 0 ? 0 : v->v[i].value;
}

unsigned long long values_delta(const struct lab_values *now, const struct lab_values *before,
				const char *name)
{
	int i = find(now, name), j = find(before, name);

	if (i < 0 || j < 0 || now->v[i].value < before->v[j].value)
		return 0;
	return now->v[i].value - before->v[j].value;
}

void sleep_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}
