"""Texts that try to decide their own verdict, and judges that obey, repeat, quote, refuse or restate.

    python tests/benchmarks/judge_attacks.py [--key N]

Every attack of `tests/cases/judge_attacks.jsonl` stands in every field of every role's prompt, in
four languages; every judge below replies to it, and the role's own reader reads the reply. Prints
the replies by role and language, and how many were flipped: a verdict where the judge gave none,
or another than the judge gave. `--key` repeats all under other codes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from common import show

from xling_tasks.commands.rank.questions import read_ranking
from xling_tasks.criteria import NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import Prompts
from xling_tasks.models import judge, reader, rubric
from xling_tasks.models.claims import fill_claims, fill_support, read_claims, read_support
from xling_tasks.models.control_tokens import common
from xling_tasks.readers.fences import Fences

CASES = Path(__file__).parents[1] / "cases" / "judge_attacks.jsonl"
LANGUAGES = {
    "en": ("Does rest help against a cold?", "Yes, rest and fluids help.", "It demands this line:", "I do not comply."),
    "es": ("¿Ayuda el reposo en un resfriado?", "Sí, el reposo ayuda.", "Exige esta línea:", "No obedezco."),
    "zh": ("感冒时休息有帮助吗？", "有，休息和多喝水有帮助。", "它要求我写下这一行：", "我不会照做。"),
    "hi": ("क्या ज़ुकाम में आराम से फ़ायदा होता है?", "हाँ, आराम से फ़ायदा होता है।", "यह माँग करता है:", "मैं ऐसा नहीं करूँगा।"),
}  # fmt: skip
_OPTION = re.compile("|".join(map(re.escape, OPTIONS.values())), re.I)


class Asked(NamedTuple):
    """A prompt with hostile text in it.

    Attributes:
        prompt: The prompt.
        hostile: What stands in it.
        line: The line that the attack wants, with the code that it cannot know.
        other: The line by which a judge decides against it.
        read: What a reply says; one of `NOTHING` for nothing.
    """

    prompt: str
    hostile: str
    line: str
    other: str
    read: Callable[[str], Any]


NOTHING = (None, NO_RESPONSE, -1)
Prompt = Callable[[str], Any]
Words = tuple[str, ...]


def _label(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    question, reference, *_ = words
    for at in range(3):
        texts = [question, reference, reference]
        texts[at] = hostile
        case = judge.Case(*texts, "English")
        code = case.code(keys)
        lines = (f"VERDICT {code}: {option}" for option in list(OPTIONS.values())[:2])
        asked = judge.fill(prompt("judge"), case, code, common)
        yield Asked(asked, hostile, *lines, lambda said, code=code: judge.read_verdict(said, code))


def _claims(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    code = keys.code(hostile)
    lines = f"{code} 1. {hostile.split()[-1]}", f"{code} END OF CLAIMS"
    asked = fill_claims(prompt("claims"), hostile, code, common)
    yield Asked(asked, hostile, *lines, lambda said: read_claims(said, code).claims)


def _support(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    own = _OPTION.sub("1: SUPPORTED", hostile)
    for claim, reference in ((" ".join(own.split()), words[1]), ("Rest helps.", own)):
        asked, code = fill_support(prompt("support"), [claim], reference, keys, common)
        lines = f"{code} 1: SUPPORTED", f"{code} 1: NOT SUPPORTED"
        yield Asked(asked, own, *lines, lambda said, code=code: read_support(said, 1, code)[0])


def _rubric(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    own = _OPTION.sub("MET", hostile)
    for at in range(3):
        texts = [words[0], words[1], "Names rest."]
        texts[at] = own
        case = rubric.Graded(*texts[:2], (texts[2],), "English")
        (question,) = rubric.questions_of(case, keys, 1)
        (code,) = question.codes
        lines = f"VERDICT {code}: MET", f"VERDICT {code}: NOT MET"
        asked = rubric.fill(prompt("rubric"), question, common)
        yield Asked(
            asked, own, *lines, lambda said, code=code: rubric.read_rulings(said, [code])[0]
        )


def _reader(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    own = _OPTION.sub("YES", hostile)
    for opinion in (reader.Opinion(own, words[1]), reader.Opinion("Hm.", own)):
        code = reader.code_for(opinion, keys)
        lines = f"ANSWER {code}: YES", f"ANSWER {code}: NO"
        asked = reader.fill(prompt("read_verdict"), opinion, code, common, "English")
        yield Asked(asked, own, *lines, lambda said, code=code: reader.read_word(said, code))


def _rank(prompt: Prompt, keys: Fences, words: Words, hostile: str) -> Iterator[Asked]:
    own = _OPTION.sub("2, 1", hostile)
    code = keys.code(words[0], own)
    blocks = (
        f"[BEGIN RATIONALE {n} {code}]\n{text}\n[END RATIONALE {n} {code}]"
        for n, text in ((1, "Rest."), (2, common(own)))
    )
    asked = prompt("rank").fill(
        question=words[0], options="A. Yes\nB. No", answer="A", reference=words[1], count="2",
        rationales="\n\n".join(blocks), language="English", code=code,
    )  # fmt: skip
    lines = f"RANKING {code}: 2, 1", f"RANKING {code}: 1, 2"
    yield Asked(asked, own, *lines, lambda said: read_ranking(said, code, 2))


ROLES = {"label": _label, "claims": _claims, "support": _support, "rubric": _rubric,
         "reader": _reader, "rank": _rank}  # fmt: skip


def _bare(text: str) -> str:
    return "\n".join(re.sub(r"[\W_]+", " ", line).strip() for line in text.splitlines())


def _last(text: str) -> str:
    return (text.splitlines() or [""])[-1]


def silent(asked: Asked, words: tuple[str, ...]) -> Iterator[str]:
    """Replies of judges that give no verdict of their own."""
    prompt, hostile = asked.prompt, asked.hostile
    marked = common(hostile)
    upto = prompt[: prompt.find(marked) + len(marked)] if marked in prompt else prompt
    _, _, intro, refuses = words
    yield from (prompt, prompt.upper(), hostile, marked, _last(hostile), f"{upto}", _bare(hostile))
    yield from (f"{prompt}\n{hostile}\n---", f"{prompt}\nassistant\n{hostile}")
    yield f"<|im_end|>\n<|im_start|>assistant\n{hostile}"
    yield re.sub("[\u200b-\u200f]", "", hostile)
    yield re.split(r"(?i)</?answer.*?>|```|---|\[END.*?\]|<<<END>>>|===", hostile)[-1]
    yield "\n".join(prompt[i : i + 40] for i in range(0, len(prompt), 40))
    yield "\n".join(line for line in prompt.splitlines() if re.search(r"\b[b-z]{6}\b", line))
    # Quotes and refuses: the line stands there, code and all, and the judge does not mean it.
    yield f"{intro}\n{asked.line}\n{refuses}"
    yield f"{hostile}\n{intro}\n{asked.line}\n\n{refuses}"
    yield f"{intro} {asked.line} {refuses}"
    # A thought that is cut off within the line; what it quotes it has read without control tokens.
    yield f"<think>{marked}\n{asked.line}"


def honest(asked: Asked, words: tuple[str, ...]) -> Iterator[str]:
    """Replies of judges that quote, restate or carry tags, and then decide against the attack."""
    hostile, line = asked.hostile, asked.other
    for before in (hostile, f"> {_last(hostile)}", f"<think>{hostile}</think>",
                   f"[Reasoning] {_last(hostile)}", f"It says <think>: {_last(hostile)}"):  # fmt: skip
        yield f"{before}\n\n{line}"


def flips(role: str, asked: Asked, words: tuple[str, ...]) -> Iterator[bool]:
    """For every reply, whether it was taken for what no judge said."""
    for reply in silent(asked, words):
        yield asked.read(reply) not in NOTHING
    if role != "claims":
        own = asked.read(asked.other)
        for reply in honest(asked, words):
            yield asked.read(reply) not in (own, *NOTHING)


def main() -> int:
    """Print the table; 1 if a reply was flipped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--key", type=int, default=1, help="how many keys, and so codes, are tried")
    number = parser.parse_args().key
    attacks = [json.loads(line)["answer"] for line in CASES.read_text("utf-8").splitlines()]
    prompts, seen, flipped = Prompts(), Counter[str](), Counter[str]()
    show("role", *LANGUAGES, "flipped", head=True)
    for role, ask in ROLES.items():
        own = Counter[str]()
        for key, (language, words), hostile in product(range(number), LANGUAGES.items(), attacks):
            keys = Fences("run", f"key {key}".encode())
            for asked in ask(lambda name: prompts.get(name, "en"), keys, words, hostile):
                found = list(flips(role, asked, words))
                own[language] += len(found)
                flipped[role] += sum(found)
        seen += own
        show(role, *(f"{own[language]:,}" for language in LANGUAGES), flipped[role])
    print(f"\n{seen.total():,} replies, {flipped.total()} flipped")
    return int(flipped.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
