"""ext2 on real images: made by mke2fs, used in the guest, judged by e2fsck and debugfs."""
import hashlib
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

ENV = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
KINDS = {
    "1k": ["-b", "1024"],
    "2k": ["-b", "2048", "-I", "256"],
    "4k": ["-b", "4096"],
    "rev0": ["-b", "1024", "-r", "0", "-O", "none"],
    "plain": ["-b", "1024", "-I", "128", "-O", "^dir_index,^ext_attr,^resize_inode,^filetype"],
    "small-groups": ["-b", "1024", "-g", "1024", "-O", "^resize_inode"],
}


def tool(*argv, ok=(0,)):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENV,
                          errors="replace")
    assert done.returncode in ok, f"{argv}: status {done.returncode}\n{done.stdout[-3000:]}"
    return done.stdout


def mke2fs(path, kind, size, tree=None):
    tool("mke2fs", "-q", "-F", "-t", "ext2", *kind, *(["-d", str(tree)] if tree else []), str(path), size)
    return str(path)


def check(image):
    tool("e2fsck", "-fn", image)


def md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


def sums(text):
    return {name: digest for digest, name in re.findall(r"^([0-9a-f]{32})  \./(.+)$", text, re.M)}


def dump(image, to):
    """All files of an image, by debugfs. => {name: md5}"""
    to.mkdir()
    tool("debugfs", "-R", f"rdump / {to}", image)
    return {str(p.relative_to(to)): md5(p) for p in to.rglob("*") if p.is_file() and not p.is_symlink()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    base, rnd = tmp_path_factory.mktemp("tree"), random.Random(7)
    for i in range(60):
        d = base / f"d{i % 7}" / f"e{i % 3}"
        d.mkdir(parents=True, exist_ok=True)
        (d / f"file{i}").write_bytes(rnd.randbytes(rnd.choice([0, 1, 100, 1024, 4096, 5000, 70000])))
    (base / "big").write_bytes(rnd.randbytes(900001))
    (base / "script").write_text("#!/bin/sh\n")
    (base / "script").chmod(0o4755)
    os.symlink("big", base / "to-big")
    os.symlink("n" * 200, base / "long-link")
    os.link(base / "big", base / "d1" / "hard")
    return base


@pytest.fixture(scope="module")
def source(tree, tmp_path_factory):
    return mke2fs(tmp_path_factory.mktemp("source") / "src.img", ["-b", "1024"], "16M", tree)


LONG = ("2k", "plain", "small-groups")


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.soak) if k in LONG else k
                                  for k in KINDS])
def test_fill(boot, source, tree, tmp_path, kind):
    """tar, cp -a, fsync, ten thousand names, holes, links, devices: e2fsck finds nothing."""
    many = 10000 if kind in ("1k", "2k") else 1500
    image = mke2fs(tmp_path / "w.img", KINDS[kind] + ["-N", "12500"], "64M")
    run = boot(autorun=f"MANY={many} /lab/ext2 fill", clock="wall", nodes=1, disks=[source, image])
    assert "ext2: done: fill" in run.text, run.text[-3000:]
    check(image)
    told, found = sums(run.section("sums")), dump(image, tmp_path / "out")
    assert told == found
    original = {str(p.relative_to(tree)): md5(p) for p in tree.rglob("*")
                if p.is_file() and not p.is_symlink()}
    for copy in ("tar", "cp"):
        assert {n: h for n, h in found.items() if n.startswith(copy + "/") and "lost+found" not in n} \
            == {f"{copy}/{n}": h for n, h in original.items()}
    stat = tool("debugfs", "-R", "stat /links/1", image)
    assert re.search(r"Mode: +04711", stat) and re.search(r"Links: 8\b", stat), stat
    assert re.search(r"User: +70000 +Group: +80000", tool("debugfs", "-R", "stat /short", image))
    assert "number: 07:300 " in tool("debugfs", "-R", "stat /loop", image)
    sparse = tool("debugfs", "-R", "stat /sparse", image)
    assert int(re.search(r"Blockcount: (\d+)", sparse)[1]) < 250, sparse
    header = tool("dumpe2fs", "-h", image)
    assert re.search(r"Filesystem state: +clean", header) and re.search(r"Mount count: +1\b", header)


@pytest.mark.parametrize("kind", ["1k", "4k", "rev0"])
def test_reads_what_the_host_made(boot, tree, tmp_path, kind):
    image = mke2fs(tmp_path / "h.img", KINDS[kind], "24M", tree)
    run = boot(autorun="DISK=/dev/vda /lab/ext2 readback", clock="wall", nodes=1, disks=[image])
    assert sums(run.section("sums")) == {str(p.relative_to(tree)): md5(p) for p in tree.rglob("*")
                                         if p.is_file() and not p.is_symlink()}
    assert "ext2: done: readback" in run.text


def test_attributes_and_hash_trees(boot, tmp_path):
    """Shared attribute blocks are counted down and freed; a changed directory loses its tree."""
    base = tmp_path / "legacy"
    (base / "tree").mkdir(parents=True)
    (base / "attrs").mkdir()
    for i in range(1, 401):
        (base / "tree" / f"name{i}").write_text("x")
    for name in ("attr1", "attr2", "attrs/attr3"):
        (base / name).write_text(name)
    image = mke2fs(tmp_path / "a.img", ["-b", "1024", "-I", "128", "-O", "dir_index,ext_attr"], "16M", base)
    for name in ("attr1", "attr2", "attrs/attr3", "attrs"):
        tool("debugfs", "-w", "-R", f"ea_set /{name} user.key {'v' * 200}", image)
    tool("e2fsck", "-fyD", image, ok=(0, 1))
    assert "Flags: 0x1000" in tool("debugfs", "-R", "stat /tree", image)
    assert re.search(r"File ACL: [1-9]", tool("debugfs", "-R", "stat /attr1", image))
    run = boot(autorun="DISK=/dev/vda /lab/ext2 legacy", clock="wall", nodes=1, disks=[image])
    assert "ext2: done: legacy" in run.text
    check(image)
    assert "Flags: 0x0" in tool("debugfs", "-R", "stat /tree", image)
    assert "v" * 200 in tool("debugfs", "-R", "ea_get /attr2 user.key", image)


@pytest.mark.parametrize("kind", ["1k", "4k", "rev0"])
def test_full(boot, tmp_path, kind):
    """No space, no inodes; everything comes back; read-only and back."""
    image = mke2fs(tmp_path / "f.img", KINDS[kind] + ["-N", "512"], "8M")
    run = boot(autorun="DISK=/dev/vda /lab/ext2 full", clock="wall", nodes=1, disks=[image])
    assert "ext2: done: full" in run.text, run.text[-3000:]
    check(image)
    assert "large_file" in tool("dumpe2fs", "-h", image)


def test_four_cpus(boot, source, tmp_path):
    image = mke2fs(tmp_path / "p.img", ["-b", "1024", "-g", "8192"], "64M")
    run = boot(autorun="/lab/ext2 many_cpus", clock="wall", nodes=1, cpus=4, disks=[source, image])
    assert "ext2: done: many_cpus" in run.text, run.text[-3000:]
    check(image)
    assert sums(run.section("sums")) == dump(image, tmp_path / "out")


def test_remount_beside_changes(boot, tmp_path):
    """Read-only and back, hundreds of times, while names are made and removed: nothing is half done."""
    image = mke2fs(tmp_path / "r.img", ["-b", "1024"], "64M")
    run = boot(autorun="/lab/remount", clock="wall", nodes=1, cpus=4, disks=[image])
    assert "remount: done" in run.text, run.text[-3000:]
    assert run.section("complaints") == ""
    check(image)


def test_refusals(boot, tmp_path):
    """What cannot be mounted says why, by name."""
    image = str(tmp_path / "x.img")
    words = []
    for name, argv in [("extent", ["-t", "ext4", "-O", "^64bit,^metadata_csum"]),
                       ("needs_recovery", ["-t", "ext3"]), ("huge_file", ["-t", "ext2", "-O", "huge_file"])]:
        tool("mke2fs", "-q", "-F", *argv, image, "8M")
        if name == "needs_recovery":
            tool("debugfs", "-w", "-R", "feature needs_recovery", image)
        run = boot(autorun="mount -t ext2 -o rw /dev/vda /mnt; dmesg | grep ext2; cat /proc/mounts",
                   clock="wall", nodes=1, disks=[image], check=False)
        words.append(name)
        assert re.search(rf"ext2 \(vda\): .*\b{name}\b", run.text), run.text[-2000:]
        assert "/dev/vda /mnt ext2 rw" not in run.text


def test_not_clean(boot, tmp_path):
    """The valid bit is off while mounted for writing; the next mount warns."""
    image = mke2fs(tmp_path / "n.img", KINDS["1k"], "8M")
    run = boot(autorun="mount -t ext2 /dev/vda /mnt && echo x > /mnt/x && sync && echo synced && "
               "reboot -n -f", clock="wall", nodes=1, disks=[image], check=False)
    assert "synced" in run.text
    assert re.search(r"Filesystem state: +not clean", tool("dumpe2fs", "-h", image))
    tool("e2fsck", "-fn", image, ok=(0, 4))
    run = boot(autorun="mount -t ext2 /dev/vda /mnt; dmesg | grep ext2; cat /mnt/x", clock="wall", nodes=1,
               disks=[image])
    assert "not cleanly unmounted" in run.text and re.search(r"^x$", run.text, re.M)


@pytest.mark.parametrize("policy", ["continue", "remount-ro", "panic"])
def test_errors(boot, tree, tmp_path, policy):
    """Damage: one line that names inode and block, EUCLEAN or EIO, and the policy."""
    image = mke2fs(tmp_path / "e.img", KINDS["1k"], "16M", tree)
    tool("debugfs", "-w", "-R", "set_inode_field /d2 block[0] 1", image)
    run = boot(autorun=f"mount -t ext2 -o errors={policy} /dev/vda /mnt; ls /mnt/d2; dmesg | grep ext2; "
               "grep ' /mnt ' /proc/mounts; echo x > /mnt/x && cat /mnt/x; md5sum /mnt/big; umount /mnt",
               clock="wall", nodes=1, disks=[image], check=False)
    assert re.search(r"ext2 \(vda\): inode \d+: its map names block 1, which is no file's", run.text)
    assert ("errors=panic" in run.text and "panic" in run.text) == (policy == "panic"), run.text[-2000:]
    if policy == "panic":
        return
    assert re.search("ls: /mnt/d2: (Structure needs cleaning|I/O error)", run.text), run.text[-2000:]
    assert md5(tree / "big") in run.text
    assert ("/mnt ext2 ro" in run.text) == (policy == "remount-ro")
    assert bool(re.search(r"^x$", run.text, re.M)) == (policy == "continue")
    assert "with errors" in tool("dumpe2fs", "-h", image) or policy == "remount-ro"


def test_root(boot, images, tmp_path):
    """root=: the initramfs' tree on a disk; left clean at the end."""
    rootdir = tmp_path / "root"
    rootdir.mkdir()
    with open(images.initrd, "rb") as f:
        subprocess.run(["cpio", "-idm", "--quiet", "--no-absolute-filenames"], stdin=f, cwd=rootdir,
                       check=False)
    image = mke2fs(tmp_path / "r.img", KINDS["4k"], "64M", rootdir)
    run = boot(autorun="cat /proc/mounts; echo kept > /etc/kept", clock="wall", nodes=1, disks=[image],
               append="loglevel=4 root=/dev/vda")
    assert "/dev/vda / ext2 rw" in run.text
    check(image)
    assert tool("debugfs", "-R", "cat /etc/kept", image).endswith("kept\n")
    assert re.search(r"Filesystem state: +clean", tool("dumpe2fs", "-h", image))
    run = boot(autorun="cat /proc/mounts /etc/kept; touch /x", clock="wall", nodes=1, disks=[image],
               append="loglevel=4 root=/dev/vda ro", check=False)
    assert "/dev/vda / ext2 ro" in run.text and "kept" in run.text and "Read-only file system" in run.text


# ---- damaged images ----

BASE = 1 << 20


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """Sound little images of each kind, one behind the other."""
    base, rnd = tmp_path_factory.mktemp("bases"), random.Random(1)
    tree = base / "tree"
    (tree / "a/b/c/d").mkdir(parents=True)
    for i in range(20):
        (tree / f"f{i}").write_bytes(rnd.randbytes(rnd.randrange(1, 9000)))
    for name, n in (("big", 300000), ("a/mid", 40000), ("a/b/x", 13000)):
        (tree / name).write_bytes(rnd.randbytes(n))
    for i in range(60):
        (tree / f"a/b/c/name{i:03}").write_bytes(b"x" * 50)
    os.symlink("f1", tree / "link")
    os.symlink("y" * 80, tree / "a/long")
    os.link(tree / "f2", tree / "a/hard")
    with open(tree / "sparse", "wb") as f:
        f.seek(280000)
        f.write(b"x" * 3000)
    kinds = [k for n, k in KINDS.items() if n != "small-groups"] + [["-b", "1024", "-g", "256", "-N", "128"]]
    all_of_them = base / "bases.img"
    with open(all_of_them, "wb") as out:
        for kind in kinds:
            out.write(open(mke2fs(base / "one.img", kind, "1M", tree), "rb").read())
            os.unlink(base / "one.img")
    return str(all_of_them)


def fuzz(boot, bases, first, count, **fields):
    run = boot(autorun=f"echo ram:size=1M > /sys/kernel/quire/disks; ext2fuzz /dev/vda {BASE} /dev/ram0 "
               f"/mnt {first} {count}; grep ext2_inode /proc/slabinfo", append="loglevel=3 seed=1",
               clock="wall", nodes=1, disks=[bases], **fields)
    m = re.search(rf"ext2fuzz: {count} images, (\d+) mounted", run.text)
    assert m and int(m[1]) > count // 2, run.text[-3000:]
    assert re.search(r"^ext2_inode +0 ", run.text, re.M), "inodes left behind\n" + run.text[-1000:]


def test_fuzz(boot, bases):
    fuzz(boot, bases, 0, 60)


@pytest.mark.soak
def test_fuzz_long(boot, bases):
    fuzz(boot, bases, 0, 1000, limit=1200)


@pytest.mark.soak
def test_fuzz_debug(boot, bases):
    fuzz(boot, bases, 5000, 150, limit=1800, debug=True, cpus=2)
