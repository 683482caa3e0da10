"""`xling annotate --form translation` and what `xling agreement` makes of its exports."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import scripted
from browser import context_of, reload_with_its_store

from xling_tasks.cli import parsed
from xling_tasks.commands.annotate.page import RATING, page_data, scales_of, write_page
from xling_tasks.errors import DataError, SettingError

PAGE = "0123456789abcdef"
NAMES = ("English", "Chinese", "Spanish", "Hindi")
HOSTILE = (
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=alert(2)><!-- {{data}} -->",
    "safe \u202eetsisnoc\u202c end",
)


def xling(*words):
    """As `xling` does it."""
    chosen = parsed([*map(str, words)])
    return chosen.run(chosen)


def rate(path, *words):
    """A page of translations, and what is said of it."""
    printed = xling("annotate", "--form", "translation", "--to", path, *words)
    (block,) = re.findall(
        '<script type="application/json" id="page">(.*?)</script>',
        path.read_text(encoding="utf-8"),
        re.S,
    )
    return json.loads(block), printed


def dataset(folder, name, n, missing=()):
    """A file of n questions, one right and one wrong answer each; some lack their Hindi answer."""
    texts = [f"{kind}_{language}" for language in NAMES for kind in ("question", "answer")]
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
    assert counts == {("es", "liveqa"): 3, ("es", "medicationqa"): 6, ("zh", "liveqa"): 3,
                      ("zh", "medicationqa"): 6, ("hi", "liveqa"): 3, ("hi", "medicationqa"): 6}  # fmt: skip
    assert "3 of 25" in printed and "3 of 30" in printed
    (hindi,) = [line for line in printed.splitlines() if re.match(r"\| hi +\| liveqa", line)]
    assert hindi.split("|")[-2].strip() == "5"
    for item in data["items"]:
        name = {"es": "Spanish", "zh": "Chinese", "hi": "Hindi"}[item["language"]]
        tail = (
            f"{'LiveQA' if item['dataset'] == 'liveqa' else 'MedicationQA'} {item['question_id']}"
        )
        assert item["source"] == f"question_English {tail}\n\nanswer_English {tail} 1"
        assert item["translation"] == f"question_{name} {tail}\n\nanswer_{name} {tail} 1"
    asked = {code: [(i["dataset"], i["question_id"]) for i in data["items"] if i["language"] == code]
             for code in ("es", "zh", "hi")}  # fmt: skip
    assert asked["es"] == asked["zh"]  # the same questions, in the same order
    assert not {("liveqa", str(i)) for i in range(5)} & set(asked["hi"])
    assert rate(tmp_path / "again.html", *words)[0] == data
    other, _ = rate(tmp_path / "other.html", *words, "--seed", 1)
    assert other["digest"] != data["digest"]
    assert {"form": "translation", "blind": False, "seed": 0, "n": 9}.items() <= data[
        "made"
    ].items()
    assert all(len(sha) == 12 for sha in data["made"]["source"].values())


def test_wrong_options_of_translations(tmp_path):
    to = tmp_path / "page.html"
    for words, message in (
        (("--blind",), "--blind is for --form judge"),
        (("--datasets", "livqa"), "--datasets livqa.*Did you mean 'liveqa'"),
        (("--for", "en"), "--for en: no translations.*es, hi, zh|Known"),
        (("--datasets", ","), "names nothing"),
        (("--datasets", "demo", "--n", 0), "--n 0: at least 1"),
        (("--metadata", "data_dirr=x", "--datasets", "demo"), "data_dir"),
    ):
        with pytest.raises(SettingError, match=message):
            rate(to, *words)
    assert not to.exists()
    with pytest.raises(SettingError, match="ends in .html"):
        rate(tmp_path / "page.txt", "--datasets", "demo")
    with pytest.raises(SettingError, match="OUT is missing"):
        xling("annotate", "--to", to)
    with pytest.raises(SettingError, match="--metadata is for --form translation"):
        xling("annotate", tmp_path, "--to", to, "--metadata", "a=1")


# The page


class Rater:
    """One annotator in a browser of their own."""

    def __init__(self, browser, path, name):
        self.context = context_of(browser)
        self.page = self.context.new_page()
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.url = path.as_uri()
        self.page.goto(self.url)
        self.page.fill("#annotator", name)
        self.press("Escape")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def chosen(self):
        return self.page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#choices input:checked')]"
            ".map((input) => [input.name, Number(input.value)]))"
        )

    def export(self, path):
        with self.page.expect_download() as download:
            self.page.click("#export")
        download.value.save_as(path)
        return path

    def well(self):
        loaded = {url for url in self.requests if not url.startswith("blob:")}
        return loaded == {self.url} and not self.errors


def three_items(tmp_path):
    items = [
        {"id": f"liveqa_{code}/{i}", "dataset": "liveqa", "language": code, "question_id": str(i),
         "source": text, "translation": f"{code}: {text}"}
        for i, (code, text) in enumerate(zip(("es", "hi", "zh"), HOSTILE))
    ]  # fmt: skip
    path = tmp_path / "page.html"
    write_page(
        path, page_data(items, {**RATING, "seed": 0, "n": 1, "source": {"liveqa": "abc"}}), []
    )
    return path


def test_rated_by_keyboard_then_exported_imported_and_summarised(tmp_path, browser):
    path = three_items(tmp_path)
    anna = Rater(browser, path, "Anna")
    page = anna.page
    assert page.title().startswith("Rating of translations")
    assert page.inner_text("h1").strip() == "How good is the translation?"
    assert page.locator("#scales fieldset:visible").count() == 2
    assert page.locator(".judge-only:visible").count() == 0
    anna.press("a", "d", "s", "v", "6")  # keys of the other form, and no step
    assert anna.chosen() == {}
    anna.press("4", "5")  # fluency, then meaning
    assert anna.chosen() == {"fluency": 4, "meaning": 5}
    anna.press("3")  # stays on meaning
    anna.press("f", "2")
    assert anna.chosen() == {"fluency": 2, "meaning": 3}
    assert "1 of 3 items done" in page.inner_text("#status")
    anna.press("n", "m", "1")
    assert anna.chosen() == {"meaning": 1} and "1 of 3" in page.inner_text("#status")
    anna.press("n")
    page.click("#scale-fluency label >> nth=4")
    anna.press("5", "c")
    page.keyboard.type("Fine 1.")
    anna.press("Escape")
    reload_with_its_store(page)
    assert anna.chosen() == {"fluency": 5, "meaning": 5}
    assert "2 of 3 items done" in page.inner_text("#status")
    saved = anna.export(tmp_path / "anna.json")
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["form"] == "translation" and content["annotator"] == "Anna"
    assert content["items"] == [
        {"id": "liveqa_es/0", "dataset": "liveqa", "language": "es", "question_id": "0",
         "fluency": 2, "meaning": 3, "comment": ""},
        {"id": "liveqa_hi/1", "dataset": "liveqa", "language": "hi", "question_id": "1",
         "fluency": None, "meaning": 1, "comment": ""},
        {"id": "liveqa_zh/2", "dataset": "liveqa", "language": "zh", "question_id": "2",
         "fluency": 5, "meaning": 5, "comment": "Fine 1."},
    ]  # fmt: skip
    bo = Rater(browser, path, "Bo")
    bo.page.set_input_files("#import", saved)
    bo.page.locator("#status", has_text="Imported anna.json: 2 of 3").wait_for()
    assert json.loads(bo.export(tmp_path / "bo.json").read_text(encoding="utf-8")) == content
    assert anna.well() and bo.well()
    report = xling("agreement", saved)
    assert "Fine 1." in report and "ChatGPT 4.38, Google Translate 4.25, MarianMT 3.89" in report
    for one in (anna, bo):
        one.context.close()


def test_hostile_texts_stay_texts(tmp_path, browser):
    path = three_items(tmp_path)
    html = path.read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script>") == 2 and "<img" not in html
    rater = Rater(browser, path, "Anna")
    for place, text in enumerate(HOSTILE):
        rater.page.select_option("#jump", index=place)
        code = ("es", "hi", "zh")[place]
        shown = re.sub("[\u202c\u202e]", lambda match: f"U+{ord(match[0]):04X}", text)
        assert rater.page.text_content("#reference") == shown
        assert rater.page.text_content("#answer") == f"{code}: {shown}"
        assert rater.page.get_attribute("#reference", "lang") == "en"
        assert rater.page.get_attribute("#answer", "lang") == code
    assert rater.page.evaluate("window.hacked") is None and rater.well()
    wide = "document.documentElement.scrollWidth <= window.innerWidth"
    rater.page.set_viewport_size({"width": 390, "height": 844})
    assert rater.page.evaluate(wide)
    unnamed = "[...document.querySelectorAll('input, textarea, select')].filter((n) => !n.labels.length).length"
    assert rater.page.evaluate(unnamed) == 0
    rater.context.close()


# What `xling agreement` makes of it


def item(number, fluency, meaning, *, language="es", dataset="liveqa", **more):
    return {"id": f"{dataset}_{language}/{number}", "dataset": dataset, "language": language,
            "question_id": str(number), "fluency": fluency, "meaning": meaning, "comment": "", **more}  # fmt: skip


def export(path, annotator, items, **more):
    content = {
        "format": "xling-annotations", "version": 1, "page_digest": PAGE, "annotator": annotator,
        "form": "translation", "blind": False, "seed": 0, "n": 50, "source": {"liveqa": "abc"},
        "items": items, **more,
    }  # fmt: skip
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_means_and_alpha_by_hand(tmp_path):
    one = [item(0, 1, 5), item(1, 1, 5), item(2, 3, None), item(3, 5, 4, dataset="healthqa")]
    two = [item(0, 2, 5), item(1, 1, 3), item(2, 3, None), item(3, None, 4, dataset="healthqa")]
    files = [export(tmp_path / "a.json", "Anna", one), export(tmp_path / "b.json", "Bo", two)]
    page = xling("agreement", *files, "--to", tmp_path / "to")
    assert (tmp_path / "to/agreement.md").read_text(encoding="utf-8") == page + "\n"
    agreement = json.loads((tmp_path / "to/agreement.json").read_text(encoding="utf-8"))
    rows = {(row["dataset"], row["scale"]): row for row in agreement["ratings"]}
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
    (anna, bo) = agreement["annotators"]
    assert (anna["fluency_mean"], anna["fluency_ratings"]) == (2.5, 4)
    assert (bo["fluency_mean"], bo["meaning_ratings"]) == (2.0, 3)
    assert agreement["batches"][0]["annotators"] == ["Anna", "Bo"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fluency": 6}, r"a\.json, item 1, field 'fluency': an integer from 1 to 5"),
        ({"fluency": 0}, "field 'fluency'"),
        ({"meaning": True}, "field 'meaning'.*not True"),
        ({"meaning": 4.0}, "field 'meaning'"),
        ({"meaning": "4"}, "field 'meaning'"),
        ({"dataset": ""}, "field 'dataset': a text"),
    ],
)
def test_wrong_ratings_are_named(tmp_path, change, message):
    path = export(tmp_path / "a.json", "Anna", [item(0, 1, 1) | change])
    with pytest.raises(DataError, match=message):
        xling("agreement", path)


def test_files_that_do_not_fit(tmp_path):
    one = export(tmp_path / "a.json", "Anna", [item(0, 1, 1)])
    judge = export(tmp_path / "b.json", "Bo", [item(0, 1, 1)], form=None)
    with pytest.raises(DataError, match="one form at a time"):
        xling("agreement", one, judge)
    other = export(tmp_path / "b.json", "Bo", [item(0, 1, 1)], source={"liveqa": "other"})
    with pytest.raises(DataError, match="different items or settings"):
        xling("agreement", one, other)
    with pytest.raises(DataError, match="both by 'anna'"):
        xling("agreement", one, export(tmp_path / "b.json", "anna", [item(0, 1, 1)]))
    with pytest.raises(DataError, match="--pages is for checks of a judge"):
        xling("agreement", one, "--pages", Path("page.html"))


# Translations of a run's answers


def written(run, folder, **options):
    """A run of the bundled prompts as the harness writes it; returns its samples by question."""
    from lm_eval.loggers import EvaluationTracker

    results = run("xlinghealth_information_demo", **options)
    tracker, samples = EvaluationTracker(output_path=str(folder)), results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return {row["doc"]["question_id"]: row for row in next(iter(samples.values()))}


def rate_answers(out, path, *words):
    path.unlink(missing_ok=True)
    return rate(path, out, *words)


def test_a_run_s_answers_beside_their_translations(run, serve, tmp_path):
    served = serve(scripted.reply)
    metadata = {"judge": served.spec(), "translator": served.spec()}
    rows = written(run, tmp_path / "out", metadata=metadata, limit=6)
    data, printed = rate_answers(tmp_path / "out", tmp_path / "page.html", "--n", 4)
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
    only, _ = rate_answers(tmp_path / "out", tmp_path / "es.html", "--for", "es")
    assert {item["language"] for item in only["items"]} == {"es"} and len(only["items"]) == 6
    for words, message in (
        (("--for", "fr"), "--for fr: no answers in it"),
        (("--datasets", "liveqa"), "--datasets liveqa: no samples of it"),
        (("--n", 0), "--n 0: at least 1"),
        (("--metadata", "a=1"), "--metadata is for the datasets"),
    ):
        with pytest.raises(SettingError, match=message):
            rate_answers(tmp_path / "out", tmp_path / "no.html", *words)
    (path,) = (tmp_path / "out").rglob("samples_*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["n_claims_es"]["english"], first["n_claims_hi"]["english"] = None, first["resps"][3][0]
    path.write_text("\n".join([json.dumps(first), *lines[1:]]), encoding="utf-8")
    _, printed = rate_answers(tmp_path / "out", tmp_path / "page.html")
    told = {line.split("|")[1].strip(): line.split("|")[3:6] for line in printed.splitlines()[2:5]}
    assert [word.strip() for word in told["es"]] == ["5 of 5", "1", "0"]
    assert [word.strip() for word in told["hi"]] == ["5 of 5", "0", "1"]
    path.write_text("\n".join([json.dumps(first), *lines[1:], lines[1]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"row 7: .*question .* stands there twice"):
        rate_answers(tmp_path / "out", tmp_path / "page.html")
    first["n_claims_es"]["english"] = 5
    path.write_text(json.dumps(first), encoding="utf-8")
    with pytest.raises(DataError, match=r"row 1: not a sample .*english: a text is expected"):
        rate_answers(tmp_path / "out", tmp_path / "page.html")


def test_answers_that_were_not_translated(run, serve, tmp_path):
    written(run, tmp_path / "unscored", limit=2)
    with pytest.raises(DataError, match="no answer in it was translated.*needs xling_information"):
        rate_answers(tmp_path / "unscored", tmp_path / "page.html")
    with pytest.raises(DataError, match="no samples of information or empathy"):
        (tmp_path / "empty").mkdir()
        rate_answers(tmp_path / "empty", tmp_path / "page.html")


TABLE_3 = {"ar": 4.23, "cs": 4.13, "fr": 4.59, "hi": 4.38, "ja": 4.14, "ml": 4.12, "fa": 4.10,
           "ru": 4.28, "es": 4.48, "ta": 4.16}  # fmt: skip


def rated(code, number, fidelity):
    return {"id": f"xling_information_{code}/{number}", "dataset": "xling_information",
            "language": code, "question_id": str(number), "fidelity": fidelity, "comment": ""}  # fmt: skip


def test_fidelity_stands_beside_table_3(tmp_path):
    more = {"of": "answers", "translator": "nllb"}
    items = [rated(code, number, 3 + number) for code in TABLE_3 for number in range(2)]
    items += [rated("de", 0, 1), rated("ar", 2, None)]
    file = export(tmp_path / "a.json", "Anna", items, **more)
    xling("agreement", file, "--to", tmp_path / "to")
    found = json.loads((tmp_path / "to/agreement.json").read_text(encoding="utf-8"))
    rows = {row["language"]: row for row in found["ratings"] if row["dataset"] == "all"}
    assert {row["scale"] for row in found["ratings"]} == {"fidelity"}
    for code, value in TABLE_3.items():
        assert rows[code]["mean"] == 3.5  # (3 + 4) / 2; Arabic's third item is unrated
        assert rows[code]["published"] == {"NLLB 54B MoE": value}
    assert rows["ar"]["unrated"] == 1 and rows["de"]["published"] == {}
    # German is none of the ten; the paper's mean of its cells is 42.61 / 10.
    assert rows["mean"]["mean"] == 3.5 and rows["mean"]["published"] == {"NLLB 54B MoE": 4.26}
    assert sum(TABLE_3.values()) / 10 == pytest.approx(4.26, abs=0.005)
    assert found["batches"][0]["translator"] == "nllb"
    fewer = export(tmp_path / "a.json", "Anna", [i for i in items if i["language"] != "ta"], **more)
    page = xling("agreement", fewer)
    assert "NLLB 54B MoE 4.59" in page and "NLLB 54B MoE 4.26" not in page
    with pytest.raises(DataError, match="field 'fidelity': an integer from 1 to 5"):
        xling("agreement", export(tmp_path / "a.json", "Anna", [rated("es", 0, 6)], **more))


def test_ratings_that_were_settled_make_the_mean_after_and_change_no_other(tmp_path):
    def file(name, values, **more):
        items = [
            {"id": f"liveqa_es/{i}", "dataset": "liveqa", "language": "es", "question_id": str(i),
             "fluency": value, "meaning": None, "comment": ""}
            for i, value in enumerate(values)
        ]  # fmt: skip
        content = {
            "format": "xling-annotations",
            "version": 1,
            "page_digest": "x",
            "annotator": name,
        }
        content |= {"form": "translation", "seed": 0, "n": 1, "source": {}, "items": items, **more}
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path / f"{name}.json"

    people = [file("Anna", [1, 4, None]), file("Bo", [3, 4, 5])]
    settled = file("Chi", [3, 1, 1], resolves=["Bo", "Anna"])
    xling("agreement", *people, settled, "--to", tmp_path / "to")
    content = json.loads((tmp_path / "to/agreement.json").read_text(encoding="utf-8"))
    own = [row for row in content["settled"] if row["dataset"] == "all"]
    figures = ("scale", "differ", "settled", "left", "mean_after")
    # Items: 1 and 3, settled as 3; 4 and 4, where they agree; 5 by one of them.
    assert [tuple(row[key] for key in figures) for row in own] == [
        ("fluency", 1, 1, 0, 4.0), ("meaning", 0, 0, 0, None)]  # fmt: skip
    assert content["ratings"][0]["mean"] == pytest.approx((2 + 4 + 5) / 3)


def test_a_page_of_answers_rated_by_keyboard(tmp_path, browser):
    items = [
        {"id": f"xling_information_hi/{i}", "dataset": "xling_information", "language": "hi",
         "question_id": str(i), "source": f"hi: {text}", "translation": f"en: {text}"}
        for i, text in enumerate(HOSTILE)
    ]  # fmt: skip
    path = tmp_path / "page.html"
    write_page(
        path,
        page_data(items, {**RATING, "seed": 0, "n": 3, "of": "answers", "translator": "t"}),
        [],
    )
    anna = Rater(browser, path, "Anna")
    assert anna.page.locator("#scales fieldset:visible").count() == 1
    assert anna.page.get_attribute("#reference", "lang") == "hi"
    assert anna.page.get_attribute("#answer", "lang") == "en"
    assert "into English" in anna.page.inner_text("#answer-title")
    assert "question and answer" not in anna.page.inner_text("#reference-title")
    anna.press("4", "n", "5")
    saved = anna.export(tmp_path / "anna.json")
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert [item["fidelity"] for item in content["items"]] == [4, 5, None]
    assert anna.well() and "| 4.5" in xling("agreement", saved)
    anna.context.close()


@pytest.mark.realdata
def test_a_page_of_the_published_questions(tmp_path, realdata):
    words = ("--datasets", "liveqa", "--metadata", f"data_dir={realdata / 'xlinghealth'}")
    data, printed = rate(tmp_path / "page.html", *words)
    # Questions 58 and 67 have no English text.
    assert len(data["items"]) == 150 and printed.count("50 of 244") == 3
