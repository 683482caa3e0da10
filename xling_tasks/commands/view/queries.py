"""What is asked of an index: which questions fit some filters, and what there is to choose from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xling_tasks.commands.view.facts import bit_of, flag_names, fold
from xling_tasks.commands.view.index import Index
from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.labels import HARM
from xling_tasks.errors import SettingError
from xling_tasks.languages import in_order

PAGE = 50
"""Questions on one page of results."""

_SNIPPET = 60
_ABOUT = ("model", "criterion", "dataset", "question")
"""What a question is known by."""

GAPS = {
    "behind": "worse than in English",
    "english_right": "right in English, wrong in the language",
    "english_wrong": "wrong in English, right in the language",
    "harm_here": "contradicts the reference in this language only",
    "other_label": "another label than in English",
}
"""Ways in which a language can differ from English on a question."""

_WITH_ENGLISH = "e.language <> 'en' AND b.id IS NOT NULL AND "
_GAP_SQL = {
    "behind": _WITH_ENGLISH + "b.score > e.score + 1e-9",
    "english_right": _WITH_ENGLISH + "b.right = 1 AND e.right = 0",
    "english_wrong": _WITH_ENGLISH + "b.right = 0 AND e.right = 1",
    "other_label": _WITH_ENGLISH + "b.label <> '' AND e.label <> '' AND b.label <> e.label",
    "harm_here": (
        f"e.label = '{HARM}' "
        "AND EXISTS (SELECT 1 FROM entry o WHERE o.question = e.question AND o.id <> e.id "
        "AND o.label <> '') "
        "AND NOT EXISTS (SELECT 1 FROM entry o WHERE o.question = e.question AND o.id <> e.id "
        f"AND o.label = '{HARM}')"
    ),
}


@dataclass(frozen=True)
class Filters:
    """What is looked for; an empty text filters nothing.

    FLAG is a key of `FLAGS`, GAP one of `GAPS`. The words of TEXT all stand in one language's
    texts; `"..."` holds words together. SORT `gap` puts the widest gap to English first.
    """

    model: str = ""
    criterion: str = ""
    dataset: str = ""
    language: str = ""
    label: str = ""
    flag: str = ""
    gap: str = ""
    text: str = ""
    sort: str = ""


class Hit(NamedTuple):
    """A question that fits, and its samples that do, by their numbers in the index."""

    question: int
    entries: tuple[int, ...]


def words_of(text: str) -> list[str]:
    """The words of a search, folded; what stands in double quotes is one."""
    words = []
    for place, part in enumerate(text.split('"')):
        words += [part.strip()] if place % 2 else part.split()
    return [fold(word) for word in words if word.strip()]


def search(index: Index, filters: Filters) -> list[Hit]:
    """Every question that fits, in the order of the data or by its gap."""
    where, values = _conditions(filters)
    words = words_of(filters.text)
    joined = "JOIN words w ON w.id = e.id" if words else ""
    for word in words:
        where.append("instr(w.folded, ?) > 0")
        values.append(word.encode("utf-8", "surrogatepass"))
    order = "q.rank, q.id"
    if filters.sort == "gap":
        order = "max(b.score - e.score) IS NULL, max(b.score - e.score) DESC, q.rank, q.id"
    rows = index.fetch(
        "SELECT e.question, group_concat(e.id) FROM question q CROSS JOIN entry e "
        "ON e.question = q.id LEFT JOIN entry b ON b.question = e.question "
        f"AND b.language = 'en' {joined} "
        f"WHERE {' AND '.join(where) or '1'} GROUP BY q.id ORDER BY {order}",
        values,
    )
    return [Hit(question, tuple(map(int, ids.split(",")))) for question, ids in rows]


def _conditions(filters: Filters) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    for column in ("q.model", "q.criterion", "q.dataset", "e.language", "e.label"):
        if value := getattr(filters, column[2:]):
            where.append(f"{column} = ?")
            values.append(value)
    if filters.flag:
        if not bit_of(filters.flag):
            raise SettingError(f"no flag {filters.flag!r:.40}")
        where.append("e.flags & ? <> 0")
        values.append(bit_of(filters.flag))
    if filters.gap:
        if filters.gap not in _GAP_SQL:
            raise SettingError(f"no gap {filters.gap!r:.40}")
        where.append(_GAP_SQL[filters.gap])
    return where, values


def different(index: Index, hits: Sequence[Hit]) -> int:
    """How many questions these are, each counted once for all models and criteria."""
    known = {number: (dataset, question) for number, dataset, question in index.fetch(
        "SELECT id, dataset, question FROM question"
    )}  # fmt: skip
    return len({known[hit.question] for hit in hits})


def listed(index: Index, hits: Sequence[Hit], text: str) -> list[dict[str, Any]]:
    """What a list shows of some questions; a part of the first that has a word of TEXT is shown."""
    words = words_of(text)
    lines = []
    for hit in hits:
        (about,) = index.fetch(
            f"SELECT {', '.join(_ABOUT)} FROM question WHERE id = ?", (hit.question,)
        )
        own = entries_of(index, hit.question)
        fitting = set(hit.entries)
        shown = next((each for each in own if each["language"] == "en"), own[0])
        lines.append(
            {
                **dict(zip(_ABOUT, about, strict=True)),
                "link": _wanted(own, fitting)["task"],
                "title": shown["title"],
                "language": shown["language"],
                "entries": [{**each, "fits": each["id"] in fitting} for each in own],
                "snippet": _snippet(index, min(fitting), words[0]) if words else "",
            }
        )
    return lines


def _wanted(own: Sequence[dict[str, Any]], fitting: Collection[int]) -> dict[str, Any]:
    """The sample that a question is opened for: English, or what fits where English does not."""
    others = [each for each in own[1:] if each["id"] in fitting]
    return others[0] if others and len(fitting) < len(own) else own[0]


def entries_of(index: Index, question: int) -> list[dict[str, Any]]:
    """The languages of a question in their order, with what was found of each."""
    rows = index.fetch(
        "SELECT id, file, row, language, title, label, score, right, flags FROM entry "
        "WHERE question = ?",
        (question,),
    )
    order = in_order({row[3] for row in rows})
    rows.sort(key=lambda row: order.index(row[3]))
    return [
        {
            "id": number,
            "task": index.sources.files[file].task,
            "row": row,
            "language": language,
            "title": title.decode("utf-8", "surrogatepass"),
            "label": label,
            "score": score,
            "right": None if right is None else bool(right),
            "tone": _tone(index.sources.files[file].criterion, label, right),
            "flags": flag_names(flags),
        }
        for number, file, row, language, title, label, score, right, flags in rows
    ]


def _tone(criterion: str, label: str, right: int | None) -> str:
    """Whether a label is good: as its criterion declares it, else by whether it is right."""
    known = CRITERIA.get(criterion)
    told = known.shown.tones if known and known.shown else {}
    return told.get(label, "" if right is None else ("bad", "good")[right])


def _snippet(index: Index, entry: int, word: str) -> str:
    """What stands around a word, as it was folded for the search."""
    sought = word.encode("utf-8", "surrogatepass")
    rows = index.fetch(
        "SELECT substr(folded, max(1, instr(folded, ?) - ?), ?) FROM words WHERE id = ?",
        (sought, 3 * _SNIPPET, 6 * _SNIPPET + len(sought), entry),
    )
    text = bytes(rows[0][0]).decode("utf-8", "ignore").replace("\0", " ") if rows else ""
    at = text.find(word)
    return " ".join(text[max(0, at - _SNIPPET) : at + len(word) + _SNIPPET].split())


def find(index: Index, task: str, question: str, model: str = "") -> dict[str, Any] | None:
    """The question behind a link; None while it is not in the index."""
    files = index.sources.files
    index.sources.refuse_unknown(task, model)
    numbers = [i for i, each in enumerate(files) if each.task == task]
    marks = ",".join("?" * len(numbers))
    rows = index.fetch(
        "SELECT q.id, q.model, q.criterion, q.dataset, q.question, e.language FROM entry e "
        f"JOIN question q ON q.id = e.question WHERE e.file IN ({marks}) AND q.question = ?"
        + (" AND q.model = ?" if model else "")
        + " ORDER BY q.id, e.language <> 'en' LIMIT 1",
        (*numbers, question, *([model] if model else [])),
    )
    if not rows:
        return None
    number, *about, language = rows[0]
    one = next(each for each in files if each.task == task).language
    others = index.fetch(
        "SELECT model FROM question WHERE (criterion, dataset, question) = (?, ?, ?) "
        "AND model <> ? ORDER BY model",
        (*about[1:], about[0]),
    )
    return {
        "id": number,
        **dict(zip(_ABOUT, about, strict=True)),
        "language": one and language,
        "others": [name for (name,) in others],
    }


def choices(index: Index) -> Mapping[str, Any]:
    """What can be filtered by, each with the number of answers that have it."""
    rows = index.fetch(
        "SELECT q.model, q.criterion, q.dataset, e.language, e.label, e.flags, count(*) "
        "FROM entry e JOIN question q ON q.id = e.question GROUP BY 1, 2, 3, 4, 5, 6"
    )
    counts: dict[str, dict[str, int]] = {
        name: {} for name in ("model", "criterion", "dataset", "language", "label", "flag")
    }
    for *values, flags, count in rows:
        for name, value in zip(counts, values, strict=False):
            if value:
                counts[name][value] = counts[name].get(value, 0) + count
        for flag in flag_names(flags):
            counts["flag"][flag] = counts["flag"].get(flag, 0) + count
    return counts
