"""`xling round-trip`: how much of a text survives the way to a language and back.

The self-check of arXiv:2505.21999 (Table 1): English answers are translated and back, and their
information consistency with themselves bounds what the tasks can show.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_metrics.base import mean
from xling_metrics.claims import claim_scores, information_f1

from xling_tasks.commands import options as arguments
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.data.tables import text_lines
from xling_tasks.errors import DataError, user_path
from xling_tasks.languages import LANGUAGES, language_name
from xling_tasks.models.backend import Backend, load_backend
from xling_tasks.models.judge_items import extract_claims, verify_claims
from xling_tasks.models.translate.translator import Translator, load_translator
from xling_tasks.output import many, table
from xling_tasks.report.published import published
from xling_tasks.safe_json import json_objects


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling round-trip`."""
    arguments.add_languages(parser, "all 30")
    text = "English texts, one per line (default: the bundled sample)"
    parser.add_argument("--texts", type=user_path, metavar="FILE", help=text)
    arguments.add_limit(parser, "first N texts")
    arguments.add_json(parser)
    arguments.add_metadata(parser)
    parser.set_defaults(run=round_trip)


def round_trip(options: argparse.Namespace) -> str:
    """Return a table of information consistency per language beside the paper's values."""
    settings, specs = arguments.settings_with(options, "translator", "judge")
    texts = _read_texts(options.texts)[: options.limit]
    codes = settings.languages or tuple(code for code in LANGUAGES if code != "en")
    prompts = PromptTemplates(settings.prompt_templates)
    translator = load_translator(specs[0], settings.xling_cache, prompts.get("translate", "en"))
    translator.check(*(pair for code in codes for pair in (("en", code), (code, "en"))))
    judge = load_backend("judge", specs[1], settings.xling_cache)
    judge.check()
    rows = measure(texts, codes, translator, judge, prompts)
    if options.json:
        signatures = {"translator": translator.signature, "judge": judge.signature}
        return json.dumps({"languages": rows, "signatures": signatures}, indent=2)
    return (
        f"{table(rows, digits=2)}\n\n{many(len(texts), 'text')}, to each language and back. "
        "published: Llama-3.1-8B as evaluator, NLLB-200 54B as translator, other texts "
        f"(arXiv:2505.21999, Table 1).\nTranslator: {translator.signature}\n"
        f"Judge: {judge.signature}"
    )


def measure(
    texts: Sequence[str],
    codes: Sequence[str],
    translator: Translator,
    judge: Backend,
    prompts: PromptTemplates,
) -> list[dict[str, Any]]:
    """Translate, extract and verify claims; return a row of scores per language."""
    back: dict[str, list[str | None]] = {}
    for code in codes:
        there = translator.translate(texts, "en", code)
        known = [text for text in there if text is not None]
        again = dict(zip(known, translator.translate(known, code, "en"), strict=True))
        back[code] = [None if text is None else again[text] for text in there]
    every = list(dict.fromkeys([*texts, *(t for b in back.values() for t in b if t is not None)]))
    extractions = extract_claims(every, prompts.get("claims", "en"), judge)
    claims = {text: extraction.claims for text, extraction in zip(every, extractions, strict=True)}

    def pairs_of(text: str, other: str | None) -> list[tuple[tuple[str, ...], str]]:
        first, second = claims[text], None if other is None else claims[other]
        if other is None or first is None or second is None:
            return []
        return [(second, text), (first, other)]

    required = [p for code in codes for texts_pair in zip(texts, back[code], strict=True)
             for p in pairs_of(*texts_pair)]  # fmt: skip
    verified = verify_claims(required, prompts.get("support", "en"), judge)
    supported = dict(zip(required, verified, strict=True))
    rows = []
    for code in codes:
        pairs = [pairs_of(*texts_pair) for texts_pair in zip(texts, back[code], strict=True)]
        scores = [claim_scores(*((supported[p] for p in two) if two else (None, None)))
                  for two in pairs]  # fmt: skip
        printed = published(source="found_in_translation", table="Table 1", language=code)
        rows.append({
            "language": code,
            "name": language_name(code),
            "information_f1": information_f1(scores),
            "precision": mean([s.precision for s in scores if s.precision is not None]),
            "recall": mean([s.recall for s in scores if s.recall is not None]),
            "scored": sum(s.f1 is not None for s in scores),
            "unscored": sum(s.f1 is None for s in scores),
            "published": next((figure.value for figure in printed), None),
        })  # fmt: skip
    return rows


def _read_texts(path: Path | None) -> list[str]:
    """Return the lines of a file, or the sample's reference answers."""
    if path is None:
        rows = [row for _, row in json_objects(SAMPLE_FOLDER / "xlinghealth_demo.jsonl")]
        return list(dict.fromkeys(row["answer_English"] for row in rows if row["label"] == 1))
    distinct = list(dict.fromkeys(text_lines(path)))
    if not distinct:
        raise DataError(f"{path}: has no texts (one per line)")
    return distinct
