"""records: the lines "LAB kind key=value ..." of a console log, as a Run."""
import re
from dataclasses import dataclass, field


def number(text):
    """An int or a float when the text is one, else the text."""
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


@dataclass
class Run:
    """One side, once. Notes (machine, key, switch, tunable, run) are texts; the rest are numbers."""
    run: dict = field(default_factory=dict)
    key: dict = field(default_factory=dict)
    machine: dict = field(default_factory=dict)
    switch: dict = field(default_factory=dict)
    tunable: dict = field(default_factory=dict)
    total: dict = field(default_factory=dict)
    delta: dict = field(default_factory=dict)
    last: dict = field(default_factory=dict)
    end: dict = field(default_factory=dict)
    hist: dict = field(default_factory=dict)        # ticks -> how many
    series: list = field(default_factory=list)      # one dict per sample
    mapzones: list = field(default_factory=list)    # the memory map: its zones,
    maps: list = field(default_factory=list)        # and what changed, {"t": s, "b": "block:code,..."}
    fragment: dict = field(default_factory=dict)    # 002: how memory was prepared,
    load: dict = field(default_factory=dict)        # what the programs did,
    sampled: dict = field(default_factory=dict)     # the head of the tracer's report,
    events: list = field(default_factory=list)      # its lines,
    sites: list = field(default_factory=list)       # every site's statistics,
    stacks: list = field(default_factory=list)      # who did the worst,
    walk: dict = field(default_factory=dict)        # compaction's longest way of either scanner
    step: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)        # and the time its runs took
    unknown: list = field(default_factory=list)

    @property
    def complete(self):
        return self.end.get("status") == 0

    def measured(self):
        return [s for s in self.series if s.get("phase") == "measure"]


NOTES = ("key", "switch", "tunable")
MANY = ("run", "machine", "total", "delta", "last", "end", "fragment", "load", "sampled", "walk", "step", "runs")
LISTS = {"event": "events", "site": "sites", "stack": "stacks"}


def site_hist(text):
    """"5:12,6:3" as {5: 12, 6: 3}: so many sections of 2^k to 2^(k+1)-1."""
    return {int(k): int(n) for k, n in (x.split(":") for x in str(text).split(",") if x)}


def pairs(text):
    """{name: value}; a value runs to the next " name=" or to the end."""
    found = re.findall(r"([\w/.-]+)=(.*?)(?=\s[\w/.-]+=|$)", text)
    return {name: value.strip() for name, value in found}


def parse(text):
    run = Run()
    for line in text.replace("\r", "").splitlines():
        m = re.match(r"LAB (\w+) (.*)$", line)
        if not m:
            continue
        kind, rest = m[1], m[2]
        if kind in NOTES or (kind == "machine" and rest.split("=")[0] in ("kernel", "clock", "disk",
                                                                          "zones")):
            name, _, value = rest.partition("=")
            getattr(run, kind)[name] = value.strip()
        elif kind in MANY:
            for name, value in pairs(rest).items():
                getattr(run, kind)[name] = number(value)
        elif kind == "hist":
            p = pairs(rest)
            run.hist[int(p["tick"])] = int(p["n"])
        elif kind == "map":
            p = pairs(rest)
            run.maps.append({"t": float(p["t"]), "b": p["b"]})
        elif kind == "mapzone":
            run.mapzones.append({k: number(v) for k, v in pairs(rest).items()})
        elif kind in LISTS:
            getattr(run, LISTS[kind]).append({k: number(v) for k, v in pairs(rest).items()})
        elif kind == "series":
            run.series.append({k: number(v) for k, v in pairs(rest).items()})
        else:
            run.unknown.append(line)
    return run
