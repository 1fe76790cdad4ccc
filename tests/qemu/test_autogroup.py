"""Sessions share the CPU, not threads (switch sched_autogroup)."""
import re

import pytest


def numbers(text):
    return [int(x) for x in re.search(r"^ran (\d+) (\d+) (\d+)", text, re.M).groups()]


@pytest.mark.parametrize("on,low,high", [(0, 0.10, 0.17), (1, 0.44, 0.56)])
def test_shares(boot, on, low, high):
    """One program beside seven of another session, on one CPU: an eighth, or half."""
    text = boot(autorun=f"/lab/shares {on}", nodes=1, cpus=1, clock="virtual").text
    assert f"switch {on}" in text
    ran, waited, times = numbers(text)
    assert low <= ran / 1e9 <= high
    assert 0.9 <= (ran + waited) / 1e9 <= 1.1 and times > 10    # always runnable


def test_turned_while_running(boot):
    """Threads that are on a queue already count from the end of their request."""
    text = boot(autorun="/lab/shares 1 late", nodes=1, cpus=1, clock="virtual").text
    assert 0.44 + 0.02 <= numbers(text)[0] / 1e9 <= 0.56 + 0.05


def test_two_cpus(boot):
    """On two CPUs it has one of them nearly to itself."""
    text = boot(autorun="/lab/shares 1", nodes=1, cpus=2, clock="virtual").text
    assert numbers(text)[0] / 1e9 > 0.75
