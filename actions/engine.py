"""The engine executes requests: batches of one kind, without repetition, metered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

from ..confidence.base import EvaluateTask, Evaluation, Evaluator
from ..confidence.files import require_calibrated
from ..data.errors import ConfigError, RequestFailedError
from ..data.records import content_hash
from ..generation.base import Generator
from ..generation.tasks import AnswerTask, CompressTask, Failed, JudgeTask, RewriteTask
from ..ranking.base import Ranker
from ..ranking.tasks import RankTask
from ..retrieval.base import Hit, Retriever, Search
from ..retrieval.external import ExternalSearch, ExternalSource
from .costs import Cost
from .operation import Request

Backend = Retriever | Generator | Ranker | Evaluator | ExternalSource

NAMESAKES = 8
"""How many passages about one name a search brings along at most."""


class Reply(NamedTuple):
    """What came back (``Failed`` where nothing did), and what it cost."""

    response: Any
    cost: Cost


class Turn(IntEnum):
    """The order in which kinds that are executed in this process take their turns.

    What leads to further requests comes first, so that the batches of the later kinds are as large as they can be.
    """

    REWRITE = 0
    JUDGE = 1
    SEARCH = 2
    EXTERNAL = 3
    EVALUATE = 4
    RANK = 5
    DECIDE = 6
    COMPRESS = 7
    ANSWER = 8


class Kind(NamedTuple):
    """What executes one kind of request.

    Attributes:
        execute: gives one reply for each request of a batch; from several threads at a time if ``concurrency`` allows.
        turn: its place among the kinds that are executed in this process.
        concurrency: how many batches may be under way elsewhere; 0 where they are executed in this process.
        max_batch: most requests in a batch; None for no limit.
    """

    execute: Callable[[Sequence[Any]], list[Reply]]
    turn: Turn
    concurrency: int = 0
    max_batch: int | None = None


class Engine:
    """Executes requests against a retriever and a generator.

    Equal requests of one batch are executed once, and each is charged: cost is what an operation asks for, not what a
    cache saves. A request that its backend cannot serve has ``Failed`` in its reply, is charged for one call,
    and is not kept. An engine serves one thread; :meth:`fresh` makes another one.

    Args:
        retriever: answers searches.
        generator: answers every other request.
        cache_size: how many replies are kept; the oldest go first. 0 keeps none.
        ranker: chooses within operations; None where no operation is ranked.
        evaluator: judges evidence; None where no operation is a gate. It must be calibrated.
        external: is searched where the gate searches elsewhere.

    Attributes:
        kinds: what executes each kind of request, by its type.

    Raises:
        ConfigError: if ``cache_size`` or a backend's ``concurrency`` is negative, or its ``max_batch`` is below 1; if
            the evaluator has no thresholds; when asked for what needs a ranker, evaluator or external source that it
            does not have.
    """

    def __init__(
        self,
        retriever: Retriever,
        generator: Generator,
        cache_size: int = 20_000,
        ranker: Ranker | None = None,
        evaluator: Evaluator | None = None,
        external: ExternalSource | None = None,
    ) -> None:
        if cache_size < 0:
            raise ConfigError(f"cache_size must not be negative, found {cache_size}")
        self.retriever = retriever
        self.generator = generator
        self.cache_size = cache_size
        self.ranker = ranker
        self.evaluator = evaluator
        self.external = external
        self._cache: dict[Request, Reply] = {}
        self.kinds: dict[type, Kind] = {
            Search: _kind(self._search, Cost(retrievals=1), Turn.SEARCH, retriever),
            AnswerTask: _called(generator.answer, Turn.ANSWER, generator),
            JudgeTask: _called(generator.judge_sufficiency, Turn.JUDGE, generator),
            RewriteTask: _called(generator.rewrite, Turn.REWRITE, generator),
            CompressTask: _called(generator.compress, Turn.COMPRESS, generator),
        }
        self.kinds[RankTask] = (
            _missing(
                Turn.RANK,
                "the operations are ranked, but the engine has no ranker: give it one, or build them unranked",
            )
            if ranker is None
            else _kind(partial(_ranked, ranker), Cost(), Turn.RANK, ranker)
        )
        self.kinds[EvaluateTask] = (
            _missing(Turn.EVALUATE, "corrective_gate needs an evaluator, and the engine has none")
            if evaluator is None
            else _kind(
                partial(_evaluated, require_calibrated(evaluator)), Cost(evaluator_calls=1), Turn.EVALUATE, evaluator
            )
        )
        self.kinds[ExternalSearch] = (
            _missing(
                Turn.EXTERNAL,
                "the gate searches elsewhere, but the engine has no external source: give it one, or a budget of 0",
            )
            if external is None
            else _kind(partial(_found_elsewhere, external), Cost(external_searches=1), Turn.EXTERNAL, external)
        )

    @property
    def _backends(self) -> tuple[Any, ...]:
        return self.retriever, self.generator, self.cache_size, self.ranker, self.evaluator, self.external

    def __reduce__(self) -> Any:
        """Send backends, not replies, to another process."""
        return Engine, self._backends

    def fresh(self) -> Engine:
        """Return an engine on the same backends that shares no replies with this one, for use by another thread."""
        return Engine(*self._backends)

    @property
    def fingerprint(self) -> str:
        """A hash of everything behind the engine that can change a result."""
        others = [b.fingerprint for b in (self.ranker, self.evaluator, self.external) if b is not None]
        return content_hash("engine", self.retriever.fingerprint, self.generator.fingerprint, *others)

    def execute(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the replies, in the order of the requests; everything is executed in the calling thread.

        Raises:
            ValueError: if a backend does not give one response for each request, so that none goes to another.
        """
        if len(requests) == 1:
            return [self._one(requests[0])]
        replies: dict[Request, Reply] = {}
        for type_, kind in self.kinds.items():
            wanted = dict.fromkeys(r for r in requests if type(r) is type_)
            replies |= {request: self._cache[request] for request in wanted if request in self._cache}
            missing = [request for request in wanted if request not in replies]
            for batch in batches(missing, kind.max_batch):
                made = kind.execute(batch)
                self.keep(batch, made)
                replies |= zip(batch, made)
        return [replies[request] for request in requests]

    def recall(self, request: Request) -> Reply | None:
        """Return the reply that is kept for a request, if there is one."""
        return self._cache.get(request)

    def keep(self, requests: Iterable[Request], replies: Iterable[Reply]) -> None:
        """Keep the replies that are not failures."""
        if not self.cache_size:
            return
        self._cache |= ((q, reply) for q, reply in zip(requests, replies) if not isinstance(reply.response, Failed))
        while len(self._cache) > self.cache_size:
            del self._cache[next(iter(self._cache))]

    def _one(self, request: Request) -> Reply:
        known = self._cache.get(request)
        if known is None:
            [known] = self.kinds[type(request)].execute([request])
            self.keep([request], [known])
        return known

    def _search(self, searches: Sequence[Search]) -> list[Reply]:
        found: dict[Search, list[Hit]] = {}
        serving = {targeted: self.retriever.serving(targeted) for targeted in (False, True)}
        for retriever in dict.fromkeys(serving.values()):
            own = [search for search in searches if serving[search.targeted] is retriever]
            for k in sorted({search.k for search in own}):
                batch = [search for search in own if search.k == k]
                hits = retriever.search([s.query for s in batch], k, [s.pool for s in batch])
                found |= dict(zip(batch, hits, strict=True))
        return [Reply(tuple(self._with_titles(s, found[s])), Cost(retrievals=1)) for s in searches]

    def _with_titles(self, search: Search, hits: list[Hit]) -> list[Hit]:
        """Put the passages of the wanted title first, and those about the subjects last."""
        first = self._with_title(search, hits)
        if not search.subjects:
            return first
        there = {hit.passage for hit in first}
        about = [p for name in search.subjects for p in self.retriever.about(name, search.pool)[:NAMESAKES]]
        return first + [Hit(p, 0.0, len(first)) for p in dict.fromkeys(about) if p not in there]

    def _with_title(self, search: Search, hits: list[Hit]) -> list[Hit]:
        """Put the passages of the wanted title first; they take the best score, so that scores stay in order."""
        titled = self.retriever.titled(search.title, search.pool) if search.title else ()
        if not titled:
            return hits
        best = hits[0].score if hits else 0.0
        ids = {passage.id for passage in titled}
        rest = [hit for hit in hits if hit.passage.id not in ids]
        ordered = [Hit(passage, best, 0) for passage in titled] + rest
        return [hit._replace(rank=rank) for rank, hit in enumerate(ordered[: search.k])]


def batches(requests: list[Any], size: int | None) -> Iterable[list[Any]]:
    """Yield the requests in batches of at most ``size``, or as one; none where there are none."""
    step = size or max(1, len(requests))
    return (requests[first : first + step] for first in range(0, len(requests), step))


def _kind(call: Callable[[Sequence[Any]], list[Reply]], price: Cost, turn: Turn, backend: Backend) -> Kind:
    """Return the kind of request that ``call`` executes; one that raises a failure is charged ``price``."""
    if backend.concurrency < 0 or (backend.max_batch is not None and backend.max_batch < 1):
        raise ConfigError(
            f"{type(backend).__name__}: concurrency must be at least 0 and max_batch at least 1 or None, "
            f"found {backend.concurrency} and {backend.max_batch}"
        )
    return Kind(partial(_answered, call, price), turn, backend.concurrency, backend.max_batch)


def _called(method: Callable[[Sequence[Any]], Sequence[Any]], turn: Turn, generator: Generator) -> Kind:
    return _kind(lambda tasks: _metered(method(tasks)), Cost(generator_calls=1), turn, generator)


def _answered(call: Callable[[Sequence[Any]], list[Reply]], price: Cost, batch: Sequence[Any]) -> list[Reply]:
    """Return the replies; where a batch fails as a whole, its halves are asked, down to the requests at fault.

    Halves find one bad request among n in 2 log n calls; its neighbours wait less than if each were asked alone.
    """
    try:
        return [reply for _, reply in zip(batch, call(batch), strict=True)]
    except RequestFailedError as error:
        if len(batch) == 1:
            return [Reply(Failed(str(error)), price)]
        half = len(batch) // 2
        return _answered(call, price, batch[:half]) + _answered(call, price, batch[half:])


def _metered(responses: Sequence[Any]) -> list[Reply]:
    return [Reply(r, Cost(r.usage.prompt_tokens, r.usage.completion_tokens, r.usage.calls)) for r in responses]


def _ranked(ranker: Ranker, tasks: Sequence[RankTask]) -> list[Reply]:
    return [Reply(ranking, Cost()) for ranking in ranker.rank(tasks)]


def _evaluated(evaluator: Evaluator, tasks: Sequence[EvaluateTask]) -> list[Reply]:
    """Return scores and verdicts; every text is charged as one call."""
    if evaluator.thresholds is None:
        raise ConfigError("the evaluator has lost its thresholds")
    return [
        Reply(Evaluation(scores, evaluator.thresholds.verdict(scores)), Cost(evaluator_calls=len(task.texts)))
        for task, scores in zip(tasks, evaluator.score(tasks), strict=True)
    ]


def _found_elsewhere(external: ExternalSource, searches: Sequence[ExternalSearch]) -> list[Reply]:
    return [Reply(tuple(hits), Cost(external_searches=1)) for hits in external.find(searches)]


def _missing(turn: Turn, reason: str) -> Kind:
    """Return a kind that nothing executes."""

    def refuse(requests: Sequence[Any]) -> list[Reply]:
        raise ConfigError(reason)

    return Kind(refuse, turn)
