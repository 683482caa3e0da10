"""The grammar of Yes and No: rules over rows of token kinds (`kinds`).

No rule knows a language. Bounds keep what they count within one clause: a few words.
"""

from __future__ import annotations

from xling_tasks.readers.kinds import Grammar

RULES = Grammar("""
ENDS = [stop query line]
DENIED = [not no]
WORDS = [yes no right wrong]
ABOUT = [subject noun]

# One verdict, in words that stand alone; negations before an adjective (en, es) or after it (hi).
ITEM = (?:(?P<no>DENIED is? [adverb fully]* right|right DENIED is?
 |wrong (?!DENIED is? (?:[stop comma line]|$)) is?|no is?|fails)
 |(?P<yes>yes is?|right is?|wrong DENIED is?|not is? [adverb fully]* wrong))
EDGE = [bullet boxed stop comma open colon dash slash close]*
LABEL = (?:noun [word ABOUT adverb]{0,4} [colon dash]
 |[adverb right]* ABOUT noun? [right adverb]* is colon?
 |noun word{0,2} subject is colon?|boxed|so [comma colon]?|ABOUT adverb* colon
 |is? subject? right is? colon
 |right? noun (?=[yes no] (?:[is stop comma line]|$)))
# What leads to a verdict: 'In short, ', 'definitely '; 'I think not' says less than No.
# 'from a doctor's view, '.
NEUTRAL = [^ENDS comma WORDS unsure flawed fine fails not]*
LEAD = (?:adverb+|[opinion adverb]+ [comma colon]|NEUTRAL according NEUTRAL comma)?
START = EDGE LEAD LABEL*
BREAK = (?=$|[stop comma colon open close line query dash because bullet])
BARE = LEAD (?:EDGE LABEL* [adverb comma colon]* ITEM)+ EDGE is? EDGE
LABELS = ^ START
OPENING = START adverb* fully? ITEM (?:[comma stop]* adverb* ITEM)* [adverb opinion]* BREAK
HEAD = START (?:(?P<yes>yes)|(?P<no>no))
MARKED = (?:^|(?<=[stop comma colon line bullet open ABOUT query opinion]
 |[word foreign] (?=so|noun)|foreign adverb (?=ABOUT)))
 (?P<label>LABEL+) EDGE adverb* ITEM BREAK
BOTH = EDGE LABEL* [yes no right wrong] [slash or comma line]+ [yes no right wrong] BREAK
TAKEN_BACK = START ITEM (?:[comma stop]? ITEM)* (?:[comma colon dash]* but
 |[comma stop colon dash]* [offer refusal]|[comma stop] unsure [word foreign is adverb
 WORDS]* [stop line]* $)
HESITANT = START ITEM (?:[comma]? ITEM)* stop{2,} line* (?=[^stop line])
QUOTES = [word foreign adverb noun or is according]* subject [^WORDS not unsure doubt query
 stop]{0,5}
OTHERWISE = otherwise comma? (?:(?P<yes>yes)|(?P<no>no))
SAYS = [WORDS fine flawed fails]
SENTENCE = [^ENDS]* ENDS?

# What says nothing: what is granted ('Although the facts are right, ...'), the form that was asked
# for ('(Yes or No)'), what is polite; a line that is a label alone heads what follows it.
GRANTED = (?:^|(?<=[stop line comma]))
 (?:concession [^ENDS comma]* comma|[^ENDS comma granted]* granted) (?=[^ENDS]* [^ENDS])
GRANTS = [^comma stop line]
# 'No, although parts of it are true'; 'Yes, although it could mention ...', and nothing against it.
GRANTED_AFTER = (?<=(?:^|[stop line colon]) no comma) concession (?![is subject]) [^ENDS]*
 |(?<=(?:^|[stop line colon]) yes comma) concession [^ENDS no not wrong but fully]* (?=ENDS|$)
FORM = open? (?P<one>WORDS) comma? [or slash]+ (?!(?P=one)) WORDS (?:close|(?=[stop line]|$))
# 'It is wrong and may be harmful': the doubt is about more of the same.
MORE_BLAME = (?<=(?<!DENIED adverb*) wrong is?) [or comma]
 (?:unsure [word foreign is adverb]* wrong|wrong unsure) (?=is? (?:[ENDS comma]|$))
DOUBTS = [^wrong]
HEADING = (?:^|(?<=line)) [adverb right bullet]* ABOUT [ABOUT adverb]* line
POLITE = ^ [bullet open]* polite+ [comma stop colon dash]* line* (?=.)
 |^ emphatic comma (?=[subject word foreign is adverb polite opinion so doubt])
# 'Yes, sure! I will check ...': the Yes may be polite, too; 'I am not a doctor, but ...': what
# follows counts.
COURTESY = (?<=^ [bullet open]* yes) [comma stop]+ polite+ [comma stop]*
DISCLAIMER = ^ (?!no foreign|LEAD ITEM [adverb opinion]* comma) (?=[^comma]* [not no offer]) [word
 foreign adverb noun offer not no is concession]{2,9}
 comma but comma? (?=[^ENDS]* [right wrong])
EMPHATIC = ^ [bullet open]* emphatic (?=colon|[stop line]* $|[adverb opinion is]* [yes right])

# 'It does not answer the question', in the order of any language.
CLAUSE = [^ENDS comma DENIED but concession right wrong]*
FAILS = (?:(?<=subject CLAUSE) DENIED CLAUSE right? [replies ABOUT] CLAUSE [no right]? CLAUSE
 question
 |(?<=subject CLAUSE|^|[stop line comma but because])
 (?:DENIED CLAUSE replies CLAUSE no? CLAUSE question|not CLAUSE ABOUT CLAUSE question
 |question CLAUSE right? ABOUT? DENIED CLAUSE replies|question CLAUSE replies CLAUSE DENIED))

# 'It correctly answers the question', 'I agree with the answer', and not.
MEETS = (?<=subject [adverb fully]*) (?:right foreign? [replies ABOUT] adverb? question
 |replies right [word ABOUT]{0,2} question|question right [foreign ABOUT]? replies)
 is? (?=$|[ENDS comma because]) (?!comma? but)
ABOUT_IT = [word foreign adverb fully opinion subject is so offer]
AGREES = (?<=^|[stop line comma]) (?P<before>[ABOUT_IT DENIED]*) (?P<what>agree|disagree)
 (?P<after>[ABOUT_IT DENIED]*)
 (?=$|[ENDS comma colon because dash]) (?!comma? but)
# 'Is the answer correct? No, ...'
ASKED = ^ [^ENDS wrong DENIED]* right [^ENDS wrong DENIED]* query line* (?=.)

# A sentence that says whether the answer is correct.
ANSWER = (?:foreign adverb|question adverb?)? subject [ABOUT adverb fully word foreign is
 question]{0,4}
STATEMENT = [opinion agree adverb so comma]* (?P<doubt>doubt?) [opinion adverb]* (?:foreign
 adverb|question adverb?)?
 (?:subject [ABOUT adverb fully]{0,2} (?:[word adverb ABOUT question]{0,8}? (?P<n1>DENIED?) is
 (?P<n2>DENIED?)|(?P<n6>DENIED?))
 |(?P<n3>DENIED?) is (?P<n4>DENIED?)|(?<=[opinion doubt])|(?<![^comma]) noun)
 (?:comma [opinion adverb so]+ comma)? [adverb fully noun question]* (?P<adj>[right wrong])
 (?:or adverb* (?P=adj))* ABOUT? adverb* (?:[word ABOUT]{0,3} question)?
 (?P<n5>DENIED?) is? adverb*
 (?=$|[stop comma colon open close line because dash but query bullet so]|or (?![WORDS not]))
STARTS = (?:^|(?<=[stop line bullet colon boxed query comma dash])|(?<=[yes no]) (?!is)|(?<=so))
# A sentence with one verdict, at its end, and before it the answer that is judged; a denial stands
# beside the verdict. 'Everything in the answer is accurate', 'I would mark this answer as correct'.
OTHER = [^ENDS WORDS not fine flawed fails unsure doubt but fully]*
NEAR = [^ENDS WORDS not fine flawed fails unsure doubt but fully is]*
OF_THE_WHOLE = OTHER (?P<subject>subject) (?:OTHER (?P<n1>DENIED?) is (?P<n3>DENIED?) adverb*
 |NEAR (?P<n4>DENIED?) adverb*) (?P<adj>[right wrong]) adverb* (?P<n2>DENIED?) is?
 (?:[ABOUT adverb close]|ABOUT [word foreign]+)* (?:ENDS?|because .*)
# What is wrong about an answer that is called right: '..., the dose is wrong'.
PART_WRONG = (?<=[stop comma line dash but]) [adverb word foreign noun]{1,4} (?:is adverb* wrong
 |wrong is|DENIED is? adverb* right|is DENIED adverb* right|right DENIED is) (?=[ENDS comma]|$)
# What leads to a statement: a word, a label, 'therefore', 'according to the guidelines,'.
LEAD_IN = bullet? (?:[yes no] comma|yes)|[^comma]{0,12} colon|(?:[^ENDS]* comma)? so comma?
 |(?:adverb|[word foreign offer]? agree is?) comma|[opinion adverb]*
 NEUTRAL according (?:NEUTRAL comma but?|(?=opinion))
UNFIT = [opinion adverb so comma]* (?:ANSWER fails|fails)
PARTLY = [DENIED doubt]
QUALIFIED = [comma dash] but
VERB = [is not]|[opinion doubt] adverb* subject? [adverb fully]* [right wrong]
NO_VERB = no is

# What speaks against a verdict: 'No. You are right', 'My answer, yes', '..., but yes'.
PRAISED = (?<![not doubt no] [^stop comma line]{0,4}) praise|ABOUT comma yes
BLAMED = (?<![not doubt no] [^stop comma line]{0,4}) blame|ABOUT comma no
CONCEDED = comma? but
CLAUSES = [^stop comma colon query line open close dash]+ (?=[stop comma colon line open close
 dash]|$)
UNFIT_ANSWER = (?:^|[stop line comma but]) ANSWER fails
AGAINST_YES = subject [^ENDS comma doubt no not but]{0,4} wrong (?![not no subject opinion])|but
 [^stop line]{0,5} no (?=$|[stop comma line])
AGAINST_NO = but [^stop line]{0,5} yes|(?<![doubt no not]) subject is? adverb* right (?=$|[stop
 comma line]) (?!comma? but)
JUDGED = [right ABOUT]
TELLS = [subject yes no right wrong noun]
""")
