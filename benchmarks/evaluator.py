"""How well the embedded evaluator tells gold passages from distractors, what it owes to which features, its verdicts.

    python benchmarks/evaluator.py --data FOLDER

For each data set it is fitted to the train questions and measured on the dev questions:

- AUROC of gold against the other paragraphs of the questions' own contexts, pooled over questions, with 95 % intervals
  by a bootstrap over questions; of one feature alone (share of the question in the text) for comparison;
- the same of strips of two sentences, where those with annotated support count as gold;
- refitted without each group of features and with each alone, the difference on the same resamples; and the loss when
  the columns of a group are permuted together among the dev paragraphs, mean of five permutations;
- shares and accuracy of the verdicts, by thresholds fitted out of fold to the train questions, on the evidence
  that each dev question's own search finds; and for HotpotQA on the contexts of its fullwiki file.

The record is ``records/evaluator.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from timing import RECORDS

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.calibration import Judged, verdict_table
from evidencegym.confidence.embedded import EmbeddedEvaluator
from evidencegym.confidence.features import FEATURES, GROUPS, Reader
from evidencegym.confidence.strips import strips_of
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.datasets import read
from evidencegym.data.records import Record
from evidencegym.data.trees import TreeArrays
from evidencegym.envs.build import build_retriever, load_records
from evidencegym.envs.settings import TaskSettings
from evidencegym.training.calibrate import judgements
from evidencegym.training.evaluator_rows import evaluator_rows, is_support, strip_labels, truth
from evidencegym.training.fit_evaluator import EvaluatorSettings, Folds, fit_trees

SETTINGS = EvaluatorSettings()
DEPTHS = SETTINGS.calibration.depths
FULLWIKI = "hotpotqa/hotpot_dev_fullwiki.json.gz"
PERMUTATIONS = 5
RESAMPLES = 2000
_BATCH = 100


class Texts(NamedTuple):
    """Labelled texts: (n, features) rows, (n,) labels, and (n,) the number of each one's question."""

    rows: NDArray[np.float32]
    gold: NDArray[np.bool_]
    question: NDArray[np.int64]


def paragraphs(records: Sequence[Record], reader: Reader) -> Texts:
    """Return the paragraphs of the questions' own contexts."""
    parts = []
    for record in records:
        texts = tuple(dict.fromkeys(record.context))
        if record.gold:
            rows = reader.read(EvaluateTask(record.question.text, record.question.key, texts))
            parts.append((rows, [is_support(record.gold, text) for text in texts]))
    return joined(parts)


def strips(records: Sequence[Record], reader: Reader) -> Texts:
    """Return the strips of two sentences of these paragraphs, seen beside them."""
    parts = []
    for record in records:
        documents = tuple(dict.fromkeys(record.context))
        cut = [strip for document in documents for strip in strips_of(document)]
        if record.gold:
            texts = tuple(strip.text for strip in cut)
            rows = reader.read(EvaluateTask(record.question.text, record.question.key, texts, documents))
            parts.append((rows, strip_labels(record.gold, cut)))
    return joined(parts)


def joined(parts: Sequence[tuple[NDArray[np.float32], Sequence[bool]]]) -> Texts:
    """Return the texts of all questions."""
    numbers = np.repeat(np.arange(len(parts)), [len(rows) for rows, _ in parts])
    gold = np.array([label for _, labels in parts for label in labels], bool)
    return Texts(np.concatenate([rows for rows, _ in parts]), gold, numbers)


def resampled(scores: NDArray[np.float64], texts: Texts, seed: int = 0) -> NDArray[np.float64]:
    """Return (1 + resamples,) AUROC: over all questions first, then over each resample of them; ties count half."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) > 0])
    gold, question = texts.gold[order], texts.question[order]
    count = int(texts.question.max()) + 1
    random = np.random.default_rng(seed)
    made = [areas(np.ones((1, count)), gold, question, starts)]
    for _ in range(0, RESAMPLES, _BATCH):
        drawn = random.integers(0, count, (_BATCH, count)) + count * np.arange(_BATCH)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=_BATCH * count).reshape(_BATCH, count).astype(np.float64)
        made.append(areas(counts, gold, question, starts))
    return np.concatenate(made)


def areas(
    counts: NDArray[np.float64], gold: NDArray[np.bool_], question: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the AUROC of texts in order of their scores, each as often as its question is drawn."""
    weights = counts[:, question]
    right, wrong = (np.add.reduceat(weights * own, starts, axis=1) for own in (gold, ~gold))
    below = np.cumsum(wrong, axis=1) - wrong / 2
    area: NDArray[np.float64] = (right * below).sum(axis=1) / right.sum(axis=1) / wrong.sum(axis=1)
    return area


def interval(values: NDArray[np.float64]) -> list[float]:
    """Return the first value and the 95 % percentile interval of the others."""
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return [round(float(value), 4) for value in (values[0], low, high)]


def columns(groups: Sequence[str]) -> list[int]:
    """Return the columns of some groups of features."""
    return [FEATURES.index(name) for group in groups for name in GROUPS[group]]


def scored(trees: TreeArrays, texts: Texts) -> NDArray[np.float64]:
    """Return the AUROC of an evaluator with all features, see :func:`resampled`."""
    return resampled(trees.predict(texts.rows), texts)


def refitted(train: Texts, dev: Texts, groups: Sequence[str]) -> NDArray[np.float64]:
    """Return the dev AUROC of an evaluator that sees some groups of features alone."""
    own = columns(groups)
    trees = fit_trees(train.rows[:, own], train.gold, SETTINGS, seed=0)
    return resampled(trees.predict(dev.rows[:, own]), dev)


def ablations(trees: TreeArrays, train: Texts, dev: Texts) -> dict[str, Any]:
    """Return what each group of features is worth; losses are those of the evaluator with all features."""
    whole = scored(trees, dev)
    without = {group: refitted(train, dev, [other for other in GROUPS if other != group]) for group in GROUPS}
    return {
        "alone": {group: interval(refitted(train, dev, [group])) for group in GROUPS},
        "without": {group: interval(values) for group, values in without.items()},
        "loss_without": {group: interval(whole - values) for group, values in without.items()},
        "loss_permuted": permuted(trees, dev, float(whole[0])),
    }


def permuted(trees: TreeArrays, dev: Texts, whole: float) -> dict[str, float]:
    """Return the mean loss of AUROC when the columns of a group are permuted together among the dev texts."""
    losses: dict[str, float] = {}
    for group in GROUPS:
        own, random = columns([group]), np.random.default_rng(0)
        found = []
        for _ in range(PERMUTATIONS):
            rows = dev.rows.copy()
            rows[:, own] = rows[random.permutation(len(rows))][:, own]
            order = np.argsort(scores := trees.predict(rows), kind="stable")
            starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) > 0])
            ones = np.ones((1, int(dev.question.max()) + 1))
            found.append(float(areas(ones, dev.gold[order], dev.question[order], starts)[0]))
        losses[group] = round(whole - float(np.mean(found)), 4)
    return losses


def verdicts(judged: Sequence[Judged], thresholds: Thresholds) -> dict[str, Any]:
    """Return share and accuracy of each verdict, and what the evidence with it holds."""
    rows = [row for row in verdict_table(judged, thresholds) if not row.type]
    return {
        row.verdict.value: {
            "cases": row.cases,
            "share": plain(row.share[:3]),
            "accuracy": plain(row.accuracy[:3]),
            "truths": row.truths,
            "support_recall": plain([row.support_recall])[0],
        }
        for row in rows
    }


def plain(values: Sequence[float]) -> list[float | None]:
    """Return rounded numbers, nan as null."""
    return [None if np.isnan(value) else round(float(value), 4) for value in values]


def fullwiki(evaluator: EmbeddedEvaluator, file: Path) -> list[Judged]:
    """Return the contexts of the fullwiki file, judged."""
    records = [record for record in read("hotpotqa", file) if record.gold]
    tasks = [EvaluateTask(r.question.text, r.question.key, tuple(dict.fromkeys(r.context))) for r in records]
    return [truth(record, record.context, own) for record, own in zip(records, evaluator.score(tasks))]


def measured(dataset: str, folder: Path) -> Mapping[str, Any]:
    """Return the figures of one data set."""
    task = TaskSettings(dataset=dataset, data=folder)
    train, dev, retriever = load_records(task, "train"), load_records(task, "dev"), build_retriever(task)
    reader = Reader(retriever)
    rows = [evaluator_rows(record, reader, retriever, DEPTHS) for record in train]
    fitted = Folds(rows, SETTINGS, seed=0).fitted()
    thresholds = fitted.calibration.thresholds
    evaluator = EmbeddedEvaluator(fitted.model, retriever, thresholds)
    own, cut = paragraphs(dev, evaluator.reader), strips(dev, evaluator.reader)
    overlap = own.rows[:, FEATURES.index("joint_share")].astype(np.float64)
    made = {
        "train_questions": len(train),
        "dev_questions": len(dev),
        "paragraphs": len(own.gold),
        "gold": int(own.gold.sum()),
        "auroc": interval(scored(fitted.model.trees, own)),
        "auroc_question_share_alone": interval(resampled(overlap, own)),
        "auroc_strips": interval(scored(fitted.model.trees, cut)),
        "features": ablations(
            fitted.model.trees, joined([(texts.rows, texts.support.tolist()) for texts in rows]), own
        ),
        "thresholds": {name: round(value, 4) for name, value in thresholds._asdict().items()},
        "criterion": SETTINGS.calibration.criterion,
        "verdicts": verdicts(judgements(evaluator, dev, retriever, DEPTHS), thresholds),
    }
    if dataset == "hotpotqa" and (folder / FULLWIKI).is_file():
        made["verdicts_fullwiki"] = verdicts(fullwiki(evaluator, folder / FULLWIKI), thresholds)
    return made


def main(given: Namespace) -> None:
    """Measure and write the record; other data sets in it are kept."""
    file = RECORDS / "evaluator.json"
    record = json.loads(file.read_text()) if file.exists() else {}
    for dataset in given.datasets:
        record[dataset] = measured(dataset, given.data)
        print(dataset, json.dumps(record[dataset], indent=1), flush=True)
        RECORDS.mkdir(exist_ok=True)
        file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", nargs="+", default=["hotpotqa", "2wikimultihopqa", "musique"])
    main(parser.parse_args())
