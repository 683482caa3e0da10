"""MMedBench through the harness: letters, log-likelihoods, rationales, few-shot, fine-tuned form."""

from __future__ import annotations

import json
import shutil
from statistics import fmean

import pytest
from fixed import Fixed

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, XlingError
from xling_tasks.tasks.exam_replies import letters_of, rationale_of
from xling_tasks.tasks.mmedbench import candidates

LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")
M = "mmedbench_mcqa_demo_"
L = "mmedbench_mcqa_ll_demo_"
R = "mmedbench_rationale_demo_"
OFF = {"source_encoder": False}


def oracle(task_docs):
    """A model that knows the answers, by question text."""
    known = {doc["question"]: doc for doc in task_docs}

    def find(context):
        return next(doc for question, doc in known.items() if question in context)

    return find


def docs_of(run, task):
    results = run(task, model=Fixed(lambda *_: ""), metadata=OFF)
    return [sample["doc"] for sample in results["samples"][task]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_right_letters_score_one_and_wrong_ones_by_their_overlap(run, language):
    task = M + language
    docs = docs_of(run, task)
    assert len(docs) == 12 and sum(len(doc["answer"]) > 1 for doc in docs) == 4
    find = oracle(docs)
    right = run(task, model=Fixed(lambda c, _: ", ".join(find(c)["answer"])), metadata=OFF)
    scores = right["results"][task]
    for name in ("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard"):
        assert scores[f"{name},none"] == 1.0
    assert scores["unparsed_rate,none"] == scores["empty_rate,none"] == 0.0
    first = run(task, model=Fixed(lambda c, _: find(c)["answer"][0]), metadata=OFF)["results"][task]
    # The first right letter alone is all of 8 questions and a part of 4.
    assert first["acc_single,none"] == 1.0 and first["acc_multi,none"] == 0.0
    assert first["acc,none"] == pytest.approx(8 / 12)
    expected = fmean(1 / len(doc["answer"]) for doc in docs)
    assert first["jaccard,none"] == pytest.approx(expected)


def test_unparsed_replies_are_no_points_in_acc_and_left_out_of_the_rest(run):
    task = M + "en"
    find = oracle(docs_of(run, task))

    def half(context, _):
        doc = find(context)
        return ", ".join(doc["answer"]) if len(doc["question"]) % 2 else "I cannot say."

    results = run(task, model=Fixed(half), metadata=OFF)
    scores = results["results"][task]
    parsed = sum(len(s["doc"]["question"]) % 2 for s in results["samples"][task])
    assert 0 < parsed < 12
    assert scores["unparsed_rate,none"] == pytest.approx(1 - parsed / 12)
    assert scores["acc,none"] == pytest.approx(parsed / 12)
    assert scores["acc_parsed,none"] == scores["jaccard,none"] == 1.0


def test_candidates():
    assert candidates("BA", several=False) == [("A",), ("B",)]
    sets = candidates("ABC", several=True)
    assert len(sets) == 7 and sets[0] == ("A",) and sets[-1] == ("A", "B", "C")


def test_loglikelihood_asks_every_set_after_one_context(run):
    task = L + "fr"
    find = oracle(docs_of(run, M + "fr"))
    model = Fixed(lambda c, x: (0.0 if x.strip() == ", ".join(find(c)["answer"]) else -9.0, False))
    results = run(task, model=model)
    scores = results["results"][task]
    assert scores["acc,none"] == scores["acc_norm,none"] == scores["acc_multi,none"] == 1.0
    sample = results["samples"][task][0]
    assert len(sample["arguments"]) == 2 ** len(sample["doc"]["options"]) - 1
    assert len({context for context, _ in sample["arguments"]}) == 1


def test_ties_are_counted_not_guessed(run):
    scores = run(L + "en", model=Fixed(lambda *_: (-1.0, False)))["results"][L + "en"]
    assert scores["unparsed_rate,none"] == 1.0 and scores["acc,none"] == 0.0
    assert scores["acc_parsed,none"] is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_rationales_equal_to_their_reference(run, language):
    task = R + language
    find = oracle(docs_of(run, task))
    model = Fixed(lambda c, _: f"{find(c)['rationale']} [End] {', '.join(find(c)['answer'])}")
    results = run(task, model=model, metadata=OFF)
    scores = results["results"][task]
    assert len(results["samples"][task]) == 10  # two of twelve did not pass the human check
    for name in ("acc", "bleu1", "bleu4", "rouge1", "rougeL", "rougeL_standard"):
        assert scores[f"{name},none"] == pytest.approx(1, abs=1e-6), name
    assert scores["sacrebleu,none"] == pytest.approx(100)
    assert scores["no_end_rate,none"] == scores["empty_rate,none"] == 0.0
    assert scores["language_consistency,none"] > 0.9


def test_rationale_scores_equal_the_references_on_the_logged_samples(run):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from xling_metrics.rationale_tokens import rationale_tokens

    results = run(R + "es", metadata=OFF)
    values = []
    for sample in results["samples"][R + "es"]:
        text = sample["resps"][0][0].split("[End]")[0].strip()
        reference = rationale_tokens(sample["doc"]["rationale"], "es")
        values.append(
            sentence_bleu(
                [reference],
                rationale_tokens(text, "es"),
                weights=(0, 1, 0, 0),
                smoothing_function=SmoothingFunction().method1,
            )
        )
        assert sample["bleu2"] == pytest.approx(values[-1], abs=1e-9)
    assert results["results"][R + "es"]["bleu2,none"] == pytest.approx(fmean(values))


def test_no_marker_and_empty_replies(run):
    model = Fixed(lambda c, _: "Answer: A" if len(c) % 2 else "")
    scores = run(R + "en", model=model, metadata=OFF)["results"][R + "en"]
    assert scores["no_end_rate,none"] == 1.0
    assert 0 < scores["empty_rate,none"] < 1
    assert scores["unparsed_rate,none"] == pytest.approx(scores["empty_rate,none"])
    json.dumps(scores, allow_nan=False)


def test_fine_tuned_form(run):
    for kind, extra in (("mcqa_ft", ""), ("rationale_ft", "###Rationale: {} ")):
        task = f"mmedbench_{kind}_demo_zh"
        find = oracle(docs_of(run, task))

        def reply(context, _, find=find, extra=extra):
            doc = find(context)
            said = extra.format(doc["rationale"])
            return f"{said}###Answer: OPTION {', '.join(doc['answer'])} IS CORRECT."

        model = Fixed(reply)
        scores = run(task, model=model, metadata=OFF)["results"][task]
        assert scores["acc,none"] == 1.0
        assert "### Response:" in model.seen[0][0] and "### Input:" in model.seen[0][0]
        if "rationale" in kind:
            assert scores["bleu1,none"] == pytest.approx(1) and scores["no_end_rate,none"] == 0.0


@pytest.mark.parametrize(
    ("reply", "rationale", "letters"),
    [
        ("Because. **[End]** B, D", "Because.", "BD"),
        ("Parce que.\n[END]: B et D", "Parce que.", "BD"),
        ("Because of **this** [End] B", "Because of **this**", "B"),
        ("So.\n### [ end ]:\nB and D", "So.", "BD"),
        ("So. __[End]:__ D", "So.", "D"),
        ("So. `[End]` A", "So.", "A"),
    ],
)
def test_marks_around_the_end_marker(reply, rationale, letters):
    doc = {"options": dict.fromkeys("ABCD", "x"), "several": True}
    assert rationale_of(reply, fine_tuned=False) == rationale
    assert letters_of(reply, doc, fine_tuned=False) == frozenset(letters)


@pytest.fixture
def with_train(tmp_path):
    """The sample as a published folder, its Spanish questions as training split too."""
    test = SAMPLE_FOLDER / "mmedbench_demo" / "Test"
    shutil.copytree(test, tmp_path / "Test")
    shutil.copytree(test, tmp_path / "Train")
    return tmp_path


def test_few_shot_shows_all_right_letters_of_training_questions(run, with_train):
    model = Fixed(lambda *_: "A")
    metadata = {**OFF, "data_dir": str(with_train)}
    run("mmedbench_mcqa_es", model=model, num_fewshot=3, limit=1, metadata=metadata)
    prompt = model.seen[0][0]
    assert prompt.count("Question:") == 4
    train = [
        json.loads(line) for line in (with_train / "Train/Spanish.jsonl").read_text().splitlines()
    ]
    shown = [q for q in train if q["question"] in prompt]
    assert len(shown) >= 3
    answers = [", ".join(sorted(q["answer_idx"].replace(" ", "").split(","))) for q in shown]
    assert sum(f"Answer: {answer}\n" in prompt for answer in answers) >= 2
    again = Fixed(lambda *_: "A")
    run("mmedbench_mcqa_es", model=again, num_fewshot=3, limit=1, metadata=metadata)
    assert again.seen == model.seen


def test_few_shot_without_training_questions_is_told_at_once(run):
    model = Fixed(lambda *_: "A")
    with pytest.raises((DataError, XlingError), match="num_fewshot"):
        run(M + "en", model=model, num_fewshot=1, metadata=OFF)
    assert model.seen == []


def test_groups_average_languages_without_weights(run, with_train):
    results = run("mmedbench_mcqa", metadata={**OFF, "data_dir": str(with_train)}, limit=5)
    values = [results["results"][f"mmedbench_mcqa_{code}"]["acc,none"] for code in LANGUAGES]
    assert results["groups"]["mmedbench_mcqa"]["acc,none"] == pytest.approx(fmean(values))


def test_every_metric_for_every_document_and_the_same_table_twice(run):
    tasks = [M + "ja", L + "ja", R + "ja"]
    first, second = run(tasks, metadata=OFF), run(tasks, metadata=OFF)
    assert first["results"] == second["results"]
    for samples in first["samples"].values():
        assert len({tuple(sample["metrics"]) for sample in samples}) == 1
    recorded = first["configs"][M + "ja"]["metadata"]["xling"]
    assert recorded["data"]["licence"] == "Apache-2.0" and set(recorded["prompts"]) == {"mcqa"}


def test_http_chat_server_and_tiny_hf(run, serve, tiny_hf):
    served = serve(lambda prompt: "Answer: B")
    args = served.spec()["model_args"]
    chat = run([M + "ru", R + "ru"], model="local-chat-completions", model_args=args, limit=2,
               apply_chat_template=True, metadata=OFF)  # fmt: skip
    assert len(served.requests) == 4 and chat["results"][M + "ru"]["unparsed_rate,none"] == 0.0
    with pytest.raises(XlingError, match="mmedbench_demo_mcqa|gives no log-likelihoods"):
        run(
            L + "ru",
            model="local-chat-completions",
            model_args=args,
            limit=1,
            apply_chat_template=True,
        )
    hf = run([M + "ru", L + "ru", R + "ru"], model="hf", limit=1, device="cpu", batch_size=4,
             model_args={"pretrained": tiny_hf, "dtype": "float32"}, gen_kwargs="max_gen_toks=4",
             metadata=OFF)  # fmt: skip
    assert hf["results"][L + "ru"]["acc,none"] in (0.0, 1.0)


def test_predict_only(run):
    results = run(R + "fr", predict_only=True, limit=1, metadata=OFF)
    assert {k for k in results["results"][R + "fr"] if k.startswith("bleu")} == set()


@pytest.mark.realdata
def test_real_questions(run, realdata):
    tasks = [
        f"mmedbench_{kind}_{code}" for kind in ("mcqa", "mcqa_ll") for code in ("ja", "fr", "ru")
    ]
    metadata = {**OFF, "data_dir": str(realdata / "mmedbench")}
    results = run(tasks, metadata=metadata, limit=40)
    for task in tasks:
        assert 0 <= results["results"][task]["acc,none"] <= 1
    french = results["samples"]["mmedbench_mcqa_ll_fr"][0]
    assert len(french["arguments"]) == 31  # five options, several of which may be right
    assert len(results["samples"]["mmedbench_mcqa_ll_ru"][0]["arguments"]) == 2


def test_a_peft_adapter_through_the_hf_backend(run, tiny_hf, tmp_path):
    peft = pytest.importorskip("peft")
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(tiny_hf)
    config = peft.LoraConfig(r=4, target_modules=["down_proj", "o_proj"], init_lora_weights=False)
    adapted_model = peft.get_peft_model(base, config)
    for name, weight in adapted_model.named_parameters():
        if "lora_" in name:
            weight.data.mul_(100)
    adapted_model.save_pretrained(tmp_path)
    args = {"pretrained": tiny_hf, "peft": str(tmp_path), "dtype": "float32"}
    tasks = ["mmedbench_mcqa_ft_demo_fr", "mmedbench_rationale_ft_demo_fr"]
    options = {"limit": 2, "device": "cpu", "gen_kwargs": "max_gen_toks=8", "metadata": OFF}
    adapted = run(tasks, model="hf", model_args=args, **options)
    plain = run(tasks, model="hf", model_args={**args, "peft": None}, **options)
    replies = [
        [sample["resps"] for task in tasks for sample in results["samples"][task]]
        for results in (adapted, plain)
    ]
    assert replies[0] != replies[1]
    assert adapted["results"][tasks[1]]["no_end_rate,none"] == 1.0


@pytest.mark.parametrize(
    ("reply", "fine_tuned", "letters"),
    [
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
    ],
)
def test_letters_beside_markers_that_end_nothing(reply, fine_tuned, letters):
    doc = {"options": dict.fromkeys("ABCD", "x"), "several": True, "question": "Which?"}
    found = letters_of(reply, doc, fine_tuned=fine_tuned)
    assert (found and "".join(sorted(found))) == letters
