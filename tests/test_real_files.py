"""Whole episodes on the real benchmark files, where they are present."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.corpus import pooled
from evidencegym.data.datasets import read
from evidencegym.data.records import Question, Record
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.rollout import rollout
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever

DEV = {
    "hotpotqa": "hotpotqa/hotpot_dev_distractor.json.gz",
    "2wikimultihopqa": "2wikimultihopqa/dev.json.gz",
    "musique": "musique/musique_ans_v1.0_dev.jsonl.gz",
}

RealData = Callable[[str], Path]
_engines: dict[str, tuple[list[Record], Engine]] = {}


def task(dataset: str, real_data: RealData) -> tuple[list[Record], Engine]:
    """Return the dev questions and an engine over their paragraphs, built once."""
    if dataset not in _engines:
        records = read(dataset, real_data(DEV[dataset]))
        _engines[dataset] = records, Engine(BM25Retriever.build(pooled(records)), ExtractiveGenerator.default())
    return _engines[dataset]


@pytest.mark.parametrize("dataset", DEV)
def test_a_thousand_random_masked_episodes_all_end_with_an_answer(dataset: str, real_data: RealData) -> None:
    records, engine = task(dataset, real_data)
    rules = Rules()
    features = FeatureMap(rules.operations.names)
    seen = 0
    for seed in range(-(-1000 // len(records))):
        questions = [record.question for record in records][: 1000 - seen]
        for episode in rollout(questions, rules, engine, UniformController(seed)):
            seen += 1
            assert episode.final.end in {"stop", "cap"} and episode.final.answer is not None
            assert all(rules.mask(state).any() for state in episode.states)
            vectors = features.matrix(episode.states)
            assert ((vectors >= features.low) & (vectors <= features.high)).all()
    assert seen == 1000


@pytest.mark.parametrize("dataset", DEV)
def test_removing_the_gold_changes_nothing_that_an_agent_sees(dataset: str, real_data: RealData) -> None:
    records, engine = task(dataset, real_data)
    bare = [replace(record, gold=None) for record in records[:25]]
    fresh = Engine(engine.retriever, engine.generator, cache_size=0)
    envs = MultiHopQAEnv(records[:25], engine, observation="dict"), MultiHopQAEnv(bare, fresh, observation="dict")
    for number in range(25):
        questions = records[number].id, bare[number].id
        results = [env.reset(seed=0, options={"question": q}) for env, q in zip(envs, questions)]
        rng = np.random.default_rng(number)
        done = False
        while not done:
            (a, info), (b, _) = results
            assert a["text"] == b["text"]
            assert np.array_equal(a["features"], b["features"]) and np.array_equal(a["action_mask"], b["action_mask"])
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            steps = [env.step(action) for env in envs]
            results = [(step[0], step[4]) for step in steps]
            done = steps[0][2]
            assert steps[1][1] == 0.0 and steps[0][2] == steps[1][2]
        assert results[0][1]["answer"] == results[1][1]["answer"]
        assert results[0][1]["ledger"] == results[1][1]["ledger"]
        assert "metrics" in results[0][1] and "metrics" not in results[1][1]


def test_question_keys_do_not_depend_on_gold(real_data: RealData) -> None:
    for record in read("musique", real_data(DEV["musique"])):
        assert record.question == Question.of(record.question.text, record.context)
