"""Answers translated to English (setting `translator`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.languages import find
from xling_tasks.models.translate.translator import FILE, SEQ2SEQ, load_translator
from xling_tasks.tasks.requests import AuxiliaryRequest


def translator_prompts(task: Any) -> Mapping[str, PromptTemplate]:
    """Return the prompt of a translator that is a model of the harness; nothing for others."""
    config, english = task.settings.translator, task.languages == ("en",)
    if config is None or config.model in (FILE, SEQ2SEQ) or english:
        return {}
    return {"translate": task.templates.get("translate", "en")}


def open_translator(task: Any) -> Any:
    """Load or reach the translator; None if none is set, or there is nothing to translate."""
    config, pairs = task.settings.translator, [(c, "en") for c in task.languages if c != "en"]
    if config is None or not pairs:
        return None
    prompt = task.templates.get("translate", "en")
    model = load_translator(config, task.settings.xling_cache, prompt)
    model.check(*pairs)
    return model


def translation_requests(task: Any, text: str, language: str) -> list[AuxiliaryRequest]:
    """Return what a translator of the harness is asked about a text, or about one of its length."""
    config, prompt = task.settings.translator, translator_prompts(task).get("translate")
    if config is None or prompt is None or language == "en":
        return []
    source, target = find(language).name, find("en").name
    filled = prompt.fill(text=text, source_language=source, target_language=target)
    return [AuxiliaryRequest("translator", filled, config.max_gen_toks, language)]
