"""The ranker to begin with: a fixed weighing of a few features, nothing fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.records import content_hash
from ..retrieval.base import Retriever
from .base import Ranker
from .passage_features import PASSAGE_FEATURES
from .proposal_features import PROPOSAL_FEATURES
from .rankings import ranking
from .rows import Reader
from .tasks import Ranking, RankTask

_PASSAGES = {"asked": 1.0, "targeted": 0.4, "mention_share": 1.0, "subject_in_question": 0.4}
_PROPOSALS = {"mention_share": 1.0, "titles": 0.02, "asked": -0.5, "held_title_trust": -0.2}


class LexicalRanker(Ranker):
    """Prefers what the question's words and the names of the evidence point to; behaviour for the first rows.

    Args:
        retriever: the corpus.
    """

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self.reader = Reader(retriever)
        self._passages = _weights(_PASSAGES, PASSAGE_FEATURES)
        self._proposals = _weights(_PROPOSALS, PROPOSAL_FEATURES)

    def __reduce__(self) -> Any:
        """Send the corpus, not what was read, to another process."""
        return LexicalRanker, (self.retriever,)

    @property
    def fingerprint(self) -> str:
        """A hash of the weights and the corpus."""
        return content_hash("lexical ranker", repr((_PASSAGES, _PROPOSALS)), self.retriever.fingerprint)

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        """Return a ranking for each task."""
        return [self._ranking(task) for task in tasks]

    def _ranking(self, task: RankTask) -> Ranking:
        rows = self.reader.read(task)
        return ranking(rows.searches, _squashed(rows.passages @ self._passages), _squashed(rows.rows @ self._proposals))


def _weights(weights: dict[str, float], names: tuple[str, ...]) -> NDArray[np.float32]:
    return np.array([weights.get(name, 0.0) for name in names], np.float32)


def _squashed(values: NDArray[np.float32]) -> NDArray[np.float64]:
    made: NDArray[np.float64] = 1.0 / (1.0 + np.exp(2.0 - 2.0 * values.astype(np.float64)))
    return made
