"""What is missing: names met in the question and the evidence that may lead to support not yet held."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..data.text import STOP_WORDS, words
from .candidates import N_CUES, N_STEMS, STATIC_FEATURES, CandidateReading, name_key, read_candidates
from .evidence import SENTENCE_FEATURES, Evidence, descending_rank
from .features import surroundings
from .lexicon import NATION_WORDS, stem_id, word_id
from .question import QuestionReading, read_question, strip_possessive
from .spans import NAME, QUOTED, candidate_spans, tokens

_FROM_SENTENCE = (
    "overlap", "overlap_relation", "overlap_open", "open_relation", "depth", "title_in_question", "title_fraction",
    "index", "titles_mentioned", "overlap_with_title", "linked_by_anchor",
)  # fmt: skip
_FROM_STATIC = (
    "place_in_sentence", "before_by", "before_in", "before_of", "after_parenthesis", "personlike", "in_quotes", "kind",
    "in_lead_parentheses", "before_comma",
)  # fmt: skip
GAP_FEATURES = (
    *(f"sentence_{name}" for name in _FROM_SENTENCE), *_FROM_STATIC,
    "mentions", "passages_with", "first_rank", "last_rank", "sentence_score", "score_gap", "nation", "is_year",
    "words", "chars", "idf", "in_question", "question_share", "question_only", "held_title", "held_title_share",
    "in_own_title", "mentioned_by_anchor", "overlap_by_anchor", "near_left", "near_right", "near_relation_left",
    "near_relation_right", "distance", "asked_near", "cross", "cross_gap", "cross_rank", "passages", "anchors",
    "covered", "covered_relation", "uncovered_entity", "form", "best_sentence_score", "names_open", "comparison_open",
)  # fmt: skip
_SENTENCE_COLUMNS = [SENTENCE_FEATURES.index(name) for name in _FROM_SENTENCE]
_STATIC_COLUMNS = [STATIC_FEATURES.index(name) for name in _FROM_STATIC]
_MAX_NAMES = 120
_MAX_ROWS = 60
_NOWHERE = -9.0


class Gaps:
    """The names that may lead further: the question's own first, then those of the evidence in order.

    Attributes:
        keys: lower-case words of each name, unique; texts: each as first written.
        state: numbers on the evidence as a whole, by name.
    """

    def __init__(self, evidence: Evidence, scores: NDArray[np.float64]) -> None:
        self.evidence = evidence
        self.scores = scores
        self._found = [read_candidates(r.passage) for r in evidence.readings]
        asked = question_names(evidence.question.text)
        self._collect(asked)
        self.state = self._state(asked)

    def __len__(self) -> int:
        return len(self.keys)

    def _collect(self, asked: tuple[tuple[str, str], ...]) -> None:
        """Number the names, and keep every mention as (name, row, passage, candidate)."""
        place: dict[str, int] = {}
        texts: list[str] = []
        for key, text in asked:
            if key not in place:
                place[key] = len(texts)
                texts.append(text)
        allowed = self._allowed()
        name, row, passage, candidate = [], [], [], []
        start = 0
        for p, found in enumerate(self._found):
            where = found.row[found.names] + start
            for j in np.nonzero(allowed[where])[0].tolist():
                key = found.name_keys[j]
                slot = place.get(key, -1)
                if slot < 0 and len(texts) < _MAX_NAMES:
                    slot = place[key] = len(texts)
                    texts.append(found.texts[int(found.names[j])])
                if slot >= 0:
                    name.append(slot)
                    row.append(int(where[j]))
                    passage.append(p)
                    candidate.append(int(found.names[j]))
            start += len(self.evidence.readings[p].sentences)
        self.keys = list(place)
        self.texts = texts
        self._name, self._row = np.array(name, np.int64), np.array(row, np.int64)
        self._passage, self._candidate = np.array(passage, np.int64), np.array(candidate, np.int64)
        self._choose_best()

    def _allowed(self) -> NDArray[np.bool_]:
        """Say which rows are read: titles and the 60 best sentences."""
        allowed = np.zeros(len(self.scores), bool)
        allowed[np.argsort(-self.scores, kind="stable")[:_MAX_ROWS]] = True
        if len(allowed):
            allowed |= self.evidence.features[:, SENTENCE_FEATURES.index("is_title")] > 0
        return allowed

    def _choose_best(self) -> None:
        """Find for each name the mention in the best sentence; -1 where there is none."""
        self._best = np.full(len(self.keys), -1, np.int64)
        if len(self._name):
            order = np.lexsort((np.arange(len(self._name)), -self.scores[self._row], self._name))
            names, first = np.unique(self._name[order], return_index=True)
            self._best[names] = order[first]

    def cues(self) -> NDArray[np.int64]:
        """Return (names, N_CUES): each name's context in its best sentence; zeros where there is none."""
        out = np.zeros((len(self), N_CUES), np.int64)
        for i in np.nonzero(self._best >= 0)[0].tolist():
            out[i] = self._reading(i).cues[self._candidate[self._best[i]]]
        return out

    def _reading(self, i: int) -> CandidateReading:
        return self._found[int(self._passage[self._best[i]])]

    def _state(self, asked: tuple[tuple[str, str], ...]) -> dict[str, float]:
        e = self.evidence
        held: frozenset[int] = frozenset().union(*(r.stems for r in e.readings))
        relation, entity = e.question.relation, e.question.entity
        titles = {r.title_key.strip() for r in e.readings} | {r.full_key.strip() for r in e.readings}
        return {
            "passages": float(len(e.readings)),
            "anchors": float(e.title_exact.sum()),
            "covered": e.mass(held) / e.total,
            "covered_relation": e.mass(held & relation) / (e.mass(relation) or 1.0),
            "uncovered_entity": e.mass(entity - held) / e.total,
            "form": float(e.question.form),
            "best_sentence_score": float(self.scores.max()) if len(self.scores) else _NOWHERE,
            "names_open": float(sum(key not in titles for key, _ in asked)),
            "comparison_open": float(sum(name_key(s) not in titles for s in e.question.sides)),
        }

    def features(self, cross: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return (names, len(GAP_FEATURES)) float32 for the association scores ``cross``, shape (names,)."""
        n = len(self)
        out = np.zeros((n, len(GAP_FEATURES)), np.float32)
        if n == 0:
            return out
        s, t = len(_SENTENCE_COLUMNS), len(_SENTENCE_COLUMNS) + len(_STATIC_COLUMNS)
        met = np.nonzero(self._best >= 0)[0]
        rows = self._row[self._best[met]]
        out[met, :s] = self.evidence.features[rows][:, _SENTENCE_COLUMNS]
        for i in met.tolist():
            out[i, s:t] = self._reading(i).static[self._candidate[self._best[i]], _STATIC_COLUMNS]
        columns = [
            *self._mention_columns(met, rows),
            *self._word_columns(),
            *self._anchor_columns(),
            *self._near_columns(met),
        ]
        columns += [cross, cross - cross.max(), np.minimum(descending_rank(cross), 30)]
        for j, column in enumerate(columns):
            out[:, t + j] = column
        out[:, t + len(columns) :] = list(self.state.values())
        return out

    def _mention_columns(self, met: NDArray[np.int64], rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        n = len(self)
        pairs = np.unique(self._name * 4096 + self._passage)
        first, last = np.full(n, 99.0), np.full(n, -1.0)
        np.minimum.at(first, self._name, self._passage.astype(float))
        np.maximum.at(last, self._name, self._passage.astype(float))
        score = np.full(n, _NOWHERE)
        score[met] = self.scores[rows]
        best = self.state["best_sentence_score"]
        counts = np.bincount(self._name, minlength=n).astype(float)
        return [counts, np.bincount(pairs // 4096, minlength=n).astype(float), first, last, score, score - best]

    def _near_columns(self, met: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Return the question's weight around the best mention, its distance, and whether what is asked is near."""
        out = np.zeros((6, len(self)))
        out[4] = 30.0
        asked = np.array(sorted(self.evidence.question.asked), np.int64)
        passages = self._passage[self._best[met]]
        for p in np.unique(passages).tolist():
            names = met[passages == p]
            index = self._candidate[self._best[names]]
            found = self._found[p]
            out[:5, names] = surroundings(self.evidence, found, index)[:, 2:].T
            hits = np.concatenate([[0], _among(found.stems, asked).cumsum()])
            row = found.row[index]
            low = np.maximum(found.first[index] - 6, found.begin[row])
            high = np.minimum(found.last[index] + 7, found.end[row])
            out[5, names] = hits[high] - hits[low]
        return list(out)

    def _word_columns(self) -> list[NDArray[np.float64]]:
        e = self.evidence
        known = [_key_reading(key) for key in self.keys]
        stems = np.array([k[0] for k in known], np.int64)
        n_stems = np.maximum((stems != 0).sum(axis=1), 1)
        weight = np.where(stems != 0, e.idf[stems & (len(e.idf) - 1)], 0.0).sum(axis=1) / n_stems
        asked = (e.found(stems)[1] & (stems != 0)).sum(axis=1) / n_stems
        whole = np.array(
            [s == 1.0 and f" {key} " in e.question.key for key, s in zip(self.keys, asked.tolist())], float
        )
        held, share = np.zeros(len(known)), np.zeros(len(known))
        own = np.zeros(len(known))
        passage = np.where(self._best >= 0, self._passage[self._best] if len(self._passage) else 0, -1)
        ids = np.array([k[1] for k in known], np.int64)
        for j, r in enumerate(e.readings):
            title = np.array(sorted(r.title_stems), np.int64)
            shared = (_among(stems, title) & (stems != 0)).sum(axis=1)
            share = np.maximum(share, shared / np.maximum(n_stems + len(title) - shared, 1))
            held = np.maximum(held, (ids == word_id(r.title_key.strip())) | (ids == word_id(r.full_key.strip())))
            own = np.where(passage == j, shared == n_stems, own)
        columns = [[k[2] for k in known], [k[3] for k in known], [k[4] for k in known], [k[5] for k in known]]
        listed = [np.array(c, float) for c in columns]
        return [*listed, weight, whole, asked, (self._best < 0).astype(float), held, share, own]

    def _anchor_columns(self) -> list[NDArray[np.float64]]:
        out = np.zeros((2, len(self)))
        if len(self._name):
            anchored = self.evidence.title_exact[self._passage]
            names, rows = self._name[anchored], self._row[anchored]
            out[0, names] = 1.0
            np.maximum.at(out[1], names, self.evidence.features[rows, 0].astype(float))
        return list(out)


def _among(values: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which values are among a few others."""
    out = np.zeros(values.shape, bool)
    for one in ordered:
        out |= values == one
    return out


@lru_cache(maxsize=100_000)
def _key_reading(key: str) -> tuple[tuple[int, ...], int, float, float, float, float]:
    """Return stems (padded), id, whether it is a nation or a year, words and characters of a name."""
    parts = key.split()
    stems = [stem_id(w) for w in parts][:N_STEMS]
    padded = (*stems, *[0] * (N_STEMS - len(stems)))
    return padded, word_id(key), float(key in NATION_WORDS), float(key.isdigit()), float(len(parts)), float(len(key))


@lru_cache(maxsize=20_000)
def question_names(text: str) -> tuple[tuple[str, str], ...]:
    """Return (key, text) of the names and quotations of a question, sides of a choice first."""
    question: QuestionReading = read_question(text)
    spans = candidate_spans(question.text, tokens(question.text)[:400])
    named = [s.text for s in spans if s.kind in (NAME, QUOTED) and s.text.lower() not in STOP_WORDS]
    pairs = ((name_key(name), name) for name in dict.fromkeys((*question.sides, *named)))
    return tuple((key, name) for key, name in pairs if key)


def uncovered(evidence: Evidence, but: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the content words of the question, in order, that stand in no held passage nor in ``but``."""
    held: frozenset[int] = frozenset().union(*(r.stems for r in evidence.readings))
    taken = held | {stem_id(strip_possessive(w)) for text in but for w in words(text)}
    return tuple(w for w in evidence.question.content if stem_id(strip_possessive(w)) not in taken)
