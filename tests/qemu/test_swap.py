"""Swap areas as a user meets them: mkswap, swapon, swapoff, /proc/swaps, and what is refused."""
import re

DISKS = "diskmem=48M disks=hdd:size=16M;ssd:size=16M;usb:size=8M"
HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"


def row(path, kind, kib, prio, used=0):
    kind = "file\t" if kind == "file" else kind
    return f"{path:<40}{kind}\t{kib}\t\t{used}\t\t{prio}\n"


def section(name, command):
    return f"/lab/mark {name} sh -c '{command}'"


def test_calls(boot):
    """What the calls accept and refuse, on each kind of disk and on files with small and large blocks."""
    on_file = "mount -t ext2 /dev/ram0 /mnt && swapcheck file /mnt; umount /mnt"
    run = boot(autorun="; ".join(
        [f"swapcheck device /dev/{d}" for d in ("ram0", "hdd0", "ssd0", "usb0")] +
        [f"mke2fs -q -F -b {b} /dev/ram0 > /dev/null; {on_file}" for b in (1024, 4096)] +
        [section("log", "dmesg | grep swapcheck.holes:"), section("after", "cat /proc/swaps")]),
        append=f"loglevel=1 seed=1 ramdisk=16M {DISKS}", nodes=1)
    done = re.findall(r"swapcheck: (\d+) checks, (\d+) wrong", run.text)
    assert len(done) == 6 and all(int(n) > 50 and wrong == "0" for n, wrong in done), run.text[-4000:]
    assert run.section("log").count("swapcheck.holes: there is a hole at byte ") == 2
    assert run.section("after") == HEAD


def test_user(boot):
    """The life of some areas; every table to the letter."""
    run = boot(autorun="; ".join([
        "mkswap -L first /dev/ram0 > /dev/null; mkswap /dev/hdd0 > /dev/null; mkswap /dev/ssd0 > /dev/null",
        "swapon /dev/ram0; swapon /dev/hdd0; swapcheck on /dev/ssd0 5",
        section("three", "cat /proc/swaps"), section("free", "free -k | grep Swap"),
        section("meminfo", "grep ^Swap[TF] /proc/meminfo"),
        "swapoff /dev/ram0", section("two", "cat /proc/swaps"),
        "swapoff /dev/ssd0; swapoff /dev/hdd0", section("none", "cat /proc/swaps"),
        "echo /dev/hdd0 none swap sw 0 0 > /etc/fstab; echo /dev/ram0 none swap sw 0 0 >> /etc/fstab",
        "swapon -a", section("all", "cat /proc/swaps"), "swapoff -a", section("off", "cat /proc/swaps"),
        # a device in use is nobody else's; a file system in use is no swap area
        "swapon /dev/ram0; mount -t ext2 /dev/ram0 /mnt; mke2fs -F /dev/ram0; swapoff /dev/ram0",
        "mke2fs -q -F /dev/ram0 > /dev/null; mount -t ext2 /dev/ram0 /mnt; swapon /dev/ram0",
        "dd if=/dev/zero of=/mnt/swap bs=64k count=16; mkswap /mnt/swap > /dev/null; swapon /mnt/swap",
        section("file", "cat /proc/swaps"), "umount /mnt && echo wrongly unmounted",
        "swapoff /mnt/swap; umount /mnt && echo unmounted well",
        section("check", "cat /sys/kernel/quire/check"), section("log", "dmesg | grep ].swapo")]),
        append=f"loglevel=1 seed=1 ramdisk=16M {DISKS}", nodes=1)
    ram, hdd, ssd = 16384 - 4, 16384 - 4, 16384 - 4
    assert run.section("three") == (HEAD + row("/dev/ram0", "partition", ram, -2) +
                                    row("/dev/hdd0", "partition", hdd, -3) +
                                    row("/dev/ssd0", "partition", ssd, 5))
    total = ram + hdd + ssd
    assert run.section("free").split() == ["Swap:", str(total), "0", str(total)]
    assert re.findall(r"(\d+) kB", run.section("meminfo")) == [str(total)] * 2
    assert run.section("two") == (HEAD + row("/dev/hdd0", "partition", hdd, -2) +
                                  row("/dev/ssd0", "partition", ssd, 5))
    assert run.section("none") == run.section("off") == HEAD
    assert run.section("all") == (HEAD + row("/dev/hdd0", "partition", hdd, -2) +
                                  row("/dev/ram0", "partition", ram, -3))
    assert run.section("file") == HEAD + row("/mnt/swap", "file", 1020, -2)
    assert "wrongly" not in run.text and "unmounted well" in run.text
    assert re.search(r"^swap +ok$", run.section("check"), re.M), run.section("check")
    log = [line.split("] ", 1)[-1] for line in run.section("log").splitlines()]
    # swapoff -a goes through /proc/swaps and then through fstab
    assert log == ["swapoff: /dev/hdd0: it is not a swap area (EINVAL)",
                   "swapoff: /dev/ram0: it is not a swap area (EINVAL)",
                   "swapon: /dev/ram0: the device is in use (EBUSY)"], log


DAMAGE = [
    (1024, 2, "header version 2: only 1 is known"),
    (1024, 0x01000000, "header version 16777216: made by a big-endian machine"),
    (1028, 0, "last page 0: it has no page but its header"),
    (1028, 4096, "last page 4096: it is shorter than that"),
    (1032, 638, "number of bad pages 638: the header has room for 637"),
    (1032, 1, "bad page 0: there is no such page"),
    (4086, 0, "no signature SWAPSPACE2 at byte 4086"),
]


def test_damaged_headers(boot):
    """Each damage is one line that names path and value; the area is taken as soon as it is whole."""
    steps = [f"mkswap /dev/ram0 > /dev/null; swapcheck poke /dev/ram0 {at} {value}; swapon /dev/ram0"
             for at, value, _ in DAMAGE]
    run = boot(autorun="; ".join([*steps, "mkswap /dev/ram0 > /dev/null; swapon /dev/ram0",
                                  section("log", "dmesg | grep ].swapo"),
                                  section("swaps", "cat /proc/swaps")]),
               append="loglevel=1 seed=1 ramdisk=16M", nodes=1)
    log = [line.split("] ", 1)[-1] for line in run.section("log").splitlines()]
    assert log == [f"swapon: /dev/ram0: {why} (EINVAL)" for _, _, why in DAMAGE]
    assert run.section("swaps") == HEAD + row("/dev/ram0", "partition", 16380, -2)
