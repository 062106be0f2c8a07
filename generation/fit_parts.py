"""Fitting the parts of the extractive generator, with outputs for questions that a part has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.answer_scores import normalise_answer
from ..data.trees import TreeArrays
from .answering import MAX_SENTENCES, best_span
from .comparison import CHOICE_FEATURES, YES_NO_FEATURES, choice_features, sides_of, yes_no_features
from .cross import ChoiceSet, cross_scores, fit_cross
from .evidence import SENTENCE_FEATURES
from .features import ANSWER_FEATURES, Candidates
from .items import INNER_FOLDS, Item, answer_labels
from .learners import BAGS, Rows, Scores, averaged, boosted, joined, logistic, sample
from .model import half
from .question import CHOICE, YES_NO

_SNIPPETS = 10


def fit_sentence(items: Sequence[Item], seed: int) -> tuple[TreeArrays, list[TreeArrays], Scores]:
    """Return the sentence model, those fitted without each inner fold, and each item's log-odds by the latter."""

    models = [_sentence_model(items, seed, fold) for fold in range(INNER_FOLDS)]
    return _sentence_model(items, seed, -1), models, [models[i.fold].predict(i.evidence.features) for i in items]


def _sentence_model(items: Sequence[Item], seed: int, but: int) -> TreeArrays:
    taught = [i for i in items if i.teaches and i.fold != but]
    rows = joined([i.evidence.features for i in taught], len(SENTENCE_FEATURES))
    labels = np.concatenate([i.supports for i in taught]) if taught else np.zeros(0, bool)
    return boosted(rows, labels, seed, max_iter=80)


def compressed(items: Sequence[Item], scores: Scores, models: Sequence[TreeArrays]) -> tuple[list[Item], Scores]:
    """Return teaching items cut to their best sentences, as compression leaves them, and their log-odds."""
    cut, values = [], []
    for item, own in zip(items, scores):
        if item.teaches and len(item.evidence.rows) > _SNIPPETS:
            one = item.cut(own, _SNIPPETS)
            cut.append(one)
            values.append(models[one.fold].predict(one.evidence.features))
    return cut, values


def support_threshold(items: Sequence[Item], scores: Scores) -> float:
    """Return the probability above which sentences are named as support: the best mean F1 over teaching items."""
    grid = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6])
    totals = np.zeros(len(grid))
    for item, values in zip(items, scores):
        if item.teaches and item.supports.any():
            chosen = (1 / (1 + np.exp(-values)))[None] >= grid[:, None]
            hits = (chosen & item.supports[None]).sum(axis=1)
            totals += 2 * hits / (chosen.sum(axis=1) + item.supports.sum())
    return float(grid[int(np.argmax(totals))])


class SpanSet:
    """The candidates of the items that teach spans."""

    def __init__(self, items: Sequence[Item], scores: Scores) -> None:
        self.items = [i for i, item in enumerate(items) if _teaches_span(item)]
        self.folds = np.array([items[i].fold for i in self.items], np.int64)
        self.found = [Candidates(items[i].evidence, scores[i], MAX_SENTENCES) for i in self.items]
        self.golds = [items[i].example.gold for i in self.items]
        self.f1 = [answer_labels(gold, c.norms) for gold, c in zip(self.golds, self.found)]
        self.right = [_right(f1) for f1 in self.f1]
        self.sets = [self._set(j) for j in range(len(self.items))]

    def _set(self, j: int) -> ChoiceSet | None:
        found, weights = self.found[j], self.f1[j] * self.right[j]
        if weights.sum() == 0:
            return None
        offset = 0.5 * found.sentence_scores[found.row]
        return ChoiceSet(found.evidence.question.cues, found.cues, weights / weights.sum(), offset)

    def table(self, seed: int, but: int = -1) -> NDArray[np.float32]:
        """Fit associations on all folds but one."""
        return half(fit_cross([s for s, f in zip(self.sets, self.folds) if s is not None and f != but], seed))

    def cross(self, tables: Sequence[NDArray[np.float32]]) -> Scores:
        """Return association scores of each set by the table of its fold."""
        return [cross_scores(tables[f], c.evidence.question.cues, c.cues) for f, c in zip(self.folds, self.found)]


def _teaches_span(item: Item) -> bool:
    return item.teaches and item.evidence.question.form not in (YES_NO, CHOICE) and bool(item.example.gold.answers)


def _right(f1: NDArray[np.float64]) -> NDArray[np.bool_]:
    return f1 >= max(0.6, float(f1.max()) - 1e-9) if len(f1) else np.zeros(0, bool)


def fit_span(
    items: Sequence[Item], scores: Scores, seed: int
) -> tuple[NDArray[np.float32], TreeArrays, NDArray[np.float64]]:
    """Return associations, span model, and calibration (see ``Model``)."""
    spans = SpanSet(items, scores)
    tables = [spans.table(seed, fold) for fold in range(INNER_FOLDS)]
    cross = spans.cross(tables)
    features = [c.features(x) for c, x in zip(spans.found, cross)]
    models = [_span_model(spans, features, cross, seed, fold) for fold in range(INNER_FOLDS)]
    calibration = _calibration(spans, features, models)
    return spans.table(seed), _span_model(spans, features, cross, seed, -1), calibration


def _span_model(spans: SpanSet, features: Sequence[Rows], cross: Scores, seed: int, but: int) -> TreeArrays:
    """Average a few models that differ in the wrong candidates and in the features each split may use.

    Without a fold there is one: it only serves calibration.
    """
    bags = BAGS if but < 0 else 1
    return averaged([_one_span_model(spans, features, cross, seed + bag, but) for bag in range(bags)])


def _one_span_model(spans: SpanSet, features: Sequence[Rows], cross: Scores, seed: int, but: int) -> TreeArrays:
    random = np.random.default_rng(seed)
    rows, labels = [], []
    for j, fold in enumerate(spans.folds):
        if fold != but and len(features[j]):
            chosen = sample(spans.right[j], cross[j], random)
            rows.append(features[j][chosen])
            labels.append(spans.right[j][chosen])
    right = np.concatenate(labels) if labels else np.zeros(0, bool)
    settings: dict[str, Any] = {"max_iter": 130, "min_samples_leaf": 12, "max_features": 0.3}
    return boosted(joined(rows, len(ANSWER_FEATURES)), right, seed, **settings)


def _calibration(spans: SpanSet, features: Sequence[Rows], models: Sequence[TreeArrays]) -> NDArray[np.float64]:
    """Fit the log-odds that the answer is right on out-of-fold choices."""
    rows, labels = [], []
    for j, found in enumerate(spans.found):
        if len(found):
            best = best_span(found, models[spans.folds[j]].predict(features[j]))
            rows.append([best.score, best.lead])
            labels.append(float(answer_labels(spans.golds[j], [normalise_answer(best.text)])[0]) >= 0.5)
    return logistic(np.array(rows).reshape(len(rows), 2), np.array(labels, bool), intercept=True)


def fit_choice(items: Sequence[Item], scores: Scores) -> NDArray[np.float64]:
    """Fit the weights by which one of two sides is chosen; every example counts in both orders."""
    rows, labels = [], []
    for item, values in zip(items, scores):
        sides = sides_of(item.evidence) if item.teaches and item.evidence.question.form == CHOICE else None
        if sides is not None:
            first, second = answer_labels(item.example.gold, [normalise_answer(s.name) for s in sides])
            if first != second:
                row = choice_features(item.evidence, sides, values)
                rows += [row, -row]
                labels += [first > second, first < second]
    return logistic(np.array(rows).reshape(len(rows), len(CHOICE_FEATURES)), np.array(labels, bool), intercept=False)


def fit_yes_no(items: Sequence[Item]) -> NDArray[np.float64]:
    """Fit the weights of "yes"."""
    rows, labels = [], []
    for item in items:
        answers = {normalise_answer(a) for a in item.example.gold.answers}
        if item.teaches and item.evidence.question.form == YES_NO and answers & {"yes", "no"}:
            rows.append(yes_no_features(item.evidence))
            labels.append("yes" in answers)
    return logistic(np.array(rows).reshape(len(rows), len(YES_NO_FEATURES)), np.array(labels, bool), intercept=True)
