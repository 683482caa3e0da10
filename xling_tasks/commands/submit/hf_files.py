"""The files of `xling submit hf`, each read back with the Hub library's own parsers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.submit.hf_card import data_line, number, section, short, with_section
from xling_tasks.commands.submit.hf_parts import ALL, HubTask, Score, Submission
from xling_tasks.criteria import CRITERIA
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.output import all_or_none, file_name, refuse_files, writing
from xling_tasks.secrets import publishable, redact_text, without_hosts

CARD = "README.md"
RESULTS = "xling_results.json"
NEEDED = "1.4.0"
"""The first huggingface_hub with the classes of `.eval_results`."""


def write_files(to: Path, submission: Submission, model_id: str, card: str | None) -> list[str]:
    """All files or none, all read back first; returns their names. CARD is the model's own."""
    groups = submission.groups()
    entries = {f".eval_results/{file_name(name)}.yaml": _entries(submission, group, model_id)
               for name, group in groups.items()}  # fmt: skip
    entries = {name: values for name, values in entries.items() if values}
    names = [*entries, CARD, RESULTS]
    refuse_files(to, names)
    with all_or_none(to, names) as folder:
        for name, values in entries.items():
            _write_entries(folder / name, values)
        _write_card(folder / CARD, submission, model_id, card)
        _write_results(folder / RESULTS, record(submission, model_id))
    return names


def require_hub() -> None:
    """Raise a DataError if the installed huggingface_hub is too old."""
    import huggingface_hub

    try:
        from huggingface_hub import EvalResultEntry as _  # noqa: F401
    except ImportError:
        raise DataError(
            f"xling submit hf needs huggingface_hub {NEEDED} or newer, whose EvalResultEntry "
            f"writes .eval_results; installed is {huggingface_hub.__version__}. Run: "
            f"pip install -U 'huggingface_hub>={NEEDED}' (in an environment of its own, if "
            "another package holds it back: the run's files are all that is needed)"
        ) from None


# .eval_results


def _entries(submission: Submission, group: Sequence[HubTask], model_id: str) -> list[Any]:
    """One entry per defined value; none for data that is not on the Hub.

    There is no verify token: the Hub gives it to runs in its own jobs.
    """
    from huggingface_hub import EvalResultEntry

    return [
        EvalResultEntry(
            dataset_id=part.hub_dataset,
            task_id=task_id(part, score),
            value=score.value,
            dataset_revision=part.revision,
            date=part.date,
            source_url=f"https://huggingface.co/{model_id}/blob/main/{RESULTS}",
            source_name="xling-tasks with lm-evaluation-harness",
            notes=_notes(submission, part, score),
        )
        for part, score in on_the_hub(group)
    ]


def task_id(part: HubTask, score: Score) -> str:
    """What an entry and the dataset's eval.yaml call a value."""
    return f"{part.task}_{score.metric}"


def on_the_hub(parts: Sequence[HubTask]) -> Iterator[tuple[HubTask, Score]]:
    """The defined values of tasks whose data is on the Hub."""
    for part in parts:
        if part.hub_dataset is not None:
            yield from ((part, score) for score in part.main if score.value is not None)


def _notes(submission: Submission, part: HubTask, score: Score) -> str:
    """Coverage first, then how the value was made."""
    rates = [
        f"{rate.metric} {number(rate.value)}"
        for rate in part.beside
        if rate.language == score.language and rate.temperature in ("", score.temperature)
    ]
    language = f"languages: {', '.join(part.languages)}" if score.language == ALL else (
        f"language: {score.language}")  # fmt: skip
    texts = [
        *(f"CAUTION: {text}" for text in submission.cautions),
        language,
        f"{part.count['effective']} of {part.count['original']} questions",
        f"{part.data.get('invalid_rows', 0)} unusable rows",
        *rates,
        f"{part.config.get('num_fewshot') or 0} examples in the prompt",
        f"data: {data_line(part)}",
        f"signature: {short(part.xling['signatures'][score.metric])}",
        f"lm-eval {part.lm_eval}, xling-tasks {part.xling['version']}",
        "no evidence of clinical fitness",
    ]
    return str(without_hosts(redact_text("; ".join(texts))))


def _write_entries(path: Path, entries: Sequence[Any]) -> None:
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

    plain = eval_result_entries_to_yaml(list(entries))
    path.parent.mkdir(exist_ok=True)
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=10_000)
    path.write_text(text, encoding="utf-8", newline="\n")
    back = parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))
    _check(path, back == list(entries) and len({e.task_id for e in back}) == len(back))


# The model card


def index_results(submission: Submission) -> list[Any]:
    """The values as `EvalResult`s of the card's model-index."""
    from huggingface_hub import EvalResult

    warning = "; CAUTION, see the card" if submission.cautions else ""
    entries = []
    for part, score in on_the_hub(submission.parts):
        of_all = score.language == ALL
        language = "all languages" if of_all else language_name(score.language)
        alone = part.language is not None or of_all
        entries.append(
            EvalResult(
                task_type=part.submission.type,
                task_name=f"{part.criterion} ({language})",
                dataset_type=part.hub_dataset,
                dataset_name=f"{part.data['dataset']} ({language})",
                dataset_config=part.task if alone else f"{part.task}_{score.language}",
                dataset_split="test",
                dataset_revision=part.revision,
                metric_type=score.label,
                metric_name=f"{score.label} ({part.criterion}, {language}{warning})",
                metric_value=score.value,
            )
        )
    return entries


def _write_card(path: Path, submission: Submission, model_id: str, card: str | None) -> None:
    """The card with our section and results; everything else in it stays."""
    import yaml
    from huggingface_hub import ModelCard, ModelCardData, metadata_load, metadata_save

    name = model_id.rpartition("/")[2]
    ours = section(submission)
    text = with_section(f"# {name}\n" if card is None else card, ours)
    path.write_text(text, encoding="utf-8", newline="")
    results = index_results(submission)
    try:
        if results:
            data = ModelCardData(model_name=name, eval_results=results).to_dict()
            metadata = metadata_load(path) or {}
            metadata["model-index"] = _joined(metadata.get("model-index"), data["model-index"])
            metadata_save(path, metadata)
        back = ModelCard.load(path)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        told = " ".join(str(error).split())
        raise DataError(f"the model card's metadata cannot be read or joined: {told}") from error
    there = back.data.eval_results or []
    _check(path, ours in back.text and all(result in there for result in results))


def _joined(before: Any, ours: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A model-index with ours in place of the results on the same data, and all others."""
    if not before:
        return ours
    if len(before) > 1:
        raise ValueError("its model-index names several models; leave one")
    mine = {_place(result) for result in ours[0]["results"]}
    kept = [result for result in before[0]["results"] if _place(result) not in mine]
    return [{**before[0], "results": [*kept, *ours[0]["results"]]}]


def _place(result: Mapping[str, Any]) -> tuple[Any, Any]:
    return result["dataset"]["type"], result["dataset"].get("config")


# All scores


def record(submission: Submission, model_id: str) -> dict[str, Any]:
    """Everything that the run says, without secrets and folders."""
    run = submission.newest
    return {
        "format": "xling-tasks results 1",
        "model_id": model_id,
        "model": run.config.get("model"),
        "model_args": publishable(run.model_args),
        "cautions": submission.cautions,
        "conclusions": submission.words.records,
        "flags": submission.words.flags,
        "undefined": {part.task: part.undefined() for part in submission.parts},
        "tasks": {part.task: _task_record(part) for part in submission.parts},
    }


def _task_record(part: HubTask) -> dict[str, Any]:
    content, xling = part.run.content, part.xling
    keys = ("chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn")
    data = {key: value for key, value in part.data.items() if key != "files"}
    return {
        "criterion": part.criterion,
        "hub_dataset": part.hub_dataset,
        "date": part.date,
        "versions": {
            "xling-tasks": xling["version"],
            "lm-eval": content.get("lm_eval_version"),
            "transformers": content.get("transformers_version"),
            "task": (part.config.get("metadata") or {}).get("version"),
        },
        "questions": dict(part.count),
        "limit": part.run.config.get("limit"),
        "data": publishable(data),
        "settings": publishable(xling["settings"]),
        "prompts": xling["prompts"],
        "generation_kwargs": publishable(xling["generation_kwargs"]),
        "num_fewshot": part.config.get("num_fewshot") or 0,
        "chat_template": content.get("chat_template") is not None,
        **{key: content.get(key) for key in keys},
        "scores": {
            metric: {
                "value": part.score(metric),
                "stderr": part.score(f"{metric}_stderr"),
                "higher_is_better": part.directions.get(metric),
                "signature": publishable(signature),
            }
            for metric, signature in xling["signatures"].items()
        },
    }


def _write_results(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    _check(path, json.loads(path.read_text(encoding="utf-8")) == content)


def _check(path: Path, same: bool) -> None:
    if not same:
        raise DataError(f"{path.name}: does not read back as it was written; please report this")


# For owners of a dataset


OWNERS, FILE = "for_dataset_owners", "eval.yaml"
_HEAD = """\
# Draft for the owners of DATASET: it goes to the root of that repository, which makes the dataset a
# benchmark (https://huggingface.co/docs/hub/eval-results). A task is a score in a language; its id
# is what `xling submit hf` writes into a model's .eval_results. To check before it is pushed:
# config and split as the repository has them, and whether the Hub knows the framework's name.
"""


def write_drafts(folder: Path, submission: Submission) -> list[Path]:
    """A draft for each dataset on the Hub that the results are about, below its name."""
    import yaml

    by_dataset: dict[str, list[HubTask]] = {}
    for part in submission.parts:
        if part.hub_dataset is not None and any(on_the_hub([part])):
            by_dataset.setdefault(part.hub_dataset, []).append(part)
    paths = []
    for dataset, parts in by_dataset.items():
        path = folder / dataset / FILE
        text = yaml.safe_dump(_draft(parts), sort_keys=False, allow_unicode=True, width=100)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            head = _HEAD.replace("DATASET", dataset)
            path.write_text(head + text, encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def _draft(parts: Sequence[HubTask]) -> dict[str, Any]:
    names = dict.fromkeys(str(part.data["dataset"]) for part in parts)
    codes = dict.fromkeys(code for part in parts for code in part.languages)
    asked = dict.fromkeys(CRITERIA[part.about.criterion].title for part in parts)
    return {
        "name": ", ".join(names),
        "description": (
            f"{', '.join(asked)}: questions in "
            f"{', '.join(language_name(code) for code in codes)}, scored per language with the "
            "xling-tasks plugin of lm-evaluation-harness."
        ),
        "evaluation_framework": "lm-evaluation-harness",
        "tasks": [
            {"id": task_id(part, score), "config": "default", "split": "test"}
            for part, score in on_the_hub(parts)
        ],
    }
