"""doc003: [seed-003], kswapd sleeps only when a disk is congested. Plan, figures and claims, as data.

Parts: M the machine of the document, scaled to 512 MiB (zones of 16, 208, 276 and 12 MiB, two CPUs, 78
streams); L with the 2 GiB of the document; N without a Movable zone; C with congestion forced; G without
session groups (each stream has the weight of kswapd); S slow turns of the emulated CPUs; T and F with the
third, and with the third and the fifth patch of the series on top of the document's.
"""
from dataclasses import replace

from . import stats, svg
from .claims import Claim
from .drive import Job, abba

TITLE = "kswapd sleeps only when a disk is congested"
SWITCH = "kswapd_wait_iff"
SUBTITLE = ("Minchan Kim, patch 2 of 5 of an RFC on small high zones and mapped streams, 22 August 2012. "
            "Switch kswapd_wait_iff: 0 before, 1 as posted.")
SIDES = {0: "before", 1: "as posted", 2: "ours"}

ZONES = "zones=dma:16M,normal:208M,high:276M,movable:12M"
LARGE = "zones=dma:16M,normal:880M,high:1112M,movable:40M"
NO_MOVABLE = "zones=dma:16M,normal:208M,high:288M"
# The swap disk's memory and the images lie above the 512 MiB that the zones are made of.
SWAP = {"mem": "608M", "append": "diskmem=64M", "swap": "bw:size=64M,bw=50M"}
ZONE_NAMES = ("dma", "normal", "high", "movable")


def plan(quick=False, runs=0, sides=(0, 1, 2)):
    """The runs, in order. Full: files of 128 MiB, 20 times the memory together, three seeds."""
    many, few = runs or (1 if quick else 3), runs or 1
    jobs = []

    def add(part, which, seeds, zones=ZONES, turn=50, twin="", mem=SWAP["mem"], **words):
        words = {"size": "32M" if quick else "128M", "swap": SWAP["swap"]} | words
        for side, seed in abba(which, range(1, seeds + 1)):
            jobs.append(Job(part, side, seed, dict(words), mem=mem, cpus=2, twin=twin,
                            append=f"era=3.6 {zones} {SWAP['append']} turn_us={turn}"))

    two = [s for s in sides if s < 2]
    add("M", list(sides), many)
    add("N", two, few, zones=NO_MOVABLE)
    add("C", two, few, congest=1)
    add("G", two, few, autogroup=0)
    if not quick:
        add("L", two, few, zones=LARGE, mem="2144M")
        add("S", two, few, turn=0)
        add("T", [1], few, temper=1)
    add("F", [1], few, temper=1, mapped=1)
    # The same side and seed again: its console must be the same to the byte.
    add("M", [1], 1, twin="-again")
    return jobs


# The document's rows in its order: (name, before, after). Zones are its own (32 bits: no DMA32).
PUBLISHED = [
    ("Elapsed", 676, 663), ("nr_vmscan_write", 91, 1341), ("nr_vmscan_immediate_reclaim", 0, 0),
    ("pgpgin", 29932, 21668), ("pgpgout", 3652, 8392), ("pswpin", 0, 22), ("pswpout", 91, 1341),
    ("pgactivate", 15686, 16217), ("pgdeactivate", 14171, 15431), ("pgfault", 204523237, 204524355),
    ("pgmajfault", 204472586, 204472528), ("pgsteal_kswapd_dma", 149066, 466676),
    ("pgsteal_kswapd_normal", 56219654, 49663877), ("pgsteal_kswapd_high", 92860817, 138182330),
    ("pgsteal_kswapd_movable", 1211389, 4236726), ("pgsteal_direct_dma", 35808, 9306),
    ("pgsteal_direct_normal", 21270282, 123835), ("pgsteal_direct_high", 21051650, 274887),
    ("pgsteal_direct_movable", 250572, 38011), ("pgscan_kswapd_dma", 325126, 947813),
    ("pgscan_kswapd_normal", 111171753, 97902722), ("pgscan_kswapd_high", 178149789, 274337809),
    ("pgscan_kswapd_movable", 2537926, 8496474), ("pgscan_direct_dma", 56919, 22855),
    ("pgscan_direct_normal", 45698152, 3604954), ("pgscan_direct_high", 51326549, 4504909),
    ("pgscan_direct_movable", 433830, 105418), ("pgscan_direct_throttle", 0, 0),
    ("pginodesteal", 6721, 11111), ("slabs_scanned", 57344, 56320), ("kswapd_inodesteal", 36327, 31121),
    ("kswapd_low_wmark_hit_quickly", 533, 4607), ("kswapd_high_wmark_hit_quickly", 39, 432),
    ("kswapd_skip_congestion_wait", 71505, 10254), ("pageoutrun", 2406110, 2879697),
    ("allocstall", 696424, 8222), ("pgrotated", 91, 1341), ("kswapd_totalscan", 292184594, 381684818),
    ("kswapd_totalsteal", 150440926, 192549609), ("Kswapd_efficiency", 51, 50),
    ("direct_totalscan", 97515450, 8238136), ("direct_totalsteal", 42608312, 446039),
    ("direct_efficiency", 43, 5), ("reclaim_velocity", 576479.35, 588119.08),
]
SLAB_BATCH = 128


def derived(values, elapsed):
    """The last block of the document's table, from its own rows: totals over zones, floor of the
    per cent, scans a second."""
    def total(family):
        return sum(values.get(f"{family}_{z}", 0) for z in (*ZONE_NAMES, "dma32"))

    out = {}
    for who, head in (("kswapd", "Kswapd"), ("direct", "direct")):
        scan, steal = total(f"pgscan_{who}"), total(f"pgsteal_{who}")
        out[f"{who}_totalscan"], out[f"{who}_totalsteal"] = scan, steal
        out[f"{head}_efficiency"] = 100 * steal // scan if scan else 0
    both = out["kswapd_totalscan"] + out["direct_totalscan"]
    out["reclaim_velocity"] = both / elapsed if elapsed else 0.0
    return out


def figures(run):
    """{metric: value} of one run; a metric whose counters are missing is absent."""
    d, seconds = run.delta, run.total.get("seconds")
    if not seconds:
        return {}
    out = {name: d[name] for name, _, _ in PUBLISHED if name in d}
    out["Elapsed"] = seconds
    out |= derived(d, seconds)
    out["steal"] = out["kswapd_totalsteal"] + out["direct_totalsteal"]
    pages = run.total.get("pages")
    if pages:
        out["faults_page"] = d.get("pgfault", 0) / pages
        out["majfaults_page"] = d.get("pgmajfault", 0) / pages
        out["stalls_million"] = 1e6 * d.get("allocstall", 0) / pages
    if out["steal"]:
        out["direct_share"] = 100 * out["direct_totalsteal"] / out["steal"]
    if d.get("allocstall"):
        out["steal_stall"] = out["direct_totalsteal"] / d["allocstall"]
        out["scan_stall"] = out["direct_totalscan"] / d["allocstall"]
    if d.get("pageoutrun"):
        out["steal_run"] = out["kswapd_totalsteal"] / d["pageoutrun"]
    if "kswapd_congestion_sleep_ms" in d:
        out["sleep_ms"] = d["kswapd_congestion_sleep_ms"]
        out["sleep_percent"] = d["kswapd_congestion_sleep_ms"] / 10 / seconds
    if "kswapd_ran_us" in d:
        out["ran_percent"] = d["kswapd_ran_us"] / 1e4 / seconds
        out["waited_percent"] = d["kswapd_waited_us"] / 1e4 / seconds
    if all(name in d for name in ("nr_vmscan_write", "pswpout", "pgrotated")):
        out["writes_off"] = max(abs(d["nr_vmscan_write"] - d["pswpout"]),
                                abs(d["nr_vmscan_write"] - d["pgrotated"]))
    if "slabs_scanned" in d:
        out["slabs_off"] = d["slabs_scanned"] % SLAB_BATCH
    return out


def summary(run):
    f = figures(run)
    return (f"{f.get('Elapsed', 0):7.3f} s  allocstall {f.get('allocstall', 0):6d}  kswapd "
            f"{f.get('kswapd_totalsteal', 0):8d} direct {f.get('direct_totalsteal', 0):7d}  efficiency "
            f"{f.get('Kswapd_efficiency', 0)} {f.get('direct_efficiency', 0)}  slept "
            f"{f.get('sleep_ms', 0)} ms")


def charts(runs):
    """Time lines of one run of each side; samples are differences."""
    def rate(name):
        return [(f"s{s}", f"side {s}", [(b["t"], b[name] / (b["t"] - a["t"])) for a, b in
                                       zip([{"t": 0}] + r.series, r.series) if name in b])
                for s, r in runs.items()]

    def level(name):
        return [(f"s{s}", f"side {s}", [(x["t"], x[name]) for x in r.series if name in x])
                for s, r in runs.items()]

    when = "seconds since the start"
    return [svg.lines("Allocations that reclaimed", rate("allocstall"), when, "per second"),
            svg.lines("Freed by kswapd", rate("steal_kswapd"), when, "pages/s"),
            svg.lines("Freed by the streams", rate("steal_direct"), when, "pages/s"),
            svg.lines("kswapd slept for congestion", rate("sleep_ms"), when, "ms/s"),
            svg.lines("kswapd waited for a CPU", rate("kswapd_waited_us"), when, "us/s"),
            svg.lines("Free memory", level("free"), when, "pages")]


def percent(before, after):
    """As the document prints it: 0 where there was nothing before."""
    return 100 * (after - before) / before if before else 0.0


def cell(name, value):
    if name == "reclaim_velocity":
        return f"{int(value * 100 + 1e-3) / 100:.2f}"      # it cuts off what follows, here alone
    return f"{value:.3f}" if name == "Elapsed" and value < 600 else f"{value:.0f}"


def tables(figures_of):
    """[(title, lines)]: the document's table, ours beside its own, for each part with two sides."""
    out = []
    for part in PARTS:
        a, b = figures_of.get((part, 0)), figures_of.get((part, 1))
        if not a or not b:
            continue
        lines = [["Name", "before", "after", "(change,", "%)", "published", "", "%"]]
        for name, old, new in PUBLISHED:
            va = [f[name] for f in a if name in f]
            vb = [f[name] for f in b if name in f]
            if not va or not vb:
                lines.append([name, "-", "-", "", "", cell(name, old), cell(name, new),
                              f"{percent(old, new):.2f}%"])
                continue
            ma, mb = stats.mean(va), stats.mean(vb)
            lines.append([name, cell(name, ma), cell(name, mb),
                          f"({cell(name, mb - ma) if name != 'Elapsed' else f'{mb - ma:.3f}'},",
                          f"{percent(ma, mb):.2f}%)", cell(name, old), cell(name, new),
                          f"{percent(old, new):.2f}%"])
        out.append((f"{part}: {PARTS[part]}, in the document's layout, its figures beside", lines))
    return out


# What the table of every part shows: (metric, head, unit).
COLUMNS = [
    ("Elapsed", "elapsed", "s"), ("allocstall", "allocstall", ""),
    ("stalls_million", "stalls per million pages", ""), ("kswapd_totalsteal", "freed by kswapd", "pages"),
    ("direct_totalsteal", "freed by the streams", "pages"), ("direct_share", "the streams' share", "%"),
    ("steal", "freed altogether", "pages"),
    ("kswapd_totalscan", "scanned by kswapd", "pages"), ("direct_totalscan", "scanned by the streams", "pages"),
    ("Kswapd_efficiency", "kswapd's efficiency", "%"), ("direct_efficiency", "the streams'", "%"),
    ("steal_stall", "pages freed per stall", ""), ("scan_stall", "pages scanned per stall", ""),
    ("steal_run", "pages freed per run of balance", ""),
    ("pgsteal_kswapd_dma", "kswapd from DMA", "pages"), ("pgsteal_kswapd_normal", "from Normal", "pages"),
    ("pgsteal_kswapd_high", "from High", "pages"), ("pgsteal_kswapd_movable", "from Movable", "pages"),
    ("sleep_ms", "kswapd slept for congestion", "ms"), ("sleep_percent", "of the time", "%"),
    ("ran_percent", "kswapd ran", "%"), ("waited_percent", "kswapd waited for a CPU", "%"),
    ("kswapd_skip_congestion_wait", "wait skipped (below MIN)", ""), ("pageoutrun", "pageoutrun", ""),
    ("kswapd_low_wmark_hit_quickly", "low hit quickly", ""),
    ("kswapd_high_wmark_hit_quickly", "high hit quickly", ""),
    ("reclaim_velocity", "scanned a second", "pages/s"),
    ("nr_vmscan_write", "nr_vmscan_write", ""), ("pswpout", "pswpout", ""), ("pgrotated", "pgrotated", ""),
    ("pswpin", "pswpin", ""), ("slabs_scanned", "slabs_scanned", ""), ("faults_page", "faults per page", ""),
]

PARTS = {"M": "78 streams, four zones, two CPUs", "N": "without a Movable zone",
         "L": "2 GiB, the document's own zones", "C": "congestion forced", "G": "without session groups",
         "S": "emulated CPUs take turns of half a tick",
         "T": "with the series' third patch: a tempered priority",
         "F": "with the series' fifth patch too: mapped streams are seen"}

WHY = ["sleep_ms", "ran_percent", "waited_percent", "direct_share", "kswapd_skip_congestion_wait"]
CLAIMS = [
    Claim("M.stall", "allocations hardly ever reclaim for themselves any more", "-98.82 %", "M", "allocstall",
          "change", (-1, -0.90), want="down", explain=WHY),
    Claim("M.steal", "pages freed by the allocations themselves", "-98.95 %", "M", "direct_totalsteal",
          "change", (-1, -0.90), want="down", explain=WHY),
    Claim("M.scan", "pages they scanned", "-91.55 %", "M", "direct_totalscan", "change", (-1, -0.80),
          want="down", explain=["scan_stall", "direct_efficiency"]),
    Claim("M.kscan", "kswapd scans more", "+30.63 %", "M", "kswapd_totalscan", "change", (0.15, 0.45),
          want="up", explain=["Kswapd_efficiency", "direct_share"]),
    Claim("M.ksteal", "kswapd frees more", "+27.99 %", "M", "kswapd_totalsteal", "change", (0.15, 0.45),
          want="up", explain=["direct_share", "steal"]),
    Claim("M.sum", "what is freed altogether stays", "(implied)", "M", "steal", "same", (0.01,),
          unit="pages", explain=["kswapd_totalsteal", "direct_totalsteal"]),
    Claim("M.eff0", "half of what kswapd scans is freed, before", "51 %", "M", "Kswapd_efficiency",
          "within", (47, 53), side=0, unit="%", explain=["kswapd_totalscan", "kswapd_totalsteal"]),
    Claim("M.eff1", "and after", "50 %", "M", "Kswapd_efficiency", "within", (47, 53), unit="%",
          explain=["kswapd_totalscan", "kswapd_totalsteal"]),
    Claim("M.deff", "the allocations' efficiency falls", "43 to 5 %", "M", "direct_efficiency", "change",
          (-1, -0.01), want="down", unit="%", explain=["scan_stall", "steal_stall"]),
    Claim("M.skip", "kswapd seldom finds a zone below MIN at the end of a pass", "-85.66 %", "M",
          "kswapd_skip_congestion_wait", "change", (-1, -0.50), want="down", explain=["pageoutrun"]),
    Claim("M.movable", "kswapd frees far more in Movable", "+249.74 %", "M", "pgsteal_kswapd_movable",
          "factor", (1.5,), want="up", explain=["pgsteal_direct_movable"]),
    Claim("M.dma", "and in DMA", "+213.07 %", "M", "pgsteal_kswapd_dma", "factor", (1.5,), want="up",
          explain=["pgsteal_direct_dma"]),
    Claim("M.low", "its short sleep is cut more often", "+764 %", "M", "kswapd_low_wmark_hit_quickly",
          "change", (0, 1000), want="up", explain=["pageoutrun"]),
    Claim("M.high", "and more often not begun", "+1008 %", "M", "kswapd_high_wmark_hit_quickly", "change",
          (0, 1000), want="up", explain=["pageoutrun"]),
    Claim("M.runs", "more runs of balance", "+19.68 %", "M", "pageoutrun", "change", (0, 10), want="up",
          explain=["steal_run"]),
    Claim("M.time", "the whole takes a little less time", "-1.92 %", "M", "Elapsed", "change",
          (-0.10, -0.005), want="down", unit="s", explain=["reclaim_velocity"]),
    Claim("M.fault", "one fault a page, on both sides", "+0.00 %", "M", "pgfault", "same", (0.0001,),
          explain=["faults_page"]),
    Claim("M.major", "each of them major", "-0.00 %", "M", "pgmajfault", "same", (0.0001,),
          explain=["majfaults_page"]),
    Claim("M.cause0", "(before: it slept in that place)", "(implied)", "M", "sleep_percent", "within",
          (1, None), side=0, unit="%", explain=WHY),
    Claim("M.cause1", "(after: it does not sleep, no disk is congested)", "(implied)", "M", "sleep_percent",
          "within", (None, 0), unit="%", explain=WHY),
    Claim("M.writes0", "reclaim writes to swap alone: writes = swap-outs = rotations, before", "exact", "M",
          "writes_off", "within", (0, 0), side=0, explain=["nr_vmscan_write", "pswpout", "pgrotated"]),
    Claim("M.writes1", "and after", "exact", "M", "writes_off", "within", (0, 0),
          explain=["nr_vmscan_write", "pswpout", "pgrotated"]),
    Claim("M.slabs", "slabs are scanned in whole batches", "multiples of 128", "M", "slabs_off", "within",
          (0, 0), explain=["slabs_scanned"]),
    Claim("F.eff", "(fifth patch: a mapped stream costs one scan a page)", "50 to 99 %", "F",
          "Kswapd_efficiency", "within", (95, 100), unit="%", explain=["kswapd_totalscan"]),
    Claim("F.stall", "(fifth patch: hardly any stall is left)", "9727 to 32, 0.16 a million", "F",
          "stalls_million", "within", (None, 20), explain=["allocstall", "ran_percent"]),
    Claim("C.sleeps", "(control: with a congested disk the new code sleeps too)", "(implied)", "C",
          "sleep_percent", "within", (1, None), unit="%", explain=WHY),
    Claim("N.less", "(control: without the small zone kswapd sleeps less, before)", "(implied)", "N",
          "sleep_percent", "within", (None, 5), side=0, unit="%", explain=["allocstall", *WHY]),
    Claim("N.stall", "(control: and the patch changes the stalls less)", "(implied)", "N", "allocstall",
          "change", (-0.5, 0.5), explain=WHY),
]
# The larger machine is asked the same about who frees, and about what hangs on the DMA zone.
CLAIMS += [replace(c, key="L" + c.key[1:], part="L") for c in CLAIMS
           if c.key in ("M.stall", "M.steal", "M.scan", "M.kscan", "M.ksteal", "M.sum", "M.eff0", "M.eff1",
                        "M.deff", "M.skip", "M.movable", "M.dma", "M.time")]
NOTES = """The document's machine had 2 GiB and files of 1 GiB, read ten times; here a quarter of the memory
and an eighth of the files, once. Counts are compared by their change, not by their size. Elapsed is counted
instructions: two emulated CPUs share one clock."""
