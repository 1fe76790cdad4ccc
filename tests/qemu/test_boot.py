"""Ways to start: firmware, memory, nodes, CPUs, and bad input."""
import re
import struct

import pytest
import quire_qemu as qq


def fields(text):
    return dict(line.split(" ", 1) if " " in line else (line, "")
                for line in re.sub(r"^(node\d+) (\w+)", r"\1.\2", text, flags=re.M).splitlines())


def machine(boot, **kw):
    return fields(boot(autorun="/lab/mark machine /lab/machine", **kw).section("machine"))


@pytest.mark.parametrize("firmware", ["bios", "uefi", "kernel"])
def test_prompt(console, firmware):
    # The firmware waits by counting time: on the instruction clock that takes minutes.
    session = console(firmware=firmware, clock="wall" if firmware == "uefi" else "paced")
    assert session.command("echo $((6 * 7))").strip() == "42"
    assert session.leave() == qq.EXIT_PASS


@pytest.mark.parametrize("firmware", ["bios"])
def test_iso_autorun(boot, firmware):
    text = boot(autorun="/lab/mark line echo one  two; cat /proc/cmdline", firmware=firmware).text
    assert "\none two\n" in text


def test_debug_kernel(boot):
    assert machine(boot, debug=True)["cpus"] == "1"


def test_failing_command_fails_the_machine(boot):
    run = boot(autorun="false", check=False)
    assert run.status not in (qq.EXIT_PASS, 0, None)


# 5000 KiB and 3 % cover the kernel image and page structs of small and large machines.
@pytest.mark.parametrize("mem,nodes,cpus", [
    ("64M", 1, 1), ("64M", 2, 1), ("512M", 2, 1), ("512M", 1, 2), ("6G", 2, 1), ("16G", 2, 1),
    ("1G", 8, 8), ("1G", 4, 2),
])
def test_sizes(boot, mem, nodes, cpus):
    seen = machine(boot, mem=mem, nodes=nodes, cpus=cpus)
    kib = qq.parse_size(mem) >> 10
    assert kib * 0.97 - 5000 < int(seen["memtotal"]) <= kib
    assert seen["cpus"] == str(cpus)
    assert seen["nodes"] == ("0" if nodes == 1 else f"0-{nodes - 1}")
    total = sum(int(v) for k, v in seen.items() if re.fullmatch(r"node\d+\.total", k))
    assert total == int(seen["memtotal"])


def test_uneven_nodes(boot):
    """Four nodes: one without memory, one without CPUs; sizes and CPU lists differ."""
    seen = machine(boot, node_spec="256M:0,0:1,384M:,128M:2-3", cpus=4)
    assert seen["nodes"] == "0-3"
    assert seen["has_memory"] in ("0,2-3", "0,2,3")
    assert seen["node1.total"] == "0"
    assert [seen[f"node{n}.cpus"] for n in range(4)] == ["0", "1", "", "2-3"]
    assert int(seen["node2.total"]) > int(seen["node0.total"]) > int(seen["node3.total"])


def test_distances(boot):
    rows = [[10, 15, 30], [15, 10, 20], [30, 20, 10]]
    seen = machine(boot, nodes=3, distances=rows)
    for n, row in enumerate(rows):
        assert seen[f"node{n}.distance"].split() == [str(d) for d in row]


def test_no_srat(boot):
    seen = machine(boot, nodes=0)
    assert seen["nodes"] == "0" and seen["cpus"] == "1"


def test_corrupt_slit(boot, tmp_path):
    """A wrong table is named and ignored; the nodes stay."""
    run = boot(autorun="/lab/mark machine /lab/machine", append="loglevel=7", nodes=2,
               extra=qq.corrupt_slit(str(tmp_path / "slit")))
    seen = fields(run.section("machine"))
    assert seen["nodes"] == "0-1"
    assert seen["node0.distance"].split()[0] == "10"


@pytest.mark.parametrize("words,nodes", [("numa=off", "0"), ("numa=fake=4", "0-3")])
def test_numa_parameter(boot, words, nodes):
    assert machine(boot, append=f"loglevel=4 {words}", nodes=2)["nodes"] == nodes


def test_unknown_parameters(boot):
    """Each is named once, in a line of its own; the boot goes on."""
    text = boot(autorun="true", append="loglevel=7 nosuchthing=1 movablecore=banana").text
    for word in ("nosuchthing", "banana"):
        lines = [line for line in text.splitlines()
                 if word in line and "command line" not in line.lower() and "autorun" not in line]
        assert len(lines) == 1, lines


def test_bad_initramfs(boot, tmp_path):
    """One clear line, and a failing exit status."""
    bad = tmp_path / "bad.cpio"
    bad.write_bytes(b"not an archive " * 100)
    run = boot(initrd=str(bad), append="loglevel=7", check=False, limit=60)
    assert run.status not in (qq.EXIT_PASS, 0, None)
    assert [line for line in run.text.splitlines() if "initramfs" in line.lower()]


def test_multiboot_header(images):
    """GRUB looks for the header in the first 32 KiB of the file, on a multiple of 8."""
    with open(images.kernel, "rb") as f:
        head = f.read(32768)
    found = [at for at in range(0, len(head) - 16, 8)
             if struct.unpack_from("<I", head, at)[0] == 0xE85250D6
             and sum(struct.unpack_from("<4I", head, at)) % 2**32 == 0]
    assert len(found) == 1


def test_write_xor_execute(images):
    """No segment of the image is both writable and executable."""
    with open(images.kernel, "rb") as f:
        data = f.read(4096)
    phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    for i in range(phnum):
        kind, flags = struct.unpack_from("<II", data, phoff + 56 * i)
        assert kind != 1 or flags & 3 != 3
