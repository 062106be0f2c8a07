"""What an ended episode scores against gold."""

from __future__ import annotations

from ..actions.state import EvidenceState
from ..data.answer_scores import exact_match, token_f1
from ..data.records import Gold
from ..data.support_scores import support_recall

CUTOFFS = (2, 5)


def episode_metrics(gold: Gold, state: EvidenceState) -> dict[str, float]:
    """Return the metrics of a concluded state, each in [0, 1].

    ``support_recall``: share of the supporting documents held; ``full_support``: 1 if all are;
    ``context_support_recall``: share of them of which something reaches the prompt of the answer;
    ``recall_at_2`` and ``recall_at_5``: the same over the first 2 or 5 passages as ordered, by the ranker's score where
    there is one, else by arrival (R@k of passage retrieval);
    ``answer_em`` and ``answer_f1``: against the best of the references (no references: the empty answer is right).
    """
    recall = support_recall(gold, state.passages)
    context, ordered = state.reading, state.ordered
    prompted = {s.passage_id for s in state.snippets} if state.snippets else {p.id for p in context}
    text = state.answer.text if state.answer else ""
    return {
        "support_recall": recall,
        "full_support": float(recall == 1.0),
        "context_support_recall": support_recall(gold, [p for p in context if p.id in prompted]),
        **{f"recall_at_{k}": support_recall(gold, ordered[:k]) for k in CUTOFFS},
        "answer_em": exact_match(text, gold.references),
        "answer_f1": token_f1(text, gold.references),
    }
