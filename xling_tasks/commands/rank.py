"""`xling rank`: rationales of several models, ranked by a judge or by people (arXiv:2402.13963).

For each question the best of n models gets n points, the last 1. Kendall's tau is pooled over the
mean points of every model in every language, as published.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats  # type: ignore[import-untyped]
from xling_metrics.stats.agreement import points, pooled_agreement, score_points

from xling_tasks.commands.options import (
    add_folders,
    add_metadata,
    add_output,
    add_seed,
    integer,
    settings_with,
)
from xling_tasks.data.prompt_formats import PromptFormat
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.published import published
from xling_tasks.errors import DataError, SettingError, did_you_mean, user_path
from xling_tasks.failed_response import REQUEST_FAILED, logged_details
from xling_tasks.harness.backends import responses_in
from xling_tasks.languages import language_name
from xling_tasks.logs.newest import named_folder
from xling_tasks.logs.results import newest_tasks
from xling_tasks.models.backend import load_backend
from xling_tasks.models.structured_output import (
    array_schema,
    ask_json,
    object_schema,
    quote_material,
)
from xling_tasks.output import Screen, csv_text, jsonl, refuse_others, table, writing
from xling_tasks.settings import Settings
from xling_tasks.tasks.exam_responses import rationale_of

METRICS = (
    *("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"),
    *("rouge1_standard", "rouge2_standard", "rougeL_standard", "bertscore_f1"),
)
"""Metrics whose order of the models is compared with a rater's; higher is better in all."""

_SCHEMA = object_schema(reasoning="string", ranking=array_schema("integer"))
_RATIONALES = ("mmedbench_rationale", "mmedbench_rationale_ft")
_FIELDS = {"question_id", "question", "options", "answer", "rationale"}
_ALL = "all"
_PUBLISHED_MODELS = 6
_NOTES = """\
Points: n for the best of n models, 1 for the last; mean over the ranked questions, with Student's
95% interval. Invalid rankings and missing responses are counted and left out. Positions: without a
bias for a position, all means are alike. Points by metric: the models of each question ranked by
the metric (Figure 4a). Pooled: Kendall's tau-b over the mean points of every model in every
language, with the slope of the line from the metric's points to the rater's; published_tau is of
people on six models. `xling compare` shows in which settings two runs differ."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling rank`."""
    add_folders(parser)
    parser.add_argument(
        "--human-ranks", type=user_path, dest="human", metavar="FILE",
        help="CSV of human ranks (question_id, model, rank), instead of a judge or beside it",
    )  # fmt: skip
    parser.add_argument(
        "--n", type=integer(1), metavar="N",
        help="random questions per language (the paper: 50; default: all)",
    )  # fmt: skip
    add_seed(parser, "of the order of rationales and the sample")
    add_output(parser, "folder to write")
    add_metadata(parser)
    parser.set_defaults(run=rank)


def rank(options: argparse.Namespace) -> Screen:
    """Rank, write the files, and return the tables; the status is 1 if the judge ranked nothing."""
    settings, _ = settings_with(options, *([] if options.human else ["judge"]))
    refuse_others(options.to, "ranking.csv", "ranking")
    runs = read_runs(options.folders)
    names = [run.name for run in runs]
    questions, excluded = common_questions(runs, options.seed)
    if options.n is not None:
        questions = draw(questions, excluded, options.n, options.seed)
    summary: dict[str, Any] = {
        "models": {run.name: str(run.folder) for run in runs}, "seed": options.seed, "n": options.n,
    }  # fmt: skip
    if options.human:
        summary["human"] = read_human_ranks(options.human, questions, names)
    if settings.judge:
        summary |= ask_judge(questions, settings)
    summary |= summarize(runs, questions, excluded)
    _write(options.to, names, questions, summary)
    is_unranked = settings.judge and not any("judge" in q.ranks for q in questions)
    return Screen(_describe(summary), int(bool(is_unranked)))


# The questions


class Answer(NamedTuple):
    """One model's rationale for one question, with its logged scores."""

    doc: dict[str, Any]
    text: str
    scores: dict[str, float]
    failed: bool = False


@dataclass(frozen=True)
class Run:
    """The answers in one model's folder by language and question id."""

    name: str
    folder: Path
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    signatures: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class Question:
    """One question that all runs answered.

    Answers, and the ranks by rater (`judge`, `human`), are in the order of the runs; `order` has
    the indices of the runs in which their rationales are shown.
    """

    language: str
    id: str
    answers: list[Answer]
    order: list[int]
    ranks: dict[str, list[int]] = field(default_factory=dict)
    status: str = "not_asked"
    response: str | None = None


def read_runs(words: Sequence[str]) -> list[Run]:
    """Read the runs named on the command line: at least two, of different names."""
    folder_of: dict[str, Path] = {}
    for word in words:
        name_given, folder = named_folder(word)
        name = name_given or folder.resolve().name
        if name in folder_of:
            raise SettingError(f"two runs are called {name!r}; name them: NAME=FOLDER")
        folder_of[name] = folder
    if len(folder_of) < 2:
        raise SettingError("a ranking needs at least two runs")
    return [_read_run(name, folder) for name, folder in folder_of.items()]


def _read_run(name: str, folder: Path) -> Run:
    newest = newest_tasks(folder, _RATIONALES)
    if not newest:
        raise DataError(
            f"{folder}: no samples_mmedbench_rationale_*.jsonl; run lm_eval with --output_path and "
            "--log_samples"
        )
    run = Run(name, folder)
    for key, task in newest:
        samples, recorded = task.samples, task.xling
        prompts = (recorded.get("prompts") or {}).values()
        form = PromptFormat(**next((p["form"] for p in prompts if "form" in p), {}))
        is_ft = key.criterion.endswith("_ft")
        take = functools.partial(_read_answer, fine_tuned=is_ft, form=form)
        for _, (question_id, answer) in samples.stream_first(take):
            if (key.language, question_id) in run.answers:
                raise DataError(f"{samples.path}: question {question_id!r} appears twice")
            run.answers[key.language, question_id] = answer
        run.signatures[key.language] = dict(recorded.get("signatures") or {})
    return run


def _read_answer(
    row: dict[str, Any], *, fine_tuned: bool, form: PromptFormat
) -> tuple[str, Answer]:
    doc, responses = row["doc"], row["filtered_resps"]
    if not isinstance(doc, dict) or not doc.keys() >= _FIELDS or not isinstance(responses, list):
        raise TypeError("a rationale task logs a question and a list of responses")
    text = rationale_of(responses_in(responses[0])[0], fine_tuned=fine_tuned, form=form)
    numbers = {name: row.get(name) for name in METRICS}
    scores = {
        name: float(x) for name, x in numbers.items() if isinstance(x, (int, float)) and x == x
    }
    failed = any(d.get("outcome") == REQUEST_FAILED for d in logged_details(row).values())
    return str(doc["question_id"]), Answer(doc, text, scores, failed)


def common_questions(
    runs: Sequence[Run], seed: int
) -> tuple[list[Question], dict[str, Counter[str]]]:
    """Return the questions that all runs answered, and per language why others are excluded.

    The order of the rationales follows from the seed, the question and the models' names.
    """
    questions: list[Question] = []
    excluded: dict[str, Counter[str]] = {}
    for key in sorted({key for run in runs for key in run.answers}):
        language, question_id = key
        count = excluded.setdefault(language, Counter())
        answers = [run.answers[key] for run in runs if key in run.answers]
        if len(answers) < len(runs):
            count["missing"] += 1
        elif any(answer.doc != answers[0].doc for answer in answers):
            count["different_content"] += 1
        elif any(answer.failed for answer in answers):
            count["request_failed"] += 1
        else:
            digests = [_digest(seed, question_id, run.name) for run in runs]
            order = sorted(range(len(runs)), key=digests.__getitem__)
            questions.append(Question(language, question_id, answers, order))
    if not questions:
        reasons = {code: dict(count) for code, count in excluded.items()}
        raise DataError(f"no question has a rationale of every run: {reasons}")
    return questions, excluded


def draw(
    questions: Sequence[Question], excluded: Mapping[str, Counter[str]], n: int, seed: int
) -> list[Question]:
    """Draw at most N questions of each language, the same for every order of the runs."""
    sample: list[Question] = []
    for language in dict.fromkeys(question.language for question in questions):
        group = [question for question in questions if question.language == language]
        sample += sorted(group, key=lambda question: _digest(seed, "drawn", question.id))[:n]
        excluded[language]["not_drawn"] += max(0, len(group) - n)
    return sample


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


# The raters


def ask_judge(questions: Sequence[Question], settings: Settings) -> dict[str, Any]:
    """Ask a judge for its rankings; return its signature, the prompt and the repair rate."""
    assert settings.judge is not None
    templates = PromptTemplates(settings.prompt_templates)
    for language in sorted({question.language for question in questions}):
        templates.check_used("rank", language, "en")
    template = templates.get("rank", "en")
    judge = load_backend("judge", settings.judge, settings.xling_cache)
    judge.check()
    by_prompt = {_fill(template, question): question for question in questions}
    n = len(questions[0].order)

    def is_ranking(_: str, value: Mapping[str, Any]) -> bool:
        return sorted(value["ranking"]) == list(range(1, n + 1))

    responses = ask_json(judge, [*by_prompt], _SCHEMA, is_complete=is_ranking)
    for prompt, question in by_prompt.items():
        response = responses[prompt]
        question.response = response.text
        if response.value is None or not is_ranking(prompt, response.value):
            question.status = "invalid" if response.texts else "no_response"
            continue
        question.status, ranks = "ranked", [0] * n
        for rank, number in enumerate(response.value["ranking"], start=1):
            ranks[question.order[number - 1]] = rank
        question.ranks["judge"] = ranks
    repaired = sum(response.repaired for response in responses.values())
    return {
        "judge": judge.signature,
        "prompt": {"language": template.language, "digest": template.digest},
        "repair_rate": repaired / len(by_prompt),
    }


def _fill(template: Any, question: Question) -> str:
    doc = question.answers[0].doc
    material = quote_material(
        question=doc["question"],
        options=[f"{letter}. {text}" for letter, text in doc["options"].items()],
        correct=", ".join(doc["answer"]),
        rationales=[f"Rationale {number}: {question.answers[index].text}"
                    for number, index in enumerate(question.order, start=1)],
    )  # fmt: skip
    language, count = language_name(question.language), str(len(question.order))
    return str(template.fill(material=material, count=count, language=language))


def read_human_ranks(
    path: Path, questions: Sequence[Question], names: Sequence[str]
) -> dict[str, Any]:
    """Take human rankings into the questions; return how many are ranked, invalid, missing."""
    by_question: dict[str, dict[str, int]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--human-ranks {path}: cannot be read ({error})") from error
    columns = ("question_id", "model", "rank")
    if missing := [name for name in columns if rows and name not in rows[0]]:
        raise DataError(f"{path}: has no column {', '.join(missing)}")
    for number, row in enumerate(rows, start=2):
        question, model, rank_ = (str(row[name] or "").strip() for name in columns)
        ranks = by_question.setdefault(question, {})
        problem = ""
        if model not in names:
            problem = f"column 'model': {model!r} is no run.{did_you_mean(model, names)}"
        elif model in ranks:
            problem = f"{model!r} appears twice for {question!r}"
        elif rank_ and not rank_.removesuffix(".0").isdecimal():
            problem = f"column 'rank': {rank_!r} is not a rank"
        if problem:
            raise DataError(f"{path}, row {number}: {problem}")
        if rank_:
            ranks[model] = int(float(rank_))
    counts = Counter(ranked=0, invalid=0, no_ranking=0)
    for item in questions:
        ranks = by_question.pop(item.id, {})
        if not ranks:
            counts["no_ranking"] += 1
        elif sorted(ranks.values()) != list(range(1, len(names) + 1)):
            counts["invalid"] += 1
        else:
            counts["ranked"] += 1
            item.ranks["human"] = [ranks[name] for name in names]
    return {"file": path.name, **counts, "unknown_questions": len(by_question)}


# The summary


def summarize(
    runs: Sequence[Run], questions: Sequence[Question], excluded: Mapping[str, Counter[str]]
) -> dict[str, Any]:
    """Return counts, points and taus as plain rows."""
    names, differing = [run.name for run in runs], _differing_metrics(runs)
    summary: dict[str, Any] = {"counts": [], "points": [], "positions": [], "metric_points": []}
    for language in [*excluded, _ALL]:
        group = [q for q in questions if language in (q.language, _ALL)]
        reasons = sum((excluded[c] for c in excluded if language in (c, _ALL)), Counter[str]())
        status = Counter(question.status for question in group)
        row = {"language": language, "questions": len(group), **status, **reasons}
        summary["counts"].append(row)
        for rater in ("judge", "human"):
            rated = [q for q in group if rater in q.ranks]
            rows: list[Sequence[float]] = [points(q.ranks[rater]) for q in rated]
            start = {"rater": rater, "language": language}
            summary["points"] += _means(rows, start, "model", names)
            if rater == "judge":
                in_order = [[row[i] for i in q.order] for q, row in zip(rated, rows, strict=True)]
                ranks = range(1, len(names) + 1)
                summary["positions"] += _means(in_order, start, "position", ranks)
        for metric, scored in _scored(group, differing).items():
            rows = [score_points(scores) for _, scores in scored]
            start = {"metric": metric, "language": language}
            summary["metric_points"] += _means(rows, start, "model", names)
    summary["pooled"] = [
        row for rater in ("human", "judge") for row in _pooled(rater, questions, differing)
    ]
    summary["published_points"] = [
        {"rater": rater, "language": f.language, "model": f.model, "mean": f.value,
         "source": f.citation}
        for name, rater in (("Table 14", "judge"), ("Table 15", "human"))
        for f in published(source="mmedbench", table=name)
        if len(runs) == _PUBLISHED_MODELS  # else points are on another scale
    ]  # fmt: skip
    summary["metrics_left_out"] = {
        code: n_questions for code, n_questions in differing.items() if n_questions
    }
    return summary


def _means(
    rows: Sequence[Sequence[float]], start: Mapping[str, Any], key: str, names: Sequence[object]
) -> Iterator[dict[str, Any]]:
    """Yield the mean of each column with Student's 95% interval, within the possible points."""
    columns = np.asarray(rows, dtype=float).reshape(len(rows), len(names)).T
    for name, column in zip(names, columns, strict=True):
        n = len(column)
        if not n:
            continue
        mean, low, high = float(column.mean()), None, None
        if n > 1:
            half = stats.t.ppf(0.975, n - 1) * float(column.std(ddof=1)) / n**0.5
            low, high = max(1.0, mean - half), min(float(len(names)), mean + half)
        yield {**start, key: name, "mean": mean, "ci_low": low, "ci_high": high, "n": n}


def _scored(
    questions: Sequence[Question], differing: Mapping[str, list[str]]
) -> dict[str, list[tuple[Question, list[float]]]]:
    """Return by metric the questions in which every model has a score of one signature."""
    scored = {
        metric: [
            (q, [answer.scores[metric] for answer in q.answers])
            for q in questions
            if metric not in differing[q.language]
            and all(metric in answer.scores for answer in q.answers)
        ]
        for metric in METRICS
    }
    return {metric: pairs for metric, pairs in scored.items() if pairs}


def _pooled(
    rater: str, questions: Sequence[Question], differing: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the agreement of a rater with each metric, and of people with the judge."""
    rated = [q for q in questions if rater in q.ranks]
    by_metric: dict[str, list[tuple[Question, Sequence[float]]]] = {
        name: [(q, score_points(scores)) for q, scores in pairs]
        for name, pairs in _scored(rated, differing).items()
    }
    by_judge = [(q, points(q.ranks["judge"])) for q in rated if "judge" in q.ranks]
    if rater == "human" and by_judge:
        by_metric["judge"] = [*by_judge]
    for name, pairs in by_metric.items():
        first = _mean_by_language([(q.language, points(q.ranks[rater])) for q, _ in pairs])
        second = _mean_by_language([(q.language, row) for q, row in pairs])
        agreement = pooled_agreement(first, second)
        metric = {"judge": "gpt4_relative_rating"}.get(name, name)
        printed = published(source="mmedbench", metric=f"kendall_tau_{metric}")
        yield {
            "rater": rater, "metric": name, "tau": agreement.tau, "slope": agreement.slope,
            "pairs": agreement.n, "questions": len(pairs),
            "published_tau": next((f.value for f in printed), None) if rater == "human" else None,
        }  # fmt: skip


def _mean_by_language(rows: Sequence[tuple[str, Sequence[float]]]) -> list[float]:
    """Return the mean points of every model in every language, one language after the other."""
    return [
        float(mean)
        for language in sorted({code for code, _ in rows})
        for mean in np.mean([row for code, row in rows if code == language], axis=0)
    ]


def _differing_metrics(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return per language the metrics whose signatures differ between the runs."""
    return {
        code: [
            name
            for name in METRICS
            if len({run.signatures.get(code, {}).get(name) for run in runs} - {None}) > 1
        ]
        for code in sorted({key[0] for run in runs for key in run.answers})
    }


# What is written


def _describe(summary: Mapping[str, Any]) -> str:
    titles = {
        "counts": "Questions", "points": "Points", "positions": "Points by position",
        "published_points": "Published points of six models", "metric_points": "Points by metric",
        "pooled": "Kendall's tau over models and languages",
    }  # fmt: skip
    blocks = [f"{title}\n\n{table(summary[key], missing='')}"
              for key, title in titles.items() if summary[key]]  # fmt: skip
    blocks += [
        f"Left out in {code}, because the runs computed them differently: {', '.join(names)}."
        for code, names in summary["metrics_left_out"].items()
    ]
    return "\n\n".join([*blocks, _NOTES])


def _write(
    folder: Path, names: Sequence[str], questions: Sequence[Question], summary: dict[str, Any]
) -> None:
    """Write `ranking.csv`, `responses.jsonl` and `ranking.json`."""
    responses = (
        {"language": q.language, "question_id": q.id, "shown": [names[i] for i in q.order],
         "response": q.response}
        for q in questions
    )  # fmt: skip
    rows = [row for question in questions for row in _csv_rows(question, names)]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ranking.csv").write_text(csv_text(rows), encoding="utf-8", newline="\n")
        (folder / "responses.jsonl").write_text("".join(jsonl(responses)), encoding="utf-8")
        text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "ranking.json").write_text(text + "\n", encoding="utf-8")


def _csv_rows(question: Question, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row per model; --human-ranks reads its columns question_id, model and rank."""
    for index, (name, answer) in enumerate(zip(names, question.answers, strict=True)):
        judge, human = (question.ranks.get(rater) for rater in ("judge", "human"))
        yield {
            "language": question.language,
            "question_id": question.id,
            "model": name,
            "status": question.status,
            "position": question.order.index(index) + 1,
            "rank": judge[index] if judge else "",
            "points": points(judge)[index] if judge else "",
            "human_rank": human[index] if human else "",
            **{metric: answer.scores.get(metric, "") for metric in METRICS},
        }
