"""Scoring answers to PopQA and ARC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..data import arc, popqa
from ..data.arc_scores import arc_scores
from ..data.errors import DataError
from ..data.popqa_scores import popqa_scores
from .answer_files import read_answers
from .score_table import Scores, mean_scores
from .type_accuracy import accuracy_by_type

_Score = Callable[[str | None], dict[str, float]]


class _Asked(NamedTuple):
    """A question: its id, its type, and what scores an answer to it."""

    id: str
    type: str
    score: _Score


def score_popqa(gold_file: Path, predictions_file: Path) -> Scores:
    """Score answers to PopQA: ``accuracy`` and ``match`` (see ``popqa_scores``), and accuracy by relation.

    Raises:
        DataError: if a file does not hold what it should, or an id stands twice.
    """
    asked = [
        _popqa(record.id, record.gold.type, record.gold.answers) for record in popqa.read(gold_file) if record.gold
    ]
    return _scores(popqa.NAME, asked, gold_file, read_answers(predictions_file))


def score_arc(gold_file: Path, predictions_file: Path) -> Scores:
    """Score answers to ARC: ``accuracy`` and ``read``, the share of answers that name a choice (see ``arc_scores``).

    Raises:
        DataError: if a file does not hold what it should, an id stands twice, or a question has no ``answerKey``.
    """
    questions = arc.read_choices(gold_file)
    if silent := [question.id for question in questions if not question.key]:
        raise DataError(f"expected 'answerKey' with every question, found none with {silent[0]!r}", gold_file)
    return _scores(arc.NAME, list(map(_arc, questions)), gold_file, read_answers(predictions_file))


def _popqa(key: str, relation: str, answers: Sequence[str]) -> _Asked:
    return _Asked(key, relation, lambda said: popqa_scores(said, answers))


def _arc(question: arc.MultipleChoice) -> _Asked:
    return _Asked(question.id, "", lambda said: arc_scores(said, question.choices, question.key))


def _scores(dataset: str, asked: Sequence[_Asked], gold_file: Path, answers: Mapping[str, str]) -> Scores:
    known = {question.id for question in asked}
    if len(known) != len(asked):
        raise DataError(f"expected each id once, found {len(asked)} questions and {len(known)} ids", gold_file)
    rows = [question.score(answers.get(question.id)) for question in asked]
    types = accuracy_by_type([question.type for question in asked], [row["accuracy"] for row in rows])
    missing = tuple(question.id for question in asked if question.id not in answers)
    extra = tuple(key for key in answers if key not in known)
    return Scores(dataset, len(asked), mean_scores(rows), {"answer": missing}, extra, types=types)
