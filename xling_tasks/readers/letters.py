"""Read the letters of the chosen options out of a model's reply, in six languages; never guess.

Letters count only in a place where an answer stands: the reply as a whole, its opening, a line of
their own, after a label ('Answer:', 'la réponse est', '故选', 'therefore') or before a statement
('C is the correct answer'). Instead of a letter an option's whole text may stand there; nothing
is matched by similarity. 'Hepatitis B', 'E. coli', 'A patient' stand in no such place.

A reply that hedges ('A or B'), takes its answer back, refuses, names a letter that no option has
or a text that is not its letter's, is unparsed (None), and so is every form not foreseen: an
unparsed reply is counted beside the score, a wrong guess would hide in it. To add a language, add
its forms to the tables.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

import regex

from xling_tasks.readers.thinking import without_thinking

# An option's text becomes one private character, so that no letter or word in it can be misread.
# fmt: off
_MASK, _TEXT = 0xE000, r"[\uE000-\uE019]"

_OPTION = r"options?|choices?|answers?|letters?|statements?|réponses?|propositions?|lettres?|opci[oó]n(?:es)?|respuestas?|letras?|alternativas?|вариант\w*(?: ответа)?|ответ\w*|букв[аы]|選択肢|选项|選項"
_ARTICLE = r"both|only|the|la|les|las|le|el|los|l'|tanto|à la fois|seule(?:ment)?|solo|sólo|только|оба"
_AND = r"and|et|y|e|и|plus|as well as|ainsi que|así como|как|а также|et la|y la|et le|y el"
_HAN_AND = "和|与|與|及び?|以及|跟|と|および|ならびに"
_ONLY = r"only|alone|both|uniquement|seulement|solamente|únicamente|только|のみ|だけ"
_BECAUSE = r"because|since|as|due to|given that|for|car|parce qu(?:e\b|')|puisqu(?:e\b|')|porque|ya que|pues|debido a|потому что|так как|поскольку|ибо"
_HAN_BECAUSE = "因为|因為|由于|由於|なぜなら|理由は"
_ALL = r"all (?:of )?(?:the above|them|these|the options|the answers|options|answers)(?: are (?:correct|right|true))?|all are (?:correct|true)|(?:以上|上述)?(?:选项)?(?:全部|全都|都|皆|全)(?:是|对|正确|对的|正确的)|以上(?:全部|所有)|(?:以上)?(?:すべて|全て|全部)(?:正しい|正解)?|上記(?:の)?(?:すべて|全て)|toutes les (?:réponses|propositions)(?: ci-dessus)?(?: sont (?:correctes|exactes|justes|vraies))?|toutes ces réponses|tou(?:te)?s|все (?:вышеперечисленн|перечисленн)\w+|все (?:варианты|ответы)(?: ответа)?(?: (?:верны|правильны|правильные|верные))?|todas (?:las (?:anteriores|opciones|respuestas)|son correctas)(?: (?:son )?correctas| anteriores)?"
_NOT_JOINED = r"(?![\p{Latin}\p{Cyrillic}\p{N}'_]|-(?![\uE000-\uE019\s]))"


def _list_of(letter: str) -> str:
    """A list of letters, each perhaps with its own option's text; possessive, so never cut short."""
    item = (
        rf"(?:(?i:{_OPTION})\s*)?(?:(?i:{_ARTICLE})\s*\b)*(?:(?i:{_OPTION})\s*)?[(\[]?[ ]?(?P<letters>{letter}{{1,8}}){_NOT_JOINED}(?:[ ]?[)\]])?(?:[ ]?[.:、)の\-–—]?\s?\(?(?P<own>{_TEXT})\)?|(?P<own>))"
    )
    line = rf"[ ]*\.?[ ]*\n[ ]?(?={item}[ ]*[.)]?[ ]*(?:\n|$))"
    join = rf"(?:\s*[,、;&+・·](?:\s*\b(?i:{_AND})\b)?\s*|\s+(?i:{_AND})\s+|\s*(?:{_HAN_AND})\s*|[ ]|{line})"
    return rf"(?:[-•]\s*)?(?:{item})(?:{join}{item}){{0,15}}+(?!{join}{item})"


_JA_END = r"(?:です|である|だ(?!が|けで|と)|でした|になる|となる|となり|を選|が(?:最も)?(?:正しい|正解|適切)(?:です|である|だ(?!が|と)|と考え|。|$)|と考え)"
_AFTER = rf"[ ]*[)\]]*[ ]*(?:(?i:{_ONLY})\b[ ]*|項|项|选项|(?:都|均)?(?:是|为)?正确(?:的|答案)?)?"
# What may follow letters that answer; a letter before '. difficile' is no answer.
_STRICT = rf"{_AFTER}(?:$|(?=\n)|[!。]|[.](?!\s?[\p{{Ll}}\d]|\sA [\p{{Ll}}\d])|;|,?[ ]*(?i:{_BECAUSE})(?!\p{{L}})|,?(?:{_HAN_BECAUSE})|{_JA_END})(?!\s*{_TEXT})"
_LOOSE = rf"(?:{_STRICT}|{_AFTER}(?:[,)\]—–(…]|(?<=[)])(?=\s*(?:$|[\n\p{{Lu}}\p{{Han}}.,;]))|[ ]-[ ]|(?<={_TEXT}\)?)[ ]?:)(?!\s*{_TEXT}))"
_OPENS = rf"(?:{_STRICT}|{_AFTER}(?:(?<=[)])(?=\s*(?:$|[\n\p{{Lu}}\p{{Han}}]))|[ ]?[-–—:][ ](?![ ]*{_TEXT})(?=\p{{Lu}}|\p{{Han}})(?<![A-H][ ]?:[ ])))"
_UPPER, _LOWER = "[A-H]", "[a-hавсе]"
_LIST = regex.compile(rf"(?>{_list_of(_UPPER)})(?={_LOOSE})")
_LIST_OPENS = regex.compile(rf"(?>{_list_of(_UPPER)})(?={_OPENS})")
_LIST_STRICT = regex.compile(rf"(?>{_list_of(_UPPER)})(?={_STRICT})")
_LIST_LOWER = regex.compile(rf"(?>{_list_of(_LOWER)})(?=[ ]*[).]*[ ]*(?:\n|$))")
_EVERY = regex.compile(rf"(?i:{_ALL})(?={_STRICT}|,)")
_WHOLE_TEXT = regex.compile(rf"({_TEXT})(?={_STRICT})")
_LOOK_ALIKE = str.maketrans("АВСЕавсе", "ABCEabce")
# Words, not lists of letters.
_WORDS = {"ab", "ad", "be", "bed", "ce", "de", "ace", "BE", "DE", "ВСЕ", "все"}

_ADJ = "correct|right|best|final|appropriate|likely|most|my|true|single"
_NOUN = (
    rf"(?:(?:{_ADJ}) )*answers?(?: choice| option| letter)?(?:\(s\))?|(?:(?:{_ADJ}) )+(?:options?|choices?|letters?|ones?|statements?)|"
    r"(?:bonnes? |meilleures? |seules? )?réponses?(?:\(s\))?(?: (?:correctes?|exactes?|finales?|justes?))*|(?:bonnes|propositions) (?:propositions|exactes|correctes)|respuestas?(?:\(s\))?(?: (?:correctas?|final(?:es)?))*|opci[oó]n(?:es)? correctas?|(?:(?:правильн|верн|окончательн|итогов)\w+ )*ответы?|(?:правильн|верн)\w+ варианты?(?: ответа)?"
)
_HAN_NOUN = (
    "(?<!不|错误|錯誤)(?:(?:正确|正確|最终|最終|最佳|参考|標準|标准)的?)*(?:答案|回答)|(?<!不)(?:正确|正確)的?(?:选项|說法|说法|选择)?|"
    "最終的な(?:答え|回答)|正解|正答|答え|解答|回答|答|(?:正しい|適切な|該当する)(?:もの|の|選択肢)"
)
# (what stands before the letters, whether it is the last word, whether a comma may follow them)
_LABELS = [
    (regex.compile(rf"(?i:\b(?:{_NOUN})\s*[:=]+\s*|\b(?:correct|correcte?s?|correctas?)\s*:\s*)"), False, True),
    (regex.compile(r"(?i:\b(?:final answer|réponse finale|respuesta final|(?:окончательный|итоговый) ответ)(?: is| est| es)?\s*:?\s*|最终答案[是为:]*\s*|最終的な答えは\s*)"), True, True),
    (regex.compile(rf"(?i:\b(?:{_NOUN}) (?:is|are|must be|should be|has to be|would be|est|sont|es|son|является|это|[—–-])(?: (?:therefore|thus|clearly|then|donc|bien|por (?:lo )?tanto|claramente))?[ ]?:?\s+)"), False, True),
    (regex.compile(rf"(?:{_HAN_NOUN})(?:应该|应当|应|應|就|即|只能|として|の記号|のは)*(?:是|为|為|选|選|有|は|:|=)+\s*:?\s*"), False, True),
    (regex.compile(rf"(?i:(?:^|[.!?]\s|\n|\bc'est |\b(?:donc|поэтому|следовательно|por (?:lo )?tanto|so|therefore|thus),? )(?:la |the )?(?:{_NOUN})\s+)"), False, False),
    (regex.compile(r"(?i:\bI(?: would|'d| will|'ll)? (?:choose|pick|select|go with)|\bje (?:choisis|choisirais)|\b(?:yo )?(?:elijo|escojo|elegiría)|\bя (?:выбираю|выберу))\s+|(?<!不|不能|不应|不该|误|错|别|勿|如果|若|可能|可以)(?<!候|备|挑|可|易|多|常|首|任|筛)(?:选择|選擇|选|選)\s*"), False, True),
    (regex.compile(r"(?:(?i:\b(?:so|therefore|thus|hence|donc|ainsi|por (?:lo )?tanto|así que|поэтому|следовательно|значит|итак|(?:it|this) (?:must|has to) be|that leaves|остаётся|queda|not \(?[A-H]\)?,? but|pas (?:la )?[A-H],? mais|no es (?:la )?[A-H],? sino)\b)|所以|因此|故|综上(?:所述)?|したがって|従って|よって|ゆえに|以上より)[,、]?\s*(?:(?i:it is|c'est|es|это|ответ|выбираем)\s+|(?:应该|应)?(?:选|是|为))?"), False, False),
]
# Statements. The first kind names the answer, the second only says that an option is true.
_SAID = [
    r"(?: (?:is|are|must be|would be|has to be) the (?:only |most |single )?(?:correct|right|best|appropriate|likely)(?: answers?| options?| choices?| ones?)?| (?:est|sont) (?:donc )?(?:la|les) (?:bonnes?|seules?|meilleures?)? ?réponses?(?: (?:exactes?|correctes?))?| (?:es|son) (?:por tanto )?las? (?:respuestas?|opci[oó]n(?:es)?) correctas?| (?:es|son) las? correctas?| ?[—-]? ?(?:является |это )?(?:правильн|верн)\w+ (?:ответ|вариант)\w*|(?:是|为)(?:正确|最佳)(?:答案|选项)|[がは]正[解答])",
    r"(?: (?:is|are) (?:both )?(?:correct|right|true)| (?:est|sont) (?:correcte?s?|exacte?s?|justes?|vraie?s?)| (?:es|son) (?:correct[oa]s?|verdader[oa]s?|ciert[oa]s?)| (?:верны|верен|верно|правильно|правильны|правильные)|(?:项|选项)?(?:是|都是|都|均|均为)?(?:正确|对)的?|の?選択肢?[がは](?:最も)?(?:正しい|適切)|[がは](?:最も)?(?:正しい|適切))",
]
_STATED = [
    regex.compile(rf"(?:(?<=^|[.!?。,:;\n]\s*)|(?<=\b(?i:so|therefore|thus|hence|donc|поэтому|所以|因此|よって|したがって)[,、]?\s*))(?>{_list_of(_UPPER)})(?=(?i:{said}){_LOOSE})")
    for said in _SAID
]
_CONCLUSIVE = regex.compile(r"(?i:\b(?:so|therefore|thus|hence|finally|final|conclusion|donc|finalement|por (?:lo )?tanto|en conclusión|conclusión|поэтому|следовательно|значит|итак|таким образом)\b)|所以|因此|故|综上|最终|应该是|したがって|従って|よって|ゆえに|以上より|最終")
_WRONG = r"\b(?:wrong|incorrect|false|not (?:correct|right|true|the)|inaccurate|excluded|eliminated|contraindicated|out|unlikely|avoid(?:ed)?|distractors?|contraindiqué\w*|contraindicad\w*|descart\w+|исключ\w+|противопоказан\w*|fau(?:x|sse)s?|inexacte?s?|incorrect[oae]?s?|fals[oa]s?|неверн\w*|неправильн\w*|ошибочн\w*)\b|(?:错误?|錯|不正确|不对|不適切|排除|禁忌|誤り|誤って|正しくな|間違|ではない|でない|以外|[×✗❌])"
_ASIDE = regex.compile(rf"(?i:{_WRONG}|\b(?:{_BECAUSE}|unlike|whereas|rather than|instead of|contrairement|a diferencia|в отличие|(?:not|non|pas|no|не)(?: (?:la|el|le))? [A-H])\b)|{_HAN_BECAUSE}|(?:而不是|而非|不是|不选)\s?[A-H]|ではなく|よりも")
_WRONG_RE = regex.compile(rf"(?i:{_WRONG})")
_OR = regex.compile(r"^[)\]\s]*[,;(.—–-]*\s*(?:(?i:(?:and |et |y |и )?(?:or|ou|o|u|или|либо|maybe|perhaps|possibly|probably|also|too|peut-être|quizás?|tal vez|posiblemente|también|también|возможно|также|тоже|aussi|également)\b)|或|也|还|可能|かもし|または|もしくは|あるいは|か|も|でしょうか)")
_UNCERTAIN = regex.compile(r"(?i:\b(?:if|whether|not|n't|don't|doubt|might|may|could|why|some|many|others|can't|cannot|unless|si|pourquoi|pas|no|quizás?|podría|peut-être|если|ne|n'(?:est|était)|не|может|почему|when|suppose|unlikely|nor|neither)\b)|n't|可能|是否|不|误|错|为何|为什么|ではな|なぜ")
_MAYBE = regex.compile(r"(?i:\b(?:if|whether|maybe|perhaps|possibly|si|peut-être|quizás?|tal vez|если|возможно|наверное|some|students?|people|certains|algunos|некоторые)\b)|如果|若|假如|也许|或许|有人|同学|考生|もし|かも|多くの人")
_BAD_BEFORE = regex.compile(r"(?i:(?:wrong|incorrect|false|mauvaises?|fausses?|неправильн\w+|неверн\w+|ошибочн\w+|возможные|варианты|другие|possible|potential|other|remaining|alternative|candidate|each|autres?|otras?)\s*)$|(?:其他|其余|可能的?|候选|他の|错误的?|不正确的?|易错|誤った|間違った)$")
_CORRECTION = regex.compile(r"(?i:\b(?:wait|actually|on second thought|on reflection|correction|i made|i was wrong|hold on|attendez|en fait|en réalité|espera|en realidad|mejor dicho|на самом деле|подождите|точнее|постойте)\b)|不对[,，]|等等|等一下|我错|いや[、,]|待って|訂正")
_ALSO = regex.compile(r"(?<![\p{L}])[A-H](?:[^\p{L}]{1,2}(?i:is|are|est|es|son|sont|may|might|could|can|тоже|также|también|podría|peut|может))?[^\p{L}]{0,2}(?:(?i:(?:also|too|as well|également|aussi|тоже|также|también)(?! (?:wrong|incorrect|inadequate|fau|неверн|incorrect|fals))|be|ser|être|быть)|也(?:对|正|可|有)|も(?:正|適|考|あり|可))")
_REFUSAL = regex.compile(r"(?i:\b(?:can't|cannot|can not|unable to|not able to|won't) (?:\w+ )?(?:answer|say|tell|determine|judge|provide|give|choose|help|decide|assist)\b|\bi (?:do not|don't) know\b|\bne (?:peux|sais|puis) pas\b|\bje l'ignore\b|\bno (?:puedo|lo sé|sé)\b|\bне (?:могу|знаю|можем)\b)|(?:无法|無法|不能)(?:判断|确定|回答|给出|提供|选择)|不知道|わかりません|分かりません|答えられ|お答えでき|できません")
_NONE = regex.compile(r"(?i:\bnone (?:of|are|is)\b|\bneither\b|\baucune?\b|\bni (?:l'une?|la)\b|\bninguna?\b|\bни одного|\bни один|\bникак\w+)|以上(?:都|皆|均)?不|都不|どれも|いずれも.{0,8}ない|該当なし")
_MENTION = regex.compile(r"(?<![\p{Latin}\p{Cyrillic}\p{N}'-])(?P<letter>[A-H])(?![\p{Latin}\p{Cyrillic}\p{N}'-])(?![ ]\p{Ll}{2,}(?<! (?:is|are|and|or|was|may|et|ou|est|es|son|sont|или|также|тоже|неверно|верно|could|would|also|might)))")
_NEXT = regex.compile(
    r"(?i:\n?[ #*]*(?:\n|^)[ #*]*(?:next )?(?:questions?|pregunta|вопрос|问题|問題|题目|質問|设问|q|user|human|instruction|###\s*(?:question|input|instruction))(?: ?\d+)?[ *]*[:.：].*)",
    regex.S,
)
_CLEAN: list[tuple[regex.Pattern[str], str]] = [
    (regex.compile(r"[【\[](答案|正解|解答|正确答案)[】\]]:?"), r"\1:"),
    (regex.compile(r"~~.*?~~", regex.S), " "),
    (regex.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}"), r"\1"),
    (regex.compile(r"\\boxed\s*\{([^{}]*)\}"), r"\nfinal answer: \1\n"),
    (regex.compile(r"<(answer|final_answer)>(.*?)</\1>", regex.S | regex.I), r"\nfinal answer: \2\n"),
    (regex.compile(r"<\|[^|<>]{1,40}\|>|</?\w{1,10}>"), " "),
    (regex.compile(r"```\w*|[*_`#>\"“”„«»「」『』【】{}¿¡$]|^[ ]*[-•·][ ]", regex.M), " "),
    (regex.compile(r"[^\S\n]+"), " "),
    (regex.compile(r" *\n *"), "\n"),
]
_QUOTED = regex.compile(rf"(?:\*\*|[\"“«「『'])\s*({_TEXT})[.。]?\s*(?:\*\*|[\"”»」』'])")

# fmt: on


class _Place(NamedTuple):
    start: int
    end: int
    letters: frozenset[str]
    final: bool = False
    named: bool = False
    text: bool = False


def read_letters(reply: str, options: Mapping[str, str], *, several: bool) -> frozenset[str] | None:
    """The letters that a reply commits to, None where it commits to none.

    Args:
        reply: What the model said, in any of the six languages.
        options: Letter (A to H) to text, as the model was shown them.
        several: Whether the question allows more than one letter. A list of letters is read
            in any case (and then scored); 'all of the above' only where this is true.

    Returns:
        A non-empty set of letters of ``options``, or None (unparsed).
    """
    masked = _one_form(reply, options)
    if masked is None:
        return None
    raw, text = masked
    if not text or _REFUSAL.search(text):
        return None
    reader = _Reader(text, options, several)
    letters = reader.read()
    if letters is None and not reader.letters_mentioned():
        letters = reader.quoted(raw)
    return letters


class _Reader:
    def __init__(self, text: str, options: Mapping[str, str], several: bool) -> None:
        self.text, self.options, self.several = text, options, several
        self.keys = sorted(options)

    def read(self) -> frozenset[str] | None:
        opening = self._opening()
        places = self._places(opening)
        if not places and opening is None:
            return self._true_ones()
        chosen = opening
        if places:
            chosen = self._last_word(places)
            if chosen is None or (opening and opening.letters != chosen.letters):
                return None
        return chosen.letters if chosen and self._stands(chosen) else None

    def _places(self, opening: _Place | None) -> list[_Place]:
        labelled = sorted(set(self._labelled()))
        spans = [*labelled, *([opening] if opening else [])]
        own = [p for p in self._own_lines() if not any(s.start <= p.start < s.end for s in spans)]
        return [*labelled, *own]

    def letters_mentioned(self) -> set[str]:
        return {match["letter"] for match in _MENTION.finditer(self.text)}

    def quoted(self, raw: str) -> frozenset[str] | None:
        """The one option whose text the reply quotes, if it names no other and denies nothing."""
        named = set(regex.findall(_TEXT, self.text))
        if len(named) != 1 or set(_QUOTED.findall(raw)) != named:
            return None
        if _UNCERTAIN.search(self.text) or _ASIDE.search(self.text) or "?" in self.text:
            return None
        return frozenset(self._key(mark) for mark in named)

    def _key(self, mark: str) -> str:
        return self.keys[ord(mark) - _MASK]

    def _at(self, start: int, strict: bool, lower: bool = False) -> _Place | None:
        """The letters, 'all of the above' or the option's text that stand at a position."""
        every = _EVERY.match(self.text, start)
        if every and self.several:
            return _Place(start, every.end(), frozenset(self.keys))
        match = (_LIST_OPENS if start == 0 else _LIST_STRICT if strict else _LIST).match(
            self.text, start
        )
        if match is None and (lower or start == 0):
            match = _LIST_LOWER.match(self.text, start)
        if match:
            letters = self._letters(match)
            return _Place(start, match.end(), letters) if letters else None
        match = _WHOLE_TEXT.match(self.text, start)
        return (
            _Place(start, match.end(), frozenset(self._key(match[1])), text=True) if match else None
        )

    def _letters(self, match: regex.Match[str]) -> frozenset[str]:
        """The letters of a list; empty where one is no option's or has another option's text."""
        found: set[str] = set()
        for run, own in zip(match.captures("letters"), match.captures("own"), strict=True):
            letters = run.translate(_LOOK_ALIKE).upper()
            ascending = list(letters) == sorted(set(letters))
            if len(run) > 1 and (not ascending or own or run in _WORDS or self._short_for(letters)):
                return frozenset()
            if not set(letters) <= set(self.keys) or (own and self._key(own) != letters):
                return frozenset()
            if any(
                _plain(text) == letters.lower() != key.lower() for key, text in self.options.items()
            ):
                return frozenset()
            found.update(letters)
        if "\n" in match[0].strip():  # one letter to a line: a list, or answers to more questions?
            runs = [run for run, _ in groupby(match.captures("letters"))]
            return frozenset(found) if runs == sorted(set(runs)) else frozenset()
        return frozenset(found)

    def _short_for(self, letters: str) -> bool:
        return any(
            letters == "".join(word[0] for word in regex.findall(r"\p{L}+", text)).upper()
            or letters in regex.findall(r"\p{L}+", text)
            for text in self.options.values()
        )

    def _opening(self) -> _Place | None:
        place = self._at(0, strict=False)
        if place is None:
            return None
        heads = regex.findall(
            r"(?:^|\n|[.;。] ?)(?:[-•] ?)?\(?([A-H])(?:[.):、]|[ ]?[-–—])", self.text[place.end :]
        )
        if heads and heads[0] > max(place.letters):
            return None
        listed = place.letters == frozenset(self.keys) and "\n" in self.text[: place.end]
        return None if listed or len(place.letters) == 0 else place

    def _own_lines(self) -> Iterator[_Place]:
        """Letters that stand alone on the last line."""
        start = self.text.rfind("\n") + 1
        heads = regex.search(r"(?:^|\n)\(?[A-H] ?[.):、—–-]", self.text[:start])
        if heads and regex.search(rf"{_TEXT}|[A-H] ?[.):、]", self.text[start:]):
            return
        place = self._at(start, strict=True) if start else None
        if place and regex.fullmatch(r"[\s.)\]。]*", self.text[place.end :]):
            yield place

    def _labelled(self) -> Iterator[_Place]:
        for pattern, final, loose in _LABELS:
            for match in pattern.finditer(self.text):
                if self._denied(match.start()):
                    continue
                place = self._at(
                    match.end(),
                    strict=not loose,
                    lower=match[0].rstrip().endswith(":"),
                )
                if place:
                    yield place._replace(final=final, named=loose)
                elif loose and _MENTION.search(self.text[match.end() :][:40].split("\n")[0][:15]):
                    yield _Place(match.start(), match.end(), frozenset())
        for match in _STATED[0].finditer(self.text):
            letters = self._letters(match)
            if letters and not self._denied(match.start()):
                yield _Place(match.start(), match.end(), letters, named=True)

    def _denied(self, start: int) -> bool:
        clause = regex.split(r"[.!?,;:\n。、]", self.text[max(0, start - 500) : start])[-1]
        sentence = regex.split(r"[.!?\n。;]", self.text[max(0, start - 500) : start])[-1]
        return any(p.search(clause) for p in (_UNCERTAIN, _BAD_BEFORE)) or bool(
            _MAYBE.search(sentence)
        )

    def _last_word(self, places: list[_Place]) -> _Place | None:
        last = places[-1]
        if not last.letters:
            return None
        final = [place for place in places if place.final]
        if final:
            return final[-1] if final[-1].letters == last.letters else None
        if {place.letters for place in places if place.letters} == {last.letters}:
            return last
        before = regex.split(r"[.!?。\n]", self.text[: last.start])[-1]
        return last if last.named and _CONCLUSIVE.search(before) else None

    def _stands(self, place: _Place) -> bool:
        """Whether nothing after the letters takes them back, adds to them or asks."""
        after = self.text[place.end :]
        if len(place.letters) == len(self.keys) > 2 and not self.several:
            return False
        if place.text and self._other_texts(after, place.letters):
            return False
        if regex.match(r"(?i:[\s.,;:—–-]*(?:no|non|нет|いいえ)\b)", after):
            return False
        if _OR.match(after) or _CORRECTION.search(after) or _ALSO.search(after):
            return False
        tail = regex.split(r"(?<=[.!?])\s|[。\n]", regex.sub(r"^[ .):—–-]*", "", after))[0]
        sentence = regex.split(r"[.!。\n]", self.text[: place.start])[-1]
        if tail.rstrip().endswith("?") or _NONE.search(sentence) or _NONE.search(tail):
            return False
        others = {match["letter"] for match in _MENTION.finditer(tail)} - place.letters
        wrong = _WRONG_RE.search(tail)
        if (
            wrong
            and not others
            and not regex.search(rf"\b(?i:{_BECAUSE})\b", tail[: wrong.start()])
        ):
            return False
        return not others or bool(_ASIDE.search(tail))

    def _other_texts(self, after: str, letters: frozenset[str]) -> bool:
        others = [key for key in self.keys if key not in letters and _plain(self.options[key])]
        marks = "".join(chr(_MASK + self.keys.index(key)) for key in others)
        words = "|".join(regex.escape(_plain(self.options[key])) for key in others)
        return bool(regex.search(rf"[{marks}]|(?i:\b(?:{words})\b)", after)) if others else False

    def _true_ones(self) -> frozenset[str] | None:
        """The options said to be true, if no other option is mentioned."""
        found: set[str] = set()
        for match in _STATED[1].finditer(self.text):
            if self._denied(match.start()) or not self._letters(match):
                return None
            place = _Place(match.start(), match.end(), self._letters(match))
            if not self._stands(place):
                return None
            found |= place.letters
        return frozenset(found) if found and self.letters_mentioned() <= found else None


def _plain(text: str) -> str:
    """A text without case, outer punctuation and spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return regex.sub(r"\s+", " ", regex.sub(r"^[^\p{L}\p{N}]+|[^\p{L}\p{N})]+$", "", text))


def _one_form(reply: str, options: Mapping[str, str]) -> tuple[str, str] | None:
    """The reply in one form, option texts masked, with and without markup; None if only thoughts."""
    visible = regex.sub(r"[\p{Cf}\p{Co}\u00ad]", "", unicodedata.normalize("NFKC", reply))
    said = without_thinking(visible)
    if said is None:
        return None
    text = said.replace("’", "'").replace("‘", "'")
    text = _NEXT.sub("", text.strip("\n") if not _NEXT.match(text) else "")
    edge = r"\p{Latin}\p{Cyrillic}\p{N}"
    native = rf"(?<![{edge}])[A-HАВСЕ]+(?![{edge}])"
    if regex.search(rf"(?<!витамин\w* )(?<![{edge}])[БГД](?![{edge}])", text):
        return None
    marks = {key: chr(_MASK + number) for number, key in enumerate(sorted(options))}
    plains = [_plain(option) for option in options.values()]
    for key, option in sorted(options.items(), key=lambda pair: -len(pair[1])):
        plain = _plain(option)
        if not plain or plains.count(plain) > 1:
            continue
        if len(plain) < 4 and not regex.search(r"[\p{Han}\p{Hiragana}\p{Katakana}]{2}", plain):
            if not regex.fullmatch(r"[a-hавсе]+", plain) or list(plain) != sorted(set(plain)):
                alone = (
                    rf"(?<=(?:^|\n|[.:)(])[ ]*)(?i:{regex.escape(plain)})(?=[ ]*(?:[.!。)]|$|\n))"
                )
                text = regex.sub(alone, marks[key], text)
            continue
        words = r"\s+".join(regex.escape(word) for word in plain.split(" "))
        text = regex.sub(
            rf"(?<![\p{{Latin}}\p{{Cyrillic}}\p{{N}}])(?i:{words})(?![\p{{Latin}}\p{{Cyrillic}}\p{{N}}])",
            marks[key],
            text,
        )
    text = regex.sub(
        native, lambda m: m[0] if m[0] in _WORDS else m[0].translate(_LOOK_ALIKE), text
    )
    raw = text = text.replace("，", ",").replace("：", ":")
    for pattern, into in _CLEAN:
        text = pattern.sub(into, text)
    return raw, text.strip()
