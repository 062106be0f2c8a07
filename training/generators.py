"""The generators of a training run: nothing fitted is asked about a question that it was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.errors import ManifestMismatchError
from ..data.records import Record, content_hash
from ..data.storage import write_text
from ..generation.base import Generator
from ..generation.choose import FIT, GeneratorSource, load_generator
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
    wanted: str | GeneratorSource, records: Sequence[Record], retriever: Retriever, folder: Path, seed: int
) -> Generators:
    """Return the generators for "packaged", "fit", "chat", "local", or the folder of a saved one.

    "fit" cross-fits the extractive generator by question (5 folds) and saves it in ``folder``; if it is there already
    it is read.

    Raises:
        DataError: if a saved generator is missing or damaged.
        ManifestMismatchError: if the one in ``folder`` was fitted on something else.
        ConfigError: if no model is named, or there is no such model.
        BackendUnavailableError: if an extra is needed and not installed.
    """
    source = GeneratorSource(wanted) if isinstance(wanted, str) else wanted
    if source.kind == FIT:
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
        folds = {fold.fingerprint: source.recording.of(fold) for fold in fitted.folds}
        return Generators(
            source.recording.of(fitted.full), lambda record: folds[fitted.for_record(record.id).fingerprint]
        )
    single = load_generator(source)
    return Generators(single, lambda _: single)


def _made_from(records: Sequence[Record], retriever: Retriever, seed: int) -> str:
    """Return a hash of what a fit depends on."""
    return content_hash(retriever.fingerprint, str(seed), questions_hash(records))
