"""fio, as Debian ships it: dynamic, with fifty libraries, on an ext2 image; writes to /mnt."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """An ext2 image that holds fio and everything it links to."""
    if not shutil.which("fio"):
        pytest.fail("fio is not installed; run ./setup")
    base = tmp_path_factory.mktemp("fio")
    subprocess.run([os.path.join(ROOT, "tools/mktree"), "-o", str(base / "tree"), "fio"], check=True)
    size = sum(f.stat().st_size for f in (base / "tree").rglob("*") if f.is_file())
    path = str(base / "fio.img")
    with open(path, "wb") as f:
        f.truncate((size * 5 // 4 + (96 << 20)) & -(1 << 20))
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext2", "-b", "4096", "-d", str(base / "tree"), path],
                   check=True, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
    shutil.rmtree(base / "tree")
    return path


@pytest.mark.parametrize("engine,bs,more", [
    ("psync", "16k", ""),                   # the line of the 2018 document, smaller
    ("libaio", "16k", "-iodepth=4"),
])
def test_fio_writes(boot, image, tmp_path, engine, bs, more):
    copy = str(tmp_path / "fio.img")
    shutil.copyfile(image, copy)
    run = boot(autorun=f"/lab/fio {engine} {bs} {more}", mem="512M", nodes=1, disks=[copy])
    text = run.section("fio")
    job = json.loads(text[text.index("{"):text.rindex("}") + 1])["jobs"][0]
    assert job["error"] == 0
    assert job["write"]["io_bytes"] == 32 << 20 and job["write"]["total_ios"] == (32 << 20) // (16 << 10)
    check = subprocess.run(["e2fsck", "-fn", copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
    assert check.returncode == 0, check.stdout
    stat = subprocess.run(["debugfs", "-R", "stat /test1", copy], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL,
                          env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
    assert f"Size: {32 << 20}" in stat.stdout, stat.stdout
