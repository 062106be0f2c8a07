"""Sequence classifiers of the transformers library with one output: loading, batches by length, the plain output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from ..data.errors import BackendUnavailableError, ConfigError, RequestFailedError
from ..data.records import content_hash
from .transformer_settings import TransformerSettings


class SequenceClassifier:
    """A sequence classifier with its tokenizer.

    Args:
        settings: which model, and where it runs.

    Raises:
        ConfigError: if no model is named, there is no such model, it has more than one output, or its head was never
            trained.
        BackendUnavailableError: if transformers or torch is not installed.
    """

    def __init__(self, settings: TransformerSettings) -> None:
        self.settings = settings
        self.tokenizer, self.model = load(settings)
        self._alone = Lock()  # forward passes side by side would share the device's memory

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the weights as they are used, and of the tokenizer's vocabulary."""
        vocabulary = json.dumps(sorted(self.tokenizer.get_vocab().items()), ensure_ascii=True)
        return content_hash("sequence classifier", _weights(self.model), vocabulary)

    @property
    def kind(self) -> str:
        """The architecture, such as "t5"."""
        return str(self.model.config.model_type)

    def outputs(self, encoded: Sequence[Mapping[str, list[int]]]) -> list[float]:
        """Return the output for each text, as float32 holds it.

        Texts of about one length share a batch, padded on the right, and attention leaves the padding out. Texts of one
        call may change each other's last bits; those of different calls never do.

        Args:
            encoded: what the tokenizer makes of each text, not padded.

        Raises:
            RequestFailedError: if the device has too little memory for a batch, or an output is not a number.
        """
        order = sorted(range(len(encoded)), key=lambda place: (len(encoded[place]["input_ids"]), place))
        found = [0.0] * len(encoded)
        size = self.settings.batch_size
        with self._alone:
            for places in (order[first : first + size] for first in range(0, len(order), size)):
                for place, value in zip(places, self._batch([encoded[place] for place in places])):
                    found[place] = value
        return found

    def _batch(self, encoded: Sequence[Mapping[str, list[int]]]) -> list[float]:
        import torch

        batch = padded(self.tokenizer, encoded)
        try:
            with torch.inference_mode():
                logits = self.model(**{name: rows.to(self.model.device) for name, rows in batch.items()}).logits
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            width = batch["input_ids"].shape[1]
            raise RequestFailedError(
                f"{len(encoded)} texts of up to {width} tokens need more memory than there is; "
                "lower batch_size or max_length"
            ) from error
        values = logits.float().reshape(-1)
        if not bool(torch.isfinite(values).all()):
            raise RequestFailedError(
                "the model's output is not a number: its weights are damaged or of too small a type"
            )
        return [float(value) for value in values.cpu().tolist()]


def padded(tokenizer: Any, encoded: Sequence[Mapping[str, list[int]]]) -> dict[str, Any]:
    """Return the batch as tensors, (texts, longest), padded on the right."""
    import torch

    width = max(len(one["input_ids"]) for one in encoded)
    fill = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    return {
        name: torch.tensor([[*one[name], *[fill.get(name, 0)] * (width - len(one[name]))] for one in encoded])
        for name in encoded[0]
    }


def load(settings: TransformerSettings, untrained: bool = False) -> tuple[Any, Any]:
    """Return tokenizer and model, in evaluation mode.

    Args:
        settings: which model, and where it runs.
        untrained: whether the model may lack its head, which then gets weights drawn by torch's generator.

    Raises:
        ConfigError: if there is no such model, it has more than one output, or lacks weights that it may not lack.
        BackendUnavailableError: if transformers or torch is not installed.
    """
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise BackendUnavailableError(
            "a transformer evaluator needs the extra local: pip install 'evidencegym[local]'"
        ) from error
    if not settings.model:
        raise ConfigError("which model? Name one of the hub, or a folder")
    place = settings.device if settings.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    named: dict[str, Any] = {"revision": settings.revision or None}
    outputs: dict[str, Any] = {"num_labels": 1} if untrained else {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model, **named)
        model, told = AutoModelForSequenceClassification.from_pretrained(
            settings.model, dtype=torch.float32, output_loading_info=True, **named, **outputs
        )
        model = model.to(place).eval()
    except (OSError, ValueError, RuntimeError, ImportError, KeyError) as error:
        hint = _hint(settings.model, str(error))
        raise ConfigError(
            f"cannot load the sequence classifier {settings.model!r} on {place}{hint}: {error}"
        ) from error
    _check(settings.model, model, () if untrained else sorted(told["missing_keys"]))
    return tokenizer, model


def _hint(model: str, message: str) -> str:
    """Return what is known better than the library says it."""
    if model.startswith((".", "/", "~")) and not Path(model).is_dir():
        return ", there is no such folder"
    if "sentencepiece" in message.lower() or "tiktoken" in message.lower():
        return ", its tokenizer is a sentencepiece model, which needs `pip install sentencepiece protobuf`"
    return ""


def _check(name: str, model: Any, missing: Sequence[str]) -> None:
    if model.config.num_labels != 1:
        raise ConfigError(
            f"expected a sequence classifier with one output, {name!r} has {model.config.num_labels}; name one that "
            "was trained to score a question and a text"
        )
    if missing:
        raise ConfigError(
            f"{name!r} has no trained classifier: its files lack {', '.join(missing[:3])}; train it on questions "
            "first, or name a model that was"
        )


def _weights(model: Any) -> str:
    import torch

    digest = hashlib.blake2b(digest_size=8)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
