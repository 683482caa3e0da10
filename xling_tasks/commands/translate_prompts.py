"""`xling translate-prompts`: the other languages of a set of prompts, by the translator."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import add_languages, add_metadata, add_output, settings_with
from xling_tasks.data.custom.columns import NOTES
from xling_tasks.data.custom.dataset import CustomDataset, is_custom_file, load_custom_dataset
from xling_tasks.data.custom.example import write
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.prompt_sets import ABOUT_FIELDS, FIELDS, ROW, language_of, placeholders
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.errors import DataError, SettingError, user_path
from xling_tasks.languages import LANGUAGES, language_name
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.translate.translator import load_translator
from xling_tasks.output import jsonl, many, refuse_file, write_new
from xling_tasks.safe_json import json_objects
from xling_tasks.settings import Settings


def translate_prompts(options: argparse.Namespace) -> str:
    """Write the set with its languages added; texts that are there already stay.

    Raises:
        DataError: If a line is wrong, the new file exists, or no text could be translated.
        SettingError: If no translator is set.
    """
    settings, (spec,) = settings_with(options, "translator")
    refuse_file(options.to)
    if is_custom_file(str(options.file)):
        return _translate_own(options.file, options.to, spec, settings)
    for code in settings.languages or ():
        if code not in FIELDS:
            raise SettingError(
                f"--languages {code}: such a set has {', '.join(FIELDS)} only; for "
                f"{language_name(code)} make the prompts questions of your own (CSV: question_en)"
            )
    rows = _rows(options.file)
    codes = settings.languages or tuple(code for code in LANGUAGES if code != "en")
    prompt = PromptTemplates(settings.prompt_templates).get("translate", "en")
    engine = load_translator(spec, settings.xling_cache, prompt)
    engine.check(*(("en", code) for code in codes))
    lacking = sum(not row.get(FIELDS[code]) for code in codes for row in rows)
    failed = {code: _add(rows, code, engine.translate) for code in codes}
    _refuse_nothing(options.file, lacking, sum(map(len, failed.values())))
    order = [*ABOUT_FIELDS, "en", *(FIELDS[code] for code in codes)]
    write_new(options.to, jsonl({k: row[k] for k in (*order, *row) if k in row} for row in rows))
    lines = [
        f"{options.to}: {many(len(rows), 'prompt')} in English and {many(len(codes), 'language')}."
    ]
    lines += [
        f"{code}: {len(ids)} without a translation (null in the file): {', '.join(ids)}"
        for code, ids in failed.items()
        if ids
    ]
    lines.append(f"Translator: {engine.signature}")
    lines.append("Machine translations: have them read by someone who knows the language.")
    return "\n".join(lines)


def _refuse_nothing(path: Path, lacking: int, failed: int) -> None:
    if lacking and failed == lacking:
        raise DataError(
            f"{path}: none of the {lacking} texts that it lacks could be translated, and nothing "
            "is written; the lines above say why. Take another translator, or other languages"
        )


def _add(rows: Sequence[dict[str, Any]], code: str, translate: Any) -> list[str]:
    """Fill one language; the ids that have no translation, or one without its placeholders."""
    name = FIELDS[code]
    open_ = [row for row in rows if not row.get(name)]
    texts = translate([row["en"] for row in open_], "en", code)
    for row, text in zip(open_, texts, strict=True):
        whole = text is not None and placeholders(text) == placeholders(row["en"])
        row[name] = text if whole else None
    return [str(row["id"]) for row in open_ if row[name] is None]


def _rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that has at least `id` and `en`."""
    rows = []
    for number, row in json_objects(path, expected=ROW):
        where = f"{path}, line {number}"
        for name in ("id", "en"):
            value = row.get(name)
            number_id = name == "id" and type(value) is int  # as a set may have them
            if not number_id and not (isinstance(value, str) and value.strip()):
                raise DataError(f"{where}, field {name!r}: expected a text")
        rows.append(_renamed(where, row))
    if not rows:
        raise DataError(f"{path}: the file has no prompts")
    return rows


def _renamed(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A line with our names of its languages: `iw` is `he`, `zh-CN` is `zh`."""
    renamed: dict[str, Any] = {}
    for name, value in row.items():
        code = None if name in ABOUT_FIELDS else language_of(name)
        ours = name if code is None else FIELDS.get(code, name)
        if ours in renamed:
            raise DataError(f"{where}, field {name!r}: {ours!r} stands there twice")
        renamed[ours] = value
    return renamed


# A file of one's own


Translate = Callable[[Sequence[str], str, str], Sequence[str | None]]

_NOTE = "machine translated: "
_TEXTS = (".csv", ".xlsx")
"""Formats whose cells are texts."""


def _translate_own(path: Path, to: Path, spec: ModelConfig, settings: Settings) -> str:
    """Write a file with the texts that it lacks in some languages; those there stay."""
    data = load_custom_dataset(str(path))
    if "en" not in data.languages:
        raise DataError(f"{path}: has no English, which is translated from; add question_en")
    codes = settings.languages or tuple(code for code in data.languages if code != "en")
    prompt = PromptTemplates(settings.prompt_templates).get("translate", "en")
    engine = load_translator(spec, settings.xling_cache, prompt)
    engine.check(*(("en", code) for code in codes))
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    notes: dict[str, list[str]] = {item.id: [] for item in data.questions}
    for code in codes:
        _fill(data, code, engine.translate, notes, made, failed)
    _refuse_nothing(path, made.total() + failed.total(), failed.total())
    every = [*data.languages, *(code for code in codes if code not in data.languages)]
    fields = {code: "ind" if code == "id" else code for code in every}  # `question_id`: the id
    write(to, _own_rows(data.questions, fields, notes, as_text=to.suffix.lower() in _TEXTS))
    lost = [*data.unused, f"an earlier column {NOTES!r}"]
    if to.suffix.lower() in _TEXTS and any(i.tags for q in data.questions for i in q.rubric):
        lost.append("tags of criteria")
    lines = [
        f"{language_name(code)}: {many(made[code], 'text')} translated"
        + (f", {failed[code]} could not be and are empty" if failed[code] else "")
        for code in codes
    ]
    return "\n".join(
        [
            f"{to}: {many(len(data.questions), 'question')} in {many(len(every), 'language')}.",
            *lines,
            f"Translator: {engine.signature}",
            "The column 'notes' says which texts are machine translations: have them read by "
            "someone who knows the language.",
            f"Not in it: {', '.join(lost)}.",
        ]
    )  # fmt: skip


def _fill(
    data: CustomDataset, code: str, translate: Translate, notes: dict[str, list[str]],
    made: Counter[str], failed: Counter[str],
) -> None:  # fmt: skip
    """Translate what a language lacks."""
    lacking = [
        (item, kind, text)
        for item in data.questions
        for kind, text in item.texts_in("en").items()
        if kind not in item.texts_in(code)
    ]
    texts = translate([text for _, _, text in lacking], "en", code)
    for (item, kind, _), text in zip(lacking, texts, strict=True):
        if text is None or text.startswith("="):  # a spreadsheet would run it
            failed[code] += 1
            continue
        # The loaded file is kept in memory for other readers of this process: no text of it moves.
        notes[item.id].append(f"{kind}_{code}\0{text}")
        made[code] += 1


def _own_rows(
    items: Sequence[Question],
    fields: Mapping[str, str],
    notes: dict[str, list[str]],
    *,
    as_text: bool,
) -> list[dict[str, Any]]:
    """A row per question; `fields` has what a language is called in names of columns."""
    kinds = list(
        dict.fromkeys(k for item in items for texts_of in item.texts.values() for k in texts_of)
    )
    columns = [f"{kind}_{field}" for field in fields.values() for kind in kinds]
    rows = []
    for item in items:
        new = dict(note.split("\0", 1) for note in notes[item.id])
        texts = {f"{kind}_{code}": text for code, texts_of in item.texts.items()
                 for kind, text in texts_of.items()} | new  # fmt: skip
        named = {f"{kind}_{field}": texts.get(f"{kind}_{code}", "")
                 for code, field in fields.items() for kind in kinds}  # fmt: skip
        row = {"id": item.id, "category": item.category, "correct": ", ".join(item.correct)}
        row["criteria"] = _criteria(item, as_text)
        row |= {column: named[column] for column in columns}
        rows.append({**row, "notes": _NOTE + ", ".join(new) if new else ""})
    unused = [
        name for name in ("category", "correct", "criteria") if not any(row[name] for row in rows)
    ]
    return [{key: text for key, text in row.items() if key not in unused} for row in rows]


def _criteria(question: Question, as_text: bool) -> Any:
    """Return a cell of criteria: a line each, or HealthBench's objects."""
    if as_text:
        lines = [f"{item.points:g}: {' '.join(item.text.split())}" for item in question.rubric]
        return "\n".join(lines)
    return [
        {"criterion": item.text, "points": item.points, "tags": list(item.tags)}
        for item in question.rubric
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling translate-prompts`."""
    text = "JSONL with id, category (optional) and en; or a file of your own questions"
    parser.add_argument("file", type=user_path, metavar="FILE", help=text)
    add_output(parser, "new file")
    add_languages(parser, "all 30; for your own questions those in the file")
    add_metadata(parser)
    parser.set_defaults(run=translate_prompts)
