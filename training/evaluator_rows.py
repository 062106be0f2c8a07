"""The rows that an evaluator is fitted to: documents and strips, and which of them are support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..confidence.base import EvaluateTask
from ..confidence.calibration import Judged
from ..confidence.features import Reader
from ..confidence.strips import Strip, strips_of
from ..data.errors import ConfigError
from ..data.records import Gold, Passage, Record, content_hash
from ..data.support_scores import supports_held, supports_total
from ..data.text import spaced
from ..retrieval.base import Retriever

STRIP_SIZES = (1, 2, 3)
"""Sentences in a strip; which size a question's strips have hangs on its key."""


@dataclass(frozen=True)
class Evidence:
    """What the first search of a question brought, down to one depth, ready to be scored.

    Attributes:
        judged: its truth; the scores are those of nobody yet.
        rows: (documents, features) float32.
    """

    judged: Judged
    rows: NDArray[np.float32]


class EvaluatorRows(NamedTuple):
    """Labelled rows of one question.

    Attributes:
        id: the record's id.
        rows: (n, features) float32.
        support: (n,) bool, whether the document is support, or the strip the part of it that matters.
        evidence: for calibration, one for each depth; none where no support is annotated.
    """

    id: str
    rows: NDArray[np.float32]
    support: NDArray[np.bool_]
    evidence: tuple[Evidence, ...]


def evaluator_rows(record: Record, reader: Reader, retriever: Retriever, depths: Sequence[int]) -> EvaluatorRows:
    """Return the rows of a question.

    The documents of its own context, and of what its text finds down to each depth, are bodies of evidence. The
    context, or what was found where there is none, is cut into strips as well, seen beside their documents.

    Raises:
        ConfigError: if the record has no gold.
        RequestFailedError: if the search cannot be served.
    """
    gold = with_gold(record)
    found = searched(record, retriever, depths[-1])
    context = tuple(dict.fromkeys(record.context))
    prefixes = [found[:depth] for depth in depths]
    rows = [reader.read(_task(record, texts)) for texts in (context, *prefixes)]
    labels = [[is_support(gold, text) for text in texts] for texts in (context, *prefixes)]
    documents = context or found
    strips = _strips(record, documents)
    rows.append(reader.read(_task(record, tuple([strip.text for strip in strips]), documents)))
    labels.append(strip_labels(gold, strips))
    wanted = supports_total(gold)
    judged = [truth(record, texts) for texts in prefixes] if wanted else []
    evidence = tuple([Evidence(own, made) for own, made in zip(judged, rows[1:])])
    together = np.array([label for part in labels for label in part], bool)
    return EvaluatorRows(record.id, np.concatenate(rows), together, evidence)


def searched(record: Record, retriever: Retriever, k: int) -> tuple[Passage, ...]:
    """Return the best ``k`` passages for the question's own text."""
    [hits] = retriever.search([record.question.text], k, [record.question.key])
    return tuple([hit.passage for hit in hits])


def truth(record: Record, passages: Sequence[Passage], scores: Sequence[float] = ()) -> Judged:
    """Return a body of evidence with how much of the support it holds."""
    gold = with_gold(record)
    return Judged(record.uid, gold.type, tuple(scores), supports_held(gold, passages), supports_total(gold))


def with_gold(record: Record) -> Gold:
    """Return the record's gold.

    Raises:
        ConfigError: if it has none.
    """
    if record.gold is None:
        raise ConfigError(f"evaluators are fitted to questions with gold, found one without gold: {record.id}")
    return record.gold


def is_support(gold: Gold, passage: Passage) -> bool:
    """Say whether a passage is one of the annotated supporting documents."""
    return supports_held(gold, (passage,)) > 0


def strip_labels(gold: Gold, strips: Sequence[Strip]) -> list[bool]:
    """Return for each strip whether it is the part of a supporting document that matters.

    That is one with an annotated supporting sentence; where no sentence of the document is annotated, one that speaks
    of the answer to the step that the document supports; where none does, every strip of it.
    """
    telling = [is_support(gold, strip.document) and _tells(gold, strip) for strip in strips]
    marked = {strip.document for strip, tells in zip(strips, telling) if tells}
    return [
        tells or (strip.document not in marked and is_support(gold, strip.document))
        for strip, tells in zip(strips, telling)
    ]


def _tells(gold: Gold, strip: Strip) -> bool:
    facts = {sentence for title, sentence in gold.supporting_facts if title == strip.document.title}
    if facts.intersection(range(len(strip.document.sentences))):
        return bool(facts.intersection(strip.sentences))
    answers = [hop.answer for hop in gold.decomposition if hop.support_id == strip.document.id]
    return any(spaced(answer) in spaced(strip.text.text) for answer in answers if answer.strip())


def _strips(record: Record, documents: Sequence[Passage]) -> list[Strip]:
    size = STRIP_SIZES[int(content_hash("strips", record.question.key), 16) % len(STRIP_SIZES)]
    return [strip for document in documents for strip in strips_of(document, size)]


def _task(record: Record, texts: tuple[Passage, ...], beside: tuple[Passage, ...] = ()) -> EvaluateTask:
    return EvaluateTask(record.question.text, record.question.key, texts, beside)
