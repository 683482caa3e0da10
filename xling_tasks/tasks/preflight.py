"""What a run is refused for or warned of before anything is generated, whatever the task.

Also what a user's YAML may change of ours: what our classes read. The harness writes a task's whole
configuration into the results. A key that our class does not read would stand there as if it had
been used, so its value must be that of our template.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import yaml
from lm_eval.api.task import TaskConfig

from xling_tasks.cache.paths import cache_folder
from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.harness.backends import has_chat_template, sent_temperature, unwrapped
from xling_tasks.log import warn_once
from xling_tasks.models.model_config import SELF
from xling_tasks.secrets import secrets_in
from xling_tasks.settings import Settings


def check_run(task: Any) -> None:
    """Look at how a task is run: keys in arguments, a replay, temperatures, the chat template."""
    args, lm = task.model_args, task.run.lm
    if keys := secrets_in(args):
        warn_once(
            f"a key may stand in --model_args {', '.join(keys)}; it is kept out of all "
            "files and logs, but the shell, the system's list of processes and lm_eval's table "
            "at the end show it. Where the backend reads an environment variable (OPENAI_API_KEY, "
            "HF_TOKEN, ...), give it there"
        )
    _check_names(args, lm)
    cache_folder(task.settings.xling_cache)
    _check_replay(task)
    for tau in task.temperatures if task.generates else ():
        task.generation_arguments(tau)
        if (sent := sent_temperature(lm, tau)) != tau:
            raise SettingError(
                f"{task.config.task}: this backend decodes at temperature {sent} where {tau} is "
                f"asked for. Run it with --gen_kwargs temperature={sent}, so that the results say "
                "what was used, or use another backend"
            )
    if task.generates and not task.run.chat_template and has_chat_template(lm):
        warn_once(
            "the model has a chat template, and it is not applied: most chat models answer badly "
            "or not at all without. Run it with --apply_chat_template"
        )


def _check_names(args: Mapping[str, Any], lm: Any) -> None:
    """Refuse what is neither a setting nor an argument of the model, if that can be told."""
    kind = type(unwrapped(lm))
    constructors = [base.__init__ for base in kind.__mro__ if "__init__" in vars(base)]  # type: ignore[misc]
    parameters = [inspect.signature(constructor).parameters for constructor in constructors]
    unknown = sorted(args.keys() - set().union(*parameters))
    if not unknown:
        return
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters[0].values())
    if not takes_any or kind.__module__.startswith("xling_tasks."):  # the model refused it
        raise SettingError(f"--metadata {unknown[0]}: unknown setting")
    warn_once(
        f"--metadata or --model_args {', '.join(unknown)}: no setting of these tasks and no "
        f"argument that {kind.__name__} names; is it misspelt?"
    )


def _check_replay(task: Any) -> None:
    """Refuse a replay without the task's log, or with the model under test in another role."""
    replay, settings = task.run.replay, task.settings
    if replay is None:
        return
    replay.origin(str(task.config.task))
    judges = [settings.judge, *(juror.spec for juror in settings.jury)]
    roles = {"judge": judges, "answer_extractor": [settings.answer_extractor]}
    for role, configs in {**roles, "translator": [settings.translator]}.items():
        if any(config is not None and config.model == SELF for config in configs):
            raise SettingError(
                f"--metadata {role}=self: xling_replay has the logged answers only, not the "
                f"model that gave them; name a model, {role}="
                '{"model": ..., "model_args": {...}}'
            )


def warn_of_unread_data(
    record: DatasetInfo, provenance: Mapping[str, Any], settings: Settings
) -> None:
    """Warn where a user names data and the task uses bundled texts."""
    if provenance.get("kind") != "bundled" or settings.data_dir is None:
        return
    hint = (
        "prompt_set=FILE names others" if record.n_small else "`xling_custom_*` ask your questions"
    )
    given_text = f"data_dir={settings.data_dir}"
    warn_once(f"{record.title}: the bundled texts are asked, and {given_text} is not read; {hint}")


ALWAYS_READ = frozenset(
    {"class", "task", "task_alias", "tag", "group", "metadata", "dataset_kwargs", "filter_list"}
)
"""What every task of ours reads, or the harness reads to name it."""

_DATA = "data_dir= in --metadata names other data; `xling_custom_*` ask your questions"
_PROMPT = "--metadata prompt_templates=FILE asks in your own words"
_SCORES = "its scores are made by its class"
_EXAMPLES = "the tasks mmedbench_* take examples (num_fewshot), drawn from the training questions"
_INSTEAD = (
    ("(dataset|custom_dataset|process_docs|.*_split)", _DATA),
    ("(doc_to_|use_prompt|description|gen_prefix|target_delimiter)", _PROMPT),
    ("(metric_list|process_results|output_type)", _SCORES),
    ("repeats", "--metadata k= and temperatures= say how often is asked"),
    ("(num_fewshot|fewshot)", _EXAMPLES),
    ("generation_kwargs", "it scores given texts and generates none"),
)
"""Keys, as the beginning of a pattern, and what to do instead; the first that fits."""

_CLASS = re.compile(r"^class: !function (\S+)$", re.M)


def check_read(kind: type, config: Mapping[str, Any], read: Iterable[str]) -> None:
    """Refuse keys that a task does not read and that differ from its template.

    KIND is the task's class, or a user's class made from ours, which reads the keys READ beside
    `ALWAYS_READ`; CONFIG has all that the YAML includes. The error names what to do instead.
    """
    template = _template(kind)
    defaults = {field.name: field.default for field in fields(TaskConfig)}
    source = (config.get("metadata") or {}).get("config_source", "")
    location = f"{config.get('task')}{source and f' ({source})'}"
    for key, value in config.items():
        if key in ALWAYS_READ or key in read:
            continue
        if key not in defaults:
            raise SettingError(
                f"{location}: {key}: unknown key.{did_you_mean(key, {*defaults, *ALWAYS_READ})}"
            )
        # A class made from none that has a template of ours is described by its own YAML alone.
        if template and value != template.get(key, defaults[key]):
            advice = next((say for start, say in _INSTEAD if re.match(start, key)), "")
            raise SettingError(
                f"{location}: {key} is set to {value!r:.80}, and this task does not read it; leave "
                f"it out{advice and f' ({advice})'}"
            )
    arguments = config.get("dataset_kwargs") or {}
    if unknown := sorted(map(str, arguments.keys() - {"record", "language"})):
        raise SettingError(f"{location}: dataset_kwargs: {', '.join(unknown)} is not read; {_DATA}")


def _template(kind: type) -> Mapping[str, Any]:
    """Return what our template of a class, or of the nearest that it is made from, says."""
    names = (f"{cls.__module__}.{cls.__qualname__}" for cls in kind.__mro__)
    return next((_templates()[name] for name in names if name in _templates()), {})


@functools.cache
def _templates() -> dict[str, Mapping[str, Any]]:
    """Return the class of each of our templates -> what it says."""
    texts = (path.read_text("utf-8") for path in sorted(task_folder().glob("*/_*_template_yaml")))
    return {
        match[1]: yaml.safe_load(_CLASS.sub("", text))
        for text in texts
        if (match := _CLASS.search(text))
    }
