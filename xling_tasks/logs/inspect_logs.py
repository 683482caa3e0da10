"""Logs of Inspect (`.eval`, `.json`), read by `inspect_ai` and written in the form of lm_eval."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_metrics.base import import_optional

from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.logs.checked import reading

_LANGUAGE = ("language", "lang")
_GENERATION = {"temperature": "temperature", "max_tokens": "max_gen_toks", "top_p": "top_p"}

_converted: list[tempfile.TemporaryDirectory[str]] = []  # removed at the end of the process


def with_inspect_logs(items: Iterable[Path | str]) -> list[Path | str]:
    """Return folders of lm_eval's files in place of Inspect's logs; others stay.

    `NAME=LOG.eval` names the model of a log. Logs with one name, or with none, are one folder.
    """
    folders: list[Path | str] = []
    logs: dict[str, list[Path]] = {}
    for item in items:
        name, sign, path = str(item).rpartition("=") if not Path(item).exists() else ("", "", item)
        if _is_log(Path(path)):
            logs.setdefault(name + sign, []).append(user_path(path))
        else:
            folders.append(item)
    return [*folders, *(f"{name}{_convert(paths)}" for name, paths in logs.items())]


def _is_log(path: Path) -> bool:
    """Return whether a path is a log's; folders and files of lm_eval are not."""
    is_json = path.suffix == ".json" and not path.name.startswith("results_") and path.is_file()
    return path.suffix == ".eval" or is_json


def _convert(paths: Iterable[Path]) -> Path:
    """Write logs in the form of lm_eval's files; return their folder."""
    reader = import_optional("inspect_ai.log", "logs of Inspect", "inspect")
    folder = tempfile.TemporaryDirectory(prefix="inspect-")
    _converted.append(folder)
    for number, path in enumerate(paths):
        if not path.is_file():
            raise DataError(f"{path}: {no_such(path)}")
        with reading(path):
            log = reader.read_eval_log(str(path))
        if log.status != "success":
            raise DataError(
                f"{path}: the run did not finish (status: {log.status}); finish it with "
                "`inspect eval-retry`"
            )
        with reading(path):
            _write(log, Path(folder.name) / f"{number}")
    return Path(folder.name)


def _write(log: Any, to: Path) -> None:
    """Write a log's tasks: one a language where its samples name several."""
    stamp = str(log.eval.created).partition("+")[0].replace(":", "-")
    plain = {name: own for name, own in (log.eval.model_args or {}).items() if _is_plain(own)}
    args = {"model": log.eval.model, **plain}
    config = {
        new: value
        for old, new in _GENERATION.items()
        if (value := getattr(log.plan.config, old, None)) is not None
    }
    content: dict[str, Any] = {
        "results": {}, "configs": {}, "n-samples": {}, "higher_is_better": {},
        "config": {"model": "inspect", "model_args": args},
        "lm_eval_version": f"inspect_ai {(log.eval.packages or {}).get('inspect_ai', '')}".strip(),
    }  # fmt: skip
    tasks = _by_task(log)
    to.mkdir()
    for task, samples in tasks.items():
        rows = list(_rows(samples))
        metrics = list(dict.fromkeys(name for row in rows for name in row["values"]))
        # What a scorer gave no value is left out: lm_eval's files have no gaps.
        rows = [row for row in rows if len(row["values"]) == len(metrics)]
        if not rows:
            raise DataError(f"{log.location}: no sample has a number as its score")
        means = {m: sum(row["values"][m] for row in rows) / len(rows) for m in metrics}
        content["results"][task] = {f"{m},none": mean for m, mean in means.items()}
        content["configs"][task] = {
            "task": task, "output_type": "generate_until", "generation_kwargs": config,
            "metric_list": [
                {"metric": m, "aggregation": "mean", "higher_is_better": True} for m in metrics
            ],
        }  # fmt: skip
        content["n-samples"][task] = {"original": len(samples), "effective": len(rows)}
        content["higher_is_better"][task] = dict.fromkeys(metrics, True)
        lines = [json.dumps({**row, **row.pop("values")}) for row in rows]
        (to / f"samples_{task}_{stamp}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (to / f"results_{stamp}.json").write_text(json.dumps(content), "utf-8")


def _by_task(log: Any) -> dict[str, dict[str, list[Any]]]:
    """Return task -> sample's id -> its epochs; the language is in the task's name."""
    name = str(log.eval.task).rpartition("/")[2]
    given = next((a for key in _LANGUAGE if (a := (log.eval.task_args or {}).get(key))), "")
    languages = {_language_of(sample) for sample in log.samples or ()}
    tasks: dict[str, dict[str, list[Any]]] = {}
    for sample in log.samples or ():
        code = str(given) or (_language_of(sample) if len(languages) > 1 else "")
        task = f"{name}_{code}" if code else name
        tasks.setdefault(task, {}).setdefault(str(sample.id), []).append(sample)
    return tasks


def _language_of(sample: Any) -> str:
    return next((str(sample.metadata[key]) for key in _LANGUAGE if key in sample.metadata), "")


def _rows(samples: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield each sample as lm_eval logs one; values are means over its epochs."""
    for number, (key, epochs) in enumerate(samples.items()):
        first = epochs[0]
        doc = {
            **{name: value for name, value in first.metadata.items() if _is_plain(value)},
            "id": key, "question": _text_of(first.input), "options": list(first.choices or ()),
        }  # fmt: skip
        responses = [sample.output.completion for sample in epochs]
        yield {
            "doc_id": number, "doc": doc, "target": first.target, "filter": "none",
            "arguments": [[doc["question"], {}]], "resps": [responses],
            "filtered_resps": responses[:1], "values": _values(epochs),
        }  # fmt: skip


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _text_of(messages: Any) -> str:
    return messages if isinstance(messages, str) else "\n".join(m.text for m in messages)


def _values(epochs: Iterable[Any]) -> dict[str, float]:
    """Return each scorer's mean over epochs, of those that were all scored with a number.

    Letters count as Inspect counts them: C is 1, P is 0.5, I and N are 0.
    """
    number = import_optional("inspect_ai.scorer", "logs of Inspect", "inspect").value_to_float()
    values: dict[str, list[float]] = {}
    for sample in epochs:
        for name, score in (sample.scores or {}).items():
            plain = isinstance(score.value, (str, int, float, bool))
            values.setdefault(name, []).append(float(number(score.value)) if plain else math.nan)
    means = {name: sum(own) / len(own) for name, own in values.items()}
    return {name: mean for name, mean in means.items() if not math.isnan(mean)}
