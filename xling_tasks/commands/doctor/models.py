"""What `xling doctor` asks other models: judge, translator, encoders, empathy classifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
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

Look = Callable[[str, ModelSpec], Iterable[Line]]
"""Tries a model of a role."""

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


def asked(
    role: str, spec: ModelSpec | None, look: Look, *, offline: bool, use: str
) -> Iterator[Line]:
    """What `look` finds of a model of some role, unless none is set or it cannot be tried here.

    Args:
        role: Its role, such as `translator`.
        spec: Which model; None where none is set.
        look: Tries it; nothing that it is asked comes from the cache.
        offline: Whether nothing may be downloaded.
        use: What a run would use it for; where that is empty, nothing is said of none.
    """
    if spec is None:
        if use:
            todo = f'--metadata \'{{"{role}": {{"model": ..., "model_args": {{...}}}}}}\''
            yield Line(role, OFF, f"none set; it {use}", todo)
    elif spec.model == SELF:
        finding = "the model under test itself; lm_eval asks it before a run begins"
        yield Line(role, OFF, finding)
    else:
        args = spec.model_args
        weights = (str(args["pretrained"]), args.get("revision")) if local_weights(spec) else None
        absent = weights and _not_here(role, *weights, offline)
        yield from [absent] if absent else look(role, replace(spec, batch=False))


def _connect(role: str, lm: Any) -> None:
    """Fail soon where a server cannot be reached; the harness itself would wait and try again."""
    problem = no_connection(str(getattr(lm, "base_url", None) or ""))
    if problem:
        raise BackendError(f"{problem}; start the server, or correct {role}.model_args.base_url")


def _reached(role: str, spec: ModelSpec) -> Backend:
    """A model that answers."""
    model = Backend(role, spec, False)
    _connect(role, model.lm)
    model.check()
    return model


# The judge


def judge(settings: Settings, role: str, spec: ModelSpec) -> Iterator[Line]:
    """A judge, reached, and asked one small case of each kind."""
    model = _reached("judge", spec)
    if model.temperature == 0:
        yield Line(role, OK, f"answers: {model.signature}")
    else:
        finding = f"answers, but always at temperature {model.temperature:g}: {model.signature}"
        yield Line(role, WARN, finding, "its verdicts cannot be reproduced; take another model")
    prompts = Prompts(settings.prompts)
    yield _verdict(prompts, model, fences(False), f"{role} verdict")
    if role == settings.judge_role(0):  # of several, the first alone compares claims
        yield _claims(prompts, model, fences(False), f"{role} claims")
        yield _support(prompts, model, fences(False), f"{role} support")


def reader(settings: Settings, role: str, spec: ModelSpec) -> Iterator[Line]:
    """The reader, reached, and given a plain reply."""
    model = _reached(role, spec)
    prompt = Prompts(settings.prompts).get("read_verdict", "en")
    asked = [Opinion(_PLAIN_REPLY, _ANSWER)]
    (verdict,) = Reader(model, prompt, fences(False), "English").verdicts(asked)
    if verdict == 0:
        yield Line(role, OK, f"reads a plain reply rightly: {model.signature}")
    else:
        finding = "does not read a plain reply in form" if verdict is None else "reads it wrongly"
        yield Line(role, FAIL, f"{finding}: {model.signature}", _OTHER_JUDGE)


def _verdict(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A case of correctness, read as a run reads it."""
    case = Case(_QUESTION, _REFERENCE, _ANSWER, "English")
    (said,) = judge_cases([case], prompts.get("judge", "en"), model, codes)
    known, told = said.label not in (None, NO_RESPONSE), f"a plain contradiction is {said.label}"
    return _tried(name, said.reply, known, said.label == HARM, told)


def _claims(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A short text taken apart."""
    (found,) = extract([_TEXT], prompts.get("claims", "en"), model, codes)
    claims = found.claims or ()
    told = f"{len(claims)} claims read of a text with 2"
    good = bool(claims) and not found.unparsed
    return _tried(name, found.reply, found.claims is not None, good, told)


def _support(prompts: Prompts, model: Backend, codes: Fences, name: str) -> Line:
    """A true and a false claim checked."""
    template = prompts.get("support", "en")
    prompt, code = fill_support(template, _CLAIMS, _TEXT, codes, model.inert)
    (reply,) = model.ask([prompt], until=("[BEGIN REFERENCE",))
    verdicts = read_support(reply, len(_CLAIMS), code)
    said = " and ".join("supported" if each else "not supported" for each in verdicts)
    told = f"a true and a false claim are {said}"
    return _tried(name, reply, None not in verdicts, verdicts == _SUPPORTED, told)


def _tried(name: str, reply: str | None, in_form: bool, right: bool, said: str) -> Line:
    """What a plain case shows of a judge."""
    if not in_form:
        return _out_of_form(name, reply)
    if not right:
        return Line(name, WARN, f"in form, but wrong where it is plain: {said}", _OTHER_JUDGE)
    return Line(name, OK, f"in form, and right: {said}")


def _out_of_form(name: str, reply: str | None) -> Line:
    if reply is None:
        return Line(name, FAIL, "no reply, or an empty one", _OTHER_JUDGE)
    lines = reply.strip().splitlines() or [""]
    finding = f"out of form; its last line is {lines[-1].strip()[-80:]!r}"
    return Line(name, FAIL, finding, _OTHER_JUDGE)


# The translator


def translator(settings: Settings, role: str, spec: ModelSpec) -> Iterator[Line]:
    """The translator, loaded or reached, and given one text per language."""
    prompt = Prompts(settings.prompts).get("translate", "en")
    engine = build_translator(spec, False, prompt)
    if spec.model not in (FILE, SEQ2SEQ):
        _connect(role, backend(role, spec, False).lm)
    engine.check()
    yield Line(role, OK, engine.signature)
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
    spec = setting if isinstance(setting, EncoderSpec) else EncoderSpec.parse(name, DEFAULTS[name])
    arguments = json.loads(spec.arguments)
    model = arguments.pop("model")
    without = "no bertscore_* and sim_sent_*"
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if missing:
        status = FAIL if setting is spec else OFF
        found = f"no {' and no '.join(missing)}: {without}"
        yield Line(name, status, found, "pip install 'xling-tasks[hf]'")
    elif line := _not_here(name, model, arguments.get("revision"), offline):
        # Without one of its own, a run would go on.
        status = line.status if setting is spec else WARN
        yield replace(line, status=status, found=f"{line.found}: {without}")
    else:
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
    from xling_tasks.models.empathy.classifier import load_classifier

    classifier = load_classifier(folder)
    pair = ("I lost my job today.", "I am so sorry. That must be very hard for you.")
    (profile,) = classifier.profiles([pair])
    yield Line(name, OK, f"{folder}: loads and classifies ({len(profile)} mechanisms)")
