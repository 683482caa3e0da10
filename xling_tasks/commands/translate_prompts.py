"""`xling translate prompts`: the other languages of a set of prompts, by the translator."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import add_metadata, read_metadata
from xling_tasks.commands.translate_own import translate_own
from xling_tasks.data.own.check_rubrics import is_own_file
from xling_tasks.data.prompt_sets import ABOUT_FIELDS, FIELDS, ROW, language_of, placeholders
from xling_tasks.data.prompts import Prompts
from xling_tasks.errors import DataError, SettingError
from xling_tasks.languages import LANGUAGES
from xling_tasks.models.translate.translator import translator
from xling_tasks.output import jsonl, refuse_file, write_new
from xling_tasks.report.options import add_languages, add_to
from xling_tasks.safe_json import json_objects
from xling_tasks.settings import Settings


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling translate prompts` takes."""
    parser.add_argument(
        "file", type=Path,
        help="JSONL with id, category (optional) and en; or a file of your own questions",
    )  # fmt: skip
    add_to(parser, "the new file", file=True)
    add_languages(parser, "default: all 30; of your own file, those in it")
    add_metadata(parser)
    parser.set_defaults(run=translate_prompts)


def translate_prompts(options: argparse.Namespace) -> str:
    """Write the set with its languages added; texts that are there already stay.

    Raises:
        DataError: If a line is wrong, or the new file exists.
        SettingError: If no translator is set.
    """
    metadata = read_metadata(options.metadata)
    if options.languages:
        metadata["languages"] = options.languages
    settings = Settings.parse(metadata, {})
    if settings.translator is None:
        raise SettingError(
            'xling translate prompts: set --metadata \'{"translator": {"model": "seq2seq", '
            '"model_args": {"pretrained": ...}}}\' (or any harness model)'
        )
    refuse_file(options.to)
    if is_own_file(str(options.file)):
        return translate_own(options.file.expanduser(), options.to.expanduser(), settings)
    for code in settings.languages or ():
        if code not in FIELDS:
            raise SettingError(f"--for {code}: prompts have {', '.join(FIELDS)} only")
    rows = _rows(options.file)
    codes = settings.languages or tuple(code for code in LANGUAGES if code != "en")
    prompt = Prompts(settings.prompts).get("translate", "en")
    engine = translator(settings.translator, settings.xling_cache, prompt)
    engine.check(*(("en", code) for code in codes))
    failed = {code: _add(rows, code, engine.translate) for code in codes}
    order = [*ABOUT_FIELDS, "en", *(FIELDS[code] for code in codes)]
    write_new(options.to, jsonl({k: row[k] for k in (*order, *row) if k in row} for row in rows))
    lines = [f"{options.to}: {len(rows)} prompts in English and {len(codes)} languages."]
    lines += [
        f"{code}: {len(ids)} without a translation (null in the file): {', '.join(ids)}"
        for code, ids in failed.items()
        if ids
    ]
    lines.append(f"Translator: {engine.signature}")
    lines.append("Machine translations: have them read by someone who knows the language.")
    return "\n".join(lines)


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
        own = name if code is None else FIELDS.get(code, name)
        if own in renamed:
            raise DataError(f"{where}, field {name!r}: {own!r} stands there twice")
        renamed[own] = value
    return renamed
