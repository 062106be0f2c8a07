"""Fit the packaged evaluator, on the synthetic world: ``python -m evidencegym.training.fit_default_evaluator``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..confidence.packaged import DEFAULT
from ..data.world import World
from ..envs.build import lies_outside
from ..retrieval.bm25 import BM25Retriever
from .evaluators import save_fitted
from .fit_evaluator import EvaluatorSettings, Fitted, cross_fit_evaluator

PASSAGES = 3_000
QUESTIONS = 500
WORLD_SEED = 2026
FIT_SEED = 13


def fit_default(passages: int = PASSAGES, questions: int = QUESTIONS) -> Fitted:
    """Fit on half of one world, as a gate meets it; users' worlds have other seeds, so other names and facts."""
    world = World(passages, WORLD_SEED)
    retriever = BM25Retriever.build([passage for passage in world.passages() if not lies_outside(passage)])
    return cross_fit_evaluator(list(world.questions(questions, "train")), retriever, EvaluatorSettings(), FIT_SEED).full


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and save; the same version of the package gives the same bytes."""
    parser = argparse.ArgumentParser(prog="python -m evidencegym.training.fit_default_evaluator", description=__doc__)
    parser.add_argument("--output", type=Path, default=DEFAULT, help="folder to write (default: the package's own)")
    parser.add_argument("--passages", type=int, default=PASSAGES, help="size of the world")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="training questions")
    chosen = parser.parse_args(arguments)
    save_fitted(chosen.output, fit_default(chosen.passages, chosen.questions), {"world_seed": WORLD_SEED})
    print(f"saved to {chosen.output}")


if __name__ == "__main__":
    main()
