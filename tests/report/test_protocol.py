"""`protocol=published`: what it fixes, and what it refuses."""

from __future__ import annotations

import pytest

from xling_tasks.errors import SettingError
from xling_tasks.settings import Settings

PUBLISHED = {"protocol": "published"}


def test_it_fixes_what_the_papers_fix():
    settings = Settings.parse(PUBLISHED, {})
    assert settings.temperatures == (0.0, 0.25, 0.5, 0.75, 1.0) and settings.k == 10
    assert settings.greedy_repeats == "k" and settings.topic_seeds == (0,)
    assert settings.bertscore_idf and not settings.english_floor and not settings.jury
    assert settings.dump()["protocol"] == "published"
    assert "protocol" not in Settings.parse({}, {}).dump()
    same = {
        "k": 10,
        "temperatures": [1, 0.75, 0.5, 0.25, 0],
        "encoder": "/models/bert-base-uncased",
    }
    assert Settings.parse({**PUBLISHED, **same}, {}).k == 10


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"k": 5}, "k=5 contradicts what XLingEval fixed, k=10"),
        ({"bertscore_idf": False}, "bertscore_idf=false contradicts what MMedBench"),
        ({"english_floor": True}, "contradicts what Translate, then evaluate"),
        (
            {"answer_extractor": "judge", "judge": "self"},
            "answer_extractor=.* contradicts .* no answer_extractor",
        ),
        ({"encoder": "minilm"}, "the papers' encoder is bert-base-uncased"),
    ],
)
def test_a_setting_that_contradicts_it_is_an_error(setting, said):
    with pytest.raises(SettingError, match=said):
        Settings.parse({**PUBLISHED, **setting}, {})


def test_tasks_of_no_paper_and_other_temperatures_are_refused(run):
    with pytest.raises(SettingError, match="in none of the papers"):
        run("xlinghealth_verifiability_ll_demo_en", metadata=PUBLISHED, limit=1)
    with pytest.raises(SettingError, match="contradicts --metadata protocol=published"):
        run("mmedbench_mcqa_demo_en", metadata=PUBLISHED, limit=1, gen_kwargs="temperature=0.3")
