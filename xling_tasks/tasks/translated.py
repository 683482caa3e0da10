"""Tasks whose answers may be translated to English (setting `translator`)."""

from __future__ import annotations

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.languages import find
from xling_tasks.models.translate.segments import segment_text
from xling_tasks.models.translate.translator import FILE, SEQ2SEQ, Translator, load_translator
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.requests import SideRequest


class TranslatedTask(XlingTask):
    """What they share: the translator, its prompt, and what it will be asked."""

    _translator: Translator | None = None

    def translate_prompt(self) -> dict[str, PromptTemplate]:
        """The prompt of a translator that is a model of the harness; none for others."""
        spec, english = self.settings.translator, self.languages == ("en",)
        if spec is None or spec.model in (FILE, SEQ2SEQ) or english:
            return {}
        return {"translate": self.prompts.get("translate", "en")}

    def load_translator(self) -> None:
        """Load or reach the translator, if one is set and there is something to translate."""
        spec, pairs = self.settings.translator, [(c, "en") for c in self.languages if c != "en"]
        if spec is not None and pairs:
            prompt = self.prompts.get("translate", "en")
            self._translator = load_translator(spec, self.settings.xling_cache, prompt)
            self._translator.check(*pairs)

    def translation_requests(self, text: str, language: str) -> list[SideRequest]:
        """What a translator of the harness is asked about a text, or about one of its length."""
        spec, prompt = self.settings.translator, self.translate_prompt().get("translate")
        if spec is None or prompt is None or language == "en":
            return []
        source, target = find(language).name, find("en").name
        # The text that stands for an answer to come may be in any language.
        sentences = dict.fromkeys(
            segment_text(text, "en" if language == "th" else language).sentences
        )
        filled = (
            prompt.fill(text=each, source_language=source, target_language=target)
            for each in sentences
        )
        return [SideRequest("translator", each, spec.max_gen_toks, language) for each in filled]
