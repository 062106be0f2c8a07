"""MuSiQue's official metrics, as ``evaluate_v1.0.py`` and its ``metrics`` package define them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .agreement import set_agreement
from .answer_scores import exact_match, normalise_answer, word_overlap


@dataclass(frozen=True, slots=True)
class MuSiQueGold:
    """What MuSiQue's metrics read of a question.

    Attributes:
        answers: the reference and its aliases, at least one.
        support: the supporting paragraphs, by index or by passage id.
        answerable: False for an unanswerable twin of MuSiQue-Full.
    """

    answers: tuple[str, ...]
    support: frozenset[Hashable]
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class MuSiQuePrediction:
    """A predicted answer, the predicted supporting paragraphs, and whether the question is held to be answerable."""

    answer: str
    support: frozenset[Hashable]
    answerable: bool = True


def musique_scores(prediction: MuSiQuePrediction | None, gold: MuSiQueGold) -> dict[str, float]:
    """Return ``answer_em answer_f1 support_em support_f1``, each in [0, 1], for an answerable question.

    A missing prediction (None) scores 0. The predicted answerability plays no part here.
    """
    if prediction is None:
        return dict.fromkeys(("answer_em", "answer_f1", "support_em", "support_f1"), 0.0)
    support = set_agreement(prediction.support, gold.support)
    nothing_to_find = not prediction.support and not gold.support
    return {
        "answer_em": exact_match(prediction.answer, gold.answers),
        "answer_f1": max(_answer_f1(prediction.answer, answer) for answer in gold.answers),
        "support_em": support.em,
        "support_f1": 1.0 if nothing_to_find else support.f1,
    }


def _answer_f1(prediction: str, answer: str) -> float:
    """Token F1 without a rule for yes and no; where either text is empty, 1 if both are and 0 otherwise."""
    found, wanted = normalise_answer(prediction).split(), normalise_answer(answer).split()
    if not found or not wanted:
        return float(found == wanted)
    return word_overlap(found, wanted)[0]


Scored = tuple[MuSiQuePrediction | None, MuSiQueGold]


def musique_group_scores(twins: Sequence[Scored]) -> dict[str, float]:
    """Return MuSiQue-Full's metrics of one pair of twins, each in [0, 1].

    ``group_answer_sufficiency_em`` and ``_f1`` are those of the answerable twin's answer if answerability is predicted
    rightly for both twins, else 0; ``group_support_sufficiency_em`` and ``_f1`` likewise for its support;
    ``group_sufficiency`` is 1 where both predictions of answerability are right.

    Args:
        twins: the answerable and the unanswerable version of a question, in either order.

    Raises:
        ValueError: if they are not one answerable and one unanswerable question.
    """
    if sorted(gold.answerable for _, gold in twins) != [False, True]:
        raise ValueError("expected one answerable and one unanswerable version of a question")
    sufficient = all(prediction is not None and prediction.answerable == gold.answerable for prediction, gold in twins)
    scores = next(musique_scores(prediction, gold) for prediction, gold in twins if gold.answerable)
    group = {_group_name(name): value if sufficient else 0.0 for name, value in scores.items()}
    return {**group, "group_sufficiency": float(sufficient)}


def _group_name(name: str) -> str:
    task, measure = name.split("_")
    return f"group_{task}_sufficiency_{measure}"
