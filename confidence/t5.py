"""CRAG's evaluator (2401.15884, section 4.2): a T5 sequence classifier with one output, trained on -1 and +1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.errors import ConfigError
from .transformer import TransformerEvaluator
from .transformer_settings import TransformerSettings

TYPE = "t5"


def joined(question: str, text: str, settings: TransformerSettings) -> str:
    """Return question and text as the model reads them: ``question [SEP] text``."""
    return f"{question}{settings.separator}{text}"


def encode(tokenizer: Any, text: str, max_length: int) -> Mapping[str, list[int]]:
    """Return the tokens of a text and their mask, cut to ``max_length``, the end mark at the end included.

    The head reads the state at the end mark, so a text may not spell it: there it becomes a space.
    """
    plain = text.replace(tokenizer.eos_token, " ")
    return dict(tokenizer(plain, truncation=True, max_length=max_length, return_token_type_ids=False))


def check(tokenizer: Any, model: Any, name: str) -> None:
    """Refuse what is no T5 with its tokenizer.

    Raises:
        ConfigError: if the model is of another kind, or its tokenizer does not end a text with the end mark.
    """
    kind = model.config.model_type
    if not str(kind).endswith("t5"):
        raise ConfigError(f"expected a T5 sequence classifier, {name!r} is a {kind}: use it as a cross-encoder")
    if tokenizer.eos_token_id is None or tokenizer("a")["input_ids"][-1] != tokenizer.eos_token_id:
        raise ConfigError(f"the tokenizer of {name!r} must end a text with an end mark, as T5's do")


class T5Evaluator(TransformerEvaluator):
    """The paper's evaluator: ``question [SEP] passage`` goes in, the output clipped to [-1, 1] comes out.

    More than ``max_length`` tokens are cut off at the end, so a long passage loses its last sentences. A T5 itself has
    no longest input; the paper's was trained on 512 tokens.

    Deviations from the paper's code: 1. inputs are padded to the longest of their batch, not to 512 tokens, which
    changes nothing but last bits; 2. the output is clipped, since a regression leaves [-1, 1] at times; 3. a passage's
    title comes first unless ``title_separator`` is empty.
    """

    def _prepare(self) -> None:
        check(self._classifier.tokenizer, self._classifier.model, self.settings.model)

    @property
    def _name(self) -> str:
        return "t5 evaluator"

    def _encoded(self, question: str, text: str) -> Mapping[str, list[int]]:
        return encode(self._classifier.tokenizer, joined(question, text, self.settings), self.settings.max_length)

    def _mapped(self, output: float) -> float:
        return max(-1.0, min(1.0, output))
