"""A model of the harness in a second role, as a setting names it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from xling_tasks.criteria import MOST_JUDGES
from xling_tasks.errors import SettingError, refuse_unknown
from xling_tasks.secrets import refuse_secrets

SELF = "self"
_FORM = '{"model": "<harness model>", "model_args": {...}}'


def parse_model_name(name: str, value: Any, keys: Sequence[str], form: str) -> dict[str, Any]:
    """Parse a model name, or an object with `model` and other KEYS; FORM is for the error."""
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
    """Any model of the harness, in a second role (judge, translator)."""

    model: str  # the harness's name (`hf`, `vllm`, ...), or `self` for the model under test
    model_args: dict[str, Any] = field(default_factory=dict)  # as `--model_args`, without secrets
    batch_size: int | str | None = None  # as `--batch_size`; None leaves the backend's default
    max_gen_toks: int = 1024  # the most tokens of one response
    temperature: float = 0.0  # Kimi K2.5 and later take 1 alone (kodus-ai PR 1120)
    apply_chat_template: bool | str = "auto"  # where the backend has one
    batch: bool = False  # whether it is asked by its service's batch interface
    both_orders: bool = False  # whether a judge is also asked with the two answers exchanged

    def __hash__(self) -> int:
        return hash(json.dumps(self.__dict__, sort_keys=True, default=str))

    @classmethod
    def parse(cls, name: str, value: Any) -> ModelConfig:
        """Parse a model name or an object; raise a SettingError that names what is wrong."""
        value = parse_model_name(name, value, [item.name for item in fields(cls)], _FORM)
        args = value.get("model_args") or {}
        if not isinstance(args, (str, Mapping)):
            raise SettingError(f"{name}.model_args: expected an object, got {args!r:.60}")
        if isinstance(args, str):
            from lm_eval.utils import simple_parse_args_string

            args = simple_parse_args_string(args)
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
        size = str(self.batch_size)
        rules = {
            "max_gen_toks": (_is_count(self.max_gen_toks), "a positive integer"),
            "batch_size": (re.fullmatch(r"None|auto(:\d{1,4})?|[1-9]\d{0,6}", size),
                           "a positive integer or 'auto'"),
            "apply_chat_template": (self.apply_chat_template in (True, False, "auto"),
                                    '"auto", true or false'),
            "temperature": (isinstance(self.temperature, (int, float)), "a number"),
            "batch": (isinstance(self.batch, bool), "true or false"),
            "both_orders": (isinstance(self.both_orders, bool), "true or false"),
        }  # fmt: skip
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
    """Parse a list of judges, each with a `name` if wanted; raise a SettingError by number."""
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
