"""The page of `xling report`: one HTML file that runs no script, loads nothing and sends nothing.

What models, judges and data say is on it as text only; the page's policy allows its one style by
hash and pictures that are part of the page, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.published import SOURCES
from xling_tasks.logs.results import as_json
from xling_tasks.pages import FOLDER
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Report
from xling_tasks.report.page.html import (
    anchor,
    attribute,
    digest,
    listing,
    pairs,
    picture,
    sample,
    table,
    text,
)
from xling_tasks.report.page.samples import SampleToRead
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.report.tables.table import Table
from xling_tasks.secrets import redact, without_hosts

if TYPE_CHECKING:
    from xling_tasks.report.pictures.all import Picture

Sections = dict[str, tuple[str, str]]
"""Anchor -> heading and content."""

_FIRST = {"coverage": "Coverage", "summary": "Gaps to English in short"}
"""Sections before the criteria."""
_OTHER = {"statistics": "Statistics", "other": "Other"}
_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_RUN = ("model", "gen_kwargs", "limit", "batch_size", "device")


def page(
    report: Report,
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    samples: Sequence[SampleToRead],
    banner: Sequence[str],
    created: str,
) -> str:
    """The report as one HTML document; equal arguments give equal text.

    Args:
        report: The numbers, for settings and signatures.
        tables: All tables; those about coverage come first, statistics with their criterion.
        pictures: All pictures.
        samples: What to read.
        banner: What to know before anything else; may be empty.
        created: When, as text.
    """
    sections = {
        **_first(tables),
        **_criteria(tables, pictures, samples),
        "settings": ("Settings and signatures", _settings(report)),
        "sources": ("Sources", _sources(report)),
    }
    style, models = _style(), ", ".join(model.name for model in report.models)
    parts = {
        "policy": _policy(style),
        "style": style,
        # No markup can stand in a page's title.
        "title": attribute(models),
        "models": text(models),
        "created": text(re.sub(r"T(\d\d)-(\d\d)-\d\d\.\d+$", r" \1:\2", created)),
        "banner": _banner(banner),
        "contents": _contents(sections),
        "main": _main(sections),
    }
    # One pass: what a text contains is never taken for a place to fill.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("report.html"))


def _contents(sections: Sections) -> str:
    links = (f'<a href="#{key}">{text(title)}</a>' for key, (title, _) in sections.items())
    return "".join(f"<li>{link}</li>" for link in links)


def _main(sections: Sections) -> str:
    return "\n".join(
        f'<section aria-labelledby="{key}"><h2 id="{key}">{text(title)}</h2>{content}</section>'
        for key, (title, content) in sections.items()
    )


def _policy(style: str) -> str:
    return (
        f"default-src 'none'; style-src '{digest(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _style() -> str:
    """Ours, and the fonts by language that both pages share."""
    fonts = [line for line in _read("annotate.css").splitlines() if line.startswith(":lang(")]
    return "\n".join([_read("report.css"), *fonts])


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _banner(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    title = '<h2 id="know-first">Know first</h2>'
    return f'<section class="banner" aria-labelledby="know-first">{title}{listing(lines)}</section>'


# What was found


def _first(tables: Sequence[Table]) -> Sections:
    found: Sections = {}
    for section, title in _FIRST.items():
        own = [item for item in tables if item.section == section]
        if own:
            found[section] = (title, "".join(map(table, own)))
    return found


def _criteria(
    tables: Sequence[Table], pictures: Sequence[Picture], samples: Sequence[SampleToRead]
) -> Sections:
    """Per criterion tables, pictures, statistics, samples; last what belongs to none."""
    found: Sections = {}
    rest = [item for item in tables if item.section not in _FIRST]
    titles = {key: known.title for key, known in CRITERIA.items()}
    for key, title in {**titles, **_OTHER}.items():
        own = [item for item in rest if _section(item) == key]
        first = [item for item in own if item.section != "statistics"]
        tests = [item for item in own if item.section == "statistics"]
        shown = [item for item in pictures if _known(item.section) == key]
        read = [item for item in samples if item.criterion == key]
        content = [
            *map(table, first),
            *map(picture, shown),
            *map(table, tests),
            _samples(key, read),
        ]
        if any(content):
            found[key] = (title, "".join(content))
    return found


def _section(item: Table) -> str:
    """Where a table stands: statistics with the criterion that their key names, if it does."""
    if item.section != "statistics":
        return _known(item.section)
    named = [key for key in CRITERIA if f"_{key}_" in f"_{item.key}_"]
    return max(named, key=len, default="statistics")


def _known(section: str) -> str:
    return section if section in CRITERIA or section in _OTHER else "other"


def _samples(criterion: str, samples: Sequence[SampleToRead]) -> str:
    if not samples:
        return ""
    key = anchor("samples", criterion)
    parts = [
        f'<h3 id="{key}">To read: where a language is furthest behind English</h3>',
        '<p class="note">The worst gaps, not typical ones. Boxed codes such as '
        '<span class="control">U+202E</span> stand for invisible characters.</p>',
    ]
    for model in dict.fromkeys(item.model for item in samples):
        parts.append(f'<h4 dir="auto">{text(model)}</h4>')
        own = (item for item in samples if item.model == model)
        parts += [sample(item, dataset_title(item.dataset)) for item in own]
    return "".join(parts)


# How it was made


def _settings(report: Report) -> str:
    options = report.options
    statistics = (
        f"<p>Intervals and tests: {options.n_resamples:,} resamples of questions, level "
        f"{options.level:g}, seed {options.seed}.</p>"
    )
    return statistics + "".join(_model(i, model) for i, model in enumerate(report.models, start=1))


def _model(number: int, model: Model) -> str:
    """One model's runs, data and signatures."""
    tasks = sorted(model.tasks, key=lambda task: task.results.task)
    runs: dict[str, list[Task]] = {}
    for task in tasks:
        runs.setdefault(as_json(_run(task)), []).append(task)
    key = f"model-{number}"
    parts = [f'<h3 id="{key}" dir="auto">{text(model.name)}</h3>']
    for i, own in enumerate(runs.values(), start=1):
        rows = {"Name and arguments": model.full, **_run(own[0])}
        rows["Tasks"] = ", ".join(task.results.task for task in own)
        parts.append(pairs(rows, f"Run {i} of {len(runs)}: settings", f"{key}-run-{i}"))
    parts += [table(item, level=4) for item in (_data(key, tasks), _signatures(key, tasks))]
    if model.others:
        parts.append(f"<p>Tasks of others, not shown: {text(', '.join(model.others))}</p>")
    return "".join(parts)


def _run(task: Task) -> dict[str, Any]:
    """What a run records of itself, without secrets."""
    run, own = task.results.run, task.results.xling
    config = run.config
    found = {
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
        name: without_hosts(redact(value)) for name, value in found.items() if value is not None
    }


def _data(key: str, tasks: Iterable[Task]) -> Table:
    """What each task was asked with: data and prompts by their digests."""
    rows = []
    for task in tasks:
        data, prompts = (task.results.xling.get(name) or {} for name in ("data", "prompts"))
        used = ", ".join(f"{name} {item.get('digest')}" for name, item in prompts.items())
        known = [data.get(name) for name in ("name", "revision", "sha256", "questions", "rows")]
        cells = (value if isinstance(value, (str, int)) else None for value in known)
        rows.append((task.results.task, *cells, used))
    columns = ("task", "data", "revision", "sha256", "questions", "rows", "prompts")
    return Table(f"{key}_data", "settings", "Data and prompts", columns, tuple(rows))


def _signatures(key: str, tasks: Iterable[Task]) -> Table:
    rows = tuple(
        (task.results.task, name, str(without_hosts(redact(str(signature)))))
        for task in tasks
        for name, signature in (task.results.xling.get("signatures") or {}).items()
    )
    columns = ("task", "metric", "signature")
    return Table(f"{key}_signatures", "settings", "Signatures", columns, rows)


def _sources(report: Report) -> str:
    """The papers, and where the data come from."""
    papers = "".join(f"<li>{_paper(item)}</li>" for item in SOURCES.values())
    used = dict.fromkeys(
        f"{data.get('dataset') or data.get('name')}: {data.get('citation') or 'no citation'}; "
        f"licence {data.get('licence') or 'not recorded'}"
        for model in report.models
        for task in sorted(model.tasks, key=lambda task: task.results.task)
        if (data := task.results.xling.get("data"))
    )
    return f"<h3>Papers</h3><ul>{papers}</ul><h3>Data</h3>{listing(used)}"


def _paper(citation: str) -> str:
    if not citation.startswith("arXiv:"):
        return text(citation)
    address = "https://arxiv.org/abs/" + citation.removeprefix("arXiv:")
    return f'<a rel="noreferrer" href="{attribute(address)}">{text(citation)}</a>'
