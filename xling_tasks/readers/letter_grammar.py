"""The grammar of answers to multiple-choice questions: patterns over rows of token kinds.

The kinds are told in `lexer` and `lexicon`; no pattern here knows a language. `list` is the group
of the letters and texts that answer, `core` and `mark` are a label's noun and its colon or verb.
"""

from __future__ import annotations

import regex

# An item of a list: a letter, perhaps with its own text, or a text.
_OPEN, _CLOSE = r"[(\[]{0,2}+", r"[)\]]{0,2}"
_LETTER = rf"[aoOyAPq]{{0,6}}+{_OPEN}L{_CLOSE}o?(?:(?:[:,\-]?a|[.:,\-]?){_OPEN}T{_CLOSE})?"
_TEXT = rf"[aoOyAPq]{{0,6}}+{_OPEN}T{_CLOSE}(?:[(\[]o?L{_CLOSE}|[:\-]L(?=[np.]|$))?"
_INLINE = r"(?:[,.]{0,2}&|\.?,{1,2}|;(?=[aoO]*L(?:[;.np]|$))|(?<=L)(?=L))"
_ENDS = r"[)\].,;]{0,3}+z?(?:[np]|$)"
_LINES = r"[,.;:]{{0,2}}(?:n|p(?=[^np]{{0,12}}T))[*9]?(?={item}{ends})"


def _list_of(item: str) -> str:
    """Items in a row or one a line; atomic, so that a list is read whole or not at all."""
    lines = _LINES.format(item=item, ends=_ENDS)
    return rf"[*9]?{item}(?:(?:{_INLINE}|{lines}){item}){{0,11}}+"


_LIST = rf"(?>{_list_of(_LETTER)}|{_list_of(_TEXT)})"
# What may follow letters that answer; strictly, after a label, and at the opening of a reply.
_AFTER = r"[)\]zoy]*"
_NOT_THAT = (
    rf"(?=\([^()np]{{0,20}}w[^()np]{{0,6}}\)|[,(]?&?(?:[!0]|u)[aoO]*{_OPEN}(?:L[.:]?[(]?)?[LT][)\]]*"
    r"(?:$|[np.]|,?b))"
)
_REASON = r"(?=,[^.?npLTm]*bz*(?:[.np]|$))"
_STRICT = rf"{_AFTER}(?:$|(?=t+$)|(?=[np.;?])|(?=,?b)|(?=,?C)|{_REASON}|{_NOT_THAT})(?!T)"
_LOOSE = (
    rf"(?:{_STRICT}|{_AFTER}E(?=$|[np.,;])|{_AFTER}[ijyg]*rz*(?=$|[np.,;])"
    rf"|{_AFTER}(?=[,(\[]|-(?!T|L))|(?<=T[)\]]?)(?=:))"
)
_OPENS = rf"(?:{_STRICT}|(?<=[)\]]){_AFTER}(?=U)|{_AFTER}(?=-U))"
_OPENS_TEXT = rf"(?:{_STRICT}|(?<=T[)\]]?)(?=[,:(\-]))"
# A label: an answer noun with what makes it the right one, and a colon or a copula.
_NOUN = r"(?:[afry]*[AP][afroO]*|[afry]*r[af]*[oO][afrA]*|[af]*[oO][af]*r[afr]*|[afr]*f[af]*[oO]?)"
_COLON = r"(?:[ijz]*\]?[:s]+z?|\]|[ij]?-)[np]*"
_BEFORE = r"(?<=^|[.,:;?()\[\]np*9sivzl~E&#-]|[xU](?=[arf]))"
# Labels, and whether a comma may follow the letters after them.
LABELS = [
    (
        regex.compile(
            rf"{_BEFORE}(?P<core>{_NOUN}|(?<=^|[np*9])[ij]?r+|(?<=^|[np*9,])(?:[afr]*[qo]))"
            rf"(?P<mark>{_COLON})"
        ),
        True,
    ),
    (
        regex.compile(
            rf"{_BEFORE}(?P<core>{_NOUN}|(?<=^|[.np*9])a?r+)(?P<mark>[ij]+:?[np]*[ij]?)"
        ),
        True,
    ),
    (regex.compile(r"(?P<core>#)(?P<mark>)"), True),
    (regex.compile(rf"(?<=^|[.?np*]|[ias],?|s,)(?P<core>{_NOUN})(?P<mark>)"), False),
    (regex.compile(r"(?<=^|[.np*])(?P<core>a*[ij])(?P<mark>)"), False),
    (regex.compile(r"(?<=^|[.np*])(?P<core>[ij]?r+(?=[ay]?L))(?P<mark>)"), True),
    (regex.compile(r"(?<!!|h|y|w)(?P<core>c)(?P<mark>:?)"), True),
    (regex.compile(r"(?<!!|h|w)(?P<core>W)(?P<mark>:?)"), False),
    (regex.compile(r"(?<=^|[.,;np*v])(?P<core>s)(?P<mark>[,:]?[ijaoA]*)"), False),
]  # fmt: skip
# 'The false one is C': an answer where the question asks for what is false.
# A line that is nothing but a label heads what follows it ('### Answer').
HEADING = regex.compile(rf"(?:^|(?<=[np]))\*?(?:{_NOUN}|[af]*q)(?=[np])")
# What a label is followed by where it says what the answer is not.
DENIAL = regex.compile(r"[aoOij]*(?:[!0][ijaoO]*\(?[LT]|\(?[LT][)az]*!)")
# A word that takes back what stands before it, at the head of a sentence or clause.
CORRECTION = regex.compile(r"(?:^|(?<=[.,:;?np*(]))[0w]?[,.]?k")
# 'Although B is common, ...', 'Bも多いが、...': what is granted ends at the comma.
GRANTED = regex.compile(
    r"(?:^|(?<=[.;np]))(?:[Vu][^VuAPcs,.;?np]*,|[^VDAPcs,.;?np]*D)(?=[^.?np]*[xU])"
)
FALSE_LABEL = regex.compile(
    rf"{_BEFORE}(?P<core>[afr]*[oOAP]?[af]*w[af]*[oOAP]?)(?P<mark>{_COLON}|[ij]+:?[np]*[ij]?)"
)
STATED = regex.compile(
    rf"(?<=^i?|[.,:;np*s]i|[.,:;np*svb(]|s,)(?={_OPEN}[aoOyAPqLT])(?P<list>{_LIST}){_AFTER},?"
    rf"(?:-?[ij]*[yg,]*[afr]*[AP][afr]*z*|-?[ij]+[yg]*(?:[af]*r+[oO]|[afry]*[oO][afy]*r+)z*|C)"
    r"a*(?=$|[npb.,;:()\-?&])"
)
# 'B best explains the findings' (in Japanese they stand before the verb), 'only B explains'.
EXPLAINS = regex.compile(
    rf"(?<=^|[.,:;np*sa])(?P<list>{_LIST}){_AFTER},?[ij]?[xU]{{0,4}}B"
    r"|y(?P<list>[ao]*L)[ij]?x?[IB]"
)
TRUE = regex.compile(
    rf"(?<=^i?|[.,:;np*s]i|[.,:;np*svb(]|s,)(?={_OPEN}[aoOyAPqLT])(?P<list>{_LIST})"
    rf"{_AFTER}-?[ijyg]*a?r+[oO]?[za]*(?=$|[npb.,;:()\-?])"
)
NOT_BUT = regex.compile(
    rf"(?<=^|[.np*,;]|[AP]i?|[AP]i?a)[ijaoO]*[!0]+[ijaoOAP]*(?P<no>{_LIST})z*,?v"
    rf"(?P<list>{_LIST})(?={_LOOSE})"
    rf"|(?<=^|[.np*,;]|[AP]i|i)(?P<no>{_LIST})v,?(?P<list>{_LIST})(?={_STRICT})"
    rf"|(?<=[AP])[ij]?[!0]+[ijaoO]*(?P<no>{_LIST})[;,.](?=[ai])a?[ij]?(?P<list>{_LIST})(?={_STRICT})"
)
OPENING = regex.compile(rf"(?:t(?=[^tFnp]*$))?(?P<list>{_LIST})(?={_OPENS})")
OPENING_TEXT = regex.compile(rf"(?P<list>{_LIST})(?={_OPENS_TEXT})")
LAST_LINES = regex.compile(rf"(?:^|(?<=[np]))(?P<list>{_LIST})[)\]zo.]*$")
EVERY = regex.compile(rf"[aA]*E(?={_STRICT}|,)")
LISTED = {
    True: regex.compile(rf"(?P<list>{_LIST})(?={_LOOSE})"),
    False: regex.compile(rf"(?P<list>{_LIST})(?={_STRICT})"),
}

# The question asks for what is false: then 'A is true' is no answer.
FALSE_ONE = regex.compile(r"w[af]*[oOAP]?z*[ij]+:?[aoO]*[LT]")

# A verdict on one option, and where it must end.
_MARK = r"(?:(?P<no>[!0]+a?r+|w+|F|0)|(?P<yes>a?r+[oO]?|t|1))"
_END = r"z*(?=$|[npb.,;:()\-~*]|L|T)"
_HEAD = rf"{_OPEN}[oO]?(?:L{_CLOSE}o?(?:[.:\-]*{_OPEN}T{_CLOSE})?|T{_CLOSE})"
# Eight options have letters: no list is longer, and reading stays linear.
_SOME = r"[aoOyAP]{0,6}+L(?:(?:,?&|,|;)[aoO]{0,3}L){1,7}+o?"
ROW_AFTER = regex.compile(rf"[*9]?(?P<head>{_SOME}|{_HEAD})[.:\-,(ijgys]*{_MARK}{_END}")
ROW_BEFORE = regex.compile(rf"[*9]?(?P<mark>[tF])[:\-]?(?P<head>{_HEAD})(?=$|[npb.,;:()\-~*]|[tF])")
HEAD_LINE = regex.compile(
    rf"(?:^|(?<=[np]))[*9]?[tF]?{_OPEN}(?:L{_CLOSE}[.:\-)~]|L{_CLOSE},?T|L\(T|T{_CLOSE}[:\-]|T\(L|[tF]L)"
)

HEAD_INLINE = regex.compile(r"(?<=[.np])[*9]?(?P<head>L)[.:)]+(?P<rest>[xUa][^.np]*)")
# A line that leads to what is said of the other options.
OF_OTHERS = regex.compile(r"(?:[:?][)*]*$|[uw])")
NEGATIVE = regex.compile(r"[w!F0N]")

TAKEN_BACK = regex.compile(r"[)\],;(.\-*z]*(?:&?[|hHl]|[.,;:\-]*0(?![xU]|[aoO]*L)|w(?=[,.;np]|$))")
# A reason for each letter: 'A, because ...; C, because ...; and E, because ...'.
REASON_EACH = regex.compile(rf"(?:[;,]&?|&|[.np][*9]?)[aoO]*{_OPEN}L{_CLOSE}(?:\(T\))?,?b")
OWN_REASON = regex.compile(r"[)\].]*(?:\(T\))?,?b")
# 'Many choose A, but ...' says nothing of what follows.
DOUBT_OF_ANOTHER = regex.compile(r"^(?:v[^v,]*h[^v,]*[Lm][^v,]*,|[^v]*h[^v]*[Lm][^v]*,v)")
APART_FROM = regex.compile(rf"e[aoOAPQ]*{_OPEN}L[^.np,]*,[^,]*$")
# 'The best drug is' or 'Therefore', and an option's text.
CONCLUDED = regex.compile(r"(?<=^|[.?np])[^.?np!w0eu]*(?:r[^.?np!w0eu]*[ij]|s,?a*[ij]*)a*T$")
ALSO = regex.compile(r"[Lm][^LmxU]{0,2}l(?!w)")
CONCLUDES = regex.compile(r"[sf]")
