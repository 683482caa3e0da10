"""The grammar of Yes and No: rules over rows of token kinds (`kinds`).

No rule knows a language. Bounds keep what they count within one clause: a few words.
"""

from __future__ import annotations

from xling_tasks.readers.kinds import Grammar

RULES = Grammar("""
ENDS = [stop query line]
BUT = [but supposing]
DENIED = [not no]
WORDS = [yes no right wrong]
ABOUT = [subject noun]

# One verdict, in words that stand alone; negations before an adjective (en, es) or after it (hi).
ITEM = (?:(?P<no>DENIED is? adverb* right|right DENIED is?
 |wrong (?!DENIED is? (?:[stop comma line]|$)) is?|no is?|fails)
 |(?P<yes>yes is?|right is?|wrong DENIED is?|not is? adverb* wrong))
EDGE = [bullet boxed stop comma open colon dash slash close]*
LABEL = (?:noun [word ABOUT adverb]{0,4} [colon dash so] |(?<![word foreign]) noun [word foreign
 ABOUT adverb is]{0,4} colon |[adverb right]* ABOUT noun? [right adverb]* is colon?|noun word{0,2}
 subject is colon? |noun is opinion (?=no|yes)|boxed|so adverb* is? [comma colon]?|ABOUT adverb*
 colon |so comma? [word foreign]{1,3} colon|ABOUT right [noun word adverb]{0,4} is colon |ABOUT
 dash (?=[yes no] (?:[stop line]|$))|is? subject? right is? colon |noun [word adverb]? is (?=[yes
 no] adverb* (?:[stop line]|$))|ABOUT (?=no [stop line]* $)|ABOUT is (?=no (?:comma|[stop
 line]|$)) |right? noun adverb* (?=[yes no] adverb* (?:[is stop comma line colon dash
 because]|$)))
# What leads to a verdict: 'In short, ', 'from a doctor's view, '; 'I think not' alone is no No.
NEUTRAL = [^ENDS comma WORDS unsure flawed fine fails not supposing asked]*
LEAD = (?:adverb+|[opinion adverb]+ [comma colon]|NEUTRAL according NEUTRAL comma BUT?
 |opinion+ (?=[yes no] adverb* (?:[comma stop colon dash line]+ [^ENDS but]|because)))?
START = EDGE LEAD LABEL*
BREAK = (?=$|[stop comma colon open close line query dash because bullet]|(?<=right|wrong) or
 adverb* [word foreign]{1,3} (?:$|[ENDS]))
BARE = LEAD (?:EDGE LABEL* [adverb comma colon]* ITEM)+ EDGE is? EDGE
LABELS = ^ START
OPENING = START (?:because (?=[yes no] stop))? adverb* (?:fully (?![right wrong] DENIED))?
 ITEM (?:[comma stop]* adverb* ITEM)* [adverb opinion]* BREAK
# 'No this answer is wrong because ...', without a mark between.
TWICE = (?:START|NEUTRAL comma) (?:(?P<yes>yes) (?:[word foreign]? comma)? (?P<what>subject)
 adverb* is? adverb* right (?! DENIED) |(?P<no>no) comma? (?P<what>subject) adverb* (?:is? adverb*
 wrong (?! DENIED)|DENIED is? right |is DENIED right|right DENIED)) is? [^query]
# 'Wait, ... Correction: yes.'
CORRECTED_TO = (?<=ENDS .* ENDS) wait [colon comma is]+ ITEM [stop line]* $
MARKED = (?:^|(?<=[stop comma colon line bullet open ABOUT query opinion] |[word foreign]
 (?=so|noun)|foreign adverb (?=ABOUT))) (?P<label>LABEL+) EDGE adverb* ITEM BREAK
BOTH = EDGE LABEL* [yes no right wrong] [slash or comma line]+ [yes no right wrong] BREAK
TAKEN_BACK = START ITEM (?:[comma stop]? ITEM)* (?:[comma colon dash]* BUT |[comma stop colon dash]*
 [adverb word foreign noun not]{0,4} [comma stop dash]* [offer refusal]|[comma stop open] unsure
 [word foreign is adverb close WORDS]* [stop line]* $)
# 'No. Wait, ...', '判断：错误。更正：...': what stands before must be said again.
WAIT = (?:(?<=^|[ENDS comma colon dash open]) [adverb BUT or opinion]*|(?<=[foreign noun
 adverb subject])) wait (?:comma? BUT)?
HESITANT = START ITEM (?:[comma]? ITEM)* stop{2,} line* (?=[^stop line])
ITEM_ENDS = adverb* ITEM [stop line]*
QUOTES = [word foreign adverb noun or is according]* subject [^WORDS not unsure doubt query
 stop]{0,5}
SAYS = [WORDS fine flawed fails]
SENTENCE = [^ENDS]* ENDS?

# 'No. ... They can't give you influenza': what others cannot is the matter.
CANNOT = (?<=WORDS [^ENDS]* ENDS .*) (?<=ENDS) [bullet adverb]* [word foreign]
 [^ENDS BUT self offer subject noun opinion refusal]* refusal [^ENDS self offer subject noun WORDS]*
# 'The answer is wrong because one cannot replace insulin': what cannot be is the matter.
REASON = (?<=subject [^ENDS WORDS unsure]{0,4} [right wrong] adverb*) comma? [because colon]
 [^ENDS]*
# What says nothing: what is granted ('Although the facts are right, ...'), the form that was asked
# for ('(Yes or No)'), what is polite; a line that is a label alone heads what follows it.
GRANTED = (?:^|(?<=[stop line comma]))
 (?:concession [^ENDS comma]* comma|[^ENDS comma granted]* granted) (?=[^ENDS]* [^ENDS])
GRANTS = [^comma stop line]
# 'No, although parts of it are true'; 'Yes, although it could mention ...', and nothing against it.
GRANTED_AFTER = (?<=(?:^|[stop line colon]) no comma) concession (?![is subject]) [^ENDS]*
 |(?<=(?:^|[stop line colon]) (?:yes|subject adverb* is? adverb* right adverb* is?) comma)
 concession [^ENDS no not wrong BUT fully]* (?=ENDS|$)
FORM = open? (?P<one>WORDS) comma? [or slash]+ (?!(?P=one)) WORDS (?:close|(?=[stop line]|$))
# 'It is wrong and may be harmful': the doubt is about more of the same.
MORE_BLAME = (?<=(?<!DENIED adverb*) wrong is?) (?:comma? but adverb* wrong|[or comma]
 (?:unsure [word foreign is adverb]* wrong|[word foreign]* wrong unsure)) (?=is? (?:[ENDS comma]|$))
DOUBTS = [^wrong]
# 'It raises blood pressure, so it is dangerous': the drug is.
HARMS = (?<=(?:^|ENDS) [^ENDS noun opinion]*[word foreign][^ENDS noun opinion]* so comma?
 [subject adverb is comma]{0,4}) wrong
# 'Yes, the answer is correct: no, one should not ...' repeats what the answer says.
RESTATED = (?<=^ [bullet open]* [yes no] comma [^ENDS colon]* [right wrong] [^ENDS colon]{0,3}
 colon) [yes no] comma [^ENDS]*
HEAD_ALONE = [noun subject adverb word foreign]{1,6} [colon line]*
HEADING = (?:^|(?<=line)) [adverb right bullet]* (?:[word foreign]? noun word? |ABOUT) [ABOUT
 adverb]* (?:query (?=line [yes no]))? line
POLITE = ^ [bullet open adverb]* polite+ [comma stop colon dash]* BUT? comma? line* (?=.)
|^ emphatic comma (?=[subject word foreign is adverb polite opinion so doubt])
# 'Yes, sure! I will check ...': the Yes may be polite, too; 'I am not a doctor, but ...': what
# follows counts.
COURTESY = (?<=^ [bullet open]* yes) [comma stop]+ (?:[adverb certain emphatic] [comma stop]+)?
 polite+ [comma stop]*
# 'No, I am an AI and give no advice': a word on who speaks.
SPEAKER = ^ [bullet open adverb]* [yes no] comma (?=am)
DISCLAIMER = ^ (?:[adverb foreign] comma)? (?!no foreign|LEAD ITEM [adverb opinion]* comma)
 (?=[^comma]* [not no offer refusal polite]) [word foreign adverb noun offer not no is concession
 refusal self or shows polite]{2,14} [comma stop] BUT comma? (?=[^ENDS]* [right wrong yes no])
# 'Unfortunately not.'
NOT_ALONE = ^ [bullet open]* adverb+ not (?=stop)
# 'The answer says that it cures diabetes, which is false.'
CLAIMS = subject [^ENDS WORDS unsure DENIED colon]* comma [word foreign subject]{0,2} is? adverb*
 wrong is? (?=[ENDS])
CERTAIN = ^ [bullet open]* certain (?=stop|comma? yes)
EMPHATIC = ^ [bullet open]* emphatic (?=colon|[stop line]* $|[adverb opinion is]* [yes right])

# 'It does not answer the question', in the order of any language.
CLAUSE = [^ENDS comma DENIED BUT concession right wrong]*
FAILS = (?:(?<=subject [foreign adverb]?) (?:question (?:right? subject (?:is? foreign? DENIED
 is?|DENIED is))) |(?<=subject CLAUSE) DENIED CLAUSE right? [replies ABOUT] CLAUSE [no right]?
 CLAUSE question |(?<=subject CLAUSE|^|[stop line comma BUT because]) (?:DENIED CLAUSE replies
 CLAUSE no? CLAUSE question|not CLAUSE ABOUT CLAUSE question |question CLAUSE right? ABOUT? DENIED
 CLAUSE replies|question CLAUSE replies CLAUSE DENIED))

# 'It correctly answers the question', 'I agree with the answer', and not.
MEETS = (?<=subject [adverb fully]*) (?:right foreign? [replies ABOUT] adverb? question
 |replies right [word ABOUT]{0,2} question|question right [foreign ABOUT]? replies)
 is? (?=$|[ENDS comma because]) (?!comma? BUT)|(?<=subject [adverb fully]*) replies adverb*
 question adverb* right (?=$|[ENDS comma because])|(?<=^|[ENDS comma]) adverb* question [word
 is shows]{0,2} replies adverb* right (?=$|[ENDS comma because])
SMALL = [subject noun adverb fully because is opinion]
ABOUT_IT = [self shows replies word foreign adverb fully opinion subject is so offer]
AGREES = (?<=^|[stop line comma]) (?P<before>[ABOUT_IT DENIED]*) (?P<what>agree|disagree)
 (?P<after>(?:[SMALL DENIED self shows so offer]*|(?<=subject [ABOUT_IT DENIED]* .)
 [ABOUT_IT DENIED]*) (?:word? subject [ABOUT_IT DENIED]*)?) (?=$|[ENDS comma colon because dash])
 (?!comma? BUT|because SMALL* WORDS)
# 'I disagree. Aspirin is not for children.'
# 'I cannot agree'
CANNOT_AGREE = refusal (?=adverb? agree)
AGREES_ALONE = (?:self word{0,2}|offer)? DENIED? [agree disagree] [DENIED is]* [stop comma colon
 because] (?![^ENDS]* asked) [^ENDS]
# 'So no, you don't need antibiotics' answers the question on health.
SO_ELSEWHERE = so adverb* is? comma? [yes no] comma
 [^ENDS right wrong subject noun question fine flawed because opinion]* (?:ENDS|$)
# 'Is it contagious? Yes.'
ANSWERED = query line* (?:[word foreign]{1,2} colon)? [bullet open adverb]* (?P<said>[yes no])
# 'Is the answer correct? No, ...', 'I was asked whether it is correct, and I have to say no'
ASKED = ^ [^ENDS wrong DENIED]* right [^ENDS wrong DENIED]* query line* (?=.)
 |^ [^ENDS WORDS]* asked (?=[^ENDS comma]* subject) [^ENDS]*? right [^ENDS wrong]*? [comma or]+
 (?:[self offer]? opinion+ (?=[yes no])|(?=self? [opinion noun]))
 |^ [^ENDS WORDS asked]* (?:asked adverb* subject|subject adverb* asked is?) [comma or]+
 (?=[subject is DENIED])

# 'Is it correct? It is.'
ASKED_ONLY = ^ is subject adverb* right query line* (?P<says>subject (?:is|not)) (?=stop|$)

# Who judges says how: 'I would mark it as correct', '判为正确', 'मैं इसे गलत कहूँगा'; so may be
# said of the answer ('it cannot be accepted as correct'). A mistake is there, or is not.
PART = [ENDS comma colon dash open close BUT so bullet because]
GRADED = (?<=^|PART) (?P<before>[self shows subject word foreign offer refusal noun adverb is DENIED
 opinion fully agree]{0,6}?) (?:(?:judges (?! is)|marks|agree (?=[subject adverb]* because)
 |(?<=[self offer]) noun) (?P<n1>DENIED?) (?:SMALL|[word foreign] (?=SMALL|WORDS)){0,4}
 (?P<value>WORDS) [subject noun adverb is]{0,4} (?:[word foreign]? question)? |SMALL{0,4}
 (?P<value>[yes right wrong]) [subject noun adverb foreign is]{0,2} (?P<n2>DENIED?) [judges marks]
 [subject adverb is]*) (?P<n3>DENIED?) is? (?=$|PART|or (?!adverb* [WORDS not])|(?<=adverb|subject)
 opinion)
# 'I did not find that the answer has errors'
NOT_FOUND = DENIED [foreign word shows opinion adverb]{1,2} subject [word adverb]* $
OWN = [^foreign]* [self offer refusal]
MODIFIER = [matter replies right opinion noun adverb word foreign wrong or]
DENIES = [DENIED adverb offer refusal is]
FAULT = (?P<deny>DENIES{0,4}) (?:(?P<shows>shows) (?P<deny2>DENIES{0,3})|(?<=DENIED adverb?))
 (?P<between>MODIFIER{0,4}?) (?P<fault>fault|[noun matter]? [wrong right] [noun subject
 matter]|[noun matter] [wrong right]|wrong|question) (?P<deny3>(?:[adverb foreign]? DENIED)?) is?
 (?=adverb* word? (?:$|PART|or)|(?<=[noun matter] wrong|wrong [noun matter]) word|word{1,2} adverb*
 subject|(?<=DENIED) foreign is? (?:$|PART))
# 'Everything in the answer', '回答中的所有内容': it is about the whole of it.
OF_IT = [adverb matter word foreign noun subject]
ALL_OF_IT = whole adverb* subject [word matter] (?=adverb* [is DENIED])
 |whole OF_IT{0,3}? (?:[within shows opinion] [adverb word]{0,2})? subject
 |subject (?:[within shows] OF_IT{0,2}|OF_IT?) whole (?:matter|subject|foreign (?=[right wrong]))?
SUBJECTS = (?<=subject) (?:adverb* [within shows])? adverb* subject
GIVES = (?<=subject [word foreign adverb shows]{0,4}) (?P<fault>[wrong right] [subject noun
 matter]) (?P<deny>DENIED?) replies is? (?=$|PART|or)
BEHIND = word+ adverb* subject
ALONE = adverb* word? adverb* (?:$|[ENDS because colon dash])
# What may lead to 'no mistakes' where the answer is not named.
LED = (?:[^ENDS]* [comma or colon dash])? [adverb opinion self shows offer refusal]*
# 'If I had to judge it, ...': the condition says nothing.
SUPPOSING = supposing|(?<=^|[ENDS]) yes word
SUPPOSED = (?<=^|PART) (?:supposing|yes) [self word foreign opinion is]{0,4} [judges marks noun]
 [subject word foreign]? (?=comma)
# A sentence that says whether the answer is correct.
ANSWER = (?:foreign adverb|question adverb?)? subject [ABOUT adverb fully word foreign is
 question]{0,4}
STATEMENT = [opinion agree adverb so comma noun]* (?P<doubt>(?:doubt|not (?=[opinion adverb]*
 subject))?) [opinion adverb]* (?:(?:foreign adverb|question adverb?)? subject [ABOUT adverb
 fully]{0,2} (?:[word adverb ABOUT question]{0,8}? (?P<n1>DENIED?) is
 (?P<n2>DENIED?)|[word foreign] (?P<n7>not)|(?P<n6>DENIED?)) |(?P<n3>DENIED?) is
 (?P<n4>DENIED?)|(?<=[opinion doubt])|(?<![^comma]) noun) (?:comma
 [opinion adverb so because]+ comma)? [adverb fully noun question opinion]* (?P<also>(?:[word
 foreign] comma adverb*){0,2} [word foreign] comma? or is? adverb*)?
 (?P<adj>[right wrong]) (?:or adverb* (?P=adj))* ABOUT? adverb* (?:[word ABOUT]{0,3} question)?
 (?P<n5>DENIED?) is? adverb* (?=$|[stop comma colon open close line because dash BUT query bullet
 so]|or (?!not|[adverb fully]* WORDS DENIED? is? (?:$|[ENDS comma])))
STARTS = (?:^|(?<=[stop line bullet colon boxed query comma dash])|(?<=[yes no]) (?!is)|(?<=so))
# What is wrong about an answer that is called right: '..., the dose is wrong'.
PART_WRONG = (?<=[stop comma line dash BUT or]) [adverb word foreign noun]{1,4} (?:is adverb*
 wrong |wrong is|DENIED is? adverb* right|is DENIED adverb* right|right DENIED
 is|(?<=foreign|noun) wrong) (?=[ENDS comma]|$)
# What leads to a statement: a word, a label, 'therefore', 'according to the guidelines,'.
LEAD_IN = bullet? (?:[yes no] comma|yes)|(?:so comma)? [^comma]{0,12} colon|word
 (?=opinion)|(?:[^ENDS]* comma)? so comma? |(?:adverb|[word foreign offer]? agree is?)
 comma|[opinion adverb]* NEUTRAL according (?:NEUTRAL comma BUT?|(?=opinion))
LAST_CLAUSE = [^ENDS supposing]* but comma?
 |[^ENDS supposing unsure]*[word foreign subject][^ENDS supposing unsure]* comma
# 'This is a wrong answer', 'सही उत्तर है', 'Not a correct answer': the answer is named behind.
NAMED = [opinion adverb so comma]* (?P<whole>(?:subject{1,2} [adverb foreign question]{0,3}
 (?P<n1>DENIED?) is? (?P<n2>DENIED?))?) is? (?P<n3>DENIED?) [adverb noun question foreign word]{0,2}
 (?P<adj>[right wrong]) adverb* (?P<named>subject) (?:word{0,2} question)? (?P<n4>DENIED?) is?
 (?P<n5>DENIED?) is? foreign? (?=$|[ENDS comma colon dash or because])
# 'It is short, but correct', '回答简短但正确': what is granted is no verdict.
CONCEDES = (?=[^ENDS but]*? [subject is]) [^ENDS WORDS unsure fine flawed fails but supposing
 query not]+ but comma?
UNFIT = [opinion adverb so comma]* (?:ANSWER (?:[^ENDS comma WORDS unsure BUT]* or question?)?
 replies? fails|fails)|[is word opinion]{0,4} subject [subject is word foreign adverb]{0,7} fails
 (?=$|[ENDS colon])
# The sentence before another one; one more on the answer, or one that breaks off.
BEFORE = [^ENDS]+ ENDS+ $
MORE_TOLD = subject [^WORDS ENDS]* [word foreign][^WORDS ENDS]* (?:ENDS|$)|[^ENDS]$
UNFIT_ALONE = [^word foreign]* $
PARTLY = [DENIED doubt]
# 'The answer is partially correct.'
PARTLY_SO = LEAD subject [ABOUT adverb is]* unsure adverb* [right wrong] [stop line]
QUALIFIED = [comma dash] BUT
VERB = [is not]|[opinion doubt] adverb* subject? [adverb fully]* [right wrong]
NO_VERB = no is

CONCEDED = comma? BUT
CONCEDED_WORD = comma [^ENDS]+ BUT
LABELLED = colon adverb* [yes no] (?:$|[stop comma line])
CLAUSES = [^stop comma colon query line open close dash]+ (?=[stop comma colon line open close
 dash]|$)
# What speaks against a verdict: 'No. You are right', 'My answer, yes', '..., but yes'.
TO_IT = (?<![not doubt no] [^stop comma line]{0,4})
# 'As for what the answer says on colds, I don't know.'
NOT_KNOWN = subject [^ENDS WORDS fine flawed]* [unsure refusal] adverb* foreign? (?=[ENDS]|$)
AGAINST_YES = NOT_KNOWN|comma? but (?=[stop line]|$)|(?<=^|ENDS) BUT comma? [word or opinion
 unsure is adverb foreign subject noun]{1,12}? (?:wrong |DENIED is? [adverb word]? right|is DENIED
 adverb* right|right DENIED is?) adverb* (?=[comma stop line]|$)|flawed|TO_IT blame|ABOUT comma
 no|(?:^|[stop line comma BUT]) ANSWER fails|subject [^ENDS comma doubt no not BUT]{0,4} wrong
 (?![not no subject opinion])|BUT [^stop line]{0,5} no (?=$|[stop comma line])
# 'There is nothing wrong' ('with this answer', and not 'with taking it').
FINE_ALONE = (?<=(?:^|PART|or) (?:[^foreign word ENDS]* word?){0,2} [^foreign word ENDS]*
 |subject [^ENDS]*) fine (?! [comma dash]* BUT)
 (?=is? [adverb opinion]* (?:$|[^word])|word? adverb* subject (?! word word))
AGAINST_NO = NOT_KNOWN|FINE_ALONE|TO_IT praise|ABOUT comma yes|BUT [^stop line]{0,5} yes
 |(?<![doubt no not]) subject is? adverb* right adverb* is? (?=$|[stop comma line]) (?!comma? BUT)
IF = (?! is adverb* [right wrong] (?:because|stop|$)) [^ENDS comma colon open dash close BUT]
 [^ENDS comma]* comma (?! BUT)
# Where a reply comes to its verdict: a label or heading of it, 'therefore', its last sentence.
COMES_TO = (?:^|(?<=line)) [bullet adverb right word foreign subject]{0,3} [noun opinion]{1,2}
 [word ABOUT adverb]{0,2} colon |(?<=ENDS [^ENDS]* [noun opinion so wait subject] [^ENDS]* colon)
 (?P<own>) (?=[yes no] [stop line]* $)|(?<=line [word foreign]{1,2} colon) (?P<own>) (?=[yes no]
 (?:[stop line]* $|comma? subject [^line]* $)) |(?<=[ENDS comma]) [adverb opinion]* so|(?<=^
 [^so]*) so (?=[right wrong] [stop line]* $) |(?<=[ENDS]) (?=[^ENDS]* [^ENDS] [ENDS bullet]* $)
# 'Yes, garlic is healthy, but it cures no diabetes': the Yes is not about the answer.
YES_BUT = START yes comma [^ENDS]* [comma stop] but
GOES_ON = START ITEM comma [^ENDS]
# 'The correct answer is: No, one should not ...' answers the question that was judged; 'Yes, that
# is a common question' opens a talk.
ANSWERS_IT = [bullet boxed adverb]* (?:right noun? [ABOUT noun]|[ABOUT noun] right) [word adverb
 opinion]{0,2} [is colon so]+ [yes no] adverb* comma (?!adverb* (?:[subject because]|is? [right
 wrong]))
TALK = [^ENDS right wrong replies fine praise so subject]*
TALKS = START yes comma subject? TALK [question asked offer] TALK (?:ENDS|$)
# 'Correct: 0', 'Correct: N': a field of a form, with a value of its own.
FIELD = [bullet open adverb]* [right wrong] colon word{1,2} (?:[stop line]|$)
GOES_ON_SO = comma [word foreign] [^ENDS]
ASKS = [right wrong yes no noun fine flawed]
# A doubt counts where it is about the answer: in the clause of it, or before what is said of it.
TELLS = (?:[subject noun right wrong fine flawed]|^ [adverb comma opinion]* [yes no])
 [^ENDS comma colon because]* unsure|unsure (?:(?!comma subject) [^ENDS so])* [right wrong
 fine flawed]
 |^ [adverb comma opinion]* [yes no right wrong] [^ENDS because]* unsure
""")
