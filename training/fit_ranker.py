"""Fitting a ranker: episodes under the ranker so far, rows from what they met, a new ranker; by folds of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Record
from ..data.splits import fold_of
from ..data.trees import TreeArrays
from ..generation.base import Generator
from ..generation.learners import averaged, boosted
from ..ranking.fitted import FittedRanker, RankerModel
from ..ranking.lexical import LexicalRanker
from ..retrieval.base import Retriever
from .ranker_rows import RankerRows, RecordingRanker, explore, labelled


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How to fit a ranker.

    Attributes:
        rounds: rounds of episodes, at least 1; the first follows fixed weights, each further one the ranker so far.
        folds: folds of questions, at least 2; a question's rows never come from a ranker that has seen it.
        stray: share of rankings in the episodes that are strayed from, in [0, 1].
        bags: ensembles that are averaged, at least 1.
        trees: boosting rounds of each.
        batch: questions that advance together; it changes no row.

    Raises:
        ConfigError: if a number is out of range.
    """

    rounds: int = 2
    folds: int = 5
    stray: float = 0.3
    bags: int = 1
    trees: int = 150
    batch: int = 32

    def __post_init__(self) -> None:
        require_least(self, "ranker_fit", rounds=1, folds=2, bags=1, trees=1, batch=1)
        if not 0 <= self.stray <= 1:
            raise ConfigError(f"ranker_fit.stray must be in [0, 1], found {self.stray}")


@dataclass(frozen=True)
class CrossFittedRanker:
    """Rankers fitted by folds of questions.

    Attributes:
        full: fitted to all questions; serves at inference.
        folds: the model of each fold, fitted to the others.
        seed: of the folds.
    """

    full: RankerModel
    folds: tuple[RankerModel, ...]
    seed: int

    def for_record(self, record_id: str) -> RankerModel:
        """Return the model that has not seen a question."""
        return self.folds[fold_of(record_id, len(self.folds), self.seed)]


@dataclass(frozen=True)
class Curriculum:
    """Questions to learn from, with their corpus.

    Attributes:
        records: the questions, each with gold.
        rules: caps and operations; the operations must be ranked.
        retriever: the corpus.
        generator: only named by engines; it is never asked.
    """

    records: Sequence[Record]
    rules: Rules
    retriever: Retriever
    generator: Generator


def cross_fit_ranker(
    courses: Sequence[Curriculum],
    settings: RankerSettings,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> CrossFittedRanker:
    """Fit rankers to the questions of one data set, or of several.

    Raises:
        ConfigError: if all questions fall into one fold, so that nothing is left to fit its model to, or the courses'
            retrievers have different encoders.
    """
    filled = {fold_of(record.id, settings.folds, seed) for course in courses for record in course.records}
    if len(filled) < 2:
        raise ConfigError(
            f"a ranker is fitted by folds of questions: expected questions in at least two of {settings.folds} folds, "
            f"found them in {len(filled)}; train on more questions"
        )
    rows: list[list[RankerRows]] = [[] for _ in range(settings.folds)]
    encoder = _encoder(courses)
    models: list[RankerModel] | None = None
    for round_ in range(settings.rounds):
        for course in courses:
            for fold in range(settings.folds):
                own = [r for r in course.records if fold_of(r.id, settings.folds, seed) == fold]
                ranker = _ranker(course, models, fold)
                rows[fold] += _rows(course, own, ranker, settings, seed * 1009 + round_)
                if progress:
                    progress(f"ranker, round {round_ + 1}", fold + 1, settings.folds)
        lighter = _lighter(settings, round_)
        models = [_without(rows, fold, lighter, seed, encoder) for fold in range(settings.folds)]
    full = _fitted([r for fold in rows for r in fold], settings, seed, encoder)
    return CrossFittedRanker(full, tuple(models or ()), seed)


def _encoder(courses: Sequence[Curriculum]) -> str:
    """Return the fingerprint of the encoder that all courses share, empty without one."""
    encoders = {course.retriever.encoder for course in courses}
    if len(encoders) != 1:
        raise ConfigError("a ranker is fitted with one encoder or none, found corpora with different ones")
    return encoders.pop()


def _ranker(course: Curriculum, models: Sequence[RankerModel] | None, fold: int) -> FittedRanker | LexicalRanker:
    return LexicalRanker(course.retriever) if models is None else FittedRanker(models[fold], course.retriever)


def _lighter(settings: RankerSettings, round_: int) -> RankerSettings:
    """Return the settings of a round: only the last one's models are kept, so the others may be rougher."""
    return settings if round_ == settings.rounds - 1 else replace(settings, bags=1, trees=min(settings.trees, 80))


def _without(
    rows: Sequence[Sequence[RankerRows]], fold: int, settings: RankerSettings, seed: int, encoder: str
) -> RankerModel:
    return _fitted([own for other, group in enumerate(rows) if other != fold for own in group], settings, seed, encoder)


def _rows(
    course: Curriculum,
    records: Sequence[Record],
    ranker: FittedRanker | LexicalRanker,
    settings: RankerSettings,
    seed: int,
) -> list[RankerRows]:
    made: list[RankerRows] = []
    for first in range(0, len(records), settings.batch):
        group = records[first : first + settings.batch]
        recording = RecordingRanker(ranker, settings.stray, seed)
        explore(group, course.rules, Engine(course.retriever, course.generator, 0, recording), seed)
        for record in group:
            asked = [pair for pair in recording.asked if pair[0].pool == record.question.key]
            made.append(labelled(record, asked, ranker.reader, course.retriever, seed))
    return made


def _fitted(rows: Sequence[RankerRows], settings: RankerSettings, seed: int, encoder: str) -> RankerModel:
    passages, support, searches, finds = (np.concatenate(column) for column in zip(*rows))
    return RankerModel(_bagged(passages, support, settings, seed), _bagged(searches, finds, settings, seed), encoder)


def _bagged(rows: NDArray[np.float32], labels: NDArray[np.bool_], settings: RankerSettings, seed: int) -> TreeArrays:
    options: dict[str, Any] = {
        "max_iter": settings.trees,
        "max_leaf_nodes": 24,
        "min_samples_leaf": 25,
        "l2_regularization": 2.0,
        "max_features": 0.4,
    }
    return averaged([boosted(rows, labels, seed + bag, **options) for bag in range(settings.bags)])
