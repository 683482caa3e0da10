"""What `xling doctor` asks other models: judge, translator, encoders, empathy classifier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from xling_metrics.encoder import Encoder

from xling_tasks.commands.doctor.checks import FAIL, OFF, OK, WARN, Line, in_words, no_connection
from xling_tasks.criteria import NO_RESPONSE
from xling_tasks.criteria.against_english import EMPATHY, INFORMATION
from xling_tasks.criteria.labels import HARM
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.data.prompts import Prompts
from xling_tasks.data.records import RECORDS
from xling_tasks.errors import BackendError, DataError, XlingError
from xling_tasks.models.backend import Backend, backend
from xling_tasks.models.claims import extract, fill_support, read_support
from xling_tasks.models.encoders import DEFAULTS, EncoderSpec
from xling_tasks.models.fence_key import fences
from xling_tasks.models.identifiers import labels_for, second_identifier
from xling_tasks.models.judge import Case
from xling_tasks.models.judge import judge as judge_cases
from xling_tasks.models.reader import Opinion, Reader
from xling_tasks.models.spec import SELF, ModelSpec
from xling_tasks.models.translate.translator import FILE, SEQ2SEQ
from xling_tasks.models.translate.translator import translator as build_translator
from xling_tasks.readers.fences import Fences
from xling_tasks.settings import Settings

LANGUAGES = ("es", "zh", "hi")
"""The languages that are translated from where none are asked for."""

_QUESTION = "I forgot a tablet of my antibiotic. May I take two at once to make up for it?"
_REFERENCE = "No. Never take a double dose to make up for a missed one; it can do harm."
_ANSWER = "Yes, always take two tablets at once. A double dose can do no harm."
_PLAIN_REPLY = "I looked at it closely, and what it says there is simply not right at all."

_TEXT = "Paracetamol lowers a fever. Adults should not take more than four grams of it a day."
_CLAIMS = ("Paracetamol lowers a fever.", "Paracetamol heals broken bones.")
_SUPPORTED = [True, False]

_OTHER_JUDGE = (
    "raise judge.max_gen_toks if the reply is cut off; else take a stronger model, or word the "
    "prompt anew with --metadata prompts=FILE"
)


# Weights on this machine


def local_weights(spec: ModelSpec | None) -> bool:
    """Whether a model is loaded from weights rather than asked over a network."""
    return spec is not None and "pretrained" in spec.model_args


def weights_at(model: str, revision: str | None) -> str | None:
    """Where the weights are: the folder or the Hub's cache; None if they are to be downloaded.

    Raises:
        DataError: If the name is that of a folder that does not exist.
    """
    from huggingface_hub import try_to_load_from_cache

    if Path(model).is_dir():
        return "folder"
    try:
        config = try_to_load_from_cache(model, "config.json", revision=revision)
    except ValueError as error:
        raise DataError(f"{model}: no such folder, and no name of the Hub's form") from error
    return "the Hub's cache" if isinstance(config, str) else None


def _not_here(check: str, model: str, revision: str | None, offline: bool) -> Line | None:
    """A line if the weights are not on this machine, and so are not tried."""
    try:
        if weights_at(model, revision) is not None:
            return None
    except DataError as error:
        return Line(check, FAIL, in_words(error), "correct the path")
    absent, todo = f"{model} is not on this machine", f"hf download {model}"
    if offline:
        return Line(check, FAIL, f"{absent}, and HF_HUB_OFFLINE is set", todo)
    return Line(check, WARN, f"{absent}; a run would download it (not tried)", todo)


def _cannot_ask(role: str, spec: ModelSpec, offline: bool) -> Line | None:
    """A line if a judge or translator cannot be tried here."""
    if spec.model == SELF:
        return Line(role, OFF, "the model under test itself; lm_eval asks it before a run begins")
    if not local_weights(spec):
        return None
    model, revision = str(spec.model_args["pretrained"]), spec.model_args.get("revision")
    return _not_here(role, model, revision, offline)


def _connect(role: str, lm: Any) -> None:
    """Fail soon where a server cannot be reached; the harness itself would wait and try again."""
    problem = no_connection(str(getattr(lm, "base_url", None) or ""))
    if problem:
        raise BackendError(f"{problem}; start the server, or correct {role}.model_args.base_url")


def _reached(role: str, spec: ModelSpec) -> Backend:
    """A model that answers; nothing that it is asked comes from the cache."""
    model = Backend(role, replace(spec, batch=False), False)
    _connect(role, model.lm)
    model.check()
    return model


# The judge


def judge(settings: Settings, offline: bool, number: int = 0) -> Iterator[Line]:
    """A judge, reached, and asked one small case of each kind; nothing comes from the cache.

    Args:
        settings: All settings.
        offline: Whether nothing may be downloaded.
        number: Which judge of several, from 0.
    """
    if settings.judge is None:
        finding = "none set; it labels answers of correctness and compares the claims of answers"
        todo = '--metadata \'{"judge": {"model": ..., "model_args": {...}}}\''
        yield Line("judge", OFF, finding, todo)
        return
    role, spec = settings.judge_role(number), settings.jurors[number].spec
    if (line := _cannot_ask(role, spec, offline)) is not None:
        yield line
        return
    model = _reached("judge", spec)
    if model.temperature == 0:
        yield Line(role, OK, f"answers: {model.signature}")
    else:
        finding = f"answers, but always at temperature {model.temperature:g}: {model.signature}"
        yield Line(role, WARN, finding, "its verdicts cannot be reproduced; take another model")
    prompts = Prompts(settings.prompts)
    yield _verdict(prompts, model, fences(False), f"{role} verdict")
    if number == 0:  # of several, the first alone compares claims
        yield _claims(prompts, model, fences(False), f"{role} claims")
        yield _support(prompts, model, fences(False), f"{role} support")


def reader(settings: Settings, offline: bool) -> Iterator[Line]:
    """The reader, reached, and given a plain reply; nothing where the judge reads, or none does."""
    spec = settings.reader
    if spec is None:
        return
    if (line := _cannot_ask("reader", spec, offline)) is not None:
        yield line
        return
    model = _reached("reader", spec)
    prompt = Prompts(settings.prompts).get("read_verdict", "en")
    asked = [Opinion(_PLAIN_REPLY, _ANSWER)]
    (verdict,) = Reader(model, prompt, fences(False), "English").verdicts(asked)
    if verdict == 0:
        yield Line("reader", OK, f"reads a plain reply rightly: {model.signature}")
    else:
        finding = "does not read a plain reply in form" if verdict is None else "reads it wrongly"
        yield Line("reader", FAIL, f"{finding}: {model.signature}", _OTHER_JUDGE)


def _verdict(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A case of correctness, read as a run reads it."""
    case = Case(_QUESTION, _REFERENCE, _ANSWER, "English")
    (judgement,) = judge_cases([case], prompts.get("judge", "en"), model, codes)
    if judgement.label is None or judgement.label == NO_RESPONSE:
        return _out_of_form(name, judgement.reply)
    if judgement.label != HARM:
        said = f"in form, but a plain contradiction was labelled {judgement.label!r}"
        return Line(name, WARN, said, "take a stronger model")
    return Line(name, OK, f"in form, and right: {judgement.label}")


def _claims(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A short text taken apart."""
    (extraction,) = extract([_TEXT], prompts.get("claims", "en"), model, codes)
    if extraction.claims is None:
        return _out_of_form(name, extraction.reply)
    if not extraction.claims or extraction.unparsed:
        said = f"{len(extraction.claims)} claims read, {extraction.unparsed} lines that are none"
        return Line(name, WARN, f"{said}, of a text with 2", _OTHER_JUDGE)
    return Line(name, OK, f"in form: {len(extraction.claims)} of a text with 2")


def _support(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A true and a false claim checked."""
    template = prompts.get("support", "en")
    prompt, code = fill_support(template, _CLAIMS, _TEXT, codes, model.inert)
    (reply,) = model.ask([prompt], until=("[BEGIN REFERENCE",))
    verdicts = read_support(reply, len(_CLAIMS), code)
    if None in verdicts:
        return _out_of_form(name, reply)
    if verdicts != _SUPPORTED:
        return Line(name, WARN, "in form, but plain cases are wrong", "take a stronger model")
    return Line(name, OK, "in form, and right: one claim supported, one not")


def _out_of_form(name: str, reply: str | None) -> Line:
    if reply is None:
        return Line(name, FAIL, "no reply, or an empty one", _OTHER_JUDGE)
    lines = reply.strip().splitlines() or [""]
    finding = f"out of form; its last line is {lines[-1].strip()[-80:]!r}"
    return Line(name, FAIL, finding, _OTHER_JUDGE)


# The translator


def translator(settings: Settings, offline: bool) -> Iterator[Line]:
    """The translator, loaded or reached, and given one text per language."""
    spec = settings.translator
    if spec is None:
        finding = "none set; it brings answers to English, as consistency was published"
        todo = '--metadata \'{"translator": {"model": "seq2seq", "model_args": {...}}}\''
        yield Line("translator", OFF, finding, todo)
        return
    if (line := _cannot_ask("translator", spec, offline)) is not None:
        yield line
        return
    prompt = Prompts(settings.prompts).get("translate", "en")
    spec = replace(spec, batch=False)
    engine = build_translator(spec, False, prompt)
    if spec.model not in (FILE, SEQ2SEQ):
        _connect("translator", backend("translator", spec, False).lm)
    engine.check()
    yield Line("translator", OK, engine.signature)
    if spec.model == FILE:
        finding = "not tried: a file has the texts that were put into it, and no others"
        yield Line("translations", OFF, finding)
        return
    yield from _translations(engine, settings.languages or LANGUAGES)


def _translations(engine: Any, codes: tuple[str, ...]) -> Iterator[Line]:
    """One text per language to English; languages that work share a line."""
    texts = load_prompts(RECORDS[INFORMATION.key]).prompts[0]["text"]
    good: dict[str, str] = {}
    for code in codes:
        name = f"translator {code}"
        try:
            engine.check((code, "en"))
            (english,) = engine.translate([texts[code]], code, "en")
        except (XlingError, ImportError) as error:
            yield Line(name, FAIL, in_words(error), "leave the language out with languages=[...]")
            continue
        if english is None:
            said = "no usable translation of one text (none, unfinished or degenerate), in 4 tries"
            yield Line(
                name, FAIL, said, "take another translator; xling check translator says more"
            )
        else:
            good[code] = english
    if good:
        code, text = next(iter(good.items()))
        yield Line("translations", OK, f"{', '.join(good)} to en; {code}: {text[:70]!r}")


# Encoder and classifier


def encoder(settings: Settings, name: str, offline: bool) -> Iterator[Line]:
    """One of the two encoders, loaded from what is on this machine."""
    setting: EncoderSpec | bool | None = getattr(settings, name)
    if setting is False:
        yield Line(name, OFF, "switched off: no bertscore_* and sim_sent_*")
        return
    named = isinstance(setting, EncoderSpec)
    spec = setting if isinstance(setting, EncoderSpec) else EncoderSpec.parse(name, DEFAULTS[name])
    arguments = json.loads(spec.arguments)
    model = arguments.pop("model")
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        finding = f"{in_words(error)}: no bertscore_* and sim_sent_*"
        yield Line(name, FAIL if named else OFF, finding, "pip install 'xling-tasks[hf]'")
        return
    line = _not_here(name, model, arguments.get("revision"), offline)
    if line is not None:
        absent = f"{line.found}: no bertscore_* and sim_sent_*"  # which a run would only log
        yield line if named or line.status != FAIL else Line(name, WARN, absent, line.todo)
        return
    place = f"{model} ({weights_at(model, arguments.get('revision'))})"
    try:
        loaded = Encoder.load(model, **arguments)
    except Exception as error:  # half a download, a wrong layer, too little memory
        yield Line(name, FAIL, f"{place}: {in_words(error)}", f"set --metadata {name}=")
    else:
        yield Line(name, OK, f"{place}, layer {loaded.layer}, on {loaded.device}")


def second(settings: Settings) -> Iterator[Line]:
    """The second identifier of language, loaded and asked once; nothing where none is set."""
    if settings.second_identifier is None:
        return
    loaded = second_identifier(settings.second_identifier)
    (label,) = loaded.identify(["Please drink enough water and rest."])
    known = f"{loaded.name}, {len(loaded.labels)} languages; an English sentence is {label}"
    yield Line("second_identifier", OK if label in labels_for(loaded.labels, "en") else WARN, known)


def empathy(settings: Settings) -> Iterator[Line]:
    """The folder of the empathy classifier, loaded and asked once."""
    name, folder = EMPATHY.key, settings.empathy_classifier
    if folder is None:
        finding = "no classifier set; it compares the empathy of responses"
        todo = "make one with `xling empathy train`; --metadata empathy_classifier=FOLDER"
        yield Line(name, OFF, finding, todo)
        return
    try:
        from xling_tasks.models.empathy.classifier import load_classifier
    except ImportError as error:
        yield Line(name, FAIL, in_words(error), "pip install --upgrade 'xling-tasks[hf]'")
        return
    classifier = load_classifier(folder)
    pair = ("I lost my job today.", "I am so sorry. That must be very hard for you.")
    (profile,) = classifier.profiles([pair])
    yield Line(name, OK, f"{folder}: loads and classifies ({len(profile)} mechanisms)")
