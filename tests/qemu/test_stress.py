"""Many CPUs at one thing, on real host threads: results stay right, and nothing is lost."""
import re

import pytest


def stress(boot, rounds, workers, seed, cpus, preempt, limit):
    run = boot(autorun=f"/lab/stress {rounds} {workers} {seed}", debug=True, cpus=cpus, mem="256M",
               nodes=2, clock="wall", append=f"loglevel=4 preempt={preempt} seed={seed}", limit=limit)
    assert re.search(r"^stress: 0 of \d+ tests wrong", run.text, re.M), run.text[-3000:]
    assert "pthread_test: 0 failures" in run.text
    assert re.search(r"^80$", run.text, re.M), "lines through xargs -P 8"
    before, after = run.section("before").splitlines(), run.section("after").splitlines()
    changed = [f"{a}  ->  {b}" for a, b in zip(before, after) if a != b]
    assert len(before) == len(after) and not changed, "\n".join(changed)
    checks = run.text.split("@end after")[1]
    assert re.search(r"^lru +ok$", checks, re.M) and re.search(r"^buddy +ok$", checks, re.M), checks


def test_stress(boot):
    stress(boot, 12, 4, 1, 4, "voluntary", 600)


@pytest.mark.soak
@pytest.mark.parametrize("preempt", ["none", "voluntary", "full"])
@pytest.mark.parametrize("cpus", [2, 4, 8])
def test_long_stress(boot, cpus, preempt):
    for seed in range(1, 6):
        stress(boot, 200, cpus, seed, cpus, preempt, 3000)
