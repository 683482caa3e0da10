"""A model of the harness in a second role, as a setting names it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from xling_tasks.criteria import MOST_JUDGES
from xling_tasks.errors import SettingError, refuse_unknown
from xling_tasks.harness.arguments import identity_of
from xling_tasks.harness.run import as_mapping
from xling_tasks.secrets import refuse_secrets

SELF = "self"


def parse_model_name(name: str, value: Any, known: Sequence[str], form: str) -> dict[str, Any]:
    """A setting that is a model's name, or an object with `model` and other keys.

    `form` is what is expected, for messages.

    Raises:
        SettingError: If it has no model, or a key that is not known.
    """
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[")):
        value = {"model": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("model"), str):
        raise SettingError(
            f"{name}: expected {form}, and --metadata as a whole JSON, got {value!r:.80}"
        )
    refuse_unknown(f"{name}.", value, known)
    return dict(value)


@dataclass(frozen=True)
class ModelConfig:
    """Any model of the harness, in a second role (judge, translator).

    Attributes:
        model: The harness's name (`hf`, `vllm`, `local-chat-completions`, ...), or `self` for
            the model under test.
        model_args: Its arguments, as for `--model_args`. No secrets: API keys come from the
            environment.
        batch_size: As `--batch_size`; None leaves the backend's default.
        max_gen_toks: The most tokens of one reply.
        apply_chat_template: `auto` (where the backend has one), true or false.
        deadline: Seconds for one request, all attempts and waits included.
        batch: Whether it is asked by its service's batch interface.
        both_orders: Whether a judge of correctness is also asked with the two answers exchanged.
    """

    model: str
    model_args: dict[str, Any] = field(default_factory=dict)
    batch_size: int | str | None = None
    max_gen_toks: int = 1024
    apply_chat_template: bool | str = "auto"
    deadline: float = 600.0
    batch: bool = False
    both_orders: bool = False

    @classmethod
    def parse(cls, name: str, value: Any) -> ModelConfig:
        """Read a spec from `{"model": ..., "model_args": {...}, ...}` or a bare model name.

        Raises:
            SettingError: Naming the key that is wrong.
        """
        known = [item.name for item in fields(cls)]
        form = '{"model": "<harness model>", "model_args": {...}}'
        value = parse_model_name(name, value, known, form)
        args = value.get("model_args") or {}
        if not isinstance(args, (str, Mapping)):
            raise SettingError(f"{name}.model_args: expected an object, got {args!r:.60}")
        args = as_mapping(args)
        refuse_secrets(f"{name}.model_args", args)
        if str(args.get("trust_remote_code") or "false").lower() not in ("false", "0"):
            raise SettingError(
                f"{name}.model_args.trust_remote_code: code out of a repository is run for the "
                "model under test only; serve such a model and name its address (base_url)"
            )
        spec = cls(**{**value, "model_args": dict(args)})
        if not _is_whole(spec.max_gen_toks):
            raise SettingError(f"{name}.max_gen_toks: must be a positive integer")
        size = spec.batch_size
        text = isinstance(size, str) and re.fullmatch(r"auto(:\d{1,4})?|[1-9]\d{0,6}", size)
        if size is not None and not _is_whole(size) and not text:
            raise SettingError(
                f"{name}.batch_size: must be a positive integer or 'auto', got {size!r:.40}"
            )
        for key in ("batch", "both_orders"):
            if not isinstance(getattr(spec, key), bool):
                raise SettingError(f"{name}.{key}: must be true or false")
        if spec.both_orders and not re.fullmatch(r"judge(\[\d+\])?", name):
            raise SettingError(f"{name}.both_orders: only a judge compares two answers")
        seconds = spec.deadline
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise SettingError(f"{name}.deadline: must be a number of seconds above 0")
        if spec.apply_chat_template not in (True, False, "auto"):
            raise SettingError(f'{name}.apply_chat_template: must be "auto", true or false')
        return spec


@dataclass(frozen=True)
class JudgeConfig:
    """One judge of several; its name is given with `name`, or its number from 1."""

    name: str
    spec: ModelConfig


def parse_judges(key: str, values: Sequence[Any]) -> tuple[JudgeConfig, ...]:
    """Read a list of judges: specs as `ModelSpec.parse` takes them, each with a `name` if wanted.

    Raises:
        SettingError: For an empty or too long list, a judge or a name that appears twice, or what
            is wrong with one of them, by its number.
    """
    if not 1 <= len(values) <= MOST_JUDGES:
        raise SettingError(f"{key}: a list has 1 to {MOST_JUDGES} judges, got {len(values)}")
    jurors: list[JudgeConfig] = []
    for number, value in enumerate(values, 1):
        place, name = f"{key}[{number}]", str(number)
        if isinstance(value, Mapping) and "name" in value:
            name = value["name"]
            value = {k: item for k, item in value.items() if k != "name"}
            good = isinstance(name, str) and re.fullmatch(r"[A-Za-z][\w.-]{0,39}", name, re.A)
            if not good:
                raise SettingError(
                    f"{place}.name: a letter, then up to 39 letters, digits and signs of _.-, "
                    f"got {name!r:.60}"
                )
        spec = ModelConfig.parse(place, value)
        for index, other in enumerate(jurors, 1):
            if other.name == name:
                raise SettingError(f"{place}.name: {name!r} is judge {index}; choose another name")
            if _who(other.spec) == _who(spec):
                raise SettingError(
                    f"{place}: the same model and arguments as judge {index}, which would have "
                    "two votes; name another model"
                )
        jurors.append(JudgeConfig(name, spec))
    return tuple(jurors)


def _who(spec: ModelConfig) -> tuple[str, dict[str, Any]]:
    return spec.model, identity_of(spec.model_args)


def _is_whole(value: Any) -> bool:
    """Whether a number counts something; True is none, though Python calls it an integer."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
