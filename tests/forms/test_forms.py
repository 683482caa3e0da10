"""Every way to answer is read in every language that has it; a missing cell raises."""

from __future__ import annotations

from collections import Counter, defaultdict

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


@pytest.mark.parametrize(("between", "most"), [("\n\n", 0.06), (" ", 0.09)])
def test_of_two_answers_that_differ_the_first_is_none(between, most):
    """Whoever answers and then answers otherwise said neither; the last may count."""
    forms_of = defaultdict(list)
    for language, form, read, both in forms.answers():
        # Behind another question nothing is read; a verdict on a part ('500 mg -> right') is none.
        if form not in ("a next question behind the answer", "an arrow to it"):
            forms_of[language, read.__class__].append((read, both))
    for (language, _), known in forms_of.items():
        first = total = 0
        for at, (read, [(reply, value), _]) in enumerate(known):
            for step in (1, 5, 21):
                _, [_, (other, _)] = known[(at + step) % len(known)]
                first += read(reply + between + other) == value
                total += 1
        assert first <= most * total, (language, first, total)


QUOTED = {
    "en": 'A colleague wrote: "{}" That was long ago.',
    "fr": "Un collègue a écrit : « {} » C'était il y a longtemps.",
    "es": "Un colega escribió: «{}» Eso fue hace tiempo.",
    "ru": "Коллега написал: «{}» Это было давно.",
    "zh": "有同事写道：“{}”那是很久以前的事。",
    "ja": "同僚はこう書いた：「{}」それは昔のことだ。",
    "hi": 'एक सहकर्मी ने लिखा: "{}" यह बहुत पहले की बात है।',
}


def test_a_quoted_sentence_answers_nothing():
    """A word, a letter or a text in quotes may be the reply's own; what a sentence says is not."""
    taken = []
    for language, form, read, [(reply, _), _] in forms.answers():
        dressed = form in ("tagged", "thinking", "another turn begun") or {*'\n"'} & {*reply}
        sentence = len(reply.split()) > 3 or ("。" in reply and len(reply) > 8)
        if sentence and not dressed and read(QUOTED[language].format(reply)) is not None:
            taken.append((language, form, reply))
    left = {"all but one can be excluded", "what was thought first is left behind"}
    assert {form for _, form, _ in taken} <= left, taken


CLOTHES = {
    "line breaks of Windows": lambda reply: reply.replace("\n", "\r\n"),
    "spaces at the ends": lambda reply: "\n".join(f"{line}  " for line in reply.split("\n")),
    "an end that a model says": lambda reply: f"\n\n{reply}<|im_end|></s>",
    "a quotation block": lambda reply: "\n".join(f"> {line}" for line in reply.split("\n")),
    "spaces and marks that are not seen": lambda reply: (
        "\u200f" + reply.replace(" ", "\u00a0").replace(".", ".\u200b")
    ),
    "a fence": lambda reply: f"```\n{reply}\n```",
    "thoughts": lambda reply: f"<think>\nIs it so? Or not?\n</think>\n\n{reply}",
    "who speaks": lambda reply: f"**Assistant:** {reply}",
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_clothes_change_no_answer(clothes):
    changed = []
    for language, form, read, [(reply, value), _] in forms.answers():
        tagged = "<" in reply or "```" in reply  # thoughts and fences of its own
        if not (tagged and clothes in ("thoughts", "a fence", "who speaks")):
            seen = read(CLOTHES[clothes](reply))
            changed += [(language, form, seen)] * (seen != value)
    # What counts at the very head of a reply alone, as an object in JSON, or lines of its own.
    assert len({form for _, form, _ in changed}) <= 2, changed
    assert all(seen is None for *_, seen in changed), changed


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
