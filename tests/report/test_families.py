"""Other tasks of the harness: joined only where the questions are known to be the same, and told as ours."""

from __future__ import annotations

import functools
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tasks_of_others import SAYS, chosen, docs, right, run, written, wrong

import xling_tasks
from xling_tasks.cli import main
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.families import known_families, member, name_of, proposals


def gap(code: str, number: int) -> str:
    """85% in English and Swahili, the same in a copy of English; 50% in Hindi."""
    told = {"fr": "en"}.get(code, code)
    chance = random.Random(f"{told}{number}").random()
    return right(number) if chance < (0.5 if code == "hi" else 0.85) else wrong(number)


@pytest.fixture(scope="module")
def exact(tmp_path_factory) -> Path:
    """MMLU-ProX's form: written answers that a filter of each language's own reads."""
    tasks = [(written(code, f"mmlu_prox_{code}_health"), docs(code, question_id=lambda i: 1000 + i))
             for code in ("en", "hi", "sw")]  # fmt: skip
    return run(tmp_path_factory.mktemp("exact"), tasks, lambda c, i: f"{SAYS[c]} ({gap(c, i)})")


@pytest.fixture(scope="module")
def likely(tmp_path_factory) -> Path:
    """Belebele's form by log-likelihood, French a copy; and a task that nobody knows, without ids."""
    links = {"link": lambda i: f"https://w/{i // 2}", "question_number": lambda i: i % 2 + 1}
    names = {
        "en": "eng_Latn",
        "hi": "hin_Deva",
        "fr": "fra_Latn",
        "ak": "aka_Latn",
        "x": "hin_Latn",
    }
    tasks = [
        (chosen(code, f"belebele_{name}"), docs(code, **links)) for code, name in names.items()
    ]
    tasks += [(chosen(code, f"mytask_{code}"), docs(code)) for code in ("en", "hi")]
    return run(tmp_path_factory.mktemp("likely"), tasks, gap)


def verdicts(*folders: Any, **options: Any) -> dict[str, Any]:
    rows = xling_tasks.read(*folders, n_resamples=1000, **options).conclusions()
    return {f"{row['dataset']} {row['language']}": row for row in rows}


def edited(out: Path, to: Path, task: str, change: Any) -> Path:
    """A copy of a run in which the rows of one task's samples, and the score with them, are others."""
    folder = Path(shutil.copytree(out, to))
    (samples,) = folder.rglob(f"samples_{task}_*.jsonl")
    rows = change([json.loads(line) for line in samples.read_text("utf-8").splitlines()])
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (results,) = folder.rglob("results_*.json")
    content = json.loads(results.read_text("utf-8"))
    for key in content["results"][task]:
        metric, _, filtered = key.partition(",")
        own = [row for row in rows if row.get("filter") == filtered and metric in row]
        if own:
            content["results"][task][key] = sum(row[metric] for row in own) / len(own)
    content["n-samples"][task]["effective"] = len(rows)
    results.write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_verdicts_are_right_and_a_copy_is_never_worse(exact, likely):
    found = verdicts(exact)
    hindi = found["mmlu_prox: health hi"]
    assert hindi["verdict"] == "worse" and hindi["metric"] == "task_right" and hindi["n"] == 120
    assert "in Hindi" in hindi["in_words"] and "in English" in hindi["in_words"]
    assert found["mmlu_prox: health sw"]["verdict"] != "worse"
    # The differences again, from what the scripted model was told to know.
    own = [sum(gap(code, i) == right(i) for i in range(120)) for code in ("hi", "en")]
    assert hindi["estimate"] == pytest.approx((own[0] - own[1]) / 120)
    found = verdicts(likely)
    assert found["belebele hi"]["verdict"] == "worse"
    copy = found["belebele fr"]
    assert copy["estimate"] == 0 and copy["verdict"] in ("about_the_same", "cannot_tell")
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


def test_a_filter_that_reads_nothing_is_not_the_models_fault(exact, tmp_path):
    """One reply in ten goes unread in one language: the harness calls these wrong."""

    def unread(rows):
        for row in rows[::10]:
            row |= {"resps": [["I think it is plain."]], "filtered_resps": ["[invalid]"],
                    "exact_match": 0.0}  # fmt: skip
        return rows

    found = verdicts(edited(exact, tmp_path / "o", "mmlu_prox_sw_health", unread))
    swahili = found["mmlu_prox: health sw"]
    assert swahili["verdict"] != "worse" and swahili["unread"] == 12 and swahili["n"] == 108
    assert found["mmlu_prox: health hi"]["verdict"] == "worse"


def test_an_empty_reply_is_wrong_whatever_the_filter_says(exact, tmp_path):
    def empty(rows):
        for row in rows[::2]:
            row |= {"resps": [[" \n"]], "filtered_resps": ["[invalid]"], "exact_match": 0.0}
        return rows

    found = verdicts(edited(exact, tmp_path / "o", "mmlu_prox_sw_health", empty))
    assert found["mmlu_prox: health sw"]["verdict"] == "worse"
    assert found["mmlu_prox: health sw"]["unread"] == 0


# Joined safely


def shuffled(rows):
    """The documents in another order, as another file of the same language would have them."""
    order = random.Random(1).sample(range(len(rows)), len(rows))
    return [{**rows[at], "doc_id": number} for number, at in enumerate(order)]


def test_a_field_joins_whatever_the_order(exact, tmp_path):
    assert (
        verdicts(edited(exact, tmp_path / "o", "mmlu_prox_hi_health", shuffled))[
            "mmlu_prox: health hi"
        ]
        == verdicts(exact)["mmlu_prox: health hi"]
    )


MINE = ["mytask_{language}"]


def test_without_a_field_the_number_joins_only_where_every_key_agrees(likely, tmp_path):
    whole = verdicts(likely, families=MINE)["mytask hi"]
    assert whole["verdict"] == "worse" and whole["n"] == 120
    other = verdicts(edited(likely, tmp_path / "s", "mytask_hi", shuffled), families=MINE)[
        "mytask hi"
    ]
    assert other["verdict"] == "not_comparable" and other["estimate"] is None
    assert "at one place have another key" in other["reason"] and "right is" in other["reason"]
    fewer = verdicts(
        edited(likely, tmp_path / "f", "mytask_hi", lambda rows: rows[:100]), families=MINE
    )["mytask hi"]
    assert fewer["verdict"] == "not_comparable"
    assert "it has 100 questions and English 120" in fewer["reason"]


def test_nothing_is_paired_where_languages_are_not_joined(likely, tmp_path):
    folder = edited(likely, tmp_path / "s", "mytask_hi", shuffled)
    report = xling_tasks.read(folder, families=MINE, n_resamples=1000).report
    (own,) = [
        c
        for c in report.comparisons
        if c.panel.dataset == "mytask" and c.panel.metric == "task_right"
    ]
    assert own.difference is None and own.n == 0 and own.p is None


@pytest.mark.parametrize("same", ["A", "no key"])
def test_keys_that_tell_no_order_join_nothing(likely, tmp_path, same):
    def alike(rows):
        return [{**row, "target": same} for row in rows]

    folder = edited(likely, tmp_path / "a", "mytask_hi", alike)
    found = verdicts(edited(folder, tmp_path / "b", "mytask_en", alike), families=MINE)["mytask hi"]
    assert found["verdict"] == "not_comparable" and "order of English" in found["reason"]


def test_a_field_with_the_same_values_in_both_joins_what_nobody_described(likely, tmp_path):
    def named(rows):
        for row in rows:
            row["doc"]["uid"] = f"u{row['doc']['question'].split('#')[1].split('-')[1]}"
        return rows

    folder = edited(likely, tmp_path / "a", "mytask_hi", lambda rows: shuffled(named(rows)))
    found = verdicts(edited(folder, tmp_path / "b", "mytask_en", named), families=MINE)["mytask hi"]
    assert found["verdict"] == "worse" and found["n"] == 120


def test_ids_with_other_keys_are_refused_and_a_few_corrected_ones_left_out(exact, tmp_path):
    def corrected(rows):
        for row in rows[:4]:
            row["target"] = wrong(row["doc_id"])
        return rows

    few = verdicts(edited(exact, tmp_path / "f", "mmlu_prox_hi_health", corrected))
    assert few["mmlu_prox: health hi"]["n"] == 116

    def renumbered(rows):
        numbers = [row["doc"]["question_id"] for row in rows]
        for row, number in zip(mixed := shuffled(rows), numbers, strict=True):
            row["doc"]["question_id"] = number
        return mixed

    found = verdicts(edited(exact, tmp_path / "r", "mmlu_prox_hi_health", renumbered))
    reason = found["mmlu_prox: health hi"]["reason"]
    assert "questions with one question_id have another key" in reason


def test_a_document_that_stands_there_twice_is_an_error(exact, tmp_path):
    folder = edited(exact, tmp_path / "o", "mmlu_prox_hi_health", lambda rows: [*rows, rows[5]])
    with pytest.raises(DataError, match=r"row 121: document 5 stands there twice"):
        verdicts(folder)


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
