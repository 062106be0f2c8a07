"""Settings of conformal confidence."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..data.bounds import require_least
from ..data.errors import ConfigError


@dataclass(frozen=True)
class ConformalSettings:
    """How retrieval confidence is calibrated and reported.

    Attributes:
        k: chunks retrieved for a question.
        alphas: allowed shares of correct chunks that are not trusted, each between 0 and 1.
        beta: quantile of RougeL over chunks of wrong documents from which on a chunk of the right document is correct
            (0.99 for long sources); left out, the document alone decides, as in the benchmark sets.
        folds: parts of the train questions; the first gives the bounds of the scores, the others calibrate.
        answer_questions: dev questions that are answered from all and from the trusted chunks, drawn by the seed; 0 for
            all.

    Raises:
        ConfigError: if a number is out of range, or an alpha is repeated or missing.
    """

    k: int = 10
    alphas: list[float] = field(default_factory=lambda: [0.05, 0.1, 0.2])
    beta: float | None = None
    folds: int = 5
    answer_questions: int = 300

    def __post_init__(self) -> None:
        require_least(self, "conformal", k=1, folds=2, answer_questions=0)
        if not self.alphas or len(set(self.alphas)) != len(self.alphas) or not all(0 < a < 1 for a in self.alphas):
            raise ConfigError(f"conformal.alphas must be different numbers between 0 and 1, found {self.alphas}")
        if self.beta is not None and not 0 <= self.beta <= 1:
            raise ConfigError(f"conformal.beta must be in [0, 1], found {self.beta}")
