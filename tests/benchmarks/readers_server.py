"""A perfect model behind an HTTP server, in twenty styles, through the harness on real questions.

    python tests/benchmarks/readers_server.py --data FOLDER [--limit N] [--languages fr ja ru]

Prints `acc` for every style and language: 1 less what the reader leaves unread.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE), str(HERE / "readers")]
os.environ.setdefault("OPENAI_API_KEY", "none")

import letter_styles  # noqa: E402
import styles  # noqa: E402
from conftest import Served  # noqa: E402

STYLES = (
    "letter", "letter in bold", "letters joined by 'and'", "letter and text", "letter) text",
    "bold letter and text", "text", "text in bold", "bullets of texts", "bullets of letter and text",
    "label, letter", "label, letter and text", "sentence, bold letter", "statement",
    "explanation after, in bold", "explanation before", "JSON list", "boxed", "thinking, only closed",
    "ticks and crosses",
)  # fmt: skip


class Perfect:
    """Answers every question rightly, in one style."""

    def __init__(self, questions):
        self.questions = questions
        self.style = STYLES[0]

    def __call__(self, prompt):
        for number, (text, question) in enumerate(self.questions):
            if text in prompt and all(option in prompt for option in question.options.values()):
                return letter_styles.CLEAR[self.style](question, number)
        return "ready"


def evaluate(url: str, language: str, data: Path, limit: int | None) -> dict:
    import lm_eval
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder

    metadata = {"data_dir": str(data), "xling_resume": False}
    model_args = {"model": "perfect", "base_url": url, "num_concurrent": 4, "max_retries": 1}
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=model_args | metadata
    )
    return lm_eval.simple_evaluate(
        model="local-chat-completions", model_args=model_args, tasks=[f"mmedbench_mcqa_{language}"],
        task_manager=manager, limit=limit, apply_chat_template=True, bootstrap_iters=0,
    )["results"][f"mmedbench_mcqa_{language}"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=styles.SAMPLE)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--languages", nargs="+", default=["fr", "ja", "ru"])
    options = parser.parse_args()
    print(
        "| style | " + " | ".join(options.languages) + " |\n|---|" + "---|" * len(options.languages)
    )
    model = Perfect(list(styles.asked(options.data)))
    served = Served(model)
    for model.style in STYLES:
        row = []
        for language in options.languages:
            result = evaluate(served.url, language, options.data, options.limit)
            row.append(f"{result['acc,none']:.4f}")
        print(f"| {model.style} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
