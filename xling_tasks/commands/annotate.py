"""`xling annotate`: a page on which people label a sample of answers or rate translations.

Four forms, each a question with choices and a comment:

- `label`: the label of an answer, beside the judge's (XLingEval, Table A7)
- `fidelity`: a run's translations into English (arXiv:2505.21999, Table 3)
- `fluency`, `meaning`: XLingHealth's translations (XLingEval, Table A2)
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.commands import options as arguments
from xling_tasks.commands.options import chosen
from xling_tasks.criteria import LABELS, OPTIONS
from xling_tasks.criteria.labels import MEANINGS
from xling_tasks.data.dataset_info import LANGUAGE_NAMES, XLINGHEALTH
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import DataError, SettingError
from xling_tasks.harness.backends import responses_in
from xling_tasks.languages import language_name
from xling_tasks.logs.results import newest_tasks
from xling_tasks.output import refuse_file, table, writing
from xling_tasks.pages import read_page_file, texts
from xling_tasks.report import html
from xling_tasks.report.annotation_files import (
    CHOICES,
    FIDELITY,
    LABEL,
    OTHER_LABELS,
    Annotation,
    answer_digest,
    text_digest,
)
from xling_tasks.settings import Settings

N_ITEMS = {LABEL: 103}
"""Items per language: 10% of HealthQA's questions for labels, as in the paper; else 50."""


class Item(NamedTuple):
    """An item of the page and the stratum from which it is drawn."""

    task: str
    language: str
    question_id: str
    stratum: str
    texts: list[tuple[str, str, str]]  # heading, text, language
    answer: str
    judge_label: str = ""
    judge_reply: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling annotate`."""
    arguments.add_folder(parser, nargs="?", help=" (forms label and fidelity)")
    text = (
        "label answers, rate the fluency or meaning of XLingHealth's translations, or the "
        "fidelity of a run's (default %(default)s)"
    )
    parser.add_argument("--form", choices=[*CHOICES], default=LABEL, help=text)
    arguments.add_output(parser, "page to write, .html")
    text = "items per language (103 labels, 50 ratings)"
    parser.add_argument("--n", type=arguments.integer(1), metavar="N", help=text)
    arguments.add_seed(parser, "of the sample")
    arguments.add_languages(parser, "all")
    text = "only these datasets, separated by commas: liveqa"
    parser.add_argument("--datasets", metavar="NAMES", help=text)
    text = "hide the judge's label until a label is chosen"
    parser.add_argument("--blind", action="store_true", help=text)
    arguments.add_metadata(parser)
    parser.set_defaults(run=annotate)


def annotate(options: argparse.Namespace) -> str:
    """Draw a sample, write the page, and return how many items of each stratum are on it."""
    if options.to.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"--to {options.to}: name a file that ends in .html")
    refuse_file(options.to)  # annotators may be at work on it
    model = ""
    skipped: Counter[tuple[str, str]] = Counter()
    if options.form in (LABEL, FIDELITY):
        if options.out_dir is None:
            raise SettingError("OUT is missing: name the --output_path of lm_eval, such as out")
        read = read_labels if options.form == LABEL else read_translations
        items, model = read(options, skipped)
    else:
        items = list(read_data(options, skipped))
    codes = chosen("--languages", options.languages, (item.language for item in items), "no items")
    n = options.n or N_ITEMS.get(options.form, 50)
    sample = [item for code in codes for item in draw(items, code, n, options.seed)]
    if not sample:
        raise DataError(f"{options.out_dir}: nothing to annotate ({dict(skipped) or 'no samples'})")
    description = {"form": options.form, "model": model}
    write_page(options.to, page_data(options.form, description, sample, blind=options.blind))
    counts = Counter((item.language, item.stratum) for item in sample)
    total = Counter((item.language, item.stratum) for item in items if item.language in codes)
    lines = [(*key, f"{counts[key]} of {count:,}") for key, count in sorted(total.items())]
    lines += [(*key, f"left out: {count:,}") for key, count in sorted(skipped.items())]
    rows = [dict(zip(("language", "stratum", "items"), line, strict=True)) for line in lines]
    report = " and xling report OUT --human FILE.csv ..." if options.form == LABEL else ""
    return (
        f"{table(rows)}\n\n{options.to}: {len(sample)} items. Send it to every annotator; then: "
        f"xling agreement FILE.csv ...{report}"
    )


_HINTS = {
    LABEL: "The page needs correctness with a judge: lm_eval --metadata '{\"judge\": {...}}' "
    "--output_path ... --log_samples; --model xling_replay judges logged answers.",
    FIDELITY: "The page needs xling_information or xling_empathy with a translator and a judge or "
    "classifier: lm_eval --output_path ... --log_samples.",
}
_RECORDS = {"information": "n_claims", "empathy": "profile"}
"""Criterion -> the record in its samples that holds the English text."""


def read_labels(options: argparse.Namespace, skipped: Counter[Any]) -> tuple[list[Item], str]:
    """Read the answers that one judge has labelled, and the model's folder."""
    items, judges, model = [], set(), ""
    newest = _newest(options, {"correctness"})
    languages = (key.language for key, _ in newest)
    codes = chosen("--languages", options.languages, languages, "no samples")
    for key, task in newest:
        if key.language not in codes:
            continue
        samples, model = task.samples, task.run.path.parent.name
        for _, (doc, answer, digest, record) in samples.stream_first(_judged, hint=_HINTS[LABEL]):
            judges.add(str(record["judge"]))
            label = record["label"]
            if label not in LABELS:
                reason = "no_majority" if record.get("no_majority") else "judge_failed"
                skipped[key.language, label or reason] += 1
                continue
            texts = [
                ("Question", doc["question"], key.language),
                ("Answer 1: reference, by experts", doc["reference"], key.language),
                ("Answer 2: by the model", answer, key.language),
            ]
            items.append(
                Item(samples.task, key.language, str(doc["question_id"]), label, texts, digest,
                     label, record["reply"] or "")
            )  # fmt: skip
    if len(judges) > 1:
        names = "; ".join(sorted(judges))
        raise DataError(
            f"{options.out_dir}: labels of {len(judges)} judges: {names}. Choose one's with "
            "--languages or --datasets, or run again with one judge"
        )
    return items, model


def _judged(row: Mapping[str, Any]) -> tuple[Any, str, str, Mapping[str, Any]]:
    """Return document, answer, its digest and the judge's record of a sample."""
    if "n_judged" not in row:
        raise TypeError("has no judge's labels")
    answer, record, doc = responses_in(row["filtered_resps"][0])[0], row["n_judged"], row["doc"]
    if not {"label", "reply", "judge"} <= record.keys():
        raise TypeError("n_judged: no label with its reply")
    if not all(isinstance(text, str) for text in (answer, doc["question"], doc["reference"])):
        raise TypeError("question, reference and answer are texts")
    return doc, answer, answer_digest(row), record


def read_translations(options: argparse.Namespace, skipped: Counter[Any]) -> tuple[list[Item], str]:
    """Read a run's answers beside the English texts that were scored, and the model's folder."""
    items, model = [], ""
    for key, task in _newest(options, set(_RECORDS)):
        samples, model, record = task.samples, task.run.path.parent.name, _RECORDS[key.criterion]

        def read(row: Mapping[str, Any], record: str = record) -> list[tuple[str, str, str, str]]:
            doc, results = row["doc"], row["filtered_resps"]
            return [
                (str(doc["question_id"]), code, responses_in(results[position])[0].strip(),
                 (row[f"{record}_{code}"]["english"] or "").strip())
                for position, code in enumerate(doc["text"])
                if code != "en" and f"{record}_{code}" in row
            ]  # fmt: skip

        for _, pairs in samples.stream_first(read, hint=_HINTS[FIDELITY]):
            for key_, code, answer, english in pairs:
                if not answer or not english or answer == english:
                    reason = "nothing translated" if answer and english else "no translation"
                    skipped[code, reason] += 1
                    continue
                texts = [("Answer, by the model", answer, code),
                         ("Translation into English", english, "en")]  # fmt: skip
                digest = text_digest(answer + english)
                items.append(Item(samples.task, code, key_, samples.task, texts, digest))
    return items, model


def read_data(options: argparse.Namespace, skipped: Counter[Any]) -> Iterator[Item]:
    """Yield XLingHealth's questions with their correct answers, in English and in a language."""
    published = [key for key, info in XLINGHEALTH.items() if not info.bundled]
    names = options.datasets or ",".join(published)
    settings = Settings.parse(arguments.read_metadata(options.metadata), {})
    for name in chosen("--datasets", names, XLINGHEALTH, "no translations"):
        for question in load(XLINGHEALTH[name], settings.data_dir).questions:
            answer = next((a.text for a in question.answers if a.label == 1), {})
            answers = {
                code: f"{question.text[code]}\n\n{answer[code]}"
                for code in LANGUAGE_NAMES
                if question.text.get(code) and answer.get(code)
            }
            for code in (code for code in LANGUAGE_NAMES if code != "en"):
                if not {code, "en"} <= answers.keys():
                    skipped[code, "text missing"] += 1
                    continue
                texts = [("English question and answer", answers["en"], "en"),
                         ("Translation of both", answers[code], code)]  # fmt: skip
                digest = text_digest(answers["en"] + answers[code])
                yield Item(f"{name}_{code}", code, question.id, name, texts, digest)


def _newest(options: argparse.Namespace, criteria: set[str]) -> list[tuple[Any, Any]]:
    """Return the newest results of some criteria, of the datasets asked for."""
    newest = newest_tasks(options.out_dir, criteria)
    if not newest:
        names, hint = " or ".join(sorted(criteria)), _HINTS[options.form]
        raise DataError(f"{options.out_dir}: no samples of {names}. {hint}")
    present = (key.dataset for key, _ in newest)
    datasets = chosen("--datasets", options.datasets, present, "no samples")
    chosen_tasks = [(key, task) for key, task in newest if key.dataset in datasets]
    if len({task.task for _, task in chosen_tasks}) < len(chosen_tasks):
        names = ", ".join(dict.fromkeys(key.dataset for key, _ in chosen_tasks))
        raise DataError(
            f"{options.out_dir}: several files with tasks of one name ({names}); choose with "
            "--datasets, and write a page for each"
        )
    return chosen_tasks


def draw(items: Sequence[Item], language: str, n: int, seed: int) -> list[Item]:
    """Draw N items of a language, stratified, in random order.

    The order depends on seed and question alone. Ratings of two languages are mostly of the same
    questions; labels are samples of their own, as the correction of gaps assumes.
    """

    def random_key(item: Item) -> bytes:
        name = item.task if item.judge_label else item.task.removesuffix(f"_{language}")
        return hashlib.sha256(f"{seed}\0{name}\0{item.question_id}".encode()).digest()

    groups: dict[str, list[Item]] = {}
    for item in sorted((item for item in items if item.language == language), key=random_key):
        groups.setdefault(item.stratum, []).append(item)
    sizes = allocate({stratum: len(group) for stratum, group in sorted(groups.items())}, n)
    sample = [item for stratum, group in groups.items() for item in group[: sizes[stratum]]]
    return sorted(sample, key=random_key)


def allocate(counts: Mapping[str, int], n: int) -> dict[str, int]:
    """Allocate N items to strata: one of each first, then in proportion (Sainte-Laguë)."""
    sizes = dict.fromkeys(counts, 0)
    for _ in range(min(n, sum(counts.values()))):
        open_strata = [name for name in counts if sizes[name] < counts[name]]
        name = max(open_strata, key=lambda s: (not sizes[s], counts[s] / (2 * sizes[s] + 1)))
        sizes[name] += 1
    return sizes


def page_data(
    form: str, description: Mapping[str, str], items: Sequence[Item], *, blind: bool = False
) -> dict[str, Any]:
    """Return what the page's script reads; its digest tells it from other pages."""
    words: dict[str, Any] = texts()["annotate"][form]
    if form == LABEL:
        choices = [(key, OPTIONS[key], meaning) for key, meaning in MEANINGS.items()]
        choices += [(key, *words["others"][key]) for key in OTHER_LABELS]
    else:
        choices = [(str(n), f"{n}: {step}", "") for n, step in enumerate(words["steps"], start=1)]
    data: dict[str, Any] = {
        **{name: words[name] for name in ("title", "question", "guide")},
        "choices": [
            {"value": value, "wording": wording, "meaning": meaning}
            for value, wording, meaning in choices
        ],
        "blind": blind,
        "about": dict(description),
        "columns": Annotation._fields,
        "items": [
            {**item._asdict(), "language_name": language_name(item.language)} for item in items
        ],
    }
    text = json.dumps(data, sort_keys=True)
    return {"digest": hashlib.sha256(text.encode()).hexdigest()[:16], **data}


def write_page(to: Path, data: Mapping[str, Any]) -> None:
    """Write the page: one HTML file that loads nothing and sends nothing."""
    page = html.render(
        "annotate.html", script=read_page_file("reading.js") + read_page_file("annotate.js"),
        styles=["annotate.css"], title=data["title"], data=html.as_block(data),
    )  # fmt: skip
    with writing(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(page, encoding="utf-8", newline="\n")
