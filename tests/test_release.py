"""What a release needs, read from the files themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from xling_tasks import __version__

tomllib = pytest.importorskip("tomllib")  # of Python 3.11

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_said_once_more_for_who_cites():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    papers = {item["value"] for own in cited["references"] for item in own["identifiers"]}
    assert papers == {"arXiv:2310.13132", "arXiv:2402.13963", "arXiv:2505.21999"}


def test_every_python_that_is_claimed_is_tested():
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    flow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert flow["jobs"]["tests"]["strategy"]["matrix"]["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


def test_every_page_is_in_the_site():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    parts = (part.values() if isinstance(part, dict) else [[part]] for part in site["nav"])
    pages = [page for part in parts for own in part for page in own]
    assert sorted(pages) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
