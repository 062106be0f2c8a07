"""The embedded evaluator: a boosted ensemble over overlap, entities and links; it needs no download and no GPU.

Deviations from CRAG (2401.15884), section 4.2, whose evaluator is a fine-tuned T5-large:

1. A small model on features takes the place of the language model.
2. It also sees the rest of the evidence, since a passage of a later hop often shares nothing with the question but is
   linked to another passage. The paper's sees question and text alone.
3. It is fitted to documents and to strips, each with its own label, since it scores both. The paper's is fitted to
   documents alone.
4. Labels are the annotated support, not the titles of Wikipedia pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.manifests import unmet
from ..data.records import content_hash
from ..data.storage import load_folder, save_folder
from ..data.trees import TreeArrays
from ..retrieval.base import Retriever
from .base import EvaluateTask, Evaluator
from .features import FEATURES, Reader
from .manifests import KIND, thresholds_in
from .verdicts import Thresholds

TYPE = "embedded"
FORMAT = 1
_FIXED = {"kind": KIND, "type": TYPE, "format": FORMAT, "features": list(FEATURES)}


@dataclass(frozen=True)
class EvaluatorModel:
    """What is fitted and saved; it serves any corpus.

    Attributes:
        trees: log-odds of a text being support, on rows of ``FEATURES``.
    """

    trees: TreeArrays

    @property
    def fingerprint(self) -> str:
        """A hash of the ensemble."""
        arrays = self.trees.arrays("trees_")
        return content_hash("evaluator", *(f"{name}:{arrays[name].tobytes().hex()}" for name in sorted(arrays)))

    def scores(self, rows: NDArray[np.float32]) -> tuple[float, ...]:
        """Return 2 p - 1 for each row, in [-1, 1], where p is the probability of being support."""
        return tuple([tanh(odds / 2) for odds in self.trees.predict(rows).tolist()])

    def save(self, folder: Path, manifest: dict[str, Any] | None = None) -> None:
        """Write the model, without thresholds unless ``manifest`` has them; the same model gives the same bytes.

        Raises:
            DataError: if the folder cannot be written.
        """
        save_folder(folder, self.trees.arrays("trees_"), {"thresholds": None, **(manifest or {}), **_FIXED})

    @classmethod
    def load(cls, folder: Path) -> tuple[EvaluatorModel, Thresholds | None]:
        """Read what :meth:`save` wrote, and the thresholds that were stored with it.

        Raises:
            DataError: if a file is missing or damaged.
            ManifestMismatchError: if it is another evaluator, or was fitted to other features.
        """
        arrays, manifest = load_folder(folder, KIND)
        if unmet(manifest, _FIXED):
            raise ManifestMismatchError(f"{folder}: the evaluator was fitted to other features; fit it again")
        model = cls(TreeArrays.from_arrays(arrays, "trees_"))
        if model.trees.n_features != len(FEATURES):
            raise ManifestMismatchError(f"{folder}: the evaluator's arrays do not fit its features; fit it again")
        return model, thresholds_in(manifest, folder)


class EmbeddedEvaluator(Evaluator):
    """Applies a model to a corpus.

    Args:
        model: what was fitted.
        retriever: knows how rare the terms of the corpus are, and which passages are about a name.
        thresholds: what verdicts hang on; None where it was not calibrated.
    """

    def __init__(self, model: EvaluatorModel, retriever: Retriever, thresholds: Thresholds | None = None) -> None:
        self.model = model
        self.retriever = retriever
        self.thresholds = thresholds
        self.reader = Reader(retriever)

    def __reduce__(self) -> Any:
        """Send the model, not what was read with it, to another process."""
        return EmbeddedEvaluator, (self.model, self.retriever, self.thresholds)

    @property
    def fingerprint(self) -> str:
        """A hash of model, thresholds and corpus."""
        return content_hash(self.model.fingerprint, repr(tuple(self.thresholds or ())), self.retriever.fingerprint)

    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        """Return 2 p - 1 for each text, where p is the predicted probability that it is support."""
        read = [self.reader.read(task) for task in tasks]
        if not read:
            return []
        scores = self.model.scores(np.concatenate(read))
        ends = np.cumsum([len(rows) for rows in read]).tolist()
        return [scores[end - len(rows) : end] for rows, end in zip(read, ends)]
