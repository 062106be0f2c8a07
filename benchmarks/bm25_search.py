"""How much faster does our BM25 answer than bm25s with its numpy backend, and than tantivy?

    python benchmarks/bm25_search.py        # needs: pip install tantivy

100,000 articles of the synthetic world, its questions as queries (they rotate), the best 10. The contenders take turns
in blocks of 10 calls. All are given texts and cut them with our ``terms``; bm25s indexes the same terms with the same
parameters and keeps numbers only, tantivy the same terms cut at spaces, with its own fixed parameters.

Equality is checked against bm25s: the same scores at each rank (float32 sums, relative 1e-5), and the same passages
above the score of the last rank, where ties begin.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import bm25s
import numpy as np
import tantivy
from numpy.typing import NDArray
from timing import medians, record

from evidencegym.data.records import Passage
from evidencegym.data.world import World
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.tokens import terms

PASSAGES, QUERIES, K, BLOCK, BATCH = 100_000, 400, 10, 10, 64

Search = Callable[[Sequence[str]], Any]


def lists(ours: BM25Retriever) -> list[list[str]]:
    """Return the terms of each passage, as ours are indexed."""
    weight = ours.settings.title_weight
    return [terms(passage.title) * weight + terms(passage.text) for passage in ours.passages]


def numpy_search(ours: BM25Retriever, documents: list[list[str]]) -> Search:
    """Index the documents with bm25s and return its search with the numpy backend."""
    index = bm25s.BM25(k1=ours.settings.k1, b=ours.settings.b, method="lucene", backend="numpy")
    index.index(documents, show_progress=False)
    settings = {"k": K, "show_progress": False, "backend_selection": "numpy", "n_threads": 0}
    return lambda queries: index.retrieve([terms(query) for query in queries], **settings)


def tantivy_search(documents: list[list[str]]) -> Search:
    """Index the documents with tantivy, in memory and as one segment, and return its search."""
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=False, tokenizer_name="whitespace").build()
    index = tantivy.Index(schema)
    writer = index.writer(heap_size=512_000_000, num_threads=1)
    for document in documents:
        writer.add_document(tantivy.Document(text=" ".join(document)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def one(query: str) -> Any:
        wanted = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term)) for term in terms(query)]
        return searcher.search(tantivy.Query.boolean_query(wanted), K, count=False).hits

    return lambda queries: [one(query) for query in queries]


def differences(ours: BM25Retriever, theirs: Search, queries: Sequence[str]) -> int:
    """Return how many queries have other scores, or other passages above the last rank's score."""
    place = {passage.id: number for number, passage in enumerate(ours.passages)}
    numbers, scores = theirs(queries)
    found = ours.search(queries, K)
    return sum(_differs(hits, place, n, s) for hits, n, s in zip(found, numbers, scores, strict=True))


def _differs(hits: Sequence[Any], place: dict[str, int], numbers: NDArray[Any], scores: NDArray[Any]) -> bool:
    there = int(np.count_nonzero(scores > 0))
    if there != len(hits) or not np.allclose([hit.score for hit in hits], scores[:there], rtol=1e-5, atol=0):
        return True
    last = hits[-1].score * (1 + 1e-5) if hits else 0.0
    above = {place[hit.passage.id] for hit in hits if hit.score > last}
    return above != {int(number) for number, score in zip(numbers, scores) if score > last}


def timed(contenders: dict[str, Search], queries: Sequence[str], size: int, rounds: int) -> dict[str, float]:
    """Return the median seconds of a search of ``size`` queries."""
    parts = [queries[i : i + size] for i in range(0, len(queries) - size + 1, size)]
    turns = {name: cycle(parts) for name in contenders}
    calls = {name: partial(lambda name: contenders[name](next(turns[name])), name) for name in contenders}
    return medians(calls, rounds, BLOCK if size == 1 else 1)


def ratios(found: dict[str, float]) -> dict[str, Any]:
    """Return how many times faster ours is than each other one, and how long it takes a search."""
    faster = {f"times_faster_than_{name}": round(found[name] / found["ours"], 1) for name in found if name != "ours"}
    return {**faster, "our_microseconds": round(found["ours"] * 1e6)}


def corpus() -> tuple[list[Passage], list[str]]:
    """Return the articles and the questions of the world."""
    world = World(PASSAGES, 1)
    return list(world.passages()), [record.question.text for record in world.questions(QUERIES, "dev")]


def main() -> None:
    """Compare single and batched queries."""
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    passages, queries = corpus()
    ours = BM25Retriever.build(passages)
    documents = lists(ours)
    theirs = numpy_search(ours, documents)
    contenders: dict[str, Search] = {"bm25s_numpy": theirs, "tantivy": tantivy_search(documents)}
    contenders["ours"] = lambda queries: ours.search(queries, K)
    different = differences(ours, theirs, queries)
    if different:
        raise SystemExit(f"{different} of {len(queries)} queries have other results than bm25s's")
    numbers = {"passages": PASSAGES, "queries": len(queries), "k": K, "queries_with_other_results": different}
    single = ratios(timed(contenders, queries, 1, len(queries) // BLOCK))
    record(
        "bm25_search", {**numbers, "single": single, f"batch_of_{BATCH}": ratios(timed(contenders, queries, BATCH, 5))}
    )


if __name__ == "__main__":
    main()
