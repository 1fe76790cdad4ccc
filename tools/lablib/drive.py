"""drive: boots the runs of a plan, each on a fresh machine on the virtual clock.

Runs of different machines do not disturb each other there, so several go at a time. Each gives a
console log NAME.log and, parsed, a Run.
"""
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import quire_qemu as qq

from . import records


@dataclass
class Job:
    part: str
    side: int
    seed: int = 1
    words: dict = field(default_factory=dict)   # name=value of `lab run`
    mem: str = "4G"
    cpus: int = 1
    nodes: int = 1
    append: str = ""
    tracer: str = "nop"     # measuring costs: only where it is what is measured
    twin: str = ""          # a second run of the same side and seed: must give the same bytes

    @property
    def name(self):
        return f"{self.part}-side{self.side}-seed{self.seed}{self.twin}"


@dataclass
class Result:
    job: Job
    run: records.Run
    text: str
    seconds: float          # of host time
    error: str = ""


def command(document, job):
    words = dict(job.words, seed=job.seed)
    return f"lab run {document} --side {job.side} " + " ".join(f"{k}={v}" for k, v in words.items())


def abba(sides, seeds):
    """[(side, seed)]: A B B A A B ..., so that a drift of the host or of our attention hits both."""
    order = []
    for i, seed in enumerate(seeds):
        order += [(s, seed) for s in (sides if i % 2 == 0 else reversed(sides))]
    return order


def boot(document, job, opt):
    log = os.path.join(opt.out, job.name + ".log")
    m = qq.Machine(kernel=opt.kernel, initrd=opt.initrd, nodes=job.nodes, cpus=job.cpus, mem=job.mem,
                   clock="virtual", serial=f"file:{log}",
                   append=f'loglevel=4 seed={job.seed} {job.append} tracer={job.tracer} '
                          f'autorun="{command(document, job)}"')
    started = time.time()
    status = qq.run(m, timeout=opt.timeout, stdout=subprocess.DEVNULL)
    try:
        with open(log, errors="replace") as f:
            text = f.read().replace("\r", "")
    except OSError:
        text = ""
    run = records.parse(text)
    error = ""
    if status != qq.EXIT_PASS or not run.complete:
        what = {None: "time-out", qq.EXIT_POWEROFF: "reset or powered off"}.get(status,
                                                                                f"status {status}")
        tail = [x for x in text.splitlines() if x.strip() and not x.startswith("LAB series")]
        error = f"{job.name}: {what}; ends with: " + " | ".join(tail[-3:])
    return Result(job, run, text, time.time() - started, error)


class Progress:
    """One line per finished run; on a terminal also what the running ones say."""

    def __init__(self, total, out):
        self.total, self.done, self.out, self.active = total, 0, out, {}
        self.lock, self.live = threading.Lock(), sys.stdout.isatty()
        self.stop = threading.Event()
        if self.live:
            threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while not self.stop.wait(2):
            with self.lock:
                words = []
                for name in self.active:
                    try:
                        with open(os.path.join(self.out, name + ".log"), "rb") as f:
                            f.seek(max(0, os.fstat(f.fileno()).st_size - 4096))
                            found = re.findall(rb"(warm|measure) (\d+/\d+) s: ([\d.]+ \S+)", f.read())
                        words.append(f"{name} " + (b" ".join(found[-1]).decode() if found else "boots"))
                    except OSError:
                        pass
                line = f"  [{self.done}/{self.total}] " + "; ".join(words)
                sys.stdout.write("\r\x1b[K" + line[:150])
                sys.stdout.flush()

    def start(self, job):
        with self.lock:
            self.active[job.name] = 1

    def end(self, result, summary):
        with self.lock:
            self.active.pop(result.job.name, None)
            self.done += 1
            lead = "\r\x1b[K" if self.live else ""
            print(f"{lead}  [{self.done}/{self.total}] {result.job.name:24} {result.seconds:4.0f} s  "
                  f"{result.error or summary}", flush=True)


def run_all(document, jobs, opt, summary):
    """=> [Result] in the order of jobs"""
    progress = Progress(len(jobs), opt.out)

    def one(job):
        progress.start(job)
        result = boot(document, job, opt)
        progress.end(result, "" if result.error else summary(result.run))
        return result

    try:
        with ThreadPoolExecutor(opt.jobs) as pool:
            return list(pool.map(one, jobs))
    finally:
        progress.stop.set()
