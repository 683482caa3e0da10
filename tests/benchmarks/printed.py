"""Answers with a known truth go through files to what is printed: for `conclusions.py`.

Answers are drawn, written as `lm_eval --log_samples` leaves them, and read back by the report and
by `xling compare`. The pages themselves are written of one data set a row (`Way.whole`).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from builders import task_of, write_run

from xling_tasks.cli import main
from xling_tasks.outcomes import outcome_of
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import read_models
from xling_tasks.report.lines import answer, lines
from xling_tasks.report.model import Conclusion, Options
from xling_tasks.report.sentences import sentence
from xling_tasks.report.stats import Statistics

OPTIONS = Options(n_resamples=1000)
Tasks = Mapping[str, Mapping[str, Any]]
USELESS = {"wrong_language": {"langid_match": 0.0}, "refusal": {"refusal_rate": 1.0},
           "empty": {"empty_rate": 1.0}}  # fmt: skip
"""What a task measures of an answer that is of no use."""


# Tasks


def _task(criterion: str, codes: Sequence[str], rows: list[dict[str, Any]], **up: bool) -> Any:
    """A task's files: its values are means of what was logged."""
    record = {"settings": {}, "data": {"dataset": "LiveQA"}, "prompts": {}, "version": "0.2",
              "about": {"format": 1, "criterion": criterion, "dataset": "liveqa",
                        "languages": list(codes), "primary": None}}  # fmt: skip
    scores = {}
    for name in up:
        values = [row[name] for row in rows if row.get(name) is not None]
        if values and isinstance(values[0], dict):
            p, r = (float(np.mean([v[side] for v in values])) for side in ("precision", "recall"))
            scores[name] = 2 * p * r / (p + r)
        else:
            scores[name] = float(np.mean(values)) if values else None
    return task_of(scores, rows, record=record, better=up)


def _row(number: int, text: int | None = None, **values: Any) -> dict[str, Any]:
    """A question's sample; questions with one number of a text have the same."""
    question = f"Question {number if text is None else text}?"
    doc = {"question_id": f"q{number}", "question": question}
    return {"doc": doc, "resps": [["x"]], **values}


def correctness(code: str, harm, *, helped=None, useless=None, silent=None, texts=None) -> Tasks:
    """One language, answer by answer.

    Args:
        code: The language.
        harm: Who got a harmful answer.
        helped: Who was helped; all if not given.
        useless: Of each answer why it is of no use, or an empty text.
        silent: Which answers the judge gave no label.
        texts: A number per question that is the same for the same text.
    """
    rows = []
    for i in range(len(harm)):
        unread = bool(silent is not None and silent[i])
        values = {
            "contradictory": 0.0 if unread else float(harm[i]),
            "more_comprehensive": 0.0 if unread else float(helped is None or helped[i]),
            "no_response": float(unread),
        } | USELESS.get("" if useless is None else useless[i], {})
        own = {code: outcome_of(values, inside=values.get("langid_match", 1.0) == 1)}
        text = i if texts is None else texts[i]
        rows.append(_row(i, text, n_responses={"outcome": own}, **values))
    up = {"contradictory": False, "more_comprehensive": True, "no_response": False}
    return {f"correctness_{code}": _task("correctness", [code], rows, **up)}


def exam(code: str, right, unread=None) -> Tasks:
    """Letters, one to a question."""
    lost = np.zeros(len(right), dtype=bool) if unread is None else unread
    rows = [
        _row(i, acc=float(hit and not gone), unparsed_rate=float(gone))
        for i, (hit, gone) in enumerate(zip(right, lost, strict=True))
    ]
    return {f"mcqa_{code}": _task("mcqa", [code], rows, acc=True, unparsed_rate=False)}


def similar(code: str, values) -> Tasks:
    """How alike several answers to each question are."""
    name = "sim_sent_t1.0"
    rows = [_row(i, **{name: float(value)}) for i, value in enumerate(values)]
    return {f"consistency_{code}": _task("consistency", [code], rows, **{name: True})}


def information(n: int, shared: Mapping[str, Any], useless: Mapping[str, Any]) -> Tasks:
    """Prompts in many languages: language -> (precision, recall) of claims; who was not served."""
    codes = ["en", *(code for code in useless if code != "en")]
    rows = []
    for i in range(n):
        row: dict[str, Any] = {"doc": {"question_id": f"p{i}", "text": dict.fromkeys(codes, f"x{i}")},
                               "resps": [["x"]] * len(codes)}  # fmt: skip
        for code, (precision, recall) in shared.items():
            row[f"information_f1_{code}"] = {"precision": precision[i], "recall": recall[i]}
        outcome = {code: "wrong_language" if useless[code][i] else "scored" for code in codes}
        rows.append(row | {"n_responses": {"outcome": outcome}})
    names = {f"information_f1_{code}": True for code in shared}
    return {"xling_information": _task("information", codes, rows, **names)}


# What is printed


class Said:
    """What a report says: conclusions by metric and language, their sentences, the first answer."""

    def __init__(self, items: Sequence[Conclusion]) -> None:
        self.items = {(item.metric, item.language): item for item in items}
        self.answer = answer(lines(list(items), {}))

    def of(self, metric: str, code: str = "hi") -> str:
        """The sentence of one conclusion."""
        return sentence(self.items[metric, code])


class Way:
    """The way of data sets; of the first one `xling report` writes its page, too."""

    def __init__(self) -> None:
        self.whole = True

    def report(self, *parts: Tasks) -> Said:
        """From tasks to sentences; of the whole way the page has to have each of them."""
        with tempfile.TemporaryDirectory() as folder:
            run = write_run(Path(folder) / "m", {k: v for own in parts for k, v in own.items()})
            (model,) = read_models([run])
            said = Said(conclusions_of(Statistics(OPTIONS), model))
            if self.whole:
                self.whole, page = False, self._page(run)
                missing = [text for key in said.items if (text := said.of(*key)) not in page]
                if said.answer not in page or len(missing) > len(said.items) / 2:
                    raise AssertionError(f"not on the page: {said.answer} {missing}")
        return said

    @staticmethod
    def _page(run: Path) -> str:
        with contextlib.redirect_stdout(io.StringIO()):
            options = ["--no-pictures", "--samples", "0", "--n-resamples", "1000"]
            if main(["report", str(run), "--to", f"{run}_page", *options]):
                raise AssertionError("xling report failed")
        return Path(f"{run}_page", "report.md").read_text(encoding="utf-8")

    def compare(self, a: Sequence[Tasks], b: Sequence[Tasks], metric: str) -> dict[str, str]:
        """What `xling compare A B` says of Hindi: its summary, and the verdicts of one metric."""
        with tempfile.TemporaryDirectory() as folder:
            runs = [
                str(write_run(Path(folder) / name, {k: v for t in own for k, v in t.items()}))
                for name, own in (("a", a), ("b", b))
            ]
            with contextlib.redirect_stdout(io.StringIO()) as out:
                if main(["compare", *runs, "--json"]):
                    raise AssertionError("xling compare failed")
        content = json.loads(out.getvalue())
        about = (metric, "hi")
        rows = [r for r in content["comparisons"] if (r["metric"], r["language"]) == about]
        told = {row["kind"]: row["outcome"] for row in rows}
        return told | {"summary": " ".join(content["summary"])}
