"""Information consistency through the harness, with a judge whose right answers are known."""

from __future__ import annotations

import json
from collections import Counter
from statistics import harmonic_mean

import pytest
import scripted
from sklearn.metrics import f1_score, precision_score, recall_score

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.data.records import RECORDS
from xling_tasks.errors import DataError, SettingError
from xling_tasks.unanswered import Unanswered

DEMO = "xlinghealth_information_demo"


@pytest.fixture
def settings(serve):
    served = serve(scripted.reply)
    return served, {"judge": served.spec(), "translator": served.spec()}


def _advice(reply: str) -> set[str]:
    """The English advice in a reply of the baseline, in any language."""
    return {english for own, english in scripted.english_of().items() if own in reply}


def test_scores_are_those_of_the_sets_of_advice(run, settings):
    _, metadata = settings
    metadata |= {"languages": ["es", "zh", "hi"]}
    results = run(DEMO, metadata=metadata)
    samples = results["samples"][DEMO]
    assert len(samples) == 24
    scores = results["results"][DEMO]
    means = {}
    for code in ("es", "zh", "hi"):
        f1s, pairs = [], []
        for sample in samples:
            order = list(sample["doc"]["text"])
            replies = dict(zip(order, (r[0] for r in sample["resps"])))
            own, english = _advice(replies[code]), _advice(replies["en"])
            every = sorted(own | english)
            # Precision and recall of sets, as scikit-learn has them for the indicator vectors.
            truth, said = [x in english for x in every], [x in own for x in every]
            f1 = f1_score(truth, said)
            assert sample[f"information_f1_by_prompt_{code}"] == pytest.approx(f1, abs=1e-12)
            pairs.append((precision_score(truth, said), recall_score(truth, said)))
            assert sample[f"information_f1_{code}"] == pytest.approx(
                dict(zip(("precision", "recall"), pairs[-1]))
            )
            assert sample[f"n_claims_{code}"]["n"] == len(own)
            f1s.append(f1)
        by_prompt = scores[f"information_f1_by_prompt_{code},none"]
        assert by_prompt == pytest.approx(sum(f1s) / len(f1s), abs=1e-12)
        means[code] = harmonic_mean([sum(own) / len(own) for own in zip(*pairs)])
        assert scores[f"information_f1_{code},none"] == pytest.approx(means[code], abs=1e-12)
        assert by_prompt <= means[code] + 1e-12
        assert scores[f"unscored_{code},none"] == 0
        assert scores[f"unverified_{code},none"] == 0
        assert scores[f"abstained_{code},none"] == 0
    assert scores["information_f1,none"] == pytest.approx(sum(means.values()) / 3)
    assert scores["information_f1_script_latin,none"] == pytest.approx(means["es"])
    assert scores["information_f1_script_indic,none"] == pytest.approx(means["hi"])
    assert scores["information_f1_family_other,none"] == pytest.approx(means["zh"])
    assert "information_f1_family_slavic,none" not in scores
    assert 0 < scores["information_f1,none"] < 1


def test_every_request_is_made_once(run, settings):
    served, metadata = settings
    metadata |= {"languages": ["es", "zh", "hi"]}
    results = run(DEMO, metadata=metadata)
    samples = results["samples"][DEMO]
    kinds = Counter(
        "claims"
        if "[BEGIN TEXT" in prompt
        else "support"
        if "[BEGIN CLAIMS" in prompt
        else "sentence"
        for prompt in served.prompts
    )
    assert len(set(served.prompts)) == len(served.prompts)
    replies = {
        c: [s["resps"][i][0] for s in samples] for i, c in enumerate(("en", "es", "zh", "hi"))
    }
    # English twice per question, the second time sampled; every distinct text is taken apart once.
    own_of = [
        (s["n_claims_en"], own)
        for s in samples
        for own in (s["n_claims_en"]["again"], *(s[f"n_claims_{c}"] for c in ("es", "zh", "hi")))
    ]
    texts = set(replies["en"]) | {own["english"] for _, own in own_of}
    assert kinds["claims"] == len(texts)
    # Two verifications per question and language, fewer only where texts coincide.
    pairs = {
        pair
        for other, own in own_of
        for pair in (
            (tuple(own["claims"]), other["english"]),
            (tuple(other["claims"]), own["english"]),
        )
    }
    assert kinds["support"] == len(pairs) <= 2 * 4 * 24
    assert sum(len(s["resps"]) for s in samples) == 5 * 24


def test_a_second_run_asks_nobody(run, settings):
    served, metadata = settings
    first = run(DEMO, metadata=metadata, limit=3)
    count = len(served.prompts)
    second = run(DEMO, metadata=metadata, limit=3)
    assert len(served.prompts) == count
    assert first["results"] == second["results"]


def test_languages_restrict_what_is_generated(run, settings):
    _, metadata = settings
    results = run(DEMO, metadata={**metadata, "languages": ["hi", "es"]}, limit=2)
    for sample in results["samples"][DEMO]:
        assert list(sample["doc"]["text"]) == ["en", "es", "hi"]
        assert len(sample["resps"]) == 4
    scores = results["results"][DEMO]
    assert "information_f1_zh,none" not in scores
    recorded = results["configs"][DEMO]["metadata"]["xling"]
    assert recorded["data"]["languages"] == ["en", "es", "hi"]
    assert "mean_over:es,hi" in recorded["signatures"]["information_f1"]
    assert recorded["settings"]["languages"] == ["hi", "es"]


def test_no_judge_reports_what_needs_none_and_asks_for_no_translator(run, caplog):
    results = run(DEMO, limit=2)["results"][DEMO]
    assert results["langid_match_hi,none"] == 1.0
    assert results["empty_rate_zh,none"] == 0.0
    assert not any(name.startswith("information") for name in results)
    assert "no judge is set" in caplog.text


def test_a_judge_without_a_translator_is_refused_before_generation(run, settings):
    served, metadata = settings
    with pytest.raises(SettingError, match="needs a translator.*translator=none"):
        run(DEMO, metadata={"judge": metadata["judge"]})
    assert served.prompts == []


def test_translator_none_leaves_other_languages_unscored(run, settings, caplog):
    _, metadata = settings
    results = run(DEMO, metadata={**metadata, "translator": "none"}, limit=2)
    scores = results["results"][DEMO]
    # The baseline answers in the prompt's language, so nothing is English but the English.
    assert scores["unscored_hi,none"] == 1.0
    assert scores["information_f1_hi,none"] is None
    assert scores["information_f1,none"] is None
    assert scores["n_claims_en,none"] == 3.0
    assert "translator=none, but 2 of 2" in caplog.text


def test_unknown_languages_are_refused(run):
    with pytest.raises(SettingError, match="unknown language 'xx'"):
        run(DEMO, metadata={"languages": ["xx"]})
    with pytest.raises(SettingError, match="has no .fr.; its languages are en, es, zh, hi"):
        run(DEMO, metadata={"languages": ["fr"]})
    with pytest.raises(SettingError, match="at least one language beside English"):
        run(DEMO, metadata={"languages": ["en"]})


def replies(answer):
    """A model under test with a reply for each prompt."""
    from fixed import Fixed

    return Fixed(lambda context, _: answer(context))


def _file(tmp_path, rows):
    path = tmp_path / "prompts.jsonl"
    path.write_text(
        "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8"
    )
    return str(path)


ROWS = [
    {"id": "a", "category": "x", "en": "What is salt?", "es": "¿Qué es la sal?", "iw": "מהו מלח?"},
    {"id": "b", "category": "x", "en": "What is tea?", "es": "¿Qué es el té?", "iw": None},
]


def test_abstentions_by_hand(run, serve, tmp_path):
    """English: claims A, B (prompt a); none (prompt b). Spanish: none (a); none (b). Hebrew: A, C."""
    said = {
        "What is salt?": "A is. B is.",
        "¿Qué es la sal?": "",
        "מהו מלח?": "A is. C is. D is.",
        "What is tea?": "I cannot say.",
        "¿Qué es el té?": "Sorry.",
    }

    def judge(prompt):
        if "[BEGIN TEXT" in prompt and ("cannot" in prompt or "Sorry" in prompt):
            return scripted.with_code(prompt, "NONE\nEND OF CLAIMS")
        return scripted.reply(prompt)

    served = serve(judge)
    metadata = {"judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, ROWS)}
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    scores, samples = (
        results["results"]["xling_information"],
        results["samples"]["xling_information"],
    )
    by_id = {sample["doc"]["question_id"]: sample for sample in samples}
    # Precision 1/3 (A of A, C, D), recall 1/2 (A of A, B): F1 = 2 * 1/3 * 1/2 / (5/6) = 0.4.
    assert by_id["a"]["information_f1_by_prompt_he"] == pytest.approx(0.4)
    assert by_id["a"]["information_precision_he"] == pytest.approx(1 / 3)
    assert by_id["a"]["information_recall_he"] == pytest.approx(1 / 2)
    # An abstention: no precision, recall 0, inconsistent.
    assert by_id["a"]["information_precision_es"] is None
    assert by_id["a"]["information_recall_es"] == 0.0
    assert by_id["a"]["information_f1_by_prompt_es"] == 0.0
    # Both abstain: nothing to compare, counted.
    assert by_id["b"]["information_f1_by_prompt_es"] is None
    assert by_id["b"]["n_claims_es"]["unscored"] == "both answers abstain"
    assert scores["information_f1_es,none"] == 0.0
    assert scores["unscored_es,none"] == 0.5
    assert scores["abstained_es,none"] == 1.0
    assert scores["abstained_en,none"] == 0.5
    # Prompt b has no Hebrew: neither asked, nor scored, nor counted as unscored; it is coverage.
    assert scores["information_f1_he,none"] == pytest.approx(0.4)
    assert scores["unscored_he,none"] == 0.0
    assert scores["unusable_rows,none"] == 1
    assert results["configs"]["xling_information"]["metadata"]["xling"]["data"][
        "unusable_questions"
    ] == {"he": ["b"]}


def test_what_the_judge_does_not_say_is_unscored_and_counted(run, serve, tmp_path):
    def judge(prompt):
        if "[BEGIN TEXT" in prompt and "C is" in prompt:
            return scripted.with_code(prompt, "1. A is.\n2. C i")  # cut off: no end mark
        if "[BEGIN CLAIMS" in prompt:
            return scripted.with_code(prompt, "1: SUPPORTED")  # of two claims
        return scripted.reply(prompt)

    served = serve(judge)
    rows = [{"id": "a", "en": "salt", "es": "sal", "fr": "sel"}]
    metadata = {"judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, rows)}
    said = {"salt": "A is. B is.", "sal": "A is. C is.", "sel": "B is. A is."}
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    scores, (sample,) = (
        results["results"]["xling_information"],
        results["samples"]["xling_information"],
    )
    assert sample["n_claims_es"]["unscored"] == "claims not read"
    assert scores["unscored_es,none"] == 1.0
    assert scores["information_f1_es,none"] is None
    assert scores["n_claims_es,none"] is None
    assert scores["abstained_es,none"] is None
    # French: one of two verdicts each way.
    assert scores["information_f1_fr,none"] == 1.0
    assert scores["unverified_fr,none"] == 0.5
    assert sample["n_claims_fr"]["supported"] == [True, None]
    # Romance would be French alone: a mean over what is left is not shown.
    assert scores["information_f1_family_romance,none"] is None


def test_what_no_translator_translated_is_no_fault_of_the_judge(run, serve, tmp_path):
    served = serve(scripted.reply)
    rows = [{"id": "a", "en": "salt", "es": "sal"}]
    metadata = {"judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, rows)}
    said = {"salt": "A is.", "sal": "La sal sube la presión de la sangre en muchas personas."}
    found = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    recorded = found["configs"]["xling_information"]["metadata"]["xling"]["outcomes"]
    assert recorded == {"en": {"measured": 1}, "es": {"translation_failed": 1}}


def test_thinking_in_answers_is_said(run, serve, tmp_path, caplog):
    served = serve(scripted.reply)
    rows = [{"id": "a", "en": "salt", "es": "sal"}]
    metadata = {"judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, rows)}
    said = {"salt": "A is.", "sal": "<think>B is.</think>A is."}
    run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    assert "1 answers hold the model's thinking" in caplog.text and "think_end_token" in caplog.text


def test_texts_missing_here_and_there_stay_with_their_languages(run, serve, tmp_path):
    """Null replies, null texts, and languages by other codes, by hand."""
    rows = [
        {"id": "a", "en": "E1", "es": None, "fr": "F1", "zh-CN": "Z1"},
        {"id": "b", "en": "E2", "es": "S2", "fr": None, "zh-CN": None},
        {"id": "c", "en": "E3", "es": None, "fr": None, "zh-CN": None},
        {"id": "d", "en": "E4", "es": "S4", "fr": "F4", "zh-CN": None},
    ]
    said = {
        "E1": "A is. B is.", "F1": "A is.", "Z1": None, "E2": "A is.", "S2": "A is.",
        "E4": None, "S4": "", "F4": "A is.",
    }  # fmt: skip
    served = serve(scripted.reply)
    metadata = {
        "judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, rows),
        "languages": "zh-CN,fr,es",
    }  # fmt: skip
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    scores, samples = (
        results["results"]["xling_information"],
        results["samples"]["xling_information"],
    )
    json.dumps([results["results"], samples], allow_nan=False, default=str)
    a, b, d = samples
    # Precision 1, recall 1/2; no answer; one that equals the English one.
    assert (a["information_f1_by_prompt_fr"], a["information_f1_by_prompt_zh"]) == (
        pytest.approx(2 / 3),
        0.0,
    )
    assert a["information_f1_by_prompt_es"] is None and a["unscored_es"] is None
    assert b["information_f1_by_prompt_es"] == 1.0 and b["unscored_fr"] is None
    assert (
        d["n_claims_es"]["unscored"] == "both answers abstain"
        and d["information_f1_by_prompt_fr"] == 0.0
    )
    assert scores["information_f1_by_prompt_fr,none"] == pytest.approx(1 / 3)
    # French: precision 1 and 0 (the English answer to d has no claims), recall 1/2: 1/2 and 1/2.
    assert scores["information_f1_fr,none"] == pytest.approx(1 / 2)
    assert scores["information_f1_script_latin,none"] == pytest.approx((1 + 1 / 2) / 2)
    assert scores["information_f1,none"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert scores["unscored_es,none"] == 0.5 and scores["unusable_rows,none"] == 7


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "en": "x", "es": ""}', r"line 1, field 'es': expected a text"),
        ('{"id": "a", "en": "x"}', r"line 1: has English only"),
        ('{"id": "a", "es": "x", "fr": "y"}', r"line 1, field 'en': missing"),
        ('{"id": "a", "en": "x", "spa": "y"}', r"line 1, field 'spa': unknown field"),
        (
            '{"id": "a", "en": "x", "he": "y", "iw": "z"}',
            r"field 'iw': language 'he' stands there twice",
        ),
        ('{"en": "x", "es": "y"}', r"line 1, field 'id': expected a text"),
        ('{"id": "a", "en": "x {age}", "es": "y"}', r"line 1, field 'es': placeholders"),
        (
            '{"id": "a", "en": "x", "es": "y"}\n{"id": "a", "en": "x", "es": "y"}',
            r"line 2: id 'a' stands in line 1",
        ),
        (
            '{"id": "a", "en": "x", "es": "y"}\n{"id": "b", "en": "x"}',
            r"line 2, field 'es': missing; write null",
        ),
        (
            '{"id": "a", "en": "x", "es": "y"}\n{"id": "b", "en": "x", "es": "y", "fr": "z"}',
            r"line 2, field 'fr': not in the first line",
        ),
        ("[1]", r"line 1: expected an object"),
        ("{", r"line 1: not valid JSON"),
        ("", r"has no prompts"),
    ],
)
def test_prompt_files_are_checked(tmp_path, line, message):
    path = tmp_path / "p.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_prompts(RECORDS["information"], str(path))


def test_prompts_file_that_is_not_there():
    with pytest.raises(DataError, match="prompts_file=/nowhere/x.jsonl: there is no such file"):
        load_prompts(RECORDS["information"], "/nowhere/x.jsonl")


def test_a_users_prompt_frames_every_language(run, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text('information:\n  en: "Answer in {language}: {prompt}"\n', encoding="utf-8")
    seen = []

    def answer(prompt):
        seen.append(prompt)
        return "A is."

    rows = [{"id": "a", "en": "salt", "es": "sal"}]
    metadata = {"prompts": str(own), "prompts_file": _file(tmp_path, rows)}
    run("xling_information", model=replies(answer), metadata=metadata)
    assert seen == ["Answer in English: salt", "Answer in Spanish: sal", "Answer in English: salt"]


def test_the_small_set_and_the_whole(run):
    task, seen = "xling_information", {}
    for part, n in (("small", 24), ("all", 150)):
        metadata = {"prompts": part, "languages": ["es"]}
        results = run(task, model=replies(lambda prompt: "Yes."), metadata=metadata)
        own = results["configs"][task]["metadata"]["xling"]
        assert own["data"]["prompt_set"] == own["settings"]["prompt_set"] == part
        assert own["data"]["set_version"] == 6 and len(results["samples"][task]) == n
        assert own["settings"]["prompts"] is None and results["versions"][task] == 5.4
        seen[part] = own["data"]["sha256"]
    assert seen["small"] != seen["all"]


def test_cost_says_what_each_set_means(capsys):
    from xling_tasks.cli import main

    words = ["cost", "--tasks", "xling_information", "--metadata", "languages=[es]"]
    for part, said in (
        ("small", "prompts=small, 24 prompts in 2 languages; --metadata prompts=all asks all 150"),
        ("all", "prompts=all, 150 prompts in 2 languages; --metadata prompts=small asks the fixed"),
    ):
        assert main([*words, f"prompts={part}"]) == 0
        assert said in capsys.readouterr().out


VARIES = [
    {"id": "salt", "en": "salt", "es": "sal"},
    {"id": "drive", "varies": "country", "en": "drive", "es": "conducir"},
]


def test_where_right_answers_differ_by_country_nothing_is_compared(run, settings, tmp_path):
    """The Spanish rule differs from the English one, and that is no mistake."""
    served, metadata = settings
    said = {"salt": "Salt is salt.", "sal": "Salt is salt.", "drive": "Wait a year.",
            "conducir": "Wait six months."}  # fmt: skip
    metadata = {**metadata, "prompts_file": _file(tmp_path, VARIES), "translator": "none"}
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    scores = results["results"]["xling_information"]
    assert scores["information_f1_es,none"] == scores["information_f1,none"] == 1.0
    assert scores["unscored_es,none"] == 0.0 and scores["not_compared,none"] == 0.5
    data = results["configs"]["xling_information"]["metadata"]["xling"]["data"]
    assert data["not_compared"] == {"drive": "country"}
    assert not any("Wait" in prompt for prompt in served.prompts)  # nobody is asked, or paid
    left = next(
        s for s in results["samples"]["xling_information"] if s["doc"]["question_id"] == "drive"
    )
    shown = CRITERIA["information"].shown.parts(left, "es", False)
    assert shown[-1].title == "Not compared"
    assert left["information_f1_es"] is None and left["langid_match_es"] is not None
    assert left["n_claims_es"] is None and left["doc"]["varies"] == "country"
    # Without the mark the same answers are scored, and the country's rule counts as wrong.
    plain = [{k: v for k, v in row.items() if k != "varies"} for row in VARIES]
    metadata |= {"prompts_file": _file(tmp_path, plain)}
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    scores = results["results"]["xling_information"]
    assert scores["information_f1_es,none"] < 1.0 and "not_compared,none" not in scores


def test_prompts_that_differ_by_country_are_marked():
    prompts = load_prompts(RECORDS["information"]).prompts
    marked = {item["id"] for item in prompts if item.get("varies") == "country"}
    assert {"epilepsy_driving", "baby_vaccines", "vitamin_d_winter", "suicidal_friend"} < marked
    assert len(marked) == sum("varies" in item for item in prompts) == 14
    small = load_prompts(RECORDS["information"], None, "small").prompts
    assert sum("varies" in item for item in small) == 3


@pytest.mark.realdata
def test_real_liveqa_in_four_languages(run, settings, realdata):
    _, metadata = settings
    metadata = {**metadata, "data_dir": str(realdata / "xlinghealth")}
    results = run("xlinghealth_information_liveqa", metadata=metadata, limit=60)
    scores = results["results"]["xlinghealth_information_liveqa"]
    ids = [s["doc"]["question_id"] for s in results["samples"]["xlinghealth_information_liveqa"]]
    # Questions 58 and 67 have no English text.
    assert len(ids) == 60 and "58" not in ids
    assert results["n-samples"]["xlinghealth_information_liveqa"]["original"] == 244
    for code in ("es", "zh", "hi"):
        # The scripted translator may lose a sentence that a splitter cut in two.
        assert scores[f"unscored_{code},none"] < 0.05
        assert 0 < scores[f"information_f1_{code},none"] < 1
    assert scores["unusable_rows,none"] == 2


def test_cost_counts_what_the_judge_and_the_model_are_asked(run, settings, capsys):
    from xling_tasks.cli import main

    served, metadata = settings
    metadata |= {"languages": ["es", "zh", "hi"]}
    words = ["cost", "--tasks", DEMO, "--json", "--limit", "4", "--metadata", json.dumps(metadata)]
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)
    assert served.prompts == []
    requests = {(row["role"], row["language"]): row["requests"] for row in rows}
    results = run(DEMO, metadata=metadata, limit=4)
    samples = results["samples"][DEMO]
    assert requests["model", "all"] == sum(len(sample["resps"]) for sample in samples) == 20
    # Per language an answer is taken apart and two lists of claims are checked; English has two.
    assert [requests["judge", code] for code in ("en", "es", "zh", "hi")] == [16, 12, 12, 12]
    asked = sum("[BEGIN TEXT" in prompt or "[BEGIN CLAIMS" in prompt for prompt in served.prompts)
    # At most that: equal texts and lists are asked about once.
    assert 0.8 * 52 <= asked <= requests["judge", "all"] == 52
    assert requests["translator", "all"] > 0 and ("translator", "en") not in requests


def test_a_failed_call_is_the_reason_and_no_translation_is_blamed(run, serve, tmp_path, caplog):
    lost = Unanswered.of("failed", "HTTP 500")
    said = {
        "What is salt?": "A is.",
        "¿Qué es la sal?": lost,
        "מהו מלח?": "A is.",
        "What is tea?": lost,
        "¿Qué es el té?": "A is.",
    }
    served = serve(scripted.reply)
    metadata = {"judge": served.spec(), "translator": "none", "prompts_file": _file(tmp_path, ROWS)}
    results = run("xling_information", model=replies(said.__getitem__), metadata=metadata)
    by_id = {s["doc"]["question_id"]: s for s in results["samples"]["xling_information"]}
    assert "thinking" not in caplog.text
    assert by_id["a"]["n_claims_es"]["unscored"] == "the answer failed"
    assert by_id["b"]["n_claims_es"]["unscored"] == "the English answer failed"
    assert by_id["a"]["n_claims_he"]["unscored"] is None
    assert results["results"]["xling_information"]["unscored_es,none"] == 1.0
