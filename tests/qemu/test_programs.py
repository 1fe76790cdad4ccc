"""Unmodified programs print the same on this host and in Quire."""
import difflib
import glob
import os
import subprocess

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
SCRIPTS = sorted(os.path.basename(p)[:-3] for p in glob.glob(HERE + "/guest/lab/scripts/*.sh"))


def on_host(argv, cwd, path="/bin:/usr/bin"):
    run = subprocess.run(argv, cwd=cwd, env={"PATH": path}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return run.stdout.decode("utf-8", "replace")


def same(want, got):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "Linux", "Quire", "", "", 1, "")
    if want != got:
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(scope="session")
def applets(tmp_path_factory):
    """A directory with busybox's programs alone, as Quire has them."""
    where = tmp_path_factory.mktemp("applets")
    for name in subprocess.run(["/bin/busybox", "--list"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.split():
        (where / name).symlink_to("/bin/busybox")
    return str(where)


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("name", SCRIPTS)
def test_busybox_script(boot, tmp_path, applets, name, cpus):
    script = f"{HERE}/guest/lab/scripts/{name}.sh"
    (tmp_path / "host").mkdir()
    want = on_host(["/bin/busybox", "sh", script], tmp_path / "host", applets)
    run = boot(autorun="mkdir /tmp/w; cd /tmp/w; PATH=/bin:/usr/bin; /lab/mark script "
                       f"busybox sh /lab/scripts/{name}.sh < /dev/null 2>&1 | cat", cpus=cpus)
    # Names of the script in messages differ by where it lies.
    same(want.replace(script, f"/lab/scripts/{name}.sh"), run.section("script"))


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_pthreads(boot, request, cpus):
    program = os.path.join(os.path.dirname(os.path.dirname(HERE)),
                           request.config.getoption("--build"), "user/pthread_test")
    want = on_host([program], "/")
    run = boot(autorun="/lab/mark threads pthread_test", cpus=cpus)
    same(want, run.section("threads"))
    assert "WRONG" not in want


# Recorded on Linux 6.18 as root on tmpfs (another kernel, or no root, may answer otherwise):
#	cd /dev/shm/empty; build/release/user/fscheck $PWD > tests/qemu/expected/fscheck.txt
@pytest.mark.parametrize("debug,cpus", [(False, 1), (False, 2), (True, 2)], ids=["1", "2", "debug-2"])
@pytest.mark.parametrize("name", ["syscheck", "fscheck", "vmcheck", "shm_test", "iocheck"])
def test_answers_of_linux(boot, name, debug, cpus):
    with open(f"{HERE}/expected/{name}.txt") as f:
        want = f.read()
    run = boot(autorun=f"cd /tmp; /lab/mark {name} {name} < /dev/null 2>&1 | cat", debug=debug, cpus=cpus)
    same(want, run.section(name))


def test_stress(boot):
    """Many at one thing on four CPUs, debug kernel; its own checks decide."""
    assert "FAILED" not in boot(autorun="/lab/mark stress stress -n 30", debug=True, cpus=4).section("stress")


@pytest.mark.parametrize("debug", [False, True], ids=["release", "debug"])
def test_wild_programs(boot, request, debug):
    program = os.path.join(os.path.dirname(os.path.dirname(HERE)),
                           request.config.getoption("--build"), "user/wild")
    same(on_host([program], "/"), boot(autorun="/lab/mark wild wild", debug=debug).section("wild"))


def test_quire_page(boot):
    page = boot(autorun="/lab/mark page quire", nodes=2).section("page")
    assert "node 0: CPUs 0, " in page and "node 1: CPUs none, " in page
    assert "irqsoff_report" in page and len(page.splitlines()) <= 60


def test_ubench_runs(boot):
    """Figures exist and the counter agrees with the clock (1 tick = 1 ns on the virtual clock)."""
    text = boot(autorun="/lab/mark bench ubench -c").section("bench")
    rows = {r[0]: int(r[1]) for r in (line.split(",") for line in text.splitlines()[1:])}
    assert all(rows[name] > 0 for name in ("getpid", "anon_fault", "fork_exec", "tmpfs_read"))
    assert 995 <= rows["clock_ratio_permille"] <= 1005
