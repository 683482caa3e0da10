"""How soon `xling view` can be used on a large run, and how much memory it takes.

    python tests/benchmarks/view.py [--megabytes 400] [--questions 10000]

writes the output of a run (that of `report.py` beside), views it twice in processes of their own, the
second time with the index that the first one kept, and prints seconds and the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import common
from report import CODE, large_run, peak


def measured(out: Path, cache: Path) -> dict[str, str]:
    """What a view in a process of its own takes."""
    begin = time.perf_counter()
    words = [sys.executable, "-c", CODE, "view", str(out), "--no-browser"]
    env = {**os.environ, "XLING_CACHE": str(cache)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            return _used(process, begin)
        finally:
            process.kill()


def _used(process: subprocess.Popen[str], begin: float) -> dict[str, str]:
    assert process.stdout is not None
    address = process.stdout.readline().strip()

    def since(moment: float, decimals: int = 2) -> str:
        return f"{time.perf_counter() - moment:.{decimals}f} s"

    def get(name: str, **values: object) -> dict:
        with urllib.request.urlopen(f"{address}api/{name}?{urlencode(values)}") as answer:
            return json.load(answer)

    def took(name: str, **values: object) -> str:
        moment = time.perf_counter()
        get(name, **values)
        return since(moment)

    urllib.request.urlopen(address).read()
    found = {"page after": since(begin, 1)}
    while not (listed := get("list"))["items"]:
        time.sleep(0.05)
    found["questions after"] = since(begin, 1)
    while not get("state")["finished"]:
        time.sleep(0.5)
    found["all read after"] = since(begin, 1)
    item = listed["items"][0]
    number = get("find", task=item["link"], question=item["question"])["id"]
    found["list"] = took("list", label="contradictory", gap="behind")
    found["order by gap"] = took("list", sort="gap")
    found["search of a rare word"] = took("list", text="nowhere at all")
    found["search of a common word"] = took("list", text="tablet fever")
    found["question"] = took("question", id=number, languages="en,es,zh,hi")
    status = Path(f"/proc/{process.pid}/status").read_text()
    found["peak memory"] = f"{peak(status):.0f} MB"
    begin = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    return {**found, "Ctrl-C": since(begin)}


def main() -> None:
    """Make, view twice, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=400)
    parser.add_argument("--questions", type=int, default=10000, help="per task")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out, cache = Path(temporary) / "out", Path(temporary) / "cache"
        size = large_run(out, options.megabytes, options.questions)
        first, again = (measured(out, cache) for _ in range(2))
        index = sum(path.stat().st_size for path in (cache / "view").iterdir())
    print(f"{size / 1e6:.0f} MB of samples; index {index / 1e6:.0f} MB\n")
    common.show("", "first view", "again", head=True)
    for name, value in first.items():
        common.show(name, value, again[name])


if __name__ == "__main__":
    main()
