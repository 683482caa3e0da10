"""What `xling empathy train` shows: a classifier's scores beside the published ones."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.table import table
from xling_tasks.data.published import published
from xling_tasks.models.empathy.data import MECHANISMS

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
    parts = [
        f"Backend {card['backend']}, {card['pairs']:,} pairs, {card['seeker_posts']:,} seeker "
        f"posts; split {card['split']} by seeker post; fitted on {first['fitted_on']}.\n"
        "Percent on the test parts; F1 is macro F1, ± the standard deviation over seeds.",
        table([*_own_rows(card), *published_rows()]),
        table([_count_row(card, name) for name in MECHANISMS]),
        f"The classifier saved in {folder} is that of seed {first['seed']}: --metadata "
        f"empathy_classifier={folder}\nIts files hold words of the training posts: share it only "
        "with those who may read them.",
        f"Kept: {card['repeated_pairs']} rows whose pair had stood before. Texts that differ "
        f"between the files: {card['differing_texts']} rows; those of interpretations are used.\n"
        f"Rationales that are no part of the response: {card['unplaced_rationales']}.",
    ]
    if "settings" in first:
        parts.append(_epochs_line(first["settings"]["epochs_trained"]))
    if first.get("cut_pairs"):
        limit = first["settings"]["max_tokens"]
        parts.append(f"Cut to {limit} tokens: a text of {first['cut_pairs']} pairs.")
    return "\n\n".join(parts)


def _epochs_line(epochs: Any) -> str:
    """How long the saved model was trained."""
    if isinstance(epochs, int):
        return f"Epochs of the saved model: {epochs}."
    listed = ", ".join(f"{name} {n}" for name, n in epochs.items())
    return f"Epochs of the saved models: {listed}."


def _own_rows(card: dict[str, Any]) -> list[dict[str, str]]:
    first, n = card["seeds"][0], len(card["seeds"])
    rows = [_row(f"seed {first['seed']} (saved)", lambda name, m: _one(first["test"][name][m]))]
    if n > 1:
        mean = card["mean"]
        rows.insert(
            0,
            _row(
                f"mean of {n} seeds",
                lambda name, m: f"{_one(mean[name][m])} ± {_one(mean[name][m + '_sd'])}",
            ),
        )
    return rows


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
