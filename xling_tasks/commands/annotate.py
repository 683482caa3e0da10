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

from xling_tasks.commands.options import (
    add_folder,
    add_languages,
    add_metadata,
    add_output,
    add_seed,
    chosen,
    integer,
    read_metadata,
)
from xling_tasks.criteria import LABELS, OPTIONS
from xling_tasks.criteria.labels import MEANINGS
from xling_tasks.data.dataset_info import LANGUAGE_NAMES, XLINGHEALTH
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import DataError, SettingError
from xling_tasks.harness.backends import responses_in
from xling_tasks.languages import language_name
from xling_tasks.logs.annotations import (
    CHOICES,
    FIDELITY,
    LABEL,
    OTHER_LABELS,
    Annotation,
    answer_digest,
    text_digest,
)
from xling_tasks.logs.results import newest_tasks
from xling_tasks.output import refuse_file, table, writing
from xling_tasks.pages import read_page_file, texts
from xling_tasks.report import html
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
    add_folder(parser, nargs="?", help=" (forms label and fidelity)")
    parser.add_argument(
        "--form", choices=[*CHOICES], default=LABEL,
        help="label answers, rate the fluency or meaning of XLingHealth's translations, or the "
        "fidelity of a run's (default %(default)s)",
    )  # fmt: skip
    add_output(parser, "page to write, .html")
    parser.add_argument(
        "--n", type=integer(1), metavar="N", help="items per language (103 labels, 50 ratings)"
    )
    add_seed(parser, "of the sample")
    add_languages(parser, "all")
    parser.add_argument(
        "--datasets", metavar="NAMES", help="only these datasets, separated by commas: liveqa"
    )
    parser.add_argument(
        "--blind", action="store_true", help="hide the judge's label until a label is chosen"
    )
    add_metadata(parser)
    parser.set_defaults(run=annotate)


def annotate(options: argparse.Namespace) -> str:
    """Draw a sample, write the page, and return how many items of each stratum are on it."""
    if options.to.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"--to {options.to}: name a file that ends in .html")
    refuse_file(options.to)  # annotators may be at work on it
    description = {"form": options.form, "model": ""}
    skipped: Counter[tuple[str, str]] = Counter()
    if options.form in (LABEL, FIDELITY):
        if options.out_dir is None:
            raise SettingError("OUT is missing: name the --output_path of lm_eval, such as out")
        read = read_labels if options.form == LABEL else read_translations
        items, description["model"] = read(options, skipped)
    else:
        items = list(read_data(options, skipped))
    codes = chosen("--languages", options.languages, (item.language for item in items), "no items")
    items = [item for item in items if item.language in codes]
    n = options.n or N_ITEMS.get(options.form, 50)
    sample = [item for code in codes for item in draw(items, code, n, options.seed)]
    if not sample:
        raise DataError(f"{options.out_dir}: nothing to annotate ({dict(skipped) or 'no samples'})")
    data = page_data(options.form, description, sample, blind=options.blind)
    write_page(options.to, data)
    counts = Counter((item.language, item.stratum) for item in sample)
    total = Counter((item.language, item.stratum) for item in items)
    rows: list[dict[str, Any]] = [
        {"language": code, "stratum": stratum, "items": f"{counts[code, stratum]} of {count:,}"}
        for (code, stratum), count in sorted(total.items())
    ]
    rows += [
        {"language": code, "stratum": reason, "items": f"left out: {count:,}"}
        for (code, reason), count in sorted(skipped.items())
    ]
    return (
        f"{table(rows)}\n\n{options.to}: {len(sample)} items. Send it to every annotator; then: "
        "xling agreement FILE.csv ... and xling report OUT --human FILE.csv ..."
    )


# Items


_JUDGE_HINT = (
    "The page needs correctness with a judge: lm_eval --metadata '{\"judge\": {...}}' "
    "--output_path ... --log_samples; --model xling_replay judges logged answers."
)
_TRANSLATED_HINT = (
    "The page needs xling_information or xling_empathy with a translator and a judge or "
    "classifier: lm_eval --output_path ... --log_samples."
)
_RECORDS = {"information": "n_claims", "empathy": "profile"}
"""Criterion -> the record in its samples that holds the English text."""


def read_labels(options: argparse.Namespace, skipped: Counter[Any]) -> tuple[list[Item], str]:
    """Read the answers that one judge has labelled, and the model's folder."""
    items, judges, model = [], set(), ""
    newest = _newest(options, {"correctness"}, _JUDGE_HINT)
    languages = (key.language for key, _ in newest)
    codes = chosen("--languages", options.languages, languages, "no samples")
    for key, task in newest:
        if key.language not in codes:
            continue
        samples, model = task.samples, task.run.path.parent.name
        for _, row in samples.stream_first(_judged, hint=_JUDGE_HINT):
            if row is None:
                raise DataError(f"{samples.path}: has no judge's labels. {_JUDGE_HINT}")
            record, doc = row["n_judged"], row["doc"]
            judges.add(str(record["judge"]))
            if record["label"] not in LABELS:
                reason = "no_majority" if record.get("no_majority") else "judge_failed"
                skipped[key.language, record["label"] or reason] += 1
                continue
            texts = [
                ("Question", doc["question"], key.language),
                ("Answer 1: reference, by experts", doc["reference"], key.language),
                ("Answer 2: by the model", row["answer"], key.language),
            ]
            items.append(
                Item(samples.task, key.language, str(doc["question_id"]), record["label"], texts,
                     row["digest"], record["label"], record["reply"] or "")
            )  # fmt: skip
    if len(judges) > 1:
        names = "; ".join(sorted(judges))
        raise DataError(
            f"{options.out_dir}: labels of {len(judges)} judges: {names}. Choose one's with "
            "--languages or --datasets, or run again with one judge"
        )
    return items, model


def _judged(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the page needs of a sample; None without a judge."""
    if "n_judged" not in row:
        return None
    answer, record, doc = responses_in(row["filtered_resps"][0])[0], row["n_judged"], row["doc"]
    if not {"label", "reply", "judge"} <= record.keys():
        raise TypeError("n_judged: no label with its reply")
    if not all(isinstance(text, str) for text in (answer, doc["question"], doc["reference"])):
        raise TypeError("question, reference and answer are texts")
    return {"doc": doc, "n_judged": record, "answer": answer, "digest": answer_digest(row)}


def read_translations(options: argparse.Namespace, skipped: Counter[Any]) -> tuple[list[Item], str]:
    """Read a run's answers beside the English texts that were scored, and the model's folder."""
    items, model = [], ""
    for key, task in _newest(options, set(_RECORDS), _TRANSLATED_HINT):
        samples, model, record = task.samples, task.run.path.parent.name, _RECORDS[key.criterion]
        for _, (doc, results, english) in samples.stream_first(
            lambda row, record=record: _translated(row, record), hint=_TRANSLATED_HINT
        ):
            for position, code in enumerate(doc["text"]):
                if code == "en" or code not in english:
                    continue
                answer, translation = responses_in(results[position])[0], english[code]
                if not answer.strip() or not (translation or "").strip():
                    skipped[code, "no translation"] += 1
                elif answer.strip() == translation.strip():
                    skipped[code, "nothing translated"] += 1
                else:
                    texts = [("Answer, by the model", answer, code),
                             ("Translation into English", translation, "en")]  # fmt: skip
                    items.append(
                        Item(samples.task, code, str(doc["question_id"]), samples.task, texts,
                             text_digest(answer + translation))
                    )  # fmt: skip
    return items, model


def _translated(row: Mapping[str, Any], record: str) -> tuple[Any, Any, dict[str, str | None]]:
    """Return a sample's document, replies and English texts by language."""
    codes = [code for code in row["doc"]["text"] if f"{record}_{code}" in row]
    english = {code: row[f"{record}_{code}"]["english"] for code in codes if code != "en"}
    return row["doc"], row["filtered_resps"], english


def read_data(options: argparse.Namespace, skipped: Counter[Any]) -> Iterator[Item]:
    """Yield XLingHealth's questions with their correct answers, in English and in a language."""
    published = [key for key, info in XLINGHEALTH.items() if not info.bundled]
    names = options.datasets or ",".join(published)
    settings = Settings.parse(read_metadata(options.metadata), {})
    for name in chosen("--datasets", names, XLINGHEALTH, "no translations"):
        data = load(XLINGHEALTH[name], settings.data_dir)
        for question in data.questions:
            answer = next((a.text for a in question.answers if a.label == 1), {})
            texts = {
                code: f"{question.text[code]}\n\n{answer[code]}"
                for code in LANGUAGE_NAMES
                if question.text.get(code) and answer.get(code)
            }
            for code in LANGUAGE_NAMES:
                if code == "en":
                    continue
                if code not in texts or "en" not in texts:
                    skipped[code, "text missing"] += 1
                    continue
                parts = [("English question and answer", texts["en"], "en"),
                         ("Translation of both", texts[code], code)]  # fmt: skip
                digest = text_digest(texts["en"] + texts[code])
                yield Item(f"{name}_{code}", code, question.id, name, parts, digest)


def _newest(options: argparse.Namespace, criteria: set[str], hint: str) -> list[tuple[Any, Any]]:
    """Return the newest results of some criteria, of the datasets asked for."""
    newest = newest_tasks(options.out_dir, criteria)
    if not newest:
        raise DataError(f"{options.out_dir}: no samples of {' or '.join(sorted(criteria))}. {hint}")
    keys_there = (key.dataset for key, _ in newest)
    datasets = chosen("--datasets", options.datasets, keys_there, "no samples")
    return [(key, task) for key, task in newest if key.dataset in datasets]


# The sample


def draw(items: Sequence[Item], language: str, n: int, seed: int) -> list[Item]:
    """Draw N items of a language, stratified, in random order.

    The order depends on seed and question alone. Ratings of two languages are mostly of the same
    questions; labels are samples of their own, as the correction of gaps assumes.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        if item.language == language:
            groups.setdefault(item.stratum, []).append(item)
    sizes = allocate({stratum: len(group) for stratum, group in groups.items()}, n)

    def random_key(item: Item) -> bytes:
        name = item.task if item.judge_label else item.task.removesuffix(f"_{language}")
        return hashlib.sha256(f"{seed}\0{name}\0{item.question_id}".encode()).digest()

    sample = [
        item
        for stratum, group in groups.items()
        for item in sorted(group, key=random_key)[: sizes[stratum]]
    ]
    return sorted(sample, key=random_key)


def allocate(counts: Mapping[str, int], n: int) -> dict[str, int]:
    """Allocate N items to strata: proportionally by largest remainder, at least one of each."""
    total = sum(counts.values())
    n = min(n, total)
    sizes = {name: n * count // total if total else 0 for name, count in counts.items()}
    remainders = {name: n * count % total if total else 0 for name, count in counts.items()}
    for name in sorted(counts, key=lambda name: -remainders[name])[: n - sum(sizes.values())]:
        sizes[name] += 1
    for name in [name for name, count in counts.items() if count and not sizes[name]]:
        largest = max(sizes, key=lambda other: sizes[other])
        if sizes[largest] > 1:
            sizes[largest] -= 1
            sizes[name] += 1
    return sizes


# The page


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
        "title": words["title"],
        "question": words["question"],
        "guide": words["guide"],
        "choices": [
            dict(zip(("value", "wording", "meaning"), row, strict=True)) for row in choices
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
