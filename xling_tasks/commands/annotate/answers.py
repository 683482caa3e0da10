"""`xling annotate OUT --form translation`: people rate a run's translations of its answers.

arXiv:2505.21999, Table 3: how faithfully the translator put the answers into English. The items are
the answers of `xling_information`, `xlinghealth_information_*` and `xling_empathy`, each beside the
English text that was scored in its place. An answer without a translation is no item: counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands.annotate.draw import allocate, mixed
from xling_tasks.commands.annotate.page import (
    ANSWERS,
    page_path,
    rating_data,
    said_of_page,
    write_page,
)
from xling_tasks.commands.options import chosen
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.results import Samples, newest_samples
from xling_tasks.scorers.values import replies_of

N_ITEMS = 50
"""Items per language unless the user says otherwise; ours, not the paper's."""

_LOGGED = {"information": "n_claims", "empathy": "profile"}
"""Criterion -> the record in its samples that holds the English text."""

_HINT = (
    "The page needs xling_information or xling_empathy with a translator and a judge or "
    "classifier, and lm_eval --output_path ... --log_samples"
)


class _Answer(NamedTuple):
    """One answer with the English text that was scored in its place; None where there is none."""

    question_id: str
    language: str
    text: str
    english: str | None


@dataclass
class _Language:
    """The answers of one language while files are read.

    Attributes:
        items: The translated answers by dataset.
        untranslated: Answers without a translation, by dataset.
        untouched: Answers whose translation is the same text, by dataset.
    """

    items: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    untranslated: dict[str, int] = field(default_factory=dict)
    untouched: dict[str, int] = field(default_factory=dict)


def annotate_answers(options: argparse.Namespace) -> str:
    """Draw the sample from a run's samples, write the page, and say what is on it.

    Raises:
        SettingError: For an option that cannot be.
        DataError: If the run has no translated answers, or those of several translators.
    """
    if options.metadata:
        raise SettingError("--metadata is for the datasets' translations; OUT has its own")
    to = page_path(options.to)
    n = N_ITEMS if options.n is None else options.n
    out = Path(options.out_dir).expanduser()
    by_language, translators = _read(out, options.datasets)
    codes = chosen("--for", options.languages, by_language, "no answers in it")
    datasets = {key for own in by_language.values() for key in own.items}
    if n < len(datasets):
        raise SettingError(f"--n {n}: at least {len(datasets)}, one item of each dataset")
    items: list[dict[str, str]] = []
    rows: list[dict[str, Any]] = []
    for code in codes:
        own = by_language[code]
        sizes = allocate({key: len(kept) for key, kept in own.items.items()}, n)
        items += mixed(own.items, sizes, options.seed)
        rows += [_row(code, key, sizes[key], own) for key in own.items]
    if not items:
        raise DataError(f"{out}: no answer has an English translation. {_HINT}")
    made = {"seed": options.seed, "n": n, "of": ANSWERS, "translator": translators[0]}
    data = rating_data(items, made)
    write_page(to, data)
    return said_of_page(to, data["digest"], rows)


def _read(out: Path, datasets: str | None) -> tuple[dict[str, _Language], list[str]]:
    """The answers by language, and the one translator's signature."""
    newest = newest_samples(out, set(_LOGGED))
    if not newest:
        raise DataError(f"{out}: no samples of information or empathy. {_HINT}")
    tasks = (samples.task for _, samples in newest)
    wanted = chosen("--datasets", datasets, tasks, "no samples of it")
    by_language: dict[str, _Language] = {}
    translators: dict[str, str] = {}
    for place, samples in newest:
        if samples.task in wanted:
            translators.setdefault(_translator(samples), samples.task)
            for answer in _answers(samples, place.criterion):
                _keep(by_language, samples.task, answer)
    if len(translators) > 1:
        listed = "; ".join(f"{sign} ({task})" for sign, task in translators.items())
        raise DataError(
            f"{out}: answers of {len(translators)} translators: {listed}. Choose one's with "
            "--datasets"
        )
    return by_language, list(translators)


def _answers(samples: Samples, criterion: str) -> Iterator[_Answer]:
    """The answers to prompts beside the English ones, of the first filter's rows."""
    record = _LOGGED[criterion]
    first: list[Any] = []
    seen: set[tuple[str, str]] = set()
    for number, (name, answers) in samples.stream(lambda row: _translated(row, record), hint=_HINT):
        first = first or [name]
        if name != first[0]:
            continue
        for answer in answers:
            if (answer.language, answer.question_id) in seen:
                raise DataError(
                    f"{samples.path}, row {number}: question {answer.question_id!r} appears twice; "
                    "run again"
                )
            seen.add((answer.language, answer.question_id))
            yield answer
    if not seen:
        raise DataError(f"{samples.path}: no answer in it was translated. {_HINT}")


def _translated(row: Mapping[str, Any], record: str) -> tuple[str, list[_Answer]]:
    """A sample's filter and its answers; none of them where the run did not score."""
    doc, results = row["doc"], row["filtered_resps"]
    answers = []
    # A second English answer, if there is one, stands behind those by language.
    for code, result in zip(doc["text"], results[: len(doc["text"])], strict=True):
        logged = row.get(f"{record}_{code}")
        if code == "en" or logged is None:
            continue
        answer = _Answer(str(doc["question_id"]), code, replies_of(result)[0], logged["english"])
        if not isinstance(answer.english, str | None):
            raise TypeError(f"{record}_{code}.english: a text is expected")
        answers.append(answer)
    return row.get("filter", ""), answers


def _keep(by_language: dict[str, _Language], task: str, answer: _Answer) -> None:
    """Sort an answer into its language's items, or count it."""
    own = by_language.setdefault(answer.language, _Language())
    kept = own.items.setdefault(task, [])
    untranslated, untouched = own.untranslated, own.untouched
    for counts in (untranslated, untouched):
        counts.setdefault(task, 0)
    if answer.english is None or not answer.english.strip() or not answer.text.strip():
        untranslated[task] += 1
    elif answer.english.strip() == answer.text.strip():
        untouched[task] += 1
    else:
        kept.append(
            {
                "id": f"{task}_{answer.language}/{answer.question_id}",
                "dataset": task,
                "language": answer.language,
                "question_id": answer.question_id,
                "source": answer.text,
                "translation": answer.english,
            }
        )


def _translator(samples: Samples) -> str:
    """The translator's part of the run's signatures."""
    signatures = samples.recorded().get("signatures")
    for sign in (signatures if isinstance(signatures, dict) else {}).values():
        if isinstance(sign, str) and "|translator:" in sign:
            return sign.split("|translator:")[1]
    return "unknown"


def _row(code: str, task: str, size: int, own: _Language) -> dict[str, Any]:
    return {
        "language": code,
        "task": task,
        "items": f"{size} of {len(own.items[task]):,}",
        "left out: no translation": own.untranslated[task],
        "left out: nothing translated": own.untouched[task],
    }
