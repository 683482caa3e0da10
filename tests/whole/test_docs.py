"""README and docs: their commands run, their links lead somewhere, their tables are complete."""

from __future__ import annotations

import re
import shlex

import docs_commands
import pytest
import scripted
from xling_task_yaml._generate import files

from xling_tasks.settings import Settings

pytestmark = pytest.mark.skipif(
    not docs_commands.PAGES[0].is_file(), reason="needs the source tree"
)


@pytest.mark.slow
def test_every_command_of_the_pages_runs(tmp_path, monkeypatch):
    docs_commands.prepare(tmp_path)
    ran = {}
    for command in docs_commands.commands():
        if command.why_not is not None:
            docs_commands.check(command.words)
            continue
        table = "--tasks xlinghealth_demo " in command.words
        done = docs_commands.run_here(command.words, tmp_path, table=table)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        ran[command.words] = done
    # That the commands stand on PATH after an installation is shown by test_install.py.
    demo = next(done for words, done in ran.items() if "--tasks xlinghealth_demo " in words)
    assert "xlinghealth_verifiability_demo_hi" in demo.stdout
    assert {"lm_eval", "xling"} <= {shlex.split(words)[0] for words in ran} and len(ran) >= 7
    monkeypatch.chdir(tmp_path)  # where the commands have left their results
    for block in docs_commands.python_blocks():
        exec(compile(block, "docs", "exec"), {})


def anchors(page):
    """The anchors that GitHub gives to a page's headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", docs_commands.PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_the_readme_is_short_and_names_every_setting():
    readme = docs_commands.PAGES[0].read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 170
    table = readme[readme.index("## Settings") : readme.index("## Read on")]
    fields = set(Settings.__dataclass_fields__) - {"given", "jury"}
    assert {name for name in fields if f"`{name}`" not in table} == set()


def test_every_task_family_stands_in_the_readme():
    readme = docs_commands.PAGES[0].read_text(encoding="utf-8")
    rows = re.findall(r"`((?:xling|mmed)\w+?)(?:_\*)?`", readme)
    for name in files():
        task = name.split("/")[1].removesuffix(".yaml").lstrip("_")
        assert any(task.startswith(row) for row in rows), task


def documented():
    """The names in the first columns of the tables of metrics.md, as patterns."""
    text = (docs_commands.ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.+?) \|", text, re.M)
    parts = {"{lang}": "[a-z]+", "{mechanism}": "[a-z_]+", "*": "[a-z_]+", "...": "[a-z0-9_]+",
             "{n}": "[1-9]"}  # fmt: skip
    every = re.compile("|".join(map(re.escape, parts)))
    names = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    return [re.compile(every.sub(lambda part: parts[part[0]], name)) for name in names]


def test_every_metric_stands_in_the_docs(run, serve):
    judge = serve(scripted.judged).spec()
    quick = {"encoder": False, "source_encoder": False, "topic_seeds": 1, "k": 2}
    jury = [judge, {**judge, "model_args": {**judge["model_args"], "model": "judge-2"}}]
    roles = {"judge": jury, "translator": judge, "answer_extractor": judge}
    metadata = {**quick, **roles}
    tasks = ["xlinghealth_demo", "mmedbench_demo", "xlinghealth_information_demo"]
    tasks += ["xlinghealth_verifiability_ll_demo", "mmedbench_mcqa_ll_demo"]
    results = run(tasks, metadata=metadata, limit=2, log_samples=False)
    names = {
        re.sub(r"(_src)?(_t\d\.\d)?$", "", key.partition(",")[0])
        for values in results["results"].values()
        for key in values
        if "," in key and "_stderr" not in key
    }
    known = documented()
    assert len(names) > 60
    assert [name for name in sorted(names) if not any(p.fullmatch(name) for p in known)] == []
