"""S2G-style schedule: judge sufficiency, search for the gap, until the evidence suffices."""

from __future__ import annotations

from .schedules import Columns, Schedule, Wish, found_sufficient


class S2GController(Schedule):
    """Retrieves, then loops ``sufficiency_check`` and ``gap_query`` until the evidence is found sufficient.

    After *S2G-RAG: Structured Sufficiency and Gap Judging for Iterative Retrieval-Augmented QA* (arXiv 2604.23783).
    Kept: after each retrieval a judge says whether the evidence suffices; if not, the gap that it names becomes the
    next query; nothing else ends the loop but the budget. Simplified:

    1. The judge is the generator's, which all methods share, not one distilled for the purpose; a gap is one text, not
       a list of structured items.
    2. Where no new gap is known (the judge named none or an old one, or judging is disabled) the loop goes on in the
       ranking of the question.
    3. Nothing is judged on the last step, where no verdict could change anything; it goes on in that ranking too.
    4. The sentence-level evidence context of the original is ``compress``, which runs once before the answer, as for
       all methods.
    """

    needs = ("gap_query", "sufficiency_check")
    reads = ("documents", "probed", "verdict", "steps_left")

    def wishes(self, features: Columns) -> list[Wish]:
        """Want evidence, an end once it suffices, else the gap, a judgement, or more of the ranking."""
        return [
            Wish("retrieve_more", features["documents"] == 0),
            Wish("stop_answer", found_sufficient(features)),
            Wish("gap_query"),
            Wish("sufficiency_check", features["steps_left"] > 1),
            Wish("retrieve_more"),
        ]
