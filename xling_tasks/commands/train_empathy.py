"""`xling train-empathy`: train classifiers of EPITOME's mechanisms, and measure them."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling_metrics.base import library_version
from xling_metrics.classification import verdict_scores

from xling_tasks.commands.options import add_output, integer
from xling_tasks.commands.table import table
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
    check_learnable,
    load,
    split,
)
from xling_tasks.output import refuse_full
from xling_tasks.report.documents import filled

_TRAINING = ("model", "revision", "patience", "batch_size", "refit", "max_tokens", "device")
_OF_EACH: dict[str, Any] = {"epochs": int, "lr": float}
"""Settings that a mechanism may have of its own, and their types."""
_LIBRARIES = {
    "linear": ("numpy", "scipy", "scikit-learn"),
    "transformer": ("torch", "transformers", "tokenizers", "safetensors"),
}


def train_empathy(options: argparse.Namespace) -> str:
    """`xling train-empathy`: train once per seed, save the first model, and return the scores.

    Raises:
        SettingError: If an option has a wrong value.
        DataError: If the data cannot be read, split or learnt from.
    """
    seeds = _check(options)
    data = load(options.data)
    folder = options.to
    _make(folder)
    card: dict[str, Any] = _about(options, data) | {"published": published_scores(), "seeds": []}
    for seed in seeds:
        parts = split(data.pairs, seed)
        model, training = _fit(options, data, parts, seed)
        scores = _scores(model, [data.pairs[index] for index in parts.test])
        sizes = {name: len(part) for name, part in parts._asdict().items()}
        card["seeds"].append({"seed": seed, "rows": sizes, **training, "test": scores})
        card["mean"] = _over_seeds(card["seeds"])
        if seed == seeds[0]:
            keys = ("backend", "data", "trained_with")
            save_classifier(model, folder, {key: card[key] for key in keys} | {"seed": seed})
        save_card(folder, card)
    load_classifier.cache_clear()
    return page(card, folder)


def _check(options: argparse.Namespace) -> list[int]:
    """Check the options; returns the seeds."""
    if options.backend == "linear":
        for name in (*_TRAINING, *_OF_EACH, "separate"):
            if getattr(options, name) not in (None, False) or options.refit is False:
                option = "no-refit" if options.refit is False else name.replace("_", "-")
                raise SettingError(f"--{option} is for --backend transformer")
    for name in _OF_EACH:
        _of_each(name, getattr(options, name))
    return list(range(options.seeds)) if options.seed is None else [options.seed]


def _of_each(option: str, words: str | None) -> tuple[Any, dict[str, Any]]:
    """An option's value for all mechanisms (None if not given), and those of single ones."""
    if words is None or "=" not in words:
        return (None if words is None else _number(option, words)), {}
    own: dict[str, Any] = {}
    for word in words.split(","):
        name, _, value = word.partition("=")
        if name.strip() not in SHORT:
            raise SettingError(
                f"--{option} {words}: {name.strip()!r} is none of {', '.join(SHORT)}"
            )
        mechanism = MECHANISMS[SHORT.index(name.strip())]
        if mechanism in own:
            raise SettingError(f"--{option} {words}: {name.strip()} appears twice")
        own[mechanism] = _number(option, value)
    return None, own


def _number(option: str, word: str) -> Any:
    try:
        value = _OF_EACH[option](word)
    except ValueError:
        value = None
    if option == "epochs" and (value is None or value < 1):
        raise SettingError(f"--epochs: must be an integer from 1, got {word}")
    if option == "lr" and (value is None or not 0 < value < 1):
        raise SettingError(f"--lr: must be above 0 and below 1, got {word}")
    return value


def _make(folder: Path) -> None:
    refuse_full(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"--to {folder}: cannot be made ({error}); name another") from error


def _about(options: argparse.Namespace, data: EmpathyData) -> dict[str, Any]:
    present = [sum(pair.present[column] for pair in data.pairs) for column in range(3)]
    return {
        "backend": options.backend,
        "data": data.digest,
        "pairs": len(data.pairs),
        "seeker_posts": len({pair.group for pair in data.pairs}),
        "repeated_pairs": data.repeated,
        "differing_texts": data.differing,
        "unplaced_rationales": data.unplaced,
        "present": dict(zip(MECHANISMS, present, strict=True)),
        "split": "-".join(map(str, SPLIT)),
        "trained_with": {name: library_version(name) for name in _LIBRARIES[options.backend]},
    }


def _fit(
    options: argparse.Namespace, data: EmpathyData, parts: Split, seed: int
) -> tuple[Model, dict[str, Any]]:
    """A model of the backend, and what there is to say of its training."""
    train, dev = ([data.pairs[index] for index in part] for part in (parts.train, parts.dev))
    if options.backend == "linear":
        return empathy_linear.fit([*train, *dev], seed), {"fitted_on": "train and dev"}
    check_learnable(train)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401

    except ImportError as error:
        raise SettingError(f"--backend transformer: {error}; install the extra `hf`") from error
    given = {name: getattr(options, name) for name in _TRAINING}
    own: dict[str, dict[str, Any]] = {}
    for name in _OF_EACH:
        given[name], single = _of_each(name, getattr(options, name))
        for mechanism, value in single.items():
            own.setdefault(mechanism, {})[name] = value
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = training.TrainSettings(**chosen)
    separate = options.separate or bool(own)
    model: Any = (
        training.fit_each(train, dev, seed, settings, own)
        if separate
        else training.fit(train, dev, seed, settings)
    )
    every = [(pair.seeker, pair.response) for pair in data.pairs]
    return model, {
        "fitted_on": "train and dev, for the epochs that were best on dev"
        if settings.refit
        else "train, stopped by dev",
        "settings": asdict(settings) | {"separate": separate, "of_mechanisms": own} | model.made_of,
        "cut_pairs": model.cut(every),
        "history": model.history,
    }


def _scores(model: Model, pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """For each mechanism macro F1 and accuracy in percent, rows, and the percent that have it."""
    predicted = model.predict([(pair.seeker, pair.response) for pair in pairs])
    scores = {}
    for column, name in enumerate(MECHANISMS):
        gold = [int(pair.present[column]) for pair in pairs]
        result = verdict_scores(gold, [int(profile[column]) for profile in predicted])
        scores[name] = {
            "f1": 100 * (result.macro_f1 or 0.0),
            "accuracy": 100 * (result.acc or 0.0),
            "n": result.n,
            "present": 100 * sum(gold) / len(gold),
        }
    return scores


def _over_seeds(seeds: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mean over seeds, and sample standard deviation (None of one seed), in percent."""
    result: dict[str, dict[str, Any]] = {name: {} for name in MECHANISMS}
    for name, scores in result.items():
        for metric in ("f1", "accuracy"):
            values = [seed["test"][name][metric] for seed in seeds]
            scores[metric] = statistics.fmean(values)
            scores[f"{metric}_sd"] = statistics.stdev(values) if len(values) > 1 else None
    return result


# What is shown


SHORT = ("ER", "IP", "EX")
"""The mechanisms as the papers abbreviate them."""

PUBLISHED = {
    "ModernBERT-large bi-encoder": {"f1": (86.1, 87.3, 92.0), "accuracy": (87.2, 87.4, 95.8)},
    "GPT-4o, 9 examples": {"f1": (66.8, 59.8, 70.1), "accuracy": (66.8, 61.1, 78.0)},
}
"""Percent, in the order of `MECHANISMS`: arXiv 2505.21999, Tables 2 and 7."""

_SOURCE = "arXiv:2505.21999, Tables 2 and 7"


def published_scores() -> dict[str, Any]:
    """The published scores for a classifier's card."""
    return {"source": _SOURCE, "percent": PUBLISHED, "order": MECHANISMS}


def page(card: dict[str, Any], folder: Path) -> str:
    """The scores in the paper's form, and where the classifier is."""
    first = card["seeds"][0]
    scores = table([*_own_rows(card), *published_rows()])
    counts = table([_count_row(card, name) for name in MECHANISMS])
    made = filled("empathy.j2", card=card, first=first, folder=folder, scores=scores, counts=counts)
    return made.rstrip()


def _own_rows(card: dict[str, Any]) -> list[dict[str, str]]:
    mean, first, n = card["mean"], card["seeds"][0], len(card["seeds"])

    def over_seeds(name: str, metric: str) -> str:
        return f"{_one(mean[name][metric])} ± {_one(mean[name][f'{metric}_sd'])}"

    saved = _row(f"seed {first['seed']} (saved)", lambda name, m: _one(first["test"][name][m]))
    return [*([_row(f"mean of {n} seeds", over_seeds)] if n > 1 else []), saved]


def published_rows() -> list[dict[str, str]]:
    """The paper's classifiers and its judge with nine examples, as rows."""
    return [
        _row(f"published: {who} ({_SOURCE})", lambda name, m, v=values: _one(_at(v[m], name)))
        for who, values in PUBLISHED.items()
    ]


def _row(label: str, value: Any) -> dict[str, str]:
    cells = {
        f"{title} {short}": value(name, metric)
        for metric, title in (("f1", "F1"), ("accuracy", "accuracy"))
        for name, short in zip(MECHANISMS, SHORT, strict=True)
    }
    return {"test part of": label, **cells}


def _count_row(card: dict[str, Any], name: str) -> dict[str, Any]:
    tests = [entry["test"][name] for entry in card["seeds"]]
    sizes = sorted({test["n"] for test in tests})
    shares = statistics.fmean(test["present"] for test in tests)
    return {
        "mechanism": f"{name} ({_at(SHORT, name)})",
        "rows": card["pairs"],
        "present": f"{_one(100 * card['present'][name] / card['pairs'])} %",
        "test rows": str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}",
        "present in test": f"{_one(shares)} %",
        "published (Table 5)": _published_share(_at(SHORT, name)),
    }


def _published_share(short: str) -> str:
    """The share of the paper's own test part that has a mechanism."""
    figures = published(
        source="found_in_translation", table="Table 5", setting=f"{short}, test split"
    )
    return next((f"{_one(figure.value)} %" for figure in figures), "-")


def _at(values: Sequence[Any], name: str) -> Any:
    return values[MECHANISMS.index(name)]


def _one(value: float) -> str:
    return f"{value:.1f}"


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
    group.add_argument(
        "--separate", action="store_true", help="one network per mechanism instead of one for all"
    )
    group.add_argument("--epochs", help="maximum (8), or per mechanism: ER=8,IP=4,EX=6")
    group.add_argument(
        "--patience", type=integer(1), metavar="N", help="epochs without a better dev score (2)"
    )
    group.add_argument("--batch-size", type=integer(1), metavar="N", help="pairs per step (16)")
    group.add_argument("--lr", help="peak learning rate (2e-5), or per mechanism: ER=2e-5,IP=1e-5")
    group.add_argument(
        "--no-refit", action="store_const", const=False, dest="refit",
        help="keep the model of the best epoch; else it is trained again on train and dev",
    )  # fmt: skip
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
