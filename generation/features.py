"""Features of candidate answers: where they stand, what surrounds them, how they fit what is asked."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .candidates import N_CUES, STATIC_FEATURES, TITLE, CandidateReading, read_candidates
from .evidence import SENTENCE_FEATURES, Evidence, descending_rank
from .lexicon import stem_id, word_id
from .question import COUNT, DATE, NATION, PERSON, PLACE, YEAR
from .spans import DATE as DATE_SPAN
from .spans import NAME, NUMBER, PART
from .spans import YEAR as YEAR_SPAN

ANSWER_FEATURES = (
    *STATIC_FEATURES,
    *(f"sentence_{name}" for name in SENTENCE_FEATURES),
    "sentence_score", "sentence_score_gap", "sentence_rank", "cross", "cross_gap", "cross_rank",
    "in_question", "question_share", "near_left", "near_right", "near_relation_left", "near_relation_right", "distance",
    "sentences_with", "passages_with", "is_held_title", "held_title_depth", "is_own_title", "fits", "form",
    "best_sentence_with", "in_depth0", "held_title_share", "held_title_asked", "asked_inside", "asked_left",
    "asked_right", "life_fits", "life_near",
)  # fmt: skip
_WINDOW = 6
_FAR = 30
_BORN, _DIED = stem_id("born"), stem_id("died")


class Candidates:
    """The candidate answers of a body of evidence, from its best sentences, in order of the evidence.

    Attributes:
        passage: (n,) index of the passage; row: (n,) row in ``evidence.rows``.
        cues: (n, N_CUES) int64. static: (n, len(STATIC_FEATURES)) float32. norm_ids: (n,) int64.
    """

    def __init__(self, evidence: Evidence, scores: NDArray[np.float64], max_sentences: int) -> None:
        self.evidence = evidence
        self.sentence_scores = scores
        self._parts = _chosen(evidence, scores, max_sentences)
        self.passage = np.concatenate([np.full(len(i), p) for p, _, i, _ in self._parts] or [np.zeros(0, np.int64)])
        self.row = np.concatenate([k for *_, k in self._parts] or [np.zeros(0, np.int64)])
        cues = [c.cues[i].astype(np.int64) for _, c, i, _ in self._parts]
        self.cues = np.concatenate(cues or [np.zeros((0, N_CUES), np.int64)])
        empty = np.zeros((0, len(STATIC_FEATURES)), np.float32)
        self.static = np.concatenate([c.static[i] for _, c, i, _ in self._parts] or [empty])
        self.norm_ids = np.concatenate([c.norm_ids[i] for _, c, i, _ in self._parts] or [np.zeros(0, np.int64)])

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def norms(self) -> list[str]:
        """Normalised texts."""
        return [c.norms[j] for _, c, i, _ in self._parts for j in i.tolist()]

    def text(self, place: int) -> str:
        """Return the text of one candidate."""
        for _, c, i, _ in self._parts:
            if place < len(i):
                return c.texts[int(i[place])]
            place -= len(i)
        raise IndexError(place)

    def features(self, cross: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return (n, len(ANSWER_FEATURES)) float32 for the association scores ``cross``, shape (n,)."""
        n = len(self)
        if n == 0:
            return np.zeros((0, len(ANSWER_FEATURES)), np.float32)
        scores = self.sentence_scores
        own = scores[self.row]
        score = [own, own - scores.max(), descending_rank(scores)[self.row]]
        linked = [cross, cross - cross.max(), np.minimum(descending_rank(cross), 50)]
        near = [surroundings(self.evidence, c, i) for _, c, i, _ in self._parts]
        out = np.empty((n, len(ANSWER_FEATURES)), np.float32)
        a, b = len(STATIC_FEATURES), len(STATIC_FEATURES) + len(SENTENCE_FEATURES)
        out[:, :a] = self.static
        out[:, a:b] = self.evidence.features[self.row]
        for j, column in enumerate((*score, *linked)):
            out[:, b + j] = column
        out[:, b + 6 : b + 13] = np.concatenate(near)
        out[:, b + 13 :] = self._identity()
        return out

    def _identity(self) -> NDArray[np.float64]:
        """Return what is known of a candidate's text across the evidence."""
        e = self.evidence
        ids = self.norm_ids
        _, group = np.unique(ids, return_inverse=True)
        size = int(group.max()) + 1
        own_scores = self.sentence_scores[self.row]
        best = np.full(size, -99.0)
        np.maximum.at(best, group, own_scores)
        anchored = np.zeros(size)
        np.maximum.at(anchored, group, (e.depth[self.passage] == 0).astype(float))
        titles = np.array([word_id(r.title_key.strip()) for r in e.readings], np.int64)
        same = ids[:, None] == titles[None]
        held = same.any(axis=1)
        depth = np.where(held, e.depth[same.argmax(axis=1)], -1)
        form = np.full(len(self), float(e.question.form))
        columns = [
            _distinct(group, self.row, size)[group], _distinct(group, self.passage, size)[group], held, depth,
            ids == titles[self.passage], self.fits(), form, best[group], anchored[group],
            *self._held_columns(same, held), *self._asked_columns(), *self._life_columns(),
        ]  # fmt: skip
        return np.stack([np.asarray(c, np.float64) for c in columns], axis=1)

    def _held_columns(self, same: NDArray[np.bool_], held: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
        """Return for held titles: share of the question in that passage, share of what is asked in its opening."""
        e = self.evidence
        at = same.argmax(axis=1)
        asked = e.question.asked
        leads = [r.sentences[1].stems if len(r.sentences) > 1 else frozenset() for r in e.readings]
        fit = np.array([len(asked & lead) / max(len(asked), 1) for lead in leads])
        return [np.where(held, e.share[at], -1.0), np.where(held, fit[at], -1.0)]

    def _asked_columns(self) -> list[NDArray[np.float64]]:
        """Return how much of what is asked stands in a candidate, and in the five tokens before and after it."""
        asked = np.array(sorted(self.evidence.question.asked), np.int64)
        inside, left, right = [], [], []
        for _, c, i, _ in self._parts:
            hit = np.isin(c.stems, asked)
            sums = np.concatenate([[0], hit.cumsum()])
            first, last, row = c.first[i], c.last[i] + 1, c.row[i]
            inside.append(sums[last] - sums[first])
            left.append(sums[first] - sums[np.maximum(first - 5, c.begin[row])])
            right.append(sums[np.minimum(last + 5, c.end[row])] - sums[last])
        return [np.concatenate(x).astype(np.float64) for x in (inside, left, right)]

    def _life_columns(self) -> list[NDArray[np.float64]]:
        """Return whether an opening parenthesis, and the word before, fit the birth or death that is asked for."""
        life = self.evidence.question.life
        lead = self.static[:, 7]
        if life == 0:
            return [np.zeros(len(self)), np.zeros(len(self))]
        fits = np.isin(lead, (1, 2)) if life == 1 else lead == 3
        misfits = lead == 3 if life == 1 else np.isin(lead, (1, 2))
        word = _BORN if life == 1 else _DIED
        near = [_follows(c, i, word) for _, c, i, _ in self._parts]
        return [1.0 * fits - misfits, np.concatenate(near)]

    def fits(self) -> NDArray[np.float64]:
        """Say whether the candidate's kind fits the expected answer: 1 yes, 0 no, -1 nothing expected."""
        form = self.evidence.question.form
        kind = self.static[:, 0]
        named = np.isin(kind, (NAME, PART, TITLE))
        nation = self.static[:, 8] > 0
        expected: dict[int, NDArray[Any]] = {
            PERSON: self.static[:, 14] + 0.5 * (named & ~nation),
            DATE: 1.0 * (kind == DATE_SPAN) + 0.5 * (kind == YEAR_SPAN),
            YEAR: kind == YEAR_SPAN,
            COUNT: kind == NUMBER,
            NATION: nation,
            PLACE: named,
        }
        return np.asarray(expected.get(form, np.full(len(self), -1.0)), np.float64)


_Part = tuple[int, CandidateReading, NDArray[np.int64], NDArray[np.int64]]


def _chosen(evidence: Evidence, scores: NDArray[np.float64], max_sentences: int) -> list[_Part]:
    """Return for each passage its number, its candidates, which of them are kept, and their rows in the evidence."""
    kept = np.zeros(len(scores), bool)
    kept[np.argsort(-scores, kind="stable")[:max_sentences]] = True
    parts: list[_Part] = []
    start = 0
    for p, reading in enumerate(evidence.readings):
        size = len(reading.sentences)
        if kept[start : start + size].any():
            found = read_candidates(reading.passage)
            index = np.nonzero(kept[found.row + start] & plausible(found.static, evidence.question.form))[0]
            parts.append((p, found, index, found.row[index] + start))
        start += size
    return parts


def _follows(found: CandidateReading, index: NDArray[np.int64], stem: int) -> NDArray[np.float64]:
    """Return 1 / distance in tokens from a stem before each candidate in its sentence; 0 where there is none."""
    places = np.nonzero(found.stems == stem)[0]
    first, begin = found.first[index], found.begin[found.row[index]]
    if not len(places):
        return np.zeros(len(index))
    at = np.searchsorted(places, first) - 1
    place = places[np.maximum(at, 0)]
    return np.where((at >= 0) & (place >= begin), 1.0 / np.maximum(first - place, 1), 0.0)


def plausible(static: NDArray[np.float32], form: int) -> NDArray[np.bool_]:
    """Say which candidates can answer a question of this form at all: a date has digits, a person capital letters."""
    digits = static[:, STATIC_FEATURES.index("digits")] > 0
    capitals = static[:, STATIC_FEATURES.index("capitals")] > 0
    if form in (DATE, YEAR):
        return digits
    if form == COUNT:
        return digits | (static[:, STATIC_FEATURES.index("number_word")] > 0)
    if form in (PERSON, PLACE):
        return capitals & ~digits
    return np.ones(len(static), bool)


def _distinct(group: NDArray[np.int64], place: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Count the distinct places of each group."""
    pairs = np.unique(group * 4096 + place)
    return np.bincount(pairs // 4096, minlength=size)


def surroundings(e: Evidence, found: CandidateReading, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n, 7): stands in the question, share in it, its weight left and right, of relation words, distance."""
    at, known = e.found(found.stems)
    values = np.where(known, e._weights[at], 0.0)
    related = np.where(e.is_relation[at] & known, values, 0.0)
    sums, related_sums = (np.concatenate([[0.0], v.cumsum()]) for v in (values, related))
    first, last, row = found.first[index], found.last[index] + 1, found.row[index]
    low = np.maximum(first - _WINDOW, found.begin[row])
    high = np.minimum(last + _WINDOW, found.end[row])
    out = np.zeros((len(index), 7))
    own = found.own_stems[index].astype(np.int64)
    out[:, 1] = (e.found(own)[1] & (own != 0)).sum(axis=1) / np.maximum((own != 0).sum(axis=1), 1)
    for k in np.nonzero(out[:, 1] == 1.0)[0]:
        out[k, 0] = f" {found.norms[index[k]]} " in e.question.key
    out[:, 2] = sums[first] - sums[low]
    out[:, 3] = sums[high] - sums[last]
    out[:, 4] = related_sums[first] - related_sums[low]
    out[:, 5] = related_sums[high] - related_sums[last]
    out[:, 6] = _distance(np.nonzero(known)[0], first, last, found.begin[row], found.end[row])
    return out


def _distance(
    places: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the distance in tokens to the nearest question word of the sentence outside the candidate; 30 at most."""
    out = np.full(len(first), float(_FAR))
    if not len(places):
        return out
    left = np.searchsorted(places, first) - 1
    right = np.searchsorted(places, last)
    before, after = places[np.maximum(left, 0)], places[np.minimum(right, len(places) - 1)]
    out = np.where((left >= 0) & (before >= begin), np.minimum(out, first - before), out)
    return np.where((right < len(places)) & (after < end), np.minimum(out, after - last + 1), out)
