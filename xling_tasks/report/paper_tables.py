"""The tables of a report in the form of the papers, with their printed rows beside ours.

A report is one long list of scores, ours and those that the papers print, in one form; every table
is a choice of them, turned. The page shows an estimate in one cell; a CSV file has its value, the
ends of its interval, and what follows from them in columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH
from xling_tasks.criteria.rates import COVERAGE, RATES
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.protocols import TEMPERATURES
from xling_tasks.languages import BRANCH_GROUPS, in_order, language_name
from xling_tasks.report import costs, words
from xling_tasks.report.published import (
    MEAN,
    filtered_scores,
    published_scores,
)
from xling_tasks.report.table import Cell, Estimate, Table
from xling_tasks.report.words import Row, unique

MMEDBENCH = ("en", "es", "zh", "fr", "ja", "ru")
GROUPS = (
    AVERAGE, "script:latin", "script:indic", "script:perso_arabic", "script:other",
    "family:romance", "family:slavic", "family:indo_aryan", "family:dravidian", "family:other",
    "train:in", "train:out", *(f"branch:{name}" for name in BRANCH_GROUPS),
)  # fmt: skip
_DECREASE, _DROP, _MULTIPLE = (
    "decrease vs English, percentage points", "relative drop vs English, %", "multiple of English",
)  # fmt: skip
_ALWAYS = ("language_consistency", "language_consistency_published", "length_words")
"""Metrics of coverage that have a row among the others."""


def make_tables(record: Mapping[str, Sequence[Row]], *, published: bool = True) -> list[Table]:
    """Return every table of a report: by criterion and dataset, then what is over all of them."""
    scores = [row for row in record["scores"] if not row["topic"]]
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in scores:
        grouped.setdefault((row["criterion"], row["dataset"]), []).append(row)
    order, tables = list(CRITERIA), list[Table]()
    for key in sorted(grouped, key=lambda key: (order.index(key[0]), key[1])):
        weighed = any(row["metric"] == "bertscore_f1_idf" for row in grouped[key])
        theirs = published_scores(*key, weighed=weighed) if published else []
        numbers = Numbers(*key, grouped[key], theirs)
        criterion = numbers.known
        tables.append(
            _by_language(numbers, criterion.columns) if criterion.columns else _by_metric(numbers)
        )
        if criterion.parts:
            beginnings, title, note = criterion.parts
            names = {row["metric"] for row in grouped[key] if row["metric"].startswith(beginnings)}
            if names:
                extra = {"title": f"{numbers.title}: {title}", "key": f"{key[0]}_parts"}
                tables.append(_by_language(numbers, sorted(names), note=note, **extra))
        if criterion.several_languages:
            tables.append(_by_group(numbers))
    tables += [*_correctness_means(grouped, published), *_people(record["remarks"])]
    tables += [*_coverage(record["remarks"], scores), *_topics(record["scores"])]
    tables += costs.make_table(record["remarks"])
    return [*tables, *_filtered(scores, published)]


def is_language(name: str) -> bool:
    """Return whether a score's language is one, not a mean over several."""
    return name != AVERAGE and ":" not in name


def languages_of(scores: Iterable[Row]) -> list[str]:
    """Return the languages of some scores, in order."""
    return in_order({row["language"] for row in scores if is_language(row["language"])})


# Scores by where they stand


class Numbers:
    """The scores of one criterion over one dataset, and the papers' beside them."""

    def __init__(
        self, criterion: str, dataset: str, ours: Sequence[Row], theirs: Sequence[Row]
    ) -> None:
        self.criterion, self.dataset, self.known = criterion, dataset, CRITERIA[criterion]
        self.ours, self.theirs = [*ours, *_means(ours)], theirs
        self.title = f"{self.known.title}, {words.dataset_name(dataset)}"
        self.by: dict[tuple[Any, ...], Row] = {}
        self.n: dict[tuple[Any, ...], int] = {}
        for row in (*self.ours, *theirs):
            source, language = self._source(row), row["language"]
            self.by[(*source, row["metric"], language)] = row
            key = (*source, language)
            self.n[key] = max(self.n.get(key, 0), row["n"] or 0)

    def find(self, source: tuple[str, Any], metric: str, language: str) -> Estimate:
        """Return a score; one without a value where there is none."""
        row = self.by.get((*source, metric, language))
        percent = self.known.display(metric).in_percent
        if row is None:
            return Estimate(None, percent=percent)
        return Estimate(row["value"], row["ci_low"], row["ci_high"], percent)

    def sources(self) -> Iterator[tuple[tuple[str, Any], bool]]:
        """Yield (model, temperature) and whether it is a paper's: ours first, rising."""
        own_scores = unique(map(self._source, self.ours))
        for item in sorted(
            own_scores, key=lambda s: (s[1] == MEAN, 0 if s[1] in (None, MEAN) else s[1])
        ):
            yield item, False
        yield from ((item, True) for item in unique(map(self._source, self.theirs)))

    def table(self, rows: Sequence[tuple[bool, dict[str, Cell]]], **more: Any) -> Table:
        """Return a table over these numbers, with where its published rows come from.

        Each row stands behind whether it is a paper's.
        """
        notes = [self.known.note, more.pop("note", "")]
        if sources := unique(row["source"] for row in self.theirs):
            notes.append(words.words()["tables"]["published"].format(sources="; ".join(sources)))
        subject = {"key": self.criterion, "title": self.title, **more}
        return Table(
            **subject, rows=[row for _, row in rows], note=" ".join(filter(None, notes)),
            published={index for index, (is_published, _) in enumerate(rows) if is_published},
            dataset=self.dataset, criterion=self.criterion,
        )  # fmt: skip

    def _source(self, row: Row) -> tuple[str, Any]:
        """Return whose score it is; of a model of MMedBench's paper with how it was asked."""
        setting = row.get("setting", "") if self.criterion.startswith("mmedbench") else ""
        return f"{row['model']}{', ' if setting else ''}{setting}", row["temperature"]


def _means(ours: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield means over the papers' five temperatures, and `NAME_sd`, the deviation over them."""
    groups: dict[tuple[str, str, str], dict[Any, Row]] = {}
    for row in ours:
        key = row["model"], row["metric"], row["language"]
        groups.setdefault(key, {})[row["temperature"]] = row
    for (_, metric, _), group in groups.items():
        values = [group[tau]["value"] for tau in TEMPERATURES if tau in group]
        if len(values) == len(TEMPERATURES) and None not in values:
            row = {**group[0.0], "temperature": MEAN, "ci_low": None, "ci_high": None}
            yield {**row, "value": fmean(values)}
            yield {**row, "metric": f"{metric}_sd", "value": pstdev(values)}


# By criterion and dataset


def _follow(name: str, language: Estimate, english: Estimate) -> dict[str, Cell]:
    """Return what follows from a value and English's, by the columns' names."""
    value, base = language.value, english.value
    if value is None or base is None:
        return {}
    result: dict[str, Cell] = {f"{name}: {_DECREASE}": 100 * (base - value)}
    if base > 0:
        result |= {
            f"{name}: {_DROP}": 100 * (base - value) / base,
            f"{name}: {_MULTIPLE}": value / base,
        }
    return result


def _by_language(numbers: Numbers, metrics: Sequence[str], **more: Any) -> Table:
    """Make a table with a row per temperature, model and language, and a column per metric."""
    present = numbers.known
    main = {name for item in present.endpoints for name in (item.metric, *item.instead)}
    rows: list[tuple[bool, dict[str, Cell]]] = []
    extra = set[str]()
    for source, is_published in numbers.sources():
        scores = numbers.theirs if is_published else numbers.ours
        for code in languages_of(scores):
            found = {metric: numbers.find(source, metric, code) for metric in metrics}
            if all(group.value is None for group in found.values()):
                continue
            after: dict[str, Cell] = {}
            for metric, group in found.items():
                name = present.display(metric).heading
                if metric in main and code != ENGLISH:
                    after |= _follow(name, group, numbers.find(source, metric, ENGLISH))
                row = numbers.by.get((*source, metric, code))
                if present.display(metric).unit == "share" and row is not None and row["n"]:
                    after[f"{name}: count"] = round(row["value"] * row["n"])
                if source[1] == MEAN:
                    after[f"{name}: sd over T"] = numbers.find(source, f"{metric}_sd", code).value
            extra |= after.keys()
            start: dict[str, Cell] = {
                "T": format_tau(source[1]), "Model": source[0], "Language": language_name(code),
                "code": code, "n": numbers.n[(*source, code)] or None,
            }  # fmt: skip
            labels: dict[str, Cell] = {
                present.display(m).heading: group for m, group in found.items()
            }
            rows.append((is_published, {**start, **labels, **after}))
    return numbers.table(rows, csv_only={"code", *extra}, **more)


def format_tau(tau: Any) -> str | None:
    """Format a temperature, or what stands in place of one."""
    return tau if tau is None or isinstance(tau, str) else f"{tau:g}"


def _by_metric(numbers: Numbers) -> Table:
    """Make a table with a row per metric, temperature and model, and a column per language."""
    exam = numbers.criterion.startswith("mmedbench")
    languages = MMEDBENCH if exam else languages_of(numbers.ours)
    rows: list[tuple[bool, dict[str, Cell]]] = []
    drops = set[str]()
    for metric in unique(row["metric"] for row in (*numbers.ours, *numbers.theirs)):
        present = numbers.known.metric(metric)
        is_listed = metric not in COVERAGE and not metric.endswith("_sd")
        if (not is_listed or not present.in_table) and metric not in _ALWAYS:
            continue
        for source, is_published in numbers.sources():
            found = {code: numbers.find(source, metric, code) for code in languages}
            values = [item.value for item in found.values()]
            if all(value is None for value in values):
                continue
            row: dict[str, Cell] = {
                "Metric": metric, "T": format_tau(source[1]), "Model": source[0],
                **{language_name(code): item for code, item in found.items()},
            }  # fmt: skip
            if exam:
                mean = numbers.find(source, metric, AVERAGE)
                present_values = [value for value in values if value is not None]
                if mean.value is None and len(present_values) == len(values):
                    mean = mean._replace(value=fmean(present_values))
                row["Avg."] = mean
            if present.across_languages and "_seed_sd" not in metric:
                english = numbers.find(source, metric, ENGLISH)
                falls = {
                    f"{code}: {_DROP}": _follow("", item, english).get(f": {_DROP}")
                    for code, item in found.items()
                    if code != ENGLISH
                }
                drops |= falls.keys()
                row |= falls
            rows.append((is_published, row))
    return numbers.table(rows, csv_only=drops)


def _by_group(numbers: Numbers) -> Table:
    """Make a table of means over scripts, families and all languages, as Table 4 has it."""
    metric = next(item.metric for item in numbers.known.endpoints if item.agreement)
    rows: list[tuple[bool, dict[str, Cell]]] = []
    for source, is_published in numbers.sources():
        found = {group: numbers.find(source, metric, group) for group in GROUPS}
        if all(chosen.value is None for chosen in found.values()):
            continue
        chosen = {key[-1] for key in numbers.by if key[:-1] == (*source, metric)}
        remaining = sum(is_language(code) and code != ENGLISH for code in chosen)
        labels = {"All" if g == AVERAGE else g.replace(":", ": "): x for g, x in found.items()}
        start: dict[str, Cell] = {"Model": source[0], "Languages": remaining}
        start |= {"Languages": 30} if is_published else {}
        rows.append((is_published, {**start, **labels}))
    title, key = f"{numbers.title}: scripts and families", f"{numbers.criterion}_groups"
    note = words.words()["tables"]["groups"]
    return numbers.table(rows, title=title, key=key, note=note)


# Over criteria and datasets


def _correctness_means(
    grouped: Mapping[tuple[str, str], Sequence[Row]], published: bool
) -> Iterator[Table]:
    """Make the two means of XLingEval's abstract, over the datasets and languages of each run."""
    own_scores = {name: rows for (key, name), rows in grouped.items() if key == "correctness"}
    papers = [name for name in own_scores if name in DATASETS and name != "demo"]
    rows: list[dict[str, Cell]] = []
    requested: dict[tuple[tuple[str, str], ...], None] = {}
    for names in [papers, *([name] for name in own_scores if name not in papers)]:
        every = [row for name in names for row in own_scores[name]]
        for model in unique(row["model"] for row in every):
            if pairs := gap_pairs([row for row in every if row["model"] == model]):
                rows.append(_mean_row(model, pairs))
                requested[tuple(pairs)] = None
    marked = set()
    for expected in sorted(requested, key=len, reverse=True) if published else ():
        names = unique(name for name, _ in expected)
        every = [row for name in names for row in published_scores("correctness", name)]
        for model in unique(row["model"] for row in every):
            pairs = gap_pairs([row for row in every if row["model"] == model])
            if all(pair in pairs for pair in expected):
                marked.add(len(rows))
                rows.append(_mean_row(model, {pair: pairs[pair] for pair in expected}))
    if rows:
        yield Table(
            "correctness_means", "Correctness: means against English", rows, marked,
            note=words.words()["tables"]["correctness_means"], criterion="correctness",
        )  # fmt: skip


Pairs = Mapping[tuple[str, str], tuple[float, float | None]]
"""Dataset and language -> decrease of 'says more' in points, and multiple of 'harmful'."""


def gap_pairs(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Return what `Pairs` is of one model's scores; pairs without both values are left out."""
    value = {(row["dataset"], row["metric"], row["language"]): row["value"] for row in rows}
    gaps = {}
    for name, metric, code in value:
        share, base = (value.get((name, "more_comprehensive", c)) for c in (code, ENGLISH))
        if metric != "more_comprehensive" or code == ENGLISH or share is None or base is None:
            continue
        harm, harm_base = (value.get((name, "contradictory", c)) for c in (code, ENGLISH))
        multiple = harm / harm_base if harm is not None and harm_base else None
        gaps[name, code] = 100 * (base - share), multiple
    return gaps


def _mean_row(model: str, pairs: Pairs) -> dict[str, Cell]:
    multiples = [multiple for _, multiple in pairs.values() if multiple is not None]
    return {
        "Model": model,
        "Datasets": ", ".join(unique(name for name, _ in pairs)),
        "Languages": ", ".join(unique(code for _, code in pairs)),
        "Comparisons": len(pairs),
        "Says more: mean decrease, percentage points": fmean(x for x, _ in pairs.values()),
        "Harmful: mean multiple of English": fmean(multiples) if multiples else None,
        "Comparisons with a multiple": len(multiples),
    }


def _people(remarks: Sequence[Row]) -> Iterator[Table]:
    """Make a table of labels that people's labels correct."""
    rows: list[dict[str, Cell]] = [
        {
            "dataset": row["dataset"], "Model": row["model"],
            "Language": language_name(row["language"]),
            "Label": CRITERIA["correctness"].display(row["label"]).name,
            "By the judge": Estimate(row["judge"], percent=True),
            "Corrected by people": Estimate(row["value"], row["ci_low"], row["ci_high"], True),
            "Answers": row["n"], "People's labels": row["labels"],
        }
        for row in remarks if row["kind"] == "people_share"
    ]  # fmt: skip
    if rows:
        note, title = words.words()["tables"]["people"], "Labels corrected by people"
        yield Table("people", title, rows, note=note, criterion="correctness")


def _coverage(remarks: Sequence[Row], scores: Sequence[Row]) -> Iterator[Table]:
    """Make a table of what was asked, and of what share something was the matter."""
    rates = {name: rate.column for name, rate in RATES.items() if rate.column}
    by: dict[tuple[str, ...], dict[Any, dict[str, Cell]]] = {}
    seen = set()
    for s in scores:
        if s["metric"] in rates:
            key = s["model"], s["criterion"], s["dataset"], s["language"]
            chosen = by.setdefault(key, {}).setdefault(s["temperature"], {})
            chosen[rates[s["metric"]]] = Estimate(s["value"], percent=True)
            seen |= {rates[s["metric"]]} if s["value"] else set()
    rows: list[dict[str, Cell]] = []
    for row in (row for row in remarks if row["kind"] == "coverage"):
        key = row["model"], row["criterion"], row["dataset"], row["language"]
        subject: dict[str, Cell] = {
            "Model": row["model"], "Criterion": CRITERIA[row["criterion"]].title,
            "dataset": row["dataset"], "Language": language_name(row["language"]),
            "Asked": row["asked"], "Available": row["available"], "In the data": row["in_data"],
            "Invalid": row["invalid_questions"] or None,
            "Reasons": "; ".join(f"{reason}: {n}" for reason, n in row["reasons"].items()),
        }  # fmt: skip
        for tau, chosen in by.get(key, {None: {}}).items():
            rows.append({**subject, "T": format_tau(tau), **chosen})
    if rows:
        yield Table(
            "coverage", "Scored and unscored questions", rows, csv_only={*rates.values()} - seen,
            note=words.words()["tables"]["coverage"],
        )  # fmt: skip


def _topics(scores: Sequence[Row]) -> Iterator[Table]:
    rows: list[dict[str, Cell]] = [
        {
            "Topic": s["topic"], "Model": s["model"], "Criterion": CRITERIA[s["criterion"]].title,
            "dataset": s["dataset"], "Language": language_name(s["language"]),
            "Metric": s["metric"], "T": format_tau(s["temperature"]), "n": s["n"],
            "Value": Estimate(s["value"], s["ci_low"], s["ci_high"], words.display(s).in_percent),
        }
        for s in scores if s["topic"]
    ]  # fmt: skip
    if rows:
        note = words.words()["tables"]["topics"]
        yield Table("topics", "By topic of the question", rows, note=note)


def _filtered(scores: Sequence[Row], published: bool) -> Iterator[Table]:
    """Make a table of answers that a content filter blocked, with Table A5; none without any."""
    own_scores = [
        s for s in scores if s["metric"] == "content_filter_rate" and is_language(s["language"])
    ]
    if not any(s["value"] for s in own_scores):
        return
    by: dict[tuple[Any, ...], dict[str, Cell]] = {}
    for s in [*own_scores, *(filtered_scores() if published else ())]:
        title = CRITERIA[s["criterion"]].title if s["criterion"] else None
        position = title, s["dataset"], format_tau(s["temperature"]), s["model"]
        by.setdefault(position, {})[language_name(s["language"])] = Estimate(
            s["value"], percent=True
        )
    names = ("Criterion", "dataset", "T", "Model")
    rows = [{**dict(zip(names, position, strict=True)), **group} for position, group in by.items()]
    marked = {index for index, (title, *_) in enumerate(by) if title is None}
    note = words.words()["tables"]["filtered"]
    yield Table("filtered", "Answers blocked by a content filter", rows, marked, note=note)
