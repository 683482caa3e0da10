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
LETTER = LEADS OPENS letter CLOSES option? (?:end comma OPENS text CLOSES|(?:[colon comma
 dash]? article|[stop colon comma dash tick]?) OPENS text CLOSES (?!open letter))?
TEXT = LEADS OPENS text CLOSES (?:NOTES [option answer label]? letter CLOSES|[colon dash] letter
 (?=[LINES stop]|$)|comma [is so or] article* [option answer]? letter (?!CLOSES [comma and]+
 [article option]* letter))?
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

# What may follow letters that answer.
AFTER = [CLOSE end option both]*
NOT_THAT = (?=open [^open close LINES]* wrong [^open close LINES]* close |[comma open]? [and but]?
 (?:[not no]|aside) [article option options]* OPENS (?:letter [stop colon]? open?)? [letter text]
 CLOSES (?:$|[LINES stop colon]|comma? because) |comma letter not (?:$|[LINES stop]))
REASON = (?=comma [^ENDS letter text prose]* [because so] end* (?:[stop LINES]|$))
STRICT = AFTER (?:$|(?=tick+ (?:$|LINES))|(?=[LINES stop semicolon query])
 |(?=[comma colon dash]? because)|(?=comma?
 chosen (?:end|[stop LINES comma]|$))|(?=dash article* aside)|REASON|NOT_THAT) (?!text)
LOOSE = (?:STRICT|AFTER all (?=$|[LINES stop comma semicolon])|AFTER [is are both each]* right end*
 (?=$|[LINES stop comma semicolon]) |AFTER (?=[comma NOTES]|so comma|dash (?!text|letter))
 |(?<!LINES [bullet number]? article? OPENS letter CLOSES) AFTER (?=colon article* [word capital]
 (?![^LINES]* [stop semicolon comma] [article option]* letter CLOSE? colon))|(?<=text CLOSE?)
 (?=colon))

# Places: what opens a reply, its last lines, all of the options.
OPENING = (?:[article so]+ [comma colon])? (?:tick (?=[^tick cross LINES]* $))? (?P<list>LIST)
 (?=STRICT|(?<=CLOSE) AFTER (?=capital)|AFTER (?=dash capital)|AFTER (?=tick [^tick cross LINES
 letter text]* (?:$|LINES) [^tick cross]* $)|article stop? $)
OPENING_TEXT = (?P<list>LIST) (?=STRICT|(?<=text CLOSE?) (?=[comma colon open dash]))
LAST_LINES = HEAD_OF_LINE (?P<list>LIST) [CLOSE end option stop]* $
# Letters alone on the line above: a list with a blank line between its items.
LETTERS_ABOVE = HEAD_OF_LINE (?:[article answer answers final right]+ colon)? (?P<list>LETTERS)
 [CLOSE end option stop]* LINES+ $
# 'All statements are right except B and D': what the others are, where several may be right.
ALL_BUT = ^ (?:[article all both option options answers]+|(?=[^except]* right) [article all both
 option options answers each is are right word]{1,8}) comma? except (?P<list>LETTERS) stop? $
EVERY = [article answer]* all (?=STRICT|comma)
# 'Answer: C. Metformin lowers ...': the text begins the next sentence.
SENTENCE_NEXT = (?=[stop colon comma] article* text [word capital is article] [^ENDS]
 |stop article* text and article* [word capital text] [word capital is are])
NEXT_TO_IT = (?P<list>LEADS OPENS letter CLOSES) SENTENCE_NEXT
LISTED = (?P<list>LIST) (?=STRICT|AFTER colon article* [text word capital])|NEXT_TO_IT
# 'The right answer is ascorbic acid (B)', in words of its own.
IN_BRACKETS = (?<=right [article answer option options is are]* [colon dash]?)
 [word capital article option]{1,6} (?P<list>open option? letter close)
LISTED_LOOSELY = (?:(?P<list>LIST)|IN_BRACKETS) (?=LOOSE)|NEXT_TO_IT

# Labels: an answer's noun with what makes it the right one, and a colon, a verb or nothing.
NOUN = (?:[article final right both label]* NAMED [article final right option options]*
 |[article final right both]* right [article final]* [option options] [article final right answer]*
 |[article final]* [option options] [article final is are]* right [article final right]*
 |[article final right]* final [article final]* [option options]?)
COLON = (?:[is are end]* close_square? [colon so]+ end?|close_square|[is are]? dash) LINES*
VERB = [is are]+ right? colon? LINES* [is are]?
EDGE = (?<=^|[stop comma colon semicolon query open close open_square close_square LINES bullet
 number so is but end also dot all and boxed dash tick]|[word capital] (?=[article right final]))
ITEM_HEAD = (?<=^|[LINES bullet number])
WITH_COLON = EDGE (?P<core>NOUN|ITEM_HEAD [word capital article]{0,4} right+ [word capital
 article]{0,4}|ITEM_HEAD [is are]? right+|(?<=^|[LINES bullet number comma])
 [article final right]* [label option] final?) (?P<mark>COLON)
WITH_VERB = EDGE (?P<core>NOUN|(?<=^|[stop LINES bullet number]|[article wait] comma) article*
 right+ article?) (?P<mark>VERB)
BOXED = (?P<core>boxed) (?P<mark>)
NOUN_ALONE = (?<=^|[ENDS bullet tick]|[is article so] comma?|so comma) (?P<core>NOUN) (?P<mark>)
VERB_ALONE = (?<=^|[stop LINES bullet]) (?P<core>(?:article+ comma)? article* [is are]+ so?)
 (?P<mark>)
RIGHT_ALONE = (?<=^|[stop LINES bullet]) (?P<core>[is are]? right+
 (?=[article both option]* letter)) (?P<mark>)
CORRECTED = (?P<core>(?<!not)wait answer?) (?P<mark>[is colon dash])
# 'Beginners choose A' is somebody else's.
OWN_CHOICE = (?<!not|maybe|supposing|both|wrong|none|[word capital]) choose
CHOICE = (?P<core>OWN_CHOICE)
 (?P<mark>[word capital article]{0,3} is|so [because word]?|[colon dash]?)
CONCLUSION = (?<=^|[stop comma semicolon LINES bullet but word capital text close]) (?<!so letter
 [comma and] [^ENDS]*) (?P<core>so) (?P<mark>[comma colon]? [is are article option answer]*)
# 'A is first-line' where the question asks for what is contraindicated.
FINE = (?<![answer answers option options]) right (?![answer answers option options right])
# 'The false one is C': an answer where the question asks for what is false.
FALSE_LABEL = (?<![letter text CLOSE] is) EDGE (?P<core>[article final right]* [option options
 NAMED]? [article final is]* wrong [article final]* [option options NAMED]?) (?P<mark>COLON|VERB)
# A line that is nothing but a label heads what follows it ('### Answer').
HEADING = HEAD_OF_LINE bullet? (?:NOUN|[article final]* label) LINES
# What a label is followed by where it says what the answer is not.
DENIAL = [article option options is are]* (?:[not no] [is are article option options]* open?
 [letter text]|open? [letter text] [close article end]* not)
SAYS_ELSE = [^LINES stop semicolon]{0,4} [letter prose text maybe supposing not]
# An option's text before its letter ('Aortic dissection, i.e. A'): it must be its own.
GLOSSED = text CLOSES comma? so [comma article option options answer is]* $
VERB_ONLY = (?:article+ comma)? article* [is are]+ so?

# Statements: 'C is the correct answer', 'C is true'.
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
NOT_BUT = (?<=^|[stop LINES bullet comma semicolon]|NAMED is?|NAMED is? article) [is are article
 option options]* [not no]+ [is are article option options NAMED]* (?P<no>LIST) end* comma? but
 (?P<list>LIST) (?=LOOSE)
 |(?<=^|[stop LINES bullet comma semicolon]|NAMED is|is) (?P<no>LIST) but comma? (?P<list>LIST)
 (?=STRICT)
 |(?<=NAMED) [is are]? [not no]+ [is are article option options]* (?P<no>LIST) [semicolon comma
 stop] (?=[article is]) article? [is are]? (?P<list>LIST) (?=STRICT)

SLASHED = [letter prose text] CLOSE* slash OPENS [letter prose text]
# What a clause says of the options that it names (`letter_said`); a few words more between a
# verb and what it says are four, of a whole sentence nine.
LISTED_SAID = (?P<list>LIST) AFTER
CLAUSE_STARTS = semicolon|comma (?!dash)|(?<=[not none] article* letter) colon|[dash colon] (?=so)
 |(?<=[letter prose text] [^ENDS]* wrong capital?) (?=so)
DENIED_ITSELF = [not none]+ [article option is are]* $
CLAUSE_ENDS = [comma semicolon but because ENDS]|[dash colon] (?=so)
SENTENCE_END = [^ENDS]* ENDS?
NEXT_SENTENCE = [LINES bullet]* [^ENDS]* ENDS?
ENDS_CLAUSE = (?=end|article* (?:[comma semicolon but because open close dash ENDS]|$))
NAMES = [letter prose text]
ADVISED_TEXT = advised+ [word capital]? article* $
DASHED = dash? article* $
# 'The antidote - atropine', in Russian a whole sentence.
SHORT_DASH = ^[article capital right] [word capital article right]{0,3} [dash colon] article* $
DOUBTS_BEFORE = also [article is option]* $|(?<!^)(?<![comma semicolon]) but [^comma semicolon]* $
GOES_ON_TO = [comma dash]* but|[comma and]+ NAMES
SEEMS_RIGHT = article* word? [seems points] is? article* [right points explains_best]
DENIES_ONE = [not no wrong none aside cross]
SO_TOO = also (?![^ENDS NAMES]* [wrong not])
# 'Only cataract is left', 'So it is cataract'
LEFT_IS = ^[^letter prose text]* so comma? [article is both option]* $
NOT_WRONG = not [is article]* wrong|wrong [is article]* not
EMPHASIS = comma article+ [stop LINES]
# 'Tall T waves? Yes.'
ASKED_AND = CLOSE* query (?:(?P<yes>yes)|[no not none wrong cross]) (?=$|[stop comma LINES])
EXCEPT_BEFORE = except [article option both]* $
ALL_EXCEPT = ^[article both]* [all each right] .* except [article option both]* $
# 'The option that does not belong on this list is D'
ODD_ONE = ^[article both]* option [^letter text prose ENDS]* not [^letter text prose ENDS]* [is
 are] [article option]* $
EXCEPT_BEHIND = [both end]* except
REASON_BEFORE = [^comma] because (?:[^because colon comma advised choose answer so]*|[letter text
 comma and article option]*) $|because [^because comma colon advised choose answer so]+ $
QUALIFIED = [word capital option] answer [is are article]* $
# Stated: 'I choose', 'the answer corresponds to', 'so it is'; 'is right', 'is what I choose'.
SAID_BEFORE = (?:^[article final right both so is]* answer (?:[is are article colon dash]+|[explains
 points] word?)|OWN_CHOICE [word capital so]{0,3}|[chosen right explains_best]|so comma?) [is are
 article so both colon option explains explains_best choose right dash end open]* $
FOLLOWS = so [article is both option]* $
SAID_BEHIND = (?:open [^open close]* close)? [is are so dash both end]* (?:[word capital article is
 option answer explains]{0,4} (?:right|tick|chosen|choose|explains_best)|[word capital article
 is]{0,9} right end* (?=CLAUSE_ENDS|$)|is [word capital article option]{0,5} advised? choose
 |explains (?=colon|CLAUSE_ENDS|$)|is comma [word capital article]{1,4} comma [article answer
 word]{0,3} right)
EXPLAINS = [is are article option word]{0,4} [explains explains_best]
# 'Labetalol, methyldopa.'
ROW_OF = comma [word capital]{1,2} (?:[stop LINES]|comma [letter prose])
# '... However, ...'; 'D is implausible. The remaining four deserve thought'.
HOWEVER = [^ENDS]* ENDS+ but
LEFT_OPEN = [^ENDS]* ENDS+ but|.* ENDS [^ENDS not no wrong none]* aside [^ENDS not no wrong
 none]* (?:ENDS|$)
SAID_FULLY = [colon dash]* is [article both]* right [option answer]? end* $
# Hinted: 'it is', 'points to', 'on the other hand:'; what one should do; a letter that ends a
# short sentence; what opens the reply.
HINTED_BEFORE = (?:[is are points explains has dash close_square]|[is are] (?:[word article]{0,2}
 colon|comma)|[points explains has advised] [word capital article]{0,5} colon|right comma) [article
 is both option LINES bullet number open wait]* $
# 'You most likely have measles', 'Most likely, measles'
LIKELY = right (?:comma|is? (?:word is)?|has) article* $
LISTS = [option options] colon $
ALONE = [article is option both so end close_square yes]*
LABEL_ALONE = [^ENDS colon]+ colon article*
HEADS_REPLY = [article comma so end option both yes]*
ITSELF = [article is so]
# A few words behind a comma: with another comma it would be a row of words.
OPENED = comma (?=[^ENDS comma not no wrong]{1,4} stop? $)|(?=dash)|[is are]* advised
OPENED_PAIR = [is are comma colon dash word capital]
WITHIN_WORDS = [word capital] dash? $

# What no longer counts: what is corrected, what is only granted ('Although B is common, ...').
CORRECTION = (?:^|(?<=[stop comma colon semicolon query LINES bullet open so])) [no wrong]? [comma
 stop]? wait
GRANTED = (?:^|(?<=[stop semicolon LINES])) (?:[concession aside] [^concession aside NAMED choose so
 comma stop semicolon query LINES]* comma |[^concession granted NAMED choose so comma stop semicolon
 query LINES]* granted) (?=[^ENDS]* [word capital])
SAYS = [letter prose text also maybe supposing seems right wrong concession granted]

# A list that says of every option whether it is right.
MARK = (?:(?P<no>[not no]+ article? right+|wrong+|cross|no (?:article [is are])?
 |not (?:article? [is are] not?)? (?=[end article]* [ENDS comma]))|(?P<yes>article? right+ [option
 options]?|tick|yes|(?<=colon) is (?=comma)))
HEAD = OPENS [option options]? (?:letter CLOSES option? (?:[stop colon dash]* OPENS text
 CLOSES)?|text CLOSES)
SOME = LEADS letter (?:(?:comma? and|comma|semicolon) [article option options]* letter){1,7}+
 option?
ROW_ENDS = [LINES because stop comma semicolon colon open close dash dot bullet]
ROW_AFTER = [bullet number]? (?P<head>SOME|HEAD) [stop colon so dash comma open is are each both so
 also]* MARK end* also? (?:(?=$|ROW_ENDS|letter|text)|(?<=[tick cross]))
ROW_BEFORE = [bullet number]? (?P<mark>[tick cross]) [colon dash]? (?P<head>HEAD)
 (?=$|ROW_ENDS|[tick cross])
# The line of an option ends in what is said of it, or has a tick.
LINE = [^LINES]+
MARKED_HEAD = (?:NOUN colon)? [bullet number]? [tick cross]? (?:LETTER|TEXT|prose)
AFFIRMED = (?:[yes right]|answer right|(?:^|[comma colon stop so dash]) explains)
 [end close option answer]* stop? $
SPOKEN = [is are not no right wrong each both dash]
HEAD_LINE = HEAD_OF_LINE [bullet number]? [tick cross]? OPENS [option options answer]?
 (?:letter CLOSES option? [stop colon dash close dot]|letter CLOSES option? comma?
 text|letter open text|text
 CLOSES [colon dash]|text open letter|[tick cross] letter)
HEAD_INLINE = (?<=[stop LINES]) [bullet number]? (?P<head>letter) [stop colon close]+
 (?P<rest>[word capital article] [^stop LINES]*)
# A line that leads to what is said of the other options.
OF_OTHERS = (?:[colon query] [close bullet]* $|[aside wrong])
NEGATIVE = [wrong not cross no none]

# What stands behind letters and speaks against them.
# 'If you need more, ...' behind the answer's sentence doubts nothing: 'Maybe.' and 'Maybe B' do.
HEDGE = [maybe supposing]
MAYBE = (?:(?<!stop end*) HEDGE|HEDGE (?=[^ENDS]{0,3} (?:ENDS|$))
 |maybe (?=[^ENDS]* [letter prose text]))
TAKEN_BACK = [CLOSE comma semicolon open stop dash bullet end]* (?:and? [or seems]|and? also
 (?![word capital])|and? MAYBE|[stop comma semicolon colon dash]* no (?![word capital]|[article
 option options]* letter)|(?:wrong|comma not) (?=[comma stop semicolon LINES]|$))
ALSO = [letter prose] [^letter prose word capital]{0,2} also (?!wrong)
REASON_EACH = (?:[semicolon comma] and?|and|[stop LINES] [bullet number]?) [article option
 options]* OPENS letter CLOSES (?:open text close)? comma? because
# 'C. Naloxone (B) reverses opioids.'
BRACKETED = article* text open option? letter close [^right also HEDGE seems choose answer so
 chosen but or]* $
OWN_REASON = [CLOSE stop]* (?:open text close)? comma? because
DENIES_ANOTHER = [because aside cross]|(?<![not no] article?) wrong
 |[not no but] [article option options]* [letter prose]
 |[letter prose text] CLOSE* [is are article dash]* [not no] (?![also or wrong])
# 'However, imaging is required to confirm it.' takes nothing back.
SPEAKS = [letter prose text answer answers option options not no none right wrong HEDGE seems also
 or wait refusal aside query]
BUT_ADDS = comma? but [^SPEAKS]* (?:answer stop*)? $
BEHIND_ADDS = [^ENDS]* ENDS+ but [^SPEAKS ENDS]* stop* $
BUT_NOT_OTHERS = comma? but not [article option options]* letter [colon stop]|comma? but [article
 option options letter and comma]* letter
 [is are dash article both each]* (?:wrong|[not no] (?!wrong))
AGAINST_TEXT = [not aside] article* $
REASONS = because .*
BRACKETS = open [^open close letter prose text]* close
HEDGES = [but HEDGE seems or]

# 'Don't wait' corrects nothing.
RETHINKS = (?<!not)wait
# 'Answer: A', and behind it 'Revised answer: C': a line of few words and letters is an answer, too.
LABELLED_AGAIN = (?<=LINES) bullet? [^LINES colon letter text wrong not no none aside excluded
 cross]{1,6} colon (?P<list>LIST) ITEM_ENDS

# What stands before a label and denies it, doubts it or makes it another's.
DENIES = [not no or except wrong seems]
APART_FROM = except [article option options NAMED labels]* OPENS letter [^stop LINES comma]*
 comma [^comma]* $
# 'Many choose A, but ...' says nothing of what follows.
DOUBT_OF_ANOTHER = maybe [article option options answer]* letter [article option and comma]+ letter
 comma? (?=choose|$)|^(?:but [^but comma]* maybe [^but comma]* [letter prose] [^but comma]*
 comma|[^but]* maybe [^but]* [letter prose] [^but]* comma but)
# A condition holds to the sentence's end, or to what follows from it: 'If it were an embolism,
# C; without dyspnoea D'.
SUPPOSED = supposing (?!.* so)
# The question asks for what is false: then 'A is true' is no answer.
FALSE_ONE = wrong [article final]* [option options NAMED]? end* [is are]+ colon? [article option
 options]* [letter text]
# 'The best drug is' or 'Therefore', and an option's text.
CONCLUDED = (?<=^|ENDS) [^ENDS not wrong no except aside]* (?:right [^ENDS not wrong no except
 aside]* [is are]|so comma? article* [is are]*) article* text $
CONCLUDES = [so final]
SO_ITSELF = so [comma colon]? [is are article option answer]* $

# 'The most likely is, then, ...'
INTERJECTED = (?<=[is are has]) (?:comma [because so article word right] comma|stop{2,}
 (?=[article option letter text]))

# Where an option stands as what a sentence says: behind its verb, or as its subject.
PREDICATE = (?:^|[is are colon dash comma points explains right answer so has advised]) [article
 option both end so word]{0,1} article* $

# 'Would you like to know more?' at the end.
OFFER = (?<=ENDS) [open bullet]? (?:[^ENDS letter text]* offer [^ENDS]* query|[^ENDS]* offer
 [query stop]|offer comma) [^ENDS]* ENDS* $

# Options of another question: a line each, of a few words that are nobody's text.
OTHER_LIST = HEAD_OF_LINE (?:letter [stop dot close]+ [word capital dash comma open close
 number slash and]{1,8} stop? LINES){3,}
# Parts of a reply.
CLAUSES = [stop query comma semicolon colon LINES but]
SENTENCES = [ENDS]
WHY_OR_END = [ENDS because]
PARTS = [ENDS semicolon]
TAILS = (?<=[stop query])|LINES
BREAKS = LINES+
LINE_ENDS = [stop CLOSE end]* (?:LINES|$)
PLAIN_LINE_ENDS = [stop CLOSE]* (?:LINES|$)
CLOSING = [CLOSE colon stop semicolon dash end]*

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
    (RULES.BOXED, True, "boxed"),
    (RULES.CORRECTED, False, "wait"),
    (RULES.NOUN_ALONE, False, _NOUNS), (RULES.VERB_ALONE, False, _VERBS),
    (RULES.RIGHT_ALONE, True, "right"), (RULES.CHOICE, True, "choose"),
    (RULES.CONCLUSION, False, "so"),
]  # fmt: skip
LABELS = [(rule, loose, frozenset(row(needed))) for rule, loose, needed in _LABELS]
"""Labels, whether a comma may follow the letters after them, and kinds of which they have one."""
