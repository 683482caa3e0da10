"""Control tokens in data, broken up so that they are mere text.

A chat template is text with control tokens, and a tokenizer makes a control token of its name
wherever it stands: `<|im_start|>` in an answer would open a turn of its own. So in texts that
other models read (not in the prompt around them, which is ours or the user's) a space is put
behind the first character of every such name: `< |im_start|>` is seen, and is no token.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

_SOURCE = r"""
    <\|[^<>|\n]{1,60}\|>                        # ChatML, Llama 3, Phi, Command-R, GLM, DeepSeek
    | <\|[a-z_]+>                               # <|im_start>, cut short
    | </?s>                                     # Llama 2, Mistral
    | <</?sys>>
    | \[/?(?:inst|system_prompt|available_tools|tool_calls?|tool_results?|tool_content|think
        |args|call_id|img|img_break|img_end|prefix|suffix|middle|eot|bos|eos
        |cls|sep|pad|unk|mask|gmask|smask)\]    # Llama 2, Mistral, BERT, ChatGLM
    | \[control_\d+\]
    | </?(?:start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token|bos|eos|pad|unk
        |mask|cls|sep|sop|eop|eot|eod|endoftext|startoftext|im_start|im_end|system|user|assistant
        |human|bot|end_of_utterance|fim_prefix|fim_middle|fim_suffix
        |think|thinking|thought|reasoning|tool_call|tool_calls|tool_response|tools|function_calls?
        |bos_token|eos_token|pad_token|unk_token|cls_token|sep_token|mask_token|eop_token)>
    | <(?:unused|extra_id_|reserved_|reserved_special_token_|special_|dummy\d*_?)\d+>
    | <0x[0-9a-f]{2}>
    | <2[a-z]{2,3}(?:_[a-z]+)?>                 # MADLAD's target language
"""
_COMMON = re.compile(_SOURCE, re.X | re.I)


def common(text: str) -> str:
    """A text with the control tokens of the common formats broken up, for models on a server."""
    return _inert(text, _COMMON, None, "<[")


def inert_for(tokenizer: Any) -> Callable[[str], str]:
    """What breaks up the control tokens of a tokenizer, beside the common ones."""
    names = names_of(tokenizer)
    # A name with signs also counts in the forms that a tokenizer's normalizer may bring to it; a
    # mere word (`PAD`) only as it is, for a heating pad is none.
    words = [name for name in names if name.isalnum()]
    signs = {_plain(name) for name in names if not name.isalnum()}
    if not names:
        return common
    lenient = re.compile("|".join([*map(re.escape, _longest_first(signs)), _SOURCE]), re.X | re.I)
    exact = re.compile("|".join(map(re.escape, _longest_first(words)))) if words else None
    firsts = "".join({name[0] for name in signs} | {"<", "["})
    return functools.partial(_inert, lenient=lenient, exact=exact, firsts=firsts)


_ROUNDS = 20
"""Names within names (`<<s>s>`) take a round each."""


def _longest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


def _inert(text: str, lenient: re.Pattern[str], exact: re.Pattern[str] | None, firsts: str) -> str:
    if exact is not None:
        text = exact.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
    seen = unicodedata.normalize("NFKD", text).casefold()
    if not any(first in seen for first in firsts):
        return text
    for _ in range(_ROUNDS):
        if lenient.search("".join(map(_form, text))) is None:
            break
        text = _broken(text, lenient)
    return text


def names_of(tokenizer: Any) -> list[str]:
    """The names of a tokenizer's control tokens, as they stand in a text.

    These are its special tokens, and added ones that look like marks (`<think>`). Left out are
    added words and white space, which are vocabulary, and what has but one character: it cannot
    be broken up, and no turn begins with it.
    """

    def added() -> list[Any]:
        return list(tokenizer.added_tokens_decoder.values())

    special = _texts(lambda: tokenizer.all_special_tokens)
    special |= _texts(lambda: tokenizer.special_tokens_set)  # tiktoken's name for them
    special |= _texts(lambda: [token for token in added() if getattr(token, "special", False)])
    others = _texts(added) | _texts(lambda: tokenizer.get_added_vocab())
    marks = {name for name in others if re.search(r"[^\w\s]", name) and re.search(r"\w", name)}
    return sorted(name for name in special | marks if len(_plain(name).strip()) > 1)


def _texts(tokens: Callable[[], Iterable[Any]]) -> set[str]:
    """What a tokenizer of any library, or none, tells of itself."""
    try:
        return {text for text in map(str, tokens()) if text}
    except Exception:
        return set()


# Finding them in any form


def _broken(text: str, pattern: re.Pattern[str]) -> str:
    """The text with a space behind the first character of every match."""
    plain, places = _with_places(text)
    cuts = {places[match.start() + 1] for match in pattern.finditer(plain)}
    pieces, last = [], 0
    for cut in sorted(cuts):
        pieces.append(text[last:cut])
        last = cut
    return " ".join([*pieces, text[last:]])


def _plain(text: str) -> str:
    return _with_places(text)[0]


def _with_places(text: str) -> tuple[str, list[int] | range]:
    """A text as a normalizer may see it, and for each of its characters the place in the text."""
    if text.isascii() and _CONTROL.search(text) is None:
        return text.lower(), range(len(text))
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        form = _form(character)
        plain.append(form)
        places.extend([place] * len(form))
    return "".join(plain), places


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@functools.lru_cache(maxsize=65536)
def _form(character: str) -> str:
    """Compatibility form in one case; nothing for marks and controls, which normalizers drop."""
    if character == "▁":  # how SentencePiece writes a space
        return " "
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(
        each
        for each in folded
        if unicodedata.category(each) not in ("Mn", "Me", "Cf", "Co", "Cs", "Cn")
        and not (unicodedata.category(each) == "Cc" and each not in "\t\n\r")
    )
