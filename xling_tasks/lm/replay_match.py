"""Which logged answers belong to a request; where there are none, what differs and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.logs.replay_log import AnyLog, Entry, LoggedRequest
from xling_tasks.logs.replay_prompts import ChatPrompt
from xling_tasks.logs.results import as_json

_AROUND = 30


class Asked(NamedTuple):
    """A request, and the log that it is looked for in.

    `argument` has its generation arguments, or the continuation to score.
    """

    log: AnyLog
    doc: Mapping[str, Any]
    doc_id: int
    kind: str
    prompt: str
    argument: Any

    @property
    def question(self) -> str:
        """The question's id, else the document's number."""
        name = self.doc.get("question_id")
        return f"document {self.doc_id}" if name is None else f"question {name!r}"

    def __str__(self) -> str:
        """How messages begin."""
        return f"{self.log.task}, {self.question}"


def match(asked: Asked, digest: str) -> tuple[tuple[int, ...], list[Any]]:
    """The logged answers to a request, with the places of their requests in the document's line.

    Raises:
        DataError: If the document, the prompt or the arguments are not those that were logged.
    """
    entry = asked.log.index.get(digest)
    if entry is None:
        raise _no_document(asked)
    requests = entry.log.requests(entry)
    prompted = _prompted(asked, entry, requests)
    templated = asked.log.template is not None and not isinstance(asked.prompt, ChatPrompt)
    wanted = asked.argument
    if asked.kind == "loglikelihood" and templated:
        wanted = wanted.removeprefix(" ")  # after a chat template words start without a space
    places = [place for place in prompted if _fits(requests[place].argument, wanted)]
    if not places:
        raise _no_arguments(asked, entry, [requests[place] for place in prompted])
    return tuple(places), [reply for place in places for reply in requests[place].replies]


def _prompted(asked: Asked, entry: Entry, requests: Sequence[LoggedRequest]) -> list[int]:
    """The places of the requests that have the prompt asked for, and the least beside it."""
    slack = {
        place: beside
        for place, request in enumerate(requests)
        if request.kind == asked.kind and (beside := request.prompt.slack(asked.prompt)) is not None
    }
    if not slack:
        raise _no_prompt(asked, entry, requests)
    least = [place for place, beside in slack.items() if beside == min(slack.values())]
    if len({repr(requests[place].prompt) for place in least}) > 1:
        raise DataError(
            f"{asked}: several prompts in {entry.path}, row {entry.row} hold the prompt asked for; "
            "replay with --apply_chat_template as in the run"
        )
    return least


def _no_document(asked: Asked) -> DataError:
    log = asked.log
    known = asked.doc.get("question_id")
    entry = None if known is None else log.questions.get(str(known))
    if entry is None:
        return DataError(
            f"{asked}: not among the {len(log.index)} documents that run {log.run} logged "
            f"({log.paths[0]}); replay with a --limit of at most {len(log.index)}, or another run "
            "with --model_args path=...,run=... (an unknown name lists the runs)"
        )
    return DataError(
        f"{asked}: the document's content is not what it was in {entry.path}, row {entry.row}"
        f"{_fields(asked.doc, entry.log.row(entry).get('doc'))}; replay with the data and settings "
        "of the run (data_dir, languages), or generate again"
    )


def _fields(now: Mapping[str, Any], then: Any) -> str:
    """The fields that differ, where the document was logged whole."""
    if not isinstance(then, Mapping):
        return ""
    keys = [*now, *(key for key in then if key not in now)]
    names = [key for key in keys if as_json(now.get(key)) != as_json(then.get(key))]
    return f" (differing: {', '.join(names)})"


def _no_prompt(asked: Asked, entry: Entry, requests: Sequence[LoggedRequest]) -> DataError:
    where = f"{entry.path}, row {entry.row}"
    kinds = sorted({request.kind for request in requests})
    if asked.kind not in kinds:
        return DataError(f"{asked}: {where} holds {', '.join(kinds)} requests, no {asked.kind}")
    templated, chat = asked.log.template is not None, isinstance(asked.prompt, ChatPrompt)
    if chat and not templated:
        advice = "the run applied no chat template: leave out --apply_chat_template"
    elif templated and not chat:
        advice = (
            "the run applied a chat template: add --apply_chat_template, with its "
            "--system_instruction and --fewshot_as_multiturn"
        )
    else:
        advice = (
            "replay with the run's prompts, prompt_language, --num_fewshot, --fewshot_as_multiturn "
            "and --system_instruction"
        )
    then = next((r.prompt.text() for r in requests if r.kind == asked.kind), None)
    now = asked.prompt.messages[-1]["content"] if isinstance(asked.prompt, ChatPrompt) else None
    shown = "" if then is None else _difference(then, str(now or asked.prompt))
    return DataError(f"{asked}: the prompt is not the one in {where}{shown}; {advice}")


def _difference(then: str, now: str) -> str:
    """Where two prompts begin to differ."""
    pairs = zip(then, now, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(then), len(now)))
    start = max(0, at - _AROUND)
    end = at + _AROUND
    return f" (from character {at} on: {then[start:end]!r} then, {now[start:end]!r} now)"


def _no_arguments(asked: Asked, entry: Entry, logged: Sequence[LoggedRequest]) -> DataError:
    where = f"{entry.path}, row {entry.row}"
    if asked.kind != "generate_until":
        texts = ", ".join(repr(request.argument) for request in logged)
        return DataError(
            f"{asked}: the continuation {asked.argument!r} is not in {where}, which has {texts}; "
            "replay with --apply_chat_template if and only if the run had it"
        )
    now = asked.argument
    temperatures = list(dict.fromkeys(r.argument.get("temperature") for r in logged))
    if now.get("temperature") not in temperatures:
        return DataError(
            f"{asked}: temperature {now.get('temperature')} is not logged in {where}; logged: "
            f"{', '.join(map(str, temperatures))}. Ask for these with --metadata "
            f"temperatures={as_json(temperatures)} or --gen_kwargs temperature=..., as in the run"
        )
    alike = [r.argument for r in logged if r.argument.get("temperature") == now.get("temperature")]
    then = alike[0]
    keys = [key for key in {**then, **now} if then.get(key) != now.get(key)]
    listed = "; ".join(f"{key} is {now.get(key)!r}, was {then.get(key)!r}" for key in keys)
    return DataError(
        f"{asked}: the generation arguments are not those in {where}: {listed}. Replay with the "
        "--gen_kwargs of the run"
    )


def _fits(logged: Any, wanted: Any) -> bool:
    """Whether what was asked with some arguments answers what is asked for with others.

    The seed only says which answer it was.
    """
    if not isinstance(logged, Mapping) or not isinstance(wanted, Mapping):
        return bool(logged == wanted)
    then, now = ({k: v for k, v in a.items() if k != "seed"} for a in (logged, wanted))
    return then == now
