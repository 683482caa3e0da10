"""The sentence that stands for a language: which endpoint it is about, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xling_tasks.report.lines import answer, lines
from xling_tasks.report.model import Conclusion

MEANINGS = {"contradictory": "harm", "more_comprehensive": "help", "langid_match": "language"}
CRITERIA = {"macro_f1": "verifiability", "empathy": "empathy", "information_f1": "information"}


def concluded(metric, verdict, *, language="es", estimate=-0.1, n=246, reason="", **more):
    """A conclusion; the estimate has the metric's own sign."""
    up = metric != "contradictory"
    value, english = more.pop("values", (0.5 + estimate, 0.5))
    none = verdict == "not_comparable"
    return Conclusion(
        model=more.pop("model", "m"), dataset=more.pop("dataset", "liveqa"), language=language,
        criterion=CRITERIA.get(metric, "correctness"), metric=metric, verdict=verdict,
        reason=reason, estimate=None if none else estimate,
        low=None if none else more.pop("low", estimate - 0.05),
        high=None if none else more.pop("high", estimate + 0.05), p=0.01, n=n, margin=0.05,
        detectable=0.09, value=None if none else value, english=None if none else english,
        meaning=MEANINGS.get(metric, "quality"), higher_is_better=up, **more,
    )  # fmt: skip


def one(*conclusions):
    (line,) = lines(conclusions, {"liveqa": "LiveQA", "healthqa": "HealthQA"})
    return line


def test_harm_leads_before_a_larger_difference_of_something_else():
    line = one(
        concluded("macro_f1", "worse", estimate=-0.4),
        concluded("contradictory", "worse", estimate=0.08, values=(0.19, 0.11)),
        concluded("contradictory", "cannot_tell", estimate=0.3, dataset="healthqa"),
    )
    assert line.lead.metric == "contradictory" and line.lead.dataset == "liveqa"
    assert (
        line.evidence
        == "LiveQA: 19 of 100 answers contradict the reference, 11 in English (246 questions)."
    )
    assert line.rest == "Other measures: 1 worse, 1 cannot tell."


def test_of_harm_in_two_datasets_the_worse_one_leads():
    line = one(
        concluded("contradictory", "worse", estimate=0.1),
        concluded("contradictory", "worse", estimate=0.2, dataset="healthqa"),
    )
    assert line.lead.dataset == "healthqa"


def test_worse_in_the_same_questions_leads_before_a_larger_gap_between_two_exams():
    """That a language is served worse is not hidden behind an exam that may only be harder."""
    exam = concluded("acc", "worse", estimate=-0.4, dataset="mmedbench")
    exam = replace(exam, criterion="mmedbench_mcqa")
    paired = concluded("macro_f1", "worse", estimate=-0.1)
    for order in ((exam, paired), (paired, exam)):
        (line,) = lines(order, {})
        assert line.lead is paired and answer([line]) == "Spanish is served worse than English."
    unknown = concluded("macro_f1", "cannot_tell", estimate=-0.1)
    assert one(unknown, exam).lead is exam


def test_what_is_worse_leads_before_harm_of_which_nothing_is_known():
    line = one(
        concluded(
            "contradictory", "cannot_tell", estimate=0.01, reason="246 questions would show 0.09"
        ),
        concluded("macro_f1", "worse", estimate=-0.1),
        concluded("empathy", "worse", estimate=-0.6),
    )
    assert line.lead.metric == "macro_f1"
    assert line.rest == "Other measures: 1 other than in English, 1 cannot tell."


def test_other_answers_than_english_lead_only_by_themselves():
    different = concluded("empathy", "worse", estimate=-0.4, values=(0.6, 1.0))
    harm = concluded("contradictory", "about_the_same", estimate=0.0, values=(0.1, 0.1))
    assert one(different, harm).lead is harm
    line = one(different)
    assert line.verdict == "other answers than in English"
    assert line.why == "What two English answers share is not measured."
    assert answer([line]) == "Spanish gets other answers than English."


def test_most_of_all_is_said_of_one_that_is_beyond_all_others():
    def said(*estimates, **more):
        own = [
            concluded(
                "information_f1", "worse", language=code, estimate=-x, values=(1 - x, 1), **more
            )
            for code, x in zip(("es", "hi", "zh"), estimates)
        ]
        return answer(lines(own, {}))

    start = "Spanish, Chinese and Hindi get other answers than English"
    # Intervals are the estimate and 0.05 to both sides.
    assert said(0.2, 0.5, 0.2) == f"{start}, most of all Hindi."
    assert said(0.2, 0.29, 0.2) == f"{start}."
    assert said(0.4, 0.5, 0.2) == f"{start}."
    assert said(0.2, 0.5, 0.2, low=None, high=None) == f"{start}."


def test_small_runs_are_counted_and_large_ones_are_of_100():
    small = concluded("contradictory", "worse", n=24, estimate=0.125, values=(0.25, 0.125))
    assert one(small).evidence == "6 of 24 answers contradict the reference, 3 in English."
    close = concluded("contradictory", "about_the_same", estimate=0.001, values=(0.101, 0.1))
    assert one(close).evidence.startswith("10.1 of 100 answers contradict the reference, 10.0 in")
    even = concluded("contradictory", "about_the_same", estimate=0.01, values=(0.12, 0.11))
    assert one(even).evidence.startswith("12 of 100 answers contradict the reference, 11 in")
    large = concluded("contradictory", "worse", n=1134)
    assert one(large).evidence.endswith("(1,134 questions).")


def test_why_it_cannot_be_told():
    few = concluded("contradictory", "cannot_tell", estimate=0.05, low=-0.02, high=0.12,
                    reason="246 questions would show 0.09 or more")  # fmt: skip
    assert one(few).why == "246 questions would show 9 points or more."
    reason = (
        "246 questions would show 0.09 or more; the interval excludes 0, but not after the "
        "correction for several conclusions"
    )
    leaning = concluded("contradictory", "cannot_tell", estimate=0.1, reason=reason)
    assert one(leaning).why == "It looks worse, but may be chance among several comparisons."
    better = concluded("contradictory", "cannot_tell", estimate=-0.1, reason=reason)
    assert "looks better" in one(better).why
    vetoed = concluded(
        "contradictory", "not_comparable", reason="99% of the answers were in English"
    )
    assert one(vetoed).evidence == ""
    assert one(vetoed).why == "99% of the answers were in English (246 questions)."


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ({"es": "worse"}, "Spanish is served worse than English."),
        (
            {"es": "cannot_tell", "hi": "worse", "zh": "worse"},
            "Chinese and Hindi are served worse than English; for Spanish it cannot be told.",
        ),
        ({"es": "not_comparable", "zh": "better"}, "Chinese is served better than English; Spanish is not comparable."),
        (dict.fromkeys(("es", "zh", "hi", "fr", "ja"), "about_the_same"), "All 5 languages are about the same."),
    ],
)  # fmt: skip
def test_one_answer_per_model(verdicts, said):
    own = [concluded("contradictory", v, language=code) for code, v in verdicts.items()]
    assert answer(lines(own, {})) == said


def test_models_as_they_come_and_languages_in_one_order():
    own = [
        concluded("contradictory", "worse", language=code, model=model)
        for model in ("b", "a")
        for code in ("ta", "hi", "de", "es", "zh")
    ]
    found = [(line.model, line.language) for line in lines(own, {})]
    order = ["es", "zh", "hi", "de", "ta"]
    assert found == [(model, code) for model in ("b", "a") for code in order]
