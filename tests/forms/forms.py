"""Print how many of the ways to answer are read in each language.

    python tests/forms/forms.py [--missed]

The ways stand in `letters.yaml`, `verdicts.yaml` and `judges.yaml`: a row a way, a cell a language.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.languages import KNOWN
from xling_metrics.yaml_file import TEXT, read_yaml

from xling_tasks.criteria import NO_RESPONSE, OPTIONS
from xling_tasks.models.judge import read_verdict as read_judge
from xling_tasks.readers.letters import read_letters
from xling_tasks.readers.verdict import read_verdict

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "xling_tasks" / "data" / "sample" / "mmedbench_demo" / "Test"
VERDICTS = {"yes": 1, "no": 0, "none": None}


class Said(NamedTuple):
    """A reply in one form: what it means (None: nothing), and what was read in it."""

    form: str
    language: str
    reply: str
    means: Any
    read: Any

    @property
    def outcome(self) -> str:
        """'read', 'unread' or 'wrong'."""
        if self.read == self.means:
            return "read"
        return "unread" if self.read is None else "wrong"


def rows(kind: str) -> Iterator[tuple[str, str, Any, Any, Mapping[str, Any]]]:
    """Form, language, cell, what it means and the language's words, for every cell.

    Raises:
        ValueError: For a row without a cell for a language, or with one for a language that has
            no `words`.
    """
    table = _table(kind)
    for form, row in table["rows"].items():
        cells = {key: cell for key, cell in row.items() if key != "means"}
        if "all" in cells:
            cells |= dict.fromkeys(table["words"], cells.pop("all"))
        for language in table["words"].keys() - cells:
            raise ValueError(f"{HERE}/{kind}.yaml: row {form!r}: no cell for {language}; say it so")
        for language in cells.keys() - table["words"]:
            raise ValueError(f"{HERE}/{kind}.yaml: row {form!r}: {language} has no line in `words`")
        for language, cell in cells.items():
            yield form, language, cell, row.get("means"), table["words"][language]


def _table(kind: str) -> Any:
    """The ways of a kind; the languages are those that have `words`."""
    return read_yaml(HERE / f"{kind}.yaml", TEXT)


def filled(cell: str, values: Mapping[str, str]) -> str:
    """A cell with its names replaced."""
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], cell)


@functools.cache
def _questions(language: str) -> list[Any]:
    """The sample's questions with four options or more."""
    lines = (SAMPLE / f"{KNOWN[language].name}.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line]
    return [row for row in questions if len(row["options"]) >= 4]


def with_letter(
    cell: str, words: Mapping[str, str], options: Mapping[str, str], letter: str, turn: int = 0
) -> str:
    """A cell that answers with a letter; `turn` says which of the others it names first."""
    others = sorted(set(options) - {letter})
    others = others[turn % len(others) :] + others[: turn % len(others)]
    names = dict(zip("ABCDEFGH", [letter, *others]))
    values = {**words, **names}
    values |= {name.lower(): options[key] for name, key in names.items()}
    absent = [f"{{{name}}}" for name in "ABCDEFG" if name not in names]
    lines = [line for line in cell.split("\n") if not any(name in line for name in absent)]
    return filled("\n".join(lines), values)


Answer = tuple[str, str, Callable[[str], Any], list[tuple[str, Any]]]


@functools.cache
def answers() -> tuple[Answer, ...]:
    """Language, form, how it is read, and the form's clear replies with two values of an answer."""
    return (*_letters_both(), *_verdicts_both())


def _letters_both() -> Iterator[Answer]:
    for form, language, cell, means, words in rows("letters"):
        row = _questions(language)[0]
        options, letters = row["options"], sorted(row["options"])[::2]
        read = functools.partial(
            read_letters, options=options, several=False, question=row["question"]
        )
        both = [(with_letter(cell, words, options, letter), {letter}) for letter in letters[:2]]
        if means != "none" and all(read(reply) == value for reply, value in both):
            yield language, form, read, both


def _verdicts_both() -> Iterator[Answer]:
    for form, language, cell, means, words in rows("verdicts"):
        texts = cell if isinstance(cell, list) else []
        both = [
            (filled(text, {name: pair[place] for name, pair in words.items()}), 1 - place)
            for place, text in enumerate(texts)
        ]
        if not means and both and all(read_verdict(reply) == value for reply, value in both):
            yield language, form, read_verdict, both


def letters() -> Iterator[Said]:
    """Every form of letters over every question of the sample with one right letter of five."""
    for form, language, cell, means, words in rows("letters"):
        for number, row in enumerate(_questions(language)):
            options = row["options"]
            right = row["answer_idx"].replace(" ", "").split(",")[0]
            reply = with_letter(cell, words, options, right, number)
            read = read_letters(reply, options, several=False, question=row["question"])
            expected = None if means == "none" else frozenset({right})
            yield Said(form, language, reply, expected, read)


def verdicts() -> Iterator[Said]:
    """Every form of Yes and No."""
    for form, language, cell, means, words in rows("verdicts"):
        texts = cell if isinstance(cell, list) else [cell]
        for place, text in enumerate(texts):
            values = {name: both[place if means != "no" else 1] for name, both in words.items()}
            reply = filled(text, values)
            yield Said(
                form, language, reply, VERDICTS[means] if means else 1 - place, read_verdict(reply)
            )


TEXTS = {
    "en": "Aortic dissection|Myocardial infarction|Pulmonary embolism|Pericarditis|Pneumothorax",
    "zh": "主动脉夹层|心肌梗死|肺栓塞|心包炎|气胸",
    "ja": "大動脈解離|心筋梗塞|肺塞栓症|心膜炎|気胸",
    "fr": "Dissection aortique|Infarctus du myocarde|Embolie pulmonaire|Péricardite|Pneumothorax",
    "ru": "Расслоение аорты|Инфаркт миокарда|Тромбоэмболия лёгочной артерии|Перикардит|Пневмоторакс",
    "es": "Disección aórtica|Infarto de miocardio|Embolia pulmonar|Pericarditis|Neumotórax",
}
"""The options of replies in `letter_fresh_replies.jsonl` that bring no `texts` of their own."""


def fresh(kind: str, case: Mapping[str, Any]) -> Said:
    """A reply that was written before the rules were tried on it, read."""
    language, reply, means = case["language"], case["reply"], case["means"]
    if kind == "verdict":
        return Said(kind, language, reply, VERDICTS[means or "none"], read_verdict(reply))
    texts = case.get("texts") or TEXTS.get(language)
    if texts is None:
        raise ValueError(
            f"letter_fresh_replies.jsonl: {reply!r} has no `texts`, and TEXTS in {__file__} no "
            f"options in {language}; give one of them"
        )
    options = dict(zip("ABCDE", texts.split("|"), strict=True))
    read = read_letters(reply, options, several=case.get("several", False))
    return Said(kind, language, reply, means and frozenset(means), read)


def judges() -> Iterator[Said]:
    """Every form of a judge's reply, for each label."""
    code = "bgkqtx"
    labels = list(OPTIONS.items())
    for form, language, cell, means, words in rows("judges"):
        for (label, option), (_, other) in zip(labels, labels[1:] + labels[:1], strict=True):
            line = f"VERDICT {code}: {option}"
            values = {**words, "line": line, "code": code, "option": option, "other": other}
            reply = filled(cell, values)
            read = read_judge(reply, code)
            expected = None if means else label
            yield Said(form, language, reply, expected, None if read == NO_RESPONSE else read)


KINDS = {"letters": letters, "verdicts": verdicts, "judges": judges}


@functools.cache
def said(kind: str) -> tuple[Said, ...]:
    """All replies of a kind, read."""
    return tuple(KINDS[kind]())


def table(said: Sequence[Said]) -> str:
    """Read, unread and wrong of what says something, and wrong of what does not, by language."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in said:
        clear = each.means is not None
        counts[each.language, each.outcome if clear else f"none {each.outcome}"] += 1
    lines = [
        "| language | clear | read | wrong | says nothing | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for language in dict.fromkeys(each.language for each in said):
        read, unread, wrong = (counts[language, name] for name in ("read", "unread", "wrong"))
        nothing, taken = counts[language, "none read"], counts[language, "none wrong"]
        clear = read + unread + wrong
        lines.append(
            f"| {language} | {clear} | {100 * read / clear:.1f}% | {wrong} | {nothing + taken} | {taken} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--missed", action="store_true", help="show forms that are unread or wrong")
    parser.add_argument("--kind", choices=KINDS)
    chosen = parser.parse_args()
    for kind in [chosen.kind] if chosen.kind else KINDS:
        replies = said(kind)
        print(f"\n{kind}\n\n{table(replies)}")
        if chosen.missed:
            missed: dict[tuple[str, str, str], list[Said]] = {}
            for each in replies:
                if each.outcome != "read":
                    missed.setdefault((each.outcome, each.form, each.language), []).append(each)
            for (outcome, form, language), those in sorted(missed.items()):
                print(
                    outcome,
                    len(those),
                    form,
                    language,
                    json.dumps(those[0].reply[:300], ensure_ascii=False),
                    those[0].read,
                    those[0].means,
                )


if __name__ == "__main__":
    sys.exit(main())
