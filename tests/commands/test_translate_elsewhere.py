"""`xling translate export` and `import`, and scores from translations made elsewhere."""

from __future__ import annotations

import json

import pytest
from builders import evaluated, lm_eval, results_in, with_all

from xling_tasks.cli import main
from xling_tasks.commands.translate.elsewhere import Text

T = "xlinghealth_consistency_demo_"
ENGLISH = "Drink water, rest, and see a doctor if the fever does not go down within three days."
SPANISH = "Beba agua, descanse y consulte a un médico si la fiebre no baja en tres días, por favor."


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, rows):
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


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


def test_a_run_with_a_file_of_other_texts_ends_with_an_error(tmp_path, run, monkeypatch):
    from xling_tasks.errors import DataError

    other = write(tmp_path / "t.jsonl", [{"language": "es", "text": "a", "translation": "b"}])
    translator = {"model": "file", "model_args": {"path": str(other)}}
    metadata = {
        "k": 2,
        "temperatures": [1.0],
        "encoder": False,
        "topic_seeds": 0,
        "translator": translator,
    }
    with pytest.raises(
        DataError, match=r"t\.jsonl: has 0 of the \d+ texts.*xling translate export"
    ):
        run(T + "es", limit=2, metadata=metadata)
    with pytest.raises(DataError, match=r"t\.jsonl: has no translations of hi to en"):
        run(T + "hi", limit=2, metadata=metadata)


def test_answers_in_several_languages_of_one_task(tmp_path, run, capsys):
    out = tmp_path / "out"
    evaluated(run, out, "xling_empathy", limit=2, predict_only=True,
              metadata={"languages": ["es", "ar"], "translator": None})  # fmt: skip
    assert xling("export", out, "--to", tmp_path / "texts.jsonl") == 0
    rows = rows_of(tmp_path / "texts.jsonl")
    assert {row["language"] for row in rows} == {"es", "ar"}
    samples = rows_of(next(out.rglob("samples_*.jsonl")))
    codes = list(samples[0]["doc"]["text"])
    spoken = {
        (code, replies[0].strip())
        for row in samples
        for code, replies in zip(codes, row["resps"])
        if code != "en"
    }
    assert {(row["language"], row["text"]) for row in rows} == spoken


def test_what_comes_back_is_checked(tmp_path, texts, capsys):
    rows = rows_of(texts)
    good = [{**row, "translation": f"{ENGLISH} {at}"} for at, row in enumerate(rows)]

    def importing(found, *words):
        back = write(tmp_path / "back.jsonl", found)
        return "import", back, "--of", texts, "--to", tmp_path / "ready.jsonl", *words

    short = "Descanse y beba mucha agua."
    faults = {
        "1 without a line: " + rows[4]["id"]: good[:4],
        "1 with more than one line: lines 1 and 6": [*good, {**good[0], "translation": "Another."}],
        "1 with an id that was not sent: line 6 ('beef')": [*good, {"id": "beef", "translation": "x"}],
        "1 whose source text is another than was sent: line 2": [
            *good[:1], {**good[1], "text": SPANISH + " Dos!"}, *good[2:]],
        "1 whose source text is another": [{**good[0], "language": "pt"}, *good[1:]],
        "1 with an empty translation: line 3": [*good[:2], {**good[2], "translation": " "}, *good[3:]],
        "2 whose translation is not in the language wanted: line 1, line 2": [
            {**good[0], "translation": SPANISH}, {**good[1], "translation": short}, *good[2:]],
        "whose translation is not in the language wanted: line 5": [
            *good[:4], {**good[4], "translation": "发烧时请多喝水，多休息，三天不退烧请去看医生。"}],
    }  # fmt: skip
    for said, found in faults.items():
        error = refused(capsys, *importing(found))
        assert said in error and "back.jsonl: of 5 texts" in error, (said, error)
        kind = next(
            (k for k in ("without a line", "empty", "not in the language") if k in said), None
        )
        assert ("--accept" in error) == (kind is not None)
        assert not (tmp_path / "ready.jsonl").exists()
    several = refused(capsys, *importing([{**good[0], "translation": ""}, good[1], good[1]]))
    assert "1 with more than one line" in several and "1 with an empty" in several
    assert "3 without a line" in several
    # Accepted: left out, and said so.
    assert (
        xling(
            *importing([*good[:3], {**good[3], "translation": ""}], "--accept", "missing", "empty")
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "3 of 5 texts have a translation" in said and "Note: 1 without a line" in said
    ready = rows_of(tmp_path / "ready.jsonl")
    assert [row["text"] for row in ready] == [row["text"] for row in rows[:3]]
    assert all(set(row) == {"language", "target", "text", "translation"} for row in ready)


def test_files_that_are_none(tmp_path, texts, capsys):
    rows = rows_of(texts)
    to = tmp_path / "ready.jsonl"
    back = write(tmp_path / "back.jsonl", [{**row, "translation": ENGLISH} for row in rows])
    for content, said in (
        ("{", "line 1: not valid JSON"), ("[1]", "line 1: expected an object"),
        ('{"id": "x"}', "line 1, field 'translation': missing"),
        ('{"id": "x", "translation": 3}', "line 1, field 'translation': expected text, got 3"),
        ('{"id": "x", "translatoin": "a"}', "field 'translatoin': unknown. Did you mean 'translation'"),
    ):  # fmt: skip
        bad = tmp_path / "bad.jsonl"
        bad.write_text(content, encoding="utf-8")
        assert said in refused(capsys, "import", bad, "--of", texts, "--to", to)
    assert "nowhere" in refused(capsys, "import", tmp_path / "nowhere", "--of", texts, "--to", to)
    changed = write(tmp_path / "changed.jsonl", [{**rows[0], "text": "Otra cosa."}])
    assert "does not belong to its text" in refused(
        capsys, "import", back, "--of", changed, "--to", to
    )
    assert "has no texts" in refused(
        capsys, "import", back, "--of", write(tmp_path / "e.jsonl", []), "--to", to
    )
    assert "is there already" in refused(capsys, "import", back, "--of", texts, "--to", texts)
    empty = tmp_path / "empty"
    empty.mkdir()
    error = refused(capsys, "export", empty, "--to", tmp_path / "t.jsonl")
    assert "no answers that scoring would translate" in error and "--log_samples" in error
    assert "nowhere" in refused(
        capsys, "export", tmp_path / "nowhere", "--to", tmp_path / "t.jsonl"
    )
