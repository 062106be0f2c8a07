"""The synthetic world needs the operations: the question alone does not find the later hops, a bridge's name does."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import bm25s
import pytest

from evidencegym.data.records import Gold
from evidencegym.data.world import World

K = 12
CHAINS = ("bridge", "compositional", "compositional4")


class Searched:
    """What BM25 finds for the questions of a world of 2,000 passages, and for the names of their bridge entities."""

    def __init__(self) -> None:
        world = World(2000)
        self.passages = list(world.passages())
        self.index = bm25s.BM25()
        self.index.index(_tokens([f"{p.title} {p.text}" for p in self.passages]), show_progress=False)
        records = list(world.questions(800))
        self.golds: list[Gold] = [r.gold for r in records if r.gold is not None]
        found = self.search([r.question.text for r in records])
        self.recall = {g.id: _recall(g, hits) for g, hits in zip(self.golds, found, strict=True)}

    def search(self, queries: Sequence[str]) -> list[set[str]]:
        hits, _ = self.index.retrieve(_tokens(queries), k=K, show_progress=False)
        return [{self.passages[i].id for i in row} for row in hits]

    def recalls(self, *kinds: str) -> list[float]:
        return [self.recall[g.id] for g in self.golds if g.type in kinds]


def _tokens(texts: Sequence[str]) -> bm25s.tokenization.Tokenized:
    return bm25s.tokenize(list(texts), stopwords="en", show_progress=False)


def _recall(gold: Gold, found: set[str]) -> float:
    return sum(i in found for i in gold.support_ids) / len(gold.support_ids)


@pytest.fixture(scope="module")
def searched() -> Searched:
    return Searched()


def test_one_search_finds_about_half_of_the_support(searched: Searched) -> None:
    mean = sum(searched.recall.values()) / len(searched.recall)
    assert 0.45 < mean < 0.65


def test_one_search_seldom_finds_all_support_of_a_chain(searched: Searched) -> None:
    chains = searched.recalls(*CHAINS)
    assert sum(r == 1.0 for r in chains) / len(chains) < 0.35
    longer = searched.recalls("compositional", "compositional4")
    assert sum(r == 1.0 for r in longer) / len(longer) < 0.05


def test_one_search_finds_where_to_start(searched: Searched) -> None:
    started = [r > 0 for r in searched.recalls(*CHAINS)]
    assert sum(started) / len(started) > 0.9
    both_sides = searched.recalls("comparison")
    assert sum(both_sides) / len(both_sides) > 0.9


def test_the_name_of_a_bridge_finds_the_next_hop(searched: Searched) -> None:
    steps: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for gold in searched.golds:
        if gold.type in CHAINS:
            hops = gold.decomposition
            steps[gold.type] += [(a.answer, b.support_id or "") for a, b in pairwise(hops)]
    for kind in CHAINS:
        found = searched.search([name for name, _ in steps[kind]])
        share = sum(i in hits for (_, i), hits in zip(steps[kind], found, strict=True)) / len(found)
        assert share > 0.95, kind
