"""Make docs/report.png and docs/view.png: the demo's report, and one question in the viewer.

`python docs/picture.py report/report.html out` where the README's first two commands were run;
needs playwright and Pillow (both in the extra `test`), the extra `view` and Debian's chromium.
"""

from __future__ import annotations

import argparse
import io
import subprocess
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parent
WIDTH, LAST = 1150, "#answer"
QUESTION = "xlinghealth_correctness_demo_es/1"


def main() -> None:
    """Photograph the report to the end of its answer, and one question in the viewer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path, help="report.html of the demo")
    parser.add_argument("out", type=Path, help="the run's --output_path")
    options = parser.parse_args()
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(options.report.resolve().as_uri())
        end = page.locator(LAST).bounding_box()
        assert end
        save("report", page, end["y"] + end["height"] + 8)
        with subprocess.Popen(
            ["xling", "view", options.out, "--no-browser", "--open", QUESTION],
            stdout=subprocess.PIPE,
            text=True,
        ) as viewer:
            assert viewer.stdout
            page.goto(viewer.stdout.readline().strip())
            page.locator("#columns > *").first.wait_for()
            page.wait_for_function(
                "!document.getElementById('progress').textContent.startsWith('Reading')"
            )
            save("view", page, 900)
            viewer.terminate()
        browser.close()


def save(name: str, page: Page, height: float) -> None:
    """The page from its top, in few colours: an eighth of the size, and no eye would miss any."""
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    shot = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
    file = DOCS / f"{name}.png"
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(64).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
