"""Where memory lies: the system calls beside Linux's answers, and Debian's numactl package in the guest."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from test_programs import same

HERE = os.path.dirname(os.path.realpath(__file__))
PROGRAMS = ["numactl", "numastat", "migratepages", "migspeed", "memhog"]
ONE_SIDED = "256M:0,256M:"          # every CPU on node 0
TWO_CPUS = "256M:0-1,256M:"


def expected(name):
    with open(f"{HERE}/expected/{name}.txt") as f:
        return f.read()


@pytest.fixture(scope="module")
def numactl(images, tmp_path_factory):
    """An initramfs that also holds the package's programs and their libraries."""
    if not shutil.which("numactl"):
        pytest.fail("numactl is not installed; run ./setup")
    base = tmp_path_factory.mktemp("numa")
    subprocess.run([os.path.join(ROOT, "tools/mktree"), "-o", str(base / "tree"), *PROGRAMS], check=True)
    initrd, programs = str(base / "initramfs.cpio"), os.path.join(os.path.dirname(images.kernel), "user")
    bins = [word for name in sorted(os.listdir(programs)) for word in ("--bin", f"{programs}/{name}")]
    subprocess.run([sys.executable, "tools/mkinitramfs", "-o", initrd, *bins, "--extra", "tests/qemu/guest",
                    "--extra", str(base / "tree")], cwd=ROOT, check=True)
    return initrd


# Recorded on Linux 6.1 (Debian's cloud kernel) in QEMU with the same two nodes, as root on tmpfs, with
# transparent_hugepage=never numa_balancing=disable: movecheck /tmp
@pytest.mark.parametrize("debug,nodes", [(False, ONE_SIDED), (False, TWO_CPUS), (True, TWO_CPUS)],
                         ids=["1", "2", "debug-2"])
def test_answers_of_linux(boot, debug, nodes):
    run = boot(autorun="/lab/mark movecheck movecheck /tmp < /dev/null 2>&1 | cat", debug=debug,
               node_spec=nodes, cpus=2 if nodes == TWO_CPUS else 1, mem="512M")
    same(expected("movecheck"), run.section("movecheck"))


def table(text):
    """{row: [figures of the columns]} of numastat's tables."""
    rows = re.findall(r"^(\w[\w()]*) +(-?[\d.]+(?: +-?[\d.]+)+) *$", text, re.M)
    return {name: [float(v) for v in figures.split()] for name, figures in rows}


@pytest.fixture(scope="module")
def sections(images, numactl, tmp_path_factory):
    """What /lab/numa printed, on two CPUs of node 0."""
    import quire_qemu as qq
    log = tmp_path_factory.mktemp("run") / "serial"
    m = qq.Machine(kernel=images.kernel, initrd=numactl, node_spec=TWO_CPUS, cpus=2, mem="512M",
                   append='loglevel=4 seed=1 autorun="/lab/numa"', serial=f"file:{log}")
    status = qq.run(m, timeout=300)
    text = log.read_bytes().decode("utf-8", "replace").replace("\r", "")
    assert status == qq.EXIT_PASS, text[-3000:]
    return {m[1]: m[2] for m in re.finditer(r"^@begin (\w+)\n(.*?)^@end \1$", text, re.S | re.M)}


def test_numactl_says_what_it_says_on_linux(sections):
    want = dict(re.findall(r"^@begin (\w+)\n(.*?)^@end \w+$", expected("numactl"), re.S | re.M))
    for name in want:
        same(want[name], sections[name])
    assert "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\n" in sections["hardware"]
    assert "node 1 cpus:\n" in sections["hardware"] and "  1:  20  10 " in sections["hardware"]
    assert "node argument 5 is out of range" in sections["invalid"]


def test_policies_place_memory(sections):
    """8 MiB of Debian's memhog, bound to node 1 and then interleaved, as the counters of the nodes saw it."""
    before, between, after = (table(sections[s]) for s in ("before", "between", "after"))
    assert between["other_node"][1] - before["other_node"][1] >= 2048
    assert between["numa_hit"][0] - before["numa_hit"][0] < 512
    spread = [b - a for a, b in zip(between["interleave_hit"], after["interleave_hit"])]
    assert min(spread) >= 1024 and abs(spread[0] - spread[1]) <= 1
    assert after["numa_miss"] == after["numa_foreign"] == [0, 0]


def test_numastat_adds_up(sections):
    memory = table(sections["memory"])
    for name in ("MemTotal", "MemFree", "MemUsed", "AnonPages", "Slab", "AnonHugePages"):
        one, two, total = memory[name]
        assert abs(one + two - total) < 0.02, name
    assert memory["MemTotal"][2] > 490 and memory["MemUsed"][0] > memory["MemUsed"][1]


def test_pages_go_with_migratepages(sections):
    """A program that writes to 8 MiB all the time, sent from node 0 to node 1 and back."""
    on0, on1, again = (table(sections[s]) for s in ("on0", "on1", "on0again"))
    assert on0["Total"][0] > 9 and on0["Total"][1] == 0
    assert on1["Total"][1] > 9 and on1["Total"][0] == 0
    assert again["Total"][0] > 9 and again["Total"][1] == 0
    big = re.search(r"^\w+ (\S+) anon=2050 dirty=2050 .*N1=2050 kernelpagesize_kB=4$", sections["maps"], re.M)
    assert big and big[1] == "bind:0", "its policy is the thread's, and has not changed"
    assert re.search(r"bind:1 anon=2000 .* N1=2000 ", sections["speed"])
