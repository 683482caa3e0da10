"""Which language a text is in: langid for many texts, language consistency, line and word pass.

langid 1.1.6 with its default model of 97 languages; the labels equal `langid.classify(text)[0]`
exactly (see `langid_batches`).

langid itself mistakes close languages: of 899 lines a model wrote when asked for Indonesian it
calls 79 Malay. Compare a language's scores with those of reference answers in that language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple, TypeVar

import regex
from xling_metrics import langid_batches
from xling_metrics.base import mean, replace_lone_surrogates
from xling_metrics.languages import (
    KNOWN,
    SCRIPTS,
    in_script,
    known,
    language_code,
    letters_of,
)
from xling_metrics.tokenization import LETTER, has_words, words

# The only labels that the published code of XLingEval counts.
PUBLISHED_LANGUAGES = ("en", "es", "zh", "hi")

# A line with fewer words is too short to tell its language; the benchmark's own limit.
LINE_WORDS = 5

_UNSPACED_LETTER = regex.compile(
    r"[\p{L}&&[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.V1
)
ADDRESS = regex.compile(
    r"(?:https?://|www\.)\S+"
    # Each from the beginning of its run only, or a long run costs the square of its length.
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?<![\w-])[\w-]+\.(?:com|org|net|gov|edu|int)\b"
)
_LABELS = """
af am an ar as az be bg bn br bs ca cs cy da de dz el en eo es et eu fa fi fo fr ga gl gu he hi hr
ht hu hy id is it ja jv ka kk km kn ko ku ky la lb lo lt lv mg mk ml mn mr ms mt nb ne nl nn no oc
or pa pl ps pt qu ro ru rw se si sk sl sq sr sv sw ta te th tl tr ug uk ur vi vo wa xh zh zu
"""
LABELS = frozenset(_LABELS.split())
"""The languages that langid 1.1.6 knows."""

# Common in English prose (together a third of its words), and in no other language that common.
_COMMON_IN_ENGLISH = """
the of and to is are that for with you your have has not can should this these it from or be by if
was were their they which will would may as at on but when what how
"""
_ENGLISH = frozenset(_COMMON_IN_ENGLISH.split())
_LONG_UNITS = frozenset({"mmol", "nmol", "pmol", "umol", "kcal"})


_Said = TypeVar("_Said")

Decide = Callable[[Sequence[str]], list[bool | None]]
"""Whether each text is in the language asked for, by another identifier; None: it has no letter."""


class LanguageConfusion(NamedTuple):
    """One answer under the Language Confusion Benchmark; None is unscored, see the functions."""

    line_pass: bool | None
    word_pass: bool | None


def langid_code(language: str) -> str:
    """The label that langid gives this language: `iw` gives `he`, `zh-CN` gives `zh`.

    Raises:
        ValueError: If langid does not know the language; the message lists those it knows.
    """
    code = language_code(language)
    labels = langid_batches.known_labels()
    if code not in labels:
        raise ValueError(f"langid does not know {language!r}; it knows {', '.join(sorted(labels))}")
    return code


def identify_language(texts: Sequence[str]) -> list[str | None]:
    """The language of each text: `langid.classify(text)[0]`, for many texts at once.

    Formula: the label with the largest prior plus the sum, over the byte n-grams of the text, of
    their log-probabilities in that label (naive Bayes; Lui and Baldwin 2012, langid.py).

    Returns:
        One label per text. None for empty text and bare space, where langid would say `en`. Text
        without letters gets langid's answer, which says more about its prior than about the text.
    """
    present = [text for text in dict.fromkeys(texts) if text.strip()]
    encoded = [text.encode("utf-8", "surrogatepass") for text in present]
    label_of = dict(zip(present, langid_batches.labels_of(encoded), strict=True))
    return [label_of.get(text) for text in texts]


def langid_knows(language: str) -> bool:
    """Whether langid has a label for this language; its model is not loaded for that."""
    return language_code(language) in LABELS


def deciding_scripts(language: str) -> tuple[str, ...]:
    """Return the scripts that say whether a text is in a language; none where langid says it.

    They do for languages that langid does not know, and for those that the tag puts into another
    script than the usual one (`hi-Latn`), in which langid would not recognize them.
    """
    row, usual = known(language), KNOWN.get(language_code(language))
    if row is None:
        return ()
    if (
        usual is not None
        and langid_knows(language)
        and SCRIPTS[row.script] == SCRIPTS[usual.script]
    ):
        return ()
    return row.unicode_scripts


def in_language(texts: Sequence[str], language: str) -> list[bool | None]:
    """Whether each text is in a language, and in the script of its tag.

    Of a language that langid knows: whether that is its label. Of another one, as far as that can
    be told by its script: at least half of the letters are in the script, and the text
    is not English, which is what models fall back to: less than a sixth of its words are among the
    commonest of English. A text in a third language of the same script passes, so this is an upper
    bound. (langid calls many a text in a language that it does not know English.)

    Args:
        texts: The texts.
        language: The code or tag of the language asked for.

    Returns:
        One value per text; None for one without letters (with langid: for an empty one).

    Raises:
        ValueError: If langid does not know the language, nor do we know its script.
    """
    scripts = deciding_scripts(language)
    if not scripts:
        target = langid_code(language)
        return [
            None if label is None else label == target and in_script(text, language)
            for label, text in zip(identify_language(texts), texts, strict=True)
        ]
    own = letters_of(scripts)
    inside: list[bool | None] = []
    for text in texts:
        letters = len(LETTER.findall(text))
        share = len(own.findall(text)) / letters if letters else None
        inside.append(None if share is None else share >= 0.5 and not is_english(text))
    return inside


def is_english(text: str) -> bool:
    """Whether at least a sixth of the words are among the commonest of English."""
    own = [word.lower() for word in words(text, "en")]
    return 6 * sum(word in _ENGLISH for word in own) >= len(own) > 0


def in_language_rule(language: str) -> str:
    """How `in_language` decides, for signatures; empty where it is langid's label alone."""
    scripts = deciding_scripts(language)
    return f"|by:script_{'+'.join(scripts)}_and_not_english" if scripts else ""


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a text by sentencex, stripped; empty text gives an empty list."""
    from sentencex import segment  # type: ignore[import-untyped]

    parts = segment(language_code(language), replace_lone_surrogates(text))
    return [part for raw in parts if (part := raw.strip())]


def published_sentences(text: str) -> list[str]:
    """The split of XLingEval's published code: after each of `. ! ? । 。 ！ ？`, anywhere.

    It also cuts `3.5` and `Dr. Rao`. Source: consistency/language_consistency.py of
    claws-lab/XLingEval.
    """
    return [piece for raw in re.split(r"(?<=[.!?।。！？])", text) if (piece := raw.strip())]


def language_consistency(answer: str, language: str) -> float | None:
    """The share of an answer's sentences that langid assigns to the language asked for.

    Range 0..1, higher is better. Sentences without a letter (`1.`, `***`) have no language and do
    not count: langid would call them English, which costs every language but English. None if no
    sentence is left, as for an empty answer. Source: XLingEval (arXiv 2310.13132); see
    `published_language_consistency_corpus` for what its code did.

    Args:
        answer: An answer as the model gave it, untranslated.
        language: The code of the language asked for; `iw` is `he`.
    """
    return language_consistency_corpus([answer], language)[0]


def language_consistency_corpus(
    answers: Sequence[str], language: str, decide: Decide | None = None
) -> list[float | None]:
    """`language_consistency` of each answer, all their sentences identified in one pass.

    Args:
        answers: The answers.
        language: The code of the language asked for.
        decide: Another identifier than langid.
    """
    decide, code = _decider(language, decide)
    parts = {
        answer: [part for part in sentences(answer, code) if LETTER.search(part)]
        for answer in dict.fromkeys(answers)
    }
    shares = {
        answer: mean([float(bool(inside)) for inside in own])
        for answer, own in zip(parts, _in_groups(list(parts.values()), decide), strict=True)
    }
    return [shares[answer] for answer in answers]


def published_language_consistency_corpus(
    answers: Sequence[str], language: str
) -> list[float | None]:
    """Language consistency as XLingEval's published code has it, for comparison with its numbers.

    Its own split (`published_sentences`), letters or none; and a sentence that langid gives to a
    language other than English, Spanish, Chinese and Hindi is left out of the share, so an answer
    wholly in French is not scored at all. None if no sentence is left.

    Raises:
        ValueError: If the language asked for is not one of the four.
    """
    target = langid_code(language)
    if target not in PUBLISHED_LANGUAGES:
        raise ValueError(f"published for {', '.join(PUBLISHED_LANGUAGES)} only, not {language!r}")
    groups = _in_groups([published_sentences(answer) for answer in answers], identify_language)
    return [
        mean([float(label == target) for label in labels if label in PUBLISHED_LANGUAGES])
        for labels in groups
    ]


def has_own_script(language: str) -> bool:
    """Whether `word_pass` is defined: a foreign word shows by its script, as in Hindi."""
    row = known(language)
    return row is not None and row.has_own_script and not deciding_scripts(language)


def line_pass(answer: str, language: str) -> bool | None:
    """Whether every line of the answer is in the language asked for.

    The line-level pass rate (LPR) is the share of True among the answers that are not None. A line
    counts if it has at least LINE_WORDS words, two letters of a script without spaces (Chinese,
    Japanese, Thai) standing for one word. None if no line counts.

    Source: Language Confusion Benchmark (arXiv 2406.20052) and its compute_metrics.py. Deviations:
    langid instead of fastText lid.176, so no threshold below which a line is 'unknown'; their five
    tokens come from jieba, fugashi, or spaces.
    """
    return score_language_confusion([answer], language)[0].line_pass


def word_pass(answer: str, language: str) -> bool | None:
    """Whether an answer that passes by line is also free of words in another script.

    The word-level pass rate (WPR) is the share of True among the answers that are not None. None
    if `line_pass` is not True (the benchmark, too, looks for words only there), and for languages
    in Latin script, or in two scripts: there a foreign word does not show by its letters.

    A word fails if it is written in a script that is not the language's, except: web and mail
    addresses; words of up to three letters (units, symbols such as alpha) and the units in
    _LONG_UNITS; words with an upper-case letter (abbreviations, names, brands) or a digit. In
    scripts without case, such as Han in a Korean text, runs of two letters and more fail.

    Source: as `line_pass`. Deviation: there a word fails if an English word list has it, in lower
    case and with more than three letters; we ship no list, so a lower-case drug name or a word of
    any third language fails, too. Only the lines that count are looked at, as there.
    """
    return score_language_confusion([answer], language)[0].word_pass


def score_language_confusion(
    answers: Sequence[str], language: str, decide: Decide | None = None
) -> list[LanguageConfusion]:
    """`line_pass` and `word_pass` of each answer, all lines identified in one pass.

    Args:
        answers: The answers.
        language: The code of the language asked for; where langid does not know it, `word_pass`
            is None.
        decide: Another identifier than langid; a line that it says nothing about does not count.
    """
    by_langid = decide is None
    decide, _ = _decider(language, decide)
    lines = [[line for line in answer.splitlines() if _is_long(line)] for answer in answers]
    results = []
    for kept, said in zip(lines, _in_groups(lines, decide), strict=True):
        inside = said if by_langid else [item for item in said if item is not None]
        lines_ok = all(inside) if inside else None
        words_ok = None
        if lines_ok and has_own_script(language):
            words_ok = not any(_foreign_words(line, language) for line in kept)
        results.append(LanguageConfusion(lines_ok, words_ok))
    return results


def _is_long(line: str) -> bool:
    unspaced = sum(1 for _ in islice(_UNSPACED_LETTER.finditer(line), 2 * LINE_WORDS)) // 2
    if unspaced == LINE_WORDS:
        return True
    return has_words(_UNSPACED_LETTER.sub(" ", line), LINE_WORDS - unspaced)


def _foreign_words(line: str, language: str) -> list[str]:
    """The words of a line that make `word_pass` fail, for a language with its own script."""
    words = _foreign_run(language).findall(ADDRESS.sub(" ", line))
    return [word for word in words if not _is_allowed(word)]


def _is_allowed(word: str) -> bool:
    if any(c.isupper() or c.isdigit() for c in word) or word in _LONG_UNITS:
        return True
    has_case = word.upper() != word
    return len(word) <= (3 if has_case else 1)


@cache
def _foreign_run(language: str) -> regex.Pattern[str]:
    row = known(language)
    own = "".join(rf"\p{{scx={script}}}" for script in (row.unicode_scripts if row else ()))
    foreign = rf"[\p{{L}}--[{own}\p{{Common}}\p{{Inherited}}]]"
    return regex.compile(rf"{foreign}(?:{foreign}|[\p{{M}}\p{{N}}])*", regex.V1)


def _decider(language: str, decide: Decide | None) -> tuple[Decide, str]:
    """What decides whether texts are in a language, and the language's code."""
    if decide is not None:
        return decide, language_code(language)
    code = language_code(language) if deciding_scripts(language) else langid_code(language)
    return lambda texts: in_language(texts, language), code


def _in_groups(
    groups: Sequence[Sequence[str]], each: Callable[[Sequence[str]], list[_Said]]
) -> list[list[_Said]]:
    """What is said of each text, of all texts of all groups in one pass, given back per group."""
    said = iter(each([text for group in groups for text in group]))
    return [list(islice(said, len(group))) for group in groups]
