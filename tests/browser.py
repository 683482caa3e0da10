"""What tests of pages share: sizes of screens, what a first screen shows, and axe-core's findings.

The fixture `browser` (`conftest.py`) starts a headless Chromium; `Opened` is a page in it.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

WIDE, PHONE = (1280, 800), (390, 844)
"""Screens, as (width, height), at which a page is looked at."""

PATIENCE = 180.0
"""Seconds after which what a page was to show or do has failed; only a page that is wrong waits."""

AXE = "axe-core@4.14.1"
_AXE_SHA512 = (
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)


def context_of(browser: Any, **options: Any) -> Any:
    """A context of a browser, in which everything may take `PATIENCE`; options as playwright's."""
    context = browser.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    return context


class Opened:
    """A page in a browser context of its own, with everything it asked for and said."""

    def __init__(
        self, browser: Any, url: str | Path, size: tuple[int, int] = WIDE, **options: Any
    ) -> None:
        viewport = {"width": size[0], "height": size[1]}
        self.context = context_of(browser, viewport=viewport, **options)
        self.page = self.context.new_page()
        self.size = size
        self.requests: list[str] = []
        self.noise: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        for kind in ("pageerror", "console"):
            self.page.on(kind, lambda what: self.noise.append(str(getattr(what, "text", what))))
        self.page.on("dialog", lambda dialog: (self.noise.append(dialog.message), dialog.accept()))
        self.url = url.resolve().as_uri() if isinstance(url, Path) else url
        self.page.goto(self.url)

    def well(self) -> bool:
        """Whether nothing was loaded but the page and its pictures, and nothing went wrong."""
        loaded = {url for url in self.requests if not url.startswith(("data:", "blob:"))}
        return loaded == {self.url} and self.noise == []

    def unfold(self) -> None:
        """Open everything that is folded."""
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((e) => { e.open = true; })"
        )

    def fits(self) -> bool:
        """Whether nothing is wider than the screen."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    def on_first_screen(self, selector: str) -> bool:
        """Whether there are such elements and all of them are seen in full without scrolling."""
        boxes = [item.bounding_box() for item in self.page.locator(selector).all()]
        return bool(boxes) and all(box is not None and self._inside(box) for box in boxes)

    def _inside(self, box: dict[str, float]) -> bool:
        width, height = self.size
        across = box["x"] >= 0 and box["x"] + box["width"] <= width + 0.5
        shown = box["width"] > 0 and box["height"] > 0
        return shown and across and box["y"] >= 0 and box["y"] + box["height"] <= height + 0.5


def reload_with_its_store(page: Any) -> None:
    """Reload a page with what its browser had saved: a busy Chromium may show an empty store."""
    saved = page.evaluate("({...localStorage})")
    for _ in range(20):
        page.reload()
        if page.evaluate("({...localStorage})") == saved:
            return
        keep = "(all) => Object.entries(all).forEach(([k, v]) => localStorage[k] = v)"
        page.evaluate(keep, saved)
    raise AssertionError("the browser does not keep what a page saves")


def axe(page: Any, **options: Any) -> list[str]:
    """What axe-core finds wrong with a page, a line per violation; options as `axe.run` has them."""
    page.evaluate(_axe_code())
    violations = page.evaluate(
        "async (options) => (await axe.run(document, options)).violations",
        {"resultTypes": ["violations"], "preload": False, **options},
    )
    return [
        f"{item['id']}: {item['help']}: "
        + "; ".join(f"{node['target']} {node['html'][:120]}" for node in item["nodes"][:5])
        for item in violations
    ]


@functools.cache
def _axe_code() -> str:
    """axe-core's code, by npm; the test is skipped where there is none."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes by npm, which is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", AXE, "--silent", "--prefer-offline", "--fetch-retries=1"]
        try:
            made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not fetch {AXE} within 300 s (no network?)")
        packed = [path.read_bytes() for path in Path(folder).glob("*.tgz")]
    if made.returncode or len(packed) != 1:
        pytest.skip(f"npm could not fetch {AXE} (no network?): {made.stderr.strip()[-200:]}")
    assert base64.b64encode(hashlib.sha512(packed[0]).digest()).decode() == _AXE_SHA512, AXE
    with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode("utf-8")
