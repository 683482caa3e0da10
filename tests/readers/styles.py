"""Print how replies of every style are read, by language: right / unread / wrong.

    python tests/readers/styles.py [--data FOLDER] [--verdicts] [--wrong 20] [--unread 20]

FOLDER holds files in the form of MMedBench (`Test/French.jsonl`, ...); the sample that comes with
the package is always read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import verdict_styles
from letter_styles import LANGUAGES, Question, Reply, replies

from xling_tasks.readers.letters import read_letters
from xling_tasks.readers.verdict import read_verdict

SAMPLE = Path(__file__).parents[2] / "xling_tasks" / "data" / "sample" / "mmedbench_demo"
NAMES = dict(zip(LANGUAGES, ("English", "Chinese", "Japanese", "French", "Russian", "Spanish")))


def questions(folder: Path) -> Iterator[Question]:
    """All questions of a folder."""
    return (question for _, question in asked(folder))


def asked(folder: Path) -> Iterator[tuple[str, Question]]:
    """Text and question; whether several letters may be right is a file's property."""
    for language, name in NAMES.items():
        path = folder / "Test" / f"{name}.jsonl"
        if path.is_file():
            rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
            answers = [tuple(sorted(set(row["answer_idx"]) - set(", "))) for row in rows]
            several = any(len(answer) > 1 for answer in answers)
            for row, answer in zip(rows, answers):
                yield row["question"], Question(language, row["options"], answer, several)


def outcome(reply: Reply, options: dict[str, str], several: bool) -> str:
    """'right', 'unread' or 'wrong'; reading nothing in a reply that means nothing is right."""
    read = read_letters(reply.text, options, several=several, cut=reply.cut)
    if read == reply.means:
        return "right"
    return "unread" if read is None else "wrong"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--wrong", type=int, default=0, help="print so many replies read wrong")
    parser.add_argument("--unread", type=int, default=0, help="and so many clear ones left unread")
    parser.add_argument("--style", default="")
    parser.add_argument("--verdicts", action="store_true", help="Yes and No instead of letters")
    options = parser.parse_args()
    if options.verdicts:
        verdict_table()
        return
    folders = [SAMPLE, *([options.data] if options.data else [])]
    table: dict[str, Counter[tuple[str, str]]] = {}
    shown: Counter[str] = Counter()
    for number, question in enumerate(q for folder in folders for q in questions(folder)):
        for style, reply in replies(question, number):
            if options.style not in style:
                continue
            result = outcome(reply, question.options, question.several)
            table.setdefault(style, Counter())[question.language, result] += 1
            blamed = result == "wrong" or (result == "unread" and not reply.may)
            limit = options.wrong if result == "wrong" else options.unread
            if blamed and shown[result, style, question.language] < 1 and shown[result] < limit:
                shown[result] += 1
                shown[result, style, question.language] += 1
                print(result, style, question, json.dumps(reply.text, ensure_ascii=False)[-700:],
                      read_letters(reply.text, question.options, several=question.several, cut=reply.cut), "\n")  # fmt: skip
    print_table(table)


def verdict_table() -> None:
    """The same for Yes and No."""
    table: dict[str, Counter[tuple[str, str]]] = {}
    for language, style, reply in verdict_styles.replies():
        read = read_verdict(reply.text)
        result = "right" if read == reply.means else "unread" if read is None else "wrong"
        table.setdefault(style, Counter())[language, result] += 1
    print_table(table, verdict_styles.LANGUAGES)


def print_table(
    table: dict[str, Counter[tuple[str, str]]], languages: tuple[str, ...] = LANGUAGES
) -> None:
    print("| style | " + " | ".join(languages) + " |")
    print("|---|" + "---|" * len(languages))
    sums: Counter[tuple[str, str]] = Counter()
    for style, counts in table.items():
        sums += counts
        print(f"| {style} | " + " | ".join(cell(counts, code) for code in languages) + " |")
    print("| **all** | " + " | ".join(cell(sums, code) for code in languages) + " |")


def cell(counts: Counter[tuple[str, str]], language: str) -> str:
    """'right / unread / wrong'."""
    return " / ".join(str(counts[language, name]) for name in ("right", "unread", "wrong"))


if __name__ == "__main__":
    main()
