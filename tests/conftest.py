"""Shared fixtures: runs through the harness, real servers on loopback, tiny real models."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import builders
import pytest
import yaml
from hub import Hub
from loopback import Answer, Loopback

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers fill the cores: more threads than that wait for each other, and waiting is work for them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """A worker more than cores: who waits for a server, a browser or a process leaves one idle."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not hasattr(os, "sched_getaffinity"):
        return None
    return len(os.sched_getaffinity(0)) + 1


DATA = Path(__file__).with_name("cases")


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def cases(name: str) -> Any:
    """The rows of `cases/NAME.yaml`."""
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session", autouse=True)
def shared_fixtures_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs in fixtures of a module or session have a cache too: one per worker, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLING_CACHE", str(tmp_path_factory.mktemp("cache_of_fixtures")))
        yield


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New folders: in one of their own, for `mktemp` lists all that lie beside a new one."""
    place = tmp_path_factory.mktemp("caches")
    return (place / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's cache."""
    folder = next(caches)
    folder.mkdir()
    monkeypatch.setenv("XLING_CACHE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def forget_backends() -> Iterator[None]:
    """Each test builds its own judge."""
    yield
    from xling_tasks import log
    from xling_tasks.models import backend
    from xling_tasks.models.translate import translator as translate

    translate._shared.cache_clear()
    backend._shared.cache_clear()
    log.warn_once.cache_clear()


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data; tests that use it are marked `realdata`."""
    folder = os.environ.get("XLING_REALDATA")
    if not folder:
        pytest.skip("real data not found: set XLING_REALDATA to its folder")
    return Path(folder)


@pytest.fixture(scope="session")
def run() -> Callable[..., dict[str, Any]]:
    """`run(tasks, model=..., metadata=..., ...)`: a run through the harness, and its results.

    In these, what the tasks recorded beside their scores stands with the scores, as readers see it.
    """

    def run_(tasks: str | list[str], model: Any = "xling_baseline", **options: Any) -> Any:
        import lm_eval
        from lm_eval.utils import simple_parse_args_string

        builders.leave_the_machine_unasked()
        options.setdefault("bootstrap_iters", 0)
        names = [tasks] if isinstance(tasks, str) else tasks
        if "task_manager" not in options:
            # As the harness does it, but without reading the thousands of other task files.
            args = options.get("model_args") or {}
            args = simple_parse_args_string(args) if isinstance(args, str) else args
            metadata = args | (options.pop("metadata", None) or {})
            options["task_manager"] = builders.our_tasks(metadata)
        return builders.with_all(lm_eval.simple_evaluate(model=model, tasks=names, **options))

    return run_


@pytest.fixture(scope="session")
def run_one(run: Callable[..., dict[str, Any]]) -> Callable[..., builders.OfTask]:
    """`run_one(task, ...)`: a run of one task, and what it says of it."""

    def run_one_(task: str, model: Any = "xling_baseline", **options: Any) -> builders.OfTask:
        return builders.of_task(run(task, model, **options), task)

    return run_one_


GREETINGS = ("Reply with the word: ready", 'Reply with this JSON object: {"ready": "yes"}')


class Served(Loopback):
    """A chat-completions server on loopback; `requests` holds what it was sent.

    Replies end at the request's stops, as a model's do, but for those that are said to come `whole`.
    """

    def __init__(self, reply: Callable[[str], str | None]) -> None:
        self.reply = reply
        self.whole: Callable[[str], bool] = lambda text: False
        self.least = 0  # tokens without which nothing is said, for a model that thinks first
        self.requests: list[dict[str, Any]] = []
        self.fail_with: int | None = None
        super().__init__()
        self.url = f"{self.host}/v1/chat/completions"

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        sent = json.loads(body)
        self.requests.append({"path": path, "headers": headers, **sent})
        return self.answer(sent)

    def answer(self, body: dict[str, Any]) -> Answer | None:
        """The answer to a request; None hangs up."""
        if self.fail_with is not None:
            return self.fail_with, {}, b"refused"
        content = self.reply(body["messages"][-1]["content"])
        if content and not self.whole(content):
            for stop in body.get("stop") or ():
                content = content.partition(stop)[0]
        content = content if body.get("max_tokens", 1000) >= self.least else ""
        data = {"choices": [{"index": 0, "message": {"content": content}}]}
        return 200, {"Content-Type": "application/json"}, json.dumps(data).encode()

    @property
    def prompts(self) -> list[str]:
        """Every prompt but those that check whether the server answers, and takes a schema."""
        texts = [request["messages"][-1]["content"] for request in self.requests]
        return [text for text in texts if text not in GREETINGS]

    def settle(self) -> None:
        """Wait until no request has come for a second, in which other threads had many turns."""
        known, quiet = -1, 0
        while quiet < 20:
            quiet = quiet + 1 if known == len(self.requests) else 0
            known = len(self.requests)
            time.sleep(0.05)

    def spec(self, **more: Any) -> dict[str, Any]:
        """A judge setting that points here."""
        args = {"model": "judge-1", "base_url": self.url, "max_retries": 1}
        return {"model": "local-chat-completions", "model_args": args, **more}

    def under_test(self, **more: Any) -> dict[str, Any]:
        """Options of a run that has it as its model."""
        return {**self.spec(), "apply_chat_template": True, **more}


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[str], str | None]], Served]]:
    """`serve(reply)`: start a chat server that answers a prompt with `reply(prompt)`."""
    started: list[Served] = []

    def start(reply: Callable[[str], str | None]) -> Served:
        started.append(Served(reply))
        return started[-1]

    yield start
    for item in started:
        item.close()


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A Hub on loopback, which holds nothing yet."""
    made = Hub()
    yield made
    made.close()


CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_hf(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random Llama with a byte-level tokenizer trained on the bundled sample."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    from xling_tasks.data.sources import SAMPLE_FOLDER

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train([str(SAMPLE_FOLDER / "advice.jsonl")], trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    fast.chat_template = CHAT_TEMPLATE
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    folder = tmp_path_factory.mktemp("tiny_hf")
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """A headless Chromium, driven by playwright, and the loop that playwright runs in this thread.

    One per worker, for it takes two seconds of processor time to start and to end.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    more = "--disable-background-networking --disable-component-update"
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=program, args=[*quiet.split(), *more.split()], timeout=180_000
        )
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)
        started.close()


@pytest.fixture
def browser(chromium: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """The worker's Chromium, without what other tests opened in it.

    Between two calls playwright's synchronous driver leaves its loop marked as running, and with
    that `asyncio.run` fails in its thread, and so do the harness's API models: it is marked so
    during the tests of pages alone.
    """
    started, loop = chromium
    asyncio._set_running_loop(loop)
    yield started
    for context in started.contexts:
        context.close()
    asyncio._set_running_loop(None)


def pytest_collection(session: pytest.Session) -> None:
    """Look for no garbage while modules are read: next to nothing is, and a third of the time goes."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the garbage collector pass over what stays for good, and look less often: a tenth less."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Look for garbage once; pytest does so twice more, and then only for what is newer."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with what is slow, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
