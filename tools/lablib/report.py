"""report: what is left of an experiment: the text at the terminal, CSV, JSON.

`Table` of one part: for each metric and side mean, minimum and coefficient of variation, and
whether the difference between sides 0 and 1 is real.
"""
import csv
import json
import textwrap

from . import stats
from .claims import show


def collect(doc, results):
    """{(part, side): [figures of each run]}; twins (repeats for the byte comparison) left out."""
    out = {}
    for r in results:
        if not r.error and not r.job.twin:
            out.setdefault((r.job.part, r.job.side), []).append(doc.figures(r.run))
    return out


def parts(figures):
    seen = []
    for part, _ in figures:
        if part not in seen:
            seen.append(part)
    return seen


def sides(figures, part):
    return sorted(s for p, s in figures if p == part)


def rows(doc, figures, part):
    """[(metric, head, unit, {side: (mean, min, cov)}, real or None)]. One run a side proves no spread: None."""
    out = []
    for metric, head, unit in doc.COLUMNS:
        cells = {}
        for side in sides(figures, part):
            got = [f[metric] for f in figures[part, side] if f.get(metric) is not None]
            if got:
                cells[side] = (stats.mean(got), min(got), stats.cov(got), got)
        if cells:
            repeated = all(s in cells and len(cells[s][3]) > 1 for s in (0, 1))
            real = stats.real(cells[0][3], cells[1][3]) if repeated else None
            out.append((metric, head, unit, {s: c[:3] for s, c in cells.items()}, real))
    return out


def twins(results):
    """[(name, same bytes?)] for runs done twice."""
    first = {(r.job.part, r.job.side, r.job.seed): r for r in results if not r.job.twin}
    return [(r.job.name[:-len(r.job.twin)],
             r.text == first[r.job.part, r.job.side, r.job.seed].text and not r.error)
            for r in results if r.job.twin and (r.job.part, r.job.side, r.job.seed) in first]


def part_name(doc, part):
    if part in doc.PARTS:
        return doc.PARTS[part]
    stem = part.rstrip("0123456789")
    return f"{part[len(stem):]} writers" if stem in doc.PARTS else part


def pair(claim):
    """The two sides that a claim is about."""
    return (claim.base, claim.side if claim.side != claim.base else 1)


def explain(claim, figures):
    """The counters behind a verdict: "calls_s 9 800, 912"."""
    out = []
    for metric in claim.explain:
        cells = []
        for side in pair(claim):
            got = [f[metric] for f in figures.get((claim.part, side), []) if f.get(metric) is not None]
            cells.append(show(stats.mean(got)) if got else "-")
        if set(cells) != {"-"}:
            out.append(f"{metric} {' | '.join(cells)}")
    return out


def text_table(lines):
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w)
                               for i, (c, w) in enumerate(zip(line, widths))).rstrip() for line in lines)


def layouts(doc, figures):
    """[(title, lines)]: tables in a document's own layout, if it has one."""
    return doc.tables(figures) if hasattr(doc, "tables") else []


def text(doc, figures, verdicts, results):
    out = [f"{doc.TITLE}  [{doc.SWITCH}]", ""]
    law = [p for p in parts(figures) if p.rstrip("0123456789") in doc.PARTS and p not in doc.PARTS]
    for part in parts(figures):
        if part in law:
            continue
        head = ["", *(f"side {s}" for s in sides(figures, part)), "CoV %", "real"]
        lines = [head]
        for metric, name, unit, cells, real in rows(doc, figures, part):
            worst = max(c[2] for c in cells.values())
            lines.append([f"{name} {unit}".strip(),
                          *(show(cells[s][0]) if s in cells else "-" for s in sides(figures, part)),
                          f"{100 * worst:.1f}", {True: "yes", False: "no", None: ""}[real]])
        n = max(len(figures[part, s]) for s in sides(figures, part))
        out += [f"{part}: {part_name(doc, part)}, {n} run{'s' * (n > 1)} a side, means", text_table(lines),
                ""]
    if law:
        metrics = ("min_pause_ms", "min_pause_ms_law", "pause_ms", "bw_ratio", "calls_s")
        lines = [["part", "side", *metrics]]
        for part in law:
            for side in sides(figures, part):
                got = figures[part, side]
                lines.append([part, side, *(show(stats.mean([g[m] for g in got])) if all(
                    g.get(m) is not None for g in got) else "-" for m in metrics)])
        out += ["The law, by number of writers", text_table(lines), ""]
    for title, lines in layouts(doc, figures):
        out += [title, text_table(lines), ""]
    if hasattr(doc, "texts"):
        out += doc.texts(results)
    out.append("What the document says, and what was seen")
    for v in verdicts:
        out.append(f"  {v.verdict:15} {v.claim.key:11} {v.claim.says} ({v.claim.published})")
        out += textwrap.wrap(f"{v.measured}  [{v.why}]", 100, initial_indent=" " * 30,
                             subsequent_indent=" " * 30)
        if v.verdict != "reproduced":
            why = "; ".join(explain(v.claim, figures))
            out += textwrap.wrap("sides {} | {}: ".format(*pair(v.claim)) + why, 100, initial_indent=" " * 30,
                                 subsequent_indent=" " * 30) if why else []
    for name, same in twins(results):
        out.append(f"  {'same bytes' if same else 'DIFFERENT':15} {name} run twice")
    for r in results:
        if r.error:
            out.append(f"  FAILED {r.error}")
    return "\n".join(out) + "\n"


def write_csv(path, results, doc):
    names = [c[0] for c in doc.COLUMNS]
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["part", "side", "seed", "twin", "host_seconds", "error", *names])
        for r in results:
            fig = doc.figures(r.run)
            w.writerow([r.job.part, r.job.side, r.job.seed, r.job.twin, f"{r.seconds:.1f}", r.error,
                        *(fig.get(n, "") for n in names)])


def write_series(path, results):
    names = []
    for r in results:
        for s in r.run.series:
            names += [n for n in s if n not in names]
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["part", "side", "seed", *names])
        for r in results:
            if not r.job.twin:
                for s in r.run.series:
                    w.writerow([r.job.part, r.job.side, r.job.seed, *(s.get(n, "") for n in names)])


def write_json(path, doc, ident, figures, verdicts, results, conditions):
    data = {
        "document": ident, "title": doc.TITLE, "switch": doc.SWITCH, "conditions": conditions,
        "verdicts": [{"claim": v.claim.key, "says": v.claim.says, "published": v.claim.published,
                      "verdict": v.verdict, "measured": v.measured, "rule": v.why,
                      "counters": explain(v.claim, figures)} for v in verdicts],
        "same_bytes": dict(twins(results)),
        "runs": [{"name": r.job.name, "part": r.job.part, "side": r.job.side, "seed": r.job.seed,
                  "error": r.error, "host_seconds": round(r.seconds, 1), "figures": doc.figures(r.run),
                  "key": r.run.key, "machine": r.run.machine, "switch": r.run.switch,
                  "tunable": r.run.tunable, "hist": r.run.hist, "last": r.run.last,
                  "delta": r.run.delta} for r in results],
    }
    with open(path, "w") as f:
        json.dump(data, f, indent=1)
        f.write("\n")
