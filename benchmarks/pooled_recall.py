r"""Recall at 2 and 5 over the pooled corpus of 2WikiMultiHopQA (6,119 passages) without a language model.

    python benchmarks/pooled_recall.py --data FOLDER --train 2wikimultihopqa hotpotqa,musique \
        --encoder sentence-transformers/all-MiniLM-L6-v2

BM25 as it is here and with other parameters; with ``--encoder`` dense and hybrid retrieval, too (extras ``dense`` and
``cpu``). Each ``--train`` names the data sets, joined by commas, whose train files a ranker is fitted to. It then runs
on every pooled question (one search a step, the caps of the paper), and the evidence it holds is scored, best first.
Questions that stand in a train file are left out for all. The record is ``records/pooled_recall.json``.
"""

from __future__ import annotations

import gzip
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from evidence import RULES, collected_evidence
from timing import RECORDS

from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.data.support_scores import support_recall
from evidencegym.data.text import split_sentences
from evidencegym.envs.build import build_retriever, load_records
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.statistics import bootstrap_mean
from evidencegym.generation.choose import load_generator
from evidencegym.ranking.fitted import FittedRanker
from evidencegym.retrieval.base import Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.choose import RetrievalSettings, choose_retriever
from evidencegym.retrieval.encoder_settings import NONE, EncoderSettings
from evidencegym.training.fit_ranker import Curriculum, RankerSettings, cross_fit_ranker

DEPTHS = (2, 5, 12)
PARAMETERS: dict[str, dict[str, Any]] = {
    "bm25": {},
    "bm25, title once": {"title_weight": 1},
    "bm25, title once, k1=1.5, b=0.75": {"title_weight": 1, "k1": 1.5, "b": 0.75},
    "bm25, no title, k1=1.5, b=0.75": {"title_weight": 0, "k1": 1.5, "b": 0.75},
}
OTHERS = {
    "dense": RetrievalSettings("dense"),
    "hybrid, rrf": RetrievalSettings("hybrid"),
    "hybrid, weighted": RetrievalSettings("hybrid", fusion="weighted"),
}


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a gzipped file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        yield from map(json.loads, opened)


def pooled_passages(folder: Path) -> list[Passage]:
    """Return the passages of the pooled corpus."""
    listed = lines(folder / "pooled_corpus.jsonl.gz")
    return [Passage.of(line["title"], split_sentences(line["text"])) for line in listed]


def pooled_records(folder: Path) -> list[Record]:
    """Return the questions, each with the titles of its support."""
    return [
        Record(
            Question.of(line["question"]),
            Gold(line["id"], (line["answer"],), tuple(dict.fromkeys(line["supporting_titles"]))),
            (),
        )
        for line in lines(folder / "pooled_questions.jsonl.gz")
    ]


def course(dataset: str, data: Path) -> Curriculum:
    """Return the train questions of a data set over its own pooled corpus."""
    task = TaskSettings(dataset=dataset, data=data)
    return Curriculum(load_records(task, "train"), RULES, build_retriever(task), load_generator("packaged"))


def recalls(records: Sequence[Record], ordered: Iterable[Sequence[Passage]]) -> dict[str, Any]:
    """Return mean recall at each depth, with its 95 % bootstrap interval."""
    found = list(ordered)
    columns = {k: [support_recall(record.gold, own[:k]) for record, own in zip(records, found)] for k in DEPTHS}
    return {f"recall_at_{k}": bootstrap_mean(np.array(column))._asdict() for k, column in columns.items()}


def ranked(courses: Sequence[Curriculum], records: Sequence[Record], corpus: BM25Retriever) -> list[Sequence[Passage]]:
    """Return the evidence that a ranker fitted to the courses collects, best first."""
    model = cross_fit_ranker(courses, RankerSettings(), seed=0).full
    return [state.ordered for state in collected_evidence(records, corpus, FittedRanker(model, corpus))]


def searched(retriever: Retriever, records: Sequence[Record]) -> dict[str, Any]:
    """Return the recall of what a retriever finds for the questions."""
    found = retriever.search([record.question.text for record in records], max(DEPTHS))
    return recalls(records, ([hit.passage for hit in own] for own in found))


def stock(passages: Sequence[Passage], records: Sequence[Record]) -> dict[str, Any]:
    """Return the recall of bm25s with its own words and parameters, title before text."""
    index = bm25s.BM25()
    index.index(_words([f"{passage.title}\n{passage.text}" for passage in passages]), show_progress=False)
    questions = _words([record.question.text for record in records])
    found, _ = index.retrieve(questions, k=max(DEPTHS), show_progress=False)
    return recalls(records, ([passages[row] for row in own] for own in found))


def _words(texts: list[str]) -> Any:
    return bm25s.tokenize(texts, show_progress=False)


def retrievers(corpus: BM25Retriever, encoder: str) -> dict[str, Retriever]:
    """Return BM25 with each of the parameters and, where an encoder is named, what compares vectors."""
    made: dict[str, Retriever] = {
        name: BM25Retriever.build(corpus.passages, **chosen) for name, chosen in PARAMETERS.items()
    }
    if encoder != NONE:
        source = EncoderSettings(encoder)
        made |= {name: choose_retriever(corpus, settings, source) for name, settings in OTHERS.items()}
    return made


def main(given: Namespace) -> None:
    """Measure every retriever and each ranker."""
    folder = given.data / "2wikimultihopqa"
    corpus = BM25Retriever.build(pooled_passages(folder))
    mixes = {mix: [course(name, given.data) for name in mix.split(",")] for mix in given.train}
    seen = {record.question.text for courses in mixes.values() for own in courses for record in own.records}
    listed = pooled_records(folder)
    records = [record for record in listed if record.question.text not in seen]
    systems = {name: searched(made, records) for name, made in retrievers(corpus, given.encoder).items()}
    systems["bm25s as it comes"] = stock(corpus.passages, records)
    for mix, courses in mixes.items():
        systems[f"ranker fitted to {mix}"] = recalls(records, ranked(courses, records, corpus))
    for name, values in systems.items():
        print(f"{name:35}", *(f"{key} {v['mean']:.3f} [{v['low']:.3f}, {v['high']:.3f}]" for key, v in values.items()))
    made: dict[str, Any] = {"passages": len(corpus.passages), "questions": len(records)}
    made |= {"in_a_train_file": len(listed) - len(records), "encoder": Path(given.encoder).name}
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / "pooled_recall.json").write_text(json.dumps({**made, "systems": systems}, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--train", nargs="*", default=["2wikimultihopqa", "hotpotqa,musique"])
    parser.add_argument("--encoder", default=NONE, help="a sentence-transformers model: its name, or a folder")
    main(parser.parse_args())
