"""`xling topics`: the medical topic of every question of some tasks, named once by a judge."""

from __future__ import annotations

import argparse
from collections import Counter

from xling_tasks.commands import options as arguments
from xling_tasks.commands.cost import load_tasks
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.topics import TOPICS, UNCLASSIFIED, read_list, write_topics
from xling_tasks.errors import user_path
from xling_tasks.models.backend import load_backend
from xling_tasks.models.structured_output import ask_json, object_schema, quote_material
from xling_tasks.output import many, refuse_file, table


def topics(options: argparse.Namespace) -> str:
    """Ask about every question once, write the topics, and say how many each has."""
    settings, (spec,) = arguments.settings_with(options, "judge")
    names = TOPICS if options.list is None else read_list(options.list)
    refuse_file(options.to)
    texts: dict[tuple[str, str], str] = {}  # of several languages the English one
    for task in load_tasks(options.tasks, arguments.read_metadata(options.metadata)):
        for doc in task.test_docs():
            text = doc.get("question") or (doc.get("text") or {}).get("en") or ""
            choices = (doc.get("options") or {}).items()
            key = task.record.dataset, str(doc["question_id"])
            if doc.get("language") == "en" or key not in texts:
                lines = [text, *(f"{letter}. {option}" for letter, option in choices)]
                texts[key] = "\n".join(lines)
    judge = load_backend("judge", spec, settings.xling_cache)
    judge.check()
    prompt = PromptTemplates(settings.prompt_templates).get("topic", "en")
    listing = "\n".join(f"- {name}" for name in names)
    prompts = {key: prompt.fill(material=quote_material(question=text), topics=listing)
               for key, text in texts.items()}  # fmt: skip
    responses = ask_json(judge, [*prompts.values()], object_schema(topic=[*names]))
    topic_of = {}  # those without a readable reply are unclassified
    for key, text in prompts.items():
        value = responses[text].value
        topic_of[key] = value["topic"] if value else UNCLASSIFIED
    write_topics(options.to, topic_of)
    counts = Counter(topic_of.values())
    order = [*names, UNCLASSIFIED]
    rows = [{"topic": name, "questions": counts[name]} for name in order if counts[name]]
    return (
        f"{table(rows)}\n\n{options.to}: {many(len(topic_of), 'question')}, "
        f"{counts[UNCLASSIFIED]} of them {UNCLASSIFIED}. Judge: {judge.signature}"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling topics`."""
    arguments.add_tasks(parser)
    text = "your own list of topics, one per line"
    parser.add_argument("--list", type=user_path, metavar="FILE", help=text)
    arguments.add_output(parser, "new file: question -> topic")
    arguments.add_metadata(parser)
    parser.set_defaults(run=topics)
