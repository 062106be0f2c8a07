"""How far a prediction agrees with a reference: exact match, F1, precision and recall, and their joint over tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from typing import NamedTuple


class Agreement(NamedTuple):
    """Four numbers in [0, 1]: exact match (0 or 1), F1, precision, recall."""

    em: float = 0.0
    f1: float = 0.0
    prec: float = 0.0
    recall: float = 0.0

    def named(self, prefix: str = "") -> dict[str, float]:
        """Return the numbers under their official names, each after ``prefix`` (for example ``"sp_"``)."""
        return {prefix + name: value for name, value in self._asdict().items()}


def f1_of(prec: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall, 0 where both are 0."""
    return 2 * prec * recall / (prec + recall) if prec + recall > 0 else 0.0


def set_agreement(predicted: Set[object], gold: Set[object]) -> Agreement:
    """Compare two sets; against an empty set precision and recall are 0, and two empty sets match exactly.

    This is the supporting-fact rule of ``hotpot_evaluate_v1.py``: with nothing to find and nothing predicted the
    exact match is 1 while F1, precision and recall are 0.
    """
    shared = len(predicted & gold)
    prec = shared / len(predicted) if predicted else 0.0
    recall = shared / len(gold) if gold else 0.0
    return Agreement(float(predicted == gold), f1_of(prec, recall), prec, recall)


def joint_agreement(parts: Iterable[Agreement]) -> Agreement:
    """Multiply exact match, precision and recall over tasks; F1 comes from the joint precision and recall."""
    em, _, prec, recall = (math.prod(values) for values in zip(*parts))
    return Agreement(em, f1_of(prec, recall), prec, recall)
