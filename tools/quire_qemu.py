"""quire_qemu: the one place that composes a QEMU command line.

`Machine` holds what a guest looks like; `argv()` turns it into arguments that QEMU 6.2 to 8.2
all understand. Used by tools/qemu-run (and so by `make run`), by the kernel tests and by pytest.

Clocks: "virtual" and "paced" count one instruction as one nanosecond (-icount shift=0); virtual
skips idle time, paced lets it pass as real time; "wall" is multi-threaded and uses host time.
"""
import ctypes
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field

# No xsave and no avx: then FXSAVE holds the whole user state. No erms: string instructions
# count the same as on the machine whose figures we compare with.
CPU_MODEL = "qemu64,+smep,+smap,+umip,+fsgsbase,+rdtscp,+pdpe1gb"
EXIT_PASS = 33          # isa-debug-exit: (0x10 << 1) | 1
EXIT_POWEROFF = 0       # ACPI power off, and also a triple fault under -no-reboot

OVMF_PLACES = [("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
               ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
               ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd")]


MAX_KERNEL_DISKS = 2


class BadMachine(Exception):
    """A request that no machine can meet; the text names the option and its value."""


def parse_size(text):
    """Bytes of "512M", "6G", "65536K" or a plain number of MiB."""
    m = re.fullmatch(r"(\d+)\s*([KMG]?)(i?B)?", str(text).strip(), re.I)
    if not m:
        raise BadMachine(f"memory size {text!r}: expected a number with K, M or G")
    return int(m[1]) << {"K": 10, "M": 20, "": 20, "G": 30}[m[2].upper()]


def parse_nodes(spec):
    """Uneven nodes: "256M:0-1,128M:,0:2" gives [(bytes, "0-1"), (bytes, ""), (0, "2")]."""
    nodes = []
    for part in spec.split(","):
        size, _, cpus = part.partition(":")
        if cpus and not re.fullmatch(r"\d+(-\d+)?(\+\d+(-\d+)?)*", cpus):
            raise BadMachine(f"node {part!r}: expected SIZE:CPUS with CPUS like 0-1 or 0+2")
        nodes.append((parse_size(size) if size not in ("", "0") else 0, cpus))
    return nodes


def cpus_of(cpus):
    out = []
    for part in filter(None, cpus.split("+")):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


@dataclass
class Machine:
    kernel: str = ""            # -kernel (through the PVH note), with initrd and append
    initrd: str = ""
    append: str = ""
    iso: str = ""               # instead of kernel: boot this CD
    uefi: bool = False
    nodes: int = 2              # 0: no NUMA tables at all
    node_spec: str = ""         # overrides nodes and mem: "SIZE:CPUS,SIZE:CPUS,..."
    distances: list = field(default_factory=list)   # rows; default 10 at home, 20 elsewhere
    cpus: int = 1
    mem: str = "512M"
    clock: str = "virtual"
    accel: str = "tcg"
    machine: str = ""           # pc, or q35 under UEFI
    serial: str = "stdio"       # stdio | mon (stdio with QEMU's monitor on ^A c) | file:PATH | pty
    out: str = ""               # file behind the second serial port
    gdb: str = ""               # "tcp::1234": wait for gdb there
    plugins: list = field(default_factory=list)
    disks: list = field(default_factory=list)       # "FILE[,ro][,serial=S][,queues=N]...": virtio
    extra: list = field(default_factory=list)
    qemu: str = "qemu-system-x86_64"


def node_list(m):
    """(bytes, [cpus]) per node."""
    if m.node_spec:
        nodes = [(size, cpus_of(cpus)) for size, cpus in parse_nodes(m.node_spec)]
        placed = sorted(c for _, cpus in nodes for c in cpus)
        if placed != list(range(m.cpus)):
            raise BadMachine(f"node cpus {placed}: each of the {m.cpus} CPUs must appear once")
        return nodes
    total, step = parse_size(m.mem), 2 << 20
    each = total // m.nodes // step * step
    sizes = [each] * (m.nodes - 1) + [total - each * (m.nodes - 1)]
    return [(size, [c for c in range(m.cpus) if c * m.nodes // max(m.cpus, m.nodes) == n])
            for n, size in enumerate(sizes)]


def ranges(cpus):
    runs = []
    for c in cpus:
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return [f"{a}-{b}" if a != b else str(a) for a, b in runs]


def numa_args(m):
    nodes = node_list(m)
    args = ["-m", f"{sum(size for size, _ in nodes) >> 20}M"]
    for n, (size, cpus) in enumerate(nodes):
        node = f"node,nodeid={n}"
        if size:
            args += ["-object", f"memory-backend-ram,id=ram{n},size={size},reserve=off"]
            node += f",memdev=ram{n}"
        args += ["-numa", node + "".join(f",cpus={r}" for r in ranges(cpus))]
    for a in range(len(nodes)):
        for b in range(len(nodes)):
            if a != b:
                value = m.distances[a][b] if m.distances else 20
                args += ["-numa", f"dist,src={a},dst={b},val={value}"]
    return args


def smp_args(m):
    sockets = m.nodes if m.nodes and not m.node_spec and m.cpus % m.nodes == 0 else 1
    return ["-smp", f"cpus={m.cpus},sockets={sockets},cores={m.cpus // sockets},threads=1"]


def clock_args(m):
    if m.accel == "kvm":
        if m.clock != "wall":
            raise BadMachine(f"CLOCK={m.clock}: KVM runs on the wall clock only")
        return ["-accel", "kvm"]
    if m.accel != "tcg":
        raise BadMachine(f"ACCEL={m.accel}: expected tcg or kvm")
    if m.clock == "wall":
        return ["-accel", "tcg,thread=multi", "-rtc", "base=utc"]
    if m.clock not in ("virtual", "paced"):
        raise BadMachine(f"CLOCK={m.clock}: expected virtual, paced or wall")
    sleep = "off" if m.clock == "virtual" else "on"
    return ["-accel", "tcg,thread=single", "-icount", f"shift=0,sleep={sleep}",
            "-rtc", "base=2026-01-01T00:00:00,clock=vm"]


def kvm_usable():
    """The host has the CPU feature and the device; whether a guest runs is for the user to see."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = f.read()
    except OSError:
        return False
    return bool(re.search(r"\b(vmx|svm)\b", flags)) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def serial_args(m):
    if m.serial == "mon":
        first = ["-chardev", "stdio,id=con,mux=on,signal=off", "-serial", "chardev:con",
                 "-mon", "chardev=con"]
    elif m.serial == "stdio":
        first = ["-chardev", "stdio,id=con,signal=off", "-serial", "chardev:con"]
    else:
        first = ["-serial", m.serial]
    return first + ["-serial", f"file:{m.out}" if m.out else "null"]


def uefi_args(m):
    for code, variables in OVMF_PLACES:
        if os.path.exists(code) and os.path.exists(variables):
            break
    else:
        raise BadMachine("UEFI firmware not found (package ovmf); run ./setup")
    fd, copy = tempfile.mkstemp(prefix="quire-vars-", suffix=".fd")
    os.close(fd)
    shutil.copyfile(variables, copy)
    m.temporary = copy
    return ["-drive", f"if=pflash,format=raw,readonly=on,file={code}",
            "-drive", f"if=pflash,format=raw,file={copy}"]


DISK_OPTIONS = """FILE[,OPTION...]: a raw image behind virtio-blk (vda, vdb, ...). Options: ro, serial=TEXT,
queues=N (default: one per CPU), bps=SIZE and iops=N (limits), block=512|4096 (logical block),
cache=unsafe|writeback|none|writethrough (default unsafe: the host may lose it), dev.KEY=VALUE (any
property of QEMU's virtio-blk-pci)"""


def disk_args(number, spec):
    """-drive and -device of one disk. A comma of the file name is written twice."""
    path, *options = re.split(r"(?<!,),(?!,)", spec)
    path = path.replace(",,", ",")
    if not os.path.exists(path):
        raise BadMachine(f"disk {path!r}: no such file (truncate -s 1G {path} makes an empty one)")
    drive = {"if": "none", "id": f"disk{number}", "file": path.replace(",", ",,"), "format": "raw",
             "cache": "unsafe", "discard": "unmap"}
    device = {"drive": f"disk{number}"}
    for option in options:
        key, given, value = option.partition("=")
        if key == "ro" and not given:
            drive["readonly"] = "on"
        elif not value:
            raise BadMachine(f"disk option {option!r}: expected {DISK_OPTIONS}")
        elif key == "serial":
            device["serial"] = value
        elif key == "queues" and value.isdigit():
            device["num-queues"] = value
        elif key == "bps":
            drive["throttling.bps-total"] = str(parse_size(value) if not value.isdigit() else value)
        elif key == "iops" and value.isdigit():
            drive["throttling.iops-total"] = value
        elif key == "block" and value in ("512", "1024", "2048", "4096"):
            device["logical_block_size"] = device["physical_block_size"] = value
        elif key == "cache":
            drive["cache"] = value
        elif key.startswith("dev."):
            device[key[4:]] = value
        else:
            raise BadMachine(f"disk option {option!r}: expected {DISK_OPTIONS}")
    pairs = [",".join(f"{k}={v}" for k, v in d.items()) for d in (drive, device)]
    return ["-drive", pairs[0], "-device", "virtio-blk-pci," + pairs[1]]


def corrupt_slit(path):
    """An ACPI SLIT body (table data without header) whose distances are impossible."""
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", 2) + bytes([3, 0, 255, 7]))
    return ["-acpitable", f"sig=SLIT,data={path}"]


def argv(m):
    """The complete command line of machine m."""
    if m.cpus < 1 or m.cpus > 255:
        raise BadMachine(f"CPUS={m.cpus}: expected 1 to 255")
    if m.nodes < 0 or m.nodes > 64:
        raise BadMachine(f"NODES={m.nodes}: expected 0 to 64")
    if not m.node_spec and parse_size(m.mem) < 32 << 20:
        raise BadMachine(f"MEM={m.mem}: the loader needs at least 32M (64M is what is tested)")
    args = [m.qemu, "-machine", m.machine or ("q35" if m.uefi else "pc"), "-cpu", CPU_MODEL,
            "-nodefaults", "-display", "none", "-no-reboot",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]
    args += clock_args(m) + smp_args(m)
    if m.nodes or m.node_spec:
        args += numa_args(m)
    else:
        args += ["-m", f"{parse_size(m.mem) >> 20}M"]
    args += serial_args(m)
    if m.uefi:
        args += uefi_args(m)
    if m.iso:
        args += ["-drive", f"file={m.iso},format=raw,if=none,media=cdrom,readonly=on,id=cd",
                 "-device", "ide-cd,drive=cd,bootindex=0"]
    else:
        if m.initrd and len(m.disks) > MAX_KERNEL_DISKS:
            raise BadMachine(f"{len(m.disks)} disks with -kernel: QEMU's loader then loses the initramfs; "
                             f"at most {MAX_KERNEL_DISKS}, or boot the ISO")
        args += ["-kernel", m.kernel]
        args += ["-initrd", m.initrd] if m.initrd else []
        args += ["-append", m.append] if m.append else []
    for number, spec in enumerate(m.disks):
        args += disk_args(number, spec)
    if m.gdb:
        args += ["-gdb", m.gdb, "-S"]
    for plugin in m.plugins:
        args += ["-plugin", plugin]
    return args + m.extra


def cleanup(m):
    path = getattr(m, "temporary", "")
    if path and os.path.exists(path):
        os.unlink(path)


def die_with_parent():
    """For a child before exec: no machine outlives the test that started it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def run(m, timeout=None, stdin=subprocess.DEVNULL, stdout=None):
    """Run machine m to its end. Returns QEMU's exit status, or None when it had to be killed."""
    process = subprocess.Popen(argv(m), stdin=stdin, stdout=stdout, preexec_fn=die_with_parent)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None
    finally:
        cleanup(m)
