"""How CRAG's evaluator is trained."""

from __future__ import annotations

from dataclasses import dataclass

from ..confidence.transformer_settings import TransformerSettings
from ..data.errors import ConfigError


@dataclass(frozen=True, slots=True)
class T5TrainSettings:
    """How to train; the defaults are those of CRAG's script.

    Attributes:
        model: T5 to start from, its name on the hub or a folder; a head that it lacks is drawn by the seed.
        revision: branch, tag or commit on the hub; empty for its main branch.
        epochs: passes over the pairs, at least 1.
        learning_rate: of AdamW at the first step, above 0; it falls linearly to 0.
        batch_size: pairs a step, at least 1.
        max_length: tokens of question and passage together, at least 8; what is longer is cut at its end.
        negatives: at most so many passages a question that are no support; 0 for all of its context.
        seed: of head, order, dropout and the draw of negatives.
        device: as torch names it; auto for a GPU where there is one.
        separator: between question and passage.
        title_separator: between a passage's title and its text; empty leaves the title out.

    Raises:
        ConfigError: if a value is out of range.
    """

    model: str = "t5-large"
    revision: str = ""
    epochs: int = 8
    learning_rate: float = 1e-4
    batch_size: int = 12
    max_length: int = 512
    negatives: int = 0
    seed: int = 0
    device: str = "auto"
    separator: str = TransformerSettings.separator
    title_separator: str = TransformerSettings.title_separator

    def __post_init__(self) -> None:
        if self.epochs < 1 or not self.learning_rate > 0:
            raise ConfigError(
                f"t5.epochs must be at least 1 and t5.learning_rate above 0, found {self.epochs}, {self.learning_rate}"
            )
        if self.negatives < 0 or self.seed < 0:
            raise ConfigError(f"t5.negatives and t5.seed must be at least 0, found {self.negatives} and {self.seed}")
        self.transformer()  # checks the others

    def transformer(self, model: str | None = None) -> TransformerSettings:
        """Return how the evaluator that is trained shows texts to its model."""
        return TransformerSettings(
            self.model if model is None else model,
            "" if model else self.revision,
            self.device if model is None else TransformerSettings.device,
            self.batch_size,
            self.max_length,
            self.separator,
            self.title_separator,
        )
