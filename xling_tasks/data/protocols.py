"""What each paper fixes of a run: `--metadata protocol=published`.

Settings take their values from `FIXED`; `docs/settings.md` lists the same (a test compares them),
and what stays other than in the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xling_tasks.errors import SettingError

PUBLISHED = "published"
SOURCES = {
    "xlingeval": "arXiv:2310.13132",
    "mmedbench": "arXiv:2402.13963",
    "found_in_translation": "arXiv:2505.21999",
}
"""The papers by their key in protocols and in `report/published.csv`."""
TEMPERATURES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The temperatures over which XLingEval's tables A9, A10 and A11 average."""


class Protocol(NamedTuple):
    """One paper: its key in `SOURCES`, its criteria, and what it fixes (setting -> value)."""

    source: str
    title: str
    criteria: tuple[str, ...]
    fixes: Mapping[str, Any]


_ALL: Mapping[str, Any] = {
    "prompt_language": PUBLISHED, "prompt_set": "all", "answer_extractor": None,
}  # fmt: skip
PROTOCOLS = (
    Protocol(
        "xlingeval",
        "XLingEval",
        ("correctness", "consistency", "verifiability"),
        {"temperatures": TEMPERATURES, "k": 10, "greedy_repeats": "k", "topic_seeds": (0,),
         "jury": ()},
    ),
    Protocol(
        "mmedbench",
        "MMedBench",
        ("mmedbench_mcqa", "mmedbench_mcqa_ft", "mmedbench_rationale", "mmedbench_rationale_ft"),
        {"bertscore_idf": True},
    ),
    Protocol(
        "found_in_translation",
        "Translate, then evaluate",
        ("information", "empathy"),
        {"english_floor": False, "jury": ()},
    ),
)  # fmt: skip
FIXED: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    setting: (value, tuple(p.title for p in PROTOCOLS if setting in {**p.fixes, **_ALL}))
    for one in PROTOCOLS
    for setting, value in {**one.fixes, **_ALL}.items()
}
"""Setting -> its value, and the papers that fix it; no two of them fix one otherwise."""


def fixed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the papers fix them; the user may not set something else."""

    def describe(setting: str, value: Any) -> str:
        if setting == "jury":
            return "a list of judges" if value else "one judge"
        plain = list(value) if isinstance(value, tuple) else getattr(value, "model", value)
        text = str(plain).lower() if isinstance(plain, bool) else plain
        return f"no {setting}" if value is None else f"{setting}={text}"

    for setting, (value, papers) in FIXED.items():
        current = values.get(setting, value)
        is_list = isinstance(value, tuple)
        same = sorted(map(str, current)) == sorted(map(str, value)) if is_list else current == value
        if not same:
            raise SettingError(
                f"--metadata protocol={PUBLISHED}: {describe(setting, current)} contradicts what "
                f"{' and '.join(papers)} fixed, {describe(setting, value)}; leave out the one or "
                "the other"
            )
    return {**values, **{setting: value for setting, (value, _) in FIXED.items()}}


def check_criterion(task: str, criterion: str) -> None:
    """Refuse what no paper has."""
    if not any(criterion in protocol.criteria for protocol in PROTOCOLS):
        papers = ", ".join(f"{p.title} ({SOURCES[p.source]})" for p in PROTOCOLS)
        raise SettingError(
            f"--metadata protocol={PUBLISHED}: {task} is this project's own and in none of the "
            f"papers ({papers}); leave the task or the setting out"
        )
