"""`xling train-empathy`: train empathy classifiers on EPITOME, and measure them."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling_metrics.base import library_version
from xling_metrics.classification import classification_scores

from xling_tasks.commands.options import add_output, integer
from xling_tasks.data.published import published
from xling_tasks.errors import SettingError, user_path
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
from xling_tasks.output import refuse_full, table, writing

SHORT = ("ER", "IP", "EX")
"""The mechanisms as the papers abbreviate them."""

SOURCE = "arXiv:2505.21999, Tables 2 and 7"
PUBLISHED = {
    "ModernBERT-large bi-encoder": {"f1": (86.1, 87.3, 92.0), "accuracy": (87.2, 87.4, 95.8)},
    "GPT-4o, 9 examples": {"f1": (66.8, 59.8, 70.1), "accuracy": (66.8, 61.1, 78.0)},
}
"""Percent, in the order of `MECHANISMS`."""

_TRAINING = (
    *("model", "revision", "epochs", "patience", "batch_size", "lr"),
    *("max_tokens", "device"),
)
_LIBRARIES = {
    "linear": ("numpy", "scipy", "scikit-learn"),
    "transformer": ("torch", "transformers", "tokenizers", "safetensors"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling train-empathy`."""
    add_epitome(parser)
    add_output(parser, "new folder, for empathy_classifier=FOLDER")
    parser.add_argument(
        "--backend", choices=["linear", "transformer"], default="linear",
        help="kind of classifier (default %(default)s)",
    )  # fmt: skip
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=integer(0), metavar="N", help="one split, with this seed")
    seeds.add_argument(
        "--seeds", type=integer(1), default=5, metavar="N",
        help="splits with the seeds 0 to N - 1 (default %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("--backend transformer (extra hf)")
    group.add_argument("--model", help="encoder: Hub id or folder (ModernBERT-large)")
    group.add_argument("--revision", help="commit, tag or branch on the Hub")
    group.add_argument("--epochs", type=integer(1), metavar="N", help="maximum (8)")
    group.add_argument(
        "--patience", type=integer(1), metavar="N", help="epochs without a better dev score (2)"
    )
    group.add_argument("--batch-size", type=integer(1), metavar="N", help="pairs per step (16)")
    group.add_argument("--lr", type=float, help="peak learning rate (2e-5)")
    group.add_argument(
        "--max-tokens", type=integer(8), metavar="N", help="longer texts are cut (512)"
    )
    group.add_argument("--device", help="cpu, cuda, ... (default: the GPU, if there is one)")
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
    _validate(options)
    seeds = list(range(options.seeds)) if options.seed is None else [options.seed]
    data, folder = load(options.data), options.to
    refuse_full(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    card: dict[str, Any] = {
        "backend": options.backend,
        "data": data.digest,
        "pairs": len(data.pairs),
        "seeker_posts": len({pair.group for pair in data.pairs}),
        "present": {name: _count(data, column) for column, name in enumerate(MECHANISMS)},
        "split": "-".join(map(str, SPLIT)),
        "trained_with": {name: library_version(name) for name in _LIBRARIES[options.backend]},
        "published": {"source": SOURCE, "percent": PUBLISHED, "order": MECHANISMS},
        "seeds": [],
    }
    for seed in seeds:
        parts = split(data.pairs, seed)
        model, details = _fit(options, data, parts, seed)
        scores = score(model, [data.pairs[index] for index in parts.test])
        sizes = {name: len(part) for name, part in parts._asdict().items()}
        card["seeds"].append({"seed": seed, "rows": sizes, **details, "test": scores})
        card["mean"] = _mean_over_seeds(card["seeds"])
        if seed == seeds[0]:
            description = {key: card[key] for key in ("backend", "data", "trained_with")}
            save_classifier(model, folder, {**description, "seed": seed})
        save_card(folder, card)
    load_classifier.cache_clear()
    return describe(card, folder)


def _count(data: EmpathyData, column: int) -> int:
    return sum(pair.present[column] for pair in data.pairs)


def _validate(options: argparse.Namespace) -> None:
    """Refuse options of the other backend and wrong numbers before the data are read."""
    names = [name for name in _TRAINING if getattr(options, name) is not None]
    if options.backend == "linear" and names:
        raise SettingError(f"--{names[0].replace('_', '-')} is for --backend transformer")
    if options.lr is not None and not 0 < options.lr < 1:
        raise SettingError(f"--lr: must be above 0 and below 1, got {options.lr}")


def _fit(
    options: argparse.Namespace, data: EmpathyData, parts: Split, seed: int
) -> tuple[Model, dict[str, Any]]:
    """Fit a model; return it with details of its training."""
    train, dev = ([data.pairs[index] for index in part] for part in (parts.train, parts.dev))
    if options.backend == "linear":
        return empathy_linear.fit([*train, *dev], seed), {"fitted_on": "train and dev"}
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise SettingError(f"--backend transformer: {error}; install the extra `hf`") from error
    arguments = {name: getattr(options, name) for name in _TRAINING}
    settings = training.TrainSettings(**{k: v for k, v in arguments.items() if v is not None})
    model = training.fit(train, dev, seed, settings)
    return model, {
        "fitted_on": "train, for the epochs that were best on dev",
        "settings": {**asdict(settings), **model.made_of},
        "history": model.history,
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


def _mean_over_seeds(seeds: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return means, and sample standard deviations (None of one seed), in percent."""
    means: dict[str, dict[str, Any]] = {name: {} for name in MECHANISMS}
    for name, row in means.items():
        for metric in ("f1", "accuracy"):
            values = [seed["test"][name][metric] for seed in seeds]
            row[metric] = statistics.fmean(values)
            row[f"{metric}_sd"] = statistics.stdev(values) if len(values) > 1 else None
    return means


# What is printed


def describe(card: dict[str, Any], folder: Path) -> str:
    """Return the scores in the paper's form, and where the classifier is."""
    first, mean, n = card["seeds"][0], card["mean"], len(card["seeds"])
    rows = []
    if n > 1:
        rows.append(
            _row(
                f"mean of {n} seeds",
                lambda name, m: f"{mean[name][m]:.1f} ± {mean[name][f'{m}_sd']:.1f}",
            )
        )
    saved = _row(f"seed {first['seed']} (saved)", lambda name, m: f"{first['test'][name][m]:.1f}")
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
        f"{table([*rows, saved, *published_rows()])}\n\n{table(counts)}\n\n"
        f"The classifier saved in {folder} is that of seed {first['seed']}: --metadata "
        f"empathy_classifier={folder}\nIts files hold words of the training posts: share it only "
        "with those who may read them."
    )


def published_rows() -> list[dict[str, str]]:
    """Return the paper's classifiers and its judge with nine examples as rows."""
    return [
        _row(
            f"published: {who} ({SOURCE})",
            lambda name, m, v=values: f"{v[m][MECHANISMS.index(name)]:.1f}",
        )
        for who, values in PUBLISHED.items()
    ]


def _row(label: str, value: Callable[..., str]) -> dict[str, str]:
    cells = {
        f"{title} {short}": value(name, metric)
        for metric, title in (("f1", "F1"), ("accuracy", "accuracy"))
        for name, short in zip(MECHANISMS, SHORT, strict=True)
    }
    return {"test part of": label, **cells}
