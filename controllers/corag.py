"""CoRAG-style schedule: a chain of rewritten queries of fixed length."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.errors import ConfigError
from .schedules import Columns, Schedule, Wish


class CoRAGController(Schedule):
    """Runs ``retrieve_more``, then a chain of ``length`` retrievals by ``rewrite_query``, then stops.

    After *Chain-of-Retrieval Augmented Generation* (arXiv 2501.14342), greedy decoding. Kept: the final context holds
    what the question itself retrieved and what a chain of sub-queries did, each written from the earlier ones and their
    passages; the chain has a fixed length and does not look whether it suffices. Simplified:

    1. A rewritten query stands for a sub-query; the generator is not trained by rejection sampling to write chains.
    2. There are no sub-answers; the passages found stay in the context instead.
    3. A link for which the rewriter has no new query is taken from the ranking of the question.
    4. Neither best-of-N nor tree search.

    Under the paper's four steps a chain of three differs from :class:`.ircot.IRCoTController` only where the rewriter
    has no new query.

    Args:
        feature_names: names of the features.
        operations: names of the operation set.
        length: retrievals after the first, at least 1 (3 in the published comparison).

    Raises:
        ConfigError: if ``length`` is below 1, or a feature or an operation is missing.
    """

    needs = ("rewrite_query",)
    reads = ("documents", "retrievals")

    def __init__(self, feature_names: Sequence[str], operations: Sequence[str], length: int = 3) -> None:
        super().__init__(feature_names, operations)
        if length < 1:
            raise ConfigError(f"the length of a chain must be at least 1, found {length}")
        self.length = length

    def wishes(self, features: Columns) -> list[Wish]:
        """Want evidence, then the links of the chain, then an end."""
        unfinished = features["retrievals"] <= self.length
        return [
            Wish("retrieve_more", features["documents"] == 0),
            Wish("rewrite_query", unfinished),
            Wish("retrieve_more", unfinished),
            Wish("stop_answer"),
            Wish("rewrite_query"),
        ]
