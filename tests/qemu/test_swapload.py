"""More memory than there is: a verifying load with swap, and programs whose memory does not fit."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

# 64 MiB of memory on two nodes; the rest of the machine is the two disks.
NODES = "32M:0-1,436M:2-3"
DISKS = "bw:size=200M,bw=400M;bw:size=190M,bw=200M"
# Together three times the memory: private, mapped files, page cache, shared.
LOAD = "-a 60M -m 48M -c 24M -s 48M"


def counters(text):
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) (\d+)$", text, re.M)}


def check_load(run, goal):
    load = run.section("verify")
    print(load)
    assert re.search(r"^verify: \d+ pages checked, 0 wrong pages, 0 wrong bytes, 0 failures$", load, re.M), load
    swapped_in, refaults = map(int, re.search(r"pswpin (\d+) .* refaults (\d+)$", load, re.M).groups())
    assert swapped_in + refaults >= goal, load
    assert swapped_in > goal // 10 and refaults > goal // 10, "both kinds of coming back"
    for kind in "anon private mapped cached shared tmpfile segment".split():
        assert int(re.search(rf"^verify: {kind} +(\d+)", load, re.M)[1]) > 1000, load
    assert run.section("swaps").count("\n") == 1, "swapoff left an area"
    check = run.section("check")
    assert check.split()[1::2] == ["ok"] * (len(check.split()) // 2), check
    for name in "swap buddy slab lru".split():
        assert re.search(rf"^{name} +ok$", check, re.M), check


def check_counters(run):
    """What is counted adds up: every page is free, on a list, or the kernel's."""
    v = counters(run.section("vmstat"))
    lists = sum(v[f"nr_{a}_{b}"] for a in ("active", "inactive") for b in ("anon", "file")) + v["nr_unevictable"]
    # on the lists: pages of programs, of files, of tmpfs; those on their way there lie in small batches
    assert abs(lists - v["nr_anon_pages"] - v["nr_file_pages"] - v.get("nr_swapcached", 0)) <= 32 * 8, v
    assert v["nr_dirty"] + v["nr_writeback"] < 200 and v["nr_isolated_anon"] == v["nr_isolated_file"] == 0, v
    total = int(re.search(r"MemTotal: +(\d+)", run.section("start"))[1]) // 4
    known = (v["nr_free_pages"] + lists + v["nr_slab_reclaimable"] + v["nr_slab_unreclaimable"] +
             v["nr_page_table_pages"] + v["nr_kernel_stack"] + v["nr_vmalloc"])
    # the rest: what the kernel took page by page, and per-CPU lists of free pages
    assert known <= total and total - known < total // 10, (total, known, v)


def swapload(boot, goal, expected, seed, options, append="", **fields):
    """goal: what has come back before every page is looked at once more; expected: all in all."""
    run = boot(autorun=f"/lab/swapload /dev/bw0 /dev/bw1 {goal} {options} {LOAD} -S {seed}", debug=True, cpus=4,
               node_spec=NODES, append=f"loglevel=4 seed={seed} diskmem=400M disks={DISKS} {append}", **fields)
    check_load(run, expected)
    check_counters(run)


def test_swapload(boot):
    swapload(boot, 40_000, 100_000, 1, "-p 2 -t 2", clock="virtual", limit=900)


@pytest.mark.soak
@pytest.mark.parametrize("clock,preempt", [("virtual", "voluntary"), ("wall", "voluntary"), ("wall", "full")])
def test_million(boot, clock, preempt):
    """Ten times as much; on real host threads too, which is slow where they share few processors."""
    swapload(boot, 1_000_000, 1_000_000, 2, "-p 3 -t 2", append=f"preempt={preempt}", clock=clock, limit=14400)


# ---- programs in a 256 MiB machine with swap ----

@pytest.fixture(scope="module")
def memtester(tmp_path_factory):
    """A small ext2 image with memtester and the libraries it wants."""
    base = tmp_path_factory.mktemp("memtester")
    env = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not shutil.which("memtester", path=env["PATH"]):
        pytest.fail("memtester is not installed; run ./setup")
    subprocess.run([os.path.join(ROOT, "tools/mktree"), "-o", str(base / "tree"), "memtester"], check=True)
    path = str(base / "memtester.img")
    with open(path, "wb") as f:
        f.truncate(16 << 20)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext2", "-b", "4096", "-d", str(base / "tree"), path],
                   check=True, env=env)
    return path


def overfull(boot, image, words, disk="400M", swap="200M", **fields):
    megabytes = 256 + int(disk[:-1]) + int(swap[:-1]) + 4
    run = boot(autorun=f"/lab/overfull {words}", mem=f"{megabytes}M", nodes=1, clock="wall", disks=[image],
               append=f"loglevel=4 seed=1 diskmem={megabytes - 256}M "
                      f"disks=bw:size={swap},bw=400M;bw:size={disk},bw=400M", **fields)
    check = run.section("check")
    assert check.split()[1::2] == ["ok"] * (len(check.split()) // 2), check
    return run, counters(run.section("vmstat"))


@pytest.mark.parametrize("size", [16, pytest.param(64, marks=pytest.mark.soak)])
def test_memtester(boot, memtester, size):
    run, v = overfull(boot, memtester, f"memtester {size}M 1", disk="32M", limit=1800)
    text = re.sub(r"[^\n]*\x08", "", run.section("memtester"))    # it writes over its own progress
    assert f"got  {size}MB" in text and "locked" in text and "FAILURE" not in text and "Done." in text, text
    assert len(re.findall(r"\bok *$", text, re.M)) == 18, text
    assert v["pswpout"] > 2000, "the hog beside it does not fit"


@pytest.mark.parametrize("rounds", [1, pytest.param(15, marks=pytest.mark.soak)])
def test_vmhog(boot, memtester, rounds):
    """Each of three workers begins with another method."""
    run, v = overfull(boot, memtester, f"vmhog -w 3 -n {rounds} 320M", disk="32M", limit=3600)
    assert "0 failed" in run.section("vmhog")
    assert v["pswpout"] > 20000 and v["pswpin"] > 20000 and not v["oom_kill"]


def tar(boot, memtester, directories, files, mean, **fields):
    run, v = overfull(boot, memtester, f"tar {directories} {files} {mean}", **fields)
    want = f"srctree: {directories * files} files"
    assert f"{want} written, 0 wrong" in run.section("tree")
    assert f"{want} compared, 0 wrong" in run.section("same")
    assert v["pswpout"] > 1000 and not v["oom_kill"]


def test_tar(boot, memtester):
    tar(boot, memtester, 200, 100, 6000, limit=900)


@pytest.mark.soak
def test_large_tar(boot, memtester):
    """As many files as a kernel has, 1 GiB of them."""
    tar(boot, memtester, 800, 90, 14000, disk="3800M", limit=7200)
