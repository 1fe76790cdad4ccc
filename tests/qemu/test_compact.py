"""Compaction by hand: the files it is asked and watched through, and what they say before and after."""
import re

import pytest


def counters(text):
    return {k: int(v) for k, v in re.findall(r"^(compact_\w+|pgmigrate_\w+) (\d+)$", text, re.M)}


def test_by_hand(boot):
    run = boot(nodes=2, autorun="/lab/compact")
    for name in ("index", "unusable"):
        lines = run.section(name).strip("\n").split("\n")
        assert len(lines) >= 2
        for line in lines:
            assert re.fullmatch(r"Node \d+, zone +\w+ (-?\d\.\d{3} ){11}", line), line
    # fresh memory has blocks of every order
    assert "-1.000 -1.000" in run.section("index")
    assert " 0.000 " in run.section("unusable")
    before, after, node = (counters(run.section(x)) for x in ("before", "after", "node"))
    grown = {k: after[k] - before[k] for k in before}
    assert grown["compact_migrate_scanned"] > 10000 and grown["compact_free_scanned"] > 0
    assert grown["compact_pages_moved"] > 500
    assert grown["pgmigrate_success"] == grown["compact_pages_moved"]
    assert grown["pgmigrate_fail"] == grown["compact_pagemigrate_failed"]
    assert grown["compact_isolated"] >= 2 * grown["compact_pages_moved"]
    assert node["compact_migrate_scanned"] > after["compact_migrate_scanned"]
    for key in ("compact_stall", "compact_fail", "compact_success", "compact_daemon_wake"):
        assert grown[key] == 0, key
    events = run.section("events")
    place = r"zone_start=0x[0-9a-f]+ migrate_pfn=0x([0-9a-f]+) free_pfn=0x([0-9a-f]+) zone_end=0x[0-9a-f]+, mode=sync"
    assert len(re.findall("mm_compaction_begin: " + place + "$", events, re.M)) >= 2
    ends = re.findall("mm_compaction_end: " + place + " status=complete", events)
    assert len(ends) >= 2 and all(int(m, 16) >= int(f, 16) for m, f in ends)
    moved = sum(int(n) for n in re.findall(r"mm_compaction_migratepages: nr_migrated=(\d+)", events))
    assert moved == grown["compact_pages_moved"]
    assert "mm_compaction_isolate_freepages: range=(0x" in events
    assert run.section("threshold") == "1000\n"  # clamped
    assert "same contents" in run.text and "not readable" in run.text


def test_era(boot):
    run = boot(append="loglevel=4 era=2.6.38",
               autorun="grep -H . /sys/kernel/quire/switches/compact_*/value /sys/kernel/quire/switches/kcompactd/value; "
                       "echo 1 > /proc/sys/vm/compact_memory; grep compact_migrate_scanned /proc/vmstat")
    for name in ("compact_free_irq", "compact_migrate_irq", "compact_lock_lazy", "compact_hints", "kcompactd"):
        assert f"{name}/value:0\n" in run.text, name
    assert int(re.search(r"compact_migrate_scanned (\d+)", run.text)[1]) > 1000


@pytest.mark.parametrize("cpus", [1, 2])
def test_files_of_a_disk(boot, cpus):
    """Pages of files move while they are dirty, written, mapped and cut."""
    run = boot(autorun="/lab/compactload 300", cpus=cpus, mem="256M",
               append="loglevel=4 seed=1 diskmem=64M")
    for part in ("run", "again"):
        assert run.section(part).strip() == "mmapcheck: OK"
    vmstat = dict(re.findall(r"^(\w+) (\d+)$", run.section("vmstat"), re.M))
    assert int(vmstat["pgmigrate_success"]) > 500
    assert vmstat["nr_isolated_anon"] == vmstat["nr_isolated_file"] == "0"
    assert "nr_dirty" in vmstat
    wrong = [line for line in run.section("check").splitlines() if not re.search(r"\bok\b", line)]
    assert not wrong, wrong
