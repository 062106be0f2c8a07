"""Fitting the extractive generator, on everything and by folds of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import DataError
from ..data.splits import fold_of
from ..data.storage import read_manifest, to_json, write_text
from .examples import Example, training_examples
from .extractive import ExtractiveGenerator
from .fit_gaps import fit_gap
from .fit_parts import (
    compressed,
    fit_choice,
    fit_sentence,
    fit_span,
    fit_yes_no,
    support_threshold,
)
from .gaps import Gaps
from .items import Item, idf_table, prepare
from .judge_features import JUDGE_FEATURES, judge_features
from .learners import boosted
from .model import Model, probability

__all__ = ["CrossFitted", "Example", "cross_fit", "fit", "training_examples"]

_CROSS_KIND = "cross-fitted extractive generator"


def fit(examples: Sequence[Example], seed: int) -> ExtractiveGenerator:
    """Fit a generator; the same examples and seed give the same arrays.

    Args:
        examples: bodies of evidence with gold, see ``training_examples``.
        seed: of boosting, sampling and inner folds.

    Raises:
        DataError: if there are no examples.
    """
    return _fit_items(_prepared(examples, seed), seed)


def _prepared(examples: Sequence[Example], seed: int) -> list[Item]:
    kept = [e for e in examples if e.passages]
    if not kept:
        raise DataError("fitting a generator needs at least one training example with passages, found none")
    return prepare(kept, idf_table(kept), seed)


def _fit_items(items: Sequence[Item], seed: int) -> ExtractiveGenerator:
    sentence, fold_sentences, scores = fit_sentence(items, seed)
    cut, cut_scores = compressed(items, scores, fold_sentences)
    span_table, span, calibration = fit_span([*items, *cut], [*scores, *cut_scores], seed)
    gaps = [Gaps(item.evidence, values) for item, values in zip(items, scores)]
    gap_table, gap, gap_scores = fit_gap(items, gaps, seed)
    rows = np.stack([judge_features(i.evidence, s, g, v) for i, s, g, v in zip(items, scores, gaps, gap_scores)])
    judge, threshold = _fit_judge(items, rows, seed)
    model = Model(
        idf=items[0].evidence.idf,
        span_table=span_table,
        gap_table=gap_table,
        sentence=sentence,
        span=span,
        gap=gap,
        judge=judge,
        choice=fit_choice(items, scores),
        yes_no=fit_yes_no(items),
        calibration=calibration,
        thresholds=np.array([support_threshold(items, scores), threshold]),
    )
    return ExtractiveGenerator(model)


def _fit_judge(items: Sequence[Item], rows: NDArray[np.float32], seed: int) -> tuple[Any, float]:
    """Return the judge and the threshold of best balanced accuracy out of fold."""
    labels = np.array([i.sufficient for i in items], bool)
    folds = np.array([i.fold for i in items])
    likely = np.zeros(len(items))
    for fold in np.unique(folds):
        model = _judge(rows[folds != fold], labels[folds != fold], seed)
        likely[folds == fold] = probability(model.predict(rows[folds == fold]))
    return _judge(rows, labels, seed), balanced_threshold(likely, labels)


def _judge(rows: NDArray[np.float32], labels: NDArray[np.bool_], seed: int) -> Any:
    width = rows.reshape(len(rows), len(JUDGE_FEATURES))
    return boosted(
        width, labels, seed, rows_per_tree=10, max_iter=100, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=20
    )


def balanced_threshold(likely: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the threshold in {0.05, ..., 0.95} of best mean of both classes' accuracies; 0.5 with one class only."""
    if labels.all() or not labels.any():
        return 0.5
    grid = np.round(np.arange(0.05, 0.96, 0.05), 2)
    accuracy = [((likely >= t)[labels].mean() + (likely < t)[~labels].mean()) for t in grid]
    return float(grid[int(np.argmax(accuracy))])


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """A generator fitted on everything, and for each fold of questions one that has not seen them.

    Attributes:
        full: serves at inference.
        folds: ``folds[i]`` was fitted without the questions of fold i.
        seed: of the division into folds.
    """

    full: ExtractiveGenerator
    folds: tuple[ExtractiveGenerator, ...]
    seed: int

    def for_record(self, record_id: str) -> ExtractiveGenerator:
        """Return the generator that has not seen this question; it serves for questions of no fold as well."""
        return self.folds[fold_of(record_id, len(self.folds), self.seed)]

    def save(self, folder: str | Path) -> None:
        """Write ``full``, ``fold-0`` ... and a manifest.

        Raises:
            DataError: if the folder cannot be written.
        """
        place = Path(folder)
        self.full.save(place / "full")
        for i, generator in enumerate(self.folds):
            generator.save(place / f"fold-{i}")
        write_text(place / "manifest.json", to_json({"kind": _CROSS_KIND, "folds": len(self.folds), "seed": self.seed}))

    @classmethod
    def load(cls, folder: str | Path) -> CrossFitted:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: if a file is missing or damaged.
            ManifestMismatchError: if the folder holds something else.
        """
        place = Path(folder)
        manifest = read_manifest(place, _CROSS_KIND)
        folds = tuple(ExtractiveGenerator.load(place / f"fold-{i}") for i in range(int(manifest["folds"])))
        return cls(ExtractiveGenerator.load(place / "full"), folds, int(manifest["seed"]))


def cross_fit(examples: Sequence[Example], n_folds: int = 5, seed: int = 0) -> CrossFitted:
    """Fit on everything, and once without each fold of questions (by ``gold.id``).

    The table of idf comes from the passages of all examples: it holds no gold.

    Raises:
        DataError: if there are no examples.
        ConfigError: if ``n_folds`` is below 1.
    """
    items = _prepared(examples, seed)
    numbers = [fold_of(i.example.gold.id, n_folds, seed) for i in items]
    full = _fit_items(items, seed)
    folds = []
    for fold in range(n_folds):
        others = [i for i, n in zip(items, numbers) if n != fold]
        folds.append(_fit_items(others, seed) if others else full)
    return CrossFitted(full, tuple(folds), seed)
