"""`xling rank`: rationales of several models, ranked by a judge or by people (arXiv 2402.13963)."""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_metrics.base import signature

from xling_tasks.commands.options import add_folders, add_output, add_seed, integer
from xling_tasks.commands.rank.questions import FORM, Question, common_questions, draw, read_runs
from xling_tasks.commands.rank.report import summarise, write
from xling_tasks.data.prompts import PromptTemplate, PromptTemplates
from xling_tasks.data.tables import read_tables
from xling_tasks.errors import DataError, SettingError, did_you_mean, user_path
from xling_tasks.models.backend import load_backend
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.structured_output import ask_json
from xling_tasks.output import Screen, refuse_others
from xling_tasks.safe_json import loads


def rank(options: argparse.Namespace) -> Screen:
    """`xling rank`: rank, write the files, and return the summary."""
    if not options.judge and not options.human:
        raise SettingError(
            'give a judge (--judge \'{"model": "hf", "model_args": {"pretrained": ...}}\'), a file '
            "of people's ranks (--human-ranks FILE.csv), or both"
        )
    refuse_others(options.to, "ranking.csv", "ranking")
    runs = read_runs(options.folders)
    names = [run.name for run in runs]
    questions, left_out = common_questions(runs, options.seed)
    if options.n is not None:
        questions = draw(questions, left_out, options.n, options.seed)
    summary: dict[str, Any] = {"seed": options.seed, "n": options.n}
    if options.human:
        summary["human"] = _read_human(options.human, questions, names)
    if options.judge:
        prompts = PromptTemplates(options.prompts)
        for language in sorted({question.language for question in questions}):
            prompts.check_used("rank", language, "en")
        template = prompts.get("rank", "en")
        summary["judge"], summary["repair_rate"] = _ask(
            questions, template, read_judge(options.judge)
        )
        summary["prompt"] = {"language": template.language, "digest": template.digest}
    summary["signature"] = signature(
        "relative_rating",
        judge=summary.get("judge"),
        human=summary.get("human", {}).get("sha256"),
        prompt=summary.get("prompt", {}).get("digest"),
        models=len(runs),
        order="shuffled",
        seed=options.seed,
        tau="b",
        intervals="student",
        libraries=("numpy",),
    )
    summary["models"] = {run.name: str(run.folder) for run in runs}
    summary |= summarise(runs, questions, left_out, options.seed)
    return write(options.to, names, questions, summary)


def read_judge(text: str) -> Any:
    """The judge's spec, from JSON or a bare name of a harness model."""
    if not text.lstrip().startswith("{"):
        return ModelConfig.parse("judge", text)
    try:
        spec = loads(text)
    except ValueError as error:
        raise SettingError(f"--judge: not valid JSON ({error}): {text!r:.80}") from error
    return ModelConfig.parse("judge", spec)


def _ask(questions: Sequence[Question], template: PromptTemplate, spec: Any) -> tuple[str, float]:
    """Ask a judge; return its signature, and the share of questions that it was asked twice."""
    judge = load_backend("judge", spec)
    judge.check()
    asked = {question.prompt(template): question for question in questions}
    came = ask_json(
        judge, [*asked], FORM, is_complete=lambda text, value: asked[text].ranked(value)
    )
    for text, question in asked.items():
        question.take(came[text])
    twice = sum(each.repaired for each in came.values())
    return judge.signature, twice / len(asked) if asked else 0.0


def _read_human(path: Path, questions: Sequence[Question], names: Sequence[str]) -> dict[str, Any]:
    """Take people's rankings; returns what was in the file."""
    (table,) = read_tables(path)
    table.require(("question_id", "model", "rank"))
    given: dict[str, dict[str, int]] = {}
    for row in table.rows:
        question, model, text = (
            table.text(row, name) or "" for name in ("question_id", "model", "rank")
        )
        if model not in names:
            known = did_you_mean(model, names)
            raise DataError(f"{table.location(row, 'model')}: {model!r} is no run.{known}")
        ranks = given.setdefault(question, {})
        if model in ranks:
            raise DataError(f"{table.location(row)}: {model!r} appears twice for {question!r}")
        if text:
            if not re.fullmatch(r"[0-9]{1,3}(\.0)?", text):
                raise DataError(f"{table.location(row, 'rank')}: {text!r} is not a rank")
            ranks[model] = int(float(text))
    counts = Counter(ranked=0, invalid=0, no_ranking=0)
    for question_ in questions:
        ranks = given.pop(question_.id, {})
        if not ranks:
            counts["no_ranking"] += 1
        elif sorted(ranks.values()) != list(range(1, len(names) + 1)):
            counts["invalid"] += 1
        else:
            counts["ranked"] += 1
            question_.ranks["human"] = [ranks[name] for name in names]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return {"file": path.name, "sha256": digest, **counts, "unknown_questions": len(given)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling rank`."""
    add_folders(parser)
    parser.add_argument(
        "--judge", metavar="MODEL", help='JSON: {"model": ..., "model_args": {...}}'
    )
    parser.add_argument(
        "--human-ranks", type=user_path, dest="human", metavar="FILE",
        help="CSV of human ranks: question_id, model, rank",
    )  # fmt: skip
    parser.add_argument(
        "--n", type=integer(1), metavar="N",
        help="random questions per language (the paper: 50; default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--prompts", metavar="FILE", help="YAML file whose template `rank` replaces the bundled one"
    )
    add_seed(parser, "of the order of answers and the tests")
    add_output(parser, "folder to write")
    parser.set_defaults(run=rank)
