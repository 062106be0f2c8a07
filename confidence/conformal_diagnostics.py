"""What calibrated confidence does on a set of questions, and why filtering by it is refused (2605.05244)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from .clustered import Share, clustered_share, upper_bound

Mask = Sequence[bool]


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Shares over questions, and over chunks with sampling errors clustered by question.

    Attributes:
        questions: how many.
        reachable: share of questions with a correct chunk among those retrieved.
        reachable_upper: its upper 95 % bound (one-sided, exact).
        coverage: share of the correct chunks that are trusted; approximate, since chunks of a question go together.
        precision: share of the trusted chunks that are correct; nothing is guaranteed of it.
        m1: share of questions with a trusted chunk.
        m1_upper: its upper 95 % bound.
        m2: share of the chunks that are trusted.
    """

    questions: int
    reachable: Share
    reachable_upper: float
    coverage: Share
    precision: Share
    m1: Share
    m1_upper: float
    m2: Share

    def refusal(self, alpha: float) -> str:
        """Say why filtering at ``alpha`` is refused; empty where it is not."""
        reasons = (
            _below("a correct chunk is among those retrieved", self.reachable, self.reachable_upper, alpha),
            _below("some chunk is trusted (m1)", self.m1, self.m1_upper, alpha),
        )
        return "; ".join(reason for reason in reasons if reason)

    def as_dict(self) -> dict[str, object]:
        """Return plain values; each share as the list of its four numbers."""
        return {name: list(value) if isinstance(value, Share) else value for name, value in asdict(self).items()}


def diagnose(trusted: Sequence[Mask], correct: Sequence[Mask], seed: int = 0) -> Diagnostics:
    """Return the diagnostics of questions, at least one; both arguments hold a mask of its chunks for each.

    Args:
        trusted: which chunks of each question are trusted.
        correct: which are correct.
        seed: seed of the bootstrap.
    """
    both = [int(np.sum(np.logical_and(*pair))) for pair in zip(trusted, correct, strict=True)]
    chosen, wanted = [sum(mask) for mask in trusted], [sum(mask) for mask in correct]
    some, reached, ones = [int(n > 0) for n in chosen], [int(n > 0) for n in wanted], [1] * len(wanted)
    return Diagnostics(
        questions=len(ones),
        reachable=clustered_share(reached, ones, seed),
        reachable_upper=upper_bound(sum(reached), len(ones)),
        coverage=clustered_share(both, wanted, seed),
        precision=clustered_share(both, chosen, seed),
        m1=clustered_share(some, ones, seed),
        m1_upper=upper_bound(sum(some), len(ones)),
        m2=clustered_share(chosen, [len(mask) for mask in trusted], seed),
    )


def _below(what: str, found: Share, upper: float, alpha: float) -> str:
    if upper >= 1 - alpha:
        return ""
    return f"{what} for {found.share:.3f} of the questions, at most {upper:.3f} (95 % bound), below {1 - alpha:.3g}"
