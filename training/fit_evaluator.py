"""Fitting the embedded evaluator and its thresholds, by folds of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..confidence.calibration import Calibration, calibrate
from ..confidence.calibration_settings import CalibrationSettings
from ..confidence.embedded import EvaluatorModel
from ..confidence.features import Reader
from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Record
from ..data.splits import fold_of
from ..data.trees import TreeArrays
from ..generation.learners import averaged, boosted
from ..retrieval.base import Retriever
from .evaluator_rows import EvaluatorRows, evaluator_rows

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class EvaluatorSettings:
    """How to fit an embedded evaluator.

    Attributes:
        folds: folds of questions, at least 3: thresholds of a fold's model come from models that saw neither that
            fold nor the question scored.
        bags: ensembles that are averaged, at least 1.
        trees: boosting rounds of each.
        calibration: how the thresholds are fitted; its depths are those of the evidence to learn from, too.

    Raises:
        ConfigError: if a number is out of range.
    """

    folds: int = 5
    bags: int = 1
    trees: int = 80
    calibration: CalibrationSettings = field(default=CalibrationSettings())

    def __post_init__(self) -> None:
        require_least(self, "evaluator_fit", folds=3, bags=1, trees=1)


class Fitted(NamedTuple):
    """A model with its thresholds, which were fitted to what models that had not seen a question gave it."""

    model: EvaluatorModel
    calibration: Calibration


@dataclass(frozen=True)
class CrossFittedEvaluator:
    """Evaluators fitted by folds of questions.

    Attributes:
        full: fitted to all questions; serves at inference.
        folds: the one of each fold; neither model nor thresholds saw a question of it.
        seed: of the folds.
    """

    full: Fitted
    folds: tuple[Fitted, ...]
    seed: int

    def for_record(self, record_id: str) -> Fitted:
        """Return the evaluator that has not seen a question."""
        return self.folds[fold_of(record_id, len(self.folds), self.seed)]


def cross_fit_evaluator(
    records: Sequence[Record],
    retriever: Retriever,
    settings: EvaluatorSettings,
    seed: int,
    progress: Progress | None = None,
) -> CrossFittedEvaluator:
    """Fit evaluators to questions with gold.

    Raises:
        ConfigError: if the questions fall into fewer than three folds, one has no gold, or none annotated support.
    """
    filled = {fold_of(record.id, settings.folds, seed) for record in records}
    if len(filled) < 3:
        raise ConfigError(
            f"an evaluator is fitted by folds of questions: expected questions in at least three of {settings.folds} "
            f"folds, found them in {len(filled)}; train on more questions"
        )
    reader = Reader(retriever)
    rows: list[EvaluatorRows] = []
    for record in records:
        rows.append(evaluator_rows(record, reader, retriever, settings.calibration.depths))
        if progress:
            progress("evaluator, rows", len(rows), len(records))
    folds = Folds(rows, settings, seed, progress)
    return CrossFittedEvaluator(folds.fitted(), tuple([folds.fitted(fold) for fold in range(settings.folds)]), seed)


class Folds:
    """Rows by folds of questions, and the models that are fitted to some of them, each once.

    Args:
        rows: the rows of each question.
        settings: how to fit.
        seed: of folds and models.
        progress: called as models are fitted.
    """

    def __init__(
        self, rows: Sequence[EvaluatorRows], settings: EvaluatorSettings, seed: int, progress: Progress | None = None
    ) -> None:
        self._settings = settings
        self._seed = seed
        self._progress = progress
        self._folds: list[list[EvaluatorRows]] = [[] for _ in range(settings.folds)]
        for own in rows:
            self._folds[fold_of(own.id, settings.folds, seed)].append(own)
        self._models: dict[frozenset[int], EvaluatorModel] = {}

    def fitted(self, *without: int) -> Fitted:
        """Return the model fitted to all folds but some, with thresholds that never saw those either.

        Each of the other folds is scored by the model that was fitted without it as well.
        """
        judged = [
            evidence.judged._replace(scores=self._model(*without, fold).scores(evidence.rows))
            for fold in self._others(*without)
            for own in self._folds[fold]
            for evidence in own.evidence
        ]
        return Fitted(self._model(*without), calibrate(judged, self._settings.calibration, self._seed))

    def _model(self, *without: int) -> EvaluatorModel:
        key = frozenset(without)
        if key not in self._models:
            rows = [own for fold in self._others(*without) for own in self._folds[fold]]
            self._models[key] = _model(rows, self._settings, self._seed)
            if self._progress:
                count = self._settings.folds
                self._progress("evaluator, models", len(self._models), 1 + count + count * (count - 1) // 2)
        return self._models[key]

    def _others(self, *without: int) -> list[int]:
        return [fold for fold in range(len(self._folds)) if fold not in without]


def _model(rows: Sequence[EvaluatorRows], settings: EvaluatorSettings, seed: int) -> EvaluatorModel:
    together, support = np.concatenate([own.rows for own in rows]), np.concatenate([own.support for own in rows])
    return EvaluatorModel(fit_trees(together, support, settings, seed))


def fit_trees(
    rows: NDArray[np.float32], support: NDArray[np.bool_], settings: EvaluatorSettings, seed: int
) -> TreeArrays:
    """Fit the ensemble to labelled rows.

    Args:
        rows: (n, any features) float32.
        support: (n,) bool.
        settings: number of ensembles and of trees.
        seed: of the first ensemble; the next ones count on from it.
    """
    options: dict[str, Any] = {
        "max_iter": settings.trees,
        "learning_rate": 0.1,
        "min_samples_leaf": 25,
        "l2_regularization": 2.0,
        "max_features": 0.4,
    }
    return averaged([boosted(rows, support, seed + bag, **options) for bag in range(settings.bags)])
