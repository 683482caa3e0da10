"""The commands that make and check translations of sets of prompts."""

from __future__ import annotations

import json
import re

import scripted
from builders import write_lines

from xling_tasks.cli import main
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import load_prompts


def xling(capsys, *words):
    status = main(words)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_translate_prompts_makes_a_set_that_loads(capsys, serve, tmp_path):
    rows = scripted.ADVICE.read_text(encoding="utf-8").split("\n")[:3]
    english = {row["en"]: row for row in map(json.loads, rows)}

    def reply(prompt):
        match = re.search(
            r"from English into (\w+)\..*^Text: (.+)\n\nTranslation:", prompt, re.M | re.S
        )
        if not match or match[2] not in english:
            return ""
        return english[match[2]]["es" if match[1] == "Spanish" else "zh"]

    served = serve(reply)
    source, target = tmp_path / "en.jsonl", tmp_path / "all.jsonl"
    texts = [*english, "Please rest well tonight."]
    lines = [{"id": str(i), "category": "advice", "en": text} for i, text in enumerate(texts)]
    lines[0]["zh"] = "已有的译文。"
    write_lines(source, lines)
    settings = json.dumps({"translator": served.spec()})
    words = ("translate-prompts", str(source), "--to", str(target), "--languages", "es,zh")
    status, out, _ = xling(capsys, *words, "--metadata", settings)
    assert status == 0
    data = load_prompts(DATASETS["information"], str(target))
    assert data.languages == ("en", "es", "zh")
    assert [item["text"]["es"] for item in data.prompts] == [
        *(row["es"] for row in english.values()),
        None,
    ]
    # What was there stays; what could not be translated is null and said.
    assert data.prompts[0]["text"]["zh"] == "已有的译文。"
    assert "es: 1 without a translation (null in the file): 3" in out
    status, _, err = xling(capsys, *words, "--metadata", settings)
    assert status == 2 and "is there already" in err


def test_translate_prompts_keeps_other_codes_and_placeholders(capsys, serve, tmp_path):
    """`iw` and `zh-CN` are there already; a translation that loses {age} is none."""
    translations = {"I am {age} years old.": "Tengo cuarenta años.", "I need water.": "Agua."}

    def reply(prompt):
        match = re.search(r"^Own: (.+)$", prompt, re.M)
        return translations.get(match[1], "") if match else ""

    served = serve(reply)
    own = tmp_path / "own.yaml"
    own.write_text('translate: "Own: {text}"\n', encoding="utf-8")
    source, target = tmp_path / "en.jsonl", tmp_path / "all.jsonl"
    rows = [
        {"id": 7, "en": "I am {age} years old.", "iw": "אני בן {age}.", "zh-CN": "我{age}岁。"},
        {"id": "b", "en": "I need water.", "iw": "אני צריך מים.", "zh-CN": "我需要水。"},
    ]
    write_lines(source, rows)
    settings = json.dumps({"translator": served.spec(), "prompt_templates": str(own)})
    words = ("translate-prompts", str(source), "--to", str(target), "--languages", "he,zh,es")
    status, out, _ = xling(capsys, *words, "--metadata", settings)
    assert status == 0 and "es: 1 without a translation (null in the file): 7" in out
    data = load_prompts(DATASETS["information"], str(target))
    assert data.languages == ("en", "he", "zh", "es")
    assert data.prompts[0]["text"] == {
        "en": rows[0]["en"], "he": rows[0]["iw"], "zh": rows[0]["zh-CN"], "es": None,
    }  # fmt: skip
    # The user's own prompt `translate` is the one that is used, for Spanish only.
    assert served.prompts and all(text.startswith("Own: ") for text in served.prompts)


def test_translate_prompts_names_what_is_wrong(capsys, tmp_path):
    source = tmp_path / "en.jsonl"
    source.write_text('{"id": "a", "en": "x"}\n{"id": "b"}\n', encoding="utf-8")
    words = ("translate-prompts", str(source), "--to", str(tmp_path / "out.jsonl"))
    status, _, err = xling(capsys, *words)
    assert status == 2 and "translator" in err
    status, _, err = xling(capsys, *words, "--metadata", "translator=xling_baseline")
    assert status == 2 and "en.jsonl, line 2, field 'en': expected a text" in err


def test_check_translator_by_hand(capsys, serve, tmp_path):
    """Two texts; one sentence of the second is lost on the way back from Spanish."""
    sentences = {
        "Drink plenty of water every day.": "Beba mucha agua todos los días.",
        "See a doctor about chest pain.": "Consulte al médico por el dolor de pecho.",
        "Do not smoke near the children.": "No fume cerca de los niños pequeños.",
    }
    back = {own: english for english, own in sentences.items()}
    two, three = [*sentences][1:]
    both = f"{sentences[two]} {sentences[three]}"  # a chat model translates whole texts
    sentences[f"{two} {three}"] = both
    back[both] = f"{two} Smoking is allowed near children."

    def reply(prompt):
        match = re.search(r"^Text: (.+)\n\nTranslation:", prompt, re.M)
        if not match:
            return scripted.reply(prompt)
        return {**sentences, **back}[match[1]]

    texts = tmp_path / "texts.txt"
    one = next(iter(sentences))
    texts.write_text(f"{one}\n{two} {three}\n", encoding="utf-8")
    served = serve(reply)
    settings = json.dumps({"judge": served.spec(), "translator": served.spec()})
    words = ("round-trip", "--texts", str(texts), "--languages", "es", "--metadata", settings)
    status, out, _ = xling(capsys, *words, "--json")
    assert status == 0
    (row,) = json.loads(out)["languages"]
    # Text 1: F1 = 1. Text 2: one of two claims each way, F1 = 1/2. Mean 0.75; the paper has 0.94.
    assert (row["information_f1"], row["precision"], row["recall"]) == (0.75, 0.75, 0.75)
    assert (row["scored"], row["unscored"], row["published"]) == (2, 0, 0.94)
    status, out, _ = xling(capsys, *words)
    assert "| es       | Spanish | 0.75" in out and "Table 1" in out
    status, _, err = xling(capsys, "round-trip", "--languages", "es")
    assert status == 2 and "translator and judge" in err
