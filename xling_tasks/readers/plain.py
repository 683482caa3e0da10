"""A reply without its clothes: Markdown, HTML, LaTeX, JSON, tables and special tokens.

What is left is plain lines in one Unicode form. Two things that clothes say are kept as private
characters, which no reply can hold (they are taken out first): `FINAL` before what is boxed or
tagged as the answer, and `BULLET` at the head of an item of a list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import regex

from xling_tasks.readers.thinking import without_thinking

FINAL, BULLET = "\ue000", "\ue001"

# Unseen characters, variation selectors, key caps, and the dot of Hindi that not all write; private
# ones, so that ours are ours.
_UNSEEN = regex.compile(r"[\p{Cf}\p{Co}\u00ad\u093c\ufe00-\ufe0f\u20e3]")
_BOXED_LETTERS = {
    start + offset: chr(ord("A") + offset)
    for start in (0x1F130, 0x1F150, 0x1F170)  # squared and circled letters without a plain form
    for offset in range(8)
}
_SPECIAL = regex.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?(?:s|eos|bos|pad|end_of_turn|start_of_turn|endoftext)>|\[/?INST\]"
)
# Who speaks, as chats are written down: before the reply's own words it says nothing.
_OWN_TURN = regex.compile(
    r"\A\s*(?:###? )?\**(?:(?:ai )?assistant|ai|model|bot|asistente|ассистент|助手|助理"
    r"|アシスタント|सहायक)\** ?:\**\s*",
    regex.I,
)
_BREAK = regex.compile(r"<br\s*/?>|</(?:p|div|li|tr|h\d)>", regex.I)
_TAGGED = regex.compile(
    r"<(answer|final_answer|final|response|choice|letter)>([^<>]*)</\1>", regex.I
)
_TAG = regex.compile(r"</?[A-Za-z][A-Za-z0-9_-]{0,29}(?:\s[^<>\n]{0,80})?/?>")
_LETTER_TAG = regex.compile(r"<([A-H])>(?![^<>]*</\1>)")  # a letter where a form had <letter>
_STYLED = regex.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathsf|mathit|operatorname|bf|rm)"
    r"\s*\{([^{}]*)\}"
)
_BOXED = regex.compile(r"\\(?:boxed|fbox|framebox)\s*\{([^{}]*)\}")
# What is boxed or tagged in a row is one list.
_IN_A_ROW = regex.compile(
    rf"(?<={FINAL})([^\n{FINAL}]*)\n(?!\s*\n\s*\n\s*\n)"
    rf"[\s,;、$.*]*(?:(?:and|et|y|e|и|和|と|&)[\s$*]*)?\n{FINAL}"
)
_MATHS = regex.compile(r"\\[()\[\]]|\$|\\(?:quad|qquad|,|;|:|!| )")
_ESCAPED = regex.compile(r"\\([\\\"`*_{}\[\]()#+\-.!%&<>|~])")
_STRUCK = regex.compile(r"~~[^~]{0,2000}~~")
_FENCE = regex.compile(r"```[ ]*\w*")
_HEAD = regex.compile(r"^[ ]*(?:#{1,6}[ ]+|>(?!\d)[> ]*)", regex.M)
_RULE = regex.compile(r"^[ ]*[-*_=—]{3,}[ ]*$", regex.M)
_CHECKED = regex.compile(r"^([ ]*[-*•][ ]+)\[([xX✓✔ ])\]", regex.M)
_BULLETS = regex.compile(r"^[ ]*[-*•·‣▪●◦–►▶➤→◆■]+(?:[ ]+(?=\S)|[ ]*$)", regex.M)
# Pairs of an object in JSON, a line each.
_PAIR = regex.compile(r'(?<=["\]\w])\s*,\s*(?="[^"\n]{1,40}"\s*:)')
_SMILE = regex.compile(r"[:;]-?[)(](?=\s|$)")
_ARROW = regex.compile(r"[-=]{1,2}>")
_UNDERSCORE = regex.compile(r"(?<=\w)_(?=\w)")
_AND_NUMBER = regex.compile(r"\d (?:and|et|y|и) \d", regex.IGNORECASE)
_BETWEEN = regex.compile(
    r"\b(?:between|entre|между) (\d[\d.,]*) (?:and|et|y|и) (?=\d)", regex.IGNORECASE
)
_SPACES = regex.compile(r"[^\S\n]{2,}|[^\S\n ]")
# '10–15', '10 to 15' and '10から15' are one range.
_RANGE = regex.compile(
    r"(?<=\d ?)[‐‑–−~〜](?= ?\d)|(?<=\d) (?:to|à|a|до) (?=\d)|(?<=\d) ?(?:から|至|到) ?(?=\d)"
)
_ONE_QUOTE = str.maketrans(
    {"’": "'", "‘": "'", "´": "'", "ʼ": "'", "\r": "\n", "\u2028": "\n", "〇": "○"}
)


def bare(
    reply: str, limit: int, judges: Callable[[str], bool] = lambda heading: True
) -> str | None:
    """What a reply says outside of its thoughts, without markup; None where it was cut off in one.

    Of a reply of more than `limit` characters both ends are read: an answer stands at one of them.
    Of a table's column of marks its heading is told, which `judges`, or tells of something else.
    """
    said = without_thinking(_OWN_TURN.sub("", one_form(reply)))
    if said is None or len(said) <= limit:
        return said and undressed(said, judges)
    return undressed(f"{said[: limit // 2]}\n…\n{said[-(limit // 2) :]}", judges)


def one_form(text: str) -> str:
    """A text in one Unicode form (NFKC), without characters that are not seen."""
    text = unicodedata.normalize("NFKC", text.replace("\r\n", "\n").translate(_BOXED_LETTERS))
    if _AND_NUMBER.search(text):
        text = _BETWEEN.sub(r"\1-", text)
    return _RANGE.sub("-", _UNSEEN.sub("", text).translate(_ONE_QUOTE))


def undressed(text: str, judges: Callable[[str], bool] = lambda heading: True) -> str:
    """A text in one form without markup; quotes, stars and back ticks stay for the lexer."""
    if "<" in text:
        text = _SPECIAL.sub("\n", text)
        text = _TAGGED.sub(rf"\n{FINAL}\2\n", _BREAK.sub("\n", text))
        text = _TAG.sub("", _LETTER_TAG.sub(r"\1", text))
    if "\\" in text or "$" in text:
        text = _STYLED.sub(r"\1", _STYLED.sub(r"\1", text))
        text = _BOXED.sub(rf"\n{FINAL}\1\n", text)
        text = _ESCAPED.sub(r"\1", _MATHS.sub(" ", text))
    if text.count(FINAL) > 1:
        text = _IN_A_ROW.sub(r"\1, ", text)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if "```" in text:
        text = _FENCE.sub("\n", text)
    if "{" in text:
        text = _PAIR.sub("\n", text)
    text = _ARROW.sub("→", _SMILE.sub("", _RULE.sub("", _HEAD.sub("", text))))
    if "|" in text:
        text = "\n".join(_untabled(text.split("\n"), judges))
    text = _CHECKED.sub(lambda m: m[1] + ("✗" if m[2] == " " else "✓"), text)
    text = _UNDERSCORE.sub(" ", _BULLETS.sub(BULLET, text))
    return _SPACES.sub(" ", text)


# A cell of an option's row that is nothing but the Chinese yes or no, of what is not wrong.
_MARKS, _KEY = {"是": "✓", "否": "✗"}, regex.compile(r"\W*[A-H]\b")
_SHORT = regex.compile(r"[\s*]*\S{1,4}[\s*]*")  # '✓', 'Yes', '否'
_OF_WRONG = regex.compile("[排除禁错錯误誤不非]")


def _untabled(lines: list[str], judges: Callable[[str], bool]) -> list[str]:
    """Rows of a table as 'cell: cell'; under a head with one row, 'head: cell' for each column."""
    out: list[str] = []
    table: list[list[str]] = []
    for line in [*lines, ""]:
        row = line.strip()
        if row.count("|") >= 2 or (table and "|" in row):
            table.append([cell.strip() for cell in row.strip("|").split("|")])
            continue
        if table:
            out += _rows(table, judges)
            table = []
        out.append(line)
    return out[:-1]


def _rows(table: list[list[str]], judges: Callable[[str], bool]) -> list[str]:
    rules = [i for i, row in enumerate(table) if all(regex.fullmatch(r":?-+:?", c) for c in row)]
    head = table[0] if rules[:1] == [1] else None
    body = [row for i, row in enumerate(table) if i not in rules and not (head and i == 0)]
    if head and len(body) == 1 and len(body[0]) == len(head):
        return [f"{name}: {cell}" for name, cell in zip(head, body[0], strict=True)]
    if head and not _OF_WRONG.search("".join(head)):
        body = [[_MARKS.get(c, c) if _KEY.match(row[0]) else c for c in row] for row in body]
    for at, heading in enumerate(head or ()):
        cells = [row[at] for row in body if at < len(row)]
        if at and all(map(_SHORT.fullmatch, cells)) and len({*cells}) < 3 and not judges(heading):
            body = [row[:at] + row[at + 1 :] for row in body]
    return [": ".join(cell for cell in row if cell) for row in body]


# A quotation of a few words or more, behind words of the reply's own on its line.
_QUOTATION = regex.compile(
    r"(?<=[^\n]{3})(?:“[^“”\n]{8,}”|«[^«»\n]{8,}»|「[^「」\n]{8,}」|『[^『』\n]{8,}』"
    r'|(?<!\w)"[^"\n]{8,}"(?!\w))'
)


def unquoted(text: str, says: Callable[[str], bool]) -> str:
    """A reply without quotations that say something by themselves: they are another's words.

    The values of an object in JSON are the reply's own.
    """
    if text.startswith("{"):
        return text
    return _QUOTATION.sub(lambda match: " … " if says(match[0]) else match[0], text)


_FOLLOWING = r"(?:next|siguiente|suivante?|следующ\w+|下一?|次の?|अगला)"
_NEXT = regex.compile(
    rf"(?i)(?:(?:^|\n|(?<=\D[.!。] )(?=[^\n:.]+:))[ #*]*|(?<!#)#{{2,6}} ?)(?:{_FOLLOWING} ?)?"
    r"(?:questions?|pregunta|вопрос|问题|問題|题目?|質問|设问|प्रश्न|q|user|human|usuario|用户|उपयोगकर्ता|instruction|input)"
    rf"(?: ?\d+| {_FOLLOWING})?[ *]*[:.：].*",
    regex.S,
)
_BEGINS = regex.compile(r"[.!。] |[\n#]")


def without_next_question(text: str) -> str:
    """A reply without what a base model goes on with: a question of its own making."""
    # Tried where one can begin, which is much faster than everywhere.
    begins = (mark.start() + (2 if mark[0].endswith(" ") else 0) for mark in _BEGINS.finditer(text))
    following = next(filter(None, (_NEXT.match(text, at) for at in (0, *begins))), None)
    return text[: following.start()] if following else text


def after_question(text: str) -> str:
    """What follows the first line of a reply that opens with a question; '' for another reply."""
    return text.partition("\n")[2] if _NEXT.match(text) else ""
