"""The floor of the emulator tests: machines, consoles, and how long to wait.

boot(...)     runs a machine to its end with `autorun=` and gives its text and exit status
console(...)  an interactive session on the serial line (pexpect), at the shell prompt

Both take the fields of tools/quire_qemu.Machine as keywords, and firmware="kernel" | "bios" |
"uefi". Time limits only detect hangs.
"""
import hashlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pexpect
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import quire_qemu as qq  # noqa: E402

PROMPT = r"quire:\S*[#$] "
LIMIT = int(os.environ.get("LIMIT", 300))


def pytest_addoption(parser):
    parser.addoption("--build", default="build/release", help="the release build directory")
    parser.addoption("--runs", type=int, default=0, help="runs of the repeatability test")


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: long; run by `make soak`, left out of `make test`")


@dataclass
class Images:
    kernel: str
    initrd: str
    debug_kernel: str


@pytest.fixture(scope="session")
def images(request, tmp_path_factory):
    """The built kernels, and an initramfs that also holds tests/qemu/guest below /lab."""
    base = request.config.getoption("--build")
    debug = base[:-len("release")] + "debug" if base.endswith("release") else base + "-debug"
    base, debug = os.path.join(ROOT, base), os.path.join(ROOT, debug)
    if not os.path.exists(base + "/quire.elf"):
        pytest.exit(f"{base}/quire.elf is not built", 1)
    initrd = str(tmp_path_factory.mktemp("initrd") / "initramfs.cpio")
    programs = []
    for name in sorted(os.listdir(base + "/user")):
        programs += ["--bin", f"{base}/user/{name}"]
    subprocess.run([sys.executable, "tools/mkinitramfs", "-o", initrd, *programs,
                    "--extra", "tests/qemu/guest"], cwd=ROOT, check=True)
    return Images(base + "/quire.elf", initrd, debug + "/quire.elf")


def make_machine(images, tmp_path, firmware="kernel", append="", debug=False, **fields):
    kernel = images.debug_kernel if debug else images.kernel
    m = qq.Machine(append=append, **fields)
    m.initrd = m.initrd or images.initrd
    if firmware == "kernel":
        m.kernel = kernel
        return m
    name = hashlib.sha1(repr((append, debug, m.initrd)).encode()).hexdigest()[:8]
    m.iso = str(tmp_path / f"{name}.iso")
    m.uefi = firmware == "uefi"
    if not os.path.exists(m.iso):
        subprocess.run([sys.executable, os.path.join(ROOT, "tools/mkiso"), "-o", m.iso, "--kernel",
                        kernel, "--initrd", m.initrd, "--append", append], check=True)
    return m


@dataclass
class Run:
    status: int             # QEMU's exit status; None: it had to be killed
    text: str               # the first serial port
    out: str                # the second

    @property
    def passed(self):
        return self.status == qq.EXIT_PASS

    def section(self, name):
        """What the guest printed between `begin NAME` and `end NAME` (lines of /lab/mark)."""
        m = re.search(rf"^@begin {re.escape(name)}\n(.*?)^@end {re.escape(name)}$", self.text,
                      re.S | re.M)
        assert m, f"no section '{name}' in:\n{self.text[-3000:]}"
        return m[1]


def clean(raw):
    """Serial bytes as text: no carriage returns, no escape sequences."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    return re.sub(r"\x1b(\[[0-9;?=]*[A-Za-z]|[78=>c])", "", text.replace("\r", ""))


@pytest.fixture
def boot(images, tmp_path):
    """Runs a machine to its end. autorun: shell commands. => Run"""
    counter = [0]

    def run(autorun=None, append="loglevel=4 seed=1", limit=LIMIT, check=True, **fields):
        counter[0] += 1
        log, out = tmp_path / f"serial{counter[0]}", tmp_path / f"out{counter[0]}"
        if autorun is not None:
            assert '"' not in autorun, "put double quotes into a script in tests/qemu/guest"
            append += f' autorun="{autorun}"'
        m = make_machine(images, tmp_path, append=append, serial=f"file:{log}", out=str(out),
                         **fields)
        status = qq.run(m, timeout=limit)
        read = [clean(p.read_bytes()) if p.exists() else "" for p in (log, out)]
        result = Run(status, *read)
        if check:
            assert result.passed, (f"QEMU status {status} (None: time-out, 0: reset), "
                                   f"end of the log:\n{result.text[-3000:]}")
        return result

    return run


class Console:
    """A person at the serial line."""

    def __init__(self, machine, limit):
        self.machine = machine
        argv = qq.argv(machine)
        self.child = pexpect.spawn(argv[0], argv[1:], timeout=limit, echo=False, maxread=65536,
                                   dimensions=(50, 200), preexec_fn=qq.die_with_parent)
        self.child.delaybeforesend = None

    def expect(self, pattern, limit=-1):
        self.child.expect(pattern, timeout=limit)
        return clean(self.child.before)

    def prompt(self, limit=-1):
        """Waits for the shell's prompt. => what came before it"""
        return self.expect(PROMPT, limit)

    def type(self, text):
        self.child.send(text)

    def command(self, line, limit=-1):
        """Types one line. => its output, without the echo of the line"""
        self.type(line + "\n")
        text = self.prompt(limit)
        head, _, rest = text.lstrip("\n").partition("\n")
        return rest if line[:20] in head else text

    def status(self):
        return int(re.search(r"\d+", self.command("echo $?"))[0])

    def leave(self):
        """Ends the shell. => QEMU's exit status"""
        self.type("exit\n")
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus

    def kill(self):
        if self.child.isalive():
            self.child.close(force=True)
        qq.cleanup(self.machine)


@pytest.fixture
def console(images, tmp_path):
    """Starts a machine and waits for its shell prompt. => Console"""
    open_ones = []

    def start(append="loglevel=4 seed=1", limit=LIMIT, clock="paced", **fields):
        m = make_machine(images, tmp_path, append=append, clock=clock, serial="stdio", **fields)
        session = Console(m, limit)
        open_ones.append(session)
        session.banner = session.prompt()
        return session

    yield start
    for session in open_ones:
        session.kill()
