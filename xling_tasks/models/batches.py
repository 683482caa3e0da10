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

from xling_tasks.cache.response_cache import open_cache
from xling_tasks.errors import BackendError
from xling_tasks.failed_response import ModelResponse
from xling_tasks.log import log
from xling_tasks.models.completions import parse_body, parse_error_status
from xling_tasks.models.http_api import ApiRequest, build_payload, is_api_backend, posts_plainly
from xling_tasks.models.retry import RequestFailed, ServiceUnavailable, Settle
from xling_tasks.secrets import redact_log

MAX_REQUESTS, MAX_BYTES = 50_000, 100_000_000  # in one file, as services take it
MAX_RESULT = 2**16  # bytes of a response in a file of results, on average

_ENDPOINTS = ("/chat/completions", "/completions")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 60.0  # seconds between two looks at a batch
_GONE = "gone"
_ENDED = ("completed", "failed", "expired", "cancelled", _GONE)

Batch = dict[str, Any]
"""A batch as it is noted: `id`, and `ids` of requests whose responses were not taken yet."""


class BatchInterface:
    """Files and batches beside the address of completions, noted in the cache folder.

    Raises:
        BackendError: If the backend asks no service in the known form.
    """

    def __init__(self, role: str, lm: Any, folder: Path | None) -> None:
        if not (is_api_backend(lm) and posts_plainly(lm)):
            raise BackendError(
                f"{role}: batch=true needs a backend that asks a service in OpenAI's form "
                f"(local-chat-completions, openai-chat-completions, ...), not {type(lm).__name__}"
            )
        address, mark, query = lm.base_url.partition("?")
        end = next((end for end in _ENDPOINTS if address.endswith(end)), None)
        if end is None:
            raise BackendError(
                f"{role}: batch=true: base_url must end with /chat/completions or /completions, "
                "beside which the service has /files and /batches"
            )
        if folder is None:
            log.warning(
                "%s: no batch is noted (no cache folder): a run that is stopped pays again", role
            )
        self._lm, self._endpoint, self._query = lm, f"/v1{end}", mark + query
        self._root = address.removesuffix(end)
        self.noted = open_cache("batches", folder)

    def send(
        self, client: Any, requests: Sequence[ApiRequest], positions: Sequence[int], settle: Settle
    ) -> None:
        """Ask by batches: those under way that hold a request, and new ones.

        Args:
            client: The `ModelClient` whose policy and breaker apply.
            requests: All requests of a call.
            positions: Those to send.
            settle: Called with what comes of each.
        """
        self._client = client
        payloads = {i: build_payload(self._lm, requests[i]) for i in positions}
        try:
            self._wait(*self._submit(payloads), settle)
        except RequestFailed as failure:
            raise client.breaker.unavailable(f"its batch interface: {failure.reason}") from failure

    def _submit(
        self, payloads: Mapping[int, Any]
    ) -> tuple[dict[str, Batch], dict[str, dict[str, int]]]:
        """Submit what is in no batch yet.

        Returns:
            All batches with requests of this run, and for each the positions of its requests by id.
        """
        prefix = hashlib.sha256(self._root.encode()).hexdigest()[:16] + "/"
        batches = {key: b for key, b in self.noted.get_all().items() if key.startswith(prefix)}
        positions_of, remaining = _find(batches, payloads)
        if positions_of:
            log.warning(
                "%s: %d requests are in batches submitted before; they are not paid again",
                self._client.role, sum(map(len, positions_of.values())),
            )  # fmt: skip
        for lines in _split_files(self._endpoint, payloads, remaining):
            content = b"".join(line for _, line in lines.values())
            file = {"file": ("requests.jsonl", content, "application/jsonl")}
            uploaded = self._call("POST", "/files", files=file, data={"purpose": "batch"})
            key = prefix + str(uploaded["id"])
            batches[key] = {"id": self._create(uploaded["id"]), "ids": [*lines]}
            self.noted.put_many({key: batches[key]})
            positions_of[key] = {request: i for request, (i, _) in lines.items()}
        return {key: batches[key] for key in positions_of}, positions_of

    def _wait(
        self,
        batches: dict[str, Batch],
        positions_of: Mapping[str, Mapping[str, int]],
        settle: Settle,
    ) -> None:
        """Wait for batches, and settle what each brings."""
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
        self, state: Mapping[str, Any], key: str, batch: Batch, positions_of: Mapping[str, int],
        settle: Settle,
    ) -> None:  # fmt: skip
        """Settle the requests of a batch that has ended, and note what of it is not taken yet.

        Raises:
            ServiceUnavailable: If the service refused it as a whole.
        """
        limit = MAX_RESULT * max(len(batch["ids"]), 1000)
        lines: list[bytes] = []
        for name in ("output_file_id", "error_file_id"):
            if state.get(name):
                lines += self._read(f"/files/{state[name]}/content", limit).splitlines()
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
            if isinstance(item, RequestFailed):
                self._client.breaker.record_failure(item)
            else:
                self._client.breaker.record_response()
            settle(i, item)
        # Requests equal to what was wanted here were taken before a run ended.
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
            ids = [
                row["id"] for row in response.get("data", ()) if row.get("input_file_id") == file
            ]
            created = ids or [json.loads(self._once("POST", "/batches", json=body))["id"]]
            return str(created[0])

        return str(self._retry(submit))

    def _state(self, batch: str) -> dict[str, Any]:
        """Return what the service says of a batch; its status in lower case."""
        try:
            state = self._call("GET", f"/batches/{batch}")
        except RequestFailed as failure:
            if failure.reason != "status 404":
                raise
            return {"status": _GONE}  # its requests are sent again
        return {**state, "status": str(state.get("status")).lower()}

    def _parse_line(self, line: bytes) -> tuple[str, ModelResponse | RequestFailed]:
        """Return the id on a line of a file of results, and what it says."""
        request = ""
        try:
            row = json.loads(line)
            request = str(row["custom_id"])
            response, error = row.get("response") or {}, row.get("error")
            if (status := int(response.get("status_code") or 0)) >= 400:
                return request, parse_error_status(status, {}, json.dumps(response.get("body")))
            if error or not response:
                code = error.get("code") if isinstance(error, Mapping) else None
                return request, RequestFailed(f"batch error {code or 'without a code'}")
            return request, parse_body(self._lm, response.get("body"))
        except RequestFailed as failure:
            return request, failure
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return request, RequestFailed("no JSON in a line of the results")

    def _call(self, method: str, path: str, **options: Any) -> Any:
        return self._retry(lambda _: json.loads(self._once(method, path, **options)))

    def _read(self, path: str, limit: int) -> bytes:
        return bytes(self._retry(lambda _: self._once("GET", path, limit)))

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

    def _once(self, method: str, path: str, limit: int = MAX_BYTES, **options: Any) -> bytes:
        """Return the body of one response."""
        import requests

        headers = {k: v for k, v in self._lm.header.items() if k.lower() != "content-type"}
        verify = getattr(self._lm, "ca_cert_path", None) or True
        try:
            with requests.request(
                method, f"{self._root}{path}{self._query}", headers=headers, stream=True,
                timeout=self._client.policy.timeout,
                verify=verify if getattr(self._lm, "verify_certificate", True) else False,
                **options,
            ) as response:  # fmt: skip
                data = bytearray()
                for chunk in response.iter_content(2**16):
                    data += chunk
                    if len(data) > limit:
                        raise RequestFailed(f"a body of more than {limit:,} bytes", retry=False)
        except requests.Timeout as error:
            raise RequestFailed("time-out") from error
        except requests.RequestException as error:
            raise RequestFailed(f"no connection ({type(error).__name__})") from error
        if response.status_code >= 400:
            text = data.decode("utf-8", "replace")
            parse_error_status(response.status_code, response.headers, text)
            raise RequestFailed("content filter", retry=False)
        self._client.breaker.record_response()
        return bytes(data)


def _find(
    batches: Mapping[str, Batch], payloads: Mapping[int, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, int]], list[int]]:
    """Return the requests that are in a batch already, and the positions of those in none.

    Of equal requests the last responses are left: the first ones were taken before the run ended.
    """
    in_batches: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, batch in batches.items():
        for request in batch["ids"]:
            in_batches[request.partition(".")[0]].append((key, request))
    equal: dict[str, list[int]] = defaultdict(list)
    for i, payload in payloads.items():
        equal[_digest(payload)].append(i)
    positions_of: dict[str, dict[str, int]] = defaultdict(dict)
    remaining: list[int] = []
    for digest, positions in equal.items():
        unclaimed = in_batches[digest][-len(positions) :]
        for (key, request), i in zip(unclaimed, positions, strict=False):
            positions_of[key][request] = i
        remaining += positions[len(unclaimed) :]
    return positions_of, sorted(remaining)


def _split_files(
    endpoint: str, payloads: Mapping[int, Mapping[str, Any]], positions: Sequence[int]
) -> Iterator[dict[str, tuple[int, bytes]]]:
    """Yield the files of new batches: id -> position and line, as many as a file may have."""
    number: dict[str, int] = defaultdict(int)
    lines: dict[str, tuple[int, bytes]] = {}
    size = 0
    for i in positions:
        digest = _digest(payloads[i])
        request = f"{digest}.{number[digest]}"
        number[digest] += 1
        row = {"custom_id": request, "method": "POST", "url": endpoint, "body": payloads[i]}
        line = json.dumps(row).encode() + b"\n"
        if lines and (len(lines) >= MAX_REQUESTS or size + len(line) > MAX_BYTES):
            yield lines
            lines, size = {}, 0
        lines[request] = (i, line)
        size += len(line)
    if lines:
        yield lines


def _digest(payload: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:40]
