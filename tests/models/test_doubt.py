"""One text for different prompts: a service's trouble in any language, or what the model says."""

from __future__ import annotations

import random

import pytest
from lm_eval.api.registry import get_model

from xling_tasks.errors import BackendError
from xling_tasks.models.calls import stream
from xling_tasks.models.failures import HELD, REFUSED, REPEATED, Reply, error_text
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Call

TROUBLE = [
    "服务器繁忙，请稍后再试。",
    "Insufficient credits. Add more at the billing page.",
    "The server had an error while processing your request. Sorry about that!",
    "No se pudo procesar la solicitud. Código 8f31a2bc99.",
    "Der Dienst ist derzeit überlastet, bitte später erneut versuchen (14:03:22).",
    "Слишком много запросов. Повторите через 17 с.",
    "सेवा अभी उपलब्ध नहीं है।",
    "الخدمة غير متاحة حاليا",
    "現在アクセスが集中しています。",
    "Le modèle est en cours de chargement : 43 %",
    "Huduma haipatikani kwa sasa",
    "busy",
]
DECLINES = [
    "Leider kann ich dazu keine Auskunft geben. Bitte wenden Sie sich an Ihre Hausärztin.",
    "عذرًا، لا يمكنني تقديم نصائح طبية.",
    "Infelizmente não posso responder a perguntas sobre saúde.",
    "Maaf, saya tidak bisa membantu soal kesehatan.",
    "Üzgünüm, tıbbi konularda yardımcı olamam.",
    "Xin lỗi, tôi không thể trả lời câu hỏi này.",
    "죄송하지만 의료 관련 질문에는 답변드릴 수 없습니다.",
    "দুঃখিত, আমি চিকিৎসা বিষয়ে উত্তর দিতে পারি না।",
    "Samahani, siwezi kujibu maswali ya kiafya.",
    "Spiacente, non fornisco consigli medici.",
    "ขออภัย ฉันตอบคำถามสุขภาพไม่ได้",
    "متاسفم، نمی‌توانم توصیه پزشکی بدهم.",
    "No.",
]


def turn(texts, *ways):
    """Each text in one of the ways, which take turns: what is done does not depend on a language."""
    return [(text, *ways[i % len(ways)]) for i, text in enumerate(texts)]


LIMITS = Limits(attempts=1, strict=True, doubt=True)


def model_of(served):
    return get_model("local-chat-completions")(**served.spec()["model_args"])


def asked(lm, number, temperature, reads=None):
    contexts = [
        lm.apply_chat_template([{"role": "user", "content": question(i)}]) for i in range(number)
    ]
    arguments = {"temperature": temperature, "until": ["x"], "max_gen_toks": 5}
    return [Call(context, {**arguments, "seed": i}, reads) for i, context in enumerate(contexts)]


def replies_of(lm, calls, limits=LIMITS):
    found = {}
    for arrived in stream(lm, calls, limits, Health("the model", limits, 4)):
        found.update(arrived)
    return [found[i] for i in range(len(calls))]


def question(number):
    """Prompts that differ by more than a number."""
    return f"question {''.join(chr(97 + int(c)) for c in str(number))}"


def own(prompt):
    return f"Rest well and drink, said {prompt}."


@pytest.mark.parametrize(("text", "temperature"), turn(TROUBLE, (0,), (1,)))
def test_the_trouble_of_a_moment_in_any_language_is_no_answer(serve, caplog, text, temperature):
    draw = random.Random(3)
    served = serve(
        lambda p: (
            # Whatever is asked: a service in trouble does not look at it.
            text.replace("17", str(draw.randrange(99))) if draw.random() < 0.1 else own(p)
        )
    )
    served.whole = lambda reply: not reply.startswith("Rest")
    lm = model_of(served)
    replies = replies_of(lm, asked(lm, 200, temperature))
    wrong = [r for i, r in enumerate(replies) if r.text != own(question(i)) and not r.failed]
    assert not wrong and sum(r.failed for r in replies) <= 8
    assert "an error of the service" in caplog.text


@pytest.mark.parametrize("text", TROUBLE[:4])
def test_trouble_that_stays_ends_the_run_in_words(serve, text):
    count = iter(range(10_000))
    served = serve(lambda p: own(p) if next(count) < 30 else text)
    served.whole = lambda reply: reply == text
    lm = model_of(served)
    found = {}
    with pytest.raises(BackendError, match="whatever is asked, it says"):
        for arrived in stream(lm, asked(lm, 2000, 0), LIMITS, Health("the model", LIMITS, 4)):
            found.update(arrived)
    assert len(served.prompts) < 300  # it does not pay for the rest
    good = {i: r for i, r in found.items() if not r.failed}
    assert all(r.text == own(question(i)) for i, r in good.items()) and len(good) == 30


@pytest.mark.parametrize("text", TROUBLE)
def test_nothing_but_trouble_ends_the_run(serve, text):
    served = serve(lambda p: text)
    served.whole = lambda reply: True
    lm = model_of(served)
    for number in (60, 5):
        with pytest.raises(BackendError, match="whatever is asked, it says"):
            replies_of(lm, asked(lm, number, 1))


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
    lm = model_of(served)
    replies = [r.text for r in replies_of(lm, asked(lm, 80, temperature))]
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
    lm = model_of(served)
    calls = [c._replace(gen_kwargs={**c.gen_kwargs, "max_gen_toks": 900}) for c in asked(lm, 80, 1)]
    replies = replies_of(lm, calls)
    assert sum(r.text == DECLINES[0] for r in replies) == pytest.approx(80 * share, abs=16)
    assert not any(r.failed for r in replies)
    served.whole = lambda reply: True  # and takes no stops
    served.reply = lambda p: DECLINES[0] if random.Random(p).random() < share else own(p)
    replies = [
        r.text for r in replies_of(lm, [c._replace(gen_kwargs=calls[0].gen_kwargs) for c in calls])
    ]
    assert replies == [served.reply(question(i)) for i in range(80)]


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_text_that_a_gate_says_to_some_prompts_is_no_answer(serve, temperature):
    """The others are answered, and it never depends on the room for it."""
    gate = "Vaše žádost byla zablokována."
    served = serve(lambda p: gate if random.Random(p).random() < 0.3 else own(p))
    served.whole = lambda reply: reply == gate
    lm = model_of(served)
    replies = replies_of(lm, asked(lm, 80, temperature))
    for i, reply in enumerate(replies):
        expected = served.reply(question(i))
        assert reply == (Reply("", REFUSED, HELD) if expected == gate else Reply(expected))


def test_a_model_with_one_answer_to_its_field_is_left_alone(serve, caplog):
    """It answers other questions otherwise."""
    served = serve(lambda p: "Bitte fragen Sie Ihren Arzt." if "question" in p else "7")
    lm = model_of(served)
    assert {r.text for r in replies_of(lm, asked(lm, 50, 0))} == {"Bitte fragen Sie Ihren Arzt."}
    assert "50 of 50 requests got one and the same reply" in caplog.text


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_a_sentence_that_a_model_draws_for_any_question_is_its_own(serve, share):
    """To ask for it again would make it rarer than it is."""
    draw, said = random.Random(4), "Da kann ich dir leider nicht weiterhelfen, frag bitte woanders."

    def says(prompt):
        return said if "question" in prompt and draw.random() < share else own(prompt)

    served = serve(says)
    lm = model_of(served)
    replies = replies_of(lm, asked(lm, 200, 1))
    assert not any(reply.failed for reply in replies)
    found = sum(reply.text == said for reply in replies) / 200
    assert found == pytest.approx(share, abs=0.1)


def test_what_was_asked_for_may_be_the_same_and_an_echo_is_not(serve):
    served = serve(lambda p: "Yes")
    lm = model_of(served)
    calls = asked(lm, 60, 0, reads=lambda reply: reply in ("Yes", "No"))
    assert {r.text for r in replies_of(lm, calls)} == {"Yes"} and len(served.prompts) == 60
    served.reply = lambda p: f"You ask: {own(p)}"  # an echo says to each its own
    replies_of(lm, asked(lm, 60, 1))
    assert len(served.prompts) == 120


def test_what_fails_again_is_failed_and_counted(serve):
    served = serve(own)
    lm = model_of(served)

    def unsteady(prompt):  # half of the second attempts fail, too
        return "busy" if random.Random(str(len(served.prompts))).random() < 0.5 else own(prompt)

    served.reply = unsteady
    served.whole = lambda reply: reply == "busy"
    replies = replies_of(lm, asked(lm, 100, 0))
    assert all(r.reason == REPEATED for r in replies if r.failed)
    assert not any(r.text == "busy" for r in replies)


@pytest.mark.parametrize("text", [
    "Internal Server Error", "502 Bad Gateway", "HTTP 503: Service Unavailable", "<html><p>x</p>",
    "Error code: 429 - {'error': {'message': 'x'}}", '{"error": "x"}', "HTTP/1.1 504 Gateway Timeout",
    "Traceback (most recent call last):\n  x", "Error: Too Many Requests",
])  # fmt: skip
def test_forms_of_errors(text):
    assert error_text(text)


@pytest.mark.parametrize("text", [
    "400 mg of ibuprofen every 6 hours.", "500 mg", "Rate limiting the dose helps.", "404", "No.",
    "The service unavailable to you may be found elsewhere.", "Error: 500 mg is too much.",
    '{"rating": 4}', "Sorry, something went wrong with my stomach.", "Conflict", "",
])  # fmt: skip
def test_answers_are_no_errors_by_form(text):
    assert error_text(text) is None
