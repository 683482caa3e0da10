"""What a model card says in words: the conclusions of a report, and what keeps them from more."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from xling_tasks.commands.submit.hf_parts import Words
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import read_models
from xling_tasks.report.lines import about_the_judge
from xling_tasks.report.model import Options, Report
from xling_tasks.report.sentences import sentences
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.secrets import publishable, publishable_text


def in_words(out: Path) -> Words:
    """What may be said of the newest runs in a folder, as `xling report` says it.

    Raises:
        DataError: If a file is broken, or samples and results contradict each other.
    """
    models = read_models([out])
    statistics = Statistics(Options()).undescribed()
    concluded = [item for model in models for item in conclusions_of(statistics, model)]
    titles = {item.dataset: dataset_title(item.dataset) for item in concluded}
    flags = differences(Report(tuple(models), (), (), (), statistics.options))
    return Words(
        [publishable_text(line) for line in sentences(concluded, titles)],
        [publishable_text(line) for line in [*flags, *about_the_judge(concluded)]],
        [publishable(asdict(item)) for item in concluded],
    )
