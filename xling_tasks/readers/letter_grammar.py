"""The grammar of answers to multiple-choice questions: rules over rows of token kinds (`kinds`).

No rule knows a language. `list` is the group of the letters and texts that answer, `core` and
`mark` are a label's noun and its colon or verb. `docs/reading.md` tells in which order places are
looked at. Eight options have letters, so no list has more than twelve items with what stands
between: the bounds of lists keep reading linear. Other bounds say beside them what they are for.
"""

from __future__ import annotations

from xling_tasks.readers.kinds import Grammar, row

RULES = Grammar("""
LINES = [line blank]
ENDS = [stop query LINES]
NAMED = [answer answers]
NOTES = [open open_square]
LEADS = [article option options both NAMED label]*+
OPENS = NOTES*+
CLOSE = [close close_square]
CLOSES = CLOSE*
HEAD_OF_LINE = (?:^|(?<=LINES))

# An item of a list: a letter, perhaps with its own text; or a text, perhaps with its letter.
LETTER = LEADS OPENS letter CLOSES option? (?:(?:[colon comma dash]? article|[stop colon comma
 dash]?) OPENS text CLOSES (?!open letter))?
TEXT = LEADS OPENS text CLOSES (?:NOTES [option answer label]? letter CLOSES|[colon dash] letter
 (?=[LINES
 stop]|$)|comma [is so] article* option? letter)?
# Items stand in a row, or one a line: then nothing else is on the line.
# A dash joins three ('A - C - D'): two would be a range.
JOINED = (?:[comma stop]* and|stop? comma+|semicolon (?=[article option options]* letter
 (?:[semicolon stop LINES]|$))|(?<=letter)(?=letter)
 |dash (?=letter dash letter)|(?<=letter dash letter) dash)
ITEM_ENDS = [CLOSE stop comma semicolon]*+ end? (?:LINES|$)
NEXT_LINE = [comma stop semicolon colon]* (?:line|blank (?=[^LINES]* text)) [bullet number]?
LETTERS = [bullet number]? LETTER (?:(?:JOINED|NEXT_LINE (?=LETTER ITEM_ENDS)) LETTER){0,11}+
TEXTS = [bullet number]? TEXT (?:(?:JOINED|NEXT_LINE (?=TEXT ITEM_ENDS)) TEXT){0,11}+
LIST = (?>LETTERS|TEXTS)
TEXT_LETTER = LEADS text CLOSES NOTES option? letter CLOSES
TEXT_LETTERS = [bullet number]? TEXT_LETTER (?:(?:JOINED|NEXT_LINE) TEXT_LETTER){0,7}+

# What may follow letters that answer.
AFTER = [CLOSE end option both]*
NOT_THAT = (?=open [^open close LINES]* wrong [^open close LINES]* close
 |[comma open]? [and but]? (?:[not no]|aside) [article option options]* OPENS (?:letter [stop
 colon]?
 open?)? [letter text] CLOSES
 (?:$|[LINES stop colon]|comma? because))
REASON = (?=comma [^ENDS letter text prose]* because end* (?:[stop LINES]|$))
STRICT = AFTER (?:$|(?=tick+ $)|(?=[LINES stop semicolon query])|(?=comma? because)|(?=comma?
 chosen)|(?=dash article* aside)|REASON|NOT_THAT) (?!text)
LOOSE = (?:STRICT|AFTER all (?=$|[LINES stop comma semicolon])|AFTER [is are both each]* right
 end* (?=$|[LINES stop comma semicolon])
 |AFTER (?=[comma NOTES]|dash (?!text|letter))
 |(?<!LINES [bullet number]? article? OPENS letter CLOSES) AFTER (?=colon article* [word capital]
 (?![^LINES]* [stop semicolon comma] [article option]* letter CLOSE? colon))|(?<=text CLOSE?)
 (?=colon))

# Places: what opens a reply, its last lines, all of the options.
OPENING = (?:[article so]+ comma)? (?:tick (?=[^tick cross LINES]* $))? (?P<list>LIST)
 (?=STRICT|(?<=CLOSE) AFTER
 (?=capital)|AFTER (?=dash capital)|article stop? $)
OPENING_TEXT = (?P<list>LIST) (?=STRICT|(?<=text CLOSE?) (?=[comma colon open dash]))
LAST_LINES = HEAD_OF_LINE (?P<list>LIST) [CLOSE end option stop]* $
# 'All statements are right except B and D': what the others are, where several may be right.
ALL_BUT = ^ (?:[article all both option options answers]+|(?=[^except]* right)
 [article all both option options answers each is are right word]{1,8}) comma? except
 (?P<list>LETTERS) stop? $
EVERY = [article answer]* all (?=STRICT|comma)
# 'Answer: C. Metformin lowers ...': the text begins the next sentence.
SENTENCE_NEXT = (?=[stop colon] article* text [word capital is article] [^ENDS])
NEXT_TO_IT = (?P<list>LEADS OPENS letter CLOSES) SENTENCE_NEXT
LISTED = (?P<list>LIST) (?=STRICT|AFTER colon article* [text word capital])|NEXT_TO_IT
LISTED_LOOSELY = (?P<list>LIST) (?=LOOSE)|NEXT_TO_IT

# Labels: an answer's noun with what makes it the right one, and a colon, a verb or nothing.
NOUN = (?:[article final right both label]* NAMED [article final right option options]*
 |[article final right both]* right [article final]* [option options] [article final right
 answer]*
 |[article final]* [option options] [article final is are]* right [article final right]*
 |[article final right]* final [article final]* [option options]?)
COLON = (?:[is are end]* close_square? [colon so]+ end?|close_square|[is are]? dash) LINES*
VERB = [is are]+ right? colon? LINES* [is are]?
EDGE = (?<=^|[stop comma colon semicolon query open close open_square close_square LINES bullet
 number so is but end also
 dot all and boxed dash tick]|[word capital] (?=[article right final]))
ITEM_HEAD = (?<=^|[LINES bullet number])
WITH_COLON = EDGE (?P<core>NOUN|ITEM_HEAD [word capital article]{0,4} right+ [word capital
 article]{0,4}|ITEM_HEAD [is are]? right+|(?<=^|[LINES bullet number comma])
 [article final right]* [label option] final?) (?P<mark>COLON)
WITH_VERB = EDGE (?P<core>NOUN|(?<=^|[stop LINES bullet number]|[article wait] comma) article*
 right+
 article?)
 (?P<mark>VERB)
BOXED = (?P<core>boxed) (?P<mark>)
NOUN_ALONE = (?<=^|[ENDS bullet]|[is article so] comma?|so comma) (?P<core>NOUN) (?P<mark>)
VERB_ALONE = (?<=^|[stop LINES bullet]) (?P<core>(?:article+ comma)? article* [is are]+ so?)
 (?P<mark>)
RIGHT_ALONE = (?<=^|[stop LINES bullet]) (?P<core>[is are]? right+
 (?=[article both option]* letter)) (?P<mark>)
# 'Only one answer is right: B'; 'Corrected to B'.
ONE_ALONE = EDGE (?P<core>article* both [answer option]) (?P<mark>is right [comma colon])
CORRECTED = (?P<core>(?<!not)wait) (?P<mark>[is colon dash])
CHOICE = (?<!not|maybe|both|wrong) (?P<core>choose)
 (?P<mark>[word capital article]{0,3} is|[colon dash]?)
FINDING = (?<!not|maybe|wrong) (?P<core>points) (?P<mark>colon?)
# 'The best fit is B' before the letter; 'most likely has T (option B)'.
BEST = (?<!not|maybe|wrong|none) (?P<core>explains_best) (?P<mark>colon? [is are]?)
CONCLUSION = (?<=^|[stop comma semicolon LINES bullet but]) (?P<core>so) (?P<mark>[comma colon]?
 [is are article option answer]*)
# 'The false one is C': an answer where the question asks for what is false; 'A is false: ...'
# says why one is.
FALSE_LABEL = (?<![letter text CLOSE] is) EDGE (?P<core>[article final right]* [option options
 NAMED]? [article final]* wrong [article final]* [option options NAMED]?) (?P<mark>COLON|VERB)
# A line that is nothing but a label heads what follows it ('### Answer').
HEADING = HEAD_OF_LINE bullet? (?:NOUN|[article final]* label) LINES
# What a label is followed by where it says what the answer is not.
DENIAL = [article option options is are]* (?:[not no] [is are article option options]* open?
 [letter text]|open? [letter text] [close article end]* not)
SAYS_ELSE = [^LINES stop semicolon]{0,4} [letter prose text maybe not]
VERB_ONLY = (?:article+ comma)? article* [is are]+ so?

# Statements: 'C is the correct answer', 'C is true', 'B best explains it', 'only B explains it'.
STATES = (?<=^ is?|[stop comma colon semicolon LINES bullet so] is|[stop comma colon semicolon
 LINES bullet so but because open]|so comma)
 (?=OPENS [article option options both NAMED label letter text]) (?P<list>LIST) AFTER
SENTENCE_GOES = $|[LINES because stop comma semicolon colon open close dash query]
STATED = STATES comma? (?:dash? [is are]* [both each comma]* [article final right]* NAMED
 [article final right]* end*
 |dash? [is are]+ [both each]* (?:[article final]* right+ [option options]|[article final right
 both]* [option options] [article final both]* right+) end*
 |chosen) article* (?=SENTENCE_GOES|and)
 |(?<=so comma?) (?P<list>LIST) AFTER [is are both each]* right end* (?=$|[stop LINES])
TRUE = STATES dash? [is are both each]* article? right+ [option options]? [end article]*
 (?=SENTENCE_GOES)
# In Japanese, what it explains stands before the verb: a few words.
# 'Option A seems the most fitting.'
SEEMS = STATES article* seems is? article* right+ [option options]? end* (?=$|[stop LINES])
PROBABLE = (?<=right [word article is points]*) (?P<list>text (?:NOTES option? letter CLOSE|comma
 [is article]* option letter)) (?=$|[stop LINES comma])
EXPLAINS = (?<=^|[stop comma colon semicolon LINES bullet so article]) (?P<list>LIST) AFTER
 comma? [is are]? [word capital]{0,4} explains_best
 |both (?P<list>[article option]* letter) [is are]? word? [explains explains_best]
NOT_BUT = (?<=^|[stop LINES bullet comma semicolon]|NAMED is?|NAMED is? article) [is are article
 option options]* [not no]+
 [is are article option options NAMED]* (?P<no>LIST) end* comma? but (?P<list>LIST) (?=LOOSE)
 |(?<=^|[stop LINES bullet comma semicolon]|NAMED is|is) (?P<no>LIST) but comma? (?P<list>LIST)
 (?=STRICT)
 |(?<=NAMED) [is are]? [not no]+ [is are article option options]* (?P<no>LIST) [semicolon comma
 stop] (?=[article is]) article? [is are]?
 (?P<list>LIST) (?=STRICT)

# The only options that are named, by letter, where words say that they are chosen: behind a verb,
# a comma or a dash where the reply ends; with what one should do; at the head of the reply.
SPOILS = [wait refusal query]
SENTENCE = [^ENDS]+ ENDS?
NAMES = [letter prose text]
OTHERS = (?:[comma dash semicolon] article* aside|because) .*
DENIES_ONE = [not no wrong none aside]
HEDGES_ONE = [except but or maybe seems also answer answers slash looks]
PAIRS = (?:TEXT_LETTERS|LETTER (?:JOINED LETTER){1,7}+)
ENDS_REPLY = (?:(?<=[is are comma dash so close_square]|[is are] colon LINES*|text [^NOTES] .*)
 (?P<list>LETTERS) AFTER
 |(?<=[is are word capital] colon LINES*|[^ENDS colon]) (?P<list>PAIRS) (?:AFTER|is? capital)
 |(?<=advised [^ENDS colon]*) (?P<list>LETTERS|TEXT_LETTERS) AFTER
 |(?<=[^ENDS colon]) (?P<list>LETTERS|TEXT_LETTERS) AFTER [is capital]* advised [end
 capital]*) stop? $
 |(?<=[is are]) (?P<list>LEADS OPENS letter CLOSES) (?=stop text)
 |(?<=^|[ENDS comma]) (?P<list>LETTERS|TEXT_LETTERS) AFTER [is are] [word capital
 article]{0,6} right+ [word capital article end]{0,6} stop? $
# A few words behind a comma: with another comma it would be a row of words.
OPENS_REPLY = ^ article* (?P<list>TEXT_LETTERS) AFTER [is are]* advised
 |^ article* (?P<list>LETTERS) (?:AFTER comma (?=[^ENDS comma]{1,4} stop? $)|AFTER (?=dash)
 |AFTER [is are]* advised|(?<=text CLOSE*) (?=[is are comma colon dash]))

# What no longer counts: what is corrected, what is only granted ('Although B is common, ...').
CORRECTION = (?:^|(?<=[stop comma colon semicolon query LINES bullet open])) [no wrong]? [comma
 stop]? wait
GRANTED = (?:^|(?<=[stop semicolon LINES])) (?:[concession aside] [^concession aside NAMED choose
 so comma stop semicolon query LINES]* comma
 |[^concession granted NAMED choose so comma stop semicolon query LINES]* granted) (?=[^ENDS]*
 [word capital])
SAYS = [letter prose text also maybe seems right wrong concession granted]

# A list that says of every option whether it is right.
MARK = (?:(?P<no>[not no]+ article? right+|wrong+|cross|no (?:article [is are])?
 |not (?:article? [is are] not?)? (?=[end article]* [ENDS]))|(?P<yes>article? right+ [option
 options]?|tick|yes))
HEAD = OPENS [option options]? (?:letter CLOSES option? (?:[stop colon dash]* OPENS text
 CLOSES)?|text CLOSES)
SOME = LEADS letter (?:(?:comma? and|comma|semicolon) [article option options]* letter){1,7}+
 option?
ROW_ENDS = [LINES because stop comma semicolon colon open close dash dot bullet]
ROW_AFTER = [bullet number]? (?P<head>SOME|HEAD) [stop colon dash comma open is are each both so
 also]* MARK end* also? (?:(?=$|ROW_ENDS|letter|text)|(?<=[tick cross]))
ROW_BEFORE = [bullet number]? (?P<mark>[tick cross]) [colon dash]? (?P<head>HEAD)
 (?=$|ROW_ENDS|[tick cross])
SPOKEN = [is are not no right wrong each both dash]
ONE_TICK = tick [^tick cross LINES]*
HEAD_LINE = HEAD_OF_LINE [bullet number]? [tick cross]? OPENS
 (?:letter CLOSES [stop colon dash close dot]|letter CLOSES comma? text|letter open text|text
 CLOSES [colon dash]|text open letter|[tick cross] letter)
HEAD_INLINE = (?<=[stop LINES]) [bullet number]? (?P<head>letter) [stop colon close]+
 (?P<rest>[word capital article] [^stop LINES]*)
# A line that leads to what is said of the other options.
OF_OTHERS = (?:[colon query] [close bullet]* $|[aside wrong])
NEGATIVE = [wrong not cross no none]

# What stands behind letters and speaks against them.
# 'If you need more, ...' behind the answer's sentence doubts nothing: 'Maybe.' and 'Maybe B' do.
MAYBE = (?:(?<!stop end*) maybe|maybe (?=[^ENDS]{0,3} (?:ENDS|$)|[^ENDS]* [letter prose text]))
TAKEN_BACK = [CLOSE comma semicolon open stop dash bullet end]*
 (?:and? [or seems also]|and? MAYBE|[stop comma semicolon colon dash]* no (?![word capital]|[article
 option options]* letter)|wrong (?=[comma stop semicolon LINES]|$))
ALSO = [letter prose] [^letter prose word capital]{0,2} also (?!wrong)
REASON_EACH = (?:[semicolon comma] and?|and|[stop LINES] [bullet number]?) [article option
 options]* OPENS letter CLOSES (?:open text close)? comma? because
OWN_REASON = [CLOSE stop]* (?:open text close)? comma? because
OUTWEIGHED = [stop semicolon comma LINES] but
DENIES_ANOTHER = [because aside cross]|(?<![not no] article?) wrong
 |[not no but] [article option options]* [letter prose]
 |[letter prose text] CLOSE* [is are article dash]* [not no] (?![also or wrong])
BUT_NOT_OTHERS = comma? but not [article option options]* letter [colon stop]|comma? but [article
 option options letter and comma]* letter
 [is are dash article both each]* (?:wrong|[not no] (?!wrong))
AGAINST_TEXT = [not aside] article* $
TEXT_DENIED = end? not
REASONS = because .*
HEDGES = [but maybe seems or]

# 'Don't wait' corrects nothing.
RETHINKS = (?<!not)wait

# What stands before a label and denies it, doubts it or makes it another's.
DENIES = [not no or except wrong seems]
APART_FROM = except [article option options NAMED labels]* OPENS letter [^stop LINES comma]*
 comma [^comma]* $
# 'Many choose A, but ...' says nothing of what follows.
DOUBT_OF_ANOTHER = ^(?:but [^but comma]* maybe [^but comma]* [letter prose] [^but comma]*
 comma|[^but]* maybe [^but]* [letter prose] [^but]* comma but)
# The question asks for what is false: then 'A is true' is no answer.
FALSE_ONE = wrong [article final]* [option options NAMED]? end* [is are]+ colon? [article option
 options]* [letter text]
# 'The best drug is' or 'Therefore', and an option's text.
CONCLUDED = (?<=^|ENDS) [^ENDS not wrong no except aside]* (?:right [^ENDS not wrong no except
 aside]* [is are]|so comma? article* [is are]*) article* text $
CONCLUDES = [so final]

# Parts of a reply.
CLAUSES = [stop query comma semicolon colon LINES]
SENTENCES = [ENDS]
PARTS = [ENDS semicolon]
TAILS = (?<=[stop query])|LINES
BREAKS = LINES+
LINE_ENDS = [stop CLOSE end]* (?:LINES|$)
PLAIN_LINE_ENDS = [stop CLOSE]* (?:LINES|$)
CLOSING = [CLOSE colon stop dash end]*

# Whether a list goes on, or a reply breaks off: behind a comma, a few words at the very end.
GOES_ON = [CLOSE stop end]* [comma and or colon semicolon NOTES dash] [^ENDS close because not
 aside]{0,3}
NEXT_BULLET = stop? LINES bullet
NEXT_LETTER = stop? LINES (?:bullet $|[bullet number]? [option options]? letter [stop colon close
 dash dot]|[bullet number]? letter $)
NOT_OF_LABEL = [^stop colon] line $
ANNOUNCED = answers [^LINES stop]* $
WORDS_ALONE = CLOSE? [dash colon stop] [word capital article]+ stop?
FIRST_OF_LINES = line [bullet number]? article* text
TAIL = [CLOSE stop colon comma dash open]+ (?P<rest>[^stop query]*)
""")

_COLONS, _VERBS = "colon so close_square dash", "is are"
_NOUNS = "answer answers right final option options"
_LABELS = [
    (RULES.WITH_COLON, True, _COLONS), (RULES.WITH_VERB, True, _VERBS),
    (RULES.BOXED, True, "boxed"), (RULES.ONE_ALONE, True, "both"),
    (RULES.CORRECTED, False, "wait"),
    (RULES.NOUN_ALONE, False, _NOUNS), (RULES.VERB_ALONE, False, _VERBS),
    (RULES.RIGHT_ALONE, True, "right"), (RULES.CHOICE, True, "choose"),
    (RULES.FINDING, False, "points"), (RULES.BEST, False, "explains_best"),
    (RULES.CONCLUSION, False, "so"),
]  # fmt: skip
LABELS = [(rule, loose, frozenset(row(needed))) for rule, loose, needed in _LABELS]
"""Labels, whether a comma may follow the letters after them, and kinds of which they have one."""

_EXPLAINING = [
    (RULES.EXPLAINS, "explains explains_best"), (RULES.SEEMS, "seems"), (RULES.PROBABLE, "right"),
]  # fmt: skip
EXPLAINING = [(rule, frozenset(row(needed))) for rule, needed in _EXPLAINING]
"""Statements that count where no label stands, and kinds of which they have one."""
