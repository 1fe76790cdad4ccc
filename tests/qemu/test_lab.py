"""The lab in the guest and from the host: a short run of each document, byte for byte repeatable."""
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from lablib import doc001, doc002, doc003, records  # noqa: E402

SHORT = "writers=4 seconds=3 warm=4 total=960M keep=128M disk=bw:size=1G,bw=40M,discard limit=48M"


def test_list_and_about(boot):
    text = boot(autorun="/lab/mark list lab list; /lab/mark about lab about 001; "
                        "/lab/mark bad sh -c 'lab run 001 nonsense=1; echo $?; lab run 007; echo $?'")
    assert re.search(r"^001  min_pause ", text.section("list"), re.M)
    assert "10 ms per" in text.section("about") and "writers" in text.section("about")
    assert "no key 'nonsense'" in text.section("bad") and text.section("bad").split().count("2") == 2


@pytest.mark.parametrize("side", [0, 1, 2])
def test_short_run(boot, side):
    """A small one: records complete, sums agree, the disk's speed is what the model says."""
    text = boot(autorun=f"lab run 001 --side {side} {SHORT}", mem="512M", nodes=1,
                append="loglevel=4 seed=1 tracer=nop").text
    run = records.parse(text)
    assert run.complete and not run.unknown, text[-2000:]
    assert run.switch["min_pause"] == str(side) and run.key["limit"] == "48M"
    assert len(run.series) == 7 and len(run.measured()) == 3
    assert sum(run.hist.values()) == run.delta["sleeps"] > 0
    figures = doc001.figures(run)
    assert 36 <= figures["written_mib_s"] <= 41
    assert 12 <= figures["pmax_ms"] <= 14           # 48 MiB, less while the share settles: 12 + 2 ticks
    assert figures["min_pause_ms"] <= 7 if side else True
    assert run.machine["clock_ratio_permille"] in (999, 1000, 1001)


def test_same_seed_same_bytes(boot):
    texts = {boot(autorun=f"lab run 001 --side 1 {SHORT}", mem="512M", nodes=1,
                  append="loglevel=4 seed=1 tracer=nop").text for _ in range(2)}
    assert len(texts) == 1
    assert records.parse(texts.pop()).complete


# ---- document 003 ----

STREAMS = "streams=20 size=16M idle=1M sample=100 swap=bw:size=16M,bw=50M"
SMALL = {"mem": "152M", "nodes": 1, "cpus": 2,
         "append": "loglevel=4 seed=1 tracer=nop era=3.6 turn_us=50 diskmem=16M "
                   "zones=dma:16M,normal:48M,high:60M,movable:4M"}


def streams(boot, words):
    text = boot(autorun=f"lab run 003 {STREAMS} {words}", **SMALL).text
    run = records.parse(text)
    assert run.complete and not run.unknown, text[-2000:]
    return run, text


@pytest.mark.parametrize("side", [0, 1, 2])
def test_streams(boot, side):
    """A small one: a fault a page, each major; what is freed adds up; kswapd sleeps on side 0 alone."""
    run, _ = streams(boot, f"side={side}")
    figures, d = doc003.figures(run), run.delta
    pages = run.total["pages"]
    assert pages == 20 * 16 * 256 and run.switch["kswapd_wait_iff"] == str(side)
    assert pages <= d["pgfault"] <= pages + 500 and pages <= d["pgmajfault"] <= pages + 100
    assert 10000 < figures["steal"] < pages         # the rest went with the files that were done with
    assert d["pgsteal_kswapd_dma32"] == 0 and d["pgalloc_dma32"] == 0
    assert 0 < figures["Kswapd_efficiency"] <= 100 and d["pgscan_direct_throttle"] == 0
    assert (figures["sleep_ms"] > 0) == (side == 0)
    assert d["slabs_scanned"] % doc003.SLAB_BATCH == 0 and d["oom_kill"] == 0
    assert len(run.series) >= 2 and run.series[0]["faults"] > 0


def test_streams_congested(boot):
    """A disk with too much to do, every zone marked: now the new code sleeps as well."""
    run, _ = streams(boot, "side=1 congest=1")
    assert doc003.figures(run)["sleep_ms"] > 0


def test_streams_same_bytes(boot):
    """Two CPUs, the same seed."""
    assert len({streams(boot, "side=1")[1] for _ in range(2)}) == 1


# ---- document 002 ----

PIECES = ("seconds=1 sample=125 low=64M size=24M file=32M disk=bw:size=64M,bw=100M,discard "
          "swap=bw:size=64M,bw=100M")
FRAMES = {0: (1024, 512), 1: (512, 512), 2: (512, 32), 3: (32, 32)}     # free scanner, migration scanner


def pieces(boot, side, **machine):
    text = boot(autorun=f"lab run 002 --side {side} {PIECES}", **{
        "mem": "384M", "nodes": 1, "cpus": 1, **machine,
        "append": "loglevel=4 seed=1 tracer=irqsoff era=2.6.38 diskmem=128M"}).text
    run = records.parse(text)
    assert run.complete and not run.unknown, text[-2000:]
    return doc002.figures(run), text


@pytest.mark.parametrize("side", [0, 1, 2, 3])
def test_pieces(boot, side):
    """A small one: what each patch bounds, in frames; huge pages are had; the report is there."""
    f, _ = pieces(boot, side)
    free, migrate = FRAMES[side]
    assert f["free_work"] >= free if side == 0 else 1 <= f["free_work"] <= free, f
    assert 1 <= f["migrate_work"] <= migrate and (side > 1 or f["migrate_work"] > 32), f
    assert f["samples"] >= 7 and f["total_us"] > 0 and f["thp_fault_alloc"] > 0
    assert f["compact_pages_moved"] > 0
    if side == 3:
        assert max(f["free_max"], f["migrate_max"]) <= doc002.BOUND


def test_pieces_two_nodes(boot):
    """The same bounds with two of everything."""
    f, _ = pieces(boot, 2, nodes=2, cpus=2)
    assert 1 <= f["free_work"] <= 512 and 1 <= f["migrate_work"] <= 32, f


def test_pieces_same_bytes(boot):
    assert len({pieces(boot, 0)[1] for _ in range(2)}) == 1


@pytest.mark.soak
def test_quick_experiment(request, tmp_path):
    """`make lab-001 QUICK=1`: every run ends well, the twin is the same, the page is whole."""
    base = os.path.join(ROOT, request.config.getoption("--build"))
    run = subprocess.run([sys.executable, "tools/lab", "001", "--quick", "--kernel", base + "/quire.elf",
                          "--initrd", base + "/initramfs.cpio", "--out", str(tmp_path)], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout[-6000:])
    assert run.returncode == 0 and "same bytes" in run.stdout and "DIFFERENT" not in run.stdout
    page = (tmp_path / "index.html").read_text()
    assert page.rstrip().endswith("</html>") and page.count("<svg") >= 8
