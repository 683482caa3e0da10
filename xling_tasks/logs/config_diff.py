"""Were these runs made alike? One list of the settings that a criterion's scores depend on.

`compare` asks it of two models' runs of one task, a report of models and of languages, and a
submission of its languages. Across languages a task may differ in what the language itself changes:
the prompts in it, and data that other questions are in. A criterion declares its settings. Where
data, prompts and a classifier are stored is none of them (digests and signatures say more), nor is
`sampling_seed`: with another one the same thing is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.harness.arguments import TRANSPORT, kind_of
from xling_tasks.logs.results import TaskResults, as_json, model_line


class Difference(NamedTuple):
    """A setting in which tasks were run differently: in the first, and in the others named.

    `what` is its dotted name, such as `judge.model` or `prompts.answer.digest`.
    """

    what: str
    first: str
    other: str
    tasks: tuple[str, ...]

    def describe(self, first: str) -> str:
        """Describe it, with the first task's name."""
        names = ", ".join(self.tasks)
        return f"{self.what} is {self.first} in {first}, but {self.other} in {names}"


def find_differences(
    pairs: Iterable[tuple[TaskResults, TaskResults]], *, across_languages: bool = False
) -> list[Difference]:
    """Return in what the second of each pair was run differently, with all tasks that have it."""
    tasks: dict[tuple[str, str, str], dict[str, None]] = {}
    for first, other in pairs:
        settings = [_settings(task, across_languages=across_languages) for task in (first, other)]
        if across_languages:
            # A prompt that one language does not need, such as that for translation.
            shared = settings[0]["prompts"].keys() & settings[1]["prompts"].keys()
            for setting in settings:
                setting["prompts"] = {name: setting["prompts"][name] for name in sorted(shared)}
        for key in _compare("", *settings):
            tasks.setdefault(key, {})[other.task] = None
    return [Difference(*key, tuple(names)) for key, names in tasks.items()]


def _settings(task: TaskResults, *, across_languages: bool) -> dict[str, Any]:
    """Return how a task was run, as far as its scores depend on it; values may be nested."""
    xling, content, config = task.xling, task.run.content, task.config
    settings, subject = xling.get("settings") or {}, task.task_key
    names = CRITERIA[subject.criterion].settings if subject else ()
    declared = {
        name: _without_transport(settings.get(name)) for name in ("prompt_language", *names)
    }
    prompts = {
        name: prompt
        for name, prompt in (xling.get("prompts") or {}).items()
        if not across_languages or prompt.get("language") in (None, "en", "any")
    }
    if across_languages and settings.get("prompt_language", "en") != "en":
        declared["prompt templates"] = settings.get("prompt_templates")
    generation = dict(xling.get("generation_kwargs") or {})
    if across_languages:
        generation.pop("until", None)  # An answer ends at a label in the question's language.
    chat = content.get("chat_template") is not None
    shots, description = config.get("num_fewshot") or 0, config.get("description") or ""
    filters, data = config.get("filter_list"), xling.get("data") or {}
    if data.get("sha256"):
        source = {"sha256": data["sha256"]}
    else:
        source = {key: data.get(key) for key in ("name", "revision")}
    if across_languages:  # what filters look for is a language's, as are questions of its own
        filters = [
            [row.get("name"), [step.get("function") for step in row.get("filter") or ()]]
            for row in filters or ()
        ]
        if subject is not None and not subject.parallel:
            source = {key: data.get(key) for key in ("dataset", "kind", "revision")}
            source["repository"] = settings.get("dataset")
    return {
        **declared,
        "data": source,
        "prompts": prompts,
        "generation": generation,
        "chat template": content.get("chat_template_sha") if chat else None,
        "apply_chat_template": chat,
        "system_instruction": content.get("system_instruction_sha"),
        "num_fewshot": shots,
        "filter_list": filters,
        # What stands before a question in its language differs between languages.
        "description": bool(description) if across_languages else description,
        "fewshot_as_multiturn": bool(chat and shots and content.get("fewshot_as_multiturn")),
        "task version": (config.get("metadata") or {}).get("version"),
    }


def _without_transport(value: Any) -> Any:
    """Return a setting without what only says how fast a model runs."""
    if isinstance(value, (list, tuple)):
        return [_without_transport(item) for item in value]
    if not isinstance(value, Mapping) or "model" not in value:
        return value
    fields = {k: item for k, item in value.items() if k == "model" or kind_of(k) != TRANSPORT}
    if "model_args" in fields:
        fields["model"] = model_line(value["model"], fields.pop("model_args") or {})
    return fields


def _compare(name: str, a: Any, b: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (dotted name, the first's value, the other's value) of every difference."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys([*a, *b]):
            yield from _compare(f"{name}.{key}" if name else key, a.get(key), b.get(key))
    elif a != b:
        yield name, _format(a), _format(b)


def _format(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) and value else as_json(value)
