"""A small embedded evaluator, fitted to questions about a synthetic world, and tasks for it."""

from functools import lru_cache

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.embedded import EmbeddedEvaluator
from evidencegym.confidence.strips import strips_of
from evidencegym.data.records import Record
from evidencegym.data.world import World
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.evaluator_rows import searched
from evidencegym.training.fit_evaluator import CrossFittedEvaluator, EvaluatorSettings, cross_fit_evaluator

FITTING = EvaluatorSettings(folds=3, trees=15)


@lru_cache(maxsize=1)
def world_records() -> list[Record]:
    """Return thirty questions about a synthetic world."""
    return list(World(300, 3).questions(30))


@lru_cache(maxsize=1)
def world_retriever() -> BM25Retriever:
    """Return BM25 over that world."""
    return BM25Retriever.build(World(300, 3).passages())


@lru_cache(maxsize=1)
def cross_fitted() -> CrossFittedEvaluator:
    """Return evaluators fitted to these questions in three folds."""
    return cross_fit_evaluator(world_records(), world_retriever(), FITTING, seed=0)


def evaluator() -> EmbeddedEvaluator:
    """Return a new evaluator of the model that was fitted to all of them, calibrated."""
    return EmbeddedEvaluator(cross_fitted().full.model, world_retriever(), cross_fitted().full.calibration.thresholds)


def tasks() -> list[EvaluateTask]:
    """Return tasks with documents, with strips beside their documents, with one text, and with none."""
    made: list[EvaluateTask] = []
    for record in world_records()[:6]:
        question, found = record.question, searched(record, world_retriever(), 8)
        strips = tuple(strip.text for document in found for strip in strips_of(document, 1))
        made += [
            EvaluateTask(question.text, question.key, found),
            EvaluateTask(question.text, question.key, strips, found),
            EvaluateTask(question.text, question.key, found[:1]),
            EvaluateTask(question.text, question.key, (), found),
        ]
    return made
