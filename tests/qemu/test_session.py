"""A first session at the console, as a person would have it, on one and on two CPUs."""
import hashlib
import re

import pexpect
import pytest
import quire_qemu as qq

CTRL_C, CTRL_Z, ESC = "\x03", "\x1a", "\x1b"


@pytest.fixture(params=[1, 2], ids=["1cpu", "2cpus"])
def shell(request, console):
    session = console(nodes=2, cpus=request.param)
    yield session
    assert session.leave() == qq.EXIT_PASS


def test_looking_around(shell):
    listing = shell.command("ls -l /")
    for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
        assert re.search(rf"^d[rwxt-]{{9}} .* {name}$", listing, re.M), name
    free = shell.command("free")
    assert re.search(r"^Mem: +\d+ +\d+ +\d+", free, re.M)
    top = shell.command("top -bn1")
    assert re.search(r"^Mem: \d+K used, \d+K free", top, re.M) and "init" in top
    ps = shell.command("ps")
    assert re.search(r"^ +1 (root|0) .*init", ps, re.M) and "ps" in ps
    zones = shell.command("cat /proc/buddyinfo /proc/zoneinfo")
    assert re.search(r"^Node 1, zone +\w+( +\d+){11} *$", zones, re.M)
    assert re.search(r"^Node 0, zone +DMA$", zones, re.M)
    assert re.search(r"^ +min +\d+$", zones, re.M)


def test_files(shell):
    shell.command("dd if=/dev/zero of=/tmp/x bs=1M count=64")
    assert shell.status() == 0
    want = hashlib.sha256(bytes(64 << 20)).hexdigest()
    assert shell.command("sha256sum /tmp/x").split()[0] == want
    shell.command("rm /tmp/x; mkdir /tmp/d; cd /tmp/d")
    shell.command("seq 1 5000 | xargs mkdir")
    assert shell.status() == 0
    assert shell.command("ls | wc -l").strip() == "5000"
    assert int(shell.command("find / 2>/dev/null | wc -l")) > 5300
    shell.command("cd /; rm -r /tmp/d")
    assert shell.status() == 0


def test_pipe_of_four(shell):
    assert shell.command("seq 1 1000 | grep 7 | sort -rn | head -2").split() == ["997", "987"]


def test_job_control(shell):
    shell.type("sleep 1000\n")
    shell.child.expect("sleep 1000")
    pause(shell)
    shell.type(CTRL_C)
    shell.prompt()
    assert shell.status() == 130
    shell.type("sleep 1000\n")
    shell.child.expect("sleep 1000")
    pause(shell)
    shell.type(CTRL_Z)
    assert "Stopped" in shell.prompt()
    assert "Stopped" in shell.command("jobs")
    shell.command("bg")
    assert "Running" in shell.command("jobs")
    shell.type("fg\n")
    shell.child.expect("sleep 1000")
    pause(shell)
    shell.type(CTRL_C)
    shell.prompt()
    assert "sleep" not in shell.command("jobs")
    shell.command("sleep 1000 &")
    shell.command("kill %1")
    shell.command("sleep 0.1; jobs")
    assert "sleep 1000" not in shell.command("ps")


def pause(shell):
    """Lets the guest start what was typed: nothing comes for a little while."""
    try:
        shell.child.expect("never printed", timeout=1)
    except pexpect.TIMEOUT:
        pass


def test_vi(shell):
    shell.type("vi /tmp/note\n")
    shell.child.expect("- /tmp/note .*1/1")     # vi's own status line, not the echo
    shell.type("ihello from vi")
    shell.child.expect(r"\x1b\[1;14H")         # the cursor behind it: vi may draw the text in pieces
    shell.type(ESC)
    pause(shell)
    shell.type(":wq\n")
    shell.prompt()
    assert shell.command("cat /tmp/note").strip() == "hello from vi"


def test_time_passes(shell):
    real = re.search(r"real\s+(\d+)m ?(\d+\.\d+)s", shell.command("time sleep 1"))
    assert real and 1.0 <= int(real[1]) * 60 + float(real[2]) < 1.2


def test_line_editing(shell):
    assert shell.command("echo abX\x7fc").strip().endswith("abc")
    shell.type("cat\n")
    shell.child.expect("cat")
    pause(shell)
    shell.type("typed line\n\x04")
    assert shell.prompt().count("typed line") == 2
