"""ftrace: a strict parser of ftrace's text and of format files, from the documented columns; the
converters (trace2json, trace2dat) and the tests use it.

Two kinds of text. The trace of events (Documentation/trace/ftrace.rst, "Output format"):

    # tracer: nop
    #
    # entries-in-buffer/entries-written: 2/2   #P:1
    ...
              sh-11      [000] d....     0.061666: sched_waking: comm=sh pid=12 prio=120 target_cpu=000
    COMM (16, right)-PID (7, left) [CPU] FLAGS SECONDS.MICROSECONDS: EVENT: TEXT

and the latency format ("irqsoff" there). FLAGS: irqs-off dD., need-resched NnpB., hardirq/softirq
HhsZz., preempt depth hex or ., migrate-disable hex or . A line that fits nothing raises ValueError.
Perfetto's importer of such text is less strict; its pattern is checked beside ours (PERFETTO).
"""
import re
from dataclasses import dataclass

EVENT = re.compile(r"(?P<comm>.{16,}?)-(?P<pid>\d+) *\[(?P<cpu>\d{3})\] (?P<flags>[dD.][NnpB.][HhsZz.][0-9a-f.]"
                   r"[0-9a-f.]) (?P<time> *\d+\.\d{6}): (?P<name>[a-z_0-9]+): (?P<text>.*)")
# What Perfetto wants of a line, restated: -PID, [CPU], three letters and one or two hex digits, time, name.
PERFETTO = re.compile(r"-(\d+)\s+\[(\d+)\]\s*([a-zA-Z.]{3}[0-9a-f.]{1,2}\s*)?(\d+\.\d+):\s+(\S+):")
HEADS = """\
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""
LATENCY_HEADS = """\
#                    _------=> CPU#            \n\
#                   / _-----=> irqs-off/BH-disabled
#                  | / _----=> need-resched    \n\
#                  || / _---=> hardirq/softirq \n\
#                  ||| / _--=> preempt-depth   \n\
#                  |||| / _-=> migrate-disable \n\
#                  ||||| /     delay           \n\
#  cmd     pid     |||||| time  |   caller     \n\
#     \\   /        ||||||  \\    |    /       \n"""
LATENCY = re.compile(r"(?P<comm>.{8,}?)-(?P<pid>\d+) *(?P<cpu>\d+)(?P<flags>[dD.][NnpB.][HhsZz.][0-9a-f.][0-9a-f.]) "
                     r"(?P<us> *\d+)us(?P<mark>[$@*#!+ ]): (?P<text>.*)")


def cut(raw):
    """The trace within a copy of the console: from its head to the first line that is none of it."""
    lines = raw.replace("\r", "").split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("# tracer: ")), None)
    if start is None:
        raise ValueError("no line '# tracer: ...': not a copy of /sys/kernel/tracing/trace")
    end = start
    while end < len(lines) and (lines[end].startswith(("#", " => ")) or EVENT.fullmatch(lines[end])
                                or LATENCY.fullmatch(lines[end])):
        end += 1
    return "\n".join(lines[start:end]) + "\n"


def is_latency(text):
    return " latency trace v" in text[:200]


@dataclass
class Event:
    comm: str
    pid: int
    cpu: int
    flags: str
    time: float
    ns: int
    name: str
    text: str

    def fields(self):
        """key=value words of the text; a value with blanks (a name) reaches to the next key."""
        text = self.text.replace(" ==> ", " ")
        return dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", text))


@dataclass
class Row:
    comm: str
    pid: int
    cpu: int
    flags: str
    us: int
    mark: str
    text: str


def column(match, name, width, line):
    """The name must fill its column: right-aligned, at least that wide."""
    if len(match[name]) > width and match[name].startswith(" "):
        raise ValueError(f"{name} of {line!r} is not in its column")
    return match[name].strip()


def parse_trace(text):
    """=> (tracer, (in buffer, written), CPUs, [Event])"""
    head = re.match(r"# tracer: (\S+)\n#\n# entries-in-buffer/entries-written: (\d+)/(\d+)   #P:(\d+)\n#\n", text)
    if not head:
        raise ValueError(f"not the head of a trace: {text[:200]!r}")
    body = text[head.end():]
    if not body.startswith(HEADS):
        raise ValueError(f"not the column heads: {body[:600]!r}")
    events = []
    for line in body[len(HEADS):].splitlines():
        m = EVENT.fullmatch(line)
        if not m:
            raise ValueError(f"not a line of a trace: {line!r}")
        other = PERFETTO.search(line)
        if not other or (other[1], other[2], other[5]) != (m["pid"], m["cpu"], m["name"]):
            raise ValueError(f"Perfetto would not take {line!r}")
        seconds, micro = m["time"].split(".")
        events.append(Event(column(m, "comm", 16, line), int(m["pid"]), int(m["cpu"]), m["flags"],
                            float(m["time"]), int(seconds) * 10**9 + int(micro) * 1000, m["name"], m["text"]))
    return head[1], (int(head[2]), int(head[3])), int(head[4]), events


def parse_latency(text):
    """=> (header fields, [Row], stack)"""
    head = re.match(
        r"# tracer: (?P<tracer>\S+)\n#\n# (?P=tracer) latency trace v1\.1\.5 on \S+\n"
        r"# -{68}\n# latency: (?P<latency_us>\d+) us, #(?P<entries>\d+)/(?P=entries), CPU#(?P<cpu>\d+) \| "
        r"\(M:(?P<model>server|desktop|preempt|rt) VP:0, KP:0, SP:0 HP:0 #P:(?P<cpus>\d+)\)\n#    -{17}\n"
        r"#    \| task: (?P<task>.*-\d+) \(uid:0 nice:(?P<nice>-?\d+) policy:(?P<policy>\d+) "
        r"rt_prio:(?P<rt_prio>\d+)\)\n#    -{17}\n"
        r"(?:#  => started at: (?P<started>\S+)\n#  => ended at:   (?P<ended>\S+)\n)?#\n(?P<ours>(?:#(?: .*)?\n)*?)"
        + re.escape(LATENCY_HEADS), text)
    if not head:
        raise ValueError(f"not the head of a latency trace: {text[:2000]!r}")
    fields = {k: int(v) if v is not None and re.fullmatch(r"-?\d+", v) else v for k, v in head.groupdict().items()}
    rows, stack = [], []
    for line in text[head.end():].splitlines():
        m = LATENCY.fullmatch(line)
        if m:
            rows.append(Row(column(m, "comm", 8, line), int(m["pid"]), int(m["cpu"]), m["flags"], int(m["us"]),
                            m["mark"], m["text"]))
        elif re.fullmatch(r" => \S+", line) and rows and rows[-1].text == "<stack trace>":
            stack.append(line[4:])
        else:
            raise ValueError(f"not a line of a latency trace: {line!r}")
    if len(rows) != fields["entries"]:
        raise ValueError(f"{len(rows)} lines, the head says {fields['entries']}")
    return fields, rows, stack


FIELD = re.compile(r"\tfield:(?P<type>.+) (?P<name>\w+)(?:\[(?P<count>\d+)\])?;\toffset:(?P<offset>\d+);"
                   r"\tsize:(?P<size>\d+);\tsigned:(?P<signed>[01]);")
COMMON = [("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0),
          ("unsigned char", "common_preempt_count", 3, 1, 0), ("int", "common_pid", 4, 4, 1)]


@dataclass
class Field:
    type: str
    name: str
    offset: int
    size: int
    signed: int


@dataclass
class Format:
    name: str
    id: int
    fields: list
    fmt: str
    args: list


def parse_format(text):
    """A file events/SYSTEM/NAME/format; the layout must be one a C compiler would make."""
    m = re.fullmatch(r"name: (\w+)\nID: (\d+)\nformat:\n((?:\tfield:.*\n)+)\n((?:\tfield:.*\n)+)\n"
                     r'print fmt: "(.*)"((?:, .+)?)\n', text)
    if not m:
        raise ValueError(f"not a format file: {text!r}")
    fields = []
    for part in m[3], m[4]:
        for line in part.splitlines():
            f = FIELD.fullmatch(line)
            if not f:
                raise ValueError(f"not a field: {line!r}")
            fields.append(Field(f["type"], f["name"], int(f["offset"]), int(f["size"]), int(f["signed"])))
            if f["count"] and int(f["count"]) != int(f["size"]):
                raise ValueError(f"size of {line!r}")
    if [(f.type, f.name, f.offset, f.size, f.signed) for f in fields[:4]] != COMMON:
        raise ValueError(f"the fields common to all: {fields[:4]}")
    end = 8
    for f in fields[4:]:
        align = 1 if f.type == "char" else f.size
        if f.offset != (end + align - 1) // align * align:
            raise ValueError(f"{m[1]}.{f.name} at {f.offset}, behind {end}")
        end = f.offset + f.size
    args = [a or b for a, b in re.findall(r"REC->(\w+)|__get_str\((\w+)\)", m[6])]
    names = [f.name for f in fields[4:]]
    if args != names or len(set(names)) != len(names):
        raise ValueError(f"{m[1]}: arguments {args}, fields {names}")
    conversions = re.findall(r"%[-+ #0]*\d*(l?[udxs])", m[5].replace("%%", ""))
    for f, c in zip(fields[4:], conversions):
        if (c == "s") != ("char" in f.type) or (c == "ld") != (f.signed == 1):
            raise ValueError(f"{m[1]}.{f.name}: {f.type} printed with %{c}")
    if len(conversions) != len(names):
        raise ValueError(f"{m[1]}: {len(conversions)} conversions, {len(names)} fields")
    return Format(m[1], int(m[2]), fields, m[5], names)
