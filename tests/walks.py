"""Random walks over valid operations."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from tests.small_world import records

picks = st.lists(st.integers(0, 6), min_size=1, max_size=12)
questions = st.integers(0, 7)


class Move(NamedTuple):
    """A step of a walk."""

    before: EvidenceState
    operation: int
    after: EvidenceState


def walk(rules: Rules, engine: Engine, question: int, choices: Sequence[int]) -> Iterator[Move]:
    """Walk from a question's first state; each choice is taken modulo the number of valid operations."""
    state = rules.start(records()[question].question)
    for choice in choices:
        if state.end:
            return
        valid = np.flatnonzero(rules.mask(state))
        operation = int(valid[choice % len(valid)])
        [after] = rules.step([state], [operation], engine)
        yield Move(state, operation, after)
        state = after


def visited(rules: Rules, engine: Engine, walks: int = 60, seed: int = 0) -> list[EvidenceState]:
    """Return the states that seeded random walks from all questions visit, ended ones left out."""
    random = Random(seed)
    found: dict[EvidenceState, None] = {}
    for number in range(walks):
        choices = [random.randrange(60) for _ in range(rules.caps.steps + 1)]
        for move in walk(rules, engine, number % len(records()), choices):
            found.setdefault(move.before)
    return list(found)
