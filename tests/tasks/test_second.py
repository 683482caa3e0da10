"""A second opinion on the language of answers: columns beside langid's, which stay as they are."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from builders import write_lines
from fixed import Fixed
from xling_metrics import identifiers

from xling_tasks.errors import SettingError
from xling_tasks.models import identifiers as models

FAST = {"k": 2, "encoder": False, "source_encoder": False, "topic_seeds": 0}
ENGLISH = "Please drink enough water and see a doctor soon. Rest well at home."
SPANISH = "Beba suficiente agua y vaya pronto al médico. Descanse usted en su casa."
ES = "xlinghealth_correctness_demo_es"


def stub(name: str, label: Any) -> identifiers.Identifier:
    """An identifier that gives a text the label `label(text)`."""
    labels = frozenset({"en", "es", "hi", "zh", "xx"})
    return identifiers.Identifier(name, labels, lambda texts: [label(text) for text in texts])


@pytest.fixture
def second(monkeypatch):
    """`second(label)`: what `second_identifier=py3langid` says from then on."""
    monkeypatch.setattr(identifiers, "find_spec", lambda name: True)

    def install(label: Any) -> dict[str, Any]:
        monkeypatch.setattr(models, "identifier", lambda name: stub("stub:1", label))
        return {"second_identifier": "py3langid"}

    return install


def values_of(found: dict[str, Any], task: str, *names: str) -> list[Any]:
    return [found["results"][task][f"{name},none"] for name in names]


def test_correctness_has_both_and_another_language_is_one_by_both(run, second):
    halves = itertools.cycle([SPANISH, ENGLISH])
    replies: dict[str, str] = {}
    model = Fixed(lambda text, *_: replies.setdefault(text, next(halves)))
    plain = run(ES, model=model, limit=4)["results"][ES]
    # The stub calls all short texts Spanish: it never agrees with langid on English ones.
    found = run(ES, model=model, limit=4, metadata=second(lambda text: "es"))
    assert values_of(found, ES, "langid_match", "second_language_match", "identifiers_agree") == [
        1.0, 1.0, 0.5
    ]  # fmt: skip
    # In English only by both: the English half is not measured then, rather than off language.
    changed = {key for key in plain if plain[key] != found["results"][ES][key]}
    assert plain["langid_match,none"] == 0.5
    assert {key.split(",")[0].removesuffix("_stderr") for key in changed} == {"langid_match"}
    own = found["configs"][ES]["metadata"]["xling"]
    assert own["settings"]["second_identifier"] == "py3langid"
    signs = own["signatures"]
    assert signs["second_language_match"] == (
        "second_language_match|language:es|identifier:stub:1|labels:es"
    )
    assert "|langid:" in signs["identifiers_agree"] and signs["langid_match"].endswith(
        "|agreed_by:stub:1"
    )


def test_without_the_setting_there_is_nothing_second(run):
    found = run(ES, limit=1)["results"][ES]
    assert not [key for key in found if key.startswith(("second", "identifiers"))]


def test_consistency_by_sentence_line_and_answer(run, second):
    task = "xlinghealth_consistency_demo_es"
    metadata = second(lambda text: "en" if "Descanse" in text else "es") | FAST
    found = run(task, model=Fixed(lambda *_: SPANISH), limit=3, metadata=metadata)
    names = ("language_consistency", "second_language_consistency", "second_line_pass_rate")
    for tau in ("0.0", "1.0"):
        assert values_of(found, task, *(f"{name}_t{tau}" for name in names)) == [1.0, 0.5, 0.0]
        assert values_of(found, task, f"identifiers_agree_t{tau}") == [0.0]
        assert values_of(found, task, f"language_consistency_published_t{tau}") == [1.0]


def test_answers_without_letters_are_unscored_by_it(run, second):
    found = run(ES, model=Fixed(lambda *_: "12."), limit=2, metadata=second(lambda text: "es"))
    assert values_of(found, ES, "second_language_match", "identifiers_agree") == [None, None]


def test_a_language_that_it_does_not_know_has_no_column(run, second, tmp_path, caplog):
    path = tmp_path / "own.jsonl"
    rows = [{"id": i, "question_en": f"Is {i} much?", "question_dag": f"Bo n-soya {i}?",
             "answer_en": f"It is {i}.", "answer_dag": f"Kom {i}."} for i in range(3)]  # fmt: skip
    write_lines(path, rows)
    metadata = {"data_dir": str(path), "scripts": {"dag": "Latn"}} | second(lambda text: "en")
    found = run("xling_own_correctness", metadata=metadata)["results"]["xling_own_correctness"]
    assert found["second_language_match_en,none"] is not None
    assert not [key for key in found if key.startswith("second") and "_dag" in key]
    assert "does not know" in caplog.text and "langid_match_dag,none" in found


def test_a_language_that_only_it_knows(run, monkeypatch, tmp_path):
    """langid does not know Dagbani: by script alone Swahili would pass; by a label it does not."""
    path = tmp_path / "own.jsonl"
    rows = [{"id": i, "question_en": f"Is {i} much?", "question_dag": f"Bo n-soya {i}?",
             "answer_en": f"It is {i}.", "answer_dag": f"Kom {i}."} for i in range(3)]  # fmt: skip
    write_lines(path, rows)
    monkeypatch.setattr(identifiers, "find_spec", lambda name: True)
    swahili = identifiers.Identifier(
        "glot", frozenset({"dag_Latn", "swh_Latn"}), lambda texts: ["swh_Latn"] * len(texts)
    )
    monkeypatch.setattr(models, "identifier", lambda name: swahili)
    model = tmp_path / "glotlid.bin"
    model.write_bytes(b"")
    metadata = {"data_dir": str(path), "scripts": {"dag": "Latn"}, "second_identifier": str(model)}
    reply = Fixed(lambda *_: "Kunywa maji mengi na upumzike nyumbani kwa siku mbili.")
    found = run("xling_own_correctness", model=reply, metadata=metadata)
    names = ("langid_match_dag", "second_language_match_dag", "identifiers_agree_dag")
    assert values_of(found, "xling_own_correctness", *names) == [None, 0.0, 0.0]
    signs = found["configs"]["xling_own_correctness"]["metadata"]["xling"]["signatures"]
    assert "|labels:dag_Latn" in signs["second_language_match_dag"]


def test_tasks_with_all_languages_in_one_document(run, second):
    metadata = second(lambda text: "hi") | {"languages": ["es", "hi"], "prompts": "small"}
    found = run("xling_information", limit=2, metadata=metadata)["results"]["xling_information"]
    assert found["second_language_match_hi,none"] == found["identifiers_agree_hi,none"] == 1.0
    assert found["second_language_match_es,none"] == found["identifiers_agree_es,none"] == 0.0
    assert found["langid_match_es,none"] == 1.0


def test_a_model_file_that_cannot_be_read_ends_the_run_before_it_asks(run, tmp_path, monkeypatch):
    pytest.importorskip("fasttext")
    wrong = tmp_path / "glotlid.bin"
    wrong.write_bytes(b"no model")

    def never(*_: Any) -> str:
        raise AssertionError("the model was asked")

    with pytest.raises(SettingError, match=r"glotlid\.bin: cannot be loaded"):
        run(ES, model=Fixed(never), limit=1, metadata={"second_identifier": str(wrong)})


def test_rationales_of_mmedbench(run, second):
    metadata = second(lambda text: "es") | {"source_encoder": False}
    found = run("mmedbench_rationale_demo_es", limit=3, metadata=metadata)
    (scores,) = found["results"].values()
    assert scores["second_language_consistency,none"] == 1.0
    assert scores["identifiers_agree,none"] == scores["language_consistency,none"] == 1.0


@pytest.mark.parametrize("name", identifiers.PACKAGES)
def test_a_real_one_on_the_sample(run, name):
    if identifiers.missing(name):
        pytest.skip(f"{identifiers.missing(name)} is not installed")
    tasks = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "hi")]
    found = run(tasks, limit=8, metadata={"second_identifier": name})
    for task in tasks:
        match, agree = values_of(found, task, "second_language_match", "identifiers_agree")
        assert match >= 0.75 and agree >= 0.75
