"""A power cut at a seeded instant: what fsync promised is on the medium afterwards.

The guest (guest/lab/powercut) runs the load `promise` on ext2 on a faulty disk with a volatile
write cache, over a RAM disk. After a seeded number of writes the disk freezes; of the sectors that
were not flushed a seeded subset survives. The guest hands the medium and the log of promises out;
here e2fsck repairs it, must then find nothing, and every promise of the log is checked
(promises.py). Seeds with odd numbers lose aligned 4 KiB units, even ones single sectors.
"""
import os
import shutil
import subprocess

import promises
import pytest

MIB = 6
STEPS, RANGE = 300, 900             # of the load; of the instant, in writes

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("mke2fs", "e2fsck", "debugfs"))),
                                reason="e2fsprogs are not installed")


def fresh_disk(path, block, slots):
    """One file system of MIB MiB at the beginning, room for what the cuts leave behind it."""
    with open(path, "wb") as f:
        f.truncate(MIB << 20)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext2", "-b", str(block), "-N", "512", str(path)],
                   check=True)
    with open(path, "r+b") as f:
        f.truncate(MIB * (slots + 1) << 20)


def fsck(image, how):
    return subprocess.run(["e2fsck", how, str(image)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")


def examine(medium, log, program, work):
    """=> (what is wrong: a list of lines, number of promised files, how the load ended)"""
    image, tree = work / "medium", work / "tree"
    image.write_bytes(medium)
    tree.mkdir()
    repaired = fsck(image, "-fy")
    again = fsck(image, "-fn")
    subprocess.run(["debugfs", "-R", f"rdump / {tree}", str(image)], stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT)
    promised = promises.Promises(log)
    bad = promises.broken(promised, str(tree), program)
    if again.returncode:
        bad.append("e2fsck is not content with its own repair:\n" + again.stdout[-1000:])
    if bad:
        bad.append("the repair:\n" + repaired.stdout[-2000:])
    shutil.rmtree(tree)
    return bad, promised.nr_promised(), promised.end


def cuts(boot, images, tmp_path, block, first, last):
    disk, program = tmp_path / "disk.img", tmp_path / "promise"
    fresh_disk(disk, block, last - first + 1)
    shutil.copy(os.path.join(os.path.dirname(images.kernel), "user/promise"), program)
    run = boot(autorun=f"/lab/powercut {first} {last} {MIB} {STEPS} {RANGE}", disks=[str(disk)],
               append="loglevel=3 seed=1", limit=1800)
    assert "@bad" not in run.text, run.text[-2000:]
    wrong, total, failed = [], 0, 0
    with open(disk, "rb") as f:
        for seed in range(first, last + 1):
            f.seek(MIB * (seed - first + 1) << 20)
            work = tmp_path / str(seed)
            work.mkdir()
            bad, promised, end = examine(f.read(MIB << 20), run.section(f"log{seed}"),
                                         str(program), work)
            total += promised
            failed += "I/O error" in end
            wrong += [f"seed {seed}: {line}" for line in bad]
    print(f"{last - first + 1} cuts, {failed} in the middle of the load; {total} promised files")
    assert not wrong, "\n".join(wrong[:20])
    assert failed > (last - first) // 2 and total > 5 * (last - first), "the cuts came too early or late"


@pytest.mark.parametrize("block,first,last", [(1024, 1, 6), (4096, 7, 10)])
def test_promises_survive(boot, images, tmp_path, block, first, last):
    cuts(boot, images, tmp_path, block, first, last)


@pytest.mark.soak
@pytest.mark.parametrize("block", [1024, 4096])
def test_a_hundred_cuts(boot, images, tmp_path, block):
    cuts(boot, images, tmp_path, block, 1, 100)
