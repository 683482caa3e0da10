"""The options that commands share, so that each means the same everywhere."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from xling_tasks.errors import SettingError

if TYPE_CHECKING:
    from xling_tasks.report.model import Options

RUN = "--output_path of lm_eval, or NAME=OUT"
"""What a run is on every command line: the folder, and the name that it is to have."""


def add_runs(parser: argparse.ArgumentParser, which: str = "") -> None:
    """Add the folders of runs, as `folders`."""
    told = f"{RUN}: {which}" if which else RUN
    parser.add_argument("folders", nargs="+", metavar="OUT", help=told)


def add_to(
    parser: argparse.ArgumentParser, what: str = "", *, file: bool = False, default: str = ""
) -> None:
    """Add `--to`, where what is made is written: a folder (DIR), or a file (FILE)."""
    told = what or "folder to write"
    parser.add_argument(
        "--to", type=Path, metavar="FILE" if file else "DIR", required=not default,
        default=Path(default) if default else None, help=f"{told} ({default})" if default else told,
    )  # fmt: skip


def add_languages(parser: argparse.ArgumentParser, which: str) -> None:
    """Add `--for`, the languages that are asked about; scripts may still call it `--languages`."""
    parser.add_argument(
        "--for", "--languages", dest="languages", metavar="CODES",
        help=f"only these languages, with commas: es,hi; {which}",
    )  # fmt: skip


def add_families(parser: argparse.ArgumentParser) -> None:
    """Add `--family`."""
    parser.add_argument(
        "--family", action="append", default=[], metavar="PATTERN",
        help="other tasks of the harness that are one in several languages: 'mytask_{language}', "
        "with settings behind commas (docs/any-task.md)",
    )  # fmt: skip


def add_common(parser: argparse.ArgumentParser, *, intervals: bool = True) -> None:
    """Add `--seed` and `--margin`, and, of a command with intervals of its own, their options."""
    from xling_metrics.stats.resampling import LEVEL, RESAMPLES  # numpy: slow to start

    add_families(parser)
    parser.add_argument("--seed", type=int, default=0, help="of bootstrap and permutations")
    parser.add_argument(
        "--margin",
        type=float,
        help="differences up to this are about the same; default: 0.05, of harm 0.02",
    )
    if not intervals:
        parser.set_defaults(n_resamples=RESAMPLES, level=LEVEL)
        return
    parser.add_argument("--n-resamples", type=int, default=RESAMPLES, help=f"default {RESAMPLES:,}")
    parser.add_argument("--level", type=float, default=LEVEL, help="coverage of intervals")


def checked(options: argparse.Namespace) -> Options:
    """How the statistics are made.

    Raises:
        SettingError: If an option is impossible, or `--to` is a file.
    """
    from xling_tasks.report.model import Options  # numpy, too

    if options.seed < 0:
        raise SettingError(f"--seed: must be an integer from 0, got {options.seed}")
    if options.n_resamples < 1000:
        raise SettingError(f"--n-resamples {options.n_resamples}: at least 1000, or intervals jump")
    if not 0 < options.level < 1:
        raise SettingError(f"--level {options.level}: must lie between 0 and 1")
    if options.margin is not None and not 0 < options.margin < 1:
        raise SettingError(f"--margin {options.margin}: must lie between 0 and 1")
    if options.to is not None and options.to.exists() and not options.to.is_dir():
        raise SettingError(f"--to {options.to}: is a file; name a folder")
    return Options(options.seed, options.n_resamples, options.level, options.margin)
