"""`xling translate`: a set of prompts in other languages, and translations made outside.

`export` writes every text of a run that scoring translates to English, once; `import` checks what
comes back and makes the file that the translator `file` reads. `prompts`: see `prompts`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from xling_tasks.commands.translate import prompts
from xling_tasks.commands.translate.elsewhere import (
    MAY_BE_ACCEPTED,
    checked,
    read_texts,
    texts_of,
)
from xling_tasks.output import jsonl, refuse_file, write_new
from xling_tasks.report.options import add_to

NEXT = (
    "Next: fill in `translation` on every line, by any means, and check it: xling translate import "
    "BACK.jsonl --of {to} --to translations.jsonl"
)
SCORE = (
    "Next: score the same answers with them: lm_eval --model xling_replay --model_args path=OUT "
    '--tasks ... --metadata \'{{"translator": {{"model": "file", "model_args": {{"path": '
    '"{to}"}}}}}}\''
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling translate` takes."""
    parts = parser.add_subparsers(title="what", required=True)
    prompts.add_options(
        parts.add_parser("prompts", help="the other languages of a set of English prompts")
    )
    export = parts.add_parser("export", help="the texts of a run that scoring translates")
    export.add_argument("out_dir", metavar="OUT", help="--output_path of lm_eval (--log_samples)")
    add_to(export, "the new JSONL file", file=True)
    export.set_defaults(run=run_export)
    back = parts.add_parser("import", help="check translations, and make the translator's file")
    back.add_argument("back", type=Path, metavar="BACK", help="JSONL with id and translation")
    back.add_argument("--of", type=Path, required=True, metavar="TEXTS", help="what `export` wrote")
    add_to(back, "the new file of the translator", file=True)
    back.add_argument(
        "--accept", nargs="+", choices=MAY_BE_ACCEPTED, default=[], metavar="KIND",
        help=f"go on although some are wrong ({', '.join(MAY_BE_ACCEPTED)}): missing and empty "
        "ones stay unscored, those in another language are taken",
    )  # fmt: skip
    back.set_defaults(run=run_import)


def run_export(options: argparse.Namespace) -> str:
    """Write the texts; returns how many there are of each language.

    Raises:
        DataError: If the run has no answers to translate, or the file exists.
    """
    refuse_file(options.to)
    texts, answers = texts_of(Path(options.out_dir).expanduser())
    write_new(options.to, jsonl(text.row() for text in texts))
    lines = [
        f"{options.to}: {len(texts)} distinct texts of {sum(answers.values())} answers "
        f"({', '.join(f'{code} {count}' for code, count in answers.items())})."
    ]
    return "\n".join([*lines, NEXT.format(to=options.to)])


def run_import(options: argparse.Namespace) -> str:
    """Check what came back and write the translator's file.

    Raises:
        DataError: Naming what is wrong with the lines, or if the file exists.
    """
    refuse_file(options.to)
    texts = read_texts(options.of)
    rows, notes = checked(options.back, texts, options.accept)
    write_new(options.to, jsonl(rows))
    said = f"{options.to}: {len(rows)} of {len(texts)} texts have a translation."
    return "\n".join([said, *(f"Note: {note}" for note in notes), SCORE.format(to=options.to)])
