"""The memory map: its sums are the kernel's counters, and the terminal shows it and comes back whole."""
import re

import pexpect

CLASSES = "f pc ia aa if af ue lw ol sl pt ks vm ke rs ho".split()
TYPES = {"U": "Unmovable", "R": "Reclaimable", "M": "Movable", "V": "Reserve", "I": "Isolate"}
# counters of /proc/zoneinfo that do not move while a reader reads
SAME = {"nr_inactive_anon": ["ia"], "nr_active_anon": ["aa"], "nr_inactive_file": ["if"], "nr_active_file": ["af"],
        "nr_unevictable": ["ue"], "nr_file_pages": ["ca"], "nr_shmem": ["sh"], "nr_dirty": ["di"],
        "nr_writeback": ["wb"], "nr_mlock": ["ml"], "nr_swapcached": ["sc"], "nr_kernel_stack": ["ks"]}


def parse(text):
    """=> {(node, zone): {"present": n, "blocks": [(number, type, free by order, {key: n})]}}"""
    lines = text.strip().split("\n")
    assert re.fullmatch(r"quire-memmap 1 time_ns=\d+ block_pages=512 zones=\d+", lines[0])
    zones = []
    for line in lines[1:]:
        words = line.split()
        if words[0] == "zone":
            field = dict(w.split("=") for w in words[2:])
            assert int(words[1]) == len(zones)
            zones.append({"id": (int(field["node"]), field["name"]), "present": int(field["present"]),
                          "blocks": []})
            continue
        keys, free = {}, []
        for word in words[3:]:
            key, value = word.split("=")
            value, _, orders = value.partition(":")
            keys[key] = int(value)
            if orders:
                free = [int(x) for x in orders.split(".")]
        assert 0 < sum(keys.get(k, 0) for k in CLASSES) <= 512, line
        zones[int(words[1])]["blocks"].append((int(words[0]), words[2], free, keys))
    return {z["id"]: z for z in zones}


def total(zone, *keys):
    return sum(b[3].get(k, 0) for b in zone["blocks"] for k in keys)


def zoneinfo(text):
    """=> {(node, zone): {name: n}}"""
    found, at = {}, None
    for line in text.split("\n"):
        m = re.match(r"Node (\d+), zone +(\S+)", line)
        if m:
            at = found.setdefault((int(m[1]), m[2]), {"pcp": 0})
        m = re.match(r" +(?:pages )?(\w+):? +(\d+)$", line)
        if m and m[1] == "count":
            at["pcp"] += int(m[2])
        elif m and at is not None:
            at.setdefault(m[1], int(m[2]))
    return found


def test_sums(boot):
    """A machine with everything in it: files clean and dirty, shared memory, programs, locked pages."""
    run = boot(autorun="mke2fs /dev/ram0 > /dev/null; mount /dev/ram0 /mnt; "
                       "dd if=/dev/zero of=/mnt/f bs=1M count=9; sync; cat /mnt/f /mnt/f > /dev/null; "
                       "dd if=/dev/zero of=/mnt/g bs=1M count=5; dd if=/dev/zero of=/tmp/x bs=1M count=7; "
                       "(memhog 20M 1000 > /dev/null &); sleep 1; "
                       "/lab/mark all cat /sys/kernel/quire/memmap /proc/zoneinfo /proc/pagetypeinfo; "
                       "/lab/mark plain quire map -p; poweroff -f",
               append="loglevel=4 seed=1 ramdisk=16M", mem="256M", nodes=2, check=False)
    # one process reads all three: another one would come and go between them
    text, _, types = run.section("all").partition("Page block order")
    text = re.split(r"^(?=Node )", text, 1, re.M)
    zones, info = parse(text[0]), zoneinfo(text[1])
    assert len(zones) == 3 and set(zones) == set(info)
    for name, zone in zones.items():
        assert total(zone, *CLASSES[:-1]) == zone["present"] == info[name]["present"]
        for counter, keys in SAME.items():
            assert total(zone, *keys) == info[name][counter], (name, counter)
        # the readers' own buffers and tables
        assert abs(total(zone, "f") - info[name]["free"]) < 64
        assert abs(total(zone, "pc") - info[name]["pcp"]) < 64
        slab = info[name]["nr_slab_reclaimable"] + info[name]["nr_slab_unreclaimable"]
        assert abs(total(zone, "sl") - slab) < 32
        m = re.search(rf"Node {name[0]}, zone +{name[1]} +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) *\n",
                      types.split("Number of blocks type")[1])
        assert [sum(b[1] == t for b in zone["blocks"]) for t in TYPES] == [int(x) for x in m.groups()]
        for block in zone["blocks"]:
            begun = sum(n << order for order, n in enumerate(block[2]))
            assert begun >= block[3].get("f", 0) or not begun, block
    both = zones.values()
    assert sum(total(z, "am") for z in both) > 20 * 256 and sum(total(z, "di") for z in both) >= 5 * 256
    assert sum(total(z, "sh") for z in both) >= 7 * 256 and sum(total(z, "if", "af") for z in both) >= 14 * 256
    # the same as a table for programs
    plain = run.section("plain")
    table = {m[1]: [int(x) for x in m[2].split()] for m in re.finditer(r"^(\S.{23}) ((?: *\d+)+)$", plain, re.M)}
    table = {k.strip(): v for k, v in table.items()}
    for text, counter in (("files, inactive", "nr_inactive_file"), ("dirty", "nr_dirty"),
                          ("shared memory, tmpfs", "nr_shmem"), ("kernel stacks", "nr_kernel_stack")):
        want = [info[z][counter] for z in zones]
        assert table[text] == want + [sum(want)], text
    assert table["blocks Movable"][-1] == sum(b[1] == "M" for z in both for b in z["blocks"])
    assert "\x1b" not in plain and re.search(r"^ +0M .*[aAfFdhksR]", plain, re.M)


def test_one_block(console):
    c = console(mem="128M", nodes=1)
    text = c.command("quire map 4; echo status $?")
    assert re.search(r"Pageblock 4: frames 2048 to 2559, 8 MiB to 10 MiB, node 0 DMA, \w+\n", text)
    assert "status 0" in text
    assert "there is no pageblock 99999" in c.command("quire map 99999")
    assert c.status() == 1
    assert "usage: quire map" in c.command("quire map -x")
    assert "wants a terminal" in c.command("quire map -l < /dev/null")
    assert c.status() == 2
    assert "not a memory map" in c.command("quire map -f /proc/version")
    assert c.leave() == 33


def test_live(console):
    """Live: draws, follows keys, and leaves the terminal as it was, by q and by ^C."""
    c = console(mem="256M", nodes=1)
    before = c.command("stty -a")
    for leave in ("q", "\x03"):
        c.type("quire map -l 0.1\n")
        c.child.expect_exact("\x1b[?1049h")
        if c.child.expect_exact(["\x1b[6n", "Memory map"]) == 0:
            c.type("\x1b[30;100R")      # what a terminal of 100 columns answers
        for _ in range(3):
            c.child.expect_exact("\x1b[H")
            c.child.expect(r"128 pageblocks of 2 MiB.*live, every 0\.1 s")
        c.type("l")
        c.child.expect(r"block \d+ at \d+M, \w+:")
        first = c.child.after
        c.type("\x1b[C")
        c.child.expect(r"block \d+ at \d+M, \w+:")
        while c.child.after == first:
            c.child.expect(r"block \d+ at \d+M, \w+:")
        c.type(" ")
        c.child.expect("stopped")
        c.type(leave)
        c.child.expect_exact("\x1b[?25h")
        c.child.expect_exact("\x1b[?1049l")
        c.prompt()
        assert c.command("stty -a") == before
        assert c.command("echo $((6 * 7))").strip() == "42"
    assert c.leave() == 33


def test_version_mismatch_is_said(console):
    c = console(mem="128M", nodes=1)
    c.command("sed 's/quire-memmap 1/quire-memmap 2/' /sys/kernel/quire/memmap > /tmp/m")
    assert "not a memory map of version 1" in c.command("quire map -f /tmp/m")
    c.command("sed 's/^4 0 M/4 77 M/; s/^4 0 U/4 77 U/' /sys/kernel/quire/memmap > /tmp/m")
    assert "cannot read the line '4 77" in c.command("quire map -f /tmp/m")
    c.child.sendeof()
    try:
        c.child.expect(pexpect.EOF)
    except pexpect.TIMEOUT:
        c.kill()
