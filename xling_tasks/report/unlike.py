"""Was a language run in another way than English, so that its gap may be of that?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.harness.arguments import TRANSPORT, kind_of, which_model
from xling_tasks.logs import alike
from xling_tasks.report.data import Task

_NEVER = frozenset({"source_encoder", "data.kind"})
"""What moves no endpoint: scores in a language's own words, and where the same data come from."""

_LENGTH = frozenset(f"generation.{x}" for x in ("max_gen_toks", "max_tokens", "max_new_tokens"))
"""How much a model may write: a language may need more room."""

_SAMPLING = frozenset(
    f"generation.{name}" for name in ("temperature", "do_sample", "top_p", "top_k", "min_p")
)
_SHOWN = 2


def made_unlike(task: Task, english: Task, panel: Panel) -> str:
    """In what else than the language two tasks differ that moves an endpoint; or ''.

    What an older version did not record of the data is not in it.
    """
    if task is english:
        return ""
    if reason := (task.results.xling.get("data") or {}).get("apart"):
        return str(reason)
    found = alike.differences([(english.results, task.results)], across_languages=True)
    texts = [_told(item) for item in found if _counts(item, task, english, panel)]
    if not texts:
        return ""
    more = f", and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"run in another way than English ({'; '.join(texts[:_SHOWN])}{more})"


def _told(item: alike.Difference) -> str:
    """A difference in words, which are the same for all languages that have it."""
    if item.what == "data.sha256":
        return "it was run on another file"
    return f"{item.what} is {item.other} there, but {item.first} in English"


def _counts(item: alike.Difference, task: Task, english: Task, panel: Panel) -> bool:
    """Whether a difference moves the endpoint."""
    what, missing = item.what, "none" in (item.first, item.other)
    setting = what.split(".")[0]
    if what in _NEVER or what in _LENGTH:
        return False
    if setting in ("data", "translator") and missing:
        return False
    if setting in CRITERIA[panel.criterion].metric(panel.metric).unmoved_by:
        return False
    if panel.temperature is not None and what == "temperatures":
        return False  # the same temperature is compared
    if panel.temperature and what == "greedy_repeats":
        return False
    if what == "prompt templates":
        return _file(item.first) != _file(item.other)
    if what in _SAMPLING:
        return not (_greedy(task) and _greedy(english))
    own, base = (_setting(of, setting) for of in (task, english))
    if what == f"{setting}.model" or (isinstance(own, list) and isinstance(base, list)):
        return bool(_models(own) != _models(base))
    return True


def _file(path: str) -> str:
    """A path's last part."""
    return re.split(r"[/\\]", path)[-1]


def _greedy(task: Task) -> bool:
    """Whether the likeliest answer was asked for, with which all of sampling is idle."""
    asked = task.results.xling.get("generation_kwargs") or {}
    temperature = asked.get("temperature")
    return bool(temperature == 0 or (temperature is None and not asked.get("do_sample")))


def _setting(task: Task, name: str) -> Any:
    return (task.results.xling.get("settings") or {}).get(name)


def _models(given: Any) -> Any:
    """A judge or another model, or several, without where it is and how it is served."""
    if isinstance(given, list):
        return [(_models(one), _rest(one)) if isinstance(one, Mapping) else one for one in given]
    if not isinstance(given, Mapping):
        return given
    args = dict(given.get("model_args") or {})
    args.pop("tokenizer_backend", None)  # where a server cuts, not what it says
    return given.get("model"), which_model(args)


def _rest(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a setting says of a model beside its name and arguments."""
    named = ("model", "model_args")
    return {k: v for k, v in spec.items() if k not in named and kind_of(k) != TRANSPORT}
