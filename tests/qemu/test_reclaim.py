"""Memory full of what cannot be given back, and a slow disk beside a fast one: nobody burns the CPU,
answers come promptly, and who has nothing to do with it is not disturbed.
"""
import re

import pytest

EXEMPT = "echo -1000 > /proc/self/oom_score_adj; "


def times(text, name):
    """Microseconds and statuses of `timed NAME...`."""
    return [(int(us), int(status))
            for us, status in re.findall(rf"^@time {name} (\d+) (\d+)$", text, re.M)]


@pytest.mark.parametrize("kind,cpus", [("tmpfs", 1), ("tmpfs", 4), ("locked", 1), ("anon", 2)])
def test_full_of_what_stays(boot, kind, cpus):
    """No swap: kswapd rests, the shell works, greedy programs die at once, and memory comes back."""
    run = boot(autorun=EXEMPT + f"/lab/mark full /lab/full {kind}; "
               "/lab/mark vm cat /proc/vmstat", mem="128M", cpus=cpus, nodes=1)
    text = run.section("full")
    burnt, elapsed, failed = map(int, re.search(r"^work (\d+) (\d+) (\d+)$", text, re.M).groups())
    assert elapsed >= 5000 and failed == 0
    assert burnt * 20 < elapsed, f"kswapd ran {burnt} of {elapsed} ms"
    hogs = times(text, r"hog\d")
    assert len(hogs) == 5 and all(status == 128 for _, status in hogs)
    assert max(us for us, _ in hogs) < 500_000
    burnt, elapsed = map(int, re.search(r"^hogs (\d+) (\d+)$", text, re.M).groups())
    assert burnt < 100
    kills = int(re.search(r"^oom_kill (\d+)$", run.section("vm"), re.M)[1])
    assert kills == 5 + (kind == "tmpfs")
    if kind == "tmpfs":
        (us, _), = times(text, "fill")
        assert us < 2_000_000
    before, after = (int(re.search(rf"^{word} (\d+)$", text, re.M)[1])
                     for word in ("free", "after"))
    assert before < 8000 and after > 100_000


def test_nobody_to_kill(boot):
    """A program that must not be killed takes all: one report, no panic; it ends itself by asking for
    a second, and the rest goes on."""
    run = boot(autorun=EXEMPT + "(memhog all; echo hog $?) & sleep 3; "
               "/lab/mark alive echo yes; wait; /lab/mark free free",
               append="loglevel=6 seed=1", mem="128M", cpus=2, nodes=1, limit=60)
    assert run.section("alive").strip() == "yes"
    assert "hog 135" in run.text  # SIGBUS
    assert run.text.count("no killable processes") == 1
    assert int(run.section("free").split("Mem:")[1].split()[2]) > 100_000


@pytest.mark.parametrize("cpus,ratio", [(1, ""), (2, "80")])
def test_reader_beside_slow_writer(boot, cpus, ratio):
    """A slow stick's dirty pages fill memory; who reads from a fast disk waits no longer than alone."""
    run = boot(autorun=f"/lab/mark beside /lab/beside ssd:size=600M,discard {ratio}",
               mem="256M", cpus=cpus, nodes=1)
    text = run.section("beside")
    lat = {name: list(map(int, rest.split()))
           for name, rest in re.findall(r"^@lat (\w+) ([\d ]+)$", text, re.M)}
    p99 = {name: values[3] for name, values in lat.items()}
    assert p99["busy"] <= 2 * p99["quiet"], text
    # The writer was at work, the kswapd too, and nobody died.
    assert int(re.findall(r"^nr_dirty (\d+)$", text, re.M)[0]) > 4000
    assert int(re.search(r"^pageoutrun (\d+)$", text, re.M)[1]) > 100
    assert re.search(r"^oom_kill 0$", text, re.M)


def test_swap_full(boot):
    """Memory and swap run full three times: the hog dies, and what it had comes back, slots too."""
    hog = "(echo 500 > /proc/self/oom_score_adj; exec timed hog memhog all); "
    run = boot(autorun=EXEMPT + "echo bw:size=32M,bw=200M > /sys/kernel/quire/disks; "
               "mkswap /dev/bw0 > /dev/null; swapon /dev/bw0; " + hog * 3 +
               "sleep 1; /lab/mark mem cat /proc/meminfo; /lab/mark vm cat /proc/vmstat",
               append="loglevel=4 seed=1 diskmem=56M", mem="112M", cpus=2, nodes=1, limit=120)
    took = times(run.text, "hog")
    assert len(took) == 3 and all(status == 128 for _, status in took)
    assert max(us for us, _ in took) < 10_000_000
    mem = dict(re.findall(r"^(\w+): +(\d+)", run.section("mem"), re.M))
    assert int(mem["MemFree"]) > 45_000 and int(mem["SwapFree"]) > 28_000
    vm = dict(line.split() for line in run.section("vm").splitlines())
    assert int(vm["oom_kill"]) == 3 and int(vm["pswpout"]) > 3 * 7000
