"""The bundled prompts and posts in 31 languages: gates that need no reader of a language."""

from __future__ import annotations

import re
import statistics
from collections import Counter

import pytest
import regex
from builders import write_lines
from conftest import read_jsonl
from prompt_gates import (
    UNSAID,
    WRITER,
    complaints,
    language_complaints,
    says_writer,
    unsaid_complaints,
)
from prompt_terms import NEGATIONS, concepts, terms
from tools import shared_deviations
from xling_metrics.language import identify_language

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import load_prompts, statuses, text_digest
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.languages import LANGUAGES

SETS = ("information", "empathy")
FRIEND = {"ar": "صديقاتي", "hi": "सहेली", "ur": "سہیلی", "pa": "ਸਹੇਲੀ", "gu": "સહેલી", "kn": "ಗೆಳತಿ", "te": "స్నేహితురాలు", "he": "החברה", "fr": "amie", "es": "amiga", "it": "amica", "pt": "amiga", "ro": "prietenă", "el": "φίλη", "cs": "kamarádka", "pl": "przyjaciółka", "ru": "подруга", "de": "Freundin", "nl": "vriendin"}  # fmt: skip


CARDS = {card["id"]: card for card in read_jsonl(SAMPLE_FOLDER / "prompt_cards.jsonl")}


def every_text():
    """The texts of all prompts and posts by id: language -> text."""
    return {
        item["id"]: item["text"] for key in SETS for item in load_prompts(DATASETS[key]).prompts
    }


def lowered(text):
    """A text as patterns are looked for in it: Turkish has an i with a dot of its own."""
    return text.lower().replace("i\u0307", "i")


def test_sizes_and_categories():
    """As many as the paper's sets, in as many categories; the small parts are balanced."""
    for part, sizes, n_posts in (("all", {19: 6, 18: 2}, 100), ("small", {3: 8}, 12)):
        information, empathy = (load_prompts(DATASETS[key], part) for key in SETS)
        assert Counter(Counter(p["category"] for p in information.prompts).values()) == sizes
        assert len(empathy.prompts) == n_posts
        for data in (information, empathy):
            assert set(data.languages) == set(LANGUAGES) and data.languages[0] == "en"
            assert not any(map(data.missing, data.languages))
            assert data.provenance["prompt_set"] == part
        versions = [data.provenance["set_version"] for data in (information, empathy)]
        assert versions == [6, 6]
    for key, n in (("information", 24), ("empathy", 12)):
        whole, small = (load_prompts(DATASETS[key], part) for part in ("all", "small"))
        assert small.prompts == whole.prompts[:n]
        assert small.provenance["sha256"] != whole.provenance["sha256"]


@pytest.mark.parametrize("key", SETS)
@pytest.mark.parametrize("code", LANGUAGES)
def test_texts_of_a_language(code, key):
    prompts = load_prompts(DATASETS[key]).prompts
    own = [item["text"][code] for item in prompts]
    assert len(set(own)) == len(own)
    wrong = {
        item["id"]: said
        for item, text, identified in zip(prompts, own, identify_language(own))
        if (said := complaints(code, item["text"]["en"], text)
            + language_complaints(code, text, identified))
    }  # fmt: skip
    assert not wrong


DENIED = r"\b(not|never|without|cannot|nobody|nothing|none)\b|n't\b|\bno (?!matter)"
SAID_WITHOUT = {("el", "night_shift"), ("ml", "night_shift")}
"""'Months since I ate with my family': what the English denies, in words that deny nothing."""


def _lost(pattern, words):
    """Where the English has a pattern and a text none of its language's words."""
    return {
        (code, key)
        for key, texts in every_text().items()
        if re.search(pattern, texts["en"].lower())
        for code, own in words.items()
        if not re.search(own, lowered(texts[code]))
    }


def test_what_english_denies_is_denied():
    assert _lost(DENIED, NEGATIONS) == SAID_WITHOUT
    assert ("de", "refugee") in _lost(DENIED, {"de": "x{99}"})  # the gate sees what is lost


SHARED = {"baby", "pain", "exam", "medicine", "disease"}
"""Concepts whose everyday word says more in some languages: child, hurting, test, any drug, any illness."""


@pytest.mark.parametrize("code", sorted(set(LANGUAGES) - {"en"}))
def test_terms_are_there_and_their_patterns_are_narrow(code):
    """Every text has its terms; a pattern that texts without the concept match, too, would show nothing."""
    texts = list(every_text().values())
    own = [lowered(text[code]) for text in texts]
    lost, wide = set(), set()
    for concept, english in concepts().items():
        term = terms(code)[concept]
        assert term.pattern.search(lowered(term.word)), (concept, term.word)
        wanted = [bool(english.search(text["en"].lower())) for text in texts]
        found = [bool(term.pattern.search(text)) for text in own]
        pairs = list(zip(wanted, found, own, strict=True))
        lost |= {(concept, text) for asked, there, text in pairs if asked and not there}
        unasked = sum(there and not asked for asked, there, _ in pairs)
        if unasked > max(6, 2 * sum(wanted), 0.04 * wanted.count(False)):
            wide.add(concept)
    assert not lost and wide <= SHARED


def test_term_lists_are_whole():
    for code in set(LANGUAGES) - {"en"}:
        assert terms(code).keys() == concepts().keys(), code
        for term in terms(code).values():
            assert re.fullmatch(r"(https?://\S+)?", term.source), (code, term.word)


def test_deviations_from_english_that_languages_share_were_read():
    """None that nobody has read; of those that were read, none that is gone."""
    listed = {item[:2] for item in shared_deviations.shared()}
    assert listed == shared_deviations.read().keys()
    assert set(shared_deviations.read().values()) == shared_deviations.REASONS


def test_as_many_women_as_men_write_and_every_language_says_the_same():
    """By the cards; where a language's verbs and adjectives tell, they must tell the same."""
    writers = {key: card["writer"] for key, card in CARDS.items() if "writer" in card}
    posts = load_prompts(DATASETS["empathy"]).prompts
    balance = Counter(writers.get(post["id"]) for post in posts)
    assert balance == {"woman": 52, "man": 48}
    for code in WRITER:
        told = {
            key: says_writer(code, texts[code])
            for key, texts in every_text().items()
            if key in writers
        }
        assert {key: who for key, who in told.items() if who - {writers[key]}} == {}, code
        assert sum(map(bool, told.values())) >= 4, code  # the forms are found at all


def test_no_language_says_what_english_leaves_open():
    """Whether colleagues are women, whether a child is fed at the breast: cards say what is open."""
    assert every_text().keys() == CARDS.keys()
    for key, texts in every_text().items():
        for code, text in texts.items():
            assert not unsaid_complaints(code, CARDS[key].get("unsaid", []), text), (key, code)
    assert {what for card in CARDS.values() for what in card.get("unsaid", [])} == UNSAID.keys()


def test_the_lonely_friend_is_a_woman_wherever_grammar_says():
    texts = every_text()["lonely"]
    assert [code for code, word in FRIEND.items() if word not in texts[code]] == []


@pytest.mark.parametrize("key", SETS)
def test_no_text_is_far_longer_or_shorter_than_its_language_needs(key):
    """A truncated translation, or one with a sentence more, stands out."""
    prompts = load_prompts(DATASETS[key]).prompts
    for code in LANGUAGES:
        ratios = {p["id"]: len(p["text"][code]) / len(p["text"]["en"]) for p in prompts}
        usual = statistics.median(ratios.values())
        assert all(0.5 < ratio / usual < 1.8 for ratio in ratios.values()), (code, ratios)


@pytest.mark.parametrize("file", ["advice", "xlinghealth_demo"])
def test_hindi_has_one_spelling(file):
    """Candrabindu where it belongs, no dot below ka, kha and ga: chrF and n-grams feel both."""
    text = (SAMPLE_FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    assert not re.findall("[\u0915-\u0917]\u093c", text)
    words = regex.findall(r"[\p{Devanagari}]+", text)
    wrong = {word for word in words if re.search("[\u0906\u090a\u093e\u0941\u0942]\u0902", word)}
    assert wrong <= {"मांस", "मांसपेशियों", "शांत"}  # where the sign is a consonant


def test_nobody_vouches_for_a_text_that_was_changed(tmp_path):
    data = load_prompts(DATASETS["empathy"])
    first, second = data.prompts[:2]
    texts = {first["id"]: text_digest(first["text"]["es"]), second["id"]: text_digest("another")}
    row, file = (
        {"language": "es", "status": "native_read", "texts": texts},
        tmp_path / "status.jsonl",
    )
    counts = statuses(data, write_lines(file, [row]))
    assert counts["es"] == {"native_read": 1, "author": 99} and counts["hi"] == {"author": 100}
    assert "en" not in counts


@pytest.mark.parametrize("key", SETS)
def test_statuses_of_the_bundled_texts_are_of_these_very_texts(key):
    """No line of the file is of a text that is gone or was changed since."""
    data = load_prompts(DATASETS[key])
    read = read_jsonl(SAMPLE_FOLDER / "text_status.jsonl")
    ids = {item["id"] for item in data.prompts}
    vouched = {(row["language"], key) for row in read for key in row["texts"] if key in ids}
    for code, counts in statuses(data).items():
        assert counts.total() - counts["author"] == sum(own == code for own, _ in vouched), code
