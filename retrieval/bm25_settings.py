"""The free parameters of BM25."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..data.errors import ConfigError
from ..data.records import content_hash
from .tokens import rules_fingerprint


@dataclass(frozen=True, slots=True)
class BM25Settings:
    """k1, b, and the weight of titles.

    The defaults are the middle of a plateau in support recall at 12 passages over the train files of HotpotQA,
    2WikiMultiHopQA and MuSiQue: over k1 in .6 to 1.2, b in .5 to .75 and titles counted one to three times, the mean
    of the three lies between .747 and .754.

    Attributes:
        k1: how slowly repetitions of a term stop counting; at least 0.
        b: how much long passages are held back, in [0, 1].
        title_weight: how often the terms of the title count; at least 0.

    Raises:
        ConfigError: if one of them is out of its range.
    """

    k1: float = 0.9
    b: float = 0.6
    title_weight: int = 2

    def __post_init__(self) -> None:
        if not (isfinite(self.k1) and self.k1 >= 0):
            raise ConfigError(f"k1 must be a finite number of at least 0, found {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must be in [0, 1], found {self.b}")
        if not isinstance(self.title_weight, int) or self.title_weight < 0:
            raise ConfigError(f"title_weight must be a whole number of at least 0, found {self.title_weight}")

    @property
    def fingerprint(self) -> str:
        """A hash of the parameters and of the rules by which terms are made."""
        return content_hash(repr(float(self.k1)), repr(float(self.b)), repr(self.title_weight), rules_fingerprint())


DEFAULT = BM25Settings()
