"""`xling leaderboard`: ranks against an independent recomputation, groups, what is published, the page."""

from __future__ import annotations

import csv
import json
import re
from itertools import combinations

import numpy as np
import pytest
import yaml
from boards import RECORD, C, correctness, empathy, ten_models
from browser import PHONE, WIDE, Opened, axe
from builders import write_run
from scipy.stats import binom

from xling_tasks.cli import main
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.paired import shared_sums

HOSTILE = "</script><img src=x onerror=alert(1)>{{data}}\u202e"


def made(tmp_path, *folders, words=()):
    """The board's content."""
    to = tmp_path / "board"
    assert main(["leaderboard", *map(str, folders), "--to", str(to), *words]) == 0
    return json.loads((to / "board.json").read_text(encoding="utf-8"))


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


def cells_of(content, endpoint, language):
    own = [c for c in content["cells"] if (c["endpoint"], c["language"]) == (endpoint, language)]
    return {cell["model"]: cell for cell in own}


def places(cells):
    return [(cell["rank_low"], cell["rank_high"]) for cell in cells.values()]


def said_of(content, language="es"):
    return next(each["said"] for each in content["by_language"] if each["language"] == language)


HARM = "correctness/liveqa/contradictory"


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
    cells = cells_of(content, HARM, "es")
    for m in range(5):
        low = 1 + sum((k, m) in rejected for k in range(5))
        high = 5 - sum((m, k) in rejected for k in range(5))
        own = cells[f"m{m}"]
        assert (own["rank_low"], own["rank_high"], own["ranked"]) == (low, high, 5)
    # Not everything is told apart, and not nothing.
    widths = [cell["rank_high"] - cell["rank_low"] for cell in cells.values()]
    assert 0 < sum(widths) < 20 and cells["m4"]["rank_low"] > cells["m0"]["rank_high"]


def test_values_and_conclusions_are_those_of_the_report(tmp_path):
    folders = ten_models(tmp_path, n=60)[:3]
    content = made(tmp_path, *folders)
    report = make_report(read_models(folders), Options())
    concluded = {(c.model, c.dataset, c.metric, c.language): c for c in report.conclusions}
    values = {(c.model, *c.panel, c.language): c for c in report.cells}
    endpoints = {e["key"]: e for e in content["endpoints"]}
    assert len(content["cells"]) == 3 * (3 * 4 + 31 + 30)
    for cell in content["cells"]:
        about = endpoints[cell["endpoint"]]
        panel = (about["criterion"], about["dataset"], about["metric"], about["temperature"])
        own = values[(cell["model"], *panel, cell["language"])]
        assert cell["unread"] == 0
        interval = own.interval
        told = (cell["value"], cell["low"], cell["high"])
        assert told == (own.value, interval.low, interval.high)
        key = (cell["model"], about["dataset"], about["metric"], cell["language"])
        said = concluded.pop(key, None)
        names = ("verdict", "reason", "estimate", "p", "p_holm")
        assert [cell[name] for name in names] == [getattr(said, name, None) for name in names]
    assert not concluded  # every conclusion stands on the board


def test_models_without_a_common_language_are_compared_by_what_a_language_does_not_change(tmp_path):
    other = {**RECORD, "settings": {"judge": {"model": "k", "model_args": {}}}}
    one, chinese = {C + "es": correctness(0.1)}, {C + "zh": correctness(0.1, record=other)}
    own = {C + code: correctness(0.6, seed=at) for at, code in enumerate(("es", "zh"))}
    content = board_of(tmp_path, a=one, b=chinese, c=own)
    (groups,) = [e["groups"] for e in content["endpoints"] if e["key"] == HARM]
    assert [group["models"] for group in groups] == [["a", "c"], ["b"]]
    assert len(groups[1]["differs"]) == 1 and "judge.model" in groups[1]["differs"][0]
    assert cells_of(content, HARM, "es")["c"]["ranked"] == 2
    alike = board_of(tmp_path, a=one, d={C + "zh": correctness(0.1)})
    assert len(alike["endpoints"][0]["groups"]) == 1


def test_models_that_share_no_question_or_version_are_told(tmp_path):
    older = {**RECORD, "version": "0.1.0"}
    first = correctness(0.05, ask=range(60))
    last = correctness(0.9, ask=range(60, 120), record=older)
    content = board_of(tmp_path, a=first, b=last)
    for said in (
        f"a and b have no question of {C}es in common, so nothing tells them apart there",
        "The models were run with several versions of xling-tasks (0.2.0: a; 0.1.0: b)",
    ):
        assert content["notes"].count(said) == 1
    assert places(cells_of(content, HARM, "es")) == [(1, 2), (1, 2)]


def test_an_older_run_in_another_folder_is_told(tmp_path, capsys):
    config = {"model_args": {"pretrained": "org/m"}}
    for name, stamp, numbers in (("p0", "01", range(60)), ("p1", "02", range(60, 120))):
        task = correctness(0.1, ask=numbers)
        for number, row in zip(numbers, task["rows"]):
            row["doc_id"] = number
        write_run(tmp_path / name, {C + "es": task}, config=config,
                  stamp=f"2026-01-{stamp}T03-04-05.678901")  # fmt: skip
    folders = [str(tmp_path / name) for name in ("p0", "p1")]
    for words in (["leaderboard"], ["report", "--no-pictures"]):
        to = str(tmp_path / words[0])
        assert main([words[0], *folders, *words[1:], "--to", to]) == 0
        out = capsys.readouterr().out
        assert f"is not used for {C}es" in out and "xling_replay" in out
        assert out.count("is not used for") == 1
        named = [f"{name}={folder}" for name, folder in zip("ab", folders)]
        assert main([words[0], *named, *words[1:], "--to", to + "2"]) == 0
        assert "is not used for" not in capsys.readouterr().out
    assert main(["leaderboard", folders[0], folders[0], "--to", str(tmp_path / "twice")]) == 0
    assert "is not used for" not in capsys.readouterr().out


def test_runs_made_differently_are_not_ranked_together(tmp_path, capsys):
    judge = {"model": "k", "model_args": {"base_url": "http://192.168.7.7:1/v1"}}
    other = {**RECORD, "settings": {"judge": judge}}
    newer = {**RECORD, "data": {"dataset": "LiveQA", "sha256": "def"}}
    content = board_of(tmp_path, a=both(0.1), b=both(0.5), c=both(0.9, record=other),
                       d=both(0.8, record=newer))  # fmt: skip
    (endpoint,) = [e for e in content["endpoints"] if e["key"] == HARM]
    groups = {tuple(g["models"]): g["differs"] for g in endpoint["groups"]}
    assert list(groups) == [("a", "b"), ("c",), ("d",)] and groups["a", "b"] == []
    (judge,), (data,) = groups[("c",)], groups[("d",)]
    assert judge.startswith("judge.model: j ") and "192.168" not in judge and "SERVER/v1" in judge
    assert data == "data.sha256: abc in group 1, def in group 3"
    cells = cells_of(content, HARM, "es")
    assert [(c["rank_low"], c["rank_high"], c["ranked"]) for c in cells.values()] == [
        (1, 1, 2), (2, 2, 2), (None, None, None), (None, None, None)
    ]  # fmt: skip
    assert cells["c"]["unranked"] == "no other model to rank it with"
    said = "ranked in 3 groups, each by itself (group 1: a, b; group 2: c; group 3: d)"
    assert said in capsys.readouterr().out


def test_who_answers_in_english_is_ranked_by_who_is_served(tmp_path):
    answered = {C + "en": correctness(0.1), C + "es": correctness(0.0, inside=0.02)}
    silent = {name: {**own, "rows": []} for name, own in both(0.0).items()}
    content = board_of(tmp_path, a=both(0.1), b=both(0.5), v=answered, n=silent)
    cells = cells_of(content, HARM.replace("contradictory", "usable"), "es")
    assert (cells["v"]["rank_low"], cells["v"]["rank_high"], cells["v"]["ranked"]) == (3, 3, 3)
    assert cells["v"]["verdict"] == "worse" and "no usable answer" in cells["v"]["in_words"]
    silent = cells_of(content, HARM, "es")["n"]
    assert silent["value"] == 0.0 and silent["low"] is None
    assert silent["rank_low"] is None and silent["unranked"] == "no samples were logged"


def test_the_same_id_with_another_question_parts_two_models(tmp_path, capsys):
    asked = {"a": (0.05, "Question"), "b": (0.9, "Question"), "c": (0.9, "Other")}
    tasks = {name: correctness(share, text=text) for name, (share, text) in asked.items()}
    cells = cells_of(board_of(tmp_path, **tasks), HARM, "es")
    assert places(cells) == [(1, 2), (2, 3), (1, 3)]
    said = "a and c are not ranked against each other in xlinghealth_correctness_liveqa_es: 120 "
    assert said in capsys.readouterr().out


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
    cells = cells_of(board_of(tmp_path, a=own, b=hard), HARM, "es")
    assert places(cells) == [(1, 2), (1, 2)]
    assert [c["unread"] for c in cells.values()] == [160, 0]
    # With a few of them missing that changes nothing.
    for at, clear in enumerate((with_silence(0.1, range(10)), correctness(0.0, 200))):
        cells = cells_of(board_of(tmp_path / str(at), a=clear, b=hard), HARM, "es")
        assert places(cells) == [(1, 1), (2, 2)]


def test_nothing_internal_is_published(tmp_path):
    """Nor what settings name of the user's machine, which reasons name too."""

    def private(code):
        given = {"prompt_language": "native", "prompt_templates": f"/home/ana/study/{code}.yaml",
                 "data_dir": "/srv/data"}  # fmt: skip
        return {**RECORD, "settings": {**RECORD["settings"], **given}}

    own = {C + code: correctness(0.1, record=private(code)) for code in ("en", "es")}
    folders = [
        run_of(tmp_path, "a", both(0.1), base_url="http://10.1.2.3:8000/v1", api_key="sk-abc123def456ghi789"),
        run_of(tmp_path, "b", own, tokenizer="/mnt/models/llama", base_url="https://judge.corp.internal/v1"),
    ]  # fmt: skip
    content = made(tmp_path, *folders)
    assert "SERVER/v1" in content["models"][0]["model"]
    assert '"llama"' in content["models"][1]["model"]
    reasons = [cell["reason"] for cell in content["cells"] if cell["reason"]]
    assert any("prompt templates is" in reason and "es.yaml" in reason for reason in reasons)
    hidden = ("10.1.2.3", "10.0.0.3", "corp.internal", "/mnt", "/srv", "/home", "sk-abc")
    for path in (tmp_path / "board").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not [word for word in (*hidden, str(tmp_path)) if word in text], path.name


def test_files_for_programs_and_a_space(tmp_path, capsys):
    folders = ten_models(tmp_path, n=40)[:2]
    content = made(tmp_path, *folders)
    to = tmp_path / "board"
    with (to / "board.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(content["cells"])
    for row, cell in zip(rows, content["cells"]):
        for name in ("value", "low", "high", "rank_low", "rank_high", "verdict"):
            assert row[name] == ("" if cell[name] is None else str(cell[name]))
    readme = (to / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(readme.split("---\n")[1])
    assert front["sdk"] == "static" and front["app_file"] == "index.html"
    assert len(front["short_description"]) <= 60  # the Hub refuses longer ones
    hub = pytest.importorskip("huggingface_hub")
    assert hub.SpaceCard(readme).data.sdk == "static"
    # A second time over itself, and into a clone of a Space with a README.md of its own.
    (to / "README.md").write_text("---\ntitle: Mine\n---\n", encoding="utf-8")
    before = (to / "index.html").read_bytes()
    made(tmp_path, *folders)
    assert (to / "index.html").read_bytes() == before
    assert "Mine" in (to / "README.md").read_text(encoding="utf-8")
    assert "README.md was there and is kept" in capsys.readouterr().out


def test_errors_in_one_line(tmp_path, capsys):
    bare = {**correctness(0.1, 30), "scores": {"chrf": 1.0}, "rows": []}
    one, bare = runs_of(tmp_path, a=correctness(0.1, 30), bare=bare)
    foreign = tmp_path / "site"
    foreign.mkdir()
    (foreign / "index.html").write_text("mine", encoding="utf-8")
    for words, said in (
        ([one, "--to", foreign], "index.html there is of no board"),
        ([tmp_path / "nowhere", "--to", tmp_path / "b"], "nowhere"),
        ([bare, "--to", tmp_path / "b"], "no result that models are compared by"),
    ):
        assert main(["leaderboard", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1
    assert (foreign / "index.html").read_text(encoding="utf-8") == "mine"


def test_a_sentence_per_language_counts_verdicts_and_names_who_is_behind_nobody(tmp_path):
    english = {C + "en": correctness(0.05, 300)}
    shares = {"good": 0.05, "bad": 0.5, "worst": 0.9}
    models = {name: english | {C + "es": correctness(es, 300)} for name, es in shares.items()}
    other = {**RECORD, "settings": {"judge": {"model": "k", "model_args": {"model": "gpt"}}}}
    content = board_of(tmp_path, **models)
    said = {each["language"]: each["said"] for each in content["by_language"]}
    # The worst served language first; the same answers in English show none as better.
    assert list(said) == ["es", "en"]
    assert said["es"].startswith("Spanish: worse than in English with 2 of 3 models, ")
    assert said["es"].endswith("Of the 3 models 2 were shown to be worse than another model on "
                                "some measure; this was not shown of good.")  # fmt: skip
    assert said["en"] == "English: It is too uncertain to say which of these models is better."
    readme = (tmp_path / "board" / "README.md").read_text(encoding="utf-8")
    assert f"- {said['es']}\n- {said['en']}\n" in readme
    content = board_of(tmp_path, **models, apart=correctness(0.05, 300, record=other))
    told = said_of(content)
    assert "with 2 of 3 models that have English, " in told
    assert told.endswith("Of the 3 ranked models 2 were shown to be worse than another model on "
                            "some measure, among those ranked together; this was not shown of good.")  # fmt: skip
    (model,) = [each for each in content["models"] if each["name"] == "apart"]
    (helped,) = [(each["title"], each["helpers"]) for each in model["made"]]
    assert helped == ("Correctness, LiveQA", {"judge": ["gpt (k)"]})
    alone = board_of(tmp_path, good=models["good"])
    assert alone["by_language"][0]["said"].endswith("1 of 1 model.")


def two_measures(harm, helped, n=300):
    """A task with so many harmful and helpful answers of n."""
    task = correctness(0.1, n)
    for i, row in enumerate(task["rows"]):
        row |= {"contradictory": float(i < harm), "more_comprehensive": float(i >= n - helped)}
    for metric in ("contradictory", "more_comprehensive"):
        task["scores"][metric] = sum(row[metric] for row in task["rows"]) / n
    return task


def test_who_is_behind_somebody_is_said_of_ranked_models_alone(tmp_path):
    """Each is ahead on another measure; a third one has no samples, so that it has no rank."""
    silent = {**correctness(0.1), "rows": []}
    a, b, c = runs_of(tmp_path, a=two_measures(20, 20), b=two_measures(150, 150), c=silent)
    behind = "was shown to be worse than another model on some measure"
    assert said_of(made(tmp_path, a, b)) == f"Spanish: Each of the 2 models {behind}."
    assert said_of(made(tmp_path, a, b, c)) == (
        f"Spanish: Each of the 2 ranked models {behind}, among those ranked together."
    )
    assert said_of(made(tmp_path, a, c)).endswith(
        "None is ranked: no two models that were run alike have scores with samples here."
    )


def test_models_that_never_met_are_not_said_to_be_too_alike(tmp_path):
    """Two pairs with different tasks: each pair is ranked, and no one of all four."""
    one, other = correctness(0.1), {"xling_empathy": empathy({"es": 0.5})}
    assert said_of(board_of(tmp_path, a=one, b=one, c=other, d=other)).endswith(
        "It is too uncertain to say which of these models is better, among those ranked together."
    )


def test_models_may_share_a_place_though_one_is_shown_to_be_better(tmp_path):
    tasks = {name: two_measures(harm, 100) for name, harm in (("a", 20), ("b", 24), ("c", 28))}
    content = board_of(tmp_path, **tasks)
    cells = cells_of(content, HARM, "es")
    first, last = cells["a"], cells["c"]
    assert first["worse"] == ["c"] and last["better"] == ["a"]
    assert first["rank_high"] == last["rank_low"] == 2
    assert "too uncertain to say which is better" not in content["about"][0]


ABOUT = "by: Ana (Enugu)\nsamples: https://huggingface.co/datasets/a/b\nprice: 0.5/2\npaid: 3.2\n"


def test_what_people_say_of_their_folders(tmp_path, capsys):
    for name in ("a", "b"):
        runs_of(tmp_path / "all" / name, **{name: correctness(0.1, 40)})
    about = tmp_path / "all" / "a" / "about.yaml"
    about.write_text(ABOUT, encoding="utf-8")
    (tmp_path / "about.yaml").write_text("by: nobody\n", encoding="utf-8")  # above what was given
    content = made(tmp_path, tmp_path / "all")
    assert [model["handed_in"] for model in content["models"]] == [
        [{"by": "Ana (Enugu)", "samples": "https://huggingface.co/datasets/a/b",
          "price": [0.5, 2.0], "paid": 3.2}],
        [],
    ]  # fmt: skip
    for text, told in (
        ("bye: x", "unknown key 'bye'. Did you mean 'by'?"),
        ("samples: javascript:alert(1)", "samples: expected an address that begins with https://"),
        ("samples: https://a.org/x?token=1", "no login and no '?'"),
        ("samples: https://me:pw@a.org/x", "no login"),
        ("price: 2", "price: write dollars for a million tokens"),
        ("price: 2/-1", "price: write dollars"),
        ("paid: true", "paid: expected dollars"),
        ("paid: .nan", "paid: expected dollars"),
        ("- x", "expected keys of by, samples, price, paid"),
        ("by: {a", "cannot be read"),
        ("by: [a]", "by: expected a line of text"),
    ):
        about.write_text(text, encoding="utf-8")
        assert main(["leaderboard", str(tmp_path / "all"), "--to", str(tmp_path / "new")]) == 2
        error = capsys.readouterr().err
        assert told in error and str(about) in error and error.count("\n") == 1


# The page


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    """The board of ten models by 30 languages."""
    tmp_path = tmp_path_factory.mktemp("ten")
    made(tmp_path, *ten_models(tmp_path))
    return tmp_path / "board" / "index.html"


def rows(page, selector="#groups tbody tr"):
    return [item.inner_text() for item in page.locator(selector).all()]


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_ten_models_by_thirty_languages_are_readable_from_disk(browser, ten, size):
    opened = Opened(browser, ten, size)
    page = opened.page
    assert opened.fits() and axe(page) == []
    page.select_option("#endpoint", "empathy/xling/empathy")
    assert len(rows(page)) == 30 and page.locator("#groups thead th").count() == 11
    assert opened.fits() and axe(page) == []
    spans = page.locator(".matrix td span:not(.heard)")
    sizes = spans.evaluate_all("all => all.map((e) => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 12
    # Scrolled to its end, languages and models are still named.
    page.evaluate("document.querySelector('.matrix').scrollTo(9999, 9999)")
    corner = page.locator(".matrix").bounding_box()
    last = page.locator(".matrix tbody tr:last-child th").bounding_box()
    assert last["x"] >= corner["x"] - 1 and last["width"] > 50
    head = page.locator(".matrix thead th:last-child").bounding_box()
    assert head["x"] + head["width"] <= corner["x"] + corner["width"] + 1
    page.select_option("#language", "hi")
    assert len(rows(page)) == 10 and opened.fits()
    opened.unfold()
    assert axe(page) == [] and opened.fits()
    assert opened.well()


def test_sorting_and_filtering(browser, ten):
    opened = Opened(browser, ten)
    page = opened.page
    assert page.locator("#what").inner_text() == "Harmful answers: every language"
    page.select_option("#language", "es")
    shown = rows(page, ".one td.rank .value")
    ranks = [tuple(map(int, re.findall(r"\d+", text)[:2])) for text in shown]
    assert ranks == sorted(ranks) and len(ranks) == 10
    page.get_by_role("button", name="Value").click()

    def values_shown():
        return [int(text.rstrip("%")) for text in rows(page, ".one td.number .value")]

    values = values_shown()
    assert values == sorted(values) and len(set(values)) > 4
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.textContent").startswith("Value")
    page.keyboard.press("Enter")  # the keyboard is enough
    assert values_shown() == values[::-1]
    page.fill("#models", "MODEL-3")
    assert len(rows(page)) == 1 and "1 of 10 models shown" in page.locator("#status").inner_text()
    page.fill("#models", "")
    page.select_option("#verdict", "worse")
    worse = rows(page)
    assert f"{len(worse)} of 10 models shown" in page.locator("#status").inner_text()
    assert 0 < len(worse) < 10 and all("worse than English" in row for row in worse)
    # Who answers in English serves nobody who asks in Hindi: worse, and the last.
    page.select_option("#endpoint", "correctness/liveqa/usable")
    page.select_option("#language", "hi")
    (row,) = rows(page)
    assert "model-9" in row and "worse than English" in row and "10 of 10" in row
    assert "behind 9, before 0" in row and "2%" in row
    page.select_option("#verdict", "not_comparable")
    assert "Nothing fits these choices." in page.locator("#groups").inner_text()
    assert page.locator("#apart").is_hidden()
    page.get_by_role("button", name="Show all").click()
    # All languages: a model's name sorts them, a language's name opens it.
    page.select_option("#endpoint", "empathy/xling/empathy")
    page.get_by_role("button", name="model-2-instruct-4b").click()
    shown = [int(text.split("%")[0]) for text in rows(page, ".matrix tbody td:nth-child(4)")]
    assert shown == sorted(shown) and len(set(shown)) > 3
    page.locator("#groups").get_by_role("button", name="Hindi").click()
    assert page.locator("#what").inner_text().endswith(": Hindi")
    address = page.url
    page.goto("about:blank")
    page.goto(address)  # a deep link
    assert page.locator("#what").inner_text() == "Answers with empathy as in English: Hindi"
    page.fill("#models", "nobody")
    assert "Nothing fits these choices." in page.locator("#groups").inner_text()
    loaded = {url.partition("#")[0] for url in opened.requests}
    assert opened.noise == [] and loaded <= {opened.url, "about:blank"}


def test_sentences_who_ran_what_and_drawn_intervals(browser, tmp_path):
    a, b = ({C + c: correctness(0.1 + at * (c == "es"), 60) for c in ("en", "es")} for at in (0, 1))
    runs = runs_of(tmp_path, a=a, b=b)
    (tmp_path / "a" / "about.yaml").write_text(ABOUT, encoding="utf-8")
    made(tmp_path, *runs)
    opened = Opened(browser, tmp_path / "board" / "index.html")
    page = opened.page
    first = rows(page, "#languages li")[0]
    assert first.startswith("Spanish: worse than in English with 1 of 2 models")
    # Every value of the table has its interval drawn, and the language's button opens it.
    assert page.locator("#groups td svg .bar").count() == 4
    page.locator("#languages").get_by_role("button", name="Spanish").click()
    assert page.locator("#what").inner_text() == "Harmful answers: Spanish"
    assert page.locator(".one .places").count() == 2
    assert page.locator(".one a").get_attribute("href") == "https://huggingface.co/datasets/a/b"
    opened.unfold()
    one, other = rows(page, "#made tbody tr")
    assert "Ana (Enugu)" in one and "$0.5 / $2 a million tokens" in one and "$3.2" in one
    assert "judge: j" in one and "xling-tasks 0.2.0" in one and "$" not in other
    assert axe(page) == [] and opened.well()


def test_what_is_not_comparable_is_shown_with_its_reason(browser, tmp_path):
    native = {**RECORD, "settings": {**RECORD["settings"], "prompt_language": "native"}}
    tasks = {C + "en": correctness(0.1, 60), C + "es": correctness(0.1, 60, record=native)}
    board_of(tmp_path, a=tasks, b={C + "en": tasks[C + "en"]})
    opened = Opened(browser, tmp_path / "board" / "index.html")
    page = opened.page
    page.select_option("#language", "es")
    page.select_option("#verdict", "not_comparable")
    (row,) = rows(page)
    reason = "run in another way than English (prompt_language is native there, but "
    assert "not comparable" in row and reason in row
    (told,) = rows(page, "#apart li")
    assert told.startswith(f"a, Spanish: {reason}")
    page.select_option("#verdict", "worse")
    assert "Nothing fits these choices." in page.locator("#groups").inner_text()


def test_hostile_names_and_a_model_without_english(browser, tmp_path):
    own = {C + "es": correctness(0.6, 40), "xling_empathy": empathy({"ar": 0.5})}
    hostile = run_of(tmp_path, "a", {C + "es": correctness(0.1, 40)}, pretrained=HOSTILE)
    made(tmp_path, hostile, run_of(tmp_path, "b", own))
    opened = Opened(browser, tmp_path / "board" / "index.html")
    opened.page.select_option("#language", "es")
    assert HOSTILE.rpartition("/")[2] in opened.page.locator(".one tbody th").first.text_content()
    assert "no English answers to compare with" in rows(opened.page)[0]
    opened.page.select_option("#endpoint", "empathy/xling/empathy")
    assert "not ranked" not in rows(opened.page)[0] and len(rows(opened.page)) == 1
    assert opened.well() and axe(opened.page) == []


def test_sums_of_two_sides_are_those_of_each_question():
    """In whatever order the sides have them, against a dictionary of each."""
    rng = np.random.default_rng(5)
    for turn in range(40):
        keys = [[f"q{i}" for i in rng.permutation(12)[: rng.integers(1, 12)]] for _ in range(2)]
        if turn % 2:
            keys[1] = list(keys[0])
        sums = [np.column_stack([rng.integers(0, 2, len(k)), np.ones(len(k))]) for k in keys]
        for each in sums:
            each[rng.random(len(each)) < 0.2] = np.nan
        texts = {key: int(rng.integers(0, 8)) for key in keys[1]} if turn % 3 else {}
        known = [
            {k: tuple(row) for k, row in zip(own, made.tolist()) if row[0] == row[0]}
            for own, made in zip(keys, sums)
        ]
        both = [key for key in keys[1] if key in known[1] and key in known[0]]
        groups: dict[object, list[str]] = {}
        for key in both:
            groups.setdefault(texts.get(key, key), []).append(key)
        told, asked = shared_sums((keys[0], sums[0]), (keys[1], sums[1]), texts)
        assert (told.n, asked) == (len(both), len({*keys[0], *keys[1]}))
        for made, side in zip((told.a, told.b), known):
            wanted = [np.sum([side[key] for key in own], axis=0) for own in groups.values()]
            assert np.array_equal(made, np.array(wanted).reshape(-1, 2))
