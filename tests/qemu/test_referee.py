"""The referee, a plugin below the guest, and the tracer inside it agree on every interrupts-off section."""
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools/referee"))
import compare  # noqa: E402

BOUND = 5000


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("referee") / "referee.so")
    sources = [os.path.join(ROOT, "tools/referee", f) for f in ("referee.c", "image.c", "report.c")]
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fPIC",
                    "-shared", "-fvisibility=hidden", "-o", path, *sources], check=True)
    return path


@pytest.mark.parametrize("cpus,load", [(1, "/lab/referee"), (2, "/lab/referee reset")])
def test_both_see_the_same(images, plugin, tmp_path, cpus, load):
    """One CPU: equal to the instruction. Two: the same sections, and the vCPU's own lengths keep the bound."""
    referee, tracer = compare.run(plugin, images.kernel, images.initrd, cpus, load, str(tmp_path))
    compare.table(referee, tracer, cpus, 10)
    assert sum(s.traced for s in referee.sites.values()) > 100000, "the load is too small to prove anything"
    assert len([k for k, s in referee.sites.items() if s.traced]) > 30
    assert not compare.findings(referee, tracer, cpus)
    label, longest = max(((k, s.max) for k, s in referee.sites.items()), key=lambda item: item[1])
    assert longest <= BOUND, label
    if cpus > 1:
        assert {cpu for s in referee.sites.values() for cpu in s.cpus} == {0, 1}
        assert all(executed and sections for executed, _, sections in referee.cpus)


@pytest.mark.soak
def test_threads_of_the_host(images, plugin, tmp_path):
    """Counting by call, a host thread per vCPU: the same sections again (lengths are host time there)."""
    referee, tracer = compare.run(plugin, images.kernel, images.initrd, 2, "/lab/referee", str(tmp_path), clock="wall")
    seen = {k: s.traced for k, s in referee.sites.items() if s.traced and k[0] not in compare.NOT_COMPARED}
    assert sum(seen.values()) > 100000
    assert seen == {k: v[0] for k, v in tracer.items() if k[0] not in compare.NOT_COMPARED}
    assert not any(s.unseen for s in referee.sites.values()) and not referee.unlisted


@pytest.mark.parametrize("cpus", [1, 2])
def test_planted(images, plugin, tmp_path, cpus):
    """Sections of known length are that length plus a constant, with two CPUs too; the tracer is off."""
    load = "/lab/mark hist sh -c 'for n in 100 10000 1000000; do echo $n > /sys/kernel/quire/plant_irqsoff; done'"
    if cpus > 1:
        load = "while :; do :; done & " + load + "; kill %1"
    report = {}
    referee, _ = compare.run(plugin, images.kernel, images.initrd, cpus, load, str(tmp_path),
                             append="loglevel=4 plant=1 tracer=nop")
    for key, s in referee.sites.items():
        if key[0] == "planted":
            report[key] = s
    (seen,) = report.values()
    extra, rest = divmod(seen.total - 1010100, 3)
    assert (seen.sections, seen.traced, rest) == (3, 0, 0)
    assert 0 <= extra < 50 and seen.max == 1000000 + extra


def test_a_disagreement_is_found():
    """The comparison is not blind: a lost section, a wrong length, a cli outside the table, a missed one."""
    good = ("# cpu 0: executed 9 off 5 sections 2\n# oddities: unlisted 0 mismatched 0 popf 0 unknown_gates 0 "
            "nested 0 on_in_nested 0\nl f a.c:1 0 2 100 60 l 120 70 2 104 62 2 2 0 5:2\n")
    hist = "#label\nl f l 2 104 62 0 x-1 5:2\n"

    def found(report, tracer, cpus=1):
        return compare.findings(compare.read_referee(report), compare.read_tracer(tracer), cpus)

    assert found(good, hist) == []
    assert len(found(good, hist.replace(" 2 104", " 1 104"))) == 1
    assert len(found(good, hist.replace("62", "61"))) == 1
    assert len(found(good, hist.replace("62", "61"), cpus=2)) == 1
    assert found(good, hist.replace("62", "900"), cpus=2) == []
    assert len(found(good.replace("unlisted 0", "unlisted 1"), hist)) == 1
    assert len(found(good.replace(" 0 5:2", " 3 5:2"), hist)) == 1
    assert len(found(good, "")) == 1


def test_bad_options(plugin, images):
    """A wrong word gets one line that names it, and no guest."""
    for words, expected in (("image=/nonexistent,out=/dev/null", r"image=/nonexistent is not a readable"),
                            (f"image={plugin},out=/dev/null", r"irq_sites or .irq_insns is absent"),
                            ("out=/dev/null", r"image=FILE and out=FILE are needed"),
                            ("colour=red", r"colour=red: expected")):
        r = subprocess.run(["qemu-system-x86_64", "-display", "none", "-plugin", f"{plugin},{words}"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert r.returncode and re.search(expected, r.stdout), r.stdout
