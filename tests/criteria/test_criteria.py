"""What results are about: recorded by tasks, read back, and told by name for old versions only."""

from __future__ import annotations

import json

import pytest
from xling_metrics.languages import ALL_LANGUAGES

from xling_tasks.criteria import CRITERIA, Form, TaskKey, about, form_of, metric_key_of, task_key_of
from xling_tasks.errors import DataError


def test_endpoints_are_metrics_that_compare_across_languages():
    for criterion in CRITERIA.values():
        assert criterion.endpoints
        for endpoint in criterion.endpoints:
            record = criterion.metrics[endpoint.metric]
            assert record.across_languages and record.higher_is_better is not None
            assert 0 < endpoint.margin < 1


@pytest.mark.parametrize(
    ("criterion", "starts", "ends", "endpoints"),
    [
        ("verifiability", ("macro_recall", "acc"), ("_t0.25", "_t1.0", "_t0.0"), ["macro_recall_t0.0"]),
        ("consistency", ("sim_sent", "sim_sent_src", "acc"), ("_t0.0", "_t0.5"), ["sim_sent_t0.5"]),
        # One temperature is the lowest and the highest.
        ("consistency", ("sim_1gram",), ("_t0.7",), ["sim_1gram_t0.7"]),
        # Means over languages are none.
        ("information", ("information_f1",), ("", "_es", "_hi", "_script_latin", "_family_romance"),
         ["information_f1_es", "information_f1_hi"]),
    ],
)  # fmt: skip
def test_the_endpoint_is_at_the_temperature_that_the_criterion_names(
    criterion, starts, ends, endpoints
):
    names = [start + end for end in ends for start in starts]
    assert list(CRITERIA[criterion].endpoints_among(names)) == endpoints


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_is_recorded_is_read_back(criterion):
    recorded = json.loads(json.dumps(about(criterion, "liveqa", ["hi", "es"], ["acc"])))
    language = "" if CRITERIA[criterion].several_languages else "hi"
    assert task_key_of("any_name_at_all", recorded) == TaskKey(criterion, "liveqa", language)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format 2"),
        ({"format": None}, "format None"),
        ({"criterion": "correctnes"}, "Did you mean 'correctness'"),
        ({"criterion": ["correctness"]}, "unknown criterion"),
        ({"dataset": 3}, "no dataset"),
        ({"languages": []}, "no dataset and languages"),
    ],
)
def test_a_record_that_cannot_be_read_is_an_error_and_no_guess(change, said):
    recorded = {**about("correctness", "liveqa", ["hi"], []), **change}
    with pytest.raises(DataError, match=said):
        task_key_of("xlinghealth_correctness_liveqa_hi", recorded)


def test_every_metric_of_a_run_is_in_the_table(run):
    """Directions, and what each task records, on real runs of the bundled data."""
    places = [
        ("correctness", "demo", "hi"), ("consistency", "demo", "hi"), ("verifiability", "demo", "hi"),
        ("verifiability_ll", "demo", "hi"), ("information", "demo", ""), ("empathy", "xling", ""),
        ("mmedbench_mcqa", "demo", "ja"), ("mmedbench_mcqa_ll", "demo", "ja"),
        ("mmedbench_rationale_ft", "demo", "ja"),
    ]  # fmt: skip
    metadata = {"source_encoder": False, "encoder": False, "topic_seeds": 2, "k": 2}
    tasks = {name_of(*place): TaskKey(*place) for place in places}
    results = run(list(tasks), limit=2, metadata=metadata)
    for task, expected in tasks.items():
        recorded = results["configs"][task]["metadata"]["xling"]["about"]
        place = task_key_of(task, recorded)
        assert place == expected
        if not CRITERIA[place.criterion].several_languages:
            assert recorded["languages"] == [expected.language]
        assert set(recorded["languages"]) <= set(ALL_LANGUAGES)
        for name, better in results["higher_is_better"][task].items():
            record = CRITERIA[place.criterion].metrics[metric_key_of(place, name)[0].metric]
            assert record.higher_is_better is better, name


def name_of(criterion, dataset, language):
    if dataset == "xling":
        return f"xling_{criterion}"
    start = "" if criterion.startswith("mmedbench") else "xlinghealth_"
    return f"{start}{criterion}_{dataset}_{language}".rstrip("_")


def test_a_criterion_and_the_way_of_asking():
    assert form_of("mmedbench_rationale_ft") == Form("mmedbench_rationale", True, False)
    assert form_of("verifiability_ll") == Form("verifiability", False, True)
    assert form_of("recall") == Form("recall", False, False)
    assert {form_of(name).base for name in CRITERIA} <= {*CRITERIA}
