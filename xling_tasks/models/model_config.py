"""A model of the harness in a second role, as a setting names it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from xling_tasks.criteria import MOST_JUDGES
from xling_tasks.errors import SettingError, refuse_unknown
from xling_tasks.harness.run import as_mapping
from xling_tasks.secrets import refuse_secrets

SELF = "self"
_FORM = '{"model": "<harness model>", "model_args": {...}}'


def parse_model_name(name: str, value: Any, keys: Sequence[str], form: str) -> dict[str, Any]:
    """Parse a setting that is a model's name, or an object with `model` and other `known` keys.

    Raises:
        SettingError: If it has no model (`form` says what is expected), or another key.
    """
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[")):
        value = {"model": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("model"), str):
        raise SettingError(
            f"{name}: expected {form}, and --metadata as a whole JSON, got {value!r:.80}"
        )
    refuse_unknown(f"{name}.", value, keys)
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
        max_gen_toks: The most tokens of one response.
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

    def __hash__(self) -> int:
        return hash(json.dumps(self.__dict__, sort_keys=True, default=str))

    @classmethod
    def parse(cls, name: str, value: Any) -> ModelConfig:
        """Parse `{"model": ..., "model_args": {...}, ...}` or a bare model name.

        Raises:
            SettingError: Naming the key that is wrong.
        """
        value = parse_model_name(name, value, [item.name for item in fields(cls)], _FORM)
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
        config = cls(**{**value, "model_args": dict(args)})
        config._validate(name)
        return config

    def _validate(self, name: str) -> None:
        size, seconds = self.batch_size, self.deadline
        auto = isinstance(size, str) and re.fullmatch(r"auto(:\d{1,4})?|[1-9]\d{0,6}", size)
        is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        truth = {key: (isinstance(getattr(self, key), bool), "true or false")
                 for key in ("batch", "both_orders")}  # fmt: skip
        chat = self.apply_chat_template in (True, False, "auto"), '"auto", true or false'
        rules = {
            "max_gen_toks": (_is_count(self.max_gen_toks), "a positive integer"),
            "batch_size": (size is None or _is_count(size) or auto, "a positive integer or 'auto'"),
            "deadline": (is_number and seconds > 0, "a number of seconds above 0"),
            "apply_chat_template": chat,
            **truth,
        }
        for key, (valid, form) in rules.items():
            if not valid:
                raise SettingError(f"{name}.{key}: must be {form}, got {getattr(self, key)!r:.40}")
        if self.both_orders and not re.fullmatch(r"judge(\[\d+\])?", name):
            raise SettingError(f"{name}.both_orders: only a judge compares two answers")


@dataclass(frozen=True)
class JudgeConfig:
    """One judge of a panel; its name is given with `name`, or its number from 1."""

    name: str
    spec: ModelConfig


def parse_judges(key: str, values: Sequence[Any]) -> tuple[JudgeConfig, ...]:
    """Parse a list of judges, each as `ModelConfig.parse` takes it, with a `name` if wanted.

    Raises:
        SettingError: For an empty or too long list, a judge or a name that appears twice, or what
            is wrong with one of them, by its number.
    """
    if not 1 <= len(values) <= MOST_JUDGES:
        raise SettingError(f"{key}: a list has 1 to {MOST_JUDGES} judges, got {len(values)}")
    judges: list[JudgeConfig] = []
    for number, value in enumerate(values, 1):
        location, name = f"{key}[{number}]", str(number)
        if isinstance(value, Mapping) and "name" in value:
            name, value = value["name"], {k: item for k, item in value.items() if k != "name"}
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w.-]{0,39}", name, re.A):
                raise SettingError(
                    f"{location}.name: a letter, then up to 39 letters, digits and signs of _.-, "
                    f"got {name!r:.60}"
                )
        if name in [judge.name for judge in judges]:
            raise SettingError(f"{location}.name: {name!r} is another judge's; choose another")
        judges.append(JudgeConfig(name, ModelConfig.parse(location, value)))
    return tuple(judges)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
