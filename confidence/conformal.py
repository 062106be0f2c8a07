"""Conformal retrieval confidence: which retrieved chunks to trust so that correct ones are seldom lost (2605.05244)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.errors import ConfigError, ManifestMismatchError
from ..retrieval.base import Hit
from .chunks import ScoredChunks
from .conformal_calibration import Bounds, least_overlap, score_bounds, trust_threshold
from .conformal_diagnostics import Diagnostics, diagnose


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibrated threshold on the scores of one retriever or evaluator.

    A chunk is trusted if its normalised score reaches ``threshold``. For exchangeable chunks P(trusted | correct) is at
    least 1 - alpha over calibration sets and chunks: recall of the correct chunks among those retrieved. Of how many
    trusted chunks are correct, and of chunks that were not retrieved, it says nothing.

    Attributes:
        alpha: allowed share of correct chunks that are not trusted.
        k: how many chunks were retrieved for a question.
        bounds: by which scores are normalised, from questions that are not among the calibration questions.
        least_overlap: s_thres, the RougeL that makes a chunk of the right document correct; 0 where the document does.
        threshold: 1 - q_hat, in [0, 1].
        chunks: how many correct chunks it was calibrated on.
        fingerprint: of the retriever or evaluator.
        diagnostics: on the calibration questions.
    """

    alpha: float
    k: int
    bounds: Bounds
    least_overlap: float
    threshold: float
    chunks: int
    fingerprint: str
    diagnostics: Diagnostics

    @property
    def q_hat(self) -> float:
        """The conformal quantile of 1 - score, in [0, 1]."""
        return 1 - self.threshold

    @property
    def refusal(self) -> str:
        """Why filtering is refused; empty where it is not."""
        return self.diagnostics.refusal(self.alpha)

    def trusts(self, scores: Iterable[float]) -> tuple[bool, ...]:
        """Say of each raw score whether the chunk is trusted."""
        return tuple(self.bounds.normalise(score) >= self.threshold for score in scores)

    def filtered(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the trusted ones of what the calibrated retriever found for a question, in their order.

        Raises:
            ConfigError: if filtering is refused, or there are more than ``k`` hits.
        """
        if self.refusal:
            raise ConfigError(f"filtering at alpha {self.alpha} is refused: {self.refusal}")
        if len(hits) > self.k:
            raise ConfigError(f"calibrated for {self.k} chunks a question, found {len(hits)}: retrieve {self.k}")
        return [hit for hit, trusted in zip(hits, self.trusts(hit.score for hit in hits)) if trusted]

    def check(self, fingerprint: str) -> None:
        """Check that it is used with the scores that it was made for.

        Raises:
            ManifestMismatchError: otherwise.
        """
        if fingerprint != self.fingerprint:
            raise ManifestMismatchError(
                f"the calibration is for scores of {self.fingerprint}, found {fingerprint}: "
                "a retriever or evaluator, its settings and its corpus included, needs a calibration of its own"
            )

    def diagnose(self, questions: Sequence[ScoredChunks], seed: int = 0) -> Diagnostics:
        """Return the diagnostics on other questions."""
        trusted = [self.trusts(question.scores) for question in questions]
        return diagnose(trusted, [question.correct(self.least_overlap) for question in questions], seed)

    def save(self, folder: Path) -> None:
        """Write a folder with a manifest; the same calibration gives the same bytes.

        Raises:
            ConfigError: if the folder holds something else.
            DataError: if it cannot be written.
        """
        from .conformal_files import save_calibration

        save_calibration(self, folder)

    @classmethod
    def load(cls, folder: Path, fingerprint: str) -> Calibration:
        """Read what :meth:`save` wrote, for use with a retriever or evaluator of this fingerprint.

        Raises:
            DataError: if there is none.
            ManifestMismatchError: if it is for another one, damaged, or of another version.
        """
        from .conformal_files import load_calibration

        found = load_calibration(folder)
        found.check(fingerprint)
        return found


def calibrate(
    questions: Sequence[ScoredChunks],
    apart: Sequence[ScoredChunks],
    alpha: float,
    k: int,
    fingerprint: str,
    beta: float | None = None,
    seed: int = 0,
) -> Calibration:
    """Calibrate on ``questions``; bounds of the scores and s_thres come from other questions, ``apart``.

    Args:
        questions: the calibration questions, at most ``k`` chunks each.
        apart: questions that are not among them.
        alpha: allowed share of correct chunks that are not trusted, between 0 and 1.
        k: how many chunks are retrieved for a question.
        fingerprint: of what gave the scores.
        beta: quantile of RougeL over chunks of wrong documents that sets s_thres; None where the document decides.
        seed: seed of the bootstrap in the diagnostics.

    Raises:
        ConfigError: if there are too few correct chunks for alpha, a question stands on both sides or has more than
            ``k`` chunks, or scores cannot be normalised.
    """
    _check(questions, apart, k)
    bounds, overlap = score_bounds(apart), least_overlap(apart, beta)
    correct = [question.correct(overlap) for question in questions]
    scores = [[bounds.normalise(score) for score in question.scores] for question in questions]
    kept = [s for own, mask in zip(scores, correct) for s, counts in zip(own, mask) if counts]
    threshold = trust_threshold(kept, alpha)
    found = diagnose([[s >= threshold for s in own] for own in scores], correct, seed)
    return Calibration(alpha, k, bounds, overlap, threshold, len(kept), fingerprint, found)


def _check(questions: Sequence[ScoredChunks], apart: Sequence[ScoredChunks], k: int) -> None:
    score_bounds([*questions, *apart])
    if both := sorted({question.uid for question in questions} & {question.uid for question in apart}):
        raise ConfigError(
            f"the bounds of the scores must come from questions that are not calibrated on, found {len(both)} "
            f"on both sides: {', '.join(both[:3])}"
        )
    if most := max((len(q.scores) for q in (*questions, *apart) if len(q.scores) > k), default=0):
        raise ConfigError(f"expected at most {k} chunks a question, found {most}")
