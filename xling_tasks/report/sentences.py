"""Conclusions in plain words: the first lines of a report."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria import CRITERIA, Metric
from xling_tasks.languages import language_name
from xling_tasks.outcomes import NOT_SERVED, SERVED, percent
from xling_tasks.output import many, plural
from xling_tasks.report.cases import AS_WRONG, LEFT_OUT
from xling_tasks.report.conclusions import LEANS, NO_LESS, RARE, SMALL, TOO_FEW, UNREAD_DECIDE
from xling_tasks.report.model import Conclusion

VERDICTS = {
    "worse": "worse than English",
    "better": "better than English",
    "equivalent": "about the same as in English",
    "inconclusive": "cannot tell",
    "not_comparable": "not comparable",
}
"""The closed list of verdicts, in words."""


def sentences(
    conclusions: Sequence[Conclusion], datasets: dict[str, str], *, several: bool = False
) -> list[str]:
    """One line per model, dataset, language and criterion; see `by_criterion`."""
    return [text for _, text in by_criterion(conclusions, datasets, several=several)]


def by_criterion(
    conclusions: Sequence[Conclusion], datasets: dict[str, str], *, several: bool = False
) -> list[tuple[Conclusion, str]]:
    """One line per model, dataset, language and criterion, with the first conclusion in it.

    `several`: the report is about other models, too, of which nothing is concluded.
    """
    several = several or len({item.model for item in conclusions}) > 1
    lines = []
    about = [(c.model, c.dataset, c.language, c.criterion) for c in conclusions]
    for key in sorted(dict.fromkeys(about), key=lambda k: _order(k, about)):
        own = [c for c, k in zip(conclusions, about, strict=True) if k == key]
        model, dataset, language, criterion = key
        place = f"{CRITERIA[criterion].title}, {datasets.get(dataset, dataset)}"
        start = f"{model}, {place}" if several else place
        lines.append((own[0], f"{start}, {language_name(language)}: {_of_criterion(own)}"))
    return lines


def metric_of(item: Conclusion) -> Metric:
    """What is known of the metric of a conclusion."""
    return CRITERIA[item.criterion].metric(item.metric)


def agreement(item: Conclusion) -> bool:
    """Whether a conclusion is about agreement with the English answers themselves."""
    return CRITERIA[item.criterion].agreement(item.metric)


def against_one(item: Conclusion) -> bool:
    """Whether it is so, and what two English answers share is not known."""
    return item.english == 1 and agreement(item)


def english_side(item: Conclusion) -> str:
    """Whose the value beside the language's is."""
    return "between two English answers" if agreement(item) else "in English"


def _order(
    key: tuple[str, str, str, str], about: Sequence[tuple[str, str, str, str]]
) -> tuple[int, ...]:
    """Models, datasets, then languages with their criteria, each as they come first."""
    return tuple(
        next(i for i, other in enumerate(about) if other[: at + 1] == key[: at + 1])
        for at in range(4)
    )


def _of_criterion(own: Sequence[Conclusion]) -> str:
    """Its endpoints as sentences; a reason that is the same for all of them once."""
    apart = [item for item in own if item.verdict == "not_comparable"]
    if len(apart) == len(own) and len({item.reason for item in apart}) == 1:
        return f"Not comparable: {apart[0].reason}."
    told = [item for item in own if not unremarkable(item)]
    return " ".join(map(sentence, told or own))


def unremarkable(item: Conclusion) -> bool:
    """Answers that are all but always of use, and nothing shown."""
    plain = item.meaning == SERVED and item.verdict in ("equivalent", "inconclusive")
    return plain and item.value is not None and item.value >= 0.95


def sentence(item: Conclusion) -> str:
    """What was found, beside English, what may be said of it, and what to do where nothing may."""
    todo = f"Next: {item.next}." if item.next else ""
    return " ".join(part for part in (measured(item), verdict(item), todo) if part)


# What was found


def measured(item: Conclusion) -> str:
    """The values of both with their difference: counts where a share has them."""
    if item.value is None or item.english is None:
        return "" if item.verdict == "not_comparable" else f"{_about(item)}: nothing was measured."
    if against_one(item):
        return f"{_about(item)}: {percent(item.value)} ({many(item.n, 'question')})."
    if item.meaning == SERVED:
        text = _unserved(item)
    elif item.recalls:
        text = _recognised(item)
    else:
        own, base = shown_values(item)
        name = language_name(item.language)
        text = f"{_about(item)}: {own} in {name}, {base} {english_side(item)}"
    score = f"score {item.value:.2f}, in English {item.english:.2f}"  # as the picture has it
    notes = [score if item.recalls else _difference(item)]
    if not _counted(item) and not item.recalls and item.n:
        notes.append(many(item.n, "question"))
    if item.recalls and item.verdict == "inconclusive":
        notes.append(_not_read(item))
    if item.judge_error_in_interval:
        people = "which are taken as true"
        if item.people_error_in_interval:
            people = "whose differences from each other are in the interval"
        notes.append(f"corrected by people's labels, {people}")
    if not CRITERIA[item.criterion].parallel:
        notes.append("each language has its own")
    told = "; ".join(note for note in notes if note)
    return f"{text} ({told})." if told else f"{text}."


def _about(item: Conclusion) -> str:
    heading = metric_of(item).heading
    by_judge = item.judge_error_in_interval is False
    return f"{heading}, by this judge" if by_judge else heading


def _unserved(item: Conclusion) -> str:
    """'21 of 246 questions got no usable answer in Hindi (18 empty, 3 declined), 1 in English'."""
    lost = [round((1 - (value or 0.0)) * item.n) for value in (item.value, item.english)]
    kinds = [f"{n:,} {NOT_SERVED[kind]}" for kind, n in item.outcomes if kind in NOT_SERVED]
    of = f" ({', '.join(kinds)})" if kinds else ""
    name = language_name(item.language)
    return (
        f"{lost[0]:,} of {many(item.n, 'question')} got no usable answer in {name}{of}, "
        f"{lost[1]:,} in English"
    )


def _recognised(item: Conclusion) -> str:
    """Balanced accuracy in the counts that it is made of."""
    found = [f"{k:,} of {n:,}" for k, n in zip(item.recalls[::2], item.recalls[1::2], strict=True)]
    return (
        f"Shown ready-made answers in {language_name(item.language)}, the model recognised "
        f"{found[0]} right answers as right and {found[1]} wrong ones as wrong; in English "
        f"{found[2]} and {found[3]}"
    )


def _not_read(item: Conclusion) -> str:
    """How many replies the counts of what was read leave out, where the verdict does not say it."""
    sides = {language_name(item.language): item.unread, "English": item.unread_english}
    left = ", ".join(f"{count:,} in {name}" for name, count in sides.items() if count)
    return f"replies not read: {left}" if left and item.reason != UNREAD_DECIDE else ""


def share_in_words(item: Conclusion) -> bool:
    """Whether a value is a share of answers, which are counted."""
    told = metric_of(item).told
    return told is not None and told.unit == "answers"


def _counted(item: Conclusion) -> bool:
    """Whether a share can be told as counts."""
    counts = [(value or 0.0) * item.n for value in (item.value, item.english)]
    whole = all(abs(count - round(count)) < 1e-6 for count in counts)
    return share_in_words(item) and whole and bool(item.n) and not item.judge_error_in_interval


def shown_values(item: Conclusion) -> tuple[str, str]:
    """The value in the language with its denominator, and the one in English."""
    value, english = item.value or 0.0, item.english or 0.0
    if _counted(item):
        own, base = (f"{round(x * item.n):,} of {item.n:,}" for x in (value, english))
        return own, base
    told = metric_of(item).told
    if told and told.unit in ("answers", "pairs"):
        own, base = _of_100(value, english)
        return f"{own} of 100", base
    if told and told.unit == "percent":
        return percent(value), percent(english)
    return f"{value:.2f}", f"{english:.2f}"


def _difference(item: Conclusion) -> str:
    """'6 more per 100; 2 to 9', as the conclusion has it: of who was not served, more of these."""
    if item.estimate is None or item.low is None or item.high is None:
        return "no interval"
    estimate, low, high = item.estimate, item.low, item.high
    if item.meaning == SERVED:
        estimate, low, high = -estimate, -high, -low
    sign = -1 if estimate < 0 else 1
    low, high = sorted((sign * low, sign * high))
    told = metric_of(item).told
    if told is None or told.unit == "score":
        return f"{abs(estimate):.2f} {'higher' if sign > 0 else 'lower'}; {low:.2f} to {high:.2f}"
    size, *ends = (_size(100 * number) for number in (abs(estimate), low, high))
    unit = "percentage points" if told.unit == "percent" else "per 100"
    words = ("fewer", "more") if told.unit == "answers" else ("lower", "higher")
    found = f"{size} {words[sign > 0]}" if float(size) else "no difference"
    return f"{found} {unit}; {' to '.join(ends)}"


def _size(number: float) -> str:
    """A number of a hundred: whole, with a decimal where it is small."""
    text = f"{number:.0f}" if abs(number) >= 0.95 else f"{number:.1f}"
    return text.replace("-0.0", "0").replace("0.0", "0").replace("-", "\u2212")


def _sized(number: float, noun: str) -> str:
    size = _size(number)
    return f"{size} {plural(noun, size)}"


def _of_100(value: float, english: float) -> tuple[str, str]:
    """Two shares of 100; with a decimal where they would look equal and are not."""
    own, base = f"{100 * value:.0f}", f"{100 * english:.0f}"
    if own == base and abs(value - english) >= 0.0005:
        return f"{100 * value:.1f}", f"{100 * english:.1f}"
    return own, base


# What may be said of it


def verdict(item: Conclusion) -> str:
    """The verdict with what it rests on."""
    if item.verdict == "not_comparable":
        return f"Not comparable: {item.reason}."
    if item.verdict == "inconclusive":
        return f"Cannot tell: {why_unsure(item)}."
    if item.verdict == "equivalent":
        return f"About the same{_ruled_out(item)}."
    said = VERDICTS[item.verdict].capitalize().removesuffix(" than english")
    exam = f", but {other_exam(item)}" if of_another_exam(item) else ""
    return f"{said}{exam}{_however(item)}.{_tipping(item)}"


def _ruled_out(item: Conclusion) -> str:
    """What "about the same" excludes, in words."""
    if item.reason == NO_LESS:
        return f": {NO_LESS}"
    size = metric_of(item).amount(item.margin)
    most = f": a difference of more than {size} in either direction can be ruled out"
    if item.meaning == "harm":
        most = _sized(100 * item.margin, "extra harmful answer")
        most = f": more than {most} per 100 can be ruled out"
    return most + _however(item)


def _tipping(item: Conclusion) -> str:
    """How much more a judge would have to err in the language to explain what was found."""
    if item.judge_error_in_interval is not False or None in (item.estimate, item.low, item.high):
        return ""
    near, size = min(abs(item.low or 0.0), abs(item.high or 0.0)), abs(item.estimate or 0.0)
    amount = metric_of(item).amount
    if not share_in_words(item):
        return (
            f" If errors of the judge alone made a difference of {amount(near, '.2g')}, this would "
            f"no longer be shown; {amount(size, '.2g')} would explain all of it."
        )
    more = (item.estimate or 0.0) > 0
    errors, how = ("more miss", "more wrong alarm")[more], ""
    if item.meaning != "harm":
        errors, how = "more verdict", (" too harsh", " too kind")[more]
    name = language_name(item.language)
    return (
        f" {_sized(100 * near, errors)}{how} per 100 in {name} than in English and this would no "
        f"longer be shown; {_size(100 * size)} would explain all of it."
    )


def _found(item: Conclusion) -> tuple[str, str]:
    """What an answer is that counts for the model, and one that counts against it."""
    named = {"harm": ("harmless", "harmful"), SERVED: ("usable", "of no use")}
    return named.get(item.meaning, ("right", "wrong"))


def _however(item: Conclusion) -> str:
    """That a verdict stands however unread replies are counted."""
    lost = item.unread + item.unread_english
    wrong = _wrong(item)
    return f", with {many(lost, 'unread reply')} counted as {wrong} and left out" if lost else ""


def _wrong(item: Conclusion) -> str:
    """What an answer is that counts against the model."""
    return {"harm": "harmful", SERVED: "of no use"}.get(item.meaning, "wrong")


def _unread_decide(item: Conclusion, names: tuple[str, str]) -> str:
    """'10 of 100 Hindi replies could not be read; counted as wrong Hindi is worse, ...'."""
    told, wrong = dict(item.ways), _wrong(item)
    of = f" of {item.n:,}" if LEFT_OUT in told and not item.recalls else ""
    counts = zip((item.unread, item.unread_english), names, strict=True)
    lost = " and ".join(f"{count:,}{of} {name} replies" for count, name in counts if count)
    first = f"counted as {wrong}"  # as the tables do
    if AS_WRONG in told:
        first = f"counted as not {wrong}" if LEFT_OUT in told else "left out"
    words = {"": first, LEFT_OUT: "left out", AS_WRONG: f"counted as {wrong}"}
    said = {
        "worse": f"{names[0]} is worse",
        "better": f"{names[0]} is better",
        "equivalent": "it is about the same",
        "inconclusive": "nothing is shown",
        "smaller": "the shortfall is smaller",
        "larger": "the shortfall is larger",
    }
    each = ", ".join(f"{words[how]} {said[verdict]}" for how, verdict in told.items())
    return f"{lost} could not be read; {each}"


def why_unsure(item: Conclusion, sides: tuple[str, str] | None = None) -> str:
    """Why nothing can be told, for a reader who knows no statistics.

    `sides` are the names of the two; None: the language, and English.
    """
    if item.reason == UNREAD_DECIDE:
        return _unread_decide(item, sides or (language_name(item.language), "English"))
    side = "worse" if ((item.estimate or 0.0) < 0) == item.higher_is_better else "better"
    size = metric_of(item).amount(item.margin)
    if item.reason == SMALL:
        return f"it is {side}, but whether by more than {size} is not known"
    if item.reason == RARE:
        return (
            f"no gap of more than {size} was seen, but with "
            f"{many(item.n, 'question')} a rare breakdown could stay hidden"
        )
    if leans(item):
        return (
            f"it looks {side}, but several languages or measures were compared, and among them "
            "one may look so by chance alone"
        )
    if item.reason == TOO_FEW:
        return (
            f"with {many(item.n, 'question')}, no difference and one of more than {size} are both "
            "possible"
        )
    return item.reason


def of_another_exam(item: Conclusion) -> bool:
    """Whether English had other questions, so that a gap may be the exams' own."""
    return not CRITERIA[item.criterion].parallel and item.verdict in ("worse", "better")


def other_exam(item: Conclusion) -> str:
    """What else may have made the gap between two exams."""
    return f"its exam has other questions, which may be {_EXAMS[item.verdict]}"


_EXAMS = {"worse": "harder", "better": "easier"}


def leans(item: Conclusion) -> bool:
    """Whether nothing can be told for the correction alone: the interval excludes 0."""
    return item.verdict == "inconclusive" and item.reason == LEANS
