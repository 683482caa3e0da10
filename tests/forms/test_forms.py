"""Every way to answer is read in every language that has it; a missing cell raises."""

from __future__ import annotations

from collections import Counter

import pytest
from conftest import DATA, read_jsonl
from forms import forms

from xling_tasks.criteria import NO_RESPONSE
from xling_tasks.models.judge import read_verdict as read_judge
from xling_tasks.readers.phrase_files import expanded, of_part, phrases, twice
from xling_tasks.readers.plain import one_form
from xling_tasks.readers.verdict_lexer import spelled


@pytest.mark.parametrize("kind", forms.KINDS)
def test_no_form_is_read_wrong(kind):
    wrong = [each for each in forms.said(kind) if each.outcome == "wrong"]
    assert wrong == []


@pytest.mark.parametrize(("kind", "rows"), [("letters", 60), ("verdicts", 50), ("judges", 30)])
def test_every_form_is_read_in_every_language(kind, rows):
    """At most 2 points between two languages; a form unread in one of them is a gap of its own."""
    said = [each for each in forms.said(kind) if each.means is not None]
    assert len({each.form for each in forms.said(kind)}) >= rows
    read: Counter[str] = Counter(each.language for each in said if each.outcome == "read")
    shares = [read[language] / n for language, n in Counter(s.language for s in said).items()]
    assert min(shares) > 0.98 and max(shares) - min(shares) <= 0.02


def test_a_missing_cell_fails(tmp_path, monkeypatch):
    table = (
        (forms.HERE / "letters.yaml")
        .read_text("utf-8")
        .replace("  label:\n    en:", "  label:\n    xx:")
    )
    (tmp_path / "letters.yaml").write_text(table, "utf-8")
    monkeypatch.setattr(forms, "HERE", tmp_path)
    with pytest.raises(ValueError, match="label"):
        list(forms.rows("letters"))


@pytest.mark.parametrize("kind", ["letter", "verdict"])
def test_replies_written_before_the_rules_were_looked_at_are_never_read_wrong(kind):
    said = [forms.fresh(kind, case) for case in read_jsonl(DATA / f"{kind}_fresh_replies.jsonl")]
    assert len(said) >= 240 and [each for each in said if each.outcome == "wrong"] == []
    clear = Counter(each.language for each in said if each.means is not None)
    unread = Counter(each.language for each in said if each.outcome == "unread")
    shares = [unread[language] / n for language, n in clear.items()]
    assert max(shares) < 0.08 and max(shares) - min(shares) < 0.05


def test_replies_of_judges_written_before_the_rules_were_looked_at_are_never_read_wrong():
    cases = read_jsonl(DATA / "judge_fresh_replies.jsonl")
    said = [(case, read_judge(case["reply"], "bgkqtx")) for case in cases]
    assert len(cases) >= 180
    assert [each for each in said if each[1] not in (NO_RESPONSE, each[0]["means"])] == []
    clear = [label for case, label in said if case["means"]]
    assert clear.count(NO_RESPONSE) <= 0.15 * len(clear)  # these are asked again


def test_a_phrase_with_alternatives_stands_for_all_of_them():
    assert [*expanded("(i|we) (will|) go")] == ["i will go", "i go", "we will go", "we go"]
    assert [*expanded("respuesta(s)")] == ["respuesta(s)"]
    assert "one should pick" in of_part(phrases()["en"], "")["choose"]


def test_no_phrase_stands_twice_in_a_language():
    """Of two the first kind counts, and the other is dead: whoever changes it wonders."""
    assert list(twice()) == []


def test_phrases_of_verdicts_stand_in_the_spelling_that_replies_are_read_in():
    """A contraction or a traditional character in a file would never be met."""
    other = [
        (language, text)
        for language, kinds in phrases().items()
        for texts in of_part(kinds, "verdict").values()
        for text in texts
        if spelled(one_form(text)) != one_form(text)
    ]
    assert other == []
