"""`xling rank`: rationales of several models, ranked by a judge or by people (arXiv:2402.13963).

For each question the best of n models gets n points, the last 1. Kendall's tau is pooled over the
mean points of every model in every language, as published.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats  # type: ignore[import-untyped]
from xling_metrics.stats.agreement import pooled_agreement

from xling_tasks.commands import options as arguments
from xling_tasks.data.prompts import PromptFormat, PromptTemplates
from xling_tasks.errors import DataError, SettingError, did_you_mean, user_path
from xling_tasks.failed_response import REQUEST_FAILED, logged_details
from xling_tasks.harness.backends import responses_in
from xling_tasks.languages import language_name
from xling_tasks.logs.checked import reading
from xling_tasks.logs.newest import named_folder
from xling_tasks.logs.results import newest_tasks
from xling_tasks.models import structured_output as structured
from xling_tasks.models.backend import load_backend
from xling_tasks.output import Screen, csv_text, refuse_others, table, write_files
from xling_tasks.report.published import published
from xling_tasks.settings import Settings
from xling_tasks.tasks.rationales import rationale_of

METRICS = (
    *("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"),
    *("rouge1_standard", "rouge2_standard", "rougeL_standard", "bertscore_f1"),
)
"""Metrics whose order of the models is compared with a rater's; higher is better in all."""

Rows = list[dict[str, Any]]
"""A question: for each run, in their order, its rationale (`text`), scores and ranks."""

_KEYS = ("language", "question_id", "model", "status", "position", "rank", "human_rank")
_SCHEMA = structured.object_schema(reasoning="string", ranking=structured.array_schema("integer"))
_NOTES = """\
Points: n for the best of n models, 1 for the last, with Student's 95% interval; a judge without a
bias gives all positions the same. Kendall's tau-b: of mean points by model and language (Figure 4).
published_tau: people on six models."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling rank`."""
    arguments.add_folders(parser)
    text = "CSV of human ranks (question_id, model, rank), instead of a judge or beside it"
    parser.add_argument("--human-ranks", type=user_path, dest="human", metavar="FILE", help=text)
    text = "random questions per language (the paper: 50; default: all)"
    parser.add_argument("--n", type=arguments.integer(1), metavar="N", help=text)
    arguments.add_seed(parser, "of the order of rationales and the sample")
    arguments.add_output(parser, "folder to write")
    arguments.add_metadata(parser)
    parser.set_defaults(run=rank)


def rank(options: argparse.Namespace) -> Screen:
    """Rank, write the files, and return the tables; the status is 1 if the judge ranked nothing."""
    settings, _ = arguments.settings_with(options, *([] if options.human else ["judge"]))
    refuse_others(options.to, "ranking.csv", "ranking")
    runs = read_runs(options.folders)
    questions, excluded = common_questions(runs, options.seed, options.n)
    summary: dict[str, Any] = {"models": [*runs], "seed": options.seed, "n": options.n}
    if options.human:
        summary["human"] = read_ranks(options.human, questions, [*runs])
    if settings.judge:
        summary |= ask_judge(questions, settings)
    summary |= summarize([row for rows in questions for row in rows], [*runs], excluded)
    summary["responses"] = {rows[0]["question_id"]: rows[0].get("response") for rows in questions}
    columns = [*_KEYS, *METRICS]
    files = {
        "ranking.csv": csv_text(
            {name: row.get(name) for name in columns} for rows in questions for row in rows
        ),
        "ranking.json": json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }
    write_files(options.to, files)
    is_unranked = settings.judge and all(rows[0]["rank"] is None for rows in questions)
    return Screen(_describe(summary), int(bool(is_unranked)))


def read_runs(words: Sequence[str]) -> dict[str, Rows]:
    """Read the runs named on the command line: at least two, of different names."""
    folders: dict[str, Path] = {}
    for word in words:
        name, folder = named_folder(word)
        name = name or folder.resolve().name
        if name in folders:
            raise SettingError(f"two runs are called {name!r}; name them: NAME=FOLDER")
        folders[name] = folder
    if len(folders) < 2:
        raise SettingError("a ranking needs at least two runs")
    return {name: [*_read_run(name, folder)] for name, folder in folders.items()}


def _read_run(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    newest = newest_tasks(folder, ("mmedbench_rationale", "mmedbench_rationale_ft"))
    if not newest:
        raise DataError(
            f"{folder}: no samples_mmedbench_rationale_*.jsonl; run lm_eval with --output_path and "
            "--log_samples"
        )
    for key, task in newest:
        samples, recorded = task.samples, task.xling
        prompts = (recorded.get("prompts") or {}).values()
        form = PromptFormat(**next((p["form"] for p in prompts if "form" in p), {}))
        is_ft = key.criterion.endswith("_ft")
        for _, row in samples.stream_first(dict):
            with reading(f"{samples.path}: a rationale task logs a question and a response"):
                text = responses_in(row["filtered_resps"][0])[0]
                numbers = {metric: row.get(metric) for metric in METRICS}
                details = logged_details(row).values()
                yield {
                    "language": key.language, "question_id": str(row["doc"]["question_id"]),
                    "model": name, "status": "not_asked", "rank": None, "human_rank": None,
                    "doc": {k: row["doc"][k] for k in ("question", "options", "answer")},
                    "text": rationale_of(text, fine_tuned=is_ft, form=form),
                    "failed": any(d.get("outcome") == REQUEST_FAILED for d in details),
                    "signatures": recorded.get("signatures") or {},
                    **{k: x for k, x in numbers.items() if type(x) in (int, float) and x == x},
                }  # fmt: skip


def common_questions(
    runs: Mapping[str, Rows], seed: int, n: int | None = None
) -> tuple[list[Rows], dict[str, Counter[str]]]:
    """Return the questions that all runs answered, and per language why others are excluded.

    The order of the rationales, and which N questions are drawn, follow from the seed alone. Scores
    that the runs computed differently are taken out.
    """

    def digest(*parts: object) -> str:
        return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()

    by_key: dict[tuple[str, str], Rows] = {}
    for row in (row for rows in runs.values() for row in rows):
        by_key.setdefault((row["language"], row["question_id"]), []).append(row)
    by_language: dict[str, list[Rows]] = {}
    excluded: dict[str, Counter[str]] = {}
    for (language, key), rows in sorted(by_key.items(), key=lambda item: item[0]):
        count = excluded.setdefault(language, Counter())
        if [row["model"] for row in rows] != [*runs]:
            count["missing"] += 1
        elif any(row["doc"] != rows[0]["doc"] for row in rows):
            count["different_content"] += 1
        elif any(row["failed"] for row in rows):
            count["request_failed"] += 1
        else:
            by_language.setdefault(language, []).append(rows)
        by_digest = {digest(seed, key, row["model"]): row for row in rows}
        for position, text in enumerate(sorted(by_digest), start=1):
            by_digest[text]["position"] = position
        for row, metric in product(rows, _differing([row["signatures"] for row in rows])):
            row.pop(metric, None)
    if not by_language:
        reasons = {code: dict(count) for code, count in excluded.items()}
        raise DataError(f"no question has a rationale of every run: {reasons}")
    for language, group in by_language.items() if n else ():
        excluded[language]["not_drawn"] += len(group[n:])
        group.sort(key=lambda rows: digest(seed, "drawn", rows[0]["question_id"]))
        del group[n:]
    return [rows for group in by_language.values() for rows in group], excluded


def ask_judge(questions: Sequence[Rows], settings: Settings) -> dict[str, Any]:
    """Ask a judge for its rankings; return its signature, the prompt and the repair rate."""
    assert settings.judge is not None
    templates = PromptTemplates(settings.prompt_templates)
    for language in sorted({rows[0]["language"] for rows in questions}):
        templates.check_used("rank", language, "en")
    template = templates.get("rank", "en")
    judge = load_backend("judge", settings.judge, settings.xling_cache)
    judge.check()
    by_prompt: dict[str, Rows] = {}
    for rows in questions:
        ordered, doc = sorted(rows, key=lambda row: row["position"]), rows[0]["doc"]
        material = structured.quote_material(
            question=doc["question"],
            options=[f"{letter}. {text}" for letter, text in doc["options"].items()],
            correct=", ".join(doc["answer"]),
            rationales=[f"Rationale {row['position']}: {row['text']}" for row in ordered],
        )
        language = language_name(rows[0]["language"])
        prompt = template.fill(material=material, count=str(len(rows)), language=language)
        by_prompt[prompt] = ordered

    def is_ranking(prompt: str, value: Mapping[str, Any]) -> bool:
        return sorted(value["ranking"]) == [row["position"] for row in by_prompt[prompt]]

    responses = structured.ask_json(judge, [*by_prompt], _SCHEMA, is_complete=is_ranking)
    for prompt, ordered in by_prompt.items():
        response = responses[prompt]
        value = response.value
        ranking = value["ranking"] if value and is_ranking(prompt, value) else []
        status = "ranked" if ranking else "invalid" if response.texts else "no_response"
        for row in ordered:
            row |= {"status": status, "response": response.text}
        for rank, position in enumerate(ranking, start=1):
            ordered[position - 1]["rank"] = rank
    return {
        "judge": judge.signature,
        "prompt": {"language": template.language, "digest": template.digest},
        "repair_rate": sum(r.repaired for r in responses.values()) / len(by_prompt),
    }


def read_ranks(path: Path, questions: Sequence[Rows], names: Sequence[str]) -> dict[str, Any]:
    """Take human rankings into the questions; return how many are ranked, invalid, missing."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        sep = ";" if ";" in text.partition("\n")[0] else ","  # spreadsheets in Europe
        frame = pd.read_csv(StringIO(text), sep=sep, dtype=str, keep_default_na=False)
        frame = frame.apply(lambda column: column.str.strip())
        ranks = frame[frame["rank"] != ""].astype({"rank": float})
        by_question = ranks.pivot(index="question_id", columns="model", values="rank")
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"--human-ranks {path}: {error}; expected the columns question_id, model and rank, a "
            "number, with each model once for a question"
        ) from error
    for name in by_question:
        if name not in names:
            raise DataError(f"--human-ranks {path}: {name!r} is no run.{did_you_mean(name, names)}")
    ranks_of = by_question.reindex(columns=list(names)).T.to_dict("list")
    counts = Counter(ranked=0, invalid=0, no_ranking=0)
    for rows in questions:
        human = ranks_of.pop(rows[0]["question_id"], [])
        is_ranking = sorted(human) == list(range(1, len(names) + 1))
        counts["ranked" if is_ranking else "invalid" if human else "no_ranking"] += 1
        for row, rank in zip(rows, human if is_ranking else (), strict=False):
            row["human_rank"] = int(rank)
    return {"file": path.name, **counts, "unknown_questions": len(ranks_of)}


def summarize(
    rows: Rows, names: Sequence[str], excluded: Mapping[str, Counter[str]]
) -> dict[str, Any]:
    """Return counts, points and taus as plain rows, by language and over all."""
    n, frame = len(names), pd.DataFrame(rows)
    metrics = [name for name in METRICS if name in frame]
    questions = frame.groupby(["language", "question_id"])
    frame["judge"], frame["human"] = (
        n + 1 - pd.to_numeric(frame[name]) for name in ("rank", "human_rank")
    )
    for name in metrics:  # the mean where models tie; none where one has no score
        has_all = questions[name].transform("count") == n
        frame[name] = questions[name].rank().where(has_all)
    combined = pd.concat([frame, frame.assign(language="all")])
    counts = []
    of_first = combined[combined["model"] == names[0]]
    for language in [*dict.fromkeys([*frame["language"], *excluded]), "all"]:
        group = of_first[of_first["language"] == language]
        reasons = [count for code, count in excluded.items() if language in (code, "all")]
        by_reason = sum([Counter(group["status"]), *reasons], Counter[str]())
        counts.append({"language": language, "questions": len(group), **by_reason})
    published_points = [
        {"rater": rater, "language": f.language, "model": f.model, "mean": f.value,
         "source": f.citation}
        for name, rater in (("Table 14", "judge"), ("Table 15", "human"))
        for f in published(source="mmedbench", table=name)
    ]  # fmt: skip
    pairs = [("human", by) for by in (*metrics, "judge")] + [("judge", by) for by in metrics]
    return {
        "counts": counts,
        "points": [
            r for by in ("judge", "human") for r in _means(combined, by, "model", "rater", n)
        ],
        "positions": [*_means(combined.sort_values("position"), "judge", "position", "rater", n)],
        "metric_points": [r for by in metrics for r in _means(combined, by, "model", "metric", n)],
        "pooled": [row for rater, by in pairs for row in _pooled(frame, rater, by)],
        "published_points": published_points if n == 6 else [],  # else on another scale
        "metrics_left_out": {
            code: missing
            for code, group in frame.groupby("language")
            if (missing := _differing([*group["signatures"]]))
        },
    }


def _differing(signatures: Collection[Mapping[str, str]]) -> list[str]:
    return [name for name in METRICS if len({s.get(name) for s in signatures} - {None}) > 1]


def _means(frame: pd.DataFrame, by: str, key: str, kind: str, n: int) -> Iterator[dict[str, Any]]:
    """Yield mean points per language with Student's 95% interval, within the possible points."""
    groups = frame.dropna(subset=by).groupby(["language", key], sort=False)[by]
    for (language, name), (mean, sd, count) in groups.agg(["mean", "std", "count"]).iterrows():
        low = high = None
        if count > 1:
            half = stats.t.ppf(0.975, count - 1) * sd / count**0.5
            low, high = max(1.0, mean - half), min(float(n), mean + half)
        yield {
            kind: by, "language": language, key: name, "mean": mean, "ci_low": low, "ci_high": high,
            "n": int(count),
        }  # fmt: skip


def _pooled(frame: pd.DataFrame, rater: str, by: str) -> Iterator[dict[str, Any]]:
    """Yield the agreement of a rater with a metric, or of people with the judge, if both are."""
    rated = frame.dropna(subset=[rater, by])
    if rated.empty:
        return
    means = rated.groupby(["language", "model"])[[rater, by]].mean()
    agreement = pooled_agreement([*means[rater]], [*means[by]])
    metric = {"judge": "gpt4_relative_rating"}.get(by, by)
    printed = published(source="mmedbench", metric=f"kendall_tau_{metric}")
    yield {
        "rater": rater, "metric": by, "tau": agreement.tau, "slope": agreement.slope,
        "pairs": agreement.n, "questions": len(rated) // rated["model"].nunique(),
        "published_tau": next((f.value for f in printed), None) if rater == "human" else None,
    }  # fmt: skip


def _describe(summary: Mapping[str, Any]) -> str:
    titles = {
        "counts": "Questions", "points": "Points", "positions": "Points by position",
        "published_points": "Published points of six models", "metric_points": "Points by metric",
        "pooled": "Kendall's tau over models and languages",
    }  # fmt: skip
    blocks = [f"{title}\n\n{table(summary[key], missing='')}"
              for key, title in titles.items() if summary[key]]  # fmt: skip
    if "human" in summary:
        blocks.insert(1, f"Human rankings\n\n{table([summary['human']])}")
    blocks += [
        f"Left out in {code}, because the runs computed them differently: {', '.join(names)}."
        for code, names in summary["metrics_left_out"].items()
    ]
    return "\n\n".join([*blocks, _NOTES])
