"""How models reply to multiple choice: the styles that replies are generated in.

Written from replies of chat models, reasoning models and base models, not from what the reader
accepts. A style makes replies out of a question and its right letters; each reply says what it
means (`means`: the letters, or None where a careful person would not say which letter is meant)
and whether it `may` be left unread without blame (a reply that was cut off).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")


class Question(NamedTuple):
    language: str
    options: dict[str, str]
    answer: tuple[str, ...]
    several: bool

    @property
    def wrong(self) -> list[str]:
        return [key for key in self.options if key not in self.answer]

    def item(self, key: str, between: str = ". ") -> str:
        return f"{key}{between}{self.options[key]}"


class Reply(NamedTuple):
    text: str
    means: frozenset[str] | None
    may: bool = False
    cut: bool = False


# What a model says in each language: (one, several) where the number matters.
SAYS: dict[str, dict[str, list[str]]] = {
    "en": {
        "label": ["Answer: {}", "Correct answer: {}", "Final answer: {}", "The answer: {}"],
        "labels": ["Answers: {}", "Correct answers: {}", "Final answer: {}", "The answers: {}"],
        "says": ["The answer is {}.", "The correct answer is {}.", "The correct option is {}.",
                 "I would choose {}.", "The best answer is option {}."],
        "say": ["The answers are {}.", "The correct answers are {}.", "The correct options are {}.",
                "I would choose {}.", "The correct statements are {}."],
        "is": ["{} is the correct answer.", "Option {} is correct.", "{} is correct."],
        "are": ["{} are the correct answers.", "Options {} are correct.", "{} are correct."],
        "hence": ["Therefore, the correct answer is {}.", "So the answer is {}."],
        "hences": ["Therefore, the correct answers are {}.", "So the answers are {}."],
        "wrong": ["Option {} is incorrect because it does not fit the findings.",
                  "{} is wrong: it is not typical here."],
        "out": ["Options {} can be ruled out", "{} are incorrect"],
        "facts": ["The key to this question is the mechanism involved.",
                  "This is a well known point of the guidelines, and it is often asked in exams."],
        "true": ["true", "correct", "Correct."], "false": ["false", "incorrect", "Incorrect."],
        "because": ["because it fits the findings best", "since this is what the guidelines say"],
        "hedge": ["{0} or {1}", "It could be {0} or {1}.", "Maybe {0}, maybe {1}.",
                  "The answer is either {0} or {1}.", "Possibly {0}, but {1} cannot be excluded."],
        "refuse": ["I'm sorry, but I can't answer medical questions.",
                   "I cannot determine the correct answer.", "I don't know.",
                   "Please consult a doctor.", "There is not enough information to answer."],
        "not": ["The answer is not {0}.", "Not {0}.", "{0} is not correct.", "Wrong answer: {0}",
                "Incorrect options: {0}", "It is certainly not {0}."],
        "notbut": ["The answer is not {0} but {1}.", "Not {0}, but {1}."],
        "ask": ["Is it {0}?", "Is the answer {0}?", "Did you mean {0}?"],
        "and": [" and "], "sure": ["Sure! ", "Let's think step by step. "],
        "next": ["Question: What is next?\nAnswer: B"], "option": ["Option"], "all": ["All of the above."],
        "head": ["Answer"], "why": ["Explanation"], "wait": ["Wait, that is not right."],
    },
    "zh": {
        "label": ["答案：{}", "正确答案：{}", "最终答案：{}", "【答案】{}"],
        "labels": ["答案：{}", "正确答案：{}", "最终答案：{}", "【答案】{}"],
        "says": ["答案是{}。", "正确答案是{}。", "本题选{}。", "我选择{}。", "正确答案为选项{}。"],
        "say": ["答案是{}。", "正确答案是{}。", "本题选{}。", "我选择{}。", "正确的选项是{}。"],
        "is": ["{}是正确答案。", "选项{}正确。", "{}项正确。"],
        "are": ["{}是正确答案。", "选项{}正确。", "{}均正确。"],
        "hence": ["因此，正确答案是{}。", "故选{}。"],
        "hences": ["因此，正确答案是{}。", "故选{}。"],
        "wrong": ["{}选项不正确，因为与病史不符。", "{}项错误，不是典型表现。"],
        "out": ["{}均可排除", "{}均错误"],
        "facts": ["本题考查的是发病机制。", "这是指南中的常见考点。"],
        "true": ["正确", "对", "正确。"], "false": ["错误", "错", "错误。"],
        "because": ["因为符合病史", "因为这是指南推荐的"],
        "hedge": ["{0}或{1}", "可能是{0}，也可能是{1}。", "答案是{0}或者{1}。", "{0}和{1}都有可能。",
                  "答案可能是{0}。"],
        "refuse": ["抱歉，我无法回答医学问题。", "无法确定正确答案。", "我不知道。", "请咨询医生。",
                   "信息不足，无法判断。"],
        "not": ["答案不是{0}。", "不选{0}。", "{0}不正确。", "错误答案：{0}", "错误选项：{0}", "肯定不是{0}。"],
        "notbut": ["答案不是{0}，而是{1}。", "不是{0}，而是{1}。"],
        "ask": ["是{0}吗？", "答案是{0}吗？", "你是说{0}吗？"],
        "and": ["和"], "sure": ["好的，", "让我们一步一步来分析。"],
        "next": ["问题：下一题是什么？\n答案：B"], "option": ["选项"], "all": ["以上都是。"],
        "head": ["答案"], "why": ["解析"], "wait": ["等等，不对。"],
    },
    "ja": {
        "label": ["答え：{}", "正解：{}", "最終的な答え：{}", "解答：{}"],
        "labels": ["答え：{}", "正解：{}", "最終的な答え：{}", "解答：{}"],
        "says": ["答えは{}です。", "正解は{}である。", "正しい選択肢は{}です。", "{}を選びます。", "正答は{}です。"],
        "say": ["答えは{}です。", "正解は{}である。", "正しい選択肢は{}です。", "{}を選びます。", "正しいのは{}です。"],
        "is": ["{}が正解です。", "選択肢{}が正解です。", "{}が正しい。"],
        "are": ["{}が正解です。", "選択肢{}が正解です。", "{}が正しい。"],
        "hence": ["したがって、正解は{}です。", "よって、答えは{}となります。"],
        "hences": ["したがって、正解は{}です。", "よって、答えは{}となります。"],
        "wrong": ["{}は誤りです。所見と合いません。", "{}は不適切である。典型的ではない。"],
        "out": ["{}は除外でき", "{}は誤りであり"],
        "facts": ["この問題は病態の理解を問うものです。", "ガイドラインでよく知られた内容である。"],
        "true": ["正しい", "○", "正しい。"], "false": ["誤り", "×", "誤り。"],
        "because": ["所見と一致するためです", "ガイドラインで推奨されているからです"],
        "hedge": ["{0}か{1}", "{0}または{1}です。", "{0}かもしれません。", "答えは{0}か{1}のどちらかです。",
                  "{0}も{1}も考えられます。"],
        "refuse": ["申し訳ありませんが、医学的な質問にはお答えできません。", "正解を判断できません。",
                   "わかりません。", "医師に相談してください。", "情報が不足しており、回答できません。"],
        "not": ["答えは{0}ではありません。", "{0}ではない。", "{0}は正しくない。", "誤答：{0}", "誤った選択肢：{0}", "{0}は違います。"],
        "notbut": ["答えは{0}ではなく{1}です。", "{0}ではなく、{1}です。"],
        "ask": ["{0}ですか？", "答えは{0}でしょうか？", "正解は{0}ですか。"],
        "and": ["と"], "sure": ["はい、", "順を追って考えます。"],
        "next": ["問題：次は何か。\n答え：B"], "option": ["選択肢"], "all": ["すべて正しい。"],
        "head": ["解答"], "why": ["解説"], "wait": ["いや、違います。"],
    },
    "fr": {
        "label": ["Réponse : {}", "Bonne réponse : {}", "Réponse finale : {}", "La réponse : {}"],
        "labels": ["Réponses : {}", "Bonnes réponses : {}", "Réponse finale : {}", "Les réponses : {}"],
        "says": ["La réponse est {}.", "La bonne réponse est la {}.", "La proposition correcte est {}.",
                 "Je choisis {}.", "La réponse correcte est la réponse {}."],
        "say": ["Les réponses sont {}.", "Les bonnes réponses sont {}.", "Les propositions correctes sont {}.",
                "Je choisis {}.", "Les propositions exactes sont {}."],
        "is": ["{} est la bonne réponse.", "L'option {} est correcte.", "{} est exacte."],
        "are": ["{} sont les bonnes réponses.", "Les options {} sont correctes.", "{} sont exactes."],
        "hence": ["Par conséquent, la bonne réponse est {}.", "Donc, la réponse est {}."],
        "hences": ["Par conséquent, les bonnes réponses sont {}.", "Donc, les réponses sont {}."],
        "wrong": ["L'option {} est incorrecte car elle ne correspond pas au tableau.",
                  "{} est faux : ce n'est pas typique."],
        "out": ["Les propositions {} sont fausses", "{} sont à exclure"],
        "facts": ["Cette question porte sur le mécanisme en cause.",
                  "C'est un point classique des recommandations, souvent demandé à l'examen."],
        "true": ["vrai", "exact", "Vrai."], "false": ["faux", "inexact", "Faux."],
        "because": ["car elle correspond le mieux au tableau", "parce que c'est ce que disent les recommandations"],
        "hedge": ["{0} ou {1}", "Cela pourrait être {0} ou {1}.", "Peut-être {0}, peut-être {1}.",
                  "La réponse est soit {0}, soit {1}.", "Probablement {0}, mais {1} n'est pas exclue."],
        "refuse": ["Je suis désolé, je ne peux pas répondre aux questions médicales.",
                   "Je ne peux pas déterminer la bonne réponse.", "Je ne sais pas.",
                   "Veuillez consulter un médecin.", "Les informations sont insuffisantes pour répondre."],
        "not": ["La réponse n'est pas {0}.", "Pas {0}.", "{0} n'est pas correcte.", "Mauvaise réponse : {0}",
                "Propositions incorrectes : {0}", "Ce n'est certainement pas {0}."],
        "notbut": ["La réponse n'est pas {0} mais {1}.", "Pas {0}, mais {1}."],
        "ask": ["Est-ce {0} ?", "La réponse est-elle {0} ?", "Est-ce que c'est {0} ?"],
        "and": [" et "], "sure": ["Bien sûr ! ", "Réfléchissons étape par étape. "],
        "next": ["Question : Et ensuite ?\nRéponse : B"], "option": ["Option"],
        "all": ["Toutes les réponses sont correctes."],
        "head": ["Réponse"], "why": ["Explication"], "wait": ["Attendez, ce n'est pas ça."],
    },
    "ru": {
        "label": ["Ответ: {}", "Правильный ответ: {}", "Итоговый ответ: {}", "Верный ответ: {}"],
        "labels": ["Ответы: {}", "Правильные ответы: {}", "Итоговый ответ: {}", "Верные ответы: {}"],
        "says": ["Ответ — {}.", "Правильный ответ — {}.", "Правильный вариант: {}.", "Я выбираю {}.",
                 "Правильным ответом является {}."],
        "say": ["Ответы — {}.", "Правильные ответы — {}.", "Правильные варианты: {}.", "Я выбираю {}.",
                "Верными являются {}."],
        "is": ["{} — правильный ответ.", "Вариант {} верный.", "{} верно."],
        "are": ["{} — правильные ответы.", "Варианты {} верны.", "{} верны."],
        "hence": ["Следовательно, правильный ответ — {}.", "Таким образом, ответ: {}."],
        "hences": ["Следовательно, правильные ответы — {}.", "Таким образом, ответы: {}."],
        "wrong": ["Вариант {} неверен, так как не соответствует картине.", "{} неверно: это не типично."],
        "out": ["Варианты {} исключаются", "{} неверны"],
        "facts": ["Вопрос касается механизма процесса.", "Это известное положение, о котором часто спрашивают."],
        "true": ["верно", "правильно", "Верно."], "false": ["неверно", "неправильно", "Неверно."],
        "because": ["так как это соответствует картине", "потому что так сказано в рекомендациях"],
        "hedge": ["{0} или {1}", "Это может быть {0} или {1}.", "Возможно, {0}.",
                  "Ответ либо {0}, либо {1}.", "Скорее всего {0}, но нельзя исключить {1}."],
        "refuse": ["К сожалению, я не могу отвечать на медицинские вопросы.",
                   "Я не могу определить правильный ответ.", "Я не знаю.",
                   "Пожалуйста, обратитесь к врачу.", "Недостаточно информации для ответа."],
        "not": ["Ответ не {0}.", "Не {0}.", "{0} — неправильный ответ.", "Неверный ответ: {0}",
                "Неправильные варианты: {0}", "Точно не {0}."],
        "notbut": ["Ответ не {0}, а {1}.", "Не {0}, а {1}."],
        "ask": ["Это {0}?", "Ответ {0}?", "Правильный ответ — {0}?"],
        "and": [" и "], "sure": ["Конечно! ", "Рассмотрим по порядку. "],
        "next": ["Вопрос: Что дальше?\nОтвет: B"], "option": ["Вариант"], "all": ["Все перечисленные."],
        "head": ["Ответ"], "why": ["Объяснение"], "wait": ["Подождите, это неверно."],
    },
    "es": {
        "label": ["Respuesta: {}", "Respuesta correcta: {}", "Respuesta final: {}", "La respuesta: {}"],
        "labels": ["Respuestas: {}", "Respuestas correctas: {}", "Respuesta final: {}", "Las respuestas: {}"],
        "says": ["La respuesta es {}.", "La respuesta correcta es la {}.", "La opción correcta es {}.",
                 "Elijo {}.", "La respuesta correcta es la opción {}."],
        "say": ["Las respuestas son {}.", "Las respuestas correctas son {}.", "Las opciones correctas son {}.",
                "Elijo {}.", "Las afirmaciones correctas son {}."],
        "is": ["{} es la respuesta correcta.", "La opción {} es correcta.", "{} es correcta."],
        "are": ["{} son las respuestas correctas.", "Las opciones {} son correctas.", "{} son correctas."],
        "hence": ["Por lo tanto, la respuesta correcta es {}.", "Así que la respuesta es {}."],
        "hences": ["Por lo tanto, las respuestas correctas son {}.", "Así que las respuestas son {}."],
        "wrong": ["La opción {} es incorrecta porque no encaja con el cuadro.", "{} es falsa: no es lo típico."],
        "out": ["Las opciones {} se descartan", "{} son incorrectas"],
        "facts": ["La clave de la pregunta es el mecanismo implicado.",
                  "Es un punto clásico de las guías y se pregunta a menudo."],
        "true": ["verdadero", "correcto", "Correcta."], "false": ["falso", "incorrecto", "Incorrecta."],
        "because": ["porque es lo que mejor encaja", "ya que así lo dicen las guías"],
        "hedge": ["{0} o {1}", "Podría ser {0} o {1}.", "Quizás {0}, quizás {1}.",
                  "La respuesta es o bien {0} o bien {1}.", "Probablemente {0}, aunque no se descarta {1}."],
        "refuse": ["Lo siento, no puedo responder preguntas médicas.",
                   "No puedo determinar la respuesta correcta.", "No lo sé.", "Consulte a un médico.",
                   "No hay información suficiente para responder."],
        "not": ["La respuesta no es {0}.", "No es {0}.", "{0} no es correcta.", "Respuesta incorrecta: {0}",
                "Opciones incorrectas: {0}", "Desde luego no es {0}."],
        "notbut": ["La respuesta no es {0} sino {1}.", "No es {0}, sino {1}."],
        "ask": ["¿Es {0}?", "¿La respuesta es {0}?", "¿Será la {0}?"],
        "and": [" y "], "sure": ["¡Claro! ", "Vamos a pensarlo paso a paso. "],
        "next": ["Pregunta: ¿Qué sigue?\nRespuesta: B"], "option": ["Opción"], "all": ["Todas las anteriores."],
        "head": ["Respuesta"], "why": ["Explicación"], "wait": ["Espera, eso no es."],
    },
}  # fmt: skip


def _say(q: Question, kind: str, number: int = 0) -> str:
    forms = SAYS[q.language][kind]
    return forms[number % len(forms)]


def _n(q: Question, one: str, many: str, number: int) -> str:
    return _say(q, one if len(q.answer) == 1 else many, number)


def joined(q: Question, parts: list[str]) -> str:
    """'A, B et D', as one writes it in the language."""
    if len(parts) == 1:
        return parts[0]
    comma = "、" if q.language in ("zh", "ja") else ", "
    return comma.join(parts[:-1]) + SAYS[q.language]["and"][0] + parts[-1]


def _letters(q: Question) -> str:
    return ", ".join(q.answer)


def _items(q: Question, between: str = ". ") -> list[str]:
    return [q.item(key, between) for key in q.answer]


def _lines(parts: list[str], head: str = "") -> str:
    return "\n".join(head + part for part in parts)


def _against(q: Question, n: int) -> str:
    return " ".join(_say(q, "wrong", n).format(key) for key in q.wrong[:3])


def _reasons(q: Question, n: int) -> str:
    """Why, option by option, with a word against each that is wrong."""
    rows = [f"- **{q.item(key)}**: {_say(q, 'because', n)}." for key in q.answer]
    rows += [f"- {_say(q, 'wrong', n).format(key)}" for key in q.wrong]
    return "\n".join(sorted(rows, key=lambda row: row[2:]))


def _listing(q: Question, n: int, form: str, good: str, bad: str) -> str:
    return "\n".join(
        form.format(key=key, text=text, mark=good if key in q.answer else bad)
        for key, text in q.options.items()
    )


Style = Callable[[Question, int], "str | list[str]"]
CLEAR: dict[str, Style] = {
    "letter": lambda q, n: _letters(q),
    "letter and stop": lambda q, n: _letters(q) + ("。" if q.language in ("zh", "ja") else "."),
    "letter in bold": lambda q, n: f"**{_letters(q)}**",
    "letter in brackets": lambda q, n: ", ".join(f"({key})" for key in q.answer),
    "letter with bracket": lambda q, n: joined(q, [f"{key})" for key in q.answer]),
    "letters joined by 'and'": lambda q, n: joined(q, list(q.answer)),
    "letters without space": lambda q, n: "".join(q.answer),
    "lower case": lambda q, n: ", ".join(q.answer).lower(),
    "full width": lambda q, n: "、".join(chr(ord(key) + 0xFEE0) for key in q.answer),
    "code": lambda q, n: f"`{_letters(q)}`",
    "quote block": lambda q, n: f"> {_letters(q)}",
    "letter and text": lambda q, n: _lines(_items(q)),
    "letter) text": lambda q, n: _lines(_items(q, ") ")),
    "(letter) text": lambda q, n: _lines([f"({key}) {q.options[key]}" for key in q.answer]),
    "letter: text": lambda q, n: _lines(_items(q, ": ")),
    "letter - text": lambda q, n: _lines(_items(q, [" - ", " — ", " – "][n % 3])),
    "bold letter and text": lambda q, n: _lines([f"**{item}**" for item in _items(q)]),
    "bold letter, text": lambda q, n: _lines([f"**{key}.** {q.options[key]}" for key in q.answer]),
    "letter and text in a row": lambda q, n: joined(q, _items(q)),
    "text": lambda q, n: _lines([q.options[key] for key in q.answer]),
    "text in bold": lambda q, n: _lines([f"**{q.options[key]}**" for key in q.answer]),
    "text in quotes": lambda q, n: _lines([["«{}»", "“{}”", "「{}」", '"{}"', "„{}“"][n % 5].format(q.options[key]) for key in q.answer]),
    "text and stop": lambda q, n: _lines([q.options[key].rstrip(".。") + "." for key in q.answer]),
    "bullets of texts": lambda q, n: _lines([q.options[key] for key in q.answer], ["- ", "* ", "• "][n % 3]),
    "bullets of letter and text": lambda q, n: _lines(_items(q), ["- ", "* ", "• "][n % 3]),
    "numbered texts": lambda q, n: _lines([f"{i}. {q.options[key]}" for i, key in enumerate(q.answer, 1)]),
    "bullets in bold": lambda q, n: _lines([f"**{item}**" for item in _items(q, ") ")], "- "),
    "label, letter": lambda q, n: _n(q, "label", "labels", n).format(_letters(q)),
    "label in bold, letter": lambda q, n: "**" + _n(q, "label", "labels", n).replace("{}", "").strip() + "** " + _letters(q),
    "label and letter in bold": lambda q, n: "**" + _n(q, "label", "labels", n).format(_letters(q)) + "**",
    "label, letter and text": lambda q, n: _n(q, "label", "labels", n).format(joined(q, _items(q))),
    "label, text": lambda q, n: _n(q, "label", "labels", n).format("\n".join(q.options[key] for key in q.answer)) if len(q.answer) > 1 else _say(q, "label", n).format(q.options[q.answer[0]]),
    "label, text in bold": lambda q, n: _n(q, "label", "labels", n).format("\n" * (len(q.answer) > 1) + _lines([f"**{q.options[key]}**" for key in q.answer])),
    "label, bullets": lambda q, n: _n(q, "label", "labels", n).format("").strip() + "\n\n" + _lines(_items(q), "- "),
    "heading": lambda q, n: f"### {_say(q, 'head')}\n\n{_letters(q)}",
    "heading, letter and text": lambda q, n: f"## {_say(q, 'head')}\n\n" + _lines([f"**{item}**" for item in _items(q)]),
    "sentence": lambda q, n: _n(q, "says", "say", n).format(joined(q, list(q.answer))),
    "sentence, bold letter": lambda q, n: _n(q, "says", "say", n).format(joined(q, [f"**{key}**" for key in q.answer])),
    "sentence, letter and text": lambda q, n: _n(q, "says", "say", n).format(joined(q, _items(q, [". ", ") ", " : "][n % 3]))),
    "statement": lambda q, n: _n(q, "is", "are", n).format(joined(q, list(q.answer))),
    "option letter": lambda q, n: f"{_say(q, 'option')} {_letters(q)}",
    "therefore": lambda q, n: _say(q, "facts", n) + " " + _n(q, "hence", "hences", n).format(joined(q, list(q.answer))),
    "therefore, in bold": lambda q, n: _say(q, "facts", n) + "\n\n" + _n(q, "hence", "hences", n).format("**" + joined(q, _items(q)) + "**"),
    "explanation after": lambda q, n: f"{_letters(q)}\n\n{_say(q, 'why')}: {_say(q, 'facts', n)} {_against(q, n)}",
    "explanation after, in bold": lambda q, n: "**" + _n(q, "label", "labels", n).format(joined(q, _items(q))) + f"**\n\n**{_say(q, 'why')}:**\n\n{_reasons(q, n)}",
    "reason in the sentence": lambda q, n: f"{_letters(q)}, {_say(q, 'because', n)}.",
    "letter, text and reason": lambda q, n: f"{joined(q, _items(q))}, {_say(q, 'because', n)}." if q.language not in ("ja",) else f"{joined(q, _items(q))}。{_say(q, 'because', n)}。",
    "explanation before": lambda q, n: f"{_say(q, 'facts', n)} {_against(q, n)}\n\n{_n(q, 'label', 'labels', n).format(_letters(q))}",
    "explanation, letter on a line": lambda q, n: f"{_say(q, 'facts', n)}\n\n{_letters(q)}",
    "explanation, bold text on a line": lambda q, n: f"{_say(q, 'facts', n)}\n\n" + _lines([f"**{item}**" for item in _items(q)]),
    "option by option, then therefore": lambda q, n: _reasons(q, n) + "\n\n" + _n(q, "hence", "hences", n).format(joined(q, list(q.answer))),
    "the others ruled out": lambda q, n: _say(q, "out", n).format(joined(q, q.wrong)) + ("，" if q.language in ("zh", "ja") else "; ") + _n(q, "hence", "hences", n).format(joined(q, list(q.answer))) if len(q.wrong) > 1 else [],
    "restated, then answered": lambda q, n: _lines([q.item(key) for key in q.options]) + "\n\n" + _n(q, "label", "labels", n).format(_letters(q)),
    "true and false": lambda q, n: _listing(q, n, ["{key}) {mark}", "{key}: {mark}", "{key}. {mark}", "{key} - {mark}"][n % 4], _say(q, "true", n), _say(q, "false", n)),
    "true and false, with texts": lambda q, n: _listing(q, n, ["{key}. {text}: {mark}", "- **{key}. {text}** — {mark}", "{key}) {text} ({mark})"][n % 3], _say(q, "true"), _say(q, "false")),
    "ticks and crosses": lambda q, n: _listing(q, n, ["{mark} {key}. {text}", "{key}. {text} {mark}", "{key} {mark}"][n % 3], *[("✅", "❌"), ("✓", "✗"), ("✔️", "✖️")][n % 3]),
    "check boxes": lambda q, n: _listing(q, n, "- {mark} {key}. {text}", "[x]", "[ ]"),
    "true and false in a row": lambda q, n: ", ".join(f"{key}: {_say(q, 'true' if key in q.answer else 'false')}" for key in q.options),
    "table of true and false": lambda q, n: "| | | |\n|---|---|---|\n" + _listing(q, n, "| {key} | {text} | {mark} |", _say(q, "true"), _say(q, "false")),
    "table with the answer": lambda q, n: f"| {_say(q, 'head')} |\n|---|\n| {_letters(q)} |",
    "JSON": lambda q, n: json.dumps({"answer": _letters(q)}),
    "JSON list": lambda q, n: json.dumps({"answer": list(q.answer)}),
    "JSON in a fence": lambda q, n: "```json\n" + json.dumps({"explanation": _say(q, "facts", n), "answer": ", ".join(q.answer)}, ensure_ascii=False, indent=2) + "\n```",
    "JSON, answer first": lambda q, n: json.dumps({"answer": _letters(q), "explanation": _say(q, "facts", n)}, ensure_ascii=False),
    "JSON, letter and text": lambda q, n: json.dumps({"answer": _items(q)}, ensure_ascii=False),
    "boxed": lambda q, n: ["\\boxed{{{}}}", "$\\boxed{{\\text{{{}}}}}$", "\\[\\boxed{{{}}}\\]"][n % 3].format(_letters(q)),
    "boxed after reasons": lambda q, n: f"{_say(q, 'facts', n)} {_against(q, n)}\n\n$\\boxed{{{_letters(q)}}}$",
    "answer tags": lambda q, n: f"<answer>{_letters(q)}</answer>",
    "HTML bold": lambda q, n: f"<b>{_letters(q)}</b>",
    "end of turn token": lambda q, n: _letters(q) + ["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>"][n % 4],
    "thinking": lambda q, n: f"<think>\n{_say(q, 'hedge', n).format(*_two(q))} {_against(q, n)}\n</think>\n\n{_letters(q)}",
    "thinking, only closed": lambda q, n: f"{_say(q, 'hedge', n).format(*_two(q))} {_against(q, n)}\n</think>\n\n{_n(q, 'label', 'labels', n).format(_letters(q))}",
    "thinking, other tags": lambda q, n: ["<thinking>{}</thinking>\n{}", "<thought>{}</thought>\n{}", "<reasoning>{}</reasoning>\n{}", "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"][n % 4].format(_say(q, "hedge", n).format(*_two(q)), _letters(q)),
    "polite opening": lambda q, n: _say(q, "sure", n) + _n(q, "says", "say", n).format(joined(q, list(q.answer))),
    "goes on with another question": lambda q, n: f"{_letters(q)}\n\n{_say(q, 'next')}",
    "not that but this": lambda q, n: _say(q, "notbut", n).format(q.wrong[0], q.answer[0]) if len(q.answer) == 1 else [],
    "all of them": lambda q, n: _say(q, "all") if q.several and not q.wrong else [],
}  # fmt: skip


def _two(q: Question) -> tuple[str, str]:
    keys = list(q.options)
    return keys[0], keys[1]


NOT_CLEAR: dict[str, Style] = {
    "hedge": lambda q, n: _say(q, "hedge", n).format(*_two(q)),
    "hedge, with texts": lambda q, n: _say(q, "hedge", n).format(*(q.item(key) for key in _two(q))),
    "refusal": lambda q, n: _say(q, "refuse", n),
    "negation": lambda q, n: _say(q, "not", n).format(_two(q)[0]) if len(q.options) > 2 else [],
    "negation, with text": lambda q, n: _say(q, "not", n).format(q.item(_two(q)[0])) if len(q.options) > 2 else [],
    "asks back": lambda q, n: _say(q, "ask", n).format(_two(q)[1]),
    "thinking, never closed": lambda q, n: f"<think>\n{_n(q, 'label', 'labels', n).format(_letters(q))}",
    "letter of one, text of another": lambda q, n: f"{_two(q)[0]}. {q.options[_two(q)[1]]}",
    "restates the options": lambda q, n: _lines([q.item(key) for key in q.options]),
    "empty": lambda q, n: ["", " ", "...", "**", "\n"][n % 5],
    "prose": lambda q, n: _say(q, "facts", n),
    "only what is wrong": lambda q, n: _say(q, "out", n).format(joined(q, q.wrong)) + "." if len(q.wrong) > 1 and len(q.options) > 2 else [],
}  # fmt: skip

# Styles that are cut off at every tenth of their length: as a short limit on tokens does.
LONG = ("bullets of texts", "bullets of letter and text", "letter and text", "label, letter and text",
        "sentence, letter and text", "true and false", "true and false, with texts",
        "ticks and crosses", "table of true and false", "explanation before",
        "explanation after, in bold", "option by option, then therefore", "JSON in a fence",
        "thinking", "thinking, only closed", "restated, then answered", "the others ruled out",
        "text", "label, bullets", "letters joined by 'and'", "sentence", "statement", "not that but this")  # fmt: skip


def replies(q: Question, n: int) -> Iterator[tuple[str, Reply]]:
    """All replies to a question, with their style; `n` chooses among a style's wordings."""
    right = frozenset(q.answer)
    # Texts of all options, one a line, may restate them; '1. 4' means little where options are
    # numbers; 'AB' as a text is also a row of letters.
    may = not q.wrong or any(text.isnumeric() for text in q.options.values())
    may = may or {"AB", "AC", "AD"} & set(q.options.values())
    for name, style in CLEAR.items():
        text = style(q, n)
        if isinstance(text, str):
            yield name, Reply(text, right, may=bool(may and ("text" in name or "bullets" in name)))
    wrong = q.wrong
    if wrong:
        text = f"{wrong[0]}. {_say(q, 'wait')} {_n(q, 'hence', 'hences', n).format(_letters(q))}"
        yield "second thought", Reply(text, right, may=True)
    for name, style in NOT_CLEAR.items():
        text = style(q, n)
        if isinstance(text, str):
            yield name, Reply(text, None)
    for name in LONG:
        whole = CLEAR[name](q, n)
        if isinstance(whole, str):
            tenth = 1 + (n + len(name)) % 9
            cut = whole[: len(whole) * tenth // 10]
            yield f"cut: {name}", Reply(cut, right, may=True, cut=True)
