"""What is odd in users' own data though it can be read, and which task can use how much of it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from xling_metrics.answer_language import describe_unchecked
from xling_metrics.languages import SCRIPTS, find_language, letter_pattern
from xling_metrics.tokenization import LETTER

from xling_tasks.data.choices import normalize_option
from xling_tasks.data.custom.dataset import CONVERSATIONS, CustomDataset, missing_part
from xling_tasks.data.custom.documents import CustomDocuments
from xling_tasks.data.custom.questions import Question
from xling_tasks.output import many

KINDS = {"question": "questions", "answer": "answers", "wrong_answer": "wrong answers",
         "option": "options"}  # fmt: skip
"""Kinds of text as they begin in a question -> what they are called."""

_MIN_REPEATS = 3  # rows of one language with one text, though their English differs


def find_oddities(dataset: CustomDataset) -> Iterator[str]:
    """Yield a line for each odd thing."""
    yield from dataset.notes
    if dataset.unused:
        yield f"columns that are not used: {', '.join(dataset.unused)}"
    yield from _find_lone_languages(dataset)
    for code, language in dataset.languages.items():
        if unseen := describe_unchecked(code):
            yield f"{language.name}: langid does not know it as it is written here, so {unseen}"
        yield from _find_missing(dataset, code)
        yield from _find_odd_options(dataset, code)
        yield from _find_repeats(dataset, code)
        yield from _find_other_scripts(dataset, code)
    for ids in find_alike_ids(dataset.questions):
        yield f"ids {' and '.join(map(repr, ids))} are two questions; write one id in one way"
    yield from _find_odd_rubrics(dataset)


def _find_lone_languages(dataset: CustomDataset) -> Iterator[str]:
    if "en" not in dataset.languages:
        advice = (
            "put the English file into one folder with this one and give the folder as data_dir: "
            "rows with one prompt_id are one conversation"
            if dataset.shape == CONVERSATIONS
            else "gaps and verdicts need question_en"
        )
        yield f"no English: there is nothing to compare with; {advice}"
        return
    if len(dataset.languages) == 1:
        yield "English alone: there is nothing to compare it with; add another language"
    for code, language in dataset.languages.items():
        questions = [question for question in dataset.questions if question.has_question(code)]
        if questions and not any(question.has_question("en") for question in questions):
            yield (
                f"no question is in both English and {language.name}, so nothing can be compared; "
                "the same question has the same id in every language"
            )


def _find_missing(dataset: CustomDataset, code: str) -> Iterator[str]:
    name = dataset.languages[code].name
    questions = [question for question in dataset.questions if question.has_question(code)]
    if not questions:
        yield f"{name}: its column of questions is empty"
    elif len(questions) < len(dataset.questions):
        missing = [question.id for question in dataset.questions if not question.has_question(code)]
        yield f"no question in {name}: {list_questions(missing)}"
    without_answer = [
        question.id for question in questions if "answer" not in question.texts_in(code)
    ]
    has_answers = any(
        "answer" in texts for question in dataset.questions for texts in question.texts.values()
    )
    if without_answer and has_answers:
        yield f"no answer in {name}: {list_questions(without_answer)}"


def _find_odd_options(dataset: CustomDataset, code: str) -> Iterator[str]:
    alike, fewer = [], []
    for question in dataset.questions:
        texts = [*map(normalize_option, question.options(code).values())]
        alike += [question.id] if len({*texts}) < len(texts) else []
        fewer += [question.id] if 0 < len(texts) < len(question.letters) else []
    name = dataset.languages[code].name
    if alike:
        yield f"two options read alike in {name}: {list_questions(alike)}"
    if fewer:
        yield (
            f"fewer options in {name} than in another language: {list_questions(fewer)}; guessing "
            "would be easier there, so it is not asked in it"
        )


def _find_repeats(dataset: CustomDataset, code: str) -> Iterator[str]:
    """Yield texts of several questions, which are different ones in English."""
    for kind in ("question", "answer"):
        ids: dict[str, list[Question]] = {}
        for question in dataset.questions:
            if text := question.texts_in(code).get(kind):
                ids.setdefault(text, []).append(question)
        for text, questions in ids.items():
            english = {each.texts_in("en").get(kind, each.id) for each in questions}
            distinct = len(questions) if code == "en" and kind == "question" else len(english)
            if min(len(questions), distinct) >= _MIN_REPEATS:
                yield (
                    f"one {kind} in {dataset.languages[code].name} stands in "
                    f"{list_questions([each.id for each in questions])}: {text!r:.60}"
                )


def _find_other_scripts(dataset: CustomDataset, code: str) -> Iterator[str]:
    for kind, texts in texts_by_kind(dataset, code).items():
        scripts = {key: foreign_script(text, code) for key, text in texts.items()}
        scripts_by_key = {key: script for key, script in scripts.items() if script}
        # Names of drugs, tests and units are options in any script.
        if scripts_by_key and (kind != "option" or 2 * len(scripts_by_key) > len(texts)):
            script = Counter(scripts_by_key.values()).most_common(1)[0][0]
            yield (
                f"{KINDS[kind]} in {dataset.languages[code].name} are mostly in {script} letters: "
                f"{list_questions([*scripts_by_key])}"
            )


def texts_by_kind(dataset: CustomDataset, code: str) -> dict[str, dict[str, str]]:
    """Return kind (of `KINDS`) -> question -> its texts of that kind in a language, as one text."""
    texts: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        for question in dataset.questions:
            found = question.texts_in(code).items()
            texts_of_kind = [
                text for key, text in found if key == kind or key.startswith(f"{kind}_")
            ]
            if texts_of_kind:
                texts.setdefault(kind, {})[question.id] = " ".join(texts_of_kind)
    return texts


def foreign_script(text: str, language: str) -> str:
    """Return the script that most letters of a text are in; empty if it is the language's."""
    row, letters = find_language(language), LETTER.findall(text)
    own = row.unicode_scripts if row else ()
    if not own or 2 * len(letter_pattern(own).findall(text)) >= len(letters):
        return ""
    names = dict.fromkeys(name for scripts in SCRIPTS.values() for name in scripts)
    counts = {name: len(letter_pattern((name,)).findall(text)) for name in names}
    frequent = max(counts, key=lambda name: counts[name])
    return frequent.replace("_", " ") if counts[frequent] else "other"


def find_alike_ids(questions: Sequence[Question]) -> list[tuple[str, ...]]:
    """Return ids that differ in case or leading zeros alone."""
    groups: dict[str, list[str]] = {}
    for question in questions:
        key = unicodedata.normalize("NFKC", question.id).casefold().lstrip("0")
        groups.setdefault(key, []).append(question.id)
    return [tuple(ids) for ids in groups.values() if len(ids) > 1]


def _find_odd_rubrics(dataset: CustomDataset) -> Iterator[str]:
    if not any(question.rubric for question in dataset.questions):
        return
    for question in dataset.questions:
        location = f"{question.location}: {question.id}"
        if not question.texts:
            yield f"{location} has no language in which each turn has a text"
        if reason := missing_part(question, "", ("rubric",)):
            yield f"{location}: {reason}"
        texts = [item.text for item in question.rubric]
        for text in dict.fromkeys(text for text in texts if texts.count(text) > 1):
            yield f"{location} has a criterion twice: {text!r:.60}"


def count_usable(dataset: CustomDataset) -> dict[str, dict[str, int]]:
    """Return task -> language -> questions that it can use."""
    is_table = dataset.shape != CONVERSATIONS
    kinds = ("correctness", "consistency", "verifiability", "mcqa") if is_table else ()
    has_rubrics = any(question.rubric for question in dataset.questions)
    usable = {
        f"xling_custom_{kind}": {
            code: sum(
                not CustomDocuments(kind, dataset).lack(each, code) for each in dataset.questions
            )
            for code in dataset.languages
        }
        for kind in (*kinds, *(("rubric",) if has_rubrics else ()))
    }
    if is_table:  # asked in English and in another language
        pairs = [
            each for each in dataset.questions if each.has_question("en") and len(each.texts) > 1
        ]
        usable["xling_custom_information"] = {
            code: sum(each.has_question(code) for each in pairs) for code in dataset.languages
        }
    return usable


def list_questions(ids: Sequence[str], maximum: int = 12) -> str:
    """Return questions in words."""
    text = ", ".join(ids[:maximum]) + (
        f" and {len(ids) - maximum} more" if len(ids) > maximum else ""
    )
    return f"question {text}" if len(ids) == 1 else f"{many(len(ids), 'question')} ({text})"


def count_texts(dataset: CustomDataset) -> list[dict[str, object]]:
    """Return a row per language with its number of texts of each kind."""
    return [
        {"language": language.name, "code": code, "script": language.script}
        | {title: len(texts_by_kind(dataset, code).get(kind, ())) for kind, title in KINDS.items()}
        for code, language in dataset.languages.items()
    ]
