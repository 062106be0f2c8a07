"""A small encoder for tests: every word has a fixed random direction, a text the sum of its words'."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evidencegym.data.records import content_hash
from evidencegym.data.text import words
from evidencegym.retrieval.encoder import Encoder


@lru_cache(maxsize=10_000)
def direction(word: str, dimension: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(int(content_hash(word, str(seed)), 16)).normal(size=dimension)


class WordEncoder(Encoder):
    """Counts what it embeds; fails once it has embedded ``fails_after`` passages."""

    def __init__(self, dimension: int = 16, seed: int = 0, fails_after: int = 10**9) -> None:
        self.dimension = dimension
        self.seed = seed
        self.fails_after = fails_after
        self.embedded = 0

    @property
    def fingerprint(self) -> str:
        return content_hash("words", str(self.dimension), str(self.seed))

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        if self.embedded > self.fails_after:
            raise KeyboardInterrupt
        return np.array([self.query(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def query(self, text: str) -> NDArray[np.float32]:
        total = sum((direction(word, self.dimension, self.seed) for word in words(text) or ["none"]), np.zeros(1))
        return np.asarray(total / np.linalg.norm(total), np.float32)
