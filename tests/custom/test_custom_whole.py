"""From a user's file to conclusions: what reads runs reads these as those of the built-in tasks."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import write_lines
from custom_tables import FEW, write_csv
from fixed import Fixed
from scripted import material

from xling_tasks.cli import main
from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models

N = 24
CODES = ("en", "pt", "sw")
# Of 24 answers as many are wrong; 6 of 24 are 0.25, 18 are 0.75.
WRONG = {"en": 0, "pt": 6, "sw": 18}


def rows(n: int = N) -> list[dict[str, Any]]:
    made = []
    for number in range(n):
        base = FEW[number % 2]
        row: dict[str, Any] = {"id": f"q{number:02}"}
        for code in CODES:
            row[f"question_{code}"] = f"{base[f'question_{code}']} ({number})"
            row[f"answer_{code}"] = f"{base[f'answer_{code}']} ({number})"
        made.append(row)
    return made


def answers(wrong: dict[str, int] = WRONG) -> Fixed:
    """Answers with the reference; marked as wrong for as many questions as `wrong` says."""
    known = {
        row[f"question_{code}"]: row[f"answer_{code}"] + " [wrong]" * (number < wrong[code])
        for number, row in enumerate(rows())
        for code in CODES
    }
    return Fixed(lambda context, _: next(known[asked] for asked in known if asked in context))


@pytest.fixture
def evaluated(run, tmp_path):
    """`evaluated(out, path)`: the folder of a run over the questions of a file."""

    def evaluated_(name: str, path: Path, model: Any = None, limit: Any = None, **metadata) -> Path:
        out, metadata = tmp_path / name, {"data_dir": str(path), **metadata}
        how = {"model": model or answers(), "limit": limit, "metadata": metadata}
        builders.evaluated(run, out, "xling_custom_correctness", **how)
        return out

    return evaluated_


def judge(prompt: str) -> str:
    wrong = "[wrong]" in material(prompt).get("answer_2", "")
    label = "contradictory" if wrong else "more comprehensive and appropriate"
    return verdict(prompt, label)


def verdict(prompt: str, label: str) -> str:
    asked = "answer_2" in material(prompt)
    return json.dumps({"reasoning": "So.", "verdict": label}) if asked else "ready"


@pytest.fixture
def outs(evaluated, serve, tmp_path) -> tuple[Path, Path, Path]:
    """A run, a run of a model that is right in Swahili too, and the file."""
    path = write_csv(tmp_path / "My clinic.csv", rows())
    spec = serve(judge).spec()
    better = evaluated("b", path, answers({**WRONG, "sw": 0}), judge=spec)
    return evaluated("a", path, judge=spec), better, path


def test_report_compare_annotate_and_submit_read_each_language(outs, tmp_path, capsys):
    first, second, _ = outs
    assert main(["report", str(first), "--to", str(tmp_path / "rep")]) == 0
    told = json.loads(next((tmp_path / "rep").glob("report.json")).read_text("utf-8"))
    harm = {
        item["language"]: (item["estimate"], item["verdict"], item["n"])
        for item in told["verdicts"]
        if item["metric"] == "contradictory"
    }
    assert harm["sw"] == (pytest.approx(0.75), "worse", N)
    assert harm["pt"][0] == pytest.approx(0.25) and harm["pt"][1] in ("worse", "inconclusive")
    assert {item["dataset"] for item in told["verdicts"]} == {"my-clinic"}
    page = (tmp_path / "rep" / "report.md").read_text("utf-8")
    assert page.startswith("# My clinic: 24 questions in each language.")
    assert main(["compare", str(first), str(second), "--to", str(tmp_path / "cmp")]) == 0
    said = capsys.readouterr().out
    assert "Swahili" in said and "better" in said.lower()

    page = tmp_path / "page.html"
    assert main(["annotate", str(first), "--to", str(page), "--n", "5", "--languages", "sw"]) == 0
    assert FEW[0]["answer_sw"] in page.read_text("utf-8")
    submit = ["submit", "hf", str(first), "--model-id", "me/m", "--to", str(tmp_path / "hf")]
    assert main(submit) == 2 and "--dataset-id names the one" in capsys.readouterr().err
    assert main([*submit, "--dataset-id", "me/clinic"]) == 0
    written = (tmp_path / "hf" / "README.md").read_text("utf-8")
    assert "type: me/clinic" in written and "claws-lab" not in written


def test_two_files_of_one_name_are_neither_compared_nor_one_dataset(evaluated, tmp_path, capsys):
    outs = []
    for number, language in enumerate(("pt", "sw")):
        path = write_csv(tmp_path / "clinic.csv", rows(N - number))
        outs.append(str(evaluated(f"out_{number}", path, languages=[language])))
    assert main(["compare", *outs]) == 2
    assert "data.sha256" in capsys.readouterr().err
    shutil.copytree(outs[1], outs[0], dirs_exist_ok=True)
    with pytest.raises(DataError, match="another file called clinic.csv"):
        read_models(outs[:1])


def test_a_replay_scores_the_same_answers_again(run, outs, serve, tmp_path):
    first, _, path = outs
    harsh = serve(lambda prompt: verdict(prompt, "contradictory"))
    found = run(
        "xling_custom_correctness", model="xling_replay", model_args={"path": str(first)},
        metadata={"data_dir": str(path), "judge": harsh.spec()},
    )  # fmt: skip
    tasks = builders.by_language(found, "xling_custom_correctness")
    scores = {
        code: (own.scores["contradictory"], own.scores["n_judged"]) for code, own in tasks.items()
    }
    assert scores == dict.fromkeys(CODES, (1, N))


def test_limit_cuts_the_same_questions_in_all_languages(evaluated, tmp_path):
    path = write_csv(tmp_path / "clinic.csv", rows())
    (model,) = read_models([evaluated("out", path, limit=7)])
    assert {task.task_key.language: len(task.ids) for task in model.tasks} == dict.fromkeys(
        CODES, 7
    )
    assert {task.results.count["effective"] for task in model.tasks} == {7}
    assert all(task.limited and task.ids == model.tasks[0].ids for task in model.tasks)


def test_multiple_choice_is_reported_as_shares_of_the_same_questions(run, tmp_path, capsys):
    lines = [
        {"id": f"q{n:02}", "correct": "B", "options_en": ["x", "y", "z"], "options_pt": ["u", "v", "w"],
         "question_en": f"Which ({n})?", "question_pt": f"Qual ({n})?"}
        for n in range(N)
    ]  # fmt: skip
    out, path = tmp_path / "out", write_lines(tmp_path / "quiz.jsonl", lines)
    chooses = Fixed(lambda context, _: "A" if "Qual (1" in context else "B")
    builders.evaluated(
        run, out, "xling_custom_mcqa", model=chooses, metadata={"data_dir": str(path)}
    )
    assert main(["report", str(out), "--to", str(tmp_path / "rep")]) == 0
    markdown = (tmp_path / "rep" / "report.md").read_text("utf-8")
    # Wrong are 1 and 10 to 19. Guessing is not taken off: the questions are the same.
    assert "13 of 24 (54%) in Portuguese, 24 of 24 (100%) in English" in markdown
    with (tmp_path / "rep/tables/mcqa.csv").open(encoding="utf-8", newline="") as file:
        own = {row["Language"]: row for row in csv.DictReader(file)}
    assert float(own["Portuguese"]["Right"]) == pytest.approx(13 / 24)
