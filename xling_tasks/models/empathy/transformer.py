"""The transformer empathy classifier: a bi-encoder over seeker's post and response.

After Sharma et al. 2020 (arXiv 2009.08441), smaller: one encoder, shared, reads both texts; the
response's tokens attend to the post's, what they find is added to them and normalised; their mean
goes to three heads, one per mechanism. Rationales are not used. Needs torch and transformers (the
extra `hf`), imported when used.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.base import replace_lone_surrogates

from xling_tasks.models.empathy.data import MECHANISMS, Profile

_WEIGHTS, _NETWORK, _ENCODER = "weights.safetensors", "network.json", "encoder"


class TransformerClassifier(NamedTuple):
    """A fitted model."""

    made_of: dict[str, Any]  # encoder, the commit of its revision, `max_tokens`, `epochs_trained`
    batch_size: int  # pairs per forward pass
    device: str
    network: Any
    tokenizer: Any

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Profile]:
        """Return the mechanisms present in each (seeker post, response): logit above 0."""
        return [(a > 0, b > 0, c > 0) for a, b, c in self.logits(pairs)]

    def save(self, folder: Path) -> None:
        """Write weights (safetensors), configuration and tokenizer; nothing pickled."""
        from safetensors.torch import save_model

        network = copy.deepcopy(self.network).cpu()
        save_model(network, str(folder / _WEIGHTS))
        network.encoder.config.save_pretrained(folder / _ENCODER)
        self.tokenizer.save_pretrained(folder / _ENCODER)
        text = json.dumps(self.made_of, indent=2, ensure_ascii=False) + "\n"
        (folder / _NETWORK).write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, folder: Path) -> TransformerClassifier:
        """Read what `save` wrote; asks no network."""
        import torch
        from safetensors.torch import load_model
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        made_of = json.loads((folder / _NETWORK).read_text(encoding="utf-8"))
        inside: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        config = AutoConfig.from_pretrained(folder / _ENCODER, **inside)
        tokenizer = AutoTokenizer.from_pretrained(folder / _ENCODER, **inside)
        network = build_network(AutoModel.from_config(config).float())
        load_model(network, str(folder / _WEIGHTS))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(made_of, 32, device, network.to(device).eval(), tokenizer)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...]]:
        """Return for each pair a number per mechanism; above 0 is present."""
        import torch

        order = sorted(range(len(pairs)), key=lambda i: (sum(map(len, pairs[i])), i))
        logits_of: list[Any] = [None] * len(pairs)
        self.network.eval()
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            with torch.inference_mode():
                logits = self.network(*self.inputs([pairs[i] for i in rows]))
            for row, values in zip(rows, logits.float().tolist(), strict=True):
                logits_of[row] = tuple(values)
        return logits_of

    def inputs(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        """Return ids and mask of the posts, ids and mask of the responses, each pairs x tokens."""
        tensors = []
        for texts in zip(*pairs, strict=True):
            encoded = self.tokenizer(
                [_clean(text) for text in texts], padding=True, truncation=True,
                max_length=self.made_of["max_tokens"], return_tensors="pt",
            )  # fmt: skip
            tensors += [encoded["input_ids"], encoded["attention_mask"]]
        return [tensor.to(self.device) for tensor in tensors]


def build_network(encoder: Any) -> Any:
    """Return the bi-encoder around an encoder; its heads and attention are random."""
    import torch

    class BiEncoder(torch.nn.Module):
        """From ids and masks of posts and responses to logits, pairs x mechanisms."""

        def __init__(self) -> None:
            super().__init__()
            width = encoder.config.hidden_size
            self.encoder = encoder
            self.attention = torch.nn.MultiheadAttention(
                width, encoder.config.num_attention_heads, batch_first=True
            )
            self.norm = torch.nn.LayerNorm(width)
            self.dropout = torch.nn.Dropout(0.1)
            self.heads = torch.nn.Linear(width, len(MECHANISMS))

        def forward(self, post: Any, post_mask: Any, response: Any, mask: Any) -> Any:
            context = self.encoder(input_ids=post, attention_mask=post_mask).last_hidden_state
            states = self.encoder(input_ids=response, attention_mask=mask).last_hidden_state
            attended, _ = self.attention(
                states, context, context, key_padding_mask=post_mask == 0, need_weights=False
            )
            states = self.norm(states + attended)
            inside = mask[:, :, None].to(states.dtype)
            pooled = (states * inside).sum(dim=1) / inside.sum(dim=1)
            return self.heads(self.dropout(pooled))

    return BiEncoder()


def _clean(text: str) -> str:
    """Return a text that has tokens; half a surrogate pair becomes U+FFFD."""
    return replace_lone_surrogates(text).strip() or "."
