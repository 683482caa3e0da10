"""Read the letters of the chosen options in a model's response, in any language; never guess.

The rules of `rules.yaml` match letters in a response's row of kinds; its guards reject what is
negated, conditional or quoted, and mark what hedges. Matches that differ leave a response unparsed,
except a last one that is called final or follows a retraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xling_tasks.readers.choice_mentions import find_native_letters, tokenize_choices
from xling_tasks.readers.patterns import load_patterns
from xling_tasks.readers.text import signs_of, split_next_question, strip_markup, tokenize

RULES, GUARDS, SIGNALS = map(load_patterns, ("letters", "guards", "signals"))

_KEY = re.compile(r"[\"']([^\"'\n{}:]{1,40})[\"']\s*:\s*")  # "answer":
_VALUE = re.compile(
    r"\"([^\"\n]*)\"|'([^'\n]*)'|\[([^\]]*)\]|([A-Ha-h](?:\s*,\s*[A-Ha-h]\b)+|[^,}\n]+)"  # "B"
)
_SMALL = re.compile(r"[\s(\[<\"']*[a-h](?:[\s\"']*[,，、/&][\s\"']*[a-h])*[\s.)\]>\"']*")  # 'a, c'
_VERB_FINAL = re.compile(r"[\u0900-\u0dff\u3040-\u30ff\uac00-\ud7af]")  # Hindi, Japanese, Korean
_QUOTED = re.compile(r"[“«「『]([^”»」』\n]{12,})[”»」』]|(?<!\w)\"([^\"\n]{12,})\"(?!\w)")
_LONG = 200  # tokens; of a longer response that is cut off, no statement within it is read


class Statement(NamedTuple):
    """The tokens of a rule's match, and the letters that it states: none where it hedges."""

    start: int
    end: int
    letters: frozenset[str]


_HEDGED: frozenset[str] = frozenset()
_STRANGER = frozenset({"?"})  # the letters of a statement that names no option


class _ContradictionError(Exception):
    """Raised where a response states different options, or hedges."""


class ChoiceReader:
    """Reads one response to a question with options."""

    def __init__(
        self, text: str, options: Mapping[str, str], native: Mapping[str, str], several: bool
    ) -> None:
        self.text = text.upper() if _SMALL.fullmatch(text) else text
        self.options, self.native, self.several = options, native, several
        self.asks_for_false = False
        self.tokens = tokenize_choices(self.text, options, native)
        self.kinds = signs_of(self.tokens)

    def read(self) -> frozenset[str] | None:
        """Return the letters of the first step that reads some."""
        steps = (
            *(self._read_json, self._read_letters_alone, self._read_labels, self._read_items),
            *(self._read_statements, self._read_texts),
        )
        try:
            letters = next((letters for step in steps if (letters := step())), None)
        except _ContradictionError:
            return None
        return letters if letters and letters <= set(self.options) else None

    def find(self, *rules: str) -> Iterator[Statement]:
        """Yield the matches of rules that no guard rejects."""
        for rule in rules:
            for match in RULES[rule].finditer(self.kinds):
                start, end = match.span("at")
                if "\n" in match[0] and (guard := GUARDS["more lines"].match(self.kinds, end)):
                    end = guard.end()
                letters = self._letters(start, end)
                if self.tokens[start].kind == "stranger":
                    letters = _STRANGER
                if self._lists_options(rule, match, letters):
                    continue
                if any(GUARDS[name].match(self.kinds, end) for name in ("or", "maybe", "of some")):
                    yield Statement(match.start(), end, _HEDGED)
                elif not self._is_rejected(match.start(), end):
                    yield Statement(match.start(), end, letters)

    def _letters(self, start: int, end: int) -> frozenset[str]:
        return frozenset().union(*(token.letters for token in self.tokens[start:end]))

    def _lists_options(self, rule: str, match: re.Match[str], letters: frozenset[str]) -> bool:
        """Return whether a match lists the options, or says when one would be correct."""
        if len(letters) == len(self.options) > 2 and not self.several:
            return not SIGNALS["stated list"].search(match[0])  # 'Options: A, B, C, D'
        if rule == "label" and letters == {min(self.options)}:
            return bool(GUARDS["walk"].match(self.kinds, match.end("at")))
        conditional = GUARDS["condition"].match(self.kinds, match.end())
        return rule in ("statement", "plain statement") and bool(conditional)

    def _is_rejected(self, start: int, end: int) -> bool:
        """Return whether a match is negated, conditional or quoted."""
        sentence = SIGNALS["sentence end"].split(self.kinds[:start])[-1]
        clause = SIGNALS["comma"].split(sentence)[-1]
        if GUARDS["clause"].search(clause) or GUARDS["sentence"].search(sentence):
            return True
        if any(GUARDS[name].match(self.kinds, end) for name in ("behind", "behind a stop")):
            return True
        position = self.tokens[start].start
        if any(match.start() < position < match.end() for match in _QUOTED.finditer(self.text)):
            return True
        remainder = SIGNALS["clause end"].split(self.kinds[end:])[0]
        return bool(_VERB_FINAL.search(self.text) and SIGNALS["refusing"].search(remainder))

    def _read_json(self) -> frozenset[str] | None:
        """Read '"answer": "B"'; every such field, and labels in prose, must agree."""
        fields = []
        for key in _KEY.finditer(self.text):
            value = _VALUE.match(self.text, key.end())
            name = signs_of(tokenize(key[1].replace("_", " ")))
            if value and (SIGNALS["answer key"].search(name) or "predict" in key[1].lower()):
                text = next(filter(None, value.groups()), "")
                field = ChoiceReader(text, self.options, self.native, several=True)
                found = next(field.find("whole", "opening", "item", "text"), None)
                if found and found.letters:
                    fields.append(found.letters)
                elif SIGNALS["letters alone"].fullmatch(field.kinds):
                    raise _ContradictionError
        if not fields:
            return None
        labels = [found.letters for found in self.find("label") if found.letters != _STRANGER]
        return _agree(fields + [letters for letters in labels if len(letters) == len(fields[0])])

    def _read_letters_alone(self) -> frozenset[str] | None:
        """Read a response that is letters and a label, or a list of options, and nothing else."""
        found = next(self.find("whole", *("list",) * self.several), None)
        if found is None or len(found.letters) == len(self.options) > 1:
            return None
        row = any(token.kind == "letters" for token in self.tokens[found.start : found.end])
        return None if row and not self.several else _agree([found.letters])

    def _read_labels(self) -> frozenset[str] | None:
        """Read the last label, or else the opening or the last line, which must not differ."""
        rules = ["label", "verb last", "choice, verb last", "label alone", "short line"]
        rules += ["label of what is false"] * self.asks_for_false
        labels = next((found for rule in rules if (found := list(self.find(rule)))), [])
        walks = len(set(self._list_letters("lone"))) > 1 or GUARDS["true and false"].search(
            self.kinds
        )
        last = None if walks else next(self.find("last line"), None)
        opening = None if walks else self._opening()
        chosen = labels[-1] if labels else opening or last
        if chosen is None:
            return None
        statements = labels[:-1]
        if not labels and not SIGNALS["item opening"].match(self.kinds):
            statements = self._statements("plain statement")
        statements = [found for found in statements if self.several or len(found.letters) < 2]
        statements += [found for found in (opening, last, *self.find("short line")) if found]
        statements += self.find("last sentence")
        if chosen.letters == _HEDGED or any(self._differ(other, chosen) for other in statements):
            raise _ContradictionError
        if GUARDS["retraction"].search(self.kinds, chosen.end):
            raise _ContradictionError
        return chosen.letters

    def _differ(self, other: Statement, chosen: Statement) -> bool:
        """Return whether a statement contradicts the chosen one, which does not replace it."""
        if other.letters in (chosen.letters, _STRANGER):
            return False
        final = SIGNALS["final"].search(self.kinds[chosen.start : chosen.end])
        turn = SIGNALS["turn"].search(self.kinds[other.end : chosen.start])
        return other.start > chosen.start or not (final or turn or other.letters == _HEDGED)

    def _statements(self, rule: str) -> list[Statement]:
        """Return statements on one letter, unless the response looks for what is false."""
        false = any(GUARDS[name].search(self.kinds) for name in ("what is false", "true and false"))
        if false or SIGNALS["none"].search(self.kinds):
            return []
        return [found for found in self.find(rule) if self.several or len(found.letters) < 2]

    def _list_letters(self, guard: str) -> list[frozenset[str]]:
        """Return the letters of each place that lists a letter."""
        return [self._letters(*match.span()) for match in GUARDS[guard].finditer(self.kinds)]

    def _opening(self) -> Statement | None:
        """Find a letter that opens the response; the first one may open a list of them."""
        opening = next(self.find("opening"), None)
        if opening is None or min(self.options) not in opening.letters:
            return opening
        later = [
            row for row in self._list_letters("listed anywhere") if min(row) > max(opening.letters)
        ]
        return opening if SIGNALS["lone opening"].match(self.kinds) or not later else None

    def _read_items(self) -> frozenset[str] | None:
        """Read a letter with its own text, in a sentence or as the one such line."""
        if first := [found.letters for found in self.find("first sentence", "first brackets")]:
            return _agree(first)
        letters = [found.letters for found in self.find("item")]
        if letters and len(self._list_letters("listed")) < 2:
            return _agree(letters)
        lines = {found.letters for found in self.find("item line")}
        return _agree([*lines]) if len(lines) == 1 else None

    def _read_statements(self) -> frozenset[str] | None:
        """Read 'B is correct', or the one letter at the end of the last sentence."""
        if len(self.tokens) > _LONG and not SIGNALS["ended"].search(self.kinds):
            return None
        for rule in ("likely", "it is", "statement"):
            if letters := [found.letters for found in self._statements(rule)]:
                return _agree(letters)
        kinds = SIGNALS["end marks"].sub("", self.kinds)
        sentence = SIGNALS["sentence end"].split(kinds)[-1]
        concluding = SIGNALS["concluding"].search(sentence)
        if not concluding or len(SIGNALS["pick"].findall(sentence)) != 1:
            return None
        start = len(kinds) - len(sentence)
        found = (last for last in self.find("last sentence") if last.start >= start)
        return next((last.letters for last in found), None)

    def _read_texts(self) -> frozenset[str] | None:
        """Read an option's whole text where a letter could stand."""
        letters = [found.letters for found in self.find("text", "text first")]
        return _agree(letters) if letters else None


def _agree(letters: list[frozenset[str]]) -> frozenset[str]:
    """Return the letters of statements that all state the same."""
    if len(set(letters)) > 1 or letters[0] == _HEDGED:
        raise _ContradictionError
    return letters[0]


def read_letters(
    response: str,
    options: Mapping[str, str],
    *,
    several: bool,
    cut: bool = False,
    question: str = "",
) -> frozenset[str] | None:
    """Return the letters that a response commits to, None where it commits to none.

    Args:
        response: The model's response, in any language.
        options: Letter (A to H) to text, as the model was shown them.
        several: Whether the question allows more than one letter; a list is read in any case.
        cut: Whether the response reached the limit of length, so that a list at its end may go on.
        question: The question; native letters (А Б В Г) count where it shows them.
    """
    question, text = strip_markup(question), strip_markup(response)
    text = text.removeprefix(question).strip() or text
    if not text or not options:
        return None
    native = find_native_letters(question, options)
    answer, opens_with_question = split_next_question(text)
    reader = ChoiceReader(answer, options, native, several)
    if not SIGNALS["mention"].search(reader.kinds):  # the response restates the question first
        reader = ChoiceReader(text, options, native, several)
    if opens_with_question and len(SIGNALS["item or text"].findall(reader.kinds)) < 2:
        return None  # the response answers a question that it made up
    kinds = signs_of(tokenize(question))
    reader.asks_for_false = bool(SIGNALS["asks for what is false"].search(kinds))
    unfinished = cut and several and len(reader.tokens) > 1 and reader.tokens[-1].letters
    return None if unfinished else reader.read()
