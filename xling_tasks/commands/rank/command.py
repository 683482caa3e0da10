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

from xling_tasks.commands.rank.questions import (
    Question,
    common_questions,
    draw,
    read_ranking,
    read_runs,
)
from xling_tasks.commands.rank.report import summarise, write
from xling_tasks.commands.table import Screen
from xling_tasks.data.files import read_tables
from xling_tasks.data.prompts import Prompt, Prompts
from xling_tasks.errors import DataError, SettingError, did_you_mean
from xling_tasks.models.again import ask_in_form
from xling_tasks.models.backend import backend
from xling_tasks.models.fence_key import fences
from xling_tasks.models.judge import UNTIL
from xling_tasks.models.spec import ModelSpec
from xling_tasks.output import refuse_others
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
        prompts = Prompts(options.prompts)
        for language in sorted({question.language for question in questions}):
            prompts.check_used("rank", language, "en")
        template = prompts.get("rank", "en")
        judge, codes, again_rate = _ask(questions, template, read_judge(options.judge))
        summary["judge"], summary["fence_codes"] = judge, codes
        summary["asked_again_rate"] = again_rate
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
        return ModelSpec.parse("judge", text)
    try:
        spec = loads(text)
    except ValueError as error:
        raise SettingError(f"--judge: not valid JSON ({error}): {text!r:.80}") from error
    return ModelSpec.parse("judge", spec)


def _ask(questions: Sequence[Question], template: Prompt, spec: Any) -> tuple[str, str, float]:
    """Ask a judge: its signature, where the codes' key is from, and the share asked again about."""
    judge = backend("judge", spec)
    judge.check()
    codes = fences(None)
    prompts = [question.prompt(template, codes, judge.inert) for question in questions]
    asked = dict(zip(prompts, questions, strict=True))

    def lacking(question: Question, reply: str) -> list[str]:
        ranking = read_ranking(reply, question.code, len(question.order))
        return [question.code] if ranking is None else []

    came = ask_in_form(judge, asked, lacking, lambda _, new: again(new[0]), codes, until=UNTIL)
    for prompt, question in asked.items():
        first, second, new = came[prompt]
        if second is None or second.said is None:
            question.read(first.said)
        else:
            question.read(first.said, second.text, new[0])
    twice = sum(each.second is not None for each in came.values())
    return judge.signature, codes.kind, twice / len(prompts) if prompts else 0.0


def again(code: str) -> str:
    """What a judge is asked whose reply does not end with its ranking."""
    return (
        "Your reply does not end with the line that I asked for. Write that line and nothing else, "
        "under a new code: the words below, then the numbers of all rationales from best to worst, "
        f"with the sign > between them:\nRANKING {code}:"
    )


def _read_human(path: Path, questions: Sequence[Question], names: Sequence[str]) -> dict[str, Any]:
    """Take people's rankings; returns what was in the file."""
    (table,) = read_tables(path)
    table.require(("question_id", "model", "rank"))
    given: dict[str, dict[str, int]] = {}
    for index, row in enumerate(table.rows):
        cells = (row[name] for name in ("question_id", "model", "rank"))
        question, model, text = ("" if cell is None else str(cell).strip() for cell in cells)
        if model not in names:
            known = did_you_mean(model, names)
            raise DataError(f"{table.place(index, 'model')}: {model!r} is no run.{known}")
        ranks = given.setdefault(question, {})
        if model in ranks:
            raise DataError(f"{table.place(index)}: {model!r} appears twice for {question!r}")
        if text:
            if not re.fullmatch(r"[0-9]{1,3}(\.0)?", text):
                raise DataError(f"{table.place(index, 'rank')}: {text!r} is not a rank")
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
