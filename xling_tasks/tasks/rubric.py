"""Rubrics: the model answers a conversation; a judge says which criteria its answer meets.

The form and the score are HealthBench's (arXiv:2505.08775): points of the criteria met over all
positive points. The conversation goes through the chat template turn by turn. Other than there,
a criterion without a readable verdict leaves its answer unscored, and is counted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xling_metrics.rubric import rubric_bounds, rubric_score
from xling_metrics.tokenization import load_segmenter

from xling_tasks.criteria.metric import Metric
from xling_tasks.criteria.rubric import GradedAnswer, points
from xling_tasks.data.custom.conversations import ROLES, make_transcript
from xling_tasks.data.custom.questions import Turn, tag_values
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import DataError
from xling_tasks.failed_response import is_failed, is_filtered
from xling_tasks.log import log, warn_once
from xling_tasks.models.judge_items import RubricInput, RubricItemResult, build_prompts, grade_items
from xling_tasks.tasks.auxiliary import STAND_IN, AuxiliaryRequest, open_judge
from xling_tasks.tasks.preflight import find_refused
from xling_tasks.tasks.task import Answered, DocList, HealthTask, Request

_OF_ROWS = {"theme": "themes", "category": "categories"}
"""Tags of conversations that have a score each, with the field that holds them."""

_OF_CRITERIA = ("axis", "level")
"""Tags of criteria; `level:cluster` are those of HealthBench Consensus."""

_TURN_ENDS = tuple(f"\n{name}:" for name in ROLES.values())


def add_instruction(turns: Sequence[Turn], instruction: str | None) -> list[dict[str, str]]:
    """Return turns with `--system_instruction` in front of their own system turns."""
    if not instruction:
        return [dict(turn) for turn in turns]
    contents = [instruction, *(turn["content"] for turn in turns if turn["role"] == "system")]
    dialogue = [dict(turn) for turn in turns if turn["role"] != "system"]
    return [{"role": "system", "content": "\n\n".join(contents)}, *dialogue]


class RubricTask(HealthTask):
    """Conversations with rubrics in one language."""

    criterion = "rubric"
    prompt_name = "rubric"
    other_prompts = ("rubric",)
    reads_keys = frozenset({"generation_kwargs"})
    judge: Any = None  # the model that grades; None without one
    _refused: Mapping[str, str] = {}

    def prompts(self, doc: dict[str, Any]) -> list[str]:
        """Return the conversation to read."""
        return [str(doc["question"])]

    def build_all_requests(self, **kwargs: Any) -> None:
        """Skip what the model's chat template refuses, then build the requests."""
        template, docs = kwargs.get("chat_template"), self.dataset["test"]
        reasons = {}
        if template is not None:
            for doc in docs:
                turns = add_instruction(doc["turns"], kwargs.get("system_instruction"))
                reasons[str(doc["question_id"])] = find_refused(template, turns)
        self._refused = {key: reason for key, reason in reasons.items() if reason}
        if self._refused:
            first = list(self._refused.items())[:5]
            refused = f"{len(self._refused)} of {len(docs)} conversations: "
            refused += ", ".join(f"{key} ({reason})" for key, reason in first)
            usable = [doc for doc in docs if str(doc["question_id"]) not in self._refused]
            if not usable:
                raise DataError(f"{self._name}: the model's chat template refuses {refused}")
            log.warning("%s: left out, because the chat template refuses %s", self._name, refused)
            self.dataset = {"test": DocList(usable)}
        super().build_all_requests(**kwargs)

    def coverage(self) -> dict[str, Any]:
        """Return the counts of the data, with the conversations that the template refuses."""
        counts = super().coverage()
        if self._refused:
            counts["refused_by_template"] = dict(self._refused)
        return counts

    def fewshot_context(self, doc: dict[str, Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Return the conversation as messages through the chat template, or as a transcript."""
        turns = add_instruction(doc["turns"], kwargs.get("system_instruction"))
        template: Callable[..., Any] | None = kwargs.get("chat_template")
        if kwargs.get("apply_chat_template") and template is not None:
            return [template(turns, add_generation_prompt=True)]
        if self.run.lm is not None:
            warn_once(
                "xling_custom_rubric: without --apply_chat_template conversations are asked as a "
                "plain transcript ('User: ... Assistant: ...')"
            )
        transcript = "\n\n".join(f"{ROLES[turn['role']]}: {turn['content']}" for turn in turns)
        return [f"{transcript}\n\n{ROLES['assistant']}:"]

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return one; a transcript's also ends where the model goes on for the user."""
        requests = super().requests(doc, number)
        if self._chat:
            return requests
        until = requests[0].arguments.get("until") or []
        stops = [*([until] if isinstance(until, str) else until), *_TURN_ENDS]
        return [Request(kind, {**arguments, "until": stops}) for kind, arguments in requests]

    def prompt_templates(self) -> dict[str, PromptTemplate]:
        """Return the judge's, where there is one; the model sees the conversation as it is."""
        return super().prompt_templates() if self.uses("rubric") else {}

    def prepare(self) -> None:
        """Check the judge before anything is generated; warn if there is none."""
        if self.predict_only:
            return
        load_segmenter(self.language)
        self.judge = open_judge(self, "Rubrics", "length_words, empty_rate and langid_match")

    def score(self, answered: Sequence[Answered]) -> list[GradedAnswer]:
        """Return the grades of all distinct answers, in one batch; empty ones earn nothing."""
        results: dict[RubricInput, tuple[RubricItemResult, ...]] = {}
        inputs = [self._input(one.doc, one.texts[0]) for one in answered]
        if self.judge is not None:
            gradable = dict.fromkeys(
                item for item in inputs
                if item.answer.strip() and not is_failed(item.answer)
                and not is_filtered(item.answer)
            )  # fmt: skip
            template, batch = self.prompt_templates()["rubric"], self.settings.rubric_batch_size
            graded = grade_items(list(gradable), template, self.judge, batch)
            results = dict(zip(gradable, graded, strict=True))
        return [
            self._row(one.doc, item.answer, results.get(item))
            for one, item in zip(answered, inputs, strict=True)
        ]

    def _input(self, doc: Mapping[str, Any], answer: str) -> RubricInput:
        criteria = tuple(item["text"] for item in doc["criteria"])
        return RubricInput(make_transcript(doc["turns"]), answer, criteria, self.language_name)

    def _row(
        self, doc: Mapping[str, Any], answer: str, results: Sequence[RubricItemResult] | None
    ) -> GradedAnswer:
        language = self.answer_language().of_answer(answer)
        if self.judge is None:
            return GradedAnswer(language)
        if results is None:
            empty = RubricItemResult(None if is_failed(answer) else False)
            results = (empty,) * len(doc["criteria"])
        met = [item.met for item in results]
        points = [item["points"] for item in doc["criteria"]]
        score, bounds = rubric_score(met, points), rubric_bounds(met, points)
        reasons = sorted({item.reason for item in results if item.reason})
        record = {
            "scored": score is not None,
            "met": met,
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "replies": list(dict.fromkeys(item.text for item in results if item.text is not None)),
            **({"failed": reasons} if reasons else {}),
        }
        repaired = [sum(item.repaired for item in results), len(results)]
        groups = self._score_groups(doc, met, score)
        return GradedAnswer(language, met, bool(reasons), repaired, score, groups, record)

    def _score_groups(
        self, doc: Mapping[str, Any], met: Sequence[bool | None], score: float | None
    ) -> dict[str, float | None]:
        """Return the scores of an answer by theme, category, axis and level."""
        scores: dict[str, float | None] = {}
        for kind, slugs in self._groups.items():
            of_row = set(map(_slug, doc.get(_OF_ROWS.get(kind, ""), ())))
            of_items = [set(map(_slug, tag_values(kind, item["tags"]))) for item in doc["criteria"]]
            for slug in slugs:
                if kind in _OF_ROWS:
                    scores[f"{kind}_{slug}"] = score if slug in of_row else None
                    continue
                chosen = [i for i, slugs_of in enumerate(of_items) if slug in slugs_of]
                points = [doc["criteria"][i]["points"] for i in chosen]
                scores[f"{kind}_{slug}"] = rubric_score([met[i] for i in chosen], points)
        return scores

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return the judge's prompts, with a text as long as answers are."""
        if self.settings.judge is None:
            return []
        item, batch = self._input(doc, STAND_IN), self.settings.rubric_batch_size
        role, max_tokens = self.settings.judge_role(0), self.settings.judge.max_gen_toks
        template = self.prompt_templates()["rubric"]
        return [
            AuxiliaryRequest(role, text, max_tokens)
            for text, _ in build_prompts(item, template, batch)
        ]

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics, and the points of the file's own groups."""
        if self.judge is None:
            return super().criterion_metrics()
        names = [f"{kind}_{slug}" for kind, slugs in self._groups.items() for slug in slugs]
        groups = [points(name, lambda row, name=name: row.groups[name]) for name in names]
        return [*super().criterion_metrics(), *groups]

    @functools.cached_property
    def _groups(self) -> dict[str, tuple[str, ...]]:
        """Themes, categories, axes and levels of the file, as metrics are called."""
        questions = self.data.dataset.questions
        items = [item for question in questions for item in question.rubric]
        names_of = {
            "theme": [theme for question in questions for theme in question.themes],
            "category": [name for question in questions for name in question.agreed_categories],
        }
        for kind in _OF_CRITERIA:
            names_of[kind] = [tag for item in items for tag in tag_values(kind, item.tags)]
        return {
            kind: tuple(sorted(filter(None, set(map(_slug, names)))))
            for kind, names in names_of.items()
        }


def _slug(tag: str) -> str:
    """Return a tag as a part of a metric's name, which never looks like a temperature."""
    slug = re.sub(r"[\W_]+", "_", tag.lower()).strip("_")
    return re.sub(r"_t(?=\d)", "_t_", slug)
