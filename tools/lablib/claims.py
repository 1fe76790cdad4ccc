"""claims: what a document says, and whether it was seen here. Pure functions over figures.

`Figures` maps (part, side) to a list of {metric: value}, one per run. A claim is data: which metric of
which part, what kind of statement, its band. Verdicts:

    reproduced        the figure lies in the band
    direction only    it moved as claimed, and the effect is real, but outside the band
    not reproduced    neither
    no data           the runs are missing or lack the metric
"""
from dataclasses import dataclass, field

from . import stats

REPRODUCED, DIRECTION, NOT, NO_DATA = "reproduced", "direction only", "not reproduced", "no data"


@dataclass
class Claim:
    key: str                # "B.mean"
    says: str               # the document's statement, in our words
    published: str          # its figure
    part: str
    metric: str
    kind: str               # within | factor | same | law
    band: tuple = ()        # within: (low, high), None is open; factor: (at least,); same: (tolerance,)
    side: int = 1           # within: of which side; the others: the later of the two compared
    want: str = ""          # up | down: where the later side should lie compared with the earlier
    unit: str = ""
    explain: list = field(default_factory=list)     # metrics that say why
    base: int = 0           # the earlier of the two sides compared


@dataclass
class Verdict:
    claim: Claim
    verdict: str
    measured: str           # the figure, for a person
    why: str                # the rule that decided


def values(figures, part, side, metric):
    return [f[metric] for f in figures.get((part, side), []) if f.get(metric) is not None]


def show(value, unit=""):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) < 1000:
        text = f"{int(value)}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}".replace(",", " ")
    elif abs(value) >= 100:
        text = f"{value:.0f}"
    elif abs(value) >= 10:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2f}"
    return f"{text} {unit}".strip()


def moved(before, after, want):
    """Did the figure move from one side to the other as wanted, and is that real?"""
    if not before or not after or not want:
        return False
    up = stats.mean(after) > stats.mean(before)
    return up == (want == "up") and stats.mean(after) != stats.mean(before) and \
        stats.real(before, after)


def inside(value, band):
    low, high = band
    return (low is None or value >= low) and (high is None or value <= high)


def band_text(band, unit):
    low, high = band
    if low is None:
        return f"at most {show(high, unit)}"
    if high is None:
        return f"at least {show(low, unit)}"
    return f"{show(low)} to {show(high, unit)}"


def judge_within(claim, figures):
    got = values(figures, claim.part, claim.side, claim.metric)
    if not got:
        return Verdict(claim, NO_DATA, "-", "no run of this part")
    value = stats.mean(got)
    rule = band_text(claim.band, claim.unit)
    if inside(value, claim.band):
        return Verdict(claim, REPRODUCED, show(value, claim.unit), rule)
    after = claim.side != claim.base
    other = values(figures, claim.part, claim.base if after else 1, claim.metric)
    pair = (other, got) if after else (got, other)
    if moved(*pair, claim.want):
        return Verdict(claim, DIRECTION, show(value, claim.unit), f"{rule}; moved {claim.want}")
    return Verdict(claim, NOT, show(value, claim.unit), rule)


def judge_factor(claim, figures):
    """Earlier / later side at least band[0] (want down), or the other way round (want up)."""
    a = values(figures, claim.part, claim.base, claim.metric)
    b = values(figures, claim.part, claim.side, claim.metric)
    if not a or not b:
        return Verdict(claim, NO_DATA, "-", f"needs sides {claim.base} and {claim.side}")
    high, low = (a, b) if claim.want == "down" else (b, a)
    ratio = stats.mean(high) / stats.mean(low) if stats.mean(low) else float("inf")
    text = f"{show(stats.mean(a), claim.unit)} to {show(stats.mean(b), claim.unit)}, factor {ratio:.2f}"
    rule = f"{claim.want} by a factor of at least {claim.band[0]:g}"
    if ratio >= claim.band[0] and stats.real(a, b):
        return Verdict(claim, REPRODUCED, text, rule)
    if moved(a, b, claim.want):
        return Verdict(claim, DIRECTION, text, rule)
    return Verdict(claim, NOT, text, rule)


def judge_same(claim, figures):
    a = values(figures, claim.part, claim.base, claim.metric)
    b = values(figures, claim.part, claim.side, claim.metric)
    if not a or not b:
        return Verdict(claim, NO_DATA, "-", f"needs sides {claim.base} and {claim.side}")
    change = (stats.mean(b) - stats.mean(a)) / stats.mean(a) if stats.mean(a) else 0.0
    text = f"{show(stats.mean(a), claim.unit)} to {show(stats.mean(b), claim.unit)}, {change:+.1%}"
    rule = f"within {claim.band[0]:.0%}"
    return Verdict(claim, REPRODUCED if abs(change) <= claim.band[0] else NOT, text, rule)


def judge_change(claim, figures):
    """Relative change from the earlier side to the later inside band (fractions)."""
    a = values(figures, claim.part, claim.base, claim.metric)
    b = values(figures, claim.part, claim.side, claim.metric)
    if not a or not b or not stats.mean(a):
        return Verdict(claim, NO_DATA, "-", f"needs sides {claim.base} and {claim.side}")
    change = (stats.mean(b) - stats.mean(a)) / stats.mean(a)
    text = f"{show(stats.mean(a), claim.unit)} to {show(stats.mean(b), claim.unit)}, {change:+.1%}"
    rule = f"{claim.band[0]:+.0%} to {claim.band[1]:+.0%}"
    if inside(change, claim.band) and stats.real(a, b):
        return Verdict(claim, REPRODUCED, text, rule)
    return Verdict(claim, DIRECTION if moved(a, b, claim.want) else NOT, text, rule)


def law_rows(claim, figures):
    """[(N, expected, measured, settled)] for the parts PART1, PART2, ... of a law."""
    rows = []
    for (part, side), runs in figures.items():
        if side != claim.side or not part.startswith(claim.part) or not part[len(claim.part):].isdigit():
            continue
        got = values(figures, part, side, claim.metric)
        wanted = values(figures, part, side, claim.metric + "_law")
        settled = values(figures, part, side, "settled")
        if got and wanted:
            rows.append((int(part[len(claim.part):]), stats.mean(wanted), stats.mean(got),
                         bool(settled) and stats.mean(settled) >= 0.5))
    return sorted(rows)


def judge_law(claim, figures):
    """For each N: measured within band[0] of the table, wherever the estimators have settled."""
    rows = law_rows(claim, figures)
    if len(rows) < 2:
        return Verdict(claim, NO_DATA, "-", "needs several N")
    tolerance = claim.band[0]
    settled = [r for r in rows if r[3]]
    hits = [r for r in settled if abs(r[2] - r[1]) <= tolerance]
    text = (f"{len(hits)} of {len(settled)} settled N within {tolerance:g}; "
            + ", ".join(f"{n}: {got:.0f}/{want:.0f}{'' if ok else ' (not settled)'}"
                        for n, want, got, ok in rows))
    rule = f"every settled N within {tolerance:g} {claim.unit} of the table; measured/table"
    if settled and len(hits) == len(settled) and len(settled) * 2 >= len(rows):
        return Verdict(claim, REPRODUCED, text, rule)
    rising = all(b[2] >= a[2] - tolerance for a, b in zip(rows, rows[1:])) and \
        rows[-1][2] > rows[0][2] + tolerance
    return Verdict(claim, DIRECTION if rising else NOT, text, rule)


JUDGES = {"within": judge_within, "factor": judge_factor, "same": judge_same, "law": judge_law,
          "change": judge_change}


def judge(claims, figures):
    return [JUDGES[c.kind](c, figures) for c in claims]
