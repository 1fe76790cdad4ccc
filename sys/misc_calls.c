// SPDX-License-Identifier: BSD-2-Clause
/*
 * misc_calls.c - the machine as programs see it: names, totals, log, power; and per-thread oddments
 * (prctl, arch_prctl).
 */
#include "arch/cpu.h"
#include "arch/uaccess.h"
#include "kernel/exit_status.h"
#include "kernel/printk.h"
#include "kernel/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/uts.h"

/* ---- names ---- */

SYSCALL(uname)
{
	return copy_struct_to_user((void __user *)a0, &uts);
}

static long set_name(int (*set)(const char *, size_t), u64 user, u64 len)
{
	char name[UTS_LEN];

	if (current_proc->cred.euid)
		return -EPERM;
	if (len > UTS_LEN)
		return -EINVAL;
	if (copy_from_user(name, (void __user *)user, len))
		return -EFAULT;
	return set(name, len);
}

SYSCALL(sethostname)
{
	return set_name(uts_set_nodename, a0, a1);
}

SYSCALL(setdomainname)
{
	return set_name(uts_set_domainname, a0, a1);
}

/* ---- totals ---- */

SYSCALL(sysinfo)
{
	struct {
		s64 uptime;
		u64 loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
		u16 procs, pad;
		u64 totalhigh, freehigh;
		u32 mem_unit;
		char tail[4];
	} info;
	unsigned long load[3];

	memset(&info, 0, sizeof(info));
	sched_loadavg(load);
	for (int i = 0; i < 3; i++)
		info.loads[i] = load[i] << 5; /* 11 to 16 fraction bits */
	info.uptime = ktime_get() / NSEC_PER_SEC;
	info.totalram = totalram_pages * PAGE_SIZE;
	info.freeram = nr_free_pages() * PAGE_SIZE;
	info.sharedram = global_zone_state(NR_SHMEM) * PAGE_SIZE;
	info.totalswap = total_swap_pages() * PAGE_SIZE;
	info.freeswap = nr_swap_pages() * PAGE_SIZE;
	info.procs = min_t(u32, proc_nr_threads_total(), 65535);
	info.mem_unit = 1;
	return copy_to_user((void __user *)a0, &info, 112) ? -EFAULT : 0;
}

SYSCALL(getrandom)
{
	u8 buf[256];
	size_t n = min_t(u64, a1, 32u << 20), done = 0;

	if (a2 & ~7ull || (a2 & 6) == 6)
		return -EINVAL;
	while (done < n) {
		size_t chunk = min(n - done, sizeof(buf));

		if (done && signal_pending())
			return done;
		random_bytes(buf, chunk);
		if (copy_to_user((u8 __user *)a0 + done, buf, chunk))
			return done ? (long)done : -EFAULT;
		done += chunk;
		cond_resched();
	}
	return n;
}

/* ---- the log ---- */

static u64 syslog_seq; /* action 2 reads on from here */

static long log_read(u64 user, u64 len, u64 *seq)
{
	size_t size = clamp(len, 512ull, 65536ull), n;
	char *buf = kmalloc(size, GFP_KERNEL);
	long done = 0;

	if (!buf)
		return -ENOMEM;
	while ((u64)done < len) {
		u64 before = *seq;

		n = printk_read(seq, buf, min_t(u64, size, len - done), 1);
		if (!n || *seq == before)
			break;
		if (copy_to_user((char __user *)user + done, buf, n)) {
			done = done ? done : -EFAULT;
			break;
		}
		done += n;
		cond_resched();
	}
	kfree(buf);
	return done;
}

SYSCALL(syslog)
{
	int action = a0, level = a2;
	u64 seq;

	if (action != 3 && action != 10 && current_proc->cred.euid)
		return -EPERM;
	switch (action) {
	case 0: /* close, open */
	case 1:
		return 0;
	case 2: /* read, blocking: what is there */
		return (s64)(int)a2 < 0 || !a1 ? -EINVAL : log_read(a1, (u32)a2, &syslog_seq);
	case 3: /* read all */
	case 4: /* and clear */
		if ((int)a2 < 0 || !a1)
			return -EINVAL;
		seq = printk_first_seq();
		{
			long n = log_read(a1, (u32)a2, &seq);

			if (action == 4 && n >= 0)
				printk_clear();
			return n;
		}
	case 5:
		printk_clear();
		return 0;
	case 6: /* console off, on, level */
		console_loglevel = 1;
		return 0;
	case 7:
		console_loglevel = 7;
		return 0;
	case 8:
		if (level < 1 || level > 8)
			return -EINVAL;
		console_loglevel = level;
		return 0;
	case 9: /* unread, size */
		return 0;
	case 10:
		return printk_ring_bytes();
	default:
		return -EINVAL;
	}
}

/* ---- power ---- */

#define REBOOT_MAGIC1 0xfee1dead
#define REBOOT_RESTART 0x01234567
#define REBOOT_HALT 0xcdef0123
#define REBOOT_CAD_ON 0x89abcdef
#define REBOOT_CAD_OFF 0
#define REBOOT_POWER_OFF 0x4321fedc

SYSCALL(reboot)
{
	u32 magic2 = a1;

	if (current_proc->cred.euid)
		return -EPERM;
	if ((u32)a0 != REBOOT_MAGIC1 || (magic2 != 672274793 && magic2 != 85072278 &&
					 magic2 != 369367448 && magic2 != 537993216))
		return -EINVAL;
	switch ((u32)a2) {
	case REBOOT_CAD_ON:
	case REBOOT_CAD_OFF:
		return 0;
	case REBOOT_RESTART:
		pr_notice("reboot: restarting");
		vfs_sync_all(1);
		printk_flush();
		arch_reboot();
	case REBOOT_HALT:
	case REBOOT_POWER_OFF:
		pr_notice("reboot: power off, status %u", exit_status);
		vfs_sync_all(1);
		printk_flush();
		arch_poweroff(exit_status ? 1 : 0);
	default:
		return -EINVAL;
	}
}

/* ---- this thread ---- */

SYSCALL(arch_prctl)
{
	struct arch_thread *t = &current->arch;

	switch ((int)a0) {
	case 0x1001: /* ARCH_SET_GS */
		if (a1 >= USER_TOP)
			return -EPERM;
		arch_set_gs_base(t, a1);
		return 0;
	case 0x1002: /* ARCH_SET_FS */
		if (a1 >= USER_TOP)
			return -EPERM;
		arch_set_fs_base(t, a1);
		return 0;
	case 0x1003: /* ARCH_GET_FS */
		return put_user_u64(t->fs_base, (u64 __user *)a1);
	case 0x1004: /* ARCH_GET_GS */
		return put_user_u64(t->gs_base, (u64 __user *)a1);
	case 0x1011: /* ARCH_GET_CPUID */
		return 1;
	default:
		return -EINVAL;
	}
}

static long set_comm(u64 user)
{
	char name[16] = "";
	ssize_t n = strncpy_from_user(name, (const char __user *)user, 15);

	if (n < 0)
		return n;
	name[15] = 0;
	memcpy(current->comm, name, sizeof(name));
	return 0;
}

/* Faults that are answered now end first. */
static long set_thp_disable(unsigned long disable)
{
	struct aspace *mm = current->mm;

	if (down_write_killable(&mm->lock))
		return -EINTR;
	mm->thp_disabled = disable != 0;
	up_write(&mm->lock);
	return 0;
}

SYSCALL(prctl)
{
	struct task *t = current_task();
	struct process *p = t->proc;

	switch ((int)a0) {
	case 1: /* PR_SET_PDEATHSIG */
		if (a1 > NSIG)
			return -EINVAL;
		t->pdeath_signal = a1;
		return 0;
	case 2:
		return put_user_u32(t->pdeath_signal, (u32 __user *)a1);
	case 3: /* PR_GET_DUMPABLE */
		return p->dumpable;
	case 4:
		if (a1 > 1)
			return -EINVAL;
		p->dumpable = a1;
		return 0;
	case 7: /* PR_GET_KEEPCAPS */
		return p->keepcaps;
	case 8:
		if (a1 > 1)
			return -EINVAL;
		p->keepcaps = a1;
		return 0;
	case 15: /* PR_SET_NAME */
		return set_comm(a1);
	case 16:
		return copy_to_user((void __user *)a1, current->comm, 16) ? -EFAULT : 0;
	case 23: /* PR_CAPBSET_READ */
		return a1 > 40 ? -EINVAL : 1;
	case 29: /* PR_SET_TIMERSLACK */
		t->timer_slack_ns = a1 ? a1 : 50000;
		return 0;
	case 30:
		return t->timer_slack_ns;
	case 36: /* PR_SET_CHILD_SUBREAPER */
		spin_lock(&proc_tree_lock);
		p->flags = a1 ? p->flags | PF_SUBREAPER : p->flags & ~PF_SUBREAPER;
		spin_unlock(&proc_tree_lock);
		return 0;
	case 37:
		return put_user_u32(!!(p->flags & PF_SUBREAPER), (u32 __user *)a1);
	case 38: /* PR_SET_NO_NEW_PRIVS */
		if (a1 != 1 || a2 || a3 || a4)
			return -EINVAL;
		p->no_new_privs = true;
		return 0;
	case 39:
		return p->no_new_privs;
	case 41: /* PR_SET_THP_DISABLE */
		if (a2 || a3 || a4)
			return -EINVAL;
		return set_thp_disable(a1);
	case 42: /* PR_GET_THP_DISABLE */
		return a1 || a2 || a3 || a4 ? -EINVAL : current->mm->thp_disabled;
	default:
		return -EINVAL;
	}
}

/* ---- barriers ---- */

static void barrier_on_cpu(void *unused)
{
	smp_mb();
}

SYSCALL(membarrier)
{
	if (a1)
		return -EINVAL;
	switch ((int)a0) {
	case 0: /* QUERY */
		return 1 | 2 | 4 | 8 | 16;
	case 1: /* GLOBAL */
	case 2: /* GLOBAL_EXPEDITED */
	case 8: /* PRIVATE_EXPEDITED */
		if (nr_cpus > 1)
			smp_call_mask(cpu_online_mask, barrier_on_cpu, NULL);
		return 0;
	case 4: /* registrations */
	case 16:
		return 0;
	default:
		return -EINVAL;
	}
}
