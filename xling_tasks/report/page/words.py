"""What the page says in words: what a criterion asks, what verdicts and terms mean."""

from __future__ import annotations

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rates import GLOSSARY as SHARED
from xling_tasks.report.model import Report

VERDICT_MEANINGS = {
    "worse": "The interval of the difference from English excludes 0, and chance is unlikely even "
    "when it is counted that several conclusions were drawn; both hold if replies that could not "
    "be read were right with twice or half the odds of the others.",
    "better": "The same, in favour of the language.",
    "about_the_same": "The whole interval lies within the margin, and a rare breakdown beyond it "
    "is excluded: a difference that matters is unlikely.",
    "cannot_tell": "Neither can be said. Of differences smaller than the one named, a run of this "
    "size misses more than one in five. What to do next stands beside.",
    "not_comparable": "The language was run in another way than English, so that a difference may "
    "be of that.",
}
"""What each verdict means."""

_TERMS = {
    "endpoint": "One of the few measures on which conclusions rest, fixed before anything is seen. "
    "All other measures are exploratory.",
    "interval (low, high)": "Where the true value or difference lies, by these questions: made so "
    "that it holds the truth in 95 of 100 runs, if not said otherwise.",
    "margin": "Differences up to this are taken as about the same. Each measure has its own, set "
    "beforehand; the table of all conclusions names it.",
    "hundredths, percentage points, per 100": "Three names of one unit: 19 and 11 of 100 answers "
    "(19% and 11%, or 0.19 and 0.11) are 8 apart.",
    "by chance alone": "Of many comparisons some look worse or better even if no difference is "
    "there, as with many tests of one patient. So one alone has to be clearer than usual.",
    "p": "How often chance alone would make such a difference, if there were none.",
    "p, corrected; p (Holm)": "The same, when it is counted that several differences of one model "
    "and dataset were tested.",
    "detectable": "The difference that a run of this size finds four times out of five.",
    "unread, turns at": "Replies that could not be read, and how many times the odds of the others "
    "(or what part of them) these would need for a verdict no longer to hold.",
    "by this judge": "A judge errs. If it errs more in one language, by as much as the sentence "
    "says, the difference is the judge's.",
    "T, temperature": "How freely the model chooses its words: 0 is always the likeliest one.",
}
"""Terms of every report."""

_TERMS_OF_TESTS = {
    "d_z": "The mean difference over its spread: 0.2 is small, 0.8 is large.",
    "Wilcoxon, rank-biserial": "Whether most questions go one way, and how clearly.",
    "ANOVA, F; Tukey's HSD; t": "Tests as the papers made them, which take the languages as "
    "unrelated samples; ours compare question by question.",
    "published": "Figures of the papers, measured by others with other models.",
    "signature": "All that a number depends on, to make it again.",
}


def glossary(report: Report) -> dict[str, str]:
    """The terms of a report's tables and pictures, those of a criterion together.

    Args:
        report: Its criteria's own terms are given, no others.
    """
    used = {cell.panel.criterion for cell in report.cells}
    own = {
        key: text
        for name, one in CRITERIA.items()
        if name in used
        for key, text in (one.glossary or {}).items()
    }
    return {**_TERMS, **own, **SHARED, **_TERMS_OF_TESTS}
