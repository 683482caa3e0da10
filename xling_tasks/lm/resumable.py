"""The model under test, which keeps its responses as they come: a killed run goes on from there.

`ResumableLM` stands for the model while tasks of ours run, as the harness's own `CachingLM` does
for `--use_cache`. Requests of ours to a service are sent by our transport (many at a time, with a
seed each, sent again, by batches); all others go the model's own way. Responses lie in a
`ResponseCache` per task, model and process until the run is over: a finished command that is run
again asks anew.
"""

from __future__ import annotations

import atexit
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from xling_tasks.cache import ResponseCache, cache_folder, cache_key
from xling_tasks.errors import BackendError, user_path
from xling_tasks.failed_response import FailedResponse, ModelResponse, is_failed, response_of
from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import identify_model, is_engine, unwrapped, uses_answer_cache
from xling_tasks.harness.run import RunContext
from xling_tasks.log import log
from xling_tasks.models.batches import BatchInterface
from xling_tasks.models.http_api import ApiRequest, is_api_backend
from xling_tasks.models.retry import ServiceUnavailable, format_reasons
from xling_tasks.models.transport import ModelClient

ROLE = "the model under test"

# Requests that an engine, which tells of responses at the end of a call only, is given at a time:
# as many as take a minute, within these bounds.
_SECONDS, _SLICE, _SMALLEST, _LARGEST = 60.0, 256, 16, 8192

Slot = tuple[ResponseCache, str]  # where a response is kept: a cache and its key there


class ResumableLM:
    """A model whose responses to some tasks are kept."""

    def __init__(self, run: RunContext, tasks: Mapping[str, Any]) -> None:
        self.lm, self._run, self._tasks = run.lm, run, tasks
        settings = next(iter(tasks.values())).settings
        self._resume = settings.xling_resume
        folder = cache_folder(settings.xling_cache)
        self._folder = user_path(self._resume) if isinstance(self._resume, str) else folder
        self._caches: dict[str, ResponseCache] = {}
        self._n_requested, self._failed = 0, Counter[str]()
        self._client, self._hook = None, None
        self._waiting: dict[str, list[Slot]] = {}
        self._early: dict[str, Any] = {}
        clear_finished()
        if run.replay is not None:
            return
        model = unwrapped(self.lm)
        batches = BatchInterface(ROLE, model, self._folder) if settings.batch else None
        if is_api_backend(model):
            self._client = ModelClient(ROLE, model, run.model_args, batches=batches)
        if hasattr(model, "set_cache_hook"):
            self._hook = getattr(model, "cache_hook", None)
            model.set_cache_hook(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lm, name)

    def generate_until(self, requests: Sequence[Any], **options: Any) -> list[Any]:
        """Return responses: those that are kept, and the model's."""
        return self._answer("generate_until", requests, options)

    def loglikelihood(self, requests: Sequence[Any], **options: Any) -> list[Any]:
        """Return log-likelihoods: those that are kept, and the model's."""
        return self._answer("loglikelihood", requests, options)

    def add_partial(self, kind: str, request: Any, response: Any) -> None:
        """Keep a response that a backend tells of while others are being generated."""
        if self._hook is not None and not is_failed(response):
            plain = str(response) if isinstance(response, str) else response
            self._hook.add_partial(kind, request, plain)
        waiting = self._waiting.get(_fingerprint(request))
        if waiting:
            cache, key = waiting.pop()
            self._early[key] = response
            self._keep(cache, key, response)

    @property
    def dbdict(self) -> Any:
        """The harness's answer cache, for backends that look for one in their hook."""
        return getattr(self._hook, "dbdict", None)

    def _answer(self, kind: str, requests: Sequence[Any], options: dict[str, Any]) -> list[Any]:
        requests = list(requests)
        chosen = {i: one for i, one in enumerate(requests) if one.task_name in self._tasks}
        if self._run.replay is not None or not chosen:
            return list(getattr(self.lm, kind)(requests, **options))
        responses: list[Any] = [None] * len(requests)
        if other_indices := [i for i in range(len(requests)) if i not in chosen]:
            generated = getattr(self.lm, kind)([requests[i] for i in other_indices], **options)
            for i, response in zip(other_indices, generated, strict=True):
                responses[i] = response
        slots = self._open_slots(chosen)
        pending = self._take_kept(slots, responses)
        self._continue(requests, slots, pending)
        try:
            self._ask(kind, requests, slots, pending, responses, options)
        except (KeyboardInterrupt, SystemExit):
            log.warning("stopped: %s", self._describe_kept())
            raise
        except ServiceUnavailable as error:
            raise BackendError(f"{error}. {self._describe_kept()}") from error
        except Exception:
            log.error("%s", self._describe_kept())
            raise
        return responses

    def _open_slots(self, requests: Mapping[int, Any]) -> dict[int, Slot]:
        """Return cache and key of each request; equal requests are told apart by their order."""
        digests: dict[int, str] = {}
        by_task: dict[str, dict[int, str]] = {}
        for i, request in requests.items():
            document = id(request.doc)
            digests[document] = digests.get(document) or doc_digest(request.doc)
            key = cache_key(digests[document], request.request_type, request.args)[:32]
            by_task.setdefault(request.task_name, {})[i] = key
        slots = {}
        for task, keys in by_task.items():
            cache = self._caches[task] = self._open_cache(task, list(keys.values()))
            seen = Counter[str]()
            for i, key in keys.items():
                seen[key] += 1
                slots[i] = cache, f"{key}.{seen[key]}"
        self._n_requested += len(requests)
        return {i: slots[i] for i in requests}

    def _open_cache(self, task: str, keys: Sequence[str]) -> ResponseCache:
        """Return the cache of a task: another for other requests, another model or process."""
        if self._folder is None:
            return ResponseCache(None)
        args, torch = self._run.model_args, sys.modules.get("torch")
        seed = None if torch is None else int(torch.initial_seed())  # of local backends (`--seed`)
        model = identify_model(self.lm, args), list(files_of(identity_of(args))), seed
        rank, size = getattr(self.lm, "rank", 0), getattr(self.lm, "world_size", 1)
        stem = re.sub(r"\W+", "_", task)
        name = f"{stem}-{cache_key(keys, model)[:16]}-rank{rank}of{size}"
        folder = self._folder / "answers" / name
        if self._resume is False and folder.is_dir():
            folder.rename(folder.with_name(f"{name}.aside-{time.time_ns()}"))
        return ResponseCache(folder)

    def _take_kept(self, slots: Mapping[int, Slot], responses: list[Any]) -> list[int]:
        """Fill in the responses that are kept; return the requests without one."""
        for cache in self._caches.values():
            request_of = {key: i for i, (store, key) in slots.items() if store is cache}
            for key, value in cache.get_many(request_of).items():
                response = response_of(**value) if isinstance(value, dict) else tuple(value)
                responses[request_of[key]] = response
        pending = [i for i in slots if responses[i] is None]
        if len(pending) < len(slots):
            log.warning(
                "resuming: %d of %d answers are there (%s); the rest is asked for. --metadata "
                "xling_resume=false would ask for all of them afresh.",
                len(slots) - len(pending), len(slots), self._folder,
            )  # fmt: skip
        return pending

    def _keep(self, cache: ResponseCache, key: str, response: Any) -> None:
        """Write a response down; a failed request has none, and is sent again by the next start."""
        if is_failed(response):
            self._failed[response.reason] += 1
            cache.discard([key])
        elif isinstance(response, str):
            details = response.details() if isinstance(response, ModelResponse) else {}
            cache.put_many({key: {"text": str(response), "details": details}})
        else:
            cache.put_many({key: response})

    def _ask(
        self, kind: str, requests: Sequence[Any], slots: Mapping[int, Slot],
        pending: list[int], responses: list[Any], options: dict[str, Any],
    ) -> None:  # fmt: skip
        if self._client is not None and kind == "generate_until":
            self._send(requests, slots, pending, responses)
            return
        ask = getattr(self.lm, kind)
        for part in self._slices(requests, pending):
            self._waiting, self._early = {}, {}
            for i in reversed(part) if not is_engine(self.lm) else ():
                waiting = self._waiting.setdefault(_fingerprint(requests[i].args), [])
                waiting.append(slots[i])
            for i, response in zip(part, ask([requests[i] for i in part], **options), strict=True):
                responses[i], (cache, key) = response, slots[i]
                if self._early.get(key) != response:
                    self._keep(cache, key, response)
        self._waiting = {}
        short = max(self._run.all_gather(len(pending))) - len(pending)
        if short:  # a model spread over processes needs all of them each time
            ask([requests[-1]] * short, **options)

    def _send(
        self, requests: Sequence[Any], slots: Mapping[int, Slot],
        pending: list[int], responses: list[Any],
    ) -> None:  # fmt: skip
        """Send requests by our transport; of `--use_cache` take what is there, and give it more."""
        from lm_eval.api.model import hash_args

        cached = uses_answer_cache(self.lm)
        answer_cache = self.lm.dbdict if cached else {}
        stored = {
            i: hash_args("generate_until", requests[i].args) for i in pending
            if cached and not requests[i].args[1].get("do_sample", False)
        }  # fmt: skip
        for i, key in stored.items():
            if key in answer_cache:
                responses[i] = answer_cache[key]
        open_ = [i for i in pending if responses[i] is None]
        sent = [ApiRequest(*requests[i].args[:2]) for i in open_]
        assert self._client is not None

        def keep(position: int, response: ModelResponse) -> None:
            i = open_[position]
            responses[i] = response
            self._keep(*slots[i], response)
            if i in stored and not isinstance(response, FailedResponse):
                answer_cache[stored[i]] = str(response)
            bar.update()

        with tqdm(total=len(sent), desc="Asking the model", disable=not sent) as bar:
            self._client.send(sent, keep)

    def _slices(self, requests: Sequence[Any], pending: Sequence[int]) -> Iterator[list[int]]:
        """Yield all at once; to engines, the longest prompts first, what takes a minute."""
        model = unwrapped(self.lm)
        if not is_engine(self.lm) or getattr(model, "world_size", 1) > 1:
            yield from [list(pending)] if pending else []
            return
        ordered = sorted(pending, key=lambda i: -len(str(requests[i].args[0])))
        # With `data_parallel_size` vLLM loads its model anew for every call.
        factor = 16 if getattr(model, "data_parallel_size", 1) > 1 else 1
        batch_size = str(getattr(model, "batch_size", ""))
        fixed = int(batch_size) if batch_size.isdigit() and factor == 1 else 0
        size, start = fixed or _SLICE * factor, 0
        while start < len(ordered):
            began = time.monotonic()
            yield ordered[start : start + size]
            start += size
            if not fixed:
                took = max(time.monotonic() - began, 1e-3)
                size = int(min(size * min(2.0, _SECONDS * factor / took), _LARGEST * factor))
                size = max(size, _SMALLEST)

    def _continue(
        self, requests: Sequence[Any], slots: Mapping[int, Slot], pending: Sequence[int]
    ) -> None:
        """Draw on: with the same seed a second start would draw the first one's responses again."""
        starts = max((cache.files_before for cache in self._caches.values()), default=0)
        if not pending or not starts:
            return
        seed = int(cache_key(sorted(self._caches), starts)[:8], 16) % 2**31
        random.seed(seed)  # the streams that local backends sample from
        np.random.seed(seed)
        if torch := sys.modules.get("torch"):
            torch.manual_seed(seed)
        if (go_on := getattr(unwrapped(self.lm), "continue_after", None)) is not None:
            unanswered = set(pending)
            go_on([requests[i] for i in slots if i not in unanswered])

    def _describe_kept(self) -> str:
        count = sum(map(len, self._caches.values()))
        if self._folder is None:
            return (
                f"{count} of {self._n_requested} answers came; without a cache folder none is kept"
            )
        return (
            f"{count} of {self._n_requested} answers are kept in {self._folder / 'answers'}; start "
            "the same command again to ask only for the rest."
        )

    def conclude(self, *, finished: bool) -> None:
        """End the run; responses of a finished one go once its results are written."""
        if self._hook is not None:
            unwrapped(self.lm).set_cache_hook(self._hook)
        if self._failed:
            log.warning(
                "%d requests to the model under test failed (%s) and are unscored. %s",
                self._failed.total(), format_reasons(self._failed), self._describe_kept(),
            )  # fmt: skip
        for cache in self._caches.values():
            cache.close()
        # The harness's answer cache keeps no sampled responses, so `--use_cache` keeps ours.
        if finished and not self._failed and not uses_answer_cache(self.lm):
            _finished.extend(self._caches.values())


_finished: list[ResponseCache] = []


@atexit.register
def clear_finished() -> None:
    """Remove the responses of runs whose results are written; after an error they stay."""
    if getattr(sys, "last_value", None) is None:
        for cache in _finished:
            cache.close(clear=True)
    _finished.clear()


def doc_digest(doc: Mapping[str, Any]) -> str:
    """Return the digest of a document's content, as the harness logs it."""
    from lm_eval.utils import handle_non_serializable

    plain = json.loads(json.dumps(doc, default=handle_non_serializable))
    return cache_key(plain)[:32]


def _fingerprint(request: Any) -> str:
    return json.dumps(list(request[:2]), sort_keys=True, default=str)
