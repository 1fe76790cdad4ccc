// SPDX-License-Identifier: BSD-2-Clause
/*
 * rootfs.c - root=/dev/vda: the tree of files comes from a disk.
 *
 * The kernel always starts on a tmpfs, into which the initramfs (if there is one) was unpacked.
 * root= mounts a disk on a directory of it and then moves that mount over "/", so PID 1 and all its
 * children see the disk alone; what lies below stays, unseen. devtmpfs is mounted on the new
 * /dev, since the first program needs its console before it can mount anything itself.
 *
 *   root=/dev/vda2       device by name (a /dev is not needed for it)
 *   rootfstype=ext2      its type
 *   rootflags=a,b=c      mount options
 *   ro | rw              read-only, or for writing (default)
 */
#include "sys/rootfs.h"
#include "fs/vfs.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/errno_name.h"
#include "lib/string.h"

#define NEW_ROOT "/.newroot"

static char root_device[64];
BOOT_PARAM_STRING("root", root_device, "device of the first root file system (default: none)");
static char root_type[16] = "ext2";
BOOT_PARAM_STRING("rootfstype", root_type, "type of the file system on root=");
static char root_flags[128];
BOOT_PARAM_STRING("rootflags", root_flags, "mount options for root=");
BOOT_PARAM_WORD("ro", "mount root= read-only");
BOOT_PARAM_WORD("rw", "mount root= for writing");

void mount_root(void)
{
	u32 flags = param_get("ro") ? MS_RDONLY : 0;
	const char *what = "mount";
	int err;

	if (!root_device[0])
		return;
	err = vfs_mkdir(NULL, NEW_ROOT, 0700);
	if (!err || err == -EEXIST)
		err = vfs_mount(root_device, NEW_ROOT, root_type, flags,
				root_flags[0] ? root_flags : NULL);
	if (!err) {
		what = "chdir to";
		err = vfs_chdir(NULL, NEW_ROOT);
	}
	if (!err) {
		what = "move";
		err = vfs_mount(NEW_ROOT, "/", NULL, MS_MOVE, NULL);
	}
	if (!err)
		err = vfs_chroot(".");
	if (err) {
		pr_err("root: cannot %s root=%s as %s: %s", what, root_device, root_type,
		       errno_name(-err));
		return;
	}
	pr_notice("root: %s (%s%s) is /", root_device, root_type, flags ? ", read-only" : "");
	err = vfs_mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	if (err)
		pr_warn("root: no devtmpfs on /dev of %s: %s", root_device, errno_name(-err));
}
