"""The generators of a training run: nothing fitted is asked about a question that it was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.errors import ManifestMismatchError
from ..data.records import Record, content_hash
from ..data.storage import write_text
from ..generation.base import Generator
from ..generation.choose import load_generator
from ..generation.fit import CrossFitted, cross_fit, training_examples
from ..retrieval.base import Retriever
from .questions import questions_hash

FOLDS = 5
MADE_FROM = "made_from.txt"


@dataclass(frozen=True)
class Generators:
    """Who answers in training and afterwards.

    Attributes:
        full: serves at inference.
        of: serves for a train question while rows are collected; it has not seen that question.
    """

    full: Generator
    of: Callable[[Record], Generator]


def prepare_generators(
    wanted: str, records: Sequence[Record], retriever: Retriever, folder: Path, seed: int
) -> Generators:
    """Return the generators for "packaged", "fit", or the folder of a saved one.

    "fit" cross-fits the extractive generator by question (5 folds) and saves it in ``folder``; if it is there already
    it is read.

    Raises:
        DataError: if a saved generator is missing or damaged.
        ManifestMismatchError: if the one in ``folder`` was fitted on something else.
    """
    if wanted == "fit":
        made_from = _made_from(records, retriever, seed)
        if not (folder / MADE_FROM).exists():
            cross_fit(training_examples(records, retriever, seed), n_folds=FOLDS, seed=seed).save(folder)
            write_text(folder / MADE_FROM, made_from)
        if (folder / MADE_FROM).read_text(encoding="utf-8") != made_from:
            raise ManifestMismatchError(
                f"{folder}: holds a generator fitted on other questions, another corpus or another seed; "
                "delete it or use another folder"
            )
        fitted = CrossFitted.load(folder)
        return Generators(fitted.full, lambda record: fitted.for_record(record.id))
    single = load_generator(wanted)
    return Generators(single, lambda _: single)


def _made_from(records: Sequence[Record], retriever: Retriever, seed: int) -> str:
    """Return a hash of what a fit depends on."""
    return content_hash(retriever.fingerprint, str(seed), questions_hash(records))
