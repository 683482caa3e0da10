"""What two English answers share: the floor against which agreement with English counts."""

from __future__ import annotations

import random
import zlib
from dataclasses import asdict

import pytest
import scripted
from builders import evaluated, write_lines
from fixed import Fixed

from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_verdicts
from xling_tasks.report.verdicts import Options
from xling_tasks.report.words import tell_evidence

TASK = "xling_information"
FIELDS = {"id": "ind"}


class Facts(Fixed):
    """A model that says 8 of 12 facts in English, other ones in every answer; fewer of LOST."""

    def __init__(self, lost=(), sampled=True):
        super().__init__(self.answer)
        self.lost, self.sampled = lost, sampled

    def answer(self, prompt, arguments):
        tau = arguments["temperature"] if self.sampled else 0.0
        number, code = prompt.split()[-2:]
        rng = random.Random(zlib.crc32(f"{prompt} {tau}".encode()))
        said = rng.sample(range(12), 2 if code in self.lost else 8)
        return " ".join(f"Fact {fact} of {number} is what matters here." for fact in said)


@pytest.fixture
def asked(run, serve, tmp_path):
    """`asked(model, codes, n, judge)`: a run and the conclusions on information F1 by language."""

    def asked_(model, codes, n, judge=scripted.reply, **more):
        texts = {
            FIELDS.get(code, code): f"Say what is known of {{}} {code}" for code in ("en", *codes)
        }
        rows = [
            {"id": str(i), **{name: text.format(i) for name, text in texts.items()}}
            for i in range(n)
        ]
        path = write_lines(tmp_path / "prompts.jsonl", rows)
        metadata = {"judge": serve(judge).spec(), "translator": "none", "prompt_set": str(path)}
        results = evaluated(run, tmp_path / "out", TASK, model=model, metadata=metadata | more)
        (model,) = read_models([tmp_path / "out"])
        verdicts = make_verdicts(model, Options())
        found = {c.language: c for c in verdicts if c.metric == "information_f1"}
        return results, found

    return asked_


def test_a_real_loss_is_found_and_told_beside_two_english_answers(asked):
    model = Facts(lost=("hi",))
    results, found = asked(model, ["es", "hi"], 30)
    assert {code: item.verdict for code, item in found.items()} == {
        "hi": "worse", "es": "inconclusive"
    }  # fmt: skip
    scores = results["results"][TASK]
    # 8 of 12 facts each: two answers share 8 * 8 / 12, which is 2/3 of either's claims.
    assert scores["information_f1_en,none"] == pytest.approx(2 / 3, abs=0.05)
    assert found["hi"].english == pytest.approx(scores["information_f1_en,none"])
    # 2 facts, 2/3 of which English has, and a sixth of the English claims: 2 * 2/3 * 1/6 / (5/6).
    assert found["hi"].value == pytest.approx(4 / 15, abs=0.05)
    assert "two English answers share" in tell_evidence(asdict(found["hi"]))
    again = [arguments for prompt, arguments in model.seen if prompt.endswith("en")]
    assert [a["temperature"] for a in again[:2]] == [0.0, 1.0] and again[1]["do_sample"] is True
    recorded = results["configs"][TASK]["metadata"]["xling"]
    assert "|second_answer:t1" in recorded["signatures"]["information_f1_en"]
    assert recorded["settings"]["english_floor"] is True
    sample = results["samples"][TASK][0]
    assert sample["n_claims_en"]["again"]["english"] == sample["resps"][-1][0]


def test_a_model_that_repeats_itself_gives_no_floor(asked, caplog):
    results, found = asked(Facts(lost=("es",), sampled=False), ["es"], 6)
    assert results["results"][TASK]["information_f1_en,none"] is None
    assert found["es"].verdict == "inconclusive" and found["es"].english == 1
    assert (found["es"].reason, found["es"].next) == ("floor", "twice")
    assert "word for word" in caplog.text
