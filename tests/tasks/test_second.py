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


@pytest.fixture
def second(monkeypatch):
    """`second(label)`: what a second identifier says of a text from then on, of the languages KNOWN."""
    monkeypatch.setattr(identifiers, "find_spec", lambda name: True)

    def install(
        label: Any, name: str = "py3langid", known: str = "en es hi zh xx"
    ) -> dict[str, Any]:
        made = identifiers.Identifier(
            "stub:1", frozenset(known.split()), lambda texts: [label(text) for text in texts]
        )
        monkeypatch.setattr(models, "identifier", lambda _: made)
        return {"second_identifier": name}

    return install


@pytest.fixture
def dagbani(tmp_path):
    """Settings for questions of the user's own in English and Dagbani, which langid does not know."""
    rows = [{"id": i, "question_en": f"Is {i} much?", "question_dag": f"Bo n-soya {i}?",
             "answer_en": f"It is {i}.", "answer_dag": f"Kom {i}."} for i in range(3)]  # fmt: skip
    path = write_lines(tmp_path / "own.jsonl", rows)
    return {"data_dir": str(path), "scripts": {"dag": "Latn"}}


def values_of(scores: dict[str, Any], *names: str) -> list[Any]:
    return [scores[name] for name in names]


def test_correctness_has_both_and_another_language_is_one_by_both(run_one, second):
    halves = itertools.cycle([SPANISH, ENGLISH])
    replies: dict[str, str] = {}
    model = Fixed(lambda text, *_: replies.setdefault(text, next(halves)))
    plain = run_one(ES, model=model, limit=4).scores
    assert not [name for name in plain if name.startswith(("second", "identifiers"))]
    # The stub calls all short texts Spanish: it never agrees with langid on English ones.
    own = run_one(ES, model=model, limit=4, metadata=second(lambda text: "es"))
    both = values_of(own.scores, "langid_match", "second_language_match", "identifiers_agree")
    assert both == [1.0, 1.0, 0.5]
    # In English only by both: the English half is not measured then, rather than off language.
    changed = {
        name.removesuffix("_stderr,none") for name in plain if plain[name] != own.scores[name]
    }
    assert plain["langid_match"] == 0.5 and changed == {"langid_match"}
    assert own.record["settings"]["second_identifier"] == "py3langid"
    signs = own.record["signatures"]
    made = "second_language_match|language:es|identifier:stub:1|labels:es"
    assert signs["second_language_match"] == made and "|langid:" in signs["identifiers_agree"]
    assert signs["langid_match"].endswith("|agreed_by:stub:1")


def test_consistency_by_sentence_line_and_answer(run_one, second):
    metadata = second(lambda text: "en" if "Descanse" in text else "es") | FAST
    task, model = ES.replace("correctness", "consistency"), Fixed(lambda *_: SPANISH)
    scores = run_one(task, model=model, limit=3, metadata=metadata).scores
    expected = {
        "language_consistency": 1.0, "second_language_consistency": 0.5, "identifiers_agree": 0.0,
        "second_line_pass_rate": 0.0, "language_consistency_published": 1.0,
    }  # fmt: skip
    for tau in ("0.0", "1.0"):
        assert {name: scores[f"{name}_t{tau}"] for name in expected} == expected


def test_answers_without_letters_are_unscored_by_it(run_one, second):
    metadata = second(lambda text: "es")
    scores = run_one(ES, model=Fixed(lambda *_: "12."), limit=2, metadata=metadata).scores
    assert values_of(scores, "second_language_match", "identifiers_agree") == [None, None]


def test_a_language_that_it_does_not_know_has_no_column(run_one, second, dagbani, caplog):
    scores = run_one("xling_own_correctness", metadata=dagbani | second(lambda text: "en")).scores
    assert scores["second_language_match_en"] is not None and "langid_match_dag" in scores
    assert not [name for name in scores if name.startswith("second") and "_dag" in name]
    assert "does not know" in caplog.text


def test_a_language_that_only_it_knows(run_one, second, dagbani, tmp_path):
    """By script alone Swahili would pass as Dagbani; by a label it does not."""
    file = tmp_path / "glotlid.bin"
    file.touch()
    metadata = dagbani | second(lambda text: "swh_Latn", str(file), "dag_Latn swh_Latn")
    reply = Fixed(lambda *_: "Kunywa maji mengi na upumzike nyumbani kwa siku mbili.")
    own = run_one("xling_own_correctness", model=reply, metadata=metadata)
    names = ("langid_match_dag", "second_language_match_dag", "identifiers_agree_dag")
    assert values_of(own.scores, *names) == [None, 0.0, 0.0]
    assert "|labels:dag_Latn" in own.record["signatures"]["second_language_match_dag"]


def test_tasks_with_all_languages_in_one_document(run_one, second):
    metadata = second(lambda text: "hi") | {"languages": ["es", "hi"], "prompts": "small"}
    scores = run_one("xling_information", limit=2, metadata=metadata).scores
    for code, said in (("hi", 1.0), ("es", 0.0)):
        names = (
            f"second_language_match_{code}",
            f"identifiers_agree_{code}",
            f"langid_match_{code}",
        )
        assert values_of(scores, *names) == [said, said, 1.0]


def test_a_model_file_that_cannot_be_read_ends_the_run_before_it_asks(run, tmp_path):
    pytest.importorskip("fasttext")
    wrong = tmp_path / "glotlid.bin"
    wrong.write_bytes(b"no model")
    model = Fixed(lambda *_: "")
    with pytest.raises(SettingError, match=r"glotlid\.bin: cannot be loaded"):
        run(ES, model=model, limit=1, metadata={"second_identifier": str(wrong)})
    assert model.seen == []


def test_rationales_of_mmedbench(run_one, second):
    metadata = second(lambda text: "es") | {"source_encoder": False}
    scores = run_one("mmedbench_rationale_demo_es", limit=3, metadata=metadata).scores
    names = ("second_language_consistency", "identifiers_agree", "language_consistency")
    assert values_of(scores, *names) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", identifiers.PACKAGES)
@pytest.mark.parametrize("code", ["en", "hi"])
def test_a_real_one_on_the_sample(run_one, name, code):
    if identifiers.missing(name):
        pytest.skip(f"{identifiers.missing(name)} is not installed")
    task, metadata = f"xlinghealth_correctness_demo_{code}", {"second_identifier": name}
    scores = run_one(task, limit=8, metadata=metadata).scores
    assert min(values_of(scores, "second_language_match", "identifiers_agree")) >= 0.75
