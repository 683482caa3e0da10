"""What is odd in users' own data though it can be read, and which task can use how much of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from xling_metrics.answer_language import classify_answer_language, describe_unchecked
from xling_metrics.languages import SCRIPTS, find_language, letter_pattern
from xling_metrics.tokenization import LETTER

from xling_tasks.data.choices import normalize_option
from xling_tasks.data.custom.dataset import (
    CONVERSATIONS,
    CustomDataset,
    invalid_choices,
    missing_part,
)
from xling_tasks.data.custom.documents import CustomDocuments
from xling_tasks.output import many

KINDS = {"question": "questions", "answer": "answers", "wrong_answer": "wrong answers",
         "option": "options"}  # fmt: skip
"""Kinds of text as they begin in a question -> what they are called."""

_MIN_REPEATS = 3  # rows of one language with one text, though their English differs


def find_oddities(dataset: CustomDataset) -> Iterator[str]:
    """Yield a line for each odd thing."""
    yield from dataset.notes
    if "en" not in dataset.languages:
        yield (
            "no English: there is nothing to compare with; add question_en, or with conversations "
            "put the English file into one folder with this one and give the folder as data_dir"
        )
    elif len(dataset.languages) == 1:
        yield "English alone: there is nothing to compare it with; add another language"
    for code in dataset.languages:
        yield from _find_missing(dataset, code)
        yield from _find_odd_texts(dataset, code)
    without = [q.id for q in dataset.questions if q.letters and not q.correct]
    if without:
        yield f"options, but no letter in 'correct': {list_questions(without)}"
    for question in dataset.questions if _has_rubrics(dataset) else ():
        location = f"{question.location}: {question.id}"
        if not question.texts:
            yield f"{location} has no language in which each turn has a text"
        if reason := missing_part(question, "", ("rubric",)):
            yield f"{location}: {reason}"


def _has_rubrics(dataset: CustomDataset) -> bool:
    return any(question.rubric for question in dataset.questions)


def _find_missing(dataset: CustomDataset, code: str) -> Iterator[str]:
    """Yield what a language lacks."""
    name = dataset.languages[code].name
    if unseen := describe_unchecked(code):
        yield f"{name}: langid does not know it as it is written here, so {unseen}"
    present = [question for question in dataset.questions if question.has_question(code)]
    if not present:
        yield f"{name}: its column of questions is empty"
    elif "en" in dataset.languages and not any(q.has_question("en") for q in present):
        yield (
            f"no question is in both English and {name}, so nothing can be compared; the same "
            "question has the same id in every language"
        )
    missing = [question.id for question in dataset.questions if not question.has_question(code)]
    if present and missing:
        yield f"no question in {name}: {list_questions(missing)}"
    without_answer = [q.id for q in present if "answer" not in q.texts_in(code)]
    if without_answer and any("answer" in t for q in dataset.questions for t in q.texts.values()):
        yield f"no answer in {name}: {list_questions(without_answer)}"
    options = {q.id: [*map(normalize_option, q.options(code).values())] for q in dataset.questions}
    unfair = invalid_choices(dataset)
    if alike := [key for key, texts in options.items() if len({*texts}) < len(texts)]:
        n_unfair = sum(key in unfair for key in alike)
        left_out = f"; {n_unfair} of them, where one is right, are scored in no language"
        yield (
            f"two options read alike in {name}: {list_questions(alike)}{left_out * bool(n_unfair)}"
        )
    if fewer := [q.id for q in dataset.questions if 0 < len(options[q.id]) < len(q.letters)]:
        yield (
            f"fewer options in {name} than in another language: {list_questions(fewer)}; guessing "
            "would be easier there, so it is not asked in it"
        )


def _find_odd_texts(dataset: CustomDataset, code: str) -> Iterator[str]:
    """Yield texts of several questions, and texts in another script or in English."""
    name = dataset.languages[code].name
    english = texts_by_kind(dataset, "en")
    for kind, texts in texts_by_kind(dataset, code).items():
        ids: dict[str, list[str]] = {}
        for key, text in texts.items() if kind in ("question", "answer") else ():
            ids.setdefault(text, []).append(key)
        for text, keys in ids.items():
            distinct = {english.get(kind, {}).get(key, key) for key in keys}
            n_distinct = len(keys) if code == "en" and kind == "question" else len(distinct)
            if min(len(keys), n_distinct) >= _MIN_REPEATS:
                yield f"one {kind} in {name} stands in {list_questions(keys)}: {text!r:.60}"
        scripts = {key: foreign_script(text, code) for key, text in texts.items()}
        foreign = {key: script for key, script in scripts.items() if script}
        # Names of drugs, tests and units are options in any script.
        if foreign and (kind != "option" or 2 * len(foreign) > len(texts)):
            script = Counter(foreign.values()).most_common(1)[0][0]
            subject = f"{KINDS[kind]} in {name} are mostly in {script} letters"
            yield f"{subject}: {list_questions([*foreign])}"
        if code != "en" and kind in ("question", "answer"):
            labels = classify_answer_language([*texts.values()], code)
            keys = [key for key, label in zip(texts, labels, strict=True) if label.language == "en"]
            if keys:
                yield f"{KINDS[kind]} in {name} are in English: {list_questions(keys)}"


def texts_by_kind(dataset: CustomDataset, code: str) -> dict[str, dict[str, str]]:
    """Return kind (of `KINDS`) -> question -> its texts of that kind in a language, as one text."""
    texts: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        for question in dataset.questions:
            of_kind = [
                text for key, text in question.texts_in(code).items()
                if key == kind or key.startswith(f"{kind}_")
            ]  # fmt: skip
            if of_kind:
                texts.setdefault(kind, {})[question.id] = " ".join(of_kind)
    return texts


def foreign_script(text: str, language: str) -> str:
    """Return the script that most letters of a text are in; empty if it is the language's."""
    row, letters = find_language(language), LETTER.findall(text)
    usual = row.unicode_scripts if row else ()
    if not usual or 2 * len(letter_pattern(usual).findall(text)) >= len(letters):
        return ""
    names = dict.fromkeys(name for scripts in SCRIPTS.values() for name in scripts)
    counts = {name: len(letter_pattern((name,)).findall(text)) for name in names}
    frequent = max(counts, key=lambda name: counts[name])
    return frequent.replace("_", " ") if counts[frequent] else "other"


def count_usable(dataset: CustomDataset) -> dict[str, dict[str, int]]:
    """Return task -> language -> questions that it can use."""
    is_table = dataset.shape != CONVERSATIONS
    kinds = ["correctness", "consistency", "verifiability", "mcqa"] if is_table else []
    usable = {}
    for kind in kinds + ["rubric"] * _has_rubrics(dataset):
        documents = CustomDocuments(kind, dataset)
        usable[f"xling_custom_{kind}"] = {
            code: sum(not documents.lack(question, code) for question in dataset.questions)
            for code in dataset.languages
        }
    if is_table:  # asked in English and in another language
        pairs = [
            question for question in dataset.questions
            if question.has_question("en") and sum(map(question.has_question, question.texts)) > 1
        ]  # fmt: skip
        usable["xling_custom_information"] = {
            code: sum(question.has_question(code) for question in pairs)
            for code in dataset.languages
        }
    return usable


def list_questions(ids: Sequence[str], maximum: int = 12) -> str:
    """Return questions in words."""
    remaining = f" and {len(ids) - maximum} more" if len(ids) > maximum else ""
    text = ", ".join(ids[:maximum]) + remaining
    return f"question {text}" if len(ids) == 1 else f"{many(len(ids), 'question')} ({text})"


def count_texts(dataset: CustomDataset) -> list[Mapping[str, object]]:
    """Return a row per language with its number of texts of each kind."""
    texts = {code: texts_by_kind(dataset, code) for code in dataset.languages}
    return [
        {"language": language.name, "code": code, "script": language.script}
        | {title: len(texts[code].get(kind, ())) for kind, title in KINDS.items()}
        for code, language in dataset.languages.items()
    ]
