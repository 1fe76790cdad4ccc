"""The host side's own tools: machines, archives, symbol tables."""
import os
import subprocess
import sys

import pytest
import quire_qemu as qq
from conftest import ROOT


def test_sizes_are_parsed():
    assert qq.parse_size("512M") == 512 << 20
    assert qq.parse_size("6G") == 6 << 30
    assert qq.parse_size("64") == 64 << 20
    with pytest.raises(qq.BadMachine):
        qq.parse_size("much")


@pytest.mark.parametrize("fields", [
    {"clock": "lunar"}, {"cpus": 0}, {"accel": "abacus"}, {"accel": "kvm", "clock": "virtual"},
    {"node_spec": "64M:0,64M:0", "cpus": 1}, {"node_spec": "64M:a", "cpus": 1},
])
def test_impossible_machines(fields):
    with pytest.raises(qq.BadMachine):
        qq.argv(qq.Machine(kernel="k", **fields))


def test_every_node_and_cpu_is_placed():
    for nodes in range(1, 9):
        for cpus in range(1, 10):
            m = qq.Machine(kernel="k", nodes=nodes, cpus=cpus, mem="1G")
            placed = qq.node_list(m)
            assert sum(size for size, _ in placed) == 1 << 30
            assert sorted(c for _, list_ in placed for c in list_) == list(range(cpus))


def test_archive_is_deterministic(images, tmp_path):
    for n in (1, 2):
        subprocess.run([sys.executable, "tools/mkinitramfs", "-o", str(tmp_path / f"{n}"), "--extra",
                        "tests/qemu/guest"], cwd=ROOT, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_grub_keeps_the_command_line(tmp_path):
    loader = {"__name__": "mkiso"}
    with open(os.path.join(ROOT, "tools/mkiso")) as f:
        exec(compile(f.read(), "mkiso", "exec"), loader)
    assert loader["split_words"]('a=1 b="c  d" "e f"') == ["a=1", "b=c  d", "e f"]
    assert loader["grub_quote"]('b="c d"') == "'b=c d'"


def test_setup_is_content():
    """On a machine that runs the tests, setup has nothing left to do, and says so twice."""
    for _ in range(2):
        run = subprocess.run(["./setup", "--check"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0 and "everything is here" in run.stdout
    assert subprocess.run(["./setup", "--nonsense"], cwd=ROOT, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode == 2
