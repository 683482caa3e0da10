"""MMLU's clinical subjects in African languages: from the publisher's folder through the harness."""

from __future__ import annotations

import csv
import json

import pytest
from builders import evaluated, of_task, our_tasks
from fixed import Fixed

import xling_tasks
from xling_tasks.cli import main
from xling_tasks.data.mmlu_clinical import SUBJECTS, load
from xling_tasks.data.records import MMLU_CLINICAL
from xling_tasks.errors import DataError, SettingError

HUMAN = MMLU_CLINICAL["mmlu_clinical"]


def by_number(prompt):
    """Right in every language, but in Tsonga not where the question's number ends in 1 to 4."""
    number = int(prompt.rpartition("number ")[2].split("?")[0])
    return "B" if "Xitsonga" in prompt and number % 10 in (1, 2, 3, 4) else "A"


def reader(right=by_number):
    """A model that answers `right(prompt)`, in words and by likelihood."""

    def reply(prompt, how):
        asked_for_text = isinstance(how, dict)
        return right(prompt) if asked_for_text else (0.0 if right(prompt) in how else -5.0, True)

    return Fixed(reply)


def publish(folder, codes=("en", "ts", "zu"), kind="human", flawed=(5, 25), change=None,
            changed=("ts", "virology")):  # fmt: skip
    """The publisher's files, with made-up questions; in some, Tsonga has one word for two terms."""
    for code in codes:
        for subject, count in SUBJECTS.items():
            rows = []
            for n in range(count):
                word = {"en": "Which", "ts": "Xitsonga", "zu": "Yisiphi"}[code]
                options = [f"{letter} {n}" for letter in "wxyz"]
                if code == "ts" and subject == "virology" and n in flawed:
                    options[1] = options[0].upper() + " "
                rows.append([f"{word} number {n}?", *options, "A"])
            if change and (code, subject) == changed:
                change(rows)
            where = folder / ("human" if code == "en" else kind)
            where.mkdir(parents=True, exist_ok=True)
            ending = "" if code == "en" else f"_{code}"
            with (where / f"{subject}_test{ending}.csv").open("w", newline="") as file:
                csv.writer(file).writerows(rows)
    return folder


def reported(folder):
    """Where the report of the runs in `out` is."""
    to = folder / "to"
    assert main(["report", str(folder / "out"), "--to", str(to), "--no-pictures"]) == 0
    return to


@pytest.mark.parametrize(("ll", "kind"), [("", ""), ("_ll", "_mt")])
def test_a_known_gap_and_the_questions_that_translation_damaged(ll, kind, run, tmp_path):
    folder = publish(tmp_path / "data", kind="mt" if kind else "human")
    names = [f"mmlu_clinical_mcqa{ll}{kind}_{code}" for code in ("en", "ts", "zu")]
    options = {"model": reader(), "metadata": {"data_dir": str(folder)}}
    results = evaluated(run, tmp_path / "out", names, **options)
    own = {name[-2:]: of_task(results, name) for name in names}
    numbers = [n for count in SUBJECTS.values() for n in range(count)]
    lost = sum(n % 10 in (1, 2, 3, 4) for n in numbers)
    assert own["en"].scores["acc"] == own["zu"].scores["acc"] == 1
    # Neither flagged question (5, 25) is one that Tsonga loses: 602 are left, of which it loses all.
    assert own["ts"].scores["acc"] == pytest.approx(1 - lost / 602)
    assert own["ts"].scores["acc_with_flagged"] == pytest.approx(1 - lost / 604)
    why = "wrong option equals a right one in Tsonga"
    assert own["ts"].record["data"]["flagged"] == {"virology-5": why, "virology-25": why}
    to = reported(tmp_path)
    content = json.loads((to / "report.json").read_text())
    verdicts = {item["language"]: item["verdict"] for item in content["conclusions"]}
    assert verdicts == {"ts": "worse", "zu": "about_the_same"}
    text = (to / "report.md").read_text()
    assert "Flagged: 2 of 604 questions." in text and "with flagged questions" in text
    # What was left out by design was not unread: nothing of a verdict hangs on it.
    told = xling_tasks.read(tmp_path / "out", n_resamples=1000).conclusions()
    assert {row["language"]: (row["n"], row["unread"], row["unread_english"]) for row in told} == (
        dict.fromkeys(("ts", "zu"), (len(numbers) - 2, 0, 0))
    )


def translate(rows):
    """What translators do: 40 questions are left in English, and 20 lose a number."""
    for n, row in enumerate(rows):
        row[0] += " Give 25 mg." if n >= 20 else " Give twenty mg."
        if 20 <= n < 60:
            row[0] = f"Which of these is number {n}? Give 25 mg."


def in_english(rows):
    for n, row in enumerate(rows):
        row[0] = f"Which of these is number {n}? Give 25 mg."


def by_damage(prompt):
    """Right in Tsonga, but for the questions that lost their number."""
    return "B" if "twenty mg" in prompt else "A"


def test_the_gap_without_what_translation_damaged_and_all_kinds_in_one_table(run, tmp_path):
    folder = tmp_path / "data"
    for kind, change in (("human", translate), ("mt", None), ("bt", in_english)):
        publish(folder, codes=("ts",), kind=kind, change=change, flawed=())
    publish(folder, codes=("en",), change=in_english, changed=("en", "virology"))
    names = [
        f"mmlu_clinical_mcqa{kind}_{code}" for kind in ("", "_mt", "_bt") for code in ("en", "ts")
    ]
    evaluated(
        run, tmp_path / "out", names, model=reader(by_damage), metadata={"data_dir": str(folder)}
    )
    to = reported(tmp_path)
    [path] = (to / "tables").glob("translation_*.csv")
    human, back, machine = csv.DictReader(path.open(encoding="utf-8"))
    assert [x["texts"][:7] for x in (human, back, machine)] == ["by peop", "the hum", "by mach"]
    signs = {key: human[key] for key in ("numbers", "untranslated", "units", "coincide")}
    assert signs == {"numbers": "20", "untranslated": "40", "units": "0", "coincide": "0"}
    # All that is wrong is in the 20 questions that lost their number; 544 have no sign at all.
    assert float(human["gap"]) == pytest.approx(-20 / 604) and float(human["gap without"]) == 0
    assert (human["any of these"], human["n without"]) == ("60", "544")
    # A back-translation is English: it may be equal, and its numbers are there.
    assert (back["untranslated"], back["any of these"], float(back["gap"])) == ("0", "0", 0)
    # In the machine's texts every 25 mg of virology is missing, but in question 25; no harm came of it.
    assert (machine["numbers"], float(machine["gap"])) == ("165", 0)


def test_groups_by_kind_have_every_language():
    index = our_tasks()._index
    for ll in ("", "_ll"):
        for kind in ("", "_mt", "_bt"):
            group = f"mmlu_clinical_mcqa{ll}{kind}"
            assert len(index[group].cfg["task"]) == 12 and f"{group}_nso" in index


@pytest.mark.parametrize(("change", "said"), [
    (lambda rows: rows[7].__setitem__(5, "B"), "ts, virology-7: the right letter is B, and A in English"),
    (lambda rows: rows[7].__setitem__(5, "E"), "virology_test_ts.csv, question 8: a question, four options and a letter"),
    (list.pop, "165 questions, but 166 were published"),
])  # fmt: skip
def test_rows_that_are_not_the_same_questions_are_refused(change, said, tmp_path):
    folder = publish(tmp_path, change=change)
    with pytest.raises(DataError, match=said):
        load(HUMAN, str(folder), None)


def test_what_is_not_there_is_said(run, tmp_path):
    with pytest.raises(DataError, match="no MMLU-Clinical in it"):
        load(HUMAN, str(tmp_path), None)
    with pytest.raises(DataError, match="no English"):
        load(HUMAN, str(publish(tmp_path / "a", codes=("ts",))), None)
    with pytest.raises(DataError, match="is not on the Hub"):
        load(MMLU_CLINICAL["mmlu_clinical_bt"], None, None)
    folder = str(publish(tmp_path / "b"))
    with pytest.raises(DataError, match="no files in 'Amharic'"):
        run("mmlu_clinical_mcqa_am", model=reader(), metadata={"data_dir": folder})
    with pytest.raises(SettingError, match="no examples"):
        run("mmlu_clinical_mcqa_zu", model=reader(), num_fewshot=2, metadata={"data_dir": folder})


def test_the_form_of_the_hub_with_a_header_and_lists(tmp_path):
    folder = publish(tmp_path)
    path = folder / "human" / "virology_test_zu.csv"
    path.write_text("Question,OptionA,OptionB,OptionC,OptionD,Answer\n" + path.read_text())
    assert len(load(HUMAN, str(folder), None).questions["zu"]) == 604


@pytest.mark.realdata
def test_the_published_files(realdata):
    folder = str(realdata / "mmlu_clinical_afr")
    exam = load(HUMAN, folder, None)
    assert {len(own) for own in exam.questions.values()} == {604} and len(exam.questions) == 12
    damaged = sum("Tsonga" in why for why in exam.flawed.values())
    assert damaged >= 19 and not any("English" in why for why in exam.flawed.values())
    assert {len(load(MMLU_CLINICAL[f"mmlu_clinical_{kind}"], folder, None).questions)
            for kind in ("mt", "bt")} == {12}  # fmt: skip
