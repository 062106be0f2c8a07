"""Settings of calibrating an evaluator."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.errors import ConfigError

MEANINGS = {"relevant": "some of the support is held", "complete": "all of the support is held"}
"""What a correct verdict can claim; an incorrect one always claims that none of the support is held."""


@dataclass(frozen=True)
class CalibrationSettings:
    """How thresholds are fitted.

    Attributes:
        correct_means: relevant (the paper's meaning: some of the support is held) or complete (all of it).
        correct_error: of the evidence of which that is not so, the largest share that may be called correct, in [0, 1].
        incorrect_error: of the evidence that holds support, the largest share that may be called incorrect, in [0, 1].
        depths: the evidence of a question: the first so many passages of its own search, each a case of its own.

    Raises:
        ConfigError: if the meaning is unknown or a number is out of range.
    """

    correct_means: str = "relevant"
    correct_error: float = 0.1
    incorrect_error: float = 0.05
    depths: tuple[int, ...] = (3, 6, 12)

    def __post_init__(self) -> None:
        if self.correct_means not in MEANINGS:
            known = ", ".join(MEANINGS)
            raise ConfigError(f"unknown calibration.correct_means {self.correct_means!r}; there are: {known}")
        for name in ("correct_error", "incorrect_error"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"calibration.{name} must be in [0, 1], found {getattr(self, name)}")
        if not self.depths or min(self.depths) < 1 or list(self.depths) != sorted(set(self.depths)):
            raise ConfigError(f"calibration.depths must be ascending numbers of at least 1, found {list(self.depths)}")

    @property
    def criterion(self) -> str:
        """The criterion in words."""
        return (
            f"correct means that {MEANINGS[self.correct_means]}, incorrect that none is; at most "
            f"{self.correct_error:g} of the evidence of which the former is not so is called correct, at most "
            f"{self.incorrect_error:g} of the evidence of which the latter is not so incorrect; of the thresholds that "
            "keep to this those with the fewest ambiguous verdicts, then with the most right ones"
        )
