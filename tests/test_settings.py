from __future__ import annotations

import pytest

from xling_tasks.errors import SettingError
from xling_tasks.secrets import redact_log
from xling_tasks.settings import Settings

pytestmark = pytest.mark.core


def parse(**settings):
    return Settings.parse(settings, {})


def test_defaults_and_what_is_no_setting():
    settings = parse(version=1.0, config_source="x.yaml")
    assert settings.temperatures == (0.0, 1.0)
    assert settings.judge is None and settings.prompt_language == "published"
    args = {"pretrained": "x", "dtype": "float32"}
    Settings.parse(args, args)
    # When the model's arguments cannot be told, only misspellings are refused.
    Settings.parse({"pretrained": "x"}, None)
    with pytest.raises(SettingError, match="Did you mean 'temperatures'"):
        Settings.parse({"temperature": [1]}, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tempratures": [0]}, r"tempratures: unknown setting\. Did you mean 'temperatures'"),
        ({"zzz": 1}, "zzz: unknown setting"),
        ({"temperatures": []}, "temperatures: the list is empty"),
        ({"temperatures": [0, 0.0]}, "appears twice"),
        ({"temperatures": ["hot"]}, "'hot' is not a number from 0 to 2"),
        ({"temperatures": [True]}, "True is not a number"),
        ({"temperatures": [float("nan")]}, "nan is not a number"),
        ({"temperatures": [-1]}, "-1 is not a number from 0 to 2"),
        ({"prompt_language": "fr"}, "must be 'published' or 'en' or 'native'"),
        ({"data_dir": 3}, "data_dir: expected text"),
        ({"k": 10**9}, "k: must be an integer from . to 10,000"),
        ({"topic_seeds": 10**9}, "topic_seeds: must be an integer from . to 10,000"),
        ({"judge": {"modle": "hf"}}, "judge: expected"),
        ({"judge": "{model:x}"}, "as a whole JSON, got '{model:x}'"),
        ({"encoder": "{model:x}"}, "as a whole JSON, got '{model:x}'"),
        ({"xling_resume": "False"}, "xling_resume: the text 'False' would be a folder"),
        ({"xling_cache": "true"}, "xling_cache: the text 'true' would be a folder"),
        ({"languages": ""}, "unknown language ''"), ({"languages": 3}, "expected a list"),
        ({"languages": ["es", "hindo"]}, r"unknown language .hindo.. Did you mean .id.\?"),
        ({"languages": []}, "expected a list"), ({"languages": ["hi", "hi"]}, "twice"),
        ({"languages": ["iw", "he"]}, "twice"),
        ({"prompt_set": "tiny"}, "prompt_set: must be 'all', 'small' or a JSONL file, got 'tiny'"),
        *(({"judge": {"model": "hf", **judge}}, message) for judge, message in (
            ({"modle_args": {}}, "judge.modle_args: unknown key. Did you mean 'model_args'"),
            ({"model_args": 3}, "judge.model_args: expected an object"),
            ({"model_args": {"trust_remote_code": "True"}}, "trust_remote_code: code out of"),
            ({"max_gen_toks": 0}, "max_gen_toks: must be a positive integer"),
            ({"max_gen_toks": True}, "max_gen_toks: must be"),
            ({"batch_size": -3}, "batch_size: must be"),
            ({"apply_chat_template": "yes"}, "apply_chat_template"),
            ({"model_args": {"api_key": "sk"}}, "take no secrets"),
            ({"model_args": "auth_token=sk,x=1"}, "take no secrets"),
            ({"model_args": {"header": {"Authorization": "sk"}}}, "take no secrets"),
        )),
    ],
)  # fmt: skip
def test_wrong_values_name_the_setting(settings, message):
    with pytest.raises(SettingError, match=message) as told:
        parse(**settings)
    assert redact_log(str(told.value)) == str(told.value)  # none of it is taken for a key


def test_judge_by_name_and_with_a_string_of_arguments():
    assert parse(judge="self").judge.model == "self"
    judge = parse(judge={"model": "hf", "model_args": "pretrained=x,dtype=auto"}).judge
    assert judge.model_args == {"pretrained": "x", "dtype": "auto"}
    assert parse(judge={"model": "hf", "batch_size": "auto:4"}).judge.batch_size == "auto:4"
    assert parse(temperatures=0.5).temperatures == (0.5,)


@pytest.mark.parametrize(
    "value", ["[hi,es]", "hi, es", ["hi", "es"], "['hi', \"es\"]", ["hi", "en", "es"]]
)
def test_languages_in_every_spelling(value):
    assert Settings.parse({"languages": value}, {}).languages == ("hi", "es")
