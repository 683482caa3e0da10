"""A model that answers with the logged responses of an earlier run.

Another judge, translator, encoder or metric version scores the same responses, without generating
again and without a second model in memory. A request is matched by task, content of the question,
prompt and generation arguments; repeated responses come in their logged order.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lm_eval.api.model import LM
from tqdm import tqdm

from xling_tasks.errors import DataError, SettingError, did_you_mean, refuse_unknown, user_path
from xling_tasks.failed_response import logged_details, response_of
from xling_tasks.harness.arguments import ADDED_BY_HARNESS
from xling_tasks.lm.resumable import doc_digest
from xling_tasks.logs.results import Results, TaskResults, read_results, refuse_mixed_models


class ChatPrompt(str):
    """Messages as JSON; the logged prompt has gone through a chat template."""


class LoggedRequest(NamedTuple):
    """A logged request."""

    kind: str  # as the harness calls it
    prompt: str | list[str]  # A text, or the texts of a service's messages
    argument: Any  # the generation arguments without seed, or the continuation that was scored
    responses: list[Any]  # the texts, or log-likelihoods, that came back


class TaskLog:
    """The logged requests of one task in one run."""

    def __init__(self, results: TaskResults) -> None:
        self.results, self.samples = results, results.samples
        self.template: str | None = results.run.content.get("chat_template")

    @functools.cached_property
    def requests(self) -> dict[str, list[LoggedRequest]]:
        """The requests about each question, by the digest of its content."""
        return dict(row for _, row in self.samples.stream_first(_read_requests))

    def find(self, request: Any, digest: str) -> tuple[str, list[Any]]:
        """Return a key and the responses of the logged requests that equal a request.

        Raises:
            DataError: If the question, the prompt or the arguments were not logged.
        """
        kind, (prompt, argument) = request.request_type, request.args
        logged = self.requests.get(digest)
        if logged is None:
            raise self.error(
                request, f"this question is not among the {len(self.requests)} of", "data and limit"
            )
        prompted = [r for r in logged if r.kind == kind and self._has_prompt(r.prompt, prompt)]
        if not prompted:
            raise self.error(
                request, "this prompt is not in", "prompts, prompt_language, examples, system "
                f"instruction and {'no ' * (self.template is None)}--apply_chat_template",
            )  # fmt: skip
        shortest = min(prompted, key=lambda r: len(str(r.prompt))).prompt  # which adds least
        same_prompt = [r for r in prompted if r.prompt == shortest]
        expected = _comparable(argument)
        chosen = [r for r in same_prompt if r.argument == expected]
        if not chosen:
            candidates = "; ".join(dict.fromkeys(str(r.argument) for r in same_prompt))
            raise self.error(
                request, f"{expected} is not among what was asked ({candidates}) in",
                "settings (english_floor among them), temperatures and --gen_kwargs",
            )  # fmt: skip
        return f"{digest} {shortest} {expected}", [text for r in chosen for text in r.responses]

    def _has_prompt(self, logged: str | list[str], prompt: str) -> bool:
        """Return whether a logged prompt is the one asked for.

        One that went through a chat template has all messages, or the whole text, in their order.
        """
        is_chat = isinstance(prompt, ChatPrompt)
        texts = [str(turn["content"]) for turn in json.loads(prompt)] if is_chat else [str(prompt)]
        if texts == logged or texts == [logged]:
            return True
        if self.template is None or (is_chat and isinstance(logged, list)):
            return False
        text, start = logged if isinstance(logged, str) else "\n".join(logged), 0
        for piece in texts:
            start = text.find(piece.strip(), start)
            if start < 0:
                return False
            start += len(piece.strip())
        return True

    def error(self, request: Any, problem: str, same: str) -> DataError:
        """Return an error: what was not logged, and what must be the same in both runs."""
        question = request.doc.get("question_id", request.doc_id)
        return DataError(
            f"{self.results.task}, question {question!r}: {problem} {self.samples.path}; replay "
            f"with the {same} of the run, or name another run: --model_args path=...,run=..."
        )


class ReplayLM(LM):  # type: ignore[misc]
    """The harness model `xling_replay`.

    Args:
        path: A folder with the logs of one model anywhere below it: the `--output_path` of a run
            with `--log_samples`.
        run: The time of one run, as in the names of its files; None for the newest with the task.
        **others: Ignored if the harness adds them to the arguments of any model, else refused.
    """

    def __init__(self, path: str | None = None, run: str | None = None, **others: Any) -> None:
        super().__init__()
        refuse_unknown("xling_replay: ", others.keys() - ADDED_BY_HARNESS, ["path", "run"])
        if not path:
            raise SettingError(
                "xling_replay: name the folder of the run to replay: --model_args path=OUT"
            )
        self.folder = user_path(str(path))
        every = [results for results in read_results(self.folder) if not results.replay]
        runs = [results for results in every if run in (None, results.stamp)]
        refuse_mixed_models(self.folder, runs)
        self._logs = {
            task: TaskLog(results)
            for one in runs
            for task in one.places
            if (results := TaskResults(task, one)).samples.path.exists()
        }
        if not self._logs:
            stamps = ", ".join(results.stamp for results in every) or "none"
            raise DataError(
                f"{self.folder}: no logged responses{f' of run {run}' if run else ''}; its runs "
                f"are: {stamps}. Give the --output_path of a run with --log_samples"
            )

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """Return the logged responses."""
        return self._replay(requests, disable_tqdm)

    def loglikelihood(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Return the logged log-likelihoods."""
        return self._replay(requests, disable_tqdm)

    def loglikelihood_rolling(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[float]:
        """Refuse it: none of our tasks asks for it."""
        raise DataError("xling_replay: loglikelihood_rolling is not replayed; leave the task out")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> ChatPrompt:
        """Return the messages as they are, to be found in the logged prompt."""
        return ChatPrompt(json.dumps(chat_history, ensure_ascii=False))

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

    @functools.cached_property
    def hosted(self) -> bool:
        """Whether the run asked a service: then temperature 0 was asked several times, too."""
        for task in self._logs.values():
            _, (_, requests) = next(task.samples.stream_first(_read_requests), (0, ("", [])))
            greedy = Counter(
                str(r.prompt) for r in requests
                if isinstance(r.argument, dict) and r.argument.get("temperature") == 0
            )  # fmt: skip
            if max(greedy.values(), default=0) > 1:
                return True
        return False

    def origin(self, task: str) -> dict[str, Any]:
        """Return the model and the run behind a task's responses, for the results."""
        run: Results = self._log(task).results.run
        return {
            "model": str(run.config.get("model")),
            "model_args": run.model_args,
            "stamp": run.stamp,
            "path_name": self.folder.resolve().name,
        }

    def cut_prompts(self, task: str) -> Mapping[str, list[int]]:
        """Return how many of a task's prompts were cut in the run, by language."""
        return self._log(task).results.xling.get("cut_prompts") or {}

    def _replay(self, requests: Sequence[Any], quiet: bool) -> list[Any]:
        """Return the responses to requests; equal requests get the logged ones in order."""
        taken: Counter[tuple[str, str]] = Counter()
        digests: dict[int, str] = {}
        responses = []
        for request in tqdm(requests, disable=quiet, desc="xling_replay"):
            doc_id = id(request.doc)
            digests[doc_id] = digests.get(doc_id) or doc_digest(request.doc)
            task = str(request.task_name)
            log = self._log(task)
            key, logged = log.find(request, digests[doc_id])
            if taken[task, key] >= len(logged):
                raise log.error(
                    request, f"more than the {len(logged)} logged responses are asked for in",
                    f"k ({len(logged)}) and greedy_repeats",
                )  # fmt: skip
            responses.append(logged[taken[task, key]])
            taken[task, key] += 1
        return responses

    def _log(self, task: str) -> TaskLog:
        if task not in self._logs:
            raise DataError(
                f"{self.folder}: no responses of {task} are logged there."
                f"{did_you_mean(task, self._logs)} Leave the task out, or generate them"
            )
        return self._logs[task]


def _read_requests(row: dict[str, Any]) -> tuple[str, list[LoggedRequest]]:
    """Return the digest and the requests of a sample."""
    details, requests = logged_details(row), []
    for number, replies in enumerate(row["resps"]):
        logged = row["arguments"][f"gen_args_{number}"]
        content, argument = logged["arg_0"], logged["arg_1"]
        if not isinstance(content, str):  # API backends log messages as a list with their JSON
            messages = json.loads(content[0]) if isinstance(content[0], str) else content
            content = [str(message["content"]) for message in messages]
        if isinstance(argument, dict):
            kind = "generate_until"
            responses: list[Any] = [
                response_of(str(text), details.get((number, repeat), {}))
                for repeat, text in enumerate(replies)
            ]
        else:  # the harness logs numbers as texts that give back exactly the same number
            kind = "loglikelihood"
            responses = [(float(score), greedy == "True") for score, greedy in replies]
        requests.append(LoggedRequest(kind, content, _comparable(argument), responses))
    return doc_digest(row["doc"]), requests


def _comparable(argument: Any) -> Any:
    """Return arguments without the seed; a continuation without its space."""
    if isinstance(argument, dict):
        return {name: value for name, value in argument.items() if name != "seed"}
    return str(argument).strip()
