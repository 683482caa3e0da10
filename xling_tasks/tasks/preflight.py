"""What a run is refused for or warned of before anything is generated, whatever the task."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from xling_metrics.stats.bounded_means import least_n_for_equivalence

from xling_tasks.cache import cache_folder
from xling_tasks.errors import SettingError
from xling_tasks.harness.backends import has_chat_template, sent_temperature, speaks_chat, unwrapped
from xling_tasks.log import warn_once
from xling_tasks.secrets import secrets_in

ALWAYS_READ = frozenset(
    {"class", "task", "task_alias", "tag", "group", "metadata", "dataset_kwargs", "filter_list"}
)
"""Keys of a task file that every task of ours reads, or the harness reads to name it."""

_FIXED = {"test_split": "test", "metric_list": [], "num_fewshot": 0, "repeats": 1}
"""Keys of a task file with the only value that our tasks have."""

MAX_TOKENS = frozenset({"max_new_tokens", "max_tokens", "max_completion_tokens"})
"""Other names of `max_gen_toks` in the harness, which backends read only where that is not set."""

_ALPHA = 0.05
_MARGIN = 0.05  # of most verdicts: a difference of 5 of 100 answers


def check_keys(config: Mapping[str, Any], read: frozenset[str]) -> None:
    """Refuse keys of a task file beside READ and `ALWAYS_READ`, which would be recorded as used."""
    kind = "generate_until" if "generation_kwargs" in read else "loglikelihood"
    fixed = {**_FIXED, "output_type": kind}
    arguments = config.get("dataset_kwargs") or {}
    ignored = [
        *(k for k, v in config.items() if k not in ALWAYS_READ | read and v != fixed.get(k)),
        *(f"dataset_kwargs.{key}" for key in sorted(arguments.keys() - {"record", "language"})),
    ]
    if ignored:
        raise SettingError(
            f"{config.get('task')}: the task file sets {', '.join(ignored)}, which this task does "
            "not read; leave it out. --metadata names other data (data_dir) and prompts "
            "(prompt_templates)"
        )


def warn_of_limit(limit: float, available: int, comparisons: int) -> None:
    """Warn if a `--limit` leaves too few questions to show any difference from English."""
    asked = min(available, math.ceil(limit * available) if limit < 1 else int(limit))
    # n differences of one sign have a two-sided p of 2 / 2^n (sign-flip test), Holm's first one is
    # compared with alpha / comparisons.
    needed = math.floor(math.log2(2 * comparisons / _ALPHA)) + 1
    if asked < needed:
        warn_once(
            f"--limit {limit:g}: with {asked} questions no difference between languages can be "
            f"shown. At least {needed} are needed to show one, and "
            f"{least_n_for_equivalence(_MARGIN)} to show that there is none of {_MARGIN:g}"
        )


def check_run(task: Any, limit: float | None) -> None:
    """Look at how a task is run: arguments, a replay, temperatures, chat template and `--limit`."""
    if limit is not None and not task.predict_only:
        warn_of_limit(limit, len(task.eval_docs), max(1, len(task.languages) - 1))
    args, lm = task.model_args, task.run.lm
    if speaks_chat(lm) and not task.run.chat_template:
        raise SettingError(
            f"{type(unwrapped(lm)).__name__} takes conversations: run it with --apply_chat_template"
        )
    if keys := secrets_in(args):
        warn_once(
            f"a key may stand in --model_args {', '.join(keys)}; it is kept out of all "
            "files and logs, but the shell, the system's list of processes and lm_eval's table "
            "at the end show it. Where the backend reads an environment variable (OPENAI_API_KEY, "
            "HF_TOKEN, ...), give it there"
        )
    _check_names(args, lm)
    cache_folder(task.settings.xling_cache)
    if task.run.replay is not None:
        task.run.replay.origin(str(task.config.task))
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


def check_instruction(instruction: str | None, template: Callable[..., Any] | None) -> None:
    """Warn if the chat template drops `--system_instruction`, so that the model never sees it."""
    turns = [{"role": "system", "content": instruction or ""}, {"role": "user", "content": "?"}]
    if instruction and template is not None and (reason := find_refused(template, turns)):
        warn_once(
            f"--system_instruction is in no prompt: the chat template drops it ({reason}). Leave "
            "it out, or write it into the prompts: --metadata prompt_templates=FILE"
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


def find_refused(template: Callable[..., Any], turns: list[dict[str, str]]) -> str:
    """Return why a chat template refuses a conversation, or drops its system turn; else ''.

    The harness drops a system turn that a template refuses (lm-evaluation-harness #2069).
    """
    dialogue = [turn for turn in turns if turn["role"] != "system"]
    try:
        prompt = template(turns, add_generation_prompt=True)
        if len(dialogue) < len(turns) and prompt == template(dialogue, add_generation_prompt=True):
            return "it has no system turn"
    except Exception as error:  # jinja2's TemplateError, or whatever a template raises
        return (str(error).strip() or type(error).__name__).splitlines()[0]
    return ""
