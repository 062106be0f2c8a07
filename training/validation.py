"""Validation of a controller on train questions that were held out: the mean return and what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..data.answer_scores import token_f1
from ..data.errors import ConfigError
from ..data.records import Record
from ..data.support_scores import support_recall
from ..envs.rollout import Episode, Policy, rollout
from .collect import by_engine
from .returns import Return


class Validation(NamedTuple):
    """Means over questions; compared by return, then by support recall.

    Attributes:
        worth: mean return.
        support_recall: mean support recall at the end.
        answer_f1: mean token F1.
        retrievals: mean retrievals.
        questions: number of questions.
    """

    worth: float
    support_recall: float
    answer_f1: float
    retrievals: float
    questions: int

    def better_than(self, other: Validation) -> bool:
        """Whether the mean return is higher, or equal with a higher support recall."""
        return (self.worth, self.support_recall) > (other.worth, other.support_recall)


def validate(
    policy: Policy,
    records: Sequence[Record],
    rules: Rules,
    engine_of: Callable[[Record], Engine],
    worth: Return,
) -> Validation:
    """Let a policy run freely on each question, with the question's own engine.

    Raises:
        ConfigError: if there is no question, or one has no gold.
    """
    if not records:
        raise ConfigError("no question is held out for validation; use more train questions, or fewer folds")
    scores = [
        _scores(record, episode, worth)
        for engine, own in by_engine(records, engine_of)
        for record, episode in zip(own, rollout([record.question for record in own], rules, engine, policy))
    ]
    means = np.array(scores, np.float64).mean(axis=0)
    worth_mean, recall, f1, retrievals = means.tolist()
    return Validation(worth_mean, recall, f1, retrievals, len(records))


def _scores(record: Record, episode: Episode, worth: Return) -> tuple[float, float, float, float]:
    gold = record.gold
    if gold is None:
        raise ConfigError(f"question {record.id} has no gold")
    recall = [support_recall(gold, state.passages) for state in episode.states]
    f1 = token_f1(episode.final.answer.text if episode.final.answer else "", gold.references)
    last = len(episode.steps) - 1
    rewards = [
        worth.reward(recall[t + 1] - recall[t], step.cost.as_dict(), f1 if t == last else None)
        for t, step in enumerate(episode.steps)
    ]
    return worth.of(rewards), recall[-1], f1, float(episode.final.retrievals)
