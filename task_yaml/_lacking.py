"""What the languages of XLingHealth's data sets still lack: a line each, with the file to mend.

`_generate` prints them. Some of it would be an error when a task runs, and some a wrong score: a
Yes in words that no file has is read as no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from xling_metrics.languages import ALL_LANGUAGES, Language, letter_pattern

from xling_tasks.data.dataset_info import XLINGHEALTH, DatasetInfo
from xling_tasks.data.prompts import bundled_texts
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import XlingError
from xling_tasks.readers.text import TABLE, load_words

ROWS = "metrics/languages.yaml"
PROMPTS = ("verifiability", "consistency", "answer")
"""The prompts that are written in the language of the question."""
_MOST_FOREIGN = 0.5
"""Of the letters of a text: units, names of drugs and 'Yes' are written in Latin ones."""


def lacking() -> list[str]:
    """List what is missing or wrong, a line each; empty where every language is complete."""
    codes = dict.fromkeys(code for info in XLINGHEALTH.values() for code in info.languages)
    rows = [ALL_LANGUAGES[code] for code in codes]
    parts = [_prompts(rows), _phrases(rows)]
    parts += [_texts(record) for record in XLINGHEALTH.values() if record.bundled]
    return [*chain.from_iterable(parts)]


def foreign(text: str, row: Language) -> bool:
    """Return whether most letters of a text belong to other scripts than its language's."""
    letters = [letter for letter in text if letter.isalpha()]
    in_script = letter_pattern(row.unicode_scripts).findall(text)
    return len(in_script) < (1 - _MOST_FOREIGN) * len(letters)


def _prompts(rows: list[Language]) -> Iterator[str]:
    bundled = bundled_texts()
    for row in rows:
        if not row.question:
            yield (
                f"{ROWS}, {row.code}: no `question`: how its prompts write 'Question:'; without it "
                "answers do not stop where a model asks itself the next question"
            )
        for name in PROMPTS:
            file, texts = bundled[name]
            spot = f"{file}: prompt {name!r} [{row.code}]"
            text = texts.get(row.code)
            if text is None:
                yield f"{spot}: there is none; write it in {row.name}, below those of the others"
            elif foreign(text, row):
                yield f"{spot}: is not in the letters of {row.name} ({row.nllb} in {ROWS})"
            elif row.code != "en" and text == texts["en"]:
                yield f"{spot}: is the English text; write it in {row.name}"
            elif not re.search(rf"^{re.escape(row.question)}\s*\{{question\}}", text, re.M):
                yield (
                    f"{spot}: no line {row.question} {{question}}, as {ROWS}, {row.code} writes "
                    "'Question:'; answers stop at the row's"
                )


def _phrases(rows: list[Language]) -> Iterator[str]:
    for row in rows:
        words = load_words().get(row.code, {})
        for kind in ("yes", "no"):
            spot = f"{TABLE}: {row.code}: {kind}"
            if not words.get(kind):
                yield (
                    f"{spot}: there is none; a {kind.capitalize()} in {row.name} would be read as "
                    "no answer"
                )
            elif all(foreign(word, row) for word in words[kind]):
                yield f"{spot}: none is in the letters of {row.name} ({row.nllb} in {ROWS})"


def _texts(record: DatasetInfo) -> Iterator[str]:
    """Yield what is wrong in the bundled data, which no one else can mend."""
    try:
        data = load(record, None)
    except (XlingError, OSError) as error:
        yield str(error)
        return
    file = f"xling_tasks/data/sample/{record.file}.jsonl"
    for code, name in record.language_names.items():
        for question_id, answer_id, reason in data.unusable(code):
            yield f"{file}: id {question_id}, answer_ids {answer_id}, in {name}: {reason}"
        for question in data.questions:
            texts = {f"question_{name}": question.text}
            texts |= {f"answer_{name} of answer_ids {a.id}": a.text for a in question.answers}
            for column, text in texts.items():
                if foreign(text[code] or "", ALL_LANGUAGES[code]):
                    yield f"{file}: id {question.id}: {column}: is not in the letters of {name}"
                elif code != "en" and text[code] and text[code] == text["en"]:
                    yield f"{file}: id {question.id}: {column}: is the English text"
