"""`xling translate-prompts`: the languages that a set of prompts or your own questions lack."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.options import add_languages, add_metadata, add_output, settings_with
from xling_tasks.data.custom.columns import NOTES
from xling_tasks.data.custom.dataset import CONVERSATIONS, is_custom_file, load_custom_dataset
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.prompt_sets import ABOUT_FIELDS, FIELDS, ROW, language_of, placeholders
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.tables import write_rows
from xling_tasks.errors import DataError, SettingError, user_path
from xling_tasks.languages import LANGUAGES, language_name
from xling_tasks.models.translate.translator import Translator, load_translator
from xling_tasks.output import jsonl, many, refuse_file, write_new
from xling_tasks.safe_json import json_objects
from xling_tasks.settings import Settings

_TEXTS = (".csv", ".xlsx")  # formats whose cells are texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling translate-prompts`."""
    text = "JSONL with id, category (optional) and en; or a file of your own questions"
    parser.add_argument("file", type=user_path, metavar="FILE", help=text)
    add_output(parser, "new file")
    add_languages(parser, "all 30; for your own questions those in the file")
    add_metadata(parser)
    parser.set_defaults(run=translate_prompts)


def translate_prompts(options: argparse.Namespace) -> str:
    """Write the file with its languages added; texts that are there already stay."""
    settings, (config,) = settings_with(options, "translator")
    refuse_file(options.to)
    prompt = PromptTemplates(settings.prompt_templates).get("translate", "en")
    translator = load_translator(config, settings.xling_cache, prompt)
    is_custom = is_custom_file(str(options.file))
    return (_translate_custom if is_custom else _translate_set)(options, settings, translator)


def _refuse_nothing(path: Path, missing: int, failed: int) -> None:
    if missing and failed == missing:
        raise DataError(
            f"{path}: none of the {missing} texts that it lacks could be translated, and nothing "
            "is written; the lines above say why. Take another translator, or other languages"
        )


def _translate_set(options: argparse.Namespace, settings: Settings, translator: Translator) -> str:
    for code in settings.languages or ():
        if code not in FIELDS:
            raise SettingError(
                f"--languages {code}: such a set has {', '.join(FIELDS)} only; for "
                f"{language_name(code)} make the prompts questions of your own (CSV: question_en)"
            )
    rows = _read_rows(options.file)
    codes = settings.languages or tuple(code for code in LANGUAGES if code != "en")
    translator.check(*(("en", code) for code in codes))
    missing = sum(not row.get(FIELDS[code]) for code in codes for row in rows)
    failed: dict[str, list[str]] = {}
    for code in codes:
        name = FIELDS[code]
        untranslated = [row for row in rows if not row.get(name)]
        texts = translator.translate([row["en"] for row in untranslated], "en", code)
        for row, text in zip(untranslated, texts, strict=True):
            complete = text is not None and placeholders(text) == placeholders(row["en"])
            row[name] = text if complete else None
        failed[code] = [str(row["id"]) for row in untranslated if row[name] is None]
    _refuse_nothing(options.file, missing, sum(map(len, failed.values())))
    order = [*ABOUT_FIELDS, "en", *(FIELDS[code] for code in codes)]
    write_new(options.to, jsonl({k: row[k] for k in (*order, *row) if k in row} for row in rows))
    counts = f"{many(len(rows), 'prompt')} in English and {many(len(codes), 'language')}"
    lines = [
        f"{code}: {len(ids)} without a translation (null in the file): {', '.join(ids)}"
        for code, ids in failed.items()
        if ids
    ]
    return "\n".join([f"{options.to}: {counts}.", *lines, *_about(translator)])


def _about(translator: Translator, column: str = "") -> list[str]:
    return [
        f"Translator: {translator.signature}",
        f"Machine translations{column}: have them read by someone who knows the language.",
    ]


def _read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file, each with at least `id` and `en`; `zh-CN` becomes `zh`."""
    rows = []
    for number, row in json_objects(path, expected=ROW):
        location = f"{path}, line {number}"
        for name in ("id", "en"):
            value = row.get(name)
            number_id = name == "id" and type(value) is int
            if not number_id and not (isinstance(value, str) and value.strip()):
                raise DataError(f"{location}, field {name!r}: expected a text")
        renamed: dict[str, Any] = {}
        for name, value in row.items():
            code = None if name in ABOUT_FIELDS else language_of(name)
            field = name if code is None else FIELDS.get(code, name)
            if field in renamed:
                raise DataError(f"{location}, field {name!r}: {field!r} appears twice")
            renamed[field] = value
        rows.append(renamed)
    if not rows:
        raise DataError(f"{path}: the file has no prompts")
    return rows


def _translate_custom(
    options: argparse.Namespace, settings: Settings, translator: Translator
) -> str:
    path, to = options.file, options.to
    data = load_custom_dataset(str(path))
    if "en" not in data.languages:
        raise DataError(f"{path}: has no English, which is translated from; add question_en")
    is_conversations = data.shape == CONVERSATIONS
    if is_conversations and to.suffix.lower() != ".jsonl":
        raise SettingError(f"--to {to}: conversations are written as .jsonl")
    codes = settings.languages or tuple(code for code in data.languages if code != "en")
    translator.check(*(("en", code) for code in codes))
    new: dict[str, dict[str, str]] = {question.id: {} for question in data.questions}
    lines, n_missing, n_failed = [], 0, 0
    for code in codes:
        missing = [
            (question.id, kind, text)
            for question in data.questions
            for kind, text in _texts(question, "en").items()
            if kind not in _texts(question, code)
        ]
        texts = translator.translate([text for _, _, text in missing], "en", code)
        done = 0
        for (key, kind, _), text in zip(missing, texts, strict=True):
            if text is not None and not text.startswith("="):  # a spreadsheet would run it
                new[key][f"{kind}_{code}"] = text
                done += 1
        failed = len(missing) - done
        n_missing, n_failed = n_missing + len(missing), n_failed + failed
        failures = f", {failed} could not be and are empty" if failed else ""
        lines.append(f"{language_name(code)}: {many(done, 'text')} translated{failures}")
    _refuse_nothing(path, n_missing, n_failed)
    every = [*data.languages, *(code for code in codes if code not in data.languages)]
    is_text = to.suffix.lower() in _TEXTS
    if is_conversations:
        rows = [_conversation_row(q, every, new[q.id]) for q in data.questions if q.turns]
    else:
        rows = _custom_rows(data.questions, every, new, is_text=is_text)
    write_rows(to, rows)
    left_out = [*data.unused, f"an earlier column {NOTES!r}"]
    if is_conversations:
        left_out = ["fields that the tasks do not read"]
    if is_text and any(item.tags for question in data.questions for item in question.rubric):
        left_out.append("tags of criteria")
    counts = f"{many(len(data.questions), 'question')} in {many(len(every), 'language')}"
    note = _about(translator, " (named in the column 'notes')")
    return "\n".join([f"{to}: {counts}.", *lines, *note, f"Not in it: {', '.join(left_out)}."])


def _texts(question: Question, code: str) -> Mapping[str, str]:
    """Return kind -> text of a question in a language; of a conversation number -> turn."""
    if not question.turns:
        return question.texts_in(code)
    return {str(n): turn["content"] for n, turn in enumerate(question.turns.get(code, ()))}


def _conversation_row(
    question: Question, codes: Sequence[str], new: Mapping[str, str]
) -> dict[str, Any]:
    """Return a conversation in HealthBench's form, with its other languages beside each turn."""
    turns: list[dict[str, str]] = [
        {"role": turn["role"]} for turn in next(iter(question.turns.values()), ())
    ]
    for code in codes:
        name = "content" if code == "en" else f"content_{'ind' if code == 'id' else code}"
        texts = _texts(question, code)
        for number, turn in enumerate(turns):
            text = texts.get(str(number)) or new.get(f"{number}_{code}")
            turn |= {name: text} if text else {}
    tags = [f"theme:{theme}" for theme in question.themes]
    tags += [f"physician_agreed_category:{name}" for name in question.agreed_categories]
    translated = dict.fromkeys(key.partition("_")[2] for key in new)
    return {
        "prompt_id": question.id,
        "prompt": turns,
        "rubrics": _criteria(question),
        "example_tags": tags,
        **({"canary": question.canary} if question.canary else {}),
        **({NOTES: f"machine translated: {', '.join(translated)}"} if translated else {}),
    }


def _criteria(question: Question) -> list[dict[str, Any]]:
    return [
        {"criterion": item.text, "points": item.points, "tags": [*item.tags]}
        for item in question.rubric
    ]


def _custom_rows(
    questions: Sequence[Question],
    codes: Sequence[str],
    new: Mapping[str, Mapping[str, str]],
    *,
    is_text: bool,
) -> list[dict[str, Any]]:
    """Return a row per question, without columns that are empty in all rows."""
    kinds = list(dict.fromkeys(k for q in questions for texts in q.texts.values() for k in texts))
    rows = []
    for question in questions:
        texts = {f"{kind}_{code}": text for code in codes
                 for kind, text in question.texts_in(code).items()}  # fmt: skip
        texts.update(new[question.id])
        items = question.rubric
        criteria: Any = _criteria(question)
        if is_text:
            criteria = "\n".join(f"{x.points:g}: {' '.join(x.text.split())}" for x in items)
        row = {"id": question.id, "category": question.category,
               "correct": ", ".join(question.correct), "criteria": criteria}  # fmt: skip
        for code in codes:
            name = "ind" if code == "id" else code  # `question_id` is the id
            row |= {f"{kind}_{name}": texts.get(f"{kind}_{code}", "") for kind in kinds}
        translated = ", ".join(new[question.id])
        rows.append(row | {"notes": f"machine translated: {translated}" if translated else ""})
    optional = ("category", "correct", "criteria")
    empty = [name for name in optional if not any(row[name] for row in rows)]
    return [{name: value for name, value in row.items() if name not in empty} for row in rows]
