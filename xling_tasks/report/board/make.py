"""A board's ranks: models compared in pairs over the same questions, within runs made alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from tqdm import tqdm
from xling_metrics.stats.rank_intervals import rank_intervals
from xling_metrics.stats.shares import two_sided

from xling_tasks.criteria import CRITERIA, Endpoint, Panel, Place
from xling_tasks.languages import rank
from xling_tasks.logs import alike
from xling_tasks.output import many
from xling_tasks.report.board.model import Board, EndpointCell, Entry, Group, Rank, Square
from xling_tasks.report.cases import otherwise
from xling_tasks.report.compare.pairs import contents, differences
from xling_tasks.report.data import Task
from xling_tasks.report.model import Options, Sides
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.grid import heading
from xling_tasks.secrets import publishable_text

_HOPELESS = 0.1
"""Where the interval alone gives such a p, thousands of swaps cannot find one that counts."""

About = tuple[str, str]
"""A criterion and a dataset."""

Test = tuple[float, float | None]
"""How much better one of two models is, and the two-sided p; None where nothing can be told."""


def make_board(models: Iterable[Entry], options: Options) -> Board:
    """All numbers of a board; models are read as they are asked for."""
    entries = tuple(models)
    endpoints = _endpoints(entries)
    groups = {
        about: _groups_of(entries, about) for about in dict.fromkeys(p[:2] for p in endpoints)
    }
    squares: list[Square] = []
    notes: list[str] = []
    for about, own in groups.items():
        panels = [panel for panel in endpoints if panel[:2] == about]
        for group in own:
            alike_run = _Group(entries, group, options)
            squares += alike_run.squares(panels)
            notes += alike_run.notes
    panels, names = list(endpoints), [entry.name for entry in entries]
    squares.sort(key=lambda s: (panels.index(s.panel), rank(s.language), names.index(s.model)))
    notes = list(dict.fromkeys([*_notes(entries, groups), *notes]))
    return Board(entries, endpoints, groups, tuple(squares), tuple(notes), options)


def _endpoints(entries: Sequence[Entry]) -> dict[Panel, Endpoint]:
    """Every endpoint that a model has, in a report's order: harm before help."""
    known = {panel: item.endpoint for entry in entries for (panel, _), item in entry.cells.items()}

    def place(panel: Panel) -> tuple[int, str, int, float]:
        key, tau = panel.criterion, -1.0 if panel.temperature is None else panel.temperature
        order = CRITERIA[key].order(panel.metric)
        return list(CRITERIA).index(key), panel.dataset, order, tau

    return {panel: known[panel] for panel in sorted(known, key=place)}


def _notes(entries: Sequence[Entry], groups: Mapping[About, Sequence[Group]]) -> list[str]:
    notes = []
    for about, own in groups.items():
        if len(own) > 1:
            listed = "; ".join(f"group {group.number}: {', '.join(group.models)}" for group in own)
            notes.append(
                f"{heading(*about)}: not all models were run alike, so they are ranked in "
                f"{len(own)} groups, each by itself ({listed})"
            )
    for package in ("lm_eval", "xling-tasks"):
        by_version: dict[str, list[str]] = {}
        for entry in entries:
            by_version.setdefault(", ".join(entry.versions[package]), []).append(entry.name)
        if len(by_version) > 1:
            listed = "; ".join(f"{v}: {', '.join(names)}" for v, names in by_version.items())
            notes.append(f"The models were run with several versions of {package} ({listed})")
    return [*notes, *_of_entries(entries)]


def _of_entries(entries: Sequence[Entry]) -> list[str]:
    """What to know of single models; what is so of several is said once."""
    if len(entries) == 1:
        return list(entries[0].notes)
    by_note: dict[str, list[str]] = {}
    for entry in entries:
        for note in entry.notes:
            by_note.setdefault(note.replace(f"{entry.name}: ", "", 1), []).append(entry.name)
    return [f"{', '.join(names)}: {note}" for note, names in by_note.items()]


# Runs made alike


def _groups_of(entries: Sequence[Entry], about: About) -> tuple[Group, ...]:
    """The models of one criterion and dataset, those that were run alike together.

    Alike is what `xling compare` calls so: settings, judge, prompts, data, generation, versions
    of tasks, and the signatures of the endpoints. A model joins the first group none of whose
    members differs from it: in a task that both have, or, where they have no language in common,
    in what a language does not change.
    """
    members: list[list[Entry]] = []
    for entry in entries:
        if not any(place[:2] == about for place in entry.tasks):
            continue
        for group in members:
            if not any(_unlike(other, entry, about) for other in group):
                group.append(entry)
                break
        else:
            members.append([entry])
    groups = []
    for number, group in enumerate(members, 1):
        found = _unlike(members[0][0], group[0], about) if number > 1 else ()
        differs = (f"{x.what}: {x.first} in group 1, {x.other} in group {number}" for x in found)
        named = tuple(entry.name for entry in group)
        groups.append(Group(number, named, tuple(map(publishable_text, differs))))
    return tuple(groups)


def _unlike(a: Entry, b: Entry, about: About) -> list[alike.Difference]:
    """What two models' runs differ in."""
    pairs: list[tuple[Task, Task, Sequence[str]]] = []
    names = {item.name for item in a.cells.values()}
    for place, task in a.tasks.items():
        other = b.tasks.get(place)
        if other is not None and place[:2] == about:
            shared = [name for name in task.scores if name in names and name in other.scores]
            pairs.append((task, other, shared))
    if pairs:
        return differences(pairs)
    # Models that have no language in common.
    own, base = (
        next(task.results for place, task in entry.tasks.items() if place[:2] == about)
        for entry in (a, b)
    )
    return alike.differences([(own, base)], across_languages=True)


# One group of models


class _Group:
    """The models of a group, and what their tasks asked; each file is read once."""

    def __init__(self, entries: Sequence[Entry], group: Group, options: Options) -> None:
        self._entries = [entry for entry in entries if entry.name in group.models]
        self._number = group.number
        self._statistics = Statistics(options)
        self.notes: list[str] = []
        self._known: dict[tuple[str, Place], dict[str, str]] = {}
        self._same: dict[tuple[tuple[str, Place], ...], bool] = {}

    def squares(self, panels: Sequence[Panel]) -> list[Square]:
        """Every endpoint in every language, of every model that has it."""
        columns = dict.fromkeys(
            about
            for panel in panels
            for entry in self._entries
            for about in entry.cells
            if about[0] == panel
        )
        # On a terminal alone: many models over thousands of questions take minutes.
        told = f"Ranks of {len(self._entries)} models"
        shown = tqdm(columns, told, leave=False, disable=None)
        return [square for panel, code in shown for square in self._column(panel, code)]

    def _column(self, panel: Panel, language: str) -> Iterator[Square]:
        """An endpoint in one language: every model, ranked."""
        own = [entry for entry in self._entries if (panel, language) in entry.cells]
        reasons = {entry.name: _unranked(entry.cells[panel, language]) for entry in own}
        ranked = [entry for entry in own if not reasons[entry.name]]
        ranks: dict[str, Rank] = {}
        if len(ranked) > 1:
            ranks = self._ranks(ranked, panel, language)
        elif ranked:
            reasons[ranked[0].name] = "no other model to rank it with"
        for entry in own:
            cell, name = entry.cells[panel, language], entry.name
            rank = ranks.get(name, Rank())
            yield Square(panel, name, language, self._number, cell, rank, reasons[name])

    def _ranks(self, entries: Sequence[Entry], panel: Panel, language: str) -> dict[str, Rank]:
        names = [entry.name for entry in entries]
        sides = [_side(entry, panel, language) for entry in entries]
        # They go with the column.
        quick, full = self._statistics.untested(), self._statistics.undescribed()
        tests: dict[tuple[int, int], Test] = {}
        for i, j in combinations(range(len(entries)), 2):
            if self._asked_the_same((names[i], sides[i][0]), (names[j], sides[j][0])):
                pair = Sides(sides[i], sides[j], names[i], names[j], language)
                tests[i, j] = _test(panel, pair, quick, full)
        made = rank_intervals(len(entries), tests, self._statistics.options.level)
        return {
            name: Rank(
                own.low, own.high, len(entries),
                tuple(names[k] for k in own.better), tuple(names[k] for k in own.worse),
            )
            for name, own in zip(names, made, strict=True)
        }  # fmt: skip

    def _asked_the_same(self, first: tuple[str, Task], other: tuple[str, Task]) -> bool:
        """Whether the same question never stands for two texts; if it does, a note says so."""
        pair = tuple((name, task.place) for name, task in (first, other))
        if pair not in self._same:
            self._same[pair] = self._compared(first, other)
        return self._same[pair]

    def _compared(self, first: tuple[str, Task], other: tuple[str, Task]) -> bool:
        a, b = self._of(*first), self._of(*other)
        if a and a == b:
            return True
        changed = [key for key in a.keys() & b.keys() if a[key] != b[key]]
        if changed:
            self.notes.append(
                f"{first[0]} and {other[0]} are not ranked against each other in "
                f"{first[1].results.task}: {many(len(changed), 'question')} with the same id: "
                f"another content (such as {min(changed)!r})"
            )
        elif a and b and not a.keys() & b.keys():
            self.notes.append(
                f"{first[0]} and {other[0]} have no question of {first[1].results.task} in common, "
                "so nothing tells them apart there"
            )
        return not changed

    def _of(self, model: str, task: Task) -> dict[str, str]:
        key = (model, task.place)
        if key not in self._known:
            languages = set((task.results.xling.get("data") or {}).get("languages") or ())
            self._known[key] = {k: v[:16] for k, v in contents(task, languages).items()}
        return self._known[key]


def _unranked(cell: EndpointCell) -> str:
    if cell.value is None:
        return "nothing could be scored"
    return "" if cell.interval is not None else "no samples were logged"


def _side(entry: Entry, panel: Panel, language: str) -> tuple[Task, str]:
    name = entry.cells[panel, language].name
    places = (Place(panel.criterion, panel.dataset, code) for code in (language, ""))
    return next(entry.tasks[place] for place in places if place in entry.tasks), name


def _test(panel: Panel, sides: Sides, quick: Statistics, full: Statistics) -> Test:
    """What parts two models does so however unread replies are counted."""
    ways = [sides, *(other for _, other in otherwise(full, sides))]
    found = [_counted_so(panel, way, quick, full) for way in ways]
    difference, tested = found[0][0], [p for _, p in found if p is not None]
    if len(tested) < len(found):
        return 0.0, None
    alike = all(own * difference > 0 for own, _ in found)
    return difference, max(tested) if alike else 1.0


def _counted_so(panel: Panel, sides: Sides, quick: Statistics, full: Statistics) -> Test:
    """The comparison that `xling compare` makes."""
    made = quick.compare(panel, sides, paired=True)
    p = two_sided(made.difference or 0.0, made.se) if made.se else 0.0
    if p < _HOPELESS:
        bounded = None if made.binary else full.bounded(sides)
        if made.n_permutations and bounded is None:
            made = full.compare(panel, sides, paired=True)
        p_known = made.p if bounded is None else bounded[1]
        if p_known is None:
            return 0.0, None
        p = p_known
    if made.difference is None:
        return 0.0, None
    better = 1 if CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better else -1
    return better * made.difference, p
