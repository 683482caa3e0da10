"""Empathy consistency through the harness."""

from __future__ import annotations

import pytest
from builders import write_lines
from fixed import Fixed

from xling_tasks.errors import SettingError

pytestmark = pytest.mark.core

TASK = "xling_empathy"
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
    from xling_tasks.tasks import against_english as empathy_task

    by_words = ByWords()
    monkeypatch.setattr(empathy_task, "load_classifier", lambda path: by_words)
    return by_words


@pytest.fixture
def posts(tmp_path):
    rows = [
        {"id": "a", "en": "I am sad.", "es": "Estoy triste.", "fr": "Je suis triste."},
        {"id": "b", "en": "I am lost.", "es": "Estoy perdido.", "fr": "Je suis perdu."},
    ]
    return str(write_lines(tmp_path / "posts.jsonl", rows))


def test_profiles_by_hand(run_one, classifier, posts):
    said = {
        "I am sad.": "I am sorry. Why?",  # emotional reaction and exploration
        "Estoy triste.": "I am so sorry. Since when?",  # the same
        "Je suis triste.": "I am sorry.",  # no exploration
        "I am lost.": "Go home.",  # nothing
        "Estoy perdido.": "Go away.",  # nothing: agreement, too
        "Je suis perdu.": "",  # no response
    }
    metadata = {"translator": "none", "empathy_classifier": "here", "prompt_set": posts}
    model = Fixed(lambda context, _: said[context])
    scores, (first, _), record, _ = run_one(TASK, model=model, metadata=metadata)
    expected = {
        "empathy": 0.5, "empathy_family_romance": 0.5, "empathy_es": 1.0, "both_absent_es": 0.5,
        "empathy_fr": 0.0, "unscored_fr": 0.5, "empty_rate_fr": 0.5,
        "emotional_reactions_agreement_fr": 1.0, "interpretations_agreement_fr": 1.0,
        "explorations_agreement_fr": 0.0, "emotional_reactions_present_en": 0.5,
        "explorations_present_es": 0.5, "explorations_present_fr": 0.0,
        "profile_fr": 1, "profile_en": 2,
    }  # fmt: skip
    assert {name: scores[name] for name in expected} == expected
    # The post is in English whatever the prompt's language was, and the empty response not asked.
    assert set(post for post, _ in classifier.asked) == {"I am sad.", "I am lost."}
    assert len(classifier.asked) == len(set(classifier.asked)) == 5
    response = {"english": "I am so sorry. Since when?", "profile": [True, False, True]}
    assert first["profile_es"] == response
    assert "classifier:by_words|translator:none" in record["signatures"]["empathy_es"]


def test_no_translator_or_no_classifier_is_refused(run, tmp_path, request):
    metadata = {"empathy_classifier": str(tmp_path), "translator": "none"}
    with pytest.raises(SettingError, match="empathy_classifier"):
        run(TASK, metadata=metadata, limit=1)
    request.getfixturevalue("classifier")
    with pytest.raises(SettingError, match="needs a translator"):
        run(TASK, metadata={"empathy_classifier": "here"}, limit=1)
