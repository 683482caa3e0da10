"""`xling translate export` and `import`, and scores from translations made elsewhere."""

from __future__ import annotations

import json

import pytest
from builders import evaluated, lm_eval, results_in, with_all
from builders import write_lines as write

from xling_tasks.cli import main
from xling_tasks.commands.translate.elsewhere import Text
from xling_tasks.errors import DataError

T = "xlinghealth_consistency_demo_"
ENGLISH = "Drink water, rest, and see a doctor if the fever does not go down within three days."
SPANISH = "Beba agua, descanse y consulte a un médico si la fiebre no baja en tres días, por favor."


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def xling(*words):
    return main(["translate", *map(str, words)])


def refused(capsys, *words):
    assert xling(*words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.fixture
def texts(tmp_path):
    """Five texts as `export` writes them."""
    spanish = [f"{SPANISH} {word}." for word in ("Uno", "Dos", "Tres", "Cuatro", "Cinco")]
    return write(tmp_path / "texts.jsonl", [Text("es", text).row() for text in spanish])


def test_round_trip_through_the_command_line(tmp_path, capsys, monkeypatch):
    """Consistency generated without a translator, translated elsewhere, scored by replay."""
    words = ["--tasks", f"{T}en,{T}es,{T}hi", "--limit", "3", "--log_samples", "--metadata"]
    quick = {"k": 3, "temperatures": [1.0], "encoder": False, "source_encoder": False, "topic_seeds": 0,
             "xling_cache": str(tmp_path / "cache")}  # fmt: skip
    model = ["--model", "xling_baseline", "--output_path", "answers"]
    lm_eval(tmp_path, *model, *words, json.dumps(quick))
    monkeypatch.chdir(tmp_path)
    assert xling("export", "answers", "--to", "texts.jsonl") == 0
    said = capsys.readouterr().out
    rows = rows_of(tmp_path / "texts.jsonl")
    samples = next((tmp_path / "answers").rglob(f"samples_{T}es_*.jsonl"))
    answers = {reply.strip() for row in rows_of(samples) for reply in row["resps"][0]}
    assert {row["text"] for row in rows if row["language"] == "es"} == answers
    assert {row["language"] for row in rows} == {"es", "hi"} and "(es 9, hi 9)" in said
    # Elsewhere: every text becomes an English one of its own.
    back = [
        {"id": row["id"], "translation": f"{ENGLISH} That is answer number {at}."}
        for at, row in enumerate(rows[::-1])
    ]
    write(tmp_path / "back.jsonl", back)
    assert xling("import", "back.jsonl", "--of", "texts.jsonl", "--to", "ready.jsonl") == 0
    assert f"{len(rows)} of {len(rows)} texts" in capsys.readouterr().out
    again = ["--model", "xling_replay", "--model_args", "path=answers", "--output_path", "scored"]
    translator = {"translator": {"model": "file", "model_args": {"path": "ready.jsonl"}}}
    lm_eval(tmp_path, *again, *words, json.dumps(quick | translator))
    scores = with_all(results_in(tmp_path / "scored"))["results"]
    for code in ("es", "hi"):
        assert scores[T + code]["translation_failed_rate_t1.0,none"] == 0.0
        assert 0.5 < scores[T + code]["sim_1gram_t1.0,none"] <= 1.0


def test_a_run_with_a_file_of_other_texts_ends_with_an_error(tmp_path, run):
    other = write(tmp_path / "t.jsonl", [{"language": "es", "text": "a", "translation": "b"}])
    translator = {"model": "file", "model_args": {"path": str(other)}}
    metadata = {"k": 2, "temperatures": [1.0], "encoder": False, "topic_seeds": 0,
                "translator": translator}  # fmt: skip
    for code, message in (
        ("es", r"t\.jsonl: has 0 of the \d+ texts.*xling translate export"),
        ("hi", r"t\.jsonl: has no translations of hi to en"),
    ):
        with pytest.raises(DataError, match=message):
            run(T + code, limit=2, metadata=metadata)


def test_answers_in_several_languages_of_one_task(tmp_path, run):
    out, to = tmp_path / "out", tmp_path / "texts.jsonl"
    evaluated(run, out, "xling_empathy", limit=2, predict_only=True,
              metadata={"languages": ["es", "ar"], "translator": None})  # fmt: skip
    assert xling("export", out, "--to", to) == 0
    samples = rows_of(next(out.rglob("samples_*.jsonl")))
    spoken = {(code, replies[0].strip()) for row in samples
              for code, replies in zip(samples[0]["doc"]["text"], row["resps"]) if code != "en"}  # fmt: skip
    assert {code for code, _ in spoken} == {"es", "ar"}
    assert {(row["language"], row["text"]) for row in rows_of(to)} == spoken


def test_what_comes_back_is_checked(tmp_path, texts, capsys):
    rows, ready = rows_of(texts), tmp_path / "ready.jsonl"
    good = [{**row, "translation": f"{ENGLISH} {at}"} for at, row in enumerate(rows)]

    def importing(found, *words):
        back = write(tmp_path / "back.jsonl", found)
        return "import", back, "--of", texts, "--to", ready, *words

    def but(**changes):
        """The good ones, of which some (`r2`: the third) are changed."""
        return [row | changes.get(f"r{at}", {}) for at, row in enumerate(good)]

    def translated(text):
        return {"translation": text}

    chinese = "发烧时请多喝水，多休息，三天不退烧请去看医生。"
    language = "whose translation is not in the language wanted"
    for said, found, acceptable in (
        (f"1 without a line: {rows[4]['id']}", good[:4], True),
        ("1 with more than one line: lines 1 and 6", [*good, good[0] | translated("Another.")], False),
        ("1 with an id that was not sent: line 6 ('beef')", [*good, {"id": "beef", "translation": "x"}], False),
        ("1 whose source text is another than was sent: line 2", but(r1={"text": SPANISH + " Dos!"}), False),
        ("1 whose source text is another", but(r0={"language": "pt"}), False),
        ("1 with an empty translation: line 3", but(r2=translated(" ")), True),
        (f"2 {language}: line 1, line 2", but(r0=translated(SPANISH), r1=translated("Descanse y beba mucha agua.")), True),
        (f"{language}: line 5", but(r4=translated(chinese)), True),
    ):  # fmt: skip
        error = refused(capsys, *importing(found))
        assert said in error and "back.jsonl: of 5 texts" in error, (said, error)
        assert ("--accept" in error) == acceptable and not ready.exists()
    several = refused(capsys, *importing([good[0] | translated(""), good[1], good[1]]))
    for said in ("1 with more than one line", "1 with an empty", "3 without a line"):
        assert said in several
    # Accepted: left out, and said so.
    accepted = importing([*good[:3], good[3] | translated("")], "--accept", "missing", "empty")
    assert xling(*accepted) == 0
    said = capsys.readouterr().out
    assert "translated: 3 of 5 texts." in said and "Note: 1 without a line" in said
    assert [row["text"] for row in rows_of(ready)] == [row["text"] for row in rows[:3]]
    assert all(set(row) == {"language", "target", "text", "translation"} for row in rows_of(ready))


def test_files_that_are_none(tmp_path, texts, capsys):
    rows, to, nowhere = rows_of(texts), tmp_path / "ready.jsonl", tmp_path / "nowhere"
    back = write(tmp_path / "back.jsonl", [{**row, "translation": ENGLISH} for row in rows])
    changed = write(tmp_path / "changed.jsonl", [{**rows[0], "text": "Otra cosa."}])
    none = write(tmp_path / "e.jsonl", [])
    bad, empty = tmp_path / "bad.jsonl", tmp_path / "empty"
    empty.mkdir()
    for content, said in (
        ("{", "line 1: not valid JSON"), ("[1]", "line 1: expected an object"),
        ('{"id": "x"}', "line 1, field 'translation': missing"),
        ('{"id": "x", "translation": 3}', "line 1, field 'translation': expected text, got 3"),
        ('{"id": "x", "translatoin": "a"}', "field 'translatoin': unknown. Did you mean 'translation'"),
    ):  # fmt: skip
        bad.write_text(content, encoding="utf-8")
        assert said in refused(capsys, "import", bad, "--of", texts, "--to", to)
    for words, said in (
        (("import", nowhere, "--of", texts, "--to", to), "nowhere"),
        (("import", back, "--of", changed, "--to", to), "does not belong to its text"),
        (("import", back, "--of", none, "--to", to), "has no texts"),
        (("import", back, "--of", texts, "--to", texts), "is there already"),
        (("export", empty, "--to", to), "no answers that scoring would translate"),
        (("export", empty, "--to", to), "--log_samples"),
        (("export", nowhere, "--to", to), "nowhere"),
    ):
        assert said in refused(capsys, *words)
