"""`xling train-empathy`: train empathy classifiers on EPITOME, and measure them."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from xling_metrics.base import library_version
from xling_metrics.classification import classification_scores

from xling_tasks.commands.options import add_output, integer, read_metadata
from xling_tasks.errors import SettingError, refuse_unknown, user_path
from xling_tasks.models.empathy import linear as empathy_linear
from xling_tasks.models.empathy import training
from xling_tasks.models.empathy.classifier import (
    Model,
    load_classifier,
    save_card,
    save_classifier,
)
from xling_tasks.models.empathy.data import (
    MECHANISMS,
    SPLIT,
    EmpathyData,
    Pair,
    Split,
    load,
    split,
)
from xling_tasks.output import refuse_others, table, writing
from xling_tasks.report.published import published

SHORT = ("ER", "IP", "EX")
"""The mechanisms as the papers abbreviate them."""

_METRICS = {"f1": "F1", "accuracy": "accuracy"}

_LIBRARIES = {
    "linear": ("numpy", "scipy", "scikit-learn"),
    "transformer": ("torch", "transformers", "tokenizers", "safetensors"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling train-empathy`."""
    add_epitome(parser)
    add_output(parser, "new folder, for empathy_classifier=FOLDER")
    text = "kind of classifier (default %(default)s)"
    parser.add_argument("--backend", choices=["linear", "transformer"], default="linear", help=text)
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=integer(0), metavar="N", help="one split, with this seed")
    text = "splits with the seeds 0 to N - 1 (default %(default)s)"
    seeds.add_argument("--seeds", type=integer(1), default=5, metavar="N", help=text)
    names = ", ".join(training.TrainSettings()._asdict())
    text = f"settings of --backend transformer (extra hf): {names}"
    parser.add_argument("--training", nargs="+", default=[], metavar="KEY=VALUE", help=text)
    parser.set_defaults(run=train_empathy)


def add_epitome(parser: argparse.ArgumentParser) -> None:
    """Add `--data`."""
    text = (
        "folder with EPITOME's emotional-reactions-reddit.csv, interpretations-reddit.csv and "
        "explorations-reddit.csv"
    )
    parser.add_argument("--data", type=user_path, required=True, metavar="DIR", help=text)


def train_empathy(options: argparse.Namespace) -> str:
    """Train once per seed, save the first model, and return the scores."""
    settings = read_metadata(options.training)
    defaults = training.TrainSettings()._asdict()
    refuse_unknown("--training ", settings, defaults)
    for name, value in settings.items():
        is_whole = isinstance(defaults[name], int)
        is_text = not isinstance(defaults[name], (int, float))
        kinds = (str,) if is_text else (int,) if is_whole else (int, float)
        if type(value) not in kinds or (not is_text and value <= 0):
            expected = "a text" if is_text else f"a positive {'whole ' * is_whole}number"
            raise SettingError(f"--training {name}: expected {expected}, got {value!r:.40}")
    if options.backend == "linear" and settings:
        raise SettingError("--training is for --backend transformer")
    seeds = list(range(options.seeds)) if options.seed is None else [options.seed]
    data, folder = load(options.data), options.to
    refuse_others(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    present = [sum(pair.present[column] for pair in data.pairs) for column in range(3)]
    card: dict[str, Any] = {
        "backend": options.backend,
        "data": data.digest,
        "pairs": len(data.pairs),
        "seeker_posts": len({pair.group for pair in data.pairs}),
        "present": dict(zip(MECHANISMS, present, strict=True)),
        "split": "-".join(map(str, SPLIT)),
        "trained_with": {name: library_version(name) for name in _LIBRARIES[options.backend]},
        "seeds": [],
    }
    for seed in seeds:
        parts = split(data.pairs, seed)
        model, details = _fit(options.backend, settings, data, parts, seed)
        scores = score(model, [data.pairs[index] for index in parts.test])
        sizes = {name: len(part) for name, part in parts._asdict().items()}
        card["seeds"].append({"seed": seed, "rows": sizes, **details, "test": scores})
        card["mean"] = {name: {} for name in MECHANISMS}
        for name, metric in product(MECHANISMS, _METRICS):
            values = [entry["test"][name][metric] for entry in card["seeds"]]
            deviation = statistics.stdev(values) if len(values) > 1 else None
            card["mean"][name] |= {metric: statistics.fmean(values), f"{metric}_sd": deviation}
        if seed == seeds[0]:
            description = {key: card[key] for key in ("backend", "data", "trained_with")}
            save_classifier(model, folder, {**description, "seed": seed})
        save_card(folder, card)
    load_classifier.cache_clear()
    return describe(card, folder)


def _fit(
    backend: str, values: dict[str, Any], data: EmpathyData, parts: Split, seed: int
) -> tuple[Model, dict[str, Any]]:
    """Fit a model; return it with details of its training."""
    train, dev = ([data.pairs[index] for index in part] for part in (parts.train, parts.dev))
    if backend == "linear":
        return empathy_linear.fit([*train, *dev], seed), {"fitted_on": "train and dev"}
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise SettingError(f"--backend transformer: {error}; install the extra `hf`") from error
    settings = training.TrainSettings(**values)
    model = training.fit(train, dev, seed, settings)
    return model, {
        "fitted_on": "train, for the epochs that were best on dev",
        "settings": {**settings._asdict(), **model.made_of},
    }  # fmt: skip


def score(model: Model, pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """Return for each mechanism macro F1, accuracy and the share that has it (percent), and n."""
    predicted = model.predict([(pair.seeker, pair.response) for pair in pairs])
    scores = {}
    for column, name in enumerate(MECHANISMS):
        gold = [int(pair.present[column]) for pair in pairs]
        result = classification_scores(gold, [int(profile[column]) for profile in predicted])
        scores[name] = {
            "f1": 100 * (result.macro_f1 or 0.0),
            "accuracy": 100 * (result.acc or 0.0),
            "n": result.n,
            "present": 100 * sum(gold) / len(gold),
        }
    return scores


def describe(card: dict[str, Any], folder: Path) -> str:
    """Return the scores in the paper's form, and where the classifier is."""
    first, mean, n = card["seeds"][0], card["mean"], len(card["seeds"])
    rows = []
    if n > 1:
        cells = {
            (short, m): f"{mean[name][m]:.1f} ± {mean[name][f'{m}_sd']:.1f}"
            for name, short in zip(MECHANISMS, SHORT, strict=True) for m in _METRICS
        }  # fmt: skip
        rows.append(_row(f"mean of {n} seeds", cells))
    cells = {
        (short, m): f"{first['test'][name][m]:.1f}"
        for name, short in zip(MECHANISMS, SHORT, strict=True) for m in _METRICS
    }  # fmt: skip
    rows.append(_row(f"seed {first['seed']} (saved)", cells))
    counts = []
    for name, short in zip(MECHANISMS, SHORT, strict=True):
        tests = [entry["test"][name] for entry in card["seeds"]]
        figures = published(source="found_in_translation", table="Table 5",
                            setting=f"{short}, test split")  # fmt: skip
        counts.append({
            "mechanism": f"{name} ({short})",
            "rows": card["pairs"],
            "present": f"{100 * card['present'][name] / card['pairs']:.1f} %",
            "test rows": tests[0]["n"],
            "present in test": f"{statistics.fmean(test['present'] for test in tests):.1f} %",
            "published (Table 5)": next((f"{f.value:.1f} %" for f in figures), "-"),
        })  # fmt: skip
    return (
        f"Backend {card['backend']}, {card['pairs']:,} pairs, {card['seeker_posts']:,} seeker "
        f"posts; split {card['split']} by seeker post; fitted on {first['fitted_on']}. Percent on "
        "the test parts; F1 is macro F1, ± the standard deviation over seeds.\n\n"
        f"{table([*rows, *published_rows()])}\n\n{table(counts)}\n\n"
        f"The classifier saved in {folder} is that of seed {first['seed']}: --metadata "
        f"empathy_classifier={folder}\nIts files hold words of the training posts: share it only "
        "with those who may read them."
    )


def published_rows() -> list[dict[str, str]]:
    """Return the paper's classifiers and its judge with nine examples as rows."""
    by_name: dict[str, dict[tuple[str, str], str]] = {}
    for table_name in ("Table 2", "Table 7"):
        for f in published(source="found_in_translation", dataset="epitome", table=table_name):
            cells = by_name.setdefault(f"published: {f.model} ({f.citation})", {})
            cells[f.setting, f.metric.removesuffix("_percent")] = f"{f.value:.1f}"
    return [_row(name, cells) for name, cells in by_name.items()]


def _row(label: str, cells: Mapping[tuple[str, str], str]) -> dict[str, str]:
    names = product(_METRICS.items(), SHORT)
    row = {f"{title} {short}": cells[short, metric] for (metric, title), short in names}
    return {"test part of": label, **row}
