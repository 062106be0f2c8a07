"""Knowledge refinement: decompose into strips, filter them by their scores, recompose in document order.

CRAG (2401.15884), section 4.4. Deviation 1: the released code neither filters nor keeps the document's order; the paper
does both, and so do we. Deviation 2: the paper keeps five strips, enough for one document; ``most`` may be larger.
Deviation 3: where no strip reaches the threshold the best one stays, so that a reader is never left with nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Passage
from .base import EvaluateTask, Evaluator
from .strips import Strip, cut, strips_of


@dataclass(frozen=True)
class RefinementSettings:
    """How documents are refined; threshold and number are the paper's.

    Attributes:
        sentences: sentences in a strip of a longer document, at least 1.
        threshold: strips that score below it are dropped, in [-1, 1].
        most: strips kept of all documents together, at least 1.

    Raises:
        ConfigError: if a number is out of range.
    """

    sentences: int = 2
    threshold: float = -0.5
    most: int = 5

    def __post_init__(self) -> None:
        require_least(self, "refinement", sentences=1, most=1)
        if not (isfinite(self.threshold) and -1 <= self.threshold <= 1):
            raise ConfigError(f"refinement.threshold must be in [-1, 1], found {self.threshold}")


def strips_task(
    question: str, pool: str, documents: Sequence[Passage], settings: RefinementSettings
) -> tuple[tuple[Strip, ...], EvaluateTask]:
    """Return the strips of documents, in order, and the request to score them beside these documents."""
    strips = tuple([strip for document in documents for strip in strips_of(document, settings.sentences)])
    return strips, EvaluateTask(question, pool, tuple([strip.text for strip in strips]), tuple(documents))


def filtered(strips: Sequence[Strip], scores: Sequence[float], settings: RefinementSettings) -> tuple[Strip, ...]:
    """Return the strips that score at least the threshold, the best ``most`` of them, in their given order.

    Of strips with equal scores the earlier ones are kept; where none reaches the threshold, the best one is.
    """
    order = sorted(range(len(strips)), key=lambda place: (-scores[place], place))
    kept = [place for place in order if scores[place] >= settings.threshold][: settings.most] or order[:1]
    return tuple([strips[place] for place in sorted(kept)])


def recomposed(strips: Sequence[Strip]) -> tuple[Passage, ...]:
    """Return the documents of the strips, each cut down to its own strips, in the order of first appearance."""
    kept: dict[str, tuple[Passage, list[int]]] = {}
    for strip in strips:
        kept.setdefault(strip.document.id, (strip.document, []))[1].extend(strip.sentences)
    return tuple([cut(document, sentences) for document, sentences in kept.values()])


def refine(
    question: str,
    documents: Sequence[Passage],
    evaluator: Evaluator,
    settings: RefinementSettings | None = None,
    pool: str = "",
) -> tuple[Passage, ...]:
    """Refine documents outside an episode: what is left of each, in the order given; documents may vanish.

    Args:
        question: what they are to answer.
        documents: the documents.
        evaluator: scores strips; it need not be calibrated, since no verdict is made.
        settings: see :class:`RefinementSettings`.
        pool: the question's key, for evaluators over retrievers that hold one pool a question.
    """
    chosen = settings or RefinementSettings()
    strips, task = strips_task(question, pool, documents, chosen)
    if not strips:
        return ()
    [scores] = evaluator.score([task])
    return recomposed(filtered(strips, scores, chosen))
