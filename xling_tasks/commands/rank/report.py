"""The report of `xling rank`: points, positions, agreement with the metrics, and the files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from xling_metrics.aggregate import MEAN
from xling_metrics.stats.rank_intervals import rank_intervals
from xling_metrics.stats.ranking import (
    kendall_per_question,
    points,
    pooled_agreement,
    score_points,
)
from xling_metrics.stats.resampling import ResamplerPool

from xling_tasks.commands.rank.questions import METRICS, Question, Run, differing_ways
from xling_tasks.data.published import published
from xling_tasks.output import Screen, csv_text, jsonl, table
from xling_tasks.pages import texts
from xling_tasks.report.columns import Column
from xling_tasks.report.documents import filled
from xling_tasks.report.inference import Draws, column_interval, paired
from xling_tasks.report.model import Options
from xling_tasks.report.paired import Paired

_ALL = "all"
_PUBLISHED_MODELS = 6


def summarise(
    runs: Sequence[Run],
    questions: Sequence[Question],
    left_out: Mapping[str, Counter[str]],
    seed: int,
) -> dict[str, Any]:
    """Counts, points, positions and taus per language and over all, as plain rows."""
    summary: dict[str, Any] = {
        key: [] for key in ("counts", "points", "positions", "metric_points", "pooled", "tau")
    }
    languages, draws = list(left_out), Draws(Options(seed=seed), ResamplerPool(), described=False)
    differing, names = _differing_metrics(runs), [run.name for run in runs]
    for language in [*languages, _ALL]:
        asked = [q for q in questions if language in (q.language, _ALL)]
        out = sum((left_out[c] for c in languages if language in (c, _ALL)), Counter[str]())
        status = Counter(question.status for question in asked)
        judged = () if status["not_asked"] else ("ranked", "invalid", "no_reply")
        counts = {"questions": len(asked), **{key: status[key] for key in judged}, **out}
        summary["counts"].append({"language": language, **counts})
        for rater in ("judge", "human"):
            rated = [q for q in asked if rater in q.ranks]
            if any(rater in q.ranks for q in questions):
                start = {"rater": rater, "language": language}
                _add_points(summary, start, names, rated, draws)
                summary["tau"] += [start | row for row in _taus(rater, rated, differing)]
        for metric, pairs in _scored("", asked, differing).items():
            means = _means_of([score_points(scores) for _, scores in pairs], len(names))
            for name, mean in zip(names, means, strict=True):
                start = {"metric": metric, "language": language, "model": name}
                summary["metric_points"].append(start | mean)
    for rater in ("human", "judge"):
        summary["pooled"] += _pooled(rater, questions, differing)
    summary["published_points"] = _published_points() if len(runs) == _PUBLISHED_MODELS else []
    summary["metrics_left_out"] = {code: names for code, names in differing.items() if names}
    summary["made_differently"] = differing_ways(runs)
    return summary


def _add_points(
    summary: dict[str, Any],
    start: dict[str, str],
    names: Sequence[str],
    rated: Sequence[Question],
    draws: Draws,
) -> None:
    rows = [points(q.ranks[start["rater"]]) for q in rated]
    means = _means_of(rows, len(names))
    for name, mean, places in zip(names, means, _places(rows, len(names), draws), strict=True):
        summary["points"].append(start | {"model": name} | mean | {"places": places})
    if start["rater"] == "judge":
        shown = [[row[index] for index in q.order] for q, row in zip(rated, rows, strict=True)]
        for place, mean in enumerate(_means_of(shown, len(names)), start=1):
            summary["positions"].append(start | {"position": place} | mean)


def _scored(
    rater: str, questions: Sequence[Question], differing: Mapping[str, list[str]]
) -> dict[str, list[tuple[Question, Sequence[float]]]]:
    """Metric -> questions with their models' scores; what people are compared with has the judge.

    Metrics without a question, and those that the runs made in different ways, are not there.
    """
    scored: dict[str, list[tuple[Question, Sequence[float]]]] = {
        metric: [
            (q, [answer.scores[metric] for answer in q.answers])
            for q in questions
            if metric not in differing[q.language]
            and all(metric in answer.scores for answer in q.answers)
        ]
        for metric in METRICS
    }
    if rater == "human":
        scored["judge"] = [(q, points(q.ranks["judge"])) for q in questions if "judge" in q.ranks]
    return {name: pairs for name, pairs in scored.items() if pairs}


_DRAWS = Draws(Options(), ResamplerPool())


def _columns(rows: Sequence[Sequence[float]], n_models: int) -> list[Column]:
    """Points as a report has its values: a question each, a column per model."""
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), n_models)
    return [
        Column(MEAN, np.column_stack([own, np.ones(len(own))]), counted=True) for own in table.T
    ]


def _means_of(rows: Sequence[Sequence[float]], n_models: int) -> list[dict[str, Any]]:
    """Mean points of every model, with Student's interval within what is possible."""
    return [_mean(column, (1, n_models)) for column in _columns(rows, n_models)]


def _mean(column: Column, bounds: tuple[float, float]) -> dict[str, Any]:
    interval = column_interval(column, _DRAWS)
    assert interval is not None
    ends = [None if x is None else min(max(x, bounds[0]), bounds[1]) for x in interval[1:3]]
    return {"mean": interval.value, "low": ends[0], "high": ends[1], "n": interval.n}


def _places(rows: Sequence[Sequence[float]], n_models: int, draws: Draws) -> list[str]:
    """The best and the worst place that each model can have, as a board ranks."""
    columns, tests = _columns(rows, n_models), {}
    for i, j in combinations(range(n_models), 2):
        both = Paired(columns[i].sums, columns[j].sums, len(rows))
        found = paired(columns[i], columns[j], both, draws).range
        tests[i, j] = (found.value or 0.0, found.p)
    ranks = rank_intervals(n_models, tests, draws.options.level)
    return [
        f"{rank.low}" if rank.low == rank.high else f"{rank.low} to {rank.high}" for rank in ranks
    ]


def _pooled(
    rater: str, questions: Sequence[Question], differing: Mapping[str, list[str]]
) -> Iterable[dict[str, Any]]:
    """Agreement of mean points over (model, language): of a rater with metrics and the judge."""
    rated = [q for q in questions if rater in q.ranks]
    for name, pairs in _scored(rater, rated, differing).items():
        rated_points = _means([(q.language, points(q.ranks[rater])) for q, _ in pairs])
        other = _means([(q.language, score_points(scores)) for q, scores in pairs])
        agreement = pooled_agreement(rated_points, other)
        metric = {"judge": "gpt4_relative_rating"}.get(name, name)
        printed = published(source="mmedbench", metric=f"kendall_tau_{metric}")
        yield {
            "rater": rater, "metric": name, "tau": agreement.tau, "slope": agreement.slope,
            "pairs": agreement.n, "questions": len(pairs),
            "published_tau": next((f.value for f in printed), None) if rater == "human" else None,
        }  # fmt: skip


def _means(rows: Sequence[tuple[str, Sequence[float]]]) -> list[float]:
    """Mean points of every model in every language, languages one after the other."""
    means: list[float] = []
    for language in sorted({code for code, _ in rows}):
        of_language = [given for code, given in rows if code == language]
        means += [sum(column) / len(of_language) for column in zip(*of_language, strict=True)]
    return means


def _published_points() -> list[dict[str, Any]]:
    """Tables 14 and 15, which are on the same scale where six models are ranked."""
    tables = {"Table 14": "judge", "Table 15": "human"}
    return [
        {"rater": rater, "language": f.language, "model": f"{f.model} (published)",
         "mean": f.value, "source": f.citation}
        for table, rater in tables.items()
        for f in published(source="mmedbench", table=table)
    ]  # fmt: skip


def _taus(
    rater: str, rated: Sequence[Question], differing: Mapping[str, list[str]]
) -> Iterable[dict[str, Any]]:
    """Agreement of a rater with each metric, and of people with the judge, question by question."""
    for name, pairs in _scored(rater, rated, differing).items():
        ranks = [q.ranks[rater] for q, _ in pairs]
        taus = kendall_per_question(ranks, [scores for _, scores in pairs])
        known = [tau for tau in taus if tau is not None]
        counts = {"undefined": len(taus) - len(known), "not_scored": len(rated) - len(taus)}
        (column,) = _columns([[tau] for tau in known], 1)
        yield {"metric": name} | _mean(column, (-1, 1)) | counts


def _differing_metrics(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Per language, the metrics that the runs made in different ways, which cannot be compared."""
    languages = sorted({key[0] for run in runs for key in run.answers})
    return {
        code: [
            name
            for name in METRICS
            if len({run.signatures.get(code, {}).get(name) for run in runs} - {None}) > 1
        ]
        for code in languages
    }


def write(
    folder: Path, names: Sequence[str], questions: Sequence[Question], summary: dict[str, Any]
) -> Screen:
    """Write `ranking.csv`, `replies.jsonl`, `summary.json` and `summary.md`; returns the last.

    Its status is 1 where a judge was asked and no ranking of it could be read.
    """
    notes = texts()["rank"]["notes"].items()
    summary["notes"] = [text for about, text in notes if summary.get(about)]
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for question in questions for row in _csv_rows(question, names)]
    (folder / "ranking.csv").write_text(csv_text(rows), encoding="utf-8", newline="\n")
    replies = (
        {"language": q.language, "question_id": q.id,
         "shown": [names[i] for i in q.order], "reply": q.reply}
        for q in questions
    )  # fmt: skip
    (folder / "replies.jsonl").write_text("".join(jsonl(replies)), encoding="utf-8", newline="\n")
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    page = Screen(filled("ranking.j2", summary=summary, table=table).rstrip())
    (folder / "summary.md").write_text(page + "\n", encoding="utf-8")
    page.status = int("judge" in summary and not any("judge" in q.ranks for q in questions))
    return page


def _csv_rows(question: Question, names: Sequence[str]) -> Iterable[dict[str, Any]]:
    """One row per model; `question_id, model, rank` are the columns that --human reads."""
    ranks = {rater: question.ranks.get(rater) for rater in ("judge", "human")}
    columns = {"rank": ranks["judge"], "human_rank": ranks["human"]}
    columns["points"] = points(ranks["judge"]) if ranks["judge"] else None
    for index, (name, answer) in enumerate(zip(names, question.answers, strict=True)):
        given = {key: values[index] if values else "" for key, values in columns.items()}
        yield {
            "language": question.language,
            "question_id": question.id,
            "model": name,
            "status": question.status,
            "position": question.order.index(index) + 1,
            **{key: given[key] for key in ("rank", "points", "human_rank")},
            **{metric: answer.scores.get(metric, "") for metric in METRICS},
        }
