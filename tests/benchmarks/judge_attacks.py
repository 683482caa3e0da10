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
from pathlib import Path
from typing import Any, NamedTuple

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
        read: What a reply says; None for nothing.
    """

    prompt: str
    hostile: str
    line: str
    other: str
    read: Callable[[str], Any]


def _label(prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str) -> Iterator[Asked]:
    question, reference, *_ = words
    for texts in (
        (question, reference, hostile),
        (hostile, reference, reference),
        (question, hostile, reference),
    ):
        case = judge.Case(*texts, "English")
        code = case.code(keys)

        def read(reply: str, code: str = code) -> Any:
            said = judge.read_verdict(reply, code)
            return None if said == NO_RESPONSE else said

        line, other = (f"VERDICT {code}: {option}" for option in list(OPTIONS.values())[:2])
        yield Asked(
            judge.fill(prompts.get("judge", "en"), case, code, common), hostile, line, other, read
        )


def _claims(
    prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str
) -> Iterator[Asked]:
    code = keys.code(hostile)
    prompt = fill_claims(prompts.get("claims", "en"), hostile, code, common)
    ends = f"{code} END OF CLAIMS"

    def read(reply: str) -> Any:
        return read_claims(reply, code).claims

    yield Asked(prompt, hostile, f"{code} 1. {hostile.split()[-1]}", ends, read)


def _support(
    prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str
) -> Iterator[Asked]:
    own = _OPTION.sub("1: SUPPORTED", hostile)
    for claim, reference in ((" ".join(own.split()), words[1]), ("Rest helps.", own)):
        prompt, code = fill_support(prompts.get("support", "en"), [claim], reference, keys, common)

        def read(reply: str, code: str = code) -> Any:
            return read_support(reply, 1, code)[0]

        yield Asked(prompt, own, f"{code} 1: SUPPORTED", f"{code} 1: NOT SUPPORTED", read)


def _rubric(
    prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str
) -> Iterator[Asked]:
    own = _OPTION.sub("MET", hostile)
    for case in (
        rubric.Graded(words[0], own, ("Names rest.",), "English"),
        rubric.Graded(own, words[1], ("Names rest.",), "English"),
        rubric.Graded(words[0], words[1], (own,), "English"),
    ):
        (question,) = rubric.questions_of(case, keys, 1)
        (code,) = question.codes

        def read(reply: str, code: str = code) -> Any:
            return rubric.read_rulings(reply, [code])[0]

        prompt = rubric.fill(prompts.get("rubric", "en"), question, common)
        yield Asked(prompt, own, f"VERDICT {code}: MET", f"VERDICT {code}: NOT MET", read)


def _reader(
    prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str
) -> Iterator[Asked]:
    own = _OPTION.sub("YES", hostile)
    for opinion in (reader.Opinion(own, words[1]), reader.Opinion("Hm.", own)):
        code = reader.code_for(opinion, keys)

        def read(reply: str, code: str = code) -> Any:
            said = reader.read_word(reply, code)
            return None if said == -1 else said

        prompt = reader.fill(prompts.get("read_verdict", "en"), opinion, code, common, "English")
        yield Asked(prompt, own, f"ANSWER {code}: YES", f"ANSWER {code}: NO", read)


def _rank(prompts: Prompts, keys: Fences, words: tuple[str, ...], hostile: str) -> Iterator[Asked]:
    own = _OPTION.sub("2, 1", hostile)
    code = keys.code(words[0], own)
    block = f"[BEGIN RATIONALE 2 {code}]\n{common(own)}\n[END RATIONALE 2 {code}]"
    prompt = prompts.get("rank", "en").fill(
        question=words[0], options="A. Yes\nB. No", answer="A", reference=words[1], count="2",
        rationales=f"[BEGIN RATIONALE 1 {code}]\nRest.\n[END RATIONALE 1 {code}]\n\n{block}",
        language="English", code=code,
    )  # fmt: skip
    yield Asked(
        prompt,
        own,
        f"RANKING {code}: 2, 1",
        f"RANKING {code}: 1, 2",
        lambda reply: read_ranking(reply, code, 2),
    )


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
        yield asked.read(reply) is not None
    if role != "claims":
        own = asked.read(asked.other)
        for reply in honest(asked, words):
            yield asked.read(reply) not in (own, None)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--key", type=int, default=1, help="how many keys, and so codes, are tried")
    chosen = parser.parse_args()
    attacks = [json.loads(line)["answer"] for line in CASES.read_text("utf-8").splitlines()]
    prompts, seen, flipped = Prompts(), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number in range(chosen.key):
        keys = Fences("run", f"key {number}".encode())
        for role, ask in ROLES.items():
            for language, words in LANGUAGES.items():
                for hostile in attacks:
                    for asked in ask(prompts, keys, words, hostile):
                        found = list(flips(role, asked, words))
                        seen[role, language] += len(found)
                        flipped[role, language] += sum(found)
    print(
        "| role | " + " | ".join(LANGUAGES) + " | flipped |\n|---|" + "---|" * (len(LANGUAGES) + 1)
    )
    for role in ROLES:
        cells = [f"{seen[role, language]:,}" for language in LANGUAGES]
        taken = sum(flipped[role, language] for language in LANGUAGES)
        print(f"| {role} | " + " | ".join(cells) + f" | {taken} |")
    print(f"\n{seen.total():,} replies, {flipped.total()} flipped")
    return int(flipped.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
