"""Any cross-encoder as an evaluator: a model that reads question and text together and gives one number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from ..data.errors import ConfigError
from .transformer import TransformerEvaluator

TYPE = "cross_encoder"


class CrossEncoderEvaluator(TransformerEvaluator):
    """Question and text go in as a pair of sequences; the score is ``2 sigmoid(logit) - 1``, in [-1, 1].

    The logit is taken before the activation that a model's own configuration may name, so that 0 is a logit of 0 for
    every model. Where the pair has more tokens than ``max_length``, or than the model can read, the longer of the two
    is cut at its end, token by token.
    """

    def _prepare(self) -> None:
        kind = self._classifier.kind
        if kind.endswith("t5"):
            raise ConfigError(f"{self.settings.model!r} is a {kind}: use it as a T5 evaluator")

    @property
    def _name(self) -> str:
        return "cross-encoder evaluator"

    @cached_property
    def _most(self) -> int:
        """Return how many tokens are read at most; the tokenizer knows how many positions a model has for text."""
        config, tokenizer = self._classifier.model.config, self._classifier.tokenizer
        positions = getattr(config, "max_position_embeddings", None) or self.settings.max_length
        return int(min(self.settings.max_length, positions, tokenizer.model_max_length))

    def _encoded(self, question: str, text: str) -> Mapping[str, list[int]]:
        return dict(self._classifier.tokenizer(question, text, truncation="longest_first", max_length=self._most))

    def _mapped(self, output: float) -> float:
        return math.tanh(output / 2)  # 2 sigmoid(x) - 1, without overflow
