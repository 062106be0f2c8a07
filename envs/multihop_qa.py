"""The Gymnasium environment of evidence control."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState, HeldPassage
from ..data.errors import ConfigError, InvalidOperationError
from ..data.records import Gold, Question, Record
from .features import FeatureMap
from .metrics import episode_metrics
from .rendering import render_state
from .rewards import DEFAULT_REWARDS, Reward
from .unicode_text import UnicodeText

_TEXT_LENGTH = 100_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An episode at one moment; states are values, so it stays valid whatever the environment does next."""

    question: Question
    gold: Gold | None
    state: EvidenceState


class Move(NamedTuple):
    """An action that has been checked: the state that it acts on, and whether the mask forbids it."""

    before: EvidenceState
    operation: int
    invalid: bool


class MultiHopQAEnv(gymnasium.Env[Any, np.int64]):
    """Collect evidence for a multi-hop question, one operation at a time.

    ### Description
    The state holds a question and the passages found so far. Each action is an evidence operation; the episode ends
    when the agent stops or a cap is reached, and then the question is answered from the evidence, whichever it was.

    ### Action Space
    ``Discrete(7)`` for the operation set ``paper``:

    | id | operation | effect |
    |---|---|---|
    | 0 | retrieve_more | next passages in the question's own ranking |
    | 1 | gap_query | search for what the last sufficiency check found missing |
    | 2 | bridge_entity_expand | passage about, and search around, the next bridge entity |
    | 3 | rewrite_query | reformulate the query from the evidence, then search |
    | 4 | sufficiency_check | judge whether the evidence suffices, record what is missing |
    | 5 | stop_answer | end acquisition and answer |
    | 6 | compress | runs by itself before the answer; a controller may pick it where ``compress_in_control`` is set |

    ### Observation Space
    ``Box`` of float32, the features of :class:`.features.FeatureMap` (``env.unwrapped.features`` names and explains
    them), each clipped to its range. With ``observation="dict"`` a ``Dict`` of ``features``, ``action_mask`` and
    ``text`` (the state as text, of any alphabet; what flattens text by a table of characters, as ``FlattenObservation``
    and the shared memory of ``AsyncVectorEnv`` do, cannot take it).

    ### Starting State
    A question and no passage. ``reset(options={"question": ...})`` takes the id or uid of a question, or any text: that
    has no gold, so its rewards are 0 and its metrics are absent. Otherwise a question is drawn with the seed.

    ### Rewards
    The sum of the named terms in ``info["rewards"]``: by default the change in support recall, and the token F1 of the
    answer on the last step. An operation that is not valid costs ``invalid_penalty`` and changes nothing but the step
    count; with ``on_invalid="raise"`` it raises ``InvalidOperationError``.

    ### Episode End
    ``terminated`` after ``stop_answer`` and at a cap, since caps are part of the task; ``info["end"]`` says which.
    ``truncated`` is always False here; an outer time limit may set it.

    ### Information
    ``action_mask`` (int8), ``valid_operations``; after a step ``operation`` and ``rewards``; at the end ``end``,
    ``answer``, ``evidence``, ``ledger``, and ``metrics`` where there is gold.

    ### Arguments
    records: the questions to draw from. engine: executes the requests. rules: operation set and caps. rewards: terms by
    name. on_invalid: "penalty" or "raise". invalid_penalty: at least 0. observation: "vector" or "dict".
    render_mode: None or "ansi". ``gymnasium.make("evidencegym/MultiHopQA-v0")`` fills records and engine with a
    synthetic world where they are not given.

    ### References
    Learned evidence control for multi-hop question answering (DynaKRAG), arXiv 2607.06507.

    ### Version History
    v0: the seven operations of the paper.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        records: Sequence[Record],
        engine: Engine,
        rules: Rules | None = None,
        rewards: Mapping[str, Reward] | None = None,
        on_invalid: str = "penalty",
        invalid_penalty: float = 1.0,
        observation: str = "vector",
        render_mode: str | None = None,
    ) -> None:
        _check_choice("on_invalid", on_invalid, ("penalty", "raise"))
        _check_choice("observation", observation, ("vector", "dict"))
        _check_choice("render_mode", render_mode, (None, "ansi"))
        if not records:
            raise ConfigError("the environment needs at least one question, found none")
        if not 0 <= invalid_penalty < float("inf"):
            raise ConfigError(f"invalid_penalty must be a number of at least 0, found {invalid_penalty}")
        self.records = records
        self.engine = engine
        self.rules = rules or Rules()
        self.rewards = DEFAULT_REWARDS if rewards is None else rewards
        self.on_invalid = on_invalid
        self.invalid_penalty = invalid_penalty
        self.observation = observation
        self.render_mode = render_mode
        self.features = FeatureMap(self.rules.operations.names)
        self.action_space = spaces.Discrete(len(self.rules.operations))
        self.observation_space = self._space()
        self._by_id = {record.id: record for record in reversed(records)} | {record.uid: record for record in records}
        self._gold: Gold | None = None
        self._state: EvidenceState | None = None
        self._masked: tuple[EvidenceState, NDArray[np.int8]] | None = None

    @property
    def state(self) -> EvidenceState:
        """The present evidence state.

        Raises:
            InvalidOperationError: before the first ``reset``.
        """
        if self._state is None:
            raise InvalidOperationError("the episode has not begun: call reset() first")
        return self._state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seeds the draw of the question.
            options: ``{"question": id or text}`` chooses it.

        Raises:
            ConfigError: for an unknown option or an empty question.
        """
        super().reset(seed=seed)
        record = self._chosen(options or {})
        self._gold = record.gold
        self._state = self.rules.start(record.question)
        return self._observe(), self._info()

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Run one operation.

        Raises:
            InvalidOperationError: after the end, for an id outside the operation set, and, with ``on_invalid="raise"``,
                for an operation that the mask forbids.
        """
        move = self.checked(action)
        if move.invalid:
            after = self.wasted(move)
        else:
            [after] = self.rules.step([move.before], [move.operation], self.engine, checked=True)
        if after.end:
            [after] = self.rules.conclude([after], self.engine)
        return self.settled(move, after)

    def checked(self, action: np.int64) -> Move:
        """Return what ``step`` is about to do; the vector environment executes the moves of many as one batch.

        Raises:
            InvalidOperationError: as :meth:`step` does.
        """
        before, operation = self.state, _action_id(action)
        if before.end:
            raise InvalidOperationError("the episode has ended: call reset() before the next step")
        if not 0 <= operation < len(self.rules.operations):
            raise InvalidOperationError(f"operation {operation} is not in 0..{len(self.rules.operations) - 1}")
        invalid = not self._mask()[operation]
        if invalid and self.on_invalid == "raise":
            self.rules.require(before, operation)
        return Move(before, operation, invalid)

    def wasted(self, move: Move) -> EvidenceState:
        """Return the state after an invalid move: nothing changes but the count of steps."""
        return self.rules.wasted(move.before, move.operation)

    def settled(self, move: Move, after: EvidenceState) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make ``after`` the present state and return what ``step`` returns."""
        self._state = after
        name = self.rules.operations.names[move.operation]
        rewards = self._rewards(move.before, after, name) | ({"invalid": -self.invalid_penalty} if move.invalid else {})
        info = self._info() | {"operation": name, "rewards": rewards}
        return self._observe(), float(sum(rewards.values())), bool(after.end), False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return (operations,) bool, what MaskablePPO looks up."""
        return self._mask().astype(np.bool_)

    def snapshot(self) -> Snapshot:
        """Return the present episode as a value."""
        return Snapshot(self.state.question, self._gold, self.state)

    def restore(self, snapshot: Snapshot) -> tuple[Any, dict[str, Any]]:
        """Go (back) to a snapshot; returns observation and info like ``reset``."""
        self._gold, self._state = snapshot.gold, snapshot.state
        return self._observe(), self._info()

    def render(self) -> str | None:  # type: ignore[override]
        """Return the state as text in render mode "ansi", None otherwise."""
        if self.render_mode is None:
            return None
        return render_state(self.state, self._valid())

    def _mask(self) -> NDArray[np.int8]:
        """Return the mask of the present state, made once for all who ask; what leaves the environment is a copy."""
        state = self.state
        if self._masked is None or self._masked[0] is not state:
            self._masked = state, self.rules.mask(state)
        return self._masked[1]

    def _space(self) -> spaces.Space[Any]:
        vector = spaces.Box(self.features.low, self.features.high, dtype=np.float32)
        if self.observation == "vector":
            return vector
        mask = spaces.MultiBinary(len(self.rules.operations))
        return spaces.Dict({"features": vector, "action_mask": mask, "text": UnicodeText(_TEXT_LENGTH)})

    def _observe(self) -> Any:
        vector = self.features.vector(self.state)
        if self.observation == "vector":
            return vector
        text = render_state(self.state, self._valid())[:_TEXT_LENGTH]
        return {"features": vector, "action_mask": self._mask().copy(), "text": text}

    def _valid(self) -> list[str]:
        return [name for name, bit in zip(self.rules.operations.names, self._mask().tolist()) if bit]

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask().copy(), "valid_operations": self._valid()}
        state = self.state
        if state.end and state.answer is not None:
            info["end"] = state.end
            info["answer"] = state.answer.text
            info["evidence"] = [_shown(item) for item in state.held]
            info["ledger"] = {name: cost.as_dict() for name, cost in state.ledger}
            if self._gold is not None:
                info["metrics"] = episode_metrics(self._gold, state)
        return info

    def _rewards(self, before: EvidenceState, after: EvidenceState, operation: str) -> dict[str, float]:
        if self._gold is None:
            return dict.fromkeys(self.rewards, 0.0)
        return {name: float(term(before, after, operation, self._gold)) for name, term in self.rewards.items()}

    def _chosen(self, options: dict[str, Any]) -> Record:
        unknown = sorted(set(options) - {"question"})
        if unknown:
            raise ConfigError(f"unknown reset option {', '.join(unknown)}; options: question")
        wanted = options.get("question")
        if wanted is None:
            return self.records[int(self.np_random.integers(len(self.records)))]
        if not isinstance(wanted, str) or not wanted.strip():
            raise ConfigError(f"options['question'] must be a question's id or a non-empty text, found {wanted!r}")
        return self._by_id.get(wanted) or Record(Question.of(wanted))


def _shown(item: HeldPassage) -> dict[str, str]:
    """Return a passage as plain values; its source is there only where one is known."""
    passage = item.passage
    source = {"source": item.source} if item.source else {}
    return {"id": passage.id, "title": passage.title, "text": passage.text, **source}


def _action_id(action: Any) -> int:
    try:
        return operator.index(action)
    except TypeError:
        raise InvalidOperationError(f"an action is the whole number of an operation, found {action!r}") from None


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, choices))}, found {value!r}")
