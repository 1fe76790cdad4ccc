"""Swap areas as a user meets them: mkswap, swapon, swapoff, /proc/swaps, and what is refused."""
import re

import pytest

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


def areas(boot, case, debug):
    """guest/lab/swapareas: a program of 90 MiB, 75 MiB of memory, two models of 110 MiB."""
    return boot(autorun=f"/lab/mark {case} /lab/swapareas {case}", debug=debug, nodes=1, mem="320M",
                append="loglevel=4 seed=1 diskmem=240M disks=ssd:size=110M;hdd:size=110M")


def all_well(text, hogs):
    """So many programs with every page right, and every validator green."""
    assert len(re.findall(r"^memhog: \d+ MiB of \d+M taken, 0 wrong pages$", text, re.M)) == hogs, text
    check = re.findall(r"^(swap|buddy|slab|lru) +(\S+)$", text, re.M)
    assert len(check) >= 4 and all(word == "ok" for _, word in check), text


@pytest.mark.parametrize("debug", [False, True])
def test_equal_areas(boot, debug):
    """Areas of one priority fill evenly; one goes while its pages are needed, and nothing is lost."""
    text = areas(boot, "equal", debug).section("equal")
    all_well(text, 1)
    used = [int(n) for n in re.findall(r"^(?:ssd|hdd)0 uses (\d+) KiB$", text, re.M)]
    # turns of 32 pages, and the pages of a transfer that is under way
    assert len(used) == 2 and min(used) > 2048 and abs(used[0] - used[1]) <= 4 * 128, text
    assert "swapoff 0" in text and "/dev/ssd0" not in text.split("swapoff 0")[1], text


def test_better_area_first(boot):
    text = areas(boot, "order", False).section("order")
    all_well(text, 2)
    used = dict(re.findall(r"^(ssd0|hdd0) uses (\d+) KiB$", text, re.M))
    assert used["ssd0"] == "0" and int(used["hdd0"]) > 2048, text


def test_swapoff_without_room(boot):
    """What is in the area does not fit into memory: swapoff pays, not the program."""
    run = areas(boot, "small", False)
    text = run.section("small")
    all_well(text, 1)
    assert re.search(r"Out of memory: Killed process \d+ \(swapoff\)", text), text
    assert "swapoff: /dev/ssd0: it stays in use (EINTR)" in text, text
    assert re.findall(r"^swapoff (\d+)$", text, re.M) == ["137", "0"], text


def test_swapoff_interrupted(boot):
    text = areas(boot, "signal", False).section("signal")
    all_well(text, 2)
    assert re.findall(r"^swapoff (\d+)$", text, re.M) == ["143", "0"], text
    assert re.search(r"^/dev/hdd0 +partition\t112636\t\t[1-9]\d*\t\t0$", text, re.M), text


@pytest.mark.parametrize("debug", [False, True])
def test_failing_writes(boot, debug):
    """One write in five fails: the pages stay, one line says so, and a healed disk takes them."""
    text = areas(boot, "write", debug).section("write")
    all_well(text, 2)
    assert len(re.findall(r"swap: /dev/faulty0: error 5 writing slot \d+; the page stays", text)) == 1
    assert "swapoff 0" in text, text


def test_a_failing_read(boot):
    """Some pages are lost: their program ends with SIGBUS; the next one is well."""
    text = areas(boot, "read", False).section("read")
    all_well(text, 1)
    assert len(re.findall(r"swap: /dev/faulty0: error 5 reading slot \d+$", text, re.M)) == 1
    assert re.findall(r"^hog ended with (\d+)$", text, re.M) == ["135", "0"], text
    assert "swapoff 0" in text, text
