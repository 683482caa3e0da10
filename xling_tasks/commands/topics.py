"""`xling topics`: the medical topic of every question of some tasks, named once by a judge."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from xling_tasks.commands.cost import load_tasks
from xling_tasks.commands.options import read_metadata, settings_with
from xling_tasks.commands.table import table
from xling_tasks.data.prompts import Prompts
from xling_tasks.data.topics import TOPICS, UNCLASSIFIED, read_list, write_topics
from xling_tasks.models.backend import backend
from xling_tasks.models.fence_key import fences
from xling_tasks.output import many, refuse_file
from xling_tasks.readers.fences import last_statement, said_lines

TRIES = 4
"""How often a question is asked about until a topic of the list is named, as published."""


def topics(options: argparse.Namespace) -> str:
    """Ask about every question once, write question -> topic, and say how many each has.

    Raises:
        SettingError: If no judge is set.
        DataError: If the list cannot be read, or the new file exists.
    """
    settings, (spec,) = settings_with(options, "judge")
    names = TOPICS if options.list is None else read_list(options.list)
    refuse_file(options.to)
    texts = _texts(load_tasks(options.tasks, read_metadata(options.metadata)))
    judge = backend("judge", spec, settings.xling_cache)
    judge.check()
    prompt = Prompts(settings.prompts).get("topic", "en")
    topic_of = _classify(
        texts, names, prompt, judge, fences(settings.xling_cache, settings.fence_key)
    )
    write_topics(options.to, topic_of)
    counts = Counter(topic_of.values())
    order = [*names, UNCLASSIFIED]
    rows = [{"topic": name, "questions": counts[name]} for name in order if counts[name]]
    said = f"{counts[UNCLASSIFIED]} of them {UNCLASSIFIED} after {TRIES} tries"
    shown = f"{options.to}: {many(len(topic_of), 'question')}, {said}. Judge: {judge.signature}"
    return f"{table(rows)}\n\n{shown}"


def _classify(
    texts: Mapping[str, str], names: Sequence[str], prompt: Any, judge: Any, codes: Any
) -> dict[str, str]:
    """Question -> topic; those without a readable reply after `TRIES` tries are unclassified.

    A try that fails is repeated with its number behind the prompt: a greedy judge would only repeat
    itself, and its cache too.
    """
    topic_of: dict[str, str] = {}
    inert = judge.inert
    listed = "\n".join(f"- {name}" for name in names)
    for attempt in range(TRIES):
        left = [question for question in texts if question not in topic_of]
        asked: dict[str, tuple[str, str]] = {}
        for question in left:
            code = codes.code(texts[question], listed, str(attempt))
            text = prompt.fill(question=inert(texts[question]), topics=listed, code=code)
            again = f"\n(Attempt {attempt + 1}: the line must have this form.)" if attempt else ""
            asked[text + again] = (question, code)

        def reads(text: str, reply: str, asked: Any = asked) -> bool:
            return read_topic(reply, asked[text][1], names) is not None

        replies = judge.ask(list(asked), until=("[BEGIN ITEM",), reads=reads) if asked else []
        for (question, code), reply in zip(asked.values(), replies, strict=True):
            topic = read_topic(reply, code, names)
            if topic is not None:
                topic_of[question] = topic
    return {question: topic_of.get(question, UNCLASSIFIED) for question in texts}


def read_topic(reply: str | None, code: str, names: Sequence[str]) -> str | None:
    """The topic of the list that a reply's line with the code names; None where there is none."""
    known = {_plain(name): name for name in names}

    def read(line: str) -> str | None:
        form = re.fullmatch(rf"(?:topic )?\[?{code}\]? ?:? ?(.+)", line)
        return None if form is None else known.get(_plain(form[1]))

    return last_statement(said_lines(reply, [code]), code, read)


def _plain(name: str) -> str:
    return " ".join(re.findall(r"\w+", name.casefold()))


def _texts(tasks: Sequence[Any]) -> dict[str, str]:
    """Question -> its text; one that stands in several languages is asked about in English."""
    texts: dict[str, str] = {}
    for task in tasks:
        for _, doc in (unit for whole in task.test_docs() for unit in task.units(whole)):
            text = doc.get("question") or (doc.get("text") or {}).get("en") or ""
            options = doc.get("options") or {}
            lines = [text, *(f"{letter}. {option}" for letter, option in options.items())]
            if doc.get("language") == "en" or str(doc["question_id"]) not in texts:
                texts[str(doc["question_id"])] = "\n".join(lines)
    return texts
