"""Make docs/report.png: the beginning of the report that the README's first commands write.

`python docs/picture.py report/report.html` where these were run; needs playwright and Pillow (both
in the extra `test`) and Chromium. The words on the picture are its description, which a test
compares with those of a new report.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser, sync_playwright

PICTURE = Path(__file__).with_name("report.png")
WIDTH, LAST = 1100, "#answer"


def photograph(browser: Browser, report: Path) -> bytes:
    """Return a picture of a report to the end of its answer, as PNG."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page.goto(report.resolve().as_uri())
    box = page.locator(LAST).bounding_box()
    assert box
    height = box["y"] + box["height"] + 8
    shot = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    words = PngInfo()
    texts = page.locator(f"header, {LAST}").all_inner_texts()
    words.add_itxt("Description", " ".join(" ".join(texts).split()))
    page.close()
    file = io.BytesIO()
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(64)
    image.save(file, "png", optimize=True, pnginfo=words)
    return file.getvalue()


def words_on(picture: Path | io.BytesIO) -> str:
    """Return the words on a picture."""
    with Image.open(picture) as image:
        image.load()
        return str(image.info["Description"])


if __name__ == "__main__":
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        PICTURE.write_bytes(photograph(started, Path(sys.argv[1])))
        started.close()
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} KiB")
