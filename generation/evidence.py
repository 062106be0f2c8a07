"""A question beside its evidence: how passages and sentences overlap with it and lead to each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from .question import CHOICE, YES_NO, QuestionReading
from .reading import PassageReading, SentenceReading, read_passage

IDF_BITS = 15
MAX_PASSAGES = 40
SENTENCE_FEATURES = (
    "overlap", "overlap_relation", "overlap_entity", "overlap_before", "overlap_after", "overlap_passage",
    "overlap_with_title", "title_in_question", "title_fraction", "depth", "titles_mentioned", "mentions_anchor",
    "mentions_further", "link_overlap", "index", "sentences", "words", "overlap_open", "passage_rank", "passages",
    "overlap_rank", "passage_overlap_rank", "in_links", "out_links", "best_overlap", "anchors", "form",
    "question_words", "linked_by_anchor", "is_title", "open_relation", "title_mentioned_here",
)  # fmt: skip
_FAR = 4
_MASK = (1 << IDF_BITS) - 1


class Evidence:
    """A question and the passages held, in order; everything here is computed without gold.

    Args:
        question: the question, read.
        passages: the passages held, in order; at most 40 are read.
        idf: (2^15,) float32, weight of each stem bucket in [0, 1].

    Attributes:
        weight: weight of each stem of the question.
        share: (P,) weighted share of the question that each passage has.
        title_fraction: (P,) weighted share of each title's stems that the question has.
        title_exact: (P,) bool, the title stands in the question word for word.
        links: (P, P) bool, passage i mentions the title of passage j.
        depth: (P,) 0 for titles in the question, 1 for those linked from them, and so on; 4 for the rest.
        rows: (passage, sentence) for every sentence read, titles included; row_passage: (rows,) their passages.
        features: (rows, len(SENTENCE_FEATURES)) float32.
    """

    def __init__(self, question: QuestionReading, passages: Sequence[Passage], idf: NDArray[np.float32]) -> None:
        self.question = question
        self.idf = idf
        self.readings: list[PassageReading] = [read_passage(p) for p in passages[:MAX_PASSAGES]]
        self._weigh_question()
        self._titles()
        self._links()
        self.depth = self._depths()
        self.rows: list[tuple[int, SentenceReading]] = [
            (i, s) for i, r in enumerate(self.readings) for s in r.sentences
        ]
        self.row_passage = np.array([i for i, _ in self.rows], np.int64)
        self.features = self._sentence_features()

    def weigh(self, stem: int) -> float:
        """Return the weight of a stem, in [0, 1]."""
        return float(self.idf[stem & _MASK])

    def mass(self, stems: frozenset[int] | set[int]) -> float:
        """Return the summed weight of those stems that the question has."""
        weight = self.weight
        return sum(weight[s] for s in sorted(stems & weight.keys()))

    def weights_of(self, stems: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the question's weight of each stem, 0 for stems that it lacks."""
        at, found = self.found(stems)
        return np.where(found, self._weights[at], 0.0)

    def found(self, stems: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the place of each stem among the question's, and whether it is there."""
        at = np.searchsorted(self._stems, stems)
        return at, self._stems[at] == stems

    def _weigh_question(self) -> None:
        q = self.question
        self.weight = {s: self.weigh(s) for s in sorted(q.relation | q.entity)}
        self.total = sum(self.weight.values()) or 1.0
        self._stems = np.array([*self.weight, 1 << 40], np.int64)
        self._weights = np.array([*self.weight.values(), 0.0], np.float64)
        self.is_relation = np.array([*(s in q.relation for s in self.weight), False], bool)

    def _titles(self) -> None:
        key = self.question.key
        self.title_exact = np.array([_stands_in(r, key) for r in self.readings], bool)
        shares = []
        for r in self.readings:
            total = sum(self.weigh(s) for s in sorted(r.title_stems))
            shares.append(self.mass(r.title_stems) / total if total else 0.0)
        self.title_fraction = np.array(shares, np.float64)
        self.anchored = frozenset().union(*(r.title_stems for r, e in zip(self.readings, self.title_exact) if e))

    def _links(self) -> None:
        n = len(self.readings)
        self.links = np.zeros((n, n), bool)
        keys = [r.title_key if len(r.title_key) > 4 else "" for r in self.readings]
        for i, reading in enumerate(self.readings):
            text, own = reading.key, keys[i]
            for j, key in enumerate(keys):
                if key and i != j and key != own and key in text:
                    self.links[i, j] = True

    def _depths(self) -> NDArray[np.int64]:
        depth = np.where(self.title_exact, 0, _FAR)
        for level in range(1, _FAR):
            reached = self.links[depth == level - 1].any(axis=0) if len(depth) else np.zeros(0, bool)
            depth = np.where(reached & (depth > level), level, depth)
        return depth

    def _sentence_features(self) -> NDArray[np.float32]:
        n = len(self.rows)
        if n == 0:
            self.share = np.zeros(0)
            return np.zeros((0, len(SENTENCE_FEATURES)), np.float32)
        overlap = _Overlaps(self)
        self.share = overlap.passage
        p = self.row_passage
        columns = np.concatenate([r.columns for r in self.readings])
        mentions = self._mentions(overlap.with_title)
        same = p[1:] == p[:-1]
        before, after = np.zeros(n), np.zeros(n)
        before[1:] = np.where(same, overlap.all[:-1], 0.0)
        after[:-1] = np.where(same, overlap.all[1:], 0.0)
        inward, outward = self.links.sum(axis=0), self.links.sum(axis=1)
        by_anchor = self.links[self.depth == 0].any(axis=0)
        form = self.question.form if self.question.form in (CHOICE, YES_NO) else 0
        values = [
            overlap.all, overlap.relation, overlap.all - overlap.relation, before, after, overlap.passage[p],
            overlap.with_title, self.title_exact[p], self.title_fraction[p], self.depth[p], *mentions.tolist(),
            self.link_overlap[p], columns[:, 0], columns[:, 1], columns[:, 2], overlap.open, p,
            _all(n, len(self.readings)),
            descending_rank(overlap.all), descending_rank(overlap.passage)[p], inward[p], outward[p],
            _all(n, overlap.all.max()), _all(n, self.title_exact.sum()), _all(n, form),
            _all(n, min(len(self.question.content), 60)), by_anchor[p], columns[:, 3], overlap.open_relation,
            columns[:, 4],
        ]  # fmt: skip
        return np.stack([np.asarray(v, np.float32) for v in values], axis=1)

    def _mentions(self, with_title: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (3, rows): titles named, whether one is of depth 0, whether one is deeper."""
        out = np.zeros((3, len(self.rows)))
        self.link_overlap = np.zeros(len(self.readings))
        starts = np.searchsorted(self.row_passage, np.arange(len(self.readings)))
        for i, j in zip(*np.nonzero(self.links)):
            key = self.readings[j].title_key
            for k, s in enumerate(self.readings[i].sentences[1:], start=int(starts[i]) + 1):
                if key in s.key:
                    out[0, k] += 1
                    out[1 if self.depth[j] == 0 else 2, k] = 1
                    self.link_overlap[j] = max(self.link_overlap[j], with_title[k])
        return out


class _Overlaps:
    """Question overlaps of rows and passages, as shares of the question's weight."""

    def __init__(self, e: Evidence) -> None:
        stems = np.concatenate([r.flat_stems for r in e.readings])
        sizes = np.array([len(r.sentences) for r in e.readings])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        row = np.concatenate([r.flat_row + s for r, s in zip(e.readings, starts)])
        in_title = np.concatenate([r.flat_title for r in e.readings])
        at, found = e.found(stems)
        at, row, in_title = at[found], row[found], in_title[found]
        weights = e._weights[at] / e.total
        relation = e.is_relation[at]
        unanchored = ~np.isin(e._stems[at], np.array(sorted(e.anchored), np.int64))
        n = len(e.rows)

        def summed(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.bincount(row[mask], weights[mask], n).astype(np.float64)

        everything = np.ones(len(row), bool)
        self.all = summed(everything)
        self.relation = summed(relation)
        self.open = summed(unanchored)
        self.open_relation = summed(unanchored & relation)
        titles = self.all[starts][e.row_passage]
        self.with_title = self.all - summed(in_title) + titles
        self.passage = _distinct_mass(e.row_passage[row], at, weights, len(e.readings))


def _distinct_mass(
    passage: NDArray[np.int64], at: NDArray[np.int64], weights: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Sum weights by passage, each stem once."""
    _, first = np.unique(passage * 4096 + at, return_index=True)
    return np.bincount(passage[first], weights[first], n).astype(np.float64)


def _all(n: int, value: float) -> NDArray[np.float64]:
    return np.full(n, float(value))


def _stands_in(reading: PassageReading, key: str) -> bool:
    return any(len(k) > 3 and k in key for k in (reading.title_key, reading.full_key))


def descending_rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, 0 for the greatest; ties in order."""
    rank = np.empty(len(values))
    rank[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return rank
