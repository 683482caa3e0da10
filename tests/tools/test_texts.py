"""Native speakers read our prompts: the page, and what they said of it."""

from __future__ import annotations

import pytest
from annotating import data_of, export
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


POSTS = [(item["id"], item["text"]["es"]) for item in load_prompts(DATASETS["empathy"]).prompts]


def test_changes_are_listed_and_what_all_call_right_is_native_read(capsys, tmp_path, made):
    said = dict(zip((key for key, _ in POSTS), "323"))
    ana = export(made, "Ana", lambda item: said[item["question_id"]])
    ana.write_text(ana.read_text().replace(",2,,", ",2,Mejor así.,"))
    eva = export(made, "Eva", lambda item: "3")
    to = tmp_path / "status.jsonl"
    status, out = tool(capsys, "review", ana, eva, "--to", to)
    assert status == 0 and f"{to}: 2 texts" in out
    key, text = POSTS[1]
    assert f"empathy_es/{key}: unnatural (Ana)\n  now:  {text}\n  says: Mejor así." in out
    assert "| empathy_es | 3     | 0     | 1         | 2     |" in out
    counts = statuses(load_prompts(DATASETS["empathy"]), to)
    assert counts["es"] == {"native_read": 2, "author": 98} and counts["hi"] == {"author": 100}
    # Readings of a text that was changed since count for nothing.
    ana.write_text(ana.read_text().replace(data_of(made)["items"][0]["answer"], "0" * 12))
    _, out = tool(capsys, "review", ana)
    assert "Left out: 1 readings of texts that were changed" in out
