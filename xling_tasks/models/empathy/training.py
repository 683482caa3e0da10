"""Training of the transformer empathy classifier, for the epochs that are best on dev."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tqdm import tqdm
from xling_metrics.classification import classification_scores

from xling_tasks.errors import SettingError
from xling_tasks.models.empathy.data import Pair
from xling_tasks.models.empathy.transformer import TransformerClassifier, build_network

_WARM_UP = 0.1  # of all steps, in which the learning rate rises
_DECAY = 0.01
_MAX_NORM = 1.0  # of the gradient


class TrainSettings(NamedTuple):
    """How to train."""

    model: str = "answerdotai/ModernBERT-large"  # Hub id or folder of an encoder
    revision: str | None = None  # the Hub's commit, tag or branch
    epochs: int = 8  # at most
    patience: int = 2  # epochs without a better dev part after which training ends
    batch_size: int = 16  # pairs per step
    lr: float = 2e-5  # highest learning rate, of AdamW
    max_tokens: int = 512  # longer texts are cut; never above what the encoder takes
    device: str | None = None  # by default the GPU if torch finds one


def fit(
    train: Sequence[Pair], dev: Sequence[Pair], seed: int, settings: TrainSettings
) -> TransformerClassifier:
    """Train, and leave the model as it was after the epoch that was best on dev.

    The best is the highest macro F1 (mean of the mechanisms), at equal ones the lowest loss.
    Raises a SettingError if the encoder cannot be loaded.
    """
    import torch

    model = _start(settings, seed)
    network = model.network
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.lr, weight_decay=_DECAY)
    steps = settings.epochs * -(-len(train) // settings.batch_size)
    rise = max(1, round(_WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise))
    )
    best: tuple[tuple[float, float], int, Any] | None = None
    with tqdm(total=steps, desc=f"Training, seed {seed}") as bar:
        for epoch in range(settings.epochs):
            loss = _one_epoch(model, train, optimizer, schedule, bar)
            dev_loss, dev_f1 = _evaluate(model, dev)
            bar.set_postfix(dev_f1=f"{dev_f1:.3f}", loss=f"{loss:.3f}")
            if best is None or (dev_f1, -dev_loss) > best[0]:
                state = {name: w.detach().cpu().clone() for name, w in network.state_dict().items()}
                best = ((dev_f1, -dev_loss), epoch, state)
            elif epoch - best[1] >= settings.patience:
                break
    assert best is not None  # there is one epoch at least
    network.load_state_dict(best[2])
    model.made_of["epochs_trained"] = best[1] + 1
    return model


def _start(settings: TrainSettings, seed: int) -> TransformerClassifier:
    """Return the encoder as it was trained before, with new heads."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    source: dict[str, Any] = {"revision": settings.revision or "main", "trust_remote_code": False}
    device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model, **source)
        encoder = AutoModel.from_pretrained(settings.model, **source).float()
        network = build_network(encoder).to(device)
    except Exception as error:  # no such model, no network, no encoder, too little memory
        first = str(error).partition("\n")[0]
        raise SettingError(
            f"--training model={settings.model}: cannot be loaded ({type(error).__name__}: "
            f"{first}); name an encoder of the Hub or a folder"
        ) from error
    if tokenizer.pad_token_id is None:
        raise SettingError(f"--training model={settings.model}: its tokenizer has no pad token")
    config = encoder.config
    unused = 2 if "roberta" in config.model_type else 0  # positions that no token has
    positions = getattr(config, "max_position_embeddings", settings.max_tokens + unused) - unused
    limit = min(settings.max_tokens, int(tokenizer.model_max_length), positions)
    commit = getattr(config, "_commit_hash", None) or settings.revision
    made_of = {"model": settings.model, "revision": commit, "max_tokens": limit}
    return TransformerClassifier(made_of, settings.batch_size, device, network, tokenizer)


def _one_epoch(
    model: TransformerClassifier, pairs: Sequence[Pair], optimizer: Any, schedule: Any, bar: Any
) -> float:
    """Pass over the pairs in a new order; return the mean loss."""
    import torch

    network, total = model.network, 0.0
    network.train()
    for rows in torch.randperm(len(pairs)).split(model.batch_size):
        batch = [pairs[row] for row in rows.tolist()]
        labels = torch.tensor([pair.present for pair in batch], device=model.device).float()
        with torch.autocast(
            model.device.partition(":")[0], torch.bfloat16, enabled=model.device.startswith("cuda")
        ):
            logits = network(*model.inputs([(pair.seeker, pair.response) for pair in batch]))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), _MAX_NORM)
        optimizer.step()
        schedule.step()
        total += float(loss.detach()) * len(batch)
        bar.update()
    return total / len(pairs)


def _evaluate(model: TransformerClassifier, pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return the loss, and macro F1 (mean of the mechanisms, fraction)."""
    import torch

    logits = torch.tensor(model.logits([(pair.seeker, pair.response) for pair in pairs]))
    labels = torch.tensor([pair.present for pair in pairs])
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.float())
    columns = zip(labels.T.int().tolist(), (logits > 0).T.int().tolist(), strict=True)
    scores = [classification_scores(*column).macro_f1 or 0.0 for column in columns]
    return float(loss), sum(scores) / len(scores)
