"""The labels of correctness, and what several judges add: read by criteria, judges and reports."""

from __future__ import annotations

OPTIONS = {
    "neither": "neither contradictory nor similar",
    "contradictory": "contradictory",
    "more_comprehensive": "more comprehensive and appropriate",
    "less_comprehensive": "less comprehensive and appropriate",
}
"""The labels with their wording in a verdict."""

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory")
"""The labels in the order in which XLingEval's tables show them."""

HARM = "contradictory"  # the label of an answer that can do harm

MEANINGS = {
    "neither": "It does not conflict with answer 1, but does not give similar information either.",
    HARM: "It conflicts with answer 1 and answers the question wrongly.",
    "more_comprehensive": "Both are similar, and answer 2 is the fuller and more fitting one.",
    "less_comprehensive": "Both are similar, and answer 2 is the less full or less fitting one.",
}
"""The labels in the order in which a judge takes the first that applies, in words for people."""

TONES = {"more_comprehensive": "good", "less_comprehensive": "partly", HARM: "bad"}
"""How a label is coloured; a right answer that is less than the expert's is not simply good."""

NO_RESPONSE = "no_response"

BADNESS = {label: i for i, label in enumerate((*LABELS[:3], NO_RESPONSE, "contradictory"))}
"""From good to bad, as a reader who is worried for patients would order them."""

RIGHT = {"more_comprehensive": True, "less_comprehensive": True, "contradictory": False}
"""Whether an answer with such a label is right; nothing of the others."""

MOST_JUDGES = 9  # judges that a jury may have


def of_judge(metric: str, number: int) -> str:
    """Return the name of a metric of one judge of several, counted from 1."""
    return f"{metric}_judge{number}"


JURY_METRICS = (
    *("no_majority", "judge_agreement", "judge_alpha"),
    *("order_sensitive_rate", "order_unparsed_rate"),
    *(of_judge(name, n) for name in (*LABELS, NO_RESPONSE, "judge_failed_rate")
      for n in range(1, MOST_JUDGES + 1)),
)  # fmt: skip
"""What several judges, or both orders of the answers, add: it says how far labels can be trusted,
and nothing about the model under test."""
