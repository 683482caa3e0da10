"""An example of a user's own file: six questions in three languages, written for this project."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError
from xling_tasks.output import jsonl, refuse_file, writing

_NOTES = (
    "One row is one question in all its languages. This column is for you: it is never read.",
    "Every language has question_CODE and, for correctness and verifiability, answer_CODE: the "
    "answer that an expert would give. Codes are ISO 639: en, pt, sw, yo, zh, ...",
    "An id may be any text or number; it stands in the results. Leave a cell empty where a "
    "language lacks the question: it is counted, and nothing is made up.",
    "wrong_answer_CODE may hold a wrong answer for verifiability; without one, the answer to "
    "another question is drawn.",
    "For multiple choice add option_a_CODE, option_b_CODE, ... and one column correct, with "
    "letters such as A or 'A, C'.",
    "Add your own rows, remove these, and ask: xling data check FILE",
)
_TEXTS = (
    ("sleep", (
        ("en", "How many hours should an adult sleep each night?",
         "Most adults need between seven and nine hours of sleep each night."),
        ("pt", "Quantas horas um adulto deve dormir por noite?",
         "A maioria dos adultos precisa de sete a nove horas de sono por noite."),
        ("sw", "Mtu mzima anapaswa kulala saa ngapi kila usiku?",
         "Watu wazima wengi wanahitaji kulala kati ya saa saba na tisa kila usiku."),
    )),
    ("fever", (
        ("en", "My child has a fever. What can I give to drink?",
         "Offer water, breast milk or a rehydration drink often and in small sips. See a health "
         "worker if the child drinks little or is very sleepy."),
        ("pt", "Meu filho está com febre. O que posso dar para beber?",
         "Ofereça água, leite materno ou soro de reidratação com frequência e em pequenos goles. "
         "Procure um profissional de saúde se a criança beber pouco ou estiver muito sonolenta."),
        ("sw", "Mtoto wangu ana homa. Naweza kumpa nini anywe?",
         "Mpe maji, maziwa ya mama au maji ya chumvi na sukari mara kwa mara, kidogo kidogo. "
         "Muone mhudumu wa afya ikiwa mtoto hanywi vya kutosha au ana usingizi sana."),
    )),
    ("wound", (
        ("en", "How do I clean a small cut?",
         "Wash your hands, rinse the cut with clean running water, dry the skin around it and "
         "cover it with a clean dressing."),
        ("pt", "Como limpo um pequeno corte?",
         "Lave as mãos, enxágue o corte com água corrente limpa, seque a pele ao redor e cubra "
         "com um curativo limpo."),
        ("sw", "Nisafishe vipi jeraha dogo?",
         "Nawa mikono, osha jeraha kwa maji safi yanayotiririka, kausha ngozi inayolizunguka na "
         "ulifunike kwa bandeji safi."),
    )),
    ("salt", (
        ("en", "Is it bad to eat a lot of salt?",
         "Yes. Too much salt raises blood pressure; adults should eat less than five grams, about "
         "a teaspoon, a day."),
        ("pt", "Faz mal comer muito sal?",
         "Sim. Sal em excesso aumenta a pressão arterial; adultos devem comer menos de cinco "
         "gramas, cerca de uma colher de chá, por dia."),
        ("sw", "Je, kula chumvi nyingi ni vibaya?",
         "Ndiyo. Chumvi nyingi huongeza shinikizo la damu; watu wazima wanapaswa kula chini ya "
         "gramu tano, takriban kijiko kimoja cha chai, kwa siku."),
    )),
    ("antibiotic", (
        ("en", "Will an antibiotic help against a common cold?",
         "No. A cold is caused by viruses, and antibiotics act on bacteria only. Rest and fluids "
         "help until it passes."),
        ("pt", "Um antibiótico ajuda contra o resfriado comum?",
         "Não. O resfriado é causado por vírus, e os antibióticos agem apenas sobre bactérias. "
         "Repouso e líquidos ajudam até passar."),
        ("sw", "Je, dawa ya antibiotiki husaidia dhidi ya mafua ya kawaida?",
         "Hapana. Mafua husababishwa na virusi, na antibiotiki hufanya kazi dhidi ya bakteria tu. "
         "Kupumzika na kunywa maji husaidia mpaka yapite."),
    )),
    ("malaria", (
        ("en", "How can I protect my family from malaria at night?",
         "Sleep under a mosquito net that is treated with insecticide, every night and all year."),
        ("pt", "Como posso proteger minha família da malária à noite?",
         "Durma sob um mosquiteiro tratado com inseticida, todas as noites e o ano todo."),
        ("sw", "Ninawezaje kulinda familia yangu dhidi ya malaria usiku?",
         "Laleni chini ya chandarua chenye dawa ya kuua mbu, kila usiku na mwaka mzima."),
    )),
)  # fmt: skip

ENDINGS = (".csv", ".xlsx", ".parquet", ".jsonl")


def rows() -> list[dict[str, str]]:
    """The example in the wide shape."""
    made = []
    for (key, texts), note in zip(_TEXTS, _NOTES, strict=True):
        row = {"id": key}
        for code, question, answer in texts:
            row |= {f"question_{code}": question, f"answer_{code}": answer}
        made.append({**row, "notes": note})
    return made


def long_rows() -> list[dict[str, str]]:
    """The same in the long shape: a row per question and language."""
    return [
        {"id": key, "language": code, "question": question, "answer": answer,
         "notes": note if code == "en" else ""}
        for (key, texts), note in zip(_TEXTS, _NOTES, strict=True)
        for code, question, answer in texts
    ]  # fmt: skip


def write(path: Path, content: Sequence[dict[str, str]]) -> None:
    """Write rows in the format that the file's ending names.

    Raises:
        DataError: If the ending is none of `ENDINGS`, or the file is there or cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"{path}: name a file that ends in {', '.join(ENDINGS)}")
    refuse_file(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _WRITERS[ending](path, content)


def _csv(path: Path, content: Sequence[dict[str, str]]) -> None:
    # With a mark, without which Excel takes UTF-8 for another encoding.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(content[0]))
        writer.writeheader()
        writer.writerows(content)


def _xlsx(path: Path, content: Sequence[dict[str, str]]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "questions"
    sheet.append(list(content[0]))
    for row in content:
        sheet.append(list(row.values()))
    book.save(path)


def _parquet(path: Path, content: Sequence[dict[str, str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(content)), path)


def _jsonl(path: Path, content: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(jsonl(content)), encoding="utf-8")


_WRITERS = {".csv": _csv, ".xlsx": _xlsx, ".parquet": _parquet, ".jsonl": _jsonl}
