"""What evaluators on a sequence classifier share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from ..data.records import content_hash
from .base import EvaluateTask, Evaluator
from .sequence_classifier import SequenceClassifier
from .transformer_settings import TransformerSettings
from .verdicts import Thresholds

NOTHING = -1.0
"""The score of a text without words, which no model is asked about (as in CRAG's code)."""


class TransformerEvaluator(Evaluator):
    """Scores texts with a sequence classifier with one output.

    Question and text are all that it sees. The texts of one task are batched by length, those of different tasks never
    share a batch, so that a score depends on nothing but its task, to the last bit, on one kind of machine. The
    fingerprint leaves out device and batch size, which can change last bits.

    Args:
        settings: which model, and how texts are shown to it.
        thresholds: what verdicts hang on; None where it was not calibrated.

    Raises:
        ConfigError: if no model is named, there is no such model, or it is of another kind.
        BackendUnavailableError: if the extra local is not installed.
    """

    def __init__(self, settings: TransformerSettings, thresholds: Thresholds | None = None) -> None:
        self.settings = settings
        self.thresholds = thresholds
        self._classifier = SequenceClassifier(settings)
        self._prepare()

    @classmethod
    def from_settings(cls, settings: TransformerSettings, thresholds: Thresholds | None = None) -> Self:
        """Return the evaluator of these settings; see the class for the errors."""
        return cls(settings, thresholds)

    def __reduce__(self) -> Any:
        """Send the name of the model, not the model, to another process."""
        return type(self), (self.settings, self.thresholds)

    @property
    def fingerprint(self) -> str:
        """A hash of weights, vocabulary, the form of the input, and thresholds."""
        thresholds = repr(None if self.thresholds is None else tuple(self.thresholds))
        return content_hash(self._name, self._classifier.fingerprint, self.settings.scoring(), thresholds)

    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        """Return a score in [-1, 1] for each text of each task; -1 for a text without words.

        Raises:
            RequestFailedError: if the device has too little memory, or the model's output is not a number.
        """
        return [self._scores(task) for task in tasks]

    def _scores(self, task: EvaluateTask) -> tuple[float, ...]:
        texts = [self.settings.shown(passage) for passage in task.texts]
        asked = [place for place, text in enumerate(texts) if text]
        question = " ".join(task.question.split())
        outputs = self._classifier.outputs([self._encoded(question, texts[place]) for place in asked])
        found = dict(zip(asked, map(self._mapped, outputs)))
        return tuple(found.get(place, NOTHING) for place in range(len(texts)))

    def _prepare(self) -> None:
        """Refuse a model of another kind."""

    @property
    @abstractmethod
    def _name(self) -> str:
        """What the evaluator is called in a fingerprint."""

    @abstractmethod
    def _encoded(self, question: str, text: str) -> Mapping[str, list[int]]:
        """Return the tokens of question and text, cut to the length that is allowed."""

    @abstractmethod
    def _mapped(self, output: float) -> float:
        """Return the score in [-1, 1] of an output."""
