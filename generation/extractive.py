"""The embedded generator: it answers with spans of the evidence, by small fitted models; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ..data.storage import load_folder, save_folder
from .answering import answer_one
from .base import Generator
from .compressing import compress_one
from .judging import judge_one, rewrite_one
from .model import FORMAT, Model
from .tasks import (
    Answer,
    AnswerTask,
    Compression,
    CompressTask,
    Judgement,
    JudgeTask,
    RewriteTask,
    Rewriting,
)

KIND = "extractive generator"
DEFAULT = Path(__file__).parent / "default"


class ExtractiveGenerator(Generator):
    """Answers with spans of the evidence; tokens are words (``unit``), read and written.

    Every result depends on the task and the fitted arrays alone; ties are broken by (passage, sentence, position).

    Args:
        model: what ``generation.fit`` made.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._fingerprint = model.fingerprint()

    @classmethod
    def default(cls) -> ExtractiveGenerator:
        """Return the generator that ships with the package, fitted on the synthetic world."""
        return _default()

    @property
    def fingerprint(self) -> str:
        """A hash of all fitted arrays."""
        return self._fingerprint

    @property
    def unit(self) -> str:
        """Tokens are counted as words."""
        return "words"

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        """Answer each question; without evidence only yes, no or a side of the question can be guessed."""
        return [answer_one(self.model, task) for task in tasks]

    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Judgement]:
        """Judge each body of evidence; ``missing`` is a name likely to lead further, and the question."""
        return [judge_one(self.model, task) for task in tasks]

    def rewrite(self, tasks: Sequence[RewriteTask]) -> list[Rewriting]:
        """Ask about the likeliest name that no query has named yet."""
        return [rewrite_one(self.model, task) for task in tasks]

    def compress(self, tasks: Sequence[CompressTask]) -> list[Compression]:
        """Keep the sentences likeliest to support, each with its title."""
        return [compress_one(self.model, task) for task in tasks]

    def save(self, folder: str | Path) -> None:
        """Write plain arrays and a JSON manifest; the same generator gives the same bytes.

        Raises:
            DataError: if the folder cannot be written.
        """
        manifest = {"kind": KIND, "format": FORMAT, "fingerprint": self.fingerprint, "unit": self.unit}
        save_folder(Path(folder), self.model.arrays(), manifest)

    @classmethod
    def load(cls, folder: str | Path) -> ExtractiveGenerator:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: if a file is missing or damaged.
            ManifestMismatchError: if the folder holds something else, or another version's arrays.
        """
        arrays, _ = load_folder(Path(folder), KIND)
        return cls(Model.from_arrays(arrays))


@lru_cache(maxsize=1)
def _default() -> ExtractiveGenerator:
    return ExtractiveGenerator.load(DEFAULT)


__all__ = ["DEFAULT", "KIND", "ExtractiveGenerator"]
