"""`xling next`: parts of a question set until it is decided, with looks that are counted."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import builders
import numpy as np
import pytest
import scripted
from xling_metrics.stats.odds import share_at_odds

from xling_tasks.cli import main
from xling_tasks.commands.next import Look, _at_the_end, _row, _said, decide
from xling_tasks.report.cases import Case
from xling_tasks.report.conclusions import BETTER, HIDDEN, LEANS, RARE, SAME, TOO_FEW, UNSURE, WORSE
from xling_tasks.report.model import Conclusion

TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es", "hi")]


def conclusion(language, estimate, error, verdict, n=500, margin=0.05):
    return Conclusion(
        model="m", dataset="d", language=language, criterion="correctness", metric="x",
        verdict=verdict, reason="", estimate=estimate, low=estimate - 1.96 * error,
        high=estimate + 1.96 * error, p=0.01, n=n, margin=margin, detectable=None,
    )  # fmt: skip


def look(language, estimate, error, verdict, asked, of=1000, **more):
    item = conclusion(language, estimate, error, verdict, asked[-1], **more)
    return Look(item, SimpleNamespace(), SimpleNamespace(), list(asked), of)


def test_early_looks_need_more_than_one_look_would():
    """z = 2.8 is nothing at a tenth of the questions, and enough with all of them."""
    early, late = look("es", 0.28, 0.1, BETTER, [100]), look("es", 0.28, 0.1, BETTER, [500, 1000])
    decide([early])
    decide([late])
    assert early.decided == "" and late.decided == BETTER
    assert late.at == 1000 and late.bound == pytest.approx(1.969, abs=1e-3)
    assert 0 < early.more <= 900


def test_what_is_shown_leaves_its_alpha_to_the_rest():
    """At the end, with two in a family: z = 2.1 alone is too little for alpha / 2."""
    pair = [look("es", -0.5, 0.1, WORSE, [1000]), look("hi", -0.21, 0.1, WORSE, [1000])]
    decide(pair)
    assert [own.decided for own in pair] == [WORSE, WORSE]
    pair = [look("es", -0.1, 0.1, UNSURE, [1000]), look("hi", -0.21, 0.1, WORSE, [1000])]
    decide(pair)
    assert [own.decided for own in pair] == ["", ""]
    assert pair[1].more is None  # nothing is left to ask


def test_the_same_needs_the_interval_of_all_looks_within_the_margin():
    wide, narrow = look("es", 0.0, 0.02, SAME, [500]), look("es", 0.0, 0.01, SAME, [500])
    decide([wide])
    decide([narrow])  # 2.963 standard errors after half of the questions
    assert wide.decided == "" and narrow.decided == SAME
    assert wide.more is not None


def test_no_questions_are_asked_for_where_they_are_not_what_is_lacking():
    """What was not read stays unread in more questions, and 72 are the least for a margin of 5."""
    hidden, few = (look("es", 0.3, 0.05, UNSURE, [300]) for _ in range(2))
    hidden.item = replace(hidden.item, reason=HIDDEN)
    few.item = replace(few.item, reason=TOO_FEW)
    decide([hidden])
    decide([few])
    assert hidden.more is None and few.more
    # All alike so far: the spread is none, and a rare breakdown could stay hidden below 72.
    alike = look("es", 0.0, 1e-9, UNSURE, [20])
    alike.item = replace(alike.item, reason=RARE)
    decide([alike])
    assert 20 + alike.more >= 72
    # A tenth is unread: at twice the odds the difference could be 0.009 less.
    open_ = [look("es", 0.02, 0.01, UNSURE, [300]) for _ in range(2)]
    for own in open_:
        own.item = replace(own.item, reason=LEANS, margin=0.001)
    moved = share_at_odds(30, 270, 30)
    open_[1].case = Case(None, None, moves=((1, moved), (-1, lambda k: 0.0)))
    for own in open_:
        decide([own])
    assert open_[0].more < (open_[1].more or 1000)


def test_what_is_left_to_ask_is_told_as_it_is():
    some, every = look("es", 0.0, 0.1, UNSURE, [500]), look("es", 0.0, 0.1, UNSURE, [1000])
    assert _at_the_end([]) == "All of these are decided: no further part is needed."
    assert _at_the_end([every]).startswith("All questions are asked: what is open stays so.")
    assert "not likely to be decided by all questions that are left" in _at_the_end([some, every])
    assert _row(some)["decided"] == "likely open with all" and _row(every)["decided"] == "open"
    said = list(_said([every], 2))
    assert "Not among these: 2 that were not tested (a report says why)." in said


def test_false_alarms_over_looks_and_languages():
    """No difference anywhere, five looks, four languages: at most alpha of the sets err."""
    rng, wrong, naive, sets = np.random.default_rng(11), 0, 0, 400
    asked = [100, 200, 400, 700, 1000]
    steps = np.sqrt(np.diff([0, *asked]))
    for _ in range(sets):
        sums = (rng.standard_normal((4, 5)) * steps).cumsum(axis=1)
        means, errors = sums / asked, 1 / np.sqrt(asked)
        done: set[int] = set()
        for k in range(len(asked)):
            own = [
                look(str(i), means[i, k], errors[k], WORSE if means[i, k] < 0 else BETTER,
                     asked[: k + 1], margin=0.0)
                for i in range(4)
            ]  # fmt: skip
            decide(own)
            done |= {i for i, each in enumerate(own) if each.decided}
        wrong += bool(done)
        naive += bool((abs(means) > 2.4977 * errors).any())  # Bonferroni at each look
    assert wrong / sets < 0.05 + 3 * np.sqrt(0.05 * 0.95 / sets)
    assert naive / sets > 0.09


def half_bad(prompt):
    """A judge for whom answers in Spanish contradict, and half of those in Hindi."""
    if "[BEGIN ANSWER 2" not in prompt:
        return "ready"
    language = prompt.split("are written in ")[1].split(".")[0]
    bad = language == "Spanish" or (language == "Hindi" and len(prompt) % 2)
    option = "contradictory" if bad else "more comprehensive and appropriate"
    return f"So.\nVERDICT {scripted.code_of(prompt)}: {option}"


def test_parts_until_it_is_decided(run, serve, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    metadata = {"judge": serve(half_bad).spec()}

    def part(name, samples):
        builders.evaluated(run, tmp_path / name, list(samples), samples=samples, metadata=metadata)

    def looked(out):
        assert main(["next", out]) == 0
        return json.loads((tmp_path / "looks.json").read_text()), capsys.readouterr().out

    part("first", {task: list(range(0, 24, 2)) for task in TASKS})
    looks, said = looked("first")
    assert "Quote these verdicts" in said and "must be like the rest" in said
    samples = json.loads((tmp_path / "next.json").read_text())
    assert {own["of"] for own in looks.values()} == {24}
    assert {tuple(own["asked"]) for own in looks.values()} == {(12,)}
    harm = {key.split("|")[-1]: own for key, own in looks.items() if "contradictory" in key}
    assert harm["es"]["decided"] in ("", WORSE)
    assert all(n % 2 == 1 for numbers in samples.values() for n in numbers)  # none twice
    assert TASKS[0] in samples and len({len(numbers) for numbers in samples.values()}) == 1
    assert f"Next part: {len(samples[TASKS[0]])} questions a task, {len(samples)} tasks" in said
    assert looked("first")[0] == looks  # the same look once more is no further one

    part("second", samples)
    assert main(["parts", "merge", "first", "second", "--to", "whole"]) == 0
    later, _ = looked("whole")
    asked = 12 + len(samples[TASKS[0]])
    assert all(own["asked"] in ([12, asked], [12]) for own in later.values())
    harm = {key.split("|")[-1]: own for key, own in later.items() if "contradictory" in key}
    assert harm["es"]["decided"] == WORSE
    # Fewer questions than at the last look are a mistake.
    assert main(["next", "first"]) != 0
    assert "at the last look" in capsys.readouterr().err


def test_wrong_files_are_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content, said in (
        ("looks.json", '{"a": 1}', "--looks looks.json: is no file of looks"),
        ("next.json", "my notes", "no file of samples"),
    ):
        (tmp_path / name).write_text(content)
        assert main(["next", "nowhere"]) != 0
        assert said in capsys.readouterr().err
