"""Empathy consistency through the harness."""

from __future__ import annotations

import pytest
from builders import write_lines
from fixed import Fixed

from xling_tasks.errors import SettingError

pytestmark = pytest.mark.core

WORDS = ("sorry", "means", "?")


class ByWords:
    """A classifier whose verdicts can be read off the response."""

    signature = "by_words"

    def __init__(self):
        self.asked = []

    def profiles(self, pairs):
        self.asked += pairs
        return [tuple(word in response for word in WORDS) for _, response in pairs]


@pytest.fixture
def classifier(monkeypatch):
    from xling_tasks.tasks import empathy as empathy_task

    by_words = ByWords()
    monkeypatch.setattr(empathy_task, "load_classifier", lambda path: by_words)
    return by_words


def model(said):
    return Fixed(lambda context, _: said[context])


@pytest.fixture
def posts(tmp_path):
    rows = [
        {"id": "a", "en": "I am sad.", "es": "Estoy triste.", "fr": "Je suis triste."},
        {"id": "b", "en": "I am lost.", "es": "Estoy perdido.", "fr": "Je suis perdu."},
    ]
    path = write_lines(tmp_path / "posts.jsonl", rows)
    return str(path)


def test_profiles_by_hand(run, classifier, posts):
    said = {
        "I am sad.": "I am sorry. Why?",  # emotional reaction and exploration
        "Estoy triste.": "I am so sorry. Since when?",  # the same
        "Je suis triste.": "I am sorry.",  # no exploration
        "I am lost.": "Go home.",  # nothing
        "Estoy perdido.": "Go away.",  # nothing: agreement, too
        "Je suis perdu.": "",  # no response
    }
    metadata = {"translator": "none", "empathy_classifier": "here", "prompts_file": posts}
    results = run("xling_empathy", model=model(said), metadata=metadata)
    scores = results["results"]["xling_empathy"]
    assert scores["empathy_es,none"] == 1.0
    assert scores["both_absent_es,none"] == 0.5
    assert scores["empathy_fr,none"] == 0.0
    assert scores["unscored_fr,none"] == 0.5 and scores["empty_rate_fr,none"] == 0.5
    assert scores["emotional_reactions_agreement_fr,none"] == 1.0
    assert scores["interpretations_agreement_fr,none"] == 1.0
    assert scores["explorations_agreement_fr,none"] == 0.0
    assert scores["emotional_reactions_present_en,none"] == 0.5
    assert scores["explorations_present_es,none"] == 0.5
    assert scores["explorations_present_fr,none"] == 0.0
    assert scores["profile_fr,none"] == 1 and scores["profile_en,none"] == 2
    assert scores["empathy,none"] == scores["empathy_family_romance,none"] == 0.5
    # The post is in English whatever the prompt's language was, and the empty response not asked.
    assert set(post for post, _ in classifier.asked) == {"I am sad.", "I am lost."}
    assert len(classifier.asked) == len(set(classifier.asked)) == 5
    first = results["samples"]["xling_empathy"][0]
    assert first["profile_es"] == {
        "english": "I am so sorry. Since when?",
        "profile": [True, False, True],
    }
    recorded = results["configs"]["xling_empathy"]["metadata"]["xling"]
    assert "classifier:by_words|translator:none" in recorded["signatures"]["empathy_es"]


def test_the_bundled_posts_in_all_languages(run):
    results = run("xling_empathy", metadata={"languages": ["hi", "id", "he"]}, limit=3)
    samples = results["samples"]["xling_empathy"]
    assert [list(sample["doc"]["text"]) for sample in samples] == [["en", "he", "hi", "id"]] * 3
    assert not any(name.startswith("empathy") for name in results["results"]["xling_empathy"])


def test_a_classifier_without_a_translator_is_refused(run, classifier):
    with pytest.raises(SettingError, match="needs a translator"):
        run("xling_empathy", metadata={"empathy_classifier": "here"}, limit=1)


def test_a_folder_that_is_no_classifier_is_refused(run, tmp_path):
    metadata = {"empathy_classifier": str(tmp_path), "translator": "none"}
    with pytest.raises(SettingError, match="empathy_classifier"):
        run("xling_empathy", metadata=metadata, limit=1)
