"""The engine executes requests: batches of one kind, without repetition, metered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..data.errors import ConfigError
from ..data.records import content_hash
from ..generation.base import Generator
from ..generation.tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask
from ..retrieval.base import Hit, Retriever, Search
from .costs import Cost
from .operation import Request


class Reply(NamedTuple):
    """What came back, and what it cost."""

    response: Any
    cost: Cost


class Engine:
    """Executes requests against a retriever and a generator.

    Equal requests of one batch are executed once, and each is charged: cost is what an operation asks for, not what a
    cache saves.

    Args:
        retriever: answers searches.
        generator: answers every other request.
        cache_size: how many replies are kept; the oldest go first. 0 keeps none.

    Raises:
        ConfigError: if ``cache_size`` is negative.
    """

    def __init__(self, retriever: Retriever, generator: Generator, cache_size: int = 20_000) -> None:
        if cache_size < 0:
            raise ConfigError(f"cache_size must not be negative, found {cache_size}")
        self.retriever = retriever
        self.generator = generator
        self.cache_size = cache_size
        self._cache: dict[Request, Reply] = {}
        self._backends: dict[type, Callable[[Sequence[Any]], list[Reply]]] = {
            Search: self._search,
            AnswerTask: self._answer,
            JudgeTask: self._judge,
            RewriteTask: self._rewrite,
            CompressTask: self._compress,
        }

    def __reduce__(self) -> Any:
        """Send backends, not replies, to another process."""
        return Engine, (self.retriever, self.generator, self.cache_size)

    def fresh(self) -> Engine:
        """Return an engine on the same backends that shares no replies with this one, for use by another thread."""
        return Engine(self.retriever, self.generator, self.cache_size)

    @property
    def fingerprint(self) -> str:
        """A hash of everything behind the engine that can change a result."""
        return content_hash("engine", self.retriever.fingerprint, self.generator.fingerprint)

    def execute(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the replies, in the order of the requests.

        Raises:
            ValueError: if a backend does not give one response for each request, so that none goes to another.
        """
        replies: dict[Request, Reply] = {}
        for kind, backend in self._backends.items():
            wanted = dict.fromkeys(r for r in requests if type(r) is kind)
            replies |= {request: self._cache[request] for request in wanted if request in self._cache}
            missing = [request for request in wanted if request not in replies]
            if missing:
                made = dict(zip(missing, backend(missing), strict=True))
                replies |= made
                self._keep(made)
        return [replies[request] for request in requests]

    def _keep(self, made: dict[Request, Reply]) -> None:
        self._cache |= made
        while len(self._cache) > self.cache_size:
            del self._cache[next(iter(self._cache))]

    def _search(self, searches: Sequence[Search]) -> list[Reply]:
        found: dict[Search, list[Hit]] = {}
        for k in sorted({search.k for search in searches}):
            batch = [search for search in searches if search.k == k]
            hits = self.retriever.search([s.query for s in batch], k, [s.pool for s in batch])
            found |= dict(zip(batch, hits, strict=True))
        return [Reply(tuple(self._with_title(s, found[s])), Cost(retrievals=1)) for s in searches]

    def _answer(self, tasks: Sequence[AnswerTask]) -> list[Reply]:
        return _metered(self.generator.answer(tasks))

    def _judge(self, tasks: Sequence[JudgeTask]) -> list[Reply]:
        return _metered(self.generator.judge_sufficiency(tasks))

    def _rewrite(self, tasks: Sequence[RewriteTask]) -> list[Reply]:
        return _metered(self.generator.rewrite(tasks))

    def _compress(self, tasks: Sequence[CompressTask]) -> list[Reply]:
        return _metered(self.generator.compress(tasks))

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


def _metered(responses: Sequence[Any]) -> list[Reply]:
    return [Reply(r, Cost(r.usage.prompt_tokens, r.usage.completion_tokens, generator_calls=1)) for r in responses]
