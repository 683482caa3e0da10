"""Task metric: what any multilingual task of the harness measures, told as it measures it.

A task that is not ours names its metric itself. What counts of it (`logs/task_groups.yaml`) is
called one of three things here: right or wrong, a score of which more is better, or one of which
less is.
"""

from __future__ import annotations

from functools import partial

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import Endpoint, criterion
from xling_tasks.criteria.exam import likelihoods
from xling_tasks.criteria.metric import DisplayText, Metric

RIGHT, SCORE, LOSS = "task_acc", "task_score", "task_loss"
OF_SHARES = ("acc", "exact_match")
"""What metrics of right and wrong are called, where no samples say what their values are."""

UNREAD, EMPTY = "unparsed_rate", "empty_rate"


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    chosen = view.answer_part(sample, language)
    if sample["doc"].get("candidates"):
        texts = [f"{text} ({score:.3f})" for score, text in likelihoods(sample)]
        chosen = view.Part(
            view.ANSWER, list(map(view.Passage, texts)), "log-likelihoods, likeliest first"
        )
    right = view.Part("Right", view.field(sample["doc"], "right", ""))
    return [view.question_part(sample, language), right, chosen]


def _find_score(sample: view.Sample, _: str) -> view.SampleResult:
    if view.number(sample.get(UNREAD)) == 1:
        return view.SampleResult("unparsed")
    right = view.number(sample.get(RIGHT))
    if right is not None:
        return view.SampleResult("right" if right == 1 else "wrong", right, right == 1)
    loss, score = view.number(sample.get(LOSS)), view.number(sample.get(SCORE))
    return view.SampleResult(score=score if loss is None else -loss)


METRICS = (
    Metric(RIGHT, higher_is_better=True, chance=True, known_chance=True),
    Metric(SCORE, higher_is_better=True, sized=False),
    Metric(LOSS, higher_is_better=False, sized=False),
    Metric(UNREAD, higher_is_better=False),
    Metric(EMPTY, higher_is_better=False, in_table=False),
)  # fmt: skip
"""What counts of a task that is not ours; made of its own metrics when its results are read."""

_DISPLAY = {
    RIGHT: DisplayText("Questions answered right", "Right", "Does the model answer right?",
                       unit="share", evidence="count"),
    SCORE: DisplayText("The task's score", "Score", unit="number", evidence="number"),
    LOSS: DisplayText("The task's loss", "Loss", unit="number", evidence="number"),
    UNREAD: DisplayText("Replies that the filter could not read", "Unparsed",
                        unit="percent", evidence="share"),
}  # fmt: skip
_of_lm_eval = partial(
    criterion,
    table=METRICS,
    endpoints=(Endpoint(RIGHT, instead=(SCORE, LOSS)),),
    columns=(RIGHT, SCORE, LOSS, UNREAD),
    note="The value as the harness has it, in which a reply that its filter could not read is "
    "wrong; conclusions have to hold with such replies left out, too.",
    shown=view.SampleView(_parts, (), _find_score, tones={"right": "good", "wrong": "bad"}),
)

TASK_METRIC = _of_lm_eval(
    "task_metric",
    display=_DISPLAY,
    position=14,
    title="Task of lm_eval",
    asks="What the task itself measures; the questions are the same in every language.",
)
OTHER_QUESTIONS = _of_lm_eval(
    "task_metric_apart",
    display={**_DISPLAY, RIGHT: _DISPLAY[RIGHT]._replace(evidence="exam")},
    position=15,
    title="Task of lm_eval, with questions of its own in each language",
    asks="What the task itself measures. Each language has its own questions, so that only what "
    "is above guessing can be compared.",
    parallel=False,
)
