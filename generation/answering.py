"""Answering from evidence: yes or no, one of two sides, or the best span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..data.answer_scores import normalise_answer
from ..data.records import Passage
from ..data.text import words
from ..data.trees import TreeArrays
from .comparison import choice_features, sides_of, yes_no_features
from .cross import cross_scores
from .evidence import Evidence
from .features import Candidates
from .model import Model, probability
from .question import CHOICE, YES_NO, read_question
from .reading import only
from .tasks import Answer, AnswerTask, Snippet, Usage

MAX_SENTENCES = 16
_CONTENDERS = 12
_MAX_SUPPORT = 8


@dataclass(frozen=True, slots=True)
class Best:
    """A chosen answer: text, log-odds of the best candidate, its lead over the next, its row (-1: none)."""

    text: str
    score: float
    lead: float
    row: int


def answer_one(model: Model, task: AnswerTask) -> Answer:
    """Answer one question."""
    passages, origin = _read_only(task)
    question = read_question(task.question)
    evidence = Evidence(question, passages, model.idf)
    scores = model.sentence.predict(evidence.features)
    best = choose(model, evidence, scores)
    support = tuple((origin[p], s) for p, s in _support(model, evidence, scores, best) if origin[p])
    usage = Usage(_words_read(task), len(words(best.text)))
    return Answer(best.text, support, _confidence(model, best) if best.text else 0.0, usage)


def choose(model: Model, evidence: Evidence, scores: NDArray[np.float64]) -> Best:
    """Choose an answer for a question by its form."""
    if evidence.question.form == YES_NO:
        return _yes_or_no(model, evidence)
    if evidence.question.form == CHOICE:
        return _side(model, evidence, scores)
    return _span(model, evidence, scores)


def _yes_or_no(model: Model, evidence: Evidence) -> Best:
    score = float(yes_no_features(evidence) @ model.yes_no[:-1] + model.yes_no[-1])
    return Best("yes" if score > 0 else "no", abs(score), abs(score), -1)


def _side(model: Model, evidence: Evidence, scores: NDArray[np.float64]) -> Best:
    sides = sides_of(evidence)
    if sides is None:
        return Best("", 0.0, 0.0, -1)
    score = float(choice_features(evidence, sides, scores) @ model.choice)
    return Best(sides[0].name if score >= 0 else sides[1].name, abs(score), abs(score), -1)


def _span(model: Model, evidence: Evidence, scores: NDArray[np.float64]) -> Best:
    found, values = span_scores(model.span_table, model.span, evidence, scores, MAX_SENTENCES)
    if not len(found):
        return Best("", 0.0, 0.0, -1)
    return best_span(found, values)


def span_scores(
    table: NDArray[np.float32], span: TreeArrays, evidence: Evidence, scores: NDArray[np.float64], max_sentences: int
) -> tuple[Candidates, NDArray[np.float64]]:
    """Return the candidates of the best sentences and their log-odds."""
    found = Candidates(evidence, scores, max_sentences)
    cross = cross_scores(table, evidence.question.cues, found.cues)
    return found, span.predict(found.features(cross))


def best_span(found: Candidates, values: NDArray[np.float64]) -> Best:
    """Choose the candidate of greatest expected token F1, the other candidates standing for possible answers."""
    order = np.argsort(-values, kind="stable")
    kept: dict[str, int] = {}
    for i in order.tolist():
        kept.setdefault(normalise_answer(found.text(i)), i)
        if len(kept) == _CONTENDERS:
            break
    names = list(kept)
    weights = probability(values[list(kept.values())])
    overlap = _overlaps([name.split() for name in names])
    top = int(np.argmax(overlap @ weights))
    chosen = kept[names[top]]
    others = [values[i] for i, shared in zip(kept.values(), overlap[top]) if shared == 0]
    lead = float(values[chosen] - max(others)) if others else 5.0
    return Best(found.text(chosen), float(values[chosen]), lead, int(found.row[chosen]))


def _overlaps(names: list[list[str]]) -> NDArray[np.float64]:
    """Return the token F1 of every pair of texts."""
    counts = [Counter(name) for name in names]
    out = np.eye(len(names))
    for i, a in enumerate(counts):
        for j in range(i):
            shared = sum((a & counts[j]).values()) if not a.keys().isdisjoint(counts[j]) else 0
            out[i, j] = out[j, i] = 2 * shared / (len(names[i]) + len(names[j])) if shared else 0.0
    return out


def _confidence(model: Model, best: Best) -> float:
    if best.row < 0:
        return float(probability(np.array([best.score]))[0])
    a, b, c = model.calibration
    return float(probability(np.array([a * best.score + b * best.lead + c]))[0])


def _support(model: Model, evidence: Evidence, scores: NDArray[np.float64], best: Best) -> list[tuple[int, int]]:
    """Return (passage, sentence index) of the supporting sentences, the answer's own among them, in order."""
    sentences = [k for k, (_, s) in enumerate(evidence.rows) if s.index >= 0]
    if not sentences:
        return []
    ranked = sorted(sentences, key=lambda k: (-scores[k], k))
    likely = probability(scores)
    chosen = {k for k in ranked[:_MAX_SUPPORT] if likely[k] >= model.thresholds[0]} | set(ranked[:1])
    if best.row >= 0 and evidence.rows[best.row][1].index >= 0:
        chosen.add(best.row)
    return [(evidence.rows[k][0], evidence.rows[k][1].index) for k in sorted(chosen)]


def _read_only(task: AnswerTask) -> tuple[tuple[Passage, ...], list[str]]:
    """Return the passages to read and the id behind each: those given, or with snippets nothing but their sentences."""
    if not task.snippets:
        return task.passages, [p.id for p in task.passages]
    kept = [(p, _cut(p, task.snippets)) for p in task.passages]
    passages = [(cut, p.id) for p, cut in kept if any(cut.sentences)]
    titles = {p.id: p.title for p in task.passages}
    loose = [(Passage.of(titles.get(s.passage_id, ""), (s.text,)), "") for s in task.snippets if s.sentence is None]
    everything = passages + loose
    return tuple(p for p, _ in everything), [i for _, i in everything]


def _cut(passage: Passage, snippets: Sequence[Snippet]) -> Passage:
    """Return a passage with every sentence emptied that no snippet names; indices stay."""
    named = {s.sentence for s in snippets if s.passage_id == passage.id and s.sentence is not None}
    return only(passage, named)


def _words_read(task: AnswerTask) -> int:
    asked = len(words(task.question))
    if task.snippets:
        return asked + sum(len(words(s.text)) for s in task.snippets)
    return asked + words_of(task.passages)


def words_of(passages: Sequence[Passage]) -> int:
    """Return the words of titles and texts."""
    return sum(_words_of(p) for p in passages)


@lru_cache(maxsize=100_000)
def _words_of(passage: Passage) -> int:
    return len(words(passage.title)) + len(words(passage.text))
