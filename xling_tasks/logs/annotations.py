"""What people said of the judge's labels: exports of the page of `xling annotate`.

`xling agreement` and `xling report --human` read them here: checked, and put together by page.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.safe_json import read_json

FORMAT = "xling-annotations"
VERSION = 1

OTHER_LABELS = ("reference_wrong", "both_wrong")
"""What only people may answer: that the reference is wrong, and the answer right or wrong too."""

_AGAIN = "export it again from the page"


@dataclass(frozen=True)
class Checked:
    """What one annotator said about one item; None where they did not say it.

    `label` is theirs, which is the judge's where they agree.
    """

    id: str
    task: str
    language: str
    question_id: str
    judge_label: str
    agree_label: bool | None
    agree_reasoning: bool | None
    label: str | None
    comment: str

    @property
    def origin(self) -> tuple[str, ...]:
        """What does not depend on the annotator."""
        return (self.id, self.task, self.language, self.question_id, self.judge_label)


class Stratum(NamedTuple):
    """How many answers of a task have one label of the judge, and how many the page shows."""

    population: int
    sample: int


@dataclass(frozen=True)
class AnyExport:
    """One annotator's file, of either form of the page, told by its digest.

    Items are in the page's order, settings say how its sample was drawn.
    """

    path: Path
    annotator: str
    page: str
    settings: Mapping[str, Any]
    items: Mapping[str, Any]


@dataclass(frozen=True)
class Export(AnyExport):
    """A file that checks a judge; what it has more is empty in exports of older pages.

    `strata` are sizes by task and judge's label, also among its settings; `answers` the digests of
    what people read by item, as `answer_digest` makes them.
    """

    items: Mapping[str, Checked]
    strata: Mapping[tuple[str, str], Stratum]
    answers: Mapping[str, str]


E = TypeVar("E", bound=AnyExport)


def read_pages(paths: Sequence[Path]) -> dict[str, list[Export]]:
    """The files that check a judge, by page; see `by_page`."""
    return by_page(paths, read_export)


def by_page(paths: Sequence[Path], read: Callable[[Path], E]) -> dict[str, list[E]]:
    """Files of either form by page.

    Raises:
        DataError: If a file is no export, two are by one annotator of one page, or those of one
            page differ in more than what annotators say.
    """
    pages: dict[str, list[E]] = {}
    for path in paths:
        export = read(path)
        others = pages.setdefault(export.page, [])
        for other in others:
            _check_together(export, other)
        others.append(export)
    return pages


def _check_together(export: AnyExport, other: AnyExport) -> None:
    """Refuse two files of a page that are by one annotator, or unlike otherwise."""
    if export.annotator.casefold() == other.annotator.casefold():
        raise DataError(
            f"{export.path} and {other.path} are both by {export.annotator!r} on page "
            f"{export.page}: give one of them, or change 'annotator' if these are two people"
        )
    if dict(export.settings) != dict(other.settings) or list(export.items) != list(other.items):
        raise DataError(
            f"{export.path} and {other.path} name page {export.page}, but hold different items or "
            f"settings: {_AGAIN}"
        )
    for name, item in export.items.items():
        if item.origin != other.items[name].origin:
            raise DataError(
                f"{export.path} and {other.path}: item {name!r} differs in task or dataset, "
                f"language, question or judge_label: {_AGAIN}"
            )


def read_content(path: Path) -> dict[str, Any]:
    """A file's content, which must be an export that this version reads, of either form."""
    content = read_json(path, _AGAIN)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path}: no export of a page of `xling annotate` (format {FORMAT!r})")
    if content.get("version") != VERSION:
        raise DataError(
            f"{path}: version {content.get('version')!r}, this program reads {VERSION}; use the "
            "xling-tasks that wrote the page"
        )
    return content


def read_head(path: Path, content: Mapping[str, Any]) -> tuple[str, str]:
    """The annotator's name and the page's digest."""
    annotator = " ".join(read_text(path, content, "annotator").split())
    return annotator, read_text(path, content, "page_digest")


def read_rows(path: Path, content: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """The items by id, each with its place for messages."""
    rows = content.get("items")
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{path}: field 'items': a list of items is expected; {_AGAIN}")
    by_id: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, row in enumerate(rows, start=1):
        place = f"{path}, item {number}"
        if not isinstance(row, dict):
            raise DataError(f"{place}: an object is expected; {_AGAIN}")
        name = read_text(place, row, "id")
        if name in by_id:
            raise DataError(f"{place}: {name!r} appears twice; {_AGAIN}")
        by_id[name] = (place, row)
    return by_id


def read_export(path: Path) -> Export:
    """One file that checks a judge; what is wrong is an error that names file, item and field."""
    content = read_content(path)
    annotator, page = read_head(path, content)
    rows = read_rows(path, content)
    items = {name: _read_item(place, row) for name, (place, row) in rows.items()}
    strata = _strata(path, content, items)
    made = {key: content.get(key) for key in ("seed", "n", "blind", "judge")}
    answers = content.get("answers") or {}
    if not isinstance(answers, dict):
        raise DataError(f"{path}: field 'answers': an object is expected; {_AGAIN}")
    told = {str(name): str(digest) for name, digest in answers.items()}
    return Export(path, annotator, page, {**made, "strata": strata}, items, strata, told)


def answer_digest(sample: Mapping[str, Any]) -> str:
    """What tells a logged sample's answer from another: of its first reply, through its filter."""
    reply = sample["filtered_resps"][0]
    while isinstance(reply, list) and reply:
        reply = reply[0]
    return hashlib.sha256(str(reply).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _strata(
    path: Path, content: Mapping[str, Any], items: Mapping[str, Checked]
) -> dict[tuple[str, str], Stratum]:
    """The sizes of the strata, which must be those of the items; none in older exports."""
    rows = content.get("strata")
    if rows is None:
        return {}
    if not isinstance(rows, list):
        raise DataError(f"{path}: field 'strata': a list is expected; {_AGAIN}")
    shown = Counter((item.task, item.judge_label) for item in items.values())
    strata: dict[tuple[str, str], Stratum] = {}
    for number, row in enumerate(rows, start=1):
        place = f"{path}, stratum {number}"
        if not isinstance(row, dict):
            raise DataError(f"{place}: an object is expected; {_AGAIN}")
        key = (read_text(place, row, "task"), read_text(place, row, "label"))
        sizes = [row.get(name) for name in ("population", "sample")]
        whole = [n for n in sizes if isinstance(n, int) and not isinstance(n, bool)]
        if len(whole) < 2 or not 0 <= whole[1] <= whole[0] or whole[1] != shown[key]:
            raise DataError(
                f"{place}: population {sizes[0]!r}, sample {sizes[1]!r}, but the file has "
                f"{shown[key]} items of {key[0]}, {key[1]!r}; {_AGAIN}"
            )
        if key in strata:
            raise DataError(f"{place}: {key[0]}, {key[1]!r} appears twice; {_AGAIN}")
        strata[key] = Stratum(*whole)
    for key in shown.keys() - strata.keys():
        raise DataError(f"{path}: field 'strata': none for {key[0]}, {key[1]!r}; {_AGAIN}")
    return strata


def _read_item(place: str, row: Mapping[str, Any]) -> Checked:
    told: dict[str, Any] = {
        name: read_text(place, row, name)
        for name in ("id", "task", "language", "question_id", "judge_label")
    }
    label = row.get("label")
    for name, value in (("judge_label", told["judge_label"]), ("label", label)):
        known_labels = LABELS if name == "judge_label" else (*LABELS, *OTHER_LABELS)
        if value not in known_labels and (name == "judge_label" or value is not None):
            known = did_you_mean(str(value), known_labels)
            raise DataError(f"{place}, field {name!r}: unknown label {value!r}.{known}")
    flags: dict[str, Any] = {name: row.get(name) for name in ("agree_label", "agree_reasoning")}
    for name, flag in flags.items():
        if flag is not None and not isinstance(flag, bool):
            raise DataError(f"{place}, field {name!r}: true, false or null is expected: {flag!r}")
    agrees = flags["agree_label"]
    if agrees is not None and label is not None and agrees is not (label == told["judge_label"]):
        raise DataError(
            f"{place}: 'agree_label' is {json.dumps(agrees)}, but 'label' is {label!r} and "
            f"'judge_label' {told['judge_label']!r}; {_AGAIN}"
        )
    comment = row.get("comment")
    return Checked(
        **told,
        **flags,
        # Without agree_label, a blind choice is not yet fixed.
        label=None if agrees is None else label,
        comment=comment if isinstance(comment, str) else "",
    )


def read_text(place: object, row: Mapping[str, Any], name: str) -> str:
    """A field that must hold a text; if it does not, an error names place and field."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        hint = "write a name in the page and " if name == "annotator" else ""
        raise DataError(f"{place}, field {name!r}: a text is expected; {hint}{_AGAIN}")
    return value
