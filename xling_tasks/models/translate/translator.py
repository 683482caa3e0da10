"""Translation of answers and prompts, by the setting `translator`.

It names what translates: an encoder-decoder (`seq2seq`), any model of the harness, or a file of
ready translations (`file`). What cannot be translated is None: never empty, never the source.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from xling_tasks.data.prompts import Prompt, Prompts
from xling_tasks.models.backend import run_token
from xling_tasks.models.spec import SELF, ModelSpec
from xling_tasks.models.translate import seq2seq as translate_seq2seq
from xling_tasks.models.translate.base import Counts, Translator
from xling_tasks.models.translate.engine import Engine
from xling_tasks.models.translate.file import FileTranslator, checked_path
from xling_tasks.models.translate.harness_model import HarnessModel
from xling_tasks.models.translate.sentences import SentenceTranslator
from xling_tasks.models.translate.seq2seq import Seq2Seq

__all__ = ["Counts", "Translator", "translator", "translator_spec"]

SEQ2SEQ = "seq2seq"
FILE = "file"


def translator_spec(name: str, value: Any) -> ModelSpec | None:
    """The setting `translator`; None for no translator (`null` or `none`).

    Raises:
        SettingError: Naming the key that is wrong.
    """
    if value is None or value in ("", "none"):
        return None
    spec = ModelSpec.parse(name, value)
    if spec.model == SEQ2SEQ:
        translate_seq2seq.checked_args(name, spec.model_args)
        translate_seq2seq.checked_batch(name, spec.batch_size)
    elif spec.model == FILE:
        checked_path(name, spec.model_args)
    return spec


def translator(
    spec: ModelSpec,
    cache: str | bool | None = None,
    prompt: Prompt | None = None,
    names: tuple[tuple[str, str], ...] = (),
) -> Translator:
    """The translator of a setting; the same one for the same setting, so that tasks share it.

    Args:
        spec: From `translator_spec`.
        cache: The setting `xling_cache`.
        prompt: The prompt `translate` for models of the harness; None for ours.
        names: (code, name) of languages that only a user's own data know.

    Raises:
        XlingError: If the file is wrong, or the model cannot be built.
    """
    token = run_token() if spec.model == SELF else None
    if spec.model in (SEQ2SEQ, FILE):
        # Which they do not use: others must not load a second copy.
        prompt, names = None, ()
    elif prompt is None:
        prompt = Prompts().get("translate", "en")
    described = json.dumps(spec.__dict__, sort_keys=True, default=str)
    return _shared(described, cache, prompt, token, names)


@functools.lru_cache(maxsize=4)
def _shared(
    spec_: str,
    cache: str | bool | None,
    prompt: Prompt | None,
    token: Any,
    names: tuple[tuple[str, str], ...],
) -> Translator:
    spec = ModelSpec(**json.loads(spec_))
    if spec.model == FILE:
        return FileTranslator(spec)
    engine: Engine = Seq2Seq(spec) if prompt is None else HarnessModel(spec, prompt, cache)
    return SentenceTranslator(engine, cache, dict(names))
