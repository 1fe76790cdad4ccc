"""The interrupts-off tracer: it sees every section, exactly, and the sections keep the bound."""
import re

import pytest

BOUND = 5000


def rows(text):
    """[(label, count, total, max)] of irqsoff_hist."""
    found = []
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        label, rest = line[:24].strip() or line.split()[0], line.split()
        numbers = [int(w) for w in rest if re.fullmatch(r"\d+", w)]
        found.append((label, *numbers[:3]))
    return found


def test_planted_sections(boot):
    """N instructions with interrupts off read N + c, with the same c for every N."""
    text = boot(autorun="/lab/mark planted /lab/planted", append="loglevel=4 plant=1").section("planted")
    seen = {int(n): (int(count), int(total), int(longest)) for n, count, total, longest
            in re.findall(r"^planted (\d+) (\d+) (\d+) (\d+)$", text, re.M)}
    assert set(seen) == {100, 10000, 1000000}
    assert all(count == 3 for count, _, _ in seen.values())
    extra = {longest - n for n, (_, _, longest) in seen.items()}
    assert len(extra) == 1 and 0 <= extra.pop() < 100
    assert all(total == 3 * longest for _, total, longest in seen.values())
    assert re.search(r"^# irqsoff latency trace", text, re.M)


@pytest.mark.parametrize("load,mem", [("traced", "512M"), ("heavy", "256M")])
def test_sections_keep_the_bound(boot, load, mem):
    """The longest are printed: pytest -s, or `make test T=bound` when it fails."""
    run = boot(autorun=f"/lab/{load}", nodes=2, cpus=1, mem=mem)
    hist = rows(run.section("hist"))
    print("the ten longest sections, in instructions:")
    for label, count, total, longest in hist[:10]:
        print(f"  {label:24} max {longest:6}  count {count:8}  total {total}")
    assert len({label for label, *_ in hist}) >= 5
    longest = max(hist, key=lambda row: row[3])
    assert longest[3] <= BOUND, f"{longest}\n{run.section('stacks')[:2000]}"


def test_fragmented_memory_keeps_the_bound(boot):
    """Pages whose neighbours are free merge through many orders: the bound is on work, not on pages."""
    run = boot(autorun="for n in 2 8 64 1024; do frag 300M $n; done; "
                       "/lab/mark hist cat /sys/kernel/tracing/irqsoff_hist")
    longest = max(rows(run.section("hist")), key=lambda row: row[3])
    assert longest[3] <= BOUND, longest


@pytest.mark.parametrize("before,during", [("1", "0"), ("0", "1")])
def test_a_call_keeps_the_registers(boot, before, during):
    """The tracer is switched while programs are inside a system call: their registers are theirs."""
    on = "/sys/kernel/tracing/tracing_on"
    run = boot(autorun=f"echo irqsoff > /sys/kernel/tracing/current_tracer; echo {before} > {on}; "
                       f"keepregs 300 & sleep 0.1; echo {during} > {on}; sleep 0.5")
    assert "keepregs: kept" in run.text and "wrong" not in run.text


def test_report_layout(boot):
    run = boot(autorun="/lab/traced", nodes=2, cpus=1)
    lines = run.section("report").splitlines()
    total = [re.fullmatch(r"Total sampled time IRQs off \(not real total time\): (\d+)", x) for x in lines]
    assert sum(1 for m in total if m) == 1
    events = [re.fullmatch(r"Event (\S+)\.\.(\S+) +(\d+) us count (\d+)", x) for x in lines]
    events = [m for m in events if m]
    assert events
    assert sum(int(m[3]) * int(m[4]) for m in events) <= int(next(m for m in total if m)[1]) + len(events)
    assert [int(m[3]) for m in events] == sorted((int(m[3]) for m in events), reverse=True)
    assert run.section("interval").strip() == "1000000"


@pytest.mark.parametrize("mem", ["512M"])
def test_disks_keep_the_bound(boot, tmp_path, mem):
    """Loads on a RAM disk, two models and virtio: no section with interrupts off above the bound."""
    image = tmp_path / "disk.img"
    with open(image, "wb") as f:
        f.truncate(96 << 20)
    run = boot(autorun="/lab/disks", nodes=1, cpus=1, mem=mem, disks=[str(image)])
    hist = rows(run.section("hist"))
    print("the ten longest sections, in instructions:")
    for label, count, total, longest in hist[:10]:
        print(f"  {label:24} max {longest:6}  count {count:8}  total {total}")
    longest = max(hist, key=lambda row: row[3])
    assert longest[3] <= BOUND, f"{longest}\n{run.section('stacks')[:2000]}"


def test_reclaim_keeps_the_bound(boot):
    """Streams, program memory and shared memory beyond what the machine has, with swap, and swapoff."""
    run = boot(autorun="/lab/reclaim", nodes=1, cpus=1, mem="256M", append="loglevel=4 diskmem=96M")
    hist = rows(run.section("hist"))
    print("the ten longest sections, in instructions:")
    for label, count, total, longest in hist[:10]:
        print(f"  {label:24} max {longest:6}  count {count:8}  total {total}")
    vmstat = dict(line.split() for line in run.section("vmstat").splitlines())
    assert int(vmstat["pswpout"]) > 1000 and int(vmstat["pswpin"]) > 1000, "the load did not swap"
    assert sum(int(v) for k, v in vmstat.items() if k.startswith("pgsteal_")) > 50000
    longest = max(hist, key=lambda row: row[3])
    assert longest[3] <= BOUND, f"{longest}\n{run.section('stacks')[:3000]}"


def test_nothing_dirty_nothing_wakes(boot):
    """Once everything is written, no flusher runs and no timer fires for its sake for a minute."""
    lines = boot(autorun="/lab/idle", nodes=1, cpus=1, mem="256M").section("idle").splitlines()
    seen = {}
    for line in lines:
        words = line.split()
        seen[words[0]] = dict(zip(words[1::2], map(int, words[2::2])))
    assert seen["before"]["flushers"] >= 1
    assert seen["before"]["runs"] > seen["fresh"]["runs"], "the flusher never ran: the test is blind"
    assert seen["after"]["runs"] == seen["before"]["runs"]
    # What the shell's own sleep, fork and pipes need is about ten.
    assert seen["after"]["timers"] - seen["before"]["timers"] <= 40, seen
    assert seen["after"]["switches"] - seen["before"]["switches"] <= 60, seen
