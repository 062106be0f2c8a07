"""The three verdicts of the corrective gate, and the thresholds that they hang on (CRAG, 2401.15884, section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from ..data.errors import ConfigError


class Verdict(StrEnum):
    """What an evaluator says of a body of evidence."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


class Thresholds(NamedTuple):
    """An upper and a lower threshold on scores in [-1, 1].

    A score equal to a threshold is on neither side: it is not above the upper one and not below the lower one.

    Attributes:
        upper: one document above it makes the evidence correct.
        lower: with all documents below it the evidence is incorrect.
    """

    upper: float
    lower: float

    def verdict(self, scores: Iterable[float]) -> Verdict:
        """Return the verdict on documents with these scores; no document at all is incorrect evidence."""
        listed = list(scores)
        if any(score > self.upper for score in listed):
            return Verdict.CORRECT
        return Verdict.INCORRECT if all(score < self.lower for score in listed) else Verdict.AMBIGUOUS


PUBLISHED = {
    "popqa": Thresholds(0.59, -0.99),
    "pubhealth": Thresholds(0.5, -0.91),
    "arc": Thresholds(0.5, -0.91),
    "biography": Thresholds(0.95, -0.91),
}
"""The paper's pairs, set by hand for its fine-tuned T5; they do not carry over to other evaluators or questions."""


def checked(upper: float, lower: float) -> Thresholds:
    """Return the thresholds.

    Raises:
        ConfigError: if they are not in [-1, 1], or the lower one lies above the upper one.
    """
    if not -1 <= lower <= upper <= 1:
        raise ConfigError(f"thresholds must satisfy -1 <= lower <= upper <= 1, found upper {upper} and lower {lower}")
    return Thresholds(upper, lower)
