"""The batch interface of a service: a file of requests, within a day, at about half the price.

The form is OpenAI's, which others copy: a file of requests is uploaded, a batch is made of it, and
responses and errors come in two files, in any order, each line under the id of its request. A batch
is noted as soon as it has an id, so that a run that was killed finds it again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from xling_tasks.cache import open_cache
from xling_tasks.errors import BackendError
from xling_tasks.failed_response import ModelResponse
from xling_tasks.log import log
from xling_tasks.models.http_api import (
    ApiRequest,
    build_payload,
    is_api_backend,
    parse_body,
    parse_error_status,
    posts_plainly,
)
from xling_tasks.models.retry import RequestFailed, ServiceUnavailable, Settle
from xling_tasks.secrets import redact_log

MAX_REQUESTS, MAX_BYTES = 50_000, 100_000_000  # in one file, as services take it

_ENDPOINTS = ("/chat/completions", "/completions")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 60.0  # seconds between two looks at a batch
_GONE = "gone"
_ENDED = ("completed", "failed", "expired", "cancelled", _GONE)


class BatchInterface:
    """Files and batches beside the address of completions, noted in the cache folder.

    `noted` has for each batch its `id`, and `ids` of requests whose responses were not taken yet:
    a digest of the request, a dot, and a number.
    """

    def __init__(self, role: str, lm: Any, folder: Path | None) -> None:
        is_plain = is_api_backend(lm) and posts_plainly(lm)
        address, mark, query = str(getattr(lm, "base_url", None)).partition("?")
        end = next((end for end in _ENDPOINTS if address.endswith(end)), None)
        if not is_plain or end is None:
            raise BackendError(
                f"{role}: batch=true needs a backend that asks a service in OpenAI's form "
                "(local-chat-completions, openai-chat-completions, ...) at an address that ends "
                f"with /chat/completions or /completions, not {type(lm).__name__}"
            )
        if folder is None:
            log.warning("%s: no cache folder: a run of batches that is stopped pays again", role)
        self._lm, self._endpoint, self._query = lm, f"/v1{end}", mark + query
        self._root = address.removesuffix(end)
        self.noted = open_cache("batches", folder)

    def send(self, client: Any, requests: Sequence[ApiRequest], settle: Settle) -> None:
        """Ask by batches: those under way that hold a request, and new ones.

        What failed in a batch (an expired one) is sent once more. Of the client its policy and
        breaker apply.
        """
        self._client = client
        payloads = {i: build_payload(self._lm, request) for i, request in enumerate(requests)}
        unsent: dict[int, Any] = {}

        def settle_or_repeat(i: int, item: ModelResponse | RequestFailed) -> None:
            if isinstance(item, RequestFailed) and item.retry:
                unsent[i] = payloads[i]
            else:
                settle(i, item)

        try:
            self._wait(self._submit(payloads), settle_or_repeat)
            if unsent:
                self._wait(self._submit(unsent), settle)
        except RequestFailed as failure:
            raise client.breaker.unavailable(f"its batch interface: {failure.reason}") from failure

    def _submit(self, payloads: Mapping[int, Any]) -> dict[str, dict[str, int]]:
        """Submit what is in no batch yet; return, by batch, the positions of its requests by id."""
        prefix = hashlib.sha256(self._root.encode()).hexdigest()[:16] + "/"
        remaining: dict[str, list[int]] = defaultdict(list)
        for i, payload in payloads.items():
            text = json.dumps(payload, sort_keys=True)
            remaining[hashlib.sha256(text.encode()).hexdigest()[:40]].append(i)
        positions_of: dict[str, dict[str, int]] = defaultdict(dict)
        for key, batch in self.noted.get_all().items():
            for request in reversed(batch["ids"]) if key.startswith(prefix) else ():
                if positions := remaining[request.partition(".")[0]]:
                    positions_of[key][request] = positions.pop()
        if positions_of:
            log.warning(
                "%s: %d requests are in batches submitted before; they are not paid again",
                self._client.role, sum(map(len, positions_of.values())),
            )  # fmt: skip
        ids = sorted((i, f"{digest}.{i}") for digest, same in remaining.items() for i in same)
        for lines in _split_files(self._endpoint, payloads, ids):
            file = {"file": ("requests.jsonl", b"".join(lines.values()), "application/jsonl")}
            uploaded = self._call("POST", "/files", files=file, data={"purpose": "batch"})
            key = prefix + str(uploaded["id"])
            self.noted.put_many({key: {"id": self._create(uploaded["id"]), "ids": [*lines]}})
            positions_of[key] = {request: int(request.partition(".")[2]) for request in lines}
        return positions_of

    def _wait(self, positions_of: Mapping[str, Mapping[str, int]], settle: Settle) -> None:
        """Wait for batches, and settle what each brings."""
        batches = self.noted.get_many(positions_of)
        wait, done = _FIRST_WAIT, dict.fromkeys(batches, 0)
        total = sum(len(batch["ids"]) for batch in batches.values())
        with tqdm(total=total, desc=f"Batches: {self._client.role}") as bar:
            while batches:
                for key, batch in list(batches.items()):
                    state = self._state(batch["id"])
                    counts = state.get("request_counts") or {}
                    done[key] = sum(int(counts.get(kind) or 0) for kind in ("completed", "failed"))
                    if state["status"] in _ENDED:
                        self._take(state, key, batches.pop(key), positions_of[key], settle)
                bar.n = min(total, sum(done.values()))
                bar.refresh()
                if batches:
                    time.sleep(wait)
                    wait = min(_LONGEST_WAIT, 1.3 * wait)

    def _take(
        self, state: Mapping[str, Any], key: str, batch: Mapping[str, Any],
        positions_of: Mapping[str, int], settle: Settle,
    ) -> None:  # fmt: skip
        """Settle the requests of a batch that has ended; note what of it was not asked for here."""
        lines: list[bytes] = []
        for name in ("output_file_id", "error_file_id"):
            if state.get(name):
                lines += self._read(f"/files/{state[name]}/content").splitlines()
        if state["status"] == "failed" and not lines:
            self.noted.discard([key])
            errors = (state.get("errors") or {}).get("data") or ()
            texts = dict.fromkeys(str(error.get("message")) for error in errors)
            raise ServiceUnavailable(
                f"{self._client.role}: the service refused batch {batch['id']}: "
                f"{redact_log('; '.join(texts) or 'no reason')[:400]}. Nothing of it is paid; ask "
                "without batch=true, or for less (--limit, --samples)"
            )
        results: dict[str, ModelResponse | RequestFailed] = {}
        for request, item in map(self._parse_line, lines):
            if not isinstance(results.get(request), ModelResponse):
                results[request] = item
        for request, i in positions_of.items():
            item = results.get(request, RequestFailed(f"not in the {state['status']} batch"))
            settle(i, item)
            if isinstance(item, RequestFailed):
                self._client.breaker.record_failure(item)
            else:
                self._client.breaker.record_response()
        taken = {request.partition(".")[0] for request in positions_of}
        pending = [request for request in batch["ids"] if request.partition(".")[0] not in taken]
        if pending:
            self.noted.put_many({key: {**batch, "ids": pending}})
        else:
            self.noted.discard([key])

    def _create(self, file: str) -> str:
        """Submit a file; before another attempt look whether the first one got through."""
        body = {"input_file_id": file, "endpoint": self._endpoint, "completion_window": "24h"}

        def submit(number: int) -> str:
            response = self._call("GET", "/batches", params={"limit": 100}) if number > 1 else {}
            for row in response.get("data", ()):
                if row.get("input_file_id") == file:
                    return str(row["id"])
            return str(json.loads(self._once("POST", "/batches", json=body))["id"])

        return str(self._retry(submit))

    def _state(self, batch: str) -> dict[str, Any]:
        try:
            state: dict[str, Any] = self._call("GET", f"/batches/{batch}")
            return {**state, "status": str(state.get("status")).lower()}
        except RequestFailed as failure:
            if failure.reason != "status 404":
                raise
            return {"status": _GONE}  # its requests are sent again

    def _parse_line(self, line: bytes) -> tuple[str, ModelResponse | RequestFailed]:
        """Return the id on a line of a file of results, and what it says."""
        request = ""
        try:
            row = json.loads(line)
            request = str(row["custom_id"])
            response, error = row.get("response") or {}, row.get("error") or {}
            if (status := int(response.get("status_code") or 0)) >= 400:
                return request, parse_error_status(status, {}, json.dumps(response.get("body")))
            if error or not response:
                raise RequestFailed(f"batch error {error.get('code') or 'without a code'}")
            return request, parse_body(self._lm, response.get("body"))
        except RequestFailed as failure:
            return request, failure
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return request, RequestFailed("no JSON in a line of the results")

    def _call(self, method: str, path: str, **options: Any) -> Any:
        return self._retry(lambda _: json.loads(self._once(method, path, **options)))

    def _read(self, path: str) -> bytes:
        return bytes(self._retry(lambda _: self._once("GET", path)))

    def _retry(self, attempt: Callable[[int], Any]) -> Any:
        """Return what an attempt returns, which is given its number."""
        policy, breaker = self._client.policy, self._client.breaker
        for number in itertools.count(1):
            try:
                return attempt(number)
            except RequestFailed as error:
                failure = error
            except ValueError:
                failure = RequestFailed("no JSON in the body")
            breaker.record_attempt(failure)
            if not failure.retry or (policy.strict and number >= policy.attempts):
                raise failure
            breaker.check()  # raises where nothing has come for minutes
            time.sleep(policy.wait(failure, number))

    def _once(self, method: str, path: str, **options: Any) -> bytes:
        """Return the body of one response."""
        import requests

        headers = {k: v for k, v in self._lm.header.items() if k.lower() != "content-type"}
        verify = getattr(self._lm, "ca_cert_path", None) or True
        try:
            response = requests.request(
                method, f"{self._root}{path}{self._query}", headers=headers,
                timeout=self._client.policy.timeout,
                verify=verify if getattr(self._lm, "verify_certificate", True) else False,
                **options,
            )  # fmt: skip
        except requests.Timeout as error:
            raise RequestFailed("time-out") from error
        except requests.RequestException as error:
            raise RequestFailed(f"no connection ({type(error).__name__})") from error
        if response.status_code >= 400:
            parse_error_status(response.status_code, response.headers, response.text)
            raise RequestFailed("content filter", retry=False)
        self._client.breaker.record_response()
        return response.content


def _split_files(
    endpoint: str, payloads: Mapping[int, Any], ids: Sequence[tuple[int, str]]
) -> Iterator[dict[str, bytes]]:
    """Yield the files of new batches, as lines by request id, as many as a file may have."""
    lines: dict[str, bytes] = {}
    size = 0
    for i, request in ids:
        row = {"custom_id": request, "method": "POST", "url": endpoint, "body": payloads[i]}
        line = json.dumps(row).encode() + b"\n"
        if lines and (len(lines) >= MAX_REQUESTS or size + len(line) > MAX_BYTES):
            yield lines
            lines, size = {}, 0
        lines[request] = line
        size += len(line)
    if lines:
        yield lines
