"""`xling check judge`: a judge against physicians' labels, by hand."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from builders import write_lines
from scripted import between
from xling_metrics.aggregate import CLIPPED_MEAN
from xling_metrics.rubric import rater_scores, rubric_bounds, rubric_score

from xling_tasks.cli import main
from xling_tasks.data.own.labels import read_labels
from xling_tasks.errors import DataError


def test_scores_of_answers():
    assert rubric_score([True, False, False], [6, 4, -5]) == pytest.approx(0.6)
    assert rubric_score([False, False, True], [6, 4, -5]) == pytest.approx(-0.5)
    assert rubric_score([True, None, False], [6, 4, -5]) is None
    assert rubric_score([True], [-5]) is None
    assert rubric_bounds([True, None, None], [6, 4, -5]) == (pytest.approx(0.1), pytest.approx(1))
    assert CLIPPED_MEAN([-0.5, 0.2, None]) == 0.0
    assert CLIPPED_MEAN([-0.5, 1.0, None]) == pytest.approx(0.25)
    assert CLIPPED_MEAN([None]) is None
    with pytest.raises(ValueError, match="1 verdicts on 2 criteria"):
        rubric_score([True], [1, 2])


def test_a_rater_against_every_label_of_others():
    # Pairs: TT TT TF | FT FF | TF. Met: 2 hits; own 4, others 3: 4/7. Not met: 1 hit; 2 and 3: 2/5.
    scores = rater_scores([True, False, True], [[True, True, False], [True, False], [False]])
    assert scores.n == 6
    assert scores.balanced_f1 == pytest.approx((4 / 7 + 2 / 5) / 2)
    assert scores.agreement == pytest.approx(0.5)
    # By chance: 4/6 * 3/6 + 2/6 * 3/6 = 1/2.
    assert scores.kappa == pytest.approx(0.0)
    sklearn = pytest.importorskip("sklearn.metrics")
    own, other = [1, 1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 0, 1]
    made = rater_scores(list(map(bool, own)), [[bool(b)] for b in other])
    assert made.balanced_f1 == pytest.approx(sklearn.f1_score(other, own, average="macro"))
    assert made.kappa == pytest.approx(sklearn.cohen_kappa_score(other, own))
    assert rater_scores([], []) == (0, None, None, None)
    assert rater_scores([True], [[True]]).balanced_f1 is None


def row(answer: str, labels: list[bool], **more: Any) -> dict[str, Any]:
    return {
        "prompt_id": "p", "completion_id": "c", "completion": answer,
        "prompt": [{"role": "user", "content": "My head hurts."}],
        "rubric": "Asks about fever.", "category": "cluster:a", "binary_labels": labels,
        "anonymized_physician_ids": ["x"] * len(labels), "canary": "canary GUID", **more,
    }  # fmt: skip


def judge(prompt: str) -> str:
    if "BEGIN ANSWER" not in prompt:
        return "ready"
    answer = between(prompt, "ANSWER")
    if "unclear" in answer:
        return "I cannot say."
    (code,) = re.findall(r"BEGIN CRITERION (\w+)", prompt)
    return f"VERDICT {code}: {'MET' if 'fever' in answer else 'NOT MET'}"


def test_agreement_with_physicians(serve, tmp_path, capsys):
    spanish = {"translation_info": {"lang": "es"}, "prompt": [
        {"role": "user", "content": "My head hurts.", "translated_content": "Me duele."}]}  # fmt: skip
    rows = [
        row("Any fever?", [True, True, False]),
        row("Rest.", [True, False], category="cluster:b"),
        row("Is there a fever?", [False]),
        row("unclear", [True, True]),
        row("¿fever?", [True, True], **spanish),
    ]
    served = serve(judge)
    metadata = json.dumps({"judge": served.spec()})
    path = write_lines(tmp_path / "labels.jsonl", rows)
    assert main(["check", "judge", str(path), "--json", "--metadata", metadata]) == 0
    told = json.loads(capsys.readouterr().out)
    groups = {group["group"]: group for group in told["groups"]}
    assert list(groups) == ["all", "English", "Spanish", "cluster:a", "cluster:b"]
    english = groups["English"]
    assert (english["criteria"], english["unread"], english["pairs"]) == (4, 1, 6)
    assert english["balanced F1"] == pytest.approx((4 / 7 + 2 / 5) / 2)
    # Physicians: TT TF TT TF FT FT | TF FT | (alone) | TT TT: 4 of 10 pairs are equal.
    assert english["physicians: agreement"] == pytest.approx(4 / 10)
    assert groups["Spanish"]["agreement"] == 1.0
    assert any("Me duele." in prompt for prompt in served.prompts)
    assert not any("canary" in prompt for prompt in served.prompts)
    assert main(["check", "judge", str(path), "--n", "2", "--metadata", metadata]) == 0
    assert re.search(r"\| all +\| 2 ", capsys.readouterr().out)


def test_what_is_wrong_is_named(tmp_path):
    for change, said in (
        ({"binary_labels": ["yes"]}, "true or false is expected"),
        ({"binary_labels": []}, "'binary_labels' is missing"),
        ({"rubric": None}, "the text 'rubric' is missing"),
        ({"completion": " "}, "the text 'completion' is missing"),
        ({"prompt": [{"role": "user", "content": ""}]}, "'prompt' has no text"),
    ):
        path = write_lines(tmp_path / "labels.jsonl", [row("a", [True], **change)])
        with pytest.raises(DataError, match=f"line 1.*{said}"):
            read_labels(path, {})


def test_a_judge_is_needed(tmp_path, capsys):
    path = write_lines(tmp_path / "labels.jsonl", [row("a", [True])])
    assert main(["check", "judge", str(path)]) == 2
    assert "set the judge, as for the tasks: --metadata" in capsys.readouterr().err
