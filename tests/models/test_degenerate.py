"""What counts as no translation, and what must pass."""

from __future__ import annotations

import pytest

from xling_tasks.models.translate.degenerate import reasons, repeats

ES = "Beba mucha agua y descanse bien durante los próximos tres días."
EN = "Drink plenty of water and rest well for the next three days."


def reason(source, text, source_language="es", target_language="en"):
    return reasons([(source, text)], source_language, target_language)[0]


GOOD = [
    # Real renderings of one sentence, in scripts with and without spaces.
    ("es", "en", ES, EN),
    ("en", "es", EN, ES),
    ("zh", "en", "多喝水，并在接下来的三天里好好休息。", EN),
    ("en", "zh", EN, "多喝水，并在接下来的三天里好好休息。"),
    ("hi", "en", "खूब पानी पिएं और अगले तीन दिनों तक अच्छी तरह आराम करें।", EN),
    ("en", "hi", EN, "खूब पानी पिएं और अगले तीन दिनों तक अच्छी तरह आराम करें।"),
    # Names, numbers, abbreviations and addresses are copied rightly.
    ("es", "en", "Ibuprofeno 400 mg", "Ibuprofen 400 mg"),
    ("es", "en", "COVID-19, SARS-CoV-2, MERS, HIV-1", "COVID-19, SARS-CoV-2, MERS, HIV-1"),
    ("es", "en", "American Academy of Hospice", "American Academy of Hospice"),
    ("es", "en", "Dr. María García López, Hospital General", "Dr. María García López, Hospital General"),
    ("hi", "en", "www.cdc.gov/vaccines देखें", "See www.cdc.gov/vaccines"),
    ("en", "hi", "Take MRI, CT and PET in Delhi.", "Delhi में MRI, CT और PET करवाएँ।"),
    # Short words with little in common in length.
    ("zh", "en", "心肌梗死", "Myocardial infarction"),
    ("es", "en", "TB", "Tuberculosis"),
    ("es", "en", "Sí.", "Yes."),
    # A source that declines has a translation that declines, also where the wording is unknown.
    ("es", "en", "Lo siento, pero no te puedo ayudar con eso.", "I'm sorry, but I can't help you with that."),
    ("hi", "en", "मैं चिकित्सा सलाह देने में असमर्थ हूँ।", "I am unable to provide medical advice."),
    ("ja", "en", "医療上の助言は控えさせていただきます。", "I'm sorry, I cannot provide medical advice."),
    ("de", "en", "Dazu darf ich keinen Rat geben.", "I cannot give advice on this."),
    ("es", "en", "No puedo traducir este texto.", "I cannot translate this text."),
    # Words that can decline by their sense alone.
    *((code, "en", source, "I cannot provide a diagnosis.") for code, source in [
        ("es", "Tampoco puedo ofrecerle un diagnóstico."),
        ("es", "Lamentablemente, carezco de la capacidad de dar un diagnóstico."),
        ("es", "Jamás podría dar un diagnóstico."),
        ("es", "Dar un diagnóstico excede mis capacidades."),
        ("es", "Un diagnóstico queda fuera de mi alcance."),
        ("fr", "Donner un diagnostic dépasse mes compétences."),
        ("fr", "Donner un diagnostic est au-delà de mes capacités."),
        ("fr", "Cela est hors de ma portée : donner un diagnostic."),
        ("zh", "关于诊断，我爱莫能助。"),
        ("zh", "我尚缺乏做出诊断的能力。"),
        ("zh", "做出诊断超出了我的能力范围。"),
        ("ru", "Постановка диагноза выходит за рамки моих возможностей."),
        ("hi", "निदान देना मेरी क्षमता से परे है।"),
        ("ja", "診断は私の役割を超えています。"),
    ]),
    # About what cannot be translated, as sciences say it; and what ribosomes do.
    ("es", "en", "Estos hallazgos en ratones no pueden extrapolarse a humanos.",
     "These findings in mice cannot be translated to humans."),
    ("es", "en", "Saltarse comidas no se convertirá en pérdida de peso.",
     "Skipping meals won't translate into weight loss."),
    ("es", "en", "Los ribosomas no pueden leer el ARN.", "Ribosomes cannot translate the RNA."),
    ("es", "en", "No podemos llevar aún estos hallazgos a la clínica.",
     "We cannot translate these findings to the clinic yet."),
    # Lists of words that both languages have.
    ("hi", "en", "metformin, glimepiride, sitagliptin, insulin",
     "These are metformin, glimepiride, sitagliptin, insulin."),
    ("hi", "en", "metformin, glimepiride, sitagliptin, insulin", "metformin, glimepiride, sitagliptin, insulin"),
    ("ru", "en", "Мы не можем перенести эти данные на человека.", "We cannot translate these data to humans."),
    ("es", "en", "oral, rectal, vaginal, nasal", "It can be oral, rectal, vaginal, nasal or topical."),
    # A name within, and a short source.
    ("es", "en", "Tome ibuprofeno con comida.", "Take ibuprofen (Tome ibuprofeno con comida)."),
    # A source that loops has a translation that loops.
    ("es", "en", "No, no, no, no, no, no y no.", "No, no, no, no, no, no and no."),
    # English inside of a Spanish answer stays English.
    ("es", "en", "Ask your doctor about side effects before you stop taking it.",
     "Ask your doctor about side effects before you stop taking it."),
    # Capitals look like another language to langid.
    ("es", "en", "¿CUÁL ES LA ÚLTIMA INVESTIGACIÓN SOBRE EL D-LIMONENO CONTRA EL CÁNCER?",
     "WHAT IS THE LATTEST RESEARCH ON USING D-Limonene AS A TREATMENT FOR CANCER??"),
    # langid calls some Hindi Marathi, so Marathi must pass for Hindi.
    ("en", "hi", EN, "पुढील तीन दिवस भरपूर पाणी प्या आणि चांगली विश्रांती घ्या, असे डॉक्टरांनी सांगितले आहे."),
]  # fmt: skip


@pytest.mark.parametrize(("source_language", "target_language", "source", "text"), GOOD)
def test_real_translations_pass(source_language, target_language, source, text):
    assert reason(source, text, source_language, target_language) is None


BAD = [
    ("empty", "es", "en", ES, ""),
    ("empty", "es", "en", ES, " ... "),
    ("copy", "es", "en", ES, f"{ES} {EN}"),
    ("copy", "es", "en", ES, f"{ES} → {EN}"),
    ("copy", "zh", "en", "多喝水，并在接下来的三天里好好休息。", f"多喝水，并在接下来的三天里好好休息 - {EN}"),
    ("declined", "es", "en", ES, "I'm sorry, but I can't help with medical advice."),
    ("declined", "hi", "en", "खूब पानी पिएं और आराम करें।", "I cannot provide medical advice."),
    ("declined", "th", "en", "ดื่มน้ำมากๆ และพักผ่อน", "I'm unable to translate this text."),
    ("declined", "es", "en", ES, "I'm sorry, but as an AI I cannot translate medical content."),
    ("declined", "es", "en", ES, "Sorry, unable to translate."),
    ("declined", "es", "en", ES, "This text cannot be translated."),
    ("copy", "hi", "en", "खूब पानी पिएं और आराम करें।", "खूब पानी पिएं और आराम करें: drink a lot of water and rest."),
    ("lines", "es", "en", ES, f"Here it is:\n{EN}"),
    ("repeated", "es", "en", ES, "Drink plenty of water, drink plenty of water, drink plenty of water."),
    ("repeated", "es", "en", ES, "the the the the the the"),
    ("repeated", "es", "en", ES, "Drink waterrrrrrrrrrrrr"),
    ("repeated", "en", "zh", EN, "多喝水多喝水多喝水多喝水多喝水"),
    # Not in a row: of 33 words, 30 4-grams, 12 of them distinct.
    ("repeated", "es", "en", ES, "you should ask the doctor and then you should ask the nurse and " * 2
     + "you should ask the doctor and then you should"),
    ("copy", "es", "en", ES, ES),
    ("copy", "es", "pt", ES, ES.replace(".", "")),
    ("script", "hi", "en", "खूब पानी पिएं और आराम करें।", "खूब चाय पीना और सोना"),
    ("script", "zh", "en", "多喝水，好好休息。", "多喝开水。"),
    ("script", "en", "hi", "Drink water and rest.", "beba agua y descanse"),
    ("language", "es", "en", ES, "Bitte trinken Sie viel Wasser und ruhen Sie sich in den nächsten Tagen gut aus."),
    # Expected 63 / 1.1 = 57 characters, at most 3 * 57 + 20 = 191.
    ("length", "es", "en", ES, " ".join([EN, "I do not know what else to say about this, but here are some "
     "more words that nobody asked for.", "It goes on and on about other things."])),
    # Expected 2 * 60 / 0.3 = 400, at least 133 - 20 = 113.
    ("length", "zh", "en", "多喝水，并在接下来的三天里好好休息，不要吸烟也不要喝酒。" * 4 + "谢谢。", "Drink water."),
]  # fmt: skip


@pytest.mark.parametrize(("why", "source_language", "target_language", "source", "text"), BAD)
def test_failures_are_named(why, source_language, target_language, source, text):
    assert reason(source, text, source_language, target_language) == why


def test_many_at_once_in_order():
    assert reasons([(ES, EN), (ES, ES), (ES, "")], "es", "en") == [None, "copy", "empty"]
    assert reasons([], "es", "en") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("......................", False),
        ("Tel.: 555 555 555 555 555 555", False),
        ("ha ha ha ha", False),
        ("ha ha ha ha ha", True),
        ("दवा दवा दवा दवा दवा दवा", True),
        ("one two three four five six seven eight", False),
    ],
)
def test_repeats(text, expected):
    assert repeats(text) is expected


@pytest.mark.realdata
def test_aligned_sentences_of_the_data_pass(realdata):
    """Of sentences that stand at the same place in a question and its translation, 1% at most."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_excel(realdata / "xlinghealth" / "LiveQA.xlsx")
    for code, name in {"es": "Spanish", "zh": "Chinese", "hi": "Hindi"}.items():
        rows = table[["question_English", f"question_{name}"]].dropna().drop_duplicates()
        pairs = [(str(b), str(a)) for a, b in rows.itertuples(index=False)]
        faults = [why for why in reasons(pairs, code, "en") if why]
        assert len(faults) <= 0.01 * len(pairs), faults
