"""The tests that XLingEval publishes, and every other difference from English: for CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xling_tasks.report.published import PublishedScore, published, published_model
from xling_tasks.report.words import Row, unique

_TABLES = {
    "anova_F_": ["Table A13"],
    "tukey_md_": ["Table 2", "Table 3"],
    "ttest_t_": ["Table A12"],
}
_SUBJECT = ("criterion", "dataset", "metric", "temperature")


def difference_rows(remarks: Sequence[Row]) -> list[dict[str, Any]]:
    """Return every difference from English that no verdict rests on."""
    return [row for _, rows in _by_subject(remarks, "difference") for row in rows]


def anova_rows(remarks: Sequence[Row], *, with_published: bool) -> list[dict[str, Any]]:
    """Return analyses of variance over the languages, with Table A13."""
    result = []
    for subject, rows in _by_subject(remarks, "anova"):
        for row in rows:
            counts = ", ".join(f"{code} {n}" for code, n in row["n"].items())
            result.append({**row, "n": counts, "published": "no"})
        figures, p = (_figures(subject, "anova_F_", end) for end in ("", "_p"))
        result += [
            {**subject, "model": published_model(key[0]), "f": figure.value,
             "p": _bound(p.get(key)), "published": "yes"}
            for key, figure in figures.items() if with_published
        ]  # fmt: skip
    return result


def pair_rows(remarks: Sequence[Row], *, with_published: bool) -> list[dict[str, Any]]:
    """Return Tukey's HSD and t tests of every two languages, with Tables 2, 3 and A12."""
    result = []
    for subject, rows in _by_subject(remarks, "pair_test"):
        for row in rows:
            first, second = row.pop("means")
            means = {"mean_first": first, "mean_second": second}
            result.append({**row, **means, "published": "no"})
        orders = [(row["first"], row["second"]) for row in rows]
        result += _published_pairs(subject, orders) if with_published else ()
    return result


def _published_pairs(
    subject: dict[str, Any], orders: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the printed tests, pairs in the order that stands here.

    The paper's difference of `zh-hi` is the mean of hi minus the mean of zh; its t has the other
    sign.
    """
    tukey = {end: _figures(subject, "tukey_md_", end) for end in ("", "_ci_low", "_ci_high", "_p")}
    t_tests = {end: _figures(subject, "ttest_t_", end) for end in ("", "_p")}
    for key in unique(key for by_pair in (*tukey.values(), *t_tests.values()) for key in by_pair):
        first, _, second = key[1].partition("-")
        sign = 1
        if (first, second) not in orders and (second, first) in orders:
            first, second, sign = second, first, -1
        size, *ends, t = (
            None if (figure := by_pair.get(key)) is None else sign * figure.value
            for by_pair in (tukey[""], tukey["_ci_low"], tukey["_ci_high"], t_tests[""])
        )
        low, high = ends if None in ends else sorted(ends)  # type: ignore[type-var]
        yield {
            **subject, "model": published_model(key[0]), "first": first, "second": second,
            "difference": size, "tukey_low": low, "tukey_high": high,
            "tukey_p": _bound(tukey["_p"].get(key)), "t": None if t is None else -t,
            "t_p": _bound(t_tests["_p"].get(key)), "published": "yes",
        }  # fmt: skip


def _by_subject(
    remarks: Sequence[Row], kind: str
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return the remarks of a kind without it, by criterion, dataset, metric and temperature."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in (dict(row) for row in remarks if row["kind"] == kind):
        del row["kind"]
        groups.setdefault(tuple(row[name] for name in _SUBJECT), []).append(row)
    return [(dict(zip(_SUBJECT, key, strict=True)), rows) for key, rows in groups.items()]


def _bound(figure: PublishedScore | None) -> float | str | None:
    """Return a printed p; where it is printed as a bound, as such."""
    if figure is None:
        return None
    return f"< {figure.value:g}" if figure.setting == "upper bound" else figure.value


def _figures(
    subject: dict[str, Any], start: str, end: str = ""
) -> dict[tuple[str, str], PublishedScore]:
    """Return the printed figures of a metric by model and language or pair."""
    criterion, dataset, metric, tau = subject.values()
    if criterion != "consistency" or tau is None:
        return {}
    return {
        (item.model, item.language): item
        for table in _TABLES[start]
        for item in published(
            source="xlingeval", table=table, dataset=dataset, metric=f"{start}{metric}{end}"
        )
        if float(item.temperature) == tau
    }
