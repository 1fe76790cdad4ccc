"""Failing disks: EIO reaches everybody it concerns, once, and nobody else; nothing hangs."""
import re

import pytest


@pytest.mark.parametrize("debug,cpus", [(False, 1), (True, 2)])
def test_a_failing_disk(boot, debug, cpus):
    run = boot(autorun="/lab/mark faults /lab/faults; /lab/mark log dmesg", debug=debug, cpus=cpus,
               append="loglevel=3 seed=1")
    text = run.section("faults")
    said = dict(line.rsplit(" ", 1) for line in text.splitlines() if re.search(r" \d+$", line))
    assert "promise: 8 of 8 writers saw EIO exactly once" in text, text
    assert said["writers"] == "0", text
    assert said["another file"] == "0", text
    assert said["first sync of the file"] != "0" and said["second"] == "0", text
    assert said["healthy disk"] == "0" and "\ninnocent\n" in text, text
    assert said["read error"] != "0" and said["read again"] == "0", text
    assert said["frozen sync"] != "0", text
    assert said["removed"] == "0" and re.search(r"^0$", text, re.M), text
    assert re.search(r"blk: faulty0: write error at sector \d+, \d+ sectors \(error 5\)", run.section("log"))
    assert len(re.findall(r"^umount (\d+)$", text, re.M)) == 2, text


LOAD = ("for d in bw hdd ssd usb; do echo $d:size=64M,mem=pages > /sys/kernel/quire/disks; "
        "mke2fs -F /dev/${d}0 > /dev/null; mount -t ext2 /dev/${d}0 /mnt; "
        "cp -a /bin /etc /mnt; sync; dd if=/dev/zero of=/mnt/z bs=64k count=32 conv=fsync; "
        "find /mnt | xargs ls -lad > /dev/null; umount /mnt; "
        "cat /sys/block/${d}0/model /sys/block/${d}0/stat; done")


def test_models_repeat(boot):
    """A load on every model, twice: the same to the byte, virtual times included."""
    append = "loglevel=6 seed=1"
    first = boot(autorun=f"mkdir -p /mnt; {LOAD}", append=append)
    second = boot(autorun=f"mkdir -p /mnt; {LOAD}", append=append)
    assert first.text == second.text
    for kind in ("hdd", "ssd", "usb", "bw"):
        assert re.search(rf"^{kind}:size=64M,bw=", first.text, re.M)
    busy = [int(n) for n in re.findall(r"^busy_us (\d+) ", first.text, re.M)]
    assert len(busy) == 4 and all(busy)
    # usb writes at 10 MiB/s, the wire at 100: its disk was busy at least six times as long
    assert busy[3] > 6 * busy[0]


def test_discard_keeps_the_file_system(boot):
    """A disk that forgets file data: names, sizes and block maps are there after a new mount."""
    run = boot(autorun="/lab/discard")
    files = dict((n, (int(s), int(b))) for n, s, b in
                 (line.split() for line in run.section("list").splitlines()))
    assert {n: s for n, (s, _) in files.items()} == {f"/mnt/d{i}/f": i << 20 for i in range(1, 6)}
    assert all(b * 512 >= s for s, b in files.values())
    assert run.section("data").strip() == "0"
    dropped = int(re.search(r"dropped_kb (\d+)", run.section("model"))[1])
    assert dropped == 15 << 10
