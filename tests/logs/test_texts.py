"""Which texts of a document are the question and which its options, whatever they are called."""

from __future__ import annotations

import json

import pytest

from xling_tasks.data.choices import asked_of
from xling_tasks.logs.foreign import Reading, asked, fallbacks

FOUR = ["rest", "water", "salt", "tea"]
FORMS = {
    "option_a": {f"option_{mark}": text for mark, text in zip("abcd", FOUR, strict=True)},
    "option_0": {f"option_{at}": text for at, text in enumerate(FOUR)} | {"option_4": None},
    "op1": {f"op{at}": text for at, text in enumerate(FOUR, 1)},
    "mc_answer1": {f"mc_answer{at}": text for at, text in enumerate(FOUR, 1)},
    "opa": {f"op{mark}": text for mark, text in zip("abcd", FOUR, strict=True)},
    "choices": {"choices": FOUR},
    "ARC's": {"choices": {"label": [*"ABCD"], "text": FOUR}},
    "by letter": {"options": dict(zip("ABCD", FOUR, strict=True))},
    "HeadQA's": {"answers": [{"aid": at, "atext": text} for at, text in enumerate(FOUR, 1)]},
}


@pytest.mark.parametrize("form", FORMS)
def test_options_are_found_in_every_form(form):
    doc = {"id": "q1", "subject": "health", "question": "What helps?", **FORMS[form]}
    prompt = "What helps?\nA. rest\nB. water\nC. salt\nD. tea\nAnswer:"
    found = asked(doc, {"gen_args_0": {"arg_0": prompt, "arg_1": " A"}}, 4)
    assert [*found["options"].values()] == FOUR
    # What is about the question stands in no prompt.
    assert found["question"].splitlines()[0] == "What helps?"
    assert "health" not in found["question"] and "q1" not in found["question"]


def test_a_prompt_in_a_chat_is_one_too_and_without_any_all_texts_are_told():
    doc = {"question": 'Say "yes"\nor no.', "note": "of 2020"}
    chat = json.dumps([{"role": "user", "content": doc["question"]}], ensure_ascii=False)
    assert asked(doc, [[chat, {}]])["question"] == doc["question"]
    assert asked(doc, None) == {"question": f"{doc['question']}\nof 2020", "options": {}}
    assert asked("text", None)["question"] == "text" and asked(None, None)["question"] == ""


def test_a_letter_that_stands_in_a_prompt_is_not_the_question():
    """The prompt writes the question in another way; the right letter stands in any."""
    doc = {"question": "What  helps most?", "answer": "A"}
    found = asked(doc, {"gen_args_0": {"arg_0": "What helps most? A or B"}})
    assert found["question"] == "What  helps most?\nA"


def test_a_row_of_another_task_says_what_was_asked():
    row = {"doc_id": 0, "doc": {"q": "Why?", "op1": "x", "op2": ""}, "target": "0", "acc": 1.0,
           "resps": [[-1.0], [-2.0]], "arguments": {"gen_args_0": {"arg_0": "Why?"}}}  # fmt: skip
    own = Reading("acc", "none", "task_right", written=False).own(row)
    found = asked_of(own["doc"])
    assert found is not None and found.question == "Why?" and [*found.options.values()] == ["x", ""]


def test_what_a_filter_could_not_read_is_known_after_its_further_steps():
    """As `polemo2_in` has it: letters become numbers, and what is none -1."""
    steps = [
        {"function": "regex", "regex_pattern": "([AB])"},
        {"function": "take_first"},
        {"function": "map", "mapping_dict": {"A": 0, "B": 1}, "default_value": -1},
    ]
    config = {"filter_list": [{"name": "f", "filter": steps}]}
    told = fallbacks(config, "f")
    assert "-1" in told and not {"0", "1"} & set(told)
    reading = Reading("exact_match", "f", "task_right", told)
    for filtered, lost in ((-1, 1.0), (0, 0.0)):
        assert reading.rates({"filtered_resps": [filtered], "resps": [["x"]]}) == {
            "unparsed_rate": lost,
            "empty_rate": 0.0,
        }
    lower = {"filter_list": [{"name": "f", "filter": [steps[0], {"function": "lowercase"}]}]}
    assert fallbacks(lower, "f") == ("[invalid]",)
