"""Language of texts: langid's labels, language consistency, line pass and word pass.

langid 1.1.6 with its default model of 97 languages, over texts in Unicode form NFC. It mistakes
close languages: of 899 lines that a model wrote when asked for Indonesian it labels 79 as Malay.
Compare a language's scores with those of reference answers in that language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple, TypeVar

import regex
from xling_metrics import langid_batches
from xling_metrics.base import mean, normalize_text
from xling_metrics.languages import (
    ALL_LANGUAGES,
    SCRIPTS,
    find_language,
    in_script,
    language_code,
    letter_pattern,
)
from xling_metrics.tokenization import LETTER, has_words, lower_words

PUBLISHED_LANGUAGES = ("en", "es", "zh", "hi")
"""The only labels that the published code of XLingEval counts."""

LINE_WORDS = 5  # the benchmark's limit: a line with fewer words is too short to identify

_UNSPACED_LETTER = regex.compile(
    r"[\p{L}&&[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.V1
)
ADDRESS = regex.compile(
    r"(?:https?://|www\.)\S+"
    # Each from the beginning of its run only, or a long run costs the square of its length.
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?<![\w-])[\w-]+\.(?:com|org|net|gov|edu|int)\b"
)
# Common in English prose (together a third of its words), and in no other language that common.
_COMMON_IN_ENGLISH = """
the of and to is are that for with you your have has not can should this these it from or be by if
was were their they which will would may as at on but when what how
"""
_ENGLISH = frozenset(_COMMON_IN_ENGLISH.split())
_LONG_UNITS = frozenset({"mmol", "nmol", "pmol", "umol", "kcal"})

_T = TypeVar("_T")

Decide = Callable[[Sequence[str]], list[bool | None]]
"""Whether each text is in the language asked for, by another identifier; None: it has no letter."""


class LanguageConfusion(NamedTuple):
    """One answer under the Language Confusion Benchmark (arXiv 2406.20052).

    Attributes:
        line_pass: Whether every line that counts is in the language; None if no line counts. The
            line-level pass rate (LPR) is the share of True among the values that are not None.
        word_pass: Whether an answer that passes by line has no word in another script; None if
            `line_pass` is not True, and for languages in Latin script or in two scripts, where a
            foreign word does not show by its letters. The share of True is the WPR.
    """

    line_pass: bool | None
    word_pass: bool | None


def langid_code(language: str) -> str:
    """Return langid's label of a language: `iw` gives `he`, `zh-CN` gives `zh`.

    Raises:
        ValueError: If langid does not know the language; the message lists those it knows.
    """
    if not langid_knows(language):
        labels = ", ".join(sorted(langid_batches.known_labels()))
        raise ValueError(f"langid does not know {language!r}; it knows {labels}")
    return language_code(language)


def langid_knows(language: str) -> bool:
    """Return whether langid has a label for a language."""
    return language_code(language) in langid_batches.known_labels()


def identify_language(texts: Sequence[str]) -> list[str | None]:
    """Return langid's label of each text, for many texts at once.

    Formula: the label with the largest prior plus the sum, over the byte n-grams of the text, of
    their log-probabilities in that label (naive Bayes; Lui and Baldwin 2012, langid.py). None for
    an empty or blank text, where langid would say `en`. The label of a text without letters says
    more about langid's prior than about the text.
    """
    present = [text for text in dict.fromkeys(texts) if text.strip()]
    labels = langid_batches.labels_of([normalize_text(text).encode() for text in present])
    label_by_text = dict(zip(present, labels, strict=True))
    return [label_by_text.get(text) for text in texts]


def deciding_scripts(language: str) -> tuple[str, ...]:
    """Return the scripts that decide whether a text is in a language; none where langid decides.

    Scripts decide for languages that langid does not know, and for tags with another script than
    the usual one (`hi-Latn`), in which langid would not recognize the language.
    """
    row, usual = find_language(language), ALL_LANGUAGES.get(language_code(language))
    if row is None:
        return ()
    is_usual = usual is not None and SCRIPTS[row.script] == SCRIPTS[usual.script]
    return () if is_usual and langid_knows(language) else row.unicode_scripts


def in_language(texts: Sequence[str], language: str) -> list[bool | None]:
    """Return whether each text is in a language, and in the script of its tag.

    Where langid decides: whether that is its label; None for an empty text. Where scripts decide:
    whether at least half of the letters are in them and the text is not English, which models fall
    back to; None for a text without letters. A text in a third language of the same script passes,
    so this is an upper bound.

    Raises:
        ValueError: If neither langid nor `languages.yaml` knows the language.
    """
    scripts = deciding_scripts(language)
    if not scripts:
        target = langid_code(language)
        return [
            None if label is None else label == target and in_script(text, language)
            for label, text in zip(identify_language(texts), texts, strict=True)
        ]

    def decide(text: str) -> bool | None:
        n_letters = len(LETTER.findall(text))
        if not n_letters:
            return None
        n_in_scripts = len(letter_pattern(scripts).findall(text))
        return 2 * n_in_scripts >= n_letters and not is_english(text)

    return [decide(text) for text in texts]


def is_english(text: str) -> bool:
    """Return whether at least a sixth of the words are among the commonest of English."""
    words = lower_words(text, "en")
    return 6 * sum(word in _ENGLISH for word in words) >= len(words) > 0


def in_language_rule(language: str) -> str:
    """Return how `in_language` decides, for signatures; empty where it is langid's label alone."""
    scripts = deciding_scripts(language)
    return f"|by:script_{'+'.join(scripts)}_and_not_english" if scripts else ""


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a text by sentencex, stripped; none for an empty text."""
    from sentencex import segment  # type: ignore[import-untyped]

    parts = segment(language_code(language), normalize_text(text))
    return [part for raw in parts if (part := raw.strip())]


def published_sentences(text: str) -> list[str]:
    """Split as XLingEval's published code: after each of `. ! ? । 。 ！ ？`, anywhere.

    It also cuts `3.5` and `Dr. Rao`. Source: consistency/language_consistency.py of
    claws-lab/XLingEval.
    """
    return [piece for raw in re.split(r"(?<=[.!?।。！？])", text) if (piece := raw.strip())]


def language_consistency_corpus(
    answers: Sequence[str], language: str, decide: Decide | None = None
) -> list[float | None]:
    """Return the share of each answer's sentences that are in the language asked for.

    Range 0..1, higher is better; None without a sentence that counts. Sentences without a letter
    (`1.`, `***`) do not count: langid would label them as English. Source: XLingEval (arXiv
    2310.13132); see `published_language_consistency_corpus` for what its code did.

    Args:
        answers: Answers as the model gave them, untranslated.
        language: The code or tag of the language asked for.
        decide: Another identifier than langid.
    """
    decide = decide or _langid_decider(language)
    parts = {
        answer: [part for part in sentences(answer, language) if LETTER.search(part)]
        for answer in dict.fromkeys(answers)
    }
    decisions = _map_groups(decide, list(parts.values()))
    shares = {
        answer: mean([float(bool(inside)) for inside in group])
        for answer, group in zip(parts, decisions, strict=True)
    }
    return [shares[answer] for answer in answers]


def published_language_consistency_corpus(
    answers: Sequence[str], language: str
) -> list[float | None]:
    """Return language consistency as XLingEval's published code computes it.

    It splits by `published_sentences`, counts sentences with and without letters, and leaves out a
    sentence that langid labels as another language than English, Spanish, Chinese and Hindi, so an
    answer wholly in French is unscored (None).

    Raises:
        ValueError: If the language asked for is not one of the four.
    """
    target = langid_code(language)
    if target not in PUBLISHED_LANGUAGES:
        raise ValueError(f"published for {', '.join(PUBLISHED_LANGUAGES)} only, not {language!r}")
    groups = _map_groups(identify_language, [published_sentences(answer) for answer in answers])
    return [
        mean([float(label == target) for label in labels if label in PUBLISHED_LANGUAGES])
        for labels in groups
    ]


def has_own_script(language: str) -> bool:
    """Return whether `word_pass` is defined: a foreign word shows by its script, as in Hindi."""
    row = find_language(language)
    return row is not None and row.has_own_script and not deciding_scripts(language)


def score_language_confusion(
    answers: Sequence[str], language: str, decide: Decide | None = None
) -> list[LanguageConfusion]:
    """Return `line_pass` and `word_pass` of each answer.

    A line counts if it has at least LINE_WORDS words, two letters of a script without spaces
    (Chinese, Japanese, Thai) being one word. In the lines that count a word fails if it is written
    in another script than the language's, except: web and mail addresses; words of up to three
    letters (units, symbols such as alpha) and the units in _LONG_UNITS; words with an upper-case
    letter (abbreviations, names, brands) or a digit. In scripts without case, such as Han in a
    Korean text, runs of two letters and more fail.

    Source: Language Confusion Benchmark (arXiv 2406.20052) and its compute_metrics.py. Deviations:
    langid instead of fastText lid.176, so no threshold below which a line is 'unknown'; their five
    tokens come from jieba, fugashi, or spaces; there a word fails if an English word list has it,
    in lower case and with more than three letters: we ship no list, so a lower-case drug name or a
    word of any third language fails, too.

    Args:
        answers: The answers.
        language: The code or tag of the language asked for; where langid does not know it,
            `word_pass` is None.
        decide: Another identifier than langid; a line for which it returns None does not count.
    """
    lines = [
        [line for line in normalize_text(answer).splitlines() if _is_long(line)]
        for answer in answers
    ]
    results = []
    decisions = _map_groups(decide or _langid_decider(language), lines)
    for long_lines, decided in zip(lines, decisions, strict=True):
        inside = [item for item in decided if decide is None or item is not None]
        line_pass = all(inside) if inside else None
        word_pass = None
        if line_pass and has_own_script(language):
            runs = _foreign_run(language).findall(ADDRESS.sub(" ", "\n".join(long_lines)))
            word_pass = all(map(_is_allowed, runs))
        results.append(LanguageConfusion(line_pass, word_pass))
    return results


def _is_long(line: str) -> bool:
    unspaced = sum(1 for _ in islice(_UNSPACED_LETTER.finditer(line), 2 * LINE_WORDS)) // 2
    if unspaced == LINE_WORDS:
        return True
    return has_words(_UNSPACED_LETTER.sub(" ", line), LINE_WORDS - unspaced)


def _is_allowed(word: str) -> bool:
    if any(c.isupper() or c.isdigit() for c in word) or word in _LONG_UNITS:
        return True
    has_case = word.upper() != word
    return len(word) <= (3 if has_case else 1)


@cache
def _foreign_run(language: str) -> regex.Pattern[str]:
    row = find_language(language)
    scripts = "".join(rf"\p{{scx={script}}}" for script in (row.unicode_scripts if row else ()))
    foreign = rf"[\p{{L}}--[{scripts}\p{{Common}}\p{{Inherited}}]]"
    return regex.compile(rf"{foreign}(?:{foreign}|[\p{{M}}\p{{N}}])*", regex.V1)


def _langid_decider(language: str) -> Decide:
    if not deciding_scripts(language):
        langid_code(language)  # raises for an unknown language, even without texts
    return lambda texts: in_language(texts, language)


def _map_groups(
    function: Callable[[Sequence[str]], list[_T]], groups: Sequence[Sequence[str]]
) -> list[list[_T]]:
    """Apply a function to the texts of all groups at once, and return its results per group."""
    results = iter(function([text for group in groups for text in group]))
    return [list(islice(results, len(group))) for group in groups]
