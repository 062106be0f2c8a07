"""Fit the packaged generator, on the synthetic world: ``python -m evidencegym.generation.fit_default``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..data.world import World
from ..retrieval.bm25 import BM25Retriever
from .extractive import DEFAULT, ExtractiveGenerator
from .fit import fit, training_examples

PASSAGES = 3_000
QUESTIONS = 700
WORLD_SEED = 2026
FIT_SEED = 13


def fit_default(passages: int = PASSAGES, questions: int = QUESTIONS) -> ExtractiveGenerator:
    """Fit on the training questions of one world; users' worlds have other seeds, so other names and facts."""
    world = World(passages, WORLD_SEED)
    retriever = BM25Retriever.build(world.passages())
    examples = training_examples(list(world.questions(questions, "train")), retriever, FIT_SEED)
    return fit(examples, FIT_SEED)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and save; the same version of the package gives the same bytes."""
    parser = argparse.ArgumentParser(prog="python -m evidencegym.generation.fit_default", description=__doc__)
    parser.add_argument("--output", type=Path, default=DEFAULT, help="folder to write (default: the package's own)")
    parser.add_argument("--passages", type=int, default=PASSAGES, help="size of the world")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="training questions")
    chosen = parser.parse_args(arguments)
    generator = fit_default(chosen.passages, chosen.questions)
    generator.save(chosen.output)
    print(f"saved {generator.fingerprint} to {chosen.output}")


if __name__ == "__main__":
    main()
