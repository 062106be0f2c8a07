"""The known support recall of plain BM25 on the real files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evidencegym.data.corpus import pooled
from evidencegym.data.datasets import read
from evidencegym.data.support_scores import support_recall
from evidencegym.retrieval.bm25 import BM25Retriever

_FILES = {
    "hotpotqa": ("hotpot_train_distractor.json.gz", "hotpot_dev_distractor.json.gz"),
    "2wikimultihopqa": ("train.json.gz", "dev.json.gz"),
    "musique": ("musique_ans_v1.0_train.jsonl.gz", "musique_ans_v1.0_dev.jsonl.gz"),
}


@pytest.mark.parametrize(("dataset", "least"), [("hotpotqa", 0.861), ("2wikimultihopqa", 0.729), ("musique", 0.570)])
def test_twelve_passages_for_the_question(dataset: str, least: float, real_data: Callable[[str], Path]) -> None:
    train, dev = (read(dataset, real_data(f"{dataset}/{name}")) for name in _FILES[dataset])
    found = BM25Retriever.build(pooled([*train, *dev])).search([record.question.text for record in dev], 12)
    recalls = [
        support_recall(record.gold, [hit.passage for hit in hits]) for record, hits in zip(dev, found) if record.gold
    ]
    assert len(recalls) == len(dev)
    assert least <= sum(recalls) / len(recalls) < 1
