"""`xling leaderboard`: ranks recomputed, groups, what is published, the page."""

from __future__ import annotations

import csv
import json
from itertools import combinations

import yaml
from boards import RECORD, C, correctness, many_models
from browser import PHONE, Opened, axe
from builders import write_run
from scipy.stats import binom

from xling_tasks.cli import main
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.verdicts import Options


def made(tmp_path, *folders, words=()):
    """The leaderboard's content."""
    to = tmp_path / "board"
    assert main(["leaderboard", *map(str, folders), "--to", str(to), *words]) == 0
    return json.loads((to / "leaderboard.json").read_text(encoding="utf-8"))


def run_of(tmp_path, name, tasks, **args):
    config = {"model_args": {"pretrained": name} | args}
    return write_run(tmp_path / name, tasks, config=config)


def runs_of(tmp_path, **models):
    """The runs of models by name, of their tasks; a task alone is correctness in Spanish."""
    return [
        run_of(tmp_path, name, {C + "es": own} if "rows" in own else own)
        for name, own in models.items()
    ]


def board_of(tmp_path, **models):
    """The content of a board of models by name."""
    return made(tmp_path, *runs_of(tmp_path, **models))


def both(*given, **options):
    """Correctness, the same in English and in Spanish."""
    return {C + code: correctness(*given, **options) for code in ("en", "es")}


def ranks_of(content, metric, language):
    """Ranks by model."""
    own = [r for r in content["ranks"] if (r["metric"], r["language"]) == (metric, language)]
    return {rank["model"]: rank for rank in own}


def places(ranks):
    return [(rank["rank_low"], rank["rank_high"]) for rank in ranks.values()]


def remarks(content, kind):
    return [row for row in content["remarks"] if row["kind"] == kind]


HARM = "contradictory"


def test_ranks_again_from_the_samples(tmp_path):
    """Two-sided mid-p of McNemar, halved, Holm over all ordered pairs, then counted."""
    shares = (0.05, 0.08, 0.2, 0.3, 0.5)
    tasks = [correctness(share, 150, seed=m) for m, share in enumerate(shares)]
    content = board_of(tmp_path, **{f"m{m}": task for m, task in enumerate(tasks)})
    hits = [[row["contradictory"] for row in task["rows"]] for task in tasks]
    one_sided = {}
    for i, j in combinations(range(5), 2):
        only_i = sum(a > b for a, b in zip(hits[i], hits[j]))
        only_j = sum(b > a for a, b in zip(hits[i], hits[j]))
        total, least = only_i + only_j, min(only_i, only_j)
        p = 2 * binom.cdf(least, total, 0.5) - binom.pmf(least, total, 0.5)
        # Fewer contradictions are better.
        one_sided[i, j] = p / 2 if only_i < only_j else 1 - p / 2
        one_sided[j, i] = 1 - one_sided[i, j]
    shown, rejected = sorted(one_sided, key=one_sided.get), set()
    for rank, pair in enumerate(shown):
        if one_sided[pair] * (len(shown) - rank) > 0.05:
            break
        rejected.add(pair)
    cells = ranks_of(content, HARM, "es")
    for m in range(5):
        low = 1 + sum((k, m) in rejected for k in range(5))
        high = 5 - sum((m, k) in rejected for k in range(5))
        own = cells[f"m{m}"]
        assert (own["rank_low"], own["rank_high"], own["ranked"]) == (low, high, 5)
    # Not everything is told apart, and not nothing.
    widths = [cell["rank_high"] - cell["rank_low"] for cell in cells.values()]
    assert 0 < sum(widths) < 20 and cells["m4"]["rank_low"] > cells["m0"]["rank_high"]


def test_scores_and_verdicts_are_those_of_the_report(tmp_path):
    folders = many_models(tmp_path, range(3), n=60)
    content = made(tmp_path, *folders)
    record = make_record(read_models(folders), Options()).rows()
    assert len(content["ranks"]) == len(content["scores"]) == 3 * (3 * 4 + 31 + 30)
    # Hosts and folders are not published.
    for kind in ("scores", "verdicts"):
        told = {row for row in map(json.dumps, record[kind]) if "/" not in row}
        published = set(map(json.dumps, content[kind]))
        assert published <= told if kind == "scores" else told <= published and len(told) > 9


def test_models_without_a_common_language_are_compared_by_what_a_language_does_not_change(tmp_path):
    other = {**RECORD, "settings": {"judge": {"model": "k", "model_args": {}}}}
    one, chinese = {C + "es": correctness(0.1)}, {C + "zh": correctness(0.1, record=other)}
    own = {C + code: correctness(0.6, seed=at) for at, code in enumerate(("es", "zh"))}
    content = board_of(tmp_path, a=one, b=chinese, c=own)
    groups = remarks(content, "groups")
    assert [group["models"] for group in groups] == [["a", "c"], ["b"]]
    assert len(groups[1]["differs"]) == 1 and "judge.model" in groups[1]["differs"][0]
    assert ranks_of(content, HARM, "es")["c"]["ranked"] == 2
    alike = board_of(tmp_path, a=one, d={C + "zh": correctness(0.1)})
    assert remarks(alike, "groups") == []


def test_runs_made_differently_are_not_ranked_together(tmp_path, capsys):
    judge = {"model": "k", "model_args": {"base_url": "http://192.168.7.7:1/v1"}}
    other = {**RECORD, "settings": {"judge": judge}}
    newer = {**RECORD, "data": {"dataset": "LiveQA", "sha256": "def"}}
    content = board_of(tmp_path, a=both(0.1), b=both(0.5), c=both(0.9, record=other),
                       d=both(0.8, record=newer))  # fmt: skip
    groups = {tuple(row["models"]): row["differs"] for row in remarks(content, "groups")}
    assert list(groups) == [("a", "b"), ("c",), ("d",)] and groups["a", "b"] == []
    (judge,), (data,) = groups[("c",)], groups[("d",)]
    assert judge.startswith("judge.model: j ") and "192.168" not in judge and "SERVER/v1" in judge
    assert data == "data.sha256: abc in group 1, def in group 3"
    cells = ranks_of(content, HARM, "es")
    assert [(c["rank_low"], c["rank_high"], c["ranked"]) for c in cells.values()] == [
        (1, 1, 2), (2, 2, 2), (None, None, None), (None, None, None)
    ]  # fmt: skip
    assert cells["c"]["unranked"] == "alone"
    shown = capsys.readouterr().out
    assert "Not all models were run alike" in shown and "Group 2, ranked by itself: c." in shown


def test_who_answers_in_english_is_ranked_by_who_is_served(tmp_path):
    answered = {C + "en": correctness(0.1), C + "es": correctness(0.0, inside=0.02)}
    silent = {name: {**own, "rows": []} for name, own in both(0.0).items()}
    content = board_of(tmp_path, a=both(0.1), b=both(0.5), v=answered, n=silent)
    cells = ranks_of(content, "usable", "es")
    assert (cells["v"]["rank_low"], cells["v"]["rank_high"], cells["v"]["ranked"]) == (3, 3, 3)
    silent = ranks_of(content, HARM, "es")["n"]
    assert silent["rank_low"] is None and silent["unranked"] == "no_samples"


def test_the_same_id_with_another_question_parts_two_models(tmp_path, capsys):
    asked = {"a": (0.05, "Question"), "b": (0.9, "Question"), "c": (0.9, "Other")}
    tasks = {name: correctness(share, text=text) for name, (share, text) in asked.items()}
    cells = ranks_of(board_of(tmp_path, **tasks), HARM, "es")
    assert places(cells) == [(1, 2), (2, 3), (1, 3)]
    assert "Not ranked against each other. a / c: 120 questions" in capsys.readouterr().out


def test_unread_replies_that_could_turn_a_rank_keep_it_open(tmp_path):
    def with_silence(share, silent):
        task = correctness(share, 200)
        for i, row in enumerate(task["rows"]):
            if i in silent:
                row |= {"contradictory": 0.0, "more_comprehensive": 0.0, "no_response": 1.0}
        for name in ("contradictory", "more_comprehensive", "no_response"):
            values = [row[name] for row in task["rows"]]
            task["scores"][name] = sum(values) / len(values)
        task["scores"]["n_judged"] = 200 - len(silent)
        return task

    # Four in five labels are missing. Of those read none stands against b alone and six against it:
    # that tells them apart (mid-p 1 in 64), but not if the unread ones were harmful.
    hard = correctness(0.3, 200)
    own = with_silence(0.1, range(160))
    read = [[row["contradictory"] for row in task["rows"][160:]] for task in (own, hard)]
    assert sum(a > b for a, b in zip(*read)) == 0 and sum(a < b for a, b in zip(*read)) == 6
    cells = ranks_of(board_of(tmp_path, a=own, b=hard), HARM, "es")
    assert places(cells) == [(1, 2), (1, 2)]


def test_nothing_internal_is_published(tmp_path):
    """Nor what settings name of the user's machine, which reasons name too."""

    def private(code):
        path = f"/home/ana/study/{code}.yaml"
        given = {"prompt_language": "native", "prompt_templates": path, "data_dir": "/srv/data"}
        return {**RECORD, "settings": {**RECORD["settings"], **given}}

    own = {C + code: correctness(0.1, record=private(code)) for code in ("en", "es")}
    secret, model = "sk-abc123def456ghi789", "/mnt/models/llama"
    content = made(
        tmp_path,
        run_of(tmp_path, "a", both(0.1), base_url="http://10.1.2.3:8000/v1", api_key=secret),
        run_of(tmp_path, "b", own, tokenizer=model, base_url="https://judge.corp.internal/v1"),
    )
    assert "SERVER/v1" in content["models"][0]["full"]
    hidden = ("10.1.2.3", "10.0.0.3", "corp.internal", "/mnt", "/srv", "/home", "sk-abc")
    for path in (tmp_path / "board").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not [word for word in (*hidden, str(tmp_path)) if word in text], path.name


def test_files_for_programs_and_a_space(tmp_path, capsys):
    folders = many_models(tmp_path, range(2), n=40)
    content, to = made(tmp_path, *folders), tmp_path / "board"
    with (to / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, rank in zip(rows, content["ranks"], strict=True):
        assert row["rank_low"] == ("" if rank["rank_low"] is None else str(rank["rank_low"]))
    front = yaml.safe_load((to / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert front["sdk"] == "static" and front["app_file"] == "index.html"
    assert len(front["short_description"]) <= 60  # the Hub refuses longer ones
    # A second time over itself, and into a clone of a Space with a README.md of its own.
    (to / "README.md").write_text("---\ntitle: Mine\n---\n", encoding="utf-8")
    made(tmp_path, *folders)
    assert "Mine" in (to / "README.md").read_text(encoding="utf-8")
    assert "README.md was there and stays as it is" in capsys.readouterr().out


def test_errors_in_one_line(tmp_path, capsys):
    bare = {**correctness(0.1, 30), "scores": {"chrf": 1.0}, "rows": []}
    one, bare = runs_of(tmp_path, a=correctness(0.1, 30), bare=bare)
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    for words, said in (
        ([one, "--to", tmp_path], "index.html there is no leaderboard"),
        ([bare, "--to", tmp_path / "b"], "no primary metric in it"),
    ):
        assert main(["leaderboard", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1


def test_models_are_ordered_by_how_many_languages_they_serve_worse(tmp_path, capsys):
    english = {C + "en": correctness(0.05, 300)}
    shares = {"bad": 0.5, "good": 0.05}
    hindi = {C + "hi": correctness(0.05, 300)}
    models = {
        name: {**english, C + "es": correctness(es, 300), **hindi} for name, es in shares.items()
    }
    board_of(tmp_path, all_but_spanish=english | hindi, **models)
    shown = capsys.readouterr().out
    assert shown.index("- good: ") < shown.index("- all_but_spanish: not measured in 1 of 2, ")
    assert shown.index("- good: ") < shown.index("- bad: worse in 1 of 2, ")
    readme = (tmp_path / "board" / "README.md").read_text(encoding="utf-8")
    assert "- Spanish, of 2 models: worse with 1, " in readme


ABOUT = "by: Ana (Enugu)\nsamples: https://huggingface.co/datasets/a/b\nprice: 0.5/2\npaid: 3.2\n"


def test_what_people_say_of_their_folders(tmp_path, capsys):
    for name in ("a", "b"):
        runs_of(tmp_path / "all" / name, **{name: correctness(0.1, 40)})
    about = tmp_path / "all" / "a" / "about.yaml"
    about.write_text(ABOUT, encoding="utf-8")
    (tmp_path / "about.yaml").write_text("by: nobody\n", encoding="utf-8")  # above what was given
    content = made(tmp_path, tmp_path / "all")
    assert [model["about"] for model in content["models"]] == [
        [{"by": "Ana (Enugu)", "samples": "https://huggingface.co/datasets/a/b",
          "price": [0.5, 2.0], "paid": 3.2}],
        [],
    ]  # fmt: skip
    for text, told in (
        ("bye: x", "bye: unknown key. Did you mean 'by'?"),
        ("samples: javascript:alert(1)", "samples: expected an address that begins with https://"),
        ("samples: https://a.org/x?token=1", "no login and no '?'"),
        ("price: 2", "price: expected dollars for a million tokens"),
        ("paid: true", "paid: expected dollars"),
        ("- x", "expected keys of by, samples, price, paid"),
        ("by: {a", "cannot be read"),
    ):
        about.write_text(text, encoding="utf-8")
        assert main(["leaderboard", str(tmp_path / "all"), "--to", str(tmp_path / "new")]) == 2
        error = capsys.readouterr().err
        assert told in error and str(about) in error and error.count("\n") == 1


# The page


def test_models_by_thirty_languages_are_readable_from_disk(browser, tmp_path):
    made(tmp_path, *many_models(tmp_path, range(5, 10)))
    opened = Opened(browser, tmp_path / "board" / "index.html", PHONE)
    page = opened.page
    assert opened.fits() and axe(page) == []
    assert page.locator("#overview table tbody tr").count() == 30
    assert page.locator("#answer table tbody tr").count() == 5
    opened.unfold()
    assert opened.fits() and axe(page) == [] and opened.well()
    # Who answers in English serves nobody who asks in Hindi: worse, and the last.
    row = page.locator("#liveqa-correctness-usable tr", has_text="Hindi")
    assert "2%" in row.inner_text() and "place 5" in row.inner_text()
