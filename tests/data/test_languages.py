"""The published groups of languages, and the linguists'."""

from __future__ import annotations

import pytest

from xling_tasks.languages import BRANCH_GROUPS, FAMILY_GROUPS, LANGUAGES, SCRIPT_GROUPS


@pytest.mark.parametrize("groups", [SCRIPT_GROUPS, FAMILY_GROUPS, BRANCH_GROUPS])
def test_every_language_but_english_is_in_one_group(groups):
    members = [code for codes in groups.values() for code in codes]
    assert sorted(members) == sorted(set(LANGUAGES) - {"en"}) and len(members) == 30


def test_families_are_those_of_the_papers_table_12():
    moved = {
        name: set(FAMILY_GROUPS[name]) - set(BRANCH_GROUPS.get(name, ())) for name in FAMILY_GROUPS
    }
    assert moved == {
        "romance": {"de", "nl"}, "indo_aryan": {"fa"}, "slavic": set(), "dravidian": set(),
        "other": set(),
    }  # fmt: skip
    assert BRANCH_GROUPS["germanic"] == ("de", "nl") and "fa" in BRANCH_GROUPS["other"]
