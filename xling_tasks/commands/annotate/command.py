"""`xling annotate`: a page on which people check the labels of the judge of correctness.

XLingEval, Table A7: a stratified sample per language, and whether people agree with the judge's
label and reasoning. With `--form translation` the page is for another question: how good
translations are (`translation`).
`xling agreement` reads what they export.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from operator import itemgetter
from pathlib import Path
from typing import Any

from xling_tasks.commands.annotate.draw import allocate, random_key
from xling_tasks.commands.annotate.page import TRANSLATION, page_data, page_path, write_page
from xling_tasks.commands.annotate.translation import annotate_translations
from xling_tasks.commands.options import (
    add_folder,
    add_languages,
    add_metadata,
    add_output,
    add_seed,
    chosen,
    integer,
)
from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.annotations import answer_digest
from xling_tasks.logs.samples import Samples, newest_samples
from xling_tasks.scorers.answered import replies_of

_HINT = (
    "The page needs correctness with a judge: lm_eval --metadata '{\"judge\": {...}}' "
    "--output_path ... --log_samples; answers that are there are judged with --model xling_replay."
)
_FAILED = "judge_failed"
_NO_MAJORITY = "no_majority"


def annotate(options: argparse.Namespace) -> str:
    """`xling annotate`: draw the sample, write the page, and say what is on it."""
    if options.to is None:
        raise SettingError("--to: name the page to write, a file that ends in .html")
    if options.form == TRANSLATION:
        return annotate_translations(options)
    if options.out_dir is None:
        raise SettingError("OUT is missing: name the --output_path of lm_eval, such as out")
    to = page_path(options.to)
    options.n = 103 if options.n is None else options.n
    if options.n < len(LABELS):
        raise SettingError(f"--n {options.n}: at least {len(LABELS)}, one item of each label")
    out = options.out_dir
    drawn = _draw(_wanted(out, options), options.n, options.seed)
    items = [dict(item) for language in drawn.values() for item in language.sample()]
    if not items:
        raise DataError(f"{out}: no answer has a label of the judge. {_HINT}")
    judges = {judge: path for language in drawn.values() for judge, path in language.judges.items()}
    if len(judges) > 1:
        listed = "; ".join(f"{judge} ({path.name})" for judge, path in judges.items())
        raise DataError(
            f"{out}: labels of {len(judges)} judges: {listed}. A check is of one judge: choose "
            "--languages or --datasets, or run again with one"
        )
    made = {"seed": options.seed, "n": options.n, "blind": options.blind, "judge": min(judges)}
    made |= {"strata": [row for language in drawn.values() for row in language.strata()]}
    made |= {"answers": {item["id"]: item.pop("digest") for item in items}}
    return write_page(to, page_data(items, made), _summary(drawn))


@dataclass
class _Drawn:
    """The sample of one language while its files are read.

    COUNTS has answers without a label too (`no_response`, `judge_failed`, `no_majority`); ITEMS has
    per label at least the N items with the smallest keys, and their keys; JUDGES has the judges'
    signatures, each with a file that has it; POPULATIONS counts answers by task and label.
    """

    n: int
    counts: Counter[str] = field(default_factory=Counter)
    items: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)
    judges: dict[str, Path] = field(default_factory=dict)
    populations: Counter[tuple[str, str]] = field(default_factory=Counter)

    def take(self, key: int, item: dict[str, str]) -> None:
        """Offer an item to its label's sample: a random one if keys are random."""
        kept = self.items.setdefault(item["judge_label"], [])
        kept.append((key, item))
        if len(kept) == 2 * self.n:
            kept[:] = nsmallest(self.n, kept, itemgetter(0))

    def sizes(self) -> dict[str, int]:
        """How many items of each label the sample has."""
        return allocate({label: self.counts[label] for label in LABELS}, self.n)

    def sample(self) -> list[dict[str, str]]:
        """The sample in random order."""
        chosen: list[tuple[int, dict[str, str]]] = []
        for label, size in self.sizes().items():
            chosen += nsmallest(size, self.items.get(label, ()), itemgetter(0))
        return [item for _, item in sorted(chosen, key=itemgetter(0))]

    def strata(self) -> list[dict[str, Any]]:
        """Per task and label, how many answers there are and how many are in the sample."""
        shown = Counter((item["task"], item["judge_label"]) for item in self.sample())
        return [
            {"task": task, "label": label, "population": size, "sample": shown[task, label]}
            for (task, label), size in sorted(self.populations.items())
        ]


def _draw(files: Iterable[tuple[Samples, str, str]], n: int, seed: int) -> dict[str, _Drawn]:
    """The sample of every language, of files with their dataset and language.

    An item's key is a hash of seed, task and question: the sample depends on neither the order of
    lines nor the answers, and only about n items per label are kept while reading.
    """
    drawn: dict[str, _Drawn] = {}
    for samples, dataset, language in files:
        about = {"task": samples.task, "dataset": dataset, "language": language}
        of_language = drawn.setdefault(language, _Drawn(n))
        for question_id, row, judged in _rows(samples):
            label = judged["label"]
            unlabelled = _NO_MAJORITY if judged.get("no_majority") is True else _FAILED
            of_language.counts[unlabelled if label is None else label] += 1
            of_language.judges.setdefault(str(judged["judge"]), samples.path)
            if label not in LABELS:
                continue
            texts = {key: row["doc"][key] for key in ("question", "reference")}
            item = {"id": f"{samples.task}/{question_id}", **about, "question_id": question_id}
            item |= {**texts, "answer": row["answer"], "judge_label": label}
            item |= {"reply": judged["reply"], "digest": row["digest"]}
            of_language.populations[samples.task, label] += 1
            of_language.take(random_key(seed, item["id"]), item)
    return drawn


def _rows(samples: Samples) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """A task's rows of its first filter, each with question id and judgement."""
    for _, row in samples.stream_first(_judged, hint=_HINT):
        if row is None:
            raise DataError(f"{samples.path}: these answers have no judge's labels. {_HINT}")
        yield row["doc"]["question_id"], row, row["n_judged"]


def _judged(row: dict[str, Any]) -> dict[str, Any] | None:
    """A sample's parts that the page needs, with the answer's text; None without a judge."""
    if "n_judged" not in row:
        return None
    doc, judged, replies = row["doc"], row["n_judged"], row["filtered_resps"]
    if not isinstance(judged, dict) or not {"label", "reply", "judge"} <= judged.keys():
        raise TypeError("n_judged: no label with its reply")
    label = judged["label"]
    if label not in (*LABELS, NO_RESPONSE, None):
        raise ValueError(f"n_judged: unknown label {label!r}")
    answer = replies_of(replies[0])[0]
    doc = {**doc, "question_id": str(doc["question_id"])}
    judged = {**judged, "reply": judged["reply"] or ""}
    texts = [answer, doc["question"], doc["reference"], judged["reply"]]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("question, reference, answer and reply are texts")
    return {"doc": doc, "n_judged": judged, "answer": answer, "digest": answer_digest(row)}


def _wanted(out: Path, options: argparse.Namespace) -> list[tuple[Samples, str, str]]:
    """The files to draw from: the newest of each task, by language and dataset."""
    newest = newest_samples(out, {"correctness"})
    if not newest:
        raise DataError(
            f"{out}: no samples of correctness (samples_*_correctness_*.jsonl). {_HINT}"
        )
    files = [(samples, place.dataset, place.language) for place, samples in newest]
    named = ((1, "--datasets", options.datasets), (2, "--languages", options.languages))
    for place, option, words in named:
        wanted = chosen(option, words, (str(file[place]) for file in files), "no samples of it")
        files = [file for file in files if file[place] in wanted]
    if not files:
        raise SettingError(f"--datasets and --for: {out} has no run of both together")
    return sorted(files, key=lambda file: (file[2], file[1]))


def _summary(drawn: Mapping[str, _Drawn]) -> Sequence[Mapping[str, Any]]:
    """Of each language how many items of each label the page has, and what was left out."""
    juries = [_NO_MAJORITY] if any(sample.counts[_NO_MAJORITY] for sample in drawn.values()) else []
    return [
        {"language": language, "items": sum(sample.sizes().values())}
        | {label: f"{sample.sizes()[label]} of {sample.counts[label]:,}" for label in LABELS}
        | {"left out: " + name: sample.counts[name] for name in (NO_RESPONSE, _FAILED, *juries)}
        for language, sample in drawn.items()
    ]


# Labels that are needed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling annotate`."""
    add_folder(parser, nargs="?", help="; none to rate translations of XLingHealth's data")
    parser.add_argument(
        "--form", choices=["judge", "translation"], default="judge",
        help="check labels of a judge, or rate translations (default %(default)s)",
    )  # fmt: skip
    add_output(parser, "page to write")
    parser.add_argument(
        "--n",
        type=integer(1),
        metavar="N",
        help="items per language (103; translations 50)",
    )
    add_seed(parser, "of the sample")
    add_languages(parser, "all in the run")
    parser.add_argument(
        "--datasets", metavar="NAMES", help="only these datasets, separated by commas: liveqa"
    )
    parser.add_argument(
        "--blind", action="store_true", help="hide the judge's label until a label is chosen"
    )
    add_metadata(parser)
    parser.set_defaults(run=annotate)
