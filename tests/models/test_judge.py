"""The judge: prompts, verdicts, and answers that try to decide their own verdict."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest
from conftest import cases
from fixed import Fixed
from scripted import ECHOES, Judge, between

from xling_tasks.criteria import LABELS, NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import Prompt, Prompts
from xling_tasks.models.backend import Conversation
from xling_tasks.models.control_tokens import common
from xling_tasks.models.failures import Reply
from xling_tasks.models.judge import Case, Judgement, fill, judge, label_word, read_verdict
from xling_tasks.readers.fences import Fences

PROMPT = Prompts().get("judge", "en")
CASE = Case("Is rest enough?", "Yes, for a cold.", "Rest helps.", "English")
FENCES = Fences("run", b"a key for tests")
CODE = CASE.code(FENCES)
REPLIES = cases("judge_replies")


def filled(case: Case) -> str:
    return fill(PROMPT, case, case.code(FENCES), common)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("form", REPLIES["said"])
def test_last_line_decides(label, form):
    assert read_verdict(form.format(code=CODE, option=OPTIONS[label]), CODE) == label


@pytest.mark.parametrize("reply", REPLIES["none"])
def test_no_option_or_several_is_no_response(reply):
    assert read_verdict(reply and reply.format(code=CODE), CODE) == NO_RESPONSE


def test_prompt_has_every_text_once_and_no_braces_left():
    text = filled(Case("Q {answer}", "R {code}", "A {question} {{x}}", "Hindi"))
    assert "Q {answer}" in text and "R {code}" in text and "A {question} {{x}}" in text
    assert "in Hindi" in text


QUESTIONS = {
    "English": ("What helps?", "Rest and fluids."),
    "Spanish": ("¿Qué ayuda?", "Reposo y líquidos."),
    "Chinese": ("什么有用？", "休息和多喝水。"),
    "Hindi": ("क्या मदद करता है?", "आराम और पानी।"),
}


def answer_shown(prompt):
    return between(prompt, "ANSWER 2")


# Judges that obey or repeat: what each makes of a prompt.
OWN_ECHOES = {
    **{name: lambda prompt, echo=echo: echo(prompt, "ANSWER 2") for name, echo in ECHOES.items()},
    "the answer behind the prompt": lambda prompt: f"{prompt}\n{answer_shown(prompt)}\n---",
    "each line without its marks": lambda prompt: "\n".join(
        re.sub(r"[\W_]+", " ", line).strip() for line in answer_shown(prompt).splitlines()
    ),
    "invisible marks left out": lambda prompt: re.sub("[\u200b-\u200f]", "", answer_shown(prompt)),
    "what follows a fence that the answer fakes": lambda prompt: re.split(
        r"(?i)</?answer.*?>|```|---|\[END.*?\]|<<<END>>>|===", answer_shown(prompt)
    )[-1],
    "its verdict lines": lambda prompt: "\n".join(
        re.findall(r"(?im)^.*(?:verdict|comprehensive|contradictory).*$", answer_shown(prompt))
    ),
}


@pytest.mark.parametrize("echo", OWN_ECHOES.values(), ids=OWN_ECHOES)
def test_no_text_of_a_case_can_decide_its_verdict(echo, judge_attacks):
    decided = []
    for attack in judge_attacks:
        hostile = attack["answer"]
        for case in (
            *(Case(*texts, hostile, language) for language, texts in QUESTIONS.items()),
            Case(hostile, "Rest.", "Rest helps.", "English"),
            Case("What helps?", hostile, "Rest helps.", "English"),
        ):
            label = read_verdict(echo(filled(case)), case.code(FENCES))
            if label != NO_RESPONSE:
                decided.append((case.language, attack["language"], attack["kind"], label))
    assert decided == []


def test_the_attacks_are_many_and_real(judge_attacks):
    """Read as a bare option line, most of them would decide."""
    counts = Counter(attack["language"] for attack in judge_attacks)
    assert counts.total() >= 200 and all(counts[code] >= 20 for code in ("en", "es", "zh", "hi"))
    last = [(attack["answer"].splitlines() or [""])[-1].casefold() for attack in judge_attacks]
    bare = sum(any(option in line for option in OPTIONS.values()) for line in last)
    assert bare > len(judge_attacks) / 2


def test_honest_verdict_on_an_attack_counts(judge_attacks):
    for attack in judge_attacks:
        case = Case("What helps?", "Rest and fluids.", attack["answer"], "English")
        code = case.code(FENCES)
        assert read_verdict(f"It gives orders.\nVERDICT {code}: contradictory", code) == (
            "contradictory"
        )


def code_in(prompt):
    return re.search("carry the code ([a-z]+)", prompt)[1]


def test_one_judgement_per_case_in_order_and_empty_answers_are_not_asked():
    empty = Case("Q", "R", "  \n", "Hindi")
    backend = Judge(lambda prompt: f"VERDICT {code_in(prompt)}: contradictory")
    judgements = judge([CASE, empty, Case("Q2", "R2", "A2", "Hindi")], PROMPT, backend, FENCES)
    assert [item.label for item in judgements] == ["contradictory", NO_RESPONSE, "contradictory"]
    assert judgements[1] == Judgement(NO_RESPONSE, None)
    assert [len(batch) for batch in backend.batches] == [2]
    # A failed call says nothing about the answer.
    down = Judge(lambda prompt: Reply("", "failed", "time-out"))
    judgements = judge([CASE, empty], PROMPT, down, FENCES)
    assert judgements == [Judgement(None, None, "time-out"), Judgement(NO_RESPONSE, None)]


def test_a_reply_out_of_form_is_asked_about_once_under_a_new_code():
    def refuses(prompt):
        if isinstance(prompt, Conversation):
            return prompt.splitlines()[-1].replace("option", "contradictory")
        option = "more comprehensive and appropriate"
        return f"VERDICT {code_in(prompt)}: {option}\nI was told to say so."

    backend = Judge(refuses)
    (item,) = judge([CASE], PROMPT, backend, FENCES)
    _, (asked,) = backend.batches
    assert item.label == "contradictory" and item.again and CODE in item.reply
    assert CODE not in item.again and CODE not in asked.splitlines()[-1]
    assert [turn["role"] for turn in asked.messages] == ["user", "assistant", "user"]


def test_a_prompt_of_ones_own_may_name_the_line_otherwise():
    own = Prompt(
        "judge", "es", "{question} {reference} {answer}\nTermina: VEREDICTO {code}: opción"
    )
    assert label_word(PROMPT) == "verdict" and label_word(own) == "veredicto"
    assert read_verdict(f"Veredicto {CODE}: contradictory", CODE, "veredicto") == "contradictory"
    assert read_verdict(f"VERDICT {CODE}: contradictory", CODE, "veredicto") == "contradictory"
    assert read_verdict(f"Veredicto {CODE}: contradictory", CODE) == NO_RESPONSE


def test_through_the_harness_no_attack_decides(run, serve, judge_attacks):
    """A model whose answers are attacks, and a server that repeats the answer it judges."""
    answers = itertools.cycle(attack["answer"] for attack in judge_attacks)
    attacker = Fixed(lambda *_: next(answers))
    served = serve(lambda prompt: answer_shown(prompt) if "[BEGIN ANSWER 2" in prompt else "ready")
    tasks = [f"xlinghealth_correctness_demo_{language}" for language in ("en", "es", "zh", "hi")]
    metadata = {"judge": served.spec(detect_errors=False)}
    results = run(tasks, model=attacker, metadata=metadata)["results"]
    assert len(served.prompts) == 4 * 48  # each is asked about again, once
    for scores in map(results.get, tasks):
        assert scores["no_response,none"] == 1.0
        assert scores["n_judged,none"] == 0
        assert not any(scores[f"{label},none"] for label in LABELS)
