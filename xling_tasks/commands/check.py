"""`xling check`: whether the packages, settings, data and models of a run are available."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from packaging.requirements import Requirement

from xling_tasks.commands.data import counted_datasets
from xling_tasks.commands.options import add_json, add_metadata, read_metadata
from xling_tasks.data.custom.dataset import is_custom_file, load_custom_dataset
from xling_tasks.data.dataset_info import DATASETS, MMEDBENCH
from xling_tasks.data.mmedbench import find_file
from xling_tasks.data.sources import find_source, local_path
from xling_tasks.errors import BackendError, SettingError, XlingError
from xling_tasks.models.backend import Backend
from xling_tasks.models.model_config import SELF, ModelConfig
from xling_tasks.models.translate.translator import SEQ2SEQ
from xling_tasks.output import Screen, many
from xling_tasks.secrets import redact_log
from xling_tasks.settings import Settings

OK, OFF, WARN, FAIL = "ok", "off", "warn", "fail"
"""Statuses; `off` is what these settings do not use."""

CONNECT_SECONDS = 3.0
_DEVELOPMENT = ("dev", "docs", "test")


class Line(NamedTuple):
    """What a check found, and what to do about it."""

    check: str
    status: str
    text: str
    advice: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling check`."""
    add_metadata(parser)
    add_json(parser)
    parser.set_defaults(run=check)


def check(options: argparse.Namespace) -> Screen:
    """Return a line for each check; the exit status is 1 if one failed."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            settings, lines = check_settings(options.metadata)
            lines = [*_run("packages", check_packages), *lines]
            lines += _run("data", partial(check_data, settings))
            for role, spec in _models(settings):
                lines += _run(role, partial(check_model, role, spec))
    finally:
        logging.disable(disabled)
    lines = [Line(*(" ".join(redact_log(text).split())[:500] for text in line)) for line in lines]
    failed = any(line.status == FAIL for line in lines)
    if options.json:
        return Screen(json.dumps([line._asdict() for line in lines], indent=1), int(failed))
    width = max(len(line.check) for line in lines)
    rows = [
        f"{line.status:<4}  {line.check:<{width}}  {line.text}"
        + (f" -> {line.advice}" if line.advice else "")
        for line in lines
    ]
    return Screen("\n".join(rows), int(failed))


def _run(name: str, inspect: Callable[[], Iterable[Line]]) -> list[Line]:
    """Return the lines of a check; an error is one too."""
    lines: list[Line] = []
    try:
        lines.extend(inspect())
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, XlingError) else f"{type(error).__name__}: "
        lines.append(Line(name, FAIL, f"{kind}{error}"))
    return lines


def check_packages() -> Iterator[Line]:
    """Compare the installed versions with the requirements, for each extra."""
    extras = metadata("xling-tasks").get_all("Provides-Extra") or []
    for extra in ("", *(name for name in extras if name not in _DEVELOPMENT)):
        wrong, texts = [], []
        for item in requirements_of("xling-tasks", extra):
            try:
                installed = version(item.name)
            except PackageNotFoundError:
                wrong.append(f"{item.name} is missing")
                continue
            texts.append(f"{item.name} {installed}")
            if not item.specifier.contains(installed, prereleases=True):
                wrong.append(f"{texts[-1]} is not {item.specifier}")
        name = f"extra {extra}" if extra else "packages"
        if wrong:
            install = f'pip install "xling-tasks{f"[{extra}]" if extra else ""}"'
            yield Line(name, OFF if extra else FAIL, ", ".join(dict.fromkeys(wrong)), install)
        else:
            yield Line(name, OK, ", ".join(texts[:3]) + (", ..." if len(texts) > 3 else ""))


def requirements_of(package: str, extra: str) -> Iterator[Requirement]:
    """Yield what a package needs, or what an extra adds, with the extras of other packages."""
    for item in map(Requirement, requires(package) or []):
        always = item.marker is None or item.marker.evaluate({"extra": ""})
        added = item.marker is not None and item.marker.evaluate({"extra": extra})
        if always if not extra else added and not always:
            yield item
            for other in item.extras:
                yield from requirements_of(item.name, other)


def check_settings(words: Iterable[str]) -> tuple[Settings, list[Line]]:
    """Return the settings that are right, and a line for each that is wrong."""
    right: dict[str, Any] = {}
    lines = []
    for word in words:
        try:
            metadata = read_metadata([word])
        except SettingError as error:
            lines.append(Line("settings", FAIL, str(error)))
            continue
        for key, value in metadata.items():
            try:
                Settings.parse({**right, key: value}, {})
                right[key] = value
            except Exception as error:  # JSON may hold a value of any shape
                lines.append(Line("settings", FAIL, str(error)))
    if not lines:
        lines.append(Line("settings", OK, f"given: {', '.join(right)}" if right else "defaults"))
    return Settings.parse(right, {}), lines


def check_data(settings: Settings) -> Iterator[Line]:
    """Load the data that is at hand, and ask the Hub for the rest."""
    from huggingface_hub import constants

    data_dir = settings.data_dir
    is_local = local_path(data_dir) is not None
    if is_custom_file(data_dir):
        data = load_custom_dataset(data_dir)
        size = many(len(data.questions), "question")
        yield Line("data", OK, f"{data_dir}: {size} in {', '.join(data.languages)}")
        return
    published = {key: count for key, _, count in counted_datasets(settings)
                 if not DATASETS[key].bundled}  # fmt: skip
    if not is_local and not constants.HF_HUB_OFFLINE:
        for repository in dict.fromkeys(str(data_dir or DATASETS[key].hub_id) for key in published):
            yield _check_hub(repository)
        return
    lines = []
    for key, count in published.items():
        is_found = False
        try:
            if data_dir is not None and key in MMEDBENCH:
                find_file(DATASETS[key], "en", "test", data_dir)
            elif data_dir is not None:
                find_source(DATASETS[key], data_dir)
            is_found = data_dir is not None
            counts = count()
            text = f"{counts['questions']:,} questions, {counts['rows']:,} rows"
            lines.append(Line(f"data {key}", OK, text))
        except Exception as error:  # a file can be broken in any way
            text = str(error) or type(error).__name__
            lines.append(Line(f"data {key}", FAIL if is_found else OFF, text))
    nothing = data_dir is not None and all(line.status == OFF for line in lines)
    yield from (line._replace(status=FAIL) if nothing else line for line in lines)


def _check_hub(repository: str) -> Line:
    """Ask the Hub whether the files of a dataset may be downloaded."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    folder = "or set data_dir to a folder with the files"
    name = repository.partition("@")[0]
    try:
        HfApi().auth_check(name, repo_type="dataset")
    except GatedRepoError:
        terms = f"accept the terms at https://huggingface.co/datasets/{name}, then hf auth login"
        return Line("data", WARN, f"Hub {repository}: gated", f"{terms}; {folder}")
    except RepositoryNotFoundError:
        return Line("data", FAIL, f"Hub {repository}: not found, or private", "check the name")
    except Exception as error:  # the HTTP library has errors of its own
        text = f"Hub {repository}: cannot be reached ({type(error).__name__})"
        return Line("data", WARN, text, f"check the network; {folder}")
    return Line("data", OK, f"Hub {repository}: may be downloaded")


def _models(settings: Settings) -> Iterator[tuple[str, ModelConfig | None]]:
    for number, juror in enumerate(settings.jurors):
        yield settings.judge_role(number), juror.spec
    if not settings.jurors:
        yield "judge", None
    if settings.answer_extractor is not None:
        yield "answer_extractor", settings.answer_extractor
    yield "translator", settings.translator


def check_model(role: str, spec: ModelConfig | None) -> Iterator[Line]:
    """Ask a model for a reply; nothing comes from the cache."""
    if spec is None:
        yield Line(role, OFF, "not set")
    elif spec.model == SELF:
        yield Line(role, OFF, "the model under test")
    elif spec.model == SEQ2SEQ or "pretrained" in spec.model_args:
        yield Line(role, OFF, "local weights, which the run loads before it begins")
    else:
        model = Backend(role, replace(spec, batch=False), False)
        parts = urlsplit(str(getattr(model.lm, "base_url", None) or ""))
        if parts.hostname and not getproxies():  # the backend would try again for long
            port = parts.port or (443 if parts.scheme == "https" else 80)
            try:
                socket.create_connection((parts.hostname, port), CONNECT_SECONDS).close()
            except OSError as error:
                raise BackendError(
                    f"no connection to {parts.hostname}:{port} ({type(error).__name__}); start the "
                    f"server, or correct {role}.model_args.base_url"
                ) from error
        model.check()
        if model.temperature == 0:
            yield Line(role, OK, f"answers: {model.signature}")
        else:
            text = f"answers, but always at temperature {model.temperature:g}: {model.signature}"
            yield Line(role, WARN, text, "its replies cannot be reproduced; take another model")
