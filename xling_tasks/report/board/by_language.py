"""What a board says to someone with one language: a sentence each, the worst served first."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.languages import in_order, language_name
from xling_tasks.report.board.model import Square
from xling_tasks.report.lines import lines
from xling_tasks.report.sentences import of_another_exam

_NAMED = 5
"""As many models are named in a sentence; more are counted."""
_SAID = {
    "worse": "worse than in English",
    "worse_exam": "worse in an exam of other questions",
    "not_comparable": "not comparable with English",
    "cannot_tell": "cannot tell",
    "about_the_same": "about the same as in English",
    "better": "better than in English",
    "better_exam": "better in an exam of other questions",
}
"""Verdicts, the gravest first; an exam of other questions may be harder itself."""


def by_language(squares: Sequence[Square]) -> list[dict[str, str]]:
    """A sentence per language; those where most models are shown to be worse come first."""
    kinds = _kinds(squares)
    codes = in_order({square.language for square in squares})
    shares = {code: _share_worse(list(kinds.get(code, {}).values())) for code in codes}
    ordered = sorted(codes, key=lambda code: -shares[code])
    said = {code: _sentence(code, squares, kinds) for code in ordered}
    return [
        {"language": code, "said": f"{language_name(code)}: {text}"}
        for code, text in said.items()
        if text
    ]


def _kinds(squares: Sequence[Square]) -> dict[str, dict[str, str]]:
    """Language -> model -> what its report says of it first."""
    concluded = [square.conclusion for square in squares if square.conclusion is not None]
    found: dict[str, dict[str, str]] = {}
    for line in lines(concluded, {}):
        kind = f"{line.kind}_exam" if of_another_exam(line.lead) else line.kind
        found.setdefault(line.language, {})[line.model] = kind
    return found


def _share_worse(kinds: Sequence[str]) -> float:
    return sum(kind.startswith("worse") for kind in kinds) / len(kinds) if kinds else -1.0


def _sentence(code: str, squares: Sequence[Square], kinds: dict[str, dict[str, str]]) -> str:
    own = list(kinds.get(code, {}).values())
    counted = [(own.count(kind), said) for kind, said in _SAID.items() if kind in own]
    models = f" of {len(own)} model{'' if len(own) == 1 else 's'}"
    told = (f"{said} with {n}{'' if i else models}" for i, (n, said) in enumerate(counted))
    against = f"{', '.join(told)}. " if own else ""
    return (against + _unbeaten([s for s in squares if s.language == code])).strip()


def _unbeaten(squares: Sequence[Square]) -> str:
    """Who is shown to be behind nobody, on any measure on which it is ranked."""
    ranked = [square for square in squares if square.rank is not None]
    models = dict.fromkeys(square.model for square in ranked)
    if len({square.model for square in squares}) == 1:
        return ""
    if not models:
        return "None is ranked: no two models were run alike here with logged samples."
    beaten = {s.model for s in ranked if s.rank is not None and s.rank.low > 1}
    first = [model for model in models if model not in beaten]
    if not first:
        return "Each model was shown to be worse than another model on some measure."
    apart = len({(s.panel, s.group) for s in ranked}) > len({s.panel for s in ranked})
    whole = not apart and len(models) == len({square.model for square in squares})
    among = "" if whole else ", among those run alike"
    if not beaten:
        return f"It is too uncertain to say which of these models is better{among}."
    named = _listed(first) if len(first) <= _NAMED else f"the other {len(first)}"
    return (
        f"Of the {len(models)} models {len(beaten)} were shown to be worse than another model on "
        f"some measure{among}; this was not shown of {named}."
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
