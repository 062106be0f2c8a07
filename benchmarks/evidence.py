"""The evidence that a ranker collects by a fixed rule, without a controller: the question, then what it proposes."""

from __future__ import annotations

from collections.abc import Sequence

from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.records import Record
from evidencegym.generation.choose import load_generator
from evidencegym.ranking.base import Ranker
from evidencegym.retrieval.base import Retriever
from evidencegym.training.ranker_rows import explore

RULES = Rules(operation_set(ranked=True))
_BATCH = 64


def collected_evidence(records: Sequence[Record], retriever: Retriever, ranker: Ranker) -> list[EvidenceState]:
    """Return the last state of an episode for each question: one search a step, the caps of the paper."""
    made: list[EvidenceState] = []
    for first in range(0, len(records), _BATCH):
        engine = Engine(retriever, load_generator("packaged"), 0, ranker)
        made += explore(records[first : first + _BATCH], RULES, engine, seed=-1)
    return made
