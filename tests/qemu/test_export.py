"""Trace export: ftrace's text and format files as Linux has them, Chrome JSON, and trace.dat for trace-cmd.

Golden files: tests/qemu/expected/trace.txt (a trace as the guest prints it), trace.json and
trace-cmd.txt (what trace2json and Debian's trace-cmd make of it), trace-layout.txt and
trace-format.txt (the guest's text with the numbers that depend on the image masked).
"""
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools/lablib"))
import ftrace  # noqa: E402

EXPECTED = os.path.join(ROOT, "tests/qemu/expected")
TOOLS = os.path.join(ROOT, "tools")


def expected(name):
    with open(os.path.join(EXPECTED, name)) as f:
        return f.read()


@pytest.fixture(scope="module", params=[1, 2])
def traced(request, images, tmp_path_factory):
    """One boot of /lab/events. => its sections"""
    from conftest import Run, clean, make_machine, qq
    base = tmp_path_factory.mktemp("events")
    m = make_machine(images, base, append='loglevel=4 seed=1 autorun="/lab/events"', serial=f"file:{base}/serial",
                     cpus=request.param, nodes=1, mem="256M")
    status = qq.run(m, timeout=200)
    run = Run(status, clean((base / "serial").read_bytes()), "")
    assert run.passed, run.text[-2000:]
    run.cpus, run.base = request.param, base
    return run


def test_text(traced):
    """Every line fits the grammar and Perfetto's pattern; counts, order, CPUs and marks are right."""
    tracer, (kept, written), cpus, events = ftrace.parse_trace(traced.section("trace"))
    assert (tracer, cpus) == ("nop", traced.cpus)
    assert kept == len(events) and written >= kept > 100
    assert [e.ns for e in events] == sorted(e.ns for e in events)
    assert {e.cpu for e in events} <= set(range(traced.cpus))
    assert {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "mm_page_alloc",
            "tracing_mark_write"} <= {e.name for e in events}
    marks = [e.text for e in events if e.name == "tracing_mark_write"]
    assert re.fullmatch(r"B\|\d+\|load", marks[0]) and marks[-1] == "a line of text"
    _, (kept, written), _, events = ftrace.parse_trace(traced.section("cleared"))
    assert (kept, written, events) == (0, 0, [])
    assert traced.section("state").splitlines()[-3:] == ["1", "X", "X"]


def test_switches_follow_each_other(traced):
    """On each CPU who is switched to is who runs and who is switched from next; a waker's target runs."""
    _, _, _, events = ftrace.parse_trace(traced.section("trace"))
    running, switches = {}, 0
    for e in events:
        if e.name != "sched_switch":
            assert running.get(e.cpu, e.pid) == e.pid, e
            continue
        f = e.fields()
        assert list(f) == ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]
        assert e.pid == int(f["prev_pid"]) == running.get(e.cpu, e.pid), e
        assert f["prev_state"] in ("R", "S", "D", "T", "X") and f["prev_prio"].isdigit()
        assert (f["next_comm"] == f"swapper/{e.cpu}") == (f["next_pid"] == "0")
        running[e.cpu] = int(f["next_pid"])
        switches += 1
    assert switches > 20


def test_format_files(traced):
    """Every format file is one a compiler and Linux could have made; ids are unique."""
    text = traced.section("formats")
    forms = [ftrace.parse_format(m) for m in re.findall(r"^name: .*?^print fmt: [^\n]*\n", text, re.M | re.S)]
    assert len(forms) > 30 and len(forms) == text.count("system: ")
    assert len({f.id for f in forms}) == len(forms) and min(f.id for f in forms) >= 300
    switch = re.search(r"^name: sched_switch\n.*?^print fmt: [^\n]*\n", text, re.M | re.S)[0]
    assert re.sub(r"ID: \d+", "ID: N", switch) == expected("trace-format.txt")


def report(path):
    return subprocess.run(["trace-cmd", "report", "-N", "-t", "-i", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=True)


def test_trace_cmd_reads_it(traced):
    """Debian's trace-cmd takes every format file, and reads every event at its time, place and thread."""
    for name in "trace", "formats":
        (traced.base / name).write_text(traced.section(name))
    subprocess.run([TOOLS + "/trace2dat", "--formats", str(traced.base / "formats"), str(traced.base / "trace"), "-o",
                    str(traced.base / "trace.dat")], check=True)
    r = report(traced.base / "trace.dat")
    assert not r.stderr.strip(), r.stderr
    lines = r.stdout.splitlines()
    assert lines[0] == f"cpus={traced.cpus}"
    got = [re.match(r" *(.+)-(\d+) +\[(\d+)\] +(?:\S+ +)?(\d+)\.(\d{9}): (\w+): *(.*)", x) for x in lines[1:]]
    assert all(got), lines[1:3]
    _, _, _, events = ftrace.parse_trace(traced.section("trace"))
    # -N: without the plugins that know Linux's events by heart, so the text comes from our print formats.
    assert sorted((int(m[4]) * 10**9 + int(m[5]), int(m[3]), int(m[2]), m[6], m[7].replace("0x", ""))
                  for m in got) == \
        sorted((e.ns, e.cpu, e.pid, e.name, e.text.replace("0x", "")) for e in events)


def chrome(data):
    """The trace-event format's rules for what we use; => the events by phase"""
    assert set(data) == {"traceEvents", "displayTimeUnit", "otherData"} and data["displayTimeUnit"] in ("ms", "ns")
    phases, open_marks, flows = {}, {}, {}
    before = 0
    for e in data["traceEvents"]:
        assert isinstance(e["name"], str) and e["name"] and isinstance(e["pid"], int)
        phases.setdefault(e["ph"], []).append(e)
        if e["ph"] == "M":
            assert e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str)
            continue
        assert isinstance(e["ts"], (int, float)) and e["ts"] >= before and isinstance(e["tid"], int)
        before = e["ts"]
        if e["ph"] == "X":
            assert e["dur"] >= 0 and isinstance(e["args"], dict)
        elif e["ph"] == "i":
            assert e["s"] in ("g", "p", "t")
        elif e["ph"] == "B":
            open_marks[e["tid"]] = open_marks.get(e["tid"], 0) + 1
        elif e["ph"] == "E":
            open_marks[e["tid"]] -= 1
            assert open_marks[e["tid"]] >= 0
        elif e["ph"] in "sf":
            flows.setdefault(e["id"], []).append(e["ph"])
            assert e["ph"] == "s" or e["bp"] == "e"
        else:
            assert e["ph"] == "C" and all(isinstance(v, int) for v in e["args"].values())
    assert not any(open_marks.values())
    assert all(kinds in (["s"], ["s", "f"]) for kinds in flows.values())
    return phases


def test_chrome_json(traced):
    """The JSON keeps the format's rules, and says what the text says."""
    (traced.base / "trace").write_text(traced.section("trace"))
    r = subprocess.run([TOOLS + "/trace2json", str(traced.base / "trace")], stdout=subprocess.PIPE, check=True)
    phases = chrome(json.loads(r.stdout))
    _, _, _, events = ftrace.parse_trace(traced.section("trace"))
    names = [e.name for e in events]
    assert len([e for e in phases["i"] if e["name"] == "mm_page_alloc"]) == names.count("mm_page_alloc")
    assert len(phases["s"]) == names.count("sched_wakeup") + names.count("sched_wakeup_new")
    assert len(phases["B"]) == len(phases["E"]) == 1 and phases["C"][0]["args"] == {"value": 1}
    slices = [e for e in phases["X"] if e["cat"] == "cpu"]
    for cpu in range(traced.cpus):      # a CPU runs one thread at a time
        mine = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["tid"] == cpu)
        assert all(a[1] <= b[0] + 1e-6 for a, b in zip(mine, mine[1:]))
    assert any(e["name"].startswith("sort-") for e in slices)


def mask(text):
    """The numbers that another image would print otherwise."""
    text = re.sub(r"^( *)(\S.*?)-\d+( +)\[", lambda m: f"{m[1]}{m[2]}-N [", text, flags=re.M)
    text = re.sub(r"^ +(?=\S+-N)", "", text, flags=re.M)
    text = re.sub(r"pid=[1-9]\d*", "pid=N", text)
    return re.sub(r" +\d+\.\d{6}:", " T:", text)


def test_layout_is_the_recorded_one(boot):
    """The trace of one sleep on one CPU, column heads and all."""
    run = boot(autorun="cd /sys/kernel/tracing; echo nop > current_tracer; sleep 0.005; echo 1 > events/sched/enable; "
               "sleep 0.01; echo 0 > tracing_on; /lab/mark trace cat trace", nodes=1, cpus=1, mem="256M")
    assert mask(run.section("trace")) == expected("trace-layout.txt")


def test_latency_text(boot):
    """The latency format of irqsoff and of preemptoff."""
    run = boot(autorun="cd /sys/kernel/tracing; echo irqsoff > current_tracer; echo 0 > tracing_max_latency; "
               "echo 70000 > /sys/kernel/quire/plant_irqsoff; echo 0 > tracing_on; /lab/mark irqs cat trace; "
               "echo preemptoff > current_tracer; echo 1 > tracing_on; "
               "echo 90000 > /sys/kernel/quire/plant_preemptoff; echo 0 > tracing_on; /lab/mark preempt cat trace",
               append="loglevel=4 plant=1", nodes=1, cpus=1, mem="256M")
    head, rows, stack = ftrace.parse_latency(run.section("irqs"))
    assert (head["tracer"], head["started"], head["ended"], head["latency_us"]) == \
        ("irqsoff", "planted", "planted", 70)
    assert [r.us for r in rows] == [0, 70, 70] and rows[0].mark == "+" and rows[0].flags[0] == "d"
    assert any("sys_write" in f for f in stack)
    r = subprocess.run([TOOLS + "/trace2json"], input=run.section("irqs"), stdout=subprocess.PIPE, text=True, check=True)
    (one,) = chrome(json.loads(r.stdout))["X"]
    assert (one["dur"], one["cat"], one["args"]["task"], one["args"]["stack"]) == (70, "irqsoff", head["task"], stack)
    head, rows, stack = ftrace.parse_latency(run.section("preempt"))
    assert head["tracer"] == "preemptoff" and head["latency_us"] == 90 and rows[0].flags[0] == "."


def test_golden_conversions(tmp_path):
    """trace.txt as JSON and through trace-cmd: exactly what was recorded."""
    source = os.path.join(EXPECTED, "trace.txt")
    r = subprocess.run([TOOLS + "/trace2json", source], stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(r.stdout) == json.loads(expected("trace.json"))
    chrome(json.loads(r.stdout))
    subprocess.run([TOOLS + "/trace2dat", "--formats", source, source, "-o", str(tmp_path / "t.dat")], check=True)
    assert report(tmp_path / "t.dat").stdout == expected("trace-cmd.txt")


@pytest.mark.parametrize("change,why", [
    (("sched_wakeup: comm=", "sched_wakeup: command="), "not what"),
    (("[000] d", "[000] dd"), "no record"),
    (("name: sched_switch", "name: sched_swatch"), "no format file for sched_switch"),
    (("offset:24;\tsize:8", "offset:20;\tsize:8"), "pid at 20, behind 24"),
    (("# tracer: nop", "# tracr: nop"), "not a copy"),
])
def test_bad_input(tmp_path, change, why):
    """Damaged text is refused with one line that says what and where."""
    text = expected("trace.txt")
    assert change[0] in text
    (tmp_path / "t").write_text(text.replace(*change, 1))
    r = subprocess.run([TOOLS + "/trace2dat", "--formats", str(tmp_path / "t"), str(tmp_path / "t"), "-o",
                        str(tmp_path / "t.dat")], stderr=subprocess.PIPE, text=True)
    if why == "no record":      # the trace is cut before the line that is none
        data = (tmp_path / "t.dat").read_bytes()
        assert r.returncode or len(report(tmp_path / "t.dat").stdout) < len(expected("trace-cmd.txt")), data[:20]
        return
    assert r.returncode == 1 and len(r.stderr.splitlines()) == 1 and why in r.stderr, r.stderr
