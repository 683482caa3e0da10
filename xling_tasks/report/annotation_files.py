"""Annotations: the CSV files that the page of `xling annotate` exports."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError, did_you_mean, unreadable

OTHER_LABELS = ("reference_wrong", "both_wrong")
"""Labels of people alone: the reference is wrong, and the answer is correct or wrong too."""

LABEL, FLUENCY, MEANING, FIDELITY = "label", "fluency", "meaning", "fidelity"
RATINGS = ("1", "2", "3", "4", "5")
CHOICES = {LABEL: (*LABELS, *OTHER_LABELS), **dict.fromkeys((FLUENCY, MEANING, FIDELITY), RATINGS)}
"""Form of the page -> what an annotator chooses from."""


class Annotation(NamedTuple):
    """One annotator's choice for one answer or translation; an empty label is none.

    `answer` is the digest of the text that was read (`answer_digest`).
    """

    form: str
    annotator: str
    model: str
    task: str
    language: str
    question_id: str
    judge_label: str
    label: str
    comment: str
    answer: str

    @property
    def item(self) -> tuple[str, ...]:
        """The form, model, task and question that the annotation is of."""
        return (self.form, self.model, self.task, self.question_id)


def read_annotations(
    paths: Sequence[Path], choices: Mapping[str, Sequence[str]] = CHOICES
) -> list[Annotation]:
    """Read exported files.

    Raises:
        DataError: If a file is no export, a label is unknown, or an annotator labels an item twice.
    """
    by_item: dict[tuple[str, ...], tuple[Path, Annotation]] = {}
    for path in paths:
        for annotation in _read_file(path, choices):
            key = (annotation.annotator.casefold(), *annotation.item)
            if key in by_item:
                raise DataError(
                    f"{path}: {annotation.annotator!r} labels {annotation.task}, question "
                    f"{annotation.question_id!r} a second time (see {by_item[key][0]}); give one "
                    "of the files, or change the annotator's name if these are two people"
                )
            by_item[key] = path, annotation
    return [annotation for _, annotation in by_item.values()]


def _read_file(path: Path, choices: Mapping[str, Sequence[str]]) -> Iterator[Annotation]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: {unreadable(path, error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason}); save it as CSV in UTF-8") from error
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","  # spreadsheets in Europe
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    if missing := [n for n in Annotation._fields if n not in (reader.fieldnames or ())]:
        raise DataError(
            f"{path}: has no column {', '.join(missing)}; give a CSV file that the page of "
            "`xling annotate` exported"
        )
    for number, row in enumerate(reader, start=2):
        annotation = Annotation(*(str(row[name] or "").strip() for name in Annotation._fields))
        choices_of_form = ["", *choices.get(annotation.form, ())]
        if annotation.label not in choices_of_form:
            hint = did_you_mean(annotation.label, filter(None, choices_of_form))
            raise DataError(
                f"{path}, row {number}, column 'label': unknown {annotation.label!r}.{hint}"
            )
        if not annotation.annotator:
            raise DataError(f"{path}, row {number}: no annotator; write a name in the page")
        yield annotation


def answer_digest(sample: Mapping[str, Any]) -> str:
    """Return a digest of a logged answer: its first reply, through its filter."""
    reply = sample["filtered_resps"][0]
    while isinstance(reply, list) and reply:
        reply = reply[0]
    return text_digest(str(reply))


def text_digest(text: str) -> str:
    """Return a short digest of a text; it begins with a letter, as Excel rounds 16 digits."""
    return "x" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
