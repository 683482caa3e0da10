"""Rubrics: the model answers a conversation; a judge says which criteria its answer meets.

The form and the score are HealthBench's (arXiv:2505.08775): points of the criteria met over all
positive points. The conversation goes through the chat template turn by turn. Other than there,
a criterion without a readable verdict leaves its answer unscored, and is counted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xling_metrics.aggregate import CLIPPED_MEAN, MEAN, RATIO
from xling_metrics.rubric import rubric_bounds, rubric_score
from xling_metrics.stats.standard_errors import mean_error
from xling_metrics.tokenization import load_segmenter

from xling_tasks.data.custom.conversations import ROLES, make_transcript
from xling_tasks.data.custom.dataset import (
    RUBRIC_SAMPLE,
    CustomDataset,
    load_custom_dataset,
    missing_part,
)
from xling_tasks.data.custom.questions import Question, Turn
from xling_tasks.data.custom.rubric_items import tag_values
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.failed_response import is_filtered
from xling_tasks.harness.run import current
from xling_tasks.log import log, warn_once
from xling_tasks.models.backend import Backend, load_backend
from xling_tasks.models.rubric import RubricInput, RubricItemResult, build_prompts, grade_items
from xling_tasks.models.structured_output import REPAIR_RATE
from xling_tasks.scorers.answered import replies_of
from xling_tasks.settings import Settings
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask
from xling_tasks.tasks.requests import STAND_IN as ANSWER_STAND_IN
from xling_tasks.tasks.requests import Request, SideRequest
from xling_tasks.tasks.sampling import GreedyTask, generation_arguments

_OF_ROWS = {"theme": "themes", "category": "categories"}
"""Tags of conversations that have a score each, with the field that holds them."""

_OF_CRITERIA = ("axis", "level")
"""Tags of criteria; `level:cluster` are those of HealthBench Consensus."""

_MOST_GROUPS = 40
"""Groups of a kind with a metric each; a file with more of them has tags of another kind."""

_TURN_ENDS = tuple(f"\n{name}:" for name in ROLES.values())


class OwnRubricPart(OwnPart, GreedyTask):
    """Rubrics in one language."""

    criterion = "rubric"
    prompt_name = "rubric"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._judge: Backend | None = None
        self._rulings: dict[tuple[str, str], tuple[RubricItemResult, ...]] = {}
        super().__init__(config)

    # Data

    @classmethod
    def read(cls, settings: Settings) -> CustomDataset:
        """Conversations with their rubrics."""
        return load_custom_dataset(settings.data_dir, RUBRIC_SAMPLE)

    def lacks(self, item: Question, language: str) -> str:
        """Also criteria, of which one at least must be worth points."""
        if not item.has_question(language):
            return "conversation text missing"
        return missing_part(item, language, ("rubric",))

    def fields(self, item: Question) -> dict[str, Any]:
        """Turns, criteria and themes; the canary stays with the data, in logs too."""
        return {
            "turns": [dict(turn) for turn in item.turns_in(self.language)],
            "criteria": [{**each._asdict(), "tags": list(each.tags)} for each in item.rubric],
            "themes": list(item.themes),
            **({"categories": list(item.agreed_categories)} if item.agreed_categories else {}),
            **({"canary": item.canary} if item.canary else {}),
        }

    def coverage(self) -> dict[str, Any]:
        """Also the canary, so that it goes wherever texts of the data go."""
        canaries = sorted({each.canary for each in self.own.questions if each.canary})
        return {**super().coverage(), **({"canary": canaries} if canaries else {})}

    # The conversation

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The conversation to read."""
        return str(doc["question"])

    def fewshot_context(self, doc: dict[str, Any], *args: Any, **kwargs: Any) -> list[Any]:
        """The conversation as messages through the chat template, or as a plain transcript."""
        turns: list[Turn] = doc["turns"]
        instruction = kwargs.get("system_instruction")
        if instruction:
            own = [turn["content"] for turn in turns if turn["role"] == "system"]
            turns = [turn for turn in turns if turn["role"] != "system"]
            turns = [{"role": "system", "content": "\n\n".join([instruction, *own])}, *turns]
        template: Callable[..., Any] | None = kwargs.get("chat_template")
        if kwargs.get("apply_chat_template") and template is not None:
            return [template([dict(turn) for turn in turns], add_generation_prompt=True)]
        if current().lm is not None:
            warn_once(
                "xling_custom_rubric: without --apply_chat_template conversations are asked as a "
                "plain transcript ('User: ... Assistant: ...')"
            )
        said = "\n\n".join(f"{ROLES[turn['role']]}: {turn['content']}" for turn in turns)
        return [f"{said}\n\n{ROLES['assistant']}:"]

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """The replies asked for; a transcript's also end where the model goes on for the user."""
        ((kind, (context, arguments), _),) = super().requests_for(doc, context, chat)
        if not chat:
            until = arguments.get("until") or []
            until = [until] if isinstance(until, str) else list(until)
            arguments = {**arguments, "until": [*until, *_TURN_ENDS]}
        return [(kind, (context, arguments), 1)]

    # The judge

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """The judge's, where there is one; the model sees the conversation as it is."""
        return {} if self.settings.judge is None else {"rubric": self.prompts.get("rubric", "en")}

    def check_run(self) -> None:
        """Reach the judge before anything is generated; say so if there is none."""
        self.refuse_examples("conversations have no examples")
        generation_arguments(self, self.temperature)
        if self.predict_only:
            return
        load_segmenter(self.language)
        if self.settings.judge is None:
            warn_once(
                "Rubrics: no judge is set, so there are no scores; reporting length_words, "
                "empty_rate and langid_match only. Set one with --metadata "
                '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
            )
            return
        self._judge = load_backend("judge", self.settings.judge, self.settings.xling_cache)
        self._judge.check()

    def score(self) -> None:
        """Have all distinct answers judged in one batch; empty and refused ones earn nothing."""
        if self._judge is None:
            return
        answers = self.answered()
        asked = [key for key in answers if key[1].strip() and not is_filtered(key[1])]
        cases = [self._case(answers[key], key[1]) for key in asked]
        prompt, batch = self.used_prompts()["rubric"], self.settings.rubric_batch_size
        rulings = grade_items(cases, prompt, self._judge, batch)
        self._rulings = dict(zip(asked, rulings, strict=True))
        self._rulings |= {
            key: (RubricItemResult(False, None),) * len(doc["criteria"])
            for key, doc in answers.items()
            if key not in self._rulings
        }

    def _case(self, doc: Mapping[str, Any], answer: str) -> RubricInput:
        criteria = tuple(each["text"] for each in doc["criteria"])
        return RubricInput(make_transcript(doc["turns"]), answer, criteria, self.language_name)

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """The judge's prompts, with a text as long as answers are."""
        if self.settings.judge is None:
            return []
        case, batch = self._case(doc, ANSWER_STAND_IN), self.settings.rubric_batch_size
        prompt, most = self.used_prompts()["rubric"], self.settings.judge.max_gen_toks
        return [
            SideRequest(self.settings.judge_role(0), text, most)
            for text, _ in build_prompts(case, prompt, batch)
        ]

    # Values

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """The answer's score, also by theme and axis, and what it could not be scored for."""
        answers = [reply for result in results for reply in replies_of(result)]
        answer = answers[0]
        values: dict[str, Any] = {**self.answer_language().of_answer(answer)}
        if self._judge is None:
            return values
        points = [each["points"] for each in doc["criteria"]]
        rulings = self._rulings_of(doc, answer)
        met = [each.met for each in rulings]
        score = rubric_score(met, points)
        values |= {
            "rubric_score": score,
            "criteria_unscored": [met.count(None), len(met)],
            "unscored_rate": float(None in met),
            "judge_failed_rate": float(any(each.reason for each in rulings)),
            REPAIR_RATE: [sum(each.repaired for each in rulings), len(rulings)],
            "n_scored": _record(met, points, rulings, score),
        }
        for kind, slugs in self._groups.items():
            own = set(map(_slug, doc.get(_OF_ROWS[kind], ()))) if kind in _OF_ROWS else None
            for slug in slugs:
                if own is None:
                    values[f"{kind}_{slug}"] = _tagged(kind, slug, met, doc["criteria"])
                else:
                    values[f"{kind}_{slug}"] = score if slug in own else None
        return values

    def _rulings_of(self, doc: Mapping[str, Any], answer: str) -> tuple[RubricItemResult, ...]:
        """What the judge says of an answer; nothing of a failed call, whose values become None."""
        unknown = (RubricItemResult(None, None),) * len(doc["criteria"])
        return self._rulings.get((doc["question_id"], answer), unknown)

    @functools.cached_property
    def _groups(self) -> dict[str, tuple[str, ...]]:
        """Themes, categories, axes and levels of the file, as metrics are called."""
        questions = self.own.questions
        found = {
            "theme": {_slug(theme) for each in questions for theme in each.themes},
            "category": {_slug(name) for each in questions for name in each.agreed_categories},
        }
        for kind in _OF_CRITERIA:
            tags = (tag_values(kind, item.tags) for each in questions for item in each.rubric)
            found[kind] = {_slug(tag) for own in tags for tag in own}
        return {kind: self._few(_OF_ROWS.get(kind, kind), own) for kind, own in found.items()}

    def _few(self, what: str, slugs: Iterable[str]) -> tuple[str, ...]:
        named = sorted(filter(None, slugs))
        if len(named) > _MOST_GROUPS:
            log.warning(
                "%s: %d %s, so there is no score for each of them (at most %d)",
                self.config.task, len(named), what, _MOST_GROUPS,
            )  # fmt: skip
            return ()
        return tuple(named)

    def metrics(self) -> list[Metric]:
        """The set's score is the mean of the scored answers, clipped to 0..1."""
        metrics = self.answer_language().metrics_of_answer()
        if self._judge is None:
            return metrics
        judge = f"|batch:{self.settings.rubric_batch_size}|judge:{self._judge.signature}"
        scores = ["rubric_score"]
        scores += [f"{kind}_{slug}" for kind, slugs in self._groups.items() for slug in slugs]
        metrics += [
            Metric(name, CLIPPED_MEAN, f"{name}|of:scored_answers|mean:clipped{judge}",
                   mean_error, higher_is_better=True)
            for name in scores
        ]  # fmt: skip
        return [
            *metrics,
            Metric("criteria_unscored", RATIO, "criteria_unscored|of:criteria" + judge),
            Metric("unscored_rate", MEAN, "unscored_rate|of:answers" + judge),
            Metric("judge_failed_rate", MEAN, "judge_failed_rate|of:answers"),
            Metric(REPAIR_RATE, RATIO, f"{REPAIR_RATE}|of:criteria" + judge),
            Metric("n_scored", _count_scored, "n_scored|count"),
        ]


def _record(
    met: Sequence[bool | None],
    points: Sequence[float],
    rulings: Sequence[RubricItemResult],
    score: float | None,
) -> dict[str, Any]:
    """What is logged of an answer's grading: verdicts, bounds, and each reply once."""
    bounds = rubric_bounds(met, points)
    replies = list(dict.fromkeys(each.text for each in rulings if each.text is not None))
    reasons = sorted({each.reason for each in rulings if each.reason})
    return {
        "scored": score is not None,
        "met": list(met),
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "replies": replies,
        **({"failed": reasons} if reasons else {}),
    }


def _count_scored(values: list[dict[str, Any]]) -> int:
    return sum(bool(value.get("scored")) for value in values)


def _tagged(
    kind: str, slug: str, met: Sequence[bool | None], criteria: Sequence[Mapping[str, Any]]
) -> float | None:
    """The score over the criteria of one axis or level."""
    own = [
        (known, each["points"])
        for known, each in zip(met, criteria, strict=True)
        if slug in map(_slug, tag_values(kind, each["tags"]))
    ]
    known, points = [met for met, _ in own], [worth for _, worth in own]
    score: float | None = rubric_score(known, points)
    return score


def _slug(tag: str) -> str:
    """A tag as a part of a metric's name, which never looks like a temperature."""
    slug = re.sub(r"[\W_]+", "_", tag.lower()).strip("_")
    return re.sub(r"_t(?=\d)", "_t_", slug)


class OwnRubricTask(OwnTask):
    """`xling_custom_rubric`."""

    reads_keys = frozenset({"generation_kwargs"})
    part = OwnRubricPart

    def fewshot_context(self, doc: dict[str, Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Each language's conversation."""
        return [
            context
            for view in self.views(doc)
            for context in self.parts[view["language"]].fewshot_context(view, *args, **kwargs)
        ]
