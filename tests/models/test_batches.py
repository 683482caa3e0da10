"""The batch interface, against a service on loopback that speaks OpenAI's form and goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time

import pytest
from conftest import GREETINGS
from loopback import Loopback

from xling_tasks.cache import open_cache
from xling_tasks.errors import BackendError, SettingError
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED
from xling_tasks.models import batches
from xling_tasks.models.backend import Backend
from xling_tasks.models.http_api import ApiRequest
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.retry import ServiceUnavailable
from xling_tasks.models.transport import ModelClient


class Batches(Loopback):
    """A service with files and batches."""

    def __init__(self):
        self.files, self.batches, self.asked, self.direct = {}, {}, {}, []
        # Prompt and attempt -> a reply; a status with a body; 'expired'; None for no line.
        self.fate = lambda prompt, attempt: f"reply to {prompt}"
        # How often a batch is asked about until it is over, and what it is then.
        self.polls, self.status, self.errors = 1, "completed", None
        self.lose = 0  # replies to the submission of a batch that are lost on the way
        super().__init__()
        self.url = f"{self.host}/v1/chat/completions"

    def respond(self, path, headers, body):
        told = self.told(path.partition("?")[0].removeprefix("/v1/"), headers, body)
        if told == "lost":
            return None
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        return 404 if told is None else 200, {}, data

    def told(self, path, headers, body):
        if path == "chat/completions":
            self.direct.append(json.loads(body)["messages"][-1]["content"])
            return completion("ready")
        if path == "batches" and body:
            asked, number = json.loads(body), f"batch-{len(self.batches)}"
            assert asked["endpoint"] == "/v1/chat/completions"
            self.batches[number] = {"id": number, "status": "validating", "polled": 0, **asked}
            self.lose -= 1
            return self.batches[number] if self.lose < 0 else "lost"
        if path == "files":
            mark = b"--" + headers["Content-Type"].partition("boundary=")[2].encode()
            parts = [part.partition(b"\r\n\r\n") for part in body.split(mark)]
            (content,) = [text[:-2] for head, _, text in parts if b"filename=" in head]
            return {"id": self.keep(content)}
        if path == "batches":
            return {"data": list(self.batches.values())}
        what, name, *_ = path.split("/")
        return self.state(name) if what == "batches" else self.files.get(name)

    def keep(self, content):
        self.files[f"file-{len(self.files)}"] = content
        return f"file-{len(self.files) - 1}"

    def state(self, number):
        batch = self.batches.get(number)
        if batch is None:
            return None
        batch["polled"] += 1
        batch["status"] = "IN_PROGRESS"  # some write it so
        if batch["polled"] > self.polls:
            batch["status"] = self.status
            if "output_file_id" not in batch and self.status != "failed":
                self.answer(batch)
            batch["errors"] = self.errors
        return batch

    def answer(self, batch):
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        assert len({line["custom_id"] for line in lines}) == len(lines)
        out, errors = [], []
        for line in lines:
            assert line["method"] == "POST" and line["url"] == "/v1/chat/completions"
            prompt = line["body"]["messages"][-1]["content"]
            own = {"id": "x", "custom_id": line["custom_id"], "error": None, "response": None}
            fate = self.fate(prompt, self.asked.setdefault(prompt, 0))
            self.asked[prompt] += 1
            if fate == "expired":
                errors.append({**own, "error": {"code": "batch_expired", "message": "too late"}})
            elif isinstance(fate, tuple):
                response = {"status_code": fate[0], "body": fate[1]}
                errors.append({**own, "response": response})
            elif fate is not None:
                out.append({**own, "response": {"status_code": 200, "body": completion(fate)}})
        random.Random(7).shuffle(out)
        for kind, own in (("output_file_id", out), ("error_file_id", errors)):
            text = b"\n".join(json.dumps(line).encode() for line in own)
            batch[kind] = self.keep(text) if own else None
        batch["request_counts"] = {"total": len(lines), "completed": len(out), "failed": 0}

    @property
    def lines(self):
        """How many requests were submitted."""
        return sum(len(self.files[b["input_file_id"]].splitlines()) for b in self.batches.values())

    def spec(self, **more):
        args = {"model": "m", "base_url": self.url, "max_retries": 3}
        return {"model": "local-chat-completions", "model_args": args, "batch": True, **more}


def completion(text):
    return {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setattr(batches, "_FIRST_WAIT", 0.02)
    served = Batches()
    yield served
    served.close()


@pytest.fixture
def judge(service, tmp_path):
    """A judge of a new process each time it is called."""
    return lambda **more: Backend(
        "judge", ModelConfig.parse("judge", service.spec(**more)), str(tmp_path / "cache")
    )


def noted(tmp_path):
    return open_cache("batches", tmp_path / "cache").get_all()


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PROMPTS = [f"question {word}" for word in NUMBERS]


def test_replies_come_back_by_id_and_are_kept(service, judge, tmp_path):
    given = judge().generate(PROMPTS)
    assert [str(reply) for reply in given] == [f"reply to {prompt}" for prompt in PROMPTS]
    assert len(service.batches) == 1 and service.lines == 9 and not service.direct
    assert judge().generate(PROMPTS) == given
    assert len(service.batches) == 1 and noted(tmp_path) == {}
    # The same replies serve a judge that is asked call by call.
    assert judge(batch=False).generate(PROMPTS) == given and not service.direct


def test_what_failed_is_asked_once_more_and_then_fails_alone(service, judge, tmp_path):
    fates = {
        "one": lambda attempt: (500, {"error": {"message": "down"}}),
        "two": lambda attempt: (429, {"error": "slow"}) if attempt == 0 else "two at last",
        "three": lambda attempt: "expired" if attempt == 0 else "three at last",
        "four": lambda attempt: None,
        "five": lambda attempt: (400, {"error": {"code": "content_filter"}}),
    }
    service.fate = lambda prompt, attempt: fates.get(prompt.split()[1], lambda _: prompt)(attempt)
    replies = dict(zip(PROMPTS, judge().generate(PROMPTS), strict=True))
    told = {prompt.split()[1]: (reply.outcome, reply.reason) for prompt, reply in replies.items()}
    assert told == {
        "one": (REQUEST_FAILED, "status 500"), "two": ("", ""), "three": ("", ""),
        "four": (REQUEST_FAILED, "not in the completed batch"), "five": (CONTENT_FILTER, "content filter"),
        **dict.fromkeys(("six", "seven", "eight", "nine"), ("", "")),
    }  # fmt: skip
    assert replies["question two"] == "two at last"
    assert len(service.batches) == 2 and service.lines == 9 + 4 and noted(tmp_path) == {}
    # The next run asks for what failed, and for nothing else.
    service.fate = lambda prompt, attempt: "well"
    judge().generate(PROMPTS)
    assert service.lines == 9 + 4 + 3


def killed_while_waiting(service, work):
    """Do some work in a process, and kill it when it has asked about its batch a few times."""
    service.polls = 10**6
    pid = os.fork()
    if not pid:
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    until = time.monotonic() + 30
    while not any(batch["polled"] > 2 for batch in service.batches.values()):
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    service.polls = 0


def test_a_kill_while_waiting_costs_nothing(service, judge, tmp_path):
    killed_while_waiting(service, lambda: judge().generate(PROMPTS))
    assert len(noted(tmp_path)) == 1
    # A run of fewer tasks takes its own replies; the others stay noted.
    assert judge().generate(PROMPTS[:3])[2] == "reply to question three"
    assert service.lines == 9 and len(noted(tmp_path)) == 1
    # With more to ask, only that is new.
    texts = [str(reply) for reply in judge().generate([*PROMPTS, "another"])]
    assert texts == [f"reply to {prompt}" for prompt in [*PROMPTS, "another"]]
    assert service.lines == 10 and noted(tmp_path) == {}


def test_a_submission_whose_reply_was_lost_is_not_paid_twice(service, judge):
    service.lose = 1
    assert all(not reply.outcome for reply in judge().generate(PROMPTS))
    assert len(service.batches) == 1


def test_a_refused_batch_says_why_and_is_forgotten(service, judge, tmp_path):
    service.status = "failed"
    service.errors = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued too much"}]}
    with pytest.raises(ServiceUnavailable, match="refused batch batch-0: Enqueued too much"):
        judge().generate(PROMPTS)
    assert noted(tmp_path) == {}
    service.status, service.errors = "completed", None
    assert all(not reply.outcome for reply in judge().generate(PROMPTS))


def test_equal_requests_have_a_reply_each(service, tmp_path):
    service.fate = lambda prompt, attempt: f"draw {attempt}"
    lm = Backend("judge", ModelConfig.parse("judge", service.spec()), False).lm
    interface = batches.BatchInterface("the model", lm, tmp_path)
    context = lm.apply_chat_template([{"role": "user", "content": "draw"}])
    request = ApiRequest(context, {"temperature": 1.0, "until": ["x"]})
    client = ModelClient("the model", lm, {"max_retries": 3}, batches=interface)
    assert sorted(map(str, client.send([request] * 3))) == ["draw 0", "draw 1", "draw 2"]
    assert interface.noted.get_all() == {} and client.send([request]) == ["draw 3"]


def test_a_run_by_batches_scores_as_one_by_calls(service, serve, run, tmp_path):
    """Model under test and judge, through the harness."""
    task = "xlinghealth_correctness_demo_en"

    def says(prompt, attempt=0):
        option = ("contradictory", "more comprehensive and appropriate")[len(prompt) % 2]
        value = {"reasoning": "", "verdict": option} if '"answer_2"' in prompt else {"ready": True}
        return json.dumps(value) if "JSON" in prompt else f"Rest, and {prompt[-99:]}"

    service.fate = says
    plain = serve(says)
    plain.whole = lambda reply: True
    (tmp_path / "key").write_text("0" * 40)
    results = []
    for served, batch in ((plain, False), (service, True)):
        args = {"model": "m", "base_url": served.url, "num_concurrent": 4, "max_retries": 1}
        metadata = {"judge": {**served.spec(), "batch": batch}, "batch": batch,
                    "xling_cache": str(tmp_path / f"{batch}")}  # fmt: skip
        asked = {"model": "local-chat-completions", "model_args": args, "metadata": metadata}
        results.append(run(task, apply_chat_template=True, limit=6, **asked)["results"][task])
    assert results[0] == results[1]
    assert len(service.batches) == 2 and service.lines == 12
    assert service.direct == [*GREETINGS]


def test_who_cannot_be_asked_so_is_refused(tmp_path, run, serve):
    with pytest.raises(SettingError, match="judge.batch: must be true or false"):
        ModelConfig.parse("judge", {"model": "hf", "batch": "yes"})
    spec = ModelConfig.parse("judge", {"model": "xling_baseline", "batch": True})
    with pytest.raises(BackendError, match="judge: batch=true needs a backend"):
        Backend("judge", spec, str(tmp_path))
    with pytest.raises(BackendError, match="the model under test: batch=true needs"):
        run("xlinghealth_correctness_demo_en", metadata={"batch": True}, limit=1)
    spec = ModelConfig.parse("judge", serve(lambda prompt: "yes").spec(batch=True))
    with pytest.raises(ServiceUnavailable, match="judge: .*batch interface"):
        Backend("judge", spec, str(tmp_path)).generate(PROMPTS)
