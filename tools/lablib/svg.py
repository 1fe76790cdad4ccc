"""svg: small pictures as inline SVG text. Colours come from the page's style sheet (classes s0, s1,
s2 for the sides), so that they follow light and dark.
"""
import html
import math

W, H = 460, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 24, 34


def esc(text):
    return html.escape(str(text), quote=True)


def compact(value):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    if value >= 10000:
        return f"{value / 1e3:g} k"
    return f"{value:g}"


def ticks(low, high, want=5):
    """Round numbers from low to high."""
    span = (high - low) or 1
    step = 10 ** math.floor(math.log10(span / want))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= want:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, int(math.floor(high / step + 1e-9)) + 1)]


class Axis:
    """Maps values to pixels; log=2 or 10 for a logarithmic one."""

    def __init__(self, low, high, a, b, log=0):
        self.low, self.high, self.a, self.b, self.log = low, high, a, b, log
        if log:
            self.low, self.high = max(low, 1e-9), max(high, low * 2, 1e-9)
        elif high <= low:
            self.high = low + 1

    def at(self, value):
        if self.log:
            value = max(value, self.low)
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.a + (self.b - self.a) * min(max(part, 0), 1)

    def marks(self):
        if not self.log:
            return ticks(self.low, self.high)
        first = math.floor(math.log(self.low, self.log))
        last = math.floor(math.log(self.high, self.log) + 1e-9)
        found = [self.log ** i for i in range(first, last + 1)]
        if len(found) <= 3 and self.log == 10:
            found = [v * k for v in found for k in (1, 2, 5)]
        return [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]


def frame(title, x, y, xlabel, ylabel, body, label):
    """Axes, grid and texts around a body."""
    out = [f'<svg viewBox="0 0 {W} {H}" role="img" aria-label="{esc(label)}">',
           f'<text class="title" x="{LEFT}" y="14">{esc(title)}</text>']
    for v in y.marks():
        out.append(f'<line class="grid" x1="{LEFT}" x2="{W - RIGHT}" y1="{y.at(v):.1f}" y2="{y.at(v):.1f}"/>'
                   f'<text class="tick" x="{LEFT - 5}" y="{y.at(v) + 3:.1f}" text-anchor="end">'
                   f'{compact(v)}</text>')
    for v in x.marks():
        out.append(f'<line class="mark" x1="{x.at(v):.1f}" x2="{x.at(v):.1f}" y1="{H - BOTTOM}" '
                   f'y2="{H - BOTTOM + 4}"/><text class="tick" x="{x.at(v):.1f}" y="{H - BOTTOM + 15}" '
                   f'text-anchor="middle">{compact(v)}</text>')
    out.append(f'<line class="axis" x1="{LEFT}" x2="{W - RIGHT}" y1="{H - BOTTOM}" y2="{H - BOTTOM}"/>')
    out.append(f'<text class="tick" x="{(LEFT + W - RIGHT) / 2}" y="{H - 4}" text-anchor="middle">'
               f'{esc(xlabel)}</text>')
    out.append(f'<text class="tick" x="{W - RIGHT}" y="14" text-anchor="end">{esc(ylabel)}</text>')
    return "\n".join(out + body + ["</svg>"])


def lines(title, curves, xlabel, ylabel, log_x=0, log_y=0, low_y=None, bands=(), points=False):
    """curves: [(css class, name, [(x, y)])]; bands: [(x0, x1)] shaded, e.g. the warm-up."""
    curves = [(c, n, [p for p in pts if p[1] is not None]) for c, n, pts in curves]
    every = [p for _, _, pts in curves for p in pts]
    if not every:
        return ""
    ys = [p[1] for p in every if not log_y or p[1] > 0] or [1]
    x = Axis(min(p[0] for p in every), max(p[0] for p in every), LEFT + 4, W - RIGHT - 6, log_x)
    y = Axis((min(ys) if log_y else 0) if low_y is None else low_y,
             max(ys) * (1.25 if log_y else 1.06) or 1, H - BOTTOM, TOP, log_y)
    body = [f'<rect class="band" x="{x.at(a):.1f}" y="{TOP}" width="{max(x.at(b) - x.at(a), 0):.1f}" '
            f'height="{H - BOTTOM - TOP}"/>' for a, b in bands]
    for css, name, pts in curves:
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in pts)
        body.append(f'<polyline class="line {css}" points="{path}"><title>{esc(name)}</title></polyline>')
        if points:
            body += [f'<circle class="dot {css}" cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3">'
                     f'<title>{esc(name)}: {a:g}, {b:.4g}</title></circle>' for a, b in pts]
    return frame(title, x, y, xlabel, ylabel, body,
                 f"{title}: " + ", ".join(n for _, n, _ in curves))


def bins(hist, width, top):
    """Shares of a {length: count} in bins of `width`, up to top."""
    total = sum(hist.values()) or 1
    out = [0.0] * (int(top // width) + 1)
    for length, n in hist.items():
        out[min(int(length // width), len(out) - 1)] += n / total
    return out


def histogram(title, hists, width, top, xlabel, marks=()):
    """hists: [(css class, name, {length: count})], laid over each other; marks: [(x, text)]."""
    data = [(c, n, bins(h, width, top)) for c, n, h in hists if h]
    if not data:
        return ""
    x = Axis(0, top + width, LEFT + 4, W - RIGHT - 6)
    y = Axis(0, 100 * max(max(b) for _, _, b in data) * 1.06, H - BOTTOM, TOP)
    body = []
    for css, name, shares in data:
        for i, share in enumerate(shares):
            if share:
                left, up = x.at(i * width), y.at(100 * share)
                body.append(f'<rect class="bar {css}" x="{left + .5:.1f}" y="{up:.1f}" '
                            f'width="{max(x.at((i + 1) * width) - left - 1, .5):.1f}" '
                            f'height="{H - BOTTOM - up:.1f}"><title>{esc(name)}: {i * width:g} to '
                            f'{(i + 1) * width:g}: {100 * share:.1f} %</title></rect>')
    for where, text in marks:
        body.append(f'<line class="rule" x1="{x.at(where):.1f}" x2="{x.at(where):.1f}" y1="{TOP}" '
                    f'y2="{H - BOTTOM}"/><text class="tick" x="{x.at(where) + 3:.1f}" y="{TOP + 9}">'
                    f'{esc(text)}</text>')
    return frame(title, x, y, xlabel, "share, %", body, f"{title}: " + ", ".join(n for _, n, _ in data))


def sections(title, hists, bound):
    """hists: [(css class, name, {k: sections of 2^k .. 2^(k+1)-1})] as steps on logarithmic axes; bound: a rule."""
    every = [k for _, _, h in hists for k in h]
    low, high = max(min(every) - 1, 0), max(max(every) + 2, 13)
    x = Axis(2 ** low, 2 ** high, LEFT + 4, W - RIGHT - 6, 10)
    y = Axis(0.7, max(n for _, _, h in hists for n in h.values()) * 1.4, H - BOTTOM, TOP, 10)
    body = []
    for css, name, h in hists:
        points = [(x.at(2 ** min(h)), H - BOTTOM)]
        for k in range(min(h), max(h) + 1):
            up = y.at(h[k]) if h.get(k) else H - BOTTOM
            points += [(x.at(2 ** k), up), (x.at(2 ** (k + 1)), up)]
        points.append((x.at(2 ** (max(h) + 1)), H - BOTTOM))
        told = ", ".join(f"{n} of {2 ** k}.." for k, n in sorted(h.items())[-3:])
        body.append(f'<polygon class="steps {css}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}">'
                    f"<title>{esc(name)}: {told}</title></polygon>")
    body.append(f'<line class="rule" x1="{x.at(bound):.1f}" x2="{x.at(bound):.1f}" y1="{TOP}" y2="{H - BOTTOM}"/>')
    return frame(title, x, y, "instructions with interrupts off", "sections", body, title)


def dots(title, rows, marks):
    """rows: [(name, {side: value})], a line each, a dot a side, on one logarithmic axis; marks: [(x, text)]."""
    width, line, left = 920, 19, 150
    height = TOP + 12 + line * len(rows) + BOTTOM
    values = [v for _, sides in rows for v in sides.values() if v] + [m for m, _ in marks]
    x = Axis(min(values) * 0.8, max(values) * 1.25, left, width - 20, 10)
    bottom = height - BOTTOM
    out = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{esc(title)}">',
           f'<text class="title" x="{left}" y="14">{esc(title)}</text>']
    for v in x.marks():
        out.append(f'<line class="grid" x1="{x.at(v):.1f}" x2="{x.at(v):.1f}" y1="{TOP}" y2="{bottom}"/>'
                   f'<text class="tick" x="{x.at(v):.1f}" y="{bottom + 14}" text-anchor="middle">{compact(v)}</text>')
    for value, text in marks:
        out.append(f'<line class="rule" x1="{x.at(value):.1f}" x2="{x.at(value):.1f}" y1="{TOP}" y2="{bottom}"/>'
                   f'<text class="tick" x="{x.at(value):.1f}" y="{bottom + 28}" text-anchor="middle">{esc(text)}</text>')
    for i, (name, sides) in enumerate(rows):
        at = TOP + 14 + i * line
        ends = [x.at(v) for v in sides.values()]
        out.append(f'<text x="{left - 8}" y="{at + 4}" text-anchor="end">{esc(name)}</text>'
                   f'<line class="mark" x1="{min(ends):.1f}" x2="{max(ends):.1f}" y1="{at}" y2="{at}"/>')
        for side, value in sorted(sides.items()):
            out.append(f'<circle class="dot s{side}" cx="{x.at(value):.1f}" cy="{at}" r="{5.5 - side * 0.9:.1f}">'
                       f"<title>{esc(name)}, side {side}: {value}</title></circle>")
    return "\n".join(out + ["</svg>"])
