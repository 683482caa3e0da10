"""One text for different prompts: a service's trouble in any language, or what the model says."""

from __future__ import annotations

import random

import pytest
from conftest import cases
from lm_eval.api.registry import get_model

from xling_tasks.errors import BackendError
from xling_tasks.models.calls import stream
from xling_tasks.models.failures import HELD, REFUSED, REPEATED, Reply, error_text
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Call

TEXTS = cases("service_texts")
TROUBLE, DECLINES = TEXTS["trouble"], TEXTS["declines"]
LIMITS = Limits(attempts=1, strict=True, doubt=True)


def turn(texts, *ways):
    """Each text in one of the ways, which take turns: what is done does not depend on a language."""
    return [(text, *ways[i % len(ways)]) for i, text in enumerate(texts)]


def replies_of(served, number, temperature, reads=None, found=None, **more):
    """The replies to some questions, each with a seed; `found` gets them as they arrive."""
    found = {} if found is None else found
    lm = get_model("local-chat-completions")(**served.spec()["model_args"])
    chats = [[{"role": "user", "content": question(i)}] for i in range(number)]
    given = {"temperature": temperature, "until": ["x"], "max_gen_toks": 5, **more}
    calls = [
        Call(lm.apply_chat_template(chat), {"seed": seed, **given}, reads)
        for seed, chat in enumerate(chats)
    ]
    for arrived in stream(lm, calls, LIMITS, Health("the model", LIMITS, 4)):
        found.update(arrived)
    return [found[i] for i in range(number)]


def question(number):
    """Prompts that differ by more than a number."""
    return f"question {''.join(chr(97 + int(c)) for c in str(number))}"


def own(prompt):
    return f"Rest well and drink, said {prompt}."


@pytest.mark.parametrize(("text", "temperature"), turn(TROUBLE, (0,), (1,)))
def test_the_trouble_of_a_moment_in_any_language_is_no_answer(serve, caplog, text, temperature):
    draw = random.Random(3)

    def says(prompt):  # whatever is asked: a service in trouble does not look at it
        return text.replace("17", str(draw.randrange(99))) if draw.random() < 0.1 else own(prompt)

    served = serve(says)
    served.whole = lambda reply: not reply.startswith("Rest")
    replies = replies_of(served, 200, temperature)
    wrong = [r for i, r in enumerate(replies) if r.text != own(question(i)) and not r.failed]
    assert not wrong and sum(r.failed for r in replies) <= 8
    assert "an error of the service" in caplog.text


@pytest.mark.parametrize("text", TROUBLE[:4])
def test_trouble_that_stays_ends_the_run_in_words(serve, text):
    count, found = iter(range(10_000)), {}
    served = serve(lambda p: own(p) if next(count) < 30 else text)
    served.whole = lambda reply: reply == text
    with pytest.raises(BackendError, match="whatever is asked, it says"):
        replies_of(served, 2000, 0, found=found)
    assert len(served.prompts) < 300  # it does not pay for the rest
    good = {i: r for i, r in found.items() if not r.failed}
    assert all(r.text == own(question(i)) for i, r in good.items()) and len(good) == 30


@pytest.mark.parametrize("text", TROUBLE)
def test_nothing_but_trouble_ends_the_run(serve, text):
    served = serve(lambda p: text)
    served.whole = lambda reply: True
    for number in (60, 5):
        with pytest.raises(BackendError, match="whatever is asked, it says"):
            replies_of(served, number, 1)


@pytest.mark.parametrize(
    ("refusal", "share", "temperature"), turn(DECLINES, (0.3, 0), (1.0, 0), (0.3, 1), (1.0, 1))
)
def test_a_model_that_declines_in_any_language_is_left_alone(serve, temperature, share, refusal):
    """Some questions, or everything, sums too."""
    draw = random.Random(5)

    def says(prompt):
        own_draw = random.Random(prompt) if temperature == 0 else draw
        return refusal if own_draw.random() < share else own(prompt)

    served = serve(says)
    replies = [r.text for r in replies_of(served, 80, temperature)]
    assert replies.count(refusal) == pytest.approx(80 * share, abs=16)
    assert all(r in (refusal, own(question(i))) for i, r in enumerate(replies))
    if temperature == 0:
        assert replies == [says(question(i)) for i in range(80)]


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_model_that_thinks_before_it_declines(serve, share):
    """It says nothing where there is little room, and ends at a stop."""
    draw = random.Random(6)
    served = serve(lambda p: DECLINES[0] if draw.random() < share else own(p))
    served.least = 100
    replies = replies_of(served, 80, 1, max_gen_toks=900)
    assert sum(r.text == DECLINES[0] for r in replies) == pytest.approx(80 * share, abs=16)
    assert not any(r.failed for r in replies)
    served.whole = lambda reply: True  # and takes no stops
    served.reply = lambda p: DECLINES[0] if random.Random(p).random() < share else own(p)
    replies = [r.text for r in replies_of(served, 80, 1, max_gen_toks=900, seed=0)]
    assert replies == [served.reply(question(i)) for i in range(80)]


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_text_that_a_gate_says_to_some_prompts_is_no_answer(serve, temperature):
    """The others are answered, and it never depends on the room for it."""
    gate = "Vaše žádost byla zablokována."
    served = serve(lambda p: gate if random.Random(p).random() < 0.3 else own(p))
    served.whole = lambda reply: reply == gate
    replies = replies_of(served, 80, temperature)
    for i, reply in enumerate(replies):
        expected = served.reply(question(i))
        assert reply == (Reply("", REFUSED, HELD) if expected == gate else Reply(expected))


def test_a_model_with_one_answer_to_its_field_is_left_alone(serve, caplog):
    """It answers other questions otherwise."""
    served = serve(lambda p: "Bitte fragen Sie Ihren Arzt." if "question" in p else "7")
    assert {r.text for r in replies_of(served, 50, 0)} == {"Bitte fragen Sie Ihren Arzt."}
    assert "50 of 50 requests got one and the same reply" in caplog.text


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_a_sentence_that_a_model_draws_for_any_question_is_its_own(serve, share):
    """To ask for it again would make it rarer than it is."""
    draw, said = random.Random(4), "Da kann ich dir leider nicht weiterhelfen, frag bitte woanders."

    def says(prompt):
        return said if "question" in prompt and draw.random() < share else own(prompt)

    served = serve(says)
    replies = replies_of(served, 200, 1)
    assert not any(reply.failed for reply in replies)
    found = sum(reply.text == said for reply in replies) / 200
    assert found == pytest.approx(share, abs=0.1)


def test_what_was_asked_for_may_be_the_same_and_an_echo_is_not(serve):
    served = serve(lambda p: "Yes")
    replies = replies_of(served, 60, 0, reads=lambda reply: reply in ("Yes", "No"))
    assert {r.text for r in replies} == {"Yes"} and len(served.prompts) == 60
    served.reply = lambda p: f"You ask: {own(p)}"  # an echo says to each its own
    replies_of(served, 60, 1)
    assert len(served.prompts) == 120


def test_what_fails_again_is_failed_and_counted(serve):
    served = serve(own)

    def unsteady(prompt):  # half of the second attempts fail, too
        return "busy" if random.Random(str(len(served.prompts))).random() < 0.5 else own(prompt)

    served.reply = unsteady
    served.whole = lambda reply: reply == "busy"
    replies = replies_of(served, 100, 0)
    assert all(r.reason == REPEATED for r in replies if r.failed)
    assert not any(r.text == "busy" for r in replies)


def test_forms_of_errors_and_answers_that_are_none():
    assert [text for text in TEXTS["errors"] if not error_text(text)] == []
    assert {error_text(text) for text in TEXTS["no_errors"]} == {None}
