"""Bodies of evidence to fit on: like those met in episodes, some sufficient, some not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.records import Gold, Passage, Record, content_hash
from ..data.support_scores import support_recall
from ..retrieval.base import Retriever

_PREFIXES = (3, 6, 9, 12)
_STEP = 3


@dataclass(frozen=True, slots=True)
class Example:
    """A training question with one body of evidence; gold is read at fitting only."""

    question: str
    passages: tuple[Passage, ...]
    gold: Gold


def training_examples(records: Sequence[Record], retriever: Retriever, seed: int) -> list[Example]:
    """Make up to nine bodies of evidence for each question that has gold.

    They are: the gold passages, all of them and all but one; the own context; the first 3, 6, 9 and 12 passages of the
    question's ranking; one of these with a missing gold passage added; and the first three after a search for a missing
    title.

    Args:
        records: training questions, with gold; their contexts give the gold passages.
        retriever: searched with the question, and with "missing title + question".
        seed: decides which prefix gets which missing passage, by question.
    """
    kept = [r for r in records if r.gold is not None]
    keys = [r.question.key for r in kept]
    rankings = retriever.search([r.question.text for r in kept], max(_PREFIXES), keys)
    examples: list[Example] = []
    for record, hits in zip(kept, rankings):
        ranking = tuple(h.passage for h in hits)
        examples += _of_record(record, ranking, retriever, seed)
    return examples


def _of_record(record: Record, ranking: tuple[Passage, ...], retriever: Retriever, seed: int) -> list[Example]:
    gold = record.gold
    if gold is None:
        return []
    random = np.random.default_rng(int(content_hash("examples", str(seed), record.id), 16))
    support = gold_passages(gold, record.context)
    left_out = int(random.integers(max(len(support), 1)))
    short = support[:left_out] + support[left_out + 1 :]
    bodies = [support, short, record.context, *(ranking[:n] for n in _PREFIXES)]
    start = ranking[: _PREFIXES[int(random.integers(3))]]
    missing = _missing(gold, start, record.context)
    if missing:
        bodies.append((*start, missing[int(random.integers(len(missing)))]))
    missing = _missing(gold, ranking[:_STEP], record.context)
    if missing:
        query = f"{missing[int(random.integers(len(missing)))].title} {record.question.text}"
        bodies.append(_expanded(ranking[:_STEP], query, retriever, record.question.key))
    distinct = {tuple(p.id for p in body): body for body in bodies if body}
    return [Example(record.question.text, body, gold) for body in distinct.values()]


def gold_passages(gold: Gold, context: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the supporting passages among those given, in their order."""
    return tuple(p for p in context if is_support(gold, p))


def is_support(gold: Gold, passage: Passage) -> bool:
    """Say whether a passage is one of the supporting ones."""
    return passage.title in gold.support_titles if gold.match_support_by == "title" else passage.id in gold.support_ids


def _missing(gold: Gold, held: Sequence[Passage], context: Sequence[Passage]) -> list[Passage]:
    """Return the gold passages of the context that raise the support recall when added."""
    now = support_recall(gold, held)
    return [p for p in gold_passages(gold, context) if support_recall(gold, (*held, p)) > now]


def _expanded(held: tuple[Passage, ...], query: str, retriever: Retriever, pool: str) -> tuple[Passage, ...]:
    ids = {p.id for p in held}
    hits = retriever.search([query], _STEP + len(held), [pool])[0]
    return (*held, *[h.passage for h in hits if h.passage.id not in ids][:_STEP])
