"""Huge pages and pages on the move under load: contents, service after fragmentation, and what they cost when nothing happens."""
import re

import pytest

from test_referee import BOUND, compare, plugin  # noqa: F401

# The first node is for programs; the second gives most of its memory to the two disks.
NODES = "128M:0-1,516M:2-3"
DISKS = "diskmem=400M disks=bw:size=200M,bw=400M;bw:size=190M,bw=200M"
KINDS = "anon private mapped cached shared tmpfile segment".split()


def counters(text):
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) (\d+)$", text, re.M)}


def validators(run, names="swap buddy slab lru"):
    check = run.section("check")
    assert check.split()[1::2] == ["ok"] * (len(check.split()) // 2), check
    for name in names.split():
        assert re.search(rf"^{name} +ok$", check, re.M), check


def verified(run, kinds):
    """The load's own account: every page with owner and checksum. => its text"""
    load = run.section("verify")
    print(load)
    assert re.search(r"^verify: \d+ pages checked, 0 wrong pages, 0 wrong bytes, 0 failures$", load, re.M), load
    for kind in kinds:
        assert int(re.search(rf"^verify: {kind} +(\d+)", load, re.M)[1]) > 500, load
    return load


def at_rest(run):
    v = counters(run.section("vmstat"))
    assert v["nr_isolated_anon"] == v["nr_isolated_file"] == 0
    assert v["nr_anon_transparent_hugepages"] == 0 and v["nr_anon_pages"] < 2000, "programs are gone"
    return v


# ---- contents ----

def migrations(boot, goal, by_compaction, options, append="", **fields):
    """All kinds of pages, compacted in a loop and sent from node to node."""
    fields.setdefault("clock", "virtual")
    run = boot(autorun=f"/lab/moveload /dev/bw0 /dev/bw1 -G pgmigrate_success={goal} -G compact_pages_moved={by_compaction} "
                       f"-n 2 {options} -a 36M -m 24M -c 16M -s 24M", debug=True, cpus=4, node_spec=NODES,
               append=f"loglevel=4 {DISKS} {append}", **fields)
    load = verified(run, KINDS)
    v = at_rest(run)
    assert v["pgmigrate_success"] >= goal and v["compact_pages_moved"] >= by_compaction
    sent = int(re.search(r"^verify: (\d+) sent to a node", load, re.M)[1])
    assert sent > goal // 4, "both ways of moving"
    validators(run)


def test_migrations(boot):
    migrations(boot, 100_000, 5_000, "-p 2 -t 2 -S 1", append="seed=1", limit=900)


@pytest.mark.soak
@pytest.mark.parametrize("clock,preempt", [("virtual", "voluntary"), ("wall", "voluntary"), ("wall", "full")])
def test_million_migrations(boot, clock, preempt):
    migrations(boot, 1_000_000, 100_000, "-p 3 -t 2 -S 2", append=f"seed=2 preempt={preempt}", clock=clock, limit=14400)


def huge_pages(boot, goal, options, append="", **fields):
    """Huge pages of several processes and threads: taken apart in every way there is, and put together by two."""
    fields.setdefault("clock", "virtual")
    run = boot(autorun=f"/lab/moveload /dev/bw0 /dev/bw1 -G thp_split_page={goal} -G thp_collapse_alloc={goal} {options} "
                       "-H 48M -a 8M -s 6M", debug=True, cpus=4, node_spec=NODES,
               append=f"loglevel=4 {DISKS} {append}", **fields)
    load = verified(run, ["huge", "anon", "shared"])
    asked, done = map(int, re.search(r"(\d+) of (\d+) put together$", load, re.M).groups()[::-1])
    assert done > asked // 4, load
    v = at_rest(run)
    assert v["thp_split_page"] >= goal and v["thp_collapse_alloc"] >= goal and v["thp_fault_alloc"] > goal // 10
    validators(run)
    return v


def test_splits_and_collapses(boot):
    huge_pages(boot, 1_000, "-p 2 -t 2 -S 1", append="seed=1", limit=900)


@pytest.mark.soak
@pytest.mark.parametrize("clock,preempt", [("virtual", "voluntary"), ("wall", "voluntary"), ("wall", "full")])
def test_many_splits_and_collapses(boot, clock, preempt):
    goal = 10_000 if clock == "virtual" else 2_000
    huge_pages(boot, goal, "-p 3 -t 2 -n 2 -S 2", append=f"seed=2 preempt={preempt}", clock=clock, limit=14400)


VARIANTS = ["era=2.6.38", "compact_free_irq=1 compact_migrate_irq=1",
            "compact_free_irq=1 compact_migrate_irq=1 compact_lock_lazy=1 compact_hints=0"]


def variant(boot, words, goal):
    """The documents' own scanners, before and as posted: slower, not worse. => counters"""
    run = boot(autorun=f"/lab/moveload /dev/bw0 /dev/bw1 -G pgmigrate_success={100 * goal} -G thp_split_page={goal} "
                       f"-G thp_collapse_alloc={goal} -n 2 -p 2 -t 2 -S 4 -H 32M -a 30M -m 16M -c 8M -s 18M",
               debug=True, cpus=4, node_spec=NODES, clock="virtual", append=f"loglevel=4 seed=1 {DISKS} {words}", limit=14400)
    verified(run, ["huge"] + KINDS)
    validators(run)
    return at_rest(run)


@pytest.mark.parametrize("words", VARIANTS)
def test_variants(boot, words):
    assert variant(boot, words, 80)["compact_pages_moved"] > 500


@pytest.mark.soak
@pytest.mark.parametrize("words", VARIANTS)
def test_variants_long(boot, words):
    variant(boot, words, 3000)


# ---- service ----

@pytest.mark.parametrize("nodes,cpus", [(1, 1), (2, 2)])
def test_served_after_fragmentation(boot, nodes, cpus):
    """Half of memory is single pages with single holes between: 90 % of the huge pages asked for come, by compaction."""
    run = boot(autorun="/lab/serve 80 75", nodes=nodes, cpus=cpus, mem="512M", clock="virtual", append="loglevel=4 seed=1")
    got, asked, wrong = map(int, re.search(r"^hugecheck: (\d+) of (\d+) served with a huge page, (\d+) wrong pages$",
                                           run.text, re.M).groups())
    v = counters(run.section("vmstat"))
    print(f"{got} of {asked} served; {v['compact_pages_moved']} pages moved, {v['compact_stall']} attempts, "
          f"{v['compact_success']} successful")
    assert asked > 50 and got >= 0.9 * asked and not wrong
    assert v["compact_success"] > asked // 2, "it was compaction that served them"
    validators(run, "buddy slab lru")


def test_idle(boot):
    """Nothing changes: khugepaged and kcompactd do not run at all."""
    run = boot(autorun="/lab/hugeidle", nodes=2, cpus=2, mem="512M", clock="virtual", append="loglevel=4 seed=1")
    ran = {}
    for when, name, ns, _, switches in re.findall(r"^(before|after) (\w+) (\d+) (\d+) (\d+)$", run.section("idle"), re.M):
        ran.setdefault(name, []).append((int(ns), int(switches)))
    assert set(ran) == {"khugepaged", "kcompactd0", "kcompactd1"}
    for name, (before, after) in sorted(ran.items()):
        print(f"{name}: {before[0]} instructions before, {(after[0] - before[0]) / 100:.0f} a second in 100 idle seconds")
        assert after == before, name
    assert all(before[0] > 100_000 for before, _ in ran.values()), "they had worked before"
    v = counters(run.section("vmstat"))
    assert v["thp_collapse_alloc"] > 0 and v["compact_daemon_wake"] > 0


# ---- interrupts off ----

@pytest.mark.parametrize("cpus,first", [(1, ""), (2, "reset ")])
def test_referee(images, plugin, tmp_path, cpus, first):  # noqa: F811
    """Faults, compaction, splits, collapses and swap at the defaults: tracer and referee agree, and no section is long."""
    referee, tracer = compare.run(plugin, images.kernel, images.initrd, cpus,
                                  f"/lab/hugereferee {first}-p 2 -t 2 -r 150 -H 120M -a 90M -s 12M -S 1", str(tmp_path),
                                  nodes=cpus, mem="384M", append="loglevel=4 seed=1 diskmem=132M disks=bw:size=128M,bw=400M")
    compare.table(referee, tracer, cpus, 12)
    assert not compare.findings(referee, tracer, cpus)
    for label in ("compact_free", "compact_migrate", "split_huge", "shrink_inactive", "pcp_free"):
        assert sum(s.traced for k, s in referee.sites.items() if k[0] == label) > 100, label
    label, longest = max(((k, s.max) for k, s in referee.sites.items()), key=lambda item: item[1])
    assert longest <= BOUND, label
    with open(tmp_path / f"serial-{cpus}") as f:
        v = counters(f.read())
    assert v["thp_split_page"] > 50 and v["thp_collapse_alloc"] > 50 and v["thp_fault_alloc"] > 50, v
    assert v["pswpout"] > 1000 and v["compact_pages_moved"] > 5000, v
