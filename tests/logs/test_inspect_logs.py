"""Logs that `inspect_ai` itself writes of a mock model, as `xling report` reads them."""

from __future__ import annotations

import pytest

from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.unscored import count_unparsed
from xling_tasks.report.verdicts import Options

inspect_ai = pytest.importorskip("inspect_ai")

N, REPLY = 60, "The answer is Default"
HINDI = {number for number in range(N) if number % 3}  # the model answers these as it should


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs of one task in two languages; in Hindi it runs each question twice."""
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    folder = tmp_path_factory.mktemp("inspect")
    for code in ("en", "hi"):
        targets = ["Default" if code == "en" or n in HINDI else "other" for n in range(N)]
        samples = [
            Sample(input=f"Question {n} in {code}", target=target, id=f"q{n}", metadata={"row": n})
            for n, target in enumerate(targets)
        ]
        task = inspect_ai.Task(
            name=f"exam_{code}", dataset=MemoryDataset(samples), solver=generate(),
            scorer=includes(), epochs=1 if code == "en" else 2,
        )  # fmt: skip
        output = ModelOutput.from_content("mockllm/model", REPLY)
        output.usage = ModelUsage(input_tokens=9, output_tokens=3)  # else counted by a download
        model = get_model("mockllm/model", custom_outputs=[output] * (2 * N))
        form = "eval" if code == "en" else "json"
        inspect_ai.eval(task, model=model, log_dir=str(folder), log_format=form, display="none")
    return sorted(path for path in folder.iterdir() if path.suffix in (".eval", ".json"))


@pytest.mark.parametrize("join", ["id", "row"])
def test_scores_and_verdicts_are_those_of_the_samples(logs, join):
    (model,) = read_models(logs, [f"exam_{{language}},join={join},chance=0"])
    assert model.name == "model"
    record = make_record([model], Options()).rows()
    values = {s["language"]: s["value"] for s in record["scores"] if s["metric"] == "task_acc"}
    assert values == {"en": 1.0, "hi": pytest.approx(len(HINDI) / N)}
    (verdict,) = record["verdicts"]
    assert (verdict["language"], verdict["verdict"], verdict["n"]) == ("hi", "worse", N)
    assert verdict["counts"] == {"value": [len(HINDI), N], "english": [N, N]}


def test_a_sample_without_a_score_is_an_unparsed_response(tmp_path):
    """It stays among the questions, wrong as in an exam, and verdicts have to hold without it."""
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import generate

    @scorer(metrics=[mean()])
    def silent():
        async def score(state, target):
            return Score(value=float("nan") if state.sample_id in ("q0", "q1") else 1.0)

        return score

    for code in ("en", "hi"):
        samples = [
            Sample(input=f"Question {n} in {code}", target="x", id=f"q{n}") for n in range(9)
        ]
        task = inspect_ai.Task(
            name=f"exam_{code}", dataset=MemoryDataset(samples), solver=generate(), scorer=silent()
        )
        output = ModelOutput.from_content("mockllm/model", REPLY)
        output.usage = ModelUsage(input_tokens=9, output_tokens=3)
        model = get_model("mockllm/model", custom_outputs=[output] * 9)
        inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    (model,) = read_models(sorted(tmp_path.glob("*.eval")), ["exam_{language},join=id,chance=0"])
    for task in model.tasks:
        (name,) = task.endpoints
        assert task.scores[name] == pytest.approx(7 / 9) and not task.limited
        assert count_unparsed(task, name)[:2] == (2, 9)
