"""The return: support recall gained, less what it cost, discounted, and the worth of the answer at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..actions.costs import COST_NAMES, check_weights, weighted_parts
from ..data.errors import ConfigError
from .rows import check_columns, feature_matrix, list_matrix

STOP = "stop_answer"


@dataclass(frozen=True)
class Return:
    """What an episode is worth: the sum over steps t of discount^t * r_t.

    r_t = SR(s_{t+1}) - SR(s_t) - cost_weight * c_t, and where the episode ends + answer_weight * F1 of its answer.
    ``stop_answer`` gains no support, so it is worth its answer alone.

    Attributes:
        discount: gamma, in [0, 1].
        cost_weight: lambda, at least 0.
        cost_weights: w_k of each kind of cost, at least 0, tokens in thousands: c = sum of w_k * cost_k.
        answer_weight: worth of the answer's token F1, at least 0.

    Raises:
        ConfigError: if a number is out of range, or a kind of cost is unknown.
    """

    discount: float = 1.0
    cost_weight: float = 0.0
    cost_weights: Mapping[str, float] = field(default_factory=lambda: {"prompt_tokens": 1.0, "completion_tokens": 1.0})
    answer_weight: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.discount <= 1:
            raise ConfigError(f"the discount must be in [0, 1], found {self.discount}")
        weights = {"cost_weight": self.cost_weight, "answer_weight": self.answer_weight, **self.cost_weights}
        if wrong := {name: value for name, value in weights.items() if not (isfinite(value) and value >= 0)}:
            raise ConfigError(f"weights of the return must be finite and not negative, found {wrong}")
        check_weights(self.cost_weights)

    def of(self, rewards: Sequence[float]) -> float:
        """Return the sum of the discounted rewards of an episode."""
        return float(sum(self.discount**t * reward for t, reward in enumerate(rewards)))

    def reward(self, gain: float, cost: Mapping[str, float], end_f1: float | None) -> float:
        """Return r_t; ``end_f1`` is None where the episode goes on."""
        answer = 0.0 if end_f1 is None else self.answer_weight * end_f1
        return gain - self.cost_weight * weighted_parts(cost, self.cost_weights) + answer


class Transitions(NamedTuple):
    """Rows as transitions (s, a, r, s').

    Attributes:
        questions: (rows,) str, ids of the questions.
        episodes: (rows,) int64, numbers of the episodes.
        steps: (rows,) int64, decisions made before.
        chosen: (rows,) bool, whether the behaviour policy went on with it.
        operations: (rows,) int64, action ids.
        rewards: (rows,) float64.
        features: (rows, features) float32 of s.
        next_features: (rows, features) float32 of s'.
        next_mask: (rows, operations) int8 of s'; all zero where the episode is over.
    """

    questions: NDArray[np.str_]
    episodes: NDArray[np.int64]
    steps: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    operations: NDArray[np.int64]
    rewards: NDArray[np.float64]
    features: NDArray[np.float32]
    next_features: NDArray[np.float32]
    next_mask: NDArray[np.int8]

    @property
    def horizon(self) -> int:
        """Decisions of the longest episode."""
        return int(self.steps.max()) + 1 if len(self.steps) else 0


def transitions(rows: pa.Table, operations: Sequence[str], worth: Return) -> Transitions:
    """Read rows as transitions; their operations are among ``operations``.

    Raises:
        ManifestMismatchError: if the rows are of another format.
    """
    check_columns(rows)
    ids = {name: place for place, name in enumerate(operations)}
    return Transitions(
        np.asarray(rows.column("question_id").to_pylist(), dtype=np.str_),
        np.asarray(rows.column("episode").to_numpy(), np.int64),
        np.asarray(rows.column("step").to_numpy(), np.int64),
        np.asarray(rows.column("chosen").to_numpy(zero_copy_only=False), np.bool_),
        np.array([ids[name] for name in rows.column("operation").to_pylist()], np.int64),
        rewards(rows, worth),
        feature_matrix(rows),
        feature_matrix(rows, "next_features"),
        np.asarray(list_matrix(rows, "next_mask"), np.int8),
    )


def rewards(rows: pa.Table, worth: Return) -> NDArray[np.float64]:
    """Return (rows,) float64 the immediate rewards."""
    ended = np.asarray(rows.column("ended").to_numpy(zero_copy_only=False), bool)
    gain = _floats(rows, "support_recall_after") - _floats(rows, "support_recall")
    cost = _weighted(rows, worth)
    answer = np.where(ended, _floats(rows, "end_f1"), 0.0)
    found: NDArray[np.float64] = gain - worth.cost_weight * cost + worth.answer_weight * answer
    return found


def _weighted(rows: pa.Table, worth: Return) -> NDArray[np.float64]:
    """Return (rows,) what each row cost, weighed."""
    units = {kind: weighted_parts({kind: 1.0}, worth.cost_weights) for kind in COST_NAMES}
    found: NDArray[np.float64] = np.sum([unit * _floats(rows, kind) for kind, unit in units.items()], axis=0)
    return found


def _floats(rows: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(rows.column(name).to_numpy(), np.float64)
