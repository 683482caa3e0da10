"""The run that tasks are bound to: what it holds, and a harness that no longer fits."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import types
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import builders
import lm_eval.evaluator
import pytest
from fixed import Fixed

from xling_tasks.errors import HarnessError
from xling_tasks.harness import run as harness
from xling_tasks.tasks.correctness import CorrectnessTask

ES, EN = "xlinghealth_correctness_demo_es", "xlinghealth_correctness_demo_en"


def speaker() -> Fixed:
    return Fixed(lambda *_: "Beba agua.")


@pytest.fixture
def seen(monkeypatch):
    """The run that each task saw in another thread while it was scored, and the model in its own."""
    found: list[tuple[harness.Run, Any]] = []
    score = CorrectnessTask.score

    def watched(self: Any) -> None:
        with ThreadPoolExecutor() as threads:
            run = threads.submit(harness.current).result()
        found.append((run, harness.current().lm))
        score(self)

    monkeypatch.setattr(CorrectnessTask, "score", watched)
    return found


def test_one_run_for_all_tasks_and_threads_and_another_in_the_next(run, seen, tmp_path):
    lm = speaker()
    tracker = types.SimpleNamespace(output_path=str(tmp_path))
    tracker.general_config_tracker = types.SimpleNamespace(log_experiment_args=lambda **_: None)
    run([ES, EN], model=lm, limit=1, random_seed=7, evaluation_tracker=tracker)
    run(ES, model="xling_baseline", model_args={"seed": 5}, limit=1)
    (first, own), (second, _), (third, _) = seen
    assert first is second is not third and own is lm
    assert (first.model, first.seeds[0], first.output) == (lm, 7, str(tmp_path))
    baseline = (third.model, dict(third.model_args), third.output)
    assert baseline == ("xling_baseline", {"seed": 5}, None)
    assert not first.command and first.token != third.token


def test_the_model_is_not_held_after_the_run(run):
    lm = speaker()
    run(ES, model=lm, limit=1)
    gone = weakref.ref(lm)
    del lm
    run(EN, limit=1)  # the tasks of the first run are over
    gc.collect()
    assert gone() is None


def test_evaluate_alone_knows_the_model_and_no_arguments(seen):
    lm = speaker()
    task = builders.our_tasks().load(ES)
    lm_eval.evaluator.evaluate(lm=lm, task_dict=task, limit=1, bootstrap_iters=0)
    ((run, own),) = seen
    assert own is lm and run.model is None and run.model_args == {} and run.seeds == (None,) * 4


def test_outside_of_a_run_there_is_none():
    assert harness.bind().lm is None and harness.current().token == ()


class _Renamed(ast.NodeTransformer):
    """One local variable of one function under another name."""

    def __init__(self, function: str, name: str) -> None:
        self.function, self.name = function, name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == self.function:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and part.id == self.name:
                    part.id = f"{self.name}_renamed"
                if isinstance(part, ast.arg) and part.arg == self.name:
                    part.arg = f"{self.name}_renamed"
        return node


def doctored(**renamed: str) -> Any:
    """The harness's evaluator with a local variable renamed in a function."""
    tree = ast.parse(Path(inspect.getsourcefile(lm_eval.evaluator)).read_text())
    for function, name in renamed.items():
        tree = _Renamed(function, name).visit(tree)
    module = types.ModuleType("lm_eval.evaluator")
    exec(compile(ast.fix_missing_locations(tree), "evaluator.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("name", ["lm", "start_date", "random_seed", "evaluation_tracker"])
def test_a_local_that_upstream_renames_is_an_error_that_names_the_version(monkeypatch, name):
    module = doctored(simple_evaluate=name)
    monkeypatch.setitem(sys.modules, "lm_eval.evaluator", module)
    version = lm_eval.__version__
    with pytest.raises(HarnessError, match=rf"lm_eval {version} does not fit.* no {name}\b"):
        module.simple_evaluate(
            model="xling_baseline", tasks=[ES], task_manager=builders.our_tasks()
        )


def test_so_is_a_function_that_upstream_renames(monkeypatch):
    module = doctored()
    for name in ("simple_evaluate", "evaluate"):
        function = inspect.unwrap(module.__dict__[name])
        function.__code__ = function.__code__.replace(co_name=f"run_{name}")
    with pytest.raises(HarnessError, match="neither simple_evaluate nor evaluate"):
        module.simple_evaluate(
            model="xling_baseline", tasks=[ES], task_manager=builders.our_tasks()
        )


def test_evaluate_without_lm_is_refused(monkeypatch):
    module = doctored(evaluate="lm")
    task = builders.our_tasks().load(ES)
    with pytest.raises(HarnessError, match="evaluate has no lm"):
        inspect.unwrap(module.evaluate)(lm_renamed=speaker(), task_dict=task, limit=1)
