"""Measure the generator on a benchmark: ``python -m evidencegym.generation.measure --data DIR --dataset NAME``.

It fits on the train file and reports on the dev file: token F1 on the gold paragraphs, on the own context and on the
compressed own context; F1 of supporting facts; and, on bodies of 3, 6, 9 and 12 passages of a BM25 ranking over the
union of both files, the sufficiency judge and how often the three best unseen passages bring
missing support, searched by what the judge names as missing, and by the question (both where it names something).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..data.answer_scores import token_f1
from ..data.corpus import pooled
from ..data.datasets import DATASETS, Dataset, locate, named, read
from ..data.records import Gold, Passage, Record
from ..data.support_scores import support_recall, supports_held
from ..retrieval.base import Retriever
from ..retrieval.bm25 import BM25Retriever
from .examples import gold_passages
from .extractive import ExtractiveGenerator
from .fit import fit, training_examples
from .tasks import Answer, AnswerTask, CompressTask, JudgeTask

_SIZES = (3, 6, 9, 12)
_STEP = 3
_Held = list[tuple[str, Gold, tuple[Passage, ...]]]


def measure(
    generator: ExtractiveGenerator, records: Sequence[Record], retriever: Retriever, dataset: Dataset
) -> dict[str, float]:
    """Return the figures by name; all are means over questions or bodies of evidence, in [0, 1]."""
    held: _Held = [(r.question.text, r.gold, r.context) for r in records if r.gold is not None]
    return answer_figures(generator, held, dataset) | judge_figures(generator, held, retriever)


def answer_figures(generator: ExtractiveGenerator, held: _Held, dataset: Dataset) -> dict[str, float]:
    """Return token F1 and F1 of supporting facts (0 where the data set has none)."""
    gold = generator.answer([AnswerTask(q, gold_passages(g, c)) for q, g, c in held])
    own = generator.answer([AnswerTask(q, c) for q, _, c in held])
    kept = generator.compress([CompressTask(q, c, dataset.max_snippets, dataset.max_tokens) for q, _, c in held])
    cut = generator.answer([AnswerTask(q, c, k.snippets) for (q, _, c), k in zip(held, kept)])
    named_answers = {"gold": gold, "own": own, "compressed": cut}
    figures = {f"f1_{name}": _mean(_f1(a, g) for a, (_, g, _) in zip(v, held)) for name, v in named_answers.items()}
    figures |= {
        f"support_f1_{n}": _mean(_facts(a, g, c) for a, (_, g, c) in zip(named_answers[n], held))
        for n in ("gold", "own")
    }
    return figures | {"compressed_words": _mean(k.usage.completion_tokens for k in kept)}


def _mean(values: object) -> float:
    return float(np.mean(list(values)))  # type: ignore[call-overload]


def _f1(answer: Answer, gold: Gold) -> float:
    return token_f1(answer.text, gold.answers)


def _facts(answer: Answer, gold: Gold, context: tuple[Passage, ...]) -> float:
    titles = {p.id: p.title for p in context}
    found, wanted = {(titles[i], s) for i, s in answer.support}, set(gold.supporting_facts)
    return 2 * len(found & wanted) / max(len(found) + len(wanted), 1)


def judge_figures(generator: ExtractiveGenerator, held: _Held, retriever: Retriever) -> dict[str, float]:
    """Return accuracy and AUROC of the judge, and how often a search brings missing support."""
    bodies = _bodies(held, retriever)
    verdicts = generator.judge_sufficiency([JudgeTask(q, p) for q, _, p in bodies])
    enough = np.array([support_recall(g, p) == 1.0 for _, g, p in bodies])
    likely = np.array([v.probability for v in verdicts])
    right = np.array([v.sufficient for v in verdicts]) == enough
    short = [(b, v.missing) for b, v, e in zip(bodies, verdicts, enough) if not e and len(b[2]) < max(_SIZES)]
    asked = [(b, missing) for b, missing in short if missing]
    return {
        "judge_accuracy": float(right.mean()),
        "judge_auroc": auroc(likely, enough),
        "sufficient": float(enough.mean()),
        "missing_named": len(asked) / max(len(short), 1),
        "missing_search": _mean(_brings(b, query, retriever) for b, query in asked),
        "question_search": _mean(_brings(b, b[0], retriever) for b, _ in asked),
    }


def _bodies(held: _Held, retriever: Retriever) -> _Held:
    rankings = retriever.search([q for q, _, _ in held], max(_SIZES))
    return [(q, g, tuple(h.passage for h in hits[:n])) for (q, g, _), hits in zip(held, rankings) for n in _SIZES]


def _brings(body: tuple[str, Gold, tuple[Passage, ...]], query: str, retriever: Retriever) -> bool:
    """Say whether the three best unseen passages raise the support held."""
    _, gold, passages = body
    ids = {p.id for p in passages}
    hits = retriever.search([query], len(ids) + _STEP)[0]
    fresh = [h.passage for h in hits if h.passage.id not in ids][:_STEP]
    return supports_held(gold, (*passages, *fresh)) > supports_held(gold, passages)


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:  # type: ignore[type-arg]
    """Return the share of (positive, negative) pairs that the scores order rightly; ties count half."""
    positive, negative = scores[labels], scores[~labels]
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(negative)
    below, upto = (np.searchsorted(ordered, positive, side=side).sum() for side in ("left", "right"))
    return float((below + upto) / 2 / (len(positive) * len(negative)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, measure, print JSON."""
    parser = argparse.ArgumentParser(prog="python -m evidencegym.generation.measure", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the official files")
    parser.add_argument("--dataset", choices=sorted(DATASETS), required=True)
    parser.add_argument("--seed", type=int, default=13)
    chosen = parser.parse_args(arguments)
    train, dev = (read(chosen.dataset, locate(chosen.dataset, chosen.data, split)) for split in ("train", "dev"))
    retriever = BM25Retriever.build(pooled([*train, *dev]))
    generator = fit(training_examples(train, retriever, chosen.seed), chosen.seed)
    figures = measure(generator, dev, retriever, named(chosen.dataset))
    print(json.dumps({"dataset": chosen.dataset, "questions": len(dev), **figures}, indent=2))


if __name__ == "__main__":
    main()
