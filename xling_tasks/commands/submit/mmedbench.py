"""The files of MMedBench's leaderboard: `xling submit mmedbench`.

It takes two files of replies, two of scores and a description of the model. All of it is read from
`results_*.json` and `samples_*.jsonl`; nothing is generated or scored anew.
"""

from __future__ import annotations

import argparse
import csv
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from xling_tasks.commands.submit.parts import KINDS, SETTINGS, Part, checked_parts, command
from xling_tasks.data.records import MMEDBENCH_LANGUAGES
from xling_tasks.errors import DataError
from xling_tasks.output import all_or_none, markdown_table, refuse_files
from xling_tasks.report.documents import filled
from xling_tasks.secrets import redact, without_hosts

COLUMNS = ("Language", "ModelInput", "ModelOutput", "GT_Answer")
DESCRIPTION = "model_description.md"


def run(options: argparse.Namespace) -> str:
    """`xling submit mmedbench`: write the files, and say what they hold.

    Raises:
        DataError: If the runs in `OUT` are no full submission; the message says what is
            missing and the command that gets it.
    """
    out, to = Path(options.out_dir), options.to
    kinds = [options.only] if options.only else list(KINDS)
    names = [name for kind in kinds for name in (KINDS[kind].results, KINDS[kind].scores)]
    refuse_files(to, [*names, DESCRIPTION])
    parts = checked_parts(out, kinds, options.ft)
    _write_files(out, to, parts, [*names, DESCRIPTION])
    lines = [f"{to / name}" for name in [*names, DESCRIPTION]]
    return "\n".join([*lines, *cautions(parts), f"Fill in the lines with TODO in {DESCRIPTION}."])


def _write_files(
    out: Path, to: Path, parts: Mapping[str, Sequence[Part]], names: Sequence[str]
) -> None:
    """All files or none."""
    with all_or_none(to, names) as folder:
        for kind, of_kind in parts.items():
            _write(folder / KINDS[kind].results, COLUMNS, _rows(kind, of_kind, out))
            _write(folder / KINDS[kind].scores, *_scores(kind, of_kind))
        description = _description(parts)
        (folder / DESCRIPTION).write_text(description, encoding="utf-8", newline="\n")


def _write(path: Path, header: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """RFC 4180, UTF-8; every text as it is, also one that a spreadsheet would take as a formula."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _rows(kind: str, parts: Sequence[Part], out: Path) -> Iterator[Sequence[str]]:
    """The rows of a file of replies, streamed; each question of each language once."""
    for part in parts:
        again = f"Run: {command(out, [part.run], [part.task])}"
        take = functools.partial(_row, rationale=kind == "rationale")
        seen = set()
        for number, (doc_id, *texts) in part.samples.stream(take, hint=again):
            if doc_id in seen:
                path = part.samples.path
                raise DataError(f"{path}, row {number}: question {doc_id} came before")
            seen.add(doc_id)
            yield [MMEDBENCH_LANGUAGES[part.language], *texts]
        if len(seen) != part.count["original"]:
            raise DataError(
                f"{part.samples.path}: {len(seen)} of {part.count['original']} questions. {again}"
            )


def _row(sample: Mapping[str, Any], *, rationale: bool) -> tuple[str, str, str, str]:
    """A sample's id, prompt, reply and right answer.

    The prompt is what was sent, with chat template (chat services: the messages as JSON). The
    reply is whole, marker and letters of a rationale included.
    """
    prompt = sample["arguments"]["gen_args_0"]["arg_0"]
    if isinstance(prompt, list):
        (prompt,) = prompt
    doc = sample["doc"]
    answer = doc["rationale"] if rationale else ",".join(doc["answer"])
    texts = (prompt, sample["resps"][0][0], answer)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("prompt, reply and answer must be texts")
    return (str(doc["question_id"]), *texts)


def _scores(
    kind: str, parts: Sequence[Part]
) -> tuple[Sequence[str], Iterator[Sequence[str | float]]]:
    """Header and rows of a file of scores: fractions as in the results, `Avg` unweighted."""
    header = ["Metric", *(MMEDBENCH_LANGUAGES[part.language] for part in parts), "Avg"]
    rows: list[Sequence[str | float]] = []
    for name, metric in KINDS[kind].metrics.items():
        values = [value for part in parts if (value := part.score(metric)) is not None]
        rows.append([name, *values, fmean(values)])
    return header, iter(rows)


def cautions(parts: Mapping[str, Sequence[Part]]) -> list[str]:
    """What makes the submission differ from one of the whole published test set."""
    lines = []
    for part in next(iter(parts.values())):
        data = part.xling["data"]
        if data["rows"] != data["rows_expected"]:
            lines.append(
                f"Caution: {part.language}: {data['rows']} questions in the data, but "
                f"{data['rows_expected']} were published."
            )
        if data["unusable_rows"]:
            lines.append(f"Caution: {part.language}: {data['unusable_rows']} unusable, left out.")
    return lines


def _description(parts: Mapping[str, Sequence[Part]]) -> str:
    """The model's description as far as the run tells it; the rest is marked TODO."""
    everything = [part for of_kind in parts.values() for part in of_kind]
    newest = max((part.run for part in everything), key=lambda run: run.stamp)
    args, size = newest.model_args, newest.config.get("model_num_parameters")
    text = filled(
        "mmedbench.j2",
        run=newest,
        name=next((args[key] for key in ("peft", "pretrained", "model") if args.get(key)), None),
        size=f"{size:,} parameters" if isinstance(size, int) and size > 0 else "TODO",
        versions=sorted({part.lm_eval for part in everything}),
        ours=sorted({str(part.xling["version"]) for part in everything}),
        stamps=sorted({part.run.stamp for part in everything}),
        halves=[_half(kind, of_kind) for kind, of_kind in parts.items()],
        licence=everything[0].xling["data"]["licence"],
        data=_data(parts),
        cautions=cautions(parts),
    )
    return str(without_hosts(text)).rstrip() + "\n"


def _half(kind: str, parts: Sequence[Part]) -> dict[str, Any]:
    """What is said of one half of a submission."""
    newest = max(parts, key=lambda part: part.run.stamp)
    prompts: dict[str, list[str]] = {}
    for part in parts:
        for name, prompt in part.xling["prompts"].items():
            text = f"`{name}` in `{prompt['language']}`, digest `{prompt['digest']}`"
            prompts.setdefault(text, []).append(part.language)
    return {
        "kind": KINDS[kind],
        "parts": parts,
        "newest": newest,
        "prompts": prompts,
        "generation": redact(newest.xling["generation_kwargs"]),
        "settings": redact({key: newest.xling["settings"].get(key) for key in SETTINGS}),
    }


def _data(parts: Mapping[str, Sequence[Part]]) -> str:
    """A table of what was read in each language."""
    counts = [f"questions ({kind})" for kind in parts]
    columns = ["language", *counts, "left out", "source", "revision", "sha256"]
    rows = []
    for row in zip(*parts.values(), strict=True):
        data = row[0].xling["data"]
        cells = [row[0].language, *(part.count["original"] for part in row), data["unusable_rows"]]
        rows.append([*cells, data["name"], data["revision"] or "", data["sha256"]])
    return markdown_table(columns, rows)
