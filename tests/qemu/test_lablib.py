"""The lab's host half: verdicts and statistics are pure functions; here with made-up figures."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools"))
from lablib import claims, doc001, doc002, doc003, drive, memmap, page, records, report, stats  # noqa: E402
from lablib.claims import Claim, DIRECTION, NO_DATA, NOT, REPRODUCED  # noqa: E402


def figures(metric, off, on, part="B"):
    return {(part, 0): [{metric: v} for v in off], (part, 1): [{metric: v} for v in on]}


def verdict(claim, *args):
    return claims.judge([claim], figures("m", *args))[0].verdict


def test_statistics():
    assert stats.mean([1, 2, 6]) == 3
    assert stats.sd([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2.138, abs=1e-3)
    assert stats.sd([5]) == 0 and stats.cov([5]) == 0 and stats.cov([0, 0]) == 0
    assert stats.pooled_sd([1, 3], [10, 14]) == pytest.approx((5.0) ** 0.5)
    assert stats.real([10, 10, 10], [10.01, 10.01, 10.01])          # deterministic: any difference
    assert not stats.real([9, 10, 11], [10, 11, 12])                # 1 apart, deviation 1
    assert stats.real([9, 10, 11], [12.5, 13.5, 14.5])
    hist = {1: 5, 10: 90, 200: 5}
    assert [stats.percentile(hist, p) for p in (5, 6, 50, 95, 96, 100)] == [1, 10, 10, 10, 200, 200]
    assert stats.percentile({}, 50) is None and stats.hist_mean({}) is None
    assert stats.hist_mean({2: 1, 4: 3}) == 3.5


@pytest.mark.parametrize("off,on,want", [
    ([15, 16], [95, 96], REPRODUCED),
    ([15, 16], [55, 56], DIRECTION),        # moved up, but short of the band
    ([55, 56], [15, 16], NOT),              # moved the wrong way
    ([20, 60], [25, 64], NOT),              # moved, but not beyond the spread
    ([16, 16], [16, 16], NOT),
])
def test_within(off, on, want):
    assert verdict(Claim("k", "", "", "B", "m", "within", (70, 130), want="up"), off, on) == want


def test_within_of_side_0():
    claim = Claim("k", "", "", "B", "m", "within", (None, 60), side=0)
    assert verdict(claim, [59], [100]) == REPRODUCED
    assert verdict(claim, [61], [100]) == NOT


@pytest.mark.parametrize("off,on,want", [
    ([5000, 5000], [900, 900], REPRODUCED),
    ([5000, 5000], [2000, 2000], DIRECTION),
    ([5000, 5000], [5100, 5100], NOT),
    ([9000, 1000], [700, 900], NOT),        # the means say 6.25, the spread says nothing
    ([5000, 5000], [0, 0], REPRODUCED),
])
def test_factor(off, on, want):
    assert verdict(Claim("k", "", "", "B", "m", "factor", (5,), want="down"), off, on) == want


@pytest.mark.parametrize("off,on,want", [([100], [97.5], REPRODUCED), ([100], [102.9], REPRODUCED),
                                         ([100], [96.9], NOT), ([100], [103.1], NOT)])
def test_same(off, on, want):
    assert verdict(Claim("k", "", "", "B", "m", "same", (0.03,)), off, on) == want


@pytest.mark.parametrize("off,on,want", [([20], [18], REPRODUCED), ([20], [19.9], DIRECTION),
                                         ([20], [10], DIRECTION), ([20], [21], NOT), ([20], [20], NOT)])
def test_change(off, on, want):
    assert verdict(Claim("k", "", "", "B", "m", "change", (-0.20, -0.03), want="down"), off, on) == want


def law(rows):
    """rows: [(N, table, measured, settled)]"""
    got = {(f"C{n}", 1): [{"m": measured, "m_law": table, "settled": float(settled)}]
           for n, table, measured, settled in rows}
    return claims.judge([Claim("k", "", "", "C", "m", "law", (1,))], got)[0].verdict


def test_law():
    good = [(1, 1, 1, 1), (2, 9, 9, 1), (4, 19, 20, 1), (8, 29, 28, 1)]
    assert law(good) == REPRODUCED
    assert law(good[:3] + [(8, 29, 39, 0)]) == REPRODUCED           # not settled: does not count
    assert law(good[:3] + [(8, 29, 39, 1)]) == DIRECTION
    assert law([(1, 1, 1, 1), (2, 9, 1, 1), (4, 19, 1, 1)]) == NOT
    assert law([(1, 1, 30, 1), (2, 9, 9, 1), (4, 19, 2, 1)]) == NOT  # falls
    assert law([(n, t, t, 0) for n, t, _, _ in good]) == DIRECTION   # nothing settled: no proof
    assert law(good[:1]) == NO_DATA


def test_missing_data_is_no_verdict():
    for kind, band in (("within", (1, 2)), ("factor", (5,)), ("same", (0.1,)), ("change", (0, 1))):
        claim = Claim("k", "", "", "X", "m", kind, band)
        assert claims.judge([claim], figures("m", [1], [1]))[0].verdict == NO_DATA
        assert claims.judge([claim], {("X", 0): [{}], ("X", 1): [{}]})[0].verdict == NO_DATA


def test_the_documents_arithmetic():
    """The table of the document's posting, for HZ 1000 and a longest pause of 200 ms."""
    table = [1, 9, 19, 29, 39, 48, 58, 68, 78, 87, 97]
    assert [doc001.law(n, 200) for n in range(11)] == table
    assert doc001.law(7, 22) == 11 and doc001.law(-3, 200) == 1
    assert [doc001.ilog2(x) for x in (0, 1, 2, 3, 4, 100, 128)] == [0, 0, 1, 1, 2, 6, 7]


LOG = """[    0.1] something
LAB run document=001 switch=min_pause side=1
LAB key writers=100
LAB key disk=bw:size=4G,bw=100M,discard
LAB machine kernel=Linux 6.1.0-quire Quire
LAB machine mem_kib=4194304 cpus=1
LAB machine clock=virtual: 1 instruction = 1 ns (tested)
LAB switch min_pause=1
LAB series t=1.000 phase=warm bytes=1000 write_bw=25600 throttle_bw=25600 calls=5 min_pause=1
LAB series t=2.000 phase=measure bytes=2000 write_bw=25600 throttle_bw=256 calls=15 min_pause=58 max_pause=200
LAB series t=3.000 phase=measure bytes=3000 write_bw=25600 throttle_bw=200 calls=25 min_pause=58 max_pause=200
LAB total seconds=2.000000 writers=100 least_bytes=10 most_bytes=20
LAB delta bytes=4194304
LAB delta calls=20
LAB delta sleeps=10
LAB delta slept_ns=1000000000
LAB last calls=25
LAB hist tick=90 n=4
LAB hist tick=110 n=6
LAB end status=0 seconds=3.5
# for a person
"""


def test_records_and_figures():
    run = records.parse(LOG)
    assert run.complete and not run.unknown
    assert run.run == {"document": 1, "switch": "min_pause", "side": 1}
    assert run.key["disk"] == "bw:size=4G,bw=100M,discard"
    assert run.machine["clock"] == "virtual: 1 instruction = 1 ns (tested)"
    assert run.machine["mem_kib"] == 4194304 and run.machine["cpus"] == 1
    assert run.hist == {90: 4, 110: 6} and len(run.measured()) == 2
    f = doc001.figures(run)
    assert f["mib_s"] == 2 and f["calls_s"] == 10 and f["slept_ms"] == 100 and f["pause_ms"] == 102
    assert f["pause_p5_ms"] == 90 and f["pause_p50_ms"] == 110 and f["spread"] == 2
    assert f["min_pause_ms"] == 58 and f["min_pause_ms_law"] == 58 and f["settled"] == 1
    assert f["bw_ratio"] == pytest.approx(25600 / 228)
    assert not records.parse(LOG.replace("LAB end status=0", "LAB end status=1")).complete
    assert doc001.figures(records.parse("")) == {}


def results():
    out = []
    for job in doc001.plan(quick=True):
        text = LOG.replace("side=1", f"side={job.side}")
        if not job.side:
            text = text.replace("calls=20", "calls=200").replace("hist tick=90 n=4", "hist tick=9 n=400")
        out.append(drive.Result(job, records.parse(text), text, 1.0))
    return out


def test_report_and_page():
    got = results()
    fig = report.collect(doc001, got)
    verdicts = claims.judge(doc001.CLAIMS, fig)
    by_key = {v.claim.key: v.verdict for v in verdicts}
    assert by_key["B.calls"] == REPRODUCED and by_key["B.mean"] == REPRODUCED
    assert by_key["D.pmax"] == NOT and by_key["B128.mean"] == NO_DATA
    text = report.text(doc001, fig, verdicts, got)
    assert "not reproduced  D.pmax" in text and "same bytes" in text and "min_pause" in text
    html = page.render(doc001, "001", fig, verdicts, got, "conditions")
    assert html.count("<svg") == html.count("</svg>") >= 10
    assert not re.search(r"(src|href)=\"?(https?:|//)|@import|url\(", html), "the page needs no network"
    assert "prefers-color-scheme:dark" in html and "not reproduced" in html
    changed = [r if not r.job.twin else drive.Result(r.job, r.run, r.text + "x", 1.0) for r in got]
    assert report.twins(changed) == [("B100-side1-seed1", False)]
    assert "DIFFERENT" in report.text(doc001, fig, verdicts, changed)


def test_plan():
    """A B B A: each seed runs every side, neighbours swap; names are unique."""
    assert drive.abba([0, 1], [1, 2, 3]) == [(0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3)]
    for quick in (False, True):
        names = [j.name for j in doc001.plan(quick)]
        assert len(set(names)) == len(names)
    parts = {c.part for c in doc001.CLAIMS}
    assert {p for p in parts if p != "C"} <= {j.part for j in doc001.plan()}


# ---- the memory map over time ----
def map_log(looks):
    """A console log with a zone of three blocks and the changes [(t, {block: code})]."""
    lines = ["LAB mapzone id=0 node=0 name=DMA32 first=8 blocks=3"]
    for t, changes in looks:
        for block, code in changes.items():
            lines.append(f"LAB map t={t:.3f} b={block}:{code}")
    return records.parse("\n".join(lines + ["LAB end status=0"]))


FREE, MIXED = "Ma-00000000", "U3W0800G001"


def test_memmap_codes():
    assert memmap.decode(FREE) == {"free": 512, "programs": 0, "files": 0, "shared memory": 0,
                                   "dirty or written": 0, "kernel": 0, "reserved": 0, "huge": 0, "pinned": 0,
                                   "type": "Movable", "largest": 10}
    got = memmap.decode("U3W0800G001")
    assert (got["free"], got["files"], got["kernel"], got["pinned"]) == (256, 64, 128, 8)
    assert got["type"] == "Unmovable" and got["largest"] == 3
    assert memmap.decode("M-0-0000000")["largest"] is None


def test_memmap_looks_become_states():
    run = map_log([(0, {8: FREE, 9: FREE, 10: FREE}), (0.5, {9: MIXED}), (1, {9: FREE, 8: MIXED})])
    assert run.mapzones == [{"id": 0, "node": 0, "name": "DMA32", "first": 8, "blocks": 3}] and not run.unknown
    looks = memmap.frames(run)
    assert [t for t, _ in looks] == [0, 0.5, 1] and looks[0][1].count(":") == 3
    held = memmap.sums(looks)
    assert [s["free"] for _, s in held] == [1536, 1280, 1280] and [s["kernel"] for _, s in held] == [0, 128, 128]


def test_memmap_thins_out(monkeypatch):
    monkeypatch.setattr(memmap, "MAX_FRAMES", 10)
    looks = [(0, {8: FREE, 9: FREE, 10: FREE})]
    looks += [(i / 10, {8 + i % 3: MIXED if i // 3 % 2 else FREE}) for i in range(1, 96)]
    run = map_log(looks)
    thin = memmap.frames(run)
    assert len(thin) <= 10
    monkeypatch.setattr(memmap, "MAX_FRAMES", 1000)
    assert memmap.sums(thin)[-1] == memmap.sums(memmap.frames(run))[-1]     # ends in the same state


def memmap_page(extra=""):
    run = map_log([(0, {8: FREE, 9: FREE, 10: FREE}), (2, {9: MIXED}), (4, {9: FREE, 8: MIXED})])
    return (f"<!doctype html><meta charset=utf-8><title>map</title><style>{page.STYLE}{memmap.style()}</style>"
            + memmap.component([("side 0", run), ("side 1", run)])
            + memmap.script() + extra)


def test_memmap_page_is_self_contained():
    text = memmap_page()
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)
    data = json.loads(re.search(r"<script type=.application/json.>(.*?)</script>", text, re.S)[1])
    assert len(data) == 2 and data[0]["frames"][1] == [2, "9:" + MIXED]
    assert memmap.component([("side 0", records.parse("LAB end status=0"))]) == ""


@pytest.mark.skipif(not shutil.which("chromium"), reason="no browser to look with")
def test_memmap_in_a_browser(tmp_path):
    """The slider moves both pictures, a block is told, and the canvas has colours."""
    probe = """<script>
    var m=memmaps[0],told=[];
    [0,499,500,999,1000].forEach(function(v){m.slider.value=v;m.slider.dispatchEvent(new Event("input"));
      told.push(m.panels.map(function(p){return p.at;}).join(""));});
    m.panels[1].chosen=8;m.panels[1].draw();
    var c=m.panels[0].canvas,d=c.getContext("2d").getImageData(0,0,c.width,c.height).data,seen={};
    for(var i=0;i<d.length;i+=4)if(d[i+3]===255)seen[d[i]+","+d[i+1]+","+d[i+2]]=1;
    document.title=told.join(" ")+"|"+m.panels[1].tell.textContent+"|"+Object.keys(seen).length;
    </script>"""
    path = tmp_path / "map.html"
    path.write_text(memmap_page(probe))
    run = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                          f"--user-data-dir={tmp_path}/profile", f"file://{path}"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, timeout=120)
    at, told, colours = re.search(r"<title>(.*?)</title>", run.stdout)[1].split("|")
    assert at == "00 00 11 11 22"
    assert told == ("block 8 at 16 MiB, Unmovable: free ~256, files ~64, kernel ~128, pinned ~8 pages; "
                    "largest free block: order 3")
    assert int(colours) >= 3


# ---- document 003 ----

def test_003_derived_rows():
    """The last block of the document's table follows from its own rows, to the last digit."""
    for column in (1, 2):
        values = {row[0]: row[column] for row in doc003.PUBLISHED}
        got = doc003.derived(values, values["Elapsed"])
        for name, value in got.items():
            assert doc003.cell(name, value) == doc003.cell(name, values[name] + 1e-4), name
    change = {name: doc003.percent(old, new) for name, old, new in doc003.PUBLISHED}
    assert f"{change['allocstall']:.2f}" == "-98.82" and change["pswpin"] == 0
    assert f"{change['reclaim_velocity']:.2f}" == "2.02" and f"{change['pgsteal_kswapd_dma']:.2f}" == "213.07"


def run_003(side, column):
    """The document's own figures as if they were ours."""
    names = [f"LAB delta {name}={value}" for name, *both in doc003.PUBLISHED
             for value in [both[column]] if name[0] == "p" or name[0] == "n" or name in (
                 "allocstall", "slabs_scanned") or name.startswith("kswapd_")]
    sleep = 0 if column else 149000
    return records.parse("\n".join(
        [f"LAB run document=003 side={side}", f"LAB total seconds={doc003.PUBLISHED[0][1 + column]}.0 "
         "streams=78 pages=204472320", *names, f"LAB delta kswapd_congestion_sleep_ms={sleep}",
         "LAB series t=1.0 faults=10 allocstall=3 sleep_ms=1", "LAB end status=0 seconds=1"]))


def test_003_verdicts():
    """The document's own figures pass every claim about its machine, and swapped they do not."""
    def verdicts(order):
        out = []
        for job in doc003.plan(quick=True):
            if job.part == "M":
                run = run_003(job.side, order[min(job.side, 1)])
                out.append(drive.Result(job, run, str(job.side), 1.0))
        fig = report.collect(doc003, out)
        return {v.claim.key: v.verdict for v in claims.judge(doc003.CLAIMS, fig)}, fig, out
    right, fig, got = verdicts((0, 1))
    assert {v for k, v in right.items() if k.startswith("M.")} == {REPRODUCED}
    assert {v for k, v in right.items() if not k.startswith("M.")} == {NO_DATA}
    wrong, _, _ = verdicts((1, 0))
    assert wrong["M.stall"] == wrong["M.steal"] == wrong["M.cause1"] == NOT
    text = report.text(doc003, fig, claims.judge(doc003.CLAIMS, fig), got)
    assert re.search(r"^allocstall +696424 +8222 +\(-688202, +-98.82%\) +696424 +8222 +-98.82%$", text, re.M)
    html = page.render(doc003, "003", fig, claims.judge(doc003.CLAIMS, fig), got, "conditions")
    assert html.count("<svg") == html.count("</svg>") >= 2 and "reclaim_velocity" in html


def test_003_plan():
    for quick in (False, True):
        jobs = doc003.plan(quick)
        assert len({j.name for j in jobs}) == len(jobs) and all(j.cpus == 2 for j in jobs)
        assert {c.part for c in doc003.CLAIMS} - {j.part for j in jobs} <= ({"L"} if quick else set())


# ---- document 002 ----

def run_002(side, us, free, migrate):
    """A log with the sections of the document: us of the samples, frames of the two scanners."""
    return records.parse("\n".join(
        [f"LAB run document=002 side={side}", f"LAB sampled total_us={sum(us)} samples={len(us)} interval_us=500000",
         *(f"LAB event us={x} count=1 start=one_section end=one_section" for x in us),
         f"LAB site max={max(us) * 1000} work={free} count=10 total=1 label=compact_free func=one_section "
         "end=compact_free hist=5:10",
         f"LAB site max=4000 work={migrate} count=10 total=1 label=compact_migrate func=section_begin "
         "end=compact_migrate hist=6:10",
         "LAB runs events=4 runs=2 seconds=0.1 longest=0.06", "LAB walk scanned=30000 blocks=58 taken=1",
         "LAB delta compact_migrate_scanned=1000", "LAB end status=0 seconds=1"]))


def test_002_published():
    """The document's totals are the sums of its lines."""
    for total, events in doc002.PUBLISHED.values():
        assert total == sum(us * n for us, n, _ in events)


def test_002_verdicts():
    """Bounds in frames decide; one frame too many is seen."""
    def verdicts(frames):
        out = [drive.Result(job, run_002(job.side, [9000, 90] if job.side == 0 else [900, 90], *frames[job.side]),
                            job.name, 1.0) for job in doc002.plan(quick=True) if job.part == "A" and not job.twin]
        return {v.claim.key: v.verdict for v in claims.judge(doc002.CLAIMS, report.collect(doc002, out))}
    right = verdicts({0: (30000, 512), 1: (512, 512), 2: (512, 32), 3: (32, 32)})
    bounds = ("A.free0", "A.free1", "A.free3", "A.migr0", "A.migr2", "A.migr3", "A.total1")
    assert {k: right[k] for k in bounds} == dict.fromkeys(bounds, REPRODUCED)
    assert right["N.free1"] == NO_DATA
    wrong = verdicts({0: (19999, 512), 1: (513, 513), 2: (512, 33), 3: (33, 33)})
    assert REPRODUCED not in {wrong[k] for k in bounds[:-1]}


def test_002_plan():
    for quick in (False, True):
        jobs = doc002.plan(quick)
        assert len({j.name for j in jobs}) == len(jobs) and any(j.twin for j in jobs)
        assert {c.part for c in doc002.CLAIMS} <= {j.part for j in jobs}
