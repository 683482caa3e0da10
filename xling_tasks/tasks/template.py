"""What a user's YAML may change of ours: what our classes read. Anything else is refused by name.

The harness writes a task's whole configuration into the results. A key that our class does not
read would stand there as if it had been used, so its value must be that of our template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml
from lm_eval.api.task import TaskConfig

from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError, did_you_mean

ALWAYS_READ = frozenset(
    {"class", "task", "task_alias", "tag", "group", "metadata", "dataset_kwargs", "filter_list"}
)
"""What every task of ours reads, or the harness reads to name it."""

_DATA = "data_dir= or dataset= in --metadata name other data; `xling_own_*` ask your questions"
_PROMPT = "--metadata prompts=FILE asks in your own words"
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

    Args:
        kind: The task's class, or a user's class made from ours.
        config: What the harness made of the YAML, with everything that it includes.
        read: The keys that the class reads beside `ALWAYS_READ`.

    Raises:
        SettingError: Naming task, key, value and what to do instead.
    """
    template = _template(kind)
    known = {field.name: field.default for field in fields(TaskConfig)}
    place = (config.get("metadata") or {}).get("config_source", "")
    where = f"{config.get('task')}{place and f' ({place})'}"
    for key, value in config.items():
        if key in ALWAYS_READ or key in read:
            continue
        if key not in known:
            raise SettingError(
                f"{where}: {key}: unknown key.{did_you_mean(key, {*known, *ALWAYS_READ})}"
            )
        # A class made from none that has a template of ours is described by its own YAML alone.
        if template and value != template.get(key, known[key]):
            advice = next((say for start, say in _INSTEAD if re.match(start, key)), "")
            raise SettingError(
                f"{where}: {key} is set to {value!r:.80}, and this task does not read it; leave "
                f"it out{advice and f' ({advice})'}"
            )
    given = config.get("dataset_kwargs") or {}
    if unknown := sorted(map(str, given.keys() - {"record", "language"})):
        raise SettingError(f"{where}: dataset_kwargs: {', '.join(unknown)} is not read; {_DATA}")


def _template(kind: type) -> Mapping[str, Any]:
    """What our template of a class, or of the nearest that it is made from, says."""
    templates = _templates()
    for each in kind.__mro__:
        if path := templates.get(f"{each.__module__}.{each.__qualname__}"):
            return _read(path)
    return {}


@functools.cache
def _templates() -> dict[str, Path]:
    """The class of each of our templates -> its file."""
    return {
        match[1]: path
        for path in sorted(task_folder().glob("*/_*_template_yaml"))
        if (match := _CLASS.search(path.read_text(encoding="utf-8")))
    }


@functools.cache
def _read(path: Path) -> Mapping[str, Any]:
    lines = _CLASS.sub("", path.read_text(encoding="utf-8"))
    content: Mapping[str, Any] = yaml.safe_load(lines)
    return content
