"""Collection: follow a behaviour policy, and from each visited state try every valid operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..actions.workers import Sent, Workers
from ..data.annotations import require_annotated
from ..data.answer_scores import token_f1
from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Gold, Record
from ..data.support_scores import support_recall
from ..envs.features import FeatureMap
from ..envs.rollout import Policy, decide
from .parts import PartStore
from .rows import Row, to_table


@dataclass(frozen=True, slots=True)
class CollectSettings:
    """How to collect.

    Attributes:
        episodes: behaviour episodes a question, at least 1.
        batch: questions that advance together, at least 1; it changes no row.

    Raises:
        ConfigError: if a number is below 1.
    """

    episodes: int = 2
    batch: int = 32

    def __post_init__(self) -> None:
        require_least(self, "collect", episodes=1, batch=1)


class _Trial(NamedTuple):
    """Every valid operation tried from one state: what it led to, and the features of that."""

    state: EvidenceState
    features: NDArray[np.float32]
    chosen: int
    after: dict[int, EvidenceState]
    next_features: dict[int, NDArray[np.float32]]


def collect(
    records: Sequence[Record],
    rules: Rules,
    engine_of: Callable[[Record], Engine],
    policies: Sequence[Policy],
    store: PartStore,
    settings: CollectSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
) -> None:
    """Write one part for each question that has none yet.

    Args:
        records: the questions, each with gold.
        rules: operations and caps.
        engine_of: the engine for a question; its fitted models must not have seen that question.
        policies: behaviour policy of each episode.
        store: where the parts go; what is there already is kept.
        settings: see :class:`CollectSettings`.
        progress: called with (questions done, questions in all), first with those that were there, if any.
        workers: who does the work; they change no row.

    Raises:
        ConfigError: if a question has no gold, or the policies are not one an episode.
        DataError: if a part cannot be written; all earlier parts are on disk and the same call goes on from there.
        BackendUnavailableError: if the workers cannot be had or are lost; likewise.
    """
    chosen = settings or CollectSettings()
    if len(policies) != chosen.episodes:
        raise ConfigError(
            f"expected one behaviour policy for each of {chosen.episodes} episodes, found {len(policies)}"
        )
    require_annotated(records, "collect from")
    todo = set(store.missing(record.uid for record in records))
    done = len(records) - len(todo)
    if progress and done:
        progress(done, len(records))
    groups = by_engine([r for r in records if r.uid in todo], engine_of)
    tasks = (
        (group[first : first + chosen.batch], rules, engine, policies, store)
        for engine, group in ((Sent(engine), group) for engine, group in groups)
        for first in range(0, len(group), chosen.batch)
    )
    for finished in (workers or Workers()).map(_write_batch, tasks):
        done += finished
        if progress:
            progress(done, len(records))


def _write_batch(
    batch: Sequence[Record], rules: Rules, engine: Sent[Engine], policies: Sequence[Policy], store: PartStore
) -> int:
    """Collect a batch, write its parts, and return their number."""
    features = FeatureMap(rules.operations.names)
    rows = _collect_batch(batch, rules, engine.value.fresh(), policies, features)
    for record, own in zip(batch, rows):
        store.write(record.uid, to_table(own, len(features.names), len(rules.operations)))
    return len(batch)


def by_engine(records: Sequence[Record], engine_of: Callable[[Record], Engine]) -> list[tuple[Engine, list[Record]]]:
    """Group the records by their engine, in the order of first use."""
    groups: dict[int, tuple[Engine, list[Record]]] = {}
    for record in records:
        engine = engine_of(record)
        groups.setdefault(id(engine), (engine, []))[1].append(record)
    return list(groups.values())


def _collect_batch(
    records: Sequence[Record], rules: Rules, engine: Engine, policies: Sequence[Policy], features: FeatureMap
) -> list[list[Row]]:
    rows: list[list[Row]] = [[] for _ in records]
    for episode, policy in enumerate(policies):
        paths = _explore([rules.start(record.question) for record in records], rules, engine, policy, features)
        for i, path in enumerate(paths):
            rows[i].extend(_rows_of(records[i], episode, path, rules, engine))
    return rows


def _explore(
    states: list[EvidenceState], rules: Rules, engine: Engine, policy: Policy, features: FeatureMap
) -> list[list[_Trial]]:
    """Return, for each start state, the trials along its behaviour episode."""
    paths: list[list[_Trial]] = [[] for _ in states]
    current = list(states)
    while running := [i for i, state in enumerate(current) if not state.end]:
        turn = decide(rules, features, policy, [current[i] for i in running])
        vectors = features.matrix(turn.states)
        tries = [(row, int(op)) for row, mask in enumerate(turn.masks) for op in np.flatnonzero(mask)]
        after = rules.step([turn.states[row] for row, _ in tries], [op for _, op in tries], engine, checked=True)
        chosen = turn.choice.operations
        trials = [_Trial(turn.states[row], vectors[row], int(chosen[row]), {}, {}) for row in range(len(running))]
        for (row, op), state, vector in zip(tries, after, features.matrix(after)):
            trials[row].after[op], trials[row].next_features[op] = state, vector
        for i, trial in zip(running, trials):
            paths[i].append(trial)
            current[i] = trial.after[trial.chosen]
    return paths


def _rows_of(record: Record, episode: int, path: list[_Trial], rules: Rules, engine: Engine) -> list[Row]:
    gold = record.gold
    if gold is None:
        raise ConfigError(f"question {record.id} has no gold")
    tried = [(step, operation) for step, trial in enumerate(path) for operation in sorted(trial.after)]
    ends = [(step, operation) for step, operation in tried if path[step].after[operation].end]
    states = [*(trial.state for trial in path), *(path[step].after[operation] for step, operation in ends)]
    concluded = rules.conclude(states, engine)
    f1 = [token_f1(state.answer.text if state.answer else "", gold.references) for state in concluded]
    end_f1 = dict(zip(ends, f1[len(path) :]))
    final_f1 = end_f1[len(path) - 1, path[-1].chosen]
    return [
        _row(record.id, gold, (episode, step), path[step], operation, rules)._replace(
            answer_f1=f1[step], final_f1=final_f1, end_f1=end_f1.get((step, operation))
        )
        for step, operation in tried
    ]


def _row(question_id: str, gold: Gold, place: tuple[int, int], trial: _Trial, operation: int, rules: Rules) -> Row:
    """Return a row without what concluding the states will tell."""
    before, after = trial.state, trial.after[operation]
    mask = np.zeros(len(rules.operations), np.int8) if after.end else rules.mask(after)
    return Row(
        question_id=question_id,
        episode=place[0],
        step=place[1],
        operation=rules.operations.names[operation],
        chosen=operation == trial.chosen,
        support_recall=support_recall(gold, before.passages),
        support_recall_after=support_recall(gold, after.passages),
        answer_f1=nan,
        final_f1=nan,
        ended=bool(after.end),
        end_f1=None,
        new_documents=len(after.held) - len(before.held),
        cost=astuple(after.cost - before.cost),
        features=trial.features,
        next_features=trial.next_features[operation],
        next_mask=mask,
    )
