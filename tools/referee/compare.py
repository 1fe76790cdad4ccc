#!/usr/bin/env python3
"""compare: boots a guest with the referee below it and sets its figures beside the tracer's.

    compare --plugin referee.so --kernel quire.elf --initrd FILE [--cpus 1,2] [--load COMMAND] [--out DIR]

One table per machine, a line per label and function: sections and longest as the referee has them
(instructions of the vCPU itself), beside them what the tracer says. Exit status 1 and a line per
finding when they disagree:

- both count the same sections, at every site, on any number of CPUs;
- on one CPU of the counted clock the tracer's total and maximum are the instructions between the
  readings of its clock, exactly; on more CPUs no shorter (the clock runs during others' turns);
- no section between two seen ones went unseen, and no cli, sti, iret or popf is outside the table.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import quire_qemu as qq  # noqa: E402

COLUMNS = ("cpu sections total max end all_total all_max traced clock_total clock_max diff_min diff_max "
           "unseen").split()
# Opened by hand before the first cli of a further CPU; the referee does not know that CPU's IF yet.
NOT_COMPARED = {"ap_start"}


@dataclass
class Seen:
    """All sites of one label and function, on all vCPUs."""
    sections: int = 0
    total: int = 0
    max: int = 0
    all_max: int = 0
    traced: int = 0
    clock_total: int = 0
    clock_max: int = 0
    diffs: list = field(default_factory=list)
    unseen: int = 0
    cpus: dict = field(default_factory=dict)    # cpu: (sections, max)


@dataclass
class Referee:
    sites: dict             # (label, function): Seen
    oddities: dict
    cpus: list              # (executed, off, sections)
    unlisted: list


def read_referee(text):
    sites, odd, cpus, unlisted = {}, {}, [], []
    for line in text.splitlines():
        if line.startswith("# oddities:"):
            words = line.split()[2:]
            odd = dict(zip(words[::2], map(int, words[1::2])))
        elif line.startswith("# cpu "):
            cpus.append(tuple(map(int, re.findall(r"(?:executed|off|sections) (\d+)", line))))
        elif line.startswith("# unlisted:"):
            unlisted.append(line[2:])
        if line.startswith("#") or not line.strip():
            continue
        words = line.split()
        row = dict(zip(COLUMNS, words[3:]))
        n = {k: int(v) for k, v in row.items() if k != "end"}
        s = sites.setdefault((words[0], words[1]), Seen())
        for key in ("sections", "total", "traced", "clock_total", "unseen"):
            setattr(s, key, getattr(s, key) + n[key])
        for key in ("max", "all_max", "clock_max"):
            setattr(s, key, max(getattr(s, key), n[key]))
        if n["traced"]:
            s.diffs += [n["diff_min"], n["diff_max"]]
        have = s.cpus.get(n["cpu"], (0, 0))
        s.cpus[n["cpu"]] = (have[0] + n["sections"], max(have[1], n["max"]))
    return Referee(sites, odd, cpus, unlisted)


def read_tracer(text):
    """(label, function): (count, total, max) of the file irqsoff_hist."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and not line.startswith("#"):
            found[words[0], words[1]] = tuple(map(int, words[3:6]))
    return found


def findings(referee, tracer, cpus):
    bad = list(referee.unlisted)
    for name in ("unlisted", "mismatched", "popf", "unknown_gates", "on_in_nested"):
        if referee.oddities.get(name, -1) != 0:
            bad.append(f"{name}: {referee.oddities.get(name, 'absent')}")
    for key in sorted(set(tracer) | {k for k, s in referee.sites.items() if s.traced}):
        s, name = referee.sites.get(key, Seen()), f"{key[0]} in {key[1]}"
        count, total, longest = tracer.get(key, (0, 0, 0))
        if key[0] in NOT_COMPARED:
            continue
        if count != s.traced:
            bad.append(f"{name}: the tracer counts {count} sections, the referee {s.traced}")
        elif cpus == 1 and (total, longest) != (s.clock_total, s.clock_max):
            bad.append(f"{name}: the tracer has total {total}, max {longest}; the referee "
                       f"{s.clock_total}, {s.clock_max}")
        elif cpus > 1 and (total < s.clock_total or longest < s.clock_max):
            bad.append(f"{name}: the tracer has less than the instructions executed: total {total} < "
                       f"{s.clock_total} or max {longest} < {s.clock_max}")
    for key, s in sorted(referee.sites.items()):
        if s.unseen:
            bad.append(f"{key[0]} in {key[1]}: {s.unseen} sections the tracer did not see")
    return bad


def run(plugin, kernel, initrd, cpus, load, out, nodes=1, mem="256M", append="loglevel=4 seed=1", limit=600,
        clock="virtual", disks=()):
    """=> (Referee, tracer's figures, QEMU's exit status)"""
    serial, report = os.path.join(out, f"serial-{cpus}"), os.path.join(out, f"referee-{cpus}.txt")
    threads = ",threads=multi" if clock == "wall" else ""
    m = qq.Machine(kernel=kernel, initrd=initrd, cpus=cpus, nodes=nodes, mem=mem, clock=clock,
                   serial=f"file:{serial}", append=f'{append} autorun="{load}"', disks=list(disks),
                   plugins=[f"{plugin},image={kernel},out={report}{threads}"])
    status = qq.run(m, timeout=limit)
    with open(serial, errors="replace") as f:
        text = f.read().replace("\r", "")
    hist = re.search(r"^@begin hist\n(.*?)^@end hist$", text, re.S | re.M)
    if status != qq.EXIT_PASS or not hist or not os.path.exists(report):
        raise SystemExit(f"compare: CPUS={cpus}: QEMU status {status}, end of the log:\n{text[-2000:]}")
    with open(report) as f:
        return read_referee(f.read()), read_tracer(hist[1])


def table(referee, tracer, cpus, rows):
    executed, off, sections = (sum(c[i] for c in referee.cpus) for i in range(3))
    print(f"\nCPUS={cpus}: {executed:,} instructions executed, {off:,} of them ({100 * off / executed:.2f} %) "
          f"in {sections:,} sections with interrupts off")
    print(f"{'':52}|{'referee: instructions of the vCPU':^45}| {'tracer: ticks of the clock':^33} | between")
    print(f"{'label':24} {'function':27}|{'sections':>9} {'seen':>9} {'longest':>8} {'total':>13}  |"
          f" {'sections':>9} {'longest':>8} {'total':>13} | clocks")
    order = sorted(referee.sites.items(), key=lambda item: (-item[1].max, item[0]))
    for key, s in order[:rows]:
        count, total, longest = tracer.get(key, (0, 0, 0))
        diff = f"{min(s.diffs):+d}..{max(s.diffs):+d}" if s.diffs else "not traced"
        print(f"{key[0]:24} {key[1][:26]:27}|{s.sections:>9} {s.traced:>9} {s.max:>8} {s.total:>13}  | "
              f"{count:>9} {longest:>8} {total:>13} | {diff}")
    if len(order) > rows:
        print(f"(and {len(order) - rows} sites with shorter sections)")
    if cpus > 1:
        print("longest per CPU: " + ", ".join(
            f"{cpu}: {longest} ({label})" for cpu, (longest, label) in sorted(longest_of(referee).items())))


def longest_of(referee):
    best = {}
    for (label, _), s in referee.sites.items():
        for cpu, (_, longest) in s.cpus.items():
            best[cpu] = max(best.get(cpu, (0, "")), (longest, label))
    return best


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--plugin", required=True)
    a.add_argument("--kernel", required=True)
    a.add_argument("--initrd", required=True)
    a.add_argument("--cpus", default="1,2")
    a.add_argument("--nodes", type=int, default=1)
    a.add_argument("--mem", default="256M")
    a.add_argument("--load", default="/lab/referee")
    a.add_argument("--append", default="loglevel=4 seed=1")
    a.add_argument("--rows", type=int, default=25)
    a.add_argument("--out", default="", help="directory for the files (default: a temporary one)")
    o = a.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        out = o.out or scratch
        os.makedirs(out, exist_ok=True)
        for cpus in map(int, o.cpus.split(",")):
            referee, tracer = run(o.plugin, o.kernel, o.initrd, cpus, o.load, out, o.nodes, o.mem, o.append)
            table(referee, tracer, cpus, o.rows)
            wrong = findings(referee, tracer, cpus)
            for line in wrong:
                print(f"DISAGREE: {line}")
            agree = sum(1 for k, s in referee.sites.items() if s.traced and k in tracer)
            exact = "to the instruction" if cpus == 1 else "in every count; lengths above are the vCPU's own"
            print(f"referee and tracer agree {exact}: {agree} sites, "
                  f"{sum(s.traced for s in referee.sites.values()):,} sections" if not wrong
                  else f"{len(wrong)} disagreements")
            bad += len(wrong)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
