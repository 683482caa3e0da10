"""Read Yes or No out of a model's reply, in any language; never guess.

The published reader took every reply that contains the letters n-o for No ('Unknown', 'I do not
know', 'Sí, pero no siempre'). Here a reply is freed of thinking and markup and cut into tokens,
and a verdict counts only in a place where a verdict stands:

* a Yes or No (in any of the languages) that opens the reply, stands alone on a line or as the
  last sentence, or follows a label ('Answer:', 'mi respuesta es', 'therefore');
* where there is none, a sentence that as a whole says whether the answer is correct.

A reply that says both, hedges, refuses, asks, only repeats the answer under judgement or says
neither is unknown (None), and so is every form not foreseen: an unknown is counted beside the
score, a wrong guess would hide in it. Languages are files of phrases (`phrases/`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import regex

from xling_tasks.readers.lexicon import WORDS, Lexicon, lexicon_of, signs
from xling_tasks.readers.plain import bare, one_form, undressed, without_next_question

YES, NO = 1, 0
_LONGEST = 12_000

# Kinds of phrases for verdicts; other words are x, or X where they are Chinese, Hindi, ....
_KINDS = {
    "yes": "Y", "no": "N", "right": "r", "wrong": "w", "subject": "A", "noun": "L", "is": "i",
    "not": "!", "fully": "f", "opinion": "o", "doubt": "d", "adverb": "e", "fine": "g",
    "flawed": "q", "praise": "p", "blame": "m", "because": "b", "so": "s", "but": "v", "or": "|",
    "unsure": "h", "refusal": "R", "offer": "u", "otherwise": "z", "polite": "c", "emphatic": "E",
    "replies": "V", "question": "Q", "concession": "C", "granted": "D", "fails": "F",
    "according": "G",
}  # fmt: skip
_SIGNS = signs({",": ";", "(": "[【", ")": "]", ":": "】", "n": "\n"})

# One verdict, in words that stand alone; negations before an adjective (en, es) or after it (hi).
_ITEM = (
    r"(?:(?P<no>[!N]i?[ef]*r|r[!N]i?|w(?![!N]i?(?:[.,n]|$))i?|N|F)"
    r"|(?P<yes>Yi?|ri?|w[!N]i?|!i?[ef]*w))"
)
_LABEL = r"(?:L[xeAL]{0,4}[:\-]|[er]*[AL]L?[re]*i:?|#|s[,:]?|[AL]:|i?A?r:|L(?=[YN](?:[i.,n]|$)))"
_BREAK = r"(?=$|[.,:()n?\-b*])"
_EDGE = r"[*#.,(:\-/)]*"
_BARE = regex.compile(rf"(?:{_EDGE}{_LABEL}*[e,:]*{_ITEM})+{_EDGE}i?{_EDGE}")
_OPENING = regex.compile(rf"{_EDGE}{_LABEL}*[e]*{_ITEM}(?:[,.]*e*{_ITEM})*{_BREAK}")
_MARKED = regex.compile(
    rf"(?:^|(?<=[.,:n*(AL?o]|[xX](?=s|L)))(?P<label>{_LABEL}){_EDGE}e*{_ITEM}{_BREAK}"
)
_BOTH = regex.compile(rf"{_EDGE}{_LABEL}*(?:Y|N|r|w)[/|,n]+(?:Y|N|r|w){_BREAK}")
_TAKEN_BACK = regex.compile(
    rf"{_EDGE}{_LABEL}*{_ITEM}(?:[,.]?{_ITEM})*(?:[,:\-]*v|[,.:\-]*[uR]|[,.]h[xX]*[.n]*$)"
)
# 'Although the facts are right, ...': what is granted says nothing.
_GRANTED = regex.compile(r"(?:^|(?<=[.n,]))(?:C[^.n?,]*,|[^.n?,D]*D)(?=[^.n?]*[^.n?])")
# '(Yes or No)' is the form that was asked for.
_FORM = regex.compile(r"\(?([YNrw]),?[|/]+(?!\1)[YNrw](?:\)|(?=[.n]|$))")
# A line that is a label alone ('### Verdict') heads what follows it.
_HEADING = regex.compile(r"(?:^|(?<=n))([er*]*[AL][eAL]*)(n+)")
# What is polite before the reply proper ('Sure, ...'), and what may mean Yes.
_POLITE = regex.compile(r"^[*(]*c+[,.:\-]*n*(?=.)|^E,(?=[AxXiecosd])")
_EMPHATIC = regex.compile(r"^[*(]*E(?=:|[.n]*$|[eoi]*[Yr])")
# 'It does not answer the question', in the order of any language.
_CLAUSE = r"[^.n,?!NvCrw]*"
_FAILS = regex.compile(
    rf"(?<=A{_CLAUSE}|^|[.n,v])(?:[!N]{_CLAUSE}[VAL]{_CLAUSE}Q"
    rf"|Q{_CLAUSE}[!N]{_CLAUSE}V|Q{_CLAUSE}V{_CLAUSE}[!N])"
)
_OTHERWISE = regex.compile(r"z,?(?:(?P<yes>Y)|(?P<no>N))")
# A sentence that says whether the answer is correct.
_STATEMENT = regex.compile(
    r"[oes,]*(?P<doubt>d?)[oe]*(?:Xe|Qe?)?(?:A[ALef]{0,2}(?:[xeLAQ]{0,8}?(?P<n1>[!N]?)i(?P<n2>[!N]?)|(?P<n6>[!N]?))"
    r"|(?P<n3>[!N]?)i(?P<n4>[!N]?))[efL]*(?P<adj>[rw])(?:\|e*(?P=adj))*[AL]?e*(?P<n5>[!N]?)i?e*"
    r"(?=$|[.,:()nb\-v?*s]|\|(?![rwYN!]))"
)
_STARTS = regex.compile(r"(?:^|(?<=[.n*:#?,\-])|(?<=[YN])(?!i)|(?<=s))")
# What leads to a statement: a word, a label, 'therefore', 'according to the guidelines,'.
_NEUTRAL = "[^.,n?YNrwhqg!]*"
_LEAD_IN = regex.compile(rf"\*?[YN],?|[^,]{{0,12}}:|s,?|e,|[oe]*{_NEUTRAL}G{_NEUTRAL},")
_SENTENCE = regex.compile(r"[^.?n]*[.?n]?")
# 'No. You are right', 'No, it is an excellent answer', 'My answer, yes'; and their opposites.
_PRAISED = regex.compile(r"(?<![!dN][^.,n]{0,4})p|[AL],Y")
_BLAMED = regex.compile(r"(?<![!dN][^.,n]{0,4})m|[AL],N")


def read_verdict(reply: str, answer: str | None = None) -> int | None:
    """1 for Yes, 0 for No, None where the reply commits to neither.

    Args:
        reply: What the model said: a word, a sentence, several lines, in any language.
        answer: The answer that was put to the model to judge, if it is known: a reply that
            only repeats how it begins ('No, do not double the dose ...') says nothing.

    Returns:
        The verdict, or None (unknown).
    """
    text = bare(reply, _LONGEST)
    if text is None:
        return None
    text = without_next_question(text).strip()
    if answer:
        text = _without_echo(text, undressed(one_form(answer[:_LONGEST])))
    kinds, words = _tokens(text)
    if "R" in kinds:
        return None
    if not regex.search(r"[YNrwgqF]", kinds):
        return None
    return _Reader(kinds, words).read()


def named_verdicts(reply: str) -> set[int]:
    """The verdicts whose words a reply has, whatever it says with them."""
    text = bare(reply, _LONGEST)
    kinds, _ = _tokens(text.strip()) if text else ("", [])
    return {YES if kind in "Yr" else NO for kind in regex.findall("[YrNwF]", kinds)}


_ANSWER = r"(?:Xe|Qe?)?A[ALefxXiQ]{0,4}"
_ENGLISH = {"is", "are", "was", "seems", "looks"}


class _Reader:
    def __init__(self, kinds: str, words: list[str]) -> None:
        self.kinds, self.words = kinds, words

    def read(self) -> int | None:
        kinds = self.kinds
        both = _BOTH.match(kinds)
        said = {kind in "Yr" for kind in regex.findall("[YNrw]", both[0])} if both else set()
        if _TAKEN_BACK.match(kinds) or len(said) > 1:
            return None
        explicit = set(self._explicit())
        if len(explicit) > 1:
            return None
        verdict = _one(explicit or self._statements())
        return None if verdict is None or self._contradicted(verdict) else verdict

    def _explicit(self) -> Iterator[int]:
        """Verdict words in the places where a verdict stands."""
        kinds = self.kinds
        opening = self._opening()
        if opening is not None:
            yield opening
        for match in _MARKED.finditer(kinds):
            adjective = match["yes"] in ("r", "ri") or (match["no"] or "N")[0] != "N"
            if not adjective or match["label"][-1] in ":-#":
                yield _value(match)
        lines = [line for line in kinds.split("n") if line]
        for line in (lines[0], lines[-1]):
            value = _bare(line)
            if value is not None:
                yield value
        for match in _OTHERWISE.finditer(kinds):
            yield _value(match)
        sentences = [part for part in _SENTENCE.findall(lines[-1]) if part.strip(".*")]
        if len(sentences) > 1 and opening is None:
            value = _bare(sentences[-1].rstrip("."))
            asked = sentences[-2].endswith("?") and not regex.search("[rAL]", sentences[-2])
            if value is not None and not asked:
                yield value
        last = self._last_word()
        if last is not None:
            yield last

    def _opening(self) -> int | None:
        match = _OPENING.match(self.kinds)
        if match is None:
            # 'Yes it is correct': a verdict and, without a comma, a statement of the same.
            head = regex.match(rf"{_EDGE}{_LABEL}*(?:(?P<yes>Y)|(?P<no>N))", self.kinds)
            said = head and self._statement(head.end(), len(self.kinds))
            if head and said and _said(said) == _value(head):
                return _value(head)
            return None
        sentence = _SENTENCE.match(self.kinds, match.start())
        if sentence and sentence[0].endswith("?"):
            return None
        return _one(_value(item) for item in regex.finditer(_ITEM, match[0]))

    def _last_word(self) -> int | None:
        """An English Yes or No that ends a reply in another script: the word that was asked for."""
        kinds = self.kinds.rstrip(".i)*n")
        if not kinds or kinds[-1] not in "YN" or self.words[len(kinds) - 1] not in ("yes", "no"):
            return None
        line = kinds[kinds.rfind("n") + 1 :]
        if "X" not in line or len(set(regex.findall("[YN]", line))) > 1 or kinds[-2:-1] in "|!h/":
            return None
        return YES if kinds[-1] == "Y" else NO

    def _statements(self) -> Iterator[int]:
        """What the sentences say; two different values where one is unsure or asks."""
        for match in _SENTENCE.finditer(self.kinds):
            sentence = match[0]
            unsure = "h" in sentence and regex.search("[AYNrwL]", sentence)
            if sentence.endswith("?") or unsure:
                yield from (YES, NO)
            head = _LEAD_IN.match(sentence)
            said = self._statement(match.start(), match.end())
            if said is None and head:
                said = self._statement(match.start() + head.end(), match.end())
            if said:
                if "f" in said[0] and regex.search("[!Nd]", said[0]):
                    yield from (YES, NO)  # 'not entirely correct'
                if regex.search(r"[,\-]v", self.kinds[said.end() - 1 : match.end()]):
                    yield from (YES, NO)
                yield _said(said)
            elif "g" in sentence:
                yield YES
            elif "q" in sentence or regex.match(rf"[oes,]*{_ANSWER}F|[oes,]*F", sentence):
                yield NO

    def _statement(self, start: int, end: int) -> regex.Match[str] | None:
        """The statement at a place; in English and Spanish only with a verb."""
        match = _STATEMENT.match(self.kinds, start, end)
        if match is None or match.end() == match.start():
            return None
        adjective = self.words[match.start("adj")]
        if (
            not regex.search("[i!]", match[0])
            and adjective[0] < "\u0900"
            and adjective[-1] not in "ao"
        ):
            return None
        before_verb = regex.search("Ni", match[0])  # 'no' denies no English verb
        if before_verb and self.words[match.start() + before_verb.start() + 1] in _ENGLISH:
            return None
        return match

    def _contradicted(self, verdict: int) -> bool:
        """Whether the reply says the opposite elsewhere, as a word of its own or as a statement."""
        kinds = self.kinds

        def conceded(end: int) -> bool:
            """Whether 'No, the information is correct, but ...' goes on so."""
            return verdict == NO and regex.match(",?v", kinds[end : end + 2]) is not None

        if ("g" if verdict == NO else "q") in kinds:
            return True
        if (_PRAISED if verdict == NO else _BLAMED).search(kinds):
            return True
        for clause in regex.finditer(r"[^.,:?n()\-]+(?=[.,:n()\-]|$)", kinds):
            if _bare(clause[0]) == 1 - verdict and not conceded(clause.end()):
                return True
        if verdict == YES and regex.search(rf"(?:^|[.n,v]){_ANSWER}F", kinds):
            return True
        for start in _STARTS.finditer(kinds):
            match = self._statement(start.start(), len(kinds))
            if match and conceded(match.end()):
                continue
            if match and kinds[match.end() : match.end() + 1] != "?" and _said(match) != verdict:
                return True
        against = (
            r"A[^.n?,dN!v]{0,4}w(?![!NAo])|v[^.n]{0,5}N(?=$|[.,n])"
            if verdict == YES
            else r"v[^.n]{0,5}Y|(?<![dN!])Ai?e*r(?=$|[.,n])(?!,?v)"
        )
        return bool(regex.search(against, kinds))


def _one(values: Iterable[int]) -> int | None:
    """The value that all have."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _value(match: regex.Match[str]) -> int:
    return YES if match["yes"] else NO


def _bare(kinds: str) -> int | None:
    """The value of a text that is nothing but a verdict, perhaps with a label before it."""
    if not _BARE.fullmatch(kinds):
        return None
    body = regex.sub(rf"^{_EDGE}{_LABEL}*", "", kinds)
    return _one(_value(match) for match in regex.finditer(_ITEM, body))


def _said(match: regex.Match[str]) -> int:
    """What a statement says, its negations counted."""
    turns = sum(bool(match[name]) for name in ("doubt", "n1", "n2", "n3", "n4", "n5", "n6"))
    value = YES if match["adj"] == "r" else NO
    return value if turns % 2 == 0 else 1 - value


@functools.cache
def _lexicon() -> Lexicon:
    return lexicon_of(_KINDS, "verdict")


def _tokens(text: str) -> tuple[str, list[str]]:
    """The kinds of a reply's tokens as a string, and the words of each."""
    pieces = WORDS.findall(text.casefold().replace("\u093c", ""))
    raw = [
        word
        for i, word in enumerate(pieces)
        if word == "\n" or not (word.isspace() or (word == "-" and _glued(pieces, i)))
    ]
    lexicon = _lexicon()
    kinds: list[str] = []
    words: list[str] = []
    at = 0
    while at < len(raw):
        word = raw[at]
        length, kind = lexicon.longest(raw, at) or (1, _SIGNS.get(word, ""))
        if kind == "u" and length > 1:  # 'I can' of 'I can't judge'
            after = lexicon.longest(raw, at + 1)
            length, kind = (after[0] + 1, "R") if after and after[1] == "R" else (length, kind)
        if not kind and word[0].isalnum():
            kind = "X" if word[0] >= "\u0900" else "x"
        if kind and not (kind == "X" and kinds[-1:] == ["X"]):
            kinds.append(kind)
            words.append(" ".join(raw[at : at + length]))
        at += length
    for i in range(len(kinds) - 1):  # 是 between the answer and what it is
        joins = kinds[i + 1] not in ".,:n?()" or (kinds[i - 1] in "AL" and kinds[i + 1] == ":")
        opens = i == 0 and kinds[1] in "rwe"
        if words[i] == "是" and (opens or (i and kinds[i - 1] in "ALXeuo" and joins)):
            kinds[i] = "i"
        elif words[i] == "不 是" and kinds[i + 1] == "w":
            kinds[i] = "!"
    return _meant("".join(kinds), words), words


def _meant(kinds: str, words: list[str]) -> str:
    """The kinds, where what is granted, a form's choice, and a heading are what they mean."""
    kinds = _GRANTED.sub(lambda match: "G" + regex.sub("[^,.n]", "x", match[0])[1:], kinds)
    kinds = _FORM.sub(lambda match: "?" * len(match[0]), kinds).replace("C", "v").replace("D", "v")
    for match in reversed([*_FAILS.finditer(kinds)]):
        kinds = kinds[: match.start()] + "F" + kinds[match.end() :]
        words[match.start() : match.end()] = [" ".join(words[match.start() : match.end()])]
    kinds = _HEADING.sub(lambda match: match[1] + ":" * len(match[2]), kinds)
    polite = _POLITE.match(kinds)
    if polite:
        kinds = kinds[polite.end() :]
        del words[: polite.end()]
    # 'Absolutely.' as the whole reply, before a colon or before a word of verdict
    kinds = _EMPHATIC.sub("Y", kinds).replace("E", "e")
    return regex.sub("[Vc]", "x", kinds)


def _glued(pieces: list[str], at: int) -> bool:
    """Whether a hyphen stands within a word ('yes-or-no')."""
    return 0 < at < len(pieces) - 1 and pieces[at - 1][0].isalnum() and pieces[at + 1][0].isalnum()


def _without_echo(text: str, answer: str) -> str:
    """The reply without a passage that repeats how the judged answer begins, to its sentence's end.

    Four words, or a whole sentence of the reply of two or more, make an echo; 'No' alone is a
    verdict, whatever the answer begins with.
    """
    wanted = [word.casefold() for word in WORDS.findall(answer) if word[0].isalnum()][:60]
    if len(wanted) < 3:
        return text
    label = regex.match(r"[^\n:]{0,40}:\s*", text)
    for begin in (0, label.end() if label else 0):
        said = [m for m in WORDS.finditer(text, begin) if m[0][0].isalnum()][:60]
        same = 0
        while same < min(len(said), len(wanted)) and said[same][0].casefold() == wanted[same]:
            same += 1
        ends = same and regex.match(r"[^\w\n]*(?:[.!?。！？।…\n]|$)", text[said[same - 1].end() :])
        if same >= 4 or (same >= 3 and ends):
            rest = regex.search(r"[.!?。！？।…\n]+", text[said[same - 1].end() :])
            return text[said[same - 1].end() + rest.end() :] if rest else ""
    return text
