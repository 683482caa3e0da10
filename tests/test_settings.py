from __future__ import annotations

import pytest

from xling_tasks.errors import SettingError
from xling_tasks.secrets import is_secret, redact, redact_log
from xling_tasks.settings import Settings

pytestmark = pytest.mark.core


def parse(_model_args=None, **settings):
    return Settings.parse(settings, {} if _model_args is None else _model_args)


def test_defaults():
    settings = parse(version=1.0, config_source="x.yaml")
    assert settings.temperatures == (0.0, 1.0)
    assert settings.judge is None and settings.prompt_language == "published"


def test_unknown_key_names_the_nearest():
    with pytest.raises(
        SettingError, match=r"tempratures: unknown setting\. Did you mean 'temperatures'"
    ):
        parse(tempratures=[0])
    with pytest.raises(SettingError, match="zzz: unknown setting"):
        parse(zzz=1)


def test_model_args_are_no_settings():
    parse(pretrained="x", dtype="float32", _model_args={"pretrained": "x", "dtype": "float32"})


def test_when_model_args_cannot_be_told_only_misspellings_are_refused():
    Settings.parse({"pretrained": "x"}, None)
    with pytest.raises(SettingError, match="Did you mean 'temperatures'"):
        Settings.parse({"temperature": [1]}, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperatures": []}, "temperatures: the list is empty"),
        ({"temperatures": [0, 0.0]}, "appears twice"),
        ({"temperatures": ["hot"]}, "'hot' is not a number from 0 to 2"),
        ({"temperatures": [True]}, "True is not a number"),
        ({"temperatures": [float("nan")]}, "nan is not a number"),
        ({"temperatures": [-1]}, "-1 is not a number from 0 to 2"),
        ({"prompt_language": "fr"}, "must be 'published', 'en' or 'native'"),
        ({"data_dir": 3}, "data_dir: expected text"),
        ({"judge": {"modle": "hf"}}, "judge: expected"),
        (
            {"judge": {"model": "hf", "modle_args": {}}},
            "judge.modle_args: unknown key. Did you mean 'model_args'",
        ),
        ({"judge": {"model": "hf", "model_args": 3}}, "judge.model_args: expected an object"),
        ({"judge": {"model": "hf", "max_gen_toks": 0}}, "max_gen_toks: must be a positive integer"),
        ({"judge": {"model": "hf", "apply_chat_template": "yes"}}, "apply_chat_template"),
        ({"judge": {"model": "hf", "model_args": {"api_key": "sk"}}}, "take no secrets"),
        ({"judge": "{model:x}"}, "as a whole JSON, got '{model:x}'"),
        ({"encoder": "{model:x}"}, "as a whole JSON, got '{model:x}'"),
        ({"judge": {"model": "hf", "model_args": "auth_token=sk,x=1"}}, "take no secrets"),
        (
            {"judge": {"model": "hf", "model_args": {"header": {"Authorization": "sk"}}}},
            "take no secrets",
        ),
        ({"xling_resume": "False"}, "xling_resume: the text 'False' would be a folder"),
        ({"xling_cache": "true"}, "xling_cache: the text 'true' would be a folder"),
    ],
)
def test_wrong_values_name_the_setting(settings, message):
    with pytest.raises(SettingError, match=message) as told:
        parse(**settings)
    assert redact_log(str(told.value)) == str(told.value)  # none of it is taken for a key


def test_one_temperature_may_be_a_number():
    assert parse(temperatures=0.5).temperatures == (0.5,)


def test_judge_by_name_and_with_a_string_of_arguments():
    assert parse(judge="self").judge.model == "self"
    assert parse(
        judge={"model": "hf", "model_args": "pretrained=x,dtype=auto"}
    ).judge.model_args == {"pretrained": "x", "dtype": "auto"}


def test_secrets_are_redacted_at_any_depth():
    dirty = {"a": {"api_key": "sk-1", "tokenizer": "t"}, "b": [{"auth_token": "x"}], "token": "y"}
    assert redact(dirty) == {
        "a": {"api_key": "<redacted>", "tokenizer": "t"},
        "b": [{"auth_token": "<redacted>"}],
        "token": "<redacted>",
    }
    assert redact({"base_url": "https://me:pw@host/v1"}) == {
        "base_url": "https://<redacted>@host/v1"
    }
    hidden = "https://host/v1?api-key=<redacted>&x=<redacted>"  # whatever a parameter is called
    assert redact("https://host/v1?api-key=abc&x=1") == hidden
    assert is_secret("api-key") and is_secret("Authorization")
    assert not is_secret("tokenizer") and not is_secret("max_gen_toks") and is_secret("hf_token")


@pytest.mark.parametrize(
    "value", ["[hi,es]", "hi, es", ["hi", "es"], "['hi', \"es\"]", ["hi", "en", "es"]]
)
def test_languages_in_every_spelling(value):
    assert Settings.parse({"languages": value}, {}).languages == ("hi", "es")


def test_languages_that_are_wrong():
    for value, message in (
        ("", "unknown language ''"),
        (["es", "hindi"], "unknown language .hindi.. Write .hi.\\."),
        ([], "expected a list"),
        (["hi", "hi"], "twice"),
        (3, "expected a list"),
        (["iw", "he"], "twice"),
    ):
        with pytest.raises(SettingError, match=message):
            Settings.parse({"languages": value}, {})


def test_prompts_small_is_short_for_the_set_of_prompts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse().prompt_set == "all" and parse().dump()["prompt_set"] == "all"
    for given in ({"prompts": "small"}, {"prompt_set": "small"}):
        settings = parse(**given)
        assert (settings.prompt_set, settings.prompts) == ("small", None)
    both = parse(prompts="wording.yaml", prompt_set="small")
    assert (both.prompt_set, both.prompts) == ("small", "wording.yaml")
    with pytest.raises(SettingError, match="prompts=small: prompt_set=all says another; give one"):
        parse(prompts="small", prompt_set="all")
    with pytest.raises(SettingError, match="prompt_set: must be 'all' or 'small', got 'tiny'"):
        parse(prompt_set="tiny")
    (tmp_path / "small").write_text("judge: x")
    with pytest.raises(SettingError, match="there is a file of that name; write ./small for it"):
        parse(prompts="small")
    assert parse(prompts="./small").prompts == "./small"
