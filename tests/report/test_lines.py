"""The sentence that stands for a language: which endpoint it is about, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xling_tasks.report.conclusions import LEANS, RARE, SMALL, TOO_FEW, UNREAD_DECIDE
from xling_tasks.report.lines import answer, lines
from xling_tasks.report.model import Conclusion
from xling_tasks.report.page.first import grouped
from xling_tasks.report.sentences import verdict, why_unsure

MEANINGS = {"contradictory": "harm", "helpful": "help", "usable": "usable"}
CRITERIA = {"macro_recall": "verifiability", "empathy": "empathy", "information_f1": "information"}


def concluded(metric, verdict, *, language="es", estimate=-0.1, n=246, reason="", **more):
    """A conclusion; the estimate has the metric's own sign."""
    up = metric != "contradictory"
    value, english = more.pop("values", (0.5 + estimate, 0.5))
    low, high = more.pop("low", estimate - 0.05), more.pop("high", estimate + 0.05)
    numbers = {"estimate": estimate, "low": low, "high": high, "value": value, "english": english}
    given = {"model": "m", "dataset": "liveqa", "criterion": CRITERIA.get(metric, "correctness")}
    return Conclusion(
        language=language, metric=metric, verdict=verdict, reason=reason, p=0.01, n=n, margin=0.05,
        meaning=MEANINGS.get(metric, "quality"), higher_is_better=up,
        **(dict.fromkeys(numbers) if verdict == "not_comparable" else numbers), **given | more,
    )  # fmt: skip


def one(*conclusions):
    (line,) = lines(conclusions, {"liveqa": "LiveQA", "healthqa": "HealthQA"})
    return line


def test_harm_leads_before_a_larger_difference_of_something_else():
    line = one(
        concluded("macro_recall", "worse", estimate=-0.4),
        concluded("contradictory", "worse", estimate=0.08, values=(0.19, 0.11)),
        concluded("contradictory", "inconclusive", estimate=0.3, dataset="healthqa"),
    )
    assert line.lead.metric == "contradictory" and line.lead.dataset == "liveqa"
    assert line.evidence == (
        "LiveQA: Harmful answers: 19 of 100 in Spanish, 11 in English (8 more per 100; 3 to 13; "
        "246 questions)."
    )
    assert line.rest == "Other measures: 1 worse than English, 1 too uncertain to tell."
    # Of harm in two datasets the worse one leads.
    line = one(
        concluded("contradictory", "worse", estimate=0.1),
        concluded("contradictory", "worse", estimate=0.2, dataset="healthqa"),
    )
    assert line.lead.dataset == "healthqa"


def test_worse_in_the_same_questions_leads_before_a_larger_gap_between_two_exams():
    """That a language is served worse is not hidden behind an exam that may only be harder."""
    exam = concluded("acc", "worse", estimate=-0.4, dataset="mmedbench", criterion="mmedbench_mcqa")
    paired = concluded("macro_recall", "worse", estimate=-0.1)
    for order in ((exam, paired), (paired, exam)):
        (line,) = lines(order, {})
        assert line.lead is paired and answer([line]) == "Spanish is served worse than English."
    unknown = concluded("macro_recall", "inconclusive", estimate=-0.1)
    assert one(unknown, exam).lead is exam
    # What is worse leads before harm of which nothing is known, too.
    line = one(
        concluded(
            "contradictory", "inconclusive", estimate=0.01, reason="246 questions would show"
        ),
        concluded("macro_recall", "worse", estimate=-0.1),
        concluded("empathy", "inconclusive", estimate=-0.6),
    )
    assert line.lead.metric == "macro_recall"
    assert line.rest == "Other measures: 2 too uncertain to tell."


def test_an_agreement_without_its_floor_is_never_worse():
    different = concluded("empathy", "inconclusive", estimate=-0.4, values=(0.6, 1.0),
                          reason="how much two English answers agree was not measured")  # fmt: skip
    harm = concluded("contradictory", "equivalent", estimate=0.0, values=(0.1, 0.1))
    assert one(different, harm).lead is harm
    line = one(different)
    assert line.verdict == "cannot tell" and "60% (246 questions)" in line.evidence
    assert line.why == "How much two English answers agree was not measured."
    assert answer([line]) == "For Spanish it cannot be told."


def test_who_gets_no_usable_answer_leads_and_is_counted_by_what_became_of_it():
    values, outcomes = (225 / 246, 245 / 246), (("scored", 225), ("refusal", 3),
                                                ("wrong_language", 18))  # fmt: skip
    some = concluded("usable", "worse", estimate=-20 / 246, low=-0.12, high=-0.043, values=values,
                     outcomes=outcomes)  # fmt: skip
    line = one(concluded("helpful", "worse", estimate=-0.3), some)
    assert line.lead is some
    assert line.evidence == (
        "21 of 246 questions got no usable answer in Spanish (3 declined in words, 18 in another "
        "language), 1 in English (8 more per 100; 4 to 12)."
    )
    assert answer([line]) == "Spanish is served worse than English."
    none = concluded("usable", "worse", estimate=-1.0, values=(0.0, 1.0),
                     outcomes=(("wrong_language", 246),))  # fmt: skip
    assert answer([one(none)]) == (
        "Spanish is mostly not answered in the user's language. "
        "Measured: questions with a usable answer; not whether answers are right."
    )


def test_balanced_accuracy_is_told_in_two_counts():
    counts = (70, 100, 208, 400, 88, 100, 284, 400)
    item = concluded("macro_recall", "worse", estimate=-0.2, recalls=counts)
    assert one(item).evidence == (
        "Shown ready-made answers in Spanish, the model recognised 70 of 100 right answers as right and "
        "208 of 400 wrong ones as wrong; in English 88 of 100 and 284 of 400 (score 0.30, in English 0.50)."
    )


def test_what_rests_on_a_judge_says_so_and_where_it_would_turn():
    """20 and 6 of 246: 5.7 per 100 more, 2.6 to 8.7; its net error of as much explains it."""
    item = concluded("contradictory", "worse", language="hi", estimate=14 / 246, low=0.024,
                     high=0.09, values=(20 / 246, 6 / 246), judge_error_in_interval=False)  # fmt: skip
    line = one(item)
    assert line.evidence == (
        "Harmful answers, by this judge: 20 of 246 in Hindi, 6 of 246 in English "
        "(6 more per 100; 2 to 9)."
    )
    assert line.why == (
        "2 more wrong alarms per 100 in Hindi than in English and this would no longer be shown; "
        "6 would explain all of it."
    )
    people = replace(item, judge_error_in_interval=True)
    assert "corrected by people's labels" in one(people).evidence and not one(people).why


def test_a_group_of_languages_says_what_is_true_of_each():
    """No language's numbers or direction stand for the others, no criterion for another one."""

    def group(*items):
        made = grouped([line for item in items for line in lines([item], {})])
        return [(sorted(x.split()[0] for x in g.items), g.about.partition("; ")[2]) for g in made]

    leans = [
        concluded("contradictory", "inconclusive", language=code, estimate=gap, reason=LEANS)
        for code, gap in (("es", 0.1), ("hi", -0.1))
    ]
    ((named, why),) = group(*leans)
    assert named == ["Hindi", "Spanish"] and "it looks" not in why and "after the correction" in why
    assert "it looks worse" in group(*[replace(leans[0], language=x) for x in ("es", "hi")])[0][1]
    ways = (("", "worse"), ("as_wrong", "inconclusive"))
    lost = [
        concluded(
            "helpful", "inconclusive", language=code, unread=n, ways=ways, reason=UNREAD_DECIDE
        )
        for code, n in (("es", 16), ("hi", 90))
    ]
    ((named, why),) = group(*lost)
    assert "16" not in why and "Spanish" not in why and "could not be read" in why
    other = concluded("usable", "worse", language="hi", criterion="verifiability")
    assert len(group(concluded("usable", "worse"), other)) == 2


EXAM = (("", "worse"), ("left_out", "inconclusive"))
HARM = (("", "inconclusive"), ("left_out", "inconclusive"), ("as_wrong", "worse"))
WHYS = [
    ("helpful", "worse", {"unread": 16, "unread_english": 9}, ""),
    ("acc", "inconclusive", {"unread": 16, "ways": EXAM, "reason": UNREAD_DECIDE, "criterion": "mcqa"},
     "16 of 246 Spanish replies could not be read; counted as wrong Spanish is worse, left out nothing "
     "is shown."),
    ("contradictory", "inconclusive",
     {"unread": 1, "unread_english": 9, "ways": HARM, "reason": UNREAD_DECIDE},
     "1 of 246 Spanish replies and 9 of 246 English replies could not be read; counted as not harmful "
     "nothing is shown, left out nothing is shown, counted as harmful Spanish is worse."),
    ("contradictory", "inconclusive", {"estimate": 0.05, "low": -0.02, "high": 0.12, "reason": TOO_FEW},
     "With 246 questions, no difference and one of more than 5 per 100 are both possible."),
    ("helpful", "inconclusive", {"estimate": -0.03, "reason": SMALL},
     "It is worse, but whether by more than 5 per 100 is not known."),
    ("contradictory", "inconclusive", {"estimate": 0.1, "reason": LEANS},
     "It looks worse, but several languages or measures were compared, and among them one may look so "
     "by chance alone."),
    ("contradictory", "inconclusive", {"estimate": -0.1, "reason": LEANS}, "It looks better, but"),
    ("helpful", "inconclusive", {"estimate": 0.0, "n": 60, "reason": RARE},
     "No gap of more than 5 per 100 was seen, but with 60 questions a rare breakdown could stay hidden."),
    ("contradictory", "not_comparable", {"reason": "run with another judge"}, "Run with another judge."),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "verdict", "more", "why"), WHYS)
def test_why_it_is_so_or_cannot_be_told(metric, verdict, more, why):
    line = one(concluded(metric, verdict, **more, next="ask more questions"))
    assert line.why == why if why.endswith(".") else line.why.startswith(why)
    assert bool(line.evidence) == (verdict != "not_comparable")
    if verdict == "inconclusive":
        assert line.text.endswith("Next: ask more questions.")


def test_one_is_said_as_one():
    """A count of 1 has a noun of its own, and sides are of any kind."""
    ways = (("", "worse"), ("as_wrong", "inconclusive"))
    could = concluded("usable", "inconclusive", unread=3, n=1, ways=ways, reason=UNREAD_DECIDE)
    said = (
        "3 B replies could not be read; left out B is worse, counted as of no use nothing is shown"
    )
    assert why_unsure(could, ("B", "A")) == said
    worse = concluded("helpful", "worse", n=1, unread=1, values=(0.5, 1.0))
    assert "with 1 unread reply counted as wrong and left out" in verdict(worse)
    judged = concluded("contradictory", "worse", estimate=0.04, low=0.01, high=0.07,
                       judge_error_in_interval=False)  # fmt: skip
    assert one(judged).why.startswith("1 more wrong alarm per 100 in Spanish than in English")
    few = concluded("contradictory", "inconclusive", n=1, reason=TOO_FEW)
    assert one(few).why.startswith("With 1 question, no difference")


def test_small_runs_are_counted_and_large_ones_are_of_100():
    for n, estimate, values, said in (
        (24, 0.125, (0.25, 0.125), "6 of 24 in Spanish, 3 of 24 in English (12 more per 100; 8 to 18)."),
        (246, 0.001, (0.101, 0.1), "10.1 of 100 in Spanish, 10.0 in"),
        (246, 0.01, (0.12, 0.11), "12 of 100 in Spanish, 11 in"),
    ):  # fmt: skip
        told = one(concluded("contradictory", "worse", n=n, estimate=estimate, values=values))
        assert told.evidence.startswith(f"Harmful answers: {said}")
    large = concluded("contradictory", "worse", n=1134)
    assert one(large).evidence.endswith("1,134 questions).")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ({"es": "worse"}, "Spanish is served worse than English."),
        (
            {"es": "inconclusive", "hi": "worse", "zh": "worse"},
            "Chinese and Hindi are served worse than English; for Spanish it cannot be told.",
        ),
        ({"es": "not_comparable", "zh": "better"}, "Chinese is served better than English; Spanish is not comparable."),
        (dict.fromkeys(("es", "zh", "hi", "fr", "ja"), "equivalent"), "All 5 languages are about the same."),
    ],
)  # fmt: skip
def test_one_answer_per_model(verdicts, said):
    own = [concluded("contradictory", v, language=code) for code, v in verdicts.items()]
    assert answer(lines(own, {})) == said


def test_an_answer_says_where_other_endpoints_leave_it_open():
    verdicts = {"es": ("equivalent", "inconclusive"), "zh": ("better", "equivalent"),
                "hi": ("worse", "inconclusive")}  # fmt: skip
    own = [
        concluded(metric, verdict, language=code)
        for code, both in verdicts.items()
        for metric, verdict in zip(("contradictory", "helpful"), both, strict=True)
    ]
    assert answer(lines(own, {})) == (
        "Hindi is served worse than English; Chinese is served better than English; Spanish is about "
        "the same as far as it can be told."
    )


def test_models_as_they_come_and_the_worst_language_first():
    sizes = {"ta": 0.1, "hi": 0.3, "de": 0.2, "es": 0.2, "zh": 0.0}
    own = [
        concluded("contradictory", "worse" if size else "equivalent", language=code,
                  estimate=size, model=model)
        for model in ("b", "a")
        for code, size in sizes.items()
    ]  # fmt: skip
    found = [(line.model, line.language) for line in lines(own, {})]
    order = ["hi", "es", "de", "ta", "zh"]
    assert found == [(model, code) for model in ("b", "a") for code in order]
