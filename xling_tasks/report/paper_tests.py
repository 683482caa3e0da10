"""The tests that XLingEval publishes, and every other difference from English: for CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xling_tasks.data.published import PublishedScore, published
from xling_tasks.report.published import published_model
from xling_tasks.report.words import Row, unique

_ANOVA, _TUKEY, _T_TESTS = ("Table A13",), ("Table 2", "Table 3"), ("Table A12",)


def difference_rows(remarks: Sequence[Row]) -> list[dict[str, Any]]:
    """Return every difference from English that no verdict rests on."""
    return [_without_kind(row) for row in remarks if row["kind"] == "difference"]


def anova_rows(remarks: Sequence[Row], *, with_published: bool) -> list[dict[str, Any]]:
    """Return analyses of variance over the languages, with Table A13."""
    chosen = [row for row in remarks if row["kind"] == "anova"]
    rows = []
    for position in unique(map(_place, chosen)):
        for row in chosen:
            if _place(row) == position:
                counts = ", ".join(f"{code} {n}" for code, n in row["n"].items())
                rows.append({**_without_kind(row), "n": counts, "published": "no"})
        figures = _figures(position, "anova_F_", _ANOVA) if with_published else {}
        p = _figures(position, "anova_F_", _ANOVA, "_p")
        rows += [
            {**_about(position), "model": published_model(model), "f": figure.value,
             "p": _bound(p.get((model, which))), "published": "yes"}
            for (model, which), figure in figures.items()
        ]  # fmt: skip
    return rows


def pair_rows(remarks: Sequence[Row], *, with_published: bool) -> list[dict[str, Any]]:
    """Return Tukey's HSD and t tests of every two languages, with Tables 2, 3 and A12."""
    chosen = [row for row in remarks if row["kind"] == "pair_test"]
    rows = []
    for position in unique(map(_place, chosen)):
        here = [row for row in chosen if _place(row) == position]
        for row in here:
            means = dict(zip(("mean_first", "mean_second"), row["means"], strict=True))
            remainder = {k: v for k, v in _without_kind(row).items() if k != "means"}
            rows.append({**remainder, **means, "published": "no"})
        orders = [(row["first"], row["second"]) for row in here]
        rows += _published_pairs(position, orders) if with_published else ()
    return rows


def _published_pairs(
    place: tuple[Any, ...], orders: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the printed tests, pairs in the order that stands here."""
    tukey = {
        end: _figures(place, "tukey_md_", _TUKEY, end) for end in ("", "_ci_low", "_ci_high", "_p")
    }
    t_tests = {end: _figures(place, "ttest_t_", _T_TESTS, end) for end in ("", "_p")}
    parts = [*tukey.values(), *t_tests.values()]
    for key in unique(key for by_pair in parts for key in by_pair):
        first, second, sign = turn_pair(key[1], orders)
        size: Any = lambda figure, sign=sign: None if figure is None else sign * figure.value  # noqa: E731
        ends = [size(tukey[end].get(key)) for end in ("_ci_low", "_ci_high")]
        low, high = sorted(ends) if None not in ends else (None, None)
        t = size(t_tests[""].get(key))  # printed as the first language's mean minus the second's
        yield {
            **_about(place), "model": published_model(key[0]), "first": first, "second": second,
            "difference": size(tukey[""].get(key)), "tukey_low": low, "tukey_high": high,
            "tukey_p": _bound(tukey["_p"].get(key)), "t": None if t is None else -t,
            "t_p": _bound(t_tests["_p"].get(key)), "published": "yes",
        }  # fmt: skip


def turn_pair(pair: str, orders: Sequence[tuple[str, str]]) -> tuple[str, str, int]:
    """Return a printed pair in the order in which it stands here, and the sign of its differences.

    The paper's difference of `zh-hi` is the mean of hi minus the mean of zh.
    """
    first, _, second = pair.partition("-")
    if (first, second) not in orders and (second, first) in orders:
        return second, first, -1
    return first, second, 1


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("criterion", "dataset", "metric", "temperature"))


def _about(place: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("criterion", "dataset", "metric", "temperature"), place, strict=True))


def _without_kind(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "kind"}


def _bound(figure: PublishedScore | None) -> float | str | None:
    """Return a printed p; where it is printed as a bound, as such."""
    if figure is None:
        return None
    return f"< {figure.value:g}" if figure.setting == "upper bound" else figure.value


def _figures(
    place: tuple[Any, ...], start: str, tables: Sequence[str], end: str = ""
) -> dict[tuple[str, str], PublishedScore]:
    """Return the printed figures of a metric by model and language or pair."""
    criterion, dataset, metric, tau = place
    if criterion != "consistency" or tau is None:
        return {}
    return {
        (item.model, item.language): item
        for table in tables
        for item in published(
            source="xlingeval", table=table, dataset=dataset, metric=f"{start}{metric}{end}"
        )
        if float(item.temperature) == tau
    }
