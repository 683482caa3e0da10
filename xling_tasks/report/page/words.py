"""What the page says in words: what a criterion asks, what verdicts and terms mean."""

from __future__ import annotations

from xling_tasks.criteria import form_of

MEANINGS = {
    "correctness": (
        "Is the answer right? A judge model compares each answer with an expert's answer to the "
        "same question. An answer that contradicts the expert's can do harm."
    ),
    "consistency": (
        "Does the model say the same when it is asked again? Each question is asked several times; "
        "answers in other languages are translated to English, then compared with one another."
    ),
    "verifiability": (
        "Does the model know a right answer from a wrong one? It is shown a question with an "
        "answer and says Yes or No."
    ),
    "verifiability_ll": (
        "Does the model know a right answer from a wrong one, by how likely it finds Yes and No?"
    ),
    "mcqa": (
        "Does the model choose all right options of a question, and no other? The questions are "
        "the same in every language."
    ),
    "mmedbench_mcqa": (
        "Does the model choose all right options of a medical exam question, and no other? Each "
        "language has its own questions, so languages are compared beyond guessing only."
    ),
    "mmedbench_mcqa_ll": (
        "Which options of a medical exam question does the model find likeliest? Each language has "
        "its own questions, so languages are compared beyond guessing only."
    ),
    "mmedbench_rationale": (
        "Does the model give good reasons for its choice in an exam question? They are compared "
        "with reasons that people checked, within each language."
    ),
    "rubric": (
        "Does the answer do what experts ask of it? A judge model says of each criterion of a "
        "conversation whether the answer meets it; the points of those that it meets are set "
        "against all that could be earned."
    ),
    "information": (
        "Does the answer say the same as the model's own English answer? Both are taken apart into "
        "claims, and a judge model says which of them the other answer supports."
    ),
    "empathy": (
        "Does the model respond with the same kind of empathy as in English? Classifiers look for "
        "emotional reactions, interpretations and explorations in both replies."
    ),
}
"""What each criterion asks, in plain words; fine-tuned models are asked the same."""

VERDICT_MEANINGS = {
    "worse": "The interval of the difference from English excludes 0, and chance is unlikely even "
    "when it is counted that several conclusions were drawn. About information and empathy: the "
    "answers have less in common with the English ones than the margin allows.",
    "better": "The same, in favour of the language.",
    "about_the_same": "The whole interval lies within the margin: a difference that matters is "
    "unlikely.",
    "cannot_tell": "Neither can be said. 'So many questions would show so many points' is the "
    "smallest difference that a run of this size finds four times out of five.",
    "not_comparable": "Too many answers were empty, refused, unread or in another language to "
    "compare anything.",
}
"""What each verdict means."""

GLOSSARY = {
    "endpoint": "One of the few measures on which conclusions rest, fixed before anything is seen. "
    "All other measures are exploratory.",
    "interval (low, high)": "Where the true value or difference lies, by these questions: made so "
    "that it holds the truth in 95 of 100 runs, if not said otherwise.",
    "margin": "Differences up to this are taken as about the same. Each measure has its own, set "
    "beforehand; the table of all conclusions names it.",
    "points": "Hundredths: 0.19 and 0.11 are 8 points apart.",
    "p": "How often chance alone would make such a difference, if there were none.",
    "p, corrected; p (Holm)": "The same, when it is counted that several differences of one model "
    "and dataset were tested.",
    "detectable": "The difference that a run of this size finds four times out of five.",
    "T, temperature": "How freely the model chooses its words: 0 is always the likeliest one.",
    "contradictory": "Share of answers that contradict the expert's answer and so answer wrongly.",
    "more comprehensive": "Share of answers that agree with the expert's and are more complete.",
    "chrF": "How alike two texts are in their letters, 0 to 100. Compare models with it, not "
    "languages.",
    "macro_f1, macro F1": "How well right and wrong answers are recognised, both counted alike: 1 "
    "is always, 0.5 is about guessing.",
    "AUC": "How often a right answer is preferred to a wrong one: 1 is always, 0.5 is guessing.",
    "auc_hard": "The papers' AUC of Yes and No alone, which equals macro recall.",
    "ECE, Brier": "How far probabilities of Yes are from what is right; lower is better.",
    "sim_sent": "How alike several answers to one question are in meaning: 1 is the same.",
    "bertscore_f1, BERTScore": "How alike two texts are word by word, with words in their context.",
    "sim_1gram, sim_2gram": "Words, or pairs of words, that two answers share.",
    "sim_lda20, sim_lda100, sim_hdp": "How alike the topics of two answers are, with 20 or 100 "
    "topics, or (sim_hdp, made with hdp=true only) as many as the data ask for.",
    "_src": "Made on the answers in their own language instead of their translation: for comparing "
    "models, never languages.",
    "langid_match, language_consistency": "Share of answers, or of their sentences, that are in "
    "the language of the question.",
    "second_language_match, second_language_consistency, second_line_pass_rate": "The same by "
    "another identifier of languages than langid; lines: answers all of whose lines are.",
    "identifiers_agree": "Share of answers of which both identifiers of language say the same.",
    "acc": "Share of questions answered rightly.",
    "BLEU, ROUGE": "Words and runs of words that a text shares with a reference.",
    "rubric_score": "Points of the criteria that an answer meets, over all positive points; faults "
    "cost points, so that one answer can be below 0.",
    "information_f1": "How much of the claims two answers share, from 0 to 1.",
    "empathy": "Share of replies with the same kinds of empathy as the English reply.",
    "d_z": "The mean difference over its spread: 0.2 is small, 0.8 is large.",
    "Wilcoxon, rank-biserial": "Whether most questions go one way, and how clearly.",
    "ANOVA, F; Tukey's HSD; t": "Tests as the papers made them, which take the languages as "
    "unrelated samples; ours compare question by question.",
    "published": "Figures of the papers, measured by others with other models.",
    "signature": "All that a number depends on, to make it again.",
}
"""The terms of tables and pictures."""


def meaning_of(criterion: str) -> str:
    """What a criterion asks; empty for what is none."""
    return MEANINGS.get(criterion) or MEANINGS.get(form_of(criterion).base, "")
