// SPDX-License-Identifier: BSD-2-Clause
/*
 * uts.c - the system's names. Programs look at release to decide what they may ask for, so it
 * begins with the Linux version whose interface Quire follows; version says what this really is and
 * how it was built (no date: two builds of one source are equal).
 */
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "sys/uts.h"

#ifdef QUIRE_DEBUG
#define BUILD_KIND "debug"
#else
#define BUILD_KIND "release"
#endif

struct uts uts = {
	.sysname = "Linux",
	.nodename = "quire",
	.release = "6.1.0-quire",
	.version = "#1 Quire " BUILD_KIND,
	.machine = "x86_64",
	.domainname = "(none)",
};

static int set(char *field, const char *name, size_t len)
{
	if (len > UTS_LEN)
		return -EINVAL;
	memcpy(field, name, len);
	memset(field + len, 0, UTS_LEN + 1 - len);
	return 0;
}

int uts_set_nodename(const char *name, size_t len)
{
	return set(uts.nodename, name, len);
}

int uts_set_domainname(const char *name, size_t len)
{
	return set(uts.domainname, name, len);
}

static int ostype_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", uts.sysname);
	return 0;
}
static int osrelease_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", uts.release);
	return 0;
}
static int osversion_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", uts.version);
	return 0;
}
static int hostname_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", uts.nodename);
	return 0;
}
static ssize_t hostname_store(const char *text, size_t n, long index)
{
	int err = uts_set_nodename(text, strcspn(text, "\n"));

	return err ? err : (ssize_t)n;
}
static int domainname_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", uts.domainname);
	return 0;
}
static ssize_t domainname_store(const char *text, size_t n, long index)
{
	int err = uts_set_domainname(text, strcspn(text, "\n"));

	return err ? err : (ssize_t)n;
}
static int version_show(struct seq *seq)
{
	seq_printf(seq, "%s version %s (quire) (%s) %s\n", uts.sysname, uts.release, __VERSION__,
		   uts.version);
	return 0;
}

SHOW("/proc/sys/kernel/ostype", 0444, ostype_show, NULL);
SHOW("/proc/sys/kernel/osrelease", 0444, osrelease_show, NULL);
SHOW("/proc/sys/kernel/version", 0444, osversion_show, NULL);
SHOW("/proc/sys/kernel/hostname", 0644, hostname_show, hostname_store);
SHOW("/proc/sys/kernel/domainname", 0644, domainname_show, domainname_store);
SHOW("/proc/version", 0444, version_show, NULL);
