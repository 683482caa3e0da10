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

from collections.abc import Iterator

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.plain import bare, one_form, undressed, unquoted, without_next_question
from xling_tasks.readers.verdict_grammar import RULES
from xling_tasks.readers.verdict_judged import bare_word, limited, part_alone, says_itself
from xling_tasks.readers.verdict_lexer import lex_verdict
from xling_tasks.readers.verdict_text import (
    NO,
    YES,
    after_quotation,
    bare_value,
    could_differ,
    of_json,
    one_of,
    value_of,
    value_said,
    without_echo,
)

_LONGEST = 12_000
_TELLS = 5  # tokens in which 'The answer says' stands
OTHER = "word foreign according noun"

_ENGLISH = {"is", "are", "was", "seems", "looks"}


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
    cut = without_next_question(text)
    # '## Evaluation', and then the question again
    head_alone = cut != text and RULES.HEAD_ALONE.fullmatch(lex_verdict(cut.strip()).kinds)
    text = (text if head_alone else cut).strip()
    if answer:
        text = without_echo(text, undressed(one_form(answer[:_LONGEST])))
    keyed = of_json(text)
    if keyed:
        return one_of(keyed)
    said = unquoted(text, _says)
    tokens = after_quotation(text) or lex_verdict(said)
    told = RULES.CANNOT.sub("", RULES.REASON.sub("", tokens.kinds))
    if has(told, "refusal") or not RULES.SAYS.search(tokens.kinds):
        return None
    verdict = _Reader(tokens.kinds, tokens.words).read()
    if verdict is None or not could_differ(tokens.kinds, verdict):
        return verdict
    return None if _says_again(said, 1 - verdict) else verdict


def _says(text: str) -> bool:
    return bool(RULES.SAYS.search(lex_verdict(text).kinds))


_FIRST_END = regex.compile(r"[.!?。！？।\n]\s*")


def _says_again(text: str, verdict: int) -> bool:
    """Whether the sentences behind the first one, or the last line, alone come to a verdict."""
    first = _FIRST_END.search(text)
    starts = {first.end() if first else 0, text.rfind("\n") + 1} - {0, len(text)}
    parts = (lex_verdict(text[start:]) for start in starts)
    return any(
        not has(part.kinds, "refusal") and _Reader(part.kinds, part.words)._all() == verdict
        for part in parts
    )


def named_verdicts(reply: str) -> set[int]:
    """The verdicts whose words a reply has, whatever it says with them."""
    text = bare(reply, _LONGEST)
    kinds = lex_verdict(text.strip()).kinds if text else ""
    good, bad = has(kinds, "yes right fine"), has(kinds, "no wrong fails flawed")
    return {value for value, named in ((YES, good), (NO, bad)) if named}


class _Reader:
    def __init__(self, kinds: str, words: list[str]) -> None:
        self.kinds, self.words = kinds, words

    def read(self) -> int | None:
        verdict = self._all()
        return self._at_last() if verdict is None else verdict

    def _at_last(self) -> int | None:
        """What a reply comes to, if what stands before is not a verdict on the answer.

        'Yes, honey is natural. But ... Therefore the answer is incorrect.'
        """
        for match in reversed([*RULES.COMES_TO.finditer(self.kinds)]):
            at = match.start()
            if not at or RULES.WAIT.search(self.kinds):
                return None
            tail, head = (
                _Reader(self.kinds[part], self.words[part]) for part in (slice(at, None), slice(at))
            )
            verdict = tail._all()
            if verdict is None:
                continue
            labelled = match[0] or match["own"] is not None
            whole = labelled or (has(tail.kinds, "subject") and list(tail._statements()))
            elsewhere = RULES.SO_ELSEWHERE.match(tail.kinds) or self._of_the_matter(at, verdict)
            if not whole or elsewhere:
                continue
            opening = head._opening()
            kept = opening in (None, verdict) or RULES.GOES_ON.match(head.kinds)
            said = set(head._statements())
            unsure = RULES.PARTLY_SO.match(head.kinds) and not labelled  # '... but has mistakes.'
            return verdict if kept and not unsure and said != {1 - verdict} else None
        return None

    def _all(self) -> int | None:
        kinds = self.kinds
        hesitant = RULES.HESITANT.match(kinds) or (has(kinds, "wait") and RULES.WAIT.search(kinds))
        corrected = RULES.CORRECTED_TO.search(kinds)
        if corrected:
            return value_of(corrected)
        if hesitant:
            return self._reconsidered(*hesitant.span())
        if any(rule.match(kinds) for rule in (RULES.ANSWERS_IT, RULES.TALKS, RULES.FIELD)):
            return None
        both = RULES.BOTH.match(kinds)
        said = {kind in row("yes right") for kind in RULES.WORDS.findall(both[0] if both else "")}
        if RULES.TAKEN_BACK.match(kinds) or len(said) > 1:
            return None
        verdict = one_of(list(self._explicit()) or self._statements())
        # 'The answer is right; the dose is wrong.'
        part = bool(RULES.PART_WRONG.search(kinds))
        part = part or (bool(RULES.YES_BUT.match(kinds)) and YES not in self._statements())
        if verdict is None or (verdict == YES and part) or self._contradicted(verdict):
            return None
        return verdict

    def _reconsidered(self, start: int, end: int) -> int | None:
        """What stands where it is looked at again: the same twice, or at last a statement."""
        first = _Reader(self.kinds[: start or end], self.words[: start or end])
        rest = _Reader(self.kinds[end:], self.words[end:])
        before, after = first.read() if start else first._opening(), rest.read()
        whole = has(self.kinds[end:], "subject noun") and set(rest._explicit()) <= {after}
        return after if after == before or before is None or whole else None

    def _explicit(self) -> Iterator[int]:
        """Verdict words in the places where a verdict stands."""
        kinds = self.kinds
        opening = self._opening()
        for match in RULES.MARKED.finditer(kinds):
            verdict = has((match["yes"] or match["no"])[0], "yes no")
            start = max(kinds.rfind(end, 0, match.start()) for end in row("stop query line comma"))
            own = says_itself(self.words[start + 1 : match.start()])  # no 'It says: reply Yes'
            elsewhere = RULES.SO_ELSEWHERE.match(kinds, match.start())
            if own and not elsewhere and (verdict or has(match["label"][-1], "colon dash boxed")):
                yield value_of(match)
        lines = [line for line in kinds.split(KIND["line"]) if line] or [""]
        alone = [lines[0], lines[-1]]
        sentences = [
            part for part in RULES.SENTENCE.findall(lines[-1]) if part.strip(row("stop bullet"))
        ]
        if len(sentences) > 1 and opening is None:
            matter = self._of_the_matter(kinds.rindex(sentences[-1]), YES)
            alone += [] if matter else [sentences[-1].rstrip(KIND["stop"])]
        values = (opening, *map(bare_value, alone), self._last_word())
        yield from (value for value in values if value is not None)

    def _opening(self) -> int | None:
        match = RULES.OPENING.match(self.kinds) or self._twice()
        sentence = RULES.SENTENCE.match(self.kinds)
        if match is None or (sentence and sentence[0].endswith(KIND["query"])):
            return None
        return one_of(value_of(item) for item in RULES.ITEM.finditer(match[0]))

    def _twice(self) -> regex.Match[str] | None:
        """A verdict and the same of the answer, with no mark between; not 'No answer is ...'."""
        match = RULES.TWICE.match(self.kinds)
        if match is None or not says_itself(self.words[: match.start("what")]):
            return None  # 'Somebody wrote: "Yes, this is correct"'
        subject = self.words[match.start("what")]
        named = " " in subject or (subject and bare_word(subject))
        named = named or subject >= "\u0900"
        return match if named or has(match[0], "yes comma") else None

    def _last_word(self) -> int | None:
        """An English Yes or No that ends a reply in another script: the word that was asked for."""
        kinds = self.kinds.rstrip(row("stop is close bullet line"))
        if not has(kinds[-1:], "yes no") or self.words[len(kinds) - 1] not in ("yes", "no"):
            return None
        line = kinds[kinds.rfind(KIND["line"]) + 1 :]
        both = has(line, "yes") and has(line, "no")
        if not has(line, "foreign") or both or has(kinds[-2:-1], "or not unsure slash"):
            return None
        return YES if kinds[-1] == KIND["yes"] else NO

    def _statements(self) -> Iterator[int]:
        """What the sentences say; two different values where one is unsure or asks."""
        for match in RULES.SENTENCE.finditer(self.kinds):
            sentence = match[0]
            head, last = RULES.LEAD_IN.match(sentence), self._last_clause(match)
            # 'It may be good for adults, so here it is wrong': what it comes to is not unsure.
            lead = last if last and has(last[0], "but") else head
            rest = sentence[lead.end() :] if lead and has(lead[0][-2:], "so but") else sentence
            unsure = has(rest, "unsure") and RULES.TELLS.search(sentence)
            wants = match.start() and has(sentence, "asked")  # 'Would you like the right one?'
            subjects = self._subjects(*match.span())
            asks = RULES.ASKS.search(sentence) or not all(map(bare_word, subjects))
            asks = asks and sentence.endswith(KIND["query"]) and not wants
            if asks or unsure:
                yield from (YES, NO)
            granted = RULES.CONCEDES.match(sentence) if has(sentence, "but") else None
            if granted and not self._of_the_answer(match.start(), granted.end()):
                granted = None
            said = self._said_in(match, *filter(None, (head, granted, last)))
            item = RULES.ITEM_ENDS.fullmatch(sentence, granted.end()) if granted else None
            if said and head and has(head[0], "yes") and value_said(said) == NO:
                yield YES  # 'Yes it is incorrect'
            if said and self._of_the_matter(match.start(), value_said(said)):
                continue
            if said is None and item:
                yield value_of(item)
            elif said:
                if has(said[0], "fully") and RULES.PARTLY.search(said[0]):
                    yield from (YES, NO)  # 'not entirely correct'
                if RULES.QUALIFIED.search(self.kinds, said.end() - 1, match.end()):
                    yield from (YES, NO)
                yield value_said(said)
            elif RULES.FINE_ALONE.search(sentence):
                yield YES
            elif has(sentence, "flawed") or self._unfit(match) or self._claims(match):
                yield NO

    def _of_the_matter(self, start: int, verdict: int) -> bool:
        """Whether what a sentence calls dangerous stands before it, or is one right part of more.

        'Carbon monoxide has no smell. It is dangerous.'; 'The answer says to rest. That is
        correct. Then it says ...'.
        """
        sentence = RULES.SENTENCE.match(self.kinds, start)
        assert sentence is not None
        before = RULES.BEFORE.search(self.kinds, 0, start)
        subjects = self._subjects(*sentence.span())
        if before is None or not all(map(bare_word, subjects)):
            return False
        said, told = self.words[start : sentence.end()], self.words[slice(*before.span())]
        judged = self._opening() is not None or has(self.kinds[:start], "noun opinion")
        if not judged and not self._of_the_answer(0, start):
            return not says_itself(said, "harms")
        if verdict == NO or says_itself(told):
            return False
        more = not says_itself(self.words[sentence.end() :])
        more = more or bool(RULES.MORE_TOLD.search(self.kinds, sentence.end()))
        return more and self._of_the_answer(before.start(), len(before[0]))

    def _unfit(self, sentence: regex.Match[str]) -> bool:
        """Whether the answer is called off the point, and not a matter that 'this' stands for."""
        unfit = RULES.UNFIT.match(sentence[0])
        if unfit is None:
            return False
        asked = has(sentence[0], "question") or RULES.UNFIT_ALONE.match(sentence[0], unfit.end())
        return bool(asked) or self._of_the_answer(sentence.start(), unfit.end())

    def _claims(self, sentence: regex.Match[str]) -> bool:
        """Whether what the answer claims is called wrong ('It says that ..., which is false')."""
        words = self.words[sentence.start() : sentence.start() + _TELLS]
        claim = RULES.CLAIMS.match(sentence[0])
        return bool(claim) and not says_itself(words) and not bare_word(words[0])

    def _said_in(
        self, sentence: regex.Match[str], *leads: regex.Match[str]
    ) -> regex.Match[str] | None:
        """The statement of a sentence, at its start or behind what leads to it."""
        starts = (sentence.start() + at for at in (0, *(lead.end() for lead in leads)))
        places = ((start, sentence.end()) for start in starts)
        return next(filter(None, (self._statement(*at) or self._named(*at) for at in places)), None)

    def _last_clause(self, sentence: regex.Match[str]) -> regex.Match[str] | None:
        """What stands before a last clause on the answer, if it is not of some people or others."""
        before = RULES.LAST_CLAUSE.match(sentence[0])
        start, end = sentence.start(), sentence.start() + (before.end() if before else 0)
        said = self.words[start:end]
        named = not all(map(bare_word, self._subjects(end, sentence.end())))
        joined = before and (said[0] >= "\u0900" or has(before[0], "because but"))
        return before if named and joined and says_itself(said, "tells when") else None

    def _subjects(self, start: int, end: int) -> list[str]:
        """The words of the subjects in a passage."""
        return [self.words[at] for at in range(start, end) if has(self.kinds[at], "subject")]

    def _statement(self, start: int, end: int) -> regex.Match[str] | None:
        """The statement at a place; in English and Spanish only with a verb."""
        match = RULES.STATEMENT.match(self.kinds, start, end)
        if match is None or match.end() == match.start():
            return None
        both = match["also"] and has(match[0], "not no") and has(match["adj"], "wrong")
        if both or self.words[match.start()] == "to be":
            return None  # 'It is not safe and wrong', 'To be a correct answer, it must ...'
        adjective = self.words[match.start("adj")]
        spaced = adjective[0] < "\u0900"
        verb = (spaced and " " in adjective) or RULES.VERB.search(match[0])  # 'holds up', 'is'
        if not verb and spaced and (adjective[-1] not in "ao" or self._heads(start, match.end())):
            return None
        between = match.start(), match.start("adj")
        others = [self.words[at] for at in range(*between)[1:] if has(self.kinds[at], OTHER)]
        tells = not says_itself(others)  # 'it says that this is wrong'
        no = RULES.NO_VERB.search(match[0])  # an English 'no' before its verb denies none
        english = no and self.words[match.start() + no.start() + 1] in _ENGLISH
        asks = has(match["adj"], "right") and limited(" ".join(self.words[slice(*between)]), "norm")
        return None if tells or english or asks or self._of_a_part(match) else match

    def _of_a_part(self, said: regex.Match[str]) -> bool:
        """Whether a statement is on a part: 'This dose is right', 'The advice on rest is sound'."""
        subjects = self._subjects(said.start(), said.start("adj"))
        before = self.kinds[said.start() : said.start("adj")]
        part = all(map(part_alone, subjects)) or before.count(KIND["word"]) > 1
        return has(before, "word foreign") and bool(subjects) and part and part_alone(subjects[0])

    def _of_the_answer(self, start: int, size: int) -> bool:
        """Whether a passage has the answer as its subject, and no 'this drug'."""
        kinds, words = self.kinds, self.words
        subjects = (at for at in range(start, start + size) if has(kinds[at], "subject"))
        return any(not bare_word(words[at]) or has(kinds[at + 1], "is") for at in subjects)

    def _named(self, start: int, end: int) -> regex.Match[str] | None:
        """A statement that names the answer behind its adjective ('a wrong answer')."""
        match = RULES.NAMED.match(self.kinds, start, end)
        if match is None or bare_word(self.words[match.start("named")]):
            return None
        if self.words[match.start()] == "to be":
            return None  # 'To be a correct answer, it must ...'
        last, rest = match[0][-1], self.kinds[match.end() : end]
        if has(last, "foreign") and (not match["whole"] or " " in self.words[match.end() - 1]):
            return None
        if match["whole"]:
            return match
        led = has(self.kinds[match.start() : match.start("adj")], "foreign")
        verb = has(self.kinds[match.start() : match.start("adj")], "is not")
        latin = not verb and self.words[match.start("adj")] < "\u0900"
        latin = latin and bool(rest.strip(row("stop line")))
        return None if led or latin or self._heads(start, match.end()) else match

    def _heads(self, start: int, end: int) -> bool:
        """Whether a line is a heading of what follows ('### Correct answer', and then it)."""
        behind = self.kinds[end:]
        led = has(self.kinds[start - 1 : start], "colon")
        heads = has(behind[:1], "line colon") and not led
        return heads and bool(behind.strip(row("stop line bullet close")))

    def _contradicted(self, verdict: int) -> bool:
        """Whether the reply says the opposite elsewhere, as a word of its own or as a statement."""
        kinds = self.kinds

        def conceded(end: int, rule: regex.Pattern[str] = RULES.CONCEDED) -> bool:
            """Whether 'No, the information is correct, but ...' goes on so."""
            return verdict == NO and rule.match(kinds, end) is not None

        if (RULES.AGAINST_YES if verdict == YES else RULES.AGAINST_NO).search(kinds):
            return True
        for clause in RULES.CLAUSES.finditer(kinds):
            granted = conceded(clause.end()) or conceded(clause.end(), RULES.CONCEDED_WORD)
            label = RULES.LABELLED.match(kinds, clause.end())  # 'Correct: No'
            if bare_value(clause[0]) != 1 - verdict or granted or label:
                continue
            goes_on = RULES.GOES_ON_SO.match(kinds, clause.end())
            twice = goes_on and self._opening() == verdict and verdict in self._statements()
            if not twice:  # 'No, the answer is incorrect. Yes, adults should ...'
                return True
        for start in RULES.STARTS.finditer(kinds):
            match = self._statement(start.start(), len(kinds))
            if match is None or conceded(match.end()) or value_said(match) == verdict:
                continue
            if not has(kinds[match.end() : match.end() + 1], "query"):
                return True
        return False
