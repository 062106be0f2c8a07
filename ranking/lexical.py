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
        scores = _weighed(rows.passages, PASSAGE_FEATURES, _PASSAGES)
        return ranking(rows.searches, scores, _weighed(rows.rows, PROPOSAL_FEATURES, _PROPOSALS))


def _weighed(rows: NDArray[np.float32], names: tuple[str, ...], weights: dict[str, float]) -> NDArray[np.float64]:
    """Return the weighted sums of a few columns, squashed to [0, 1]."""
    total = np.zeros(len(rows))
    # Column by column, since the sums of a matrix product depend on the machine and its threads.
    for name, weight in weights.items():
        total += weight * rows[:, names.index(name)].astype(np.float64)
    made: NDArray[np.float64] = 1.0 / (1.0 + np.exp(2.0 - 2.0 * total))
    return made
