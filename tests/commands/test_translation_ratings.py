"""`xling annotate --form translation` and what `xling agreement` makes of its exports."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path

import annotating
import pytest
import scripted
from annotating import HOSTILE, Annotator, data_of, rating_page, xling
from browser import PHONE, reload_with_its_store
from builders import evaluated

from xling_tasks.commands.annotate.page import scales_of
from xling_tasks.errors import DataError, SettingError

NAMES = {"en": "English", "zh": "Chinese", "es": "Spanish", "hi": "Hindi"}


def rate(path, *words):
    """A page of translations, and what is said of it."""
    path.unlink(missing_ok=True)
    printed = xling("annotate", "--form", "translation", "--to", path, *words)
    return data_of(path), printed


def dataset(folder, name, n, missing=()):
    """A file of n questions, one right and one wrong answer each; some lack their Hindi answer."""
    texts = [f"{kind}_{name}" for name in NAMES.values() for kind in ("question", "answer")]
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
        rows = csv.DictWriter(handle, ["id", "label", "answer_ids", *texts])
        rows.writeheader()
        for i in range(n):
            for label in (0, 1):
                row = {text: f"{text} {name} {i} {label}" for text in texts}
                row |= {key: f"{key} {name} {i}" for key in texts if key.startswith("question")}
                if i in missing and label:
                    row["answer_Hindi"] = ""
                rows.writerow({"id": i, "label": label, "answer_ids": label, **row})
    return folder


# The sample


def test_questions_with_their_right_answers_over_datasets(tmp_path):
    folder = dataset(tmp_path / "data", "LiveQA", 30, missing=range(5))
    dataset(folder, "MedicationQA", 60)
    words = ("--datasets", "liveqa,medicationqa", "--metadata", f"data_dir={folder}", "--n", 9)
    data, printed = rate(tmp_path / "page.html", *words)
    counts = Counter((item["language"], item["dataset"]) for item in data["items"])
    # 30 and 60 questions: 3 and 6 of 9; in Hindi 25 and 60: 2.6 and 6.4.
    assert counts == {
        (code, key): n for code in ("es", "zh", "hi") for key, n in (("liveqa", 3), ("medicationqa", 6))
    }  # fmt: skip
    assert "3 of 25" in printed and "3 of 30" in printed
    (hindi,) = [line for line in printed.splitlines() if re.match(r"\| hi +\| liveqa", line)]
    assert hindi.split("|")[-2].strip() == "5"
    for item in data["items"]:
        file = {"liveqa": "LiveQA", "medicationqa": "MedicationQA"}[item["dataset"]]
        name, tail = NAMES[item["language"]], f"{file} {item['question_id']}"
        assert item["source"] == f"question_English {tail}\n\nanswer_English {tail} 1"
        assert item["translation"] == f"question_{name} {tail}\n\nanswer_{name} {tail} 1"
    asked = {code: [(i["dataset"], i["question_id"]) for i in data["items"] if i["language"] == code]
             for code in ("es", "zh", "hi")}  # fmt: skip
    assert asked["es"] == asked["zh"]  # the same questions, in the same order
    assert not {("liveqa", str(i)) for i in range(5)} & set(asked["hi"])
    assert rate(tmp_path / "again.html", *words)[0] == data
    other, _ = rate(tmp_path / "other.html", *words, "--seed", 1)
    assert other["digest"] != data["digest"]
    made = data["made"]
    assert {"form": "translation", "blind": False, "seed": 0, "n": 9}.items() <= made.items()
    assert all(len(sha) == 12 for sha in made["source"].values())


def test_wrong_options_of_translations(tmp_path):
    to = tmp_path / "page.html"
    for words, message in (
        (("--datasets", "livqa"), "--datasets livqa.*Did you mean 'liveqa'"),
        (("--languages", "en"), "--languages en: no translations.*es, hi, zh|Known"),
        (("--datasets", ","), "names nothing"),
        (("--datasets", "demo", "--n", 0), "--n: must be an integer from 1"),
        (("--metadata", "data_dirr=x", "--datasets", "demo"), "data_dir"),
    ):
        with pytest.raises(SettingError, match=message):
            rate(to, *words)
    assert not to.exists()
    with pytest.raises(SettingError, match="ends in .html"):
        rate(tmp_path / "page.txt", "--datasets", "demo")
    with pytest.raises(SettingError, match="OUT is missing"):
        xling("annotate", "--to", to)


# The page


@pytest.fixture
def opened(browser):
    """`opened(path, ...)`: a page in a context of its own."""
    return partial(Annotator, browser)


TEXTS = [HOSTILE["script"], HOSTILE["end"], HOSTILE["bidi"]]


@pytest.fixture
def three(tmp_path):
    texts = {code: [(text, f"{code}: {text}")] for code, text in zip(("es", "hi", "zh"), TEXTS)}
    return rating_page(tmp_path / "page.html", texts, source={"liveqa": "abc"})


def ratings_in(path):
    """What of each item's scales was said."""
    known = ("id", "dataset", "language", "question_id")
    items = json.loads(path.read_text(encoding="utf-8"))["items"]
    return [{key: own for key, own in item.items() if key not in known} for item in items]


def test_rated_by_keyboard_then_exported_imported_and_summarised(tmp_path, opened, three):
    anna = opened(three).named("Anna")
    page = anna.page
    assert page.title().startswith("Rating of translations")
    assert anna.text("h1").strip() == "How good is the translation?"
    assert page.locator("#scales fieldset:visible").count() == 2
    assert page.locator(".judge-only:visible").count() == 0
    anna.press("a", "d", "s", "v", "6")  # keys of the other form, and no step
    assert anna.checked() == {}
    anna.press("4", "5")  # fluency, then meaning
    assert anna.checked() == {"fluency": "4", "meaning": "5"}
    anna.press("3")  # stays on meaning
    anna.press("f", "2")
    assert anna.checked() == {"fluency": "2", "meaning": "3"}
    assert "1 of 3 items done" in anna.text("#status")
    anna.press("n", "m", "1")
    assert anna.checked() == {"meaning": "1"} and "1 of 3" in anna.text("#status")
    anna.press("n")
    page.click("#scale-fluency label >> nth=4")
    anna.press("5", "c")
    page.keyboard.type("Fine 1.")
    anna.press("Escape")
    reload_with_its_store(page)
    assert anna.checked() == {"fluency": "5", "meaning": "5"}
    assert "2 of 3 items done" in anna.text("#status")
    saved = anna.export(tmp_path / "anna.json")
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["form"] == "translation" and content["annotator"] == "Anna"
    ids = [item["id"] for item in content["items"]]
    assert ids == ["liveqa_es/0", "liveqa_hi/1", "liveqa_zh/2"]
    assert ratings_in(saved) == [
        {"fluency": 2, "meaning": 3, "comment": ""},
        {"fluency": None, "meaning": 1, "comment": ""},
        {"fluency": 5, "meaning": 5, "comment": "Fine 1."},
    ]
    bo = opened(three, PHONE).named("Bo")
    bo.page.set_input_files("#import", saved)
    bo.page.locator("#status", has_text="Imported anna.json: 2 of 3").wait_for()
    assert json.loads(bo.export(tmp_path / "bo.json").read_text(encoding="utf-8")) == content
    # Hostile texts stay texts.
    for place, (code, text) in enumerate(zip(("es", "hi", "zh"), TEXTS)):
        bo.page.select_option("#jump", index=place)
        shown = re.sub("[\u2066\u2069\u202c\u202e]", lambda match: f"U+{ord(match[0]):04X}", text)
        assert bo.page.text_content("#reference") == shown
        assert bo.page.text_content("#answer") == f"{code}: {shown}"
        assert bo.page.get_attribute("#reference", "lang") == "en"
        assert bo.page.get_attribute("#answer", "lang") == code
    assert bo.page.evaluate("window.hacked") is None and anna.well() and bo.well() and bo.fits()
    report = xling("agreement", saved)
    assert "Fine 1." in report and "ChatGPT 4.38, Google Translate 4.25, MarianMT 3.89" in report


def test_a_page_of_answers_rated_by_keyboard(tmp_path, opened):
    texts = {"hi": [(f"hi: {text}", f"en: {text}") for text in TEXTS]}
    path = rating_page(tmp_path / "page.html", texts, of="answers", translator="t")
    anna = opened(path).named("Anna")
    assert anna.page.locator("#scales fieldset:visible").count() == 1
    assert anna.page.get_attribute("#reference", "lang") == "hi"
    assert anna.page.get_attribute("#answer", "lang") == "en"
    assert "into English" in anna.text("#answer-title")
    assert "question and answer" not in anna.text("#reference-title")
    anna.press("4", "n", "5")
    saved = anna.export(tmp_path / "anna.json")
    assert [item["fidelity"] for item in ratings_in(saved)] == [4, 5, None]
    assert anna.well() and "| 4.5" in xling("agreement", saved)


# What `xling agreement` makes of it


def item(number, *, language="es", dataset="liveqa", **scales):
    return {"id": f"{dataset}_{language}/{number}", "dataset": dataset, "language": language,
            "question_id": str(number), "comment": "", **scales}  # fmt: skip


def rated(number, fluency, meaning, **more):
    return item(number, fluency=fluency, meaning=meaning, **more)


def export(path, annotator, items, **more):
    made = {"form": "translation", "n": 50, "source": {"liveqa": "abc"}, **more}
    return annotating.export(path, annotator, items, **made)


def agreement(tmp_path, *files):
    page = xling("agreement", *files, "--to", tmp_path / "to")
    assert (tmp_path / "to/agreement.md").read_text(encoding="utf-8") == page + "\n"
    return json.loads((tmp_path / "to/agreement.json").read_text(encoding="utf-8"))


def test_means_and_alpha_by_hand(tmp_path):
    other = {"dataset": "healthqa"}
    one = [rated(0, 1, 5), rated(1, 1, 5), rated(2, 3, None), rated(3, 5, 4, **other)]
    two = [rated(0, 2, 5), rated(1, 1, 3), rated(2, 3, None), rated(3, None, 4, **other)]
    files = [export(tmp_path / "a.json", "Anna", one), export(tmp_path / "b.json", "Bo", two)]
    found = agreement(tmp_path, *files)
    rows = {(row["dataset"], row["scale"]): row for row in found["ratings"]}
    assert list(rows) == [(d, s) for d in ("all", "healthqa", "liveqa") for s in scales_of(None)]
    # Fluency, LiveQA: items (1, 2), (1, 1), (3, 3): means 1.5, 1, 3. Alpha as derived for
    # krippendorff_alpha_ordinal: 1 - 40 / 180. Two of three pairs are alike.
    own = rows["liveqa", "fluency"]
    assert own["mean"] == pytest.approx(5.5 / 3) and own["alpha"] == pytest.approx(1 - 40 / 180)
    assert own["alike_percent"] == pytest.approx(200 / 3)
    assert (own["items"], own["unrated"], own["ratings"], own["missing_ratings"]) == (3, 0, 6, 0)
    # Of HealthQA one rating: 5; no pair. All: (1.5 + 1 + 3 + 5) / 4.
    alone = rows["healthqa", "fluency"]
    assert (alone["mean"], alone["alpha"], alone["alike_percent"]) == (5.0, None, None)
    assert rows["all", "fluency"]["mean"] == pytest.approx(10.5 / 4)
    # Meaning: items 5, 4 and, in HealthQA, 4; one LiveQA item is unrated and in no mean.
    meaning = rows["all", "meaning"]
    assert meaning["mean"] == pytest.approx(13 / 3)
    assert (meaning["unrated"], meaning["missing_ratings"]) == (1, 2)
    assert meaning["published"] == {"ChatGPT": 4.4, "Google Translate": 4.12, "MarianMT": 3.98}
    assert own["published"] == {"ChatGPT": 4.38, "Google Translate": 4.25, "MarianMT": 3.89}
    assert own["published_kappa"] == 0.86
    (anna, bo) = found["annotators"]
    assert (anna["fluency_mean"], anna["fluency_ratings"]) == (2.5, 4)
    assert (bo["fluency_mean"], bo["meaning_ratings"]) == (2.0, 3)
    assert found["batches"][0]["annotators"] == ["Anna", "Bo"]


def test_wrong_ratings_and_files_that_do_not_fit_are_named(tmp_path):
    for change, message in (
        ({"fluency": 6}, r"a\.json, item 1, field 'fluency': an integer from 1 to 5"),
        ({"fluency": 0}, "field 'fluency'"),
        ({"meaning": True}, "field 'meaning'.*not True"),
        ({"meaning": 4.0}, "field 'meaning'"),
        ({"meaning": "4"}, "field 'meaning'"),
        ({"dataset": ""}, "field 'dataset': a text"),
    ):
        path = export(tmp_path / "a.json", "Anna", [rated(0, 1, 1) | change])
        with pytest.raises(DataError, match=message):
            xling("agreement", path)
    items = [rated(0, 1, 1)]
    one = export(tmp_path / "a.json", "Anna", items)
    for name, more, message in (
        ("Bo", {"form": None}, "one form at a time"),
        ("Bo", {"source": {"liveqa": "other"}}, "different items or settings"),
        ("anna", {}, "both by 'anna'"),
    ):
        with pytest.raises(DataError, match=message):
            xling("agreement", one, export(tmp_path / "b.json", name, items, **more))
    with pytest.raises(DataError, match="--pages is for checks of a judge"):
        xling("agreement", one, "--pages", Path("page.html"))


# Translations of a run's answers


def test_a_run_s_answers_beside_their_translations(run, serve, tmp_path):
    served = serve(scripted.reply)
    out, to = tmp_path / "out", tmp_path / "page.html"
    metadata = {"judge": served.spec(), "translator": served.spec()}
    results = evaluated(run, out, "xlinghealth_information_demo", metadata=metadata, limit=6)
    rows = {
        row["doc"]["question_id"]: row for (own,) in [results["samples"].values()] for row in own
    }
    data, printed = rate(to, out, "--n", 4)
    assert Counter(item["language"] for item in data["items"]) == {"es": 4, "zh": 4, "hi": 4}
    for item in data["items"]:
        row, code = rows[item["question_id"]], item["language"]
        place = list(row["doc"]["text"]).index(code)
        assert item["source"] == row["resps"][place][0]
        assert item["translation"] == row[f"n_claims_{code}"]["english"] != item["source"]
    asked = [[i["question_id"] for i in data["items"] if i["language"] == c] for c in ("es", "hi")]
    assert asked[0] == asked[1] and "4 of 6" in printed
    assert [scale["key"] for scale in data["scales"]] == ["fidelity"]
    assert data["made"]["of"] == "answers" and "judge-1" in data["made"]["translator"]
    only, _ = rate(to, out, "--languages", "es")
    assert {item["language"] for item in only["items"]} == {"es"} and len(only["items"]) == 6
    for words, message in (
        (("--languages", "fr"), "--languages fr: no answers in it"),
        (("--datasets", "liveqa"), "--datasets liveqa: no samples of it"),
        (("--n", 0), "--n: must be an integer from 1"),
        (("--metadata", "a=1"), "--metadata is for the datasets"),
    ):
        with pytest.raises(SettingError, match=message):
            rate(to, out, *words)
    (path,) = out.rglob("samples_*.jsonl")
    first, *others = path.read_text(encoding="utf-8").splitlines()
    first = json.loads(first)
    first["n_claims_es"]["english"], first["n_claims_hi"]["english"] = None, first["resps"][3][0]
    path.write_text("\n".join([json.dumps(first), *others]), encoding="utf-8")
    _, printed = rate(to, out)
    told = {line.split("|")[1].strip(): line.split("|")[3:6] for line in printed.splitlines()[2:5]}
    assert [word.strip() for word in told["es"]] == ["5 of 5", "1", "0"]
    assert [word.strip() for word in told["hi"]] == ["5 of 5", "0", "1"]
    path.write_text("\n".join([json.dumps(first), *others, others[0]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"row 7: .*question .* stands there twice"):
        rate(to, out)
    first["n_claims_es"]["english"] = 5
    path.write_text(json.dumps(first), encoding="utf-8")
    with pytest.raises(DataError, match=r"row 1: not a sample .*english: a text is expected"):
        rate(to, out)


def test_answers_that_were_not_translated(run, tmp_path):
    evaluated(run, tmp_path / "unscored", "xlinghealth_information_demo", limit=2)
    with pytest.raises(DataError, match="no answer in it was translated.*needs xling_information"):
        rate(tmp_path / "page.html", tmp_path / "unscored")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no samples of information or empathy"):
        rate(tmp_path / "page.html", tmp_path / "empty")


TABLE_3 = {"ar": 4.23, "cs": 4.13, "fr": 4.59, "hi": 4.38, "ja": 4.14, "ml": 4.12, "fa": 4.10,
           "ru": 4.28, "es": 4.48, "ta": 4.16}  # fmt: skip


def test_fidelity_stands_beside_table_3(tmp_path):
    def of_answers(*rows):
        items = [item(number, language=code, dataset="xling_information", fidelity=own)
                 for code, number, own in rows]  # fmt: skip
        return export(tmp_path / "a.json", "Anna", items, of="answers", translator="nllb")

    rows = [(code, number, 3 + number) for code in TABLE_3 for number in range(2)]
    rows += [("de", 0, 1), ("ar", 2, None)]
    found = agreement(tmp_path, of_answers(*rows))
    by_code = {row["language"]: row for row in found["ratings"] if row["dataset"] == "all"}
    assert {row["scale"] for row in found["ratings"]} == {"fidelity"}
    for code, value in TABLE_3.items():
        assert by_code[code]["mean"] == 3.5  # (3 + 4) / 2; Arabic's third item is unrated
        assert by_code[code]["published"] == {"NLLB 54B MoE": value}
    assert by_code["ar"]["unrated"] == 1 and by_code["de"]["published"] == {}
    # German is none of the ten; the paper's mean of its cells is 42.61 / 10.
    mean = by_code["mean"]
    assert mean["mean"] == 3.5 and mean["published"] == {"NLLB 54B MoE": 4.26}
    assert sum(TABLE_3.values()) / 10 == pytest.approx(4.26, abs=0.005)
    assert found["batches"][0]["translator"] == "nllb"
    page = xling("agreement", of_answers(*(row for row in rows if row[0] != "ta")))
    assert "NLLB 54B MoE 4.59" in page and "NLLB 54B MoE 4.26" not in page
    with pytest.raises(DataError, match="field 'fidelity': an integer from 1 to 5"):
        xling("agreement", of_answers(("es", 0, 6)))


@pytest.mark.realdata
def test_a_page_of_the_published_questions(tmp_path, realdata):
    words = ("--datasets", "liveqa", "--metadata", f"data_dir={realdata / 'xlinghealth'}")
    data, printed = rate(tmp_path / "page.html", *words)
    # Questions 58 and 67 have no English text.
    assert len(data["items"]) == 150 and printed.count("50 of 244") == 3
