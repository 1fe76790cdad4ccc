// SPDX-License-Identifier: BSD-2-Clause
/*
 * cred_calls.c - user and group ids of processes. Root may set anything; others swap among what
 * they have.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "sys/process.h"
#include "sys/syscall.h"

static struct cred *mine(void)
{
	return &current_proc->cred;
}

SYSCALL(getuid)
{
	return mine()->uid;
}

SYSCALL(geteuid)
{
	return mine()->euid;
}

SYSCALL(getgid)
{
	return mine()->gid;
}

SYSCALL(getegid)
{
	return mine()->egid;
}

static bool root(void)
{
	return mine()->euid == 0;
}

SYSCALL(setuid)
{
	struct cred *c = mine();
	u32 id = a0;

	if (root())
		c->uid = c->suid = id;
	else if (id != c->uid && id != c->suid)
		return -EPERM;
	c->euid = c->fsuid = id;
	return 0;
}

SYSCALL(setgid)
{
	struct cred *c = mine();
	u32 id = a0;

	if (root())
		c->gid = c->sgid = id;
	else if (id != c->gid && id != c->sgid)
		return -EPERM;
	c->egid = c->fsgid = id;
	return 0;
}

static bool have_uid(u32 id)
{
	const struct cred *c = mine();

	return id == ~0u || root() || id == c->uid || id == c->euid || id == c->suid;
}

static bool have_gid(u32 id)
{
	const struct cred *c = mine();

	return id == ~0u || root() || id == c->gid || id == c->egid || id == c->sgid;
}

SYSCALL(setreuid)
{
	struct cred *c = mine();
	u32 old = c->uid;

	if (!have_uid(a0) || !have_uid(a1))
		return -EPERM;
	if ((u32)a0 != ~0u)
		c->uid = a0;
	if ((u32)a1 != ~0u)
		c->euid = a1;
	if ((u32)a0 != ~0u || ((u32)a1 != ~0u && (u32)a1 != old))
		c->suid = c->euid;
	c->fsuid = c->euid;
	return 0;
}

SYSCALL(setregid)
{
	struct cred *c = mine();
	u32 old = c->gid;

	if (!have_gid(a0) || !have_gid(a1))
		return -EPERM;
	if ((u32)a0 != ~0u)
		c->gid = a0;
	if ((u32)a1 != ~0u)
		c->egid = a1;
	if ((u32)a0 != ~0u || ((u32)a1 != ~0u && (u32)a1 != old))
		c->sgid = c->egid;
	c->fsgid = c->egid;
	return 0;
}

SYSCALL(setresuid)
{
	struct cred *c = mine();

	if (!have_uid(a0) || !have_uid(a1) || !have_uid(a2))
		return -EPERM;
	if ((u32)a0 != ~0u)
		c->uid = a0;
	if ((u32)a1 != ~0u)
		c->euid = c->fsuid = a1;
	if ((u32)a2 != ~0u)
		c->suid = a2;
	return 0;
}

SYSCALL(setresgid)
{
	struct cred *c = mine();

	if (!have_gid(a0) || !have_gid(a1) || !have_gid(a2))
		return -EPERM;
	if ((u32)a0 != ~0u)
		c->gid = a0;
	if ((u32)a1 != ~0u)
		c->egid = c->fsgid = a1;
	if ((u32)a2 != ~0u)
		c->sgid = a2;
	return 0;
}

static long put_three(u64 u0, u64 u1, u64 u2, u32 v0, u32 v1, u32 v2)
{
	if (put_user_u32(v0, (u32 __user *)u0) || put_user_u32(v1, (u32 __user *)u1) ||
	    put_user_u32(v2, (u32 __user *)u2))
		return -EFAULT;
	return 0;
}

SYSCALL(getresuid)
{
	return put_three(a0, a1, a2, mine()->uid, mine()->euid, mine()->suid);
}

SYSCALL(getresgid)
{
	return put_three(a0, a1, a2, mine()->gid, mine()->egid, mine()->sgid);
}

SYSCALL(setfsuid)
{
	u32 old = mine()->fsuid;

	if ((u32)a0 != ~0u && have_uid(a0))
		mine()->fsuid = a0;
	return old;
}

SYSCALL(setfsgid)
{
	u32 old = mine()->fsgid;

	if ((u32)a0 != ~0u && have_gid(a0))
		mine()->fsgid = a0;
	return old;
}

SYSCALL(getgroups)
{
	const struct cred *c = mine();
	int n = a0;

	if (n < 0)
		return -EINVAL;
	if (!n)
		return c->nr_groups;
	if ((u32)n < c->nr_groups)
		return -EINVAL;
	return copy_to_user((void __user *)a1, c->groups, c->nr_groups * 4) ? -EFAULT
									    : (long)c->nr_groups;
}

SYSCALL(setgroups)
{
	struct cred *c = mine();
	u32 groups[ARRAY_SIZE(c->groups)];

	if (!root())
		return -EPERM;
	if (a0 > ARRAY_SIZE(groups))
		return -EINVAL;
	if (copy_from_user(groups, (void __user *)a1, a0 * 4))
		return -EFAULT;
	memcpy(c->groups, groups, a0 * 4);
	c->nr_groups = a0;
	return 0;
}

/* ---- capabilities: all of them for root, none for others ---- */

struct cap_header {
	u32 version;
	s32 pid;
};
#define CAP_VERSION_1 0x19980330u
#define CAP_VERSION_2 0x20071026u
#define CAP_VERSION_3 0x20080522u
#define CAP_FULL ((1ull << 41) - 1)

static int cap_words(u64 user, struct cap_header *h)
{
	if (copy_struct_from_user(h, (void __user *)user))
		return -EFAULT;
	if (h->version == CAP_VERSION_1)
		return 1;
	if (h->version == CAP_VERSION_2 || h->version == CAP_VERSION_3)
		return 2;
	return put_user_u32(CAP_VERSION_3, (u32 __user *)user) ? -EFAULT : -EINVAL;
}

SYSCALL(capget)
{
	struct cap_header h;
	int words = cap_words(a0, &h);
	u32 data[2][3] = { { 0 } };
	struct process *p;
	u64 caps;

	if (words < 0)
		return words == -EINVAL && !a1 ? 0 : words;
	if (h.pid < 0)
		return -EINVAL;
	p = proc_get(h.pid ? h.pid : current->tgid);
	if (!p)
		return -ESRCH;
	caps = p->cred.euid ? 0 : CAP_FULL;
	proc_put(p);
	for (int i = 0; i < 2; i++)
		data[i][0] = data[i][1] = caps >> 32 * i;
	return a1 && copy_to_user((void __user *)a1, data, words * sizeof(data[0])) ? -EFAULT : 0;
}

SYSCALL(capset)
{
	struct cap_header h;
	int words = cap_words(a0, &h);
	u32 data[2][3];

	if (words < 0)
		return words;
	if (h.pid && h.pid != current->tgid)
		return -EPERM;
	if (copy_from_user(data, (void __user *)a1, words * sizeof(data[0])))
		return -EFAULT;
	return root() ? 0 : data[0][1] || (words == 2 && data[1][1]) ? -EPERM : 0;
}
