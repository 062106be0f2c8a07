"""The evidence state: a value that holds only what can be observed at inference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from ..confidence.strips import cut
from ..data.records import Passage, Question
from ..data.text import normalise_title
from ..generation.tasks import Answer, Snippet
from ..ranking.tasks import LEAST_READ, Found, Ranking
from ..retrieval.base import Hit
from .bridge import bridge_candidates, first_unexpanded
from .caps import Caps
from .costs import Cost, Ledger, charge, total


class HeldPassage(NamedTuple):
    """A passage in the state, with what brought it.

    Attributes:
        passage: the passage.
        score: the score that chose it: the retriever's, or, where a ranker chooses, its probability of being support.
        rank: its place in the ranking that brought it, from 0.
        operation: name of the operation.
        query: the words searched for.
        step: the step of the operation, from 0.
        source: type of the source that it comes from; empty where none is known.
    """

    passage: Passage
    score: float
    rank: int
    operation: str
    query: str
    step: int
    source: str = ""


class Gate(NamedTuple):
    """What the last corrective gate found and did.

    Attributes:
        verdict: correct, ambiguous or incorrect.
        scores: of the passages that were held, in [-1, 1], in their order.
        version: evidence version that it left behind.
        brought: how many passages it brought from elsewhere.
        discarded: how many it discarded.
    """

    verdict: str
    scores: tuple[float, ...]
    version: int
    brought: int = 0
    discarded: int = 0


class Failure(NamedTuple):
    """An operation that failed, why, and the evidence version that it failed on."""

    operation: str
    reason: str
    evidence_version: int


# Without slots a state is copied by copying one dictionary, which every step does several times.
@dataclass(frozen=True)
class EvidenceState:
    """What is known after some operations; changing it returns a new one.

    Gold never enters it, nor does the time of day.

    Attributes:
        question: the question's text and key.
        caps: limits of the episode.
        held: passages in order of arrival.
        seen: ids of all passages that ever came; none of them comes again.
        frontier: how many places of the question's own ranking have been used.
        frontier_exhausted: whether that ranking, or the pool of a ranked search, holds nothing more.
        queries: the queries asked, oldest first, without repetition.
        candidates: bridge entities by (passage rank, position); see :mod:`.bridge`.
        expanded: the candidates that have been expanded.
        gap: what is missing, in words that can be searched; empty without a probe or when nothing is missing.
        sufficient: verdict of the last probe, None without one.
        sufficiency: its probability in [0, 1].
        evidence_version: grows whenever the held passages change.
        probed_version: evidence version that the verdict was made on, -1 without one.
        barren: operations that brought nothing new on the present evidence.
        snippets: the compressed context, None without one.
        compressed_version: evidence version that was compressed, -1 without one.
        history: names of the operations run, oldest first.
        retrievals: how many of them were retrievals.
        newest: how many passages the last retrieval brought.
        ledger: cost per operation.
        end: "" while running, then "stop" or "cap".
        answer: the generator's answer, once there is one.
        found: the pool of passages found, held or not, where a ranker chooses; empty elsewhere.
        ranking: what the ranker thinks of pool and further searches on the present evidence; None without one.
        failures: what failed, oldest first: operations, and "compress" and "answer" of the conclusion.
        gate: what the last corrective gate found; None without one.
        refined: what it left of the passages: id and indices of the sentences kept, none where a passage was dropped.
        external: searches elsewhere so far.
        elsewhere: the queries asked there, oldest first, without repetition.
    """

    question: Question
    caps: Caps = field(default=Caps())
    held: tuple[HeldPassage, ...] = ()
    seen: frozenset[str] = field(default=frozenset())
    frontier: int = 0
    frontier_exhausted: bool = False
    queries: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    expanded: tuple[str, ...] = ()
    gap: str = ""
    sufficient: bool | None = None
    sufficiency: float = 0.0
    evidence_version: int = 0
    probed_version: int = -1
    barren: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] | None = None
    compressed_version: int = -1
    history: tuple[str, ...] = ()
    retrievals: int = 0
    newest: int = 0
    ledger: Ledger = ()
    end: str = ""
    answer: Answer | None = None
    failures: tuple[Failure, ...] = ()
    found: tuple[Found, ...] = ()
    ranking: Ranking | None = None
    gate: Gate | None = None
    refined: tuple[tuple[str, tuple[int, ...]], ...] = ()
    external: int = 0
    elsewhere: tuple[str, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The held passages, in order of arrival."""
        return tuple([item.passage for item in self.held])

    @property
    def ordered(self) -> tuple[Passage, ...]:
        """The held passages, the likeliest support first where there is a ranking, else in order of arrival."""
        if self.ranking is None:
            return self.passages
        scores = {item.passage: score for item, score in zip(self.found, self.ranking.scores)}
        return tuple(sorted(self.passages, key=lambda passage: -scores[passage]))

    @property
    def context(self) -> tuple[Passage, ...]:
        """The passages that the final context holds: the first ``caps.context_documents`` of the ordered ones.

        Those that a gate has refined are cut down to the sentences that it kept.
        """
        ordered = self.ordered
        if self.refined:
            kept = dict(self.refined)
            left = (cut(p, kept[p.id]) if p.id in kept else p for p in ordered if kept.get(p.id) != ())
            ordered = tuple(left)
        return ordered[: self.caps.context_documents]

    @property
    def reading(self) -> tuple[Passage, ...]:
        """The passages of the context that are read for the answer: those that reach the floor of the ranking.

        The first ``LEAST_READ`` always are; without a ranking, or with floor 0, all are.
        """
        ranking, context = self.ranking, self.context
        if ranking is None or not ranking.floor:
            return context
        scores = {item.passage.id: score for item, score in zip(self.found, ranking.scores)}
        return tuple([p for n, p in enumerate(context) if n < LEAST_READ or scores[p.id] >= ranking.floor])

    @property
    def steps(self) -> int:
        """Steps used so far."""
        return len(self.history) - self.history.count("stop_answer")

    @property
    def cost(self) -> Cost:
        """What has been spent in all."""
        return total(self.ledger)

    @property
    def room(self) -> int:
        """How many passages the next retrieval may add."""
        if self.caps.documents is None:
            return self.caps.documents_per_retrieval
        return max(0, min(self.caps.documents_per_retrieval, self.caps.documents - len(self.held)))

    @property
    def may_retrieve(self) -> bool:
        """Whether the caps leave a retrieval."""
        return self.room > 0 and (self.caps.retrievals is None or self.retrievals < self.caps.retrievals)

    @property
    def next_candidate(self) -> str:
        """The first bridge entity that has not been expanded, or an empty string."""
        return first_unexpanded(self.candidates, self.expanded)

    def changed(self, **changes: Any) -> EvidenceState:
        """Return a copy with other values of some attributes, several times faster than ``dataclasses.replace``.

        Raises:
            TypeError: if there is no such attribute.
        """
        values = self.__dict__ | changes
        if len(values) > len(self.__dict__):
            raise TypeError(f"no such attribute: {', '.join(sorted(values.keys() - self.__dict__.keys()))}")
        made = object.__new__(EvidenceState)
        made.__dict__.update(values)
        return made

    def unseen(self, hits: Iterable[Hit], deduplicate_titles: bool = False) -> list[Hit]:
        """Return the first hits that are new, as many as there is room for."""
        titles = {normalise_title(p.title) for p in self.passages} if deduplicate_titles else set()
        room = self.room
        taken: dict[str, Hit] = {}
        for hit in hits:
            if len(taken) == room:
                break
            key = hit.passage.id
            if key in self.seen or key in taken:
                continue
            if deduplicate_titles:
                title = normalise_title(hit.passage.title)
                if title in titles:
                    continue
                titles.add(title)
            taken[key] = hit
        return list(taken.values())

    def received(self, operation: str, query: str, hits: Sequence[Hit]) -> EvidenceState:
        """Return the state after a retrieval that brought the new passages ``hits``."""
        asked = self.queries if query in self.queries else (*self.queries, query)
        if not hits:
            return self.changed(
                queries=asked, retrievals=self.retrievals + 1, newest=0, barren=(*self.barren, operation)
            )
        step = self.steps
        brought = tuple([HeldPassage(h.passage, h.score, h.rank, operation, query, step, h.source) for h in hits])
        held = self.held + brought
        by_rank = [item.passage for item in sorted(held, key=attrgetter("rank"))]
        return self.changed(
            held=held,
            seen=self.seen.union([h.passage.id for h in hits]),
            queries=asked,
            candidates=bridge_candidates(self.question.text, by_rank),
            evidence_version=self.evidence_version + 1,
            barren=(),
            retrievals=self.retrievals + 1,
            newest=len(brought),
        )

    def searched_elsewhere(self, query: str) -> EvidenceState:
        """Return the state with a search outside the corpus noted."""
        asked = self.elsewhere if query in self.elsewhere else (*self.elsewhere, query)
        return self.changed(external=self.external + 1, elsewhere=asked)

    def received_elsewhere(self, operation: str, query: str, hits: Sequence[Hit]) -> EvidenceState:
        """Return the state after a search outside the corpus that brought the new passages ``hits``."""
        if not hits:
            return self
        return self.received(operation, query, hits).changed(queries=self.queries, retrievals=self.retrievals)

    def discarded(self) -> EvidenceState:
        """Return the state without its evidence; what was held stays seen."""
        return self.changed(
            held=(), candidates=(), refined=(), evidence_version=self.evidence_version + 1, barren=(), newest=0
        )

    def failed(self, operation: str, reason: str) -> EvidenceState:
        """Return the state with a failure noted; no evidence and no verdict comes of it."""
        return self.changed(failures=(*self.failures, Failure(operation, reason, self.evidence_version)))

    def barred(self, operation: str) -> bool:
        """Say whether ``operation`` failed on the present evidence, so that it would ask the same again."""
        return bool(self.failures) and any(
            f.operation == operation and f.evidence_version == self.evidence_version for f in self.failures
        )

    def ran(self, operation: str, cost: Cost) -> EvidenceState:
        """Return the state with ``operation`` entered in the history, and its ``cost`` in the ledger."""
        return self.changed(history=(*self.history, operation), ledger=charge(self.ledger, operation, cost))

    def charged(self, operation: str, cost: Cost) -> EvidenceState:
        """Return the state with ``cost`` entered under ``operation``."""
        return self.changed(ledger=charge(self.ledger, operation, cost))
