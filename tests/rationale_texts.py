"""Texts in the languages of rationales, generated and real, for parity with other packages."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

WORDS = {
    "en": "the patient's blood pressure rose to 3.5 mmol/L (COVID-19), \"so\" it can't be A. Yes!",
    "es": "la presión arterial subió a 3,5 mmol/l («fiebre»), ¿entonces no es A? El niño. Sí.",
    "fr": "l'hypertension artérielle, d'où « fièvre » et 3,5 mmol/l ; ce n'est pas A. Oui !",
    "ru": "артериальное давление выросло до 3,5 ммоль/л («жар»), поэтому ответ не A. Да!",
    "zh": "患者 的 血压 升高 到 3.5 ， 因此 答案 不 是 A 。 正确 ！ 发热",
    "ja": "患者 の 血圧 は 3.5 に 上昇 し た 、 したがって 答え は A で は ない 。 発熱 、",
}


def generated(language: str, n: int = 60) -> list[str]:
    """Words by lot, of which the first is a letter's, and full stops between them."""
    rng = random.Random(language)
    joint = "" if language in ("zh", "ja") else " "
    words = WORDS[language].split()
    drawn = (rng.choices([*words, "."], k=rng.randrange(60)) for _ in range(n))
    return [joint.join([words[0], *own]) for own in drawn]


def real(folder: Path, language: str) -> list[str]:
    """LiveQA's expert answers, or questions with their options in MMedBench's schema."""
    if language in ("fr", "ru", "ja"):
        name = {"fr": "French", "ru": "Russian", "ja": "Japanese"}[language]
        path = folder / "mmedbench" / "Test" / f"{name}.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        texts = [" ".join([row["question"], *row["options"].values()]) for row in lines]
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(folder / "xlinghealth" / "LiveQA.xlsx", read_only=True)
        rows = book.active.iter_rows(values_only=True)
        name = {"en": "English", "es": "Spanish", "zh": "Chinese", "hi": "Hindi"}[language]
        column = next(rows).index(f"answer_{name}")
        texts = [str(row[column]) for row in rows if row[column]]
    return list(dict.fromkeys(texts))


def pairs(texts: list[str], n: int) -> list[tuple[str, str]]:
    """Each text against the next one, and against itself with a third left out, in turn.

    Left out are words, or characters where no spaces are.
    """
    rng = random.Random(0)
    made = []
    for i in range(n):
        text, other = texts[i % len(texts)], texts[(i + 1) % len(texts)]
        if i % 2 == 0:
            joint = " " if " " in text.strip() else ""
            units = text.split() if joint else list(text)
            other = joint.join(unit for unit in units if rng.random() < 0.67) or text
        made.append((other, text))
    return made
