"""What must be on a medium after a power cut, by the log of a load (user/promise.c).

fsync of a file promises its content and size as they were; fsync of a directory promises the names
in it: those that are there, and that those which are not are gone (a name of a file that never was
synced itself promises nothing). Between two promises anything goes that a crash can leave behind:

content  each sector (512 bytes) below the promised size holds the promised version or a version
         written later; the file may be longer. A write after the promise may be there in part.
         msync and O_DSYNC promise the sectors they cover.
names    a promised name is there until a rename or unlink was begun. A renamed file is found under
         one of its names; if the two are in different directories, of which neither was synced,
         it may also have ended up in lost+found (there is no journal). An unlinked file promises
         nothing. In a synced directory no name appears that was gone by then, and none that was
         never made.
"""
import os
import subprocess

ANYTHING = -1                       # a sector that promises nothing


class File:
    def __init__(self, place):
        self.place = place          # (directory, number of the name) or None
        self.versions = []          # of each sector, as last written
        self.safe = None            # the same as promised; None: nothing was
        self.must = None            # places one of which holds it; None: no name was promised
        self.lost = False           # or lost+found
        self.void = False           # a write failed: content promises nothing


class Promises:
    """The state of all promises at the end of a log."""

    def __init__(self, log):
        self.files, self.maybe = {}, set()
        self.made, self.safe_dirs = set(), set()
        self.counts = {}
        for line in log.splitlines():
            kind, *words = line.split()
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind == "e":
                self.end = line[2:]
                break
            getattr(self, {"S": "all_safe"}.get(kind, "on_" + kind))(*map(int, words))

    def on_m(self, d):
        self.made.add(d)

    def on_d(self, d):
        if d < 0:
            self.safe_dirs |= self.made
            return
        current = {f.place for f in self.files.values() if f.place}
        self.maybe -= {p for p in self.maybe if p[0] == d and p not in current}
        if d not in self.safe_dirs:
            return
        for f in self.files.values():
            if f.place and f.place[0] == d:
                f.must, f.lost = {f.place}, False
            elif f.must:
                f.must -= {p for p in f.must if p[0] == d}

    def on_c(self, f, d):
        self.files[f] = File((d, f))
        self.maybe.add((d, f))

    def on_w(self, f, first, n, version):
        v = self.files[f].versions
        v += [0] * (first + n - len(v))
        v[first:first + n] = [version] * n

    def on_s(self, f):
        if not self.files[f].void:
            self.files[f].safe = list(self.files[f].versions)

    def on_y(self, f, first, n):
        file = self.files[f]
        if not file.void:
            file.safe = file.safe or []
            file.safe += [ANYTHING] * (first + n - len(file.safe))
            file.safe[first:first + n] = file.versions[first:first + n]

    def on_x(self, f):
        self.files[f].void, self.files[f].safe = True, None

    def on_r(self, f, d, name):
        new, file = (d, name), self.files[f]
        for other in self.files.values():
            if other.place == new and other is not file:
                other.place = other.must = None
        if file.must:
            file.must.add(new)
            file.lost |= file.place[0] != d
        file.place = new
        self.maybe.add(new)

    def on_u(self, f):
        self.files[f].place = self.files[f].must = None

    def all_safe(self):
        self.on_d(-1)
        for d in self.made:
            self.on_d(d)
        for f in self.files:
            self.on_s(f)

    def nr_promised(self):
        return sum(1 for f in self.files.values() if f.must and f.safe is not None)


def read_tree(root, program):
    """=> {path below root: (bytes, {sector: (file, version)})} of all regular files"""
    paths = [os.path.join(d, n) for d, _, names in os.walk(root) for n in names]
    tree, current = {}, None
    for at in range(0, len(paths), 500):
        out = subprocess.run([program, "dump", *paths[at:at + 500]], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        for line in out.splitlines():
            if line[0] == "@":
                path, size = line[2:].rsplit(" ", 1)
                current = {}
                tree[os.path.relpath(path, root)] = (int(size), current)
                continue
            file, first, n, version = map(int, line.split())
            for s in range(first, first + n):
                current[s] = (file, version)
    return tree


def wrong_content(found, number, file):
    """=> None, or in what way this is not the promised file"""
    size, sectors = found
    if size < len(file.safe) * 512:
        return f"{size} bytes, promised {len(file.safe) * 512}"
    for s, safe in enumerate(file.safe):
        owner, version = sectors.get(s, (-1, -1))
        if safe != ANYTHING and (owner != number or not safe <= version <= file.versions[s]):
            return (f"sector {s}: file {owner} version {version}, promised version {safe} "
                    f"(last written {file.versions[s]})")
    return None


def broken(promises, root, program):
    """The promises that a medium, unpacked at root, does not keep: a list of lines."""
    tree, bad = read_tree(root, program), []
    lost = [path for path in tree if path.startswith("lost+found/")]
    for d in promises.safe_dirs:
        if not os.path.isdir(f"{root}/d{d}"):
            bad.append(f"directory d{d} is gone")
    for path in tree:
        d, _, name = path.partition("/")
        if d[0] != "d" or not d[1:].isdigit() or int(d[1:]) not in promises.safe_dirs:
            continue
        if not name[1:].isdigit() or (int(d[1:]), int(name[1:])) not in promises.maybe:
            bad.append(f"{path} is there and may not be")
    for number, file in promises.files.items():
        if not file.must or file.safe is None:
            continue
        paths = [f"d{d}/f{n}" for d, n in file.must] + (lost if file.lost else [])
        there = [p for p in paths if p in tree]
        if not there and not file.lost:
            bad.append(f"file {number}: none of {paths} is there")
        else:
            why = [wrong_content(tree[p], number, file) for p in there]
            if None not in why:
                bad.append(f"file {number} at {there or paths}: {why}")
    return bad
