"""The model under test behind a server that fails in every way a server can."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from stored import journals_in

from xling_tasks.errors import BackendError
from xling_tasks.lm import journaled
from xling_tasks.replies.journal import Journal

C = "xlinghealth_correctness_demo_en"
T = "xlinghealth_consistency_demo_en"
QUICK = {"k": 5, "topic_seeds": 0, "encoder": False, "source_encoder": False}


class Faulty:
    """A chat server whose `answer(number, body)` gives (status, headers, bytes); None hangs up."""

    def __init__(self, answer):
        self.bodies, self.busy, self.most = [], 0, 0
        guard = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with guard:
                    outer.bodies.append(body)
                    number = len(outer.bodies) - 1
                    outer.busy += 1
                    outer.most = max(outer.most, outer.busy)
                given = answer(number, body)
                with guard:
                    outer.busy -= 1
                if given is None:
                    self.close_connection = True
                    return
                status, headers, data = given
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        ThreadingHTTPServer.request_queue_size = 128
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.args = {
            "model": "m", "max_retries": 2, "num_concurrent": 4,
            "base_url": f"http://127.0.0.1:{self.server.server_port}/v1/chat/completions",
        }  # fmt: skip

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def faulty():
    made = []

    def start(answer, **options):
        made.append(Faulty(answer, **options))
        return made[-1]

    yield start
    for server in made:
        server.stop()
    journaled.end()


def body(**choice):
    return (
        200,
        {"Content-Type": "application/json"},
        json.dumps({"choices": [{"index": 0, **choice}]}).encode(),
    )


def said(text, **more):
    return body(message={"content": text}, **more)


def ask(run, server, task=C, metadata=QUICK, **options):
    return run(
        task,
        model="local-chat-completions",
        model_args=server.args,
        metadata=dict(metadata),
        apply_chat_template=True,
        **options,
    )


def rates(results, task=C):
    return [
        results["results"][task][f"{name}_rate,none"] for name in ("failed", "refused", "empty")
    ]


OUTCOMES = {
    "failed": [
        (200, {}, b""),
        (200, {}, b"{}"),
        (200, {}, b"[1"),
        (200, {}, json.dumps({"choices": []}).encode()),
        (200, {}, json.dumps({"choices": None}).encode()),
        (200, {}, json.dumps({"error": {"message": "overloaded"}}).encode()),
        body(finish_reason="stop"),
        body(message={"content": None}, finish_reason="stop"),
        said("Internal Server Error"),
        (500, {}, b"no"),
        None,
    ],
    "refused": [
        said("", finish_reason="content_filter"),
        body(message={"content": None}, finish_reason="content_filter"),
        body(message={"content": None, "refusal": "I cannot."}, finish_reason="stop"),
    ],
    "empty": [
        said("", finish_reason="stop"),
        said(" \n"),
        body(message={"content": None, "reasoning_content": "hm"}, finish_reason="length"),
    ],
}  # fmt: skip


def apart(sent):
    """A reply of its own to each prompt, as a model has."""
    digest = hashlib.sha256(str(sent["messages"]).encode()).digest()
    return said("Drink " + "".join(chr(97 + byte % 26) for byte in digest[:12]))


def test_what_came_back_is_told_apart(run, faulty, own_cache):
    """Every kind for one question; the others are answered."""
    for outcome, kinds in OUTCOMES.items():
        marked = {}

        def answer(number, sent, kinds=kinds, marked=marked):
            prompt = sent["messages"][-1]["content"]
            place = marked.setdefault(prompt, len(marked))
            return kinds[place] if place < len(kinds) else apart(sent)

        server = faulty(answer)
        results = ask(run, server, limit=16)
        n = len(kinds)
        expected = {
            "failed": [n / 16, 0, 0],
            "refused": [0, n / 16, 0],
            "empty": [0, 0, n / 16],
        }
        assert rates(results) == expected[outcome], outcome
        journaled.end()
        kept = journals_in(own_cache)
        assert len(kept) == (outcome == "failed")
        if kept:
            assert len(kept[0].answers) == 16 - n
            # The next start asks for these alone, and they may come now.
            before = len(server.bodies)
            kinds[:] = []
            assert rates(ask(run, server, limit=16)) == [0, 0, 0]
            assert len(server.bodies) == before + n
            journaled.end()
            assert not journals_in(own_cache)


def test_of_a_reply_in_parts_the_words_are_what_is_scored(run, faulty):
    """The answer in the samples, whose parts of thinking came with their text."""

    def answer(number, sent):
        words = json.loads(apart(sent)[2])["choices"][0]["message"]["content"]
        thought = {"type": "reasoning", "text": f"Hm, {number}."}
        return said([thought, {"type": "text", "text": words}, {"type": "text", "text": "."}])

    results = ask(run, faulty(answer), limit=4, log_samples=True)
    logged = [sample["resps"][0][0] for sample in results["samples"][C]]
    assert len(logged) == 4 and all(re.fullmatch(r"Drink [a-z]{12}\.", text) for text in logged)


def test_why_requests_failed_is_said(run, faulty, caplog):
    server = faulty(lambda number, sent: body(message={"content": None if number % 2 else 42}))
    ask(run, server, limit=4)
    assert "4 requests to the model under test failed (content that is no text: 2, " in caplog.text
    assert "null content: 2) and are unscored" in caplog.text


def test_error_texts_may_be_answers(run, faulty):
    server = faulty(lambda number, sent: said("Internal Server Error"))
    results = ask(run, server, limit=2, metadata=QUICK | {"detect_errors": False})
    assert rates(results) == [0, 0, 0]


def test_a_server_that_is_gone_ends_the_run_and_nothing_is_lost(run, faulty, own_cache):
    server = faulty(lambda number, sent: said("Rest.") if number < 6 else None)
    with pytest.raises(
        BackendError, match=r"model under test.*6 of 24 answers are kept in .*same command"
    ):
        ask(run, server)
    (kept,) = journals_in(own_cache)
    assert len(kept.answers) == 6


def test_a_run_that_gets_no_answer_at_all_is_not_told_to_start_the_same_command_again(run, serve):
    served = serve(lambda prompt: "Yes")
    with pytest.raises(BackendError, match=r"does not answer \(.*--apply_chat_template") as told:
        run(
            "xlinghealth_verifiability_demo_en", model="local-chat-completions",
            model_args={"model": "m", "base_url": served.url}, limit=1,
        )  # fmt: skip
    assert "same command" not in str(told.value)


def test_it_goes_on_when_the_server_is_back(run, faulty):
    down = [True]
    server = faulty(lambda number, sent: None if down[0] and number >= 6 else apart(sent))
    with pytest.raises(BackendError):
        ask(run, server)
    down[0], before = False, len(server.bodies)
    assert rates(ask(run, server)) == [0, 0, 0]
    assert len(server.bodies) - before == 18


def test_use_cache_keeps_no_failure_and_sampled_answers_are_not_asked_again(run, faulty, tmp_path):
    first = [True]

    def answer(number, sent):
        words = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        return (200, {}, b"{}") if first[0] and number < 2 else said(f"Answer {words}.")

    server = faulty(answer)
    server.args["max_retries"] = 1
    options = {"task": T, "limit": 3, "use_cache": str(tmp_path / "cache")}
    results = ask(run, server, **options)
    assert results["results"][T]["failed_rate,none"] == 2 / 30
    first[0], before = False, len(server.bodies)
    again = ask(run, server, **options)
    assert len(server.bodies) - before == 2
    assert again["results"][T]["failed_rate,none"] == 0
    before = len(server.bodies)
    ask(run, server, **options)
    assert len(server.bodies) == before


def test_many_at_a_time_with_a_seed_each(run, faulty):
    """160 sampled answers, of which none is given before 32 are asked for."""
    together = threading.Barrier(32)
    rounds = []

    def answer(number, sent):
        with contextlib.suppress(threading.BrokenBarrierError):  # nobody is held any more
            rounds.append(together.wait(120) == 0)
        words = "".join(chr(ord("a") + int(digit)) for digit in str(sent["seed"]))
        return said(f"Answer {words}.")  # by numbers alone they would be one sentence of a service

    server = faulty(answer)
    server.args["num_concurrent"] = 32
    asked = []
    from xling_tasks.lm.service import Service

    own = Service._generate_until

    def counted(self, requests, disable_tqdm=False):
        asked.append(len(requests))
        return own(self, requests, disable_tqdm)

    Service._generate_until = counted
    try:
        ask(run, server, T, metadata=QUICK | {"k": 10, "temperatures": [1.0]}, limit=16)
    finally:
        Service._generate_until = own
    assert asked == [160] and len({body["seed"] for body in server.bodies}) == 160
    assert server.most == 32 and sum(rounds) == 160 / 32


def test_other_tasks_in_the_run_are_asked_the_harness_s_way(run, faulty):
    from lm_eval.api.instance import Instance

    server = faulty(lambda number, sent: said("x"))
    results = ask(run, server, limit=2)
    assert results
    other = Instance("generate_until", {}, ("", {}), 0, ("other", 0, 1))
    from xling_tasks.lm.service import Service

    class Lm:
        _concurrent = 1
        asked = []

        def generate_until(self, requests, disable_tqdm=False):
            Lm.asked += requests
            return ["own way"] * len(requests)

    lm = Lm()
    service = Service(lm, {}, lambda request: False, error_texts=True)
    assert lm.generate_until([other]) == ["own way"] and Lm.asked == [other]
    service.undo()
    assert "generate_until" not in lm.__dict__


def test_a_service_that_says_one_thing_only_ends_the_run_and_none_of_it_is_kept(
    run, faulty, own_cache
):
    """In words that nobody listed; the next start asks for what it did not answer."""
    busy = [True]
    server = faulty(
        lambda number, sent: said("系统维护中") if busy[0] and number >= 6 else apart(sent)
    )
    with pytest.raises(BackendError, match="whatever is asked, it says '系统维护中'.* are kept in"):
        ask(run, server)
    (there,) = journals_in(own_cache)
    answers = [kept.answer for kept in there.answers.values()]
    assert len(answers) == 6 and all(answer.startswith("Drink") for answer in answers)
    busy[0], before = False, len(server.bodies)
    assert rates(ask(run, server)) == [0, 0, 0]
    assert len(server.bodies) - before == 18


def test_trouble_that_was_kept_when_the_run_was_killed_is_asked_again(run, faulty, own_cache):
    """What came before the kill was never looked into: the next start does."""
    busy = [True]
    server = faulty(
        lambda number, sent: said("系统维护中") if busy[0] and number % 2 else apart(sent)
    )

    class Killed(BaseException):
        """No handler for exceptions sees it."""

    keep = Journal.put

    def put(self, place, kept, **options):
        keep(self, place, kept, **options)
        if len(journals_in(own_cache)[0].answers) == 12:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "put", put)
        with pytest.raises(Killed):
            ask(run, server, limit=16)
    journaled.end()
    (there,) = journals_in(own_cache)
    assert [kept.answer for kept in there.answers.values()].count("系统维护中") >= 3
    busy[0] = False
    results = ask(run, server, limit=16)
    texts = [sample["resps"][0][0] for task in results["samples"].values() for sample in task]
    assert len(texts) == 16 and "系统维护中" not in texts
