"""`ask_again`: a second turn with the model under test, through the harness."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from builders import evaluated
from fixed import Fixed

from xling_tasks.lm import journaled
from xling_tasks.readers.letters import named_letters
from xling_tasks.readers.verdict import named_verdicts

EXAM = "mmedbench_mcqa_demo_en"
VERDICTS = "xlinghealth_verifiability_demo_es"
HEDGE = "It could be A or B."
AGAIN = {"ask_again": True}


class Hesitant(Fixed):
    """A model that says one text at first, and another when it is asked again (None: it fails)."""

    def __init__(self, first, second):
        super().__init__(lambda context, _: self.say(second if self.again(context) else first))

    @staticmethod
    def again(context):
        return "Write only" in context or "Escriba solo" in context

    @staticmethod
    def say(text):
        if text is None:
            raise ConnectionError("gone")
        return text

    def apply_chat_template(self, messages, add_generation_prompt=True):
        return json.dumps(messages, ensure_ascii=False)


def test_thinking_without_an_end_is_said_where_a_word_is_read(run, caplog):
    model = Hesitant("<think>Let me see. Is it", None)
    run(VERDICTS, model=model, limit=2, metadata={"temperatures": [0.0]})
    assert "10 of 10 replies end within the model's thinking, before any answer" in caplog.text


@pytest.mark.parametrize("chat", [False, True])
def test_letters_are_asked_for_again_and_stand_beside_the_score(run_one, chat):
    model = Hesitant(HEDGE, "A")
    scores, samples, _, _ = run_one(
        EXAM, model=model, apply_chat_template=chat, metadata=AGAIN, limit=6
    )
    right = sum(sample["doc"]["answer"] == ["A"] for sample in samples)
    expected = {
        "acc": 0.0, "unparsed_rate": 1.0, "asked_again_rate": 1.0, "contradicted_rate": 0.0,
        "acc_asked_again": pytest.approx(right / 6),
    }  # fmt: skip
    assert len(model.seen) == 12 and {name: scores[name] for name in expected} == expected
    second, _ = model.seen[-1]
    assert HEDGE in second
    if chat:
        roles = [turn["role"] for turn in json.loads(second)]
        assert roles[-3:] == ["user", "assistant", "user"]
    # The second requests are logged behind the first.
    assert [len(sample["resps"]) for sample in samples] == [2] * 6


def test_a_second_answer_against_the_first_is_none(run_one):
    model = Hesitant("It could be B or C.", "A")
    scores = run_one(EXAM, model=model, metadata=AGAIN, limit=4).scores
    assert scores["contradicted_rate"] == 1.0 and scores["acc_asked_again"] == 0.0


def test_words_are_asked_for_again(run_one):
    model, metadata = Hesitant("Depende del paciente.", "No"), {**AGAIN, "temperatures": [0.0]}
    scores, samples, _, _ = run_one(VERDICTS, model=model, metadata=metadata, limit=3)
    assert scores["unknown_rate_t0.0"] == 1.0 and scores["asked_again_rate_t0.0"] == 1.0
    labels = [row[0] for sample in samples for row in sample["acc_t0.0"]]
    assert scores["acc_asked_again_t0.0"] == labels.count(0) / len(labels)


def test_off_by_default_and_nobody_is_asked_where_all_is_read(run_one):
    model = Hesitant("A", "B")
    scores = run_one(EXAM, model=model, limit=3).scores
    assert len(model.seen) == 3 and "asked_again_rate" not in scores
    scores = run_one(EXAM, model=model, limit=3, metadata=AGAIN).scores
    assert len(model.seen) == 6 and scores["asked_again_rate"] == 0.0
    assert scores["acc_asked_again"] == scores["acc"]


@pytest.mark.parametrize("task", [EXAM, VERDICTS])
def test_no_reader_is_asked_about_a_second_reply(run_one, serve, task):
    served = serve(lambda prompt: "I cannot say.")
    metadata = {**AGAIN, "reader": served.spec(), "temperatures": [0.0]}
    run_one(task, model=Hesitant("That depends.", "Who knows?"), metadata=metadata, limit=2)
    assert any("That depends." in prompt for prompt in served.prompts)
    assert not any("Who knows?" in prompt for prompt in served.prompts)


def test_what_a_first_reply_names():
    options = {"A": "Aspirin", "B": "Ibuprofen", "C": "Codeine"}
    assert named_letters("It could be A, or perhaps ibuprofen.", options) == {"A", "B"}
    assert named_letters("I cannot say.", options) == frozenset()
    assert named_verdicts("Yes, but not always.") == {1}
    assert named_verdicts("Depende.") == set()


def test_second_turns_are_replayed(run, tmp_path):
    """From the logged samples, without a model."""
    options = {"metadata": AGAIN, "limit": 4}
    results = evaluated(run, tmp_path, EXAM, model=Hesitant(HEDGE, "A"), **options)
    again = run(EXAM, model="xling_replay", model_args=f"path={tmp_path}", **options)
    for name in ("acc,none", "acc_asked_again,none", "asked_again_rate,none"):
        assert again["results"][EXAM][name] == results["results"][EXAM][name]


def test_after_a_fault_in_the_second_turn_no_first_reply_is_asked_for_again(
    run_one, own_cache, monkeypatch
):
    from lm_eval.api.registry import model_registry

    breaks, speaks = Hesitant(HEDGE, None), Hesitant(HEDGE, "A")
    models = iter([breaks, speaks])
    made = SimpleNamespace(create_from_arg_string=lambda *_: next(models))
    monkeypatch.setitem(model_registry._objs, "hesitant", made)
    options = {"model": "hesitant", "metadata": AGAIN, "limit": 3}
    with pytest.raises(ConnectionError):
        run_one(EXAM, **options)
    journaled.end()
    assert run_one(EXAM, **options).scores["asked_again_rate"] == 1.0
    asked = [context for context, _ in speaks.seen]
    assert len(asked) == 3 and all("Write only" in context for context in asked)
