"""How much a ranker learns from how many questions: support recall on dev over the number of train questions.

    python benchmarks/learning_curve.py --data FOLDER --datasets musique --questions 40 80 160 316

For each number a ranker is fitted to the first so many train questions; it then runs on all dev questions by a fixed
rule (the question, then what the ranker proposes, one search a step, the caps of the paper), without a controller.
``--encoder MODEL`` adds the vectors of a sentence-transformers model. The record is ``records/learning_curve.json``,
with ``--encoder`` ``records/learning_curve_encoder.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from evidence import RULES, collected_evidence
from timing import RECORDS

from evidencegym.data.records import Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.build import build_retriever, load_records
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.statistics import bootstrap_mean
from evidencegym.generation.choose import load_generator
from evidencegym.ranking.base import Ranker
from evidencegym.ranking.fitted import FittedRanker
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.retrieval.base import Retriever
from evidencegym.retrieval.encoder_settings import EncoderSettings
from evidencegym.training.fit_ranker import Curriculum, RankerSettings, cross_fit_ranker


def measured(records: Sequence[Record], retriever: Retriever, ranker: Ranker) -> dict[str, Any]:
    """Return support recall of the first 6 and of all 12 passages, each with its 95 % bootstrap interval."""
    pairs = [(r.gold, s.passages) for r, s in zip(records, collected_evidence(records, retriever, ranker)) if r.gold]
    columns = {f"at_{k}": [support_recall(gold, passages[:k]) for gold, passages in pairs] for k in (6, 12)}
    return {name: bootstrap_mean(np.array(column))._asdict() for name, column in columns.items()}


def curve(dataset: str, given: Namespace) -> dict[str, Any]:
    """Return the points of one data set; 0 questions are the fixed weights."""
    task = TaskSettings(dataset=dataset, data=given.data, encoder=EncoderSettings(given.encoder))
    train, dev, retriever = load_records(task, "train"), load_records(task, "dev"), build_retriever(task)
    points = {0: measured(dev, retriever, LexicalRanker(retriever))}
    for count in sorted({min(count, len(train)) for count in given.questions}):
        course = Curriculum(train[:count], RULES, retriever, load_generator("packaged"))
        model = cross_fit_ranker([course], RankerSettings(), seed=0).full
        points[count] = measured(dev, retriever, FittedRanker(model, retriever))
        print(dataset, count, {name: round(value["mean"], 3) for name, value in points[count].items()}, flush=True)
    return {str(count): point for count, point in points.items()}


def main(given: Namespace) -> None:
    """Measure and write the record; other data sets in it are kept."""
    file = RECORDS / ("learning_curve.json" if given.encoder == "none" else "learning_curve_encoder.json")
    record = json.loads(file.read_text()) if file.exists() else {}
    for dataset in given.datasets:
        record[dataset] = curve(dataset, given)
        RECORDS.mkdir(exist_ok=True)
        file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", nargs="+", default=["hotpotqa", "2wikimultihopqa", "musique"])
    parser.add_argument("--questions", nargs="+", type=int, default=[50, 100, 200, 400, 800])
    parser.add_argument("--encoder", default="none")
    main(parser.parse_args())
