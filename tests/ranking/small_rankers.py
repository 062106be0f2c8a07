"""Rankers over the small world and a small synthetic one, and the tasks that they meet."""

from functools import lru_cache

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.data.records import Record, content_hash
from evidencegym.data.world import World
from evidencegym.ranking.base import Ranker
from evidencegym.ranking.fitted import FittedRanker, RankerModel
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.tasks import Ranking, RankTask
from evidencegym.retrieval.base import Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.fit_ranker import CrossFittedRanker, Curriculum, RankerSettings, cross_fit_ranker
from evidencegym.training.ranker_rows import RecordingRanker, explore
from tests.fakes import OverlapGenerator
from tests.small_world import records, retriever

RANKED = Rules(operation_set(ranked=True))
FITTING = RankerSettings(rounds=2, folds=2, trees=20, batch=8)


@lru_cache(maxsize=1)
def world_records() -> list[Record]:
    """Return sixteen questions about a synthetic world."""
    return list(World(300, 3).questions(16))


@lru_cache(maxsize=1)
def world_retriever() -> BM25Retriever:
    """Return BM25 over that world."""
    return BM25Retriever.build(World(300, 3).passages())


@lru_cache(maxsize=1)
def cross_fitted() -> CrossFittedRanker:
    """Return rankers fitted to these questions in two folds."""
    course = Curriculum(world_records(), RANKED, world_retriever(), OverlapGenerator())
    return cross_fit_ranker([course], FITTING, seed=0)


def model() -> RankerModel:
    """Return the model that was fitted to all of them."""
    return cross_fitted().full


NAMES = ("lexical", "fitted", "recording")


def ranker(name: str, corpus: Retriever | None = None) -> Ranker:
    """Return a new ranker by name, over the small world or another corpus."""
    searched = corpus or retriever()
    if name == "fitted":
        return FittedRanker(model(), searched)
    return LexicalRanker(searched) if name == "lexical" else RecordingRanker(LexicalRanker(searched), 0.5, 1)


def met(
    corpus: Retriever, asked: list[Record], caps: Caps = RANKED.caps, behind: Ranker | None = None
) -> list[tuple[RankTask, Ranking]]:
    """Return the tasks of episodes about some questions, with their rankings before straying."""
    recording = RecordingRanker(behind or LexicalRanker(corpus), 0.4, 0)
    explore(asked, Rules(RANKED.operations, caps), Engine(corpus, OverlapGenerator(), 0, recording), 0)
    return recording.asked


@lru_cache(maxsize=1)
def small_tasks() -> tuple[RankTask, ...]:
    """Return the tasks of episodes in the small world, and one in which nothing was found."""
    return (
        *(task for task, _ in met(retriever(), records())),
        RankTask("Who is it?", "k", (), (), (), ("Who is it?",)),
    )


@lru_cache(maxsize=1)
def world_tasks() -> tuple[RankTask, ...]:
    """Return the tasks of long episodes in the synthetic world, with more passages held than usual."""
    return tuple(task for task, _ in met(world_retriever(), world_records()[:6], Caps(steps=9)))


def digest(rankings: list[Ranking]) -> str:
    """Return a hash of rankings, bit by bit."""
    return content_hash(*map(repr, rankings))
