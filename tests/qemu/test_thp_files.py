"""Huge pages as a user sees them: files, words, boot words, presets, madvise and prctl."""
import re

import pytest

DIR = "/sys/kernel/mm/transparent_hugepage"
FILES = f"grep -rH . {DIR} | sort; cat /proc/sys/vm/min_free_kbytes"


def files(text):
    return dict(re.findall(rf"^{DIR}/(\S+?):(.*)$", text, re.M))


def answers(text):
    return dict(re.findall(r"^(\w+) (\S+)$", text, re.M))


def test_files(boot):
    run = boot(mem="512M", append="loglevel=4", autorun=(
        f"{FILES}; /lab/mark set sh -c '"
        f"for w in always defer defer+madvise never; do echo $w > {DIR}/defrag; cat {DIR}/defrag; done; "
        f"echo maybe > {DIR}/enabled || echo refused; echo 512 > {DIR}/khugepaged/max_ptes_none || echo refused; "
        f"echo 0 > {DIR}/khugepaged/pages_to_scan || echo refused; echo 77 > {DIR}/khugepaged/max_ptes_swap; "
        f"cat {DIR}/khugepaged/max_ptes_swap; "
        f"echo always > {DIR}/enabled; cat /proc/sys/vm/min_free_kbytes /sys/kernel/quire/switches/thp/value; "
        f"echo never > {DIR}/enabled; cat /proc/sys/vm/min_free_kbytes {DIR}/enabled' 2>/dev/null"))
    f = files(run.text)
    assert f["enabled"] == "always [madvise] never"
    assert f["defrag"] == "always defer defer+madvise [madvise] never"
    assert f["hpage_pmd_size"] == "2097152" and "use_zero_page" not in f
    assert {k.split("/")[1]: int(v) for k, v in f.items() if k.startswith("khugepaged/")} == {
        "alloc_sleep_millisecs": 60000, "defrag": 1, "full_scans": 0, "max_ptes_none": 511, "max_ptes_shared": 256,
        "max_ptes_swap": 64, "pages_collapsed": 0, "pages_to_scan": 4096, "scan_sleep_millisecs": 10000}
    lines = run.section("set").split("\n")
    assert lines[:4] == ["[always] defer defer+madvise madvise never", "always [defer] defer+madvise madvise never",
                         "always defer [defer+madvise] madvise never", "always defer defer+madvise madvise [never]"]
    assert lines[4:8] == ["refused", "refused", "refused", "77"]
    plain = int(re.search(r"^(\d+)$", run.text, re.M)[1])
    raised, switch, lowered = (int(n) for n in lines[8:11])
    # two zones: 4 KiB x min(512 x 2 x (2 + 9), 5 % of the memory)
    assert plain < 4000 and 20_000 < raised <= 4 * 512 * 2 * 11 and switch == 2 and lowered == plain
    assert lines[11] == "always madvise [never]"


@pytest.mark.parametrize("words, enabled, defrag", [
    ("transparent_hugepage=always", "[always] madvise never", "[madvise]"),
    ("transparent_hugepage=never", "always madvise [never]", "[madvise]"),
    ("era=2.6.37", "always madvise [never]", "[madvise]"),
    ("era=2.6.38", "[always] madvise never", "[always]"),
    ("era=2.6.38 transparent_hugepage=madvise", "always [madvise] never", "[always]"),
    ("era=3.6", "always [madvise] never", "[madvise]"),
])
def test_boot_words(boot, words, enabled, defrag):
    run = boot(append=f"loglevel=4 {words}", autorun=f"{FILES}; ps | grep -c '[k]hugepaged]'; true")
    f = files(run.text)
    assert f["enabled"] == enabled and defrag in f["defrag"]
    kbytes, threads = re.findall(r"^(\d+)$", run.text, re.M)
    assert (int(kbytes) > 10_000, int(threads)) == ((True, 1) if enabled.startswith("[always]") else (False, 0))


@pytest.mark.parametrize("mode, plain, advised", [("always", 1, 1), ("madvise", 0, 1), ("never", 0, 0)])
def test_calls(boot, mode, plain, advised):
    run = boot(mem="512M", append=f"loglevel=4 transparent_hugepage={mode}", autorun="hugecalls")
    a = answers(run.text)
    assert [a.pop(k) for k in ("plain", "advised", "refused", "again_advised")] == [str(plain), str(advised), "0", str(advised)]
    assert {k: v for k, v in a.items()} == {
        "bad_set": "EINVAL", "bad_get": "EINVAL", "get": "0", "set": "0", "get_set": "1", "disabled_plain": "0",
        "disabled_advised": "0", "fork_plain": "0", "exec_get": "1", "exec_plain": "0", "clear": "0",
        "collapse_refused": "EINVAL", "collapse": "0", "collapse_huge": "1", "collapse_wrong": "0", "collapse_cut": "1",
        "collapse_hole": "ENOMEM"}
