"""The measures of the house, on a small one."""

from __future__ import annotations

import json

from tools import measures
from xling_metrics.languages import language_code


def test_sizes_and_places(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "a.py").write_text('"""Of correctness."""\nONE = {"en": 1, "es": 2}\n')
    (tmp_path / "room" / "b.py").write_text('OF = "correctness"\nX = {"en": 1, "es": 2, "hi": 3}\n')
    assert measures.rooms(tmp_path) == {".": (1, 2), "room": (1, 2)}
    assert measures.naming(tmp_path) == {"room/b.py": {"correctness"}}
    assert measures.keyed_by_language(tmp_path) == ["room/b.py"]


def test_what_runs_and_nothing_else():
    with (passed := measures.Passed()):
        json.dumps({})
        measures.literals(measures.TESTS)  # a generator that nothing asks runs no line of ours
        measures.lines(measures.PACKAGES[0] / "__init__.py")
    assert passed.files() == {}  # neither the library nor the tests are of the product
    with (passed := measures.Passed()):
        language_code("iw")
    [(path, ran)] = passed.files().items()
    assert path.name == "languages.py" and 1 < ran < 12
