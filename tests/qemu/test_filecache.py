"""The page cache above a disk's file system: a verifying load of writes, stores, cuts and syncs; the
answers of Linux about advice and the ends of files; memory full of dirty pages of a slow disk.
"""
import os
import re

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
RAM = ("echo ram:size=48M > /sys/kernel/quire/disks; mke2fs -F -b {block} /dev/ram0 > /dev/null; "
       "mount -t ext2 /dev/ram0 /mnt; ")


@pytest.mark.parametrize("block,cpus,debug", [(1024, 2, False), (4096, 4, False), (1024, 1, True),
                                              (4096, 2, True)])
def test_mmapcheck(boot, block, cpus, debug):
    """Several processes at their own and at a common file; read again after a remount."""
    ops = 250 if debug else 500
    run = boot(autorun=RAM.format(block=block) +
               f"/lab/mark run mmapcheck run /mnt {ops} 4 {block + cpus}; "
               "umount /mnt && mount -t ext2 /dev/ram0 /mnt; "
               "/lab/mark again mmapcheck verify /mnt; umount /mnt; "
               "mount -t ext2 /dev/ram0 /mnt; echo 3 > /proc/sys/vm/drop_caches; "
               "/lab/mark third mmapcheck verify /mnt",
               cpus=cpus, debug=debug, mem="256M")
    for part in ("run", "again", "third"):
        assert run.section(part).strip() == "mmapcheck: OK"


# Recorded on Linux 6.18 as root on ext4:
#	cd /empty/dir; build/release/user/cachecheck $PWD > tests/qemu/expected/cachecheck.txt
@pytest.mark.parametrize("block", [1024, 4096])
def test_answers_of_linux(boot, block):
    with open(f"{HERE}/expected/cachecheck.txt") as f:
        want = f.read()
    run = boot(autorun=RAM.format(block=block) + "/lab/mark check cachecheck /mnt")
    assert run.section("check").splitlines() == want.splitlines()


def test_slow_disk_is_no_reason_to_kill(boot):
    """More is written than fits in memory, onto a disk that takes 3 MB/s: slow, and nobody dies."""
    run = boot(autorun="echo bw:size=512M,bw=3M,discard > /sys/kernel/quire/disks; "
               "mke2fs -F /dev/bw0 > /dev/null; mount -t ext2 /dev/bw0 /mnt; "
               "/lab/mark dd dd if=/dev/zero of=/mnt/big bs=64k count=1600; "
               "/lab/mark oom grep oom_kill /proc/vmstat; /lab/mark ls ls -l /mnt/big",
               mem="64M", nodes=1)
    assert "1600+0 records out" in run.section("dd")
    assert run.section("oom").split() == ["oom_kill", "0"]
    assert re.search(r"\b104857600\b", run.section("ls"))


def test_mapped_file_larger_than_memory(boot):
    """Every page of a file of twice the memory is read through a mapping: clean pages make room."""
    run = boot(autorun="echo bw:size=256M,bw=400M,discard > /sys/kernel/quire/disks; "
               "mke2fs -F /dev/bw0 > /dev/null; mount -t ext2 /dev/bw0 /mnt; "
               "dd if=/dev/zero of=/mnt/big bs=64k count=2000 2> /dev/null; "
               "/lab/mark touch mapread /mnt/big; /lab/mark oom grep oom_kill /proc/vmstat",
               mem="64M", nodes=1)
    assert "2000 x 64 KiB" in run.section("touch")
    assert run.section("oom").split() == ["oom_kill", "0"]
