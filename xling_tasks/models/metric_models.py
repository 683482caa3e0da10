"""Models that metrics need: text encoders, and a fastText identifier of languages."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.encoder import Encoder
from xling_metrics.identifiers import Identifier, load_fasttext, missing_package

from xling_tasks.errors import BackendError, SettingError
from xling_tasks.log import warn_once
from xling_tasks.models.model_config import parse_model_name

DEFAULTS = {
    "encoder": {"model": "google-bert/bert-base-uncased",
                "revision": "86b5e0934494bd15c9632b12f734a8a67f723594"},
    "source_encoder": {"model": "google-bert/bert-base-multilingual-cased",
                       "revision": "3f076fdb1ab68d5b2880cb87a0886f315b8146f8"},
}  # fmt: skip
"""The published encoder, and the multilingual one for scores in the source language."""

_KEYS = ("model", "revision", "layer", "device", "batch_size")


@dataclass(frozen=True)
class EncoderConfig:
    """An encoder setting: JSON of the arguments of `xling_metrics.encoder.Encoder.load`."""

    arguments: str

    @classmethod
    def parse(cls, name: str, value: Any) -> EncoderConfig:
        """Parse a model name, or an object with `revision`, `layer`, ...; or raise SettingError."""
        form = 'a model name, {"model": ...} or false'
        value = parse_model_name(f"--metadata {name}", value, _KEYS, form)
        value["model"] = os.path.expanduser(value["model"])
        return cls(json.dumps(value, sort_keys=True))


def require_published_encoders(settings: Mapping[str, Any]) -> None:
    """Raise a SettingError for another encoder than the papers'; with none its metrics go."""
    for name, usual in DEFAULTS.items():
        chosen = settings.get(name)
        if not isinstance(chosen, EncoderConfig):
            continue
        arguments = json.loads(chosen.arguments)
        paper = usual["model"].rpartition("/")[2]
        if Path(arguments["model"]).name != paper or "layer" in arguments:
            raise SettingError(
                f"--metadata protocol=published: the papers' {name} is {paper} with its usual "
                f"layer, and {name}={chosen.arguments} contradicts it; name a folder of that name, "
                f"or {name}=false to leave its metrics out"
            )


def load_encoder(setting: EncoderConfig | bool | None, name: str) -> Any:
    """Return the encoder of a setting: None for the default one, False for none.

    The result is None if it is switched off, or if the default one cannot be loaded (with a
    warning); for one that the user named a BackendError is raised.
    """
    if setting is False:
        return None
    default = EncoderConfig.parse(name, DEFAULTS[name])
    config = setting if isinstance(setting, EncoderConfig) else default
    encoder, problem = _load(config)
    if encoder is None and setting is config:
        raise BackendError(f"--metadata {name}={config.arguments}: {problem}")
    if encoder is None:
        warn_once(
            f"bertscore_* and sim_sent are left out, because the {name} "
            f"{DEFAULTS[name]['model']!r} cannot be loaded ({problem}). Install the extra `hf`, "
            f"or name a model or folder with --metadata {name}=..., or say {name}=false."
        )
    return encoder


@functools.lru_cache(maxsize=4)
def _load(config: EncoderConfig) -> tuple[Any, str]:
    """Return the encoder, or None and the reason; tried once per process."""
    try:
        arguments = json.loads(config.arguments)
        return Encoder.load(arguments.pop("model"), **arguments), ""
    except Exception as error:  # missing packages, no network, no such model, a wrong layer
        return None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


# The setting `language_identifier`, which replaces langid


def validate_identifier(key: str, value: object) -> str | None:
    """Return the path of a model; raise SettingError if it is no file or a package is missing."""
    if value is None or value is False or value == "":
        return None
    value = os.path.expanduser(value) if isinstance(value, str) else value
    if not isinstance(value, str) or not Path(value).is_file():
        raise SettingError(
            f"--metadata {key}={value!r:.80}: not a file; give a fastText model (GlotLID, OpenLID, "
            "lid.176)"
        )
    if (package := missing_package()) is not None:
        raise SettingError(
            f'--metadata {key}={value}: needs {package}; pip install "xling-tasks[identifiers]"'
        )
    return value


def load_identifier(name: str) -> Identifier:
    """Load the model of the setting once per process; raise a SettingError if that fails."""
    try:
        return load_fasttext(name)
    except Exception as error:  # whatever a package's reader raises
        raise SettingError(
            f"--metadata language_identifier={name}: cannot be loaded ({error}); give a fastText "
            "model such as GlotLID's"
        ) from error
