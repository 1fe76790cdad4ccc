"""doc001: [seed-001], writers that pause longer and less often. Plan, figures and claims, as data.

Parts: A one writer; B100, B128 many; C<N> the law of the logarithm; D a small limit. A device's
limit ramps up as in 2.6.37 (bdi_ramp=0); parts with R have the series' own faster ramp-up, because
how hard the start was decides what side 0 looks like for long after. D has it too: its question does
not depend on it, and the estimators settle in seconds instead of a minute.
"""
from . import stats
from .claims import Claim
from .drive import Job, abba

TITLE = "Writers to one disk pause longer and less often"
SWITCH = "min_pause"
SUBTITLE = ("Wu Fengguang, patch 16 of 35 of “IO-less dirty throttling” v4, 13 December 2010. "
            "Switch min_pause: 0 before, 1 as posted.")
SIDES = {0: "before", 1: "as posted", 2: "ours"}
HZ = 1000

DISK = "bw:size=42G,bw=100M,discard"
MACHINE = {"mem": "4G"}


def plan(quick=False, runs=0, sides=(0, 1, 2)):
    """The runs, in order. Full: 5 seeds where spread matters."""
    many, few = runs or (1 if quick else 5), runs or (1 if quick else 3)
    jobs = []

    def add(part, which, seeds, warm, **words):
        words = {"disk": DISK, "ramp": 0, "seconds": 20 if quick else 60, "warm": warm} | words
        for side, seed in abba(which, range(1, seeds + 1)):
            jobs.append(Job(part, side, seed, dict(words), **MACHINE))

    two = [s for s in sides if s < 2]
    add("B100", list(sides), many, 50 if quick else 60, writers=100)
    if not quick:
        add("B128", list(sides), few, 60, writers=128)
    add("A", two, few, 90, writers=1)
    for n in (2, 16, 64) if quick else (1, 2, 4, 8, 16, 32, 64, 128, 256):
        add(f"C{n}", [1] if quick else two, 1, 90, writers=n)
    add("D", two, 1, 50, writers=100, limit="80M", ramp=1)
    # The same with the faster ramp-up of a device's limit, a patch of the same series.
    add("B100R", two, few, 50, writers=100, ramp=1)
    add("AR", two, 1, 50, writers=1, ramp=1)
    # The same side and seed again: its console must be the same to the byte.
    first = jobs[1]
    jobs.append(Job(first.part, first.side, first.seed, dict(first.words), twin="-again", **MACHINE))
    return jobs


def ilog2(x):
    return max(int(x), 1).bit_length() - 1


def law(n_log2, pmax):
    """min_pause in ticks for 2^n writers, as the document's arithmetic has it."""
    if n_log2 <= 0:
        return 1
    return min(max(n_log2 * (10 * HZ) // 1024, 1), max(pmax // 2, 1))


def series_mean(run, name):
    got = [s[name] for s in run.measured() if name in s]
    return stats.mean(got) if got else None


def figures(run):
    """{metric: value} of one run; a metric whose counters are missing is absent."""
    d, out = run.delta, {}
    seconds, writers = run.total.get("seconds"), run.total.get("writers")
    if not seconds or not writers:
        return out
    ms = 1000 / HZ

    def rate(metric, name, scale=1.0):
        if name in d:
            out[metric] = d[name] * scale / seconds

    rate("mib_s", "bytes", 1 / (1 << 20))
    rate("written_mib_s", "vm_nr_written", 4096 / (1 << 20))
    rate("calls_s", "calls")
    rate("sleeps_s", "sleeps")
    rate("think_s", "think_exits")
    rate("grow_s", "grow")
    rate("shrink_s", "shrink")
    if d.get("sleeps"):
        out["sleeps_s_writer"] = d["sleeps"] / seconds / writers
        if "slept_ns" in d:
            out["slept_ms"] = d["slept_ns"] / 1e6 / d["sleeps"]
    if d.get("calls") and "pages" in d:
        out["pages_call"] = d["pages"] / d["calls"]
    if run.hist:
        out["pause_ms"] = stats.hist_mean(run.hist) * ms
        for p in (5, 50, 95):
            out[f"pause_p{p}_ms"] = stats.percentile(run.hist, p) * ms
    elif "slept_ms" in out:
        out["pause_ms"] = out["slept_ms"]
    for metric, name in (("pmax_ms", "max_pause"), ("min_pause_ms", "min_pause")):
        got = sorted(s[name] for s in run.measured() if name in s)
        if got:
            out[metric] = got[len(got) // 2] * ms
    for name in ("write_bw", "throttle_bw", "bdi_limit", "bdi_dirty", "avg_dirty"):
        got = series_mean(run, name)
        if got is not None:
            out[name] = got
    if out.get("throttle_bw"):
        out["bw_ratio"] = out["write_bw"] / out["throttle_bw"]
        out["settled"] = float(writers / 2 <= out["bw_ratio"] <= writers * 2)
    if "pmax_ms" in out:
        out["min_pause_ms_law"] = law(ilog2(writers), int(out["pmax_ms"] / ms)) * ms
    busy = sum(d.get("stat_" + k, 0) for k in ("user", "system", "irq", "softirq"))
    every = busy + d.get("stat_idle", 0) + d.get("stat_wait", 0)
    if every:
        out["cpu_percent"] = 100 * busy / every
    if "busy_ns" in d:
        out["balance_us_s"] = d["busy_ns"] / 1000 / seconds
        if out.get("cpu_percent"):
            out["balance_percent"] = 100 * (d["busy_ns"] / 1e9 / seconds) / (out["cpu_percent"] / 100)
    if run.total.get("least_bytes"):
        out["spread"] = run.total["most_bytes"] / run.total["least_bytes"]
    return out


def summary(run):
    f = figures(run)
    return (f"{f.get('mib_s', 0):6.1f} MiB/s  {f.get('calls_s', 0):7.0f} calls/s  pause "
            f"{f.get('pause_ms') or 0:6.1f} ms  min_pause {f.get('min_pause_ms', 0):4.0f} ms  write_bw/"
            f"throttle_bw {f.get('bw_ratio', 0):6.1f}")


# What the table of every part shows: (metric, head, unit).
COLUMNS = [
    ("mib_s", "written by programs", "MiB/s"), ("written_mib_s", "written to disk", "MiB/s"),
    ("calls_s", "calls of the throttle", "/s"), ("sleeps_s", "real sleeps", "/s"),
    ("think_s", "exits without a sleep", "/s"), ("sleeps_s_writer", "sleeps per writer", "/s"),
    ("pause_ms", "pause, mean", "ms"), ("pause_p5_ms", "5th percentile", "ms"),
    ("pause_p50_ms", "median", "ms"), ("pause_p95_ms", "95th percentile", "ms"),
    ("slept_ms", "really slept, mean", "ms"),
    ("min_pause_ms", "min_pause", "ms"), ("pmax_ms", "longest pause", "ms"),
    ("pages_call", "pages per call", ""), ("grow_s", "growths", "/s"), ("shrink_s", "falls", "/s"),
    ("write_bw", "write_bw", "pages/s"), ("throttle_bw", "throttle_bw", "pages/s"),
    ("bw_ratio", "write_bw / throttle_bw", ""), ("bdi_limit", "limit of the device", "pages"),
    ("cpu_percent", "CPU busy", "%"), ("balance_us_s", "CPU in the throttle", "µs/s"),
    ("balance_percent", "of the busy CPU time", "%"), ("spread", "fastest / slowest writer", ""),
]

PARTS = {"A": "one writer", "AR": "one writer, faster ramp-up",
         "B100R": "100 writers, faster ramp-up", "B100": "100 writers", "B128": "128 writers",
         "C": "the law: N writers", "D": "100 writers, limit of 80 MiB"}

WHY = ["calls_s", "pause_ms", "min_pause_ms", "bw_ratio", "grow_s", "shrink_s"]
CLAIMS = [
    Claim("A.rate", "one writer at 100 MB/s may pause about 100 times a second", "100/s", "A",
          "sleeps_s", "within", (10, 999), side=0, unit="/s", explain=WHY),
    Claim("A.same", "one writer is not touched", "no change", "A", "pause_ms", "same", (0.05,),
          unit="ms", explain=WHY),
    Claim("B.before", "100 writers make about 100 × 100 calls a second before", "10 000/s", "B100",
          "calls_s", "within", (1000, None), side=0, unit="/s", explain=["pause_ms", "pages_call"]),
    Claim("B.calls", "longer pauses mean far fewer calls", "100 × 100 to 100 × 10", "B100", "calls_s",
          "factor", (5,), want="down", unit="/s", explain=WHY),
    Claim("B.off", "(before: pauses well below the aim)", "< 60 ms", "B100", "pause_ms", "within",
          (None, 60), side=0, unit="ms", explain=["pages_call", "grow_s", "shrink_s"]),
    Claim("B.mean", "pauses average around 100 ms, given 200 ms at most", "100 ms", "B100", "pause_ms",
          "within", (70, 130), want="up", unit="ms", explain=WHY),
    Claim("B.p5", "the aim is more than 60 ms with 100 and more writers", "> 60 ms", "B100",
          "pause_p5_ms", "within", (50, None), want="up", unit="ms",
          explain=["pause_p50_ms", "min_pause_ms", "bw_ratio"]),
    Claim("B.median", "the same, for the median pause", "> 60 ms", "B100", "pause_p50_ms", "within",
          (60, None), want="up", unit="ms", explain=["min_pause_ms", "pause_p5_ms"]),
    Claim("B128.mean", "the same with 128 writers", "100 ms", "B128", "pause_ms", "within", (70, 130),
          want="up", unit="ms", explain=WHY),
    Claim("B128.calls", "fewer calls with 128 writers", "÷ 5 and more", "B128", "calls_s", "factor",
          (5,), want="down", unit="/s", explain=WHY),
    Claim("B.cpu", "CPU time falls by more than 10 %, even on one socket", "> 10 %", "B100",
          "cpu_percent", "change", (-0.20, -0.03), want="down", unit="%",
          explain=["balance_percent", "balance_us_s", "calls_s"]),
    Claim("B.share", "the throttle's own share of CPU time falls with its calls", "(implied)", "B100",
          "balance_us_s", "factor", (3,), want="down", unit="µs/s", explain=["calls_s"]),
    Claim("B.speed", "throughput does not suffer", "(implied)", "B100", "written_mib_s", "same", (0.03,),
          unit="MiB/s", explain=["mib_s", "bdi_dirty", "bdi_limit"]),
    Claim("R.off", "(before, with the series' faster ramp-up of the limit)", "< 60 ms", "B100R", "pause_ms",
          "within", (None, 60), side=0, unit="ms", explain=["pages_call", "bw_ratio", "shrink_s"]),
    Claim("R.calls", "fewer calls, with the faster ramp-up", "÷ 5 and more", "B100R", "calls_s", "factor",
          (5,), want="down", unit="/s", explain=WHY),
    Claim("R.mean", "pauses around 100 ms, with the faster ramp-up", "100 ms", "B100R", "pause_ms",
          "within", (70, 130), want="up", unit="ms", explain=WHY),
    Claim("R.p5", "more than 60 ms, with the faster ramp-up", "> 60 ms", "B100R", "pause_p5_ms", "within",
          (50, None), want="up", unit="ms", explain=["pause_p50_ms", "min_pause_ms", "bw_ratio"]),
    Claim("R.one", "one writer is not touched, with the faster ramp-up", "no change", "AR", "pause_ms",
          "same", (0.05,), unit="ms", explain=WHY),
    Claim("C.law", "10 ms for each doubling of the writers", "10 ms per doubling", "C", "min_pause_ms",
          "law", (1000 / HZ,), unit="ms", explain=["bw_ratio"]),
    Claim("D.pmax", "with a limit of 80 MiB the longest pause is 1 ms per 4 MiB, plus 2 ticks", "22 ms",
          "D", "pmax_ms", "within", (20, 23), unit="ms", explain=["bdi_limit"]),
    Claim("D.clamp", "min_pause is at most half of the longest pause", "11 ms", "D", "min_pause_ms",
          "within", (1, 11), unit="ms", explain=["pmax_ms", "bw_ratio"]),
]
NOTES = """The document gives no table: its figures are an aim (60 ms), an expectation (100 ms), an
example (100 × 100 calls) and a remark (10 % of CPU time, machine unknown). CPU time here is
counted in instructions, so the bouncing of cache lines, the document's main worry, does not
show: the saving measured is the work alone. Side 0 has no restoring force: between one tick and
the longest pause nothing moves nr_dirtied_pause, so what it is later was decided while the machine
was over its limit at the start. Parts with R show that."""
