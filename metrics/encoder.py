"""A transformer encoder whose one forward pass serves BERTScore and sentence similarity.

For each distinct text: the states of its tokens at BERTScore's layer, and the mean of the last
layer, as sentence-transformers has it for a plain checkpoint. Needs torch and transformers (the
extra `hf`), imported when a model is loaded.

Speed on a CPU: torch's float32 product uses MKL, which is slow on AMD; oneDNN's, on weights packed
once, took 0.4 of the time there. Each core works on a batch of its own, small enough for its cache
and of similar lengths, so that little is padding. Products are float32 unless the program lowered
torch's float32 matmul precision (TF32, say).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xling_metrics.base import ExtraMissing, replace_lone_surrogates

if TYPE_CHECKING:
    from torch import Tensor

# The layer that correlates best with human judgement on WMT16, by model: `model2layers` of
# bert_score 0.3.13. RoBERTa is left out: bert_score puts a space before its texts, we do not.
LAYERS = {
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-multilingual-cased": 5,
    "distilbert-base-uncased": 5,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
# Where the Hub keeps these models now.
_OWNERS = ("google-bert/", "distilbert/", "FacebookAI/")

# Tokens per batch, padding included; a longer text is a batch of its own.
_CPU_BATCH_TOKENS = 256
_GPU_BATCH_TOKENS = 32_768

TokenIds = tuple[int, ...]
# From ids and mask to the states of the chosen layer and of the last.
_States = Callable[["Tensor", "Tensor"], tuple["Tensor", "Tensor"]]


class Encoded(NamedTuple):
    """The result of a forward pass for a text of n tokens, [CLS] and [SEP] included.

    Attributes:
        tokens: n x d, the states of the chosen layer, scaled to length 1.
        weights: n, 1 / (number of counted tokens), and 0 at [CLS] and [SEP], which BERTScore does
            not count but lets others match.
        sentence: d, the mean over all n states of the last layer.
    """

    tokens: Tensor
    weights: Tensor
    sentence: Tensor


@dataclass(frozen=True)
class Encoder:
    """A loaded model; make one with `Encoder.load`."""

    model: str
    revision: str | None
    layer: int
    max_tokens: int
    device: str
    batch_size: int | None
    _tokenizer: Any = field(repr=False)
    _states: _States = field(repr=False)

    @classmethod
    def load(
        cls,
        model: str,
        revision: str | None = None,
        *,
        layer: int | None = None,
        device: str | None = None,
        batch_size: int | None = None,
    ) -> Encoder:
        """Load a BERT-like checkpoint and its tokenizer; remote code is never run.

        Args:
            model: Hub id or folder. A folder goes by its name: `/models/bert-base-uncased`.
            revision: The Hub's commit, tag or branch; the encoder keeps the commit.
            layer: The layer of the token states, counted from 1; by default bert_score's choice for
                the model.
            device: By default the GPU if torch finds one.
            batch_size: Texts per forward pass; by default as many as suit the device.

        Raises:
            ValueError: For a `layer` that the model lacks, or no `layer` for a model that
                bert_score has none for.
        """
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
        layer = default_layer(model) if layer is None else layer
        _require_files(model, revision)
        import torch
        from transformers import AutoModel, AutoTokenizer

        source = {"revision": revision or "main", "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(model, **source)
        network = AutoModel.from_pretrained(model, **source).float().eval()
        config = network.config
        if not 1 <= layer <= config.num_hidden_layers:
            raise ValueError(f"layer is {layer}; {model} has 1 to {config.num_hidden_layers}")
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        network.to(device)
        if device == "cpu" and _packing_works():
            for module in network.modules():
                if type(module) is torch.nn.Linear:
                    module.forward = packed_product(module)
                    module.register_parameter("weight", None)  # frees it
        revision = getattr(config, "_commit_hash", None) or revision
        limit, states = _max_tokens(tokenizer, config), _two_layers(network, layer)
        return cls(model, revision, layer, limit, device, batch_size, tokenizer, states)

    def tokenize(self, texts: Sequence[str | None]) -> list[TokenIds | None]:
        """Return each text's token ids, cut to `max_tokens`; None without any but [CLS] and [SEP].

        Surrounding space goes first, as in bert_score.
        """
        # Tokenizers refuse lone surrogates.
        cleaned = [replace_lone_surrogates(text or "").strip() for text in texts]
        distinct = list(dict.fromkeys(filter(None, cleaned)))
        if not distinct:
            return [None] * len(texts)
        ids = self._tokenizer(distinct, truncation=True, max_length=self.max_tokens)["input_ids"]
        special = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        rows = (tuple(row) if set(row) - special else None for row in ids)
        ids_by_text = dict(zip(distinct, rows, strict=True))
        return [ids_by_text.get(text) for text in cleaned]

    def encode_tokens(self, texts: Iterable[TokenIds]) -> dict[TokenIds, Encoded]:
        """Encode tokenized texts, each distinct one once, in batches of similar length."""
        batches = list(self._batches(sorted(set(texts), key=lambda ids: (len(ids), ids))))
        run = map_per_core if self.device == "cpu" else map
        encoded: dict[TokenIds, Encoded] = {}
        for batch, states in zip(batches, run(self._forward, batches), strict=True):
            encoded.update(zip(batch, states, strict=True))
        return encoded

    def _batches(self, by_length: list[TokenIds]) -> Iterator[list[TokenIds]]:
        budget = _CPU_BATCH_TOKENS if self.device == "cpu" else _GPU_BATCH_TOKENS
        batch: list[TokenIds] = []
        for ids in by_length:
            size = len(batch) + 1
            is_full = size > self.batch_size if self.batch_size else size * len(ids) > budget
            if batch and is_full:
                yield batch
                batch = []
            batch.append(ids)
        if batch:
            yield batch

    def _forward(self, batch: list[TokenIds]) -> list[Encoded]:
        import torch

        lengths = torch.tensor([len(ids) for ids in batch])
        mask = torch.arange(int(lengths.max())) < lengths[:, None]
        ids = torch.full(mask.shape, self._tokenizer.pad_token_id)
        ids[mask] = torch.tensor([token for text in batch for token in text])
        special = torch.tensor([self._tokenizer.cls_token_id, self._tokenizer.sep_token_id])
        content_mask = (mask & ~torch.isin(ids, special)).float()
        ids, mask, content_mask = (x.to(self.device) for x in (ids, mask, content_mask))

        with torch.inference_mode():
            chosen, last = self._states(ids, mask.long())
            tokens = torch.nn.functional.normalize(chosen, dim=-1)
            weights = content_mask / content_mask.sum(dim=1, keepdim=True)
            inside = mask[:, :, None].float()
            sentences = (last * inside).sum(dim=1) / inside.sum(dim=1)
            return [
                Encoded(tokens[row, : len(text)], weights[row, : len(text)], sentences[row])
                for row, text in enumerate(batch)
            ]


def _require_files(model: str, revision: str | None) -> None:
    """Raise if torch or the model is missing, before torch is loaded, which takes seconds."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise ExtraMissing('encoders need torch and transformers: pip install "xling-tasks[hf]"')
    if Path(model).is_dir():
        return
    from huggingface_hub import HfApi, try_to_load_from_cache

    if not isinstance(try_to_load_from_cache(model, "config.json", revision=revision), str):
        # Not `hf_hub_download`, which retries for 23 seconds without a network.
        HfApi().model_info(model, revision=revision, timeout=10)


def default_layer(model: str) -> int:
    """Return the layer that bert_score uses of a model; ValueError if it has none for it."""
    name = known_name(model)
    if name not in LAYERS:
        raise ValueError(f"no layer is known for {model}: set `layer`, or use {', '.join(LAYERS)}")
    return LAYERS[name]


def known_name(model: str) -> str:
    """Return a Hub id without the owner of the well-known models; the name of a folder."""
    if Path(model).is_dir():
        return Path(model).resolve().name
    for owner in _OWNERS:
        model = model.removeprefix(owner)
    return model


def _max_tokens(tokenizer: Any, config: Any) -> int:
    """Return the tokenizer's limit, or the model's if lower: some tokenizers state none."""
    # RoBERTa's first two positions are never used by a token.
    unused = 2 if "roberta" in config.model_type else 0
    return min(int(tokenizer.model_max_length), int(config.max_position_embeddings) - unused)


def _two_layers(network: Any, layer: int) -> _States:
    """Return a function to the states of a layer, which a hook stores per thread, and the last.

    Not `output_hidden_states`: versions of transformers patch the shared network to collect them,
    so that one thread could get another's.
    """
    import torch

    depth, thread_states = network.config.num_hidden_layers, threading.local()
    stacks = [
        m for m in network.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == depth
    ]
    if not stacks:
        raise ValueError(f"{type(network).__name__} has no list of {depth} layers: not BERT-like")

    def store(module: Any, inputs: Any, output: Any) -> None:
        thread_states.state = output[0] if isinstance(output, tuple) else output

    stacks[0][layer - 1].register_forward_hook(store)

    def states(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        last = network(ids, attention_mask=mask).last_hidden_state
        return thread_states.state, last

    return states


def map_per_core(
    work: Callable[[list[TokenIds]], list[Encoded]], batches: list[list[TokenIds]]
) -> Iterator[list[Encoded]]:
    """Run batches in parallel, one thread each, and yield the results in order.

    Threads that share each product wait for one another at every step, which took several times as
    long on a busy machine.
    """
    import torch

    cores = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield from pool.map(work, batches)
    finally:
        torch.set_num_threads(cores)


def packed_product(linear: Any) -> Callable[[Tensor], Tensor]:
    """Return a linear layer's product, on its weights packed for oneDNN."""
    import torch

    weight, bias = linear.weight.detach(), linear.bias
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, _CPU_BATCH_TOKENS)
    bias = None if bias is None else bias.detach()
    return lambda x: torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")


def _packing_works() -> bool:
    """Return whether oneDNN's packed product exists for this CPU, and multiplies correctly."""
    import torch

    x = torch.arange(32.0).reshape(2, 16)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(x, 2)
        product = torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return bool(torch.allclose(product, x @ x.T))
