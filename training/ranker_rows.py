"""The rows that a ranker is fitted to: which passages were support, and what each search really found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.pool import TARGETED_DEPTH
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..data.errors import ConfigError
from ..data.records import Gold, Record, content_hash
from ..data.support_scores import supports_held
from ..ranking.base import Ranker
from ..ranking.proposal_features import PROPOSAL_FEATURES
from ..ranking.rows import Reader, Rows
from ..ranking.tasks import Ranking, RankTask
from ..retrieval.base import Retriever

_LIKELY = 25
_LIKELY_SEARCHES = 10
_OTHER_SEARCHES = 6
_OTHER_SHARE = 0.08
_MORE_SHARE = 0.15


class RankerRows(NamedTuple):
    """Labelled rows of one question.

    Attributes:
        passages: (n, passage features) float32.
        support: (n,) bool, whether the passage is support.
        searches: (m, proposal features) float32.
        finds: (m,) bool, whether the search finds support that had not been found.
    """

    passages: NDArray[np.float32]
    support: NDArray[np.bool_]
    searches: NDArray[np.float32]
    finds: NDArray[np.bool_]


class RecordingRanker(Ranker):
    """Notes what it is asked, and strays from the ranker behind it, so that states off its path are seen as well.

    Args:
        ranker: gives the rankings.
        stray: share of rankings in [0, 1] in which one of the next passages and one of the next searches come first.
        seed: of straying; it depends on nothing else but the task's question, passages and queries.
    """

    def __init__(self, ranker: Ranker, stray: float, seed: int) -> None:
        self._ranker = ranker
        self._stray = stray
        self._seed = seed
        self.asked: list[tuple[RankTask, Ranking]] = []

    @property
    def fingerprint(self) -> str:
        """A hash of the ranker and how it strays."""
        return content_hash("recording", self._ranker.fingerprint, repr((self._stray, self._seed)))

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        """Return the rankings, some of them strayed."""
        rankings = self._ranker.rank(tasks)
        self.asked += zip(tasks, rankings)
        return [self._strayed(task, found) for task, found in zip(tasks, rankings)]

    def _strayed(self, task: RankTask, found: Ranking) -> Ranking:
        random = _random(self._seed, task)
        if random.random() >= self._stray:
            return found
        scores, proposals = list(found.scores), list(found.proposals)
        free = [
            i for i in np.argsort(-np.array(scores), kind="stable").tolist() if task.found[i].passage not in task.held
        ]
        if len(free) > 3:
            scores[free[int(random.integers(2, min(len(free), 12)))]] = max(scores)
        if proposals:
            proposals.insert(0, proposals.pop(int(random.integers(len(proposals)))))
        return Ranking(tuple(scores), tuple(proposals))


def _random(seed: int, task: RankTask) -> np.random.Generator:
    parts = (str(seed), task.question, *(passage.id for passage in task.held), *task.queries)
    return np.random.default_rng(int(content_hash(*parts), 16))


def explore(records: Sequence[Record], rules: Rules, engine: Engine, seed: int) -> list[EvidenceState]:
    """Return the last state of an episode for each question: the first search, then mostly what the ranker proposes."""
    names = rules.operations.names
    more, expand = names.index("retrieve_more"), names.index("bridge_entity_expand")
    states = [rules.start(record.question) for record in records]
    going = dict(enumerate(states))
    while going:
        chosen = {i: _operation(rules, state, more, expand, seed) for i, state in going.items()}
        moving = [i for i, operation in chosen.items() if operation >= 0]
        after = rules.step([going[i] for i in moving], [chosen[i] for i in moving], engine, checked=True)
        for i, state in zip(moving, after):
            states[i] = state
        going = {i: states[i] for i in moving if not states[i].end}
    return states


def _operation(rules: Rules, state: EvidenceState, more: int, expand: int, seed: int) -> int:
    """Return the operation to run, -1 where neither may."""
    mask = rules.mask(state)
    draw = int(content_hash(str(seed), state.question.key, str(state.steps)), 16) / 2**64
    wanted = [more, expand] if draw < _MORE_SHARE or not state.held else [expand, more]
    return next((operation for operation in wanted if mask[operation]), -1)


def labelled(
    record: Record, asked: Sequence[tuple[RankTask, Ranking]], reader: Reader, retriever: Retriever, seed: int
) -> RankerRows:
    """Return the rows of one question: the likely passages and searches, all support, and a sample of the rest.

    Raises:
        ConfigError: if the question has no gold.
    """
    gold = record.gold
    if gold is None:
        raise ConfigError(f"cannot fit a ranker to a question without gold: {record.id}")
    widths = len(reader.passage_features), len(PROPOSAL_FEATURES)
    none = [np.zeros((0, width), np.float32) for width in widths]
    parts = [RankerRows(none[0], np.zeros(0, np.bool_), none[1], np.zeros(0, np.bool_))]
    parts += [_labelled(gold, task, found, reader.read(task), retriever, _random(seed, task)) for task, found in asked]
    return RankerRows(*(np.concatenate(column) for column in zip(*parts)))


def _labelled(
    gold: Gold, task: RankTask, found: Ranking, rows: Rows, retriever: Retriever, random: np.random.Generator
) -> RankerRows:
    support = np.array([supports_held(gold, [item.passage]) > 0 for item in task.found], np.bool_)
    order = np.argsort(-np.array(found.scores), kind="stable")
    kept = support | (random.random(len(support)) < _OTHER_SHARE)
    kept[order[:_LIKELY]] = True
    known = {proposal.query for proposal in found.proposals}
    places = [i for i, (_, query) in enumerate(rows.searches) if query in known]
    others = [i for i in range(len(rows.searches)) if rows.searches[i][1] not in known]
    places += sorted(random.permutation(others)[:_OTHER_SEARCHES].tolist())
    finds = _finds(gold, task, [rows.searches[i][1] for i in places], retriever)
    return RankerRows(rows.passages[kept], support[kept], rows.rows[places], finds)


def _finds(gold: Gold, task: RankTask, queries: Sequence[str], retriever: Retriever) -> NDArray[np.bool_]:
    had = supports_held(gold, found := [item.passage for item in task.found])
    hits = retriever.search(queries, TARGETED_DEPTH, [task.pool] * len(queries)) if queries else []
    return np.array([supports_held(gold, [*found, *(h.passage for h in own)]) > had for own in hits], np.bool_)
