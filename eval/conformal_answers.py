"""Answers from the trusted chunks against answers from all of them, by one generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..actions.engine import Engine
from ..confidence.conformal import Calibration
from ..data.answer_scores import exact_match, normalise_answer, token_f1
from ..data.records import Passage, Record
from ..generation.tasks import Answer, AnswerTask
from ..retrieval.base import Hit
from .analysis import Analysis, Row, spread, spread_columns
from .statistics import bootstrap_columns

_SCORES = {
    "em": "EM",
    "em_all": "EM, all chunks",
    "em_difference": "Δ EM",
    "f1": "F1",
    "f1_all": "F1, all chunks",
    "f1_difference": "Δ F1",
    "agreement": "same answer",
}
_SPREAD = {"em_difference", "f1_difference", "agreement"}


def _columns(key: str, label: str) -> list[tuple[str, str]]:
    return spread_columns(key, label) if key in _SPREAD else [(key, label)]


_COLUMNS = (
    ("alpha", "alpha"),
    ("questions", "questions"),
    ("refused", "refused"),
    ("chunks", "chunks read"),
    ("chunks_all", "of"),
    *(column for key, label in _SCORES.items() for column in _columns(key, label)),
    ("failed", "failed"),
)
_ASKS = (
    "What becomes of the answers when only trusted chunks are read? Official EM and token F1 of the answers from the "
    "trusted and from all chunks, their paired difference, and the share of questions whose two answers are the same "
    "after normalisation; 95 % bootstrap intervals over questions. A question without a trusted chunk is answered from "
    "nothing. Where filtering is refused, the row shows what it would do."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with what was found for it, and the answer from all of it (None where the generator failed)."""

    record: Record
    hits: Sequence[Hit]
    answer: str | None


def answer_all(records: Sequence[Record], found: Sequence[Sequence[Hit]], engine: Engine) -> list[Answered]:
    """Answer each question from everything that was found for it."""
    answers = _answers(records, found, engine)
    return [Answered(r, hits, text) for r, hits, text in zip(records, found, answers)]


def answers_analysis(
    answered: Sequence[Answered],
    calibrations: Sequence[Calibration],
    refusals: Sequence[str],
    engine: Engine,
    seed: int = 0,
) -> Analysis:
    """Return a row for each calibration.

    Args:
        answered: the questions, which have gold.
        calibrations: what says which chunks are trusted.
        refusals: why filtering is refused, for each calibration; empty where it is not.
        engine: the one that gave the answers from everything.
        seed: seed of the intervals.
    """
    rows = [_row(answered, c, reason, engine, seed) for c, reason in zip(calibrations, refusals, strict=True)]
    note = {"generator": engine.generator.label, "seed": seed}
    return Analysis("conformal_answers", "Answers from trusted chunks", _ASKS, _COLUMNS, rows, None, note)


def _row(answered: Sequence[Answered], calibration: Calibration, refusal: str, engine: Engine, seed: int) -> Row:
    kept = [_trusted(calibration, own.hits) for own in answered]
    texts = _answers([own.record for own in answered], kept, engine)
    values = np.array([_scores(own, text) for own, text in zip(answered, texts)]).reshape(-1, len(_SCORES))
    shares: Row = {}
    for name, interval in zip(_SCORES, bootstrap_columns(values, seed)):
        shares |= spread(name, interval) if name in _SPREAD else {name: interval.mean}
    sizes = {"chunks": _mean_size(kept), "chunks_all": _mean_size([own.hits for own in answered])}
    row: Row = {"alpha": calibration.alpha, "questions": len(answered), "refused": bool(refusal)}
    return row | sizes | shares | {"failed": sum(None in (own.answer, text) for own, text in zip(answered, texts))}


def _trusted(calibration: Calibration, hits: Sequence[Hit]) -> list[Hit]:
    marks = calibration.trusts(hit.score for hit in hits)
    return [hit for hit, trusted in zip(hits, marks) if trusted]


def _scores(own: Answered, trusted: str | None) -> list[float]:
    """Return the values of ``_SCORES``; a failed answer is an empty one."""
    references = own.record.gold.references if own.record.gold else ()
    texts = (trusted or "", own.answer or "")
    (em, em_all), (f1, f1_all) = ([score(text, references) for text in texts] for score in (exact_match, token_f1))
    same = float(normalise_answer(texts[0]) == normalise_answer(texts[1]))
    return [em, em_all, em - em_all, f1, f1_all, f1 - f1_all, same]


def _answers(records: Sequence[Record], found: Sequence[Sequence[Hit]], engine: Engine) -> list[str | None]:
    """Return one answer a question; None where the generator failed."""
    tasks = [AnswerTask(r.question.text, _passages(hits)) for r, hits in zip(records, found, strict=True)]
    replies = [reply.response for reply in engine.execute(tasks)] if tasks else []
    return [reply.text if isinstance(reply, Answer) else None for reply in replies]


def _passages(hits: Sequence[Hit]) -> tuple[Passage, ...]:
    return tuple(hit.passage for hit in hits)


def _mean_size(groups: Sequence[Sequence[Hit]]) -> float:
    return float(np.mean([len(group) for group in groups])) if groups else float("nan")
