"""IRCoT-style schedule: retrieve, then a new query from the evidence at every step."""

from __future__ import annotations

from .schedules import Columns, Schedule, Wish


class IRCoTController(Schedule):
    """Runs ``retrieve_more``, then ``rewrite_query`` until the rewriter has nothing new or a cap is reached.

    After *Interleaving Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step Questions*
    (arXiv 2212.10509). Kept: the first retrieval uses the question, every later one a text that the generator has just
    written from what was retrieved, and nothing decides whether to go on but the chain itself. Simplified:

    1. A rewritten query stands for the next sentence of the chain of thought, which the original uses as its query.
    2. The original ends when a sentence says "answer is"; here the chain ends when the rewriter has no new query.
    3. The original keeps at most 15 paragraphs and 8 sentences; here the caps of the task hold.
    4. The answer comes from the reader that all methods share, which sees the passages but not the chain.
    """

    needs = ("rewrite_query",)

    def wishes(self, features: Columns) -> list[Wish]:
        """Want evidence first, then rewriting."""
        return [Wish("retrieve_more", features["documents"] == 0), Wish("rewrite_query")]
