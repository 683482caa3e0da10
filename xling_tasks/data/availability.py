"""Whether the data of all tasks of a run is there: said before any of it is read."""

from __future__ import annotations

from collections.abc import Iterable

from xling_tasks.data import mmedbench
from xling_tasks.data.dataset_info import MMEDBENCH, XLINGHEALTH
from xling_tasks.data.sources import find_source


def check_availability(names: Iterable[str], data_dir: str | None) -> None:
    """Look for the files of all tasks; none of them is read.

    Names are tasks, groups and patterns as `--tasks` takes them; what is not ours is left out.
    """
    from xling_task_yaml._generate import leaves_of

    wanted = dict.fromkeys((leaf.record, leaf.language) for leaf in leaves_of(names).values())
    for record in dict.fromkeys(record for record, _ in wanted):
        if record in XLINGHEALTH:
            find_source(XLINGHEALTH[record], data_dir)
    for record, language in wanted:
        if record in MMEDBENCH:
            mmedbench.find_file(MMEDBENCH[record], language, "test", data_dir)
