"""Trained empathy classifiers: which of EPITOME's mechanisms a response to a seeker's post has.

`classifier.json` in its folder says what it is, `metrics.json` how well it does; the other files
are its backend's. Nothing is pickled.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.base import library_version

from xling_tasks.errors import SettingError, user_path
from xling_tasks.models.empathy.data import MECHANISMS, SPLIT, Profile
from xling_tasks.models.empathy.linear import LinearClassifier
from xling_tasks.models.empathy.transformer import TransformerClassifier

FORMAT = 1
"""Of the folder; another number means that another version of this package reads it."""

_ABOUT, _METRICS = "classifier.json", "metrics.json"

Model = LinearClassifier | TransformerClassifier
BACKENDS: dict[str, type[Model]] = dict(linear=LinearClassifier, transformer=TransformerClassifier)


class EmpathyClassifier(NamedTuple):
    """A classifier read from its folder; `card` has the measured scores, as in `metrics.json`."""

    signature: str
    card: dict[str, Any]
    model: Model

    def profiles(self, pairs: Sequence[tuple[str, str]]) -> list[Profile]:
        """Return the mechanisms present in each pair of seeker post and response, in English.

        Profiles are in the order of `MECHANISMS`; that of an empty response has none.
        """
        filled = [(seeker, response) for seeker, response in pairs if response.strip()]
        profiles = iter(self.model.predict(filled))
        nothing = (False, False, False)
        return [next(profiles) if response.strip() else nothing for _, response in pairs]


@functools.lru_cache(maxsize=4)
def load_classifier(path: str) -> EmpathyClassifier:
    """Read a classifier's folder once per process; raise a SettingError if it holds none."""
    folder, location = user_path(path), f"--metadata empathy_classifier={path}"
    description, card = (_read_json(folder / name, location) for name in (_ABOUT, _METRICS))
    if description.get("format") != FORMAT or description.get("backend") not in BACKENDS:
        raise SettingError(
            f"{location}: {_ABOUT} is of another version of xling-tasks; train it again"
        )
    try:
        model = BACKENDS[description["backend"]].load(folder)
    except ImportError as error:
        raise SettingError(f"{location}: {error}; install the extra `hf`") from error
    except Exception as error:  # files that another version of a library wrote
        first = str(error).partition("\n")[0]
        raise SettingError(
            f"{location}: cannot be loaded ({type(error).__name__}: {first}); train it again"
        ) from error
    fields = {"format": FORMAT, "weights": digest_of(folder)}
    fields |= {name: description[name] for name in ("data", "split", "seed")}
    if description["backend"] == "transformer":
        fields |= {name: library_version(name) for name in ("torch", "transformers")}
    text = ",".join(f"{name}={value}" for name, value in fields.items())
    return EmpathyClassifier(f"{description['backend']}({text})", card, model)


def save_classifier(model: Model, folder: Path, description: Mapping[str, Any]) -> None:
    """Write a model, and its `backend`, `data` (digest), `seed` and `trained_with`."""
    model.save(folder)
    fields = {"format": FORMAT, "mechanisms": MECHANISMS, "split": "-".join(map(str, SPLIT))}
    _write_json(folder / _ABOUT, {**fields, **description})


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write the scores beside a saved model."""
    _write_json(folder / _METRICS, card)


def digest_of(folder: Path) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of the names and bytes of the model's files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in (_ABOUT, _METRICS) and not path.name.startswith("."):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()[:12]


def _read_json(path: Path, location: str) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SettingError(
            f"{location}: no classifier: {path.name} cannot be read ({error}); make one with "
            "`xling train-empathy --data DIR --to FOLDER` and name that folder"
        ) from error


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
