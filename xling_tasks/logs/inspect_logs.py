"""Logs of Inspect (`.eval`, `.json`), read by `inspect_ai` and written in the form of lm_eval."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_metrics.base import import_optional

from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.logs.checked import reading

_LANGUAGE = ("language", "lang")
_GENERATION = {"temperature": "temperature", "max_tokens": "max_gen_toks", "top_p": "top_p"}

_NO_SCORE = "[no score]"

_converted: list[tempfile.TemporaryDirectory[str]] = []  # removed at the end of the process


def with_inspect_logs(items: Iterable[Path | str]) -> list[Path | str]:
    """Return folders of lm_eval's files in place of Inspect's logs; others stay.

    `NAME=LOG.eval` names the model of a log. Logs with one name, or with none, are one folder.
    """
    folders: list[Path | str] = []
    logs: dict[str, list[Path]] = {}
    for item in items:
        name, sign, word = str(item).rpartition("=") if not Path(item).exists() else ("", "", item)
        path = user_path(word)
        is_json = path.suffix == ".json" and not path.name.startswith("results_") and path.is_file()
        if is_json or path.suffix == ".eval":
            logs.setdefault(f"{name}{sign}", []).append(path)
        else:
            folders.append(item)
    return [*folders, *(f"{name}{_convert(paths)}" for name, paths in logs.items())]


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
            _write(log, Path(folder.name, str(number)))
    return Path(folder.name)


def _write(log: Any, to: Path) -> None:
    """Write a log's tasks: one a language where its samples name several."""
    to.mkdir()
    stamp = str(log.eval.created).partition("+")[0].replace(":", "-")
    plain = {name: value for name, value in (log.eval.model_args or {}).items() if _is_plain(value)}
    settings = {new: getattr(log.plan.config, old, None) for old, new in _GENERATION.items()}
    content: dict[str, Any] = {
        "results": {}, "configs": {}, "n-samples": {}, "higher_is_better": {},
        "config": {"model": "inspect", "model_args": {"model": log.eval.model, **plain}},
        "lm_eval_version": f"inspect_ai {(log.eval.packages or {}).get('inspect_ai', '')}".strip(),
    }  # fmt: skip
    for task, samples in _by_task(log).items():
        rows = list(_rows(samples))
        names = dict.fromkeys(name for row in rows for name in row["values"])
        if not names:
            raise DataError(f"{log.location}: no sample has a number as its score")
        # lm_eval's files have no gaps: a sample that failed, or that the first scorer gave no
        # number, is an unparsed response; of the other scorers those count that scored all others.
        first, *others = names
        scored = [row["values"] for row in rows if first in row["values"]]
        metrics = [first, *(name for name in others if all(name in values for values in scored))]
        for row in rows:
            if first not in row["values"]:
                row["values"], row["filtered_resps"] = dict.fromkeys(metrics, 0.0), [_NO_SCORE]
                row["resps"] = [[text if text.strip() else _NO_SCORE for text in row["resps"][0]]]
            row["values"] = {name: row["values"][name] for name in metrics}
        content["results"][task] = {
            f"{name},none": sum(row["values"][name] for row in rows) / len(rows) for name in metrics
        }
        content["configs"][task] = {
            "task": task, "output_type": "generate_until",
            "generation_kwargs": {k: v for k, v in settings.items() if v is not None},
            "metric_list": [{"metric": name} for name in metrics],
            "filter_list": [{"name": "none", "filter": [{"fallback": _NO_SCORE}]}],
        }  # fmt: skip
        content["n-samples"][task] = {"original": len(rows), "effective": len(rows)}
        content["higher_is_better"][task] = dict.fromkeys(metrics, True)
        lines = [json.dumps({**row, **row.pop("values")}) + "\n" for row in rows]
        (to / f"samples_{task}_{stamp}.jsonl").write_text("".join(lines), "utf-8")
    (to / f"results_{stamp}.json").write_text(json.dumps(content), "utf-8")


def _by_task(log: Any) -> dict[str, dict[str, list[Any]]]:
    """Return task -> sample's id -> its epochs; the language is in the task's name."""
    name, args = str(log.eval.task).rpartition("/")[2], log.eval.task_args or {}
    given = next((str(args[key]) for key in _LANGUAGE if args.get(key)), "")
    tasks: dict[str, dict[str, list[Any]]] = {}
    samples = log.samples or ()
    languages = [next((s.metadata[k] for k in _LANGUAGE if k in s.metadata), "") for s in samples]
    for sample, language in zip(samples, languages, strict=True):
        code = given or (language if len(set(languages)) > 1 else "")
        task = f"{name}_{code}" if code else name
        tasks.setdefault(task, {}).setdefault(str(sample.id), []).append(sample)
    return tasks


def _rows(samples: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield each sample as lm_eval logs one.

    Values are means over epochs that all were scored with a number. Letters count as Inspect counts
    them: C is 1, P is 0.5, I and N are 0.
    """
    to_number = import_optional("inspect_ai.scorer", "logs of Inspect", "inspect").value_to_float()
    for number, (key, epochs) in enumerate(samples.items()):
        first, responses = epochs[0], [sample.output.completion for sample in epochs]
        text = first.input
        doc = {
            **{name: value for name, value in first.metadata.items() if _is_plain(value)},
            "id": key, "options": list(first.choices or ()),
            "question": text if isinstance(text, str) else "\n".join(m.text for m in text),
        }  # fmt: skip
        scores: dict[str, list[Any]] = {}
        for sample in epochs:
            for name, score in (sample.scores or {}).items():
                scores.setdefault(name, []).append(score.value)
        yield {
            "doc_id": number, "doc": doc, "target": first.target, "filter": "none",
            "arguments": [[doc["question"], {}]], "resps": [responses],
            "filtered_resps": responses[:1],
            "values": {
                name: sum(map(to_number, values)) / len(values)
                for name, values in scores.items()
                if all(map(_is_plain, values)) and not any(value != value for value in values)
            },
        }  # fmt: skip


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))
