"""A board's ranks: models compared in pairs over the same questions, within runs made alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from tqdm import tqdm
from xling_metrics.stats.odds import AtOdds
from xling_metrics.stats.rank_intervals import rank_intervals
from xling_metrics.stats.shares import two_sided

from xling_tasks.criteria import CRITERIA, Endpoint, Panel, Place
from xling_tasks.languages import in_order
from xling_tasks.report.board.groups import groups_of
from xling_tasks.report.board.model import Board, Entry, Group, Rank, Square
from xling_tasks.report.compare.pairs import contents
from xling_tasks.report.conclusions import stands
from xling_tasks.report.data import Task
from xling_tasks.report.model import Options, Sides
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.grid import heading
from xling_tasks.report.unread import unread

_HOPELESS = 0.1
"""Where the interval alone gives such a p, thousands of swaps cannot find one that counts."""

Test = tuple[float, float | None]
"""How much better one of two models is, and the two-sided p; None where nothing can be told."""


def make_board(models: Iterable[Entry], options: Options) -> Board:
    """All numbers of a board.

    Args:
        models: The models; they are read as they are asked for.
        options: How the statistics are made.
    """
    entries = tuple(models)
    endpoints = _endpoints(entries)
    abouts = dict.fromkeys((panel.criterion, panel.dataset) for panel in endpoints)
    groups = {about: groups_of(entries, *about) for about in abouts}
    squares: list[Square] = []
    notes: list[str] = []
    for about, own in groups.items():
        panels = [panel for panel in endpoints if (panel.criterion, panel.dataset) == about]
        for group in own:
            made, about_squares = _group_squares(entries, panels, group, options)
            squares += made
            notes += about_squares
    return Board(
        entries, endpoints, groups, tuple(_in_order(squares, endpoints, entries)),
        tuple(dict.fromkeys([*_notes(entries, groups), *notes])), options,
    )  # fmt: skip


def _endpoints(entries: Sequence[Entry]) -> dict[Panel, Endpoint]:
    """Every endpoint that a model has, in a report's order: harm before help."""
    known = {panel: item.endpoint for entry in entries for (panel, _), item in entry.cells.items()}

    def place(panel: Panel) -> tuple[int, str, int, float]:
        tau = -1.0 if panel.temperature is None else panel.temperature
        return (
            list(CRITERIA).index(panel.criterion),
            panel.dataset,
            CRITERIA[panel.criterion].order(panel.metric),
            tau,
        )

    return {panel: known[panel] for panel in sorted(known, key=place)}


def _in_order(
    squares: Sequence[Square], endpoints: Mapping[Panel, Endpoint], entries: Sequence[Entry]
) -> list[Square]:
    panels, names = list(endpoints), [entry.name for entry in entries]
    orders = {
        panel: in_order({s.language for s in squares if s.panel == panel}) for panel in panels
    }
    return sorted(
        squares,
        key=lambda s: (
            panels.index(s.panel),
            orders[s.panel].index(s.language),
            names.index(s.model),
        ),
    )


def _notes(
    entries: Sequence[Entry], groups: Mapping[tuple[str, str], Sequence[Group]]
) -> list[str]:
    notes = []
    for about, own in groups.items():
        if len(own) > 1:
            listed = "; ".join(f"group {group.number}: {', '.join(group.models)}" for group in own)
            notes.append(
                f"{heading(*about)}: not all models were run alike, so they are ranked in "
                f"{len(own)} groups, each by itself ({listed})"
            )
    for index, package in enumerate(("lm_eval", "xling-tasks")):
        by_version: dict[str, list[str]] = {}
        for entry in entries:
            by_version.setdefault(", ".join(entry.versions[index][1]), []).append(entry.name)
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


# One group of models


def _group_squares(
    entries: Sequence[Entry], panels: Sequence[Panel], group: Group, options: Options
) -> tuple[list[Square], list[str]]:
    """Every square of a group, and what to know of its questions."""
    own = [entry for entry in entries if entry.name in group.models]
    statistics = Statistics(options).undescribed()
    asked = _Questions()
    squares: list[Square] = []
    columns = dict.fromkeys(
        about for panel in panels for entry in own for about in entry.cells if about[0] == panel
    )
    # On a terminal alone: many models over thousands of questions take minutes.
    for panel, code in tqdm(columns, f"Ranks of {len(own)} models", leave=False, disable=None):
        squares += _column(own, panel, code, group.number, statistics, asked)
    return squares, asked.notes


class _Questions:
    """What the tasks of a group asked; each file is read once."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._known: dict[tuple[str, Place], dict[str, str]] = {}
        self._same: dict[tuple[tuple[str, Place], ...], bool] = {}

    def same(self, first: tuple[str, Task], other: tuple[str, Task]) -> bool:
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
                f"{first[1].results.task}: {len(changed)} questions with the same id (such as "
                f"{min(changed)!r}) have another content"
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


def _column(
    entries: Sequence[Entry], panel: Panel, language: str, number: int,
    statistics: Statistics, asked: _Questions,
) -> list[Square]:  # fmt: skip
    """An endpoint in one language: every model of a group, ranked."""
    own = [entry for entry in entries if (panel, language) in entry.cells]
    reasons = {entry.name: _unranked(entry, panel, language) for entry in own}
    ranked = [entry for entry in own if not reasons[entry.name]]
    ranks: dict[str, Rank] = {}
    if len(ranked) > 1:
        ranks = _ranks(ranked, panel, language, statistics, asked)
    elif ranked:
        reasons[ranked[0].name] = "no other model to rank it with"
    return [
        _square(entry, panel, language, number, ranks.get(entry.name), reasons[entry.name])
        for entry in own
    ]


def _square(
    entry: Entry, panel: Panel, language: str, number: int, rank: Rank | None, unranked: str
) -> Square:
    item = entry.cells[panel, language]
    interval = item.interval
    return Square(
        panel=panel, model=entry.name, language=language, group=number, value=item.value,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        n=0 if interval is None else interval.n,
        unread=item.unread, rank=rank, unranked=unranked, conclusion=item.conclusion,
    )  # fmt: skip


def _unranked(entry: Entry, panel: Panel, language: str) -> str:
    item = entry.cells[panel, language]
    if item.value is None:
        return "nothing could be scored"
    return "" if item.interval is not None else "no samples were logged"


def _ranks(
    entries: Sequence[Entry], panel: Panel, language: str,
    statistics: Statistics, asked: _Questions,
) -> dict[str, Rank]:  # fmt: skip
    sides = [_side(entry, panel, language) for entry in entries]
    moves = [unread(*side).moves for side in sides]
    quick, full = statistics.untested(), statistics.undescribed()  # they go with the column
    tests: dict[tuple[int, int], Test] = {}
    for i, j in combinations(range(len(entries)), 2):
        if asked.same((entries[i].name, sides[i][0]), (entries[j].name, sides[j][0])):
            pair = Sides(sides[i], sides[j], entries[i].name, entries[j].name, language)
            tests[i, j] = _test(panel, pair, ((1, moves[i]), (-1, moves[j])), quick, full)
    ranks = rank_intervals(len(entries), tests, statistics.options.level)
    names = [entry.name for entry in entries]
    return {
        name: Rank(
            own.low, own.high, len(entries),
            tuple(names[k] for k in own.better), tuple(names[k] for k in own.worse),
        )
        for name, own in zip(names, ranks, strict=True)
    }  # fmt: skip


def _side(entry: Entry, panel: Panel, language: str) -> tuple[Task, str]:
    name = entry.cells[panel, language].name
    places = (Place(panel.criterion, panel.dataset, code) for code in (language, ""))
    return next(entry.tasks[place] for place in places if place in entry.tasks), name


def _test(
    panel: Panel, sides: Sides, moves: Sequence[tuple[int, AtOdds]],
    quick: Statistics, full: Statistics,
) -> Test:  # fmt: skip
    """The comparison that `xling compare` makes, which has to stand other odds of the unread."""
    made = quick.compare(panel, sides, paired=True)
    p = two_sided(made.difference or 0.0, made.se) if made.se else 0.0
    if p < _HOPELESS:
        if made.n_permutations:
            made = full.compare(panel, sides, paired=True)
        if made.p is None:
            return 0.0, None
        p = made.p
    if made.difference is None:
        return 0.0, None
    better = 1 if CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better else -1
    # Otherwise nothing is told of the two anyway.
    if p < 1 - full.options.level and not stands(made, moves, lambda: full.bounded(sides)):
        p = 1.0
    return better * made.difference, p
