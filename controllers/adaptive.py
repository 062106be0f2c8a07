"""Adaptive-RAG-style schedule: a classifier of the question picks no retrieval, one, or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.records import content_hash
from ..data.trees import TreeArrays
from .schedules import Columns, Schedule, Wish

NONE, SINGLE, MULTI = range(3)
STRATEGIES = ("none", "single", "multi")
QUESTION_FEATURES = (
    "question_words",
    "question_content_words",
    "question_names",
    "asks_who",
    "asks_when",
    "asks_where",
    "asks_how_many",
    "asks_yes_no",
    "asks_what",
    "compares",
    "question_links",
)


class ComplexityClassifier:
    """Predicts how complex a question is from its shape alone.

    Args:
        shares: for each of ``STRATEGIES`` an ensemble that predicts the share of its class from the features in
            ``QUESTION_FEATURES``; a random forest on 0/1 targets predicts a probability.

    Raises:
        ManifestMismatchError: if there is not one ensemble a strategy, or one reads other rows.
    """

    def __init__(self, shares: Sequence[TreeArrays]) -> None:
        self.shares = tuple(shares)
        widths = [trees.n_features for trees in self.shares]
        if widths != [len(QUESTION_FEATURES)] * len(STRATEGIES):
            raise ManifestMismatchError(
                f"expected {len(STRATEGIES)} ensembles that read {len(QUESTION_FEATURES)} question features, "
                f"found {widths}; fit the classifier again"
            )

    def strategies(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return (batch,) int64 places in ``STRATEGIES``; ties go to the simpler one.

        Args:
            rows: (batch, question features) float32.
        """
        shares = np.stack([trees.predict(rows) for trees in self.shares], axis=1)
        simplest: NDArray[np.int64] = shares.argmax(axis=1).astype(np.int64)
        return simplest

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        parts = (trees.arrays(f"{name}_") for name, trees in zip(STRATEGIES, self.shares))
        return {name: array for part in parts for name, array in part.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ComplexityClassifier:
        """Rebuild the classifier from saved arrays.

        Raises:
            ManifestMismatchError: if an array is missing or damaged.
        """
        return cls([TreeArrays.from_arrays(arrays, f"{name}_") for name in STRATEGIES])

    @classmethod
    def always(cls, strategy: int) -> ComplexityClassifier:
        """Return the classifier that predicts one strategy for every question."""
        return cls([_leaf(float(place == strategy)) for place in range(len(STRATEGIES))])


class AdaptiveRAGController(Schedule):
    """Stops at once, retrieves once, or runs the schedule of IRCoT, as a trained classifier of the question says.

    After *Adaptive-RAG: Learning to Adapt Retrieval-Augmented Large Language Models through Question Complexity*
    (arXiv 2403.14403). Kept: three strategies of rising cost; one is chosen before anything is retrieved and never
    revised; the classifier is trained on silver labels: the simplest strategy that answers the question. Simplified:

    1. The classifier is a random forest on the features of the question's shape, where the original fine-tunes T5.
    2. "None" needs ``stop_answer`` to be valid before there is evidence (``closed_book``); elsewhere it is answered as
       "single".
    3. "Multi" is :class:`.ircot.IRCoTController`, as in the original, with that schedule's simplifications.
    4. "Single" is one retrieval of the task's documents (3 by default).

    Args:
        classifier: predicts the strategy.
        feature_names: names of the features.
        operations: names of the operation set.
        manifest: what else is known of the controller; saved with it.

    Raises:
        ConfigError: if a feature or an operation is missing.
    """

    needs = ("rewrite_query",)
    reads = ("documents", *QUESTION_FEATURES)

    def __init__(
        self,
        classifier: ComplexityClassifier,
        feature_names: Sequence[str],
        operations: Sequence[str],
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(feature_names, operations)
        self.classifier = classifier
        self.manifest = dict(manifest or {})

    @property
    def fingerprint(self) -> str:
        """A hash of everything that can change a decision."""
        arrays = self.classifier.arrays()
        content = [f"{name}:{arrays[name].tobytes().hex()}" for name in sorted(arrays)]
        return content_hash(*self.feature_names, *self.operations, *content)

    def wishes(self, features: Columns) -> list[Wish]:
        """Want what the question's strategy wants."""
        strategy = self.classifier.strategies(question_rows(features))
        return [
            Wish("stop_answer", strategy == NONE),
            Wish("retrieve_more", features["documents"] == 0),
            Wish("rewrite_query", strategy == MULTI),
        ]


def question_rows(features: Columns) -> NDArray[np.float32]:
    """Return (batch, question features) float32: what the classifier reads."""
    return np.stack([features[name] for name in QUESTION_FEATURES], axis=1)


def _leaf(value: float) -> TreeArrays:
    """Return one tree of one leaf."""
    leaf = np.array([-1], np.int32), np.zeros(1, np.int32), np.array([value], np.float64)
    return TreeArrays(*leaf, np.zeros(1, np.int32), 0.0, 1.0, len(QUESTION_FEATURES))
