"""`xling check`: what a run needs, looked at in one screen before it is started."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import platform
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple

from xling_tasks import __version__
from xling_tasks.commands.doctor import checks, models, resources
from xling_tasks.commands.doctor.checks import FAIL, OFF, OK, WARN, Line, in_words, within
from xling_tasks.commands.options import add_json, add_metadata, read_metadata
from xling_tasks.commands.table import Screen
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.models.spec import ModelSpec
from xling_tasks.secrets import redact_screen
from xling_tasks.settings import Settings

_LONGEST = 700
_JUDGES = "labels answers of correctness and compares the claims of answers"
_TRANSLATES = "brings answers to English, as consistency was published"


class Check(NamedTuple):
    """One check: its name if it says nothing itself, and what it does."""

    name: str
    look: Callable[[], Iterable[Line]]


def doctor(options: argparse.Namespace) -> Screen:
    """Every check's lines; the screen's `status` is 1 if one failed.

    Raises:
        SettingError: If `--timeout` is no time.
    """
    if not options.timeout > 0:
        raise SettingError(f"--timeout {options.timeout}: must be more than 0")
    with _quiet():
        settings, lines = _settings(options.metadata)
        every = [
            Check("packages", checks.packages),
            Check("settings", lambda: lines),
            *_checks(settings),
        ]
        shown = [clean(line) for check in every for line in run_check(check, options.timeout)]
    screen = Screen(_as_json(shown) if options.json else _as_text(shown))
    screen.status = int(any(line.status == FAIL for line in shown))
    return screen


def _checks(settings: Settings) -> Iterator[Check]:
    """What depends on the settings, the cheap first."""
    yield Check("data", partial(resources.data, settings))
    jurors: list[ModelSpec | None] = [juror.spec for juror in settings.jurors]
    roles = [
        *((settings.judge_role(at), s, _JUDGES) for at, s in enumerate(jurors or [None])),
        ("answer_extractor", settings.answer_extractor, ""),
        ("translator", settings.translator, _TRANSLATES),
    ]
    for role, spec, use in roles:
        yield Check(role, partial(models.asked, role, spec, use=use))


def run_check(check: Check, seconds: float) -> list[Line]:
    """A check's lines; a crash, or a check that does not end, is a line too."""
    lines: list[Line] = []

    def look() -> None:
        for line in check.look():
            lines.append(line)

    try:
        within(seconds, look)
    except (Exception, SystemExit) as error:
        lines.append(Line(check.name, FAIL, in_words(error), _advice(error)))
    return lines


def _advice(error: BaseException) -> str:
    if isinstance(error, checks.TooSlow):
        return "look whether it hangs, or give it more with --timeout SECONDS"
    if isinstance(error, ModuleNotFoundError):
        return "install the extra that has it (see above)"
    return "" if isinstance(error, XlingError) else "this is not foreseen; other checks went on"


def _settings(words: Sequence[str]) -> tuple[Settings, list[Line]]:
    """The settings that are right, with a line for each that is wrong."""
    metadata: dict[str, Any] = {}
    problems = []
    for word in words:
        try:
            metadata |= read_metadata([word])
        except SettingError as error:
            problems.append(Line("settings", FAIL, in_words(error)))
    good: dict[str, Any] = {}
    for key, value in metadata.items():
        try:
            Settings.parse({key: value}, {})
            good[key] = value
        except Exception as error:  # a value of any shape may come from JSON
            problems.append(Line("settings", FAIL, in_words(error)))
    if not problems:
        listed = f"given: {', '.join(good)}; all others have their defaults" if good else "defaults"
        problems.append(Line("settings", OK, listed))
    elif good:
        problems.append(Line("settings", OK, f"the others are right, and used: {', '.join(good)}"))
    return Settings.parse(good, {}), problems


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Nothing on the terminal but the screen: no logs, bars, warnings."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def clean(line: Line) -> Line:
    """A line that is one, with no secret and nothing that a terminal would obey."""
    return replace(line, found=_clean(line.found), todo=_clean(line.todo))


def _clean(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in redact_screen(text))
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _as_json(lines: Sequence[Line]) -> str:
    counts = Counter(line.status for line in lines)
    status = next((s for s in (FAIL, WARN) if counts[s]), OK)
    content = {"status": status, "version": __version__, "checks": [asdict(x) for x in lines]}
    return json.dumps(content, indent=2)


def _as_text(lines: Sequence[Line]) -> str:
    """One line per check, and a count; in characters that the output can take."""
    width = max(len(line.check) for line in lines)
    rows = [f"xling-tasks {__version__} on {platform.platform(terse=True)}"]
    for line in lines:
        todo = f" -> {line.todo}" if line.todo else ""
        rows.append(f"{line.status:<4}  {line.check:<{width}}  {line.found}{todo}")
    counts = Counter(line.status for line in lines)
    rows.append(
        ", ".join(f"{counts[s]} {s}" for s in (OK, OFF, WARN, FAIL))
        + " (off: not needed by these settings)"
    )
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return "\n".join(rows).encode(encoding, "backslashreplace").decode(encoding)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling check`."""
    add_metadata(parser)
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS",
        help="limit of each check (default %(default)g)",
    )  # fmt: skip
    add_json(parser)
    parser.set_defaults(run=doctor)
