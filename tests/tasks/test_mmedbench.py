"""MMedBench through the harness: letters, log-likelihoods, rationales, few-shot, fine-tuned form."""

from __future__ import annotations

import json
import re
import shutil
from statistics import fmean

import pytest
from fixed import Fixed

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, XlingError
from xling_tasks.tasks.rationales import letters_of, rationale_of

LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")
M = "mmedbench_mcqa_demo_"
L = "mmedbench_mcqa_ll_demo_"
R = "mmedbench_rationale_demo_"
OFF = {"source_encoder": False}


@pytest.fixture(scope="module")
def finder(run_one):
    """`finder(task)`: the task's questions, and a function that finds the one that a prompt asks."""

    def finder_(task):
        samples = run_one(task, model=Fixed(lambda *_: ""), metadata=OFF).samples
        docs = [sample["doc"] for sample in samples]
        return docs, lambda prompt: next(doc for doc in docs if doc["question"] in prompt)

    return finder_


@pytest.mark.parametrize("language", LANGUAGES)
def test_right_letters_score_one_and_wrong_ones_by_their_overlap(run_one, finder, language):
    docs, find = finder(M + language)
    assert len(docs) == 12 and sum(len(doc["answer"]) > 1 for doc in docs) == 4

    def scores(reply):
        model = Fixed(lambda context, _: reply(find(context)))
        return run_one(M + language, model=model, metadata=OFF).scores

    right = scores(lambda doc: ", ".join(doc["answer"]))
    for name in ("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard"):
        assert right[name] == 1.0
    assert right["unparsed_rate"] == right["empty_rate"] == 0.0
    # The first right letter alone is all of 8 questions and a part of 4.
    first = scores(lambda doc: doc["answer"][0])
    assert first["acc_single"] == 1.0 and first["acc_multi"] == 0.0
    assert first["acc"] == pytest.approx(8 / 12)
    assert first["jaccard"] == pytest.approx(fmean(1 / len(doc["answer"]) for doc in docs))
    # What is not read is no point in acc, and left out of the rest.
    half = scores(lambda d: ", ".join(d["answer"]) if len(d["question"]) % 2 else "I cannot say.")
    parsed = sum(len(doc["question"]) % 2 for doc in docs)
    assert 0 < parsed < 12 and half["acc"] == pytest.approx(parsed / 12)
    assert half["unparsed_rate"] == pytest.approx(1 - parsed / 12)
    assert half["acc_parsed"] == half["jaccard"] == 1.0


def test_loglikelihood_asks_every_set_after_one_context(run_one, finder):
    _, find = finder(M + "fr")
    model = Fixed(lambda c, x: (0.0 if x.strip() == ", ".join(find(c)["answer"]) else -9.0, False))
    scores, (sample, *_), _, _ = run_one(L + "fr", model=model)
    assert scores["acc"] == scores["acc_norm"] == scores["acc_multi"] == 1.0
    assert len(sample["arguments"]) == 2 ** len(sample["doc"]["options"]) - 1
    assert len({context for context, _ in sample["arguments"]}) == 1


def test_ties_are_counted_not_guessed(run_one):
    scores = run_one(L + "en", model=Fixed(lambda *_: (-1.0, False))).scores
    assert scores["unparsed_rate"] == 1.0 and scores["acc"] == 0.0 and scores["acc_parsed"] is None


# Log-likelihoods by letters and tokens: which sets each score favours


def by_token(cost):
    """A model with a cost per token: letters by the question's right ones, and commas."""

    class Model(Fixed):
        def loglikelihood(self, requests, disable_tqdm=False):
            words = (re.findall(r"\w|,", request.args[1]) for request in requests)
            return [(-cost(r.doc, own), False) for r, own in zip(requests, words, strict=True)]

    return Model(None)


def sure_after_the_first(doc, words):
    """Which right letter comes first is a guess; what follows is known."""
    total, right = 0.0, list(doc["answer"])
    for place, word in enumerate(words):
        known = word == "," or word == (right[len(words[:place]) // 2 :] or [None])[0]
        total += (0.5 if place == 0 and known else 0.05) if known else 2.0
    return total


def test_letters_by_loglikelihood_by_hand(run_one):
    scores, samples, record, _ = run_one(L + "en", model=by_token(sure_after_the_first))
    assert {len(sample["doc"]["answer"]) > 1 for sample in samples} == {True, False}
    # 'A' begins 'A, C' and so is at least as likely: the plain score never says several letters.
    assert scores["acc_multi"] == 0.0 and scores["acc_single"] == 1.0
    # 0.5 for A; (0.5 + 0.05 + 0.05) / 2 = 0.3 for A, C: per letter several are said. One right
    # letter: 0.5; with a wrong one (0.5 + 0.05 + 2) / 2 = 1.275, / 3 = 0.85, / 4 = 0.64.
    assert all(s["acc_norm_letters"] == s["acc_norm_tokens"] == 1.0 for s in samples)
    assert scores["acc_norm_letters"] == 1.0
    signature = record["signatures"]["acc_norm_tokens"]
    assert signature == "acc_norm_tokens|of:all_questions|length:tokens"


# Rationales


@pytest.mark.parametrize("language", LANGUAGES)
def test_rationales_equal_to_their_reference(run_one, finder, language):
    _, find = finder(M + language)
    model = Fixed(lambda c, _: f"{find(c)['rationale']} [End] {', '.join(find(c)['answer'])}")
    scores, samples, _, _ = run_one(R + language, model=model, metadata=OFF)
    assert len(samples) == 10  # two of twelve did not pass the human check
    for name in ("acc", "bleu1", "bleu4", "rouge1", "rougeL", "rougeL_standard"):
        assert scores[name] == pytest.approx(1, abs=1e-6), name
    assert scores["sacrebleu"] == pytest.approx(100) and scores["language_consistency"] > 0.9
    assert scores["no_end_rate"] == scores["empty_rate"] == 0.0


def test_rationale_scores_equal_the_references_on_the_logged_samples(run_one):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from xling_metrics.rationale_tokens import rationale_tokens

    scores, samples, _, _ = run_one(R + "es", metadata=OFF)
    how = {"weights": (0, 1, 0, 0), "smoothing_function": SmoothingFunction().method1}
    values = []
    for sample in samples:
        said = rationale_tokens(sample["resps"][0][0].split("[End]")[0].strip(), "es")
        reference = rationale_tokens(sample["doc"]["rationale"], "es")
        values.append(sentence_bleu([reference], said, **how))
        assert sample["bleu2"] == pytest.approx(values[-1], abs=1e-9)
    assert scores["bleu2"] == pytest.approx(fmean(values))


def test_no_marker_and_empty_replies(run_one):
    model = Fixed(lambda c, _: "Answer: A" if len(c) % 2 else "")
    scores = run_one(R + "en", model=model, metadata=OFF).scores
    assert scores["no_end_rate"] == 1.0 and 0 < scores["empty_rate"] < 1
    assert scores["unparsed_rate"] == pytest.approx(scores["empty_rate"])
    json.dumps(scores, allow_nan=False)


def test_fine_tuned_form(run_one, finder):
    for kind, extra in (("mcqa_ft", ""), ("rationale_ft", "###Rationale: {} ")):
        _, find = finder(f"mmedbench_{kind}_demo_zh")

        def reply(context, _, find=find, extra=extra):
            doc = find(context)
            said = extra.format(doc["rationale"])
            return f"{said}###Answer: OPTION {', '.join(doc['answer'])} IS CORRECT."

        model = Fixed(reply)
        scores = run_one(f"mmedbench_{kind}_demo_zh", model=model, metadata=OFF).scores
        assert scores["acc"] == 1.0
        assert "### Response:" in model.seen[0][0] and "### Input:" in model.seen[0][0]
        if "rationale" in kind:
            assert scores["bleu1"] == pytest.approx(1) and scores["no_end_rate"] == 0.0


@pytest.mark.parametrize(("reply", "rationale", "letters"), [
    ("Because. **[End]** B, D", "Because.", "BD"), ("Parce que.\n[END]: B et D", "Parce que.", "BD"),
    ("Because of **this** [End] B", "Because of **this**", "B"),
    ("So.\n### [ end ]:\nB and D", "So.", "BD"), ("So. __[End]:__ D", "So.", "D"),
    ("So. `[End]` A", "So.", "A"),
])  # fmt: skip
def test_marks_around_the_end_marker(reply, rationale, letters):
    doc = {"options": dict.fromkeys("ABCD", "x"), "several": True}
    assert rationale_of(reply, fine_tuned=False) == rationale
    assert letters_of(reply, doc, fine_tuned=False) == frozenset(letters)


@pytest.mark.parametrize(("reply", "fine_tuned", "letters"), [
    ("<think>First a reason, then [End] and A.</think>\nUnlike A.\n[End] B", False, "B"),
    ("<think>First a reason, then [End] A", False, None),
    ("It thins the blood.\nAnswer: B [End]", False, "B"),
    # A heading in brackets opens no thought.
    ("[Reasoning] Ibuprofen acts on COX.\n[End]\nB", False, "B"),
    ("**[Analysis]** It acts on COX. [End] B", False, "B"),
    ("[Reasoning] <think>First a reason, then [End] A", False, None),
    ("[THINK] First a reason, then [End] A", False, None),
    ("[Reasoning] It acts on COX.\nA", False, "A"),
    ("###Answer: OPTION A IS CORRECT. OPTION C IS CORRECT.", True, None),
    ("###Answer: OPTION A IS CORRECT.\n###Answer: OPTION B IS CORRECT.", True, "B"),
    ("###Rationale: OPTION A IS CORRECT? ###Answer: OPTION B IS CORRECT.", True, "B"),
])  # fmt: skip
def test_letters_beside_markers_that_end_nothing(reply, fine_tuned, letters):
    doc = {"options": dict.fromkeys("ABCD", "x"), "several": True, "question": "Which?"}
    found = letters_of(reply, doc, fine_tuned=fine_tuned)
    assert (found and "".join(sorted(found))) == letters


# Few-shot, groups, backends


@pytest.fixture
def with_train(tmp_path):
    """The settings for the sample as a published folder, its questions as training split too."""
    for split in ("Test", "Train"):
        shutil.copytree(SAMPLE_FOLDER / "mmedbench_demo" / "Test", tmp_path / split)
    return {**OFF, "data_dir": str(tmp_path)}


def test_few_shot_shows_all_right_letters_of_training_questions(run, with_train, tmp_path):
    model, again = Fixed(lambda *_: "A"), Fixed(lambda *_: "A")
    for own in (model, again):
        run("mmedbench_mcqa_es", model=own, num_fewshot=3, limit=1, metadata=with_train)
    prompt = model.seen[0][0]
    assert prompt.count("Question:") == 4 and again.seen == model.seen
    train = map(json.loads, (tmp_path / "Train/Spanish.jsonl").read_text().splitlines())
    shown = [q for q in train if q["question"] in prompt]
    assert len(shown) >= 3
    answers = [", ".join(sorted(q["answer_idx"].replace(" ", "").split(","))) for q in shown]
    assert sum(f"Answer: {answer}\n" in prompt for answer in answers) >= 2
    model = Fixed(lambda *_: "A")
    with pytest.raises((DataError, XlingError), match="num_fewshot"):
        run(M + "en", model=model, num_fewshot=1, metadata=OFF)
    assert model.seen == []


@pytest.mark.realdata
def test_real_questions(run, realdata):
    tasks = [f"mmedbench_{x}_{code}" for x in ("mcqa", "mcqa_ll") for code in ("ja", "fr", "ru")]
    results = run(tasks, metadata={**OFF, "data_dir": str(realdata / "mmedbench")}, limit=40)
    assert all(0 <= results["results"][task]["acc,none"] <= 1 for task in tasks)
    # Five options, several of which may be right; two, one of which is.
    asked = (results["samples"][f"mmedbench_mcqa_ll_{code}"][0] for code in ("fr", "ru"))
    assert [len(sample["arguments"]) for sample in asked] == [31, 2]
