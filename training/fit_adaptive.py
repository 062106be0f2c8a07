"""Fitting the question-complexity classifier of Adaptive-RAG on silver labels: which strategy did suffice?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..controllers.adaptive import (
    MULTI,
    NONE,
    SINGLE,
    STRATEGIES,
    AdaptiveRAGController,
    ComplexityClassifier,
    question_rows,
)
from ..data.answer_scores import token_f1
from ..data.errors import ConfigError
from ..data.records import Gold, Record, content_hash
from ..data.support_scores import support_recall
from ..data.trees import TreeArrays
from ..envs.features import FeatureMap
from ..envs.rollout import Episode, rollout

Scoring = Callable[[Gold, Episode], float]


def answer_score(gold: Gold, episode: Episode) -> float:
    """Return the F1 in [0, 1] of the episode's answer."""
    answer = episode.final.answer
    return token_f1(answer.text if answer else "", gold.references)


def support_score(gold: Gold, episode: Episode) -> float:
    """Return 1.0 if every supporting document is held in the end, else 0.0."""
    return float(support_recall(gold, episode.final.passages) == 1.0)


SUFFICES: dict[str, Scoring] = {"answer": answer_score, "support": support_score}


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """How to label and fit.

    Attributes:
        suffices: a name in ``SUFFICES``: "answer" (the paper's: the question is answered) or "support" (all support is
            held).
        trees: trees of each forest, at least 1.
        min_samples_leaf: questions in a leaf, at least 1.

    Raises:
        ConfigError: if a value is out of range.
    """

    suffices: str = "answer"
    trees: int = 100
    min_samples_leaf: int = 20

    def __post_init__(self) -> None:
        if self.suffices not in SUFFICES:
            raise ConfigError(f"unknown suffices {self.suffices!r}; there are: {', '.join(SUFFICES)}")
        if self.trees < 1 or self.min_samples_leaf < 1:
            raise ConfigError(
                f"trees and min_samples_leaf must be at least 1, found {self.trees}, {self.min_samples_leaf}"
            )


def fit_adaptive(
    records: Sequence[Record],
    rules: Rules,
    engine_of: Callable[[Record], Engine],
    seed: int = 13,
    settings: AdaptiveSettings | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> AdaptiveRAGController:
    """Run the strategies on train questions, label each question with the simplest that suffices, and fit.

    Args:
        records: the train questions, each with gold.
        rules: operations and caps; ``stop_answer`` not disabled, else no strategy would differ in its end.
        engine_of: the engine for a question; its fitted models must not have seen that question.
        seed: seed of the forests.
        settings: see :class:`AdaptiveSettings`.
        manifest: what else to note in the controller's manifest.

    Raises:
        ConfigError: if there are no questions, one has no gold, or the rules disable or lack an operation that the
            strategies need.
    """
    chosen = settings or AdaptiveSettings()
    names = rules.operations.names
    if disabled := sorted(rules.operations.disabled & {"stop_answer", "retrieve_more", "rewrite_query"}):
        raise ConfigError(f"the strategies need {', '.join(disabled)}, which the rules disable; fit on free rules")
    labels = silver_labels(records, rules, engine_of, chosen.suffices)
    features = FeatureMap(names)
    matrix = features.matrix([rules.start(record.question) for record in records])
    rows = question_rows({name: matrix[:, column] for column, name in enumerate(features.names)})
    counts = Counter(labels.tolist())
    noted = {
        **(manifest or {}),
        "fit": {**asdict(chosen), "seed": seed},
        "labels": {name: counts[place] for place, name in enumerate(STRATEGIES)},
        "questions": content_hash(*sorted(record.uid for record in records)),
    }
    return AdaptiveRAGController(_classifier(rows, labels, chosen, seed), features.names, names, noted)


def silver_labels(
    records: Sequence[Record], rules: Rules, engine_of: Callable[[Record], Engine], suffices: str = "answer"
) -> NDArray[np.int64]:
    """Return (records,) int64: the place in ``STRATEGIES`` of the simplest strategy that suffices for each question.

    A strategy suffices if it scores above 0 and no strategy scores higher. Where none scores, the label is "multi": the
    paper falls back on what the data set is known to need, and these are multi-hop. "None" is a label only where the
    rules let an episode stop without evidence.

    Raises:
        ConfigError: if there are no questions, or one has no gold.
    """
    if not records:
        raise ConfigError("cannot label no questions; give train questions")
    golds = [_gold(record) for record in records]
    strategies = (NONE, SINGLE, MULTI) if _may_stop_at_once(records[0], rules) else (SINGLE, MULTI)
    scores = np.zeros((len(records), len(STRATEGIES)))
    for strategy in strategies:
        episodes = _episodes(records, rules, engine_of, strategy)
        scores[:, strategy] = [SUFFICES[suffices](gold, episode) for gold, episode in zip(golds, episodes)]
    best = scores.max(axis=1)
    return np.where(best > 0, (scores == best[:, None]).argmax(axis=1), MULTI).astype(np.int64)


def _gold(record: Record) -> Gold:
    if record.gold is None:
        raise ConfigError(f"question {record.id} has no gold, which its label needs")
    return record.gold


def _may_stop_at_once(record: Record, rules: Rules) -> bool:
    return bool(rules.mask(rules.start(record.question))[rules.operations.stop])


def _episodes(
    records: Sequence[Record], rules: Rules, engine_of: Callable[[Record], Engine], strategy: int
) -> list[Episode]:
    """Run one strategy on every question, with the question's own engine."""
    features = FeatureMap(rules.operations.names)
    policy = AdaptiveRAGController(ComplexityClassifier.always(strategy), features.names, rules.operations.names)
    engines = [engine_of(record) for record in records]
    found: dict[int, Episode] = {}
    for engine in {id(engine): engine for engine in engines}.values():
        own = [place for place, other in enumerate(engines) if other is engine]
        found.update(zip(own, rollout([records[i].question for i in own], rules, engine, policy, features)))
    return [found[place] for place in range(len(records))]


def _classifier(
    rows: NDArray[np.float32], labels: NDArray[np.int64], settings: AdaptiveSettings, seed: int
) -> ComplexityClassifier:
    """Fit one forest a strategy; its mean over 0/1 targets is the share of the class, as a classifying forest's is."""
    forests = [
        RandomForestRegressor(
            n_estimators=settings.trees,
            min_samples_leaf=settings.min_samples_leaf,
            random_state=seed,
            n_jobs=1,
        ).fit(rows, (labels == place).astype(np.float64))
        for place in range(len(STRATEGIES))
    ]
    return ComplexityClassifier([TreeArrays.from_forest(forest) for forest in forests])
