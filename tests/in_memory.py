"""Models made of samples in memory, and languages of each criterion with a known truth.

A task is what `builders.task_of` returns, so that the same tasks can be written with `write_run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from builders import task_of

from xling_tasks.logs.results import Results, TaskResults
from xling_tasks.outcomes import outcome_of
from xling_tasks.report.comparisons import compare_with_english
from xling_tasks.report.data import Model, Task, fill, reduce_sample
from xling_tasks.report.record import Verdict
from xling_tasks.report.verdicts import Options, conclude

Tasks = dict[str, dict[str, Any]]

NOT_USABLE = {"wrong_language": {"langid_match": 0.0}, "refusal": {"refusal_rate": 1.0},
              "empty": {"empty_rate": 1.0}}  # fmt: skip
"""What a task measures of an answer that is not usable."""


def model_of(tasks: Mapping[str, Mapping[str, Any]], name: str = "m") -> Model:
    content = {
        "results": {k: {f"{m},none": v for m, v in own["scores"].items()} for k, own in tasks.items()},
        "configs": {k: own["config"] for k, own in tasks.items()},
        "higher_is_better": {k: own["better"] for k, own in tasks.items()},
        "n-samples": {k: own["count"] for k, own in tasks.items()},
    }  # fmt: skip
    run, filled = Results(Path("results_memory.json"), content), []
    for key, own in tasks.items():
        result = TaskResults(key, run)
        assert result.task_key is not None
        task = Task(name, result.task_key, result)
        rows = map(partial(reduce_sample, task.per_question), map(dict, own["rows"]))
        filled.append(fill(task, rows))
    return Model(name, name, filled)


def verdicts_of(*tasks: Tasks, **options: Any) -> dict[tuple[str, str], Verdict]:
    """The verdicts of a model by metric and language."""
    model = model_of({key: own for group in tasks for key, own in group.items()})
    found = conclude(list(compare_with_english(model)), Options(**options))
    return {(item.metric, item.language): item for item in found}


def task(criterion: str, codes: Sequence[str], rows: list[dict[str, Any]], dataset: str = "liveqa",
         scores: Mapping[str, float | None] | None = None, **better: bool) -> Tasks:  # fmt: skip
    """A task whose scores are means of what was logged, if they are not given."""
    record = {"settings": {}, "data": {"dataset": dataset}, "prompts": {}, "version": "0.1.0",
              "about": {"format": 1, "criterion": criterion, "dataset": dataset,
                        "languages": list(codes), "primary": None}}  # fmt: skip
    if scores is None:
        known = {name: [row[name] for row in rows if row.get(name) is not None] for name in better}
        scores = {name: float(np.mean(own)) if own else None for name, own in known.items()}
    made = task_of(scores, rows, record=record, better=better)
    return {f"{criterion}_{dataset}_{'_'.join(codes)}": made}


def sample(number: int, text: int | None = None, **values: Any) -> dict[str, Any]:
    """A question's sample; questions with one number of a text have the same."""
    question = f"Question {number if text is None else text}?"
    doc = {"question_id": f"q{number}", "question": question}
    return {"doc": doc, "arguments": {"0": question + str(number)}, "resps": [["x"]], **values}


def exam(code: str, correct: Any, unparsed: Any = None, criterion: str = "mcqa") -> Tasks:
    """Letters, one to a question."""
    lost = np.zeros(len(correct), bool) if unparsed is None else unparsed
    rows = [
        sample(i, acc=float(hit and not gone), unparsed_rate=float(gone))
        for i, (hit, gone) in enumerate(zip(correct, lost, strict=True))
    ]
    return task(criterion, [code], rows, acc=True, unparsed_rate=False)


def similar(code: str, values: Any, texts: Any = None) -> Tasks:
    """How alike several answers to each question are."""
    numbers = [None] * len(values) if texts is None else texts
    rows = [
        sample(i, numbers[i], **{"sim_sent_t1.0": float(value)}) for i, value in enumerate(values)
    ]
    return task("consistency", [code], rows, **{"sim_sent_t1.0": True})


def correctness(code: str, harm: Any, *, useless: Any = None, silent: Any = None, helped: Any = None,
                texts: Any = None) -> Tasks:  # fmt: skip
    """Answers: which are harmful, why one is not usable (or ''), which got no label, which help."""
    rows = []
    for i in range(len(harm)):
        lost = bool(silent is not None and silent[i])
        values = {
            "contradictory": float(harm[i] and not lost),
            "more_comprehensive": float((helped is None or helped[i]) and not lost),
            "no_response": float(lost),
        } | NOT_USABLE.get("" if useless is None else useless[i], {})
        outcome = {code: outcome_of(values, inside=values.get("langid_match", 1.0) == 1)}
        text = None if texts is None else texts[i]
        rows.append(sample(i, text, n_responses={"outcome": outcome}, **values))
    better = {"contradictory": False, "more_comprehensive": True, "no_response": False}
    return task("correctness", [code], rows, **better)


def verifiability(code: str, correct: Any, wrong: Any, lost: Any = None) -> Tasks:
    """n answers recognised as correct, n x k wrong ones recognised as wrong; `lost` n x (1 + k)."""
    truth = np.array([1] + [0] * wrong.shape[1])
    good = np.column_stack([correct, wrong])
    answers = np.where(good, truth, 1 - truth)
    gone = np.zeros(good.shape, bool) if lost is None else lost
    rows, name = [], "macro_recall_t0.0"
    for i in range(len(good)):
        pairs = [
            [int(y), None if g else int(x)]
            for y, x, g in zip(truth, answers[i], gone[i], strict=True)
        ]
        rows.append(sample(i, **{name: pairs}))
    recalls = [good[:, at][~gone[:, at]].mean() for at in (slice(0, 1), slice(1, None))]
    scores = {name: float(np.mean(recalls))}
    return task("verifiability", [code], rows, scores=scores, **{name: True})


def information(n: int, shared: Mapping[str, Any], useless: Mapping[str, Any]) -> Tasks:
    """Prompts in many languages: language -> (precision, recall) of claims; whose answer is unusable."""
    codes = ["en", *(code for code in useless if code != "en")]
    rows, scores = [], {}
    for i in range(n):
        doc = {"question_id": f"p{i}", "text": dict.fromkeys(codes, f"Question {i}?")}
        row: dict[str, Any] = {
            "doc": doc,
            "arguments": {"0": str(i)},
            "resps": [["x"]] * len(codes),
        }
        for code, (precision, recall) in shared.items():
            row[f"information_f1_{code}"] = {"precision": precision[i], "recall": recall[i]}
        outcome = {code: "wrong_language" if useless[code][i] else "scored" for code in codes}
        rows.append(row | {"n_responses": {"outcome": outcome}})
    for code, pair in shared.items():
        p, r = map(float, map(np.mean, pair))
        scores[f"information_f1_{code}"] = 2 * p * r / (p + r)
    made = task("information", codes, rows, "xling", scores, **dict.fromkeys(scores, True))
    return {"xling_information": next(iter(made.values()))}
