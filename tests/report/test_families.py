"""Other tasks of the harness: joined only where the questions are known to be the same, and told as ours."""

from __future__ import annotations

import functools
import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import changed, saved, write_lines
from tasks_of_others import SAYS, chosen, docs, right, written, wrong
from tasks_of_others import run as run_tasks
from viewing import viewing

import xling_tasks
from xling_tasks.cli import main
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.families import known_families, member, name_of, proposals
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.tables.differences import differences


def gap(code: str, number: int) -> str:
    """85% in English; the same questions in Swahili, and in a copy of English; 50% in Hindi."""
    told = {"fr": "en", "sw": "en"}.get(code, code)
    chance = random.Random(f"{told}{number}").random()
    return right(number) if chance < (0.5 if code == "hi" else 0.85) else wrong(number)


@pytest.fixture(scope="module")
def exact(tmp_path_factory) -> Path:
    """MMLU-ProX's form: written answers that a filter of each language's own reads."""
    tasks = [(written(code, f"mmlu_prox_{code}_health"), docs(code, question_id=lambda i: 1000 + i))
             for code in ("en", "hi", "sw")]  # fmt: skip

    def says(code: str, number: int) -> str:
        unread = code == "sw" and number % 10 == 0
        return "I think it is plain." if unread else f"{SAYS[code]} ({gap(code, number)})"

    return run_tasks(tmp_path_factory.mktemp("exact"), tasks, says)


@pytest.fixture(scope="module")
def likely(tmp_path_factory) -> Path:
    """Belebele's form by log-likelihood, French a copy; and a task that nobody knows, without ids."""
    links = {"link": lambda i: f"https://w/{i // 2}", "question_number": lambda i: i % 2 + 1}
    scripts = ("eng_Latn", "hin_Deva", "fra_Latn", "aka_Latn", "hin_Latn")
    names = dict(zip(("en", "hi", "fr", "ak", "x"), scripts, strict=True))
    tasks = [(chosen(code, f"belebele_{own}"), docs(code, **links)) for code, own in names.items()]
    tasks += [(chosen(code, f"mytask_{code}"), docs(code)) for code in ("en", "hi")]
    return run_tasks(tmp_path_factory.mktemp("likely"), tasks, gap)


MINE, PROX = "mytask_{language}", "mmlu_prox_{language}_health"


def verdicts(*folders: Any, **options: Any) -> dict[str, Any]:
    rows = xling_tasks.read(*folders, n_resamples=1000, **options).conclusions()
    return {f"{row['dataset']} {row['language']}": row for row in rows}


def edited(out: Path, to: Path, task: str, change: Any) -> Path:
    """A copy of a run in which the rows of one task's samples, and the score with them, are others."""
    folder = Path(shutil.copytree(out, to))
    (samples,) = folder.rglob(f"samples_{task}_*.jsonl")
    rows = change([json.loads(line) for line in samples.read_text("utf-8").splitlines()])
    write_lines(samples, rows)
    (results,) = folder.rglob("results_*.json")
    content = json.loads(results.read_text("utf-8"))
    for key in content["results"][task]:
        metric, _, filtered = key.partition(",")
        own = [row for row in rows if row.get("filter") == filtered and metric in row]
        if own:
            content["results"][task][key] = sum(row[metric] for row in own) / len(own)
    content["n-samples"][task]["effective"] = len(rows)
    content["results"][task]["sample_len"] = max(Counter(row["filter"] for row in rows).values())
    results.write_text(json.dumps(content), encoding="utf-8")
    return folder


def after(out: Path, tmp_path: Path, pattern: str, **changes: Any) -> dict[str, Any]:
    """What is concluded of Hindi after changes of the samples in some languages."""
    for code, change in changes.items():
        to = tmp_path / f"edit{len(list(tmp_path.iterdir()))}"
        out = edited(out, to, pattern.format(language=code), change)
    if pattern == MINE:
        return verdicts(out, families=[MINE])["mytask hi"]
    return verdicts(out)["mmlu_prox: health hi"]


def each(change: Any) -> Any:
    """Let `change` alter every row."""
    return lambda rows: [change(row) or row for row in rows]


def test_verdicts_are_right_and_a_copy_is_never_worse(exact, likely):
    found = verdicts(exact)
    hindi = found["mmlu_prox: health hi"]
    assert hindi["verdict"] == "worse" and hindi["metric"] == "task_acc" and hindi["n"] == 120
    assert "in Hindi" in hindi["in_words"] and "in English" in hindi["in_words"]
    assert found["mmlu_prox: health sw"]["verdict"] != "worse"
    # The differences again, from what the scripted model was told to know.
    own = [sum(gap(code, i) == right(i) for i in range(120)) for code in ("hi", "en")]
    assert hindi["estimate"] == pytest.approx((own[0] - own[1]) / 120)
    found = verdicts(likely)
    assert found["belebele hi"]["verdict"] == "worse"
    copy = found["belebele fr"]
    assert copy["estimate"] == 0 and copy["verdict"] in ("equivalent", "inconclusive")
    # Holm is over the languages of the family: hi, fr, ak, and Hindi in Latin letters.
    assert {row["family"] for row in found.values()} == {4}


def test_languages_that_nobody_has_are_named_or_shown_by_their_code(likely, tmp_path):
    found = verdicts(likely)
    assert "Akan" in found["belebele ak"]["in_words"]
    assert "Hindi (Latn)" in found["belebele hin_Latn"]["in_words"]
    assert name_of("hin_Latn") == "Hindi (Latn)" and name_of("qqq_Zzzz") == "qqq_Zzzz"
    assert main(["report", str(likely), "--to", str(tmp_path / "r")]) == 0
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "Task of lm_eval" in page and "--family &#39;mytask_{language}&#39;" in page


def test_a_filter_that_reads_nothing_is_not_the_models_fault(exact):
    """One reply in ten goes unread in Swahili: the harness calls these wrong."""
    swahili = verdicts(exact)["mmlu_prox: health sw"]
    assert swahili["verdict"] != "worse" and swahili["unread"] == 12 and swahili["n"] == 120
    read = [i for i in range(120) if i % 10]
    assert swahili["estimate"] < 0 and not sum(gap("sw", i) != gap("en", i) for i in read)
    (value,) = [row["value"] for row in xling_tasks.read(exact).scores()
                if (row["language"], row["metric"]) == ("sw", "task_acc")]  # fmt: skip
    assert value == pytest.approx(sum(gap("sw", i) == right(i) for i in read) / 120)


def test_an_empty_reply_is_wrong_whatever_the_filter_says(exact, tmp_path):
    def empty(row):
        if not row["doc_id"] % 2:
            row |= {"resps": [[" \n"]], "filtered_resps": ["[invalid]"], "exact_match": 0.0}

    found = verdicts(edited(exact, tmp_path / "o", "mmlu_prox_sw_health", each(empty)))
    swahili = found["mmlu_prox: health sw"]
    assert (swahili["verdict"], swahili["unread"]) == ("worse", 0)


# Joined safely


def shuffled(rows):
    """The documents in another order, as another file of the same language would have them."""
    order = random.Random(1).sample(range(len(rows)), len(rows))
    return [{**rows[at], "doc_id": number} for number, at in enumerate(order)]


def alike(target):
    return each(lambda row: {**row, "target": target})


def named(row):
    row["doc"]["uid"] = f"u{row['doc']['question'].split('#')[1].split('-')[1]}"


def numbered(row):
    """`test-17` is in every file, whatever stands there."""
    row["doc"]["uid"], row["target"] = f"test-{row['doc_id']}", "some words"


def by_subject(row):
    """So is `anatomy/test/0`."""
    subject = ("anatomy", "virology")[row["doc_id"] % 2]
    row["doc"]["uid"], row["target"] = f"{subject}/test/{row['doc_id'] // 2}", "some words"


def bare(row):
    row["doc"] = {"a": row["doc_id"], "b": 2}


def corrected(row):
    if row["doc_id"] < 4:
        row["target"] = wrong(row["doc_id"])


def renumbered(rows):
    numbers = [row["doc"]["question_id"] for row in rows]
    for row, number in zip(mixed := shuffled(rows), numbers, strict=True):
        row["doc"]["question_id"] = number
    return mixed


def then(change):
    """Documents that were shuffled, and then altered."""
    return lambda rows: each(change)(shuffled(rows))


WORSE, APART = {"verdict": "worse", "n": 120}, {"verdict": "not_comparable", "estimate": None}
JOINED = [
    # Without a field the number joins only where every key agrees.
    (MINE, {}, WORSE, ""),
    (MINE, {"hi": shuffled}, APART, "at one place have another key"),
    (MINE, {"hi": shuffled}, APART, "right is"),
    (MINE, {"hi": lambda rows: rows[:100]}, APART, "it has 100 questions and English 120"),
    # Keys that tell no order join nothing.
    (MINE, {"hi": alike("A"), "en": alike("A")}, APART, "order of English"),
    (MINE, {"hi": alike("no key"), "en": alike("no key")}, APART, "order of English"),
    # A field with the same values in both joins what nobody described; numbers of rows are no names.
    (MINE, {"hi": lambda rows: shuffled(each(named)(rows)), "en": each(named)}, WORSE, ""),
    (MINE, {"hi": then(numbered), "en": each(numbered)}, APART, ""),
    (MINE, {"hi": then(by_subject), "en": each(by_subject)}, APART, ""),
    # Documents without texts are questions of their own.
    (MINE, {"hi": each(bare), "en": each(bare)}, WORSE, ""),
    # A known field joins whatever the order; a few corrected keys are left out.
    (PROX, {"hi": shuffled}, WORSE, ""),
    (PROX, {"hi": each(corrected)}, {"n": 116}, ""),
    (PROX, {"hi": renumbered}, APART, "questions with one question_id have another key"),
]


@pytest.mark.parametrize(("pattern", "changes", "told", "reason"), JOINED)
def test_questions_are_joined_only_where_they_are_known_to_be_the_same(
    exact, likely, tmp_path, pattern, changes, told, reason
):
    found = after(likely if pattern == MINE else exact, tmp_path, pattern, **changes)
    assert {name: found[name] for name in told} == told and reason in found["reason"]


def test_nothing_is_paired_where_languages_are_not_joined(likely, tmp_path):
    folder = edited(likely, tmp_path / "s", "mytask_hi", shuffled)
    report = xling_tasks.read(folder, families=[MINE], n_resamples=1000).report
    found = {(c.panel.dataset, c.panel.metric): c for c in report.comparisons}
    own = found["mytask", "task_acc"]
    assert (own.difference, own.n, own.p) == (None, 0, None)


def test_a_document_that_stands_there_twice_is_an_error(exact, tmp_path):
    with pytest.raises(DataError, match=r"row 121: .*question 5 stands there twice"):
        after(exact, tmp_path, PROX, hi=lambda rows: [*rows, rows[5]])


@pytest.mark.parametrize("join", ["nofield", "answer"])
def test_a_field_that_a_user_names_is_the_only_one_tried(likely, join):
    found = verdicts(likely, families=[f"{MINE},join={join}"])["mytask hi"]
    assert found["verdict"] == "not_comparable"
    said = f"{join} does not tell English's apart (its documents have: question, answer)"
    assert said in found["reason"]


# What else a folder may hold


def test_without_samples_there_are_values_and_no_verdict(likely, tmp_path):
    folder = Path(shutil.copytree(likely, tmp_path / "o"))
    for path in folder.rglob("samples_belebele_hin_Deva*"):
        path.unlink()
    found = verdicts(folder)
    hindi = found["belebele hi"]
    assert hindi["verdict"] == "inconclusive" and "no samples were logged" in hindi["reason"]
    assert found["belebele fr"]["estimate"] == 0


def test_a_newer_run_of_a_model_counts_and_the_older_is_named(exact, tmp_path, capsys):
    folder = edited(exact, tmp_path / "o", "mmlu_prox_hi_health", lambda rows: rows[:40])
    for path in folder.rglob("*202*"):
        path.rename(path.with_name(path.name.replace("_202", "_203")))
    shutil.copytree(exact, folder, dirs_exist_ok=True)
    assert verdicts(folder)["mmlu_prox: health hi"]["n"] == 40
    assert main(["report", str(folder), "--to", str(tmp_path / "r"), "--no-pictures"]) == 0
    assert "is not used for mmlu_prox_en_health" in capsys.readouterr().out


def test_english_and_another_language_may_lie_in_two_folders(exact, tmp_path):
    """Of one model: whether their questions are the same is told over both."""
    english, other = (Path(shutil.copytree(exact, tmp_path / name)) for name in "ab")
    for folder, gone in ((english, ("hi", "sw")), (other, ("en", "sw"))):
        changed(folder, lambda content, gone=gone: [
            content[table].pop(f"mmlu_prox_{code}_health") for code in gone
            for table in ("results", "configs", "n-samples", "higher_is_better")
        ])  # fmt: skip
    assert verdicts(english, other)["mmlu_prox: health hi"]["verdict"] == "worse"
    assert verdicts(other) == {}


def test_ours_and_others_in_one_folder(exact, tmp_path, run):
    folder = Path(shutil.copytree(exact, tmp_path / "o"))
    saved(folder, run(["xlinghealth_verifiability_demo_en", "xlinghealth_verifiability_demo_hi"]))
    found = xling_tasks.read(folder, n_resamples=1000).tasks()
    assert {row["criterion"] for row in found} == {"verifiability", "task_metric"}


def test_compare_and_board_and_view(exact, tmp_path, capsys):
    """A better model in Hindi, and one whose documents are others, which is never compared."""

    def better(row):
        row["exact_match"] = float(gap("en", row["doc_id"]) == right(row["doc_id"]))

    b = edited(exact, tmp_path / "b", "mmlu_prox_hi_health", each(better))
    assert main(["compare", str(exact), str(b), "--to", str(tmp_path / "cmp")]) == 0
    line = "Hindi: B is better than A (questions answered rightly: 88 per 100, A 54), and the shortfall to English is smaller."
    assert line in capsys.readouterr().out
    assert main(["leaderboard", f"a={exact}", f"b={b}", "--to", str(tmp_path / "board")]) == 0
    assert "Questions answered rightly" in (tmp_path / "board" / "index.html").read_text("utf-8")

    def other(row):
        row["doc"]["question"] += " And why?"

    c = edited(exact, tmp_path / "c", "mmlu_prox_hi_health", each(other))
    assert main(["compare", str(exact), str(c)]) != 0
    assert "120 of 120 questions with the same id: another content" in capsys.readouterr().err
    with viewing(exact) as viewer:
        shown = viewer.get("list")["items"]
        assert len(shown) and {e["language"] for e in shown[0]["entries"]} == {"en", "hi", "sw"}


def test_a_loss_is_worse_where_it_is_larger(likely, tmp_path):
    folder = Path(shutil.copytree(likely, tmp_path / "o"))
    changed(folder, lambda content: [
        content["higher_is_better"][f"mytask_{code}"].update(acc=False) for code in ("en", "hi")
    ])  # fmt: skip
    found = after(folder, tmp_path, MINE)
    assert (found["metric"], found["verdict"]) == ("task_loss", "better")


def test_numbers_between_right_and_wrong_are_a_score(likely, tmp_path):
    halved = each(lambda row: row.update(acc=row["acc"] / 2 + 0.1))
    found = after(likely, tmp_path, MINE, hi=halved)
    assert (found["metric"], found["verdict"]) == ("task_score", "worse")


@pytest.mark.parametrize("value", [None, "x", [1, 2], float("nan"), {}])
def test_values_that_are_no_numbers_are_told(likely, tmp_path, value):
    folder = Path(shutil.copytree(likely, tmp_path / "o"))
    (samples,) = folder.rglob("samples_mytask_hi_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    rows[3]["acc"] = value
    write_lines(samples, rows)
    with pytest.raises(DataError, match=r"mytask_hi.*row 4 of its samples.*acc"):
        verdicts(folder, families=[MINE])
    assert "belebele hi" in verdicts(folder)


def test_samples_of_another_filter_alone_are_told(exact, tmp_path):
    folder = Path(shutil.copytree(exact, tmp_path / "o"))
    for path in folder.rglob("samples_*"):
        path.write_text(path.read_text("utf-8").replace('"custom-extract"', '"other"'), "utf-8")
    with pytest.raises(DataError, match="has no row after custom-extract"):
        verdicts(folder, families=[f"{PROX},filter=custom-extract"])
    said = r"nothing in it can be read: .*no row after custom-extract"
    with pytest.raises(DataError, match=said):
        verdicts(folder)


@pytest.mark.parametrize("name", ["../x_{}", "a/b_{}", "x\x00_{}", "x" * 250 + "_{}"])
def test_hostile_names_of_tasks_lead_nowhere(likely, tmp_path, name):
    folder = Path(shutil.copytree(likely, tmp_path / "o"))
    (path,) = folder.rglob("results_*.json")
    text = path.read_text("utf-8")
    for code in ("en", "hi"):
        text = text.replace(f'"mytask_{code}"', json.dumps(name.format(code)))
    path.write_text(text, encoding="utf-8")
    with pytest.raises((DataError, SettingError)):
        verdicts(folder, families=[name.format("{language}")])


def test_guessing_in_english_is_said_and_no_english_too(tmp_path):
    tasks = [(chosen(c, f"xcopa_{c}"), docs(c, n=40, idx=lambda i: i)) for c in ("et", "it")]
    tasks += [(chosen(c, f"headqa_{c}"), docs(c, n=40)) for c in ("en", "es")]
    out = run_tasks(tmp_path, tasks, lambda code, number: "A")
    notes = differences(make_report(read_models([out], ()), Options(n_resamples=1000)))
    assert any("xcopa: Scripted has no results in English" in note for note in notes)
    assert any("headqa: Scripted: English is not shown to be above guessing" in n for n in notes)


# Patterns


@pytest.mark.parametrize(
    ("family", "said"),
    [
        ("mytsk_{language}", r"no task in .* fits; found .*--family 'mytask_\{language\}'"),
        (
            "mytask_{language},metric=f1",
            r"f1 after one filter .* measured acc after none, acc_norm",
        ),
        ("mytask_{language},filter=strict", "acc after strict .* say which"),
    ],
)
def test_a_wrong_pattern_says_what_was_found(likely, family, said):
    with pytest.raises(DataError, match=said):
        verdicts(likely, families=[family])


@pytest.mark.parametrize(
    "family",
    ["mytask", "{language}_{language}", "mytask_{language},metrc=acc", "mytask_{language},chance=2",
     "mytask_{language},join=", "my{a b}_{language}", "{language}_{a}_{a}"],
)  # fmt: skip
def test_an_impossible_pattern_is_refused(likely, family):
    with pytest.raises((SettingError, DataError), match="--family"):
        verdicts(likely, families=[family])


class Tolerant(yaml.SafeLoader):
    """YAML without what the harness's own tags would import."""


Tolerant.add_multi_constructor("!", lambda loader, tag, node: None)


@functools.cache
def with_parents(path: Path) -> dict[str, Any]:
    own = yaml.load(path.read_text("utf-8"), Tolerant)
    parent = own.get("include")
    return {**(with_parents(path.parent / parent) if parent else {}), **own}


@pytest.mark.parametrize(
    ("folder", "languages"),
    [("mmlu_prox", 29), ("global_mmlu/full", 42), ("global_mmlu/default", 15), ("headqa", 2),
     ("careqa", 2), ("belebele", 122), ("mgsm/direct", 11), ("mgsm/en_cot", 11), ("xcopa", 11)],
)  # fmt: skip
def test_known_families_have_the_names_of_the_installed_harness(folder, languages):
    """And the metric and filter that they name."""
    from lm_eval import tasks

    codes = set()
    for path in sorted((Path(tasks.__file__).parent / folder).rglob("*.yaml")):
        config = with_parents(path)
        task = config.get("task")
        if path.name.startswith("_") or not isinstance(task, str) or "open" in task:
            continue
        own = member(task, known_families())
        assert own is not None, task
        codes.add(own.language)
        filters = [each["name"] for each in config.get("filter_list") or [{"name": "none"}]]
        assert own.family.metric in {each["metric"] for each in config["metric_list"]}
        assert own.family.filter in filters
    assert len(codes) == languages and (folder == "xcopa" or "en" in codes)
    assert member("mlqa_de_en", known_families()) is None


def test_what_looks_like_one_task_is_proposed_and_nothing_else():
    assert proposals(["my_en_x", "my_hi_x", "arc_easy", "piqa"]) == [
        "my_en_x, my_hi_x look like one task in 2 languages: --family 'my_{language}_x'"
    ]
    assert proposals(["task_english", "task_hindi"])[0].endswith("'task_{language}'")
    assert proposals(["arc_easy", "a_en"]) == []
