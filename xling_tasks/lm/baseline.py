"""A model that needs nothing downloaded: a floor for leaderboards, and fast for tests.

It reads a prompt's last question and answer by their labels and compares character n-grams:

* Yes or No: how much of the question's n-grams the answer covers, as log-odds.
* Lettered options: the option whose text covers most of the question's n-grams, or is covered.
* A free answer: sentences of general advice (bundled, in seven languages) that resemble the
  question, in the language that the instruction names, else in the question's.

Above temperature 0 it samples: the random numbers follow from the seed, the request and how often
this request came before. It never sees labels or the reference answer of the question asked.
"""

from __future__ import annotations

import functools
import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import regex
from lm_eval.api.model import LM
from tqdm import tqdm
from xling_metrics.language import identify_language
from xling_metrics.languages import ALL_LANGUAGES, Language

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError, refuse_unknown
from xling_tasks.harness.arguments import ADDED_BY_HARNESS
from xling_tasks.safe_json import json_objects

_N = 4
_SENTENCES = 3
_CHARACTERS_PER_TOKEN = 4
# Log-odds of Yes = _SLOPE * (coverage - _MIDDLE); fixed by hand, fitted to no data set.
_SLOPE, _MIDDLE = 12.0, 0.30
# Scores of advice sentences are coverages; this makes temperature 1 mix several of them.
_SHARPNESS = 25.0
_NATS_PER_CHARACTER = 2.0


def _labels(label_of: Callable[[Language], str]) -> str:
    """Return a pattern for a label of prompts, in any language."""
    words = dict.fromkeys(
        re.escape(label_of(row).rstrip(" :：")) for row in ALL_LANGUAGES.values() if label_of(row)
    )
    return rf"(?:{'|'.join(words)})\s*[:：]\s*"


_QUESTION = re.compile(_labels(lambda row: row.question))
_ANSWER = re.compile(r"\n\s*" + _labels(lambda row: row.answer))
_OPTION = re.compile(r"^([A-H])\. (.+)$", re.M)
_VERDICT_CUE = re.compile(r"\bYes\b.{0,12}\bNo\b", re.S)


class BaselineLM(LM):  # type: ignore[misc]
    """The harness model `xling_baseline`; of the harness's arguments it reads `seed` alone."""

    def __init__(self, seed: int = 1234, **others: Any) -> None:
        super().__init__()
        refuse_unknown("xling_baseline: ", others.keys() - ADDED_BY_HARNESS, ["seed"])
        if not isinstance(seed, int):
            raise SettingError(f"xling_baseline: seed: must be an integer, got {seed!r:.40}")
        self.seed = seed
        self._answered: Counter[str] = Counter()

    def continue_after(self, answered: Sequence[Any]) -> None:
        """Set how often requests were answered by an earlier start, so that no draw is repeated."""
        self._answered = Counter(_key(request.args) for request in answered)

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """Return answers: Yes or No where the prompt asks for it, else text."""
        seen, self._answered = self._answered, Counter()
        replies = []
        for request in tqdm(requests, disable=disable_tqdm, desc="xling_baseline"):
            context, arguments = request.args
            key = _key(request.args)
            rng = random.Random(zlib.crc32(f"{self.seed}\0{seen[key]}\0{key}".encode()))
            seen[key] += 1
            reply = self._reply(str(context), float(arguments.get("temperature") or 0.0), rng)
            stops = arguments.get("until") or []
            for stop in [stops] if isinstance(stops, str) else stops:
                reply = reply.split(stop)[0] if stop else reply
            limit = arguments.get("max_gen_toks")
            replies.append(reply[: int(limit) * _CHARACTERS_PER_TOKEN] if limit else reply)
            self.cache_hook.add_partial("generate_until", request.args, replies[-1])
        return replies

    def loglikelihood(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Return log-probabilities: of Yes and No by the log-odds, of other text by overlap."""
        scores = []
        for request in tqdm(requests, disable=disable_tqdm, desc="xling_baseline"):
            context, continuation = request.args
            word = continuation.strip().lower()
            if word in ("yes", "no"):
                odds = _yes_odds(str(context)) * (1 if word == "yes" else -1)
                # log(1 / (1 + exp(-odds))) without overflow
                score = (min(odds, 0.0) - math.log1p(math.exp(-abs(odds))), odds > 0)
            else:
                unknown = 1 - coverage(continuation, str(context))
                score = (-_NATS_PER_CHARACTER * len(continuation) * (0.5 + unknown), False)
            scores.append(score)
            self.cache_hook.add_partial("loglikelihood", request.args, score)
        return scores

    def loglikelihood_rolling(
        self, requests: Sequence[Any], disable_tqdm: bool = False
    ) -> list[float]:
        """Return a constant cost per character."""
        return [-_NATS_PER_CHARACTER * len(request.args[0]) for request in requests]

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return the messages' texts, one after the other."""
        return "\n\n".join(message["content"] for message in chat_history)

    @property
    def tokenizer_name(self) -> str:
        """A name for the harness's request cache."""
        return "xling_baseline"

    def _reply(self, context: str, temperature: float, rng: random.Random) -> str:
        if _VERDICT_CUE.search(context[context.rfind("\n") + 1 :]):
            odds = _yes_odds(context)
            if temperature > 0:
                return "Yes" if rng.random() < 1 / (1 + math.exp(-odds / temperature)) else "No"
            return "Yes" if odds > 0 else "No"
        question = _question_and_answer(context)[0]
        options = _OPTION.findall(question)
        if not options:
            return _advice(question, _language_of(context, question), temperature, rng)
        stem = _OPTION.sub("", question)
        scores = [_SHARPNESS * coverage(text, stem) for _, text in options]
        letter = str(options[_pick(scores, temperature, rng)][0])
        if "[End]" not in context:
            return letter
        language = _language_of(context, question)
        return f"{_advice(question, language, temperature, rng)} [End] {letter}"


def _key(arguments: tuple[Any, ...]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def coverage(part: str, text: str) -> float:
    """Return the rate of `part`'s distinct character n-grams in `text`; 0 if it has none."""
    grams = _grams(part)
    return len(grams & _grams(text)) / len(grams) if grams else 0.0


@functools.lru_cache(maxsize=4096)
def _grams(text: str) -> frozenset[str]:
    """Return character n-grams within words; in scripts without spaces, pairs of characters."""
    grams: set[str] = set()
    for word in regex.findall(r"[\p{L}\p{M}]+", text.lower()):
        n = 2 if "\u3040" <= word[0] <= "\u9fff" else min(_N, max(len(word), 2))
        grams.update(word[i : i + n] for i in range(len(word) - n + 1))
    return frozenset(grams)


def _question_and_answer(context: str) -> tuple[str, str]:
    """Return the last labelled question in a prompt and the answer after it, if any."""
    questions = list(_QUESTION.finditer(context))
    last = context[questions[-1].end() :] if questions else context
    answer = _ANSWER.search(last)
    if answer is None:
        return last, ""
    return last[: answer.start()], last[answer.end() :].rpartition("\n")[0]


def _yes_odds(context: str) -> float:
    question, answer = _question_and_answer(context)
    return _SLOPE * (coverage(question, answer) - _MIDDLE)


@functools.lru_cache(maxsize=256)  # a prompt is asked k times at each temperature
def _language_of(context: str, question: str) -> str:
    """Return the language that the instruction names, else its own, else the question's."""
    instruction = context[: max(context.rfind(question), 0)]
    names = {ALL_LANGUAGES[code].name: code for code in _advice_file()[0] if code in ALL_LANGUAGES}
    if names_given := re.findall(rf"\bin ({'|'.join(names)})\b", instruction):
        return names[names_given[-1]]
    codes = identify_language([instruction, question])
    code = codes[0] if instruction and codes[0] != "en" else codes[1]
    return code if code is not None and code in names.values() else "en"


def _advice(question: str, language: str, temperature: float, rng: random.Random) -> str:
    """Return three sentences of advice without repetition, by their score or sampled by it."""
    remaining = list(_score_advice(question, language))
    chosen: list[str] = []
    while remaining and len(chosen) < _SENTENCES:
        scores = [score for _, score in remaining]
        chosen.append(remaining.pop(_pick(scores, temperature, rng))[0])
    return " ".join(chosen)


@functools.lru_cache(maxsize=256)
def _score_advice(question: str, language: str) -> list[tuple[str, float]]:
    pool = [row[language] for row in _advice_file()]
    return [(sentence, _SHARPNESS * coverage(question, sentence)) for sentence in pool]


def _pick(scores: list[float], temperature: float, rng: random.Random) -> int:
    """Return the position of the best of some scores, or of one sampled by its score."""
    best = max(scores)
    if temperature > 0:
        weights = [math.exp((score - best) / temperature) for score in scores]
        return rng.choices(range(len(scores)), weights)[0]
    return scores.index(best)


@functools.lru_cache(maxsize=1)
def _advice_file() -> list[dict[str, str]]:
    return [row for _, row in json_objects(SAMPLE_FOLDER / "advice.jsonl")]
