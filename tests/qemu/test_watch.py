"""What can be seen of reclaim: the vmscan events against the counters, allocation latency, pressure."""
import re
from collections import Counter

import pytest

# Linux's names of the fields, and the beginning of its text.
FIELDS = {
    "kswapd_sleep": ["nid"],
    "kswapd_wake": ["nid", "zid", "order"],
    "wakeup_kswapd": ["nid", "zid", "order"],
    "direct_reclaim_begin": ["order", "gfp_flags"],
    "direct_reclaim_end": ["nr_reclaimed"],
    "lru_isolate": ["isolate_mode", "classzone", "order", "nr_requested", "nr_scanned", "nr_skipped",
                    "nr_taken", "lru"],
    "lru_shrink_inactive": ["nid", "nr_scanned", "nr_reclaimed", "nr_dirty", "nr_writeback",
                            "nr_congested", "nr_immediate", "nr_activate0", "nr_activate1",
                            "nr_ref_keep", "nr_unmap_fail", "priority", "reclaim_flags"],
    "lru_shrink_active": ["nid", "nr_taken", "nr_active", "nr_deactivated", "nr_referenced", "priority",
                          "reclaim_flags"],
    "writepage": ["page", "pfn", "reclaim_flags"],
}
TEXT = {
    "kswapd_sleep": r"nid=\d+$",
    "kswapd_wake": r"nid=\d+ order=\d+",
    "wakeup_kswapd": r"nid=\d+ zid=\d+ order=\d+$",
    "direct_reclaim_begin": r"order=\d+ may_writepage=[01] gfp_flags=[A-Z_|]+$",
    "direct_reclaim_end": r"nr_reclaimed=\d+$",
    "lru_isolate": r"isolate_mode=0 classzone=\d order=\d+ nr_requested=\d+ nr_scanned=\d+ nr_skipped=0 "
                   r"nr_taken=\d+ lru=(in)?active_(anon|file)",
    "lru_shrink_inactive": r"nid=\d+ nr_scanned=\d+ nr_reclaimed=\d+ nr_dirty=\d+ nr_writeback=\d+ "
                           r"nr_congested=\d+ nr_immediate=\d+ nr_activate_anon=\d+ "
                           r"nr_activate_file=\d+ nr_ref_keep=\d+ nr_unmap_fail=\d+ priority=\d+ "
                           r"flags=RECLAIM_WB_(ANON|FILE)\|RECLAIM_WB_ASYNC zid=\d$",
    "lru_shrink_active": r"nid=\d+ nr_taken=\d+ nr_active=\d+ nr_deactivated=\d+ nr_referenced=\d+ "
                         r"priority=\d+ flags=RECLAIM_WB_(ANON|FILE)\|RECLAIM_WB_ASYNC zid=\d$",
    "writepage": r"page=[0-9a-f]+ pfn=\d+ flags=RECLAIM_WB_(ANON|FILE)\|RECLAIM_WB_ASYNC$",
}


def values(text):
    return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}


@pytest.fixture(scope="module")
def kept():
    return {}


@pytest.fixture
def run(boot, kept):
    if not kept:
        kept["run"] = boot(autorun="/lab/watch", nodes=1, cpus=1, mem="112M",
                           append="loglevel=4 seed=1 diskmem=56M")
        kept["events"] = re.findall(r": mm_vmscan_(\w+): (.*)$", kept["run"].section("trace"), re.M)
        for when in ("before", "after"):
            kept[when] = {k: int(v) for k, v in map(str.split, kept["run"].section(when).splitlines())}
    return kept["run"]


def family(kept, name):
    return sum(kept["after"][k] - kept["before"][k] for k in kept["after"] if k.startswith(name))


def test_events_have_linux_names_and_fields(run, kept):
    for event, fields in FIELDS.items():
        found = re.findall(r"field:.*?(\w+);\toffset", run.section(f"format-{event}"))
        found = [f for f in found if not f.startswith("common_")]
        assert [f for f in fields if f not in found] == [], (event, found)
    seen = Counter(name for name, _ in kept["events"])
    print(seen)
    assert set(TEXT) <= set(seen), "the load did not reach every event"
    for name, text in kept["events"]:
        assert re.match(TEXT[name], text), (name, text)


def test_events_add_up_to_the_counters(run, kept):
    isolated = [(values(t), t) for n, t in kept["events"] if n == "lru_isolate"]
    inactive = [v for v, t in isolated if "lru=inactive" in t]
    active = [v for v, t in isolated if "lru=active" in t]
    shrunk = [values(t) for n, t in kept["events"] if n == "lru_shrink_inactive"]
    aged = [values(t) for n, t in kept["events"] if n == "lru_shrink_active"]
    count = Counter(n for n, _ in kept["events"])
    assert all(v["nr_taken"] <= v["nr_scanned"] <= v["nr_requested"] for v, _ in isolated if not v["order"])
    assert sum(v["nr_scanned"] for v in inactive) == family(kept, "pgscan_")
    assert sum(v["nr_reclaimed"] for v in shrunk) == family(kept, "pgsteal_")
    assert sum(v["nr_scanned"] for v in active) == family(kept, "pgrefill_")
    # lumpy reclaim and madvise deactivate pages too
    assert 0 < sum(v["nr_deactivated"] for v in aged) <= family(kept, "pgdeactivate")
    assert count["direct_reclaim_begin"] == count["direct_reclaim_end"] == family(kept, "allocstall")
    assert count["writepage"] == family(kept, "nr_vmscan_write") == family(kept, "pswpout")
    assert family(kept, "pswpout") > 100, "the load did not swap"


def test_allocation_latency(run, kept):
    assert len(run.section("latency0").splitlines()) == 2, "writing did not reset it"
    rows = [line.split() for line in run.section("latency").splitlines()[2:]]
    found = {(int(r[0]), r[1]): r[2:] for r in rows}
    assert int(found[0, "walked"][0]) > 100
    assert int(found[0, "reclaimed"][0]) > 0
    for r in found.values():
        count, mean, p50, p99, longest = map(int, r[:5])
        assert sum(int(b.split(":")[1]) for b in r[5:]) == count
        assert p50 <= p99 <= longest and mean <= longest


def test_pressure(run, kept):
    line = (r"/proc/pressure/(cpu|memory|io):(some|full) avg10=(\d+\.\d\d) avg60=(\d+\.\d\d) "
            r"avg300=(\d+\.\d\d) total=(\d+)")
    total = {}
    for when in ("pressure0", "pressure"):
        lines = run.section(when).splitlines()
        assert len(lines) == 6
        for text in lines:
            m = re.fullmatch(line, text)
            assert m, text
            assert all(float(m[i]) <= 100 for i in (3, 4, 5))
            total[when, m[1], m[2]] = int(m[6])
    assert all(total["pressure", r, "full"] <= total["pressure", r, "some"] for r in ("cpu", "memory", "io"))
    assert total["pressure", "memory", "some"] > total["pressure0", "memory", "some"] + 1000
    assert total["pressure", "cpu", "full"] == 0


def test_every_counter_is_explained(run, kept):
    about = dict(line.split(None, 1) for line in run.section("about").splitlines())
    for name in kept["after"]:
        short = re.sub(r"_(dma|dma32|normal|high|movable)$", "_ZONE", name)
        if name.startswith("nr_dirty_") or name == "workingset_nodes":
            continue
        assert len(about.get(name, about.get(short, ""))) > 3, name
