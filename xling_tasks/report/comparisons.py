"""Which groups are compared: each language of a model with English, where both were run alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PureWindowsPath as Path
from typing import Any, NamedTuple

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH, Endpoint, MetricKey, metric_key_of
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.harness.arguments import TRANSPORT, kind_of, which_model
from xling_tasks.logs.config_diff import Difference, find_differences
from xling_tasks.report.data import Model, Task
from xling_tasks.report.estimates import Group
from xling_tasks.report.verdicts import Comparison

_NEVER = frozenset({"source_encoder", "data.kind"})
"""What moves no primary metric: scores in a language's own words, and where data come from."""

MOST_CUT = 0.05
"""The share of prompts longer than the context above which scores are of other questions."""

_LENGTH = frozenset(f"generation.{x}" for x in ("max_gen_toks", "max_tokens", "max_new_tokens"))
"""How much a model may write: a language may need more room."""

_SAMPLING = frozenset(
    f"generation.{name}" for name in ("temperature", "do_sample", "top_p", "top_k", "min_p")
)

Differs = tuple[tuple[str, str, str], ...]
"""As of `Verdict.differs`."""


class Pair(NamedTuple):
    """A metric of a task in a language, and the same metric in English."""

    task: Task
    name: str
    english: Task
    english_name: str

    @property
    def about(self) -> tuple[MetricKey, str]:
        """The metric and the language."""
        return metric_key_of(self.task.task_key, self.name)

    @property
    def groups(self) -> tuple[Group, Group]:
        """The language and English."""
        return Group(1, self.task, self.name), Group(-1, self.english, self.english_name)


def compare_with_english(model: Model) -> Iterator[Comparison]:
    """Yield every primary metric of every language but English, the incomparable ones too.

    Of a metric that English alone has, as without a judge or a translator, there are none.
    """
    keys = {task.task_key for task in model.tasks}
    measured = {
        (task.task_key[:2], endpoint)
        for task in model.tasks if task.task_key.language != ENGLISH
        for endpoint in task.endpoints.values()
    }  # fmt: skip
    for task in model.tasks:
        english, task_key = model.english_of(task), task.task_key
        # Probabilities of Yes (`_ll`) are another view of the answers that the model writes: where
        # both were run, those that users would read are concluded on.
        by_response = task_key._replace(criterion=task_key.criterion.removesuffix("_ll"))
        if english is None or (by_response != task_key and by_response in keys):
            continue
        primary, theirs = _primary_names(task), _primary_names(english)
        of_english = [
            (endpoint, task_key.language)
            for endpoint, _ in theirs
            if task_key.language and (task_key[:2], endpoint) in measured
        ]
        for endpoint, language in dict.fromkeys([*primary, *of_english]):
            if language != ENGLISH:
                names = primary.get((endpoint, language)), theirs.get((endpoint, ENGLISH))
                yield _compare(model.name, task, english, endpoint, language, *names)


def _primary_names(task: Task) -> dict[tuple[Endpoint, str], str]:
    """Return the names of a task's primary metrics, by language."""
    return {
        (endpoint, metric_key_of(task.task_key, name)[1]): name
        for name, endpoint in task.endpoints.items()
    }


def _compare(
    model: str, task: Task, english: Task, endpoint: Endpoint, language: str,
    name: str | None, english_name: str | None,
) -> Comparison:  # fmt: skip
    """Return one language's comparison, which says why if there is none; a name may be missing."""
    name, base = name or english_name or "", english_name or name or ""
    metric_key, base_key = (metric_key_of(task.task_key, x)[0] for x in (name, base))
    groups: tuple[Group, ...] = Group(1, task, name), Group(-1, english, base)
    if endpoint.agreement and english.scores.get(english_name or "") is None:
        return Comparison(model, metric_key, language, endpoint, groups[:1])
    reason, differs = find_reason(task, english, metric_key, language)
    missing = name not in task.scores or base not in english.scores
    if missing or metric_key.metric != base_key.metric:
        reason = reason or ("one_side" if task.ids and english.ids else "no_samples")
    elif metric_key != base_key:
        temperature, base_temperature = (f"{key.temperature:g}" for key in (metric_key, base_key))
        reason, differs = "unlike", (("temperature", temperature, base_temperature), *differs)
    paired = task.task_key.parallel
    return Comparison(
        model, metric_key, language, endpoint, groups, paired, reason=reason, differs=differs
    )


def pairs_with_english(model: Model) -> Iterator[Pair]:
    """Yield every metric of every language that English has, too."""
    for task in model.tasks:
        if task.task_key.language == ENGLISH:
            continue
        base = model.english_of(task)
        for name in task.scores if base is not None else ():
            counterpart = name
            if not task.task_key.language:
                # Of agreement with the English answers it is what two English answers share.
                metric_key, language = metric_key_of(task.task_key, name)
                counterpart = f"{metric_key.metric}_{ENGLISH}"
                if language in (ENGLISH, AVERAGE) or ":" in language:
                    continue
                if task.scores.get(counterpart) is None:
                    continue
            if base is not None and counterpart in base.scores:
                yield Pair(task, name, base, counterpart)


def has_comparable_values(metric_key: MetricKey, better: bool | None) -> bool:
    """Return whether a metric's values in two languages may be compared.

    Metrics with a direction that mean the same in every language; none about coverage, and none
    that depends on a language's words, script or encoder (`_src`, chrF).
    """
    metric = CRITERIA[metric_key.criterion].metric(metric_key.metric)
    if metric.chance and not metric.known_chance:
        return False
    return better is not None and metric_key.metric not in COVERAGE and metric.across_languages


# Whether a language was run in another way than English


def find_reason(
    task: Task, english: Task, metric_key: MetricKey, language: str = ""
) -> tuple[str, Differs]:
    """Return why a language is not comparable with English, and in what they differ; or ''."""
    if task.one_prompt or english.one_prompt:
        return "same_prompt", ()
    if max(task.cut_prompts(language), english.cut_prompts(ENGLISH)) > MOST_CUT:
        return "cut_prompts", ()
    if task is english:
        return "", ()
    if separate := task.recorded("data").get("apart"):
        return "not_joined", (("questions", str(separate), ""),)
    found = find_differences([(english.results, task.results)], across_languages=True)
    differs = tuple(
        (item.what, item.other, item.first)
        for item in found
        if _counts(item, task, english, metric_key)
    )
    return ("unlike" if differs else ""), differs


def _counts(item: Difference, task: Task, english: Task, metric_key: MetricKey) -> bool:
    """Return whether a difference moves the metric."""
    name, missing = item.what, "none" in (item.first, item.other)
    setting = name.split(".")[0]
    unmoved_by = CRITERIA[metric_key.criterion].metric(metric_key.metric).unmoved_by
    if name in _NEVER or name in _LENGTH or setting in unmoved_by:
        return False
    if setting in ("data", "translator") and missing:
        return False
    if metric_key.temperature is not None and name == "temperatures":
        return False  # the same temperature is compared
    if metric_key.temperature and name == "greedy_repeats":
        return False
    if name == "prompt templates":
        return Path(item.first).name != Path(item.other).name
    if name in _SAMPLING:  # idle where the likeliest answer was asked for in both
        kwargs = [x.recorded("generation_kwargs") for x in (task, english)]
        pairs = [(x.get("temperature"), x.get("do_sample")) for x in kwargs]
        return not all(tau == 0 or (tau is None and not sampled) for tau, sampled in pairs)
    rows, base = (x.recorded("settings").get(setting) for x in (task, english))
    if name == f"{setting}.model" or (isinstance(rows, list) and isinstance(base, list)):
        return bool(_models(rows) != _models(base))
    return True


def _models(given: Any) -> Any:
    """Return a judge or another model, or several, without where it is and how it is served."""
    if isinstance(given, list):
        labels = ("model", "model_args")
        return [
            (_models(one), {
                k: v for k, v in one.items() if k not in labels and kind_of(k) != TRANSPORT
            }) if isinstance(one, Mapping) else one
            for one in given
        ]  # fmt: skip
    if not isinstance(given, Mapping):
        return given
    args = dict(given.get("model_args") or {})
    args.pop("tokenizer_backend", None)  # where a server cuts, not what it says
    return given.get("model"), which_model(args)
