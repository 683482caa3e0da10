"""Read Yes or No out of a model's reply, in any of the four languages; never guess.

A reply that says both, hedges, refuses, asks or says neither is unknown (None). The published
reader took every reply that contains the letters n-o for No ('Unknown', 'I do not know', 'Sí,
pero no siempre'); here a verdict is a word of its own or a statement about the answer.

The reader brings the reply into one form, looks for its verdict passage (after a conclusion
mark, else the first line, else the last one, else the whole) and matches that against the tables
below. To add a language, add its forms to the tables.
"""

from __future__ import annotations

import unicodedata

import regex

YES, NO = 1, 0

_YES = (
    "yes|yeah|yep|correct|right|true|accurate|"
    "sí|si|correct[oa]|verdader[oa]|ciert[oa]|acertad[oa]|"
    "是的?|(?:对|對)的?|正[确確]的?|准确|[没沒]错|[没沒]錯|"
    "जी,? ?(?:हाँ|हां)|हाँ|हां|हा|जी|सही|ठीक|haan|han"
)
_NO = (
    "no|nope|not (?:correct|right|true|accurate)|incorrect|wrong|false|inaccurate|incorrect[oa]|"
    "fals[oa]|equivocad[oa]|erróne[oa]|否|不|不是的?|不[对對]|(?:并|並)?不正[确確]|[错錯][误誤]?[的了]?|"
    "不准确|जी,? ?(?:नहीं|नही)|नहीं|नही|ना|गलत|nahi|nahin"
)
_EDGE = r"[^\p{L}\p{M}\p{N}]+"
_SAME = rf"(?:{_EDGE}|{_EDGE}(?:and|y){_EDGE}|(?<=[是对對错錯])(?=[是对對错錯]))"
_EITHER = r"\s*(?:/|\||,|、|\band\b|\bor\b|\by\b|\bo\b|\bu\b|或者?|या|और)\s*"

_BARE = {
    YES: regex.compile(rf"(?:{_YES})(?:{_SAME}(?:{_YES}))*"),
    NO: regex.compile(rf"(?:{_NO})(?:{_SAME}(?:{_NO}))*"),
}
_BOTH = regex.compile(rf"(?:{_YES}){_EITHER}(?:{_NO})|(?:{_NO}){_EITHER}(?:{_YES})")
# A verdict that opens a reply is set off by a mark; 'Si el paciente' and 'No idea' are not.
_LEADING = {
    YES: regex.compile(rf"(?:{_YES})\s*[,.:;!।。，；：！—–]"),
    NO: regex.compile(rf"(?:{_NO})\s*[,.:;!।。，；：！—–]"),
}
_OPENING = rf"(?:(?:{_YES}|{_NO})\s*[,.:;!]\s*)?"
# Right after a leading verdict these take it back.
_TAKEN_BACK = regex.compile(
    rf"{_OPENING}(?:"
    r"but not always|but only (?:partly|partially|in part)|and no\b|"
    r"(?:i|we) (?:cannot|can not|can't|could not|couldn't|am not able|am unable|won't) |"
    r"pero no (?:siempre|del todo|completamente)|"
    r"(?:lo siento,? )?no (?:puedo|podemos|podría) |"
    r"但(?:是)?(?:并)?不(?:总|一定|完全|全)|但(?:是)?(?:只|仅)?(?:有)?部分|"
    r"(?:我|我们)?(?:无法|不能|没法|沒法)(?:回答|判断|提供|确定)|"
    r"(?:लेकिन|पर|मगर) (?:हमेशा|पूरी तरह)(?: से)? नहीं|"
    r"मैं .{0,40}नहीं (?:दे|कर|बता|कह) सक)"
)
_UNSURE = regex.compile(
    r"\b(?:do not|don't|cannot|can't|can not|could not|couldn't) (?:know|tell|say|determine|judge)|"
    r"\bnot (?:\w+ )?(?:sure|certain|clear)|\bunsure|\bunclear|\bwhether\b|\bif the answer\b|"
    r"\bpart(?:ly|ially)\b|\bin part\b|\bdepend(?:s|ing)?\b|\bmaybe\b|\bperhaps\b|\bmight be\b|"
    r"\bmay be\b|\bpossibly\b|\bhard to say\b|\bneither\b|\bsomewhat\b|\bmostly\b|"
    r"\bno (?:lo )?s[eé]\b|\bno estoy segur|\bno se puede\b|\bno puedo\b|\bparcial|\ben parte\b|"
    r"\bdepende\b|\bquizás?\b|\btal vez\b|\bpuede (?:que|ser)\b|\bni sí\b|\bno está claro|"
    r"\bdifícil de? decir|"
    r"不知道|不确定|不確定|不清楚|无法|無法|不能|不好说|难说|难以|未必|不一定|部分|一半|可能|也许|或许|"
    r"视.{0,6}而定|看情况|取决于|是否|对不对|對不對|是不是|正不正确|既.{1,8}又|"
    r"शायद|आंशिक|निर्भर|हो सकता|पता नहीं|नहीं पता|नही पता|नहीं मालूम|यकीन नहीं|निश्चित नहीं|"
    r"कहना मुश्किल|कह नहीं सक|कुछ (?:हद तक|सही)|(?:सही|ठीक) है या (?:नहीं|गलत)"
)
_SAYS = {
    NO: regex.compile(
        r"(?:\bnot|n't)(?: \w+){0,7}? (?:correct|right|accurate|true)\b|"
        r"\b(?<!nothing )(?<!not )(?:incorrect|wrong|inaccurate|false)\b|"
        r"\bno (?:creo|considero|pienso)\b.{0,60}?\b(?:correct|ciert|acertad|verdader)|"
        r"\bno (?:es|está|era|parece|sea)(?: \w+){0,3}? (?:correct|ciert|acertad|verdader|precis)|"
        r"\bincorrect[oa]s?\b|\bequivocad[oa]\b|\berróne[oa]\b|\bfals[oa]\b|"
        r"不认为.{0,20}?(?:正确|对|准确)|不(?:是|太|很|够|完全)*(?:正[确確]|对|對|准确)|(?<!没有)(?<!没)[错錯]|有误|"
        r"(?:सही|ठीक|सत्य) (?:उत्तर |जवाब )?(?:नहीं|नही)|गलत(?! नहीं)|"
        r"नहीं (?:लगता|मानता|मानती).{0,40}?(?:सही|ठीक)"
    ),
    YES: regex.compile(
        r"(?:\b(?:is|are|was|be|seems|looks|sounds)|'s) (?:\w+ly )?(?:the )?"
        r"(?:correct|right|accurate|true)\b|"
        r"\b(?:es|está|parece|sea)(?: \w+mente)? (?:la )?"
        r"(?:correct[oa]|ciert[oa]|acertad[oa]|verdader[oa])\b|"
        r"(?<!不)是(?:完全|基本)?(?:正[确確]|对|對|准确)|(?:回答|答案)(?:完全)?(?:正[确確]|准确)|[没沒]有?[错錯]|"
        r"(?:सही|ठीक|सत्य)(?: उत्तर| जवाब)? (?:है|हैं|लगता|लगती)"
    ),
}

_INVISIBLE = regex.compile(r"[\p{Cf}\u00ad]")
_MARKUP = regex.compile(
    r"[*_`#>\"“”„«»「」『』【】\[\](){}]|^[\s\-•·]+|^\d+[.)]\s+|\\boxed", regex.M
)
_THINKING = regex.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", regex.S)
_OPEN_THINKING = regex.compile(r"</?think(?:ing)?>")
_SPECIAL = regex.compile(r"<\|[^|<>]{1,40}\|>|</?\w{1,10}>")
# A base model goes on with the next case, of its own making.
_NEXT_CASE = regex.compile(
    r"\n\s*(?:question|pregunta|问题|問題|प्रश्न|user|human|usuario|用户|उपयोगकर्ता)\s*:.*", regex.S
)
_NOUN = (
    r"(?:answer|verdict|response|reply|result|conclusion|judge?ment|assistant|a|respuesta|veredicto|"
    r"resultado|conclusión|答案|回答|结论|結論|判断|判定|结果|答复|उत्तर|जवाब|निष्कर्ष|निर्णय|फैसला)"
)
_LABEL = regex.compile(
    rf"^(?:(?:the|my|final|la|mi|最终|最終|मेरा|अंतिम)\s*)*{_NOUN}\s*(?:final)?\s*"
    r"(?:(?:is|es|是|为|है)?\s*[:—–\-]\s*|(?: is| es|是| है)? (?=\S+$)|\s(?=\S+\s+है$))"
)
_CONCLUSION = regex.compile(
    rf"(?:\btherefore|\bthus|\bhence|\bso,|\bpor (?:lo )?tanto|\ben conclusión|"
    rf"因此|所以|综上(?:所述)?|"
    rf"इसलिए|अतः|{_NOUN}\s*(?:final)?\s*(?:is|es|是|为|है)?\s*:)[\s,:]*"
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
    if text is None:
        return None
    lines = [line for line in (_trim(line) for line in text.splitlines()) if line]
    if not lines:
        return None
    first, last = _bare(lines[0]), _bare(lines[-1])
    if first is not None and last is not None and first != last:
        return None
    if first is not None:
        return first
    concluded = _CONCLUSION.split(text)[-1]
    for passage in (lines[-1] if last is not None else "", concluded, lines[0], " ".join(lines)):
        verdict, decided = _passage(_trim(passage))
        if decided:
            return verdict
    return None


def _passage(text: str) -> tuple[int | None, bool]:
    """The verdict of a passage, and whether it says anything about one at all."""
    bare = _bare(text)
    if bare is not None:
        return bare, True
    stripped = regex.sub(rf"{_EDGE}$", "", text)
    if _BOTH.fullmatch(stripped) or _TAKEN_BACK.match(text):
        return None, True
    for value, leading in _LEADING.items():
        if leading.match(text):
            return value, True
    for sentence in regex.split(r"(?<=[.!?।。！？;；])\s*", text):
        if _UNSURE.search(sentence):
            return None, True
        said = [value for value, pattern in _SAYS.items() if pattern.search(sentence)]
        if said:
            question = sentence.rstrip().endswith(("?", "？"))
            return (said[0] if _agree(said, sentence) and not question else None), True
    return None, False


def _agree(said: list[int], sentence: str) -> bool:
    """Whether a sentence's statements point one way once negated ones are taken out."""
    if len(said) == 1:
        return True
    return not _SAYS[YES].search(_SAYS[NO].sub(" ", sentence))


def _bare(text: str) -> int | None:
    """The value of a text that is nothing but a verdict, perhaps with a label before it."""
    text = regex.sub(rf"^{_EDGE}|{_EDGE}$", "", text)
    for candidate in (text, _LABEL.sub("", text)):
        candidate = regex.sub(r"\s+है$", "", candidate)
        for value, pattern in _BARE.items():
            if pattern.fullmatch(candidate):
                return value
    return None


def _trim(line: str) -> str:
    """A line without a label in front and white space around."""
    return _LABEL.sub("", line.strip()).strip()


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
