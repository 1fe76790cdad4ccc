"""Wake-up latency: the tracers, Debian's cyclictest in the guest, and what `quire latency` makes of it."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools/lablib"))
import ftrace  # noqa: E402


@pytest.fixture(scope="module")
def cyclictest(images, tmp_path_factory):
    """An initramfs that also holds cyclictest and its libraries."""
    if not shutil.which("cyclictest") and not os.path.exists("/usr/sbin/cyclictest"):
        pytest.fail("cyclictest is not installed; run ./setup")
    base = tmp_path_factory.mktemp("rt")
    subprocess.run([os.path.join(ROOT, "tools/mktree"), "-o", str(base / "tree"), "cyclictest"], check=True)
    initrd, programs = str(base / "initramfs.cpio"), os.path.join(os.path.dirname(images.kernel), "user")
    bins = [word for name in sorted(os.listdir(programs)) for word in ("--bin", f"{programs}/{name}")]
    subprocess.run([sys.executable, "tools/mkinitramfs", "-o", initrd, *bins, "--extra", "tests/qemu/guest",
                    "--extra", str(base / "tree")], cwd=ROOT, check=True)
    return initrd


def waits(text):
    """class: (count, longest in ns) of the page's table."""
    return {m[1]: (int(m[2]), float(m[3]) * 1000) for m in
            re.finditer(r"^(rt|fair|timer) +(\d+)(?: +[\d.]+ us){3} +([\d.]+) us$", text, re.M)}


@pytest.mark.parametrize("cpus", [1, 2])
def test_cyclictest(boot, cyclictest, cpus):
    """200 rounds at priority 80; its maximum is the timer's lateness and the wait, as the kernel has them."""
    run = boot(autorun="/lab/latency quiet", append="loglevel=4 seed=1 plant=1", initrd=cyclictest, nodes=1,
               cpus=cpus, mem="256M")
    text = run.section("quiet")
    threads = re.findall(r"^T: *\d+ \( *\d+\) P:80 I:500 C: +200 Min: +(\d+) Act: +\d+ Avg: +(\d+) Max: +(\d+)$",
                         text, re.M)
    assert len(threads) == 1, text
    seen = waits(text)
    assert seen["rt"][0] >= 200 and seen["timer"][0] >= 200 and seen["fair"][0] > 0
    assert re.search(r"^The longest of class rt: cyclictest-\d+ \(fifo 80\) waited [\d.]+ us on CPU \d", text, re.M)
    assert len(text.splitlines()) < 60, "one screen"
    if cpus == 1:       # on the shared clock of two CPUs each wait contains the other's turns
        least, mean, most = map(int, threads[0])
        assert least <= mean <= most <= (seen["rt"][1] + seen["timer"][1]) / 1000 + 10
        assert most < 30, "a quiet machine, and no wait of microseconds?"


def test_delays_are_explained(boot, cyclictest):
    """Each planted kind of delay is named, with its place and stack."""
    run = boot(autorun="/lab/latency", append="loglevel=4 seed=1 plant=1", initrd=cyclictest, nodes=1, cpus=1,
               mem="256M")
    text = run.section("irqoff")
    assert 200000 < waits(text)["timer"][1] < 710000
    late = text[text.index("The latest timer:"):]
    assert re.search(r"^    planted in irqoff_plant, trace/plant.c:\d+$", late, re.M)
    assert int(re.search(r"Max: +(\d+)$", text, re.M)[1]) >= 200, "cyclictest itself must see it"

    text = run.section("kernel")
    assert 1500000 < waits(text)["rt"][1] < 2600000
    first = text[text.index("The longest of class rt: cyclictest"):].split("\n\n")[0]
    assert re.search(r"^  \S+ went on +\d+\.\d+ us +\d+ %", first, re.M)
    assert "which went on in the kernel with interrupts on; at the last tick in" in first
    assert re.search(r"^      arch_run_nops", first, re.M) and "text_write" in first

    text = run.section("before")
    first = text[text.index("The longest of class fair:"):].split("\n\n")[0]
    assert re.search(r"^  woken by", first, re.M)
    assert re.search(r"threads before it +\d+\.\d+ us +\d+ %", first) or "in user mode" in first, first

    header, rows, stack = ftrace.parse_latency(run.section("trace"))
    assert header["tracer"] == "wakeup_rt" and header["latency_us"] >= 1000 and header["rt_prio"] == 80
    assert header["task"].startswith("cyclictest-") and header["policy"] == 1
    assert rows[0].text.split()[1] == "+" and rows[-2].text.split()[1] == "==>"
    assert rows[0].us == 0 and rows[-1].us == header["latency_us"]
    assert any("schedule" in f for f in stack)
    assert run.section("max").strip() == str(header["latency_us"])


def test_tracers_are_listed_and_reset(boot):
    run = boot(autorun="/lab/mark list cat /sys/kernel/tracing/available_tracers; cd /sys/kernel/tracing; "
               "echo wakeup > current_tracer; sleep 0.01; /lab/mark first cat tracing_max_latency; "
               "echo 0 > tracing_max_latency; echo 0 > tracing_on; "
               "/lab/mark second cat tracing_max_latency; sleep 0.01; /lab/mark off cat tracing_max_latency; "
               "echo 1 > tracing_on; /lab/mark bad sh -c 'echo nonsense > current_tracer || echo refused'",
               nodes=1, cpus=1, mem="256M")
    assert run.section("list").split() == "wakeup_rt wakeup preemptirqsoff preemptoff irqsoff nop".split()
    assert int(run.section("first")) >= 1
    assert int(run.section("off")) == int(run.section("second"))
    assert "refused" in run.section("bad")
