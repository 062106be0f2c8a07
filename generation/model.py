"""The fitted numbers of the extractive generator: tree ensembles, association tables, linear weights, idf."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.trees import TreeArrays
from .comparison import CHOICE_FEATURES, YES_NO_FEATURES
from .cross import TABLE_BITS
from .evidence import IDF_BITS, SENTENCE_FEATURES
from .features import ANSWER_FEATURES
from .gaps import GAP_FEATURES
from .judge_features import JUDGE_FEATURES

FORMAT = 1
_TREES = {"sentence": SENTENCE_FEATURES, "span": ANSWER_FEATURES, "gap": GAP_FEATURES, "judge": JUDGE_FEATURES}
_TABLES = {"idf": 1 << IDF_BITS, "span_table": 1 << TABLE_BITS, "gap_table": 1 << TABLE_BITS}
_VECTORS = {"choice": len(CHOICE_FEATURES), "yes_no": len(YES_NO_FEATURES) + 1, "calibration": 3, "thresholds": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What fitting leaves.

    Attributes:
        idf: (2^15,) float32 in [0, 1], weight of a stem bucket.
        span_table, gap_table: (2^16,) float32 associations of question cues with candidate cues.
        sentence, span, gap, judge: ensembles that give log-odds.
        choice: (len(CHOICE_FEATURES),) weights of the first side against the second.
        yes_no: (len(YES_NO_FEATURES) + 1,) weights of "yes", the last one the intercept.
        calibration: (3,) weights of best score, lead over the next answer, intercept: log-odds of being right.
        thresholds: (2,) least probability of a supporting sentence, and of sufficiency.
    """

    idf: NDArray[np.float32]
    span_table: NDArray[np.float32]
    gap_table: NDArray[np.float32]
    sentence: TreeArrays
    span: TreeArrays
    gap: TreeArrays
    judge: TreeArrays
    choice: NDArray[np.float64]
    yes_no: NDArray[np.float64]
    calibration: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as plain arrays; the tables in half precision, which is all they are fitted to."""
        out: dict[str, NDArray[Any]] = {name: getattr(self, name).astype(np.float16) for name in _TABLES}
        out |= {name: getattr(self, name) for name in _VECTORS}
        for name in _TREES:
            out |= getattr(self, name).arrays(f"{name}.")
        return out

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Model:
        """Rebuild a model.

        Raises:
            ManifestMismatchError: if an array is missing or of another size than this version expects.
        """
        sizes = {**_TABLES, **_VECTORS}
        for name, size in sizes.items():
            found = arrays[name].shape if name in arrays else "nothing"
            if found != (size,):
                raise ManifestMismatchError(
                    f"the generator's array {name!r}: expected shape ({size},), found {found}; fit it again"
                )
        trees = {name: TreeArrays.from_arrays(arrays, f"{name}.") for name in _TREES}
        for name, features in _TREES.items():
            if trees[name].n_features != len(features):
                raise ManifestMismatchError(
                    f"the generator's ensemble {name!r}: expected {len(features)} features, "
                    f"found {trees[name].n_features}; fit it again"
                )
        parts: dict[str, Any] = {name: arrays[name].astype(np.float32) for name in _TABLES}
        parts |= {name: arrays[name].astype(np.float64) for name in _VECTORS}
        return cls(**(parts | trees))

    def fingerprint(self) -> str:
        """Return 16 hexadecimal digits that depend on every array."""
        digest = hashlib.blake2b(digest_size=8)
        digest.update(f"extractive {FORMAT}".encode())
        for name, array in sorted(self.arrays().items()):
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def half(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round a table to half precision, so that a fitted model equals its saved copy."""
    return table.astype(np.float16).astype(np.float32)


def probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * log_odds))
