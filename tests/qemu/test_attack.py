"""Programs attack the debug kernel: it survives, and nothing is lost."""
import re

import pytest


def attack(boot, calls, files, seed, cpus, limit):
    run = boot(autorun=f"/lab/attack {calls} {files} {seed}", debug=True, cpus=cpus, mem="192M",
               nodes=2, append=f"loglevel=2 seed={seed}", limit=limit)
    assert "attack survived" in run.text
    assert re.search(rf"^sysfuzz: {calls} calls", run.text, re.M)
    assert re.search(rf"^elffuzz: {files} files", run.text, re.M)
    assert not set(run.section("files-before").split()) ^ set(run.section("files-after").split())
    before, after = run.section("before").splitlines(), run.section("after").splitlines()
    changed = [f"{a}  ->  {b}" for a, b in zip(before, after) if a != b]
    assert len(before) == len(after) and not changed, "\n".join(changed)


@pytest.mark.parametrize("cpus", [1, 2])
def test_attack(boot, cpus):
    attack(boot, 5000, 300, 11, cpus, 600)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_long_attack(boot, seed):
    attack(boot, 100000, 10000, seed, 2, 6000)
