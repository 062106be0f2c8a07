"""Encoders of the sentence-transformers library, from the hub or from a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import BackendUnavailableError, ConfigError
from ..data.records import content_hash
from .encoder import Encoder

_KEPT = 20_000
_PROMPTS = {
    "e5": ("query: ", "passage: "),
    "bge-": ("Represent this sentence for searching relevant passages: ", ""),
}
"""What families want before query and passage, for models that do not say so themselves: by a part of their name."""


class SentenceEncoder(Encoder):
    """A sentence-transformers model; pooling and normalisation are the model's own, the vectors always of length 1.

    The model is loaded when it is first used.

    Args:
        model: name on the hub, or folder.
        query_prompt: put before a query; None for the model's own, else that of its family, else nothing.
        passage_prompt: put before a passage, likewise.
        max_tokens: longer texts are cut, at least 1.
        batch: passages in one forward pass, at least 1.
        device: as torch names it; empty for a GPU where there is one.

    Raises:
        ConfigError: if a number is out of range, or there is no such model.
        BackendUnavailableError: if sentence-transformers is not installed.
    """

    def __init__(
        self,
        model: str,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        max_tokens: int = 160,
        batch: int = 32,
        device: str = "",
    ) -> None:
        if min(max_tokens, batch) < 1:
            raise ConfigError(f"max_tokens and batch must be at least 1, found {max_tokens} and {batch}")
        self.model = model
        self.max_tokens = max_tokens
        self.batch = batch
        self.device = device
        self._wanted = query_prompt, passage_prompt
        self._alone = Lock()  # the library does not promise that threads may encode side by side
        self._loaded = _load(model, device, max_tokens)
        self.prompts = self._prompts()
        self.dimension = int(self._encoded([""], self.prompts[0]).shape[1])
        self._query = lru_cache(maxsize=_KEPT)(self._one)

    def __reduce__(self) -> Any:
        """Send the name of the model, not the model, to another process."""
        return SentenceEncoder, (self.model, *self._wanted, self.max_tokens, self.batch, self.device)

    @property
    def fingerprint(self) -> str:
        """A hash of weights, prompts and the length at which texts are cut."""
        return content_hash("sentence encoder", _weights(self._loaded), repr((self.prompts, self.max_tokens)))

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the unit vectors of passages."""
        return self._encoded(list(texts), self.prompts[1])

    def query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a query; those of the queries asked last are kept."""
        vector: NDArray[np.float32] = self._query(text)
        return vector

    def _one(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encoded([text], self.prompts[0])[0]
        vector.setflags(write=False)
        return vector

    def _encoded(self, texts: list[str], prompt: str) -> NDArray[np.float32]:
        with self._alone:
            made: Any = self._loaded.encode(
                texts, prompt=prompt, batch_size=self.batch, normalize_embeddings=True, show_progress_bar=False
            )
        vectors: NDArray[np.float32] = np.ascontiguousarray(made, dtype=np.float32)
        return vectors

    def _prompts(self) -> tuple[str, str]:
        own = dict(self._loaded.prompts or {})
        family = next((found for part, found in _PROMPTS.items() if part in self.model.lower()), ("", ""))
        stated = own.get("query"), own.get("document") or own.get("passage")
        chosen = [w if w is not None else s or f for w, s, f in zip(self._wanted, stated, family)]
        return chosen[0], chosen[1]


def _load(model: str, device: str, max_tokens: int) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise BackendUnavailableError("an encoder needs the extra dense: pip install 'evidencegym[dense]'") from error
    try:
        loaded = SentenceTransformer(model, device=device or None)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot load the encoder {model!r}: {error}") from error
    loaded.max_seq_length = min(max_tokens, loaded.max_seq_length or max_tokens)
    return loaded


def _weights(model: Any) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()
