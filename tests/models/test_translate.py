"""The translator: a tiny NLLB trained on the spot, the other families, files, harness models."""

from __future__ import annotations

import json

import pytest
from builders import write_lines

from xling_tasks.data.prompts import Prompt
from xling_tasks.errors import BackendError, DataError, SettingError
from xling_tasks.languages import LANGUAGES, find, side_covers
from xling_tasks.models.translate import translator as module
from xling_tasks.models.translate.harness_model import clean
from xling_tasks.models.translate.passages import require_splitter, split
from xling_tasks.models.translate.translator import translator, translator_spec
from xling_tasks.replies.store import ReplyStore

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


@pytest.fixture(autouse=True)
def forget_translators():
    yield
    module._shared.cache_clear()


def make(value, **more):
    return translator(translator_spec("translator", value), **more)


# A tiny NLLB


def train(model, tokenizer, codes):
    import torch

    rows = []
    for (source, target), pairs in LEARNT.items():
        for a, b in pairs.items():
            tokenizer.src_lang = codes[source]
            x = tokenizer([a])["input_ids"][0]
            tokenizer.src_lang = codes[target]
            rows.append((x, tokenizer([b])["input_ids"][0]))
    pad = tokenizer.pad_token_id
    sides = [
        torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(row[i]) for row in rows], batch_first=True, padding_value=pad
        )
        for i in (0, 1)
    ]
    start = torch.full((len(rows), 1), model.config.decoder_start_token_id)
    given = torch.cat([start, sides[1][:, :-1]], 1)
    # One thread: the work is tiny, and threads that wait for each other cost a hundred times as much.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(80):
        out = model(input_ids=sides[0], attention_mask=sides[0] != pad, decoder_input_ids=given)
        loss = torch.nn.functional.cross_entropy(
            out.logits.flatten(0, 1), sides[1].flatten(), ignore_index=pad
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(threads)


def tiny_m2m(tokenizer, **more):
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    torch.manual_seed(0)
    shape = {f"{side}_{part}": n for side in ("encoder", "decoder") for part, n in
             (("layers", 1), ("attention_heads", 2), ("ffn_dim", 64), ("layerdrop", 0.0))}  # fmt: skip
    config = M2M100Config(
        vocab_size=len(tokenizer), d_model=48, max_position_embeddings=128, dropout=0.0,
        attention_dropout=0.0, activation_dropout=0.0, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, decoder_start_token_id=2, **shape, **more,
    )  # fmt: skip
    return M2M100ForConditionalGeneration(config)


def bpe(texts, special, size=300):
    """Vocabulary and merges."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return json.loads(tokenizer.to_str())["model"]


@pytest.fixture(scope="session")
def tiny_nllb(tmp_path_factory):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5")
    texts = [text for pairs in LEARNT.values() for pair in pairs.items() for text in pair]
    tokens = bpe(texts, ["<s>", "<pad>", "</s>", "<unk>"])
    codes = {code: LANGUAGES[code].nllb for code in ("es", "en", "fr", "zh")}
    tokenizer = transformers.NllbTokenizer(
        vocab=tokens["vocab"],
        merges=[tuple(merge) for merge in tokens["merges"]],
        additional_special_tokens=list(codes.values()),
    )
    model = tiny_m2m(tokenizer)
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
        module._shared.cache_clear()
        translator = make(
            {"model": "seq2seq", "model_args": {"pretrained": tiny_nllb}, **more}, cache=cache
        )
        real, translator.engine.passes = translator.engine.translate, []

        def spy(sentences, source, target, attempt):
            translator.engine.passes.append((attempt, list(sentences)))
            return real(sentences, source, target, attempt)

        translator.engine.translate = spy
        return translator

    return build


def test_control_tokens_in_a_sentence_are_text(nllb, monkeypatch):
    engine, seen = nllb().engine, []
    model = engine._ready()
    real = model.generate

    def noting(**arguments):
        seen.extend(arguments["input_ids"].tolist())
        return real(**arguments)

    monkeypatch.setattr(model, "generate", noting)
    hostile = "No tome </s> aspirina fra_Latn. <s>"
    engine.translate(["No tome aspirina.", hostile], find("es"), find("en"), 0)
    special = set(engine._tokenizer.all_special_ids) - {engine._tokenizer.unk_token_id}
    pad = engine._tokenizer.pad_token_id
    plain, attacked = ([i for i in row if i in special and i != pad] for row in seen)
    assert plain == attacked and len(plain) == 2  # the language and the end
    assert len(set(engine._tokenizer(hostile)["input_ids"]) & special) > 2


TEXT = "1. Beba mucha agua cada día. Descanse bien por la noche.\n\n  - No tome aspirina.\r\n"


def test_texts_come_back_in_english_and_in_shape(nllb):
    given = [TEXT, "", " \n\t", "3,5 (***)", "No tome aspirina.", TEXT]
    english = (
        "1. Drink plenty of water every day. Rest well at night.\n\n  - Do not take aspirin.\r\n"
    )
    own = nllb()
    assert own.translate(given, "es") == [
        english, "", " \n\t", "3,5 (***)", "Do not take aspirin.", english,
    ]  # fmt: skip
    # Three distinct sentences, each once.
    assert sum(len(batch) for _, batch in own.engine.passes) == 3


def test_the_target_language_is_forced(nllb):
    own = nllb()
    text = "Beba mucha agua cada día."
    assert own.translate([text], "es", "fr") == ["Buvez beaucoup d'eau chaque jour."]
    assert own.translate([text], "es", "en") == ["Drink plenty of water every day."]
    generate, seen = own.engine._model.generate, []

    def spy(**kwargs):
        seen.append((kwargs, generate(**kwargs)))
        return seen[-1][1]

    own.engine._model.generate = spy
    own._store = ReplyStore(None)
    own.translate([text], "es", "fr")
    kwargs, ids = seen[0]
    names = own.engine._tokenizer.convert_ids_to_tokens
    assert names(kwargs["input_ids"][0].tolist())[0] == "spa_Latn"
    assert names(ids[0].tolist())[:2] == ["</s>", "fra_Latn"]
    config = kwargs["generation_config"]
    assert (config.num_beams, config.do_sample, config.forced_eos_token_id) == (1, False, None)


def test_a_second_run_costs_nothing(nllb):
    first = nllb().translate([TEXT], "es")
    again = nllb()
    assert again.translate([TEXT], "es") == first
    assert again.engine.passes == [] and again.engine._model is None
    without = nllb(cache=False)
    assert without.translate([TEXT], "es") == first and without.engine.passes


def test_batches_are_sorted_and_their_size_changes_nothing(nllb):
    sentences = list(ES_EN)
    one, two = nllb(cache=False, batch_size=1), nllb(cache=False, batch_size=2)
    assert one.translate(sentences, "es") == two.translate(sentences, "es") == list(ES_EN.values())
    tokens = two.engine._tokenizer
    lengths = [len(tokens(s)["input_ids"]) for _, batch in two.engine.passes for s in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert [len(batch) for _, batch in two.engine.passes] == [2, 2]


def test_sampling_depends_on_sentence_and_attempt_only(nllb):
    import torch

    engine = nllb().engine
    engine.check()
    es, en = find("es"), find("en")
    sentences = ["Cosa nueva y extraña.", "Beba agua hoy.", "La noche."]
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    together = engine.translate(sentences, es, en, 1)
    assert together == [engine.translate([s], es, en, 1)[0] for s in sentences]
    assert together != engine.translate(sentences, es, en, 2)
    assert torch.equal(before, torch.random.get_rng_state())


def test_nucleus_draws_by_probability_within_top_p():
    torch = pytest.importorskip("torch")
    from xling_tasks.models.translate.seq2seq import TEMPERATURE, _Nucleus

    # At temperature 0.7 as given: 0.6, 0.36, 0.03, 0.01; the first two hold 0.95 of the mass.
    probabilities = torch.tensor([0.03, 0.6, 0.01, 0.36])
    scores = (probabilities.log() * TEMPERATURE).repeat(2000, 1)
    chosen = _Nucleus([str(i) for i in range(2000)])(None, scores).argmax(dim=-1)
    counts = torch.bincount(chosen, minlength=4).tolist()
    assert counts[0] == counts[2] == 0
    # 0.6 / 0.96 = 0.625; three standard errors are 0.032.
    assert counts[1] / 2000 == pytest.approx(0.625, abs=0.033)


def scripted(own, outputs):
    """Replace the model: (attempt, sentence) -> text, else `lost lost ...`, a loop."""

    def translate(sentences, source, target, attempt):
        own.engine.passes.append((attempt, list(sentences)))
        return [outputs.get((attempt, sentence), "lost " * 9) for sentence in sentences]

    own.engine.translate = translate


def test_degenerate_ones_are_redone_then_given_up_and_counted(nllb, caplog):
    good, late, never, endless = ES_EN
    outputs = {
        (0, good): "Good.",
        (2, late): "Rest well at night.",
        **{(i, endless): None for i in range(4)},
    }
    own = nllb()
    scripted(own, outputs)
    texts = [f"{good} {late}", f"{good} {never}", endless, good]
    assert own.translate(texts, "es") == ["Good. Rest well at night.", None, None, "Good."]
    assert [(attempt, len(batch)) for attempt, batch in own.engine.passes] == [
        (0, 4),
        (1, 3),
        (2, 3),
        (3, 2),
    ]
    assert (
        "2 of 4 sentences (es to en) have no translation (repeated: 1, unfinished: 1)"
        in caplog.text
    )
    assert "2 of 4 texts (es to en) could not be translated" in caplog.text
    # Failures are known the next time, too.
    again = nllb()
    assert again.translate(texts, "es") == ["Good. Rest well at night.", None, None, "Good."]
    assert again.engine.passes == []


def test_an_interrupted_run_keeps_its_batches(nllb):
    own = nllb(batch_size=1)
    real = own.engine.translate

    def interrupted(sentences, source, target, attempt):
        if len(own.engine.passes) == 2:
            raise KeyboardInterrupt
        return real(sentences, source, target, attempt)

    own.engine.translate = interrupted
    with pytest.raises(KeyboardInterrupt):
        own.translate(list(ES_EN), "es")
    again = nllb()
    assert again.translate(list(ES_EN), "es") == list(ES_EN.values())
    assert sum(len(batch) for _, batch in again.engine.passes) == 2


def test_a_failed_call_is_unscored_and_tried_again_next_time(nllb, caplog):
    own = nllb(batch_size=1)

    def broken(sentences, source, target, attempt):
        own.engine.passes.append(attempt)
        raise RuntimeError("gone")

    own.engine.translate = broken
    assert own.translate(list(ES_EN), "es") == [None] * 4
    assert own.engine.passes == [0] * 3
    assert "failed call: 4" in caplog.text
    assert nllb().translate(list(ES_EN), "es") == list(ES_EN.values())


def test_a_refused_sentence_does_not_cost_its_neighbours(nllb):
    own = nllb()
    real = own.engine.translate

    def refusing(sentences, source, target, attempt):
        if "No tome aspirina." in sentences:
            raise RuntimeError("content filter")
        return real(sentences, source, target, attempt)

    own.engine.translate = refusing
    assert own.translate(list(ES_EN), "es") == [*list(ES_EN.values())[:3], None]


def test_a_batch_that_does_not_fit_the_memory_is_halved(nllb):
    import torch

    own = nllb()
    real = own.engine._translate

    def small(sentences, pair, seeds):
        if len(sentences) > 1:
            raise torch.cuda.OutOfMemoryError
        return real(sentences, pair, seeds)

    own.engine._translate = small
    assert own.translate(list(ES_EN), "es") == list(ES_EN.values())


def test_translations_that_do_not_end_and_sources_that_do_not_fit(nllb):
    engine = nllb().engine
    engine.check()
    es, en = find("es"), find("en")
    # The limit is each sentence's own, not the batch's.
    short = len(engine._tokenizer(["No tome aspirina."])["input_ids"][0])
    engine._limit = lambda tokens: 4 if tokens == short else 60
    translations = engine.translate(["No tome aspirina.", "Beba mucha agua cada día."], es, en, 0)
    assert translations == [None, "Drink plenty of water every day."]
    assert engine.translate(["agua " * 200, "No tome aspirina."], es, en, 0)[0] is None


def test_languages_a_model_does_not_know(nllb):
    own = nllb()
    own.check(("es", "en"), ("zh-CN", "en"), ("en", "en"))
    with pytest.raises(
        SettingError, match=r"pretrained: .*\(nllb\) does not translate German \('de'\)"
    ):
        own.check(("de", "en"))
    with pytest.raises(SettingError, match="language 'xx' is not known to it. Name a model"):
        own.translate(["a"], "xx")
    assert own.translate(["as it is"], "en", "en") == ["as it is"]


def test_signature_and_sharing(nllb, tiny_nllb):
    import langid  # noqa: F401
    from xling_metrics.base import library_version

    own = nllb()
    name, model, *rest = own.signature.split("|")
    assert name == "translate" and model.startswith(f"model:{tiny_nllb}@local-")
    assert rest == [
        "dtype:float32", "unit:sentence", "decoding:greedy,redo:3xT0.7/p0.95", "degenerate:v2",
        "thai:crfcut", f"sentencex:{library_version('sentencex')}", "langid:1.1.6",
    ]  # fmt: skip
    value = {"model": "seq2seq", "model_args": {"pretrained": tiny_nllb}}
    assert make(value) is make(dict(value)) and make(value) is not make({**value, "batch_size": 3})


def test_dtypes_share_nothing(nllb, tiny_nllb):
    value = {"model": "seq2seq", "model_args": {"pretrained": tiny_nllb, "dtype": "bfloat16"}}
    nllb().translate(list(ES_EN), "es")
    half = make(value)
    half.translate(list(ES_EN), "es")
    # Had it found anything, it would have loaded nothing.
    assert str(half.engine._model.dtype) == "torch.bfloat16"


# The other families


def sentencepiece_model(folder, texts, name, size=120, **more):
    spm = pytest.importorskip("sentencepiece")
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(texts * 20), model_prefix=str(folder / name), vocab_size=size,
        hard_vocab_limit=False, minloglevel=2, **more,
    )  # fmt: skip
    processor = spm.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
    return str(folder / f"{name}.model"), [processor.id_to_piece(i) for i in range(len(processor))]


TEXTS = [text for pair in ES_EN.items() for text in pair]


def m2m100(folder):
    import transformers

    path, pieces = sentencepiece_model(folder, TEXTS, "spm")
    words = ["<s>", "<pad>", "</s>", "<unk>", *(p for p in pieces if not p.startswith("<"))]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    tokenizer = transformers.M2M100Tokenizer(str(folder / "vocab.json"), path)
    tokenizer.save_pretrained(folder)
    model = tiny_m2m(range(len(words) + 108))
    model.save_pretrained(folder)


def marian(folder, source="es", target="en", codes=()):
    import torch
    import transformers

    path, pieces = sentencepiece_model(folder, TEXTS, "source")
    words = ["</s>", "<unk>", *(p for p in pieces if not p.startswith("<")), *codes, "<pad>"]
    (folder / "words.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    tokenizer = transformers.MarianTokenizer(
        path, path, str(folder / "words.json"), source_lang=source, target_lang=target
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    pad = len(words) - 1
    config = transformers.MarianConfig(
        vocab_size=len(words), d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=pad, eos_token_id=0,
        decoder_start_token_id=pad, forced_eos_token_id=0, bad_words_ids=[[pad]],
    )  # fmt: skip
    transformers.MarianMTModel(config).save_pretrained(folder)


def madlad(folder):
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokens = bpe(TEXTS, ["<unk>", "<s>", "</s>", "<pad>", "<2en>", "<2es>", "<2iw>"])
    tokenizer = Tokenizer(
        models.BPE(
            vocab=tokens["vocab"], merges=[tuple(m) for m in tokens["merges"]], unk_token="<unk>"
        )
    )
    tokenizer.add_special_tokens(["<2en>", "<2es>", "<2iw>"])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=len(fast), d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=1, pad_token_id=3, eos_token_id=2,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)


def first_pass(folder, source, target, text="No tome aspirina."):
    """The tokens that go into the model, and those that come out."""
    engine = make({"model": "seq2seq", "model_args": {"pretrained": str(folder)}}).engine
    engine.check()
    generate, seen = engine._model.generate, []

    def spy(**kwargs):
        seen.append((kwargs["input_ids"], generate(**kwargs)))
        return seen[-1][1]

    engine._model.generate = spy
    translations = engine.translate([text], find(source), find(target), 0)
    sampled = engine.translate([text], find(source), find(target), 1)
    assert len(translations) == len(sampled) == 1
    return [engine._tokenizer.convert_ids_to_tokens(ids[0].tolist()) for ids in seen[0]]


def test_m2m100(tmp_path):
    pytest.importorskip("torch")
    m2m100(tmp_path)
    given, made = first_pass(tmp_path, "es", "fr")
    assert given[0] == "__es__" and given[-1] == "</s>" and made[:2] == ["</s>", "__fr__"]
    with pytest.raises(SettingError, match=r"\(m2m100\) does not translate Telugu"):
        make({"model": "seq2seq", "model_args": {"pretrained": str(tmp_path)}}).check(("te", "en"))


def test_marian_for_one_pair(tmp_path):
    pytest.importorskip("torch")
    marian(tmp_path)
    given, made = first_pass(tmp_path, "es", "en")
    assert given[-1] == "</s>" and made[0] == "<pad>" and "<pad>" not in made[1:2]
    own = make({"model": "seq2seq", "model_args": {"pretrained": str(tmp_path)}})
    for pair in (("hi", "en"), ("es", "fr")):
        with pytest.raises(SettingError, match=r"\(marian\) does not translate (Hindi|French)"):
            own.check(pair)


def test_marian_with_several_targets(tmp_path):
    pytest.importorskip("torch")
    marian(tmp_path, "eng", "mul", [">>spa<<", ">>cmn_Hans<<"])
    assert first_pass(tmp_path, "en", "zh", "Do not take aspirin.")[0][0] == ">>cmn_Hans<<"
    with pytest.raises(SettingError, match="does not translate Tamil"):
        make({"model": "seq2seq", "model_args": {"pretrained": str(tmp_path)}}).check(("en", "ta"))


def test_madlad(tmp_path):
    pytest.importorskip("torch")
    madlad(tmp_path)
    given, _ = first_pass(tmp_path, "es", "en")
    assert given[0] == "<2en>"
    assert first_pass(tmp_path, "en", "he")[0][0] == "<2iw>"
    with pytest.raises(SettingError, match=r"\(madlad\) does not translate Hindi"):
        make({"model": "seq2seq", "model_args": {"pretrained": str(tmp_path)}}).check(("en", "hi"))


def test_a_model_of_no_family_and_a_missing_one(tmp_path, tiny_hf):
    pytest.importorskip("torch")
    with pytest.raises(SettingError, match=r"model type 'llama'\) is no NLLB, M2M-100, MADLAD-400"):
        make({"model": "seq2seq", "model_args": {"pretrained": tiny_hf}})
    with pytest.raises(BackendError, match="'nowhere/nothing' could not be loaded"):
        make({"model": "seq2seq", "model_args": {"pretrained": "nowhere/nothing"}})


# Languages


def test_all_languages_have_their_codes():
    assert len(LANGUAGES) == 31 and find("iw") is find("he") and find("zh-CN").code == "zh"
    nllb_module = pytest.importorskip("transformers.models.nllb.tokenization_nllb")
    assert {row.nllb for row in LANGUAGES.values()} <= set(nllb_module.FAIRSEQ_LANGUAGE_CODES)
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    # M2M-100 lacks one of them.
    assert set(LANGUAGES) - set(FAIRSEQ_LANGUAGE_CODES["m2m100"]) == {"te"}


@pytest.mark.parametrize(
    ("label", "code", "covered"),
    [
        ("es", "es", True), ("spa", "es", True), ("zho", "zh", True), ("ROMANCE", "it", True),
        ("mul", "ta", True), ("inc", "ta", False), ("cat+oci+spa", "es", True), ("en", "es", False),
    ],
)  # fmt: skip
def test_sides_of_marian_models(label, code, covered):
    assert side_covers(label, find(code)) is covered


# Passages

# Three sentences each; the last of some has a title or a decimal point, which end no sentence.
THREE = {
    "ar": "تشمل الأعراض الحمى. هل تشعر بألم؟ استشر د. أحمد اليوم!",
    "bn": "লক্ষণগুলির মধ্যে জ্বর আছে। আপনার কি ব্যথা আছে? ডাঃ রহমানকে দেখান।",
    "cs": "Příznaky zahrnují horečku. Máte bolesti? Navštivte MUDr. Nováka dnes.",
    "de": "Zu den Symptomen gehört Fieber. Haben Sie Schmerzen? Fragen Sie Dr. Müller am 3. Mai.",
    "el": "Τα συμπτώματα περιλαμβάνουν πυρετό. Έχετε πόνο; Επισκεφθείτε τον γιατρό σήμερα.",
    "en": "Symptoms include fever, e.g. 38.5 C. Do you have pain? See Dr. Smith today.",
    "es": "Los síntomas incluyen fiebre. ¿Tiene dolor? Consulte al Dr. García hoy.",
    "fa": "علائم شامل تب است. آیا درد دارید؟ امروز به پزشک مراجعه کنید.",
    "fr": "Les symptômes comprennent la fièvre. Avez-vous mal ? Consultez le Dr. Dupont ou M. Martin.",
    "gu": "લક્ષણોમાં તાવ આવે છે. શું તમને દુખાવો છે? આજે ડૉ. પટેલને મળો.",
    "he": 'התסמינים כוללים חום. האם יש לך כאב? פנה לד"ר כהן היום.',
    "hi": "लक्षणों में बुखार शामिल है। क्या आपको दर्द है? आज डॉ. शर्मा से मिलें।",
    "id": "Gejalanya termasuk demam. Apakah Anda sakit? Temui dr. Budi hari ini.",
    "it": "I sintomi includono febbre. Ha dolore? Consulti il dott. Rossi oggi.",
    "ja": "症状には発熱があります。痛みはありますか？今日医師に相談してください。",
    "kn": "ಲಕ್ಷಣಗಳಲ್ಲಿ ಜ್ವರ ಸೇರಿದೆ. ನಿಮಗೆ ನೋವು ಇದೆಯೇ? ಇಂದು ವೈದ್ಯರನ್ನು ಭೇಟಿ ಮಾಡಿ.",
    "ko": "증상에는 발열이 포함됩니다. 통증이 있습니까? 오늘 의사와 상담하세요.",
    "ml": "ലക്ഷണങ്ങളിൽ പനി ഉൾപ്പെടുന്നു. നിങ്ങൾക്ക് വേദനയുണ്ടോ? ഇന്ന് ഡോക്ടറെ കാണുക.",
    "nl": "Symptomen zijn onder andere koorts. Heeft u pijn? Raadpleeg dr. Jansen vandaag.",
    "pa": "ਲੱਛਣਾਂ ਵਿੱਚ ਬੁਖਾਰ ਸ਼ਾਮਲ ਹੈ। ਕੀ ਤੁਹਾਨੂੰ ਦਰਦ ਹੈ? ਅੱਜ ਡਾਕਟਰ ਨੂੰ ਮਿਲੋ।",
    "pl": "Objawy obejmują gorączkę. Czy odczuwasz ból? Odwiedź dr. Kowalskiego dzisiaj.",
    "pt": "Os sintomas incluem febre. Tem dor? Consulte o Dr. Silva hoje.",
    "ro": "Simptomele includ febră. Aveți dureri? Consultați pe dr. Popescu azi.",
    "ru": "Симптомы включают лихорадку. У вас есть боль? Обратитесь к д-ру Иванову сегодня.",
    "ta": "அறிகுறிகளில் காய்ச்சல் அடங்கும். உங்களுக்கு வலி உள்ளதா? இன்று மருத்துவரை சந்திக்கவும்.",
    "te": "లక్షణాలలో జ్వరం ఉంటుంది. మీకు నొప్పి ఉందా? ఈరోజు వైద్యుడిని సంప్రదించండి.",
    "tr": "Belirtiler arasında ateş bulunur. Ağrınız var mı? Bugün Dr. Yılmaz'a danışın.",
    "ur": "علامات میں بخار شامل ہے۔ کیا آپ کو درد ہے؟ آج ڈاکٹر سے ملیں۔",
    "vi": "Các triệu chứng bao gồm sốt. Bạn có đau không? Hãy gặp BS. Nguyễn hôm nay.",
    "zh": "症状包括发烧。您疼吗？今天请咨询医生！",
}


@pytest.mark.parametrize("code", sorted(THREE))
def test_sentences_of_every_language(code):
    passage = split(THREE[code], code)
    assert len(passage.sentences) == 3, passage.sentences
    assert passage.join(passage.sentences, code) == THREE[code]


def test_thai_sentences_and_what_they_need(monkeypatch):
    pytest.importorskip("pythainlp")
    pytest.importorskip("pycrfsuite")
    text = "คุณมีอาการปวดหรือไม่? ควรดื่มน้ำมาก ๆ และพักผ่อน หากอาการไม่ดีขึ้นภายใน 3 วัน ควรไปพบแพทย์"
    passage = split(text, "th")
    assert len(passage.sentences) > 1 and passage.join(passage.sentences, "th") == text
    monkeypatch.setitem(__import__("sys").modules, "pycrfsuite", None)
    with pytest.raises(ImportError, match=r'pip install "xling-tasks\[th\]"'):
        require_splitter("th")


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "\n", "a", " a. b. \n", "1. a\n2. b", "- a\n\n\n* b\r\n\r\nc\u2028d\x85e",
        "# Title\n\n**Bold** text.  Two spaces.\tTab.", "... !!! ???", "3.5 mg. (See. That.)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("code", ["en", "zh", "hi"])
def test_every_text_is_put_together_exactly(text, code):
    passage = split(text, code)
    assert passage.start + "".join(p.text + p.gap for p in passage.pieces) == text


def test_marks_and_pieces_without_letters_are_kept():
    passage = split("1. Uno.\n- Dos.\n  (३) तीन।\n***\n3.5 mg.", "hi")
    assert passage.sentences == ["Uno.", "Dos.", "तीन।", "3.5 mg."]
    passage = split("१. पानी पिएं।", "hi")
    assert passage.sentences == ["पानी पिएं।"] and passage.join(["Drink."], "en") == "1. Drink."


def test_spaces_between_sentences_follow_the_target():
    chinese = split("发烧。“疼吗？”请咨询医生！\n休息。", "zh")
    assert (
        chinese.join(["Fever.", "“Pain?”", "Ask!", "Rest."], "en") == "Fever. “Pain?” Ask!\nRest."
    )
    english = split("Fever. Pain?\n1. Rest.", "en")
    assert english.join(["发烧。", "疼吗？", "休息。"], "zh") == "发烧。疼吗？\n1. 休息。"


def test_endless_sentences_are_cut_at_clauses():
    text = "palabra " * 40 + "fin, " + "palabra " * 60 + "x" * 700
    parts = split(text, "es").sentences
    assert max(map(len, parts)) <= 600 and parts[0].endswith("fin,")
    chinese = "很" * 150 + "，" + "好" * 150
    assert split(chinese, "zh").sentences == ["很" * 150 + "，", "好" * 150]


# Files


def write(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return {"model": "file", "model_args": {"path": str(path)}}


ROW = {"language": "es", "text": "Hola.\nAdiós.", "translation": "Hello.\nBye."}


def test_translations_from_a_file(tmp_path, caplog):
    back = {"language": "en", "target": "iw", "text": "Hello.", "translation": "שלום."}
    own = make(write(tmp_path / "x.jsonl", ROW, "", back, ROW))
    own.check(("hi", "en"), ("es", "en"))
    texts = ["Hola.\nAdiós.", "Hola.", "", " ", "Hola."]
    assert own.translate(texts, "es") == ["Hello.\nBye.", None, "", " ", None]
    assert own.translate(["Hello."], "en", "he") == ["שלום."]
    assert "1 of 4 texts (es to en) are not in" in caplog.text
    assert own.signature.startswith("translate|file:x.jsonl|digest:")


def test_a_file_without_the_texts_is_an_error_and_says_how_to_get_them(tmp_path):
    own = make(write(tmp_path / "x.jsonl", ROW))
    how = "xling translate export OUT --to texts.jsonl.*xling_replay"
    with pytest.raises(DataError, match=rf"x\.jsonl: has no translations of hi to en.*{how}"):
        own.check(("hi", "en"))
    with pytest.raises(DataError, match=rf"x\.jsonl: has 1 of the 3 texts .* from es to en.*{how}"):
        own.translate(["Hola.\nAdiós.", "Hola.", "Uno.", " "], "es")
    with pytest.raises(DataError, match="has 0 of the 1 texts"):
        own.translate(["नमस्ते।"], "hi")
    assert own.translate(["", " "], "hi") == ["", " "]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 2: not valid JSON"),
        ("[1]", "line 2: expected an object"),
        ({"language": "es", "text": "a"}, "line 2, field 'translation': missing"),
        ({**ROW, "translation": " "}, "line 2, field 'translation': expected text"),
        ({**ROW, "text": 3}, "line 2, field 'text': expected text, got 3"),
        ({**ROW, "langage": "es"}, "field 'langage': unknown. Did you mean 'language'"),
        ({**ROW, "translation": "Hi."}, "line 2, field 'translation': differs from an earlier"),
    ],
)
def test_errors_in_a_file_name_line_and_field(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        make(write(tmp_path / "x.jsonl", ROW, row))


# Models of the harness

CHAT = {
    "Beba agua.": "Translation: Drink water.",
    "Descanse.": "“Rest.”",
}


def ask(prompt):
    for sentence, reply in CHAT.items():
        if sentence in prompt:
            return reply
    return "Ready." if prompt.startswith("Reply") else "loop loop loop loop loop loop"


def test_a_chat_model_translates_sentence_by_sentence(serve):
    served = serve(ask)
    own = make(served.spec())
    own.check(("es", "en"))
    assert own.translate(["Beba agua. Descanse.\n\nBeba agua."], "es") == [
        "Drink water. Rest.\n\nDrink water."
    ]
    assert len(served.prompts) == 2
    assert (
        "from Spanish into English" in served.prompts[0] and served.requests[-1]["temperature"] == 0
    )
    module._shared.cache_clear()
    assert make(served.spec()).translate(["Descanse."], "es") == ["Rest."]
    assert len(served.prompts) == 2
    assert "chat_template:yes;temperature:0|prompt:" in own.signature


def test_a_chat_model_that_loops_is_asked_again_with_seeds_of_its_own(serve):
    served = serve(ask)
    own = make(served.spec())
    assert own.translate(["Algo nuevo.", "Beba agua."], "es") == [None, "Drink water."]
    sampled = [r for r in served.requests if r["temperature"] == 0.7]
    assert len(sampled) == 3 and len({r["seed"] for r in sampled}) == 3
    assert all(r["top_p"] == 0.95 for r in sampled)
    # Known to fail; an empty reply would be asked for again.
    module._shared.cache_clear()
    assert make(served.spec()).translate(["Algo nuevo."], "es") == [None]
    assert len(served.prompts) == 5
    CHAT["Vacío."] = ""
    try:
        for _ in range(2):
            module._shared.cache_clear()
            assert make(served.spec()).translate(["Vacío."], "es") == [None]
    finally:
        del CHAT["Vacío."]
    assert len(served.prompts) == 5 + 2 * 4


def test_a_server_that_is_down(serve, caplog):
    served = serve(ask)
    served.fail_with = 500
    own = make(served.spec())
    with pytest.raises(BackendError, match="translator: .* does not answer"):
        own.check()
    assert own.translate(["Beba agua."], "es") == [None]
    served.fail_with = None
    assert own.translate(["Beba agua."], "es") == ["Drink water."]


def test_the_users_prompt_is_another_translator(serve):
    served = serve(
        lambda prompt: "Drink water." if prompt == "es>en Beba agua." else "no no no no no no"
    )
    spec = translator_spec("translator", served.spec())
    prompt = Prompt("translate", "en", "es>en {text}")
    assert translator(spec, None, prompt).translate(["Beba agua."], "es") == ["Drink water."]
    assert translator(spec).translate(["Beba agua."], "es") == [None]


def test_names_of_languages_build_no_second_translator_from_a_file(tmp_path):
    path = tmp_path / "ready.jsonl"
    row = {"language": "es", "text": "Sí.", "translation": "Yes."}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    spec = translator_spec("translator", {"model": "file", "model_args": {"path": str(path)}})
    assert translator(spec) is translator(spec, names=(("sw", "Swahili"),))


def test_dummy_and_local_models(tiny_hf):
    # The harness's dummy model says "lol" to everything: too short for this sentence of 104
    # characters, of which 95 expected ones make a least length of 95 / 3 - 20 = 11.
    long = "Beba mucha agua durante los próximos tres días y descanse bien por la noche hasta que se sienta mejor."
    dummy = make({"model": "dummy", "apply_chat_template": False}, cache=False)
    assert dummy.translate(["Sí, claro.", long], "es") == ["lol", None]
    import torch

    value = {
        "model": "hf",
        "model_args": {"pretrained": tiny_hf, "device": "cpu"},
        "max_gen_toks": 8,
    }
    local = make(value, cache=False)
    state = torch.random.get_rng_state()
    es, en = find("es"), find("en")
    first = list(local.engine.outcomes(["Beba agua."], es, en, 1))
    assert first == list(local.engine.outcomes(["Beba agua."], es, en, 1))
    assert first != list(local.engine.outcomes(["Beba agua."], es, en, 2))
    assert torch.equal(state, torch.random.get_rng_state())


NOTED = "Take after meals (Note: do not take with alcohol)"


@pytest.mark.parametrize(
    ("reply", "source", "cleaned"),
    [
        (" Rest. \n", "Descanse.", "Rest."),
        ("English: Rest.", "Descanse.", "Rest."),
        ("**English translation:** Rest.", "Descanse.", "Rest."),
        ("Translation: Rest.", "Traducción: Descanse.", "Translation: Rest."),
        ("Note: rest.", "Descanse.", "Note: rest."),
        ('"Rest."', "Descanse.", "Rest."),
        ('"Rest."', '"Descanse."', '"Rest."'),
        ('"Rest" and "sleep"', "Descanse.", '"Rest" and "sleep"'),
        ("'Tis the patients'", "Descanse.", "'Tis the patients'"),
        ("```\nRest.\n```", "Descanse.", "Rest."),
        ("Sure:\nRest.", "Descanse.", "Sure:\nRest."),
        ("Here is the translation: Rest.", "Descanse.", "Rest."),
        ("Sure! Here's the English translation of the sentence:\n\nRest.", "Descanse.", "Rest."),
        ("The translation is: Rest.", "La traducción es: Descanse.", "The translation is: Rest."),
        ("Rest. (Note: the translation is informal.)", "Descanse.", "Rest."),
        ("Rest.\n\nNote: the original text is informal", "Descanse.", "Rest."),
        # Notes of the answer itself.
        (NOTED, "饭后服用（注意不要与酒精同服）", NOTED),
        (NOTED, "Tome después de comer, y nota, sin alcohol", NOTED),
        (
            "Take one a day (Note: better with food)",
            "Tome una pastilla al día (nota, mejor con comida)",
            "Take one a day (Note: better with food)",
        ),
        ("(Note: better with food)", "(nota, mejor con comida)", "(Note: better with food)"),
        (
            "Keep it (Note: in the original package)",
            "Guárdelo, nota, en el envase original",
            "Keep it (Note: in the original package)",
        ),
        (
            "Take with food\nNote: no alcohol",
            "Tome con comida\nOjo, sin alcohol",
            "Take with food\nNote: no alcohol",
        ),
        # Blanks to fill in.
        (
            "Write a letter with [name] and [reason].",
            "Escriba una carta con [nombre] y [motivo].",
            "Write a letter with [name] and [reason].",
        ),
        ("Write [reason] here.", "在此填写【原因】。", "Write [reason] here."),
        ("<think>Hm.</think>\nWrite [reason].", "Escriba [motivo].", "Write [reason]."),
        ("<think>Hm, [reason]", "Escriba [motivo].", ""),
        ("Write <reason> here.", "Escriba <motivo> aquí.", "Write <reason> here."),
        (
            "```\nBelow <120 mmHg it is fine.\n```",
            "Si la presión es <120 mmHg está bien.",
            "Below <120 mmHg it is fine.",
        ),
        ("Rest.\n\n**Translator's note:** informal", "Descanse.", "Rest."),
        ("Rest (at home).", "Descanse (en casa).", "Rest (at home)."),
        ("<think>Hm.</think>\nRest.", "Descanse.", "Rest."),
        ("<think>Hm, rest", "Descanse.", ""),
        ("**Rest.**", "Descanse.", "Rest."),
        ("**Rest** and **sleep**", "Descanse.", "**Rest** and **sleep**"),
        ("<translation>Rest.</translation>", "Descanse.", "Rest."),
        ("", "Descanse.", ""),
    ],
)
def test_cleaning_takes_only_what_is_surely_no_translation(reply, source, cleaned):
    assert clean(reply, source, find("en")) == cleaned


# The setting


def test_no_translator():
    assert translator_spec("translator", None) is None
    assert translator_spec("translator", "none") is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, r"translator: expected \{"),
        ({"model": "seq2seq"}, "translator.model_args.pretrained: name a model"),
        ({"model": "seq2seq", "model_args": {"pretraind": "x"}}, "pretraind: unknown key. Did you mean 'pretrained'"),
        ({"model": "seq2seq", "model_args": {"pretrained": "x", "dtype": "int8"}}, "dtype: 'int8' is none of float32"),
        ({"model": "seq2seq", "model_args": {"pretrained": "x"}, "batch_size": "auto"}, "batch_size: must be a positive"),
        ({"model": "seq2seq", "model_args": {"pretrained": "x"}, "batch_size": 0}, "batch_size: must be a positive"),
        ({"model": "file"}, "translator.model_args.path: name a JSONL file"),
        ({"model": "file", "model_args": {"pathh": "x"}}, "pathh: unknown key. Did you mean .path."),
        ({"model": "hf", "model_args": {"api_key": "x"}}, "take no secrets"),
    ],
)  # fmt: skip
def test_wrong_settings(value, message):
    with pytest.raises(SettingError, match=message):
        translator_spec("translator", value)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        make({"model": "file", "model_args": {"path": str(tmp_path / "none.jsonl")}})


# Through a task


def test_a_tiny_nllb_translates_the_answers_of_a_task(run, serve, tiny_nllb, tmp_path):
    import scripted as judge
    from fixed import Fixed

    # The second answer is far longer than anything the model can say.
    said = {
        "What now?": "Drink plenty of water every day. Rest well at night.",
        "¿Y ahora?": "Descanse bien por la noche. No tome aspirina.",
        "What else?": "Do not take aspirin.",
        "¿Qué más?": " ".join(f"beba agua y descanse {i} noches" for i in range(12)) + ".",
    }

    path = tmp_path / "prompts.jsonl"
    rows = [
        {"id": "a", "en": "What now?", "es": "¿Y ahora?"},
        {"id": "b", "en": "What else?", "es": "¿Qué más?"},
    ]
    write_lines(path, rows)
    served = serve(judge.reply)
    metadata = {
        "judge": served.spec(),
        "translator": {"model": "seq2seq", "model_args": {"pretrained": tiny_nllb}},
        "prompts_file": str(path),
    }
    results = run(
        "xling_information", model=Fixed(lambda context, _: said[context]), metadata=metadata
    )
    first, second = results["samples"]["xling_information"]
    assert first["n_claims_es"]["english"] == "Rest well at night. Do not take aspirin."
    # One claim of two each way.
    assert first["information_f1_by_prompt_es"] == 0.5
    assert second["n_claims_es"]["unscored"] == "translation failed"
    assert second["information_f1_by_prompt_es"] is None
    scores = results["results"]["xling_information"]
    assert scores["information_f1_es,none"] == 0.5 and scores["unscored_es,none"] == 0.5
    sign = results["configs"]["xling_information"]["metadata"]["xling"]["signatures"]
    assert f"translator:translate|model:{tiny_nllb}@local-" in sign["information_f1_es"]
