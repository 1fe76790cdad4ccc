"""Unmodified programs print the same on this host and in Quire."""
import glob
import os
import subprocess

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
SCRIPTS = sorted(os.path.basename(p)[:-3] for p in glob.glob(HERE + "/guest/lab/scripts/*.sh"))


def on_host(argv, cwd):
    run = subprocess.run(argv, cwd=cwd, env={"PATH": "/bin:/usr/bin"}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return run.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("name", SCRIPTS)
def test_busybox_script(boot, tmp_path, name, cpus):
    script = f"{HERE}/guest/lab/scripts/{name}.sh"
    (tmp_path / "host").mkdir()
    want = on_host(["/bin/busybox", "sh", script], tmp_path / "host")
    run = boot(autorun="mkdir /tmp/w; cd /tmp/w; PATH=/bin:/usr/bin; "
                       f"/lab/mark script busybox sh /lab/scripts/{name}.sh < /dev/null 2>&1",
               cpus=cpus)
    # Names of the script in messages differ by where it lies.
    assert run.section("script") == want.replace(script, f"/lab/scripts/{name}.sh")


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_pthreads(boot, request, cpus):
    program = os.path.join(os.path.dirname(os.path.dirname(HERE)),
                           request.config.getoption("--build"), "user/pthread_test")
    want = on_host([program], "/")
    run = boot(autorun="/lab/mark threads pthread_test", cpus=cpus)
    assert run.section("threads") == want
    assert "WRONG" not in want


@pytest.mark.parametrize("debug", [False, True], ids=["release", "debug"])
def test_wild_programs(boot, request, debug):
    program = os.path.join(os.path.dirname(os.path.dirname(HERE)),
                           request.config.getoption("--build"), "user/wild")
    assert boot(autorun="/lab/mark wild wild", debug=debug).section("wild") == on_host([program], "/")


def test_quire_page(boot):
    page = boot(autorun="/lab/mark page quire", nodes=2).section("page")
    assert "node 0: CPUs 0, " in page and "node 1: CPUs none, " in page
    assert "irqsoff_report" in page and len(page.splitlines()) <= 60


def test_ubench_runs(boot):
    """Figures exist and the counter agrees with the clock (1 tick = 1 ns on the virtual clock)."""
    text = boot(autorun="/lab/mark bench ubench -c").section("bench")
    rows = {r[0]: int(r[1]) for r in (line.split(",") for line in text.splitlines()[1:])}
    assert all(rows[name] > 0 for name in ("getpid", "anon_fault", "fork_exec", "tmpfs_read"))
    assert 998 <= rows["clock_ratio_permille"] <= 1002
