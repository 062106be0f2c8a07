"""A rule-based evaluator for tests: the share of the question's words that a text holds."""

from collections.abc import Sequence

from evidencegym.confidence.base import EvaluateTask, Evaluator
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.records import content_hash
from evidencegym.data.text import content_words

CUTS = Thresholds(0.2, -0.4)


class OverlapEvaluator(Evaluator):
    """Scores a text by twice the share of the question's content words in it, less one.

    Args:
        thresholds: of its verdicts; None for an evaluator that was not calibrated.
    """

    def __init__(self, thresholds: Thresholds | None = CUTS) -> None:
        self.thresholds = thresholds
        self.scored: list[int] = []

    @property
    def fingerprint(self) -> str:
        return content_hash("overlap", repr(self.thresholds))

    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        self.scored.append(len(tasks))
        return [tuple(_share(task.question, f"{t.title} {t.text}") for t in task.texts) for task in tasks]


def _share(question: str, text: str) -> float:
    asked, said = set(content_words(question)), set(content_words(text))
    return 2 * len(asked & said) / len(asked) - 1 if asked else -1.0
