"""Reports of old and new results are what they were; see `kept_reports`."""

from __future__ import annotations

from kept_reports import differing, texts


def test_reports_are_what_they_were(tmp_path):
    made = texts(tmp_path)
    assert differing(made) == [], "see `python -m tests.kept_reports HEAD`"


def test_a_word_more_is_seen():
    assert "old/report.md" in differing({"old/report.md": "a word"})
