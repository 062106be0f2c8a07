"""Fitting the floor: which passages the reader is better off without, on train questions out of fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..data.answer_scores import token_f1
from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Record
from ..envs.rollout import Policy, rollout
from ..ranking.floors import Floor, Point
from .collect import by_engine


@dataclass(frozen=True, slots=True)
class FloorSettings:
    """How the floor is fitted: the score that a passage needs to be read for the answer, where a ranker chooses.

    Attributes:
        floors: the floors that are tried, each in [0, 1], ascending; with [0] everything is read.
        questions: on how many train questions at most, at least 1.

    Raises:
        ConfigError: if a number is out of range.
    """

    floors: list[float] = field(default_factory=lambda: [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3])
    questions: int = 1000

    def __post_init__(self) -> None:
        require_least(self, "floor_fit", questions=1)
        if not self.floors or list(self.floors) != sorted({f for f in self.floors if 0 <= f <= 1}):
            raise ConfigError(f"floor_fit.floors must be ascending numbers in [0, 1], found {self.floors}")


class _Ended(NamedTuple):
    """Episodes that one engine has run to their end."""

    engine: Engine
    records: list[Record]
    states: list[EvidenceState]


Progress = Callable[[int, int], None]


def fit_floor(
    records: Sequence[Record],
    games: Sequence[Rules],
    engine_of: Callable[[Record], Engine],
    policy: Policy,
    fitting: FloorSettings,
    progress: Progress | None = None,
) -> Floor:
    """Run a policy once under each of the rules, and conclude its last evidence with every floor.

    Args:
        records: train questions with gold.
        games: rules to run under, which differ in what evidence an episode ends with.
        engine_of: gives each question its engine, whose models have not seen it.
        policy: chooses the operations.
        fitting: the floors.
        progress: told how many episodes have ended, of how many.

    Raises:
        ConfigError: if there is no question, or one has no gold.
    """
    if not records or any(record.gold is None for record in records):
        raise ConfigError("fitting the floor needs train questions with gold; fit another data set, or none")
    total, before = len(records) * len(games), 0
    ended: list[tuple[Rules, _Ended]] = []
    for rules in games:
        for engine, own in by_engine(records, engine_of):
            episodes = rollout([record.question for record in own], rules, engine, policy)
            ended.append((rules, _Ended(engine, own, [episode.final for episode in episodes])))
            before += len(own)
            if progress:
                progress(before, total)
    return Floor([_point(floor, ended) for floor in fitting.floors])


def _point(floor: float, ended: Sequence[tuple[Rules, _Ended]]) -> Point:
    """Read all last evidence anew with a floor."""
    f1: list[float] = []
    passages: list[int] = []
    for rules, (engine, records, states) in ended:
        for record, state in zip(records, rules.conclude([_with_floor(s, floor) for s in states], engine)):
            references = record.gold.references if record.gold else ()
            f1.append(token_f1(state.answer.text if state.answer else "", references))
            passages.append(len(state.reading))
    return Point(floor, sum(f1) / len(f1), sum(passages) / len(passages))


def _with_floor(state: EvidenceState, floor: float) -> EvidenceState:
    """Return an ended state that has not been concluded yet, and has another floor."""
    ranking = state.ranking._replace(floor=floor) if state.ranking else None
    return state.changed(ranking=ranking, snippets=None, compressed_version=-1, answer=None)
