"""The model under test behind a service: its `generate_until` for requests of ours, replaced.

The harness groups requests by their arguments and asks group after group: with a seed for every
sampled answer that is one request at a time. Requests of other tasks go the harness's own way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from xling_tasks.failed_response import FailedResponse, ModelResponse
from xling_tasks.models.http_api import ApiRequest, concurrency
from xling_tasks.models.transport import ModelClient


class Service:
    """An API backend's `generate_until`, replaced on the object that runs, until `undo`."""

    def __init__(
        self, lm: Any, args: Mapping[str, Any], ours: Callable[[Any], bool], *, batches: Any = None
    ) -> None:
        self._lm, self._ours = lm, ours
        self._before, self._concurrent = lm.generate_until, lm._concurrent
        lm._concurrent = max(concurrency(lm), int(getattr(lm, "_batch_size", 1) or 1))
        self._client = ModelClient("the model under test", lm, args, batches=batches)
        lm.__dict__["generate_until"] = self._generate_until

    def undo(self) -> None:
        """Give the backend its own method and concurrency back."""
        self._lm.__dict__.pop("generate_until", None)
        self._lm._concurrent = self._concurrent

    def _generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[Any]:
        replies: list[Any] = [None] * len(requests)
        ours = [i for i, request in enumerate(requests) if self._ours(request)]
        others = [i for i in range(len(requests)) if i not in {*ours}]
        if others:
            given = self._before([requests[i] for i in others], disable_tqdm=disable_tqdm)
            for i, reply in zip(others, given, strict=True):
                replies[i] = reply
        calls = [ApiRequest(*requests[i].args[:2]) for i in ours]

        def keep(position: int, response: ModelResponse) -> None:
            """Tell the cache hook, as the harness's own backends do."""
            if not isinstance(response, FailedResponse):
                self._lm.cache_hook.add_partial("generate_until", calls[position], response)

        bar = tqdm(total=len(ours), desc="Asking the model", disable=disable_tqdm or not ours)
        with bar, contextlib.closing(self._client.send(calls, keep)) as arriving:
            for arrived in arriving:
                bar.update(len(arrived))
                for i, response in arrived:
                    replies[ours[i]] = response
        return replies
