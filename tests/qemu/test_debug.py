"""make debug: gdb sees zones, run queues and threads of the live kernel."""
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
@pytest.mark.parametrize("debug", [False, True], ids=["release", "debug"])
def test_gdb_commands(images, tmp_path, debug):
    kernel = images.debug_kernel if debug else images.kernel
    words = [sys.executable, os.path.join(ROOT, "tools/gdb/session"), "--kernel", kernel]
    for command in ("thbreak sys_reboot", "continue", "quire-zones", "quire-runqueues", "quire-tasks",
                    "quire-stacks ttyd", "quire-cpu 0", "bt 1", "quire-cpu 1", "bt 1", "kill"):
        words += ["--batch", command]
    words += ["--", sys.executable, os.path.join(ROOT, "tools/qemu-run"), "--nodes", "2", "--cpus", "2",
              "--clock", "virtual", "--kernel", kernel, "--initrd", images.initrd,
              "--append", 'autorun="true"']
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                         env=dict(os.environ, CONSOLE=str(tmp_path / "console")))
    text = run.stdout
    assert re.search(r"^node 0 DMA +pfn", text, re.M) and re.search(r"^node 1 DMA32 +pfn", text, re.M), text
    assert re.search(r"^cpu 0: .* runnable", text, re.M) and re.search(r"^cpu 1: .* runnable", text, re.M), text
    assert re.search(r"^ +1 +1 +\d running .* init$", text, re.M), text
    assert re.search(r"ttyd \+ \d+", text) and re.search(r"^#0 .*sys_reboot", text, re.M), text
