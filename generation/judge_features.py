"""Features of a body of evidence as a whole, by which its sufficiency is judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .attributes import attributes
from .comparison import asks_role, sides_of
from .evidence import Evidence
from .gaps import Gaps
from .question import CHOICE, YES_NO

JUDGE_FEATURES = (
    "passages", "anchors", "covered", "covered_relation", "uncovered_entity", "form", "names_open", "comparison_open",
    "gap_1", "gap_2", "gap_3", "gap_sum", "sentence_1", "sentence_2", "sentence_3", "sentence_4", "sentence_sum",
    "passages_strong", "second_passage", "third_passage", "fourth_passage", "depth1", "depth2", "linked_strong",
    "best_unanchored", "sides_held", "targets_held", "targets_dated", "targets_placed", "question_words",
    "best_passage_overlap", "second_passage_overlap", "pair_covered", "anchor_out_links", "strong_link", "role",
)  # fmt: skip


def judge_features(
    evidence: Evidence,
    scores: NDArray[np.float64],
    gaps: Gaps,
    gap_scores: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Return (len(JUDGE_FEATURES),) float32.

    Args:
        evidence: the evidence.
        scores: (rows,) log-odds that a sentence supports.
        gaps: the names that may lead further; gap_scores: (names,) their log-odds.
    """
    sentence = 1 / (1 + np.exp(-scores)) if len(scores) else np.zeros(1)
    gap = _top(1 / (1 + np.exp(-gap_scores)), 3)
    best = _best_of_passages(evidence, sentence)
    ordered = _top(best, 4)
    state = gaps.state
    values = [
        *(state[n] for n in ("passages", "anchors", "covered", "covered_relation", "uncovered_entity", "form")),
        state["names_open"], state["comparison_open"],
        *gap, float((1 / (1 + np.exp(-gap_scores))).sum()) if len(gap_scores) else 0.0,
        *_top(sentence, 4), float(sentence.sum()), float((best > 0.3).sum()), *ordered[1:],
        *_chain(evidence, best), *_comparison(evidence), float(len(evidence.question.content)), *_pairs(evidence),
        *_links(evidence, best), float(asks_role(evidence)),
    ]  # fmt: skip
    return np.array(values, np.float32)


def _top(values: NDArray[np.float64], n: int) -> list[float]:
    best = np.sort(values)[::-1][:n]
    return [*best.tolist(), *[0.0] * (n - len(best))]


def _best_of_passages(evidence: Evidence, sentence: NDArray[np.float64]) -> NDArray[np.float64]:
    best = np.zeros(len(evidence.readings))
    for k, (p, _) in enumerate(evidence.rows):
        best[p] = max(best[p], sentence[k])
    return best


def _chain(evidence: Evidence, best: NDArray[np.float64]) -> list[float]:
    depth = evidence.depth
    far = best[depth > 0]
    return [
        float((depth == 1).sum()),
        float((depth == 2).sum()),
        float(best[(depth == 1) | (depth == 2)].max(initial=0.0)),
        float(far.max(initial=0.0)),
    ]


def _comparison(evidence: Evidence) -> list[float]:
    """Return how many sides of a comparison, and passages to compare, are held; how many tell a date or a country."""
    sides = sides_of(evidence) if evidence.question.form in (CHOICE, YES_NO) else None
    if sides is None:
        return [-1.0, -1.0, -1.0, -1.0]
    targets = [attributes(evidence.readings[s.target].passage) for s in sides if s.target >= 0]
    dated = sum(a.birth is not None or a.first is not None for a in targets)
    placed = sum(bool(a.nations or a.regions) for a in targets)
    return [float(sum(s.anchor >= 0 for s in sides)), float(len(targets)), float(dated), float(placed)]


def _pairs(evidence: Evidence) -> list[float]:
    """Return overlaps of the two best passages, and what they cover together."""
    total = sum(evidence.weight.values()) or 1.0
    shares = [evidence.mass(r.stems) / total for r in evidence.readings]
    order = np.argsort(-np.array(shares), kind="stable")[:2]
    together: frozenset[int] = frozenset().union(*(evidence.readings[i].stems for i in order))
    return [*_top(np.array(shares), 2), evidence.mass(together) / total]


def _links(evidence: Evidence, best: NDArray[np.float64]) -> list[float]:
    if not len(best):
        return [0.0, 0.0]
    strong = np.where(evidence.links, np.minimum(best[:, None], best[None, :]), 0.0)
    return [float(evidence.links[evidence.depth == 0].sum()), float(strong.max())]
