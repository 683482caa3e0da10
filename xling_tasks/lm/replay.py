"""A model that answers with the logged responses of an earlier run.

Another judge, translator, encoder or metric version scores the same answers without generating
again and without a second model in memory. A request is matched by task, the document's content,
the prompt and the generation arguments; repeated answers come in their logged order. What does not
match is an error.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from tqdm import tqdm

from xling_tasks.errors import DataError, SettingError, did_you_mean, refuse_unknown, user_path
from xling_tasks.lm.replay_match import Asked, match
from xling_tasks.logs.answers import doc_digest
from xling_tasks.logs.replay_log import AnyLog, JoinedLog, LoggedRequest, TaskLog, find_logs
from xling_tasks.logs.replay_prompts import ChatPrompt

_LISTED = 8


class ReplayLM(LM):  # type: ignore[misc]
    """The harness model `xling_replay`.

    Args:
        path: A folder with the logs of one model anywhere below it: the `--output_path` of a run
            with `--log_samples`. Several, as a list or with `+` between them, are the parts of one
            run.
        run: Which run, where there are several; None for the newest that has the task. Several
            with `+` between them, or `all`, are joined.
        batch_size: Accepted for the harness and ignored, like the next two.
        max_batch_size: Ignored.
        device: Ignored.
        **others: Refused.
    """

    def __init__(
        self,
        path: str | Sequence[str] | None = None,
        run: str | None = None,
        batch_size: Any = None,
        max_batch_size: Any = None,
        device: Any = None,
        **others: Any,
    ) -> None:
        super().__init__()
        refuse_unknown("xling_replay: ", others, ["path", "run"])
        if not path:
            raise SettingError(
                "xling_replay: name the folder of the run to replay: --model_args path=OUT"
            )
        folders = folders_of(path)
        self.folder = folders[0]
        self._logs = _joined([_chosen(folder, find_logs(folder), run) for folder in folders])

    # What the harness asks for

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """Return the logged responses."""
        return self._replies("generate_until", requests, disable_tqdm)

    def loglikelihood(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Return the logged log-likelihoods."""
        return self._replies("loglikelihood", requests, disable_tqdm)

    def loglikelihood_rolling(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[float]:
        """Refuse it: none of our tasks asks for it."""
        raise DataError("xling_replay: loglikelihood_rolling is not replayed; leave the task out")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> ChatPrompt:
        """Return the messages as they are, to be found again in the logged prompt."""
        return ChatPrompt.of([dict(message) for message in chat_history])

    def chat_template(self, chat_template: bool | str = False) -> str:
        """Return the template of the replayed run, as far as it is known."""
        return next((log.template for log in self._logs.values() if log.template), "")

    @property
    def tokenizer_name(self) -> str:
        """A name for the harness's request cache."""
        return "xling_replay"

    def set_cache_hook(self, cache_hook: Any) -> None:
        """Refuse `--use_cache`, which knows no models: it would answer with another's answers."""
        if getattr(cache_hook, "dbdict", None) is not None:
            raise SettingError("xling_replay: leave out --use_cache; the answers are logged anyway")
        super().set_cache_hook(cache_hook)

    # What our tasks ask for

    @functools.cached_property
    def hosted(self) -> bool:
        """Whether the run asked a service: then temperature 0 was asked several times, too."""
        return any(
            count > 1
            for log in self._logs.values()
            for (_, temperature), count in _answers_by_question(log.first()).items()
            if temperature == 0
        )

    def origin(self, task: str) -> dict[str, Any]:
        """Return the model and the run behind a task's responses, for the results."""
        log = self._log(task)
        origin = {
            "model": log.model,
            "model_args": dict(log.model_args),
            "stamp": log.run,
            "path_name": self.folder.resolve().name,
        }
        parts = [part.run for part in log.parts]
        return {**origin, **({"parts": parts} if parts else {})}

    def recorded(self, task: str) -> Mapping[str, Any]:
        """Return what the task recorded of the run: settings, prompts; empty if unknown."""
        return self._logs[task].recorded if task in self._logs else {}

    # Finding answers

    def _replies(self, kind: str, requests: Sequence[Any], quiet: bool) -> list[Any]:
        """Return the responses to requests; equal requests get the logged ones in order."""
        taken: Counter[tuple[Any, ...]] = Counter()
        digests: dict[int, str] = {}
        replies = []
        for request in tqdm(requests, disable=quiet, desc="xling_replay"):
            key = id(request.doc)
            digest = digests[key] = digests.get(key) or doc_digest(request.doc)
            log = self._log(str(request.task_name))
            lookup = Asked(log, request.doc, request.doc_id, kind, *request.args)
            positions, logged = match(lookup, digest)
            served = (log.task, digest, positions)
            if taken[served] >= len(logged):
                raise DataError(
                    f"{lookup}: more than the {len(logged)} logged answers at these arguments are "
                    f"asked for; replay with the run's k (--metadata k={len(logged)} or less; at "
                    "temperature 0 greedy_repeats=once where it was asked once)"
                )
            replies.append(logged[taken[served]])
            taken[served] += 1
        return replies

    def _log(self, task: str) -> AnyLog:
        log = self._logs.get(task)
        if log is None:
            raise DataError(
                f"{self.folder}: no answers of {task} are logged there (run with --log_samples)."
                f"{did_you_mean(task, self._logs)} Leave the task out, or generate its answers"
            )
        return log


def _answers_by_question(requests: Sequence[LoggedRequest]) -> Counter[tuple[str, Any]]:
    """Count how often each question was asked at each temperature."""
    counts = Counter[tuple[str, Any]]()
    for request in requests:
        if request.kind == "generate_until":
            counts[repr(request.prompt), request.argument.get("temperature")] += len(
                request.replies
            )
    return counts


def folders_of(path: str | Sequence[str]) -> list[Path]:
    """Return the folders that `path` names; a folder whose own name has a `+` is one."""
    if not isinstance(path, str):
        return [user_path(str(item)) for item in path]
    folder = user_path(path)
    if folder.exists() or "+" not in path:
        return [folder]
    return [user_path(item) for item in path.split("+") if item]


def _joined(parts: Sequence[Mapping[str, Sequence[TaskLog]]]) -> dict[str, AnyLog]:
    """Return one log per task: of the folders' logs, joined where there are several."""
    logs: dict[str, list[TaskLog]] = {}
    for part in parts:
        for task, logs_of_task in part.items():
            logs.setdefault(task, []).extend(logs_of_task)
    models = {log.identity: log for logs_of_task in logs.values() for log in logs_of_task}
    if len(models) > 1:
        named_models = "; ".join(f"{model} ({log.paths[0]})" for model, log in models.items())
        raise DataError(
            f"the parts are of different models: {named_models}; join those of one model"
        )
    return {
        task: logs_of_task[0] if len(logs_of_task) == 1 else JoinedLog(logs_of_task)
        for task, logs_of_task in logs.items()
    }


def _chosen(folder: Path, logs: Sequence[TaskLog], run: str | None) -> dict[str, Sequence[TaskLog]]:
    """Return a folder's logs by task: the newest, or those of `run`; all of one model."""
    if not logs:
        raise DataError(
            f"{folder}: no logged answers there; give path= the --output_path of a run with "
            "--log_samples"
        )
    ordered = sorted(logs, key=lambda log: log.run)
    names = None if run is None else set(str(run).split("+"))
    every = names == {"all"}
    chosen = ordered if names is None or every else [x for x in ordered if x.run in names]
    if not chosen:
        raise DataError(f"{folder}: no run {run!r}; there are {_listed(folder, ordered)}")
    if len({log.identity for log in chosen}) > 1:
        raise DataError(
            f"{folder}: runs of different models: {_listed(folder, chosen)}; give the folder of "
            "one model, or add one of these runs to --model_args"
        )
    logs_of: dict[str, list[TaskLog]] = {}
    for log in chosen:
        logs_of.setdefault(log.task, []).append(log)
    return {
        task: task_logs if names is not None else task_logs[-1:]
        for task, task_logs in logs_of.items()
    }


def _listed(folder: Path, logs: Sequence[TaskLog]) -> str:
    """Describe runs, the newest first."""
    runs = {log.run: log for log in logs}
    newest = list(reversed(runs.values()))
    texts = [
        f"run={log.run} of {log.identity} ({log.paths[0].relative_to(folder)})"
        for log in newest[:_LISTED]
    ]
    n_older = len(newest) - len(texts)
    return "; ".join(texts) + (f"; and {n_older} older" if n_older > 0 else "")
