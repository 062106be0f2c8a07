"""HotpotQA's official metrics for one question, as ``hotpot_evaluate_v1.py`` defines them."""

from __future__ import annotations

from collections.abc import Iterable

from .agreement import Agreement, joint_agreement, set_agreement
from .answer_scores import answer_agreement

Fact = tuple[str, int]


def hotpotqa_scores(
    answer: str | None, facts: Iterable[Fact] | None, gold_answer: str, gold_facts: Iterable[Fact]
) -> dict[str, float]:
    """Return the twelve metrics, each in [0, 1]: ``em f1 prec recall``, then with ``sp_`` and with ``joint_``.

    Args:
        answer: the predicted answer; None where it is missing, which scores 0 (and 0 jointly).
        facts: the predicted (title, sentence index) pairs, repetitions ignored; None where they are missing.
        gold_answer: the one reference.
        gold_facts: the annotated pairs; titles are compared as they are, case included.
    """
    parts = (
        Agreement() if answer is None else answer_agreement(answer, gold_answer),
        Agreement() if facts is None else set_agreement(frozenset(facts), frozenset(gold_facts)),
    )
    return {**parts[0].named(), **parts[1].named("sp_"), **joint_agreement(parts).named("joint_")}
