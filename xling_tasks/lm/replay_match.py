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
        """Return how messages begin."""
        return f"{self.log.task}, {self.question}"


def match(lookup: Asked, digest: str) -> tuple[tuple[int, ...], list[Any]]:
    """Return the logged responses to a request, with the positions of their requests.

    Raises:
        DataError: If the document, the prompt or the arguments are not those that were logged.
    """
    entry = lookup.log.index.get(digest)
    if entry is None:
        raise _no_document(lookup)
    requests = entry.log.requests(entry)
    prompted = _prompted(lookup, entry, requests)
    templated = lookup.log.template is not None and not isinstance(lookup.prompt, ChatPrompt)
    argument = lookup.argument
    if lookup.kind == "loglikelihood" and templated:
        argument = argument.removeprefix(" ")  # after a chat template words start without a space
    positions = [position for position in prompted if _fits(requests[position].argument, argument)]
    if not positions:
        raise _no_arguments(lookup, entry, [requests[position] for position in prompted])
    return tuple(positions), [
        reply for position in positions for reply in requests[position].replies
    ]


def _prompted(lookup: Asked, entry: Entry, requests: Sequence[LoggedRequest]) -> list[int]:
    """Return the positions of the requests that have the prompt, with the fewest extra texts."""
    extra_texts = {
        position: extra
        for position, request in enumerate(requests)
        if request.kind == lookup.kind
        and (extra := request.prompt.slack(lookup.prompt)) is not None
    }
    if not extra_texts:
        raise _no_prompt(lookup, entry, requests)
    least = [
        position for position, extra in extra_texts.items() if extra == min(extra_texts.values())
    ]
    if len({repr(requests[position].prompt) for position in least}) > 1:
        raise DataError(
            f"{lookup}: several prompts in {entry.path}, row {entry.row} hold the prompt; "
            "replay with --apply_chat_template as in the run"
        )
    return least


def _no_document(lookup: Asked) -> DataError:
    log = lookup.log
    question_id = lookup.doc.get("question_id")
    entry = None if question_id is None else log.questions.get(str(question_id))
    if entry is None:
        return DataError(
            f"{lookup}: not among the {len(log.index)} documents that run {log.run} logged "
            f"({log.paths[0]}); replay with a --limit of at most {len(log.index)}, or another run "
            "with --model_args path=...,run=... (an unknown name lists the runs)"
        )
    return DataError(
        f"{lookup}: the document's content is not what it was in {entry.path}, row {entry.row}"
        f"{_fields(lookup.doc, entry.log.row(entry).get('doc'))}; replay with the data and "
        "settings of the run (data_dir, languages), or generate again"
    )


def _fields(now: Mapping[str, Any], then: Any) -> str:
    """Describe the fields that differ, where the document was logged whole."""
    if not isinstance(then, Mapping):
        return ""
    keys = [*now, *(key for key in then if key not in now)]
    names = [key for key in keys if as_json(now.get(key)) != as_json(then.get(key))]
    return f" (differing: {', '.join(names)})"


def _no_prompt(lookup: Asked, entry: Entry, requests: Sequence[LoggedRequest]) -> DataError:
    location = f"{entry.path}, row {entry.row}"
    kinds = sorted({request.kind for request in requests})
    if lookup.kind not in kinds:
        return DataError(
            f"{lookup}: {location} holds {', '.join(kinds)} requests, no {lookup.kind}"
        )
    templated, chat = lookup.log.template is not None, isinstance(lookup.prompt, ChatPrompt)
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
    then = next((r.prompt.text() for r in requests if r.kind == lookup.kind), None)
    now = lookup.prompt.messages[-1]["content"] if isinstance(lookup.prompt, ChatPrompt) else None
    difference = "" if then is None else _difference(then, str(now or lookup.prompt))
    return DataError(f"{lookup}: the prompt is not the one in {location}{difference}; {advice}")


def _difference(then: str, now: str) -> str:
    """Describe where two prompts begin to differ."""
    pairs = zip(then, now, strict=False)
    position = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(then), len(now)))
    start = max(0, position - _AROUND)
    end = position + _AROUND
    return f" (from character {position} on: {then[start:end]!r} then, {now[start:end]!r} now)"


def _no_arguments(lookup: Asked, entry: Entry, logged: Sequence[LoggedRequest]) -> DataError:
    location = f"{entry.path}, row {entry.row}"
    if lookup.kind != "generate_until":
        texts = ", ".join(repr(request.argument) for request in logged)
        return DataError(
            f"{lookup}: the continuation {lookup.argument!r} is not in {location}, which has "
            f"{texts}; replay with --apply_chat_template if and only if the run had it"
        )
    now = lookup.argument
    temperatures = list(dict.fromkeys(r.argument.get("temperature") for r in logged))
    if now.get("temperature") not in temperatures:
        return DataError(
            f"{lookup}: temperature {now.get('temperature')} is not logged in {location}; logged: "
            f"{', '.join(map(str, temperatures))}. Ask for these with --metadata "
            f"temperatures={as_json(temperatures)} or --gen_kwargs temperature=..., as in the run"
        )
    alike = [r.argument for r in logged if r.argument.get("temperature") == now.get("temperature")]
    then = alike[0]
    keys = [key for key in {**then, **now} if then.get(key) != now.get(key)]
    differences = "; ".join(f"{key} is {now.get(key)!r}, was {then.get(key)!r}" for key in keys)
    return DataError(
        f"{lookup}: the generation arguments are not those in {location}: {differences}. Replay "
        "with the --gen_kwargs of the run"
    )


def _fits(logged: Any, requested: Any) -> bool:
    """Return whether a request with some arguments answers one with others.

    The seed only says which answer it was.
    """
    if not isinstance(logged, Mapping) or not isinstance(requested, Mapping):
        return bool(logged == requested)
    then, now = ({k: v for k, v in a.items() if k != "seed"} for a in (logged, requested))
    return then == now
