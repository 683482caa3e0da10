"""README and docs: commands run, links exist, every setting, metric, command and option is there."""

from __future__ import annotations

import argparse
import re
import shlex
from importlib import import_module

import docs_commands
import pytest
from lm_eval._cli import HarnessCLI
from xling_task_yaml._generate import files

from xling_tasks.cli import COMMANDS
from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rubric import GROUPS
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


def read(name):
    """The text of a page."""
    return next(page for page in docs_commands.PAGES if page.name == name).read_text("utf-8")


def names_in_tables(text):
    """The names in code in the first columns of a page's tables."""
    cells = re.findall(r"^\| (`.+?) \|", text, re.M)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_pages_are_short():
    pages = [page for page in docs_commands.PAGES if page.parent != docs_commands.ROOT]
    lines = [len(page.read_text("utf-8").splitlines()) for page in pages]
    assert len(pages) <= 10 and sum(lines) <= 1500
    assert len(read("README.md").splitlines()) <= 110
    assert len(read("CHANGELOG.md").splitlines()) <= 40


def test_the_settings_are_those_of_the_docs():
    table = read("settings.md").partition("## Model settings")[0]
    assert names_in_tables(table) == set(Settings.__dataclass_fields__) - {"given", "jury"}


def spans(page):
    """What stands in code on a page, outside its fences."""
    text = re.sub(r"^\s*```.*?^\s*```$", "", page.read_text("utf-8"), flags=re.S | re.M)
    return re.findall(r"(?<!`)`([^`]+)`(?!`)", text)


def test_the_paths_and_tasks_that_the_pages_name_exist():
    folders = ("xling_tasks/", "metrics/", "task_yaml/", "tests/", "docs/", ".ci/", ".github/")
    families = r"(?:xlinghealth|mmedbench|xling_(?:custom|information|empathy))\w*"
    for page in docs_commands.PAGES:
        for span in spans(page):
            if span.startswith(folders) and not set(span) & set("*{} ") and "NAME" not in span:
                assert (docs_commands.ROOT / span).exists(), (page.name, span)
            elif re.fullmatch(families, span) and not span.endswith(("_", "_sw")):
                assert span in docs_commands.known_tasks(), (page.name, span)


def test_the_extras_stand_in_the_readme():
    path = docs_commands.ROOT / "pyproject.toml"
    block = path.read_text("utf-8").partition("[project.optional-dependencies]")[2]
    names = re.findall(r"^(\w+) = \[", block.partition("\n[")[0], re.M)
    extras = read("README.md").partition("Extras:")[2].partition("\n\n")[0]
    assert {name for name in names if f"`{name}`" not in extras} == set() and names


def test_every_task_family_stands_in_the_readme():
    rows = re.findall(r"`((?:xling|mmed)\w+?)(?:_\*)?`", read("README.md"))
    for name in files():
        task = name.split("/")[1].removesuffix(".yaml").lstrip("_")
        assert any(task.startswith(row) for row in rows), task


def made_metrics():
    """The names of all metrics that a run can have; `_src` and temperatures left out."""
    names = {prefix + "x" for prefix in GROUPS}
    for criterion in CRITERIA.values():
        for name, metric in criterion.metrics.items():
            names.add(name.removesuffix("_src"))
            if metric.languages:
                names.add(f"{name}_es")
            if metric.grouped:
                ends = ("script_x", "family_x", "branch_x", "train_in", "train_out")
                names |= {f"{name}_{end}" for end in ends}
    return names


def test_the_metrics_are_those_of_the_docs():
    parts = {"{lang}": "[a-z]{2}", "{n}": "[1-9]", "*": "[a-z_]+"}
    any_part = re.compile("|".join(map(re.escape, parts)))
    patterns = {
        name: re.compile(any_part.sub(lambda part: parts[part[0]], name))
        for name in names_in_tables(read("metrics.md"))
    }
    made, unused = made_metrics(), dict(patterns)
    for name in sorted(made):
        fitting = [key for key, pattern in patterns.items() if pattern.fullmatch(name)]
        plain = name in CRITERIA["information"].metrics or name in CRITERIA["empathy"].metrics
        assert fitting or (plain and f"{name}_es" in made), name
        for key in fitting:
            unused.pop(key, None)
    assert not unused


def options_of(parser):
    """The options of a parser and of those below it."""
    options = set()
    for action in parser._actions:
        options |= set(action.option_strings)
        for below in (action.choices or {}).values() if isinstance(action.choices, dict) else ():
            options |= options_of(below)
    return options


def test_the_commands_and_options_are_those_of_the_docs():
    options = {}
    for name, (module, _) in COMMANDS.items():
        parser = argparse.ArgumentParser()
        import_module(f"xling_tasks.commands.{module}").add_arguments(parser)
        options[name] = options_of(parser)
    others = {"--no-deps", "--strict", "--repo-type", *options_of(HarnessCLI()._parser)}
    known, used = others.union(*options.values()), set()
    for page in docs_commands.PAGES:
        texts = spans(page)
        for _, fence in docs_commands.fences(page):
            texts += fence.replace("\\\n", " ").splitlines()
        for span in texts:
            command = re.match(r"xling ([a-z-]+)(?: |$)", span)
            found = set(re.findall(r"(?<![\w-])--[a-z][a-z_-]+", span.partition(" # ")[0]))
            if command is None:
                assert found <= known, (page.name, span)
                continue
            used.add(command[1])
            assert found <= options.get(command[1], set()), (page.name, span)
    assert used == COMMANDS.keys()
