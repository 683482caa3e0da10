"""The rows of `languages.yaml`: well formed, and what a row means."""

from __future__ import annotations

import pytest
from xling_metrics.language import LABELS, has_own_script
from xling_metrics.languages import KNOWN, SCRIPTS, Language, known, language_code, letters_of

pytestmark = pytest.mark.core


@pytest.mark.parametrize("row", KNOWN.values(), ids=str)
def test_a_row_is_well_formed(row: Language):
    assert row.name and row.code == language_code(row.code)
    assert row.script in SCRIPTS and row.nllb[:3].isalpha()
    assert set(row.scripts) <= SCRIPTS.keys() and (not row.scripts or row.script == row.scripts[0])
    assert set(row.near) <= KNOWN.keys() - {row.code}
    assert 0 < row.density <= 1.5
    assert bool(row.script_group) == bool(row.branch) == bool(row.family) == (
        row.ours and row.code != "en"
    )  # fmt: skip


def test_no_two_rows_claim_one_code():
    taken: dict[str, str] = {}
    for row in KNOWN.values():
        for alias in {row.code, row.nllb[:3], row.country} - {""}:
            if alias in taken:
                # Norwegian is Bokmal; Filipino has a code of its own and Tagalog's.
                assert {taken[alias], row.code} in ({"nb", "no"},), alias
            taken[alias] = row.code


def test_what_langid_knows_has_a_row():
    assert KNOWN.keys() >= LABELS


@pytest.mark.parametrize(
    ("code", "own"), [("hi", True), ("ja", True), ("am", True), ("es", False), ("sr", False),
                      ("ku", False), ("zh", True), ("xx", False)]
)  # fmt: skip
def test_a_foreign_word_shows_by_its_script_where_there_is_one_script_and_not_latin(code, own):
    assert has_own_script(code) is own


def test_letters_of_scripts():
    # KATAKANA-HIRAGANA PROLONGED SOUND MARK belongs to no script of its own; a digit is no letter.
    assert letters_of(known("ja").unicode_scripts).findall("コーヒー2杯 ok") == list("コーヒー杯")
    assert letters_of(known("sr").unicode_scripts).findall("lek лек") == list("lekлек")


def test_a_row_with_a_wrong_field_is_named(tmp_path, monkeypatch):
    from xling_metrics import languages

    path = tmp_path / "languages.yaml"
    monkeypatch.setattr(languages, "_FILE", path)
    path.write_text("dag: {name: Dagbani, nllb: dag_Latn, nearr: [tw]}\n")
    with pytest.raises(ValueError, match=r"languages\.yaml, dag: unknown field 'nearr'"):
        languages._read()
    path.write_text("dag: {name: Dagbani}\n")
    with pytest.raises(ValueError, match="dag: a row needs name and nllb"):
        languages._read()
