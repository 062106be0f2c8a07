"""Self-Ask-style schedule: are follow-up questions needed? If so, search for the next one."""

from __future__ import annotations

from .schedules import Columns, Schedule, Wish, found_sufficient


class SelfAskController(Schedule):
    """Alternates ``sufficiency_check`` and a follow-up query until the evidence is found sufficient.

    After *Measuring and Narrowing the Compositionality Gap in Language Models* (arXiv 2210.03350), Self-Ask with a
    search engine. Kept: before each search the generator says whether a follow-up question is needed and which; every
    search after the first is for a follow-up question. Simplified:

    1. The first search is for the question: a probe needs evidence, while the original asks its first follow-up
       question before any search.
    2. A follow-up question is the gap that the probe wrote (``gap_query``). Where none is open it is a rewritten query
       (``rewrite_query``): where the probe's gap was searched before, on the last step, which leaves no room for a
       probe and a search, and wherever probing is disabled.
    3. There are no intermediate answers; the passages found stay in the context instead.
    """

    needs = ("gap_query", "rewrite_query", "sufficiency_check")
    reads = ("documents", "probed", "verdict", "steps_left")

    def wishes(self, features: Columns) -> list[Wish]:
        """Want evidence, an end once it suffices, else a follow-up question."""
        return [
            Wish("retrieve_more", features["documents"] == 0),
            Wish("stop_answer", found_sufficient(features)),
            Wish("gap_query"),
            Wish("sufficiency_check", features["steps_left"] > 1),
            Wish("rewrite_query"),
        ]
