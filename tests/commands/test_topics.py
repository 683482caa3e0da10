"""`xling topics`, with a scripted judge over HTTP, and reports by topic and category."""

from __future__ import annotations

import json
import re

import pytest
from builders import task_of, write_run
from scripted import material

from xling_tasks.cli import main
from xling_tasks.data.topics import UNCLASSIFIED, read_topics, write_topics
from xling_tasks.errors import DataError


def item(prompt):
    """The question that a judge is asked about; None for other requests."""
    return material(prompt).get("question")


def topics(served, to, *more, tasks="mmedbench_mcqa_demo_fr"):
    words = ["topics", "--tasks", tasks, "--to", str(to), *map(str, more)]
    return main([*words, "--metadata", json.dumps({"judge": served.spec()})])


def test_two_tries_then_unclassified_and_counted(serve, tmp_path, capsys):
    """Every third question is named at once, the others never."""
    asked: dict[str, int] = {}

    def judge(prompt):
        text = item(prompt)
        if text is None:
            return "It is about drugs, I think."
        asked[text] = asked.get(text, 0) + 1
        named = sum(map(ord, text)) % 3 == 0
        return '{"topic": "Pharmacology"}' if named else f"It is about drugs, I think: {text}"

    to, served = tmp_path / "topics.jsonl", serve(judge)
    assert topics(served, to) == 0
    said = capsys.readouterr().out
    topics_read = read_topics(to)
    assert len(topics_read) == 12 == len(asked) and set(asked.values()) == {1}
    assert all(re.search(r"^A\. ", text, re.M) for text in asked)  # with its options
    never = sum(sum(map(ord, text)) % 3 > 0 for text in asked)
    assert list(topics_read.values()).count(UNCLASSIFIED) == never > 0
    assert sum("JSON object that I asked for" in prompt for prompt in served.prompts) == never
    assert f"12 questions, {never} of them unclassified" in said
    assert topics(serve(judge), to) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_list_of_your_own_and_questions_of_several_languages(serve, tmp_path):
    (tmp_path / "mine.txt").write_text("\ufeffHeart\r\n\u3000\n All  else")

    def judge(prompt):
        assert "- Heart\n- All else" in prompt or item(prompt) is None
        return '{"topic": "All else"}' if item(prompt) else "ready"

    served, to = serve(judge), tmp_path / "t.jsonl"
    tasks = "xlinghealth_verifiability_demo_hi,xlinghealth_verifiability_demo_en"
    assert topics(served, to, "--list", tmp_path / "mine.txt", tasks=tasks) == 0
    assert set(read_topics(to).values()) == {"All else"}
    assert {dataset for dataset, _ in read_topics(to)} == {"demo"}
    asked = [text for text in map(item, served.prompts) if text]
    # Once each, in English.
    assert len(asked) == 24 and not any(re.search("[ऀ-ॿ]", text) for text in asked)


def test_the_report_groups_by_topic_and_category(tmp_path, capsys):
    task = "mmedbench_mcqa_ja"
    rows = [
        {"doc": {"question_id": f"q{i}", "category": "drugs" if i < 2 else "diet"}, "acc": float(i % 2)}
        for i in range(6)
    ]  # fmt: skip
    record = {"version": "0.1.0", "settings": {}, "data": {}, "prompts": {}, "signatures": {}}
    made = task_of({"acc": 0.5}, rows, record=record, better={"acc": True})
    write_run(tmp_path, {task: made}, config={"model_args": {"pretrained": "m"}})
    named = {"q0": "Neurology", "q1": "Neurology", "q3": "Neurology", "q2": UNCLASSIFIED}
    named = {("mmedbench", key): topic for key, topic in named.items()}
    other = {("ward", "q4"): "Neurology"}  # another dataset's question
    write_topics(tmp_path / "topics.jsonl", named | other)

    def scores(*words):
        to = tmp_path / f"r{len(words)}"
        assert main(["report", str(tmp_path), "--to", str(to), *words]) == 0
        rows = json.loads((to / "report.json").read_text("utf-8"))["scores"]
        return {row["topic"]: (row["n"], row["value"]) for row in rows if row["topic"]}

    # Right: q1, q3, q5. Neurology has q0, q1, q3.
    assert scores("--topics", str(tmp_path / "topics.jsonl")) == {
        "Neurology": (3, pytest.approx(2 / 3)), UNCLASSIFIED: (1, 0.0), "without one": (2, 0.5)}  # fmt: skip
    assert scores() == {"diet": (4, 0.5), "drugs": (2, 0.5)}
    write_topics(tmp_path / "other.jsonl", {("", "q9"): "Neurology"} | other)
    assert main(["report", str(tmp_path), "--topics", str(tmp_path / "other.jsonl")]) == 2
    assert "other.jsonl: has none of these questions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question_id": "a"}', "line 1: question_id and a text as topic"),
        ('{"question_id": "a", "topic": "x"}\n{"question_id": "a", "topic": "y"}', "two topics"),
    ],
)
def test_a_file_of_topics_that_is_wrong(tmp_path, text, message):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(DataError, match=message):
        read_topics(tmp_path / "t.jsonl")
