from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from xling_tasks.readers.letter_lexer import lex
from xling_tasks.readers.letters import read_letters
from xling_tasks.readers.options import options_of

DATA = Path(__file__).parents[1] / "cases"
LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")
OPTIONS = {"A": "Aspirin", "B": "Ibuprofen", "C": "Paracetamol", "D": "Naproxen"}


def _cases(name):
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def _read(case):
    letters = read_letters(case["reply"], case["options"], several=case["several"])
    return None if letters is None else sorted(letters)


@pytest.fixture(scope="module")
def replies():
    return _cases("letter_replies.jsonl")


@pytest.fixture(scope="module")
def hard_replies():
    return _cases("letter_hard_replies.jsonl")


def test_table_of_replies(replies):
    """A line for each that is read otherwise: its kinds show which phrase is missing or wrong."""
    wrong = [
        f"letter_replies.jsonl, line {number}: {case['reply']!r} is {case['expected']}, read as "
        f"{read}; its kinds: {lex(case['reply'], options_of(case['options']))}"
        for number, case in enumerate(replies, start=1)
        if (read := _read(case)) != case["expected"]
    ]
    assert not wrong, "\n".join(wrong)


def test_tables_are_large_enough(replies, hard_replies):
    counts = Counter(case["language"] for case in replies)
    assert len(replies) >= 180 and all(counts[language] >= 28 for language in LANGUAGES)
    unparsed = Counter(case["language"] for case in replies if case["expected"] is None)
    assert all(unparsed[language] >= 8 for language in LANGUAGES)
    several = [case for case in replies if case["expected"] and len(case["expected"]) > 1]
    assert len(several) >= 40
    assert len(hard_replies) >= 90
    assert {case["language"] for case in hard_replies} == set(LANGUAGES)


def test_expected_letters_are_letters_of_the_options(replies, hard_replies):
    for case in (*replies, *hard_replies):
        assert 2 <= len(case["options"]) <= 7
        assert case["expected"] is None or set(case["expected"]) <= set(case["options"])


def test_hard_replies_are_read_right_or_not_at_all(hard_replies):
    """Eliminations, species, exceptions, second thoughts: never a wrong letter, many right ones."""
    read = [(case, _read(case)) for case in hard_replies]
    wrong = [
        (case["reply"], case["expected"], letters)
        for case, letters in read
        if letters is not None and letters != case["expected"]
    ]
    assert wrong == []
    clear = [letters for case, letters in read if case["expected"] is not None]
    assert sum(letters is not None for letters in clear) > len(clear) / 2


def test_attacks_are_read_right_or_not_at_all():
    """Corrections, look-alikes, ranges, negated labels, 'none of the above', quoted questions."""
    cases = _cases("letter_attack_replies.jsonl")
    assert len(cases) >= 300 and {case["language"] for case in cases} == set(LANGUAGES)
    read = [(case, _read(case)) for case in cases]
    wrong = [
        (case["reply"], case["expected"], letters)
        for case, letters in read
        if letters is not None and letters != case["expected"]
    ]
    assert wrong == []
    clear = [letters for case, letters in read if case["clear"]]
    assert sum(letters is not None for letters in clear) > 0.97 * len(clear)


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        # In a question for what is false, 'true' may speak of the statement or of the answer.
        ("Laquelle est fausse ?", "A. Vrai\nB. Vrai\nC. Faux\nD. Vrai", None),
        ("Laquelle est fausse ?", "A. Faux\nB. Faux\nC. Vrai\nD. Faux", {"C"}),
        ("誤っているのはどれか。", "A ○\nB ○\nC ×\nD ○", None),
        ("Which is NOT an opioid?", "A: true, B: true, C: false, D: true", None),
        ("Which are correct?", "A: true, B: true, C: false, D: true", {"A", "B", "D"}),
        ("Which is false?", "A, B and D are correct.", None),
        ("Which is false?", "Answer: C", {"C"}),
    ],
)
def test_lists_of_true_and_false_in_questions_for_what_is_false(question, reply, expected):
    assert read_letters(reply, OPTIONS, several=True, question=question) == expected


@pytest.mark.parametrize(
    "mark",
    [
        *(
            "{}",
            "{}.",
            "{}。",
            "({})",
            "（{}）",
            "[{}]",
            "**{}**",
            "  {}\n",
            "「{}」",
            "# {}",
            "${}$",
        ),
        *("Answer: {}", "答案：{}", "答えは{}です。", "Réponse : {}", "Ответ: {}", "Respuesta: {}"),
        *("\\boxed{{{}}}", '{{"answer": "{}"}}', "<answer>{}</answer>", "<think>A? D?</think>{}"),
        "<say-as interpret-as='x'>{}</say-as>",
    ],
)
@pytest.mark.parametrize("letter", "ABCDＡＢＣＤАВС")
def test_marks_around_a_letter_change_nothing(mark, letter):
    expected = dict(zip("ＡＢＣＤАВС", "ABCDABC")).get(letter, letter)
    assert read_letters(mark.format(letter), OPTIONS, several=False) == {expected}


@pytest.mark.parametrize("joined", [" and ", "和", "と", " et ", " и ", " y ", "、", ", ", " ", ""])
@pytest.mark.parametrize("several", [True, False])
def test_joined_letters_are_a_set(joined, several):
    assert read_letters(f"A{joined}C", OPTIONS, several=several) == {"A", "C"}


@pytest.mark.parametrize("hedge", [" or ", "或", "か", " ou ", " или ", " o ", "/", "または"])
def test_hedged_letters_are_unparsed(hedge):
    assert read_letters(f"A{hedge}C", OPTIONS, several=True) is None
    assert read_letters(f"Answer: A{hedge}C", OPTIONS, several=True) is None


def test_options_out_of_order_and_letters_beyond_them():
    options = {"B": "Ibuprofen", "A": "Aspirin"}
    assert read_letters("B. Ibuprofen", options, several=False) == {"B"}
    assert read_letters("Aspirin", options, several=False) == {"A"}
    assert read_letters("C", options, several=False) is None
    assert read_letters("A, C", options, several=True) is None


def test_all_of_the_above_counts_where_several_may_be_right():
    assert read_letters("All of the above", OPTIONS, several=True) == set("ABCD")
    assert read_letters("All of the above", OPTIONS, several=False) is None


@pytest.mark.parametrize(
    "text", ["", " ", "?", "…", "\n\n", "<think>", "\ue000", "**", "a" * 10_000]
)
def test_nothing_in_it(text):
    assert read_letters(text, OPTIONS, several=True) is None


def test_odd_option_texts():
    assert read_letters("A", {"A": "", "B": ""}, several=False) == {"A"}
    assert read_letters("A", {"A": "(+)", "B": "\\d+"}, several=False) == {"A"}
    assert read_letters("Same text", {"A": "Same text", "B": "same text."}, several=False) is None


def test_noise_raises_nothing_and_names_only_options():
    rng = random.Random(0)
    pieces = [
        "A",
        "B",
        " ",
        "\n",
        ", ",
        "Answer:",
        "答案是",
        "(",
        ")",
        ".",
        "or",
        "и",
        "と",
        "Aspirin",
    ]
    for _ in range(2_000):
        reply = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        letters = read_letters(reply, OPTIONS, several=True)
        assert letters is None or (letters and letters <= set(OPTIONS))


def test_long_replies_are_read_in_time():
    reply = "A, B and C are considered. " * 2_000 + "\nAnswer: C"
    assert read_letters(reply, OPTIONS, several=False) == {"C"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I have chosen B as the appropriate option.", "B"),
        ("I selected option B, since it falls.", "B"),
        ("He elegido la opción B.", "B"),
        ("J'ai choisi la réponse B.", "B"),
        ("Я выбрал вариант B.", "B"),
        ("我选择了B。", "B"),
        ("I have not chosen B.", None),
        ("I chose B at first, but A is right.", None),
    ],
)
def test_a_choice_told_in_the_past(reply, expected):
    options = {"A": "it rises", "B": "it falls"}
    found = read_letters(reply, options, several=False)
    assert found == (frozenset(expected) if expected else None)


def test_replies_in_the_manner_of_models_are_never_read_wrong():
    """Written by hand before the rules were looked at: `may_be` is what a careful human reads."""
    lines = _cases("letter_model_replies.jsonl")
    questions = {line["key"]: line for line in lines if "key" in line}
    replies = [line for line in lines if "of" in line]
    assert len(replies) >= 6000 and len(questions) >= 40
    wrong, unread = [], 0
    for line in replies:
        asked = questions[line["of"]]
        letters = read_letters(
            line["reply"], asked["options"], several=asked["several"], question=asked["question"]
        )
        read = "".join(sorted(letters or ()))
        if read and read not in line["may_be"]:
            wrong.append((line["of"], line["reply"], line["may_be"], read))
        unread += not read and "" not in line["may_be"]
    assert wrong == []
    assert unread <= 374  # of 5,224 that say something


BLOCKS = {"A": "Aspirin", "B": "Ibuprofen", "C": "Paracetamol", "D": "Naproxen", "E": "Codeine"}


@pytest.mark.parametrize(
    ("reply", "several", "read"),
    [
        # A block to each letter: the first is not the answer.
        ("**A. Aspirin**\nIt thins the blood.\n\n**C. Paracetamol**\nIt cools.", True, None),
        ("The correct answers are:\n\n**A. Aspirin** - thins.\n\n**C. Paracetamol** - cools.", True,
         None),
        ("A, because it thins; C, because it cools.", True, None),
        ("A. It thins the blood. C. It cools.", True, None),
        ("Apart from A, the correct ones are C and E.", True, None),
        # What stands in several boxes is a list.
        (r"\boxed{A}, \boxed{C} and \boxed{E}", True, "ACE"),
        (r"The first is \boxed{A}. The second is \boxed{C}.", True, None),
        ("<answer>A</answer>\n<answer>C</answer>", True, "AC"),
        # The others, discussed after the answer, are none of it.
        ("**A. Aspirin**\n\nIt thins.\n\nThe other options:\n- B. Ibuprofen: weak\n- C. Paracetamol: cools", False,
         "A"),
        # Words that a letter names a kind of.
        ("The answer is B. Vitamin C deficiency and type A hepatitis are unrelated.", False, "B"),
        ("Answer: ACE", True, "ACE"),
        # What an explanation begins with.
        ("The answer is B. A chest film was taken.", False, "B"),
        ("The answer is B. A thins the blood, too.", True, None),
        ("The answer is B. Although A is more common, it is weaker.", False, "B"),
        ("The answer is B. Although A is possible, too.", False, None),
        ("ACE inhibitors", True, None),
    ],
)  # fmt: skip
def test_letters_of_several_blocks_boxes_and_names(reply, several, read):
    letters = read_letters(reply, BLOCKS, several=several)
    assert (letters and "".join(sorted(letters))) == read


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("10 –50 mg", None),
        ("1.5 mg", None),
        ("5 mg", "A"),
        ("2.50 mg", None),
        (">50 mg", None),
        ("10 mg.", "B"),
    ],
)
def test_part_of_a_number_is_no_option(reply, read):
    options = {"A": "5 mg", "B": "10 mg", "C": "50 mg"}
    letters = read_letters(reply, options, several=False)
    assert (letters and "".join(letters)) == read


@pytest.mark.parametrize(
    ("reply", "several", "read"),
    [
        ("La respuesta incorrecta es la C.", False, "C"),
        ("A, B y D son correctas. La incorrecta es la C.", False, "C"),
        ("La incorrecta no es la C.", False, None),
        ("Las correctas son A, B y D.", False, None),
        ("Las afirmaciones ciertas son A, B y D.", True, None),
    ],
)
def test_the_false_one_is_the_answer_where_the_question_asks_for_it(reply, several, read):
    question = "Señale la respuesta INCORRECTA sobre el dolor:"
    letters = read_letters(reply, OPTIONS, several=several, question=question)
    assert (letters and "".join(sorted(letters))) == read


@pytest.mark.parametrize("reply", ["सही उत्तर B है।", "विकल्प B सही है।", "उत्तर: B", "इसलिए उत्तर B है।"])
def test_hindi_labels_are_read(reply):
    assert read_letters(reply, OPTIONS, several=False) == {"B"}
    assert read_letters("B सही नहीं है।", OPTIONS, several=False) is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [("10–15", "B"), ("B. 10–15 %", None), ("↓ Na+, ↑ K+", "C"), ("D. ↑ Na+, ↓ K+", "D")],
)
def test_dashes_are_alike_and_arrows_tell(reply, read):
    options = {"A": "5-10", "B": "10-15", "C": "↓ Na+, ↑ K+", "D": "↑ Na+, ↓ K+"}
    letters = read_letters(reply, options, several=False)
    assert (letters and "".join(letters)) == read


def test_texts_that_are_cut_off_after_a_letter_are_no_answer():
    """'C' is how the third text, 'Codeine', begins; where nothing was cut it may be a letter."""
    for cut in (True, False):
        reply = "Aspirin\nIbuprofen\nC"
        assert read_letters(reply, BLOCKS, several=True, cut=cut) is None


FOUR = {"A": "Aspirin", "B": "Ibuprofen", "C": "Paracetamol", "D": "Naproxen"}


@pytest.mark.parametrize(
    ("reply", "several", "question", "read"),
    [
        ("b. Ibuprofen", False, "", "B"),
        ("b - Ibuprofen", False, "", "B"),
        ("b: Ibuprofen", False, "", "B"),
        ("Réponse :\nb. Ibuprofen", False, "", "B"),
        ("a. Aspirin\nc. Paracetamol", True, "", "AC"),
        ("A. Aspirin\nB. Ibuprofen\nC. Paracetamol\nD. Naproxen\n\nB", False, "", "B"),
        ("Ibuprofen is better than Naproxen.\n\nB", False, "", "B"),
        ("The worst choice would be Aspirin.\n\n**B**", False, "", "B"),
        ("A. Aspirin\nB. Ibuprofen\nC. Paracetamol\nD. Naproxen\n\nA, C", True, "", "AC"),
        ("首选治疗是A，次选B。", False, "", ""),
        ("首选药物为A，过敏者选B。", False, "", ""),
        ("本病首选药物是A，过敏时选B。", False, "", ""),
        ("A是首选，过敏者选B。", False, "", ""),
        ("首选B", False, "", "B"),
        ("Chez une femme de 65 ans. La réponse est B.", False, "", "B"),
        ("La réponse est B, pendant 5 ans.", False, "", "B"),
        ("Traitement de 5 ans. Réponses : A, C", True, "", "AC"),
        ("Réponse : B. Femme de 65 ans. C ne convient pas.", False, "", "B"),
        ("Ans. B", False, "", "B"),
        ("The answer is B. For example, it is used in gout.", False, "", "B"),
        ("B is correct, for example in gout.", False, "", "B"),
        ("B. With the exception of neonates, ibuprofen is well tolerated.", False, "", "B"),
        ("The answer is B. The exception is renal failure.", False, "", "B"),
        ("B. À l'exception des nouveau-nés, il est bien toléré.", False, "", "B"),
        ("Hormis A, la réponse est B.", False, "", "B"),
        ("Excluding A and C, the correct answer is B.", False, "", "B"),
        (
            "B\n\nWhy not the others:\nA) because it irritates the stomach.\nC) because it is weak.",
            False,
            "",
            "B",
        ),
        ("A and C", False, "Which drug is best if aspirin did not help?", "AC"),
        ("Réponses : A, C", False, "Laquelle est fausse ?", "AC"),
        ("Il s'agit de Aspirin\nParacetamol. Réponse A, C", True, "", "AC"),
        ("B. Though A is the better answer.", False, "", ""),
        ("A。虽然B正确。", False, "", ""),
        ("A response, such as fever, is expected. Answer: C", False, "", "C"),
        ("The answer is B, as no answer other than it fits.", False, "", "B"),
        ("Response: B", False, "", "B"),
        ("Output: B", False, "", "B"),
        ("The exception is C.", False, "All are true EXCEPT:", "C"),
        ("B. Although A is more common, it is weaker.", False, "", "B"),
        ("Example: Answer: B", False, "", ""),
        ("La réponse est B. À l'exception des enfants.", False, "", "B"),
        ("Aspirin\nIbuprofen\nC", True, "", ""),
        ("B为首选。", False, "", ""),
        ("No answer", False, "", ""),
        ("首选A治疗，无效时选B。", False, "", ""),
        ("首选A；过敏者选B。", False, "", ""),
        ("此时选B。", False, "", "B"),
        ("The correct response is B.", False, "", "B"),
        ("Response is B", False, "", "B"),
        ("The best drug is Naproxen.\n\nB", False, "", ""),
        ("Therefore Naproxen.\n\nB", False, "", ""),
        ("The best drug is not Naproxen.\n\nB", False, "", "B"),
        ("Apart from A, the correct ones are C and D.", True, "", ""),
        ("A, because it thins; C, because it cools.", True, "", ""),
        ("A and C", False, "Which of these is false?", ""),
        ("The exception is not C.", False, "All are true EXCEPT:", ""),
    ],
)
def test_replies_that_new_phrases_must_not_hide(reply, several, question, read):
    """Options copied out, choices with alternatives, 'for example', '65 ans.', exceptions."""
    letters = read_letters(reply, FOUR, several=several, question=question)
    assert "".join(sorted(letters or ())) == read


@pytest.mark.parametrize(
    ("question", "bad", "fine"),
    [
        ("Which drug is contraindicated in pregnancy?", "D is contraindicated.", "A is safe."),
        ("¿Cuál está contraindicado?", "El contraindicado es la opción D.", "La A es segura."),
        ("Lequel est contre-indiqué ?", "D est contre-indiqué.", "A est possible."),
        ("禁忌はどれか。", "禁忌はDである。", "Aは使用できる。"),
        ("Что противопоказано?", "Противопоказан вариант D.", "A разрешён."),
        ("妊娠期禁用的药物是", "D禁用。", "A可以使用。"),
    ],
)
def test_what_speaks_against_an_option_is_for_it_where_the_question_asks_for_that(
    question, bad, fine
):
    assert read_letters(bad, FOUR, several=False, question=question) == {"D"}
    assert read_letters(fine, FOUR, several=False, question=question) is None
    assert read_letters(bad, FOUR, several=False) is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("The second option, ibuprofen.", "B"),
        ("The second option is correct.", "B"),
        ("Bonne réponse : la troisième (paracetamol), car il faut agir.", "C"),
        ("2番目の選択肢、ibuprofenです。", "B"),
        ("Остаётся первый вариант — aspirin.", "A"),
        ("La opción correcta es la primera, aspirin.", "A"),
        ("The second option, aspirin.", ""),
        ("The second option, ibuprofen, is used only if the first fails.", ""),
        ("The second choice would be ibuprofen.", ""),
        ("The first option is a good treatment.", ""),
        ("The answer is B: ibuprofen in a single dose of 2 g.", "B"),
        ("The answer is B. Ibuprofen acts on an enzyme (ACE) of the kidney.", "B"),
        ("The answer is B. Ibuprofen actually protects.", "B"),
        ("The answer is B. Hmm, actually I think C.", ""),
        ("The answer is B. Actually, no.", ""),
        ("The drug would be Ibuprofen (Option B). However, it is important to ask a doctor.", "B"),
        ("It is preferred over aspirin.", ""),
        ("Es mejor que aspirin.", ""),
        ("Lo mejor es suspender aspirin.", ""),
        ("Hay que evitar la A.", ""),
        ("Il faut éviter A.", ""),
        ("应避免A。", ""),
        ("You most likely have aspirin.", "A"),
        ("Скорее всего, aspirin.", "A"),
        ("这很可能是aspirin。", "A"),
        ("Il s'agit très probablement d'aspirin.", "A"),
        ("Lo más probable es que sea aspirin.", "A"),
    ],
)
def test_places_units_and_words_within_a_sentence(reply, read):
    """'The second option' and its text agree; '2 g' and '(ACE)' name no option."""
    question = "Which of these is it?"
    assert "".join(read_letters(reply, FOUR, several=False, question=question) or ()) == read


def test_all_are_true_but_one_is_an_answer_where_one_that_is_not_is_asked_for():
    rows = "A. True.\n\nB. True. It cools.\n\nC. False. It burns.\n\nD. True."
    for question, read in (
        ("Which of these is FALSE?", {"C"}),
        ("Which is NOT a sign?", {"C"}),
        ("Which is true?", None),
    ):
        assert read_letters(rows, FOUR, several=False, question=question) == read
    other = f"{rows}\n\nThe one to mark is B."
    assert read_letters(other, FOUR, several=False, question="Which is FALSE?") == {"B"}


@pytest.mark.parametrize(
    ("purpose", "asks", "reply"),
    [
        ("To avoid bleeding, which one?", "Which should be avoided?", "A should be avoided."),
        ("¿Cuál, para evitar recaídas?", "¿Cuál debe evitarse?", "Hay que evitar la A."),
        ("Pour éviter une récidive, lequel ?", "Lequel faut-il éviter ?", "Il faut éviter A."),
        ("为避免出血，应选用", "应避免使用的是", "应避免A。"),
        ("Какой, чтобы избежать рецидива?", "Какого следует избегать?", "Следует избегать A."),
    ],
)
def test_what_is_avoided_answers_only_where_that_is_asked_for(purpose, asks, reply):
    assert read_letters(reply, FOUR, several=False, question=purpose) is None
    assert read_letters(reply, FOUR, several=False, question=asks) == {"A"}
