"""The settings a user gives with `--metadata`, checked at once.

The harness merges `--metadata` over the task file's `metadata` and over the model args, so a task
sees one mapping of all three. Keys that are neither settings nor model args are errors.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from xling_tasks.data.prompt_sets import ALL, PARTS
from xling_tasks.data.protocols import FIXED, fixed
from xling_tasks.errors import SettingError, did_you_mean, nearest
from xling_tasks.languages import LANGUAGES, language_of
from xling_tasks.models.metric_models import (
    EncoderConfig,
    require_published_encoders,
    validate_identifier,
)
from xling_tasks.models.model_config import JudgeConfig, ModelConfig, parse_judges
from xling_tasks.models.translate.translator import parse_translator

_MOST = 10_000
"""More answers to a question, or seeds, than memory and time would allow."""

MOST_CRITERIA = 20
"""Criteria in one call of a judge, so that its reply comes near no length limit."""

_PUBLISHED = "published"
_JUDGE = "judge"
_HARNESS_KEYS = frozenset({"version", "config_source", "_metadata"})


def _text(key: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    raise SettingError(f"--metadata {key}: expected text, got {value!r:.60}")


def temperatures(key: str, value: Any) -> tuple[float, ...]:
    """Return distinct temperatures from 0 to 2, from a number or a list; or raise SettingError."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise SettingError(f"{key}: the list is empty")
    for item in values:
        is_number = isinstance(item, (int, float)) and not isinstance(item, bool)
        if not is_number or not 0 <= item <= 2:
            raise SettingError(
                f"{key}: {item!r} is not a number from 0 to 2; write them as 0.7 or [0.0,1.0]"
            )
    if len({*map(float, values)}) != len(values):
        raise SettingError(f"{key}: a temperature appears twice in {[*values]}")
    return tuple(map(float, values))


def _temperatures(key: str, value: Any) -> tuple[float, ...]:
    return temperatures(f"--metadata {key}", value)


def _one_of(*options: str | None) -> Callable[[str, Any], str | None]:
    choices = " or ".join(repr(word) for word in options if word is not None)

    def check(key: str, value: Any) -> str | None:
        if value not in options:
            raise SettingError(f"--metadata {key}: must be {choices}, got {value!r:.40}")
        return None if value is None else str(value)

    return check


def _integer(minimum: int, maximum: int) -> Callable[[str, Any], int]:
    def check(key: str, value: Any) -> int:
        if type(value) is int and minimum <= value <= maximum:
            return value
        raise SettingError(
            f"--metadata {key}: must be an integer from {minimum} to {maximum:,}, got {value!r:.40}"
        )

    return check


_seed = _integer(0, 2**31 - 1)


def _seeds(key: str, value: Any) -> tuple[int, ...]:
    """Return seeds, from their number (counted from 0) or from a list."""
    if isinstance(value, int):
        return tuple(range(_integer(0, _MOST)(key, value)))
    if not isinstance(value, (list, tuple)):
        raise SettingError(f"--metadata {key}: expected a number or a list, got {value!r:.40}")
    seeds = tuple(_seed(key, item) for item in value)
    if len({*seeds}) != len(seeds):
        raise SettingError(f"--metadata {key}: a seed appears twice in {list(seeds)}")
    return seeds


def _languages(key: str, value: Any) -> tuple[str, ...] | None:
    """Return codes and tags beside English, without repetition (`iw` is `he`)."""
    if value is None:
        return None
    # The harness hands [hi,es] on as this very text.
    items = value.strip(" []").split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not items:
        raise SettingError(f"--metadata {key}: expected a list such as [hi,es], got {value!r:.40}")
    codes: list[str] = []
    for item in items:
        language = language_of(str(item).strip(" '\""))
        if language is None:
            raise SettingError(
                f"--metadata {key}: unknown language {item!r}.{did_you_mean(str(item), LANGUAGES)} "
                "Other languages are known by their ISO 639 codes, and any by its code with its "
                "script (dag-Latn)"
            )
        if language.code in codes:
            raise SettingError(f"--metadata {key}: {item!r} appears twice in {list(items)}")
        codes.append(language.code)
    return tuple(code for code in codes if code != "en")


def _encoder(key: str, value: Any) -> EncoderConfig | bool | None:
    return value if value is None or value is False else EncoderConfig.parse(key, value)


def _judge(key: str, value: Any) -> ModelConfig | tuple[JudgeConfig, ...] | None:
    if isinstance(value, (list, tuple)):
        return parse_judges(key, value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        # The harness hands key=[a,b] on as this very text.
        raise SettingError(
            f"--metadata {key}: a list of judges is given as JSON: "
            f'--metadata \'{{"{key}": [{{"model": ...}}, {{"model": ...}}]}}\''
        )
    return None if value is None else ModelConfig.parse(key, value)


def _extractor(key: str, value: Any) -> ModelConfig | str | None:
    return value if value is None or value == _JUDGE else ModelConfig.parse(key, value)


def _prompt_set(key: str, value: Any) -> str:
    if isinstance(value, str) and (value in PARTS or Path(value).expanduser().is_file()):
        return value
    raise SettingError(
        f"--metadata {key}: must be {', '.join(map(repr, PARTS))} or a JSONL file, "
        f"got {value!r:.80}"
    )


def _cache(key: str, value: Any) -> str | bool | None:
    if value is True:
        return None
    if isinstance(value, str) and value.casefold() in ("true", "false"):
        raise SettingError(
            f"--metadata {key}: the text {value!r} would be a folder: write {value.casefold()} "
            f"without quotes, or ./{value} for a folder of that name"
        )
    return False if value is False else _text(key, value)


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise SettingError(f"--metadata {key}: must be true or false, got {value!r:.40}")
    return value


@dataclass(frozen=True)
class Settings:
    """All settings of all tasks, as `docs/settings.md` describes them; a task ignores many.

    Attributes:
        protocol: `published` sets all that the papers fix (see `data/protocols.py`); None nothing.
        judge: None for no judgement. Of a list of judges the first, which also does what one judge
            does alone (claims, reading, topics).
        jury: All judges of correctness where the setting `judge` is a list of several; else empty.
        greedy_repeats: None for `once` on local backends, which would give k copies of one answer,
            and `k` on services.
        sampling_seed: What the seeds of sampled answers are derived from (`tasks/requests.py`).
        encoder: False for none; None for the default; so `source_encoder`.
        topic_seeds: Empty for no topic metrics.
        languages: Those beside English; None for all that the data has.
        xling_cache: None for the default (`XLING_CACHE`, else `~/.cache/xling_tasks`), False for
            no cache.
        xling_resume: False to ask everything afresh; a folder with the store to go on from; None
            for those in the cache.
        given: Names of the settings that the user or the protocol set.
    """

    protocol: Annotated[str | None, _one_of(_PUBLISHED, None)] = None
    data_dir: Annotated[str | None, _text] = None
    temperatures: Annotated[tuple[float, ...], _temperatures] = (0.0, 1.0)
    prompt_templates: Annotated[str | None, _text] = None
    prompt_language: Annotated[str, _one_of(_PUBLISHED, "en", "native")] = "published"
    judge: Annotated[ModelConfig | None, _judge] = None
    answer_extractor: Annotated[ModelConfig | None, _extractor] = None
    k: Annotated[int, _integer(1, _MOST)] = 10
    greedy_repeats: Annotated[str | None, _one_of("once", "k", None)] = None
    sampling_seed: Annotated[int, _seed] = 1234
    translator: Annotated[ModelConfig | None, parse_translator] = None
    encoder: Annotated[EncoderConfig | bool | None, _encoder] = None
    source_encoder: Annotated[EncoderConfig | bool | None, _encoder] = None
    bertscore_idf: Annotated[bool, _switch] = False
    topic_seeds: Annotated[tuple[int, ...], _seeds] = (0,)
    sim_hdp: Annotated[bool, _switch] = False
    languages: Annotated[tuple[str, ...] | None, _languages] = None
    trained_languages: Annotated[tuple[str, ...] | None, _languages] = None
    prompt_set: Annotated[str, _prompt_set] = ALL
    empathy_classifier: Annotated[str | None, _text] = None
    xling_cache: Annotated[str | bool | None, _cache] = None
    xling_resume: Annotated[str | bool | None, _cache] = None
    rubric_batch_size: Annotated[int, _integer(1, MOST_CRITERIA)] = 1
    english_floor: Annotated[bool, _switch] = True
    batch: Annotated[bool, _switch] = False
    language_identifier: Annotated[str | None, validate_identifier] = None
    given: frozenset[str] = field(default=frozenset(), repr=False)
    jury: tuple[JudgeConfig, ...] = ()

    @classmethod
    def parse(cls, metadata: Mapping[str, Any], model_args: Mapping[str, Any] | None) -> Settings:
        """Read and check the settings in a task's metadata; raise a SettingError for a wrong one.

        Where `model_args` are not known, only keys that look like a misspelt setting are refused.
        """
        checks = _checks()
        ignored = _HARNESS_KEYS | set(model_args or {})
        given = {key: value for key, value in metadata.items() if key in checks}
        for key in metadata:
            is_unknown = key not in checks and key not in ignored
            if is_unknown and (model_args is not None or nearest(key, checks, 0.8)):
                raise SettingError(f"--metadata {key}: unknown setting.{did_you_mean(key, checks)}")
        values = {key: checks[key](key, value) for key, value in given.items()}
        if isinstance(values.get("judge"), tuple):
            jurors = values["judge"]
            values["judge"] = jurors[0].spec
            values["jury"] = jurors if len(jurors) > 1 else ()
        if values.get("protocol") is not None:
            require_published_encoders(values)
            judges = [juror.spec for juror in values.get("jury") or ()] or [values.get("judge")]
            if any(judge is not None and judge.both_orders for judge in judges):
                raise SettingError(
                    f"--metadata protocol={_PUBLISHED}: judge.both_orders contradicts what "
                    "XLingEval fixed, the reference first; leave out the one or the other"
                )
            values = fixed(values)
            given |= dict.fromkeys(FIXED.keys() & checks.keys())
        if values.get("answer_extractor") == _JUDGE:
            values["answer_extractor"] = values.get("judge")
            if values["answer_extractor"] is None:
                raise SettingError(
                    "--metadata answer_extractor=judge: no judge is set; set one or name a model"
                )
        return cls(**values, given=frozenset(given))

    def dump(self) -> dict[str, Any]:
        """Return the settings as JSON values, for the results; all judges under `judge`."""
        plain: dict[str, Any] = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if key != "given"
        }
        jurors = plain.pop("jury")
        if jurors:
            plain["judge"] = [{"name": juror["name"], **juror["spec"]} for juror in jurors]
        if plain["protocol"] is None:
            plain.pop("protocol")
        for key in ("encoder", "source_encoder"):
            if isinstance(plain[key], dict):
                plain[key] = json.loads(plain[key]["arguments"])
        return plain

    @property
    def jurors(self) -> tuple[JudgeConfig, ...]:
        """All judges of correctness with their names; one without a list, none without a judge."""
        return self.jury or (() if self.judge is None else (JudgeConfig("1", self.judge),))

    def judge_role(self, number: int) -> str:
        """Return what a judge, counted from 0, is called in costs: `judge` if it is alone."""
        return f"judge {self.jury[number].name}" if self.jury else "judge"


def model_args_in(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model arguments among a task's metadata: all that is no setting."""
    known_keys = _HARNESS_KEYS | _checks().keys()
    return {key: value for key, value in metadata.items() if key not in known_keys}


@functools.cache
def _checks() -> dict[str, Callable[[str, Any], Any]]:
    """Return, by setting, what checks a value: it stands beside the type."""
    hints = get_type_hints(Settings, include_extras=True).items()
    return {name: hint.__metadata__[0] for name, hint in hints if hasattr(hint, "__metadata__")}
