"""The translator: a tiny NLLB trained on the spot, Marian, and models of the harness."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise

import pytest
import scripted
from builders import write_lines
from conftest import cases
from fixed import Fixed

from xling_tasks.cache import ResponseCache
from xling_tasks.errors import BackendError, SettingError
from xling_tasks.languages import LANGUAGES, find
from xling_tasks.models.translate import translator as module
from xling_tasks.models.translate.base import SAMPLING, Attempt
from xling_tasks.models.translate.chat import clean
from xling_tasks.models.translate.segments import (
    require_splitter,
    split_paragraphs,
    split_sentences,
)
from xling_tasks.models.translate.translator import load_translator, parse_translator

# What the tiny model has learnt by heart.
LEARNT = {
    ("es", "en"): {
        "Beba mucha agua cada día.": "Drink plenty of water every day.",
        "Descanse bien por la noche.": "Rest well at night.",
        "Consulte a su médico hoy.": "See your doctor today.",
        "No tome aspirina.": "Do not take aspirin.",
    },
    ("es", "fr"): {
        "Beba mucha agua cada día.": "Buvez beaucoup d'eau chaque jour.",
        "Descanse bien por la noche.": "Reposez-vous bien la nuit.",
    },
}
ES_EN = LEARNT["es", "en"]


ES, EN = find("es"), find("en")


def make(value, **more):
    """A translator that is not the one of an equal setting before."""
    module._shared.cache_clear()
    return load_translator(parse_translator("translator", value), **more)


def seq2seq(folder, **args):
    return {"model": "seq2seq", "model_args": {"pretrained": str(folder), **args}}


def passes(engine):
    """What its model is given from now on, and what it makes of it."""
    generate, seen = engine._ready().generate, []

    def noting(**given):
        seen.append((given, generate(**given)))
        return seen[-1][1]

    engine._model.generate = noting
    return seen


# A tiny NLLB


def train(model, tokenizer, codes):
    import torch

    batches = []
    for (source, target), pairs in LEARNT.items():
        tokenizer.src_lang, tokenizer.tgt_lang = codes[source], codes[target]
        texts = {"text": [*pairs], "text_target": [*pairs.values()]}
        batch = tokenizer(**texts, padding=True, return_tensors="pt")
        batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
        batches.append(batch)
    # One thread: the work is tiny, and threads that wait for each other cost a hundred times as much.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(60):
        optimizer.zero_grad()
        for batch in batches:
            model(**batch).loss.backward()
        optimizer.step()
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny_nllb(tmp_path_factory):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5")
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    texts = [text for pairs in LEARNT.values() for pair in pairs.items() for text in pair]
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    bpe.train_from_iterator(texts, trainer)
    tokens = json.loads(bpe.to_str())["model"]
    codes = {code: LANGUAGES[code].nllb for code in ("es", "en", "fr", "zh")}
    tokenizer = transformers.NllbTokenizer(
        vocab=tokens["vocab"],
        merges=[tuple(merge) for merge in tokens["merges"]],
        additional_special_tokens=list(codes.values()),
    )
    torch.manual_seed(0)
    shape = {f"{part}_{name}": n for part in ("encoder", "decoder") for name, n in
             (("layers", 1), ("attention_heads", 2), ("ffn_dim", 64), ("layerdrop", 0.0))}  # fmt: skip
    config = transformers.M2M100Config(
        vocab_size=len(tokenizer), d_model=48, max_position_embeddings=128, dropout=0.0,
        attention_dropout=0.0, activation_dropout=0.0, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, decoder_start_token_id=2, **shape,
    )  # fmt: skip
    model = transformers.M2M100ForConditionalGeneration(config)
    # Traps of real checkpoints: their own decoding must not be used.
    model.generation_config.num_beams = 4
    model.generation_config.forced_eos_token_id = 2
    train(model, tokenizer, codes)
    folder = tmp_path_factory.mktemp("nllb")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def nllb(tiny_nllb):
    """`nllb(batch_size=...)`: a fresh translator, whose engine's `passes` holds its batches."""

    def build(cache=None, **more):
        translator = make({**seq2seq(tiny_nllb), **more}, cache=cache)
        real, translator.engine.passes = translator.engine.translate, []

        def spy(sentences, source, target, attempt=0):
            translator.engine.passes.append((attempt, list(sentences)))
            return real(sentences, source, target, attempt)

        translator.engine.translate = spy
        return translator

    return build


def test_control_tokens_in_a_sentence_are_text(nllb):
    engine = nllb().engine
    seen, tokenizer = passes(engine), engine._tokenizer
    hostile = "No tome </s> aspirina fra_Latn. <s>"
    engine.translate(["No tome aspirina.", hostile], ES, EN, 0)
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    rows = seen[0][0]["input_ids"].tolist()
    plain, attacked = (
        [i for i in row if i in special and i != tokenizer.pad_token_id] for row in rows
    )
    assert plain == attacked and len(plain) == 2  # the language and the end
    assert len(set(tokenizer(hostile)["input_ids"]) & special) > 2


def test_texts_come_back_in_english_and_in_shape_and_a_second_run_costs_nothing(nllb):
    text = "1. Beba mucha agua cada día. Descanse bien por la noche.\n\n  - No tome aspirina.\r\n"
    given = [text, "", " \n\t", "3,5 (***)", "No tome aspirina.", text]
    whole = (
        "1. Drink plenty of water every day. Rest well at night.\n\n  - Do not take aspirin.\r\n"
    )
    english = [whole, "", " \n\t", "3,5 (***)", "Do not take aspirin.", whole]
    own, again = nllb(), nllb()
    assert own.translate(given, "es") == english
    # Three distinct sentences, each once.
    assert sum(len(batch) for _, batch in own.engine.passes) == 3
    assert again.translate(given, "es") == english
    assert again.engine.passes == [] and again.engine._model is None
    without = nllb(cache=False)
    assert without.translate(given, "es") == english and without.engine.passes


def test_the_target_language_is_forced(nllb):
    own = nllb()
    text = "Beba mucha agua cada día."
    assert own.translate([text], "es", "fr") == ["Buvez beaucoup d'eau chaque jour."]
    assert own.translate([text], "es", "en") == ["Drink plenty of water every day."]
    seen = passes(own.engine)
    own._cache = ResponseCache(None)
    own.translate([text], "es", "fr")
    ((given, ids),) = seen
    names = own.engine._tokenizer.convert_ids_to_tokens
    assert names(given["input_ids"][0].tolist())[0] == "spa_Latn"
    assert names(ids[0].tolist())[:2] == ["</s>", "fra_Latn"]
    config = given["generation_config"]
    assert (config.num_beams, config.do_sample, config.forced_eos_token_id) == (1, False, None)


def test_batches_are_sorted_and_their_size_changes_nothing(nllb):
    sentences = list(ES_EN)
    one, two = nllb(cache=False, batch_size=1), nllb(cache=False, batch_size=2)
    assert one.translate(sentences, "es") == two.translate(sentences, "es") == list(ES_EN.values())
    tokens = two.engine._tokenizer
    lengths = [len(tokens(s)["input_ids"]) for _, batch in two.engine.passes for s in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert [len(batch) for _, batch in two.engine.passes] == [2, 2]


def test_samples_depend_on_sentence_and_attempt_only(nllb):
    import torch

    engine = nllb().engine
    engine.check()
    sentences = ["Cosa nueva y extraña.", "Beba agua hoy.", "Consulte la noche.", "Su día."]
    seen = passes(engine)

    def sample(given, number):
        outputs = {}
        engine.generate(given, ES, EN, Attempt(number), outputs.__setitem__)
        return [outputs[sentence].text for sentence in given]

    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    together = sample(sentences, 1)
    assert together == [sample([sentence], 1)[0] for sentence in sentences]
    assert any(together != sample(sentences, number) for number in range(2, 6))
    assert torch.equal(before, torch.random.get_rng_state())
    config = seen[0][0]["generation_config"]
    how = {name: getattr(config, name) for name in (*SAMPLING, "num_beams", "top_k")}
    assert how == {**SAMPLING, "num_beams": 1, "top_k": 0}


def breaking(own, error):
    """Let the engine raise what `error(its sentences)` gives, if it gives something."""
    real = own.engine.translate

    def translate(sentences, *rest):
        if raised := error(sentences):
            raise raised
        return real(sentences, *rest)

    own.engine.translate = translate
    return own


def test_degenerate_ones_are_redone_then_given_up_and_counted(nllb, caplog):
    """What the model says is scripted; what is not is a loop."""
    good, late, never, endless = ES_EN
    said = {(0, good): "Good.", (2, late): "Rest well at night."}
    said |= {(i, endless): None for i in range(4)}
    own, asked = nllb(), []

    def translate(sentences, source, target, attempt):
        asked.extend((attempt, sentence) for sentence in sentences)
        return [said.get((attempt, sentence), "lost " * 9) for sentence in sentences]

    own.engine.translate = translate
    texts = [f"{good} {late}", f"{good} {never}", endless, good]
    translated = ["Good. Rest well at night.", None, None, "Good."]
    assert own.translate(texts, "es") == translated
    assert [[n for n, _ in asked].count(i) for i in range(4)] == [4, 3, 3, 2]
    given_up = r"2 of 4 segments \(es to en\) have no translation \((repeated|unfinished): 1, "
    assert re.search(given_up, caplog.text)
    assert "2 of 4 texts (es to en) could not be translated" in caplog.text
    # Failures are known the next time, too.
    again = nllb()
    assert again.translate(texts, "es") == translated
    assert again.engine.passes == []


def test_an_interrupted_run_keeps_its_batches(nllb):
    own = nllb(batch_size=1)
    breaking(own, lambda _: KeyboardInterrupt() if len(own.engine.passes) == 2 else None)
    with pytest.raises(KeyboardInterrupt):
        own.translate(list(ES_EN), "es")
    again = nllb()
    assert again.translate(list(ES_EN), "es") == list(ES_EN.values())
    assert sum(len(batch) for _, batch in again.engine.passes) == 2


def test_a_failed_call_is_unscored_and_tried_again_next_time(nllb, caplog):
    # A batch that fails is halved until its cause is alone.
    refuse = {"No tome aspirina.": RuntimeError("content filter")}.get
    own = breaking(nllb(cache=False), lambda batch: next(filter(None, map(refuse, batch)), None))
    assert own.translate(list(ES_EN), "es") == [*list(ES_EN.values())[:3], None]
    calls = []
    own = breaking(nllb(batch_size=1), lambda batch: calls.append(batch) or RuntimeError("gone"))
    assert own.translate(list(ES_EN), "es") == [None] * 4
    assert len(calls) == 3
    assert "failed call: 4" in caplog.text
    assert nllb().translate(list(ES_EN), "es") == list(ES_EN.values())


def test_translations_that_do_not_end_and_sources_that_do_not_fit(nllb):
    engine = nllb().engine
    engine.check()
    # The limit is each sentence's own, not the batch's.
    short = len(engine._tokenizer(["No tome aspirina."])["input_ids"][0])
    engine._limit = lambda tokens: 4 if tokens == short else 60
    translations = engine.translate(["No tome aspirina.", "Beba mucha agua cada día."], ES, EN, 0)
    assert translations == [None, "Drink plenty of water every day."]
    assert engine.translate(["agua " * 200, "No tome aspirina."], ES, EN, 0)[0] is None


def test_languages_a_model_does_not_know(nllb):
    own = nllb()
    own.check(("es", "en"), ("zh-CN", "en"), ("en", "en"))
    with pytest.raises(
        SettingError, match=r"pretrained: .* does not translate German \('de'\) to English"
    ):
        own.check(("de", "en"))
    with pytest.raises(SettingError, match="language 'xx' is not known to it. Name a model"):
        own.translate(["a"], "xx")
    assert own.translate(["as it is"], "en", "en") == ["as it is"]


def test_signature_and_sharing(nllb, tiny_nllb):
    name, model, *rest = nllb().signature.split("|")
    assert name == "translate" and model.startswith(f"model:{tiny_nllb}@local-")
    assert {"dtype:float32", "unit:sentence", "decoding:greedy,redo:3xT0.7/p0.95"} <= {*rest}
    one, same, other = (
        load_translator(parse_translator("translator", seq2seq(tiny_nllb) | {"batch_size": size}))
        for size in (2, 2, 3)
    )
    assert one is same is not other


# Marian


def marian(folder):
    """A tiny Marian model with several targets."""
    import torch
    import transformers

    spm = pytest.importorskip("sentencepiece")
    texts = [text for pair in ES_EN.items() for text in pair]
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(texts * 20), model_prefix=str(folder / "spm"), vocab_size=120,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = str(folder / "spm.model")
    model = spm.SentencePieceProcessor(model_file=path)
    pieces = [model.id_to_piece(i) for i in range(len(model))]
    words = ["</s>", "<unk>", *(piece for piece in pieces if not piece.startswith("<")),
             ">>spa<<", ">>cmn_Hans<<", "<pad>"]  # fmt: skip
    (folder / "words.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    languages = {"source_lang": "eng", "target_lang": "mul"}
    tokenizer = transformers.MarianTokenizer(path, path, str(folder / "words.json"), **languages)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    n = len(words)
    config = transformers.MarianConfig(
        vocab_size=n, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=n - 1, eos_token_id=0,
        decoder_start_token_id=n - 1, forced_eos_token_id=0, bad_words_ids=[[n - 1]],
    )  # fmt: skip
    transformers.MarianMTModel(config).save_pretrained(folder)


def test_marian(tmp_path):
    """The tokens that go into the model and come out, and a language that it does not know."""
    pytest.importorskip("torch")
    marian(tmp_path)
    translator = make(seq2seq(tmp_path))
    seen = passes(translator.engine)
    for attempt in (0, 1):
        assert len(translator.engine.translate(["No aspirin."], EN, find("zh"), attempt)) == 1
    names = translator.engine._tokenizer.convert_ids_to_tokens
    given, came = (names(ids[0].tolist()) for ids in (seen[0][0]["input_ids"], seen[0][1]))
    assert (given[0], given[-1], came[0]) == (">>cmn_Hans<<", "</s>", "<pad>") and came[
        1
    ] != "<pad>"
    with pytest.raises(SettingError, match="does not translate English .* to Tamil"):
        translator.check(("en", "ta"))
    bound = translator.engine._tokenizer
    bound.source_lang, bound.target_lang, bound.supported_language_codes = "es", "en", []
    assert translator.engine._take_languages(ES, EN) == ("", None)
    with pytest.raises(SettingError, match="does not translate Spanish .* to French"):
        translator.engine._take_languages(ES, find("fr"))


def test_a_model_of_no_family_and_a_missing_one(tiny_hf):
    pytest.importorskip("torch")
    with pytest.raises(SettingError, match=r"model type 'llama'\) is no NLLB or Marian"):
        make(seq2seq(tiny_hf))
    with pytest.raises(BackendError, match="'nowhere/nothing' could not be loaded"):
        make(seq2seq("nowhere/nothing"))


# Languages


def test_all_languages_have_their_codes():
    assert len(LANGUAGES) == 31 and find("iw") is find("he") and find("zh-CN").code == "zh-CN"
    nllb_module = pytest.importorskip("transformers.models.nllb.tokenization_nllb")
    assert {row.nllb for row in LANGUAGES.values()} <= set(nllb_module.FAIRSEQ_LANGUAGE_CODES)


# Passages


@pytest.mark.parametrize(("code", "text"), cases("sentences").items())
def test_three_sentences_in_every_language(code, text):
    passage = split_sentences(text, code)
    assert len(passage.to_translate) == 3, passage.to_translate
    assert passage.join(passage.to_translate, code) == text


def test_thai_sentences_and_what_they_need(monkeypatch):
    pytest.importorskip("pythainlp")
    pytest.importorskip("pycrfsuite")
    text = "คุณมีอาการปวดหรือไม่? ควรดื่มน้ำมาก ๆ และพักผ่อน หากอาการไม่ดีขึ้นภายใน 3 วัน ควรไปพบแพทย์"
    passage = split_sentences(text, "th")
    assert len(passage.to_translate) > 1 and passage.join(passage.to_translate, "th") == text
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(ImportError, match=r'pip install "xling-tasks\[th\]"'):
        require_splitter("th")


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "\n", "a", " a. b. \n", "1. a\n2. b", "- a\n\n\n* b\r\n\r\nc\u2028d\x85e",
        "# Title\n\n**Bold** text.  Two spaces.\tTab.", "... !!! ???", "3.5 mg. (See. That.)",
    ],
)  # fmt: skip
def test_every_text_is_put_together_exactly(text):
    for code in ("en", "zh"):
        passage = split_sentences(text, code)
        assert passage.start + "".join(p.text + p.gap for p in passage.segments) == text
    for longest in (1, 6, 100):
        passage = split_paragraphs(text, longest)
        assert passage.start + "".join(s.text + s.gap for s in passage.segments) == text


def test_marks_and_pieces_without_letters_are_kept():
    passage = split_sentences("1. Uno.\n- Dos.\n  (३) तीन।\n***\n3.5 mg.", "hi")
    assert passage.to_translate == ["Uno.", "Dos.", "तीन।", "3.5 mg."]
    passage = split_sentences("१. पानी पिएं।", "hi")
    assert passage.to_translate == ["पानी पिएं।"] and passage.join(["Drink."], "en") == "1. Drink."


def test_spaces_between_sentences_follow_the_target():
    chinese = split_sentences("发烧。“疼吗？”请咨询医生！\n休息。", "zh")
    joined = chinese.join(["Fever.", "“Pain?”", "Ask!", "Rest."], "en")
    assert joined == "Fever. “Pain?” Ask!\nRest."
    english = split_sentences("Fever. Pain?\n1. Rest.", "en")
    assert english.join(["发烧。", "疼吗？", "休息。"], "zh") == "发烧。疼吗？\n1. 休息。"


def test_endless_sentences_are_cut_at_clauses():
    text = "palabra " * 40 + "fin, " + "palabra " * 60 + "x" * 700
    parts = split_sentences(text, "es").to_translate
    assert max(map(len, parts)) <= 600 and parts[0].endswith("fin,")
    chinese = "很" * 150 + "，" + "好" * 150
    assert split_sentences(chinese, "zh").to_translate == ["很" * 150 + "，", "好" * 150]


# Models of the harness

CHAT = {
    "Beba agua. Descanse.": "Translation: Drink water. Rest.",
    "Beba agua.": "“Drink water.”",
    "Vacío.": "",
}


def ask(prompt):
    for text, reply in CHAT.items():
        if f"Text: {text}\n" in prompt:
            return reply
    return "Ready." if prompt.startswith("Reply") else "loop loop loop loop loop loop"


def test_a_chat_model_translates_whole_texts(serve):
    served = serve(ask)
    own = make(served.spec())
    own.check(("es", "en"))
    texts = ["Beba agua. Descanse.", " Beba agua.\n", "3,5 (***)", "Beba agua. Descanse."]
    english = ["Drink water. Rest.", " Drink water.\n", "3,5 (***)", "Drink water. Rest."]
    assert own.translate(texts, "es") == english
    assert len(served.prompts) == 2 and "from Spanish into English" in served.prompts[0]
    assert served.requests[-1]["temperature"] == 0
    assert make(served.spec()).translate(["Beba agua."], "es") == ["Drink water."]
    assert len(served.prompts) == 2
    assert (
        "chat_template:yes;temperature:0|prompt:" in own.signature and "unit:text|" in own.signature
    )


def test_what_would_not_fit_is_split_into_paragraphs(serve):
    paragraphs = [
        f"Párrafo {word}: {'beba agua fresca ' * 12}." for word in ("uno", "dos", "tres", "más")
    ]
    text = "\n\n".join(paragraphs) + "\n"

    def english(spanish):
        return spanish.replace("beba agua fresca", "drink some water").replace("Párrafo", "Part")

    served = serve(lambda p: english(p.split("Text: ")[1].split("\n\nTranslation:")[0]))
    assert make(served.spec(max_gen_toks=200)).translate([text], "es") == [english(text)]
    assert len(served.prompts) == 2 and all("\n\nPárrafo" in prompt for prompt in served.prompts)


def test_a_chat_model_that_loops_is_asked_again_with_seeds_of_its_own(serve):
    served = serve(ask)
    own = make(served.spec())
    assert own.translate(["Algo nuevo.", "Beba agua."], "es") == [None, "Drink water."]
    sampled = [r for r in served.requests if r["temperature"] == 0.7]
    assert len(sampled) == 3 and len({r["seed"] for r in sampled}) == 3
    assert all(r["top_p"] == 0.95 for r in sampled)
    # Known to fail; an empty reply is asked for again.
    assert make(served.spec()).translate(["Algo nuevo."], "es") == [None]
    assert len(served.prompts) == 5
    for _ in range(2):
        assert make(served.spec()).translate(["Vacío."], "es") == [None]
    assert len(served.prompts) == 5 + 2 * 4


def test_samples_of_a_local_model(tiny_hf):
    import torch

    args = {"pretrained": tiny_hf, "device": "cpu"}
    local = make({"model": "hf", "model_args": args, "max_gen_toks": 8}, cache=False)
    state = torch.random.get_rng_state()
    samples = []
    for number in (1, 1, 2):
        local.engine.generate(
            ["Beba agua."], ES, EN, Attempt(number), lambda _, o: samples.append(o.text)
        )
    assert samples[0] == samples[1] != samples[2]
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize(("reply", "source", "cleaned"), cases("cleaned_translations"))
def test_cleaning_takes_only_what_is_surely_no_translation(reply, source, cleaned):
    assert clean(reply, source, EN) == cleaned


# The setting


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"model": "seq2seq"}, "translator.model_args.pretrained: name a model"),
        ({"model": "seq2seq", "model_args": {"pretraind": "x"}}, "pretraind: unknown key. Did you mean 'pretrained'"),
        ({"model": "seq2seq", "model_args": {"pretrained": "x", "dtype": "int8"}}, "dtype: 'int8' is none of float32"),
    ],
)  # fmt: skip
def test_wrong_settings(value, message):
    with pytest.raises(SettingError, match=message):
        parse_translator("translator", value)


# Through a task


def test_a_tiny_nllb_translates_the_answers_of_a_task(run, serve, tiny_nllb, tmp_path):
    # The second answer is far longer than anything the model can say.
    said = {
        "What now?": "Drink plenty of water every day. Rest well at night.",
        "¿Y ahora?": "Descanse bien por la noche. No tome aspirina.",
        "What else?": "Do not take aspirin.",
        "¿Qué más?": " ".join(f"beba agua y descanse {i} noches" for i in range(12)) + ".",
    }
    rows = [{"id": en, "en": en, "es": es} for en, es in list(pairwise(said))[::2]]
    metadata = {
        "judge": serve(scripted.reply).spec(),
        "translator": seq2seq(tiny_nllb),
        "prompt_set": str(write_lines(tmp_path / "prompts.jsonl", rows)),
    }
    task, model = "xling_information", Fixed(lambda context, _: said[context])
    results = run(task, model=model, metadata=metadata)
    first, second = results["samples"][task]
    assert first["n_claims_es"]["english"] == "Rest well at night. Do not take aspirin."
    # One claim of two each way.
    assert first["information_f1_by_prompt_es"] == 0.5
    assert second["n_claims_es"]["unscored"] == "translation failed"
    assert second["information_f1_by_prompt_es"] is None
    scores = results["results"][task]
    assert scores["information_f1_es,none"] == 0.5 and scores["unscored_es,none"] == 0.5
    sign = results["configs"][task]["metadata"]["xling"]["signatures"]
    assert f"translator:translate|model:{tiny_nllb}@local-" in sign["information_f1_es"]
