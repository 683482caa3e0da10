"""`xling submit hf`: results in the metadata of a model card (model-index), and a section of it.

Nothing is uploaded: the command that does it is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.dataset_info import BUNDLED_SAMPLES, DATASETS
from xling_tasks.errors import DataError, unreadable
from xling_tasks.languages import LANGUAGES, language_name
from xling_tasks.output import refuse_files, table, writing
from xling_tasks.report.data import Model, read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.record import Score, Verdict
from xling_tasks.report.verdicts import Options
from xling_tasks.secrets import public

CARD = "README.md"
MOST_UNSCORED = 0.05  # share of questions without a score: the margin of most verdicts
BEGIN, END = "<!-- xling-tasks:begin -->", "<!-- xling-tasks:end -->"

_SECTION = """\
{begin}

## Health questions across languages (xling-tasks)

Scores by language, measured with the xling-tasks plugin of lm-evaluation-harness. They are no
evidence that the model is fit for clinical use or for advice to patients, in any language: labels
come from automatic judges and metrics, and neither safety nor harm was assessed by people. A small
gap between languages does not mean that the answers are good in either.

{scores}

Verdict: the language against English, by paired tests with Holm's correction and margins.
Run: `{model}`, {versions}.{judges}

{end}"""


def run(options: argparse.Namespace) -> str:
    """Write the model card, and return the command that offers it to the model."""
    _check_id("--model-id", options.model_id)
    if options.dataset_id is not None:
        _check_id("--dataset-id", options.dataset_id)
    refuse_files(options.to, [CARD])
    model = _read_model(options.out_dir)
    record = make_record([model], Options())
    scores = [
        score for score in record.scores
        if score.criterion in CRITERIA and score.language in LANGUAGES
        and score.metric in CRITERIA[score.criterion].submission.main
    ]  # fmt: skip
    refuse_unscored(scores, model)
    results = eval_results(scores, model, options.dataset_id)
    if not results:
        raise DataError(
            f"{options.out_dir}: no score over a dataset on the Hub; --dataset-id names the one "
            "that holds your own questions"
        )
    card = _load_card(options)
    replaced = {(result.dataset_type, result.dataset_config) for result in results}
    earlier = card.data.eval_results or []
    card.data.eval_results = [
        *(r for r in earlier if (r.dataset_type, r.dataset_config) not in replaced), *results
    ]  # fmt: skip
    card.data.model_name = card.data.model_name or options.model_id.rpartition("/")[2]
    old_section = re.escape(BEGIN) + ".*?" + re.escape(END)
    text = re.sub(old_section, "", card.text, flags=re.DOTALL).rstrip()
    card.text = f"{text}\n\n{describe(scores, record.verdicts, model)}\n"
    path = options.to / CARD
    with writing(options.to):
        options.to.mkdir(parents=True, exist_ok=True)
        card.save(path)
    return (
        f"{path}: {len(results)} results. Nothing was uploaded; to offer the card to the model: "
        f"hf upload {options.model_id} {path} {CARD} --create-pr"
    )


def _check_id(option: str, value: str) -> None:
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    with contextlib.suppress(HFValidationError):
        validate_repo_id(value)
        if value.count("/") == 1:
            return
    raise DataError(f"{option} {value}: not of the form ORG/NAME")


def _read_model(out: Path) -> Model:
    """Read a folder's model; what should not be published is refused."""
    models = read_models([out])
    if len(models) != 1:
        names = ", ".join(model.name for model in models)
        raise DataError(
            f"{out}: holds the runs of {len(models)} models: {names}; give one's folder"
        )
    problems = []
    for task in models[0].tasks:
        results, count = task.results, task.results.count
        if results.run.config.get("limit") is not None:
            problems.append(f"{results.task} was run with --limit")
        elif count["effective"] != count["original"]:
            counts_text = f"{count['effective']} of {count['original']}"
            problems.append(f"{results.task} has {counts_text} questions")
        elif task.task_key.dataset in BUNDLED_SAMPLES:
            problems.append(f"{results.task} is over the bundled sample")
    if problems:
        raise DataError(
            f"{out}: not ready to submit: {'; '.join(problems)}. Move these results away, or run "
            "the tasks over the whole dataset"
        )
    return models[0]


def refuse_unscored(scores: Sequence[Score], model: Model) -> None:
    """Refuse main scores that many questions lack: these could move them."""
    counts = {
        (task.task_key.criterion, task.task_key.dataset): task.results.count["effective"]
        for task in model.tasks
    }
    problems = []
    for score in scores:
        n_asked = counts.get((score.criterion, score.dataset))
        if n_asked and score.n is not None and score.n < (1 - MOST_UNSCORED) * n_asked:
            name = f"{_metric_name(score)} in {language_name(score.language)}"
            problems.append(f"{name}: {score.n} of {n_asked} questions have a score")
    if problems:
        raise DataError(f"not ready to submit: {'; '.join(problems)}. Ask the others again")


def eval_results(scores: Sequence[Score], model: Model, custom_id: str | None) -> list[Any]:
    """Make the entries of a model-index: main metrics over datasets that lie on the Hub.

    The language stands in the configuration: the Hub puts entries together by dataset,
    configuration and split.
    """
    from huggingface_hub import EvalResult

    data = {
        (task.task_key.criterion, task.task_key.dataset): task.results.xling.get("data") or {}
        for task in model.tasks
    }
    results = []
    for score in scores:
        source = data.get((score.criterion, score.dataset), {})
        hub = DATASETS[score.dataset].hub_id if score.dataset in DATASETS else None
        hub = {"hub": source.get("name"), "own": custom_id}.get(source.get("kind", ""), hub)
        if score.value is None or hub is None:
            continue
        criterion, language = CRITERIA[score.criterion], language_name(score.language)
        sampled = None if score.temperature is None else {"temperature": score.temperature}
        results.append(
            EvalResult(
                task_type=criterion.submission.type,
                task_name=criterion.title,
                dataset_type=hub,
                dataset_name=f"{source.get('dataset', score.dataset)} ({language})",
                dataset_config=f"{score.criterion}_{score.dataset}_{score.language}",
                dataset_split="test",
                dataset_revision=source.get("revision"),
                metric_type=score.metric,
                metric_name=_metric_name(score),
                metric_value=score.value,
                metric_args=sampled,
            )
        )
    return results


def _metric_name(score: Score) -> str:
    name = score.metric.replace("_", " ")
    return name if score.temperature is None else f"{name} at temperature {score.temperature:g}"


def _load_card(options: argparse.Namespace) -> Any:
    """Load the card of --card, or make an empty one."""
    import yaml
    from huggingface_hub import ModelCard

    if options.card is None:
        return ModelCard(f"---\n{{}}\n---\n# {options.model_id.rpartition('/')[2]}\n")
    try:
        return ModelCard.load(options.card)
    except OSError as error:
        raise DataError(f"--card {options.card}: {unreadable(options.card, error)}") from error
    except (yaml.YAMLError, ValueError, LookupError, TypeError) as error:
        raise DataError(f"{options.card}: the metadata cannot be read: {error}") from error


def describe(scores: Sequence[Score], verdicts: Sequence[Verdict], model: Model) -> str:
    """Return the section of the card: a table of the main scores with verdicts."""

    def key(row: Score | Verdict) -> tuple[object, ...]:
        return row.criterion, row.dataset, row.metric, row.temperature, row.language

    verdict_of = {key(verdict): verdict.verdict for verdict in verdicts}
    rows = [
        {
            "criterion": score.criterion, "dataset": score.dataset,
            "language": language_name(score.language), "metric": _metric_name(score),
            "value": score.value, "questions": score.n,
            "verdict": verdict_of.get(key(score), "").replace("_", " "),
        }
        for score in scores
    ]  # fmt: skip
    runs = [task.results for task in model.tasks]
    versions = sorted({f"lm-eval {r.lm_eval}, xling-tasks {r.xling['version']}" for r in runs})
    found = (score.signature.partition("|judge:")[2] for score in scores)
    judges = "; ".join(f"`{public(judge)}`" for judge in sorted({*found} - {""}))
    return _SECTION.format(
        begin=BEGIN, end=END, scores=table(rows), model=public(model.full),
        versions="; ".join(versions), judges=f" Judge: {judges}." if judges else "",
    )  # fmt: skip
