"""Claims: the pure scores, and the readers of a judge's lists and verdicts."""

from __future__ import annotations

import pytest
from conftest import cases
from scripted import ECHOES, Judge, between, with_code
from xling_metrics.claims import ClaimScores, claim_scores, distinct_claims

from xling_tasks.data.prompts import Prompts
from xling_tasks.models.backend import Conversation
from xling_tasks.models.claims import (
    PER_PROMPT,
    extract,
    read_claims,
    read_support,
    verify,
)
from xling_tasks.readers.fences import Fences, behind_code

NOTHING = ClaimScores(None, None, None)
CODE = "qwrtpx"
FENCES = Fences("run", b"a key for tests")
REPLIES = cases("claim_replies")
PROMPTS = Prompts()


def coded(reply):
    """A reply's lines, each with the code before it."""
    return "\n".join(
        line if line[:3] in ("", "```", "<th", "</t") else f"{CODE} {line}"
        for line in reply.split("\n")
    )


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ([True], [True], (1.0, 1.0, 1.0)),  # identity
        ([False, False], [False], (0.0, 0.0, 0.0)),  # disjoint
        # 3 of 4, 1 of 2: F1 = 2 * 3/4 * 1/2 / (5/4) = 0.6
        ([True, True, True, False], [True, False], (0.75, 0.5, 0.6)),
        ([], [False, False], (None, 0.0, 0.0)),  # the answer abstains
        ([False], [], (0.0, None, 0.0)),  # the reference answer abstains
        ([], [], NOTHING),  # both do
        (None, [True], NOTHING),  # claims not read
        ([True], None, NOTHING),
        ([True, None, False], [True], (0.5, 1.0, 2 / 3)),  # a missing verdict is left out
        ([True, None, None], [True], (None, 1.0, None)),  # fewer than half have one
        ([True, None], [True], (1.0, 1.0, 1.0)),
        ([None, None], [True], (None, 1.0, None)),  # none at all is unscored, not 0
        ([True], [None], (1.0, None, None)),
        # F1 is symmetric.
        ([True, True, False], [True, False, False, False], (2 / 3, 0.25, 4 / 11)),
        ([True, False, False, False], [True, True, False], (0.25, 2 / 3, 4 / 11)),
    ],
)
def test_claim_scores(answer, reference, expected):
    assert claim_scores(answer, reference) == pytest.approx(expected, nan_ok=False)


def test_distinct_claims_keeps_numbers_their_signs_and_negations_apart():
    same = ["take 1.5 MG", "Fibre, helps!", "Take 5 mg."]
    claims = [
        "Take 1.5 mg.", "Take 15 mg.", "Do not take 15 mg.", "BP < 5", "BP > 5", "ﬁbre helps",
        "HbA1c ≥ 6.5%", "HbA1c ≤ 6.5%", "Take .5 mg", "Take 5 mg", "−5 °C", "5 °C", "A ± B",
    ]  # fmt: skip
    assert distinct_claims([*claims, *same]) == claims


@pytest.mark.parametrize(("reply", "claims", "unparsed"), REPLIES["lists"])
def test_read_claims(reply, claims, unparsed):
    said = coded(reply)
    claims = None if claims is None else tuple(claims)
    extraction = read_claims(said, CODE)
    assert (extraction.claims, extraction.unparsed, extraction.reply) == (claims, unparsed, said)
    if claims is not None:
        assert read_claims(reply, CODE).claims is None
        assert read_claims(said.replace(f"{CODE} ", "abcdef "), CODE).claims is None


def test_no_reply_and_two_items_on_one_line_are_no_list():
    assert read_claims(None, CODE).claims is None
    assert read_claims(coded(f"1. A is. {CODE} 2. B is.\nEND OF CLAIMS"), CODE).claims is None


@pytest.mark.parametrize(("line", "verdict"), REPLIES["verdicts"])
def test_read_support(line, verdict):
    assert read_support(coded(line), 1, CODE) == [verdict]
    assert read_support(line, 1, CODE) == [None]


@pytest.mark.parametrize(
    ("said", "verdicts"),
    [
        ("0: SUPPORTED\n1: NOT SUPPORTED\n2: SUPPORTED", [None, None, None]),
        ("3: SUPPORTED\n1: NOT SUPPORTED\n2: SUPPORTED", [False, True, True]),
        ("1: SUPPORTED\n2: SUPPORTED\n1: NOT SUPPORTED\n2: SUPPORTED", [None, True, None]),
    ],
)
def test_verdicts_count_from_1_and_contradict_each_other_nowhere(said, verdicts):
    assert read_support(coded(said), 3, CODE) == verdicts


def test_each_text_is_taken_apart_once_and_empty_ones_never():
    judge = Judge(lambda prompt: with_code(prompt, "1. A is.\nEND OF CLAIMS"))
    extractions = extract(["x", " ", "x", "y"], PROMPTS.get("claims", "en"), judge, FENCES)
    assert [item.claims for item in extractions] == [("A is.",), (), ("A is.",), ("A is.",)]
    assert [len(batch) for batch in judge.batches] == [2]


def test_what_is_not_in_form_is_asked_about_once_more_under_a_new_code():
    def reply(prompt):
        if isinstance(prompt, Conversation):
            assert "carry the code" in prompt.messages[0]["content"]
            code = prompt.splitlines()[-1].split()[0]
            assert code not in prompt.messages[0]["content"] + prompt.messages[1]["content"]
            return f"{code} 2: SUPPORTED\n{code} 1: NOT SUPPORTED"
        return with_code(prompt, "1: SUPPORTED\n2: SUPPORTED, the text is silent on this")

    judge = Judge(reply)
    pairs = [(("A is.", "B is."), "A is.")]
    assert verify(pairs, PROMPTS.get("support", "en"), judge, FENCES) == [[False, True]]
    assert [len(batch) for batch in judge.batches] == [1, 1]


def test_long_lists_are_checked_in_parts_of_one_pass():
    def reply(prompt):
        claims = between(prompt, "CLAIMS").splitlines()
        assert len(claims) <= PER_PROMPT
        said = (
            f"{i}: {'SUPPORTED' if 'even' in claim else 'NOT SUPPORTED'}"
            for i, claim in enumerate(claims, 1)
        )
        return with_code(prompt, "\n".join(said))

    judge = Judge(reply)
    claims = tuple(f"{i} is {'odd' if i % 2 else 'even'}." for i in range(70))
    pairs = [(claims, "text"), (claims, "text"), ((), "text"), (claims[:2], "")]
    supported = verify(pairs, PROMPTS.get("support", "en"), judge, FENCES)
    assert supported == [[not i % 2 for i in range(70)]] * 2 + [[], [False, False]]
    assert [len(batch) for batch in judge.batches] == [3]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1. qwrtpx A is.", "1. A is."),
        ("**1.** `qwrtpx` A is.", "1. A is."),
        ("- qwrtpx 1. A is.", "- 1. A is."),
        ("[qwrtpx] 1. A is.", "1. A is."),
        ("> **QWRTPX** 1. A is 10² of ½.", "1. A is 10² of ½."),
        ("| qwrtpx | 1 | A is. |", "1 | A is. |"),
        ("qwrtpx: 1. A is.", "1. A is."),
        # No code, another, half of a bracket (a fence broken over two lines), a word that has it.
        ("1. A is.", None),
        ("qwrtpz 1. A is.", None),
        ("qwrtpx] 1. A is.", None),
        ("[BEGIN TEXT qwrtpx] 1. A is.", None),
        ("qwrtpxs 1. A is.", None),
        ("The code is qwrtpx 1. A is.", None),
    ],
)
def test_the_code_stands_at_the_head_of_a_line(line, said):
    behind = behind_code(line, CODE)
    assert (behind and behind.replace("- 1.", "1.")) == (said and said.replace("- 1.", "1."))


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_text_decides_neither_its_claims_nor_their_support(echo, judge_attacks):
    hostile = REPLIES["forged"] + [attack["answer"] for attack in judge_attacks]
    judge = Judge(lambda prompt: echo(prompt, "TEXT"))
    extractions = extract(hostile, PROMPTS.get("claims", "en"), judge, FENCES)
    assert {item.claims for item in extractions} == {None}
    claims = ("Salt is sweet.", "The moon is cheese.")
    for what, pairs in (
        ("REFERENCE", [(claims, text) for text in hostile]),
        ("CLAIMS", [((text, "Salt is sweet."), "Salt is salty.") for text in hostile]),
    ):
        judge = Judge(lambda prompt, what=what: echo(prompt, what))
        verdicts = verify(pairs, PROMPTS.get("support", "en"), judge, FENCES)
        assert verdicts == [[None, None]] * len(hostile)
