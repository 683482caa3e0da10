"""What results are about: recorded by tasks, read back, and told by name for old versions only."""

from __future__ import annotations

import json

import pytest

from xling_tasks.criteria import CRITERIA, TaskKey, about, task_key_of
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
