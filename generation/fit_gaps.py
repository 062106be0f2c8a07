"""Fitting the ranking of what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.trees import TreeArrays
from .cross import ChoiceSet, cross_scores, fit_cross
from .gaps import GAP_FEATURES, Gaps
from .items import INNER_FOLDS, Item, gap_labels
from .learners import BAGS, Rows, Scores, averaged, boosted, joined, sample
from .model import half

_CROSS = GAP_FEATURES.index("cross")


class GapSet:
    """The names of every item, and how well each fits what is missing."""

    def __init__(self, items: Sequence[Item], gaps: Sequence[Gaps], seed: int) -> None:
        self.items, self.seed = items, seed
        self.labels = [gap_labels(item.example, g) for item, g in zip(items, gaps)]
        self.sets = [self._set(item, g, y) for item, g, y in zip(items, gaps, self.labels)]
        tables = [self.table(fold) for fold in range(INNER_FOLDS)]
        cross = [cross_scores(tables[i.fold], s.question_cues, s.cues) for i, s in zip(items, self.sets)]
        self.features: list[Rows] = [g.features(x) for g, x in zip(gaps, cross)]

    @staticmethod
    def _set(item: Item, gaps: Gaps, labels: NDArray[np.float64]) -> ChoiceSet:
        target = labels / max(float(labels.sum()), 1e-9)
        return ChoiceSet(item.evidence.question.cues, gaps.cues(), target, np.zeros(len(labels)))

    def table(self, but: int = -1) -> NDArray[np.float32]:
        """Fit associations on all inner folds but one, from items where a name leads further."""
        taught = [s for s, i in zip(self.sets, self.items) if i.fold != but and s.target.any()]
        return half(fit_cross(taught, self.seed))

    def model(self, but: int = -1) -> TreeArrays:
        """Fit the ranking on all inner folds but one: the average of a few models, as for answers."""
        return averaged([self._one_model(but, self.seed + bag) for bag in range(BAGS)])

    def _one_model(self, but: int, seed: int) -> TreeArrays:
        random = np.random.default_rng(seed)
        rows, labels = [], []
        for item, values, fit in zip(self.items, self.features, self.labels):
            if item.fold != but and item.lacks_among_others and len(values):
                chosen = sample(fit >= 0.5, values[:, _CROSS].astype(np.float64), random)
                rows.append(values[chosen])
                labels.append(fit[chosen] >= 0.5)
        right = np.concatenate(labels) if labels else np.zeros(0, bool)
        settings: dict[str, Any] = {"max_iter": 120, "min_samples_leaf": 30, "max_features": 0.3}
        return boosted(joined(rows, len(GAP_FEATURES)), right, seed, **settings)


def fit_gap(items: Sequence[Item], gaps: Sequence[Gaps], seed: int) -> tuple[NDArray[np.float32], TreeArrays, Scores]:
    """Return associations, gap model, and out-of-fold log-odds of every name of every item."""
    names = GapSet(items, gaps, seed)
    models = [names.model(fold) for fold in range(INNER_FOLDS)]
    scores = [models[i.fold].predict(x) for i, x in zip(items, names.features)]
    return names.table(), names.model(), scores
