"""The virtual clock: runs repeat to the byte, and CPUs share it fairly."""
import contextlib
import os
import re
import subprocess
import sys

import pytest


@contextlib.contextmanager
def busy_host(wanted):
    """Keeps every host CPU busy meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
             for _ in range(os.cpu_count() or 1)] if wanted else []
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def repeat(boot, cpus, runs):
    texts = []
    for busy in (False, True):
        with busy_host(busy):
            for _ in range((runs + 1) // 2):
                texts.append(boot(autorun="/lab/state", append="seed=1", cpus=cpus, nodes=2).text)
    assert re.search(r"^state [0-9a-f]{32} tsc \d+$", texts[0], re.M), texts[0][-3000:]
    distinct = sorted(set(texts), key=texts.count, reverse=True)
    if len(distinct) > 1:
        a, b = distinct[0].splitlines(), distinct[1].splitlines()
        where = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        pytest.fail(f"{len(distinct)} distinct outputs in {len(texts)} runs, counts "
                    f"{[texts.count(d) for d in distinct]}; first difference in line {where}:\n"
                    + "\n".join(a[where:where + 3]) + "\n--\n" + "\n".join(b[where:where + 3]))


@pytest.mark.parametrize("cpus", [1, 2])
def test_hundred_runs_repeat(boot, request, cpus):
    repeat(boot, cpus, request.config.getoption("--runs") or 100)


@pytest.mark.soak
@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_thousand_runs_repeat(boot, request, cpus):
    repeat(boot, cpus, request.config.getoption("--runs") or 1000)


@pytest.mark.parametrize("cpus", [2, 4])
def test_shares(boot, cpus):
    """Pinned loops without system calls: share exits 1 when one gets less than 80 %."""
    text = boot(autorun=f"/lab/mark share share {cpus} 1000", cpus=cpus).section("share")
    assert text.splitlines()[-1] == "share: ok"


@pytest.mark.parametrize("cpus", [2, 3, 4])
def test_sleeper_beside_a_busy_cpu(boot, cpus):
    """A loop that never pauses keeps nobody's alarm from being heard: half a second is half a second."""
    run = boot(autorun="taskset 1 sh -c 'while :; do :; done' & time sleep 0.5; kill %1", cpus=cpus)
    took = float(re.search(r"^real\s+0m ([0-9.]+)s", run.text, re.M)[1])
    assert 0.5 <= took <= 0.7
