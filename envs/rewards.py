"""Rewards: named terms whose sum is the reward; only they and the metrics read gold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from ..actions.costs import check_weights, weighted_cost
from ..actions.state import EvidenceState
from ..data.answer_scores import token_f1
from ..data.records import Gold
from ..data.support_scores import support_recall


class Reward(ABC):
    """A term of the reward."""

    @abstractmethod
    def __call__(self, before: EvidenceState, after: EvidenceState, operation: str, gold: Gold) -> float:
        """Return the term's value for the step from ``before`` to ``after``."""


class SupportRecallGain(Reward):
    """Change in support recall, in [-1, 1]: what an acquisition operation brought (the paper's training signal)."""

    def __call__(self, before: EvidenceState, after: EvidenceState, operation: str, gold: Gold) -> float:
        """Return the change in the share of supporting documents held."""
        return support_recall(gold, after.passages) - support_recall(gold, before.passages)


class AnswerF1(Reward):
    """Token F1 of the answer, in [0, 1], on the step that ends the episode; 0 before."""

    def __call__(self, before: EvidenceState, after: EvidenceState, operation: str, gold: Gold) -> float:
        """Return the token F1 once there is an answer."""
        if after.answer is None:
            return 0.0
        return token_f1(after.answer.text, gold.references)


class CostPenalty(Reward):
    """Minus the weighted cost of the step; tokens count in thousands.

    Args:
        weights: weight of each kind of cost, by the names in ``COST_NAMES``.

    Raises:
        ConfigError: if a kind is unknown.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = check_weights(weights)

    def __call__(self, before: EvidenceState, after: EvidenceState, operation: str, gold: Gold) -> float:
        """Return minus the weighted cost between the two states."""
        return -(weighted_cost(after.cost, self.weights) - weighted_cost(before.cost, self.weights))


DEFAULT_REWARDS: Mapping[str, Reward] = {"support_recall_gain": SupportRecallGain(), "answer_f1": AnswerF1()}
