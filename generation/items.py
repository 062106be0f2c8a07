"""Training examples prepared once: evidence, labels and inner folds, shared by all folds of a cross-fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.answer_scores import normalise_answer
from ..data.records import Gold, content_hash
from ..data.splits import fold_of
from ..data.support_scores import support_recall
from ..data.text import words
from .evidence import IDF_BITS, Evidence
from .examples import Example, is_support
from .gaps import Gaps
from .model import half
from .question import read_question, strip_possessive
from .reading import only, read_passage, title_core

INNER_FOLDS = 2


@dataclass(slots=True, eq=False)
class Item:
    """A prepared example.

    Attributes:
        example: what it was made from. evidence: read without gold.
        fold: the inner fold of its question. teaches: whether sentences and answers are learned from it.
        supports: (rows,) bool, whether a sentence supports. sufficient: whether all gold support is held.
    """

    example: Example
    evidence: Evidence
    fold: int
    teaches: bool
    supports: NDArray[np.bool_]
    sufficient: bool

    @property
    def lacks_among_others(self) -> bool:
        """Support is missing, and not all that is held is support: the bodies that episodes meet."""
        gold = self.example.gold
        return not self.sufficient and not all(is_support(gold, p) for p in self.example.passages)

    def cut(self, scores: NDArray[np.float64], n: int) -> Item:
        """Return the item with its ``n`` best sentences only, as compression leaves them; without ``supports``."""
        rows = self.evidence.rows
        kept = {k for k in np.argsort(-scores, kind="stable").tolist() if rows[k][1].index >= 0}
        best = sorted(kept, key=lambda k: (-scores[k], k))[:n]
        named = {(rows[k][0], rows[k][1].index) for k in best}
        passages = [only(p, {i for j, i in named if j == at}) for at, p in enumerate(self.example.passages)]
        evidence = Evidence(self.evidence.question, [p for p in passages if p.text], self.evidence.idf)
        return Item(
            self.example, evidence, self.fold, True, sentence_labels(self.example.gold, evidence), self.sufficient
        )


def idf_table(examples: Sequence[Example]) -> NDArray[np.float32]:
    """Return log((N + 1) / (df + 1)) of each stem bucket over the distinct passages, the greatest scaled to 1."""
    passages = {p.id: p for e in examples for p in e.passages}
    counts = np.zeros(1 << IDF_BITS)
    mask = (1 << IDF_BITS) - 1
    for p in passages.values():
        counts[np.unique([s & mask for s in read_passage(p).stems] or [0])] += 1
    weights = np.log((len(passages) + 1.0) / (counts + 1.0))
    return half((weights / max(float(weights.max()), 1e-9)).astype(np.float32))


def prepare(examples: Sequence[Example], idf: NDArray[np.float32], seed: int) -> list[Item]:
    """Prepare examples, in order."""
    taught = _taught(examples)
    return [_item(e, idf, seed, i in taught) for i, e in enumerate(examples)]


def _item(example: Example, idf: NDArray[np.float32], seed: int, teaches: bool) -> Item:
    evidence = Evidence(read_question(example.question), example.passages, idf)
    fold = fold_of(content_hash("inner", _group(example)), INNER_FOLDS, seed)
    supports = sentence_labels(example.gold, evidence)
    sufficient = example.gold.answerable and support_recall(example.gold, example.passages) == 1.0
    return Item(example, evidence, fold, teaches, supports, sufficient)


def _group(example: Example) -> str:
    """Return what decides the inner fold: the answer, since models learn answers by heart; else the question."""
    answer = normalise_answer(example.gold.answers[0]) if example.gold.answers else ""
    return example.question if answer in {"", "yes", "no"} else answer


def _taught(examples: Sequence[Example]) -> set[int]:
    """Choose for each question the sufficient bodies with fewest and with most passages."""
    groups: dict[str, list[int]] = {}
    for i, e in enumerate(examples):
        if support_recall(e.gold, e.passages) == 1.0:
            groups.setdefault(e.question, []).append(i)
    chosen: set[int] = set()
    for group in groups.values():
        ordered = sorted(group, key=lambda i: (len(examples[i].passages), i))
        chosen |= {ordered[0], ordered[-1]}
    return chosen


def sentence_labels(gold: Gold, evidence: Evidence) -> NDArray[np.bool_]:
    """Say which rows support: the annotated facts, else sentences of gold passages that hold an answer of a step."""
    facts = set(gold.supporting_facts)
    answers = [normalise_answer(a) for a in (*gold.answers, *(h.answer for h in gold.decomposition))]
    out = np.zeros(len(evidence.rows), bool)
    for k, (p, s) in enumerate(evidence.rows):
        passage = evidence.readings[p].passage
        if facts:
            out[k] = (passage.title, s.index) in facts
        elif is_support(gold, passage):
            text = f" {normalise_answer(s.text)} "
            out[k] = any(a and f" {a} " in text for a in answers)
    return out


def answer_labels(gold: Gold, norms: Sequence[str]) -> NDArray[np.float64]:
    """Return the token F1 of each candidate with the best reference."""
    references = [Counter(normalise_answer(a).split()) for a in gold.answers]
    known: dict[str, float] = {}
    for norm in norms:
        if norm not in known:
            parts = norm.split()
            known[norm] = max((_f1(parts, r) for r in references), default=0.0)
    return np.array([known[n] for n in norms], np.float64)


def _f1(parts: list[str], reference: Counter[str]) -> float:
    if not any(w in reference for w in parts):
        return 0.0
    shared = sum((Counter(parts) & reference).values())
    return 2 * shared / (len(parts) + sum(reference.values()))


def gap_labels(example: Example, gaps: Gaps) -> NDArray[np.float64]:
    """Return 1 for a name that is the title of missing support, 0.5 for half of one, else 0."""
    gold = example.gold
    held = {p.title for p in example.passages if is_support(gold, p)}
    wanted = [_title_key(t) for t in gold.support_titles if t not in held]
    return np.array([max((_fit(k, t) for t in wanted), default=0.0) for k in gaps.keys], np.float64)


def _title_key(title: str) -> str:
    return " ".join(strip_possessive(w) for w in words(title_core(title)))


def _fit(key: str, title: str) -> float:
    if key == title:
        return 1.0
    return 0.5 if f" {key} " in f" {title} " and 2 * len(key) >= len(title) else 0.0
