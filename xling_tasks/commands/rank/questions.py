"""The questions of `xling rank`: what several models answered, and the rankings read for it."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.data.prompt_formats import PromptFormat
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import DataError, SettingError
from xling_tasks.failed_response import REQUEST_FAILED, logged_details
from xling_tasks.languages import language_name
from xling_tasks.logs.alike import differences
from xling_tasks.logs.results import TaskResults, read_run
from xling_tasks.logs.samples import Samples, newest_samples
from xling_tasks.models.structured_output import (
    JsonResponse,
    array_schema,
    object_schema,
    quote_material,
)
from xling_tasks.report.data import named_folder
from xling_tasks.scorers.answered import replies_of
from xling_tasks.tasks.exam_replies import rationale_of

METRICS = (
    *("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"),
    *("rouge1_standard", "rouge2_standard", "rougeL_standard", "bertscore_f1"),
)
"""The metrics whose order of the models is compared with a rater's; higher is better in all."""

_RATIONALES = ("mmedbench_rationale", "mmedbench_rationale_ft")
_FIELDS = {"question_id", "question", "options", "answer", "rationale"}
FORM = object_schema(reasoning="string", ranking=array_schema("integer"))
"""What a judge replies with."""


class Answer(NamedTuple):
    """One model's rationale for one question, with those of its logged scores that are defined.

    FAILED: the service did not answer, so that there is none to rank.
    """

    doc: dict[str, Any]
    text: str
    scores: dict[str, float]
    failed: bool = False


@dataclass(frozen=True)
class Run:
    """What one model's folder holds: answers by language and question id.

    SIGNATURES say how each metric of a language was made, and MADE has the language's task; both
    only of languages whose results are there.
    """

    name: str
    folder: Path
    answers: dict[tuple[str, str], Answer]
    signatures: dict[str, dict[str, str]]
    made: dict[str, TaskResults] = field(default_factory=dict)


@dataclass
class Question:
    """One question that all runs answered.

    ANSWERS, and RANKS by rater (`judge`, `human`), are in the order of the runs; ORDER has the
    models' indices as their rationales are shown. STATUS is `ranked`, `invalid`, `no_reply` or
    `not_asked`; REPLY is all the judge said.
    """

    language: str
    id: str
    answers: list[Answer]
    order: list[int]
    ranks: dict[str, list[int]] = field(default_factory=dict)
    status: str = "not_asked"
    reply: str | None = None

    def prompt(self, template: PromptTemplate) -> str:
        """Return what the judge is asked."""
        doc = self.answers[0].doc
        texts = quote_material(
            question=doc["question"],
            options=[f"{letter}. {text}" for letter, text in doc["options"].items()],
            correct=", ".join(doc["answer"]),
            rationales=[f"Rationale {place}: {self.answers[index].text}"
                        for place, index in enumerate(self.order, start=1)],
        )  # fmt: skip
        return template.fill(
            material=texts, count=str(len(self.order)), language=language_name(self.language)
        )

    def ranked(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object of the judge's ranks every rationale once."""
        return sorted(value["ranking"]) == list(range(1, len(self.order) + 1))

    def take(self, said: JsonResponse) -> None:
        """Take the judge's ranking, if it is one."""
        self.reply = said.text
        if said.value is None or not self.ranked(said.value):
            self.status = "invalid" if said.texts else "no_reply"
            return
        self.status = "ranked"
        ranks = [0] * len(self.order)
        for rank, place in enumerate(said.value["ranking"], start=1):
            ranks[self.order[place - 1]] = rank
        self.ranks["judge"] = ranks


def read_runs(words: Sequence[str]) -> list[Run]:
    """The runs named on the command line: at least two, of different names."""
    named: dict[str, Path] = {}
    for word in words:
        given, folder = named_folder(word)
        name = given or folder.resolve().name
        if name in named:
            raise SettingError(f"two runs are called {name!r}; name them: NAME=FOLDER")
        named[name] = folder
    if len(named) < 2:
        raise SettingError("a ranking needs at least two runs")
    return [_read_run(name, folder) for name, folder in named.items()]


def _read_run(name: str, folder: Path) -> Run:
    newest = newest_samples(folder, _RATIONALES)
    if not newest:
        raise DataError(
            f"{folder}: no samples_mmedbench_rationale_*.jsonl; run lm_eval with --output_path and "
            "--log_samples"
        )
    run = Run(name, folder, {}, {})
    for place, samples in newest:
        language = place.language
        fine_tuned = place.criterion == "mmedbench_rationale_ft"
        for question_id, answer in _read_answers(samples, fine_tuned=fine_tuned):
            if (language, question_id) in run.answers:
                raise DataError(
                    f"{samples.path}: question {question_id!r} appears twice in the run"
                )
            run.answers[language, question_id] = answer
        run.signatures[language] = dict(samples.recorded().get("signatures") or {})
        results = samples.path.with_name(f"results_{samples.stamp}.json")
        own = read_run(results)
        if own is not None and samples.task in own.tasks:
            run.made[language] = TaskResults(samples.task, own)
    return run


def differing_ways(runs: Sequence[Run]) -> list[str]:
    """In what the runs' answers were made differently, a line each; ranks may come from that."""
    first, *others = runs
    lines: dict[str, None] = {}
    for other in others:
        shared = [code for code in first.made if code in other.made]
        for unlike in differences((first.made[code], other.made[code]) for code in shared):
            # The questions are compared one by one, and metrics by their signatures.
            if unlike.what.startswith(("data.", "source_encoder", "answer_extractor")):
                continue
            sides = f"{unlike.first} in {first.name}, {unlike.other} in {other.name}"
            lines[f"{unlike.what}: {sides} ({', '.join(unlike.tasks)})"] = None
    return list(lines)


def _read_answers(samples: Samples, *, fine_tuned: bool) -> list[tuple[str, Answer]]:
    """The answers of a task by question id, of its first filter."""
    prompts = dict(samples.recorded().get("prompts") or {})
    recorded: dict[str, Any] = next(
        (prompt["form"] for prompt in prompts.values() if "form" in prompt), {}
    )
    take = functools.partial(_read_answer, fine_tuned=fine_tuned, form=PromptFormat(**recorded))
    return [answer for _, answer in samples.stream_first(take)]


def _read_answer(
    row: dict[str, Any], *, fine_tuned: bool, form: PromptFormat
) -> tuple[str, Answer]:
    """A sample's question id and answer."""
    doc, replies = row["doc"], row["filtered_resps"]
    if not isinstance(doc, dict) or not doc.keys() >= _FIELDS or not isinstance(replies, list):
        raise TypeError("a rationale task logs a question and a list of replies")
    text = rationale_of(replies_of(replies[0])[0], fine_tuned=fine_tuned, form=form)
    scores = {name: float(row[name]) for name in METRICS if _is_number(row.get(name))}
    lost = any(d.get("outcome") == REQUEST_FAILED for d in logged_details(row).values())
    return str(doc["question_id"]), Answer(doc, text, scores, lost)


def common_questions(
    runs: Sequence[Run], seed: int
) -> tuple[list[Question], dict[str, Counter[str]]]:
    """The questions that all runs answered, and per language why others are left out.

    The order of the rationales follows from the seed, the question and the models' names; the
    order of the runs on the command line does not change it.
    """
    questions: list[Question] = []
    left_out: dict[str, Counter[str]] = {}
    for key in sorted({key for run in runs for key in run.answers}):
        language, question_id = key
        count = left_out.setdefault(language, Counter())
        lacking = [run.name for run in runs if key not in run.answers]
        if lacking:
            count["missing"] += 1
            count.update(f"missing in {name}" for name in lacking)
            continue
        answers = [run.answers[key] for run in runs]
        if any(answer.doc != answers[0].doc for answer in answers):
            count["different_content"] += 1
            continue
        if lost := [run.name for run, answer in zip(runs, answers, strict=True) if answer.failed]:
            count["failed_call"] += 1
            count.update(f"failed in {name}" for name in lost)
            continue
        drawn = [_digest(seed, question_id, run.name) for run in runs]
        order = sorted(range(len(runs)), key=drawn.__getitem__)
        questions.append(Question(language, question_id, answers, order))
    if not questions:
        reasons = {code: dict(count) for code, count in left_out.items()}
        raise DataError(f"no question has a rationale of every run: {reasons}")
    return questions, left_out


def draw(
    questions: Sequence[Question], left_out: Mapping[str, Counter[str]], n: int, seed: int
) -> list[Question]:
    """At most `n` questions of each language, the same for every order of the runs.

    The others are counted under `not_drawn` in `left_out`.
    """
    kept: list[Question] = []
    for language in dict.fromkeys(question.language for question in questions):
        asked = [question for question in questions if question.language == language]
        chosen = sorted(asked, key=lambda q: _digest(seed, "drawn", q.id))[:n]
        left_out[language]["not_drawn"] += len(asked) - len(chosen)
        kept += [question for question in asked if question in chosen]
    return kept


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
