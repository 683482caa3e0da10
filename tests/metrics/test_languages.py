"""The rows of `languages.yaml`: well formed, and what a row means."""

from __future__ import annotations

import pytest
from xling_metrics.langid_batches import known_labels
from xling_metrics.language import has_own_script
from xling_metrics.languages import (
    ALL_LANGUAGES,
    describe_missing_row,
    find_language,
    letter_pattern,
)

pytestmark = pytest.mark.core


def test_every_row_has_what_it_needs():
    for row in ALL_LANGUAGES.values():
        groups = {bool(row.script_group), bool(row.branch), bool(row.family)}
        assert groups == {row.ours and row.code != "en"}, row.code
    assert ALL_LANGUAGES.keys() >= set(known_labels())


def test_no_two_rows_claim_one_code():
    taken: dict[str, str] = {}
    for row in ALL_LANGUAGES.values():
        for alias in {row.code, row.nllb[:3]}:
            if alias in taken:
                # Norwegian is Bokmal; Filipino has a code of its own and Tagalog's.
                assert {taken[alias], row.code} in ({"nb", "no"},), alias
            taken[alias] = row.code


def test_scripts():
    codes = ("hi", "ja", "am", "zh", "es", "sr", "ku", "xx")
    assert [code for code in codes if has_own_script(code)] == ["hi", "ja", "am", "zh"]
    # KATAKANA-HIRAGANA PROLONGED SOUND MARK belongs to no script of its own; a digit is no letter.
    assert letter_pattern(find_language("ja").unicode_scripts).findall("コーヒー2杯 ok") == list(
        "コーヒー杯"
    )
    assert letter_pattern(find_language("sr").unicode_scripts).findall("lek лек") == list("lekлек")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dag: {name: Dagbani, nllb: dag_Latn, nearr: [dag]}", r"dag: unknown field 'nearr'"),
        ("dag: {name: Dagbani}", "dag: a row is like {name: Finnish"),
        ("DAG: {name: Dagbani, nllb: dag_Latn}", "DAG: expected a code of ISO 639-1"),
        ("dag: {name: Dagbani, nllb: dag_Lant}", "dag: nllb: expected .* Known scripts "),
        ("dag: {name: Dagbani, nllb: dag_Latn, scripts: [Arab]}", "scripts: the first .* Latn"),
        ("dag: {name: Dagbani, nllb: dag_Latn, near: tw}", r"dag: near: expected a list, as in"),
        ("dag: {name: Dagbani, nllb: dag_Latn, near: [no]}", r"dag: near: 'no' is not another row"),
        ("dag: {name: 3, nllb: dag_Latn}", "dag: name: expected a value like '', got 3"),
        (
            "a: &a [x]\ndag: {name: Dagbani, nllb: dag_Latn}\ndag: 1",
            "line 3: the key 'dag' .* in line 2",
        ),
        (
            "dag: {name: Twi, nllb: dag_Latn}\ntw: {name: Twi, nllb: twi_Latn}",
            "tw: 'Twi' is already that of dag",
        ),
        ("dag: {name: 'Dagbani, nllb: dag_Latn}", r"line \d+: not valid YAML .* quotation marks"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, monkeypatch, text, message):
    from xling_metrics import languages

    path = tmp_path / "languages.yaml"
    monkeypatch.setattr(languages, "_FILE", path)
    path.write_text(f"{text}\n")
    with pytest.raises(ValueError, match=rf"languages\.yaml.*{message}"):
        languages._read()


def test_a_code_without_a_row_has_the_one_that_was_meant():
    for code in ("FI", "fin", "Finnish"):
        assert f"{code!r} has no row. Did you mean 'fi'? Correct the code" in describe_missing_row(
            code
        )
    assert "'qq' has no row. Correct the code, or add a row to" in describe_missing_row("qq")
