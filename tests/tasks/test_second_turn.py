"""`ask_again`: a second turn with the model under test, through the harness."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from xling_tasks.lm import journaled
from xling_tasks.readers.letters import named_letters
from xling_tasks.readers.verdict import named_verdicts

EXAM = "mmedbench_mcqa_demo_en"
VERDICTS = "xlinghealth_verifiability_demo_es"


class Hesitant:
    """A model that hedges at first, and says a word when it is asked again."""

    def __new__(cls, first, second):
        from lm_eval.api.model import LM

        class Model(LM):
            asked: ClassVar[list] = []

            def __init__(self, **_):
                super().__init__()

            def generate_until(self, requests, disable_tqdm=False):
                self.asked.extend(request.args[0] for request in requests)
                return [self.reply(request.args[0]) for request in requests]

            def reply(self, context):
                again = "Write only" in context or "Escriba solo" in context
                return (second if again else first)(context)

            def apply_chat_template(self, messages, add_generation_prompt=True):
                return json.dumps(messages, ensure_ascii=False)

            tokenizer_name = "none"
            loglikelihood = loglikelihood_rolling = None

        Model.__abstractmethods__ = frozenset()
        return Model()


def test_thinking_without_an_end_is_said_where_a_word_is_read(run, caplog):
    model = Hesitant(lambda context: "<think>Let me see. Is it", None)
    run(VERDICTS, model=model, limit=2, metadata={"temperatures": [0.0]})
    assert "10 of 10 replies end within the model's thinking, before any answer" in caplog.text


@pytest.mark.parametrize("chat", [False, True])
def test_letters_are_asked_for_again_and_stand_beside_the_score(run, chat):
    model = Hesitant(lambda context: "It could be A or B.", lambda context: "A")
    results = run(
        EXAM, model=model, apply_chat_template=chat, metadata={"ask_again": True}, limit=6
    )
    scores, samples = results["results"][EXAM], results["samples"][EXAM]
    assert len(model.asked) == 12 and scores["acc,none"] == 0.0
    assert scores["asked_again_rate,none"] == 1.0 and scores["contradicted_rate,none"] == 0.0
    right = sum(sample["doc"]["answer"] == ["A"] for sample in samples)
    assert scores["acc_asked_again,none"] == pytest.approx(right / 6)
    assert scores["unparsed_rate,none"] == 1.0
    second = model.asked[-1]
    assert "It could be A or B." in second
    if chat:
        roles = [turn["role"] for turn in json.loads(second)]
        assert roles[-3:] == ["user", "assistant", "user"]
    # The second requests are logged behind the first.
    assert [len(sample["resps"]) for sample in samples] == [2] * 6


def test_a_second_answer_against_the_first_is_none(run):
    model = Hesitant(lambda context: "It could be B or C.", lambda context: "A")
    scores = run(EXAM, model=model, metadata={"ask_again": True}, limit=4)["results"][EXAM]
    assert scores["contradicted_rate,none"] == 1.0 and scores["acc_asked_again,none"] == 0.0


def test_words_are_asked_for_again(run):
    model = Hesitant(lambda context: "Depende del paciente.", lambda context: "No")
    metadata = {"ask_again": True, "temperatures": [0.0]}
    results = run(VERDICTS, model=model, metadata=metadata, limit=3)
    scores = results["results"][VERDICTS]
    assert scores["unknown_rate_t0.0,none"] == 1.0 and scores["asked_again_rate_t0.0,none"] == 1.0
    labels = [row[0] for s in results["samples"][VERDICTS] for row in s["acc_t0.0"]]
    assert scores["acc_asked_again_t0.0,none"] == labels.count(0) / len(labels)


def test_off_by_default_and_nobody_is_asked_where_all_is_read(run):
    model = Hesitant(lambda context: "A", lambda context: "B")
    scores = run(EXAM, model=model, limit=3)["results"][EXAM]
    assert len(model.asked) == 3 and "asked_again_rate,none" not in scores
    scores = run(EXAM, model=model, limit=3, metadata={"ask_again": True})["results"][EXAM]
    assert len(model.asked) == 6 and scores["asked_again_rate,none"] == 0.0
    assert scores["acc_asked_again,none"] == scores["acc,none"]


def test_what_a_first_reply_names():
    options = {"A": "Aspirin", "B": "Ibuprofen", "C": "Codeine"}
    assert named_letters("It could be A, or perhaps ibuprofen.", options) == {"A", "B"}
    assert named_letters("I cannot say.", options) == frozenset()
    assert named_verdicts("Yes, but not always.") == {1}
    assert named_verdicts("Depende.") == set()


def test_second_turns_are_replayed(run, tmp_path):
    """From the logged samples, without a model."""
    from lm_eval.loggers import EvaluationTracker

    model = Hesitant(lambda context: "It could be A or B.", lambda context: "A")
    metadata = {"ask_again": True}
    tracker = EvaluationTracker(output_path=str(tmp_path))
    results = run(EXAM, model=model, metadata=metadata, limit=4, log_samples=True)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=EXAM, samples=samples[EXAM])
    again = run(
        EXAM, model="xling_replay", model_args=f"path={tmp_path}", metadata=metadata, limit=4
    )
    for name in ("acc,none", "acc_asked_again,none", "asked_again_rate,none"):
        assert again["results"][EXAM][name] == results["results"][EXAM][name]


def test_after_a_fault_in_the_second_turn_no_first_reply_is_asked_for_again(run, own_cache):
    from lm_eval.api.registry import model_registry

    def breaks(context):
        raise ConnectionError("gone")

    metadata, hedge, made = {"ask_again": True}, "It could be A or B.", []
    for second in (breaks, lambda context: "A"):
        kind = type(Hesitant(lambda context: hedge, second))
        kind.__name__ = "hesitant"
        made.append(kind)
    model_registry._objs["hesitant"] = made[0]
    try:
        with pytest.raises(ConnectionError):
            run(EXAM, model="hesitant", metadata=metadata, limit=3)
        journaled.end()
        asked = []
        made[1].asked = asked
        model_registry._objs["hesitant"] = made[1]
        scores = run(EXAM, model="hesitant", metadata=metadata, limit=3)["results"][EXAM]
    finally:
        del model_registry._objs["hesitant"]
    assert len(asked) == 3 and all("Write only" in context for context in asked)
    assert scores["asked_again_rate,none"] == 1.0
