"""Read Yes or No out of a model's reply, in any of the four languages; never guess.

The published reader took every reply that contains the letters n-o for No ('Unknown', 'I do not
know', 'Sí, pero no siempre'). Here a verdict counts only in a place where a verdict stands:

* a Yes or No (in any of the languages) that opens the reply, stands alone on a line or as the
  last sentence, or follows a label ('Answer:', 'mi respuesta es', 'therefore');
* where there is none, a sentence that as a whole says whether the answer is correct.

A reply that says both, hedges, refuses, asks or says neither is unknown (None), and so is every
form not foreseen: an unknown is counted beside the score, a wrong guess would hide in it. To add
a language, add its forms to the tables.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

YES, NO = 1, 0

_WORDS = {
    YES: "yes|yeah|yep|haan|han|sí|si|是的?|जी,? ?(?:हाँ|हां)|हाँ|हां|हा|जी",
    NO: "no|nope|nahi|nahin|否|不|不是的?|जी,? ?(?:नहीं|नही)|नहीं|नही|ना",
}
_YES = _WORDS[YES] + (
    "|correct|right|true|accurate|correct[oa]|verdader[oa]|ciert[oa]|acertad[oa]|"
    "[对對]的?|正[确確]的?|准确|[没沒][错錯]|सही"
)
_NO = _WORDS[NO] + (
    "|not (?:correct|right|true|accurate)|incorrect|wrong|false|inaccurate|"
    "incorrect[oa]|fals[oa]|equivocad[oa]|erróne[oa]|"
    "不[对對]|[并並]?不正[确確]|[错錯][误誤]?[的了]?|不准确|गलत"
)
_WORD = r"\p{L}\p{M}\p{N}"
_EDGE = rf"[^{_WORD}]+"
_AGAIN = rf"(?:{_EDGE}|{_EDGE}(?:and|y){_EDGE}|(?<=[是对對错錯])(?=[是对對错錯]))"
_BARE = {
    value: regex.compile(rf"(?:{words})(?:{_AGAIN}(?:{words}))*")
    for value, words in ((YES, _YES), (NO, _NO))
}
# What may follow a verdict that opens a reply; 'Si el paciente' and 'No idea' are none.
_BREAK = r"(?=\s*(?:$|[,.:;!?()।。、…—–\n]|\p{So})|\s+-\s)"
_OPENING = {
    value: regex.compile(rf"(?:{words}){_BREAK}") for value, words in ((YES, _YES), (NO, _NO))
}
_JOIN = r"\s*(?:/|\||,|、|\b(?:and|or|y|o|u)\b|或者?|या|और)\s*"
_BOTH = regex.compile(rf"(?:(?:{_YES}){_JOIN}(?:{_NO})|(?:{_NO}){_JOIN}(?:{_YES})){_BREAK}")

# Right after a verdict these take it back: hedges, refusals, offers, thanks.
_TAKEN_BACK = regex.compile(
    rf"(?:(?:{_YES}|{_NO})\s*[,.:;!—–-]\s*)+(?:"
    r"but\b|however\b|although\b.{0,30}\bnot\b|only (?:if|when|partly)|and no\b|thank|"
    r"(?:i|we) (?:can(?:not|'t| not)? |could(?: not|n't) |am (?:not|unable)|won't |will )|"
    r"i (?:understand|see\b(?! nothing))|i'll |got it|lekin|"
    r"i'm (?:not able|unable|sorry)|sorry|(?:as|because|since) an ai|happy to|let me|"
    r"pero\b|aunque no\b|gracias|entiendo|entendido|"
    r"(?:lo siento,? )?(?:no )?(?:puedo|podemos|podría)\b|claro,? ¿|"
    r"但|不过|可是|然而|(?:我|我们)?(?:无法|不能|没法|沒法|可以|很抱歉|抱歉|会|明白)|明白|谢谢|"
    r"लेकिन|मगर|पर |परंतु|किंतु|हालाँकि|धन्यवाद|क्षमा|माफ|"
    r"मैं समझ|मैं .{0,40}(?:नहीं (?:दे|कर|बता|कह) सक|मदद कर सक|सकता हूँ|सकती हूँ|नहीं हूँ))"
)
# A reply that says this anywhere commits to nothing.
_REFUSAL = regex.compile(
    r"\b(?:can't|cannot|can not|unable to|not able to|not in a position to) (?:\w+ )?"
    r"(?:judge|say|tell|answer|verify|assess|comment|evaluate|determine|confirm)\b|"
    r"\bno (?:puedo|podría|podemos|me es posible|dispongo|me corresponde)\b|"
    r"(?:无法|無法|不能|没法)(?:判断|判斷|评估|回答|确认|核实|给出)|राय (?:नहीं )?दे"
)
# A reply that goes on to say the opposite of its verdict commits to nothing either.
_AGAINST = {
    YES: regex.compile(
        r"\b(?:answer|response)\b[^.;]{0,25}\b"
        r"(?:incorrect|wrong|inaccurate|not (?:correct|right|accurate))\b|"
        r"\brespuesta\b[^.;]{0,25}\b(?:incorrecta|errónea|equivocada|falsa|no es correcta)\b|"
        r"(?:回答|答案)[^。；,]{0,10}(?:错误的?(?:。|$|,)|不正[确確]|不[对對](?:。|$|,))|"
        r"(?:उत्तर|जवाब)[^।]{0,15}(?:गलत(?! नहीं)|(?:सही|ठीक) नहीं)|\bbut\b.{0,20}\bno\b"
    ),
    NO: regex.compile(
        r"\b(?:answer|response) (?:is|seems|looks) (?:\w+ly )?(?:correct|right|accurate)\b|"
        r"\brespuesta es (?:\w+mente )?correcta\b|\bbut\b.{0,20}\byes\b|"
        r"(?:回答|答案)(?:其实|确实)?是?(?:正[确確]|[对對])的|(?:उत्तर|जवाब) सही है"
    ),
}
_ELSE = regex.compile(
    rf"(?:\botherwise|\belse|\bde lo contrario|否则|अन्यथा|नहीं तो),?\s*(?:(?P<yes>{_WORDS[YES]})|(?P<no>{_WORDS[NO]}))\b"
)
# An English Yes or No that ends a Chinese or Hindi reply is the word that was asked for.
_FINAL = regex.compile(
    r"[\p{Han}\p{Devanagari}][^\n]*?(?<!(?:不是|或|或者|和|还是|या|और|नहीं|or|/)\s?)"
    r"(?<![a-z])(?P<word>yes|no)(?: है)?[.。!！।\s]*$"
)
_NOUN = (
    r"(?:answer|verdict|response|reply|result|conclusion|judge?ment|evaluation|assessment|"
    r"respuesta|veredicto|resultado|conclusión|evaluación|valoración|juicio|"
    r"答案|答|回答|结论|結論|判断|判定|结果|答复|评估|评价|"
    r"उत्तर|जवाब|निष्कर्ष|निर्णय|फैसला|मूल्यांकन)"
)
# After one of these a verdict follows: a label, or a conclusion mark.
_MARK = regex.compile(
    rf"(?:{_NOUN}(?:(?: |\b)[^:.,;\n]{{0,20}})?\s*[:：—–]|^a\s*:|{_NOUN}(?: final)? -|"
    r"\b(?:therefore|thus|hence|so)\b,?|\bpor (?:lo )?tanto\b|\ben conclusión\b|因此|所以|综上(?:所述)?|"
    r"इसलिए|अतः)\s*[:,]?\s*",
    regex.M,
)
# After one of these only a Yes or No does: 'the answer is correct' may be part of anything.
_IS = {
    value: regex.compile(
        rf"(?:\b(?:my|the|mi|la|final) {_NOUN} (?:is|es) |(?:我的|最终|该|应)?{_NOUN}应?[是为]\s*|"
        r"\bi(?: would|'d)(?: have to)? say |"
        rf"(?:मेरा|अंतिम) {_NOUN} )(?:{words})(?:{_BREAK}| है)"
    )
    for value, words in _WORDS.items()
}

_UNSURE = regex.compile(
    r"\b(?:know|tell|say|determine|judge|sure|certain|clear|unsure|unclear|whether|if|maybe|"
    r"perhaps|might|may|possibly|neither|somewhat|mostly|largely|generally|depend\w*|hard to)\b|"
    r"\bpart(?:ly|ially)\b|\bin part\b|\bnot (?:entirely|fully|completely|quite|always|totally)\b|"
    r"\b(?:sé|segur[oa]|si|parcial\w*|depende|quizás?|tal vez|puede|podría|ni|difícil|aunque)\b|"
    r"\ben parte\b|\bno (?:del todo|siempre|es del todo)\b|"
    r"不知道|确定|確定|清楚|无法|無法|不能|不好说|难说|难以|未必|不一定|部分|一半|可能|也许|或许|如果|"
    r"视.{0,6}而定|看情况|取决于|是否|对不对|對不對|是不是|正不正确|既.{1,8}又|不完全|不太|不够|基本|大致|大体|"
    r"शायद|आंशिक|निर्भर|हो सकता|पता|मालूम|यकीन|निश्चित|मुश्किल|कह|कुछ|हद तक|पूरी तरह.{0,6}नहीं|"
    r"यदि|अगर|या नहीं|या गलत|^\s*ठीक है"
)

# Sentences that as a whole say whether the answer is correct. {0}: a negation, if any.
_ADJECTIVE = {
    "en": ("correct|right|accurate|true", "incorrect|wrong|false|inaccurate"),
    "es": (
        "correct[oa]|ciert[oa]|acertad[oa]|verdader[oa]",
        "incorrect[oa]|fals[oa]|equivocad[oa]|erróne[oa]",
    ),
    "zh": ("正[确確]|[对對]|准确", "[错錯][误誤]?|有误"),
    "hi": ("सही|ठीक|सत्य", "गलत|असत्य"),
}
_ABOUT = regex.compile("|".join([_NOUN, *(word for pair in _ADJECTIVE.values() for word in pair)]))
_TAIL = r"(?:\s*[,:;—–(].*|\s*(?:because|since|as|porque|ya que|pues|因为|क्योंकि)\b.*)?[.!।。！\s]*"
_SENTENCE = {
    "en": r"(?:(?:yes|no|indeed|overall|so)\s*,\s*)?(?:in my (?:opinion|view),? )?"
    r"(?P<doubt>(?:i|we) (?:do not|don't) (?:think|believe|consider)(?: that)? )?"
    r"(?:(?:i|we) (?:think|believe|would say|find|consider|agree)(?: that)? )?"
    r"(?:(?:the|this|that|your)(?: given| provided| above)?(?: answer| response| reply| statement)?"
    r"(?: (?:to|for|given).{{0,40}}?)?|it) ?(?:is|'s|seems|appears to be|looks)"
    r"(?P<not> not|n't)?(?: \w+ly| indeed| quite)?(?: the| a)? (?P<adj>{0})"
    r"(?: answer| response)?",
    "es": r"(?:(?:sí|no|así es|en efecto|efectivamente)\s*,\s*)?(?:en mi opinión,? |a mi juicio,? )?"
    r"(?P<doubt>no (?:creo|considero|pienso) que )?"
    r"(?:creo que |considero que |pienso que |no cabe duda de que |sin duda,? )?"
    r"(?:(?:la|esta|su|dicha) (?:respuesta|afirmación)(?: dada| proporcionada)? )?"
    r"(?P<not>no )?(?:es|está|sea|parece|resulta)(?: \w+mente)?(?: una respuesta| la)? (?P<adj>{0})",
    "zh": r"(?:(?:是的?|不是?|[没沒][错錯])\s*,\s*)?(?:我(?P<doubt>不)?(?:认为|認為|觉得|覺得) ?)?"
    r"(?:毫无疑问,? ?)?(?:(?:这个|這個|该|此|上述)?(?:回答|答案)|这|那)?是?(?P<not>[并並]?不是?)?"
    r"(?:是|完全|非常|很|十分|其实|确实)*(?P<adj>{0})(?:无误)?的?了?",
    "hi": r"(?:(?:हाँ|हां|हा|नहीं|जी हाँ|जी नहीं)\s*,\s*)?(?:मेरे विचार (?:से|में),? |मेरी राय में,? )?"
    r"(?:मुझे (?P<doubt>नहीं )?लगता(?: है)? कि )?(?:(?:यह|ये|दिया गया|उपरोक्त) )*(?:(?:उत्तर|जवाब) )?"
    r"(?:बिल्कुल |पूरी तरह (?:से )?|एकदम )?(?P<adj>{0})(?: (?:उत्तर|जवाब))?(?P<not> नहीं| नही)?(?: है)?",
}
_STATEMENTS = [
    (value, regex.compile(_SENTENCE[code].format(adjectives[value == NO]) + _TAIL))
    for code, adjectives in _ADJECTIVE.items()
    for value in (YES, NO)
]
_BUT = regex.compile(
    r"[,;—–]\s*(?:but|however|though|although|pero|aunque|但|不过|可是|लेकिन|मगर|पर )"
)

_INVISIBLE = regex.compile(r"[\p{Cf}\u00ad]")
_MARKUP = regex.compile(
    r"[*_`#>\"“”„«»「」『』【】\[\]{}¿¡]|^[\s\-•·]+|^\d+[.)]\s+|\\boxed|\\text", regex.M
)
_THINKING = regex.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", regex.S)
_OPEN_THINKING = regex.compile(r"</?think(?:ing)?>")
_SPECIAL = regex.compile(r"<\|[^|<>]{1,40}\|>|</?\w{1,10}>")
# A base model goes on with the next case, of its own making.
_NEXT_CASE = regex.compile(
    r"\n\s*(?:question|pregunta|问题|問題|प्रश्न|user|human|usuario|用户|उपयोगकर्ता)\s*:.*", regex.S
)


def read_verdict(reply: str) -> int | None:
    """1 for Yes, 0 for No, None where the reply commits to neither.

    Args:
        reply: What the model said: a word, a sentence, several lines, in any of English,
            Spanish, Chinese or Hindi, whatever was asked for.

    Returns:
        The verdict, or None (unknown).
    """
    text = _one_form(reply)
    if text is None or not regex.search(rf"[{_WORD}]", text):
        return None
    text = text.strip(" \n")
    if _BOTH.match(_unlabelled(text)) or _TAKEN_BACK.match(_unlabelled(text)):
        return None
    if _REFUSAL.search(text):
        return None
    explicit = set(_explicit(text))
    if len(explicit) == 1:
        verdict = explicit.pop()
        return None if _contradicted(text, verdict) else verdict
    return None if explicit else _stated(text)


def _contradicted(text: str, verdict: int) -> bool:
    """Whether the reply says the opposite elsewhere, as a word of its own or as a statement."""
    if _AGAINST[verdict].search(text):
        return True
    for clause in regex.split(r"[,.;:!?।。、！？…—–\n]+", text):
        if _bare(clause) == 1 - verdict:
            return True
        for value, pattern in _STATEMENTS:
            match = pattern.fullmatch(clause.strip())
            if match and (value != (bool(match["not"]) != bool(match["doubt"]))) != verdict:
                return True
    return False


def _explicit(text: str) -> Iterator[int]:
    """Verdict words in the places where a verdict stands."""
    lines = [line for line in (line.strip() for line in text.split("\n")) if line]
    opening = _opening(lines[0])
    if opening is not None:
        yield opening
    marked = [_opening(text[match.end() :]) for match in _MARK.finditer(text)]
    found = [value for value in marked if value is not None]
    found += [value for value, pattern in _IS.items() if pattern.search(text)]
    if opening is None:
        yield from set(found)
    for line in (lines[0], lines[-1]):
        bare = _bare(line)
        if bare is not None:
            yield bare
    for match in _ELSE.finditer(text):
        yield YES if match["yes"] else NO
    final = _FINAL.search(lines[-1])
    if final is not None and not _both_words(lines[-1]):
        yield YES if final["word"] == "yes" else NO
    sentences = _sentences(lines[-1])
    if len(sentences) > 1 and opening is None:
        before, last = sentences[-2], _bare(sentences[-1])
        about_it = regex.search(r"correct|right|正[确確]|[对對]吗|सही", before)
        if last is not None and (about_it or not before.endswith(("?", "？"))):
            yield last


def _both_words(line: str) -> bool:
    return all(regex.search(rf"(?<![a-z]){word}(?![a-z])", line) for word in ("yes", "no"))


def _opening(text: str) -> int | None:
    """The verdict that opens a text, unless what follows takes it back or asks."""
    text = regex.sub(rf"^{_EDGE}", "", text)
    if _BOTH.match(text) or _TAKEN_BACK.match(text):
        return None
    for value, pattern in _OPENING.items():
        match = pattern.match(text)
        if match:
            first = _sentences(text.split("\n")[0])[0]
            return None if first.rstrip().endswith(("?", "？")) else value
    return _bare(text.split("\n")[0])


def _bare(text: str) -> int | None:
    """The value of a text that is nothing but a verdict, perhaps with a label before it."""
    text = regex.sub(rf"^{_EDGE}|{_EDGE}$", "", text)
    for candidate in (text, _unlabelled(text)):
        candidate = regex.sub(r"\s+है$", "", candidate)
        for value, pattern in _BARE.items():
            if pattern.fullmatch(candidate):
                return value
    return None


def _stated(text: str) -> int | None:
    """What the sentences say about the answer, if they agree and none is unsure."""
    said = set()
    for sentence in _sentences(" ".join(text.split("\n"))):
        if sentence.rstrip().endswith(("?", "？")):
            return None
        if _UNSURE.search(sentence) and _ABOUT.search(sentence):
            return None
        for value, pattern in _STATEMENTS:
            match = pattern.fullmatch(_unlabelled(sentence.strip()))
            if match:
                if _BUT.search(sentence):
                    return None
                turned = bool(match["not"]) != bool(match["doubt"])
                said.add(1 - value if turned else value)
    return said.pop() if len(said) == 1 else None


def _sentences(text: str) -> list[str]:
    parts = regex.split(r"(?<=[.!?।。！？])\s+|(?<=[。！？।])|(?<=:)\s+(?=\S+$)", text)
    return [part for part in parts if part.strip()] or [""]


def _unlabelled(text: str) -> str:
    match = _MARK.match(text)
    return text[match.end() :] if match and match.end() else text


def _one_form(reply: str) -> str | None:
    """The reply in lower case and compatibility forms, without markup; None if only thoughts."""
    text = unicodedata.normalize("NFKC", reply).casefold().replace("’", "'").replace("‘", "'")
    text = _THINKING.sub(" ", _INVISIBLE.sub("", text))
    if _OPEN_THINKING.search(text):
        return None
    text = _NEXT_CASE.sub("", _SPECIAL.sub(" ", text))
    text = unicodedata.normalize("NFC", text).replace("\u093c", "")  # nukta: ग़लत and गलत are one
    text = _MARKUP.sub(" ", text)
    return regex.sub(r"[^\S\n]+", " ", text.replace("，", ",").replace("：", ":"))
