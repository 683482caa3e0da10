"""Rows of tasks that are not ours."""

from __future__ import annotations

from xling_tasks.logs.external_tasks import Reading, fallbacks


def test_what_a_filter_could_not_read_is_known_after_its_further_steps():
    """As `polemo2_in` has it: letters become numbers, and what is none -1."""
    steps = [
        {"function": "regex", "regex_pattern": "([AB])"},
        {"function": "take_first"},
        {"function": "map", "mapping_dict": {"A": 0, "B": 1}, "default_value": -1},
    ]
    config = {"filter_list": [{"name": "f", "filter": steps}]}
    told = fallbacks(config, "f")
    assert "-1" in told and not {"0", "1"} & set(told)
    reading = Reading("exact_match", "f", "task_acc", told)
    for filtered, lost in ((-1, 1.0), (0, 0.0)):
        assert reading.rates({"filtered_resps": [filtered], "resps": [["x"]]}) == {
            "unparsed_rate": lost,
            "empty_rate": 0.0,
        }
    lower = {"filter_list": [{"name": "f", "filter": [steps[0], {"function": "lowercase"}]}]}
    assert fallbacks(lower, "f") == ("[invalid]",)
