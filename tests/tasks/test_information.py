"""Information consistency through the harness, with a judge whose right answers are known."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, harmonic_mean

import pytest
import scripted
from builders import write_lines
from fixed import Fixed
from sklearn.metrics import f1_score, precision_score, recall_score

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.errors import DataError, SettingError
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED, FailedResponse

DEMO = "xlinghealth_information_demo"
TASK = "xling_information"
CODES = ("es", "zh", "hi")


@pytest.fixture
def settings(serve):
    served = serve(scripted.reply)
    return served, {"judge": served.spec(), "translator": served.spec()}


@pytest.fixture
def said(run_one, serve, tmp_path):
    """`said(rows, replies, ...)`: a run over prompts of a file, of a model that replies by prompt."""

    def run_(rows, replies, judge=scripted.reply, **more):
        path = str(write_lines(tmp_path / "prompts.jsonl", rows))
        metadata = {"judge": serve(judge).spec(), "translator": "none", "prompt_set": path}
        metadata |= more
        return run_one(TASK, model=Fixed(lambda context, _: replies[context]), metadata=metadata)

    return run_


def _advice(reply: str) -> set[str]:
    """The English advice in a reply of the baseline, in any language."""
    return {english for own, english in scripted.english_of().items() if own in reply}


def _kind(prompt):
    kinds = {'"text": ': "claims", '"reference": ': "support"}
    return next((kind for mark, kind in kinds.items() if mark in prompt), "sentence")


def test_scores_are_those_of_the_sets_of_advice_and_every_request_is_made_once(run_one, settings):
    served, metadata = settings
    scores, samples, _, _ = run_one(DEMO, metadata=metadata | {"languages": list(CODES)})
    assert len(samples) == 24 and sum(len(s["resps"]) for s in samples) == 5 * 24
    order = list(samples[0]["doc"]["text"])
    replies = {code: [s["resps"][i][0] for s in samples] for i, code in enumerate(order)}
    means = {}
    for code in CODES:
        f1s, pairs = [], []
        for sample, said, english in zip(samples, replies[code], replies["en"], strict=True):
            own, english = _advice(said), _advice(english)
            every = sorted(own | english)
            # Precision and recall of sets, as scikit-learn has them for the indicator vectors.
            truth, there = [x in english for x in every], [x in own for x in every]
            f1s.append(f1_score(truth, there))
            assert sample[f"information_f1_by_prompt_{code}"] == pytest.approx(f1s[-1], abs=1e-12)
            pairs.append((precision_score(truth, there), recall_score(truth, there)))
            both = dict(zip(("precision", "recall"), pairs[-1]))
            assert sample[f"information_f1_{code}"] == pytest.approx(both)
            assert sample[f"n_claims_{code}"]["n"] == len(own)
        by_prompt = scores[f"information_f1_by_prompt_{code}"]
        means[code] = harmonic_mean(list(map(fmean, zip(*pairs))))
        assert by_prompt == pytest.approx(fmean(f1s), abs=1e-12)
        assert scores[f"information_f1_{code}"] == pytest.approx(means[code], abs=1e-12)
        assert by_prompt <= means[code] + 1e-12
        assert [scores[f"{x}_{code}"] for x in ("unscored", "unverified", "abstained")] == [0, 0, 0]
    for name, mean in (
        ("", fmean(means.values())), ("_script_latin", means["es"]), ("_script_indic", means["hi"]),
        ("_family_other", means["zh"]),
    ):  # fmt: skip
        assert scores[f"information_f1{name}"] == pytest.approx(mean)
    assert "information_f1_family_slavic" not in scores and 0 < scores["information_f1"] < 1
    kinds = Counter(map(_kind, served.prompts))
    assert len(set(served.prompts)) == len(served.prompts)
    # English twice per question, the second time sampled; every distinct text is taken apart once.
    own_of = [
        (s["n_claims_en"], own)
        for s in samples
        for own in (s["n_claims_en"]["again"], *(s[f"n_claims_{c}"] for c in CODES))
    ]
    assert kinds["claims"] == len(set(replies["en"]) | {own["english"] for _, own in own_of})
    # Two verifications per question and language, fewer only where texts coincide.
    pairs = {
        (tuple(one["claims"]), two["english"])
        for other, own in own_of
        for one, two in ((own, other), (other, own))
    }
    assert kinds["support"] == len(pairs) <= 2 * 4 * 24


def test_without_a_judge_or_a_translator(run_one, settings, caplog):
    scores = run_one(DEMO, limit=2).scores
    assert scores["langid_match_hi"] == 1.0 and scores["empty_rate_zh"] == 0.0
    assert not any(name.startswith("information") for name in scores)
    assert "no judge is set" in caplog.text
    served, metadata = settings
    with pytest.raises(SettingError, match="needs a translator.*translator=none"):
        run_one(DEMO, metadata={"judge": metadata["judge"]})
    assert served.prompts == []
    scores = run_one(DEMO, metadata={**metadata, "translator": "none"}, limit=2).scores
    # The baseline answers in the prompt's language, so nothing is English but the English.
    assert scores["unscored_hi"] == 1.0 and scores["n_claims_en"] == 3.0
    assert scores["information_f1_hi"] is None and scores["information_f1"] is None
    assert "translator=none, but 2 of 2" in caplog.text


ROWS = [
    {"id": "a", "category": "x", "en": "What is salt?", "es": "¿Qué es la sal?", "iw": "מהו מלח?"},
    {"id": "b", "category": "x", "en": "What is tea?", "es": "¿Qué es el té?", "iw": None},
]
SALT = [{"id": "a", "en": "salt", "es": "sal"}]


def test_abstentions_by_hand(said):
    """English: claims A, B (prompt a); none (prompt b). Spanish: none (a); none (b). Hebrew: A, C."""
    replies = {
        "What is salt?": "A is. B is.", "¿Qué es la sal?": "", "מהו מלח?": "A is. C is. D is.",
        "What is tea?": "I cannot say.", "¿Qué es el té?": "Sorry.",
    }  # fmt: skip

    def judge(prompt):
        text = scripted.material(prompt).get("text", "")
        if "cannot" in text or "Sorry" in text:
            return '{"claims": []}'
        return scripted.reply(prompt)

    scores, samples, record, _ = said(ROWS, replies, judge)
    a, b = samples
    # Precision 1/3 (A of A, C, D), recall 1/2 (A of A, B): F1 = 2 * 1/3 * 1/2 / (5/6) = 0.4.
    assert a["information_precision_he"] == pytest.approx(1 / 3)
    assert a["information_recall_he"] == pytest.approx(1 / 2)
    # An abstention: no precision, recall 0, inconsistent.
    assert a["information_precision_es"] is None and a["information_recall_es"] == 0.0
    assert a["information_f1_by_prompt_es"] == 0.0
    # Both abstain: nothing to compare, counted.
    assert b["information_f1_by_prompt_es"] is None
    assert b["n_claims_es"]["unscored"] == "both answers abstain"
    # Prompt b has no Hebrew: neither asked, nor scored, nor counted as unscored; it is coverage.
    expected = {
        "information_f1_es": 0.0, "unscored_es": 0.5, "abstained_es": 1.0, "abstained_en": 0.5,
        "information_f1_he": pytest.approx(0.4), "unscored_he": 0.0, "invalid_rows": 1,
    }  # fmt: skip
    assert {name: scores[name] for name in expected} == expected
    assert record["data"]["unusable_questions"] == {"he": ["b"]}


def test_what_the_judge_does_not_say_is_unscored_and_counted(said):
    def judge(prompt):
        texts = scripted.material(prompt)
        if "C is" in texts.get("text", ""):
            return '{"claims": ["A is.", "C i'  # cut off
        if "reference" in texts:
            return '{"verdicts": [{"claim": 1, "verdict": "SUPPORTED"}]}'  # of two claims
        return scripted.reply(prompt)

    rows = [{"id": "a", "en": "salt", "es": "sal", "fr": "sel"}]
    replies = {"salt": "A is. B is.", "sal": "A is. C is.", "sel": "B is. A is."}
    scores, (sample,), _, _ = said(rows, replies, judge)
    assert sample["n_claims_es"]["unscored"] == "claims not read"
    assert sample["n_claims_fr"]["supported"] == [True, None]
    # French: one of two verdicts each way. Romance would be French alone: no mean over what is left.
    expected = {
        "unscored_es": 1.0, "information_f1_es": None, "n_claims_es": None, "abstained_es": None,
        "information_f1_fr": 1.0, "unverified_fr": 0.5, "information_f1_family_romance": None,
    }  # fmt: skip
    assert {name: scores[name] for name in expected} == expected


def test_what_is_no_fault_of_the_judge(said, caplog):
    spanish = "La sal sube la presión de la sangre en muchas personas."
    record = said(SALT, {"salt": "A is.", "sal": spanish}).record
    assert record["outcomes"] == {"en": {"scored": 1}, "es": {"translation_failed": 1}}
    assert "thinking" not in caplog.text
    refusal = "Lo siento, pero no puedo ayudar con eso."
    refused = said(SALT, {"salt": "A is.", "sal": refusal})
    assert refused.record["outcomes"]["es"] == {"refusal": 1}
    said(SALT, {"salt": "A is.", "sal": "<think>B is.</think>A is."})
    assert "1 answers hold the model's thinking" in caplog.text and "think_end_token" in caplog.text
    caplog.clear()
    lost = FailedResponse(REQUEST_FAILED, "HTTP 500")
    replies = {
        "What is salt?": "A is.", "¿Qué es la sal?": lost, "מהו מלח?": "A is.",
        "What is tea?": lost, "¿Qué es el té?": "A is.",
    }  # fmt: skip
    scores, (a, b), _, _ = said(ROWS, replies)
    assert "thinking" not in caplog.text
    assert a["n_claims_es"]["unscored"] == "the answer failed"
    assert b["n_claims_es"]["unscored"] == "the English answer failed"
    assert a["n_claims_he"]["unscored"] is None and scores["unscored_es"] == 1.0

    # A filter on the English side leaves nothing to compare with; one on the other side is no help.
    held = FailedResponse(CONTENT_FILTER, "content_filter")
    replies = {
        "What is salt?": held, "¿Qué es la sal?": "A is.", "מהו מלח?": held,
        "What is tea?": "A is.", "¿Qué es el té?": held,
    }  # fmt: skip
    scores, (a, b), _, _ = said(ROWS, replies)
    assert a["n_claims_es"]["unscored"] == a["n_claims_he"]["unscored"]
    assert a["n_claims_es"]["unscored"] == "the English answer was held back"
    assert a["n_claims_es"]["reference_supported"] == a["n_claims_es"]["supported"] == []
    assert b["n_claims_es"]["unscored"] is None and scores["information_f1_es"] == 0.0
    assert scores["unscored_es"] == 0.5 and scores["content_filter_rate_en"] == 0.5


TWO = '{"id": "a", "en": "x", "es": "y"}\n'


@pytest.mark.parametrize(("line", "message"), [
    ('{"id": "a", "en": "x", "es": ""}', r"line 1: field 'es': expected a text"),
    ('{"id": "a", "en": "x", "spa": "y"}', r"line 1: unknown field 'spa'"),
    ('{"id": "a", "en": "x {age}", "es": "y"}', r"line 1: field 'es': placeholders"),
    (TWO + TWO, r"line 2: id 'a' stands in line 1"),
    (TWO + '{"id": "b", "en": "x"}', r"line 2: field 'es': missing; write null"),
    ("{", r"line 1: not valid JSON"), ("", r"has no prompts"),
    (None, r"prompt_set=.*p\.jsonl: there is no such file"),
])  # fmt: skip
def test_prompt_files_are_checked(tmp_path, line, message):
    path = tmp_path / "p.jsonl"
    if line is not None:
        path.write_text(line, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_prompts(DATASETS["information"], str(path))


VARIES = [*SALT, {"id": "drive", "varies": "country", "en": "drive", "es": "conducir"}]


def test_where_right_answers_differ_by_country_nothing_is_compared(said):
    """The Spanish rule differs from the English one, and that is no mistake."""
    asked = []
    replies = {"salt": "Salt is salt.", "sal": "Salt is salt.", "drive": "Wait a year.",
               "conducir": "Wait six months."}  # fmt: skip

    def judge(prompt):
        asked.append(prompt)
        return scripted.reply(prompt)

    scores, samples, record, _ = said(VARIES, replies, judge)
    assert scores["information_f1_es"] == scores["information_f1"] == 1.0
    assert scores["unscored_es"] == 0.0 and scores["excluded_rate"] == 0.5
    assert record["data"]["excluded_rate"] == {"drive": "country"}
    assert not any("Wait" in prompt for prompt in asked)  # nobody is asked, or paid
    left = next(s for s in samples if s["doc"]["question_id"] == "drive")
    shown = CRITERIA["information"].shown.parts(left, "es")
    assert shown[-1].title == "Not compared"
    assert left["information_f1_es"] is None and left["langid_match_es"] is not None
    assert left["n_claims_es"] is None and left["doc"]["varies"] == "country"
    # Without the mark the same answers are scored, and the country's rule counts as wrong.
    plain = [{k: v for k, v in row.items() if k != "varies"} for row in VARIES]
    scores = said(plain, replies).scores
    assert scores["information_f1_es"] < 1.0 and "excluded_rate" not in scores


@pytest.mark.realdata
def test_real_liveqa_in_four_languages(run_one, settings, realdata):
    task = "xlinghealth_information_liveqa"
    metadata = {**settings[1], "data_dir": str(realdata / "xlinghealth")}
    scores, samples, _, found = run_one(task, metadata=metadata, limit=60)
    ids = [sample["doc"]["question_id"] for sample in samples]
    # Questions 58 and 67 have no English text.
    assert len(ids) == 60 and "58" not in ids and scores["invalid_rows"] == 2
    assert found["n-samples"][task]["original"] == 244
    for code in CODES:
        # The scripted translator may lose a sentence that a splitter cut in two.
        assert scores[f"unscored_{code}"] < 0.05 and 0 < scores[f"information_f1_{code}"] < 1
