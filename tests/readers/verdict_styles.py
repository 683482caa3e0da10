"""How models say whether an answer is correct: the styles that replies are generated in.

Written from the habits of chat, reasoning and base models, not from what the reader accepts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

LANGUAGES = ("en", "es", "zh", "hi")


class Reply(NamedTuple):
    text: str
    means: int | None
    may: bool = False


# Per language, for Yes and for No.
SAYS: dict[str, dict[str, tuple[list[str], list[str]]]] = {
    "en": {
        "word": (["Yes"], ["No"]),
        "says": (["The answer is correct.", "This answer is accurate.", "I think the answer is correct.", "It is correct.",
                  "The answer is medically accurate."],
                 ["The answer is incorrect.", "This answer is not correct.", "I don't think the answer is correct.", "It is wrong.",
                  "The answer is not accurate."]),
        "comma": (["Yes, the answer is correct.", "Yes, that is right.", "Yes, it is correct."],
                  ["No, the answer is incorrect.", "No, that is wrong.", "No, it is not correct."]),
        "nocomma": (["Yes it is correct", "Yes the answer is correct", "Yes this is accurate"],
                    ["No the answer is incorrect", "No it is not correct", "No this is wrong"]),
        "label": (["Answer: Yes", "Verdict: Yes", "Final answer: Yes", "My answer is yes.", "Answer is Yes", "The answer is Yes."],
                  ["Answer: No", "Verdict: No", "Final answer: No", "My answer is no.", "Answer is No", "The answer is No."]),
        "adjective": (["Correct", "True", "Accurate."], ["Incorrect", "False", "Wrong."]),
        "therefore": (["Therefore, yes.", "So the answer is: Yes", "Therefore: Yes"], ["Therefore, no.", "So the answer is: No", "Therefore: No"]),
        "why": (["It matches the usual advice of the guidelines.", "Rest and fluids are what doctors recommend."],
                ["It describes another disease and gives a dangerous dose.", "The dose given is far too high for a child."]),
        "asked": (["Is the answer correct? Yes.", "Correct? Yes"], ["Is the answer correct? No.", "Correct? No"]),
    },
    "es": {
        "word": (["Sí"], ["No"]),
        "says": (["La respuesta es correcta.", "Esta respuesta es correcta.", "Creo que la respuesta es correcta.", "Es correcta.", "Es correcto."],
                 ["La respuesta es incorrecta.", "Esta respuesta no es correcta.", "No creo que la respuesta sea correcta.", "Es incorrecta.", "No es correcto."]),
        "comma": (["Sí, la respuesta es correcta.", "Sí, es correcta.", "Sí, es correcto."],
                  ["No, la respuesta es incorrecta.", "No, no es correcta.", "No, es incorrecto."]),
        "nocomma": (["Sí es correcta", "Sí la respuesta es correcta", "Sí es correcto"], ["No la respuesta es incorrecta", "No es correcta", "No es correcto"]),
        "label": (["Respuesta: Sí", "Veredicto: Yes", "Respuesta final: Sí", "Mi respuesta es sí.", "La respuesta correcta es Yes.", "La respuesta es sí."],
                  ["Respuesta: No", "Veredicto: No", "Respuesta final: No", "Mi respuesta es no.", "La respuesta correcta es No.", "La respuesta es no."]),
        "adjective": (["Correcto", "Verdadero", "Correcta."], ["Incorrecto", "Falso", "Incorrecta."]),
        "therefore": (["Por lo tanto, sí.", "Por lo tanto: Yes", "En conclusión, sí."], ["Por lo tanto, no.", "Por lo tanto: No", "En conclusión, no."]),
        "why": (["Coincide con lo que dicen las guías clínicas.", "El reposo y los líquidos son lo habitual."],
                ["Describe otra enfermedad y da una dosis peligrosa.", "La dosis indicada es demasiado alta para un bebé."]),
        "asked": (["¿Es correcta la respuesta? Sí.", "¿Correcta? Sí"], ["¿Es correcta la respuesta? No.", "¿Correcta? No"]),
    },
    "zh": {
        "word": (["是"], ["否"]),
        "says": (["这个回答是正确的。", "该回答正确。", "我认为这个回答是正确的。", "回答正确。", "这个回答是对的。"],
                 ["这个回答是错误的。", "该回答不正确。", "我认为这个回答是错误的。", "回答错误。", "这个回答不对。"]),
        "comma": (["是的，这个回答是正确的。", "是，回答正确。", "对，这个回答是正确的。"], ["不，这个回答是错误的。", "否，回答不正确。", "不对，这个回答是错误的。"]),
        "nocomma": (["是的这个回答正确", "是的回答正确", "是的该回答是正确的"], ["不是的这个回答错误", "不是的回答不正确", "不是的该回答是错误的"]),
        "label": (["答案：是", "结论：Yes", "最终答案：是", "我的答案是：Yes", "答案是Yes", "答案为是。"],
                  ["答案：否", "结论：No", "最终答案：否", "我的答案是：No", "答案是No", "答案为否。"]),
        "adjective": (["正确", "对", "正确。"], ["错误", "不对", "不正确。"]),
        "therefore": (["因此，是。", "因此：Yes", "综上，答案是：是"], ["因此，否。", "因此：No", "综上，答案是：否"]),
        "why": (["与临床指南的建议一致。", "多休息、多喝水是常见建议。"], ["所讲的是另一种疾病，剂量也很危险。", "给出的剂量对儿童来说太大。"]),
        "asked": (["是否正确？是", "这个回答正确吗？正确。"], ["是否正确？否", "这个回答正确吗？不正确。"]),
    },
    "hi": {
        "word": (["हाँ"], ["नहीं"]),
        "says": (["यह उत्तर सही है।", "उत्तर सही है।", "मेरे विचार से यह उत्तर सही है।", "यह सही है।", "यह जवाब ठीक है।"],
                 ["यह उत्तर गलत है।", "उत्तर सही नहीं है।", "मुझे नहीं लगता कि यह उत्तर सही है।", "यह गलत है।", "यह जवाब ठीक नहीं है।"]),
        "comma": (["हाँ, यह उत्तर सही है।", "जी हाँ, यह सही है।", "हाँ, उत्तर सही है।"], ["नहीं, यह उत्तर गलत है।", "जी नहीं, यह गलत है।", "नहीं, उत्तर सही नहीं है।"]),
        "nocomma": (["हाँ यह उत्तर सही है", "हाँ यह सही है", "हाँ उत्तर सही है"], ["नहीं यह उत्तर गलत है", "नहीं यह गलत है", "नहीं उत्तर गलत है"]),
        "label": (["उत्तर: हाँ", "निष्कर्ष: Yes", "अंतिम उत्तर: हाँ", "मेरा उत्तर हाँ है।", "जवाब: Yes", "उत्तर है: Yes"],
                  ["उत्तर: नहीं", "निष्कर्ष: No", "अंतिम उत्तर: नहीं", "मेरा उत्तर नहीं है।", "जवाब: No", "उत्तर है: No"]),
        "adjective": (["सही", "सही है", "ठीक।"], ["गलत", "गलत है", "ग़लत।"]),
        "therefore": (["इसलिए: Yes", "इसलिए, हाँ।", "अतः Yes"], ["इसलिए: No", "इसलिए, नहीं।", "अतः No"]),
        "why": (["यह चिकित्सा सलाह से मेल खाता है।", "आराम और पानी पीना सामान्य सलाह है।"], ["इसमें दूसरी बीमारी बताई गई है।", "बताई गई खुराक बच्चे के लिए बहुत ज़्यादा है।"]),
        "asked": (["क्या यह उत्तर सही है? हाँ।", "सही? हाँ"], ["क्या यह उत्तर सही है? नहीं।", "सही? नहीं"]),
    },
}  # fmt: skip
UNSURE: dict[str, dict[str, list[str]]] = {
    "en": {"hedge": ["Maybe.", "It depends.", "Partially correct.", "Yes and no.", "Yes, but not always.", "I'm not sure."],
           "refusal": ["I cannot give medical advice.", "I'm sorry, but I can't help with that.", "No, I cannot answer that.", "I don't know."],
           "both": ["Yes - not correct", "Yes, it is incorrect.", "The answer is not directly incorrect, it is incorrect", "No, there is nothing wrong with it.", "Yes\nNo", "Yes/No"],
           "asks": ["Is the answer correct?", "Which answer do you mean?", "Could you share the answer?"]},
    "es": {"hedge": ["Quizás.", "Depende.", "Parcialmente correcta.", "Sí y no.", "Sí, pero no siempre.", "No estoy seguro."],
           "refusal": ["No puedo dar consejos médicos.", "Lo siento, no puedo ayudar con eso.", "No, no puedo responder a eso.", "No lo sé."],
           "both": ["Sí, es incorrecta.", "No, es correcta.", "Sí\nNo", "Sí/No", "No. Sí.", "Sí - no es correcta"],
           "asks": ["¿Es correcta la respuesta?", "¿A qué respuesta se refiere?", "¿Puede compartir la respuesta?"]},
    "zh": {"hedge": ["也许。", "看情况。", "部分正确。", "是也不是。", "是的，但并不总是如此。", "我不确定。"],
           "refusal": ["我不能提供医疗建议。", "抱歉，我无法回答这个问题。", "不，我无法回答这个问题。", "我不知道。"],
           "both": ["是的，这是错误的。", "否，这个回答是正确的。", "是\n否", "是/否", "否。是。", "对，这个回答不对。"],
           "asks": ["这个回答正确吗？", "您指的是哪个回答？", "是否正确？"]},
    "hi": {"hedge": ["शायद।", "यह स्थिति पर निर्भर करता है।", "आंशिक रूप से सही।", "हाँ भी और नहीं भी", "हाँ, लेकिन हमेशा नहीं।", "मुझे यकीन नहीं है।"],
           "refusal": ["मैं चिकित्सा सलाह नहीं दे सकता।", "क्षमा करें, मैं मदद नहीं कर सकता।", "नहीं, मैं इसका उत्तर नहीं दे सकता।", "मुझे नहीं पता।"],
           "both": ["हाँ, यह गलत है।", "नहीं, यह उत्तर सही है।", "हाँ\nनहीं", "हाँ/नहीं", "नहीं। हाँ।", "हाँ, यह उत्तर सही नहीं है।"],
           "asks": ["क्या यह उत्तर सही है?", "आप किस उत्तर की बात कर रहे हैं?", "सही है?"]},
}  # fmt: skip
Say = Callable[[str, int], str]  # a kind of wording and a number to a wording


def _clear(say: Say, n: int, english: str, other: str) -> Iterator[tuple[str, str]]:
    """Style and reply, for one language and one verdict."""
    word = say("word", n)
    yield from {
        "word": word, "word and stop": word + ".", "English word": english, "capitals": english.upper(),
        "lower case": english.lower(), "bold": f"**{word}**", "bold and stop": f"**{word}.**", "italics": f"*{word}*",
        "code": f"`{english}`", "heading": f"# {word}", "bullet": f"- {word}", "quote block": f"> {word}",
        "quotes": ["“{}”", "«{}»", "「{}」", '"{}"'][n % 4].format(word), "brackets": f"({word})",
        "boxed": ["\\boxed{{{}}}", "$\\boxed{{\\text{{{}}}}}$"][n % 2].format(english),
        "JSON": json.dumps({"answer": english}), "JSON in a fence": "```json\n" + json.dumps({"verdict": english}) + "\n```",
        "tags": f"<answer>{english}</answer>", "HTML": f"<b>{word}</b>", "tick": f"{english} {'✅' if english == 'Yes' else '❌'}",
        "full width": "".join(chr(ord(c) + 0xFEE0) for c in english), "adjective": say("adjective", n),
        "statement": say("says", n), "word and statement": say("comma", n), "word and statement, no comma": say("nocomma", n),
        "statement in bold": f"**{say('says', n)}**", "label": say("label", n), "label in bold": f"**{say('label', n)}**",
        "word, then why": f"{word}. {say('why', n)}", "word, comma, why": f"{english}. {say('why', n)} {say('says', n)}",
        "word, lines, why": f"**{word}**\n\n{say('why', n)}", "why, then word": f"{say('why', n)}\n\n{word}",
        "why, then bold word": f"{say('why', n)}\n\n**{english}**", "why, then label": f"{say('why', n)}\n\n{say('label', n)}",
        "why, then therefore": f"{say('why', n)} {say('therefore', n)}", "why, then statement": f"{say('why', n)} {say('says', n)}",
        "asked and answered": say("asked", n), "table": f"| Verdict |\n|---|\n| {english} |",
        "thinking": f"<think>{other}? {say('why', n)} Hmm, {other}.</think>\n\n{word}",
        "thinking, only closed": f"{other}? {say('why', n)}\n</think>\n\n{word}",
        "thinking, other tags": ["<thinking>{0}</thinking>{1}", "<|channel|>analysis<|message|>{0}<|end|><|channel|>final<|message|>{1}", "[THINK]{0}[/THINK]{1}"][n % 3].format(other, word),
        "end of turn": word + ["</s>", "<|im_end|>", "<|eot_id|>"][n % 3],
        "goes on with another question": f"{english}\n\nQuestion: Is fever a symptom?\nAnswer: {other}",
    }.items()  # fmt: skip


def replies() -> Iterator[tuple[str, str, Reply]]:
    """All replies: language, style, reply."""
    for language in LANGUAGES:
        for value, english, other in ((1, "Yes", "No"), (0, "No", "Yes")):
            for n in range(6):

                def say(
                    kind: str, number: int, value: int = value, language: str = language
                ) -> str:
                    forms = SAYS[language][kind][1 - value]
                    return forms[number % len(forms)]

                for style, text in _clear(say, n, english, other):
                    yield language, style, Reply(text, value)
                    # What is left of a thought without its opening tag can't be told from a reply.
                    if len(text) > 30 and style != "thinking, only closed":
                        for tenth in range(1, 10):
                            cut = text[: len(text) * tenth // 10]
                            yield language, f"cut: {style}", Reply(cut, value, may=True)
                yield language, "thinking, never closed", Reply(f"<think>{say('label', n)}", None)
        for style, texts in UNSURE[language].items():
            for text in texts:
                yield language, style, Reply(text, None)
                yield language, f"{style}, in bold", Reply(f"**{text}**", None)
