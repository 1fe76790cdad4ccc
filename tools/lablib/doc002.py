"""doc002: [seed-002], compaction lets interrupts in. Plan, figures and claims, as data.

A side is a pair (compact_free_irq, compact_migrate_irq): 0 = (0,0), 1 = (1,0), 2 = (1,1), the three columns
of the document, and 3 = (2,2), ours. Parts: A the document's machine and load (1 GiB, one CPU, era 2.6.38,
the lower quarter of memory in pieces and the rest full and locked); I the same with the upper part idle, so
that reclaim takes it; N the bounds in frames on two nodes and two CPUs; Z everything at 2, no era: what huge
pages meet in life, and no site above 5000 instructions.
"""
import html

from . import records, report, stats, svg
from .claims import Claim, show
from .drive import Job

TITLE = "compaction lets interrupts in"
SWITCH = "compact_free_irq, compact_migrate_irq"
SUBTITLE = ("Mel Gorman and Andrea Arcangeli, two patches for 2.6.38, 25 February 2011. Switches "
            "compact_free_irq (first patch) and compact_migrate_irq (second).")
SIDES = {0: "before (0,0)", 1: "first patch (1,0)", 2: "both (1,1)", 3: "ours (2,2)"}

BOUND = 5000            # instructions: what a section may take at 2
LINUX = 284000          # Linux 6.1 under such a load on the same emulator, per-CPU lists (docs/sources.md)
DISKS = "diskmem=448M"  # both modelled disks lie outside the 1 GiB that the zones are made of


def plan(quick=False, runs=0, sides=(0, 1, 2, 3)):
    """The runs, in order. All are counted in instructions; a second run gives the same bytes."""
    words = {"seconds": 3, "sample": 250} if quick else {"seconds": 6, "sample": 500}
    shape = {"mem": "1472M", "append": f"era=2.6.38 {DISKS}", "tracer": "irqsoff"}
    jobs = [Job("A", s, seed, {**words, "map": 250}, **shape) for seed in range(1, (runs or 1) + 1) for s in sides]
    jobs.append(Job("A", 0, 1, {**words, "map": 250}, twin="-again", **shape))
    if not quick:
        jobs.append(Job("A", 2, 1, {**words, "map": 250}, twin="-again", **shape))
        jobs += [Job("I", s, 1, {**words, "lock": 0, "map": 250}, **shape) for s in sides]
    short = {"seconds": 3, "sample": 250}
    jobs += [Job("N", s, 1, {**short, "tasks": 4}, nodes=2, cpus=2, **shape) for s in sides]
    jobs.append(Job("Z", 3, 1, {**words, "mix": 1, "whole": 1, "size": "48M", "map": 250},
                    mem="1472M", append=DISKS, tracer="irqsoff"))
    return jobs


# The document's reports: (us, count, event), and their heads.
PUBLISHED = {
    0: (22355, [(8409, 1, "compaction_alloc..compaction_alloc"), (7341, 1, "compaction_alloc..compaction_alloc"),
                (2463, 1, "compaction_alloc..compaction_alloc"), (2054, 1, "compaction_alloc..compaction_alloc"),
                (1864, 1, "shrink_inactive_list..shrink_zone"), (88, 1, "shrink_inactive_list..shrink_zone"),
                (36, 1, "save_args..call_softirq"), (35, 2, "save_args..call_softirq"),
                (24, 1, "__make_request..__blk_run_queue"),
                (6, 1, "__alloc_pages_nodemask..__alloc_pages_nodemask")]),
    1: (5493, [(1596, 1, "shrink_inactive_list..shrink_zone"), (1530, 1, "shrink_inactive_list..shrink_zone"),
               (956, 1, "shrink_inactive_list..shrink_zone"), (541, 1, "shrink_inactive_list..shrink_zone"),
               (531, 1, "shrink_inactive_list..shrink_zone"), (232, 1, "split_huge_page..add_to_swap"),
               (36, 1, "save_args..call_softirq"), (35, 2, "save_args..call_softirq"), (1, 1, "__wake_up..__wake_up")]),
    2: (4367, [(881, 1, "shrink_inactive_list..shrink_zone"), (875, 1, "shrink_inactive_list..shrink_zone"),
               (868, 1, "shrink_inactive_list..shrink_zone"), (555, 1, "shrink_inactive_list..shrink_zone"),
               (495, 1, "split_huge_page..add_to_swap"), (269, 1, "compact_zone..compact_zone_order"),
               (266, 1, "split_huge_page..add_to_swap"), (85, 1, "shrink_inactive_list..shrink_zone"),
               (36, 2, "save_args..call_softirq"), (1, 1, "__wake_up..__wake_up")]),
}
COLUMN = {0: "vanilla", 1: "free scanner patch", 2: "and migration scanner patch"}
# Sites whose figures have a name of their own.
NAMED = {"compact_free": "free", "compact_migrate": "migrate", "shrink_inactive": "shrink",
         "split_huge": "split", "collapse_huge": "collapse", "pcp_free": "pcp"}
QUIET = ("compact_free", "compact_migrate")


def site(run, label):
    """All lines of one label together: inlined functions plant several."""
    found = [s for s in run.sites if s["label"] == label]
    if not found:
        return None
    hist = {}
    for s in found:
        for k, n in records.site_hist(s["hist"]).items():
            hist[k] = hist.get(k, 0) + n
    return {"max": max(s["max"] for s in found), "work": max(s["work"] for s in found),
            "count": sum(s["count"] for s in found), "total": sum(s["total"] for s in found), "hist": hist}


def figures(run):
    """{metric: value} of one run; a metric whose counters are missing is absent."""
    out, d = {}, run.delta
    if not run.sites or not run.sampled:
        return out
    out["total_us"], out["samples"] = run.sampled["total_us"], run.sampled["samples"]
    out["worst"] = max(s["max"] for s in run.sites)
    out["worst_site"] = next(s["label"] for s in run.sites if s["max"] == out["worst"])
    out["above"] = sum(s["max"] > BOUND for s in run.sites)
    others = [s["max"] for s in run.sites if s["label"] not in QUIET]
    out["worst_other"] = max(others) if others else 0
    out["worst_us"] = max((e["us"] for e in run.events), default=0)
    for label, name in NAMED.items():
        s = site(run, label)
        if s:
            out |= {f"{name}_max": s["max"], f"{name}_work": s["work"], f"{name}_count": s["count"],
                    f"{name}_total": s["total"]}
    for name in ("free", "migrate"):    # a site that no section was closed at had none
        out.setdefault(f"{name}_max", 0)
        out.setdefault(f"{name}_work", 0)
        out.setdefault(f"{name}_count", 0)
        # the report prints functions; compaction's are told by the length of their site's longest
        out[f"{name}_sampled"] = sum(e["count"] for e in run.events if named(run, e, f"compact_{name}"))
    if run.walk.get("scanned"):
        # 512 frames of a pageblock that is looked through, one of each other; holes in memory are none
        out["walk_frames"] = run.walk["scanned"]
        out["walk_blocks"] = min(run.walk["blocks"], run.walk["scanned"] // 512)
    if run.runs.get("runs"):
        out["runs"] = run.runs["runs"]
        out["run_ms"] = 1000 * run.runs["seconds"] / run.runs["runs"]
        out["migrate_locks"] = out["migrate_count"] / run.runs["runs"]
        out["free_locks"] = out["free_count"] / run.runs["runs"]
    scanned = d.get("compact_migrate_scanned", 0)
    if scanned:
        out["locks_kframe"] = 1000 * out["migrate_count"] / scanned
    for name in ("compact_stall", "compact_success", "compact_fail", "compact_pages_moved", "pswpout", "pswpin",
                 "compact_migrate_scanned", "compact_free_scanned", "thp_fault_alloc", "thp_fault_fallback",
                 "thp_collapse_alloc", "allocstall", "oom_kill"):
        if name in d:
            out[name] = d[name]
    out["thp_split"] = d.get("thp_split_page", d.get("thp_split", 0))
    tried = d.get("compact_success", 0) + d.get("compact_fail", 0)
    if tried:
        out["success_percent"] = 100 * d["compact_success"] / tried
    asked = d.get("thp_fault_alloc", 0) + d.get("thp_fault_fallback", 0)
    if asked:
        out["served_percent"] = 100 * d["thp_fault_alloc"] / asked
    if d.get("compact_success") and "run_ms" in out:
        out["ms_success"] = 1000 * run.runs["seconds"] / d["compact_success"]
    out["areas"] = run.load.get("areas", 0)
    return out


def named(run, event, label):
    """Is this line of the report of that site? The functions of a site are known from its own lines."""
    return any(event["start"] == label or event["start"] == s["func"] for s in run.sites if s["label"] == label)


def summary(run):
    f = figures(run)
    return (f"sampled {f.get('total_us', 0):6d} us  free {f.get('free_work', 0):6d} frames "
            f"{f.get('free_max', 0):8d}  migrate {f.get('migrate_work', 0):4d} frames {f.get('migrate_max', 0):6d}  "
            f"worst {f.get('worst', 0):8d} {f.get('worst_site', '-')}  huge {f.get('served_percent', 0):.0f} %")


def event_lines(run):
    """The tracer's report as the document's tool prints it."""
    return [f"Total sampled time IRQs off (not real total time): {run.sampled.get('total_us', 0)}",
            *(f"Event {e['start']}..{e['end']} {e['us']} us count {e['count']}" for e in run.events)]


def published_lines(side):
    total, events = PUBLISHED[side]
    return [f"Total sampled time IRQs off (not real total time): {total}",
            *(f"Event {name} {us} us count {n}" for us, n, name in events)]


def reports(results):
    """[(side, the document's lines or None, ours)] of part A's first runs."""
    out = []
    for r in results:
        if r.job.part == "A" and not r.job.twin and not r.error and r.job.seed == 1 and r.run.sampled:
            side = r.job.side
            out.append((side, published_lines(side) if side in PUBLISHED else None, event_lines(r.run)))
    return sorted(out, key=lambda x: x[0])


def texts(results):
    """For the terminal: the reports one under the other, ours beside the document's."""
    out = []
    for side, theirs, ours in reports(results):
        head = f"Side {side}, {SIDES[side]}" + (f"; the document: {COLUMN[side]}" if theirs else "")
        rows = max(len(ours), len(theirs or []))
        pad = [*ours, *[""] * (rows - len(ours))]
        far = [*(theirs or []), *[""] * (rows - len(theirs or []))]
        width = max(len(x) for x in pad) + 3
        out += [head, *((a.ljust(width) + ("| " + b if theirs else "")).rstrip() for a, b in zip(pad, far)), ""]
    return out


# ---- the page ----

CHOSEN = ("compact_free", "compact_migrate", "shrink_inactive", "split_huge", "pcp_free", "collapse_huge",
          "shrink_putback", "lru_batch")


def css(side):
    return f"s{side} solid"


def charts(runs):
    """Histograms of the sites the document is about, then time lines; runs: {side: Run}."""
    out = []
    for label in CHOSEN:
        hists = [(css(s), f"side {s}", site(r, label)["hist"]) for s, r in runs.items() if site(r, label)]
        if hists:
            out.append(svg.sections(label, hists, BOUND))

    def rate(name):
        return [(css(s), f"side {s}", [(b["t"], b[name] / (b["t"] - a["t"])) for a, b in
                                       zip([{"t": 0}] + r.series, r.series) if name in b and b["t"] > a["t"]])
                for s, r in runs.items()]

    def level(name):
        return [(css(s), f"side {s}", [(x["t"], x[name] / 256) for x in r.series if name in x])
                for s, r in runs.items()]

    when = "seconds of load"
    out += [svg.lines("Huge pages at a fault", rate("huge"), when, "per second"),
            svg.lines("Faults that fell back to small pages", rate("fallback"), when, "per second"),
            svg.lines("Pages moved by compaction", rate("moved"), when, "per second"),
            svg.lines("Swapped out", rate("swapout"), when, "pages/s"),
            svg.lines("Free memory", level("free"), when, "MiB")]
    return out


def worst_sites(results, part, nr=16):
    """One row a site, one dot a side: its longest section."""
    runs = {r.job.side: r.run for r in reversed(results)
            if r.job.part == part and not r.job.twin and not r.error and r.run.sites}
    if not runs:
        return ""
    labels = {}
    for side, run in runs.items():
        for s in run.sites:
            labels.setdefault(s["label"], {})
            labels[s["label"]][side] = max(labels[s["label"]].get(side, 0), s["max"])
    top = sorted(labels.items(), key=lambda x: -max(x[1].values()))[:nr]
    return svg.dots("Longest section of each site, instructions", top, [(BOUND, "5 000"), (LINUX, "Linux 6.1: 284 000")])


def stack_table(results, part, side):
    run = next((r.run for r in results if r.job.part == part and r.job.side == side and not r.error), None)
    if not run or not run.stacks:
        return ""
    rows = "".join(f'<tr><td class="n">{show(s["max"])}</td><td>{html.escape(str(s["label"]))}</td><td><code>'
                   + html.escape(" ← ".join(str(s["frames"]).split("<")[:7])) + "</code></td></tr>"
                   for s in run.stacks[:6])
    return (f'<details><summary>side {side} ({SIDES[side]}): who did the longest ones</summary><div class="wide">'
            f'<table><thead><tr><th class="n">instructions</th><th>site</th><th>called by</th></tr></thead><tbody>'
            f"{rows}</tbody></table></div></details>")


def event_us(line):
    words = line.split()
    return int(words[2]) if words[0] == "Event" else 0


def report_pre(lines, top):
    """A report with a bar behind each line, as long as its share of the worst of all columns."""
    return '<pre class="irqs">' + "".join(
        f'<span style="--w:{100 * event_us(x) / top:.1f}%">{html.escape(x)}</span>' for x in lines) + "</pre>"


def sections(results, figures_of):
    """The page's own sections, behind the verdicts."""
    out = ["<style>pre.irqs{white-space:pre;overflow-x:auto;line-height:1.6;padding:.6rem .7rem}"
           "pre.irqs span{display:block;background:linear-gradient(90deg,color-mix(in srgb,var(--tone) 26%,transparent) "
           "var(--w),transparent 0);padding:0 .3rem;border-radius:3px}"
           ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(430px,100%),1fr));gap:.8rem}"
           ".two h3{font-size:.95rem;margin:.8rem 0 .2rem}</style>"]
    found = reports(results)
    if found:
        out.append("<h2>The report, in the document's own layout</h2><p class=soft>The longest section with interrupts "
                   "off in every interval, by length; the total is the sum of these samples. Left ours, right the "
                   "document's (a real machine of 2011, ten seconds an interval).</p>")
    top = max((event_us(x) for _, _, ours in found for x in ours), default=0) or 1
    theirs_top = max(us for us, _, _ in PUBLISHED[0][1])
    for side, theirs, ours in found:
        out.append(f'<div class="two" style="--tone:var(--s{side})"><div><h3><span class="key k{side}"></span>Side '
                   f"{side}, {html.escape(SIDES[side])}</h3>{report_pre(ours, top)}</div>")
        out.append(f"<div><h3>The document: {COLUMN[side]}</h3>{report_pre(theirs, theirs_top)}</div></div>" if theirs else
                   "<div><h3>Not in the document</h3><p class=soft>Steps of at most 32 frames, the lock taken only "
                   "where there is something to take.</p></div></div>")
    for part in ("A", "Z"):
        chart = worst_sites(results, part)
        if chart:
            name = PARTS[part]
            out.append(f"<h2>Longest section of each site: {html.escape(name)}</h2>"
                       + ('<div class="legend">' + "".join(
                           f'<span><span class="key k{s}"></span>side {s}: {html.escape(n)}</span>'
                           for s, n in SIDES.items() if (part, s) in figures_of) + "</div>")
                       + f"<figure>{chart}</figure>"
                       + "".join(stack_table(results, part, s) for s in SIDES if (part, s) in figures_of))
    return out


COLUMNS = [
    ("total_us", "sum of the sampled maxima", "us"), ("samples", "samples", ""), ("worst", "longest section", "instr."),
    ("worst_other", "the same without compaction's scanners", "instr."), ("above", "sites above 5 000", ""),
    ("free_work", "free scanner: most frames in one section", ""), ("walk_blocks", "pageblocks of its longest way", ""),
    ("free_max", "longest section", "instr."), ("free_count", "its sections", ""), ("free_sampled", "its samples", ""),
    ("migrate_work", "migration scanner: most frames in one section", ""), ("migrate_max", "longest section", "instr."),
    ("migrate_count", "its sections", ""), ("locks_kframe", "sections per 1000 frames scanned", ""),
    ("migrate_locks", "sections per run of compaction", ""), ("free_locks", "of the free scanner", ""),
    ("shrink_max", "shrink_inactive: longest", "instr."), ("split_max", "split_huge: longest", "instr."),
    ("split_count", "its sections", ""), ("collapse_max", "collapse_huge: longest", "instr."),
    ("runs", "runs of compaction", ""), ("run_ms", "one run", "ms"), ("ms_success", "compaction per block made", "ms"),
    ("compact_stall", "compact_stall", ""), ("compact_success", "compact_success", ""),
    ("compact_fail", "compact_fail", ""), ("success_percent", "success", "%"),
    ("compact_pages_moved", "pages moved", ""), ("compact_migrate_scanned", "frames scanned to move", ""),
    ("compact_free_scanned", "frames scanned for room", ""), ("thp_fault_alloc", "huge pages at a fault", ""),
    ("thp_fault_fallback", "fell back", ""), ("served_percent", "served", "%"), ("thp_split", "huge pages split", ""),
    ("thp_collapse_alloc", "collapsed", ""), ("pswpout", "pages swapped out", ""), ("pswpin", "and in", ""),
    ("allocstall", "allocstall", ""), ("areas", "areas of 2 MiB filled", ""),
]

PARTS = {"A": "the document's machine, upper part locked", "I": "the upper part idle: reclaim takes it",
         "N": "two nodes, two CPUs: bounds in frames", "Z": "everything at 2, what huge pages meet in life"}

OURS = "not in the document"
WALK = ["free_work", "walk_blocks", "free_max", "free_count"]
STEP = ["migrate_work", "migrate_max", "migrate_count"]


def bounds(part):
    """The bounds in frames: exact on any number of CPUs."""
    return [
        Claim(f"{part}.free0", "before: the free scanner's section goes over many pageblocks", "8409 us", part,
              "free_work", "within", (20000 if part == "A" else 1024, None), side=0, unit="frames", explain=WALK),
        Claim(f"{part}.free1", "first patch: never more than one pageblock", "none left", part, "free_work", "within",
              (1, 512), side=1, want="down", unit="frames", explain=WALK),
        Claim(f"{part}.free3", "ours: 32 frames", OURS, part, "free_work", "within", (1, 32), side=3, base=2, want="down",
              unit="frames", explain=WALK),
        Claim(f"{part}.migr0", "before: the migration scanner's section goes over a pageblock", "(implied)", part,
              "migrate_work", "within", (33, 512), side=1, unit="frames", explain=STEP),
        Claim(f"{part}.migr2", "second patch: 32 frames", "269 us", part, "migrate_work", "within", (1, 32), side=2,
              base=1, want="down", unit="frames", explain=STEP),
        Claim(f"{part}.migr3", "ours: 32 frames", OURS, part, "migrate_work", "within", (1, 32), side=3, base=2,
              unit="frames", explain=STEP),
    ]


TOTAL = ["worst", "worst_other", "free_sampled", "samples"]
CLAIMS = bounds("A") + [
    Claim("A.blocks", "before: a section of the free scanner goes over 40 pageblocks and more", "(implied)", "A",
          "walk_blocks", "within", (40, None), side=0, explain=WALK),
    Claim("A.ms", "before: more than a millisecond with interrupts off", "8409 us", "A", "free_max", "within",
          (1000000, None), side=0, unit="instr.", explain=WALK),
    Claim("A.top0", "before: the free scanner tops the report", "4 of 11 samples", "A", "free_sampled", "within",
          (1, None), side=0, explain=TOTAL),
    Claim("A.top1", "first patch: it is gone from the report", "none", "A", "free_sampled", "within", (None, 0), side=1,
          want="down", explain=TOTAL),
    Claim("A.total1", "first patch: the sum of sampled maxima falls", "22355 to 5493, -75 %", "A", "total_us", "change",
          (-1, -0.5), want="down", unit="us", explain=TOTAL),
    Claim("A.total2", "second patch: it falls again", "5493 to 4367, -20 %", "A", "total_us", "change", (-0.6, -0.05),
          base=1, side=2, want="down", unit="us", explain=TOTAL),
    Claim("A.worse", "second patch: nothing gets worse by more than a fifth", "1596 to 881 us", "A", "worst", "change",
          (-1, 0.2), base=1, side=2, want="down", unit="instr.", explain=TOTAL),
    Claim("A.locks", "second patch, its price: ten times the sections of the migration scanner", "(implied)", "A",
          "locks_kframe", "factor", (10,), base=1, side=2, want="up", explain=["migrate_count", "migrate_locks"]),
    Claim("A.success", "compaction succeeds as often as before", "(implied)", "A", "success_percent", "same", (0.1,),
          base=0, side=2, unit="%", explain=["compact_success", "compact_fail", "served_percent"]),
    Claim("A.served", "and as many faults get a huge page", "(implied)", "A", "served_percent", "same", (0.1,), base=0,
          side=2, unit="%", explain=["thp_fault_alloc", "thp_fault_fallback"]),
    Claim("A.slower", "compaction gets slower: time of its runs for each block made", "(not measured)", "A",
          "ms_success", "change", (0, 0.5), base=0, side=2, want="up", unit="ms", explain=["runs", "run_ms"]),
    Claim("A.ours", "ours: the free scanner stays below 5 000 instructions", OURS, "A", "free_max", "within", (1, BOUND),
          side=3, base=2, want="down", unit="instr.", explain=WALK),
    Claim("A.ours2", "ours: the migration scanner too", OURS, "A", "migrate_max", "within", (1, BOUND), side=3, base=2,
          want="down", unit="instr.", explain=STEP),
] + bounds("N") + [
    Claim("Z.worst", "everything at 2: no section of any site above 5 000 instructions", "Linux 6.1: 284 000", "Z",
          "worst", "within", (None, BOUND), side=3, unit="instr.", explain=["worst_other", "above"]),
    Claim("Z.huge", "while huge pages are made at faults,", OURS, "Z", "thp_fault_alloc", "within", (20, None), side=3),
    Claim("Z.split", "split,", OURS, "Z", "thp_split", "within", (20, None), side=3),
    Claim("Z.collapse", "collapsed,", OURS, "Z", "thp_collapse_alloc", "within", (5, None), side=3),
    Claim("Z.swap", "and memory goes to swap", OURS, "Z", "pswpout", "within", (1000, None), side=3, unit="pages"),
]
PART_NOTE = """First the sites, each section counted by its length on logarithmic axes (dashed: 5000 instructions), then
time lines."""
NOTES = """The document's figures are microseconds of a machine of 2011; ours are instructions, a nanosecond each. So lengths
are compared by their change, and what does not depend on a clock decides: the frames that one section visits, counted in the
section itself. On two CPUs, which share one clock, only they are judged."""
