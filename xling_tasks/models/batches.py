"""The batch interface of a service: a file of requests, within a day, at about half the price.

The form is OpenAI's, which others copy: a file of requests is uploaded, a batch is made of it, and
replies and errors come in two files, in any order, each line under the id of its request. What is
submitted is noted before and after, so that a run that was killed finds its batch again.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from xling_tasks.errors import BackendError
from xling_tasks.log import log
from xling_tasks.models import service as http
from xling_tasks.models.service import (
    Call,
    CallFailed,
    Health,
    Limits,
    ServiceDown,
    messages,
    own_transport,
    reply_in,
)
from xling_tasks.replies.store import ReplyStore, store_of
from xling_tasks.secrets import redact_log

MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000
"""What services take in one file."""

_ENDS = ("/chat/completions", "/completions")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 60.0  # seconds
_KEPT = 30 * 86400.0  # seconds
_GONE = "gone"
_OVER = ("completed", "failed", "expired", "cancelled", _GONE)


@dataclass
class Batch:
    """A batch as it is noted.

    Attributes:
        file: The id of the file of its requests.
        ids: The requests whose replies have not been taken yet.
        id: That of the batch; '' where the run ended before the service told it.
        at: When it was submitted, in seconds since 1970.
    """

    file: str
    ids: list[str]
    id: str = ""
    at: float = field(default_factory=time.time)


_Wanted = dict[str, dict[str, int]]
"""Key of a batch -> id of a request -> its place among the calls."""


Round = Callable[..., Iterator[list[tuple[int, Any]]]]
"""`batch_round` with the store that it notes batches in."""


def batches_of(role: str, lm: Any, folder: Path | None) -> Round:
    """`batch_round`, with batches under way noted in the cache folder, if there is one.

    Raises:
        BackendError: If it asks no service in the known form.
    """
    if not (own_transport(lm) and http.is_plain(lm)):
        raise BackendError(
            f"{role}: batch=true needs a backend that asks a service in OpenAI's form "
            f"(local-chat-completions, openai-chat-completions, ...), not {type(lm).__name__}"
        )
    if not lm.base_url.partition("?")[0].endswith(_ENDS):
        raise BackendError(
            f"{role}: batch=true: base_url must end with /chat/completions or /completions, "
            "beside which the service has /files and /batches"
        )
    if folder is None:
        log.warning(
            "%s: no batch is noted (no cache folder, or xling_resume=false): a run that is stopped "
            "pays again",
            role,
        )
    return functools.partial(batch_round, noted=store_of("batches", folder))


def batch_round(
    lm: Any, calls: Sequence[Call], places: Sequence[int], limits: Limits, health: Health,
    noted: ReplyStore,
) -> Iterator[list[tuple[int, Any]]]:  # fmt: skip
    """Ask by batches: those under way that hold a request, and new ones.

    `noted` is where batches under way are noted, the same in every start of a run.
    """
    service = _Service(lm, limits, health)
    payloads = {i: http.payload(lm, messages(lm, calls[i]), calls[i].gen_kwargs) for i in places}
    under_way = _under_way(noted, service.prefix)
    wanted, rest = _found(under_way, payloads)
    if wanted:
        log.warning(
            "%s: %d requests are in batches that were submitted before; they are not paid again",
            health.name, sum(map(len, wanted.values())),
        )  # fmt: skip
    try:
        for lines in _files(service.endpoint, payloads, rest):
            batch = Batch(service.upload(b"".join(line for _, line in lines.values())), [*lines])
            key = service.prefix + batch.file
            under_way[key], wanted[key] = batch, {request: i for request, (i, _) in lines.items()}
            _note(noted, key, batch)
            batch.id = service.create(batch.file)
            _note(noted, key, batch)
        for key in wanted:
            if not under_way[key].id:  # a run ended between the two notes
                under_way[key].id = service.create(under_way[key].file, perhaps_there=True)
                _note(noted, key, under_way[key])
        yield from _replies(service, calls, {key: under_way[key] for key in wanted}, wanted, noted)
    except CallFailed as failed:
        raise health.down(f"its batch interface: {failed.reason}") from failed


def _under_way(noted: ReplyStore, prefix: str) -> dict[str, Batch]:
    """The batches of a service; those whose results no service has any more go."""
    there = {key: Batch(**json.loads(text)) for key, text in noted.everything().items()}
    old = {key for key, batch in there.items() if batch.at < time.time() - _KEPT}
    noted.forget(old)
    found = sorted(there.keys() - old, key=lambda key: there[key].at)
    return {key: there[key] for key in found if key.startswith(prefix)}


def _found(
    under_way: Mapping[str, Batch], payloads: Mapping[int, Mapping[str, Any]]
) -> tuple[_Wanted, list[int]]:
    """The requests that are in a batch already, and the places of those that are in none.

    Of equal requests the last replies are left: the first ones were kept before the run ended.
    """
    there: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, batch in under_way.items():
        for request in batch.ids:
            there[request.partition(".")[0]].append((key, request))
    equal: dict[str, list[int]] = defaultdict(list)
    for i, payload in payloads.items():
        equal[_digest(payload)].append(i)
    wanted: _Wanted = defaultdict(dict)
    rest: list[int] = []
    for digest, same in equal.items():
        left = there[digest][-len(same) :]
        for (key, request), i in zip(left, same, strict=False):
            wanted[key][request] = i
        rest += same[len(left) :]
    return wanted, sorted(rest)


def _files(
    endpoint: str, payloads: Mapping[int, Mapping[str, Any]], places: Iterable[int]
) -> Iterator[dict[str, tuple[int, bytes]]]:
    """The files of new batches: id -> place and line, as many as a file may have."""
    number: dict[str, int] = defaultdict(int)
    lines: dict[str, tuple[int, bytes]] = {}
    size = 0
    for i in places:
        digest = _digest(payloads[i])
        request = f"{digest}.{number[digest]}"
        number[digest] += 1
        asked = {"custom_id": request, "method": "POST", "url": endpoint, "body": payloads[i]}
        line = json.dumps(asked).encode() + b"\n"
        if lines and (len(lines) >= MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield lines
            lines, size = {}, 0
        lines[request] = (i, line)
        size += len(line)
    if lines:
        yield lines


def _digest(payload: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:40]


def _note(noted: ReplyStore, key: str, batch: Batch) -> None:
    if batch.ids:
        noted.put_many({key: json.dumps(asdict(batch))}, replace=True)
    else:
        noted.forget([key])


def _replies(
    service: _Service, calls: Sequence[Call], open_: dict[str, Batch], wanted: _Wanted,
    noted: ReplyStore,
) -> Iterator[list[tuple[int, Any]]]:  # fmt: skip
    """Wait for batches, and hand over what each brings; then it is noted as taken."""
    wait = _FIRST_WAIT
    counted = dict.fromkeys(open_, 0)
    total = sum(len(batch.ids) for batch in open_.values())
    with tqdm(total=total, desc=f"Batches: {service.health.name}") as bar:
        while open_:
            for key, batch in list(open_.items()):
                told = service.state(batch.id)
                counts = told.get("request_counts") or {}
                counted[key] = sum(int(counts.get(kind) or 0) for kind in ("completed", "failed"))
                bar.set_postfix_str(str(told["status"]), refresh=False)
                if told["status"] not in _OVER:
                    continue
                del open_[key]
                try:
                    given = service.read(told, batch, calls, wanted[key])
                except _Refused:
                    noted.forget([key])
                    raise
                yield given
                # Those equal to what was wanted here were taken before a run ended.
                over = {request.partition(".")[0] for request in wanted[key]}
                batch.ids = [
                    request for request in batch.ids if request.partition(".")[0] not in over
                ]
                _note(noted, key, batch)
            bar.n = min(total, sum(counted.values()))
            bar.refresh()
            if open_:
                yield []
                time.sleep(wait)
                wait = min(_LONGEST_WAIT, 1.3 * wait)


class _Service:
    """Files and batches beside the address of completions."""

    def __init__(self, lm: Any, limits: Limits, health: Health) -> None:
        address, mark, query = lm.base_url.partition("?")
        end = next(end for end in _ENDS if address.endswith(end))
        self.endpoint, self.health = f"/v1{end}", health
        self._root, self._query = address.removesuffix(end), mark + query
        self.prefix = hashlib.sha256(self._root.encode()).hexdigest()[:16] + "/"
        self._lm, self._limits = lm, limits

    def upload(self, content: bytes) -> str:
        """Upload a file of requests; returns its id."""
        file = {"file": ("requests.jsonl", content, "application/jsonl")}
        told = self._call("POST", "/files", files=file, data={"purpose": "batch"}).json()
        return str(told["id"])

    def create(self, file: str, *, perhaps_there: bool = False) -> str:
        """Submit a file, once: if its batch may be there already, it is looked for first."""
        asked = {"input_file_id": file, "endpoint": self.endpoint, "completion_window": "24h"}

        def submit(number: int) -> str:
            found = self._batch_of(file) if number or perhaps_there else None
            return found or str(self._once("POST", "/batches", json=asked).json()["id"])

        return str(self._until_it_works(submit))

    def _batch_of(self, file: str) -> str | None:
        try:
            told = self._call("GET", "/batches", params={"limit": 100}).json()
        except CallFailed:
            log.warning(
                "%s: the service lists no batches; whether %s is in one cannot be told, and it is "
                "submitted", self.health.name, file,
            )  # fmt: skip
            return None
        batches = told.get("data") if isinstance(told, Mapping) else told
        found = (str(each["id"]) for each in batches or () if each.get("input_file_id") == file)
        return next(found, None)

    def state(self, batch: str) -> dict[str, Any]:
        """What the service says of a batch; its status in small letters."""
        try:
            told = self._call("GET", f"/batches/{batch}").json()
        except CallFailed as failed:
            if failed.reason != "status 404":
                raise
            log.warning(
                "%s: the service knows the batch %s no more; what it held is asked for again",
                self.health.name, batch,
            )  # fmt: skip
            return {"status": _GONE}
        return {**told, "status": str(told.get("status")).lower()}

    def read(
        self,
        told: Mapping[str, Any],
        batch: Batch,
        calls: Sequence[Call],
        wanted: Mapping[str, int],
    ) -> list[tuple[int, Any]]:
        """The replies and failures of a batch that is over, in the order of its requests.

        Raises:
            BackendError: If the service refused it as a whole.
        """
        lines = [
            line
            for name in ("output_file_id", "error_file_id")
            if told.get(name)
            for line in self._call("GET", f"/files/{told[name]}/content").content.splitlines()
        ]
        if told["status"] == "failed" and not lines:
            self._refused(told, batch)
        found: dict[str, Any] = {}
        for line in lines:
            request, reply = self._line(line, calls, wanted)
            if request in wanted and (
                request not in found or isinstance(found[request], CallFailed)
            ):
                found[request] = reply
        lost = CallFailed(f"not in the {told['status']} batch")
        given = [(i, found.get(request, lost)) for request, i in wanted.items()]
        for _, reply in given:
            if isinstance(reply, CallFailed):
                self.health.gave_up(CallFailed(reply.reason, down=True))
        if any(not isinstance(reply, CallFailed) for _, reply in given):
            self.health.works()
        return given

    def _refused(self, told: Mapping[str, Any], batch: Batch) -> None:
        errors = (told.get("errors") or {}).get("data") or ()
        said = "; ".join(dict.fromkeys(str(each.get("message")) for each in errors)) or "no reason"
        raise _Refused(
            f"{self.health.name}: the service refused batch {batch.id}: {redact_log(said)[:400]}. "
            "Nothing of it is paid; ask without batch=true, or for less (--limit, --samples)"
        )

    def _line(
        self, line: bytes, calls: Sequence[Call], wanted: Mapping[str, int]
    ) -> tuple[str, Any]:
        """The id on a line of a file of results, and what it says."""
        try:
            told = json.loads(line)
            request = str(told["custom_id"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return "", CallFailed("no JSON in a line of the results")
        if request not in wanted:
            return request, CallFailed("of another request")
        answered = told.get("response") or {}
        status = int(answered.get("status_code") or 0)
        try:
            if status >= 400:
                return request, http.refused(status, {}, json.dumps(answered.get("body")))
            if told.get("error") or not answered:
                error = told.get("error")
                code = error.get("code") if isinstance(error, Mapping) else None
                return request, CallFailed(f"batch error {code or 'without a code'}")
            call = calls[wanted[request]]
            return request, reply_in(self._lm, call, answered.get("body"))
        except CallFailed as failed:
            return request, failed

    def _call(self, method: str, path: str, **more: Any) -> Any:
        """A request that may be made again."""
        return self._until_it_works(lambda _: self._once(method, path, **more))

    def _until_it_works(self, ask: Callable[[int], Any]) -> Any:
        """What comes of an attempt, which is told how many there were before."""
        for number in itertools.count():
            try:
                return ask(number)
            except CallFailed as failed:
                self.health.attempt_failed(failed)
                over = self._limits.strict and number + 1 >= self._limits.attempts
                if over or not failed.again:
                    raise
                self.health.check()  # raises where nothing has come for minutes
                wait = min(30.0, 0.5 * 2 ** (number + 1)) if failed.wait is None else failed.wait
                time.sleep(wait)
        raise AssertionError("an attempt returns or raises")

    def _once(self, method: str, path: str, **more: Any) -> Any:
        import requests

        lm = self._lm
        headers = {k: v for k, v in lm.header.items() if k.lower() != "content-type"}
        verify = bool(getattr(lm, "verify_certificate", True))
        try:
            reply = requests.request(
                method, f"{self._root}{path}{self._query}", headers=headers,
                timeout=self._limits.timeout,
                verify=getattr(lm, "ca_cert_path", None) or True if verify else False, **more,
            )  # fmt: skip
        except requests.Timeout as error:
            raise CallFailed("time-out", down=True) from error
        except requests.RequestException as error:
            raise CallFailed(f"no connection ({type(error).__name__})", down=True) from error
        if reply.status_code >= 400:
            http.refused(reply.status_code, reply.headers, reply.text)
            raise CallFailed("content filter", again=False)
        self.health.works()
        return reply


class _Refused(ServiceDown):
    """A batch that a service does not take."""
