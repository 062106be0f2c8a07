"""Judging sufficiency, naming what is missing, and rewriting the query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.text import words
from .answering import words_of
from .cross import cross_scores
from .evidence import Evidence
from .gaps import Gaps, uncovered
from .judge_features import judge_features
from .model import Model, probability
from .question import read_question
from .tasks import Judgement, JudgeTask, RewriteTask, Rewriting, Usage


def judge_one(model: Model, task: JudgeTask) -> Judgement:
    """Judge one body of evidence."""
    evidence, scores, gaps, gap_scores = _read(model, task.question, task)
    row = judge_features(evidence, scores, gaps, gap_scores)
    likely = float(probability(model.judge.predict(row[None]))[0]) if task.passages else 0.0
    sufficient = bool(task.passages and likely >= model.thresholds[1])
    missing = "" if sufficient else missing_text(evidence, gaps, gap_scores)
    usage = Usage(len(words(task.question)) + words_of(task.passages), max(len(words(missing)), 1))
    return Judgement(sufficient, missing, likely, usage)


def rewrite_one(model: Model, task: RewriteTask) -> Rewriting:
    """Return the best query that was not asked yet, or an empty one."""
    evidence, _, gaps, gap_scores = _read(model, task.question, JudgeTask(task.question, task.passages))
    asked = {_plain(q) for q in task.queries}
    named = " " + " ".join(_plain(q) for q in task.queries if _plain(q) != _plain(task.question)) + " "
    read = len(words(task.question)) + words_of(task.passages) + sum(len(words(q)) for q in task.queries)
    for i in np.argsort(-gap_scores, kind="stable").tolist():
        query = query_for(evidence, gaps.texts[i])
        if f" {gaps.keys[i]} " not in named and _plain(query) not in asked:
            return Rewriting(query, Usage(read, len(words(query))))
    rest = " ".join(uncovered(evidence))
    if rest and _plain(rest) not in asked:
        return Rewriting(rest, Usage(read, len(words(rest))))
    return Rewriting("", Usage(read, 0))


def _read(
    model: Model, question: str, task: JudgeTask
) -> tuple[Evidence, NDArray[np.float64], Gaps, NDArray[np.float64]]:
    evidence = Evidence(read_question(question), task.passages, model.idf)
    scores = model.sentence.predict(evidence.features)
    gaps = Gaps(evidence, scores)
    cross = cross_scores(model.gap_table, evidence.question.cues, gaps.cues())
    return evidence, scores, gaps, model.gap.predict(gaps.features(cross))


def missing_text(evidence: Evidence, gaps: Gaps, scores: NDArray[np.float64]) -> str:
    """Return what to search for: the name most likely to lead further, and the question; never empty words."""
    if len(gaps):
        return query_for(evidence, gaps.texts[int(np.argmax(scores))])
    return " ".join(uncovered(evidence)) or evidence.question.text.strip() or "?"


def query_for(evidence: Evidence, name: str) -> str:
    """Return the query that asks about a name: the name twice, so that it weighs more, then the question."""
    return f"{name} {name} {evidence.question.text}".strip()


def _plain(query: str) -> str:
    return " ".join(words(query))
