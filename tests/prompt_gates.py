"""What a translation of a bundled prompt must keep: gates that need no reader of the language.

Each gives complaints in words, none for a good text; `test_prompt_texts` runs them over all.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import regex
import yaml

PATTERNS = yaml.safe_load(
    Path(__file__).with_name("cases").joinpath("prompt_gates.yaml").read_text("utf-8")
)
WRITER, UNSAID = PATTERNS["writer"], PATTERNS["unsaid"]
SCRIPT = {
    **dict.fromkeys(("ar", "fa", "ur"), r"\p{Arabic}ـ"), "bn": r"\p{Bengali}", "el": r"\p{Greek}",
    "gu": r"\p{Gujarati}", "he": r"\p{Hebrew}", "hi": r"\p{Devanagari}", "kn": r"\p{Kannada}",
    "ko": r"\p{Hangul}", "ml": r"\p{Malayalam}", "pa": r"\p{Gurmukhi}", "ru": r"\p{Cyrillic}",
    "ta": r"\p{Tamil}", "te": r"\p{Telugu}", "th": r"\p{Thai}", "zh": r"\p{Han}",
    "ja": r"\p{Han}\p{Hiragana}\p{Katakana}ー",
}  # fmt: skip
DIGITS = {"bn": "০১২৩৪৫৬৭৮৯", "fa": "۰۱۲۳۴۵۶۷۸۹"}
"""Digits of languages whose readers expect their own."""

SPELLED_OUT = {"C", "Rh", "X", "ADHD", "COPD"}
"""Latin that may stand where English has a word: °C, rhesus, X-ray, two names of conditions."""

LOANS = {"el": {"placebo"}}
"""Words that a language writes in Latin letters."""

RELATED = {"cs": {"sk", "sl"}, "es": {"gl"}, "pt": {"gl"}, "ru": {"bg", "uk", "sr"}, "ar": {"ur"}}
"""What langid takes short texts of a language for; of fewer than `SHORT` signs."""
SHORT = 100
ALIKE = {"id": {"ms"}}
"""Languages that langid does not tell apart."""

_NAME = re.compile(r"\w[A-Z]|[A-Z]\d|\b[A-Z]\b|mg/dl|mmol/")
"""What stays Latin in every script: HIV, HbA1c, B12, blood group O, mg/dl, mmol/l."""

_JOINED = re.compile(r"(?<=\d)[.,\u00a0\u202f٬ ](?=\d{3}(?!\d))")
_SPOKEN = {
    0: r"\bO\b", 1: r"\b(one|once|another|an?|each|every|per|single|first)\b", 2: r"\b(two|twice|second)\b",
    3: r"\b(three|third|March)\b", 4: r"\b(four(th)?|April)\b", 5: r"\b(five|fifth|May)\b",
    6: r"\b(six(th)?|June)\b", 7: r"\b(seven|July)\b", 8: r"\beight\b", 9: r"\bnine\b", 10: r"\bten\b",
    11: r"\b(eleven(th)?|November)\b", 12: r"\b(twelve|twelfth|December)\b", 30: r"\bhalf\b",
}  # fmt: skip
_ASKED = {"el": "[;?]", "ja": r"か[。、？]|？|のでしょう"}


def numbers(text: str) -> Counter[int]:
    """Its numbers by value, in any script's digits; a separator of thousands joins."""
    return Counter(map(int, re.findall(r"\d+", _JOINED.sub("", text))))


def number_complaints(code: str, english: str, text: str) -> list[str]:
    """Numbers that are lost, and numbers that no word of the English says."""
    lost, more = numbers(english) - numbers(text), numbers(text) - numbers(english)
    if code in ("ar", "he"):  # their singular and dual say one month and two months
        lost = Counter({n: times for n, times in lost.items() if n not in (1, 2)})
    unsaid = [n for n in more if not re.search(_SPOKEN.get(n, r"(?!)"), english, re.I)]
    return [f"lost {n}" for n in lost] + [f"has {n} more" for n in unsaid]


def digit_complaints(code: str, text: str) -> list[str]:
    """Digits of another script than readers expect; names such as B12 aside."""
    plain = re.sub(r"[A-Za-z]+[A-Za-z0-9]*", "", text)
    digits = {ch for ch in plain if unicodedata.category(ch) == "Nd"}
    wrong = digits - set(DIGITS.get(code, "0123456789"))
    return [f"digits {sorted(wrong)}"] if wrong else []


def unit_complaints(english: str, text: str) -> list[str]:
    """Units that are lost or added."""
    return [f"unit {u}" for u in ("°C", "/") if english.count(u) != text.count(u)]


def letter_complaints(code: str, english: str, text: str) -> list[str]:
    """Letters of a foreign script that the English does not have, and English left standing."""
    own = SCRIPT.get(code, r"\p{Latin}")
    foreign = set(regex.findall(rf"(?:(?![{own}])\p{{L}})+", text))
    latin = {word for token in re.findall(r"\S+", english) if _NAME.search(token)
             for word in re.findall("[A-Za-z]+", token)}  # fmt: skip
    wrong = foreign - latin - SPELLED_OUT - LOANS.get(code, set())
    complaints = [f"letters {sorted(wrong)}"] if wrong else []
    words = set(re.findall("[a-z]{4,}", english.lower()))
    kept = words & set(re.findall(r"\b[a-z]{4,}\b", text.lower()))
    if code != "en" and len(kept) > 3:
        complaints.append(f"English {sorted(kept)}")
    return complaints


def question_complaints(code: str, english: str, text: str) -> list[str]:
    """Questions lost or added; one that English joins with 'and' or 'or' may be two."""
    if code == "th":  # has no question mark
        return []
    wanted = english.count("?")
    asked = len(re.findall(_ASKED.get(code, "[?？؟]"), text))
    most = wanted + len(re.findall(r"\b(?:and|or)\b|,", english))
    if code == "ja":  # its mark is a syllable that stands for 'whether', too
        most += 2
    return [] if wanted <= asked <= most else [f"{asked} questions for {wanted}"]


def form_complaints(text: str) -> list[str]:
    """Not normalised, spaces at the ends or twice, cut, or quoted unevenly."""
    complaints = []
    if text != unicodedata.normalize("NFC", text).strip() or "  " in text or "\n" in text:
        complaints.append("not normalised")
    if "…" in text or "..." in text:
        complaints.append("ellipsis")
    if text.count("(") + text.count("（") != text.count(")") + text.count("）"):
        complaints.append("brackets")
    if "|" in text or "\ufffd" in text:
        complaints.append("stray sign")
    return complaints


def language_complaints(code: str, text: str, identified: str) -> list[str]:
    """Another language than it should be in, as far as langid can tell."""
    related = RELATED.get(code, set()) if len(text) < SHORT else set()
    good = identified in {code, *related, *ALIKE.get(code, ())}
    return [] if good else [f"language {identified}"]


def complaints(code: str, english: str, text: str) -> list[str]:
    """All of the above but the language's, which is quicker told for many texts at once."""
    return [
        *number_complaints(code, english, text),
        *digit_complaints(code, text),
        *unit_complaints(english, text),
        *letter_complaints(code, english, text),
        *question_complaints(code, english, text),
        *form_complaints(text),
    ]


def says_writer(code: str, text: str) -> set[str]:
    """`man`, `woman`, both or none: as whom the forms of `WRITER` have the writer speak."""
    forms = dict(zip(("man", "woman"), WRITER[code], strict=True))
    return {who for who, form in forms.items() if re.search(form, text)}


def unsaid_complaints(code: str, unsaid: list[str], text: str) -> list[str]:
    """What a text says although its card has it left open."""
    return [
        f"says {what}: {found.group()}"
        for what in unsaid
        for pattern in (UNSAID[what].get(code),)
        if pattern and (found := re.search(pattern, text, re.I))
    ]
