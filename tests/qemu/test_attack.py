"""Programs attack the debug kernel: it survives, and nothing is lost."""
import re

import pytest


def objects(text):
    """{"slab inode": 365, ...}"""
    return {name: int(n) for name, n in (line.rsplit(" ", 1) for line in text.splitlines())}


def attack(boot, calls, files, seed, cpus, limit):
    run = boot(autorun=f"/lab/attack {calls} {files} {seed}", debug=True, cpus=cpus, mem="192M",
               nodes=2, append=f"loglevel=2 seed={seed}", limit=limit)
    assert "attack survived" in run.text
    assert re.search(rf"^sysfuzz: {calls} calls", run.text, re.M)
    assert re.search(rf"^elffuzz: {files} files", run.text, re.M)
    assert not set(run.section("files-before").split()) ^ set(run.section("files-after").split())
    before, after = objects(run.section("before")), objects(run.section("after"))
    assert set(before) == set(after) and before["free"] > 0
    changed = [f"{name}: {before[name]}  ->  {after[name]}" for name in before
               if before[name] != after[name]]
    assert not changed, "\n".join(changed)


# About 90 s of host time on two CPUs.
@pytest.mark.parametrize("calls,files,seed,cpus", [(5000, 300, 11, 1), (100000, 10000, 1, 2)])
def test_attack(boot, calls, files, seed, cpus):
    attack(boot, calls, files, seed, cpus, 1800)


def test_only_the_guilty(boot):
    """Memory runs out under a fork bomb without a bound, then under one large process: the shell stays."""
    run = boot(autorun="forkbomb 20000 4; echo bombed $?; memhog all; echo hogged $?", debug=True, cpus=2,
               mem="64M", nodes=2, append="loglevel=4 seed=1")
    assert "bombed 137" in run.text and "hogged 137" in run.text
    victims = re.findall(r"Out of memory: Killed process \d+ \((\w+)\)", run.text)
    assert set(victims) == {"forkbomb", "memhog"}, victims


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 8))
def test_long_attack(boot, seed):
    attack(boot, 100000, 10000, seed, 1 + seed % 4, 6000)
