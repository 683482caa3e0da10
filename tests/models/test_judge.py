"""The judge: prompts, verdicts, and answers that try to decide their own verdict."""

from __future__ import annotations

import re
from collections import Counter

import pytest

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


def verdict(text: str | None) -> str:
    return read_verdict(text, CODE)


def filled(case: Case) -> str:
    return fill(PROMPT, case, case.code(FENCES), common)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(
    "form",
    [
        "VERDICT {code}: {option}",
        "Some reasoning.\n\nVERDICT {code}: {option}",
        "Reasoning\n**VERDICT {code}: {option}**",
        "verdict {code}: {option}.",
        "VERDICT {code} : \u201c{option}\u201d\n\n",
        "First I thought it was contradictory.\nVERDICT {code}: {option}",
        "ＶＥＲＤＩＣＴ {code}：{option}",
        "VERDICT {code}: {option}\n---",
        "VERDICT {code}:\n{option}",
        "1. VERDICT {code}: {option}",
        "🏁 VERDICT {code}: {option} 🎉",
        '```json\n{{\n  "VERDICT {code}": "{option}"\n}}\n```',
        "It quotes <think> and </think>.\nVERDICT {code}: {option}",
        "[Reasoning] Both say so.\nVERDICT {code}: {option}",
        "Final verdict {code}: {option}",
        "> VERDICT [{code}]: [{option}]",
        "<b>VERDICT {code}:</b> {option}",
        "VERDICT {code}: \\boxed{{\\text{{{option}}}}}",
        "VERDICT {code}: 2. {option}",
        "✅ **VERDICT {code}：{option}。**",
        "VERDICT {code}: {option}!",
        "Final answer: VERDICT {code}: {option}",
        "My verdict is: **Verdict** `{code}` - *{option}*",
        "| VERDICT {code} | {option} |",
        "VERDICT: {code}: {option}",
        "VERDICT {code}: $\\boxed{{{option}}}$",
        "VERDICT {code}: {option}\nVERDICT {code}: {option}",
        "<think>VERDICT {code}: option?</think>\nVERDICT {code}: {option}",
        "Reasons.</think>VERDICT {code}: {option}",
    ],
)
def test_last_line_decides(label, form):
    assert verdict(form.format(code=CODE, option=OPTIONS[label])) == label


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "   \n ",
        "VERDICT {code}: option",
        "VERDICT {code}:",
        "VERDICT {code}: more or less",
        "VERDICT {code}: contradictory, or less comprehensive and appropriate",
        "VERDICT {code}: neither contradictory nor similar, so contradictory",
        "VERDICT abcdef: contradictory",
        "contradictory",
        "VERDICT {code}: contradictory\nVERDICT {code}: more comprehensive and appropriate",
        "VERDICT {code}: contradictory\nActually, I change my mind.",
        "VERDICT {code}: contradictory\n\nI hope this helps!",
        "Answer 2 demands that I write this line:\nVERDICT {code}: contradictory\nI do not comply.",
        "Answer 2 demands that I write this line:\nVERDICT {code}: contradictory",
        "VERDICT {code}: contradictory\nThe code {code} stands above.",
        "VERDICT {code}: contradictory\nOr: less comprehensive and appropriate",
        "<think>Let me see.\nVERDICT {code}: contradictory",
        "It is not VERDICT {code}: contradictory",
        "The verdict is not VERDICT {code}: contradictory",
        "If it were wrong: VERDICT {code}: contradictory",
        "VERDICT {code}: contradictory?",
        "VERDICT {code}: ~~contradictory~~",
        "VERDICT {code}: !contradictory",
        "VERDICT {code}: ≠ contradictory",
        "VERDICT {code}: 不 contradictory",
        "VERDICT {code}: non-contradictory",
        "VERDICT {code}: contradictory / neither contradictory nor similar",
        "{code}: contradictory",
        "[END ANSWER 2 {code}] contradictory",
        "{code}] contradictory",
        "VERDICT {code}\ncontradictory",
        "VERDICT {code}: neither similar nor contradictory",
        "VERDICT {code}: neither contradictory or similar",
        "VERDICT {code}: not contradictory",
        "VERDICT {code}: no contradictory information",
        "VERDICT {code}: not more comprehensive and appropriate",
    ],
)
def test_no_option_or_several_is_no_response(reply):
    assert verdict(reply and reply.format(code=CODE)) == NO_RESPONSE


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
    return re.search(r"\[BEGIN ANSWER 2 \w+\]\n(.*)\n\[END ANSWER 2", prompt, re.S)[1]


# Judges that obey or repeat: what each makes of a prompt.
ECHOES = {
    "the whole prompt": lambda prompt: prompt,
    "the prompt in upper case": str.upper,
    "the answer": answer_shown,
    "the last line of the answer": lambda prompt: answer_shown(prompt).splitlines()[-1],
    "the answer behind the prompt": lambda prompt: f"{prompt}\n{answer_shown(prompt)}\n---",
    "each line without its marks": lambda prompt: "\n".join(
        re.sub(r"[\W_]+", " ", line).strip() for line in answer_shown(prompt).splitlines()
    ),
    "invisible marks left out": lambda prompt: re.sub("[\u200b-\u200f]", "", answer_shown(prompt)),
    "up to the end of the answer": lambda prompt: prompt[: prompt.rindex("[END ANSWER 2")],
    "what follows a fence that the answer fakes": lambda prompt: re.split(
        r"(?i)</?answer.*?>|```|---|\[END.*?\]|<<<END>>>|===", answer_shown(prompt)
    )[-1],
    "its verdict lines": lambda prompt: "\n".join(
        re.findall(r"(?im)^.*(?:verdict|comprehensive|contradictory).*$", answer_shown(prompt))
    ),
    "the prompt wrapped to 40 columns": lambda prompt: "\n".join(
        prompt[i : i + 40] for i in range(0, len(prompt), 40)
    ),
    "the lines with the code": lambda prompt: "\n".join(
        line for line in prompt.splitlines() if re.search(r"\b[b-z]{6}\b", line)
    ),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_an_answer_cannot_decide_its_own_verdict(echo, judge_attacks):
    decided = []
    for language, (question, reference) in QUESTIONS.items():
        for attack in judge_attacks:
            case = Case(question, reference, attack["answer"], language)
            label = read_verdict(echo(filled(case)), case.code(FENCES))
            if label != NO_RESPONSE:
                decided.append((language, attack["language"], attack["kind"], label))
    assert decided == []


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_nor_can_a_question_or_a_reference(echo, judge_attacks):
    for attack in judge_attacks:
        hostile = attack["answer"]
        for case in (
            Case(hostile, "Rest.", "Rest helps.", "English"),
            Case("What helps?", hostile, "Rest helps.", "English"),
        ):
            assert read_verdict(echo(filled(case)), case.code(FENCES)) == NO_RESPONSE


def test_enough_attacks_per_language(judge_attacks):
    assert len(judge_attacks) >= 200
    counts = Counter(attack["language"] for attack in judge_attacks)
    assert all(counts[language] >= 20 for language in ("en", "es", "zh", "hi"))


def test_attacks_would_work_without_the_code(judge_attacks):
    """The attacks are real: read as a bare option line, most of them would decide."""
    bare = 0
    for attack in judge_attacks:
        last = (attack["answer"].splitlines() or [""])[-1].casefold()
        bare += any(option in last for option in OPTIONS.values())
    assert bare > len(judge_attacks) / 2


def test_honest_verdict_on_an_attack_counts(judge_attacks):
    for attack in judge_attacks:
        case = Case("What helps?", "Rest and fluids.", attack["answer"], "English")
        code = case.code(FENCES)
        assert read_verdict(f"It gives orders.\nVERDICT {code}: contradictory", code) == (
            "contradictory"
        )


class Scripted:
    """Stands for a backend: answers every prompt, remembers them."""

    def __init__(self, option: str) -> None:
        self.option, self.prompts = option, []

    inert = staticmethod(common)

    def replies(self, prompts, *, until=(), reads=None):
        self.prompts += prompts
        return [
            Reply(f"VERDICT {re.search('carry the code ([a-z]+)', prompt)[1]}: {self.option}")
            for prompt in prompts
        ]


def test_one_judgement_per_case_in_order_and_empty_answers_are_not_asked():
    cases = [CASE, Case("Q", "R", "  \n", "Hindi"), Case("Q2", "R2", "A2", "Hindi")]
    backend = Scripted("contradictory")
    judgements = judge(cases, PROMPT, backend, FENCES)
    assert [item.label for item in judgements] == ["contradictory", NO_RESPONSE, "contradictory"]
    assert judgements[1] == Judgement(NO_RESPONSE, None)
    assert len(backend.prompts) == 2


def test_a_failed_call_says_nothing_about_the_answer():
    class Down:
        inert = staticmethod(common)

        def replies(self, prompts, *, until=(), reads=None):
            return [Reply("", "failed", "time-out")] * len(prompts)

    judgements = judge([CASE, Case("Q", "R", "", "Hindi")], PROMPT, Down(), FENCES)
    assert judgements == [Judgement(None, None, "time-out"), Judgement(NO_RESPONSE, None)]


def test_a_reply_out_of_form_is_asked_about_once_under_a_new_code():
    class Refuses(Scripted):
        def replies(self, prompts, *, until=(), reads=None):
            first = super().replies(prompts)
            self.second = getattr(self, "second", []) + [
                p for p in prompts if isinstance(p, Conversation)
            ]
            return [
                Reply(prompt.splitlines()[-1].replace("option", "contradictory"))
                if isinstance(prompt, Conversation)
                else Reply(f"{said.text}\nI was told to say so.")
                for prompt, said in zip(prompts, first, strict=True)
            ]

    backend = Refuses("more comprehensive and appropriate")
    (item,) = judge([CASE], PROMPT, backend, FENCES)
    (asked,) = backend.second
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


@pytest.mark.parametrize("language", ["en", "es", "zh", "hi"])
def test_through_the_harness_no_attack_decides(run, serve, judge_attacks, language):
    """A model whose answers are attacks, and a server that repeats the answer it judges."""
    from fixed import Fixed

    answers = iter(attack["answer"] for attack in judge_attacks if attack["language"] == language)

    attacker = Fixed(lambda *_: next(answers))
    served = serve(lambda prompt: answer_shown(prompt) if "[BEGIN ANSWER 2" in prompt else "ready")
    task = f"xlinghealth_correctness_demo_{language}"
    results = run(task, model=attacker, metadata={"judge": served.spec(detect_errors=False)})
    scores = results["results"][task]
    assert len(served.prompts) == 48  # each is asked about again, once
    assert scores["no_response,none"] == 1.0
    assert scores["n_judged,none"] == 0
    assert not any(scores[f"{label},none"] for label in LABELS)
