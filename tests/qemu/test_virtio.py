"""Disks behind virtio: bytes arrive, edges hold, features are used, what cannot work says so.

Most of these run on host time: the disk is the host's, and so is its speed.
"""
import hashlib
import os
import random
import re
import socket
import struct
import threading
import time

import pytest

KIB, MIB = 1 << 10, 1 << 20


def md5(data):
    return hashlib.md5(data).hexdigest()


@pytest.fixture
def image(tmp_path):
    """image(name, bytes, seed): a file of that size, of zeros or of seeded noise. => its path"""
    def make(name, size, seed=None):
        path = tmp_path / name
        if seed is None:
            with open(path, "wb") as f:
                f.truncate(size)
        else:
            path.write_bytes(random.Random(seed).randbytes(size))
        return str(path)
    return make


def words(text):
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def copy_works(boot, image, size=8 * MIB, a="", b="", **fields):
    """The guest copies one disk to another; all three sums agree. => the run"""
    source, target = image("source", size, seed=1), image("target", size)
    run = boot(autorun="/lab/mark copy /lab/disk copy /dev/vdb /dev/vda; /lab/mark show /lab/disk show vda vdb",
               disks=[target + a, source + ",ro" + b], **fields)
    got = words(run.section("copy"))
    want = md5(open(source, "rb").read())
    assert got["from"] == got["to"] == want, got
    assert md5(open(target, "rb").read()) == want
    return run


@pytest.mark.parametrize("firmware,machine,clock", [
    ("kernel", "", "virtual"), ("kernel", "q35", "wall"), ("bios", "", "wall"), ("uefi", "", "wall")])
def test_copy(boot, image, firmware, machine, clock):
    run = copy_works(boot, image, a=",serial=QUIRE-1", firmware=firmware, machine=machine, clock=clock)
    show = run.section("show")
    assert re.search(r"^vda: QUIRE-1 ro 0 ", show, re.M) and re.search(r"^vdb:  ?ro 1 ", show, re.M), show
    assert re.search(r"253 +0 +8192 vda\n +253 +16 +8192 vdb", show), show
    assert "in flight 0" in show and "broken" not in show and "dead" not in show


@pytest.mark.parametrize("option", ["dev.indirect_desc=off", "dev.event_idx=off", "dev.vectors=0", "dev.vectors=1",
                                    "block=4096", "dev.seg-max-adjust=off,dev.queue-size=64,dev.indirect_desc=off",
                                    "dev.packed=on", "dev.disable-legacy=on"])
def test_features_missing(boot, image, option):
    """Whatever the device does not offer, the bytes are right."""
    run = copy_works(boot, image, size=2 * MIB, a="," + option, clock="wall")
    entries = int(re.search(r"^virtio0 .* (\d+) MSI-X entries", run.section("show"), re.M)[1])
    if "vectors" in option:
        assert entries == int(option[-1])
    else:
        assert entries == 2


def test_ports(boot, image):
    run = copy_works(boot, image, size=MIB, machine="q35", clock="wall", append="loglevel=7 pci=ports")
    assert "configuration through ports" in run.text


def test_debug_kernel(boot, image):
    copy_works(boot, image, debug=True, cpus=2, clock="wall")


def test_four_queues(boot, image):
    """Four readers on four CPUs: every queue is used, every byte right."""
    disks = [image(f"d{n}", 4 * MIB, seed=n) for n in range(2)]
    run = boot(autorun="/lab/mark sums /lab/disk sums /dev/vda /dev/vdb /dev/vda /dev/vdb; "
                       "for c in 0 1 2 3; do taskset -c $c dd if=/dev/vda of=/dev/null bs=4k count=64 iflag=direct; done; "
                       "/lab/mark show /lab/disk show vda",
               disks=[f"{d},queues=4" for d in disks], cpus=4, clock="wall")
    lines = run.section("sums").splitlines()
    for n, d in enumerate(disks):
        assert lines.count(f"/dev/vd{'ab'[n]} " + md5(open(d, "rb").read())) == 2
    first = run.section("show").split("virtio1")[0]
    taken = [int(t) for t in re.findall(r"queue \d .* taken (\d+)", first)]
    assert len(taken) == 4 and min(taken) >= 64, first


def test_more_cpus_than_queues(boot, image):
    copy_works(boot, image, size=2 * MIB, a=",queues=2", b=",queues=1", cpus=3, clock="wall")


def test_read_only(boot, image):
    path = image("ro", MIB, seed=3)
    before = md5(open(path, "rb").read())
    run = boot(autorun="echo x > /dev/vda || echo refused; blockdev --getro /dev/vda; sync", disks=[path + ",ro"],
               clock="wall")
    assert "refused" in run.text and md5(open(path, "rb").read()) == before


@pytest.mark.parametrize("size", [512, 1536, 4 * MIB + 4096 + 1024])
def test_edges(boot, image, size):
    """Capacities that no page divides: the last sector is there, and nothing behind it."""
    path = image("odd", size, seed=5)
    data = open(path, "rb").read()
    run = boot(autorun="/lab/mark edges /lab/disk edges /dev/vda", disks=[path], clock="wall")
    got = words(run.section("edges"))
    assert got["sectors"] == str(size // 512) and got["bytes"] == str(size)
    assert got["last"] == got["direct"] == md5(data[-512:]), got
    assert got["behind"] == "0" and "No space left on device" in run.section("edges")
    assert "written" in run.section("edges")
    now = open(path, "rb").read()
    assert len(now) == size and now == data[:-20] + b"the last bytes of it"


def test_flush_reaches_the_host(boot, image, tmp_path):
    """QEMU logs writes and flushes in order: fsync brings its data before a flush."""
    path, log = image("data", 4 * MIB), tmp_path / "log"
    log.write_bytes(b"")
    run = boot(autorun="dd if=/dev/zero of=/dev/vda bs=4k count=16 conv=fsync", clock="wall",
               extra=["-drive", f"if=none,id=x,driver=blklogwrites,file.driver=file,file.filename={path},"
                      f"log.driver=file,log.filename={log}", "-device", "virtio-blk-pci,drive=x"])
    assert "16+0 records out" in run.text
    raw = log.read_bytes()
    count, sector = struct.unpack_from("<QI", raw, 16)
    at, seen = sector, []
    for _ in range(count):
        _, sectors, flags = struct.unpack_from("<QQQ", raw, at)
        seen.append("flush" if flags & 1 else "discard" if flags & 4 else "write")
        at += sector + (sectors * sector if seen[-1] == "write" else 0)
    assert "write" in seen and seen[-1] == "flush", seen


def test_discard(boot, image):
    """Discarded ranges give their space back on the host."""
    path = image("full", 8 * MIB, seed=9)
    os.system(f"sync {path}")
    full = os.stat(path).st_blocks
    run = boot(autorun="blkdiscard -o 1048576 -l 4194304 /dev/vda && echo done; sync", disks=[path], clock="wall")
    assert "done" in run.text
    data = open(path, "rb").read()
    noise = random.Random(9).randbytes(8 * MIB)
    assert data[:MIB] == noise[:MIB] and data[5 * MIB:] == noise[5 * MIB:]
    assert not any(data[MIB:5 * MIB])
    assert full - os.stat(path).st_blocks >= 4 * MIB // 512 - 64


def test_capacity_change(boot, image, tmp_path):
    """QEMU grows the disk under the running kernel."""
    path, monitor = image("small", MIB, seed=2), str(tmp_path / "monitor")
    out = tmp_path / "out1"

    def grow():
        end = time.time() + 120
        while time.time() < end and not (out.exists() and b"before" in out.read_bytes()):
            time.sleep(0.05)
        with open(path, "r+b") as f:
            f.truncate(3 * MIB)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(monitor)
            s.recv(1000)
            s.sendall(b"block_resize disk0 3145728B\n")
            s.recv(1000)
            time.sleep(0.2)

    helper = threading.Thread(target=grow)
    helper.start()
    run = boot(autorun="/lab/mark grow /lab/disk grow /dev/vda", disks=[path], clock="wall",
               extra=["-monitor", f"unix:{monitor},server,nowait"])
    helper.join()
    got = words(run.section("grow"))
    assert got["after"] == str(3 * MIB // 512) and got["new"] == md5(bytes(2 * MIB)), got


def test_read_error(boot, image):
    """A sector the host cannot read: EIO for it, everything else goes on."""
    path = image("bad", MIB, seed=4)
    run = boot(autorun="dd if=/dev/vda of=/dev/null bs=512 skip=1000 count=1 iflag=direct; "
                       "dd if=/dev/vda of=/dev/null bs=512 skip=1008 count=1 iflag=direct; cat /sys/block/vda/model",
               clock="wall", append="loglevel=4 seed=1",
               extra=["-drive", "if=none,id=x,driver=blkdebug,image.driver=file,image.filename=" + path +
                      ",inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.errno=5,inject-error.0.sector=1000",
                      "-device", "virtio-blk-pci,drive=x"])
    assert "Input/output error" in run.text or "I/O error" in run.text, run.text[-1500:]
    assert "1+0 records out" in run.text and re.search(r" errors [1-9]", run.text)


@pytest.mark.parametrize("option,line", [
    ("dev.disable-modern=on", r"virtio: 00:0\d\.0: device 1001 has the legacy layout only \(disable-modern\?\): not used")])
def test_refused(boot, image, option, line):
    """One clear line, no disk, and the other disk works."""
    run = boot(autorun="cat /proc/partitions", disks=[image("a", MIB) + "," + option, image("b", 2 * MIB)],
               clock="wall", append="loglevel=5 seed=1")
    assert len(re.findall(line, run.text)) == 1
    assert "2048 vda" in run.text and "vdb" not in run.text


@pytest.mark.parametrize("debug,cpus", [(False, 1), (False, 4), (True, 2)], ids=["1", "4", "debug-2"])
def test_aio(boot, image, debug, cpus):
    """io_submit past the cache: right bytes, and programs that end with requests in flight leave nothing."""
    run = boot(autorun="/lab/mark aio aiodisk /dev/vda; echo 3 > /proc/sys/vm/drop_caches; "
                       "/lab/mark nr cat /proc/sys/fs/aio-nr", disks=[image("d", 8 * MIB)],
               debug=debug, cpus=cpus, clock="wall")
    assert run.section("aio").endswith("\n0 wrong\n"), run.section("aio")
    assert run.section("nr") == "0\n"
