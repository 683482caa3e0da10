"""`xling gate`: what a policy says of checkpoints run by the harness, and the exit status."""

from __future__ import annotations

import json
import shutil

import boards
import pytest
from builders import changed, evaluated, write_run
from tasks.test_mmlu_clinical import publish, reader

from xling_tasks.cli import main
from xling_tasks.report.policy import endpoint_names

GO, ERROR, NO_GO, INCONCLUSIVE = 0, 2, 1, 3


def knows_all(prompt):
    """Right in Tsonga, too."""
    return "A"


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """Runs of the harness: one that knows all, one that lost Tsonga, and the first of 30 questions."""
    folder = tmp_path_factory.mktemp("gate")
    data = publish(folder / "data", flawed=())
    names = [f"mmlu_clinical_mcqa_{code}" for code in ("en", "ts", "zu")]
    for name, model, limit in (
        ("a", reader(knows_all), None),
        ("b", reader(), None),
        ("few", reader(knows_all), 30),
    ):
        options = {} if limit is None else {"limit": limit}
        evaluated(run, folder / name, names, model=model, metadata={"data_dir": str(data)},
                  **options)  # fmt: skip
    shutil.copytree(folder / "a", folder / "copy")
    return folder


def gate(capsys, *words):
    """The status, and what was printed as JSON."""
    status = main(["gate", *map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


def by_language(content):
    return {row["language"]: row["outcome"] for row in content["checked"]}


def policy(folder, *rules):
    """The words that name a policy of these rules."""
    path = folder / "policy.yaml"
    text = "".join(f"- {{{rule}}}\n" for rule in rules)
    path.write_text(f"rules:\n{text}", encoding="utf-8")
    return "--policy", path


def test_a_copy_may_go_and_a_lost_language_may_not(made, capsys):
    status, content = gate(capsys, made / "a", made / "copy")
    assert (status, content["outcome"]) == (GO, "GO") and content["status"] == GO
    assert by_language(content) == {"en": "GO", "ts": "GO", "zu": "GO"}
    status, content = gate(capsys, made / "a", made / "b")
    assert (status, content["outcome"]) == (NO_GO, "NO-GO")
    assert by_language(content) == {"en": "GO", "ts": "NO-GO", "zu": "GO"}
    [lost] = [row for row in content["checked"] if row["language"] == "ts"]
    assert lost["estimate"] < -0.3 and lost["verdict"] == "worse" and lost["n"] == 604
    status, content = gate(capsys, made / "b", made / "a")  # what becomes better may go
    assert status == GO
    # One checkpoint: by default no language worse than English.
    assert gate(capsys, made / "a")[0] == GO
    status, content = gate(capsys, made / "b")
    assert status == NO_GO and by_language(content) == {"ts": "NO-GO", "zu": "GO"}


def test_too_few_questions_decide_nothing_and_it_says_how_many_would(made, capsys):
    status, content = gate(capsys, made / "few")
    assert (status, content["outcome"]) == (INCONCLUSIVE, "INCONCLUSIVE")
    for row in content["checked"]:
        # 72 are the least that rule out a rare breakdown of 5 in 100.
        assert row["n"] == 30 and row["more"] >= 42 and "more questions" in row["next"]
    wide = policy(made, "against: english, margin: 0.3")
    assert gate(capsys, made / "few", *wide)[0] == GO


def test_only_what_the_policy_names_counts(made, capsys):
    only = policy(made, "against: english, endpoints: acc, languages: [zu]")
    status, content = gate(capsys, made / "b", *only)
    assert status == GO and by_language(content) == {"zu": "GO"}
    both = policy(made, "against: A, languages: [zu]", "against: english, languages: [ts, zu]")
    status, content = gate(capsys, made / "a", made / "b", *both)
    assert status == NO_GO and [row["rule"] for row in content["checked"]] == [1, 2, 2]


def test_what_was_not_measured_is_never_go(made, capsys):
    rule = "against: english, endpoints: [acc, harm], languages: [zu, hi]"
    status, content = gate(capsys, made / "a", *policy(made, rule))
    assert status == INCONCLUSIVE
    lacking = {row["why"].split(";")[0] for row in content["checked"] if not row["verdict"]}
    assert lacking == {f"no {x} in the results in {y!r}"
                       for x, y in (("acc", "hi"), ("harm", "zu"), ("harm", "hi"))}  # fmt: skip
    part = made / "part"
    shutil.copytree(made / "a", part, dirs_exist_ok=True)
    for path in part.rglob("samples_*_zu_*"):
        path.unlink()
    status, content = gate(capsys, made / "a", part)
    assert status == INCONCLUSIVE and by_language(content)["zu"] == "INCONCLUSIVE"
    english = made / "english"
    shutil.copytree(made / "a", english, dirs_exist_ok=True)

    def without(content):
        for part in ("results", "configs", "n-samples", "versions", "n-shot", "higher_is_better"):
            for code in ("ts", "zu"):
                content[part].pop(f"mmlu_clinical_mcqa_{code}", None)

    changed(english, without)
    status, content = gate(capsys, made / "a", english)
    lacking = {row["language"]: row["why"] for row in content["checked"]}
    assert status == INCONCLUSIVE and lacking["ts"] == lacking["zu"] == "only in A"


def judged(folder, harmful, n=1134):
    """Correctness with so many harmful answers in English and in Spanish."""
    tasks = {boards.C + code: boards.judged(range(hits), n) for code, hits in harmful.items()}
    return write_run(folder, tasks, config={"model_args": {"pretrained": f"me/{folder.name}"}})


def test_harm_within_the_margin_is_allowed_only_where_the_policy_says_so(tmp_path, capsys):
    out = judged(tmp_path / "out", {"en": 2, "es": 16})
    for allow, wanted in (("margin", "GO"), ("nothing", "NO-GO")):
        rule = f"against: english, endpoints: harm, allow: {allow}, margin: 0.03"
        status, content = gate(capsys, out, *policy(tmp_path, rule))
        [row] = content["checked"]
        assert row["verdict"] == "worse" and row["outcome"] == content["outcome"] == wanted
        assert status == {"GO": GO, "NO-GO": NO_GO}[wanted]
    # Without a margin of its own the endpoint's counts: 0.02 of harm.
    own = policy(tmp_path, "against: english, endpoints: contradictory")
    assert gate(capsys, out, *own)[1]["checked"][0]["margin"] == 0.02


@pytest.mark.parametrize(("text", "said"), [
    ("rules:\n- {against: B}", "rule 1: against: 'B' is not known. Known: A, english"),
    ("rules:\n- {against: A}", "rule 1: against: A needs two checkpoints"),
    ("rules:\n- {against: english}\n- {}", "rule 2: against: None is not known"),
    ("rules:\n- {against: english, endpoints: harmm}", "endpoints: 'harmm' is not known. Did you mean"
     " 'harm'"),
    ("rules:\n- {against: english, endpoints: []}", "endpoints: expected all, or names, got []"),
    ("rules:\n- {against: english, languages: [es, no]}", "needs quotation marks"),
    ("rules:\n- {against: english, languages: [all, es]}", "languages: expected all, or names"),
    ("rules:\n- {against: english, languages: en}", "en is what the others are held against"),
    ("rules:\n- {against: english, margin: 5}", "margin: must be a number between 0 and 1"),
    ("rules:\n- {against: english, margin: yes}", "margin: must be a number between 0 and 1"),
    ("rules:\n- {against: english, margins: 0.1}", "unknown key 'margins'. Did you mean 'margin'"),
    ("rules:\n- {against: english, allow: much}", "allow: 'much' is not known. Known: margin, noth"),
    ("rules: []", "rules: expected a list of one rule or more"),
    ("rule:\n- {against: english}", "unknown key 'rule'. Did you mean 'rules'"),
    ("- a", "expected a list called rules"), ("", "expected a list called rules"),
    ("rules: [", "not valid YAML"),
    ("rules:\n- against: english\n  endpoints: harm\n  endpoints: acc", "'endpoints' stands there twice"),
    ("rules:\n- {against: english, margin: .nan}", "margin: must be a number between 0 and 1"), ("rules:\n- english", "rule 1: expected against, endpoints"),
])  # fmt: skip
def test_a_wrong_policy_is_an_error_that_names_file_key_and_what_may_stand(
    text, said, tmp_path, capsys
):
    out = judged(tmp_path / "out", {"en": 2, "es": 2}, n=80)
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["gate", str(out), "--policy", str(path)]) == ERROR
    error = capsys.readouterr().err
    assert said in error and "policy.yaml" in error and error.count("\n") == 1


def test_what_is_no_comparison_is_an_error(made, tmp_path, capsys):
    assert main(["gate", str(made / "a"), str(tmp_path)]) == ERROR
    assert main(["gate", *[str(made / "a")] * 3]) == ERROR
    assert main(["gate", str(made / "a"), "--policy", str(tmp_path / "none.yaml")]) == ERROR
    assert "there is no such file" in capsys.readouterr().err
    other = judged(tmp_path / "other", {"en": 2, "es": 2}, n=80)
    ours = judged(tmp_path / "ours", {"en": 2, "es": 2}, n=80)
    for path in other.rglob("results_*.json"):
        path.write_text(
            path.read_text().replace('"settings": {}', '"settings": {"judge": {"model": "k"}}')
        )
    assert main(["gate", str(ours), str(other)]) == ERROR
    assert "were not made alike" in capsys.readouterr().err


def test_a_policy_may_name_every_endpoint_and_what_it_stands_for():
    names = {"harm", "served", "help", "quality", "acc", "macro_f1", "sim_sent"}
    assert names <= {*endpoint_names()}


def test_the_command_ends_with_the_status(made, capsys, monkeypatch):
    monkeypatch.chdir(made)
    names = {GO: "# GO", NO_GO: "# NO-GO", INCONCLUSIVE: "# INCONCLUSIVE"}
    for folders, wanted in ((["a", "copy"], GO), (["b"], NO_GO), (["few"], INCONCLUSIVE)):
        assert main(["gate", *folders]) == wanted
        said = capsys.readouterr()
        assert said.out.startswith(names[wanted]) and "What would decide" not in said.err


def test_so_many_more_decide_whatever_was_not_read(tmp_path, capsys):
    """With so many more in the same shares it is decided; or unread replies are what is lacking."""

    def run_of(name, times, harmful, silent, n=600):
        tasks, size = {}, round(n * times)
        for code, hits, lost in zip(("en", "es"), harmful, silent):
            # What is harmful in one language is not in the other, and neither is unread.
            at = range(round(hits * times))
            numbers = [size - 1 - i if code == "en" else size // 2 + i for i in at]
            made = boards.judged(numbers, size, silent=range(round(lost * times)))
            tasks[boards.C + code] = made
        return write_run(tmp_path / name, tasks)

    rule = policy(tmp_path, "against: english, endpoints: harm")
    for name, harmful, silent in (("out", (9, 12), (0, 30)), ("worse", (9, 15), (0, 60))):
        out = run_of(name, 1, harmful, silent)
        [row] = gate(capsys, out, *rule)[1]["checked"]
        assert row["outcome"] == "INCONCLUSIVE" and row["more"]
        wide = run_of(f"{name} more", 1 + row["more"] / row["n"], harmful, silent)
        assert gate(capsys, wide, *rule)[0] != INCONCLUSIVE
    [row] = gate(capsys, run_of("lost", 1, (9, 9), (0, 150)), *rule)[1]["checked"]
    assert row["more"] is None and "take another judge" in row["next"]


def test_what_is_better_in_an_exam_of_its_own_is_told_so(tmp_path, capsys):
    right = {"en": 200, "es": 350}
    tasks = {f"mmedbench_mcqa_{code}": boards.exam(code, 400, hits) for code, hits in right.items()}
    status, content = gate(capsys, write_run(tmp_path / "out", tasks))
    [row] = content["checked"]
    why = "better, but its exam has other questions, which may be easier"
    assert (status, row["why"]) == (GO, why)


def test_languages_that_are_there_are_named_with_english_beside(tmp_path, capsys):
    out = judged(tmp_path / "out", {"en": 2}, n=80)
    [row] = gate(capsys, out)[1]["checked"]
    assert row["why"] == "no endpoint in the results; languages there: none beside English"
