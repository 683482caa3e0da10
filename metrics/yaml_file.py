"""Read YAML files that people write: errors name file and line, and `no` is a word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import yaml

_HINT = "a text with a colon, a comma, a bracket or a # needs quotation marks"
_BOOL = "tag:yaml.org,2002:bool"


class YamlError(ValueError):
    """A file that is not YAML, or has a key twice."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML whose only truth values are true and false, as in YAML 1.2: `no` is Norwegian."""

    yaml_implicit_resolvers: ClassVar[Any] = {
        letter: [pair for pair in pairs if pair[0] != _BOOL]
        for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Refuse a key that occurs twice, of which PyYAML would drop the first."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if lines.setdefault(str(key.value), line) != line:
                raise YamlError(
                    f"line {line}: the key {key.value!r} occurs twice, first in line "
                    f"{lines[key.value]}; keep one of them"
                )
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(_BOOL, re.compile("(?:true|True|TRUE|false|False|FALSE)$"), [*"tTfF"])


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file in UTF-8.

    Raises:
        YamlError: Naming file and line, for a file that is not YAML or has a key twice.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), _Loader)
    except YamlError as error:
        raise YamlError(f"{path}, {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        hint = "save it as UTF-8" if isinstance(error, UnicodeDecodeError) else _HINT
        raise YamlError(f"{path}{line}: not valid YAML ({reason}); {hint}") from error
