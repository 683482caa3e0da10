"""Native speakers read our prompts: the page, and what they said of it."""

from __future__ import annotations

import json

import annotating
import pytest
from annotating import Annotator, data_of
from browser import reload_with_its_store
from tools import texts

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import load_prompts, statuses


def tool(capsys, *words):
    status = texts.main([str(word) for word in words])
    printed = capsys.readouterr()
    return status, printed.out + printed.err


@pytest.fixture
def made(capsys, tmp_path):
    """A page of three posts in Spanish."""
    path = tmp_path / "es.html"
    words = ("--languages", "es", "--datasets", "empathy", "--n", "3")
    status, out = tool(capsys, "page", *words, "--to", path)
    assert status == 0 and "3 texts in es" in out and "tests.tools.texts review" in out
    return path


def export(path, made, reader, *said):
    """As the page exports it: per item verdict, better text and comment."""
    page = data_of(made)
    keys = ("id", "dataset", "language", "question_id")
    items = [
        {key: item[key] for key in keys} | dict(zip(("verdict", "better", "comment"), own))
        for item, own in zip(page["items"], said, strict=True)
    ]
    head = {"page_digest": page["digest"], **page["made"]}
    return annotating.export(path, reader, items, **head)


POSTS = [(item["id"], item["text"]["es"]) for item in load_prompts(DATASETS["empathy"]).prompts]


def test_changes_are_listed_and_what_all_call_right_is_native_read(capsys, tmp_path, made):
    ana = export(
        tmp_path / "a.json", made, "Ana", (3, "", ""), (2, "Mejor así.", "stiff"), (3, "", "")
    )
    eva = export(tmp_path / "b.json", made, "Eva", (3, "", ""), (3, "", ""), (None, "", ""))
    to = tmp_path / "status.jsonl"
    status, out = tool(capsys, "review", ana, eva, "--to", to)
    assert status == 0
    assert f"es empathy/{POSTS[1][0]}: unnatural (Ana)\n  now:    {POSTS[1][1]}" in out
    assert "  better: Mejor así.\n  says:   stiff" in out and f"{to}: 2 texts" in out
    assert "| es       | empathy | 3     | 0     | 1         | 2     |" in out
    counts = statuses(load_prompts(DATASETS["empathy"]), to)
    assert counts["es"] == {"native_read": 2, "author": 98}
    assert counts["hi"] == {"author": 100}
    status, out = tool(capsys, "review", ana, eva, "--json")
    assert [change["better"] for change in json.loads(out)["changes"]] == ["Mejor así."]


def test_readings_of_a_changed_text_count_for_nothing(capsys, tmp_path, made):
    ana = export(tmp_path / "a.json", made, "Ana", *[(3, "", "")] * 3)
    content = json.loads(ana.read_text())
    content["texts"][content["items"][0]["id"]] = "0" * 12
    ana.write_text(json.dumps(content))
    _, out = tool(capsys, "review", ana, "--to", tmp_path / "s.jsonl")
    assert "Left out: 1 readings of texts that were changed" in out and ": 2 texts that" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"of": "answers"}, "no export of a page of texts"),
        ({"format": "x"}, "a.json"),
        ({"items": [{"id": "empathy_es/mother_cancer", "verdict": 4}]}, "'verdict': 1, 2, 3 or null"),
    ],
)  # fmt: skip
def test_what_is_no_such_export(capsys, tmp_path, made, change, message):
    ana = export(tmp_path / "a.json", made, "Ana", *[(3, "", "")] * 3)
    ana.write_text(json.dumps({**json.loads(ana.read_text()), **change}))
    for path, said in ((ana, message), (tmp_path / "none.json", "none.json")):
        status, out = tool(capsys, "review", path)
        assert status == 2 and said in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--languages", ""), "--languages: name at least one of ar, bn"),
        (("--languages", "sw"), "--languages sw: no texts of it"),
        (("--languages", "es", "--n", "0"), "--n 0: at least 1"),
    ],
)
def test_pages_that_cannot_be(capsys, tmp_path, words, message):
    status, out = tool(capsys, "page", "--to", tmp_path / "p.html", *words)
    assert status == 2 and message in out


def test_a_page_read_by_keyboard_exported_and_imported_again(capsys, tmp_path, made, browser):
    opened = Annotator(browser, made)
    page = opened.page
    assert page.title().startswith("Reading of texts")
    assert opened.text("h1").strip() == "Is this how one says it?"
    assert page.locator("#scales fieldset:visible").count() == 1
    assert "question and answer" not in opened.text("#reference-title")
    assert opened.text("#answer") == POSTS[0][1]
    opened.named("Ana").press("3", "n", "1")
    page.fill("#better", "Otra cosa.")
    page.fill("#comment", "Says another thing.")
    reload_with_its_store(page)
    opened.press("Escape")
    assert page.input_value("#better") == "Otra cosa." and "2 of 3" in opened.text("#status")
    saved = opened.export(tmp_path / "ana.json")
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["of"] == "texts" and content["set_version"] == 6
    assert [item["verdict"] for item in content["items"]] == [3, 1, None]
    assert [item["better"] for item in content["items"]] == ["", "Otra cosa.", ""]
    other = Annotator(browser, made)
    other.page.set_input_files("#import", saved)
    other.page.locator("#status", has_text="Imported ana.json: 2 of 3").wait_for()
    status, out = tool(capsys, "review", saved)
    assert status == 0 and "wrong (Ana)" in out and "better: Otra cosa." in out
