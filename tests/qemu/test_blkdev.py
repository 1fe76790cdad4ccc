"""Block devices as programs see them: /dev, mounts, loop devices, O_DIRECT, what sync promises."""
import os
import subprocess

import pytest

PATH = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


def host(*argv, ok=True):
    run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=PATH)
    if ok:
        assert run.returncode == 0, run.stdout
    return run.stdout


@pytest.fixture
def disk(tmp_path):
    """An empty ext2 file system in a file."""
    path = str(tmp_path / "disk.img")
    with open(path, "wb") as f:
        f.truncate(32 << 20)
    host("mke2fs", "-q", "-F", "-t", "ext2", path)
    return path


@pytest.mark.parametrize("debug", [False, True])
def test_tools(boot, debug):
    run = boot(autorun="/lab/blkdev", append="loglevel=4 seed=1 ramdisk=64M", mem="192M", nodes=1, debug=debug)
    assert "blkdev: ok " in run.text, run.text[-3000:]


@pytest.mark.parametrize("how", [
    "seq 1 2000 > /mnt/f; sync",
    "seq 1 2000 > /mnt/f; sync -f /mnt/f",
    # the name is on the disk before; the contents are to follow
    "touch /mnt/f; sync; seq 1 2000 | diskcheck dsync /mnt/f",
    "touch /mnt/f; sync; seq 1 2000 | diskcheck sync /mnt/f",
    "touch /mnt/f; sync; seq 1 2000 | diskcheck rwf /mnt/f",
    "touch /mnt/f; sync; seq 1 2000 | dd of=/mnt/f bs=1000 conv=fsync",
    "touch /mnt/f; sync; seq 1 2000 > /mnt/f; sync -d /mnt/f",
    "mount -o remount,sync /mnt; touch /mnt/f; sync; seq 1 2000 > /mnt/f",
    "seq 1 2000 > /mnt/f; mount -o remount,ro /mnt",
    "seq 1 2000 > /mnt/f; umount /mnt",
])
def test_what_sync_promises(boot, disk, how):
    """Each way to ask for safety, then power off without another word."""
    boot(autorun=f"mount /dev/vda /mnt; {how}; poweroff -f -n", nodes=1, disks=[disk], check=False)
    want = "".join(f"{i}\n" for i in range(1, 2001))
    assert host("debugfs", "-R", "cat /f", disk).split("\n", 1)[1] == want


def test_clean_after_umount(boot, disk):
    boot(autorun="mount /dev/vda /mnt; cp -a /bin /mnt; dd if=/bin/busybox of=/mnt/direct bs=64k oflag=direct; "
                 "umount /mnt; mount -o ro /dev/vda /mnt; cmp /bin/busybox /mnt/direct && echo direct: same; "
                 "umount /mnt", nodes=1, disks=[disk])
    host("e2fsck", "-fn", disk)


def test_disk_pulled_out(boot):
    """Its file system gives errors; nothing hangs, and it can be unmounted."""
    run = boot(autorun="mke2fs -F /dev/ram0 > /dev/null; mount -t ext2 /dev/ram0 /mnt; cp /bin/busybox /mnt; "
                       "echo remove ram0 > /sys/kernel/quire/disks; dd if=/dev/zero of=/mnt/x bs=64k count=16 "
                       "conv=fsync || echo write failed; ls /dev/ram0; umount /mnt; mount | grep -c ram0; "
                       "echo ram:size=8M > /sys/kernel/quire/disks; mke2fs -F /dev/ram0 > /dev/null; "
                       "mount -t ext2 /dev/ram0 /mnt && echo new one is there; umount /mnt",
               append="loglevel=4 seed=1 ramdisk=16M", nodes=1)
    assert "write failed" in run.text and "new one is there" in run.text, run.text[-3000:]
