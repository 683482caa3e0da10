"""Files as strangers bring them: what is not what its column says is seen, and nothing else is."""

from __future__ import annotations

import json

import pytest
from tests_of_own import write_csv, write_table

from xling_tasks.cli import main
from xling_tasks.data.sources import SAMPLE_FOLDER

PROMPTS = [
    json.loads(line)
    for line in (SAMPLE_FOLDER / "information_prompts.jsonl").read_text("utf-8").split("\n")
    if line
]
CODES = ("en", "ar", "bn", "el", "es", "fa", "fr", "he", "hi", "ja", "ko", "ru", "ta", "th", "zh")
LOOP = "दर्द दवा दर्द पानी " * 222


def said(path, capsys, *more):
    """Status, errors, what to look at, and the whole text."""
    status = main(["data", "check", str(path), "--json", *more])
    told = json.loads(capsys.readouterr().out)
    assert main(["data", "check", str(path), *more]) == status
    return status, told["errors"], "\n".join(told["look"]), capsys.readouterr().out


def wide(codes=CODES, n=6, **changed):
    """Prompts as questions; `changed` is column -> (row -> text), or a text for all rows."""
    rows = [{"id": f"q{i}"} | {f"question_{x}": PROMPTS[i][x] for x in codes} for i in range(n)]
    for column, texts in changed.items():
        for i, row in enumerate(rows):
            row[column] = texts if isinstance(texts, str) else texts.get(i, row.get(column, ""))
    return rows


def test_of_good_texts_in_fifteen_scripts_nothing_is_odd(tmp_path, capsys):
    status, errors, look, shown = said(write_csv(tmp_path / "f.csv", wide(n=20)), capsys)
    assert (status, errors, look) == (0, [], "") and "Nothing is odd." in shown
    assert "| Arabic   | questions | 20    | Arab   | Arabic   |" in shown


def texts_in(code, first=0, n=6):
    """Row -> the prompt in a language."""
    return {i: PROMPTS[i][code] for i in range(first, first + n)}


def joined(code, first, last):
    """Many prompts as the first row's text."""
    return {0: " ".join(texts_in(code, first, last - first).values())}


ENGLISH, ONE = texts_in("en"), texts_in("en", 2, 1)
SHORT = """Is it safe to drink? | What is a fever? | Why does it hurt? | How can I sleep well? |
Should I see a doctor? | Which food is healthy?"""
KINDS = {
    "English in the Arabic column": ({"question_ar": ENGLISH}, "stated as Arabic are written in Latin"),
    "one English text in Hindi": ({"question_hi": ONE}, "stated as Hindi are written in Latin letters: question q2"),
    "one English text in Thai": ({"question_th": ONE}, "stated as Thai are written in Latin"),
    "Russian in the Hebrew column": ({"question_he": texts_in("ru")}, "Hebrew are written in Cyrillic"),
    "Russian in the Greek column": ({"question_el": texts_in("ru")}, "Greek are written in Cyrillic"),
    "English in the Spanish column": ({"question_es": ENGLISH}, "stated as Spanish look like English"),
    "French in the Spanish column": ({"question_es": texts_in("fr")}, "Spanish look like French"),
    "Persian in the Arabic column": ({"question_ar": texts_in("fa")}, "Arabic look like Persian"),
    "Chinese in the Japanese column": ({"question_ja": texts_in("zh")}, "Japanese look like Chinese"),
    "Korean in the Chinese column": ({"question_zh": texts_in("ko")}, "Chinese are written in Hangul"),
    "Tamil in Bengali": ({"question_bn": texts_in("ta")}, "Bengali are written in Tamil"),
    "short English in Spanish": ({"question_es": dict(enumerate(map(str.strip, SHORT.split("|"))))}, "Spanish look like English"),
    "ok?": ({"question_en": {3: "ok?"}}, "questions stated as English of a single short word: question q3"),
    "a word of Chinese": ({"question_zh": {1: "痛"}}, "Chinese of a single short word: question q1"),
    "a translation of one word": ({"question_ru": {1: "Боль?"}}, "Russian are far longer or shorter"),
    "42 words as 888": ({"question_hi": {0: LOOP}}, "Hindi repeat themselves"),
    "a loop in English": ({"question_en": {0: "pain and fever " * 30}}, "English repeat themselves"),
    "a loop in Thai": ({"question_th": {0: "ปวดหัวมาก" * 40}}, "Thai repeat themselves"),
    "a translation that is ten times as long": (
        {"question_fr": joined("fr", 20, 60)},
        "French are far longer or shorter than their English would make them: question q0"),
    "half of it lost": (
        {"question_en": joined("en", 20, 30)},
        "questions whose English is far longer or shorter than most other languages"),
    "a refusal": (
        {"question_es": {0: "I'm sorry, but I cannot translate this text."}},
        "Spanish decline to translate: question q0"),
    "a stand-in": ({"question_ar": {0: "N/A"}}, "stand-in such as 'N/A'"),
    "the English text again": ({"question_fr": {0: PROMPTS[0]["en"]}}, "same question in English and French"),
    "decoded wrongly": ({"question_fr": {0: "DouleurÃ© Ã la tÃªte depuis hier"}}, "decoded wrongly"),
    "a formula": ({"question_en": {0: "=A1&B1"}}, "is it a formula?"),
}  # fmt: skip


FORMS = ("csv", "rubric", "xlsx", "jsonl")


@pytest.mark.parametrize(("form", "kind"), [(FORMS[n % 4], kind) for n, kind in enumerate(KINDS)])
def test_what_is_not_what_its_column_says_is_named(kind, form, tmp_path, capsys):
    changed, expected = KINDS[kind]
    path = written(tmp_path, form, wide(**changed))
    _, errors, look, _ = said(path, capsys)
    assert expected in look and not errors, look
    others = [line for line in look.split("\n") if "stated as" in line]
    assert len(others) <= 3, look


def written(folder, form, rows):
    """The same texts in one of the forms that are read."""
    if form != "rubric":
        return write_table(folder / f"f.{form}", rows)
    criteria = [{"criterion": "Advises rest", "points": 5, "tags": []}]
    rows = [
        {"prompt_id": row["id"], "rubrics": criteria,
         "prompt": [{"role": "user", "content": row["question_en"],
                     **{f"content_{code}": row[f"question_{code}"] for code in CODES[1:]}}]}
        for row in rows
    ]  # fmt: skip
    return write_table(folder / "f.jsonl", rows)


def choices(n=4, **more):
    return [
        {"id": f"c{i}", "question_en": f"Which vitamin is lacking in disease number {i}?",
         "question_es": f"¿Qué vitamina falta en la enfermedad número {i}?", "correct": "A",
         **{f"option_{x}_{code}": f"vitamin {x}" for x in "abc" for code in ("en", "es")}, **more}
        for i in range(n)
    ]  # fmt: skip


def test_the_next_step_fits_the_file(tmp_path, capsys):
    path = write_csv(tmp_path / "of options.csv", choices())
    shown = said(path, capsys)[3]
    assert f"Next: lm_eval --model ... --tasks xling_own_mcqa --metadata 'data_dir={path}'" in shown
    assert "xling_own_consistency --metadata" not in shown
    path = write_csv(
        tmp_path / "g.csv", wide(("en", "es"), answer_en=ENGLISH, answer_es=texts_in("es"))
    )
    shown = said(path, capsys)[3]
    line = next(line for line in shown.split("\n") if line.startswith("Next:"))
    assert "--tasks xling_own_correctness" in line and '"judge": {' in line
    assert "or: lm_eval --model ... --tasks xling_own_verifiability --metadata data_dir=" in shown
    shown = said(write_csv(tmp_path / "h.csv", wide(("en", "es"))), capsys)[3]
    assert "Next: lm_eval --model ... --tasks xling_own_consistency" in shown
    shown = said(written(tmp_path, "rubric", wide()), capsys)[3]
    assert "Next: lm_eval --model ... --tasks xling_own_rubric" in shown and '"judge": {' in shown


@pytest.mark.parametrize("broken", [
    {"answer_es": "#N/A"}, {"id": ""}, {"id": "q1"}, {"question_qq": "x"}, {"correct": "Z"},
])  # fmt: skip
def test_after_a_refusal_no_run_is_proposed(broken, tmp_path, capsys):
    rows = wide(("en", "es"), answer_en="Rest.", answer_es="Reposo.", correct="")
    for row in rows:
        row |= dict.fromkeys(broken, row.get(next(iter(broken)), ""))
    rows[3] |= broken
    path = write_csv(tmp_path / "f.csv", rows)
    status, errors, _, shown = said(path, capsys)
    assert status == 1 and errors and "lm_eval" not in shown
    assert f"Next: mend what the tasks refuse, then: xling data check {path}" in shown


def test_names_in_another_script_are_no_oddity_among_options(tmp_path, capsys):
    rows = choices(question_hi="विटामिन की कमी से कौन-सा रोग होता है और क्यों?",
                   option_a_hi="TSH", option_b_hi="विटामिन बी", option_c_hi="विटामिन सी")  # fmt: skip
    for i, row in enumerate(rows):
        row["question_hi"] += f" {i}"
    look = said(write_csv(tmp_path / "f.csv", rows), capsys)[2]
    assert "Hindi" not in look


def test_a_language_that_no_identifier_knows_is_said_to_be_not_english_at_most(tmp_path, capsys):
    tsonga = (
        "Xana sweswi ku ni ti-polyomavirus tingani ta vanhu leti tiviwaka laha misaveni hinkwayo?"
    )
    rows = wide(("en",), question_ts=tsonga)
    shown = said(write_csv(tmp_path / "f.csv", rows), capsys)[3]
    assert "not English" in shown and "stated as Tsonga" not in shown
    rows = wide(("en",), question_ts=ENGLISH)
    look = said(write_csv(tmp_path / "g.csv", rows), capsys)[2]
    assert "stated as Tsonga look like English" in look
