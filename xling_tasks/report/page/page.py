"""The page of `xling report`: one HTML file that runs no script, loads nothing and sends nothing.

What models, judges and data say is on it as text only; the page's policy allows its one style by
hash and pictures that are part of the page, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rates import GLOSSARY as SHARED
from xling_tasks.data.published import SOURCES
from xling_tasks.logs.results import as_json
from xling_tasks.pages import digest, page_file, texts
from xling_tasks.report.data import Model, Task
from xling_tasks.report.documents import filled
from xling_tasks.report.lines import lines
from xling_tasks.report.model import Report
from xling_tasks.report.page.first import MODELS, answers, first_screen
from xling_tasks.report.page.html import environment
from xling_tasks.report.page.samples import SampleToRead
from xling_tasks.report.pictures.all import Picture
from xling_tasks.report.pictures.style import css
from xling_tasks.report.sentences import VERDICTS, metric_of
from xling_tasks.report.tables.all import conclusions_in_words
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.report.tables.table import Table, as_markdown
from xling_tasks.secrets import redact, without_hosts

_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_RUN = ("model", "gen_kwargs", "limit", "batch_size", "device")
_OTHER = {"statistics": "Statistics", "coverage": "Coverage", "other": "Other"}
"""Sections of what belongs to no criterion."""


def page(
    report: Report,
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    samples: Sequence[SampleToRead],
    banner: Sequence[str],
    created: str,
) -> str:
    """The report as one HTML document, with notes on the runs as its banner.

    Equal arguments give equal text.
    """
    style = page_style()
    names = [model.name for model in report.models]
    numbers, rest = _parted(tables)
    return (
        environment()
        .get_template("report.html")
        .render(
            policy=Markup(policy(style)),
            style=Markup(style),
            models=", ".join(names),
            heading=", ".join(names) if len(names) <= MODELS else f"{len(names)} models",
            created=re.sub(r"T(\d\d)-(\d\d)-\d\d\.\d+$", r" \1:\2", created),
            first=first_screen(report),
            asked=_asked(report),
            sentences=conclusions_in_words(report),
            numbers=numbers,
            number_notes=[note for item in numbers for note in item.notes],
            verdicts=[
                (VERDICTS[key], told) for key, told in texts()["glossary"]["verdicts"].items()
            ],
            banner=list(banner),
            sections=list(sections_of(rest, pictures, samples, banner)),
            glossary=glossary(report),
            options=report.options,
            same=_same(report),
            made=[_model(number, model) for number, model in enumerate(report.models, start=1)],
            papers=[(item, _address(item)) for item in SOURCES.values()],
            data=_data_sources(report),
            criteria=CRITERIA,
        )
    )


def _parted(tables: Sequence[Table]) -> tuple[list[Table], list[Table]]:
    """The tables of all conclusions, and the others."""
    numbers = [item for item in tables if item.section == "summary"]
    return numbers, [item for item in tables if item not in numbers]


def markdown(report: Report, tables: Sequence[Table], banner: Sequence[str]) -> str:
    """The report as Markdown, in the page's order, without pictures and answers to read.

    Notes that several tables share stand once, below them.
    """
    numbers, rest = _parted(tables)
    titles = {item.dataset: dataset_title(item.dataset) for item in report.conclusions}
    return filled(
        "report.j2",
        models=[model.name for model in report.models],
        answers=answers(report),
        lines=lines(report.conclusions, titles),
        banner=banner,
        said=conclusions_in_words(report),
        numbers=map(as_markdown, numbers),
        sections=[
            (each, [as_markdown(replace(item, notes=())) for item in (*each.tables, *each.more)])
            for each in sections_of(rest, (), (), banner)
        ],
        glossary=glossary(report),
    )


def _asked(report: Report) -> list[str]:
    """Which questions were asked, by dataset: 'LiveQA: 246 questions'."""
    counts: dict[str, set[int]] = {}
    for model in report.models:
        for task in model.tasks:
            counts.setdefault(task.place.dataset, set()).add(int(task.results.count["effective"]))
    return [
        f"{dataset_title(key)}: {min(own):,}{f' to {max(own):,}' if len(own) > 1 else ''} questions"
        for key, own in counts.items()
    ]


def _same(report: Report) -> str:
    """The margins within which differences count as the same, each with its unit."""
    margins = [(metric_of(item).amount(item.margin), item.meaning) for item in report.conclusions]
    told = (f"{size} ({kind})" if kind == "harm" else size for size, kind in margins)
    return " or ".join(sorted(dict.fromkeys(told)))


def policy(style: str) -> str:
    """Of a page that has one style and pictures, loads nothing and sends nothing."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def page_style() -> str:
    """Ours, that of pictures and verdicts, and the fonts by language."""
    return "\n".join([page_file("report.css"), css(), page_file("fonts.css")])


# A section per criterion, with its tables, pictures and answers to read


class Section(NamedTuple):
    """A criterion on the page."""

    key: str  # Its anchor.
    title: str  # Its heading.
    meaning: str  # What it asks; empty for what is no criterion.
    pictures: Sequence[Picture]  # The first is shown, others are folded.
    tables: Sequence[Table]  # Tables that are shown.
    more: Sequence[Table]  # Further tables, then what was measured at all, then tests; folded.
    notes: Sequence[str]  # What must be known to read all these, each once.
    samples: Mapping[str, Sequence[SampleToRead]]  # Model -> what to read, last.


def sections_of(
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    samples: Sequence[SampleToRead],
    banner: Sequence[str],
) -> Iterator[Section]:
    """A section per criterion; last what belongs to none. Notes of tables repeat no banner's.

    The tables with the conclusions stand before all sections, in none of them.
    """
    titles = {key: known.title for key, known in CRITERIA.items()}
    for key, title in {**titles, **_OTHER}.items():
        own = [item for item in tables if _place(item) == key]
        drawn = [item for item in pictures if _known(item.section) == key]
        read: dict[str, list[SampleToRead]] = {}
        for item in samples:
            if item.criterion == key:
                read.setdefault(item.model, []).append(item)
        if own or drawn or read:
            shown, more = _split(key, own)
            notes = dict.fromkeys(note for item in own for note in item.notes)
            untold = [note for note in notes if not _told(note, banner)]
            asks = CRITERIA[key].asks if key in CRITERIA else ""
            yield Section(key, title, asks, drawn, shown, more, untold, read)


def _split(key: str, own: Sequence[Table]) -> tuple[list[Table], list[Table]]:
    """The tables that are shown, and the others: values, then coverage, then tests."""
    if key not in CRITERIA:
        return list(own), []
    values = [item for item in own if item.section not in ("coverage", "statistics")]
    named = re.compile(rf"{key}_(?!means|by_people)[a-z]+")
    shown = [item for item in values if named.fullmatch(item.key)] or values[:1]
    order = {"coverage": 1, "statistics": 2}
    rest = [item for item in own if item not in shown]
    return shown, sorted(rest, key=lambda item: order.get(item.section, 0))


def _told(note: str, banner: Sequence[str]) -> bool:
    """Whether the notes on the runs say it already."""
    text = re.sub(r"^\[\w+\] ", "", note).removesuffix(".")
    return any(line.endswith(f": {text}") for line in banner)


def _place(item: Table) -> str:
    """Where a table stands: coverage and statistics with the criterion that their key names."""
    if item.section not in ("statistics", "coverage"):
        return _known(item.section)
    named = [key for key in CRITERIA if f"_{key}_" in f"_{item.key}_"]
    return max(named, key=len, default=item.section)


def _known(section: str) -> str:
    return section if section in CRITERIA or section in _OTHER else "other"


def glossary(report: Report) -> dict[str, str]:
    """The terms of a report's tables and pictures, those of each of its criteria together."""
    used, said = {cell.panel.criterion for cell in report.cells}, texts()["glossary"]
    own = {
        key: text
        for name, one in CRITERIA.items()
        if name in used
        for key, text in (one.glossary or {}).items()
    }
    return {**said["terms"], **own, **SHARED, **said["tests"]}


# How it was made


def _model(number: int, model: Model) -> dict[str, Any]:
    """One model's runs, data and signatures."""
    tasks = sorted(model.tasks, key=lambda task: task.results.task)
    runs: dict[str, list[Task]] = {}
    for task in tasks:
        runs.setdefault(as_json(_run(task)), []).append(task)
    key = f"model-{number}"
    return {
        "anchor": key,
        "name": model.name,
        "runs": [
            {
                "Name and arguments": model.full,
                **_run(own[0]),
                "Tasks": ", ".join(task.results.task for task in own),
            }
            for own in runs.values()
        ],
        "tables": [_data(key, model.name, tasks), _signatures(key, model.name, tasks)],
        "others": model.others,
    }


def _run(task: Task) -> dict[str, Any]:
    """What a run records of itself, without secrets."""
    run, own = task.results.run, task.results.xling
    config = run.config
    fields = {
        "Results": run.path.name,
        "lm_eval": run.content.get("lm_eval_version"),
        "transformers": run.content.get("transformers_version"),
        "xling-tasks": own.get("version"),
        "Model arguments": run.model_args,
        **{name: config.get(name) for name in (*_RUN, *_SEEDS)},
        "Chat template (sha256)": run.content.get("chat_template_sha"),
        **{f"setting: {name}": value for name, value in (own.get("settings") or {}).items()},
    }
    return {
        name: without_hosts(redact(value)) for name, value in fields.items() if value is not None
    }


def _data(key: str, name: str, tasks: Iterable[Task]) -> Table:
    """What each task was asked with: data and prompts by their digests."""
    rows = []
    for task in tasks:
        data, prompts = (task.results.xling.get(name) or {} for name in ("data", "prompts"))
        used = ", ".join(f"{name} {item.get('digest')}" for name, item in prompts.items())
        known = [data.get(name) for name in ("name", "revision", "sha256", "questions", "rows")]
        cells = (value if isinstance(value, (str, int)) else None for value in known)
        rows.append((task.results.task, *cells, used))
    columns = ("task", "data", "revision", "sha256", "questions", "rows", "prompts")
    return Table(f"{key}_data", "settings", f"Data and prompts: {name}", columns, tuple(rows))


def _signatures(key: str, name: str, tasks: Iterable[Task]) -> Table:
    rows = tuple(
        (task.results.task, name, str(without_hosts(redact(str(signature)))))
        for task in tasks
        for name, signature in (task.results.xling.get("signatures") or {}).items()
    )
    columns = ("task", "metric", "signature")
    return Table(f"{key}_signatures", "settings", f"Signatures: {name}", columns, rows)


def _address(citation: str) -> str:
    """Where a paper can be read; empty where its citation does not say."""
    if not citation.startswith("arXiv:"):
        return ""
    return "https://arxiv.org/abs/" + citation.removeprefix("arXiv:")


def _data_sources(report: Report) -> list[str]:
    """Where the data come from."""
    used = dict.fromkeys(
        f"{data.get('dataset') or data.get('name')}: {data.get('citation') or 'no citation'}; "
        f"licence {data.get('licence') or 'not recorded'}"
        for model in report.models
        for task in sorted(model.tasks, key=lambda task: task.results.task)
        if (data := task.results.xling.get("data"))
    )
    return list(used)
