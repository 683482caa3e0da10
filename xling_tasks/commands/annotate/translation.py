"""`xling annotate --form translation`: a page on which people rate translations.

XLingEval, Table A2: fluency and meaning of XLingHealth's translations. An item is a question with
its correct answer, in English and in another language. With a folder of a run, its own translations
are rated (arXiv:2505.21999, Table 3): an item is an answer of `xling_information`,
`xlinghealth_information_*` or `xling_empathy` beside the English text that was scored in its place.
An answer without a translation is no item: counted.

The items of a language are drawn over its datasets in proportion, by seed; the order of questions
is the same for every language, so that languages are compared on the same questions as far as these
are usable in all of them.
"""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from xling_tasks.commands.annotate.draw import allocate, mixed
from xling_tasks.commands.annotate.page import ANSWERS, RATING, page_data, page_path, write_page
from xling_tasks.commands.options import chosen, read_metadata
from xling_tasks.data.dataset_info import LANGUAGE_NAMES, XLINGHEALTH
from xling_tasks.data.xlinghealth import Question, load
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.samples import Samples, newest_samples
from xling_tasks.scorers.answered import replies_of
from xling_tasks.settings import Settings

N_ITEMS = 50
"""Items per language unless the user says otherwise; ours, not the paper's."""

_SOURCE = "en"
_PUBLISHED = tuple(key for key, record in XLINGHEALTH.items() if not record.bundled)
_TARGETS = tuple(code for code in LANGUAGE_NAMES if code != _SOURCE)

_LOGGED = {"information": "n_claims", "empathy": "profile"}
"""Criterion -> the record in its samples that holds the English text."""

_HINT = (
    "The page needs xling_information or xling_empathy with a translator and a judge or "
    "classifier, and lm_eval --output_path ... --log_samples"
)


def annotate_translations(options: argparse.Namespace) -> str:
    """Draw the sample, write the page, and say what is on it."""
    page_path(options.to)
    return _of_data(options) if options.out_dir is None else _of_answers(options)


class _Usable(NamedTuple):
    """What the items are drawn from: language -> dataset (or task) -> its items.

    DATASETS of them are there over all languages, CALLED `dataset` or `task` on the page; LEFT_OUT
    says of (language, dataset) why others are no items, and how many; MADE goes into every export.
    """

    items: Mapping[str, Mapping[str, list[dict[str, str]]]]
    datasets: int
    called: str
    left_out: Callable[[str, str], Mapping[str, int]]
    made: Mapping[str, Any]


def _written(options: argparse.Namespace, usable: _Usable, lacking: str) -> str:
    """Draw the items of each language over its datasets, write the page, and say what is on it."""
    n = N_ITEMS if options.n is None else options.n
    if n < usable.datasets:
        raise SettingError(f"--n {n}: at least {usable.datasets}, one item of each dataset")
    items: list[dict[str, str]] = []
    rows: list[dict[str, Any]] = []
    for code, by_dataset in usable.items.items():
        sizes = allocate({key: len(kept) for key, kept in by_dataset.items()}, n)
        items += mixed(by_dataset, sizes, options.seed)
        rows += [
            {"language": code, usable.called: key, "items": f"{sizes[key]} of {len(kept):,}"}
            | {f"left out: {why}": count for why, count in usable.left_out(code, key).items()}
            for key, kept in by_dataset.items()
        ]
    if not items:
        raise DataError(lacking)
    data = page_data(items, {**RATING, "seed": options.seed, "n": n, **usable.made})
    return write_page(page_path(options.to), data, rows)


def _item(key: str, code: str, question: str, source: str, translation: str) -> dict[str, str]:
    """A text and its translation, as the page has them."""
    about = {"id": f"{key}_{code}/{question}", "dataset": key, "language": code}
    return {**about, "question_id": question, "source": source, "translation": translation}


# A dataset's translations


def _of_data(options: argparse.Namespace) -> str:
    named = ",".join(_PUBLISHED) if options.datasets is None else options.datasets
    keys = chosen("--datasets", named, XLINGHEALTH, "no translations")
    codes = chosen("--languages", options.languages, _TARGETS, "no translations")
    settings = Settings.parse(read_metadata(options.metadata), {})
    datasets = {
        key: load(XLINGHEALTH[key], settings.data_dir, settings.dataset) for key in sorted(keys)
    }
    items = {
        code: {
            key: [
                _item(key, code, question.id, source, translation)
                for question in data.questions
                for source, translation in [(_text(question, _SOURCE), _text(question, code))]
                if source and translation
            ]
            for key, data in datasets.items()
        }
        for code in codes
    }

    def left_out(code: str, key: str) -> dict[str, int]:
        return {"text missing": len(datasets[key].questions) - len(items[code][key])}

    source = {key: str(data.provenance.get("sha256", ""))[:12] for key, data in datasets.items()}
    usable = _Usable(items, len(keys), "dataset", left_out, {"source": source})
    lacking = f"{', '.join(keys)}: no question has an answer in English and {codes}"
    return _written(options, usable, lacking)


def _text(question: Question, code: str) -> str | None:
    """A question and its first correct answer in a language; None where one is missing."""
    answer = next((answer.text for answer in question.answers if answer.label == 1), {})
    asked, told = question.text.get(code), answer.get(code)
    return f"{asked}\n\n{told}" if asked and told else None


# A run's translations of its answers


class _Answer(NamedTuple):
    """One answer with the English text that was scored in its place; None where there is none."""

    question_id: str
    language: str
    text: str
    english: str | None


def _of_answers(options: argparse.Namespace) -> str:
    if options.metadata:
        raise SettingError("--metadata is for the datasets' translations; OUT has its own")
    out = options.out_dir
    newest = newest_samples(out, set(_LOGGED))
    if not newest:
        raise DataError(f"{out}: no samples of information or empathy. {_HINT}")
    tasks = (samples.task for _, samples in newest)
    wanted = chosen("--datasets", options.datasets, tasks, "no samples of it")
    items: dict[str, dict[str, list[dict[str, str]]]] = {}
    reasons: Counter[tuple[str, str, str]] = Counter()
    translators: dict[str, str] = {}
    for place, samples in newest:
        if samples.task in wanted:
            translators.setdefault(_translator(samples), samples.task)
            for answer in _answers(samples, _LOGGED[place.criterion]):
                kept = items.setdefault(answer.language, {}).setdefault(samples.task, [])
                text, english = answer.text.strip(), (answer.english or "").strip()
                if not english or not text:
                    reasons[answer.language, samples.task, "no translation"] += 1
                elif english == text:
                    reasons[answer.language, samples.task, "nothing translated"] += 1
                else:
                    texts = (answer.text, answer.english or "")
                    kept.append(_item(samples.task, answer.language, answer.question_id, *texts))
    if len(translators) > 1:
        listed = "; ".join(f"{sign} ({task})" for sign, task in translators.items())
        raise DataError(
            f"{out}: answers of {len(translators)} translators: {listed}. Choose one's with "
            "--datasets"
        )
    codes = chosen("--languages", options.languages, items, "no answers in it")

    def left_out(code: str, task: str) -> dict[str, int]:
        return {why: reasons[code, task, why] for why in ("no translation", "nothing translated")}

    datasets = len({key for by_task in items.values() for key in by_task})
    made = {"of": ANSWERS, "translator": next(iter(translators))}
    usable = _Usable({code: items[code] for code in codes}, datasets, "task", left_out, made)
    return _written(options, usable, f"{out}: no answer has an English translation. {_HINT}")


def _answers(samples: Samples, record: str) -> Iterator[_Answer]:
    """The answers to prompts beside the English ones, of the first filter's rows."""
    lacking = True
    take = functools.partial(_translated, record=record)
    for _, answers in samples.stream_first(take, hint=_HINT):
        yield from answers
        lacking = lacking and not answers
    if lacking:
        raise DataError(f"{samples.path}: no answer in it was translated. {_HINT}")


def _translated(row: Mapping[str, Any], record: str) -> list[_Answer]:
    """A sample's answers; none where the run did not score."""
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
    return answers


def _translator(samples: Samples) -> str:
    """The translator's part of the run's signatures."""
    signatures = samples.recorded().get("signatures")
    for sign in (signatures if isinstance(signatures, dict) else {}).values():
        if isinstance(sign, str) and "|translator:" in sign:
            return sign.split("|translator:")[1]
    return "unknown"
