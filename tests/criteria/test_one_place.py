"""What is known of a criterion or a metric stands in its module: nobody else names it in a literal."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from tools import measures

import xling_tasks

ROOT = Path(xling_tasks.__file__).parent

MAY = {
    "criteria/": "the place itself",
    "tasks/": "a task measures its own metrics",
    "scorers/": "what tasks share of measuring them",
    "outcomes.py": "what became of an answer, by what tasks measured of it",
    "failed_response.py": "the names of rates that every task has",
    "report/record.py": "why a question has no score",
    "report/lists.py": "the same, and what was excluded",
    "report/outcomes.py": "the same, of older results that recorded rates alone",
    "report/tables/correctness.py": "XLingEval's Table 1 and Figure 2, judges, people's labels",
    "report/tables/xlinghealth.py": "XLingEval's tables A4 to A14",
    "report/tables/mmedbench.py": "MMedBench's tables",
    "report/tables/all.py": "the warning about empathy that is absent on both sides",
    "report/tables/significance.py": "the tests of XLingEval's consistency",
    "report/human": "people's labels, which are correctness's",
    "commands/annotate.py": "the pages: correctness's labels, and the answers that tasks translate",
    "commands/rank.py": "a paper's table, from the rationales' metrics",
    "commands/data.py": "questions that can be used",
    "report/sentences.py": "an answer of use, in words",
    "commands/submit/": "MMedBench's leaderboard, with its own names",
    "commands/round_trip.py": "translators are rated by what tasks make of their texts",
    "commands/view/facts.py": "flags, some of which are called as the rate is",
    "report/tables/coverage.py": "rows and questions that were left out",
    "commands/view/details.py": "letters are read again to show where",
    "data/": "prompts, labels and readings of a task's name, and rows that are left out",
    "models/": "a judge's labels, as it gives them",
    "logs/by_language.py": "how tasks with several languages inside are split",
    "report/data.py": "values that are no number per question, by their form",
    "report/columns.py": "scores that are functions of sums",
    "report/inference.py": "the same",
    "report/stats.py": "the same",
    "report/unread.py": "what an unread reply may have been",
    "report/board/": "rows instead of columns, as in `report/data`",
    "report/pictures/": "the stacked labels of correctness",
}
"""Files (or folders) that may name some, and why."""


@functools.cache
def naming() -> dict[str, set[str]]:
    return measures.naming(ROOT)


def test_nobody_else_names_a_criterion_or_a_metric():
    others = {path: named for path, named in naming().items() if not path.startswith(tuple(MAY))}
    assert others == {}, "declare it in xling_tasks/criteria, and read it there"


@pytest.mark.parametrize("place", MAY)
def test_an_exception_that_nothing_needs_is_none(place):
    assert any(path.startswith(place) for path in naming()), f"take {place} off the list"


def test_the_rooms_that_show_results_have_no_list_of_their_own():
    """The page, declared tables and pictures of verdicts read what is declared."""
    free = ("report/page/", "report/tables/declared.py",
            "logs/alike.py", "logs/shown.py", "report/board/words.py",
            "report/pictures/verdicts.py")  # fmt: skip
    assert {path: named for path, named in naming().items() if path.startswith(free)} == {}
