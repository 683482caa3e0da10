"""Keys and internal addresses stay out of logs, results, reports and cards."""

from __future__ import annotations

import json
import logging

import pytest
from lm_eval.api.registry import get_model

from xling_tasks.discovery import clean_logs
from xling_tasks.errors import SettingError
from xling_tasks.models.http_api import ApiRequest
from xling_tasks.models.transport import ModelClient
from xling_tasks.secrets import (
    is_secret,
    printable,
    public,
    redact,
    redact_text,
    refuse_secrets,
    remember,
    secrets_in,
    without_hosts,
)

SECRET = "sk-proj-4nothing4ValueXYZ"


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"{{'Authorization': 'Bearer {SECRET}'}}",
        f"<CIMultiDictProxy('Authorization', 'Bearer {SECRET}')>",
        f"incorrect API key provided: {SECRET}.",
        "model_args: api_key=4nothing4ValueXYZ,model=x",
        "token hf_4nothing4ValueXYZabc is invalid",
        "Authorization: Basic dXNlcjo4nothing4ValueXYZ==",
        "headers={b'Authorization': b'Bearer 4nothing4ValueXYZ'}",
        "AIzaSy4nothing4ValueXYZ0123456789012345",
    ],
)
def test_keys_of_known_forms_are_taken_out(text):
    assert "4nothing4ValueXYZ" not in redact_text(text) and "<redacted>" in redact_text(text)


QUERY = "Zp.a-l%21pha~1"


@pytest.mark.parametrize(
    "text",
    [
        f"POST http://10.0.0.3:8000/v1?w={QUERY}&api-version=1 failed",
        f'https://h:443 "POST /v1/chat?w={QUERY} HTTP/1.1" 401 None',
        f"ClientResponseError: 401, message='No', url='http://h/v1?{QUERY}'",
        f"url=URL('http://h/v1?x=1&w={QUERY}#{QUERY}')",
        f"local-chat(base_url=http://h/v1?w={QUERY})|chat_template:yes|temperature:0",
        f"base_url=wss://u:{QUERY}@h/v1,model=m",
        f"headers=<CIMultiDictProxy('Host': 'h', 'X-Own': 'a, {{b}} ({QUERY})', 'Z': \"{QUERY}\")>",
        f"arguments: {{'model': 'm', 'header': {{'X-Own': '{QUERY}'}}, 'seed': 1}}",
        f"[(b'x-own', b'{QUERY}')] are the headers=[(b'x-own', b'{QUERY}')]".partition("are ")[2],
        f'{{"url": "http://h/p?w={QUERY}", "model": "m"}}',
    ],
)
def test_of_addresses_and_headers_no_value_stays(text):
    told = redact_text(text)
    assert QUERY not in told and "<redacted>" in told and redact_text(told) == told
    for kept in ("model=m", "'model': 'm'", '"model": "m"', "|chat_template:yes|temperature:0",
                 "'seed': 1", "HTTP/1.1", "w=", "http://h/v1"):  # fmt: skip
        assert (kept in told) == (kept in text), told


def test_what_a_run_was_given_is_known_by_its_value(caplog):
    clean_logs()
    remember({"base_url": "https://u:pass-word@h/v1?any=quite%20plain&b", "seed": 1234,
              "header": {"X": "Bearer plainwords"}, "extra_query": {"code": "other-word"}})  # fmt: skip
    logging.getLogger("lm_eval.evaluator").warning(
        "'pass-word', 'quite plain', plainwords, other-word; 1234"
    )
    assert "'<redacted>', '<redacted>', <redacted>, <redacted>; 1234" in caplog.text


def test_settings_taken_from_results_are_refused_by_name():
    told = redact({"base_url": "http://h/v1?code=abc"})
    said = r"judge.base_url: http://h/v1\?code=<redacted>: .*again"
    with pytest.raises(SettingError, match=said):
        refuse_secrets("judge", told)


@pytest.mark.parametrize(
    "text",
    [
        "The bearer of bad news, a bearer-strap and risk-adjusted 12-month survival",
        "tokenizer_backend=None,model=sk-news", "pk-parameters of the drug", "key=value",
        "https://www.cdc.gov/page/topic", "Fever? yes=1, no=0. What is it?", "a ? b : c",
    ],
)  # fmt: skip
def test_other_texts_stay(text):
    assert redact_text(text) == text


def test_arguments_that_hold_keys_are_named():
    args = {"api_key": "x", "model": "m", "eos_token": "</s>", "auth_token": None, "a": SECRET}
    assert secrets_in(args) == ["api_key", "a"]
    assert not is_secret("tokenizer") and is_secret("hf_token") and is_secret("Authorization")
    gone = {"header": "<redacted>", "b": ["<redacted>"]}
    assert redact({"header": {"x": 1}, "b": [SECRET]}) == gone


def test_hosts_of_servers_are_taken_out_and_those_of_services_stay():
    signature = "local-chat(base_url=http://10.0.0.3:8000/v1/chat,model=m)|x"
    assert without_hosts(signature) == "local-chat(base_url=SERVER/v1/chat,model=m)|x"
    value = {"model_args": {"base_url": "https://llm.corp.example/v1", "x": "http://a.b/c"}}
    shown = {"model_args": {"base_url": "SERVER/v1", "x": "http://a.b/c"}}
    assert public(value) == shown and without_hosts(json.dumps(value)) == json.dumps(shown)
    for page in (
        "&quot;base_url&quot;: &quot;http://gpu7/v1&quot;",
        "base_url=http://<redacted>@gpu7/v1",
    ):
        assert "gpu7" not in without_hosts(page) and without_hosts(page).count("SERVER") == 1
    for address in (
        "https://u:k1,k2secret@llm.corp.example/v1",
        "http://user:p&wsecret@llm.corp.example/v1",
        "http://[fd00::1]:8000/v1",
    ):
        assert public({"base_url": address}) == {"base_url": "SERVER/v1"}, address
    service = "base_url=https://api.openai.com/v1"
    assert without_hosts(service) == service
    assert without_hosts(without_hosts(signature)) == without_hosts(signature)


def test_public_takes_secrets_hosts_folders_and_escapes_at_any_depth():
    value = {
        "pretrained": "/home/me/models/llama", "base_url": "http://u:pw@10.0.0.3:8000/v1?k=1",
        "api_key": "x", "names": ["\x1b[31mred\x1b[0m", "a\u202eb"],
        "note": "see /home/me/data/x.csv (~/y/z.txt)", "n": 3, "ratio": "1/2 and/or",
    }  # fmt: skip
    assert public(value) == {
        "pretrained": "llama", "base_url": "SERVER/v1?k=<redacted>", "api_key": "<redacted>",
        "names": ["\ufffd[31mred\ufffd[0m", "a\ufffdb"], "note": "see x.csv (z.txt)", "n": 3,
        "ratio": "1/2 and/or",
    }  # fmt: skip
    assert public(public(value)) == public(value)
    assert printable("a\tb\nc\r\x9b") == "a\tb\nc\ufffd\ufffd"


def test_no_log_line_of_a_failing_service_holds_the_key(serve, monkeypatch, caplog):
    clean_logs()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    served = serve(lambda prompt: "x")
    served.fail_with = 500
    lm = get_model("local-chat-completions")(model="m", base_url=served.url, max_retries=1)
    asked = [(lm.apply_chat_template([{"role": "user", "content": "x"}]), {"max_gen_toks": 5})]
    client = ModelClient("the model under test", lm, {"max_retries": 1})
    client.send([ApiRequest(*request) for request in asked])
    # The harness's own way, which logs the header with each failure.
    lm._concurrent = 2
    with pytest.raises(Exception, match="500"):
        lm.generate_until([type("I", (), {"args": (asked[0][0], {"until": ["x"]})})()] * 2)
    assert "Bearer" in json.dumps(served.requests[0]["headers"])
    assert "4nothing" not in caplog.text
    assert "Request" in caplog.text
