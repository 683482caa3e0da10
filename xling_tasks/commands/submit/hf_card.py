"""The section of a model card that `xling submit hf` writes: Markdown between two markers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from xling_tasks.commands.submit.hf_parts import ALL, HubTask, Score, Submission
from xling_tasks.criteria import CRITERIA
from xling_tasks.errors import DataError
from xling_tasks.logs.results import as_json
from xling_tasks.markdown import markdown_table
from xling_tasks.secrets import publishable, redact_text, without_hosts

BEGIN = "<!-- xling-tasks:begin -->"
END = "<!-- xling-tasks:end -->"
HEADING = "## Health questions across languages (xling-tasks)"

_INTRODUCTION = """\
How differently the model answers questions about health in several languages, measured with the
xling-tasks plugin of lm-evaluation-harness.

**What these numbers are not.** They are no evidence that the model is fit for clinical use or for
advice to patients, in any language: the labels come from automatic judges and metrics, nobody with
medical training has checked these answers, and neither safety nor harm is measured. A small gap
between languages does not mean that the answers are good in either."""
_GAP = """\
*Gap*: a language's value less the English one, each over its own usable rows. Metrics on the words
of the language itself (`_src`, ROUGE, BERTScore of rationales) have none, nor has multiple choice,
whose questions and number of options differ. A gap alone says nothing about chance: the conclusions
above tell which gaps are likely real."""
_JUDGE = """\
*The judge's own error is in none of these numbers*: they are what the run measured. People's labels
(`xling annotate`) correct shares and gaps in `xling report --human`, not here."""
_SIGNATURE = 160

_FLOOR = (
    "English: what a second English answer shares with the first, from which the gaps are "
    "counted; undefined where none was asked."
)


def section(submission: Submission) -> str:
    """The section, markers included; what was covered comes before the scores."""
    groups = list(submission.groups().values())
    lines = [BEGIN, "", HEADING, ""]
    for text in submission.cautions:
        lines += [f"> **Caution:** {text}", ""]
    lines += [_INTRODUCTION, "", *_concluded(submission)]
    lines += ["### Coverage", "", *_coverage(submission), ""]
    lines += [*_undefined(submission), "### Scores", "", _GAP, ""]
    for group in groups:
        lines += [*_scores(group), ""]
    lines += ["### Settings and signatures", "", *_run(submission), ""]
    for group in groups:
        lines += [*_settings(group), ""]
    lines += ["Every score with its whole signature: `xling_results.json`.", "", END]
    return str(without_hosts(redact_text("\n".join(lines))))


def with_section(card: str, new: str) -> str:
    """A card with the section in place of an earlier one, or at its end.

    Raises:
        DataError: If the markers are there in another number than one each, in this order.
    """
    begins, ends = card.count(BEGIN), card.count(END)
    if begins == ends == 0:
        return f"{card.rstrip()}\n\n{new}\n" if card.strip() else f"{new}\n"
    start, stop = card.find(BEGIN), card.find(END)
    if (begins, ends) != (1, 1) or stop < start:
        raise DataError(
            f"the model card has {begins} times {BEGIN} and {ends} times {END}; leave one pair, "
            "in this order, or none"
        )
    return card[:start] + new + card[stop + len(END) :]


# Conclusions


def _concluded(submission: Submission) -> list[str]:
    """What may be said of each language, and what to know first."""
    words = submission.words
    lines: list[str] = []
    for heading, said in (("Conclusions", words.conclusions), ("What to know", words.flags)):
        if said:
            lines += [f"### {heading}", "", *(f"- {_plain(line)}" for line in said), ""]
    return lines


def _plain(line: str) -> str:
    """A line of a list, whatever names stand in it."""
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", " ".join(line.split()))


# Coverage


def _coverage(submission: Submission) -> list[str]:
    header = ["task", "language", "questions", "unusable rows", "rates"]
    rows = [row for part in submission.parts for row in _covered(part)]
    return [markdown_table(header, rows)]


def _covered(part: HubTask) -> Iterator[list[str]]:
    """A row per language."""
    counts = f"{part.count['effective']} of {part.count['original']}"
    missing = part.data.get("unusable_questions")
    for code in part.languages:
        unusable = part.data.get("unusable_rows", 0)
        if part.language is None:
            unusable = len(missing.get(code, ())) if isinstance(missing, dict) else 0
        rates = [f"{s.label} {number(s.value)}" for s in part.beside if s.language == code]
        yield [f"`{part.group}`", code, counts, str(unusable), "; ".join(rates) or "none"]


def _undefined(submission: Submission) -> list[str]:
    """What has no value, although it was measured: it is no zero."""
    undefined = [(part.task, names) for part in submission.parts if (names := part.undefined())]
    if not undefined:
        return []
    lines = ["Undefined, because nothing could be scored (not zero):", ""]
    lines += [
        f"- `{task}`: {', '.join(f'`{name}`' for name in names)}" for task, names in undefined
    ]
    return [*lines, ""]


# Scores


def _scores(group: Sequence[HubTask]) -> list[str]:
    """A table of a criterion: languages by metrics, with the gap to English beside each."""
    first = group[0]
    lines = [f"#### {first.criterion}, {first.data['dataset']} (`{first.group}`)", ""]
    if first.hub_dataset is None:
        lines += ["The questions lie in no dataset on the Hub.", ""]
    scores = {(s.language, s.label): s for part in group for s in part.main}
    if any(each.agreement for each in CRITERIA[first.about.criterion].endpoints):
        lines += [_FLOOR, ""]
    judged = any(each.judged for each in CRITERIA[first.about.criterion].endpoints)
    if scores and judged:
        lines += [_JUDGE, ""]
    if not scores:
        return [*lines, "No main metric: its judge, classifier or encoder was not set."]
    labels = list(dict.fromkeys(label for _, label in scores))
    codes = sorted({code for code, _ in scores}, key=lambda code: (code != ALL, code != "en", code))
    header, gaps = ["language"], _with_gap(first, scores, codes)
    for label in labels:
        header.append(f"{label}{_arrow(group, label)}")
        header += ["gap"] * (label in gaps)
    rows = (_row(scores, labels, gaps, code) for code in codes)
    return [*lines, markdown_table(header, rows)]


def _row(
    scores: dict[tuple[str, str], Score], labels: Sequence[str], gaps: Collection[str], code: str
) -> list[str]:
    cells = ["all (mean)" if code == ALL else code]
    for label in labels:
        score, english = scores.get((code, label)), scores.get(("en", label))
        cells.append("not measured" if score is None else number(score.value))
        if label in gaps:
            known = score is not None and english is not None and code not in ("en", ALL)
            cells.append(_gap(score, english) if known and score and english else "")
    return cells


def _gap(score: Score, english: Score) -> str:
    if score.value is None or english.value is None:
        return "undefined"
    return f"{score.value - english.value:+.4f}"


def _with_gap(
    part: HubTask, scores: dict[tuple[str, str], Score], codes: Sequence[str]
) -> set[str]:
    """The metrics whose values in two languages may be compared, and that English has too."""
    criterion = CRITERIA[part.about.criterion]
    labels = set()
    for label in {label for _, label in scores}:
        record = criterion.metrics.get(criterion.split(label).metric)
        alike = record is None or (record.across_languages and not record.chance)
        others = any((code, label) in scores for code in codes if code != "en")
        if alike and others and ("en", label) in scores:
            labels.add(label)
    return labels


def _arrow(group: Sequence[HubTask], label: str) -> str:
    """Which way is better."""
    for part in group:
        for score in part.main:
            better = part.directions.get(score.metric)
            if score.label == label and better is not None:
                return " ↑" if better else " ↓"
    return ""


# Settings


def _run(submission: Submission) -> list[str]:
    run, parts = submission.newest, submission.parts
    versions = sorted({part.lm_eval for part in parts})
    ours = sorted({str(part.xling["version"]) for part in parts})
    dates = sorted({part.date for part in parts})
    return [
        f"- Model: `{run.config.get('model')}` with `{as_json(publishable(run.model_args))}`",
        f"- lm-eval {', '.join(versions)}; xling-tasks {', '.join(ours)}",
        f"- Run: {', '.join(dates)}",
    ]


def _settings(group: Sequence[HubTask]) -> list[str]:
    part = group[0]
    keys = ("dataset", "prompt_language", *CRITERIA[part.about.criterion].settings, "sampling_seed")
    settings = {key: part.xling["settings"].get(key) for key in keys}
    content = part.run.content
    digests = {
        f"`{name}` in `{prompt['language']}`, digest `{prompt['digest']}`": None
        for item in group
        for name, prompt in item.xling["prompts"].items()
    }
    return [
        f"#### `{part.group}`",
        "",
        f"- Settings: `{as_json(publishable(settings))}`",
        f"- Prompts: {'; '.join(digests)}; examples in them: {part.config.get('num_fewshot') or 0}",
        f"- Chat template (sha256): {content.get('chat_template_sha') or 'none'}; "
        f"system instruction (sha256): {content.get('system_instruction_sha') or 'none'}",
        f"- Generation: `{as_json(publishable(part.xling['generation_kwargs']))}`",
        *dict.fromkeys(f"- Data: {data_line(item)}" for item in group),
        *_signatures(group),
    ]


def data_line(part: HubTask) -> str:
    """Which data a task read, in one line."""
    data = part.data
    where = data["name"] if part.revision is None else f"{data['name']} at {part.revision}"
    source = "" if data.get("kind") == "hub" else f" ({data.get('kind')}, not read from the Hub)"
    name = str(where).replace("\\", "/").rpartition("/")[2] if source else str(where)
    return f"{data['dataset']}, {name}{source}, sha256 {data['sha256'][:12]}, {data['licence']}"


def _signatures(group: Sequence[HubTask]) -> list[str]:
    """One per metric, of the first language that has it."""
    signatures: dict[str, str] = {}
    for part in group:
        for score in part.main:
            signatures.setdefault(score.label, short(part.xling["signatures"][score.metric]))
    return [f"- {label}: `{sign}`" for label, sign in signatures.items()]


def short(signature: str) -> str:
    """A signature without its language, cut where it is long."""
    text = re.sub(r"\|language:[^|]*", "", signature)
    return text if len(text) <= _SIGNATURE else f"{text[:_SIGNATURE]}…"


def number(value: float | None) -> str:
    """A value for a reader; never a number for one that is undefined."""
    return "undefined" if value is None else f"{value:.4f}"
