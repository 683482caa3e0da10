"""Read a YAML file: what YAML would take amiss is an error that names file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Text, numbers, true and false, dates, lists and mappings."""
TEXT: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The same with every value as text: `no` is the word 'no'."""

_QUOTES = "a text with a colon, a comma, a bracket or a # needs quotation marks"


class YamlError(ValueError):
    """A file that is no YAML, or that YAML reads otherwise than it looks."""


def read_yaml(path: Path, kind: Any = SAFE) -> Any:
    """What a YAML file says.

    Args:
        path: The file.
        kind: `SAFE` or `TEXT`.

    Raises:
        YamlError: Naming file and line, if it is no YAML in UTF-8, has a key twice in one mapping
            (the first would be lost), or a bare `no`, `yes`, `on` or `off` as a key or in a list,
            which YAML takes for false or true.
    """
    loader = None
    try:
        loader = kind(path.read_text(encoding="utf-8-sig"))
        node = loader.get_single_node()
        _refuse(str(path), node)
        return None if node is None else loader.construct_document(node)
    except YamlError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or " ".join(str(error).split())
        hint = "save it as UTF-8" if isinstance(error, UnicodeDecodeError) else _QUOTES
        raise YamlError(f"{path}{line}: not valid YAML ({why}); {hint}") from error
    finally:
        if loader is not None:
            loader.dispose()


def _refuse(path: str, top: yaml.Node | None) -> None:
    """Raise for keys that stand twice, and for keys and items of lists that are no text."""
    seen, waiting = set[int](), [top] if top else []
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            named = [key for key, _ in node.value]
            _refuse_twice(path, named)
            waiting += [each for pair in node.value for each in pair]
        else:
            named = node.value
            waiting += named
        for item in named:
            if item.tag.endswith(":bool") and item.value.lower() not in ("true", "false"):
                raise YamlError(
                    f"{path}, line {item.start_mark.line + 1}: YAML takes {item.value} for true or "
                    f'false; a word needs quotation marks: "{item.value}"'
                )


def _refuse_twice(path: str, keys: list[yaml.Node]) -> None:
    lines: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in lines:
            raise YamlError(
                f"{path}, line {line}: {key.value!r} stands there twice, first in line "
                f"{lines[key.value]}; keep one of them, with all that both say"
            )
        lines[key.value] = line
