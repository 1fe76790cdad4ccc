"""page: one self-contained HTML file: verdicts, tables, pictures, provenance. No network; a script only
moves the memory map (memmap.py). Light and dark follow the reader's system, and it prints.
"""
import html

from . import memmap, report, stats, svg
from .claims import show

STYLE = """
:root{--bg:#fbfaf7;--ink:#1d2126;--soft:#626a73;--rule:#dcd9d1;--card:#fff;--s0:#7a8794;--s1:#c2410c;
--s2:#0f766e;--s3:#4f46e5;--good:#15803d;--mid:#a16207;--bad:#b91c1c;--band:#0000000d}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e6e4df;--soft:#98a0a8;--rule:#31363b;
--card:#1b1f23;--s0:#94a3b2;--s1:#fb923c;--s2:#2dd4bf;--s3:#a5b4fc;--good:#4ade80;--mid:#facc15;
--bad:#f87171;--band:#ffffff10}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:2.2rem 1.2rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;text-wrap:balance}
h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--rule)}
p{max-width:70ch;margin:.4rem 0}.soft{color:var(--soft)}
.mono,td.n,th.n,code{font-variant-numeric:tabular-nums}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.86em}
.score{display:flex;flex-wrap:wrap;gap:.6rem;margin:1.2rem 0}
.score div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:.5rem .9rem}
.score b{display:block;font-size:1.5rem;line-height:1.2}
.good{color:var(--good)}.mid{color:var(--mid)}.bad{color:var(--bad)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.4rem 0}
th,td{text-align:left;vertical-align:top;padding:.34rem .6rem .34rem 0;border-bottom:1px solid var(--rule)}
th{font-weight:600;color:var(--soft);font-size:.82rem}
td.n,th.n{text-align:right;padding-left:.6rem;white-space:nowrap}
td small{color:var(--soft);display:block}
td.v,td.why small{white-space:nowrap}td.v{font-weight:600}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em;vertical-align:-.05em}
.legend{display:flex;flex-wrap:wrap;gap:1.1rem;margin:.5rem 0;color:var(--soft);font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(430px,100%),1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:.5rem}
svg{display:block;width:100%;height:auto}
svg text{fill:var(--ink);font:11px system-ui,"DejaVu Sans",sans-serif}
svg .title{font-weight:600;font-size:12px}svg .tick{fill:var(--soft);font-size:10px}
svg .grid{stroke:var(--rule);stroke-width:.6}svg .axis,svg .mark{stroke:var(--soft);stroke-width:.8}
svg .rule{stroke:var(--soft);stroke-dasharray:3 3}svg .band{fill:var(--band)}
svg .line{fill:none;stroke-width:1.7;stroke-linejoin:round}svg .bar{opacity:.72}
svg .s0{stroke:var(--s0)}svg .s1{stroke:var(--s1)}svg .s2{stroke:var(--s2)}svg .s3{stroke:var(--s3)}
svg .bar.s0,svg .dot.s0{fill:var(--s0);stroke:none}svg .bar.s1,svg .dot.s1{fill:var(--s1);stroke:none}
svg .bar.s2,svg .dot.s2{fill:var(--s2);stroke:none}svg .dot.s3{fill:var(--s3);stroke:none}
svg .line.s3{stroke-dasharray:5 3}svg .line.solid{stroke-dasharray:none}
svg .steps{fill-opacity:.13;stroke-width:1.4;stroke-linejoin:round}svg .steps.s0{fill:var(--s0)}
svg .steps.s1{fill:var(--s1)}svg .steps.s2{fill:var(--s2)}svg .steps.s3{fill:var(--s3)}
.k0{background:var(--s0)}.k1{background:var(--s1)}.k2{background:var(--s2)}.k3{background:var(--s3)}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--soft)}
pre{font:12px/1.45 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;
background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:.7rem}
a{color:inherit}
@media print{body{background:#fff;font-size:11px}main{max-width:none;padding:0}h2{break-after:avoid}
figure,tr{break-inside:avoid}.charts{grid-template-columns:1fr 1fr}details>*{display:block}}
"""
CSS = {"reproduced": "good", "direction only": "mid", "not reproduced": "bad", "no data": "soft"}


def esc(text):
    return html.escape(str(text), quote=True)


def legend(doc, which, more=()):
    names = [(s, f"{s}: {doc.SIDES.get(s, '')}") for s in which] + list(more)
    return '<div class="legend">' + "".join(
        f'<span><span class="key k{s}"></span>side {esc(n)}</span>' if isinstance(s, int) else
        f'<span><span class="key k{s}"></span>{esc(n)}</span>' for s, n in names) + "</div>"


def score(verdicts, twins):
    count = {}
    for v in verdicts:
        count[v.verdict] = count.get(v.verdict, 0) + 1
    cards = [f'<div><b class="{CSS[k]}">{count[k]}</b>{k}</div>' for k in CSS if k in count]
    if twins:
        same = all(ok for _, ok in twins)
        cards.append(f'<div><b class="{"good" if same else "bad"}">{"yes" if same else "NO"}</b>'
                     "same bytes when run twice</div>")
    return f'<div class="score">{"".join(cards)}</div>'


def claims_table(verdicts, figures):
    out = ['<div class="wide"><table><thead><tr><th>verdict</th><th>the document</th><th>published</th>'
           "<th>measured here</th><th>counters, before | after</th></tr></thead><tbody>"]
    for v in verdicts:
        why = "<br>".join(esc(x) for x in report.explain(v.claim, figures))
        out.append(f'<tr><td class="v {CSS[v.verdict]}">{v.verdict}</td><td>{esc(v.claim.says)}'
                   f"<small>{esc(v.claim.key)}</small></td><td>{esc(v.claim.published)}</td>"
                   f"<td>{esc(v.measured)}<small>{esc(v.why)}</small></td><td class=why><small>{why}</small></td></tr>")
    return "\n".join(out + ["</tbody></table></div>"])


def single_table(doc, figures, part):
    """One run a side: the figures alone, no spread."""
    which = report.sides(figures, part)
    out = ['<div class="wide"><table><thead><tr><th></th>' + "".join(
        f'<th class="n"><span class="key k{s}"></span>side {s}</th>' for s in which) + "</tr></thead><tbody>"]
    for _, head, unit, cells, _ in report.rows(doc, figures, part):
        out.append(f"<tr><td>{esc(head)} <span class=soft>{esc(unit)}</span></td>" + "".join(
            f'<td class="n">{show(cells[s][0]) if s in cells else ""}</td>' for s in which) + "</tr>")
    return "\n".join(out + ["</tbody></table></div>"])


def part_table(doc, figures, part):
    which = report.sides(figures, part)
    if all(len(figures[part, s]) == 1 for s in which):
        return single_table(doc, figures, part)
    out = ['<div class="wide"><table><thead><tr><th></th>'
           + "".join(f'<th class="n"><span class="key k{s}"></span>side {s}</th><th class="n">min</th>'
                     f'<th class="n">CoV</th>' for s in which) + "<th>real?</th></tr></thead><tbody>"]
    for metric, head, unit, cells, real in report.rows(doc, figures, part):
        out.append(f"<tr><td>{esc(head)} <span class=soft>{esc(unit)}</span></td>")
        for s in which:
            c = cells.get(s)
            out.append(f'<td class="n"><b>{show(c[0])}</b></td><td class="n">{show(c[1])}</td>'
                       f'<td class="n">{100 * c[2]:.1f} %</td>' if c else "<td></td><td></td><td></td>")
        out.append(f'<td>{ {True: "yes", False: "no", None: ""}[real] }</td></tr>')
    return "\n".join(out + ["</tbody></table></div>"])


def first(results, part, side):
    for r in results:
        if r.job.part == part and r.job.side == side and not r.error and not r.job.twin:
            return r.run
    return None


def merged_hist(results, part, side):
    out = {}
    for r in results:
        if r.job.part == part and r.job.side == side and not r.error and not r.job.twin:
            for tick, n in r.run.hist.items():
                out[tick] = out.get(tick, 0) + n
    return out


def per_second(run, name, scale=1.0):
    s = run.series
    return [(b["t"], (b[name] - a[name]) * scale / (b["t"] - a["t"]))
            for a, b in zip(s, s[1:]) if name in a and name in b and b["t"] > a["t"]]


def ratio_per_second(run, top, bottom):
    s = run.series
    return [(b["t"], (b[top] - a[top]) / (b[bottom] - a[bottom]))
            for a, b in zip(s, s[1:]) if top in a and bottom in a and b.get(bottom, 0) > a[bottom]]


def level(run, name, scale=1.0):
    return [(s["t"], s[name] * scale) for s in run.series if name in s]


def part_charts(doc, figures, results, part):
    which = report.sides(figures, part)
    runs = {s: first(results, part, s) for s in which}
    runs = {s: r for s, r in runs.items() if r}
    if not runs:
        return ""
    if hasattr(doc, "charts"):
        return legend(doc, runs) + '<div class="charts">' + "".join(
            f"<figure>{c}</figure>" for c in doc.charts(runs) if c) + "</div>"
    warm = [s["t"] for r in runs.values() for s in r.series if s.get("phase") == "warm"]
    band = [(1, max(warm))] if warm else []
    mib = 1 / (1 << 20)

    def curves(get):
        return [(f"s{s}", f"side {s}", get(r)) for s, r in runs.items()]

    hists = [(f"s{s}", f"side {s}", merged_hist(results, part, s)) for s in runs]
    longest = max((t for _, _, h in hists for t in h), default=0)
    marks = [(stats.mean([f["min_pause_ms"] for f in figures[part, 1] if "min_pause_ms" in f]), "min_pause")] \
        if (part, 1) in figures and any("min_pause_ms" in f for f in figures[part, 1]) else []
    width = 1 if longest <= 40 else 5
    charts = [
        svg.histogram("Real sleeps", hists, width, max(longest, 10), "length, ms", marks),
        svg.lines("Pause, mean of each second", curves(lambda r: ratio_per_second(r, "pause_ticks", "sleeps")),
                  "seconds since the start", "ms", bands=band),
        svg.lines("Calls of the throttle", curves(lambda r: per_second(r, "calls")),
                  "seconds since the start", "per second", bands=band, log_y=10),
        svg.lines("throttle_bw", curves(lambda r: level(r, "throttle_bw")), "seconds since the start",
                  "pages/s", bands=band, log_y=10),
        svg.lines("Written to disk", curves(lambda r: per_second(r, "vm_nr_written", 4096 * mib)),
                  "seconds since the start", "MiB/s", bands=band),
        svg.lines("Dirty and under writeback", [
            c for s, r in runs.items() for c in [(f"s{s}", f"side {s}", [
                (x["t"], (x["vm_nr_dirty"] + x["vm_nr_writeback"]) * 4096 * mib) for x in r.series
                if "vm_nr_dirty" in x])]] + [("s3", "limit", level(next(iter(runs.values())), "limit",
                                                                  4096 * mib))],
                  "seconds since the start", "MiB (dashed: limit)", bands=band),
    ]
    return legend(doc, runs) + '<div class="charts">' + "".join(
        f"<figure>{c}</figure>" for c in charts if c) + "</div>"


def law_section(doc, figures):
    law = [p for p in report.parts(figures) if p.rstrip("0123456789") in doc.PARTS and p not in doc.PARTS]
    if not law:
        return ""

    def points(side, metric):
        out = []
        for p in law:
            got = [f[metric] for f in figures.get((p, side), []) if f.get(metric) is not None]
            if got:
                out.append((int(p[len(p.rstrip("0123456789")):]), stats.mean(got)))
        return sorted(out)

    charts = [
        svg.lines("min_pause", [("s1", "side 1, measured", points(1, "min_pause_ms")),
                                ("s3", "10 ms per doubling", points(1, "min_pause_ms_law"))],
                  "writers", "ms (dashed: the document)", log_x=2, points=True),
        svg.lines("Pause, mean", [(f"s{s}", f"side {s}", points(s, "pause_ms")) for s in (0, 1)],
                  "writers", "ms", log_x=2, points=True),
        svg.lines("Calls of the throttle", [(f"s{s}", f"side {s}", points(s, "calls_s")) for s in (0, 1)],
                  "writers", "per second", log_x=2, log_y=10, points=True),
        svg.lines("write_bw / throttle_bw", [("s1", "side 1", points(1, "bw_ratio")), ("s3", "N", [
            (n, n) for n, _ in points(1, "bw_ratio")])], "writers", "(dashed: N)", log_x=2, log_y=2,
            points=True),
    ]
    head = ("min_pause_ms", "min_pause_ms_law", "pause_ms", "pause_p5_ms", "calls_s", "mib_s", "bw_ratio")
    out = ["<h2>The law: by number of writers</h2>", legend(doc, [0, 1], [(3, "the document's arithmetic")]),
           '<div class="charts">' + "".join(f"<figure>{c}</figure>" for c in charts if c) + "</div>",
           '<div class="wide"><table><thead><tr><th>writers</th><th>side</th>'
           + "".join(f'<th class="n">{h}</th>' for h in head) + "</tr></thead><tbody>"]
    for p in law:
        for s in report.sides(figures, p):
            got = figures[p, s]
            out.append(f"<tr><td>{p.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ')}</td><td>{s}</td>" + "".join(
                f'<td class="n">{show(stats.mean([g[h] for g in got])) if all(g.get(h) is not None for g in got) else "-"}</td>'
                for h in head) + "</tr>")
    return "\n".join(out + ["</tbody></table></div>"])


def provenance(doc, results, conditions):
    out = ["<h2>Where the figures come from</h2>", f"<p>{esc(conditions)}</p>",
           "<p>Each run is a boot of its own; its console log is beside this page. Runs with different "
           "seeds differ in when the load starts; the same seed gives the same bytes.</p>",
           '<div class="wide"><table><thead><tr><th>run</th><th class="n">host s</th><th>words</th>'
           "<th></th></tr></thead><tbody>"]
    for r in results:
        words = " ".join(f"{k}={v}" for k, v in r.job.words.items())
        out.append(f'<tr><td><a href="{esc(r.job.name)}.log">{esc(r.job.name)}</a></td>'
                   f'<td class="n">{r.seconds:.0f}</td><td><code>{esc(words)} mem={esc(r.job.mem)}</code></td>'
                   f'<td class="bad">{esc(r.error)}</td></tr>')
    out.append("</tbody></table></div>")
    sample = next((r.run for r in results if not r.error), None)
    if sample:
        text = []
        for kind in ("machine", "key", "switch", "tunable"):
            text += [f"{kind}  {k} = {v}" for k, v in getattr(sample, kind).items()]
        out.append(f"<details><summary>Machine, keys, switches and tunables of "
                   f"{esc(next(r.job.name for r in results if not r.error))}</summary>"
                   f"<pre>{esc(chr(10).join(text))}</pre></details>")
    return "\n".join(out)


def layout_section(title, lines):
    """A document's own table: first line the head, first column the names."""
    def row(line, tag):
        return "<tr>" + "".join(f'<{tag}{" class=n" if i else ""}>{esc(c)}</{tag}>'
                                for i, c in enumerate(line)) + "</tr>"
    return (f"<h2>{esc(title)}</h2>" + '<div class="wide"><table><thead>' + row(lines[0], "th")
            + "</thead><tbody>" + "\n".join(row(line, "td") for line in lines[1:]) + "</tbody></table></div>")


def part_note(doc):
    return getattr(doc, "PART_NOTE", "Time lines show the first run of each side; the shaded part is the warm-up, "
                                     "which no figure contains.")


def render(doc, ident, figures, verdicts, results, conditions):
    law = [p for p in report.parts(figures) if p.rstrip("0123456789") in doc.PARTS and p not in doc.PARTS]
    out = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
           '<meta name="viewport" content="width=device-width,initial-scale=1">',
           '<meta name="color-scheme" content="light dark">',
           f"<title>Lab {ident}: {esc(doc.TITLE)}</title><style>{STYLE}{memmap.style()}</style></head><body><main>",
           f'<p class="soft">Quire lab, document {ident}</p><h1>{esc(doc.TITLE)}</h1>',
           f'<p class="soft">{esc(doc.SUBTITLE)}</p>', score(verdicts, report.twins(results)),
           "<h2>What the document says, and what was seen</h2>", claims_table(verdicts, figures),
           f'<p class="soft">{esc(doc.NOTES)}</p>']
    if hasattr(doc, "sections"):
        out += doc.sections(results, figures)
    for part in report.parts(figures):
        if part not in law:
            n = max(len(figures[part, s]) for s in report.sides(figures, part))
            out += [f"<h2>{esc(report.part_name(doc, part).capitalize())}</h2>",
                    f'<p class="soft">Part {part}, {n} run{"s" * (n > 1)} a side. {part_note(doc)}</p>',
                    part_charts(doc, figures, results, part), part_table(doc, figures, part)]
    out += [layout_section(title, lines) for title, lines in report.layouts(doc, figures)]
    out.append(memmap.sections(results, [(p, report.part_name(doc, p)) for p in report.parts(figures)]))
    out += [law_section(doc, figures), provenance(doc, results, conditions), "</main></body></html>"]
    return "\n".join(out) + "\n"
