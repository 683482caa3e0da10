"""`xling empathy train`: train classifiers of EPITOME's mechanisms, and measure them."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_metrics.base import library_version
from xling_metrics.classification import verdict_scores

from xling_tasks.commands.empathy_scores import SHORT, page, published_scores
from xling_tasks.errors import SettingError
from xling_tasks.models.empathy import linear as empathy_linear
from xling_tasks.models.empathy import per_mechanism, training
from xling_tasks.models.empathy.classifier import (
    BACKENDS,
    Model,
    load_classifier,
    save_card,
    save_classifier,
)
from xling_tasks.models.empathy.data import (
    FILES,
    MECHANISMS,
    SPLIT,
    EmpathyData,
    Pair,
    Split,
    check_learnable,
    load,
    split,
)

_TRAINING = ("model", "revision", "patience", "batch_size", "refit", "max_tokens", "device")
_OF_EACH: dict[str, Any] = {"epochs": int, "lr": float}
"""Settings that a mechanism may have of its own, and their types."""
_LIBRARIES = {
    "linear": ("numpy", "scipy", "scikit-learn"),
    "transformer": ("torch", "transformers", "tokenizers", "safetensors"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling empathy train` takes."""
    parser.add_argument("--data", required=True, help=f"folder with {', '.join(FILES)}")
    parser.add_argument(
        "--to",
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the new folder, for empathy_classifier=FOLDER",
    )
    parser.add_argument("--backend", choices=BACKENDS, default="linear")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, help="one split, drawn with this seed")
    seeds.add_argument("--seeds", type=int, default=5, help="splits with the seeds 0 to N - 1 (5)")
    group = parser.add_argument_group("--backend transformer (extra hf)")
    group.add_argument("--model", help="an encoder: Hub id or folder (ModernBERT-large)")
    group.add_argument("--revision", help="of the Hub: commit, tag or branch")
    group.add_argument(
        "--separate",
        action="store_true",
        help="a network for each mechanism, which stops by its own scores, not one for all",
    )
    group.add_argument(
        "--epochs", help="at most (8); also per mechanism (then separate): ER=8,IP=4,EX=6"
    )
    group.add_argument("--patience", type=int, help="epochs without a better dev part (2)")
    group.add_argument("--batch-size", type=int, help="pairs per step (16)")
    group.add_argument(
        "--lr", help="highest learning rate (2e-5); also per mechanism: ER=2e-5,IP=1e-5,EX=2e-5"
    )
    group.add_argument(
        "--no-refit",
        dest="refit",
        action="store_const",
        const=False,
        help="keep the model of the best epoch; else it is trained again on train and dev",
    )
    group.add_argument("--max-tokens", type=int, help="longer texts are cut (512)")
    group.add_argument("--device", help="cpu, cuda, ... (the GPU, if there is one)")
    parser.set_defaults(run=train_empathy)


def train_empathy(options: argparse.Namespace) -> str:
    """`xling empathy train`: train once per seed, save the first model, and return the scores.

    Raises:
        SettingError: If an option has a wrong value.
        DataError: If the data cannot be read, split or learnt from.
    """
    seeds = _check(options)
    data = load(Path(options.data).expanduser())
    folder = options.to.expanduser()
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
    given = [name for name in (*_TRAINING, *_OF_EACH) if getattr(options, name) is not None]
    given += ["separate"] if options.separate else []
    if options.backend == "linear" and given:
        word = {"refit": "no-refit"}.get(given[0], given[0].replace("_", "-"))
        raise SettingError(f"--{word} is for --backend transformer")
    least = {"seeds": 1, "patience": 1, "batch_size": 1, "max_tokens": 8, "seed": 0}
    for name, lowest in least.items():
        value = getattr(options, name)
        if value is not None and value < lowest:
            word = name.replace("_", "-")
            raise SettingError(f"--{word}: must be an integer from {lowest}, got {value}")
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
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"--to {folder}: is not empty; name a new folder")
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
    settings = training.settings_of(given)
    separate = options.separate or bool(own)
    model: Any = (
        per_mechanism.fit(train, dev, seed, settings, own)
        if separate
        else training.fit(train, dev, seed, settings)
    )
    every = [(pair.seeker, pair.response) for pair in data.pairs]
    return model, {
        "fitted_on": "train and dev, for the epochs that were best on dev"
        if settings.refit
        else "train, stopped by dev",
        "settings": training.as_json(settings)
        | {"separate": separate, "of_mechanisms": own}
        | model.made_of,
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
    result: dict[str, dict[str, Any]] = {}
    for name in MECHANISMS:
        result[name] = {}
        for metric in ("f1", "accuracy"):
            values = [seed["test"][name][metric] for seed in seeds]
            result[name][metric] = statistics.fmean(values)
            spread = statistics.stdev(values) if len(values) > 1 else None
            result[name][f"{metric}_sd"] = spread
    return result
