"""What a language costs: tokens of its prompts and answers, and how its answers ended.

Tokenizers make several times the tokens of one language that they make of another, so that the same
question costs more, waits longer, and may be cut off at a limit that is enough in English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.errors import SettingError
from xling_tasks.languages import in_order, language_name
from xling_tasks.report import words
from xling_tasks.report.data import Task
from xling_tasks.report.record import Remark
from xling_tasks.report.table import Cell, Estimate, Table
from xling_tasks.report.words import Row, unique

KIND = "tokens"
"""The kind of remark with the tokens of a language."""

NAMED = 6
"""Languages whose cost a line names; of the others it tells the lowest."""

MOST_CUT = 0.05
"""The share of answers that were cut off above which their lengths say little."""

Prices = Mapping[str, tuple[float, float]]
"""Model or role -> dollars for a million tokens sent and received."""


def parse_price(given: str) -> tuple[str, tuple[float, float]]:
    """Return the name and the two prices of `NAME=IN/OUT`."""
    name, _, numbers = given.rpartition("=")
    sent, _, received = numbers.partition("/")
    try:
        prices = float(sent), float(received)
    except ValueError:
        prices = -1.0, -1.0
    if not name or not all(0 <= price < 1e6 for price in prices):
        raise SettingError(f"--price {given}: write NAME=IN/OUT, such as judge=2.5/10")
    return name, prices


def find_costs(
    groups: Mapping[tuple[str, str], Mapping[str, Sequence[Task]]], prices: Prices
) -> Iterator[Remark]:
    """Yield tokens, cut answers and prices of each language of a model's tasks.

    Numbers are means over the responses to the questions that were answered in a language and in
    English, where questions are the same in all, else to all of its questions. Only responses whose
    tokens a server or the model's tokenizer counted are in them.

    Args:
        groups: (criterion, dataset) -> model -> its tasks.
        prices: Of models whose price is known.
    """
    for (criterion, dataset), by_model in groups.items():
        for model, tasks in by_model.items():
            usage = {code: usage_of for task in tasks for code, usage_of in task.usage.items()}
            parallel = tasks[0].task_key.parallel
            english = usage.get(ENGLISH, {}) if parallel else {}
            about = {"model": model, "criterion": criterion, "dataset": dataset}
            for code in in_order(usage):
                pairs = ((key, english.get(key), row) for key, row in usage[code].items())
                shared = [key for key, a, b in pairs if a and a.get("answers") and b.get("answers")]
                row = _row(usage[code], sorted(shared) if shared else list(usage[code]))
                if row is None:
                    continue
                base = _row(english, sorted(shared)) if shared else None
                if base is not None and base["prompt_tokens"]:
                    row["times_english"] = _total(row) / _total(base)
                    row["prompt_times_english"] = row["prompt_tokens"] / base["prompt_tokens"]
                if model in prices:
                    sent, received = prices[model]
                    back = row["answer_tokens"] + row["thinking_tokens"]
                    row["dollars_per_1000"] = (row["prompt_tokens"] * sent + back * received) / 1000
                yield Remark(KIND, {**about, "language": code, **row})


def _row(usage: Mapping[str, Mapping[str, int]], questions: Sequence[str]) -> dict[str, Any] | None:
    """Return means over the responses to some questions; None where no tokens are known."""
    counts: Counter[str] = Counter()
    for question in questions:
        counts.update(usage[question])
    n = counts["answers"]
    if not n or not counts["completion"]:
        return None
    return {
        "n": len(questions), "responses": n, "prompt_tokens": counts["prompt"] / n,
        "answer_tokens": (counts["completion"] - counts["reasoning"]) / n,
        "thinking_tokens": counts["reasoning"] / n,
        "prompt_times_english": None, "times_english": None,
        "cut_rate": counts["cut"] / counts["asked"] if "cut" in counts else None,
        "thinking_only_rate": counts["thinking_only"] / counts["asked"], "dollars_per_1000": None,
    }  # fmt: skip


def _total(row: Mapping[str, Any]) -> float:
    return float(row["prompt_tokens"] + row["answer_tokens"] + row["thinking_tokens"])


def make_table(remarks: Sequence[Row]) -> Iterator[Table]:
    """Make the table of what each language costs."""
    rows: list[dict[str, Cell]] = [
        {
            "Model": row["model"], "Criterion": CRITERIA[row["criterion"]].title,
            "dataset": row["dataset"], "Language": language_name(row["language"]),
            "code": row["language"], "n": row["n"], "Responses": row["responses"],
            "Tokens of the prompt": row["prompt_tokens"], "of the answer": row["answer_tokens"],
            "of thinking": row["thinking_tokens"] or None,
            "Prompt, English = 1": row["prompt_times_english"],
            "All, English = 1": row["times_english"],
            "Cut off": None if row["cut_rate"] is None else Estimate(row["cut_rate"], percent=True),
            "Thinking only": Estimate(row["thinking_only_rate"], percent=True),
            "Dollars per 1,000": row["dollars_per_1000"],
        }
        for row in remarks if row["kind"] == KIND
    ]  # fmt: skip
    if rows:
        note = words.words()["tables"]["tokens"]
        yield Table("tokens", "What each language costs", rows, csv_only={"code"}, note=note)


def tell_costs(remarks: Sequence[Row]) -> list[str]:
    """Describe how many times the tokens of English each language takes, a line for each model.

    Where answers were cut off, all are as long as the limit: then only prompts are compared.
    """
    rows = [row for row in remarks if row["kind"] == KIND and row["times_english"]]
    models, lines = unique(row["model"] for row in rows), []
    for model in models:
        of_model = [row for row in rows if row["model"] == model]
        cut = any((row["cut_rate"] or 0) + row["thinking_only_rate"] > MOST_CUT for row in of_model)
        tokens: dict[str, tuple[float, float]] = {}
        for row in of_model:
            if row["language"] != ENGLISH:
                spent = (row["prompt_tokens"] if cut else _total(row)) * row["responses"]
                before = tokens.get(row["language"], (0.0, 0.0))
                base = spent / row["prompt_times_english" if cut else "times_english"]
                tokens[row["language"]] = before[0] + spent, before[1] + base
        times = {code: spent / base for code, (spent, base) in tokens.items()}
        ordered = sorted(times.items(), key=lambda item: -item[1])
        told = [f"{language_name(code)} {value:.1f}" for code, value in ordered]
        if told:
            line = words.words()["costs"]["one" if len(told) == 1 else "several"].format(
                language=language_name(ordered[0][0]), times=f"{ordered[0][1]:.1f}",
                others=", ".join(told[1:NAMED]),
                what=words.words()["costs"]["prompts" if cut else "questions"],
            )  # fmt: skip
            more = words.words()["costs"]["more"] if len(told) > NAMED else ""
            line += more.format(n=len(told) - NAMED, lowest=f"{ordered[-1][1]:.1f}") + "."
            lines.append(f"{model}: {line}" if len(models) > 1 else line)
    return lines
