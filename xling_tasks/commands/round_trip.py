"""`xling round-trip`: how much of a text survives the way to a language and back.

The self-check of arXiv:2505.21999 (Table 1): English answers are translated and back, and their
information consistency with themselves bounds what the tasks can show.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from xling_metrics.base import mean
from xling_metrics.claims import ClaimScores, claim_scores, information_f1

from xling_tasks.commands.options import (
    add_json,
    add_languages,
    add_limit,
    add_metadata,
    settings_with,
)
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.published import published
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.data.tables import text_lines
from xling_tasks.errors import DataError, user_path
from xling_tasks.languages import LANGUAGES, language_name
from xling_tasks.models.backend import Backend, load_backend
from xling_tasks.models.claims import (
    ClaimExtraction,
    extract_claims,
    verify_claims,
)
from xling_tasks.models.translate.translator import Translator, load_translator
from xling_tasks.output import many, table
from xling_tasks.safe_json import json_objects


def check_translator(options: argparse.Namespace) -> str:
    """A table of information consistency per language, the paper's values beside it."""
    settings, specs = settings_with(options, "translator", "judge")
    texts = _texts(options.texts)[: options.limit]
    codes = settings.languages or tuple(code for code in LANGUAGES if code != "en")
    prompts = PromptTemplates(settings.prompt_templates)
    engine = load_translator(specs[0], settings.xling_cache, prompts.get("translate", "en"))
    engine.check(*(pair for code in codes for pair in (("en", code), (code, "en"))))
    judge = load_backend("judge", specs[1], settings.xling_cache)
    judge.check()
    rows = _measured(texts, codes, engine, judge, prompts)
    if options.json:
        signatures = {"translator": engine.signature, "judge": judge.signature}
        return json.dumps({"languages": rows, "signatures": signatures}, indent=2)
    return (
        f"{table(rows, digits=2)}\n\n{many(len(texts), 'text')}, to each language and back. "
        "published: Llama-3.1-8B as evaluator, NLLB-200 54B as translator, other texts "
        "(arXiv:2505.21999, Table 1).\n"
        f"Translator: {engine.signature}\nJudge: {judge.signature}"
    )


def _measured(
    texts: Sequence[str],
    codes: Sequence[str],
    engine: Translator,
    judge: Backend,
    prompts: PromptTemplates,
) -> list[dict[str, Any]]:
    back = {code: _there_and_back(texts, code, engine) for code in codes}
    every = list(dict.fromkeys([*texts, *(t for b in back.values() for t in b if t is not None)]))
    extractions = extract_claims(every, prompts.get("claims", "en"), judge)
    claims = dict(zip(every, extractions, strict=True))
    compared = [
        pair
        for code in codes
        for text, other in zip(texts, back[code], strict=True)
        if other is not None
        for pair in _pairs(text, other, claims)
    ]
    said = verify_claims(compared, prompts.get("support", "en"), judge)
    verdicts = dict(zip(compared, said, strict=True))

    def scores(text: str, other: str | None) -> ClaimScores:
        pairs = [] if other is None else _pairs(text, other, claims)
        return claim_scores(*(verdicts[p] for p in pairs)) if pairs else claim_scores(None, None)

    return [
        _row(code, [scores(*pair) for pair in zip(texts, back[code], strict=True)])
        for code in codes
    ]


def _pairs(
    text: str, other: str, claims: dict[str, ClaimExtraction]
) -> list[tuple[tuple[str, ...], str]]:
    own, others = claims[text].claims, claims[other].claims
    return [] if own is None or others is None else [(others, text), (own, other)]


def _row(code: str, scores: Sequence[ClaimScores]) -> dict[str, Any]:
    reference = list(
        islice((f.value for f in published(source="found_in_translation", table="Table 1",
                                           language=code)), 1)
    )  # fmt: skip
    return {
        "language": code,
        "name": language_name(code),
        "information_f1": information_f1(scores),
        "precision": mean([score.precision for score in scores if score.precision is not None]),
        "recall": mean([score.recall for score in scores if score.recall is not None]),
        "scored": sum(score.f1 is not None for score in scores),
        "unscored": sum(score.f1 is None for score in scores),
        "published": reference[0] if reference else None,
    }


def _there_and_back(texts: Sequence[str], code: str, engine: Translator) -> list[str | None]:
    there = engine.translate(texts, "en", code)
    known = [text for text in there if text is not None]
    back = dict(zip(known, engine.translate(known, code, "en"), strict=True))
    return [None if text is None else back[text] for text in there]


def _texts(path: Path | None) -> list[str]:
    """English texts: lines of a file, or the sample's reference answers."""
    if path is None:
        rows = [row for _, row in json_objects(SAMPLE_FOLDER / "xlinghealth_demo.jsonl")]
        return list(dict.fromkeys(row["answer_English"] for row in rows if row["label"] == 1))
    distinct = list(dict.fromkeys(text_lines(path)))
    if not distinct:
        raise DataError(f"{path}: has no texts (one per line)")
    return distinct


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling round-trip`."""
    add_languages(parser, "all 30")
    parser.add_argument(
        "--texts", type=user_path, metavar="FILE",
        help="English texts, one per line (default: the bundled sample)",
    )  # fmt: skip
    add_limit(parser, "first N texts")
    add_json(parser)
    add_metadata(parser)
    parser.set_defaults(run=check_translator)
