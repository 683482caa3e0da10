"""Other tasks of lm_eval: read as ours, and joined only where questions are known to be the same."""

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
from builders import write_lines
from tasks_of_others import SAYS, chosen, docs, right, written, wrong
from tasks_of_others import run as run_tasks

from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.external_tasks import Reading, fallbacks
from xling_tasks.logs.results import Samples
from xling_tasks.logs.task_groups import known_groups, member, name_of
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.verdicts import Options

MINE, PROX = "mytask_{language}", "mmlu_prox_{language}_health"


def letter(code: str, number: int) -> str:
    """85% in English; the same questions in Swahili, and in a copy of English; 50% in Hindi."""
    same = {"fr": "en", "sw": "en"}.get(code, code)
    chance = random.Random(f"{same}{number}").random()
    return right(number) if chance < (0.5 if code == "hi" else 0.85) else wrong(number)


@pytest.fixture(scope="module")
def exact(tmp_path_factory) -> Path:
    """MMLU-ProX's form: written answers that a filter of each language's own reads."""
    tasks = [(written(code, f"mmlu_prox_{code}_health"), docs(code, question_id=lambda i: 1000 + i))
             for code in ("en", "hi", "sw")]  # fmt: skip

    def says(code: str, number: int) -> str:
        unparsed = code == "sw" and number % 10 == 0
        return "I think it is plain." if unparsed else f"{SAYS[code]} ({letter(code, number)})"

    return run_tasks(tmp_path_factory.mktemp("exact"), tasks, says)


@pytest.fixture(scope="module")
def likely(tmp_path_factory) -> Path:
    """Belebele's form by log-likelihood, French a copy; and a task that nobody knows, without ids."""
    links = {"link": lambda i: f"https://w/{i // 2}", "question_number": lambda i: i % 2 + 1}
    scripts = ("eng_Latn", "hin_Deva", "fra_Latn", "aka_Latn", "hin_Latn")
    names = dict(zip(("en", "hi", "fr", "ak", "x"), scripts, strict=True))
    tasks = [(chosen(code, f"belebele_{own}"), docs(code, **links)) for code, own in names.items()]
    tasks += [(chosen(code, f"mytask_{code}"), docs(code)) for code in ("en", "hi")]
    return run_tasks(tmp_path_factory.mktemp("likely"), tasks, letter)


def verdicts(*folders: Any, families: Any = (), **options: Any) -> dict[str, Any]:
    record = make_record(read_models(folders, families), Options(**options))
    return {f"{v.dataset} {v.language}": v for v in record.verdicts}


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
        own = [row[metric] for row in rows if row.get("filter") == filtered and metric in row]
        if own and "x" not in own:
            content["results"][task][key] = sum(own) / len(own)
    content["n-samples"][task]["effective"] = len(rows)
    content["results"][task]["sample_len"] = max(Counter(row["filter"] for row in rows).values())
    results.write_text(json.dumps(content), encoding="utf-8")
    return folder


def each(change: Any) -> Any:
    """Let `change` alter every row."""
    return lambda rows: [change(row) or row for row in rows]


def test_verdicts_are_right_and_a_copy_is_never_worse(exact, likely):
    found = verdicts(exact)
    hindi = found["mmlu_prox: health hi"]
    assert (hindi.verdict, hindi.metric, hindi.n) == ("worse", "task_acc", 120)
    own = [sum(letter(code, i) == right(i) for i in range(120)) for code in ("hi", "en")]
    assert hindi.counts == {"value": (own[0], 120), "english": (own[1], 120)}
    found = verdicts(likely)
    assert found["belebele hi"].verdict == "worse"
    copy = found["belebele fr"]
    assert copy.estimate == 0 and copy.verdict == "equivalent"
    # Holm is over the languages of the group: hi, fr, ak, and Hindi in Latin letters.
    assert {v.family for v in found.values()} == {4}
    assert name_of("hin_Latn") == "Hindi (Latn)" and name_of("qqq_Zzzz") == "qqq_Zzzz"


def test_a_filter_that_reads_nothing_is_not_the_models_fault(exact):
    """One response in ten is unparsed in Swahili: lm_eval calls these wrong."""
    record = make_record(read_models([exact], ()), Options())
    (swahili,) = (v for v in record.verdicts if v.language == "sw")
    told = {r.values["language"]: r.values for r in record.remarks if r.kind == "partly"}
    assert told["sw"]["outcomes"] == {"unparsed": 12} and told["sw"]["asked"] == 120
    assert swahili.verdict == "inconclusive" and swahili.next == "task_filter"
    assert swahili.unparsed["language"] == 12 and swahili.n == 120 and swahili.estimate < 0
    read = [i for i in range(120) if i % 10]
    assert not sum(letter("sw", i) != letter("en", i) for i in read)
    assert swahili.value == pytest.approx(sum(letter("sw", i) == right(i) for i in read) / 120)


def test_an_empty_response_is_wrong_whatever_the_filter_says(exact, tmp_path):
    def empty(row):
        if not row["doc_id"] % 2:
            row |= {"resps": [[" \n"]], "filtered_resps": ["[invalid]"], "exact_match": 0.0}

    found = verdicts(edited(exact, tmp_path / "o", "mmlu_prox_sw_health", each(empty)))
    swahili = found["mmlu_prox: health sw"]
    assert (swahili.verdict, swahili.unparsed["language"]) == ("worse", 0)


# Which questions are the same


def shuffled(rows):
    """The documents in another order, as another file of the same language would have them."""
    order = random.Random(1).sample(range(len(rows)), len(rows))
    return [{**rows[at], "doc_id": number} for number, at in enumerate(order)]


def with_key(target):
    return each(lambda row: {**row, "target": target})


def named(row):
    row["doc"]["uid"] = f"u{row['doc']['question'].split('#')[1].split('-')[1]}"


def corrected(row):
    if row["doc_id"] < 4:
        row["target"] = wrong(row["doc_id"])


def renumbered(rows):
    numbers = [row["doc"]["question_id"] for row in rows]
    for row, number in zip(mixed := shuffled(rows), numbers, strict=True):
        row["doc"]["question_id"] = number
    return mixed


WORSE, APART = {"verdict": "worse", "n": 120}, {"verdict": "not_comparable", "estimate": None}
BY_UID = f"{MINE},join=uid"
JOINED = [
    # Without a field the number joins, where every key agrees and keys tell the order.
    (MINE, {}, WORSE, ""),
    (MINE, {"hi": shuffled}, APART, "questions with one number have another key"),
    (MINE, {"hi": lambda rows: rows[:100]}, APART, "it has 100 questions and English 120"),
    (MINE, {"hi": with_key("A"), "en": with_key("A")}, APART, "stand in the English order"),
    # A field joins whatever the order; a few corrected keys are left out.
    (BY_UID, {"hi": lambda rows: shuffled(each(named)(rows)), "en": each(named)}, WORSE, ""),
    (BY_UID, {}, APART, "does not tell its questions apart"),
    (PROX, {"hi": shuffled}, WORSE, ""),
    (PROX, {"hi": each(corrected)}, {"n": 116}, ""),
    (PROX, {"hi": renumbered}, APART, "questions with one question_id have another key"),
]


@pytest.mark.parametrize(("pattern", "changes", "told", "reason"), JOINED)
def test_questions_are_joined_only_where_they_are_known_to_be_the_same(
    exact, likely, tmp_path, pattern, changes, told, reason
):
    task = pattern.partition(",")[0]
    out = exact if pattern == PROX else likely
    for code, change in changes.items():
        out = edited(out, tmp_path / code, task.format(language=code), change)
    found = verdicts(out, families=[] if pattern == PROX else [pattern])
    found = found["mmlu_prox: health hi" if pattern == PROX else "mytask hi"]
    assert {name: getattr(found, name) for name in told} == told
    assert reason in "".join(what for row in found.differs for what in row)
    assert (found.reason == "not_joined") == bool(reason)


# What else a folder may hold


def test_values_that_are_no_numbers_are_told(likely, tmp_path):
    def spoiled(rows):
        rows[3]["acc"] = "x"
        return rows

    folder = edited(likely, tmp_path / "o", "mytask_hi", spoiled)
    with pytest.raises(DataError, match=r"mytask_hi.*row 4 of its samples.*acc"):
        verdicts(folder, families=[MINE])
    assert "belebele hi" in verdicts(folder)


def test_english_near_guessing_and_no_english_are_remarks(tmp_path):
    tasks = [(chosen(c, f"xcopa_{c}"), docs(c, n=40, idx=lambda i: i)) for c in ("et", "it")]
    tasks += [(chosen(c, f"headqa_{c}"), docs(c, n=40)) for c in ("en", "es")]
    out = run_tasks(tmp_path, tasks, lambda code, number: "A")
    record = make_record(read_models([out], ()), Options())
    told = {
        remark.kind: remark.values["dataset"]
        for remark in record.remarks
        if "dataset" in remark.values
    }
    assert told["no_english"] == "xcopa" and told["guessing"] == "headqa"


def test_the_likelihood_of_one_text_is_no_choice_of_one():
    """As LAMBADA's: nothing can be guessed, which once was 100%."""
    row = {
        "doc_id": 0,
        "doc": {"text": "a b"},
        "target": "b",
        "resps": [[[-1.0, True]]],
        "acc": 1.0,
    }
    reading = Reading("acc", "none", "task_acc", written=False)
    assert reading.convert(row)["doc"]["options"] == []
    row["resps"] = [[[-1.0, True]], [[-2.0, False]]]
    assert len(reading.convert(row)["doc"]["options"]) == 2


def test_generated_answers_without_scores_are_named(tmp_path):
    out = run_tasks(tmp_path, [(chosen("en", "mytask_en"), docs("en"))], letter, predict_only=True)
    with pytest.raises(DataError, match="were not scored"):
        verdicts(out, families=[MINE])


# Patterns


@pytest.mark.parametrize(("family", "said"), [
    ("mytsk_{language}", r"no task in .* fits; found .*mytask_en"),
    ("mytask_{language},metric=f1", "f1 after one filter .* measured acc after none, acc_norm"),
    ("mytask_{language},filter=strict", "acc after strict .* say which"),
    ("mytask", "--family"), ("mytask_{language},metrc=acc", "--family"),
    ("mytask_{language},chance=2", "--family"), ("mytask_{language},join=", "--family"),
])  # fmt: skip
def test_a_wrong_pattern_says_what_was_found(likely, family, said):
    with pytest.raises((SettingError, DataError), match=said):
        verdicts(likely, families=[family])


class Tolerant(yaml.SafeLoader):
    """YAML without what lm_eval's own tags would import."""


Tolerant.add_multi_constructor("!", lambda loader, tag, node: None)


@functools.cache
def with_parents(path: Path) -> dict[str, Any]:
    own = yaml.load(path.read_text("utf-8"), Tolerant)
    parent = own.get("include")
    return {**(with_parents(path.parent / parent) if parent else {}), **own}


@pytest.mark.parametrize(("folder", "languages"), [
    ("mmlu_prox", 29), ("global_mmlu/full", 42), ("global_mmlu/default", 15), ("headqa", 2),
    ("careqa", 2), ("belebele", 122), ("mgsm/direct", 11), ("mgsm/en_cot", 11), ("xcopa", 11),
])  # fmt: skip
def test_known_groups_have_the_names_of_the_installed_lm_eval(folder, languages):
    """And the metric and filter that they name."""
    from lm_eval import tasks

    codes = set()
    for path in sorted((Path(tasks.__file__).parent / folder).rglob("*.yaml")):
        config = with_parents(path)
        task = config.get("task")
        if path.name.startswith("_") or not isinstance(task, str) or "open" in task:
            continue
        own = member(task, known_groups())
        assert own is not None, task
        codes.add(own.language)
        filters = [each["name"] for each in config.get("filter_list") or [{"name": "none"}]]
        assert own.group.metric in {each["metric"] for each in config["metric_list"]}
        assert own.group.filter in filters
    assert len(codes) == languages and (folder == "xcopa" or "en" in codes)
    assert member("mlqa_de_en", known_groups()) is None


def test_of_several_filters_one_counts(tmp_path):
    """As MGSM logs them: a row for each filter of a question."""
    rows = [
        {"doc_id": n, "doc": {"question": f"{n}?"}, "target": "7", "arguments": {}, "resps": [["7"]],
         "filtered_resps": ["7" if name == "flexible" else "[invalid]"], "filter": name,
         "exact_match": float(name == "flexible")}
        for n in range(3) for name in ("strict", "flexible")
    ]  # fmt: skip
    path = write_lines(tmp_path / "samples.jsonl", rows)
    config = {"filter_list": [
        {"name": "flexible", "filter": [{"function": "regex"}, {"function": "uppercase"}]},
    ]}  # fmt: skip
    assert "[INVALID]" in fallbacks(config, "flexible")  # what an unread response becomes
    reading = Reading("exact_match", "flexible", "task_acc", fallbacks(config, "flexible"))
    samples = Samples("mgsm_en", path, reading, 3)
    assert [row["task_acc"] for _, row in samples.stream(dict)] == [1.0] * 3
