"""`xling samples`: every sample as a static page, all languages of a question side by side.

The page opens from disk. `data/N.js` lists the questions of one model, criterion and dataset with
what was found of each answer; `data/N_K.js` has the texts of some of them, and is loaded when one
is opened or searched.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks import __version__
from xling_tasks.commands.options import add_family, add_folders, add_output
from xling_tasks.criteria import CRITERIA, ENGLISH, SampleResult
from xling_tasks.criteria.rates import IN_LANGUAGE, RATES
from xling_tasks.criteria.sample import as_text, mapping, missing, number
from xling_tasks.errors import DataError
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED
from xling_tasks.languages import in_order, language_name
from xling_tasks.logs.checked import reading
from xling_tasks.logs.newest import find_models
from xling_tasks.logs.results import TaskResults
from xling_tasks.logs.shown import KNOWN, languages_in, parts_of, several_languages
from xling_tasks.output import many, refuse_others, writing
from xling_tasks.pages import read_page_file
from xling_tasks.report import html, words
from xling_tasks.report.remarks import tell_remarks

FLAGS = {
    "off_language": "not in the language asked for",
    "empty": "empty answer",
    "content_filter": "blocked by a content filter",
    "refusal": "refused",
    "failed": "request failed",
    "unparsed": "reply could not be read",
    "judge_failed": "judge failed",
    "no_majority": "judges without a majority",
    "order_sensitive": "another label with the answers exchanged",
    "translation_failed": "translation failed",
    "unscored": "not scored",
    "abstained": "no claims in the answer",
}
"""What may be the matter with an answer."""

LONGEST = 20_000
"""Characters of one text on the page; the row in the file has the rest."""

CHUNK = 100
"""Questions whose texts share a file."""

_TITLE, _SHORT = 240, 300
_TEMPERATURE = re.compile(r"(.+?)(?:_t(\d+(?:\.\d+)?))?")


class Group(NamedTuple):
    """A criterion over a dataset in one model."""

    model: str
    criterion: str
    dataset: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling samples`."""
    add_folders(parser)
    add_output(parser, "folder to write", "samples")
    add_family(parser)
    parser.set_defaults(run=samples)


def samples(options: argparse.Namespace) -> str:
    """Write the page; return where it is, and what is not in it."""
    groups, notes = find_groups(options.folders, options.family)
    to: Path = options.to
    refuse_others(to, "index.html", "page of samples")
    with writing(to):
        (to / "data").mkdir(parents=True, exist_ok=True)
        for path in (to / "data").glob("*.js"):
            path.unlink()  # of an earlier page
        index = [
            write_group(to, position, group, sources)
            for position, (group, sources) in enumerate(groups.items())
        ]
        page = html.render(
            "samples.html", script=read_page_file("reading.js") + read_page_file("samples.js"),
            title="Samples", models=words.join(words.unique(group["model"] for group in index)),
            content=html.as_block({"groups": index, "flags": FLAGS}), command="xling samples",
            version=__version__,
        )  # fmt: skip
        (to / "index.html").write_text(page, encoding="utf-8", newline="\n")
    total = sum(group["n"] for group in index)
    return "\n".join([*notes, f"{to / 'index.html'}: {many(total, 'question')}"])


def find_groups(
    folders: Sequence[str], families: Sequence[str]
) -> tuple[dict[Group, list[TaskResults]], list[str]]:
    """Return the newest samples of every task in some output folders, and what else to know."""
    groups: dict[Group, list[TaskResults]] = {}
    notes: list[str] = []
    for model in find_models(folders, families, only_ours=False):
        name, tasks = model.name, model.tasks
        tellings = tell_remarks([{"model": name, **note} for note in model.notes], [])
        notes += [f"{remark.title}. {' '.join(remark.lines)}" for remark in tellings]
        without = [task for task, members in tasks.items() if not members.samples.path.is_file()]
        if without:
            display = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
            notes.append(
                f"{name}: {many(len(without), 'task')} without logged samples ({display})."
            )
        for task, members in tasks.items():
            if task not in without:
                task_key = members.task_key
                group = (task_key.criterion, task_key.dataset) if task_key else (task, "")
                groups.setdefault(Group(name, *group), []).append(members)
    if not groups:
        raise DataError(
            f"{', '.join(folders)}: no samples in it; run lm_eval again with --log_samples"
        )
    order = [*CRITERIA, *sorted({group.criterion for group in groups} - CRITERIA.keys())]
    present = sorted(groups, key=lambda g: (order.index(g.criterion), g.dataset, g.model))
    return {group: groups[group] for group in present}, notes


def write_group(
    to: Path, number: int, group: Group, sources: Sequence[TaskResults]
) -> dict[str, Any]:
    """Write the files of a group; return what the page's list of groups says of it."""
    questions: dict[str, dict[str, dict[str, Any]]] = {}
    for source in sources:
        for question, code, entry in read_entries(group.criterion, source):
            questions.setdefault(question, {}).setdefault(code, entry)
    codes = in_order({code for entries in questions.values() for code in entries})
    # What the publisher of the data asks to keep with its texts.
    recorded = [mapping(source.xling.get("data")).get("canary") or () for source in sources]
    canary = words.unique(str(text) for texts in recorded for text in texts)
    rows, names = [], list(questions)
    for start in range(0, len(names), CHUNK):
        chunk = {}
        for question in names[start : start + CHUNK]:
            entries = questions.pop(question)
            ordered = {code: entries[code] for code in codes if code in entries}
            chunk[question] = {code: entry.pop("texts") for code, entry in ordered.items()}
            titles = {code: entry.pop("title") for code, entry in ordered.items()}
            taus = {code: entry.pop("temperature") for code, entry in ordered.items()}
            for code, entry in ordered.items():
                if taus[code] != taus.get(ENGLISH, taus[code]):
                    entry["score"] = None  # no more or less than one at another temperature
            scores = {code: e["score"] for code, e in ordered.items() if e["score"] is not None}
            english = scores.pop(ENGLISH, None)
            gap = english - min(scores.values()) if english is not None and scores else None
            title = titles.get(ENGLISH, next(iter(titles.values())))
            rows.append({"id": question, "title": title, "gap": gap, "languages": ordered})
        path = to / "data" / f"{number}_{start // CHUNK}.js"
        write_call(path, canary, "texts", number, start // CHUNK, chunk)
    write_call(to / "data" / f"{number}.js", canary, "rows", number, rows)
    definition = CRITERIA.get(group.criterion)
    return {
        **group._asdict(), "title": definition.title if definition else group.criterion,
        "dataset_name": words.dataset_name(group.dataset), "n": len(rows), "chunk": CHUNK,
        "languages": {code: language_name(code) for code in codes},
    }  # fmt: skip


def write_call(path: Path, canary: Sequence[str], name: str, *values: Any) -> None:
    """Write values as a call: a page that was opened from disk may load scripts alone."""
    notes = "".join(f"// {json.dumps(text)}\n" for text in canary)
    lines = ",".join(
        json.dumps(value, ensure_ascii=True, separators=(",", ":")) for value in values
    )
    path.write_text(f"{notes}{name}({lines})\n", encoding="ascii", newline="\n")


def read_entries(criterion: str, source: TaskResults) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield question, language and what is shown of every sample of a task."""
    language = source.task_key.language if source.task_key else ""
    names = mapping(source.xling.get("about")).get("primary") or ()
    primary = {name: source.directions.get(name) for name in names}
    definition = CRITERIA.get(criterion)
    tones = definition.shown.tones if definition and definition.shown else {}
    for line, sample in source.samples.stream(dict):
        with reading(f"{source.samples.path}, row {line}"):
            doc = mapping(sample.get("doc"))
            name = as_text(doc.get("question_id", sample.get("doc_id")))
            if (through := str(sample.get("filter", "none"))) != "none":
                name = f"{name} (filter {through})"
            for code in languages_in(criterion, sample, language):
                parts = parts_of(criterion, sample, code)
                result = find_label(criterion, sample, code, primary)
                requested = parts[0].passages[0].text[: 2 * _TITLE] if parts else ""
                title = " ".join(requested.split())
                right = None if result.right is None else ("bad", "good")[result.right]
                yield name, code, {
                    "title": title if len(title) <= _TITLE else f"{title[:_TITLE]}…",
                    "label": result.label[:80], "score": result.score, "right": result.right,
                    "temperature": result.temperature,
                    "tone": tones.get(result.label, right or ""),
                    "flags": list(words.unique(find_flags(criterion, sample, code))),
                    "texts": {
                        "task": source.task, "row": line,
                        "parts": [
                            [part.title, part.note, [
                                [p.text[:LONGEST], max(0, len(p.text) - LONGEST), p.mark[:_SHORT],
                                 p.tone, p.language]
                                for p in part.passages
                            ]] for part in parts
                        ],
                        "values": find_values(criterion, sample, code),
                    },
                }  # fmt: skip


def find_values(criterion: str, sample: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """Return what was measured of a sample in one language, by name."""
    values = []
    for name in sample.keys() - KNOWN:
        rows = CRITERIA[criterion].split(name).language if several_languages(criterion) else ""
        text = as_text(sample[name])
        if rows in ("", language, "avg") and (
            not isinstance(sample[name], (list, dict)) or len(text) <= 200
        ):
            values.append((name, text[:_SHORT]))
    return sorted(values)


def find_label(
    criterion: str, sample: Mapping[str, Any], language: str, primary: Mapping[str, bool | None]
) -> SampleResult:
    """Return an answer's label, its score, and whether it is right."""
    view = CRITERIA[criterion].shown if criterion in CRITERIA else None
    if view is not None and view.found is not None:
        return view.found(sample, language)
    label = mapping(sample.get("n_judged")).get("label") or ""
    for name, higher in primary.items():
        value = _share(sample.get(name))
        if value is not None:
            return SampleResult(label, -value if higher is False else value)
    return SampleResult(label)


def find_flags(criterion: str, sample: Mapping[str, Any], language: str) -> Iterator[str]:
    """Yield what is the matter with an answer: keys of `FLAGS`."""
    multiple = several_languages(criterion)
    for name, value in sample.items():
        share = _share(value)
        if share is not None:
            base, rows = _split(criterion, name)
            flag = RATES[base].flag if base in RATES and share > 0 else ""
            if (
                rows in ("", language)
                and flag
                and not (multiple and flag in ("content_filter", "failed"))
            ):
                yield flag
            elif rows in ("", language) and share < 0.5 and base in IN_LANGUAGE:
                yield "off_language"
    if multiple:
        codes = list(mapping(mapping(sample.get("doc")).get("text")))
        position = str(codes.index(language)) if language in codes else ""
        outcomes = {
            text[0] for location, text in missing(sample).items() if location[0] == position
        }
        flags = {CONTENT_FILTER: "content_filter", REQUEST_FAILED: "failed"}
        yield from (flags[name] for name in flags if name in outcomes)
        reason = mapping(sample.get(f"n_claims_{language}")).get("unscored")
        profile = mapping(sample.get(f"profile_{language}"))
        untranslated = isinstance(reason, str) and reason.startswith("translation failed")
        if untranslated or (profile.get("english", "") is None and not outcomes):
            yield "translation_failed"


@functools.lru_cache(maxsize=65_536)
def _split(criterion: str, name: str) -> tuple[str, str]:
    """Return a metric's name without temperature and language, and the language."""
    if several_languages(criterion):
        metric, _, code = CRITERIA[criterion].split(name)
        return metric, "" if code == "avg" else code
    match = _TEMPERATURE.fullmatch(name)
    return (match[1] if match else name), ""


def _share(value: Any) -> float | None:
    """Return a number, or hits of so many as a share."""
    if isinstance(value, list) and len(value) == 2:
        hits, total = map(number, value)
        return None if hits is None or not total else hits / total
    return number(value)
